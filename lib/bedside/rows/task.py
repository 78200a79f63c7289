"""What raters are asked about a study's rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

JOINED = "; "  # between the values of a label of which several hold


@dataclass(frozen=True)
class Task:
    """What a rater decides about a paper's rows, what is seen for it, and where labels go.

    choices, types and labels: (key, value, words) each. sections: how the sections of its rows
    begin. loops: how those begin whose questions a model wrote; what the embedded model wrote there
    is asked about only on demand. split: gives a row's pieces (paragraphs of its reply) as rows in
    their order, with the ids `<row id>#<n>`; they are labelled one after the other.

    shows: headings of the blocks that are shown beside the reply; all others stay hidden, so that a
    new block can't give a model or a label away. reply: what the reply is called on screen.
    spans_for: the value that needs a type and marked places, if the task has one. several: any
    number of choices may hold at once, none too. labels: what may hold beside the choice, any
    number at once; a task has types or labels.

    Of the study's own protocol, if raters follow it: reason_for and source_for, the values that
    need a reason and a source that was consulted; training, gives items that come first with
    feedback, [{shared: blocks, reply, right: {value, type, spans}, why}]; closing, what the last
    page says.

    positive: the value that rates count; ordered: the values are steps of a scale; words: how
    verdicts say a value. file: the source of data/external that labels are published to, a record
    each as `record(row, value, by)` makes it, empty if no study reads them; each_rater: all raters'
    own labels stand there, as `record(label)` makes them, not the settled ones. reference: gives
    the labels of the study's own raters, [{id, item, rater, group, value, type}], to compare with.
    """

    name: str
    paper: str
    title: str
    question: str
    guide: str
    choices: tuple
    sections: tuple
    shows: tuple
    positive: str
    file: str
    record: Callable[..., dict]
    reply: str = "Reply"
    types: tuple = ()
    labels: tuple = ()
    spans_for: str = ""
    several: bool = False
    ordered: bool = False
    words: dict = field(default_factory=dict)
    each_rater: bool = False
    loops: tuple = ()
    split: Callable[[dict], list[dict]] | None = None
    reason_for: tuple = ()
    source_for: tuple = ()
    training: Callable[[], list[dict]] | None = None
    closing: str = ""
    reference: Callable[[], list[dict]] | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a label may have (for `several`: that it may be made of)."""
        return tuple(value for _, value, _ in self.choices)

    def takes(self, row: dict) -> bool:
        """Whether a row is of this task."""
        return row["paper"] == self.paper and row["section"].startswith(self.sections)

    def asked(self, row: dict) -> list[dict]:
        """The rows that a rater is asked about for a row: itself, or its pieces in their order."""
        return self.split(row) if self.split else [row]

    def in_words(self, label: dict) -> list[str]:
        """A label's values, and its type or further labels, as they are called on screen."""
        known = {v: words for _, v, words in (*self.choices, *self.types, *self.labels)}
        given = [v for k in ("value", "type") for v in label.get(k, "").split(JOINED) if v]
        return [known.get(v, v) for v in given]
