"""Rows, raters' files and tables of labels, for tests of raters."""

import numpy as np
import pandas as pd
import pytest

from bedside import annotation
from bedside.annotation import log, raters, tasks
from bedside.annotation.blind import alias
from bedside.asking.store import digest
from bedside.publish.judged_items import text
from rater_pages import record

PAPER = {
    "presupposition": "cancer_myth",
    "hallucination": "medhalu",
    "adherence": "meddialbench",
    "diagnosis": "meddialbench",
}
SECTION = {"hallucination": "2.2 answers"}


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def row(id, task="diagnosis", reply="a reply", **other):
    made = dict(id=id, item=id, unit=id, paper=PAPER[task], model="m", configuration="c")
    made |= dict(section=SECTION.get(task, "4 consultations"), category="cooperative", title="t")
    made |= dict(shared=[text("Question", "why?")], reply=reply, reply_status="", blocks=[])
    return made | {"verdicts": [], "more": [], "human": []} | other


def write(folder, task, rater, row, value, check=False, **other):
    """A label on disk; check: of a repetition."""
    about = {"paper": row["paper"], "item": row["item"], "task": task, "group": "expert"}
    about |= {"value": value, "at": "2026-01-01", "check": check}
    about["text_sha256"] = digest(annotation.material(row, tasks()[task]))
    log.append(folder / task / f"{rater}.jsonl", [record(alias(row["id"]), rater, **about | other)])


def given(table, again=(), part=""):
    """Labels {rater: {id: value}} as a frame; `again` holds (rater, id, value) of repetitions.

    A value that is one of REFUSALS is a refusal.
    """
    every = [(rater, id, v, False) for rater, mine in table.items() for id, v in mine.items()]
    every += [(*label, True) for label in again]
    lines = [
        {
            **dict.fromkeys(raters.LABEL, ""),
            "rater": rater,
            "id": id,
            "unit": id,
            "value": None if value in raters.REFUSALS else value,
            "refused": value if value in raters.REFUSALS else "",
            "repetition": repetition,
            "part": part,
            "seconds": 3.0,
        }
        for rater, id, value, repetition in every
    ]
    return pd.DataFrame(lines, columns=raters.LABEL).astype({"repetition": bool})


def cells(rows):
    return {(r.row, r.column): (r.value, r.low, r.high, r.n) for r in rows.itertuples()}


SAID = {True: "yes, hallucinated", False: "no, right", None: ""}


def judged_rows(model, said):
    """Rows of a model's answers, each with a verdict of the judge j: yes, no or none."""

    def verdict(yes):
        return {"judge": "j", "status": "refused" if yes is None else "graded", "value": SAID[yes]}

    return [
        row(f"{model}{k}", "hallucination", f"{model} {k}", model=model, verdicts=[verdict(yes)])
        for k, yes in enumerate(said)
    ]
