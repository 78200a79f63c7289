"""The papers' printed numbers, from data/published/<paper>.csv."""

import functools
from typing import TYPE_CHECKING

from . import BedsideError, paths

if TYPE_CHECKING:
    import pandas as pd

SOURCES = {
    "published": "Published",
    "recomputed": "Recomputed",
    "raw": "From raw data",
    "run": "This run",
}
COLUMNS = ["table", "row", "column", "value", "low", "high", "note"]


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
    """The rows of one printed table (or figure, or 'text ...') or of several, in printed order."""
    import pandas as pd

    frame = load(paper)
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
