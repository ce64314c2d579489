"""The object ai, and its parts by name."""
from .ai_common import (
    AI,
    INIT_NAME,
    ITER_COUNT_NAME,
    CheckpointEvent,
    CommunicationEvent,
    ComputeEvent,
    DataEvent,
    DataLoaderEvent,
    DeviceEvent,
    IOEvent,
    PipelineEvent,
    ProfileCategory,
    get_iter_block_name,
    get_iter_handle_name,
)

ai = AI()
compute, data, dataloader, comm = ai.compute, ai.data, ai.dataloader, ai.comm
device, checkpoint, pipeline, other = ai.device, ai.checkpoint, ai.pipeline, ai.other

__all__ = [
    "INIT_NAME", "ITER_COUNT_NAME", "CheckpointEvent", "CommunicationEvent", "ComputeEvent", "DataEvent", "DataLoaderEvent",
    "DeviceEvent", "IOEvent", "PipelineEvent", "ProfileCategory", "ai", "checkpoint", "comm", "compute", "data", "dataloader",
    "device", "get_iter_block_name", "get_iter_handle_name", "other", "pipeline",
]
