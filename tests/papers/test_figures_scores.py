"""Figures of radiation and MedHalu: what they say follows from what they draw, or isn't said."""

import pandas as pd
import pytest
from matplotlib.colors import to_hex

import medhalu_cells
from bedside.papers.medhalu import figures as medhalu
from bedside.papers.medhalu import tables
from bedside.papers.radiation import figures
from bedside.papers.radiation.data import SITES
from bedside.papers.radiation.tables import implied_rows, printed_rows
from bedside.write import plots
from bedside.write.tables import Row, frame
from medhalu_items import items_of, judged_of
from pictures import faults


def message(figure):
    return plots.message_of(figure)[0]


def changed(rows, row, column, value):
    """Rows with another value at one row and column."""
    mine = (rows["row"] == row) & (rows["column"] == column)
    assert mine.sum() == 1
    return rows.assign(value=rows["value"].mask(mine, value))


def checked(figure, folder, narrow=None):
    """The figure, saved: no text is small, turned, over another or over the edge."""
    texts = [t for ax in figure.axes for t in (*ax.texts, *ax.get_yticklabels(), ax.yaxis.label)]
    assert {t.get_rotation() for t in texts if t.get_text()} <= {0}
    plots.save(figure, folder / "f", message(figure), plots.message_of(figure)[1], narrow)
    assert [f for path in folder.glob("f*.svg") for f in faults(path)] == []
    return figure


# ---- radiation


@pytest.fixture
def run(run_of):
    return run_of("radiation", "03_grounded_selection")


@pytest.fixture
def one(run):
    return printed_rows(run, "Table 1")


@pytest.fixture
def three(run):
    return printed_rows(run, "Table 3")


COPY = frame(
    Row("copier", *score) for score in (("Precision", "raw", 0.833), ("Recall", "raw", 1.0))
)
COPY = pd.concat([COPY, frame([Row("copier", "F1", "raw", 0.906)])])


def test_the_best_free_form_recall_is_in_the_message(one, tmp_path):
    assert "no model names more than 60%" in message(checked(figures.free(one), tmp_path))
    assert message(figures.free(changed(one, "GPT-5.3", "Recall", 0.9))) == ""


def test_f1_rises_by_choosing_and_stays_below_a_copy(one, three, tmp_path):
    wide, narrow = (figures.chosen(three, one, COPY, narrow) for narrow in (False, True))
    checked(wide, tmp_path, narrow)
    assert "raises every model's F1, yet none reaches" in message(wide)
    assert plots.message_of(wide)[1].endswith("By precision, 5 of 7 models exceed the copy.")
    assert len(wide.axes) == 3 and [ax.get_title(loc="left") for ax in narrow.axes] == ["F1"]
    best = changed(three, "O4-Mini", "F1", 0.902)  # 0.907 at most
    assert message(figures.chosen(best, one, COPY)).endswith("every model's F1")
    assert message(figures.chosen(three, one)).endswith("every model's F1")
    assert message(figures.chosen(changed(three, "Gemma-2-9B", "F1", 0.39), one, COPY)) == ""


def test_an_arrow_is_red_where_a_score_falls_beyond_rounding(run, three, tmp_path):
    four = printed_rows(run, "Table 4")
    figure = checked(figures.sized(four, three, COPY), tmp_path)
    assert "only O4-Mini reaches" in message(figure)
    f1 = figure.axes[2]
    names = [t.get_text() for t in figure.axes[0].get_yticklabels()]  # from the top
    red = {
        names[len(names) - 1 - round(t.xy[1])]
        for t in f1.texts
        if not t.get_text() and to_hex(t.arrow_patch.get_edgecolor()) == plots.RED
    }
    assert red == {"Qwen-2.5-7B", "GPT-5.3"}  # 0.54 to 0.31, 0.88 to 0.86
    assert message(figures.sized(changed(four, "Mistral-7B", "F1", 0.95), three, COPY)) == ""
    assert message(figures.sized(four, three)) == ""


def test_the_longest_lists_are_named_while_far_longer_than_others(run, tmp_path):
    rows = implied_rows(run, pd.Series([25.0] * 21))
    figure = checked(figures.lengths(rows), tmp_path)
    # 25 x 0.47 / 0.15 = 78, 25 x 0.54 / 0.87 = 16
    assert "LLaMA-3.1-8B's printed scores imply some 80 items" in message(figure)
    assert "and 16 when it chooses" in message(figure)
    arrows = [sum(not t.get_text() for t in ax.texts) for ax in figure.axes]
    assert arrows == [7] * 4
    qwen = (rows["row"] == "Qwen-2.5-7B, free-form") & (rows["column"] == "Precision")
    assert message(figures.lengths(rows.assign(k=rows["k"].mask(qwen, 60)))) == ""


def test_overlaps_and_their_range(run, tmp_path):
    rows = printed_rows(run, "Table 5")
    assert "share 21 to 68%" in message(checked(figures.overlaps(rows), tmp_path))
    assert message(figures.overlaps(changed(rows, "Gemma-2-9B", "Overlap (FF)", 1.0))) == ""


def test_rare_effects_are_recalled_least_on_average(run, tmp_path):
    rows = pd.concat([printed_rows(run, "Table 6"), printed_rows(run, "Table 7")])
    figure = checked(figures.recalls(rows), tmp_path)
    assert "70% of common" in message(figure) and "41 to 45% of rare" in message(figure)
    onsets, frequencies = figure.axes
    # the means of the columns stand on top
    assert [t.get_text() for t in frequencies.texts[:4]] == ["0.70", "0.57", "0.41", "0.45"]
    assert [t.get_text() for t in onsets.get_yticklabels()][:2] == [
        "mean of the 7 models",
        "GPT-5.3",
    ]
    rare = rows["column"] == "Rare"
    assert message(figures.recalls(rows.assign(value=rows["value"].mask(rare, 0.6)))) == ""


@pytest.mark.parametrize(
    ("source", "most", "said"), [("raw", 29, True), ("run", 29, False), ("raw", 31, False)]
)
def test_the_references_lengths_are_within_those_printed(source, most, said, tmp_path):
    rows = frame(Row(site, "all", source, n) for site, n in zip(SITES, (23, 23, 27, most, 24)))
    figure = checked(figures.reference_lengths(rows), tmp_path)
    assert ("23 to 29 side effects" in message(figure)) == said == bool(message(figure))


# ---- MedHalu


@pytest.fixture
def shares(run_of):
    """A function that gives `rate_rows` behind tables, and of a run of one model."""
    run, items = run_of("medhalu", "02_detection"), items_of("fact", "none")

    def rows(*names):
        made = medhalu_cells.both_planes if "Table 10" in names else medhalu_cells.plane
        return made(run, judged_of(items, [1, 0]), items)

    return rows


def test_what_escapes_and_what_is_flagged_for_nothing(shares, tmp_path):
    rows = shares("Table 6")
    figure = checked(medhalu.rates(rows), tmp_path)
    assert message(figure) == (
        "On HealthQA and MedicationQA, over half of the hallucinated answers escape GPT-3.5 and"
        " GPT-4, and over half of the others are flagged by LLaMA-2"
    )
    first = figure.axes[0]
    assert [t.get_text() for t in first.get_yticklabels()][-1] == "Experts"
    # specificity 90.06: ten in a hundred of the other answers are flagged
    assert [t.get_text() for t in first.texts][-4:] == ["10", "others", "78", "hallucinated"]
    sure = (rows["label"] == "LLaMA-2") & (rows["column"] == "specificity, %")
    assert message(medhalu.rates(rows.assign(high=rows["high"].mask(sure, 51)))) == ""


def test_slopes_from_a_model_alone_to_one_that_has_a_reason(shares, tmp_path):
    rows = shares("Table 6", "Table 10")
    wide, narrow = (medhalu.notes(rows, narrow) for narrow in (False, True))
    checked(wide, tmp_path, narrow)
    assert (
        message(wide)
        == message(narrow)
        == (
            "Given an expert's reason, nearly all hallucinated answers of HealthQA are flagged by"
            " GPT-3.5 and GPT-4, and most of the others too"
        )
    )
    slopes = {tuple(c.lines[0].get_ydata().astype(float).round()) for c in wide.axes[0].containers}
    assert slopes >= {(47, 99), (13, 73), (47, 95), (13, 81)}
    noted = (rows["panel"] == "HealthQA") & (rows["column"] == "specificity, %")
    accepted = {c: rows[c].mask(noted, v) for c, v in (("low", 50), ("value", 55), ("high", 60))}
    assert message(medhalu.notes(rows.assign(**accepted))) == ""


def test_experts_lead_by_what_is_printed(run_of, tmp_path):
    run = run_of("medhalu", "02_detection")
    rows = run.published("Table 6")
    rows = rows[rows["column"].str.contains("ma-F1")]
    rows = frame(
        Row(f"{column.split()[0]}: {row}", "macro F1", "published", value, n=9)
        for row, column, value in zip(rows["row"], rows["column"], rows["value"])
    )
    said = "by 0.14 on HealthQA, 0.14 on MedicationQA and 0.05 on LiveQA"
    assert message(checked(medhalu.f1(rows), tmp_path)).endswith(said)
    assert message(medhalu.f1(changed(rows, "LiveQA: Experts", "macro F1", 0.52))) == ""


def test_questions_at_hand_are_as_long_as_printed_or_not(run_of):
    run = run_of("medhalu", "01_benchmark")
    two = pd.Series(["one two three", "one two three four"])
    rows = tables.benchmark.length_table(run, {"MedicationQA": (two, "raw")})
    assert message(medhalu.lengths(rows)) == ""
    counted = (rows["source"] == "raw") & rows["column"].str.startswith("words,")
    said = rows[(rows["row"] == "MedicationQA") & (rows["source"] == "published")]
    same = rows["column"].map(said.set_index("column")["value"])
    rows = rows.assign(value=rows["value"].mask(counted, same))
    assert message(medhalu.lengths(rows)) == "The questions of MedicationQA are as long as printed"
