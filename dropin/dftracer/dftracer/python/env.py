"""What the environment said when the package was imported."""
import logging
import sys

from .. import _session, _settings

DFTRACER_ENABLE_ENV = "DFTRACER_ENABLE"
DFTRACER_INIT_ENV = "DFTRACER_INIT"
DFTRACER_LOG_LEVEL_ENV = "DFTRACER_LOG_LEVEL"
DFTRACER_TIME_METRIC_ENV = "DFTRACER_TIME_METRIC"

DFTRACER_ENABLE = _session.enabled()
DFTRACER_INIT_PRELOAD = _settings.get("DFTRACER_INIT") == "PRELOAD"
DFTRACER_LOG_LEVEL = _settings.get("DFTRACER_LOG_LEVEL")


def setup_stream_logger() -> logging.Logger:
    """The logger DFTRACER, writing to stderr."""
    logger = logging.getLogger("DFTRACER")
    logger.setLevel(getattr(logging, DFTRACER_LOG_LEVEL, logging.ERROR))
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
        logger.addHandler(handler)
    return logger
