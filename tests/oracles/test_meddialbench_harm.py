"""MedDialBench's worst cases, misled doctors, ends, patients and judges, counted one by one."""

import itertools

import numpy as np
import pandas as pd
import pytest
from meddialbench_worlds import (
    CASES,
    DOCTORS,
    NAN,
    PLAN,
    by,
    counted,
    ends,
    rows,
    same,
    seeds,
    world,
)
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import judging, scores, study
from meddialbench_cells import adherence, agreement, alone, vulnerable


@pytest.fixture
def run(run_of):
    run = run_of("meddialbench", "05_vulnerability")
    run.models = ["a", "b"]
    return run


# ---- worst cases, misled doctors, strategies, ends


@seeds
def test_worst_cases_are_the_largest_losses_and_ties_are_all_named(seed):
    done = world(seed)
    changed = scores.changes(done)
    table = scores.worst(changed)
    found = rows(table)
    for m, mine in changed.groupby("model"):
        least = mine["value"].min()
        tied = mine[mine["value"] == least]
        name = f"worst: {', '.join(sorted(tied['configuration']))}"
        assert found[m, name][:2] == pytest.approx((-100 * least, tied["n"].min()))
        r = tied.iloc[0]
        limits = [-100 * r["high"], -100 * r["low"]] if len(tied) == 1 else [NAN, NAN]
        assert limits == ends(table, (m, name))


@seeds
def test_misled_is_counted_of_all_and_of_wrong_diagnoses_by_pathway(run, seed):
    done, expected = world(seed), {}
    polluting = {n for n in PLAN.adverse if PLAN.pathway(n) == "pollution"}
    parts = {c: [c] for c, levels in PLAN.configurations().items() if polluting & {*levels}}
    parts["all with pollution"] = [*parts]
    others = PLAN.configurations().keys() - parts.keys() - {"baseline"}
    parts["without pollution"] = [*others]
    for (name, of), m in itertools.product(parts.items(), DOCTORS):
        mine = done[done["configuration"].isin(of) & (done["model"] == m)]
        wrong = mine[mine["correct"] == 0]
        expected[name, f"{m}: % of all"] = counted(mine["misled"], 100)
        expected[name, f"{m}: % of the wrong ones"] = counted(wrong["misled"], 100)
    found = vulnerable(run, PLAN, done, "found")
    same(rows(pd.concat(found)), {k: v for k, v in expected.items() if v[1] or v[2]})


@seeds
def test_strategies_are_turns_and_losses_paired_by_case(run, seed):
    done, expected = world(seed), {}
    turns = by(done, "turns")
    for m in DOCTORS:
        size = len(done[(done["model"] == m) & (done["configuration"] == "baseline")])
        known = [*turns[m, "baseline"].values()]
        expected[m, "turns, baseline"] = np.mean(known), len(known), size - len(known)
        for c, (column, what, scale) in itertools.product(
            ("C4", "C3"),
            (
                ("coverage", "loss of coverage, {}", 1),
                ("correct", "loss of accuracy, {}, points", 100),
            ),
        ):
            base, other = (by(done, column).get((m, x), {}) for x in ("baseline", c))
            gaps = [scale * (base[k] - other[k]) for k in base.keys() & other.keys()]
            if gaps:
                expected[m, what.format(c)] = np.mean(gaps), len(gaps), 0
    made = pd.concat(vulnerable(run, PLAN, done, "strategy")).query("source == 'run'")
    same(rows(made), expected)


@seeds
def test_ends_are_counted_by_speaker_with_their_reasons(seed):
    done, expected = world(seed), {}
    for m, mine in done.groupby("model"):
        for (end, who), part in mine.groupby(["end", "by"]):
            name = f"{who}: {talks.ENDS[end]}" if who else talks.ENDS[end]
            expected[name, m] = 100 * len(part) / len(mine), len(mine), 0
        over_ = mine["end"].isin(["ended", "limit"])
        for what, why in (
            ("no answer", mine["why"]),
            ("no diagnosis", mine["reply_status"][over_]),
        ):
            for reason in {x.split(":")[0] for x in why} - {""}:
                hits = sum(x.split(":")[0] == reason for x in why)
                expected[f"{what}: {reason}", m] = 100 * hits / len(mine), len(mine), 0
        whole = mine[mine["truncated"] == 0]["correct"].dropna()
        expected[talks.CUT, m] = 100 * (mine["truncated"] > 0).mean(), len(mine), 0
        expected[talks.UNCUT, m] = 100 * whole.mean(), len(whole), 0
    same(rows(talks.ends(done)), expected)


def test_intervals_are_over_cases():
    # 12 cases, all their 17 configurations alike: the interval is as wide as one of 12 is
    done = world(0).query("case in @CASES[:12]").assign(truncated=0, end="ended", by="")
    done["end"] = np.where(done["case"].isin(CASES[:6]), "ended", "limit")
    made = talks.ends(done).query("row == 'the doctor ended it' and column == 'a'")
    twelve, alone = (binomtest(n // 2, n).proportion_ci(method="wilson") for n in (12, 204))
    assert made["value"].item() == 50 and made["n"].item() == 204
    assert made["low"].item() < 100 * twelve.low < 100 * alone.low


# ---- patients and judges


@seeds
def test_adherence_is_a_mean_by_kind_of_configuration(seed):
    done, expected = world(seed), {}
    none, *active = judging.KINDS
    for kinds, name in (([none], none), *(([k], k) for k in active), (active, "All non-baseline")):
        for m, key in itertools.product(DOCTORS, ("activation", "isolation", "full")):
            mine = done[done["kind"].isin(kinds) & (done["model"] == m)]
            if kinds != [none] or key != "activation":
                column = {"full": "Full Pass"}.get(key, key.capitalize())
                expected[f"{name}, {m}", column] = counted(mine[key], 100)
    five, seven = map(rows, adherence(done))
    same({k: v for k, v in seven.items() if k[1] != "Activation" or none not in k[0]}, expected)
    same(
        five,
        {
            (m, "adherence, %"): counted(np.concatenate([*mine["shown"]]), 100)
            for m, mine in done.groupby("model")
        },
    )

    levels = ["incoherent", "fabricating", "withholding"]
    part = done[done["configuration"].isin(levels)]
    seen = {
        "x": part,
        "y": part.assign(activation=part["activation"].where(part["model"] == "rules", 1.0)),
    }
    expected = {}
    for name in ("x", "y", "rules"):  # the rules are one patient, whichever models are tried
        of = seen["x" if name == "rules" else name]
        of = of[(of["model"] == "rules") == (name == "rules")]
        for column, among in (
            *((n, [n]) for n in levels),
            ("incoherent and fabricating", levels[:2]),
            ("mean", levels),
        ):
            mine = of[of["configuration"].isin(among)]
            expected[name, column] = counted(mine["activation"])
    same(rows(alone([f.assign(patient=name) for name, f in seen.items()])), expected)


@seeds
def test_two_judges_agree_as_a_library_counts(seed):
    first = world(seed)
    rng = np.random.default_rng(seed)
    other = first.assign(
        correct=first["correct"].where(rng.random(len(first)) < 0.7, 1.0),
        misled=first["misled"].where(rng.random(len(first)) < 0.7, 0.0),
    )
    same_, kappas = agreement(judging.compared_on("a and b", first, other[::-1]))
    at = {column: v for (_, column), v in rows(same_).items()}
    wrong = ((first["correct"] == 0) & (other["correct"] == 0)).to_numpy()
    for column, what, of in (
        ("correct", "diagnosis", slice(None)),
        ("misled", "misled or not", slice(None)),
        ("misled", judging.WRONG, wrong),
    ):
        one, two = (f[column].to_numpy()[of] for f in (first, other))
        both = ~np.isnan(one) & ~np.isnan(two)
        rest = both.sum(), (~both).sum()
        assert at[f"{what}: same, %"] == pytest.approx((100 * (one == two)[both].mean(), *rest))
        kappa = cohen_kappa_score(one[both], two[both])
        ours = kappas["a and b, this run", f"{what}: kappa"]
        assert (ours.value, ours.n) == pytest.approx((kappa, both.sum()))


def test_a_sample_in_strata_is_even_and_draws_the_same_again(run):
    held = world(0)[["item", "case", "configuration", "model"]]
    for size in (51, 60, 200, 0, 5000):
        part = study.in_strata(run, held, size)
        counts = part.groupby(["model", "configuration"]).size()
        assert len(part) == (min(size, len(held)) or len(held)) and counts.max() - counts.min() < 2
        assert len(counts) == 51 and not part.duplicated().any()
        assert part.equals(study.in_strata(run, held, size))


def test_only_cases_that_a_model_diagnoses_at_baseline_count_when_asked():
    done = world(2)
    mine, told = study.kept(done, True)
    right = by(done)
    able = {k for m in ("a", "b") for k, v in right[m, "baseline"].items() if v == 1}
    assert {*mine["case"]} == able and len(mine) == done["case"].isin(able).sum()
    assert f"{len(able)} of {len(CASES)} cases" in told and study.kept(done, False)[0] is done
