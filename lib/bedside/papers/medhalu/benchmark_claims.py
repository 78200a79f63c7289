"""MedHalu: what the tests of claims on the benchmark, types and an expert's reason may use."""

from typing import Any

import pandas as pd

from bedside.run import Run
from bedside.stats.rounded import Rounded, Verdict, prints

from .data import DATASETS, copy_of_medhalu, liveqa_train, printed_sets, words
from .printed import PROPRIETARY, grid, long, text

PERSONAL = r"\S+@\w+\.\w+|\(?\b\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b"  # mail, telephone
PROMPTS = ("text 2.1", "Table 5")


def names(run: Run) -> dict[str, Any]:
    """Quantities of sections 2, 4.2, 5 and A; None is what this run's profile doesn't have."""
    three, items = text(run, "Table 3"), copy_of_medhalu(run)
    return {
        "background": three.groupby(three.index.str.split(":").str[0]).sum(),
        "asked": text(run, "askers of 2.2") == 1,
        "pairs": grid(run, "text 2.2")["pairs"],
        **_prompts(run),
        "different": grid(run, "appendix A").nunique(),
        "scores_by_type": [*long(run, "Table 8")["metric"].unique()],
        "said_distances": _said_distances(run),
        "reasoned": grid(run, "text 5"),
        "marked": None if items is None else items.query("type != 'none'")["spans"].map(len) > 0,
        **_questions(run),
        **FUNCTIONS,
    }


def _prompts(run):
    """Which things definitions of an input-conflict name, by place."""
    rows = run.published(*PROMPTS).query("row == 'input-conflicting'")
    at = rows.assign(at=rows["table"].str.split().str[-1])
    return {"named": at.pivot(index="column", columns="at", values="value") == 1}


def _said_distances(run):
    """Section 4.1: mean edit distances, models by base sets."""
    end = " mean edit distance"
    said = grid(run, "text 4.1").loc[PROPRIETARY, [d + end for d in DATASETS]]
    return said.rename(columns=lambda c: c.removesuffix(end))


def _questions(run):
    """{base set: its questions as section 2.2 has them, or None}."""
    found = printed_sets(run) if run.profile == "public" else {}
    if liveqa_train(run) is None:
        found.pop("LiveQA", None)  # its test set isn't the paper's
    return {d.lower(): found[d][0] if d in found else None for d in DATASETS}


# ---- functions that tests call


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
} | {f.__name__: f for f in (mean_prints, may_be, types_of)}
