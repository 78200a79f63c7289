"""Section 3.2 over scripted models: the loop that writes questions."""

import asyncio
import json

import pandas as pd
import pytest

from bedside.asking import registry, store
from bedside.judging import judges
from bedside.papers.cancer_myth.generation import generate, generate_all
from bedside.papers.cancer_myth.study import Known
from conftest import completion, with_fields

MYTHS = pd.DataFrame(
    [(f"m{i}", "Cancer", f"belief {i}", f"fact {i}") for i in range(1, 6)],
    columns=["item", "cancer", "myth", "fact"],
)
KINDS = dict(v1="valid", v2="valid", x1="invalid", x2="invalid")
START = pd.DataFrame(KINDS.items(), columns=["item", "kind"])
START["question"], START["note"] = START["item"] + " asks?", "why"
SETTINGS = {"max_tokens": 50, "temperature": 0.7}


@pytest.fixture
def run(monkeypatch, run_of):
    """A run in record mode; the judge grades a question by the number after '#' in it."""

    async def grade(frame, judge, question, ask, **_):
        value = [int(q.rpartition("#")[2]) if "#" in q else 0 for q in frame["question"]]
        known = [v in question.values for v in value]
        status = ["graded" if k else "unparsed" for k in known]
        value = [v if k else None for v, k in zip(value, known)]
        return pd.DataFrame({"item": frame["item"], "status": status, "value": value, "raw": "raw"})

    monkeypatch.setattr(judges, "grade", grade)
    return run_of("cancer_myth", "02_adversarial_generation")


def scripted(replies):
    """An endpoint that gives each myth its reply (questions, or a raw one) and answers 'fine'."""

    def script(n, body):
        text = body["messages"][-1]["content"]
        if "response_format" not in body:
            return completion("fine")
        reply = next(v for k, v in replies.items() if f'"{k}"' in text)
        if not isinstance(reply, list):
            return reply
        listed = [{"question": q, "correction": f"about {q}"} for q in reply]
        return completion(json.dumps({"questions": listed}))

    return script


def loop(run, myths=MYTHS):
    how = {"settings": SETTINGS, "answer_tokens": 9}
    return asyncio.run(generate(run, "served", myths, START, Known(), **how))


def test_each_grade_goes_to_its_set(run, endpoint):
    six = ["a #-1", "b #0", "c #1", "d #-1", "e #9", "v1 asks?"]
    endpoint.script = scripted({"belief 1": six[:3], "belief 2": six[3:]})
    questions, rounds = loop(run, MYTHS.head(2))
    by = questions.set_index("question")
    assert by["joined"].to_dict() == dict(
        zip(six, ["valid", "neither", "easy", "valid", "neither", ""])
    )
    assert by["status"].to_dict() == dict(zip(six, ["new"] * 5 + ["copied"]))
    assert by.loc["e #9", "verdict"] == "unparsed" and by.loc["v1 asks?", "answer"] == ""
    # two valid and two invalid to start from: after m1 one more of each, after m2 one more valid
    assert rounds[["valid", "invalid"]].values.tolist() == [[3, 3], [4, 3]]
    assert questions["item"].is_unique and questions["myth"].tolist() == ["m1"] * 3 + ["m2"] * 3


def test_a_prompt_shows_up_to_six_hard_and_two_easy_examples_of_before(run, endpoint):
    plan = {f"belief {i}": [f"h{i}a #-1", f"h{i}b #-1", f"e{i} #1"] for i in range(1, 6)}
    endpoint.script = scripted(plan)
    questions, rounds = loop(run)
    assert rounds["hard"].map(len).tolist() == [2, 4, 6, 6, 6]
    assert rounds["easy"].map(len).tolist() == [0, 1, 2, 2, 2]
    joined = questions.set_index("item")["joined"]
    for k, r in enumerate(rounds.itertuples()):
        before = questions.loc[questions["myth"].isin(MYTHS["item"][:k]), "item"]
        assert len({*r.hard}) == len(r.hard) and {*r.hard, *r.easy} <= {*before, "v1", "v2"}
        assert all(joined.get(i, "valid") == "valid" for i in r.hard)
        assert all(joined[i] == "easy" for i in r.easy)
    prompts = [b["messages"][-1]["content"] for b in endpoint.bodies if "response_format" in b]
    assert all("x1 asks?" in p and "x2 asks?" in p for p in prompts)
    assert sum(f"h{i}{k} #-1" in prompts[-1] for i in range(1, 5) for k in "ab") >= 4
    assert loop(run)[1]["hard"].tolist() == rounds["hard"].tolist()  # drawn by the seed


def test_each_generator_has_sets_and_items_of_its_own(run, endpoint, monkeypatch):
    monkeypatch.setitem(registry.entries(), "other", with_fields("served", model="other-2026"))
    run.models = ["served", "other"]
    endpoint.script = scripted({"belief 1": ["a #-1", "b #-1", "c #1"]})
    how = dict(settings=SETTINGS, answer_tokens=9)
    questions, rounds = asyncio.run(generate_all(run, MYTHS.head(1), START, Known(), **how))
    assert len(questions) == 6 and questions["item"].is_unique
    assert questions["generator"].value_counts().to_dict() == {"served": 3, "other": 3}
    assert rounds["valid"].tolist() == [4, 4] and {*rounds["hard"][1]} == {"v1", "v2"}


def test_unusable_replies_are_counted(run, endpoint):
    plan = {
        "belief 1": completion("no JSON"),
        "belief 2": completion('{"questions": [', finish="length"),
        "belief 3": completion("", refusal="I won't"),
        "belief 4": ["only one #-1"],
        "belief 5": ["", "x #0", "X!  #0"],
    }
    endpoint.script = scripted(plan)
    questions, rounds = loop(run)
    assert questions.groupby("myth")["status"].apply(list).tolist() == [
        ["unparsed"] * 3,
        ["truncated"] * 3,
        ["refused"] * 3,
        ["new", "missing", "missing"],
        ["missing", "new", "copied"],
    ]
    assert len(questions) == 15 and rounds["valid"].tolist() == [2, 2, 2, 3, 3]


def test_a_failed_call_ends_the_loop_and_the_next_run_goes_on(run, endpoint):
    """Cut off at the third myth; the second run asks for what is missing only.

    It ends as an undisturbed one.
    """
    plan = {f"belief {i}": [f"h{i}a #-1", f"h{i}b #0", f"e{i} #1"] for i in range(1, 6)}
    good = scripted(plan)
    endpoint.script = lambda n, body: (
        (400, {}, b"{}") if "belief 3" in body["messages"][-1]["content"] else good(n, body)
    )
    questions, rounds = loop(run)
    assert rounds["myth"].tolist() == ["m1", "m2", "m3"]
    assert rounds["stopped"].str.contains("400 from the endpoint").tolist() == [False, False, True]
    assert rounds["stopped"].tolist()[:2] == ["", ""]
    assert set(questions["myth"]) == {"m1", "m2"}
    endpoint.script, before = good, len(endpoint.bodies)
    questions, rounds = loop(run)
    assert len(endpoint.bodies) - before == 3 * (1 + 3)  # a generation and three answers a myth
    run.recordings = store.Recordings(run.recordings.folder.parent / "fresh")
    undisturbed = loop(run)
    pd.testing.assert_frame_equal(questions, undisturbed[0])
    pd.testing.assert_frame_equal(rounds, undisturbed[1])
