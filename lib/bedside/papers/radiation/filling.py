"""Radiation: missing fields of patient records, filled by a model (section 3.1).

    gaps = filling.incomplete(run, 3)
    filled = await filling.filled(run, gaps)

The records before filling aren't released, so these are invented ones with fields taken out.
"""

import re

import pandas as pd

from bedside.asking import models
from bedside.asking.replies import response_format
from bedside.judging import parsing
from bedside.read.sources import first_items

from .data import FIELDS

GAP, TAKEN = "(missing)", ["medications", "last_visit"]
MOST_TOKENS = 1000  # of a filled record, or an entry's most_tokens where lower
SIGNS = re.compile(r"\b(radiation|radiotherapy|irradiat\w*|gy|cancer|\w*carcinoma|tumou?r)\b", re.I)
OUTCOMES = {  # of a reply: whether only what was missing changed, and whether all of it is filled
    "status": "usable, %",
    "changed": "a given field changed, %",
    "empty": "a field still empty, %",
    "signs": "to be read: a filled field names cancer or radiation, %",
}


def incomplete(run, size=1):
    """The sample's first records without the fields TAKEN: frame item and FIELDS, a gap empty."""
    records = run.load("radiation_profiles_sample")[["item", *FIELDS]].head(size)
    return first_items(run, records).assign(**dict.fromkeys(TAKEN, ""))


def prompt(run, record):
    """The messages that ask for a record's empty fields."""
    lines = [f"{field}: {record[field] or GAP}" for field in FIELDS]
    return run.prompt("fill", record="\n".join(lines), fields=list(FIELDS), gap=GAP)


async def filled(run, records):
    """The records as the run's models return them: a row for each record and model.

    Frame item, model, status (filled, rejected, or why nothing can be read), new ({field: text} of
    what was missing), and fields that changed though they were given, that are empty still, and
    that hold one of SIGNS. A record is filled if the first two are empty (section 3.1).
    """
    given = {r["item"]: r for r in records.to_dict("records")}
    form = response_format("record", **dict.fromkeys(FIELDS, {"type": "string"}))
    asked = {item: prompt(run, record) for item, record in given.items()}
    requests = models.requests_to(run, asked, MOST_TOKENS, response_format=form, kind="record")
    rows = []
    for reply in await run.ask(requests, "filled records"):
        verdict = parsing.read(reply, _record)
        row = {"item": reply.item, "model": reply.model, "status": verdict.status}
        rows.append(row | (checked(given[reply.item], verdict.value) if verdict.value else {}))
    columns = ["item", "model", "status", "new", "changed", "empty", "signs"]
    return pd.DataFrame(rows, columns=columns)


def checked(given, came):
    """What came of a record, by `filled`; spaces don't count. given, came: {field: text}."""
    before, after = ({f: " ".join(r[f].split()) for f in FIELDS} for r in (given, came))
    gaps = [f for f in FIELDS if not before[f]]
    changed = [f for f in FIELDS if before[f] and before[f] != after[f]]
    empty = [f for f in gaps if after[f] in ("", GAP)]
    return {
        "status": "rejected" if changed or empty else "filled",
        "new": {f: after[f] for f in gaps},
        "changed": changed,
        "empty": empty,
        "signs": [f for f in gaps if SIGNS.search(after[f])],
    }


def _record(text):
    """The record in a reply: all fields as texts, and no others; else None."""
    try:
        found = parsing.json_in(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or found.keys() != FIELDS.keys():
        return None
    return found if all(isinstance(t, str) for t in found.values()) else None


def outcomes(filled):
    """The records with OUTCOMES as booleans, missing where a record couldn't be read."""
    yes = {k: filled[k].eq("filled") if k == "status" else filled[k].map(bool) for k in OUTCOMES}
    read = filled["new"].notna()
    return filled.assign(**{k: v.astype("boolean").where(read) for k, v in yes.items()})
