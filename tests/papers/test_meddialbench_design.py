"""MedDialBench: designs, and what is wrong with faulty ones."""

import itertools

import pytest

from bedside import BedsideError
from bedside.papers.meddialbench import design as designs
from bedside.read import paths, published


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def design(run):
    return designs.read(run)


TOML = designs.OURS.read_text()
PAIR = '{configuration = "C6", levels = ["withholding", "complete_denial"]},'
LAST = '{dimension = "attitude", level = "dominant", severity = 2,'
LOGIC = 'title = "Logic", pathway = "pollution"'


def changed(tmp_path, run, old, new):
    assert TOML.count(old) == 1
    path = tmp_path / "mine.toml"
    path.write_text(TOML.replace(old, new))
    return designs.read(run, path)


def test_configurations_of_the_papers_design(design):
    made = design.configurations()
    assert len(made) == 17 and [len(v) for v in made.values()] == [0] + [1] * 10 + [2] * 6
    assert list(made) == list(published.table("meddialbench", "Table 9")["column"].unique())
    assert len(design.configurations("")) == 11 and design.severities(("vague",)) == {
        "expression": "vague",
        "cognition": "sound",
        "logic": "consistent",
        "disclosure": "open",
        "attitude": "cooperative",
    }
    with pytest.raises(BedsideError, match="'all'.*'paper', '', 'extreme', 'adverse'"):
        design.configurations("all")


@pytest.mark.parametrize(
    "combinations, count, named", [("extreme", 10, 6), ("adverse", 40, 6)]
)  # 5 over 2; that times 2 * 2
def test_all_pairs_are_of_two_dimensions_and_keep_their_names(design, combinations, count, named):
    made = design.configurations(combinations)
    pairs = {k: v for k, v in made.items() if len(v) == 2}
    assert (
        len(pairs) == count == len({frozenset(v) for v in pairs.values()})
        and len(made) == 11 + count
    )
    assert all(design.dimension(a) != design.dimension(b) for a, b in pairs.values())
    pool = design.extreme if combinations == "extreme" else design.adverse
    assert {frozenset(v) for v in pairs.values()} == {
        frozenset(v)
        for v in itertools.combinations(pool, 2)
        if design.levels[v[0]]["dimension"] != design.levels[v[1]]["dimension"]
    }
    assert all(set(pairs[k]) == set(v) for k, v in design.combinations.items())
    assert sum(" + " not in k for k in pairs) == named


def test_a_new_line_is_a_new_configuration(tmp_path, run, design):
    more = changed(
        tmp_path,
        run,
        LAST,
        '{dimension = "attitude", level = "silent", severity = 2, instruction = "Say nothing."},\n'
        + LAST.replace("severity = 2", "severity = 3"),
    ).configurations("adverse")
    assert len(more) == 1 + 11 + 40 + 8 and more["silent"] == (
        "silent",
    )  # with two levels of each of the four other dimensions
    three = changed(
        tmp_path,
        run,
        PAIR,
        PAIR + '{configuration = "C7", levels = ["vague", "impatient", "reluctant"]},',
    ).configurations()
    assert {k: v for k, v in three.items() if k not in design.configurations()} == {
        "C7": ("vague", "impatient", "reluctant")
    }
    fewer = changed(tmp_path, run, PAIR, "").configurations()
    assert len(fewer) == 16 and "mine.toml" in str(run._data) + str(
        changed(tmp_path, run, PAIR, "").path
    )


FAULTS = [
    (PAIR, '{configuration = "C6" levels', "can't be read as a design"),
    (PAIR, PAIR.replace("complete_denial", "denial"), "combination 'C6': no level 'denial'"),
    (
        PAIR,
        PAIR.replace("complete_denial", "reluctant"),
        "combination 'C6': needs levels of different dimensions",
    ),
    (
        PAIR,
        PAIR.replace("complete_denial", 'vague", "reluctant'),
        "combination 'C6': needs levels of different dimensions",
    ),
    (
        PAIR,
        PAIR.replace("complete_denial", "withholding"),
        "combination 'C6': needs levels of different dimensions",
    ),
    (PAIR, PAIR.replace("complete_denial", "clear"), "combination 'C6': .*none of severity 0"),
    (PAIR, '{configuration = "C6", levels = ["withholding"]},', "combination 'C6': needs levels"),
    (PAIR, '{configuration = "C6"},', "an entry lacks 'levels'"),
    (PAIR, PAIR.replace("C6", "C1"), "combinations: two entries have the same name"),
    (
        LAST,
        LAST.replace("severity = 2", "severity = 3"),
        "dimension 'attitude': its levels must have severity 0, 1, ",
    ),
    (
        LAST,
        LAST.replace("severity = 2", "severity = 1"),
        "dimension 'attitude': its levels must have severity 0, 1, ",
    ),
    (
        LAST,
        LAST.replace("severity = 2", 'severity = "2"'),
        "dimension 'attitude': its levels must have severity 0, 1, ",
    ),
    (LAST, LAST.replace(" severity = 2,", ""), "an entry lacks 'severity'"),
    (LAST, LAST.replace('"attitude"', '"attitudes"'), "level 'dominant': no dimension 'attitudes'"),
    (LAST, LAST.replace('"dominant"', '"impatient"'), "levels: two entries have the same name"),
    (
        'instruction = "Be patient and willing to answer."',
        'instruction = "  "',
        "level 'cooperative': needs an instruction",
    ),
    (', instruction = "Be patient and willing to answer."', "", "an entry lacks 'instruction'"),
    (
        LOGIC,
        LOGIC.replace("pollution", "noise"),
        "dimension 'logic': pathway must be one of pollution, deficit, friction",
    ),
    (LOGIC, 'title = "Logic"', "an entry lacks 'pathway'"),
    (
        '{dimension = "logic", title',
        '{dimension = "cognition", title',
        "dimensions: two entries have the same name",
    ),
    (
        "dimensions = [",
        'dimensions = [{dimension = "mood", title = "Mood", pathway = "friction"},',
        "dimension 'mood': its levels must",
    ),
    ("combinations = [", "pairs = [", "lacks 'combinations'"),
]


@pytest.mark.parametrize("old, new, match", FAULTS, ids=range(len(FAULTS)))
def test_a_faulty_design_is_an_error_that_names_file_and_entry(tmp_path, run, old, new, match):
    with pytest.raises(BedsideError, match=match) as caught:
        changed(tmp_path, run, old, new)
    assert "mine.toml" in str(caught.value)


def test_a_design_that_is_not_there_is_an_error(tmp_path, run):
    with pytest.raises(BedsideError, match="none.toml can't be read as a design"):
        designs.read(run, tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BedsideError, match="bytes.toml can't be read as a design"):
        designs.read(run, tmp_path / "bytes.toml")


def test_a_dimension_without_a_title_is_an_error(tmp_path, run):
    with pytest.raises(BedsideError, match="title"):
        changed(tmp_path, run, 'title = "Logic", ', "")


@pytest.mark.parametrize("name", ["baseline", "vague"])
def test_a_combination_with_the_name_of_another_configuration_is_an_error(tmp_path, run, name):
    with pytest.raises(BedsideError, match=f"combination '{name}'"):
        changed(tmp_path, run, 'configuration = "C1"', f'configuration = "{name}"')


def test_an_instruction_that_is_no_text_is_an_error(tmp_path, run):
    with pytest.raises(BedsideError, match="mine.toml"):
        changed(
            tmp_path, run, 'instruction = "Be patient and willing to answer."', "instruction = 3"
        )


def test_pages_spell_the_combinations_out(design):
    words = paths.papers()["meddialbench"]["words"]
    for name, levels in design.combinations.items():
        assert words[name] == f"{name}: {' + '.join(words.get(n, n) for n in levels)}"
