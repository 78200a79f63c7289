"""A study's protocol: consent and background first, training items, items with a known answer."""

import json

import numpy as np

from bedside.asking.store import digest
from bedside.read.prompts import clean

from .blind import alias, material
from .sampling import Entry

NOT_SAID = "prefer not to say"


def entrance(task, log):
    """What comes before the first item, or None: consent, and questions with the answers so far.

    Answers are optional, and leave <task>/background/<rater>.jsonl only as numbers of raters
    (`raters.background`).
    """
    if not (task.consent or task.background):
        return None
    given = answers(log.path.parent / "background" / log.path.name).get("answers", {})
    questions = [
        {"name": name, "question": question, "answers": [NOT_SAID, *known]}
        | {"given": given.get(name, NOT_SAID)}
        for name, question, known in task.background
    ]
    return {"consent": clean(task.consent), "questions": questions}


def answers(path):
    """The last line of a rater's file of background, {} without one that can be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not there
        return {}
    for line in reversed(lines):
        try:
            return {"answers": {}, "group": ""} | json.loads(line)
        except (ValueError, TypeError):
            continue
    return {}


def training(task):
    """A task's training items, with what is right: they come first and give no labels."""
    items = [i | {"blocks": []} for i in (task.training() if task.training else ())]
    return [
        {"id": digest(i), **material(i, task), "cut": False, "opinions": [], **_right(i, task)}
        for i in items
    ]


def _right(item, task):
    """The right answer of an item, what of it is on screen, and why it is right."""
    right = {"type": "", "spans": []} | item["right"]
    expected = [*map(clean, (*task.in_words(right), *right["spans"]))]
    return {"right": right, "expected": expected, "why": clean(item["why"])}


def checks(task):
    """A task's attention checks as rows, which no document has; `right` is the known value."""
    return [
        {**item, "id": f"check {digest(item)}", "paper": task.paper, "item": "check", "blocks": []}
        | {"right": item["right"]["value"]}
        for item in (task.checks() if task.checks else ())
    ]


def mixed(queue, task, rater, seed):
    """A rater's queue with the task's checks at random places, none of them the first."""
    rng = np.random.default_rng([seed, int(digest(rater)[:8], 16)])
    found = checks(task)
    places = sorted(rng.integers(1, len(queue) + 1, len(found)), reverse=True)
    for place, i in zip(places, rng.permutation(len(found))):
        queue = [*queue[:place], Entry(found[i], False), *queue[place:]]
    return queue


def answered(task, records):
    """({rater: whether each check so far has the known answer}, the other records).

    records: of all raters, a rater's last one for each row. Who declines to label a check, since it
    makes no sense as an item, hasn't failed it.
    """
    right = {alias(row["id"]): row["right"] for row in checks(task)}
    passed = {}
    for r in records:
        if r["id"] in right and not r["refused"]:
            passed[r["rater"]] = passed.get(r["rater"], True) and r["value"] == right[r["id"]]
    return passed, [r for r in records if r["id"] not in right]
