"""report, view, info and export on DFTracer's files, against a reading of the same lines with Python's json module.

The files in pfw/ are DFTracer 2.2.0's own; all other shapes are made from them.
"""

import collections
import gzip
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LEXTRACE = Path(os.environ.get("LEXTRACE_BIN") or ROOT / ".venv/bin/lextrace")
FILES = sorted((HERE / "pfw").iterdir())
APP, FORK, SUMS = (next(path for path in FILES if word in path.name) for word in ("app", "fork", "aggregated"))

sys.path[:0] = [str(ROOT / folder) for folder in ("tests/export", "tests/tools", "tests/python")]


def content(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def lextrace(*words, status=0):
    done = subprocess.run([LEXTRACE, *map(str, words)], capture_output=True, timeout=120,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TZ": "UTC"})
    assert done.returncode == status, (words, done.stderr)
    return done


def report(*paths):
    done = lextrace("report", "--json", *paths)
    found = json.loads(done.stdout)
    found["said"] = done.stderr.decode()
    return found


def calls(found):
    return {row["name"]: row["calls"] for row in found["functions"] if row["calls"]}


def records(data):
    """The records of a file's text, without what is no JSON."""
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        line = line.strip().strip("[],")
        if not line:
            continue
        try:
            yield json.loads(line)
        except ValueError:
            pass


def spans(data):
    """The spans of a file, without the two that frame it."""
    for record in records(data):
        framing = record.get("cat") == "dftracer" and record["name"] in ("start", "end")
        if record["ph"] in (1, "X") and not framing:
            yield record


def title(record):
    return f"{record['cat']}/{record['name']}" if record.get("cat") else record["name"]


def counts(data):
    return collections.Counter(map(title, spans(data)))


def sums(data):
    """Calls and time that aggregated records stand for."""
    found = collections.defaultdict(lambda: [0, 0])
    for record in records(data):
        if record["ph"] == 3:
            found[title(record)][0] += record["args"]["dft_cnt"]
            found[title(record)][1] += record["args"].get("dur_sum", record["args"].get("dur", 0)) * 1000
    return {name: tuple(pair) for name, pair in found.items()}


def nested(data):
    """(thread, outer name, inner name) of each span in another one, from the times alone, innermost outer first."""
    threads = collections.defaultdict(list)
    for record in spans(data):
        threads[record["pid"], record["tid"]].append((record["ts"], -record["dur"], title(record)))
    found = collections.Counter()
    for thread in threads.values():
        stack = []
        for begin, length, name in sorted(thread):
            while stack and stack[-1][0] <= begin:
                stack.pop()
            if stack:
                found[stack[-1][1], name] += 1
            stack.append((begin - length, name))
    return found


def write(folder, data, name="trace.pfw"):
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def line(name="f", **more):
    return json.dumps({"name": name, "cat": "C", "type": 6, "pid": 7, "tid": 7, "ts": 1000, "dur": 10, "ph": 1} | more)


def text(*lines):
    return ("\n".join(lines) + "\n").encode()


# ---- Whole files ----

@pytest.mark.parametrize("name", ["trace.pfw", "trace.pfw.gz"])
@pytest.mark.parametrize("path", [APP, FORK], ids=lambda path: path.stem)
def test_spans_are_those_of_the_file(tmp_path, path, name):
    data = content(path)
    found = report(write(tmp_path, data, name))
    assert calls(found) == counts(data) and found["calls"] == sum(counts(data).values())
    assert found["complete"] and found["said"] == ""
    total = collections.Counter()
    for record in spans(data):
        total[title(record)] += record["dur"] * 1000
    assert {row["name"]: row["total_ns"] for row in found["functions"]} == total
    assert {row["name"]: row["domain"] for row in found["functions"]} == {
        title(record): "IO" if record["type"] == 3 else "User" for record in spans(data)}


def test_nesting_is_that_of_the_times(tmp_path):
    found = collections.Counter()
    for outer in {name for pair in nested(content(APP)) for name in pair}:
        edges = json.loads(lextrace("report", "--json", "--callees", outer, APP).stdout)
        for row in edges["callees"]:
            if row["name"] != "(self)":
                found[outer, row["name"]] += row["calls"]
    assert found == nested(content(APP))


def test_sums(tmp_path):
    found = report(SUMS)
    assert {row["name"]: (row["counted"], row["total_ns"]) for row in found["functions"]} == sums(content(SUMS))
    assert "aggregated records stand for several calls each" in found["said"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_info(path):
    start = next(record for record in records(content(path)) if record["name"] == "start")
    found = json.loads(lextrace("info", "--json", path).stdout)
    (process,) = found["processes"]
    assert process["pid"] == start["pid"] and process["parent_pid"] == start["args"]["ppid"]
    assert found["first_ns"] == start["ts"] * 1000 and found["complete"]
    assert found["calls"] == sum(counts(content(path)).values())
    assert "fxgen.py" in lextrace("info", path).stdout.decode() or path == FORK


def test_view_has_all_spans_in_order():
    lines = lextrace("view", APP).stdout.decode().splitlines()
    begins = [entry for entry in lines if ":region_begin:" in entry]
    assert collections.Counter(entry.split('name = "')[1].split('"')[0] for entry in begins) == counts(content(APP))
    assert lines == sorted(lines, key=lambda entry: entry[:20])


@pytest.mark.parametrize("path", [APP, FORK], ids=lambda path: path.stem)
def test_exports(tmp_path, path):
    import exported
    lextrace("export", path, "-o", tmp_path / "again.pfw")
    lextrace("export", path, "-o", tmp_path / "trace.perfetto")
    again = content(tmp_path / "again.pfw")
    mine = {"hhash", "fhash", "file"}

    def whole(data):
        return sorted(json.dumps([title(one), one["pid"], one["tid"], one["ts"], one["dur"], one["type"],
                                  {key: value for key, value in one.get("args", {}).items() if key not in mine}],
                                 sort_keys=True) for one in spans(data))
    assert whole(again) == whole(content(path))
    slices = [one for thread in exported.read_perfetto(tmp_path / "trace.perfetto").values() for one in thread]
    assert len(slices) == sum(counts(content(path)).values())
    names = {record["args"]["value"]: record["args"]["name"] for record in records(content(path)) if record["name"] == "FH"}
    wanted = sorted(names.get(one["args"]["fhash"], one["args"]["fhash"]) for one in spans(content(path))
                    if "fhash" in one.get("args", {}))
    assert sorted(one["args"].get("file") or one["args"]["fhash"] for one in spans(again)
                  if {"file", "fhash"} & set(one["args"])) == wanted


# ---- Several files ----

def test_ranks_are_one_run(tmp_path):
    for path in APP, FORK:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    wanted = counts(content(APP)) + counts(content(FORK))
    for words in [[APP, FORK], [tmp_path]]:
        found = report(*words)
        assert calls(found) == wanted and found["processes"] == 2
    # The child's file names no file: the hashes stand in its parent's.
    lextrace("export", tmp_path, "-o", tmp_path / "out.json", "--to", "chrome")
    assert b"fhash" not in (tmp_path / "out.json").read_bytes()
    assert b"fhash" in gzip.decompress(FORK.read_bytes())
    done = lextrace("report", APP, tmp_path / "nosuch.pfw", status=1)
    assert done.stderr.count(b"\n") == 1 and b"nosuch.pfw: no such file" in done.stderr
    done = lextrace("report", APP, tmp_path, status=1)
    assert b"one run at a time" in done.stderr


def test_a_native_run_comes_first(tmp_path):
    """A folder with both is a run of ours."""
    subprocess.run([sys.executable, HERE / "sample.py", "run"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "run" / "left.pfw").write_bytes(content(APP))
    assert "POSIX/read" not in calls(report(tmp_path / "run"))


def test_same_pid_on_two_hosts(tmp_path):
    lines = [line(args={"hhash": host}) for host in ("aa", "bb", "aa")]
    found = json.loads(lextrace("info", "--json", write(tmp_path, text(*lines))).stdout)
    assert sorted(process["events"] for process in found["processes"]) == [2, 4]


# ---- Dialects ----

def older(data):
    """The same in the 1.x dialect."""
    letters = {1: "X", 2: "C", 4: "M"}
    out = ["["]
    for number, record in enumerate(records(data)):
        record = dict(record, id=number, ph=letters[record["ph"]])
        record.pop("type")
        record["args"] = dict(record["args"], level=1, p_idx=number)
        out.append(json.dumps(record, separators=(",", ":")) + ("," if number % 2 else ""))
    return text(*out, "]")


@pytest.mark.parametrize("name", ["trace.pfw", "trace.pfw.gz"])
def test_older_dialect(tmp_path, name):
    data = older(content(APP))
    found = report(write(tmp_path, data, name))
    assert calls(found) == counts(content(APP)) and found["complete"] and found["said"] == ""


def test_order_of_lines_and_members_does_not_matter(tmp_path):
    lines = content(APP).decode().splitlines()
    turned = [json.dumps(dict(reversed(json.loads(one).items())), indent=None, separators=(" , ", " : "))
              for one in reversed(lines)]
    found = report(write(tmp_path, "\r\n".join(turned).encode()))
    plain = report(APP)
    assert calls(found) == calls(plain) and found["said"] == ""
    assert {row["name"]: row["self_ns"] for row in found["functions"]} == {
        row["name"]: row["self_ns"] for row in plain["functions"]}


@pytest.mark.parametrize("unit, ns", [("NS", 1), ("US", 1000), ("MS", 10**6), ("SEC", 10**9)])
def test_units(tmp_path, unit, ns):
    metric = line("CM", ph=4, args={"name": "time_metric", "value": unit})
    (row,) = report(write(tmp_path, text(metric, line(ts=1700, dur=12))))["functions"]
    assert row["total_ns"] == 12 * ns


def test_fractions_and_exponents(tmp_path):
    path = write(tmp_path, text(line(ts=1796057528386673.25, dur=1.5), line("g", ts="T", dur="D").replace(
        '"T"', "1.8e15").replace('"D"', "2E3")))
    assert {row["name"]: row["total_ns"] for row in report(path)["functions"]} == {"C/f": 1500, "C/g": 2000000}


# ---- Torn, joined, damaged ----

def members(data, size=900, level=6):
    return b"".join(gzip.compress(data[at:at + size], level) for at in range(0, len(data), size))


@pytest.mark.parametrize("level", [0, 1, 9])
def test_many_members_and_joined_files(tmp_path, level):
    data = content(APP)
    path = tmp_path / "trace.pfw.gz"
    path.write_bytes(members(data, level=level) + b"\0" * 100 + gzip.compress(content(FORK)) + b"\0" * 512)
    found = report(path)
    assert calls(found) == counts(data) + counts(content(FORK)) and found["complete"]


def test_cut_gzip_gives_all_lines_before_the_cut(tmp_path):
    packed = APP.read_bytes()
    for size in sorted({*range(40, len(packed), 97), len(packed) - 1, len(packed) - 9}):
        plain = zlib.decompressobj(31).decompress(packed[:size])
        whole = plain[:plain.rfind(b"\n") + 1]
        path = tmp_path / "trace.pfw.gz"
        path.write_bytes(packed[:size])
        if not any(record["ph"] == 1 for record in records(whole)):
            continue
        found = report(path)
        assert sum(calls(found).values()) - sum(counts(whole).values()) in (0, 1), size
        assert not found["complete"] and found["said"].count("\n") == 1
        assert "ends inside its gzip data" in found["said"] or "ends inside a line" in found["said"]


def test_torn_last_line(tmp_path):
    data = content(APP)
    for cut in 1, 2, 30, 300:
        torn = data[:-cut]
        whole = torn[:torn.rfind(b"\n") + 1] if cut > 1 else torn
        found = report(write(tmp_path, torn))
        assert calls(found) == counts(whole)
        assert found["complete"] == (cut == 1) and ("ends inside a line" in found["said"]) == (cut > 1)


def test_damaged_gzip(tmp_path):
    data = content(APP)
    packed = bytearray(gzip.compress(data[:6000]) + gzip.compress(data[6000:]))
    packed[-6] ^= 1  # the checksum of the second one
    path = tmp_path / "trace.pfw.gz"
    path.write_bytes(packed)
    found = report(path)
    assert calls(found) == counts(data) and not found["complete"] and "gzip data are damaged" in found["said"]
    path.write_bytes(gzip.compress(data) + b"no gzip")
    found = report(path)
    assert calls(found) == counts(data) and "no gzip follows" in found["said"]


@pytest.mark.parametrize("content_, status", [(b"", 1), (b"[\n]\n", 1), (b"\x1f\x8b", 1), (b"no JSON\n", 1)])
def test_nothing_to_read(tmp_path, content_, status):
    path = tmp_path / "trace.pfw"
    path.write_bytes(content_)
    done = lextrace("report", path, status=status)
    assert done.stderr.count(b"\n") == 1 and b"trace.pfw" in done.stderr and b"no record" in done.stderr


INVALID = [
    "{", '{"name":"x"', '{"name":"x",}', '{"name":"x" "ph":1}', '{"name":"a\\x","ph":1,"ts":1}', '{"name":"\\u12g4","ph":1,"ts":1}',
    '{"name":"x","ph":1,"ts":01}', '{"name":"x","ph":1,"ts":1.}', '{"name":"x","ph":1,"ts":+1}', '{"name":"x","ph":1,"ts":-1}',
    '{"name":"x","ph":1,"ts":1,"dur":-5}', '{"name":"x","ph":1,"ts":"1"}', '{"name":"x","ph":1}', '{"name":5,"ph":1,"ts":1}',
    '{"name":"x","ph":1,"ts":1} x', '{"name":"x","ph":1,"ts":1,"args":{"a":[1,]}}', '{"name":"x","ph":1,"ts":1,"args":{"a":tru}}',
    '{"name":"x","ph":1,"ts":1e99}', '{"name":"x","ph":1,"ts":1,"pid":-2}', "nonsense", '"text"', "12", '{"name":"x","ts":1}',
    '{"name":"x","ph":1,"ts":1,"args":{"a":' + "[" * 400 + "]" * 400 + "}}", '{"name":"x","ph":1,"ts":NaN}',
]


@pytest.mark.parametrize("bad", INVALID, ids=range(len(INVALID)))
def test_invalid_lines_are_counted_and_told_of(tmp_path, bad):
    data = text(line(), line(), bad, line(), bad)
    found = report(write(tmp_path, data))
    assert calls(found) == {"C/f": 3} and not found["complete"]
    assert found["said"].count("\n") == 1 and "2 invalid lines left out, the first is" in found["said"]
    assert "trace.pfw:3" in found["said"]


def test_modes_are_those_of_what_is_there():
    assert "User TRACING, IO TRACING" in lextrace("info", APP).stdout.decode()
    assert "User MONITORING, IO MONITORING" in lextrace("info", SUMS).stdout.decode()


def test_other_kinds_are_told_of(tmp_path):
    found = report(write(tmp_path, text(line(), line(ph="B"), line(ph=9))))
    assert calls(found) == {"C/f": 1} and "2 records of an unknown kind (ph) left out" in found["said"]


# ---- Texts ----

def names_of(path):
    return [row["name"] for row in report(path)["functions"]]


@pytest.mark.parametrize("name", ['quote " and \\', "tab\tnewline\nbell\a", "\0nul\0", "é ü 漢 😀", "/", "a/b/c", "x" * 5000])
def test_escaped_names(tmp_path, name):
    for ascii_only in True, False:
        data = json.dumps(json.loads(line(name)), ensure_ascii=ascii_only).encode() + b"\n"
        assert names_of(write(tmp_path, data)) == ["C/" + name]


@pytest.mark.parametrize("raw, shown", [(b"a\x01b", "a\x01b"), (b"a\tb", "a\tb"), (b"a\xff\xfeb", "a\ufffd\ufffdb"),
                                        (b"\\ud800x", "\ufffd\ufffd\ufffdx"), (b"a\x00b", "a\x00b")])
def test_what_the_writer_leaves_as_it_is(tmp_path, raw, shown):
    assert names_of(write(tmp_path, text(line("NAME")).replace(b"NAME", raw))) == ["C/" + shown]


def test_lines_of_any_length(tmp_path):
    long = "y" * (3 << 20)
    data = text(line("before"), line("long", args={"text": long, "n": 1}), line("after"), line(long), line("last"))
    for name in "trace.pfw", "trace.pfw.gz":
        found = report(write(tmp_path, data, name))
        assert found["calls"] == 5 and found["complete"] and found["said"] == ""
    lextrace("export", tmp_path / "trace.pfw.gz", "-o", tmp_path / "out.json", "--to", "chrome")
    (text_,) = [one["args"]["text"] for one in json.loads((tmp_path / "out.json").read_bytes())["traceEvents"]
                if "text" in one.get("args", {})]
    assert len(text_) == 1 << 20 and text_ == "y" * ((1 << 20) - 3) + "..."


VALUES = {"int": 5, "negative": -7, "zero": 0, "most": 2**63 - 1, "least": -(2**63) + 1, "real": 1.5, "small": -2.5e-7,
          "text": 'a"b\\c\né', "empty": "", "yes": True, "none": None, "list": [1, "x", {"y": []}], "map": {"a": {}}}


def test_arguments_come_through(tmp_path):
    huge = 123456789012345678901234567890
    path = write(tmp_path, text(line(args=VALUES | {"huge": huge}), line("inner", ts=1002, dur=3, args={"int": 6})))
    lextrace("export", path, "-o", tmp_path / "again.pfw")
    found = {one["name"]: one["args"] for one in spans(content(tmp_path / "again.pfw"))}
    del found["f"]["hhash"], found["inner"]["hhash"]
    assert found == {"f": VALUES | {"huge": str(huge)}, "inner": {"int": 6}}


# ---- Threads ----

def test_overlapping_spans_have_lanes(tmp_path):
    data = text(*(line(f"task{n % 3}", ts=1000 + n * 3, dur=10) for n in range(50)))
    path = write(tmp_path, data)
    found = report(path)
    assert calls(found) == counts(data) and found["complete"]
    threads = json.loads(lextrace("report", "--json", "--threads", path).stdout)["by_thread"]
    assert {row["tid"] for row in threads} == {7}
    assert {"main", "main (overlapping 1)", "main (overlapping 2)", "main (overlapping 3)"} == {row["name"] for row in threads}


def test_thousands_at_a_time(tmp_path):
    data = text(*(line(ts=1000 + n, dur=5000 + n) for n in range(5000)))
    found = report(write(tmp_path, data))
    assert calls(found) == {"C/f": 5000} and "904 spans of threads with too many at a time" in found["said"]


def test_names_of_threads_and_missing_ids(tmp_path):
    named = line("thread_name", ph="M", tid=9, args={"name": "loader"})
    data = text(named, line(tid=9), line(tid=0), '{"name":"g","cat":"C","ph":1,"ts":5,"dur":1}')
    threads = json.loads(lextrace("report", "--json", "--threads", write(tmp_path, data)).stdout)["by_thread"]
    assert sorted(row["name"] for row in threads) == ["loader", "main", "main"]


def test_counters_and_metadata(tmp_path):
    counter = line("cpu", cat="sys", ph=2, ts=1005, args={"hhash": "h", "user_pct": 12.5, "n": 3, "text": "no number"})
    data = text(line("CM", ph=4, args={"name": "model", "value": "toy"}),
                line("PR", ph=4, args={"name": "core_affinity", "value": [0, 1]}), line(), counter)
    path = write(tmp_path, data)
    kinds = json.loads(lextrace("info", "--json", path).stdout)["kinds"]
    assert kinds == {"user:region_begin": 1, "user:region_end": 1, "user:counter": 2, "user:metadata": 2}
    shown = lextrace("view", path).stdout.decode()
    assert "sys/cpu.user_pct" in shown and "sys/cpu.n" in shown and "core_affinity" in shown


# ---- Ours ----

def test_what_lextrace_exports_comes_back(tmp_path):
    subprocess.run([sys.executable, HERE / "sample.py", "run"], cwd=tmp_path, check=True, capture_output=True)
    lextrace("export", tmp_path / "run", "-o", tmp_path / "run.pfw.gz")
    lextrace("export", tmp_path / "run", "-o", tmp_path / "again.pfw")
    native, found = report(tmp_path / "run"), report(tmp_path / "run.pfw.gz")

    def places(answer):
        return {(row["name"], row["file"], row["line"], row["domain"]): row["slices"] for row in answer["functions"]}
    assert places(found) == places(native) and found["complete"]


def test_large(tmp_path):
    """Many buffers, many packets; every line counts."""
    many = 60000
    data = text(*(line(f"n{n % 7}", ts=10**6 + n // 2 * 5, dur=4 - n % 2 * 2, args={"n": n}) for n in range(many)))
    for path in write(tmp_path, data), write(tmp_path, data, "b.pfw.gz"):
        found = report(path)
        assert calls(found) == counts(data) and found["events"] == 3 * many
