"""Where exports go: names, gzip, temporary files, what happens when it cannot be written, and what is said."""
import gzip
import os
import resource
import signal
import stat
import subprocess
import time

import exported
import lextrace_tools as tools
import mktrace
import pytest

PID = 5_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "run-1"
    mktrace.main([str(path), "--calls", "100", "--threads", "2", "--c-calls", "0.2"])
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Enough that an export takes some time: 400,000 events."""
    path = tmp_path_factory.mktemp("files") / "large"
    mktrace.main([str(path), "--calls", "200000"])
    return path


def lextrace(*words, **more):
    return tools.lextrace("export", *words, **more)


def test_default_is_perfetto_in_this_folder(run, tmp_path):
    done = lextrace(run, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == ""
    assert os.listdir(tmp_path) == ["run-1.perfetto-trace"]
    size = (tmp_path / "run-1.perfetto-trace").stat().st_size
    slices = sum(map(len, exported.read_perfetto(tmp_path / "run-1.perfetto-trace").values()))
    assert done.said == ["lextrace: run-1: %d slices of 2 threads in 1 process; run-1.perfetto-trace, %.1f kB, is for the "
                         "Perfetto UI and trace_processor" % (slices, size / 1000)]


def test_newest_run_is_taken(tmp_path):
    mktrace.main([str(tmp_path / "lextrace-app-1"), "--calls", "10"])
    done = lextrace("--to", "chrome", cwd=tmp_path)
    assert done.returncode == 0 and done.said[0].startswith("lextrace: lextrace-app-1: 10 slices of 1 thread in 1 process")
    assert (tmp_path / "lextrace-app-1.json").exists()


@pytest.mark.parametrize("name, to", [
    ("a.perfetto-trace", "perfetto"), ("a.pftrace", "perfetto"), ("a.json", "chrome"), ("a.JSON.GZ", "chrome"),
    ("a.pfw", "pfw"), ("a.pfw.gz", "pfw"), ("a.speedscope.json", "speedscope"), ("a.speedscope.json.gz", "speedscope"),
    ("a.folded", "folded"), ("a.prof", "pstats"), ("a.pstats", "pstats")])
def test_format_by_name(run, tmp_path, name, to):
    exported.export(run, tmp_path / name)
    exported.export(run, tmp_path / "same", "--to", to)
    data = (tmp_path / name).read_bytes()
    packed = name.lower().endswith(".gz")
    assert (gzip.decompress(data) if packed else data) == (tmp_path / "same").read_bytes()


@pytest.mark.parametrize("to", exported.FORMATS)
def test_gzip_has_the_same_content(large, tmp_path, to):
    exported.export(large, tmp_path / "plain", "--to", to)
    exported.export(large, tmp_path / "packed.gz", "--to", to)
    assert gzip.decompress((tmp_path / "packed.gz").read_bytes()) == (tmp_path / "plain").read_bytes()
    assert subprocess.run(["gzip", "-t", tmp_path / "packed.gz"]).returncode == 0


def test_empty_gzip_is_a_gzip(tmp_path):
    mktrace.Process(str(tmp_path / "none"), PID).end()
    exported.export(tmp_path / "none", tmp_path / "out.folded.gz")
    assert gzip.decompress((tmp_path / "out.folded.gz").read_bytes()) == b""


@pytest.mark.parametrize("to", exported.FORMATS)
def test_standard_output(run, tmp_path, to):
    exported.export(run, tmp_path / "file", "--to", to)
    done = subprocess.run([tools.lextrace_binary(), "export", run, "--to", to, "-o", "-", "-q"], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (tmp_path / "file").read_bytes()


def test_quiet(run, tmp_path):
    assert exported.export(run, tmp_path / "out.json", "-q").said == []


# ---- Wrong use ----

@pytest.mark.parametrize("words, said, status", [
    (["--to", "spedscope"], "lextrace: --to: spedscope? One of perfetto chrome pfw pfw1 speedscope folded pstats", 2),
    (["-o", "out.svg"], "lextrace: export: the name out.svg tells no format; add --to and one of perfetto chrome pfw pfw1 "
                        "speedscope folded pstats", 2),
    (["-o", "/no/such/out.json"], "lextrace: cannot make /no/such/out.json: no such folder /no/such", 1),
    (["-o", ".", "--to", "chrome"], "lextrace: cannot make .: it is a folder; name a file in it", 1),
    (["--process", "17"], "lextrace: no process 17 in this run; it has 5000000 app", 1),
])
def test_messages(run, tmp_path, words, said, status):
    done = lextrace(run, *words, cwd=tmp_path)
    assert done.said == [said] and done.returncode == status and done.stderr == ""
    assert os.listdir(tmp_path) == []


def test_no_run(tmp_path):
    done = lextrace(tmp_path / "nothing", "-o", tmp_path / "out.json")
    assert done.returncode == 1 and len(done.said) == 1 and not (tmp_path / "out.json").exists()


def test_binary_does_not_go_to_a_terminal(run):
    master, slave = os.openpty()
    done = subprocess.run([tools.lextrace_binary(), "export", run, "-o", "-"], stdout=slave, stderr=subprocess.PIPE, text=True)
    os.close(slave)
    os.close(master)
    assert done.returncode == 2
    assert done.stderr == "lextrace: export: perfetto is no text for a terminal; name a file: -o FILE.perfetto-trace\n"


# ---- The file is whole or absent ----

def test_no_room(large, tmp_path):
    """A file size limit, as a full disk: nothing is left, an older file stays as it was."""
    (tmp_path / "out.json").write_text("old")
    done = lextrace(large, "-o", tmp_path / "out.json",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000)))
    assert done.returncode == 1
    assert done.said == ["lextrace: cannot write %s: File too large; nothing of it was kept: choose another place with -o, "
                         "or end its name in .gz" % (tmp_path / "out.json")]
    assert os.listdir(tmp_path) == ["out.json"] and (tmp_path / "out.json").read_text() == "old"


@pytest.mark.parametrize("to", exported.FORMATS)
def test_full_disk(run, to):
    done = lextrace(run, "--to", to, "-o", "/dev/full")
    assert done.returncode == 1
    assert done.said == ["lextrace: cannot write /dev/full: No space left on device; nothing of it was kept: choose another "
                         "place with -o, or end its name in .gz"]
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_full_standard_output(run):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([tools.lextrace_binary(), "export", run, "-o", "-"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "lextrace: cannot write to standard output: No space left on device\n")


def test_closed_pipe_is_quiet(large):
    with subprocess.Popen([tools.lextrace_binary(), "export", large, "--to", "chrome", "-o", "-"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, -signal.SIGPIPE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing(large, tmp_path, number):
    (tmp_path / "out.json").write_text("old")
    for _ in range(20):
        process = subprocess.Popen([tools.lextrace_binary(), "export", large, "-o", tmp_path / "out.json"],
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and not list(tmp_path.glob("*.part")):
            time.sleep(0.0005)
        time.sleep(0.005)
        process.send_signal(number)
        if process.wait() == -number:  # it did not just end before; a shell shows 130 for SIGINT
            break
        (tmp_path / "out.json").write_text("old")
    assert process.returncode == -number
    assert os.listdir(tmp_path) == ["out.json"] and (tmp_path / "out.json").read_text() == "old"


def test_an_old_file_keeps_its_mode_and_link(run, tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "real.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to("real.json")
    exported.export(run, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert stat.S_IMODE((tmp_path / "real.json").stat().st_mode) == 0o640
    assert exported.read_chrome(tmp_path / "real.json")


def test_a_new_file_obeys_the_umask(run, tmp_path):
    done = lextrace(run, "-o", tmp_path / "out.json", preexec_fn=lambda: os.umask(0o027))
    assert done.returncode == 0
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == 0o640


def test_a_pipe_by_name(run, tmp_path):
    """Process substitution and named pipes are written in place."""
    os.mkfifo(tmp_path / "pipe.json")
    with subprocess.Popen(["cat", tmp_path / "pipe.json"], stdout=subprocess.PIPE) as reader:
        exported.export(run, tmp_path / "pipe.json", "-q")
        text = reader.stdout.read()
    assert exported.strict_json(text)["traceEvents"]
    assert stat.S_ISFIFO((tmp_path / "pipe.json").stat().st_mode)


# ---- Memory ----

def peak(*words):
    """Peak KiB that the export had in memory, the mapped trace included."""
    process = subprocess.Popen([tools.lextrace_binary(), "export", *map(str, words), "-q"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


@pytest.mark.parametrize("to", exported.FORMATS)
def test_memory_does_not_grow_with_events(tmp_path, to):
    """Ten times the events take no more memory, but for the trace's own pages, which are mapped."""
    sizes = []
    for number, repeats in enumerate((10_000, 100_000)):
        made = mktrace.Process(str(tmp_path / str(number)), PID)
        functions = [made.lexgion("f%d" % i, "app.py", i) for i in range(10)]
        stream = made.stream(0)
        stream.begin_thread(0, PID, "MainThread", made.start)
        for i in range(repeats):
            stream.event(made.start + 200 * i, mktrace.FUNCTION_BEGIN, functions[i % 10])
            stream.event(made.start + 200 * i + 100, mktrace.FUNCTION_END, functions[i % 10])
        made.end()
        sizes.append(made.bytes // 1024)
    grown = [peak(tmp_path / str(number), "-o", tmp_path / ("out%d" % number), "--to", to) for number in range(2)]
    assert grown[1] - grown[0] < sizes[1] - sizes[0] + 400
