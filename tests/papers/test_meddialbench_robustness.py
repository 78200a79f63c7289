"""What MedDialBench's notebook 06 computes, against brute force and simulation."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench.design import BASELINE
from bedside.papers.meddialbench.implied import (
    MODELS,
    SCALES,
    SLOPES,
    N,
    beyond,
    combinations,
    counts,
    drops,
    interaction,
    log_ratio,
    overlaps,
    regression,
    selection,
    share,
)
from bedside.papers.meddialbench.implied import robustness as tables
from bedside.read import paths
from cells import computed


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


def test_nothing_fits_counts_that_contradict_their_overlap():
    assert overlaps.failing((3, 3, 3, 3), ((0, 3), (0, 3), (4, 5)), 6).empty


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


def test_a_pair_harms_beyond_its_parts_only_if_whole_cases_say_so(run, pairs):
    # C6, Claude: 66 right at baseline, 58 and 59 under the levels, 51 under both: nothing beyond
    right = counts()
    scales = {  # what is added or multiplied on each scale, as exact fractions of k of 85 cases
        "risks added": lambda k: Fraction(N - k, N),
        "success multiplied": lambda k: Fraction(N, k),
        "odds of failure multiplied": lambda k: Fraction(N - k, k),
        "failures multiplied": lambda k: Fraction(N - k, N),
    }
    rows = tables.interaction_rows(pairs, share(run) / 100)
    made = rows.set_index(["row", "column"])["value"]
    for (pair, (a, b)), (scale, harm) in itertools.product(pairs.items(), scales.items()):
        above = 0
        for m in MODELS:
            both, first, second, base = (harm(int(right.at[c, m])) for c in (pair, a, b, BASELINE))
            added = scale == "risks added"
            above += both + base > first + second if added else both * base > first * second
        assert made[pair, f"{scale}: models above 0"] == above, (pair, scale)
    assert made["C6", "risks added: models above 0"] == 1


def test_models_that_lose_as_many_cases_lose_as_much(run):
    lost, right = drops(run), counts()
    whole = right.loc[BASELINE] - right.loc[lost.index]
    for _, same in lost.stack().groupby(whole.stack()):
        assert same.nunique() == 1


def test_every_summary_of_ratios_is_of_all_five_models(run):
    p = counts() / N
    given = {"run": run, "paper": designs.read(run), "p": p, "accuracy": p.loc[BASELINE].mean()}
    given["beta"] = regression(N / 107, given["accuracy"])
    made = computed("meddialbench/06_robustness", "r24", **given)["curve"]
    assert (made["n"] == len(MODELS)).all()
    few = made[(made["levels"] == "both moderate") & (made["baseline"] == "printed")]
    found = few.set_index(["scale", "models"])["value"]
    # in cases, pollution costs 4, 1, 9, 4 and 1 of 85, deficit 4.5, -0.5, 7, 4.5 and 4.5: Claude
    # gains under deficit, so it is above every ratio of the others, 2/9, 8/9, 8/9 and 9/7
    assert found["points", "median ratio"] == pytest.approx(8 / 9)
    assert found["points", "least ratio"] == pytest.approx(2 / 9)
    assert found["log odds", "median ratio"] == pytest.approx(0.9186, abs=1e-4)  # the third of five
    # expected again, Claude loses under neither: there are no five ratios
    again = made[(made["levels"] == "both moderate") & (made["baseline"] == "expected")]
    assert set(again["models"]) == {"mean loss"}


def test_log_ratios_are_interactions_of_multiplied_success(pairs):
    for pair, levels in pairs.items():
        mean, least, most = beyond("success multiplied", pair, levels)
        assert log_ratio(pair, levels) == (-mean, least, most)
        assert 0 < least < most


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


# ---- selection


@pytest.mark.parametrize("alike", [True, False])
def test_accuracy_again_lies_between_the_ends(alike):
    """Simulated: cases are selected by five dialogues, and the kept ones run again."""
    rng, n, models = np.random.default_rng(8), 200_000, 5
    chance = rng.beta(1.2, 0.7, (n, 1 if alike else models)) * np.ones((1, models))
    first, second = (rng.random((n, models)) < chance for _ in range(2))
    kept = first.any(axis=1)
    low, high = selection.expected_again(kept.mean(), first[kept].mean())
    again = second[kept].mean()
    assert low - 0.002 < again < high + 0.002
    if alike:
        assert low < again - 0.003
        assert regression(kept.mean(), first[kept].mean()) == pytest.approx(again, abs=0.004)


def test_the_least_accuracy_is_reached():
    """A part of the cases is always right, and the others have one chance t for every model."""
    t, sure = 0.14, 0.55
    kept = sure + (1 - sure) * (1 - (1 - t) ** 5)
    accuracy = (sure + (1 - sure) * t) / kept
    again = (sure + (1 - sure) * t * (1 - (1 - t) ** 5)) / kept
    low, high = selection.expected_again(kept, accuracy)
    assert low == pytest.approx(again, abs=2e-4) and high > again
    with pytest.raises(ValueError, match="no distribution"):
        selection.expected_again(0.2, 0.1)  # each kept case has at least one of five right


# ---- sizes


def test_losses_that_can_be_found():
    table = tables.size_table({"two": 2, "six": 6, "all": 85}).set_index(["row", "column"])
    least, found = "least loss that can be found", "loss found with power 0.8"
    assert np.isnan(table.at[("two", least), "value"])
    assert table.at[("six", least), "value"] == 100 and table.at[("all", least), "value"] < 7.1
    for name, n in (("six", 6), ("all", 85)):
        share = table.at[(name, found), "value"] / 100
        lost = np.random.default_rng(3).binomial(n, share, 20_000)
        power = np.mean([stats.mcnemar_counts(int(k), 0) < 0.05 for k in lost])
        assert power == pytest.approx(0.8, abs=0.012)


# ---- the judge


def judged(true, sensitivity, specificity):
    return true * sensitivity + (1 - true) * (1 - specificity)


@pytest.fixture
def p():
    return counts() / N


def test_one_judge_for_all_leaves_ratios_of_losses_and_o_e_to_specificity(p, pairs):
    table = {(r.row, r.column): r.value for r in tables.one_judge(p, pairs)}
    true = p * 0.8 + 0.1
    for s, c in ((0.7, 1), (0.9, 0.8)):
        seen = judged(true, s, c)
        lost, lost_seen = (x.loc[BASELINE] - x for x in (true, seen))
        ratio, ratio_seen = (x.loc["fabricating"] / x.loc["withholding"] for x in (lost, lost_seen))
        assert ratio_seen.to_numpy() == pytest.approx(ratio.to_numpy())
        assert seen.rank(axis=1).equals(true.rank(axis=1))
    a, b = pairs["C1"]
    found = tables.one_judge(judged(true, 0.75, 0.9), pairs)
    at = {(r.row, r.column): r.value for r in found}
    oe = (true.loc["C1"] * true.loc[BASELINE] / (true.loc[a] * true.loc[b])).mean()
    assert at["one judge for all: C1", "O/E at specificity 0.9"] == pytest.approx(oe)
    # below either bound some true share lies outside 0 to 1
    low = table["all dialogues", "least specificity"] / 100
    high = table["all dialogues", "least sensitivity"] / 100
    assert (p.min(axis=None) + low - 1, p.max(axis=None) / high) == pytest.approx((0, 1))


def test_a_judge_with_the_errors_of_the_table_sees_what_was_seen(p, pairs):
    rows = {
        (r.row, r.column): r.value / 100
        for r in [*tables.two_models(p), *tables.under_fabricating(p, pairs, ["C1"])]
    }
    base = p.loc[BASELINE]
    s = rows["ranking: Gemini, GPT-5.4", "sensitivity for the second"]
    assert judged(base["Gemini"], s, 1) == pytest.approx(base["GPT-5.4"])
    c = rows["ranking: Gemini, GPT-5.4", "specificity for the first"]
    assert judged(base["GPT-5.4"], 1, c) == pytest.approx(base["Gemini"])
    s = rows["fabricating = withholding: Claude", "sensitivity under fabricating"]
    seen = judged(p.at["withholding", "Claude"], s, 1)
    assert seen == pytest.approx(p.at["fabricating", "Claude"])
    s = rows["O/E = 1: C1", "sensitivity under the pair alone"]
    a, b = pairs["C1"]
    expected = (p.loc[a] * p.loc[b] / base).mean()
    assert judged(expected, s, 1) == pytest.approx(p.loc["C1"].mean())


def test_on_its_line_a_result_turns(p, pairs):
    lines = tables.turning_lines(p, pairs, ["C2"]).dropna()
    line = lines[lines["name"] == "fabricating costs as much as withholding"]
    seen = judged(p.loc["withholding"].mean(), line["sensitivity"], line["specificity"])
    assert np.allclose(seen, p.loc["fabricating"].mean()) and len(line) > 50


def test_pairs_without_an_interaction_have_none(monkeypatch, pairs):
    """A pair that leaves the product of what its parts leave; in points it does less harm."""
    from bedside.papers.meddialbench import implied

    even = pd.DataFrame(0.8, index=counts().index, columns=MODELS)
    a, b = pairs["C1"]
    even.loc[[a, b, "C1"]] = np.array([[0.6], [0.4], [0.3]])
    monkeypatch.setattr(implied, "counts", lambda: even * N)
    assert interaction("success multiplied", "C1", (a, b)) == pytest.approx(0, abs=1e-12)
    assert interaction("risks added", "C1", (a, b)) == pytest.approx(-0.1)
