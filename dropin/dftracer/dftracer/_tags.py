"""Tags and entities, and how the package takes what a program passes."""
from __future__ import annotations

from enum import Enum, IntEnum


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


def name_in(enumeration, value) -> str:
    try:
        return enumeration(int(value)).name.lower()
    except (TypeError, ValueError):
        return str(value)


def plain(value):
    """The value itself of a TagValue, of a (tag, value) pair, or of what is neither."""
    if isinstance(value, TagValue):
        return value._value
    return value[1] if isinstance(value, tuple) and len(value) == 2 else value


def text(value) -> str:
    """A str of just that class, for names and keys, from whatever the program passes."""
    if type(value) is str:
        return value
    try:
        return str.__str__(value) if isinstance(value, str) else str(value)
    except Exception:
        return f"<{type(value).__name__} object>"


def hex16(number) -> str:
    return f"{int(number) & 0xFFFFFFFFFFFFFFFF:016x}"


def relations_of(relations) -> dict:
    return {name_in(EntityRelation, relation): [hex16(entity) for entity in entities] for relation, entities in relations.items()}


def as_kind(kind, value):
    """The value as int or float; as it is, if it is none."""
    try:
        return kind(value)
    except Exception:  # whatever the value's own methods raise
        return value
