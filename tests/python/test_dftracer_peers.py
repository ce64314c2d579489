"""The package dftracer beside what others made for DFTracer: its command-line tools, MPI, and pydftracer's own tests."""
import gzip
import os
import re
import shutil
import subprocess
import sys

import pytest
from dftracer_tools import DROPIN, NAME, Program, extras, strict
from lextrace_tools import package_parent


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "work")


# ---- DFTracer's tools ----

WORKLOAD = """
    import threading
    from dftracer.logger import dftracer_fn, DFTracer

    @dftracer_fn(cat="IO", comp="io")
    def read(n):
        DFTracer.get_instance().update("n", n)

    @dftracer_fn(cat="Data")
    def batches():
        for i in range(10):
            yield i

    DFTracer.initialize_log(log_file="../t/app", process_id=1)
    tracer = DFTracer.get_instance()
    threads = [threading.Thread(target=lambda: [read(i) for i in range(300)]) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    list(batches())
    with tracer.get_time("IO", 'hostile "quote" \\n \\x00'):
        tracer.update("key \\\\", "value \\t")
    tracer.log_event("told", "IO", tracer.get_time(), 5)
    tracer.log_metadata_event("key", "value")
"""


def tool(name, *words):
    done = subprocess.run([extras() / name, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return "".join(line for line in done.stdout.splitlines(keepends=True) if "] INFO " not in line)


@pytest.mark.parametrize("dialect", [2, 1])
def test_validate_count_and_info(program, dialect):
    program(WORKLOAD, DFTRACER_TRACE_DIALECT=dialect)
    trace = program.trace()
    folder = trace.path.parent
    passed = re.search(r"1 passed, 0 failed, (\d+) lines", tool("dftracer_validate", "-d", folder))
    assert passed and int(passed[1]) == len(trace.lines)
    events = [line for line in trace.lines if line["ph"] in (1, "X")]
    assert tool("dftracer_event_count", "-d", folder).strip().splitlines()[-1] == str(len(events))
    info = tool("dftracer_info", "-d", folder)
    assert re.search(r"Failed: +0\b", info) and re.search(r"Valid Events: +%d\b" % len(events), info)


def test_stats_and_view(program):
    program(WORKLOAD)
    trace = program.trace()
    folder = trace.path.parent
    stats = tool("dftracer_stats", "-d", folder)
    assert re.search(r"^ +io +902$", stats, re.M), stats
    view = tool("dftracer_view", "-d", folder, "--group-by", "name", "--agg", "count,sum:dur")
    rows = {row["name"]: row["count"] for row in (strict(line) for line in view.split("\n") if line.startswith("{"))}
    assert rows["read"] == 900 and rows["told"] == 1


def test_split(program, tmp_path):
    program(WORKLOAD)
    folder = program.trace().path.parent
    out = tmp_path / "split"
    out.mkdir()
    tool("dftracer_split", "-d", folder, "-o", out)
    names = []
    for path in out.rglob("*.pfw*"):
        if path.suffix in (".gz", ".pfw"):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            names += [strict(line)["name"] for line in data.decode().splitlines() if line.startswith("{")]
    assert names.count("read") == 900


# ---- MPI ----

MPI = """
    from mpi4py import MPI
    from dftracer.logger import dftracer_fn, DFTracer

    @dftracer_fn(cat="COMM", comp="comm")
    def reduce(comm):
        return comm.allreduce(comm.Get_rank())

    comm = MPI.COMM_WORLD
    ORDER
    assert reduce(comm) == 3
    END
"""


@pytest.mark.parametrize("begin, end", [
    ("DFTracer.initialize_log(log_file='../t/app', process_id=comm.Get_rank())", "DFTracer.finalize_log(); MPI.Finalize()"),
    ("DFTracer.initialize_log(log_file='../t/app', process_id=None)", "MPI.Finalize(); DFTracer.finalize_log()"),
    ("DFTracer.initialize_log(log_file='../t/app')", ""),
], ids=["in order", "in the wrong order", "without an end"])
def test_mpi(program, begin, end):
    launcher = extras() / "mpiexec"
    program(MPI.replace("ORDER", begin).replace("END", end), command=[str(launcher), "-n", "3", str(extras() / "python")], quiet=False)
    traces = program.traces()
    assert len(traces) == 3 and len({NAME.match(trace.path.name)["number"] for trace in traces}) == 3
    assert sorted(int(trace.metadata["rank"]) for trace in traces) == [0, 1, 2]
    assert all(trace.args("reduce") == {"comp": "comm"} for trace in traces)


def test_mpi_initialised_late(program):
    program("""
        import mpi4py
        mpi4py.rc.initialize = False
        from mpi4py import MPI
        from dftracer.logger import DFTracer
        DFTracer.initialize_log(log_file="../t/app")
        MPI.Init()
        with DFTracer.get_instance().get_time("COMM", "barrier"):
            MPI.COMM_WORLD.Barrier()
        MPI.Finalize()
    """, command=[str(extras() / "mpiexec"), "-n", "2", str(extras() / "python")], quiet=False)
    assert sorted(int(trace.metadata["rank"]) for trace in program.traces()) == [0, 1]


# ---- pydftracer's tests ----

# These look, after a call, into the private dictionaries in which pydftracer leaves the call's arguments for the next one.
LEAKS = ["test_log_from_function_params", "test_log_from_method_params", "test_log_init_from_constructor_params"]


def test_suite_of_pydftracer(tmp_path):
    """DFTRACER_SUITE names a checkout of pydftracer; DFTRACER_SUITE_PYTHON an interpreter with pytest, numpy, h5py and Pillow."""
    checkout, python = os.environ.get("DFTRACER_SUITE"), os.environ.get("DFTRACER_SUITE_PYTHON", sys.executable)
    if not checkout:
        pytest.skip("DFTRACER_SUITE names no checkout of pydftracer")
    shutil.copytree(os.path.join(checkout, "tests"), tmp_path / "tests")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("DFTRACER", "LEXTRACE", "PYTEST"))}
    environment.update(PYTHONPATH=os.pathsep.join([package_parent(), str(DROPIN)]), DFTRACER_TRACE_DIALECT="1")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "tests", "--ignore=tests/poc"]
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        words.append("--ignore=tests/test_pytorch_profiler.py")  # it imports torch
    done = subprocess.run([python, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
    failed = re.findall(r"^(?:FAILED|ERROR) \S+::(\w+(?:\[.*?\])?)", done.stdout, re.M)
    assert sorted(failed) == sorted(LEAKS), done.stdout[-4000:]
    assert len(re.findall(r"^PASSED ", done.stdout, re.M)) >= 60
