"""lextrace ctl: asks programs that run."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEXTRACE = os.environ.get("LEXTRACE_BIN") or str(ROOT / ".venv/bin/lextrace")

LOOP = """
import sys, time
def f(): pass
print("ready", flush=True)
while True:
    f()
    time.sleep(0.002)
"""
SLEEP = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
OWN = """
import signal
def f(): pass
signal.signal(signal.SIGUSR1, lambda *_: None)
print("ready", flush=True)
while True: f()
"""


def lx(*words, **more):
    return subprocess.run([LEXTRACE, *map(str, words)], capture_output=True, text=True, timeout=60, **more)


@pytest.fixture
def start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    running = []

    def start(program, *words):
        (tmp_path / "app.py").write_text(program)
        process = subprocess.Popen([LEXTRACE, "run", "-q", *words, sys.executable, "app.py"], stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout.readline() == "ready\n"
        return process
    yield start
    for process in running:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


def status(pid):
    done = lx("ctl", pid, "status", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_status(start):
    pid = start(LOOP, "-o", "run").pid
    found = status(pid)
    assert found["pid"] == pid and found["modes"]["Python"] == "TRACING" and found["config"] is None
    assert found["events"] > 2
    assert found["signal"] and not found["paused"] and found["lost"] == 0
    text = lx("ctl", "run").stdout
    assert re.search(r"^modes +Python TRACING User TRACING$", text, re.M)
    assert lx("ctl", pid).stdout.split("\n")[1:3] == text.split("\n")[1:3]


@pytest.mark.parametrize("program", [LOOP, SLEEP])
def test_mode(start, program):
    pid = start(program, "-o", "run").pid
    done = lx("ctl", pid, "mode", "Python=STANDBY")
    assert (done.returncode, done.stdout) == (0, "set\n"), done.stderr
    assert status(pid)["modes"]["Python"] == "STANDBY"
    assert lx("ctl", pid, "mode", "Python=STANDBY").stdout == "nothing has changed\n"
    assert lx("ctl", pid, "mode", "Python=TRACING", "User=OFF").stdout == "set\n"
    assert (status(pid)["modes"]["Python"], status(pid)["modes"]["User"]) == ("TRACING", "OFF")
    assert lx("ctl", pid, "mode", "MONITORING").stdout == "set\n"
    assert set(status(pid)["modes"].values()) == {"MONITORING"}


def test_reload(start, tmp_path):
    (tmp_path / "trace.conf").write_text("[Python.default]\ntrace_mode = STANDBY\n")
    pid = start(LOOP, "-o", "run", "-c", "trace.conf").pid
    assert status(pid)["modes"]["Python"] == "STANDBY"
    assert lx("ctl", pid, "reload").stdout == "nothing has changed\n"
    (tmp_path / "trace.conf").write_text("[Python.default]\ntrace_mode = TRACING\n")
    assert lx("ctl", pid, "reload").stdout == "new rules are in force\n"
    assert status(pid)["modes"]["Python"] == "TRACING" and status(pid)["config"] == str(tmp_path / "trace.conf")
    (tmp_path / "trace.conf").write_text("[Python.default\n")
    done = lx("ctl", pid, "reload")
    assert done.returncode == 1 and "trace.conf:1:1: error: the section's ']' is missing" in done.stderr


def test_snapshot(start):
    pid = start(LOOP, "-o", "run").pid
    time.sleep(0.2)
    done = lx("ctl", pid, "snapshot")
    assert done.returncode == 0, done.stderr
    chunk = done.stdout.strip()
    first = json.loads(lx("report", "--json", chunk).stdout)
    assert first["events"] > 20 and first["lost"]["events"] == 0
    time.sleep(0.2)
    assert json.loads(lx("report", "--json", chunk).stdout)["events"] == first["events"]  # it stays as it is
    assert json.loads(lx("report", "--json", "run").stdout)["processes"] == 1


def test_a_program_that_has_taken_the_signal(start):
    pid = start(OWN, "-o", "run").pid
    assert lx("ctl", pid, "mode", "Python=STANDBY").stdout == "set\n"
    assert not status(pid)["signal"]
    done = lx("ctl", pid, "--timeout", "0.3", "mode", "Python=TRACING")
    assert done.returncode == 1 and "the program has taken SIGUSR1 for itself" in done.stderr
    assert "has taken SIGUSR1 for itself" in Path("run/notes").read_text()


def test_who_is_not_there(start, tmp_path):
    process = start(LOOP, "-o", "run")
    assert lx("ctl", os.getpid()).stderr == f"lextrace: process {os.getpid()} is not traced; start it with lextrace run\n"
    assert lx("ctl", 2 ** 22 + 1).stderr == "lextrace: no process 4194305\n"
    assert lx("ctl", "nosuch").stderr == "lextrace: nosuch: neither a process nor a folder\n"
    assert lx("ctl", "run", "mode", "Python=STANBY").returncode == 2
    assert lx("ctl", "run", "mode").returncode == 2
    assert lx("ctl", "run", "sattus").stderr == "lextrace: ctl: sattus? Did you mean status?\n"
    assert lx("ctl").returncode == 2
    start(LOOP, "-o", "other")
    os.rename("other/" + os.listdir("other")[0], "run/second")
    assert "2 processes are running in it" in lx("ctl", "run").stderr
    process.kill()
    process.wait()
    assert lx("ctl", process.pid).returncode == 1
