"""Findings: what is worth telling of each study, from data/findings/<paper>.csv and .toml.

    for f in findings.load("my_paper"):
        print(f.rank, f.finding)  # in plain words, its numbers read from the outputs of `public`

A finding is of printed and recomputed values, never of a run. Its numbers are no typed ones:
{output | row | column | source} stands for a cell of figures/<profile>/<paper>/<output>.csv, and
{output | row | column | source | .0%} gives it a format other than the shortest. A format that
begins with - is of the opposite number: a change as a loss. source.low, source.high and source.n
are the ends of the cell's interval, and how many items are behind it. What a finding rests on, what
contradicts it and what would change it stand in the .toml file, by its id.
"""

import csv
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import NamedTuple

from bedside import BedsideError, choose

from . import claims, paths, user_files

OF = ("paper", "summary", "found")  # who says it; found: we, here
SOURCES = ("published", "recomputed", "raw")
COLUMNS = ["id", "rank", "finding", "of", "claims", "output"]
ABOUT = ("rests", "against", "changes")
REFERENCE = re.compile(r"\{([^{}]*)\}")
LACKING = "…"


class Finding(NamedTuple):
    """A row of data/findings, its numbers filled in, with its words of the .toml file.

    rank: 1 is the study's main finding. claims: their ids. output: the table or figure that shows
    it. rests, against, changes: on what it rests, what contradicts it, what would change it.
    cells: the cells that they refer to, as (output, row, column, source). lacks: those that the
    folder doesn't have, for which the texts have LACKING; such a finding is not to be shown.
    """

    id: str
    rank: int
    finding: str
    of: str
    claims: tuple[str, ...]
    output: str
    rests: str
    against: str
    changes: str
    cells: tuple[tuple[str, str, str, str], ...]
    lacks: tuple[tuple[str, str, str, str], ...]


def load(paper: str, folder: Path | None = None) -> list[Finding]:
    """A paper's findings by rank, with the numbers in a profile's folder; none without a file.

    folder: figures/<profile>, figures/public if none is given. Raises BedsideError naming the line
    of a fault; a cell that the folder doesn't have is none.
    """
    path = paths.FINDINGS / f"{paper}.csv"
    if not path.is_file():
        return []
    table = user_files.of_file(path, COLUMNS, COLUMNS)
    words, found, seen = paths.toml(path.with_suffix(".toml")), [], {}
    for place, row in table.rows:
        table.filled(place, row, COLUMNS)
        for column in ("id", "rank"):
            table.once(seen, place, (column, row[column]), repr(row[column]), column)
        try:
            about = words.pop(row["id"], {})
            found.append(_finding(paper, row, about, (folder or paths.FIGURES / "public") / paper))
        except BedsideError as e:
            table.fault(place, "", str(e))
    for id in words:
        table.fault("line 1", "id", f"{path.stem}.toml has words for {id!r}, which is no finding")
    table.close("finding")
    return sorted(found, key=lambda f: f.rank)


def sentences(paper: str, folder: Path) -> dict[str, str]:
    """{table or figure: its message} of a paper, from tables.toml; without those that lack numbers.

    folder: figures/<profile>.
    """
    told = {}
    for output, text in paths.toml(paths.FINDINGS / "tables.toml").get(paper, {}).items():
        cells: dict = {}
        text = _filled(text, folder / paper, cells)
        if None not in cells.values():
            told[output] = text
    return told


def foremost() -> list[str]:
    """The ids of the findings that authors would most want to know, from foremost.txt, in order."""
    path = paths.FINDINGS / "foremost.txt"
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


def _finding(paper, row, about, folder):
    choose(row["of"], OF, "source of a finding")
    choose(row["rank"], [*"12345"], "rank of a finding")
    for id in row["claims"].split():
        choose(id, claims.load(paper), "claim")
    if tuple(about) != ABOUT or not all(about.values()):
        raise BedsideError(f"its words in the .toml file must be {', '.join(ABOUT)}")
    cells = {}
    texts = {k: _filled(text, folder, cells) for k, text in (row | about).items()}
    lacks = tuple(cell for cell, value in cells.items() if value is None)
    parts = {"rank": int(row["rank"]), "claims": tuple(row["claims"].split())}
    return Finding(**texts | parts, cells=tuple(cells), lacks=lacks)


def _filled(text, folder, cells):
    """A text with its references filled in; adds {cell: value or None} to `cells`."""

    def number(match):
        *cell, form = (part.strip() for part in f"{match[1]}|g".split("|")[:5])
        if len(cell) != 4:
            raise BedsideError(f"{match[0]}: a reference is output | row | column | source")
        choose(cell[3].partition(".")[0], SOURCES, "source of a finding's number")
        value = cells[tuple(cell)] = _value(folder, *cell)
        if value is None:
            return LACKING
        try:
            with localcontext(rounding=ROUND_HALF_UP):  # as in tables for readers
                value *= -1 if form.startswith("-") else 1
                return claims.MINUS_ZERO.sub("", format(value, form.removeprefix("-")))
        except ValueError:
            raise BedsideError(f"{match[0]}: {form!r} is no format of a number") from None

    return REFERENCE.sub(number, text)


def _value(folder, output, row, column, source):
    """The number of a cell, or None."""
    path = folder / f"{output}.csv"
    if not path.is_file():
        return None
    with open(path, newline="", encoding="utf-8") as f:
        rows = {(r["row"], r["column"], r["source"]): r for r in csv.DictReader(f)}
    source, _, end = source.partition(".")
    number = rows.get((row, column, source), {}).get(end or "value")
    return Decimal(number) if number else None
