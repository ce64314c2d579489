"""Threads: each its own track with its own name, however many, however short, whoever made them."""
import shutil
import subprocess
import sys
import sysconfig

import pytest

import lextrace_tools as tools

MONITORING = sys.version_info >= (3, 12)


def bodies(result, name, file="app.py"):
    return [one for one in tools.slices(result.run.main)[0] if one.name == name and tools.wanted(one, file)]


def test_threads_alive_together(trace):
    result = trace.same("""
        import threading
        gate = threading.Barrier(4)

        def grind(n):
            return n

        def mill():
            gate.wait()
            for n in range(50):
                grind(n)

        threads = []
        for _ in range(4):
            threads.append(threading.Thread(target=mill, name="mill"))
            threads[-1].start()
        for thread in threads:
            thread.join()
        for _ in range(3):
            gate = threading.Barrier(1)
            last = threading.Thread(target=mill, name="mill")
            last.start()
            last.join()
    """)
    assert result.counts("app.py") == {"<module>": 1, "mill": 7, "grind": 350}
    main = result.run.main
    mills = bodies(result, "mill")
    assert len({one.thread for one in mills}) == 7
    assert {one.parent.name for one in bodies(result, "grind")} == {"mill"}
    together = sorted(mills, key=lambda one: one.begin)[:4]
    assert max(one.begin for one in together) < min(one.end for one in together)
    assert len({main.tids[one.thread] for one in together}) == 4
    assert all("mill" in main.threads[one.thread] for one in mills)
    assert main.tids[0] == main.state["pid"] and all(0 < tid < 2 ** 31 for tid in main.tids.values())
    assert tools.balance(result.run) == {}


def test_10_000_short_threads_make_few_files(trace):
    result = trace.same("""
        import _thread, threading

        def job(n):
            return n

        def bare(n, done):
            job(n)
            done.release()

        for number in range(9_600):
            done = _thread.allocate_lock()
            done.acquire()
            _thread.start_new_thread(bare, (number, done))
            done.acquire()
        for _ in range(50):
            threads = []
            for number in range(8):
                threads.append(threading.Thread(target=job, args=(number,)))
                threads[-1].start()
            for thread in threads:
                thread.join()
        print("done")
    """, timeout=120, compare=False)
    main = result.run.main
    assert result.counts("app.py")["job"] == 10_000
    assert len({one.thread for one in bodies(result, "job")}) == 10_000
    assert len(list(main.folder.rglob("*"))) < 100
    assert main.state["threads"] == 10_001
    tools.check_streams(main)
    tools.check_with_babeltrace(result.run)
    tools.check_with_view(result.run, tools.view_events(result.folder))
    assert tools.balance(result.run) == {}


def test_2_000_threads_at_once(trace):
    result = trace.same("""
        import threading
        threading.stack_size(65536)
        gate = threading.Event()

        def job():
            gate.wait()

        threads = [threading.Thread(target=job) for _ in range(2000)]
        for thread in threads:
            thread.start()
        gate.set()
        for thread in threads:
            thread.join()
        print(len(threads))
    """, compare=False)
    assert result.counts("app.py")["job"] == 2000
    assert result.run.lost == 0
    tools.check_streams(result.run.main)


def test_names_given_late(trace):
    result = trace.same("""
        import threading, _thread, time

        def late():
            leaf()
            threading.current_thread().name = "given later"
            for _ in range(3000):
                leaf()

        def leaf():
            pass

        thread = threading.Thread(target=late, name="at first")
        thread.start()
        thread.join()
        lock = _thread.allocate_lock()
        lock.acquire()
        def bare():
            leaf()
            lock.release()
        _thread.start_new_thread(bare, ())
        lock.acquire()
        time.sleep(0.05)
    """)
    names = result.run.main.threads
    late = {one.thread for one in bodies(result, "late")}.pop()
    assert names[late] & {"given later", "at first"}
    assert len({one.thread for one in bodies(result, "bare")}) == 1
    assert result.counts("app.py")["leaf"] == 3002


def test_thread_that_runs_when_tracing_starts(trace, api_env):
    """With start() in mid-run, threads that are alive then are seen too, and their open frames harm nothing."""
    result = tools.execute([tools.PYTHON, str(trace.program("""
        import sys, threading, time
        import lextrace
        go, on = threading.Event(), threading.Event()

        def leaf():
            pass

        def run():
            on.set()
            go.wait()
            for _ in range(100):
                leaf()

        thread = threading.Thread(target=run)
        thread.start()
        on.wait()
        lextrace.start(sys.argv[1])
        go.set()
        thread.join()
        lextrace.stop()
    """)), str(trace.tmp_path / "out")], trace.tmp_path / "out", env=api_env)
    assert result.outcome() == (0, "", "")
    counts = result.counts("app.py")
    if MONITORING:
        assert counts["leaf"] == 100
    assert counts["run"] == 0
    assert tools.left_open(result.run) == {}


@pytest.mark.parametrize("daemon_does", ["loops", "sleeps", "waits"])
def test_daemon_threads_outlive_the_interpreter(trace, daemon_does):
    result = trace.same("""
        import sys, threading, time

        def leaf():
            return 1

        def loops():
            while True:
                leaf()

        def sleeps():
            while True:
                time.sleep(0.001)
                leaf()

        def waits():
            leaf()
            threading.Event().wait()

        for _ in range(3):
            threading.Thread(target=globals()[sys.argv[1]], daemon=True).start()
        time.sleep(0.1)
        print("end")
    """, args=[daemon_does])
    assert result.returncode == 0 and result.stderr == ""
    left = tools.balance(result.run)
    assert all(names[-1] in ("leaf", daemon_does) or names[-1].startswith(("Event.wait", "Condition.wait"))
               for names in left.values()), left
    assert not any(thread == 0 for _, thread, _ in left)
    assert result.counts("app.py")[daemon_does] == 3


@pytest.fixture(scope="module")
def callback_library(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    out = tmp_path_factory.mktemp("native")
    done = subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-pthread", "-I", sysconfig.get_path("include"),
                           str(tools.PROGRAMS / "native_threads.c"), "-o",
                           str(out / ("native_threads" + sysconfig.get_config_var("EXT_SUFFIX")))],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def test_threads_made_by_c(trace, callback_library):
    result = trace.same("c_threads.py", env=tools.clean_environment(PYTHONPATH=callback_library))
    counts = result.counts("c_threads.py")
    if not MONITORING:
        # The profile hook of 3.11 belongs to one thread state: a thread that C makes never gets it.
        assert (counts["callback"], counts["leaf"]) == (0, 0)
        return
    assert (counts["callback"], counts["leaf"]) == (5 * 20, 5 * 20)
    found = bodies(result, "callback", "c_threads.py")
    assert len({one.thread for one in found}) == 5 and 0 not in {one.thread for one in found}
    assert all(one.parent is None for one in found)
    assert tools.balance(result.run) == {}


def test_c_thread_that_is_alive_at_the_end(trace, callback_library):
    """A pthread that sleeps through the interpreter's end and then exits: no crash, no hang."""
    result = trace.same("c_threads.py", args=["linger"], env=tools.clean_environment(PYTHONPATH=callback_library))
    assert result.returncode == 0
    # 3.11 takes the slot of a C thread at the next event of another thread: here one may come in time, or not.
    assert result.counts("c_threads.py")["callback"] in ((1,) if MONITORING else (0, 1))


def test_fork_in_a_thread_is_seen_in_both(trace):
    result = trace.same("""
        import os, threading

        def child_work():
            return 1

        def parent_work():
            return 1

        def forks():
            pid = os.fork()
            if pid == 0:
                for _ in range(10):
                    child_work()
                os._exit(0)
            os.waitpid(pid, 0)
            for _ in range(20):
                parent_work()

        threads = [threading.Thread(target=forks) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """, flags=["-W", "ignore::DeprecationWarning"])
    assert len(result.run.processes) == 4
    children = result.run.processes[1:]
    for child in children:
        counts = tools.counts(result.run, "app.py", process=child)
        assert (counts["child_work"], counts["parent_work"]) == (10, 0)
    parent = tools.counts(result.run, "app.py", process=result.run.main)
    assert (parent["child_work"], parent["parent_work"]) == (0, 60)


def test_thread_pool(trace):
    result = trace.same("""
        from concurrent.futures import ThreadPoolExecutor

        def square(n):
            return n * n

        with ThreadPoolExecutor(5, thread_name_prefix="pool") as pool:
            print(sum(pool.map(square, range(1000))))
    """)
    assert result.counts("app.py")["square"] == 1000
    names = set().union(*result.run.main.threads.values())
    assert any(name.startswith("pool_") for name in names)
