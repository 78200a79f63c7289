"""A study's protocol: consent and background first, training items, items with a known answer."""

import numpy as np

from bedside.asking.store import digest
from bedside.read import outside
from bedside.read.prompts import clean

from .blind import alias, material
from .sampling import Entry

NOT_SAID = "prefer not to say"


def entrance(task, path):
    """What comes before the first item, or None: consent, and questions with the answers so far.

    Answers are optional, and leave their file only as numbers of raters (`raters.background`).
    """
    if not (task.consent or task.background):
        return None
    given = (lines(path) or [{}])[-1].get("answers", {})
    questions = [
        {"name": name, "question": question, "answers": [NOT_SAID, *known]}
        | {"given": given.get(name, NOT_SAID)}
        for name, question, known in task.background
    ]
    return {"consent": clean(task.consent), "questions": questions}


def lines(path):
    """The lines of a rater's file of background or training that can be read."""
    found = []
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            found.append(outside.fitted(outside.parsed(line), dict))
        except ValueError:
            continue
    return found


def training(task):
    """A task's training items, with what is right: they come first and give no labels."""
    made = []
    for item in task.training() if task.training else ():
        right = {"type": "", "spans": []} | item["right"]
        expected = [*map(clean, (*task.in_words(right), *right["spans"]))]
        values, types = ([right[k]] * bool(right[k]) for k in ("value", "type"))
        right = {"values": values, "type": types, "spans": right["spans"]}
        shown = material(item | {"blocks": []}, task)
        about = {"id": digest(item | {"blocks": []}), "right": right, "expected": expected}
        made.append({**shown, **about, "why": clean(item["why"])})
    return made


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
    queue, found = [*queue], checks(task)
    places = sorted(rng.integers(1, len(queue) + 1, len(found)), reverse=True)
    for place, i in zip(places, rng.permutation(len(found))):
        queue.insert(place, Entry(found[i], False))
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
