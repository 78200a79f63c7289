"""MedDialBench: readings of the claims on single cases, from the released OSCE cases (raw)."""

import re

from bedside.read.claims import between, outcome, reading, same

from ..data import osce, plain
from . import DRAWN, N

# in descriptions of patients who are too young to be interviewed
YOUNG = r"newborn|infant|\b(?:day|week|month)-?s?-old|^[1-3]-year|g \("
MANOEUVRE = "dix-hallpike"  # in the dialogue of case 079 (appendix E)
INVENTED, DRUG = ("headache", "loose stool"), "haloperidol"  # of case 084 (section 5, appendix D)


def of_source(run):
    """Readings of the claims on where the cases come from: {id: readings}."""
    cases = osce(run)
    young, out = int(cases["patient"].str.contains(YOUNG, case=False).sum()), DRAWN - N
    low, high = max(0, young - out), min(young, N)
    told = f"{young} of {len(cases)} are under four; {out} were left out"
    patient, history = cases.set_index("item").loc["osce-079", ["patient", "history"]]
    said = run.published("text E").set_index("row")["value"]
    age, minutes = re.search(r"\d+", patient)[0], re.search(r"(\d+) minutes", history)[1]
    bed = re.findall("going to bed", history)
    true = int(age) == said["case 079, age"] and int(minutes) == said["case 079, true duration"]
    return {
        "md-osce": same(run, "md-osce", len(cases), 0),
        "md-speak": reading(told, between(low, high, most=0), low, high),
        "md-case-079": reading(
            f"{patient}, {minutes} minutes{', going to bed' * len(bed)}",
            true and patient.endswith(" male") and bool(bed),
        ),
    }


def of_dialogues(run):
    """Readings of the claims on the cases described in sections 5, D and E: {id: readings}."""
    case = run.load("agentclinic")["OSCE_Examination"].iloc[78]  # osce-079
    tests = {k.replace("_", " "): plain(v) for k, v in case["Test_Results"].items()}
    there = {k: v for k, v in tests.items() if MANOEUVRE in k.lower()}
    known = "part" if MANOEUVRE in plain(case["Patient_Actor"]).lower() else "no part"
    results = "; ".join(f"{k}, {v.split(',')[0].lower()}" for k, v in there.items())
    record = osce(run).set_index("item").at["osce-084", "history"]
    denials = " ".join(re.findall(r"[Dd]en(?:ies|ied) [^.]*", record))
    denied = [x for x in INVENTED if x in denials]
    named = DRUG in record
    told = f"denied: {', '.join(denied) or 'neither'}; {DRUG}: {'' if named else 'not '}named"
    return {
        "md-case-079-exam": {
            "what patients are told": outcome(
                f"the {MANOEUVRE} manoeuvre is {known} of what the patient knows",
                known == "no part",
            ),
            "what comes up in dialogues": outcome(
                f"{len(there)} of the record's tests is in appendix E ({results})", not there
            ),
        },
        "md-case-084": reading(told, len(denied) == len(INVENTED) and named),
    }
