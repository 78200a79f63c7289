"""Section 3.2 over scripted models: the loop that writes questions."""

import asyncio
import json

import pandas as pd
import pytest

from bedside.asking import registry, store
from bedside.judging import judges
from bedside.papers.cancer_myth import generation
from bedside.papers.cancer_myth.study import Known
from conftest import completion, with_fields

MYTHS = pd.DataFrame({"item": [f"m{i}" for i in range(1, 6)], "cancer": "Cancer"})
MYTHS["myth"], MYTHS["fact"] = "belief " + MYTHS["item"], "fact " + MYTHS["item"]
START = pd.DataFrame({"item": ["v1", "v2", "x1", "x2"], "kind": ["valid"] * 2 + ["invalid"] * 2})
START["question"], START["note"] = START["item"] + " asks?", "why"


@pytest.fixture
def run(monkeypatch, run_of):
    """A run in record mode; the judge grades a question by the number after '#' in it."""

    async def grade(frame, judge, question, ask, **_):
        value = [int(q.rpartition("#")[2]) if "#" in q else 0 for q in frame["question"]]
        made = frame[["item"]].assign(status="unparsed", value=None, raw="raw")
        for i, v in zip(frame.index, value):
            if v in question.values:
                made.loc[i, ["status", "value"]] = ["graded", v]
        return made

    monkeypatch.setattr(judges, "grade", grade)
    return run_of("cancer_myth", "02_adversarial_generation")


def scripted(*replies):
    """An endpoint that gives each myth its reply (questions, or a raw one) and answers 'fine'."""

    def script(n, body):
        text = body["messages"][-1]["content"]
        if "response_format" not in body:
            return completion("fine")
        reply = next(r for r, myth in zip(replies, MYTHS["myth"]) if f'"{myth}"' in text)
        if not isinstance(reply, list):
            return reply
        listed = [{"question": q, "correction": f"about {q}"} for q in reply]
        return completion(json.dumps({"questions": listed}))

    return script


def loop(run, count=5):
    how = {"settings": {"max_tokens": 50, "temperature": 0.7}, "answer_tokens": 9}
    return asyncio.run(generation.generate_all(run, MYTHS.head(count), START, Known(), **how))


def test_each_grade_goes_to_its_set(run, endpoint):
    six = ["a #-1", "b #0", "c #1", "d #-1", "e #9", "v1 asks?"]
    endpoint.script = scripted(six[:3], six[3:])
    questions, rounds = loop(run, 2)
    assert questions["question"].tolist() == six and questions["item"].is_unique
    assert questions["joined"].tolist() == ["valid", "neither", "easy", "valid", "neither", ""]
    assert questions["status"].tolist() == ["new"] * 5 + ["copied"]
    assert questions["verdict"].iloc[4] == "unparsed" and questions["answer"].iloc[5] == ""
    became = pd.DataFrame(generation.became(questions)).sum()
    assert became[became > 0].tolist() == [2, 1, 1, 1, 1] and became["question copied"]
    # two valid and two invalid to start from: after m1 one more of each, after m2 one more valid
    assert rounds[["valid", "invalid"]].values.tolist() == [[3, 3], [4, 3]]
    assert questions["myth"].tolist() == ["m1"] * 3 + ["m2"] * 3


def test_a_loop_that_a_failed_call_ended_goes_on_with_the_same_draws(run, endpoint):
    """Up to six hard and two easy examples of before; cut off at the third myth, the second run
    asks for what is missing only, and ends as an undisturbed one."""
    good = scripted(*([f"h{i}a #-1", f"h{i}b #-1", f"e{i} #1"] for i in range(1, 6)))
    endpoint.script = good
    questions, rounds = loop(run)
    assert rounds["hard"].map(len).tolist() == [2, 4, 6, 6, 6]
    assert rounds["easy"].map(len).tolist() == [0, 1, 2, 2, 2]
    joined = dict(zip(questions["item"], questions["joined"])) | {"v1": "valid", "v2": "valid"}
    for r in rounds.itertuples():
        assert len({*r.hard}) == len(r.hard) and {joined[i] for i in r.hard} == {"valid"}
        assert all(joined[i] == "easy" for i in r.easy)
        assert max({*r.hard, *r.easy} - {"v1", "v2"}, default="") < r.myth
    prompts = [b["messages"][-1]["content"] for b in endpoint.bodies if "response_format" in b]
    assert all("x1 asks?" in p and "x2 asks?" in p for p in prompts)
    assert sum(f"h{i}{k} #-1" in prompts[-1] for i in range(1, 5) for k in "ab") >= 4

    run.recordings = store.Recordings(run.recordings.folder.parent / "fresh")
    endpoint.script = lambda n, body: (
        (400, {}, b"{}") if "belief m3" in body["messages"][-1]["content"] else good(n, body)
    )
    cut, stopped = loop(run)
    assert stopped["myth"].tolist() == ["m1", "m2", "m3"] and {*cut["myth"]} == {"m1", "m2"}
    assert stopped["stopped"].str.contains("400 from the endpoint").tolist() == [False, False, True]
    endpoint.script, before = good, len(endpoint.bodies)
    again = loop(run)
    assert len(endpoint.bodies) - before == 3 * (1 + 3)  # a generation and three answers a myth
    pd.testing.assert_frame_equal(questions, again[0])
    pd.testing.assert_frame_equal(rounds, again[1])


def test_each_generator_has_sets_and_items_of_its_own(run, endpoint, monkeypatch):
    monkeypatch.setitem(registry.entries(), "other", with_fields("served", model="other-2026"))
    run.models = ["served", "other"]
    endpoint.script = scripted(["a #-1", "b #-1", "c #1"])
    questions, rounds = loop(run, 1)
    assert questions["item"].is_unique
    assert questions["generator"].value_counts().to_dict() == {"served": 3, "other": 3}
    assert rounds["valid"].tolist() == [4, 4] and {*rounds["hard"][1]} == {"v1", "v2"}


def test_unusable_replies_are_counted(run, endpoint):
    endpoint.script = scripted(
        completion("no JSON"),
        completion('{"questions": [', finish="length"),
        completion("", refusal="I won't"),
        ["only one #-1"],
        ["", "x #0", "X!  #0"],
    )
    questions, rounds = loop(run)
    assert questions.groupby("myth")["status"].apply(" ".join).tolist() == [
        "unparsed unparsed unparsed",
        "truncated truncated truncated",
        "refused refused refused",
        "new missing missing",
        "missing new copied",
    ]
    assert rounds["valid"].tolist() == [2, 2, 2, 3, 3]
