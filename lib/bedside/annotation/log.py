"""Labels on disk: a file for each task and rater, to which lines are only added."""

import json
import re
import unicodedata
from pathlib import Path

from bedside import BedsideError, choose, locks, paths
from bedside.rows import tasks
from bedside.store import append

FOLDER = paths.EXTERNAL / "annotations"
# Begins and ends so that no file system finds a path or a hidden file.
NAME = re.compile(r"\w(?:[\w .-]{0,38}[\w-])?")
# Of a record. check: whether it is of a repetition, as the files have called it from the first on.
# sample: the seed, the size asked for and n, the rows drawn from. text_sha256: of what was seen.
FIELDS = (
    *("id", "paper", "item", "task", "rater", "group", "value", "type", "spans", "reason"),
    *("seconds", "at", "check", "sample", "text_sha256"),
)
WAY_OUT = "free the disk or fix its permissions, then save again: what is recorded is kept"


class Log:
    """One rater's labels for one task, <folder>/<task>/<rater>.jsonl: a line each, later ones win.

    Several processes may append at once. A line that can't be read is left in the file and named in
    `damaged`.
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
        """Write one record and return once it is on disk.

        BedsideError if that can't be; the file is then as it was.
        """
        try:
            append(self.path, [json.dumps(record, allow_nan=False).encode() + b"\n"])
        except OSError as e:
            raise BedsideError(
                f"{paths.rel(self.path)}: the label could not be written ({e.strerror}); {WAY_OUT}"
            ) from e

    def both(self):
        """First labels and those of repetitions, {repetition: {id: record}}; later lines win."""
        records, damaged = read(self.path)
        self.damaged |= damaged
        return {
            again: {r["id"]: r for r in records if r["check"] == again} for again in (False, True)
        }

    def labels(self, repetition=False):
        """{id: record}, later lines winning; with `repetition` those of the repetitions instead."""
        return self.both()[repetition]


def read(path):
    """The records of a file of labels in order, and what can't be read: {"file, line n": why}.

    A file that isn't there has no records.
    """
    try:
        with open(path, "rb") as f:
            locks.lock(f, shared=True)  # or a line might be read half written
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
