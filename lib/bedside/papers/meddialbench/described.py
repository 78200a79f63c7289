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
    lost = scores.lost(done).query("misled == 0")
    alone = {"C1": design.combinations.get("C1", ())}
    held = alone if "C1" in set(done["configuration"]) else {}
    spread = done.dropna(subset=["correct"]).groupby(["configuration", "case"], sort=False)
    spread = spread["correct"].nunique()[lambda n: n > 1].reset_index()
    like = {"049": lost, "079": scores.only_combined(done, held), "084": spread}
    here, found = set(done["case"]), {}
    for number, (under, _) in CASES.items():
        mine = like[number][like[number]["configuration"] == under]["case"]
        case = f"osce-{number}" if f"osce-{number}" in here else min(mine, default="")
        found |= {number: case} if case else {}
    return found


def facts(run: Run) -> dict[tuple[str, str], stats.Interval]:
    """How many of the n facts that section 5 names each record has (profile public)."""
    known, found = records(run).set_index("item")["history"].str.lower(), {}
    for number, (_, named) in CASES.items():
        has = sum(fact in known[f"osce-{number}"] for fact in named)
        place = f"case {number}", "facts of section 5 in the record"
        found[place] = stats.Interval(has, None, None, len(named))
    return found


def counts(near: dict[str, str], done: pd.DataFrame) -> pd.DataFrame:
    """How many doctors are right and wrong in these cases, as rows of a table; near: `nearest`."""
    done = numbers(complete(done, ["case", "configuration", "dialogue"]), ["correct", "misled"])
    rows = []
    for number, case in near.items():
        for name in (BASELINE, CASES[number][0]):
            mine = done[(done["case"] == case) & (done["configuration"] == name)]
            wrong = mine["correct"] == 0
            of = {
                "right": mine["correct"] == 1,
                "wrong": wrong,
                "wrong, not misled": wrong & (mine["misled"] == 0),
                "ask about medicines": mine["dialogue"].str.contains(MEDICINES),
            }
            rest = None, None, len(mine), int(mine["correct"].isna().sum()) or None
            rows += [
                (f"case {number}, {name}", what, "run", hits.sum(), *rest)
                for what, hits in of.items()
            ]
    return frame(rows)
