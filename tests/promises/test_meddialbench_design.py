"""MedDialBench: designs, and what is wrong with faulty ones."""

import itertools

import pytest

from bedside import BedsideError
from bedside.papers.meddialbench import design as designs
from bedside.read import paths, published

TOML = designs.OURS.read_text()
PAIR = '{configuration = "C6", levels = ["withholding", "complete_denial"]},'
LAST = '{dimension = "attitude", level = "dominant", severity = 2,'
LOGIC = 'title = "Logic", pathway = "pollution"'
WILLING = 'instruction = "Be patient and willing to answer."'
MOOD = 'dimensions = [{dimension = "mood", title = "Mood", pathway = "friction"},'


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def design(run):
    return designs.read(run)


@pytest.fixture
def changed(tmp_path, run):
    """A function that reads the paper's design with one part replaced."""

    def read(old, new):
        assert TOML.count(old) == 1
        path = tmp_path / "mine.toml"
        path.write_text(TOML.replace(old, new))
        return designs.read(run, path)

    return read


def test_configurations_of_the_papers_design(design):
    made = design.configurations()
    assert [len(v) for v in made.values()] == [0] + [1] * 10 + [2] * 6
    assert list(made) == list(published.table("meddialbench", "Table 9")["column"].unique())
    assert len(design.configurations("")) == 11
    severities = {d: design.of(d)[0] for d in design.dimensions} | {"expression": "vague"}
    assert design.severities(("vague",)) == severities
    with pytest.raises(BedsideError, match="'all'.*'paper', '', 'extreme', 'adverse'"):
        design.configurations("all")
    words = paths.papers()["meddialbench"]["words"]  # pages spell the combinations out
    for name, levels in design.combinations.items():
        assert words[name] == f"{name}: {' + '.join(words.get(n, n) for n in levels)}"


@pytest.mark.parametrize("combinations, count", [("extreme", 10), ("adverse", 40)])
def test_all_pairs_are_of_two_dimensions_and_keep_their_names(design, combinations, count):
    made = design.configurations(combinations)
    pairs = {k: v for k, v in made.items() if len(v) == 2}
    assert len(pairs) == count == len(made) - 11
    pool = design.extreme if combinations == "extreme" else design.adverse
    assert {frozenset(v) for v in pairs.values()} == {
        frozenset((a, b))
        for a, b in itertools.combinations(pool, 2)
        if design.dimension(a) != design.dimension(b)
    }
    assert all({*pairs[k]} == {*v} for k, v in design.combinations.items())
    assert sum(" + " not in k for k in pairs) == 6


def test_a_new_line_is_a_new_configuration(changed, design):
    silent = LAST.replace("dominant", "silent") + ' instruction = "Say nothing."},\n'
    more = changed(LAST, silent + LAST.replace("= 2", "= 3")).configurations("adverse")
    # with two levels of each of the four other dimensions
    assert len(more) == 1 + 11 + 40 + 8 and more["silent"] == ("silent",)
    three = '{configuration = "C7", levels = ["vague", "impatient", "reluctant"]},'
    made = changed(PAIR, PAIR + three).configurations()
    assert made == design.configurations() | {"C7": ("vague", "impatient", "reluctant")}
    assert len(changed(PAIR, "").configurations()) == 16


DENIAL, SEVERITY = "complete_denial", "severity = 2"
PAIRED = "combination 'C6': needs levels of different dimensions"
ORDER = "dimension 'attitude': its levels must have severity 0, 1, "
FAULTS = [  # what stands in the file, what of it becomes what, and what the error says
    (PAIR, ", levels", " levels", "can't be read as a design"),
    (PAIR, DENIAL, "denial", "combination 'C6': no level 'denial'"),
    (PAIR, DENIAL, "reluctant", PAIRED),
    (PAIR, DENIAL, 'vague", "reluctant', PAIRED),
    (PAIR, DENIAL, "withholding", PAIRED),
    (PAIR, f', "{DENIAL}"', "", "combination 'C6': needs levels"),
    (PAIR, DENIAL, "clear", "combination 'C6': .*none of severity 0"),
    (PAIR, f', levels = ["withholding", "{DENIAL}"]', "", "an entry lacks 'levels'"),
    (PAIR, "C6", "C1", "combinations: two entries have the same name"),
    (PAIR, "C6", "baseline", "combination 'baseline'"),
    (PAIR, "C6", "vague", "combination 'vague'"),
    (LAST, SEVERITY, "severity = 3", ORDER),
    (LAST, SEVERITY, "severity = 1", ORDER),
    (LAST, SEVERITY, 'severity = "2"', ORDER),
    (LAST, f" {SEVERITY},", "", "an entry lacks 'severity'"),
    (LAST, '"attitude"', '"attitudes"', "level 'dominant': no dimension 'attitudes'"),
    (LAST, '"dominant"', '"impatient"', "levels: two entries have the same name"),
    (WILLING, "Be patient and willing to answer.", "  ", "level 'cooperative': needs an instr"),
    (f", {WILLING}", f", {WILLING}", "", "an entry lacks 'instruction'"),
    (WILLING, '"Be patient and willing to answer."', "3", "wrong form"),
    (LOGIC, "pollution", "noise", "dimension 'logic': pathway must be one of pollution, deficit"),
    (LOGIC, ', pathway = "pollution"', "", "an entry lacks 'pathway'"),
    (LOGIC, 'title = "Logic", ', "", "title"),
    (LOGIC, "Logic", " ", "dimension 'logic': needs a title"),
    ('{dimension = "logic", title', "logic", "cognition", "dimensions: two entries have the same"),
    ("dimensions = [", "dimensions = [", MOOD, "dimension 'mood': its levels must"),
    ("combinations = [", "combinations", "pairs", "lacks 'combinations'"),
]


@pytest.mark.parametrize("place, old, new, match", FAULTS, ids=range(len(FAULTS)))
def test_a_faulty_design_is_an_error_that_names_file_and_entry(changed, place, old, new, match):
    with pytest.raises(BedsideError, match=f"mine.toml.*{match}"):
        changed(place, place.replace(old, new))


def test_a_design_that_can_not_be_read_is_an_error(tmp_path, run):
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    for name in ("none", "bytes"):
        with pytest.raises(BedsideError, match=f"{name}.toml can't be read as a design"):
            designs.read(run, tmp_path / f"{name}.toml")
