"""Layouts: a long table in the paper's own shape, for readers of pages, Markdown and LaTeX.

Layout(row="dataset: rater", across=("dataset", "column"))

splits labels such as "HealthQA: GPT-4"; then each rater has a line, and each dataset has a column
for each measure. Published and computed numbers are neighbours: each source has a line of its own,
or a column if "source" is among the parts that go across.
"""

import dataclasses
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby

from bedside.read.published import SOURCES

from .grids import Grid

FORM = {"row": "row", "column": "column"}
UNNAMED = (*FORM, "source")  # parts without a heading in the stub
LEGEND = {
    "=": "= equals the printed number to its last digit",
    "≈": "≈ has the printed number within its confidence interval",
    "≠": "≠ differs from the printed number beyond rounding",
}
BESIDE = "†"  # marks a column of recomputed numbers in lines of printed ones
ALONE = {
    "published": "Every number is as printed.",
    "recomputed": "Every number is recomputed from printed ones.",
    "raw": "Every number is computed from raw data.",
    "run": "Every number is from this run.",
}


@dataclasses.dataclass(frozen=True)
class Layout:
    """Which parts of a table's labels go across; the others go down.

    row, column: the names of a label's parts with their separator, as "dataset: rater"; a label
    without the separator has empty later parts. across: parts in the order of the headings, from
    the top, with or without "source"; () gives a line for each number, None decides by their
    number. digits: decimals for readers, None for each number's shortest form. counts: parts whose
    numbers are counts, None: guessed. only: {"row", "column" or "source": regular expression};
    other rows form a table of their own below, with the layout `then`. There belong computed
    numbers that follow a rule of ours: no printed one is to equal them, and beside it they would
    get a ≠.
    """

    row: str = FORM["row"]
    column: str = FORM["column"]
    across: tuple[str, ...] | None = None
    digits: int | None = 2
    counts: tuple[str, ...] | None = None
    only: dict[str, str] = dataclasses.field(default_factory=dict)
    then: "Layout | None" = None

    @classmethod
    def read(cls, kept: "dict | None") -> "Layout | None":
        """A layout as a manifest has it; a run of before may have options that went."""
        if kept is None:
            return None
        known = {f.name: kept[f.name] for f in dataclasses.fields(cls) if f.name in kept}
        if known["across"]:
            known["across"] = tuple(n for n in known["across"] if n != "group")
        return cls(**known | {"then": cls.read(known["then"])})

    def parts(self) -> list[str]:
        """The names of all parts, in the order of the labels."""
        return [*_names(self.row), *_names(self.column)]

    def apart(self, row: str, column: str) -> tuple[str, ...]:
        """The parts of a row's and a column's label."""
        return (*_apart(self.row, row), *_apart(self.column, column))

    def takes(self, row: dict) -> bool:
        """Whether a row is of this table, not of the one below."""
        return all(re.search(form, row[of]) for of, form in self.only.items())


def _names(form):
    return re.findall(r"\w+", form)


def _apart(form, label):
    """A label's parts."""
    found, rest = [], label
    for separator in re.split(r"\w+", form)[1:-1]:
        part, _, rest = rest.partition(separator)
        found.append(part)
    return [*found, rest] if found else [label]


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


def _told(row, digits):
    """A number with its sign, interval and bounds; at most with its column's printed decimals."""
    digits = row["digits"] if digits is not None and row["digits"] in range(digits) else digits
    low, high = number(row["low"], digits), number(row["high"], digits)
    told = f"{row['sign']} {number(row['value'], 0 if row['count'] else digits)}"
    told += f" [{low}, {high}]" if low else ""
    if not _missing(row.get("worst")):
        told += f" ({number(row['worst'], digits)} to {number(row['best'], digits)})"
    return told.strip()


# ---- from long to wide


def grid(
    rows: list[dict],
    layout: Layout | None = None,
    digits: int | None = 2,
    told: str = "",
    words: dict[str, str] | None = None,
) -> Grid:
    """Rows with the keys of `tables.COLUMNS` as a table for readers; None or NaN is no number.

    digits: decimals, None for each number's shortest form. A computed number that equals the
    printed one to its last digit, and has no interval, becomes a sign beside that one; a column
    that is only recomputed is put in the lines of the printed numbers. told: the signs that have
    been explained already.
    """
    layout = layout or Layout()
    mine = [row for row in rows if layout.takes(row)]
    others = [row for row in rows if not layout.takes(row)]
    if not mine:  # a profile may have only the others
        return grid(others, layout.then, digits, told, words)
    made = _grid(mine, layout, digits, told, words or {})
    if others:
        told += "".join(sign for sign in LEGEND if LEGEND[sign] in made.note)
        below = grid(others, layout.then, digits, told, words)
        made.below, below.below = [below, *below.below], []
    return made


def _grid(rows, layout, digits, known, words):
    """One table; known signs are not explained again."""
    words = {**words, **SOURCES}
    names, numbers = [*layout.parts(), "source"], _numbers(rows, layout)
    used = [s for s in SOURCES if any(key[-1] == s for key in numbers)]
    across = _across(names, numbers, used) if layout.across is None else layout.across
    across = [n for n in across if n != "source" or len(used) > 1] or ["source"]
    filled = {n for key in numbers for n, part in zip(names, key) if part}
    down = [n for n in names if n in filled - {*across} and (n != "source" or len(used) > 1)]
    beside = set()
    if "source" in down:
        numbers, beside = _joined(_without_agreeing(numbers), [names.index(n) for n in across])
    lines, columns = (_ordered(numbers, [names.index(n) for n in ways]) for ways in (down, across))
    places = {}
    for key, found in numbers.items():
        line, column = (tuple(key[names.index(n)] for n in ways) for ways in (down, across))
        places[line, column] = found
    cells = [[places.get((line, column)) for column in columns] for line in lines]
    told = [[_told(c, digits) if c else "" for c in line] for line in cells]
    counted, notes = _counted(cells)
    stub = ["" if n in UNNAMED else n for n in down]
    shown = [[words.get(v, v) for v in line] for line in lines]
    head = [[words.get(v, v) for v in way] for way in zip(*columns)]
    head[-1] = [f"{h} {BESIDE}" if c in beside else h for h, c in zip(head[-1], columns)]
    head = [level + [""] * len(counted) for level in head[:-1]] + [head[-1] + list(counted)]
    told = [t + [c[i] for c in counted.values()] for i, t in enumerate(told)]
    signs = {c["sign"] for line in cells for c in line if c}
    notes = [text for sign, text in LEGEND.items() if sign in signs and sign not in known] + notes
    if beside:
        own = " (in lines of this run: from this run)" if "run" in used else ""
        notes.append(f"{BESIDE}: {SOURCES['recomputed'].lower()}{own}")
    if any(c and not _missing(c.get("worst")) for line in cells for c in line):
        notes.append("(a to b): the value if everything unscored were worst, or best")
    alone = [ALONE[used[0]]] if len(used) == 1 else []
    notes = [re.sub("^none", "None", f"{'; '.join(notes)}.")] if notes else []
    made = Grid(stub, head, list(zip(shown, told)), alone + notes)
    made.places = [[c and f"{c['row']}|{c['column']}" for c in line] for line in cells]
    return made


def _numbers(rows, layout):
    """{(parts of the labels, source): a row with its sign}."""
    numbers = {
        (*layout.apart(row["row"], row["column"]), row["source"]): {**row, "sign": ""}
        for row in rows
    }
    return _compared_all(numbers, _counts(rows) if layout.counts is None else {*layout.counts})


def _compared_all(numbers, counts):
    """The numbers, each with its decimals if the paper says so, and its sign beside a printed one.

    counts: labels, or parts of them, of numbers without decimals. A run, which has models or data
    of its own, doesn't differ from what is printed.
    """
    decimals = {}
    for place, row in numbers.items():
        row["count"] = not counts.isdisjoint((row["row"], row["column"], *place))
        if place[-1] == "published" and not _missing(row["value"]):
            n = len(f"{row['value']:.10g}".partition(".")[2])
            decimals.setdefault(row["column"], []).append(n)
    for place, row in numbers.items():
        of = decimals.get(row["column"], [0])
        row["digits"] = max(of) if len(of) > 2 and max(of) else None  # few may end in 0 by chance
        printed = numbers.get((*place[:-1], "published"))
        if printed and printed is not row:
            sign = _compared(row, printed["value"], max(of))
            row["sign"] = "" if sign == "≠" and row["source"] == "run" else sign
    return numbers


def _counts(rows):
    """The labels whose numbers are counts: all whole, the largest at least 10, no interval."""
    found = {}
    for row in rows:
        if not _missing(row["value"]):
            whole = row["value"] % 1 == 0 and _missing(row["low"])
            for what in FORM:
                found.setdefault((what, row[what]), []).append(row["value"] if whole else None)
    return {
        label
        for (_, label), values in found.items()
        if None not in values and min(values) >= 0 and max(values) >= 10
    }


def _missing(value):
    return value is None or value != value


def _compared(row, printed, decimals):
    """The sign for a computed number beside the printed one, which has so many decimals."""
    if _missing(row["value"]) or _missing(printed):
        return ""
    if abs(row["value"] - printed) <= 0.5 * 10**-decimals + 1e-9:
        return "="
    inside = not _missing(row["low"]) and row["low"] <= printed <= row["high"]
    return "≈" if inside else "≠"


def _without_agreeing(numbers):
    """The numbers without computed ones that only agree: the printed ones get their sign."""
    kept = dict(numbers)
    for place, row in numbers.items():
        if row["sign"] == "=" and _missing(row["low"]) and _missing(row.get("worst")):
            printed = (*place[:-1], "published")
            kept[printed] = {**kept[printed], "sign": "="}
            del kept[place]
    return kept


def _joined(numbers, across):
    """Numbers, recomputed ones in the lines of the printed ones that they rest on.

    And the places across of these, where nothing but a run has numbers besides.
    """
    ways, sources = {}, {}
    for key in numbers:
        line = tuple(part for i, part in enumerate(key[:-1]) if i not in across)
        ways[key] = line, tuple(key[i] for i in across)
        sources.setdefault(ways[key][1], set()).add(key[-1])
    printed = {line for key, (line, _) in ways.items() if key[-1] == "published"}
    kept, beside = {}, set()
    for key, (line, place) in ways.items():
        if line in printed and sources[place] - {"run"} == {"recomputed"} == {key[-1]}:
            beside.add(place)
            kept[(*key[:-1], "published")] = numbers[key]
        else:
            kept[key] = numbers[key]
    return kept, beside


def _across(names, numbers, used):
    """What goes across where no layout says so: columns if there are few of them, else rows."""
    if not {*FORM} <= {*names}:
        return ["source"]
    wide = 8
    places = {key[:-1] for key in numbers}
    rows, columns = ({p[names.index(n)] for p in places} for n in FORM)
    full = len(places) >= len(rows) * len(columns) / 2
    both = len(numbers) >= 1.5 * len(places)  # most numbers have a neighbour of another source
    beside = ["source"] if both and len(used) * len(columns) <= wide else []
    if full and len(columns) <= wide:
        return ["column", *beside]
    if full and len(rows) <= wide:
        return ["row"]
    return ["source"]


def _ordered(numbers, ways):
    """The places of some parts, each beside those that it shares its first parts with."""
    first, places, sources = {}, {}, {s: n for n, s in enumerate(SOURCES)}
    for key in numbers:
        place = tuple(key[i] for i in ways)
        places[place] = None
        for k in range(len(ways)):
            first.setdefault(place[: k + 1], len(first))

    def rank(place):
        return [sources.get(part, first[place[: k + 1]]) for k, part in enumerate(place)]

    return sorted(places, key=rank)


def _counted(cells):
    """Numbers of units: columns {what: text for each line}, and notes where all are the same."""
    columns, notes = {}, []
    for what in ("n", "unscored"):
        lines = [
            [n for n, _ in groupby(c[what] for c in line if c and not _missing(c[what]))]
            for line in cells
        ]
        found = {x for line in lines for x in line}
        if found == {0} and what == "unscored":
            notes.append("none is unscored")
        elif len(found) == 1 and all(lines):
            notes.append(f"{what} = {number(found.pop(), 0)}")
        elif found:
            columns[what] = [_listed(line) for line in lines]
    return columns, notes


def _listed(counts):
    """A line's numbers of units, one for neighbours that share it, or their range if many."""
    if len(counts) > 4:
        return f"{number(min(counts), 0)} to {number(max(counts), 0)}"
    return " / ".join(number(x, 0) for x in counts)
