"""Attention checks of a study's protocol: items with a known answer, unannounced among the rest."""

import numpy as np

from bedside.keep.store import digest

from .blind import alias
from .sampling import Entry


def checks(task):
    """A task's checks as rows, which no document has; `right` is the known value."""
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
