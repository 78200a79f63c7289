"""A verdict is what a finished reply states once: texts to verdicts, by every reader of them."""

import asyncio
import dataclasses
import functools
import itertools
import json
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import bedside
from bedside import annotation
from bedside.annotation import blind
from bedside.asking import models, registry
from bedside.asking.replies import Request, as_record, as_reply
from bedside.judging import parsing
from bedside.judging.parsing import Verdict
from bedside.own import try_out
from bedside.papers.cancer_myth import display
from bedside.papers.cancer_myth.v2 import agents, scores
from bedside.papers.meddialbench import judging
from bedside.papers.medhalu import detection
from bedside.publish import judged_items
from bedside.write import frames
from conftest import SILENT, completion, with_fields

GRADES = [-1, 0, 1]
ASKED = Request("q1", "smollm2-135m", [{"role": "user", "content": "Grade it."}])
CALL = {"finish": "tool_calls", "tool_calls": [{"id": "a"}]}
DOUBT = "But wait, this contradicts the reference and so I"
TEXTS = tomllib.loads(Path(__file__).with_name("verdicts.toml").read_text(encoding="utf-8"))
REPLIES = TEXTS["replies"]


def rows_of(table, values):
    """[(text, the value that it states)] of verdicts.toml; None: it states none."""
    named = {"none": None, **{str(v): v for v in values}}
    return [(text, named[name]) for name, texts in TEXTS[table].items() for text in texts]


# ---- free text: a judge whose endpoint takes no schema writes what it likes, and quotes what it
# reads. Its verdict is the last thing said, in the form asked for, and alone


@pytest.mark.parametrize(
    "table, values, key",
    [
        ("grade", GRADES, "score"),
        ("equivalent", ["no", "yes"], "equivalent"),
        ("two", [0, 1], "score"),
    ],
)
def test_a_verdict_in_free_text_is_the_last_thing_said_and_alone(
    served, endpoint, tmp_path, monkeypatch, table, values, key
):
    registry.entries()[served] = with_fields(served, response_format="none")
    texts = rows_of(table, values)
    named = {f"answer {n:03}.": text for n, (text, _) in enumerate(texts)}

    def reply(n, body):
        told = body["messages"][-1]["content"]
        return completion(next(t for name, t in named.items() if name in told))

    endpoint.script = reply
    rows = [(f"q{n}", "Why?", "", name) for n, name in enumerate(named)]
    frame = pd.DataFrame(rows, columns=["item", "question", "reference", "answer"])
    where = {"recordings": tmp_path / "recordings", "mode": "record", "key": key}
    made = bedside.judge(frame, served, values, **where)
    read = [v if s == "graded" else None for s, v in zip(made["status"], made["value"])]
    assert [(t, r, v) for (t, v), r in zip(texts, read) if r != v] == []
    assert made.loc[made["status"] != "graded", "value"].isna().all()


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
    *("A score of 1 would need a correction.", "1", "-1/0/1", "> Score: 1"),
    *("I was asked for {score} as -1, 0 or 1.", 'He said "score" and left.'),
    *('{"scores": 1, "note": "a \\"score\\": 1, in it"}', "\u2028\x85\x0b * # _"),
]


@pytest.mark.parametrize("prose", PROSE)
def test_prose_before_a_verdict_changes_nothing_and_after_it_there_is_no_verdict(prose):
    silent = prose.startswith(">") or not prose.strip("\u2028\x85\x0b *#_")  # a quote, or marks
    for verdict in ('{"score": 0}', "Score: 0"):
        assert parsing.parse(f"{prose}\n{verdict}", GRADES) == 0
        assert parsing.parse(f"{verdict}\n{prose}", GRADES) == (0 if silent else None)


# ---- every reader: two JSON objects, their two values, two marked lines, how it reads


def of_values(values, key):
    return lambda reply: parsing.verdict(reply, values, key)


def detected(reply):
    v = parsing.read(reply, detection.parse_detection)
    return dataclasses.replace(v, value=bool(v.value[0])) if v.value else v


def exam(reply):
    items = pd.DataFrame({"item": ["q1"], "options": [{"A": "one", "B": "two"}], "gold": "A"})
    asked = {"item": "q1", "answer": reply.text or reply.refusal, "reply_status": reply.why}
    graded = scores.grade_exam(items, pd.DataFrame([asked | {"truncated": reply.truncated}]))
    return Verdict("", graded["status"].iloc[0], graded["value"].iloc[0], reply.text)


def member(key, *values):
    return [json.dumps({key: v}) for v in values]


READERS = {
    "grade": (member("score", 1, 0), [1, 0], "Score: {}", of_values(GRADES, "score")),
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
    "detection": (
        ['{"verdict": "Yes", "spans": ["a b"]}', '{"verdict": "No", "spans": []}'],
        [True, False],
        "",
        detected,
    ),
    "exam": (member("answer", "A", "B"), ["A", "B"], "Answer: {}", exam),
}


def reply_of(body):
    """A completion as a reply, from the recording that it makes."""
    return as_reply(ASKED, json.loads(json.dumps(as_record(ASKED.kept(), body))), True)


@pytest.mark.parametrize("name", READERS)
def test_what_a_finished_reply_states_once_is_the_verdict(name):
    (a, b), values, line, read = READERS[name]
    words = {"{A-}": a[:-1], "{A}": a, "{B}": b}
    words |= dict(zip(("{a}", "{b}", "{?}"), map(line.format, (*values, "perhaps"))))
    stated = dict(zip("ab", values))
    for text, finish, which in REPLIES["objects"] + REPLIES["lines"] * bool(line):
        for placeholder, meant in words.items():
            text = text.replace(placeholder, meant)
        v = read(reply_of(completion(text, finish)))
        found = v.value, v.status == "graded"
        assert found == (stated.get(which), which in stated), (text, finish)


@pytest.mark.parametrize("name", READERS)
def test_withheld_is_no_verdict_in_whatever_form(name):
    (a, _), *_, read = READERS[name]
    withheld = {
        "filtered": completion(a, "content_filter"),
        "refused": completion(a, refusal="No."),
        "tool calls": completion(a, **CALL),
        "tool calls ": completion(a, function_call={"name": "look"}),
    }
    for why, body in {**SILENT, **withheld}.items():
        reply = reply_of(body)
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


def test_answers_and_material_are_read_even_if_cut():
    """They are judged as they stand, and counted as cut."""
    body = completion('{"a": "half a sen', "length")
    parser = functools.partial(parsing.member, key="a")
    assert parsing.read(reply_of(body), parser, even_cut=True).value == "half a sen"
    assert parsing.read(reply_of(body), parser).status == "unparsed"


# ---- options, members and lists

OPTIONS = {"A": "Metformin", "B": "Insulin lispro", "C": "None of these", "D": "B vitamin"}


@pytest.mark.parametrize(
    "table, options", [("option", OPTIONS), ("word", {o: o for o in ("yes", "no", "maybe")})]
)
def test_an_option_is_read_out_of_a_reply(table, options):
    for text, option in rows_of(table, options):
        assert parsing.parse_option(text, options) == option, text


def test_strings_are_read_out_of_json_that_may_be_cut():
    for name, read in (("member", parsing.member), ("strings", parsing.strings)):
        rows = TEXTS["json"][name] + [(text, None) for text in TEXTS["json"][f"no_{name}"]]
        for text, found in rows:
            assert read(text, "a") == found, text
    lone = parsing.member('{"a": "x \\ud83d"}', "a"), parsing.strings('{"a": ["\\ud83d"]}', "a")[0]
    assert all(text.encode() for text in lone)  # a surrogate alone has no bytes


def test_json_may_stand_in_a_fence():
    for text in (' {"a": [1]}\n', 'Here:\n```json\n{"a": [1]}\n```\nDone.', '```\n{"a": [1]}\n```'):
        assert parsing.json_in(text) == {"a": [1]}
    two = '```\n{"a": 1}\n```\n```\n{"a": 2}\n```'
    for text in ("", "a", two, '{"a": 1, "a": 2}', "[" * 100_000):
        with pytest.raises(ValueError):
            parsing.json_in(text)


# ---- make try, and whoever looks at answers


@pytest.mark.parametrize(
    "said, ready",
    [
        (completion('{"score": 1}\n', "length"), True),
        (completion('{"score": 1} or maybe {"score": 0}'), False),
        (completion("Score: 1\n" + DOUBT, "length"), False),
        (completion('{"score": 1}', "content_filter"), False),
        (completion('{"score": 1}', **CALL), False),
    ],
)
def test_a_judge_whose_verdict_is_none_is_not_ready(served, endpoint, said, ready):
    endpoint.script = lambda n, body: said if "Grade it" in str(body) else completion("Fine.")
    assert asyncio.run(try_out.tried(served, lambda line: None)) == ready


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
