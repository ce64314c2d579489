"""Helpers of the tests of the package dftracer: run an annotated program, read the .pfw files it left."""
import fcntl
import gzip
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import lextrace_tools as tools
import pytest

DROPIN = tools.ROOT / "dropin" / "dftracer"
NAME = re.compile(r"(?P<prefix>.+)-(?P<number>[0-9a-f]{16})-(?P<kind>app|fork)\.(?P<form>pfw|pfw\.gz|lextrace)$")


def environment(**more):
    """Without anything that starts a recording; the package comes from the source tree."""
    found = tools.clean_environment(PYTHONPATH=os.pathsep.join([tools.package_parent(), str(DROPIN)]))
    for name in list(found):
        if name.startswith("DFTRACER_"):
            del found[name]
    found.update({name: str(value) for name, value in more.items()})
    return found


EXTRAS = ["pyyaml==6.0.3", "dftracer-utils==0.0.14", "mpi4py==4.1.2", "mpich==5.0.2"]


def extras():
    """The bin folder of a virtual environment of this interpreter with what only some tests need, made once."""
    venv = tools.ROOT / ".venvs" / ("dftracer-%d.%d" % sys.version_info[:2])
    marker = venv / "made-with"
    venv.parent.mkdir(exist_ok=True)
    with open(venv.parent / (venv.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists() or marker.read_text() != "\n".join(EXTRAS):
            base = os.path.join(sys.base_prefix, "bin", "python%d.%d" % sys.version_info[:2])
            subprocess.run([base, "-m", "venv", "--clear", str(venv)], check=True)
            words = [venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
            done = subprocess.run([*words, *EXTRAS], capture_output=True, text=True)
            if done.returncode:
                pytest.skip("cannot install %s: %s" % (" ".join(EXTRAS), (done.stderr.strip().splitlines() or ["?"])[-1]))
            marker.write_text("\n".join(EXTRAS))
    return venv / "bin"


class Program:
    """Runs programs in a folder of their own, which has nothing but the program."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.cwd = self.folder / "cwd"
        self.cwd.mkdir(parents=True)

    def __call__(self, text, *args, status=0, python=tools.PYTHON, command=None, timeout=120, quiet=True, **env):
        path = self.folder / "app.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        done = subprocess.run([*(command or [python]), str(path), *map(str, args)], cwd=self.cwd, env=environment(**env),
                              capture_output=True, text=True, timeout=timeout, errors="surrogateescape")
        assert done.returncode == status, done.stdout + done.stderr
        if quiet:
            assert done.stderr == ""
        return done

    def files(self, where=None):
        """All files and folders of traces, by kind and form."""
        return sorted(path for path in Path(where or self.folder).rglob("*")
                      if NAME.match(path.name) and not any(NAME.match(part) for part in path.parts[:-1]))

    def trace(self, where=None, kind="app"):
        """The one trace there."""
        found = self.files(where)
        assert len(found) == 1, found
        assert NAME.match(found[0].name)["kind"] == kind
        return Trace(found[0])

    def traces(self, where=None):
        return [Trace(path) for path in self.files(where)]


def strict(line):
    """A JSON object as the standard has it: no NaN, no key twice."""
    def no_constant(name):
        raise ValueError(name)

    def pairs(items):
        keys = [key for key, _ in items]
        assert len(keys) == len(set(keys)), keys
        return dict(items)

    return json.loads(line, parse_constant=no_constant, object_pairs_hook=pairs)


class Trace:
    def __init__(self, path):
        self.path = path
        self.kind = NAME.match(path.name)["kind"]
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert data.endswith(b"\n")
        self.text = data.decode("utf-8")  # strictly
        lines = [line for line in self.text.split("\n")[:-1] if line not in ("[", "]")]
        self.lines = [strict(line) for line in lines]
        self.spans = [line for line in self.lines if line["ph"] in (1, "X") and line["cat"] != "dftracer"]
        self.metadata = {line["args"]["name"]: line["args"].get("value") for line in self.lines
                         if line["ph"] in (4, "M") and line["name"] == "CM"}

    def named(self, name):
        return [span for span in self.spans if span["name"] == name]

    def one(self, name):
        found = self.named(name)
        assert len(found) == 1, (name, [span["name"] for span in self.spans])
        return found[0]

    def names(self):
        return sorted(span["name"] for span in self.spans)

    def args(self, name):
        """The program's own arguments of the one span of that name."""
        return own(self.one(name))


def own(span):
    return {key: value for key, value in span["args"].items() if key not in ("hhash", "file", "line", "fhash", "level", "p_idx")}
