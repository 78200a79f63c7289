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
from bedside.stats.rounded import Rounded, Verdict, prints

from . import matrices, printed
from .data import DATASETS, at_hand, printed_sets, released, words
from .printed import LLMS, OPEN, PEOPLE, PROPRIETARY, grid, hallucinated, rounded_table, text

TYPES = ("Context", "Fact", "Input")
PERSONAL = r"\S+@\w+\.\w+|\(?\b\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b"  # mail, telephone
DISTANCE = " mean edit distance"


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run's profile doesn't have."""
    n, part, three = printed.answers(run), printed.sample_share(run), text(run, "Table 3")
    number = functools.partial(of_text, run)
    return {
        "T3": three,
        "T4": grid(run, "Table 4"),
        **{f"T{k}": rounded_table(run, f"Table {k}") for k in (6, 7, 10)},
        "T8": by_type(rounded_table(run, "Table 8")),
        "models": LLMS,
        "own": PROPRIETARY,
        "open": OPEN,
        "people": PEOPLE,
        "base_sets": DATASETS,
        "text": number,
        "said": lambda place, column, rows: pd.Series({r: number(place, r, column) for r in rows}),
        "rounded": Rounded.printed,
        "part": part,
        "infinite": np.inf,
        "background": three.groupby(three.index.str.split(":").str[0]).sum(),
        "asked": text(run, "askers of 2.2") == 1,
        "pairs": grid(run, "text 2.2")["pairs"],
        "named": _named(run),
        "different": grid(run, "appendix A").nunique(),
        "scores_by_type": [*printed.long(run, "Table 8")["metric"].unique()],
        "said_distances": _distances(run),
        "reasoned": grid(run, "text 5"),
        **of_answers(n, printed.share_errors(run)),
        **of_matrices(n, (n * part).round(), printed.by_set(run)),
        **_of_released(run),
        **FUNCTIONS,
    }


def _named(run):
    """Which things definitions of an input-conflict name, by place."""
    rows = run.published("text 2.1", "Table 5").query("row == 'input-conflicting'")
    rows = rows.assign(at=rows["table"].str.split().str[-1])
    return rows.pivot(index="column", columns="at", values="value") == 1


def _distances(run):
    """Section 4.1: mean edit distances, models by base sets."""
    found = grid(run, "text 4.1").loc[PROPRIETARY, [d + DISTANCE for d in DATASETS]]
    return found.rename(columns=lambda c: c.removesuffix(DISTANCE))


def _of_released(run):
    """{base set: its questions as section 2.2 has them}, and whether MedHalu's answers are marked.

    None where they aren't here; LiveQA's test set isn't the paper's.
    """
    sets = printed_sets(run) if run.profile == "public" else {}
    if not at_hand(run, "liveqa_train"):
        sets.pop("LiveQA", None)
    marked = None
    if at_hand(run, "medhalu_benchmark"):
        marked = released(run, whole=True).query("type != 'none'")["spans"].map(len) > 0
    return {d.lower(): sets.get(d, (None,))[0] for d in DATASETS} | {"marked": marked}


def of_text(run: Run, place: str, row: str, column: str) -> float:
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
        "rates": functools.partial(printed.rounded_rates, answers=n),
        "rates_sampled": functools.partial(printed.rounded_rates, answers=n, off=off),
        "pooled_f1": functools.partial(printed.pooled, answers=n),
        "mean_f1": functools.partial(printed.mean_f1, answers=n),
        "p": functools.partial(printed.p_ends, answers=n),
    }


def of_matrices(n: pd.DataFrame, sample: pd.DataFrame, four: pd.DataFrame) -> dict[str, Any]:
    """Which printed rows can come from counts, and what these would be."""
    tests = {
        "one_matrix": (n, matrices.one),
        "one_of_a_sample": (sample, matrices.one),
        "any_share": (n, matrices.any_share),
        "some_left_out": (n, matrices.some_left_out),
        "mean_of_three": (sample, matrices.mean_of_three),
    }
    return {
        **{k: functools.partial(matrices.each, answers=a, found=f) for k, (a, f) in tests.items()},
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


def mean_prints(x: Rounded, said: float, digits: int) -> Verdict:
    """Whether a number that follows from printed ones is what is said, and what it may be."""
    holds = bool(prints(x.value, said, digits).sure)
    return Verdict(holds, f"{x.value:z.{digits}f}", float(x.low), float(x.high))


def may_be(kappa: Rounded, most: Rounded) -> Verdict:
    """Whether a kappa may be as printed where none is above another number: open, or a no."""
    high = float(most.high)
    return Verdict(None if high >= kappa.low else False, f"at most {high:.3g}", high=high)


def types_of(table: Rounded, model: str) -> Rounded:
    """Macro-F1 of Table 8: a model's types by base sets."""
    return table.map(lambda t: t.xs("F1", axis=1, level=1).loc[model].unstack())


FUNCTIONS = {
    "words": words,
    "deviation": pd.Series.std,
    "personal": lambda texts: texts.str.contains(PERSONAL),
} | {f.__name__: f for f in (either, holm, mean_prints, may_be, types_of)}
