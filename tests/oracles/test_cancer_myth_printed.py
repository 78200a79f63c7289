"""What Cancer-Myth's printed numbers allow: the world that they were rounded from is among it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_ind
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportions_ztest

from bedside import stats
from bedside.papers.cancer_myth import claims, data, printed, systems, versions
from bedside.papers.cancer_myth.v2 import items
from bedside.papers.cancer_myth.v2 import printed as cures
from bedside.read import claims as read_claims
from bedside.read import expressions, published
from cells import wanted

SEEDS = range(2)
N = printed.QUESTIONS
KINDS = list(data.CATEGORIES.values())
MODELS = list(systems.SYSTEMS.values())


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "03_evaluation")


@pytest.fixture
def prints(run, monkeypatch):
    """A function that prints other numbers in a table: {(row, column): number}."""
    given, whole, put = run.published, published.table, {}

    def changed(rows):
        for name, values in put.items():
            mine = rows["table"] == name
            at = zip(rows["row"], rows["column"], rows["value"])
            new = [values.get((r, c), v) for r, c, v in at]
            far = np.array(new) - rows["value"]
            for column in ("value", "low", "high"):
                rows = rows.assign(**{column: rows[column].where(~mine, rows[column] + far)})
        return rows

    def one(paper, name, row, column):
        (found,) = changed(whole(paper, name)).query("row == @row and column == @column")["value"]
        return found

    monkeypatch.setattr(run, "published", lambda *names: changed(given(*names)))
    monkeypatch.setattr(published, "value", one)
    return lambda name, values: put.update({name: values})


@pytest.mark.parametrize("seed", SEEDS)
def test_the_grades_behind_the_figures_are_found(run, prints, seed):
    """Grades of eight systems, printed as Figures 6a and 7 print them."""
    rng = np.random.default_rng(seed)
    kind = np.repeat(KINDS, printed.category_sizes(run).astype(int))
    truth = {m: rng.choice([1, 0, -1], N, p=rng.dirichlet([2, 4, 4])) for m in MODELS}
    prints(
        "v1 Figure 6a",
        {(m, "PCR"): round(100 * np.mean(g == 1), 1) for m, g in truth.items()}
        | {(m, "PCS"): round(g.mean(), 2) for m, g in truth.items()},
    )
    prints("v1 Figure 7", {(k, m): g[kind == k].mean() for k in KINDS for m, g in truth.items()})
    found, sums = printed.grades(run), printed.sums(run)
    for m, g in truth.items():
        assert tuple((g == v).sum() for v in (1, 0, -1)) in found[m]
        read = {k: sums.loc[k, m] for k in KINDS}
        assert all(np.isnan(s) or s == g[kind == k].sum() for k, s in read.items())
    a, b = MODELS[:2]
    x, y = truth[a], truth[b]
    ways = printed.possible_ways(run, a, b)
    both, one = ((x == 1) & (y != 1)).sum(), ((x != 1) & (y == 1)).sum()
    exact = binomtest(int(both), int(both + one)).pvalue
    unpaired = proportions_ztest([(x == 1).sum(), (y == 1).sum()], [N, N])[1]
    graded = stats.paired_permutation(x.astype(float), y.astype(float), rng)
    for way, p, slack in (
        ("PCR, paired", exact, 1e-9),
        ("PCR, unpaired", unpaired, 1e-9),
        ("PCS, paired", graded, 0.02),
        ("PCS, unpaired", ttest_ind(x, y).pvalue, 1e-9),
    ):
        low, high = ways[way]
        assert low - slack <= p <= high + slack, way
    grim = grim_of(run).set_index(["row", "column"])
    for m, g in truth.items():
        r = grim.loc[(m, "count, the paper")]
        assert r["low"] <= (g == 1).sum() <= r["high"]
        r = grim.loc[(m, "graded 0, the paper")]
        assert r["low"] <= (g == 0).sum() <= r["high"]


def grim_of(run):
    """The counts behind the printed rates, as the notebook has them."""
    return wanted("cancer_myth/03_evaluation", "grim", run=run)


def pairs(run):
    """What the test of the summary's pairs of PCR and PCS comes to."""
    test = read_claims.load("cancer_myth")["cm-v2-pairs"].test
    return expressions.outcome(test, {**expressions.FUNCTIONS, **claims.names(run)})


def test_numbers_that_no_grades_give_are_noticed(run, prints):
    """27.3% are no whole number of 585; a PCS of 0.5 needs more than 42.1% right."""
    assert grim_of(run)["value"].notna().any() and pairs(run)[3]
    prints("v1 Figure 6a", {("GPT-4o", "PCR"): 27.3, ("GPT-3.5", "PCS"): 0.9})
    prints("v2 Main results", {("GPT-5", "PCS"): 0.5})
    counts = grim_of(run).set_index(["row", "column"])["value"]
    none = [k for k in range(N + 1) if round(100 * k / N, 1) == 27.3]
    assert np.isnan(counts["GPT-4o", "count, the paper"]) == (not none)
    assert printed.grades(run)["GPT-3.5"] == []
    assert pairs(run)[0].startswith("5 of 6, not GPT-5") and pairs(run)[3] is False


@pytest.mark.parametrize("seed", SEEDS)
def test_the_judges_confusion_matrix_is_found(run, prints, seed):
    """All errors are on people's 0s: some of them lowered to -1, some raised to 1."""
    rng = np.random.default_rng(seed)
    n, zeros = printed.ANNOTATED, int(rng.integers(15, 40))
    right = int(rng.integers(3, zeros - 6))
    raised = int(rng.integers(0, 4)) if seed else zeros - right  # all of them, or few
    ones = int(rng.integers(2, n - zeros))
    lowered = zeros - right - raised
    table = [[n - zeros - ones, 0, 0], [lowered, right, raised], [0, 0, ones]]
    shares = {
        "exact match": 100 * (n - lowered - raised) / n,
        "binary match": 100 * (n - raised) / n,
    }
    judge = "Presupposition correction"
    prints("v1 Table 1", {(judge, c): round(v, 2) for c, v in shares.items()})
    prints(
        "v1 text C.1",
        {("Answers that humans graded 0", "exact match"): round(100 * right / zeros, 2)},
    )
    counts = printed.judge_counts(run)
    assert (n - lowered - raised, zeros, right) in counts
    assert all(n - alike == zeros - right for alike, zeros, right in counts)
    found = printed.possible_confusions(run)
    assert table in [t.tolist() for t in found] and {int(t.sum()) for t in found} == {n}
    x, y = np.repeat([(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)], np.ravel(table), axis=0).T
    made = printed.kappas(found)
    for name, weights in printed.WEIGHTS.items():
        kappa = cohen_kappa_score(x, y, weights=weights)
        assert printed.kappas([np.array(table)])[name].value == pytest.approx(kappa)
        assert made[name].low - 1e-9 <= kappa <= made[name].high + 1e-9
    counts = [(t[:2, :2].sum(), t[:2, 2].sum(), t[2, :2].sum(), t[2, 2]) for t in found]
    kappas = [  # of 1 against the rest
        cohen_kappa_score([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=c) for c in counts if c[3]
    ]
    assert (made["two"].low, made["two"].high) == pytest.approx((min(kappas), max(kappas)))
    ac1 = printed.kappas([np.array(table)])["three_ac1"].value
    assert ac1 == pytest.approx(stats.gwet([x, y], [-1, 0, 1]))
