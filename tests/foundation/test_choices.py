"""A run's results under other choices, by hand, and by a null that holds its level."""

import numpy as np
import pandas as pd
import pytest
from test_comparison import A, B, folder, study  # noqa: F401  (a fixture)

from bedside.publish import choices
from bedside.publish.comparison import Compared
from bedside.publish.pages import models


def value(curve, *ways):
    rows = curve.rows.set_index(list(choices.CHOICES))
    return rows.loc[ways, "value"]


def test_a_lead_under_each_choice_by_hand():
    made = study()
    frame = made.replies
    a = frame["model"] == "a"
    frame.loc[a & (frame["item"] == "q-1"), "score"] = None  # no verdict on a's q-1
    frame.loc[~a & (frame["item"] == "q-7"), "truncated"] = True  # b's q-7 was cut
    frame["unit"] = frame["item"].replace({"q-3": "q-2", "q-4": "q-2"})
    frame["part"] = ["x" if i in ("q-0", "q-7") else "y" for i in frame["item"]]
    (curve,) = choices.of([made])
    assert curve.rows["result"].unique().tolist() == ["a minus b"] and len(curve.rows) == 12
    # on q-0 and q-2 to q-7: 0, 1, 1, 1, 1, 0, 0
    assert value(curve, "left out", "as it stands", "item") == pytest.approx(100 * 4 / 7)
    # q-1: 0 less 0
    assert value(curve, "a failure", "as it stands", "item") == pytest.approx(100 * 4 / 8)
    assert value(curve, "left out", "left out", "item") == pytest.approx(100 * 4 / 6)
    # units q-0, q-2 (three items), q-5, q-6, q-7: 0, 1, 1, 0, 0
    assert value(curve, "left out", "as it stands", "unit") == pytest.approx(100 * 2 / 5)
    # parts: x has 0 and 0, y has 1, 1, 1, 1, 0
    assert value(curve, "left out", "as it stands", "part") == pytest.approx(100 * (0 + 4 / 5) / 2)
    n = curve.rows.set_index(list(choices.CHOICES))["n"]
    assert n["left out", "left out", "item"] == 6 and n["a failure", "as it stands", "unit"] == 8


def test_one_model_has_its_score_and_no_test():
    (curve,) = choices.of([study(scores={"a": A})])
    assert value(curve, "left out", "as it stands", "item") == pytest.approx(100 * 7 / 8)
    assert curve.null is None and curve.rows["p"].isna().all()


def test_without_parts_items_and_units_are_left():
    (curve,) = choices.of([study()._replace(by=[])])
    assert len(curve.rows) == 8 and set(curve.rows["each counts alike"]) == {"item", "unit"}
    assert curve.rows["value"].notna().all() and len(curve.null) == 8


def test_items_without_a_part_are_one_of_their_own():
    made = study()
    made.replies["part"] = made.replies["part"].where(made.replies["part"] == "x")
    (curve,) = choices.of([made])
    # x: 0, 1, 1, 1; the others: 1, 1, 0, 0
    assert value(curve, "left out", "as it stands", "part") == pytest.approx(
        100 * (3 / 4 + 1 / 2) / 2
    )


def test_models_under_other_judges_are_not_paired():
    runs = study(scores={"a": A}), study(of=("sample", "k"), scores={"b": B})
    assert [c.rows.at[0, "result"] for c in choices.of(runs)] == ["a", "b"]


def test_p_is_that_of_all_swaps_and_rarely_small_without_a_difference():
    (curve,) = choices.of([study()])
    usual = curve.rows.iloc[0]["p"]  # five of five that differ say a: 2 of 32 swaps
    assert usual == pytest.approx(2 / 32, abs=0.02)
    rng, small = np.random.default_rng(3), 0
    for _ in range(200):
        made = study(scores={"a": rng.integers(0, 2, 8), "b": rng.integers(0, 2, 8)})
        (curve,) = choices.of([made])
        small += curve.joint < 0.05
        low, high = curve.null["low"], curve.null["high"]
        assert (low <= high).all() and low.is_monotonic_increasing
    assert small <= 18  # of 200; 10 are expected at most


def test_the_page_tells_them_and_has_their_file(folder):  # noqa: F811
    made = models.part(folder, [Compared("mine", [study(folder=folder)])])
    (told,) = made["curves"]
    assert told["ways"] == 12 and told["same"] == 12 and told["usual"] == pytest.approx(62.5)
    assert made["curve"]["svg"] and (folder / "models_choices.png").is_file()
    rows = pd.read_csv(folder / "models_choices.csv")
    assert len(rows) == 12 and list(rows) == choices.COLUMNS
