"""The decorator `lextrace.fn`."""
from __future__ import annotations

import functools
import inspect

from ._core import region


def fn(function=None, *, category: str = "fn", name: str | None = None):
    """Mark a function as a region of its own, ``category/name``; the name is its qualified name unless it is given.

    Works on functions, methods, generators, coroutines and async generators: the region lasts until they end. Usable
    with and without parentheses. The function keeps its name, signature and kind.

    >>> @lextrace.fn(category="IO")
    ... def load(path):
    ...     return open(path).read()
    """
    if function is None:
        return functools.partial(fn, category=category, name=name)
    place = region(category, name or getattr(function, "__qualname__", type(function).__qualname__))

    if inspect.isasyncgenfunction(function):

        async def wrapper(*args, **keywords):
            with region_of(place):
                generator = function(*args, **keywords)
                try:
                    sent = None
                    while True:
                        try:
                            value = await generator.asend(sent)
                        except StopAsyncIteration:
                            return
                        try:
                            sent = yield value
                        except GeneratorExit:
                            raise
                        except BaseException as error:
                            value = await generator.athrow(error)
                            sent = yield value
                finally:
                    await generator.aclose()

    elif inspect.iscoroutinefunction(function):

        async def wrapper(*args, **keywords):
            with region_of(place):
                return await function(*args, **keywords)

    elif inspect.isgeneratorfunction(function):

        def wrapper(*args, **keywords):
            with region_of(place):
                return (yield from function(*args, **keywords))

    else:

        def wrapper(*args, **keywords):
            with place:
                return function(*args, **keywords)

    return functools.wraps(function)(wrapper)


def region_of(place: region) -> region:
    """A region of the same name with an identity of its own: several runs of one coroutine may be open at a time."""
    return place.again()
