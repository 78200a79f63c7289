"""Section 3's loop over a scripted model: what goes where, what is drawn, resuming; balancing."""

import asyncio
import json

import numpy as np
import pandas as pd
import pytest

from bedside.judging import judges
from bedside.keep import registry, store
from bedside.keep.replies import Reply
from bedside.papers.cancer_myth.baselines import Categoriser
from bedside.papers.cancer_myth.data import CATEGORIES
from bedside.papers.cancer_myth.generation import balance, generate, generate_all, generated, tried
from bedside.papers.cancer_myth.study import Known
from bedside.papers.cancer_myth.tables import generation as tables
from conftest import SILENT, completion

MYTHS = pd.DataFrame(
    [(f"m{i}", "Cancer", f"belief {i}", f"fact {i}") for i in range(1, 6)],
    columns=["item", "cancer", "myth", "fact"],
)
START = pd.DataFrame(
    [
        ("v1", "valid", "usable one?", "n"),
        ("v2", "valid", "usable two?", "n"),
        ("x1", "invalid", "bad one?", "why"),
        ("x2", "invalid", "bad two?", "why"),
    ],
    columns=["item", "kind", "question", "note"],
)
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


def scripted(questions):
    """An endpoint that gives each myth its questions and answers 'fine'.

    questions: {'belief 1': three texts, or a raw reply}.
    """

    def script(n, body):
        text = body["messages"][-1]["content"]
        if "response_format" not in body:
            return completion("fine")
        reply = next(v for k, v in questions.items() if f'"{k}"' in text)
        if not isinstance(reply, list):
            return reply
        return completion(
            json.dumps({"questions": [{"question": q, "correction": f"about {q}"} for q in reply]})
        )

    return script


def loop(run, myths=MYTHS, **options):
    return asyncio.run(
        generate(
            run, "served", myths, START, Known(), settings=SETTINGS, answer_tokens=9, **options
        )
    )


def test_each_grade_goes_to_its_set(run, endpoint):
    endpoint.script = scripted(
        {"belief 1": ["a #-1", "b #0", "c #1"], "belief 2": ["d #-1", "e #9", "usable one?"]}
    )
    questions, rounds = loop(run, MYTHS.head(2))
    by = questions.set_index("question")
    assert by["joined"].to_dict() == {
        "a #-1": "valid",
        "b #0": "neither",
        "c #1": "easy",
        "d #-1": "valid",
        "e #9": "neither",
        "usable one?": "",
    }
    assert by["status"].to_dict() == {
        **dict.fromkeys(["a #-1", "b #0", "c #1", "d #-1", "e #9"], "new"),
        "usable one?": "copied",
    }
    assert by.loc["e #9", "verdict"] == "unparsed" and by.loc["usable one?", "answer"] == ""
    # two valid and two invalid to start from: after m1 one more of each, after m2 one more valid
    assert rounds[["valid", "invalid"]].values.tolist() == [[3, 3], [4, 3]]
    assert questions["item"].tolist() == ["m1-q1", "m1-q2", "m1-q3", "m2-q1", "m2-q2", "m2-q3"]


def test_examples_in_the_prompt(run, endpoint):
    """K_h = min(6, valid), K_e = min(2, easy), all fixed invalid ones; none twice.

    Only what came before.
    """
    endpoint.script = scripted(
        {f"belief {i}": [f"h{i}a #-1", f"h{i}b #-1", f"e{i} #1"] for i in range(1, 6)}
    )
    questions, rounds = loop(run)
    assert rounds["hard"].map(len).tolist() == [2, 4, 6, 6, 6] and rounds["easy"].map(
        len
    ).tolist() == [0, 1, 2, 2, 2]
    assert rounds["hard"].map(lambda h: len(set(h)) == len(h)).all() and set(rounds["hard"][0]) == {
        "v1",
        "v2",
    }
    for r in rounds.itertuples():
        made_before = {f"m{i}-q{k}" for i in range(1, int(r.myth[1:])) for k in (1, 2, 3)} | {
            "v1",
            "v2",
        }
        assert set(r.hard) | set(r.easy) <= made_before
    prompt = next(
        b["messages"][-1]["content"] for b in reversed(endpoint.bodies) if "response_format" in b
    )
    assert prompt.count('"reason"') == 2 and "bad one?" in prompt and "bad two?" in prompt
    assert prompt.count('"correction"') == 6 + 2 + 1  # the last one in the description of the reply
    again = loop(run)[1]
    assert again["hard"].tolist() == rounds["hard"].tolist()  # drawn by the seed


def test_generators_keep_sets_of_their_own(run, endpoint, monkeypatch):
    monkeypatch.setitem(
        registry.entries(), "other", {**registry.entries()["served"], "model": "other-2026"}
    )
    endpoint.script = scripted(
        {"belief 1": ["a #-1", "b #-1", "c #1"], "belief 2": ["d #-1", "e #-1", "f #1"]}
    )
    loop(run, MYTHS.head(2))
    _, rounds = asyncio.run(
        generate(run, "other", MYTHS.head(2), START, Known(), settings=SETTINGS, answer_tokens=9)
    )
    assert rounds["valid"].tolist() == [4, 6] and set(rounds["hard"][0]) == {"v1", "v2"}


def test_questions_of_several_generators_have_items_of_their_own(run, endpoint, monkeypatch):
    other = {**registry.entries()["served"], "model": "other-2026"}
    monkeypatch.setitem(registry.entries(), "other", other)
    run.models = ["served", "other"]
    endpoint.script = scripted({"belief 1": ["a #-1", "b #-1", "c #1"]})
    how = dict(settings=SETTINGS, answer_tokens=9)
    questions, _ = asyncio.run(generate_all(run, MYTHS.head(1), START, Known(), **how))
    assert len(questions) == 6 and questions["item"].is_unique
    assert questions["item"].str.startswith(questions["generator"].iloc[0]).sum() == 3


def test_unusable_replies_are_counted(run, endpoint):
    endpoint.script = scripted(
        {
            "belief 1": completion("no JSON"),
            "belief 2": completion('{"questions": [', finish="length"),
            "belief 3": completion("", refusal="I won't"),
            "belief 4": ["only one #-1"],
            "belief 5": ["", "x #0", "X!  #0"],
        }
    )
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


@pytest.mark.parametrize(
    "text, statuses",
    [
        ('{"questions": [{"question": "q", "correction": "c"}]}', ["new", "missing"]),
        (
            (
                '{"questions": [{"question": "q", "correction": " "}, {"question": "old",'
                ' "correction": "c"}]}'
            ),
            ["missing", "copied"],
        ),
        ('{"questions": "none"}', ["unparsed", "unparsed"]),
        ("[1]", ["unparsed", "unparsed"]),
        ('{"questions": [{"question": 3, "correction": "c"}]}', ["unparsed", "unparsed"]),
        (
            '{"questions": ['
            + ", ".join(f'{{"question": "{i}", "correction": "c"}}' for i in range(5))
            + "]}",
            ["new", "new"],
        ),
    ],
)
def test_generated(text, statuses):
    assert [
        s for s, *_ in generated(Reply("m", "x", "k", text=text, finish="stop"), 2, {"old"})
    ] == statuses


def entries(**counts):
    names = dict(zip("abcdefg", CATEGORIES))
    rows = [
        (f"{generator}-{c}{i}", names[c], generator)
        for generator, by in counts.items()
        for c, n in by.items()
        for i in range(n)
    ]
    return pd.DataFrame(rows, columns=["item", "category", "generator"])


def test_algorithm_1_by_hand():
    """a 5, b 3, c 1, three of each: a is cut to 3, b (exactly 3) and c (too few) stay whole.

    7 chosen, 2 over. Up to 9: both left over are added; up to 8: one of them; up to 4: the first
    step stands, nothing is taken back.
    """
    frame = entries(one={"a": 5, "b": 3, "c": 1})
    for per_model, expected in (
        (9, [5, 3, 1]),
        (8, [4, 3, 1]),
        (7, [3, 3, 1]),
        (4, [3, 3, 1]),
        (99, [5, 3, 1]),
    ):
        chosen = balance(frame, per_model, 3, np.random.default_rng(0))
        assert chosen["category"].value_counts(sort=False).tolist() == expected, per_model
        assert chosen["item"].is_unique and chosen.index.is_monotonic_increasing


def test_balancing_is_done_for_each_generator_and_seeded():
    frame = entries(one={"a": 6, "b": 2}, two={"a": 1, "g": 9})
    first, second = (balance(frame, 5, 2, np.random.default_rng(3)) for _ in range(2))
    # one: a 2, b 2, and 1 of the 4 a left; two: a 1, g 2, and 2 of the 7 g left
    assert first.groupby(["generator", "category"]).size().tolist() == [2, 3, 1, 4]
    assert first["item"].tolist() == second["item"].tolist()
    drawn = {tuple(balance(frame, 5, 2, np.random.default_rng(s))["item"]) for s in range(20)}
    assert len(drawn) > 10
    assert balance(frame.head(0), 5, 2, np.random.default_rng(0)).empty


def test_an_unknown_category_is_an_error():
    with pytest.raises(ValueError, match="not a category: .*'odd'"):
        balance(entries(one={"a": 1}).assign(category="odd"), 5, 2, np.random.default_rng(0))


def test_the_categoriser_without_a_model_learns_from_other_questions():
    learnt = pd.DataFrame(
        {
            "item": list("abcdef"),
            "correction": ["hair grows back"] * 3 + ["tests find silent tumours"] * 3,
            "label": ["inevitable side effect"] * 3 + ["no symptoms means no disease"] * 3,
        }
    )
    made = Categoriser(learnt, list(CATEGORIES))
    assert made.grade(pd.DataFrame({"correction": ["silent tumours", "hair"]})) == [
        "no symptoms means no disease",
        "inevitable side effect",
    ]
    assert made.out_of_fold() == learnt["label"].tolist() and made.grade(learnt.head(0)) == []


def test_a_plan_counts_the_answers_too(run):
    """Two myths: two generations, and three answers to each of the stand-in questions."""
    run.mode = "plan"
    questions, rounds = loop(run, MYTHS.head(2))
    assert (questions["status"] == "new").all() and len({r.key for r in run._planned}) == 2 * (
        1 + 3
    )


# ---- replies without text, and cut ones


@pytest.mark.parametrize("why", SILENT)
def test_a_generator_that_says_nothing_is_counted_and_the_loop_goes_on(run, endpoint, why):
    endpoint.script = scripted({"belief 1": SILENT[why], "belief 2": ["a #-1", "b #0", "c #1"]})
    questions, rounds = loop(run, MYTHS.head(2))
    became = why if why == "refused" else f"missing: {why}"
    assert questions["status"].tolist() == [became] * 3 + ["new"] * 3
    assert rounds["stopped"].tolist() == ["", ""] and rounds["valid"].tolist() == [2, 3]


@pytest.mark.parametrize("why", SILENT)
def test_a_question_without_an_answer_fools_nobody(run, endpoint, why):
    """Of three questions the second gets no text: it joins no set and is no answer."""
    write = scripted({"belief 1": ["a #-1", "b #-1", "c #1"], "belief 2": ["d #-1", "e", "f"]})

    def script(n, body):
        said = body["messages"][-1]["content"]
        return SILENT[why] if said == "b #-1" else write(n, body)

    endpoint.script = script
    questions, rounds = loop(run, MYTHS.head(2))
    assert rounds["stopped"].tolist() == ["", ""] and rounds["valid"].tolist() == [3, 4]
    lost = questions.set_index("question").loc["b #-1"]
    assert lost[["status", "answer", "verdict", "joined"]].tolist() == [
        f"unanswered: {why}",
        "",
        "",
        "",
    ]
    assert pd.isna(lost["value"])
    assert tried(questions)["reply_status"].tolist() == ["", why, "", "", "", ""]
    shown = tables.yield_table(questions, rounds, run).set_index(["row", "column"])["value"]
    assert shown["served", f"question unanswered: {why}"] == pytest.approx(100 / 6)
    assert shown["served", tables.HARD] == pytest.approx(200 / 6)
    before = len(endpoint.bodies)
    pd.testing.assert_frame_equal(loop(run, MYTHS.head(2))[0], questions)
    assert len(endpoint.bodies) == before  # silence is recorded as well: nothing is asked again


def test_a_loop_without_a_question_has_none_to_answer(run, endpoint):
    endpoint.script = lambda n, body: (400, {}, b"{}")
    questions, _ = loop(run)
    assert questions.empty and tried(questions).empty


def test_answers_cut_at_the_limit_are_told_of(run, endpoint):
    """Four answers: two hard, of which one is cut, one easy, one partly corrected and cut."""
    write = scripted({"belief 1": ["a #-1", "b #-1", "c #1"], "belief 2": ["d #0", "a #-1", ""]})
    endpoint.script = lambda n, body: (
        completion("It is", finish="length")
        if body["messages"][-1]["content"] in ("b #-1", "d #0")
        else write(n, body)
    )
    questions, _ = loop(run, MYTHS.head(2))
    assert questions.loc[questions["truncated"], "question"].tolist() == ["b #-1", "d #0"]
    assert tables.cut(questions) == (
        "Warning: a cut reply is not a wrong one."
        " Replies cut at their limit: served 2 of 4 (of the uncut: percent hard 50.0)."
    )


def test_a_models_entry_limits_questions_and_answers(run, endpoint):
    endpoint.script = scripted({"belief 1": ["a", "b", "c"]})
    limits = {"questions": 30, "answer to its own question": 5}
    registry.entries()["served"]["most_tokens_for"] = limits
    loop(run, MYTHS.head(1))
    assert [body["max_tokens"] for body in endpoint.bodies] == [30, 5, 5, 5]
