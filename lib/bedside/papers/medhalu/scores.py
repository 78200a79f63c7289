"""MedHalu: intervals of detection scores, baselines that don't read, agreement of raters (2.3).

Notebooks 02 and 03 compute the scores of section 3.3; `averaged` does so for the seminar.
Intervals are over questions, for these models and raters.
"""

import itertools
import string
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read.checks import complete, groups, joined, numbers
from bedside.write.results import points
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


def measured(measures: dict[str, Callable]) -> Callable:
    """A function of COUNTS (..., 4) to as many numbers as there are measures, each of four counts.

    All but accuracy are NaN without a case of one class: there is nothing to average.
    """

    def of(counts):
        tp, fp, fn, tn = np.moveaxis(np.asarray(counts, float), -1, 0)
        there = np.where((tp + fn > 0) & (fp + tn > 0), 1, np.nan)
        with np.errstate(invalid="ignore"):  # without any answer
            found = {name: each(tp, fp, fn, tn) for name, each in measures.items()}
        return np.stack([v if n == "accuracy" else v * there for n, v in found.items()], axis=-1)

    return of


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


# ---- baselines that don't read the answer

BLIND = {"always yes": 1.0, "always no": 0.0, "a fair coin": 0.5}


def blind(share: float) -> dict[str, np.ndarray]:
    """Baselines that don't read the answer: {name: accuracy, macro precision, recall and F1}.

    share: of answers that are hallucinated; the last baseline says yes as often. Scores are of
    expected counts, so they have no interval.
    """
    detectors = {**BLIND, "a coin of the share of hallucinations": share}
    return {
        name: stats.macro(
            [share * yes, (1 - share) * yes, share * (1 - yes), (1 - share) * (1 - yes)]
        )
        for name, yes in detectors.items()
    }


def classes(items: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """{base set: (hallucinated answers, other answers)}, as `printed.classes`."""
    found = items.groupby("dataset")["hallucinated"].agg(["sum", "size"])
    return {d: (int(h), int(n - h)) for d, (h, n) in found.iterrows()}


def baselines(answers: Mapping[str, tuple[int, int]], source: str) -> pd.DataFrame:
    """`blind` as table rows, of {base set: (hallucinated answers, others)}."""
    parts = []
    for d, (p, n) in answers.items():
        made = pd.DataFrame(blind(p / (p + n)), list(METRICS.values())).T
        parts.append(points(made.rename(lambda name, d=d: f"{d}: {name}"), source, n=p + n))
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
    labels = numbers(labels, ["yes"])
    for group, part in groups(labels, "group", ["item", "repeat"]):
        wide = part.pivot(index="item", columns="repeat", values="yes")
        for name, found in (
            ("kappa with the labels, mean of raters", _kappas_with(truth, wide)),
            ("kappa of two raters, mean of pairs", _kappas_of_pairs(wide)),
        ):
            if found:
                found = [kappa for kappa in found if kappa == kappa]  # NaN isn't measurable
                mean = sum(found) / len(found) if found else None
                rows.append((group, name, "run", mean, None, None, len(found)))
        if len(wide.columns) > 1:
            ratings, of = wide.T.to_numpy(), unit[wide.index].to_numpy()
            alpha = stats.krippendorff_alpha(ratings, level="nominal", units=of)
            rows.append((group, "Krippendorff's alpha", "run", *alpha))
    return frame(rows)


def _kappas_with(truth, wide):
    """Each rater's Cohen's kappa with the labels; wide: items by raters."""
    each = [wide[rater].dropna() for rater in wide]
    return [stats.kappa(mine, truth[mine.index], LABELS).value for mine in each]


def _kappas_of_pairs(wide):
    """Cohen's kappa of each pair of raters who share items; wide: items by raters."""
    pairs = [wide[[a, b]].dropna() for a, b in itertools.combinations(wide, 2)]
    return [
        stats.kappa(both.iloc[:, 0], both.iloc[:, 1], LABELS).value for both in pairs if len(both)
    ]
