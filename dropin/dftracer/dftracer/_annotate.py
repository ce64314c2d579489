"""What both faces of the package share: tags, entities, the tracer's object and the annotation dft_fn."""
from __future__ import annotations

import sys
import warnings
from enum import Enum, IntEnum

from lextrace import _core

from . import _session, _settings

COMPS = ("io", "mem", "cpu", "comm")
_WATCHED = (("epoch", "int"), ("step", "int"), ("image_idx", "int"), ("image_size", "float"))

_warned: set[str] = set()
_declared: set[tuple] = set()


class TagType(Enum):
    KEY = 0
    VALUE = 1
    IGNORE = 2

    def __int__(self) -> int:
        return self.value


class TagDType(Enum):
    INT = 0
    FLOAT = 1
    STRING = 2

    def __int__(self) -> int:
        return self.value


class TagValue:
    """A value with how it is to be taken; value() is what log_event takes."""

    def __init__(self, value, dtype: TagDType = TagDType.STRING, tag_type: TagType = TagType.KEY):
        self._dtype = dtype
        self._tag_type = tag_type
        self._value = {TagDType.INT: int, TagDType.FLOAT: float}.get(dtype, str)(value)

    def value(self) -> tuple:
        return int(self._tag_type), self._value


class EntityStore(IntEnum):
    """Where an entity lies."""

    MEMORY, GPU_MEMORY, LOCAL_DISK, PARALLEL_FS, BURST_BUFFER, OBJECT_STORE, DATABASE, NETWORK, OTHER = range(9)


class EntityRole(IntEnum):
    """What entities of a type are to the program."""

    UNKNOWN, INPUT, OUTPUT, INTERMEDIATE, PARAMETER, REFERENCE = range(6)


class EntityRelation(IntEnum):
    """Below 16: of an event to an entity; from 16 on: between two entities."""

    USED, GENERATED, INVALIDATED, UPDATED = range(4)
    DERIVED_FROM, REVISION_OF, CONTAINS, PART_OF, SPECIALIZATION_OF, ALTERNATE_OF, DEPENDS_ON = range(16, 23)


def _name_in(enumeration, value) -> str:
    try:
        return enumeration(int(value)).name.lower()
    except (TypeError, ValueError):
        return str(value)


def _plain(value):
    """The value itself of a TagValue, of a (tag, value) pair, or of what is neither."""
    if isinstance(value, TagValue):
        return value._value
    return value[1] if isinstance(value, tuple) and len(value) == 2 else value


def text(value) -> str:
    """A str of its own class, for names and keys."""
    return value if type(value) is str else str.__str__(value) if isinstance(value, str) else str(value)


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


# ---- The tracer ----

class dftracer:
    """DFTracer's object, of which there is one: dftracer.get_instance(). Its calls do nothing while nothing is recorded."""

    _instance: dftracer | None = None

    def __init__(self):
        self.logger = None
        self.dbg_logging = None
        self.start_time = 0

    @classmethod
    def get_instance(cls):
        if cls.__dict__.get("_instance") is None:
            cls._instance = cls()
        return cls._instance

    @staticmethod
    def initialize_log(logfile=None, data_dir=None, process_id=-1) -> dftracer:
        """Begins a recording where DFTRACER_ENABLE is on. None stands for what the environment says, else for the default."""
        instance = dftracer.get_instance()
        if _session.enabled():
            _session.initialize(logfile, process_id)
            instance.start_time = instance.get_time()
        return instance

    def get_time(self) -> int:
        """The time since the epoch in the unit of DFTRACER_TIME_METRIC; 0 where nothing is recorded."""
        return _core.now_ns() // _settings.unit if _core.active() or _session.enabled() else 0

    def get_config(self, key) -> str:
        """The value in force of an environment variable, by its name."""
        return _settings.get(text(key)) if _core.active() or _session.enabled() else ""

    def enter_event(self) -> None:
        """An event begins. The nesting of events is known without being told."""

    def exit_event(self) -> None:
        """An event ends; see enter_event."""

    def log_event(self, name, cat, start_time, duration, int_args=None, float_args=None, string_args=None,
                  relations=None) -> None:
        """A span told afterwards: times in the unit of get_time(), arguments as {key: (tag type, value)} or {key: value}."""
        if not _core.active():
            _session.begin_by_environment()
            if not _core.active():
                return
        arguments = {}
        for some in (int_args, float_args, string_args):
            if some:
                arguments.update((text(key), _plain(value)) for key, value in some.items())
        if relations:
            arguments["relations"] = relations_of(relations)
        log_span(text(cat), text(name), start_time, duration, arguments)

    def log_metadata_event(self, key, value) -> None:
        _core.metadata(text(key), value)

    def set_app_metadata_int(self, key, value) -> None:
        _core.metadata(text(key), value)

    def set_app_metadata_string(self, key, value) -> None:
        _core.metadata(text(key), text(value))

    def mark_used(self, name) -> None:
        """Notes that a layer of the program was used."""
        self._declare(("used", text(name)), f"used.{text(name)}", 1)

    def declare_entity(self, type, key, store=EntityStore.MEMORY, uri="") -> int:
        """The 64-bit number of the entity; what it is is noted once. 0 where nothing is recorded."""
        if not _core.active():
            return 0
        number = _session.fnv1a(f"{text(type)}\x1f{text(key)}".encode("utf-8", "surrogatepass"))
        self._declare(("entity", number), f"entity.{number:016x}",
                      {"type": text(type), "key": text(key), "store": _name_in(EntityStore, store), "uri": text(uri or "")})
        return number

    def declare_entity_type(self, type, role=EntityRole.UNKNOWN, description="") -> None:
        self._declare(("type", text(type)), f"entity_type.{text(type)}",
                      {"role": _name_in(EntityRole, role), "description": text(description or "")})

    def relate_entities(self, relation, subject, object) -> None:
        if subject and object:
            _core.metadata("entity_relation", _json({"relation": _name_in(EntityRelation, relation),
                                                     "subject": hex16(subject), "object": hex16(object)}))

    @staticmethod
    def _declare(what: tuple, key: str, value) -> None:
        once = (_core.folder(), *what)
        if once[0] and once not in _declared:
            _declared.add(once)
            _core.metadata(key, _json(value) if isinstance(value, dict) else value)

    def finalize(self) -> None:
        """Ends the recording that was begun by this package, and writes its file."""
        _session.finalize()


def _json(value) -> str:
    import json

    return json.dumps(value)


def hex16(number) -> str:
    return f"{int(number) & 0xFFFFFFFFFFFFFFFF:016x}"


def relations_of(relations) -> dict:
    return {_name_in(EntityRelation, relation): [hex16(entity) for entity in entities] for relation, entities in relations.items()}


def log_span(cat: str, name: str, start_time, duration, arguments: dict) -> None:
    unit = _settings.unit
    try:
        begin = int(start_time * unit)
    except (TypeError, ValueError, OverflowError):
        begin = _core.now_ns()
    try:
        length = max(int(duration * unit), 0)
    except (TypeError, ValueError, OverflowError):
        length = 0
    limit = (1 << 63) - 1
    _core.span(cat, name, max(min(begin, limit), -limit), min(length, limit), arguments)


# ---- Annotations ----

class dft_fn:
    """An annotation of a category. It decorates (``@dft_fn(cat="IO")``, ``@c.log``), it is a context manager
    (``with dft_fn("IO", "read") as f``), and it wraps iterations (``for x in c.iter(items)``).

    comp: what the annotated code does, one of io, mem, cpu, comm.
    """

    def __init__(self, cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True, *, comp=""):
        if type(cat) is not str:
            if callable(cat) and not isinstance(cat, str):
                raise TypeError("dft_fn.__init__() missing 1 required positional argument: 'cat'")
            cat = text(cat)
        if name is not None and type(name) is not str:
            name = text(name)
        self._cat = cat
        self._given = name or None
        self._name = name or sys._getframe(1).f_code.co_name
        self._comp = comp_of(comp) if comp else ""
        self._enable = enable
        self._arguments: dict = {}  # of each event of this object
        self._own: dict | None = None  # of the one that is open as a `with` block
        self._relations: dict = {}
        self._region = None
        self._flush = False
        self._begin = _core.now_ns()
        if epoch is not None or step is not None or image_idx is not None or image_size is not None:
            self._keep(self._arguments, epoch, step, image_idx, image_size, None)

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
        return {**self._arguments, **(self._own or {})}

    # -- Decorators

    def __call__(self, function):
        """Decorates a function, method, class, property, ...: a span for each call, from its begin to its end."""
        if not self._enable:
            return function
        return decorate(function, self._cat, self._given or name_of(function), self._comp)

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
        return decorate(function, self._cat, text(name) if name else name_of(function), self._comp, attributes=attributes)

    # -- Context manager

    def __enter__(self):
        if self._enable:
            if self._region is None:
                self._region = _core.region(self._cat, self._name, self._comp)
            self._own = {}
            self._flush = False
            self._region.__enter__()
        return self

    def __exit__(self, exc_type=None, exc_val=None, exc_tb=None):
        if self._own is not None:
            if self._own or self._arguments or self._relations:
                for key, value in self._take().items():
                    _core.update(key, value)
            self._own = None
            self._region.__exit__(exc_type, exc_val, exc_tb)
        return None

    def _take(self) -> dict:
        """The arguments of the event that ends."""
        arguments, relations = self._all(), self._relations
        self._own = None
        self._relations = {}
        if relations:
            arguments["relations"] = relations_of(relations)
        return arguments if _settings.arguments else {}

    def flush(self):
        """Ends the event: the open `with` block, else what lasts since the object was made or reset()."""
        if self._enable and not self._flush:
            if self._own is not None:
                self.__exit__()
            elif _core.active():
                now = _core.now_ns()
                _core.span(self._cat, self._name, self._begin, now - self._begin, self._take(), self._comp)
            self._flush = True
        return self

    def reset(self):
        """Begins an event anew."""
        if self._enable:
            if self._own is not None or (self._flush and self._region is not None):
                if self._own is not None:
                    self.__exit__()
                self.__enter__()
            self._begin = _core.now_ns()
            self._flush = False
        return self

    # -- Arguments

    def update(self, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        """Arguments of the open `with` block of this object; elsewhere of the innermost open span, and of later blocks."""
        if self._enable:
            if self._own is not None:
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
            where["epoch"] = _as(int, epoch)
        if step is not None:
            where["step"] = _as(int, step)
        if image_idx is not None:
            where["image_idx"] = _as(int, image_idx)
        if image_size is not None:
            where["image_size"] = _as(float, image_size)
        for key, value in (args or {}).items():
            value = value._value if isinstance(value, TagValue) else value
            where[text(key)] = int(value) if isinstance(value, bool) else value if isinstance(value, (int, float)) else _safe(value)

    # -- Relations to entities

    def relate(self, relation, entity):
        """The event used, generated, ... the entity of that number."""
        if self._enable and entity and int(relation) < 16:
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


def _as(kind, value):
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        return value


def _safe(value) -> str:
    try:
        return text(value)
    except Exception:
        return f"<{type(value).__name__} object>"
