"""Sessions that begin, end and fail at awkward moments: in forked children, without descriptors, on small stacks."""
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lextrace_tools as tools

MONITORING = sys.version_info >= (3, 12)


@pytest.fixture
def api(trace, api_env):
    """Runs a program that starts lextrace by itself; its first argument is the run folder."""
    def run(text, args=(), status=0, compare=True, **more):
        program = trace.program(text)
        folder = trace.folder()
        result = tools.execute([tools.PYTHON, str(program), str(folder), *map(str, args)], folder, env=api_env, **more)
        assert result.returncode == status, result.stderr
        result.compare = compare
        trace.results.append(result)
        return result
    return run


def lost(process):
    return sum(process.state["lost"].values())


def begins(process, file="app.py"):
    return tools.counts(None, file, process=process)


# ---- A child's session and its parent's names ----

MANY = """
    import os, sys, lextrace

    def make(prefix, count):
        names = {}
        for n in range(count):
            exec(compile(f"def {prefix}_{n}():\\n    pass\\n", prefix + ".py", "exec"), names)
        return [names[f"{prefix}_{n}"] for n in range(count)]

    def call(functions):
        for n, function in enumerate(functions):
            for _ in range(n % 7 + 1):
                function()

    def child_session(folder):
        first = make("young", 900)
        lextrace.start(folder)
        call(first)
        call(make("younger", 400))
        lextrace.stop()
        os._exit(0)
"""


def expected(prefix, count, times=1):
    return {f"{prefix}_{n}": (n % 7 + 1) * times for n in range(count)}


def test_a_childs_session_leaves_the_parents_names_alone(api, trace):
    young = trace.tmp_path / "young"
    result = api(MANY + """
    lextrace.start(sys.argv[1], follow=False)
    old = make("old", 1200)
    call(old)
    pid = os.fork()
    if pid == 0:
        child_session(sys.argv[2])
    assert os.waitpid(pid, 0)[1] == 0
    call(old)
    call(make("older", 300))
    lextrace.stop()
    """, args=[young])
    assert result.stdout == ""
    parent, = result.run.processes
    assert begins(parent, "old.py") - tools.Counter({"<module>": 1200}) == expected("old", 1200, 2)
    assert begins(parent, "older.py") - tools.Counter({"<module>": 300}) == expected("older", 300)
    assert not begins(parent, "young.py") and not begins(parent, "younger.py")
    child, = tools.Run(young).processes
    assert begins(child, "young.py") == expected("young", 900)
    assert begins(child, "younger.py") - tools.Counter({"<module>": 400}) == expected("younger", 400)
    assert not begins(child, "old.py")
    tools.check_streams(child)
    tools.check_with_babeltrace(tools.Run(young))


def test_a_followed_child_starts_a_session_of_its_own(trace, api_env):
    young = trace.tmp_path / "young"
    result = trace(MANY + """
    old = make("old", 1200)
    call(old)
    pid = os.fork()
    if pid == 0:
        call(old[:7])
        lextrace.stop()
        child_session(sys.argv[1])
    assert os.waitpid(pid, 0)[1] == 0
    call(old)
    """, args=[young], env=api_env)
    assert result.outcome() == (0, "", "")
    parent, followed = result.run.processes
    assert begins(parent, "old.py") - tools.Counter({"<module>": 1200}) == expected("old", 1200, 2)
    assert begins(followed, "old.py") == expected("old", 7)
    assert not begins(parent, "young.py") and not begins(followed, "young.py")
    child, = tools.Run(young).processes
    assert begins(child, "young.py") == expected("young", 900)
    assert begins(child, "younger.py") - tools.Counter({"<module>": 400}) == expected("younger", 400)
    assert result.run.lost == lost(child) == 0


# ---- Starts that fail ----

FAILING = """
    import os, resource, sys, lextrace

    def work(): pass

    def fails(folder):
        try:
            lextrace.start(folder)
        except OSError as error:
            assert not lextrace.active()
            return type(error).__name__
        return "started"
"""


def test_a_start_that_fails_leaves_nothing(api, trace):
    (trace.tmp_path / "file").write_text("kept")
    result = api(FAILING + """
    print(fails(sys.argv[2]), open(sys.argv[2]).read())
    print(fails("/proc/nothing/run"))
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, unlimited[1]))
    print(fails(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    print(os.listdir(sys.argv[1]))
    unlimited = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, unlimited[1]))
    print(fails(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_NOFILE, unlimited)
    print(os.listdir(sys.argv[1]))
    lextrace.start(sys.argv[1])
    for _ in range(5):
        work()
    lextrace.stop()
    """, args=[trace.tmp_path / "file"])
    said = result.stdout.splitlines()
    assert said[0].endswith("Error kept") and said[1].endswith("Error")
    assert said[2].endswith("Error") and said[3] == "[]"
    assert said[4].endswith("Error") and said[5] == "[]"
    assert result.counts("app.py") == {"work": 5} and len(result.run.processes) == 1


def test_a_start_on_a_full_disk_leaves_nothing(api, trace):
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    small = trace.tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    try:
        result = api(FAILING + """
    run, filler = sys.argv[2] + "/run", sys.argv[2] + "/filler"
    with open(filler, "wb", buffering=0) as handle:
        try:
            while True:
                handle.write(b"x" * 4096)
        except OSError:
            pass
    print(fails(run), os.listdir(run))
    os.unlink(filler)
    lextrace.start(run)
    for _ in range(5):
        work()
    lextrace.stop()
        """, args=[small], compare=False)
        assert re.fullmatch(r"OSError \[\]\n", result.stdout)
        assert tools.counts(tools.Run(small / "run"), "app.py") == {"work": 5}
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


@pytest.mark.skipif(not MONITORING, reason="tool ids came with 3.12")
def test_a_start_without_a_free_tool_id(api):
    result = api("""
        import sys, lextrace

        def work(): pass

        for number in (3, 4):
            sys.monitoring.use_tool_id(number, "theirs")
        try:
            lextrace.start(sys.argv[1])
        except RuntimeError as error:
            print(error)
        assert not lextrace.active()
        assert [sys.monitoring.get_tool(number) for number in (3, 4)] == ["theirs"] * 2
        work()
        sys.monitoring.free_tool_id(3)
        lextrace.start(sys.argv[1])
        work()
        lextrace.stop()
    """)
    assert re.match(r"no free tool id", result.stdout)
    assert result.counts("app.py") == {"work": 1}
    assert len([entry for entry in os.listdir(result.folder) if (result.folder / entry).is_dir()]) == 1


# ---- Regions over two sessions ----

def test_a_region_suspended_over_two_sessions(api):
    """It may be absent in the second trace, but is nobody else there, and nobody else is it."""
    result = api("""
        import sys, lextrace

        def work(n):
            with lextrace.region("IO", f"other-{n % 50}"):
                pass

        def held():
            with lextrace.region("IO", "held"):
                yield 1
                work(0)
                yield 2
                work(0)

        lextrace.start(sys.argv[1])
        generators = [held() for _ in range(5)]
        for generator in generators:
            next(generator)
        lextrace.stop()
        lextrace.start(sys.argv[1])
        for n in range(100):
            work(n)
        for generator in generators:
            next(generator)
        for n in range(100):
            work(n)
        for generator in generators[1:]:
            assert list(generator) == []
        generators.pop(0).close()
        lextrace.stop()
    """)
    first, second = result.run.processes
    user = [[(one.name, one.opened) for one in tools.slices(process)[0] if process.lexgion(one.lexgion).domain == 1]
            for process in (first, second)]
    assert user[0] == [("IO/held", "user:region_begin")] * 5
    others = tools.Counter(name for name, _ in user[1] if name != "IO/held")
    assert others == {"IO/other-%d" % n: 4 + (9 if n == 0 else 0) for n in range(50)}
    assert ("IO/held", "user:region_begin") not in user[1]
    assert tools.left_open(result.run) == {}


# ---- Children that cannot open anything ----

STARVED = """
    import os, resource, sys

    def leaf():
        pass

    def starve():
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        if sys.argv[1] == "limit":
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, limit[1]))
            return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, limit[1]))
        held = []
        try:
            while True:
                held.append(os.dup(0))
        except OSError:
            pass
        return lambda: [os.close(fd) for fd in held]

    def child(before, after):
        relieve = starve()
        for _ in range(before):
            leaf()
        relieve()
        for _ in range(after):
            leaf()
        os.write(1, b"child\\n")
"""


@pytest.mark.parametrize("how", ["limit", "numbers"])
def test_a_child_without_descriptors_for_a_while(trace, how):
    result = trace(STARVED + """
    pid = os.fork()
    if pid == 0:
        child(10_000, 30_000)
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    """, args=[how], compare=False)
    assert result.outcome() == (0, "child\n", "")
    assert len(result.run.processes) == 2
    parent, child = result.run.processes
    assert lost(parent) == 0
    present = begins(child)["leaf"]
    assert abs(2 * present + lost(child) - 80_000) < 100, (present, child.state["lost"])
    assert 0 <= lost(child) < 65_000


@pytest.mark.parametrize("how", ["limit", "numbers"])
def test_a_child_that_starts_without_descriptors(trace, how):
    """The limit holds at the fork: what the child drops until it can open its folder is counted with its parent."""
    result = trace(STARVED + """
    relieve = starve()
    pid = os.fork()
    if pid == 0:
        for _ in range(10_000):
            leaf()
        relieve()
        for _ in range(30_000):
            leaf()
        os.write(1, b"child\\n")
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    relieve()
    """, args=[how], compare=False)
    assert result.outcome() == (0, "child\n", "")
    assert len(result.run.processes) == 2
    parent, child = result.run.processes
    present = begins(child)["leaf"]
    assert present > 10_000 and lost(parent) >= 20_000
    assert abs(2 * present + result.run.lost - 80_000) < 100, (present, parent.state["lost"], child.state["lost"])
    tells(result)


def tells(result):
    """Every answer shows the losses."""
    count = f"{result.run.lost:,}"
    closing, = result.said
    assert "none lost" not in closing and count in closing, closing
    assert count in tools.lextrace("report", result.folder).stdout
    assert count in tools.lextrace("info", result.folder).stdout


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)", "os.kill(os.getpid(), 9)"])
@pytest.mark.parametrize("how", ["limit", "numbers"])
def test_a_child_that_never_has_a_descriptor(trace, how, end):
    """It has no folder, and its losses are told all the same: no lost event is silent."""
    result = trace(STARVED + f"""
    relieve = starve()
    pid = os.fork()
    if pid == 0:
        grandchild = os.fork()
        for _ in range(5000 if grandchild else 3000):
            leaf()
        if grandchild:
            os.waitpid(grandchild, 0)
        {end}
    os.waitpid(pid, 0)
    relieve()
    leaf()
    """, args=[how], compare=False)
    assert result.outcome() == (0, "", "")
    parent, = result.run.processes
    assert begins(parent)["leaf"] == 1
    assert 16_000 <= lost(parent) < 16_500, parent.state["lost"]
    tells(result)


# ---- Under `lextrace run` ----

def test_the_recording_that_is_there_is_used(trace, api_env):
    other = trace.tmp_path / "other"
    result = trace("""
        import sys, lextrace

        def work(): pass

        folder = lextrace.folder()
        with lextrace.session(sys.argv[1]) as path:
            work()
        assert lextrace.active() and path == folder == lextrace.start(sys.argv[1])
        work()
        lextrace.stop()
        assert not lextrace.active()
        work()
        with lextrace.session() as path:
            work()
        assert path == folder and not lextrace.active()
    """, args=[other], env=api_env)
    assert result.outcome() == (0, "", "") and not other.exists()
    assert [begins(process)["work"] for process in result.run.processes] == [2, 1]


# ---- Small stacks ----

def test_a_small_thread_stack(trace, api_env):
    result = trace.same("""
        import sys, threading, lextrace

        names = {}
        for n in range(3000):
            exec(f"def small_{n}(): pass", names)
        functions = [names[f"small_{n}"] for n in range(3000)]

        def work():
            with lextrace.region("IO", "in a small stack"):
                for function in functions:
                    function()

        threading.stack_size(32768)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print("done")
    """, env=api_env)
    assert result.stdout == "done\n"
    counts = tools.counts(result.run, "<string>")
    assert {name: count for name, count in counts.items() if name != "<module>"} == {f"small_{n}": 1 for n in range(3000)}
    assert tools.counts(result.run, kind="user:region_begin") == {"IO/in a small stack": 1}
    assert result.run.lost == 0


# ---- The closing line ----

@pytest.mark.parametrize("options", [[], ["--report"]], ids=["plain", "report"])
def test_closing_line_into_a_closed_pipe(trace, options):
    program = trace.program("import signal, sys\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nsys.exit(7)\n")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([tools.lextrace_binary(), "run", *options, "-o", str(trace.folder()), tools.PYTHON,
                               str(program)], stdout=subprocess.DEVNULL, stderr=writing, timeout=60,
                              env=tools.clean_environment())
    finally:
        os.close(writing)
    assert done.returncode == 7


def test_closing_line_into_a_file_at_its_limit(trace):
    program = trace.program("""
        import resource, signal, sys
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
        sys.exit(7)
    """)
    path = trace.tmp_path / "stderr"
    path.write_bytes(b"x" * 100)
    with open(path, "ab") as full:
        done = subprocess.run([tools.lextrace_binary(), "run", "-o", str(trace.folder()), tools.PYTHON, str(program)],
                              stdout=subprocess.DEVNULL, stderr=full, timeout=60, env=tools.clean_environment())
    assert done.returncode == 7 and path.stat().st_size == 100


def test_closing_line_of_a_folder_made_anew(trace):
    folder = trace.folder()
    result = trace("""
        import os, shutil, sys

        def leaf(n):
            return n

        for n in range(50_000):
            leaf(n)
        shutil.rmtree(sys.argv[1])
        os.mkdir(sys.argv[1])
        for n in range(100_000):
            leaf(n)
        print("done")
        sys.exit(3)
    """, args=[folder], compare=False)
    assert result.outcome() == (3, "done\n", "")
    line, = result.said
    assert "none lost" not in line and "LOST" in line, line


def test_closing_line_counts_as_info_does(trace):
    """Also with extended headers (after 51 ms without an event) and open packets of children that never ended."""
    result = trace("""
        import os, time

        def leaf():
            pass

        def sleepy():
            for _ in range(4):
                leaf()
                time.sleep(0.12)
                leaf()

        def child(n):
            sleepy()
            for _ in range(n):
                leaf()

        for n in (3, 5000):
            pid = os.fork()
            if pid == 0:
                child(n)
                os._exit(0)
            os.waitpid(pid, 0)
        sleepy()
    """)
    assert result.returncode == 0
    line, = result.said
    said = int(re.match(r"lextrace: ([\d,]+) events of 3 processes", line)[1].replace(",", ""))
    info = json.loads(tools.lextrace("info", "--json", result.folder).stdout)
    assert said == info["events"] == sum(len(list(process.events())) for process in result.run.processes)
    extended = [sum((word & 31) == 31 for packet in process.packets() for word in packet.words)
                for process in result.run.processes]
    assert all(extended), "the programs sleep to make extended headers"


# ---- What the program finds at its start ----

def test_stderr_closed_and_no_extension(trace):
    """Where the interpreter has no extension, the program runs, whether or not there is somewhere to say so."""
    program = trace.program("import sys\nprint('ran')\nsys.exit(4)\n")
    home = trace.tmp_path / "home" / "lextrace"
    shutil.copytree(Path(tools.package_parent()) / "lextrace", home,
                    ignore=shutil.ignore_patterns("_core*", "lib", "__pycache__"))
    for redirection, said in (("2>&-", 0), ("", 1)):
        command = 'LEXTRACE_ROOT=$$ exec "$0" "$1" ' + redirection
        done = tools.execute(["sh", "-c", command, tools.PYTHON, str(program)], env=tools.clean_environment(
            PYTHONPATH=home / "boot", LEXTRACE_DIR=trace.tmp_path / "never", LEXTRACE_HOME=home))
        assert done.outcome() == (4, "ran\n", "") and len(done.said) == said
    assert not (trace.tmp_path / "never").exists()


@pytest.mark.parametrize("value", [None, ":", "a::b:", ":a"])
def test_no_follow_keeps_pythonpath(trace, value):
    program = trace.program("""
        import json, os, subprocess, sys
        print(repr(os.environ.get("PYTHONPATH")), sys.path, flush=True)
        subprocess.run([sys.executable, "-c", "import os, sys; print(repr(os.environ.get('PYTHONPATH')), sys.path)"])
    """)
    trace.same(program, options=["--no-follow"], env=tools.clean_environment(PYTHONPATH=value), cwd=trace.tmp_path)


def test_the_programs_own_sitecustomize(trace):
    own = trace.tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text(
        "import sys\n"
        "print(__name__, __file__, repr(__package__), __cached__, type(__loader__), __doc__)\n"
        "print(__spec__.name, __spec__.origin, __spec__.cached, __spec__.parent, type(__spec__.loader), "
        "__spec__.submodule_search_locations)\n"
        "print(sorted(key for key in globals()), sys.modules['sitecustomize'].__dict__ is globals())\n")
    trace.same("""
        import sitecustomize, sys
        print(sitecustomize, sitecustomize.__spec__, list(sys.modules).count("sitecustomize"))
        print(sorted(sys.path_importer_cache))
        print(sys.path, sys.meta_path, sys.path_hooks)
        print("lextrace" in sys.modules)
    """, env=tools.clean_environment(PYTHONPATH=own))


def test_no_importer_of_ours_stays(trace):
    trace.same("""
        import sys
        print(sorted(sys.path_importer_cache), "sitecustomize" in sys.modules)
    """)


@pytest.mark.skipif(not MONITORING, reason="tool ids came with 3.12")
def test_tool_id_3_is_the_programs(trace):
    result = trace.same("""
        import sys

        seen = []

        def leaf(): pass

        monitoring = sys.monitoring
        monitoring.use_tool_id(3, "mine")
        monitoring.register_callback(3, monitoring.events.PY_START, lambda code, at: seen.append(code.co_name))
        monitoring.set_events(3, monitoring.events.PY_START)
        leaf()
        leaf()
        monitoring.set_events(3, 0)
        monitoring.free_tool_id(3)
        leaf()
        print(seen)
    """)
    assert result.counts("app.py")["leaf"] == 3


# ---- Async generators ----

def test_decorated_async_generator_behaves_as_undecorated(api):
    result = api("""
        import asyncio, sys, lextrace

        def plain(log):
            async def numbers(first):
                "doc"
                value = first
                try:
                    while True:
                        try:
                            got = yield value
                            log.append(("got", got))
                            value = value + 1 if got is None else got
                        except KeyError as error:
                            log.append(("caught", repr(error)))
                            value = -1
                            await asyncio.sleep(0)
                        except IndexError:
                            return
                finally:
                    log.append("finally")
            return numbers

        async def attempt(log, what):
            try:
                log.append(("value", await what))
            except BaseException as error:
                log.append((type(error).__name__, str(error)))

        async def drive(numbers, log):
            one = numbers(1)
            await attempt(log, one.asend(None))
            await attempt(log, one.athrow(KeyError("a")))
            await attempt(log, one.athrow(KeyError("b")))
            await attempt(log, one.asend(40))
            await attempt(log, one.__anext__())
            await attempt(log, one.aclose())
            await attempt(log, one.asend(1))
            await attempt(log, one.aclose())
            await attempt(log, one.athrow(KeyError("late")))
            two = numbers(2)
            await attempt(log, two.asend(1))
            await attempt(log, two.aclose())
            three = numbers(3)
            await attempt(log, three.asend(None))
            await attempt(log, three.athrow(ValueError("through")))
            await attempt(log, three.asend(None))
            four = numbers(4)
            await attempt(log, four.asend(None))
            await attempt(log, four.athrow(IndexError()))
            five = numbers(5)
            await attempt(log, five.athrow(KeyError("before its start")))
            six = numbers(6)
            await attempt(log, six.aclose())
            async for value in numbers(7):
                log.append(value)
                if value == 9:
                    break

        def logged(decorate):
            log = []
            asyncio.run(drive(decorate(plain(log)), log))
            return log

        want = logged(lambda function: function)
        decorate = lextrace.fn(cat="IO", name="numbers")
        untraced = logged(decorate)
        with lextrace.session(sys.argv[1]):
            traced = logged(decorate)
        for name, log in (("untraced", untraced), ("traced", traced)):
            for n, (one, other) in enumerate(zip(want, log)):
                if one != other:
                    print(name, n, one, other)
            print(name, len(want) == len(log), len(want) > 20)
    """)
    assert result.stdout == "untraced True True\ntraced True True\n"
    # Seven generators; three of them never began.
    assert tools.counts(result.run, kind="user:region_begin") == {"IO/numbers": 4}
    assert tools.left_open(result.run) == {}


# ---- Greenlets and signals ----

def test_greenlet_whose_bottom_frame_is_a_generator(trace):
    pytest.importorskip("greenlet")
    result = trace.same("""
        import greenlet

        def leaf(n):
            return n

        def inner(main, n):
            leaf(n)
            main.switch(n)
            leaf(n)

        def numbers(main):
            for n in range(50):
                inner(main, n)
            yield "end"

        def turn(main):
            lets = [greenlet.greenlet(numbers(main).__next__) for _ in range(3)]
            seen = []
            while not all(let.dead for let in lets):
                for let in lets:
                    if not let.dead:
                        leaf(0)
                        seen.append(let.switch())
            return seen

        print(turn(greenlet.getcurrent()))
    """)
    counts = result.counts("app.py")
    assert (counts["numbers"], counts["inner"]) == (3, 150)
    assert tools.balance(result.run) == {}


def test_exception_of_a_signal_handler_at_an_entry(trace):
    """A call that ends before it began is no event: the one that ends is never one of its callers."""
    result = trace("""
        import signal

        class Stop(Exception):
            pass

        names = {}
        for k in range(21):
            exec(f"def helper_{k}():\\n    return {k}", names)
        helpers = [names[f"helper_{k}"] for k in range(21)]

        def inner(k):
            try:
                if k:
                    inner(k - 1)
            finally:
                for _ in range(2):
                    helpers[k]()

        raised = 0

        def handler(number, frame):
            global raised
            if frame.f_code is inner.__code__:
                raised += 1
                raise Stop

        def main():
            done = 0
            while done < 4000:
                try:
                    while done < 4000:
                        done += 1
                        inner(20)
                except Stop:
                    pass

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
        main()
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(raised > 20)
    """, compare=False)
    assert result.outcome() == (0, "True\n", "")
    found, still_open = tools.slices(result.run.main)
    assert not still_open
    helpers = [(int(one.name[7:]), one.depth) for one in found if one.name.startswith("helper_")]
    assert len(helpers) > 50_000
    sums = {level + depth for level, depth in helpers}
    assert len(sums) == 1, [(level, depth) for level, depth in itertools.islice(helpers, 0, 200)]
