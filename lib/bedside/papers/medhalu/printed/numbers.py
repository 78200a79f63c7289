"""MedHalu's printed numbers as they stand, by table and evaluator."""

import pandas as pd

from bedside import stats

from ..data import DATASETS, TYPES

ROUNDED = 0.005  # two decimals are printed
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
    table = grid(run, "Table 4")
    return {
        d: {t: int(table.at[name, short]) for t, name in TYPES.items()}
        for d, short in SHORT.items()
    }


def classes(run):
    """{dataset: (hallucinated answers, answers without)} of Table 4."""
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


def by_row(run, table):
    """A printed table's scores, {(row, dataset): {metric: value}}, in printed order."""
    return {
        key: dict(zip(part["metric"], part["value"]))
        for key, part in long(run, table).groupby(["row", "dataset"], sort=False)
    }


def wide(run, table, metric):
    """One metric of a printed table: evaluators by datasets, in printed order."""
    rows = long(run, table)
    found = rows[rows["metric"] == metric].pivot(index="row", columns="dataset", values="value")
    return found.loc[rows["row"].unique(), DATASETS]


def answered(run):
    """How many answers each evaluator judged in each subset: {(row, dataset): n}.

    Models all, people their share of the sample, which has the base sets in proportion.
    """
    sample = text(run, "text 2.3")["sampled pairs"]
    total = {d: sum(n) for d, n in classes(run).items()}
    share = {e: sample / sum(total.values()) if e in PEOPLE else 1 for e in LLMS + PEOPLE}
    return {(e, d): round(n * share[e]) for e in share for d, n in total.items()}


def accuracy_test(run, a, b):
    """Printed accuracies of two evaluators compared: {dataset: (a minus b, two-proportion p)}.

    One judgement an answer; the answers of people are among those of the models, which an
    unpaired test ignores.
    """
    table, n = wide(run, "Table 6", "Acc"), answered(run)
    found = {}
    for d in DATASETS:
        x, y = table.at[a, d], table.at[b, d]
        right = [round(x * n[a, d]), n[a, d], round(y * n[b, d]), n[b, d]]
        found[d] = (x - y, stats.two_proportions(*right))
    return found
