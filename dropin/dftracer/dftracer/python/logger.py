"""The core, with the native module in its place where DFTRACER_ENABLE is on."""
from . import common
from .common import *  # noqa: F403
from .env import DFTRACER_ENABLE as _ENABLED
from .env import setup_stream_logger

logger = setup_stream_logger()
if _ENABLED:
    import dftracer.dftracer as profiler

    common.profiler = profiler
