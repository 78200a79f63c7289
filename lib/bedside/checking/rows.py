"""A file of printed numbers: its rows, with the digits as they are printed, and their references.

Faults are told by line and column. What stands in `of` is separated by semicolons: references to
other rows, as `row`, `column`, `row | column` or `table | row | column`, and settings, as
`name=value`.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bedside import BedsideError, choose, stats
from bedside.read import user_files

from .numbers import SETTINGS, Number, both_ends, parsed, parts_of, setting, whole

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("table", "row", "column", "value", "n", "kind", "of", "note")
NEEDED = ("table", "row", "column", "value", "kind")
SCORES = tuple(name for name in stats.SCORES if name not in ("f1 of means", "kappa"))
SHARES = ("share", *SCORES, "kappa")  # what is also printed in percent
MADE_OF = ("difference", "total", "mean of rows", "interval")  # of other rows, in their unit
KINDS = (*SHARES, *MADE_OF, "count", "mean", "sd", "ratio", "p")
ALIASES = {"sensitivity": "recall", "standard deviation": "sd", "mean of grades": "mean"}
ALIASES |= {"balanced accuracy": "macro recall", "percentage": "share", "p value": "p"}
LARGEST_N = 10**7
DECIMALS = 9  # of a printed number
PERCENT = re.compile(r"%|percent|points", re.I)


class Row(NamedTuple):
    """A printed number in its place. number: None for an interval, whose two are in `ends`."""

    place: str
    table: str
    row: str
    column: str
    kind: str
    text: str
    number: Number | None
    ends: tuple[Number, Number] | None
    n: int | None
    of: tuple["Row", ...] = ()
    settings: dict[str, Any] = {}
    percent: bool = False  # whether it is in percent

    @property
    def unit(self) -> Fraction:
        """What its printed value is multiplied by to be a share."""
        return Fraction(1, 100 if self.percent else 1)

    @property
    def exact(self) -> Fraction:
        """Its value as printed; of a percentage the share."""
        return self.number.value * self.unit

    def span(self, cut: bool = False) -> tuple[Fraction, Fraction]:
        """What the value may have been before it was printed. cut: digits were cut off."""
        bounded = {"<": (Fraction(0), self.exact), ">": (self.exact, Fraction(1))}  # a p
        return bounded.get(self.number.sign) or self.number.span(self.unit, cut)

    @property
    def scale(self) -> tuple[int, int] | None:
        """(least, most) grade by its settings or those of a mean that it refers to."""
        return next((r.settings["scale"] for r in (self, *self.of) if "scale" in r.settings), None)


def read(source: "str | Path | pd.DataFrame") -> list[Row]:
    """The rows of a CSV or JSON Lines file, or of a frame; BedsideError with all faults."""
    table = _table(source)
    rows = [_row(table, place, x) for place, x in table.rows]
    table.close("number")
    rows = [_linked(table, r, x["of"], rows) for r, (_, x) in zip(rows, table.rows)]
    table.close("number")
    return _in_percent(rows)


def _table(source):
    """The cells of a file or frame, stripped, with the kinds' own names."""
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        cells = source.to_dict("records")
        for x in cells:  # pandas makes floats of whole n beside empty ones
            if isinstance(n := x.get("n"), float) and n.is_integer():
                x["n"] = int(n)
        names, way = [*map(str, source.columns)], f"It needs {', '.join(NEEDED)}"
        table = user_files.of_rows("the frame", names, cells, COLUMNS, NEEDED, way)
        for at, value in enumerate(source["value"], 1):
            if isinstance(value, float) and value == value:
                message = (
                    "is a number, so its last digits may be lost. Read it as text (dtype=str)."
                )
                table.fault(f"row {at}", "value", message)
    else:
        table = user_files.of_file(source, COLUMNS, NEEDED)
    seen = {}
    for place, cells in table.rows:
        cells |= {column: text.strip() for column, text in cells.items()}
        kind = re.sub(r"[_\s-]+", " ", cells["kind"].lower())
        cells["kind"] = ALIASES.get(kind, kind)
        key = tuple(cells[c] for c in (*NEEDED[:3], "kind"))
        table.once(seen, place, key, "the same table, row, column and kind", "")
    return table


def _row(table, place, cells):
    """A row without its references; its faults are noted."""
    table.filled(place, cells, NEEDED)
    kind, text, n = cells["kind"], cells["value"], whole(cells["n"])
    number = None if kind == "interval" else parsed(text)
    ends = both_ends(text) if kind == "interval" else None
    few = "two numbers, such as 0.41 to 0.53" if kind == "interval" else "a number"
    if kind and (message := _unknown(kind, KINDS, "kind")):
        table.fault(place, "kind", message)
    if text and not (number or ends):
        message = f"{text!r} isn't {few}; put stars or words into the note"
        table.fault(place, "value", message + ", and write a decimal point" * ("," in text))
    elif kind != "p" and text:
        if any(x.step < Fraction(1, 10**DECIMALS) for x in ends or [number]):
            table.fault(place, "value", f"{text!r} has more than {DECIMALS} decimals")
        if number and number.sign:
            table.fault(place, "value", f"{text!r} isn't exact; only a p value may be inexact")
    if cells["n"] and not (n and 1 <= n <= LARGEST_N):
        table.fault(place, "n", f"{cells['n']!r} isn't a whole number from 1 to {LARGEST_N:,}")
    return Row(place, *(cells[c] for c in NEEDED[:3]), kind, text, number, ends, n)


def _unknown(name, known, what):
    """Why a name isn't one of the known ones; empty if it is."""
    try:
        choose(name, known, what)
    except BedsideError as e:
        return str(e)
    return ""


def _linked(table, row, of, every):
    """The row with what stands in its `of`."""
    refs, settings, message = [], {}, ""
    for part, name, value in parts_of(of):
        if name:
            if not (message := _unknown(name, SETTINGS, "setting")):
                settings[name] = setting(name, value)
                message = settings[name] is None and f"{part!r}: {SETTINGS[name]}"
        else:
            rows = _named(part, row, every)
            refs += rows[:1]
            several = "several rows" if rows else "no row"
            message = len(rows) != 1 and f"{part!r} is {several}. Write table | row | column."
            if not message and not rows[0].number:
                message = f"{part!r} is an interval; name its number instead"
        if message:
            table.fault(row.place, "of", message)
    return row._replace(of=tuple(refs), settings=settings)


def _named(part, row, every):
    """The rows that a reference may mean, by the nearest way to read it that gives any."""
    names = [name.strip() for name in part.split("|")]
    ways = [[row.table, part, row.column], [row.table, row.row, part]]
    if len(names) > 1:
        ways = [names if len(names) == 3 else [row.table, *names]]
    others = [r for r in every if r.place != row.place]
    rows = [r for r in others if [r.table, r.row, r.column] in ways]
    if not rows and len(names) == 1:
        rows = [r for r in others if r.table == row.table and part in (r.row, r.column)]
    exact = [r for r in rows if r.kind not in ("interval", "p", "sd")]
    return exact if len(rows) > 1 and exact else rows


def beside(row: Row, every: Iterable[Row]) -> list[Row]:
    """The rows that a total or a mean names; else shares, counts and means of its column."""
    kinds = (*SHARES, "count", "mean")
    column = [r for r in every if (r.table, r.column) == (row.table, row.column)]
    return list(row.of) or [r for r in column if r.kind in kinds and r.place != row.place]


def sizes(row: Row, every: Iterable[Row]) -> list[int]:
    """The other n of a row's table."""
    return sorted({r.n for r in every if r.table == row.table and r.n} - {row.n})


# ---- percent


def _in_percent(rows):
    """The rows with their units.

    A column of shares is in percent by a sign, its label, or a number above 2: one of 1 to 2 may be
    a slip (an F1 of 1.88). What is made of shares in percent is in percent, too, but for a ratio.
    """
    columns = {
        (r.table, r.column)
        for r in rows
        if r.kind in SHARES and (r.number.percent or r.number.value > 2 or PERCENT.search(r.column))
    }
    percent = {r.place: r.kind in SHARES and (r.table, r.column) in columns for r in rows}
    percent |= {r.place: r.number.percent for r in rows if r.kind in ("ratio", "p")}
    for r in [r for r in rows if r.kind in MADE_OF] * 3:  # a difference of means of rows of shares
        percent[r.place] = any(percent[p.place] for p in beside(r, rows) if p.kind != "ratio")
    by = {r.place: r._replace(percent=percent[r.place]) for r in rows}
    return [r._replace(of=tuple(by[p.place] for p in r.of)) for r in by.values()]
