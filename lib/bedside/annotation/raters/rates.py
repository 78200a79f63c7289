"""Judges compared with raters, and models' rates corrected by the raters' labels."""

import re

import pandas as pd

from bedside import stats
from bedside.annotation.labelling import tasks
from bedside.judging import trust_cards
from bedside.read.checks import complete, groups, scored
from bedside.write.tables import Row, frame

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


def against(judged, settled, task):
    """Trust cards {judge: card} against the raters' consensus, for judges with a common row.

    n counts the rows that have a settled label and a verdict, graded or not. Intervals resample
    units.
    """
    known = settled.dropna(subset=["value"])
    scored(complete(judged, ["id"], ["part"]))
    both = judged.merge(known, on=["id", "part"], suffixes=("", "_label"), validate="many_to_one")
    cards = {}
    for judge, mine in groups(both, "judge", ["unit"]):
        how, mine = tasks()[task], mine.reset_index(drop=True)
        label, unit = mine["value_label"], mine["unit"]
        card = trust_cards.trust_card(label, mine, values(task), how.positive, unit, how.ordered)
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
    graded = scored(complete(judged, ["id"], ["part"]))  # unscored verdicts count in the trust card
    every = graded.merge(labels, on=["id", "part"], how="left", validate="many_to_one")
    every = every.assign(
        said=every["value"] == positive,
        true=every["label"] == positive,
        known=every["label"].notna(),
    )
    for judge, mine in groups(every, "judge", ["unit", "section", "model"]):
        known = mine[mine["known"]]
        skill = stats.sens_spec(known["true"], known["said"], known["unit"])
        for (section, model), part in mine.groupby(["section", "model"], sort=False):
            rows += _corrected(f"{model}, {section}: {judge}", part, skill, rng)
    return frame(rows)


def _corrected(row, part, skill, rng):
    """The four rates of one row. skill: the judge's sensitivity and specificity."""
    known, rest = part[part["known"]], part[~part["known"]]
    judged = stats.share(part["said"].tolist(), part["unit"].tolist())
    fixed = stats.corrected_rate(judged, *skill, rng)
    units = known["unit"], rest["unit"]
    powered = stats.prediction_powered(known["true"], known["said"], rest["said"], units)
    labelled = stats.share(known["true"].tolist(), known["unit"].tolist())
    rates = {
        "judge says": judged,
        "Rogan-Gladen": fixed,
        "prediction-powered": powered,
        "raters": labelled,
    }
    return [Row(row, column, "run", *(100 * x for x in i[:3]), i.n) for column, i in rates.items()]
