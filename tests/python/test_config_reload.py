"""SIGUSR1 and lextrace.reload(): when they take effect, what they change and what they leave."""
import signal
import sys

import lextrace_tools as tools
import pytest
from config_tools import count, run_config
from test_config_modes import in_balance, mode_events

NO_C = "[Python.default]\npysysmon_c_start = off\npysysmon_c_return = off\n"
QUIET = NO_C + "trace_mode = STANDBY\n"

START = """
import os, signal, subprocess, sys, threading, time
def write(text):
    with open("trace.new", "w") as file: file.write(text)
    os.replace("trace.new", "trace.conf")
NO_C = "[Python.default]\\npysysmon_c_start = off\\npysysmon_c_return = off\\n"
def signal_from_outside(after=0.2):
    return subprocess.Popen(["sh", "-c", f"sleep {after}; kill -USR1 {os.getpid()}"])
def f(): pass
"""


def run(trace, config, program, environment=None, **more):
    return run_config(trace, config, trace.program(START + program), environment, cwd=trace.tmp_path, **more)


@pytest.fixture
def env():
    return {"PYTHONPATH": tools.package_parent()}


# ---- Whatever the main thread does ----

WAITS = {
    "sleep": "time.sleep(0.8)",
    "lock": "lock = threading.Lock(); lock.acquire(); lock.acquire(timeout=0.8)",
    "condition": "condition = threading.Condition()\n    with condition: condition.wait(0.8)",
    "select": "select.select([ours], [], [], 0.8)",
    "read": "os.read(ours, 1)",
    "child": "helper.wait()",
    "join": "thread.join(0.8)",
    "signals": "signal.sigtimedwait([signal.SIGUSR2], 0.8)",
    "compute": "end = time.monotonic() + 0.8\n    while time.monotonic() < end: sum(range(100))",
}


def test_at_once_whatever_the_main_thread_waits_for(trace):
    """The reload is there well before the wait is over, and the wait is not cut short."""
    program = "import select\nours, theirs = os.pipe()\nthread = threading.Thread(target=time.sleep, args=(30,), daemon=True)\n" \
              "thread.start()\n"
    for number, wait in enumerate(WAITS):
        release = "; echo >&{theirs}" if wait == "read" else ""
        program += f"""
def wait_{wait}():
    {WAITS[wait]}
def after_{wait}(): pass
write(NO_C + "[Knob]\\nn = {number}\\n")
begin = time.monotonic()
helper = subprocess.Popen(["sh", "-c", f"sleep 0.1; kill -USR1 {{os.getpid()}}; sleep 0.7{release}"], pass_fds=[theirs])
wait_{wait}()
after_{wait}()
if time.monotonic() - begin < 0.75: print("{wait} was cut short")
helper.wait()
"""
    result = run(trace, NO_C, program)
    assert result.stdout == ""
    process = result.run.main
    moments = {process.lexgion(event.value).name: event.ticks for event in process.events()
               if tools.KINDS[event.kind] == "python:function_begin"}
    reloads = [ticks for ticks, what in process.journal if what.startswith("reload ")]
    assert len(reloads) == len(WAITS)
    for reload, wait in zip(reloads, WAITS):
        assert reload < moments["after_" + wait] - 0.2 * process.state["clock_frequency"], wait


def test_while_another_thread_works(trace):
    program = """
write(NO_C + "trace_mode = TRACING\\n[Lexgion(Python:f)]\\nmax_num_traces = 7\\n")
calls = 0
def work():
    global calls
    while not done:
        f()
        calls += 1
done = False
thread = threading.Thread(target=work)
thread.start()
signal_from_outside(0.1).wait()
enough = calls + 1000
while calls < enough: time.sleep(0.01)
done = True
thread.join()
"""
    assert count(run(trace, QUIET, program), threads=True)["f", 1] == 7


@pytest.mark.parametrize("whole", [True, False])
def test_hundreds_a_second_under_load(trace, whole):
    program = f"""
texts = [NO_C, "[Lexgion(Python).default]\\nmax_num_traces = 5\\n", NO_C + "[Lexgion(Python).default]\\ntracing_rate = 3\\n",
         NO_C + "trace_mode = STANDBY\\n", NO_C + "trace_mode = MONITORING\\n", "[Bad\\n", NO_C + "trace_mode = OFF\\n",
         NO_C + "[Lexgion(Python:f)]\\npysysmon_c_start = on\\nmax_num_traces = 100\\n"]
me = os.getpid()
child = os.fork()
if child == 0:
    end = time.monotonic() + 2
    n = 0
    while time.monotonic() < end:
        if {whole}: write(texts[n % len(texts)])
        else:
            with open("trace.conf", "w") as file: file.write(texts[n % len(texts)])
        os.kill(me, signal.SIGUSR1)
        n += 1
        time.sleep(0.002)
    write(NO_C)
    os.kill(me, signal.SIGUSR1)
    os._exit(0)
def rec(n):
    if n: rec(n - 1)
def gen():
    for n in range(3): yield n
done = False
def work():
    while not done:
        f(); rec(9); list(gen())
        try: int("x")
        except ValueError: pass
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
os.waitpid(child, 0)
time.sleep(0.1)
done = True
for thread in threads: thread.join()
def last(): pass
for _ in range(10): last()
"""
    result = run(trace, NO_C, program, options=["--no-follow"], compare=False)
    in_balance(result, open_at_end=200)
    process = result.run.processes[0]
    assert process.state["reloads"] > 50 and sum(process.lost.values()) == 0
    assert len(result.said) <= 10


# ---- What it changes ----

def test_counters_are_kept(trace):
    program = """
for _ in range(50): f()
write(NO_C + "[Lexgion(Python:f)]\\nmax_num_traces = 10\\n")
os.kill(os.getpid(), signal.SIGUSR1)
for _ in range(50): f()
"""
    assert count(run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 5\n", program))["f"] == 10


def test_no_call_is_left_half_recorded(trace, env):
    program = """
import lextrace
def rec(n):
    if n == 5:
        write(NO_C + "[Lexgion(Python:rec)]\\nmax_num_traces = 0\\n[Lexgion(Python:gen)]\\nmax_num_traces = 0\\n")
        lextrace.reload()
    if n: rec(n - 1)
    return n
def gen():
    yield 1
    yield 2
rec(9)
rec(3)
"""
    result = in_balance(run(trace, NO_C, program, env))
    assert count(result)["rec"] == count(result, "function_end")["rec"] == 5


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 cannot tell which generators wait")
def test_generators_that_wait_at_a_reload_are_recorded_to_their_end(trace, env):
    program = """
import asyncio, lextrace
def gen():
    yield 1
    yield 2
async def co(event):
    await event.wait()
    await asyncio.sleep(0)
async def main():
    event = asyncio.Event()
    tasks = [asyncio.ensure_future(co(event)) for _ in range(3)]
    await asyncio.sleep(0)
    write(NO_C + "[Lexgion(Python:gen, Python:co)]\\nmax_num_traces = 0\\n")
    lextrace.reload()
    event.set()
    await asyncio.gather(*tasks)
    await asyncio.gather(co(event), co(event))
waiting = [gen() for _ in range(4)]
for one in waiting: next(one)
fresh = gen()
asyncio.run(main())
for one in waiting: list(one)
list(fresh)
"""
    result = in_balance(run(trace, NO_C, program, env))
    assert count(result)["gen"] == count(result, "function_end")["gen"] == 4
    assert count(result, "function_yield")["gen"] == count(result, "function_resume")["gen"] == 8
    assert count(result)["co"] == count(result, "function_end")["co"] == 3


def test_a_mode_changes_only_if_the_file_says_something_else_of_it(trace, env):
    program = """
import lextrace
lextrace.mode("Python", "TRACING")
f()
write(NO_C + "trace_mode = STANDBY\\n[Lexgion(Python:f)]\\nmax_num_traces = 3\\n")
lextrace.reload()
print(lextrace.mode("Python"))
write(NO_C)
lextrace.reload()
print(lextrace.mode("Python"))
write(NO_C + "trace_mode = STANDBY\\n")
lextrace.reload()
print(lextrace.mode("Python"))
"""
    result = run(trace, QUIET, program, env)
    assert result.stdout.split() == ["TRACING", "TRACING", "STANDBY"]
    assert mode_events(result) == [("Python", "STANDBY")]


def test_the_file_counts_at_a_reload_not_the_environment(trace):
    program = """
write(NO_C + "trace_mode = TRACING\\n")
os.kill(os.getpid(), signal.SIGUSR1)
f()
"""
    assert count(run(trace, QUIET, program, {"PINSIGHT_TRACE_PYTHON": "OFF"}))["f"] == 1


@pytest.mark.parametrize("spoil", ['write("[Lexgion(Python:f)]\\nmax_num_trace = 1\\n")', 'os.remove("trace.conf")',
                                   'os.remove("trace.conf"); os.mkdir("trace.conf")', 'write("\\0")', 'write("[" * 100000)'])
def test_a_bad_reload_changes_nothing(trace, env, spoil):
    program = f"""
import lextrace
for _ in range(3): f()
{spoil}
for _ in range(3):
    os.kill(os.getpid(), signal.SIGUSR1)
    f()
try: lextrace.reload()
except ValueError as error: print("wrong:", str(error)[:200])
for _ in range(20): f()
"""
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 8\n", program, env)
    assert count(result)["f"] == 8
    assert "wrong: " in result.stdout and "trace.conf" in result.stdout
    said = [line for line in result.said if "trace.conf" in line]
    assert len(said) == 1, said
    assert "trace.conf" in (result.folder / "notes").read_text()


def test_bad_and_empty_reloads_in_turn(trace, env):
    program = """
import lextrace
for text in ("", "# nothing\\n", NO_C * 1000, "\\ufeff" + NO_C, NO_C.replace("\\n", "\\r\\n")):
    write(text)
    lextrace.reload()
f()
"""
    result = run(trace, NO_C, program, env)
    assert count(result)["f"] == 1 and result.run.processes[0].state["reloads"] == 5


# ---- The program's own handlers ----

def test_a_handler_from_before_is_called_after_ours(trace, env):
    program = """
import lextrace
calls = []
def own(number, frame): calls.append((number, lextrace.knob("n")))
signal.signal(signal.SIGUSR1, own)
write(NO_C + "[Knob]\\nn = 1\\n")
lextrace.start("inner", config="trace.conf")
write(NO_C + "[Knob]\\nn = 2\\n")
os.kill(os.getpid(), signal.SIGUSR1)
time.sleep(0.05)
lextrace.stop()
assert signal.getsignal(signal.SIGUSR1) is own
print(calls)
"""
    done = tools.execute([tools.PYTHON, "-c", START + program], cwd=trace.tmp_path, env=tools.clean_environment(**env))
    assert done.stdout == f"[({int(signal.SIGUSR1)}, 2)]\n", done.stderr


def test_a_handler_from_later_replaces_ours_and_is_noted(trace):
    program = """
calls = []
signal.signal(signal.SIGUSR1, lambda *_: calls.append(1))
write(QUIET if False else NO_C + "trace_mode = OFF\\n")
os.kill(os.getpid(), signal.SIGUSR1)
f()
print(calls)
"""
    result = run(trace, NO_C, program)
    assert result.stdout == "[1]\n" and count(result)["f"] == 1
    assert "has taken SIGUSR1 for itself" in (result.folder / "notes").read_text()


def test_a_signal_while_the_interpreter_ends_does_not_kill(trace):
    program = """
class Last:
    def __del__(self, kill=os.kill, pid=os.getpid(), write=os.write):
        kill(pid, 10)
        write(1, b"alive\\n")
sys.last_of_all = Last()
"""
    assert signal.SIGUSR1 == 10
    result = run(trace, NO_C, program)
    assert (result.returncode, result.stdout) == (0, "alive\n")


def test_signals_are_otherwise_as_untraced(trace):
    program = """
print({name: signal.getsignal(getattr(signal, name)) for name in ("SIGUSR2", "SIGINT", "SIGTERM", "SIGCHLD", "SIGHUP")})
"""
    trace.same(trace.program(START + program), compare=False)


def test_in_a_forked_child(trace):
    program = """
if os.fork() == 0:
    write(NO_C + "[Lexgion(Python:f)]\\nmax_num_traces = 2\\n")
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(5): f()
    os._exit(0)
os.wait()
for _ in range(5): f()
"""
    result = run(trace, NO_C, program)
    assert sorted(sum(tools.KINDS[event.kind] == "python:function_begin" and process.lexgion(event.value).name == "f"
                      for event in process.events()) for process in result.run.processes) == [2, 5]


def test_a_handler_that_was_lent_and_given_back_reloads_again(trace):
    program = """
ours = signal.signal(signal.SIGUSR1, lambda *_: None)
os.kill(os.getpid(), signal.SIGUSR1)
signal.signal(signal.SIGUSR1, ours)
write(NO_C + "[Lexgion(Python:f)]\\nmax_num_traces = 3\\n")
os.kill(os.getpid(), signal.SIGUSR1)
for _ in range(9): f()
"""
    assert count(run(trace, NO_C, program))["f"] == 3


def test_a_program_that_waits_for_the_signal_itself(trace):
    program = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigwait([signal.SIGUSR1]))
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
f()
"""
    trace.same(trace.program(START + program))


def test_an_exception_from_a_handler_from_before(trace, env):
    program = """
import lextrace
class Stop(Exception): pass
def own(number, frame): raise Stop
signal.signal(signal.SIGUSR1, own)
write(NO_C + "[Knob]\\nn = 1\\n")
lextrace.start("inner", config="trace.conf")
write(NO_C + "[Knob]\\nn = 2\\n")
helper = signal_from_outside(0.1)
try: time.sleep(20)
except Stop: print("stopped", lextrace.knob("n"))
helper.wait()
lextrace.stop()
"""
    done = tools.execute([tools.PYTHON, "-c", START + program], cwd=trace.tmp_path, env=tools.clean_environment(**env))
    assert done.stdout == "stopped 2\n", done.stderr


def test_children_have_the_signal_as_untraced(trace):
    """Also under a parent that ignores it: what a program starts ignores it then, too."""
    program = trace.program(START + """
child = subprocess.run([sys.executable, "-S", "-c", "import signal; print(signal.getsignal(signal.SIGUSR1))"], capture_output=True)
print(child.stdout)
""")
    for ignore in ("", "trap '' USR1;"):
        command = ["sh", "-c", ignore + 'exec "$0" "$@"']
        plain = tools.execute([*command, tools.PYTHON, str(program)])
        folder = trace.tmp_path / ("ignored" if ignore else "default")
        traced = tools.execute([*command, tools.lextrace_binary(), "run", "--no-follow", "-o", str(folder), tools.PYTHON,
                                str(program)], folder)
        assert traced.outcome() == plain.outcome(), ignore


# ---- Files ----

def test_a_file_that_comes_later(trace, env):
    program = """
import lextrace
for _ in range(3): f()
os.mkdir("elsewhere")
os.chdir("elsewhere")
with open("../pinsight_trace_config.txt", "w") as file: file.write("[Lexgion(Python:f)]\\nmax_num_traces = 2\\n")
lextrace.reload()
for _ in range(9): f()
"""
    result = run(trace, None, program, env)
    assert count(result)["f"] == 5 and result.said[:-1] == []


def test_a_named_file_that_is_not_there_yet(trace, env):
    path = trace.tmp_path / "later.conf"
    program = """
import lextrace
f()
try: lextrace.reload()
except ValueError as error: print(error)
with open("later.conf", "w") as file: file.write(NO_C + "[Lexgion(Python:f)]\\nmax_num_traces = 1\\n")
lextrace.reload()
for _ in range(9): f()
"""
    result = run(trace, None, program, {**env, "PINSIGHT_TRACE_CONFIG_FILE": str(path)})
    assert result.stdout.startswith("later.conf: No such file") and result.stdout.count("\n") == 1
    assert count(result)["f"] == 2
    assert len([line for line in result.said if "later.conf" in line and "defaults" in line]) == 1


def test_what_is_no_file(trace, env):
    """A pipe that nobody writes to holds nobody up; a device is not read to its end."""
    program = """
import lextrace
f()
for spoil in (lambda: os.mkfifo("trace.conf"), lambda: os.symlink("/dev/zero", "trace.conf"),
              lambda: os.symlink("trace.conf", "trace.conf")):
    os.remove("trace.conf")
    spoil()
    try: lextrace.reload()
    except ValueError as error: print("wrong")
f()
"""
    result = run(trace, NO_C, program, env)
    assert result.stdout == "wrong\n" * 3 and count(result)["f"] == 2


# ---- More of what a reload changes and keeps ----

@pytest.mark.parametrize("after", [2, 6])
def test_a_cap_that_is_lowered(trace, after):
    """Fewer than were recorded: no more. More than were recorded: as many as are missing."""
    program = f"""
for _ in range(4): f()
write(NO_C + "[Lexgion(Python:f)]\\nmax_num_traces = {after}\\n")
os.kill(os.getpid(), signal.SIGUSR1)
for _ in range(20): f()
"""
    assert count(run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 10\n", program))["f"] == max(4, after)


def test_counters_are_each_threads_own(trace):
    program = """
def work(more):
    for _ in range(more): f()
    ready.wait()
    go.wait()
    for _ in range(20): f()
ready, go = threading.Barrier(4), threading.Event()
threads = [threading.Thread(target=work, args=(more,)) for more in (1, 5, 20)]
for thread in threads: thread.start()
ready.wait()
write(NO_C + "[Lexgion(Python:f)]\\nmax_num_traces = 12\\ntrace_starts_at = 2\\n")
os.kill(os.getpid(), signal.SIGUSR1)
go.set()
for thread in threads: thread.join()
for _ in range(20): f()
"""
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 7\n", program)
    begun = count(result, threads=True)
    # Thread 1 has one behind it and leaves out one more; the others have theirs recorded; thread 0 begins anew.
    assert [begun["f", thread] for thread in range(4)] == [12, 12, 12, 12]


def test_the_environments_mode_stays_if_the_file_says_the_same(trace, env):
    program = """
import lextrace
write(NO_C + "trace_mode = TRACING\\n[Lexgion(Python:f)]\\nmax_num_traces = 3\\n")
lextrace.reload()
print(lextrace.mode("Python"))
write(NO_C + "trace_mode = MONITORING\\n")
lextrace.reload()
print(lextrace.mode("Python"))
"""
    result = run(trace, NO_C + "trace_mode = TRACING\n", program, {**env, "PINSIGHT_TRACE_PYTHON": "STANDBY"})
    assert result.stdout == "STANDBY\nMONITORING\n"


def test_an_action_fires_again_once_its_section_has_changed(trace, env):
    program = """
import lextrace
def calls():
    lextrace.mode("Python", "TRACING")
    for _ in range(9): f()
    print(lextrace.mode("Python"))
calls()
calls()
for most in (5, 8):
    write(NO_C + f"[Lexgion(Python:f)]\\nmax_num_traces = {most}\\ntrace_mode_after = STANDBY\\n")
    lextrace.reload()
    calls()
    calls()
"""
    result = run(trace, NO_C + "[Lexgion(Python:f)]\nmax_num_traces = 3\ntrace_mode_after = STANDBY\n", program, env)
    assert result.stdout.split() == ["STANDBY", "TRACING"] * 3 and count(result)["f"] == 8
    causes = [what for _, what in result.run.main.journal if what.startswith("mode Python STANDBY by trace.conf")]
    assert causes == ["mode Python STANDBY by trace.conf:6"] * 3  # once each time


def test_knobs(trace, env):
    program = """
import lextrace
def knobs(): print([lextrace.knob(name, "none") for name in ("n", "x", "s", "gone")])
knobs()
write("[Knob]\\nn = -7\\nx = 2.5\\ns = a word\\n")
lextrace.reload()
knobs()
write("[Knob]\\nn = 1e3\\n")
lextrace.reload()
knobs()
"""
    result = run(trace, "[Knob]\nn = 1\ngone = 3\n", program, env)
    assert result.stdout.splitlines() == ["[1, 'none', 'none', 3]", "[-7, 2.5, 'a word', 'none']",
                                          "[1000.0, 'none', 'none', 'none']"]


def test_a_reload_from_anywhere(trace, env):
    """In a thread, in a generator, in a handler, in a finalizer, in what the interpreter runs at its end."""
    program = """
import atexit, lextrace
n = 0
def again():
    global n
    n += 1
    write(NO_C + f"[Lexgion(Python:f)]\\nmax_num_traces = {n}\\n")
    lextrace.reload()
    for _ in range(9): f()
def gen():
    again()
    yield
    again()
class Final:
    def __del__(self): again()
def own(number, frame): again()
signal.signal(signal.SIGUSR2, own)
atexit.register(again)
again()
thread = threading.Thread(target=lambda: (again(), again()))
thread.start()
thread.join()
list(gen())
os.kill(os.getpid(), signal.SIGUSR2)
Final()
"""
    result = in_balance(run(trace, NO_C, program, env))
    # Seven calls of the main thread raise the cap to 8, its thread's two to 3.
    assert count(result, threads=True)["f", 0] == 8 and count(result, threads=True)["f", 1] == 3
    assert result.run.main.state["reloads"] == 8
