"""Moved to `printed`."""

from ..printed import *  # noqa: F403
