"""Arguments, categories, runs, spans told afterwards, moments, counters and metadata in the exports."""
import json
import math

import exported
import mktrace
import pytest
from mktrace import (ARG_TEXT, FUNCTION_BEGIN, FUNCTION_END, JSON, METADATA, NUMBER, REGION_BEGIN, REGION_END,
                     REGION_RESUME, REGION_SUSPEND, REGION_UNWIND, STACK_SWITCH)

US = mktrace.FREQUENCY // 10**6  # ticks
BASE = mktrace.START_REAL // 1000  # us


class Maker:
    """One process and thread; events are 10 us apart."""

    def __init__(self, folder):
        self.folder = folder
        self.process = mktrace.Process(str(folder))
        self.stream = self.process.stream(0)
        self.stream.begin_thread(0, 5_000_000, "MainThread", self.process.start)
        self.ticks = self.process.start
        self.keys = {}

    def key(self, name):
        return self.keys.setdefault(name, self.process.key(name) if name not in self.keys else None)

    def event(self, kind, value, after=10):
        self.ticks += after * US
        self.stream.event(self.ticks, kind, value)
        return self

    def run(self, kind, region, number):
        self.event(kind, region)
        self.stream.run(self.ticks, region, number)

    def arguments(self, **values):
        for name, value in values.items():
            self.stream.argument(self.ticks, self.key(name), value)

    def lines(self, *options, extension=".pfw"):
        """Those that are not about the process, without what each line has."""
        self.process.end()
        path = self.folder.with_name("out" + extension)
        exported.export(self.folder, path, *options)
        lines = [line for line in exported.pfw_lines(path) if line["cat"] != "dftracer"]
        for line in lines:
            assert line["pid"] == 5_000_000 and line["tid"] == 5_000_000
            assert line["args"].pop("hhash")
        return lines


@pytest.fixture
def maker(tmp_path):
    return Maker(tmp_path / "run")


def test_a_region_has_its_category_comp_and_arguments(maker):
    read = maker.process.region("IO/deep", "read", "io", "app.py", 7)
    maker.event(REGION_BEGIN, read)
    maker.arguments(epoch=1, step=2)
    maker.event(REGION_END, read)
    assert maker.lines() == [{
        "id": 2, "name": "read", "cat": "IO/deep", "type": 6, "pid": 5_000_000, "tid": 5_000_000, "ts": BASE + 10, "dur": 10,
        "ph": 1, "args": {"comp": "io", "file": "app.py", "line": 7, "epoch": 1, "step": 2}}]


def test_a_name_without_category_flags_is_split_at_its_first_slash(maker):
    for name in ["IO/a/b", "plain", "/x", "x/"]:
        region = maker.process.lexgion(name, domain=mktrace.USER)
        maker.event(REGION_BEGIN, region).event(REGION_END, region)
    function = maker.process.lexgion("a/b", "f.py", 1)
    maker.event(FUNCTION_BEGIN, function).event(FUNCTION_END, function)
    assert [(line["cat"], line["name"]) for line in maker.lines()] == [
        ("IO", "a/b"), ("user", "plain"), ("user", "/x"), ("x", ""), ("python", "a/b")]


def test_the_last_value_of_a_key_counts_at_its_first_place(maker):
    region = maker.process.region("C", "f", "cpu")
    maker.event(REGION_BEGIN, region)
    maker.arguments(a=1, b="x" * 9, c=2.5)
    maker.arguments(b="short", a="now a text")
    maker.arguments(b=7)
    maker.event(REGION_END, region)
    args = maker.lines()[0]["args"]
    assert list(args.items()) == [("comp", "cpu"), ("a", "now a text"), ("b", 7), ("c", 2.5)]


def test_arguments_belong_to_the_innermost_region(maker):
    outer, inner = maker.process.region("C", "outer"), maker.process.region("C", "inner")
    function = maker.process.lexgion("f", "app.py", 1)
    maker.arguments(lost=1)
    maker.event(REGION_BEGIN, outer).event(REGION_BEGIN, inner).event(FUNCTION_BEGIN, function)
    maker.arguments(of="inner")
    maker.event(FUNCTION_END, function).event(REGION_END, inner)
    maker.arguments(of="outer")
    maker.event(REGION_END, outer)
    maker.event(REGION_BEGIN, outer).event(REGION_END, outer)
    lines = maker.lines()
    assert [(line["name"], line["args"].get("of")) for line in lines] == [
        ("f", None), ("inner", "inner"), ("outer", "outer"), ("outer", None)]


def test_hostile_arguments_are_strict_json(maker):
    region = maker.process.region('c"a\0t', b"lone\xed\xa0\x80\n\xff")
    maker.event(REGION_BEGIN, region)
    values = {'k"\n\0': "nul\0\"quote\\", "surrogate": b"\xed\xa0\x80", "bytes": b"\xff\xfe", "big": 10**200, "negative": -2**63,
              "max": 2**63 - 1, "over": 2**64, "nan": math.nan, "inf": math.inf, "ninf": -math.inf, "tiny": 5e-324, "third": 1 / 3,
              "whole": 3.0, "huge": 1e300, "empty": "", "long": "x\0" * 50_000}
    for name, value in values.items():
        maker.stream.argument(maker.ticks, maker.process.key(name), value)
    maker.event(REGION_END, region)
    line = maker.lines()[0]
    args = line["args"]
    assert (line["cat"], line["name"]) == ('c"a\0t', "lone" + "\ufffd" * 3 + "\n\ufffd")
    assert args['k"\n\0'] == values['k"\n\0'] and args["surrogate"] == "\ufffd" * 3 and args["bytes"] == "\ufffd" * 2
    assert (args["big"], args["over"]) == (str(10**200), str(2**64))  # numbers that no reader of numbers keeps
    for name in ["negative", "max", "tiny", "third", "whole", "huge", "empty", "long"]:
        assert args[name] == values[name] and type(args[name]) is type(values[name]), name
    assert (args["nan"], args["inf"], args["ninf"]) == ("NaN", "Infinity", "-Infinity")


@pytest.mark.parametrize("text, form, value", [
    ('{"a": [1, 2.5e3, null, true], "b":\n"\\ud83d\\udc0d"}', JSON, {"a": [1, 2500.0, None, True], "b": "\U0001f40d"}),
    ("-0.5", NUMBER, -0.5), ("123456789012345678901234567890", NUMBER, "123456789012345678901234567890"),
    ("18446744073709551615", NUMBER, 2**64 - 1), ("-9223372036854775809", NUMBER, "-9223372036854775809"),
    # No JSON: they stay texts.
    ("{", JSON, "{"), ("01", NUMBER, "01"), ("nan", NUMBER, "nan"), ("1 2", JSON, "1 2"), ("", JSON, ""), ('"\\ud800"', JSON, '"\\ud800"'),
    ('"a\nb"', JSON, '"a\nb"'), ("[1,]", JSON, "[1,]"), ("{1:2}", JSON, "{1:2}"), ("[" * 5000, JSON, "[" * 5000), ('"\\x"', JSON, '"\\x"'),
    (b"\"\xff\"", JSON, '"\ufffd"'),
])
def test_values_that_are_json(maker, text, form, value):
    region = maker.process.region("C", "f")
    maker.event(REGION_BEGIN, region)
    maker.stream.text(maker.ticks, ARG_TEXT, maker.key("v"), text, form)
    maker.arguments(after=1)
    maker.event(REGION_END, region)
    assert maker.lines()[0]["args"] == {"v": value, "after": 1}


def test_arguments_by_the_names_of_ours(maker):
    region = maker.process.region("C", "f", "cpu", "app.py", 3)
    maker.event(REGION_BEGIN, region)
    maker.arguments(comp="io", line="mine", ended="no", hhash="forged", running=1)
    maker.event(REGION_UNWIND, region)
    maker.process.end()
    path = maker.folder.with_name("out.pfw")
    exported.export(maker.folder, path)
    text = [line for line in path.read_text().splitlines() if '"cat":"C"' in line][0]
    pairs = json.loads(text[text.index('"args":') + 7:-1], object_pairs_hook=list)
    assert pairs[0][0] == "hhash" and pairs[0][1] != "forged"
    assert pairs[1:] == [("file", "app.py"), ("comp", "io"), ("line", "mine"), ("ended", "no"), ("running", 1)]


def test_an_exception_is_told(maker):
    region = maker.process.region("C", "f")
    maker.event(REGION_BEGIN, region).event(REGION_UNWIND, region)
    assert maker.lines()[0]["args"] == {"ended": "exception"}


def test_a_run_is_one_line(maker):
    a, b = maker.process.region("C", "a", "io"), maker.process.region("C", "b")
    maker.run(REGION_BEGIN, a, 1)
    maker.arguments(x=1)
    maker.event(REGION_SUSPEND, a)
    maker.run(REGION_BEGIN, a, 2)
    maker.arguments(x=2)
    maker.event(REGION_SUSPEND, a)
    maker.run(REGION_RESUME, a, 1)
    maker.arguments(y=1, x=3)
    maker.event(REGION_BEGIN, b).event(REGION_END, b).event(REGION_SUSPEND, a)
    maker.run(REGION_RESUME, a, 2)
    maker.event(REGION_UNWIND, a)
    maker.run(REGION_RESUME, a, 1)
    maker.event(REGION_END, a)
    found = [(line["name"], line["ts"] - BASE, line["dur"], line["args"]) for line in maker.lines()]
    assert found == [("b", 60, 10, {}),
                     ("a", 30, 70, {"comp": "io", "x": 2, "running": 20, "slices": 2, "ended": "exception"}),
                     ("a", 10, 110, {"comp": "io", "x": 3, "y": 1, "running": 50, "slices": 3})]


def test_a_region_inside_of_a_run_waits_with_it(maker):
    a, b, c = (maker.process.region("C", name) for name in "abc")
    maker.run(REGION_BEGIN, a, 9)
    maker.event(REGION_BEGIN, b).event(REGION_BEGIN, c)
    maker.arguments(of="c")
    maker.event(REGION_SUSPEND, c, 0).event(REGION_SUSPEND, b, 0).event(REGION_SUSPEND, a, 0)
    maker.run(REGION_RESUME, a, 9)
    maker.event(REGION_RESUME, b, 0).event(REGION_RESUME, c, 0)
    maker.arguments(more=1)
    maker.event(REGION_END, c).event(REGION_END, b)
    maker.event(REGION_END, a)
    found = [(line["name"], line["ts"] - BASE, line["dur"], line["args"]) for line in maker.lines()]
    assert found == [("c", 30, 20, {"of": "c", "more": 1, "running": 10, "slices": 2}),
                     ("b", 20, 40, {"running": 30, "slices": 2}),
                     ("a", 10, 60, {"running": 50, "slices": 2})]


def test_a_region_that_steps_aside(maker):
    """One below it ends: it goes on as the same call."""
    a, b = maker.process.region("C", "a"), maker.process.region("C", "b")
    maker.event(REGION_BEGIN, a).event(REGION_BEGIN, b)
    maker.arguments(x=1)
    maker.stream.run(maker.ticks, b, 2**63 + 1)
    maker.event(REGION_SUSPEND, b, 0).event(REGION_END, a, 0)
    maker.run(REGION_RESUME, b, 2**63 + 1)
    maker.arguments(y=2)
    maker.event(REGION_END, b)
    found = [(line["name"], line["ts"] - BASE, line["dur"], line["args"]) for line in maker.lines()]
    assert found == [("a", 10, 10, {}), ("b", 20, 20, {"x": 1, "y": 2, "running": 10, "slices": 2})]


def test_regions_of_one_name_inside_of_a_run_are_told_apart_by_number(maker):
    a, b = maker.process.region("C", "a"), maker.process.region("C", "b")
    maker.run(REGION_BEGIN, a, 1)
    for number in [11, 12]:
        maker.run(REGION_BEGIN, b, number)
        maker.arguments(number=number)
        maker.event(REGION_SUSPEND, b)
    for number in [11, 12]:
        maker.run(REGION_RESUME, b, number)
        maker.event(REGION_END, b)
    maker.run(REGION_BEGIN, b, 13)
    maker.arguments(number=13)
    maker.event(REGION_SUSPEND, b).event(REGION_END, a)
    maker.run(REGION_RESUME, b, 13)
    maker.event(REGION_END, b)
    assert [(line["name"], line["args"].get("number"), line["args"]["slices"]) for line in maker.lines()] == [
        ("b", 11, 2), ("b", 12, 2), ("a", None, 1), ("b", 13, 2)]


def test_a_run_that_nobody_resumed(maker):
    a = maker.process.region("C", "a")
    maker.run(REGION_BEGIN, a, 7)
    maker.arguments(x=1)
    maker.event(REGION_SUSPEND, a)
    maker.event(REGION_BEGIN, a).event(REGION_END, a)
    found = [(line["ts"] - BASE, line["dur"], line["args"]) for line in maker.lines()]
    assert found == [(30, 10, {}), (10, 10, {"x": 1, "running": 10, "slices": 1, "ended": "yield"})]


def test_a_run_over_greenlets(maker):
    a, b = maker.process.region("C", "a"), maker.process.region("C", "b")
    maker.run(REGION_BEGIN, a, 7)
    maker.event(REGION_BEGIN, b)
    maker.arguments(x=1)
    maker.event(STACK_SWITCH, 1).event(STACK_SWITCH, 0)
    maker.event(REGION_END, b).event(REGION_END, a)
    found = [(line["name"], line["ts"] - BASE, line["dur"], line["args"]) for line in maker.lines()]
    assert found == [("b", 20, 10, {"x": 1, "ended": "switch"}), ("b", 40, 10, {"x": 1}),
                     ("a", 10, 50, {"running": 40, "slices": 2})]


def test_spans_told_afterwards_and_moments(maker):
    log, point = maker.process.region("IO", "log", "io"), maker.process.region("Step", "mark")
    key, other = maker.key("size"), maker.key("name")
    outer = maker.process.region("C", "outer")
    maker.event(REGION_BEGIN, outer)
    maker.stream.span(maker.ticks, log, mktrace.START_REAL + 3_999, 2_500, [(key, 4096), (other, "y" * 9000)])
    maker.arguments(of="outer")
    maker.stream.span(maker.ticks, log, -1_500, 1_000)
    maker.stream.point(maker.ticks, point, [(key, 1)])
    maker.stream.point(maker.ticks, point)
    maker.event(REGION_END, outer)
    lines = maker.lines()
    assert [(line["cat"], line["name"], line["ts"] - BASE, line["dur"], line["ph"]) for line in lines] == [
        ("IO", "log", 3, 3, 1), ("IO", "log", -2 - BASE, 1, 1), ("Step", "mark", 10, 0, 1), ("Step", "mark", 10, 0, 1),
        ("C", "outer", 10, 10, 1)]
    assert [line["args"] for line in lines] == [{"comp": "io", "size": 4096, "name": "y" * 9000}, {"comp": "io"}, {"size": 1}, {},
                                                {"of": "outer"}]


def test_arguments_that_do_not_come(maker):
    """Another event, or the end, comes first: a damaged trace."""
    log, outer = maker.process.region("IO", "log"), maker.process.region("C", "outer")
    maker.stream.event(maker.ticks, mktrace.SPAN, log, more=mktrace.struct.pack("<qQII", 0, 5, 3, 0))
    maker.arguments(a=1)
    maker.event(REGION_BEGIN, outer)
    maker.arguments(b=2)
    maker.event(REGION_END, outer)
    maker.stream.event(maker.ticks, mktrace.POINT, log, more=mktrace.struct.pack("<II", 2**32 - 1, 0))
    maker.arguments(c=3)
    assert [(line["name"], line["args"]) for line in maker.lines()] == [("log", {"a": 1}), ("outer", {"b": 2}), ("log", {"c": 3})]


def test_too_many_arguments(maker):
    region = maker.process.region("C", "f")
    maker.event(REGION_BEGIN, region)
    for number in range(1500):
        maker.stream.argument(maker.ticks, maker.process.key("k%d" % number), "z" * 5000 if number > 1000 else number)
    maker.stream.argument(maker.ticks, 2, "last")
    maker.event(REGION_END, region)
    args = maker.lines()[0]["args"]
    assert len(args) == 1024 and args["k0"] == "last" and args["k1023"] == "z" * 5000


def test_counters_and_metadata(maker):
    loss = maker.process.region("train", "loss")
    for value in [0.5, math.nan, -3.0]:
        maker.ticks += 10 * US
        maker.stream.counter(maker.ticks, loss, value)
    maker.stream.text(maker.ticks, METADATA, maker.key("git"), "abc" * 3000)
    maker.stream.text(maker.ticks, METADATA, maker.key("shape"), "[1, 2]", JSON)
    lines = maker.lines()
    assert [(line["cat"], line["name"], line["ts"] - BASE, line["ph"], line["args"]) for line in lines] == [
        ("train", "loss", 10, 2, {"loss": 0.5}), ("train", "loss", 20, 2, {"loss": "NaN"}), ("train", "loss", 30, 2, {"loss": -3.0})]
    assert all("dur" not in line and "id" not in line for line in lines)
    entries = [line for line in exported.pfw_lines(maker.folder.with_name("out.pfw")) if line["name"] == "CM" and line["type"] == 6]
    assert [(line["ph"], line["args"]["name"], line["args"]["value"]) for line in entries] == [
        (4, "git", "abc" * 3000), (4, "shape", [1, 2])]


def test_the_1x_dialect(maker):
    region, mark, loss = maker.process.region("IO", "read", "io"), maker.process.region("S", "mark"), maker.process.region("S", "loss")
    maker.event(REGION_BEGIN, region)
    maker.arguments(epoch=1)
    maker.stream.point(maker.ticks, mark)
    maker.stream.counter(maker.ticks, loss, 1.5)
    maker.stream.text(maker.ticks, METADATA, maker.key("k"), "v")
    maker.event(REGION_END, region)
    maker.process.end()
    path = maker.folder.with_name("out.pfw")
    exported.export(maker.folder, path, "--to", "pfw1")
    first, *rest, last = path.read_text().splitlines()
    assert (first, last) == ("[", "]") and not any(line.endswith(",") for line in rest)
    lines = [exported.strict_json(line) for line in rest]
    assert [line["id"] for line in lines] == list(range(1, len(lines) + 1)) and not any("type" in line for line in lines)
    assert {line["ph"] for line in lines} == {"M", "X", "i", "C"}
    by_name = {line["name"]: line for line in lines if line["cat"] != "dftracer"}
    assert by_name["read"]["ph"] == "X" and by_name["read"]["args"]["epoch"] == 1 and by_name["read"]["dur"] == 10
    assert by_name["mark"]["ph"] == "i" and by_name["loss"]["args"] == {"loss": 1.5}
    names = [line["args"]["name"] for line in lines if line["name"] == "thread_name" and line["ph"] == "M"]
    assert names == ["MainThread"]


def test_no_region_of_a_key_in_any_listing(maker):
    region = maker.process.region("C", "f")
    maker.event(REGION_BEGIN, region)
    maker.arguments(some_key=1)
    maker.event(REGION_END, region)
    maker.process.end()
    for command in ["report", "report --tree", "report --json", "info"]:
        done = exported.tools.lextrace(*command.split(), maker.folder)
        assert done.returncode == 0 and "some_key" not in done.stdout, command


def test_spans_told_afterwards_are_calls_in_the_report(maker):
    log = maker.process.region("IO", "log")
    for _ in range(3):
        maker.stream.span(maker.ticks, log, mktrace.START_REAL, 2_000_000)
    maker.process.end()
    whole = json.loads(exported.tools.lextrace("report", "--json", maker.folder).stdout)
    found = [row for row in whole["functions"] if row["name"] == "IO/log"]
    assert len(found) == 1 and found[0]["calls"] == 3, whole
