"""However a program ends, what was recorded is there, with its names, and the program ends as it would untraced."""
import os
import signal
import subprocess
import time

import pytest

import lextrace_tools as tools

WORK = """
import ctypes, os, signal, sys, time

def leaf(n):
    return n

def busy():
    for n in range(1000):
        leaf(n)
    end()

def end():
    %s

busy()
"""

ENDS = {
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    "SIGSEGV": ("ctypes.string_at(0)", -signal.SIGSEGV),
    "abort": ("os.abort()", -signal.SIGABRT),
    "_exit": ("os._exit(7)", 7),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(30)", -signal.SIGTERM),
    "SIGFPE": ("os.kill(os.getpid(), signal.SIGFPE); time.sleep(30)", -signal.SIGFPE),
    "C exit": ("ctypes.CDLL(None).exit(9)", 9),
    "C _exit": ("ctypes.CDLL(None)._exit(9)", 9),
    "quick_exit": ("ctypes.CDLL(None).quick_exit(9)", 9),
    "exec": ("os.execv(sys.executable, [sys.executable, '-S', '-c', 'import sys; sys.exit(5)'])", 5),
    "exec no python": ("os.execv('/bin/sh', ['sh', '-c', 'exit 6'])", 6),
    "exec without environment": ("os.execve('/bin/sh', ['sh', '-c', 'exit 6'], {})", 6),
}


@pytest.mark.parametrize("how", ENDS)
def test_sudden_end(trace, how):
    code, status = ENDS[how]
    result = trace.same(WORK % code)
    assert result.returncode == status
    assert result.counts("app.py") == {"<module>": 1, "busy": 1, "leaf": 1000, "end": 1}
    bodies = [one for one in tools.slices(result.run.main)[0] if tools.wanted(one, "app.py")]
    assert {one.name for one in bodies if one.how is None} == {"<module>", "busy", "end"}
    assert result.run.lost == 0


def test_nothing_of_a_killed_program_is_missing(trace):
    """The program says after each call that it was made; a kill at any moment loses none that was said."""
    program = trace.program("""
        import os

        def leaf(n):
            return n

        while True:
            for n in range(500):
                leaf(n)
            os.write(1, b".")
    """)
    for wait in (0.05, 0.31):
        folder = trace.folder()
        with subprocess.Popen([tools.lextrace_binary(), "run", "-o", str(folder), tools.PYTHON, str(program)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                              env=tools.clean_environment()) as process:
            said = os.read(process.stdout.fileno(), 1)
            time.sleep(wait)
            process.kill()
            said += process.stdout.read()
            process.wait()
        result = tools.Result(subprocess.CompletedProcess([], -9, "", ""), folder)
        result.compare = True
        trace.results.append(result)
        leaves = result.counts("app.py")["leaf"]
        assert 500 * len(said) <= leaves <= 500 * (len(said) + 1), (leaves, len(said))


def test_killed_while_it_starts(trace):
    """Whatever lies there after a kill in the first milliseconds, no reader fails on it."""
    program = trace.program("print(1)")
    seen = set()
    for number in range(40):
        folder = trace.tmp_path / ("early-%d" % number)
        with subprocess.Popen([tools.lextrace_binary(), "run", "-o", str(folder), tools.PYTHON, str(program)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=tools.clean_environment()) as process:
            time.sleep(0.002 * number)
            process.kill()
            process.wait()
        seen.add(folder.exists() and len(tools.Run(folder).processes))
        for words in (["report"], ["view"], ["info"], ["repair"]):
            done = tools.lextrace(*words, folder)
            assert done.returncode in (0, 1) and done.stderr == "", (number, words, done.returncode, done.stderr)
            assert done.returncode == 0 or len(done.said) == 1, (number, words, done.said)
        if folder.exists() and tools.Run(folder).processes:
            tools.check_with_babeltrace(folder)
    assert len(seen) > 1, "the kills were all too early or all too late"


def test_killed_again_and_again(trace):
    """Kills at 12 moments: every folder reads, balances and repairs."""
    program = trace.program("""
        import threading

        def leaf(n):
            return n

        def work():
            while True:
                leaf(sum(range(300)))

        for _ in range(2):
            threading.Thread(target=work).start()
        work()
    """)
    for number in range(12):
        folder = trace.folder()
        with subprocess.Popen([tools.lextrace_binary(), "run", "-o", str(folder), tools.PYTHON, str(program)],
                              stderr=subprocess.DEVNULL, env=tools.clean_environment()) as process:
            time.sleep(0.02 + 0.022 * number)
            process.kill()
            process.wait()
        result = tools.Result(subprocess.CompletedProcess([], -9, "", ""), folder)
        result.compare = False
        if not folder.exists() or not result.run.processes:  # killed before its trace began
            assert not list(folder.glob("*/stream-*"))
            continue
        trace.results.append(result)
        tools.balance(result.run)
        tools.check_streams(result.run.main)


@pytest.mark.parametrize("code, status", [
    ("sys.exit(3)", 3), ("sys.exit('a word')", 1), ("sys.exit(None)", 0), ("raise SystemExit(256 + 4)", 4),
    ("raise ValueError('no')", 1), ("raise KeyboardInterrupt", -signal.SIGINT), ("1 / 0", 1),
    ("import threading; threading.Thread(target=lambda: 1 / 0).start()", 0),
    ("import atexit; atexit.register(lambda: os._exit(4))", 4),
])
def test_orderly_end(trace, code, status):
    result = trace.same(WORK % code)
    assert result.returncode == status
    counts = result.counts("app.py")
    assert (counts["leaf"], counts["end"]) == (1000, 1)
    state = result.run.main.state
    if status not in (4, -signal.SIGINT) or "SystemExit" in code:
        assert (state["ended"], state["exit_status"]) == (1, status)
    # os._exit and death by a signal (so ends Python after a KeyboardInterrupt) are no end by exit.
    assert state["ended"] == 1 or status in (4, -signal.SIGINT)


def test_exit_functions_are_traced(trace):
    result = trace.same("""
        import atexit

        def early():
            print("early")

        def late():
            print("late")

        class Kept:
            def __del__(self):
                pass

        atexit.register(late)
        atexit.register(early)
        kept = Kept()
    """)
    counts = result.counts("app.py")
    assert (counts["early"], counts["late"]) == (1, 1)
    assert counts["Kept.__del__"] == 1


def test_default_sigterm_while_asleep(trace):
    started = time.monotonic()
    result = trace.same("""
        import os, signal, threading, time

        def warm_up(n):
            return n

        def wait_for_orders():
            time.sleep(30)

        def shutter():
            os.kill(os.getpid(), signal.SIGTERM)

        for n in range(4):
            warm_up(n)
        print("open", flush=True)
        timer = threading.Timer(0.2, shutter)
        timer.daemon = True
        timer.start()
        wait_for_orders()
        print("never printed")
    """)
    assert result.returncode == -signal.SIGTERM and result.stdout == "open\n"
    assert time.monotonic() - started < 20
    counts = result.counts("app.py")
    assert (counts["warm_up"], counts["wait_for_orders"], counts["shutter"]) == (4, 1, 1)


def test_status_143_for_a_shell(trace):
    program = trace.program("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    done = tools.execute(["sh", "-c", '"$0" run -q -o "$1" "$2" "$3"; echo $?', tools.lextrace_binary(),
                          str(trace.folder()), tools.PYTHON, str(program)])
    assert done.stdout == "143\n"


def test_handled_signals(trace):
    result = trace.same("""
        import os, signal, time

        def handler(number, frame):
            print("got", number, frame.f_code.co_name)

        def sender():
            for number in (signal.SIGTERM, signal.SIGUSR2, signal.SIGHUP):
                signal.signal(number, handler)
                os.kill(os.getpid(), number)
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            time.sleep(0.05)

        sender()
    """)
    assert result.counts("app.py")["handler"] == 4
    assert tools.balance(result.run) == {}


def test_signal_handler_that_raises(trace):
    result = trace.same("""
        import os, signal

        class Stop(Exception):
            pass

        def handler(number, frame):
            raise Stop

        def leaf():
            pass

        def loop():
            while True:
                leaf()

        signal.signal(signal.SIGALRM, handler)
        for _ in range(20):
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            try:
                loop()
            except Stop:
                pass
        print("done")
    """)
    assert (result.counts("app.py")["loop"], result.counts("app.py")["handler"]) == (20, 20)
    assert tools.balance(result.run) == {}


def test_repair_makes_the_folder_whole_for_babeltrace(trace):
    result = trace(WORK % "os.kill(os.getpid(), signal.SIGKILL)")
    before = [list(process.events()) for process in result.run.processes]
    done = tools.lextrace("repair", result.folder)
    assert done.returncode == 0
    repaired = tools.Run(result.folder)
    assert [list(process.events()) for process in repaired.processes] == before
    tools.check_with_babeltrace(repaired)
    first = {path: path.read_bytes() for path in result.folder.rglob("*") if path.is_file()}
    assert tools.lextrace("repair", result.folder).returncode == 0
    assert {path: path.read_bytes() for path in result.folder.rglob("*") if path.is_file()} == first, \
        "a second repair changes nothing"


def test_torn_stream_is_read_to_its_last_whole_packet(trace):
    result = trace("""
        def leaf():
            pass
        for _ in range(60_000):
            leaf()
    """)
    stream = max(result.run.main.folder.glob("stream-*"), key=lambda path: path.stat().st_size)
    size = stream.stat().st_size
    whole = [packet.fields["packet_size"] // 8 for packet in result.run.main.streams[int(stream.name[7:])]]
    result.compare = False
    for cut in (1, 100, whole[-1] - 1, whole[-1] + 5000):
        os.truncate(stream, size - cut)
        torn = tools.Run(result.folder)
        left, events = size - cut, 0
        for packet in result.run.main.streams[int(stream.name[7:])]:
            left -= packet.fields["packet_size"] // 8
            if left < 0:
                break
            events += packet.fields["events"]
        assert sum(len(list(process.events())) for process in torn.processes) == events
        viewed = tools.view_events(result.folder)
        assert len(viewed) == events
    assert tools.lextrace("repair", result.folder).returncode == 0
    tools.check_with_babeltrace(result.folder)


def test_interrupt_key(trace):
    program = trace.program("""
        import time
        def wait():
            print("ready", flush=True)
            time.sleep(30)
        try:
            wait()
        except KeyboardInterrupt:
            print("interrupted")
    """)
    folder = trace.folder()
    with subprocess.Popen([tools.lextrace_binary(), "run", "-q", "-o", str(folder), tools.PYTHON, str(program)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                          env=tools.clean_environment()) as process:
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "interrupted\n", "")
    assert tools.counts(folder, "app.py")["wait"] == 1


def test_program_that_never_starts(trace):
    for code in ("def broken(:\n", "raise RuntimeError\n", "import nothing_of_that_name\n"):
        result = trace.same(trace.program(code))
        assert result.returncode == 1 and result.run.processes


def test_exit_while_threads_call(trace):
    for _ in range(5):
        result = trace.same("""
            import sys, threading

            def leaf():
                pass

            def loop():
                while True:
                    leaf()

            for _ in range(4):
                threading.Thread(target=loop, daemon=True).start()
            sys.exit(6)
        """, compare=False)
        assert result.returncode == 6
