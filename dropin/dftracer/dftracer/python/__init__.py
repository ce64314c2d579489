"""The interface of DFTracer's releases: ``from dftracer.python import dftracer, dft_fn, ai``.

As there, DFTRACER_ENABLE=1 (true, on, yes) is what makes initialize_log record; otherwise its calls do nothing.
"""
from .._version import pydftracer as __version__
from .ai import *  # noqa: F403
from .ai_common import *  # noqa: F403
from .common import *  # noqa: F403
from .dynamo import *  # noqa: F403
from .logger import *  # noqa: F403

__all__ = [name for name in globals() if not name.startswith("_")] + ["__version__"]
