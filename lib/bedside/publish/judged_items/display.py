"""How a section's graded replies are shown: which of its columns are what, and what stands beside.

DISPLAYS = [Display("evaluation", "03_evaluation", "4.3 false presupposition", shared=question)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .blocks import verdict

Row = Mapping[str, Any]  # of a full frame


def _nothing(rows: list[Row]) -> list[dict]:
    return []


@dataclass(frozen=True)
class Display:
    """How a section's replies are shown.

    section: as `Run.keep` has it. notebook: the one in the rows' ids, by which labels and links
    know them. heading: the section on the page. The next five name columns of a full frame; one
    that the frame lacks is empty, and without a column `by` a model wrote every reply. heading,
    category and words may be functions of a reply's row. words: {value: how a verdict says it}.
    shared: {key: blocks} that a reply has in common with others, of its row. blocks, more, human:
    its own blocks, verdicts on other questions, people's labels, of its rows, one for each judge.
    beside: the configuration of the same item and model beside which it is shown. reason: a
    verdict's.
    """

    section: str
    notebook: str
    heading: str | Callable[[Row], str]
    title: str = "question"
    reply: str = "reply"
    status: str = "reply_status"
    category: str | Callable[[Row], str] = "category"
    by: str = "by"
    words: Mapping[Any, str] | Callable[[Row], Mapping[Any, str]] = field(default_factory=dict)
    shared: Callable[[Row], dict[str, list[dict]]] = lambda row: {}
    blocks: Callable[[list[Row]], list[dict]] = _nothing
    more: Callable[[list[Row]], list[dict]] = _nothing
    human: Callable[[list[Row]], list[dict]] = _nothing
    beside: Callable[[Row], str] = lambda row: ""
    reason: Callable[[Row], str] = lambda row: ""

    def headed(self, row: Row) -> tuple[str, str]:
        """The section and the category of a reply, as the page names them."""
        category = self.category(row) if callable(self.category) else row.get(self.category)
        return self.heading(row) if callable(self.heading) else self.heading, category or ""

    def verdicts(self, rows: list[Row]) -> list[dict]:
        """The judges' verdicts on a reply."""
        return [self._verdict(r) for r in rows if r["judge"]]

    def _verdict(self, r):
        words = self.words(r) if callable(self.words) else self.words
        value = words.get(r["value"], r["value"] or "")
        return verdict(r["judge"], r["status"], value, r["right"], r.get("raw", ""), self.reason(r))
