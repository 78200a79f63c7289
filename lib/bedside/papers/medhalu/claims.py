"""MedHalu: the quantities and functions that the tests in data/claims/medhalu.toml may use.

T6, T7 and T10 are evaluators by score (Acc, P, R, F1) and base set, so that T6.F1.LiveQA is one
column; T8 is models by type of hallucination, score and base set; T3 and T4 are counts.
"""

import functools
from typing import Any

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.run import Run
from bedside.stats.rounded import Rounded

from . import benchmark_claims, matrices
from .data import DATASETS
from .printed import (
    LLMS,
    OPEN,
    PEOPLE,
    PROPRIETARY,
    answers,
    by_set,
    grid,
    hallucinated,
    mean_f1,
    p_ends,
    pooled,
    rounded_rates,
    rounded_table,
    sample_share,
    share_errors,
    text,
)

TYPES = ("Context", "Fact", "Input")


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run's profile doesn't have."""
    n, part = answers(run), sample_share(run)
    said = functools.partial(number, run)
    found = {
        "T3": text(run, "Table 3"),
        "T4": grid(run, "Table 4"),
        **{f"T{k}": rounded_table(run, f"Table {k}") for k in (6, 7, 10)},
        "T8": by_type(rounded_table(run, "Table 8")),
        "models": LLMS,
        "own": PROPRIETARY,
        "open": OPEN,
        "people": PEOPLE,
        "base_sets": DATASETS,
        "text": said,
        "said": lambda place, column, rows: pd.Series({r: said(place, r, column) for r in rows}),
        "rounded": Rounded.printed,
        "part": part,
        "infinite": np.inf,
        **of_answers(n, share_errors(run)),
        **of_matrices(n, (n * part).round(), by_set(run)),
        **FUNCTIONS,
    }
    return found | benchmark_claims.names(run)


def number(run: Run, place: str, row: str, column: str) -> float:
    """A printed number of a section ("4.1"), or of "abstract", "appendix B", "Table 5"."""
    return published.value(run.paper, f"text {place}" if place[0].isdigit() else place, row, column)


def by_type(table: Rounded) -> Rounded:
    """Table 8, models by type, score and base set."""

    def apart(wide):
        parts = {t: wide[wide.index.str.endswith(f"{t}-conflict")] for t in TYPES}
        return pd.concat({t: p.rename(lambda r: r.split(",")[0]) for t, p in parts.items()}, axis=1)

    return table.map(apart)


def of_answers(n: pd.DataFrame, off: pd.Series) -> dict[str, Any]:
    """What follows from how many answers there are: base sets by hallucinated and other.

    off: how far a sample's share of hallucinated answers may be from all answers'.
    """
    total = n.sum(axis=1)
    share, rate = total / total.sum(), hallucinated(n)
    return {
        "hallucinated": rate,
        "hallucinated_sampled": Rounded(rate - off, rate, rate + off),
        "counted": n,
        "share": share,  # of all answers
        "equal": share * 0 + 1 / len(n),
        "each": pd.DataFrame(np.eye(len(n)), n.index, n.index),
        "weighted": lambda x: (x * share).sum(axis=1),
        "rates": functools.partial(rounded_rates, answers=n),
        "rates_sampled": functools.partial(rounded_rates, answers=n, off=off),
        "pooled_f1": functools.partial(pooled, answers=n),
        "mean_f1": functools.partial(mean_f1, answers=n),
        "p": functools.partial(p_ends, answers=n),
    }


def of_matrices(n: pd.DataFrame, sample: pd.DataFrame, four: pd.DataFrame) -> dict[str, Any]:
    """Which printed rows can come from counts, and what these would be."""
    each = functools.partial(functools.partial, matrices.each)
    return {
        "one_matrix": each(answers=n, found=matrices.one),
        "one_of_a_sample": each(answers=sample, found=matrices.one),
        "any_share": each(answers=n, found=matrices.any_share),
        "some_left_out": each(answers=n, found=matrices.some_left_out),
        "mean_of_three": each(answers=sample, found=matrices.mean_of_three),
        "types_apart": functools.partial(matrices.types_apart, four=four),
        "accepted": functools.partial(accepted, n=n.loc[["HealthQA"]]),
    }


def accepted(scores: pd.DataFrame, beside: pd.DataFrame, n: pd.DataFrame) -> Rounded:
    """Specificity on base sets, where rows of both tables can be one matrix each."""
    both = [matrices.implied(table, n) for table in (scores, beside)]
    found = both[0][(both[0]["fits"] > 0) & (both[1]["fits"] > 0)]
    return Rounded(*(found[f"specificity{end}"] for end in (" least", "", " most")))


# ---- functions that tests call


def holm(p: Any) -> Any:
    """p values adjusted for their number."""
    if isinstance(p, Rounded):
        return p.map(lambda x: pd.Series(stats.holm(x), x.index))
    return stats.holm(p)


def either(p: Rounded, other: Rounded) -> Rounded:
    """p values that lie in one of two ranges."""
    low, high = np.minimum(p.low, other.low), np.maximum(p.high, other.high)
    return Rounded(low, high, high)


FUNCTIONS = {f.__name__: f for f in (either, holm)}
