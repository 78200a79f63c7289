"""All raters' labels of a task in one frame, what they settle, and where they differ."""

from pathlib import Path

import pandas as pd

from bedside.annotation.blind import material
from bedside.annotation.log import FOLDER, read
from bedside.annotation.session import JOINED
from bedside.rows import tasks
from bedside.store import digest

ADJUDICATED = "adjudicated"  # the rater whose labels settle what others disagree on
LABEL = "id paper item part rater group value type spans reason seconds repetition".split()


def labels(task, rows, folder=None):
    """All raters' last labels of a task: a frame of LABEL.

    Only labels of rows whose text is still the one that was shown.

    part: the choice, in a task in which several hold, else empty; a row for each. repetition:
    whether the item came for the second time (see `attention`). Files may be copies of each other:
    of a rater's labels for a row the latest counts. Labels for other texts are left out;
    `frame.attrs["left_out"]` counts them, `frame.attrs["damaged"]` names lines that can't be read.
    """
    how, found, damaged = tasks()[task], [], {}
    for path in sorted(Path(folder or FOLDER).glob(f"{task}/*.jsonl")):
        records, faults = read(path)
        found, damaged = found + records, damaged | faults
    found.sort(key=lambda r: r["at"])
    last = {(r["id"], r["rater"], r["check"]): r for r in found}.values()
    known = {row["id"]: row for row in rows}
    current = [
        r
        for r in last
        if r["id"] in known and digest(material(known[r["id"]], how)) == r["text_sha256"]
    ]
    made = [
        {**r, "part": part, "value": value, "repetition": r["check"]}
        for r in current
        for part, value in parts(how, r["value"])
    ]
    given = pd.DataFrame(made, columns=LABEL).astype({"repetition": bool})
    given.attrs = {"left_out": len(last) - len(current), "damaged": damaged}
    return given


def parts(task, value):
    """(part, value) of a label: itself, or a yes or no for each choice that may hold; a Task's."""
    if not task.several:
        return [("", value)]
    held = value.split(JOINED)
    return [(choice, "yes" if choice in held else "no") for choice in task.values]


def values(task):
    """The values that a label of one part can have, in order."""
    return ["no", "yes"] if tasks()[task].several else sorted(tasks()[task].values)


def first_labels(given):
    """The labels without those of repetitions."""
    return given[~given["repetition"]]


def own_labels(given):
    """The first labels without those that settle others'."""
    return given[~given["repetition"] & (given["rater"] != ADJUDICATED)]


def consensus(given):
    """One label for each row and part: id, part, value, by, raters (how many).

    by: adjudicated, all, majority or disputed.

    A majority is more than half of the raters of that row; without one the value is None. A single
    rater's label counts as `all`.
    """
    rows = []
    for (id, part), mine in first_labels(given).groupby(["id", "part"], sort=False):
        final, others = mine[mine["rater"] == ADJUDICATED], mine[mine["rater"] != ADJUDICATED]
        counts = others["value"].value_counts()
        if len(final):
            value, by = final["value"].iloc[0], ADJUDICATED
        elif counts.iloc[0] == len(others):
            value, by = counts.index[0], "all"
        elif 2 * counts.iloc[0] > len(others):
            value, by = counts.index[0], "majority"
        else:
            value, by = None, "disputed"
        rows.append((id, part, value, by, len(others)))
    return pd.DataFrame(rows, columns=["id", "part", "value", "by", "raters"])


def differing(given, rows):
    """The rows on which raters differ and nobody has adjudicated, for a session of ADJUDICATED."""
    first = first_labels(given)
    spread = own_labels(given).groupby(["id", "part"])["value"].nunique()
    settled = set(first.loc[first["rater"] == ADJUDICATED, "id"])
    open_ = {id for id, _ in spread.index[spread > 1]} - settled
    return [row for row in rows if row["id"] in open_]
