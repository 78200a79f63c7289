"""Annotation: names of models and raters, files of labels, the box that asks for a name."""

import json

import annotation_own
import pytest
from annotation_rows import SECRET, lines, many

from bedside import BedsideError, annotation
from bedside.annotation import Draw, Log, Session, alias, tasks
from bedside.keep import registry
from bedside.keep.store import digest
from bedside.publish import judged_items

session = annotation_own.session  # a fixture


# ---- names and files


TASKS = [name for name in tasks() if name != "own"]  # own studies are elsewhere


@pytest.fixture(scope="module")
def shown():
    return annotation.rows(judged_items.collect("sample"))


def test_every_task_has_rows(shown):
    here = [name for name, task in tasks().items() if annotation.candidates(shown, task)]
    assert here == TASKS


@pytest.mark.parametrize("task", TASKS)
def test_records_name_no_model_and_no_configuration(shown, tmp_path, task):
    names = {r["model"] for r in shown} | {*registry.entries()}
    every = Draw(size=0, repetitions=0.0, tiny=True)
    s = Session(shown, task, "Ann", drawing=every, folder=tmp_path)
    while not s.done:
        assert s.label("", reason="x", refused="faulty") == ""
    for record in lines(s):
        assert not [n for n in names if n in json.dumps(record)]
    whole = annotation.candidates(shown, s.task, tiny=True)
    asked = {alias(piece["id"]) for row in whole for piece in s.task.asked(row)}
    assert {r["id"] for r in lines(s)} == {alias(e.row["id"]) for e in s.queue} <= asked


def old(session, entry, value):
    """A line of a file as they were written before refusals and aliases."""
    task, one = session.task, entry.row
    fields = {"id": one["id"], "paper": one["paper"], "item": one["item"], "task": task.name}
    fields |= {"rater": "Ann", "group": "", "value": value, "type": "", "spans": [], "reason": ""}
    fields |= {"seconds": 1.5, "at": "2026-01-02T00:00:00+00:00", "check": False, "sample": {}}
    return fields | {"text_sha256": digest(annotation.material(one, task))}


def test_files_of_before_load_and_count(session):
    s = session(many(3))
    s.log.path.parent.mkdir()
    made = [json.dumps(old(s, e, "1")) for e in s.queue[:2]]
    s.log.path.write_text("\n".join(made) + "\n")
    again = session(many(3))
    assert again.progress == (2, 3) and not again.log.damaged
    again.back()
    assert again.shown()["earlier"] == {
        "values": ["1"],
        **{"type": "", "spans": [], "reason": "", "refused": "", "source": ""},
    }
    again.label("0")  # the same row under its alias: the later line wins
    assert again.progress == (2, 3)
    assert [r["value"] for r in again.log.labels().values()] == ["1", "0"]
    assert SECRET in lines(s)[0]["id"] and SECRET not in lines(s)[2]["id"]


def test_an_alias_stays_and_others_differ():
    assert alias(alias("a/b")) == alias("a/b") != alias("a/c")
    assert "smollm" not in alias("cancer_myth/02/cm-1/smollm2-135m/plain")


@pytest.mark.parametrize(
    "field, value",
    [("id", ["x"]), ("value", 1), ("spans", "x"), ("check", "no"), ("refused", None), ("at", 3)],
)
def test_a_line_with_a_value_of_another_kind_is_damaged(session, field, value):
    s = session(many(2))
    s.label("1")
    with open(s.log.path, "a") as f:
        f.write(json.dumps(lines(s)[0] | {field: value}) + "\n")
    again = session(many(2))
    assert again.progress == (1, 2) and len(again.log.damaged) == 1


@pytest.mark.parametrize("name", ["adjudicated", "Adjudicated", " ADJUDICATED "])
def test_adjudicated_is_reserved(session, name):
    with pytest.raises(BedsideError, match="reserved"):
        session(many(2), rater=name)


# ---- the box


def box(folder, rater="", **given):
    settings = {"folder": folder, "size": 0, "repetitions": 0.0} | given
    return annotation.box(many(3), "presupposition", rater, **settings)


def enter(made, name, sure=False):
    made.take(None, {"do": "open", "name": name, "sure": sure}, [])
    return made.shown


@pytest.mark.parametrize("name", ["../x", "a/b", "adjudicated", "x" * 50])
def test_the_box_asks_again_after_a_bad_name(tmp_path, name):
    made = box(tmp_path, name)
    assert made.about == {} and made.shown["fault"] and made.shown["known"] is None
    assert enter(made, name)["fault"] == made.shown["fault"]
    enter(made, "Ann")
    assert made.about["rater"] == "Ann" and made.shown["place"] == 0
    assert not made.shown["fault"]


def test_the_box_keeps_the_adjudicators_name_though_it_has_labels(session, tmp_path):
    there = many(3)
    opinions = {r["id"]: [{"value": "1"}] for r in there}
    final = session(there, rater="adjudicated", opinions=opinions)
    final.label("1")
    made = box(tmp_path, "adjudicated")
    assert "reserved" in made.shown["fault"] and made.shown["known"] is None
    made = box(tmp_path, "adjudicated", opinions=opinions)
    assert made.shown["known"]["labels"] == 1
    assert enter(made, "adjudicated", sure=True)["opinions"]


def test_the_box_says_what_a_name_has_before_it_goes_on(tmp_path):
    first = box(tmp_path, "Ann")
    assert first.about["rater"] == "Ann"
    first.session.label("1")
    first.session.label("", reason="x", refused="faulty")
    made = box(tmp_path, "Ann")
    known = made.shown["known"]
    assert made.about == {} and (known["labels"], known["refused"]) == (1, 1)
    assert known["since"] == lines(first.session)[0]["at"][:10]
    assert enter(made, "Ben")["place"] == 0 and made.about["rater"] == "Ben"
    again = box(tmp_path)
    assert enter(again, "Ann")["known"]["labels"] == 1
    assert enter(again, "Ann", sure=True)["handled"] == 2 and again.about["rater"] == "Ann"


def test_the_box_says_what_else_is_wrong(tmp_path):
    assert "expert, layperson" in box(tmp_path, "Ann", group="a/b").shown["fault"]
    assert "size" in box(tmp_path, "Ann", size=-1).shown["fault"]
    asked = box(tmp_path, "Dan", raters=("Ben", " Ann"))
    assert asked.shown["names"] == ["Ann", "Ben"] and "no share" in asked.shown["fault"]
    assert enter(asked, "Ben")["of"] and asked.about["rater"] == "Ben"
    wrong = annotation.box(many(2), "presuposition", "Ann", folder=tmp_path)
    assert "did you mean 'presupposition'" in wrong.shown["fault"]


# ---- adjudication


def test_a_log_that_is_not_there_has_no_labels(tmp_path):
    assert Log(tmp_path, "nfp", "Ann").labels() == {}
