"""Rows with what raters must not see, and sessions on them, for tests of annotation."""

import json

import pytest

from bedside.annotation import Session, grouped, tasks

TASKS = tasks()
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
