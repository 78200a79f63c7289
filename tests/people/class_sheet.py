"""A small sheet, a name for this copy, and what is handed in, for tests of a class."""

import json

import pytest

from bedside import seminar
from bedside.seminar import classroom

STATES = ["right", "collected", "not yet", "open"]
MARK = {"right": "✓", "collected": "✎", "not yet": "✗", "open": "…"}
FOLDER = classroom.FOLDER
NAMES = ["Ann B", "ann-b", "Blue heron", "Émile & Zoë", "Blue heron"]


class Small(seminar.Sheet):
    """A sheet of three tasks, under the name of one that there is."""

    paper = "cancer_myth"

    @seminar.task("1.1", "Write something.", free=True)
    def one(self, answer):
        return "kept"

    @seminar.task("1.2", "A number.")
    def two(self, answer):
        if answer != 2:
            raise seminar.Wrong("count again")
        return "two"

    @seminar.task("1.3", "Anything.")
    def three(self, answer):
        return "fine"


@pytest.fixture
def copy(monkeypatch):
    """Another copy of the project, by a name of one's choice: another student's laptop."""
    return lambda name: monkeypatch.setattr(classroom, "_copy", lambda: name)


@pytest.fixture(autouse=True)
def own(copy):
    """No test leaves anything in the checkout."""
    copy("the first")


def handed(folder):
    """The files of a folder, in the order of their times."""
    found = [json.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*.json")]
    return sorted(found, key=lambda made: made["time"])


def given(name, folder, **said):
    """Hand in answers {"1_2": answer} of the small sheet; what the last cell shows."""
    sheet = Small()
    for number, answer in said.items():
        sheet.check(number.strip("_").replace("_", "."), answer)
    return sheet.hand_in(name, folder)
