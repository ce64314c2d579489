"""The functions that DFTracer's native module has. As there, nothing is recorded unless DFTRACER_ENABLE is on."""
from __future__ import annotations

from ._tags import EntityRelation, EntityRole, EntityStore
from ._tracer import dftracer as _tracer

__all__ = [
    "EntityRelation", "EntityRole", "EntityStore", "declare_entity", "declare_entity_type", "enter_event", "exit_event", "finalize",
    "get_config", "get_time", "initialize", "log_event", "log_metadata_event", "mark_used", "relate_entities",
    "set_app_metadata_int", "set_app_metadata_string",
]


def initialize(log_file=None, data_dirs=None, process_id=-1) -> None:
    _tracer.initialize_log(log_file, data_dirs, process_id)


def log_event(name, cat, start_time, duration, int_args=None, string_args=None, float_args=None, relations=None) -> None:
    _one.log_event(name, cat, start_time, duration, int_args, float_args, string_args, relations)


_one = _tracer.get_instance()
get_time = _one.get_time
get_config = _one.get_config
enter_event = _one.enter_event
exit_event = _one.exit_event
log_metadata_event = _one.log_metadata_event
set_app_metadata_int = _one.set_app_metadata_int
set_app_metadata_string = _one.set_app_metadata_string
mark_used = _one.mark_used
declare_entity = _one.declare_entity
declare_entity_type = _one.declare_entity_type
relate_entities = _one.relate_entities
finalize = _one.finalize
