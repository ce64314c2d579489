"""The rows on configurations: what a configuration leaves out must cost nothing."""
import contest
from contest import middle
from rows import Row, calls_of, recorded

RATIO = 1.02  # what can't be told from the untraced program
SCALE = 2     # of these workloads: a ratio of 1.02 needs some length
WARM = 0.25   # before that: the first calls use their windows up, and end
CAP = 1       # main() is one of those functions
PINSIGHT = "PInsight, measured apart, adds 80-260 ns"

NO_C_CALLS = "[Python.default]\npysysmon_c_start = off\npysysmon_c_return = off\n"
LEFT_OUT = {
    "STANDBY": "[Python.default]\ntrace_mode = STANDBY\n",
    "OFF": "[Python.default]\ntrace_mode = OFF\n",
    "no rule records": "[Lexgion(Python).default]\nmax_num_traces = 0\n",
    "windows used up": "[Lexgion(Python).default]\nmax_num_traces = %d\n" % CAP,
}
ONE_CALLER = NO_C_CALLS + """
[Lexgion(Python).default]
max_num_traces = 0
[Lexgion(Python:wanted)]
pysysmon_c_start = on
pysysmon_c_return = on
"""
CAPPED = NO_C_CALLS + "[Lexgion(Python).default]\nmax_num_traces = 8\n"


def configured(runner, bench, name, label, text):
    path = runner.work / (label.replace(" ", "-") + ".conf")
    path.write_text(text)
    return contest.ours(bench, name, "-c", str(path))


def rounds_of(runner, commands, rounds, scale, warm=None):
    """Outcomes by label, of as many rounds. Each round begins with another of the commands; the first one warms up."""
    found = {label: [] for label in commands}
    for number in range(rounds + 1):
        order = list(commands.items())
        for label, command in order[number % len(order):] + order[:number % len(order)]:
            outcome = runner.sound(label, command, scale=scale, warm=warm)
            if number:
                found[label].append(outcome)
    return found


def python_calls(report):
    return sum(one["calls"] for one in report["functions"] if not one["c"])


def check(true, label, report):
    if not true:
        raise SystemExit("bench: %s: recorded %d calls, %d events" % (label, report["calls"], report["events"]))


def ratio_row(bench, name, found, label, calls, goal):
    """The median of the ratios to the untraced program, round by round; beside it that of two untraced runs."""
    pairs = list(zip(found[label], found["untraced"], found["again"]))
    ratio = middle([2 * mine.cpu / (base.cpu + again.cpu) for mine, base, again in pairs])
    gain = middle([(mine.cpu - (base.cpu + again.cpu) / 2) * 1e9 / calls for mine, base, again in pairs])
    best = min(mine.cpu for mine, _, _ in pairs) / min(min(base.cpu, again.cpu) for _, base, again in pairs)
    noise = middle([abs(again.cpu / base.cpu - 1) for _, base, again in pairs])
    return Row(bench.minor, name, "ratio", ratio, "<= %.2f" % RATIO if goal else "", ratio <= RATIO if goal else None,
               note="%+.1f ns a call; best by best %.2f; two untraced runs differ by %.1f %%; %s" % (
                   gain, best, 100 * noise, PINSIGHT))


def left_out(runner, bench, rounds):
    """Modes, functions and windows under which nothing is recorded (any more)."""
    scale = SCALE * runner.scale
    for name in ("fib", "calls", "json_like"):
        calls = contest.count(runner, bench, name).calls * SCALE
        commands = {label: configured(runner, bench, name, label, text) for label, text in LEFT_OUT.items()}
        for label, command in commands.items():
            report = recorded(runner, label, command, scale, WARM)
            check(0 < python_calls(report) <= CAP * report["functions_called"] if label == "windows used up" else
                  report["calls"] == 0, label, report)
        commands.update(untraced=contest.plain(bench, name), again=contest.plain(bench, name))
        found = rounds_of(runner, commands, rounds, scale, WARM)
        for label in LEFT_OUT:
            # 3.11 can't switch off the events of one function.
            yield ratio_row(bench, "%s, %s" % (name, label), found, label, calls,
                            bench.monitoring or label in ("STANDBY", "OFF"))


def c_calls_of_one(runner, bench, rounds):
    scale = SCALE * runner.scale
    command = configured(runner, bench, "one_caller", "one caller", ONE_CALLER)
    report = recorded(runner, "one caller", command, scale)
    times = len(range(0, round(1000 * scale), 100))
    check((calls_of(report, "wanted"), calls_of(report, "len")) == (times, 10 * times), "one caller", report)
    calls = contest.count(runner, bench, "one_caller").c_calls * SCALE
    commands = {"mine": command, "untraced": contest.plain(bench, "one_caller"), "again": contest.plain(bench, "one_caller")}
    row = ratio_row(bench, "C calls of one function: the rest", rounds_of(runner, commands, rounds, scale), "mine", calls,
                    bench.monitoring)
    row.note = row.note.replace(PINSIGHT, "under PInsight the whole program pays")
    yield row


def storm(runner, bench, rounds):
    """Windows that are used up in all threads but the newest ones, ten thousand times."""
    threads = round(10_000 / 8 * runner.scale) * 8
    commands = {"capped": configured(runner, bench, "storm", "capped", CAPPED), "full": contest.ours(bench, "storm"),
                "untraced": contest.plain(bench, "storm")}
    report = recorded(runner, "capped", commands["capped"], None)
    check([calls_of(report, name) for name in ("work", "node", "leaf")] == [threads, 8 * threads, 8 * threads], "capped",
          report)
    found = rounds_of(runner, commands, rounds, None)
    gain = {label: middle([(mine.cpu - base.cpu) * 1e6 / threads for mine, base in zip(found[label], found["untraced"])])
            for label in ("capped", "full")}
    yield Row(bench.minor, "%d threads, 8 calls a function each: added to a thread" % threads, "us", gain["capped"],
              "<= full trace", gain["capped"] <= gain["full"], floor=gain["full"],
              note="the floor is the full trace; untraced %.0f us a thread" % middle(
                  [one.cpu * 1e6 / threads for one in found["untraced"]]))
