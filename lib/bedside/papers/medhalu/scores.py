"""MedHalu: intervals of detection scores, baselines that don't read, agreement of raters (2.3).

Notebooks 02 and 03 compute the scores of section 3.3; `averaged` does so for the seminar.
Intervals are over questions, for these models and raters.
"""

import itertools
import string
from collections.abc import Callable

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, groups, joined, numbers
from bedside.write.results import means, points
from bedside.write.tables import COLUMNS, frame, percent

from .data import units

Numbers = float | np.ndarray
METRICS = {
    "Acc": "accuracy",
    "ma-P": "macro precision",
    "ma-R": "macro recall",
    "ma-F1": "macro F1",
}  # as printed, as shown
COUNTS = ["TP", "FP", "FN", "TN"]  # true and false positive, false and true negative


def averaged(judged: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Each evaluator's share of yes for each item; NaN where no reply could be read.

    Columns: evaluator, item, yes, dataset, type, hallucinated, unit, COUNTS.
    """
    said = groups(numbers(judged, ["yes"]), ["evaluator", "item"])
    found = labelled(said["yes"].mean().reset_index(), items)
    return found.assign(**dict(zip(COUNTS, counts(found).T)))


def labelled(rows: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Rows with item, by base set: dataset, type, hallucinated and unit (of `data.units`) added."""
    columns = ["item", "dataset", "type", "hallucinated"]
    about = complete(items, [*columns, "question"])[columns]
    about = about.assign(unit=about["item"].map(units(items)))
    both = joined(rows, about, validate="many_to_one", whole="left")
    return both.sort_values("dataset", kind="stable", ignore_index=True)


def counts(shares: pd.DataFrame) -> np.ndarray:
    """Expected COUNTS of each row (n, 4)."""
    h, y = shares["hallucinated"].to_numpy(float), shares["yes"].to_numpy(float)
    return np.column_stack([h * y, (1 - h) * y, h * (1 - y), (1 - h) * (1 - y)])


def rates(accuracy: Numbers, recall: Numbers, hallucinated: Numbers) -> tuple[Numbers, Numbers]:
    """Sensitivity and specificity that follow from an accuracy and a macro recall (section 3.3).

    Numbers or arrays; hallucinated: the share of such answers, not one half. Both scores are linear
    in both rates: scores that are means over raters, runs or batches with one share of
    hallucinated answers give the mean rates.
    """
    found = (accuracy - 2 * (1 - hallucinated) * recall) / (2 * hallucinated - 1)
    return found, 2 * recall - found


def macro(
    each: np.ndarray, units: pd.Series | np.ndarray, of: Callable = stats.macro
) -> list[stats.Interval]:
    """METRICS of COUNTS (n, 4), with intervals over units of which they need SEVERAL."""
    return stats.mean(each, units, scale=(0, 1), combine=of, least=stats.SEVERAL)


def scores(
    shares: pd.DataFrame, row: str = "{evaluator}", of: Callable = stats.macro
) -> pd.DataFrame:
    """METRICS as table rows, with intervals over questions.

    row: the label as a format string over the keys. of: COUNTS (..., 4) to the four numbers. n
    counts items with a reply that can be read, unscored the others; worst and best are the scores
    if the unscored were all wrong, or all right.
    """
    by = [name for _, name, *_ in string.Formatter().parse(row) if name]
    rows, nothing = [], [stats.Interval(np.nan, np.nan, np.nan, 0)] * len(METRICS)
    for key, part in shares.groupby(by, sort=False):
        keys, read = dict(zip(by, key)), part["yes"].notna()
        got, lost = part[read], part[~read]
        found = macro(got[COUNTS].to_numpy(float), got["unit"], of) if len(got) else nothing
        made = pd.DataFrame(found).assign(column=METRICS.values(), unscored=len(lost))
        if len(lost):
            right = lost["hallucinated"].astype(float)
            for end, said in (("worst", 1 - right), ("best", right)):
                every = np.vstack([got[COUNTS], counts(lost.assign(yes=said))])
                made[end] = of(every.astype(float).sum(0))
        rows.append(made.assign(row=row.format(**keys), source="run", **keys))
    if not rows:
        return frame([])
    return pd.concat(rows, ignore_index=True).reindex(columns=[*COLUMNS, *by])


def rate_means(shares: pd.DataFrame) -> pd.DataFrame:
    """Sensitivity and specificity in percent as table rows, of all base sets; over questions.

    The share of hallucinated answers that are found, and of the others that are accepted.
    """
    true = shares["hallucinated"].astype(bool)
    rate = true.map({True: "sensitivity, %", False: "specificity, %"})
    right = 100 * shares["yes"].where(true, 1 - shares["yes"])
    each = shares.assign(item=shares["unit"], rate=rate, right=right)
    row = "this run, all subsets: {evaluator}"
    return means(each, {"right": ""}, row, "{rate}", scale=(0, 100))


# ---- baselines that don't read the answer

BLIND = {"always yes": 1.0, "always no": 0.0, "a fair coin": 0.5}


def blind(share: float) -> dict[str, np.ndarray]:
    """Baselines that don't read the answer: {name: accuracy, macro precision, recall and F1}.

    share: of answers that are hallucinated; the last baseline says yes as often. Scores are of
    expected counts, so they have no interval.
    """
    of = np.array([share, 1 - share])
    return {
        name: stats.macro([*(yes * of), *((1 - yes) * of)])
        for name, yes in {**BLIND, "a coin of the share of hallucinations": share}.items()
    }


def baselines(answers, source):
    """`blind` as table rows, of base sets by how many answers are hallucinated and how many not."""
    parts = []
    for d, (p, n) in answers.iterrows():
        made = pd.DataFrame(blind(p / (p + n)), list(METRICS.values())).T
        parts.append(points(made.rename(f"{d}: {{}}".format), source, n=int(p + n)))
    return pd.concat(parts)


def by_words(items, run):
    """A baseline that sees only an answer's words, not the question: rows as of detections.

    If it does better than a coin, the style of answers gives their label away. TF-IDF of words and
    word pairs, logistic regression with balanced classes, cross-validated over items. yes is NaN
    with fewer than two items of a class.
    """
    items = complete(items, ["item", "answer", "hallucinated"])
    rows = items[["item"]].assign(
        evaluator="bag of words of the answer",
        repeat=0,
        source="run",
        status="graded",
        yes=np.nan,
    )
    folds = min(4, *(int((items["hallucinated"] == h).sum()) for h in (True, False)))
    if folds < 2:
        return rows
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        LogisticRegression(class_weight="balanced"),
    )
    cut = StratifiedKFold(folds, shuffle=True, random_state=run.seed)
    yes = cross_val_predict(model, items["answer"], items["hallucinated"], cv=cut)
    return rows.assign(yes=yes.astype(float))


def repeats_differ(judged, items):
    """How far repeats differ, as table rows: macro-F1 of single ones, items with one verdict.

    Of items those count whose repeats can all be read.
    """
    judged, rows = complete(numbers(judged, ["yes"]), ["evaluator", "item", "repeat"]), []
    for name, part in judged.groupby("evaluator", sort=False):
        wide = part.pivot(index="item", columns="repeat", values="yes")
        shares = [averaged(mine, items).dropna(subset="yes") for _, mine in part.groupby("repeat")]
        f1 = [stats.macro(counts(mine).sum(0))[3] for mine in shares if len(mine)]
        n, alike = len(wide.dropna(how="all")), wide.dropna().nunique(axis=1) == 1
        for end, value in (("least", min(f1, default=None)), ("most", max(f1, default=None))):
            rows.append((name, f"macro F1, {end} of single repeats", "run", value, None, None, n))
        column = "items answered alike in all repeats, %"
        rows.append((name, column, "run", *percent(alike.sum(), len(alike))))
    return frame(rows)


# ---- raters

LABELS = [0.0, 1.0]


def agreement(labels: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Agreement of raters with each other and with the labels by group (2.3): table rows.

    Cohen's kappa with the labels is averaged over
    raters, kappa of two raters over pairs, as far as it is measurable (n counts these);
    Krippendorff's alpha is nominal, over all raters of a group.
    Only alpha has an interval, over questions; it holds for these raters only.
    """
    truth, rows = items.set_index("item")["hallucinated"].astype(float), []
    unit = units(items)
    for group, part in groups(numbers(labels, ["yes"]), "group", ["item", "repeat"]):
        wide = part.pivot(index="item", columns="repeat", values="yes")
        raters = [wide[rater] for rater in wide]
        for name, pairs in {
            "kappa with the labels, mean of raters": ((r, truth) for r in raters),
            "kappa of two raters, mean of pairs": itertools.combinations(raters, 2),
        }.items():
            both = [pd.concat(pair, axis=1).dropna().to_numpy() for pair in pairs]
            each = [stats.kappa(*b.T, LABELS).value for b in both if len(b)]
            if each:  # NaN isn't measurable
                n, mean = pd.Series(each).agg(["count", "mean"])
                rows.append((group, name, "run", mean, None, None, int(n)))
        if len(raters) > 1:
            ratings, of = wide.T.to_numpy(), unit[wide.index].to_numpy()
            alpha = stats.krippendorff_alpha(ratings, level="nominal", units=of)
            rows.append((group, "Krippendorff's alpha", "run", *alpha))
    return frame(rows)
