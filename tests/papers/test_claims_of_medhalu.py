"""MedHalu's claims: no verdict is refuted by numbers that round to the printed ones."""

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.medhalu import claims as medhalu
from bedside.papers.medhalu import printed
from bedside.stats.rounded import Rounded, exact
from claim_worlds import decided, drawn, refuted, unturned

TABLES = ("T6", "T7", "T8", "T10")
# of printed numbers: what they take long to find is tested in test_medhalu_printed
COUNTED = ("one_matrix one_of_a_sample any_share some_left_out mean_of_three types_apart").split()


@pytest.fixture
def names(run_of):
    return medhalu.names(run_of("medhalu", "02_detection"))


def counted(share, rng):
    """Functions by which a share of rows can come from counts."""
    made = {n: lambda *scores: pd.Series(rng.random(9) < share) for n in COUNTED[:-1]}
    return made | {"types_apart": lambda six, eight: pd.Series([0 if share else np.inf])}


@pytest.mark.parametrize("draws", [1])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(names, draws):
    T = {n: names[n] for n in TABLES}

    def draw(rng, kind):
        def rounded(x, digits):
            return drawn({"said": Rounded.printed(x, digits)}, rng, "anywhere")["said"]

        fits = counted(1, rng) | {"accepted": lambda *scores: exact(pd.Series([0.5]))}
        return drawn(T, rng, kind) | fits | {"rounded": rounded}

    assert len(decided("medhalu", names)) > 70
    assert not refuted("medhalu", names, draw, draws)


def counts(T4, rng):
    """Other counts by type, whose sums are off or not."""
    made = T4 + rng.integers(0, 90, T4.shape) * rng.integers(0, 2)
    made.loc["None-conflict", "Total"] *= rng.integers(0, 2)
    return made


def scored(at, like, answers):
    """The scores of rates (evaluators, base sets, 2), as a printed table has them."""
    p, n = answers.to_numpy().T
    made = stats.macro(printed.confusion(at, p, n))
    columns = [(score, d) for d in answers.index for score in printed.BRIEF]
    flat = pd.DataFrame(made.reshape(len(at), -1), like.index, pd.MultiIndex.from_tuples(columns))
    return flat[like.columns]


def tables(T, answers, rng):
    """Other scores: of evaluators who are alike or not, helped by a reason or not."""
    apart = rng.choice([0.01, 0.1, 0.4])
    at = rng.uniform(0.3, 0.7, 2) + apart * rng.uniform(-1, 1, (5, 3, 2))
    at[:, 1] += rng.choice([-0.2, 0, 0.2])  # on LiveQA
    at[3] += rng.choice([0, 0.2])  # experts
    told = at[:3] + rng.choice([-0.1, 0.01, 0.3])
    made = {n: t.value * 0 + rng.random(t.value.shape) for n, t in T.items()}
    made["T6"] = scored(at.clip(0.05, 0.95), T["T6"].value, answers)
    made["T10"] = scored(told.clip(0.05, 0.95), T["T10"].value, answers)
    half = {n: rng.choice([0, 0.005]) for n in T}
    return {n: Rounded(t - half[n], t, t + half[n]) for n, t in made.items()}


def said_of(T10, T6, rng):
    """What section 5 says of Table 10: the same, or something else."""
    off = rng.choice([0, 0.3])
    made = {f"{m} ma-F1": T10.loc[m, "F1"] + off for m in ("LLaMA-2", "GPT-4")}
    points = 100 * (T10.loc["GPT-4", "F1"] - T6.loc["GPT-4", "F1"])
    return pd.DataFrame({**made, "GPT-4 gain, points": points * rng.choice([0.1, 1])})


def averages(names, T6, rng):
    """What section 1 says: one of the averages of Table 6."""
    ways = [lambda t: t.F1.mean(axis=1), lambda t: names["weighted"](t.F1), names["pooled_f1"]]
    found = ways[rng.integers(3)](T6).value.round(2)
    return lambda place, column, rows: found.get(rows, pd.Series(0.5, rows))


def other_names(names, rng):
    """All quantities, of other counts, scores and texts."""
    T = tables({n: names[n] for n in TABLES}, names["counted"], rng)
    number, yes = float(rng.choice([0.3, 3, 30, 2077])), bool(rng.integers(0, 2))
    share = rng.choice([0, 0.5, 1])
    return {
        **T,
        **counted(share, rng),
        "accepted": lambda *scores: exact(pd.Series([rng.choice([0.1, 1])])),
        "T4": counts(names["T4"], rng),
        "background": names["background"] + int(rng.integers(0, 2)),
        "asked": names["asked"] | yes,
        "named": names["named"] | yes,
        "different": names["different"] - int(rng.integers(-1, 2)),
        "scores_by_type": ["Acc", "ma-P", "ma-R", "ma-F1"],
        "said_distances": names["said_distances"] + 1,
        "reasoned": said_of(T["T10"].value, T["T6"].value, rng),
        "text": lambda *place: number,
        "said": averages(names, T["T6"], rng),
    }


def test_each_interpretation_turns_for_some_other_numbers(names):
    assert not unturned("medhalu", names, lambda rng: other_names(names, rng), 80)
