from ...torch.profiler import trace_handler

__all__ = ["trace_handler"]
