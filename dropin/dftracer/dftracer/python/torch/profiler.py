from .common import trace_handler

__all__ = ["trace_handler"]
