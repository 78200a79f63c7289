"""The radiation study's parameters between their ends, to the numbers in the tables."""

import json

import pytest
from parameter_runs import form_of, ran, text_of

from bedside.papers.radiation.data import FIELDS
from bedside.read import paths
from matrix import equal_terms, right

GAP = "(missing)"


def filler(request):
    """Fills what is missing of the history, and leaves other gaps as they are."""
    lines = dict(line.split(": ", 1) for line in text_of(request).splitlines() if ": " in line)
    told = {field: lines[field] for field in FIELDS}
    return json.dumps({**told, "history": told["history"].replace(GAP, "Nothing of note.")})


@pytest.fixture(scope="module")
def filled():
    given = dict(models="fake-filler", missing="history", incomplete=5)
    return ran("radiation/01_reference_and_profiles", {"fake-filler": filler}, **given)


def test_missing(filled):
    """Only the history is taken out: a model that fills it alone has filled every record."""
    assert filled.row("table_filled", "fake-filler", "usable, %").value == 100
    assert filled.row("table_filled", "fake-filler", "a field still empty, %").value == 0


def test_incomplete(filled):
    assert filled.row("table_filled", "fake-filler", "usable, %").n == 5


TERMS = 31  # of the sample's vocabulary; each site's reference is shorter


def matcher(request):
    """Matches equal terms, if it is shown the whole vocabulary."""
    matches = request.response_format["json_schema"]["schema"]["properties"]["matches"]
    shown = matches["items"]["properties"]["reference"]["enum"]
    found = equal_terms(request.messages[-1]["content"]) if len(shown) == TERMS else []
    return json.dumps({"matches": found})


def lists_or_matches(request):
    return matcher(request) if form_of(request) else right(request)


@pytest.fixture(scope="module")
def matched():
    given = dict(models="fake-right", judge="fake-matcher", limit="5", second_matcher=3)
    before = [("radiation/06_judge_agreement", {})]
    fakes = {"fake-matcher": lists_or_matches}
    return ran("radiation/02_free_form", fakes, before=before, shown="vocabulary", **given)


def test_limit(matched):
    """The first five of ten patients, whose lists are matched."""
    assert matched.row("table1_free_form", "fake-right", "F1").n == 5
    lines = (paths.DATA / "sample/radiation/profiles.jsonl").read_text("utf-8").splitlines()
    assert set(matched.graded("free_form")["item"]) == {json.loads(r)["item"] for r in lines[:5]}


def test_shown(matched):
    """A matcher that needs to see the whole vocabulary finds all that the lists hold."""
    assert matched.row("table1_free_form", "fake-right", "Recall").value == 1


def test_second_matcher(matched):
    """The embedded model matches lists of three of five patients; unasked, they are unscored."""
    for matcher, n in (("lexical, first lists", 3), ("smollm2-135m, first lists", 3), ("exact", 5)):
        found = matched.row("table_matchers", f"fake-right, matcher {matcher}", "Recall")
        assert found.n + found.unscored == n
