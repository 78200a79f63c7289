"""A file of printed numbers: its rows, with the digits as they are printed, and their references.

Faults are told by line and column. What stands in `of` is separated by semicolons: references to
other rows, as `row`, `column`, `row | column` or `table | row | column`, and settings, as
`name=value`.
"""

import functools
import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bedside import BedsideError, choose, stats
from bedside.read import user_files

from . import conventions
from .printed import Number, both_ends, parsed, plain, whole

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("table", "row", "column", "value", "n", "kind", "of", "note")
NEEDED = ("table", "row", "column", "value", "kind")
SCORES = tuple(name for name in stats.SCORES if name not in ("f1 of means", "kappa"))
KINDS = ("share", "count", "total", "mean", "sd", "difference", "ratio", "mean of rows")
KINDS += (*SCORES, "kappa", "p", "interval")
SHARES = ("share", *SCORES, "kappa")  # what is also printed in percent
ALIASES = {"sensitivity": "recall", "standard deviation": "sd", "mean of grades": "mean"}
ALIASES |= {"balanced accuracy": "macro recall", "percentage": "share", "p value": "p"}
LARGEST_N = 10**7
DECIMALS = 9  # of a printed number


class Row(NamedTuple):
    """A printed number in its place. number: None for an interval, whose two are in `ends`."""

    place: str
    table: str
    row: str
    column: str
    text: str
    number: Number | None
    ends: tuple[Number, Number] | None
    n: int | None
    kind: str
    of: tuple["Row", ...]
    settings: dict[str, str]
    percent: bool  # whether it is in percent

    @property
    def unit(self) -> Fraction:
        """What its printed value is multiplied by to be a share."""
        return Fraction(1, 100 if self.percent else 1)


def readings(source: "str | Path | pd.DataFrame") -> list[list[Row]]:
    """The rows of a CSV or JSON Lines file, or of a frame; BedsideError with all faults.

    Twice if they differ, with decimal points and with decimal commas in each table that stays open.
    """
    table = _cells(source)
    allowed = conventions.of_tables(table)
    made = []
    for at in (0, -1):
        marks = {name: found[at] for name, found in allowed.items()}
        rows = [_row(table, *line, marks[line[1]["table"]]) for line in table.rows]
        table.close("number")
        pairs = zip(rows, table.rows)
        linked = [_linked(table, r, x["of"], rows, marks[r.table]) for r, (_, x) in pairs]
        table.close("number")
        made.append(_in_percent(linked))
    return made if made[0] != made[1] else made[:1]


def _cells(source):
    """The cells of a file or frame, stripped, with the kinds' own names."""
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        table = user_files.of_rows(
            "the frame",
            list(map(str, source.columns)),
            map(_whole_n, source.to_dict("records")),
            COLUMNS,
            NEEDED,
            f"It needs {', '.join(NEEDED)}",
        )
        for at, value in enumerate(source["value"], 1):
            if isinstance(value, float) and value == value:
                told = "is a number, which has lost its digits; read it as text (dtype=str)"
                table.fault(f"row {at}", "value", told)
    else:
        table = user_files.of_file(source, COLUMNS, NEEDED)
    seen = {}
    for place, cells in table.rows:
        cells |= {column: text.strip() for column, text in cells.items()}
        kind = re.sub(r"[_\s-]+", " ", cells["kind"].lower())
        cells["kind"] = ALIASES.get(kind, kind)
        key = tuple(cells[c] for c in (*NEEDED[:3], "kind"))
        if (first := seen.setdefault(key, place)) != place:
            told = "the same table, row, column and kind are already in"
            table.fault(place, "", f"{told} {first}; remove one of the two")
    return table


def _whole_n(cells):
    """The cells of a frame's row; pandas makes floats of whole n beside empty ones."""
    n = cells.get("n")
    return cells | ({"n": int(n)} if isinstance(n, float) and n == n and n == int(n) else {})


MADE_OF = ("difference", "total", "mean of rows", "interval")  # of other rows, in their unit


def _in_percent(rows):
    """The rows with their units. What is made of shares in percent is in percent, too, but for a
    ratio.
    """
    large = _columns_in_percent([r for r in rows if r.kind in SHARES])
    percent = {r.place: r.kind in SHARES and (r.table, r.column) in large for r in rows}
    percent |= {r.place: r.number.percent for r in rows if r.kind in ("ratio", "p")}
    for _ in range(3):  # a difference of means of rows of shares
        for r in rows:
            if r.kind in MADE_OF:
                parts = r.of or beside(r, rows)
                shares = any(p.kind in SHARES for p in parts)
                mine = any(percent[p.place] for p in parts if p.kind != "ratio")
                percent[r.place] = mine or (shares and _says_percent(r))
    by = {r.place: r._replace(percent=percent[r.place]) for r in rows}
    return [r._replace(of=tuple(by[p.place] for p in r.of)) for r in by.values()]


def _columns_in_percent(shares):
    """The columns of shares that are in percent: by their sign or label, or by a number above 2.

    One of 1 to 2 may be a slip (an F1 of 1.88): a column without a larger one is in percent if it
    is of plain shares, or one of scores beside other columns in percent.
    """
    sure = {(r.table, r.column) for r in shares if _says_percent(r, 2)}
    tables = {table for table, _ in sure}
    more = [r for r in shares if _says_percent(r) and r.kind != "kappa"]
    return sure | {(r.table, r.column) for r in more if r.kind == "share" or r.table in tables}


def _says_percent(row, above=1):
    """Whether a number is in percent by its sign, its column, or because it is larger than that."""
    numbers = row.ends or (row.number,)
    said = re.search(r"%|percent|points", row.column, re.I)
    return bool(said) or any(x.percent or abs(x.value) > above for x in numbers)


def beside(row: Row, every: Iterable[Row]) -> list[Row]:
    """The parts of a total or a mean that names none: shares, counts and means of its column."""
    kinds = (*SHARES, "count", "mean")
    mine = [r for r in every if (r.table, r.column) == (row.table, row.column)]
    return [r for r in mine if r.kind in kinds and r.place != row.place]


def sizes(row: Row, every: Iterable[Row]) -> list[int]:
    """The other n of a row's table."""
    return sorted({r.n for r in every if r.table == row.table and r.n} - {row.n})


def _row(table, place, cells, mark):
    """A row without its references; its faults are noted. mark: its decimal mark."""
    table.filled(place, cells, NEEDED)
    kind, text = cells["kind"], cells["value"]
    if kind:
        _tell(table, place, "kind", lambda: choose(kind, KINDS, "kind"))
    number = None if kind == "interval" else parsed(text, mark)
    ends = both_ends(text, mark) if kind == "interval" else None
    if text and not (number or ends):
        told = "two numbers, such as 0.41 to 0.53" if kind == "interval" else "a number"
        told += "; put stars or words into the note"
        table.fault(place, "value", f"{text!r} isn't {told}")
    if any(x.step < Fraction(1, 10**DECIMALS) for x in ends or [number] if x and kind != "p"):
        table.fault(place, "value", f"{text!r} has more than {DECIMALS} decimals")
    if number and number.sign and kind != "p":
        table.fault(place, "value", f"{text!r}: only a p may be {number.sign} a number")
    n = whole(cells["n"])
    if cells["n"] and not (n and 1 <= n <= LARGEST_N):
        told = f"isn't a whole number from 1 to {LARGEST_N:,}"
        table.fault(place, "n", f"{cells['n']!r} {told}")
    bare = [cells[c] for c in NEEDED[:3]]
    return Row(place, *bare, text, number, ends, n, kind, (), {}, False)


def _tell(table, place, column, ask):
    """What `ask` gives; a BedsideError of it is noted as a fault of this cell."""
    try:
        return ask()
    except BedsideError as e:
        table.fault(place, column, str(e))


def _linked(table, row, of, every, mark):
    """The row with what stands in its `of`; printed numbers there as programs write them."""
    refs, settings = [], {}
    for part, name, value in conventions.settings(of):
        if name:
            known = functools.partial(choose, name, conventions.SETTINGS, "setting")
            _tell(table, row.place, "of", known)
            if why := conventions.faulty(name, value, mark, of):
                table.fault(row.place, "of", f"{part!r}: {why}")
            given = conventions.freedoms(value, of) if name == "df" else [value]
            printed = name in conventions.PRINTED
            settings[name] = ", ".join(plain(x, mark) for x in given) if printed else value
            continue
        found = _named(part, row, every)
        if len(found) != 1:
            told = "several rows" if found else "no row"
            table.fault(row.place, "of", f"{part!r} is {told}; write table | row | column")
        elif not found[0].number:
            table.fault(row.place, "of", f"{part!r} is an interval; name what it is of")
        refs += found[:1]
    return row._replace(of=tuple(refs), settings=settings)


def _named(part, row, every):
    """The rows that a reference may mean, by the nearest way to read it that gives any."""
    names = [name.strip() for name in part.split("|")]
    if len(names) == 3:
        ways = [names]
    elif len(names) == 2:
        ways = [[row.table, *names]]
    else:
        ways = [[row.table, part, row.column], [row.table, row.row, part]]
    mine = [r for r in every if r.place != row.place]
    found = [r for r in mine if [r.table, r.row, r.column] in ways]
    if not found and len(names) == 1:
        found = [r for r in mine if r.table == row.table and part in (r.row, r.column)]
    exact = [r for r in found if r.kind not in ("interval", "p", "sd")]
    return exact if len(found) > 1 and exact else found
