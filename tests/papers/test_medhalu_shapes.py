"""MedHalu's tables have the rows and columns that the paper gives them."""

import pytest
from committed import lines_of, people

SETS = ["HealthQA", "LiveQA", "MedicationQA"]
SCORES = ["accuracy", "macro precision", "macro recall", "macro F1"]
MODELS = ["LLaMA-2", "GPT-3.5", "GPT-4"]
TYPES = ["None-conflict", "Input-conflict", "Context-conflict", "Fact-conflict"]
both = pytest.mark.parametrize("profile", ["sample", "public"])


def heads(made):
    """The headings over a grid's numbers, without those of numbers of units."""
    return [way for way in zip(*made.head) if way[-1] not in ("n", "unscored")]


def over(sets, measures):
    return [(s, m) for s in sets for m in measures]


@both
def test_table_3_has_groups_of_experts(profile):
    made = people("medhalu", "table3_experts", profile)
    assert heads(made) == [("No. of Experts",)]
    assert list(dict.fromkeys(line[0] for line in lines_of(made))) == [
        "Education",
        "Gender",
        "Race",
    ]
    assert len(made.lines) == 9


@both
def test_table_4_has_a_column_for_each_base_set(profile):
    made = people("medhalu", "table4_statistics", profile)
    assert heads(made) == [(s,) for s in (*SETS, "all")]
    assert lines_of(made) == [(t,) for t in (*TYPES, "Total")]
    assert not any(c.startswith("≠") for t, line in made.lines if "This run" in t for c in line)


@both
def test_table_6_has_a_line_for_each_evaluator(profile):
    made = people("medhalu", "table6_detection", profile)
    assert heads(made) == over(SETS, SCORES)
    assert lines_of(made) == [(e,) for e in (*MODELS, "Experts", "Laypeople")]
    assert sum(len(one.lines) for one in (made, *made.below)) <= 25
    assert [heads(one) for one in made.below] == [over(["all"], SCORES)]


@both
def test_table_7_has_mean_and_median_by_set(profile):
    made = people("medhalu", "table7_spans", profile)
    assert heads(made) == over(SETS, ["mean edit distance", "median edit distance"])
    assert lines_of(made) == [("GPT-3.5",), ("GPT-4",)]


@both
def test_table_8_has_a_line_for_each_type_of_a_model(profile):
    made = people("medhalu", "table8_types", profile)
    assert heads(made) == over(SETS, ["accuracy", "macro F1"])
    assert lines_of(made) == [(m, t) for m in MODELS for t in TYPES[1:]]
    assert len(made.lines) <= 25


@both
def test_table_10_has_the_papers_lines_first_and_what_we_add_below(profile):
    made = people("medhalu", "table10_expert", profile)
    overall, gains, tests = made.below
    assert heads(made) == over(SETS, SCORES)
    assert lines_of(made) == [(m,) for m in MODELS]
    assert heads(overall) == over(["all"], SCORES)
    assert heads(gains) == over(SETS, [f"Δ {s}" for s in SCORES])
    assert lines_of(gains, "Recomputed") == [(m,) for m in MODELS]
    assert {way[-1] for way in heads(tests)} == {"Δ share", "p of Δ share, Holm"}
    assert sum(len(one.lines) for one in (made, *made.below)) <= 25
