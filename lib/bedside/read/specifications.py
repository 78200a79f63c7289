"""Specifications: what a study's robustness notebook asks, written down before it was computed.

    spec = specifications.load("my_paper")
    spec["judge"].asks, spec["judge"].cannot
    spec.shown()  # all of it, as a frame for readers

data/specifications/<paper>.toml has the date on which it was written and a section for each
question. A choice is defensible, if a published study of the field makes it (`by` says which), or
defective, if it is a known fault; `cannot` lists what can't be computed, and why.
"""

from __future__ import annotations

import dataclasses
from datetime import date
from typing import TYPE_CHECKING

from bedside import BedsideError, choose

from . import outside, paths

if TYPE_CHECKING:
    import pandas as pd

MARKS = ("defensible", "defective")


@dataclasses.dataclass(frozen=True)
class Choice:
    """A way to compute an answer. mark: of MARKS; what: a sentence; by: who makes it."""

    name: str
    mark: str
    what: str
    by: str = ""


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked, the choices that its answer depends on, and what can't be computed."""

    asks: str
    choices: list[Choice] = dataclasses.field(default_factory=list)
    cannot: list[str] = dataclasses.field(default_factory=list)


class Specification(dict[str, Question]):
    """The questions of a study by name, and the date (`dated`) on which they were written down."""

    dated: date

    def shown(self) -> pd.DataFrame:
        """All questions as a frame for readers: question, choices, what can't be computed."""
        import pandas as pd

        def choices(q):
            return [f"{c.name} ({c.mark}): {c.what}" + f" [{c.by}]" * bool(c.by) for c in q.choices]

        rows = [(q.asks, choices(q), q.cannot) for q in self.values()]
        return pd.DataFrame(rows, columns=["question", "choices", "can't be computed"])


def load(paper: str) -> Specification:
    """A study's specification. BedsideError names the file and what is wrong with it."""
    path = paths.SPECIFICATIONS / f"{paper}.toml"
    entries = paths.toml(path)
    try:
        dated = outside.fitted(entries.pop("dated", None), date)
        spec = Specification(outside.fitted(entries, dict[str, Question]))
        spec.dated = dated
        for name, choice in ((name, c) for name, q in spec.items() for c in q.choices):
            choose(choice.mark, MARKS, f"mark of {choice.name!r} in {name}")
            if choice.mark == "defensible" and not choice.by:
                raise ValueError(f"{name}: {choice.name!r} is defensible, but by whom?")
    except (ValueError, BedsideError) as e:
        raise BedsideError(f"{paths.rel(path)} can't be used: {e}") from None
    return spec
