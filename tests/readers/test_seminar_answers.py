"""What the seminar's checks say of answers, as tables: answers/<paper>.toml.

A task's table has a `base` answer with its verdict ("right" unless it says another), how else it
may be written (`also`), what is wrong by a known mistake, by its name, or by none (`other`), and
what is no answer at all (`nonsense`). A row says what differs from the base. `after`: the answer
follows that of another task. `hinted`: collected, with another remark than the base.
"""

import functools
from fractions import Fraction

import numpy as np
import pytest

from bedside import seminar
from seminar_answers import TABLES, answer

TASKS = [(paper, number) for paper, tasks in TABLES.items() for number in tasks]
each_task = pytest.mark.parametrize("paper, number", TASKS)
sheet = functools.cache(seminar.sheet)


def said(paper, number, row=None):
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
    for paper, tasks in TABLES.items():
        assert set(tasks) == set(sheet(paper).tasks())


@each_task
def test_a_right_answer_passes_however_it_is_written(paper, number):
    table, first = TABLES[paper][number], said(paper, number)
    rows = table.get("also", [])
    if numbers_only(table["base"]) and paper + number != "cancer_myth1.3":  # grades are whole
        rows = rows + spellings(table["base"])
    for row in (None, *rows):
        found = said(paper, number, row)
        assert found.state == table.get("verdict", "right"), (row, found.text)
    for row in table.get("hinted", ()):
        found = said(paper, number, row)
        assert found.state == "collected" and found.text != first.text, (row, found.text)
        assert {said(paper, number, r).text for r in rows} == {first.text}


@each_task
def test_a_usual_mistake_is_told_from_all_others(paper, number):
    table, told = TABLES[paper][number], {}
    base = table["base"]
    for name, rows in table["mistakes"].items():
        for row in rows:
            found = said(paper, number, row)
            assert found.state == "not yet", (name, row, found.text)
            told.setdefault(found.text, set()).add(name)
            if numbers_only(base):
                other = said(paper, number, nudged(base, row))
                assert found.text != other.text, (name, "is told as any other number would be")
    assert all(len(names) == 1 for names in told.values()), told
    assert len(told) >= 2
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
        if "after" in table:
            made = [answer(paper, table["after"]), made]
        assert sheet(paper).check(number, made).state in {"not yet", *free}, made
    for values, state in ((OPEN, "open"), ((*NONSENSE, *ABSURD), "not yet")):
        for value in values:
            found = sheet(paper).check(number, value)
            assert found.state == state and len(found.text) > 20, value


# ---- any sheet


def test_feedback_has_four_states_that_differ_without_colour_and_escapes_its_text():
    made = [seminar.Feedback(ok, '<b onclick="x">') for ok in (True, False, None)]
    made.append(seminar.Feedback(True, '<b onclick="x">', collected=True))
    assert {f.state for f in made} == {"right", "not yet", "open", "collected"}
    assert len({repr(f)[0] for f in made}) == 4
    for f in made:
        page = f._repr_html_()
        assert f.state in page and repr(f)[0] in page and "<b " not in page and 'k="' not in page


def own(hits, wrong, missed, rejected):
    return hits / nothing


def test_an_error_in_a_students_function_is_told_with_its_line():
    said = sheet("radiation").feedback("2.9", own)
    assert "NameError" in said.text and "hits / nothing" in said.text and said.state == "not yet"


@pytest.mark.parametrize(
    "text, share, value",
    [
        ("0.25", True, 0.25),
        (" 25% ", True, 0.25),
        ("25 percent", True, 0.25),
        ("25 %", False, 25),
        ("0,25", True, 0.25),
        ("12,5", False, 12.5),
        ("1,000", False, None),  # a thousand, or one
        ("0,825", False, 0.825),
        ("33/40", True, 0.825),
        ("1/0", True, None),
        ("−0.2", False, -0.2),
        ("+3", False, 3),
        (".5", True, 0.5),
        ("asdf", True, None),
        ("", True, None),
        ("1e5", False, None),
        ("1 or 2", False, None),
        (True, False, None),
        (float("nan"), False, None),
        ([1], False, None),
    ],
)
def test_numbers_in_words(text, share, value):
    assert seminar.number(text, share) == (None if value is None else pytest.approx(value))
