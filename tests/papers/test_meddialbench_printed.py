"""MedDialBench: what follows from the printed numbers."""

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import implied
from bedside.papers.meddialbench.implied import baseline
from bedside.read import published


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def design(run):
    return designs.read(run)


def test_every_printed_accuracy_is_one_count(run):
    cells = published.table("meddialbench", "Table 9")
    counts = implied.counts()
    assert counts.shape == (17, 5) and len(cells) == 85
    for r in cells.itertuples():
        assert [k for k in range(86) if f"{100 * k / 85:.1f}" == f"{r.value:.1f}"] == [
            counts.at[r.column, r.row]
        ]
    assert counts["DeepSeek"][["baseline", "fabricating", "incoherent", "C2"]].tolist() == [
        63,
        46,
        62,
        24,
    ]
    assert implied.share(run).at["C2", "DeepSeek"] == pytest.approx(2400 / 85)
    assert implied.drops(run).at["C2", "DeepSeek"] == pytest.approx(3900 / 85)


def test_a_percentage_that_no_count_prints_is_told(run, monkeypatch):
    cells = published.table("meddialbench", "Table 9")
    cells.loc[0, "value"] = 70  # 59 of 85 are 69.4%, 60 are 70.6%
    monkeypatch.setattr(published, "table", lambda *a: cells)
    (way,) = baseline.of_counts(run)["md-counts"].values()
    assert way[0] == "84 of 85 have exactly one count" and way[3] is False
    with pytest.raises(ValueError, match="0 counts of 85 round to it"):
        implied.counts.__wrapped__()


def test_ratios_by_hand(run, design):
    found = implied.ratios(run, design.combinations)
    assert found.shape == (6, 5)
    assert (
        found.at["C2", "DeepSeek"]
        == pytest.approx((24 / 85) / ((46 / 85) * (62 / 85) / (63 / 85)))
        == pytest.approx(0.530, abs=5e-4)
    )
    # Gemini, C1: 45 with 77, 51 and 65
    assert found.at["C1", "Gemini"] == pytest.approx(45 * 77 / (51 * 65))
    draws = implied.ratio_draws(run, design.combinations, draws=4000)
    assert draws.shape == (4000, 6, 5) and np.median(draws, axis=0) == pytest.approx(
        found.to_numpy(), rel=0.03
    )


def test_the_papers_marks_are_possible_and_others_are_not(run, monkeypatch):
    made = implied.marks(run)
    assert (
        len(made) == 80
        and made["starred"].sum() == 34
        and made["possible"].all()
        and (made["low"] <= made["high"]).all()
    )
    marks = run.published("Table 9 marks")
    # Gemini goes from 77 to 79 with incoherent patients: at best 0 against 2 pairs, p = 1/2; and
    # from 77 to 51 with fabricating ones: at worst 34 pairs lost and 8 won
    marks.loc[
        (marks["row"] == "Gemini") & marks["column"].isin(["incoherent", "fabricating"]), "value"
    ] = [1, 0]
    monkeypatch.setattr(run, "published", lambda table: marks)
    other = implied.marks(run)
    off = other[~other["possible"]]
    assert off[["configuration", "model", "starred"]].values.tolist() == [
        ["incoherent", "Gemini", True],
        ["fabricating", "Gemini", False],
    ]
    assert off["low"].iloc[0] == 0.5 and off["high"].iloc[1] == pytest.approx(
        stats.mcnemar_counts(34, 8)
    )


@pytest.mark.parametrize(
    "x, y, least, most",
    [
        (70, 54, 16, 46),
        (77, 79, 2, 14),
        (10, 10, 0, 20),
        (85, 85, 0, 0),
        (0, 85, 85, 85),
        (50, 20, 30, 70),
    ],
)
def test_fewest_and_most_discordant_pairs_by_hand(x, y, least, most):
    # x = 70 and y = 54 of 85: 54 right in both at most (16 differ), 39 at least (31 + 15 differ)
    assert implied.least_discordant(x, y) == (least, most)
    tables = [
        (x - both) + (y - both) for both in range(86) if both <= min(x, y) and x + y - both <= 85
    ]
    assert (min(tables), max(tables)) == (least, most)


def test_power_lies_between_0_and_1_and_grows_with_the_number_of_cases(run):
    for configuration in ("fabricating", "impatient"):
        made = implied.powers(run, configuration, (40, 85, 200))
        wide = made.pivot(index="model", columns="n", values=["fewest", "most"])
        assert (
            made[["fewest", "most"]].ge(0).all(axis=None)
            and made[["fewest", "most"]].le(1 + 1e-9).all(axis=None)
            and len(made) == 15
        )
        assert all(
            (wide[x].diff(axis=1).iloc[:, 1:] > -1e-9).all(axis=None) for x in ("fewest", "most")
        )
    # GPT-5.4 under fabricating: 16 more lost than won of 85, 46 pairs at most: 31 lost and 15 won
    one = implied.powers(run, "fabricating").set_index("model").loc["GPT-5.4"]
    assert one["most"] == pytest.approx(stats.mcnemar_power(85, 31 / 85, 15 / 85))
    assert one["fewest"] == pytest.approx(stats.mcnemar_power(85, 16 / 85, 0))


@pytest.mark.parametrize("a, b, models", [(1.6, 0.9, 5), (0.6, 0.5, 5), (2, 3, 3)])
def test_regression_to_the_mean_against_a_simulation(a, b, models):
    rng = np.random.default_rng(8)
    chance = rng.beta(a, b, 200_000)
    first = rng.random((models, len(chance))) < chance
    kept = first.any(axis=0)
    accuracy = first[:, kept].mean()
    found = implied.regression(kept.mean(), accuracy, models)
    assert found < accuracy and found == pytest.approx(chance[kept].mean(), abs=0.004)


def test_regression_of_the_papers_numbers():
    assert 0.7 < implied.regression(85 / 107, 0.788) < 0.788


@pytest.mark.parametrize(
    "scale, right",
    [
        # shares right of x, y and both beside a baseline of 68 of 85: x and y cost the same twice
        ("success multiplied", [68, 51, 34, 25.5]),
        ("risks added", [68, 51, 34, 17]),
        # odds of failure 1/4, 2/3, 3/2 and 4 = 2/3 * 3/2 / (1/4)
        ("odds of failure multiplied", [68, 51, 34, 17]),
        # failures of 17, 34, 34 and 68 = 34 * 34 / 17
        ("failures multiplied", [68, 51, 51, 17]),
    ],
)
def test_an_interaction_is_0_where_effects_add_up_on_its_scale(scale, right, monkeypatch):
    made = pd.DataFrame(
        {m: right + [right[-1] - 5] for m in implied.MODELS},
        index=["baseline", "x", "y", "both", "less"],
    )
    monkeypatch.setattr(implied, "counts", lambda: made)
    assert implied.interaction(scale, "both", ("x", "y")) == pytest.approx(0)
    assert implied.interaction(scale, "less", ("x", "y")) > 0  # more harm than the parts foretell


def test_limits_of_none_and_of_all_by_hand():
    # none of 100: (1 - p)^100 = 0.025; all of 15: p^15 = 0.025
    assert implied.limits(0, 100) == pytest.approx((0, 100 * (1 - 0.025 ** (1 / 100))))
    assert implied.limits(15, 15) == pytest.approx((100 * 0.025 ** (1 / 15), 100))
    low, high = implied.limits(66, 70)
    assert (low, high) == pytest.approx((86.01, 98.42), abs=0.01)


def test_pairs_that_change_places(monkeypatch):
    made = pd.DataFrame(
        [[5, 4, 3, 2, 1], [5, 3, 4, 1, 1]], index=["baseline", "x"], columns=implied.MODELS
    )
    monkeypatch.setattr(implied, "counts", lambda: made)  # a tie is no exchange
    assert implied.exchanged("baseline", "x") == [("Claude", "DeepSeek")]
