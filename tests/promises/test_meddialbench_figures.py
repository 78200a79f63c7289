"""MedDialBench: figures draw what their rows hold, and say what the numbers bear out."""

from types import SimpleNamespace

import pandas as pd
import pytest

from bedside.papers.meddialbench import design, figures
from bedside.papers.meddialbench.printed import MODELS, combinations, ratios, share
from bedside.papers.meddialbench.tables import interactions, vulnerability
from bedside.write import plots
from bedside.write.tables import Row, frame

PLAN = design.read(SimpleNamespace(reads=lambda name, path: None))
NONE = pd.DataFrame(columns=["configuration", "model", "value", "low", "high", "n"])
NO_DOSE = pd.DataFrame(columns="dimension source severity column value low high".split())


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "03_single_dimension")


def message(figure):
    return plots.message_of(figure)[0]


def with_value(rows, value, **where):
    """Rows with another value where columns hold this."""
    mine = pd.Series(True, rows.index)
    for column, cell in where.items():
        mine &= rows[column] == cell
    assert mine.any()
    return rows.assign(value=rows["value"].mask(mine, value))


def drawn(run, kind):
    """A figure's rows, what draws it, and rows by which what it says isn't so."""
    if kind == "interactions":
        oe = ratios(run, combinations(PLAN))
        rows = interactions.interaction_table(run, PLAN, oe, NONE, NONE)
        near = with_value(rows, 0.96, row="C1", source="published", column="O/E")
        return rows, lambda rows: figures.interactions(rows, PLAN), near
    rows = vulnerability.profile_rows(run, NONE)
    other = with_value(rows, 0.9, row="vague", column="Qwen")
    return rows, lambda rows: figures.profiles(rows, PLAN), other


@pytest.mark.parametrize("kind", ["interactions", "profiles"])
def test_a_figure_says_only_what_its_numbers_bear_out(run, kind):
    rows, draw, other = drawn(run, kind)
    assert message(draw(rows)) and not message(draw(other))


@pytest.mark.parametrize("width", [plots.WIDE, plots.NARROW])
def test_every_printed_model_is_drawn_at_any_width(run, width):
    figure = figures.dose(NO_DOSE, PLAN, share(run) / 100, width)
    assert len(figure.axes) == len(PLAN.dimensions)
    assert all(len(ax.lines) >= len(MODELS) for ax in figure.axes)


def test_every_pair_is_drawn(run):
    rows, *_ = drawn(run, "interactions")
    (ax,) = figures.interactions(rows, PLAN).axes
    means = [
        rows.query("source == 'published' and column == 'O/E' and row == @c")["value"].item()
        for c in PLAN.combinations
    ]
    assert sorted(b.get_x() + b.get_width() for b in ax.patches) == pytest.approx(sorted(means))


def test_a_run_of_ones_own_is_drawn_beside_the_paper_or_alone(run):
    mine = [("logic", "run", k, "mine", v, v, v) for k, v in enumerate((0.5, 0.4, 0.2))]
    rows = pd.DataFrame(mine, columns=NO_DOSE.columns)
    for printed in (share(run) / 100, share(run).iloc[:0]):
        drawn_ = [ax.containers for ax in figures.dose(rows, PLAN, printed).axes]
        (errors,) = [c[0] for c in drawn_ if c]
        assert errors.lines[0].get_ydata().tolist() == [0.5, 0.4, 0.2]
    rows, *_ = drawn(run, "interactions")
    own = frame([Row("C1", "O/E, mine", "run", 0.0), Row("C2", "O/E, mine", "run", 1.1)])
    figure = figures.interactions(pd.concat([rows, own], ignore_index=True), PLAN)
    assert "C1, mine" in plots.message_of(figure)[1]  # a ratio of 0 has no place on a log scale
    rows, *_ = drawn(run, "profiles")
    own = pd.DataFrame([Row("vague", "mine", "run", 0.1), Row("a + b", "mine", "run", None)])
    assert len(figures.profiles(pd.concat([rows, own]), PLAN).axes) == 2
