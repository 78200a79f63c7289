"""Bedside: recompute and test four studies of how language models fail patients.

import bedside
bedside.graded("my_paper")     # every graded reply of a study, a row for each judge
bedside.calls("my_paper")      # what was sent, what came back, tokens, price, time

docs/api.md has all names of OFFERED, each with an example.
"""

import difflib
import pkgutil
import re
from collections.abc import Collection


class BedsideError(Exception):
    """An error that a user can act on; its message names the file or item and the way out.

    What it repeats of a file or an endpoint gives no orders to a terminal, and a word of more than
    LONGEST characters is cut.
    """

    LONGEST = 300

    def __str__(self):
        from .read.prompts import plain

        cut = rf"(\S{{{self.LONGEST // 2}}})\S{{{self.LONGEST // 2},}}"
        return re.sub(cut, r"\1...", plain(super().__str__()))

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
    "graded": "write.frames:graded",
    "calls": "write.frames:calls",
    "claims": "write.frames:claims",
    "table": "write.frames:table",
    "published": "read.published:table",
    "load": "read.sources:data_of",
    "questions": "read.questions:read",
    "models": "asking.registry:entries",
    "render": "read.prompts:render",
    "render_all": "read.prompts:render_all",
    "ask": "asking.models:answers_to",
    "judge": "judging.judges:verdicts_on",
    "trust_card": "judging.trust_cards:trust_card",
    "study": "own.steps:study",
    "check": "checking:check",
    "stats": "stats:",
    "Run": "run:Run",
    "first_items": "read.sources:first_items",
    "random_rows": "read.sources:random_rows",
    "with_raters_labels": "judging.judges:with_raters_labels",
    "run_asking": "judging.judges:run_asking",
    "verdicts_by_judge": "judging.judges:verdicts_by_judge",
    "tables": "write.tables:",
    "means": "write.results:means",
    "points": "write.results:points",
    "charts": "write.charts:",
    "plots": "write.plots:",
    "label_beside": "write.plots:label_beside",
}  # name: the module that has it, read when first used, then a colon and what it is called there
__all__ = ["BedsideError", "choose", *OFFERED]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str):
    if name not in OFFERED:
        near = [] if name[:1] == "_" else difflib.get_close_matches(name, __all__, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'bedside' has no attribute {name!r}{hint}")
    return pkgutil.resolve_name(f"bedside.{OFFERED[name]}")
