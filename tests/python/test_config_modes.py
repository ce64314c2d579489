"""Modes of the Python domain, how they change, and what a trace holds across the changes."""
import signal
import sys

import lextrace_tools as tools
import pytest
from config_tools import count, run_config

NO_C = "[Python.default]\npysysmon_c_start = off\npysysmon_c_return = off\n"
LOOP = "def f(): pass\nfor _ in range(100): f()\n"


@pytest.fixture
def env():
    return {"PYTHONPATH": tools.package_parent()}


def run(trace, config, program, environment=None, **more):
    return run_config(trace, config, trace.program(program), environment, **more)


def in_balance(result, open_at_end=0):
    """Each end has its begin on the stack of its thread; a mode event closes all, in all threads."""
    left = 0
    for process in result.run.processes:
        changes = sorted(event.ticks for event in process.events() if tools.KINDS[event.kind] == "lextrace:mode")
        for packets in process.by_thread().values():
            stack, later = [], list(changes)
            for event in (event for packet in packets for event in tools.packet_events(packet)):
                role = tools.ROLES[event.kind]
                while later and event.ticks >= later[0]:
                    later.pop(0)
                    stack = []
                if role in ("BEGIN", "RESUME"):
                    stack.append(event.value)
                elif role in ("END", "SUSPEND", "UNWIND"):
                    assert stack and stack.pop() == event.value, tools.KINDS[event.kind]
            left += 0 if later else len(stack)
    assert left <= open_at_end
    return result


def mode_events(result):
    return [(tools.DOMAINS[event.value & 0xFFFF][2], tools.MODES[event.value >> 16])
            for process in result.run.processes for event in process.events() if tools.KINDS[event.kind] == "lextrace:mode"]


def counted(result):
    """{(name, thread): row} of what MONITORING counted."""
    process = result.run.processes[0]
    return {(process.lexgion(row.lexgion).name, row.thread): row for row in process.rows if row.calls}


# ---- At the start ----

@pytest.mark.parametrize("word, mode", [
    ("OFF", "OFF"), ("off", "OFF"), ("FALSE", "OFF"), ("0", "OFF"), ("STANDBY", "STANDBY"), ("MONITORING", "MONITORING"),
    ("Monitor", "MONITORING"), ("TRACING", "TRACING"), ("true", "TRACING"), ("1", "TRACING"), ("on", "TRACING"),
])
def test_words_of_modes(trace, word, mode):
    for config, environment in ((NO_C + f"trace_mode = {word}\n", None), (None, {"PINSIGHT_TRACE_PYTHON": word})):
        result = run(trace, config, LOOP, environment)
        assert result.run.processes[0].state["modes"]["Python"] == mode
        assert count(result).get("f", 0) == (100 if mode == "TRACING" else 0)
        assert ("f", 0) in counted(result) if mode == "MONITORING" else not counted(result)
        assert mode_events(result) == []


def test_the_environment_beats_the_file_at_the_start(trace):
    result = run(trace, NO_C + "trace_mode = OFF\n", LOOP, {"PINSIGHT_TRACE_PYTHON": "TRACING"})
    assert count(result)["f"] == 100


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_off_frees_the_tool_id(trace, env):
    program = """
        import lextrace, sys
        def f(): pass
        print([sys.monitoring.get_tool(n) for n in range(6)])
        lextrace.mode("Python", "TRACING")
        print(sys.monitoring.get_tool(4))
        f()
        lextrace.mode("Python", "OFF")
        print([sys.monitoring.get_tool(n) for n in range(6)])
        f()
        lextrace.mode("Python", "TRACING")
        f()
    """
    result = run(trace, NO_C + "trace_mode = OFF\n", program, env)
    assert result.stdout.splitlines() == [str([None] * 6), "lextrace", str([None] * 6)]
    assert count(result)["f"] == 2 and mode_events(result) == [("Python", "OFF")]


# ---- Changes ----

def test_modes_by_the_api(trace, env):
    program = """
        import lextrace
        def f(): pass
        assert lextrace.mode("Python") == lextrace.mode()["python".title()] == "TRACING"
        f()
        assert lextrace.mode("Python", "STANDBY")["Python"] == "STANDBY"
        f()
        assert set(lextrace.mode("MONITORING").values()) == {"MONITORING"}
        f(); f()
        lextrace.mode("Python=TRACING, User=OFF")
        f(); f(); f()
        for wrong in ("Python=BANANA", "Pithon=OFF", "BANANA"):
            try: lextrace.mode(wrong)
            except ValueError as error: print(error)
    """
    result = in_balance(run(trace, NO_C, program, env))
    assert count(result)["f"] == 4 and counted(result)["f", 0].calls == 2
    assert result.stdout.splitlines() == ["unknown mode 'BANANA' (OFF STANDBY MONITORING TRACING)",
                                          "unknown domain 'Pithon' (did you mean 'Python'?)",
                                          "unknown mode 'BANANA' (OFF STANDBY MONITORING TRACING)"]
    assert mode_events(result) == [("Python", "STANDBY"), ("User", "OFF")]


NESTED = """
    import lextrace, threading
    modes = ["STANDBY", "TRACING", "MONITORING", "TRACING", "OFF", "TRACING"]
    def leaf(): pass
    def nest(n):
        leaf()
        if n % 3 == 0: lextrace.mode("Python", modes[n // 3 % len(modes)])
        leaf()
        if n: nest(n - 1)
        if n % 5 == 0: lextrace.mode("Python", modes[n // 5 % len(modes)])
        leaf()
        if n % 7 == 0: raise ValueError(n)
    def guarded(n):
        try: nest(n)
        except ValueError: pass
    def gen(n):
        for i in range(n):
            lextrace.mode("Python", modes[i % len(modes)])
            leaf()
            yield i
    def work():
        for n in (5, 40, 13): guarded(n)
        list(gen(20))
    work()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    lextrace.mode("Python", "TRACING")
    for _ in range(10): leaf()
"""


def test_changes_at_any_depth_and_in_all_threads(trace, env):
    in_balance(run(trace, NO_C, NESTED, env))


def test_what_is_open_at_the_change_is_closed_there(trace, env):
    program = """
        import lextrace
        def inner():
            lextrace.mode("Python", "STANDBY")
            lextrace.mode("Python", "TRACING")
        def outer():
            inner()
            after()
        def after(): pass
        outer()
    """
    result = in_balance(run(trace, NO_C, program, env))
    assert count(result) == {"<module>": 1, "outer": 1, "inner": 1, "after": 1}
    assert count(result, "function_end") == {"after": 1}


def test_monitoring_writes_the_ends_of_what_was_begun(trace, env):
    program = """
        import lextrace
        def rec(n):
            if n == 5: lextrace.mode("Python", "MONITORING")
            if n: rec(n - 1)
            if n == 2: lextrace.mode("Python", "TRACING")
        rec(9)
        rec(0)
    """
    result = in_balance(run(trace, NO_C, program, env))
    assert count(result)["rec"] == count(result, "function_end")["rec"] == 6
    assert counted(result)["rec", 0].calls == 5


# ---- MONITORING ----

COUNTED = """
    import threading, time
    def leaf(): pass
    def slow(): time.sleep(0.05)
    def rec(n):
        if n: rec(n - 1)
    def thrower(): raise ValueError
    def gen():
        yield 1
        yield 2
    def many(n):
        for _ in range(n): leaf()
        slow()
        rec(10)
        list(gen())
        try: thrower()
        except ValueError: pass
    many(100)
    thread = threading.Thread(target=many, args=(7,))
    thread.start()
    thread.join()
"""


def check_counted(result):
    found = counted(result)
    frequency = result.run.processes[0].state["clock_frequency"]
    for thread, leaves in ((0, 100), (1, 7)):
        calls = {name: found[name, thread].calls for name in ("leaf", "slow", "rec", "thrower", "gen", "many")}
        assert calls == {"leaf": leaves, "slow": 1, "rec": 11, "thrower": 1, "gen": 1, "many": 1}
        slow, many, rec = (found[name, thread] for name in ("slow", "many", "rec"))
        assert 0.05 * frequency <= slow.inclusive <= many.inclusive and many.exclusive < many.inclusive
        assert rec.inclusive == rec.exclusive  # all of it is its own, counted once
        whole = sum(row.exclusive for (name, number), row in found.items() if number == thread and name in calls)
        assert many.exclusive < whole <= many.inclusive
    assert count(result) == {}


def test_monitoring_counts(trace):
    result = run(trace, NO_C + "trace_mode = MONITORING\n", COUNTED)
    check_counted(result)
    report = tools.lextrace("report", "--json", result.folder)
    assert '"name": "leaf"' in report.stdout


def test_monitoring_survives_a_kill(trace):
    program = trace.program("import os, signal, threading\n" + COUNTED.replace("\n    ", "\n") + "os.kill(os.getpid(), signal.SIGKILL)\n")
    path = trace.tmp_path / "trace.conf"
    path.write_text(NO_C + "trace_mode = MONITORING\n")
    result = trace(program, options=["-c", str(path)])
    assert result.returncode == -signal.SIGKILL
    check_counted(result)
    assert "leaf" in tools.lextrace("report", "--top", "0", result.folder).stdout


def test_monitoring_counts_on_but_fires_nothing(trace):
    program = "def f(): pass\nfor _ in range(50): f()\nimport lextrace\nlextrace.mode('Python', 'TRACING')\nfor _ in range(50): f()\n"
    config = NO_C + "trace_mode = MONITORING\n[Lexgion(Python:f)]\ntrace_starts_at = 60\nmax_num_traces = 15\n" \
                    "trace_mode_after = OFF\n"
    result = run(trace, config, program, {"PYTHONPATH": tools.package_parent()})
    assert count(result)["f"] == 15 and counted(result)["f", 0].calls == 50
    assert result.run.processes[0].state["modes"]["Python"] == "OFF"


# ---- The end of a window ----

@pytest.mark.parametrize("action, modes", [
    ("MONITORING", {"Python": "MONITORING", "User": "MONITORING", "MPI": "MONITORING"}),
    ("Python:STANDBY, User:OFF", {"Python": "STANDBY", "User": "OFF", "MPI": "TRACING"}),
    ("none", {"Python": "TRACING", "User": "TRACING"}), ("OFF", {"Python": "OFF", "CUDA": "OFF"}),
])
def test_actions(trace, action, modes):
    program = "def f(): pass\ndef g(): pass\nfor _ in range(20): f()\nfor _ in range(20): g()\n"
    result = in_balance(run(trace, NO_C + f"[Lexgion(Python:f)]\nmax_num_traces = 5\ntrace_mode_after = {action}\n", program), 1)
    state = result.run.processes[0].state["modes"]
    assert {domain: state[domain] for domain in modes} == modes
    assert count(result)["f"] == 5 and count(result).get("g", 0) == (20 if action == "none" else 0)


def test_the_action_follows_the_end_of_the_last_call(trace):
    program = "def f():\n    g()\n    g()\ndef g(): pass\nfor _ in range(3): f()\n"
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 2\ntrace_mode_after = STANDBY\n", program)
    assert count(result)["f"] == count(result, "function_end")["f"] == 2 and count(result)["g"] == 4


@pytest.mark.parametrize("trigger, f", [("first", 16), ("all", 20)])
def test_triggers(trace, trigger, f):
    program = "def f(): pass\ndef g(): pass\nfor n in range(30):\n    if n < 20 or n > 25: g()\n    if n > 2: f()\n"
    config = NO_C + f"[Lexgion(Python:f)]\nmax_num_traces = 0\n[Lexgion(Python:f, Python:g)]\nmax_num_traces = 20\n" \
                    f"window_end_trigger = {trigger}\ntrace_mode_after = STANDBY\n"
    result = run(trace, config, program)
    assert (count(result)["g"], count(result)["f"]) == (20, f)


def test_cycles(trace):
    program = "def f(): pass\nfor _ in range(100): f()\n"
    config = NO_C + "[Lexgion(Python:f)]\ntrace_starts_at = 2\nmax_num_traces = 3\ntracing_rate = 2\ntrace_mode_after = TRACING\n"
    result = in_balance(run(trace, config, program))
    assert count(result)["f"] == 37  # of each 8 calls the 4th, 6th and 8th
    result = run(trace, config.replace("= TRACING", "= Python:TRACING"), program)
    assert count(result)["f"] == 37


def test_other_targets_fire_once(trace, env):
    program = "import lextrace\ndef f(): pass\nfor _ in range(5): f()\nprint(lextrace.mode('Python'))\n" \
              "lextrace.mode('Python', 'TRACING')\nfor _ in range(5): f()\nprint(lextrace.mode('Python'))\n"
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 3\ntrace_mode_after = STANDBY\n", program, env)
    assert result.stdout.split() == ["STANDBY", "TRACING"] and count(result)["f"] == 3


def test_a_cap_of_nothing_fires_nothing(trace):
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 0\ntrace_mode_after = OFF\n", LOOP)
    assert result.run.processes[0].state["modes"]["Python"] == "TRACING"


def test_a_window_ends_by_the_clock(trace):
    program = "import time\ndef f(): pass\ndef g(): pass\nf(); f()\ntime.sleep(0.3)\nfor _ in range(10): f()\ng()\n"
    config = NO_C + "[Lexgion(Python:f)]\nwindow_timeout = 0.2\ntrace_mode_after = Python:STANDBY\n"
    result = run(trace, config, program)
    assert count(result)["f"] == 2 and "g" not in count(result)
    assert result.run.processes[0].state["modes"]["Python"] == "STANDBY"


def test_an_action_on_another_thread(trace):
    program = """
        import threading
        def f(): pass
        def many():
            for _ in range(10): f()
        thread = threading.Thread(target=many)
        thread.start()
        thread.join()
        many()
    """
    config = NO_C + "[Lexgion(Python:f)] : Python.default : Python.thread(1)\nmax_num_traces = 4\ntrace_mode_after = STANDBY\n"
    result = in_balance(run(trace, config, program), 10)
    assert count(result, threads=True)["f", 1] == 4 and ("f", 0) not in count(result, threads=True)
    assert mode_events(result)[0] == ("Python", "STANDBY")
