"""What Cancer-Myth's notebook 08 computes, against brute force and simulation."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from bedside import stats
from bedside.papers.cancer_myth import robustness, survey
from cells import wanted

ROBUST = "cancer_myth/08_robustness"
SOURCES = [*robustness.MODELS, survey.HUMAN]


def rated(rng, leads, *, n=25, view=0.0, answer=0.5, noise=0.7):
    """Points (questions, writers, physicians) with crossed effects; leads: of each writer."""
    k, r = len(leads), 3
    made = np.array(leads)[None, :, None] + rng.normal(0, 0.5, (n, 1, 1))
    made = made + rng.normal(0, 0.4, (1, 1, r)) + rng.normal(0, answer, (n, k, 1))
    return made + rng.normal(0, view, (1, k, r)) + rng.normal(0, noise, (n, k, r))


def as_frame(points):
    """Points as `survey.whole_answers`: (question, source) x physician."""
    n, k, r = points.shape
    rows = pd.MultiIndex.from_product([range(n), SOURCES[:k]], names=["question", "source"])
    columns = pd.Index([f"Doctor {i + 1}" for i in range(r)], name="rater")
    return pd.DataFrame(points.reshape(n * k, r), rows, columns).sort_index()


# ---- the survey


@pytest.mark.parametrize("equal, median", [*itertools.product([False, True], repeat=2)])
def test_a_swap_turns_both_writers_of_a_question(equal, median):
    """The vectorized lead is that of ratings whose writers were swapped by hand."""
    rng = np.random.default_rng(3)
    model, human = rng.normal(4, 1, 12), rng.normal(3, 1, 12)
    long, short = rng.integers(100, 500, (2, 12))
    signs = rng.choice([-1, 1], (20, 12))
    made = robustness.swapped(model - human, np.log(long / short), signs, equal, median)
    for value, sign in zip(made, signs):
        a, b = np.where(sign > 0, model, human), np.where(sign > 0, human, model)
        x = np.log(np.where(sign > 0, long, short) / np.where(sign > 0, short, long))
        lead = a - b
        if equal:
            slope, _ = np.polyfit(x, lead, 1)
            lead = lead - slope * x
        assert value == pytest.approx((np.median if median else np.mean)(lead))


# ---- crossed effects


def test_mean_squares_are_those_of_an_analysis_of_variance():
    points = rated(np.random.default_rng(1), [1, 0.5, 0.2, 0], n=6, view=0.3)
    found = robustness.mean_squares(points)
    long = as_frame(points).stack().rename("y").reset_index()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without a residual, its F can't be
        table = anova_lm(ols("y ~ C(question) * C(source) * C(rater)", long).fit())
    for name, term in (
        ("answer", "C(question):C(source)"),
        ("view", "C(source):C(rater)"),
        ("residual", "C(question):C(source):C(rater)"),
    ):
        assert found[name][0] == pytest.approx(table.loc[term, "mean_sq"])
        assert found[name][1] == table.loc[term, "df"]
    within = long.groupby("source")["y"].var().mean()
    assert found["within"] == (pytest.approx(within), 4 * (6 * 3 - 1))


def test_an_interval_is_the_lead_and_its_error():
    """Of a lead of two writers over n questions and r physicians: 2 / nr of its mean square."""
    points = rated(np.random.default_rng(8), [1, 0.5, 0.2, 0])
    frame = as_frame(points)
    means = frame.mean(axis=1).unstack()
    lead = means[robustness.MODELS].sub(means[survey.HUMAN], axis=0)
    made = wanted(ROBUST, "effects", raw=True, given=frame, lead=lead)
    made = made.set_index(["row", "column"])
    (answer, f), (view, g), (left, h), within = robustness.mean_squares(points).values()
    both = answer + view - left
    freedom = both**2 / (answer**2 / f + view**2 / g + left**2 / h)  # Satterthwaite
    own = (points[:, 0] - points[:, 3]).mean(axis=0)
    for way, square, free in (
        ("crossed, these physicians", answer, f),
        ("crossed, any physicians", both, freedom),
        ("all ratings independent", *within),
        ("three physicians as draws", own.var(ddof=1) * 25 / 2, 2),
    ):
        r, reach = made.loc[(robustness.MODELS[0], way)], np.sqrt(2 / 75 * square)
        reach *= stdtrit(free, 0.975)
        expected = own.mean() + np.array([0, -reach, reach])
        assert r[["value", "low", "high"]].tolist() == pytest.approx(expected), way
    rest = np.delete(points, 1, axis=2)
    left = made.loc[(robustness.MODELS[1], "without Doctor 2"), "value"]
    assert left == pytest.approx((rest[:, 1] - rest[:, 3]).mean())
    gaps = points[:, 2] - points[:, 3]
    each = [np.delete(gaps, q, axis=0).mean() for q in range(len(gaps))]
    one = made.loc[(robustness.MODELS[2], "without one question")]
    assert (one["low"], one["high"]) == (pytest.approx(min(each)), pytest.approx(max(each)))


def ratings_of(points, paragraphs=2):
    """Ratings as `survey.survey`, whose paragraphs have the whole answer's points."""
    n, k, r = points.shape
    rows = [
        (q, SOURCES[s], part, f"Doctor {d + 1}", points[q, s, d])
        for q, s, d, part in itertools.product(*map(range, (n, k, r, paragraphs + 1)))
    ]
    return pd.DataFrame(rows, columns=["question", "source", "part", "rater", "rating"])


def words_of(rng, n):
    return pd.DataFrame({s: rng.integers(200, 420, n) for s in SOURCES})


def test_the_usual_choice_is_the_papers_mean():
    rng = np.random.default_rng(0)
    points = rated(rng, [1, 0.5, 0.2, 0]).round().clip(-2, 3) + 3
    made = robustness.curve(ratings_of(points), words_of(rng, 25), rng)
    usual = made[made["usual"]].set_index("model")["value"]
    for k, model in enumerate(robustness.MODELS):
        assert usual[model] == pytest.approx((points[:, k] - points[:, 3]).mean())
        flips = stats.paired_permutation(points[:, k].mean(1), points[:, 3].mean(1), rng)
        mine = made[made["usual"] & (made["model"] == model)]["p"].iloc[0]
        assert mine == pytest.approx(flips, abs=0.03)
    assert made.groupby("model")["z"].apply(lambda z: z.is_monotonic_increasing).all()
