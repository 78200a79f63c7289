"""Cancer-Myth's survey under many choices at once (its notebook 08)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from bedside import stats

from .survey import ALIKE, GOOD, HUMAN, RATED

MODELS = [name for name in RATED.values() if name != HUMAN]
BY = ["text", "raters", "measure", "length"]
USUAL = ["whole answer", "all three", "mean points", "any"]
DRAWS = 2000


def leads(ratings: pd.DataFrame, words: pd.DataFrame, model: str) -> list[tuple]:
    """A model's lead over the social workers on each question, for each text, rater and measure.

    ratings: of `survey.survey`; words: of `survey.answer_words`, in the order of the questions.
    (text, raters, measure, leads (n,), log of the ratio of lengths (n,)); the medians have the
    leads of the means.
    """
    length = np.log(words[model] / words[HUMAN]).to_numpy()
    rated, found = ratings.dropna(subset="rating"), []
    for text, mine in (
        ("whole answer", rated[rated["part"] == 0]),
        ("mean of paragraphs", rated[rated["part"] > 0]),
    ):
        answers = mine.assign(good=mine["rating"] >= GOOD).groupby(["question", "source", "rater"])
        table = answers[["rating", "good"]].mean().unstack("rater")
        gap = table.xs(model, level="source") - table.xs(HUMAN, level="source")
        for who in ("all three", *sorted(mine["rater"].unique())):
            one = gap if who == "all three" else gap.xs(who, axis=1, level=1, drop_level=False)
            points = one["rating"].mean(axis=1).to_numpy()
            wins = np.sign(one["rating"].round(9)).mean(axis=1).to_numpy()
            good = one["good"].mean(axis=1).to_numpy()
            measures = {"mean points": points, "median points": points}
            measures |= {"4 points or more": good, "wins less losses": wins}
            found += [(text, who, name, lead, length) for name, lead in measures.items()]
    return found


def swapped(
    lead: np.ndarray, length: np.ndarray, signs: np.ndarray, equal: bool, median: bool
) -> np.ndarray:
    """A lead (n,) over questions after swaps of both writers: signs (draws, n) of 1 and -1.

    The mean or the median; equal: at equal length, by the least-squares line over `length` (n,),
    the difference of the logarithms of words, which a swap turns as well.
    """
    made = signs * lead
    if equal:
        x = signs * length
        across = (lead * length).mean() - x.mean(axis=1) * made.mean(axis=1)
        slope = across / ((length**2).mean() - x.mean(axis=1) ** 2)
        made = made - slope[:, None] * x
    return np.median(made, axis=1) if median else made.mean(axis=1)


def curve(ratings: pd.DataFrame, words: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Each model's lead over the social workers under all combinations of choices (section 2.2).

    A row for each: model, BY, n (questions), value, p (two-sided), z (value over its standard
    deviation under the null), usual. Null: the writers of each question are swapped at random, for
    all choices alike. low, high: 95% of the z of the null at this place in the order; joint: p of
    the median z of all choices. Fewer than ten questions of similar length give no row.
    """
    signs = rng.choice([-1, 1], (DRAWS, ratings["question"].nunique()))
    signs = np.vstack([np.ones_like(signs[:1]), signs])  # the first: as it was
    parts = []
    for model in MODELS:
        rows, drawn = [], []
        ways = itertools.product(leads(ratings, words, model), ("any", "equal", "similar"))
        for (text, who, measure, lead, length), how in ways:
            inside = np.abs(length) <= (np.log1p(ALIKE) if how == "similar" else np.inf)
            if inside.sum() < stats.LEAST:
                continue
            picked = lead[inside], length[inside], signs[:, inside]
            value = swapped(*picked, how == "equal", measure.startswith("median"))
            rows.append((model, text, who, measure, how, inside.sum(), value[0]))
            drawn.append(value)
        parts.append(_against_null(rows, np.array(drawn)))
    return pd.concat(parts, ignore_index=True)


def _against_null(rows, drawn):
    """Rows of `curve`, by z, from values (choices, 1 + draws), of which the first is as it was."""
    made = pd.DataFrame(rows, columns=["model", *BY, "n", "value"])
    spread = drawn[:, 1:].std(axis=1, keepdims=True)
    z = np.divide(drawn, spread, out=np.zeros_like(drawn), where=spread > 1e-12)
    made = made.assign(z=z[:, 0], p=stats.two_sided_p(drawn[:, 0], drawn[:, 1:].T))
    made = made.assign(usual=(made[BY] == USUAL).all(axis=1))
    middle = np.median(z, axis=0)
    joint = (1 + (middle[1:] >= middle[0]).sum()) / len(middle)
    low, high = stats.ordered_band(z[:, 1:].T)
    made = made.sort_values("z", kind="stable", ignore_index=True)
    return made.assign(low=low, high=high, joint=joint)


def without(points: pd.DataFrame) -> dict[tuple[str, str], float | stats.Interval]:
    """Leads over the social workers by one physician, and without one, or one question.

    points: of `survey.whole_answers`. {(model, whose): lead}. Without one question: the least and
    the largest lead are the limits.
    """
    found, human = {}, points.xs(HUMAN, level="source")
    for model in MODELS:
        gap = points.xs(model, level="source") - human
        found |= {(model, f"{who} alone"): gap[who].mean() for who in gap}
        for who in gap:
            found[model, f"without {who}"] = gap.drop(columns=who).mean(axis=None)
        each = [gap.drop(index=q).mean(axis=None) for q in gap.index]
        one = stats.Interval(gap.mean(axis=None), min(each), max(each), len(gap))
        found[model, "without one question"] = one
    return found
