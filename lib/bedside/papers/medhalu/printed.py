"""MedHalu's printed numbers, and what they imply: both rates, scores over all answers, p values.

Accuracy and macro recall alone give both rates (`scores.rates`), so every row has them, be it one
matrix or a mean over raters or runs. The answers are Table 4's, or a sample of them.
"""

import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.run import Run
from bedside.stats.rounded import Rounded

from .data import DATASETS, TYPES
from .scores import METRICS, rates

ROUNDED = 0.005  # two decimals are printed
ALPHA = 0.05
SIX, TEN = "Table 6", "Table 10"  # scores without and with an expert's reason
SHORT = dict(zip(DATASETS, ["HQA", "LQA", "MQA"]))  # as Table 4 has them
LLMS, PEOPLE = ["LLaMA-2", "GPT-3.5", "GPT-4"], ["Experts", "Laypeople"]
OPEN, PROPRIETARY = LLMS[0], LLMS[1:]
RATES = ["sensitivity", "specificity"]
BRIEF = [m.removeprefix("ma-") for m in METRICS]  # scores as tests of claims have them
GRID = np.linspace(0, 1, 21)  # rates that a rater may have, for `mean_f1`
STEP = 1e-5
OVERLAPS = {  # of what two evaluators get right
    "best": np.minimum,
    "none": np.multiply,  # as if unpaired
    "worst": lambda x, y: np.maximum(0, x + y - 1),
}


# ---- tables


def text(run, name):
    """The printed numbers of a table with one column, or of a section: {row: value}."""
    return run.published(name).set_index("row")["value"]


def grid(run, name):
    """A printed table in its own shape: rows by columns."""
    return run.published(name).pivot(index="row", columns="column", values="value")


def long(run, table):
    """Table 6, 7, 8 or 10 long: row, dataset, metric, value."""
    rows = run.published(table)
    words = rows["column"].str.split()
    rows = rows.assign(dataset=words.str[0], metric=words.str[1])
    return rows[["row", "dataset", "metric", "value"]]


def wide(run: Run, table: str, metric: str) -> pd.DataFrame:
    """One metric of a printed table: evaluators by base sets, in printed order."""
    rows = long(run, table)
    found = rows[rows["metric"] == metric].pivot(index="row", columns="dataset", values="value")
    return found.loc[rows["row"].unique(), DATASETS]


def by_row(run: Run, table: str) -> dict[tuple[str, str], dict[str, float]]:
    """A printed table's scores, {(row, dataset): {metric: value}}, in printed order."""
    return {
        key: dict(zip(part["metric"], part["value"]))
        for key, part in long(run, table).groupby(["row", "dataset"], sort=False)
    }


def rounded_table(run: Run, table: str) -> Rounded:
    """Table 6, 7, 8 or 10 with its rounding: rows by score (as BRIEF) and base set."""
    rows = long(run, table)
    rows["metric"] = rows["metric"].str.removeprefix("ma-")
    found = rows.pivot(index="row", columns=["metric", "dataset"], values="value")
    found = found.loc[rows["row"].unique()].sort_index(axis=1)
    half = [0.05 if score == "Med" else ROUNDED for score, _ in found]  # medians have one decimal
    return Rounded(found - half, found, found + half)


def sizes(run):
    """{dataset: {type: number of answers}} of Table 4."""
    four = grid(run, "Table 4").astype(int)
    return {d: {t: int(four.at[name, s]) for t, name in TYPES.items()} for d, s in SHORT.items()}


def classes(run: Run) -> dict[str, tuple[int, int]]:
    """{dataset: (hallucinated answers, other answers)} of Table 4."""
    return {d: (sum(n.values()) - n["none"], n["none"]) for d, n in sizes(run).items()}


def answers(run: Run) -> pd.DataFrame:
    """`classes` as a frame: base sets by hallucinated and other."""
    return pd.DataFrame(classes(run), index=["hallucinated", "other"]).T


def pairs(run):
    """Every answer of Table 4 as a row: dataset, type."""
    rows = [(d, t) for d, n in sizes(run).items() for t, k in n.items() for _ in range(k)]
    return pd.DataFrame(rows, columns=["dataset", "type"])


def shares(run):
    """Each base set's share of Table 4's pairs."""
    n = answers(run).sum(axis=1)
    return n / n.sum()


def sample_share(run):
    """The share of Table 4's pairs that people judged (section 2.3)."""
    return text(run, "text 2.3")["sampled pairs"] / answers(run).sum(axis=None)


def answered(run):
    """How many answers each evaluator judged in each subset: {(row, dataset): n}.

    Models judged all, people the sample of section 2.3, which has the base sets in proportion.
    """
    share = dict.fromkeys(LLMS, 1) | dict.fromkeys(PEOPLE, sample_share(run))
    n = answers(run).sum(axis=1)
    return {(who, d): round(n[d] * share[who]) for who in share for d in DATASETS}


def share_errors(run: Run) -> pd.Series:
    """Two standard errors of a sample's share of hallucinated answers, by base set.

    Section 2.3: 500 pairs of 2,077.
    """
    n, part = answers(run), sample_share(run)
    share = n["hallucinated"] / n.sum(axis=1)
    return 2 * np.sqrt(share * (1 - share) / n.sum(axis=1) * (1 - part) / part)


# ---- what is behind the scores


def corners(scores: Rounded, share: pd.Series, off: pd.Series | float = 0) -> np.ndarray:
    """Both rates (k, evaluators, base sets, 2) at the ends of accuracy, macro recall and share.

    share: of hallucinated answers, by base set, which may be `off` by so much.
    """
    ends = [[x.low.to_numpy(), x.high.to_numpy()] for x in (scores.Acc, scores.R)]
    off = np.unique([-off, off], axis=0)
    found = (rates(*at, share.to_numpy() + o) for *at, o in itertools.product(*ends, off))
    return np.clip([np.stack(both, axis=-1) for both in found], 0, 1)


def rounded_rates(scores: Rounded, share: pd.Series, off: pd.Series | float = 0) -> Rounded:
    """Both rates behind scores: evaluators by rate and base set; as `corners`."""
    ends, of = corners(scores, share, off), scores.value
    middle = np.clip(np.stack(rates(of.Acc, of.R, share), axis=-1), 0, 1)
    names = pd.MultiIndex.from_product([of.Acc.columns, RATES]).swaplevel()
    low, value, high = (
        pd.DataFrame(x.reshape(len(of), -1), of.index, names).sort_index(axis=1)
        for x in (ends.min(axis=0), middle, ends.max(axis=0))
    )
    return Rounded(low, value, high)


def behind(run, table, sampled=PEOPLE):
    """Sensitivity and specificity behind each row of Table 6 or 10, with what rounding allows.

    Rows with row, dataset, n (answers judged, of Table 4 or of its sample) and both rates, each
    with its least and most value. sampled: evaluators who judged the sample, in which the share of
    hallucinated answers may be off Table 4's by two standard errors.
    """
    scores, n, judged = rounded_table(run, table), answers(run), answered(run)
    share, rows = n["hallucinated"] / n.sum(axis=1), []
    for who, d in by_row(run, table):
        off = share_errors(run) * (who in sampled)
        found = rounded_rates(scores.of([who]), share, off)
        row = {"row": who, "dataset": d, "n": judged[who, d]}
        for rate in RATES:
            low, value, high = (getattr(found, x).at[who, (rate, d)] for x in vars(found))
            row |= {rate: value, f"{rate} least": low, f"{rate} most": high}
        rows.append(row)
    return pd.DataFrame(rows)


def confusion(at, positive, negative):
    """Expected confusion matrix (..., 4) of rates (..., 2) on so many answers of each class."""
    tp, tn = at[..., 0] * positive, at[..., 1] * negative
    return np.stack([tp, negative - tn, positive - tp, tn], axis=-1)


def pooled(scores: Rounded, answers: pd.DataFrame) -> Rounded:
    """Macro-F1 of all answers together that scores allow, by evaluator."""
    counts = confusion(
        corners(scores, answers["hallucinated"] / answers.sum(axis=1)), *answers.T.to_numpy()
    )
    every = [sum(parts) for parts in itertools.product(*np.moveaxis(counts, 2, 0))]
    f1 = pd.DataFrame(stats.macro(np.array(every))[..., 3], columns=scores.value.index)
    return Rounded(f1.min(), f1.mean(), f1.max())


def mean_f1(scores: Rounded, answers: pd.DataFrame) -> Rounded:
    """Mean macro-F1 of raters over all answers, however they differ, by evaluator."""
    share, part = answers["hallucinated"] / answers.sum(axis=1), answers / answers.sum()
    at, whole = rounded_rates(scores, share), answers.sum().to_numpy() / answers.sum(axis=None)
    each = np.stack([x.ravel() for x in np.meshgrid(GRID, GRID)])
    f1, ends = stats.macro(confusion(each.T, *whole))[:, 3], {}
    for who in scores.value.index:
        low, high = (
            [x.loc[who, rate] @ part[c] for rate, c in zip(RATES, part)] for x in (at.low, at.high)
        )
        ends[who] = [side * stats.least_mean(side * f1, each, low, high) for side in (1, -1)]
    low, high = pd.DataFrame(ends).to_numpy()
    return Rounded(*(pd.Series(x, scores.value.index) for x in (low, (low + high) / 2, high)))


def p_ends(
    a: Rounded,
    b: Rounded,
    score: str,
    weights: pd.Series | pd.DataFrame,
    judged: tuple[float, float] = (1, 1),
    overlaps: tuple[str, str] = ("none", "none"),
    *,
    answers: pd.DataFrame,
) -> Rounded:
    """Least and most p that rounding and overlaps allow for a scoring higher than b.

    a, b: scores of evaluators; of one of them, or of as many as the other. weights: of base sets,
    or a frame of them, a test each. judged: the shares of the answers that they judged. A z-test
    (two-sided, 1 if a is not ahead) whose standard error comes from both rates by the delta method;
    overlaps: of OVERLAPS, those on which the least and the most p rest.
    """
    from scipy.special import ndtr

    a, b = (x.map(lambda s: s.to_frame().T) if x.value.ndim == 1 else x for x in (a, b))
    tests, names = pd.DataFrame(weights), max(a.value.index, b.value.index, key=len)
    tests = tests if isinstance(weights, pd.DataFrame) else tests.T
    w, sizes = tests[answers.index].to_numpy().T, answers.to_numpy()
    share = answers["hallucinated"] / answers.sum(axis=1)
    x, y = corners(a, share)[:, None], corners(b, share)[None]
    slopes, ends = [slope(at, sizes, BRIEF.index(score)) for at in (x, y)], []
    alone = sum(g**2 * at * (1 - at) / k for g, at, k in zip(slopes, (x, y), judged))
    most, least = (
        getattr(a, i)[score].to_numpy() - getattr(b, j)[score].to_numpy()
        for i, j in (("high", "low"), ("low", "high"))
    )
    for gap, overlap, pick in ((most, overlaps[0], np.min), (least, overlaps[1], np.max)):
        shared = 2 * slopes[0] * slopes[1] * (OVERLAPS[overlap](x, y) - x * y) / max(judged)
        variance = pick(((alone - shared) / sizes).sum(axis=-1), axis=(0, 1))
        p = np.minimum(1, 2 * ndtr(-(gap @ w) / np.sqrt(variance @ w**2)))
        found = pd.DataFrame(p, names, tests.index)
        ends.append(found.stack() if isinstance(weights, pd.DataFrame) else found.iloc[:, 0])
    return Rounded(ends[0], ends[1], ends[1])


def slope(at, sizes, k):
    """The derivative of score k of `stats.macro` by either rate, (..., 2)."""
    moved = at[..., None, :] + STEP * np.array([np.eye(2), -np.eye(2)]).reshape(
        2, *[1] * (at.ndim - 1), 2, 2
    )
    up, down = stats.macro(confusion(moved, sizes[:, :1], sizes[:, 1:]))[..., k]
    return (up - down) / (2 * STEP)
