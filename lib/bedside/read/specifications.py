"""Specifications: what a study's robustness notebook asks, written down before it was computed.

data/specifications/<paper>.toml has the date on which it was written and a section for each
question. A choice is defensible, if a published study of the field makes it (`by` says which), or
defective, if it is a known fault; `cannot` lists what can't be computed, and why.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Literal

import msgspec

from bedside import BedsideError

from . import outside, paths

if TYPE_CHECKING:
    import pandas as pd


class Choice(msgspec.Struct, forbid_unknown_fields=True):
    """A way to compute an answer. what: a sentence; by: who makes it."""

    name: str
    mark: Literal["defensible", "defective"]
    what: str
    by: str = ""


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked, the choices that its answer depends on, and what can't be computed."""

    asks: str
    choices: list[Choice] = []
    cannot: list[str] = []


def load(paper: str) -> pd.DataFrame:
    """A study's questions as a frame for readers; BedsideError names the file and its fault."""
    import pandas as pd

    path = paths.SPECIFICATIONS / f"{paper}.toml"
    entries = paths.toml(path)
    try:
        dated = outside.fitted(entries.pop("dated", None), date)
        questions = outside.fitted(entries, dict[str, Question])
    except ValueError as e:
        raise BedsideError(f"{paths.rel(path)} can't be used: {e}") from None
    rows = {
        q.asks: (
            [f"{c.name} ({c.mark}): {c.what}" + f" [{c.by}]" * bool(c.by) for c in q.choices],
            q.cannot,
        )
        for q in questions.values()
    }
    asked = f"question, written down on {dated}"
    columns = ["choices", "can't be computed"]
    return pd.DataFrame.from_dict(rows, "index", columns=columns).reset_index(names=asked)
