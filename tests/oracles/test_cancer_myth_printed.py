"""What Cancer-Myth's printed numbers allow: the world that they were rounded from is among it."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_ind
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportions_ztest

from bedside import stats
from bedside.papers.cancer_myth import claims, data, printed, systems
from bedside.read import claims as read_claims
from bedside.read import expressions, published
from cells import wanted

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
        cells = rows[["table", "row", "column", "value"]].itertuples(index=False, name=None)
        far = np.array([put.get(cell[:3], cell[3]) - cell[3] for cell in cells])
        return rows.assign(**{end: rows[end] + far for end in ("value", "low", "high")})

    def one(paper, name, row, column):
        (found,) = changed(whole(paper, name)).query("row == @row and column == @column")["value"]
        return found

    monkeypatch.setattr(run, "published", lambda *names: changed(given(*names)))
    monkeypatch.setattr(published, "value", one)
    return lambda name, values: put.update({(name, *cell): v for cell, v in values.items()})


def grim_of(run):
    """The counts behind the printed rates, as the notebook has them."""
    return wanted("cancer_myth/03_evaluation", "grim", run=run).set_index(["row", "column"])


@pytest.mark.parametrize("seed", range(2))
def test_the_grades_behind_the_figures_are_found(run, prints, seed):
    """Grades of eight systems, printed as Figures 6a and 7 print them."""
    rng = np.random.default_rng(seed)
    kind = np.repeat(KINDS, printed.category_sizes(run).astype(int))
    truth = {m: rng.choice([1, 0, -1], N, p=rng.dirichlet([2, 4, 4])) for m in MODELS}
    for m, g in truth.items():
        scores = {(m, "PCR"): round(100 * np.mean(g == 1), 1), (m, "PCS"): round(g.mean(), 2)}
        prints("v1 Figure 6a", scores)
        prints("v1 Figure 7", {(k, m): g[kind == k].mean() for k in KINDS})
    found, sums, grim = printed.grades(run), printed.sums(run), grim_of(run)
    for m, g in truth.items():
        assert tuple((g == v).sum() for v in (1, 0, -1)) in found[m]
        read = {k: sums.loc[k, m] for k in KINDS}
        assert all(np.isnan(s) or s == g[kind == k].sum() for k, s in read.items())
        for grade, column in ((1, "count"), (0, "graded 0")):
            low, high = grim.loc[(m, f"{column}, the paper"), ["low", "high"]]
            assert low <= (g == grade).sum() <= high
    a, b = MODELS[:2]
    x, y = truth[a], truth[b]
    both, one = (int(((g == 1) & (other != 1)).sum()) for g, other in ((x, y), (y, x)))
    p = {
        "PCR, paired": binomtest(both, both + one).pvalue,
        "PCR, unpaired": proportions_ztest([(x == 1).sum(), (y == 1).sum()], [N, N])[1],
        "PCS, paired": stats.paired_permutation(x.astype(float), y.astype(float), rng),
        "PCS, unpaired": ttest_ind(x, y).pvalue,
    }
    for way, (low, high) in printed.possible_ways(run, a, b).items():
        slack = 0.02 if way == "PCS, paired" else 1e-9  # permutations are drawn
        assert low - slack <= p[way] <= high + slack, way


def test_numbers_that_no_grades_give_are_noticed(run, prints):
    """27.3% are no whole number of 585; a PCS of 0.5 needs more than 42.1% right."""
    test = read_claims.load("cancer_myth")["cm-v2-pairs"].test

    def pairs():
        return expressions.outcome(test, {**expressions.FUNCTIONS, **claims.of_figures(run)})

    assert grim_of(run)["value"].notna().any() and pairs()[3]
    prints("v1 Figure 6a", {("GPT-4o", "PCR"): 27.3, ("GPT-3.5", "PCS"): 0.9})
    prints("v2 Main results", {("GPT-5", "PCS"): 0.5})
    none = all(round(100 * k / N, 1) != 27.3 for k in range(N + 1))
    assert np.isnan(grim_of(run)["value"]["GPT-4o", "count, the paper"]) == none
    assert printed.grades(run)["GPT-3.5"] == []
    assert pairs()[0].startswith("5 of 6, not GPT-5") and pairs()[3] is False


@pytest.mark.parametrize("seed", range(2))
def test_the_judges_confusion_matrix_is_found(run, prints, seed):
    """All errors are on people's 0s: some of them lowered to -1, some raised to 1."""
    rng = np.random.default_rng(seed)
    n, zeros = printed.ANNOTATED, int(rng.integers(15, 40))
    right = int(rng.integers(3, zeros - 6))
    raised = int(rng.integers(0, 4)) if seed else zeros - right  # all of them, or few
    ones, lowered = int(rng.integers(2, n - zeros)), zeros - right - raised
    table = np.array([[n - zeros - ones, 0, 0], [lowered, right, raised], [0, 0, ones]])
    shares = {"exact match": n - lowered - raised, "binary match": n - raised}
    shares = {c: round(100 * alike / n, 2) for c, alike in shares.items()}
    prints("v1 Table 1", {("Presupposition correction", c): v for c, v in shares.items()})
    of_zeros = {("Answers that humans graded 0", "exact match"): round(100 * right / zeros, 2)}
    prints("v1 text C.1", of_zeros)
    counts = printed.judge_counts(run)
    assert (n - lowered - raised, zeros, right) in counts
    assert all(n - alike == zeros - right for alike, zeros, right in counts)
    found = printed.possible_confusions(run)
    assert table.tolist() in [t.tolist() for t in found] and {int(t.sum()) for t in found} == {n}
    made, own, cells = printed.kappas(found), printed.kappas([table]), [*np.ndindex(3, 3)]
    x, y = np.repeat(cells, table.ravel(), axis=0).T
    for name, weights in printed.WEIGHTS.items():
        kappa = cohen_kappa_score(x, y, weights=weights)
        assert own[name].value == pytest.approx(kappa)
        assert made[name].low - 1e-9 <= kappa <= made[name].high + 1e-9
    assert own["three_ac1"].value == pytest.approx(stats.gwet([x, y], range(3)))
    top = [(a == 2, b == 2) for a, b in cells]  # of 1 against the rest
    kappas = [cohen_kappa_score(*zip(*top), sample_weight=t.ravel()) for t in found if t[2, 2]]
    assert (made["two"].low, made["two"].high) == pytest.approx((min(kappas), max(kappas)))


@pytest.mark.parametrize(
    "model, size, own, rate",
    [
        ("GPT-4o", 258, -0.52, 5.8),
        ("Claude-3.5-Sonnet", 179, -0.43, 19.8),
        ("Gemini-1.5-Pro", 146, -0.36, 27.2),
    ],
)
def test_own_questions_no_longer_ignored_are_those_of_all_grades_that_print_so(
    run, model, size, own, rate
):
    most = next(k for k in range(N + 1) if round(100 * k / N, 1) == rate)
    heeded = [
        100 * (size - minus) / size
        for minus in range(size + 1)
        for ones in range(min(most, size - minus) + 1)
        if abs((ones - minus) / size - own) <= 0.005
    ]
    i = printed.asked_again(run)[model, printed.AGAIN]
    assert (i.low, i.high) == pytest.approx((min(heeded), max(heeded))) and i.value == i.low
