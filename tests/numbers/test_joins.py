"""Joins lose no row in silence: each finds its counterpart, or its absence is told."""

import asyncio
import json
import re

import pandas as pd
import pytest

from bedside import BedsideError, own
from bedside.annotation import raters
from bedside.asking import models
from bedside.judging import judges
from bedside.own import results
from bedside.papers import radiation
from bedside.papers.cancer_myth import data as cancer_myth
from bedside.papers.cancer_myth import study as evaluation
from bedside.papers.meddialbench import examples
from bedside.papers.medhalu import labels as medhalu
from bedside.papers.radiation import study as lists
from bedside.read import checks, paths, sources
from bedside.run import Run
from conftest import completion
from judged import elsewhere
from own_studies import compared

LEFT = pd.DataFrame({"item": ["a", "b"], "x": [1, 2]})


# ---- the helpers


def test_a_join_in_which_all_have_a_counterpart_is_pandas_own():
    right = pd.DataFrame({"item": ["b", "a"], "y": [3, 4]})
    expected = LEFT.merge(right, on="item")
    pd.testing.assert_frame_equal(checks.joined(LEFT, right), expected)
    assert checks.joined(LEFT[:0], right[:0]).empty


@pytest.mark.parametrize(
    "items, whole, lost",
    [
        (["a"], "left right", "1 of 2 rows to be joined by item have no counterpart"),
        (["a"], "left", "the first is 'b'"),
        (["a"], "right", ""),
        (["a", "b", "c"], "left right", "1 of 3 .* the first is 'c'"),
        (["a", "b", "c"], "right", "the first is 'c'"),
        (["a", "b", "c"], "left", ""),
        ([], "left right", "2 of 2 rows"),
        (["a", "b "], "left right", "the first is 'b'"),
        (["a", None], "left right", "1 of 2 rows"),
    ],
)
def test_a_row_without_a_counterpart_is_an_error_that_names_it(items, whole, lost):
    right = pd.DataFrame({"item": pd.Series(items, dtype=object)})
    if not lost:
        assert len(checks.joined(LEFT, right, whole=whole)) == min(2, len(items))
        return
    with pytest.raises(BedsideError, match=lost):
        checks.joined(LEFT, right, whole=whole)


def test_a_join_by_several_columns_names_all_of_them():
    left = LEFT.assign(model="m")
    with pytest.raises(
        BedsideError, match=re.escape("joined by item, model have no") + ".*'b', 'm'"
    ):
        checks.joined(left, left[:1], ["item", "model"])


def test_a_key_that_stands_twice_is_an_error():
    with pytest.raises(pd.errors.MergeError):
        checks.joined(LEFT, pd.concat([LEFT, LEFT])[["item"]])


def test_what_is_left_out_is_counted_and_named(capsys):
    frame = pd.DataFrame({"item": [*"abcdea", "f"]})
    assert checks.within(frame, "item", ["a"], "labels of x")["item"].tolist() == ["a", "a"]
    told = "5 of 7 labels of x are left out: this run has no item 'b', 'c', 'd', ...\n"
    assert capsys.readouterr().out == told
    assert len(checks.within(frame, "item", list("abcdef"), "labels")) == 7
    assert capsys.readouterr().out == ""


# ---- where rows once vanished


@pytest.fixture
def external(tmp_path, monkeypatch):
    """A folder of the user's own files; returns a function that writes one of records."""

    def write(name, *records):
        path = sources.where(name)[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csv":
            pd.DataFrame(records).to_csv(path, index=False)
        else:
            path.write_text("".join(json.dumps(r) + "\n" for r in records))
        sources.forget()

    elsewhere(monkeypatch, tmp_path)
    yield write
    sources.forget()


def dialogue(item, number):
    return {
        "dialogue": f"own {number}",
        "item": item,
        "levels": ["vague"],
        "text": "Doctor: How?\nPatient: So.",
        "said": "So.",
        "shown": ["expression"],
        "labelled_by": "Ann",
    }


def test_a_rated_answer_to_an_item_of_another_profile_is_told(run_of, external, capsys):
    """The same holds in what `make new` copies: see test_new."""
    run = run_of("meddialbench", "01_design_and_validation")
    external(
        "meddialbench_rated_adherence",
        *(dialogue(i, n) for n, i in enumerate(("case-1", "osce-007"))),
    )
    known = examples.Labelled(run)
    assert known.adherence["rated"].sum() == 1
    told = capsys.readouterr().out
    assert "1 of 2 labels of meddialbench_rated_adherence are left out" in told
    assert "this run has no item 'osce-007'" in told


def test_a_raters_label_of_another_profiles_answer_is_told(run_of, external, capsys):
    run = run_of("medhalu", "02_detection")
    items = run.load("medhalu_answers_sample").head(2)
    label = {"rater": "ann", "group": "lay", "hallucinated": "no", "type": "", "spans": ""}
    label |= {"reason": ""}
    external(
        "medhalu_annotations", *({"item": i, **label} for i in (items["item"][0], "liveqa-TQ9"))
    )
    found = medhalu.annotations(run, items)
    assert (found["group"] == "lay").sum() == 1
    told = capsys.readouterr().out
    assert "1 of 2 labels of" in told and "annotations.csv are left out" in told
    assert "this run has no item 'liveqa-TQ9'" in told


def test_a_labelled_answer_without_its_question_is_an_error(run_of, monkeypatch):
    run = run_of("cancer_myth", "05_judge_agreement")
    load = run.load

    def lacking(*names):
        answers, asked = load(*names)
        return answers, asked[asked["item"] != "cm-only-1"]

    monkeypatch.setattr(run, "load", lacking)
    with pytest.raises(BedsideError, match="rows to be joined by item have no counterpart"):
        cancer_myth.labelled(run)


@pytest.mark.parametrize("lost", ["answer", "verdict"])
def test_an_answer_or_verdict_of_another_item_is_an_error(run_of, endpoint, monkeypatch, lost):
    """A judge's reply that is filed under another item must not make an answer vanish."""
    run = run_of("cancer_myth", "03_evaluation")
    items = cancer_myth.questions(run).head(3)
    endpoint.script = lambda n, body: completion('{"score": 1}')
    answered = asyncio.run(evaluation.answers(run, items, 99))
    if lost == "answer":
        answered["item"] = answered["item"].replace(items["item"][1], "another")
    else:
        grade = run.grade

        async def elsewhere(frame, *given, **more):
            found = await grade(frame, *given, **more)
            return found.assign(item=found["item"].replace(items["item"][1], "another"))

        monkeypatch.setattr(run, "grade", elsewhere)
    with pytest.raises(BedsideError, match="1 of 3 rows to be joined by item"):
        asyncio.run(evaluation.verdicts(run, items, answered, evaluation.Known(), "served"))


def test_a_list_without_its_patient_is_an_error(run_of, endpoint, monkeypatch):
    run = run_of("radiation", "02_free_form")
    patients = radiation.data.profiles(run).head(2)
    endpoint.script = lambda n, body: completion("- fatigue\n- nausea")

    async def another(*given, **more):
        return (await answers_of(*given, **more)).replace(
            {"item": {f"{patients['item'][0]}/base/free-form": "x"}}
        )

    answers_of = lists.answers_of
    monkeypatch.setattr(lists, "answers_of", another)
    with pytest.raises(BedsideError, match="rows to be joined by key have no counterpart"):
        asyncio.run(lists.listed(run, patients, ["free-form"], 99))


def test_judges_grade_what_they_were_given(served):
    """One verdict for each item, whatever the replies say of themselves."""

    async def swapped(requests, label):
        return [models.not_recorded(r) for r in requests[:1] * 2]

    frame = pd.DataFrame({"item": ["a", "b"], "question": "q", "correction": "c", "answer": "x"})
    question = judges.Question([0, 1], "cancer_myth/judge")
    asked = judges.grade(frame.assign(reply_status=""), "served", question, swapped)
    with pytest.raises((BedsideError, pd.errors.MergeError)):
        asyncio.run(asked)


# ---- own studies


def test_files_of_two_runs_do_not_pass_for_one(tmp_path, monkeypatch, served, endpoint):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))
    (tmp_path / "mine.csv").write_text("item,question\nq1,Why?\nq2,How?\n")
    endpoint.script = lambda n, body: completion('{"score": 1}')
    compared(str(tmp_path / "mine.csv"), models="served", judge="served")
    path = tmp_path / "figures/own/mine/verdicts.csv"
    path.write_text("".join(path.read_text().splitlines(True)[:-1]))
    with pytest.raises(BedsideError, match="1 of 2 rows to be joined by item, model, unit"):
        own.changed("mine", "mine")


def test_two_models_without_a_common_answer_stand_in_the_table_with_n_0():
    """a answers q1, b answers q2: no test, but a row that says so."""
    graded = pd.DataFrame(
        {"item": ["q1", "q2"], "model": ["a", "b"], "status": "graded", "value": 1}
    ).assign(unit=lambda f: f["item"], group="", judge="j", configuration="plain")
    run = Run("cancer_myth", "03_evaluation")
    run.judges, run.criteria = ["j"], {}
    found = results.pairs(run, graded)
    assert len(found) and set(found["row"]) == {"a vs b"}
    assert found["value"].isna().all() and (found["n"] == 0).all()


# ---- raters


def test_a_repetition_whose_first_label_is_gone_is_not_compared():
    row = {
        **dict.fromkeys(("paper", "part", "group", "type", "reason", "source", "refused"), ""),
        "unit": "u",
        "rater": "Ann",
        "seconds": 1.0,
        "spans": [],
    }
    made = [("a", "1", False), ("a", "1", True), ("b", "0", True)]
    given = pd.DataFrame(
        [{**row, "id": i, "item": i, "value": v, "repetition": again} for i, v, again in made]
    )
    found = raters.attention(given).set_index("column")
    again = found.loc["repetitions answered as before, %"]
    assert (again["value"], again["n"]) == (100, 1)


def test_a_label_that_stands_twice_is_an_error_not_two_verdicts():
    judged = pd.DataFrame(
        [["a", "u", "", "s", "m", "c", "judge", "graded", "1"]], columns=raters.rates.SAID
    )
    settled = pd.DataFrame({"id": ["a", "a"], "part": "", "value": ["1", "0"]})
    with pytest.raises(pd.errors.MergeError):
        raters.rates.corrected(judged, settled, "own", None)
