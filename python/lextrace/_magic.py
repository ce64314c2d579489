"""The Jupyter and IPython magic `%%lextrace`."""
from __future__ import annotations

import ast
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from . import _new_folder, _program, active, start, stop


def register(ipython) -> None:
    ipython.register_magic_function(lambda line, cell: run_cell(ipython, line, cell), "cell", "lextrace")


def run_cell(ipython, line: str, cell: str) -> None:
    """Run the cell's own code under lextrace, then print the report, also when the cell fails.

    Words after ``%%lextrace`` go to ``lextrace report``; ``--keep`` leaves the run folder in the current folder.
    """
    from IPython.core.error import UsageError

    words = shlex.split(line)
    keep = "--keep" in words
    words = [word for word in words if word != "--keep"] or ["--top", "10"]
    program = shutil.which("lextrace", path=os.path.dirname(sys.executable)) or shutil.which("lextrace")
    if program is None:
        raise UsageError("lextrace: the command lextrace is not on PATH; add the folder it was installed in")
    if active():
        raise UsageError("lextrace: recording already; a cell can be recorded when that has ended")

    def report(run):
        return subprocess.run([program, "report", run, *words], capture_output=True, text=True, check=False)

    with contextlib.ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="lextrace-"))
        if (wrong := report(temporary)).returncode == 2:  # words that report does not know: told before the cell runs
            raise UsageError(wrong.stderr.rstrip())
        code, last = compile_cell(ipython, cell)
        names = ipython.user_ns  # a property: its call is none of the cell's
        run = start(_new_folder(_program()) if keep else os.path.join(temporary, "cell"))
        value = None
        try:
            # Not in a function of its own, and not by IPython: the report is of the cell's calls only.
            exec(code, names)
            if last:
                value = eval(last, names)
        finally:
            stop()
            told = report(run)
            print(told.stdout, end="")
            print(told.stderr, end="", file=sys.stderr)
        sys.displayhook(value)


def compile_cell(ipython, cell: str):
    """The code of the cell without its last expression, and that of the expression, whose value is shown, or None."""
    source = ipython.transform_cell(cell)
    name = ipython.compile.cache(source, ipython.execution_count, cell)
    tree = ipython.transform_ast(ipython.compile.ast_parse(source, name))
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ipython.compile(ast.Expression(tree.body.pop().value), name, "eval")
    return ipython.compile(tree, name, "exec"), last
