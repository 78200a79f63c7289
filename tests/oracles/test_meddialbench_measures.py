"""What MedDialBench's notebooks compute of consultations, against counting case by case."""

import itertools

import numpy as np
import pytest
from meddialbench_worlds import CASES, DOCTORS, NAN, PAIRS, by, counted, rows, same, world
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from bedside import stats
from bedside.papers.meddialbench import judging, scores, study
from cells import wanted

VALIDATION, SINGLE, COMBINED = (
    f"meddialbench/{name}"
    for name in ("01_design_and_validation", "03_single_dimension", "04_interactions")
)


@pytest.fixture
def run(run_of):
    run = run_of("meddialbench", "05_vulnerability")
    run.models = ["a", "b"]
    return run


def cells_of(done):
    return done.groupby(["model", "configuration"])


# ---- shares and means


def test_accuracy_is_the_share_right_of_what_is_scored_with_bounds_for_the_rest():
    done = world()
    columns = ["value", "n", "unscored", "worst", "best", "low", "high"]
    made = wanted(SINGLE, "accuracy", judged=done).set_index(["model", "configuration"])[columns]
    assert len(made) == cells_of(done).ngroups
    for key, part in cells_of(done):
        value, n, lost = counted(part["correct"], 100)
        r, right = made.loc[key].astype(float), value * n / 100
        bounds = [100 * right / len(part), 100 * (right + lost) / len(part)] if lost else [NAN] * 2
        known = [value, n, lost or NAN, *bounds]
        assert r[columns[:5]].tolist() == pytest.approx(known, nan_ok=True)
        assert r[["low", "high"]].notna().all() == (n >= stats.LEAST)
        assert n < stats.LEAST or 0 <= r["low"] <= r["value"] <= r["high"] <= 100


# ---- changes


def test_changes_are_paired_by_case_with_exact_tests_corrected_over_all():
    done = world()
    for column in ("correct", "turns"):
        values, p = by(done, column), {}
        made = scores.changes(done, column).set_index(["model", "configuration"])
        assert {*made.index} == {key for key in values if key[1] != "baseline"}
        for (m, c), r in made.astype(float).iterrows():
            base, other = values[m, "baseline"], values[m, c]
            gaps = [other[k] - base[k] for k in base.keys() & other.keys()]
            n, few = len(gaps), len(gaps) < stats.LEAST
            assert r[["value", "n"]].tolist() == pytest.approx([np.mean(gaps), n])
            assert r[["low", "high"]].isna().all() if few else r["low"] <= r["value"] <= r["high"]
            if column == "correct":
                lost, won = gaps.count(-1), gaps.count(1)
                p[m, c] = binomtest(lost, lost + won).pvalue if lost + won else 1.0
                known = [lost, won, p[m, c], stats.mde_paired(n, (lost + won) / n)]
                columns = ["lost", "won", "p", "detectable"]
                assert r[columns].tolist() == pytest.approx(known, nan_ok=True)
        if p:
            holm = multipletests([p[key] for key in made.index], method="holm")[1]
            assert made["p_holm"].tolist() == pytest.approx(holm.tolist())
        else:
            assert made[["lost", "won", "p", "p_holm"]].isna().all(axis=None)


# ---- combinations


def four(right, model, pair):
    """{case: (right under the pair, at baseline, under each level)}, as far as scored in all."""
    cells = [right.get((model, c), {}) for c in (pair, "baseline", *PAIRS[pair])]
    return {k: [cell[k] for cell in cells] for k in CASES if all(k in cell for cell in cells)}


def equation_1(cells):
    pair, base, one, other = np.mean(cells, axis=0)
    return pair / (one * other / base) if one * other * base > 0 else NAN


@pytest.mark.parametrize("seed", [1, 2])
def test_observed_over_expected_is_equation_1_over_the_cases_of_all_four_cells(run, seed):
    done = world(seed).copy()
    if seed == 2:  # nobody is right under one level: nothing is expected of its pairs
        done.loc[(done["model"] == "a") & (done["configuration"] == "dominant"), "correct"] = 0.0
    right, expected = by(done), {}
    for model, pair in itertools.product(DOCTORS, PAIRS):
        if (model, pair) in right:
            cells = [*four(right, model, pair).values()]
            expected[model, pair] = len(cells), equation_1(cells)
    for pair in PAIRS:
        if ("b", pair) in right:
            a, b = four(right, "a", pair), four(right, "b", pair)
            both = [[x[k] for k in sorted(a.keys() & b.keys())] for x in (a, b)]
            mean = np.mean([equation_1(cells) for cells in both])
            expected["mean", pair] = len(both[0]), mean
    three = {"three": ("vague", "dominant", "complete_denial")}
    made = scores.interactions(done, PAIRS | three, run)
    numbers = made.set_index(["model", "configuration"])[["n", "value"]]
    same({k: tuple(v) for k, v in numbers.iterrows()}, expected)
    known = made.dropna(subset=["low"])
    assert len(known) and (known["n"] >= stats.LEAST).all()
    assert known["value"].between(known["low"], known["high"]).all()
    run.models = ["a"]
    assert "mean" not in {*scores.interactions(done, PAIRS, run)["model"]}


def test_what_fails_only_in_combination_is_counted_and_pooled(run):
    done, able = world(), {}
    right = by(done)
    for m, pair in itertools.product(DOCTORS, PAIRS):
        alone = [right[m, c] for c in ("baseline", *PAIRS[pair])]
        if (m, pair) in right:
            able[m, pair] = [k for k in CASES if all(cell.get(k) == 1 for cell in alone)]
    keys = ["model", "configuration", "case"]
    found = [*map(tuple, scores.eligible(done, PAIRS)[keys].to_numpy())]
    assert sorted(found) == sorted((*key, k) for key, cases in able.items() for k in cases)
    lost = [*map(tuple, scores.lost(done)[keys].to_numpy())]
    assert sorted(lost) == sorted(
        (m, c, k)
        for (m, c), cases in right.items()
        for k, v in cases.items()
        if v == 0 and right[m, "baseline"].get(k) == 1
    )
    failed = {
        (pair, f"fail only in combination, %, {m}"): [1 - right[m, pair].get(k, NAN) for k in cases]
        for (m, pair), cases in able.items()
        if cases
    }
    made = rows(wanted(COMBINED, "alone", run=run, judged=done, pairs=PAIRS))
    same({key: made[key] for key in failed}, {k: counted(v, 100) for k, v in failed.items()})


# ---- patients, judges and samples


def test_two_judges_agree_as_a_library_counts():
    first, rng = world(), np.random.default_rng(1)
    other = first.assign(
        correct=first["correct"].where(rng.random(len(first)) < 0.7, 1.0),
        misled=first["misled"].where(rng.random(len(first)) < 0.7, 0.0),
    )
    pairs = judging.compared_on("a and b", first, other[::-1])
    same_, kappas = wanted(VALIDATION, "same", "kappas", pairs=pairs)
    at = {column: v for (_, column), v in rows(same_).items()}
    wrong = ((first["correct"] == 0) & (other["correct"] == 0)).to_numpy()
    for column, what, of in (
        ("correct", "diagnosis", slice(None)),
        ("misled", "misled or not", slice(None)),
        ("misled", judging.WRONG, wrong),
    ):
        one, two = (f[column].to_numpy()[of] for f in (first, other))
        both = ~np.isnan(one) & ~np.isnan(two)
        alike = 100 * (one == two)[both].mean(), both.sum(), (~both).sum()
        assert at[f"{what}: same, %"] == pytest.approx(alike)
        ours = kappas["a and b, this run", f"{what}: kappa"]
        kappa = cohen_kappa_score(one[both], two[both])
        assert (ours.value, ours.n) == pytest.approx((kappa, both.sum()))


def test_a_sample_in_strata_is_even_and_draws_the_same_again(run):
    held = world(0)[["item", "case", "configuration", "model"]]
    for size in (51, 60, 0, 5000):
        part = study.in_strata(run, held, size)
        counts = cells_of(part).size()
        assert len(part) == (min(size, len(held)) or len(held)) and counts.max() - counts.min() < 2
        assert len(counts) == 51 and not part.duplicated().any()
        assert part.equals(study.in_strata(run, held, size))


def test_only_cases_that_a_model_diagnoses_at_baseline_count_when_asked():
    done = world(2)
    part, told = study.kept(done, True)
    right = by(done)
    able = {k for m in ("a", "b") for k, v in right[m, "baseline"].items() if v == 1}
    assert {*part["case"]} == able and len(part) == done["case"].isin(able).sum()
    assert f"{len(able)} of {len(CASES)} cases" in told and study.kept(done, False)[0] is done
