"""Bedside: recompute and test four studies of how language models fail patients.

import bedside
bedside.graded("my_paper")     # every graded reply of a study, a row for each judge
bedside.calls("my_paper")      # what was sent, what came back, tokens, price, time
"""

import difflib
import importlib
from collections.abc import Collection


class BedsideError(Exception):
    """An error that a user can act on; its message names the file or item and the way out."""

    def _render_traceback_(self):  # IPython asks for it: a notebook's cell shows the message alone
        return [f"{type(self).__name__}: {self}"]


def choose(name: str, valid: Collection[str], what: str) -> str:
    """`name` if it is one of `valid`, else a BedsideError with the list and the nearest match."""
    if name in valid:
        return name
    valid = list(valid)
    near = difflib.get_close_matches(str(name), valid, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise BedsideError(f"unknown {what} {name!r}{hint} Valid: {', '.join(valid)}")


OFFERED = {
    "graded": "write.frames",
    "calls": "write.frames",
}  # name: the module that has it, read when first used


def __getattr__(name: str):
    if name not in OFFERED:
        raise AttributeError(f"module 'bedside' has no attribute {name!r}")
    return getattr(importlib.import_module(f"bedside.{OFFERED[name]}"), name)
