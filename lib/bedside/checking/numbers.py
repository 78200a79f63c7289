"""A file of printed numbers: its rows, with the digits as they are printed, and their references.

Faults are told by line and column. What stands in `of` is separated by semicolons: references to
other rows, as `row`, `column`, `row | column` or `table | row | column`, and settings, as
`name=value`.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bedside import BedsideError, choose, stats
from bedside.read import user_files

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
SETTINGS = "scale test statistic df comparisons level positives classes".split()
TESTS = ("mcnemar", "two shares", "t", "z", "chi2", "F", "r")
NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:[,'\u2009\u202f\xa0 ]\d{3})+|\d+)?(?:\.\d+)?")
SIGNS = {"≤": "<", "≥": ">", "<=": "<", ">=": ">", "~": "", "≈": "", "=": ""}
ALIKE = str.maketrans({"−": "-", "–": "-", "—": "-", "％": "%", "’": "'"})
LARGEST_N = 10**7
LONGEST = 30  # characters of a number
DECIMALS = 9  # of a printed number
LARGEST = {"classes": 100, "comparisons": 1000}  # values of settings


class Number(NamedTuple):
    """A printed number: its value as printed, the place of its last digit, < or >, and a % sign."""

    value: Fraction
    step: Fraction
    sign: str
    percent: bool

    def span(self, scale: Fraction = Fraction(1), cut: bool = False) -> tuple[Fraction, Fraction]:
        """What it may have been before it was printed, times `scale`. cut: digits were cut off."""
        return stats.span(self.value * scale, self.step * scale, cut)

    def printed(self, value: float | Fraction) -> str:
        """Another value with as many digits as this one."""
        digits = max(0, len(str(self.step.denominator)) - 1)
        return f"{float(value):.{digits}f}" + "%" * self.percent


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


def parsed(text: str) -> Number | None:
    """A printed number; None for another text. Digits, sign and percent sign are kept."""
    text = text.translate(ALIKE).strip()
    sign = re.match(r"<=|>=|[<>≤≥~≈=]|", text)[0]
    bare = text[len(sign) :].strip()
    power = re.fullmatch(r"([\d.]+)\s*(?:e|[x×]\s*10\s*\^?)\s*(-?\d\d?)", bare, re.I)
    if power and (base := parsed(power[1])):  # 2e-5
        by = Fraction(10) ** int(power[2])
        return base._replace(value=base.value * by, step=base.step * by, sign=SIGNS.get(sign, sign))
    percent = bare.endswith("%")
    bare = bare.removesuffix("%").strip()
    if not re.search(r"\d", bare) or not NUMBER.fullmatch(bare) or len(bare) > LONGEST:
        return None
    digits = re.sub(r"[,'\u2009\u202f\xa0 ]", "", bare)
    step = Fraction(1, 10 ** len(digits.partition(".")[2]))
    return Number(Fraction(digits), step, SIGNS.get(sign, sign), percent)


def both_ends(text: str) -> tuple[Number, Number] | None:
    """The two numbers of an interval such as '0.41 to 0.53', '[41, 53]' or '41–53%'."""
    found = re.fullmatch(
        r"[\[(]?\s*(.+?)\s*(?:\bto\b|[,;]\s|;|,|[–—]|(?<=[\d%])-)\s*(.+?)[\])]?", text
    )
    if not found:
        return None
    low, high = parsed(found[1]), parsed(found[2].rstrip("]) "))
    if not low or not high:
        return None
    return low._replace(percent=low.percent or high.percent), high


def rows(source: "str | Path | pd.DataFrame") -> list[Row]:
    """The rows of a CSV or JSON Lines file, or of a frame; BedsideError with all faults."""
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
    made = [_row(table, place, cells) for place, cells in table.rows]
    seen = {}
    for place, cells in table.rows:
        key = tuple(cells[c].strip() for c in NEEDED[:3]) + (cells["kind"].strip(),)
        if (first := seen.setdefault(key, place)) != place:
            told = "the same table, row, column and kind are already in"
            table.fault(place, "", f"{told} {first}; remove one of the two")
    table.close("number")
    linked = [_linked(table, row, cells["of"], made) for row, (_, cells) in zip(made, table.rows)]
    table.close("number")
    return _in_percent(linked)


def _whole_n(cells):
    """The cells of a frame's row; pandas makes floats of whole n beside empty ones."""
    n = cells.get("n")
    return cells | ({"n": int(n)} if isinstance(n, float) and n == n and n == int(n) else {})


MADE_OF = ("difference", "total", "mean of rows", "interval")  # of other rows, in their unit


def _in_percent(rows):
    """The rows with their units: a column of shares is in percent if one of them is above 1.

    What is made of shares in percent is in percent, too, but for a ratio.
    """
    large = {(r.table, r.column) for r in rows if r.kind in SHARES and _says_percent(r)}
    percent = {r.place: r.kind in SHARES and (r.table, r.column) in large for r in rows}
    percent |= {r.place: r.number.percent for r in rows if r.kind == "ratio"}
    for _ in range(3):  # a difference of means of rows of shares
        for r in rows:
            if r.kind in MADE_OF:
                parts = r.of or beside(r, rows)
                shares = any(p.kind in SHARES for p in parts)
                mine = any(percent[p.place] for p in parts if p.kind != "ratio")
                percent[r.place] = mine or (shares and _says_percent(r))
    by = {r.place: r._replace(percent=percent[r.place]) for r in rows}
    return [r._replace(of=tuple(by[p.place] for p in r.of)) for r in by.values()]


def _says_percent(row):
    """Whether a number is in percent by its sign, its column, or because it is above 1."""
    numbers = row.ends or (row.number,)
    said = re.search(r"%|percent|points", row.column, re.I)
    return bool(said) or any(x.percent or abs(x.value) > 1 for x in numbers)


def beside(row: Row, every: Iterable[Row]) -> list[Row]:
    """The parts of a total or a mean that names none: shares, counts and means of its column."""
    kinds = (*SHARES, "count", "mean")
    mine = [r for r in every if (r.table, r.column) == (row.table, row.column)]
    return [r for r in mine if r.kind in kinds and r.place != row.place]


def sizes(row: Row, every: Iterable[Row]) -> list[int]:
    """The other n of a row's table."""
    return sorted({r.n for r in every if r.table == row.table and r.n} - {row.n})


def _row(table, place, cells):
    """A row without its references; its faults are noted."""
    cells = {column: text.strip() for column, text in cells.items()}
    table.filled(place, cells, NEEDED)
    kind = re.sub(r"[_\s-]+", " ", cells["kind"].lower())
    kind = ALIASES.get(kind, kind)
    if cells["kind"]:
        _tell(table, place, "kind", lambda: choose(kind, KINDS, "kind"))
    number = None if kind == "interval" else parsed(cells["value"])
    ends = both_ends(cells["value"]) if kind == "interval" else None
    if cells["value"] and not (number or ends):
        told = "two numbers, such as 0.41 to 0.53" if kind == "interval" else "a number"
        told += "; write 0.5 for 0,5, and put stars or words into the note"
        table.fault(place, "value", f"{cells['value']!r} isn't {told}")
    if any(x.step < Fraction(1, 10**DECIMALS) for x in ends or [number] if x and kind != "p"):
        table.fault(place, "value", f"{cells['value']!r} has more than {DECIMALS} decimals")
    if number and number.sign and kind != "p":
        table.fault(place, "value", f"{cells['value']!r}: only a p may be {number.sign} a number")
    n = parsed(cells["n"]) if cells["n"] else None
    whole = n and n.value.denominator == 1 and 1 <= n.value <= LARGEST_N and not n.percent
    if cells["n"] and not whole:
        told = f"isn't a whole number from 1 to {LARGEST_N:,}"
        table.fault(place, "n", f"{cells['n']!r} {told}")
    bare = [cells[c] for c in NEEDED[:3]]
    size = int(n.value) if whole else None
    return Row(place, *bare, cells["value"], number, ends, size, kind, (), {}, False)


def _tell(table, place, column, ask):
    """What `ask` gives; a BedsideError of it is noted as a fault of this cell."""
    try:
        return ask()
    except BedsideError as e:
        table.fault(place, column, str(e))


def _linked(table, row, of, every):
    """The row with what stands in its `of`."""
    refs, settings = [], {}
    for part in filter(None, (part.strip() for part in of.split(";"))):
        name, is_setting, value = (x.strip() for x in part.partition("="))
        if is_setting and re.fullmatch(r"\w+", name):
            name = name.lower()
            _tell(table, row.place, "of", lambda: choose(name, SETTINGS, "setting"))  # noqa: B023
            settings[name] = value
            if why := _faulty(name, value):
                table.fault(row.place, "of", f"{part!r}: {why}")
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


def _faulty(name, value):
    """Why a setting's value can't be taken; empty if it can."""
    if name == "scale":
        ends = both_ends(value)
        whole = ends and all(e.value.denominator == 1 for e in ends)
        return (
            ""
            if whole and 0 < ends[1].value - ends[0].value <= 1000
            else "write the least and the most grade: scale=1 to 5"
        )
    if name == "test":
        return "" if value in TESTS else f"the tests are {', '.join(TESTS)}"
    if name == "positives":
        return "" if value else "write their number, or a word that rows with the same have"
    given = [parsed(part) for part in value.split(",")] if name == "df" else [parsed(value)]
    if None in given or any(x.value <= 0 for x in given if x and name != "statistic"):
        return "isn't a number above 0" if name != "statistic" else "isn't a number"
    if name in LARGEST and not (given[0].step == 1 and given[0].value <= LARGEST[name]):
        return f"isn't a whole number up to {LARGEST[name]}"
    if name == "level" and not 50 <= given[0].value < 100:
        return "write a confidence level in percent, such as level=95"
    return ""
