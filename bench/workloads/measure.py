"""Runs a workload's main() and writes what it took to the file that BENCH_OUT names, as one line of JSON.

With BENCH_WARM main() runs at that scale before.
"""
import json
import os
import sys
import time


def measure(main):
    scale = float(os.environ.get("BENCH_SCALE", "1"))
    if "BENCH_WARM" in os.environ:
        main(float(os.environ["BENCH_WARM"]))
    floor = sys.modules.get("lextrace_floor")
    before = floor.counts() if floor else None
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    main(scale)
    wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
    found = {"wall": wall / 1e9, "cpu": cpu / 1e9, "end": time.clock_gettime(time.CLOCK_MONOTONIC)}
    with open("/proc/self/status") as status:
        found["peak"] = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    if floor:
        calls, c_calls = floor.counts()
        found.update(calls=calls - before[0], c_calls=c_calls - before[1])
    out = os.environ.get("BENCH_OUT")
    if out:
        with open(out, "w") as handle:
            json.dump(found, handle)
    else:
        print("main() took %.3f s, %.3f s of CPU" % (found["wall"], found["cpu"]))
