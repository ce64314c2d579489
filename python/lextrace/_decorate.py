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
    # Each run of a coroutine or generator has a region of its own (again()): several may be open at the same time.
    place = region(category, name or getattr(function, "__qualname__", type(function).__qualname__))

    if inspect.isasyncgenfunction(function):

        async def wrapper(*args, **keywords):
            with place.again():
                generator = function(*args, **keywords)
                step = generator.asend(None)
                try:
                    while True:
                        try:
                            value = await step
                        except StopAsyncIteration:
                            return
                        try:
                            step = generator.asend((yield value))
                        except GeneratorExit:
                            raise
                        except BaseException as error:
                            step = generator.athrow(error)
                finally:
                    await generator.aclose()

    elif inspect.iscoroutinefunction(function):

        async def wrapper(*args, **keywords):
            with place.again():
                return await function(*args, **keywords)

    elif inspect.isgeneratorfunction(function):

        def wrapper(*args, **keywords):
            with place.again():
                return (yield from function(*args, **keywords))

    else:

        def wrapper(*args, **keywords):
            with place:
                return function(*args, **keywords)

    return functools.wraps(function)(wrapper)

