"""The program sees nothing of the tracer: all it can look at is as in an untraced run."""
import os
import signal
import sys
import zipfile

import pytest

import lextrace_tools as tools

MONITORING = sys.version_info >= (3, 12)


def test_main_module_arguments_and_path(trace):
    result = trace.same("looks.py", args=["--flag", "-o", "a b", "--", "-q", ""])
    assert result.counts("looks.py")["main"] == 1
    assert "stack depth 2" in result.stdout


@pytest.mark.parametrize("cwd_relative", [True, False])
def test_script_by_relative_path_module_and_package(trace, cwd_relative):
    package = trace.tmp_path / "place" / "pack"
    package.mkdir(parents=True)
    show = ("import sys\ndef main():\n    print(__name__, __package__, __spec__ and __spec__.name, sys.argv, sys.path,"
            " globals().get('__file__'))\nmain()\n")
    for name in ("__init__.py", "__main__.py", "part.py"):
        (package / name).write_text(show)
    (package.parent / "app.py").write_text(show)
    with zipfile.ZipFile(package.parent / "app.zip", "w") as archive:
        archive.writestr("__main__.py", show)
    cwd = str(package.parent) if cwd_relative else "/"
    base = "" if cwd_relative else str(package.parent) + "/"
    commands = [[base + "app.py", "x"], [base + "app.zip", "-m"], [base + "pack", "y"]]
    if cwd_relative:
        commands += [["-m", "pack"], ["-m", "pack.part", "-o", "z"], ["-c", show, "-m", "q"]]
    for words in commands:
        result = trace.same([tools.PYTHON, *words], cwd=cwd)
        assert result.returncode == 0
        assert result.counts()["main"] >= 1


def test_program_from_standard_input(trace):
    result = trace.same([tools.PYTHON, "-", "a"], stdin="import sys\ndef f(): print(sys.argv)\nf()\n")
    assert result.counts("<stdin>")["f"] == 1


@pytest.mark.parametrize("flags", [["-W", "error"], ["-X", "dev"], ["-bb", "-W", "error"], ["-O"], ["-OO"], ["-u"],
                                   ["-X", "utf8"], ["-B"], ["-s"], ["-P"], ["-X", "importtime"], ["-v"]],
                         ids=lambda flags: "_".join(flags))
def test_interpreter_flags(trace, flags):
    program = trace.program("""
        import sys, warnings
        def f():
            print(sys.flags, sys.warnoptions, sys._xoptions, sys.dont_write_bytecode)
        f()
    """)
    if flags in (["-X", "importtime"], ["-v"]):
        plain, traced = trace.untraced(program, flags=flags), trace(program, flags=flags)
        assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
    else:
        assert trace.same(program, flags=flags).counts("app.py")["f"] == 1


def test_warnings_as_errors_with_everything_on(trace):
    """-W error with threads, fork, subprocesses, asyncio: no warning of ours becomes an exception."""
    result = trace.same("""
        import asyncio, os, subprocess, sys, warnings
        warnings.simplefilter("error")

        def child():
            os._exit(3)

        async def main():
            await asyncio.sleep(0)

        asyncio.run(main())
        pid = os.fork()
        if pid == 0:
            child()
        print(os.waitpid(pid, 0)[1])
        print(subprocess.run([sys.executable, "-W", "error", "-c", "print(1)"], capture_output=True, text=True))
    """, flags=["-W", "error", "-X", "dev"])
    assert result.returncode == 0 and result.stderr == ""


def test_tracebacks(trace):
    result = trace.same("""
        import sys, traceback

        def inner():
            raise ValueError("shown")

        def outer():
            inner()

        try:
            outer()
        except ValueError:
            traceback.print_exc()
            print(len(traceback.extract_tb(sys.exc_info()[2])))
        print("".join(traceback.format_stack()))
        outer()
    """)
    assert result.returncode == 1 and "ValueError: shown" in result.stderr


def test_uncaught_in_thread_and_unraisable(trace):
    result = trace.same("""
        import threading

        class Bad:
            def __del__(self):
                raise RuntimeError("from del")

        def fail():
            raise KeyError("from thread")

        Bad()
        thread = threading.Thread(target=fail, name="worker")
        thread.start()
        thread.join()
    """)
    assert "from thread" in result.stderr and "from del" in result.stderr


def test_signal_handlers(trace):
    result = trace.same("""
        import signal
        for number in sorted(signal.valid_signals()):
            if number != signal.SIGUSR1:
                try:
                    print(number, signal.getsignal(number))
                except ValueError:
                    print(number, "none")
        with open("/proc/self/status") as status:
            for line in status:
                name, value = line.split(":")
                if name.startswith("Sig") and name != "SigQ" or name == "ShdPnd":
                    print(name, hex(int(value, 16) & ~(1 << (signal.SIGUSR1 - 1))))
        print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL))
    """)
    assert result.returncode == 0


def test_ignored_signals_stay_ignored(trace):
    program = trace.program("""
        import signal
        print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGQUIT), signal.getsignal(signal.SIGHUP))
    """)

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    result = trace.same(program, preexec_fn=ignore)
    assert result.stdout == "1 1 1\n"


def test_descriptors(trace):
    """The same numbers are open, at the start, while calls are recorded in several threads, and at the end."""
    result = trace.same("""
        import atexit, os, threading
        from collections import Counter

        def leaf():
            pass

        def descriptors():
            listing = os.listdir("/proc/self/fd")
            print(sorted((int(name), os.path.exists("/proc/self/fd/" + name)) for name in listing))

        def work():
            for _ in range(30_000):
                leaf()

        descriptors()
        atexit.register(descriptors)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        numbers = Counter()
        for _ in range(2000):  # a moment's use by another thread is no number that is taken
            descriptor = os.open("/dev/null", os.O_RDONLY)
            numbers[descriptor] += 1
            os.close(descriptor)
        print(numbers.most_common(1)[0][0])
        for thread in threads:
            thread.join()
        work()
        descriptors()
    """)
    assert result.counts("app.py")["leaf"] == 150_000


def test_inherited_descriptors_are_kept(trace):
    program = trace.program("""
        import os, sys
        print(os.read(int(sys.argv[1]), 10), os.get_inheritable(int(sys.argv[1])))
    """)
    for _ in range(2):
        read, write = os.pipe()
        os.write(write, b"passed on")
        os.close(write)
        result = trace(program, args=[read], pass_fds=[read])
        os.close(read)
        assert result.stdout == "b'passed on' True\n"


def test_closed_standard_streams(trace):
    """0, 1 and 2 closed: no file of ours takes these numbers and no byte of ours lands in the program's file."""
    program = trace.program("""
        import os, sys

        def leaf():
            pass

        fds = [os.open(sys.argv[1] + str(n), os.O_RDWR | os.O_CREAT | os.O_TRUNC) for n in range(3)]
        for _ in range(60_000):
            leaf()
        os.write(fds[0], repr(fds).encode())
    """)
    out = trace.tmp_path / "own"

    command = [tools.lextrace_binary(), "run", "-o", str(trace.folder()), tools.PYTHON, str(program), str(out)]
    assert tools.execute(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command]).returncode == 0
    assert (trace.tmp_path / "own0").read_bytes() == b"[0, 1, 2]"
    assert [(trace.tmp_path / ("own%d" % n)).read_bytes() for n in (1, 2)] == [b"", b""]
    assert tools.counts(trace.folder(), "app.py")["leaf"] == 60_000


def test_program_that_closes_all_descriptors(trace):
    result = trace.same("""
        import os, sys, tempfile

        def early(n):
            return n

        def late(n):
            return n

        def record(fd, n):
            os.write(fd, b"row %03d\\n" % n)

        for n in range(5):
            early(n)
        os.closerange(3, 1024)
        fd, path = tempfile.mkstemp()
        for n in range(100):
            record(fd, n)
            late(n)
        for _ in range(50):
            os.open(path, os.O_RDONLY)
        for n in range(40_000):
            late(n)
        with open(path, "rb") as handle:
            print(handle.read() == b"".join(b"row %03d\\n" % n for n in range(100)))
        os.unlink(path)
    """)
    assert result.stdout == "True\n"
    assert result.counts("app.py") == {"<module>": 1, "early": 5, "record": 100, "late": 40_100, "<genexpr>": 1}


def test_no_helper_thread(trace):
    result = trace.same("""
        import os, threading

        def leaf():
            pass

        for _ in range(50_000):
            leaf()
        print(os.listdir("/proc/self/task") == [str(os.getpid())], threading.active_count(),
              [thread.name for thread in threading.enumerate()])
        thread = threading.Thread(target=leaf)
        thread.start()
        thread.join()
        while len(os.listdir("/proc/self/task")) > 1:
            pass  # the kernel may show an ended thread a moment longer
        print("alone")
    """)
    assert result.stdout.startswith("True 1")


def test_profile_and_trace_hooks_look_unset(trace):
    trace.same("""
        import sys, threading

        def look():
            print(sys.getprofile(), sys.gettrace(), threading.getprofile(), threading.gettrace())

        look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    """)


def test_monitoring_looks_unused(trace):
    if not MONITORING:
        pytest.skip("sys.monitoring came with 3.12")
    trace.same("""
        import sys
        m = sys.monitoring
        print([m.get_tool(tool) for tool in (0, 1, 2, 5)])
        free = [tool for tool in range(6) if m.get_tool(tool) is None]
        print({0, 1, 2, 5} <= set(free))
    """)


def test_setprofile_used_by_the_program(trace):
    result = trace.same("""
        import sys, threading
        seen = []

        def leaf():
            pass

        def hook(frame, event, arg):
            if frame.f_code.co_name == "leaf":
                seen.append(event)

        def before():
            leaf()

        def during():
            leaf()

        def after():
            leaf()

        for _ in range(5):
            before()
        sys.setprofile(hook)
        for _ in range(7):
            during()
        print(sys.getprofile() is hook)
        sys.setprofile(None)
        print(sys.getprofile())
        for _ in range(9):
            after()
        threading.setprofile(hook)
        thread = threading.Thread(target=during)
        thread.start()
        thread.join()
        threading.setprofile(None)
        print(len(seen), seen[:2])
    """)
    counts = result.counts("app.py")
    assert counts["before"] == 5
    if MONITORING:
        assert (counts["during"], counts["after"], counts["leaf"]) == (8, 9, 22)
    else:
        # One profile slot: where the program's hook sits, ours does not; what is open there then stays open.
        assert counts["after"] in (9, 0) and 5 <= counts["leaf"] <= 22
        return
    assert tools.balance(result.run) == {}


def test_settrace_used_by_the_program(trace):
    result = trace.same("""
        import sys
        lines = []

        def leaf():
            a = 1
            return a

        def tracer(frame, event, arg):
            if frame.f_code.co_name == "leaf":
                lines.append((event, frame.f_lineno))
            return tracer

        leaf()
        sys.settrace(tracer)
        leaf()
        sys.settrace(None)
        leaf()
        print(lines)
    """)
    assert result.counts("app.py")["leaf"] == 3


def test_cprofile_used_by_the_program(trace):
    result = trace.same("""
        import cProfile, pstats

        def knead(n):
            return n

        def bake(loaves):
            return sum([knead(n) for n in range(loaves)])

        def serve(n):
            return n

        def calls(profile, name):
            return [row[0] for key, row in pstats.Stats(profile).stats.items() if key[2] == name]

        for n in range(2):
            serve(n)
        profile = cProfile.Profile()
        profile.runcall(bake, 30)
        for n in range(4):
            serve(n)
        again = cProfile.Profile()
        again.enable()
        bake(5)
        again.disable()
        for n in range(6):
            serve(n)
        print(calls(profile, "knead"), calls(again, "knead"))
    """)
    assert result.stdout == "[30] [5]\n"
    counts = result.counts("app.py")
    if MONITORING:
        assert (counts["serve"], counts["bake"], counts["knead"]) == (12, 2, 35)
    else:
        assert 2 <= counts["serve"] <= 12
    assert tools.balance(result.run) == {}


def test_run_under_cprofile_from_the_start(trace):
    result = trace([tools.PYTHON, "-m", "cProfile", "-s", "ncalls", str(trace.program("""
        def leaf():
            pass
        for _ in range(1234):
            leaf()
    """))])
    assert result.returncode == 0 and "1234" in result.stdout
    if MONITORING:
        assert result.counts("app.py")["leaf"] == 1234


def test_coverage_used_by_the_program(trace):
    pytest.importorskip("coverage")
    program = trace.program("""
        import coverage, sys
        data = coverage.Coverage(data_file=None)
        data.start()
        space = {}
        exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), space)
        data.stop()
        print(data.analysis2(sys.argv[1])[1:4])
    """)
    measured = trace.program("""
        def used(n):
            if n:
                return 1
            return 2

        def unused():
            return 3

        for _ in range(10):
            used(1)
    """, "measured.py")
    cores = ["ctrace", "sysmon"] if MONITORING else ["ctrace"]
    for core in cores:
        result = trace.same(program, args=[measured], env=tools.clean_environment(COVERAGE_CORE=core))
        assert "[" in result.stdout
        assert result.counts("measured.py")["used"] == 10


def test_coverage_run_as_the_program(trace):
    pytest.importorskip("coverage")
    program = trace.program("""
        def used():
            return 1
        for _ in range(10):
            used()
    """)
    result = trace([tools.PYTHON, "-m", "coverage", "run", "--data-file", str(trace.tmp_path / "data"), str(program)])
    assert result.outcome() == (0, "", "")
    done = tools.execute([tools.PYTHON, "-m", "coverage", "report", "--data-file", str(trace.tmp_path / "data")])
    assert "100%" in done.stdout
    assert result.counts("app.py")["used"] == 10


def test_pdb_used_by_the_program(trace):
    program = trace.program("""
        import os, pdb, sys

        if "EMPTY_TOOL" in os.environ:
            m, e = sys.monitoring, sys.monitoring.events
            m.use_tool_id(4, "nothing")
            for event in (e.PY_START, e.PY_RETURN):
                m.register_callback(4, event, lambda *args: None)
            m.set_events(4, e.PY_START | e.PY_RETURN)

        def target(n):
            doubled = n * 2
            return doubled

        for n in range(3):
            if n == 1:
                pdb.set_trace()
            print(target(n))
    """)
    words = "step\nstep\nstep\nnext\np doubled\nwhere\nbreak target\ncontinue\np n\ncontinue\ncontinue\n"
    # Python 3.13.0 loses pdb's stop in the line of set_trace() when any tool uses sys.monitoring, be it an empty one.
    env = tools.clean_environment(EMPTY_TOOL="1" if sys.version_info[:2] == (3, 13) else None)
    plain, result = trace.untraced(program, stdin=words, env=env), trace(program, stdin=words)
    assert result.outcome() == plain.outcome() and result.returncode == 0
    assert result.counts("app.py")["target"] == 3


def test_pdb_run_as_the_program(trace):
    program = trace.program("""
        def target(n):
            return n
        print(target(5))
    """)
    result = trace.same([tools.PYTHON, "-m", "pdb", str(program)], stdin="break target\ncontinue\np n\ncontinue\nquit\n")
    assert result.counts("app.py")["target"] >= 1


def test_another_monitoring_tool(trace):
    """Events, DISABLE and restarts of another tool neither lose ours nor are lost to it."""
    if not MONITORING:
        pytest.skip("sys.monitoring came with 3.12")
    result = trace.same("""
        import sys
        m, e = sys.monitoring, sys.monitoring.events
        seen = []

        def leaf(n):
            return n

        def callback(code, offset, *rest):
            if code is leaf.__code__:
                seen.append(offset)
                return m.DISABLE

        m.use_tool_id(2, "other")
        m.register_callback(2, e.PY_START, callback)
        m.register_callback(2, e.PY_RETURN, callback)
        m.set_events(2, e.PY_START | e.PY_RETURN)
        for n in range(100):
            leaf(n)
        m.restart_events()
        for n in range(100):
            leaf(n)
        m.set_events(2, 0)
        m.set_local_events(2, leaf.__code__, e.LINE | e.PY_START)
        for n in range(100):
            leaf(n)
        m.free_tool_id(2)
        for n in range(100):
            leaf(n)
        print(len(seen))
    """)
    assert result.counts("app.py")["leaf"] == 400
    assert tools.balance(result.run) == {}


def test_program_that_takes_every_tool_id(trace):
    if not MONITORING:
        pytest.skip("sys.monitoring came with 3.12")
    result = trace("""
        import sys
        m = sys.monitoring
        for tool in range(6):
            try:
                m.use_tool_id(tool, "mine")
            except ValueError:
                print("taken", tool)
        def leaf(): pass
        for _ in range(10):
            leaf()
    """)
    assert result.returncode == 0 and result.stdout.count("taken") == 1
    assert result.counts("app.py")["leaf"] == 10


def test_recursion_limit_and_stack_use(trace):
    trace.same("""
        import sys
        print(sys.getrecursionlimit())

        def depth(n):
            try:
                return depth(n + 1)
            except RecursionError:
                return n

        print(depth(0))
    """)


def test_garbage_and_references(trace):
    """Code objects, frames, generators and arguments are freed when they would be untraced."""
    trace.same("""
        import gc, sys, weakref

        class Thing:
            pass

        def hold(thing):
            return weakref.ref(thing)

        def gen(thing):
            yield 1

        print(hold(Thing())() is None)
        thing = Thing()
        ref = weakref.ref(thing)
        g = gen(thing)
        next(g)
        del thing, g
        print(ref() is None)
        F = type(hold)
        def made(): pass
        code = made.__code__.replace(co_name="freed")
        F(code, {})()
        ref = weakref.ref(code)
        del code
        print(ref() is None, gc.collect() >= 0)
        print(sys.getrefcount(hold.__code__) < 10)
    """)


def test_imports_and_modules(trace):
    """Nothing that the tracer needs is imported into the program but the tracer itself."""
    program = trace.program("import sys\nprint(sorted(sys.modules))\n")
    plain, traced = trace.untraced(program), trace(program)
    extra = set(eval(traced.stdout)) - set(eval(plain.stdout))
    assert all("lextrace" in name for name in extra), extra


def test_environment_and_limits(trace):
    """What is set in the environment is ours by name; PYTHONPATH is the one shared word."""
    program = trace.program("""
        import os, resource
        print({key: value for key, value in os.environ.items() if not key.startswith("LEXTRACE") and key != "PYTHONPATH"})
        print([resource.getrlimit(getattr(resource, name)) for name in sorted(dir(resource)) if name.startswith("RLIMIT")])
        print(os.getcwd(), os.umask(0), os.getpgid(0) == os.getpid(), os.nice(0), os.sched_getaffinity(0))
    """)
    trace.same(program)


def test_locale_and_time(trace):
    trace.same("""
        import locale, sys, time
        print(locale.setlocale(locale.LC_ALL), sys.getfilesystemencoding(), time.tzname, sys.stdout.encoding,
              sys.getswitchinterval())
    """)


def test_output_through_closed_pipe(trace):
    program = trace.program("""
        for _ in range(100_000):
            print("a line of text")
    """)
    for command in ([tools.PYTHON, str(program)],
                    [tools.lextrace_binary(), "run", "-q", "-o", str(trace.folder()), tools.PYTHON, str(program)]):
        done = tools.execute(["bash", "-c", '"$@" | head -1; echo ${PIPESTATUS[0]}', "-", *command])
        assert done.stdout == "a line of text\n1\n", done.stdout
        assert "BrokenPipeError" in done.stderr


def test_zip_imports_and_code_without_a_file(trace):
    result = trace.same("""
        import importlib.abc, importlib.util, os, runpy, sys, tempfile, zipfile

        class Attic(importlib.abc.MetaPathFinder, importlib.abc.Loader):
            def find_spec(self, name, path, target=None):
                if name == "attic":
                    return importlib.util.spec_from_loader(name, self, origin="memory")
            def create_module(self, spec):
                return None
            def exec_module(self, module):
                exec(compile("def shelf(n):\\n    return n\\n", "<memory:attic>", "exec"), module.__dict__)

        with tempfile.TemporaryDirectory() as folder:
            bundle = os.path.join(folder, "farm.zip")
            with zipfile.ZipFile(bundle, "w") as archive:
                archive.writestr("granary.py", "def sack(n):\\n    return n\\n")
                archive.writestr("__main__.py", "from granary import sack\\nprint('main', sack(1))\\n")
            sys.path.insert(0, bundle)
            sys.meta_path.insert(0, Attic())
            import attic, granary
            for n in range(4):
                attic.shelf(n)
            for n in range(6):
                granary.sack(n)
            runpy.run_path(bundle, run_name="__main__")
    """)
    sacks = [one for one in tools.slices(result.run.main)[0] if one.name == "sack"]
    assert len(sacks) == 7 and all(one.file.endswith("farm.zip/granary.py") for one in sacks)
    assert result.counts("<memory:attic>")["shelf"] == 4
