"""docs/configuration.md: each configuration in it is checked and counted, each command is run, each example compiled."""

import contextlib
import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from test_docs import LEXTRACE, ROOT, blocks, running, tools_on_path

PAGE = "docs/configuration.md"

APP = """
import threading
from solver import Solver

def tick(number):
    return number

def worker():
    for number in range(120):
        tick(number)

solver = Solver()
solver.run()
for _ in range(2):
    thread = threading.Thread(target=worker)
    thread.start()
    thread.join()
"""
SOLVER = """
class Solver:
    def run(self):
        for number in range(1000):
            self.step(number)
    def step(self, number):
        return number.bit_count()
"""


def sections():
    """[(heading, language, text of the block)] in the order of the page."""
    found, heading = [], ""
    for part in re.findall(r"^(#+ .*?)$|^```(\w+)\n(.*?)^```", (ROOT / PAGE).read_text(), re.S | re.M):
        heading = part[0].lstrip("# ") or heading
        if part[1]:
            found.append((heading, part[1], part[2]))
    return found


BLOCKS = sections()
CONFIGURATIONS = [(heading, text) for heading, language, text in BLOCKS if language == "ini"]

# Calls recorded of these functions, by block; what is not named here has none.
STEP, TICK = 1000, 2 * 120
EXPECTED = [
    ("Only my solver", {"Solver.step": STEP, "int.bit_count": STEP}),
    ("One call in fifty", {"Solver.step": 19, "int.bit_count": 19, "tick": 4}),
    ("Stop after 100", {"Solver.step": 100, "int.bit_count": 100, "tick": 200, "worker": 2}),
    ("Only the workers", {"tick": TICK, "worker": 2}),
    ("Only the workers", {"Solver.step": STEP, "int.bit_count": STEP, "tick": 8, "worker": 2}),
    ("C calls of one function", {"Solver.step": STEP, "int.bit_count": STEP, "tick": TICK, "worker": 2}),
    ("Count only", {"Solver.step": STEP, "int.bit_count": STEP, "tick": TICK, "worker": 2}),
    ("Start quiet, switch on when it matters", {}),
    ("Look, then go on", {"Solver.step": 20, "int.bit_count": 20}),
    ("What does a file do?", {"Solver.step": 19, "int.bit_count": 19, "tick": TICK, "worker": 2}),
    ("From within the program", {"Solver.step": STEP, "int.bit_count": STEP, "tick": TICK, "worker": 2}),
]
COUNTED = {name for _, expected in EXPECTED for name in expected}


@pytest.fixture
def place(tmp_path):
    """A folder with the programs and scripts of the page; gives a function that runs a shell's line there."""
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "solver.py").write_text(SOLVER)
    for text in blocks(PAGE, "sh"):
        if text.startswith("#!"):
            script = tmp_path / re.search(r"^# (\S+)", text, re.M).group(1)
            script.write_text(text)
            script.chmod(0o755)
    env = tools_on_path(tmp_path)

    def run(command):
        return subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)

    run.folder, run.env = tmp_path, env
    return run


def counts(place, folder):
    done = place(f"lextrace report --json --top 0 {folder}")
    assert done.returncode == 0, done.stderr
    found = Counter()
    for one in json.loads(done.stdout)["functions"]:
        found[one["name"]] += one["calls"]
    return {name: found[name] for name in COUNTED if found[name]}


def test_every_configuration_is_counted():
    assert [heading for heading, _ in CONFIGURATIONS] == [heading for heading, _ in EXPECTED]


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_configuration(place, number):
    (place.folder / "trace.conf").write_text(CONFIGURATIONS[number][1])
    checked = place("lextrace config check trace.conf")
    assert (checked.returncode, checked.stderr) == (0, "")
    done = place("lextrace run -o run -c trace.conf app.py")
    assert done.returncode == 0, done.stderr
    assert counts(place, "run") == EXPECTED[number][1]
    if "look.sh" in CONFIGURATIONS[number][1]:
        said = next(place.folder.glob("run/*/lextrace/introspect.log")).read_text()
        assert "Solver.step" in said


def commands():
    """Lines of the page that are commands, each with the configuration that stands above it."""
    found, configuration = [], ""
    for _, language, text in BLOCKS:
        if language == "ini":
            configuration = text
        elif language == "sh" and not text.startswith("#!"):
            found += [(line, configuration) for line in text.splitlines()]
    return found


def test_transcript(place):
    """What the page shows after "$ command" is what the command prints."""
    number, = [n for n, block in enumerate(BLOCKS) if block[1] == "console"]
    (place.folder / "trace.conf").write_text(BLOCKS[number - 1][2])
    shown = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", BLOCKS[number][2], re.M)
    assert len(shown) == 2
    for command, output in shown:
        done = place(command)
        assert (done.returncode, done.stdout + done.stderr) == (0, output)


@pytest.mark.parametrize("command, configuration", commands())
def test_command(place, command, configuration):
    (place.folder / "trace.conf").write_text(configuration)
    (place.folder / "pinsight_trace_config.txt").write_text("[Python.default]\n")
    assert place("lextrace run -q app.py").returncode == 0
    with running(place.folder, place.env) if "PID" in command else contextlib.nullcontext() as process:
        done = place(command.replace("PID", str(process.pid)) if process else command)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_python_example(tmp_path):
    """lextrace.start() to lextrace.knob(), on the [Knob] section of the page."""
    example, = blocks(PAGE, "python")
    package = next(LEXTRACE.parent.parent.glob("lib/python3*/site-packages"))
    (tmp_path / "trace.conf").write_text(CONFIGURATIONS[-1][1])
    (tmp_path / "example.py").write_text(f"import sys; sys.path.insert(0, {str(package)!r})\n{example}print(size)\n")
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "128\n", "")


def test_c_example(tmp_path):
    example, = blocks(PAGE, "c")
    package = next(LEXTRACE.parent.parent.glob("lib/python3*/site-packages/lextrace"))
    (tmp_path / "pinsight_trace_config.txt").write_text(CONFIGURATIONS[-1][1])
    (tmp_path / "example.c").write_text(
        '#include <inttypes.h>\n#include <stdio.h>\n#include <lextrace/lextrace.h>\n\nint main(void)\n{\n'
        '\tif (lextrace_start("run") != 0)\n\t\treturn 1;\n%s\n'
        '\tprintf("%%" PRId64 " %%g %%s\\n", size, tolerance, method);\n\tlextrace_stop();\n\treturn 0;\n}\n' % example)
    library = package / "lib"
    subprocess.run(["gcc", "-Wall", "-Werror", f"-I{package}/include", "example.c", f"-L{library}", "-llextrace",
                    f"-Wl,-rpath,{library}", "-o", "example"], cwd=tmp_path, check=True)
    done = subprocess.run(["./example"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "128 1e-06 jacobi\n"
