"""DFTracer's object, and spans told afterwards."""
from __future__ import annotations

from lextrace import _core

from . import _session, _settings
from ._tags import EntityRole, EntityRelation, EntityStore, hex16, name_in, plain, relations_of, text

_declared: set[tuple] = set()


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
                arguments.update((text(key), plain(value)) for key, value in some.items())
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
                      {"type": text(type), "key": text(key), "store": name_in(EntityStore, store), "uri": text(uri or "")})
        return number

    def declare_entity_type(self, type, role=EntityRole.UNKNOWN, description="") -> None:
        self._declare(("type", text(type)), f"entity_type.{text(type)}",
                      {"role": name_in(EntityRole, role), "description": text(description or "")})

    def relate_entities(self, relation, subject, object) -> None:
        if subject and object:
            _core.metadata("entity_relation", _json({"relation": name_in(EntityRelation, relation),
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
