"""Data checks by hand, and over every bundled source."""

import pandas as pd
import pytest

from bedside.read import checks, sources


def test_reworded_texts_are_counterparts():
    offered = "She has surgery next week and asks about sport."
    reworded = "She has surgery next week, I think, and asks about sport."
    found = checks.counterparts(
        [offered, "Another thing entirely, about diets."], [reworded, "Nothing like it at all"]
    )
    assert found == {checks.normal(reworded): checks.normal(offered)}


@pytest.mark.parametrize(
    "names, same",
    [
        (["claude-3-5-sonnet", "claude-3.5-sonnet"], True),
        (["Carcinoma of Unknown Primary", "Unknown Primary, Carcinoma of"], True),
        (["Germ Cell Tumor", "Germ Cell Tumors (Brain)"], True),
        (["Leukemia", "Leukemia", "Lung cancer"], False),
        (["(ALL)", "(AML)"], False),
    ],
)
def test_spellings_of_one_name_are_told_from_different_names(names, same):
    assert checks.spellings([names[0], "gpt-4o", *names[1:], "Brain Tumor"]) == [names] * same


def test_a_report_counts_gaps_repeats_and_texts_that_two_sources_share(monkeypatch):
    """Case and punctuation don't count; a blank, None and an empty list are gaps, 0 is none."""
    base = {"profiles": ["sample"], "columns": ["q", "r"], "text": "q"}
    monkeypatch.setitem(sources.registry(), "one", {**base, "apart": ["two"]})
    monkeypatch.setitem(sources.registry(), "two", {**base, "names": ["q"]})
    frames = {
        "one": pd.DataFrame({"q": ["a", "A!", "b"], "r": [[], ["y"], 0]}),
        "two": pd.DataFrame({"q": ["a", " ", None], "r": [1, 2, 3]}),
    }
    assert checks.report(frames).set_index(["row", "column"])["value"].to_dict() == {
        ("one", "rows"): 3,
        ("one", "empty cells"): 1,
        ("one", "repeated texts"): 1,
        ("one", "texts also in two"): 1,
        ("two", "rows"): 3,
        ("two", "empty cells"): 2,
        ("two", "repeated texts"): 0,
        ("two", "spellings of q"): 0,
    }


def test_the_bundled_data_pass():
    bundled = [n for n, e in sources.registry().items() if "file" in e and not e.get("optional")]
    made = checks.report({n: sources.load(n) for n in bundled})
    # A right answer has no spans, an honest patient no false statements, and some candidates are
    # taken out for none of the usual reasons.
    known = ("medhalu_", "meddialbench_", "cancer_myth_candidates_")
    may_be_empty = made["row"].str.startswith(known) & (made["column"] == "empty cells")
    counted = ~made["column"].str.startswith(("rows", "spellings"))
    bad = made[counted & ~may_be_empty & (made["value"] > 0)]
    assert bad.empty, bad
    twice = {"radiation_reference_sample", "medhalu_annotations_sample"}  # texts may repeat there
    twice |= {"cancer_myth_labelled_replies", "radiation_labelled_replies"}
    assert {name for name in bundled if "text" not in sources.entry(name)} <= twice
