"""MedDialBench: a case's key items and scripts, written by a model (sections 3.1 and 3.3)."""

import re
from dataclasses import replace

import pandas as pd

from bedside.asking.models import requests_to
from bedside.asking.replies import response_format
from bedside.judging import parsing
from bedside.judging.parsing import Verdict
from bedside.read import checks

from .data import EARLIER, LEAST, MOST, SCRIPT

# of a case's key items, and of a script; the paper names neither
TOKENS, TEMPERATURE = 2000, 0.7
TRIES = 3
# the most facts and false statements of a script. The paper's of case 079 hide nine of fifteen
# facts, and stage three contradictions: two statements each
LIMITS, SHORT = (MOST, 6), (6, 4)
STRINGS = {"type": "array", "items": {"type": "string"}}
ITEMS = response_format("key_items", items={**STRINGS, "minItems": LEAST, "maxItems": MOST})


async def generated(run, design, drawn, writer=""):
    """Cases and scripts like those of `data.bundled`, written by one model.

    writer: that model, empty for the first of the run's models.
    A case with fewer than LEAST items has the status `few`. One without any has the status of its
    last reply, or the reason why that holds no text, and no scripts.
    """
    found = await _with_key_items(run, drawn, writer or run.models[0])
    return found, await _scripts(run, design, found, writer or run.models[0])


async def _with_key_items(run, drawn, writer):
    """Cases with key_items and status.

    A case with fewer than LEAST different items is asked about again, up to TRIES times. The
    longest list counts, among equal ones the later. A plan counts every possible try.
    """
    best = {i: Verdict(i, "") for i in drawn["item"]}
    short = set(best)
    profiles = drawn.assign(case=[r._asdict() for r in drawn.itertuples()])
    for k in range(TRIES):
        again = profiles[profiles["item"].isin(short)]
        asked = run.prompts_for("key_items", again, ["case"], least=LEAST, most=MOST)
        for reply in await run.ask(_requests(run, writer, asked, ITEMS, k), "key items"):
            v = _read(reply, facts_in)
            best[v.item] = max(v, best[v.item], key=lambda v: len(v.value or []))
            known = reply.recorded or run.mode != "plan"
            if reply.waits or (known and len(best[v.item].value or []) >= LEAST):
                short.discard(v.item)
    items = [best[i].value or [] for i in drawn["item"]]
    status = ["few" if 0 < len(best[i].value or []) < LEAST else best[i].status for i in best]
    return drawn.assign(key_items=items, status=status)


async def _scripts(run, design, found, writer):
    """A script for each adverse level of each case with key items: frame SCRIPT and status.

    A script that can't be read is empty; only the level's instruction is used then.
    """
    short = writer in EARLIER
    most_facts, most_false = SHORT if short else LIMITS
    form = response_format(
        "script",
        script={"type": "string"},
        facts={"type": "array", "items": {"type": "integer"}, "maxItems": most_facts},
        false={**STRINGS, "maxItems": most_false},
    )
    asked = [(r, n) for r in found.itertuples() if r.key_items for n in design.adverse]
    prompts, rows = {}, []
    for r, n in asked:
        told = {k: design.levels[n][k] for k in ("dimension", "instruction")}
        prompts[f"{r.item} {n}"] = run.prompt(
            "script", case=r._asdict(), level=n, short=short, **told
        )
    replies = await run.ask(_requests(run, writer, prompts, form), "scripts")
    for (r, level), reply in zip(asked, replies, strict=True):
        v = _read(reply, parse_script)
        script, facts, false = v.value or ("", [], [])
        facts = [f for f in facts if 1 <= f <= len(r.key_items)]
        rows.append((r.item, level, script, facts, false, "", v.status))
    return pd.DataFrame(rows, columns=[*SCRIPT, "status"])


def _requests(run, writer, prompts, form, repeat=0):
    made = requests_to(run, prompts, TOKENS, [writer], TEMPERATURE, response_format=form)
    return [replace(r, repeat=repeat) for r in made]


def _read(reply, parser):
    """`parsing.read` of material, even if it was cut; if there is none, the status says why."""
    v = parsing.read(reply, parser, even_cut=True)
    return replace(v, status=reply.why or v.status)


def facts_in(text):
    """The different key items of 3 words or more in a reply, at most MOST; None without any."""
    listed = [s for s in parsing.strings(text, "items") or [] if len(s.split()) >= 3]
    made = {checks.normal(s): s for s in listed}
    return list(made.values())[:MOST] or None


def parse_script(text):
    """(script, facts, false statements) in a reply, even if its JSON was cut short; or None."""
    if not (script := parsing.member(text, "script")):
        return None
    listed = re.search(r'"facts"\s*:\s*\[([\d\s,]*)', text)
    facts = [int(n) for n in re.findall(r"\d+", listed[1])] if listed else []
    return script, facts, parsing.strings(text, "false") or []
