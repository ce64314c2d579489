"""Commands on the prefix of an annotated program's log: PREFIX-<16 hex>-app.lextrace folders and .pfw files."""
import json
import os
import re
import socket
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests/python", "tests/tools", "tests/export"):
    sys.path.insert(0, str(ROOT / folder))

import exported  # noqa: E402
import lextrace_tools as tools  # noqa: E402
import mktrace  # noqa: E402

NUMBER = "0123456789abcdef"


def add_process(run, pid, kill=True, calls=3, start=0, parent=1, host="testhost"):
    process = mktrace.Process(str(run), pid=pid, host=host, parent=parent, start_real=mktrace.START_REAL + start)
    region, key = process.region("IO", "read", "io"), process.key("epoch")
    stream = process.stream(0)
    stream.begin_thread(0, pid, "MainThread", process.start)
    for call in range(calls):
        stream.event(process.start + 1000 * (2 * call + 1), mktrace.REGION_BEGIN, region)
        stream.argument(process.start + 1000 * (2 * call + 1), key, call)
        stream.event(process.start + 1000 * (2 * call + 2), mktrace.REGION_END, region)
    process.kill() if kill else process.end()
    return process


@pytest.fixture
def traces(tmp_path):
    (tmp_path / "traces").mkdir()
    return tmp_path / "traces"


def run_of(traces, number=NUMBER):
    return traces / ("my_app-%s-app.lextrace" % number)


def report(traces, **more):
    done = tools.lextrace("report", "--json", traces / "my_app", **more)
    assert done.returncode == 0, done.said
    found = [row for row in json.loads(done.stdout)["functions"] if row["name"].endswith("read")]
    return sum(row["calls"] for row in found), done.said


def names(traces):
    return sorted(path.name for path in traces.iterdir())


def test_a_killed_process_gets_its_file(traces):
    add_process(run_of(traces), 5_000_000)
    calls, said = report(traces)
    assert calls == 3 and len(said) == 1 and "written for process 5000000, which was killed" in said[0]
    assert names(traces) == ["my_app-%s-app.lextrace" % NUMBER, "my_app-%s-app.pfw.gz" % NUMBER]
    lines = [line for line in exported.pfw_lines(traces / ("my_app-%s-app.pfw.gz" % NUMBER)) if line["cat"] == "IO"]
    assert [line["args"]["epoch"] for line in lines] == [0, 1, 2]
    before = (traces / ("my_app-%s-app.pfw.gz" % NUMBER)).stat()
    assert report(traces) == (3, [])
    after = (traces / ("my_app-%s-app.pfw.gz" % NUMBER)).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("command", [["report"], ["view"], ["info"], ["export", "-o", "-", "--to", "folded"]])
def test_every_command_reads_a_prefix(traces, command):
    add_process(run_of(traces), 5_000_000)
    done = tools.lextrace(*command, "traces/my_app", cwd=traces.parent)
    assert done.returncode == 0 and done.stdout
    assert len(names(traces)) == 2
    done = tools.lextrace(*command, "my_app", cwd=traces)
    assert done.returncode == 0 and done.stdout


def test_children_have_names_of_their_own(traces):
    run = run_of(traces)
    add_process(run, 5_000_000)
    add_process(run, 5_000_001, start=10**9, parent=5_000_000)
    add_process(run, 5_000_002, start=2 * 10**9, parent=5_000_000)
    assert report(traces)[0] == 9
    files = [name for name in names(traces) if name.endswith(".pfw.gz")]
    assert len(files) == 3 and sum("-fork." in name for name in files) == 2
    assert all(re.fullmatch("my_app-[0-9a-f]{16}-(app|fork).pfw.gz", name) for name in files)
    pids = {line["pid"] for name in files for line in exported.pfw_lines(traces / name)}
    assert pids == {5_000_000, 5_000_001, 5_000_002}
    assert report(traces) == (9, [])
    assert [name for name in names(traces) if name.endswith(".pfw.gz")] == files


def test_a_child_is_killed_and_the_program_has_its_file(traces):
    """The program's folder went with its file; the child must not be taken for it."""
    run = run_of(traces)
    add_process(run, 5_000_000, kill=False)
    exported.export(run, traces / ("my_app-%s-app.pfw.gz" % NUMBER))
    tools.shutil.rmtree(run)
    add_process(run, 5_000_001, start=10**9, parent=5_000_000)
    assert report(traces)[0] == 6
    assert len(names(traces)) == 3 and report(traces) == (6, [])


@pytest.mark.parametrize("extension", [".pfw", ".pfw.gz"])
def test_a_folder_that_was_kept_gets_no_second_file(traces, extension):
    run = run_of(traces)
    add_process(run, 5_000_000, kill=False)
    exported.export(run, traces / ("my_app-%s-app%s" % (NUMBER, extension)))
    assert report(traces) == (3, []) and len(names(traces)) == 2


def test_a_process_whose_disk_was_full(traces):
    add_process(run_of(traces), 5_000_000, kill=False)
    calls, said = report(traces)
    assert calls == 3 and "written for process 5000000, which could not" in said[0]


def test_ranks_are_read_together(traces):
    for rank in range(3):
        add_process(run_of(traces, "%016x" % rank), 5_000_000 + rank)
    assert report(traces)[0] == 9
    assert len([name for name in names(traces) if name.endswith("-app.pfw.gz")]) == 3


def test_other_logs_are_not_touched(traces):
    add_process(run_of(traces), 5_000_000)
    add_process(traces / ("my_app2-%s-app.lextrace" % NUMBER), 5_000_001)
    add_process(traces / ("my_app-%s-app.lextrace" % "xyz"), 5_000_002)
    assert report(traces)[0] == 3
    assert len(names(traces)) == 4


def test_a_folder_that_cannot_be_written_is_read(traces):
    if os.geteuid() == 0:
        # Root may write anywhere: the place of the file is taken by a folder instead.
        add_process(run_of(traces), 5_000_000)
        (traces / ("my_app-%s-app.pfw.gz.part" % NUMBER)).mkdir()
        assert report(traces)[0] == 3
        return
    add_process(run_of(traces), 5_000_000)
    traces.chmod(0o555)
    try:
        calls, said = report(traces)
    finally:
        traces.chmod(0o755)
    assert calls == 3 and "cannot write" in said[0] and "Permission denied" in said[0]
    assert len(names(traces)) == 1


def test_no_such_prefix(traces):
    add_process(run_of(traces), 5_000_000)
    for word in ["my_ap", "my_app-", "other", ""]:
        done = tools.lextrace("report", str(traces / word) if word else "", cwd=traces.parent)
        assert done.returncode == 1 and len(done.said) == 1, word
    assert len(names(traces)) == 1


def test_a_running_process_is_left_alone(traces):
    """Its state file is mapped by a process that lives: this one."""
    import mmap
    run = run_of(traces)
    process = add_process(run, os.getpid(), host=socket.gethostname())
    with open(Path(process.folder) / "lextrace" / "state", "r+b") as file, mmap.mmap(file.fileno(), 4096):
        assert report(traces)[0] == 3
        assert names(traces) == ["my_app-%s-app.lextrace" % NUMBER]
        other = run_of(traces, "f" * 16)
        add_process(other, 5_000_001)
        calls, said = report(traces)
        assert calls == 3 and any("still running" in line for line in said)
    assert report(traces)[0] == 6
