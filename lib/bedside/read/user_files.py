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
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from bedside import BedsideError, choose

from . import paths
from .prompts import clean

NAMES = ("item", "model", "group", "unit")  # short labels that are joined on and shown
TALK = "messages"  # a conversation, in place of a question
LONGEST = 200  # characters of a name
MOST = 10  # faults in one message
KINDS = (".csv", ".jsonl")
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
ROLES = ("system", "user", "assistant")
BARE = {"role": "", "content": ""}


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
        at = f"{place}, column {column}" if column else place
        self._faults.append((int(re.search(r"\d+", place)[0]), f"{at}: {what}"))

    def stop(self, place: str, what: str) -> NoReturn:
        """Raise at once, for a fault after which the rows can't be told apart."""
        self.fault(place, "", what)
        self.close("row")

    def close(self, what: str) -> None:
        """Raise BedsideError if there is a fault or no row. what: the name of a row."""
        faults = [text for _, text in sorted(self._faults, key=lambda fault: fault[0])]
        if len(faults) == 1:
            raise BedsideError(f"{self.name}, {faults[0]}")
        if faults:
            more = [f"and {len(faults) - MOST} more"] * (len(faults) > MOST)
            head = f"{self.name} has {len(faults)} faults"
            raise BedsideError("\n  ".join([head, *faults[:MOST], *more]))
        if not self.rows:
            raise BedsideError(f"{self.name} contains no {what}")

    def filled(self, place: str, row: Mapping[str, str], columns: Iterable[str]) -> None:
        """Note which of these columns are empty in a row."""
        for column in columns:
            if not row[column].strip():
                self.fault(place, column, "is empty")

    def once(self, seen: dict, place: str, key: Any, what: str, column: str = "item") -> None:
        """Note a key that was seen before; `what` describes it."""
        if (first := seen.setdefault(key, place)) != place:
            self.fault(place, column, f"{what} occurs already in {first}; remove one of the two")

    def known(self, place: str, names: Sequence[str]) -> bool:
        """Whether no column is lacking; notes those that are, and unknown ones, each once."""
        for name in () if self.others else dict.fromkeys(names):
            if name not in self.columns and name not in self._unknown:
                self._unknown.add(name)
                try:
                    choose(name, self.columns, "column")
                except BedsideError as e:
                    self.fault(place, "", str(e))
        lacking = [n for n in self.needed if n not in names]
        if TALK in names:  # a conversation is in place of a question
            lacking = [n for n in lacking if n != "question"]
        for name in lacking:
            self.fault(place, "", f"has no column {name!r}. Its columns: {', '.join(names)}")
        return not lacking

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
                kind = kind.get(type(value), f"a {type(value).__name__}")
                self.fault(place, column, f"is {kind}, but must be a text or a number")
                value = f"? {place}"  # reported once: neither as empty nor as repeated
            row[column] = clean(value).strip() if column in NAMES else clean(value)
            if column in NAMES and (len(row[column]) > LONGEST or "\n" in row[column]):
                told = f"must be one line of at most {LONGEST} characters"
                self.fault(place, column, told)
        self.rows.append((place, row))

    def _talk(self, place, value):
        """A conversation as JSON: messages of role and content, the last one of the user's."""
        try:
            talk = json.loads(value) if isinstance(value, str) else list(value)
            bare = all({**m, **BARE} == BARE for m in talk)
            texts = all(m["role"] in ROLES and m["content"].strip() for m in talk)
            if bare and texts and talk[-1]["role"] == "user":
                return json.dumps(talk, ensure_ascii=False)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            pass
        form = 'must be a list of {"role": ..., "content": ...}, with the roles'
        end = f"{', '.join(ROLES)}, each with a text, and the last one the user's"
        self.fault(place, TALK, f"{form} {end}")
        return f"? {place}"


def there(source: str | Path) -> bool:
    """Whether a file or folder of this name exists, in the working folder or in the root's."""
    return os.path.exists(paths.found(source))


def names(given: str | Path) -> list[str]:
    """The names of one file, or of several: "a.eval b.json", with quotes around blanks."""
    try:
        return [str(given)] if there(given) else shlex.split(str(given)) or [str(given)]
    except ValueError:
        raise BedsideError(f"{given}: a quotation mark is never closed") from None


def of_file(
    source: str | Path,
    columns: Sequence[str],
    needed: Sequence[str],
    others: bool = False,
    rows_of: Callable[[dict], Iterable[dict]] = lambda row: [row],
) -> Table:
    """A CSV or JSON Lines file as a Table; BedsideError if its rows can't be told apart.

    rows_of: the rows that an object of JSON Lines stands for.
    """
    path = paths.found(source)
    table = Table(paths.rel(path), columns, needed, others)
    text = text_of(path, table)
    if path.suffix.lower() == ".jsonl":
        _objects(text, table, rows_of)
    else:
        _cells(text, table)
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
    table = Table(name, columns, needed, others)
    if twice := [c for c in names if names.count(c) > 1]:
        raise BedsideError(f"{name} has two columns {twice[0]!r}. Delete one of them.")
    table.known("row 1", names)
    if table._faults:
        table.stop("row 1", way)
    for number, row in enumerate(rows, 1):
        table.add(f"row {number}", row)
    return table


def text_of(path: Path, table: Table, kinds: Sequence[str] = KINDS) -> str:
    """A file's text; BedsideError if it can't be read as text, or has another ending."""
    suffix, name = path.suffix.lower(), table.name
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as e:
        if there(path):
            raise BedsideError(f"{name} can't be read: {getattr(e, 'strerror', e)}") from e
        beside = os.listdir(path.parent) if there(path.parent) else []
        near = difflib.get_close_matches(path.name, beside, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise BedsideError(f"No file {name}.{hint}") from e
    if suffix in SPREADSHEETS or data.startswith(b"PK\x03\x04"):
        raise BedsideError(f"{name} is a spreadsheet. Save it as CSV (UTF-8) and give that file.")
    if suffix not in kinds:
        way = "Give a .csv file (comma-separated values) or a .jsonl file (an object on each line)."
        raise BedsideError(f"{name} ends with {suffix or 'nothing'!r}. {way}")
    text = data.decode("utf-8-sig", errors="replace")
    try:
        at = data.decode("utf-8-sig").find("\0")
        fault = "has a NUL byte, as in UTF-16 or a damaged file"
    except UnicodeDecodeError as e:
        at = len(data[: e.start].decode(errors="replace"))
        fault = f"is not UTF-8 (byte 0x{data[e.start]:02x})"
    if at >= 0:
        place = (
            f"line {text.count(chr(10), 0, at) + 1}, character {at - text.rfind(chr(10), 0, at)}"
        )
        table.stop(place, f"{fault}; save it as UTF-8")
    if not text.strip():
        raise BedsideError(f"{name} is empty. It needs the columns {', '.join(table.needed)}")
    return text


def _cells(text, table):
    """Add the rows of a CSV, each with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    header, place = [], "line 1"
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                pass
            elif not header:
                header = [cell.strip() for cell in cells]
                _check(header, place, table)
            elif len(cells) == len(header):
                table.add(place, dict(zip(header, cells)))
            else:
                counts = f"{len(cells)} cells, but the header has {len(header)}"
                way = "put texts with a comma in quotation marks"
                table.fault(place, "", f"{counts}; {way}")
            place = f"line {reader.line_num + 1}"
    except csv.Error:
        table.stop(place, "a quotation mark is never closed, or one inside a text is not doubled")


def _check(header, place, table):
    """Stop at a wrong header, with which every row would be wrong."""
    if len(header) == 1 and (mark := re.search("[;\t|]", header[0])):
        mark = "a tab" if mark[0] == "\t" else repr(mark[0])
        table.stop(place, f"cells are separated by {mark}; separate them by commas")
    table.known(place, header)
    for name in dict.fromkeys(n for n in header if header.count(n) > 1 and n in table.columns):
        table.fault(place, "", f"two columns are named {name!r}")
    if table._faults:
        table.close("row")


def _objects(text, table, rows_of):
    """Add the rows of JSON Lines. Numbers are kept as they are written."""
    as_written = {"parse_int": str, "parse_float": str, "parse_constant": lambda _: None}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            row = json.loads(line, object_pairs_hook=unique, **as_written)
            if not isinstance(row, dict):
                raise ValueError('isn\'t an object. Write {"item": "...", ...}')
        except json.JSONDecodeError as e:
            table.fault(
                place, "", f"isn't JSON (character {e.colno}: {e.msg}). Write one object per line."
            )
        except (ValueError, RecursionError) as e:
            table.fault(place, "", f"can't be read: {e}")
        else:
            for made in rows_of(row):
                if table.known(place, [*made]):
                    table.add(place, made)


def unique(pairs: list[tuple]) -> dict:
    """The JSON object of these pairs; ValueError if a name occurs twice."""
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return named
