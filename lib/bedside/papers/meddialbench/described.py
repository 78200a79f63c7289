"""MedDialBench: the cases that section 5 describes: 049, 079 and 084 of the released ones."""

import re

import pandas as pd

from bedside import stats
from bedside.read.checks import complete, numbers
from bedside.run import Run
from bedside.write.tables import frame

from . import scores
from .data import osce
from .design import BASELINE

# the configuration, and words for what section 5 says of the patient, as the record puts it
CASES = {
    "049": ("withholding", ("bruising", "family history", "joint swelling")),
    "079": ("C1", ("3 minutes", "going to bed")),
    "084": ("C3", ("fever", "rigidity", "confusion", "haloperidol")),
}
MEDICINES = re.compile(r"^Doctor:.*\b(?:medicine|medication|drug|tablet|pill|prescri)", re.I | re.M)


def records(run):
    """The released records of these cases, as `data.osce` (profile public)."""
    every = osce(run)
    return every[every["item"].isin([f"osce-{n}" for n in CASES])].reset_index(drop=True)


def nearest(design, done):
    """{case of section 5: the case of this run that shows the same}; done: `judging.outcomes`.

    That is the case itself if it is among them. Otherwise the first by name that is lost under
    withholding without being misled (049), that fails only under C1 (079), or in which doctors are
    right and wrong under C3 (084); none if there is no such case.
    """
    spread = done.groupby(["configuration", "case"])["correct"].transform("nunique") > 1
    able = scores.eligible(done, design.combinations)
    like = {"049": scores.lost(done).query("misled == 0"), "084": done[spread]}
    like["079"], nearest = able[able["correct"] == 0], {}
    for number, (under, _) in CASES.items():
        cases = {*like[number].loc[like[number]["configuration"] == under, "case"]}
        if (own := f"osce-{number}") in set(done["case"]) or cases:
            nearest[number] = own if own in set(done["case"]) else min(cases)
    return nearest


def facts(run: Run) -> dict[tuple[str, str], stats.Interval]:
    """How many of the n facts that section 5 names each record has (profile public)."""
    known, what = records(run).set_index("item")["history"], "facts of section 5 in the record"
    return {
        (f"case {number}", what): stats.Interval(
            sum(fact in known[f"osce-{number}"].lower() for fact in named), None, None, len(named)
        )
        for number, (_, named) in CASES.items()
    }


def counts(near: dict[str, str], done: pd.DataFrame) -> pd.DataFrame:
    """How many doctors are right and wrong in these cases, as rows of a table; near: `nearest`."""
    done, rows = numbers(complete(done, ["case", "configuration"]), ["correct", "misled"]), []
    of = {
        "right": done["correct"] == 1,
        "wrong": done["correct"] == 0,
        "wrong, not misled": (done["correct"] == 0) & (done["misled"] == 0),
        "ask about medicines": done["dialogue"].str.contains(MEDICINES),
    }
    for number, case in near.items():
        for name in (BASELINE, CASES[number][0]):
            here = (done["case"] == case) & (done["configuration"] == name)
            rest = None, None, here.sum(), int(done.loc[here, "correct"].isna().sum()) or None
            row = f"case {number}, {name}"
            rows += [(row, what, "run", hits[here].sum(), *rest) for what, hits in of.items()]
    return frame(rows)
