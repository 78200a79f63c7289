"""Layouts: a long table in the paper's own shape, for readers of pages, Markdown and LaTeX.

Layout(row="dataset: rater", across=("dataset", "column"))

splits labels such as "HealthQA: GPT-4"; then each rater has a line, and each dataset has a column
for each measure. Published numbers are above computed ones: each source has a line of its own, or a
column if "source" is among the parts that go across.
"""

from __future__ import annotations

import dataclasses
import html
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby
from typing import TYPE_CHECKING

from bedside.read import prompts
from bedside.read.published import SOURCES

if TYPE_CHECKING:
    pass

UNNAMED = ("row", "column", "source")  # parts without a heading in the stub
LEGEND = {
    "=": "= equals the printed number to its last digit",
    "≈": "≈ has the printed number within its confidence interval",
    "≠": "≠ differs from the printed number beyond rounding",
}
ASIDE = r"( ?\[.*\])?( ?\(.*\bto\b.*\))?"  # what may follow a number: interval, bounds
# what a page calls a table of more columns: its intervals stand below their numbers; it is printed
# across the sheet
LABEL = ' class="label"'
WIDTHS = {"wide": 5, "wider": 14}


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
    def read(cls, kept: dict | None) -> Layout:
        """A layout as a manifest has it; a run of before may have options that went."""
        names = {f.name for f in dataclasses.fields(cls)}
        return cls(**{k: v for k, v in (kept or {}).items() if k in names and v is not None})

    def parts(self) -> list[str]:
        """The names of all parts, in the order of the labels, and the source."""
        return [*re.findall(r"\w+", f"{self.row} {self.column}"), "source"]

    def apart(self, row: dict) -> tuple[str, ...]:
        """The parts of a row's labels, and its source."""
        parts = []
        for form, label in ((self.row, row["row"]), (self.column, row["column"])):
            for separator in re.split(r"\w+", form)[1:-1]:
                part, _, label = label.partition(separator)
                parts.append(part)
            parts.append(label)
        return (*parts, row["source"])


def number(value: float | None, digits: int | None) -> str:
    """A number for readers: fixed decimals, or its shortest form; empty for a missing one.

    Halves are rounded up, by the ten significant digits that a CSV holds: a table says the same
    wherever it is read from. A zero has no sign, also one that was rounded.
    """
    if value is None or value != value:
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
    import pandas as pd

    layout, words = layout or Layout(), {**(words or {}), **SOURCES}
    names, frame = layout.parts(), pd.DataFrame(rows)
    numbers = ["value", "low", "high", "n", "unscored", "worst", "best"]
    frame = frame.reindex(columns=["row", "column", "source", *numbers])
    frame[numbers] = frame[numbers].astype(float)
    parts = pd.DataFrame([layout.apart(row) for row in rows], columns=names)
    filled = [n for n in names if parts[n].ne("").any()]
    across = [n for n in layout.across if n in filled] or ["source"]
    down = [n for n in filled if n not in across]
    lines, columns = _places(parts, down), _places(parts, across)
    frame["line"], frame["across"] = ([*zip(*(parts[n] for n in w))] for w in (down, across))
    frame["sign"] = [*_signs(frame, parts)]
    frame["text"] = [*_texts(frame, layout.digits)]
    cells = {(r["line"], r["across"]): r for r in frame.to_dict("records")}
    counts, notes = _counts(frame, lines)
    if frame["worst"].notna().any():
        notes.insert(0, "(a to b): the value if everything unscored were worst, or best")
    signs = set(frame["sign"]) if legend else ()
    notes = [meaning for sign, meaning in LEGEND.items() if sign in signs] + notes
    head = [[words.get(v, v) for v in level] + [""] * len(counts) for level in zip(*columns)]
    head[-1][len(columns) :] = counts
    made = [[cells.get((line, column)) for column in columns] for line in lines]
    return Grid(
        ["" if n in UNNAMED else n for n in down],
        head,
        [
            (
                [words.get(v, v) for v in line],
                [r["text"] if r else "" for r in row] + [c[line] for c in counts.values()],
            )
            for line, row in zip(lines, made)
        ],
        [re.sub("^none", "None", f"{'; '.join(notes)}.")] if notes else [],
        [[r and f"{r['row']}|{r['column']}" for r in row] for row in made],
    )


def _places(parts, ways):
    """The places of some parts, each beside those that it shares its first parts with."""
    sources = parts["source"].map(list(SOURCES).index)
    ranks = {
        k: sources if way == "source" else parts.groupby(ways[: k + 1], sort=False).ngroup()
        for k, way in enumerate(ways)
    }
    order = parts.assign(**{f"rank {k}": rank for k, rank in ranks.items()})
    order = order.sort_values([f"rank {k}" for k in ranks], kind="stable")
    return list(dict.fromkeys(zip(*(order[n] for n in ways))))


def _decimals(values):
    """How many decimals numbers are written with; NaN for a missing one."""
    return values.map(lambda v: len(f"{v:.10g}".partition(".")[2]), na_action="ignore")


def _signs(frame, parts):
    """The sign for each computed number that has a printed one beside it.

    A run, which has models or data of its own, doesn't differ from what is printed; nor does a
    simulation by a rule of ours.
    """
    said = frame["source"] == "published"
    keys = [*zip(*(parts[n] for n in parts.columns[:-1]))]
    printed = dict(zip((k for k, own in zip(keys, said) if own), frame.loc[said, "value"]))
    decimals = _decimals(frame["value"].where(said)).groupby(frame["column"]).transform("max")
    for r, key, own, digits in zip(frame.to_dict("records"), keys, said, decimals):
        value, beside = r["value"], float("nan") if own else printed.get(key, float("nan"))
        if abs(value - beside) <= 0.5 * 10**-digits + 1e-9:
            yield "="
        elif r["low"] <= beside <= r["high"]:
            yield "≈" if value == value else ""
        else:
            known = value == value and beside == beside
            yield "≠" if known and r["source"] not in ("run", "simulated") else ""


def _texts(frame, digits):
    """Numbers as readers see them, with their signs, intervals and bounds.

    Where all of a row or column are whole, they have no decimals, and nowhere more than the printed
    ones of their column, if these are several.
    """
    counts = frame["value"].isna() | (frame["value"] % 1 == 0) & frame["low"].isna()
    whole = [counts.groupby(frame[c]).transform("all") for c in ("row", "column")]
    decimals = _decimals(frame["value"].where(frame["source"] == "published"))
    printed = decimals.groupby(frame["column"]).agg(["max", "count"])
    for r, none in zip(frame.to_dict("records"), whole[0] | whole[1]):
        most, places = printed.loc[r["column"]], digits
        if digits is not None:
            places = min(digits, int(most["max"]) or digits) if most["count"] > 2 else digits
            places = 0 if none else places
        value, low, high, worst, best = (
            number(r[k], places) for k in ("value", "low", "high", "worst", "best")
        )
        ends, bounds = f" [{low}, {high}]" if low else "", f" ({worst} to {best})" if worst else ""
        yield f"{r['sign']} {value}{ends}{bounds}".strip()


def _counts(frame, lines):
    """Numbers of units: columns {what: {line: text}}, and notes where all are the same."""
    columns, notes = {}, []
    for what in ("n", "unscored"):
        known = frame.dropna(subset=[what]).groupby("line", sort=False)[what].agg(["min", "max"])
        if what == "unscored" and set(known["max"]) == {0}:
            notes.append("none is unscored")
        elif len(known) == len(lines) and len(same := {*known["min"], *known["max"]}) == 1:
            notes.append(f"{what} = {same.pop():.0f}")
        elif len(known):
            texts = {
                line: f"{a:.0f}" + f" to {b:.0f}" * (a != b) for line, a, b in known.itertuples()
            }
            columns[what] = {line: texts.get(line, "") for line in lines}
    return columns, notes


@dataclasses.dataclass
class Grid:
    """A table for readers: heading lines, lines, and notes on its signs and numbers of units.

    stub: headings of the columns of labels. head: lines of headings over the other columns. lines:
    (labels, cells) each. places: for each line "row|column" of its cells, from which `address`
    makes their addresses. A notebook shows it as an HTML table.
    """

    stub: list[str]
    head: list[list[str]]
    lines: list[tuple[list[str], list[str]]]
    notes: list[str]
    places: list[list[str | None]]

    def _repr_html_(self):
        return self.html()

    def html(self, name: str = "", taken: set[str] | None = None) -> str:
        """The table and its notes as HTML; everything escaped.

        name: of the output, so that cells have addresses. taken: the addresses given already.
        """
        taken = set() if taken is None else taken
        head = [[], *([] for _ in self.head[1:])]
        head[0] = [_html(s, "th", LABEL + _span("row", len(self.head))) for s in self.stub]
        for k, cells in enumerate(head):
            spans = zip(self.head[k], _spans([*zip(*self.head)], k))
            cells += [_html(text, "th", _span("col", n)) for text, n in spans if n]
        body, labels = [], [labels for labels, _ in self.lines]
        reach = zip(*(_spans(labels, k) for k in range(len(self.stub))))
        for (names, cells), spans, places in zip(self.lines, reach, self.places):
            row = [_html(t, "th", _span("row", n)) for t, n in zip(names, spans) if n]
            for text, place in zip(cells, [*places, *[None] * len(cells)]):
                more = ' class="off"' if text.startswith("≠") else ""
                if name and place and (to := address(name, place)) not in taken:
                    taken.add(to)
                    more += f' id="{html.escape(to)}"'
                row.append(_html(text, "td", more))
            body.append(row)
        head, body = ("".join(f"<tr>{''.join(row)}</tr>" for row in part) for part in (head, body))
        notes = f"<p>{html.escape(self.note)}</p>" if self.notes else ""
        kind = " ".join(["numbers", *(k for k, n in WIDTHS.items() if len(self.head[0]) > n)])
        return f'<table class="{kind}"><thead>{head}</thead><tbody>{body}</tbody></table>{notes}'

    @property
    def note(self) -> str:
        return " ".join(self.notes)

    def markdown(self, title: str, caption: str) -> str:
        """The table as Markdown."""
        heads = [*self.stub, *(": ".join(filter(None, column)) for column in zip(*self.head))]
        rows, before = [heads], [None] * len(self.stub)
        for labels, cells in self.lines:
            new = [a if labels[: k + 1] != before[: k + 1] else "" for k, a in enumerate(labels)]
            rows, before = [*rows, [*new, *cells]], labels
        head, *body = (f"| {' | '.join(map(_markdown, row))} |" for row in rows)
        rule = "|" + "---|" * len(self.stub) + "--:|" * len(self.head[0])
        about = [line for text in (caption, self.note) if text for line in (_markdown(text), "")]
        return "\n".join([f"**{_markdown(title)}**", "", head, rule, *body, "", *about])

    def latex(self, title: str, caption: str) -> str:
        """The table as pandas writes LaTeX."""
        import pandas as pd

        text = prompts.plain(" ".join(filter(None, [f"{title}.", caption, self.note])))
        blank = [[""] * len(self.stub)] * (len(self.head) - 1)
        heads = [[*map(prompts.plain, [*a, *b])] for a, b in zip([*blank, self.stub], self.head)]
        columns = pd.MultiIndex.from_arrays(heads) if len(heads) > 1 else heads[0]
        frame = pd.DataFrame([[*labels, *cells] for labels, cells in self.lines], columns=columns)
        caption = re.sub(r"([\\&%$#_{}])", r"\\\1", text)
        return frame.map(prompts.plain).to_latex(index=False, escape=True, caption=caption)


def address(output: str, place: str) -> str:
    """The address of an output's cell on its study's page: place is "row|column" of its CSV."""
    return re.sub(r"\s+", "_", f"{output}|{place}")


def _spans(labels, k):
    """Over how many neighbours each label of level k reaches; 0 where the one before does."""
    for _, same in groupby(label[: k + 1] for label in labels):
        n = len([*same])
        yield from [n] + [0] * (n - 1)


def _span(way, n):
    return f' {way}span="{n}"' if n > 1 else ""


def _html(text, tag, attributes):
    """An element; names break at their parts, cells before a small interval only."""
    tag, text = tag if text else "td", html.escape(text)
    if tag == "th":
        text = text.replace("_", "_<wbr>")
    else:
        text = re.sub(r"(?<!/) (?![\[(])", "\N{NO-BREAK SPACE}", text)
        text = re.sub(ASIDE + "$", lambda m: f"<small>{m[0]}</small>" if m[0] else "", text)
    return f"<{tag}{attributes}>{text}</{tag}>"


def _markdown(text):
    return re.sub(r"([|\\`*_<>\[\]])", r"\\\1", prompts.plain(text)).replace("\n", " ")
