"""The Python face: start and stop, session, region, fn."""
import sys

import pytest

import lextrace_tools as tools

MONITORING = sys.version_info >= (3, 12)


@pytest.fixture
def api(trace, api_env):
    """Runs a program that imports lextrace by itself; out = the run folder of its first argument."""
    def run(text, args=(), status=0, **more):
        program = trace.program(text)
        folder = trace.tmp_path / "out"
        result = tools.execute([tools.PYTHON, str(program), str(folder), *args], folder, env=api_env, **more)
        assert result.returncode == status, result.stderr
        result.compare = True
        trace.results.append(result)
        return result
    return run


def regions(result, process=None):
    process = process or result.run.main
    return [one for one in tools.slices(process)[0] if process.lexgion(one.lexgion).domain == 1]


def test_start_and_stop(api):
    result = api("""
        import sys, lextrace

        def before(): pass
        def during(): inner()
        def inner(): pass
        def after(): pass

        before()
        assert not lextrace.active() and lextrace.folder() == ""
        path = lextrace.start(sys.argv[1])
        assert lextrace.active() and lextrace.folder() == path == sys.argv[1]
        for _ in range(10):
            during()
        lextrace.stop()
        assert not lextrace.active()
        lextrace.stop()
        after()
        print(path == sys.argv[1])
    """)
    assert result.outcome() == (0, "True\n", "")
    assert result.counts("app.py") == {"during": 10, "inner": 10}
    assert result.run.main.state["ended"] == 2
    assert tools.left_open(result.run) == {}


def test_start_and_stop_deep_in_a_stack_many_times(api):
    """Ends of calls that were open at a start are left out, calls open at a stop are closed by the readers."""
    result = api("""
        import sys, lextrace

        def down(depth, action):
            if depth:
                down(depth - 1, action)
                mark()
            else:
                action()

        def mark(): pass

        def deep_start():
            lextrace.start(sys.argv[1])
            mark()

        def deep_stop():
            mark()
            lextrace.stop()

        for number in range(50):
            down(number, deep_start)
            mark()
            down(number, deep_stop)
            mark()
    """)
    assert len(result.run.processes) == 50
    for number, process in enumerate(sorted(result.run.processes, key=lambda one: one.state["start_ticks"])):
        counts = tools.counts(result.run, "app.py", process=process)
        # After the start: one mark by deep_start, one per level on the way up, one at the top; then down again, one more.
        assert counts == {name: count for name, count in
                          {"mark": 1 + number + 1 + 1, "down": number + 1, "deep_stop": 1}.items() if count}
        open_at_end = list(tools.slices(process, keep=False)[1].values())
        assert [[one.name for one in stack if one.file.endswith("app.py")] for stack in open_at_end] == \
            [["down"] * (number + 1) + ["deep_stop"]]


def test_session(api):
    result = api("""
        import sys, lextrace

        def work(): pass

        with lextrace.session(sys.argv[1]) as path:
            work()
            print(path == sys.argv[1])
        work()
        try:
            with lextrace.session(sys.argv[1]):
                work()
                raise KeyError("kept")
        except KeyError:
            print("kept", lextrace.active())
    """)
    assert result.stdout == "True\nkept False\n"
    assert len(result.run.processes) == 2 and result.counts("app.py")["work"] == 2


def test_default_folder(trace, api_env):
    work = trace.tmp_path / "work"
    work.mkdir()
    program = trace.program("import lextrace\nprint(lextrace.start())\nlextrace.stop()\n", "tool.py")
    for number in (1, 2):
        done = tools.execute([tools.PYTHON, str(program)], cwd=work, env=api_env)
        assert done.stdout == "%s/lextrace-tool-%d\n" % (work, number)
        assert tools.Run(work / ("lextrace-tool-%d" % number)).main.state["ended"] == 2


def test_errors(api):
    result = api("""
        import sys, lextrace
        lextrace.start(sys.argv[1])
        try:
            lextrace.start(sys.argv[1])
        except RuntimeError as error:
            print(error)
        lextrace.stop()
        for bad in ("/proc/none/here", "/dev/null/x", "x" * 5000):
            try:
                lextrace.start(bad)
                print("started", bad)
            except OSError as error:
                print("refused")
        for wrong in (lambda: lextrace.region(), lambda: lextrace.region(1), lambda: lextrace.region("a", "b", "c", "d"),
                      lambda: lextrace.start(3), lambda: lextrace.start(no_such=1)):
            try:
                wrong()
                print("accepted")
            except TypeError:
                pass
    """)
    assert result.stdout.splitlines()[0] == "lextrace is recording already"
    assert result.stdout.splitlines()[1:] == ["refused"] * 3


def test_not_stopped_at_exit(api):
    for ending, status in (("pass", 0), ("sys.exit(3)", 3), ("os._exit(4)", 4)):
        result = api("""
            import os, sys, lextrace
            def work(): pass
            lextrace.start(sys.argv[1] + sys.argv[2])
            work()
            %s
        """ % ending, args=[str(status)], status=status)
        run = tools.Run(str(result.folder) + str(status))
        assert tools.counts(run, "app.py")["work"] == 1
        assert run.main.state["ended"] == (0 if status == 4 else 1)
        result._run, result.compare = run, False


def test_region(api):
    result = api("""
        import sys, lextrace

        def read(n):
            with lextrace.region("IO", "read_loop"):
                step(n)
                with lextrace.region("CPU", "parse"):
                    step(n)

        def step(n): pass

        with lextrace.region("unrecorded", "before"):
            pass
        with lextrace.session(sys.argv[1]):
            for n in range(5):
                read(n)
            loop = lextrace.region("IO", "again")
            for n in range(3):
                with loop:
                    with loop:
                        step(n)
            with lextrace.region("alone"):
                pass
            try:
                with lextrace.region("IO", "fails"):
                    raise OSError("through")
            except OSError as error:
                print(error)
        with lextrace.region("unrecorded", "after"):
            pass
    """)
    assert result.stdout == "through\n"
    found = regions(result)
    names = tools.Counter(one.name for one in found)
    assert names == {"IO/read_loop": 5, "CPU/parse": 5, "IO/again": 6, "alone": 1, "IO/fails": 1}
    assert {one.parent.name for one in found if one.name == "CPU/parse"} == {"IO/read_loop"}
    assert {one.parent.name for one in found if one.name == "IO/read_loop"} == {"read"}
    assert {one.opened for one in found} == {"user:region_begin"}
    assert {one.how for one in found if one.name != "IO/fails"} == {"user:region_end"}
    assert [one.how for one in found if one.name == "IO/fails"] == ["user:region_unwind"]
    steps = [one.parent.name for one in tools.slices(result.run.main)[0] if one.name == "step"]
    assert tools.Counter(steps) == {"IO/read_loop": 5, "CPU/parse": 5, "IO/again": 3}
    assert tools.left_open(result.run) == {}


def test_region_names(api):
    result = api("""
        import sys, lextrace
        with lextrace.session(sys.argv[1]):
            for name in ("größe", "计算", "a\\0b", "lone\\ud800", 'quote"', "new\\nline", "", "x" * 9000):
                with lextrace.region("cat", name):
                    pass
    """)
    names = [one.name for one in regions(result)]
    assert names[:7] == ["cat/größe", "cat/计算", "cat/a\0b", "cat/lone\ud800", 'cat/quote"', "cat/new\nline", "cat/"]
    assert names[7].startswith("cat/xxx") and names[7].endswith("...")


def test_regions_in_generators_and_coroutines(api):
    """A region that is open at a yield is suspended with its frame and comes back with it."""
    result = api("""
        import asyncio, sys, lextrace

        def numbers(label):
            with lextrace.region("gen", label):
                for n in range(3):
                    yield n

        async def task(label):
            with lextrace.region("task", label):
                await asyncio.sleep(0)
                await asyncio.sleep(0.01)

        async def main():
            await asyncio.gather(*[task("t%d" % n) for n in range(4)])

        def tail(): pass

        with lextrace.session(sys.argv[1]):
            for pair in zip(numbers("a"), numbers("b")):
                tail()
            gen = numbers("dropped")
            next(gen)
            del gen
            asyncio.run(main())
            tail()
    """)
    found = regions(result)
    begun = tools.Counter(one.name for one in found if one.opened == "user:region_begin")
    assert begun == {"gen/a": 1, "gen/b": 1, "gen/dropped": 1, "task/t0": 1, "task/t1": 1, "task/t2": 1, "task/t3": 1}
    assert all(one.how for one in found)
    tails = [one.parent.name if one.parent else None for one in tools.slices(result.run.main)[0] if one.name == "tail"]
    assert set(tails) == {None}, "no region is shown as running while its frame is suspended"
    assert tools.left_open(result.run) == {}


def test_fn_keeps_what_a_function_is(api):
    program = """
        import asyncio, inspect, pickle, sys
        if sys.argv[2:] == ["decorated"]:
            import lextrace
            mark = lextrace.fn
            lextrace.start(sys.argv[1])
        else:
            mark = lambda function: function

        @mark
        def add(left: int, right: int = 2, *rest, scale: float = 1.0) -> float:
            "Adds."
            return (left + right + sum(rest)) * scale

        @mark
        def numbers(count):
            for number in range(count):
                got = yield number
                if got:
                    yield got
            return "end"

        @mark
        async def later(value):
            await asyncio.sleep(0)
            return value

        @mark
        async def arrivals(count):
            for number in range(count):
                try:
                    got = yield number
                    if got:
                        yield got
                except KeyError:
                    yield "caught"

        @mark
        def fails():
            raise LookupError("same object")

        class Lathe:
            @mark
            def __init__(self, speed):
                self.speed = speed

            @mark
            def turn(self, rounds=3):
                return self.speed * rounds

            @classmethod
            @mark
            def small(cls):
                return cls(1)

            @staticmethod
            @mark
            def unit():
                return "rpm"

            @property
            @mark
            def doubled(self):
                return self.speed * 2

        async def use():
            source = arrivals(9)
            got = [await source.__anext__(), await source.asend("x"), await source.asend(None),
                   await source.athrow(KeyError)]
            await source.aclose()
            return await later(4), [number async for number in arrivals(3)], got

        def delegate():
            return (yield from numbers(2))

        gen = numbers(3)
        print("add", add(1), add(1, 2, 3, scale=2.0), add.__name__, add.__doc__, inspect.signature(add),
              add.__annotations__, add.__defaults__ if mark is None else "")
        print("generator", inspect.isgeneratorfunction(numbers), next(gen), gen.send("x"), list(gen), list(delegate()))
        print("coroutine", inspect.iscoroutinefunction(later), inspect.isasyncgenfunction(arrivals), asyncio.run(use()))
        closed = numbers(5)
        next(closed)
        closed.close()
        try:
            fails()
        except LookupError as error:
            print("error", error, type(error).__name__)
        lathe = Lathe(5)
        print("class", lathe.turn(), Lathe.small().turn(2), Lathe.unit(), lathe.doubled, Lathe.turn.__qualname__)
        print("pickle", pickle.loads(pickle.dumps(add)) is add, "module", add.__module__)
    """
    plain = api(program)
    plain.compare = False
    result = api(program, args=["decorated"])
    assert result.outcome() == plain.outcome()
    begun = tools.Counter(one.name for one in regions(result) if one.opened == "user:region_begin")
    assert begun == {"fn/add": 2, "fn/numbers": 3, "fn/later": 1, "fn/arrivals": 2, "fn/fails": 1, "fn/Lathe.__init__": 2,
                     "fn/Lathe.turn": 2, "fn/Lathe.small": 1, "fn/Lathe.unit": 1, "fn/Lathe.doubled": 1}
    assert [one.how for one in regions(result) if one.name == "fn/fails"] == ["user:region_unwind"]
    assert tools.left_open(result.run) == {}


def test_fn_with_names_and_recursion(api):
    result = api("""
        import sys, lextrace

        @lextrace.fn(cat="IO", name="load")
        def first(n):
            return n and first(n - 1)

        @lextrace.fn()
        def second():
            return 1

        with lextrace.session(sys.argv[1]):
            first(4)
            second()
        first(3)
    """)
    assert tools.Counter(one.name for one in regions(result)) == {"IO/load": 5, "fn/second": 1}


def test_api_in_a_program_run_by_lextrace(trace, api_env):
    """start() and session() there use the recording that is under way; regions and stop() work."""
    result = trace("""
        import sys, lextrace
        def work(): pass
        print(lextrace.start("elsewhere") == lextrace.folder(), lextrace.active())
        with lextrace.session("elsewhere"):
            work()
        print(lextrace.active())
        with lextrace.region("IO", "part"):
            work()
        lextrace.stop()
        work()
    """, env=api_env)
    assert result.outcome() == (0, "True True\nTrue\n", "")
    assert result.counts("app.py")["work"] == 2
    assert [one.name for one in regions(result)] == ["IO/part"]


def test_c_calls_by_the_api(api):
    result = api("""
        import sys, lextrace
        def work():
            return len("abc") + abs(-1)
        with lextrace.session(sys.argv[1], c_calls=True):
            for _ in range(10):
                work()
        with lextrace.session(sys.argv[1]):
            work()
    """)
    first, second = result.run.processes
    names = tools.counts(result.run, kind="python:c_call_begin", process=first)
    assert sum(count for name, count in names.items() if name.endswith(("len", "abs"))) == 20
    assert not tools.counts(result.run, kind="python:c_call_begin", process=second)


@pytest.mark.parametrize("follow", [True, False])
def test_fork_while_recording(api, follow):
    result = api("""
        import os, sys, lextrace
        def work(): pass
        lextrace.start(sys.argv[1], follow=%r)
        pid = os.fork()
        for _ in range(7):
            work()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        lextrace.stop()
    """ % follow)
    assert len(result.run.processes) == (2 if follow else 1)
    assert result.counts("app.py")["work"] == (14 if follow else 7)


def test_start_and_stop_while_threads_call(api):
    result = api("""
        import sys, threading, time, lextrace
        on = True

        def leaf(): pass

        def loop():
            while on:
                for _ in range(20):
                    leaf()
                time.sleep(0.0001)

        threads = [threading.Thread(target=loop) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(30):
            lextrace.start(sys.argv[1])
            time.sleep(0.005)
            lextrace.stop()
        on = False
        for thread in threads:
            thread.join()
        print("done")
    """)
    result.compare = False
    assert result.outcome() == (0, "done\n", "")
    assert len(result.run.processes) == 30
    for process in result.run.processes:
        tools.check_streams(process)
        tools.slices(process, keep=False)
        assert process.state["ended"] == 2
        assert sum(process.lost.values()) == 0
    if MONITORING:
        assert result.counts("app.py")["leaf"] > 1000


def test_no_trace_of_us_after_stop(api):
    result = api("""
        import os, sys, threading, lextrace

        def look():
            threads = len(os.listdir("/proc/self/task"))
            return (sys.getprofile(), threads, sorted(os.listdir("/proc/self/fd"))[:-1],
                    [sys.monitoring.get_tool(tool) for tool in range(6)] if sys.version_info >= (3, 12) else [])

        def work(): pass

        before = look()
        lextrace.start(sys.argv[1])
        work()
        lextrace.stop()
        print(look() == before)
    """)
    assert result.stdout == "True\n"


def test_no_leak_over_many_sessions(api):
    result = api("""
        import resource, shutil, sys, lextrace

        def work(): pass

        def rounds(count):
            for _ in range(count):
                with lextrace.session(sys.argv[1]):
                    work()
                    with lextrace.region("a", "b"):
                        pass
                shutil.rmtree(sys.argv[1])
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        first = rounds(50)
        print(rounds(300) - first)
    """)
    result.compare = False
    result._run = None
    assert int(result.stdout) < 1500
