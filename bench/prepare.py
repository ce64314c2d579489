"""What the benchmark needs for each interpreter: a virtual environment with the peers, and the floors' extension."""
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tools"))

import build  # noqa: E402
import pythons  # noqa: E402

INCLUDE = "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('CC').split()[0])"


@dataclass
class Bench:
    """One interpreter to measure on."""

    version: str    # "3.12.1"
    python: str     # of the virtual environment
    floor: str      # the folder of lextrace_floor.so
    monitoring: bool

    @property
    def minor(self):
        return self.version.rpartition(".")[0]


def floor(venv, python):
    """Builds floor.c for that interpreter when it is newer than what is there; gives the folder."""
    folder, source = venv / "floor", HERE / "floor" / "floor.c"
    target = folder / "lextrace_floor.so"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        folder.mkdir(exist_ok=True)
        include, compiler = subprocess.run([python, "-c", INCLUDE], capture_output=True, text=True, check=True).stdout.split()
        build.run(compiler, "-O2", "-std=gnu11", "-Wall", "-Wextra", "-shared", "-fPIC", "-fno-semantic-interposition",
                  "-I", include, source, "-o", target)
    return str(folder)


def prepare(wanted):
    """Yields a Bench for each interpreter found whose version is in `wanted` ("3.12"; empty: all)."""
    for python in build.usable(pythons.find()):
        if wanted and python.minor not in wanted:
            continue
        venv = ROOT / ".venvs" / f"bench{python.minor}"
        venv.parent.mkdir(exist_ok=True)
        build.make_venv(venv, python)
        marker, requirements = venv / "requirements", (HERE / "requirements.txt").read_text()
        if not marker.exists() or marker.read_text() != requirements:
            build.run(venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r",
                      HERE / "requirements.txt")
            marker.write_text(requirements)
        yield Bench(python.version, str(venv / "bin/python"), floor(venv, venv / "bin/python"), python.number >= (3, 12))
