"""MedDialBench's accuracy, changes and interactions, against counting case by case."""

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
from statsmodels.stats.multitest import multipletests

from bedside import stats
from bedside.papers.meddialbench import scores
from bedside.papers.meddialbench.printed import share
from cells import wanted
from meddialbench_cells import (
    accuracy,
    baseline_rows,
    dose,
    moved,
    of_interactions,
    selected,
    vulnerable,
)


@pytest.fixture
def run(run_of):
    run = run_of("meddialbench", "05_vulnerability")
    run.models = ["a", "b"]
    return run


# ---- accuracy, turns, coverage, severity


@seeds
def test_accuracy_is_the_share_right_of_what_is_scored_with_bounds_for_the_rest(seed):
    done = world(seed)
    made = accuracy(done).set_index(["model", "configuration"])
    for key, mine in done.groupby(["model", "configuration"]):
        right, lost = (mine["correct"] == 1).sum(), mine["correct"].isna().sum()
        r, n = made.loc[key], len(mine) - lost
        assert (r["value"], r["n"]) == pytest.approx((100 * right / n, n))
        told = lost, 100 * right / len(mine), 100 * (right + lost) / len(mine)
        told = told if lost else [NAN] * 3
        assert (r["unscored"], r["worst"], r["best"]) == pytest.approx(told, nan_ok=True)
        limits = r[["low", "high"]].astype(float)
        assert limits.notna().all() == (n >= stats.LEAST)
        assert limits.isna().all() or 0 <= r["low"] <= r["value"] <= r["high"] <= 100
    assert len(made) == done.groupby(["model", "configuration"]).ngroups


@seeds
def test_the_baseline_and_doses_are_means_over_cases(run, seed):
    done = world(seed)
    first = done[done["configuration"] == "baseline"]
    columns = {"Turns": "turns", "Coverage": "coverage", "Cov/Turn": "per_turn"}
    expected = {(m, "Acc"): counted(f["correct"], 100) for m, f in first.groupby("model")}
    for m, f in first.groupby("model"):
        expected |= {(m, column): counted(f[of]) for column, of in columns.items()}
    found = rows(baseline_rows(run, first))
    same({k: found[k] for k in expected}, expected)
    made = dose(run, PLAN, done)
    right, found = by(done), rows(made.assign(unscored=0)[made["source"] == "run"])
    steps = [(d, k, n) for d in PLAN.dimensions for k, n in enumerate(PLAN.of(d))]
    assert {name: v[:2] for name, v in found.items()} == {
        (f"{d} {k}", m): pytest.approx(counted(right[m, n if k else "baseline"].values())[:2])
        for (d, k, n), m in itertools.product(steps, DOCTORS)
    }
    most = first.groupby("case")["correct"].max()
    (kept,) = rows(selected(run, first)).values()
    assert kept == pytest.approx(counted(most, 100))


@seeds
def test_changes_are_paired_by_case_with_exact_tests_corrected_over_all(run, seed):
    done, p = world(seed), {}
    *changes, table, figure = moved(run, done)
    changes = [f.set_index(["model", "configuration"]) for f in changes]
    found = dict(zip(("correct", "coverage", "turns"), changes))
    for column, made in found.items():
        values = by(done, column)
        assert {*made.index} == {key for key in values if key[1] != "baseline"}
        for (m, c), r in made.iterrows():
            base, other = values[m, "baseline"], values[m, c]
            both = sorted(base.keys() & other.keys())
            gaps = [other[k] - base[k] for k in both]
            assert (r["n"], r["value"]) == (len(both), pytest.approx(np.mean(gaps)))
            limits = r[["low", "high"]].astype(float)
            assert limits.notna().all() == (len(both) >= stats.LEAST)
            assert limits.isna().all() or r["low"] <= r["value"] <= r["high"]
            if column == "correct":
                lost, won = gaps.count(-1), gaps.count(1)
                p[m, c] = binomtest(lost, lost + won).pvalue if lost + won else 1.0
                least = stats.mde_paired(len(both), (lost + won) / len(both))
                told = r[["lost", "won", "p", "detectable"]].tolist()
                assert told == pytest.approx([lost, won, p[m, c], least], nan_ok=True)
    holm = multipletests([p[key] for key in found["correct"].index], method="holm")[1]
    assert found["correct"]["p_holm"].tolist() == pytest.approx(holm.tolist())
    assert found["turns"][["lost", "won", "p", "p_holm"]].isna().all(axis=None)
    tables_of_changes(run, done, table, figure, *(f.reset_index() for f in changes))


def tables_of_changes(run, done, table, figure, changed, covered, turned):
    """What tables show of changes: points of accuracy, shares of coverage, marks below 0.05."""
    moved, shown = rows(table.assign(unscored=0)), rows(figure)
    profile, right, marked = vulnerable(run, PLAN, done, "profiles", "accuracy", "marked")
    lost, nine = rows(profile.assign(unscored=0)), rows(right)
    for r in changed.itertuples():
        c, m, points = r.configuration, r.model, 100 * r.value
        p = {(c, f"{m}: p"): r.p, (c, f"{m}: p, Holm"): r.p_holm}
        has(moved, p | {(c, f"{m}: change, points"): points})
        if r.detectable == r.detectable:
            has(moved, {(c, f"{m}: detectable change, points"): 100 * r.detectable})
        has(shown, {(f"{c}, {m}", "change of accuracy, points"): points})
        has(lost, {(c, m): -r.value})
        assert [-r.high, -r.low] == ends(profile, (c, m))
        limits = [100 * r.low, 100 * r.high]
        assert limits == ends(table, (c, f"{m}: change, points"))
        assert limits == ends(figure, (f"{c}, {m}", "change of accuracy, points"))
        assert marked[m, f"{c}, marked"] == float(r.p < 0.05)
    for r in covered.itertuples():
        c, m = r.configuration, r.model
        has(moved, {(c, f"{m}: change of coverage"): r.value})
        has(shown, {(f"{c}, {m}", "change of coverage"): r.value})
    for r in turned.itertuples():
        has(moved, {(r.configuration, f"{r.model}: change of turns"): r.value})
    for (m, c), mine in done.groupby(["model", "configuration"]):
        assert shown[c, m] == pytest.approx(counted(mine["coverage"]))
        assert nine[m, c] == pytest.approx(counted(mine["correct"], 100))


# ---- combinations


def four(right, model, pair):
    """{case: (right under the pair, at baseline, under each level)}, as far as scored in all."""
    cells = [right.get((model, c), {}) for c in (pair, "baseline", *PAIRS[pair])]
    return {k: [cell[k] for cell in cells] for k in CASES if all(k in cell for cell in cells)}


def equation_1(cells):
    pair, base, one, other = np.mean(cells, axis=0)
    return pair / (one * other / base) if one * other * base > 0 else NAN


@seeds
def test_observed_over_expected_is_equation_1_over_the_cases_of_all_four_cells(run, seed):
    done = world(seed)
    if seed == 2:  # nobody is right under one level: nothing is expected of its pairs
        done.loc[(done["model"] == "a") & (done["configuration"] == "dominant"), "correct"] = 0.0
    right, expected, told = by(done), {}, {}
    for model, pair in itertools.product(DOCTORS, PAIRS):
        if (model, pair) in right:
            cells = [*four(right, model, pair).values()]
            able = [cell for cell in cells if cell[1:] == [1, 1, 1]]
            told[model, pair] = (
                len(cells),
                equation_1(cells),
                len(able),
                sum(1 - c[0] for c in able),
            )
    for pair in PAIRS:
        if ("b", pair) in right:
            a, b = four(right, "a", pair), four(right, "b", pair)
            both = [[x[k] for k in sorted(a.keys() & b.keys())] for x in (a, b)]
            mean = np.mean([equation_1(cells) for cells in both])
            expected["mean", pair] = len(both[0]), mean
    made = scores.interactions(done, PAIRS | {"three": ("vague", "dominant", "denial")}, run)
    numbers = made.set_index(["model", "configuration"])[["n", "value"]]
    same(
        {k: tuple(v) for k, v in numbers.iterrows()}, {k: v[:2] for k, v in told.items()} | expected
    )
    known = made.dropna(subset=["low"])
    assert (
        len(known)
        and (known["n"] >= stats.LEAST).all()
        and known["value"].between(known["low"], known["high"]).all()
    )
    _, cells = of_interactions(run, PLAN, done)  # the notebook's own way
    same({tuple(c[:2]): (c[2], c[3], *c[4:]) for c in cells}, told)
    run.models = ["a"]
    assert "mean" not in {*scores.interactions(done, PAIRS, run)["model"]}


@seeds
def test_what_fails_only_in_combination_is_counted_and_pooled(run, seed):
    done = world(seed)
    right = by(done)
    able = {
        (m, pair): [
            k for k in CASES if all(right[m, c].get(k) == 1 for c in ("baseline", *PAIRS[pair]))
        ]
        for m, pair in itertools.product(DOCTORS, PAIRS)
        if (m, pair) in right
    }
    failed = {
        (m, pair, k)
        for (m, pair), cases in able.items()
        for k in cases
        if right[m, pair].get(k) == 0
    }
    keys = ["model", "configuration", "case"]
    only = scores.only_combined(done, PAIRS)
    assert {tuple(x) for x in only[keys].to_numpy()} == failed and len(only) == len(failed)
    lost = scores.lost(done)
    assert {tuple(x) for x in lost[keys].to_numpy()} == {
        (m, c, k)
        for (m, c), cases in right.items()
        for k, v in cases.items()
        if v == 0 and right[m, "baseline"].get(k) == 1
    }

    lies = [pair for pair in PAIRS if "fabricating" in PAIRS[pair]]
    groups = {"pairs with fabricating": lies, "other pairs": [p for p in PAIRS if p not in lies]}
    groups |= {p: [p] for p in PAIRS}
    whose = {m: [m] for m in DOCTORS} | {"all models": ["a", "b"]}
    cells = {
        (group, f"fail only in combination, %, {who}"): [
            float((m, pair, k) in failed) if k in right[m, pair] else NAN
            for m, pair in itertools.product(models, pairs)
            for k in able.get((m, pair), ())
        ]
        for (group, pairs), (who, models) in itertools.product(groups.items(), whose.items())
    }
    made = wanted("meddialbench/04_interactions", "alone", run=run, judged=done, pairs=PAIRS)
    same(rows(made), {name: counted(values, 100) for name, values in cells.items() if values})
    worst = scores.most_misled(done).iloc[0]
    assert (worst["correct"], worst["misled"], worst["model"]) == (0, 1, "rules")


def outcomes_of(cells, model="m"):
    """Outcomes from {configuration: (levels, right or not of each case)}."""
    made = [
        (f"case-{k}", name, levels, model, float(v))
        for name, (levels, right) in cells.items()
        for k, v in enumerate(right)
    ]
    columns = ["case", "configuration", "levels", "model", "correct"]
    return pd.DataFrame(made, columns=columns)


def simulated(rng, cases, effects, both):
    """Cases with a luck of their own; effects: log odds of failure by level, and of both in C1."""
    luck = rng.normal(-1.5, 0.7, cases)
    cells = {"baseline": (), **{n: (n,) for n in effects}, "C1": ("fabricating", "withholding")}
    odds = {k: luck + sum(effects[n] for n in v) + both * (k == "C1") for k, v in cells.items()}
    return outcomes_of(
        {k: (v, rng.random(cases) > 1 / (1 + np.exp(-odds[k]))) for k, v in cells.items()}
    )


@pytest.mark.parametrize("both", [-2.5, 2.5])
def test_a_mixed_model_finds_the_effects_that_were_simulated(both):
    rng, effects = np.random.default_rng(4), {"vague": 0.0, "fabricating": 2.5, "withholding": 1.0}
    done = simulated(rng, 150, effects, both)
    done.loc[::40, "correct"] = NAN
    worse = done.assign(model="bad", correct=done["correct"] * (rng.random(len(done)) < 0.4))
    made = scores.mixed(done, PLAN).set_index("row")
    assert made.at["fabricating", "low"] > np.e and made.at["baseline", "high"] < 1
    assert made.at["vague", "low"] < 1 < made.at["vague", "high"]
    at = made.loc["C1: fabricating × withholding"]
    assert at["high"] < 1 if both < 0 else at["low"] > 1
    assert (made["n"] == done["correct"].notna().sum()).all()
    if both > 0:
        two = scores.mixed(pd.concat([done, worse]), PLAN).set_index("row")
        assert two.at["bad (against m)", "low"] > 1


@pytest.mark.parametrize("right", [[0, 0, 0], [1, 1, 1], [NAN] * 3, [1], [NAN, 1, 1]])
def test_there_is_no_mixed_model_of_what_does_not_vary(right):
    done = outcomes_of({"baseline": ((), right), "vague": (("vague",), right)})
    (odds,) = rows(scores.mixed(done, PLAN)).values()
    assert odds[0] != odds[0] and odds[1] == 2 * np.isfinite(right).sum()
