"""Own studies whose truth is known, from a file to tables: each number against arithmetic by hand.

A letter stands for what becomes of a question: what the model answers, what the judge says of it,
and what people say. The steps are those of `make study`; its notebook runs in this process.
"""

import asyncio
import json
import re
from itertools import product

import known_lab
import numpy as np
import pandas as pd
import pytest
from known_lab import ONE, PEOPLE, SAYS
from scipy.special import ndtri, stdtrit
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

import matrix
from bedside import __main__ as main
from bedside.read import paths
from conftest import completion

lab = known_lab.lab  # a fixture


def score(p, n, z):
    """The score interval of a share p of n, in percent (Wilson 1927)."""
    half = z * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    middle = p + z**2 / (2 * n)
    return [100 * (middle + s * half) / (1 + z**2 / n) for s in (-1, 1)]


def limits(hits, n):
    """Limits of a share of n replies that are units of their own, in percent: none below ten."""
    return score(hits / n, n, stdtrit(n - 1, 0.975)) if n >= 10 else [np.nan] * 2


def agreement(cells):
    """Limits of kappa: Student's on Fisher's z, with and without two answers of even ratings."""

    def kappa(table):
        n = table.sum()
        chance = (table.sum(axis=0) * table.sum(axis=1)).sum() / n**2
        return (np.trace(table) / n - chance) / (1 - chance)

    kinds = np.eye(4).reshape(4, 2, 2)  # one answer in each cell
    single, ends = [x for x, n in zip(kinds, np.ravel(cells)) for _ in range(n)], []
    t = stdtrit(len(single) - 1, 0.975)
    for rated in (single, [*single, np.eye(2) / 2, (1 - np.eye(2)) / 2]):
        whole, n = sum(rated), len(rated)
        near, without = kappa(whole), np.array([kappa(whole - one) for one in rated])
        error = ((n - 1) / n * ((without - without.mean()) ** 2).sum()) ** 0.5
        half = t * error / (1 - near**2)
        ends.append([np.tanh(np.arctanh(near) + s * half) for s in (-1, 1)])
    return np.min(ends), np.max(ends)


def least(n, psi):
    """The smallest difference, in points, that n pairs find of which psi differ (Connor 1987)."""
    z, power = ndtri([0.975, 0.8])
    root = z * n**0.5 + power * (n + power**2 - z**2) ** 0.5
    return 100 * psi**0.5 * root / (n + power**2)


# ---- scores, tests and costs


RIGHT = {"a": "R" * 12, "b": "R" * 12}
MIXED = {"a": "R" * 14 + "W" * 6, "b": "R" * 8 + "W" * 6 + "RR" + "W" * 4, "c": "W" * 20}
FAILING = {"a": "R" * 14 + "W" * 7, "d": "R" * 10 + "W" * 4 + "tcfxuve"}
SILENCE = {"a": "RRRWWW", "e": "nbfnbf"}
# An unknown price is the most of a call: "Is it so in number 14?" has 22 bytes, a template 100 and
# a message 12, so 134 × $100; 2,048 tokens × $1,000.
MOST = 0.0134 + 2.048
DESIGNS = {  # truth, {model: (right, with a verdict, unscored)}, pairs, USD
    # pairs: {(one, other): (only one right, only the other right, both came)}
    "all right": (RIGHT, {"a": (12, 12, 0), "b": (12, 12, 0)}, {"ab": (0, 0, 12)}, 24 * 0.026),
    # a has 0 to 13; b has 0 to 7, 14 and 15: 6 of a alone, 2 of b alone
    "mixed": (
        MIXED,
        {"a": (14, 20, 0), "b": (10, 20, 0), "c": (0, 20, 0)},
        {"ab": (6, 2, 20), "ac": (14, 0, 20), "bc": (10, 0, 20)},
        60 * 0.026,
    ),
    # d: 10 right, 4 wrong, cut and right; late, too long, filtered, broken off, two verdicts that
    # are none. What 6 tries of the late one cost nobody knows, and the one too long was refused: 0.
    # 18 answers of d came, 6 tries broke off, and 17 answers were judged.
    "failing": (
        FAILING,
        {"a": (14, 21, 0), "d": (11, 15, 6)},
        {"ad": (4, 1, 15)},
        21 * 0.026 + 24 * 0.006 + 17 * 0.02 + 6 * MOST,
    ),
    # no answer of e holds anything to judge, and all were paid
    "silent": (SILENCE, {"a": (3, 6, 0), "e": (0, 0, 6)}, {"ae": (0, 0, 0)}, 12 * 0.006 + 6 * 0.02),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_scores_tests_and_costs(lab, design):
    truth, shares, pairs, usd = DESIGNS[design]
    told = lab.study(truth)
    found, size = lab.table("table_scores"), len(truth["a"])
    for model, (right, n, lost) in shares.items():
        mine = found.loc[(model, "all: right, %")]
        assert (mine["n"], mine["unscored"]) == (n, lost)
        if n:
            expected = pytest.approx([100 * right / n, *limits(right, n)], rel=1e-8, nan_ok=True)
            assert mine[["value", "low", "high"]].tolist() == expected
        else:
            assert mine[["value", "low", "high"]].isna().all()
        ends = [100 * right / size, 100 * (right + lost) / size] if lost else [float("nan")] * 2
        assert mine[["worst", "best"]].tolist() == pytest.approx(ends, nan_ok=True)
        groups = found.loc[[(model, f"{g}: right, %") for g in ("even", "odd")]]
        assert groups["n"].sum() == n and groups["unscored"].sum() == lost
        assert (groups["value"] * groups["n"]).sum() == pytest.approx(100 * right)
    paired(lab.table("table_pairs"), pairs)
    assert f", ${usd:.2f}" in told and "unknown" not in told.rpartition(", $")[2]
    most = sum(map(float, re.findall(r"upper bound \$([\d.]+)", told)))
    assert f"{2 * len(truth) * size} calls in all" in told and most > usd  # as planned


def paired(found, pairs):
    """Check paired tests; pairs: as in DESIGNS."""
    counts = [c for c in pairs.values() if c[2]]
    p = [mcnemar([[0, one], [other, 0]], exact=True).pvalue for one, other, _ in counts]
    holm = iter(zip(p, multipletests(p, method="holm")[1])) if p else iter(())
    for (first, second), (one, other, n) in pairs.items():
        mine = found.loc[f"{first} vs {second}"]
        assert set(mine["n"]) == {n}
        value = mine["value"].to_dict()
        if not n:
            assert mine["value"].isna().all()
            continue
        assert value.pop("difference, points") == pytest.approx(100 * (one - other) / n)
        assert (value.pop("McNemar p"), value.pop("McNemar p, Holm")) == pytest.approx(next(holm))
        expected = least(n, (one + other) / n)
        if 0 < expected <= 100 * (one + other) / n:  # else as many pairs would have to differ more
            assert value.pop("detectable difference, points") == pytest.approx(expected)
        assert value == {}


def test_what_repeats_in_units(lab):
    """12 units of 2 questions: e is right on 8 units, f on none; 11 replies' worth of knowledge.

    p = 16/24. A unit's sum is off by 2 - 2p = 2/3 (8 units) or 2p = 4/3 (4): squares add up to
    10.667, times 12/11 by 24 is 0.4848. Over p (1 - p) = 0.2222 the design effect is 2.1818; 24 by
    it is 11. Of the units 8 differ, all one way: p is 2 / 2^8.
    """
    lab.study({"e": "R" * 16 + "W" * 8, "f": "W" * 24}, unit=2)
    found = lab.table("table_scores").loc[("e", "all: right, %")]
    assert (found["value"], found["n"]) == (pytest.approx(200 / 3), 24)
    expected = score(2 / 3, 11, stdtrit(11, 0.975))
    assert found[["low", "high"]].tolist() == pytest.approx(expected)
    none = lab.table("table_scores").loc[("f", "all: right, %")]  # 12 units, not 24 replies
    assert none["high"] == pytest.approx(score(0, 12, stdtrit(11, 0.975))[1])
    pair = lab.table("table_pairs").loc["e vs f"]["value"]
    assert pair["difference, points"] == pytest.approx(200 / 3)
    p = pair[["permutation of units p", "permutation of units p, Holm"]].tolist()
    assert p == [1 / 128] * 2
    # 16 of 24 pairs differ; the sums of units, squared, are 8 × 4: 24 × 16/32 = 12 pairs' worth
    assert pair["detectable difference, points"] == pytest.approx(least(12, 2 / 3))


# ---- the judge


def test_a_judge_s_card_and_the_corrected_rate(lab):
    """Of 20 right answers 15 are called right, of 20 wrong ones 18 wrong; all 40 are labelled.

    Accuracy 33/40; by chance (17 × 20 + 23 × 20) / 1600 = 0.5, so kappa is 0.325 / 0.5 = 0.65. The
    judge says 17/40; corrected (0.425 + 0.9 - 1) / (0.75 + 0.9 - 1) = 0.5, which people say.
    """
    truth = {"a": "R" * 15 + "N" * 5 + "P" * 2 + "W" * 18}
    lab.study(truth)
    lab.label()
    told = lab.study(truth)
    card, found = lab.card(), lab.table("table_corrected")
    assert (card["n"], card["unscored"], card["confusion"]) == (40, 0, [[18, 2], [5, 15]])
    for name, hits, n in (("exact", 33, 40), ("sensitivity", 15, 20), ("specificity", 18, 20)):
        expected = [hits / n, *(x / 100 for x in limits(hits, n)), n]
        assert list(card[name].values()) == pytest.approx(expected)
    from sklearn.metrics import cohen_kappa_score  # takes a second

    labels = [int(PEOPLE[x]) for x in truth["a"]]
    said = [int(SAYS[x] == ONE) for x in truth["a"]]
    kappa = card["kappa"]
    assert kappa["value"] == pytest.approx(0.65) == cohen_kappa_score(labels, said)
    assert (kappa["low"], kappa["high"]) == pytest.approx(agreement(card["confusion"]))
    assert found.loc[("a", "judge says, %"), "value"] == 42.5
    right = found.loc[("a", "corrected, %")]
    assert right["value"] == pytest.approx(50) and right["n"] == 40
    # a limit with t for z is that of (z / t)² as many answers
    p, n = np.array([17 / 40, 15 / 20, 18 / 20]), np.array([40, 20, 20])
    worth = n * (ndtri(0.975) / stdtrit(n - 1, 0.975)) ** 2
    shapes = [(x * worth + 0.5)[:, None] for x in (p, 1 - p)]
    a, b, c = np.random.default_rng(1).beta(*shapes, (3, 99_999))
    expected = 100 * np.quantile(np.clip((a + c - 1) / (b + c - 1), 0, 1), [0.025, 0.975])
    assert right[["low", "high"]].tolist() == pytest.approx(expected.tolist(), abs=1)
    assert f"{40 * 0.026:.2f}" in told  # labelled answers are not judged, or paid, twice


def test_a_limit_leaves_the_judge_s_card(lab):
    """Labels of a question beyond LIMIT keep its unit: 10 units of 4, the judge's errors in one.

    36 of 40 are right. A unit's 4 are off by 0.4 (9 units) or 3.6: squares add up to 14.4, times
    10/9 by 40 is 0.4; over 0.09 the design effect is 4.444: 9 answers' worth of knowledge.
    """
    truth = {"a": "R" * 20 + "W" * 16 + "P" * 4}
    lab.study(truth, unit=4)
    lab.label()
    for more in ({}, {"limit": 8}):
        lab.study(truth, unit=4, **more)
        card = lab.card()
        expected = [0.9, *(x / 100 for x in score(0.9, 9, stdtrit(9, 0.975)))]
        assert list(card["exact"].values()) == pytest.approx([*expected, 40])


# ---- two runs


def test_two_runs_with_a_known_difference(lab):
    """Of 12, 10 change: 8 are lost, 2 are won. Signs of ten flip: 2 (1 + 10 + 45) / 2^10."""
    lab.study({"a": "R" * 8 + "WWRR"}, name="old")
    told = lab.study({"a": "W" * 8 + "RRRR"}, name="new")
    assert f"${12 * 0.026:.2f}" not in told  # both runs were paid
    main.compare(runs="old new")
    (folder,) = lab.folder.glob("figures/compared/*")
    rates = pd.read_csv(folder / "models.csv").set_index("model")["value"]
    assert rates.to_dict() == pytest.approx({"a (old)": 1000 / 12, "a (new)": 400 / 12})
    (found,) = pd.read_csv(folder / "models_differences.csv").to_dict("records")
    assert found["pair"] == "a (new) vs a (old)" and found["difference"] == -50
    p = mcnemar([[0, 8], [2, 0]]).pvalue
    assert [found["p"], found["holm"]] == pytest.approx([p, p]) == [112 / 1024] * 2
