"""Figures of two studies: what they say follows from what they draw, or isn't said."""

import pandas as pd
import pytest

from bedside.papers.cancer_myth import figures as cancer_myth
from bedside.papers.cancer_myth.survey import HUMAN
from bedside.papers.cancer_myth.tables.generation import HARD
from bedside.write import plots
from bedside.write.tables import Row, frame


def message(figure):
    return plots.message_of(figure)[0]


def changed(rows, values, where):
    """Rows with other values where columns hold these: a number for `value`, or by column."""
    mine = pd.Series(True, rows.index)
    for column, cells in where.items():
        mine &= rows[column].isin(cells if isinstance(cells, list) else [cells])
    assert mine.any()
    values = values if isinstance(values, dict) else {"value": values}
    return rows.assign(**{c: rows[c].mask(mine, v) for c, v in values.items()})


def of_cancer_myth(run):
    """Of each figure its rows, what draws them, and values after which what it says isn't so."""
    draw = cancer_myth
    rows = run.published("v1 text 2.2").assign(source="published")
    yield rows, lambda rows: draw.survey(rows, HUMAN), 3.6, {"row": HUMAN}
    names = ("GPT-4o", "Gemini-1.5-Pro", "Claude-3.5-Sonnet")
    made = [Row(m, HARD, "recomputed", v, n=2982) for m, v in zip(names, (29.1, 13.2, 14.4))]
    yield frame(made), lambda rows: draw.generation(rows, []), {"n": 100}, {"row": "GPT-4o"}


@pytest.mark.parametrize(
    "paper, notebook, drawn",
    [
        ("cancer_myth", "03_evaluation", of_cancer_myth),
    ],
)
def test_a_figure_says_only_what_its_numbers_bear_out(run_of, paper, notebook, drawn):
    for rows, draw, values, where in drawn(run_of(paper, notebook)):
        assert message(draw(rows)), where
        assert not message(draw(changed(rows, values, where))), where
