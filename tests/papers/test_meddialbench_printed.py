"""MedDialBench: what follows from the printed numbers."""

import numpy as np
import pandas as pd
import pytest

from bedside import claims, published, stats
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import printed
from bedside.papers.meddialbench.printed import (
    baseline,
    interactions,
    single,
    validation,
    vulnerability,
)


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def design(run):
    return designs.read(run)


def test_every_printed_accuracy_is_one_count(run):
    cells = published.table("meddialbench", "Table 9")
    counts = printed.counts()
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
    assert printed.share(run).at["C2", "DeepSeek"] == pytest.approx(2400 / 85)
    assert printed.drops(run).at["C2", "DeepSeek"] == pytest.approx(3900 / 85)


def test_ratios_by_hand(run, design):
    found = printed.ratios(run, design.combinations)
    assert found.shape == (6, 5)
    assert (
        found.at["C2", "DeepSeek"]
        == pytest.approx((24 / 85) / ((46 / 85) * (62 / 85) / (63 / 85)))
        == pytest.approx(0.530, abs=5e-4)
    )
    # Gemini, C1: 45 with 77, 51 and 65
    assert found.at["C1", "Gemini"] == pytest.approx(45 * 77 / (51 * 65))
    draws = printed.ratio_draws(run, design.combinations, draws=4000)
    assert draws.shape == (4000, 6, 5) and np.median(draws, axis=0) == pytest.approx(
        found.to_numpy(), rel=0.03
    )


def test_the_papers_marks_are_possible_and_others_are_not(run, monkeypatch):
    made = printed.marks(run)
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
    other = printed.marks(run)
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
    assert printed.least_discordant(x, y) == (least, most)
    tables = [
        (x - both) + (y - both) for both in range(86) if both <= min(x, y) and x + y - both <= 85
    ]
    assert (min(tables), max(tables)) == (least, most)


def test_power_lies_between_0_and_1_and_grows_with_the_number_of_cases(run):
    for configuration in ("fabricating", "impatient"):
        made = printed.powers(run, configuration, (40, 85, 200))
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
    one = printed.powers(run, "fabricating").set_index("model").loc["GPT-5.4"]
    assert one["most"] == pytest.approx(stats.mcnemar_power(85, 31 / 85, 15 / 85))
    assert one["fewest"] == pytest.approx(stats.mcnemar_power(85, 16 / 85, 0))


@pytest.mark.parametrize("a, b, models", [(1.6, 0.9, 5), (0.6, 0.5, 5), (2, 3, 3)])
def test_regression_to_the_mean_against_a_simulation(a, b, models):
    rng = np.random.default_rng(8)
    chance = rng.beta(a, b, 200_000)
    first = rng.random((models, len(chance))) < chance
    kept = first.any(axis=0)
    accuracy = first[:, kept].mean()
    found = printed.regression(kept.mean(), accuracy, models)
    assert found < accuracy and found == pytest.approx(chance[kept].mean(), abs=0.004)


def test_regression_of_the_papers_numbers():
    assert 0.7 < printed.regression(85 / 107, 0.788) < 0.788


def test_an_interaction_of_odds_is_0_where_odds_multiply(run, monkeypatch):
    # odds of failure 17/68 = 1/4, 34/51 = 2/3, 51/34 = 3/2 and 68/17 = 4 = 2/3 * 3/2 / (1/4)
    made = pd.DataFrame(
        {m: [68, 51, 34, 17, 34] for m in printed.MODELS},
        index=["baseline", "x", "y", "both", "less"],
    )
    monkeypatch.setattr(printed, "counts", lambda: made)
    assert printed.odds_interaction(run, "both", ("x", "y")) == pytest.approx(0)
    assert printed.odds_interaction(run, "less", ("x", "y")) == pytest.approx(np.log(3 / 2 / 4))


# ---- claims

RAW = {"md-osce", "md-speak", "md-distinct", "md-case-079", "md-case-084"}  # of released cases


def readings(run, design):
    """Readings of all claims on printed numbers."""
    return {
        **validation.of_design(run, design),
        **validation.of_adherence(run, design),
        **validation.of_judges(run),
        "md-checkpoints": validation.of_patient(run),
        **baseline.readings(run),
        **single.of_marks(run, design),
        **single.of_losses(run),
        **single.of_order(run),
        **single.of_dose(run, design),
        **interactions.of_table(run, design),
        **interactions.of_fabricating(run, design),
        **interactions.of_models(run, design),
        **vulnerability.of_pathways(run),
        **vulnerability.of_profiles(run),
        **vulnerability.of_strategies(run),
        **vulnerability.of_power(run),
        **vulnerability.of_texts(),
    }


def test_every_claim_has_readings_or_says_what_it_needs(run, design):
    known, made = claims.load("meddialbench"), readings(run, design)
    assert set(known) == {*made, *RAW, "md-released"}
    for id, claim in known.items():
        assert id in RAW or bool(claim.needs) == (not made.get(id)), id
        for _, _, _, holds in made.get(id, {}).values():
            assert holds in (True, False), id


def test_readings_follow_from_the_printed_numbers(run, design, monkeypatch):
    # Gemini, C1: 45 * 77 / (51 * 65); all others are below 1
    made = interactions.of_fabricating(run, design)["md-super"]["reading"]
    assert (made[0], made[3]) == ("14 of 15 below 1; not C1 Gemini 1.05", False)
    seven = run.published("Table 7")
    # 94.2% is no whole number of 70 dialogues: 65 are 92.9%, 66 are 94.3%
    seven.loc[(seven["row"] == "All non-baseline") & (seven["column"] == "Full Pass"), "value"] = (
        94.2
    )
    tables = {"Table 7": seven}
    printed_ = run.published
    monkeypatch.setattr(run, "published", lambda name: tables.get(name, printed_(name)))
    found = validation.of_adherence(run, design)["md-adherence-all-non"]["reading"]
    assert (found[0], found[3]) == ("none", False)
