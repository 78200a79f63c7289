"""Radiation's claims: no verdict is refuted by numbers that round to the printed ones."""

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.radiation import claims as radiation
from bedside.papers.radiation.printed import printed_tables
from bedside.stats.rounded import exact
from claim_worlds import decided, drawn, refuted, unturned

SIZES = pd.Series([20, 30])


@pytest.fixture
def fixed(run_of):
    run = run_of("radiation", "02_free_form")
    return printed_tables(run), radiation.names(run)


def of(tables):
    return radiation.of_tables({n: exact(t) for n, t in tables.items()}, SIZES)


@pytest.mark.parametrize("draws", [3, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(fixed, draws):
    T, names = fixed

    def draw(rng, kind):
        return radiation.of_tables(drawn(T, rng, kind), SIZES)

    assert len(decided("radiation", names)) > 40
    assert not refuted("radiation", names, draw, draws)


def world(T, rng):
    """Other tables: columns far from each other, models close or not, some better than others."""
    made = {}
    for n, t in T.items():
        low, high = (-0.4, 0.4) if n == 2 else (0.05, 0.75)
        columns = rng.uniform(low, high, t.value.shape[1])
        found = t.value * 0 + columns + rng.choice([0.01, 0.2]) * rng.random(t.value.shape)
        found.loc[radiation.STRONG] += rng.choice([0, 0.2])
        if n == 2 and rng.random() < 0.5:
            found["Recall"] = 0.03 * rng.choice([-1, 1], len(found))
        if n != 2 and "F1" in found:
            found["F1"] = stats.harmonic(found["Precision"], found["Recall"]) + rng.choice([0, 0.1])
        if n in (5, 7) and rng.random() < 0.3:
            found += 1 - found.min()  # whole overlap, nothing missed
        made[n] = found
    return made


def test_each_interpretation_turns_for_some_other_numbers(fixed):
    T, names = fixed
    text = names["text"]

    def other(rng):
        tables, by = world(T, rng), int(rng.choice([-50, -27, -1, 1, 40]))
        return {
            **of(tables),
            "text": lambda *place: min(100, abs(text(*place) + by)),
            "fields_named": 8,
            "printed": names["printed"].assign(value=rng.random()),
            "off_middle": names["off_middle"] * rng.choice([0, 1]),
        }

    assert not unturned("radiation", names, other, 40)
