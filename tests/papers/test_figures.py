"""Figures of the studies: no panel of nothing, and one way to draw one thing."""

from types import SimpleNamespace

import pandas as pd
import pytest

from bedside.papers.cancer_myth import figures as cancer_myth
from bedside.papers.cancer_myth.survey import HUMAN
from bedside.papers.cancer_myth.tables import evaluation
from bedside.papers.cancer_myth.tables.generation import HARD
from bedside.papers.medhalu import figures as medhalu
from bedside.papers.medhalu import tables
from bedside.seminar.cancer_myth.sheet import Sheet
from bedside.write import plots
from bedside.write.tables import Row, frame
from pictures import faults


def test_a_base_set_without_questions_has_no_panel(run_of):
    run = run_of("medhalu", "01_benchmark")
    questions = pd.Series(["one two three", "one two three four"])
    rows = tables.benchmark.length_table(run, {"LiveQA": (questions, "raw")})
    figure = medhalu.lengths(rows)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["LiveQA", "% of questions"]
    means, counted = figure.axes
    assert [t.get_text() for t in means.get_yticklabels()] == ["Published", "From raw data"]
    assert [c.lines[0].get_xdata().tolist() for c in means.containers][1] == [3.5]
    assert max(p.get_height() for p in counted.patches) == 100  # both have less than ten words
    assert "HealthQA" in figure.get_supxlabel()


def message(figure):
    return plots.message_of(figure)[0]


def words(ax):
    return [t.get_text() for t in ax.texts]


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


# ---- Cancer-Myth: what is printed, and what a run adds


@pytest.fixture
def cancer(run_of):
    return run_of("cancer_myth", "03_evaluation")


NO_SCORES = pd.DataFrame(columns="model metric value low high n unscored least most".split())


def test_the_best_published_rates_are_in_the_message_while_below_a_half(cancer, tmp_path):
    rows = evaluation.score_table(NO_SCORES, cancer)
    wide, narrow = (cancer_myth.scores(rows, n) for n in (False, True))
    assert message(wide) == message(narrow)
    assert "at most 27% in the paper, 42% in a summary" in message(wide)
    assert [len(f.axes) for f in (wide, narrow)] == [2, 1]
    assert "15.4 / 6.3" in words(wide.axes[0]) and "27.2" in words(narrow.axes[0])
    plots.save(wide, tmp_path / "rates", message(wide), plots.message_of(wide)[1], narrow)
    assert faults(tmp_path / "rates.svg") == faults(tmp_path / "rates.narrow.svg") == []
    rows.loc[(rows["row"] == "GPT-5") & rows["column"].str.startswith("PCR"), "value"] = 50
    assert message(cancer_myth.scores(rows)) == ""
    raw = rows.assign(source="raw")  # the released grades have nothing printed beside them
    assert message(cancer_myth.scores(raw)) == ""


def test_the_kinds_of_myth_on_which_most_models_do_worst(cancer):
    found = pd.DataFrame(columns=[*NO_SCORES, "category"])
    rows = evaluation.group_table(found, "category", cancer)
    figure = cancer_myth.groups(rows, "category")
    assert message(figure).startswith("Six of eight models do worst on the same two kinds of myth")
    (ax,) = figure.axes
    assert len(ax.patches) == 16 and len(ax.texts) == 56 and ax.get_ylabel() == ""
    assert [t.get_text() for t in ax.get_yticklabels()][0] == "No Treatment"
    models = ["Gemini-1.5-Pro", "Claude-3.5-Sonnet"]
    rows.loc[(rows["row"] == "Others") & rows["column"].isin(models), "value"] = -0.9
    assert message(cancer_myth.groups(rows, "category")) == ""
    more = rows.tail(1).assign(source="run", column="mine", low=-1, high=1)
    panels = cancer_myth.groups(pd.concat([rows, more], ignore_index=True), "category")
    assert len(panels.axes) == 9  # a run's have intervals, in panels


def test_whose_questions_are_the_easiest_for_others(cancer):
    found = pd.DataFrame(columns=[*NO_SCORES, "generator"])
    rows = evaluation.group_table(found, "generator", cancer)
    assert "written by GPT-4o are the easiest" in message(cancer_myth.groups(rows, "generator"))
    rows.loc[(rows["row"] == "GPT-4o") & (rows["column"] == "GPT-4o"), "value"] = 0.5
    assert message(cancer_myth.groups(rows, "generator")) == ""


def test_physicians_scores_of_models_and_of_people(run_of):
    rows = run_of("cancer_myth", "01_physician_survey").published("v1 text 2.2")
    rows = rows.assign(source="published")
    said = "answers of all three models above those of social workers"
    assert said in message(cancer_myth.survey(rows, HUMAN))
    rows.loc[rows["row"] == HUMAN, "value"] = 3.6
    assert message(cancer_myth.survey(rows, HUMAN)) == ""


@pytest.fixture
def cures(run_of):
    rows = run_of("cancer_myth", "04_mitigation").published("v2 Table 1")
    rows = rows[rows["column"].isin(["Cancer-Myth", "Cancer-Myth-NFP"])]
    return rows.assign(source="published", low=None, high=None)


def test_arrows_lead_from_a_system_to_the_same_with_its_fix(cures, tmp_path):
    figure = cancer_myth.tradeoff(cures)
    (ax,) = figure.axes
    arrows = [t for t in ax.texts if t.arrow_patch and not t.get_text()]
    assert [(t.xyann, t.xy) for t in arrows] == [
        ((88, 12), (59, 68)),
        ((96, 41), (68, 88)),
        ((90, 2), (35, 81)),
    ]
    named = {"GPT-4o", "Gemini-2.5-Pro", "GPT-4o with MDAgents", "with GEPA", "with Monitor"}
    assert named < {*words(ax)}
    assert message(figure).startswith("In all three systems the fix corrects more")
    plots.save(figure, tmp_path / "tradeoff", message(figure), plots.message_of(figure)[1])
    assert faults(tmp_path / "tradeoff.svg") == []
    cures.loc[(cures["row"] == "GPT-4o GEPA") & (cures["column"] == "Cancer-Myth-NFP"), "value"] = (
        90
    )
    assert message(cancer_myth.tradeoff(cures)) == ""


def test_the_printed_yield_alone_and_with_a_runs_sets():
    printed = [
        Row(name, HARD, "recomputed", value, n=2982)
        for name, value in (("GPT-4o", 29.1), ("Gemini-1.5-Pro", 13.2), ("Claude-3.5-Sonnet", 14.4))
    ]
    figure = cancer_myth.generation(frame(printed), ["mine"])
    assert len(figure.axes) == 1 and {"29%", "13%", "14%"} == {*words(figure.axes[0])}
    assert message(figure).endswith("13 to 29% fooled their author")
    own = [Row("mine", HARD, "run", 50.0, 20, 80, 6), Row("mine after a", "valid set", "run", 3)]
    figure = cancer_myth.generation(frame([*own, *printed]), ["mine"])
    assert len(figure.axes) == 3
    printed[0] = printed[0]._replace(n=100)
    assert message(cancer_myth.generation(frame(printed), [])) == ""
