"""A rater's way through a sample: what is on screen, which labels are accepted, what comes next."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bedside import BedsideError, choose
from bedside.annotation.labelling import tasks
from bedside.keep.store import digest
from bedside.publish.judged_items import JOINED, Task
from bedside.read import paths
from bedside.read.prompts import clean

from . import attention
from .blind import alias, candidates, material
from .entrance import Entrance
from .faults import fault_of
from .log import ADJUDICATED, NAME, RESERVED, Log, named
from .sampling import Draw, Entry, draw, share
from .training import Training

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
)
PROTOCOL = ("reason_for", "source_for", "closing")  # only if raters follow the protocol
SAID = ("type", "spans", "reason", "refused", "source")  # the parts of a label beside its value
LATER = "it was put off once already; label it, or press u (can't decide) or w (the item is faulty)"


@dataclass(frozen=True)
class Rules:
    """By which rules a rater labels.

    protocol: follow the protocol of the task's study, with consent and training first and attention
    checks between the items. all_reasons: ask for a reason whatever the value.
    """

    protocol: bool = False
    all_reasons: bool = False


def all_reasons(task: Task) -> Task:
    """A task that asks for a reason whatever the value."""
    return replace(task, reason_for=task.values)


def grouped(**settings: Any) -> dict[str, Any]:
    """A Session's keywords, with Draw and Rules, from single settings as notebooks have them."""
    made = {
        name: kind(**{f.name: settings.pop(f.name) for f in fields(kind) if f.name in settings})
        for name, kind in {"drawing": Draw, "rules": Rules}.items()
    }
    return dict(**settings, **made)  # TypeError if one is given as a whole, too


class Session:
    """A rater's way through a sample; it resumes where the log stopped.

    `shown()` is the item on screen; `label(...)`, `back()` and `skip()` lead on from it, `read()`
    after a training item, and `enter(...)` from the page before the first one.

    rows: from `annotation.rows(document)`. group: "expert", "layperson" or another word. drawing,
    rules: by default `Draw()` and `Rules()`. folder: of the logs, by default
    data/external/annotations. opinions: for ADJUDICATED, the raters' labels, {row id: [{value,
    type, spans, reason, refused, source}]}; all those rows are then shown. `queue` holds the
    entries in the order of labelling, `at` the place of the item on screen.
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
        drawing, rules = drawing or Draw(), rules or Rules()
        self.task = tasks()[choose(task, tasks(), "task")]
        if rules.all_reasons:
            self.task = all_reasons(self.task)
        self.log, self.group = Log(folder, task, rater), str(group).strip()
        self.opinions, self.protocol, self.seed = opinions, rules.protocol, drawing.seed
        self.rules = rules
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
        if self.protocol and opinions is None:
            self.queue = attention.mixed(self.queue, self.task, self.log.rater, self.seed)
        self.drawn = {"seed": self.seed, "size": drawing.size}
        self.drawn |= {"n": len(found), "of": len(self.queue)}
        self._sha = {e.row["id"]: digest(material(e.row, self.task)) for e in self.queue}
        self._training = Training(self.task, self.log) if self.protocol else None
        self._entrance = Entrance(self.task, self.log, self.group) if self.protocol else None
        self._later = set()  # what was put off
        self.at = 0
        self._read()
        self._next()

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

    def _read(self):
        """Read all labels on disk, including those from other windows."""
        self._labels = self.log.both()

    def given(self, entry):
        """The record of an entry, or None; a record for a different text doesn't count."""
        record = self._labels[entry.repetition].get(alias(entry.row["id"]))
        return record if record and record["text_sha256"] == self._sha[entry.row["id"]] else None

    def _next(self):
        """Go to the next item without a label, or else to the first one."""
        places = [*range(self.at, len(self.queue)), *range(self.at)]
        self.at = next((i for i in places if not self.given(self.queue[i])), len(self.queue))

    @property
    def entrance(self):
        """The page before the first item, as `Entrance`, or None once the rater has agreed."""
        return self._entrance if self._entrance and not self._entrance.passed else None

    @property
    def training(self):
        """The training items that are left, as `Training`, or None."""
        return self._training if self._training and self._training.left else None

    @property
    def done(self):
        """Whether there is nothing on screen to label."""
        return not (self.entrance or self.training) and self.at == len(self.queue)

    @property
    def progress(self):
        """(number of items labelled or refused, number of items)."""
        return sum(self.given(e) is not None for e in self.queue), len(self.queue)

    @property
    def refused(self):
        """How many of the queue were refused."""
        return sum(bool((self.given(e) or {"refused": ""})["refused"]) for e in self.queue)

    @property
    def about(self):
        """The task for the front-end: a dict of its ABOUT and PROTOCOL fields, and the rater."""
        about = {name: getattr(self.task, name) for name in ABOUT}
        plain = {"reason_for": (), "source_for": (), "closing": ""}
        about |= {k: getattr(self.task, k) for k in PROTOCOL} if self.protocol else plain
        return about | {"rater": self.log.rater}

    def shown(self):
        """The item on screen, for the front-end: a dict.

        It has place, handled, refused, of, where, what `item` gives, and earlier (the rater's own
        label), and nothing else of the row. A training item has its name in
        `training`, and `feedback` once it is answered. When everything is labelled, `place` is None
        and `where` names the file. Before consent there is only the page in `entrance`.
        """
        handled, of = self.progress
        made = {"handled": handled, "of": of, "refused": self.refused}
        made |= {
            "where": paths.rel(self.log.path),
            "training": "",
            "feedback": None,
            "opinions": [],
            "cut": False,
            "entrance": None,
        }
        if self.entrance:
            return made | {"place": "entrance", "entrance": self.entrance.shown()}
        if self.training:
            return made | self.training.shown()
        if self.done:
            return made | {"place": None}
        entry = self.queue[self.at]
        earlier = self.given(entry)
        if earlier:
            values = self._values(earlier["value"]) if not earlier["refused"] else []
            earlier = {k: earlier[k] for k in SAID} | {"values": values}
        return made | {"place": self.at} | self.item(entry) | {"earlier": earlier}

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

    def _values(self, value):
        """The single values of a label's value."""
        if not isinstance(value, str):
            return list(value)
        return [v for v in value.split(JOINED) if v] if self.task.several else [value]

    def label(self, value, type="", spans=(), reason="", seconds=0.0, *, refused="", source=""):
        """Label or refuse the item on screen and go on. Returns "", or the fault in words.

        value: one of the task's values, a list of them for `several`, empty for a refusal. type:
        for a task with further labels, those that hold, as a list or joined. refused: undecided or
        faulty. After a fault nothing is recorded and the item stays; otherwise the next item
        without a label is shown. A training item stays until `read()`.
        """
        if self.done:
            return "everything is labelled; go back to correct a label"
        if self.entrance:
            return "nothing is labelled without your consent"
        if self.training and self.training.feedback:
            return "read the feedback first, then go on"
        row = self.training.left[0] if self.training else self.queue[self.at].row
        try:
            values = sorted(set(self._values(value))) if value or not refused else []
            type = JOINED.join(dict.fromkeys([type] if isinstance(type, str) else type))
            spans = [spans] if isinstance(spans, str) else spans
            spans = list(dict.fromkeys(s.strip() for s in map(clean, spans) if s.strip()))
            reason, source = clean(reason).strip(), clean(source).strip()
            seconds = round(float(seconds), 3)
        except (TypeError, ValueError):
            return "the label can't be read: value, spans and reason are text, seconds a number"
        said = {"type": type, "spans": spans, "reason": reason, "refused": refused}
        said |= {"source": source}
        answer = material(row | {"blocks": []}, self.task)["answer"]["text"]
        if fault := fault_of(self.task, values, said, seconds, answer, self.protocol):
            return fault
        said = {"value": JOINED.join(values)} | said
        if self.training:
            self.training.answer(said, values)
            return ""
        try:
            self.log.append(self._record(self.queue[self.at], said, seconds))
            self._read()
        except BedsideError as e:
            return str(e)
        self._next()
        return ""

    def enter(self, agreed, answers):
        """Go on from the page before the first item. Returns "", or the fault in words.

        agreed: True for consent. answers: to the questions about the rater, {name: answer}.
        """
        try:
            return self.entrance.enter(agreed, answers) if self.entrance else ""
        except OSError as e:
            return f"{paths.rel(self.entrance.path)} could not be written ({e.strerror})"

    def read(self):
        """Go on from the feedback of a training item. Returns "", or the fault in words."""
        if self.training and self.training.feedback:
            try:
                self.training.read()
            except OSError as e:
                return f"{paths.rel(self.training.path)} could not be written ({e.strerror})"
        return ""

    def _record(self, entry, said, seconds):
        """A label as the log has it: FIELDS in their order."""
        row = entry.row
        return {
            "id": alias(row["id"]),
            **{k: row[k] for k in ("paper", "item")},
            "task": self.task.name,
            "rater": self.log.rater,
            "group": self.group,
            **said,
            "seconds": seconds,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "check": entry.repetition,
            "sample": self.drawn,
            "text_sha256": self._sha[row["id"]],
        }

    def back(self):
        """Go to the item before this one; a new label for it takes the place of the old."""
        if not (self.entrance or self.training):
            self.at = max(self.at - 1, 0)

    def skip(self):
        """Put an item off to the end, once, recording nothing; leave a labelled one where it is.

        Returns "", or a message that it can't be put off again.
        """
        if self.done or self.entrance or self.training:
            return ""
        entry = self.queue[self.at]
        if not self.given(entry):
            if (entry.row["id"], entry.repetition) in self._later:
                return LATER
            self._later.add((entry.row["id"], entry.repetition))
            del self.queue[self.at]
            for i, later in enumerate(self.queue):
                same = later.row["id"] == entry.row["id"] and later.repetition
                if same and not entry.repetition and not self.given(later):
                    self.queue[i], entry = entry, later  # it comes first now, and so is what counts
            self.queue.append(entry)
        self._next()
        return ""


def assigned(raters, batches):
    """{rater: batch} of raters dealt to batches from 1, by their names alone.

    Raises BedsideError unless each batch gets the same number of raters.
    """
    names = members(raters)
    if batches < 1 or not names or len(names) % batches:
        raise BedsideError(
            f"batches is {batches} for {len(names)} raters; give a number of batches by which the"
            " raters can be divided, 10 for example for 30 raters"
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
