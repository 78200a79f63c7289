"""All raters' labels of a task in one frame, their consensus and their disagreements."""

from pathlib import Path

import numpy as np
import pandas as pd

from bedside.annotation import protocol
from bedside.annotation.blind import alias, material
from bedside.annotation.labelling import JOINED, tasks
from bedside.annotation.log import ADJUDICATED, FOLDER, read
from bedside.annotation.protocol import NOT_SAID, answers
from bedside.asking.store import digest
from bedside.read.checks import complete

FEWEST = 5  # raters of a group whose answers about themselves are counted
CHECKS = "attention checks"
REFUSALS = {"undecided": "can't decide", "faulty": "item faulty"}
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
    how = tasks()[task]
    found, damaged = _records(task, folder)
    known = {alias(row["id"]): row for row in asked(rows, task)}
    every = {(r["id"], r["rater"], r["check"]): r for r in found}.values()
    passed, last = protocol.answered(how, every)
    last = [r for r in last if passed.get(r["rater"], True)]
    current = [
        r
        for r in last
        if r["id"] in known
        and _possible(r, how)
        and digest(material(known[r["id"]], how)) == r["text_sha256"]
    ]
    made = [
        {**r, "id": row["id"], "unit": row["unit"], "part": part, "value": value}
        | {"repetition": r["check"]}
        for r in current
        for row in [known[r["id"]]]
        for part, value in parts(how, r["value"], r["refused"])
    ]
    given = pd.DataFrame(made, columns=LABEL).astype({"repetition": bool})
    failed = sorted(rater for rater, right in passed.items() if not right)
    given.attrs = {"left_out": len(last) - len(current), "damaged": damaged, "failed": failed}
    return given


def _possible(record, task):
    """Whether a record is a possible label of the task, since files may hold anything."""
    if record["refused"]:
        return record["refused"] in REFUSALS
    return task.several or record["value"] in task.values


def _records(task, folder):
    """(all files' records of a task, earliest first; the lines that can't be read)."""
    found, damaged = [], {}
    for path in sorted(Path(folder or FOLDER).glob(f"{task}/*.jsonl")):
        records, faults = read(path)
        found, damaged = found + records, damaged | faults
    return sorted(found, key=lambda r: r["at"]), damaged


def progress(task, folder=None, team=()):
    """Each rater's progress: rater, labels, a column for each of REFUSALS, of, last.

    Repetitions and attention checks count; corrected labels count once. of: the number of items
    given to the rater, None if the file doesn't say. last: date and time of the last label, UTC.
    team: names to list even before they begin.
    """
    last = {(r["id"], r["rater"], r["check"]): r for r in _records(task, folder)[0]}
    rows = []
    for rater in sorted({*(r["rater"] for r in last.values()), *(name.strip() for name in team)}):
        mine = sorted((r for r in last.values() if r["rater"] == rater), key=lambda r: r["at"])
        refused = {words: sum(r["refused"] == why for r in mine) for why, words in REFUSALS.items()}
        latest = mine[-1] if mine else {"sample": {}, "at": None}
        counts = {"labels": len(mine) - sum(refused.values()), **refused}
        of = latest["sample"].get("of")
        rows.append({"rater": rater, **counts, "of": of, "last": latest["at"]})
    columns = ["rater", "labels", *REFUSALS.values(), "of", "last"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def background(task, folder=None):
    """Raters counted by their answers about themselves: group, question, answer, raters.

    No rater's answers are shown: a question that fewer than FEWEST of a group answered has no
    counts. Raters who passed or failed attention checks are counted under CHECKS.
    """
    how, said = tasks()[task], []
    for path in Path(folder or FOLDER).glob(f"{task}/background/*.jsonl"):
        given = answers(path)
        said += [(given["group"], *pair) for pair in given.get("answers", {}).items()]
    counted = pd.DataFrame(said, columns=["group", "question", "answer"])
    every = {(r["id"], r["rater"], r["check"]): r for r in _records(task, folder)[0]}.values()
    group = {r["rater"]: r["group"] for r in every}
    passed = protocol.answered(how, every)[0]
    rows = []
    for name in sorted({*counted["group"], *(group[rater] for rater in passed)}):
        mine = counted[counted["group"] == name]
        for question, _, known in how.background:
            here = mine.loc[mine["question"] == question, "answer"]
            if (here != NOT_SAID).sum() >= FEWEST:
                rows += [(name, question, a, int((here == a).sum())) for a in (*known, NOT_SAID)]
        right = [passed[rater] for rater in passed if group[rater] == name]
        if right:
            rows += [
                (name, CHECKS, "passed", sum(right)),
                (name, CHECKS, "failed", right.count(False)),
            ]
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
        if counts.empty:
            value, by = None, "refused"
        elif len(final):
            value, by = counts.index[0], ADJUDICATED
        elif counts.iloc[0] == len(others):
            value, by = counts.index[0], "all"
        elif 2 * counts.iloc[0] > len(others):
            value, by = counts.index[0], "majority"
        else:
            value, by = None, "disputed"
        rows.append((id, part, value, by, len(others)))
    return pd.DataFrame(rows, columns=["id", "part", "value", "by", "raters"])


def differing(given, rows, task):
    """The rows on which raters differ and that are not adjudicated, in the order of `asked`.

    A label and a refusal differ; two refusals don't.
    """
    every = handled(given)
    others = every[every["rater"] != ADJUDICATED]
    said = others["value"].where(others["refused"] == "", "refused")
    spread = said.groupby([others["id"], others["part"]]).nunique()
    settled = set(every.loc[every["rater"] == ADJUDICATED, "id"])
    open_ = {id for id, _ in spread.index[spread > 1]} - settled
    return [row for row in asked(rows, task) if row["id"] in open_]


def opinions(given, open_):
    """The raters' labels of rows on which they differ, as a Session of ADJUDICATED takes them."""
    others = handled(given)[lambda every: every["rater"] != ADJUDICATED]
    return {
        row["id"]: [
            _opinion(mine) for _, mine in others[others["id"] == row["id"]].groupby("rater")
        ]
        for row in open_
    }


def _opinion(label):
    """A rater's label of one row in the form of a record. label: its parts."""
    first = label.iloc[0]
    made = {k: first[k] for k in ("type", "spans", "reason", "refused", "source")}
    if first["refused"]:
        return {"value": "", **made}
    if not first["part"]:
        return {"value": first["value"], **made}
    return {"value": JOINED.join(label.loc[label["value"] == "yes", "part"]), **made}


def faulty(given, rows, task):
    """The items that raters call faulty, for the study's authors: a row for each refusal.

    Columns: item, question (the row's title), reply, rater, reason. No model is named.
    """
    known = {row["id"]: row for row in asked(rows, task)}
    found = handled(given)[lambda every: every["refused"] == "faulty"]
    found = found.drop_duplicates(["id", "rater"]).reset_index(drop=True)
    question, reply = ([known[id][k] for id in found["id"]] for k in ("title", "reply"))
    about = found.assign(question=question, reply=reply)
    return about[["item", "question", "reply", "rater", "reason"]]


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
