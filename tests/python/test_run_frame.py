"""`lextrace run`: what is started, how, with which environment, and every message word for word with its status."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import lextrace_tools as tools
import pytest

APP = """\
import json, os, sys
print(json.dumps({"argv": sys.argv, "path0": sys.path[0], "executable": sys.executable, "pid": os.getpid(),
                  "name": __name__, "environ": dict(os.environ), "flags": list(sys.flags)}))
sys.exit(7)
"""


@pytest.fixture
def here(tmp_path):
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def lx(here, *words, environment=None, **more):
    """lextrace with these words in the folder `here`."""
    env = tools.clean_environment(**(environment or {}))
    more.setdefault("stdin", subprocess.DEVNULL)
    command = [tools.lextrace_binary(), *[word if isinstance(word, bytes) else str(word) for word in words]]
    return subprocess.run(command, cwd=here, env=env, capture_output=True, text=True, timeout=60, **more)


def told(here, *words, **more):
    """What the program printed of itself."""
    done = lx(here, "run", "-q", *words, **more)
    assert (done.returncode, done.stderr) == (7, "")
    return json.loads(done.stdout)


def own_python():
    return str(Path(tools.lextrace_binary()).parent / "python3")


# ---- What belongs to whom ----

def test_all_after_the_target_belongs_to_the_program(here):
    assert told(here, "app.py", "a", "-o", "x", "--quiet", "--help", "--", "-q")["argv"] == [
        "app.py", "a", "-o", "x", "--quiet", "--help", "--", "-q"]
    assert not (here / "x").exists()


def test_two_dashes_before_the_target_change_nothing(here):
    assert told(here, "--", "app.py", "--", "-x")["argv"] == ["app.py", "--", "-x"]


def test_options_in_all_forms(here):
    for number, words in enumerate((["-o", "OUT"], ["-oOUT"], ["--out", "OUT"], ["--out=OUT"], ["--c-calls", "-oOUT"])):
        out = f"out{number}"
        told(here, *[word.replace("OUT", out) for word in words], "app.py")
        assert (here / out).is_dir()


def test_a_module_with_its_arguments(here):
    (here / "mod").mkdir()
    (here / "mod/__main__.py").write_text(APP)
    plain = subprocess.run([own_python(), "-m", "mod", "-q", "--out=1"], cwd=here, capture_output=True, text=True)
    for words in (["-m", "mod"], ["--module", "mod"], ["-mmod"], ["python3", "-m", "mod"]):
        seen = told(here, *words, "-q", "--out=1", environment={"PATH": f"{os.path.dirname(own_python())}:{os.environ['PATH']}"})
        wanted = json.loads(plain.stdout)
        assert (seen["argv"], seen["path0"], seen["name"]) == (wanted["argv"], wanted["path0"], "__main__")
    assert (here / "lextrace-mod-4").is_dir()


# ---- What is started ----

def test_a_script_runs_in_the_interpreter_of_lextrace(here):
    seen = told(here, "app.py")
    assert os.path.realpath(seen["executable"]) == os.path.realpath(own_python())
    assert seen["path0"] == str(here)
    assert os.path.dirname(seen["executable"]) == os.path.dirname(own_python())


def test_a_script_with_a_first_line_runs_there_too(here):
    (here / "app.py").write_text("#!/no/such/python -X dev\n" + APP)
    (here / "app.py").chmod(0o755)
    assert told(here, "./app.py")["argv"] == ["./app.py"]


def test_an_executable_runs_by_its_first_line_with_its_options(here):
    (here / "app").write_text(f"#!{sys.executable} -Xutf8\n" + APP)
    (here / "app").chmod(0o755)
    seen = told(here, "./app", "-q")
    plain = subprocess.run(["./app", "-q"], cwd=here, capture_output=True, text=True)
    assert seen["argv"] == json.loads(plain.stdout)["argv"] == ["./app", "-q"]
    assert seen["flags"] == json.loads(plain.stdout)["flags"]


def test_a_command_is_found_along_path_as_a_shell_finds_it(here):
    first, second = here / "first", here / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "tool").write_text(f'#!/bin/sh\necho {folder.name} "$0" "$@"\n')
    (second / "tool").chmod(0o755)  # the first is no program
    path = f"{first}::{second}:/usr/bin:/bin"
    done = lx(here, "run", "tool", "a b", environment={"PATH": path})
    assert done.stdout == f"second {second}/tool a b\n"
    assert lx(here, "run", "./second/tool").stdout == "second ./second/tool\n"


def test_argv_0_of_a_command_is_the_word(here):
    (here / "show.c").write_text("#include <stdio.h>\nint main(int c, char **v) { (void)c; puts(v[0]); return 5; }\n")
    subprocess.run(["cc", "-o", here / "show", here / "show.c"], check=True)
    done = lx(here, "run", "show", environment={"PATH": f"{here}:{os.environ['PATH']}"})
    assert (done.stdout, done.returncode) == ("show\n", 5)


def test_a_statically_linked_program_runs(here):
    (here / "show.c").write_text("#include <stdio.h>\nint main(void) { puts(\"static\"); return 5; }\n")
    subprocess.run(["cc", "-static", "-o", here / "show", here / "show.c"], check=True)
    done = lx(here, "run", "./show")
    assert (done.stdout, done.returncode) == ("static\n", 5)


def test_a_file_without_a_first_line_is_the_shells(here):
    (here / "plain").write_text('echo shell "$@"; exit 3\n')
    (here / "plain").chmod(0o755)
    done = lx(here, "run", "./plain", "a", "b")
    assert (done.stdout, done.returncode) == ("shell a b\n", 3)


def test_a_folder_and_an_archive_with_main(here):
    (here / "folder").mkdir()
    (here / "folder/__main__.py").write_text(APP)
    assert told(here, "folder")["argv"] == ["folder"]
    subprocess.run([sys.executable, "-m", "zipapp", "folder", "-o", "app.pyz"], cwd=here, check=True)
    assert told(here, "app.pyz", "x")["argv"] == ["app.pyz", "x"]


@pytest.mark.parametrize("words, name", [
    (["app.py"], "app"),
    (["./app.py"], "app"),
    (["-m", "timeit", "-n1", "-r1", "pass"], "timeit"),
    ([sys.executable, "-X", "dev", "app.py"], "app"),
    ([sys.executable, "-Wd", "-Xutf8", "-Im", "timeit", "-n1", "-r1", "pass"], "timeit"),
    ([sys.executable, "-c", "pass", "app.py"], os.path.basename(sys.executable)),
    (["sh", "-c", "exit"], "sh"),
    (["./odd name (1).py"], "odd_name__1_"),
    (["größe 计算.py"], "größe_计算"),
    ([b"lone\xff.py"], "lone_"),
    (["x" * 200 + ".py"], "x" * 63),
])
def test_the_runs_name(here, words, name):
    for file in (b"odd name (1).py", "größe 计算.py".encode(), b"lone\xff.py", b"x" * 200 + b".py"):
        Path(os.fsdecode(os.path.join(os.fsencode(here), file))).write_text("")
    lx(here, "run", *words)
    assert (here / f"lextrace-{name}-1").is_dir()


# ---- Where the run goes ----

def test_the_next_free_number(here):
    (here / "lextrace-app-2").mkdir()
    for _ in range(3):
        lx(here, "run", "app.py")
    assert sorted(path.name for path in here.glob("lextrace-*")) == [f"lextrace-app-{n}" for n in (1, 2, 3, 4)]
    assert not list((here / "lextrace-app-2").iterdir())


def test_runs_that_start_together_never_share_a_folder(here):
    (here / "quick.py").write_text("def f(): pass\nf()\n")
    started = [subprocess.Popen([tools.lextrace_binary(), "run", "-q", "quick.py"], cwd=here) for _ in range(12)]
    assert [process.wait(60) for process in started] == [0] * 12
    folders = sorted(here.glob("lextrace-quick-*"))
    assert len(folders) == 12
    assert all(len(list(folder.iterdir())) == 1 for folder in folders)


def test_force_replaces_a_run_and_nothing_else(here):
    told(here, "-o", "out", "app.py")
    before = list((here / "out").iterdir())
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    done = lx(here, "run", "-o", "out", "app.py")
    assert done.returncode == 125
    assert re.fullmatch(rf"lextrace: out exists \(a run of {when}\); --force replaces it\n", done.stderr)
    assert list((here / "out").iterdir()) == before
    told(here, "-o", "out/", "--force", "app.py")
    assert len(before) == 1 and list((here / "out").iterdir()) != before

    (here / "out/mine.txt").write_text("kept")
    done = lx(here, "run", "-o", "out", "--force", "app.py")
    assert (done.returncode, done.stderr) == (125, "lextrace: out holds more than a run (mine.txt); --force replaces only runs\n")
    assert (here / "out/mine.txt").read_text() == "kept"

    (here / "folder").mkdir()
    (here / "folder/mine.txt").write_text("kept")
    for force in ([], ["--force"]):
        done = lx(here, "run", "-o", "folder", *force, "app.py")
        assert (done.returncode, done.stderr) == (125, "lextrace: folder exists and is no run; choose another place\n")
        done = lx(here, "run", "-o", "app.py", *force, "app.py")
        assert (done.returncode, done.stderr) == (
            125, "lextrace: app.py exists and is no folder; choose another place for the run\n")
    assert (here / "app.py").read_text() == APP


def test_a_run_that_is_being_written_is_not_replaced(here):
    (here / "wait.py").write_text("print('on', flush=True); input()\n")
    process = subprocess.Popen([tools.lextrace_binary(), "run", "-q", "-o", "out", "wait.py"], cwd=here,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    done = lx(here, "run", "-o", "out", "--force", "app.py")
    process.communicate(b"\n", timeout=30)
    assert (done.returncode, done.stderr) == (
        125, f"lextrace: out: process {process.pid} is still writing to it; choose another place\n")


def test_no_folder_is_left_where_nothing_was_started(here):
    (here / "bad").write_text("#!/no/such/interpreter -x\n")
    (here / "bad").chmod(0o755)
    done = lx(here, "run", "./bad")
    assert (done.returncode, done.stderr) == (
        127, "lextrace: ./bad: the interpreter of its first line is missing: /no/such/interpreter\n")
    for words in (["nosuch.py"], ["--bogus", "app.py"], ["-c", "nosuch.conf", "app.py"], ["--report", "./bad"]):
        assert lx(here, "run", *words).returncode in (2, 127)
    assert not list(here.glob("lextrace-*"))


# ---- Messages ----

MESSAGES = [
    (["nosuch.py"], 127, "nosuch.py: no such file"),
    (["docs/nosuch"], 127, "docs/nosuch: no such file"),
    (["nosuch"], 127, "nosuch: no such file, and no such program on PATH"),
    (["there"], 127, "there: no such program on PATH; for the file here: lextrace run ./there"),
    (["docs/index.rst"], 126, "docs/index.rst: neither a Python script nor executable"),
    (["index"], 126, "index: neither a Python script nor executable"),
    (["docs"], 126, "docs: neither a Python script nor executable"),
    (["--bogus", "app.py"], 2, "run: no option --bogus (options of the program come after its name)"),
    (["-z", "app.py"], 2, "run: no option -z (options of the program come after its name)"),
    (["--no-folow", "app.py"], 2, "run: no option --no-folow; did you mean --no-follow?"),
    (["--top", "5", "app.py"], 2, "run: --top belongs to report: lextrace report --top 5"),
    (["--force=1", "app.py"], 2, "run: --force takes no value"),
    (["-o"], 2, "run: -o needs a value: -o DIR"),
    ([], 2, "run: no program given: lextrace run [OPTIONS] TARGET [ARGS]"),
    (["-c", "print(1)"], 2,
     "-c names a configuration file, print(1) is none; for code: lextrace run python -c 'print(1)'"),
    (["-c", "print('a')"], 2, "-c names a configuration file, print('a') is none; for code: "
                              "lextrace run python -c 'print('\\''a'\\'')'"),
    (["-c", "nosuch.conf", "app.py"], 2, "nosuch.conf: no such file; -c names a configuration file"),
    (["-c", "docs", "app.py"], 2, "docs: is a folder; -c names a configuration file"),
    (["-o", "/x/y", "app.py"], 125, "cannot make /x/y: no such folder /x"),
    (["-o", "a/b", "app.py"], 125, "cannot make a/b: no such folder a"),
    (["-o", "app.py/b", "app.py"], 125, "cannot make app.py/b: Not a directory"),
]


@pytest.mark.parametrize("words, status, message", MESSAGES, ids=lambda value: value if isinstance(value, str) else None)
def test_message(here, words, status, message):
    (here / "docs").mkdir()
    (here / "docs/index.rst").write_text("text\n")
    (here / "index").write_text("text\n")
    (here / "there").write_text("#!/bin/sh\n")
    (here / "there").chmod(0o755)
    done = lx(here, "run", *words)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", f"lextrace: {message}\n")


def test_a_message_stays_on_one_line(here):
    done = lx(here, "run", "-c", "import os\nprint(os)")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_without_run_time_files(here):
    done = lx(here, "run", "app.py", environment={"LEXTRACE_HOME": str(here)})
    assert done.returncode == 125 and re.fullmatch("lextrace: .* LEXTRACE_HOME .*\n", done.stderr)


# ---- Environment ----

def test_what_the_program_sees_of_it(here):
    """Only lextrace's own names are added; PYTHONPATH is as it was."""
    plain = json.loads(subprocess.run([own_python(), "app.py"], cwd=here, capture_output=True, text=True,
                                      env=tools.clean_environment()).stdout)["environ"]
    seen = told(here, "app.py")
    added = {name for name in seen["environ"] if seen["environ"][name] != plain.get(name)} - {"_"}
    assert all(name.startswith("LEXTRACE_") or name == "PYTHONPATH" for name in added)
    assert set(plain) <= set(seen["environ"])


def raw_environment(here, *words, **more):
    """What lextrace hands over, seen by a program that is no Python."""
    done = lx(here, "run", *words, "sh", "-c", "echo $$; env", **more)
    pid, *lines = done.stdout.splitlines()
    return pid, dict(line.split("=", 1) for line in lines if "=" in line)


def test_what_is_handed_over(here):
    pid, seen = raw_environment(here)
    assert seen["LEXTRACE_DIR"] == str(here / "lextrace-sh-1")
    assert seen["LEXTRACE_ROOT"] == pid
    assert (seen["LEXTRACE_FOLLOW"], seen["LEXTRACE_PROGRAM"]) == ("1", "sh")
    boot = Path(seen["PYTHONPATH"])
    assert boot.name == "boot" and (boot / "sitecustomize.py").exists()
    assert not {"LEXTRACE_QUIET", "LEXTRACE_C_CALLS", "PINSIGHT_TRACE_CONFIG_FILE", "LD_PRELOAD"} & set(seen)


def test_options_are_handed_over(here):
    (here / "trace.conf").write_text("")
    _, seen = raw_environment(here, "-q", "--no-follow", "--c-calls", "-c", "trace.conf", "-o", "out",
                              environment={"PYTHONPATH": "/a:/b"})
    assert (seen["LEXTRACE_QUIET"], seen["LEXTRACE_C_CALLS"], seen["LEXTRACE_FOLLOW"]) == ("1", "1", "0")
    assert seen["PINSIGHT_TRACE_CONFIG_FILE"] == str(here / "trace.conf")
    assert seen["PYTHONPATH"].endswith("/boot:/a:/b")
    assert seen["LEXTRACE_DIR"] == str(here / "out")


def test_an_outer_run_leaves_nothing_behind(here):
    boot = raw_environment(here)[1]["PYTHONPATH"]
    outer = {"PYTHONPATH": f"{boot}:/a", "LEXTRACE_QUIET": "1", "LEXTRACE_C_CALLS": "1",
             "LEXTRACE_DIR": "/x", "LEXTRACE_ROOT": "1"}
    pid, seen = raw_environment(here, environment=outer)
    assert seen["PYTHONPATH"] == f"{boot}:/a"
    assert seen["LEXTRACE_ROOT"] == pid and seen["LEXTRACE_DIR"] == str(here / "lextrace-sh-2")
    assert not {"LEXTRACE_QUIET", "LEXTRACE_C_CALLS"} & set(seen)


# ---- Nothing stands between the program and its caller ----

def test_the_program_is_the_process_that_was_started(here):
    process = subprocess.Popen([tools.lextrace_binary(), "run", "-q", "app.py"], cwd=here, stdout=subprocess.PIPE)
    out, _ = process.communicate(timeout=60)
    assert json.loads(out)["pid"] == process.pid


def test_signals_and_descriptors_pass_through(here):
    (here / "look.py").write_text(
        "import os, signal\n"
        "print([int(s) for s in sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))])\n"
        "print([signal.getsignal(s) == signal.SIG_IGN for s in (signal.SIGHUP, signal.SIGUSR2, signal.SIGPIPE)])\n"
        "print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])\n")

    def prepare():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    reader, writer = os.pipe()
    more = {"cwd": here, "capture_output": True, "text": True, "pass_fds": [writer], "preexec_fn": prepare, "timeout": 60,
            "env": tools.clean_environment()}
    plain = subprocess.run([own_python(), "look.py"], **more)
    for words in (["-q"], ["-q", "--report"]):
        traced = subprocess.run([tools.lextrace_binary(), "run", *words, "look.py"], **more)
        assert traced.stdout.splitlines()[:3] == plain.stdout.splitlines()
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("options", [["-q"], ["-q", "--report"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_it_dies_of_the_programs_signal(here, options, number):
    (here / "die.py").write_text("import os, sys\nos.kill(os.getpid(), int(sys.argv[1]))\nimport time; time.sleep(60)\n")
    done = lx(here, "run", *options, "die.py", int(number))
    plain = subprocess.run([own_python(), "die.py", str(int(number))], cwd=here, capture_output=True, text=True)
    assert done.returncode == plain.returncode == -number


# ---- run --report ----

def test_report_is_printed_at_once(here):
    (here / "fib.py").write_text("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n\nprint(fib(15))\n")
    done = lx(here, "run", "--report", "fib.py")
    assert done.returncode == 0
    first, rest = done.stdout.split("\n", 1)
    assert first == "610"
    assert re.search(r"^.*\bfib\b.*fib\.py:1$", rest, re.M)
    assert rest == lx(here, "report", "--top", "10", "lextrace-fib-1").stdout
    assert re.fullmatch(r"lextrace: [\d,]+ events of 1 process in [\d.]+ \w+, [\d.]+ \w+, none lost, C calls off: "
                        r"lextrace report lextrace-fib-1\n", done.stderr)


def test_report_has_the_closing_line_of_a_plain_run(here):
    (here / "fib.py").write_text("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n\nprint(fib(15))\n")
    plain = lx(here, "run", "-o", "a", "fib.py").stderr
    both = lx(here, "run", "-o", "b", "--report", "fib.py").stderr

    def shape(text):
        text = re.sub(r"in [\d.]+ (?:ns|us|ms|s),", "in TIME,", text)
        return re.sub(r"[\d,.]+ (events|bytes|kB)\b", r"N \1", text).replace("report b", "report a")

    assert shape(both) == shape(plain)


def test_report_keeps_the_status(here):
    assert lx(here, "run", "-q", "--report", "app.py").returncode == 7
    done = lx(here, "run", "--report", "sh", "-c", "exit 9")
    assert done.returncode == 9 and done.stderr.startswith("lextrace: nothing was traced: ")


def test_report_of_a_killed_program(here):
    (here / "die.py").write_text("import os\ndef f(): pass\nfor _ in range(100): f()\nos.kill(os.getpid(), 9)\n")
    done = lx(here, "run", "--report", "die.py")
    assert done.returncode == -signal.SIGKILL
    assert "none lost (killed by SIGKILL, read as it is), C calls off: lextrace report lextrace-die-1" in done.stderr
    assert re.search(r"\b100\b.*\bf\b", done.stdout)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2, signal.SIGINT, signal.SIGWINCH])
def test_report_hands_signals_on(here, number):
    (here / "wait.py").write_text(
        "import signal, sys, time\n"
        "def caught(number, frame):\n    print('caught', number, flush=True); sys.exit(4)\n"
        "signal.signal(int(sys.argv[1]), caught)\n"
        "print('on', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([tools.lextrace_binary(), "run", "-q", "--report", "wait.py", str(int(number))], cwd=here,
                               stdout=subprocess.PIPE, text=True, env=tools.clean_environment())
    assert process.stdout.readline() == "on\n"
    process.send_signal(number)
    assert process.stdout.readline() == f"caught {int(number)}\n"
    process.communicate(timeout=60)
    assert process.returncode == 4


def test_ctrl_c_reaches_the_program_once(here):
    (here / "wait.py").write_text(
        "import signal, time\nseen = []\nsignal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "print('on', flush=True)\nend = time.monotonic() + 1\n"
        "while time.monotonic() < end: time.sleep(0.05)\n"
        "print('seen', len(seen), flush=True)\n")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(here)
        os.execve(tools.lextrace_binary(), ["lextrace", "run", "-q", "--report", "wait.py"],
                  tools.clean_environment(TERM="dumb", PAGER="cat"))
    text, sent, end = b"", False, time.monotonic() + 60
    while time.monotonic() < end and select.select([terminal], [], [], 30)[0]:
        try:
            got = os.read(terminal, 4096)
        except OSError:  # the other side has ended
            break
        if not got:
            break
        text += got
        if b"on\r\n" in text and not sent:
            os.write(terminal, b"\x03")
            sent = True
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    assert b"seen 1\r\n" in text
