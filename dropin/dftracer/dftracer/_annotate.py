"""The annotation dft_fn, which both faces of the package share."""
from __future__ import annotations

import sys
import warnings

from lextrace import _core

from . import _settings
from ._tags import EntityRelation, EntityStore, TagValue, as_kind, relations_of, text
from ._tracer import dftracer

COMPS = ("io", "mem", "cpu", "comm")
_WATCHED = (("epoch", "int"), ("step", "int"), ("image_idx", "int"), ("image_size", "float"))

_warned: set[str] = set()


def comp_of(comp) -> str:
    if comp and comp not in COMPS and text(comp) not in _warned:
        _warned.add(text(comp))
        warnings.warn(f"comp={comp!r} is none of {', '.join(COMPS)}; it is recorded as it is", stacklevel=3)
    return text(comp) if comp else ""


# ---- Decorating ----

def _function_of(function):
    """The Python function innermost in what is decorated, or None."""
    for _ in range(100):
        if hasattr(function, "__code__") and hasattr(function, "__defaults__"):
            return function
        inner = getattr(function, "__wrapped__", None) or getattr(function, "fget", None) or getattr(function, "func", None)
        if inner is None:
            break
        function = inner
    return None


def name_of(function) -> str:
    inner = function if hasattr(function, "__qualname__") else _function_of(function)
    return text(getattr(inner, "__qualname__", None) or type(function).__qualname__)


def decorate(function, cat: str, name: str, comp: str = "", parameters: bool = True, attributes: bool = True):
    """The function as a region. The four parameters that DFTracer knows by name become arguments, as do, of a method, the
    attributes of that name."""
    given = mine = ()
    inner = _function_of(function)
    if inner is not None and parameters and _settings.arguments:
        code = inner.__code__
        names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        given = tuple(item for item in _WATCHED if item[0] in names)
        if attributes and names[:1] == ("self",) and not hasattr(function, "__self__"):
            mine = tuple(item for item in _WATCHED if item[0] not in names)
    return _core.decorate(function, cat, name, comp, given, mine)


# ---- Annotations ----

class dft_fn(_core.scope):
    """An annotation of a category. It decorates (``@dft_fn(cat="IO")``, ``@c.log``), it is a context manager
    (``with dft_fn("IO", "read") as f``), and it wraps iterations (``for x in c.iter(items)``).

    comp: what the annotated code does, one of io, mem, cpu, comm.
    """

    _named = True       # the name was given, and is not that of the function around
    _relations = None   # of the event that is open: {relation: [entity]}
    _flush = False      # the event has ended; "block": that of a `with` block

    # Making, entering and leaving are _core.scope's: _cat, _given (the name), _comp, _enable, _begin, _open; _kept has the arguments of
    # each event of the object, _own those of the open one, a dict or None.

    def _begin_arguments(self, cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True, *, comp=""):
        if type(cat) is not str:
            if callable(cat) and not isinstance(cat, str):
                raise TypeError("dft_fn() missing 1 required positional argument: 'cat'")
            cat = text(cat)
        self._cat = cat
        if name:
            self._given = text(name)
        else:
            self._named = False
            self._given = sys._getframe(1).f_code.co_name
        if comp:
            self._comp = comp_of(comp)
        self._enable = bool(enable)
        if epoch is not None or step is not None or image_idx is not None or image_size is not None:
            self._keep(self._arguments, epoch, step, image_idx, image_size, None)

    def _end_arguments(self) -> dict:
        """The arguments of the event that ends."""
        arguments, relations = self._all(), self._relations
        self._own = None
        if relations:
            self._relations = None
            arguments["relations"] = relations_of(relations)
        return arguments if _settings.arguments else {}

    @property
    def _name(self) -> str:
        return self._given

    _begin_arguments.__qualname__ = "dft_fn"  # which is what a missing argument is missing of

    @property
    def _arguments(self) -> dict:
        if self._kept is None:
            self._kept = {}
        return self._kept

    @_arguments.setter
    def _arguments(self, arguments: dict) -> None:
        self._kept = arguments

    # -- The object as upstream's dictionaries show it

    @property
    def _arguments_int(self) -> dict:
        return {key: (0, value) for key, value in self._all().items() if isinstance(value, int)}

    @property
    def _arguments_float(self) -> dict:
        return {key: (0, value) for key, value in self._all().items() if isinstance(value, float)}

    @property
    def _arguments_string(self) -> dict:
        return {key: (0, value) for key, value in self._all().items() if not isinstance(value, (int, float))}

    def shown(self) -> dict | None:
        """The arguments of a span of this object; None: it is to have none."""
        if not self._enable:
            return None
        return self._arguments if _settings.arguments else {}

    def _all(self) -> dict:
        return {**(self._kept or {}), **(self._own or {})}

    # -- Decorators

    def __call__(self, function):
        """Decorates a function, method, class, property, ...: a span for each call, from its begin to its end."""
        if not self._enable:
            return function
        return decorate(function, self._cat, self._given if self._named else name_of(function), self._comp or "")

    def log(self, func=None, name=None):
        """Decorates, with and without parentheses; the span has the function's qualified name, or `name`."""
        return self._decorator(func, name)

    def log_init(self, init=None, name=None):
        """As log(), for __init__: attributes of the object are not looked at."""
        return self._decorator(init, name, attributes=False)

    def log_static(self, func=None, name=None):
        """As log(), for a static method or the function in it."""
        if isinstance(func, staticmethod):  # upstream gives back a function that both a class and an instance can call
            return staticmethod(self._decorator(func.__func__, name, attributes=False))
        return self._decorator(func, name, attributes=False)

    def _decorator(self, function, name, attributes=True):
        if function is None:
            return lambda decorated: self._decorator(decorated, name, attributes)
        if not self._enable:
            return function
        return decorate(function, self._cat, text(name) if name else name_of(function), self._comp or "",
                        attributes=attributes)

    # -- Events

    def flush(self):
        """Ends the event: the open `with` block, else what lasts since the object was made or reset()."""
        if self._enable:
            if self._open:
                self.__exit__(None, None, None)
                self._flush = "block"
            elif not self._flush:
                if _core.active():
                    now = _core.now_ns()
                    _core.span(self._cat, self._name, self._begin, now - self._begin, self._end_arguments(), self._comp or "")
                self._flush = True
        return self

    def reset(self):
        """Begins an event anew."""
        if self._enable:
            if self._open:
                self.__exit__(None, None, None)
                self.__enter__()
            elif self._flush == "block":
                self.__enter__()
            self._begin = _core.now_ns()
            self._flush = False
        return self

    # -- Arguments

    def update(self, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        """Arguments of the open `with` block of this object; elsewhere of the innermost open span, and of later blocks."""
        if self._enable:
            if self._open:
                if self._own is None:
                    self._own = {}
                self._keep(self._own, epoch, step, image_idx, image_size, args)
            else:
                new: dict = {}
                self._keep(new, epoch, step, image_idx, image_size, args)
                self._arguments.update(new)
                if _settings.arguments:
                    for key, value in new.items():
                        _core.update(key, value)
        return self

    @staticmethod
    def _keep(where: dict, epoch, step, image_idx, image_size, args) -> None:
        if epoch is not None:
            where["epoch"] = as_kind(int, epoch)
        if step is not None:
            where["step"] = as_kind(int, step)
        if image_idx is not None:
            where["image_idx"] = as_kind(int, image_idx)
        if image_size is not None:
            where["image_size"] = as_kind(float, image_size)
        for key, value in (args or {}).items():
            value = value._value if isinstance(value, TagValue) else value
            where[text(key)] = int(value) if isinstance(value, bool) else value if isinstance(value, (int, float)) else text(value)

    # -- Relations to entities

    def relate(self, relation, entity):
        """The event used, generated, ... the entity of that number."""
        if self._enable and entity and int(relation) < 16:
            if self._relations is None:
                self._relations = {}
            self._relations.setdefault(EntityRelation(int(relation)), []).append(entity)
        return self

    def relate_entity(self, relation, type, key, store=EntityStore.MEMORY, uri="") -> int:
        """declare_entity and relate in one; the entity's number."""
        if not self._enable:
            return 0
        number = dftracer.get_instance().declare_entity(type, key, store, uri)
        self.relate(relation, number)
        return number

    def uses(self, type, key, store=EntityStore.MEMORY, uri="") -> int:
        return self.relate_entity(EntityRelation.USED, type, key, store, uri)

    def generates(self, type, key, store=EntityStore.MEMORY, uri="") -> int:
        return self.relate_entity(EntityRelation.GENERATED, type, key, store, uri)

    # -- The rest

    def log_metadata(self, key, value) -> None:
        if self._enable:
            _core.metadata(text(key), value)

    def iter(self, func, name="loop", iter_name="step"):
        """The items; a span NAME.iter for getting each, and one NAME.yield for what is done with it."""
        if not self._enable:
            return iter(func)
        return iterate(func, self._cat, f"{name}.iter", f"{name}.yield", iter_name, dict)


def iterate(items, cat, iter_name, block_name, count_name, arguments):
    """Yields the items, with spans for getting and using each; a name of None: none.

    arguments(): those of each span; None: no span.
    """
    def tell(name, begin):
        others = arguments() if name is not None else None
        if others is not None:
            _core.span(cat, name, begin, _core.now_ns() - begin, {**others, count_name: count})

    count = 0
    items = iter(items)
    while True:
        begin = _core.now_ns()
        try:
            item = next(items)
        except StopIteration:
            return
        count += 1
        tell(iter_name, begin)
        begin = _core.now_ns()
        try:
            yield item
        finally:  # also where the loop is left
            tell(block_name, begin)
