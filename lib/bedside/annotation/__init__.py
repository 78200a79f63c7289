"""Blind annotation: a rater labels replies without seeing whose they are; each label is on disk before the next item comes.

In a notebook, with a document of judged items:

    session = annotation.Session(annotation.rows(document), "presupposition", "Ann", group="expert", size=30)
    annotation.widget(session)

Labels go to data/external/annotations/<task>/<rater>.jsonl. Running the cells again resumes where the file stops.
"""

import fcntl
import json
import math
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from bedside import BedsideError, choose, paths
from bedside.prompts import clean
from bedside.rows import tasks
from bedside.store import append, digest

FOLDER = paths.EXTERNAL / "annotations"
STRATA = ("section", "model", "category", "configuration")
APART = 5  # other items between an item and its repetition, if the sample is long enough
NAME = re.compile(
    r"\w(?:[\w .-]{0,38}[\w-])?"
)  # begins and ends so that no file system finds a path or a hidden file
SEEN = (
    "name",
    "title",
    "question",
    "guide",
    "choices",
    "types",
    "spans_for",
    "several",
)  # of a task
JOINED = "; "  # between the values of a task in which several hold
FIELDS = (
    "id",
    "paper",
    "item",
    "task",
    "rater",
    "group",
    "value",
    "type",
    "spans",
    "reason",
    "seconds",
    "at",
    "check",
    "sample",
    "text_sha256",
)  # of a record; `sample` is the seed, the size asked for and n, the rows that it was drawn from
WAY_OUT = "free the disk or fix its permissions, then save again: what is recorded is kept"


# ---- what a rater sees


def rows(document):
    """A document's rows with their shared blocks in place of the blocks' keys, as `sample` and `Session` take them."""
    return [
        {**row, "shared": [block for key in row["shared"] for block in document["shared"][key]]}
        for row in document["rows"]
    ]


def _bare(block):
    """A block without marks and notes: these say what scripts prescribe and judges found."""
    made = {"kind": block["kind"], "label": clean(block["label"])}
    if block["kind"] == "text":
        return {**made, "text": clean(block["text"])}
    if block["kind"] == "list":
        return {**made, "entries": [clean(e) for e in block["entries"]]}
    return {
        **made,
        "turns": [
            {"who": clean(t["who"]), "text": clean("".join(text for text, _ in t["pieces"]))}
            for t in block["turns"]
        ],
    }


def material(row, task):
    """What a rater sees of a row: {"before": blocks, "answer": {"label", "text"}, "after": blocks}, nothing else of it."""

    def seen(blocks):
        return [_bare(b) for b in blocks if b["label"] in task.shows]

    return {
        "before": seen(row["shared"]),
        "answer": {"label": task.reply, "text": clean(row["reply"])},
        "after": seen(row["blocks"]),
    }


def candidates(rows, task):
    """The rows that a task can ask about, ordered by id: those with a reply, and of those that look alike the first."""
    found = {}
    for row in sorted(rows, key=lambda row: row["id"]):
        if any(isinstance(block, str) for block in row["shared"]):
            raise BedsideError(
                f"row {row['id']!r} names its shared blocks only: give annotation.rows(document)"
            )
        if task.takes(row) and row["reply_status"] == "":
            found.setdefault(digest(material(row, task)), row)
    return list(found.values())


# ---- which rows


class Entry(NamedTuple):
    """A place in a sample: a row, and whether it is there for the second time."""

    row: dict
    check: bool


def _shares(counts, size):
    """How many of each stratum are drawn: proportional by largest remainder, at least one each if `size` allows.

    counts: rows of each stratum, in the order in which ties are broken. Returns a list of the same length.
    """
    drawn = [0] * len(counts)
    open_, left = list(range(len(counts))), size
    total = sum(counts)
    while len(counts) <= size and (small := [i for i in open_ if left * counts[i] < total]):
        for i in small:  # its share would be less than one
            drawn[i] = 1
        open_ = [i for i in open_ if not drawn[i]]
        left, total = size - sum(drawn), sum(counts[i] for i in open_)
    for i in open_:
        drawn[i] = left * counts[i] // total
    rest = size - sum(drawn)
    for i in sorted(open_, key=lambda i: -(left * counts[i] % total))[:rest]:
        drawn[i] += 1
    return drawn


def sample(rows, task, size, seed, strata=STRATA, checks=0.0):
    """Draw `size` of a task's rows (0: all) in random order: a list of Entry, the same for the same rows and seed.

    Strata are represented by their share, each at least once if `size` allows. checks: so many repetitions for each row
    drawn are put in, at random places after the first, with `check` set; they come on top of `size`.
    """
    return _drawn(candidates(rows, task), size, seed, strata, checks)


def _drawn(found, size, seed, strata, checks):
    """A sample of candidates."""
    import numpy as np

    if size < 0 or not 0 <= checks <= 0.5:
        raise BedsideError(
            f"size is {size} and checks {checks}; give a size from 1 on (0: all) and checks from 0"
            " to 0.5"
        )
    rng = np.random.default_rng(seed)
    parts = {}
    for row in found:
        parts.setdefault(tuple(row[s] for s in strata), []).append(row)
    parts = [
        list(parts.values())[i] for i in rng.permutation(len(parts))
    ]  # so that ties are drawn by lot
    n = sum(map(len, parts))
    size = min(size or n, n)
    drawn = [
        part[i]
        for part, k in zip(parts, _shares([len(p) for p in parts], size))
        for i in rng.choice(len(part), k, replace=False)
    ]
    places = [(i, Entry(drawn[j], False)) for i, j in enumerate(rng.permutation(size))]
    apart = min(APART, size // 2)
    k = min(max(1, round(checks * size)), size - apart) if checks and size > 1 else 0
    for i in rng.choice(size - apart, k, replace=False) if k else ():
        places.append(
            (int(rng.integers(i + apart + 1, size + 1)) - 0.5, Entry(places[i][1].row, True))
        )
    return [entry for _, entry in sorted(places, key=lambda place: place[0])]


def coverage(rows, task, drawn, strata=STRATA):
    """How many rows of each stratum there are and were drawn: a frame of `strata`, rows, drawn. drawn: a sample."""
    import pandas as pd

    def count(found):
        return pd.DataFrame(
            [[row[s] for s in strata] for row in found], columns=list(strata)
        ).value_counts()

    frame = pd.DataFrame(
        {
            "rows": count(candidates(rows, task)),
            "drawn": count([e.row for e in drawn if not e.check]),
        }
    )
    return frame.fillna(0).astype(int).sort_index().reset_index()


# ---- labels on disk


class Log:
    """One rater's labels for one task: <folder>/<task>/<rater>.jsonl, a label a line, later lines win.

    Several processes may append at once. A line that can't be read is left in the file and named in `damaged`.
    """

    def __init__(self, folder, task, rater):
        self.rater = unicodedata.normalize("NFC", str(rater).strip())
        if not NAME.fullmatch(self.rater):
            raise BedsideError(
                f"rater {rater!r}: give a name or number of 1 to 40 letters, digits, spaces and . _"
                " - that begins with a letter or digit, for example 'reader 1'"
            )
        self.path = Path(folder or FOLDER) / choose(task, tasks(), "task") / f"{self.rater}.jsonl"
        self.damaged = {}  # "file, line n" -> why

    def append(self, record):
        """Write one record and return once it is on disk. Raises BedsideError, the file unchanged, if that can't be."""
        try:
            append(self.path, [json.dumps(record, allow_nan=False).encode() + b"\n"])
        except OSError as e:
            raise BedsideError(
                f"{paths.rel(self.path)}: the label could not be written ({e.strerror}); {WAY_OUT}"
            ) from e

    def both(self):
        """Labels and labels of the repetitions, as {check: {id: record}}, later lines winning."""
        records, damaged = read(self.path)
        self.damaged |= damaged
        return {
            check: {r["id"]: r for r in records if r["check"] == check} for check in (False, True)
        }

    def labels(self, check=False):
        """{id: record}, later lines winning; with `check` those of the repetitions instead."""
        return self.both()[check]


def read(path):
    """The records of a file of labels in order, and what can't be read in it: {"file, line n": why}. No file, no records."""
    try:
        with open(path, "rb") as f:
            fcntl.flock(f, fcntl.LOCK_SH)  # or a line might be read half written
            lines = f.read().split(b"\n")
    except FileNotFoundError:
        return [], {}
    except OSError as e:
        raise BedsideError(
            f"{paths.rel(path)}: labels can't be read ({e.strerror}); fix its permissions"
        ) from e
    records, damaged = [], {}
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                record = json.loads(line)
                records.append({k: record[k] for k in FIELDS})
        except (ValueError, TypeError, KeyError):
            damaged[f"{paths.rel(path)}, line {number}"] = "not a label, or cut off"
    return records, damaged


# ---- a session


class Session:
    """A rater's way through a sample: `shown()`, `label(...)`, `back()`, `skip()`; it resumes where the log stopped.

    rows: of `rows(document)`. group: "expert", "layperson" or another word. size, seed, checks: of `sample`. folder: where
    logs are, data/external/annotations if none. `queue` holds the sample's entries in the order of labelling.
    """

    def __init__(self, rows, task, rater, group="", size=30, seed=0, checks=0.1, folder=None):
        self.task = tasks()[choose(task, tasks(), "task")]
        self.log, self.group = Log(folder, task, rater), str(group).strip()
        if self.group and not NAME.fullmatch(self.group):
            raise BedsideError(
                f"group {group!r}: write expert, layperson or another word of up to 40 letters and"
                " digits"
            )
        found = candidates(rows, self.task)
        self.queue = _drawn(found, size, seed, STRATA, checks)
        if not self.queue:
            papers = self.task.paper
            raise BedsideError(
                f"the document has no replies for the task {task!r}: it needs rows of {papers}; "
                "run that paper's notebooks first, or choose another task"
            )
        self.drawn = {"seed": seed, "size": size, "n": len(found)}
        self._sha = {e.row["id"]: digest(material(e.row, self.task)) for e in self.queue}
        self.at = 0
        self._read()
        self._next()

    def _read(self):
        """See what is on disk, other windows' labels too."""
        self._labels = self.log.both()

    def _record(self, entry):
        """The label of an entry, or None; one for another text under the same id doesn't count."""
        record = self._labels[entry.check].get(entry.row["id"])
        return record if record and record["text_sha256"] == self._sha[entry.row["id"]] else None

    def _next(self):
        """Go to the first item without a label, after this one if there is any."""
        self.at = next(
            (
                i
                for i in [*range(self.at, len(self.queue)), *range(self.at)]
                if not self._record(self.queue[i])
            ),
            len(self.queue),
        )

    @property
    def done(self):
        """Whether there is nothing on screen to label."""
        return self.at == len(self.queue)

    @property
    def progress(self):
        """(labelled, of)"""
        return sum(self._record(e) is not None for e in self.queue), len(self.queue)

    @property
    def about(self):
        """The task for the front-end: a dict of its fields but for those that choose rows and blocks."""
        made = {k: getattr(self.task, k) for k in SEEN}
        return made | {"rater": self.log.rater}

    def shown(self):
        """What is on screen, for the front-end: place, labelled, of, where, the row's `material`, `earlier` (one's own label).

        Nothing else of the row is in it. When all is labelled: `place` is None and `where` names the file.
        """
        labelled, of = self.progress
        made = {
            "place": None if self.done else self.at,
            "labelled": labelled,
            "of": of,
            "where": paths.rel(self.log.path),
        }
        if self.done:
            return made
        record = self._record(self.queue[self.at])
        earlier = record and {k: record[k] for k in ("type", "spans", "reason")} | {
            "values": self._values(record["value"])
        }
        return made | material(self.queue[self.at].row, self.task) | {"earlier": earlier}

    def _values(self, value):
        """The single values of a label's value."""
        if not isinstance(value, str):
            return list(value)
        return [v for v in value.split(JOINED) if v] if self.task.several else [value]

    def _fault(self, values, type, spans, seconds, answer):
        """What is wrong with a label in words, or nothing."""
        task = self.task
        listed = {
            name: ", ".join(f"{value} (key {key})" for key, value, _ in given)
            for name, given in (("values", task.choices), ("types", task.types))
        }
        if not 0 <= seconds < math.inf:
            return f"seconds are {seconds}: give a number from 0"
        if unknown := [v for v in values if v not in task.values]:
            return f"{unknown[0]!r} is not a choice; choices are {listed['values']}"
        if not task.several and len(values) != 1:
            return f"choose one of {listed['values']}"
        if not task.spans_for or values != [task.spans_for]:
            said = f"with {values[0]!r}" if task.spans_for else "in this task"
            return f"{said} there is no type and no span: remove them" if type or spans else ""
        if type not in [value for _, value, _ in task.types]:
            return f"{task.spans_for!r} needs a type: {listed['types']}"
        if not spans:
            return (
                f"{task.spans_for!r} needs at least one span: select words in the answer, then press s"
            )
        missing = [s for s in spans if " ".join(s.split()) not in " ".join(answer.split())]
        return f"the span {missing[0]!r} is not in the answer; select it there" if missing else ""

    def label(self, value, type="", spans=(), reason="", seconds=0.0):
        """Write down a label for the item on screen and go on to the next without one. Returns "", or what is wrong in words.

        value: one of the task's, for `several` a list of them. If something is wrong, or can't be written, nothing is
        recorded and the item stays.
        """
        if self.done:
            return "everything is labelled; go back to correct a label"
        entry = self.queue[self.at]
        try:
            values = sorted(set(self._values(value)))
            spans = [spans] if isinstance(spans, str) else spans
            spans, reason = (
                list(dict.fromkeys(s.strip() for s in map(clean, spans) if s.strip())),
                clean(reason).strip(),
            )
            seconds = round(float(seconds), 3)
        except (TypeError, ValueError):
            return "the label can't be read: value, spans and reason are text, seconds a number"
        if fault := self._fault(
            values, type, spans, seconds, material(entry.row, self.task)["answer"]["text"]
        ):
            return fault
        row, now = entry.row, datetime.now(UTC).isoformat(timespec="seconds")
        record = dict(
            zip(
                FIELDS,
                (
                    row["id"],
                    row["paper"],
                    row["item"],
                    self.task.name,
                    self.log.rater,
                    self.group,
                    JOINED.join(values),
                    type,
                    spans,
                    reason,
                    seconds,
                    now,
                    entry.check,
                    self.drawn,
                    self._sha[row["id"]],
                ),
                strict=True,
            )
        )
        try:
            self.log.append(record)
            self._read()
        except BedsideError as e:
            return str(e)
        self._next()
        return ""

    def back(self):
        """Go to the item before this one; a new label for it takes the place of the old."""
        self.at = max(self.at - 1, 0)

    def skip(self):
        """Leave an item for the end, recording nothing; one that has a label already is only left."""
        if self.done:
            return
        if not self._record(entry := self.queue[self.at]):
            del self.queue[self.at]
            for i, e in enumerate(
                self.queue
            ):  # the repetition now comes first, and so is the one that counts
                if e.row is entry.row and e.check and not entry.check and not self._record(e):
                    self.queue[i], entry = Entry(e.row, False), Entry(e.row, True)
            self.queue.append(entry)
        self._next()


def widget(session):
    """The session as a widget for JupyterLab (anywidget); the page gets `about`, `shown()` and what came of its last message."""
    import anywidget
    import traitlets

    class Annotation(anywidget.AnyWidget):
        _esm = Path(__file__).with_suffix(".js")
        _css = Path(__file__).with_suffix(".css")
        about = traitlets.Dict().tag(sync=True)
        shown = traitlets.Dict().tag(sync=True)

        def take(self, _, message, buffers):
            """Do what the page asks ({"do": "label", "back" or "skip", "place": the shown one, ...}); answer by `shown`."""
            fault, saved = "", ""
            if message.get("place") != self.shown["place"]:
                fault = (  # a key pressed twice
                    "the item had changed meanwhile: nothing was saved for the new one"
                )
            elif message["do"] == "label":
                again = bool(self.shown.get("earlier"))
                fault = session.label(
                    *(message[k] for k in ("values", "type", "spans", "reason", "seconds"))
                )
                saved = "" if fault else "saved again" if again else f"saved {session.progress[0]}"
            elif message["do"] == "back":
                session.back()
            else:
                session.skip()
            self.shown = session.shown() | {
                "fault": fault,
                "saved": saved,
                "turn": self.shown["turn"] + 1,
            }

    made = Annotation(
        about=session.about, shown=session.shown() | {"fault": "", "saved": "", "turn": 0}
    )
    made.on_msg(made.take)
    return made
