#!/usr/bin/env python3
"""Makes a small run whose every figure is known, for the golden tests: `sample RUN [KIND]`.

KIND: whole (one process that ended well: imports, recursion, a generator, C calls, a region, an exception, two threads),
family (that one and a child that was killed, with losses), empty (no event), torn, standby (no event, as configured),
monitoring (calls counted, not recorded), onesided (events switched off, then on again), switched (MONITORING, then
TRACING, then STANDBY while two threads are in calls).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import mktrace  # noqa: E402

US = mktrace.FREQUENCY // 1_000_000  # ticks
APP, LIB = "/home/user/app/", "/usr/lib/python3.12/"
ARGV = ("/usr/bin/python3", "app.py", "--size", "3 x 4")


class Program:
    def __init__(self, run, pid, parent=1, start=0, argv=ARGV):
        self.process = mktrace.Process(run, pid=pid, parent=parent, start=10**15 + start * US, argv=argv, program="app",
                                       c_calls=True, start_real=mktrace.START_REAL + start * 1000)
        self.process.threads = 0
        self.ids = {}

    def function(self, name, place="", flags=0, domain=mktrace.PYTHON):
        """The lexgion of a name; "solver.py:12" is its place when it is first met."""
        if name not in self.ids:
            file, _, line = place.rpartition(":")
            self.ids[name] = self.process.lexgion(name.split("@")[0], file, int(line or 0), domain, flags)
        return self.ids[name]


class Thread:
    """Writes calls; `self.at` is the time in us since the process's start."""

    def __init__(self, program, number, name, at=1.0):
        self.program, self.at = program, at
        self.stream = program.process.stream(number)
        self.stream.begin_thread(number, program.process.pid + number, name, self.ticks())
        program.process.threads += 1

    def ticks(self):
        return self.program.process.start + int(self.at * US)

    def event(self, kind, name):
        self.stream.event(self.ticks(), kind, self.program.ids[name])

    def run(self, us):
        self.at += us

    def call(self, name, us, *inner, how=mktrace.FUNCTION_END, begin=mktrace.FUNCTION_BEGIN):
        """One call: half of its own time, the calls inside (functions of no argument), the other half."""
        self.event(begin, name)
        self.run(us / 2)
        for call in inner:
            call()
        self.run(us / 2)
        if how is not None:
            self.event(how, name)

    def c_call(self, name, us):
        self.call(name, us, begin=mktrace.C_CALL_BEGIN, how=mktrace.C_CALL_END)


def define(program):
    define = program.function
    define("<module>", APP + "app.py:1")
    define("main", APP + "app.py:40")
    define("Solver.run", APP + "solver.py:12")
    define("Solver.step", APP + "solver.py:30")
    define("fib", APP + "solver.py:50")
    define("rows", APP + "solver.py:70", mktrace.FLAG_GENERATOR)
    define("Worker.work", APP + "worker.py:8")
    define("loads", LIB + "json/__init__.py:299")
    define("JSONDecoder.decode", LIB + "json/decoder.py:332")
    define("_find_and_load", "<frozen importlib._bootstrap>:1349")
    define("<module>@json", LIB + "json/__init__.py:1")
    define("Thread._bootstrap", LIB + "threading.py:1014")
    define("len", "", mktrace.FLAG_C)
    define("IO/read_loop", "", 0, mktrace.USER)


def fib(thread, n):
    inner = [lambda: fib(thread, n - 1), lambda: fib(thread, n - 2)] if n > 1 else []
    thread.call("fib", 2, *inner)


def solve(thread, steps):
    for step in range(steps):
        failed = step % 10 == 9
        thread.call("Solver.step", 30, lambda: thread.c_call("len", 0.5), lambda: fib(thread, 4),
                    how=mktrace.FUNCTION_UNWIND if failed else mktrace.FUNCTION_END)


def main_thread(program):
    thread = Thread(program, 0, "MainThread")
    call = thread.call
    imports = lambda: call("_find_and_load", 40, lambda: call("<module>@json", 150))  # noqa: E731

    def generate():
        thread.event(mktrace.FUNCTION_BEGIN, "rows")
        for _ in range(5):
            thread.run(8)
            thread.event(mktrace.FUNCTION_YIELD, "rows")
            thread.run(3)
            thread.event(mktrace.FUNCTION_RESUME, "rows")
        thread.run(2)
        thread.event(mktrace.FUNCTION_END, "rows")

    read = lambda: call("loads", 5, lambda: call("JSONDecoder.decode", 95))  # noqa: E731
    region = lambda: call("IO/read_loop", 12, read, begin=mktrace.REGION_BEGIN, how=mktrace.REGION_END)  # noqa: E731
    work = lambda: call("Solver.run", 100, lambda: solve(thread, 20), generate)  # noqa: E731
    call("<module>", 60, imports, lambda: call("main", 50, region, work))
    return thread


def second_thread(program):
    thread = Thread(program, 1, "Worker-1", at=400)
    thread.call("Thread._bootstrap", 10, lambda: thread.call("Worker.work", 700, lambda: solve(thread, 5)))
    return thread


def whole(run):
    program = Program(run, 5_000_000)
    define(program)
    main_thread(program)
    second_thread(program)
    return program


def family(run):
    whole(run).process.end(exit_status=3)
    child = Program(run, 5_000_001, parent=5_000_000, start=1500, argv=("/usr/bin/python3", "-m", "worker", "it's"))
    define(child)
    thread = Thread(child, 0, "MainThread")
    solve(thread, 3)
    thread.stream.lose(0, 1200)
    thread.stream.lose(4, 4)
    thread.call("main", 20, lambda: thread.call("Solver.run", 80, lambda: solve(thread, 2), how=None), how=None)
    child.process.kill()


CONFIG = """[Python.default]
    trace_mode = %s
[Lexgion(Python:Solver.*, Python:Solvr.run)]
    max_num_traces = 3
[Lexgion(User:IO/*)] : User.default
"""


def configure(process, mode, name):
    process.config("/home/user/trace.conf", CONFIG % name)
    process.modes[mktrace.PYTHON] = mode
    if mode != mktrace.TRACING:
        process.journal(process.start + 5 * US, "mode Python %s by start" % name)


def standby(run):
    process = mktrace.Process(run)
    configure(process, mktrace.STANDBY, "STANDBY")
    process.end()


def count(program, thread, name, calls, total, own):
    program.process.row(thread, program.ids[name], calls, int(total * US), int(own * US))


def monitoring(run):
    program = Program(run, 5_000_000)
    process = program.process
    define(program)
    configure(process, mktrace.MONITORING, "MONITORING")
    process.bounded = 1_000_000
    count(program, 0, "main", 1, 9000, 500)
    count(program, 0, "Solver.run", 20, 8500, 1500)
    count(program, 0, "fib", 1_204_000, 7000, 7000)
    count(program, 1, "fib", 97, 40, 40)
    process.row(1, program.ids["len"], seen=5, recorded=5, opened=process.start + US)  # a window, nothing counted
    process.name_thread(0, process.pid, "MainThread")
    process.name_thread(1, process.pid + 1, "Worker-1")
    process.write_lexgions()
    process.write_state(1, 0, process.start + 10_000 * US)


def switched(run):
    program = Program(run, 5_000_000)
    process = program.process
    define(program)
    program.ids["import json"] = process.lexgion("json", "", 0, mktrace.PYTHON, mktrace.FLAG_IMPORT)
    configure(process, mktrace.STANDBY, "TRACING")
    process.journal(process.start + 5 * US, "mode Python MONITORING by PINSIGHT_TRACE_PYTHON")
    count(program, 0, "fib", 100, 30, 20)
    process.name_thread(0, process.pid, "MainThread")
    process.journal(process.start + 50 * US, "mode Python TRACING by api")
    thread, other = Thread(program, 0, "MainThread", at=60), Thread(program, 1, "Worker-1", at=100)
    thread.event(mktrace.FUNCTION_BEGIN, "main")
    thread.run(10)
    thread.call("import json", 200, begin=mktrace.IMPORT_BEGIN, how=mktrace.IMPORT_END)
    thread.event(mktrace.REGION_BEGIN, "IO/read_loop")
    thread.run(30)
    thread.event(mktrace.FUNCTION_BEGIN, "Solver.run")
    thread.run(100)
    other.event(mktrace.FUNCTION_BEGIN, "Worker.work")
    other.run(20)
    other.event(mktrace.FUNCTION_BEGIN, "fib")
    thread.stream.event(thread.ticks(), mktrace.MODE, mktrace.PYTHON | mktrace.STANDBY << 16)
    process.journal(thread.ticks(), "mode Python STANDBY by /home/user/trace.conf:2")
    thread.run(500)
    thread.event(mktrace.REGION_END, "IO/read_loop")
    process.end()


ONE_SIDED = """[Python.default]
    pysysmon_c_return = off
[Lexgion(Python:Solver.step)]
    pysysmon_py_return = off
[Lexgion(Python:fib)]
    pysysmon_py_start = off
"""


def onesided(run):
    program = Program(run, 5_000_000)
    process = program.process
    define(program)
    thread = Thread(program, 0, "MainThread")

    def step(how):
        thread.call("Solver.step", 20, lambda: thread.call("loads", 5), how=how)

    def half():
        step(None)
        thread.event(mktrace.FUNCTION_END, "fib")
        thread.event(mktrace.C_CALL_BEGIN, "len")

    process.earlier_config(1, "/home/user/trace.conf", ONE_SIDED)
    process.config("/home/user/trace.conf", ONE_SIDED.replace("off", "on"))
    thread.event(mktrace.FUNCTION_BEGIN, "main")
    for _ in range(3):
        half()
    process.journal(thread.ticks() + US, "reload /home/user/trace.conf")
    thread.run(2)
    step(mktrace.FUNCTION_END)
    thread.run(5)
    process.kill()


def main(run, kind="whole"):
    if kind == "family":
        family(run)
    elif kind == "empty":
        Program(run, 5_000_000).process.end()
    elif kind in ("standby", "monitoring", "onesided", "switched"):
        globals()[kind](run)
    else:
        program = whole(run)
        program.process.end()
        if kind == "torn":
            program.process.stream(0).tear(500)


if __name__ == "__main__":
    main(*sys.argv[1:])
