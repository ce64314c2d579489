"""What the Python domain records: every body that starts, each slice with exactly one end, under the right name."""
import re
import sys

import pytest

import lextrace_tools as tools

MONITORING = sys.version_info >= (3, 12)


def slices_of(result, name=None, file="app.py"):
    found = [one for one in tools.slices(result.run.main)[0] if tools.wanted(one, file)]
    return [one for one in found if name is None or one.name == name]


def closed(result):
    """Nothing is open at the end but what is open at every exit."""
    assert tools.balance(result.run) == {}


def test_plain_calls(trace):
    result = trace.same("""
        def leaf(n):
            return n

        def node(n):
            return leaf(n) + leaf(n)

        class Tree:
            def grow(self):
                return node(1)

        print(sum(node(n) for n in range(10)), Tree().grow())
    """)
    assert result.counts("app.py") == {"<module>": 1, "Tree": 1, "<genexpr>": 1, "node": 11, "leaf": 22, "Tree.grow": 1}
    assert {one.parent.name for one in slices_of(result, "leaf")} == {"node"}
    assert [one.parent.name for one in slices_of(result, "Tree.grow")] == ["<module>"]
    assert all(one.how == "python:function_end" for one in slices_of(result, "leaf"))
    closed(result)


def test_lines_and_files(trace):
    result = trace("""
        def first(): pass


        def fourth(): pass
        first(); fourth()
    """)
    places = {one.name: (one.file, one.line) for one in result.run.main.lexgions.values()
              if one.file.endswith("app.py")}
    path = str(trace.tmp_path / "app.py")
    assert places["first"] == (path, 2)
    assert places["fourth"] == (path, 5)


def test_exceptions_end_as_unwind(trace):
    result = trace.same("""
        def bottom():
            raise ValueError("deep")

        def middle():
            bottom()

        def top():
            try:
                middle()
            except ValueError:
                return 1

        for _ in range(50):
            top()
    """)
    assert result.counts("app.py") == {"<module>": 1, "bottom": 50, "middle": 50, "top": 50}
    assert {(one.name, one.how) for one in slices_of(result)} == {
        ("<module>", "python:function_end"), ("top", "python:function_end"),
        ("middle", "python:function_unwind"), ("bottom", "python:function_unwind")}
    closed(result)


def test_generators(trace):
    result = trace.same("generators.py")
    counts = result.counts("generators.py")
    assert {name: counts[name] for name in ("countdown", "outer", "note", "tail", "echo", "never")} == \
        {"countdown": 7, "outer": 2, "note": 7, "tail": 4, "echo": 1, "never": 0}
    bodies = slices_of(result, None, "generators.py")
    # Whatever ended a generator, nothing of it is open when the plain calls come.
    assert {one.parent.name for one in bodies if one.name == "tail"} == {"main"}
    assert {one.parent.name for one in bodies if one.name == "note"} == {"countdown"}
    echoes = [one for one in bodies if one.name == "echo"]
    assert echoes[0].opened == "python:function_begin"
    assert [one.opened for one in echoes[1:]] == ["python:function_resume"] * (len(echoes) - 1)
    assert [one.how for one in echoes] == ["python:function_yield"] * 4 + ["python:function_unwind"]
    closed(result)


def test_drained_generator_has_one_slice_per_step(trace):
    result = trace.same("""
        def numbers(count):
            for number in range(count):
                yield number

        print(list(numbers(5)))
    """)
    found = slices_of(result, "numbers")
    assert [(one.opened, one.how) for one in found] == \
        [("python:function_begin", "python:function_yield")] + \
        [("python:function_resume", "python:function_yield")] * 4 + \
        [("python:function_resume", "python:function_end")]
    closed(result)


def test_coroutines(trace):
    result = trace.same("coroutines.py")
    counts = result.counts("coroutines.py")
    assert {name: counts[name] for name in ("cook", "stir", "nap", "kitchen", "arrivals", "Room.__aenter__",
                                            "Room.__aexit__", "cancelled")} == \
        {"cook": 3, "stir": 12, "nap": 2, "kitchen": 1, "arrivals": 1, "Room.__aenter__": 1, "Room.__aexit__": 1,
         "cancelled": 1}
    bodies = slices_of(result, None, "coroutines.py")
    assert {one.parent.name for one in bodies if one.name == "stir"} == {"cook"}
    # A coroutine that waits is not shown as running: no slice of nap lasts as long as its sleep.
    frequency = result.run.main.state["clock_frequency"]
    naps = [one for one in bodies if one.name == "nap"]
    assert len(naps) >= 4 and all((one.end - one.begin) / frequency < 0.03 for one in naps)
    assert all(one.how for one in bodies)
    closed(result)


def test_recursion_error(trace):
    result = trace.same("""
        import sys

        def endless(n):
            return endless(n + 1)

        def after():
            return 1

        depths = []

        def probe(n):
            depths[-1] = n
            probe(n + 1)

        for _ in range(4):
            try:
                endless(0)
            except RecursionError:
                after()
            depths.append(0)
            try:
                probe(0)
            except RecursionError:
                after()
        print(depths)
    """)
    counts = result.counts("app.py")
    assert counts["after"] == 8
    printed = eval(result.stdout)
    assert len(set(printed)) == 1
    assert counts["probe"] == 4 * (printed[0] + 1)
    assert {one.depth for one in slices_of(result, "after")} == {1}
    closed(result)


def test_recursion_100_000_deep(trace):
    program = """
        import sys
        sys.setrecursionlimit(10 ** 6)

        def down(n):
            return down(n - 1) + 1 if n else 0

        print(down(100_000))

        def fall(n):
            if n == 0:
                raise KeyError(n)
            fall(n - 1)

        try:
            fall(100_000)
        except KeyError:
            print("landed")
    """
    result = trace.same(program, compare=False)
    assert result.counts("app.py") == {"<module>": 1, "down": 100_001, "fall": 100_001}
    assert max(one.depth for one in slices_of(result)) == 100_001
    closed(result)


def test_exec_lambdas_and_class_bodies(trace):
    result = trace.same("""
        first = lambda: 1
        second = lambda: 2

        class Outer:
            class Inner:
                def act(self):
                    def nested():
                        return 3
                    return nested()

        for _ in range(3):
            first()
        for _ in range(4):
            second()
        Outer.Inner().act()
        space = {}
        exec(compile("def made(n):\\n    return n\\nmade(1); made(2)", "<generated 1>", "exec"), space)
        exec(compile("def made(n):\\n    return -n\\nmade(1)", "<generated 2>", "exec"), space)
        exec("def plain():\\n    return 1\\nplain()")
        print(eval("sum(n for n in range(3))"))
    """)
    by_line = tools.Counter()
    for one in slices_of(result, "<lambda>"):
        by_line[one.line] += 1
    assert by_line == {2: 3, 3: 4}
    counts = result.counts("app.py")
    assert (counts["Outer"], counts["Outer.Inner"], counts["Outer.Inner.act"],
            counts["Outer.Inner.act.<locals>.nested"]) == (1, 1, 1, 1)
    made = {(one.file, one.name): 0 for one in slices_of(result, "made", None)}
    for one in slices_of(result, "made", None):
        made[one.file, one.name] += 1
    assert made == {("<generated 1>", "made"): 2, ("<generated 2>", "made"): 1}
    assert len(slices_of(result, "plain", "<string>")) == 1
    closed(result)


def test_names_are_told_apart(trace):
    result = trace.same("names.py")
    assert {name: count for name, count in result.counts("names.py").items() if "pay" in name or "twice" in name} == {
        "pay": 3, "Shop.pay": 1, "Bank.pay": 2, "Bank.Desk.pay": 4, "make.<locals>.pay": 5, "twice": 1,
        "twice.<locals>.again": 1}
    parents = {one.parent.name for one in slices_of(result, "pay", "names.py")}
    assert parents == {"Shop.pay", "Bank.pay"}


def test_names_of_any_alphabet(trace):
    program = tools.PROGRAMS / "alphabets.py"
    for env in ({}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        result = trace.same(program, env=tools.clean_environment(**env))
        counts = result.counts("alphabets.py")
        assert {name: counts[name] for name in ("größe", "计算", "first", "Übung.старт")} == \
            {"größe": 3, "计算": 5, "first": 2, "Übung.старт": 1}
        names = set().union(*result.run.main.threads.values())
        assert 'müller "7"\t\U0001f600' in names


def test_hostile_names(trace):
    """Names that no reader may stumble on: NUL, lone surrogates, quotes, newlines, 10,000 letters."""
    result = trace.same("""
        def body():
            return 1

        names = ["a\\0b", "lone\\ud800", 'quote"and\\\\slash', "new\\nline", "tab\\t", "*/ comment", "%s %n", "", "x" * 10000,
                 "\\x1b[31mred", "emoji\\U0001f600", "{ brace } = ;"]
        for name in names:
            code = body.__code__.replace(co_name=name, co_qualname=name, co_filename="file of " + name)
            assert type(body)(code, globals())() == 1
    """)
    counts = result.counts()
    for name in ("a\0b", "lone\ud800", 'quote"and\\slash', "new\nline", "tab\t", "*/ comment", "%s %n", "",
                 "\x1b[31mred", "emoji\U0001f600", "{ brace } = ;"):
        assert counts[name] == 1, ascii(name)
    long = [name for name in counts if name.startswith("xxxx")]
    assert len(long) == 1 and 8000 <= len(long[0].encode()) <= 8192 and long[0].endswith("...")


def test_code_objects_come_and_go(trace):
    """100,000 code objects at reused addresses: each call carries the name of the code that ran."""
    result = trace.same("""
        import gc
        template = compile("def f(): return 1", "made.py", "exec").co_consts[0]
        F = type(lambda: 0)
        total = 0
        for number in range(100_000):
            total += F(template.replace(co_name="f%d" % (number % 100), co_qualname="f%d" % (number % 100)), {})()
        print(total)
    """, compare=False)
    counts = result.counts("made.py")
    assert counts == {"f%d" % number: 1000 for number in range(100)}
    order = [one.name for one in slices_of(result, None, "made.py")]
    assert order == ["f%d" % (number % 100) for number in range(100_000)]
    closed(result)


def test_code_objects_with_100_000_places(trace):
    result = trace.same("""
        template = compile("def f(): return 1", "made.py", "exec").co_consts[0]
        F = type(lambda: 0)
        for number in range(100_000):
            F(template.replace(co_firstlineno=number + 1, co_filename="made%d.py" % (number % 7)), {})()
    """, compare=False, timeout=120)
    seen = [(one.file, one.line) for one in slices_of(result, "f", None)]
    assert seen == [("made%d.py" % (number % 7), number + 1) for number in range(100_000)]


def test_50_000_functions(trace):
    result = trace.same("""
        source = "".join("def function_%05d(): return 1\\n" % n for n in range(50_000))
        space = {}
        exec(compile(source, "many.py", "exec"), space)
        for n in range(50_000):
            space["function_%05d" % n]()
    """, timeout=120, compare=False)
    counts = result.counts("many.py")
    assert len(counts) == 50_001 and set(counts.values()) == {1}
    tools.check_streams(result.run.main)
    tools.check_with_babeltrace(result.run)
    tools.check_with_view(result.run, tools.view_events(result.folder))


def test_c_calls_when_asked_for(trace):
    program = """
        class Log:
            def __init__(self):
                self.rows = []

            def add(self, row):
                self.rows.append(row)
                return len(self.rows)

        def parse(text):
            try:
                return int(text)
            except ValueError:
                return abs(-1)

        def missing(table):
            try:
                table.pop("nothing")
            except KeyError:
                return None

        log = Log()
        for number in range(20):
            log.add(number)
        for _ in range(5):
            missing({})
        print(sorted([3, 1, 2], key=lambda n: -n))
    """
    without = trace.same(program)
    assert not without.counts(kind="python:c_call_begin")
    result = trace.same(program, options=["--c-calls"])
    main = result.run.main
    assert main.info["c_calls"] == "1"
    calls = tools.Counter((one.name, one.parent.name if one.parent else None) for one in tools.slices(main)[0]
                          if one.opened == "python:c_call_begin" and one.parent and one.parent.file.endswith("app.py"))
    by_name = {key: count for key, count in calls.items()}
    append = [count for (name, parent), count in by_name.items() if name.endswith("append") and parent == "Log.add"]
    length = [count for (name, parent), count in by_name.items() if name.endswith("len") and parent == "Log.add"]
    assert append == [20] and length == [20]
    raised = [one for one in tools.slices(main)[0] if one.name.endswith("pop") and one.parent and
              one.parent.name == "missing"]
    assert [one.how for one in raised] == ["python:c_call_raise"] * 5
    keys = [one for one in slices_of(result, "<lambda>")]
    assert len(keys) == 3 and {one.parent.name.rpartition(".")[2] for one in keys} == {"sorted"}
    assert all(lexgion.flags & 1 and lexgion.line == 0 for lexgion in
               (main.lexgion(one.lexgion) for one in raised))
    closed(result)


def test_hostile_objects_are_not_touched(trace):
    result = trace.same("hostile.py", options=["--c-calls"])
    assert result.stdout == "touched {}\n" and result.stderr == "" and result.returncode == 0
    counts = result.counts("hostile.py")
    assert (counts["carry"], counts["Thorny.hold"], counts["Half.__init__"], counts["main"]) == (5, 5, 5, 1)


def test_profile_slot_of_c_functions_bound_to_odd_objects(trace):
    """Callables of every C kind: descriptors, slots, types, partials, callable instances, class methods."""
    result = trace.same("""
        import functools, itertools, operator, re
        calls = [lambda: str.upper("a"), lambda: "a".upper(), lambda: int("3"), lambda: type("T", (), {})(),
                 lambda: functools.partial(len, "abc")(), lambda: operator.itemgetter(0)([1]), lambda: object.__repr__(1),
                 lambda: dict.fromkeys([1]), lambda: re.compile("a").match("a"), lambda: list(itertools.chain([1], [2])),
                 lambda: [].append(1), lambda: (1).__add__(2), lambda: getattr(1, "real"), lambda: max([1, 2], key=abs)]
        for call in calls * 3:
            call()
    """, options=["--c-calls"])
    assert result.counts("app.py")["<lambda>"] == 42
    closed(result)


@pytest.mark.parametrize("options", [[], ["--c-calls"]])
def test_greenlets(trace, options):
    pytest.importorskip("greenlet")
    result = trace.same("greenlets.py", options=options)
    counts = result.counts("greenlets.py")
    wanted = {"ping": 1, "pong": 1, "step": 12, "deep": 30, "abandoned": 1, "fails": 1, "tail": 3}
    assert {name: counts[name] for name in wanted} == wanted
    bodies = slices_of(result, None, "greenlets.py")
    assert {one.parent.name for one in bodies if one.name == "step"} == {"ping", "pong"}
    assert {one.parent.name for one in bodies if one.name == "tail"} == {"main"}
    stacks = {one.name: one.stack for one in bodies if one.name in ("ping", "pong", "main")}
    assert len(set(stacks.values())) == 3
    # A greenlet that never runs again leaves its frames open; everything else is closed.
    left = {name for names in tools.balance(result.run).values() for name in names}
    assert {name for name in left if "switch" not in name} <= {"abandoned", "deep", "pong"}
    assert [one.how for one in bodies if one.name == "fails"] == ["python:function_unwind"]


def test_gevent(trace):
    pytest.importorskip("gevent")
    result = trace.same("gevents.py")
    counts = result.counts("gevents.py")
    assert (counts["worker"], counts["job"], counts["main"], counts["tail"]) == (5, 15, 1, 3)
    bodies = slices_of(result, None, "gevents.py")
    assert {one.parent.name for one in bodies if one.name == "job"} == {"worker"}
    assert {one.parent.name for one in bodies if one.name == "tail"} == {"main"}
    assert len({one.stack for one in bodies if one.name == "worker"}) >= 2


def test_deep_unwind_has_no_drift(trace):
    result = trace.same("unwinding.py")
    counts = result.counts("unwinding.py")
    assert {name: counts[name] for name in ("sink", "buoy", "wrap", "surface", "main")} == \
        {"sink": 820, "buoy": 80, "wrap": 20, "surface": 20, "main": 1}
    bodies = slices_of(result, None, "unwinding.py")
    assert len({one.depth for one in bodies if one.name == "surface"}) == 1
    rounds = []
    for one in bodies:
        if one.name == "surface":
            rounds.append(0)
        if rounds:
            rounds[-1] = max(rounds[-1], one.depth)
    assert len(set(rounds)) == 1 and len(rounds) == 20
    closed(result)


def test_long_pauses_have_extended_headers(trace):
    """More than 2^27 ticks between two events: the 64-bit timestamp is written, and time is right."""
    result = trace.same("""
        import time
        def nap():
            time.sleep(0.2)
        for _ in range(3):
            nap()
    """)
    main = result.run.main
    naps = slices_of(result, "nap")
    spans = [(one.end - one.begin) / main.state["clock_frequency"] for one in naps]
    assert len(spans) == 3 and all(0.199 < span < 1 for span in spans), spans
    if main.state["clock_frequency"] * 0.2 > 1 << 27:
        extended = sum(word & 31 == 31 for packet in main.packets() for word in packet.words)
        assert 3 <= extended <= 60


def test_clocks_of_the_program_are_not_used(trace):
    result = trace.same("clocks.py")
    main = result.run.main
    steps = slices_of(result, "step", "clocks.py")
    assert len(steps) == 20 and result.counts("clocks.py")["backwards"] == int(result.stdout)
    spans = [(one.end - one.begin) / main.state["clock_frequency"] for one in steps]
    assert all(0.0029 < span < 0.5 for span in spans)
    assert all(later.begin >= one.end for one, later in zip(steps, steps[1:]))
    assert 1.7e18 < main.state["start_realtime"] < 4e18


def test_context_of_every_packet(trace):
    result = trace("""
        def leaf():
            pass
        for _ in range(100_000):
            leaf()
    """)
    main = result.run.main
    packets = list(main.packets())
    assert len(packets) > 5
    assert len(list(main.folder.glob("lextrace/packet-*"))) == 0, "no open packet after a normal end"
    assert main.state["ended"] == 1 and main.state["exit_status"] == 0
    assert main.state["events"] == sum(packet.fields["events"] for packet in packets)
    assert main.state["bytes"] == sum(path.stat().st_size for path in main.folder.glob("stream-*"))
    assert {packet.fields["thread"] for packet in packets} == {0}
    assert {packet.fields["tid"] for packet in packets} == {main.state["pid"]}
    assert main.lost == dict.fromkeys(tools.LOSSES, 0)
    assert not any(main.state["lost_at"].values())
    # 8 bytes a begin or end: packets add little to it.
    assert main.state["bytes"] < main.state["events"] * 8.2 + 65536


def test_description_of_the_run(trace):
    result = trace("import sys\nsys.exit(3)\n", args=["one", "two words", ""])
    info = result.run.main.info
    assert info["argv"].split("\0")[1:] == ["one", "two words", ""] or \
        info["argv"].split("\0")[-4:] == [str(trace.tmp_path / "app.py"), "one", "two words", ""]
    assert info["python"].split()[0] == sys.version.split()[0]
    assert info["program"] == "app" and re.match(r"Linux \d", info["system"]) and int(info["cpus"]) > 0
    assert set(info) <= set(tools.PROCESS_KEYS)
    assert result.run.main.state["exit_status"] == 3 and result.run.main.state["parent_pid"] > 0


@pytest.mark.skipif(not MONITORING, reason="sys.monitoring came with 3.12")
def test_tool_ids_of_others_are_free(trace):
    result = trace.same("""
        import sys
        mine = sys.monitoring
        for tool in (mine.DEBUGGER_ID, mine.COVERAGE_ID, mine.PROFILER_ID, mine.OPTIMIZER_ID):
            mine.use_tool_id(tool, "test")
            print(tool, mine.get_tool(tool))
            mine.free_tool_id(tool)
    """)
    assert result.returncode == 0
