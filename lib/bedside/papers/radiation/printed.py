"""Radiation: its printed numbers, what they allow and what they make of the claims.

By themselves, beside each other and beside the released reference.
"""

import numpy as np
import pandas as pd

from bedside import stats
from bedside.claims import reading
from bedside.published import value

from .data import FREQUENCIES, MOST, ONSETS, REGIMES

ROUNDED = 0.005  # two decimals are printed
SCORES = {"free-form": "Table 1", "selection": "Table 3", "selection, 20-30": "Table 4"}
TABLES = [f"Table {i}" for i in range(1, 8)]
PRECISE, BROAD = ["Gemma-2-9B", "O4-Mini", "GPT-5.3"], "LLaMA-3.1-8B"  # section 4.3 names them
EAGER, STRONG = "Qwen-2.5-7B", {"O4-Mini", "GPT-5.3"}  # sections 4.5 and 4.7


def rows_of(run, table):
    """A printed table's rows; Table 1's Phi-3-Medium is Phi-3-Medium-4K in the others."""
    rows = run.published(table)
    return rows.assign(row=rows["row"].str.removesuffix("-4K"))


def wide(run, table, what="value"):
    """A printed table, models by columns, in printed order; `what` is value, low or high."""
    rows = rows_of(run, table)
    found = rows.pivot(index="row", columns="column", values=what)
    return found.loc[rows["row"].unique(), rows["column"].unique()]


def all_scores(run):
    """{regime: printed precision, recall and F1}; sized free-form lists: Table 1 plus Table 2."""
    found = {regime: wide(run, table) for regime, table in SCORES.items()}
    change = wide(run, "Table 2")
    change.columns = change.columns.str.removeprefix("Δ ")
    found["free-form, 20-30"] = found["free-form"] + change
    return {regime: found[regime] for regime in REGIMES}


def slack(regime):
    """How far rounding can move a printed score: twice as far where it is the sum of two."""
    return 2 * ROUNDED if regime == "free-form, 20-30" else ROUNDED


def f1_of_means(run, table):
    """The harmonic mean of the printed mean precision and recall, by model."""
    scores = wide(run, table)
    return stats.harmonic(scores["Precision"], scores["Recall"])


def f1_bounds(run):
    """Does each mean F1 lie where the mean precision and recall allow?

    Frame model, regime, f1, least, most, fits, below. The harmonic mean is concave: the mean of
    F1s is at most the F1 of the means, and at least P + R - 1. below: the printed F1 is further
    under the F1 of the means than rounding explains, so it must be a mean of F1s.
    """
    rows = []
    for regime, scores in all_scores(run).items():
        s = slack(regime)
        for model, r in scores.iterrows():
            p, q, f1 = r["Precision"], r["Recall"], r["F1"]
            least, most = max(0.0, p + q - 1 - 2 * s), stats.harmonic(p + s, q + s)
            fits = least - s <= f1 <= most + s
            rows.append(
                (model, regime, f1, least, most, fits, f1 + s < stats.harmonic(p - s, q - s))
            )
    return pd.DataFrame(rows, columns=["model", "regime", "f1", "least", "most", "fits", "below"])


def intervals(run):
    """All printed intervals: table, row, column, value, low, high, inside, lean.

    lean: how far the value is from the middle, rounding apart, as a share of the interval's half
    width (1: at an end).
    """
    rows = pd.concat([rows_of(run, table) for table in TABLES], ignore_index=True)
    rows = rows[["table", "row", "column", "value", "low", "high"]]
    away = (2 * rows["value"] - rows["low"] - rows["high"]).abs() - 4 * ROUNDED
    return rows.assign(
        inside=rows["value"].between(rows["low"], rows["high"]),
        lean=away.clip(lower=0) / (rows["high"] - rows["low"]),
    )


def reference_sizes(run, patients, reference):
    """How many effects the patients' references have: the released ones, else the text's range."""
    if run.profile == "public":
        return patients["site"].map(reference.groupby("site").size())
    return run.published("text 3.4").set_index("row").loc["side effects per profile", "value"]


def implied_lengths(run, sizes):
    """How long the lists are that the printed scores imply.

    Frame model, regime, Precision, Recall, items, least_items; sizes: of the references of the
    patients (n,). hits = precision x items = recall x size, so items is about recall x mean size /
    precision. least_items: if every list had fewer, precision could not be so low: mean precision
    >= mean recall x smallest size / longest list.
    """
    parts = []
    for regime, scores in all_scores(run).items():
        p, q, s = scores["Precision"], scores["Recall"], slack(regime)
        part = scores[["Precision", "Recall"]].assign(
            regime=regime,
            items=q * sizes.mean() / p,
            least_items=(q - s) * sizes.min() / (p + s),
        )
        parts.append(part.rename_axis("model").reset_index())
    columns = ["model", "regime", "Precision", "Recall", "items", "least_items"]
    return pd.concat(parts, ignore_index=True)[columns]


def too_long(run, sizes, regime, longest=MOST):
    """Models whose printed scores need lists of more than `longest` items: {model: least length}.

    The least length is that of the longest list.
    """
    found = implied_lengths(run, sizes)
    found = found[(found["regime"] == regime) & (found["least_items"] > longest)]
    return dict(zip(found["model"], found["least_items"]))


def misfit(run, reference, sites, how):
    """Can Tables 1 to 4, 6 and 7 hold together on the released reference? By model.

    The least misfit in recall. Unknown are the mean recalls of each site's cells of onset and
    frequency, between 0 and 1; in them, the mean recall over the four regimes (Tables 1 to 4) and
    that by onset and by frequency (6, 7) are linear. A linear program finds the smallest number by
    which some printed recall must be wrong beyond rounding: 0 if all can hold. `how`: levels (a
    recall by onset is the mean over frequencies, and so on) or effects (over the effects). sites:
    of the patients.
    """
    from scipy.optimize import linprog

    onset, frequency, scores = wide(run, "Table 6"), wide(run, "Table 7"), all_scores(run)
    parts = _means(reference, pd.Series(sites).value_counts(normalize=True), how)
    allowed = [np.mean([slack(regime) for regime in scores]), *[ROUNDED] * (len(parts) - 1)]
    by_one = -np.ones((len(parts), 1))
    bounds = np.block([[parts, by_one], [-parts, by_one]])
    goal = [*np.zeros(parts.shape[1]), 1]
    found = {}
    for model in onset.index:
        overall = np.mean([s.loc[model, "Recall"] for s in scores.values()])
        said = [overall, *onset.loc[model], *frequency.loc[model]]
        limits = [*np.add(said, allowed), *np.subtract(allowed, said)]
        done = linprog(goal, A_ub=bounds, b_ub=limits, bounds=[(0, 1)] * len(goal))
        found[model] = round(done.fun, 6)
    return pd.Series(found)


def _means(reference, share, how):
    """Weights of the cells in each mean recall over patients: over all, by onset, by frequency.

    share: of the patients, by site. Returns an array (means, cells).
    """
    count = reference.groupby(["site", "onset", "frequency"]).size()
    cells = count.index.tolist()

    def within(level):
        """In the mean over patients of the recall within an onset or a frequency."""
        weights, mine = np.zeros(len(cells)), {}
        for place, (site, *levels) in enumerate(cells):
            if site in share.index and level in levels:
                mine.setdefault(site, []).append(place)
        for site, places in mine.items():
            w = np.ones(len(places)) if how == "levels" else count.iloc[places].to_numpy(float)
            weights[places] = share[site] / share[list(mine)].sum() * w / w.sum()
        return weights

    pooled = [share.get(s, 0) * count[s, o, f] / count[s].sum() for s, o, f in cells]
    return np.array([pooled, *map(within, [*ONSETS, *FREQUENCIES])])


def _count(which):
    """How many of the models, such as '5 of 7'."""
    return f"{which.sum()} of {len(which)}"


def _listed(changes):
    """Changes of models with their sign."""
    return "; ".join(f"{model} {v:+.2f}" for model, v in changes.items())


def free_form_readings(run, sizes):
    """{id: readings} of section 4.3: precise models, broad ones, and what lies between them."""
    first, implied = wide(run, "Table 1"), implied_lengths(run, sizes)
    precise, row = first.loc[PRECISE], "Gemma-2-9B, O4-Mini, GPT-5.3 precision"
    limits = [value(run.paper, "text 4.3", row, limit) for limit in ("least", "most")]
    ranks = first["Precision"].corr(first["Recall"], method="spearman")
    items = implied[implied["regime"] == "free-form"].set_index("model")["items"].sort_index()
    return {
        "rad-precise": reading(
            "{} to {}".format(*precise["Precision"].agg(["min", "max"])),
            precise["Precision"].between(*limits).all(),
        ),
        "rad-incomplete": reading(
            ", ".join(f"{m} {r}" for m, r in precise["Recall"].items()),
            (precise["Recall"] < precise["Precision"]).all(),
        ),
        "rad-tradeoff": reading(
            f"rank correlation {ranks:.2f} over {len(first)} models", ranks <= -0.5
        ),
        "rad-broad": reading(
            ", ".join(f"{m} {v:.0f}" for m, v in items.items()), items.idxmax() == BROAD
        ),
    }


def list_size_readings(run, sizes):
    """{id: readings} of section 4.4: what asking for 20 to 30 items changes."""
    change, low, high = (wide(run, "Table 2", what) for what in ("value", "low", "high"))
    drop, worse = -change["Δ Precision"], change["Δ F1"] < 0
    limits = run.published("text 4.4")["value"].tolist()
    surely = high["Δ Precision"] < 0
    apart = (low["Δ Recall"] > 0) | (high["Δ Recall"] < 0)
    over = too_long(run, sizes, "free-form, 20-30")
    lengths = "; ".join(f"{m}: a list of {int(v) + 1} or more" for m, v in over.items())
    return {
        "rad-size-precision": reading(f"{_count(surely)} with the interval", surely.all()),
        "rad-size-range": reading(
            f"{drop.min():.2f} to {drop.max():.2f}", [drop.min(), drop.max()] == limits
        ),
        "rad-size-recall": reading(
            f"{_count(apart)} exclude 0: {', '.join(apart.index[apart])}", apart.mean() < 0.5
        ),
        "rad-size-f1": reading(_count(worse), worse.mean() > 0.5),
        "rad-size-kept": reading(lengths or "possible", not over),
    }


def consistency_readings(run):
    """{id: readings} of our questions on Tables 1 to 7: do means, F1s and intervals fit?"""
    f1, spans = f1_bounds(run), intervals(run)
    aside = spans[spans["lean"] > 0.25]
    leaning = "; ".join(
        f"{r.table} {r.row} {r.column} {r.value} in {r.low} to {r.high}" for r in aside.itertuples()
    )
    return {
        "rad-f1": reading(f"{f1['fits'].sum()} do", f1["fits"].all()),
        "rad-f1-means": reading(
            f"{_count(f1['below'])} lie below the F1 of the means by more than rounding",
            f1["below"].any(),
        ),
        "rad-intervals": reading(f"{spans['inside'].sum()} do", spans["inside"].all()),
        "rad-lean": reading(leaning or "none is", aside.empty),
    }


def grounding_readings(run, sizes, terms):
    """{id: readings} of section 4.5: what a list to choose from changes, and a size with it."""
    scores = all_scores(run)
    gain = scores["selection"] - scores["free-form"]
    step = (scores["selection, 20-30"] - scores["selection"]).round(2)
    better = gain[["Precision", "Recall"]] > 0
    span = {c: f"{gain[c].min():.2f} to {gain[c].max():.2f}" for c in gain}
    kept, worse = step["Precision"] >= -0.05, step["F1"] < 0
    length = too_long(run, sizes, "selection, 20-30", len(terms)).get(EAGER)
    needed = length and f"needs a list of {int(length) + 1} or more; the list has {len(terms)}"
    return {
        "rad-ground-precision": reading(
            f"{_count(better['Precision'])}, by {span['Precision']}", better["Precision"].all()
        ),
        "rad-ground-recall": reading(
            f"{_count(better['Recall'])}, by {span['Recall']}", better["Recall"].mean() > 0.5
        ),
        "rad-ground-f1": reading(span["F1"], gain["F1"].round(2).min() >= 0.1),
        "rad-sized-recall": reading(_listed(step["Recall"]), (step["Recall"] > 0).all()),
        "rad-sized-precision": reading(_count(kept), kept.mean() > 0.5),
        "rad-sized-f1": reading(_listed(step["F1"][worse]), worse.mean() < 0.5),
        "rad-qwen": reading(needed or "possible", length is None),
    }


def copier_reading(run, copier):
    """Whose printed F1 with a list is above that of copying it: known for all released patients."""
    if run.profile != "public" or run.limit:
        return {}
    copied = copier.set_index("column")["value"]
    scores = all_scores(run)
    f1 = pd.concat([scores[regime]["F1"] for regime in ("selection", "selection, 20-30")])
    better = f1 > copied["F1"] + ROUNDED
    return reading(
        f"copying: precision {copied['Precision']:.2f}, F1 {copied['F1']:.2f};"
        f" above it: {_count(better)}",
        better.mean() > 0.5,
    )


def overlap_readings(run):
    """{id: readings} of section 4.6: how low overlaps are, with and without a list size."""
    table, f1 = wide(run, "Table 5"), wide(run, "Table 1")["F1"]
    free, sized = table["Overlap (FF)"], table["Overlap (LSC)"]
    step, ranks = (sized - free).round(2), free.corr(f1, method="spearman")

    def low(column):
        above = column[column >= 0.5]
        return reading("; ".join(f"{m} {v}" for m, v in above.items()) or "all below", above.empty)

    return {
        "rad-overlap-free": low(free),
        "rad-overlap-sized": low(sized),
        "rad-overlap-step": reading(
            f"from {step.min():+.2f} to {step.max():+.2f}", step.abs().max() <= 0.1
        ),
        "rad-overlap-precise": reading(
            f"rank correlation of overlap and F1 in Table 1: {ranks:.2f};"
            f" highest overlap: {free.idxmax()}",
            ranks > 0,
        ),
    }


def forgotten_readings(run):
    """{id: readings} of section 4.7: recall by onset and by frequency."""
    six, seven = wide(run, "Table 6"), wide(run, "Table 7")
    short, reversed_ = six["Short-term"] > six["Long-term"], six["Short-term"] <= six["Long-term"]
    common = (seven["Common"] > seven["Rare"]) & (seven["Common"] > seven["Extremely Rare"])
    below, least = seven["Uncommon"] < seven["Rare"], seven.idxmin(axis=1).value_counts()
    best = {c: list(table[c].nlargest(2).index) for table in (six, seven) for c in table}
    lowest = ", ".join(f"{level} {n}" for level, n in least.items())
    return {
        "rad-onset": reading(_count(short), short.mean() > 0.5),
        "rad-onset-reversed": reading(
            ", ".join(short.index[reversed_]), set(short.index[reversed_]) == STRONG
        ),
        "rad-late": reading(_count(short), short.all()),
        "rad-common": reading(_count(common), common.mean() > 0.5),
        "rad-uncommon": reading(
            f"uncommon below rare: {_count(below)}; lowest: {lowest}", below.mean() > 0.5
        ),
        "rad-exceptions": reading(
            "; ".join(f"{c}: {', '.join(models)}" for c, models in best.items()),
            all(set(models) == STRONG for models in best.values()),
        ),
    }


def misfit_reading(misfits):
    """Whether all printed recalls can hold, counted in the way that fits better.

    misfits: {how: `misfit`}; none: no reading.
    """
    off = {how: found[found > 0.001] for how, found in misfits.items()}
    if not off:
        return {}
    best = min(off, key=lambda how: off[how].sum())
    wrong = "; ".join(f"{model} off by {v:.3f}" for model, v in off[best].items())
    return reading(f"counting by {best}: {wrong or 'all can'}", off[best].empty)


def matcher_readings(run):
    """{id: readings} of section 3.5: can 30 examples show 96%, and how surely?"""
    said = run.published("text 3.5").set_index("row")["value"]
    n, rate = int(said["validated examples"]), said["matcher agreement"]
    near = [100 * k / n for k in (n - 2, n - 1)]
    sure = stats.wilson(round(rate * n / 100), n)
    return {
        "rad-grim": reading(
            f"{n - 2} and {n - 1} of {n} are {near[0]:.1f}% and {near[1]:.1f}%",
            stats.grim(rate, n, 0),
        ),
        "rad-reliable": reading(
            f"95% interval {100 * sure.low:.0f} to {100 * sure.high:.0f}%", sure.low > 0.9
        ),
    }
