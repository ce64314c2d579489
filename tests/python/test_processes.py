"""Children: each process has its own folder, is followed unless told otherwise, and behaves as it would untraced."""
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

import lextrace_tools as tools

IGNORE_FORK = ["-W", "ignore::DeprecationWarning"]


def by_pid(result, file="app.py"):
    return {process.state["pid"]: tools.counts(result.run, file, process=process) for process in result.run.processes}


def test_fork(trace):
    result = trace.same("""
        import os

        def before():
            return 1

        def child():
            return 2

        def after():
            return 3

        def main():
            for n in range(3):
                before()
            for number in range(2):
                pid = os.fork()
                if pid == 0:
                    for _ in range(10 + number):
                        child()
                    return "child"
                assert os.waitpid(pid, 0)[1] == 0
                after()
            return "parent"

        print(main(), flush=True)
    """)
    assert result.stdout == "child\nchild\nparent\n"
    parent, first, second = [tools.counts(result.run, "app.py", process=process) for process in result.run.processes]
    assert (parent["before"], parent["child"], parent["after"]) == (3, 0, 2)
    assert (first["before"], first["child"], first["after"]) == (0, 10, 0)
    assert (second["before"], second["child"], second["after"]) == (0, 11, 0 )
    states = [process.state for process in result.run.processes]
    assert len({state["pid"] for state in states}) == 3 and len({state["uuid"] for state in states}) == 3
    assert all(state["parent_pid"] == states[0]["pid"] for state in states[1:])
    assert all(state["ended"] == 1 for state in states)


def test_fork_chain_and_double_fork(trace):
    result = trace.same("""
        import os

        def level(n):
            if n == 0:
                return
            pid = os.fork()
            if pid == 0:
                level(n - 1)
                os._exit(0)
            os.waitpid(pid, 0)

        level(5)
    """)
    assert len(result.run.processes) == 6
    assert sorted(counts["level"] for counts in by_pid(result).values()) == [0, 1, 1, 1, 1, 1] or \
        sorted(counts["level"] for counts in by_pid(result).values()) == [1, 1, 1, 1, 1, 1]
    assert result.counts("app.py")["level"] == 6


def test_fork_when_a_packet_is_half_full(trace):
    """What the parent recorded stays the parent's; the child begins with nothing and writes into none of its files."""
    result = trace.same("""
        import os

        def leaf():
            pass

        for round in range(20):
            for _ in range(997):
                leaf()
            pid = os.fork()
            if pid == 0:
                for _ in range(round):
                    leaf()
                os._exit(0)
            os.waitpid(pid, 0)
    """)
    parent, *children = [tools.counts(result.run, "app.py", process=process)["leaf"] for process in result.run.processes]
    assert parent == 20 * 997
    # A child that records nothing may leave no folder.
    assert sorted(child for child in children if child) == list(range(1, 20))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(trace, method):
    result = trace.same("processes.py", args=[method], flags=IGNORE_FORK)
    counts = [tools.counts(result.run, "processes.py", process=process) for process in result.run.processes]
    assert sum(count["plough"] for count in counts) == 6
    assert sorted(count["worker"] for count in counts if count["worker"]) == [1, 1]
    assert [count["main"] for count in counts if count["main"]] == [1]
    assert all(not count["main"] for count in counts if count["worker"])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pool_that_is_terminated(trace, method):
    result = trace.same("pools.py", args=[method], flags=IGNORE_FORK)
    assert result.counts("pools.py")["job"] == 40
    assert len([1 for counts in by_pid(result, "pools.py").values() if counts["job"]]) <= 3


def test_process_pool_executor(trace):
    result = trace.same("""
        from concurrent.futures import ProcessPoolExecutor

        def square(n):
            return n * n

        if __name__ == "__main__":
            with ProcessPoolExecutor(2) as pool:
                print(sum(pool.map(square, range(40))))
    """, flags=IGNORE_FORK)
    assert result.counts("app.py")["square"] == 40


def test_subprocesses_and_shells(trace):
    result = trace.same("""
        import os, subprocess, sys

        CODE = "import sys\\ndef child(n):\\n    return n\\nchild(1); child(2)\\nprint(sys.argv[1:]); sys.exit(3)"

        print(subprocess.run([sys.executable, "-c", CODE, "a b", ""], capture_output=True, text=True))
        print(subprocess.run('"$PY" -c "def child(n): pass" x', shell=True, env=dict(os.environ, PY=sys.executable)))
        print(os.system("exit 7"), os.popen("echo hello").read())
        print(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", CODE]))
        pid = os.posix_spawn(sys.executable, [sys.executable, "-c", CODE], os.environ)
        print(os.waitpid(pid, 0)[1])
    """)
    assert tools.counts(result.run, "<string>")["child"] == 6
    # Ours, one by run, one below the shell, one by posix_spawn; os.spawnv forks a Python that then becomes another.
    assert len(result.run.processes) == 6


def test_exec_in_place(trace):
    """exec* replaces the program; both programs are there, the second followed."""
    result = trace.same("""
        import os, sys

        def first():
            return 1

        def second():
            return 2

        if "again" in sys.argv:
            for _ in range(5):
                second()
            print("second")
        else:
            first()
            print("first", flush=True)
            os.execv(sys.executable, [sys.executable, __file__, "again"])
    """)
    assert result.counts("app.py") == {"<module>": 2, "first": 1, "second": 5}
    assert len(result.run.processes) == 2
    assert len({process.state["pid"] for process in result.run.processes}) == 1
    assert len({process.folder for process in result.run.processes}) == 2


@pytest.mark.parametrize("flags, empty", [(["-I"], False), (["-E"], False), (["-Es"], False), ([], True)])
def test_untraced_and_untouched(trace, flags, empty):
    """Children that shut the environment out start, see what they would, and leave no trace."""
    result = trace.same("""
        import subprocess, sys
        CODE = "import sys; print(sys.argv, sys.flags, sys.path, 'lextrace' in sys.modules, 'sitecustomize' in sys.modules)"
        done = subprocess.run([sys.executable, *%r, "-c", CODE, "x"], capture_output=True, text=True, env=%s)
        print(done.returncode, done.stdout, done.stderr)
    """ % (flags, "{}" if empty else "None"))
    assert len(result.run.processes) == 1


def test_child_without_site(trace):
    """-S honours PYTHONPATH and runs no sitecustomize: our entry of the path is left there, and does nothing."""
    result = trace("""
        import subprocess, sys
        CODE = '''if True:
            import sys
            path, modules = list(sys.path), sorted(sys.modules)
            try:
                import sitecustomize
            except ImportError as error:
                print(error.name, "sitecustomize" in sys.modules)
            def work(): pass
            work()
            print([entry for entry in path if not entry.endswith("lextrace/boot")], modules, sys.flags.no_site, sys.argv)
        '''
        for env in (None, {}):
            done = subprocess.run([sys.executable, "-S", "-c", CODE, "x"], capture_output=True, text=True, env=env)
            print(done.returncode, done.stdout, done.stderr, end="%")
    """)
    ours, plain, _ = result.stdout.split("%")
    assert ours == plain and "sitecustomize False" in ours
    assert len(result.run.processes) == 1


def test_target_with_flags_that_shut_us_out(trace):
    for flag in ("-I", "-E", "-S"):
        result = trace("print(1)\n", flags=[flag])
        assert (result.returncode, result.stdout, result.stderr) == (0, "1\n", "")


def test_no_follow(trace):
    result = trace.same("""
        import os, subprocess, sys

        def work():
            return 1

        subprocess.run([sys.executable, "-c", "def child(): pass\\nchild()"])
        pid = os.fork()
        for _ in range(3):
            work()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    """, options=["--no-follow"])
    assert len(result.run.processes) == 1
    assert result.counts() ["child"] == 0
    assert result.counts("app.py")["work"] == 3


def test_many_processes_at_once(trace):
    result = trace.same("""
        import subprocess, sys
        CODE = "def child(n): return n\\nfor n in range(50): child(n)"
        running = [subprocess.Popen([sys.executable, "-c", CODE]) for _ in range(12)]
        print([one.wait() for one in running])
    """)
    assert len(result.run.processes) == 13
    assert tools.counts(result.run, "<string>")["child"] == 12 * 50
    assert any("13 processes" in line for line in result.said), result.said


def test_background_child_that_outlives_its_parent(trace):
    program = trace.program("""
        import subprocess, sys
        CODE = "import time\\ndef late(): pass\\ntime.sleep(0.3)\\nlate()"
        subprocess.Popen([sys.executable, "-c", CODE], stdin=-3, stdout=-3, stderr=-3)
        print("parent ends")
    """)
    result = trace.same(program)
    result.compare = False
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        run = tools.Run(result.folder)
        if tools.counts(run)["late"] and all(process.state["ended"] for process in run.processes):
            break
        time.sleep(0.05)
    assert tools.counts(run)["late"] == 1 and len(run.processes) == 2


def test_pid_that_comes_again(trace):
    """A process folder that is there already is not touched: the next one gets another name."""
    folder = trace.folder()
    folder.mkdir()
    result = trace.same("""
        import os, sys
        def body(): pass
        body()
        if len(sys.argv) < 4:
            os.execv(sys.executable, [sys.executable, __file__, *sys.argv[1:], "more"])
    """, options=["--force"])
    assert len(result.run.processes) == 4
    assert result.counts("app.py")["body"] == 4


def test_own_sitecustomize_and_usercustomize_still_run(trace):
    place = trace.tmp_path / "site"
    place.mkdir()
    (place / "sitecustomize.py").write_text("import sys\nsys.custom = ['site', __name__, __file__]\n"
                                            "def of_the_program(): pass\nof_the_program()\n")
    (place / "usercustomize.py").write_text("import sys\nsys.custom += ['user']\n")
    program = """
        import sys
        print(getattr(sys, "custom", None), sys.path)
        module = sys.modules["sitecustomize"]
        print(module.__file__, module.__spec__.name, module.__spec__.origin, hasattr(module, "of_the_program"))
    """
    env = tools.clean_environment(PYTHONPATH=place)
    result = trace.same(program, env=env)
    assert "site" in result.stdout
    result = trace.same("import sys\nprint('sitecustomize' in sys.modules)\nimport sitecustomize\n")


def test_broken_sitecustomize_is_reported_as_ever(trace):
    place = trace.tmp_path / "site"
    place.mkdir()
    (place / "sitecustomize.py").write_text("raise ImportError('mine is broken')\n")
    env = tools.clean_environment(PYTHONPATH=place)
    program = trace.program("print('runs')")
    plain = trace.untraced(program, env=env)
    traced = trace(program, env=env)
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
    assert ("mine is broken" in traced.stderr) == ("mine is broken" in plain.stderr)
    (place / "sitecustomize.py").write_text("1 / 0\n")
    plain, traced = trace.untraced(program, env=env), trace(program, env=env)
    assert traced.stdout == plain.stdout == "runs\n"
    assert plain.stderr.splitlines()[-1] in traced.stderr


def test_pythonpath_is_the_programs(trace):
    place = trace.tmp_path / "modules"
    place.mkdir()
    (place / "mine.py").write_text("def here(): return 'mine'\n")
    env = tools.clean_environment(PYTHONPATH=place)
    result = trace.same("""
        import sys
        import mine
        print(mine.here(), sys.path)
    """, env=env)
    assert result.counts("mine.py")["here"] == 1


OLD = sorted(Path.home().glob(".pyenv/versions/3.10.*/bin/python3")) + \
    sorted(Path.home().glob(".pyenv/versions/3.8.*/bin/python3"))


@pytest.mark.parametrize("python", OLD, ids=lambda path: path.parts[-3])
def test_interpreter_without_an_extension(trace, python):
    """It runs untraced; one line names what helps."""
    result = trace.same([str(python), str(trace.program("""
        import sys
        print(sys.version_info[0], sys.argv[1:])
        sys.exit(4)
    """)), "a", "b"])
    assert result.returncode == 4
    assert len(result.said) == 1 and "3." in result.said[0], result.said
    result.compare = False


def test_program_that_is_no_python(trace):
    result = trace.same(["/bin/sh", "-c", "echo hello; exit 9"])
    assert result.returncode == 9


def test_python_below_a_program_that_is_none(trace):
    result = trace.same(["/bin/sh", "-c", '"$0" "$1"; exit 2', tools.PYTHON, str(trace.program("""
        def work(): pass
        work()
    """))])
    assert result.returncode == 2 and result.counts("app.py")["work"] == 1


def test_subinterpreters(trace):
    result = trace.same("subinterpreters.py")
    assert result.stdout == "inner 21\ninner 21\nouter done\n" and result.returncode == 0
    counts = result.counts("subinterpreters.py")
    assert (counts["before"], counts["after"]) == (3, 5)
    assert result.counts()["inner_job"] in (0, 12)
    if result.counts()["inner_job"] == 0 and sys.version_info >= (3, 12):
        assert "interpreter" in result.stderr + " ".join(result.said) + result.run.notes


def test_daemonised_program(trace):
    """Double fork, setsid, all descriptors closed, stdio on /dev/null: the daemon is traced to its end."""
    mark = trace.tmp_path / "mark"
    result = trace("""
        import os, sys

        def serve(n):
            return n

        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.closerange(0, 256)
                os.open("/dev/null", os.O_RDWR)
                os.dup(0), os.dup(0)
                os.chdir("/")
                for n in range(100):
                    serve(n)
                open(sys.argv[1], "w").close()
                sys.exit(0)
            os._exit(0)
        os.wait()
    """, args=[mark], flags=IGNORE_FORK, compare=False)
    assert result.returncode == 0
    deadline = time.monotonic() + 10
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    assert tools.counts(result.folder, "app.py")["serve"] == 100


def test_sigkill_of_a_worker(trace):
    result = trace.same("""
        import os, signal, time

        def child():
            for n in range(100):
                leaf(n)
            os.kill(os.getpid(), signal.SIGKILL)

        def leaf(n):
            return n

        pid = os.fork()
        if pid == 0:
            child()
        print(os.waitpid(pid, 0)[1])
    """)
    assert result.stdout == "%d\n" % signal.SIGKILL
    counts = result.counts("app.py")
    assert (counts["leaf"], counts["child"]) == (100, 1)
    assert sorted(process.state["ended"] for process in result.run.processes) == [0, 1]


def test_run_folder_does_not_move_with_chdir(trace):
    work = trace.tmp_path / "work"
    work.mkdir()
    program = trace.program("""
        import os, subprocess, sys
        os.chdir("/")
        subprocess.run([sys.executable, "-c", "def child(): pass\\nchild()"])
    """)
    done = tools.execute([tools.lextrace_binary(), "run", "-o", "here", tools.PYTHON, str(program)], cwd=work)
    assert done.returncode == 0
    assert len(tools.Run(work / "here").processes) == 2
    assert not os.path.exists("/here")


def test_module_and_environment_leave_no_extra_state(trace):
    """An environment handed on by the program to something else still works there: env -i, sudo-like cleaning."""
    if shutil.which("env") is None:
        pytest.skip("no env program")
    result = trace.same("""
        import subprocess, sys
        print(subprocess.run(["env", "-i", sys.executable, "-c", "print('clean')"], capture_output=True, text=True))
    """)
    assert "clean" in result.stdout and len(result.run.processes) == 1


def test_vfork_helpers_do_not_disturb(trace):
    """A helper started by subprocess while threads call: no hang, no lost event."""
    result = trace.same("""
        import subprocess, threading

        def leaf():
            pass

        def loop():
            for _ in range(20_000):
                leaf()

        threads = [threading.Thread(target=loop) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            subprocess.run(["true"], check=True)
        for thread in threads:
            thread.join()
    """)
    assert result.counts("app.py")["leaf"] == 60_000
