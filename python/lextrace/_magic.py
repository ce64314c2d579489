"""The Jupyter and IPython magic `%%lextrace`."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys

from . import session


def register(ipython) -> None:
    ipython.register_magic_function(lambda line, cell: run_cell(ipython, line, cell), "cell", "lextrace")


def run_cell(ipython, line: str, cell: str) -> None:
    """Run the cell under lextrace, then print the report. Words after ``%%lextrace`` go to ``lextrace report``."""
    with session() as path:
        ipython.run_cell(cell)
    program = shutil.which("lextrace", path=os.path.dirname(sys.executable)) or shutil.which("lextrace")
    if program is None:
        print(f"trace in {path}; the lextrace command is not on PATH to show it")
    else:
        words = line.split() or ["--top", "10"]
        print(subprocess.run([program, "report", path, *words], capture_output=True, text=True, check=False).stdout)
