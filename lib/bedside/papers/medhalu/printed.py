"""MedHalu: what the printed numbers allow: confusion matrices behind Tables 6, 8 and 10, and statements held against tables."""

import functools
import itertools

from bedside import stats
from bedside.papers.medhalu.data import DATASETS, TYPES
from bedside.papers.medhalu.scores import METRICS

ROUNDED = 0.005  # two decimals are printed
FITS = ROUNDED + 1e-9  # a score that is off by no more prints the same
SAMPLED = 500  # pairs that people judged (section 2.3), drawn in proportion to the base sets
SHORT = dict(zip(DATASETS, ["HQA", "LQA", "MQA"]))  # as Table 4 has them
LLMS, PEOPLE = ["LLaMA-2", "GPT-3.5", "GPT-4"], ["Experts", "Laypeople"]


def sizes(run):
    """{dataset: {type: number of answers}} of Table 4."""
    table = run.published("Table 4").pivot(index="row", columns="column", values="value")
    return {
        d: {t: int(table.at[name, short]) for t, name in TYPES.items()}
        for d, short in SHORT.items()
    }


def classes(run):
    """{dataset: (hallucinated answers, answers without)} of Table 4."""
    return {d: (sum(n.values()) - n["none"], n["none"]) for d, n in sizes(run).items()}


def printed(run, table):
    """Table 6, 7, 8 or 10 long: row, dataset, metric, value."""
    rows = run.published(table)
    return rows.assign(
        dataset=rows["column"].str.split().str[0], metric=rows["column"].str.split().str[1]
    )[["row", "dataset", "metric", "value"]]


def by_row(run, table):
    """A printed table's scores, {(row, dataset): {metric: value}}, in printed order."""
    return {
        key: dict(zip(part["metric"], part["value"]))
        for key, part in printed(run, table).groupby(["row", "dataset"], sort=False)
    }


def wide(run, table, metric):
    """One metric of a printed table: evaluators by datasets, in printed order."""
    rows = printed(run, table)
    return (
        rows[rows["metric"] == metric]
        .pivot(index="row", columns="dataset", values="value")
        .loc[rows["row"].unique(), DATASETS]
    )


@functools.cache
def _every(positive, negative):
    """All true positives, true negatives and the scores of their matrices: (positive + 1, negative + 1), the same, and with 4 scores."""
    import numpy as np

    tp, tn = np.meshgrid(np.arange(positive + 1), np.arange(negative + 1), indexing="ij")
    return tp, tn, stats.macro(np.stack([tp, negative - tn, positive - tp, tn], axis=-1))


def confusions(positive, negative, scores):
    """True positives and true negatives (k, 2) out of so many answers whose scores print as these, and how far the nearest is off.

    scores: {metric as printed: value}. Off by at most ROUNDED is a fit.
    """
    import numpy as np

    tp, tn, made = _every(positive, negative)
    off = np.abs(made[..., [list(METRICS).index(m) for m in scores]] - list(scores.values())).max(
        -1
    )
    fits = off <= FITS
    return np.column_stack([tp[fits], tn[fits]]), float(off.min())


def implied(run, table):
    """Sensitivity, specificity and share of yes behind each row of Table 6 or 10, if it is one confusion matrix over Table 4's answers.

    Rows with row, dataset, fits (matrices that print so), off (of the nearest), anyhow (the same at the best of all
    shares of hallucinations) and the three rates, each with its least and most value; NaN where nothing fits.
    """
    import numpy as np
    import pandas as pd

    rows, there = [], classes(run)
    for (name, dataset), scores in by_row(run, table).items():
        positive, negative = there[dataset]
        found, off = confusions(positive, negative, scores)
        row = {
            "row": name,
            "dataset": dataset,
            "fits": len(found),
            "off": off,
            "n": positive + negative,
            "anyhow": min(off, *(confusions(k, 200 - k, scores)[1] for k in range(4, 200, 4))),
        }
        if len(found):
            tp, tn = found.T
            rates = {
                "sensitivity": tp / positive,
                "specificity": tn / negative,
                "yes": (tp + negative - tn) / (positive + negative),
            }
            for rate, v in rates.items():
                row |= {
                    rate: float(np.mean(v)),
                    f"{rate} least": float(v.min()),
                    f"{rate} most": float(v.max()),
                }
        rows.append(row)
    return pd.DataFrame(rows)


def pooled(run, table, name):
    """Least and most macro-F1 of an evaluator over all three subsets together that its rows allow, or None if one of them fits nothing."""
    import numpy as np

    parts, rows = [], by_row(run, table)
    for dataset, (positive, negative) in classes(run).items():
        found, _ = confusions(positive, negative, rows[name, dataset])
        if not len(found):
            return None
        tp, tn = found.T
        parts.append(np.column_stack([tp, negative - tn, positive - tp, tn]))
    f1 = [stats.macro(a + parts[2])[:, 3] for a in map(sum, itertools.product(parts[0], parts[1]))]
    return float(np.min(f1)), float(np.max(f1))


def averages(run, table, name):
    """An evaluator's macro-F1 over the subsets by the usual averages, {what: value}: plain, by pairs, and over all answers where it can be had."""
    f1, n = wide(run, table, "ma-F1").loc[name], [sum(k) for k in classes(run).values()]
    found = {
        "mean of the subsets": float(f1.mean()),
        "weighted by pairs": float((f1 * n).sum() / sum(n)),
    }
    ends = pooled(run, table, name)
    return found | ({"over all answers": sum(ends) / 2} if ends else {})


def types_agree(run):
    """Can Table 8 be type against none, with Table 6's own matrices? Frame row (model), dataset, specificity (least, most), agrees.

    Type against none: the three types of a model and subset share the answers without a hallucination, and their true
    positives add up to Table 6's. For subsets whose row of Table 6 fits nothing, agrees is about Table 8 alone.
    """
    import pandas as pd

    rows, six, eight = [], by_row(run, "Table 6"), by_row(run, "Table 8")
    for model, (dataset, n) in itertools.product(LLMS, sizes(run).items()):
        ranges = []  # for each type: {true negatives: (least, most) true positives}
        for t, name in list(TYPES.items())[1:]:
            found, _ = confusions(n[t], n["none"], eight[f"{model}, {name}", dataset])
            ranges.append(
                {
                    tn: (found[found[:, 1] == tn, 0].min(), found[found[:, 1] == tn, 0].max())
                    for tn in set(found[:, 1])
                }
            )
        shared = set.intersection(*map(set, ranges))
        whole, _ = confusions(sum(n.values()) - n["none"], n["none"], six[model, dataset])
        if len(whole):
            shared = {
                tn
                for tn in shared
                if any(
                    sum(r[tn][0] for r in ranges) <= tp <= sum(r[tn][1] for r in ranges)
                    for tp in whole[whole[:, 1] == tn, 0]
                )
            }
        rows.append(
            (
                model,
                dataset,
                min(shared, default=float("nan")) / n["none"],
                max(shared, default=float("nan")) / n["none"],
                len(whole) > 0,
                bool(shared),
            )
        )
    return pd.DataFrame(rows, columns=["row", "dataset", "least", "most", "with Table 6", "agrees"])


def answered(run):
    """How many answers each evaluator judged in each subset: models all, people their share of SAMPLED, {(row, dataset): n}."""
    total = {d: sum(n) for d, n in classes(run).items()}
    return {
        (e, d): round(total[d] * (SAMPLED / sum(total.values()) if e in PEOPLE else 1))
        for e in LLMS + PEOPLE
        for d in total
    }


def accuracy_test(run, a, b):
    """Two-proportion p of the printed accuracies of two evaluators in each subset: {dataset: (a minus b, p)}.

    One judgement an answer; the answers of people are among those of the models, which an unpaired test ignores.
    """
    table, n = wide(run, "Table 6", "Acc"), answered(run)
    return {
        d: (
            table.at[a, d] - table.at[b, d],
            stats.two_proportions(
                round(table.at[a, d] * n[a, d]), n[a, d], round(table.at[b, d] * n[b, d]), n[b, d]
            ),
        )
        for d in DATASETS
    }


def f1_test(run, rates, a, b, draws=10_000):
    """Macro-F1 of a minus b in each subset where both rows fit: {dataset: Interval}, drawn from binomials around the rates `implied`."""
    import numpy as np

    rates, judged, found, rng = (
        rates.set_index(["row", "dataset"]),
        answered(run),
        {},
        run.rng("f1", a, b),
    )
    for dataset, (positive, negative) in classes(run).items():
        if (rates.loc[[(a, dataset), (b, dataset)], "fits"] > 0).all():

            def f1(name, row):
                n = judged[name, dataset] / (positive + negative)
                p, q = round(positive * n), round(negative * n)
                tp, tn = (
                    rng.binomial(p, row["sensitivity"], draws),
                    rng.binomial(q, row["specificity"], draws),
                )
                return stats.macro(np.stack([tp, q - tn, p - tp, tn], axis=-1))[:, 3]

            apart = f1(a, rates.loc[a, dataset]) - f1(b, rates.loc[b, dataset])
            found[dataset] = stats.Interval(
                float(apart.mean()), *np.quantile(apart, [0.025, 0.975]).tolist(), draws
            )
    return found
