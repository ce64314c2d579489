"""The recording behind the package: where it is written, when it begins and ends, and what becomes of it in children.

One program has one run folder, PREFIX-HEX-app.lextrace, in which each of its processes has a folder; what a process recorded
becomes a .pfw file when it ends. Processes that ended without a word (os._exit, a signal) leave their folder: the process that
made the run writes their files when it ends itself; if that did not come to it either, `lextrace export` does.
"""
from __future__ import annotations

import atexit
import contextlib
import os
import re
import sys
from _thread import RLock

import lextrace
from lextrace import _core

from . import _settings

_RUN, _PREFIX = "LEXTRACE_DFTRACER_RUN", "LEXTRACE_DFTRACER_PREFIX"  # what a program that is started from this one goes on with
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID")


class Recording:
    """A recording that this package began; in a forked child a copy of its own."""

    def __init__(self, prefix: str, run: str, explicit: bool, creator: bool, rank):
        self.prefix = prefix
        self.run = run
        self.explicit = explicit
        self.creator = creator
        self.rank = rank
        self.forked = False
        self.folder = ""
        self.again = 0  # recordings of this process before it that had the same run folder
        self.text = _settings.explicitly_off("DFTRACER_TRACE_COMPRESSION")
        self.dialect = _settings.dialect()
        self.metric = _settings.metric()
        self.outside: dict[str, str | None] = {}

    def write(self, folder: str, suffix: str) -> None:
        """Makes the .pfw of a process folder; where that fails, the folder stays."""
        out = f"{self.prefix}-{self.number(folder)}-{suffix}.pfw" + ("" if self.text else ".gz")
        try:
            _core.write_pfw(folder, out, text=self.text, dialect=self.dialect, metric=self.metric, remove=not _keep())
        except OSError as error:
            if os.path.isdir(folder):
                _settings.say(error.strerror or str(error))  # a whole line, with both places
            else:
                _settings.say(f"the trace is lost: its folder was removed: {folder}")
            return
        if _settings.get("DFTRACER_LOG_LEVEL").upper() in ("INFO", "DEBUG"):
            _settings.say(f"the trace is {out}")

    def number(self, folder: str) -> str:
        """The 16 digits of a file's name: those of the run for who made it, of the process folder for the others."""
        if self.creator and folder == self.folder:
            return self.run.rpartition("-app.lextrace")[0][-16:]
        name = os.path.join(os.path.basename(self.run), os.path.basename(folder))
        if self.again and folder == self.folder:  # a process folder's name is free again once its file was written
            name += f"#{self.again}"
        return f"{fnv1a(name.encode('utf-8', 'surrogateescape')):016x}"

    def write_left(self) -> None:
        """The files of children that ended without writing theirs."""
        host = re.sub("[\x00-\x20/]", "_", os.uname().nodename)[:64] + "-"
        try:
            names = [name for name in os.listdir(self.run) if name.startswith(host)]
        except OSError:
            return  # all have written theirs
        for name in names:
            folder = os.path.join(self.run, name)
            pid = name[len(host):].partition("-")[0]
            if not pid.isdigit() or int(pid) == os.getpid() or _lives(int(pid)) or not os.path.isdir(folder):
                continue
            if not self.interrupted(folder):
                self.write(folder, "fork")

    def interrupted(self, folder: str) -> bool:
        """Clears up after a process that was killed while it wrote its file; whether that had been written."""
        where = os.path.dirname(self.prefix)
        try:
            there = os.listdir(where)
        except OSError:
            return False
        names = [name for name in there if name.startswith(f"{os.path.basename(self.prefix)}-{self.number(folder)}-")]
        whole = [name for name in names if name.endswith((".pfw", ".pfw.gz"))]
        for name in names:
            if name.endswith(".part"):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(where, name))
        if whole and not _keep():
            import shutil  # rarely

            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # other processes have folders in it
                os.rmdir(self.run)
        return bool(whole)


_lock = RLock()
_recording: Recording | None = None
_begun = False  # in this process: the environment starts no second recording
_hooked = False
_joined = 0  # recordings of this process in a run folder that another one made


def fnv1a(data: bytes) -> int:
    """64-bit FNV-1a, the hash of DFTracer's names and entities."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def _keep() -> bool:
    return os.environ.get("LEXTRACE_KEEP", "0") not in ("", "0")


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


# ---- Beginning ----

def enabled() -> bool:
    """Whether the environment asks for a recording: what dftracer.python goes by."""
    return _settings.switch("DFTRACER_ENABLE") is True


def initialize(log_file=None, process_id=None) -> None:
    """Begins a recording, or joins the one of `lextrace run` or lextrace.start(); one that was begun here goes on as it is.

    Nothing is raised: where the folder cannot be made, a line on stderr says so.
    """
    with _lock:
        _begin(None if log_file is None or log_file == "" else _path(log_file), _rank(process_id), explicit=True)


def begin_by_environment() -> None:
    """Begins what the environment asks for, unless something was begun in this process before."""
    with _lock:
        if not _begun and (enabled() or _RUN in os.environ) and not _settings.explicitly_off("DFTRACER_ENABLE"):
            _begin(None, _rank(None), explicit=False)


def _begin(prefix: str | None, rank, explicit: bool) -> None:
    global _recording, _begun, _joined
    if _recording is not None and _core.folder() == _recording.run:
        _rename(_recording, prefix, explicit)
        return
    _begun = True
    _settings.renew()
    if _core.active():
        _tell_rank(rank)
        return
    inherited, run = os.environ.get(_PREFIX), os.environ.get(_RUN)
    goes_on = bool(inherited and run) and prefix in (None, inherited)
    if goes_on:
        prefix = inherited
    elif prefix is None:
        prefix = _path(_settings.get("DFTRACER_LOG_FILE") or "trace")
    if not goes_on:
        run = f"{prefix}-{os.urandom(8).hex()}-app.lextrace"
    recording = Recording(prefix, run, explicit, not goes_on, rank)
    quiet = bool(_settings.switch("DFTRACER_DISABLE_IO")) and "PINSIGHT_TRACE_IO" not in os.environ
    if quiet:
        os.environ["PINSIGHT_TRACE_IO"] = "OFF"
    try:
        os.makedirs(os.path.dirname(run), exist_ok=True)
        _core.start(
            annotations=True,
            run=os.fsencode(run),
            program=os.fsencode(lextrace._program()),
            executable=os.fsencode(sys.executable or ""),
            python=sys.version.split()[0].encode(),
            argv=b"\0".join(os.fsencode(word) for word in sys.argv),
        )
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        _settings.say(f"cannot write a trace: {prefix}: {reason}; nothing is recorded, name another log_file", once=True)
        return
    finally:
        if quiet:
            del os.environ["PINSIGHT_TRACE_IO"]
    recording.folder = _core.process_folder()
    recording.again = _joined
    _joined += goes_on
    _recording = recording
    _set_outside(recording)
    _hook()
    _tell_rank(rank)


def _rename(recording: Recording, prefix: str | None, explicit: bool) -> None:
    """An explicit initialize_log names the files of a recording that the environment began; any further one changes nothing."""
    if not explicit or recording.explicit:
        return
    recording.explicit = True
    if prefix is None or prefix == recording.prefix:
        return
    try:
        os.makedirs(os.path.dirname(prefix), exist_ok=True)
    except OSError as error:
        _settings.say(f"cannot write a trace: {prefix}: {error.strerror}; it stays at {recording.prefix}")
        return
    recording.prefix = prefix
    os.environ[_PREFIX] = prefix


def _path(log_file) -> str:
    """The absolute prefix that a log file's name stands for."""
    try:
        path = os.fsdecode(log_file)
    except TypeError:
        path = str(log_file)
    path = re.sub(r"\.pfw(\.gz)?$", "", path.replace("\0", ""))
    with contextlib.suppress(OSError):  # the current folder is gone
        return os.path.join(os.path.abspath(path), "trace") if path.endswith("/") else os.path.abspath(path)
    return path


def _rank(process_id):
    """The rank that was given, else the launcher's, else None."""
    if process_id is not None and process_id != -1:
        return process_id if isinstance(process_id, (int, str)) else getattr(process_id, "value", process_id)
    for name in _RANKS:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return None


def _tell_rank(rank) -> None:
    if rank is not None:
        _core.metadata("rank", rank)


def _set_outside(recording: Recording) -> None:
    for name, value in ((_RUN, recording.run), (_PREFIX, recording.prefix)):
        recording.outside[name] = os.environ.get(name)
        os.environ[name] = value


# ---- Ending ----

def finalize() -> None:
    """Ends the recording that this package began and writes its file. Nothing happens where there is none."""
    global _recording
    with _lock:
        recording, _recording = _recording, None
        if recording is None:
            return
        for name, value in recording.outside.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if _core.folder() == recording.run:
            if recording.forked:
                recording.folder = _core.process_folder()
                if recording.folder:
                    _tell_rank(recording.rank)
            _core.stop()
            if (lost := _core.lost()) and os.path.isdir(recording.folder):
                _settings.say(f"the trace {recording.prefix} has lost {lost}")
        if recording.folder:
            recording.write(recording.folder, "fork" if recording.forked else "app")
        if recording.creator:
            recording.write_left()


def _hook() -> None:
    """Follows the process into its forks and to its end."""
    global _hooked
    if not _hooked:
        _hooked = True
        os.register_at_fork(after_in_child=_after_fork)
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        _end_with_multiprocessing()


def _after_fork() -> None:
    global _lock
    _lock = RLock()
    recording = _recording
    if recording is None:
        return
    _core.after_fork_child()
    recording.forked, recording.creator, recording.folder = True, False, ""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:  # its children start with finalizers of their own, and end by os._exit after those
        util.register_after_fork(recording, _end_with_multiprocessing)


def _end_with_multiprocessing(_recording=None) -> None:
    sys.modules["multiprocessing.util"].Finalize(None, finalize, exitpriority=-1000)


atexit.register(finalize)  # at import: what the program registers later still runs while this records
if (enabled() or _RUN in os.environ) and not _settings.explicitly_off("DFTRACER_ENABLE"):
    _core.when_recording(begin_by_environment)
