"""What the tests of the four seminar sheets share.

Each names its PAPER, its NUMBER and WRONG answers, and takes these tests in:

from sheets import *        # noqa: F403
"""

import json
import re

import pytest

from bedside import paths, seminar

__all__ = [
    "pytest_generate_tests",
    "sheet",
    "solved",
    "test_open_and_absurd_answers",
    "test_solutions_pass",
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
    """All these answers, pairs of a task and an answer, are right."""
    for task, answer in answers:
        said = sheet.check(task, answer)
        assert said.ok is True, (task, said.text)


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


def test_the_plan_fills_ninety_minutes(request):
    text = whole(request.module.NUMBER)
    steps = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+) to (\d+) \|", text, re.M)]
    if steps:
        assert steps[0][0] == 0 and steps[-1][1] == 90
        assert all(a[1] == b[0] for a, b in zip(steps, steps[1:]))
    else:
        plan = text.partition("| minutes |")[2].partition("\n\n")[0]
        assert sum(map(int, re.findall(r"^\| (\d+) \|", plan, re.M))) == 90
