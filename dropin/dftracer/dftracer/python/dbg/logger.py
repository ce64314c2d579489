from ..logger import *  # noqa: F403
