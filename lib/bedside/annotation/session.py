"""A rater's way through a sample: what is on screen, which labels are taken, where it goes on."""

import math
from datetime import UTC, datetime

from bedside import BedsideError, choose, paths
from bedside.prompts import clean
from bedside.rows import tasks
from bedside.store import digest

from .blind import candidates, material
from .log import NAME, Log
from .sampling import draw

JOINED = "; "  # between the values of a task in which several hold
# What the page gets of a task: not what chooses rows and blocks, or becomes of labels.
ABOUT = ("name", "title", "question", "guide", "choices", "types", "spans_for", "several")


class Session:
    """A rater's way through a sample; it resumes where the log stopped.

    `shown()` is the item on screen; `label(...)`, `back()` and `skip()` lead on from it.

    rows: of `annotation.rows(document)`. group: "expert", "layperson" or another word. size, seed,
    repetitions: of `sample`. folder: where logs are, data/external/annotations if none. `queue`
    holds the sample's entries in the order of labelling, `at` the place of the item on screen.
    """

    def __init__(self, rows, task, rater, group="", size=30, seed=0, repetitions=0.1, folder=None):
        self.task = tasks()[choose(task, tasks(), "task")]
        self.log, self.group = Log(folder, task, rater), str(group).strip()
        if self.group and not NAME.fullmatch(self.group):
            raise BedsideError(
                f"group {group!r}: write expert, layperson or another word of up to 40 letters and"
                " digits"
            )
        found = candidates(rows, self.task)
        self.queue = draw(found, size, seed, repetitions=repetitions)
        if not self.queue:
            raise BedsideError(
                f"the document has no replies for the task {task!r}: it needs rows of"
                f" {self.task.paper}; run that paper's notebooks first, or choose another task"
            )
        self.drawn = {"seed": seed, "size": size, "n": len(found)}
        self._sha = {e.row["id"]: digest(material(e.row, self.task)) for e in self.queue}
        self.at = 0
        self._read()
        self._next()

    def _read(self):
        """See what is on disk, other windows' labels too."""
        self._labels = self.log.both()

    def _given(self, entry):
        """The label of an entry, or None; one for another text under the same id doesn't count."""
        record = self._labels[entry.repetition].get(entry.row["id"])
        return record if record and record["text_sha256"] == self._sha[entry.row["id"]] else None

    def _next(self):
        """Go to the first item without a label, after this one if there is any."""
        places = [*range(self.at, len(self.queue)), *range(self.at)]
        self.at = next((i for i in places if not self._given(self.queue[i])), len(self.queue))

    @property
    def done(self):
        """Whether there is nothing on screen to label."""
        return self.at == len(self.queue)

    @property
    def progress(self):
        """(labelled, of)"""
        return sum(self._given(e) is not None for e in self.queue), len(self.queue)

    @property
    def about(self):
        """The task for the front-end: a dict of its ABOUT, and the rater."""
        return {name: getattr(self.task, name) for name in ABOUT} | {"rater": self.log.rater}

    def shown(self):
        """The item on screen, for the front-end: a dict.

        It has place, labelled, of, where, the row's `material` and earlier (one's own label).
        Nothing else of the row is in it. When all is labelled: `place` is None and `where` names
        the file.
        """
        labelled, of = self.progress
        place = None if self.done else self.at
        made = {"place": place, "labelled": labelled, "of": of, "where": paths.rel(self.log.path)}
        if self.done:
            return made
        entry = self.queue[self.at]
        earlier = self._given(entry)
        if earlier:
            values = self._values(earlier["value"])
            earlier = {k: earlier[k] for k in ("type", "spans", "reason")} | {"values": values}
        return made | material(entry.row, self.task) | {"earlier": earlier}

    def _values(self, value):
        """The single values of a label's value."""
        if not isinstance(value, str):
            return list(value)
        return [v for v in value.split(JOINED) if v] if self.task.several else [value]

    def label(self, value, type="", spans=(), reason="", seconds=0.0):
        """Label the item on screen and go on. Returns "", or what is wrong in words.

        value: one of the task's, for `several` a list of them. If something is wrong, or can't be
        written, nothing is recorded and the item stays; else the next one without a label comes on
        screen.
        """
        if self.done:
            return "everything is labelled; go back to correct a label"
        entry = self.queue[self.at]
        try:
            values = sorted(set(self._values(value)))
            spans = [spans] if isinstance(spans, str) else spans
            spans = list(dict.fromkeys(s.strip() for s in map(clean, spans) if s.strip()))
            reason, seconds = clean(reason).strip(), round(float(seconds), 3)
        except (TypeError, ValueError):
            return "the label can't be read: value, spans and reason are text, seconds a number"
        answer = material(entry.row, self.task)["answer"]["text"]
        if fault := _fault(self.task, values, type, spans, seconds, answer):
            return fault
        said = {"value": JOINED.join(values), "type": type, "spans": spans, "reason": reason}
        try:
            self.log.append(self._record(entry, said, seconds))
            self._read()
        except BedsideError as e:
            return str(e)
        self._next()
        return ""

    def _record(self, entry, said, seconds):
        """A label as the log has it: FIELDS in their order."""
        row = entry.row
        return {
            **{k: row[k] for k in ("id", "paper", "item")},
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
        self.at = max(self.at - 1, 0)

    def skip(self):
        """Leave an item for the end, recording nothing; a labelled one is only left."""
        if self.done:
            return
        entry = self.queue[self.at]
        if not self._given(entry):
            del self.queue[self.at]
            for i, later in enumerate(self.queue):
                same = later.row is entry.row and later.repetition and not entry.repetition
                if same and not self._given(later):  # it now comes first, and so is what counts
                    self.queue[i], entry = entry, later
            self.queue.append(entry)
        self._next()


def _fault(task, values, type, spans, seconds, answer):
    """What is wrong with a label in words, or nothing."""
    choices, types = (
        ", ".join(f"{value} (key {key})" for key, value, _ in given)
        for given in (task.choices, task.types)
    )
    if not 0 <= seconds < math.inf:
        return f"seconds are {seconds}: give a number from 0"
    if unknown := [v for v in values if v not in task.values]:
        return f"{unknown[0]!r} is not a choice; choices are {choices}"
    if not task.several and len(values) != 1:
        return f"choose one of {choices}"
    if not task.spans_for or values != [task.spans_for]:
        said = f"with {values[0]!r}" if task.spans_for else "in this task"
        return f"{said} there is no type and no span: remove them" if type or spans else ""
    if type not in [value for _, value, _ in task.types]:
        return f"{task.spans_for!r} needs a type: {types}"
    if not spans:
        return (
            f"{task.spans_for!r} needs at least one span: select words in the answer, then press s"
        )
    missing = [s for s in spans if " ".join(s.split()) not in " ".join(answer.split())]
    return f"the span {missing[0]!r} is not in the answer; select it there" if missing else ""
