"""`make test`: builds lextrace, runs the C tests, the Python-facing tests on each interpreter, and the sanitizers."""

import hashlib
import os
import subprocess
import sys
import time

import build

ROOT = build.ROOT
REQUIREMENTS = ROOT / "tests" / "requirements.txt"
EXPECTED = ["3.11", "3.12", "3.13"]  # what should be on a machine that tests all; newer ones are used where found
FOR_EACH_PYTHON = ["tests/python"]
ONCE = ["tests/cli", "tests/export"]  # these read traces; their interpreter does not matter

failed = []


def step(title):
    print(f"\n== {title}", flush=True)


def check(title, words, **more):
    """Runs a runner, whose own lines are shown; remembers a failure."""
    start = time.monotonic()
    status = subprocess.run([str(word) for word in words], cwd=ROOT, **more).returncode
    if status:
        failed.append(title)
    print(f"({title}: {time.monotonic() - start:.0f} s)", flush=True)


def test_venv(python):
    """A virtual environment of that interpreter with the tests' requirements and lextrace as it was built."""
    venv = ROOT / ".venvs" / f"py{python.minor}"
    venv.parent.mkdir(exist_ok=True)
    build.make_venv(venv, python)
    marker = venv / "requirements"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not marker.exists() or marker.read_text() != wanted:
        pip = [venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", REQUIREMENTS]
        build.run(*pip)
        marker.write_text(wanted)
    build.install(venv)
    return venv


def c_tests(cmake, preset, title, *options):
    """Builds the C tests and the fuzzers' replay programs of a preset and runs them."""
    step(f"C tests, {title}")
    with build.lock():
        folder = build.configure(cmake, preset, *options)
        build.compile_targets(cmake, folder, "checks")
    ctest = os.path.join(os.path.dirname(os.path.realpath(cmake)), "ctest")
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", TSAN_OPTIONS="halt_on_error=1")
    words = [ctest, "--test-dir", folder, "--output-on-failure", "--no-tests=error", "-j", os.cpu_count() or 1]
    check(f"C tests, {title}", words, env=environment)


def python_tests(python, folders):
    venv = test_venv(python)
    folders = [folder for folder in folders if list((ROOT / folder).glob("test_*.py"))]
    words = [venv / "bin/python", "-m", "pytest", "-q", "-n", os.cpu_count() or 1, "--dist", "worksteal"]
    environment = dict(os.environ, LEXTRACE_BIN=str(venv / "bin/lextrace"))
    environment.pop("PYTHONPATH", None)
    check(f"Python {python.version}", [*words, *folders], env=environment)


def main():
    with build.lock():
        cmake, found = build.build()
    c_tests(cmake, "release-dev", "release", "-DLEXTRACE_PYTHONS=" + ";".join(p.path for p in found))
    for number, python in enumerate(found):
        step(f"Python {python.version}")
        python_tests(python, FOR_EACH_PYTHON + (ONCE if number == 0 else []))
    c_tests(cmake, "asan", "AddressSanitizer and UndefinedBehaviorSanitizer")
    c_tests(cmake, "tsan", "ThreadSanitizer")

    minors = {python.minor for python in found}
    missing = [minor for minor in EXPECTED if minor not in minors]
    print("\ntested on Python", ", ".join(python.version for python in found), flush=True)
    if missing:
        print("not found here:", ", ".join("Python " + minor for minor in missing))
    if failed:
        sys.exit("failed: " + "; ".join(failed))
    print("all tests passed")


if __name__ == "__main__":
    main()
