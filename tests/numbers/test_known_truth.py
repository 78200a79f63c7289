"""Own studies whose truth is known, from a file to tables, singly and compared.

A letter stands for what becomes of a question (known_lab): what the model answers, what the judge
says of it, and what people say. Intervals and p are those of `bedside.stats` on what is known;
tests/oracles hold these against others. The steps are those of `make study`; its notebook runs in
this process.
"""

import itertools
import re
from types import SimpleNamespace

import known_lab
import numpy as np
import pandas as pd
import pytest
from known_lab import ONE, PEOPLE, lab

from bedside import __main__ as main
from bedside import own, stats
from bedside.publish import comparison

VERDICTS = dict.fromkeys("RPx", 1) | dict.fromkeys("WN", 0)  # of letters; the others have none
ENDS, LIMITS = ["worst", "best"], ["value", "low", "high"]
# An unknown price is the most of a call: "Is it so in number 14?" has 22 bytes, a template 100 and
# a message 12, so 134 × $100; 2,048 tokens × $1,000.
MOST = 0.0134 + 2.048
ANSWER, JUDGED = 0.006, 0.026  # USD of an answer alone, and of one with a verdict, readable or not
USD = dict.fromkeys("RPxWNuvg", JUDGED) | dict.fromkeys("fnb", ANSWER)
# of 6 tries: broken off, each paid; late, whose cost nobody knows. One that is too long is refused.
USD |= {"e": 6 * ANSWER, "t": 6 * MOST, "c": 0}


def percent(hits, units=None):
    return [100 * x for x in stats.share(np.array(hits, bool), units)[:3]]


def both(truth, a, b):
    """Verdicts of two models on the questions on which each has one."""
    pairs = ((VERDICTS.get(x), VERDICTS.get(y)) for x, y in zip(truth[a], truth[b]))
    return np.array([p for p in pairs if None not in p]).reshape(-1, 2).T


# ---- scores, tests and costs


WORLDS = {
    "failures of all kinds": {
        "a": "R" * 14 + "W" * 7,
        "b": "R" * 8 + "W" * 6 + "RR" + "W" * 5,
        "c": "W" * 21,
        "d": "R" * 10 + "W" * 4 + "tcfxuve",
        "f": "R" * 14 + "W" * 7,  # as a
    },
    "no answer to judge": {"a": "RRRWWW", "e": "nbfnbf"},
}


@pytest.mark.parametrize("truth", WORLDS.values(), ids=WORLDS)
def test_scores_paired_tests_and_costs_are_those_of_the_known_answers(lab, truth):
    told = lab.study(truth)
    found, size = lab.table("table_scores"), len(truth["a"])
    for model, letters in truth.items():
        known = [VERDICTS[x] for x in letters if x in VERDICTS]
        row, right, lost = found.loc[(model, "all: right, %")], sum(known), size - len(known)
        assert (row["n"], row["unscored"]) == (len(known), lost)
        expected = percent(known) if known else [np.nan] * 3
        assert row[LIMITS].tolist() == pytest.approx(expected, rel=1e-8, nan_ok=True)
        ends = [100 * right / size, 100 * (right + lost) / size] if lost else [np.nan] * 2
        assert row[ENDS].tolist() == pytest.approx(ends, nan_ok=True)
        groups = found.loc[[(model, f"{g}: right, %") for g in ("even", "odd")]]
        assert groups["n"].sum() == len(known) and groups["unscored"].sum() == lost
        assert (groups["value"] * groups["n"]).sum() == pytest.approx(100 * right)
    names = [*itertools.combinations(truth, 2)]
    pairs, table = [both(truth, *p) for p in names], lab.table("table_pairs")
    p = [stats.mcnemar(*pair) for pair in pairs if pair.size]
    holm = iter(zip(p, stats.holm(p)))
    for (a, b), (x, y) in zip(names, pairs):
        rows = table.loc[f"{a} vs {b}"]
        assert set(rows["n"]) == {len(x)}
        if not len(x):
            assert rows["value"].isna().all()
            continue
        expected = {"difference, points": 100 * (x.mean() - y.mean())}
        expected |= zip(("McNemar p", "McNemar p, Holm"), next(holm))
        least = 100 * stats.detectable(x - y)
        expected |= {"detectable difference, points": least} if least == least else {}
        assert rows["value"].to_dict() == pytest.approx(expected)
    usd = sum(USD[x] for letters in truth.values() for x in letters)
    assert f", ${usd:.2f}" in told and "unknown" not in told.rpartition(", $")[2]
    most = sum(map(float, re.findall(r"upper bound \$(\d+\.\d+)", told)))
    assert f"{2 * len(truth) * size} calls in all" in told and most > usd  # as planned


def test_what_repeats_in_units_counts_by_unit(lab):
    """12 units of 2 questions: e is right on 8 units, f on none, so 8 units differ, all one way."""
    right, units = np.repeat([1, 0], [16, 8]), np.repeat(np.arange(12), 2)
    lab.study({"e": "R" * 16 + "W" * 8, "f": "W" * 24}, unit=2)
    found = lab.table("table_scores").xs("all: right, %", level="column")
    assert found.loc["e", LIMITS].tolist() == pytest.approx(percent(right, units))
    assert found.loc["f", LIMITS].tolist() == pytest.approx(percent(0 * right, units))
    pair = lab.table("table_pairs").loc["e vs f"]
    expected = [100 * x for x in stats.difference(right, 0 * right, units, scale=(0, 1))[:3]]
    assert pair.loc["difference, points", LIMITS].tolist() == pytest.approx(expected)
    least = pair.loc["detectable difference, points", "value"]
    assert least == pytest.approx(100 * stats.detectable(right, units))
    p = pair.loc[["permutation of units p", "permutation of units p, Holm"], "value"].tolist()
    assert p == [2 / 2**8] * 2


# ---- the judge


def test_a_judge_s_card_and_the_corrected_rate_also_if_a_run_has_fewer_questions(lab):
    """Of 20 right answers 15 are called right, of 20 wrong ones 18 wrong; all 40 are labelled.

    Corrected, the judge's 17/40 is (0.425 + 0.9 - 1) / (0.75 + 0.9 - 1) = 0.5, as people say.
    """
    letters = "R" * 15 + "N" * 5 + "P" * 2 + "W" * 18
    truth, units = {"a": letters}, np.repeat(np.arange(20), 2)
    lab.study(truth, unit=2)
    lab.label()
    told = lab.study(truth, unit=2)
    people = np.array([PEOPLE[x] == "1" for x in letters])
    judged = np.array([known_lab.SAYS[x] == ONE for x in letters])
    sensitivity, specificity = stats.sens_spec(people, judged, units)
    expected = {
        "exact": stats.share(people == judged, units),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "kappa": stats.kappa(people, judged, [False, True], units=units),
    }
    card = lab.card()
    assert (card["n"], card["unscored"], card["confusion"]) == (40, 0, [[18, 2], [5, 15]])
    for name, interval in expected.items():
        assert [*card[name].values()] == pytest.approx([*interval])
    found = lab.table("table_corrected").loc["a"]
    rate = stats.share(judged, units)
    by_hand = stats.corrected_rate(rate, sensitivity, specificity, np.random.default_rng(1))
    assert found.loc["judge says, %", LIMITS].tolist() == pytest.approx(percent(judged, units))
    assert found.loc["corrected, %", "value"] == pytest.approx(50)
    limits = [100 * by_hand.low, 100 * by_hand.high]
    assert found.loc["corrected, %", LIMITS[1:]].tolist() == pytest.approx(limits, abs=1)
    assert f"{40 * JUDGED:.2f}" in told  # labelled answers are not judged, or paid, twice
    lab.study(truth, unit=2, limit=8)  # labels of the others keep their unit
    assert lab.card() == card


# ---- runs compared


def compared(lab):
    """The tables of `make compare RUNS="old new"`, and its sentences on what differs."""
    runs = [own.compared(name) for name in ("old", "new")]
    made = comparison.compared(runs, lab.folder)
    return SimpleNamespace(**made, differs=comparison.differing(runs))


@pytest.mark.parametrize(
    "new, came, outcome",
    [("RR" + "c" * 34, 2, "context too long"), ("Ru" * 18, 18, "")],
    ids=["an answer", "a verdict"],
)
def test_what_is_lost_is_no_change(lab, new, came, outcome):
    lab.study({"a": "R" * 36}, name="old", unit=3)
    lab.study({"a": new}, name="new", unit=3)
    made = compared(lab)
    found = made.models.set_index("model")[["value", "n", "unscored"]]
    assert found.loc["a (old)"].tolist() == [100, 36, 0]
    assert found.loc["a (new)"].tolist() == [100, came, 36 - came]
    (pair,) = made.differences.to_dict("records")
    assert (pair["difference"], pair["n"]) == (0, came)
    lost = made.outcomes.set_index("model").query("outcome == @outcome")
    assert not outcome or lost.loc["a (new)", ["replies", "n"]].tolist() == [36 - came, 36]


def test_a_known_change_is_tested_and_says_what_would_have_been_seen(lab):
    """Of 12, 10 change: 8 are lost, 2 are won. Signs of ten flip: 2 (1 + 10 + 45) / 2^10."""
    old, new = "R" * 8 + "WWRR", "W" * 8 + "RRRR"
    lab.study({"a": old}, name="old")
    told = lab.study({"a": new}, name="new")
    assert f"${12 * 0.026:.2f}" not in told  # both runs were paid
    main.compare(runs="old new")
    (folder,) = lab.folder.glob("figures/compared/*")
    rates = pd.read_csv(folder / "models.csv").set_index("model")["value"]
    assert rates.to_dict() == pytest.approx({"a (old)": 1000 / 12, "a (new)": 400 / 12})
    (found,) = pd.read_csv(folder / "models_differences.csv").to_dict("records")
    assert found["pair"] == "a (new) vs a (old)"
    assert [found["p"], found["holm"]] == pytest.approx([112 / 1024] * 2)
    x, y = both({"old": old, "new": new}, "old", "new")
    interval = [100 * end for end in stats.difference(y, x, np.arange(12), scale=(0, 1))[:3]]
    assert [found[k] for k in ("difference", "low", "high")] == pytest.approx(interval)
    assert "[{low:.3g}, {high:.3g}]".format(**found) in (folder / "index.html").read_text()
    least = 100 * stats.detectable(y - x)
    assert found["detectable"] == pytest.approx(least, nan_ok=True)
    failures = pd.read_csv(folder / "models_failures.csv")
    failures = failures.groupby("model")["right_elsewhere"].max()
    assert failures.to_dict() == dict.fromkeys(rates.index, 1)


def test_what_differs_is_named_for_what_it_is(lab):
    rubric = lab.folder / "kind.j2"
    text = "{% block user %}Answer to grade: {{ answer|fence }} MARK{% endblock %}"
    rubric.write_text(text)
    for name in ("old", "same"):
        lab.study({"a": "R" * 12}, name=name, rubric=rubric)
    assert comparison.differing([own.compared(name) for name in ("old", "same")]) == []
    rubric.write_text(text.replace("MARK", "Mark"))
    lab.asks = "May it be so in number"
    lab.study({"a": "R" * 12, "b": "R" * 12}, name="new", rubric=rubric, seed=7, limit=10)
    made = compared(lab)
    assert {*made.differs} == {
        *("seed: 0 in old, 7 in new", "limit: none in old, 10 in new"),
        *("models: a in old, a b in new", "rubric: not the same in all"),
        "questions: not the same in all",
    }
