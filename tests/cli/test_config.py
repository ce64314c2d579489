"""lextrace config: what check says of wrong files, what explain decides, what init writes."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEXTRACE = os.environ.get("LEXTRACE_BIN") or str(ROOT / ".venv/bin/lextrace")

SOLVER = """\
[Python.default]
    trace_mode    = TRACING
    Python.thread = (0-3)

[Lexgion(Python:Solver.*)]
    trace_starts_at = 10
    max_num_traces  = 1000
[Lexgion(Python:solver.py:Solver.run)]
    trace_starts_at = 10
    max_num_traces  = 100
    tracing_rate    = 50
    trace_mode_after = Python:MONITORING
[Lexgion(Python:only)] : Python.default : Python.thread(0-1)
    pysysmon_c_start = off
[Lexgion(Python:never)]
    max_num_traces = 0
[Lexgion(User:IO/read)]
    window_timeout = 2.5
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("PINSIGHT_", "LEXTRACE_")) and name != "LEXTRACE_BIN":
            monkeypatch.delenv(name)
    return tmp_path


def lx(*words, **more):
    return subprocess.run([LEXTRACE, *map(str, words)], capture_output=True, text=True, timeout=60, **more)


def check(text, name="trace.conf"):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return lx("config", "check", name)


def messages(done):
    return [line for line in done.stdout.splitlines() if re.match(r"trace\.conf:\d+:\d+: ", line)]


def test_a_right_file(here):
    done = check(SOLVER)
    assert (done.returncode, done.stdout, done.stderr) == (0, "trace.conf: 6 sections, no errors\n", "")


@pytest.mark.parametrize("text, message", [
    ("[Python.default]\n    max_num_trace = 100", "2:5: error: unknown key 'max_num_trace'"),
    ("[Lexgion(Python:f)]\n    max_num_trace = 100",
     "2:5: error: unknown key 'max_num_trace' (did you mean 'max_num_traces'?)"),
    ("[Python.default]\nmax_num_traces = 1", "2:1: error: 'max_num_traces' belongs in a Lexgion section"),
    ("[Lexgion(Python:f)]\ntrace_mode = OFF", "2:1: error: 'trace_mode' belongs in a section like [Python.default]"),
    ("[Pithon.default]\ntrace_mode = OFF", "1:2: error: unknown domain 'Pithon' (did you mean 'Python'?)"),
    ("[Lexgions.default]", "1:2: error: unknown domain 'Lexgions' (did you mean 'Lexgion'?)"),
    ("[Lexgion(Pyton:f)]", "1:10: error: unknown domain 'Pyton' (did you mean 'Python'?)"),
    ("[Something]", "1:2: error: unknown section 'Something'"),
    ("[Python.default]\ntrace_mode = BANANA", "2:14: error: unknown mode 'BANANA' (OFF STANDBY MONITORING TRACING)"),
    ("[Python.default]\ntrace_mode = STANBY", "2:14: error: unknown mode 'STANBY' (did you mean 'STANDBY'?)"),
    ("[Python.default]\npysysmon_py_strat = on",
     "2:1: error: unknown key 'pysysmon_py_strat' (did you mean 'pysysmon_py_start'?)"),
    ("[Python.default]\npysysmon_py_start = maybe", "2:21: error: 'maybe' is neither on nor off"),
    ("[Python.default]\nOpenMP.omp_work = on", "2:1: error: 'OpenMP.omp_work' is of another domain than the section"),
    ("[Lexgion(Python:f)\nmax_num_traces = 1", "1:1: error: the section's ']' is missing"),
    ("[Lexgion(Python:f]\nmax_num_traces = 1", "1:1: error: the section's ']' is missing"),
    ("[]", "1:1: error: the section has no name"),
    ("max_num_traces = 1", "1:1: error: this key stands in no section"),
    ("[Lexgion.default]\nmax_num_traces", "2:1: error: neither a section '[…]' nor 'key = value'"),
    ("[Lexgion.default]\nmax_num_traces =", "2:1: error: 'max_num_traces' has no value"),
    ("[Lexgion.default]\nmax_num_traces = -5", "2:18: error: -5 is out of range (-1 to 4294967295)"),
    ("[Lexgion.default]\nmax_num_traces = abc", "2:18: error: 'abc' is no whole decimal number"),
    ("[Lexgion.default]\nmax_num_traces = 4294967297", "2:18: error: 4294967297 is out of range (-1 to 4294967295)"),
    ("[Lexgion.default]\nmax_num_traces = 12345678901234567890",
     "2:18: error: 12345678901234567890 is out of range (-1 to 4294967295)"),
    ("[Lexgion.default]\nmax_num_traces = 0x10", "2:18: error: '0x10' is no whole decimal number"),
    ("[Lexgion.default]\ntracing_rate = 0", "2:16: error: 0 is out of range (1 to 4294967295)"),
    ("[Lexgion.default]\ntrace_starts_at = -1", "2:19: error: -1 is out of range (0 to 4294967295)"),
    ("[Lexgion.default]\nwindow_timeout = soon", "2:18: error: 'soon' is no number of seconds above 0"),
    ("[Lexgion.default]\nwindow_end_trigger = last", "2:22: error: 'last' is neither first nor all"),
    ("[Lexgion.default]\ntrace_mode_after = INTROSPECT:5", "2:20: error: an introspection is written "
                                                            "INTROSPECT:seconds:script:MODE"),
    ("[Lexgion.default]\ntrace_mode_after = INTROSPECT:-2:x.sh:OFF", "2:31: error: -2 is out of range (-1 to 4294967295)"),
    ("[Python.thread(5-2)]", "1:16: error: (5-2) runs backwards"),
    ("[Python.thread(0-99999999999)]", "1:18: error: 99999999999 is out of range (0 to 4294967295)"),
    ("[Python.default]\nPython.thread = (1,,2)", "2:20: error: a number is missing in the set"),
    ("[Python.default]\nPython.thread = 0-3", "2:17: error: a set is written (0-3), (0) or (0,2,5-7)"),
    ("[Python.team(0)]", "1:9: error: Python has no 'team' (thread)"),
    ("[Lexgion(Python:/(/)]", "1:10: error: wrong expression: Unmatched ( or "),
    ("[Lexgion(Python:/" + "(" * 20 + "a" + ")+" * 20 + "/)]", "1:10: error: an expression with too many repetitions"),
    ("[Lexgion(Python:/" + "(" * 100_000 + ")" * 100_000 + "/)]", "1:10: error: an expression of more than 1000 bytes"),
    ("[Lexgion(Python:/((a{999}){999}){999}/)]", "1:10: error: an expression with too many repetitions"),
    ("[Lexgion(compute)]", "1:10: error: a name begins with its domain: Python:compute"),
    ("[REMOVE Python.default]", "1:9: error: a default section is not removed but reset: [RESET Python.default]"),
    ("[RESET Python.thread(1)]", "1:8: error: only default sections are reset; this one is removed: "
                                 "[REMOVE Python.thread(1)]"),
    (b"[Python.default]\ntrace_mode = O\0FF\n", "2:15: error: a NUL byte: the line is left out"),
    (b"[Python.default]\ntrace_mode = \xff\n", "2:14: error: not UTF-8: the line is left out"),
])
def test_what_is_wrong_is_said_once(here, text, message):
    done = check(text)
    assert done.returncode == 1 and not done.stderr
    assert messages(done)[0].startswith("trace.conf:" + message)
    assert len(messages(done)) == 1


@pytest.mark.parametrize("text", [
    b"", b"\n\n", b"\xef\xbb\xbf[Python.default]\r\ntrace_mode = OFF\r\n", b"# " + b"x" * 1_000_000,
    "[Lexgion(Python:größe, \"Python:weird, name\")]\nmax_num_traces = 1 ; why\n".encode(),
    b"[Python.default]\ntrace_mode = OFF   # x\npysysmon_py_start = on\t; y\n",
])
def test_nothing_to_say(here, text):
    done = check(text)
    assert done.returncode == 0 and not messages(done), done.stdout


def test_one_bad_header_costs_one_section(here):
    done = check("[Lexgion(Python:a)\nmax_num_traces = 1\n[Lexgion(Python:b)]\nmax_num_traces = 2\n")
    assert len(messages(done)) == 1
    assert json.loads(lx("config", "explain", "trace.conf", "Python:a", "--json").stdout)["window"]["max_num_traces"] == -1
    assert json.loads(lx("config", "explain", "trace.conf", "Python:b", "--json").stdout)["window"]["max_num_traces"] == 2


def test_the_line_and_a_caret(here):
    done = check("[Lexgion(Python:f)]\n\tmax_num_trace = 100\n")
    assert done.stdout.splitlines()[1:3] == ["     max_num_trace = 100", "     ^~~~~~~~~~~~~"]
    done = check("[Lexgion(Python:f)]\nmax_num_traces = " + "9" * 1_000_000)
    assert done.returncode == 1 and len(done.stdout) < 2000
    colours = lx("config", "check", "--color", "always", "trace.conf").stdout
    assert "\x1b[" in colours


def test_check_as_json(here):
    check("[Pithon.default]\n[Lexgion(Python:f)]\nmax_num_trace = 1\n")
    done = lx("config", "check", "--json", "trace.conf")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["errors"] == 2 and found["file"] == "trace.conf"
    assert [(one["line"], one["column"], one["severity"]) for one in found["messages"]] == [(1, 2, "error"), (3, 1, "error")]


def test_files_that_cannot_be_read(here):
    assert lx("config", "check", "nosuch").stderr == \
        "lextrace: nosuch: no such file; a commented one is written by: lextrace config init\n"
    assert lx("config", "check", ".").stderr == "lextrace: . is a folder, no configuration file\n"
    assert lx("config", "check").returncode == 2
    assert lx("config", "chek", "x").stderr == "lextrace: config: chek? Did you mean check?\n"


# ---- explain ----

def explain(name, *more):
    done = lx("config", "explain", "trace.conf", name, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_explain(here):
    check(SOLVER)
    text = explain("Python:solver.py:Solver.run", "--thread", 2)
    assert text.startswith("Python:solver.py:Solver.run on thread 2 is recorded: 1 call in 50 after the first 10, at most 100\n"
                           "that is the 60th, 110th, 160th … 5,010th call; then Python goes to MONITORING\n\n")
    assert re.search(r"^max_num_traces +100 +trace.conf:10 +\[Lexgion\(Python:solver.py:Solver.run\)\]   "
                     r"beats trace.conf:7 \(1000\)$", text, re.M)
    assert re.search(r"^Python.thread +2 is in it +trace.conf:3 +\[Python.default\]$", text, re.M)
    assert re.search(r"^pysysmon_c_start +on +built in$", text, re.M)
    assert "\nfits, but does not apply\n  trace.conf:5      [Lexgion(Python:Solver.*)]    wildcard or expression" in text
    assert explain("Python:f").startswith("Python:f on thread 0 is recorded: every call\n\n")


@pytest.mark.parametrize("name, more, sentence", [
    ("Python:never", (), "is never recorded: max_num_traces is 0 (trace.conf:16)"),
    ("Python:only", ("--thread", "2"), "is not recorded: thread 2 is not in Python.thread(0-1) (trace.conf:13)"),
    ("Python:f", ("--thread", "7"), "is not recorded: thread 7 is in no set of Python (trace.conf:3)"),
    ("User:IO/read", (), "is recorded: every call, for 2.5 s"),
])
def test_explain_in_a_sentence(here, name, more, sentence):
    check(SOLVER)
    assert sentence + "\n" in explain(name, *more)


def test_explain_knows_the_environment(here, monkeypatch):
    check(SOLVER)
    monkeypatch.setenv("PINSIGHT_TRACE_PYTHON", "MONITOR")
    assert "is counted, not recorded: Python is MONITORING (PINSIGHT_TRACE_PYTHON)" in explain("Python:f")
    monkeypatch.delenv("PINSIGHT_TRACE_PYTHON")
    monkeypatch.setenv("PINSIGHT_TRACE_RATE", "10:100:50")
    assert "1 call in 50 after the first 10, at most 100\n" in explain("Python:f")
    monkeypatch.setenv("PINSIGHT_TRACE_RATE", "10:abc:50")
    assert "PINSIGHT_TRACE_RATE: error: 'abc' is no whole decimal number" in lx("config", "check", "trace.conf").stdout


def test_explain_as_json(here):
    check(SOLVER)
    found = json.loads(explain("Python:only", "--thread", "1", "--json"))
    assert found["section"] == {"title": "[Lexgion(Python:only)]", "line": 13} and found["in_set"] is True
    assert found["switches"] == {"pysysmon_py_start": True, "pysysmon_py_return": True, "pysysmon_c_start": False,
                                 "pysysmon_c_return": True, "pysysmon_import": False}
    assert found["window"]["max_c_traces"] == -1 and found["mode"] == "TRACING"


def test_explain_what_is_no_place(here):
    check(SOLVER)
    for words in (["trace.conf", "Nothing:f"], ["trace.conf", "other.conf"], ["trace.conf", "Python:f", "--thread", "x"]):
        done = lx("config", "explain", *words)
        assert done.returncode == 2 and done.stderr.startswith("lextrace: config explain: ")


PROGRAM = """
def leaf(): return 1
def noisy():
    for _ in range(1000): leaf()
(lambda: noisy())()
"""


@pytest.fixture
def run(here):
    (here / "app.py").write_text(PROGRAM)

    def run(*words):
        done = lx("run", *words, sys.executable, "app.py")
        assert done.returncode == 0, done.stderr
        return done.stderr
    return run


def test_explain_a_run(run):
    check("[Lexgion(Python:leaf)]\nmax_num_traces = 7\n[Lexgion(Python:Solvr.*)]\nmax_num_traces = 1\n")
    run("-q", "-c", "trace.conf", "-o", "a")
    assert re.search(r"\nin a: recorded 7 of [\d,]+ calls seen; the window ended at [\d.]+ \w+\n$",
                     explain("Python:leaf", "--run", "a"))
    assert explain("Python:leave", "--run", "a").endswith("\nin a: never met\n")
    assert lx("config", "explain", "--run", "a", "trace.conf").stdout.splitlines() == [
        "trace.conf:1      [Lexgion(Python:leaf)]    1 place", "trace.conf:3      [Lexgion(Python:Solvr.*)]    0 places"]
    assert "at most 7" in lx("config", "explain", "Python:leaf", "--run", "a").stdout  # the run's own configuration


# ---- init ----

def events(folder):
    return json.loads(lx("report", "--json", folder).stdout)["events"]


def test_init(run):
    run("-q", "-o", "a")
    done = lx("config", "init", "a", "-o", "next.conf")
    assert done.returncode == 0, done.stderr
    before, after = (int(one.replace(",", "")) for one in re.search(r"([\d,]+) events -> about ([\d,]+)", done.stdout).groups())
    assert before == events("a")
    assert lx("config", "check", "next.conf").returncode == 0
    assert "[Lexgion(Python:app.py:leaf)] : Python.default\n    max_num_traces = 100" in Path("next.conf").read_text()
    run("-q", "-c", "next.conf", "-o", "b")
    assert abs(events("b") - after) <= 20 + before // 50, (events("b"), after)
    again = lx("config", "init", "a", "-o", "next.conf")
    assert again.returncode == 1 and again.stderr == "lextrace: next.conf exists; --force replaces it\n"
    assert lx("config", "init", "a", "-o", "next.conf", "--force").returncode == 0
    assert lx("config", "init", "a", "-o", "/dev/full", "--force").returncode == 1
    assert lx("config", "init", "nosuch", "-o", "x").returncode == 1 and not Path("x").exists()


# ---- run ----

def test_run_says_what_is_wrong_and_goes_on(run):
    Path("trace.conf").write_text("[Lexgion(Python:leaf)]\nmax_num_trace = 7\nmax_num_traces = 7\n")
    said = run("-c", "trace.conf", "-o", "a")
    assert ":2:1: error: unknown key 'max_num_trace' (did you mean 'max_num_traces'?)\n" in said
    assert said.count("error:") == 1
    calls = {one["name"]: one["calls"] for one in json.loads(lx("report", "--json", "a").stdout)["functions"]}
    assert calls["leaf"] == 7


def test_run_with_a_variable_that_names_nothing(run, monkeypatch):
    monkeypatch.setenv("PINSIGHT_TRACE_CONFIG_FILE", "gone.conf")
    said = run("-o", "a")
    assert said.startswith("lextrace: gone.conf: no such file (PINSIGHT_TRACE_CONFIG_FILE): the defaults hold\n")
    assert said.count("gone.conf") == 1


def test_the_file_in_the_folder_counts_for_children_too(here):
    (here / "pinsight_trace_config.txt").write_text("[Lexgion(Python).default]\nmax_num_traces = 0\n"
                                                    "[Lexgion(Python:leaf)]\nmax_num_traces = 3\n")
    (here / "sub").mkdir()
    (here / "sub/child.py").write_text("def leaf(): pass\nfor _ in range(9): leaf()\n")
    (here / "app.py").write_text("import subprocess, sys\n"
                                 "subprocess.run([sys.executable, 'child.py'], cwd='sub', check=True)\n")
    done = lx("run", "-o", "a", sys.executable, "app.py")
    assert done.returncode == 0, done.stderr
    found = json.loads(lx("report", "--json", "a").stdout)
    assert {one["name"]: one["calls"] for one in found["functions"]} == {"leaf": 3}


def test_a_configuration_that_records_nothing(run):
    Path("trace.conf").write_text("[Lexgion(Python).default]\nmax_num_traces = 0\n")
    assert re.fullmatch(r"lextrace: 0 events of 1 process in [\d.]+ \w+: no rule of trace.conf records anything here; "
                        r"try: lextrace config explain trace.conf\n", run("-c", "trace.conf", "-o", "a"))
