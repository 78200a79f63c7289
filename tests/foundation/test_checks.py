"""Data checks by hand, and over every bundled source."""

import pandas as pd
import pytest
from bedside import checks, sources


def test_repeated_texts_ignore_case_and_punctuation():
    assert checks.repeated(["Is it so?", "is it  SO", "Is it?", "no"]) == 1
    assert checks.repeated([]) == 0
    assert checks.shared(["A b.", "c"], ["a B", "d"]) == {"a b"}


def test_same_finds_reworded_texts():
    offered = [
        "She has surgery next week and asks about sport.",
        "Another thing entirely, about diets.",
    ]
    found = checks.same(
        offered,
        ["She has surgery next week, I think, and asks about sport.", "Nothing like it at all"],
    )
    assert found == {
        checks.normal("She has surgery next week, I think, and asks about sport."): checks.normal(
            offered[0]
        )
    }


def test_gaps():
    frame = pd.DataFrame({"a": ["x", " ", None], "b": [[], ["y"], 0]})
    assert checks.gaps(frame) == 3  # a blank, a missing cell, an empty list; 0 is a value


@pytest.mark.parametrize(
    "names, groups",
    [
        (
            ["claude-3-5-sonnet", "claude-3.5-sonnet", "gpt-4o"],
            [["claude-3-5-sonnet", "claude-3.5-sonnet"]],
        ),
        (
            ["Carcinoma of Unknown Primary", "Unknown Primary, Carcinoma of"],
            [["Carcinoma of Unknown Primary", "Unknown Primary, Carcinoma of"]],
        ),
        (
            ["Germ Cell Tumor", "Germ Cell Tumors (Brain)", "Brain Tumor"],
            [["Germ Cell Tumor", "Germ Cell Tumors (Brain)"]],
        ),
        (["Leukemia", "Leukemia", "Lung cancer"], []),
        (["(ALL)", "(AML)"], []),
    ],
)
def test_spellings(names, groups):
    assert checks.spellings(names) == groups


def test_report_over_a_pair_of_sources(monkeypatch):
    base = {"profiles": ["sample"], "columns": ["q"], "text": "q"}
    monkeypatch.setitem(sources.registry(), "one", {**base, "apart": ["two"]})
    monkeypatch.setitem(sources.registry(), "two", {**base, "names": ["q"]})
    made = checks.report(
        {"one": pd.DataFrame({"q": ["a", "A!", "b"]}), "two": pd.DataFrame({"q": ["a", ""]})}
    )
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
    bad = made[
        (made["column"] != "rows")
        & (made["value"] > 0)
        & ~made["column"].str.startswith("spellings")
    ]
    bad = bad[
        ~(
            bad["row"].str.startswith(("medhalu_", "meddialbench_"))
            & (bad["column"] == "empty cells")
        )
    ]  # a right answer has no spans, an honest patient no false statements
    assert bad.empty, bad
    for name in bundled:
        assert "text" in sources.entry(name) or name in (
            "radiation_reference_sample",
            "medhalu_annotations_sample",
        )  # may stand there twice
