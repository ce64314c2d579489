"""lextrace: what a Python program does and when.

Most programs need nothing from here: ``lextrace run app.py`` traces them as they are. This module starts and stops
recording from inside a program and names stretches of it::

    import lextrace

    with lextrace.session("my-run"):
        with lextrace.region("IO", "read_loop"):
            read()
"""
from __future__ import annotations

import os
import sys

try:
    from . import _core
    from ._core import active, folder, region, reload, stop, update
except ImportError as _error:  # pragma: no cover - depends on the interpreter
    raise ImportError(
        f"lextrace has no extension for Python {sys.version_info[0]}.{sys.version_info[1]} here: "
        f"{sys.executable} -m pip install lextrace",
        name="lextrace._core",
    ) from _error

from ._decorate import counter, epoch, event, fn, step

__version__ = _core.version
__all__ = ["active", "counter", "epoch", "event", "fn", "folder", "knob", "mode", "region", "reload", "session", "start", "step",
           "stop", "update"]

_registered = False


def start(run: str | os.PathLike[str] | None = None, *, config: str | os.PathLike[str] | None = None,
          c_calls: bool = False, follow: bool = True) -> str:
    """Start recording every Python function of this process, from here on, in all threads.

    run: the run folder; made if it is missing, and added to if it is there. Default: the folder of ``lextrace run``
    if the program runs under it, else ``lextrace-PROGRAM-N`` in the current folder with the next free N.
    config: a configuration file, which says what is recorded. Default: the one that PINSIGHT_TRACE_CONFIG_FILE names, else
    ``pinsight_trace_config.txt`` in the current folder, else none: every Python function.
    c_calls: also record calls of C functions, where the configuration does not say otherwise. follow: forked children
    record, too.

    Returns the run folder's absolute path. Under ``lextrace run``, which records already, that is its folder, and
    nothing else changes. Raises RuntimeError when a recording of the program's own is under way, OSError when the
    folder cannot be made or written.

    >>> path = lextrace.start()
    >>> lextrace.stop()
    """
    global _registered
    if active():
        if folder() == os.environ.get("LEXTRACE_DIR"):
            return folder()
        raise RuntimeError("lextrace is recording already")
    program = _program()
    if run is None:
        run = os.environ.get("LEXTRACE_DIR") or _new_folder(program)
    path = os.path.abspath(os.fspath(run))
    if not _registered:
        _registered = True
        os.register_at_fork(after_in_child=_core.after_fork_child)
    _core.start(
        run=os.fsencode(path),
        program=os.fsencode(program),
        executable=os.fsencode(sys.executable or ""),
        python=sys.version.split()[0].encode(),
        argv=b"\0".join(os.fsencode(word) for word in sys.argv),
        c_calls=c_calls,
        follow=follow,
        config=None if config is None else os.fsencode(os.path.abspath(os.fspath(config))),
    )
    return path


class session:
    """Record while a ``with`` block runs; parameters as for :func:`start`.

    >>> with lextrace.session() as path:
    ...     work()
    """

    def __init__(self, run=None, *, config=None, c_calls: bool = False, follow: bool = True):
        self._settings = {"run": run, "config": config, "c_calls": c_calls, "follow": follow}
        self._leave = None

    def __enter__(self) -> str:
        self._leave = None if active() else _core.leave  # what records already goes on afterwards
        return start(**self._settings)

    def __exit__(self, *exception) -> None:
        if self._leave:
            self._leave()


def mode(domain: str | None = None, mode: str | None = None) -> dict[str, str] | str:
    """The mode of each domain, or set some: OFF, STANDBY, MONITORING or TRACING.

    ``mode()`` gives all modes by domain, ``mode("Python")`` that of one. ``mode("Python", "STANDBY")`` sets one,
    ``mode("STANDBY")`` all, ``mode("Python=STANDBY, User=OFF")`` several; they take effect at once, in all threads, and all
    modes are returned. Raises ValueError for an unknown name, RuntimeError when a domain cannot be turned on again.

    >>> lextrace.mode("Python", "STANDBY")["Python"]
    'STANDBY'
    """
    for text in (domain, mode):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"the name of a domain or mode is a str, not {type(text).__name__}")
    modes = _core.modes("")
    if domain is None:
        return modes
    if mode is not None:
        return _core.modes(f"{domain}={mode}")
    for name in modes:
        if name.lower() == domain.lower():
            return modes[name]
    return _core.modes(domain)


def knob(name: str, default: int | float | str | None = None) -> int | float | str | None:
    """A value from the section ``[Knob]`` of the configuration: an int, a float or a str, as it is written there.

    default: what is returned where the configuration has no such knob. The value is read anew at each call, so that a
    reload changes it. Raises nothing.

    >>> lextrace.knob("batch_size", 64)
    64
    """
    found = _core.knob(name)
    return default if found is None else found[0]


def _program() -> str:
    name = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"
    return name[:-3] if name.endswith(".py") else name


def _new_folder(program: str) -> str:
    for number in range(1, 1_000_000):
        path = os.path.abspath(f"lextrace-{program}-{number}")
        try:
            os.mkdir(path)
            return path
        except FileExistsError:
            continue
    raise FileExistsError(f"no free name lextrace-{program}-N in {os.getcwd()}")


def load_ipython_extension(ipython) -> None:
    """``%load_ext lextrace`` makes the magic ``%%lextrace`` known."""
    from ._magic import register

    register(ipython)
