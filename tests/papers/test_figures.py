"""Figures of the studies: no panel of nothing, and one way to draw one thing."""

from types import SimpleNamespace

import pandas as pd
import pytest

from bedside.papers.cancer_myth import figures as cancer_myth
from bedside.papers.cancer_myth.survey import HUMAN
from bedside.papers.cancer_myth.tables import evaluation
from bedside.papers.cancer_myth.tables.generation import HARD
from bedside.papers.meddialbench import design, implied
from bedside.papers.meddialbench import figures as meddialbench
from bedside.papers.meddialbench.tables import interactions, single, vulnerability
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


@pytest.fixture
def consultations(run_of):
    """A run of MedDialBench, its design, and Table 9's accuracies."""
    run = run_of("meddialbench", "03_single_dimension")
    return run, design.read(run), implied.share(run)


COLUMNS = ["dimension", "source", "severity", "series", "value", "low", "high"]
NO_DOSE = pd.DataFrame(columns=COLUMNS)


@pytest.mark.parametrize("narrow", [False, True])
def test_every_printed_model_has_a_line_and_the_largest_loss_the_large_panel(
    consultations, narrow, tmp_path
):
    _, plan, accuracy = consultations
    figure = meddialbench.dose(NO_DOSE, plan, accuracy, narrow)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[0] == "Logic" and {*titles} == {d["title"] for d in plan.dimensions.values()}
    first, *others = figure.axes
    assert len(first.lines) == 5 and all(len(ax.lines) == 6 for ax in others)  # with their mean
    assert "all five models" in message(figure)
    plots.save(figure, tmp_path / "dose", message(figure), plots.message_of(figure)[1])
    assert faults(tmp_path / "dose.svg") == []


def test_a_message_on_fabricating_needs_every_model_to_lose_most_by_it(consultations):
    _, plan, accuracy = consultations
    flipped = accuracy.copy()
    flipped.loc["fabricating", "Claude"] = flipped.loc["vague", "Claude"] + 1
    assert message(meddialbench.dose(NO_DOSE, plan, flipped)) == ""


def test_a_design_of_ones_own_has_its_doctors_lines(consultations):
    _, plan, accuracy = consultations
    mine = [("logic", "run", k, "mine", v, v, v) for k, v in enumerate((0.5, 0.4, 0.2))]
    rows = pd.DataFrame(mine, columns=COLUMNS)
    figure = meddialbench.dose(rows, plan, accuracy.iloc[:0])
    (drawn,) = figure.axes  # no panel of nothing
    assert drawn.get_title(loc="left") == "Logic"
    assert drawn.containers[0].lines[0].get_ydata().tolist() == [50, 40, 20]
    assert message(figure) == ""


def test_lost_accuracy_by_lost_coverage(consultations):
    run, *_ = consultations
    rows = frame(single.printed_changes(run))
    assert "more than twice" in message(meddialbench.coverage(rows))
    of = rows["row"].str.startswith("fabricating") & (rows["column"] == single.COVERAGE)
    rows.loc[of, "value"] = -0.09
    assert message(meddialbench.coverage(rows)) == ""
    cells = [Row(c, "mine", "run", 0.5) for c in ("baseline", "vague")]
    figure = meddialbench.coverage(pd.concat([rows, frame(cells)]))
    assert len(figure.axes) == 2  # this run's coverage beside it


@pytest.fixture
def pairs(consultations):
    run, plan, _ = consultations
    nothing = pd.DataFrame(columns=["configuration", "model", "value", "low", "high", "n"])
    oe = implied.ratios(run, implied.combinations(plan))
    return interactions.interaction_table(run, plan, oe, nothing, nothing), plan


@pytest.mark.parametrize("narrow", [False, True])
def test_pairs_are_spelt_out_and_their_ratios_start_at_one(pairs, narrow, tmp_path):
    rows, plan = pairs
    figure = meddialbench.interactions(rows, plan, narrow)
    (ax,) = figure.axes
    spelt = " ".join([*words(ax), *(t.get_text() for t in ax.get_yticklabels())])
    assert "fabricates + incoherent (C2)" in spelt and "withholds + dominant (C4)" in spelt
    assert ax.get_xscale() == "log" and [b.get_x() for b in ax.patches] == pytest.approx([1] * 6)
    assert "19 to 30%" in message(figure) and "within 10%" in message(figure)
    plots.save(figure, tmp_path / "pairs", message(figure), plots.message_of(figure)[1])
    assert faults(tmp_path / "pairs.svg") == []


def test_the_message_on_pairs_needs_those_with_fabricating_apart(pairs):
    rows, plan = pairs
    rows.loc[(rows["row"] == "C1") & (rows["source"] == "published"), "value"] = 0.96
    assert message(meddialbench.interactions(rows, plan)) == ""


def test_a_ratio_of_nought_is_named_below_a_log_scale(pairs):
    rows, plan = pairs
    mine = frame([Row("C1", "O/E, mine", "run", 0.0), Row("C2", "O/E, mine", "run", 1.1)])
    figure = meddialbench.interactions(pd.concat([rows, mine], ignore_index=True), plan)
    assert plots.message_of(figure)[1].endswith(" O/E of 0, not shown: C1, mine.")
    assert [t.get_text() for t in figure.legends[0].texts] == ["This run: mine"]


def test_profiles_are_sorted_and_their_message_needs_every_models_worst(consultations):
    run, plan, _ = consultations
    changed = pd.DataFrame(columns=["configuration", "model", "value", "low", "high", "n"])
    rows = vulnerability.profile_rows(run, changed)
    figure = meddialbench.profiles(rows, plan)
    (ax,) = figure.axes
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert names[0] == "fabricates + denies (C3)" and names[-1] == "incoherent"
    assert "All five models" in message(figure)
    rows.loc[(rows["row"] == "vague") & (rows["column"] == "Qwen"), "value"] = 0.9
    assert message(meddialbench.profiles(rows, plan)) == ""
    mine = pd.DataFrame([Row("vague", "mine", "run", 0.1), Row("a + b", "mine", "run", None)])
    figure = meddialbench.profiles(pd.concat([rows, mine]), plan)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["The paper's models", "This run"]


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
