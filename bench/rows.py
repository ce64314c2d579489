"""The rows of the table: each function measures one thing and yields Rows."""
import json
import shutil
import subprocess
import time
from dataclasses import dataclass, field

import contest
from contest import LEXTRACE, added, middle

FIB_CALLS = 4 * 635_621  # of workloads/fib.py at scale 1
MONITORED = ("fib", "calls", "json_like")  # workloads that are measured in MONITORING, too


@dataclass
class Row:
    """One line: what lextrace takes, the floor beside it, the goal, and the best of the peers in the same run."""

    python: str
    name: str
    unit: str
    value: float
    goal: str = ""
    met: bool | None = None  # None: no goal
    floor: float | None = None
    peers: dict = field(default_factory=dict)
    note: str = ""


def functions(runner, bench, workloads, rounds, peer_rounds):
    """Added ns a call with every Python function recorded; the floor is that of the same rounds."""
    for name in workloads:
        more = {"MONITORING": contest.monitoring(bench, name)} if name in MONITORED else None
        found, calls, _ = contest.contest(runner, bench, name, rounds, peer_rounds, more=more)
        mine, floor = added(found, "lextrace", calls), added(found, "full floor", calls)
        ratio = middle([one / other for one, other in zip(mine, floor)])
        row = Row(bench.minor, "%s: added to a call" % name, "ns", middle(mine), "<= 1.15 floor", ratio <= 1.15, middle(floor))
        row.peers = {label: middle(added(found, label, calls)) for label in contest.peers(bench)}
        row.note = "%.2f of the floor, empty hook %.0f ns, ratio %.2f" % (
            ratio, middle(added(found, "empty floor", calls)),
            middle([one.cpu / base.cpu for one, base in zip(found["lextrace"], found["untraced"])]))
        yield row
        if more:
            yield monitoring(runner, bench, name, found, calls)


def monitoring(runner, bench, name, found, calls):
    kept = [recorded(runner, label, command)["calls"] for label, command in
            (("a trace", contest.ours(bench, name)), ("MONITORING", contest.monitoring(bench, name)))]
    if kept[0] != kept[1]:
        raise SystemExit("bench: of %s a trace has %d calls, MONITORING %d" % (name, *kept))
    mine, floor = added(found, "MONITORING", calls), added(found, "full floor", calls)
    ratio = middle([one / other for one, other in zip(mine, floor)])
    row = Row(bench.minor, "%s: added to a call in MONITORING" % name, "ns", middle(mine), floor=middle(floor),
              note="%.2f of the floor" % ratio)
    if bench.monitoring:
        row.goal, row.met = "<= 1.10 floor", ratio <= 1.10
    row.peers = {"cProfile": middle(added(found, "cProfile", calls))}
    return row


def c_calls(runner, bench, rounds, peer_rounds):
    found, _, calls = contest.contest(runner, bench, "ctraffic", rounds, peer_rounds, c_calls=True)
    label = "C pair floor" if bench.monitoring else "empty floor"
    mine, floor = added(found, "lextrace", calls), added(found, label, calls)
    ratio = middle([one / other for one, other in zip(mine, floor)])
    row = Row(bench.minor, "ctraffic --c-calls: added to a C call", "ns", middle(mine), "<= 1.5 empty pair", ratio <= 1.5,
              middle(floor), note="%.2f of the pair" % ratio)
    row.peers = {name: middle(added(found, name, calls)) for name in contest.peers(bench)}
    del row.peers["VizTracer no C"]
    yield row


def start_up(runner, bench, rounds):
    """An empty script, from start to end."""
    base, mine = [], []
    for number in range(rounds + 1):
        first, second = runner.run(contest.plain(bench, "empty")), runner.run(contest.ours(bench, "empty"))
        if number:
            base.append(first)
            mine.append(second)
    gain = [(one.whole - other.whole) * 1e3 for one, other in zip(mine, base)]
    cpu = [(one.whole_cpu - other.whole_cpu) * 1e3 for one, other in zip(mine, base)]
    yield Row(bench.minor, "empty script: added start to end", "ms", middle(gain), "<= 10 ms", middle(gain) <= 10,
              note="%.1f ms of CPU; untraced %.1f ms" % (middle(cpu), middle([one.whole * 1e3 for one in base])))


def report_of(folder):
    return json.loads(subprocess.run([LEXTRACE, "report", "--json", str(folder)], capture_output=True, check=True).stdout)


def recorded(runner, label, command, scale=None, warm=None):
    """What the command records, as `lextrace report --json` says it."""
    keep = runner.work / "recorded"
    runner.sound(label, command, scale=scale, keep=keep, warm=warm)
    report = report_of(keep / "trace")
    shutil.rmtree(keep)
    return report


def calls_of(report, name):
    return sum(one["calls"] for one in report["functions"] if one["name"] == name)


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def long_run(runner, bench, scale):
    """One long run: nothing lost, bytes, memory, the end, and how a short one compares."""
    keep = runner.work / "long"
    small = runner.run(contest.ours(bench, "fib"), scale=0.25)
    small_base = runner.run(contest.plain(bench, "fib"), scale=0.25)
    base = runner.run(contest.plain(bench, "fib"), scale=scale)
    mine = runner.run(contest.ours(bench, "fib"), scale=scale, keep=keep)
    report = report_of(keep / "trace")
    calls = round(4 * scale) * FIB_CALLS // 4
    kept, lost = calls_of(report, "fib"), report["lost"]["events"]
    what = "fib, %.1f M events: " % (2 * calls / 1e6)
    yield Row(bench.minor, what + "kept", "%", 100 * kept / calls, "all, or losses counted", kept == calls or lost > 0,
              note="%d lost" % lost)
    per_event = size_of(keep / "trace") / report["events"]
    yield Row(bench.minor, what + "folder, bytes an event", "B", per_event, "8", per_event <= 8.1)
    end = (mine.after - base.after) * 1e3
    yield Row(bench.minor, what + "end of main() to the whole trace", "ms", end, "<= 20 ms", end <= 20,
              note="after 1.3 M events %.1f ms" % ((small.after - small_base.after) * 1e3))
    memory = (mine.peak - base.peak) / 1024
    yield Row(bench.minor, what + "added peak memory", "MB", memory, "<= 8 MB, constant", memory <= 8,
              note="after 1.3 M events %.1f MB" % ((small.peak - small_base.peak) / 1024))
    shutil.rmtree(keep)


def killed(runner, bench):
    keep = runner.work / "killed"
    outcome = runner.run(contest.ours(bench, "killed"), scale=1, keep=keep)
    kept = calls_of(report_of(keep / "trace"), "leaf") / 1e4
    yield Row(bench.minor, "1 M calls, then SIGKILL: kept", "%", kept, "100 %", kept == 100 and outcome.status == -9)
    shutil.rmtree(keep)


def timed(runner, command, times):
    """Median seconds (wall, CPU) of a command on the pinned CPU, after one run that warms the page cache."""
    outcomes = [runner.run(command) for _ in range(times + 1)][1:]
    if any(outcome.status for outcome in outcomes):
        raise SystemExit("bench: %s failed, see %s" % (" ".join(command), runner.work / "log"))
    return middle([one.whole for one in outcomes]), middle([one.whole_cpu for one in outcomes])


def readers(runner, bench, scale):
    """What the answer takes on 10 million events, and a file for Perfetto."""
    keep = runner.work / "read"
    runner.run(contest.ours(bench, "fib"), scale=scale, keep=keep)
    trace = str(keep / "trace")
    events = report_of(trace)["events"]
    what = "%.1f M events: " % (events / 1e6)
    wall, cpu = timed(runner, [LEXTRACE, "report", trace], 5)
    goal = 0.15 * events / 1e7
    yield Row(bench.minor, what + "lextrace report", "s", wall, "<= 0.15 s for 10 M", wall <= goal,
              note="%.1f ns an event, %.3f s of CPU" % (wall * 1e9 / events, cpu))
    _, cpu = timed(runner, [LEXTRACE, "export", trace, "--to", "perfetto", "-o", "{out}/file"], 3)
    each = cpu * 1e6 / events
    yield Row(bench.minor, what + "export --to perfetto, CPU an event", "us", each, "<= 0.15 us", each <= 0.15)
    _, cpu = timed(runner, [LEXTRACE, "export", trace, "--to", "pfw", "-o", "{out}/file"], 3)
    each = cpu * 1e6 / events
    yield Row(bench.minor, what + "export --to pfw, CPU an event", "us", each, "<= 0.5 us", each <= 0.5)
    shutil.rmtree(keep)


def peer_endings(runner, bench):
    """How long VizTracer takes to its file, and what it keeps of a run: for comparison."""
    keep = runner.work / "peer"
    command = [*contest.peers(bench)["VizTracer"], contest.script("fib")]
    started = time.monotonic()
    outcome = runner.run(command, scale=1, keep=keep)
    with open(keep / "trace.json", "rb") as handle:
        events = sum(block.count(b'"ph":"X"') for block in iter(lambda: handle.read(1 << 20), b""))
    yield Row(bench.minor, "VizTracer, %.1f M calls: kept" % (FIB_CALLS / 1e6), "%", 100 * events / FIB_CALLS,
              note="end of main() to file %.1f s, %d MB of memory before that, %.0f B a call, %.1f s in all" % (
                  outcome.after, outcome.peak // 1024, size_of(keep) / max(events, 1), time.monotonic() - started))
    shutil.rmtree(keep)


def package(runner, more=None):
    """A folder with nothing but the package lextrace that was built, and one `more` of its kind, for PYTHONPATH."""
    folder = runner.work / ("package" + (more or ""))
    if not folder.exists():
        folder.mkdir()
        for name in ["lextrace", more] if more else ["lextrace"]:
            built, = (contest.HERE.parent / ".venv" / "lib").glob("python3*/site-packages/" + name)
            (folder / name).symlink_to(built)
    return folder
