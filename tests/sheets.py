"""What the tests of the four seminar sheets share."""

import json
import re

from bedside import paths


def cells(number):
    """The cells of a sheet's source."""
    source, = (paths.NOTEBOOKS / "seminar").glob(f"{number}_*.ipynb")
    return json.loads(source.read_text(encoding="utf-8"))["cells"]


def space(number, sheet):
    """What the solution cells of a sheet's source set, by name."""
    made = {"sheet": sheet}
    for cell in cells(number):
        if "solution" in cell["metadata"].get("tags", []):
            exec("".join(cell["source"]), made)
    return made


def answers(number, solved):
    """{task: what the source gives to its check}, from the names that its solutions set."""
    calls = re.findall(r'^sheet\.check\("([\d.]+)", (.+)\)$', "\n".join("".join(c["source"]) for c in cells(number)), re.M)
    return {task: eval(argument, solved) for task, argument in calls}


def assert_pass(sheet, answers):
    """All these answers, pairs of a task and an answer, are right."""
    for task, answer in answers:
        said = sheet.check(task, answer)
        assert said.ok is True, (task, said.text)


def assert_named(sheet, task, answer, says):
    """An answer is wrong, and its feedback names the mistake."""
    said = sheet.check(task, answer)
    assert said.ok is False and says in said.text, said.text
