"""The radiation study's parameters between their ends, to the numbers in the tables."""

import json

from parameter_runs import form_of, ran

from bedside.read import paths
from matrix import equal_terms, right

TERMS = 31  # of the sample's vocabulary; each site's reference is shorter


def matcher(request):
    """Matches equal terms, if it is shown the whole vocabulary."""
    matches = request.response_format["json_schema"]["schema"]["properties"]["matches"]
    shown = matches["items"]["properties"]["reference"]["enum"]
    found = equal_terms(request.messages[-1]["content"]) if len(shown) == TERMS else []
    return json.dumps({"matches": found})


def lists_or_matches(request):
    return matcher(request) if form_of(request) else right(request)


def test_lists_are_matched_as_the_parameters_say():
    """Those of the first five of ten patients, by a matcher that sees the whole vocabulary."""
    given = dict(models="fake-right", judge="fake-matcher", limit="5", second_matcher=3)
    before = [("radiation/06_judge_agreement", {})]
    fakes = {"fake-matcher": lists_or_matches}
    made = ran("radiation/02_free_form", fakes, before=before, shown="vocabulary", **given)
    assert made.row("table1_free_form", "fake-right", "F1").n == 5
    lines = (paths.DATA / "sample/radiation/profiles.jsonl").read_text("utf-8").splitlines()
    assert {*made.graded("free_form")["item"]} == {json.loads(r)["item"] for r in lines[:5]}
    assert made.row("table1_free_form", "fake-right", "Recall").value == 1
    # the embedded model matches lists of three of five patients; unasked, they are unscored
    for matcher, n in (("lexical, first lists", 3), ("smollm2-135m, first lists", 3), ("exact", 5)):
        found = made.row("table_matchers", f"fake-right, matcher {matcher}", "Recall")
        assert found.n + found.unscored == n
