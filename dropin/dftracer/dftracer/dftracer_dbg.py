"""The native module's debug build; here the same."""
from .dftracer import *  # noqa: F403
