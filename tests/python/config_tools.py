"""What the tests of the configuration share: a program of known counts, and counting what was recorded."""
from collections import Counter
from pathlib import Path

import lextrace_tools as tools

# Known calls: `step` 300 times by the main thread and 40 times by each of 5 workers, which start one after the other;
# `worker` once a worker; C calls: one len() for each step.
PROGRAM = """
import threading
import solver, solver_a, solver_b, utils

class MyClass:
    def compute(self): return 1

def step(): return len("x")

def worker():
    for _ in range(40): step()

def main_work(): return 2

def main():
    def do_work(): return 3
    for _ in range(300):
        step()
        do_work()
        main_work()
        MyClass().compute()
        solver.compute()
        solver.setup()
        solver.MyClass().compute()
        run = solver.Solver()
        run.setup()
        run.run()
        utils.log_debug()
        solver_a.compute()
        solver_b.compute()

threads = [threading.Thread(target=worker) for _ in range(5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
main()
"""
MODULES = {
    "solver.py": "def compute(): return 1\ndef setup(): return 2\n"
                 "class MyClass:\n    def compute(self): return 3\n"
                 "class Solver:\n    def setup(self): return 4\n    def run(self): return len('x')\n",
    "solver_a.py": "def compute(): return 1\n",
    "solver_b.py": "def compute(): return 1\n",
    "utils.py": "def log_debug(): return 1\n",
}
MAIN_CALLS = {"step": 300, "main.<locals>.do_work": 300, "main_work": 300, "MyClass.compute": 300, "solver.py:compute": 300,
              "solver.py:setup": 300, "solver.py:MyClass.compute": 300, "solver.py:Solver.setup": 300,
              "solver.py:Solver.run": 300, "utils.py:log_debug": 300, "solver_a.py:compute": 300, "solver_b.py:compute": 300,
              "main": 1}
WORKER_CALLS = {"step": 40, "worker": 1}


def write_program(trace, text=PROGRAM, modules=MODULES, name="app.py"):
    path = trace.program(text, name)
    for module, source in modules.items():
        trace.program(source, module)
    return path


def run_config(trace, config, program=None, environment=None, options=(), **more):
    """Runs the program under a configuration; gives the result."""
    words = list(options)
    if config is not None:
        path = trace.tmp_path / "trace.conf"
        path.write_text(config, encoding="utf-8")
        words = ["-c", str(path), *words]
    if environment:
        more["env"] = tools.clean_environment(**environment)
    result = trace(program or write_program(trace), options=words, **more)
    assert result.returncode == 0, result.stderr
    return result


def name_of(process, lexgion, app="app.py"):
    """The function's name, with its file's unless that is the program itself; None: not of the program."""
    folder, file = str(Path(lexgion.file).parent), Path(lexgion.file).name
    library = folder.startswith("/usr") or folder.endswith("/lextrace") or "/lib/python" in folder
    if not lexgion.file or library or file.startswith("<"):
        return None
    return lexgion.name if file == app else "%s:%s" % (file, lexgion.name)


def count(result, kind="function_begin", threads=False):
    """{name: events of that kind}, or {(name, thread): events}, of the program's own functions."""
    found = Counter()
    for process in result.run.processes:
        for event in process.events():
            if tools.KINDS[event.kind] != "python:" + kind:
                continue
            name = name_of(process, process.lexgion(event.value))
            if name:
                found[(name, event.thread) if threads else name] += 1
    return found


def c_calls(result, name, kind="c_call_begin", threads=False):
    found = Counter()
    for process in result.run.processes:
        for event in process.events():
            if tools.KINDS[event.kind] == "python:" + kind and process.lexgion(event.value).name == name:
                found[event.thread] += 1
    return found if threads else sum(found.values())


def window(calls, start=0, most=-1, rate=1):
    """How many of so many calls a window takes."""
    taken = max(0, calls - start) // rate
    return taken if most < 0 else min(taken, most)
