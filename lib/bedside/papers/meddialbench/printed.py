"""MedDialBench: what Table 9 implies: counts, losses, O/E, interaction, p values, power.

Its percentages, of 17 configurations by five models, have one count of N cases each.
"""

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read import published
from bedside.run import Run

from .design import BASELINE, Design

N, DRAWN = 85, 107  # cases kept, and cases they were selected from (section 3.3)
MODELS = ["GPT-5.4", "Claude", "DeepSeek", "Gemini", "Qwen"]
EFFICIENT, EXHAUSTIVE = ["Claude", "Gemini"], ["GPT-5.4", "DeepSeek"]  # questioning (4.1)


def fits():
    """The counts of N that print as each number of Table 9: {(configuration, model): counts}."""
    cells = published.table("meddialbench", "Table 9").itertuples()
    return {(r.column, r.row): stats.grim_counts(r.value, N, 1) for r in cells}


@functools.cache
def counts():
    """Right diagnoses out of N in Table 9, configurations by models; ValueError if not unique."""
    found = fits()
    if bad := [k for k, v in found.items() if len(v) != 1]:
        raise ValueError(f"Table 9, {bad[0]}: {len(found[bad[0]])} counts of {N} round to it")
    wide = pd.Series({k: v[0] for k, v in found.items()}).unstack()
    return wide.loc[list(dict.fromkeys(c for c, _ in found)), MODELS]


def combinations(design: Design) -> dict[str, tuple]:
    """The combinations of a design that are in Table 9: {configuration: levels}."""
    there = set(counts().index)
    return {c: v for c, v in design.combinations.items() if {c, *v} <= there}


def share(run):
    """Accuracy in percent from the counts, configurations by models; noted in the manifest."""
    run.published("Table 9")
    return 100 * counts() / N


def drops(run: Run) -> pd.DataFrame:
    """Loss of accuracy against the baseline in points, adverse configurations by models."""
    run.published("Table 9")
    right = counts()  # whole, so that equal losses are equal
    return 100 * (right.loc[BASELINE] - right).drop(index=BASELINE) / N


def ratios(run: Run, combinations: Mapping[str, tuple]) -> pd.DataFrame:
    """`over_expected` in Table 9, combinations by models."""
    run.published("Table 9")
    return over_expected(counts().T, combinations).T  # whole numbers: a ratio of 1 is exact


def over_expected(
    right: pd.DataFrame | pd.Series, combinations: Mapping[str, tuple]
) -> pd.DataFrame | pd.Series:
    """O/E (equation 1), accuracy divided by A·B / baseline, by combination.

    right: models by configurations, or a number for each configuration.
    """
    pairs = combinations.items()
    made = {c: right[c] * right[BASELINE] / (right[x] * right[y]) for c, (x, y) in pairs}
    return pd.DataFrame(made) if right.ndim > 1 else pd.Series(made)


SCALES = {  # harm as a function of accuracy, such that independent effects add up
    "success multiplied": lambda right: -np.log(right),
    "risks added": lambda right: 1 - right,
    "odds of failure multiplied": lambda right: np.log((1 - right) / right),
    "failures multiplied": lambda right: np.log(1 - right),
}


def interaction(scale: str, combination: str, levels: tuple[str, str]) -> float:
    """Harm of a combination beyond that of its levels on one of SCALES, mean over models."""
    return float(excess(scale, combination, levels, counts() / N).mean())


def excess(scale: str, combination: str, levels: tuple[str, str], right: pd.DataFrame) -> pd.Series:
    """The harm of `interaction` by model. right: accuracy (share), configurations by models."""
    harm = SCALES[scale](right)
    a, b = levels
    return harm.loc[combination] - harm.loc[a] - harm.loc[b] + harm.loc[BASELINE]


SLOPES = {  # of harm in accuracy, on each of SCALES
    "success multiplied": lambda right: -1 / right,
    "risks added": lambda right: -np.ones_like(right),
    "odds of failure multiplied": lambda right: -1 / (right * (1 - right)),
    "failures multiplied": lambda right: -1 / (1 - right),
}


def beyond(
    scale: str, combination: str, levels: tuple[str, str], right: pd.DataFrame | None = None
) -> tuple[float, float, float]:
    """`interaction`, and its standard error over cases: (mean, least, most).

    right: as for `excess`; without it, Table 9's.
    """
    right = counts() / N if right is None else right
    mean = float(excess(scale, combination, levels, right).mean())
    return mean, *_errors(scale, combination, levels, right, 1 / right.shape[1])


def _errors(scale, combination, levels, right, weights):
    """Least and most standard error, over cases, of a mean excess by models with weights.

    By the delta method. Printed margins don't show which cases a cell has right. least: a case
    that is right in one cell is right in all that are easier; most: the same within each side, the
    pair with the baseline and the two levels, and as few as possible right on both sides. No
    overlap gives a larger error.
    """
    sides = {combination: 1, BASELINE: 1} | dict.fromkeys(levels, -1)
    p, sign = right.loc[list(sides)].to_numpy(), np.array(list(sides.values()))[:, None]
    w = (sign * SLOPES[scale](p) * weights).ravel()
    sign, p = np.repeat(sign, p.shape[1]), p.ravel()
    nested, apart = np.minimum.outer(p, p), np.maximum(0, np.add.outer(p, p) - 1)
    opposed = np.where(np.equal.outer(sign, sign), nested, apart)
    return [float(np.sqrt(w @ (both - np.outer(p, p)) @ w / N)) for both in (nested, opposed)]


def mean_over_expected(
    combination: str, levels: tuple[str, str], models: Sequence[str]
) -> stats.Interval:
    """Mean O/E of models in Table 9, with the widest interval that any overlap of cases gives.

    By the delta method for the logarithm of the mean; see `_errors`.
    """
    right = counts()[list(models)]
    each = over_expected(right.T, {combination: levels})[combination]
    weights = (each / each.sum()).to_numpy()
    _, most = _errors("success multiplied", combination, levels, right / N, weights)
    value, factor = float(each.mean()), math.exp(1.96 * most)
    return stats.Interval(value, value / factor, value * factor, N)


def marks(run):
    """Each significance mark of Table 9, compared with the p values that its margins allow.

    Frame: configuration, model, starred, low, high (of p), possible. With margins x and y out of N
    pairs, the p of the exact McNemar test depends on how many pairs are right in both. A mark is
    possible if some overlap gives p < 0.05; its absence, if some overlap gives p >= 0.05.
    """
    rows = []
    for r in run.published("Table 9 marks").itertuples():
        configuration, model, starred = r.column, r.row, bool(r.value)
        before, after = counts().at[BASELINE, model], counts().at[configuration, model]
        low, high = _range(int(before), int(after))
        possible = low < 0.05 if starred else high >= 0.05
        rows.append((configuration, model, starred, low, high, possible))
    columns = ["configuration", "model", "starred", "low", "high", "possible"]
    return pd.DataFrame(rows, columns=columns)


@functools.cache
def _range(x, y):
    return stats.mcnemar_range(x, y, N)


def least_discordant(x, y):
    """The fewest and the most discordant pairs between margins x and y out of N."""
    return abs(x - y), min(x, N - y) + min(y, N - x)


def powers(configuration, sizes=(N,)):
    """Power of McNemar's exact test at the printed drop, as `power_ends`, by model and cases.

    Frame: model, n, fewest, most.
    """
    rows, right = [], counts().astype(int)
    for model in MODELS:
        x, y = right.at[BASELINE, model], right.at[configuration, model]
        rows += [(model, n, *power_ends(x, y, n)) for n in sizes]
    return pd.DataFrame(rows, columns=["model", "n", "fewest", "most"])


def power_ends(x, y, n=N, exact=True):
    """McNemar's power in n cases, if x and y of N are right: of the fewest and most discordant.

    With another number of cases, the drop and the share of discordant pairs stay.
    """
    sides = [((d + x - y) / 2 / N, (d - x + y) / 2 / N) for d in least_discordant(x, y)]
    return [stats.mcnemar_power(n, *side, exact=exact) for side in sides]


def on_pathway(paper, pathway, levels):
    """Those of a design's levels that act on a pathway, "deficit" or "pollution"."""
    return [level for level in levels if paper.pathway(level) == pathway]


def wide(run, table, column="value"):
    """A printed table as rows by columns."""
    return run.published(table).pivot(index="row", columns="column", values=column)


def span(values, digits=1):
    """Least and most value, written as the text prints a range."""
    return f"{min(values):.{digits}f}-{max(values):.{digits}f}"


def limits(k, n):
    """Exact 95% limits (Clopper and Pearson) in percent of a share, of which k of n were seen."""
    low, high = stats.share_intervals(k, n)["exact"]
    return 100 * low, 100 * high
