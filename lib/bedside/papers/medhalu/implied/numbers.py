"""MedHalu's numbers as printed, by table and evaluator; their averages and differences."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from bedside.read.claims import near
from bedside.run import Run

from ..data import DATASETS, TYPES

ROUNDED = 0.005  # two decimals are printed
ALPHA = 0.05
SIX, TEN = "Table 6", "Table 10"  # scores without and with an expert's reason
SHORT = dict(zip(DATASETS, ["HQA", "LQA", "MQA"]))  # as Table 4 has them
LLMS, PEOPLE = ["LLaMA-2", "GPT-3.5", "GPT-4"], ["Experts", "Laypeople"]
OPEN, PROPRIETARY = LLMS[0], LLMS[1:]


def text(run, name):
    """The printed numbers of a table with one column, or of a section: {row: value}."""
    return run.published(name).set_index("row")["value"]


def grid(run, name):
    """A printed table in its own shape: rows by columns."""
    return run.published(name).pivot(index="row", columns="column", values="value")


def sizes(run):
    """{dataset: {type: number of answers}} of Table 4."""
    table = run.published("Table 4")
    cells = dict(zip(zip(table["row"], table["column"]), table["value"]))  # a pivot takes longer
    return {
        d: {t: int(cells[name, short]) for t, name in TYPES.items()} for d, short in SHORT.items()
    }


def classes(run: Run) -> dict[str, tuple[int, int]]:
    """{dataset: (hallucinated answers, other answers)} of Table 4."""
    return {d: (sum(n.values()) - n["none"], n["none"]) for d, n in sizes(run).items()}


def pairs(run):
    """Every answer of Table 4 as a row: dataset, type."""
    rows = [(d, t) for d, n in sizes(run).items() for t, k in n.items() for _ in range(k)]
    return pd.DataFrame(rows, columns=["dataset", "type"])


def long(run, table):
    """Table 6, 7, 8 or 10 long: row, dataset, metric, value."""
    rows = run.published(table)
    words = rows["column"].str.split()
    rows = rows.assign(dataset=words.str[0], metric=words.str[1])
    return rows[["row", "dataset", "metric", "value"]]


def by_row(run: Run, table: str) -> dict[tuple[str, str], dict[str, float]]:
    """A printed table's scores, {(row, dataset): {metric: value}}, in printed order."""
    return {
        key: dict(zip(part["metric"], part["value"]))
        for key, part in long(run, table).groupby(["row", "dataset"], sort=False)
    }


def wide(run: Run, table: str, metric: str) -> pd.DataFrame:
    """One metric of a printed table: evaluators by datasets, in printed order."""
    rows = long(run, table)
    found = rows[rows["metric"] == metric].pivot(index="row", columns="dataset", values="value")
    return found.loc[rows["row"].unique(), DATASETS]


def answered(run):
    """How many answers each evaluator judged in each subset: {(row, dataset): n}.

    Models judged all, people the sample of section 2.3, which has the base sets in proportion.
    """
    sample = text(run, "text 2.3")["sampled pairs"]
    total = {d: sum(n) for d, n in classes(run).items()}
    share = {e: sample / sum(total.values()) if e in PEOPLE else 1 for e in LLMS + PEOPLE}
    return {(e, d): round(n * share[e]) for e in share for d, n in total.items()}


def shares(run):
    """{dataset: its share of Table 4's pairs}."""
    n = {d: sum(each) for d, each in classes(run).items()}
    return {d: k / sum(n.values()) for d, k in n.items()}


def share_error(run, dataset):
    """Two standard errors of a sample's share of hallucinated answers (section 2.3: 500 pairs)."""
    positive, negative = classes(run)[dataset]
    share, part = positive / (positive + negative), sample_share(run)
    return 2 * np.sqrt(share * (1 - share) / (positive + negative) * (1 - part) / part)


def sampled(run, dataset):
    """(hallucinated answers, other answers) in a sample with Table 4's shares."""
    return tuple(round(n * sample_share(run)) for n in classes(run)[dataset])


def sample_share(run):
    """The share of Table 4's pairs that people judged (section 2.3)."""
    return text(run, "text 2.3")["sampled pairs"] / sum(map(sum, classes(run).values()))


def scores_of(run, table):
    """Table 6 or 10 by metric, models only: {metric: models by datasets}."""
    metrics = long(run, table)["metric"].unique()
    return {x: wide(run, table, x).loc[LLMS] for x in metrics}


def overall(table: pd.DataFrame, weights: Mapping[str, float] | None = None) -> pd.Series:
    """Evaluators' means over the subsets of `wide`; weights: {dataset: share}, or None: equal."""
    return table.mean(axis=1) if weights is None else (table * pd.Series(weights)).sum(axis=1)


def apart(gaps, **bounds):
    """Whether differences of two printed scores are within bounds; None if rounding allows both.

    gaps: numbers of any shape, or means of them; bounds: least, most, as of `between`. Scores that
    are printed differently keep their order: rounding doesn't change it.
    """
    return near(gaps, 2 * ROUNDED, **bounds)


def listed(values, form=""):
    """Numbers as text, in their shortest form unless another is given."""
    return ", ".join(f"{value:{form}}" for value in values)
