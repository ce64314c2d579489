"""Annotations: what a program says about itself. All work is in `_core`."""
from __future__ import annotations

import functools
import inspect

from . import _core


def fn(function=None, *, cat: str = "fn", comp: str = "", name: str | None = None, args=()):
    """Mark a function as a region of its own, ``cat/name``; the name is its qualified name unless it is given.

    Works on functions, methods, class and static methods, properties, classes (their own ``__init__`` or ``__new__``), generators,
    coroutines and async generators: the region is the whole run, and shows when it ran and when it waited. Usable with
    and without parentheses. The function keeps its name, signature, documentation and kind.

    cat: the category, under which viewers and configurations group it. comp: what it does, one of io, mem, cpu, comm;
    another word is recorded as it is. args: names of parameters whose values are recorded at each call, or True for all.
    Raises TypeError for what cannot be called.

    >>> @lextrace.fn(cat="IO", comp="io", args=["path"])
    ... def load(path):
    ...     return open(path).read()
    """
    if isinstance(function, str):
        raise TypeError(f'the category has a name: @lextrace.fn(cat="{function}")')
    if function is None:
        return functools.partial(fn, cat=cat, comp=comp, name=name, args=args)
    named = function
    for inner in ("__func__", "fget", "func"):  # of class and static methods, properties, cached properties
        named = getattr(named, inner, None) or named
    if args is True:
        args = _parameters(named)
    name = name or getattr(named, "__qualname__", None) or type(function).__qualname__
    return _core.decorate(function, cat, name, comp, tuple(args))


def _parameters(function) -> list[str]:
    try:
        return [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
    except (TypeError, ValueError):  # it tells none
        return []


def event(name: str, *, cat: str = "event", **args) -> None:
    """A moment of the program, with arguments. Raises nothing for their values.

    >>> lextrace.event("checkpoint written", epoch=3)
    """
    _core.point(cat, name, args or None)


def counter(name: str, value: float, *, cat: str = "counter") -> None:
    """What a quantity is from now on; viewers draw it as a line. Raises TypeError where the value is no number.

    >>> lextrace.counter("queue length", 17)
    """
    _core.counter(cat, name, value)


def step(iterable, *, name: str = "step", cat: str = "loop"):
    """The items of an iterable, for a ``for`` loop: a region ``cat/name`` for each turn of the body, one named
    ``name.fetch`` for the time it took to get its item; both have the turn's number, from 1, as the argument ``name``.

    >>> for batch in lextrace.step(batches):
    ...     train(batch)
    """
    return _core.steps(iterable, cat, f"{name}.fetch", name, name)


def epoch(iterable, *, name: str = "epoch", cat: str = "loop"):
    """:func:`step` for the outer loop.

    >>> for number in lextrace.epoch(range(2)):
    ...     train(number)
    """
    return step(iterable, name=name, cat=cat)
