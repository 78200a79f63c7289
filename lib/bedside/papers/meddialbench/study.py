"""MedDialBench: set-up shared by notebooks, explorer and seminar sheets."""

from typing import NamedTuple

import pandas as pd

from bedside import models
from bedside.sources import drawn, limited

from . import consultations as talks
from . import data, rules
from .design import Design, read
from .generation import generated


class SetUp(NamedTuple):
    """A design, the cases that have key items, their scripts, and the number of cases drawn.

    why: a sentence for captions if no case has key items, else empty.
    """

    design: Design
    cases: pd.DataFrame
    scripts: pd.DataFrame
    drawn: int
    why: str = ""


async def set_up(run, design="", size=0):
    """The design (a file; empty: the paper's) with its cases and scripts: a SetUp.

    Without a case that has key items there are no consultations.
    """
    plan = read(run, design)
    made, scripts = await cases(run, plan, size)
    there = made[made["key_items"].map(bool)].reset_index(drop=True)
    found = made["status"].value_counts()
    told = ", ".join(f"{status} ({n})" for status, n in found.items())
    none = f"No consultations: {run.models[0]} wrote key items for none of {len(made)} cases: "
    return SetUp(plan, there, scripts, len(made), f"{none}{told}. " if there.empty else "")


async def cases(run, design, size):
    """Cases and scripts of the run's profile: frames like those of `data.bundled`.

    sample: the bundled ones. public: `size` OSCE cases, drawn by the seed (0: all), with key items
    and scripts by `generated`.
    """
    if run.profile == "public":
        return await generated(run, design, limited(run, _osce(run, size)))
    return data.bundled(run)


def _osce(run, size):
    return drawn(run, data.osce(run), size)


def stratified(run, held, size):
    """One consultation for each doctor and configuration (appendix C), as a part of `held`.

    Drawn from all cases, whatever LIMIT is. If the case drawn is not in `held`, there is none.
    """
    every = _osce(run, size) if run.profile == "public" else run.load("meddialbench_cases")
    group = ["model", "configuration"]
    planned = held[group].drop_duplicates().merge(every["item"].rename("case"), how="cross")
    groups = planned.groupby(group, sort=False)
    return groups.sample(1, random_state=run.rng("stratified")).merge(held, on=[*group, "case"])


def openings(run, here, levels):
    """The opening messages of doctor and patient in the first case, under these levels.

    [doctor's messages, patient's messages]; empty without a case.
    """
    first = talks.planned(here.cases.head(1), {"": levels}, run.models[:1], "")
    told = talks.openings(run, first, here.design, here.scripts)
    return [messages for each in told for messages in each.values()]


def in_strata(run, held, size):
    """`size` consultations (0: all), spread evenly over doctors and configurations (3.5)."""
    mixed = held.sample(frac=1, random_state=run.rng("second judge"))
    turn = mixed.groupby(["model", "configuration"]).cumcount().sort_values(kind="stable")
    return held.loc[sorted(turn.index[: size or None])].reset_index(drop=True)


async def consultations(run, here, configurations, *, patient, turns, turn_tokens, temperature):
    """Consultations of the run's models with the patient, and of the rules: (list, frame).

    here: a SetUp; patient: a model, empty for the first of the run's models. The limits most_turns
    and most_dialogues of data/models.toml apply.
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
