"""Annotations for machine learning: objects for the parts of a training, each a decorator, a context manager and an iterator."""
from __future__ import annotations

import functools
import inspect
from enum import StrEnum, auto

from lextrace import _core

from .._annotate import decorate, dft_fn, iterate
from .._tags import text
from .._tracer import dftracer
from .common import TagDType, TagType, TagValue

ITER_COUNT_NAME = "count"
INIT_NAME = "init"
BLOCK_NAME = "block"
ITER_NAME = "iter"
CTX_SEPARATOR = "."
ROOT_NAME = "ai_root"
ROOT_CAT = "ai_root"
START_METADATA_NAME = "start"
STOP_METADATA_NAME = "end"


def get_iter_block_name(name: str) -> str:
    """The name of the spans of what is done with an item."""
    return name if name.endswith(CTX_SEPARATOR + BLOCK_NAME) else name + CTX_SEPARATOR + BLOCK_NAME


def get_iter_handle_name(name: str) -> str:
    """The name of the spans of getting an item."""
    return name if name.endswith(CTX_SEPARATOR + ITER_NAME) else name + CTX_SEPARATOR + ITER_NAME


# ---- Names ----

class ProfileCategory(StrEnum):
    COMPUTE = auto()
    DATA = auto()
    DATALOADER = auto()
    COMM = auto()
    DEVICE = auto()
    CHECKPOINT = auto()
    PIPELINE = auto()
    OTHER = auto()


class ComputeEvent(StrEnum):
    FORWARD = auto()
    BACKWARD = auto()
    STEP = auto()


class DataEvent(StrEnum):
    PREPROCESS = auto()
    ITEM = auto()


class DataLoaderEvent(StrEnum):
    FETCH = auto()


class CommunicationEvent(StrEnum):
    SEND = auto()
    RECEIVE = auto()
    BARRIER = auto()
    BCAST = auto()
    REDUCE = auto()
    ALL_REDUCE = auto()
    GATHER = auto()
    ALL_GATHER = auto()
    SCATTER = auto()
    REDUCE_SCATTER = auto()
    ALL_TO_ALL = auto()


class DeviceEvent(StrEnum):
    TRANSFER = auto()


class PipelineEvent(StrEnum):
    EPOCH = auto()
    TRAIN = auto()
    EVALUATE = auto()
    TEST = auto()


class CheckpointEvent(StrEnum):
    CAPTURE = auto()
    RESTART = auto()


class OtherEvent(StrEnum):
    LOG = auto()


class IOEvent(StrEnum):
    OPEN = auto()
    READ = auto()
    WRITE = auto()
    CLOSE = auto()


# ---- Spans with what the object has at their end ----

def _tell(profiler: dft_fn) -> None:
    for key, value in (profiler.shown() or {}).items():
        _core.update(key, value)


def _follow(function, profiler: dft_fn):
    """The function as a region that heeds, at each call, whether the object is enabled and which arguments it has."""
    if not callable(function) or isinstance(function, (type, staticmethod, classmethod)):
        return decorate(function, profiler._cat, profiler._name, parameters=False)
    plain = _core.decorate(function, profiler._cat, profiler._name)
    if inspect.isasyncgenfunction(function):
        return plain
    if inspect.iscoroutinefunction(function):

        async def inner(*args, **keywords):
            try:
                return await function(*args, **keywords)
            finally:
                _tell(profiler)

        async def outer(*args, **keywords):
            return await choose()(*args, **keywords)

    elif inspect.isgeneratorfunction(function):

        def inner(*args, **keywords):
            try:
                return (yield from function(*args, **keywords))
            finally:
                _tell(profiler)

        def outer(*args, **keywords):
            return (yield from choose()(*args, **keywords))

    else:

        def inner(*args, **keywords):
            try:
                return function(*args, **keywords)
            finally:
                _tell(profiler)

        def outer(*args, **keywords):
            return choose()(*args, **keywords)

    if inspect.isfunction(function):  # both stand where the function stands
        place = function.__code__
        inner.__code__ = inner.__code__.replace(co_filename=place.co_filename, co_firstlineno=place.co_firstlineno)
    telling = _core.decorate(functools.wraps(function)(inner), profiler._cat, profiler._name)

    def choose():
        return function if not profiler._enable else telling if profiler._arguments else plain

    return functools.wraps(function)(outer)


# ---- Objects ----

class DFTracerAI:
    """A part of a training: ``@part``, ``with part:``, ``part.start()`` and ``part.stop()``, ``for x in part.iter(items)``.

    What update() sets stays with the object and is recorded with each of its spans from then on.
    """

    def __init__(self, *, cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        self.profiler = dft_fn(cat, name or cat, epoch, step, image_idx, image_size, enable)
        self._region = _core.region(self.cat, self.name)
        self._children: dict[str, DFTracerAI] = {}

    def _another(self, name: str) -> DFTracerAI:
        """An object of this category, with the arguments that this one has now."""
        made = DFTracerAI(cat=self.cat, name=name, enable=self.profiler._enable)
        made.profiler._arguments.update(self.profiler._arguments)
        return made

    @property
    def cat(self) -> str:
        return self.profiler._cat

    @property
    def name(self) -> str:
        return self.profiler._name

    def __call__(self, fn=None, *, enable=None, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        """Decorates the function; without one, gives an object of this category and name with these settings."""
        tracer = self
        if fn is None or enable is not None or args or not (epoch is step is image_idx is image_size is None):
            tracer = self._another(self.name)
            if enable is not None:
                tracer.profiler._enable = enable
            tracer._set(epoch, step, image_idx, image_size, args)
        return tracer if fn is None else _follow(fn, tracer.profiler)

    def init(self, fn=None, *, enable=None, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        """As the object itself, with the name NAME.init: for __init__."""
        return self.derive(INIT_NAME)(fn, enable=enable, epoch=epoch, step=step, image_idx=image_idx, image_size=image_size,
                                      args=args)

    def derive(self, name: str) -> DFTracerAI:
        """The object NAME.name of this category; the same one each time."""
        whole = f"{self.name}{CTX_SEPARATOR}{name}"
        if whole not in self._children:
            self._children[whole] = self._another(whole)
        return self._children[whole]

    def create_children(self, names: dict[str, str]) -> None:
        """Gives the object an attribute for each, an object of this category with that name."""
        for attribute, name in names.items():
            self._children[attribute] = self._another(text(name))
            setattr(self, attribute, self._children[attribute])

    # -- Spans

    def __enter__(self):
        if self.profiler._enable:
            self._region.__enter__()
        return self

    def __exit__(self, exc_type=None, exc_val=None, exc_tb=None):
        if self.profiler._arguments and self.profiler._enable:
            _tell(self.profiler)
        self._region.__exit__(exc_type, exc_val, exc_tb)  # also of what was disabled while it was open

    def start(self, metadata: bool = False) -> None:
        """Begins a span that stop() ends; or notes the time in the trace's metadata."""
        if metadata:
            self.profiler.log_metadata(f"{self.name}{CTX_SEPARATOR}{START_METADATA_NAME}", str(self.get_time()))
        else:
            self.__enter__()

    def stop(self, metadata: bool = False) -> None:
        if metadata:
            self.profiler.log_metadata(f"{self.name}{CTX_SEPARATOR}{STOP_METADATA_NAME}", str(self.get_time()))
        else:
            self.__exit__(None, None, None)

    def iter(self, iterator, *, include_block=True, include_iter=True, iter_name=None, block_name=None):
        """The items; spans NAME.iter for getting each, NAME.block for what is done with it, with the argument count."""
        return iterate(
            iterator, self.cat,
            (iter_name or get_iter_handle_name(self.name)) if include_iter else None,
            (block_name or get_iter_block_name(self.name)) if include_block else None,
            ITER_COUNT_NAME, self.profiler.shown,
        )

    def get_time(self) -> int:
        return dftracer.get_instance().get_time()

    # -- Settings

    def _set(self, epoch=None, step=None, image_idx=None, image_size=None, args=None) -> None:
        dft_fn._keep(self.profiler._arguments, epoch, step, image_idx, image_size, args)

    def update(self, epoch=None, step=None, image_idx=None, image_size=None, args=None):
        """Arguments of the spans of this object and its children from here on, those that are open included."""
        if self.profiler._enable:
            self._set(epoch, step, image_idx, image_size, args)
        for child in self._children.values():
            child.update(epoch, step, image_idx, image_size, args)
        return self

    def reset(self) -> None:
        """Ends the open span, if there is one, and begins another."""
        if self.profiler._enable and _core.active():
            self._region.__exit__(None, None, None)
            self._region.__enter__()

    def enable(self) -> None:
        self._switch(True)

    def disable(self) -> None:
        self._switch(False)

    def _switch(self, enable: bool) -> None:
        self.profiler._enable = enable
        for child in self._children.values():
            child._switch(enable)


class _Part(DFTracerAI):
    """A part with children of fixed names."""

    _category: ProfileCategory
    _events: type[StrEnum]
    _prefixed = False  # children are named CATEGORY.EVENT
    _io = False        # has a child `io`

    def __init__(self, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        super().__init__(cat=self._category, name=self._category, epoch=epoch, step=step, image_idx=image_idx,
                         image_size=image_size, enable=enable)
        prefix = f"{self._category}{CTX_SEPARATOR}" if self._prefixed else ""
        self.create_children({event.value: prefix + event for event in self._events})
        if self._io:
            self.io = self._children["io"] = IO(cat=self._category, parent_name=self._category, epoch=epoch, step=step,
                                                image_idx=image_idx, image_size=image_size, enable=enable)


class IO(DFTracerAI):
    """What is done with files for another part: NAME.io.open, .read, .write, .close."""

    def __init__(self, *, cat, parent_name, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        super().__init__(cat=cat, name=f"{parent_name}{CTX_SEPARATOR}io", epoch=epoch, step=step, image_idx=image_idx,
                         image_size=image_size, enable=enable)
        self.create_children({event.value: f"{self.name}{CTX_SEPARATOR}{event}" for event in IOEvent})


class Compute(_Part):
    _category, _events = ProfileCategory.COMPUTE, ComputeEvent


class Data(_Part):
    _category, _events, _io = ProfileCategory.DATA, DataEvent, True


class DataLoader(_Part):
    _category, _events = ProfileCategory.DATALOADER, DataLoaderEvent


class Communication(_Part):
    _category, _events = ProfileCategory.COMM, CommunicationEvent


class Device(_Part):
    _category, _events = ProfileCategory.DEVICE, DeviceEvent


class Checkpoint(_Part):
    _category, _events, _io = ProfileCategory.CHECKPOINT, CheckpointEvent, True


class Pipeline(_Part):
    _category, _events = ProfileCategory.PIPELINE, PipelineEvent


class Other(_Part):
    _category, _events, _prefixed, _io = ProfileCategory.OTHER, OtherEvent, True, True


class AI(DFTracerAI):
    """All parts."""

    def __init__(self, epoch=None, step=None, image_idx=None, image_size=None, enable=True):
        settings = dict(epoch=epoch, step=step, image_idx=image_idx, image_size=image_size, enable=enable)
        super().__init__(cat=ROOT_CAT, name=ROOT_NAME, **settings)
        parts = {"compute": Compute, "data": Data, "dataloader": DataLoader, "comm": Communication, "device": Device,
                 "checkpoint": Checkpoint, "pipeline": Pipeline, "other": Other}
        for attribute, part in parts.items():
            self._children[attribute] = part(**settings)
            setattr(self, attribute, self._children[attribute])


__all__ = [
    "AI", "BLOCK_NAME", "CTX_SEPARATOR", "INIT_NAME", "IO", "ITER_COUNT_NAME", "ITER_NAME", "ROOT_CAT", "ROOT_NAME",
    "START_METADATA_NAME", "STOP_METADATA_NAME", "Checkpoint", "CheckpointEvent", "Communication", "CommunicationEvent", "Compute",
    "ComputeEvent", "DFTracerAI", "Data", "DataEvent", "DataLoader", "DataLoaderEvent", "Device", "DeviceEvent", "IOEvent", "Other",
    "OtherEvent", "Pipeline", "PipelineEvent", "ProfileCategory", "TagDType", "TagType", "TagValue", "dft_fn", "dftracer",
    "get_iter_block_name", "get_iter_handle_name",
]
