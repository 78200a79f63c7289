"""All raters' labels of a task in one frame, their consensus and their disagreements."""

from pathlib import Path

import numpy as np
import pandas as pd

from bedside.annotation import protocol
from bedside.annotation.blind import alias, material
from bedside.annotation.labelling import JOINED, tasks
from bedside.annotation.log import ADJUDICATED, FOLDER, REFUSALS, read
from bedside.asking.store import digest
from bedside.read.checks import complete

FEWEST = 5  # raters of a group whose answers about themselves are counted
CHECKS = "attention checks"
LABEL = (
    "id unit paper item part rater group value type spans reason source refused seconds repetition"
).split()


def labels(task, rows, folder=None):
    """All raters' last labels and refusals of a task: a frame of LABEL.

    unit: the row's unit. part: in a task in which several choices may hold, the choice, with a row
    for each; otherwise empty. refused: one of REFUSALS, with the value None, or empty. repetition:
    whether the item came for the second time (see `attention`). Files may be copies of each other;
    a rater's latest label for a row counts. Labels for a text that has changed since, or with
    unknown values, are left out: `frame.attrs["left_out"]` counts them, and
    `frame.attrs["damaged"]` names lines that can't be read. Raters who failed an attention check
    are left out whole, and named in `frame.attrs["failed"]`.
    """
    how, known = tasks()[task], {alias(row["id"]): row for row in asked(rows, task)}
    every, damaged = _last(task, folder)
    passed, last = protocol.answered(how, every)
    last = [r for r in last if passed.get(r["rater"], True)]
    shown = {id: digest(material(row, how)) for id, row in known.items()}
    current = [  # files may hold anything
        r
        for r in last
        if shown.get(r["id"]) == r["text_sha256"]
        and (r["refused"] in REFUSALS if r["refused"] else how.several or r["value"] in how.values)
    ]
    made = [
        {**r, **{k: known[r["id"]][k] for k in ("id", "unit")}, "part": part, "value": value}
        | {"repetition": r["check"]}
        for r in current
        for part, value in parts(how, r["value"], r["refused"])
    ]
    given = pd.DataFrame(made, columns=LABEL).astype({"repetition": bool})
    failed = sorted(rater for rater, right in passed.items() if not right)
    given.attrs = {"left_out": len(last) - len(current), "damaged": damaged, "failed": failed}
    return given


def _last(task, folder):
    """(all files' records of a task that count, earliest first; the lines that can't be read)."""
    files = [read(path) for path in sorted(Path(folder or FOLDER).glob(f"{task}/*.jsonl"))]
    every = sorted((r for records, _ in files for r in records), key=lambda r: r["at"])
    last = {(r["id"], r["rater"], r["check"]): r for r in every}
    return [*last.values()], {place: why for _, faults in files for place, why in faults.items()}


def progress(task, folder=None, team=()):
    """Each rater's progress: rater, labels, a column for each of REFUSALS, of, last.

    Repetitions and attention checks count; corrected labels count once. of: the number of items
    given to the rater, None if the file doesn't say. last: date and time of the last label, UTC.
    team: names to list even before they begin.
    """
    every, made = _last(task, folder)[0], []
    for rater in sorted({*(r["rater"] for r in every), *(name.strip() for name in team)}):
        mine = sorted((r for r in every if r["rater"] == rater), key=lambda r: r["at"])
        refused = [sum(r["refused"] == why for r in mine) for why in REFUSALS]
        latest = mine[-1] if mine else {"sample": {}, "at": None}
        counts = (len(mine) - sum(refused), *refused, latest["sample"].get("of"))
        made.append((rater, *counts, latest["at"]))
    columns = ["rater", "labels", *REFUSALS.values(), "of", "last"]
    return pd.DataFrame(made, columns=columns, dtype=object)


def background(task, folder=None):
    """Raters counted by their answers about themselves: group, question, answer, raters.

    No rater's answers are shown: a question that fewer than FEWEST of a group answered has no
    counts. Raters who passed or failed attention checks are counted under CHECKS.
    """
    how, every, said = tasks()[task], _last(task, folder)[0], []
    for path in Path(folder or FOLDER).glob(f"{task}/background/*.jsonl"):
        given = (protocol.lines(path) or [{}])[-1]
        said += [(given["group"], *pair) for pair in given.get("answers", {}).items()]
    group = {r["rater"]: r["group"] for r in every}
    passed = protocol.answered(how, every)[0]
    rows = []
    for name in sorted({*(s[0] for s in said), *(group[rater] for rater in passed)}):
        for question, _, known in how.background:
            here = [answer for whose, asked, answer in said if (whose, asked) == (name, question)]
            if sum(answer != protocol.NOT_SAID for answer in here) >= FEWEST:
                rows += [(name, question, a, here.count(a)) for a in (*known, protocol.NOT_SAID)]
        if right := [passed[rater] for rater in passed if group[rater] == name]:
            rows.append((name, CHECKS, "passed", sum(right)))
            rows.append((name, CHECKS, "failed", right.count(False)))
    return pd.DataFrame(rows, columns=["group", "question", "answer", "raters"])


def asked(rows, task):
    """The rows that a task asks about, in pieces if it splits replies."""
    how = tasks()[task]
    return [piece for row in rows if how.takes(row) for piece in how.asked(row)]


def parts(task, value, refused=""):
    """(part, value) pairs of a label: its value, or a yes or no for each choice that may hold.

    task: a Task. refused: the kind of refusal; then the values are None.
    """
    if not task.several:
        return [("", None if refused else value)]
    held = value.split(JOINED)
    return [
        (choice, None if refused else "yes" if choice in held else "no") for choice in task.values
    ]


def values(task):
    """The values that a label of one part can have, in order."""
    return ["no", "yes"] if tasks()[task].several else sorted(tasks()[task].values)


def said(given):
    """Each row of a frame of LABEL: its value, or the kind of refusal."""
    return given["value"].where(given["refused"] == "", given["refused"])


def handled(given):
    """The first labels and refusals, without repetitions."""
    known = complete(given, ["id", "unit", "rater", "repetition"], ["part"])
    return known[~known["repetition"].astype(bool)]


def first_labels(given):
    """The first labels, without repetitions and refusals."""
    first = handled(complete(given, [], ["refused"]))
    return complete(first[first["refused"] == ""], ["value"])


def own_labels(given):
    """The first labels, without those of ADJUDICATED."""
    first = first_labels(given)
    return first[first["rater"] != ADJUDICATED]


def consensus(given):
    """One label for each row and part: id, part, value, by, raters (how many labelled it).

    by: adjudicated, all, majority, disputed or refused.

    A majority is more than half of a row's labels; without one the value is None. A single rater's
    label counts as `all`. Refusals are not labels: a row that all raters, or ADJUDICATED, refused
    has no value.
    """
    rows = []
    for (id, part), mine in handled(given).groupby(["id", "part"], sort=False):
        final, others = mine[mine["rater"] == ADJUDICATED], own_labels(mine)
        counts = (first_labels(final) if len(final) else others)["value"].value_counts()
        most = counts.iloc[0] if len(counts) else 0
        value, by = counts.index[0] if most else None, "refused"
        if most and len(final):
            by = ADJUDICATED
        elif most:
            by = "all" if most == len(others) else "majority"
            value, by = (value, by) if 2 * most > len(others) else (None, "disputed")
        rows.append((id, part, value, by, len(others)))
    return pd.DataFrame(rows, columns=["id", "part", "value", "by", "raters"])


def differing(given, rows, task):
    """The rows on which raters differ and that are not adjudicated, in the order of `asked`.

    A label and a refusal differ; two refusals don't.
    """
    every = handled(given)
    settled, others = (every[(every["rater"] == ADJUDICATED) == final] for final in (True, False))
    said = others["value"].where(others["refused"] == "", "refused")
    spread = said.groupby([others["id"], others["part"]]).nunique()
    open_ = {id for id, _ in spread.index[spread > 1]} - {*settled["id"]}
    return [row for row in asked(rows, task) if row["id"] in open_]


def opinions(given, open_):
    """The raters' labels of rows on which they differ, as `handed.out` takes them."""
    others, made = handled(given)[lambda every: every["rater"] != ADJUDICATED], {}
    for row in open_:
        of_row = others[others["id"] == row["id"]].groupby("rater")
        made[row["id"]] = [_opinion(label) for _, label in of_row]
    return made


def _opinion(label):
    """A rater's label of one row in the form of a record. label: its parts."""
    first = label.iloc[0]
    held = (
        JOINED.join(label.loc[label["value"] == "yes", "part"]) if first["part"] else first["value"]
    )
    return {"value": "" if first["refused"] else held} | {
        k: first[k] for k in ("type", "spans", "reason", "refused", "source")
    }


def faulty(given, rows, task):
    """The items that raters call faulty, for the study's authors: a row for each refusal.

    Columns: item, question (the row's title), reply, rater, reason. No model is named.
    """
    known = {row["id"]: row for row in asked(rows, task)}
    found = handled(given)[lambda every: every["refused"] == "faulty"]
    found = found.drop_duplicates(["id", "rater"]).reset_index(drop=True)
    question, reply = ([known[id][k] for id in found["id"]] for k in ("title", "reply"))
    columns = ["item", "question", "reply", "rater", "reason"]
    return found.assign(question=question, reply=reply)[columns]


def reference(rows, task):
    """The labels that a task's study released: a frame of LABEL, empty if there are none."""
    how, known = tasks()[task], {row["id"]: row for row in asked(rows, task)}
    given = how.reference() if how.reference and known else []
    empty = dict.fromkeys(LABEL, "") | {"spans": [], "seconds": np.nan, "repetition": False}
    made = [
        {**empty, "paper": how.paper, "unit": known[r["id"]]["unit"], **r}
        for r in given
        if r["id"] in known
    ]
    return pd.DataFrame(made, columns=LABEL).astype({"repetition": bool})
