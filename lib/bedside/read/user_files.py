"""Users' files: the checked rows of a CSV or JSON Lines file that a user brings.

    table = user_files.of_file("mine.csv", columns=("item", "question", "group"), needed=("item",))
    table.close("question")  # BedsideError with the first ten faults, by line and column
    table.rows  # [("line 2", {"item": "a", "question": "...", "group": ""}), ...]

Needs the standard library only.
"""

import csv
import difflib
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from bedside import BedsideError

from . import paths
from .prompts import clean

NAMES = ("item", "model", "group", "unit")  # short labels that are joined on and shown
TALK = "messages"  # a conversation, in place of a question
LONGEST = 200  # characters of a name
TOLD = 10  # faults
KINDS = (".csv", ".jsonl")
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")


class Table:
    """Rows (place, {column: text}) and their faults.

    columns: the known columns. needed: those that must be there. others: whether more may be.
    """

    def __init__(
        self, name: str, columns: Sequence[str], needed: Sequence[str], others: bool = False
    ):
        self.name, self.columns, self.needed, self.others = name, columns, needed, others
        self.rows: list[tuple[str, dict[str, str]]] = []
        self._faults, self._unknown = [], set()

    def fault(self, place: str, column: str, what: str) -> None:
        """Note a fault; `close` raises all of them."""
        at = ", ".join(filter(None, (place, column and f"column {column}")))
        self._faults.append(f"{at}: {what}")

    def stop(self, place: str, what: str) -> NoReturn:
        """Raise at once, for a fault after which the rows can't be told apart."""
        self.fault(place, "", what)
        self._raise()

    def close(self, what: str) -> None:
        """Raise BedsideError if there is a fault or no row. what: the name of a row."""
        if self._faults:
            self._raise()
        if not self.rows:
            raise BedsideError(f"{self.name} has no {what} in it")

    def _raise(self):
        faults = sorted(self._faults, key=lambda told: int(re.search(r"\d+", told)[0]))
        if len(faults) == 1:
            raise BedsideError(f"{self.name}, {faults[0]}")
        more = len(faults) - TOLD
        told = [*faults[:TOLD], *([f"and {more} more"] if more > 0 else [])]
        raise BedsideError("\n  ".join([f"{self.name} has {len(faults)} faults", *told]))

    def filled(self, place: str, row: Mapping[str, str], columns: Iterable[str]) -> None:
        """Note which of these columns are empty in a row."""
        for column in columns:
            if not row[column].strip():
                self.fault(place, column, "is empty")

    def once(self, seen: dict, place: str, key: Any, what: str, column: str = "item") -> None:
        """Note a key that was seen before; `what` describes it."""
        first = seen.setdefault(key, place)
        if first != place:
            told = f"{what} is already in {first}; remove one of the two"
            self.fault(place, column, told)

    def known(self, place: str, names: Iterable[str]) -> None:
        """Note unknown names of columns, each once."""
        for name in names:
            if name not in self.columns and not self.others and name not in self._unknown:
                self._unknown.add(name)
                near = difflib.get_close_matches(name.lower(), self.columns, 1)
                hint = f"did you mean {near[0]!r}? " if near else ""
                valid = ", ".join(self.columns)
                self.fault(place, "", f"unknown column {name!r}; {hint}The columns are: {valid}")

    def add(self, place: str, values: Mapping[str, Any]) -> None:
        """Add a row {column: value}; note values that are neither texts nor numbers."""
        row = dict.fromkeys(self.columns, "")
        for column in self.columns:
            value = values.get(column)
            if value is None or value != value:  # null, NaN
                continue
            if column == TALK and value != "":
                value = self._talk(place, value)
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                kind = {dict: "an object", list: "a list", bool: "true or false"}
                told = kind.get(type(value), f"a {type(value).__name__}")
                self.fault(place, column, f"is {told}; it must be a text or a number")
                value = f"? {place}"  # reported once: neither as empty nor as repeated
            text = clean(value)
            if column in NAMES:
                text = text.strip()
                if len(text) > LONGEST or len(text.splitlines()) > 1:
                    told = f"must be one line of at most {LONGEST} characters"
                    self.fault(place, column, told)
            row[column] = text
        self.rows.append((place, row))

    def _talk(self, place, value):
        """A conversation as JSON: messages of role and content, the last one of the user's."""
        try:
            said = json.loads(value) if isinstance(value, str) else list(value)
            whole = all({**m, "role": "", "content": ""} == BARE for m in said)
            texts = all(m["role"] in ROLES and m["content"].strip() for m in said)
            valid = whole and texts and said[-1]["role"] == "user"
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            valid = False
        if not valid:
            told = (
                'must be a list of {"role": ..., "content": ...}, with the roles'
                f" {', '.join(ROLES)}, each with a text, and the last one the user's"
            )
            self.fault(place, TALK, told)
            return f"? {place}"
        return json.dumps(said, ensure_ascii=False)


ROLES = ("system", "user", "assistant")
BARE = {"role": "", "content": ""}


def there(source: str | Path) -> bool:
    """Whether a file or folder of this name exists, in the working folder or in the root's."""
    try:
        return paths.found(source).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def of_file(
    source: str | Path, columns: Sequence[str], needed: Sequence[str], others: bool = False
) -> Table:
    """A CSV or JSON Lines file as a Table; BedsideError if its rows can't be told apart."""
    path = paths.found(source)
    table = Table(paths.rel(path), columns, needed, others)
    text = text_of(path, table)
    (_objects if path.suffix.lower() == ".jsonl" else _cells)(text, table)
    return table


def of_rows(
    name: str,
    names: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    needed: Sequence[str],
    way: str,
    others: bool = False,
) -> Table:
    """Rows {column: value} of a frame or data set as a Table, their places numbered from 1.

    names: its columns. way: what to do where one is lacking, which raises BedsideError.
    """
    if lacking := _lacking(needed, names):
        raise BedsideError(
            f"{name} has no column {lacking[0]!r}; it has {', '.join(names) or 'none'}. {way}"
        )
    if twice := [c for c in names if names.count(c) > 1]:
        raise BedsideError(f"{name} has two columns {twice[0]!r}; drop one of them")
    table = Table(name, columns, needed, others)
    table.known("row 1", names)
    for number, row in enumerate(rows, 1):
        table.add(f"row {number}", row)
    return table


def _lacking(needed, names):
    """The columns that are needed and not there; a conversation stands in place of a question."""
    return [c for c in needed if c not in names and (c != "question" or TALK not in names)]


def text_of(path: Path, table: Table, kinds: Sequence[str] = KINDS) -> str:
    """A file's text; BedsideError if it can't be read as text, or has another ending."""
    suffix, name = path.suffix.lower(), table.name
    if not there(path):
        beside = [p.name for p in path.parent.glob("*")] if there(path.parent) else []
        near = difflib.get_close_matches(path.name, beside, 1)
        raise BedsideError(
            f"there is no file {name}" + (f"; did you mean {near[0]}?" if near else "")
        )
    if not path.is_file():
        raise BedsideError(f"{name} is a folder, not a file; name a file in it")
    try:
        data = path.read_bytes()
    except OSError as e:
        raise BedsideError(f"{name} can't be read: {e.strerror}") from e
    if suffix in SPREADSHEETS or data.startswith(b"PK\x03\x04"):
        raise BedsideError(f"{name} is a spreadsheet; save it as CSV (UTF-8) and give that file")
    if suffix not in kinds:
        raise BedsideError(
            f"{name} ends with {suffix or 'nothing'!r}; give a .csv file (comma-separated values)"
            " or a .jsonl file (one JSON object on each line)"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        place = _place(data[: e.start].decode(errors="replace"))
        table.stop(place, f"is not UTF-8 (byte 0x{data[e.start]:02x}); save it as UTF-8")
    if "\0" in text:
        place = _place(text[: text.index("\0")])
        table.stop(place, "holds a NUL byte, as in UTF-16 or a damaged file; save it as UTF-8")
    if not text.strip():
        raise BedsideError(f"{name} is empty; it needs the columns {', '.join(table.needed)}")
    return text


def _place(before):
    """The place of the character after `before`."""
    character = len(before) - before.rfind("\n")
    return f"line {before.count(chr(10)) + 1}, character {character}"


# ---- CSV


def _cells(text, table):
    """Add the rows of a CSV, each with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    header, place = [], "line 1"
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if not header:
                    header = _header(cells, place, table)
                elif len(cells) == len(header):
                    table.add(place, dict(zip(header, cells)))
                else:
                    told = f"{len(cells)} cells, but the header has {len(header)}; put a text"
                    table.fault(place, "", f"{told} that holds a comma in quotation marks")
            place = f"line {reader.line_num + 1}"
    except csv.Error:
        told = "a quotation mark is never closed, or one inside a text is not doubled"
        table.stop(place, told)


def _header(cells, place, table):
    names = [cell.strip() for cell in cells]
    if len(names) == 1 and (mark := re.search("[;\t|]", names[0])):
        told = {"\t": "a tab"}.get(mark[0], repr(mark[0]))
        table.stop(place, f"cells are separated by {told}; save the file with commas instead")
    table.known(place, names)
    for name in _lacking(table.needed, names):
        table.fault(place, "", f"no column {name!r}; the first line must name the columns")
    for name in dict.fromkeys(n for n in names if names.count(n) > 1 and n in table.columns):
        table.fault(place, "", f"two columns are named {name!r}")
    if table._faults:
        table._raise()  # with a wrong header every row would be wrong
    return names


# ---- JSON Lines


def _objects(text, table):
    """Add the rows of JSON Lines. Numbers are kept as they are written."""
    as_written = {"parse_int": str, "parse_float": str, "parse_constant": lambda _: None}
    for number, line in enumerate(text.split("\n"), 1):
        place = f"line {number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=unique, **as_written)
        except json.JSONDecodeError as e:
            told = f"is not JSON (character {e.colno}: {e.msg}); each line must be one object"
            table.fault(place, "", told)
        except (ValueError, RecursionError) as e:
            table.fault(place, "", f"can't be read: {e}")
        else:
            _object(row, place, table)


def _object(row, place, table):
    if not isinstance(row, dict):
        return table.fault(place, "", 'is not an object; write each line as {"item": "...", ...}')
    table.known(place, row)
    lacking = _lacking(table.needed, row)
    for name in lacking:
        table.fault(place, name, "is missing")
    if not lacking:
        table.add(place, row)


def unique(pairs: list[tuple]) -> dict:
    """The JSON object of these pairs; ValueError if a name occurs twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return made
