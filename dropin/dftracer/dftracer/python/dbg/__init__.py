"""The debug build's names; here the same as dftracer.python."""
from ..dynamo import *  # noqa: F403
from .ai import *  # noqa: F403
from .logger import *  # noqa: F403
