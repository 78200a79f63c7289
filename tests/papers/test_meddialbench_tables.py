"""MedDialBench's tables by hand: Tables 1, 8 and 9, how consultations end, and captions."""

import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import scores
from bedside.papers.meddialbench.tables import baseline, interactions, over, validation
from bedside.papers.meddialbench.tables import vulnerability as tables
from bedside.tables import frame

NAN = float("nan")


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "05_vulnerability")


@pytest.fixture
def design(run):
    return designs.read(run)


def done_of(cells, model="m"):
    """Outcomes by hand from {configuration: right or not of each case}."""
    rows = [
        (f"case-{k}", name, model, float(v))
        for name, right in cells.items()
        for k, v in enumerate(right)
    ]
    return pd.DataFrame(rows, columns=["case", "configuration", "model", "correct"])


def at(rows):
    return rows.set_index(["row", "column", "source"])


def test_table_1_has_all_works_and_the_design_at_hand(run, design):
    found = at(validation.related_table(run, design))
    assert len(found) == 14 * 3 + 3
    assert found.at[("Q4Dx", "graded severity", "published"), "value"] == 0.5
    none = found.loc[("MedDialogRubrics", "interaction", "published"), "value"]
    assert pd.isna(none)  # printed as N/A
    mine = found.xs("run", level="source")["value"]
    assert mine.tolist() == [1, 1, 1]
    designs_ = {**design.__dict__, "combinations": {}}
    alone = at(validation.related_table(run, designs.Design(**designs_)))
    assert alone.at[("the design of this run", "interaction", "run"), "value"] == 0


def test_table_8_finds_the_case_that_fails_under_both_alone(run, design):
    # case-0 fails at the baseline, case-1 under each, case-2 under C1 alone
    cells = {
        "baseline": [0, 1, 1],
        "fabricating": [1, 0, 1],
        "withholding": [1, 1, 1],
        "C1": [0, 0, 0],
    }
    other = done_of({k: [NAN, NAN, v[2]] for k, v in cells.items()}, "other")
    other.loc[other["configuration"] == "baseline", "correct"] = NAN
    rows, case = interactions.case_table(run, design, pd.concat([done_of(cells), other]))
    found = at(rows)
    assert case == "case-2"
    assert found.at[("C1", "Correct", "published"), "value"] == 1
    assert found.at[("C1", "Models wrong", "published"), "value"] == 4
    numbers = ["value", "n", "unscored"]
    assert found.loc[("C1", "Correct", "run"), numbers[:2]].tolist() == [0, 2]
    assert found.loc[("C1", "Models wrong", "run"), numbers[:2]].tolist() == [2, 2]
    assert found.loc[("Baseline", "Correct", "run"), numbers].tolist() == [1, 1, 1]
    for none in (done_of({**cells, "C1": [1, 1, 1]}), done_of({"baseline": [1]})):
        rows, case = interactions.case_table(run, design, none)
        assert case == "" and set(rows["source"]) == {"published"}


def test_table_9_has_17_configurations_of_five_models_with_their_marks(run):
    done = done_of({"baseline": [1] * 6, "C1": [0] * 6, "C2": [0, 1, 1, 1, 1, 1]})
    rows = tables.complete_table(run, done, scores.changes(done, run))
    found = at(rows)
    published = found.xs("published", level="source")
    assert len(published) == 5 * 17 + 5 * 16
    assert published.at[("Claude", "C1"), "value"] == 29.4
    assert published.at[("Claude", "C1, marked"), "value"] == 1
    assert published.at[("Claude", "C5, marked"), "value"] == 0
    # 25 of 85 print as 29.4
    assert found.at[("Claude", "C1", "recomputed"), "value"] == pytest.approx(2500 / 85)
    names = published.loc["Claude"].index.tolist()
    assert names[:3] == ["baseline", "vague", "vague, marked"] and names[-1] == "C6, marked"
    # exact McNemar: six lost of six, p = 2 / 2^6; one lost, p = 1
    mine = found.xs("run", level="source").loc["m", "value"]
    assert mine.to_dict() == pytest.approx(
        {"baseline": 100, "C1": 0, "C1, marked": 1, "C2": 500 / 6, "C2, marked": 0}
    )


def test_shares_of_consultations_are_over_cases(run):
    # 12 cases, each under four configurations and all alike within a case: as wide as 12 are
    done = pd.DataFrame(
        [
            (f"case-{k}", f"c{c}", "m", "ended" if k < 6 else "limit", "", "", "", 0, k < 6)
            for k in range(12)
            for c in range(4)
        ],
        columns="case configuration model end by why reply_status truncated correct".split(),
    )
    found = at(baseline.end_table(run, done)).loc[("the doctor ended it", "m", "run")]
    alone, twelve = stats.wilson(24, 48), stats.wilson(6, 12)
    assert found["value"] == 50 and found["n"] == 48
    assert found["low"] < 100 * twelve.low < 100 * alone.low


def test_captions_say_over_how_many_cases_intervals_are():
    nine, ten = (pd.Series([f"case-{k}" for k in range(n)] * 2) for n in (9, 10))
    run = frame([("a", "x", "run", 1, None, None, 9), ("a", "x", "published", 1)])
    assert over(run, pd.Series([], dtype=object)) == ""
    assert over(run, ten) == "This run's intervals are over 10 cases. "
    few = "This run's intervals are over 9 cases; a bootstrap interval needs at least 10. "
    assert over(run, nine) == few
    # words come from the rows: recomputed ranges rest on the paper's cases, not on the run's
    theirs = frame([("a", "O/E", "recomputed", 1, 0.5, 1.5, 85), ("b", "x", "recomputed", 1)])
    paper = "Recomputed ranges rest on the paper's 85 cases. "
    assert over(theirs, nine) == paper and over(theirs[1:], nine) == ""
    assert over(pd.concat([run, theirs]), nine) == few + paper
