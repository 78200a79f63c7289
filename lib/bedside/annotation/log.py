"""Labels on disk, <task>/<rater>.jsonl: a line for each label or refusal, of which later ones win.

Several processes may append at once. A line that can't be read stays in the file and is named.
"""

import json
import re
import unicodedata
from pathlib import Path
from typing import TypedDict

from filelock import lock_descriptor

from bedside import BedsideError
from bedside.asking import store
from bedside.read import outside, paths

from .blind import alias

FOLDER = paths.EXTERNAL / "annotations"
# Its first and last characters are such that no file system sees a path or a hidden file.
NAME = re.compile(r"\w(?:[\w .-]{0,38}[\w-])?")
ADJUDICATED = "adjudicated"  # the name under which disagreements are settled
RESERVED = f"{ADJUDICATED!r} is reserved for settling disagreements. Choose another name."
REFUSALS = {"undecided": "can't decide", "faulty": "item faulty"}


class Record(TypedDict):
    """A label. id: the row's alias. refused: empty or one of REFUSALS. check: of a repetition.

    sample: seed; size asked for; n, the rows drawn from; of, the length of this rater's queue.
    text_sha256: of the text that was shown.
    """

    id: str
    paper: str
    item: str
    task: str
    rater: str
    group: str
    value: str
    type: str
    spans: list[str]
    reason: str
    refused: str
    source: str
    seconds: float
    at: str
    check: bool
    sample: dict
    text_sha256: str


def named(rater: str) -> str:
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


def append(path: Path, lines: list[dict]) -> None:
    """Add lines to a file; they are on disk when it returns. BedsideError leaves it unchanged."""
    if not lines:
        return
    try:
        store.append(path, [json.dumps(x, allow_nan=False).encode() + b"\n" for x in lines])
    except OSError as e:
        raise paths.unwritable(path, e) from e


def read(path: Path) -> tuple[list[Record], dict[str, str]]:
    """(records of a file in order, {"file, line n": why it can't be read}); none without a file."""
    try:
        with open(path, "rb") as f:
            lock_descriptor(f.fileno())  # else a line might be read half written
            lines = f.read().split(b"\n")
    except FileNotFoundError:
        return [], {}
    except OSError as e:
        raise BedsideError(f"{paths.rel(path)}: labels can't be read ({paths.why(e)}") from e
    records, damaged = [], {}
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                given = {"refused": "", "source": ""} | outside.parsed(line)  # old files lack them
                record = outside.fitted(given, Record)
                records.append(record | {"id": alias(record["id"])})  # old files name the row
        except (ValueError, TypeError):
            damaged[f"{paths.rel(path)}, line {number}"] = "not a label, or cut off"
    return records, damaged


def last(path: Path) -> dict[tuple[str, bool], Record]:
    """The records of a file that count: {(alias, whether a repetition): record}."""
    return {(r["id"], r["check"]): r for r in read(path)[0]}
