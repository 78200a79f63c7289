"""Results of an own study: scores, paired tests, the judges' trust cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bedside import stats
from bedside.judging import judges, trust_cards
from bedside.read.checks import complete, groups, scored
from bedside.read.questions import ALL
from bedside.write import frames, tables
from bedside.write.tables import Row, share

from .judging import VALUES, bounds
from .measures import estimate, judges_in, points_of
from .saved import VERDICTS
from .study import Own, apart, labelled, on_labelled

if TYPE_CHECKING:
    import pandas as pd


def scores(own, graded):
    """Right answers, or scores by a rubric, in percent by model, over all questions and by group.

    They are table rows for each judge, of which several are named in the columns. Intervals are
    over units, within which repeats are. `unscored` counts answers without a verdict; if there are
    any, rows with bounds follow.
    """

    rows = []
    for _, ending, mine in judges_in(own, graded):
        mine = complete(mine, ["model"], ["group"])
        parts = [(ALL, mine)] + [(g, part) for g, part in mine.groupby("group") if g]
        for name, every in parts:
            for model, part in every.groupby("model", sort=False):
                value, lost, ends = _mean(own, part)
                label = f"{name}: {own.measure}{ending}"
                rows.append(Row(model, label, "run", *value, lost, *(ends if lost else ())))
    return tables.frame(rows)


def _mean(own, part):
    """Of answers to be judged, in percent: (value, low, high, n), the unscored ones, the bounds."""
    came = complete(scored(part), ["unit"])
    value, lost = came["value"].to_numpy(float), part[part["status"] != "graded"]
    of_lost = [bounds(c) for c in lost["criteria"]] if own.criteria else [(0, 1)] * len(lost)
    least, most = (100 * (value.sum() + sum(b[k] for b in of_lost)) / len(part) for k in (0, 1))
    made = estimate(own, value, came["unit"], not own.criteria)
    return made, len(lost), (least, most)


def pairs(own, graded):
    """Paired tests between the models on items that both answered: table rows.

    As `tables.paired`: the exact McNemar test if no unit repeats, else a paired permutation test
    that flips units, as of scores by a rubric; Holm's correction over all pairs of a judge; the
    difference with its interval; and the smallest difference that a test of this size detects with
    a power of 80%. A repeat of a question is paired with the same of the other model.
    """
    rows = []
    for _, ending, mine in judges_in(own, graded) if graded["model"].nunique() > 1 else []:
        found = tables.paired(mine.assign(item=apart(mine)), own, not own.criteria, own.lowest)
        found["holm"] = stats.holm(found["p"].to_numpy(float))
        for r in found.to_dict("records"):
            named = {
                "difference, points": (r["difference"], r["low"], r["high"]),
                f"{r['test']} p": (r["p"], None, None),
                f"{r['test']} p, Holm": (r["holm"], None, None),
                "detectable difference, points": (r["detectable"], None, None),
            }
            rows += [Row(r["row"], k + ending, "run", *v, r["n"]) for k, v in named.items()]
    rows = tables.frame(rows)  # without a common item a pair has n 0
    return rows[rows["value"].notna() | (rows["n"] == 0)].reset_index(drop=True)


# ---- the judges, compared with own labels


async def cards(own, answered):
    """Write the judges' trust cards from the user's labels; return {judge: card}, empty without.

    Of a rubric labels are on criteria with points.
    """
    known = labelled(own, answered)
    if not own.judges or known.empty:
        return {}
    found, made = await on_labelled(own, known), {}
    way = "all in one call" if own.together else "each in a call of its own"
    of = f"criteria of answers ({way})" if own.criteria else "answers"
    for judge, part in found.groupby("judge", sort=False):
        labels = part["label"].astype(int)
        card = trust_cards.trust_card(labels, part, VALUES, units=part["unit"])
        made[judge] = own.write_card(judge, card, judges.whose(part), of=of)
    return made


def corrected(own, graded, cards):
    """The judges' rates, and the rates corrected for their errors on labelled answers: table rows.

    Rogan-Gladen, by the trust card's sensitivity and specificity. A judge that does no better than
    chance gets no corrected value; without a card there are no corrected rows. Of a rubric it is
    the rate of criteria met.
    """
    rows, what = [], "criteria met: " if own.criteria else ""
    for judge, ending, mine in judges_in(own, graded):
        for model, part in groups(points_of(own, mine), "model"):
            came = complete(scored(part), ["unit"])
            lost = len(part) - len(came)
            rate = share((came["value"] == 1).tolist(), came["unit"].tolist())
            rows.append(Row(model, f"{what}judge says, %{ending}", "run", *rate, lost))
            if judge in cards:
                rng = own.rng("corrected")
                found = trust_cards.corrected(rate, cards[judge], rng)
                rows.append(Row(model, f"{what}corrected, %{ending}", "run", *found, lost))
    return tables.frame(rows)


# ---- all of it at once


class Study(NamedTuple):
    """The results of a study.

    graded: each reply, a row for each judge, with the columns of docs/graded.md and all texts.
    scores, pairs: as the functions of these names. cards: trust cards, {judge: card}, empty without
    labels. page: where the study's page is.
    """

    graded: pd.DataFrame
    scores: pd.DataFrame
    pairs: pd.DataFrame
    cards: dict[str, dict]
    page: Path


def opened(own: Own) -> Study:
    """The results that a study's notebook has left. Nothing is asked."""
    made = frames.with_texts(own.folder / f"{VERDICTS}.csv")
    cards = {judge: own.card(judge) for judge in own.judges if own.has_labels}
    return Study(made, scores(own, made), pairs(own, made), cards, own.folder / "index.html")
