"""MedDialBench: the cases that section 5 describes: 049, 079 and 084 of the released ones."""

import re

from bedside.read.checks import complete, numbers
from bedside.write.tables import Row, frame

from .. import scores
from ..data import osce
from ..design import BASELINE
from . import unscored

# the configuration, and words for what section 5 says of the patient, as the record puts it
CASES = {
    "049": ("withholding", ("bruising", "family history", "joint swelling")),
    "079": ("C1", ("3 minutes", "going to bed")),
    "084": ("C3", ("fever", "rigidity", "confusion", "haloperidol")),
}
FACTS = "facts of section 5 in the record"
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


def described_table(run, design, done):
    """How many models are right in the cases of section 5, and ask about medicines.

    Published are counts of five models. In public: how many of the facts that section 5 names the
    record has.
    """
    done = numbers(complete(done, ["case", "configuration", "dialogue"]), ["correct", "misled"])
    said = run.published("text 5", "text D").set_index("row")["value"]
    published = {
        "079": said["case 079 under C1, models with TIA"],
        "084": said["case 084, models with meningitis"],
    }
    public, rows, near = run.profile == "public", [], nearest(design, done)
    known = records(run).set_index("item")["history"].str.lower() if public else ()
    for number, (under, facts) in CASES.items():
        if number in published:
            rows.append(Row(f"case {number}, {under}", "wrong", "published", published[number]))
        if public:
            named = sum(fact in known[f"osce-{number}"] for fact in facts)
            rows.append(Row(f"case {number}", FACTS, "raw", named, n=len(facts)))
        for name in (BASELINE, under) if number in near else ():
            mine = done[(done["case"] == near[number]) & (done["configuration"] == name)]
            rows += _counts(f"case {number}, {name}", mine)
    return frame(rows)


def _counts(row, mine):
    """Counts of models in one case under one configuration."""
    wrong, lost = mine[mine["correct"] == 0], unscored(mine["correct"])
    asked = mine["dialogue"].map(lambda said: bool(MEDICINES.search(said)))
    counts = {
        "right": (mine["correct"] == 1).sum(),
        "wrong": len(wrong),
        "wrong, not misled": (wrong["misled"] == 0).sum(),
        "ask about medicines": asked.sum(),
    }
    return [
        Row(row, what, "run", count, n=len(mine), unscored=lost) for what, count in counts.items()
    ]
