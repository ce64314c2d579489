"""Spans from what torch.profiler measured."""
from __future__ import annotations

from ..._tracer import dftracer, log_span
from ..common import get_time_scale

__all__ = ["trace_handler"]

_ARGUMENTS = (  # of the span, of torch's event, as
    ("device", "device_type", int),
    ("cpu_memory", "cpu_memory_usage", int),
    ("is_remote", "is_remote", int),
    ("device_memory_usage", "device_memory_usage", int),
    ("total_cpu_percent", "total_cpu_percent", float),
    ("total_device_percent", "total_device_percent", float),
)


def trace_handler(profiler_result) -> None:
    """A span of category PP for each event. torch counts from the begin of its own trace, in microseconds."""
    tracer = dftracer.get_instance()
    tracer.mark_used("torch_profiler")
    scale = get_time_scale()
    start = _trace_start(profiler_result, scale)
    if start is None:
        start = tracer.start_time
    for event in profiler_result.events():
        arguments = {"input_size": _input_size(event)}
        for name, attribute, kind in _ARGUMENTS:
            value = getattr(event, attribute, None)
            if value is not None:
                try:
                    arguments[name] = kind(value)
                except (TypeError, ValueError):
                    arguments[name] = getattr(value, "value", str(value))
        begin = start + event.time_range.start * scale / 1e6
        log_span("PP", str(event.key), begin, event.time_range.elapsed_us() * scale / 1e6, arguments)


def _input_size(event) -> int:
    return sum(len(shape) if hasattr(shape, "__len__") else int(shape) for shape in getattr(event, "input_shapes", None) or ())


def _trace_start(profiler_result, scale: float) -> float | None:
    """When torch's trace began, in units of the time metric; None where torch does not say."""
    results = getattr(getattr(profiler_result, "profiler", None), "kineto_results", None)
    for name, units in (("trace_start_ns", 1e9), ("trace_start_us", 1e6)):
        read = getattr(results, name, None)
        if read is not None:
            return read() * scale / units
    return None
