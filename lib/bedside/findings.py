"""Findings: what is worth telling of each study, from data/findings/<paper>.csv and .toml.

    for f in findings.load("my_paper"):
        print(f.rank, f.finding)  # in plain words, its numbers read from the outputs of `public`

A finding is of printed and recomputed values, never of a run. Its numbers are no typed ones:
{output | row | column | source} stands for a cell of figures/<profile>/<paper>/<output>.csv, and
{output | row | column | source | .0%} gives it a format other than the shortest. A format that
begins with - is of the opposite number: a change as a loss. What a finding rests on, what
contradicts it and what would change it stand in the .toml file, by its id.
"""

import csv
import re
import tomllib
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import NamedTuple

from . import BedsideError, choose, claims, given, paths

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
    cells: the cells that it refers to, as (output, row, column, source). lacks: those that the
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
    table = given.of_file(path, COLUMNS, COLUMNS)
    told = tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))
    outputs = _Outputs((folder or paths.FIGURES / "public") / paper)
    found, ids, ranks = [], {}, {}
    for place, row in table.rows:
        table.filled(place, row, COLUMNS)
        table.once(ids, place, row["id"], "this finding")
        table.once(ranks, place, row["rank"], "this rank")
        try:
            found.append(_finding(paper, row, told.pop(row["id"], {}), outputs))
        except BedsideError as e:
            table.fault(place, "", str(e))
    for id in told:
        table.fault("line 1", "id", f"{path.stem}.toml has words for {id!r}, which is no finding")
    table.close("finding")
    return sorted(found, key=lambda f: f.rank)


def _finding(paper, row, about, outputs):
    choose(row["of"], OF, "source of a finding")
    choose(row["rank"], [*"12345"], "rank of a finding")
    for id in row["claims"].split():
        choose(id, claims.load(paper), "claim")
    if tuple(about) != ABOUT or not all(about.values()):
        raise BedsideError(f"its words in the .toml file must be {', '.join(ABOUT)}")
    outputs.read.clear()
    texts = {k: outputs.filled(text) for k, text in (("finding", row["finding"]), *about.items())}
    lacks = tuple(cell for cell, value in outputs.read.items() if value is None)
    parts = row | texts | {"rank": int(row["rank"]), "claims": tuple(row["claims"].split())}
    return Finding(**parts, cells=tuple(outputs.read), lacks=lacks)


class _Outputs:
    """The tables of a paper's folder, and which of their cells have been read."""

    def __init__(self, folder):
        self.folder, self.tables, self.read = folder, {}, {}

    def filled(self, text):
        """A text with its references filled in."""
        return REFERENCE.sub(self._number, text)

    def _number(self, match):
        *cell, form = (part.strip() for part in (match[1] + "|g").split("|")[:5])
        if len(cell) != 4:
            raise BedsideError(f"{match[0]}: a reference is output | row | column | source")
        choose(cell[3], SOURCES, "source of a finding's number")
        value = self.read[tuple(cell)] = self._value(*cell)
        if value is None:
            return LACKING
        value = -value if form.startswith("-") else value
        try:
            with localcontext(rounding=ROUND_HALF_UP):  # as tables for readers are rounded
                return format(value, form.removeprefix("-"))
        except ValueError:
            raise BedsideError(f"{match[0]}: {form!r} is no format of a number") from None

    def _value(self, output, *cell):
        path = self.folder / f"{output}.csv"
        if output not in self.tables and path.is_file():
            with open(path, newline="", encoding="utf-8") as f:
                rows = csv.DictReader(f)
                cells = {(r["row"], r["column"], r["source"]): r["value"] for r in rows}
                self.tables[output] = cells
        value = self.tables.get(output, {}).get(cell)
        return Decimal(value) if value else None
