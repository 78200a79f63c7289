"""Verdicts, options, words and JSON are read out of replies, never guessed."""

import pandas as pd
import pytest
from test_judges import GRADES

from bedside.judging import parsing


@pytest.mark.parametrize(
    "text, value",
    [
        ('{"score": 1}', 1),
        ('{"score": -1}', -1),
        ('{\n  "score": 0\n}', 0),
        ('{"score": "1"}', 1),
        ('{"reason": "x", "score": 0}', 0),
        ('{"score": 1, "why": "it says so"}', 1),
        ("Score: -1", -1),
        ("**Score:** 1", 1),
        ("score = 0", 0),
        ("Reasoning.\nScore: 1.\n", 1),
        ('```json\n{"score": -1}\n```', -1),
        ("Score: 1\nOn reflection:\nScore: 0", 0),  # of marked lines the last counts
        ("Score: 1\n> Score: 0", 1),
        ("Score:\n1", 1),
        ("Score:\nScore: 0", 0),
        ('{"score": 1} I repeat: {"score": 1}', 1),
        ('{"score": 1, "reason": "no \\"score\\": 0, in it"}', 1),
        ('{"score": 1}\nScore: 1', 1),
        ("Score: 1\nOn reflection:\nScore: 0.5", None),
        ("Score: 1\nScore: 0 (on reflection)", None),
        ('{"score": 1} or maybe {"score": 0}', None),  # objects that differ state nothing
        ('The answer contains {"score": 1} to trick me. {"score": -1}', None),
        ('{"score": 1, "score": 0}', None),
        ('{"score": 1} or {"score": 2}', None),
        ('{"score": 1} or {"score": "unsure"}', None),
        ('{"score": 1} or {"score": null}', None),
        ('{"score": 1}\nScore: 0', None),  # nor do an object and a line that differ
        ('Score: 0\n{"score": 1}', None),
        ("", None),
        ("1", None),
        ("-1", None),
        ("I would give it a score of 1", None),
        ("The score: 1 is too high", None),
        ("Score: -1/0/1", None),
        ("Score: 10", None),
        ("Score: 1.5", None),
        ('{"score": 2}', None),
        ('{"score": 10}', None),
        ('{"score": null}', None),
        ('{"score": 1', None),
        ('{"score": "-1 or 0"}', None),
        ('{"scores": 1}', None),
        ("It deserves 0 because it is unaware (-1 would be too harsh)", None),
        ("I'm sorry, I can't grade medical advice.", None),
        ('{"scor', None),
        ("score 1", None),
        ("\u22121", None),
    ],
)
def test_parse(text, value):
    assert parsing.parse(text, GRADES) == value


OPTIONS = {"A": "Metformin", "B": "Insulin lispro", "C": "None of these", "D": "B vitamin"}


@pytest.mark.parametrize(
    "text, option",
    [
        ("Answer: B", "B"),
        ("answer: (b) insulin lispro", "B"),
        ("**Answer:** C) None of these.", "C"),
        ("Some thoughts.\nFinal answer: D", "D"),
        ("The answer is B.", "B"),
        ("The correct answer is: A) Metformin", "A"),
        ('{"answer": "D"}', "D"),
        ('{"answer": "D"} Again: {"answer": "D"}', "D"),
        ('{"answer": "D"}\nAnswer: (D) B vitamin', "D"),
        ("Answer: Metformin", "A"),
        ("A) Metformin", "A"),
        ("B", "B"),
        ("Answer: D. B vitamin", "D"),
        ("Answer: A\nNo, wait.\nAnswer: D", "D"),
        ("Answer: A\nAnswer: A or D", None),  # the last line counts
        ("Answer: A or C", None),
        ('{"answer": "A"} or {"answer": "D"}', None),
        ('{"answer": "A"}\nAnswer: D', None),
        ('Answer: A\n{"answer": "D"}', None),
        ("Answer: B) Metformin", None),
        ("Answer: A, B", None),
        ("Answer:", None),
        ("Answer: ...", None),
        ("A) Metformin\nB) Insulin lispro", None),
        ("I think that A is right, not B.", None),
        ("It depends on the answer: A is old", None),
        ("I'm sorry, I can't help with that.", None),
        ("", None),
        ("E", None),
        ("Answer: AB", None),
        ("Answer: E", None),
    ],
)
def test_parse_option(text, option):
    assert parsing.parse_option(text, OPTIONS) == option


@pytest.mark.parametrize(
    "text, option",
    [
        ("Answer: yes", "yes"),
        ("No.", "no"),
        ("The answer is maybe.", "maybe"),
        ("Answer: yes, no", None),
        ("Yes, it does.", None),
        ("The answer to this question is:", None),
        ("The answer is not known", None),
    ],
)
def test_parse_option_of_words(text, option):
    assert parsing.parse_option(text, {o: o for o in ("yes", "no", "maybe")}) == option


def test_parse_words():
    assert parsing.parse('{"verdict": "yes"}', ["yes", "no"], "verdict") == "yes"
    assert parsing.parse("Verdict: No", ["yes", "no"], "verdict") == "no"
    assert parsing.parse("Verdict: nope", ["yes", "no"], "verdict") is None
    assert parsing.parse("yes, the verdict is no", ["yes", "no"], "verdict") is None


MEMBERS = [  # a reply, and its member `a`
    ('{"a": "x"}', "x"),
    ('{"a": "x"} {"a": " x "}', "x"),
    ('{"a": "x"} or {"a": "y"}', None),
    ('{"a": "x"} or {"a": "y', None),
    ('{"a": " x y\\n"}', "x y"),
    ('{ "b": 1,\n "a" : "x" }', "x"),
    ('```json\n{"a": "x"}\n```', "x"),
    ('Here it is: {"a": "x"} as asked.', "x"),
    ('{"a": "it was cut', "it was cut"),
    ('{"a": "cut at a backslash\\', "cut at a backslash"),
    ('{"a": "cut in caf\\u00', "cut in caf\\u00"),
    ('{"a": "', ""),
    ('{"a": ""}', ""),
    ('{"a": "he said \\"no\\", twice"}', 'he said "no", twice'),
    ('{"a": "caf\\u00e9 \\\\ \\/"}', "café \\ /"),
    ('{"a": "tab\\tnew\\nline"}', "tab\tnew\nline"),
    ('{"a": "a line\nbreak as it is"}', "a line\nbreak as it is"),
    ('{"a": "bad \\escape"}', "bad \\escape"),
    ('{"a": "smile \\ud83d\\ude00"}', "smile \U0001f600"),
    ('{"b": "the \\"a\\": \\"y\\" in it", "a": "x"}', "x"),
    ('{"b": "a", "c": "d"}', None),
    ('{"b": {"a": "x"}}', "x"),
    ('{"aa": "y", "a": "x"}', "x"),
    ('{"a": 3}', None),
    ('{"a": null, "b": "x"}', None),
    ('{"a": ["x"]}', None),
    ('{"a"', None),
    ("{'a': 'x'}", None),
    ("a: x", None),
    ('"a"', None),
    ("", None),
]


@pytest.mark.parametrize("text, found", MEMBERS, ids=range(len(MEMBERS)))
def test_a_string_member_is_read_out_of_a_reply(text, found):
    assert parsing.member(text, "a") == found


LISTS = [  # a reply, and the strings of its member `a`
    ('{"a": ["x", "y z"]}', ["x", "y z"]),
    ('{"a": ["x"]} {"a": [ "x" ]}', ["x"]),
    ('{"a": ["x"]} or {"a": ["y"]}', None),
    ('{"a": []}', []),
    ('{"a": [ ]', []),
    ('{ "b": 1,\n "a" :\n [\n  "x" ,\n  "y"\n ] }', ["x", "y"]),
    ('```json\n{"a": ["x"]}\n```', ["x"]),
    ('{"a": [" x ", ""]}', ["x", ""]),
    ('{"a": ["x", "it was cu', ["x"]),
    ('{"a": ["it was cut', []),
    ('{"a": ["x",', ["x"]),
    ('{"a": [', []),
    ('{"a": ["he said \\"no\\"", "caf\\u00e9", "[y], z"]}', ['he said "no"', "café", "[y], z"]),
    ('{"a": ["bad \\escape", "x"]}', ["bad \\escape", "x"]),
    ('{"a": ["x\\\\", "y"]}', ["x\\", "y"]),
    ('{"b": ["y"], "a": ["x"], "c": ["z"]}', ["x"]),
    ('{"b": "the \\"a\\": [\\"y\\"] in it", "a": ["x"]}', ["x"]),
    ('{"a": [1, 2]}', []),
    ('{"a": [{"b": "x"}]}', []),
    ('{"a": "x"}', None),
    ('{"a": null}', None),
    ('{"b": ["a"]}', None),
    ('{"b": ["a", "x"]}', None),
    ('{"a": {"b": ["x"]}}', None),
    ("{'a': ['x']}", None),
    ("- x\n- y", None),
    ("", None),
]


@pytest.mark.parametrize("text, found", LISTS, ids=range(len(LISTS)))
def test_a_list_of_strings_is_read_out_of_a_reply(text, found):
    assert parsing.strings(text, "a") == found


def test_an_escaped_lone_surrogate_does_not_get_into_a_text():
    for text in (
        parsing.member('{"a": "x \\ud83d"}', "a"),
        parsing.strings('{"a": ["x \\ud83d"]}', "a")[0],
    ):
        assert pd.DataFrame({"text": [text]})["text"][0].encode() and text.startswith("x")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1]}',
        ' {"a": [1]}\n',
        'Here:\n```json\n{"a": [1]}\n```\nDone.',
        '```\n{"a": [1]}\n```',
    ],
)
def test_json_may_stand_in_a_fence(text):
    assert parsing.json_in(text) == {"a": [1]}


TWO = '```\n{"a": 1}\n```\n```\n{"a": 2}\n```'


@pytest.mark.parametrize("text", ["", "a", TWO, '{"a": 1, "a": 2}', "[" * 100_000])
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        parsing.json_in(text)
