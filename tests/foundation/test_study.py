"""Own studies: asked of an endpoint, judged, counted, labelled, and held against a later run."""

import asyncio
import json

import pandas as pd
import pytest
from scipy.special import stdtrit

from bedside import BedsideError, annotation, explorer, own
from bedside.annotation import raters
from bedside.own import results
from conftest import apart, completion
from own_studies import compared

QUESTIONS = """item,question,reference,group,unit,system
q1,May I drive today?,No.,driving,ann,
q2,May I drive tomorrow?,Yes.,driving,ann,Answer in one word.
q3,May I swim?,Yes.,,bob,
"""


@pytest.fixture
def study_of(tmp_path, served, endpoint, monkeypatch):
    """A function that makes a study of three questions with `served` as model and judge."""
    apart(monkeypatch, tmp_path)
    (tmp_path / "mine.csv").write_text(QUESTIONS, encoding="utf-8")

    def reply(n, body):  # a judge for whom only "Yes." is right
        said = body["messages"][-1]["content"]
        if "Answer to grade" not in said:
            return completion("No." if "today" in said else "Yes.")
        graded = said.rpartition("Answer to grade:")[2]
        return completion(json.dumps({"score": int("Yes." in graded)}))

    endpoint.script = reply

    def make(**given):
        given = {"models": "served", "judge": "served", **given}
        return compared(str(tmp_path / "mine.csv"), **given)

    return make


def test_questions_are_asked_judged_and_counted_by_unit(study_of, endpoint, tmp_path, capsys):
    found = study_of()
    first = capsys.readouterr().out.splitlines()[0]
    assert endpoint.url in first and first.count("served") == 2 and "3 questions" in first
    assert found.answers["answer"].tolist() == ["No.", "Yes.", "Yes."]
    assert found.verdicts["value"].tolist() == [0, 1, 1]
    asked = [b["messages"] for b in endpoint.bodies if "Answer to grade" not in str(b)]
    assert [len(m) for m in sorted(asked, key=len)] == [1, 1, 2]  # one has a system prompt
    cells = found.scores.set_index("column")
    assert cells.loc["all: right, %", "value"] == pytest.approx(200 / 3)
    assert cells.loc["all: right, %", ["low", "high"]].isna().all()  # ann and bob are two units
    assert cells.loc["driving: right, %", "n"] == 2 and len(found.pairs) == 0
    folder = tmp_path / "figures/own/mine"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["recordings"]["served"]["replies"] == 6
    assert len(pd.read_csv(folder / "verdicts.csv")) == 3
    sent = len(endpoint.bodies)
    again = study_of(mode="replay")
    assert len(endpoint.bodies) == sent and again.verdicts.equals(found.verdicts)


@pytest.mark.parametrize("units, worth", [(10, 9), (9, None)])
def test_a_rate_has_an_interval_over_ten_units_or_more(study_of, tmp_path, units, worth):
    """All answers to a unit's two questions are alike: half of ten units know nine answers' worth.

    A unit's sum is off by 1: squares add up to 10, times 10/9 by 20 is 5/9. Over 1/4 the design
    effect is 20/9. 1/2 ± h is where h² = t² (1/4 - h²) / 9.
    """
    asked = [
        f"q{k},May I {'drive today' if k % 4 < 2 else 'swim'}?,Yes.,,u{k // 2},"
        for k in range(2 * units)
    ]
    (tmp_path / "mine.csv").write_text("\n".join([QUESTIONS.splitlines()[0], *asked]))
    right = study_of().scores.set_index("column").loc["all: right, %"]
    assert right["n"] == 2 * units
    if worth is None:
        assert right[["low", "high"]].isna().all()
    else:
        t = stdtrit(units - 1, 0.975)
        half = 100 * (t**2 / 4 / (worth + t**2)) ** 0.5
        assert right[["low", "high"]].tolist() == pytest.approx([50 - half, 50 + half])


def test_a_verdict_that_cannot_be_read_is_counted_and_bounds_follow(study_of, endpoint):
    endpoint.script = lambda n, body: completion("Perhaps.")
    scores = study_of().scores.set_index("column")
    assert scores.loc["all: right, %", "unscored"] == 3 and scores.loc["all: right, %", "n"] == 0
    bounds = [c for c in scores.index if c.startswith("all") and c != "all: right, %"]
    assert len(bounds) == 1 and list(scores.loc[bounds[0], ["low", "high"]]) == [0, 100]


def test_answers_of_a_file_are_judged_and_never_asked_for(study_of, endpoint, tmp_path):
    lines = "item,model,answer\nq1,colleague,Yes.\nq2,colleague,No.\nq9,colleague,Yes.\n"
    (tmp_path / "theirs.csv").write_text(lines)
    found = study_of(answers=str(tmp_path / "theirs.csv"))
    theirs = found.verdicts[found.verdicts["model"] != "served"]
    assert theirs["model"].unique().tolist() == ["colleague (from theirs.csv)"]
    assert theirs["status"].tolist() == ["graded"] * 2 + ["error"] and (theirs["sent"] == "").all()
    assert len(endpoint.bodies) == 3 + 5  # answers of one model, verdicts on two
    label = found.pairs["row"].unique().tolist()
    assert label == ["colleague (from theirs.csv) vs served"]
    p = found.pairs.set_index("column")["value"]
    assert "permutation of units p" in p and "McNemar p" not in p  # ann asks twice
    alone = study_of(models="", answers=str(tmp_path / "theirs.csv"), name="theirs")
    assert alone.answers["model"].nunique() == 1


def test_without_a_judge_nothing_is_graded(study_of, endpoint):
    found = study_of(judge="")
    assert (found.verdicts["status"] == "").all() and found.scores.empty and found.pairs.empty
    assert len(endpoint.bodies) == 3


def test_labels_of_raters_measure_the_judge(study_of, tmp_path):
    found = study_of()
    mine = own.Own(str(tmp_path / "mine.csv"), models="served", judge="served", mode="replay")
    assert asyncio.run(own.cards(mine, found.answers)) == {}
    asyncio.run(own.verdicts(mine, asyncio.run(own.answers(mine))))
    document = own.document(mine, found.verdicts)
    judged = annotation.rows(document)
    assert {r["unit"] for r in judged} == {"ann", "bob"} and all(r["calls"] for r in judged)
    assert explorer.read(explorer.html(document))[0] == document
    once = annotation.Draw(repetitions=0.0)
    session = annotation.Session(judged, "own", "Ann", drawing=once, folder=tmp_path / "labels")
    while not session.done:  # the same as the judge, but for q1
        assert session.label("1", seconds=1) == ""
    labels = raters.labels("own", judged, tmp_path / "labels")
    settled = raters.consensus(labels)
    place = own.rated(mine.name).parent
    path, count = raters.publish("own", judged, labels, settled, place)
    assert count == 3 and path == tmp_path / "external/own/mine/rated.jsonl"
    card = asyncio.run(own.cards(mine, found.answers))["served"]
    assert card["labelled_by"] == "Ann" and card["confusion"] == [[0, 0], [1, 2]]
    assert card["sensitivity"]["value"] == pytest.approx(2 / 3)
    assert own.document(mine, found.verdicts)["rows"][0]["human"][0]["value"] == "1 right"
    path.write_text("{}\n")
    with pytest.raises(BedsideError, match="rated.jsonl, line 1"):
        results.labelled(mine)


def test_each_study_has_labels_of_its_own(study_of, tmp_path):
    """Publishing replaces a file whole: one study's must not be where another's are."""
    for name in ("spring", "autumn"):
        study_of(name=name)
        mine = own.Own(str(tmp_path / "mine.csv"), name, models="served", judge="served")
        found = asyncio.run(own.verdicts(mine, asyncio.run(own.answers(mine))))
        judged = annotation.rows(own.document(mine, found))
        once = annotation.Draw(repetitions=0.0)
        session = annotation.Session(judged, "own", "Ann", drawing=once, folder=tmp_path / "x")
        while not session.done:
            assert session.label("1", seconds=1) == ""
        labels = raters.labels("own", judged, tmp_path / "x")
        place = own.rated(name).parent
        raters.publish("own", judged, labels, raters.consensus(labels), place)
    for name in ("spring", "autumn"):
        mine = own.Own(str(tmp_path / "mine.csv"), name, models="served", judge="served")
        assert len(results.labelled(mine)) == 3


def test_a_bad_file_leaves_nothing_behind(study_of, tmp_path, endpoint):
    (tmp_path / "mine.csv").write_text("item,question\nq1,\n")
    with pytest.raises(BedsideError, match="mine.csv, line 2"):
        study_of()
    assert not (tmp_path / "figures").exists() and not endpoint.bodies


def test_two_runs_are_compared_by_item(study_of, endpoint):
    study_of(name="old")
    endpoint.script = lambda n, body: completion(
        '{"score": 1}' if "Answer to grade" in str(body) else "Yes."
    )
    study_of(name="new")
    shown, flips, notes = own.changed("old", "new")
    value = shown.set_index("column")["value"]
    assert value["answers that differ, %"] == pytest.approx(100 / 3)
    assert value["right in old, %"] == pytest.approx(200 / 3) and value["right in new, %"] == 100
    assert value["change, points"] == pytest.approx(100 / 3)
    assert flips["item"].tolist() == ["q1"] and notes == []
    study_of(name="unjudged", judge="")
    assert any("judge: served before, none now" in n for n in own.changed("old", "unjudged")[2])
    with pytest.raises(BedsideError, match="no study 'gone'.*there are: new, old, unjudged"):
        own.changed("old", "gone")


@pytest.mark.parametrize(
    "given, match",
    [
        ({"models": ""}, "name the models"),
        ({"models": "no-such"}, "unknown MODELS"),
        ({"judge": "no-such"}, "unknown JUDGE"),
        ({"name": "../x"}, "NAME="),
        ({"rubric": "gone.j2"}, "RUBRIC=gone.j2"),
        ({"answers": "gone.csv"}, "gone.csv"),
        ({"judge": "lexical"}, "name a model"),
    ],
)
def test_what_is_wrong_is_said(study_of, endpoint, given, match):
    with pytest.raises(BedsideError, match=match):
        study_of(**given)
    assert not endpoint.bodies


def test_a_rubric_of_ones_own_is_what_the_judge_gets(study_of, endpoint, tmp_path):
    rubric = tmp_path / "kind.j2"
    rubric.write_text("{% block user %}Answer to grade: {{ answer|fence }} KIND{% endblock %}")
    study_of(rubric=str(rubric))
    judged = [b for b in endpoint.bodies if "Answer to grade" in str(b)]
    assert len(judged) == 2 and all("KIND" in str(b) for b in judged)
    rubric.write_text("{% block user %}{{ nothing_of_this_name }}{% endblock %}")
    with pytest.raises(BedsideError, match="kind.j2"):
        study_of(rubric=str(rubric), name="other")
