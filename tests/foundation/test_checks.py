"""Data checks by hand, and over every bundled source."""

import pandas as pd
import pytest

from bedside.read import checks, sources


def test_repeated_texts_ignore_case_and_punctuation():
    assert checks.repeated(["Is it so?", "is it  SO", "Is it?", "no"]) == 1
    assert checks.repeated([]) == 0
    assert checks.shared(["A b.", "c"], ["a B", "d"]) == {"a b"}


def test_counterparts_are_reworded_texts_too():
    offered = "She has surgery next week and asks about sport."
    reworded = "She has surgery next week, I think, and asks about sport."
    found = checks.counterparts(
        [offered, "Another thing entirely, about diets."], [reworded, "Nothing like it at all"]
    )
    assert found == {checks.normal(reworded): checks.normal(offered)}


def test_gaps():
    frame = pd.DataFrame({"a": ["x", " ", None], "b": [[], ["y"], 0]})
    assert checks.gaps(frame) == 3  # a blank, a missing cell, an empty list; 0 is a value


@pytest.mark.parametrize(
    "names",
    [
        ["claude-3-5-sonnet", "claude-3.5-sonnet"],
        ["Carcinoma of Unknown Primary", "Unknown Primary, Carcinoma of"],
        ["Germ Cell Tumor", "Germ Cell Tumors (Brain)"],
    ],
)
def test_spellings(names):
    assert checks.spellings([names[0], "gpt-4o", names[1], "Brain Tumor"]) == [names]


@pytest.mark.parametrize("names", [["Leukemia", "Leukemia", "Lung cancer"], ["(ALL)", "(AML)"]])
def test_different_names_are_no_spellings(names):
    assert checks.spellings(names) == []


def test_report_over_a_pair_of_sources(monkeypatch):
    base = {"profiles": ["sample"], "columns": ["q"], "text": "q"}
    monkeypatch.setitem(sources.registry(), "one", {**base, "apart": ["two"]})
    monkeypatch.setitem(sources.registry(), "two", {**base, "names": ["q"]})
    frames = {"one": ["a", "A!", "b"], "two": ["a", ""]}
    made = checks.report({name: pd.DataFrame({"q": texts}) for name, texts in frames.items()})
    assert made.set_index(["row", "column"])["value"].to_dict() == {
        ("one", "rows"): 3,
        ("one", "empty cells"): 0,
        ("one", "repeated texts"): 1,
        ("one", "texts also in two"): 1,
        ("two", "rows"): 2,
        ("two", "empty cells"): 1,
        ("two", "repeated texts"): 0,
        ("two", "spellings of q"): 0,
    }


def test_the_bundled_data_pass():
    bundled = [n for n, e in sources.registry().items() if "file" in e and not e.get("optional")]
    made = checks.report({n: sources.load(n) for n in bundled})
    column, row = made["column"], made["row"]
    # A right answer has no spans, an honest patient no false statements, and some candidates are
    # taken out for none of the usual reasons.
    known = ("medhalu_", "meddialbench_", "cancer_myth_candidates_")
    may_be_empty = row.str.startswith(known) & (column == "empty cells")
    counted = (column != "rows") & ~column.str.startswith("spellings")
    bad = made[counted & ~may_be_empty & (made["value"] > 0)]
    assert bad.empty, bad
    twice = {"radiation_reference_sample", "medhalu_annotations_sample"}  # texts may repeat there
    assert {name for name in bundled if "text" not in sources.entry(name)} <= twice
