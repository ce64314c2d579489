"""What the environment and the file of DFTRACER_CONFIGURATION say. A variable wins over the file, the file over the default."""
from __future__ import annotations

import os
import sys

ON = ("1", "true", "on", "yes")
OFF = ("0", "false", "off", "no")
UNITS = {"NS": 1, "US": 1_000, "MS": 1_000_000, "SEC": 1_000_000_000}  # nanoseconds

# Variable, its place in the file, its default.
_TABLE = [
    ("DFTRACER_ENABLE", "enable", ""),
    ("DFTRACER_INIT", "tracer.init", "FUNCTION"),
    ("DFTRACER_LOG_FILE", "tracer.log_file", "trace"),
    ("DFTRACER_DATA_DIR", "tracer.data_dirs", "all"),
    ("DFTRACER_LOG_LEVEL", "tracer.log_level", "ERROR"),
    ("DFTRACER_TIME_METRIC", "tracer.time_metric", "US"),
    ("DFTRACER_TRACE_COMPRESSION", "tracer.compression", "1"),
    ("DFTRACER_TRACE_DIALECT", "tracer.dialect", "2"),
    ("DFTRACER_LIBUV_THREADS", "tracer.libuv_threads", "1"),
    ("DFTRACER_GOTCHA_PRIORITY", "gotcha.priority", "1"),
    ("DFTRACER_INC_METADATA", "features.metadata", "1"),
    ("DFTRACER_SET_CORE_AFFINITY", "features.core_affinity", "0"),
    ("DFTRACER_TRACE_INTERVAL_MS", "features.interval", "1000"),
    ("DFTRACER_DISABLE_IO", "features.io.enable", "0"),
    ("DFTRACER_DISABLE_POSIX", "features.io.posix", "0"),
    ("DFTRACER_DISABLE_STDIO", "features.io.stdio", "0"),
    ("DFTRACER_DISABLE_TIDS", "features.tid", "1"),
    ("DFTRACER_ENABLE_AGGREGATION", "features.aggregation.enable", "0"),
    ("DFTRACER_AGGREGATION_TYPE", "features.aggregation.type", "FULL"),
    ("DFTRACER_AGGREGATION_FILE", "features.aggregation.file", ""),
    ("DFTRACER_ENABLE_PAPI_TRACING", "features.papi.enable", "0"),
    ("DFTRACER_PAPI_EVENTS", "features.papi.events", ""),
    ("DFTRACER_PAPI_MULTIPLEX", "features.papi.multiplex", "0"),
    ("DFTRACER_PAPI_SAMPLE_INTERVAL_MS", "features.papi.sample_interval_ms", "0"),
    ("DFTRACER_DISABLE_VARIORUM_POWER", "features.variorum.enable", "0"),
    ("DFTRACER_BIND_SIGNALS", "internal.bind_signals", "0"),
    ("DFTRACER_ERROR", "internal.throw_error", "0"),
    ("DFTRACER_WRITE_BUFFER_SIZE", "internal.write_buffer_size", "16777216"),
]
_PLACES = {variable: (place, default) for variable, place, default in _TABLE}
_TURNED = {"features.io.enable", "features.io.posix", "features.io.stdio", "features.variorum.enable"}  # DISABLE_ in the environment

_file: tuple[str | None, dict[str, str]] = (None, {})
_said: set[str] = set()


def say(text: str, once: bool = False) -> None:
    """A line on stderr for the user; `once`: the same line no second time."""
    if once and text in _said:
        return
    _said.add(text)
    try:
        sys.stderr.write(f"lextrace: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # nobody listens


def get(variable: str) -> str:
    """The value in force of a variable of the table, as text; of another one what the environment has, else ""."""
    found = os.environ.get(variable)
    place, default = _PLACES.get(variable, ("", ""))
    if found is not None:
        return found
    return _from_file().get(place, default) if place else default


def switch(variable: str) -> bool | None:
    """On, off, or None: neither is said."""
    value = get(variable).strip().lower()
    return True if value in ON else False if value in OFF else None


def explicitly_off(variable: str) -> bool:
    return switch(variable) is False


def renew() -> None:
    """Reads what is asked for often; at import, and when a recording begins."""
    global arguments, unit
    arguments = not explicitly_off("DFTRACER_INC_METADATA")
    unit = UNITS[metric()]


def metric() -> str:
    name = get("DFTRACER_TIME_METRIC").strip().upper()
    if name not in UNITS:
        say(f"DFTRACER_TIME_METRIC: no such unit: {name!r}; one of {', '.join(UNITS)}, US is used", once=True)
        return "US"
    return name


def dialect() -> int:
    name = get("DFTRACER_TRACE_DIALECT").strip()
    if name not in ("1", "2"):
        say(f"DFTRACER_TRACE_DIALECT: no such dialect: {name!r}; 1 or 2, 2 is used", once=True)
        return 2
    return int(name)


# ---- The file ----

def _from_file() -> dict[str, str]:
    global _file
    path = os.environ.get("DFTRACER_CONFIGURATION") or None
    if path != _file[0]:
        _file = (path, _read(path) if path else {})
    return _file[1]


def _read(path: str) -> dict[str, str]:
    try:
        import yaml
    except ImportError:
        say(f"the file of DFTRACER_CONFIGURATION needs PyYAML: {path}; pip install pyyaml")
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            tree = yaml.safe_load(file)
    except OSError as error:
        say(f"cannot read the file of DFTRACER_CONFIGURATION: {path}: {error.strerror}")
        return {}
    except (yaml.YAMLError, ValueError) as error:
        say(f"the file of DFTRACER_CONFIGURATION is no YAML: {path}: {' '.join(str(error).split())}")
        return {}
    values: dict[str, str] = {}
    _flatten(tree, "", values)
    return values


def _flatten(tree, place: str, values: dict[str, str]) -> None:
    if isinstance(tree, dict):
        for key, branch in tree.items():
            name = "tracer" if not place and key == "profiler" else str(key)  # both are written
            _flatten(branch, f"{place}.{name}" if place else name, values)
    elif place and tree is not None:
        values[place] = _text(tree, place in _TURNED)


def _text(value, turned: bool) -> str:
    if isinstance(value, list):
        return ":".join(map(str, value))
    text = str(value)
    if turned and text.lower() in ON + OFF:
        return "0" if text.lower() in ON else "1"
    return "1" if value is True else "0" if value is False else text


arguments: bool  # whether spans have any
unit: int        # nanoseconds of one unit of the time metric
renew()
