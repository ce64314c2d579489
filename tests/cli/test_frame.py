"""What all commands share: help, man pages, completion and messages, all from the same tables."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEXTRACE = os.environ.get("LEXTRACE_BIN") or str(ROOT / ".venv/bin/lextrace")


def lx(*words, **more):
    return subprocess.run([LEXTRACE, *map(str, words)], capture_output=True, text=True, timeout=60, **more)


def commands():
    return re.findall(r"^  ([a-z]+) ", lx("--help").stdout.split("Commands:")[1].split("Options:")[0], re.M)


def long_options(command):
    return re.findall(r"^  (?:-\w,|   ) --([a-z-]+)", lx(command, "--help").stdout, re.M)


def test_help():
    for words in (["--help"], ["-h"], ["help"], []):
        done = lx(*words)
        assert done.returncode == 0 and done.stdout.startswith("Usage: lextrace COMMAND") and not done.stderr
    assert commands()[:2] == ["run", "report"]
    for command in commands():
        for words in ([command, "--help"], [command, "-h"], ["help", command]):
            done = lx(*words)
            assert done.returncode == 0 and done.stdout.startswith(f"Usage: lextrace {command} ") and not done.stderr
        assert "help" in long_options(command)
        assert all(len(line) <= 120 for line in done.stdout.splitlines())


def test_version():
    version = re.search(r'LX_VERSION "([\d.]+)"', (ROOT / "include/lextrace/version.h").read_text())[1]
    assert lx("--version").stdout == lx("-V").stdout == f"lextrace {version}\n"


@pytest.mark.parametrize("words, message", [
    (["repport"], "no command repport; did you mean report?"),
    (["RUN"], "no command RUN; did you mean run?"),
    (["app.py"], "no command app.py; to trace a program: lextrace run app.py"),
    (["top"], "no command top; lextrace --help lists them"),
    (["diff"], "no command diff; lextrace --help lists them"),
    (["nosuchtool"], "no command nosuchtool; lextrace --help lists them"),
    (["sh"], "no command sh; to trace a program: lextrace run sh"),
    (["--bogus"], "no option --bogus before a command; see lextrace --help"),
    (["help", "exprt"], "no command exprt; did you mean export?"),
    (["report", "--srot", "self"], "report: no option --srot; did you mean --sort?"),
    (["report", "--sort", "slef"], "--sort: no column slef; did you mean self? (self total calls mean p99 max name)"),
    (["report", "--sort"], "report: --sort needs a value: --sort COLUMN"),
    (["export", "--to", "spedscope"],
     "--to: spedscope? One of perfetto chrome pfw pfw1 speedscope folded pstats"),
    (["export", "--callers", "f"], "export: --callers belongs to report: lextrace report --callers f"),
    (["completions"], "completions: one shell of bash zsh fish: lextrace completions bash"),
])
def test_message_of_wrong_use(words, message, tmp_path):
    done = lx(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"lextrace: {message}\n")


@pytest.fixture
def run_here(tmp_path):
    """lextrace run in an empty folder, of programs that need no Python."""
    (tmp_path / "home" / "boot").mkdir(parents=True)
    (tmp_path / "home" / "boot" / "sitecustomize.py").touch()
    environment = dict(os.environ, LEXTRACE_HOME=str(tmp_path / "home"))
    return lambda *words: lx("run", *words, cwd=tmp_path, env=environment)


def test_configuration(run_here, tmp_path):
    (tmp_path / "trace.conf").write_text("[Python.default]\nspeed = 5\n")
    done = run_here("-c", "trace.conf", "sh", "-c", "echo begun >&2; exit 5")
    assert done.returncode == 5
    assert done.stderr == (f"{tmp_path}/trace.conf:2:1: error: unknown key 'speed'\n    speed = 5\n    ^~~~~\nbegun\n")
    assert run_here("-c", "it's(1)", "true").stderr == (
        "lextrace: -c names a configuration file, it's(1) is none; for code: lextrace run python -c 'it'\\''s(1)'\n")
    done = run_here("-c", "nosuch.conf", "true")
    assert (done.returncode, done.stderr) == (2, "lextrace: nosuch.conf: no such file; -c names a configuration file\n")


def test_folder_that_cannot_be_made(run_here):
    done = run_here("-o", "/proc/x", "true")
    assert (done.returncode, done.stderr) == (125, "lextrace: cannot make /proc/x: No such file or directory\n")
    done = run_here("-o", "nosuch/x", "true")
    assert (done.returncode, done.stderr) == (125, "lextrace: cannot make nosuch/x: no such folder nosuch\n")


def test_which_run(tmp_path):
    done = lx("report", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1, "lextrace: no run in this folder; lextrace run PROGRAM makes one, or name its folder\n")
    for number in (1, 2):
        (tmp_path / f"lextrace-app-{number}").mkdir()
        os.utime(tmp_path / f"lextrace-app-{number}", (number, number))
    assert lx("--runs", cwd=tmp_path).stdout == "lextrace-app-2\nlextrace-app-1\n"
    done = lx("report", "nosuch", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1, "lextrace: nosuch: no such folder; runs here: lextrace-app-2, lextrace-app-1\n")


def test_an_answer_that_cannot_be_written():
    with open("/dev/full", "w") as full:
        done = subprocess.run([LEXTRACE, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "lextrace: cannot write the answer: No space left on device\n")


def test_messages_are_plain_in_a_pipe_and_coloured_on_a_terminal():
    script = shutil.which("script")
    if not script:
        pytest.skip("script(1) was not found")

    def on_terminal(**more):
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        return subprocess.run([script, "-qec", f"{LEXTRACE} repport", "/dev/null"], capture_output=True, text=True,
                              env={**environment, "TERM": "xterm", **more}, stdin=subprocess.DEVNULL).stdout

    assert on_terminal().startswith("\x1b[31mlextrace:\x1b[0m no command")
    assert on_terminal(NO_COLOR="1").startswith("lextrace: no command")
    assert on_terminal(TERM="dumb").startswith("lextrace: no command")


# ---- The page ----

def test_the_page_is_made_from_the_tables():
    made = subprocess.run([sys.executable, ROOT / "tools/cli_page.py", LEXTRACE], capture_output=True, text=True, check=True)
    assert (ROOT / "docs/cli.md").read_text() == made.stdout, "run `make docs`"


# ---- Man pages ----

def test_man_pages():
    if not shutil.which("man"):
        pytest.skip("man was not found")
    for command in ["", *commands()]:
        roff = lx("--man", *([command] if command else [])).stdout
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-"], input=roff, capture_output=True, text=True,
                              env={**os.environ, "MANWIDTH": "100", "MAN_KEEP_FORMATTING": ""})
        page = re.sub(r".\x08|\x1b\[[\d;]*m", "", done.stdout)
        assert done.returncode == 0 and not done.stderr, done.stderr
        assert ("lextrace-" + command if command else "lextrace") + " - " in page
        for option in long_options(command) if command else []:
            assert f"--{option}" in page


# ---- Completion ----

def complete(line, folder):
    """What bash offers at the end of the line."""
    words = line.split(" ")
    script = (f'PATH={os.path.dirname(LEXTRACE)}:$PATH\nsource <(lextrace completions bash)\n'
              f'COMP_WORDS=({" ".join(word or chr(39) * 2 for word in words)})\nCOMP_CWORD={len(words) - 1}\n'
              'compopt() { :; }\n_lextrace\nprintf "%s\\n" "${COMPREPLY[@]}"\n')
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, cwd=folder)
    assert not done.stderr, done.stderr
    return set(done.stdout.split())


def test_bash_completion(tmp_path):
    (tmp_path / "lextrace-app-1").mkdir()
    (tmp_path / "app.py").write_text("")
    assert set(commands()) <= complete("lextrace ", tmp_path)
    assert complete("lextrace rep", tmp_path) == {"report", "repair"}
    for command in commands():
        assert complete(f"lextrace {command} --", tmp_path) == {f"--{option}" for option in long_options(command)}
    assert complete("lextrace report lext", tmp_path) == {"lextrace-app-1"}
    assert complete("lextrace report --sort ", tmp_path) == set("self total calls mean p99 max name".split())
    assert complete("lextrace export --to s", tmp_path) == {"speedscope"}
    assert "app.py" in complete("lextrace run ap", tmp_path)
    assert complete("lextrace run -o out app.py ap", tmp_path) == {"app.py"}
    assert complete("lextrace completions ", tmp_path) == {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_option(shell):
    script = lx("completions", shell).stdout
    for command in commands():
        for option in set(long_options(command)) - {"help"}:
            assert (f"-l {option}" if shell == "fish" else f"--{option}") in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)
