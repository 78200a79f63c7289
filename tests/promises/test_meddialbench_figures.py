"""MedDialBench: figures draw what their rows hold, and say what the numbers bear out."""

from types import SimpleNamespace

import pandas as pd
import pytest

from bedside.papers.meddialbench import design, figures
from bedside.papers.meddialbench.printed import MODELS, combinations, mean_over_expected, share
from bedside.papers.meddialbench.tables import single
from bedside.write import plots
from bedside.write.results import points, published
from bedside.write.tables import Row, frame

PLAN = design.read(SimpleNamespace(reads=lambda name, path: None))
NO_DOSE = pd.DataFrame(columns="dimension source severity series value low high".split())


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
    if kind == "dose":
        right = share(run)
        other = right.copy()
        other.loc["fabricating", "Claude"] = right.loc["vague", "Claude"] + 1
        return right, lambda accuracy: figures.dose(NO_DOSE, PLAN, accuracy), other
    rows = frame(single.printed_changes(run))
    name = "fabricating, mean of five models"
    more = with_value(rows, -0.09, row=name, column=single.COVERAGE)
    return rows, figures.coverage, more


@pytest.mark.parametrize("kind", ["dose", "coverage"])
def test_a_figure_says_only_what_its_numbers_bear_out(run, kind):
    rows, draw, other = drawn(run, kind)
    assert message(draw(rows)) and not message(draw(other))


@pytest.mark.parametrize("width", [plots.WIDE, plots.NARROW])
def test_every_printed_model_is_drawn_at_any_width(run, width):
    figure = figures.dose(NO_DOSE, PLAN, share(run), width)
    assert len(figure.axes) == len(PLAN.dimensions)
    assert all(len(ax.lines) >= len(MODELS) for ax in figure.axes)


def test_every_pair_is_drawn_with_what_the_printed_counts_allow(run):
    """The printed counts can't show that a pair does more harm than its parts: all reach 1."""
    pairs = combinations(PLAN)
    found = {c: mean_over_expected(c, levels, MODELS) for c, levels in pairs.items()}
    own = {("C1", "O/E, mine"): 0.0, ("C2", "O/E, mine"): 1.1}  # 0 has no place on a log scale
    rows = [points({(c, "O/E"): v for c, v in found.items()}, "recomputed"), points(own, "run")]
    printed = published(run, "Table 4").query("column == 'O/E'")
    (ax,) = figures.interactions(pd.concat([printed, *rows]), PLAN).axes
    drawn = [x for line in ax.containers for x in line.lines[0].get_xdata()]
    printed = run.published("Table 4").query("column == 'O/E'")["value"]
    assert sorted(drawn) == pytest.approx(
        sorted([*printed, *(v.value for v in found.values()), 1.1])
    )
    assert all(v.low < 1 < v.high for v in found.values())


def test_a_run_of_ones_own_is_drawn_beside_the_paper_or_alone(run):
    mine = [("logic", "run", k, "mine", v, v, v) for k, v in enumerate((0.5, 0.4, 0.2))]
    rows = pd.DataFrame(mine, columns=NO_DOSE.columns)
    figure = figures.dose(rows, PLAN, share(run).iloc[:0])
    (ax,) = figure.axes  # no panel of nothing
    assert ax.containers[0].lines[0].get_ydata().tolist() == [50, 40, 20] and not message(figure)
    printed, *_ = drawn(run, "coverage")
    own = frame(Row(c, "mine", "run", 0.5) for c in ("baseline", "vague"))
    assert len(figures.coverage(pd.concat([printed, own])).axes) == 2
