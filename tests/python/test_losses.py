"""When the trace cannot be kept the program goes on with its own result, and what is lost is counted by its cause."""
import os
import resource
import shutil
import subprocess

import pytest

import lextrace_tools as tools

CALLS = 400_000
WORK = """
import sys

def leaf(n):
    return n

total = 0
for n in range(%d):
    total += leaf(n)
print(total)
sys.exit(5)
""" % CALLS
RESULT = (5, "%d\n" % (CALLS * (CALLS - 1) // 2), "")


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        pytest.skip("cannot mount a tmpfs here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def recorded(run):
    return sum(len(list(process.events())) for process in run.processes)


def whole(trace):
    """Events of an untroubled run of the same program: what must be there, present or lost."""
    return recorded(trace(WORK, compare=False).run)


def run_into(folder, trace, **more):
    program = trace.program(WORK)
    return tools.execute([tools.lextrace_binary(), "run", "-o", str(folder), tools.PYTHON, str(program)], folder, **more)


def accounts(result, expected, cause):
    """Present and lost add up; the cause is the right one; the closing line and every reader say so."""
    run = result.run
    lost = {name: count for name, count in run.main.lost.items() if count}
    assert set(lost) == {cause}, lost
    # Some events differ from run to run (imports, caches): a few in a thousand at most.
    assert abs(recorded(run) + lost[cause] - expected) < expected / 200
    assert run.main.state["lost_at"][cause] > 0
    text = {row[2]: row[3] for row in tools._table("LX_LOSSES", tools._HEADER)}[cause]
    assert len(result.said) == 1 and "LOST" in result.said[0] and text in result.said[0], result.said
    report = tools.lextrace("report", result.folder)
    assert report.returncode == 0 and "LOST" in report.stdout + " ".join(report.said)
    tools.check_streams(run.main)


def test_full_disk(trace, small_disk, tmp_path):
    expected = whole(trace)
    result = run_into(small_disk / "out", trace)
    assert result.outcome() == RESULT
    accounts(result, expected, "lost_disk_full")
    assert recorded(result.run) > 20_000, "what fits is kept"
    # After the disk is repaired by room, babeltrace2 reads what is there.
    copy = tmp_path / "copy"
    shutil.copytree(result.folder, copy)
    assert tools.lextrace("repair", copy).returncode == 0
    tools.check_with_babeltrace(copy)


def test_disk_full_from_the_start(trace, small_disk):
    with open(small_disk / "filler", "wb", buffering=0) as handle:
        try:
            while True:
                handle.write(b"x" * 4096)
        except OSError:
            pass
    result = run_into(small_disk / "out", trace)
    assert result.returncode in (5, 125)
    if result.returncode == 5:
        assert result.outcome() == RESULT
    assert len(result.said) == 1
    assert "LOST" in result.said[0] or "No space left" in result.said[0]


def test_disk_that_fills_and_empties(trace, small_disk):
    program = trace.program("""
        import os, sys

        def leaf(n):
            return n

        filler = sys.argv[1]
        for n in range(30_000):
            leaf(n)
        with open(filler, "wb", buffering=0) as handle:
            try:
                while True:
                    handle.write(b"x" * 4096)
            except OSError:
                pass
        for n in range(100_000):
            leaf(n)
        os.unlink(filler)
        for n in range(20_000):
            leaf(n)
        print("done")
    """)
    result = tools.execute([tools.lextrace_binary(), "run", "-o", str(small_disk / "out"), tools.PYTHON, str(program),
                            str(small_disk / "filler")], small_disk / "out")
    assert result.outcome() == (0, "done\n", "")
    lost = result.run.main.lost["lost_disk_full"]
    assert lost > 0 and "LOST" in result.said[0]
    present = result.counts("app.py")["leaf"]
    assert 25_000 < present < 150_000 and abs(2 * present + lost - 300_000) < 3000


@pytest.mark.parametrize("limit", [0, 40_000, 300_000, 1_000_000])
def test_file_size_limit(trace, limit, tmp_path):
    """RLIMIT_FSIZE: no SIGXFSZ, whatever the program did with that signal."""
    expected = whole(trace)
    program = trace.program(WORK)
    folder = tmp_path / "limited"

    def limits():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    result = tools.execute([tools.lextrace_binary(), "run", "-o", str(folder), tools.PYTHON, str(program)], folder,
                           preexec_fn=limits)
    assert result.outcome() == RESULT
    if limit >= 300_000:
        accounts(result, expected, "lost_file_limit")
        assert recorded(result.run) > limit / 8 / 4
    else:
        assert len(result.said) == 1


def test_limit_set_by_the_program(trace):
    result = trace.same("""
        import resource, signal, sys

        def leaf(n):
            return n

        for n in range(20_000):
            leaf(n)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        for n in range(100_000):
            leaf(n)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("alive")
    """, compare=False)
    assert result.stdout == "alive\n"
    main = result.run.main
    assert {name for name, count in main.lost.items() if count} <= {"lost_file_limit"}
    leaves = result.counts("app.py")["leaf"]
    assert leaves >= 15_000 and abs(2 * leaves + sum(main.lost.values()) - 240_000) < 2000


def test_folder_that_vanishes(trace):
    folder = trace.folder()
    program = trace.program("""
        import shutil, sys

        def leaf(n):
            return n

        for n in range(50_000):
            leaf(n)
        shutil.rmtree(sys.argv[1])
        for n in range(100_000):
            leaf(n)
        print("done")
        sys.exit(3)
    """)
    result = tools.execute([tools.lextrace_binary(), "run", "-o", str(folder), tools.PYTHON, str(program), str(folder)],
                           folder)
    assert result.outcome() == (3, "done\n", "")
    assert len(result.said) == 1 and "LOST" in result.said[0] and "trace folder gone" in result.said[0], result.said


def test_folder_that_is_renamed(trace):
    folder = trace.folder()
    program = trace.program("""
        import os, sys

        def leaf(n):
            return n

        for n in range(50_000):
            leaf(n)
        os.rename(sys.argv[1], sys.argv[1] + "-moved")
        for n in range(100_000):
            leaf(n)
        print("done")
    """)
    result = tools.execute([tools.lextrace_binary(), "run", "-o", str(folder), tools.PYTHON, str(program), str(folder)],
                           folder)
    assert result.outcome() == (0, "done\n", "")
    moved = tools.Run(str(folder) + "-moved")
    # All but what the open packet held: it is overwritten, as it cannot be appended any more. 16 bytes a call.
    assert 50_000 - 262_144 // 16 <= tools.counts(moved, "app.py")["leaf"] <= 50_000
    tools.check_streams(moved.main)


def test_read_only_folder(trace, tmp_path):
    """Where the folder cannot be made the program is not started, unless the folder is ours no more in mid-run."""
    program = trace.program("print('ran')")
    result = tools.execute([tools.lextrace_binary(), "run", "-o", "/proc/nothing/run", tools.PYTHON, str(program)])
    assert result.returncode == 125 and result.stdout == "" and len(result.said) == 1
    result = tools.execute([tools.lextrace_binary(), "run", "-o", "/sys/run", tools.PYTHON, str(program)])
    assert result.returncode == 125 and result.stdout == "" and len(result.said) == 1


def test_folder_without_rights_for_a_child(trace, tmp_path):
    """A process that may not write into the run folder (here: another user) runs untraced, not otherwise disturbed."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    program = trace.program("""
        import os, subprocess, sys

        def work():
            return 1

        pid = os.fork()
        if pid == 0:
            os.setgid(65534)
            os.setuid(65534)
            for _ in range(100):
                work()
            pid = os.fork()
            if pid == 0:
                for _ in range(100):
                    work()
                os._exit(0)
            os.waitpid(pid, 0)
            print("child", flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
        print("parent")
    """)
    result = trace.same(program, compare=False)
    assert result.stdout == "child\nparent\n"


def test_constant_memory(trace):
    """What the tracer takes of memory does not grow with the number of calls."""
    program = trace.program("""
        import resource, sys

        def leaf(n):
            return n

        for n in range(int(sys.argv[1])):
            leaf(n)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """)
    peaks = {}
    for calls in (1000, 100_000, 3_000_000):
        plain = int(trace.untraced(program, args=[calls]).stdout)
        result = trace(program, args=[calls], compare=False)
        assert result.returncode == 0
        peaks[calls] = int(result.stdout) - plain
        shutil.rmtree(result.folder)
    assert peaks[3_000_000] - peaks[100_000] < 1024, peaks
    assert peaks[3_000_000] < 8 * 1024, peaks


def test_million_calls_are_all_there(trace):
    result = trace.same("""
        def leaf(n):
            return n & 1

        def branch(start):
            return sum([leaf(n) for n in range(start, start + 1000)])

        def main():
            total = 0
            for n in range(1000):
                total += branch(n * 1000)
            return total

        print("odd", main())
    """, compare=False)
    counts = result.counts("app.py")
    assert (counts["leaf"], counts["branch"], counts["main"]) == (1_000_000, 1000, 1)
    assert result.run.lost == 0 and "none lost" in result.said[0]
    shutil.rmtree(result.folder)


def test_address_space_limit(trace):
    """No memory for the tracer: the program has its own result, or its own MemoryError."""
    program = trace.program(WORK)

    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (220 << 20, 220 << 20))
    result = trace(program, compare=False, preexec_fn=limits)
    assert result.outcome() == RESULT


def test_no_descriptors_left(trace):
    """A program that used up its descriptors: events are lost and counted, or kept; the program does not notice."""
    result = trace.same("""
        import os, resource

        def leaf(n):
            return n

        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
        held = []
        try:
            while True:
                held.append(os.dup(0))
        except OSError as error:
            print(error.errno, len(held))
        for n in range(100_000):
            leaf(n)
        for fd in held:
            os.close(fd)
        for n in range(1000):
            leaf(n)
        print("done")
    """, compare=False)
    leaves, lost = result.counts("app.py")["leaf"], sum(result.run.main.lost.values())
    assert abs(2 * leaves + lost - 202_000) < 2000
