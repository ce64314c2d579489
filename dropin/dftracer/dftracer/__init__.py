"""DFTracer's annotations, recorded by lextrace. See dftracer.logger and dftracer.python."""
from ._version import dftracer as __version__

__all__ = ["__version__"]
