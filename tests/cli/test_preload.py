"""The preload library: a C program that only names regions is recorded when LEXTRACE_DIR says where to."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEXTRACE = Path(os.environ.get("LEXTRACE_BIN") or ROOT / ".venv/bin/lextrace")

PROGRAM = r"""
#include <lextrace/lextrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static lextrace_region solve = LEXTRACE_REGION("Compute/solve \303\244");
static lextrace_region step = LEXTRACE_REGION("Compute/step");

int main(int argc, char **argv)
{
	lextrace_begin(&solve);
	for (int n = 0; n < 3; n++) {
		lextrace_begin(&step);
		lextrace_end(&step);
	}
	lextrace_end(&solve);
	printf("%d words, preload %s\n", argc, getenv("LD_PRELOAD") ? "set" : "not set");
	if (argc > 2) { /* an end that no handler sees, within a region */
		fflush(stdout);
		lextrace_begin(&step);
		_exit(atoi(argv[1]));
	}
	return atoi(argv[1]);
}
"""


@pytest.fixture(scope="module")
def package():
    return next(LEXTRACE.parent.parent.glob("lib/python3*/site-packages/lextrace"))


@pytest.fixture(scope="module")
def program(package, tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler was found")
    folder = tmp_path_factory.mktemp("preload")
    (folder / "solver.c").write_text(PROGRAM)
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", f"-I{package}/include", "solver.c", f"-L{package}/lib",
                    "-llextrace", f"-Wl,-rpath,{package}/lib", "-o", "solver"], cwd=folder, check=True)
    return folder / "solver"


def run(program, package, folder, *words, **variables):
    env = {key: value for key, value in os.environ.items() if not key.startswith("LEXTRACE")}
    env.update(LD_PRELOAD=str(package / "lib/liblextrace-preload.so"), **variables)
    return subprocess.run([program, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def answer(*words):
    return json.loads(subprocess.run([LEXTRACE, *map(str, words)], capture_output=True, text=True, check=True).stdout)


def names(run):
    view = subprocess.run([LEXTRACE, "view", "--json", str(run)], capture_output=True, text=True, check=True).stdout
    return [(event["name"], event["qualname"]) for event in map(json.loads, view.splitlines())]


ALL = [("user:region_begin", "Compute/solve ä"),
       *[("user:region_begin", "Compute/step"), ("user:region_end", "Compute/step")] * 3,
       ("user:region_end", "Compute/solve ä")]


def test_preloaded(program, package, tmp_path):
    done = run(program, package, tmp_path, "42", LEXTRACE_DIR=str(tmp_path / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (42, "2 words, preload set\n", "")
    assert os.listdir(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ALL
    info = answer("info", "--json", tmp_path / "run")
    assert info["events"] == 8 and len(info["processes"]) == 1 and info["complete"]


def test_preloaded_and_ended_at_once(program, package, tmp_path):
    done = run(program, package, tmp_path, "9", "at once", LEXTRACE_DIR=str(tmp_path / "run"))
    assert (done.returncode, done.stderr) == (9, "")
    assert names(tmp_path / "run") == [*ALL, ("user:region_begin", "Compute/step")]


def test_without_a_folder_nothing_is_made(program, package, tmp_path):
    done = run(program, package, tmp_path, "3")
    assert (done.returncode, done.stdout, done.stderr) == (3, "2 words, preload set\n", "")
    assert os.listdir(tmp_path) == []


def test_folder_that_cannot_be_made(program, package, tmp_path):
    done = run(program, package, tmp_path, "3", LEXTRACE_DIR="/proc/nothing/run")
    assert (done.returncode, done.stdout, done.stderr) == (3, "2 words, preload set\n", "")
    assert os.listdir(tmp_path) == []


CONTROLLED = r"""
#include <lextrace/lextrace.h>
#include <signal.h>
#include <stdio.h>

static lextrace_region a = LEXTRACE_REGION("A"), b = LEXTRACE_REGION("B");

static void loop(void)
{
	for (int n = 0; n < 20; n++) {
		lextrace_begin(&a);
		lextrace_begin(&b);
		lextrace_end(&b);
		lextrace_end(&a);
	}
	printf("%d %g %s\n", (int)lextrace_knob_int("n", 1), lextrace_knob_double("x", 2.5), lextrace_knob_string("s", "none"));
}

int main(void)
{
	loop();
	FILE *file = fopen("trace.conf", "w");
	fprintf(file, "[Lexgion(User:B)]\nmax_num_traces = 5\n[Knob]\nn = 8\ns = yes\n");
	fclose(file);
	raise(SIGUSR1);
	loop();
	return 0;
}
"""


def test_a_configuration_and_its_reload_without_python(package, tmp_path, monkeypatch):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler was found")
    (tmp_path / "loop.c").write_text(CONTROLLED)
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", f"-I{package}/include", "loop.c", f"-L{package}/lib",
                    "-llextrace", f"-Wl,-rpath,{package}/lib", "-o", "loop"], cwd=tmp_path, check=True)
    (tmp_path / "trace.conf").write_text("[Lexgion(User:A)]\nmax_num_traces = 3\n[Lexgion(User:B)]\nmax_num_traces = 2\n"
                                         "[Knob]\nx = 1e3\n")
    env = {key: value for key, value in os.environ.items() if not key.startswith("LEXTRACE")}
    env.update(LD_PRELOAD=str(package / "lib/liblextrace-preload.so"), LEXTRACE_DIR=str(tmp_path / "run"),
               PINSIGHT_TRACE_CONFIG_FILE="trace.conf")
    done = subprocess.run(["./loop"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout == "1 1000 none\n8 2.5 yes\n" and done.returncode == 0
    report = subprocess.run([LEXTRACE, "report", "--json", tmp_path / "run"], capture_output=True, text=True, timeout=60)
    assert {one["name"]: one["calls"] for one in json.loads(report.stdout)["functions"]} == {"A": 23, "B": 5}
