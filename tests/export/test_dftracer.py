"""DFTracer's own tools take our .pfw.gz."""
import os
import re
import shutil
import subprocess
import sys

import exported
import mktrace
import pytest

pytest.importorskip("dftracer.utils")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("dftracer")
    mktrace.main([str(root / "run"), "--processes", "2", "--threads", "3", "--calls", "300", "--generators", "0.2",
                  "--c-calls", "0.2", "--hostile"])
    (root / "pfw").mkdir()
    exported.export(root / "run", root / "pfw" / "out.pfw.gz")
    return root / "pfw"


def tool(name, *words):
    path = shutil.which(name, path=os.path.dirname(sys.executable)) or shutil.which(name)
    done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return "".join(line for line in done.stdout.splitlines(keepends=True) if "] INFO " not in line)


def spans(folder):
    return sum(map(len, exported.read_pfw(folder / "out.pfw.gz").values()))


def test_validate(folder):
    lines = len(exported.pfw_lines(folder / "out.pfw.gz"))
    assert "1 passed, 0 failed, %d lines" % lines in tool("dftracer_validate", "-d", folder)


def test_event_count(folder):
    assert tool("dftracer_event_count", "-d", folder).strip().splitlines()[-1] == str(spans(folder) + 4)  # start and end


def test_info(folder):
    text = tool("dftracer_info", "-d", folder)
    assert re.search(r"Failed: +0\b", text)
    assert re.search(r"Valid Events: +%d\b" % (spans(folder) + 4), text)


def test_stats(folder):
    text = tool("dftracer_stats", "-d", folder)
    found = exported.read_pfw(folder / "out.pfw.gz")
    assert "Process/Thread Pairs (%d)" % len(found) in text
    assert re.search(r"^ +python +\d+$", text, re.M)


def test_view(folder):
    text = tool("dftracer_view", "-d", folder, "--group-by", "name", "--agg", "count,sum:dur")
    names = [span[0] for list_of in exported.read_pfw(folder / "out.pfw.gz").values() for span in list_of]
    rows = [exported.strict_json(line) for line in text.split("\n") if line.startswith("{")]
    assert {row["name"]: row["count"] for row in rows}["<lambda>"] == names.count("<lambda>")
