"""Rows with what raters must not see, tasks of the tests' own, and sessions on them."""

import pytest

from bedside.annotation import tasks
from bedside.annotation.labelling import Task
from bedside.publish.judged_items import text

TASKS = [name for name in tasks() if name != "own"]  # own studies are elsewhere
SECRET = "SENTINEL"  # stands wherever a rater must not look


def row(item, paper="cancer_myth", section="4.3 false presupposition", reply=None, **other):
    names = ("model", "configuration", "category", "title")
    made = {name: f"{SECRET} {name}" for name in names} | {"beside": SECRET, "blocks": []}
    made |= dict(id=f"{SECRET} {paper}/{section}/{item}", paper=paper, section=section, item=item)
    made |= dict(reply=f"reply {item}" if reply is None else reply, reply_status="")
    made |= {"truncated": False, "shared": [text("Question", f"question {item}")]}
    said = dict.fromkeys(("judge", "task", "value", "raw", "reason", "by", "type"), SECRET)
    said |= {"status": "graded", "right": True}
    return made | {"verdicts": [said], "more": [said], "human": [said]} | other


def many(n, **other):
    return [row(f"cm-{i:03d}", **other) for i in range(n)]


DIALOGUE = {
    "kind": "dialogue",
    "label": "Consultation",
    "turns": [
        {
            "who": "Patient",
            "pieces": [["It is ", ""], ["nothing.", "script"]],
            "notes": [f"{SECRET} discloses key item 3"],
        }
    ],
}


BURN = "Rest. Iron heals\nburns."


# ---- tasks of the tests' own


def training():
    """Two items with what is right."""
    wrong = {"value": "yes", "type": "fact", "spans": ["Iron heals"]}
    items = [("Iron heals burns.", wrong), ("Water cools.", {"value": "no"})]
    asked = [text("Question", "what helps?")]
    return [{"shared": asked, "reply": r, "right": x, "why": f"why {r}"} for r, x in items]


OWN = {
    "name": "own",
    "paper": "medhalu",
    "title": "Own",
    "question": "Is it wrong?",
    "guide": "Guide.",
    "choices": (("1", "yes", "yes, wrong"), ("2", "no", "no, right")),
    "sections": ("9 own",),
    "shows": ("Question",),
    "positive": "yes",
    "file": "own/labels.csv",
    "record": dict,
}
SPANS = {
    "types": (("f", "fact", "fact: false"), ("i", "input", "input: beside the point")),
    "spans_for": "yes",
    "reason_for": ("yes",),
    "source_for": ("yes",),
    "training": training,
    "closing": "Give the file to who asked you.",
}


@pytest.fixture
def own(monkeypatch):
    """A function that makes a task of this test's own known."""

    def make(**given):
        monkeypatch.setitem(tasks(), "own", Task(**OWN | given))
        return tasks()["own"]

    return make


def mine(n, **other):
    return [row(f"own-{i}", "medhalu", "9 own", **other) for i in range(n)]
