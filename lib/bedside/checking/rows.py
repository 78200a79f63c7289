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

from . import printed
from .printed import COMMA, MARKS, POINT, Number, both_ends, parsed, whole

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
NAMES = {POINT: "a decimal point", COMMA: "a decimal comma"}


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

    def span(self, cut: bool = False) -> stats.Ends:
        """What the value may have been before it was printed. cut: digits were cut off."""
        return self.number.span(self.unit, cut)


def readings(source: "str | Path | pd.DataFrame") -> list[list[Row]]:
    """The rows of a CSV or JSON Lines file, or of a frame; BedsideError with all faults.

    Twice if they differ, with decimal points and with decimal commas in each table that stays open.
    """
    table, ways = _table(source), []
    allowed = _conventions(table)
    for at in (0, -1):
        marks = {name: marks[at] for name, marks in allowed.items()}
        rows = [_row(table, place, x, marks[x["table"]]) for place, x in table.rows]
        table.close("number")
        linked = [
            _linked(table, r, x["of"], rows, marks[r.table]) for r, (_, x) in zip(rows, table.rows)
        ]
        table.close("number")
        ways.append(_in_percent(linked))
    return ways if ways[0] != ways[1] else ways[:1]


def _table(source):
    """The cells of a file or frame, stripped, with the kinds' own names."""
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        cells = source.to_dict("records")
        for x in cells:  # pandas makes floats of whole n beside empty ones
            if isinstance(n := x.get("n"), float) and n.is_integer():
                x["n"] = int(n)
        way = f"It needs {', '.join(NEEDED)}"
        names = list(map(str, source.columns))
        table = user_files.of_rows("the frame", names, cells, COLUMNS, NEEDED, way)
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
        table.once(seen, place, key, "the same table, row, column and kind", "")
    return table


# ---- decimal point or comma


def _conventions(table):
    """{table: the marks by which all its cells can be read}: both where it stays open.

    Cells that contradict the others of their table are noted as faults.
    """
    cells, kinds, allowed = {}, {}, {}
    for _, row in table.rows:
        kinds.setdefault((row["table"], row["column"]), set()).add(row["kind"])
    for place, row in table.rows:
        counts = {"count"} <= kinds[row["table"], row["column"]] <= {"count", "total"}
        cells.setdefault(row["table"], []).extend(_marks(place, row, counts))
    for name, of_table in cells.items():
        sure = {mark: [c for c in of_table if c[3] == (mark,)] for mark in MARKS}
        mark, other = sorted(MARKS, key=lambda mark: -len(sure[mark]))
        allowed[name] = (mark,) if sure[mark] else MARKS
        for place, column, text, marks, counts in of_table:
            if marks == (other,) or (counts and sure[mark] and _thousands(text, mark)):
                _, _, sure_text, *_ = first = sure[mark][0]
                told = f"{text!r} can only be read with {NAMES[other]}, but {sure_text!r} in"
                told += f" {first[0]} only with {NAMES[mark]}; write both alike, or give one of"
                table.fault(place, column, f"{told} them a table of its own")
    return allowed


def _thousands(text, mark):
    """Whether a count has a mark of thousands that is the decimal mark of its table."""
    x = parsed(text, mark)
    return bool(x) and x.step == Fraction(1, 1000) and whole(text) is not None


def _marks(place, row, counts):
    """(place, column, text, marks by which it can be read, counts) of each number of a row.

    counts: whether its column has counts alone. What can't be read at all is told elsewhere.
    """
    read, of = both_ends if row["kind"] == "interval" else parsed, row["of"]
    by_mark = {mark: read(row["value"], mark) for mark in MARKS}
    cells = [("value", row["value"], by_mark, counts)]
    for part, name, value in printed.settings(of):
        if name in printed.MARKED:
            by_mark = {mark: printed.setting(name, value, mark, of) for mark in MARKS}
            cells.append(("of", part, by_mark, False))
    for column, text, by_mark, counted in cells:
        if marks := tuple(mark for mark in MARKS if by_mark[mark] is not None):
            yield place, column, text, marks, counted


# ---- rows


def _row(table, place, cells, mark):
    """A row without its references; its faults are noted. mark: its decimal mark."""
    table.filled(place, cells, NEEDED)
    kind, text, n = cells["kind"], cells["value"], whole(cells["n"])
    number = None if kind == "interval" else parsed(text, mark)
    ends = both_ends(text, mark) if kind == "interval" else None
    few = "two numbers, such as 0.41 to 0.53" if kind == "interval" else "a number"
    small = Fraction(1, 10**DECIMALS)
    for column, wrong, told in (
        ("kind", kind and kind not in KINDS, _unknown(kind, KINDS, "kind")),
        ("value", text and not (number or ends), f"isn't {few}; put stars or words into the note"),
        (
            "value",
            kind != "p" and any(x.step < small for x in ends or [number] if x),
            f"has more than {DECIMALS} decimals",
        ),
        ("value", kind != "p" and number and number.sign, "isn't exact; only a p may be"),
        (
            "n",
            cells["n"] and not (n and 1 <= n <= LARGEST_N),
            f"isn't a whole number from 1 to {LARGEST_N:,}",
        ),
    ):
        if wrong:
            table.fault(place, column, told if column == "kind" else f"{cells[column]!r} {told}")
    where = (cells[c] for c in NEEDED[:3])
    return Row(place, *where, kind, text, number, ends, n)


def _unknown(name, known, what):
    """Why a name isn't one of the known ones; empty if it is."""
    try:
        choose(name, known, what)
    except BedsideError as e:
        return str(e)
    return ""


def _linked(table, row, of, every, mark):
    """The row with what stands in its `of`."""
    refs, settings = [], {}
    for part, name, value in printed.settings(of):
        if name:
            told = _unknown(name, printed.SETTINGS, "setting")
            if not told:
                settings[name] = printed.setting(name, value, mark, of)
                told = settings[name] is None and f"{part!r}: {printed.SETTINGS[name]}"
        else:
            rows = _named(part, row, every)
            refs += rows[:1]
            told = ""
            if len(rows) != 1:
                told = f"{part!r} is {'several rows' if rows else 'no row'}"
                told += "; write table | row | column"
            elif not rows[0].number:
                told = f"{part!r} is an interval; name what it is of"
        if told:
            table.fault(row.place, "of", told)
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

    A column of shares is in percent by a sign or label, or by a number above 2. One of 1 to 2 may
    be a slip (an F1 of 1.88): plain shares are then in percent, scores if another column of the
    table is, kappa never. What is made of shares in percent is in percent, too, but for a ratio.
    """
    shares = [r for r in rows if r.kind in SHARES]
    large = {(r.table, r.column) for r in shares if _says_percent(r, 2)}
    tables = {table for table, _ in large}
    for r in shares:
        if r.kind != "kappa" and (r.kind == "share" or r.table in tables) and _says_percent(r):
            large.add((r.table, r.column))
    percent = {r.place: r.kind in SHARES and (r.table, r.column) in large for r in rows}
    percent |= {r.place: r.number.percent for r in rows if r.kind in ("ratio", "p")}
    for _ in range(3):  # a difference of means of rows of shares
        for r in rows:
            if r.kind in MADE_OF:
                parts = beside(r, rows)
                shares = any(p.kind in SHARES for p in parts) and _says_percent(r)
                percent[r.place] = shares or any(
                    percent[p.place] for p in parts if p.kind != "ratio"
                )
    by = {r.place: r._replace(percent=percent[r.place]) for r in rows}
    return [r._replace(of=tuple(by[p.place] for p in r.of)) for r in by.values()]


def _says_percent(row, above=1):
    """Whether a number is in percent by its sign, its column, or because it is larger than that."""
    label = re.search(r"%|percent|points", row.column, re.I)
    return bool(label) or any(x.percent or abs(x.value) > above for x in row.ends or (row.number,))
