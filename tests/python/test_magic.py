"""The magic `%%lextrace` in a real IPython."""
import os
import re

import pytest

import lextrace_tools as tools

pytest.importorskip("IPython")

START = """
import os, sys, tempfile
from IPython.core.interactiveshell import InteractiveShell

from traitlets.config import Config

# Without its thread that writes the history, whose calls would be recorded as well.
shell = InteractiveShell.instance(colors="nocolor", config=Config({"HistoryManager": {"enabled": False}}))
shell.run_line_magic("load_ext", "lextrace")

def cell(text):
    # As a front end does: the output of an error goes to stdout, that of a wrong use to stderr.
    result = shell.run_cell(text, store_history=True)
    print("success", result.success, flush=True)
    sys.stderr.flush()

"""
CALLS = """cell('''%%lextrace {words}
def inside(n):
    return sum(range(n))
for _ in range(12):
    inside(2000)
{last}''')
"""


class Notebook:
    def __init__(self, trace, env):
        self.trace = trace
        self.work = trace.tmp_path / "work"
        self.temporary = trace.tmp_path / "temporary"
        self.work.mkdir()
        self.temporary.mkdir()
        path = "%s:%s" % (os.path.dirname(tools.lextrace_binary()), env["PATH"])
        self.env = dict(env, PATH=path, TMPDIR=str(self.temporary), IPYTHONDIR=str(trace.tmp_path / "ipython"))

    def __call__(self, text, **more):
        """Runs the program; what lextrace says on stderr counts as its stderr here."""
        done = tools.execute([tools.PYTHON, str(self.trace.program(START + text))], cwd=self.work,
                             env=dict(self.env, **more))
        assert done.returncode == 0, done.stderr
        assert os.listdir(self.temporary) == [], "what was recorded for the report is gone after it"
        return done


@pytest.fixture
def notebook(trace, api_env):
    return Notebook(trace, api_env)


def rows(text):
    """The functions of a report: name by number of calls."""
    table = text.split("function\n", 1)[1].split("success")[0]
    return {line.split()[-2]: int(line.split()[4]) for line in table.splitlines()
            if line.strip() and not line.startswith("Out[")}


def test_the_report_is_the_cells(notebook):
    done = notebook(CALLS.format(words="", last="len('abc')"))
    assert (done.stderr, done.said) == ("", [])
    assert rows(done.stdout) == {"inside": 12, "<module>": 2}
    assert "14 calls of 2 functions, none lost" in done.stdout
    assert done.stdout.endswith("Out[1]: 3\nsuccess True\n")
    assert os.listdir(notebook.work) == []


def test_names_stay_in_the_notebook(notebook):
    done = notebook("shell.user_ns['given'] = 5\ncell('%%lextrace\\nmade = given + 1\\n%cd -q .')\ncell('made')\n")
    assert "Out[2]: 6" in done.stdout and done.stdout.count("success True") == 2


def test_words_go_to_the_report(notebook):
    done = notebook(CALLS.format(words="--tree --ascii", last=""))
    assert "success True" in done.stdout
    line, = [line for line in done.stdout.splitlines() if "inside" in line]
    assert re.search(r"[`+|-] *inside|<module> > inside", line), done.stdout


def test_wrong_words_are_told_before_the_cell_runs(notebook):
    done = notebook("cell('''%%lextrace --srot self\nprint('ran')''')\n")
    assert "ran\n" not in done.stdout and done.stdout.endswith("success False\n")
    assert "no option --srot; did you mean --sort?" in done.stderr + done.stdout + "".join(done.said)


def test_errors_of_the_report_show(notebook):
    done = notebook(CALLS.format(words="--callers nosuch", last=""))
    assert "nosuch" in done.stderr + "".join(done.said)


def test_a_cell_that_fails(notebook):
    done = notebook("cell('''%%lextrace\ndef inside():\n    return 1 // 0\ninside()\nprint('after')''')\n"
                    "import lextrace\nprint(lextrace.active())\n")
    assert rows(done.stdout.split("---")[0]) == {"inside": 1, "<module>": 1}
    assert "ZeroDivisionError" in done.stdout and "return 1 // 0" in done.stdout and "after\n" not in done.stdout
    assert done.stdout.endswith("success False\nFalse\n")


def test_a_cell_that_is_no_python(notebook):
    done = notebook("cell('''%%lextrace\ndef inside(:\n''')\n")
    assert "SyntaxError" in done.stdout + done.stderr and done.stdout.endswith("success False\n")


def test_keep(notebook):
    done = notebook(CALLS.format(words="--keep", last=""))
    folder, = os.listdir(notebook.work)
    assert folder == "lextrace-app-1" and folder in done.stdout
    assert tools.counts(notebook.work / folder)["inside"] == 12
    assert tools.balance(notebook.work / folder) == {}


def test_recording_already(notebook):
    done = notebook("import lextrace\nlextrace.start('own')\ncell('%%lextrace\\nprint(1 + 1)')\n"
                    "print(lextrace.active())\nlextrace.stop()\n")
    assert "2\n" not in done.stdout and done.stdout.endswith("success False\nTrue\n")
    assert "recording already" in done.stderr + done.stdout + "".join(done.said)
