"""`make test`: builds lextrace, runs the C tests, the Python-facing tests on each interpreter, and the sanitizers."""

import os
import subprocess
import sys
import time

import build

ROOT = build.ROOT
REQUIREMENTS = ROOT / "tests" / "requirements.txt"
REQUIREMENTS_ONCE = ROOT / "tests" / "requirements-once.txt"
EXPECTED = ["3.11", "3.12", "3.13"]  # what should be on a machine that tests all; newer ones are used where found
FOR_EACH_PYTHON = ["tests/python"]
ONCE = ["tests/cli", "tests/export"]  # these read traces; their interpreter does not matter

SANITIZERS = {
    # The interpreter leaks at its end, and programs under test die of signals that belong to them.
    "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0:handle_sigfpe=0:handle_abort=0:handle_sigbus=0:handle_sigill=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": f"halt_on_error=1:report_signal_unsafe=0:suppressions={ROOT}/tests/tsan.supp",
}

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


def test_venv(python, once=False):
    """A virtual environment of that interpreter with the tests' requirements and lextrace as it was built."""
    venv = ROOT / ".venvs" / f"py{python.minor}"
    venv.parent.mkdir(exist_ok=True)
    build.make_venv(venv, python)
    for file in [REQUIREMENTS, REQUIREMENTS_ONCE] if once else [REQUIREMENTS]:
        marker = venv / file.name
        if not marker.exists() or marker.read_bytes() != file.read_bytes():
            build.run(venv / "bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", file)
            marker.write_bytes(file.read_bytes())
    build.install(venv)
    return venv


def c_tests(cmake, preset, title, pythons):
    """Builds the C tests and the fuzzers' replay programs of a preset and runs them; gives the build's folder."""
    step(f"C tests, {title}")
    with build.lock():
        folder = build.configure(cmake, preset, "-DLEXTRACE_PYTHONS=" + ";".join(p.path for p in pythons))
        build.compile_targets(cmake, folder, "checks")
    ctest = os.path.join(os.path.dirname(os.path.realpath(cmake)), "ctest")
    words = [ctest, "--test-dir", folder, "--output-on-failure", "--no-tests=error", "-j", os.cpu_count() or 1]
    check(f"C tests, {title}", words, env=dict(os.environ, **SANITIZERS))
    return folder


def pytest(title, venv, program, words, **environment):
    """pytest of that environment on the lextrace at `program`."""
    words = [venv / "bin/python", "-m", "pytest", "-q", "-n", os.cpu_count() or 1, "--dist", "worksteal", *words]
    environment = dict(os.environ, LEXTRACE_BIN=str(program), **environment)
    environment.pop("PYTHONPATH", None)
    check(title, words, env=environment)


def python_tests(python, once):
    step(f"Python {python.version}")
    venv = test_venv(python, once)
    pytest(f"Python {python.version}", venv, venv / "bin/lextrace", FOR_EACH_PYTHON + (ONCE if once else []))


def sanitized(cmake, preset, title, python, libraries, tests, **environment):
    """C tests, then Python-facing tests with the core and the extension built with a sanitizer."""
    folder = c_tests(cmake, preset, title, [python])
    title = f"Python {python.version}, {title}"
    step(title)
    with build.lock():
        build.compile_targets(cmake, folder)
        build.stage(cmake, folder, folder / "stage")
    paths = [subprocess.run(["gcc", "-print-file-name=" + name], capture_output=True, text=True).stdout.strip() for name in libraries]
    # The interpreter itself is not instrumented: the sanitizer is loaded ahead of it, here and in what is traced.
    pytest(title, test_venv(python), folder / "stage/bin/lextrace", tests, LD_PRELOAD=" ".join(paths), **SANITIZERS,
           LEXTRACE_PACKAGE=str(folder / "stage/lextrace"), **environment)


def main():
    with build.lock():
        cmake, found = build.build()
    c_tests(cmake, "release-dev", "release", found)
    for number, python in enumerate(found):
        python_tests(python, once=number == 0)
    # The heaviest cases say nothing more about memory. The two ends of the range take different paths in the capture.
    sanitized(cmake, "asan", "AddressSanitizer and UndefinedBehaviorSanitizer", found[-1], ["libasan.so", "libstdc++.so"],
              ["tests/python/test_calls.py", "tests/python/test_threads.py", "tests/python/test_endings.py",
               "tests/python/test_config_rules.py", "tests/python/test_config_modes.py", "tests/python/test_annotate.py",
               "-k", "not 50_000 and not 10_000 and not killed_while"], PYTHONMALLOC="malloc")
    sanitized(cmake, "tsan", "ThreadSanitizer", found[0], ["libtsan.so"],
              ["tests/python/test_threads.py", "-k", "not 10_000"])

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
