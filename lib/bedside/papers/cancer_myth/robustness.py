"""Cancer-Myth's survey and review under many choices at once (its notebook 08)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import counterparts, normal
from bedside.write.tables import Row

from .survey import ALIKE, GOOD, HUMAN, KEYS, RATED

MODELS = [name for name in RATED.values() if name != HUMAN]
BY = ["text", "raters", "measure", "length"]
USUAL = ["whole answer", "all three", "mean points", "any"]
FIRST = "Gemini-1.5-Pro"  # whose questions the review kept least
NEAR = 0.8  # cosine of TF-IDF above which two questions are nearly the same
DRAWS = 2000


# ---- the survey (section 2)


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


def summary(made: pd.DataFrame) -> list[Row]:
    """Rows of a table from `curve`: for each model, in how many analyses it leads, and how far."""
    rows = []
    for model, part in made.groupby("model", sort=False):
        sure = (part["value"] > 0) & (part["p"] < 0.05)
        for column, value in (
            ("above 0, % of analyses", 100 * (part["value"] > 0).mean()),
            ("and p below 0.05, %", 100 * sure.mean()),
            ("median, SDs of the null", part["z"].median()),
            ("p of the median", part["joint"].iloc[0]),
        ):
            rows.append(Row(model, column, "raw", value, n=len(part)))
    return rows


def mean_squares(points: np.ndarray) -> dict[str, tuple[float, int]]:
    """Mean squares and degrees of freedom of points (questions, writers, physicians), all crossed.

    answer: question by writer; view: physician by writer; residual: what is left of all three;
    within: around each writer's mean, as if ratings were independent.
    """

    def mean(*axes):
        return points.mean(axis=axes, keepdims=True)

    n, k, r = points.shape
    writer, every = mean(0, 2), points.mean()
    answer = mean(2) - mean(1, 2) - writer + every
    view = mean(0) - writer - mean(0, 1) + every
    left = points - answer - view - mean(1) - writer + every
    freedom = (n - 1) * (k - 1), (k - 1) * (r - 1), (n - 1) * (k - 1) * (r - 1), k * (n * r - 1)
    squares = [r * answer**2, n * view**2, left**2, (points - writer) ** 2]
    names = "answer", "view", "residual", "within"
    return {name: (float(x.sum()) / f, f) for name, x, f in zip(names, squares, freedom)}


def without(points: pd.DataFrame) -> list[Row]:
    """Rows of leads over the social workers by one physician, and without one, or one question.

    points: of `survey.whole_answers`. Without one question: low and high are least and largest.
    """
    rows, human = [], points.xs(HUMAN, level="source")
    for model in MODELS:
        gap = points.xs(model, level="source") - human
        for who in gap:
            rows.append(Row(model, f"{who} alone", "raw", gap[who].mean(), n=len(gap)))
        for who in gap:
            rest = gap.drop(columns=who).mean(axis=None)
            rows.append(Row(model, f"without {who}", "raw", rest, n=len(gap)))
        each = [gap.drop(index=q).mean(axis=None) for q in gap.index]
        value = gap.mean(axis=None)
        rows.append(
            Row(model, "without one question", "raw", value, min(each), max(each), len(gap))
        )
    return rows


def labels(ratings: pd.DataFrame) -> list[Row]:
    """Rows of the percent of a writer's paragraphs with a harmful label, by who gave it."""
    parts = ratings[ratings["part"] > 0]
    parts = parts.assign(given=parts["labels"].str.len() > 0)
    wide = parts.pivot(index=KEYS[:3], columns="rater", values="given")
    ways = {"any physician": wide.any(axis=1), "two or three": wide.sum(axis=1) > 1}
    ways |= {who: wide[who] for who in wide}
    return [
        Row(source, f"by {way}", "raw", 100 * float(r["mean"]), n=int(r["size"]))
        for way, hit in ways.items()
        for source, r in hit.groupby("source")
        .agg(["mean", "size"])
        .loc[[*MODELS, HUMAN]]
        .iterrows()
    ]


# ---- the physicians' review of candidates (section 4.1)


def reviewed(candidates: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Candidates with `kept` (1: released) and `near`, the likeness to the next of one generator.

    candidates: of `data.candidates`; released: of `data.questions`, whole. near: cosine of TF-IDF.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    there = set(counterparts(candidates["question"], released["question"]).values())
    words = TfidfVectorizer().fit_transform(candidates["question"])
    by = candidates["generator"].to_numpy()
    alike = np.where(by[:, None] == by, (words @ words.T).toarray(), 0)
    np.fill_diagonal(alike, 0)
    kept = candidates["question"].map(lambda q: int(normal(q) in there))
    columns = ["item", "generator", "category", "myth", "first"]
    return candidates[columns].assign(kept=kept, near=alike.max(axis=1).round(6))


def review(made: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """How much less often Gemini-1.5-Pro's candidates were kept than others', in points.

    made: of `reviewed`. A row for each combination of candidates, out (a category that is left
    out) and weight: value, low, high (95%, myths drawn 2,000 times), n, near (how many candidates
    are nearly the same as another of their generator). Weight: each question alike, each myth
    alike, or compared within categories (Mantel and Haenszel). The value is Gemini's share less
    that of the other two generators.
    """
    usual = made[made["generator"].isin([FIRST, "GPT-4o", "Claude-3.5-Sonnet"])]
    sets = {"balanced": usual[~usual["first"]], "with the first set": usual}
    myths = usual["myth"].unique()
    draws = rng.multinomial(len(myths), np.full(len(myths), 1 / len(myths)), DRAWS)
    draws = np.vstack([np.ones_like(draws[:1]), draws])
    rows = []
    for (name, part), out in itertools.product(sets.items(), ("none", *made["category"].unique())):
        part = part[part["category"] != out]
        weigh = draws, pd.Index(myths).get_indexer(part["myth"])
        for weight, value in _differences(part, *weigh).items():
            low, high = np.quantile(value[1:], [0.025, 0.975])
            rows.append((name, out, weight, value[0], low, high, len(part)))
    names = ["candidates", "out", "weight", "value", "low", "high", "n"]
    return pd.DataFrame(rows, columns=names).assign(near=(made["near"] >= NEAR).sum())


def _differences(part, draws, place):
    """{weight: differences of the shares kept, in points, (draws,)}; place: of each row's myth."""
    mine = (part["generator"] == FIRST).to_numpy()
    kept, strata = part["kept"].to_numpy(float), pd.factorize(part["category"])[0]

    def total(values, inside):
        return draws @ np.bincount(place[inside], values[inside], draws.shape[1])

    def both(inside):
        one = np.ones_like(kept)
        return [total(v, w & inside) for w in (mine, ~mine) for v in (kept, one)]

    a, n, b, m = both(strata >= 0)
    over = under = 0
    for k in range(strata.max() + 1):
        c, n_k, d, m_k = both(strata == k)
        every = np.maximum(n_k + m_k, 1)
        over, under = over + (c * m_k - d * n_k) / every, under + n_k * m_k / every
    each = []
    for w in (mine, ~mine):
        size = np.bincount(place[w], minlength=draws.shape[1])
        share = np.bincount(place[w], kept[w], draws.shape[1]) / np.maximum(size, 1)
        each.append(draws @ share / (draws @ (size > 0)))
    made = {"each question": a / n - b / m, "each myth": each[0] - each[1]}
    return {k: 100 * v for k, v in (made | {"within categories": over / under}).items()}
