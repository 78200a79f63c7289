"""Radiation: its printed tables. A printed number stands for all that round to it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from bedside.run import Run
from bedside.stats.rounded import Rounded
from bedside.write.results import published

from .data import REGIMES

PRINTED = 21  # patients behind the printed means
DIGITS = 2  # decimals of all tables
ROUNDED = 0.005
TWO = 2 * ROUNDED  # what rounding can do to a difference of two printed numbers
TABLES = range(1, 8)
STRONG = ["O4-Mini", "GPT-5.3"]  # section 4.7 names them; the models that aren't open


def rows_of(run: Run, table: str) -> pd.DataFrame:
    """A printed table's rows with n, where Phi-3-Medium-4K is Phi-3-Medium as in Table 1."""
    rows = published(run, table, n=PRINTED)
    return rows.assign(row=rows["row"].str.removesuffix("-4K"))


def wide(run: Run, table: str, what: str = "value") -> pd.DataFrame:
    """A printed table, models by columns, in printed order; what: value, low or high.

    A change has the name of its score.
    """
    rows = rows_of(run, table)
    rows = rows.assign(column=rows["column"].str.strip("Δ "))
    found = rows.pivot(index="row", columns="column", values=what)
    return found.loc[rows["row"].unique(), rows["column"].unique()]


def printed_tables(run: Run) -> dict[int, Rounded]:
    """Tables 1 to 7 by number."""
    return {n: Rounded.printed(wide(run, f"Table {n}"), DIGITS) for n in TABLES}


def scores(tables: Mapping[int, Any]) -> dict[str, Any]:
    """{regime: precision, recall, F1}; free-form, 20-30 is Table 1 plus Table 2."""
    return dict(zip(REGIMES, (tables[1], tables[1] + tables[2], tables[3], tables[4])))


def all_scores(run: Run) -> dict[str, pd.DataFrame]:
    """{regime: printed precision, recall, F1}."""
    return scores({n: wide(run, f"Table {n}") for n in range(1, 5)})


def reference_sizes(run: Run, patients: pd.DataFrame, reference: pd.DataFrame) -> pd.Series:
    """Effects in the patients' references: as released, or the range in section 3.4."""
    if run.profile == "public":
        return patients["site"].map(reference.groupby("site").size())
    return run.published("text 3.4").set_index("row").loc["side effects per profile", "value"]


def lengths(tables: Mapping[int, Rounded], size: float) -> dict[str, Rounded]:
    """{regime: entries of the lists} that the printed scores imply, by model.

    hits = precision x entries = recall x size, exactly for one list. With the mean size of the
    references the entries are about those of the mean list; with the smallest, the longest list has
    at least so many, because mean precision >= mean recall x smallest size / longest list.
    """
    return {k: s.Recall * size / s.Precision for k, s in scores(tables).items()}
