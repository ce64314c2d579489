"""Generated configurations, read by lextrace and by a second evaluator (tests/python/evaluator.py)."""
import json
import os
import subprocess
import sys
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
LEXTRACE = os.environ.get("LEXTRACE_BIN") or str(ROOT / ".venv/bin/lextrace")
sys.path.insert(0, str(ROOT / "tests/python"))

from evaluator import Evaluator  # noqa: E402

SUBJECTS = [("compute", "/a/solver.py", 3), ("Solver.run", "/a/solver.py", 7), ("Solver.run", "/b/pkg/other.py", 9),
            ("<lambda>", "/a/solver.py", 12), ("main.<locals>.work", "app.py", 1), ("compute", "/a/pkg/__init__.py", 2)]
ENV = {key: value for key, value in os.environ.items() if not key.startswith("PINSIGHT_")}

names = st.sampled_from(["compute", "Solver.run", "solver.compute", "solver.py:compute", "solver.py:Solver.run", "Solver.*", "*.run",
                         "s?lver.py:*", "pkg.compute", "pkg/other.py:Solver.run", "<lambda>", "solver.py:<lambda>@12",
                         "compute@3", "main.<locals>.work", "[Cc]ompute", "nothing"])
sets = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=3).map(
    lambda pairs: "(" + ",".join("%d-%d" % (first, first + more) if more else str(first) for first, more in pairs) + ")")
switch = st.tuples(st.sampled_from(["pysysmon_py_start", "pysysmon_py_return", "pysysmon_c_start", "Python.pysysmon_c_return",
                                    "pysysmon_import"]), st.sampled_from(["on", "off", "1", "0", "TRUE", "no"]))
window = st.one_of(
    st.tuples(st.just("trace_starts_at"), st.sampled_from(["0", "10", "4294967295"])),
    st.tuples(st.just("max_num_traces"), st.sampled_from(["-1", "0", "1", "200"])),
    st.tuples(st.just("TRACING_RATE"), st.sampled_from(["1", "50"])),
    st.tuples(st.just("max_c_traces"), st.sampled_from(["-1", "0", "9"])),
    st.tuples(st.just("window_timeout"), st.sampled_from(["0.5", "3"])),
    st.tuples(st.just("window_end_trigger"), st.sampled_from(["first", "All"])),
    st.tuples(st.sampled_from(["trace_mode_after", "window_end_action"]),
              st.sampled_from(["none", "MONITORING", "Python:OFF, User:STANDBY", "INTROSPECT:5:look.sh:TRACING"])))
mode = st.tuples(st.just("trace_mode"), st.sampled_from(["OFF", "STANDBY", "MONITORING", "TRACING"]))
thread_key = st.tuples(st.just("Python.thread"), sets)
comment = st.sampled_from(["", "", "   # x = 1", "\t; y"])


def section(header, *keys):
    lines = st.lists(st.tuples(st.one_of(*keys), comment), max_size=4) if keys else st.just([])
    return st.tuples(header, lines).map(lambda both: "\n".join(
        [both[0], *("    %s = %s%s" % (*pair, after) for pair, after in both[1])]))


tails = st.one_of(st.just(""), st.just(": Python.default"), st.just(" : Lexgion(Python).default"),
                  sets.map(lambda text: ": Python.default : Python.thread" + text))
files = st.lists(st.one_of(
    section(st.sampled_from(["[Python.default]", "[SET python.DEFAULT]", "[RESET Python.default]"]), mode, thread_key, switch),
    section(st.sampled_from(["[Lexgion.default]", "[RESET Lexgion.default]"]), window, switch),
    section(st.sampled_from(["[Lexgion(Python).default]", "[Lexgion(Python).default]: Python.default"]), window, switch),
    section(sets.map(lambda text: "[Python.thread%s] : Python.default" % text), switch),
    section(st.tuples(st.lists(names, min_size=1, max_size=3), tails).map(
        lambda both: "[Lexgion(%s)]%s" % (", ".join("Python:" + name for name in both[0]), both[1])), window, switch),
    names.map(lambda name: "[REMOVE Lexgion(Python:%s)]" % name),
    sets.map(lambda text: "[REMOVE Python.thread%s]" % text), st.just("[REMOVE Python.thread(*)]"),
), max_size=9).map("\n".join)


def explain(path, subject, thread):
    qualname, file, line = subject
    done = subprocess.run([LEXTRACE, "config", "explain", "--json", path, "Python:%s:%s@%d" % (file, qualname, line), "--thread",
                           str(thread)], capture_output=True, text=True, timeout=60, env=ENV)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {key: found[key] for key in ("mode", "in_set", "window", "switches")}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=files, thread=st.integers(0, 6))
def test_two_readings_agree(tmp_path, text, thread):
    path = tmp_path / "trace.conf"
    path.write_text(text)
    second = Evaluator(text)
    for subject in SUBJECTS:
        assert explain(str(path), subject, thread) == second.decide(subject, thread), (subject, text)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=files, spoil=st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=3)), max_size=4))
def test_spoilt_files_are_read_or_reported(tmp_path, text, spoil):
    data = bytearray(text.encode())
    for at, piece in spoil:
        data[at % (len(data) + 1):at % (len(data) + 1) + 1] = piece
    path = tmp_path / "spoilt.conf"
    path.write_bytes(bytes(data))
    done = subprocess.run([LEXTRACE, "config", "check", "--json", str(path)], capture_output=True, timeout=60, env=ENV)
    found = json.loads(done.stdout)
    assert done.returncode == (1 if found["errors"] else 0) and not done.stderr
    lines = [one["line"] for one in found["messages"]]
    assert lines == sorted(lines) and len(set(lines)) == len(lines) - sum(lines.count(line) - 1 for line in set(lines))
    assert all(1 <= line <= data.count(b"\n") + 1 for line in lines)
