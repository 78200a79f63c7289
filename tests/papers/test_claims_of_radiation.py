"""Radiation's claims: no verdict is refuted by numbers that round to the printed ones."""

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.radiation import claims as radiation
from bedside.papers.radiation.printed import printed_tables
from bedside.read import claims
from bedside.stats.rounded import Rounded

SIZES = pd.Series([20, 30])


@pytest.fixture
def fixed(run_of):
    run = run_of("radiation", "02_free_form")
    return printed_tables(run), radiation.names(run)


def decided(names, **more):
    """{(claim, interpretation): holds}."""
    made = claims.decided("radiation", {**names, **more})
    return {(id, name): way[3] for id, ways in made.items() for name, way in ways.items()}


def of_rounding(id, name):
    """Whether a test is about what is printed, or about what rounding allows."""
    test = claims.ways(claims.load("radiation")[id])[name].test
    return ".value" in test or "possible(" in test


def of(tables):
    exact = {n: Rounded(t, t, t) for n, t in tables.items()}
    return radiation.of_tables(exact, SIZES)


def drawn(T, rng, kind):
    """Tables that round to the printed ones: one number at an end, all at ends, or anywhere."""
    made = {}
    for n, t in T.items():
        off = rng.uniform(-1, 1, t.value.shape)
        made[n] = t.value + 0.004999 * (np.sign(off) if kind != "anywhere" else off)
    if kind == "one":
        n = rng.choice(list(T))
        row, column = (rng.integers(k) for k in T[n].value.shape)
        made, one = {k: t.value.copy() for k, t in T.items()}, made[n].iloc[row, column]
        made[n].iloc[row, column] = one
    return made


@pytest.mark.parametrize("draws", [24, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(fixed, draws):
    T, names = fixed
    said, rng = decided(names), np.random.default_rng(draws)
    seen = {key: set() for key in said}
    for k in range(draws):
        kind = ("one", "ends", "anywhere")[k % 3]
        for key, holds in decided(names, **of(drawn(T, rng, kind))).items():
            seen[key].add(holds)
    assert len(said) > 50
    for key, holds in said.items():
        assert holds is None or of_rounding(*key) or seen[key] == {holds}, key


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
        made[n] = found
    return made


def ends_of(tables, rng):
    """Intervals around other tables, wide or narrow."""
    off = rng.choice([0.001, 0.1])
    return {
        f"E{n}": {c: pd.DataFrame({"low": t[c] - off, "high": t[c] + off}) for c in t}
        for n, t in tables.items()
    }


def test_each_interpretation_turns_for_some_other_numbers(fixed):
    T, names = fixed
    said, rng, text = decided(names), np.random.default_rng(1), names["text"]
    left = {*said}
    for _ in range(40):
        other, by = world(T, rng), int(rng.choice([-27, -1, 1, 40]))
        now = decided(
            names,
            **of(other),
            **ends_of(other, rng),
            text=lambda *place, by=by: min(100, text(*place) + by),
            fields_named=8,
            printed=names["printed"].assign(value=rng.random()),
            off_middle=names["off_middle"] * rng.choice([0, 1]),
        )
        left -= {k for k, holds in now.items() if holds is not said[k]}
        if not left:
            break
    assert not left
