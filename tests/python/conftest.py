"""Fixtures of the Python-facing tests. The interpreter under test is the one that runs pytest."""
import os
import re
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import lextrace_tools as tools  # noqa: E402

LIMIT = 40_000  # events; a larger trace is compared event by event only where a test asks for it


def compare_readers(run, limit=LIMIT):
    """The trace through three readers: our decoder, `lextrace view` and, after a repair where it was killed, babeltrace2."""
    if not run.path.exists() or not run.processes:
        return
    total = sum(len(packet.words) for process in run.processes for packet in process.packets())
    if total > limit:
        return
    for process in run.processes:
        tools.check_streams(process)
    tools.check_with_view(run, tools.view_events(run.path))
    if tools.BABELTRACE is None:
        return
    whole = run
    if any(process.state["ended"] == 0 or process.torn for process in run.processes):
        copy = run.path.with_name(run.path.name + "-repaired")
        shutil.copytree(run.path, copy)
        done = tools.lextrace("repair", copy)
        assert done.returncode == 0, done.said
        whole = tools.Run(copy)
        assert [list(process.events()) for process in whole.processes] == \
            [list(process.events()) for process in run.processes]
    tools.check_with_babeltrace(whole)


def without_addresses(outcome):
    return tuple(re.sub(r"0x[0-9a-f]{6,}", "0x…", part) if isinstance(part, str) else part for part in outcome)


class Tracer:
    """Runs programs under lextrace and, when the test is over, reads each of their traces three ways."""

    def __init__(self, tmp_path):
        self.tmp_path = tmp_path
        self.results = []
        self.compare = True

    def program(self, text, name="app.py"):
        """Writes a program; gives its path."""
        path = self.tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def target(self, program, args=(), flags=()):
        if isinstance(program, (list, tuple)):
            return list(map(str, program))
        if isinstance(program, str) and "\n" not in program and (tools.PROGRAMS / program).exists():
            program = tools.PROGRAMS / program
        elif isinstance(program, str):
            program = self.program(program)
        return [tools.PYTHON, *flags, str(program), *map(str, args)]

    def folder(self):
        return self.tmp_path / ("run-%d" % (len(self.results) + 1))

    def __call__(self, program, args=(), flags=(), options=(), compare=True, **more):
        """Runs `program` (a text, the name of one of tests/programs, a path, or a whole command) under lextrace."""
        folder = self.folder()
        command = [tools.lextrace_binary(), "run", "-o", str(folder), *options, *self.target(program, args, flags)]
        result = tools.execute(command, folder, **more)
        result.compare = compare
        self.results.append(result)
        return result

    def untraced(self, program, args=(), flags=(), **more):
        return tools.execute(self.target(program, args, flags), **more)

    def same(self, program, args=(), flags=(), options=(), compare=True, **more):
        """Runs it untraced and traced; status, stdout and stderr must not differ. Gives the traced result."""
        if isinstance(program, str) and "\n" in program:
            program = self.program(program)
        plain = self.untraced(program, args, flags, **more)
        traced = self(program, args, flags, options, compare, **more)
        assert without_addresses(traced.outcome()) == without_addresses(plain.outcome())
        return traced


@pytest.fixture
def trace(tmp_path):
    tracer = Tracer(tmp_path)
    yield tracer
    for result in tracer.results:
        if result.compare:
            compare_readers(result.run)


@pytest.fixture
def api_env():
    """Environment in which the interpreter under test can `import lextrace` without being run by lextrace."""
    return tools.clean_environment(PYTHONPATH=tools.package_parent())


def pytest_report_header(config):
    return "interpreter under test: %s; lextrace: %s; babeltrace2: %s" % (
        sys.version.split()[0], os.environ.get("LEXTRACE_BIN", "../.venv/bin/lextrace"), tools.BABELTRACE or "not found")


def pytest_configure(config):
    root = Path(__file__).resolve().parents[2]
    if not os.environ.get("LEXTRACE_BIN") and not (root / ".venv/bin/lextrace").exists():
        raise pytest.UsageError("no lextrace: run `make build`, or set LEXTRACE_BIN")
