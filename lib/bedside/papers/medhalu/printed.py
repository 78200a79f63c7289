"""MedHalu's printed numbers, and what they imply: both rates, scores over all answers, p values.

Accuracy and macro recall alone give both rates (`scores.rates`), so every row has them, be it one
matrix or a mean over raters or runs. The answers are Table 4's, or a sample of them.
"""

import itertools

import numpy as np
import pandas as pd

from bedside import stats
from bedside.run import Run
from bedside.stats.rounded import Rounded, exact
from bedside.write.tables import COLUMNS

from .data import DATASETS, TYPES
from .scores import METRICS, rates

ROUNDED = 0.005  # two decimals are printed
SIX, TEN = "Table 6", "Table 10"  # scores without and with an expert's reason
SHORT = dict(zip(DATASETS, ["HQA", "LQA", "MQA"]))  # as Table 4 has them
LLMS, PEOPLE = ["LLaMA-2", "GPT-3.5", "GPT-4"], ["Experts", "Laypeople"]
OPEN, PROPRIETARY = LLMS[0], LLMS[1:]
RATES = ["sensitivity", "specificity"]
BRIEF = [m.removeprefix("ma-") for m in METRICS]  # scores as tests of claims have them
GRID = np.linspace(0, 1, 21)  # rates that a rater may have, for `mean_f1`
STEP = 1e-5
NOISE = 1e-12  # of a variance that is 0, where two get the same answers right
TEXTS = [  # sections and other places whose numbers aren't in the tables
    *("abstract", "text 1", "text 2.2", "text 2.3", "text 3.1", "text 3.2", "text 4.1", "text 4.2"),
    *("text 5", "ethical considerations", "appendix B"),
]
SPANS = {"Mean": "mean edit distance", "Med": "median edit distance"}  # as printed, as shown
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
    return rounded_table(run, table).value[metric.removeprefix("ma-")]


def by_row(run: Run, table: str) -> dict[tuple[str, str], dict[str, float]]:
    """A printed table's scores, {(row, dataset): {metric: value}}, in printed order."""
    return {
        key: dict(zip(part["metric"], part["value"]))
        for key, part in long(run, table).groupby(["row", "dataset"], sort=False)
    }


def rows(run: Run, table: str) -> pd.DataFrame:
    """Table 6, 7, 8 or 10 as table rows, `base set: evaluator`; n, of Table 6, as of `answered`."""
    said, n = long(run, table), answered(run) if table == SIX else {}
    return said.assign(
        row=said["dataset"] + ": " + said["row"],
        column=said["metric"].map(METRICS | SPANS),
        source="published",
        n=[n.get(key) for key in zip(said["row"], said["dataset"])],
    ).reindex(columns=COLUMNS)


def rounded_table(run: Run, table: str) -> Rounded:
    """Table 6, 7, 8 or 10 with its rounding: rows by score (as BRIEF) and base set."""
    rows = long(run, table)
    rows["metric"] = rows["metric"].str.removeprefix("ma-")
    found = rows.pivot(index="row", columns=["metric", "dataset"], values="value")
    found = found.loc[rows["row"].unique()].sort_index(axis=1)
    digits = [1 if score == "Med" else 2 for score, _ in found]  # of medians one decimal
    return Rounded.printed(found, pd.Series(digits, found.columns))


def by_set(run):
    """Table 4: types, as printed, by base set."""
    return grid(run, "Table 4")[[*SHORT.values()]].set_axis(DATASETS, axis=1).astype(int)


def answers(run: Run) -> pd.DataFrame:
    """How many answers of Table 4 are hallucinated, and how many others there are, by base set."""
    four = by_set(run).T
    other = four["None-conflict"]
    return pd.DataFrame({"hallucinated": four["Total"] - other, "other": other})


def classes(run: Run) -> dict[str, tuple[int, int]]:
    """{dataset: (hallucinated answers, other answers)} of Table 4."""
    return {d: tuple(map(int, n)) for d, n in answers(run).iterrows()}


def pairs(run):
    """Every answer of Table 4 as a row: dataset, type."""
    four = by_set(run)
    rows = [(d, t) for d in DATASETS for t, name in TYPES.items() for _ in range(four.at[name, d])]
    return pd.DataFrame(rows, columns=["dataset", "type"])


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
    """Two standard errors of a sample's share of hallucinated answers, by base set (2.3)."""
    n, share, part = answers(run).sum(axis=1), hallucinated(answers(run)), sample_share(run)
    return 2 * np.sqrt(share * (1 - share) / n * (1 - part) / part)


# ---- what is behind the scores; answers: base sets by hallucinated and other


def hallucinated(answers: pd.DataFrame) -> pd.Series:
    """The share of hallucinated answers, by base set."""
    return answers["hallucinated"] / answers.sum(axis=1)


def corners(scores: Rounded, answers: pd.DataFrame, off: pd.Series | float = 0) -> np.ndarray:
    """Both rates (k, evaluators, base sets, 2) at the ends of accuracy, macro recall and share.

    off: by how much the share of hallucinated answers may differ in those that were judged.
    """
    ends = [[x.low.to_numpy(), x.high.to_numpy()] for x in (scores.Acc, scores.R)]
    share = hallucinated(answers).to_numpy()
    shares = [share + o for o in np.unique([-off, off], axis=0)]
    made = [np.stack(rates(*at), axis=-1) for at in itertools.product(*ends, shares)]
    return np.clip(made, 0, 1)


def rounded_rates(scores: Rounded, answers: pd.DataFrame, off: pd.Series | float = 0) -> Rounded:
    """Both rates behind scores, evaluators by rate and base set; arguments as of `corners`."""
    of, ends = scores.value, corners(scores, answers, off)
    middle = corners(exact(of), answers)[0]
    names = pd.MultiIndex.from_product([answers.index, RATES]).swaplevel()
    return Rounded(
        *(
            pd.DataFrame(x.reshape(len(of), -1), of.index, names).sort_index(axis=1)
            for x in (ends.min(axis=0), middle, ends.max(axis=0))
        )
    )


def rate_rows(run: Run, *tables: str) -> pd.DataFrame:
    """Both rates behind Table 6 or 10 as table rows in percent, of evaluators in all of the tables.

    low and high are what rounding allows. n: answers judged, of Table 4 or of its sample. In the
    sample that people judged, the share of hallucinated answers may be off Table 4's by two
    standard errors.
    """
    parts = {}
    for table in tables:
        scores = rounded_table(run, table)
        off = np.outer(scores.value.index.isin(PEOPLE), share_errors(run))
        ends = vars(rounded_rates(scores, answers(run), off)).items()
        parts[table] = 100 * pd.concat({end: x.stack([0, 1]) for end, x in ends}, axis=1)
    found = pd.concat(parts, names=["of", "who", "rate", "dataset"]).reset_index()
    found = found[found.groupby("who")["of"].transform("nunique") == len(tables)]
    return found.assign(
        row=found["dataset"] + ": " + found["who"] + ", " + found["of"],
        column=found["rate"] + ", %",
        source="recomputed",
        n=pd.MultiIndex.from_frame(found[["who", "dataset"]]).map(answered(run)),
    ).reindex(columns=COLUMNS)


def confusion(at, positive, negative):
    """Expected confusion matrix (..., 4) of rates (..., 2) on so many answers of each class."""
    tp, tn = at[..., 0] * positive, at[..., 1] * negative
    return np.stack([tp, negative - tn, positive - tp, tn], axis=-1)


def pooled(scores: Rounded, answers: pd.DataFrame) -> Rounded:
    """Macro-F1 of all answers together that scores allow, by evaluator."""
    counts = confusion(corners(scores, answers), *answers.T.to_numpy())
    every = [sum(parts) for parts in itertools.product(*np.moveaxis(counts, 2, 0))]
    f1 = pd.DataFrame(stats.macro(np.array(every))[..., 3], columns=scores.value.index)
    return Rounded(f1.min(), f1.mean(), f1.max())


def mean_f1(scores: Rounded, answers: pd.DataFrame) -> Rounded:
    """Mean macro-F1 of raters over all answers, however they differ, by evaluator."""
    at, whole = rounded_rates(scores, answers), answers.sum()
    part = pd.concat({r: answers[c] / whole[c] for r, c in zip(RATES, answers)})
    low, high = ((x * part).T.groupby(level=0).sum() for x in (at.low, at.high))
    each = np.stack([x.ravel() for x in np.meshgrid(GRID, GRID)])
    f1 = stats.macro(confusion(each.T, *whole / whole.sum()))[:, 3]
    least, most = (
        pd.Series({w: side * stats.least_mean(side * f1, each, low[w], high[w]) for w in low})
        for side in (1, -1)
    )
    return Rounded(least, (least + most) / 2, most)


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
    or a frame with a test in each column. judged: the shares of the answers that they judged. A
    z-test (two-sided, 1 if a is not ahead) whose standard error comes from both rates by the delta
    method; overlaps: of OVERLAPS, those on which the least and the most p rest.
    """
    from scipy.special import ndtr

    a, b = (x.map(lambda s: s.to_frame().T) if x.value.ndim == 1 else x for x in (a, b))
    names, tests = max(a.value.index, b.value.index, key=len), pd.DataFrame(weights).T
    x, y = corners(a, answers)[:, None], corners(b, answers)[None]
    up, down = (slope(at, answers, score) for at in (x, y))
    alone = up**2 * x * (1 - x) / judged[0] + down**2 * y * (1 - y) / judged[1]
    lead = a.high[score].to_numpy() - b.low[score].to_numpy()
    least = a.low[score].to_numpy() - b.high[score].to_numpy()
    p = []
    for gap, overlap, pick in ((lead, overlaps[0], np.min), (least, overlaps[1], np.max)):
        shared = 2 * up * down * (OVERLAPS[overlap](x, y) - x * y) / max(judged)
        variance = pick(((alone - shared) / answers.to_numpy()).sum(axis=-1), axis=(0, 1))
        error = np.sqrt(variance.clip(NOISE) @ tests.T**2)
        found = np.minimum(1, 2 * ndtr(-(gap @ tests.T) / error)).set_axis(names)
        p.append(found.stack() if isinstance(weights, pd.DataFrame) else found.iloc[:, 0])
    return Rounded(p[0], p[1], p[1])


def f1_limits(run: Run) -> dict[tuple[str, str], tuple[float, float]]:
    """95% limits of Table 6's macro-F1, {(evaluator, base set): limits}, by the delta method.

    From both rates behind the printed scores and the answers that each evaluator judged.
    """
    scores, of, share = rounded_table(run, SIX), answers(run), sample_share(run)
    at = corners(exact(scores.value), of)[0]
    judged = np.where(scores.value.index.isin(PEOPLE), share, 1)[:, None]
    variance = (slope(at, of, "F1") ** 2 * at * (1 - at) / of.to_numpy()).sum(axis=-1) / judged
    reach = pd.DataFrame(1.96 * np.sqrt(variance), scores.value.index, DATASETS).stack()
    f1 = scores.value["F1"].stack()
    return {key: (max(0, f1[key] - r), min(1, f1[key] + r)) for key, r in reach.items()}


def slope(at, answers, score):
    """The derivative of a score by either rate, (..., 2)."""
    ends = (at[..., None, :] + side * np.eye(2) for side in (STEP, -STEP))
    p, n = np.split(answers.to_numpy(), 2, axis=1)
    up, down = (stats.macro(confusion(x, p, n))[..., BRIEF.index(score)] for x in ends)
    return (up - down) / (2 * STEP)
