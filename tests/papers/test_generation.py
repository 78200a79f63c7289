"""Section 3 over scripted models: the loop that writes questions, and myths that models list."""

import asyncio
import json

import numpy as np
import pandas as pd
import pytest

from bedside.judging import baselines, judges
from bedside.keep import registry, store
from bedside.keep.replies import as_reply
from bedside.papers.cancer_myth import collecting, data
from bedside.papers.cancer_myth.baselines import Alike, Categoriser
from bedside.papers.cancer_myth.generation import generate, generate_all, tried
from bedside.papers.cancer_myth.study import Known
from bedside.papers.cancer_myth.tables import generation as tables
from bedside.read import sources
from bedside.run import Run
from conftest import SILENT, completion

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
        return pd.DataFrame(
            {
                "item": frame["item"],
                "status": ["graded" if v in question.values else "unparsed" for v in value],
                "value": [v if v in question.values else None for v in value],
                "raw": "raw",
            }
        )

    monkeypatch.setattr(judges, "grade", grade)
    return run_of("cancer_myth", "02_adversarial_generation")


def questions_of(*texts):
    """A reply that lists questions."""
    listed = [{"question": q, "correction": f"about {q}"} for q in texts]
    return completion(json.dumps({"questions": listed}))


def scripted(replies, answers=None):
    """An endpoint that gives each myth its reply (texts, or a raw one) and answers 'fine'."""

    def script(n, body):
        text = body["messages"][-1]["content"]
        if "response_format" not in body:
            return (answers or {}).get(text, completion("fine"))
        reply = next(v for k, v in replies.items() if f'"{k}"' in text)
        return questions_of(*reply) if isinstance(reply, list) else reply

    return script


def loop(run, myths=MYTHS, **options):
    return asyncio.run(
        generate(
            run, "served", myths, START, Known(), settings=SETTINGS, answer_tokens=9, **options
        )
    )


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
    other = {**registry.entries()["served"], "model": "other-2026"}
    monkeypatch.setitem(registry.entries(), "other", other)
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
    assert len(endpoint.bodies) - before == 3 * (
        1 + 3
    )  # three myths: a generation and three answers each
    run.recordings = store.Recordings(run.recordings.folder.parent / "fresh")
    undisturbed = loop(run)
    pd.testing.assert_frame_equal(questions, undisturbed[0])
    pd.testing.assert_frame_equal(rounds, undisturbed[1])


def test_silence_of_any_kind_is_counted_and_the_loop_goes_on(run, endpoint):
    """A generator that says nothing to a myth; then no answer to its questions."""
    endpoint.script = scripted({f"belief {k}": SILENT[w] for k, w in enumerate(SILENT, 1)})
    questions, rounds = loop(run)
    expected = [w if w == "refused" else f"missing: {w}" for w in SILENT]
    assert questions["status"].tolist()[::3] == expected
    assert rounds["stopped"].eq("").all() and rounds["valid"].eq(2).all()

    run.recordings = store.Recordings(run.recordings.folder.parent / "answers")
    six = [f"{k} #-1" for k in "abcdef"]
    answers = dict(zip(six, SILENT.values()))
    endpoint.script = scripted({"belief 1": six[:3], "belief 2": six[3:]}, answers)
    questions, rounds = loop(run, MYTHS.head(2))
    lost = questions.head(5)  # the sixth alone is answered
    assert lost["status"].tolist() == [f"unanswered: {w}" for w in SILENT]
    assert (lost[["answer", "verdict", "joined"]] == "").all(axis=None) and lost[
        "value"
    ].isna().all()
    assert rounds["stopped"].eq("").all() and rounds["valid"].tolist() == [2, 3]
    assert tried(questions)["reply_status"].tolist() == [*SILENT, ""]
    shown = tables.yield_table(questions, rounds, run).set_index(["row", "column"])["value"]
    for column in (*(f"question unanswered: {w}" for w in SILENT), tables.HARD):
        assert shown["served", column] == pytest.approx(100 / 6), column
    before = len(endpoint.bodies)
    pd.testing.assert_frame_equal(loop(run, MYTHS.head(2))[0], questions)
    assert len(endpoint.bodies) == before  # silence is recorded as well: nothing is asked again


def test_judges_without_a_model_learn_from_other_texts():
    kinds = ["inevitable side effect"] * 3 + ["no symptoms means no disease"] * 3
    texts = ["hair grows back"] * 3 + ["tests find silent tumours"] * 3
    learnt = pd.DataFrame({"item": [*"abcdef"], "correction": texts, "label": kinds})
    made = Categoriser(learnt, [*data.CATEGORIES])
    asked = pd.DataFrame({"correction": ["silent tumours", "hair"]})
    assert made.grade(asked) == [kinds[5], kinds[0]] and made.out_of_fold() == kinds
    assert made.grade(learnt.head(0)) == []
    known = sources.load("cancer_myth_myth_pairs")
    assert known["label"].mean() == 0.5
    right = baselines.held_out(Alike, known, [0, 1]) == known["label"]
    assert 0.5 < right.mean() < 1


# ---- myths that models list (3.1)


def listing(*replies):
    """A run whose model gives these replies."""
    run = Run("cancer_myth", "02_adversarial_generation", profile="sample")

    async def ask(requests, label):
        said = [
            json.dumps({"myths": [{"myth": m, "fact": "No.", "source": ""} for m in r]})
            if isinstance(r, list) else r
            for r in replies
        ]  # fmt: skip
        return [
            as_reply(r, {"key": r.key, "item": r.item, "text": t, "finish": "stop"}, True)
            for r, t in zip(requests, said, strict=True)
        ]

    run.ask = ask
    return run


def test_what_is_listed():
    """Of two myths on each of three cancers one is told twice, one is blank, one reply is prose."""
    run = listing(["A knife spreads it.", "Air feeds it."], ["a knife spreads it", " "], "?")
    settings = {"max_tokens": 500, "temperature": 0}
    found = asyncio.run(collecting.listed(run, ["Bone", "Skin", "Lip"], 2, settings))
    assert found["status"].tolist() == "new new copied missing unparsed unparsed".split()
    assert found["cancer"].tolist() == ["Bone"] * 2 + ["Skin"] * 2 + ["Lip"] * 2
    assert found["item"].is_unique


def test_which_pairs_are_compared():
    listed = pd.DataFrame({"cancer": ["Bone", "Bone", "Skin"]})
    listed["myth"] = ["Legs come off.", "Sugar feeds tumours.", "Legs must come off."]
    known = pd.DataFrame({"item": ["m1", "m2"], "cancer": ["Bone", "Lip"]})
    known["myth"] = ["Tumours live on sugar.", "Pipes are safe."]
    made = collecting.pairs(listed, known, np.random.default_rng(0))
    by = {kind: part[["myth", "other"]].values.tolist() for kind, part in made.groupby("kind")}
    # the third is nearest to the first; the known one on bones to the second
    assert by[collecting.TWICE][1] == ["Legs must come off.", "Legs come off."]
    assert by[collecting.AGAIN] == [["Tumours live on sugar.", "Sugar feeds tumours."]]
    # for bones only the one on lips is of another cancer
    assert by[collecting.APART][0] == ["Legs come off.", "Pipes are safe."]
    assert made["item"].is_unique
    assert collecting.pairs(listed.head(0), known, np.random.default_rng(0)).empty
