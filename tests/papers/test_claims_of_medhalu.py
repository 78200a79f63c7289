"""MedHalu's claims: no verdict is refuted by numbers that round to the printed ones."""

import numpy as np
import pandas as pd
import pytest

from bedside.papers.medhalu import claims as medhalu
from bedside.stats.rounded import Rounded
from claim_worlds import decided, drawn, refuted, unturned

TABLES = ("T6", "T7", "T8", "T10")
GPT4 = "GPT-4 gain, points"


@pytest.fixture
def names(run_of):
    return medhalu.names(run_of("medhalu", "02_detection"))


@pytest.mark.parametrize("draws", [12, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(names, draws):
    T = {n: names[n] for n in TABLES}

    def draw(rng, kind):
        return drawn(T, rng, kind)

    assert len(decided("medhalu", names)) > 50
    assert not refuted("medhalu", names, draw, draws)


def counts(T4, rng):
    """Other counts by type, whose sums are off or not."""
    made = T4 + rng.integers(0, 90, T4.shape) * rng.integers(0, 2)
    made.loc["None-conflict"] *= rng.integers(0, 2)
    return made


def tables(T, rng):
    """Other scores: at random, all alike but for a reason, or the printed ones."""
    low, close = rng.choice([0.1, 0.5]), rng.choice([0.02, 0.4])
    made = {n: t.value * 0 + low + close * rng.random(t.value.shape) for n, t in T.items()}
    if rng.random() < 0.5:
        made["T10"] = made["T6"].loc[made["T10"].index] + rng.choice([0.01, 0.3])
    half = {n: rng.choice([0, 0.005]) for n in T}
    return {n: Rounded(t - half[n], t, t + half[n]) for n, t in made.items()}


def said_of(T10, T6, rng):
    """What section 5 says of Table 10: the same, or something else."""
    off = rng.choice([0, 0.3])
    made = {f"{m} ma-F1": T10.loc[m, "F1"] + off for m in ("LLaMA-2", "GPT-4")}
    points = 100 * (T10.loc["GPT-4", "F1"] - T6.loc["GPT-4", "F1"])
    return pd.DataFrame({**made, GPT4: points * rng.choice([0.1, 1])})


def of_matrices(names, rng):
    """Other counts behind printed scores, and other p: all possible, some, or none."""
    share = rng.choice([0, 0.5, 1])

    def fit(like):
        return (rng.random(np.shape(like)) < share) * 1 + 0 * like

    def p(score):
        low = pd.Series(rng.choice([0, 0.2], 3))
        return Rounded(low, low, low + rng.choice([0, 0.01, 0.8]))

    return {
        "fitting": lambda n: pd.DataFrame(fit(names["fitting"](n)[["fits", "anyhow"]] * 1.0) > 0),
        "sample_fits": lambda: fit(names["sample_fits"]()),
        "mean_of_three": lambda n: fit(names["mean_of_three"](n)) > 0,
        "left_out": lambda: fit(names["left_out"]()) - 1,
        "types_agree": lambda: pd.DataFrame({"alone": [share > 0.5], "moved": [9 * share]}),
        "p_gain": p,
        "least_p": p,
    }


def other_names(names, rng):
    """All quantities, of other counts, scores and texts."""
    T = tables({n: names[n] for n in TABLES}, rng)
    number, yes = float(rng.choice([3, 30, 2077])), bool(rng.integers(0, 2))
    accepted = {n: float(rng.choice([0.1, 1])) for n in (6, 10)}
    return {
        **T,
        **of_matrices(names, rng),
        "T4": counts(names["T4"], rng),
        "background": names["background"] + int(rng.integers(0, 2)),
        "asked": names["asked"] | yes,
        "named": names["named"] | yes,
        "shown": names["shown"] | yes,
        "different": names["different"]
        .sample(frac=1, random_state=1)
        .set_axis(names["different"].index),
        "scores_by_type": ["Acc", "ma-P", "ma-R", "ma-F1"],
        "said_distances": names["said_distances"] + 1,
        "reasoned": said_of(T["T10"].value, T["T6"].value, rng),
        "text": lambda *place: number,
        "rounded": lambda digits, *place: Rounded.printed(rng.choice([0.3, 0.83]), digits),
        "accepted": lambda n, *who: accepted[n] * names["accepted"](6, *who),
        "accepted_by_matrix": lambda n: accepted[n] * names["accepted_by_matrix"](6),
    }


def test_each_interpretation_turns_for_some_other_numbers(names):
    assert not unturned("medhalu", names, lambda rng: other_names(names, rng), 80)
