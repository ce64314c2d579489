"""What the exported files hold, on runs made to the event: random ones, and small ones with known figures."""
import io
import marshal
import pstats

import exported
import jsonschema
import mktrace
import pytest

PID = 5_000_000

SHAPES = {
    "plain": ["--calls", "300", "--threads", "2"],
    "everything": ["--processes", "3", "--threads", "3", "--calls", "400", "--generators", "0.3", "--c-calls", "0.2",
                   "--regions", "0.2", "--exceptions", "--greenlets", "3", "--gaps", "0.01"],
    "killed": ["--calls", "200", "--threads", "2", "--generators", "0.2", "--kill"],
    "torn": ["--calls", "5000", "--packet", "16384", "--kill", "--torn", "--behind", "3"],
    "losses": ["--calls", "500", "--threads", "2", "--discard", "0.02", "--exceptions"],
    "hostile": ["--calls", "300", "--processes", "2", "--hostile", "--unknown", "--regions", "0.2"],
    "shared streams": ["--calls", "5", "--threads", "40", "--streams", "3"],
}


@pytest.fixture(scope="module", params=SHAPES)
def run(request, tmp_path_factory):
    """A random run of each shape."""
    path = tmp_path_factory.mktemp("runs") / "run"
    mktrace.main([str(path), *SHAPES[request.param]])
    return path


def wanted(run, whole=False):
    return exported.reference(run, whole)


@pytest.mark.parametrize("name", exported.READERS)
def test_slices(run, tmp_path, name):
    path = tmp_path / "out"
    exported.export(run, path, "--to", name)
    exported.compare(exported.READERS[name](path), wanted(run, name == "speedscope"))


def test_pfw(run, tmp_path):
    path = tmp_path / "out.pfw"
    exported.export(run, path)
    reference = wanted(run)
    found = exported.read_pfw(path)
    assert set(found) == set(reference)
    for key, spans in found.items():
        slices = reference[key]
        assert sorted((name, ended or "") for name, _, _, ended in spans) == \
            sorted((one.name, one.ended or "") for one in slices)
        # Lines come in the order of the ends, callees before callers; us are rounded down, so that callees stay inside.
        begins = {}
        for one in slices:
            begins.setdefault(one.name, []).append(int((mktrace.START_REAL + int(one.begin)) // 1000))
        for name, begin, end, _ in spans:
            assert any(abs(begin - other) <= 1 for other in begins[name])
            assert end >= begin
        ends = [end for _, _, end, _ in spans]
        assert ends == sorted(ends)
        open_spans = []
        for _, begin, end, _ in reversed(spans):  # callers before callees
            while open_spans and open_spans[-1][0] >= end and open_spans[-1] != (begin, end):
                open_spans.pop()
            if open_spans:
                assert open_spans[-1][0] <= begin and end <= open_spans[-1][1]
            open_spans.append((begin, end))


def test_folded_and_pstats_sum_up(run, tmp_path):
    exported.export(run, tmp_path / "out.folded")
    exported.export(run, tmp_path / "out.pstats")
    reference = wanted(run, whole=True)
    total = sum(exported.exclusive(slices) for slices in reference.values())
    folded = exported.read_folded(tmp_path / "out.folded")
    assert sum(folded.values()) == pytest.approx(total, abs=len(folded) + 1)
    per_process = {}
    for frames, ns in folded.items():
        pid = int(frames[0].rsplit(" ", 1)[1])
        per_process[pid] = per_process.get(pid, 0) + ns
    for pid, ns in per_process.items():
        mine = sum(exported.exclusive(slices) for key, slices in reference.items() if key[0] == pid)
        assert ns == pytest.approx(mine, abs=len(folded) + 1)
    stats = pstats.Stats(str(tmp_path / "out.pstats"), stream=io.StringIO())
    assert stats.total_tt * 1e9 == pytest.approx(total, rel=1e-6)
    for primitive, calls, own, whole, callers in stats.stats.values():
        assert 0 <= primitive <= calls and 0 <= own <= whole + 1e-12
        assert sum(entry[0] for entry in callers.values()) <= calls
    stats.print_stats()
    stats.print_callers()
    stats.print_callees()


SPEEDSCOPE_SCHEMA = {
    "type": "object",
    "required": ["$schema", "shared", "profiles"],
    "properties": {
        "$schema": {"const": "https://www.speedscope.app/file-format-schema.json"},
        "exporter": {"type": "string"},
        "name": {"type": "string"},
        "activeProfileIndex": {"type": "number"},
        "shared": {
            "type": "object",
            "required": ["frames"],
            "properties": {"frames": {"type": "array", "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "file": {"type": "string"}, "line": {"type": "number"},
                               "col": {"type": "number"}},
                "additionalProperties": False,
            }}},
        },
        "profiles": {"type": "array", "items": {
            "type": "object",
            "required": ["type", "name", "unit", "startValue", "endValue", "events"],
            "properties": {
                "type": {"const": "evented"},
                "name": {"type": "string"},
                "unit": {"enum": ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"]},
                "startValue": {"type": "number"},
                "endValue": {"type": "number"},
                "events": {"type": "array", "items": {
                    "type": "object",
                    "required": ["type", "frame", "at"],
                    "properties": {"type": {"enum": ["O", "C"]}, "frame": {"type": "integer", "minimum": 0},
                                   "at": {"type": "number"}},
                    "additionalProperties": False,
                }},
            },
            "additionalProperties": False,
        }},
    },
    "additionalProperties": False,
}


def test_speedscope_schema(run, tmp_path):
    exported.export(run, tmp_path / "out.speedscope.json")
    jsonschema.validate(exported.strict_json(exported.content(tmp_path / "out.speedscope.json")), SPEEDSCOPE_SCHEMA)


# ---- Known figures ----

class Made:
    """A run of one process, written call by call: times are ns since its start."""

    def __init__(self, path, **more):
        self.path = path
        self.process = mktrace.Process(str(path), PID, **more)
        self.places = {}
        self.stream = None

    def thread(self, number=0, name="MainThread", tid=None, at=0, stream=0):
        self.stream = self.process.stream(stream)
        self.stream.begin_thread(number, PID + number if tid is None else tid, name, self.ticks(at))

    def ticks(self, ns):
        return self.process.start + -(-ns * mktrace.FREQUENCY // 10**9)  # up, so that ns rounds down to it

    def place(self, name, file="app.py", line=1, **more):
        key = name, file, line
        if key not in self.places:
            self.places[key] = self.process.lexgion(name, file, line, **more)
        return self.places[key]

    def event(self, at, kind, name, *place, **more):
        self.stream.event(self.ticks(at), kind, self.place(name, *place, **more))

    def begin(self, at, name, *place, **more):
        self.event(at, mktrace.FUNCTION_BEGIN, name, *place, **more)

    def end(self, at, name, *place):
        self.event(at, mktrace.FUNCTION_END, name, *place)


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "made")


def recursive(made):
    """f(1000 ns) calls itself (600) which calls g (200); then h in C (100)."""
    made.thread()
    made.begin(0, "f", "app.py", 3)
    made.begin(100, "f", "app.py", 3)
    made.begin(300, "g", "lib;x.py", 7)
    made.end(500, "g", "lib;x.py", 7)
    made.end(700, "f", "app.py", 3)
    made.event(800, mktrace.C_CALL_BEGIN, "h", "", 0, flags=mktrace.FLAG_C)
    made.event(900, mktrace.C_CALL_END, "h", "", 0)
    made.end(1000, "f", "app.py", 3)
    made.process.end()
    return made.path


def near(ns):
    return pytest.approx(ns / 1e9, abs=2e-9)


def test_pstats_figures(made, tmp_path):
    exported.export(recursive(made), tmp_path / "out.prof")
    stats = marshal.loads((tmp_path / "out.prof").read_bytes())
    f, g, h = ("app.py", 3, "f"), ("lib;x.py", 7, "g"), ("~", 0, "<h>")
    assert stats == {
        f: (1, 2, near(700), near(1000), {f: (1, 1, near(400), near(600))}),
        g: (1, 1, near(200), near(200), {f: (1, 1, near(200), near(200))}),
        h: (1, 1, near(100), near(100), {f: (1, 1, near(100), near(100))}),
    }


def test_pstats_counts_calls_not_slices(made, tmp_path):
    made.thread()
    made.begin(0, "main")
    made.begin(100, "gen")
    made.event(200, mktrace.FUNCTION_YIELD, "gen")
    made.event(300, mktrace.FUNCTION_RESUME, "gen")
    made.end(400, "gen")
    made.end(500, "main")
    made.process.end()
    exported.export(made.path, tmp_path / "out.pstats")
    stats = marshal.loads((tmp_path / "out.pstats").read_bytes())
    main, gen = ("app.py", 1, "main"), ("app.py", 1, "gen")
    assert stats[gen] == (1, 1, near(200), near(200), {main: (1, 1, near(200), near(200))})
    assert stats[main] == (1, 1, near(300), near(500), {})


def test_pstats_keeps_every_name(made, tmp_path):
    names = ["lone\ud800", "nul\0", "new\nline", "\U0001f40d", "\ufffd", "no utf-8 \udcff"]
    made.thread()
    for number, name in enumerate(names):
        raw = name.encode("utf-8", "surrogateescape" if "\udcff" in name else "surrogatepass")
        made.begin(10 * number, raw, raw + b".py")
        made.end(10 * number + 5, raw, raw + b".py")
    made.process.end()
    exported.export(made.path, tmp_path / "out.pstats")
    stats = marshal.loads((tmp_path / "out.pstats").read_bytes())
    assert list(stats) == [(name + ".py", 1, name) for name in names]


def test_pstats_regions_and_c_code_are_apart(made, tmp_path):
    made.thread()
    for number, options in enumerate([{"flags": mktrace.FLAG_C}, {"domain": mktrace.USER}, {"domain": mktrace.IO}]):
        made.places.clear()
        made.begin(10 * number, "x", "", 0, **options)
        made.end(10 * number + 5, "x", "", 0)
    made.process.end()
    exported.export(made.path, tmp_path / "out.pstats")
    assert list(marshal.loads((tmp_path / "out.pstats").read_bytes())) == [
        ("~", 0, "<x>"), ("user", 0, "x"), ("io", 0, "x")]


def test_pstats_large_counts(made, tmp_path):
    """More than 2^31 - 1 of anything is a long in marshal: a line number shows it without as many calls."""
    made.thread()
    made.begin(0, "f", "app.py", 0xFFFFFFFF)
    made.end(10, "f", "app.py", 0xFFFFFFFF)
    made.process.end()
    exported.export(made.path, tmp_path / "out.pstats")
    assert list(marshal.loads((tmp_path / "out.pstats").read_bytes())) == [("app.py", 0xFFFFFFFF, "f")]


def test_folded_figures(made, tmp_path):
    exported.export(recursive(made), tmp_path / "out.folded")
    root = "app.py %d;MainThread;" % PID
    lines = (tmp_path / "out.folded").read_text().splitlines()
    assert [(line.rsplit(" ", 1)[0], round(int(line.rsplit(" ", 1)[1]), -1)) for line in lines] == [
        (root + "f (app.py:3)", 300),
        (root + "f (app.py:3);f (app.py:3)", 400),
        (root + "f (app.py:3);f (app.py:3);g (lib,x.py:7)", 200),
        (root + "f (app.py:3);h", 100),
    ]


def test_folded_names_are_safe(made, tmp_path):
    names = ["a;b", "new\nline", "nul\0", "lone\ud800", "tab\t"]
    made.thread(name="one;two\nthree")
    for number, name in enumerate(names):
        made.begin(10 * number, name, "")
        made.end(10 * number + 5, name, "")
    made.process.end()
    exported.export(made.path, tmp_path / "out.folded")
    text = (tmp_path / "out.folded").read_text(encoding="utf-8")
    assert all(char == "\n" or char.isprintable() for char in text)
    assert [line.count(";") for line in text.splitlines()] == [2] * len(names)


def test_folded_deep_recursion(made, tmp_path):
    depth = 3000
    made.thread()
    for at in range(depth):
        made.begin(at * 10, "f")
    for at in range(depth):
        made.end((depth + at) * 10, "f")
    made.process.end()
    exported.export(made.path, tmp_path / "out.folded")
    folded = exported.read_folded(tmp_path / "out.folded")
    assert max(len(frames) for frames in folded) == 2 + 1000 + 1
    assert (tmp_path / "out.folded").stat().st_size < 20_000_000
    assert sum(folded.values()) == pytest.approx((2 * depth - 1) * 10, abs=len(folded))


def test_chrome_figures(made, tmp_path):
    exported.export(recursive(made), tmp_path / "out.json")
    whole = exported.strict_json((tmp_path / "out.json").read_bytes())
    events = [event for event in whole["traceEvents"] if event["ph"] in "BE"]
    assert [(event["ph"], event["ts"]) for event in events] == [
        ("B", 0), ("B", 0.1), ("B", 0.3), ("E", 0.5), ("E", 0.7), ("B", 0.8), ("E", 0.9), ("E", 1.0)]
    assert events[2] == {"ph": "B", "pid": PID, "tid": PID, "ts": 0.3, "name": "g", "cat": "python",
                         "args": {"file": "lib;x.py", "line": 7}}
    assert events[5] == {"ph": "B", "pid": PID, "tid": PID, "ts": 0.8, "name": "h", "cat": "c"}
    assert whole["otherData"]["start_realtime_ns"] == str(mktrace.START_REAL)
    assert whole["otherData"]["processes"] == [{"pid": PID, "program": "app.py", "lost": 0}]


def test_pfw_figures(made, tmp_path):
    exported.export(recursive(made), tmp_path / "out.pfw")
    lines = exported.pfw_lines(tmp_path / "out.pfw")
    assert [line["name"] for line in lines] == ["HH", "CM", "FH", "SH", "SH", "start", "thread_name", "g", "f", "h", "f",
                                                "end"]
    host = lines[0]["args"]
    assert host["name"] == "testhost" and len(host["hhash"]) == 16 and host["value"] == host["hhash"]
    assert {line["args"]["hhash"] for line in lines} == {host["hhash"]}
    assert lines[1]["args"]["value"] == "US"
    us = mktrace.START_REAL // 1000
    assert lines[7] == {"id": 2, "name": "g", "cat": "python", "type": 6, "pid": PID, "tid": PID, "ts": us, "dur": 0,
                        "ph": 1, "args": {"hhash": host["hhash"], "file": "lib;x.py", "line": 7}}
    assert (lines[10]["ts"], lines[10]["dur"]) == (us, 1)
    assert lines[-1]["args"]["num_events"] == 5


def test_perfetto_is_small(made, tmp_path):
    """13 bytes an end and about 20 a begin: what a clock of deltas and interned names buy."""
    made.thread()
    for number in range(10_000):
        made.begin(number * 200, "f")
        made.end(number * 200 + 100, "f")
    made.process.end()
    exported.export(made.path, tmp_path / "out.pftrace")
    assert (tmp_path / "out.pftrace").stat().st_size < 20_000 * 17


# ---- Processes and threads ----

def test_same_pid_twice(tmp_path):
    """exec, or two hosts: a viewer must not mix two processes with one pid."""
    run = tmp_path / "run"
    for number in range(2):
        made = Made(run, name="host-%d-%d" % (PID, number), start_real=mktrace.START_REAL + number * 50)
        made.thread()
        made.begin(0, "f%d" % number)
        made.end(100, "f%d" % number)
        made.process.end()
    for name, reader in exported.READERS.items():
        exported.export(run, tmp_path / "out", "--to", name)
        found = reader(tmp_path / "out")
        assert sorted(slices[0].name for slices in found.values()) == ["f0", "f1"], name
        pids = [pid for pid, _ in found]
        assert sorted(pids) == [PID, PID + (1 << 22)], name


def test_same_tid_twice(made, tmp_path):
    """The kernel gives a thread's id to a later one: in Perfetto they are two threads with their own names."""
    for number, name in enumerate(["first", "second"]):
        made.thread(number, name, tid=PID + 77, at=number * 1000)
        made.begin(number * 1000, "f%d" % number)
        made.end(number * 1000 + 500, "f%d" % number)
    made.process.end()
    exported.export(made.path, tmp_path / "out.pftrace")
    found = exported.read_perfetto(tmp_path / "out.pftrace")
    assert {key[1]: [one.name for one in slices] for key, slices in found.items()} == {"first": ["f0"], "second": ["f1"]}
    exported.export(made.path, tmp_path / "out.json")
    assert [one.name for one in list(exported.read_chrome(tmp_path / "out.json").values())[0]] == ["f0", "f1"]


def test_many_threads(tmp_path):
    run = tmp_path / "run"
    mktrace.main([str(run), "--threads", "2000", "--streams", "4", "--calls", "2", "--functions", "5"])
    exported.export(run, tmp_path / "out.pftrace")
    assert len(exported.read_perfetto(tmp_path / "out.pftrace")) == 2000


def test_no_events(made, tmp_path):
    made.process.end()
    for name in exported.FORMATS:
        path = tmp_path / ("out." + name)
        exported.export(made.path, path, "--to", name)
        if name in exported.READERS:
            assert exported.READERS[name](path) == {}
    assert marshal.loads((tmp_path / "out.pstats").read_bytes()) == {}
    assert (tmp_path / "out.folded").read_bytes() == b""
    assert [line["name"] for line in exported.pfw_lines(tmp_path / "out.pfw")][-3:] == ["start", "thread_name", "end"]


def test_without_a_state(made, tmp_path):
    """A folder whose state is gone: what its streams tell is there, on a process that viewers take for one."""
    made.thread()
    made.begin(0, "f")
    made.end(500, "f")
    made.process.end()
    (made.path / made.process.name / "lextrace" / "state").unlink()
    for name, reader in exported.READERS.items():
        exported.export(made.path, tmp_path / "out", "--to", name)
        ((pid, thread), slices), = reader(tmp_path / "out").items()
        assert pid > 0 and thread == "MainThread" and [one.name for one in slices] == ["f"]


def test_losses_are_said(made, tmp_path):
    made.thread()
    made.begin(0, "f")
    made.end(500, "f")
    made.stream.lose(0, 1200)
    made.stream.lose(4, 4)
    made.process.end()
    note = "lost 1204 events: disk full 1200, no memory 4"
    for name in exported.FORMATS:
        done = exported.export(made.path, tmp_path / ("out." + name), "--to", name, "-q")
        assert done.said == ["lextrace: made: LOST 1,204 events (disk full 1,200 at 0 ns, no memory 4 at 0 ns): what ran "
                             "then is missing"]
    assert note.encode() in (tmp_path / "out.perfetto").read_bytes()
    chrome = exported.strict_json((tmp_path / "out.chrome").read_bytes())
    assert chrome["otherData"]["processes"][0]["lost"] == 1204
    assert [event["name"] for event in chrome["traceEvents"] if event["ph"] == "i"] == [note]
    assert [line["args"]["value"] for line in exported.pfw_lines(tmp_path / "out.pfw")
            if line["args"].get("name") == "lost_events"] == [note]
    assert "1204 events lost" in exported.strict_json((tmp_path / "out.speedscope").read_bytes())["name"]


def switched(made):
    """Thread 1 is in f, and in a region in it, when the main thread sees Python go to STANDBY at 500."""
    made.thread(1, "Worker", stream=1)
    made.begin(100, "f")
    made.event(200, mktrace.REGION_BEGIN, "r", "", 0, domain=mktrace.USER)
    made.begin(300, "g")
    made.event(900, mktrace.REGION_END, "r", "", 0)
    made.thread(0)
    made.event(200, mktrace.IMPORT_BEGIN, "json", "", 0, flags=mktrace.FLAG_IMPORT)
    made.event(400, mktrace.IMPORT_END, "json", "", 0)
    made.stream.event(made.ticks(500), mktrace.MODE, mktrace.PYTHON | mktrace.STANDBY << 16)
    made.process.modes[0] = mktrace.STANDBY
    made.process.end()
    return made.path


def test_a_mode_ends_calls_in_every_thread(made, tmp_path):
    run = switched(made)
    for name, reader in exported.READERS.items():
        path = tmp_path / ("out." + name)
        exported.export(run, path, "--to", name)
        found = reader(path)
        (main,) = [slices for (_, thread), slices in found.items() if "Main" in thread]
        (worker,) = [slices for (_, thread), slices in found.items() if "Worker" in thread]
        assert [one.name for one in main] == ["import json"], name
        assert [(one.name, one.end - one.begin, one.depth) for one in worker] == [
            ("f", 400, 0), ("r", 300, 1), ("g", 200, 2), ("r", 400, 0)], name
        if name != "speedscope":
            assert [one.ended for one in worker] == ["mode", "mode", "mode", None], name
    exported.export(run, tmp_path / "out.pfw")
    (mark,) = [line for line in exported.pfw_lines(tmp_path / "out.pfw") if line["name"] == "mode"]
    assert (mark["args"]["domain"], mark["args"]["mode"]) == ("Python", "STANDBY")
    chrome = exported.strict_json((tmp_path / "out.chrome").read_bytes())
    assert [event["name"] for event in chrome["traceEvents"] if event["ph"] == "i"] == ["Python STANDBY"]
    assert b"Python STANDBY" in (tmp_path / "out.perfetto").read_bytes()
    exported.export(run, tmp_path / "out.folded")
    assert sum(exported.read_folded(tmp_path / "out.folded").values()) == 200 + 400 + 400


def test_counted_calls_go_to_pstats(made, tmp_path):
    place = made.place("f", "app.py", 3)
    made.process.row(0, place, 1000, made.ticks(500) - made.process.start, made.ticks(300) - made.process.start)
    made.process.name_thread(0, PID, "MainThread")
    made.process.end()
    for name in exported.FORMATS[:-1]:
        done = exported.export(made.path, tmp_path / "none", "--to", name, check=False)
        assert done.returncode == 1 and done.said == [
            "lextrace: made: its calls were counted (MONITORING), not recorded: only --to pstats takes that"]
        assert not (tmp_path / "none").exists()
    exported.export(made.path, tmp_path / "out.pstats")
    assert marshal.loads((tmp_path / "out.pstats").read_bytes()) == {
        ("app.py", 3, "f"): (1000, 1000, near(300), near(500), {})}
    exported.export(made.path, tmp_path / "other.pstats", "--thread", "0")
    assert (tmp_path / "other.pstats").read_bytes() == (tmp_path / "out.pstats").read_bytes()


def test_filters(tmp_path):
    run = tmp_path / "run"
    mktrace.main([str(run), "--processes", "2", "--threads", "3", "--calls", "20"])
    everything = exported.reference(run, whole=True)
    for options, keys in [
            (["--process", str(PID + 1)], [key for key in everything if key[0] == PID + 1]),
            (["--thread", "MainThread"], [key for key in everything if key[1] == "MainThread"]),
            (["--thread", "1", "--process", "testhost-%d" % PID], [(PID, "Thread-1 (work)")])]:
        for name, reader in exported.READERS.items():
            exported.export(run, tmp_path / "out", "--to", name, *options)
            assert sorted(reader(tmp_path / "out")) == sorted(keys), (name, options)
        exported.export(run, tmp_path / "out.pfw", *options)
        assert sorted(exported.read_pfw(tmp_path / "out.pfw")) == sorted(keys)
        exported.export(run, tmp_path / "out.folded", *options)
        total = sum(exported.exclusive(everything[key]) for key in keys)
        folded = exported.read_folded(tmp_path / "out.folded")
        assert sum(folded.values()) == pytest.approx(total, abs=len(folded) + 1)
    done = exported.export(run, tmp_path / "none", "--to", "chrome", "--thread", "nobody", check=False)
    assert done.returncode == 1 and done.said[0].startswith("lextrace: no thread nobody in this run; it has 0 MainThread")
    assert not (tmp_path / "none").exists()
