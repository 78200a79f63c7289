"""Labels on disk: a file for each task and rater, to which lines are only added."""

import json
import re
import unicodedata
from pathlib import Path

from filelock import lock_descriptor

from bedside import BedsideError, choose
from bedside.annotation.labelling import tasks
from bedside.asking.store import append
from bedside.read import paths

from .blind import alias

FOLDER = paths.EXTERNAL / "annotations"
# Its first and last characters are such that no file system sees a path or a hidden file.
NAME = re.compile(r"\w(?:[\w .-]{0,38}[\w-])?")
ADJUDICATED = "adjudicated"  # the name under which disagreements are settled
# The fields of a record and their kinds. id: the row's alias. refused: "", "undecided" or
# "faulty". check: whether the label is of a repetition. sample: the seed; the size asked for; n,
# the number of rows drawn from; of, the length of this rater's queue. text_sha256: the hash of the
# text that was shown.
KINDS = dict.fromkeys(("id", "paper", "item", "task", "rater", "group", "value", "type"), str)
KINDS |= {"spans": list, "reason": str, "refused": str, "source": str, "seconds": (int, float)}
KINDS |= {"at": str, "check": bool, "sample": dict, "text_sha256": str}
FIELDS = tuple(KINDS)
ADDED = {"refused": "", "source": ""}  # fields that old files lack
RESERVED = f"{ADJUDICATED!r} is reserved for settling disagreements; take another name"
WAY_OUT = "free the disk or fix its permissions, then save again; saved labels are kept"


def named(rater):
    """A rater's name as files use it; BedsideError if it is not allowed."""
    name = unicodedata.normalize("NFC", str(rater).strip())
    if not NAME.fullmatch(name):
        raise BedsideError(
            f"rater {str(rater)!r}: give a name or number of 1 to 40 letters, digits, spaces and"
            " . _ - that begins with a letter or digit, for example 'reader 1'"
        )
    if name.casefold() == ADJUDICATED and name != ADJUDICATED:  # the same file on some disks
        raise BedsideError(f"rater {name!r}: {RESERVED}")
    return name


class Log:
    """One rater's labels for one task, <folder>/<task>/<rater>.jsonl: a line each, later ones win.

    Refusals are lines too. Rows are named by their alias, also when old files name them by id.

    Several processes may append at once. A line that can't be read stays in the file and is named
    in `damaged`.
    """

    def __init__(self, folder, task, rater):
        self.rater = named(rater)
        self.path = Path(folder or FOLDER) / choose(task, tasks(), "task") / f"{self.rater}.jsonl"
        self.damaged = {}  # "file, line n" -> why

    def append(self, record):
        """Write one record and return once it is on disk.

        Raises BedsideError if it can't be written; the file is then unchanged.
        """
        try:
            append(self.path, [json.dumps(record, allow_nan=False).encode() + b"\n"])
        except OSError as e:
            raise BedsideError(
                f"{paths.rel(self.path)}: the label could not be written ({e.strerror}); {WAY_OUT}"
            ) from e

    def both(self):
        """All records as {whether a repetition: {alias: record}}; later lines win."""
        records, damaged = read(self.path)
        self.damaged |= damaged
        return {
            again: {r["id"]: r for r in records if r["check"] == again} for again in (False, True)
        }

    def labels(self, repetition=False):
        """{alias: record} without refusals; with `repetition`, those of the repetitions."""
        return {id: r for id, r in self.both()[repetition].items() if not r["refused"]}


def read(path):
    """(records of a file of labels in order, {"file, line n": why it can't be read}).

    A missing file has no records.
    """
    try:
        with open(path, "rb") as f:
            lock_descriptor(f.fileno())  # else a line might be read half written
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
                records.append(_record(json.loads(line)))
        except (ValueError, TypeError, KeyError):
            damaged[f"{paths.rel(path)}, line {number}"] = "not a label, or cut off"
    return records, damaged


def _record(line):
    """A record with FIELDS, its row named by alias; TypeError or KeyError for anything else."""
    record = {k: (ADDED | line)[k] for k in FIELDS}
    if not all(isinstance(record[k], kind) for k, kind in KINDS.items()):
        raise TypeError
    return record | {"id": alias(record["id"])}
