"""Claims: what the papers say, from data/claims/<paper>.csv, and readings that bear on them.

    load("my_paper")["mp-1"].published          # as the file has it, its references filled in
    run.claim("mp-1", reading("41 of 50", 41 >= 40), basis="run")

A reading is a way to make a number of a claim: {name: (computed, low, high, holds)}. `holds` is
computed, never typed; None where the numbers can't decide. A claim without a reading needs what its
row names.
"""

import contextlib
import csv
import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from . import BedsideError, choose, paths, published

if TYPE_CHECKING:
    import numpy as np


OF = ("paper", "summary", "data", "own")  # which text says it; own: our own question
WEIGHT = ("central", "detail")
REFERENCE = re.compile(r"\{([^{}|]+)\|([^{}|]+)\|([^{}|]+)(?:\|([^{}|]+))?\}")


class Claim(NamedTuple):
    """A row of data/claims.

    `value` is the first number that `published` refers to, or the number that it is, or None.
    """

    id: str
    of: str
    section: str
    weight: str
    claim: str
    published: str
    needs: str
    value: float | None


COLUMNS = list(Claim._fields[:-1])


@functools.cache
def load(paper: str) -> dict[str, Claim]:
    """A paper's claims by id, in the order of the file.

    `published` is text in which {table | row | column} stands for a number of data/published, and
    {table | row | column | .1f} for the same in another format than the shortest. An id may end in
    @ and a word where one name stands for two claims. Raises BedsideError naming the line for
    anything else.
    """
    path = paths.CLAIMS / f"{paper}.csv"
    if not path.is_file():
        raise BedsideError(f"{paths.rel(path)} is missing: what {paper} claims is kept there")
    found: dict[str, Claim] = {}
    with open(path, newline="", encoding="utf-8") as f:
        lines = csv.DictReader(f)
        if lines.fieldnames != COLUMNS:
            raise BedsideError(
                f"{paths.rel(path)}: columns are {lines.fieldnames}, expected {COLUMNS}"
            )
        for row in lines:
            try:
                choose(row["of"], OF, "text of a claim")
                choose(row["weight"], WEIGHT, "weight of a claim")
                if None in row.values() or None in row or not (row["id"] and row["claim"]):
                    raise BedsideError("a field is missing, or there are too many")
                if row["id"] in found:
                    raise BedsideError(f"claim {row['id']!r} stands there twice")
                told, numbers = _filled(paper, row["published"])
            except BedsideError as e:
                raise BedsideError(f"{paths.rel(path)}, line {lines.line_num}: {e}") from None
            with contextlib.suppress(ValueError):  # most claims are no single number
                numbers.append(float(told))
            value = numbers[0] if numbers else None
            found[row["id"]] = Claim(**{**row, "published": told}, value=value)
    return found


def _filled(paper, text):
    """A text with its references filled in, and their numbers."""
    numbers = []

    def number(match):
        numbers.append(published.value(paper, *(part.strip() for part in match.groups()[:3])))
        return format(numbers[-1], (match[4] or "g").strip())

    return REFERENCE.sub(number, text), numbers


def reading(
    computed: float | str,
    holds: "bool | np.bool | None",
    low: float | None = None,
    high: float | None = None,
    name: str = "reading",
) -> dict[str, tuple]:
    """One reading of a claim: what was computed, a number or words, and whether the claim holds."""
    return {name: (computed, low, high, None if holds is None else bool(holds))}


def same(run, id: str, computed: float | None, digits: int) -> dict[str, tuple]:
    """The reading of a claim that is one printed number: does the computed one print the same?

    computed: None if it can't be had; then there is no reading.
    """
    if computed is None:
        return {}
    shown = f"{computed:.{digits}f}"
    return reading(shown, shown == f"{load(run.paper)[id].value:.{digits}f}")


def verdict(claim: Claim, readings: dict) -> str:
    """What readings say of a claim: holds (all do), differs (none does), depends, undetermined.

    Without a reading that decides anything: needs, and what.
    """
    said = {holds for *_, holds in readings.values()}
    if not said - {None}:
        if not claim.needs:
            raise BedsideError(f"claim {claim.id!r}: neither decided nor said what it needs")
        return f"needs {claim.needs}"
    if said == {True}:
        return "holds"
    return "differs" if said == {False} else "undetermined" if None in said else "depends"
