"""Layouts: a long table in the paper's own shape, for readers of pages, Markdown and LaTeX.

Layout(row="dataset: rater", across=("dataset", "column"))

splits labels such as "HealthQA: GPT-4"; then each rater has a line, and each dataset has a column
for each measure. Published numbers are above computed ones: each source has a line of its own, or a
column if "source" is among the parts that go across.
"""

import dataclasses
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby

from bedside.read.published import SOURCES

from .grids import Grid

UNNAMED = ("row", "column", "source")  # parts without a heading in the stub
LEGEND = {
    "=": "= equals the printed number to its last digit",
    "≈": "≈ has the printed number within its confidence interval",
    "≠": "≠ differs from the printed number beyond rounding",
}


@dataclasses.dataclass(frozen=True)
class Layout:
    """Which parts of a table's labels go across; the others go down.

    row, column: the names of a label's parts with their separator, as "dataset: rater"; a label
    without the separator has empty later parts. across: parts in the order of the headings, from
    the top, with or without "source". digits: decimals for readers, None for each number's shortest
    form.
    """

    row: str = "row"
    column: str = "column"
    across: tuple[str, ...] = ("column",)
    digits: int | None = 2

    @classmethod
    def read(cls, kept: "dict | None") -> "Layout":
        """A layout as a manifest has it; a run of before may have options that went."""
        names = [f.name for f in dataclasses.fields(cls)]
        known = {k: v for k, v in (kept or {}).items() if k in names and v is not None}
        return cls(**known | {"across": tuple(known.get("across", cls.across))})

    def parts(self) -> list[str]:
        """The names of all parts, in the order of the labels, and the source."""
        return [*re.findall(r"\w+", self.row), *re.findall(r"\w+", self.column), "source"]

    def apart(self, row: dict) -> tuple[str, ...]:
        """The parts of a row's labels, and its source."""
        return (
            *_apart(self.row, row["row"]),
            *_apart(self.column, row["column"]),
            row["source"],
        )


def _apart(form, label):
    """A label's parts."""
    found = []
    for separator in re.split(r"\w+", form)[1:-1]:
        part, _, label = label.partition(separator)
        found.append(part)
    return [*found, label]


def number(value: float | None, digits: int | None) -> str:
    """A number for readers: fixed decimals, or its shortest form; empty for a missing one.

    Halves are rounded up, by the ten significant digits that a CSV holds: a table says the same
    wherever it is read from. A zero has no sign, also one that was rounded.
    """
    if _missing(value):
        return ""
    if digits is None or not math.isfinite(value):
        return f"{value:zg}"
    return f"{Decimal(f'{value:.10g}').quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):zf}"


def grid(
    rows: list[dict],
    layout: Layout | None = None,
    *,
    legend: bool = True,
    words: dict[str, str] | None = None,
) -> Grid:
    """Rows with the keys of `tables.COLUMNS` as a table for readers; None or NaN is no number.

    legend: whether notes explain the signs of computed numbers beside printed ones. words: {part:
    what readers see}.
    """
    layout, words = layout or Layout(), {**(words or {}), **SOURCES}
    names, cells = layout.parts(), {layout.apart(row): row for row in rows}
    filled = {n for key in cells for n, part in zip(names, key) if part}
    across = [n for n in layout.across if n in filled] or ["source"]
    down = [n for n in names if n in filled - {*across}]
    lines, columns = (_ordered(cells, [names.index(n) for n in ways]) for ways in (down, across))
    texts, signs = _texts(cells, layout.digits)
    places = {
        tuple(tuple(key[names.index(n)] for n in ways) for ways in (down, across)): key
        for key in cells
    }
    keys = [[places.get((line, column)) for column in columns] for line in lines]
    counted, notes = _counted([[cells.get(key) for key in line] for line in keys])
    if any(not _missing(row.get("worst")) for row in rows):
        notes.append("(a to b): the value if everything unscored were worst, or best")
    notes = [text for sign, text in LEGEND.items() if legend and sign in signs] + notes
    head = [[words.get(v, v) for v in level] + [""] * len(counted) for level in zip(*columns)]
    head[-1][len(columns) :] = counted
    return Grid(
        stub=["" if n in UNNAMED else n for n in down],
        head=head,
        lines=[
            (
                [words.get(v, v) for v in line],
                [texts.get(key, "") for key in those] + [c[i] for c in counted.values()],
            )
            for i, (line, those) in enumerate(zip(lines, keys))
        ],
        notes=[re.sub("^none", "None", f"{'; '.join(notes)}.")] if notes else [],
        places=[[key and f"{cells[key]['row']}|{cells[key]['column']}" for key in k] for k in keys],
    )


def _texts(cells, digits):
    """{key: a number as readers see it}, and the signs among them.

    A number beside a printed one has a sign. Where all of a row or column are whole, they have no
    decimals, and nowhere more than the printed ones of their column, if these are several.
    """
    whole, decimals = {}, {}
    for row in cells.values():
        counts = _missing(row["value"]) or (row["value"] % 1 == 0 and _missing(row["low"]))
        for label in (("row", row["row"]), ("column", row["column"])):
            whole[label] = whole.get(label, True) and counts
        if row["source"] == "published" and not _missing(row["value"]):
            n = len(f"{row['value']:.10g}".partition(".")[2])
            decimals.setdefault(row["column"], []).append(n)
    texts, signs = {}, set()
    for key, row in cells.items():
        of = decimals.get(row["column"], [])
        least = max(of, default=0) if len(of) > 2 else digits
        places = digits if digits is None or not least else min(digits, least)
        if whole["row", row["row"]] or whole["column", row["column"]]:
            places = 0 if places is not None else None
        sign = _compared(row, cells.get((*key[:-1], "published")), max(of, default=0))
        signs.add(sign)
        texts[key] = f"{sign} {_told(row, places)}".strip()
    return texts, signs


def _told(row, digits):
    """A number with its interval and bounds."""
    low, high = number(row["low"], digits), number(row["high"], digits)
    told = number(row["value"], digits) + (f" [{low}, {high}]" if low else "")
    if not _missing(row.get("worst")):
        told += f" ({number(row['worst'], digits)} to {number(row['best'], digits)})"
    return told


def _missing(value):
    return value is None or value != value


def _compared(row, printed, decimals):
    """The sign for a computed number beside the printed one, which has so many decimals.

    A run, which has models or data of its own, doesn't differ from what is printed; nor does a
    simulation by a rule of ours.
    """
    if printed is None or printed is row or _missing(row["value"]) or _missing(printed["value"]):
        return ""
    if abs(row["value"] - printed["value"]) <= 0.5 * 10**-decimals + 1e-9:
        return "="
    if not _missing(row["low"]) and row["low"] <= printed["value"] <= row["high"]:
        return "≈"
    return "" if row["source"] in ("run", "simulated") else "≠"


def _ordered(cells, ways):
    """The places of some parts, each beside those that it shares its first parts with."""
    first, places, sources = {}, {}, {s: n for n, s in enumerate(SOURCES)}
    for key in cells:
        place = tuple(key[i] for i in ways)
        places[place] = None
        for k in range(len(ways)):
            first.setdefault(place[: k + 1], len(first))

    def rank(place):
        return [sources.get(part, first[place[: k + 1]]) for k, part in enumerate(place)]

    return sorted(places, key=rank)


def _counted(lines):
    """Numbers of units: columns {what: text for each line}, and notes where all are the same."""
    columns, notes = {}, []
    for what in ("n", "unscored"):
        counts = [
            [n for n, _ in groupby(c[what] for c in line if c and not _missing(c[what]))]
            for line in lines
        ]
        known = {x for line in counts for x in line}
        if known == {0} and what == "unscored":
            notes.append("none is unscored")
        elif len(known) == 1 and all(counts):
            notes.append(f"{what} = {number(known.pop(), 0)}")
        elif known:
            columns[what] = [_listed(line) for line in counts]
    return columns, notes


def _listed(counts):
    """A line's numbers of units, one for neighbours that share it, or their range if many."""
    if len(counts) > 4:
        return f"{number(min(counts), 0)} to {number(max(counts), 0)}"
    return " / ".join(number(x, 0) for x in counts)
