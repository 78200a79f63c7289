"""MedDialBench: what notebooks, explorer and sheets set up alike."""

from typing import NamedTuple

import pandas as pd

from bedside import models
from bedside.sources import drawn, limited

from . import consultations as talks
from . import data, rules
from .design import Design, read
from .generation import generated


class SetUp(NamedTuple):
    """A design, the cases that have key items, their scripts, and how many cases there were.

    why: a caption's sentence where none has any.
    """

    design: Design
    cases: pd.DataFrame
    scripts: pd.DataFrame
    drawn: int
    why: str = ""


async def set_up(run, design="", size=0):
    """The design (a file; empty: the paper's), and `cases` for it.

    If none has key items, nobody can be asked anything, and there are no consultations.
    """
    plan = read(run, design)
    made, scripts = await cases(run, plan, size)
    there = made[made["key_items"].map(bool)].reset_index(drop=True)
    found = made["status"].value_counts()
    told = ", ".join(f"{status} ({n})" for status, n in found.items())
    none = f"No consultations: {run.models[0]} wrote key items for none of {len(made)} cases: "
    return SetUp(plan, there, scripts, len(made), f"{none}{told}. " if there.empty else "")


async def cases(run, design, size):
    """Cases and scripts of the run's profile: frames as of `data.bundled`.

    sample: the bundled ones. public: `size` OSCE cases drawn by the seed (0: all), with what
    `generated` makes of them.
    """
    if run.profile == "public":
        return await generated(run, design, limited(run, _osce(run, size)))
    return data.bundled(run)


def _osce(run, size):
    return drawn(run, data.osce(run), size)


def stratified(run, held, size):
    """One of the consultations of each doctor and configuration (appendix C): as `held`.

    Drawn among all cases, whatever LIMIT is: it may be of a case that isn't there.
    """
    every = _osce(run, size) if run.profile == "public" else run.load("meddialbench_cases")
    group = ["model", "configuration"]
    planned = held[group].drop_duplicates().merge(every["item"].rename("case"), how="cross")
    groups = planned.groupby(group, sort=False)
    return groups.sample(1, random_state=run.rng("stratified")).merge(held, on=[*group, "case"])


def openings(run, here, levels):
    """What doctor and patient are told first in the first case, under these levels: [messages].

    Empty without a case.
    """
    first = talks.planned(here.cases.head(1), {"": levels}, run.models[:1], "")
    told = talks.openings(run, first, here.design, here.scripts)
    return [messages for each in told for messages in each.values()]


async def consultations(run, here, configurations, *, patient, turns, turn_tokens, temperature):
    """Consultations of the run's models with the patient, and of the rules: (list, frame).

    here: a SetUp; patient: a model, empty for the first of the run's. A model's most_turns and
    most_dialogues (data/models.toml) hold for it.
    """
    design, cases, scripts, *_ = here
    patient = patient or run.models[0]
    limits = [models.model(m) for m in dict.fromkeys([*run.models, patient])]
    most = min([turns, *(m["most_turns"] for m in limits if "most_turns" in m)])
    at_once = min([10_000, *(m["most_dialogues"] for m in limits if "most_dialogues" in m)])
    made = talks.planned(cases, configurations, run.models, patient, most)
    async with run.asking("consultations") as ask:
        speakers = talks.by_models(run, ask, made, design, scripts, turn_tokens, temperature)
        await talks.hold(made, *speakers, at_once=at_once)
    plain = talks.planned(cases, configurations, [rules.NAME], rules.NAME, turns)
    made += rules.hold(plain, rules.Knowledge(design, cases, scripts))
    return made, talks.frame(made)
