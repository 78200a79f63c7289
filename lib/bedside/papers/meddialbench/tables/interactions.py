"""MedDialBench: tables and figures of combinations (section 4.3)."""

import numpy as np

from bedside.write.tables import Row, frame, percent, published_rows

from .. import scores
from ..design import BASELINE
from ..printed import MODELS, N, combinations, drops, ratio_draws, share
from . import unscored

ALONE = "fail only in combination, %"


def interaction_table(run, design, observed, found, pooled):
    """Table 4: mean accuracy, drop and O/E of each combination: printed, recomputed, this run.

    Also which share fails only in combination. observed: O/E from Table 9, combinations by models;
    found: `scores.interactions`; pooled: `scores.pooled`.
    """
    rows = published_rows(run.published("Table 4")) + _recomputed(run, design, observed)
    for r in found.itertuples():
        numbers = r.value, r.low, r.high, r.n  # no value where nothing is expected
        rows.append(Row(r.configuration, f"O/E, {r.model}", "run", *numbers))
        if r.model != "mean":
            failing = percent(r.failing, int(r.eligible)) if r.n else (None, None, None, 0)
            rows.append(Row(r.configuration, f"{ALONE}, {r.model}", "run", *failing))
    said = run.published("text 4.3").query("column == '% of eligible'").set_index("row")
    for group, words in (
        (scores.FABRICATED, "fabricating pairs (C1-C3)"),
        (scores.OTHERS, "non-fabricating pairs (C4-C6)"),
    ):
        limits = said.loc[words, ["low", "high"]]
        rows.append(Row(group, f"{ALONE}, by pair", "published", None, *limits))
    overall = said.at["fabricating pairs, overall", "value"]
    rows.append(Row(scores.FABRICATED, f"{ALONE}, all models", "published", overall))
    for r in pooled.itertuples():
        numbers = r.value, r.low, r.high, r.n, r.unscored
        rows.append(Row(r.configuration, f"{ALONE}, {r.model}", "run", *numbers))
    return frame(rows)


def _recomputed(run, design, observed):
    """Rows of the printed combinations; intervals of O/E treat cells as independent."""
    paper = combinations(design)
    draws = ratio_draws(run, paper)
    means = np.quantile(draws.mean(-1), [0.025, 0.975], axis=0)
    each = np.quantile(draws, [0.025, 0.975], axis=0)
    accuracy, lost, rows = share(run), drops(run), []
    for k, c in enumerate(paper):
        rows += [
            Row(c, "Mean Acc", "recomputed", accuracy.loc[c].mean(), n=N),
            Row(c, "Mean drop", "recomputed", lost.loc[c].mean(), n=N),
            Row(c, "O/E", "recomputed", observed.loc[c].mean(), *means[:, k], N),
        ]
        for j, m in enumerate(MODELS):
            rows.append(Row(c, f"O/E, {m}", "recomputed", observed.at[c, m], *each[:, k, j], N))
    return rows


TABLE_8 = "C1"  # the combination


def case_table(run, design, done):
    """Table 8: how many models are right in a case that fails only under a combination.

    Also the name of this run's first such case, "" if there is none; its rows count the doctors
    that are right and wrong. done: `judging.outcomes`.
    """
    rows = published_rows(run.published("Table 8"))
    levels = design.combinations.get(TABLE_8, ())
    held = {TABLE_8: levels} if TABLE_8 in set(done["configuration"]) else {}
    case = next(iter(scores.only_combined(done, held)["case"]), "")
    for c in (BASELINE, *levels, TABLE_8) if case else ():
        mine = done[(done["case"] == case) & (done["configuration"] == c)]["correct"]
        name, n, lost = c if c == TABLE_8 else c.capitalize(), mine.count(), unscored(mine)
        rows.append(Row(name, "Correct", "run", mine.sum(), n=n, unscored=lost))
        rows.append(Row(name, "Models wrong", "run", n - mine.sum(), n=n, unscored=lost))
    return frame(rows), case


NO_FIT = "Not fitted: that needs two cases, and both right and wrong diagnoses. "


def mixed_table(fitted, done):
    """The mixed model's terms: odds of failure at baseline, odds ratios, deviation between cases.

    fitted: `scores.mixed` of done; if it is None, the odds have no value.
    """
    if fitted is None:
        n, lost = int(done["correct"].count()), unscored(done["correct"])
        return frame([Row(scores.INTERCEPT, "odds of failure", "run", None, n=n, unscored=lost)])
    named = {scores.INTERCEPT: "odds of failure", scores.BETWEEN: "log odds"}
    return frame(
        Row(r.term, named.get(r.term, "odds ratio of failure"), "run", *odds, r.n)
        for r in fitted.itertuples()
        for odds in [np.exp([r.value, r.low, r.high])]
    )
