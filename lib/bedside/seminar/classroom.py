"""What a class hands in: files with all checked answers of a sheet.

    write("cancer_myth", "1", entries, "Ann B")     # handed_in/1_ann-b_<student>_<time>.json
    students("handed_in")                           # who handed in, and files that can't be read

Nothing is sent anywhere, and no file is overwritten. A student is a pseudonym in one copy of the
project, so two who chose the same pseudonym stay apart. A student's files follow one another, and
the latest answer to each task counts.
"""

import contextlib
import hashlib
import itertools
import json
import re
import secrets
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from numbers import Real
from pathlib import Path
from typing import Any

import msgspec

from bedside import BedsideError, choose
from bedside.read import outside, paths, prompts

FOLDER = paths.ROOT / "handed_in"  # beside the editions' folder
LARGEST = 5_000_000  # bytes of a file that is read
LONGEST = 100_000  # bytes of an answer that are written
SESSION = secrets.token_hex(8)


# ---- for students


def plain(answer):
    """An answer as JSON can hold it, as it is now; for what JSON can't hold a text that says so."""
    with contextlib.suppress(Exception):  # one that holds itself, or can't be printed
        written = msgspec.json.encode(answer, enc_hook=_other)
        if len(written) <= LONGEST:
            return msgspec.json.decode(written)
    return f"an answer of type {type(answer).__name__} that can't be written down"


def _other(value):
    if value is ...:
        return None
    return float(value) if isinstance(value, Real) else repr(value)


def named(name):
    """A pseudonym on one line, without what can't be printed, 60 characters at most."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())[:60]


def _copy():
    """A random name of this copy of the project, which tells nobody whose pseudonym it is."""
    path = paths.CACHE / "copy"
    with contextlib.suppress(OSError, BedsideError):  # in a read-only folder it lasts one session
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            paths.write(path, SESSION)
        return path.read_text()
    return SESSION


def write(paper, number, entries, name, folder=None):
    """Write a hand-in as a file of its own and return its path; BedsideError if that fails.

    entries: {task: {"state", "said", "answer"}}. Of the pseudonym, the file's name has plain
    letters and digits only; a hash in it tells apart pseudonyms that are alike in these.
    """
    name, now = named(name), datetime.now().astimezone()
    student = hashlib.sha256(f"{_copy()} {Path.home()} {name}".encode()).hexdigest()[:10]
    letters = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    short = re.sub(r"[^a-z0-9]+", "-", letters)[:30].strip("-") or "student"
    folder = Path(folder or FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number}_{short}_{student}_{now:%Y%m%d-%H%M%S-%f}.json"
    made = {"sheet": paper, "time": now.isoformat(), "pseudonym": name, "student": student}
    paths.write(path, json.dumps(made | {"answers": entries}, indent=1), durable=True)
    return path


# ---- for instructors


@dataclass
class HandIn:
    """What a file must hold; what it says of its answers besides doesn't count."""

    sheet: str
    pseudonym: str
    answers: dict[str, dict[str, Any]]
    student: str = ""
    time: str = ""


@dataclass
class Student:
    """What one student handed in of one sheet."""

    sheet: str
    label: str  # the pseudonym, numbered where several chose the same
    answers: dict = field(default_factory=dict)  # {task: answer}
    files: list = field(default_factory=list)
    time: str = ""


def read(path, sheets):
    """A file as a HandIn; BedsideError says why it is none."""
    try:
        if path.stat().st_size > LARGEST:
            raise BedsideError("it is too large for a hand-in, which has a few kB")
        value = json.dumps(outside.parsed(path.read_text("utf-8-sig")), ensure_ascii=False)
        made = outside.fitted(json.loads(prompts.clean(value)), HandIn)
    except (OSError, ValueError, RecursionError) as e:
        raise BedsideError(f"it is not a whole hand-in: {prompts.plain(e)}") from None
    choose(made.sheet, sheets, "sheet")
    return made


def students(folder, sheets):
    """Who handed in, as Students by sheet and label, and {file: why} for what can't be read."""
    files, faults, labels, found = {}, {}, {}, {}
    for path in sorted(Path(folder).rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not re.search(r"(^|/)\.", name):
            try:
                files[name] = read(path, sheets)
            except BedsideError as e:
                faults[name] = str(e)
    for name, file in sorted(files.items(), key=lambda f: f[1].time):
        pseudonym = named(file.pseudonym) or "no name"
        if (who := (pseudonym, file.student)) not in labels:
            numbered = (f"{pseudonym} ({n})" for n in itertools.count(2))
            free = itertools.chain([pseudonym], numbered)
            labels[who] = next(label for label in free if label not in labels.values())
        key = file.sheet, labels[who]
        mine = found.setdefault(key, Student(*key))
        given = {n: a for n, a in file.answers.items() if a.get("state") != "open"}
        mine.answers |= {n: a.get("answer") for n, a in given.items()}
        mine.files.append(name)
        mine.time = file.time[:16].replace("T", " ")
    return sorted(found.values(), key=lambda s: (s.sheet, s.label.lower())), faults
