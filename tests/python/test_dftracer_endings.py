"""How recordings of the package dftracer begin and end: exits, kills, forks, spawned children, threads, folders."""
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time

import lextrace_tools as tools
import pytest
from dftracer_tools import NAME, Program, Trace, environment

HEAD = """
from dftracer.logger import dftracer_fn, DFTracer

@dftracer_fn(cat="IO", comp="io")
def read(n=0): return n

@dftracer_fn(cat="IO")
def late(): pass

"""


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "work")


def run(program, text, **more):
    return program(HEAD + textwrap.dedent(text), **more)


# ---- Ends ----

@pytest.mark.parametrize("end, status", [
    ("", 0),
    ("import sys; sys.exit(0)", 0),
    ("import sys; sys.exit(7)", 7),
    ("raise SystemExit", 0),
    ("DFTracer.finalize_log()", 0),
    ("DFTracer.finalize_log(); DFTracer.finalize_log(); tracer.finalize()", 0),
    ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", None),
    ("1 / 0", 1),
])
def test_normal_ends_write_the_file(program, end, status):
    status = -signal.SIGINT if status is None else status
    run(program, f"""
        tracer = DFTracer.initialize_log(log_file="../t/app")
        read(); read()
        {end}
    """, status=status, quiet=status in (0, 7))
    trace = program.trace()
    assert trace.names() == ["read", "read"]
    assert os.listdir(program.folder / "t") == [trace.path.name]  # the native folder is gone


def test_what_runs_at_exit_is_recorded(program):
    run(program, """
        import atexit
        atexit.register(late)
        DFTracer.initialize_log(log_file="../t/app")
        read()
    """)
    assert program.trace().names() == ["late", "read"]


@pytest.mark.parametrize("end, status", [
    ("os._exit(3)", 3),
    ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    ("os.kill(os.getpid(), signal.SIGTERM)", -15),
    ("os.kill(os.getpid(), signal.SIGSEGV)", -11),
    ("os.execv('/bin/true', ['true'])", 0),
])
def test_sudden_ends_leave_the_whole_native_folder(program, end, status):
    run(program, f"""
        import os, signal
        DFTracer.initialize_log(log_file="../t/app")
        for i in range(1000):
            read(i)
        {end}
    """, status=status)
    [folder] = program.files()
    assert NAME.match(folder.name)["form"] == "lextrace" and NAME.match(folder.name)["kind"] == "app"
    out = program.folder / "out.pfw.gz"
    done = subprocess.run([tools.lextrace_binary(), "export", str(folder), "-o", str(out)], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    named = out.with_name("x-0123456789abcdef-app.pfw.gz")
    out.rename(named)
    assert len(Trace(named).named("read")) == 1000


def test_kept_folder(program):
    run(program, """
        DFTracer.initialize_log(log_file="../t/app")
        read()
        import os
        if not os.fork():
            read()
            raise SystemExit
        os.wait()
    """, LEXTRACE_KEEP=1)
    found = [NAME.match(path.name) for path in program.files()]
    assert sorted((match["kind"], match["form"]) for match in found) == [("app", "lextrace"), ("app", "pfw.gz"), ("fork", "pfw.gz")]
    assert len({match["number"] for match in found if match["kind"] == "app"}) == 1


def test_text(program):
    run(program, """
        DFTracer.initialize_log(log_file="../t/app")
        read()
    """, DFTRACER_TRACE_COMPRESSION=0)
    assert program.trace().path.suffix == ".pfw" and program.trace().names() == ["read"]


def test_few_events(program):
    """DFTracer deletes a trace of fewer than three."""
    run(program, 'DFTracer.initialize_log(log_file="../t/app")')
    assert program.trace().names() == []


# ---- Again and again ----

def test_twice_begun_is_one_trace(program):
    run(program, """
        first = DFTracer.initialize_log(log_file="../t/app")
        read()
        assert DFTracer.initialize_log(log_file="../other/app") is first
        read()
    """)
    assert program.trace().names() == ["read", "read"] and program.trace().path.parent.name == "t"


def test_begun_again_after_its_end_is_a_second_trace(program):
    run(program, """
        for name in "abc":
            DFTracer.initialize_log(log_file=f"../t/{name}")
            read()
            DFTracer.finalize_log()
            late()
    """)
    traces = program.traces()
    assert [NAME.match(trace.path.name)["prefix"] for trace in traces] == ["a", "b", "c"]
    assert all(trace.names() == ["read"] for trace in traces)


def test_the_same_prefix_again(program):
    for _ in range(2):
        run(program, """
            DFTracer.initialize_log(log_file="../t/app")
            read()
            DFTracer.finalize_log()
            DFTracer.initialize_log(log_file="../t/app")
            read()
        """)
    assert [len(trace.spans) for trace in program.traces()] == [1, 1, 1, 1]


def test_what_comes_after_the_end_is_dropped_silently(program):
    run(program, """
        DFTracer.initialize_log(log_file="../t/app")
        read()
        DFTracer.finalize_log()
        late()
        DFTracer.get_instance().log_event("x", "y", 1, 2)
        DFTracer.get_instance().update("a", 1)
        with DFTracer.get_instance().get_time("IO", "x"): pass
    """, DFTRACER_ENABLE=1)
    assert program.trace().names() == ["read"]


# ---- Folders ----

def test_missing_parents_are_made(program):
    run(program, """
        DFTracer.initialize_log(log_file="../a/b/c/app")
        read()
    """)
    assert program.trace().path.parent == program.folder / "a/b/c"


@pytest.mark.parametrize("by", ["call", "environment"])
def test_a_folder_that_cannot_be_made_is_one_message(program, by):
    (program.folder / "file").write_text("")
    call = 'DFTracer.initialize_log(log_file="../file/x/app")' if by == "call" else "DFTracer.initialize_log()"
    done = run(program, f"""
        {call}
        assert read(4) == 4
        {call}
        DFTracer.finalize_log()
        print("lived")
    """, DFTRACER_LOG_FILE=program.folder / "file/x/app", quiet=False)
    assert done.stdout == "lived\n"
    [line] = done.stderr.splitlines()
    assert line.startswith("lextrace: ") and "file/x/app" in line and "Not a directory" in line


def test_the_working_directory_stays_clean_and_may_be_closed(program):
    program.cwd.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        run(program, """
            DFTracer.initialize_log(log_file="../t/app")
            read()
        """)
    finally:
        program.cwd.chmod(0o755)
    assert list(program.cwd.iterdir()) == [] and program.trace().names() == ["read"]


def test_a_working_directory_that_changes(program):
    run(program, """
        import os
        DFTracer.initialize_log(log_file="../t/app")
        read()
        os.chdir("/")
    """)
    assert program.trace().path.parent == program.folder / "t"


def test_a_full_disk_at_the_end_leaves_the_folder(program):
    done = run(program, """
        import os
        DFTracer.initialize_log(log_file="../t/app")
        read()
        os.chmod("../t", 0o555)
        if os.getuid() == 0:                      # root writes all the same: a folder takes the file's place
            run = next(name for name in os.listdir("../t") if name.endswith(".lextrace"))
            os.mkdir("../t/" + run.replace(".lextrace", ".pfw.gz"))
            open("../t/" + run.replace(".lextrace", ".pfw.gz") + "/x", "w").close()
        DFTracer.finalize_log()
        os.chmod("../t", 0o755)
        print("lived")
    """, quiet=False)
    assert done.stdout == "lived\n"
    [line] = done.stderr.splitlines()
    assert line.startswith("lextrace: cannot write ") and ".pfw.gz" in line and ".lextrace" in line
    assert [path.suffix for path in program.files() if path.suffix == ".lextrace"] == [".lextrace"]


def test_a_folder_that_the_program_removes(program):
    done = run(program, """
        import shutil
        DFTracer.initialize_log(log_file="../t/app")
        read()
        shutil.rmtree("../t")
    """, quiet=False)
    [line] = done.stderr.splitlines()
    assert line.startswith("lextrace: the trace is lost: ") and not (program.folder / "t").exists()


# ---- Signals, threads ----

def test_signal_handlers_are_left_alone(program):
    run(program, """
        import signal
        import dftracer.python
        numbers = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
        mine = lambda number, frame: None
        signal.signal(signal.SIGTERM, mine)
        before = {number: signal.getsignal(number) for number in numbers}
        DFTracer.initialize_log(log_file="../t/app")
        assert {number: signal.getsignal(number) for number in numbers} == before
        assert signal.getsignal(signal.SIGTERM) is mine and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        DFTracer.finalize_log()
        assert {number: signal.getsignal(number) for number in numbers} == before
    """, DFTRACER_ENABLE=1)


def test_import_and_begin_in_a_thread(program):
    program("""
        import threading

        def work():
            from dftracer.logger import dftracer_fn, DFTracer
            import dftracer.python

            @dftracer_fn(cat="IO")
            def read(): pass

            DFTracer.initialize_log(log_file="../t/app")
            read()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    """, DFTRACER_ENABLE=1)
    assert program.trace().names() == ["work.<locals>.read"]


def test_threads_lose_nothing(program):
    run(program, """
        import threading
        DFTracer.initialize_log(log_file="../t/app")
        tracer = DFTracer.get_instance()

        def work(number):
            for i in range(500):
                read(i)
                with tracer.get_time("IO", f"region {number}"):
                    tracer.update("i", i)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """)
    trace = program.trace()
    assert len(trace.named("read")) == 4000
    for number in range(8):
        spans = trace.named(f"region {number}")
        assert [span["args"]["i"] for span in spans] == list(range(500))
        assert len({span["tid"] for span in spans}) == 1
    assert len({span["tid"] for span in trace.spans}) == 8


def test_a_thread_that_is_still_at_it_at_the_end(program):
    run(program, """
        import threading, time
        DFTracer.initialize_log(log_file="../t/app")
        stop = threading.Event()

        def work():
            while not stop.is_set():
                read()

        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.05)
        DFTracer.finalize_log()
        stop.set()
        thread.join()
    """)
    assert program.trace().named("read")


# ---- Children ----

def by_kind(program):
    return sorted((trace.kind, trace.names()) for trace in program.traces())


def test_forked_children(program):
    run(program, """
        import os, sys
        DFTracer.initialize_log(log_file="../t/app")
        read()
        for i in range(3):
            if os.fork() == 0:
                for _ in range(i + 1):
                    late()
                sys.exit(0)
        for _ in range(3):
            os.wait()
    """)
    assert by_kind(program) == [("app", ["read"]), ("fork", ["late"]), ("fork", ["late"] * 2), ("fork", ["late"] * 3)]
    assert not [path for path in program.files() if path.suffix == ".lextrace"]
    pids = {line["pid"] for trace in program.traces() for line in trace.lines}
    assert len(pids) == 4


def test_forked_child_that_outlives_its_parent(program):
    run(program, """
        import os, time
        DFTracer.initialize_log(log_file="../t/app")
        read()
        if os.fork() == 0:
            late()
            os.close(1), os.close(2)
            while os.getppid() != 1 and not os.path.exists("../gone"):
                time.sleep(0.01)
            time.sleep(0.2)
            late()
            raise SystemExit
        import atexit
        atexit.register(lambda: open("../gone", "w").close())
    """)
    _wait_for_files(program, 2)
    assert by_kind(program) == [("app", ["read"]), ("fork", ["late", "late"])]


def _wait_for_files(program, count, seconds=60):
    end = time.monotonic() + seconds
    while [path.suffix for path in program.files()] != [".gz"] * count:
        assert time.monotonic() < end, [str(path) for path in (program.folder / "t").rglob("*")]
        time.sleep(0.02)


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_forked_child_that_ends_suddenly(program, end):
    """The parent writes what it left."""
    run(program, f"""
        import os
        DFTracer.initialize_log(log_file="../t/app")
        read()
        if os.fork() == 0:
            late()
            {end}
        os.wait()
    """)
    assert by_kind(program) == [("app", ["read"]), ("fork", ["late"])]
    assert not [path for path in program.files() if path.suffix == ".lextrace"]


def test_children_that_record_nothing_leave_nothing(program):
    run(program, """
        import os, subprocess, sys
        DFTracer.initialize_log(log_file="../t/app")
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        subprocess.run([sys.executable, "-c", "import dftracer.logger"], check=True)
        subprocess.run(["true"], preexec_fn=lambda: None, check=True)
    """)
    assert by_kind(program) == [("app", [])]


def test_grandchildren(program):
    run(program, """
        import os, sys
        DFTracer.initialize_log(log_file="../t/app")
        if os.fork() == 0:
            read(1)
            if os.fork() == 0:
                late()
                sys.exit()
            os.wait()
            sys.exit()
        os.wait()
    """)
    assert by_kind(program) == [("app", []), ("fork", ["late"]), ("fork", ["read"])]


MULTIPROCESSING = """
    import multiprocessing, sys
    def child(n):
        for _ in range(n):
            late()

    if __name__ == "__main__":
        DFTracer.initialize_log(log_file="../t/app")
        read()
        context = multiprocessing.get_context(METHOD)
        children = [context.Process(target=child, args=(n,)) for n in (1, 2)]
        for each in children: each.start()
        for each in children: each.join()
        assert [each.exitcode for each in children] == [0, 0]
"""


@pytest.mark.parametrize("method, kind", [("fork", "fork"), ("spawn", "app"), ("forkserver", "app")])
def test_multiprocessing(program, method, kind):
    run(program, MULTIPROCESSING.replace("METHOD", repr(method)))
    assert by_kind(program) == sorted([("app", ["read"]), (kind, ["late"]), (kind, ["late"] * 2)])
    assert len({NAME.match(path.name)["prefix"] for path in program.files()}) == 1


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pools(program, method):
    """Workers of a pool that is terminated end by a signal."""
    run(program, f"""
        import multiprocessing
        def child(n):
            late()
            return n * n

        if __name__ == "__main__":
            DFTracer.initialize_log(log_file="../t/app")
            with multiprocessing.get_context("{method}").Pool(2) as pool:
                assert pool.map(child, range(8), chunksize=1) == [n * n for n in range(8)]
    """)
    traces = program.traces()
    assert sum(len(trace.named("late")) for trace in traces) == 8
    assert not [path for path in program.files() if path.suffix == ".lextrace"]


def test_process_pool_executor(program):
    run(program, """
        from concurrent.futures import ProcessPoolExecutor
        import multiprocessing

        if __name__ == "__main__":
            DFTracer.initialize_log(log_file="../t/app")
            with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
                assert list(pool.map(read, range(6))) == list(range(6))
    """)
    assert sum(len(trace.named("read")) for trace in program.traces()) == 6


def test_subprocess_goes_on_with_the_prefix(program):
    run(program, """
        import subprocess, sys
        if len(sys.argv) > 1:
            late()
        else:
            DFTracer.initialize_log(log_file="../t/app")
            read()
            subprocess.run([sys.executable, __file__, "child"], check=True)
            DFTracer.finalize_log()
            subprocess.run([sys.executable, __file__, "child"], check=True)   # nobody records any more
    """)
    assert by_kind(program) == [("app", ["late"]), ("app", ["read"])]


def test_worker_that_begins_and_ends_by_itself(program):
    run(program, """
        import multiprocessing
        def child(n):
            DFTracer.initialize_log(log_file="../t/app")
            late()
            DFTracer.finalize_log()

        if __name__ == "__main__":
            DFTracer.initialize_log(log_file="../t/app")
            for method in ("fork", "spawn"):
                each = multiprocessing.get_context(method).Process(target=child, args=(1,))
                each.start()
                each.join()
    """)
    assert by_kind(program) == [("app", []), ("app", ["late"]), ("fork", ["late"])]


# ---- With lextrace ----

def test_a_run_of_lextrace_is_joined(program):
    run_folder = program.folder / "run"
    run(program, """
        DFTracer.initialize_log(log_file="../t/app", process_id=5)
        read()
        DFTracer.finalize_log()
        late()
    """, command=[tools.lextrace_binary(), "run", "-o", str(run_folder), sys.executable], quiet=False)
    assert program.files() == []
    names = {place.name for process in tools.Run(run_folder).processes for place in process.lexgions.values()}
    assert {"IO/read", "IO/late"} <= names or {"read", "late"} <= {name.rpartition("/")[2] for name in names}


def test_a_session_of_the_program_is_joined(program):
    run(program, """
        import lextrace
        with lextrace.session("../run"):
            DFTracer.initialize_log(log_file="../t/app")
            read()
            DFTracer.finalize_log()
            assert lextrace.active()
    """, quiet=False)
    assert program.files() == [] and (program.folder / "run").is_dir()


def test_environment_is_given_back(program):
    run(program, """
        import os
        before = dict(os.environ)
        DFTracer.initialize_log(log_file="../t/app")
        DFTracer.finalize_log()
        assert dict(os.environ) == before
    """)


def test_environment_helper_starts_nothing():
    assert not [name for name in environment() if name.startswith(("DFTRACER_", "LEXTRACE_DFTRACER"))]


@pytest.mark.parametrize("left", ["part", "whole"])
def test_a_child_that_is_killed_while_it_writes_its_file(program, left):
    run(program, f"""
        import os
        import dftracer._session as session
        write_pfw = session._core.write_pfw

        class Killed:
            def __getattr__(self, name):
                return getattr(session_core, name)

            def write_pfw(self, folder, out, **settings):
                if {left!r} == "whole":
                    write_pfw(folder, out, **dict(settings, remove=False))
                else:
                    open(out + ".1.part", "w").close()
                os.kill(os.getpid(), 9)

        session_core = session._core
        DFTracer.initialize_log(log_file="../t/app")
        if os.fork() == 0:
            late()
            session._core = Killed()
            raise SystemExit
        os.wait()
    """)
    assert by_kind(program) == [("app", []), ("fork", ["late"])]
    assert len(os.listdir(program.folder / "t")) == 2
