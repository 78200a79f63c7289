"""A verdict is what a finished reply states once: by every reader, from a call and from a batch."""

import asyncio
import functools
import itertools
import json

import numpy as np
import pandas as pd
import pytest

from bedside import annotation
from bedside.annotation import blind
from bedside.asking import models
from bedside.bulk import results
from bedside.judging import parsing
from bedside.judging.parsing import Verdict
from bedside.keep.replies import Request, as_record, as_reply
from bedside.own import try_out
from bedside.papers.cancer_myth import display
from bedside.papers.cancer_myth.v2 import agents, scores
from bedside.papers.meddialbench import judging
from bedside.papers.medhalu import detection
from bedside.papers.radiation import matching
from bedside.publish import judged_items
from bedside.run import _summary as summary
from bedside.write import frames
from conftest import SILENT, completion

GRADES = [-1, 0, 1]
ASKED = Request("q1", "smollm2-135m", [{"role": "user", "content": "Grade it."}])
CALL = {"finish": "tool_calls", "tool_calls": [{"id": "a"}]}
DOUBT = "But wait, this contradicts the reference and so I"


def directly(body):
    return as_record(ASKED.kept(), body)


def by_batch(body):
    about = {**ASKED.kept(), "model": ASKED.model}
    return results._record(about, {"response": {"status_code": 200, "body": body}})[0]


WAYS = pytest.mark.parametrize("way", [directly, by_batch], ids=["call", "batch"])


def reply_of(body, way=directly):
    """A completion as a reply, from the recording that it makes."""
    return as_reply(ASKED, json.loads(json.dumps(way(body))), True)


# ---- every reader of verdicts: two JSON objects, their two values, two marked lines, how it reads


def of_values(values, key):
    return lambda reply: parsing.verdict(reply, values, key)


def matches(reply):
    """The first column of the matched pair, of 2 predicted items and 3 terms."""
    v = matching._verdict(reply, 2, 3)
    value = None if v.value is None else int(np.argwhere(v.value)[0][1]) + 1
    return Verdict(v.item, v.status, value, v.raw)


def detected(reply):
    row = dict(zip(detection.DETECTED, detection.detected(ASKED, reply, "")))
    value = bool(row["yes"]) if row["yes"] == row["yes"] else None
    assert value is not None or row["spans"] == []
    return Verdict("", row["status"], value, row["raw"])


def exam(reply):
    items = pd.DataFrame({"item": ["q1"], "options": [{"A": "one", "B": "two"}], "gold": "A"})
    asked = {"item": "q1", "answer": reply.text or reply.refusal, "reply_status": reply.why}
    (row,) = scores.grade_exam(items, pd.DataFrame([asked | {"truncated": reply.truncated}]))[
        ["status", "value"]
    ].to_dict("records")
    return Verdict("", row["status"], row["value"], reply.text)


def member(key, *values):
    return [json.dumps({key: v}) for v in values]


READERS = {
    "grade": (member("score", 1, 0), [1, 0], "Score: {}", of_values(GRADES, "score")),
    "diagnosis": (
        member("equivalent", "yes", "no"),
        ["yes", "no"],
        "Equivalent: {}",
        of_values(judging.YES_NO, "equivalent"),
    ),
    "complexity": (
        member("complexity", "basic", "advanced"),
        ["basic", "advanced"],
        "Complexity: {}",
        of_values(agents.LEVELS, "complexity"),
    ),
    "key items": (
        member("which", [1, 3], [2]),
        [{1, 3}, {2}],
        "",
        lambda reply: parsing.read(reply, functools.partial(judging.parse_which, count=3)),
    ),
    "pairs": (
        member("matches", *([{"predicted": 1, "reference": n}] for n in (2, 3))),
        [2, 3],
        "",
        matches,
    ),
    "detection": (
        ['{"verdict": "Yes", "spans": ["a b"]}', '{"verdict": "No", "spans": []}'],
        [True, False],
        "",
        detected,
    ),
    "detection without spans": (
        member("verdict", "Yes", "No"),
        [True, False],
        "Verdict: {}",
        detected,
    ),
    "exam": (member("answer", "A", "B"), ["A", "B"], "Answer: {}", exam),
}
# a reply made of objects A and B, its finish reason, and which of the two values it states
OBJECTS = {
    "alone": ("{A}", "stop", 0),
    "in a fence": ("Here it is.\n```json\n{A}\n```", "stop", 0),
    "followed by words": ("{A}\nSo it says, but it is the other way round.", "stop", None),
    "in a fence, followed by words": ("It says:\n```json\n{A}\n```\nIt doesn't.", "stop", None),
    "with a reason": ('{A-}, "reason": "It is so."}', "stop", 0),
    "after a thought": ("<think>{B}</think>{A}", "stop", 0),
    "closed at the limit": ("{A}", "length", 0),
    "closed, then blanks up to the limit": ("{A}\n \n\n", "length", 0),
    "in a fence that is closed at the limit": ("It is so.\n```json\n{A}\n```", "length", 0),
    "two that differ": ("{A} or maybe {B}", "stop", None),
    "two that differ, line by line": ("{B}\n{A}", "stop", None),
    "cut in the object": ("{A-}", "length", None),
    "cut in a reason that follows": ('{A-}, "reason": "It contradi', "length", None),
    "cut in a doubt": ("{A} " + DOUBT, "length", None),
    "cut in a doubt after the fence": ("```json\n{A}\n```\n" + DOUBT, "length", None),
    "cut by another name": ("{A} " + DOUBT, "MAX_TOKENS", None),
    "cut where more than an object stands": ("It is so.\n{A}", "length", None),
    "filtered": ("{A}", "content_filter", None),
    "filtered by another name": ("{A}", "SAFETY", None),
    "refused by the finish reason": ("{A}", "refusal", None),
}
LINES = {
    "a line": ("{a}", "stop", 0),
    "of two lines the last": ("{b}\nOn reflection:\n{a}", "stop", 0),
    "an object and a line alike": ("{A}\n{a}", "stop", 0),
    "an object and a line that differ": ("{A}\n{b}", "stop", None),
    "a line and an object that differ": ("{b}\n{A}", "stop", None),
    "a line, then one that states nothing": ("{a}\n{?}", "stop", None),
    "a line that is cut in a doubt": ("{a}\n" + DOUBT, "length", None),
    "a line that ends at the limit": ("{a}", "length", None),
}


def cases():
    for name, ((a, b), values, line, _) in READERS.items():
        marked = [line.format(("No", "Yes")[v] if isinstance(v, bool) else v) for v in values]
        words = {"{A-}": a[:-1], "{A}": a, "{B}": b}
        words |= {"{a}": marked[0], "{b}": marked[1], "{?}": line.format("perhaps")}
        for what, (text, finish, place) in {**OBJECTS, **(LINES if line else {})}.items():
            for placeholder, meant in words.items():
                text = text.replace(placeholder, meant)
            value = None if place is None else values[place]
            yield pytest.param(name, text, finish, value, id=f"{name}, {what}".replace(" ", "_"))


@WAYS
@pytest.mark.parametrize("name, text, finish, value", list(cases()))
def test_what_a_finished_reply_states_once_is_the_verdict(name, text, finish, value, way):
    v = READERS[name][-1](reply_of(completion(text, finish), way))
    assert (v.value == value) if value is not None else (v.value is None)
    assert (v.status == "graded") == (value is not None)


@WAYS
@pytest.mark.parametrize("name", READERS)
def test_withheld_is_no_verdict_in_whatever_form(name, way):
    (a, _), *_, read = READERS[name]
    withheld = {
        "filtered": completion(a, "content_filter"),
        "refused": completion(a, refusal="No."),
        "tool calls": completion(a, **CALL),
        "tool calls ": completion(a, function_call={"name": "look"}),
    }
    for why, body in {**SILENT, **withheld}.items():
        reply = reply_of(body, way)
        v = read(reply)
        assert v.value is None and v.status != "graded" and reply.why == why.strip()


def test_why_there_is_no_verdict_stands_in_what_is_kept():
    said = {
        "filtered: ": completion('{"score": 1}', "content_filter"),
        "tool calls: ": completion('{"score": 1}', **CALL),
        "cut off before its end: ": completion("Score: 1\n" + DOUBT, "length"),
    }
    for why, body in said.items():
        v = parsing.verdict(reply_of(body), GRADES)
        assert v.raw == why + body["choices"][0]["message"]["content"]
    assert parsing.verdict(reply_of(SILENT["refused"]), GRADES).raw == "I can't help with that."
    assert parsing.verdict(reply_of(completion(None, **CALL)), GRADES).raw == "tool calls"


def test_a_manifest_counts_each_reason_once():
    """Five replies that are no answers: one refused, four for the other reasons."""
    made = summary("smollm2-135m", {why: reply_of(body) for why, body in SILENT.items()})
    assert made["replies"] == 5 and made["refused"] == 1 and made["truncated"] == 0
    assert made["no_answer"] == dict.fromkeys(sorted(SILENT.keys() - {"refused"}), 1)


def test_answers_and_material_are_read_even_if_cut():
    """They are judged as they stand, and counted as cut."""
    body = completion('{"a": "half a sen', "length")
    parser = functools.partial(parsing.member, key="a")
    assert parsing.read(reply_of(body), parser, even_cut=True).value == "half a sen"
    assert parsing.read(reply_of(body), parser).status == "unparsed"


# ---- in whatever order and number


@pytest.mark.parametrize(
    "objects", [o for n in range(3) for o in itertools.product(GRADES, repeat=n)]
)
def test_all_statements_agree_or_there_is_none(objects):
    """Objects may stand anywhere; of the lines only the last counts."""
    lined = [*GRADES, "unsure"]
    for lines in [x for n in range(3) for x in itertools.product(lined, repeat=n)]:
        said = [f"Score: {v}" for v in lines]
        stated = {str(v) for v in (*objects, *lines[-1:])}
        expected = int(*stated) if len(stated) == 1 and stated != {"unsure"} else None
        for places in itertools.product(range(len(said) + 1), repeat=len(objects)):
            text = list(said)
            for v, place in zip(objects, places):
                text.insert(place, f'I say: {{"score": {v}}}')
            assert parsing.parse("\n".join(text), GRADES) == expected, text


PROSE = [
    "A score of 1 would need a correction.",
    "1",
    "-1/0/1",
    "> Score: 1",
    "I was asked for {score} as -1, 0 or 1.",
    'He said "score" and left.',
    '{"scores": 1, "note": "a \\"score\\": 1, in it"}',
    "\u2028\x85\x0b * # _",
]


@pytest.mark.parametrize("prose", PROSE)
def test_prose_before_a_verdict_changes_nothing_and_after_it_there_is_no_verdict(prose):
    silent = prose.startswith(">") or not prose.strip("\u2028\x85\x0b *#_")  # a quote, or marks
    for verdict in ('{"score": 0}', "Score: 0"):
        assert parsing.parse(f"{prose}\n{verdict}", GRADES) == 0
        assert parsing.parse(f"{verdict}\n{prose}", GRADES) == (0 if silent else None)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_lists_are_the_same_in_any_order(order):
    numbers = [(1, 2, 3)[k] for k in order]
    assert judging.parse_which(json.dumps({"which": numbers}), 3) == {1, 2, 3}


# ---- make try


@pytest.mark.parametrize(
    "said, lacks",
    [
        (completion('{"score": 1} or maybe {"score": 0}'), 'response_format = "none"'),
        (completion("Score: 1\n" + DOUBT, "length"), "reasoning_tokens = "),
        (completion('{"score": 1}', "content_filter"), "a verdict, as a judge: filtered"),
        (completion('{"score": 1}', refusal="No."), "a verdict, as a judge: refused"),
        (completion('{"score": 1}', **CALL), "a verdict, as a judge: tool calls"),
    ],
)
def test_a_judge_whose_verdict_is_none_is_not_ready(served, endpoint, said, lacks):
    told = []
    endpoint.script = lambda n, body: said if "Grade it" in str(body) else completion("Fine.")
    assert not asyncio.run(try_out.tried(served, told.append))
    assert lacks in "\n".join(told) and told[-1].startswith("  not ready")


def test_a_judge_that_is_cut_after_its_object_is_ready(served, endpoint):
    endpoint.script = lambda n, body: completion('{"score": 1}\n', "length")
    assert asyncio.run(try_out.tried(served, lambda line: None))


# ---- answers, to whoever looks at them


@pytest.mark.parametrize("why", SILENT)
def test_a_withheld_answer_is_shown_with_its_reason_and_labelled_by_nobody(run_of, endpoint, why):
    """What came of it stands in the explorer; a rater, as a judge, is never asked about it."""
    run = run_of("cancer_myth", "03_evaluation")
    endpoint.script = lambda n, body: SILENT[why]
    answered = asyncio.run(models.answers_of(run, {"q1": ASKED.messages}, 20))
    (row,) = answered.itertuples()
    came = SILENT[why]["choices"][0]["message"]
    assert row.answer.strip() == (came.get("refusal") or came["content"] or "").strip()
    run.keep("evaluation", answered.assign(configuration="plain", question="Why?", kind="myth"))
    document, (how, *_) = judged_items.Document(), display.DISPLAYS
    calls = {row.sent: frames.sent_and_returned(ASKED, reply_of(SILENT[why]))}
    document.add("cancer_myth", frames.records(run.folder, "evaluation")[0], how, calls)
    content = document.content()
    (one,) = annotation.rows(content)
    assert why in judged_items.as_text(content, content["rows"][0])
    task = annotation.tasks()["presupposition"]
    assert task.takes(one) and blind.candidates([one], task) == []
