"""MedDialBench: scores by hand."""

import numpy as np
import pandas as pd
import pytest

from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import scores
from meddialbench_cells import accuracy

NAN = float("nan")
NUMBERS = ["value", "low", "high", "n", "unscored", "least", "most"]


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def design(run):
    return designs.read(run)


def done_of(cells, model="m"):
    """Outcomes by hand from {configuration: (levels, right or not of each case)}."""
    rows = [
        (f"case-{k}", name, levels, model, float(v))
        for name, (levels, right) in cells.items()
        for k, v in enumerate(right)
    ]
    return pd.DataFrame(rows, columns=["case", "configuration", "levels", "model", "correct"])


def test_accuracy_with_what_is_unscored():
    made = accuracy(
        done_of({"baseline": ((), [1, 1, 0, NAN]), "vague": (("vague",), [NAN] * 4)})
    ).set_index("configuration")
    assert made.loc["baseline", NUMBERS].tolist() == pytest.approx(
        [200 / 3, NAN, NAN, 3, 1, 50, 75],
        nan_ok=True,  # of three there is no interval
    )
    assert np.isnan(made.at["vague", "value"]) and made.loc[
        "vague", ["n", "unscored", "least", "most"]
    ].tolist() == [0, 4, 0, 100]


def test_changes_are_paired_exact_and_corrected_over_the_table(run):
    one = done_of(
        {
            "baseline": ((), [1] * 6 + [0, NAN, 1]),
            "x": (("x",), [0] * 6 + [1, 1, NAN]),
            "y": (("y",), [0] * 6 + [0, 0, 1]),
            "z": (("z",), [1] * 6 + [0, NAN, 1]),
            "gone": (("z",), [NAN] * 7 + [1, NAN]),
        }
    )
    two = done_of({"baseline": ((), [1] * 6), "y": (("y",), [0] * 6)}, "other")
    alone = done_of({"x": (("x",), [1, 0])}, "no baseline")
    made = scores.changes(pd.concat([one, two, alone]), run).set_index(["model", "configuration"])
    assert list(made.index) == [("m", "x"), ("m", "y"), ("m", "z"), ("m", "gone"), ("other", "y")]
    # x: 6 lost and 1 won of 7 pairs, p = 2 (1 + 7) / 2^7; y: 6 lost of 8 pairs, p = 2 / 2^6;
    # z: nothing changes
    assert made.loc[("m", "x"), ["n", "lost", "won", "p", "value"]].tolist() == pytest.approx(
        [7, 6, 1, 1 / 8, -5 / 7]
    )
    assert made.loc[("m", "y"), ["n", "lost", "won", "p", "value"]].tolist() == pytest.approx(
        [8, 6, 0, 1 / 32, -6 / 8]
    )
    assert made.loc[("m", "z"), ["n", "lost", "won", "p", "value"]].tolist() == [8, 0, 0, 1, 0]
    assert made.at[("m", "gone"), "n"] == 0 and made.loc[("m", "gone")].drop("n").isna().all()
    # Holm over the four tests of both models: 4/32 and at least as much, 2/8, 1
    assert made["p_holm"].tolist() == pytest.approx([1 / 4, 1 / 8, 1, NAN, 1 / 8], nan_ok=True)
    assert made[["low", "high"]].isna().all(axis=None)  # fewer than ten cases
    coverage = scores.changes(one.assign(coverage=one["correct"] / 2), run, "coverage").set_index(
        "configuration"
    )
    assert coverage.at["x", "value"] == pytest.approx(-5 / 14) and coverage[
        ["lost", "won", "p", "p_holm"]
    ].isna().all(axis=None)


def test_changes_and_ratios_have_limits_over_ten_cases_and_none_over_nine(run):
    # of 10 cases 6 are lost, of 9 cases 5; O/E: (4/10 * 1) / (1 * 4/10)
    cells = {
        "baseline": ((), [1] * 10),
        "fabricating": (("fabricating",), [0] * 6 + [1] * 4),
        "withholding": (("withholding",), [1] * 10),
        "C1": (C1["C1"], [0, 1] + [0] * 5 + [1] * 3),
    }
    nine = {k: (levels, right[1:]) for k, (levels, right) in cells.items()}
    for made, limits in ((done_of(cells), True), (done_of(nine), False)):
        changed = scores.changes(made, run).set_index("configuration").loc["fabricating"]
        (ratio,) = scores.interactions(made, C1, run).itertuples()
        assert ratio.value == pytest.approx(1)
        for low, value, high in (changed[["low", "value", "high"]], (ratio.low, 1, ratio.high)):
            assert low <= value <= high if limits else np.isnan([low, high]).all()
        assert changed["low"] < changed["high"] if limits else True


C1 = {"C1": ("fabricating", "withholding")}


def test_observed_over_expected_by_hand(run):
    cells = {
        "baseline": ((), [1, 1, 1, 1, 0, 1]),
        "fabricating": (("fabricating",), [1, 1, 1, 0, 1, 1]),
        "withholding": (("withholding",), [1, 1, 0, 1, 0, NAN]),
        "C1": (C1["C1"], [1, 0, 0, 0, 0, 1]),
    }
    # of the five cases scored in all cells: 4/5, 4/5, 3/5 and 1/5; expected
    # (4/5 * 3/5) / (4/5) = 3/5; two are right in the first three cells, one of them fails
    never = {k: (v, [0] * 6 if k == "fabricating" else r) for k, (v, r) in cells.items()}
    part = {k: v for k, v in cells.items() if k != "withholding"}
    lost = {k: (v, [NAN] * 6 if k == "C1" else r) for k, (v, r) in cells.items()}
    done = pd.concat(
        [done_of(cells), done_of(never, "never"), done_of(part, "part"), done_of(lost, "lost")]
    )
    more = {"C9": ("fabricating", "withholding", "vague"), "C8": ("fabricating", "vague")}
    made = scores.interactions(done, C1 | more, run).set_index("model")
    assert list(made.index) == ["m", "never", "lost"] and set(made["configuration"]) == {"C1"}
    assert made.loc["m", ["value", "n", "eligible", "failing"]].tolist() == pytest.approx(
        [1 / 3, 5, 2, 1]
    )
    assert np.isnan(made.at["never", "value"]) and made.loc[
        "never", ["n", "eligible", "failing"]
    ].tolist() == [5, 0, 0]
    assert made.at["lost", "n"] == 0 and made.loc["lost"].drop(["n", "configuration"]).isna().all()


def test_the_mean_over_models_is_of_their_ratios_on_shared_cases(run):
    half = {
        "baseline": ((), [1, 1, 1, 1, NAN]),
        "fabricating": (("fabricating",), [1, 1, 0, 0, 1]),
        "withholding": (("withholding",), [1, 1, 1, 1, 1]),
    }
    a, b = (
        done_of(half | {"C1": (C1["C1"], [1, 0, 0, 0, 0])}, "a"),
        done_of(half | {"C1": (C1["C1"], [1, 1, 1, 0, 1])}, "b"),
    )
    rules = done_of(half | {"C1": (C1["C1"], [0] * 5)}, "rules")
    run.models = ["a", "b"]
    made = scores.interactions(pd.concat([a, b, rules]), C1, run).set_index("model")
    # expected 1/2 for both; observed 1/4 and 3/4: ratios 1/2 and 3/2, mean 1; the rules' 0 doesn't
    # count
    assert (
        made["value"].to_dict() == pytest.approx({"a": 1 / 2, "b": 3 / 2, "rules": 0, "mean": 1})
        and made.at["mean", "n"] == 4
    )
    run.models = ["a"]
    assert "mean" not in scores.interactions(a, C1, run)["model"].tolist()


def test_observed_over_expected_of_many_at_once():
    found = scores.observed_over_expected(
        np.array(
            [[[0.2, 0.8, 0.8, 0.6], [0.3, 0.6, 0.4, 0.3]], [[0.5, 0, 0.5, 0.5], [0, 0.5, 0.5, 0]]]
        )
    )
    assert found.shape == (2, 2, 1)
    np.testing.assert_allclose(found[..., 0], [[1 / 3, 1.5], [NAN, NAN]])


def test_what_is_lost_and_what_fails_only_in_combination():
    done = done_of(
        {
            "baseline": ((), [1, 1, 0, NAN]),
            "fabricating": (("fabricating",), [1, 0, 0, 0]),
            "withholding": (("withholding",), [1, 1, 1, 1]),
            "C1": (C1["C1"], [0, 0, 0, 1]),
        }
    )
    done["misled"] = 0.0
    done.loc[(done["configuration"] == "C1") & (done["case"] == "case-1"), "misled"] = 1.0
    # only cases 0 and 1 are right at baseline; case 1 fails under fabricating alone too
    lost = scores.lost(done)
    assert lost[["case", "configuration"]].values.tolist() == [
        ["case-1", "fabricating"],
        ["case-0", "C1"],
        ["case-1", "C1"],
    ]
    only = scores.only_combined(done, C1)
    assert only[["case", "configuration"]].values.tolist() == [["case-0", "C1"]]
    worst = scores.most_misled(done)
    assert worst[["case", "configuration"]].values.tolist() == [["case-1", "C1"]]
    right = done[done["correct"] == 1]
    assert scores.most_misled(right).equals(right.tail(1)) and scores.most_misled(right[:0]).empty
    assert scores.only_combined(done[done["case"] == "case-3"], C1).empty


def simulated(rng, cases, effects, both):
    """Outcomes of cases with a luck of their own.

    effects: {level: log odds of failure}; both: what C1 adds to its two levels.
    """
    luck = rng.normal(-1.5, 0.7, cases)
    cells = {"baseline": (), **{n: (n,) for n in effects}, **C1}
    odds = {k: luck + sum(effects[n] for n in v) + both * (len(v) == 2) for k, v in cells.items()}
    return done_of(
        {k: (v, rng.random(cases) > 1 / (1 + np.exp(-odds[k]))) for k, v in cells.items()}
    )


@pytest.mark.parametrize("both", [-2.5, 2.5])
def test_a_mixed_model_finds_a_strong_level_and_an_interaction(design, both):
    done = simulated(
        np.random.default_rng(4), 150, {"vague": 0.0, "fabricating": 2.5, "withholding": 1.0}, both
    )
    done.loc[::40, "correct"] = NAN
    made = scores.mixed(done, design).set_index("term")
    assert list(made.index) == [
        "baseline",
        "vague",
        "fabricating",
        "withholding",
        "C1: fabricating × withholding",
        "standard deviation between cases",
    ]
    assert (
        made.at["fabricating", "low"] > 1
        and made.at["vague", "low"] < 0 < made.at["vague", "high"]
        and made.at["baseline", "high"] < 0
    )
    at = made.loc["C1: fabricating × withholding"]
    assert at["high"] < 0 if both < 0 else at["low"] > 0
    assert (made["n"] == done["correct"].notna().sum()).all() and made.equals(
        scores.mixed(done, design).set_index("term")
    )


def test_a_mixed_model_tells_doctors_apart(design):
    rng = np.random.default_rng(5)
    good, bad = (simulated(rng, 80, {"fabricating": 1.0, "withholding": 1.0}, 0) for _ in range(2))
    worse = bad.assign(model="bad", correct=bad["correct"] * (rng.random(len(bad)) < 0.4))
    assert (
        scores.mixed(pd.concat([good, worse]), design)
        .set_index("term")
        .at["bad (against m)", "low"]
        > 0
    )


@pytest.mark.parametrize("right", [[0, 0, 0], [1, 1, 1], [NAN] * 3, [1], [NAN, 1, 1]])
def test_there_is_no_mixed_model_of_what_does_not_vary(design, right):
    assert (
        scores.mixed(done_of({"baseline": ((), right), "vague": (("vague",), right)}), design)
        is None
    )
