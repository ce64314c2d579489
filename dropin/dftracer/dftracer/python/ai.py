"""The default objects for machine learning: ai and its parts."""
from .ai_common import *  # noqa: F403
from .ai_init import *  # noqa: F403
