"""What raters can be asked: the labelling tasks of all studies, and that of own studies."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bedside import own
from bedside.read import paths

JOINED = "; "  # between the values of a label that holds several


@dataclass(frozen=True)
class Task:
    """What a rater decides about a paper's rows, what the rater sees, and where labels go.

    choices, types and labels: (key, value, words) each. examples: (what a rater may meet, the
    label, why) each, shown beside the guide. sections: the beginnings of the sections of
    its rows. pieces_of: the sections of the whole replies if its rows are pieces of several models'
    replies. split: returns a row's pieces (paragraphs of its
    reply) as rows in their order, with the ids `<row id>#<n>`; they are labelled one by one.

    shows: headings of the blocks that are shown beside the reply; all others stay hidden, so that
    a new block can't reveal a model or a label. reply: the name of the reply on screen. spans_for:
    the value that needs a type and marked places, if the task has one. several: any number of
    choices may hold at once, or none. labels: further labels beside the choice, any number at once;
    a task has types or labels, not both.

    The study's own protocol, if raters follow it: consent is the text to which they agree first;
    background are optional questions about them, (name, question, answers) each, and counts the
    source in data/external to which the numbers of raters by answer are published. reason_for and
    source_for are the values that need a reason and a consulted source; training returns items that
    come first with feedback, [{shared: blocks, reply, right: {value, type, spans}, why}]; checks
    returns such items that come unannounced, and whoever gives one another value doesn't count;
    closing is the last page's text; batches is the number of parts of the sample, each for equally
    many raters.

    positive: the value that rates count. ordered: the values are steps of a scale. words: how
    verdicts name a value. file: the source in data/external to which labels are published, one
    record each as `record(row, value, by)` returns it; empty if no study reads them. each_rater:
    publish every rater's own labels, as `record(label)` returns them, instead of the settled ones.
    reference: returns the labels of the study's own raters, [{id, item, rater, group, value,
    type}], for comparison.
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
    examples: tuple = ()
    types: tuple = ()
    labels: tuple = ()
    spans_for: str = ""
    several: bool = False
    ordered: bool = False
    words: dict = field(default_factory=dict)
    each_rater: bool = False
    pieces_of: str = ""
    split: Callable[[dict], list[dict]] | None = None
    reason_for: tuple = ()
    source_for: tuple = ()
    consent: str = ""
    background: tuple = ()
    counts: str = ""
    training: Callable[[], list[dict]] | None = None
    checks: Callable[[], list[dict]] | None = None
    closing: str = ""
    batches: int = 0
    reference: Callable[[], list[dict]] | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a label may have (for `several`: that it may combine)."""
        return tuple(value for _, value, _ in self.choices)

    def ruled(self, protocol: bool, all_reasons: bool) -> Task:
        """The task as these rules ask for it: without the protocol it needs no reasons, sources."""
        asks = {} if protocol else {"reason_for": (), "source_for": (), "closing": ""}
        return replace(self, **asks | ({"reason_for": self.values} if all_reasons else {}))

    def takes(self, row: dict) -> bool:
        """Whether a row belongs to this task."""
        return row["paper"] == self.paper and row["section"].startswith(self.sections)

    def asked(self, row: dict) -> list[dict]:
        """The rows that a rater labels for a row: the row itself, or its pieces in order."""
        return self.split(row) if self.split else [row]

    def in_words(self, label: dict) -> list[str]:
        """A label's values and its type or further labels, in the words of the screen."""
        known = {v: words for _, v, words in (*self.choices, *self.types, *self.labels)}
        given = [v for k in ("value", "type") for v in label.get(k, "").split(JOINED) if v]
        return [known.get(v, v) for v in given]


@functools.cache
def tasks() -> dict[str, Task]:
    """All labelling tasks by name, from the fields that the studies and own studies declare."""
    rooms = [importlib.import_module(f"bedside.papers.{p}.labels") for p in paths.papers()]
    declared = [fields for room in rooms for fields in room.TASKS]
    return {fields["name"]: Task(**fields) for fields in [*declared, own.TASK]}
