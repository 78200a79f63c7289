"""Random consultations of MedDialBench, and what rows of tables hold, for tests that count them."""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bedside.papers.meddialbench import design as designs

NAN = float("nan")
PLAN = designs.read(SimpleNamespace(reads=lambda name, path: None))
PAIRS = {c: levels for c, levels in PLAN.configurations().items() if len(levels) > 1}
DOCTORS, CASES = ["a", "b", "rules"], [f"case-{k}" for k in range(24)]


@functools.cache
def world(seed=1):
    """Random consultations of three doctors; some lack verdicts, and one cell is gone."""
    rng = np.random.default_rng(seed)
    keys = itertools.product(DOCTORS, CASES, PLAN.configurations().items())
    keys = [k for k in keys if seed == 0 or (k[0], k[2][0]) != ("b", f"C{seed}")]
    made = pd.DataFrame(
        [(f"{c} {name} {m}", m, c, name, levels) for m, c, (name, levels) in keys],
        columns=["item", "model", "case", "configuration", "levels"],
    )
    drawn = {
        "correct": [0, 1, 1, 1, 1, NAN] if seed % 2 else [0, 0, 1, 1, 1, NAN],
        "misled": [0, 1, 1, NAN],
        "coverage": [0, 0.25, 0.5, 1, NAN],
        "turns": [1, 3, 8, NAN],
    }
    made = made.assign(**{k: rng.choice(v, len(made)) for k, v in drawn.items()}, unit=made["case"])
    made["misled"] = made["misled"].where(made["correct"] != 1, 0).where(made["correct"].notna())
    return made.sample(frac=1, random_state=seed, ignore_index=True)


def by(done, column="correct"):
    """{(doctor, configuration): {case: value}}, without what is unscored."""
    found = {(m, c): {} for m, c in zip(done["model"], done["configuration"])}
    for r in done.dropna(subset=[column]).itertuples():
        found[r.model, r.configuration][r.case] = getattr(r, column)
    return found


def rows(made):
    """{(row, column): (value, n, unscored)} of this run's rows, whose intervals hold the value."""
    mine = made[made["source"] == "run"] if "source" in made else made
    mine = mine.astype({c: float for c in ("value", "low", "high", "n", "unscored")})
    known = mine.dropna(subset=["value", "low", "high"])
    assert (known["low"] - 1e-9 <= known["value"]).all() and (
        known["value"] <= known["high"] + 1e-9
    ).all()
    assert not mine.duplicated(["row", "column"]).any()
    keys = zip(mine["row"], mine["column"])
    return dict(zip(keys, zip(mine["value"], mine["n"], mine["unscored"].fillna(0))))


def counted(values, scale=1.0):
    """(mean, n, unscored) of a list of numbers, as a row has them."""
    known = [v for v in values if v == v]
    return scale * np.mean(known) if known else NAN, len(known), len(values) - len(known)


def same(found, expected):
    assert found.keys() == expected.keys()
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers, nan_ok=True), key
