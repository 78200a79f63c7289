"""What MedDialBench's notebooks compute of consultations, against counting case by case."""

import itertools

import numpy as np
import pandas as pd
import pytest
from meddialbench_worlds import (
    CASES,
    DOCTORS,
    NAN,
    PAIRS,
    PLAN,
    by,
    counted,
    ends,
    has,
    rows,
    same,
    seeds,
    world,
)
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from bedside import stats
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import judging, scores, study
from cells import wanted

VALIDATION, BASELINE, SINGLE, COMBINED, VULNERABLE = (
    f"meddialbench/{name}"
    for name in (
        "01_design_and_validation",
        "02_baseline",
        "03_single_dimension",
        "04_interactions",
        "05_vulnerability",
    )
)


@pytest.fixture
def run(run_of):
    run = run_of("meddialbench", "05_vulnerability")
    run.models = ["a", "b"]
    return run


def cells_of(done):
    return done.groupby(["model", "configuration"])


# ---- shares and means


@seeds
def test_accuracy_is_the_share_right_of_what_is_scored_with_bounds_for_the_rest(run, seed):
    done = world(seed)
    made = wanted(SINGLE, "accuracy", judged=done).set_index(["model", "configuration"])
    nine = rows(wanted(VULNERABLE, "accuracy", judged=done))
    for key, part in cells_of(done):
        value, n, lost = counted(part["correct"], 100)
        r, right = made.loc[key], value * n / 100
        assert (r["value"], r["n"]) == nine[key][:2] == pytest.approx((value, n))
        told = (
            (lost, 100 * right / len(part), 100 * (right + lost) / len(part)) if lost else [NAN] * 3
        )
        assert (r["unscored"], r["worst"], r["best"]) == pytest.approx(told, nan_ok=True)
        limits = r[["low", "high"]].astype(float)
        assert limits.notna().all() == (n >= stats.LEAST)
        assert limits.isna().all() or 0 <= r["low"] <= r["value"] <= r["high"] <= 100
    assert len(made) == len(nine) == cells_of(done).ngroups


@seeds
def test_ends_are_counted_by_speaker_with_their_reasons(seed):
    done, expected = world(seed), {}
    for m, part in done.groupby("model"):

        def share(name, hits, part=part, m=m):
            expected[name, m] = 100 * np.mean(hits), len(part), 0

        for (end, who), _ in part.groupby(["end", "by"]):
            name = f"{who}: {talks.ENDS[end]}" if who else talks.ENDS[end]
            share(name, (part["end"] == end) & (part["by"] == who))
        whole = part["end"].isin(["ended", "limit"])
        for what, why in (
            ("no answer", part["why"]),
            ("no diagnosis", part["reply_status"].where(whole, "")),
        ):
            reasons = why.str.split(":").str[0]
            for reason in {*reasons} - {""}:
                share(f"{what}: {reason}", reasons == reason)
        share(talks.CUT, part["truncated"] > 0)
        uncut = part[part["truncated"] == 0]["correct"].dropna()
        expected[talks.UNCUT, m] = 100 * uncut.mean(), len(uncut), 0
    same(rows(talks.ends(done)), expected)


# ---- changes


@seeds
def test_changes_are_paired_by_case_with_exact_tests_corrected_over_all(run, seed):
    done, p = world(seed), {}
    names = "changed", "covered", "turned", "moved", "parts"
    *changes, moved, parts = wanted(SINGLE, *names, judged=done, run=run)
    moved, parts = pd.concat(moved), pd.concat(parts)
    table, figure = rows(moved.assign(unscored=0)), rows(parts)
    marked = wanted(VULNERABLE, "marked", judged=done, changed=changes[0])
    for column, made in zip(("correct", "coverage", "turns"), changes):
        values, made = by(done, column), made.set_index(["model", "configuration"])
        assert {*made.index} == {key for key in values if key[1] != "baseline"}
        for (m, c), r in made.iterrows():
            base, other = values[m, "baseline"], values[m, c]
            gaps = [other[k] - base[k] for k in base.keys() & other.keys()]
            n, mean, ends_ = len(gaps), np.mean(gaps), r[["low", "high"]].astype(float)
            assert (r["n"], r["value"]) == (n, pytest.approx(mean))
            assert ends_.notna().all() == (n >= stats.LEAST)
            assert ends_.isna().all() or r["low"] <= r["value"] <= r["high"]
            if column != "correct":
                has(table, {(c, f"{m}: change of {column}"): mean})
                continue
            lost_, won = gaps.count(-1), gaps.count(1)
            p[m, c] = binomtest(lost_, lost_ + won).pvalue if lost_ + won else 1.0
            least = stats.mde_paired(n, (lost_ + won) / n)
            told = r[["lost", "won", "p", "detectable"]].tolist()
            assert told == pytest.approx([lost_, won, p[m, c], least], nan_ok=True)
            has(table, {(c, f"{m}: p"): p[m, c], (c, f"{m}: p, Holm"): r["p_holm"]})
            has(table, {(c, f"{m}: change, points"): 100 * mean})
            if least == least:
                has(table, {(c, f"{m}: detectable change, points"): 100 * least})
            has(figure, {(f"{c}, {m}", "change of accuracy, points"): 100 * mean})
            assert [100 * r["low"], 100 * r["high"]] == ends(moved, (c, f"{m}: change, points"))
            assert marked[m, f"{c}, marked"] == float(p[m, c] < 0.05)
    holm = multipletests([p[tuple(k)] for k in changes[0][scores.KEYS].to_numpy()], method="holm")
    assert changes[0]["p_holm"].tolist() == pytest.approx(holm[1].tolist())
    assert changes[2][["lost", "won", "p", "p_holm"]].isna().all(axis=None)


@seeds
def test_worst_cases_are_the_largest_losses_and_ties_are_all_named(seed):
    changed = scores.changes(world(seed).query("model == 'a'"))
    table = scores.worst(changed)
    for m, part in changed.groupby("model"):
        tied = part[part["value"] == part["value"].min()]
        name, r = f"worst: {', '.join(sorted(tied['configuration']))}", tied.iloc[0]
        assert rows(table)[m, name][:2] == pytest.approx((-100 * r["value"], tied["n"].min()))
        limits = [-100 * r["high"], -100 * r["low"]] if len(tied) == 1 else [NAN, NAN]
        assert limits == ends(table, (m, name))


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
    done = world(seed)
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


@seeds
def test_what_fails_only_in_combination_is_counted_and_pooled(run, seed):
    done, able = world(seed), {}
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
    lies = [pair for pair in PAIRS if "fabricating" in PAIRS[pair]]
    groups = {"pairs with fabricating": lies, "other pairs": [p for p in PAIRS if p not in lies]}
    groups |= {p: [p] for p in PAIRS}
    whose = {m: [m] for m in DOCTORS} | {"all models": ["a", "b"]}
    cells = {
        (group, f"fail only in combination, %, {who}"): [
            1 - right[m, pair].get(k, NAN)
            for m, pair in itertools.product(models, pairs)
            for k in able.get((m, pair), ())
        ]
        for (group, pairs), (who, models) in itertools.product(groups.items(), whose.items())
    }
    made = wanted(COMBINED, "alone", run=run, judged=done, pairs=PAIRS)
    same(rows(made), {name: counted(values, 100) for name, values in cells.items() if values})


# ---- patients, judges and samples


@seeds
def test_two_judges_agree_as_a_library_counts(seed):
    first, rng = world(seed), np.random.default_rng(seed)
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
