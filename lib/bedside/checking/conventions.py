"""Decimal point or decimal comma: by which of the two the cells of a table can be read.

A table has one convention. A cell such as 0,958 can be read by one only, 1,203 by both.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from bedside.read import user_files

from .printed import COMMA, MARKS, POINT, both_ends, parsed, whole

NAMES = {POINT: "a decimal point", COMMA: "a decimal comma"}
SETTINGS = "scale test statistic df comparisons level positives classes".split()
TESTS = ("mcnemar", "two shares", "t", "z", "chi2", "F", "r")
PRINTED = ("statistic", "df", "level")  # settings that are printed numbers
LARGEST = {"classes": 100, "comparisons": 1000}  # values of settings
Cell = tuple[str, str, str, tuple[str, ...]]  # place, column, text, marks by which it can be read


def freedoms(value: str, of: str) -> list[str]:
    """The degrees of freedom in a setting: one, or of an F test (named in `of`) two."""
    two = any((name, test) == ("test", "F") for _, name, test in settings(of))
    return [part for part in re.split(r",\s*" if two else r",\s+", value) if part]


def faulty(name: str, value: str, mark: str, of: str) -> str:
    """Why a setting's value can't be taken; empty if it can. of: all that stands beside it."""
    if name == "scale":
        least, most = scale(value) or (0, 0)
        told = "write the least and the most grade: scale=1 to 5"
        return "" if 0 < most - least <= 1000 else told
    if name == "test":
        return "" if value in TESTS else f"the tests are {', '.join(TESTS)}"
    if name == "positives":
        return "" if value else "write their number, or a word that rows with the same have"
    if name in LARGEST:
        given = whole(value)
        least = f"isn't a whole number up to {LARGEST[name]}"
        return "" if given and 0 < given <= LARGEST[name] else least
    given = [parsed(part, mark) for part in (freedoms(value, of) if name == "df" else [value])]
    if None in given or any(x.value <= 0 for x in given if name != "statistic"):
        return "isn't a number above 0" if name != "statistic" else "isn't a number"
    if name == "level" and not 50 <= given[0].value < 100:
        return "write a confidence level in percent, such as level=95"
    return ""


def scale(value: str) -> tuple[int, int] | None:
    """The least and the most grade of a setting such as '1 to 5'; None for another text."""
    ends = both_ends(value)
    both = ends and all(end.value.denominator == 1 for end in ends)
    return (int(ends[0].value), int(ends[1].value)) if both else None


def settings(of: str) -> Iterable[tuple[str, str, str]]:
    """What stands in `of`: (a reference, "", ""), or (part, name, value) of a setting."""
    for part in filter(None, (part.strip() for part in of.split(";"))):
        name, is_setting, value = (x.strip() for x in part.partition("="))
        known = is_setting and re.fullmatch(r"\w+", name)
        yield (part, name.lower(), value) if known else (part, "", "")


def of_tables(table: user_files.Table) -> dict[str, tuple[str, ...]]:
    """{table: the marks by which all its cells can be read}: both where it stays open.

    Cells that contradict the others of their table are noted as faults.
    """
    cells, allowed = {}, {}
    for place, row in table.rows:
        cells.setdefault(row["table"], []).extend(_read(place, row))
    for name, mine in cells.items():
        sure = {mark: [cell for cell in mine if cell[3] == (mark,)] for mark in MARKS}
        more = max(MARKS, key=lambda mark: len(sure[mark]))
        allowed[name] = (more,) if sure[more] else MARKS
        for mark in MARKS:
            if mark != more:
                for cell in sure[mark]:
                    _contradicts(table, cell, mark, sure[more][0], more)
    _counts(table, allowed, {name: _first(mine) for name, mine in cells.items()})
    return allowed


def _first(cells):
    """The first cell that can be read in one way only, or None."""
    return next((cell for cell in cells if len(cell[3]) == 1), None)


def _contradicts(table, cell, mark, other, way):
    """Note a cell that has another convention than its table."""
    place, column, text, _ = cell
    told = f"{text!r} can only be read with {NAMES[mark]}, but {other[2]!r} in {other[0]} only with"
    told += f" {NAMES[way]}; write both alike, or give one of them a table of its own"
    table.fault(place, column, told)


def _read(place: str, row: Mapping[str, str]) -> Iterable[Cell]:
    """The numbers of a row as cells; a number that can't be read at all is told elsewhere."""
    read: Callable = both_ends if row["kind"] == "interval" else parsed
    found = [("value", row["value"], lambda mark: read(row["value"], mark))]
    for part, name, value in settings(row["of"]):
        if name in PRINTED:

            def fits(mark, name=name, value=value):
                return not faulty(name, value, mark, row["of"])

            found.append(("of", part, fits))
    for column, text, reads in found:
        if marks := tuple(mark for mark in MARKS if reads(mark)):
            yield place, column, text, marks


def _counts(table, allowed, sure):
    """Note counts whose thousands are marked as the decimals of their table are."""
    kinds = {}
    for _, row in table.rows:
        kinds.setdefault((row["table"], row["column"]), set()).add(row["kind"])
    for place, row in table.rows:
        marks, counted = allowed[row["table"]], kinds[row["table"], row["column"]]
        is_count = row["kind"] == "count" or (row["kind"] == "total" and "count" in counted)
        if is_count and len(marks) == 1 and counted <= {"count", "total"}:
            x = parsed(row["value"], marks[0])
            if x and x.step < 1 and whole(row["value"]) is not None and x.step * 1000 == 1:
                other = COMMA if marks[0] == POINT else POINT
                cell = (place, "value", row["value"], ())
                _contradicts(table, cell, other, sure[row["table"]], marks[0])
