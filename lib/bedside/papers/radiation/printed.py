"""Radiation: what the printed numbers allow, by themselves, beside each other and beside the released reference."""

from bedside import stats
from bedside.papers.radiation.data import FREQUENCIES, MOST, ONSETS

ROUNDED = 0.005  # two decimals are printed
SCORES = {"free-form": "Table 1", "selection": "Table 3", "selection, 20-30": "Table 4"}


def rows_of(run, table):
    """A printed table's rows; Table 1 calls a model Phi-3-Medium that the others call Phi-3-Medium-4K."""
    rows = run.published(table)
    return rows.assign(row=rows["row"].str.removesuffix("-4K"))


def printed(run, table, what="value"):
    """A printed table wide, models by columns, in printed order; `what` is value, low or high."""
    rows = rows_of(run, table)
    return rows.pivot(index="row", columns="column", values=what).loc[
        rows["row"].unique(), rows["column"].unique()
    ]


def all_scores(run):
    """{regime: printed precision, recall and F1}; those of free-form lists of 20 to 30 are Table 1 plus Table 2."""
    found = {regime: printed(run, table) for regime, table in SCORES.items()}
    change = printed(run, "Table 2")
    change.columns = change.columns.str.removeprefix("Δ ")
    return {
        "free-form": found["free-form"],
        "free-form, 20-30": found["free-form"] + change,
        **found,
    }


def slack(regime):
    """How far rounding can move a printed score of a regime: twice as far where it is the sum of two."""
    return 2 * ROUNDED if regime == "free-form, 20-30" else ROUNDED


def f1_check(run):
    """Does each mean F1 lie where the mean precision and recall allow? Frame model, regime, f1, least, most, fits, below.

    The harmonic mean is concave: the mean of F1s is at most the F1 of the means, and at least P + R - 1. below: the
    printed F1 is further under the F1 of the means than rounding explains, so it must be a mean of F1s.
    """
    import pandas as pd

    rows = []
    for regime, scores in all_scores(run).items():
        s = slack(regime)
        for model, r in scores.iterrows():
            p, q = r["Precision"], r["Recall"]
            least, most = max(0.0, p + q - 1 - 2 * s), stats.harmonic(p + s, q + s)
            rows.append(
                (
                    model,
                    regime,
                    r["F1"],
                    least,
                    most,
                    least - s <= r["F1"] <= most + s,
                    r["F1"] + s < stats.harmonic(p - s, q - s),
                )
            )
    return pd.DataFrame(rows, columns=["model", "regime", "f1", "least", "most", "fits", "below"])


def interval_check(run):
    """All printed intervals: table, row, column, value, low, high, inside, lean.

    lean: how far the value is from the middle, rounding apart, as a share of the interval's half width (1: at an end).
    """
    import pandas as pd

    rows = pd.concat([rows_of(run, f"Table {i}") for i in range(1, 8)])
    away = (2 * rows["value"] - rows["low"] - rows["high"]).abs() - 4 * ROUNDED
    lean = away.clip(lower=0) / (rows["high"] - rows["low"])
    return rows.assign(inside=rows["value"].between(rows["low"], rows["high"]), lean=lean)[
        ["table", "row", "column", "value", "low", "high", "inside", "lean"]
    ].reset_index(drop=True)


def reference_sizes(run, patients, reference):
    """How many side effects the patients' references have: the released ones; without them the text's 20 and 30 (3.4)."""
    if run.profile == "public":
        return patients["site"].map(reference.groupby("site").size())
    return run.published("text 3.4").set_index("row").loc["side effects per profile", "value"]


def implied_lengths(run, sizes):
    """How long the lists are that the printed scores imply: frame model, regime, Precision, Recall, items, least_items.

    hits = precision x items = recall x size, so items is about recall x mean size / precision. least_items: if every
    list had fewer, precision could not be so low: mean precision >= mean recall x smallest size / longest list.
    sizes: of the references of the patients (n,).
    """
    import pandas as pd

    rows = []
    for regime, scores in all_scores(run).items():
        s = slack(regime)
        for model, r in scores.iterrows():
            p, q = r["Precision"], r["Recall"]
            rows.append(
                (model, regime, p, q, q * sizes.mean() / p, (q - s) * sizes.min() / (p + s))
            )
    return pd.DataFrame(
        rows, columns=["model", "regime", "Precision", "Recall", "items", "least_items"]
    )


def too_long(run, sizes, regime, longest=MOST):
    """Models whose printed scores need lists of more than `longest` items: {model: least length of the longest list}."""
    found = implied_lengths(run, sizes)
    found = found[(found["regime"] == regime) & (found["least_items"] > longest)]
    return dict(zip(found["model"], found["least_items"]))


def agreement(run, reference, sites, how):
    """Can Tables 1 to 4, 6 and 7 hold together on the released reference? The least misfit in recall, by model.

    Unknown are the mean recalls of each site's cells of onset and frequency, between 0 and 1; in them, the mean recall
    over the four regimes (Tables 1 to 4) and that by onset and by frequency (6, 7) are linear. A linear program finds
    the smallest number by which some printed recall must be wrong beyond rounding: 0 if all can hold. `how`: levels
    (a recall by onset is the mean over frequencies, and so on) or effects (over the effects). sites: of the patients.
    """
    import numpy as np
    import pandas as pd
    from scipy.optimize import linprog

    count = reference.groupby(["site", "onset", "frequency"]).size()
    cells, share = count.index.tolist(), pd.Series(sites).value_counts(normalize=True)

    def mean(chosen):
        """Weights of the cells in the mean over patients of the recall within the `chosen` ones."""
        weights = np.zeros(len(cells))
        for site in (
            with_any := [s for s in share.index if any(c[0] == s and chosen(c) for c in cells)]
        ):
            mine = [i for i, c in enumerate(cells) if c[0] == site and chosen(c)]
            w = np.ones(len(mine)) if how == "levels" else count.iloc[mine].to_numpy(float)
            weights[mine] = share[site] / share[with_any].sum() * w / w.sum()
        return weights

    pooled = np.array([share.get(s, 0) * count[s, o, f] / count[s].sum() for s, o, f in cells])
    parts = [
        pooled,
        *(mean(lambda c, o=o: c[1] == o) for o in ONSETS),
        *(mean(lambda c, f=f: c[2] == f) for f in FREQUENCIES),
    ]
    onset, frequency, scores = printed(run, "Table 6"), printed(run, "Table 7"), all_scores(run)
    misfit = {}
    for model in onset.index:
        said = [
            np.mean([s.loc[model, "Recall"] for s in scores.values()]),
            *onset.loc[model],
            *frequency.loc[model],
        ]
        allowed = [np.mean([slack(regime) for regime in scores]), *[ROUNDED] * 6]
        a = np.array(parts)
        done = linprog(
            [*np.zeros(len(cells)), 1],
            A_ub=np.block([[a, -np.ones((7, 1))], [-a, -np.ones((7, 1))]]),
            b_ub=[*np.add(said, allowed), *np.subtract(allowed, said)],
            bounds=[(0, 1)] * (len(cells) + 1),
        )
        misfit[model] = round(done.fun, 6)
    return pd.Series(misfit)
