"""MedDialBench's claims: no verdict is refuted by numbers that round to the printed ones."""

import numpy as np
import pytest

from bedside.papers.meddialbench import claims as meddialbench
from bedside.papers.meddialbench import design, printed
from bedside.papers.meddialbench.printed import N
from bedside.stats.rounded import Rounded, Verdict
from claim_worlds import decided, drawn, refuted, unturned

ROUNDED = ("T2", "T6")  # what Table 9 doesn't give; Tables 3 and 4 are compared with it as printed


@pytest.fixture
def fixed(run_of):
    run = run_of("meddialbench", "02_baseline")
    return design.read(run), meddialbench.names(run)


@pytest.mark.parametrize("draws", [3, pytest.param(500, marks=pytest.mark.slow)])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(fixed, draws):
    _, names = fixed

    def draw(rng, kind):
        def within(f):
            return lambda *place: drawn({f: names[f](*place)}, rng, kind)[f]

        texts = {f: within(f) for f in ("rounded", "said")}
        return drawn({n: names[n] for n in ROUNDED}, rng, kind) | texts

    assert len(decided("meddialbench", names)) > 90
    assert not refuted("meddialbench", names, draw, draws)


def test_each_count_is_the_only_one_that_rounds_to_its_percentage():
    assert all(len(found) == 1 for found in printed.fits().values())


def other_counts(right, paper, rng):
    """Other right diagnoses: at random, some with a worst case of each model's own, or in order."""
    made, order = right.astype(float), range(len(right))
    made["baseline"] = 50 + rng.permutation(order) * int(rng.choice([1, 6]))
    kind, near = rng.choice(["any", "apart", "in order"]), rng.random() < 0.5
    for c in right.columns.drop("baseline"):
        drop = rng.integers(-4, 9) if rng.random() < 0.3 else rng.integers(1, 40)
        made[c] = made["baseline"] - drop + rng.permutation(order) * int(rng.choice([1, 3]))
        made[c] -= made[c] == made["baseline"]
    if kind == "apart":
        for model, c in zip(right.index, ("C1", "C2", "C3", "C4", "C5")):
            made.loc[model, c] = 2
    if kind == "in order":  # steps, which pairs multiply
        last = dict(withholding=35, fabricating=28, incoherent=18, complete_denial=18, dominant=9)
        for c in paper.adverse:
            made[c] = made["baseline"] - last.get(c, 2) - rng.permutation(order) / 4
        for c, (x, y) in paper.combinations.items():
            made[c] = made[x] * made[y] / made["baseline"] * (1 if near else 0.94)
    return made.clip(2, N - 2)


def moved(x, rng):
    """Other printed numbers with the same rounding."""
    by = x.value * rng.choice([0.1, 5], np.shape(x.value)) - x.value
    return Rounded(x.low + by, x.value + by, x.high + by)


def other_names(paper, names, rng):
    """All quantities, of other counts, tables and texts."""
    near, by = rng.random() < 0.5, float(rng.choice([-40, -1, 1, 13, 30]))
    other = meddialbench.of_counts(other_counts(names["right"].value, paper, rng), paper)
    pace = names["T2"].value * rng.choice([0.5, 1], names["T2"].value.shape)
    if rng.random() < 0.5:
        pace["Cov/Turn"] = pace["Coverage"] / pace["Turns"]
    half, T7 = 0.0005 * (pace.columns == "Cov/Turn"), names["T7"].copy()
    T7["N"] += int(rng.choice([0, 21, 33]))
    T7["Isolation"] -= int(rng.choice([0, 2]))

    def text(*place):
        number = names["text"](*place)
        number = number + by if number + by > 2 else number
        return min(100, number) if "compliance" in place[1] else number  # in percent

    return {
        **meddialbench.of_design(paper),
        **other,
        **{n: moved(names[n], rng) for n in ("T3", "T4", "T6")},
        "T2": Rounded(pace - half, pace, pace + half),
        "T9": other["acc"] if near else names["T9"],
        "T1": names["T1"] * 0 + rng.integers(0, 2, names["T1"].shape),
        "T5": names["T5"] - int(rng.integers(0, 5)) * (np.arange(4) == 0)[:, None],
        "T7": T7,
        "p": names["p"] * float(rng.choice([0, 1, 30])),
        "starred": names["starred"] ^ (rng.random(names["starred"].shape) < 0.3),
        "fitting": names["fitting"] + int(rng.integers(0, 2)),
        "configurations": int(rng.choice([12, 40])),
        "covered": lambda times: Rounded(*[int(rng.choice([1, 500]))] * 3),
        "extreme_only": ~names["extreme_only"],
        "text": text,
        "rounded": lambda *place: moved(names["rounded"](*place), rng),
        "said": lambda *place: moved(names["said"](*place), rng),
        "spans": lambda *place: Verdict(near or names["spans"](*place).holds, "as computed"),
        "cases": int(rng.choice([60, N])),
    }


def test_each_interpretation_turns_for_some_other_numbers(fixed):
    paper, names = fixed
    assert not unturned("meddialbench", names, lambda rng: other_names(paper, names, rng), 200)
