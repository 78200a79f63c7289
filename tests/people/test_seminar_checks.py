"""A sheet's checks: what stops a build, and what they say of an answer."""

import json
import re
import string
from pathlib import Path

import pytest
from test_seminar import notebook

from bedside import BedsideError, seminar
from bedside.build.notebooks import execute
from bedside.seminar import edited, editions

SHEET = """from bedside import seminar
class Sheet(seminar.Sheet):
    @seminar.task('1', 'A number.')
    def one(self, n):
        if n != 1: raise seminar.Wrong('look again')
        return 'yes'"""


def test_a_solution_that_does_not_pass_stops_the_build(tmp_path, monkeypatch):
    path = tmp_path / "1_wrong.ipynb"
    made = notebook(editions.sources()[0])
    cells = [SHEET, "answer = ...", "answer = 2", "Sheet().check('1', answer)"]
    made["cells"] = [
        {
            "cell_type": "code",
            "id": f"c{k}",
            "metadata": {"tags": ["solution"] * (k == 2)},
            "outputs": [],
            "execution_count": None,
            "source": [c],
        }
        for k, c in enumerate(cells)
    ]
    path.write_text(json.dumps(made))
    monkeypatch.setattr(editions, "sources", lambda profile: [path])
    with pytest.raises(BedsideError, match="don't pass: ✗ Task 1: look again"):
        editions.build(tmp_path / "made")
    students = tmp_path / "students.ipynb"
    students.write_text(json.dumps(edited.edition(path, students=True)))
    execute(students, students, {})
    assert editions.said(notebook(students)) == ["… Task 1: not answered yet. A number."]


class Example(seminar.Sheet):
    @seminar.task("1", "Write two numbers.")
    def pair(self, answer):
        a, b = answer
        if a >= b:
            raise seminar.Wrong("the first is the smaller one")
        return f"{b - a} apart"

    @seminar.needs("1")
    def shown(self, answer):
        return {"low": answer[0]}["low"] / 1


@pytest.mark.parametrize(
    "answer, ok, text",
    [
        ([1, 3], True, "2 apart"),
        ([3, 1], False, "the smaller one"),
        (..., None, "not answered yet. Write two numbers."),
        ([1, ...], None, "not answered"),
        ({}, None, "not answered"),
        ("", None, "not answered"),
        (7, False, "can't be read as an answer. Write two numbers."),
        ([1, "x"], False, "can't be read"),
    ],
)
def test_a_check_says_what_to_do_and_never_raises(answer, ok, text):
    said = Example().check("1", answer)
    assert said.ok is ok and text in said.text and said.text.startswith("Task 1: ")


def test_an_unknown_task_is_named():
    with pytest.raises(BedsideError, match="unknown task '2'.*Valid: 1"):
        Example().check("2", 1)


def test_a_paper_without_a_sheet_is_named():
    with pytest.raises(BedsideError, match="unknown sheet 'none'.*Valid: cancer_myth"):
        seminar.sheet("none")


def test_what_follows_from_a_task_waits_for_it():
    assert Example().shown(...).ok is None and "task 1" in Example().shown([..., 2]).text
    assert Example().shown([4]) == 4 and Example().shown("a").ok is False


def test_feedback_is_escaped():
    assert "<b>" not in seminar.Feedback(False, "<b>")._repr_html_()


# ---- words beside the sheets

ALWAYS = {"asks", "right", "hint", "columns"}  # keys that no check names
HOME = Path(seminar.__file__).parent


@pytest.mark.parametrize("paper", seminar.names())
def test_each_task_has_its_words_and_each_word_its_check(paper):
    sheet = seminar.kind(paper)
    code = "".join(p.read_text(encoding="utf-8") for p in (HOME / paper).glob("*.py"))
    named = set(re.findall(r'"([^"\n]+)"', code))
    for number, method in sheet.tasks().items():
        words = sheet.words()[number]
        assert words["right"] and len(words["asks"]) > 15 and not method.asks
        odd = words.keys() - named - ALWAYS - {"input", "context", "fact"}  # types, of medhalu
        assert not odd, (number, odd)
    assert sheet.words().keys() - sheet.tasks().keys() <= {"limits", "patterns"}


@pytest.mark.parametrize("paper", seminar.names())
def test_words_are_sentences_with_names_in_their_braces(paper):
    every = [w for part in seminar.kind(paper).words().values() for w in part.items()]
    for key, text in every:
        if isinstance(text, str) and key != "asks" and not key.startswith(("stop", "ref", "eva")):
            fields = [name for _, name, *_ in string.Formatter().parse(text) if name is not None]
            assert all(re.match(r"[a-z]\w*", name) for name in fields), (key, text)
            assert "  " not in text and text == text.lstrip()


class Worded(seminar.Sheet):
    @classmethod
    def words(cls):
        return {
            "1": {
                "asks": "Write a number.",
                "right": "{n} it is",
                "hint": "look again",
                "half": "that is half of {n}",
                "odd": "{n} can't be odd",
            }
        }

    @seminar.task("1")
    def one(self, answer):
        self.refuse({"odd": seminar.number(answer["a"]) == 3}, n="It")
        self.numbers(answer, {"a": 8}, {"half": {"a": 4}}, n=8)
        return self.said(n=8)


@pytest.mark.parametrize(
    "answer, ok, says",
    [
        ({"a": 8}, True, "8 it is"),
        ({"a": 4}, False, "that is half of 8"),
        ({"a": 3}, False, "It can't be odd"),
        ({"a": 5}, False, "not right yet: a. look again"),
        ({"a": "x"}, False, "'a' must be a number"),
        (..., None, "not answered yet. Write a number."),
        (7, False, "can't be read as an answer. Write a number."),
    ],
)
def test_a_check_takes_its_words_from_beside_the_sheet(answer, ok, says):
    said = Worded().check("1", answer)
    assert said.ok is ok and said.text == f"Task 1: {says}" or ok is not True and says in said.text
