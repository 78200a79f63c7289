"""A rater's items in their order, and what is on screen of each."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bedside import BedsideError, choose
from bedside.annotation.labelling import Task, tasks
from bedside.asking.store import digest
from bedside.read.prompts import clean

from . import protocol
from .blind import alias, candidates, material
from .log import ADJUDICATED, NAME, RESERVED, Log, named
from .sampling import Draw, Entry, draw, share

# The fields of a task that the page gets: not those that choose rows and blocks or use labels.
ABOUT = (
    "name",
    "title",
    "question",
    "guide",
    "examples",
    "choices",
    "types",
    "labels",
    "spans_for",
    "several",
    "reason_for",
    "source_for",
    "closing",
)
SAID = ("type", "spans", "reason", "refused", "source")  # the parts of a label beside its value


@dataclass(frozen=True)
class Rules:
    """By which rules a rater labels.

    protocol: follow the protocol of the task's study, with consent and training first and attention
    checks between the items. all_reasons: ask for a reason whatever the value.
    """

    protocol: bool = False
    all_reasons: bool = False


def ruled(task: Task, rules: Rules) -> Task:
    """A task as these rules ask for it: without the protocol it needs no reasons and sources."""
    asks = {} if rules.protocol else {"reason_for": (), "source_for": (), "closing": ""}
    return replace(task, **asks | ({"reason_for": task.values} if rules.all_reasons else {}))


def grouped(**settings: Any) -> dict[str, Any]:
    """A Session's keywords, with Draw and Rules, from single settings."""
    made = {
        name: kind(**{f.name: settings.pop(f.name) for f in fields(kind) if f.name in settings})
        for name, kind in {"drawing": Draw, "rules": Rules}.items()
    }
    return dict(**settings, **made)  # TypeError if one is given as a whole, too


class Session:
    """The items that a rater labels: `queue` holds the entries in the order of labelling.

    rows: from `annotation.rows(document)`. group: "expert", "layperson" or another word. drawing,
    rules: by default `Draw()` and `Rules()`. folder: of the logs, by default
    data/external/annotations. opinions: for ADJUDICATED, the raters' labels, {row id: [{value,
    type, spans, reason, refused, source}]}; all those rows are then shown.
    """

    def __init__(
        self,
        rows: list[dict],
        task: str,
        rater: str,
        group: str = "",
        drawing: Draw | None = None,
        rules: Rules | None = None,
        *,
        folder: Path | str | None = None,
        opinions: Mapping[str, list[dict]] | None = None,
    ):
        drawing, self.rules = drawing or Draw(), rules or Rules()
        self.task = ruled(tasks()[choose(task, tasks(), "task")], self.rules)
        self.log, self.group = Log(folder, task, rater), str(group).strip()
        self.opinions, self.seed = opinions, drawing.seed
        if (self.log.rater == ADJUDICATED) != (opinions is not None):
            raise BedsideError(f"rater {self.log.rater!r}: {RESERVED}")
        if self.group and not NAME.fullmatch(self.group):
            raise BedsideError(
                f"group {group!r}: give expert, layperson or another word of up to 40 letters and"
                " digits"
            )
        if opinions is None:
            found = candidates(rows, self.task, drawing.tiny)
            self.queue = self._queue(found, drawing)
        else:
            found = [row for row in rows if row["id"] in opinions and self.task.takes(row)]
            self.queue = [Entry(row, False) for row in found]
        if not self.queue:
            raise BedsideError(
                f"the document has no replies for the task {task!r}, which needs rows of"
                f" {self.task.paper}, section {' or '.join(self.task.sections)}; use the profile"
                " that has them (`public` for released data), run the paper's notebooks, or choose"
                " another task"
            )
        if self.rules.protocol and opinions is None:
            self.queue = protocol.mixed(self.queue, self.task, self.log.rater, self.seed)
        self.drawn = {"seed": self.seed, "size": drawing.size}
        self.drawn |= {"n": len(found), "of": len(self.queue)}
        self._labels = self.log.both()

    def _queue(self, found, drawing):
        """This rater's entries: the sample or a share of it, in pieces if the task splits rows."""
        raters, batches = members(drawing.raters), drawing.batches
        size, seed, repetitions = drawing.size, drawing.seed, drawing.repetitions
        if batches:
            assigned(raters, batches)
        if not raters:
            drawn = draw(found, size, seed, repetitions=repetitions)
        elif self.log.rater not in raters:
            raise BedsideError(
                f"rater {self.log.rater!r} has no share of this sample; those who have are"
                f" {', '.join(raters)}"
            )
        else:
            place, of = raters.index(self.log.rater), batches or len(raters)
            overlap = 0 if batches else drawing.overlap
            drawn = share(draw(found, size, seed), place, of, overlap, seed, repetitions)
        return [Entry(row, e.repetition) for e in drawn for row in self.task.asked(e.row)]

    def given(self, entry):
        """The record of an entry, or None; a record for a different text doesn't count."""
        record = self._labels[entry.repetition].get(alias(entry.row["id"]))
        return record if record and record["text_sha256"] == self._sha(entry) else None

    def _sha(self, entry):
        return digest(material(entry.row, self.task))

    @property
    def about(self):
        """The task for the page: a dict of its fields ABOUT, and the rater."""
        return {name: getattr(self.task, name) for name in ABOUT} | {"rater": self.log.rater}

    def item(self, entry):
        """What is on screen of an entry: `material`, cut (at the limit of a reply), opinions."""
        more = {"cut": bool(entry.row.get("truncated")), "opinions": self._opinions(entry.row)}
        return material(entry.row, self.task) | more

    def _opinions(self, row):
        """The raters' labels of a row, in words, in an order that doesn't reveal the raters."""
        given = (self.opinions or {}).get(row["id"], [])
        rng = np.random.default_rng([self.seed, int(digest(row["id"])[:8], 16)])
        return [
            {
                "said": [*map(clean, self.task.in_words(given[i]))],
                "spans": [*map(clean, given[i].get("spans") or ())],
                **{k: clean(given[i].get(k) or "") for k in ("refused", "reason", "source")},
            }
            for i in rng.permutation(len(given))
        ]

    def record(self, entry):
        """A label of an entry as the log has it, with FIELDS in their order and nothing said."""
        row = entry.row
        return {
            "id": alias(row["id"]),
            **{k: row[k] for k in ("paper", "item")},
            "task": self.task.name,
            "rater": self.log.rater,
            "group": self.group,
            **dict.fromkeys(("value", *SAID), ""),
            "spans": [],
            "seconds": 0.0,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "check": entry.repetition,
            "sample": self.drawn,
            "text_sha256": self._sha(entry),
        }


def assigned(raters, batches):
    """{rater: batch} of raters dealt to batches from 1, by their names alone.

    Raises BedsideError unless each batch gets the same number of raters.
    """
    names = members(raters)
    if batches < 1 or not names or len(names) % batches:
        raise BedsideError(
            f"batches is {batches} for {len(names)} raters; give a number of batches by which the"
            " raters can be divided, 10 for example for 30 raters, or 0: all label the same"
        )
    return {name: place % batches + 1 for place, name in enumerate(names)}


def members(raters):
    """The names of raters who share a sample, sorted; BedsideError for a repeated name."""
    names = sorted(map(named, raters))
    if len(set(names)) < len(names) or ADJUDICATED in names:
        raise BedsideError(
            f"the raters are {', '.join(names)}; name each once, without {ADJUDICATED!r}"
        )
    return names
