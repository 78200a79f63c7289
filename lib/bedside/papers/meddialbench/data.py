"""MedDialBench: cases and their scripts (sections 3.1 to 3.3).

Frames are long, with an `item` (a case), a `configuration` and a `model` (the doctor).
"""

import re

import pandas as pd

from bedside import BedsideError
from bedside.read import paths, sources

from .words import telling_words

LEAST, MOST = 8, 16  # key items of a case (section 3.3)
CASE = ["item", "diagnosis", "accepted", "patient", "complaint", "history", "key_items"]
SCRIPT = ["item", "level", "script", "facts", "false", "toward"]
# models recorded with earlier prompts: as patients they are not told the gate of a dimension, and
# the scripts that they write are short
EARLIER = ("smollm2-135m",)


def whose(profile, writer="", scripts=False):
    """What captions say about cases and, if they matter, scripts; writer: as in `study.cases`."""
    if profile == "public":
        by = writer or "this run's first model"
        return f"OSCE cases, with key items and scripts by {by}. "
    return f"Cases {'and scripts ' if scripts else ''}written for this project. "


def bundled(run, found):
    """Cases and scripts written for this project: frames CASE and SCRIPT, both with a status.

    found: the cases to take. Raises BedsideError for a script that doesn't fit its case.
    """
    texts = run.load("meddialbench_scripts")
    texts = texts[texts["item"].isin(found["item"])]
    if faults := script_faults(found, texts):
        raise BedsideError(f"{paths.rel(sources.where('meddialbench_scripts')[1])}: {faults[0]}")
    return found.assign(status="graded"), texts[SCRIPT].assign(status="graded")


def osce(run):
    """The released OSCE cases (section 3.3) as the patient knows them: CASE without key_items."""
    examined = run.load("agentclinic")["OSCE_Examination"]
    rows = [(f"osce-{number:03}", *_case(e)) for number, e in enumerate(examined, 1)]
    return pd.DataFrame(rows, columns=CASE[:-1])


def _case(examination):
    """Diagnosis, its other names, patient, complaint and history of one released case."""
    actor, truth = examination["Patient_Actor"], examination["Correct_Diagnosis"]
    symptoms = actor["Symptoms"]
    symptoms = [symptoms["Primary_Symptom"], *symptoms.get("Secondary_Symptoms", [])]
    known = ("Demographics", "History", "Symptoms")
    more = [f"{_named(k)}: {plain(v)}" for k, v in actor.items() if k not in known]
    history = "\n".join([actor["History"], "Symptoms: " + "; ".join(symptoms), *more])
    names = [*re.findall(r"\(([^)]*)\)", truth), re.sub(r"\s*\([^)]*\)", "", truth)]
    others = [n.strip() for n in names if n.strip() != truth]
    return truth, others, actor["Demographics"], symptoms[0], history


def _named(key):
    return key.replace("_", " ")


def plain(value):
    """A field as text, whether it holds text, a list or an object."""
    if isinstance(value, dict):
        return "; ".join(f"{_named(k)}: {plain(v)}" for k, v in value.items())
    return "; ".join(map(plain, value)) if isinstance(value, list) else str(value)


def false_statements(texts, item, levels):
    """The false statements that the case's scripts give to a patient with these levels."""
    mine = texts[(texts["item"] == item) & texts["level"].isin(levels)]
    return [s for statements in mine["false"] for s in statements]


def named_facts(scripts, key_items):
    """The key items that each script names by a telling word: lists of numbers from 1.

    scripts: a frame SCRIPT; key_items: {item: key items of its case}.
    """
    words = telling_words([*scripts["script"], *(k for mine in key_items.values() for k in mine)])
    return [
        [n for n, k in enumerate(key_items[r.item], 1) if words[k] & words[r.script]]
        for r in scripts.itertuples()
    ]


def script_faults(found: pd.DataFrame, texts: pd.DataFrame) -> list[str]:
    """What is wrong with cases and scripts, as a list of messages.

    A case may have too few or too many key items, or two scripts for one level. A script's facts
    must be key items of its case, and the script must name them. A level without a script is no
    fault: only its instruction is used then, and notebook 01 counts scripts.
    """
    items = found.set_index("item")["key_items"].to_dict()
    faults = [
        f"item {i!r}: {len(k)} key items, not {LEAST} to {MOST}"
        for i, k in items.items()
        if not LEAST <= len(k) <= MOST
    ]
    mine = texts[texts["item"].isin(items)]
    for (item, level), n in mine.groupby(["item", "level"], sort=False).size().items():
        if n > 1:
            faults.append(f"item {item!r}: {n} scripts for level {level!r}, not one")
    for r, named in zip(mine.itertuples(), named_facts(mine, items)):
        if fault := _fault_of_facts(r.facts, named, items[r.item]):
            faults.append(f"item {r.item!r}, level {r.level!r}: {fault}")
    return faults


def _fault_of_facts(facts, named, key_items):
    """What is wrong with a script's facts, or ""; named: the key items that it names."""
    if strange := [n for n in facts if not 1 <= n <= len(key_items)]:
        return f"no key item {strange[0]}"
    if missing := [n for n in facts if n not in named]:
        n = missing[0]
        return f"the script doesn't name key item {n} ({key_items[n - 1]!r})"
    return "" if facts else "the script doesn't name any of the case's facts"
