"""Each example of the configuration's definition, whole and split where it holds alternatives, by the events that follow."""
import lextrace_tools as tools
import pytest
from config_tools import MAIN_CALLS, WORKER_CALLS, c_calls, count, run_config, window

NO_C = "[Python.default]\n    pysysmon_c_start  = off\n    pysysmon_c_return = off\n"


def all_calls(threads=range(6), **windows):
    """{(name, thread): calls} with the same window for all functions, but for those of other names."""
    taken = {}
    for thread in threads:
        for name, calls in (MAIN_CALLS if thread == 0 else WORKER_CALLS).items():
            taken[name, thread] = window(calls, **windows)
    return {key: calls for key, calls in taken.items() if calls}


def recorded(trace, config, **more):
    """Begins by name and thread; ends are the same. The file has nothing wrong."""
    result = run_config(trace, config, **more)
    if config is not None:
        done = tools.lextrace("config", "check", trace.tmp_path / "trace.conf")
        assert done.returncode == 0 and "warning" not in done.stdout, done.stdout
    begins = count(result, threads=True)
    assert count(result, "function_end", threads=True) == begins
    for key in [key for key in begins if key[0] == "<module>" or key[0].endswith(":<module>") or key[0] in (
            "MyClass", "<listcomp>") or key[0].endswith((":MyClass", ":Solver"))]:
        del begins[key]  # the bodies of modules and classes
    return begins, result


def begins(trace, config, **more):
    return recorded(trace, config, **more)[0]


# ---- 1.1 Environment variables ----

def test_environment_off(trace):
    assert begins(trace, None, environment={"PINSIGHT_TRACE_PYTHON": "OFF"}) == {}


def test_environment_tracing(trace):
    assert begins(trace, None, environment={"PINSIGHT_TRACE_PYTHON": "TRACING"}) == all_calls()


def test_environment_monitoring(trace):
    found, result = recorded(trace, None, environment={"PINSIGHT_TRACE_PYTHON": "MONITORING"})
    assert found == {} and sum(row.calls for row in result.run.processes[0].rows) > 300


def test_environment_rate(trace):
    environment = {"PINSIGHT_TRACE_RATE": "10:100:50"}
    assert begins(trace, None, environment=environment) == all_calls(start=10, most=100, rate=50)


def test_environment_rate_with_an_action(trace):
    program = "def f(): pass\nfor _ in range(150): f()\ndef g(): pass\ng()\n"
    result = run_config(trace, None, trace.program(program), environment={"PINSIGHT_TRACE_RATE": "0:100:1:Python:MONITORING"})
    assert count(result) == {"<module>": 1, "f": 100}


# ---- 1.2 Domain-wide mode and threads ----

def test_mode_and_threads(trace):
    assert begins(trace, "[Python.default]\n    trace_mode = TRACING\n"
                         "    Python.thread = (0-3)     # only trace Python threads 0, 1, 2, 3\n") == all_calls(range(4))


@pytest.mark.parametrize("mode", ["OFF", "STANDBY"])
def test_mode_without_recording(trace, mode):
    assert begins(trace, f"# Near-zero overhead\n[Python.default]\n    trace_mode = {mode}\n") == {}


# ---- 1.3 Event selection ----

def test_event_selection(trace):
    found, result = recorded(trace, """[Python.default]
    pysysmon_py_start  = on    # Python function entry (default: on)
    pysysmon_py_return = on    # Python function exit  (default: on)
    pysysmon_c_start   = off   # C extension call begin (turn off to reduce volume)
    pysysmon_c_return  = off   # C extension call end
    pysysmon_import    = off   # module import (reserved, default: off)
""")
    assert found == all_calls() and c_calls(result, "len") == 0


def test_functions_only(trace):
    found, result = recorded(trace, NO_C)
    assert found == all_calls() and c_calls(result, "len") == 0


def test_c_calls_only(trace):
    found, result = recorded(trace, "[Python.default]\n    pysysmon_py_start  = off\n    pysysmon_py_return = off\n"
                                    "    pysysmon_c_start   = on\n    pysysmon_c_return  = on\n", compare=False)
    assert found == {}
    of_program = {0: 600, 1: 40, 2: 40, 3: 40, 4: 40, 5: 40}  # step's and Solver.run's; the library has more
    calls = c_calls(result, "len", threads=True)
    assert all(calls[thread] >= of_program[thread] for thread in of_program)
    assert calls == c_calls(result, "len", "c_call_end", threads=True)


# ---- 1.4 Threads ----

FIRST_TWO = "# Trace only the main thread (thread 0) and the first worker (thread 1)\n[Python.thread(0-1)]: Python.default\n"
ALL_BUT_MAIN = "# Trace all threads except thread 0\n[Python.thread(1-255)]: Python.default\n"
REMOVED = "# Remove thread-specific config (threads fall back to Python.default)\n[REMOVE Python.thread(0-1)]\n"


@pytest.mark.parametrize("config, threads", [
    (FIRST_TWO, range(2)), (ALL_BUT_MAIN, range(1, 6)), (FIRST_TWO + REMOVED, range(6)),
    (FIRST_TWO + ALL_BUT_MAIN + REMOVED, range(1, 6)),  # as one file
])
def test_threads(trace, config, threads):
    assert begins(trace, config) == all_calls(threads)


# ---- 1.5 Default rates ----

ONE_IN_TEN = """# Trace at most 200 calls per function, at 1-in-10 rate
[Lexgion(Python).default]
    trace_starts_at = 0
    max_num_traces  = 200
    tracing_rate    = 10
    pysysmon_py_start  = on
    pysysmon_py_return = on
    pysysmon_c_start   = off
    pysysmon_c_return  = off
"""
WARM_UP = """# Warm-up skip: ignore first 50 calls per function, then trace 100 at rate 1
[Lexgion(Python).default]
    trace_starts_at = 50
    max_num_traces  = 100
    tracing_rate    = 1
"""


@pytest.mark.parametrize("config, windows", [
    (ONE_IN_TEN, dict(most=200, rate=10)), (WARM_UP, dict(start=50, most=100)), (ONE_IN_TEN + WARM_UP, dict(start=50, most=100)),
])
def test_default_rates(trace, config, windows):
    found, result = recorded(trace, config)
    assert found == all_calls(**windows)
    assert (c_calls(result, "len") == 0) == (config != WARM_UP)


# ---- 1.6 Mode switch after tracing ----

SWITCH = "def f(): pass\ndef g(): pass\nfor _ in range(250): f()\nfor _ in range(250): g()\n"


@pytest.mark.parametrize("most, action", [(100, "MONITORING"), (200, "Python:MONITORING, OpenMP:TRACING")])
def test_mode_switch(trace, most, action):
    config = f"[Lexgion(Python).default]\n    max_num_traces  = {most}\n    tracing_rate    = 1\n    trace_mode_after = {action}\n"
    result = run_config(trace, config, trace.program(SWITCH))
    process = result.run.processes[0]
    assert count(result) == {"<module>": 1, "f": most}
    assert process.state["modes"]["Python"] == "MONITORING"
    assert process.state["modes"]["OpenMP"] == ("MONITORING" if action == "MONITORING" else "TRACING")
    counted = {process.lexgion(row.lexgion).name: row.calls for row in process.rows if row.calls}
    assert counted["g"] == 250 and counted["f"] == 250 - most


# ---- 1.7 INTROSPECT ----

def test_introspect(trace):
    script = trace.tmp_path / "analyze_python_traces.sh"
    script.write_text("#!/bin/sh\necho \"$1\" >> seen\nkill -USR1 $2\n")
    script.chmod(0o755)
    config = """[Lexgion(Python:f)] : Python.default
    max_num_traces   = 50
    tracing_rate     = 1
    trace_mode_after = INTROSPECT:60:analyze_python_traces.sh:TRACING
"""
    result = run_config(trace, config, trace.program("def f(): pass\nfor _ in range(170): f()\n"), cwd=trace.tmp_path)
    assert count(result) == {"<module>": 1, "f": 170}  # a new cycle begins after each pause
    chunks = (trace.tmp_path / "seen").read_text().split()
    assert len(chunks) == 3
    calls = [sum(tools.KINDS[event.kind] == "python:function_begin" and process.lexgion(event.value).name == "f"
                 for event in process.events()) for process in map(tools.Process, chunks)]
    assert calls == [50, 100, 150]


# ---- 1.8 Reload ----

def test_reload(trace):
    program = trace.program("""
        import os, signal
        def f(): pass
        for _ in range(100): f()
        with open("trace.conf", "w") as file:
            file.write("[Python.default]\\n    trace_mode = STANDBY\\n\\n[Lexgion(Python).default]\\n"
                       "    max_num_traces = 500\\n    tracing_rate   = 20\\n")
        os.kill(os.getpid(), signal.SIGUSR1)
        for _ in range(100): f()
    """)
    result = run_config(trace, NO_C, program, cwd=trace.tmp_path)
    assert count(result) == {"<module>": 1, "f": 100}


# ---- 1.9 Several domains ----

def test_several_domains(trace):
    config = """[Python.default]
    trace_mode    = TRACING
    Python.thread = (0)         # main thread only

[OpenMP.default]
    trace_mode       = TRACING
    OpenMP.thread    = (0-15)

[Python.default]
    pysysmon_py_start  = on
    pysysmon_py_return = on
    pysysmon_c_start   = off    # skip C bridges to reduce volume
    pysysmon_c_return  = off

[Lexgion(Python).default]: Python.default
    trace_starts_at = 0
    max_num_traces  = 100
    tracing_rate    = 5
    trace_mode_after = Python:MONITORING

[Lexgion(OpenMP).default]: OpenMP.default
    max_num_traces  = 200
    tracing_rate    = 1
"""
    result = run_config(trace, config, trace.program("def f(): pass\ndef g(): pass\nfor _ in range(400): g()\n"
                                                     "for _ in range(600): f()\nfor _ in range(600): g()\n"))
    # <module> is a call of a function, too: the fifth of those would be the first recorded one.
    assert count(result) == {"g": 80, "f": 100}


# ---- 2 Named lexgions ----

def named(trace, sections, **more):
    """Begins by name of the named functions: all others have no window."""
    return {name: calls for (name, _), calls in begins(trace, NO_C + sections, **more).items()}


@pytest.mark.parametrize("section, name, calls", [
    ("[Lexgion(Python:main)]\n    max_num_traces = 200\n    tracing_rate   = 1\n", "main", 1),
    ("[Lexgion(Python:main.<locals>.do_work)]\n    max_num_traces = 100\n    tracing_rate   = 5\n", "main.<locals>.do_work", 60),
    ("[Lexgion(Python:solver.compute, Python:solver.setup)]\n    max_num_traces = 200\n    tracing_rate   = 1\n",
     "solver.py:compute", 200),
    ("[Lexgion(Python:solver.compute, Python:solver.setup)]\n    max_num_traces = 200\n    tracing_rate   = 1\n",
     "solver.py:setup", 200),
])
def test_named(trace, section, name, calls):
    expected = {key: number for key, number in MAIN_CALLS.items() if key not in (name, "step")}
    if "solver.setup" in section:
        expected.update({"solver.py:compute": 200, "solver.py:setup": 200})
    found = named(trace, section)
    assert found.pop("step") and found.pop("worker") == 1
    assert found == {**expected, name: calls}


def test_a_method_in_any_file_and_in_one(trace):
    found = named(trace, "[Lexgion(Python:MyClass.compute)]\n    max_num_traces = 50\n    tracing_rate   = 1\n")
    assert (found["MyClass.compute"], found["solver.py:MyClass.compute"]) == (50, 50)
    found = named(trace, "[Lexgion(Python:solver.py:MyClass.compute)]\n    max_num_traces = 50\n")
    assert (found["MyClass.compute"], found["solver.py:MyClass.compute"]) == (300, 50)


def test_section_2_1_whole(trace):
    found = named(trace, """# Single function by qualified name
[Lexgion(Python:main)]
    max_num_traces = 200
    tracing_rate   = 1

# Nested function / method
[Lexgion(Python:MyClass.compute)]
    max_num_traces = 50
    tracing_rate   = 1

# Inner function (closure)
[Lexgion(Python:main.<locals>.do_work)]
    max_num_traces = 100
    tracing_rate   = 5

# Multiple functions sharing the same settings
[Lexgion(Python:solver.compute, Python:solver.setup)]
    max_num_traces = 200
    tracing_rate   = 1

# Disambiguate by filename stem (when same qualname appears in multiple files)
[Lexgion(Python:solver.py:MyClass.compute)]
    max_num_traces = 50
""")
    assert found["main"] == 1 and found["MyClass.compute"] == 50 and found["main.<locals>.do_work"] == 60
    assert found["solver.py:compute"] == found["solver.py:setup"] == 200 and found["solver.py:MyClass.compute"] == 50
    assert found["solver.py:Solver.setup"] == found["solver_a.py:compute"] == 300


def test_inheritance_and_rates(trace):
    found = named(trace, """# Rate limit the hot solver function
[Lexgion(Python:solver.compute)]: Python.default
    trace_starts_at  = 0
    max_num_traces   = 50
    tracing_rate     = 1
    trace_mode_after = Python:MONITORING

# Stop tracing a noisy utility function entirely
[Lexgion(Python:utils.log_debug)]: Python.default
    max_num_traces = 0
""")
    assert found["solver.py:compute"] == 50 and "utils.py:log_debug" not in found
    assert found["solver.py:setup"] == 49 and found["main_work"] == 50  # the 50th call ends everything


def test_full_example(trace):
    found, result = recorded(trace, """# ── Domain event defaults ────────────────────────────────────────────────
[Python.default]
    pysysmon_py_start  = on
    pysysmon_py_return = on
    pysysmon_c_start   = off   # disable C bridge by default
    pysysmon_c_return  = off

# ── Lexgion defaults ─────────────────────────────────────────────────────
[Lexgion(Python).default]: Python.default
    trace_starts_at = 0
    max_num_traces  = 50
    tracing_rate    = 1
    trace_mode_after = Python:MONITORING

# ── Named function overrides ─────────────────────────────────────────────

# Hot solver — full C bridge tracing, high rate limit
[Lexgion(Python:Solver.run)]: Python.default
    pysysmon_c_start  = on
    pysysmon_c_return = on
    max_num_traces    = 200
    tracing_rate      = 1

# Initialization — trace only once
[Lexgion(Python:Solver.setup)]: Python.default
    max_num_traces = 1

# Suppress a noisy helper
[Lexgion(Python:utils.log_debug)]: Python.default
    max_num_traces = 0

# Two functions with same settings, disambiguated by filename
[Lexgion(Python:solver_a.py:compute, Python:solver_b.py:compute)]: Python.default
    max_num_traces = 100
    tracing_rate   = 5
""", program=trace.program("import solver\n"
                           "def plain(): pass\n"
                           "for _ in range(300): solver.run()\n"
                           "import solver_a, solver_b, utils\n"
                           "for _ in range(50):\n"
                           "    solver_a.compute(); solver_b.compute(); utils.log_debug(); solver.setup()\n"
                           "for _ in range(80): plain()\n", modules_of_full_example(trace)))
    found = {name: calls for (name, _), calls in found.items()}
    assert found["solver.py:Solver.run"] == 200 and c_calls(result, "len") == 200
    assert found["solver.py:Solver.setup"] == 1 and "utils.py:log_debug" not in found
    assert found["solver_a.py:compute"] == found["solver_b.py:compute"] == 10 and found["plain"] == 50


def modules_of_full_example(trace):
    trace.program("class Solver:\n    def run(self): return len('x')\n    def setup(self): return 1\n"
                  "run, setup = Solver().run, Solver().setup\n", "solver.py")
    for name in ("solver_a.py", "solver_b.py"):
        trace.program("def compute(): return 1\n", name)
    trace.program("def log_debug(): return 1\n", "utils.py")
    return "app.py"


# ---- 3 Threads of named lexgions ----

NOTHING_ELSE = "# Suppress all Python tracing by default, then selectively enable:\n[Lexgion(Python).default]\n    max_num_traces = 0\n"
WORKERS = """
import threading
def worker():
    for _ in range(20): inner()
def inner(): pass
def main_work(): pass
def repeat():
    for _ in range(20): worker()
threads = [threading.Thread(target=repeat) for _ in range(5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
for _ in range(20): main_work(); worker()
"""
FIRST = """
# Trace "worker" function only on threads 1 and 2 (max 8 traces each)
[Lexgion(Python:worker)] : Python.default : Python.thread(1-2)
    max_num_traces = 8

# Trace "main_work" function only on the main thread (thread 0)
[Lexgion(Python:main_work)] : Python.default : Python.thread(0)
    max_num_traces = 5
"""
SECOND = """
# Trace worker on threads 3 and 4 only
[Lexgion(Python).default]
    max_num_traces = 0

[Lexgion(Python:worker)] : Python.default : Python.thread(3-4)
    max_num_traces = 6
"""
THIRD = """
# All 4 worker threads traced, max 5 per thread
[Lexgion(Python).default]
    max_num_traces = 0

[Lexgion(Python:worker)] : Python.default : Python.thread(1-4)
    max_num_traces = 5
"""


@pytest.mark.parametrize("config, expected", [
    (NOTHING_ELSE + FIRST, {("worker", 1): 8, ("worker", 2): 8, ("main_work", 0): 5}),
    (SECOND, {("worker", 3): 6, ("worker", 4): 6}),
    (THIRD, {("worker", thread): 5 for thread in range(1, 5)}),
    (NOTHING_ELSE + FIRST + SECOND + THIRD,
     {**{("worker", thread): 5 for thread in range(1, 5)}, ("main_work", 0): 5}),
])
def test_threads_of_named_lexgions(trace, config, expected):
    assert count(run_config(trace, config, trace.program(WORKERS)), threads=True) == expected


def test_combined(trace):
    script = trace.tmp_path / "analyze.sh"
    script.write_text("echo $1 >> seen\n")
    config = """[Lexgion(Python).default]
    max_num_traces = 0      # suppress all functions by default

# Worker traced only on threads 1-2, max 7 each, auto-drop after
[Lexgion(Python:worker)] : Python.default : Python.thread(1-2)
    max_num_traces   = 7
    trace_mode_after = Python:MONITORING

# Main thread work, limit 5 traces, then INTROSPECT
[Lexgion(Python:main_work)] : Python.default : Python.thread(0)
    max_num_traces   = 5
    trace_mode_after = INTROSPECT:1:analyze.sh:TRACING
"""
    only_main = WORKERS.replace("range(5)]", "range(0)]")
    result = run_config(trace, config, trace.program(only_main), cwd=trace.tmp_path, compare=False)
    assert count(result, threads=True) == {("main_work", 0): 20}  # each cycle of 5
    assert len((trace.tmp_path / "seen").read_text().split()) == 4
    one_worker = WORKERS.replace("range(5)]", "range(1)]").replace("main_work(); worker()", "pass")
    result = run_config(trace, config, trace.program(one_worker), cwd=trace.tmp_path)
    assert count(result, threads=True) == {("worker", 1): 7}
    assert result.run.processes[0].state["modes"]["Python"] == "MONITORING"
