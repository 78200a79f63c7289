"""Batches: what waits for an engine as request files, and what it brings, in OpenAI's format.

A batch sends what direct calls would have sent: requests and keys are `keep`'s, refusals are read
by `asking`, and notebooks are run by `build`. What the replies mean is decided in `judging`.

files: requests that wait, a line each; one model a file. results: what an engine wrote, taken into
the recordings, with an account. service: files and batches at an endpoint, by the `openai` client.
submission: all that can be asked now, over all notebooks, written, sent and taken in wave by wave.
"""

import os
from pathlib import Path

from bedside.read import paths

__all__ = """folder files results service submission""".split()


def folder() -> Path:
    """Where request files, and what was asked in them, stand: batches/ of the checkout."""
    return Path(os.environ.get("BEDSIDE_BATCHES") or paths.ROOT / "batches")
