"""The radiation study's parameters between their ends, to the numbers in the tables."""

import json

from parameter_runs import ran

from bedside.read import paths


def test_lists_are_matched_as_the_parameters_say():
    """Those of the first five of ten patients, three of them by a second matcher, too."""
    given = dict(models="fake-right", limit="5", second_matcher=3, until="table_matchers")
    made = ran("radiation/02_free_form", **given)
    lines = (paths.DATA / "sample/radiation/profiles.jsonl").read_text("utf-8").splitlines()
    assert {*made.graded("free_form")["item"]} == {json.loads(r)["item"] for r in lines[:5]}
    assert made.row("table1_free_form", "fake-right", "Recall")[["value", "n"]].tolist() == [1, 5]
    # the embedded model wasn't asked here, so its lists are unscored
    for matcher, n in (("smollm2-135m, first lists", 3), ("exact", 5)):
        found = made.row("table_matchers", f"fake-right, matcher {matcher}", "Recall")
        assert found.n + found.unscored == n
