"""The papers' printed numbers, from data/published/<paper>.csv, and their likely slips."""

import csv
import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from bedside import BedsideError, choose

from . import paths

if TYPE_CHECKING:
    import pandas as pd

SOURCES = {
    "published": "Published",
    "recomputed": "Derived",
    "raw": "From released data",
    "simulated": "Our simulation",
    "run": "This run",
}
COLUMNS = ["table", "row", "column", "value", "low", "high", "note"]


class Slip(NamedTuple):
    """A row of data/slips.csv: a printed number that is likely a slip, and what may be meant.

    value: what may be meant, with the decimals that it would be printed with. why: what speaks for
    it. against: what speaks for the number as it is printed, or empty.
    """

    paper: str
    table: str
    row: str
    column: str
    value: str
    why: str
    against: str

    def __str__(self) -> str:
        """The slip in words, with the number as it is printed."""
        digits = len(self.value.partition(".")[2])
        place = f"{re.sub(r'^text (?=[0-9])', 'section ', self.table)} ({self.row}, {self.column})"
        return f"{value(*self[:4]):z.{digits}f} in {place} is a slip for {self.value}"


def slips(paper: str) -> list[Slip]:
    """The likely slips of a paper; BedsideError if one isn't about a printed number."""
    with open(paths.SLIPS, newline="", encoding="utf-8") as f:
        slips = [Slip(**row) for row in csv.DictReader(f) if row["paper"] == paper]
    for slip in slips:
        value(*slip[:4])
    return slips


@functools.cache
def load(paper: str) -> "pd.DataFrame":
    """All printed numbers of a paper, as a frame with COLUMNS."""
    import pandas as pd

    path, numbers = paths.PUBLISHED / f"{paper}.csv", ["value", "low", "high"]
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if list(frame.columns) != COLUMNS:
            raise ValueError(f"the columns are {list(frame.columns)}, expected {COLUMNS}")
        if (same := frame[frame.duplicated(["table", "row", "column"])]).size:
            raise ValueError(f"{same.iloc[0, :3].tolist()} occurs twice")
        return frame.assign(**frame[numbers].replace("", None).astype(float))
    except (OSError, ValueError) as e:
        raise BedsideError(f"{paths.rel(path)}: {e}") from None


def table(paper: str, *names: str) -> "pd.DataFrame":
    """The printed numbers of a table (or figure, or 'text ...') or of several; without names, all.

    Rows in printed order, with COLUMNS.
    """
    import pandas as pd

    frame = load(paper)
    names = names or frame["table"].unique()
    for name in names:
        choose(name, frame["table"].unique(), f"table of data/published/{paper}.csv")
    return pd.concat([frame[frame["table"] == name] for name in names], ignore_index=True)


def value(paper: str, name: str, row: str, column: str) -> float:
    """One printed number. Percentages stay percentages."""
    rows = table(paper, name)
    hit = rows[(rows["row"] == row) & (rows["column"] == column)]
    if len(hit) != 1:
        raise BedsideError(f"data/published/{paper}.csv: {name!r} has no {row!r}, {column!r}")
    return float(hit["value"].iloc[0])
