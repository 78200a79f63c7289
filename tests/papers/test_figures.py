"""Figures of the studies: no panel of nothing, and one way to draw one thing."""

from types import SimpleNamespace

import pandas as pd
import pytest

from bedside import plots
from bedside.papers.cancer_myth import figures as cancer_myth
from bedside.papers.meddialbench import figures as meddialbench
from bedside.papers.medhalu import figures as medhalu
from bedside.papers.medhalu import tables
from bedside.seminar.cancer_myth.sheet import Sheet


def test_a_base_set_without_questions_has_no_panel(run_of):
    run = run_of("medhalu", "01_benchmark")
    questions = pd.Series(["one two three", "one two three four"])
    rows = tables.benchmark.length_table(run, {"LiveQA": (questions, "raw")})
    figure = medhalu.lengths(rows)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["LiveQA", ""]
    means, counted = figure.axes
    assert [t.get_text() for t in means.get_yticklabels()] == ["Published", "From raw data"]
    assert [c.lines[0].get_xdata().tolist() for c in means.containers][1] == [3.5]
    assert max(p.get_height() for p in counted.patches) == 100  # both have less than ten words
    assert "HealthQA" in figure.get_supxlabel()


@pytest.mark.parametrize(("loss", "panels"), [(0.0, 1), (0.5, 2)])
def test_doctors_that_lose_nothing_are_named_not_drawn(loss, panels):
    rows = [
        {"row": row, "column": column, "source": source, "value": value}
        for row in ("vague", "C1")
        for column, source, value in (
            ("GPT", "recomputed", 0.1),
            ("still", "run", 0.0),
            ("lost", "run", loss),
            ("silent", "run", None),
        )
    ]
    figure = meddialbench.profiles(pd.DataFrame(rows))
    assert len(figure.axes) == panels
    left = figure.get_supxlabel()
    assert left.endswith(
        "still, lost, silent (this run)" if loss == 0 else "still, silent (this run)"
    )
    drawn = [t.get_text() for ax in figure.axes for t in ax.get_xticklabels()]
    assert drawn == (["GPT"] if loss == 0 else ["GPT", "lost"])


def test_panels_of_the_balance_have_titles_and_one_fill_for_one_thing():
    stages = "this run, before", "this run, after", "candidates", "released"
    rows = [{"row": "Others", "column": s, "source": "run", "value": 50.0} for s in stages]
    figure = cancer_myth.balance(pd.DataFrame(rows))
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "This run: balancing",
        "Released data: review",
    ]
    fills = [
        {c.get_label(): c.patches[0].get_facecolor() for c in ax.containers} for ax in figure.axes
    ]
    assert fills[0] == fills[1] and len(set(fills[0].values())) == 2


def test_the_tradeoff_has_the_same_axes_in_the_study_and_the_seminar(run_of, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "plane", lambda ax, rows, x, y, **more: drawn.append((x, y)))
    run = run_of("cancer_myth", "04_mitigation")
    said = run.published("v2 Table 1").assign(source="published", low=None, high=None)
    mine = said.head(2).assign(source="run", row="m plain")
    cancer_myth.tradeoff(pd.concat([said, mine], ignore_index=True))
    Sheet.tradeoff.__wrapped__(SimpleNamespace(run=run), {})
    assert drawn == [("Cancer-Myth-NFP", "Cancer-Myth")] * 2
