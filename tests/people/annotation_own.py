"""Tasks of the tests' own, and sessions on them, for tests of annotation."""

import pytest
from annotation_rows import row, session  # noqa: F401  (a fixture)

from bedside.annotation import tasks
from bedside.keep import registry
from bedside.publish.judged_items import Task, text

LOCAL = next(name for name, m in registry.entries().items() if m["provider"] == "local")


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
