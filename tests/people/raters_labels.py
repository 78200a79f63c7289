"""Rows with what raters must not see, tasks of the tests' own, and tables of labels as frames."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bedside import annotation
from bedside.annotation import log, raters, tasks
from bedside.annotation.blind import alias
from bedside.annotation.labelling import Task
from bedside.asking.store import digest
from bedside.publish.judged_items import text
from bedside.read import paths
from rater_pages import record

KNOWN = paths.toml(Path(__file__).with_name("labels.toml"))
TASKS = [name for name in tasks() if name != "own"]  # own studies are elsewhere
SECRET = "SENTINEL"  # is wherever a rater must not look
BURN = "Rest. Iron heals\nburns."
DIALOGUE = KNOWN["dialogue"]


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def row(item, task="presupposition", **other):
    """A row of a task, `own` among them, with a secret in all that names or judges the reply."""
    paper, section = ("medhalu", "9 own") if task == "own" else _place(tasks()[task])
    names = ("model", "configuration", "category", "title", "beside")
    said = dict.fromkeys(("judge", "task", "value", "raw", "reason", "by", "type"), SECRET)
    said |= {"status": "graded", "right": True}
    made = dict(id=item, paper=paper, section=section, item=item, unit=item, reply=f"reply {item}")
    made |= dict.fromkeys(names, SECRET) | dict(reply_status="", truncated=False, blocks=[])
    made |= {"shared": [text("Question", f"question {item}")], "human": [said]}
    return made | {"verdicts": [said], "more": [said]} | other


def _place(task):
    return task.paper, task.sections[0]


def many(n, task="presupposition", **other):
    return [row(f"i-{i:03d}", task, **other) for i in range(n)]


def items_of(name):
    """Items with what is right, as a task's training and checks are."""
    return [{"shared": [text("Question", "so?")], **item} for item in KNOWN[name]]


def _fields(of):
    return {k: tuple(map(tuple, v)) if k in TUPLES else v for k, v in KNOWN[of].items()}


TUPLES = ("choices", "types", "background")
SPANS = _fields("spans") | {"reason_for": ("yes",), "source_for": ("yes",)}
SPANS["training"] = lambda: items_of("training")
ABOUT = _fields("about")


@pytest.fixture
def own(monkeypatch):
    """A function that makes a task of this test's own known."""
    known = _fields("own") | {"sections": ("9 own",), "shows": ("Question",), "record": dict}

    def make(**given):
        monkeypatch.setitem(tasks(), "own", Task(**known | given))
        return tasks()["own"]

    return make


def write(folder, rater, row, value, task="presupposition", check=False, **other):
    """A label on disk; check: of a repetition."""
    about = {"paper": row["paper"], "item": row["item"], "task": task, "group": "expert"}
    about |= {"value": value, "at": "2026-01-01", "check": check}
    about["text_sha256"] = digest(annotation.material(row, tasks()[task]))
    log.append(folder / task / f"{rater}.jsonl", [record(alias(row["id"]), rater, **about | other)])


def frame_of(labels, part=""):
    """(rater, id, value, whether a repetition) each as a frame; some values are refusals."""
    made = [
        dict.fromkeys(raters.LABEL, "")
        | {"rater": rater, "id": id, "unit": id, "part": part, "repetition": again, "seconds": 3.0}
        | {"value": None if value in raters.REFUSALS else value}
        | {"refused": value if value in raters.REFUSALS else ""}
        for rater, id, value, again in labels
    ]
    return pd.DataFrame(made, columns=raters.LABEL).astype({"repetition": bool})


def given(table, part=""):
    """Labels as a frame, from a table: a line an item, a column a rater.

    first/again: a label and that of the repetition; `-` is none.
    """
    (_, *names), *lines = (line.split() for line in table.strip().splitlines())
    return frame_of(
        [
            (rater, id, value, bool(again))
            for id, *cells in lines
            for rater, cell in zip(names, cells, strict=True)
            for again, value in enumerate(cell.split("/"))
            if value != "-"
        ],
        part,
    )


def cells(rows):
    return {(r.row, r.column): (r.value, r.low, r.high, r.n) for r in rows.itertuples()}
