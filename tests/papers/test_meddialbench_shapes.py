"""MedDialBench's tables have the rows, columns, groups and marks that the paper gives them."""

from types import SimpleNamespace

import pytest
from committed import lines_of, people

from bedside.papers.meddialbench import design as designs

MODELS = ["GPT-5.4", "Claude", "DeepSeek", "Gemini", "Qwen"]
both = pytest.mark.parametrize("profile", ["sample", "public"])


@pytest.fixture
def design():
    return designs.read(SimpleNamespace(reads=lambda name, path: None))


def heads(made):
    """The headings over a grid's numbers, without those of numbers of units."""
    return [way for way in zip(*made.head) if way[-1] not in ("n", "unscored")]


def at(made, label):
    """The numbers of a printed line, by heading."""
    cells = next(cells for labels, cells in made.lines if labels[0] == label)
    return {way[-1]: cell.removeprefix("= ") for way, cell in zip(zip(*made.head), cells)}


@both
@pytest.mark.parametrize(
    "name, columns, lines",
    [
        ("table1_related_work", ["dimension isolation", "graded severity", "interaction"], 14),
        ("table2_baseline", ["Acc", "Turns", "Coverage", "Cov/Turn"], 5),
        ("table5_patient_selection", ["adherence, %"], 4),
        ("table6_judge_selection", ["Correct Acc", "Misled Acc", "Reps"], 3),
        ("table7_adherence", ["N", "Activation", "Isolation", "Full Pass"], 4),
    ],
)
def test_plain_tables_have_the_papers_columns_and_lines(name, columns, lines, profile):
    made = people("meddialbench", name, profile)
    assert [way[-1] for way in heads(made)] == columns
    assert len(lines_of(made)) == lines
    assert len(made.lines) <= 25


@both
def test_table_3_has_a_line_for_each_behaviour_in_its_dimension(profile, design):
    made = people("meddialbench", "table3_single", profile)
    assert heads(made)[:5] == [("Published", m) for m in MODELS]
    behaviours = [(f"{design.dimension(n)} ({design.pathway(n)})", n) for n in design.adverse]
    assert lines_of(made) == [("baseline",), *behaviours]


@both
def test_table_4_has_a_line_for_each_combination(profile, design):
    made = people("meddialbench", "table4_interactions", profile)
    assert list(dict.fromkeys(way[0] for way in heads(made))) == ["Mean Acc", "Mean drop", "O/E"]
    assert lines_of(made) == [(name,) for name in design.combinations]
    assert sum(len(one.lines) for one in (made, *made.below)) <= 25


@both
def test_table_8_has_a_line_for_each_configuration(profile):
    made = people("meddialbench", "table8_case", profile)
    assert list(dict.fromkeys(way[0] for way in heads(made))) == ["Correct", "Models wrong"]
    assert lines_of(made) == [(c,) for c in ("Baseline", "Fabricating", "Withholding", "C1")]


@both
def test_table_9_has_17_configurations_as_columns_with_their_marks(profile, design):
    made = people("meddialbench", "table9_accuracy", profile)
    groups = [("", "baseline"), *((design.dimension(n), n) for n in design.adverse)]
    assert heads(made) == [*groups, *(("combinations", name) for name in design.combinations)]
    assert lines_of(made) == [(m,) for m in MODELS]
    told = at(made, "DeepSeek")
    assert (told["baseline"], told["fabricating"], told["C5"]) == ("74.1", "54.1*", "62.4")
    marked = {m: [c for c, v in at(made, m).items() if v.endswith("*")] for m in MODELS}
    assert marked["Qwen"] == ["fabricating", "C1", "C2", "C3", "C6"]
    assert all("fabricating" in columns for columns in marked.values())
