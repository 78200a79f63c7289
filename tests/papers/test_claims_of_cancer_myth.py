"""Cancer-Myth's claims: no verdict is refuted by numbers that round to the printed ones."""

import numpy as np
import pandas as pd
import pytest

from bedside.papers.cancer_myth import claims as cancer_myth
from bedside.papers.cancer_myth.systems import SYSTEMS
from bedside.stats.rounded import Comparison, Rounded, Verdict, exact
from claim_worlds import decided, drawn, refuted, unturned

ROUNDED = ("pcr", "pcs", "pcr2", "newer_pcr", "newer_pcs", "cross", "rated")
CURED = ("uncured", "cured", "rate_in_text")
MODELS = [*SYSTEMS.values()]
WRITERS = ["GPT-4o", "Claude-3.5-Sonnet", "Gemini-1.5-Pro"]


@pytest.fixture
def fixed(run_of):
    return cancer_myth.names(run_of("cancer_myth", "03_evaluation"))


@pytest.mark.parametrize("draws", [6, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(fixed, draws):
    def draw(rng, kind):
        return drawn({name: fixed[name] for name in ROUNDED + CURED}, rng, kind)

    assert len(decided("cancer_myth", fixed)) > 60
    assert not refuted("cancer_myth", fixed, draw, draws)


# ---- other numbers, of what is printed and of what is released


def moved(x, by):
    """Other printed numbers with the same rounding."""
    return Rounded(x.low + by, x.value + by, x.high + by)


def of_print(names, rng):
    """Rates and scores that lie close or not, with another order or another sign."""
    made = {k: moved(names[k], rng.choice([0, 40, -0.3])) for k in ROUNDED}
    for k in ("pcr", "pcs", "cross", "rated"):
        size = rng.choice([0.1, 1]) * (20 if k == "pcr" else 1)
        made[k] = moved(names[k], size * rng.normal(size=np.shape(names[k].value)))
    made["pcr"] = moved(made["pcr"], rng.choice([0, 60]))
    made["pcr"] = made["pcr"].drop(["DeepSeek-R1"][: rng.integers(0, 2)])
    sums = names["sums"].value
    steep = rng.choice([0, 30]) * rng.normal(size=(len(sums), 1))
    sums = sums * rng.choice([-1, 0.1, 1]) + steep + rng.normal(size=sums.shape)
    p = float(rng.choice([1e-12, 2e-5, 4e-3, 0.4]))
    kappa = float(rng.choice([0.1, 0.9]))
    return {
        **made,
        "sums": exact(sums),
        "by_category": exact(sums.div(names["sizes"], axis=0) * rng.choice([1, 9])),
        "ways": exact(names["ways"].value * rng.integers(0, 2)),
        "counts": names["counts"] * rng.integers(0, 2),
        "counts2": names["counts2"] * rng.integers(0, 2),
        "written": moved(names["written"], rng.integers(0, 2)),
        "sizes": names["sizes"] + rng.integers(0, 2),
        "candidates": names["candidates"] + rng.integers(0, 2),
        "agreeing": names["agreeing"] * rng.integers(0, 2),
        "matched": moved(names["matched"], rng.choice([0, 40]) * np.array([1, 0])),
        **{k: exact(kappa) for k in ("two", "three", "three_linear", "three_quadratic")},
        "three_ac1": exact(1 - kappa),
        "across": ["GPT-4o"][: rng.integers(0, 2)],
        "within_paper": ["GPT-4o"][: rng.integers(0, 2)],
        "right_by_both": [34][: rng.integers(0, 2)],
        "p_twice": p,
        "p": lambda *which: exact(p),
    }


def of_files(rng):
    """What released files may say, so that each claim may hold or not."""

    def either(*which):
        return which[rng.integers(len(which))]

    def frame(rows, columns, low):
        return pd.DataFrame(rng.uniform(low, 1, (len(rows), len(columns))), rows, columns)

    def some(n=3):
        return pd.Series(rng.random(n) < either(0.5, 1))

    text, p = either([], ["GPT-4o"]), float(either(2e-5, 4e-3, 0.5))
    cross = frame(WRITERS, MODELS, 0)
    cross.loc["Gemini-1.5-Pro"] -= either(0, 2)
    numbers = {
        "myths": (994, 993),
        "starting_offered": (2, 1),
        "different_myths": (993, 994),
        "early_last": (122, 123),
        "later_first": (123,),
        "offered": (874, 873),
        "first": (76, 75),
        "near": (585, 584),
        "released": (585, 584),
        "plain": (150, 151),
        "plain_offered": (150,),
        "in_both": (0, 1),
        "repeated": (0, 1),
        "empty": (0, 1),
        "p_kept": (0.5, 0.01),
    }
    return {
        **{k: either(*of) for k, of in numbers.items()},
        "types": exact(either(126, 127)),
        "starting": pd.Series({"valid": 2, "invalid": either(3, 4)}),
        "by_generator": pd.Series([266, either(266, 259)]),
        "parts": pd.Series([0.2, either(0, 0.5)]),
        "kept_share": pd.Series(rng.permutation([0.5, 0.6, 0.7]), WRITERS),
        "dropped_kept": pd.Series([False, either(True, False)]),
        "candidates_generated": some(),
        "taken_first": Comparison(*2 * [some()]),
        "file_off": text,
        "lacking": text,
        "moved": text,
        **{k: Verdict(either(True, False), "") for k in ("raw_6a", "raw_6b", "raw_7")},
        "failed_together": Verdict(either(True, False), ""),
        "raw_pcr": exact(40 * some().astype(float)),
        "raw_pcr_high": exact(40 * some().astype(float)),
        "raw_cross": exact(cross),
        "raw_gap": exact(some() - 0.5),
        "raw_p": lambda *which: exact(p),
    }


def of_cures(names, rng):
    """Another Table 1: mitigations that cost as much as the text says, or anything."""
    plain = names["uncured"].value * 0 + rng.uniform(20, 90, (3, 4))
    cured, in_text = plain * rng.uniform(0.8, 1.2), names["rate_in_text"].value
    if rng.random() < 0.5:
        cured[names["on_exams"]] = plain[names["on_exams"]] * [0.95, 0.85]
        cured["Cancer-Myth-NFP"] = 72.0
    cells = {
        "uncured": plain,
        "cured": cured,
        "rate_in_text": in_text[::-1].set_axis(in_text.index),
    }
    return {name: exact(x) for name, x in cells.items()}


def test_each_interpretation_turns_for_some_other_numbers(fixed):
    names = {**fixed, **of_files(np.random.default_rng(0))}
    assert len(decided("cancer_myth", names)) > 100

    def other(rng):
        return of_print(names, rng) | of_cures(names, rng) | of_files(rng)

    assert not unturned("cancer_myth", names, other, 150)
