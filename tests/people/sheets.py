"""What the tests of the four seminar sheets share.

Each names its PAPER, its NUMBER, WRONG answers, WAYS to write right ones by task and NOTHING, what
is no answer, and takes these tests in:

from sheets import *        # noqa: F403
"""

import json
import re
from fractions import Fraction

import numpy as np
import pytest

from bedside import seminar
from bedside.read import paths
from bedside.seminar import again

__all__ = [
    "pytest_generate_tests",
    "sheet",
    "solved",
    "test_nonsense_is_refused",
    "test_open_and_absurd_answers",
    "test_solutions_pass",
    "test_ten_ways_to_write_an_answer_pass",
    "test_the_plan_fills_ninety_minutes",
    "test_wrong_answers_are_named",
]


def source(cell):
    """A cell's text."""
    return "".join(cell["source"])


def cells(number):
    """The cells of a sheet's source."""
    (path,) = (paths.NOTEBOOKS / "seminar").glob(f"{number}_*.ipynb")
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def whole(number):
    """All text of a sheet's source."""
    return "\n".join(map(source, cells(number)))


def space(number, sheet):
    """What the solution cells of a sheet's source set, by name."""
    made = {"sheet": sheet}
    for cell in cells(number):
        if "solution" in cell["metadata"].get("tags", []):
            exec(source(cell), made)
    return made


def answers(number, solved):
    """{task: what the source gives to its check}, from the names that its solutions set."""
    calls = re.findall(r'^sheet\.check\("([\d.]+)", (.+)\)$', whole(number), re.M)
    return {task: eval(argument, solved) for task, argument in calls}


def assert_pass(sheet, answers):
    """All these answers, pairs of a task and an answer, are right, also as they are handed in."""
    for task, answer in answers:
        said = sheet.check(task, answer)
        assert said.ok is True, (task, said.text)
        entry = json.loads(json.dumps(sheet.checked[task]))
        assert again.verdict(sheet, task, entry["answer"], entry) == (said.state, said.text)


@pytest.fixture(scope="module")
def sheet(request):
    return seminar.sheet(request.module.PAPER)


@pytest.fixture(scope="module")
def solved(request, sheet):
    return space(request.module.NUMBER, sheet)


def pytest_generate_tests(metafunc):
    if "wrong" in metafunc.fixturenames:
        metafunc.parametrize("wrong", metafunc.module.WRONG)


def test_solutions_pass(request, sheet, solved):
    found = answers(request.module.NUMBER, solved)
    assert set(found) == set(sheet.tasks())
    assert_pass(sheet, found.items())


def test_wrong_answers_are_named(sheet, wrong):
    task, answer, says = wrong
    said = sheet.check(task, answer)
    assert said.ok is False and says in said.text, said.text


OPEN = (..., None, "", {}, {"a": ...}, {"A": ...}, {"added": ...}, [..., ...], [None])
ABSURD = ("x", 3, 7, [1], {"a": 1}, {"q": 1}, {1: "x"}, [[1], [2]], float("nan"))


@pytest.mark.parametrize("answer", (*OPEN, *ABSURD, object(), lambda: 1, print))
def test_open_and_absurd_answers(sheet, answer):
    for number in sheet.tasks():
        told = sheet.check(number, answer)
        assert told.ok is not True and len(told.text) > 20
        assert (told.ok is None) == seminar.open_in(answer)


def ways(answer):
    """Ten ways to write a dictionary of numbers; other values stay as they are."""

    def text(value, sign="", point=".", percent=False):
        if float(value).is_integer():
            return f"{sign}{value:.0f}" if value >= 0 else f"{value:.0f}"
        if percent and abs(value) < 1:
            return f"{100 * value:.2f}%"
        made = f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
        return (sign if value >= 0 else "") + made.replace(".", point)

    kinds = (
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
    if isinstance(answer, list):  # a reading, and what follows from it
        return [[*answer[:-1], made] for made in ways(answer[-1])]
    return [{k: v if isinstance(v, str) else kind(v) for k, v in answer.items()} for kind in kinds]


def test_ten_ways_to_write_an_answer_pass(request, sheet, solved):
    listed, right = request.module.WAYS, answers(request.module.NUMBER, solved)
    for number, answer in right.items():
        written = listed.get(number) or ways(answer)
        written = written(solved) if callable(written) else written
        assert len(written) >= 10, number
        assert_pass(sheet, [(number, given) for given in written])


def with_all(answer, value):
    """An answer of the same form with a value everywhere."""
    if isinstance(answer, dict):
        return {k: with_all(v, value) for k, v in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [with_all(v, value) for v in answer]
    return value


NONSENSE = ("asdf", "x", "?!", "idk", "blah blah blah", "qwertz", "-", -999, 1e9, True)


def test_nonsense_is_refused(request, sheet, solved):
    right = answers(request.module.NUMBER, solved)
    for number, answer in right.items():
        for value in NONSENSE:
            last = answer[-1] if number in request.module.PAIRS else answer
            made = with_all(last, value)
            given = [*answer[:-1], made] if number in request.module.PAIRS else made
            for each in (given, value):
                assert sheet.check(number, each).ok is not True, (number, each)
    for number, answer in request.module.NOTHING:
        assert sheet.check(number, answer).ok is not True, (number, answer)


def test_the_plan_fills_ninety_minutes(request):
    text = whole(request.module.NUMBER)
    steps = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+) to (\d+) \|", text, re.M)]
    if steps:
        assert steps[0][0] == 0 and steps[-1][1] == 90
        assert all(a[1] == b[0] for a, b in zip(steps, steps[1:]))
    else:
        plan = text.partition("| minutes |")[2].partition("\n\n")[0]
        assert sum(map(int, re.findall(r"^\| (\d+) \|", plan, re.M))) == 90
