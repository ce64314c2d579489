"""`make lint`: the include rule, sizes, shell scripts, Python style. Says all that is wrong, not only the first."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUFF = "ruff==0.17.6"


def is_shell(path):
    try:
        return path.is_file() and path.read_bytes()[:32].split(b"\n")[0] in (b"#!/bin/sh", b"#!/bin/bash")
    except OSError:
        return False


def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    return [ROOT / line for line in out.stdout.splitlines()]


def ruff():
    """Path of the pinned ruff, installed on first use."""
    folder = ROOT / ".venvs" / "lint"
    program = folder / "bin" / "ruff"
    marker = folder / "installed"
    if not marker.exists() or marker.read_text() != RUFF:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin/python"), "-m", "pip", "install", "-q", RUFF], check=True)
        marker.write_text(RUFF)
    return str(program)


def main():
    failed = []

    def check(name, *command):
        if subprocess.run(command, cwd=ROOT).returncode:
            failed.append(name)

    files = tracked()
    check("includes", sys.executable, "tools/check_includes.py")
    check("docs/format.md", sys.executable, "tools/format_doc.py", "--check")
    check("sizes", sys.executable, "tools/check_sizes.py")
    scripts = [str(path) for path in files if is_shell(path)]
    if shutil.which("shellcheck"):
        check("shell scripts", "shellcheck", *scripts)
        print(f"shellcheck: {len(scripts)} scripts")
    else:
        print("shellcheck was not found: shell scripts are not checked")
    check("Python", ruff(), "check", "-q", *[str(path) for path in files if path.suffix == ".py" and path.exists()])
    if failed:
        sys.exit("lint: wrong: " + ", ".join(failed))
    print("lint: nothing wrong")


if __name__ == "__main__":
    main()
