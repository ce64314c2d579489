"""Finds the Python interpreters of this machine for which lextrace is built and tested."""

import glob
import os
import re
import subprocess
from dataclasses import dataclass

FIRST = (3, 11)  # the oldest CPython that lextrace supports

PROBE = (
    "import os, sys, sysconfig as s; include = s.get_path('include'); "
    "print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3], s.get_config_var('EXT_SUFFIX'), "
    "int(bool(s.get_config_var('Py_GIL_DISABLED'))), int(os.path.exists(os.path.join(include, 'Python.h'))), "
    "os.path.realpath(sys.executable), sep='\\n')"
)


@dataclass
class Python:
    path: str
    version: str  # "3.12.1"
    suffix: str  # ".cpython-312-x86_64-linux-gnu.so"
    free_threaded: bool
    headers: bool

    @property
    def minor(self):
        """ "3.12"."""
        return ".".join(self.version.split(".")[:2])

    @property
    def number(self):
        return tuple(int(part) for part in self.version.split("."))


def candidates():
    """Paths that may be interpreters: PATH first, then pyenv's versions and the system's folders."""
    folders = [f for f in os.environ.get("PATH", "").split(os.pathsep) if f]
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    folders = [f for f in folders if not f.startswith(pyenv + os.sep)]  # pyenv's shims start other files
    folders = glob.glob(os.path.join(pyenv, "versions", "*", "bin")) + folders + ["/usr/local/bin", "/usr/bin"]
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "python3.*"))):
            match = re.fullmatch(r"python3\.(\d+)t?", os.path.basename(path))
            if match and (3, int(match[1])) >= FIRST and os.access(path, os.X_OK):
                yield path


def probe(path):
    """What the interpreter at path is; None if it does not start or is no CPython."""
    try:
        out = subprocess.run([path, "-I", "-S", "-c", PROBE], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    name, version, suffix, free_threaded, headers, _ = out.stdout.splitlines()
    if name != "cpython":
        return None
    return Python(path, version, suffix, free_threaded == "1", headers == "1")


def find():
    """Interpreters, oldest first, one for each ABI: those with headers win, then the newest patch release."""
    seen, best = set(), {}
    for path in candidates():
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        python = probe(path)
        if python is None:
            continue
        other = best.get(python.suffix)
        if other is None or (python.headers, python.number) > (other.headers, other.number):
            best[python.suffix] = python
    return sorted(best.values(), key=lambda p: (p.number, p.suffix))
