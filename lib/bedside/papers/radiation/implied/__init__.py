"""Radiation: its printed numbers, what they imply, and (in the modules) the readings of its claims.

A printed number stands for all numbers that round to it. Readings are in `free_form` (4.3, 4.4),
`selection` (4.5), `overlap` (4.6), `levels` (4.7) and `matcher` (3.5). Whether the tables fit
together is in `consistency` (each by itself) and `agreement` (Tables 6 and 7 with the others).
"""

from math import ceil

import pandas as pd

from bedside import stats
from bedside.read.claims import AS_WRITTEN, between, in_words, reading
from bedside.read.published import value
from bedside.run import Run

from ..data import MOST, REGIMES

ROUNDED = 0.005  # two decimals are printed
TWO = 2 * ROUNDED  # the slack of a difference of two printed numbers
MODERATE = 0.3  # the least correlation that is called moderate (Cohen 1988)
SCORES = {"free-form": "Table 1", "selection": "Table 3", "selection, 20-30": "Table 4"}
TABLES = [f"Table {i}" for i in range(1, 8)]
LARGE = 0.1  # the least change of a score that counts as substantial
STRONG = ["O4-Mini", "GPT-5.3"]  # section 4.7 names them; the models that aren't open


def rows_of(run, table):
    """A printed table's rows, where Phi-3-Medium-4K is Phi-3-Medium as in Table 1."""
    rows = run.published(table)
    return rows.assign(row=rows["row"].str.removesuffix("-4K"))


def wide(run: Run, table: str, what: str = "value") -> pd.DataFrame:
    """A printed table, models by columns, in printed order; `what` is value, low or high."""
    rows = rows_of(run, table)
    found = rows.pivot(index="row", columns="column", values=what)
    return found.loc[rows["row"].unique(), rows["column"].unique()]


def all_scores(run):
    """{regime: printed precision, recall, F1}; free-form, 20-30 is Table 1 plus Table 2."""
    found = {regime: wide(run, table) for regime, table in SCORES.items()}
    change = wide(run, "Table 2")
    change.columns = change.columns.str.removeprefix("Δ ")
    found["free-form, 20-30"] = found["free-form"] + change
    return {regime: found[regime] for regime in REGIMES}


def slack(regime):
    """How far rounding can move a printed score; twice as far if it is a sum of two."""
    return 2 * ROUNDED if regime == "free-form, 20-30" else ROUNDED


def f1_of_means(run, table):
    """The harmonic mean of the printed mean precision and recall, by model."""
    scores = wide(run, table)
    return stats.harmonic(scores["Precision"], scores["Recall"])


def high(run):
    """The lowest precision that the text calls relatively high (section 4.3)."""
    return value(run.paper, "text 4.3", "Gemma-2-9B, O4-Mini, GPT-5.3 precision", "least")


# ---- how long the lists were


def reference_sizes(run, patients, reference):
    """The number of effects in the patients' references: as released, or the range in the text."""
    if run.profile == "public":
        return patients["site"].map(reference.groupby("site").size())
    return run.published("text 3.4").set_index("row").loc["side effects per profile", "value"]


def implied_lengths(run, sizes):
    """The number of entries in the lists that the printed scores imply.

    Frame model, regime, Precision, Recall, items, low, high, least_items. sizes: of the patients'
    references (n,). hits = precision x entries = recall x size, so entries are about recall x mean
    size / precision; low and high are the limits that rounding leaves. least_items: if every list
    had fewer, precision could not be so low, because mean precision >= mean recall x smallest size
    / longest list.
    """
    parts = []
    for regime, scores in all_scores(run).items():
        p, q, s = scores["Precision"], scores["Recall"], slack(regime)
        part = scores[["Precision", "Recall"]].assign(
            regime=regime,
            items=q * sizes.mean() / p,
            low=(q - s) * sizes.mean() / (p + s),
            high=(q + s) * sizes.mean() / (p - s),
            least_items=(q - s) * sizes.min() / (p + s),
        )
        parts.append(part.rename_axis("model").reset_index())
    columns = ["model", "regime", "Precision", "Recall", "items", "low", "high", "least_items"]
    return pd.concat(parts, ignore_index=True)[columns]


def too_long(run, sizes, regime):
    """Models whose printed scores need a list of more than MOST entries.

    {model: how long the longest list must be at least}.
    """
    found = implied_lengths(run, sizes)
    found = found[(found["regime"] == regime) & (found["least_items"] > MOST)]
    return dict(zip(found["model"], map(ceil, found["least_items"])))


# ---- what rounding leaves open


def above(values, bound=0.0, slack=ROUNDED):
    """Which values lie above a bound: (certainly, possibly), two series of booleans.

    slack: how far rounding may have moved a value from the bound.
    """
    away = values - bound
    return stats.drop_noise(away - slack) > 0, stats.drop_noise(away + slack) > 0


def meet(low, high):
    """Which intervals of two series meet; low, high: the ends, of both series."""
    return (low[0] <= high[1]) & (low[1] <= high[0])


def both(first, second):
    """Where two results of `above` are both true."""
    return tuple(a & b for a, b in zip(first, second))


def number(which):
    """How many are true (certainly, possibly), in words: '5 of 7', '4 to 5 of 7'."""
    low, most = (int(w.sum()) for w in which)
    return f"{low}{f' to {most}' * (most > low)} of {len(which[0])}"


def of_most(which, all=False):
    """Are most models (or all) true (certainly, possibly)? None if rounding leaves it open."""
    low, most = (int(w.sum()) for w in which)
    return between(low, most, least=len(which[0]) if all else len(which[0]) // 2 + 1)


def counted(which, more="", name=AS_WRITTEN, all=False):
    """A reading that counts models (certainly, possibly): does it hold for most of them, or all?"""
    return reading(number(which) + more, of_most(which, all), name=name)


def rank_correlation(x, y):
    """Spearman's coefficient (value, least, most); rounding may have made numbers equal."""
    first, second = ((s.rank(method="first"), s[::-1].rank(method="first")) for s in (x, y))
    found = [a.corr(b) for a in first for b in second]
    return x.corr(y, method="spearman"), min(found), max(found)


def listed(changes):
    """Changes of models as a text: 'O4-Mini +0.07; GPT-5.3 -0.02'."""
    return in_words(changes, "+.2f", "; ")
