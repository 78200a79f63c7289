"""MedHalu: the quantities and functions that the tests in data/claims/medhalu.toml may use."""

import functools
from typing import Any

import pandas as pd

from bedside.read import published
from bedside.run import Run
from bedside.stats.rounded import Rounded

from . import benchmark_claims
from .implied import numbers
from .implied.numbers import LLMS, OPEN, PEOPLE, PROPRIETARY

DIGITS = {"Med": 1}  # decimals of Table 7's medians; all other scores have two
TYPES = ("Context", "Fact", "Input")


def names(run: Run) -> dict[str, Any]:
    """What the tests of claims may use; None is what this run's profile doesn't have.

    T6, T7 and T10 are evaluators by score and base set, so that T6.F1.LiveQA is one column; T8 is
    models by type, score and base set. T3 and T4 are counts.
    """
    by_base = pd.DataFrame(numbers.classes(run), index=["hallucinated", "other"]).T
    found = {
        "T3": numbers.text(run, "Table 3"),
        "T4": numbers.grid(run, "Table 4"),
        **{f"T{n}": table(run, n) for n in (6, 7, 10)},
        "T8": types(run),
        "hallucinated": by_base["hallucinated"] / by_base.sum(axis=1),
        "share": by_base.sum(axis=1) / by_base.sum(axis=None),  # of all answers, by base set
        "models": LLMS,
        "own": PROPRIETARY,
        "open": OPEN,
        "people": PEOPLE,
        "text": functools.cache(lambda *place: _text(run, *place)),
        "rounded": lambda digits, *place: Rounded.printed(_text(run, *place), digits),
    }
    return found | benchmark_claims.names(run)


def _text(run, section, row, column):
    """A printed number of the text: section "4.1", or "abstract", "appendix B", "Table 5"."""
    section = f"text {section}" if section[0].isdigit() else section
    return published.value(run.paper, section, row, column)


def table(run: Run, number: int) -> Rounded:
    """Table 6, 7, 8 or 10: rows by score and base set, in printed order."""
    rows = numbers.long(run, f"Table {number}")
    rows["metric"] = rows["metric"].str.removeprefix("ma-")
    found = rows.pivot(index="row", columns=["metric", "dataset"], values="value")
    found = found.loc[rows["row"].unique()].sort_index(axis=1)
    half = [0.5 * 10.0 ** -DIGITS.get(score, 2) for score, _ in found]
    return Rounded(found - half, found, found + half)


def types(run: Run) -> Rounded:
    """Table 8: models by type of hallucination, score and base set."""

    def apart(wide):
        parts = {t: wide[wide.index.str.endswith(f"{t}-conflict")] for t in TYPES}
        return pd.concat({t: p.rename(lambda r: r.split(",")[0]) for t, p in parts.items()}, axis=1)

    return table(run, 8).map(apart)
