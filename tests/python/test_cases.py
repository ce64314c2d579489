"""The collection of hard programs that may lie beside the checkout, each with its right values."""
import json
import re
import signal
import sys
import time
from collections import Counter

import pytest

import lextrace_tools as tools

CASES = tools.ROOT.parent / "shared" / "cases"
MONITORING = sys.version_info >= (3, 12)

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no folder of cases beside the checkout")


@pytest.fixture
def case(trace):
    def run(number, args=(), **more):
        program, = CASES.glob("%02d-*/prog.py" % number)
        return trace.same(program, args=args, **more)
    return run


def of(result, **names):
    counts = result.counts("prog.py")
    return {name: counts[name] for name in names} == names


def bodies(result, *names):
    return [one for one in tools.slices(result.run.main)[0] if one.name in names and tools.wanted(one, "prog.py")]


def chrome(result, tmp_path):
    """The Chrome JSON of a run, checked: slices of a track only nest. Gives the names that begin, with their track."""
    path = tmp_path / "out.json"
    done = tools.lextrace("export", result.folder, "--to", "chrome", "-o", path)
    assert done.returncode == 0, done.said
    data = json.loads(path.read_bytes().decode("utf-8"))
    begun, stacks, last = [], {}, {}
    for record in data["traceEvents"]:
        track = record.get("pid"), record.get("tid")
        if record["ph"] == "B":
            stacks.setdefault(track, []).append(record["name"])
            begun.append((record["name"], track))
        elif record["ph"] == "E":
            stacks[track].pop()
        if record["ph"] in "BE":
            assert record["ts"] >= last.get(track, 0)
            last[track] = record["ts"]
    assert not any(stacks.values()), "every slice is closed"
    return data, begun


def test_01_os_exit_now(case, tmp_path):
    result = case(1)
    assert (result.returncode, result.stdout) == (7, "total 55\n")
    assert of(result, open_till=1, add_item=5, shopping_day=1, close_shop=1)
    _, begun = chrome(result, tmp_path)
    assert Counter(name for name, _ in begun)["shopping_day"] == Counter(name for name, _ in begun)["close_shop"] == 1
    report = json.loads(tools.lextrace("report", "--json", result.folder).stdout)
    assert "shopping_day" in json.dumps(report) and "close_shop" in json.dumps(report)


def test_03_sigterm_default(case):
    started = time.monotonic()
    result = case(3)
    assert time.monotonic() - started < 10
    assert (result.returncode, result.stdout) == (-signal.SIGTERM, "open\n")
    assert of(result, warm_up=4, wait_for_orders=1, shutter=1)
    assert bodies(result, "wait_for_orders")[0].how is None
    assert bodies(result, "shutter")[0].thread != bodies(result, "wait_for_orders")[0].thread


def test_05_generator_abandoned(case):
    result = case(5)
    assert of(result, ticks=3, plain=3, note=3, tail_call=4, run=1)
    assert {one.parent.name for one in bodies(result, "note")} == {"ticks"}
    assert {one.parent.name for one in bodies(result, "tail_call")} == {"run"}
    assert all(one.how for one in bodies(result, "ticks", "plain"))
    assert tools.balance(result.run) == {}


def test_07_deep_unwind(case):
    result = case(7)
    assert result.stdout == "came up 25\n"
    assert of(result, dive=1525, buoy=75, wrap=25, surface=25, main=1)
    assert tools.balance(result.run) == {}
    surfaces = bodies(result, "surface")
    assert len({one.depth for one in surfaces}) == 1
    assert [max(one.depth for one in bodies(result, "dive", "buoy") if surface.begin <= one.begin <= surface.end)
            for surface in surfaces] == [max(one.depth for one in bodies(result, "dive", "buoy"))] * 25
    base = min(one.depth for one in bodies(result, "dive"))
    per_round = [one.depth - base - 1 for one in bodies(result, "buoy")]
    assert Counter(per_round) == {0: 25, 20: 25, 40: 25} and {one.parent.name for one in bodies(result, "buoy")} == {"dive"}


def test_09_asyncio_interleave(case, tmp_path):
    result = case(9)
    assert of(result, cook=3, nap=2, kitchen=1, stir=12)
    assert {one.parent.name for one in bodies(result, "stir")} == {"cook"}
    frequency = result.run.main.state["clock_frequency"]
    assert all((one.end - one.begin) / frequency < 0.04 for one in bodies(result, "nap", "cook"))
    assert tools.balance(result.run) == {}
    chrome(result, tmp_path)


def test_11_same_name_threads(case, tmp_path):
    result = case(11)
    assert result.stdout == "threads left 1\n"
    assert of(result, mill=7, grind=350)
    assert {one.parent.name for one in bodies(result, "grind")} == {"mill"}
    together = sorted(bodies(result, "mill"), key=lambda one: one.begin)[:4]
    assert len({one.thread for one in together}) == 4
    data, begun = chrome(result, tmp_path)
    tracks = [track for name, track in begun if name == "mill"]
    assert len(tracks) == 7 and len(set(tracks)) >= 4 and all(0 < tid < 2 ** 31 for _, tid in tracks)
    names = {(record["pid"], record["tid"]): record["args"]["name"] for record in data["traceEvents"]
             if record["ph"] == "M" and record["name"] == "thread_name"}
    assert {names[track] for track in tracks} == {"mill"}


def test_13_subinterp(case):
    result = case(13)
    assert result.outcome() == (0, "inner 21\ninner 21\nouter done\n", "")
    assert of(result, before_sub=3, after_sub=5)
    inner = result.counts()["inner_job"]
    assert inner == 12 or inner == 0 and "interpreter" in " ".join(result.said) + result.run.notes


def test_15_mp_spawn(case):
    result = case(15)
    assert (result.returncode, result.stdout) == (0, "[0, 2, 4, 20, 22, 24] [0, 0]\n")
    counts = [tools.counts(result.run, "prog.py", process=process) for process in result.run.processes]
    assert of(result, plough=6, worker=2, main=1) and counts[0]["main"] == 1
    assert sorted(count["worker"] for count in counts)[-3:] == [0, 1, 1] and counts[0]["worker"] == 0
    assert len({process.folder for process in result.run.processes}) == len(counts) >= 3


def test_17_subprocess_flags(case):
    result = case(17)
    assert result.returncode == 0
    assert re.findall(r" (\d+) 0$", result.stdout, re.M)[:1] == ["4"]
    children = [tools.counts(result.run, "<string>", process=process)["child_work"] for process in result.run.processes]
    assert 2 <= sum(children) <= 8 and set(children) <= {0, 2}


def test_19_qualified_names(case):
    result = case(19)
    assert result.stdout == "named\n"
    counts = result.counts("prog.py")
    wanted = {"Invoice.update": 2, "update": 2, "Order.update": 3, "Order.Line.update": 4, "make.<locals>.update": 5,
              "make": 5, "Invoice.total": 2, "Order.total": 3, "loud": 1, "loud.<locals>.wrapper": 1, "greet": 1}
    assert {name: counts[name] for name in wanted} == wanted
    assert {one.parent.name for one in bodies(result, "update")} == {"Invoice.update"}
    lambdas = Counter(one.line for one in bodies(result, "<lambda>"))
    assert sorted(lambdas.values()) == [6, 7]


@pytest.mark.parametrize("env", [{}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}], ids=["utf8", "ascii"])
def test_21_unicode_names(case, env, tmp_path):
    result = case(21, env=tools.clean_environment(**env))
    assert result.stdout == "size 10 first\n"
    counts = result.counts("prog.py")
    wanted = {"größe_berechnen": 3, "计算": 5, "first": 5, "Übung.старт": 2}
    assert {name: counts[name] for name in wanted} == wanted
    name = 'müller "7"\t\U0001f600'
    thread, = [number for number, names in result.run.main.threads.items() if name in names]
    assert {one.thread for one in bodies(result, "im_faden")} == {thread}
    data, begun = chrome(result, tmp_path)
    assert Counter(begin for begin, _ in begun)["计算"] == 5
    assert name in {record["args"]["name"] for record in data["traceEvents"] if record.get("name") == "thread_name"}


def test_23_main_semantics(case):
    result = case(23, args=["--flag", "-o", "a b"])
    assert result.returncode == 0 and result.stdout.endswith("stack depth 2\n")
    counts = result.counts("prog.py")
    assert (counts["main"], counts["Crate.__init__"]) == (1, 1) and counts["pack"] == 1


def test_25_cprofile_inside(case):
    result = case(25)
    assert (result.returncode, result.stdout) == (0, "cProfile saw [30] [5]\n")
    counts = result.counts("prog.py")
    if MONITORING:
        assert (counts["serve"], counts["bake"], counts["knead"]) == (12, 2, 35)
    else:
        assert counts["serve"] == 12 or 2 <= counts["serve"] < 12 and result.run.notes
    assert tools.balance(result.run) == {}


def test_29_hostile_repr(case):
    result = case(29)
    assert result.outcome() == (0, "touched {}\n", "")
    counts = result.counts("prog.py")
    wanted = {"carry": 5, "Thorny.hold": 5, "Half.__init__": 5, "check": 5, "main": 1}
    assert {name: counts[name] for name in wanted} == wanted
    assert case(29, options=["--c-calls"]).outcome() == (0, "touched {}\n", "")


def test_31_many_calls(case, tmp_path):
    result = case(31, compare=False)
    assert result.stdout == "odd 500000\n"
    assert of(result, leaf=1_000_000, branch=1000, main=1) and result.run.lost == 0
    assert "none lost" in result.said[0]
    done = tools.lextrace("export", result.folder, "--to", "chrome", "-o", tmp_path / "out.json")
    assert done.returncode == 0
    text = (tmp_path / "out.json").read_text()
    assert text.count('"leaf"') == 1_000_000 and text.rstrip().endswith("}")


def test_33_zip_import(case):
    result = case(33)
    assert result.outcome() == (0, "load 10 shelf 12\nzip main 1\n", "")
    counts = result.counts()
    assert {name: counts[name] for name in ("sack", "load", "shelf", "launch", "Attic.exec_module")} == \
        {"sack": 7, "load": 2, "shelf": 4, "launch": 1, "Attic.exec_module": 1}
    files = {one.name: one.file for one in tools.slices(result.run.main)[0] if one.name in ("sack", "shelf")}
    assert files["sack"].endswith("farm.zip/granary.py") and files["shelf"] == "<memory:attic>"


def test_35_closes_all_fds(case):
    result = case(35)
    assert result.returncode == 0 and result.stdout.startswith("own file whole True ")
    assert of(result, early=5, late=200, record=100, main=1)


def test_39_patched_clock(case):
    result = case(39)
    assert result.outcome() == (0, "year and span (2001, True)\n", "")
    main = result.run.main
    frequency = main.state["clock_frequency"]
    steps = bodies(result, "step")
    assert len(steps) == 30 and all((one.end - one.begin) / frequency >= 0.0029 for one in steps)
    assert all(later.begin >= one.end for one, later in zip(steps, steps[1:]))
    whole, = bodies(result, "main")
    assert (whole.end - whole.begin) / frequency >= 0.09
    assert abs(main.state["start_realtime"] / 1e9 - time.time()) < 3600
    assert result.counts("prog.py")["go_back"] == 0
