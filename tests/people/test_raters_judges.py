"""Raters: judges against their labels, corrected rates by hand."""

import numpy as np
import pytest
import raters_labels
from raters_labels import cells, given, judged_rows, row

from bedside import stats
from bedside.annotation import raters
from bedside.publish.judged_items import other_verdict

rng = raters_labels.rng  # a fixture


def test_corrected_rates_by_hand(rng):
    # Model a: 10 labelled yes of which the judge finds 8, 10 labelled no of which it says yes to 1,
    # and 40 unlabelled with 15 yes: it says 24 / 60 = .4. Model b: 5 and 5 labelled, all found
    # right, so that over both sensitivity is 13 / 15 and specificity 14 / 15; Rogan-Gladen:
    # (.4 + 14/15 - 1) / (13/15 + 14/15 - 1) = (1/3) / (4/5) = 5/12; of b:
    # (1/2 - 1/15) / (4/5) = 13/24.
    said = [True] * 8 + [False] * 2 + [True] + [False] * 9 + [True] * 15 + [False] * 25
    rows = judged_rows("a", [*said, None]) + judged_rows("b", [True] * 5 + [False] * 5)
    truth = {f"a{k}": "yes" if k < 10 else "no" for k in range(20)}
    truth |= {f"b{k}": "yes" if k < 5 else "no" for k in range(10)}
    judged = raters.judged(rows, "hallucination")
    settled = raters.consensus(given({"Ann": truth}))
    shuffled = judged.sample(frac=1, random_state=3), settled.sample(frac=1, random_state=4)
    assert judged["status"].value_counts().to_dict() == {"graded": 70, "refused": 1}
    assert judged["value"].isna().sum() == 1
    powered = stats.prediction_powered([True] * 10 + [False] * 10, said[:20], said[20:])
    a, b = "a, 2.2 answers: j", "b, 2.2 answers: j"
    for j, s in ((judged, settled), shuffled):
        found = cells(raters.corrected(j, s, "hallucination", np.random.default_rng(1)))
        assert found[a, "judge says"][::3] == (pytest.approx(40), 60)
        assert found[a, "raters"][::3] == (50, 20) and found[b, "raters"][::3] == (50, 10)
        fixed, low, high, _ = found[a, "Rogan-Gladen"]
        assert fixed == pytest.approx(500 / 12) and 0 <= low < 500 / 12 < high <= 100
        assert found[b, "Rogan-Gladen"][0] == pytest.approx(1300 / 24)
        expected = (*(100 * x for x in powered[:3]), 20)
        assert found[a, "prediction-powered"] == pytest.approx(expected)
    card = raters.against(*shuffled, "hallucination", rng)["j"]
    assert card["n"] == 30 and card["unscored"] == 0
    assert card["sensitivity"]["value"] == pytest.approx(13 / 15)
    assert card["confusion"] == [[14, 1], [2, 13]]
    assert card["kappa"]["value"] == pytest.approx(0.8)
    assert card["judge"] == "j" and "raters" in card["labelled_by"]


def test_rates_and_cards_are_of_units(rng):
    # 48 labelled and 72 other answers: each to a question of its own, or each question asked of two
    # models, that is under two configurations here, and answered and judged alike: as one answer.
    said = [True] * 20 + [False] * 4 + [True] * 4 + [False] * 20 + [True] * 40 + [False] * 32
    truth = {f"a{k}": "yes" if k < 24 else "no" for k in range(48)}
    rows = judged_rows("a", said)
    pairs = [{**r, "unit": str(int(r["id"][1:]) // 2)} for r in rows]

    def found(rows):
        labels = given({"Ann": truth})
        judged, settled = raters.judged(rows, "hallucination"), raters.consensus(labels)
        rates = raters.corrected(judged, settled, "hallucination", np.random.default_rng(1))
        card = raters.against(judged, settled, "hallucination", np.random.default_rng(1))["j"]
        kappa = card["kappa"]["value"], card["kappa"]["low"], card["kappa"]["high"], card["n"]
        return cells(rates) | {("card", "kappa"): kappa}

    alone, together, once = found(rows), found(pairs), found(rows[::2])
    assert len(alone) == 5
    for name, (value, low, high, n) in alone.items():
        same, lower, higher, count = together[name]
        assert (same, count) == (pytest.approx(value), n)
        assert higher - lower > 1.15 * (high - low), name
        # estimating a design effect costs one unit of twelve: nearly, not to the last digit
        near = 0.05 * (once[name][2] - once[name][1])
        assert (lower, higher) == pytest.approx(once[name][1:3], abs=near), name


def test_judges_verdicts_in_the_words_of_labels():
    dialogue = [{"kind": "dialogue", "label": "Consultation", "turns": []}]
    more = [
        other_verdict("j", "adherence", "expression; logic"),
        other_verdict("j", "misled", "yes"),
        other_verdict("k", "adherence", ""),
    ]
    rows = [
        row("a", "adherence", more=more, blocks=dialogue),
        row("b", "adherence", more=[other_verdict("j", "adherence", "none")], blocks=dialogue),
        row("c", "adherence", more=more, reply_status="ended", blocks=dialogue),
    ]
    found = raters.judged(rows, "adherence")
    counts = found.groupby(["id", "judge"])["part"].agg(len).to_dict()
    assert counts == {("a", "j"): 5, ("a", "k"): 5, ("b", "j"): 5}
    held = found.loc[(found["id"] == "a") & (found["value"] == "yes"), "part"]
    assert held.tolist() == ["expression", "logic"]
    assert found.loc[found["judge"] == "k", "value"].isna().all()
    assert set(found.loc[found["id"] == "b", "value"]) == {"no"}
    verdicts = [{"judge": "j", "status": "graded", "value": "-1 unaware"}]
    section = "4.3 false presupposition"
    graded = row("cm-1", "presupposition", section=section, verdicts=verdicts)
    found = raters.judged([graded, row("x", "diagnosis")], "presupposition")
    assert found[["id", "judge", "value"]].values.tolist() == [["cm-1", "j", "-1"]]
