"""DFTracer's core by its released names."""
from __future__ import annotations

import inspect
import logging
import sys
from typing import Any, ParamSpec, Protocol, TypeVar

from .. import _settings
from .._annotate import dft_fn
from .._tags import EntityRelation, EntityRole, EntityStore, TagDType, TagType, TagValue
from .._tracer import dftracer
from .env import DFTRACER_ENABLE, DFTRACER_INIT_PRELOAD, DFTRACER_LOG_LEVEL

__all__ = [
    "DFTRACER_ENABLE", "DFTRACER_INIT_PRELOAD", "DFTRACER_LOG_LEVEL", "EntityID", "EntityRelation", "EntityRole", "EntityStore",
    "NoOpProfiler", "P", "ProfilerProtocol", "R", "T", "TagDType", "TagType", "TagValue", "TagValueTuple", "capture_signal",
    "dft_fn", "dftracer", "get_default_args", "get_time_scale", "profiler", "setup_logger",
]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
TagValueTuple = tuple[int, int | float | str]
EntityID = int


class ProfilerProtocol(Protocol):
    """What a native module has; dftracer.dftracer is one."""

    def initialize(self, log_file=None, data_dirs=None, process_id=-1) -> None: ...
    def get_time(self) -> int: ...
    def get_config(self, key: str) -> str: ...
    def enter_event(self) -> None: ...
    def exit_event(self) -> None: ...
    def log_event(self, name, cat, start_time, duration, int_args=None, string_args=None, float_args=None, relations=None) -> None: ...
    def log_metadata_event(self, key: str, value: str) -> None: ...
    def declare_entity(self, type: str, key: str, store: Any, uri: str) -> int: ...
    def declare_entity_type(self, type: str, role: Any, description: str) -> None: ...
    def relate_entities(self, relation: Any, subject: int, object: int) -> None: ...
    def set_app_metadata_int(self, key: str, value: int) -> None: ...
    def set_app_metadata_string(self, key: str, value: str) -> None: ...
    def mark_used(self, name: str) -> None: ...
    def finalize(self) -> None: ...


class NoOpProfiler:
    """A native module that does nothing."""

    def get_time(self) -> int:
        return 0

    def get_config(self, key: str) -> str:
        return ""

    def declare_entity(self, type: str, key: str, store: Any, uri: str) -> int:
        return 0

    def _nothing(self, *args, **keywords) -> None:
        pass

    initialize = enter_event = exit_event = log_event = log_metadata_event = finalize = _nothing
    declare_entity_type = relate_entities = set_app_metadata_int = set_app_metadata_string = mark_used = _nothing


profiler: ProfilerProtocol = NoOpProfiler()


def get_time_scale() -> float:
    """Units of the time metric in a second."""
    return 1_000_000_000 / _settings.UNITS[_settings.metric()]


def setup_logger(name: str, log_file: str, formatter: str, level: int = logging.INFO) -> logging.Logger:
    """A logger of that name and level that writes to the file."""
    logger = logging.getLogger(name)
    handler = logging.FileHandler(log_file)
    handler.setFormatter(logging.Formatter(formatter))
    logger.addHandler(handler)
    logger.setLevel(level)
    return logger


def capture_signal(signal_number: int, frame: Any) -> None:
    """A signal handler that ends the recording, then the program. It is not installed: the trace is complete without it."""
    dftracer.get_instance().finalize()
    sys.exit(signal_number)


def get_default_args(func) -> dict[str, Any]:
    """The parameters that have a default, with it."""
    parameters = inspect.signature(func).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not parameter.empty}
