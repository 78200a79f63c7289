"""MedDialBench: cases and their scripts (sections 3.1 to 3.3).

Frames are long, with an `item` (a case), a `configuration` and a `model` (the doctor).
"""

import itertools
import re

import pandas as pd

from .words import telling_words

LEAST, MOST = 8, 16  # key items of a case (section 3.3)
CASE = ["item", "diagnosis", "accepted", "patient", "complaint", "history", "key_items"]
SCRIPT = ["item", "level", "script", "facts", "false", "toward"]
# models recorded with earlier prompts: as patients they are not told the gate of a dimension, and
# the scripts that they write are short
EARLIER = ("smollm2-135m",)


def osce(run):
    """The released OSCE cases (section 3.3) as the patient knows them: CASE without key_items."""
    examined = run.load("agentclinic")["OSCE_Examination"]
    rows = [(f"osce-{number:03}", *_case(e)) for number, e in enumerate(examined, 1)]
    return pd.DataFrame(rows, columns=CASE[:-1])


def _case(examination):
    """Diagnosis, its other names, patient, complaint and history of one released case."""
    actor, truth = dict(examination["Patient_Actor"]), examination["Correct_Diagnosis"]
    patient, history, symptoms = (actor.pop(k) for k in ("Demographics", "History", "Symptoms"))
    symptoms = [symptoms["Primary_Symptom"], *symptoms.get("Secondary_Symptoms", [])]
    more = plain(actor, "\n") if actor else ""
    history = "\n".join(filter(None, [history, "Symptoms: " + "; ".join(symptoms), more]))
    names = [*re.findall(r"\(([^)]*)\)", truth), re.sub(r"\s*\([^)]*\)", "", truth)]
    return truth, [n.strip() for n in names if n.strip() != truth], patient, symptoms[0], history


def plain(value, between="; "):
    """A field as text, whether it holds text, a list or an object."""
    if isinstance(value, dict):
        value = [f"{k.replace('_', ' ')}: {plain(v)}" for k, v in value.items()]
    return between.join(map(plain, value)) if isinstance(value, list) else str(value)


def false_statements(texts, item, levels):
    """The false statements that the case's scripts give to a patient with these levels."""
    active = texts[(texts["item"] == item) & texts["level"].isin(levels)]
    return list(itertools.chain(*active["false"]))


def named_facts(scripts, key_items):
    """The key items that each script names by a telling word: lists of numbers from 1.

    scripts: a frame SCRIPT; key_items: {item: key items of its case}.
    """
    words = telling_words([*scripts["script"], *itertools.chain(*key_items.values())])
    return [
        [n for n, k in enumerate(key_items[r.item], 1) if words[k] & words[r.script]]
        for r in scripts.itertuples()
    ]
