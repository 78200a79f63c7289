"""MedHalu: confusion matrices behind the printed scores of Tables 6, 8 and 10."""

import functools
import itertools

import numpy as np
import pandas as pd

from bedside import stats

from ..data import TYPES
from ..scores import METRICS
from .numbers import LLMS, ROUNDED, answered, by_row, classes, sizes, wide

FITS = ROUNDED + 1e-9  # a score that is off by no more prints the same


@functools.cache
def _every(positive, negative):
    """All true positives and negatives, (positive + 1, negative + 1) each, and their 4 scores."""
    tp, tn = np.meshgrid(np.arange(positive + 1), np.arange(negative + 1), indexing="ij")
    return tp, tn, stats.macro(np.stack([tp, negative - tn, positive - tp, tn], axis=-1))


def confusions(positive, negative, scores):
    """True positives and negatives (k, 2) whose scores print as these; how far the nearest is off.

    positive, negative: answers with and without a hallucination. scores: {metric as printed:
    value}. Off by at most ROUNDED is a fit.
    """
    tp, tn, made = _every(positive, negative)
    mine = made[..., [list(METRICS).index(m) for m in scores]]
    off = np.abs(mine - list(scores.values())).max(-1)
    fits = off <= FITS
    return np.column_stack([tp[fits], tn[fits]]), float(off.min())


def implied(run, table):
    """Sensitivity, specificity and share of yes behind each row of Table 6 or 10.

    That is if it is one confusion matrix over Table 4's answers. Rows with row, dataset, fits
    (matrices that print so), off (of the nearest), n, anyhow (off at the best of all shares of
    hallucinations) and the three rates, each with its least and most value; NaN where nothing
    fits.
    """
    rows, there = [], classes(run)
    for (name, dataset), scores in by_row(run, table).items():
        positive, negative = there[dataset]
        found, off = confusions(positive, negative, scores)
        other_shares = [confusions(k, 200 - k, scores)[1] for k in range(4, 200, 4)]
        row = {
            "row": name,
            "dataset": dataset,
            "fits": len(found),
            "off": off,
            "n": positive + negative,
            "anyhow": min(off, *other_shares),
        }
        rows.append(row | (rates(found, positive, negative) if len(found) else {}))
    return pd.DataFrame(rows)


def rates(found, positive, negative):
    """Mean, least and most sensitivity, specificity and share of yes of what `confusions` finds."""
    tp, tn = found.T
    made = {
        "sensitivity": tp / positive,
        "specificity": tn / negative,
        "yes": (tp + negative - tn) / (positive + negative),
    }
    row = {}
    for rate, v in made.items():
        row |= {rate: float(np.mean(v)), f"{rate} least": float(v.min())}
        row |= {f"{rate} most": float(v.max())}
    return row


def pooled(run, table, name):
    """Least and most macro-F1 over all three subsets together that an evaluator's rows allow.

    None if one of them fits nothing.
    """
    parts, rows = [], by_row(run, table)
    for dataset, (positive, negative) in classes(run).items():
        found, _ = confusions(positive, negative, rows[name, dataset])
        if not len(found):
            return None
        tp, tn = found.T
        parts.append(np.column_stack([tp, negative - tn, positive - tp, tn]))
    f1 = [stats.macro(a + b + parts[2])[:, 3] for a, b in itertools.product(*parts[:2])]
    return float(np.min(f1)), float(np.max(f1))


def averages(run, table, name):
    """An evaluator's macro-F1 over the subsets by the usual averages, {what: value}.

    Plain, by pairs, and over all answers where it can be had.
    """
    f1, n = wide(run, table, "ma-F1").loc[name], [sum(k) for k in classes(run).values()]
    found = {
        "mean of the subsets": float(f1.mean()),
        "weighted by pairs": float((f1 * n).sum() / sum(n)),
    }
    ends = pooled(run, table, name)
    return found | ({"over all answers": sum(ends) / 2} if ends else {})


def types_agree(run):
    """Can Table 8 be type against none, with Table 6's own matrices?

    Frame row (model), dataset, least and most (specificity), with Table 6, agrees. Type against
    none: the three types of a model and subset share the answers without a hallucination, and
    their true positives add up to Table 6's. For subsets whose row of Table 6 fits nothing,
    agrees is about Table 8 alone.
    """
    rows, six, eight = [], by_row(run, "Table 6"), by_row(run, "Table 8")
    for model, (dataset, n) in itertools.product(LLMS, sizes(run).items()):
        ranges = []
        for t, name in list(TYPES.items())[1:]:
            found, _ = confusions(n[t], n["none"], eight[f"{model}, {name}", dataset])
            ranges.append(ends_by_negatives(found))
        shared = set.intersection(*map(set, ranges))
        whole, _ = confusions(sum(n.values()) - n["none"], n["none"], six[model, dataset])
        if len(whole):
            shared = {tn for tn in shared if adds_up(tn, ranges, whole)}
        ends = [end(shared, default=float("nan")) / n["none"] for end in (min, max)]
        rows.append((model, dataset, *ends, len(whole) > 0, bool(shared)))
    return pd.DataFrame(rows, columns=["row", "dataset", "least", "most", "with Table 6", "agrees"])


def ends_by_negatives(found):
    """{true negatives: (least, most) true positives} of matrices as `confusions` finds them."""
    by = {tn: found[found[:, 1] == tn, 0] for tn in set(found[:, 1])}
    return {tn: (tp.min(), tp.max()) for tn, tp in by.items()}


def adds_up(tn, ranges, whole):
    """Whether the types' true positives, at so many true negatives, can be those of `whole`."""
    least, most = (sum(r[tn][end] for r in ranges) for end in (0, 1))
    return any(least <= tp <= most for tp in whole[whole[:, 1] == tn, 0])


def f1_test(run, rates, a, b, draws=10_000):
    """Macro-F1 of a minus b in each subset where both rows fit: {dataset: Interval}.

    Drawn from binomials around the rates `implied`.
    """
    rates, judged = rates.set_index(["row", "dataset"]), answered(run)
    rng = run.rng("f1", a, b)

    def drawn(name, dataset, positive, negative):
        row, n = rates.loc[name, dataset], judged[name, dataset] / (positive + negative)
        p, q = round(positive * n), round(negative * n)
        tp, tn = (
            rng.binomial(p, row["sensitivity"], draws),
            rng.binomial(q, row["specificity"], draws),
        )
        return stats.macro(np.stack([tp, q - tn, p - tp, tn], axis=-1))[:, 3]

    found = {}
    for dataset, counts in classes(run).items():
        if (rates.loc[[(a, dataset), (b, dataset)], "fits"] > 0).all():
            apart = drawn(a, dataset, *counts) - drawn(b, dataset, *counts)
            ends = np.quantile(apart, [0.025, 0.975]).tolist()
            found[dataset] = stats.Interval(float(apart.mean()), *ends, draws)
    return found
