"""Every command and every Python example that README and docs show is run, on a program made for them."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEXTRACE = Path(os.environ.get("LEXTRACE_BIN") or ROOT / ".venv/bin/lextrace")

APP = """
import threading, time

class Solver:
    def run(self):
        for _ in range(200):
            self.step()
    def step(self):
        return sum(range(50))

def run():
    solver = Solver()
    threading.Thread(target=solver.run).start()
    solver.run()
    try:
        fail()
    except ValueError:
        time.sleep(0.01)

def fail():
    raise ValueError

run()
"""

ENDLESS = """
import time

def turn():
    time.sleep(0.01)

while True:
    turn()
"""


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)


def commands():
    """Lines that begin with `lextrace`, without their comment. Lines of a transcript ("$ …") are left to `make demo`."""
    found = []
    for block in blocks("README.md", "(?:sh)?"):
        found += re.findall(r"^(lextrace .*?)(?:\s+#.*)?$", block, re.M) if "$ " not in block else []
    found += re.findall(r"^  (lextrace .*?)(?:\s{2,}.*)?$", (ROOT / "docs/cli.md").read_text(), re.M)
    return [command for command in dict.fromkeys(found) if "COMMAND" not in command]


def tools_on_path(folder):
    """An environment with lextrace and stand-ins of other people's tools, made in `folder`, on PATH."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("jq", "flamegraph.pl"):
        (tools / name).write_text("#!/bin/sh\nexec cat\n")
        (tools / name).chmod(0o755)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("LEXTRACE", "PYTHON", "PYTEST"))}
    env.update(PATH=f"{LEXTRACE.parent}:{tools}:{env['PATH']}", HOME=str(folder))
    return env


@contextlib.contextmanager
def running(folder, env):
    """A traced program that runs on, in the run folder `live`; gives its process."""
    (folder / "endless.py").write_text(ENDLESS)
    shutil.rmtree(folder / "live", ignore_errors=True)
    process = subprocess.Popen(["lextrace", "run", "-q", "-o", "live", sys.executable, "endless.py"], cwd=folder,
                               env=env)
    try:
        while b"endless.py" not in b"".join(one.read_bytes() for one in folder.glob("live/*/lextrace/lexgions")):
            assert process.poll() is None
            time.sleep(0.01)
        yield process
        time.sleep(0.1)
        assert process.poll() is None, "the program goes on"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a program, its tests and some runs of it; gives a function that runs a shell's line there."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "app.py").write_text(APP)
    (folder / "test_app.py").write_text("def test_nothing():\n    pass\n")
    env = tools_on_path(folder)
    for _ in range(4):
        subprocess.run(["lextrace", "run", "app.py"], cwd=folder, env=env, check=True, capture_output=True)

    def run(command):
        return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=env, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL)

    run.folder, run.env = folder, env
    return run


def test_there_are_commands():
    assert len(commands()) > 15


@pytest.mark.parametrize("command", commands())
def test_command(place, command):
    configuration = place.folder / "trace.conf"
    if "-o trace.conf" in command:
        configuration.unlink(missing_ok=True)
    else:
        configuration.write_text("[Lexgion(Python).default]\n    max_num_traces = 100\n")
    if command.startswith("lextrace ctl"):  # which needs a program that runs
        with running(place.folder, place.env) as process:
            done = place(command.replace("4121", str(process.pid)).replace("lextrace-app-1", "live"))
    else:
        done = place(command)
    allowed = {0, -13, 141} if "| head" in command else {0}  # head may have gone before we were done
    assert done.returncode in allowed, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", range(len(blocks("docs/python.md", "python"))))
def test_python_example(tmp_path, number):
    example = blocks("docs/python.md", "python")[number].replace("    ...\n", "    return path\n")
    package = next(LEXTRACE.parent.parent.glob("lib/python3*/site-packages"))
    script = f"import sys; sys.path.insert(0, {str(package)!r})\nimport lextrace\nwork = read = lambda: None\n{example}"
    (tmp_path / "example.py").write_text(script)
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_c_example(tmp_path):
    """The C example of docs/python.md, compiled against the installed header and library, records what it says."""
    example = blocks("docs/python.md", "c")[0]
    package = next(LEXTRACE.parent.parent.glob("lib/python3*/site-packages/lextrace"))
    (tmp_path / "example.c").write_text(
        '#include <lextrace/lextrace.h>\n\nint main(void)\n{\n\tif (lextrace_start("run") != 0)\n\t\treturn 1;\n%s'
        "\n\tlextrace_stop();\n\treturn 0;\n}\n" % example
    )
    library = package / "lib"
    subprocess.run(["gcc", "-Wall", "-Werror", f"-I{package}/include", "example.c", f"-L{library}", "-llextrace",
                    f"-Wl,-rpath,{library}", "-o", "example"], cwd=tmp_path, check=True)
    subprocess.run(["./example"], cwd=tmp_path, check=True, timeout=30)
    seen = subprocess.run([LEXTRACE, "report", "run"], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert seen.returncode == 0 and "Compute/solve" in seen.stdout


def test_links():
    """Files that the pages point to are there."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)
