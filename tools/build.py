"""Builds lextrace and installs it into .venv: `make build`. Only what changed is built again."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pythons

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
STAGE = BUILD / "stage"  # as in a wheel: lextrace/ (the package), bin/, share/
CMAKE_FIRST = (3, 25)


def say(*words):
    print("build:", *words, file=sys.stderr)


def run(*command, **more):
    subprocess.run([str(word) for word in command], check=True, **more)


def cmake_version(path):
    out = subprocess.run([path, "--version"], capture_output=True, text=True)
    match = re.search(r"version (\d+)\.(\d+)", out.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def find_cmake(venv):
    """A CMake that is new enough: the machine's, else one from PyPI in .venv."""
    for folder in ["/usr/bin", "/usr/local/bin", *os.environ.get("PATH", "").split(os.pathsep), venv / "bin"]:
        path = shutil.which("cmake", path=str(folder))
        if path and cmake_version(path) >= CMAKE_FIRST:
            return path
    say("installing cmake into", venv)
    run(venv / "bin/python", "-m", "pip", "install", "-q", "cmake>=%d.%d" % CMAKE_FIRST)
    return str(venv / "bin/cmake")


def make_venv(folder, python):
    """A virtual environment of that interpreter; made anew when the interpreter is another one."""
    marker = folder / "lextrace-python"
    wanted = f"{python.version} {os.path.realpath(python.path)}\n"
    if marker.exists() and marker.read_text() == wanted and (folder / "bin/python").exists():
        return
    say("making", folder.relative_to(ROOT), "with Python", python.version)
    shutil.rmtree(folder, ignore_errors=True)
    run(python.path, "-m", "venv", folder)
    marker.write_text(wanted)


def site_packages(venv):
    return next(venv.glob("lib/python3.*/site-packages"))


def same_file(source, target):
    a, b = source.stat(), target.stat()
    return a.st_size == b.st_size and a.st_mtime_ns == b.st_mtime_ns and a.st_mode == b.st_mode


def mirror(source, target):
    """Makes the folder target equal to source; files are replaced by rename, as programs may be running them."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = {entry.name for entry in source.iterdir()}
    for entry in target.iterdir():
        if entry.name not in wanted and entry.name != "__pycache__":
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for entry in source.iterdir():
        if entry.is_dir():
            mirror(entry, target / entry.name)
        else:
            replace(entry, target / entry.name)


def replace(source, target):
    if target.exists() and same_file(source, target):
        return
    new = target.with_name(target.name + ".new")
    shutil.copy2(source, new)
    os.replace(new, target)


def install(venv):
    """Puts what was built into a virtual environment, as pip would put the wheels."""
    mirror(STAGE / "lextrace", site_packages(venv) / "lextrace")
    install_dropin(site_packages(venv) / "dftracer")
    if (STAGE / "bin/lextrace").exists():
        replace(STAGE / "bin/lextrace", venv / "bin/lextrace")
    if (STAGE / "share").exists():
        shutil.copytree(STAGE / "share", venv / "share", dirs_exist_ok=True)


def install_dropin(target):
    """The package dftracer; other distributions, as dftracer-utils, have packages of theirs in the same folder."""
    target.mkdir(exist_ok=True)
    for entry in (ROOT / "dropin/dftracer/dftracer").iterdir():
        if entry.is_dir():
            mirror(entry, target / entry.name)
        else:
            replace(entry, target / entry.name)


def usable(found):
    """Those for which an extension can be built; says why others are left out."""
    good = []
    for python in found:
        if python.free_threaded:
            say(f"{python.path} is a free-threaded build, which is not supported yet: left out")
        elif not python.headers:
            say(f"{python.path} has no Python.h (Debian: python3-dev): no extension for it")
        else:
            good.append(python)
    return good


def configure(cmake, preset, *options):
    """Configures build/PRESET unless that was done with the same words before."""
    folder = BUILD / preset
    words = [cmake, "--preset", preset, *options]
    marker = folder / "configured-with"
    if marker.exists() and marker.read_text() == "\n".join(words) and (folder / "CMakeCache.txt").exists():
        return folder
    environment = dict(os.environ)
    if "CMAKE_GENERATOR" not in environment and shutil.which("ninja"):
        environment["CMAKE_GENERATOR"] = "Ninja"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "configure.log"
    with open(log, "w") as out:
        result = subprocess.run([*words, "--fresh"], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment)
    if result.returncode:
        sys.exit(log.read_text() + "build: cmake failed, see above")
    marker.write_text("\n".join(words))
    return folder


def compile_targets(cmake, folder, *targets):
    """Builds; the compiler's words are shown only where something was wrong."""
    words = [cmake, "--build", folder, "-j", str(os.cpu_count() or 1)]
    if targets:
        words += ["--target", *targets]
    result = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(result.stdout + f"build: compiling {folder.relative_to(ROOT)} failed, see above")


def stage(cmake, folder, target):
    """Installs what was built in the folder into the folder target, laid out as in a wheel."""
    log = subprocess.run([cmake, "--install", str(folder), "--prefix", str(target)], capture_output=True, text=True)
    if log.returncode:
        sys.exit(log.stderr + "build: cmake --install failed, see above")


def lock():
    """One build at a time in this checkout; the lock ends with the process."""
    BUILD.mkdir(exist_ok=True)
    file = open(BUILD / ".lock", "w")  # noqa: SIM115
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def build():
    """Builds all and installs it into .venv; returns (cmake, interpreters that have an extension)."""
    found = usable(pythons.find())
    if not found:
        sys.exit("build: no CPython from 3.11 up with its headers was found; install python3-dev or one by pyenv")
    preferred = [p for p in found if os.path.realpath(p.path) == os.path.realpath(sys.executable)]
    venv = ROOT / ".venv"
    make_venv(venv, (preferred or found)[0])
    cmake = find_cmake(venv)
    folder = configure(cmake, "release-dev", "-DLEXTRACE_PYTHONS=" + ";".join(p.path for p in found))
    compile_targets(cmake, folder)
    log = subprocess.run([cmake, "--install", str(folder), "--prefix", str(STAGE)], capture_output=True, text=True)
    if log.returncode:
        sys.exit(log.stderr + "build: cmake --install failed, see above")
    for python in found:  # what a traced program loads first should not be compiled at each start
        run(python.path, "-m", "compileall", "-q", "-l", STAGE / "lextrace", STAGE / "lextrace/boot")
    install(venv)
    return cmake, found


def main():
    with lock():
        _, found = build()
    versions = ", ".join(p.version for p in found)
    print(f"lextrace is in .venv/bin/lextrace; its extension is built for Python {versions}")


if __name__ == "__main__":
    main()
