"""Batches: what waits for an engine as request files, and what it brings, in OpenAI's format.

files       requests that wait, a line each; one model a file
results     what an engine wrote, taken into the recordings, with an account
service     files and batches at an endpoint, by the `openai` client
"""

import os
from pathlib import Path

from bedside import paths


def folder() -> Path:
    """Where request files, and what was asked in them, stand: batches/ of the checkout."""
    return Path(os.environ.get("BEDSIDE_BATCHES") or paths.ROOT / "batches")
