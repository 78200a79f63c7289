"""What a class hands in: files with all checked answers of a sheet.

    write("cancer_myth", "1", entries, "Ann B")     # handed_in/1_ann-b_<student>_<time>.json
    students("handed_in")                           # who handed in, and files that can't be read

Nothing is sent anywhere, and no file is overwritten. A student is a pseudonym in one copy of the
project, so two who chose the same pseudonym stay apart. A student's files follow one another, and
the latest answer to each task counts.
"""

import contextlib
import hashlib
import json
import math
import re
import secrets
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from numbers import Integral, Real
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths

FOLDER = paths.ROOT / "handed_in"  # beside the editions' folder
STATES = ("right", "collected", "not yet", "open")
DONE = ("right", "collected")
LARGEST = 5_000_000  # bytes of a file that is read
LONGEST = 100_000  # characters of an answer that are written
SESSION = secrets.token_hex(8)


# ---- for students


def plain(answer):
    """An answer as JSON can hold it: a set as a list; NaN and the like as text."""
    try:
        made = _plain(answer)
        if len(json.dumps(made)) <= LONGEST:
            return made
        return json.dumps(made)[:LONGEST] + " … (cut)"
    except Exception:  # one that holds itself, or can't be printed
        return f"an answer of type {type(answer).__name__} that can't be written down"


def _plain(answer):
    if answer is None or answer is ...:
        return None
    if isinstance(answer, (bool, str)):
        return answer
    if isinstance(answer, Integral):
        return int(answer)
    if isinstance(answer, Real) and math.isfinite(answer):
        return float(answer)
    if isinstance(answer, dict):
        return {str(k): _plain(v) for k, v in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [_plain(v) for v in answer]
    if isinstance(answer, (set, frozenset)):
        return sorted((_plain(v) for v in answer), key=json.dumps)
    return repr(answer)


def named(name):
    """A pseudonym on one line, without what can't be printed, 60 characters at most."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(name)).split())
    return text if len(text) <= 60 else text[:59] + "…"


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


def where(folder):
    """A folder of hand-ins in words that lead to it."""
    ours = Path(folder).resolve() == FOLDER.resolve()
    return f"the folder {FOLDER.name} beside start.py" if ours else f"the folder {folder}"


# ---- for instructors


class Unreadable(ValueError):
    """A file that is not a hand-in; the text says why."""


@dataclass
class Student:
    """What one student handed in of one sheet; a later file's answers replace an earlier one's."""

    sheet: str
    pseudonym: str
    mark: str
    label: str = ""  # the pseudonym, numbered where several chose the same
    when: float = 0.0
    answers: dict = field(default_factory=dict)  # {task: (state, said, answer)}
    files: list = field(default_factory=list)
    odd: list = field(default_factory=list)  # in words, what in the files can't be used

    @property
    def time(self):
        """The time of the last file in words; "no time" if none can be read."""
        return f"{datetime.fromtimestamp(self.when):%Y-%m-%d %H:%M}" if self.when else "no time"


def _content(path):
    """A file's JSON; Unreadable says why it has none."""
    try:
        if not path.is_file():
            raise Unreadable("it is not a file")
        if (size := path.stat().st_size) > LARGEST:
            raise Unreadable(f"it is {size / 1e6:.0f} MB large; a hand-in has a few kB")
        return json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=str)
    except Unreadable:
        raise
    except OSError as e:
        raise Unreadable(f"it can't be opened ({e.strerror})") from e
    except UnicodeDecodeError as e:
        raise Unreadable("it is not a text in UTF-8") from e
    except (ValueError, RecursionError) as e:
        raise Unreadable(f"it is not complete JSON ({str(e)[:80]})") from e


def read(path, sheets):
    """A file's hand-in as a Student with one file; Unreadable says why not."""
    made = _content(path)
    if not isinstance(made, dict):
        raise Unreadable(f"it holds a {type(made).__name__}, but a hand-in is a dictionary")
    for key, kind in {"sheet": str, "pseudonym": str, "answers": dict}.items():
        if not isinstance(made.get(key), kind):
            raise Unreadable(f"it lacks {key!r}, which every hand-in has")
    if made["sheet"] not in sheets:
        raise Unreadable(f"there is no sheet {named(made['sheet'])!r}")
    name = named(made["pseudonym"]) or "no name"
    student = Student(made["sheet"], name, str(made.get("student")), files=[path.name])
    for task, given in made["answers"].items():
        state = given.get("state") if isinstance(given, dict) else None
        if isinstance(state, str) and state in STATES:
            said = str(given.get("said", ""))
            student.answers[task] = state, said, shallow(given.get("answer"))
        else:
            student.odd.append(f"task {named(task)} can't be read")
    try:
        student.when = datetime.fromisoformat(made["time"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        student.odd.append("its time can't be read, so it counts as the earliest")
    return student


def shallow(answer, depth=12):
    """An answer without what is nested deeper than any sheet asks for."""
    if isinstance(answer, (dict, list)) and not depth:
        return "…"
    if isinstance(answer, dict):
        return {k: shallow(v, depth - 1) for k, v in answer.items()}
    return [shallow(v, depth - 1) for v in answer] if isinstance(answer, list) else answer


def students(folder, sheets):
    """Who handed in, by sheet and pseudonym, and {file: why} for files that can't be read.

    sheets: the known ones; a file of any other can't be read.
    """
    read_in, faults, found = [], {}, {}
    for path in sorted(Path(folder).rglob("*.json")):
        inside = path.relative_to(folder)
        if path.is_dir() or any(part.startswith(".") for part in inside.parts):
            continue
        try:
            read_in.append(read(path, sheets))
        except Unreadable as e:
            faults[inside.as_posix()] = str(e)
    for one in sorted(read_in, key=lambda s: (s.when, s.files)):
        key = one.sheet, one.pseudonym, one.mark
        whole = found.setdefault(key, Student(*key))
        new = [n for n, a in one.answers.items() if a[0] != "open" or n not in whole.answers]
        whole.answers |= {n: one.answers[n] for n in new}
        whole.when, whole.files, whole.odd = one.when, whole.files + one.files, whole.odd + one.odd
    labels = {}  # the same in all sheets
    for one in found.values():
        who, number = (one.pseudonym, one.mark), 1
        label = one.pseudonym
        while who not in labels and label in labels.values():
            number += 1
            label = f"{one.pseudonym} ({number})"
        one.label = labels.setdefault(who, label)
    return sorted(found.values(), key=lambda s: (s.sheet, s.label.lower())), faults
