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

    sample: cases and scripts written for this project. public: `size` OSCE cases, drawn by the seed
    (0: all), with key items and scripts by the model `writer` (see `generated`). only: the names of
    the cases to take, in place of all or a draw. Without a case with key items there are no
    consultations.
    """
    plan, drawn = read(run, design), first_items(run, _drawn(run, size, only))
    if run.profile == "public":
        cases, scripts = await generated(run, plan, drawn, writer)
    else:
        cases, scripts = (
            f.assign(status="graded") for f in (drawn, run.load("meddialbench_scripts"))
        )
        scripts = scripts[scripts["item"].isin(drawn["item"])].reset_index(drop=True)
    there = cases[cases["key_items"].map(bool)].reset_index(drop=True)
    status = ", ".join(f"{name} ({n})" for name, n in cases["status"].value_counts().items())
    by = writer or run.models[0]
    none = f"No consultations: {by} wrote key items for none of {len(cases)} cases: {status}. "
    return SetUp(plan, there, scripts, len(cases), none if there.empty else "")


def _drawn(run, size, only):
    """The cases of the run's profile, before LIMIT: those named, else all or a draw."""
    public = run.profile == "public"
    every = data.osce(run) if public else run.load("meddialbench_cases")[data.CASE]
    if only:
        names = [choose(n, list(every["item"]), "case") for n in only.split()]
        return every[every["item"].isin(names)].reset_index(drop=True)
    return random_rows(run, every, size) if public else every


def stratified(run, held, size, only=""):
    """One consultation for each doctor and configuration (appendix C), as a part of `held`.

    Drawn from all cases (or those named), whatever LIMIT is. If the case drawn is not in `held`,
    there is none.
    """
    every = _drawn(run, size, only)
    group = ["model", "configuration"]
    planned = held[group].drop_duplicates().merge(every["item"].rename("case"), how="cross")
    groups = planned.groupby(group, sort=False)
    return groups.sample(1, random_state=run.rng("stratified")).merge(held, on=[*group, "case"])


def openings(run, here, levels, patient):
    """The opening messages of doctor and patient in the first case, under these levels.

    patient: as in `consultations`. [doctor's messages, patient's messages]; empty without a case.
    """
    doctor, *_ = run.models
    first = talks.planned(here.cases.head(1), {"": levels}, [doctor], patient or doctor)
    doctors, patients = talks.openings(run, first, here.design, here.scripts)
    return [*doctors.values(), *patients.values()]


def in_strata(run, held, size):
    """`size` consultations (0: all), spread evenly over doctors and configurations (3.5)."""
    mixed = held.sample(frac=1, random_state=run.rng("second judge"))
    turn = mixed.groupby(["model", "configuration"]).cumcount().sort_values(kind="stable")
    return held.loc[sorted(turn.index[: size or None])].reset_index(drop=True)


async def consultations(
    run, here, configurations, *, patient="", turns=20, turn_tokens=1000, temperature=0.7
):
    """Consultations of the run's models with the patient, and of the rules: (list, frame).

    here: a SetUp; patient: a model, empty for the first of the run's models. The limits most_turns
    and most_dialogues of data/models.toml apply.
    """
    design, cases, scripts, *_ = here
    patient = patient or run.models[0]
    limits = [registry.model(m) for m in {*run.models, patient}]
    most = min([turns, *(m.most_turns for m in limits if m.most_turns is not None)])
    at_once = min([10_000, *(m.most_dialogues for m in limits if m.most_dialogues)])
    held = talks.planned(cases, configurations, run.models, patient, most)
    async with run.asking("consultations") as ask:
        speakers = talks.by_models(run, ask, held, design, scripts, turn_tokens, temperature)
        await talks.hold(held, *speakers, at_once=at_once)
    by_rules = talks.planned(cases, configurations, [rules.NAME], rules.NAME, turns)
    held += rules.hold(by_rules, rules.Knowledge(design, cases, scripts))
    return held, talks.frame(held)


def kept(done, right_only):
    """Judged consultations of the cases that count, and what captions say of these (section 3.3).

    right_only: only cases that at least one model, other than the rules, diagnoses at baseline.
    """
    if not right_only:
        return done, ""
    right = done[(done["configuration"] == BASELINE) & (done["correct"] == 1)]
    right = right.loc[right["model"] != rules.NAME, "case"]
    told = f"Only the {right.nunique()} of {done['case'].nunique()} cases that a model diagnoses at"
    return done[done["case"].isin(right)].reset_index(drop=True), f"{told} baseline. "
