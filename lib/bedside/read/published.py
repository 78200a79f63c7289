"""The papers' printed numbers, from data/published/<paper>.csv, and their likely slips."""

import csv
import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from bedside import BedsideError

from . import paths

if TYPE_CHECKING:
    import pandas as pd

SOURCES = {
    "published": "Published",
    "recomputed": "Recomputed",
    "raw": "From raw data",
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
        printed = value(*self[:4])
        digits = len(self.value.partition(".")[2])
        table = re.sub(r"^text (?=\d)", "section ", self.table)
        place = f"{table} ({self.row}, {self.column})"
        return f"{printed:z.{digits}f} in {place} is a slip for {self.value}"


def slips(paper: str) -> list[Slip]:
    """The likely slips of a paper; BedsideError if one isn't about a printed number."""
    if not paths.SLIPS.is_file():
        return []
    with open(paths.SLIPS, newline="", encoding="utf-8") as f:
        rows = [row for row in csv.DictReader(f) if row["paper"] == paper]
    found = [Slip(**row) for row in rows]
    for slip in found:
        value(*slip[:4])
    return found


@functools.cache
def load(paper: str) -> "pd.DataFrame":
    """All printed numbers of a paper, as a frame with COLUMNS."""
    import pandas as pd

    path = paths.PUBLISHED / f"{paper}.csv"
    if not path.is_file():
        raise BedsideError(
            f"{paths.rel(path)} is missing; the printed numbers of {paper} belong there"
        )
    frame = pd.read_csv(
        path,
        dtype={"table": str, "row": str, "column": str, "note": str},
        keep_default_na=False,
        na_values={c: [""] for c in ("value", "low", "high")},
    )
    if list(frame.columns) != COLUMNS:
        raise BedsideError(
            f"{paths.rel(path)}: the columns are {list(frame.columns)}, expected {COLUMNS}"
        )
    same = frame[frame.duplicated(["table", "row", "column"])]
    if len(same):
        raise BedsideError(f"{paths.rel(path)}: {same.iloc[0, :3].tolist()} occurs twice")
    return frame


def table(paper: str, *names: str) -> "pd.DataFrame":
    """The printed numbers of a table (or figure, or 'text ...') or of several; without names, all.

    Rows in printed order, with COLUMNS.
    """
    import pandas as pd

    frame = load(paper)
    names = names or frame["table"].unique()
    parts = [frame[frame["table"] == name] for name in names]
    for name, rows in zip(names, parts):
        if rows.empty:
            raise BedsideError(
                f"data/published/{paper}.csv has no table {name!r}; it has:"
                f" {', '.join(frame['table'].unique())}"
            )
    return pd.concat(parts, ignore_index=True)


def value(paper: str, name: str, row: str, column: str) -> float:
    """One printed number. Percentages stay percentages."""
    rows = table(paper, name)
    hit = rows[(rows["row"] == row) & (rows["column"] == column)]
    if len(hit) != 1:
        raise BedsideError(f"data/published/{paper}.csv: {name!r} has no {row!r}, {column!r}")
    return float(hit["value"].iloc[0])
