"""Checks without n: what no data of any size can have printed, and no honest table accused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import bedside
import printed_tables
from bedside import stats

COLUMNS = ["table", "row", "column", "value", "n", "kind", "of"]
SCORES = [name for name in stats.SCORES if name != "f1 of means"]


def checked(rows):
    """What the checks say of rows (row, column, value, kind) or (..., of), all without n."""
    filled = [("T", *row[:3], "", row[3], *(row[4:] or [""])) for row in rows]
    return bedside.check(pd.DataFrame(filled, columns=COLUMNS))


def scores(**values):
    """Rows of scores of one matrix; two words of a name are joined by an underscore."""
    return [("J", kind, text, kind.replace("_", " ")) for kind, text in values.items()]


GRADE = ("A", "grade", "4.60", "mean", "scale=1 to 5")
AGREE = ("R", "agree", "80%", "share")
YES = [("R", "one", "40%", "share"), ("R", "two", "45%", "share")]


@pytest.mark.parametrize(
    "rows",
    [
        # the mean of an F1 is at least P + R - 1 = .79 to .81, whatever it is a mean of
        scores(precision=".90", recall=".90", f1=".50"),
        scores(macro_precision=".90", macro_recall=".90", macro_f1=".50"),
        scores(weighted_precision=".70", weighted_recall=".70", weighted_f1=".75"),
        scores(precision=".50", f1=".95"),  # with a recall of 1 it is .67
        scores(f1="1.88"),
        scores(f1="1.88", precision=".90"),
        scores(f1="-0.20"),
        scores(accuracy=".95", weighted_recall=".85"),
        [("J", "acc", ".95", "accuracy", "classes=2"), *scores(recall=".20", specificity=".35")],
        [("J", "acc", ".40", "accuracy", "classes=2"), *scores(macro_recall=".15")],
        [("A", "grade", "5.6", "mean", "scale=1 to 5")],
        [("A", "grade", "0.4", "mean", "scale=1 to 5")],
        [GRADE, ("A", "SD", "1.90", "sd", "grade")],  # at most sqrt(2 * 3.605 * .405) = 1.71
        [("A", "SD", "3.10", "sd", "scale=1 to 5")],  # two grades, 1 and 5: 2.83
        [("A", "SD", "-0.10", "sd")],
        [("R", "k", "1.20", "kappa")],
        [("R", "k", "-1.20", "kappa")],
        [AGREE, ("R", "k", "0.85", "kappa", "agree; classes=2")],  # at most 0.62
        [AGREE, ("R", "k", "-0.30", "kappa", "agree; classes=2")],  # at least -0.11
        [*YES, ("R", "k", "0.95", "kappa", "one; two; classes=2")],  # at most 0.92
        # 97% can't agree where one says yes to 5% more than the other, and rounding is 1%
        [("R", "a", "97%", "share"), *YES, ("R", "k", "0.9", "kappa", "a; one; two; classes=2")],
        [("A", "p", "1.20", "p")],
        [("A", "p", "-0.02", "p")],
        [("A", "right", "101%", "share")],
        [("A", "right", "-3%", "share")],
        [("A", "women", "-3", "count")],
        [("A", "ci", "0.53 to 0.41", "interval")],
        [("A", "right", "75%", "share"), ("A", "ci", "77 to 85", "interval", "right")],
    ],
)
def test_what_no_n_makes_possible_is_impossible_without_one(rows):
    found = checked(rows)
    assert found["verdict"].tolist().count("impossible") == 1, found.to_dict("records")
    assert found["arithmetic"][0].count("\n") == 1 and found["verdict"][0] == "impossible"


@pytest.mark.parametrize(
    "rows, only_if",
    [
        # means of classes or folds may have it: .85 is above .79, but no one matrix has it
        (scores(precision=".90", recall=".90", f1=".85"), "means over classes"),
        # one matrix has an accuracy between recall and specificity
        (scores(accuracy=".95", recall=".80", specificity=".85"), "means over classes"),
        (scores(accuracy=".80", kappa=".95"), "weighted"),
        ([GRADE, ("A", "SD", "0.10", "sd", "grade")], "no whole numbers"),
        ([AGREE, ("R", "k", "0.70", "kappa", "agree")], "more than two classes"),
    ],
)
def test_what_another_reading_allows_is_said(rows, only_if):
    found = checked(rows)
    assert found["verdict"][0] == "only if" and only_if in found["only_if"][0]
    assert "impossible" not in {*found["verdict"]}


@pytest.mark.parametrize(
    "rows, verdict",
    [
        (scores(precision=".90", recall=".90", f1=".90"), "possible"),
        (scores(accuracy=".83", recall=".80", specificity=".85"), "possible"),
        (scores(f1=".88"), "not testable"),
        ([("A", "grade", "4.6", "mean", "scale=1 to 5")], "not testable"),
        ([("A", "p", "1.00", "p")], "not testable"),
        ([("A", "p", "5%", "p")], "not testable"),
        ([*scores(f1="1.88"), ("K", "f1", "85.2", "f1")], "not testable"),  # in percent
    ],
)
def test_what_fits_some_n_is_not_accused(rows, verdict):
    assert {*checked(rows)["verdict"]} == {verdict}


def test_rows_about_the_same_items_share_their_positives_without_n():
    """With a recall of .9 a precision of .9 and an accuracy of .91 need 45% positives or more, a
    precision of .5 and the same accuracy at most 10%."""
    one = [("J", k, v, k, "positives=items") for k, v in zip(TRIPLE, (".91", ".90", ".90"))]
    other = [("K", k, v, k, "positives=items") for k, v in zip(TRIPLE, (".91", ".50", ".90"))]
    found = checked([*one, *other]).set_index("kind")["verdict"]
    assert found["rows that share positives"] == "only if"


TRIPLE = ("accuracy", "precision", "recall")


def test_no_honest_table_is_called_wrong_without_n():
    """Nothing is left of an honest table but its numbers."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        rows = [(*r[:4], "", *r[5:]) for r in printed_tables.table(rng)]
        found = bedside.check(pd.DataFrame(rows, columns=COLUMNS))
        bad = found[found["verdict"].isin(["impossible", "only if"])]
        assert bad.empty, (rows, bad["arithmetic"].tolist())


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_averages_over_classes_and_folds_are_never_impossible(average):
    """Whatever they are called, with and without the number of classes."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        classes, folds = int(rng.integers(2, 6)), []
        for _ in range(int(rng.integers(1, 4))):
            truth, said = rng.choice(classes, (2, 40), p=rng.dirichlet(np.ones(classes)))
            said = np.where(rng.random(40) < rng.random(), truth, said)
            every = list(range(classes))
            made = metrics.precision_recall_fscore_support(
                truth, said, labels=every, average=average, zero_division=0
            )[:3]
            matrix = metrics.confusion_matrix(truth, said, labels=every) / 40
            chance = matrix.sum(axis=0) @ matrix.sum(axis=1)
            kappa = (np.trace(matrix) - chance) / (1 - chance) if chance < 1 else 0
            folds.append([*made, (truth == said).mean(), kappa])
        values = np.mean(folds, axis=0)
        named = f"{average} " if average != "micro" and rng.random() < 0.5 else ""
        kinds = [f"{named}precision", f"{named}recall", f"{named}f1", "accuracy", "kappa"]
        of = f"classes={classes}" if rng.random() < 0.5 and classes > 2 else ""
        rows = [("J", k, f"{v:.3f}", k, of) for k, v in zip(kinds, values)]
        assert "impossible" not in {*checked(rows)["verdict"]}, (rows, classes)


# ---- the arithmetic


def ends(value, step):
    """What prints as this value, as fractions."""
    value = round(Fraction(value) / step) * step
    return value - step / 2, value + step / 2


def test_every_matrix_lies_within_the_ranges_of_its_scores():
    rng = np.random.default_rng(6)
    for _ in range(200):
        n = int(rng.integers(2, 60))
        p = int(rng.integers(1, n))
        tp = int(rng.choice([0, p, rng.integers(0, p + 1)]))
        fp = int(rng.choice([0, n - p, rng.integers(0, n - p + 1)]))
        value = {m: Fraction(float(stats.score(m, n, p, tp, fp)[0])) for m in SCORES}
        chosen = rng.choice(SCORES, int(rng.integers(2, 6)), replace=False)
        step = Fraction(1, 10 ** int(rng.integers(1, 4)))
        found = stats.score_ranges({m: ends(value[m], step) for m in chosen})
        assert found is not None, (n, p, tp, fp, chosen)
        for m, (low, high) in found.items():
            if m in value:
                assert low - Fraction(1, 10**9) <= value[m] <= high + Fraction(1, 10**9), m


PLAIN = ["accuracy", "precision", "recall", "f1", "specificity"]


def test_scores_are_refused_if_and_only_if_no_matrix_has_them():
    """Of some thousand items nearly every pattern of shares has a matrix."""
    rng, seen = np.random.default_rng(7), []
    for _ in range(60):
        chosen = rng.choice(PLAIN, 3, replace=False)
        given = {m: ends(rng.uniform(0.15, 0.85), Fraction(1, 20)) for m in chosen}
        some = stats.score_ranges(given) is not None
        floats = {m: tuple(map(float, e)) for m, e in given.items()}
        found = stats.matrices(1500, floats)
        assert (found.count > 0) == some, (given, found.first() if found.count else "")
        seen.append(some)
    assert 10 < sum(seen) < 50


def test_kappa_lies_within_its_range_and_reaches_it():
    rng = np.random.default_rng(8)
    for _ in range(300):
        tp, fp, fn, tn = map(int, rng.multinomial(40, rng.dirichlet([0.5] * 4)))
        agree, one, two = Fraction(tp + tn, 40), Fraction(tp + fn, 40), Fraction(tp + fp, 40)
        chance = one * two + (1 - one) * (1 - two)
        if chance == 1:
            continue
        kappa = (agree - chance) / (1 - chance)
        assert stats.kappa_range((agree, agree), (one, one), (two, two)) == (kappa, kappa)
        wide = [(x - Fraction(1, 200), x + Fraction(1, 200)) for x in (agree, one, two)]
        for given in (wide, wide[:1], [stats.WHOLE, *wide[1:]]):
            low, high = stats.kappa_range(*given)
            assert low <= kappa <= high
    low, high = stats.kappa_range((Fraction(4, 5), Fraction(4, 5)))
    assert low == Fraction(-1, 9)  # 80 yes twice, 10 and 10 apart: 0.80 for 0.82 by chance
    assert float(high) == pytest.approx(stats.most_kappa(0.8))
