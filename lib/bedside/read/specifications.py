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
import tomllib
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
    """The questions of a study by name, and the date on which they were written down."""

    def __init__(self, dated: date, questions: dict[str, Question]):
        super().__init__(questions)
        self.dated = dated

    def shown(self) -> pd.DataFrame:
        """All questions as a frame for readers: question, choices, what can't be computed."""
        import pandas as pd

        rows = []
        for q in self.values():
            told = [f"{c.name} ({c.mark}): {c.what}{f' [{c.by}]' * bool(c.by)}" for c in q.choices]
            rows.append((q.asks, told, q.cannot))
        return pd.DataFrame(rows, columns=["question", "choices", "can't be computed"])


def load(paper: str) -> Specification:
    """A study's specification. BedsideError names the file and what is wrong with it."""
    path = paths.SPECIFICATIONS / f"{paper}.toml"
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        dated = outside.fitted(written.pop("dated", None), date)
        questions = outside.fitted(written, dict[str, Question])
        for name, question in questions.items():
            for choice in question.choices:
                choose(choice.mark, MARKS, f"mark of {choice.name!r} in {name}")
                if choice.mark == "defensible" and not choice.by:
                    raise ValueError(f"{name}: {choice.name!r} is defensible, but by whom?")
    except (OSError, ValueError, BedsideError) as e:  # a TOMLDecodeError is a ValueError
        raise BedsideError(f"{paths.rel(path)} can't be used: {e}") from None
    return Specification(dated, questions)
