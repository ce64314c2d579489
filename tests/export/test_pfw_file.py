"""liblextrace-export.so: one function that a running program calls."""
import ctypes
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import exported
import lextrace_tools as tools
import mktrace
import pytest


class Options(ctypes.Structure):
    _fields_ = [("dialect", ctypes.c_int), ("metric", ctypes.c_int), ("text", ctypes.c_bool)]


def library():
    return Path(tools.package_parent()) / "lextrace" / "lib" / "liblextrace-export.so"


@pytest.fixture(scope="module")
def write():
    function = ctypes.CDLL(str(library())).lx_pfw_write

    def call(folder, out, **options):
        message = ctypes.create_string_buffer(512)
        status = function(os.fsencode(folder), os.fsencode(out), ctypes.byref(Options(**options)) if options else None,
                          message, ctypes.c_size_t(512))
        return status, message.value.decode()
    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run = tmp_path_factory.mktemp("run") / "run"
    mktrace.main([str(run), "--threads", "3", "--calls", "500", "--regions", "0.5", "--arguments", "--hostile"])
    return next(run.glob("testhost-*"))


def test_nothing_else_is_exported():
    names = subprocess.run(["nm", "-D", "--defined-only", str(library())], capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in names.stdout.splitlines()] == ["lx_pfw_write"]


def test_the_same_as_the_program(write, folder, tmp_path):
    assert write(folder, tmp_path / "a.pfw.gz") == (0, "")
    assert write(folder, tmp_path / "b.pfw", text=True) == (0, "")
    exported.export(folder, tmp_path / "c.pfw")
    assert exported.content(tmp_path / "a.pfw.gz") == (tmp_path / "b.pfw").read_bytes() == (tmp_path / "c.pfw").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.pfw.gz", "b.pfw", "c.pfw"]


def test_errors_are_told_and_leave_nothing(write, folder, tmp_path):
    status, message = write(tmp_path / "nothing", tmp_path / "a.pfw.gz")
    assert status < 0 and "nothing" in message and "\n" not in message
    status, message = write(folder, tmp_path / "no" / "a.pfw.gz")
    assert status < 0 and str(tmp_path / "no" / "a.pfw.gz") in message
    status, message = write(folder, tmp_path / "a.pfw.gz", dialect=7)
    assert status < 0 and message
    empty = tmp_path / "empty"
    empty.mkdir()
    assert write(empty, tmp_path / "a.pfw.gz")[0] < 0
    assert sorted(os.listdir(tmp_path)) == ["empty"]


def test_a_file_size_limit_is_an_error_not_a_signal(write, folder, tmp_path):
    pid = os.fork()
    if pid == 0:
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        status, message = write(folder, tmp_path / "a.pfw", text=True)
        os._exit(0 if status == -27 and "File too large" in message else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_is_in_nobodys_way(write, folder, tmp_path):
    (tmp_path / ("a.pfw.gz.%d.part" % os.getpid())).write_bytes(b"half")
    assert write(folder, tmp_path / "a.pfw.gz") == (0, "")
    assert os.listdir(tmp_path) == ["a.pfw.gz"]


def test_the_program_stays_as_it_is(folder, tmp_path):
    """Signals, descriptors, output; in threads at once."""
    code = """
import ctypes, os, signal, sys, threading
function = ctypes.CDLL(sys.argv[1]).lx_pfw_write
def state():
    return [signal.getsignal(n) for n in signal.valid_signals()], open("/proc/self/status").read().split("SigQ")[1].split(
        "CapInh")[0].split("\\n")[1:], sorted(os.listdir("/proc/self/fd"))
def work(number):
    message = ctypes.create_string_buffer(100)
    out = "%s/%d.pfw.gz" % (sys.argv[3], number)
    results.append(function(sys.argv[2].encode(), out.encode(), None, message, ctypes.c_size_t(100)))
threading.Thread(target=int).start()  # the C library takes a signal of its own
results, before = [], state()
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
assert results == [0] * 4 and state() == before, (results, before, state())
"""
    done = subprocess.run([sys.executable, "-c", code, str(library()), str(folder), str(tmp_path)], capture_output=True,
                          text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stderr
    contents = {exported.content(tmp_path / ("%d.pfw.gz" % number)) for number in range(4)}
    assert len(contents) == 1


def test_a_killed_process_is_written_too(write, tmp_path):
    mktrace.main([str(tmp_path / "run"), "--calls", "300", "--regions", "0.5", "--arguments", "--kill", "--torn"])
    folder = next((tmp_path / "run").glob("testhost-*"))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert write(folder, tmp_path / "a.pfw.gz") == (0, "")
    assert exported.read_pfw(tmp_path / "a.pfw.gz")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    shutil.rmtree(tmp_path / "run")
