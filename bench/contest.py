"""Runs workloads under lextrace, the floors and the peers, in turn, pinned to one CPU."""
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEXTRACE = str(HERE.parent / ".venv" / "bin" / "lextrace")


@dataclass
class Outcome:
    """One run of a program: seconds, kB, bytes."""

    cpu: float       # of the process inside main()
    after: float     # from main()'s end to the process's
    whole: float     # from start to end
    whole_cpu: float
    peak: int        # kB of memory, inside main()
    status: int
    calls: int = 0
    c_calls: int = 0


class Runner:
    def __init__(self, cpu, scale):
        self.cpu, self.scale = cpu, scale
        self.work = Path(tempfile.mkdtemp(prefix="lextrace-bench-"))

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def run(self, command, scale=None, keep=None, floor=None, warm=None, more=None):
        """Runs it in an empty folder; {out} in a word is that folder, kept as `keep` if given. Gives an Outcome.

        warm: main() runs at this scale before it is measured. more: environment variables.
        """
        out = Path(tempfile.mkdtemp(prefix="run-", dir=self.work))
        mark = self.work / "mark"
        mark.unlink(missing_ok=True)
        env = {key: value for key, value in os.environ.items() if not key.startswith(("LEXTRACE_", "PYTHON", "PINSIGHT_"))}
        env.update(BENCH_OUT=str(mark), BENCH_SCALE=str(scale or self.scale), PYTHONDONTWRITEBYTECODE="1",
                   PYTHONPATH=os.pathsep.join([str(HERE / "workloads"), *([floor] if floor else [])]))
        if warm:
            env["BENCH_WARM"] = str(warm)
        env.update(more or {})
        words = [str(word).replace("{out}", str(out)) for word in command]
        with open(self.work / "log", "ab") as log:
            start = time.clock_gettime(time.CLOCK_MONOTONIC)
            process = subprocess.Popen(words, cwd=out, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       preexec_fn=lambda: os.sched_setaffinity(0, {self.cpu}))
            _, status, usage = os.wait4(process.pid, 0)
            end = time.clock_gettime(time.CLOCK_MONOTONIC)
            process.returncode = os.waitstatus_to_exitcode(status)
        inside = json.loads(mark.read_text()) if mark.exists() else {}
        if keep:
            shutil.rmtree(keep, ignore_errors=True)
            out.rename(keep)
        else:
            shutil.rmtree(out)
        return Outcome(inside.get("cpu", float("nan")), end - inside.get("end", float("nan")), end - start,
                       usage.ru_utime + usage.ru_stime, inside.get("peak", 0), process.returncode,
                       inside.get("calls", 0), inside.get("c_calls", 0))

    def sound(self, label, command, **more):
        """The same, and the end of the benchmark if the program fails."""
        outcome = self.run(command, **more)
        if outcome.status:
            raise SystemExit("bench: %s ended with status %d, see %s" % (label, outcome.status, self.work / "log"))
        return outcome


def script(name):
    return str(HERE / "workloads" / (name + ".py"))


def plain(bench, name):
    return [bench.python, script(name)]


def ours(bench, name, *options):
    return [LEXTRACE, "run", "-q", "-o", "{out}/trace", *options, bench.python, script(name)]


def monitoring(bench, name):
    return ["env", "PINSIGHT_TRACE_PYTHON=MONITORING", *ours(bench, name)]


def floors(bench, c_calls):
    """{label: words before the script}"""
    if bench.monitoring:
        kinds = {"empty floor": ("monitor", "empty"), "full floor": ("monitor", "full")}
        if c_calls:
            kinds = {"C pair floor": ("monitor", "c_pair")}
    else:
        kinds = {"empty floor": ("profile", "empty"), "full floor": ("profile", "record")}
    return {label: [bench.python, str(HERE / "floor" / "under.py"), *kind] for label, kind in kinds.items()}


def peers(bench):
    return {
        "cProfile": [bench.python, "-m", "cProfile", "-o", "{out}/stats"],
        "VizTracer": [bench.python, "-m", "viztracer", "--quiet", "-o", "{out}/trace.json", "--"],
        "VizTracer no C": [bench.python, "-m", "viztracer", "--quiet", "--ignore_c_function", "-o", "{out}/trace.json", "--"],
        "yappi": [bench.python, "-m", "yappi", "-c", "wall", "-o", "{out}/stats"],
    }


def count(runner, bench, name):
    """The workload with its calls counted, and nothing else done: an Outcome."""
    mode = "monitor" if bench.monitoring else "profile"
    return runner.run([bench.python, str(HERE / "floor" / "under.py"), mode, "count", script(name)], floor=bench.floor)


def contest(runner, bench, name, rounds, peer_rounds, c_calls=False, more=None):
    """All contestants on one workload, alternating, with `more`, {label: command}. Gives {label: [Outcome of each round]}
    and the numbers of calls."""
    counted = count(runner, bench, name)
    commands = {"untraced": plain(bench, name)}
    commands["lextrace"] = ours(bench, name, *(["--c-calls"] if c_calls else []))
    for label, words in floors(bench, c_calls).items():
        commands[label] = [*words, script(name)]
    commands.update(more or {})
    rivals = {label: [*words, script(name)] for label, words in peers(bench).items()}
    found = {label: [] for label in [*commands, *rivals]}
    for number in range(rounds + 1):
        for label, command in {**commands, **(rivals if 0 < number <= peer_rounds else {})}.items():
            outcome = runner.sound("%s on %s" % (label, name), command, floor=bench.floor)
            if number:  # the first round warms up
                found[label].append(outcome)
    return found, counted.calls, counted.c_calls


def added(found, label, calls):
    """Added ns a call, round by round: CPU time inside main() beyond the untraced program of the same round."""
    return [(mine.cpu - base.cpu) * 1e9 / calls for mine, base in zip(found[label], found["untraced"])]


def middle(values):
    values = [value for value in values if value == value]
    return statistics.median(values) if values else float("nan")
