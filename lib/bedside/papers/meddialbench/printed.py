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
APART = "difference, little minus much"
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


def contrast(weights: pd.Series) -> stats.Interval:
    """A weighted sum of accuracies of Table 9, by (configuration, model), in points.

    Limits by MOVER (Donner and Zou 2012) from Wilson's, as if each cell had cases of its own: the
    paper's share theirs, which Table 9 doesn't show, so that they are rather too wide.
    """
    of = [stats.wilson(int(counts().at[cell]), N)[:3] for cell in weights.index]
    value, *ends = 100 * weights.to_numpy() * np.array(of).T
    low, high = np.sort(ends, axis=0)
    middle, off = value.sum(), np.hypot.reduce([value - low, high - value], axis=1)
    return stats.Interval(middle, middle - off[0], middle + off[1], N)


def strategies(levels: Mapping[str, str]) -> dict[tuple[str, str], stats.Interval]:
    """What models that ask little lose more than those that ask much, and both losses, in points.

    levels: {a behaviour's name: its configuration}, two of them; the last row is their difference.
    """

    def loss(models, level):
        cells = {(c, m): w for m in models for c, w in ((BASELINE, 1), (level, -1))}
        return pd.Series(cells) / len(models)

    rows, gaps = {}, []
    for name, level in levels.items():
        little, much = loss(EFFICIENT, level), loss(EXHAUSTIVE, level)
        gaps.append(little.sub(much, fill_value=0))
        of = {"models that ask little": little, "models that ask much": much, APART: gaps[-1]}
        rows |= {(row, f"mean loss to {name}"): contrast(cells) for row, cells in of.items()}
    rows[APART, "{1} less {0}".format(*levels)] = contrast(gaps[1].sub(gaps[0], fill_value=0))
    return rows


def ratios(run: Run, combinations: Mapping[str, tuple]) -> pd.DataFrame:
    """`over_expected` in Table 9, combinations by models."""
    run.published("Table 9")
    return over_expected(counts().T, combinations).T  # whole numbers: a ratio of 1 is exact


def over_expected(right: pd.DataFrame, combinations: Mapping[str, tuple]) -> pd.DataFrame:
    """O/E (equation 1), accuracy divided by A·B / baseline. right: models by configurations."""
    pairs = combinations.items()
    return pd.DataFrame(
        {c: right[c] * right[BASELINE] / (right[x] * right[y]) for c, (x, y) in pairs}
    )


SCALES = {  # harm as a function of accuracy, such that independent effects add up
    "success multiplied": lambda right: -np.log(right),
    "risks added": lambda right: 1 - right,
    "odds of failure multiplied": lambda right: np.log((1 - right) / right),
    "failures multiplied": lambda right: np.log(1 - right),
}


def excess(scale: str, combination: str, levels: tuple[str, str], right: pd.DataFrame) -> pd.Series:
    """Harm of a combination beyond that of its levels on one of SCALES, by model.

    right: accuracy (share), configurations by models.
    """
    harm = SCALES[scale](right)
    return harm.loc[[combination, BASELINE]].sum() - harm.loc[[*levels]].sum()


def beyond(scale: str, combination: str, levels: tuple[str, str]) -> tuple[float, float, float]:
    """Mean `excess` of Table 9's models, and its standard error over cases: (mean, least, most)."""
    right = counts() / N
    mean = float(excess(scale, combination, levels, right).mean())
    return mean, *_errors(scale, combination, levels, right, 1 / len(MODELS))


def _errors(scale, combination, levels, right, weights):
    """Least and most standard error, over cases, of a mean excess by models with weights.

    By the delta method. Printed margins don't show which cases a cell has right. least: a case
    that is right in one cell is right in all that are easier; most: the same within each side, the
    pair with the baseline and the two levels, and as few as possible right on both sides. No
    overlap gives a larger error.
    """
    sides = {combination: 1, BASELINE: 1} | dict.fromkeys(levels, -1)
    p, sign = right.loc[list(sides)].to_numpy(), np.array(list(sides.values()))[:, None]
    slope = SCALES[scale](p + 1e-20j).imag / 1e-20  # the derivative, exact (complex step)
    w = (sign * slope * weights).ravel()
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
    found = run.published("Table 9 marks").rename(
        columns={"column": "configuration", "row": "model"}
    )
    right, cells = counts().astype(int), zip(found["configuration"], found["model"])
    p = [stats.mcnemar_range(int(right.at[BASELINE, m]), int(right.at[c, m]), N) for c, m in cells]
    found[["low", "high"]], found["starred"] = p, found["value"].astype(bool)
    found["possible"] = (found["low"] < 0.05).where(found["starred"], found["high"] >= 0.05)
    return found


def power_ends(x, y, n=N, exact=True):
    """McNemar's power in n cases, if x and y of N are right: of the fewest and most discordant.

    With another number of cases, the drop and the share of discordant pairs stay.
    """
    discordant = abs(x - y), min(x, N - y) + min(y, N - x)
    sides = [((d + x - y) / 2 / N, (d - x + y) / 2 / N) for d in discordant]
    return [stats.mcnemar_power(n, *side, exact=exact) for side in sides]


def wide(run, table, column="value"):
    """A printed table as rows by columns."""
    return run.published(table).pivot(index="row", columns="column", values=column)
