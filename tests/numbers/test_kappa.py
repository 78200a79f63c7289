"""Agreement: what can't be measured says so, and the measure follows the scale."""

from math import isnan

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.annotation import raters
from bedside.judging import trust_cards
from bedside.papers.medhalu import scores as medhalu
from bedside.write import tables


def card_of(labels, said, values, **more):
    verdicts = pd.DataFrame({"status": "graded", "value": said})
    rng = np.random.default_rng(0)
    card = trust_cards.trust_card(labels, verdicts, values, rng, units=range(len(said)), **more)
    return {"judge": "j", "of": "answers", **card}


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_ratings_without_variation_have_no_kappa(weights):
    from sklearn.metrics import cohen_kappa_score

    found = stats.kappa([1] * 12, [1] * 12, [0, 1], weights=weights)
    assert isnan(found.value) and isnan(found.low) and found.n == 12
    with np.errstate(invalid="ignore"), pytest.warns():
        assert isnan(cohen_kappa_score([1] * 12, [1] * 12, labels=[0, 1], weights=weights))
    alpha = stats.krippendorff_alpha(np.ones((2, 12)), level="nominal")
    assert isnan(alpha.value)


def test_twelve_right_answers_and_a_judge_that_always_says_right():
    card = card_of([1] * 12, [1] * 12, [0, 1])
    assert isnan(card["kappa"]["value"]) and isnan(card["guesser_kappa"])
    assert "kappa not measurable on 12 labelled answers" in trust_cards.describe(card)
    (row,) = tables.card_rows("j", card, {"scale": ""})
    assert row.column == "kappa" and isnan(row.value) and row.n == 12
    # where labels vary, a constant judge knows nothing, and that is measured
    varied = card_of([1] * 20 + [0] * 4, [1] * 24, [0, 1])
    assert varied["kappa"]["value"] == 0 == varied["guesser_kappa"]
    assert varied["kappa"]["low"] < 0 < varied["kappa"]["high"]


def test_the_measure_follows_the_scale():
    from sklearn.metrics import cohen_kappa_score

    # Of each label two thirds right, one third one step off: plain agreement 20 / 30.
    labels = [-1] * 10 + [0] * 10 + [1] * 10
    said = [-1] * 7 + [0] * 3 + [0] * 6 + [1] * 4 + [1] * 7 + [0] * 3
    plain = stats.kappa(labels, said, [-1, 0, 1]).value
    weighted = stats.kappa(labels, said, [-1, 0, 1], weights="quadratic").value
    assert plain == pytest.approx(0.5) and weighted > 0.7
    linear = stats.kappa(labels, said, [-1, 0, 1], weights="linear").value
    assert linear == pytest.approx(cohen_kappa_score(labels, said, weights="linear"))
    card = card_of(labels, said, [-1, 0, 1])
    assert trust_cards.scale(card) == ("kappa_quadratic", "quadratic kappa")
    assert f"quadratic kappa {weighted:.2f} [" in trust_cards.describe(card)
    (row,) = tables.card_rows("j", card, {"scale": ""})
    assert (row.column, row.value) == ("quadratic kappa", pytest.approx(weighted))


@pytest.mark.parametrize(
    "values, more",
    [
        ([0, 1], {}),  # two grades have no distance
        (["no", "yes"], {"positive": "yes"}),
        (["a", "b", "c"], {"positive": None}),  # categories
        (["a", "b", "c"], {"positive": "a"}),
        ([1, 2, 3], {"positive": None}),  # numbers of categories
    ],
)
def test_values_without_an_order_have_plain_kappa(values, more):
    labels = [values[0]] * 6 + [values[1]] * 6
    card = card_of(labels, labels[1:] + labels[:1], values, **more)
    assert trust_cards.scale(card) == ("kappa", "kappa") and "kappa_quadratic" not in card
    assert "quadratic" not in trust_cards.describe(card)


def test_a_card_of_before_still_reads():
    # cards had a quadratic kappa for two values too
    card = {"judge": "j", "of": "answers", "n": 4, "unscored": 0, "values": [0, 1]}
    card |= {k: {"value": 0.5, "low": None, "high": None, "n": 4} for k in ("kappa",)}
    card["kappa_quadratic"] = card["kappa"]
    assert trust_cards.describe(card) == "judge: j, kappa 0.50 on 4 labelled answers"


def test_raters_cards_take_the_order_from_their_task():
    ids = [f"r{i}" for i in range(12)]
    values = ["-1", "0", "1"] * 4
    said = values[:-2] + ["0", "0"]
    about = {"part": "", "section": "s", "model": "m", "configuration": "plain"}
    judged = pd.DataFrame({"id": ids, "unit": ids, **about, "judge": "j", "status": "graded"})
    settled = pd.DataFrame({"id": ids, "part": "", "value": values})
    rng = np.random.default_rng(0)
    card = raters.against(judged.assign(value=said), settled, "presupposition", rng)["j"]
    assert trust_cards.scale(card)[1] == "quadratic kappa"


def test_a_mean_kappa_leaves_out_what_is_not_measurable():
    # Both raters say yes to four hallucinated answers: no kappa, and no 1.
    class Run:
        def rng(self, *name):
            return np.random.default_rng(0)

    items = pd.DataFrame({"item": list("abcd"), "question": list("wxyz"), "hallucinated": 1})
    yes = pd.DataFrame(
        [("g", i, r, 1.0) for i in "abcd" for r in (0, 1)], columns="group item repeat yes".split()
    )
    found = medhalu.agreement(yes, items, Run()).set_index("coefficient")
    row = found.loc["kappa with the labels, mean of raters"]
    assert pd.isna(row["value"]) and row["n"] == 0
