"""MedDialBench: set-up shared by notebooks, explorer and seminar sheets."""

from typing import NamedTuple

import pandas as pd

from bedside import choose
from bedside.asking import registry
from bedside.read.sources import first_items, random_rows
from bedside.run import Run

from . import consultations as talks
from . import data, rules
from .design import BASELINE, Design, read
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


async def set_up(
    run: Run, design: str = "", size: int = 0, writer: str = "", only: str = ""
) -> SetUp:
    """The design (a file; empty: the paper's) with its cases and scripts: a SetUp.

    size, writer, only: as for `cases`. Without a case with key items there are no consultations.
    """
    plan = read(run, design)
    made, scripts = await cases(run, plan, size, writer, only)
    there = made[made["key_items"].map(bool)].reset_index(drop=True)
    found = made["status"].value_counts()
    told = ", ".join(f"{status} ({n})" for status, n in found.items())
    by = writer or run.models[0]
    none = f"No consultations: {by} wrote key items for none of {len(made)} cases: {told}. "
    return SetUp(plan, there, scripts, len(made), none if there.empty else "")


async def cases(run, design, size, writer="", only=""):
    """Cases and scripts of the run's profile: frames like those of `data.bundled`.

    sample: the bundled ones. public: `size` OSCE cases, drawn by the seed (0: all), with key items
    and scripts by `generated`. only: the names of the cases to take, in place of all or a draw.
    """
    taken = first_items(run, _taken(run, size, only))
    if run.profile == "public":
        return await generated(run, design, taken, writer)
    return data.bundled(run, taken)


def _taken(run, size, only):
    """The cases of the run's profile, before LIMIT: those named, else all or a draw."""
    public = run.profile == "public"
    every = data.osce(run) if public else run.load("meddialbench_cases")[data.CASE]
    names = [choose(n, list(every["item"]), "case") for n in only.split()]
    if names:
        return every[every["item"].isin(names)].reset_index(drop=True)
    return random_rows(run, every, size) if public else every


def stratified(run, held, size, only=""):
    """One consultation for each doctor and configuration (appendix C), as a part of `held`.

    Drawn from all cases (or those named), whatever LIMIT is. If the case drawn is not in `held`,
    there is none.
    """
    every = _taken(run, size, only)
    group = ["model", "configuration"]
    planned = held[group].drop_duplicates().merge(every["item"].rename("case"), how="cross")
    groups = planned.groupby(group, sort=False)
    return groups.sample(1, random_state=run.rng("stratified")).merge(held, on=[*group, "case"])


def openings(run, here, levels, patient):
    """The opening messages of doctor and patient in the first case, under these levels.

    patient: as in `consultations`. [doctor's messages, patient's messages]; empty without a case.
    """
    patient = patient or run.models[0]
    first = talks.planned(here.cases.head(1), {"": levels}, run.models[:1], patient)
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
    limits = [registry.model(m) for m in dict.fromkeys([*run.models, patient])]
    most = min([turns, *(m.most_turns for m in limits if m.most_turns is not None)])
    at_once = min([10_000, *(m.most_dialogues for m in limits if m.most_dialogues)])
    made = talks.planned(cases, configurations, run.models, patient, most)
    async with run.asking("consultations") as ask:
        speakers = talks.by_models(run, ask, made, design, scripts, turn_tokens, temperature)
        await talks.hold(made, *speakers, at_once=at_once)
    plain = talks.planned(cases, configurations, [rules.NAME], rules.NAME, turns)
    made += rules.hold(plain, rules.Knowledge(design, cases, scripts))
    return made, talks.frame(made)


def kept(done, right_only):
    """Judged consultations of the cases that count, and what captions say of these (section 3.3).

    right_only: only cases that at least one model, other than the rules, diagnoses at baseline.
    """
    if not right_only:
        return done, ""
    begun = done[(done["configuration"] == BASELINE) & (done["model"] != rules.NAME)]
    right = begun.loc[begun["correct"].eq(1), "case"]
    told = f"Only the {right.nunique()} of {done['case'].nunique()} cases that a model diagnoses at"
    return done[done["case"].isin(right)].reset_index(drop=True), f"{told} baseline. "
