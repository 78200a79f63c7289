"""Cancer-Myth's second version: what the tests of claims on mitigations may use."""

from typing import Any

import numpy as np
import pandas as pd

from bedside.read import published
from bedside.run import Run
from bedside.stats.rounded import Rounded, Verdict, every

from .items import KINDS, SETS
from .printed import CURES

HALF = 0.5  # how far a percentage may be from the printed whole number


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use: Table 1 of the summary, and its text on it."""
    table = run.published("v2 Table 1").pivot(index="row", columns="column", values="value")
    before, after = zip(*CURES.values())
    text = {"MDAgents": ("v2 text results", "MDAgents (GPT-4o)", 0)}
    text["GPT-4o"] = ("v2 Main results", "GPT-4o", 1)  # printed with a decimal
    rates = {k: published.value(run.paper, *place, "PCR") for k, (*place, _) in text.items()}
    rates, digits = pd.Series(rates), pd.Series({k: row[-1] for k, row in text.items()})
    return {
        "uncured": Rounded.printed(table.loc[[*before]].set_axis([*CURES]), 0),
        "cured": Rounded.printed(table.loc[[*after]].set_axis([*CURES]), 0),
        "rate_in_text": Rounded.printed(rates, digits),
        "largest_drop": published.value(
            run.paper, "v2 text results", "Drop on other benchmarks with GEPA", "most"
        ),
        "both_kinds": [*KINDS],
        "on_exams": [*SETS[2:]],
        "within": within,
        "spans": spans,
    }


def within(x: Rounded, low: float, high: float) -> Verdict:
    """Whether all numbers round to whole ones of a printed range, with their ends."""
    return _with_ends(x, (x >= low - HALF) & (x <= high + HALF))


def spans(x: Rounded, low: float, high: float) -> Verdict:
    """Whether the least and the largest number round to the ends of a printed range."""
    least, most = x.min(), x.max()
    return _with_ends(
        x,
        (least >= low - HALF)
        & (least <= low + HALF)
        & (most >= high - HALF)
        & (most <= high + HALF),
    )


def _with_ends(x, which):
    ends = dict.fromkeys(f"{pick(np.asarray(x.value)):.3g}" for pick in (np.min, np.max))
    return Verdict(every(which).holds, " to ".join(ends), np.min(x.low), np.max(x.high))
