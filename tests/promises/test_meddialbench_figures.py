"""MedDialBench: figures draw what their rows hold, and headlines are borne out by numbers."""

from types import SimpleNamespace

import pandas as pd
import pytest

from bedside.papers.meddialbench import design, figures
from bedside.papers.meddialbench.printed import (
    MODELS,
    N,
    combinations,
    drops,
    mean_over_expected,
    share,
)
from bedside.write import plots
from bedside.write.results import points, published

PLAN = design.read(SimpleNamespace(reads=lambda name, path: None))
NO_DOSE = pd.DataFrame(columns="dimension source severity column value low high".split())


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "03_single_dimension")


def test_the_printed_numbers_bear_out_the_headlines_of_figures_2_and_3(run):
    right, text = share(run), run.published("text 4.2").set_index("row")["value"]
    others = right.loc[[level for level in PLAN.adverse if level != "fabricating"]]
    assert (right.loc["fabricating"] < others.min()).all()
    lost = right.loc["baseline"].mean() - right.mean(axis=1)
    assert lost["fabricating"] > 2 * max(lost["withholding"], lost["dominant"])
    both = "withholding and dominant, loss of coverage"
    assert text["fabricating, mean loss of coverage"] < text[both]


@pytest.mark.parametrize("width", [plots.WIDE, plots.NARROW])
def test_every_printed_model_is_drawn_at_any_width(run, width):
    figure = figures.dose(NO_DOSE, PLAN, share(run) / 100, width)
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
    for printed in (share(run) / 100, share(run).iloc[:0]):
        drawn_ = [ax.containers for ax in figures.dose(rows, PLAN, printed).axes]
        (errors,) = [c[0] for c in drawn_ if c]
        assert errors.lines[0].get_ydata().tolist() == [0.5, 0.4, 0.2]
    own = points({("vague", "mine"): 0.1, ("a + b", "mine"): None}, "run")
    rows = pd.concat([points(drops(run) / 100, "recomputed", N), own], ignore_index=True)
    paper, mine = figures.profiles(rows, PLAN).axes
    assert len(paper.texts) == 16 * len(MODELS) and [t.get_text() for t in mine.texts] == ["−10"]
