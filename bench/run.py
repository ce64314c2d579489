"""`make bench`: lextrace against the untraced program, the floors and other tools, in one run, with the goals beside.

Contestants alternate, pinned to one CPU; what is compared is CPU time inside the workload's main(), medians of the rounds.
"""
import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from pathlib import Path

import annotations
import contest
import control
import prepare
import rows

WORKLOADS = ["fib", "calls", "json_like", "richards", "generators", "threads", "deep"]


def measure(runner, bench, options):
    rounds, quick = options.rounds, options.quick
    if options.only:
        yield from annotations.annotations(runner, bench)
        return
    peer_rounds = min(rounds, 1 if quick else 3)
    yield from rows.functions(runner, bench, options.workloads, rounds, peer_rounds)
    yield from rows.c_calls(runner, bench, rounds, peer_rounds)
    yield from control.left_out(runner, bench, 5 if quick else 21)
    yield from control.c_calls_of_one(runner, bench, 5 if quick else 21)
    yield from control.storm(runner, bench, 1 if quick else 5)
    yield from rows.start_up(runner, bench, 9 if quick else 31)
    yield from rows.long_run(runner, bench, 2 if quick else 10)
    yield from rows.killed(runner, bench)
    yield from rows.readers(runner, bench, 1 if quick else 2)
    yield from annotations.annotations(runner, bench)
    if not quick:
        yield from rows.peer_endings(runner, bench)


def number(value):
    if value is None or value != value:
        return "-"
    return "%.0f" % value if abs(value) >= 100 else "%.3g" % value


def cells(row):
    rivals = {name: value for name, value in row.peers.items() if value == value}
    best = min(rivals, key=rivals.get) if rivals else None
    return [row.python, row.name, number(row.value), row.unit, number(row.floor), row.goal,
            {True: "met", False: "NOT MET", None: ""}[row.met], "%s %s" % (best, number(rivals[best])) if best else "", row.note]


HEADER = ["python", "what", "lextrace", "unit", "floor", "goal", "", "best peer", "note"]


def table(found):
    lines = [HEADER, *[cells(row) for row in found]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    right = {2, 4}
    return "\n".join("  ".join(cell.rjust(width) if column in right else cell.ljust(width) for column, (cell, width)
                               in enumerate(zip(line, widths))).rstrip() for line in lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["annotations"], help="these rows alone")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and smaller runs, for development")
    parser.add_argument("-n", "--rounds", type=int, help="rounds of each contest (7; 3 with --quick)")
    parser.add_argument("-w", "--workloads", help="some of " + ",".join(WORKLOADS))
    parser.add_argument("--python", action="append", default=[], metavar="3.12", help="only this version; may come again")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)), help="the CPU to pin to")
    parser.add_argument("--scale", type=float, help="size of the workloads (1; 0.5 with --quick)")
    parser.add_argument("--json", default="build/bench.json", help="where the numbers go (build/bench.json)")
    options = parser.parse_args()
    options.rounds = options.rounds or (3 if options.quick else 7)
    options.scale = options.scale or (0.5 if options.quick else 1)
    options.workloads = options.workloads.split(",") if options.workloads else WORKLOADS[:4] if options.quick else WORKLOADS
    return options


def main():
    options = arguments()
    benches = list(prepare.prepare(options.python))
    if not benches:
        sys.exit("bench: no such interpreter was found")
    found = []
    print("# %s, CPU %d of %d, %d rounds, scale %g, load %.1f" % (
        platform.platform(), options.cpu, os.cpu_count(), options.rounds, options.scale, os.getloadavg()[0]), flush=True)
    for bench in benches:
        runner = contest.Runner(options.cpu, options.scale)
        for row in measure(runner, bench, options):
            found.append(row)
            print("#   " + "  ".join(cell for cell in cells(row) if cell), file=sys.stderr, flush=True)
        runner.close()
    print(table(found))
    target = Path(options.json)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"time": time.strftime("%Y-%m-%d %H:%M:%S"), "machine": platform.platform(),
                                  "rounds": options.rounds, "scale": options.scale, "load": os.getloadavg(),
                                  "rows": [dataclasses.asdict(row) for row in found]}, indent=1) + "\n")
    missed = sum(row.met is False for row in found)
    print("# %d of %d goals met; numbers in %s" % (sum(row.met is True for row in found),
                                                   missed + sum(row.met is True for row in found), target))


if __name__ == "__main__":
    main()
