"""Rows with what raters must not see, tasks of the tests' own, and sessions on them."""

import json

import pytest

from bedside.annotation import Session, grouped, tasks
from bedside.publish.judged_items import Task, text

TASKS = [name for name in tasks() if name != "own"]  # own studies are elsewhere
SECRET = "SENTINEL"  # stands wherever a rater must not look


def row(item, paper="cancer_myth", section="4.3 false presupposition", reply=None, **other):
    return {
        "id": f"{SECRET} {paper}/{section}/{item}",
        "paper": paper,
        "section": section,
        "item": item,
        "model": f"{SECRET} a",
        "configuration": f"{SECRET} plain",
        "category": f"{SECRET} category",
        "title": f"{SECRET} title",
        "shared": [{"kind": "text", "label": "Question", "text": f"question {item}"}],
        "reply": f"reply {item}" if reply is None else reply,
        "reply_status": "",
        "truncated": False,
        "blocks": [],
        "verdicts": [
            {
                "judge": SECRET,
                "status": "graded",
                "value": SECRET,
                "right": True,
                "raw": SECRET,
                "reason": SECRET,
            }
        ],
        "more": [
            {"judge": SECRET, "task": SECRET, "status": "graded", "value": SECRET, "raw": SECRET}
        ],
        "human": [{"by": SECRET, "value": SECRET, "type": SECRET, "reason": SECRET}],
        "beside": SECRET,
        **other,
    }


def many(n, **other):
    return [row(f"cm-{i:03d}", **other) for i in range(n)]


@pytest.fixture
def session(tmp_path):
    """A function that makes a session on rows with its log in this test's folder."""

    def make(rows, task="presupposition", rater="Ann", repetitions=0.0, **other):
        how = grouped(folder=tmp_path, repetitions=repetitions, **other)
        return Session(rows, task, rater, **how)

    return make


def lines(session):
    return [json.loads(line) for line in session.log.path.read_text().splitlines()]


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


def paragraphs(row):
    """A row's reply in paragraphs."""
    cut = row["reply"].split("\n\n")
    return [{**row, "id": f"{row['id']}#{n}", "reply": one} for n, one in enumerate(cut)]


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
