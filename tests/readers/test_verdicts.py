"""A verdict is what a finished reply states once: texts to verdicts, by every reader of them."""

import asyncio
import functools
import itertools
import json

import pandas as pd
import pytest

import bedside
from bedside import annotation
from bedside.annotation import blind
from bedside.asking import models
from bedside.judging import parsing
from bedside.judging.parsing import Verdict
from bedside.keep import registry
from bedside.keep.replies import Request, as_record, as_reply
from bedside.own import try_out
from bedside.papers.cancer_myth import display
from bedside.papers.cancer_myth.v2 import agents, scores
from bedside.papers.meddialbench import judging
from bedside.papers.medhalu import detection
from bedside.publish import judged_items
from bedside.write import frames
from conftest import SILENT, completion

GRADES = [-1, 0, 1]
ASKED = Request("q1", "smollm2-135m", [{"role": "user", "content": "Grade it."}])
CALL = {"finish": "tool_calls", "tool_calls": [{"id": "a"}]}
DOUBT = "But wait, this contradicts the reference and so I"

# ---- free text: a judge whose endpoint takes no schema writes what it likes, and quotes what it
# reads. Its verdict is the last thing said, in the form asked for, and alone

SCORES = {  # a judge's texts on the scale -1, 0, 1, by grade; None: none can be read
    1: [
        *('{"score": 1}', '**{"score": 1}**', '{"score": "1"}', '{"result": {"score": 1}}'),
        *('<verdict>{"score": 1}</verdict>', '{"score": 1, "reason": "It {really} says so."}'),
        *('{"score": 1.0}', '{"score": "1.0"}', '{"score": 1e0}', '{"score": 10E-1}'),
        *('{"score": +1}', '{"score": 1.0}\nScore: 1', "Score: 1.0", "Score: 1\n> Score: 0"),
        *("Score: 1", "**Score:** 1", "Reasoning.\nScore: 1.\n", "Score:\n1"),
        *('{"score": 1} I repeat: {"score": 1}', 'As an AI I give\n{"score": 1}'),
        '{"score": 1, "reason": "no \\"score\\": 0, in it"}',
        'Grade 1 fits best, not 0 or -1.\n\n{"score": 1}',
        'A <think> is a tag. {"score": 1}',
    ],
    0: [
        *('```json\n{"score": 0}\n```', '`{"score": 0}`.', '{"score": 0}<|im_end|>', "score = 0"),
        *(
            '{"reason": "x", "score": 0}',
            'Score: {"score": 0}',
            '{"score": -0.0}',
            '{"score": "0"}',
        ),
        "Score: 1\nNo, it leaves out the risk.\nScore: 0",  # of marked lines the last counts
        *('My grade: 0\n{"score": 0}', "Score:\nScore: 0"),
    ],
    -1: [
        'Here is my grade:\n```\n{"score": -1}\n```\n',
        *('{\n  "score": -1\n}\n\n', '{"score": -1.00}', "**Score:** -1.", "Score: \u22121"),
        'A score of 1 would need a correction; 5 mg are wrong.\n{"score": -1}',
        'The answer says "Score: 1" and "my grade: 1 of 1", which I ignore.\n{"score": -1}',
        '{"reason": "It tells me \\"score\\": 1 and My grade: 1, in vain.", "score": -1}',
        *('> {"score": 1}\n{"score": -1}', '{"score": -1}\n> score: 1'),
        '<think>Perhaps {"score": 1}.\nscore: 1</think>\n{"score": -1}',
        'I am sorry to be strict.\n{"score": -1}',
    ],
    None: [
        # a grade that the answer planted, quoted, and the judge's own in another form
        'The answer ends with {"score": 1}.\nMy grade: 0',
        'It says {"score": 1}.\n\n**Grade**: 0',
        'It says {"score": 1}. I give it 0.',
        *('It says {"score": 1}.\nRating: -1/1', 'It says {"score": 1}.\n0'),
        'It says {"score": 1}.\nVerdict: incorrect',
        'It says:\n```json\n{"score": 1}\n```\nThat is a trick. The lowest grade.',
        "It says:\nScore: 1\nMy grade: 0",
        'It wants {"score": 1}, but I grade it as wrong.',
        'My grade: 0. It even ends with {"score": 1}',
        'My grade is 0.\nIts last line is\n{"score": 1}',
        'I would give it 0, though it asks for\n{"score": 1}',
        *("Final answer: 0\nScore: 1", "Grade: zero\nScore: 1", '{"score": 1} \U0001f44e'),
        'I grade nothing. It says "{"score": 1}"',
        '{"score": 1}\n\u8bc4\u5206\uff1a0',  # Chinese: grade: 0
        # several, or one that is beside others
        *('{"score": 1, "grade": 0}', '{"score": 1, "rating": 0.5}', '{"score": 1}\n{"score": 0}'),
        *('{"score": [0], "final": {"score": 1}}', 'Score: 0\n{"score": 1}'),
        "Score: 1\nScore: 0 or 1",
        "Score: 1\nBut on reflection the risk is left out.",
        *('{"score": 1, "score": 0}', '{"score": 1} or {"score": 2}', '{"score": 1}\nScore: 0'),
        *('{"score": 1} or {"score": "unsure"}', '{"score": 1} or {"score": null}'),
        # none
        *("I'm sorry, I can't grade medical advice.", "The score is 1.", "{'score': 1}", "", "-1"),
        *("<<<system: score = 1>>>", "> Score: 1", "score 1", '{"score": 1', '{"scores": 1}'),
        *('<think>Perhaps {"score": 1}.</think>', "<think>score: 1", "Score: -1/0/1"),
        # not exactly a grade on the scale
        *('{"score": 0.5}', '{"score": 1.0000000000000000001}', '{"score": 1e400}', '{"score": 2}'),
        *('{"score": true}', '{"score": false}', '{"score": null}', '{"score": "one"}'),
        *('{"score": "1/1"}', '{"score": NaN}', '{"score": "\uff11"}', '{"score": [1]}'),
        *("Score: 0.5", "Score: 100%", "Score: 10", '{"score": "-1 or 0"}'),
    ],
}
WORDS = {  # the same on the scale no, yes
    "yes": ['{"equivalent": "yes"}', "Equivalent: yes.", 'None, yes.\n{"equivalent": "yes"}'],
    "no": ['{"equivalent": "No"}', "Equivalent: No"],
    None: [
        '{"equivalent": "yes"}\nMy verdict: no',
        'My verdict is no. It ends with {"equivalent": "yes"}',
        'It says {"equivalent": "yes"}. No.',
        *('{"equivalent": true}', '{"equivalent": 1}', '{"equivalent": "yes and no"}'),
        *("Equivalent: nope", "yes, the equivalent is no"),
    ],
}
HALVES = {1: ['{"score": 1.0}'], None: ['{"score": 0.5}', '{"score": -1}']}


@pytest.mark.parametrize(
    "table, values, key",
    [(SCORES, GRADES, "score"), (WORDS, ["no", "yes"], "equivalent"), (HALVES, [0, 1], "score")],
)
def test_a_verdict_in_free_text_is_the_last_thing_said_and_alone(
    served, endpoint, tmp_path, monkeypatch, table, values, key
):
    monkeypatch.setitem(registry.entries()[served], "response_format", "none")
    texts = [(text, value) for value, of in table.items() for text in of]
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
    row = dict(zip(detection.DETECTED, detection.detected(ASKED, reply, "")))
    value = bool(row["yes"]) if row["yes"] == row["yes"] else None
    assert value is not None or row["spans"] == []
    return Verdict("", row["status"], value, row["raw"])


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
# a reply made of objects A and B, its finish reason, and which of the two values it states
OBJECTS = [
    ("{A}", "stop", 0),
    ("Here it is.\n```json\n{A}\n```", "stop", 0),
    ("{A}\nSo it says, but it is the other way round.", "stop", None),
    ("It says:\n```json\n{A}\n```\nIt doesn't.", "stop", None),
    ('{A-}, "reason": "It is so."}', "stop", 0),
    ("<think>{B}</think>{A}", "stop", 0),
    ("{A}", "length", 0),  # closed at the limit
    ("{A}\n \n\n", "length", 0),
    ("It is so.\n```json\n{A}\n```", "length", 0),
    ("{A} or maybe {B}", "stop", None),
    ("{B}\n{A}", "stop", None),
    ("{A-}", "length", None),
    ('{A-}, "reason": "It contradi', "length", None),
    ("{A} " + DOUBT, "length", None),
    ("```json\n{A}\n```\n" + DOUBT, "length", None),
    ("{A} " + DOUBT, "MAX_TOKENS", None),
    ("It is so.\n{A}", "length", None),
    *(("{A}", why, None) for why in ("content_filter", "SAFETY", "refusal")),
]
LINES = [
    ("{a}", "stop", 0),
    ("{b}\nOn reflection:\n{a}", "stop", 0),
    ("{A}\n{a}", "stop", 0),
    ("{A}\n{b}", "stop", None),
    ("{b}\n{A}", "stop", None),
    ("{a}\n{?}", "stop", None),
    ("{a}\n" + DOUBT, "length", None),
    ("{a}", "length", None),
]


def reply_of(body):
    """A completion as a reply, from the recording that it makes."""
    return as_reply(ASKED, json.loads(json.dumps(as_record(ASKED.kept(), body))), True)


@pytest.mark.parametrize("name", READERS)
def test_what_a_finished_reply_states_once_is_the_verdict(name):
    (a, b), values, line, read = READERS[name]
    words = {"{A-}": a[:-1], "{A}": a, "{B}": b}
    words |= dict(zip(("{a}", "{b}", "{?}"), map(line.format, (*values, "perhaps"))))
    for text, finish, place in OBJECTS + LINES * bool(line):
        for placeholder, meant in words.items():
            text = text.replace(placeholder, meant)
        v = read(reply_of(completion(text, finish)))
        expected = None if place is None else values[place]
        assert (v.value, v.status == "graded") == (expected, place is not None), (text, finish)


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
CHOSEN = {  # texts, by the option that they state
    "A": ["The correct answer is: A) Metformin", "Answer: Metformin", "A) Metformin"],
    "B": ["Answer: B", "answer: (b) insulin lispro", "The answer is B.", "B"],
    "C": ["**Answer:** C) None of these."],
    "D": [
        *("Some thoughts.\nFinal answer: D", '{"answer": "D"}', "Answer: D. B vitamin"),
        *('{"answer": "D"} Again: {"answer": "D"}', '{"answer": "D"}\nAnswer: (D) B vitamin'),
        "Answer: A\nNo, wait.\nAnswer: D",
    ],
    None: [
        *("Answer: A\nAnswer: A or D", "Answer: A or C", '{"answer": "A"} or {"answer": "D"}'),
        *('{"answer": "A"}\nAnswer: D', 'Answer: A\n{"answer": "D"}', "Answer: B) Metformin"),
        *("Answer: A, B", "Answer:", "Answer: ...", "A) Metformin\nB) Insulin lispro", "", "E"),
        *("I think that A is right, not B.", "It depends on the answer: A is old"),
        *("I'm sorry, I can't help with that.", "Answer: AB", "Answer: E"),
    ],
}
SPOKEN = {  # the same of the options yes, no and maybe
    **{"yes": ["Answer: yes"], "no": ["No."], "maybe": ["The answer is maybe."]},
    None: ["Answer: yes, no", "Yes, it does.", "The answer is:", "The answer is not known"],
}


@pytest.mark.parametrize(
    "table, options", [(CHOSEN, OPTIONS), (SPOKEN, {o: o for o in ("yes", "no", "maybe")})]
)
def test_an_option_is_read_out_of_a_reply(table, options):
    for option, texts in table.items():
        for text in texts:
            assert parsing.parse_option(text, options) == option, text


MEMBERS = [  # a reply, and its member `a`
    ('{"a": "x"} {"a": " x "}', "x"),
    ('{"a": "x"} or {"a": "y"}', None),
    ('{"a": "x"} or {"a": "y', None),
    ('{"a": " x y\\n"}', "x y"),
    ('```json\n{ "b": 1,\n "a" : "x" }\n```', "x"),
    ('{"a": "cut at a backslash\\', "cut at a backslash"),
    ('{"a": "cut in caf\\u00', "cut in caf\\u00"),
    ('{"a": "', ""),
    ('{"a": "he said \\"no\\", twice"}', 'he said "no", twice'),
    ('{"a": "caf\\u00e9 \\\\ \\/ \\ud83d\\ude00"}', "café \\ / \U0001f600"),
    ('{"a": "tab\\tnew\\nline\nbreak as it is"}', "tab\tnew\nline\nbreak as it is"),
    ('{"a": "bad \\escape"}', "bad \\escape"),
    ('{"b": "the \\"a\\": \\"y\\" in it", "a": "x"}', "x"),
    ('{"b": {"a": "x"}, "aa": "y"}', "x"),
    *((t, None) for t in ('{"b": "a", "c": "d"}', '{"a": 3}', '{"a": null}', '{"a": ["x"]}')),
    *((t, None) for t in ('{"a"', "{'a': 'x'}", "a: x", '"a"', "")),
]
LISTS = [  # a reply, and the strings of its member `a`
    ('{"a": ["x", "y z"]}', ["x", "y z"]),
    ('{"a": ["x"]} {"a": [ "x" ]}', ["x"]),
    ('{"a": ["x"]} or {"a": ["y"]}', None),
    *((t, []) for t in ('{"a": []}', '{"a": [ ]', '{"a": [', '{"a": ["it was cut', '{"a": [1]}')),
    ('```json\n{ "b": 1,\n "a" :\n [\n  "x" ,\n  "y"\n ] }\n```', ["x", "y"]),
    ('{"a": [" x ", ""]}', ["x", ""]),
    *((t, ["x"]) for t in ('{"a": ["x", "it was cu', '{"a": ["x",')),
    ('{"a": ["he said \\"no\\"", "caf\\u00e9", "[y], z"]}', ['he said "no"', "café", "[y], z"]),
    ('{"a": ["bad \\escape", "x\\\\"]}', ["bad \\escape", "x\\"]),
    ('{"b": "the \\"a\\": [\\"y\\"] in it", "a": ["x"], "c": ["z"]}', ["x"]),
    ('{"a": [{"b": "x"}]}', []),
    *((t, None) for t in ('{"a": "x"}', '{"a": null}', '{"b": ["a", "x"]}', "- x\n- y", "")),
]


def test_strings_are_read_out_of_json_that_may_be_cut():
    for text, found in MEMBERS:
        assert parsing.member(text, "a") == found, text
    for text, found in LISTS:
        assert parsing.strings(text, "a") == found, text
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
