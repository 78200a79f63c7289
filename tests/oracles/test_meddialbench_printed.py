"""What MedDialBench's notebook 06 computes, against brute force and simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import claims, overlaps, reruns
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench.design import BASELINE
from bedside.papers.meddialbench.printed import (
    MODELS,
    SCALES,
    SLOPES,
    N,
    beyond,
    combinations,
    counts,
    excess,
    least_discordant,
    marks,
    mean_over_expected,
)
from bedside.read import paths
from bedside.stats.rounded import exact


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "06_robustness")


@pytest.fixture
def pairs(run):
    return combinations(designs.read(run))


# ---- which cases can have changed sides


@pytest.mark.parametrize("x, y, n", [(7, 3, 9), (9, 1, 12), (5, 5, 10)])
def test_overlaps_are_those_of_all_pairs_of_sets(x, y, n):
    first, seen = set(range(x)), {True: set(), False: set()}
    for second in itertools.combinations(range(n), y):
        both = len(first & set(second))
        a = np.arange(n) < x
        b = np.isin(np.arange(n), second)
        seen[bool(stats.mcnemar(a, b) < 0.05)].add(both)
    every = seen[True] | seen[False]
    assert overlaps.right_in_both(x, y, n=n) == (min(every), max(every))
    for mark, found in seen.items():
        if found:
            assert overlaps.right_in_both(x, y, mark, n) == (min(found), max(found))
        else:
            with pytest.raises(ValueError, match="no overlap"):
                overlaps.right_in_both(x, y, mark, n)


def tables_of_four(n, right, shared):
    """Eligible cases and failing ones of every whole table, by drawing up all four sets of n."""
    base, found = range(right[0]), {}
    three = (itertools.combinations(range(n), k) for k in right[1:])
    for a, b, both in itertools.product(*map(list, three)):
        kept = [len({*base} & {*x}) for x in (a, b, both)]
        if all(low <= k <= high for k, (low, high) in zip(kept, shared)):
            able = {*base} & {*a} & {*b}
            found.setdefault(len(able), set()).add(len(able - {*both}))
    return found


@pytest.mark.parametrize(
    "n, right, shared",
    [
        (6, (5, 4, 3, 2), [(0, 6)] * 3),
        (6, (5, 4, 4, 3), [(3, 3), (4, 4), (2, 3)]),
        (7, (4, 3, 4, 2), [(1, 2), (2, 4), (0, 1)]),
    ],
)
def test_eligible_cases_are_those_of_all_tables(n, right, shared):
    found = tables_of_four(n, right, shared)
    made = overlaps.failing(right, tuple(shared), n)
    assert list(made["eligible"]) == sorted(found)
    for r in made.itertuples():
        assert (r.fewest, r.most) == (min(found[r.eligible]), max(found[r.eligible]))
        assert found[r.eligible] == set(range(r.fewest, r.most + 1))  # `pooled` rests on this


def test_models_are_pooled_over_all_their_tables():
    parts = [
        pd.DataFrame({"eligible": [1, 3], "fewest": [0, 1], "most": [1, 2]}),
        pd.DataFrame({"eligible": [2, 4], "fewest": [1, 0], "most": [2, 3]}),
    ]
    sums = {}
    for a, b in itertools.product(*(part.itertuples() for part in parts)):
        reach = range(a.fewest + b.fewest, a.most + b.most + 1)
        sums.setdefault(a.eligible + b.eligible, set()).update(reach)
    made = overlaps.pooled(parts)
    assert {r.eligible: (r.fewest, r.most) for r in made.itertuples()} == {
        e: (min(found), max(found)) for e, found in sums.items()
    }
    every = [(f / e, e) for e, found in sums.items() for f in found]
    for low, high in ((0, 1), (0.3, 0.5), (0.2, 0.34)):
        fit = [(s, e) for s, e in every if low <= s and (s < high or high == 1)]
        got = overlaps.within(made, low, high)
        assert (got["low"], got["high"]) == pytest.approx((min(fit)[0], max(fit)[0]))
        assert (got["fewest"], got["most"]) == (min(e for _, e in fit), max(e for _, e in fit))
    assert np.isnan(overlaps.within(made, 0.99, 0.995)["low"])


def test_committed_overlaps_are_made_of_the_printed_counts():
    """A row of data/computed, made again."""
    kept = pd.read_csv(paths.COMPUTED / "meddialbench" / "pairs.csv")
    right = [int(counts().at[c, "Gemini"]) for c in (BASELINE, "withholding", "dominant", "C4")]
    both = tuple(overlaps.right_in_both(right[0], y) for y in right[1:])
    part = kept.query("pair == 'C4' and model == 'Gemini' and basis == 'margins'")
    ends = part.iloc[[0, -1]]
    made = overlaps.failing(tuple(right), both)
    columns = ["eligible", "fewest", "most"]
    assert made.iloc[[0, -1]].to_numpy().tolist() == ends[columns].to_numpy().tolist()
    assert len(made) == len(part)
    assert set(kept["model"]) == set(MODELS)


# ---- interaction


def test_slopes_are_the_derivatives_of_scales():
    p, h = np.linspace(0.2, 0.9, 8), 1e-6
    for name, harm in SCALES.items():
        assert SLOPES[name](p) == pytest.approx((harm(p + h) - harm(p - h)) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("scale", SCALES)
def test_the_error_lies_between_its_ends_whatever_cases_share(scale, pairs):
    """Cases are shared at random and in nested order; drawn again, the mean varies as said."""
    rng, pair = np.random.default_rng(5), "C2"
    cells = [pair, BASELINE, *pairs[pair]]
    right = counts().loc[cells]
    _, least, most = beyond(scale, pair, pairs[pair])
    sign = np.array([1, 1, -1, -1])[:, None]
    for shared in ("nested", "at random"):
        rows = [
            np.arange(N) < k if shared == "nested" else rng.permutation(np.arange(N) < k)
            for k in right.to_numpy().ravel()
        ]
        verdicts = np.array(rows).reshape(len(cells), len(MODELS), N)
        weights = rng.multinomial(N, np.full(N, 1 / N), 4000) / N
        drawn = np.clip(np.einsum("cmn,dn->dcm", verdicts, weights), 0.5 / N, 1 - 0.5 / N)
        spread = (sign * SCALES[scale](drawn)).sum(axis=1).mean(axis=1).std()
        assert 0.85 * least < spread < 1.15 * most, shared
        if shared == "nested":
            assert spread == pytest.approx(least, rel=0.15)


def test_a_ratio_has_the_widest_interval_of_its_logarithm(pairs):
    """For one model; a mean of several varies no more than its parts."""
    for c, levels in pairs.items():
        each = [mean_over_expected(c, levels, [m]) for m in MODELS]
        for m, found in zip(MODELS, each):
            value, _, most = beyond("success multiplied", c, levels, counts()[[m]] / N)
            ends = np.exp([-value, -value - 1.96 * most, -value + 1.96 * most])
            assert found[:3] == pytest.approx(ends)
        mean = mean_over_expected(c, levels, MODELS)
        assert mean.value == pytest.approx(np.mean([i.value for i in each]))
        assert min(i.low for i in each) <= mean.low and mean.high <= max(i.high for i in each)


# ---- selection


@pytest.mark.parametrize("alike", [True, False])
def test_accuracy_again_lies_between_the_ends(alike):
    """Simulated: cases are selected by five dialogues, and the kept ones run again."""
    rng, n, models = np.random.default_rng(8), 200_000, 5
    chance = rng.beta(1.2, 0.7, (n, 1 if alike else models)) * np.ones((1, models))
    first, second = (rng.random((n, models)) < chance for _ in range(2))
    kept = first.any(axis=1)
    low, high = reruns.expected_again(kept.mean(), first[kept].mean())
    again = second[kept].mean()
    assert low - 0.002 < again < high + 0.002
    if alike:
        assert low < again - 0.003
        assert reruns.regression(kept.mean(), first[kept].mean()) == pytest.approx(again, abs=0.004)


def test_the_least_accuracy_is_reached():
    """A part of the cases is always right, and the others have one chance t for every model."""
    t, sure = 0.14, 0.55
    kept = sure + (1 - sure) * (1 - (1 - t) ** 5)
    accuracy = (sure + (1 - sure) * t) / kept
    again = (sure + (1 - sure) * t * (1 - (1 - t) ** 5)) / kept
    low, high = reruns.expected_again(kept, accuracy)
    assert low == pytest.approx(again, abs=2e-4) and high > again
    with pytest.raises(ValueError, match="no distribution"):
        reruns.expected_again(0.2, 0.1)  # each kept case has at least one of five right


# ---- printed numbers


def test_the_fewest_and_most_pairs_that_can_differ_are_those_of_all_overlaps():
    for x, y in np.random.default_rng(1).integers(0, N + 1, (60, 2)).tolist():
        both = range(max(0, x + y - N), min(x, y) + 1)
        differ = [x + y - 2 * k for k in both]
        assert least_discordant(x, y) == (min(differ), max(differ))


def test_a_mark_is_possible_if_some_overlap_gives_it(run, monkeypatch):
    made = marks(run)
    assert made["possible"].all() and (made["low"] <= made["high"]).all()
    table = run.published("Table 9 marks")
    # Gemini goes from 77 to 79 with incoherent patients: at best 0 against 2 pairs, p = 1/2; and
    # from 77 to 51 with fabricating ones: at worst 34 pairs lost and 8 won
    wrong = (table["row"] == "Gemini") & table["column"].isin(["incoherent", "fabricating"])
    table.loc[wrong, "value"] = [1, 0]
    monkeypatch.setattr(run, "published", lambda name: table)
    other = marks(run)
    off = other[~other["possible"]]
    assert off[["configuration", "model", "starred"]].values.tolist() == [
        ["incoherent", "Gemini", True],
        ["fabricating", "Gemini", False],
    ]
    worst = stats.mcnemar_counts(34, 8)
    assert (off["low"].iloc[0], off["high"].iloc[1]) == (0.5, pytest.approx(worst))


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
def test_an_interaction_is_0_where_effects_add_up_on_its_scale(scale, right):
    names = ["baseline", "x", "y", "both", "less"]
    made = pd.DataFrame({"m": [*right, right[-1] - 5]}, names) / N
    assert excess(scale, "both", ("x", "y"), made).item() == pytest.approx(0)
    assert excess(scale, "less", ("x", "y"), made).item() > 0  # more harm than the parts foretell


def mean_ratio(turns, covered, longest):
    """The ends for one model whose means have no rounding."""
    x, y = (exact(pd.Series({"m": float(v)})) for v in (turns, covered))
    made = claims.mean_ratio(x, y, longest)
    return made.low["m"], made.high["m"]


def test_a_mean_of_ratios_lies_between_its_ends():
    # half have one turn, half two, and half cover all: the short ones (1 / 1) or the long (1 / 2)
    assert mean_ratio(1.5, 0.5, 2) == pytest.approx((0.25, 0.5))
    rng = np.random.default_rng(2)
    for _ in range(20):
        turns, covered = rng.integers(1, 21, 400), rng.random(400)
        low, high = mean_ratio(turns.mean(), covered.mean(), 20)
        assert low <= (covered / turns).mean() <= high
