"""For torch.profiler: profile(on_trace_ready=trace_handler)."""
from .profiler import trace_handler

__all__ = ["trace_handler"]
