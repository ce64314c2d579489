"""Golden tests of the commands that read a run.

A case is NAME.sh beside this file: bash with `lextrace`, `mktrace` and `sample` at hand, in an empty folder. What it
prints and its status must be those of NAME.stdout, NAME.stderr and NAME.status (no file: nothing, and 0).
UPDATE_GOLDEN=1 writes these files; look at the difference before you keep it.
"""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
LEXTRACE = Path(os.environ.get("LEXTRACE_BIN") or HERE.parents[1] / ".venv/bin/lextrace")
CASES = sorted(HERE.glob("*.sh"))
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


@pytest.fixture
def place(tmp_path):
    """A folder with the tools on PATH; gives a function that runs words in it."""
    tools = tmp_path / "bin"
    work = tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    (tools / "lextrace").symlink_to(LEXTRACE.resolve())
    for name, script in ("sample", HERE / "sample.py"), ("mktrace", HERE.parent / "tools" / "mktrace.py"):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@" >/dev/null\n')
        tool.chmod(0o755)
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path), "TZ": "UTC", "LC_ALL": "C.UTF-8",
                   "TERM": "xterm"}

    def run(*words, **more):
        env = dict(environment, **more.pop("env", {}))
        return subprocess.run(words, cwd=work, env=env, capture_output=True, timeout=60, **more)

    run.folder, run.environment = work, environment
    return run


def golden(path, actual):
    if UPDATE:
        path.write_bytes(actual) if actual else path.unlink(missing_ok=True)
    expected = path.read_bytes() if path.exists() else b""
    assert actual.decode("utf-8", "replace") == expected.decode("utf-8", "replace"), path.name
    assert actual == expected


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_golden(case, place):
    done = place("bash", str(case))
    golden(case.with_suffix(".stdout"), done.stdout)
    golden(case.with_suffix(".stderr"), done.stderr)
    golden(case.with_suffix(".status"), b"%d\n" % done.returncode if done.returncode else b"")


def on_terminal(place, *words, columns=100, **env):
    """What the words print on a terminal of that width, and their status."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(place.folder)
        os.execvpe(words[0], words, dict(place.environment, COLUMNS=str(columns), **env))
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the terminal's other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(master)
    return text.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def width(line):
    return len(ESCAPE.sub("", line))


def test_terminal_has_colour_and_next_commands(place):
    place("sample", "lextrace-app-1")
    text, status = on_terminal(place, "lextrace", "report", "--no-pager")
    assert status == 0 and ESCAPE.search(text)
    assert "next: lextrace report --tree    lextrace report --callers Solver.step" in text
    piped = place("lextrace", "report", "--no-pager").stdout.decode()
    assert not ESCAPE.search(piped) and "next:" not in piped


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_terminal_without_colour(place, env):
    place("sample", "lextrace-app-1")
    text, status = on_terminal(place, "lextrace", "report", "--no-pager", **env)
    assert status == 0 and "\x1b" not in text and "Solver.step" in text


def test_color_option(place):
    place("sample", "lextrace-app-1")
    assert b"\x1b[" in place("lextrace", "report", "--color", "always").stdout
    assert "\x1b[" not in on_terminal(place, "lextrace", "report", "--no-pager", "--color=never")[0]


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 132])
@pytest.mark.parametrize("words", [["report"], ["report", "--tree", "--min=0"], ["report", "--threads"]])
def test_rows_fit_the_terminal(place, columns, words):
    place("sample", "lextrace-app-1")
    text, status = on_terminal(place, "lextrace", *words, "--no-pager", columns=columns)
    rows = [line for line in text.split("next:")[0].split("\n\n", 1)[1].splitlines() if line]
    figures = 40 if words == ["report"] else 70  # those of the others are never cut, whatever the width
    assert status == 0 and rows and all(width(line) <= max(columns, figures) for line in rows), text


def test_paths_go_first(place):
    place("sample", "lextrace-app-1")
    text, _ = on_terminal(place, "lextrace", "report", "--no-pager", "--full-paths", columns=110)
    assert "…" in text and "solver.py:30" in text and "/home/user/app/solver.py:30" not in text
    assert "JSONDecoder.decode" in text


def test_pager(place):
    """A terminal gets the pager, which gets the colours."""
    place("sample", "lextrace-app-1")
    pager = place.folder / "pager"
    pager.write_text("#!/bin/sh\nsed 's/^/paged: /'\n")
    pager.chmod(0o755)
    text, status = on_terminal(place, "lextrace", "report", PAGER=str(pager))
    assert status == 0 and "paged: " in text and "\x1b[" in text
    assert "paged" not in on_terminal(place, "lextrace", "report", "--no-pager", PAGER=str(pager))[0]
    assert "paged" not in on_terminal(place, "lextrace", "report", PAGER=str(pager), TERM="dumb")[0]


def test_pager_that_quits_early(place):
    place("mktrace", "lextrace-app-1", "--calls", "40000")
    text, status = on_terminal(place, "lextrace", "view", PAGER="head -n 3")
    assert text.count("function_begin") + text.count("function_end") == 3 and status == 0


@pytest.mark.parametrize("words", [["view"], ["report", "--json", "--tree"], ["report", "--top=0"]])
def test_closed_pipe_is_no_error(place, words):
    place("mktrace", "lextrace-app-1", "--calls", "20000", "--functions", "4000")
    done = place("bash", "-c", 'set -o pipefail; lextrace "$@" | head -n 1; echo ${PIPESTATUS[0]}', "x", *words)
    lines = done.stdout.decode().splitlines()
    assert len(lines) == 2 and done.stderr == b""
    assert int(lines[1]) in (0, 128 + signal.SIGPIPE)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk_is_said(place):
    place("sample", "lextrace-app-1")
    for words in ["report"], ["report", "--json"], ["view"], ["info"]:
        done = place("bash", "-c", 'lextrace "$@" >/dev/full', "x", *words)
        assert done.returncode == 1 and done.stderr == b"lextrace: cannot write the answer: No space left on device\n"


def test_interrupt(place):
    place("sample", "lextrace-app-1")
    child = subprocess.Popen(["lextrace", "view"], cwd=place.folder, env=place.environment, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, preexec_fn=lambda: fcntl.fcntl(1, 1031, 4096))
    place_filled = child.stdout.read(1)  # it writes now, and then waits for a reader
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert place_filled and child.returncode == -signal.SIGINT and err == b""


def answers():
    yield ["report"]
    yield ["report", "--own"]
    yield ["report", "--tree"]
    yield ["report", "--tree", "--invert"]
    yield ["report", "--callers", "fib"]
    yield ["report", "--callees", "Solver.*"]
    yield ["report", "--threads"]
    yield ["report", "--processes"]
    yield ["info", "--packets"]


@pytest.mark.parametrize("words", list(answers()), ids=" ".join)
@pytest.mark.parametrize("kind", ["whole", "family", "empty", "torn", "hostile"])
def test_json_is_json(place, words, kind):
    if kind == "hostile":
        place("mktrace", "lextrace-app-1", "--hostile", "--unknown", "--discard=0.01", "--greenlets=2", "--kill")
        words = [word if word not in ("fib", "Solver.*") else "*" for word in words]
    else:
        place("sample", "lextrace-app-1", kind)
    done = place("lextrace", *words, "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["complete"] == (kind in ("whole", "empty"))


def documented_keys():
    text = (HERE.parents[1] / "docs" / "json.md").read_text(encoding="utf-8")
    return set(re.findall(r"`([A-Za-z0-9_]+)`", text))


def keys_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if ":" not in key:  # names of events
                yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def test_json_keys_are_documented(place):
    place("sample", "lextrace-app-1", "family")
    documented = documented_keys()
    for words in answers():
        used = set(keys_of(json.loads(place("lextrace", *words, "--json").stdout)))
        assert used <= documented, sorted(used - documented)
    for line in place("lextrace", "view", "--json").stdout.splitlines():
        assert set(json.loads(line)) <= documented


def test_shares_add_up(place):
    """Self times of the table, of the tree and of its inversion are the time of the threads."""
    place("mktrace", "lextrace-app-1", "--calls=3000", "--threads=2", "--processes=2", "--generators=0.2", "--c-calls=0.2",
          "--exceptions", "--greenlets=2")
    table = json.loads(place("lextrace", "report", "--json").stdout)
    tree = json.loads(place("lextrace", "report", "--tree", "--json").stdout)
    inverted = json.loads(place("lextrace", "report", "--tree", "--invert", "--json").stdout)
    threads = json.loads(place("lextrace", "report", "--threads", "--json").stdout)
    whole = table["time_ns"]
    near = pytest.approx(whole, rel=1e-6)
    assert sum(f["self_ns"] for f in table["functions"]) == whole
    assert sum(n["self_ns"] for n in tree["nodes"]) == near and tree["time_ns"] == near
    assert sum(n["total_ns"] for n in tree["nodes"] if n["parent"] is None) == near
    assert sum(n["self_ns"] for n in inverted["nodes"]) == near
    assert sum(t["time_ns"] for t in threads["by_thread"]) == near
    assert sum(f["calls"] for f in table["functions"]) == table["calls"] == sum(n["calls"] for n in tree["nodes"])


def test_table_is_what_the_events_say(place):
    """Calls and self times by an independent count from the events of `view`."""
    place("mktrace", "lextrace-app-1", "--calls=2000", "--threads=2", "--c-calls=0.2", "--exceptions", "--functions=20")
    calls, total = {}, {}
    stacks = {}
    for line in place("lextrace", "view", "--json").stdout.splitlines():
        event = json.loads(line)
        stack = stacks.setdefault(event["thread"], [])
        key = (event["qualname"], event.get("lineno", 0))
        if event["name"].endswith("_begin"):
            calls[key] = calls.get(key, 0) + 1
            stack.append((key, event["time_ns"]))
        else:
            top, begin = stack.pop()
            assert top == key
            if key not in [open_key for open_key, _ in stack]:
                total[key] = total.get(key, 0) + event["time_ns"] - begin
    table = json.loads(place("lextrace", "report", "--json").stdout)
    assert {(f["name"], f["line"]): f["calls"] for f in table["functions"]} == calls
    for f in table["functions"]:
        assert f["total_ns"] == pytest.approx(total[f["name"], f["line"]], abs=1 + f["calls"])


def test_view_escapes_everything(place):
    """Whatever names hold, a line stays a line, and is what its JSON says."""
    place("mktrace", "lextrace-app-1", "--hostile", "--calls=300")
    text = place("lextrace", "view").stdout.decode("utf-8")
    events = [json.loads(line) for line in place("lextrace", "view", "--json").stdout.splitlines()]
    lines = text.split("\n")[:-1]
    assert len(lines) == len(events)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    for line, event in zip(lines, events):
        found = re.search(r'(?:qualname|callee|name) = ("(?:[^"\\]|\\.)*")', line)
        assert json.loads(found[1]) == event["qualname"]


def test_view_order_and_limits(place):
    place("mktrace", "lextrace-app-1", "--threads=3", "--processes=2")
    events = [json.loads(line) for line in place("lextrace", "view", "--json").stdout.splitlines()]
    times = [event["time_ns"] for event in events]
    assert times == sorted(times)
    start = times[0]
    some = place("lextrace", "view", "--json", "--from", "0.0001", "--to", "0.0004").stdout.splitlines()
    expected = [event for event in events if 100_000 <= event["time_ns"] - start <= 400_000]
    assert [json.loads(line) for line in some] == expected and expected
    assert len(place("lextrace", "view", "--limit", "7").stdout.splitlines()) == 7
    clock = place("lextrace", "view", "--json", "--gmt", "--from", "14:13:20.0001", "--to", "14:13:20.0004")
    assert [json.loads(line)["time_ns"] for line in clock.stdout.splitlines()] == [
        time for time in times if 100_000 <= time - start // 10**9 * 10**9 <= 400_000]


def test_newest_run_is_taken(place):
    place("sample", "lextrace-app-1")
    place("sample", "lextrace-app-2")
    os.utime(place.folder / "lextrace-app-1", (10**9, 10**9))
    assert place("lextrace", "report").stdout.startswith(b"lextrace-app-2: app.py")
    shutil.rmtree(place.folder / "lextrace-app-2")
    assert place("lextrace", "report").stdout.startswith(b"lextrace-app-1: app.py")
    (place.folder / "lextrace-app-3").mkdir()  # nothing was traced there
    done = place("lextrace", "report")
    assert done.stdout.startswith(b"lextrace-app-1: app.py")
    assert done.stderr == b"lextrace: lextrace-app-3 holds no trace: this is lextrace-app-1\n"
    done = place("lextrace", "repair", "lextrace-app-3")
    assert done.returncode == 1 and b"no Python process was traced" in done.stderr


def test_process_that_recorded_nothing(place):
    """It died before its first event: it has no time, which would be 1970."""
    place("sample", "lextrace-app-1")
    before = json.loads(place("lextrace", "report", "--json").stdout)
    info = json.loads(place("lextrace", "info", "--json").stdout)
    blank = place.folder / "lextrace-app-1" / "aa-9" / "lextrace"
    blank.mkdir(parents=True)
    (blank / "state").touch()
    after = json.loads(place("lextrace", "report", "--json").stdout)
    assert not after.pop("complete") and before.pop("complete") and after == before
    assert json.loads(place("lextrace", "info", "--json").stdout)["first_ns"] == info["first_ns"]
    text = place("lextrace", "report").stdout.decode()
    assert text.startswith("lextrace-app-1: app.py") and "\n1 process began and recorded nothing\n" in text
    assert "ends        1 process began and recorded nothing\n" in place("lextrace", "info").stdout.decode()
    assert len(place("lextrace", "report", "--processes").stdout.splitlines()) == 6
    shutil.rmtree(place.folder / "lextrace-app-1" / json.loads(
        place("lextrace", "report", "--processes", "--json").stdout)["by_process"][0]["folder"])
    assert place("lextrace", "report").stdout == b"lextrace-app-1: 0 events: the program began and recorded nothing\n"


def test_edges_are_what_the_table_says(place):
    """Also of functions that call themselves through others."""
    place("mktrace", "lextrace-app-1", "--calls=3000", "--functions=5", "--threads=2", "--generators=0.2")
    functions = json.loads(place("lextrace", "report", "--json").stdout)["functions"]
    for function in functions:
        words = f"{function['file']}:{function['name']}"
        edges = json.loads(place("lextrace", "report", "--callees", words, "--json").stdout)
        if len(edges["functions"]) > 1:
            continue
        assert edges["function_calls"] == function["calls"]
        assert edges["self_ns"] == pytest.approx(function["self_ns"], abs=2)
        assert edges["total_ns"] == pytest.approx(function["total_ns"], abs=2)
    everything = json.loads(place("lextrace", "report", "--callers", "*", "--json").stdout)
    assert everything["self_ns"] == everything["total_ns"] == sum(f["self_ns"] for f in functions)


def test_small_times_have_digits(place):
    """Beside a long function, too."""
    place("sample", "lextrace-app-1")
    for words in ["--top=0"], ["--top=1"], ["--match=len"], ["--top=0", "--sort=calls"]:
        rows = place("lextrace", "report", *words, "--columns=self,total,name").stdout.decode().split("\n\n")[1]
        assert not re.search(r"^ *0\.000|(?<!\d)0\.000 +[^ ]+$", rows, re.M), rows


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_info_fits_the_terminal(place, columns):
    place("sample", "lextrace-app-1", "family")
    text, status = on_terminal(place, "lextrace", "info", "--no-pager", columns=columns)
    assert status == 0 and all(width(line) <= columns for line in text.split("\n\n")[0].splitlines()), text


@pytest.mark.parametrize("words", [["report", "--top=2"], ["report", "--threads", "--top=1"]])
def test_hint_goes_before_words_are_cut(place, words):
    place("sample", "lextrace-app-1")
    wide, _ = on_terminal(place, "lextrace", *words, "--no-pager", "--color=never", columns=132)
    narrow, _ = on_terminal(place, "lextrace", *words, "--no-pager", "--color=never", columns=80)
    assert re.search(r"\d more.* \(--top 0 shows all\)\n", wide)
    assert re.search(r"\d more( functions)?( \(--top 0 shows all\))?\n", narrow), narrow


def test_thread_without_a_name(place):
    script = """import sys; sys.path.insert(0, sys.argv[1]); import sample, mktrace
program = sample.Program("lextrace-app-1", 5000000); sample.define(program)
sample.solve(sample.Thread(program, 0, ""), 1); program.process.end()"""
    assert place(sys.executable, "-c", script, str(HERE)).returncode == 0
    last = place("lextrace", "report", "--threads").stdout.decode().splitlines()[-1]
    assert last.split()[-2:] == ["-", "app.py"]


def test_repair_that_fails_says_no_whole(place):
    place("sample", "lextrace-app-1", "family")
    folder = next((place.folder / "lextrace-app-1").glob("*5000001*"))
    (folder / "stream-0").unlink(missing_ok=True)
    (folder / "stream-0").mkdir()  # nothing can be appended to it
    done = place("lextrace", "repair", "--json")
    failed = [process["failed"] for process in json.loads(done.stdout)["processes"]]
    assert done.returncode == 1 and failed[-1] and not any(failed[:-1])
    done = place("lextrace", "repair")
    assert done.returncode == 1 and done.stderr
    assert f"{folder.name}: not whole yet\n" in done.stdout.decode()
