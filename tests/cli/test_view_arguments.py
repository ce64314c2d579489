"""What `lextrace view` shows of long events."""
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests/python", "tests/tools"):
    sys.path.insert(0, str(ROOT / folder))

import lextrace_tools as tools  # noqa: E402
import mktrace  # noqa: E402


def made(folder):
    process = mktrace.Process(str(folder))
    stream, region, key = process.stream(0), process.region("IO", "read", "io"), process.key("epoch")
    stream.begin_thread(0, process.pid, "MainThread", process.start)
    at = process.start + 10
    stream.event(at, mktrace.REGION_BEGIN, region)
    stream.run(at, region, 7)
    for value in [-3, 0.5, float("nan"), 10**30, 'say "hi"\n', "x" * 5000]:
        stream.argument(at, key, value)
    stream.argument(at, key, '{"a": 1}', mktrace.JSON)
    stream.span(at, region, -5, 9, [(key, 1)])
    stream.point(at, region)
    stream.counter(at, region, 2.5)
    stream.text(at, mktrace.METADATA, key, "v")
    stream.event(at, mktrace.REGION_END, region)
    process.end()
    return folder


def test_json(tmp_path):
    done = tools.lextrace("view", "--json", made(tmp_path / "run"))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = [(line["name"][5:], line["qualname"], *[line[name] for name in line if name in (
        "value", "run", "begin_ns", "duration_ns", "arguments", "more")]) for line in lines]
    read = "IO/read"
    assert found == [
        ("region_begin", read), ("region_run", read, 7), ("arg_int", "epoch", -3), ("arg_float", "epoch", 0.5),
        ("arg_float", "epoch", "NaN"), ("arg_text", "epoch", str(10**30)), ("arg_text", "epoch", 'say "hi"\n'),
        ("arg_text", "epoch", "x" * 4096, True), ("arg_text", "epoch", "x" * 904), ("arg_text", "epoch", {"a": 1}),
        ("span", read, -5, 9, 1), ("arg_int", "epoch", 1), ("point", read, 0), ("counter", read, 2.5),
        ("metadata", "epoch", "v"), ("region_end", read)]


def test_text(tmp_path):
    lines = tools.lextrace("view", made(tmp_path / "run")).stdout.splitlines()
    ends = [line[line.index("user:"):line.index("python_thread_id")] for line in lines]
    assert 'user:arg_int: { key = "epoch", value = -3, ' in ends
    assert 'user:region_run: { name = "IO/read", run = 7, ' in ends
    assert 'user:span: { name = "IO/read", begin_ns = -5, duration_ns = 9, arguments = 1, ' in ends
    assert 'user:counter: { name = "IO/read", value = 2.5, ' in ends
