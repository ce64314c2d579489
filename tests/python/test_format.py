"""The trace folder: its layout, the packets, and that it can be read at every moment."""
import os
import subprocess
import time

import lextrace_tools as tools


def test_tables_of_the_header():
    assert sorted(tools.KINDS) == list(range(len(tools.KINDS))) and max(tools.KINDS) < 31
    for name in ("python:function_begin", "python:function_end", "python:function_yield", "python:function_resume",
                 "python:function_unwind", "python:c_call_begin", "python:c_call_end", "python:c_call_raise",
                 "user:region_begin", "user:region_end"):
        assert name in tools.KIND_IDS
    assert tools._PACKET.size % 8 == 0
    assert tools.unescape(rb"a\x0Ab\\c\x00") == b"a\nb\\c\0"


def test_layout(trace):
    result = trace("print(1)\n")
    run = result.folder
    assert [path.name for path in run.iterdir() if not path.is_dir() and path.name != "notes"] == []
    process, = [path for path in run.iterdir() if path.is_dir()]
    top = {path.name for path in process.iterdir() if path.is_file()}
    # babeltrace2 takes every plain file beside metadata for a stream.
    assert "metadata" in top and all(name == "metadata" or name.startswith("stream-") for name in top)
    assert {path.name for path in process.iterdir() if path.is_dir()} == {"lextrace"}
    side = {path.name for path in (process / "lextrace").iterdir()}
    assert {"state", "process", "lexgions"} <= side
    assert (process / "metadata").read_bytes().startswith(b"/* CTF 1.8 */")
    assert str(result.run.main.state["pid"]) in process.name.split("-")


def test_begin_and_end_are_8_bytes(trace):
    result = trace("""
        def leaf():
            pass
        for _ in range(1000):
            leaf()
    """)
    main = result.run.main
    leaf, = [number for number, lexgion in main.lexgions.items() if lexgion.name == "leaf"]
    words = [word for packet in main.packets() for word in packet.words]
    mine = [word for word in words if word & 31 in (0, 1) and
            (((word >> 32) & 0xFFFF) << 8 | word >> 48) == leaf]
    assert len(mine) >= 1990


def test_readable_at_every_moment(trace):
    """While the program runs: metadata is whole, our reader and `lextrace view` agree with what was recorded so far."""
    program = trace.program("""
        import os, sys
        space = {}
        os.write(1, b".")
        for n in range(3000):
            exec(compile("def f%d(): return 1\\nf%d()" % (n, n), "made%d.py" % n, "exec"), space)
            for _ in range(40):
                space["f%d" % n]()
        os.write(1, b".")
        sys.stdin.read()
    """)
    folder = trace.folder()
    with subprocess.Popen([tools.lextrace_binary(), "run", "-q", "-o", str(folder), tools.PYTHON, str(program)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=tools.clean_environment()) as process:
        assert os.read(process.stdout.fileno(), 1) == b"."
        for _ in range(6):
            for path in folder.glob("*/metadata"):
                text = path.read_bytes()
                assert text.startswith(b"/* CTF 1.8 */") and text.rstrip().endswith(b"};")
            run = tools.Run(folder)
            if run.processes:
                for packet in run.main.packets():
                    for event in tools.packet_events(packet):
                        assert event.kind in tools.KINDS and event.value in run.main.lexgions
        done = tools.lextrace("view", folder)
        assert done.returncode == 0 and "python:function_begin" in done.stdout
        assert os.read(process.stdout.fileno(), 1) == b"."
        time.sleep(0.05)
        # The program waits: all it did is in the trace already.
        now = tools.counts(folder)
        assert sum(count for name, count in now.items() if name.startswith("f") and name[1:].isdigit()) == 3000 * 41
        process.stdin.close()
        assert process.wait(timeout=30) == 0
    assert tools.Run(folder).main.state["ended"] == 1
    tools.check_with_babeltrace(folder)


def test_run_opens_in_babeltrace_as_one_folder(trace):
    result = trace("""
        import subprocess, sys, threading
        def work(): pass
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
        for _ in range(3):
            subprocess.run([sys.executable, "-c", "def child(): pass\\nchild()"])
    """)
    lines = tools.babeltrace_lines(result.folder)
    assert len(lines) == sum(len(list(process.events())) for process in result.run.processes)
    assert sum(' child ' in rest or '"child ' in rest for _, name, rest in lines if name == "python:function_begin") == 3


def test_environment_block(trace):
    result = trace("print(1)\n", args=["x y"])
    text = (result.run.main.folder / "metadata").read_text()
    env = text[text.index("env {"):]
    env = env[:env.index("};")]
    assert "x y" in env and "3." in env and str(result.run.main.state["pid"]) in env


def test_clock_lines_up_between_processes(trace):
    """A child's events lie between the fork and the wait of its parent, on the clock of the run."""
    result = trace("""
        import os
        def fork_and_wait():
            pid = os.fork()
            if pid == 0:
                child()
                os._exit(0)
            os.waitpid(pid, 0)
        def child():
            pass
        fork_and_wait()
    """)

    def real(process, ticks):
        state = process.state
        return state["start_realtime"] + (ticks - state["start_ticks"]) * 1e9 / state["clock_frequency"]
    parent, other = result.run.processes
    outer, = [one for one in tools.slices(parent)[0] if one.name == "fork_and_wait"]
    inner, = [one for one in tools.slices(other)[0] if one.name == "child"]
    slack = 50_000
    assert real(parent, outer.begin) - slack < real(other, inner.begin) < real(parent, outer.end) + slack
