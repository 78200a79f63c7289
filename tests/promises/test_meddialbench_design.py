"""MedDialBench: designs, what is wrong with faulty ones, and how their rows are drawn."""

import itertools
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import figures
from bedside.papers.meddialbench.printed import MODELS, N, drops
from bedside.read import paths, published
from bedside.write.results import points

TOML = designs.OURS.read_text()
KNOWN = tomllib.loads(Path(__file__).with_name("meddialbench.toml").read_text("utf-8"))
PAIR, LAST = KNOWN["places"]["pair"], KNOWN["places"]["last"]


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "03_single_dimension")


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


def test_configurations_are_the_papers_or_all_pairs_of_two_dimensions(design):
    made = design.configurations()
    assert [len(v) for v in made.values()] == [0] + [1] * 10 + [2] * 6
    assert list(made) == list(published.table("meddialbench", "Table 9")["column"].unique())
    severities = {d: design.of(d)[0] for d in design.dimensions} | {"expression": "vague"}
    assert design.severities(("vague",)) == severities
    for which, pool, count in (("extreme", design.extreme, 10), ("adverse", design.adverse, 40)):
        pairs = {k: v for k, v in design.configurations(which).items() if len(v) == 2}
        apart = (x for x in itertools.combinations(pool, 2) if len({*map(design.dimension, x)}) > 1)
        assert {frozenset(v) for v in pairs.values()} == {*map(frozenset, apart)}
        assert len(pairs) == count and sum(" + " not in k for k in pairs) == 6
        assert all({*pairs[k]} == {*v} for k, v in design.combinations.items())
    with pytest.raises(BedsideError, match="'all'.*'paper', '', 'extreme', 'adverse'"):
        design.configurations("all")
    words = paths.papers()["meddialbench"]["words"]  # pages spell the combinations out
    for name, levels in design.combinations.items():
        assert words[name] == f"{name}: {' + '.join(words.get(n, n) for n in levels)}"


def test_a_new_line_is_a_new_configuration(changed, design):
    silent = LAST.replace("dominant", "silent") + ' instruction = "Say nothing."},\n'
    more = changed(LAST, silent + LAST.replace("= 2", "= 3")).configurations("adverse")
    # with two levels of each of the four other dimensions
    assert len(more) == 1 + 11 + 40 + 8 and more["silent"] == ("silent",)
    three = '{configuration = "C7", levels = ["vague", "impatient", "reluctant"]},'
    made = changed(PAIR, PAIR + three).configurations()
    assert made == design.configurations() | {"C7": ("vague", "impatient", "reluctant")}


def test_a_faulty_design_is_an_error_that_names_file_and_entry(changed, tmp_path, run):
    for place, old, new, match in KNOWN["tables"]["faults"]:
        passage = KNOWN["places"][place]
        with pytest.raises(BedsideError, match=f"mine.toml.*{match}"):
            changed(passage, passage.replace(old, new))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    for name in ("none", "bytes"):
        with pytest.raises(BedsideError, match=f"{name}.toml can't be read as a design"):
            designs.read(run, tmp_path / f"{name}.toml")


def test_figures_draw_the_paper_and_a_run_of_ones_own(run, design):
    own = points({("vague", "mine"): 0.1, ("a + b", "mine"): None}, "run")
    rows = pd.concat([points(drops(run) / 100, "recomputed", N), own], ignore_index=True)
    paper, mine = figures.profiles(rows, design).axes
    assert len(paper.texts) == 16 * len(MODELS) and mine.texts[0].get_text() == "−10"
    rows = points({("C1", "O/E"): 0.8, ("C1", "O/E, Qwen"): 0.6}, "recomputed")
    rows = pd.concat([rows, points({("C2", "O/E, mine"): 1.1}, "run")], ignore_index=True)
    (ax,) = figures.interactions(rows, design).axes  # single models of the paper aren't drawn
    assert sorted(x for c in ax.containers for x in c.lines[0].get_xdata()) == [0.8, 1.1]
    steps = points({("logic 0", "mine"): 0.5, ("logic 1", "mine"): 0.2}, "run")
    dose = figures.dose(steps.assign(dimension="logic", severity=[0, 1]), design).axes
    assert [ax.lines[0].get_ydata().tolist() for ax in dose] == [[0.5, 0.2]]
