from ..ai import *  # noqa: F403
