"""The annotations by the names of DFTracer's guide::

    from dftracer.logger import dftracer_fn, DFTracer

    @dftracer_fn(cat="IO", comp="io")
    def read(path): ...

    tracer = DFTracer.initialize_log(log_file="traces/app", data_dir="/data", process_id=rank)
    with tracer.get_time("IO", "read_loop"):
        ...
    DFTracer.finalize_log()

Without initialize_log, DFTRACER_ENABLE=1 and DFTRACER_LOG_FILE start the recording at the first annotated call. The names of
DFTracer 1.0's dftracer.logger are here, too.
"""
from __future__ import annotations

from lextrace import _core

from . import _session, _settings
from ._annotate import comp_of, dft_fn
from ._tags import text
from ._tracer import dftracer

dftracer_fn = dft_fn
DFTRACER_ENABLE = _session.enabled()

__all__ = ["DFTRACER_ENABLE", "DFTracer", "dft_fn", "dftracer", "dftracer_fn"]


class DFTracer(dftracer):
    """The tracer: begins and ends a recording, and adds regions and arguments to it."""

    @staticmethod
    def initialize_log(log_file=None, data_dir=None, process_id=None, *, logfile=None) -> DFTracer:
        """Begins a recording, unless DFTRACER_ENABLE is off; returns the tracer.

        log_file: prefix of the trace's files, PREFIX-<16 hex>-app.pfw.gz. data_dir: the folder whose files are watched.
        process_id: the MPI rank; else the launcher's variables tell it. None stands for what the environment says.
        A recording that is under way goes on, one of `lextrace run` included. Raises nothing where no file can be made: a line
        on stderr says so.
        """
        instance = DFTracer.get_instance()
        if not _settings.explicitly_off("DFTRACER_ENABLE"):
            _session.initialize(log_file if log_file is not None else logfile, process_id)
            instance.start_time = instance.get_time()
        return instance

    @staticmethod
    def finalize_log() -> None:
        """Ends the recording and writes its file. Nothing happens where none was begun."""
        _session.finalize()

    def get_time(self, cat=None, name=None, *, comp=""):
        """A context manager for a region of that category and name; without them the time since the epoch, in the unit of
        DFTRACER_TIME_METRIC."""
        if cat is None:
            return _core.now_ns() // _settings.unit
        if type(cat) is str is type(name) and not comp:
            return _core.region(cat, name)
        return _core.region(text(cat), None if name is None else text(name), comp_of(comp))

    def update(self, key=None, value=None, *, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        """An argument, ``update("comp", "io")``, or those given by keyword, of the innermost span open in this thread."""
        arguments: dict = {}
        dft_fn._keep(arguments, epoch, step, image_idx, image_size, args)
        if key is not None:
            arguments[text(key)] = value
        for name, content in arguments.items():
            if _settings.arguments or name == "comp":
                _core.update(name, content)
        return self
