"""Findings: what is worth telling of each study, from data/findings/<paper>.toml.

    for f in findings.load("my_paper"):
        print(f.rank, f.finding)  # in plain words, its numbers read from the outputs of `public`

A finding is of printed and recomputed values, never of a run. Its numbers are no typed ones:
{output | row | column | source} stands for a cell of figures/<profile>/<paper>/<output>.csv, and
{output | row | column | source | .0%} gives it a format other than the shortest. A format that
begins with - is of the opposite number: a change as a loss. source.low, source.high and source.n
are the ends of the cell's interval, and how many items are behind it.
"""

import csv
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from bedside import BedsideError, choose

from . import claims, outside, paths

SOURCES = ("published", "recomputed", "raw")
REFERENCE = re.compile(r"\{([^{}]*)\}")
LACKING = "…"

Text = Annotated[str, msgspec.Meta(min_length=1)]
Cell = tuple[str, str, str, str]


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An entry of data/findings, its numbers filled in.

    rank: 1 is the study's main finding. of: who says it; found: we, here. claims: their ids.
    output: the table or figure that shows it. rests, against, changes: on what it rests, what
    contradicts it, what would change it. cells: the cells that they refer to, as (output, row,
    column, source). lacks: those that the folder doesn't have, for which the texts have LACKING;
    such a finding is not to be shown.
    """

    rank: Annotated[int, msgspec.Meta(ge=1, le=5)]
    finding: Text
    of: Literal["paper", "summary", "found"]
    claims: list[str]
    output: Text
    rests: Text
    against: Text
    changes: Text
    id: str
    cells: list[Cell]
    lacks: list[Cell]


def load(paper: str, folder: Path | None = None) -> list[Finding]:
    """A paper's findings by rank, with the numbers in a profile's folder; none without a file.

    folder: figures/<profile>, figures/public if none is given. Raises BedsideError naming the
    finding that has a fault; a cell that the folder doesn't have is none.
    """
    path, found = paths.FINDINGS / f"{paper}.toml", {}
    for id, entry in paths.toml(path).items() if path.is_file() else ():
        try:
            finding = _finding(paper, id, entry, (folder or paths.FIGURES / "public") / paper)
            if (other := found.setdefault(finding.rank, finding)) is not finding:
                raise BedsideError(
                    f"rank {finding.rank} is already used by {other.id}. Give each finding its own"
                )
        except (BedsideError, ValueError) as e:
            raise BedsideError(f"{paths.rel(path)}, {id}: {e}") from None
    return [found[rank] for rank in sorted(found)]


def sentences(paper: str, folder: Path, file: str = "tables") -> dict[str, str]:
    """{table or figure: its message} of a paper, from tables.toml; without those that lack numbers.

    folder: figures/<profile>. file: this_run, for what the committed run's models did.
    """
    path, told = paths.FINDINGS / f"{file}.toml", {}
    for output, text in paths.toml(path).get(paper, {}).items() if path.is_file() else ():
        cells: dict = {}
        text = _filled(text, folder / paper, cells, ("run",) if file == "this_run" else SOURCES)
        if None not in cells.values():
            told[output] = text
    return told


def foremost() -> list[str]:
    """The ids of the findings that authors would most want to know, from foremost.txt, in order."""
    path = paths.FINDINGS / "foremost.txt"
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


def _finding(paper, id, entry, folder):
    cells = {}
    texts = {k: _filled(v, folder, cells) if isinstance(v, str) else v for k, v in entry.items()}
    lacks = [cell for cell, value in cells.items() if value is None]
    finding = outside.fitted({**texts, "id": id, "cells": [*cells], "lacks": lacks}, Finding)
    for claim in finding.claims:
        choose(claim, claims.load(paper), "claim")
    return finding


def _filled(text, folder, cells, sources=SOURCES):
    """A text with its references filled in; adds {cell: value or None} to `cells`."""

    def number(match):
        *cell, form = (part.strip() for part in f"{match[1]}|g".split("|")[:5])
        if len(cell) != 4:
            raise BedsideError(f"{match[0]}: a reference is output | row | column | source")
        choose(cell[3].partition(".")[0], sources, "source of a finding's number")
        value = cells[tuple(cell)] = _value(folder, *cell)
        if value is None:
            return LACKING
        try:
            with localcontext(rounding=ROUND_HALF_UP):  # as in tables for readers
                value *= -1 if form.startswith("-") else 1
                return claims.MINUS_ZERO.sub("", format(value, form.removeprefix("-")))
        except ValueError:
            raise BedsideError(f"{match[0]}: {form!r} isn't a format for a number") from None

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
