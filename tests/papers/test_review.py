"""The physicians' review of candidates: its rows, its task, what raters keep, what is shown."""

import json

import pandas as pd
import pytest

from bedside import annotation
from bedside.annotation import raters, tasks
from bedside.annotation.faults import fault_of
from bedside.papers.cancer_myth import data, display, pipeline
from bedside.papers.cancer_myth.labels import reviewed
from bedside.papers.cancer_myth.tables import generation as tables
from bedside.read import sources
from bedside.run import Run
from judged import shown

TASK = tasks()["review"]


@pytest.fixture(autouse=True)
def scratch(monkeypatch, tmp_path):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))


def reviews(profile):
    """The candidates without those of this run's loop."""
    run = run_of(profile)
    none = pd.DataFrame(columns=["item", "value", "judge", "sent", "question", "correction"])
    frame = pipeline.reviewed(run, data.released(run), none)
    return annotation.rows(shown(run, "review", frame))


def run_of(profile="sample"):
    return Run("cancer_myth", display.REVIEWED, profile=profile)


def test_a_rater_sees_question_and_correction_and_nothing_else():
    known = {row["item"]: row for row in reviews("sample")}
    shown = annotation.blind.material(known["cand-4"], TASK)
    own = data.taken_out(run_of()).set_index("item").loc["cand-4"]
    assert [b["text"] for b in shown["before"]] == [own["question"]]
    assert shown["answer"] == {"label": "Correction", "text": own["correction"]}
    assert shown["after"] == [] and own["reason"] not in json.dumps(shown)


@pytest.mark.parametrize(
    "value, reason, right",
    [("keep", "", True), ("none", "", False), ("unsound", "", False), ("none", "Why.", True)],
)
def test_a_rejection_needs_a_reason(value, reason, right):
    said = {"type": "", "spans": [], "reason": reason, "refused": "", "source": ""}
    assert (fault_of(TASK, [value], said, 1, "", protocol=True) == "") == right


def test_ours_have_a_label_that_the_task_knows():
    own = data.taken_out(run_of())
    assert set(own["label"]) == {"none", "unsound"} <= set(TASK.values)
    assert set(own["why"]) - {""} == {value for _, value, _ in TASK.labels}
    assert set(own["category"]) <= set(data.CATEGORIES.values())


def test_what_own_raters_keep():
    """Of four candidates three are kept: one of two of the first category, both of the second."""
    labels = ["keep", "unsound", "keep", "keep"]
    made = [
        reviewed({"item": f"c{i}", "title": "Q?", "category": c}, label, "Ann")
        for i, (c, label) in enumerate(zip("AABB", labels))
    ]
    found = tables._reviewed(pd.DataFrame(made))
    assert {r.row: (r.value, r.n) for r in found} == {"all": (75, 4), "A": (50, 2), "B": (100, 2)}
    assert set(made[0]) == set(sources.entry("cancer_myth_reviewed")["columns"])


def test_each_category_has_its_example():
    assert list(data.of_each_category(run_of())["category"]) == list(data.CATEGORIES.values())


@pytest.mark.skipif(not sources.here("cancer_myth_candidates"), reason="released data")
def test_released_candidates():
    run = run_of("public")
    assert list(data.of_each_category(run)["category"]) == list(data.CATEGORIES.values())
    assert "retinoblastoma" in data.taken_out(run)["question"].iloc[0]
    known = reviews("public")
    assert len(known) == 874
    found = raters.reference(known, "review").set_index("item")["value"]
    assert (found == "keep").sum() == 585 and (found == "none").sum() == 149
    assert found["candidate-3"] == "keep"
    assert found.reindex(list(data.DROPPED), fill_value="").tolist() == ["none", "none"]
