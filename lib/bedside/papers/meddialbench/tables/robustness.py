"""MedDialBench: rows of notebook 06, on what the findings survive."""

import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.write.tables import Row, frame

from .. import overlaps
from ..design import BASELINE
from ..printed import MODELS, SCALES, N, beyond, counts, excess, limits, on_pathway

ALONE = "sensitivity under fabricating"
STEPS = np.linspace(0.4, 1, 121)  # specificities of the lines of a figure


def eligible_table(run, found, pairs, lies):
    """Ends of eligible cases and of the share that fails, all models together, by pair and basis.

    found: `overlaps.of_pairs`; lies: the pairs with fabricating. With the printed share: only
    tables whose share lies in the printed range of section 4.3, before rounding. The defective
    choice of independent verdicts gives one number: a case fails as often as any.
    """
    said = run.published("text 4.3").set_index(["row", "column"])[["low", "high"]]
    kinds = (("fabricating pairs (C1-C3)", 0.5), ("non-fabricating pairs (C4-C6)", 0.05))
    rows, right, n = [], counts(), N * len(MODELS)
    for (pair, basis), part in found.groupby(["pair", "basis"], sort=False):
        every = overlaps.pooled([mine for _, mine in part.groupby("model")])
        kind, half = kinds[pair not in lies]
        low, high = said.loc[(kind, "% of eligible")]
        share = (low - half) / 100, (high + half) / 100
        for name, ends in ((basis, (0, 1)), (f"{basis}, printed share", share)):
            fit = overlaps.within(every, *ends)
            shares = 100 * fit["low"], 100 * fit["high"]
            rows.append(Row(pair, f"failing, %: {name}", "recomputed", None, *shares, n))
            counted = fit["fewest"], fit["most"]
            rows.append(Row(pair, f"eligible: {name}", "recomputed", None, *counted, n))
    for pair, levels in pairs.items():
        able = (right.loc[[BASELINE, *levels]] / N).prod()
        share = 100 * (able * (1 - right.loc[pair] / N)).sum() / able.sum()
        for what, v in (("failing, %", share), ("eligible", N * able.sum())):
            rows.append(Row(pair, f"{what}: independent verdicts", "recomputed", v, n=n))
    return frame(rows)


def interaction_rows(pairs, right):
    """Harm of pairs beyond their levels on each scale, with the narrowest and widest intervals.

    right: accuracy (share), configurations by models.
    """
    rows = []
    for scale, (pair, levels) in itertools.product(SCALES, pairs.items()):
        value, *errors = beyond(scale, pair, levels)
        for end, error in zip(("least", "most"), errors):
            ends = value - 1.96 * error, value + 1.96 * error
            rows.append(Row(pair, f"{scale}: {end}", "recomputed", value, *ends, N))
        above = stats.drop_noise(excess(scale, pair, levels, right)) > 0
        rows.append(Row(pair, f"{scale}: models above 0", "recomputed", int(above.sum())))
    return frame(rows)


def selection_table(mean, ratio, base, again):
    """Mean losses in points and mean O/E, as printed and if the kept cases were run again.

    mean, ratio: by configuration; base: the printed mean accuracy (share); again: the expected one
    and its ends.
    """
    middle, least, most = again
    rows = [Row(BASELINE, "accuracy, %", "recomputed", 100 * base, n=N)]
    rows.append(Row(BASELINE, "expected again, %", "recomputed", *(100 * x for x in again), N))
    for c, loss in mean.items():
        rows.append(Row(c, "loss, points", "recomputed", loss, n=N))
        ends = (loss - 100 * (base - x) for x in (middle, least, most))
        rows.append(Row(c, "loss expected, points", "recomputed", *ends, N))
    for c, oe in ratio.items():
        rows.append(Row(c, "O/E", "recomputed", oe, n=N))
        ends = (oe * x / base for x in (middle, least, most))
        rows.append(Row(c, "O/E expected", "recomputed", *ends, N))
    return frame(rows)


def size_table(sizes):
    """What n pairs can show: {what they are: n}, at best, since every change is a loss."""
    from scipy.optimize import brentq

    fewest = next(k for k in range(1, 99) if stats.mcnemar_counts(k, 0) < 0.05)
    rows = []
    for what, n in sizes.items():
        least = found = None
        if n >= fewest:
            least = 100 * fewest / n
            found = 100 * brentq(lambda d, n=n: stats.mcnemar_power(n, d, 0) - 0.8, 1e-6, 1)
        rows.append(Row(what, "least loss that can be found", "recomputed", least, n=n))
        rows.append(Row(what, "loss found with power 0.8", "recomputed", found, n=n))
        rows.append(Row(what, "lower limit if all are right", "recomputed", limits(n, n)[0], n=n))
    return frame(rows)


def one_judge(p, pairs):
    """What errors that are alike in all dialogues can do: the least possible rates, and O/E.

    p: accuracy (share), configurations by models. No true share lies outside 0 to 1, which bounds
    both rates. In O/E the sensitivity cancels.
    """
    rows = [Row("all dialogues", "least specificity", "recomputed", 100 * (1 - p.min(axis=None)))]
    rows.append(Row("all dialogues", "least sensitivity", "recomputed", 100 * p.max(axis=None)))
    for (c, (a, b)), rate in itertools.product(pairs.items(), (1, 0.95, 0.9, 0.8)):
        true = pd.DataFrame(stats.true_share(p, 1, rate), p.index, p.columns)
        oe = (true.loc[c] * true.loc[BASELINE] / (true.loc[a] * true.loc[b])).mean()
        rows.append(Row(f"one judge for all: {c}", f"O/E at specificity {rate}", "recomputed", oe))
    return rows


def two_models(p):
    """Errors for one of two neighbours at baseline that make both equal."""
    order, rows = p.loc[BASELINE].sort_values(ascending=False), []
    for first, second in itertools.pairwise(order.index):
        name, a, b = f"ranking: {first}, {second}", order[first], order[second]
        rate = 100 * float(stats.turning_sensitivity(b, a, 1))
        rows.append(Row(name, "sensitivity for the second", "recomputed", rate))
        rate = 100 * (1 - (a - b) / (1 - b))  # the first's false positives make up its lead
        rows.append(Row(name, "specificity for the first", "recomputed", rate))
    return rows


def under_fabricating(p, pairs, lies):
    """The judge's sensitivity under fabricating alone at which a difference would be its errors.

    Means of the models and each model, against withholding and the baseline; then for each of the
    pairs `lies` against what equation 1 expects, with errors under that pair alone.
    """
    rows = []
    for level, model in itertools.product(("withholding", BASELINE), ("mean", *MODELS)):
        seen, limit = (
            p.loc[c].mean() if model == "mean" else p.at[c, model] for c in ("fabricating", level)
        )
        rate = 100 * float(stats.turning_sensitivity(seen, limit, 1))
        rows.append(Row(f"fabricating = {level}: {model}", ALONE, "recomputed", rate))
    for c in lies:
        rate = 100 * float(stats.turning_sensitivity(p.loc[c].mean(), expected(p, *pairs[c]), 1))
        rows.append(Row(f"O/E = 1: {c}", "sensitivity under the pair alone", "recomputed", rate))
    return rows


def expected(p, a, b):
    """The mean accuracy under two levels that equation 1 expects."""
    return (p.loc[a] * p.loc[b] / p.loc[BASELINE]).mean()


def turning_lines(p, pairs, lies):
    """Lines on which results turn: name, specificity, sensitivity, for `plots.regions`."""
    ends = {
        "fabricating costs as much as withholding": ("fabricating", p.loc["withholding"].mean()),
        "fabricating costs nothing": ("fabricating", p.loc[BASELINE].mean()),
    }
    ends |= {f"{c} as expected (errors in {c} alone)": (c, expected(p, *pairs[c])) for c in lies}
    made = []
    for name, (c, limit) in ends.items():
        rates = stats.turning_sensitivity(p.loc[c].mean(), limit, STEPS)
        made.append(pd.DataFrame({"name": name, "specificity": STEPS, "sensitivity": rates}))
    return pd.concat(made, ignore_index=True)


def line_rows(lines, judges):
    """Rows of the figure of `turning_lines` and known judges, at every twentieth of specificity."""
    twentieth = np.isclose(np.round(20 * lines["specificity"]), 20 * lines["specificity"])
    drawn = lines[twentieth].assign(label=lines["name"], source="recomputed")
    every = pd.concat([drawn, judges]).dropna(subset="sensitivity")
    return frame(
        Row(r.label, f"sensitivity at specificity {r.specificity:.2f}", r.source, r.sensitivity)
        for r in every.itertuples()
    )


def level_sets(design):
    """Levels of pollution and of deficit that are compared: {name: (pollution, deficit)}."""
    both = ("pollution", "deficit")
    extreme, every = (
        [on_pathway(design, k, levels) for k in both] for levels in (design.extreme, design.adverse)
    )
    moderate = [[x for x in a if x not in e] for a, e in zip(every, extreme)]
    return {
        "fabricate, withhold": (["fabricating"], ["withholding"]),
        "deny, withhold": (["complete_denial"], ["withholding"]),
        "both extreme": tuple(extreme),
        "both moderate": tuple(moderate),
        "all four": tuple(every),
    }
