"""MedDialBench: readings of the claims on the baseline (section 4.1)."""

import numpy as np

from bedside import stats
from bedside.read.claims import between, every, outcome, reading

from ..design import BASELINE
from . import EFFICIENT, EXHAUSTIVE, MODELS, fits, share, span, wide

HALF = {"Turns": 0.05, "Coverage": 0.0005, "Cov/Turn": 0.0005}  # half of the last digit in Table 2


def of_counts(run):
    """Readings of the claim that each number of Table 9 has one count behind it: {id: readings}."""
    run.published("Table 9")
    found = [len(v) for v in fits().values()]
    told = f"{found.count(1)} of {len(found)} have exactly one count"
    return {"md-counts": reading(told, set(found) == {1})}


def readings(run):
    """Readings of the claims on printed numbers: {id: readings}."""
    two, mine = wide(run, "Table 2"), share(run).loc[BASELINE]
    fast, slow = two.loc[EFFICIENT], two.loc[EXHAUSTIVE]
    turns = [x["Turns"] for x in (fast, slow)]
    said = run.published("text 4.1").set_index("row")
    spans = [said.loc[f"{x} models", ["low", "high"]] for x in ("efficient", "exhaustive")]
    within = [s["low"] <= t.min() and round(t.max()) <= s["high"] for t, s in zip(turns, spans)]
    middle = two.at["Qwen", "Turns"]
    within.append(turns[0].max() < middle < turns[1].min())
    told = " and ".join(f"{t.min()}-{t.max()}" for t in turns) + f"; Qwen {middle}"
    most, least = fast["Coverage"].max(), slow["Coverage"].min()
    agree = all(f"{mine[m]:.1f}" == f"{two.at[m, 'Acc']:.1f}" for m in MODELS)
    return {
        "md-baseline": reading(", ".join(f"{v:.1f}" for v in mine), agree),
        "md-per-turn": _per_turn(run, two),
        "md-strategies": reading(told, all(within)),
        "md-coverage-order": reading(f"{most} and {least}", most < least),
    }


def _per_turn(run, two):
    """Coverage per turn as a mean over dialogues, and as the ratio of the table's means."""
    said = run.published("text 3.4").set_index("row")["value"]
    bounds = {m: {c: (two.at[m, c] - h, two.at[m, c] + h) for c, h in HALF.items()} for m in MODELS}
    ways = {
        "mean of the dialogues' ratios": {
            m: mean_ratio(b["Turns"], b["Coverage"], int(said["longest inquiry"]))
            for m, b in bounds.items()
        },
        "ratio of the table's means": {
            m: (b["Coverage"][0] / b["Turns"][1], b["Coverage"][1] / b["Turns"][0])
            for m, b in bounds.items()
        },
    }
    return {
        name: outcome(
            ", ".join(f"{m} {span(ends, 3)}" for m, ends in spans.items()),
            every(between(*spans[m], *bounds[m]["Cov/Turn"]) for m in MODELS),
        )
        for name, spans in ways.items()
    }


def mean_ratio(turns, coverage, longest):
    """Least and most possible mean of the dialogues' coverage per turn.

    turns, coverage: (low, high) of their means; a dialogue has 1 to `longest` turns. The ratio is
    linear in coverage, so dialogues that cover nothing or everything suffice for the extremes.
    """
    each = np.tile(np.arange(1, longest + 1), 2)  # twice: covering all, and nothing
    covered = np.repeat([1.0, 0.0], longest)
    means = [each, covered], *zip(turns, coverage)
    return tuple(side * stats.least_mean(side * covered / each, *means) for side in (1, -1))
