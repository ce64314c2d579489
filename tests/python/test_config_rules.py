"""The rules of the configuration, row by row, by the events that follow."""
import sys
from collections import Counter

import lextrace_tools as tools
import pytest
from config_tools import c_calls, count, run_config

NO_C = "[Python.default]\npysysmon_c_start = off\npysysmon_c_return = off\n"
NOTHING = "[Lexgion(Python).default]\nmax_num_traces = 0\n"
LOOP = "def f(): return len('x')\nfor _ in range(100): f()\n"


def run(trace, config, program, environment=None, **more):
    return run_config(trace, config, trace.program(program), environment, **more)


def calls(trace, config, program, environment=None, **more):
    found = count(run(trace, config, program, environment, **more))
    found.pop("<module>", None)
    return dict(found)


# ---- Event switches ----

@pytest.mark.parametrize("switches, kinds", [
    ("", {"function_begin": 100, "function_end": 100, "c_call_begin": 100, "c_call_end": 100}),
    ("pysysmon_py_start = off", {"function_end": 100, "c_call_begin": 100, "c_call_end": 100}),
    ("pysysmon_py_return = 0", {"function_begin": 100, "c_call_begin": 100, "c_call_end": 100}),
    ("pysysmon_c_start = no", {"function_begin": 100, "function_end": 100, "c_call_end": 100}),
    ("Python.pysysmon_c_return = FALSE", {"function_begin": 100, "function_end": 100, "c_call_begin": 100}),
    ("pysysmon_c_start = off\npysysmon_c_return = off", {"function_begin": 100, "function_end": 100}),
    ("pysysmon_py_start = off\npysysmon_py_return = off", {"c_call_begin": 100, "c_call_end": 100}),
    ("pysysmon_py_start=off\npysysmon_py_return=off\npysysmon_c_start=off\npysysmon_c_return=off", {}),
])
def test_each_switch_on_its_own(trace, switches, kinds):
    config = NOTHING + "[Lexgion(Python:f)]\nmax_num_traces = -1\n" + switches + "\n"
    result = run(trace, config, LOOP, compare=False)
    found = {kind: count(result, kind)["f"] for kind in ("function_begin", "function_end")}
    found.update({kind: c_calls(result, "len", kind) for kind in ("c_call_begin", "c_call_end")})
    assert {kind: number for kind, number in found.items() if number} == kinds


def test_yields_and_exceptions_follow_the_switch_of_the_end(trace):
    program = "def g():\n    yield 1\n    yield 2\nfor _ in g(): pass\ndef r(): raise ValueError\ntry: r()\nexcept ValueError: pass\n"
    result = run(trace, NO_C + "pysysmon_py_return = off\n", program, compare=False)
    assert count(result)["g"] == 1 and count(result, "function_resume")["g"] == 2 and count(result)["r"] == 1
    assert not count(result, "function_yield")["g"] and not count(result, "function_unwind")["r"]
    result = run(trace, NO_C + "pysysmon_py_start = off\n", program, compare=False)
    assert not count(result)["g"] and not count(result, "function_resume")["g"]
    assert count(result, "function_yield")["g"] == 2 and count(result, "function_unwind")["r"] == 1


def test_without_a_configuration_c_calls_are_off_unless_asked_for(trace):
    assert c_calls(run(trace, None, LOOP), "len") == 0
    assert c_calls(run(trace, None, LOOP, options=["--c-calls"]), "len") >= 100
    assert c_calls(run(trace, "# nothing\n", LOOP), "len") >= 100


def test_imports(trace):
    trace.program("import beneath\n", "above.py")
    trace.program("", "beneath.py")
    config = NOTHING + "[Python.default]\npysysmon_import = on\n"
    result = run(trace, config, "import above, above\ntry:\n    import nosuch\nexcept ImportError: pass\n")
    process = result.run.processes[0]
    found = [(tools.KINDS[event.kind].split("_")[-1], process.lexgion(event.value).name) for event in process.events()]
    found = [one for one in found if one[1] in ("above", "beneath", "nosuch")]
    assert found == [("begin", "above"), ("begin", "beneath"), ("end", "beneath"), ("end", "above"),
                     ("begin", "nosuch"), ("unwind", "nosuch")]


# ---- Windows ----

@pytest.mark.parametrize("keys, expected", [
    ("max_num_traces = 5", 5), ("max_num_traces = 0", 0), ("max_num_traces = -1", 100), ("max_num_traces = 500", 100),
    ("tracing_rate = 7", 14), ("tracing_rate = 101", 0), ("trace_starts_at = 30", 70), ("trace_starts_at = 100", 0),
    ("trace_starts_at = 10\ntracing_rate = 20\nmax_num_traces = 3", 3), ("trace_starts_at = 95\ntracing_rate = 2", 2),
    ("max_num_traces = 5\nmax_num_traces = 9", 9), ("max_num_traces = 4294967295", 100),
])
def test_window_numbers(trace, keys, expected):
    assert calls(trace, NO_C + f"[Lexgion(Python:f)]\n{keys}\n", LOOP).get("f", 0) == expected


def test_which_calls_a_rate_takes(trace):
    program = "def g(): pass\ndef f(n):\n    if n in (10 + 20, 10 + 40, 10 + 60): g()\nfor n in range(1, 101): f(n)\n"
    result = run(trace, NO_C + "[Lexgion(Python:f)]\ntrace_starts_at = 10\ntracing_rate = 20\nmax_num_traces = 3\n", program)
    process = result.run.processes[0]
    names = [process.lexgion(event.value).name for event in process.events()]
    assert [names[i:i + 4] for i, name in enumerate(names) if name == "f" and names[i + 1] == "g"] == [["f", "g", "g", "f"]] * 3


def test_recursion_is_counted_at_the_begin(trace):
    program = "def f(n):\n    if n: f(n - 1)\n    if n % 2: return 1\n    return 2\nf(400)\nf(400)\n"
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 5\n", program)
    assert count(result)["f"] == count(result, "function_end")["f"] == 5
    process = result.run.processes[0]
    kinds = [tools.KINDS[event.kind] for event in process.events() if process.lexgion(event.value).name == "f"]
    assert kinds == ["python:function_begin"] * 5 + ["python:function_end"] * 5


def test_windows_are_per_thread(trace):
    program = """
        import threading
        def f(): pass
        def many():
            for _ in range(30): f()
        threads = [threading.Thread(target=many) for _ in range(3)]
        for thread in threads: thread.start(); thread.join()
        many()
    """
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 8\n", program)
    assert {thread: number for (name, thread), number in count(result, threads=True).items() if name == "f"} == {
        0: 8, 1: 8, 2: 8, 3: 8}


def test_a_storm_of_threads(trace):
    program = """
        import threading
        def f(): pass
        def many():
            for _ in range(12): f()
        for _ in range(40):
            threads = [threading.Thread(target=many) for _ in range(8)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
    """
    result = run(trace, NO_C + NOTHING + "[Lexgion(Python:f)]\nmax_num_traces = 5\n", program)
    assert count(result)["f"] == count(result, "function_end")["f"] == 320 * 5
    assert set(number for (name, _), number in count(result, threads=True).items()) == {5}


def test_exceptions_generators_and_coroutines_keep_to_their_window(trace):
    program = """
        import asyncio
        def thrower(): raise ValueError
        def catcher():
            try: thrower()
            except ValueError: pass
        for _ in range(50): catcher()
        def gen(n):
            for i in range(n): yield i
        waiting = [gen(3) for _ in range(20)]
        for _ in range(3):
            for one in waiting: next(one)
        for one in waiting: list(one)
        async def co(): await asyncio.sleep(0)
        async def main(): await asyncio.gather(*(co() for _ in range(20)))
        asyncio.run(main())
    """
    result = run(trace, NO_C + "[Lexgion(Python:thrower, Python:gen, Python:co)]\nmax_num_traces = 6\n", program)
    assert count(result)["thrower"] == count(result, "function_unwind")["thrower"] == 6 and count(result)["catcher"] == 50
    assert count(result)["gen"] == count(result, "function_end")["gen"] == 6
    assert count(result, "function_yield")["gen"] == count(result, "function_resume")["gen"] == 18
    assert count(result)["co"] == count(result, "function_end")["co"] == 6 == count(result, "function_resume")["co"]


def test_children_have_windows_of_their_own(trace):
    program = """
        import os
        def f(): pass
        for _ in range(20): f()
        for _ in range(2):
            if os.fork() == 0:
                for _ in range(20): f()
                os._exit(0)
        os.wait(); os.wait()
    """
    result = run(trace, NO_C + NOTHING + "[Lexgion(Python:f)]\nmax_num_traces = 3\n", program)
    assert count(result)["f"] == 9 and len(result.run.processes) == 3


def test_many_functions(trace):
    program = "for n in range(3000): exec(f'def f{n}(): pass')\nfor _ in range(3):\n    for n in range(3000): globals()[f'f{n}']()\n"
    result = run(trace, NO_C + "[Lexgion(Python:f*)]\nmax_num_traces = 2\n", program, compare=False)
    process = result.run.processes[0]
    found = Counter(process.lexgion(event.value).name for event in process.events()
                    if tools.KINDS[event.kind] == "python:function_begin")
    assert {name: number for name, number in found.items() if name[1:].isdigit()} == {f"f{n}": 2 for n in range(3000)}


# ---- C calls ----

def test_c_calls_are_bounded_by_default_under_a_window(trace):
    program = "def f():\n    n = 3000\n    while n:\n        len('')\n        n -= 1\nf(); f()\n"
    for keys, expected in (("max_num_traces = 1", 1000), ("max_num_traces = 1\npysysmon_c_start = on", 3000),
                           ("max_num_traces = -1", 6000), ("max_num_traces = 2\nmax_c_traces = 10", 20),
                           ("max_c_traces = 7", 14), ("max_c_traces = -1\nmax_num_traces = 1", 3000)):
        result = run(trace, NOTHING + f"[Lexgion(Python:f)]\nmax_num_traces = -1\n{keys}\n", program)
        assert c_calls(result, "len") == c_calls(result, "len", "c_call_end") == expected, keys
        admitted = 1 if "max_num_traces = 1" in keys else 2
        assert result.run.processes[0].state["bounded"] >= (0 if expected in (3000, 6000) else 3000 * admitted - expected)


def test_c_calls_of_one_function_only(trace):
    program = "def f(): return len('x')\ndef g(): return len('x')\nfor _ in range(10): f(); g()\n"
    result = run(trace, NO_C + "[Lexgion(Python:f)]\npysysmon_c_start = on\npysysmon_c_return = on\n", program)
    assert c_calls(result, "len") == 10


def test_a_c_function_with_a_window_of_its_own(trace):
    program = "def f(): '-'.join('ab'); len('x')\nfor _ in range(20): f()\n"
    result = run(trace, "[Lexgion(Python:str.join)]\nmax_num_traces = 3\n", NOTHING and program)
    assert c_calls(result, "str.join") == 3 and c_calls(result, "len") >= 20


# ---- Names ----

NAMES = """
import functools, solver, pkg.solver
class Solver:
    def run(self): pass
    def step(self): pass
def compute(): pass
def get_it(): pass
def wrap(function):
    @functools.wraps(function)
    def wrapper(): return function()
    return wrapper
@wrap
def wrapped(): pass
first = lambda: 1
second = lambda: 2
for _ in range(10):
    Solver().run(); Solver().step(); compute(); get_it(); wrapped(); first(); second()
    solver.compute(); solver.Solver().run(); pkg.solver.compute()
"""
MODULES = {"solver.py": "def compute(): pass\nclass Solver:\n    def run(self): pass\n",
           "pkg/__init__.py": "", "pkg/solver.py": "def compute(): pass\n"}


@pytest.mark.parametrize("name, matched", [
    ("Python:compute", {"compute", "solver.py:compute", "pkg"}),
    ("Python:Solver.run", {"Solver.run", "solver.py:Solver.run"}),
    ("Python:solver.compute", {"solver.py:compute", "pkg"}),
    ("Python:pkg.solver.compute", {"pkg"}),
    ("Python:solver.py:compute", {"solver.py:compute", "pkg"}),
    ("Python:pkg/solver.py:compute", {"pkg"}),
    ("Python:app.py:compute", {"compute"}),
    ("Python:Solver.*", {"Solver.run", "Solver.step", "solver.py:Solver.run"}),
    ("Python:*.run", {"Solver.run", "solver.py:Solver.run"}),
    ("Python:a?p.py:*.r[tu]n", {"Solver.run"}),
    ("Python:s*.py:*", {"solver.py:compute", "solver.py:Solver.run", "pkg"}),
    (r"Python:/^(get|set)_/", {"get_it"}),
    (r"Python:/^Solver\.(run|step)$/", {"Solver.run", "Solver.step", "solver.py:Solver.run"}),
    ("Python:app.py:<lambda>@14", {"<lambda>@14"}),
    ("Python:<lambda>", {"<lambda>@14", "<lambda>@15"}),
    ("Python:wrapped", {"wrapped"}),
    ("Python:wrap.<locals>.wrapper", {"wrap.<locals>.wrapper"}),
    ('"Python:compute"', {"compute", "solver.py:compute", "pkg"}),
    ("Python:Compute", set()),
])
def test_names(trace, name, matched):
    for module, source in MODULES.items():
        trace.program(source, module)
    result = run(trace, NO_C + NOTHING + f"[Lexgion({name})]\nmax_num_traces = 4\n", NAMES)
    found = {}
    for process in result.run.processes:
        for event in process.events():
            lexgion = process.lexgion(event.value)
            if tools.KINDS[event.kind] == "python:function_begin":
                key = "pkg" if "/pkg/" in lexgion.file else lexgion.name
                key += "@%d" % lexgion.line if key == "<lambda>" else ""
                if lexgion.file.endswith("/solver.py") and key != "pkg":
                    key = "solver.py:" + key
                found[key] = found.get(key, 0) + 1
    for key in ("solver.py:<module>", "solver.py:Solver", "pkg"):  # the wildcard takes the modules' bodies, too
        if key in found and key != "pkg":
            del found[key]
    if "s*.py" in name:
        assert found.pop("pkg") == 5
        matched = matched - {"pkg"}
    assert found == dict.fromkeys(matched, 4)


@pytest.mark.parametrize("sections, expected", [
    ("[Lexgion(Python:f)]\nmax_num_traces = 1\n[Lexgion(Python:app.py:f)]\nmax_num_traces = 2\n", 2),
    ("[Lexgion(Python:app.py:f)]\nmax_num_traces = 2\n[Lexgion(Python:f)]\nmax_num_traces = 1\n", 2),
    ("[Lexgion(Python:*)]\nmax_num_traces = 3\n[Lexgion(Python:f)]\nmax_num_traces = 1\n", 1),
    ("[Lexgion(Python:f*)]\nmax_num_traces = 3\n[Lexgion(Python:/f/)]\nmax_num_traces = 4\n", 3),
    ("[Lexgion(Python).default]\nmax_num_traces = 5\n[Lexgion.default]\nmax_num_traces = 6\n", 5),
    ("[Lexgion.default]\nmax_num_traces = 6\n", 6),
    ("[Lexgion.default]\nmax_num_traces = 6\n[Lexgion(Python:f)]\ntracing_rate = 2\n", 6),
    ("[Lexgion(Python).default]\nmax_num_traces = 5\n[Lexgion(Python:f)]\ntracing_rate = 2\n", 50),
    ("[Lexgion(Python).default]\nmax_num_traces = 5\n[Lexgion(Python:f)] : Lexgion(Python).default\ntracing_rate = 2\n", 5),
    ("[Lexgion(Python:f)]\nmax_num_traces = 1\n[REMOVE Lexgion(Python:f)]\n", 100),
    ("[Lexgion(Python).default]\nmax_num_traces = 1\n[RESET Lexgion(Python).default]\n", 100),
    ("[lexgion(python).DEFAULT]\nMAX_NUM_TRACES = 7   ; a comment\n", 7),
    ("[Lexgion(User).default]\nmax_num_traces = 0\n", 100),
])
def test_which_section_applies(trace, sections, expected):
    assert calls(trace, NO_C + sections, LOOP).get("f", 0) == expected


# ---- Threads ----

THREADS = """
import threading
def f(): pass
def only_in(): f()
for _ in range(4):
    thread = threading.Thread(target=only_in)
    thread.start()
    thread.join()
f()
"""


@pytest.mark.parametrize("config, threads", [
    ("[Python.default]\nPython.thread = (0)\n", {0}), ("[Python.default]\nPython.thread = (1,3-9)\n", {1, 3, 4}),
    ("[Python.default]\nPython.thread = ()\n", set()), ("[Python.default]\nPython.thread = (0-4000000000)\n", set(range(5))),
    ("[Python.thread(0)] : Python.default\n[Python.thread(2-3)] : Python.default\n", {0, 2, 3}),
    ("[Python.thread(0-2)] : Python.default\n[Python.default]\nPython.thread = (2-4)\n", {2}),
    ("[Python.thread(0)]\n[Python.thread(1)]\n[REMOVE Python.thread(*)]\n", set(range(5))),
    ("[Lexgion(Python:f)] : Python.default : Python.thread(2)\n", {2}),
    ("[Lexgion(Python).default] : Python.default : Python.thread(1-2)\n", {1, 2}),
])
def test_sets_of_threads(trace, config, threads):
    result = run(trace, NO_C + config, THREADS)
    assert {thread for (name, thread), _ in count(result, threads=True).items() if name == "f"} == threads


def test_switches_of_a_set_of_threads(trace):
    config = NO_C + "[Python.thread(0-9)]\n[Python.thread(2)]\npysysmon_py_return = off\n"
    result = run(trace, config, THREADS, compare=False)
    assert {thread for (name, thread), _ in count(result, threads=True).items() if name == "f"} == set(range(5))
    assert {thread for (name, thread), _ in count(result, "function_end", threads=True).items() if name == "f"} == {0, 1, 3, 4}


def test_threads_are_numbered_as_they_start_recorded_or_not(trace):
    program = """
        import threading, time
        def wanted(): pass
        def slow(n):
            time.sleep(0.05 * (5 - n))
            wanted()
        threads = [threading.Thread(target=slow, args=(n,)) for n in range(5)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """
    config = NO_C + NOTHING + "[Lexgion(Python:wanted)] : Python.default : Python.thread(1-2)\n"
    result = run(trace, config, program)
    names = result.run.processes[0].threads
    assert count(result, threads=True) == {("wanted", 1): 1, ("wanted", 2): 1}
    assert {number: {name.split(" ")[0] for name in names[number]} for number in (1, 2)} == {1: {"Thread-1"}, 2: {"Thread-2"}}


# ---- Other domains, knobs ----

REGIONS = """
import lextrace
for _ in range(20):
    with lextrace.region("IO", "read"): pass
    with lextrace.region("IO", "write"): pass
"""


@pytest.mark.parametrize("config, environment, read, write", [
    ("[User.default]\ntrace_mode = OFF\n", None, 0, 0), ("[User.default]\ntrace_mode = STANDBY\n", None, 0, 0),
    ("[Lexgion(User:IO/read)]\nmax_num_traces = 3\n", None, 3, 20), ("[Lexgion(User:IO/*)]\ntracing_rate = 4\n", None, 5, 5),
    ("[Lexgion(User).default]\nmax_num_traces = 2\n", None, 2, 2), ("", {"PINSIGHT_TRACE_USER": "FALSE"}, 0, 0),
    ("[Lexgion(User:IO/read)]\nmax_num_traces = 0\n", None, 0, 20), ("[Python.default]\ntrace_mode = OFF\n", None, 20, 20),
])
def test_regions(trace, config, environment, read, write):
    environment = dict(environment or {}, PYTHONPATH=tools.package_parent())
    result = run(trace, NO_C + config, REGIONS, environment)
    found = {"IO/read": 0, "IO/write": 0}
    for process in result.run.processes:
        for event in process.events():
            if tools.KINDS[event.kind] == "user:region_begin":
                found[process.lexgion(event.value).name] += 1
    assert found == {"IO/read": read, "IO/write": write}


def test_knobs(trace):
    program = """
        import lextrace
        print(lextrace.knob("batch"), lextrace.knob("ratio"), lextrace.knob("name"), lextrace.knob("quoted"))
        print(lextrace.knob("nothing"), lextrace.knob("nothing", 5), lextrace.knob("batch", 1))
        open("trace.conf", "w").write("[Knob]\\nbatch = 9\\n")
        lextrace.reload()
        print(lextrace.knob("batch"), lextrace.knob("ratio", 0.5))
    """
    config = NO_C + '[Knob]\nbatch = 64\nratio = 0.25   # half of it\nname = fast\nquoted = "12"\n'
    result = run(trace, config, program, {"PYTHONPATH": tools.package_parent()}, cwd=trace.tmp_path)
    assert result.stdout.splitlines() == ["64 0.25 fast 12", "None 5 64", "9 0.5"]


def test_a_window_in_the_environment_and_in_the_file(trace):
    environment = {"PINSIGHT_TRACE_WINDOW": "2:5:3:60"}
    assert calls(trace, NO_C, LOOP, environment)["f"] == 5
    assert calls(trace, NO_C + "[Lexgion(Python).default]\nmax_num_traces = 7\n", LOOP, environment)["f"] == 7
    assert calls(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 1\n", LOOP, environment)["f"] == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_what_is_not_recorded_sends_no_events(trace):
    """The places of used-up and unrecorded functions are disabled: a second tool would not be, ours is."""
    program = """
        import sys
        def f(): pass
        def g(): pass
        for _ in range(50): f(); g()
        print(sys.monitoring.get_tool(4))
    """
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 3\n[Lexgion(Python:g)]\nmax_num_traces = 0\n", program)
    process = result.run.processes[0]
    seen = {process.lexgion(row.lexgion).name: row.seen for row in process.rows}
    assert seen["f"] < 10 and "g" not in seen and result.stdout == "lextrace\n"
