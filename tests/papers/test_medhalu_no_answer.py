"""MedHalu: replies that are no answers, and captions tell what was cut."""

import asyncio
import json

import pandas as pd
import pytest
from medhalu_items import items_of, judged_of

import medhalu_cells
from bedside.papers.medhalu import building, detection, study, tables
from conftest import completion

# a reply that is no answer, the status of a verdict, and why
RIGHT = '{"verdict": "Yes", "spans": ["cold air"], "answer": "It is the cold air."}'
CALL = {"finish": "tool_calls", "tool_calls": [{"id": "a"}]}
NOTHING = [
    (completion("", "length"), "unparsed", "cut off while thinking"),
    (completion("", "content_filter"), "refused", "filtered"),
    (completion(RIGHT, "content_filter"), "refused", "filtered"),
    (completion(None, refusal="No."), "refused", "refused"),
    (completion(RIGHT, refusal="No."), "refused", "refused"),
    (completion(None, **CALL), "unparsed", "tool calls"),
    (completion(RIGHT, **CALL), "unparsed", "tool calls"),
    (completion(" \n "), "unparsed", "blank"),
]
KINDS = pytest.mark.parametrize("reply, status, why", NOTHING, ids=range(len(NOTHING)))


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "03_expert_in_the_loop")


@pytest.fixture
def items():
    """Two answers of each type."""
    types = ["fact", "none", "input", "context"] * 2
    return items_of(*types).assign(answer=[f"It is cold air number {k}." for k in range(8)])


def by_place(rows):
    """The run's rows by row and column."""
    return rows[rows["source"] == "run"].set_index(["row", "column"])


@KINDS
def test_a_detection_without_text_is_unscored_and_has_no_number(
    run, items, endpoint, reply, status, why
):
    endpoint.script = lambda n, body: reply
    notes = detection.notes(items, pd.DataFrame(columns=["group", "item", "reason"]))
    found = {"": asyncio.run(detection.detect(run, items, 50, 2))}
    found |= asyncio.run(study.detect_noted(run, items, notes, 50, 1))
    judged = pd.concat(found.values(), ignore_index=True)
    assert set(judged["status"]) == {status} and set(judged["why"]) == {why}
    assert judged["yes"].isna().all() and not judged["truncated"].any()

    replies = by_place(tables.detection.reply_table(judged, items))["value"]
    assert replies["served", f"no answer: {why}, %"] == 100
    assert replies["served", "can't be read, %"] == 0
    assert replies.loc["served"].count() == 3 and len(replies.loc["served"]) == 10

    six = medhalu_cells.six(run, judged, items)
    six = six[~six["row"].str.contains("always|coin")]
    ten, eight = (made(run, judged, items) for made in (medhalu_cells.ten, medhalu_cells.eight))
    for rows in (six, ten, eight):
        own = by_place(rows)
        assert own["value"].isna().all() and not own["n"].fillna(0).any()
    r = by_place(six).loc[("all: served", "macro F1")]
    assert (r["n"], r["unscored"]) == (0, 8)

    again = by_place(tables.detection.repeat_table(judged, items)).loc["served"]
    assert again["value"].isna().all() and not again["n"].any()
    right = {item: ["cold air"] for item in items["item"]}
    seven = tables.spans.span_table(run, judged, items, right)
    r = by_place(seven).loc[("HealthQA: served", "mean edit distance")]
    assert (r["n"], r["unscored"]) == (0, 8) and pd.isna(r["value"])
    plane = medhalu_cells.plane(run, judged, items).query("source == 'run'")
    assert len(plane) == 8 and plane["value"].isna().all() and not plane["n"].any()
    assert tables.cut.note(judged, items, tables.cut.overall).startswith("No reply was cut")


@KINDS
def test_an_answer_without_text_is_not_built(run, items, endpoint, reply, status, why):
    endpoint.script = lambda n, body: reply
    built = asyncio.run(building.build(run, items.drop(columns="answer"), "served", 30))
    asked = built["type"] != "none"
    assert set(built.loc[asked, "status"]) == {status} and set(built.loc[asked, "why"]) == {why}
    assert set(built.loc[~asked, "status"]) == {"graded"} and set(built.loc[~asked, "why"]) == {""}
    made = by_place(tables.benchmark.built_table(built))["value"]
    assert made["all", "gave no answer, %"] == made["all", f"no answer: {why}, %"] == 100
    assert pd.isna(made["all", "nearly the right answer, %"])


def test_the_cut_are_told_and_the_others_scored(run, items, endpoint):
    """Cut are the replies on the first answer of each type; the others say yes."""
    first = set(items["answer"].head(4))

    def script(n, body):
        cut = any(a in body["messages"][-1]["content"] for a in first)
        said = {"verdict": "No" if cut else "Yes", "spans": []}
        return completion(json.dumps(said), "length" if cut else "stop")

    endpoint.script = script
    judged = asyncio.run(detection.detect(run, items, 50, 1))
    people = judged_of(items, [1] * 8, evaluator="people: expert").drop(
        columns=["truncated", "why"]
    )
    both = pd.concat([judged, people], ignore_index=True)
    # of the uncut three are hallucinated and one isn't: accuracy 3/4; F1 of yes 6/7, of no 0
    note = tables.cut.note(both, items, tables.cut.overall)
    assert "served 4 of 8 (of the uncut: accuracy 0.75, macro-F1 0.43)" in note
    assert note.startswith("Warning") and "people" not in note and note.endswith(". ")
    note = tables.cut.note(both, items, tables.cut.rates)
    assert "(of the uncut: sensitivity 1.00, specificity 0.00)" in note
    note = tables.cut.note(both, items, tables.cut.by_type)
    assert "macro-F1 of Input-conflict 0.33, macro-F1 of Context-conflict 0.33" in note
    rows = by_place(tables.detection.reply_table(both, items))["value"]
    assert rows["served", "cut off at the limit, %"] == 50
    assert rows["served", "right where not cut off, %"] == 75
    assert rows["people: expert", "cut off at the limit, %"] == 0
    assert ("people: expert", "right where not cut off, %") not in rows.index


def test_where_all_is_cut_nothing_is_scored(run, items, endpoint):
    """What was to come might have changed the verdict, so there is none; nor are there spans."""
    endpoint.script = lambda n, body: completion('{"verdict": "Yes", "spans": ["co', "length")
    judged = asyncio.run(detection.detect(run, items, 50, 1))
    assert set(judged["status"]) == {"unparsed"} and judged["yes"].isna().all()
    rows = by_place(tables.detection.reply_table(judged, items))["value"]
    assert rows["served", "can't be read, %"] == rows["served", "cut off at the limit, %"] == 100
    six = by_place(medhalu_cells.six(run, judged, items))
    assert six.loc[("all: served", "macro F1"), ["n", "unscored"]].tolist() == [0, 8]
    right = tables.cut.span_distance({item: ["cold air"] for item in items["item"]})
    for score in (tables.cut.overall, tables.cut.rates, tables.cut.by_type, right):
        assert "8 of 8 (none of the uncut is scored)" in tables.cut.note(judged, items, score)


def test_without_items_models_have_rows_without_a_number(run, items, endpoint):
    none, models = items[:0], run.models
    judged = asyncio.run(detection.detect(run, none, 50, 2))
    assert "No items" in study.origin(study.ANSWERS, run, "built", none) and not endpoint.bodies
    for rows in (
        tables.detection.reply_table(judged, none, models),
        tables.detection.repeat_table(judged, none, models),
    ):
        own = by_place(rows).loc["served"]
        assert len(own) and own["value"].isna().all() and not own["n"].any()
    for rows in (
        medhalu_cells.six(run, judged, none),
        medhalu_cells.eight(run, judged, none),
        medhalu_cells.ten(run, judged, none),
        tables.spans.span_table(run, judged, none, {}),
    ):
        assert len(rows) and by_place(rows)["value"].isna().all()
    assert detection.turned(judged, none, "served", {}).empty
