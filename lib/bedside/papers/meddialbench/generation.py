"""MedDialBench: a case's key items and scripts, written by a model (sections 3.1 and 3.3)."""

import re
from dataclasses import replace

import pandas as pd

from bedside import checks, judges, planning
from bedside.models import requests_to, response_format

from .data import LEAST, MOST, SCRIPT

# of a case's key items, and of a script; the paper names neither
TOKENS, TEMPERATURE = 2000, 0.7
TRIES = 3
STRINGS = {"type": "array", "items": {"type": "string"}}
ITEMS = response_format("key_items", items={**STRINGS, "minItems": LEAST, "maxItems": MOST})
SCRIPTED = response_format(
    "script",
    script={"type": "string"},
    facts={"type": "array", "items": {"type": "integer"}, "maxItems": 6},
    false={**STRINGS, "maxItems": 4},
)


async def generated(run, design, drawn):
    """Cases and scripts like those of `data.bundled`, written by the first of the run's models.

    A case with fewer than LEAST items has the status `few`. One without any has the status of its
    last reply, or the reason why that holds no text, and no scripts.
    """
    with planning.in_sequence():  # whether there is another try depends on the one before
        found = await with_key_items(run, drawn)
    return found, await scripts(run, design, found)


async def with_key_items(run, drawn):
    """Cases with key_items and status.

    A case with fewer than LEAST different items is asked about again, up to TRIES times. The
    longest list counts, among equal ones the later. A plan counts every possible try.
    """
    best = {i: judges.Verdict(i, "") for i in drawn["item"]}
    short = set(best)
    profiles = drawn.assign(case=[r._asdict() for r in drawn.itertuples()])
    for k in range(TRIES):
        again = profiles[profiles["item"].isin(short)]
        asked = run.prompts_for("key_items", again, ["case"], least=LEAST, most=MOST)
        for reply in await run.ask(_requests(run, asked, ITEMS, k), "key items"):
            v = _read(reply, facts_in)
            best[v.item] = max(v, best[v.item], key=lambda v: len(v.value or []))
            known = reply.recorded or run.mode != "plan"
            if reply.waits or (known and len(best[v.item].value or []) >= LEAST):
                short.discard(v.item)
    items = [best[i].value or [] for i in drawn["item"]]
    status = ["few" if 0 < len(best[i].value or []) < LEAST else best[i].status for i in best]
    return drawn.assign(key_items=items, status=status)


async def scripts(run, design, found):
    """A script for each adverse level of each case with key items: frame SCRIPT and status.

    A script that can't be read is empty; only the level's instruction is used then.
    """
    asked = [(r, n) for r in found.itertuples() if r.key_items for n in design.adverse]
    prompts, rows = {}, []
    for r, n in asked:
        told = {k: design.levels[n][k] for k in ("dimension", "instruction")}
        prompts[f"{r.item} {n}"] = run.prompt("script", case=r._asdict(), level=n, **told)
    replies = await run.ask(_requests(run, prompts, SCRIPTED), "scripts")
    for (r, level), reply in zip(asked, replies, strict=True):
        v = _read(reply, parse_script)
        script, facts, false = v.value or ("", [], [])
        facts = [f for f in facts if 1 <= f <= len(r.key_items)]
        rows.append((r.item, level, script, facts, false, "", v.status))
    return pd.DataFrame(rows, columns=[*SCRIPT, "status"])


def _requests(run, prompts, form, repeat=0):
    one = run.models[:1]
    made = requests_to(run, prompts, TOKENS, one, TEMPERATURE, response_format=form)
    return [replace(r, repeat=repeat) for r in made]


def _read(reply, parser):
    """`judges.read` of material, even if it was cut; if there is none, the status says why."""
    v = judges.read(reply, parser, even_cut=True)
    return replace(v, status=reply.why or v.status)


def facts_in(text):
    """The different key items of 3 words or more in a reply, at most MOST; None without any."""
    listed = [s for s in judges.strings(text, "items") or [] if len(s.split()) >= 3]
    made = {checks.normal(s): s for s in listed}
    return list(made.values())[:MOST] or None


def parse_script(text):
    """(script, facts, false statements) in a reply, even if its JSON was cut short; or None."""
    if not (script := judges.member(text, "script")):
        return None
    listed = re.search(r'"facts"\s*:\s*\[([\d\s,]*)', text)
    facts = [int(n) for n in re.findall(r"\d+", listed[1])] if listed else []
    return script, facts, judges.strings(text, "false") or []
