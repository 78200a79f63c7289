"""Judges compared with raters, and models' rates corrected by the raters' labels."""

import re

import pandas as pd

from bedside import judges, stats
from bedside.rows import tasks
from bedside.tables import Row, frame, share

from .together import asked, parts, values

SAID = "id unit part section model configuration judge status value".split()


def judged(rows, task):
    """The judges' verdicts on a task's rows in the values of its labels: a frame of SAID."""
    how, made = tasks()[task], []
    for row in asked(rows, task):
        if row["reply_status"] != "":
            continue
        about = [row[k] for k in ("section", "model", "configuration")]
        for v in _verdicts(row, how):
            for part, value in _values(v, how):
                made.append([row["id"], row["unit"], part, *about, v["judge"], v["status"], value])
    return pd.DataFrame(made, columns=SAID)


def _verdicts(row, task):
    """A row's verdicts on a task's question; it isn't the main one if several choices may hold.

    None if the study's own raters labelled the rows: judges were asked something else there.
    """
    if task.reference:
        return []
    if task.several:
        return [v for v in row["more"] if v["task"] == task.name]
    return row["verdicts"]


def _values(verdict, task):
    """(part, value) of a verdict; the value is None if it wasn't graded."""
    if verdict["status"] != "graded":
        return [(part, None) for part, _ in parts(task, "")]
    said = verdict["value"]  # "1 corrected": a value and its words
    return parts(task, said if task.several else re.match(r"[\w-]*", said)[0])


def against(judged, settled, task, rng):
    """Trust cards {judge: card} against the raters' consensus, for judges with a common row.

    Intervals resample units.
    """
    known = settled.dropna(subset=["value"])
    both = judged.merge(known, on=["id", "part"], suffixes=("", "_label"))
    cards = {}
    for judge, mine in both.groupby("judge", sort=False):
        said, positive = mine.reset_index(drop=True), tasks()[task].positive
        card = judges.trust_card(
            mine["value_label"], said, values(task), rng, positive, said["unit"]
        )
        cards[judge] = {"judge": judge, "of": "replies", "labelled_by": "raters", **card}
    return cards


def corrected(judged, settled, task, rng):
    """A judge's rates as given and as corrected, by judge, model and section: table rows.

    All are shares in percent of the task's positive value.

    judge says: the judge's share. Rogan-Gladen: corrected for the sensitivity and specificity that
    the raters' labels of all models show. prediction-powered: from this model's labels and verdicts
    together (`stats.prediction_powered`). raters: the labels alone. No value if there are no labels
    or if the judge does no better than chance. Intervals are over units.
    """
    positive, rows = tasks()[task].positive, []
    labels = settled[["id", "part", "value"]].rename(columns={"value": "label"})
    every = judged[judged["status"] == "graded"].merge(labels, on=["id", "part"], how="left")
    every = every.assign(
        said=every["value"] == positive,
        true=every["label"] == positive,
        known=every["label"].notna(),
    )
    for judge, mine in every.groupby("judge", sort=False):
        skill = _skill(mine[mine["known"]])
        for (section, model), part in mine.groupby(["section", "model"], sort=False):
            rows += _corrected(f"{model}, {section}: {judge}", part, skill, rng)
    return frame(rows)


def _skill(known):
    """Sensitivity and specificity with effective sizes as n, since units may repeat."""
    classes = known[known["true"]], known[~known["true"]]
    rates = stats.sens_spec(known["true"], known["said"])
    return [r._replace(n=stats.effective(c["said"], c["unit"])) for r, c in zip(rates, classes)]


def _corrected(row, part, skill, rng):
    """The four rates of one row. skill: the judge's sensitivity and specificity."""
    known, rest = part[part["known"]], part[~part["known"]]
    size = stats.effective(part["said"], part["unit"])
    fixed = stats.corrected_rate(part["said"].mean() * size, size, *skill, rng)
    units = known["unit"], rest["unit"]
    powered = stats.prediction_powered(known["true"], known["said"], rest["said"], units)
    rates = {
        "judge says": share(part["said"].tolist(), part["unit"].tolist()),
        "Rogan-Gladen": (*(100 * x for x in fixed[:3]), len(part)),
        "prediction-powered": (*(100 * x for x in powered[:3]), powered.n),
        "raters": share(known["true"].tolist(), known["unit"].tolist()),
    }
    return [Row(row, column, "run", *rate) for column, rate in rates.items()]
