"""What the seminar's checks say of answers, as tables: answers/<paper>.toml.

A task's table has a `base` answer with its verdict ("right" unless it says another), how else it
may be written (`also`), what is wrong by a known mistake, by its name, or by none (`other`), and
what is no answer at all (`nonsense`). A row says what differs from the base. `after`: the answer
follows that of another task. forty.toml has forty own answers to four tasks.
"""

import ast
from fractions import Fraction
from functools import cache
from string import Formatter

import numpy as np
import pytest

from bedside import BedsideError, seminar
from bedside.read import expressions
from bedside.seminar import answers, sheets, tasks
from seminar_answers import FORTY, TABLES, answer

TASKS = [(paper, number) for paper, found in TABLES.items() for number in found]
each_task = pytest.mark.parametrize("paper, number", TASKS)


@cache
def sheet(paper):
    return seminar.sheet(paper)


def said(paper, number, row=None):
    if after := TABLES[paper][number].get("after"):
        sheet(paper).check(after, answer(paper, after))
    return sheet(paper).check(number, answer(paper, number, row))


def numbers_only(value):
    return isinstance(value, dict) and any(isinstance(v, int | float) for v in value.values())


def spellings(row):
    """Ten ways to write the numbers of a row."""

    def text(value, sign="", point=".", percent=False):
        if float(value).is_integer():
            return f"{sign}{value:.0f}" if value >= 0 else f"{value:.0f}"
        if percent and abs(value) < 1:
            return f"{100 * value:.2f}%"
        made = f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
        return (sign if value >= 0 else "") + made.replace(".", point)

    ways = (
        float,
        lambda v: round(v, 3),
        np.float64,
        lambda v: Fraction(v).limit_denominator(10**6),
        text,
        lambda v: f" {text(v)} ",
        lambda v: text(v, sign="+"),
        lambda v: text(v, point=","),
        lambda v: text(v).replace("-", "\u2212"),
        lambda v: text(v, percent=True),
    )
    return [
        {k: way(v) if isinstance(v, int | float) else v for k, v in row.items()} for way in ways
    ]


def nudged(row, keys):
    """A row whose numbers under these keys are off by something that no mistake leads to."""
    small = {k: 0.0137 if abs(v) <= 1 else 1.37 for k, v in row.items() if not isinstance(v, str)}
    return {k: v + small[k] if k in keys and k in small else v for k, v in row.items()}


def test_every_task_has_a_table():
    for paper, found in TABLES.items():
        assert set(found) == set(sheet(paper).tasks())


@each_task
def test_a_right_answer_passes_however_it_is_written(paper, number):
    table, rows = TABLES[paper][number], TABLES[paper][number].get("also", [])
    if numbers_only(table["base"]) and table.get("verdict") != "collected":
        rows = rows + spellings(table["base"])
    for row in (None, *rows):
        found = said(paper, number, row)
        assert found.state == table.get("verdict", "right"), (row, found.text)


@each_task
def test_a_usual_mistake_is_told_from_all_others(paper, number):
    table, told = TABLES[paper][number], {}
    base = table["base"]
    for name, rows in table.get("mistakes", {}).items():
        for row in rows:
            found = said(paper, number, row)
            assert found.state == "not yet", (name, row, found.text)
            told.setdefault(found.text, set()).add(name)
            if numbers_only(base):
                other = said(paper, number, nudged(base, row))
                assert found.text != other.text, (name, "is told as any other number would be")
    assert all(len(names) == 1 for names in told.values()), told
    for row in table.get("other", ()):
        assert said(paper, number, row).state == "not yet", row


NONSENSE = ("asdf", "?!", "-", -999, 1e9, True)
OPEN = (..., None, "", {}, {"a": ...}, {"added": ...}, [..., ...], [None])
ABSURD = (3, [1], {"a": 1}, {1: "x"}, [[1], [2]], float("nan"), object(), print, lambda: 1)


def everywhere(given, value):
    """An answer of the same form with a value in all places."""
    if isinstance(given, dict):
        return {k: everywhere(v, value) for k, v in given.items()}
    return [everywhere(v, value) for v in given] if isinstance(given, list) else value


@each_task
def test_what_is_no_answer_is_open_and_any_other_never_an_error_nor_right(paper, number):
    """An empty text is no answer; of a student's own text, anything else is kept to be read."""
    table = TABLES[paper][number]
    free = {"collected"} if table.get("verdict") == "collected" else set()
    for row in table.get("nonsense", ()):
        assert said(paper, number, row).state == "not yet", row
    for value in NONSENSE:
        made = everywhere(table["base"], value)
        assert sheet(paper).check(number, made).state in {"not yet", *free}, made
    for value in OPEN:
        found = sheet(paper).check(number, value)
        assert found.state in {"open", "not yet"} and len(found.text) > 20, value
    for value in (*NONSENSE, *ABSURD):
        found = sheet(paper).check(number, value)
        assert found.state in {"not yet", *free} and len(found.text) > 20, value


# ---- forty own answers, written before the checks


@pytest.mark.parametrize("letter, text", FORTY["1.1"])
def test_no_own_answer_to_a_patient_is_refused(letter, text):
    found = said("cancer_myth", "1.1", {letter: text})
    assert found.state == "collected" and "only sends" not in found.text


@pytest.mark.parametrize("entries", FORTY["2.2"])
def test_no_own_list_is_refused_and_the_matchers_error_is_shown(entries):
    made = sheet("radiation")
    assert made.check("2.2", entries).state == "collected"
    assert made.own_list(entries).data.iloc[:, 0].tolist() == list(dict.fromkeys(entries))


@pytest.mark.parametrize("row", FORTY["2.4"])
def test_right_counts_are_right_in_forty_forms(row):
    keys = "hits", "precision", "recall", "F1"
    assert sheet("radiation").check("2.4", dict(zip(keys, row))).state == "right"


@pytest.mark.parametrize("text", FORTY["4.1"])
def test_right_key_items_are_right_in_forty_forms(text):
    made = ast.literal_eval(text.replace("set()", "[]"))
    assert sheet("meddialbench").check("4.1", made).state == "right"


# ---- the check itself


def test_a_mistake_is_told_where_it_arises_and_not_again_in_what_follows():
    """hits 3, and 3 / 23 = 0.130, which is near 4 / 31: not the whole vocabulary."""
    mine = {"hits": 3, "precision": 0.3, "recall": 0.13, "F1": 0.18}
    text = sheet("radiation").check("2.4", mine).text
    assert "hits" in text and "vocabulary" not in text
    mine |= {"hits": 4, "precision": 0.4}
    assert "vocabulary" in sheet("radiation").check("2.4", mine).text


CODE = "__import__('os').system('true')", "hits.__class__", "open('x')"


@pytest.mark.parametrize("formula", CODE)
def test_no_formula_of_a_task_or_a_student_is_run_as_code(formula):
    with pytest.raises((BedsideError, answers.Wrong)):
        tasks.check({"truth": {"a": formula}, "right": ""}, {"a": 1}, {"hits": 1})
    assert sheet("radiation").check("2.9", formula).state == "not yet"


def test_every_word_of_a_task_can_be_said():
    """The guide fills in what is said of each mistake that a formula leads to."""
    for paper in TABLES:
        for number, task in sheet(paper).tasks().items():
            right, mistakes = tasks.guide(task, sheet(paper).names)
            assert right or task.get("free") or "truth" not in task or number == "3.3"
            assert not [say for _, say in mistakes if "{" in say]


def test_feedback_has_four_states_that_differ_without_colour_and_escapes_its_text(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    made = [sheets.Feedback(state, '<b onclick="x">') for state in sheets.LOOKS]
    for f in made:
        f._ipython_display_()
    assert len({repr(f)[0] for f in made}) == 4 == len({d["text/plain"] for d in shown})
    for f, data in zip(made, shown):
        page = data["text/html"]
        assert f.state in page and repr(f)[0] in page and "<b " not in page and 'k="' not in page


@pytest.mark.parametrize(
    "text, share, value",
    [
        *(("0.25", True, 0.25), (" 25% ", True, 0.25), ("25 percent", True, 0.25)),
        *(("25 %", False, 25), ("0,25", True, 0.25), ("12,5", False, 12.5)),
        *(("33/40", True, 0.825), ("5/7", True, 5 / 7), ("six", False, 6), ("twice", False, 2)),
        *(("−0.2", False, -0.2), ("+3", False, 3), (".5", True, 0.5), ("2x", False, 2)),
        ("0,825", False, 0.825),
        *(("4 of 10", True, 0.4), ("F1 = 0.24", True, 0.24), ("about 0.4", True, 0.4)),
        ("1,000", False, None),  # a thousand, or one
        *(("1/0", True, None), ("asdf", True, None), ("", True, None), ("1e5", False, None)),
        *(("1 or 2", False, None), (True, False, None), (float("nan"), False, None)),
        ([1], False, None),
    ],
)
def test_numbers_in_words(text, share, value):
    assert answers.number(text, share) == (None if value is None else pytest.approx(value))


def test_every_formula_of_a_task_can_be_read():
    for number, task in tasks.table().items():
        truth = task.get("truth", {})
        wrongs = task.get("wrong", ())
        found = [truth] if isinstance(truth, str) else [*truth.values()]
        found += [*task.get("let", {}).values(), *(w["when"] for w in wrongs if "when" in w)]
        found += [f for w in wrongs for f in w.get("leads", {}).values()]
        for text in (task.get("right", ""), task.get("hint", ""), *(w["say"] for w in wrongs)):
            found += [field for _, field, *_ in Formatter().parse(text) if field]
        for formula in (*found, task.get("enough", "1")):
            assert expressions.parsed(formula), (number, formula)
