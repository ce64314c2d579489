"""Spans for the operations of a model that torch.compile compiles. torch is imported when it is first needed."""
from __future__ import annotations

import importlib.util
import sys
from typing import Any

from .. import _session
from .._tracer import log_span
from .ai_common import DFTracerAI

CAT_DYNAMO = "dynamo"
try:
    TORCH_AVAILABLE = importlib.util.find_spec("torch") is not None
except ValueError:  # a stand-in that was put into sys.modules
    TORCH_AVAILABLE = "torch" in sys.modules

__all__ = ["Dynamo", "create_backend", "dynamo"]


def _torch():
    if not TORCH_AVAILABLE:
        raise RuntimeError("dftracer.python.dynamo needs PyTorch: pip install torch")
    import torch

    return torch


def _aot():
    """aot_autograd and make_boxed_func."""
    try:
        from functorch.compile import make_boxed_func
        from torch._dynamo.backends.common import aot_autograd
    except ImportError:
        raise RuntimeError("this PyTorch has no AOT autograd; autograd=False does without") from None
    return aot_autograd, make_boxed_func


def create_detailed_op_name(node: Any, gm: Any) -> str:
    """The name of a node's span: what it calls, with the module's class."""
    flat = str(node.target).replace(".", "_")
    if node.op == "call_module":
        return f"{node.target}.{type(gm.get_submodule(node.target)).__name__}_{flat}"
    if node.op == "call_function":
        return f"function.{getattr(node.target, '__name__', node.target)}"
    return f"method.{flat}" if node.op == "call_method" else f"{node.op}.{flat}"


class Dynamo(DFTracerAI):
    """An object of category dynamo, whose compile() gives each operation of a model a span."""

    def __init__(self, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        super().__init__(cat=CAT_DYNAMO, name=name, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size,
                         enable=enable)
        self.call_stack: list[tuple[int, bool]] = []

    def reset(self) -> None:
        super().reset()
        self.call_stack.clear()

    def _begin_operation(self) -> None:
        self.call_stack.append((self.get_time(), _torch().is_grad_enabled()))

    def _end_operation(self, name: str) -> None:
        if self.call_stack:
            begin, grad = self.call_stack.pop()
            log_span(self.cat, name, begin, self.get_time() - begin, {**self.profiler._arguments, "grad_enabled": int(grad)})

    def add_enhanced_timing_to_graph(self, gm: Any) -> Any:
        """The graph, with a call before and one after each of its operations."""
        graph = gm.graph
        for node in [node for node in graph.nodes if node.op in ("call_module", "call_function", "call_method")]:
            with graph.inserting_before(node):
                graph.call_function(self._begin_operation)
            with graph.inserting_after(node):
                graph.call_function(self._end_operation, args=(create_detailed_op_name(node, gm),))
        gm.recompile()
        return gm

    def _backend(self, autograd: bool):
        if not autograd:
            return lambda gm, _inputs, **_more: self.add_enhanced_timing_to_graph(gm).forward
        aot_autograd, make_boxed_func = _aot()
        return aot_autograd(
            fw_compiler=lambda gm, _inputs, **_more: make_boxed_func(self.add_enhanced_timing_to_graph(gm).forward))

    def compile(self, f_py=None, autograd: bool = True):
        """Compiles a module or function with torch.compile; decorates, with and without parentheses."""
        torch = _torch()
        if f_py is None:
            return lambda function: self.compile(function, autograd)
        if not (_session.enabled() and self.profiler._enable):
            return f_py
        return torch.compile(f_py, backend=self._backend(autograd))

    def count_parameters(self, module: Any) -> int | None:
        """How many numbers the module learns; None of what is no module."""
        return int(sum(each.numel() for each in module.parameters())) if hasattr(module, "parameters") else None


dynamo = Dynamo()


def create_backend(name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True, autograd=True):
    """A backend for torch.compile(model, backend=...) that gives each operation a span."""
    _torch()
    return Dynamo(name, epoch, step, image_idx, image_size, enable)._backend(autograd)
