"""The physicians' survey as tasks: its paragraphs, its labels, agreement with its physicians."""

import itertools

import numpy as np
import pandas as pd
import pytest
from raters_labels import cells, frame_of, row

import rater_pages
from bedside import BedsideError, annotation
from bedside.annotation import raters, tasks
from bedside.papers.cancer_myth import labels as room
from bedside.papers.cancer_myth import survey
from bedside.publish.judged_items import text
from bedside.read import sources
from bedside.read.surroundings import here
from bedside.run import Run
from judged import shown

ANSWER = "First,  see **your** team.\n \n\n2. Then rest.\n\n\n\nLast, a walk."
PARAGRAPHS, ANSWERS = "survey_paragraphs", "survey_answers"
SOURCES = ["GPT-4-Turbo", survey.HUMAN]


def rows(questions=12):
    """Rows of the survey in words of our own: two sources for each question."""
    made = []
    for number, source in itertools.product(range(1, questions + 1), SOURCES):
        item = f"survey-{number}"
        id = f"cancer_myth/01_physician_survey/{item}/{source}/survey"
        reply = f"{ANSWER} Source {SOURCES.index(source)}, question {number}."
        more = {"shared": [text("Patient's question", f"question {number}")], "human": []}
        made.append(row(item, PARAGRAPHS, id=id, reply=reply, model=source, **more))
    return made


def own(known, score, rater="Ann"):
    """A rater's labels of all paragraphs as a frame: score of (question, part)."""
    pieces = {p["id"]: p for p in raters.asked(known, PARAGRAPHS)}

    def value(id):
        return score(int(pieces[id]["item"].split("-")[1]), int(id.rpartition("#")[2]))

    labels = frame_of([(rater, id, value(id), False) for id in pieces])
    return labels.assign(unit=[pieces[id]["unit"] for id in labels["id"]])


def test_an_answer_comes_in_the_surveys_paragraphs():
    (first, *_) = known = rows(1)
    pieces = tasks()[PARAGRAPHS].asked(first)
    assert [p["id"] for p in pieces] == [f"{first['id']}#{n}" for n in (1, 2, 3)]
    assert [p["reply"] for p in pieces][:2] == ["First, see your team.", "Then rest."]
    seen = annotation.material(pieces[1], tasks()[PARAGRAPHS])
    assert [b["label"] for b in seen["before"]] == ["Patient's question"]
    assert [b["label"] for b in seen["after"]] == ["The whole answer"]
    assert "Last, a walk." in seen["after"][0]["text"] and "*" not in str(seen)
    (whole,) = tasks()[ANSWERS].asked(first)
    seen = annotation.material(whole, tasks()[ANSWERS])
    assert whole["id"] == f"{first['id']}#0" and seen["after"] == []
    assert seen["answer"]["text"] == survey.shown(first["reply"]) and "*" not in str(seen)
    assert len(raters.asked(known, PARAGRAPHS)) == 6
    assert raters.asked([{**first, "section": "4.3"}], PARAGRAPHS) == []


def test_each_own_rater_stands_beside_each_physician(monkeypatch):
    # Doctor 2 gives one point less than Doctor 1, Doctor 3 sees no advice in third paragraphs. Ann
    # says what Doctor 1 says. Squared differences of Ann and Doctor 2 are 1 throughout; with scores
    # 2, 3, 4 and 1, 2, 3 in equal parts by chance E(x - y)^2 = 2/3 + 2/3 + 1 = 7/3: 1 - 3/7.
    def score(question, part, doctor):
        lost = doctor == 3 and part == 3
        return np.nan if lost else float(2 + (question + part) % 3 - (doctor == 2))

    names = ["question", "source", "part", "rater", "rating", "labels", "missing"]
    made = [
        (q, source, part, f"Doctor {d}", score(q, part, d), [], "")
        for q, source, part, d in itertools.product(range(1, 13), SOURCES, range(4), (1, 2, 3))
    ]
    monkeypatch.setattr(room, "here", lambda name: True)  # whether or not the released are here
    monkeypatch.setattr(survey, "survey", lambda run: pd.DataFrame(made, columns=names))
    known = rows()
    reference = raters.reference(known, PARAGRAPHS)
    assert len(reference) == 3 * 72 and set(reference["unit"]) == {r["item"] for r in known}
    ann = own(known, lambda q, part: str(2 + (q + part) % 3))
    found = cells(raters.agreement(ann, PARAGRAPHS, reference))
    kappa = {row: value for (row, column), value in found.items() if column == "kappa"}
    everybody = itertools.combinations(["Ann", *(f"Doctor {n}" for n in (1, 2, 3))], 2)
    assert {*kappa} == {f"{a} and {b}" for a, b in everybody}
    assert kappa["Ann and Doctor 1"][::3] == (1, 72)
    assert kappa["Ann and Doctor 2"][0] == pytest.approx(4 / 7)
    assert kappa["Ann and Doctor 3"][::3] == (1, 48)  # without what holds no advice
    assert found["Ann and Doctor 3", "equal, %"][::3] == (pytest.approx(100 * 2 / 3), 72)
    alpha = "Krippendorff's alpha"
    theirs = found["all 3 physicians", alpha][0]
    assert found["all 3 physicians, on what is labelled here", alpha][0] == pytest.approx(theirs)
    assert found["all 4 together", alpha][0] > theirs


def test_labels_of_the_survey_stand_at_its_rows_and_are_published_nowhere(tmp_path):
    known = [r | {"more": []} for r in rows(1)]
    content = {"rows": known, "shared": {}}
    for one in known:
        key = f"question of {one['id']}"
        content["shared"][key], one["shared"] = one["shared"], [key]
    seen = annotation.rows(content)
    said = {"values": ["2"], "type": ["Overly generic"]}
    rater_pages.answer(tmp_path, seen, PARAGRAPHS, "Ann", lambda item, n: said, size=0)
    raters.with_labels(content, tmp_path / "labels")
    more = known[0]["more"]
    assert [m["task"] for m in more] == [f"{PARAGRAPHS}, part {n}, label" for n in (1, 2, 3)]
    assert {(m["judge"], m["value"]) for m in more} == {("Ann", "2 of 5, Overly generic")}
    assert all(one["human"] == [] for one in known)
    given = raters.labels(PARAGRAPHS, seen, tmp_path / "labels")
    assert len(given) == 6 and raters.judged(seen, PARAGRAPHS).empty
    with pytest.raises(BedsideError, match="no study reads labels"):
        raters.publish(PARAGRAPHS, seen, given, raters.consensus(given), tmp_path)


@pytest.mark.slow
def test_released_paragraphs_have_their_ratings_and_means_are_the_papers(tmp_path, monkeypatch):
    if not all(sources.here(f"cancer_myth_survey_{n}") for n in ("ratings", "blocks", "answers")):
        pytest.skip("the survey isn't here")
    monkeypatch.setattr(here, "figures", str(tmp_path))
    run = Run("cancer_myth", "01_physician_survey", profile="public")
    frame = survey.kept(run.load("cancer_myth_survey_answers"), survey.survey(run))
    released = annotation.rows(shown(run, "survey", frame))
    found = raters.reference(released, PARAGRAPHS)
    asked = [row["id"] for row in raters.asked(released, PARAGRAPHS)]
    assert len(asked) == 736 and set(found["id"]) == set(asked) and len(found) == 3 * 736
    assert found["unit"].nunique() == 25 and (found["type"] != "").sum() == 149
    assert (found["value"] == room.NO_ADVICE).sum() == 91
    reference = raters.reference(released, ANSWERS)
    found = cells(raters.scores(reference[:0], ANSWERS, released, reference))
    means = {row: round(v[0], 2) for (row, column), v in found.items() if "all" in column}
    sources_ = {"GPT-4-Turbo": 4.13, "Gemini-1.5-Pro": 3.91, "LLaMa-3.1-405B": 3.57}
    assert means == {**sources_, survey.HUMAN: 3.20}  # section 2.2
