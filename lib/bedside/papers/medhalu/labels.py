"""MedHalu: what raters decide about its answers (section 2.3), and the files of their labels."""

import functools
import re
from pathlib import Path
from typing import Any

import pandas as pd

from bedside import BedsideError
from bedside.publish.judged_items import text
from bedside.read import paths, sources
from bedside.read.checks import within
from bedside.run import Run
from bedside.write.results import points
from bedside.write.tables import frame

from .data import PEOPLE, TYPES

FILES = ("medhalu_annotations_sample", "medhalu_annotations")
COLUMNS = ["item", "evaluator", "repeat", "source", "status", "yes", "spans"]  # as of detections
CHECKS = "attention checks"  # the question under which raters who passed or failed are counted
OURS = re.compile(r"(healthqa|liveqa(_train)?|medicationqa|medhalu)-")  # how items of public begin


def record(label: Any) -> dict:
    """A rater's own label as a row of the source medhalu_annotations."""
    return {
        "item": label.item,
        "rater": label.rater,
        "group": label.group or "rater",
        "hallucinated": label.value,
        "type": label.type,
        "spans": "\n".join(label.spans),
        "reason": label.reason,
        "consulted": label.source,
    }


def known(source):
    """Items of a source with the right answer and why it is right, as `Task` describes them."""
    return [
        {
            "shared": [text("Question", r.question)],
            "reply": r.answer,
            "right": {
                "value": "no" if r.type == "none" else "yes",
                "type": "" if r.type == "none" else r.type,
                "spans": r.spans,
            },
            "why": f"{r.reason} Source: {r.source['organisation']}, {r.source['title']}.",
        }
        for r in sources.load(source).itertuples()
    ]


ASKED = paths.toml(Path(__file__).with_name("tasks.toml"))
TASK = {
    "name": "hallucination",
    "paper": "medhalu",
    **{k: tuple(v) if isinstance(v, list) else v for k, v in ASKED["hallucination"].items()},
    "record": record,
    "training": functools.partial(known, "medhalu_training"),
    "checks": functools.partial(known, "medhalu_checks"),  # whoever reads them answers them rightly
}
TASKS = (TASK,)
SAYS = {1.0: TASK["words"]["yes"], 0.0: TASK["words"]["no"]}  # a reading, in the words of a verdict


def annotations(run: Run, items: pd.DataFrame) -> pd.DataFrame:
    """People's labels for `items`, from the files that are there: COLUMNS, group, type, reason.

    One row for each label. Raises BedsideError naming file, label and item for an unknown item, two
    labels of a rater for one item, an answer other than yes or no, a type or spans without yes, yes
    without either, and a span that is not in the answer. Labels of the other profile's items are
    left out; of the user's own labels, how many is printed.
    """
    answers = items.set_index("item")["answer"]
    sample = set(run.load("medhalu_answers_sample")["item"])
    parts = []
    for name, rows in files(run).items():
        path = paths.rel(sources.where(name)[1])
        for number, r in enumerate(rows.itertuples(), 1):
            if why := fault(r, answers.get(r.item), run, sample):
                who = f"item {r.item!r}, rater {r.rater!r}"
                raise BedsideError(f"{path}, label {number} ({who}): {why}")
        twice = rows[rows.duplicated(["item", "rater"])]
        if len(twice):
            rater, item = twice[["rater", "item"]].iloc[0]
            raise BedsideError(f"{path}: rater {rater!r} labels item {item!r} twice; keep one")
        if name == FILES[0]:  # of the sample's answers
            parts.append(rows[rows["item"].isin(answers.index)])
        else:
            parts.append(within(rows, "item", answers.index, f"labels of {path}"))
    every = pd.concat(parts, ignore_index=True)
    every = every.assign(
        evaluator=PEOPLE + every["group"], repeat=every["rater"], source="run", status="graded"
    )
    return every[[*COLUMNS, "group", "type", "reason"]]


def own_raters(run: Run) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 3 of the run's own experts, and its raters who failed a check and so don't count: rows.

    Empty if nobody was asked.
    """
    if not sources.here("medhalu_raters"):
        return frame([]), frame([])
    counts = run.load("medhalu_raters").astype({"raters": int})
    checked, column = counts["question"] == CHECKS, run.published("Table 3")["column"].iloc[0]
    experts = counts[~checked & (counts["group"] == "expert")]
    background = {(f"{r.question}: {r.answer}", column): r.raters for r in experts.itertuples()}
    left_out = [
        (group, "raters left out (attention checks)", "run", failed.sum(), None, None, n)
        for group, part in counts[checked].groupby("group", sort=False)
        for failed, n in [(part.loc[part["answer"] == "failed", "raters"], part["raters"].sum())]
    ]
    return points(background, "run"), frame(left_out)


def files(run):
    """Labels of all items, from the files that are there: {source: `parsed` rows}."""
    return {name: parsed(run.load(name)) for name in FILES if sources.here(name)}


def parsed(rows):
    """Labels as raters wrote them, with spans as lists and `yes` as 1 or 0."""
    said = rows["hallucinated"].str.strip().str.lower()
    return rows.assign(
        spans=rows["spans"].map(lambda text: [s.strip() for s in text.splitlines() if s.strip()]),
        hallucinated=said,
        yes=(said == "yes").astype(float),
    )


def fault(r, answer, run, sample):
    """What is wrong with a label, or ""; answer: its item's answer, None for an unknown item."""
    kinds = list(TYPES)[1:]
    if not (r.item and r.rater and r.group):
        return "item, rater and group must be given"
    if r.hallucinated not in ("yes", "no"):
        return f"hallucinated is {r.hallucinated!r}; write yes or no"
    if r.hallucinated == "no" and (r.type or r.spans):
        return '"no" has a type or spans: remove them, or write yes'
    if r.hallucinated == "yes" and (r.type not in kinds or not r.spans):
        return f"yes needs a type ({', '.join(kinds)}) and at least one span"
    if answer is None:
        if r.item in sample or run.limit or OURS.match(r.item):
            return ""
        where = "data/sample/medhalu/answers.jsonl or of the built benchmark"
        return f"no such item. Items are listed in {where}"
    text = " ".join(answer.split())
    missing = [s for s in r.spans if " ".join(s.split()) not in text]
    return f"the span {missing[0]!r} is not in the answer; copy it from there" if missing else ""
