"""A printed number stands for all that round to it; what follows from some isn't said of all."""

import numpy as np
import pandas as pd
import pytest

from bedside.stats.rounded import (
    Rounded,
    Verdict,
    at_least,
    every,
    most,
    rank_correlation,
    size,
    some,
    verdict,
)

MODELS = ["a", "b", "c", "d"]
FORMULAS = {
    "sum": lambda x, y: x + y - 0.3,
    "product": lambda x, y: (x - 0.5) * (y - 0.4),
    "ratio": lambda x, y: (x - 0.5) / (y + 1),
    "of a constant": lambda x, y: 1 - (1 - x) / (2 - y),
    "size": lambda x, y: size(x - y) if isinstance(x, Rounded) else abs(x - y),
    "mean": lambda x, y: x.mean() - y.median(),
    "ends": lambda x, y: x.max() - y.drop("a").min(),
    "minus": lambda x, y: -x - 2 * y,
}


def table(*values):
    return Rounded.printed(pd.Series(values, index=MODELS[: len(values)]), 2)


@pytest.mark.parametrize("name", FORMULAS)
def test_no_draw_within_the_rounding_lies_outside_the_ends(name):
    rng, formula, reached = np.random.default_rng(0), FORMULAS[name], []
    for _ in range(12):
        x, y = (table(*rng.random(4).round(2)) for _ in "xy")
        found = formula(x, y)
        low, high = np.asarray(found.low), np.asarray(found.high)
        assert np.all(low <= high)
        for k in range(20):
            off = rng.uniform(-1, 1, (2, 4)) if k % 2 else rng.choice([-1, 1], (2, 4))
            drawn = np.asarray(formula(x.value + 0.005 * off[0], y.value + 0.005 * off[1]))
            assert np.all((low - 1e-9 <= drawn) & (drawn <= high + 1e-9))
            reached.append(np.max((drawn - low) / (high - low + 1e-12)))
    assert max(reached) > 0.99  # the ends are no wider than need be


def test_ranks_of_what_is_printed_as_equal_may_have_any_order():
    x, y = table(0.4, 0.5, 0.5, 0.7), table(0.1, 0.3, 0.3, 0.2)
    found, rng = rank_correlation(x, y), np.random.default_rng(1)
    drawn = []
    for _ in range(300):
        off = rng.uniform(-0.0049, 0.0049, (2, 4))
        drawn.append((x.value + off[0]).corr(y.value + off[1], method="spearman"))
    assert found.low == pytest.approx(min(drawn)) and found.high == pytest.approx(max(drawn))
    assert rank_correlation(table(0.1, 0.2, 0.3), table(0.3, 0.2, 0.1)).high == pytest.approx(-1)
    with pytest.raises(ValueError, match="equal"):
        rank_correlation(Rounded.printed(pd.Series(np.ones(20)), 2), Rounded.printed(X20, 2))


X20 = pd.Series(np.arange(20.0))


def test_a_comparison_is_yes_no_or_open():
    x = table(0.81, 0.50, 0.25)
    for found, holds in (
        (every(x > 0.2), True),
        (every(x >= 0.245), True),
        (every(x > 0.25), None),
        (every(x < 0.8), False),
        (most(x > 0.4), True),
        (most(x > 0.5), None),
        (some(x > 0.814), None),
        (some(x > 0.82), False),
        (at_least(2, x <= 0.5), None),
        (verdict(x["a"] - x["b"] > 0.29), True),
        (verdict(0.31 < x["a"] - x["b"]), None),
        (every((x > 0.2) & (x < 0.6)), False),
        (every((x > 0.6) | (x < 0.6)), True),
        (every(~(x > 0.9)), True),
        (every(x > 0.2) & most(x > 0.5), None),
        (every(x < 0.8) | some(x > 0.8), True),
        (~every(x < 0.8), True),
        (every(pd.Series([True, False])), False),
        (most(pd.Series([True, True, False, False, False])), False),
    ):
        assert found.holds is holds, found
    assert every(x > 0.4).told == "2 of 3, not c (0.25 to 0.81)"
    assert most(x > 0.5).told == "1 to 2 of 3, not surely b, c (0.25 to 0.81)"


@pytest.mark.parametrize(
    "slip",
    [
        lambda x: every(x > 0) and every(x < 1),
        lambda x: every(x > 0) or every(x < 1),
        lambda x: not every(x > 0),
        lambda x: bool(x["a"] > 0.5),
        lambda x: 0.6 < x["a"] < 0.9,
        lambda x: x == 0.81,
        lambda x: x != 0.81,
        lambda x: bool(x),
        lambda x: x in [0.81],
        lambda x: x.std(),
        lambda x: x.idxmax(),
        lambda x: x.abs(),
        lambda x: 1 / (x - 0.5),
        lambda x: every(x),
        lambda x: every(0.3),
        lambda x: verdict(x > 0.5),
        lambda x: verdict(None),
        lambda x: every(x[[]] > 0),
        lambda x: table(0.1, np.nan),
        lambda x: x + table(0.1, 0.2),
    ],
)
def test_what_rounding_can_t_carry_is_an_error_and_no_yes(slip):
    with pytest.raises((TypeError, ValueError, AttributeError)):
        slip(table(0.81, 0.50, 0.25))


def test_a_verdict_keeps_what_was_found():
    both = Verdict(True, "one") & Verdict(None, "two")
    assert (both.holds, both.told) == (None, "one; two")
