"""The C and C++ headers as programs use them: compiled by pkg-config and CMake, run, and read back value by value."""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEXTRACE = Path(os.environ.get("LEXTRACE_BIN") or ROOT / ".venv/bin/lextrace")
PROGRAMS = ROOT / "tests" / "programs"
EXAMPLES = ROOT / "examples" / "annotate"
PACKAGE = next(iter(LEXTRACE.parent.parent.glob("lib/python3*/site-packages/lextrace")), None)
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import lextrace_tools as tools  # noqa: E402

pytestmark = pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("g++"), reason="gcc or g++ was not found")
FLAGS = [f"-I{PACKAGE}/include", f"-L{PACKAGE}/lib", f"-Wl,-rpath,{PACKAGE}/lib"]


def build(source, out, *words):
    """The program of a file of tests/programs, or of a text."""
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    subprocess.run([compiler, "-O2", "-g", *STRICT, *words, FLAGS[0], source, *FLAGS[1:], "-o", out, "-llextrace", "-pthread"],
                   check=True)
    return out


def environment(**variables):
    left_out = ("LEXTRACE_", "DFTRACER_", "OMPI_", "PMI", "MV2_", "SLURM_")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(left_out)}, **variables}


def execute(*words, cwd, timeout=120, **variables):
    return subprocess.run([str(word) for word in words], cwd=cwd, env=environment(**variables), capture_output=True, text=True,
                          timeout=timeout)


def value_of(event):
    more = event.more
    return (more.form, more.bytes) if isinstance(more, tools.Text) else more


def told(folder):
    """(kind without its domain, name, value) of each event of a process folder, by thread."""
    process = tools.Process(folder)
    assert not any(process.lost.values())
    threads = {}
    for event in process.events():
        kind = tools.KINDS[event.kind].partition(":")[2]
        threads.setdefault(event.thread, []).append((kind, process.lexgions[event.value].name, value_of(event)))
    return process, threads


def processes(run):
    return [folder for folder in sorted(run.iterdir()) if (folder / "lextrace").is_dir()]


def only(run):
    (folder,) = processes(run)
    return folder


# ---- Compiling ----

USE = """
#include <lextrace/lextrace.h>
#include <dftracer/dftracer.h>
static lextrace_region whole = LEXTRACE_REGION("Test/whole"), part = LEXTRACE_REGION_IN("Test", "part", LEXTRACE_COMP_IO);
int use(const char *path)
{
	LEXTRACE_FUNCTION("IO");
	DFTRACER_C_FUNCTION_START();
	lextrace_argument two[] = {lextrace_of("x", 1), lextrace_of("y", path)};
	if (lextrace_start("run") != 0)
		return 1;
	lextrace_begin(&whole);
	lextrace_arg("path", path);
	lextrace_arg("n", 3u);
	for (int i = 0; i < 3; i++) {
		LEXTRACE_SCOPE("IO", "read", LEXTRACE_COMP_IO);
		LEXTRACE_SCOPE("IO", "again");
		lextrace_arg_string("s", path);
		lextrace_arg("f", 1.5f);
	}
	lextrace_span(&part, lextrace_now(), 10, two, 2);
	lextrace_point(&part, two, 1);
	lextrace_counter(&part, 2.5);
	lextrace_metadata_int("m", lextrace_knob_int("k", 1));
	lextrace_unwind(&part);
	lextrace_end(&whole);
	DFTRACER_C_INIT(NULL, NULL, NULL);
	DFTRACER_C_FUNCTION_UPDATE_INT("i", 1);
	DFTRACER_C_REGION_START(name);
	DFTRACER_C_REGION_UPDATE_STR_TYPE(name, "comp", "io", 0);
	DFTRACER_C_REGION_END(name);
	DFTRACER_C_METADATA(any, "k", "v");
	DFTRACER_C_FUNCTION_END();
	DFTRACER_C_FINI();
	lextrace_stop();
	return 0;
}
"""
USE_CPP = USE.replace("NULL", "nullptr") + """
template <class Value> Value more(Value value)
{
	LEXTRACE_FUNCTION("C++", LEXTRACE_COMP_CPU);
	DFTRACER_CPP_FUNCTION();
	DFTRACER_CPP_FUNCTION_UPDATE("value", value);
	DFTRACER_CPP_REGION_START(dynamic);
	DFTRACER_CPP_REGION_DYN_UPDATE(dynamic, "double", 3.5);
	DFTRACER_CPP_REGION_END(dynamic);
	DFTRACER_CPP_METADATA(any, "k", "v");
	lextrace::scope scope(whole);
	lextrace_arg("value", value);
	lextrace_span(&part, 1, 2, {lextrace_of("v", value), lextrace_of("b", true)});
	return value;
}
int all() { return more(1) + static_cast<int>(more(std::string("s")).size()); }
"""


@pytest.mark.parametrize("define", ["", "NDEBUG", "LEXTRACE_DISABLE"])
@pytest.mark.parametrize("standard", ["c11", "gnu11", "c17", "gnu2x", "c++11", "gnu++11", "c++14", "c++17", "c++20"])
def test_header_is_clean(tmp_path, standard, define):
    """Without a warning in each standard; switched off, not one symbol of the library is left."""
    cpp = "++" in standard
    source = tmp_path / ("use.cpp" if cpp else "use.c")
    source.write_text(USE_CPP if cpp else USE)
    compilers = ["g++" if cpp else "gcc", *(["clang"] if shutil.which("clang") and not cpp else [])]
    for compiler in compilers:
        words = [compiler, f"-std={standard}", *STRICT, *(["-Wold-style-cast"] if cpp else []), "-O2", FLAGS[0], "-c"]
        subprocess.run([*words, *([f"-D{define}"] if define else []), source, "-o", tmp_path / "use.o"], check=True)
        symbols = subprocess.run(["nm", "-u", tmp_path / "use.o"], capture_output=True, text=True, check=True).stdout
        assert ("lextrace_" in symbols) == (define != "LEXTRACE_DISABLE")


def test_key_that_is_no_literal_is_refused(tmp_path):
    """Its first value would stand for all: the compiler says so."""
    (tmp_path / "use.c").write_text("#include <lextrace/lextrace.h>\nvoid use(const char *key) { lextrace_arg(key, 1); }\n")
    done = execute("gcc", FLAGS[0], "-c", "use.c", cwd=tmp_path)
    assert done.returncode != 0


def test_library_exports_what_headers_declare():
    """Nothing that a program was linked with goes: the list is only ever added to."""
    out = subprocess.run(["nm", "-D", "--defined-only", PACKAGE / "lib/liblextrace.so"], capture_output=True, text=True, check=True)
    found = {line.split()[-1].partition("@")[0] for line in out.stdout.splitlines()}
    assert found >= {
        "lextrace_begin", "lextrace_end", "lextrace_knob_int", "lextrace_knob_double", "lextrace_knob_string", "lextrace_start",
        "lextrace_stop", "lextrace_on", "lextrace_region_begin", "lextrace_region_end", "lextrace_region_unwind",
        "lextrace_argument_add", "lextrace_span_add", "lextrace_point_add", "lextrace_counter_add", "lextrace_metadata_add",
        "lextrace_now", "lextrace_dftracer_init", "lextrace_dftracer_fini", "lextrace_dftracer_used", "lextrace_dftracer_begin",
        "lextrace_dftracer_update", "lextrace_dftracer_end"}


# ---- The examples ----

def make(folder, package, *words):
    if not shutil.which("pkg-config") or not shutil.which("make"):
        pytest.skip("pkg-config or make was not found")
    shutil.copytree(EXAMPLES, folder)
    subprocess.run(["make", "-s", f"PKG_CONFIG_PATH={package}/lib/pkgconfig", *words], cwd=folder, check=True, env=environment())
    return folder


def cmake(folder, package):
    if not shutil.which("cmake"):
        pytest.skip("cmake was not found")
    words = ["cmake", "-S", EXAMPLES, "-B", folder, f"-Dlextrace_ROOT={package}", "-DCMAKE_C_FLAGS=-Werror"]
    done = execute(*words, cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    done = execute("cmake", "--build", folder, cwd=folder.parent, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def sanitized(folder, package):
    return make(folder, package, "CFLAGS=-O1 -g -fsanitize=address,undefined", "CXXFLAGS=-O1 -g -fsanitize=address,undefined")


def moved(folder, package):
    """The package's folder may lie anywhere."""
    shutil.copytree(package, folder.with_name("elsewhere"), symlinks=True)
    return make(folder, folder.with_name("elsewhere"))


@pytest.mark.parametrize("way", [make, cmake, sanitized, moved])
def test_examples(tmp_path, way):
    folder = way(tmp_path / "built", PACKAGE)
    (tmp_path / "a.txt").write_text("one two\nthree\n")
    (tmp_path / "b.txt").write_text("four")
    for name, language in ("words-c", b"C"), ("words-cpp", b"C++"):
        # What `lextrace run` sets; this needs no Python beside the library.
        done = execute(folder / name, "a.txt", "b.txt", "missing", cwd=tmp_path, LEXTRACE_DIR=str(tmp_path / name))
        assert done.returncode == 0 and "3 a.txt" in done.stdout, done.stderr
        assert done.stderr in ("", "missing: cannot be read\n")
        process, threads = told(only(tmp_path / name))
        assert threads.pop(0) == [
            ("metadata", "files", (1, b"3")), ("region_begin", "Words/wait", None), ("region_end", "Words/wait", None),
            ("point", "Words/done", 2), ("arg_int", "files", 3), ("arg_text", "by", (0, language))]
        found = sorted(([event for event in events if event[0] != "counter"] for events in threads.values()), key=repr)
        counted = [("region_begin", "Compute/count", None), ("region_end", "Compute/count", None)]

        def read(path, *result, end="region_end"):
            return [("region_begin", "IO/read_file", None), ("arg_text", "path", (0, path)), *result, (end, "IO/read_file", None)]

        failed = read(b"missing", ("arg_text", "error", (0, b"No such file or directory"))) + \
            [counted[0], ("arg_int", "words", 0), counted[1]]
        if language == b"C++":
            failed = read(b"missing", end="region_unwind")
        assert found == sorted([
            read(b"a.txt", ("arg_int", "bytes", 14)) + [counted[0], ("arg_int", "words", 3), counted[1]],
            read(b"b.txt", ("arg_int", "bytes", 4)) + [counted[0], ("arg_int", "words", 1), counted[1]], failed], key=repr)
        place = next(lexgion for lexgion in process.lexgions.values() if lexgion.name == "IO/read_file")
        assert Path(place.file).name == ("words.c" if language == b"C" else "words.cpp") and place.line > 10
        assert place.flags >> 8 & 15 == 1 and place.flags >> 16 == len("IO")


# ---- What a program may do ----

@pytest.fixture(scope="module")
def annotated(tmp_path_factory):
    return build(PROGRAMS / "annotated.c", tmp_path_factory.mktemp("annotated") / "annotated", "-std=gnu11")


def test_a_million_regions(annotated, tmp_path):
    done = execute(annotated, "many", "1000000", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    report = execute(LEXTRACE, "report", "run", "--json", cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    state = tools.Process(only(tmp_path / "run")).state
    assert state["events"] == 3 * 1_000_000 and state["ended"] == 2


def test_threads(annotated, tmp_path):
    done = execute(annotated, "threads", "5000", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    _, threads = told(only(tmp_path / "run"))
    assert len(threads) == 8
    for events in threads.values():
        assert [event for event in events if event[0] == "arg_int"] == [("arg_int", "i", i) for i in range(5000)]
        assert Counter(kind for kind, *_ in events) == {"region_begin": 5000, "arg_int": 5000, "region_end": 5000}


def test_kill_in_the_middle(annotated, tmp_path):
    program = subprocess.Popen([annotated, "endless"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True)
    for line in program.stdout:
        said = int(line)
        if said >= 30_000:
            break
    program.kill()
    program.wait()
    assert program.returncode == -signal.SIGKILL
    _, threads = told(only(tmp_path / "run"))
    ended = [value for kind, _, value in threads[0] if kind == "arg_int"]
    assert ended == list(range(len(ended))) and len(ended) > said  # what it had said was recorded before it said so


def test_hostile_texts(annotated, tmp_path):
    """Names, keys and values of any bytes come back as they were."""
    done = execute(annotated, "hostile", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    process, threads = told(only(tmp_path / "run"))
    values, at = {}, threads[0]
    for kind, key, value in at:
        if kind == "arg_text":
            values[key] = values.get(key, b"") + value[1]
    assert values == {
        'quote " \\ \n \t': b'value " \\ \n\x01\x7f', "empty": b"", "nul": b"a\0b\0", "latin": b"\xe4\xf6\xfc \xff\xfe",
        "surrogate": b"\xed\xa0\x80", "long": b"x" * 5000, "huge": b"y" * ((1 << 20) - 3) + b"...", "": b"no name"}
    names = [key for kind, key, _ in at if kind == "region_begin"]
    assert names[0] == 'Hostile "/\\ \n' and names[1] == "K" * 3000 + "/" + "n" * 3000
    for words in ["report", "run"], ["view", "run"], ["view", "--json", "run"], ["info", "run"], ["report", "--json", "run"]:
        done = execute(LEXTRACE, *words, cwd=tmp_path)
        assert done.returncode == 0 and not done.stderr, words


def test_nothing_is_recorded_without_a_session(annotated, tmp_path):
    done = execute(annotated, "off", "1000", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and not list(tmp_path.iterdir())


def test_lextrace_run(annotated, tmp_path):
    """A program that is linked with the library needs nothing else; children are recorded or not, as said."""
    if not (PACKAGE / "__init__.py").exists():
        pytest.skip("the Python package is not built")
    for words, count in ([], 2), (["--no-follow"], 1):
        done = execute(LEXTRACE, "run", *words, "-o", f"run-{count}", annotated, "again", "100", cwd=tmp_path)
        assert done.returncode == 0 and "no Python process" not in done.stderr, done.stderr
        folders = processes(tmp_path / f"run-{count}")
        assert len(folders) == count
        for folder in folders:
            process, threads = told(folder)
            assert Counter(kind for kind, *_ in threads[0]) == {"region_begin": 100, "arg_int": 100, "region_end": 100}
            assert process.state["ended"] == 1
    done = execute(LEXTRACE, "run", "-o", "python", sys.executable, "-c",
                   f"import subprocess; subprocess.run([{str(annotated)!r}, 'once', '100'])", cwd=tmp_path)
    assert done.returncode == 0 and len(processes(tmp_path / "python")) == 2


# ---- dftracer/dftracer.h ----

@pytest.fixture(scope="module", params=["c", "cpp"])
def dftracer(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dftracer")
    source = PROGRAMS / "dftracer_macros.c"
    if request.param == "cpp":  # the C macros work in C++, too
        source = folder / "dftracer_macros.cpp"
        shutil.copy(PROGRAMS / "dftracer_macros.c", source)
    return build(source, folder / "program")


@pytest.fixture(scope="module")
def dftracer_cpp(tmp_path_factory):
    return build(PROGRAMS / "dftracer_macros.cpp", tmp_path_factory.mktemp("dftracer") / "program", "-std=c++11")


def on(folder, **more):
    return {"DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(folder / "out" / "app"), **more}


def pfw(folder, kind="app", ending=".pfw.gz"):
    return sorted((folder / "out").glob(f"app-{'[0-9a-f]' * 16}-{kind}{ending}"))


def records(path):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [json.loads(line) for line in text.splitlines() if line not in ("[", "]")]


def spans(path):
    """Of the program: name and the arguments that it gave."""
    return [(record["name"], {key: value for key, value in record["args"].items() if key not in ("hhash", "file", "line")})
            for record in records(path) if record.get("ph") in (1, "X") and record["cat"] in ("C_APP", "CPP_APP", "own")]


WORK = [("inner", {"size": 4096, "done": "yes"}), ("work", {"comp": "io", "depth": 0, "late": "x"}),
        ("inner", {"size": 4096, "done": "yes"}), ("work", {"comp": "io", "depth": 1, "late": "x"})]


def test_dftracer(dftracer, tmp_path):
    done = execute(dftracer, "plain", cwd=tmp_path, **on(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    (path,) = pfw(tmp_path)
    assert list((tmp_path / "out").iterdir()) == [path] and spans(path) == WORK


def test_dftracer_is_off_by_default(dftracer, tmp_path):
    for value in {}, {"DFTRACER_ENABLE": "0"}:
        done = execute(dftracer, "plain", cwd=tmp_path, DFTRACER_LOG_FILE="out/app", **value)
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "") and not list(tmp_path.iterdir())


@pytest.mark.parametrize("variables, ending, unit", [
    ({"DFTRACER_TRACE_COMPRESSION": "0"}, ".pfw", 1e6), ({"DFTRACER_TIME_METRIC": "NS"}, ".pfw.gz", 1e9),
    ({"DFTRACER_TIME_METRIC": "sec", "DFTRACER_TRACE_DIALECT": "1"}, ".pfw.gz", 1)])
def test_dftracer_settings(dftracer, tmp_path, variables, ending, unit):
    done = execute(dftracer, "plain", cwd=tmp_path, **on(tmp_path, **variables))
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = pfw(tmp_path, ending=ending)
    assert spans(path) == WORK
    work = [record for record in records(path) if record["name"] == "work"]
    assert all(abs(record["ts"] / unit - time.time()) < 600 for record in work)
    assert {record["ph"] for record in work} == {"X" if "DFTRACER_TRACE_DIALECT" in variables else 1}


def test_dftracer_keeps_the_folder_if_asked(dftracer, tmp_path):
    execute(dftracer, "plain", cwd=tmp_path, **on(tmp_path, LEXTRACE_KEEP="1"))
    (path,) = pfw(tmp_path)
    run = path.with_name(path.name.replace(".pfw.gz", ".lextrace"))
    _, threads = told(only(run))
    assert [event for event in threads[0] if event[0] == "metadata"] == [
        ("metadata", "used.C_APP", (1, b"1")), ("metadata", "k", (0, b"v")), ("metadata", "n", (1, b"5")),
        ("metadata", "s", (0, b"t")), ("metadata", "used.layer", (1, b"1"))]


@pytest.mark.parametrize("name, prefix", [("out/app.pfw.gz", "app"), ("out/app.pfw", "app"), ("out/a.b", "a.b"),
                                          ("out/", "trace"), ("out/x/y/app", "app")])
def test_dftracer_names(dftracer, tmp_path, name, prefix):
    """As the program gives it, relative to where it is then; folders are made."""
    execute(dftracer, "named", name, "3", cwd=tmp_path, DFTRACER_ENABLE="true", DFTRACER_LOG_FILE="elsewhere")
    (path,) = tmp_path.rglob("*.pfw.gz")
    assert path.parent == (tmp_path / name).parent / ("out" if name.endswith("/") else "") and path.name.startswith(prefix + "-")
    assert len(path.name) == len(prefix) + len("-0123456789abcdef-app.pfw.gz")


def test_dftracer_where_nothing_can_be_written(dftracer, tmp_path):
    (tmp_path / "out").write_text("a file")
    done = execute(dftracer, "plain", cwd=tmp_path, **on(tmp_path))
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr == f"lextrace: cannot write a trace: {tmp_path}/out/app: Not a directory; nothing is recorded, " \
                          "name another log_file\n"


@pytest.mark.parametrize("way", ["exit", "return"])
def test_dftracer_without_fini(dftracer, tmp_path, way):
    done = execute(dftracer, way, cwd=tmp_path, **on(tmp_path))
    assert (done.returncode, done.stderr) == (3, "")
    (path,) = pfw(tmp_path)
    assert list((tmp_path / "out").iterdir()) == [path] and spans(path) == WORK


def test_dftracer_killed(dftracer, tmp_path):
    done = execute(dftracer, "kill", cwd=tmp_path, **on(tmp_path))
    assert done.returncode == -signal.SIGKILL and not pfw(tmp_path)
    (run,) = pfw(tmp_path, ending=".lextrace")
    assert Counter(name for kind, name, _ in told(only(run))[1][0] if kind == "region_end") == {"C_APP/inner": 2, "C_APP/work": 2}
    done = execute(LEXTRACE, "export", "--to", "pfw", run, "-o", "out/app-0123456789abcdef-app.pfw.gz", cwd=tmp_path)
    assert done.returncode == 0 and spans(pfw(tmp_path)[0]) == WORK


def test_dftracer_again_and_twice(dftracer, tmp_path):
    """Init after fini makes another file; a second init or fini changes nothing."""
    done = execute(dftracer, "again", cwd=tmp_path, **on(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert [spans(path) for path in pfw(tmp_path)] == [WORK, WORK]


def test_dftracer_fork(dftracer, tmp_path):
    done = execute(dftracer, "fork", cwd=tmp_path, **on(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list((tmp_path / "out").iterdir())) == 2
    assert [spans(path) for path in pfw(tmp_path, "app")] == [WORK] and [spans(path) for path in pfw(tmp_path, "fork")] == [WORK]


def test_dftracer_joins_a_run(dftracer, tmp_path):
    done = execute(dftracer, "plain", cwd=tmp_path, LEXTRACE_DIR=str(tmp_path / "run"), PMI_RANK="7", **on(tmp_path))
    assert (done.returncode, done.stderr) == (0, "") and not (tmp_path / "out").exists()
    process, threads = told(only(tmp_path / "run"))
    assert ("metadata", "rank", (1, b"7")) in threads[0] and process.state["ended"] == 1


def test_dftracer_cpp(dftracer_cpp, tmp_path):
    done = execute(dftracer_cpp, cwd=tmp_path, **on(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = pfw(tmp_path)
    exception = {"ended": "exception"}
    part = [("STATIC", {"key": "value", "number": 3}), ("DYNAMIC", {"n": 0, "text": "std"})]
    assert spans(path) == [
        *part, ("mine", {"real": 0.5}), ("work", {"comp": "io", "double": 3.14, "flag": 1}),
        part[0], ("DYNAMIC", {"n": 1, "text": "std"}), ("mine", {"real": 0.5, **exception}),
        ("work", {"comp": "io", "double": 3.14, "flag": 1, **exception})]


# ---- docs/c-api.md ----

@pytest.mark.parametrize("number", [0, 1])
def test_examples_of_the_page(tmp_path, number):
    text = re.findall(r"^```c\n(.*?)^```", (ROOT / "docs/c-api.md").read_text(), re.S | re.M)[number]
    if "main" not in text:
        text += "int main(void)\n{\n\treturn lextrace_start(\"run\") || load(\"x\");\n}\n"
    (tmp_path / "example.c").write_text(text)
    build(tmp_path / "example.c", tmp_path / "example")
    done = execute("./example", cwd=tmp_path, **on(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    if number:
        assert spans(pfw(tmp_path)[0]) == [("read", {"comp": "io"})]
    else:
        assert Counter(name for kind, name, _ in told(only(tmp_path / "run"))[1][0] if kind == "region_end") == {
            "IO/chunk": 3, "IO/load": 1}
