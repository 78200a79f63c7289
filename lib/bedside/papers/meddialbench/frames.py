"""MedDialBench: consultations and labelled diagnoses with every judge's verdict, for `Run.keep`."""

import re

import numpy as np
import pandas as pd

from bedside.asking.models import NOT_RECORDED
from bedside.judging import baselines
from bedside.judging.judges import LEXICAL, verdicts_by_judge
from bedside.read.checks import joined

from . import judging, words
from .consultations import ENDS, OPENING
from .data import false_statements
from .rules import NAME as RULES

SAYS = {1.0: "yes", 0.0: "no"}
CONSULTED = "level end turns coverage misled shown".split()  # for readers of the CSV
OUTCOME = ["verdict", "verdict_status", "call", "correct", "misled", "coverage", "per_turn"]
CASE = {"item": "case", "patient": "profile", "diagnosis": "true_diagnosis"}  # columns renamed


async def consultations(run, here, known, done, said):
    """Consultations without failed calls: a row for each judge, the run's and the recorded ones.

    here: a SetUp; done: as of `study.consultations`; said: `judging.outcomes` by the run's judge.
    shown: the behaviours that word overlap finds; spoken: the dialogue, as `noted`. Then the case,
    and what its scripts say.
    """
    came = (said["end"] != "failed").to_numpy()
    said = said[came].reset_index(drop=True)
    held = said.drop(columns=OUTCOME).assign(
        turns=[len(c.turns) for c, ok in zip(done, came) if ok]
    )
    overlap = judging.Overlap(known.rows("coverage"), judging.YES_NO)
    mine = [c for c, ok in zip(done, came) if ok]
    aside = run.replaying(aside=True).judged_by(LEXICAL)
    seen = await judging.adherence(aside, here.design, known, here.scripts, held)
    about = held[["item"]].assign(
        shown=[_shown(here.design, s) for s in seen["shown"]],
        spoken=[noted(c, here.scripts, overlap) for c in mine],
        sent=[" ".join(c.keys) for c in mine],
    )
    cases = here.cases.drop(columns=["key_items", "status"], errors="ignore").rename(columns=CASE)
    every = joined(held.drop(columns="turns"), about)
    every = joined(every, cases, "case", "many_to_one", "left")

    async def judged(asking, judge):
        return with_status(await judging.outcomes(asking, known, here.scripts, held))

    def with_status(made):
        made = made[["item", "turns", *OUTCOME]].rename(columns={"verdict": "raw"})
        return joined(every, made.assign(status=made["verdict_status"], value=None))

    return _shaped(await verdicts_by_judge(run, judged, with_status(said)), here)


def _shaped(made, here):
    """Rows as `Run.keep` takes them: `item` is the case's."""
    scripts = {case: list(zip(x["level"], x["script"])) for case, x in here.scripts.groupby("item")}
    directions = [
        [f"{n}: {said}" for n, said in scripts.get(case, ()) if n in levels]
        for case, levels in zip(made["case"], made["levels"])
    ]
    lies = [false_statements(here.scripts, *x) for x in zip(made["case"], made["levels"])]
    return made.assign(
        item=made["case"],
        unit=made["case"],
        value=made["correct"].map(SAYS),
        right=made["correct"] == 1,
        truncated=made["truncated"] > 0,
        level=[" + ".join(v) or "cooperative" for v in made["levels"]],
        ended=[ENDS[e] + (f" ({by})" if by else "") for e, by in zip(made["end"], made["by"])],
        directions=directions,
        lies=lies,
        by=np.where(made["model"] == RULES, "rules", "model"),
        title=made["profile"] + ": " + made["complaint"],
        reply=made["diagnosis"],
    )


def _shown(design, marks):
    """The behaviours that are shown, as text; None where the patient wasn't judged."""
    if any(s != s for s in marks):
        return None
    return "; ".join(d for d, s in zip(design.dimensions, marks) if s == 1) or "none"


def noted(c, scripts, overlap):
    """The turns of a consultation: who, words, places of repeated false statements, notes.

    Notes name the key items that a statement is the first to disclose, by word overlap.
    """
    lies, left = (
        false_statements(scripts, c.case.item, c.levels),
        dict(enumerate(c.case.key_items, 1)),
    )
    made = [("Doctor", OPENING, [], []), ("Patient", c.case.complaint, [], [])]
    for question, answer in c.turns:
        asked = pd.DataFrame({"references": [[k] for k in left.values()], "text": answer})
        told = [n for n, told in zip(list(left), overlap.grade(asked)) if told == "yes"]
        notes = [f"discloses key item {n}: {left.pop(n)}" for n in told]
        made.append(("Doctor", question, [], []))
        made.append(("Patient", answer, scripted(answer, lies), notes))
    return [turn for turn in made if turn[1]]


def scripted(statement, lies):
    """Places (start, end) of sentences that repeat a false statement of the script.

    A sentence does if it has at least half of the statement's telling words.
    """
    places = []
    for sentence in re.finditer(r"[^.!?]+[.!?]*", statement):
        said = words.of(sentence[0])
        for mine in map(words.of, lies):
            if mine and len(mine & said) >= max(min(2, len(mine)), len(mine) / 2):
                places.append(sentence.span())
    return places


async def labelled(run, known):
    """The labelled diagnoses: a row for each judge; those of a model grade out of fold.

    misled: whether the judge says so of a wrong one. The other labels of the dialogue are `why`.
    """
    frame = baselines.learnt(known.diagnosis)
    frame = frame.assign(asked=frame["item"], item=frame["answer_id"])

    async def judged(asking, judge):
        found = await judging.on_diagnoses(asking, known.diagnosis, known.misled, judge)
        same, misled = (found[task][1] for task in ("", "misled"))
        said = misled[misled["raw"] != NOT_RECORDED].set_index("item")
        made = joined(frame, same, whole="left")
        told = {
            "misled": made["item"].map(said["value"]),
            "misled_raw": made["item"].map(said["raw"]),
        }
        return made.assign(**told, misled_judged=made["item"].isin(said.index))

    made = await verdicts_by_judge(run, judged)
    heard = {r.answer_id: r for r in known.dialogues.itertuples()}
    return made.assign(
        model="written for the project",
        configuration=made["kind"],
        unit=made["asked"],
        right=made["value"] == "yes",
        by="written",
        title=made["diagnosis"] + " | " + made["truth"],
        reply=made["diagnosis"],
        turns=[heard[i].turns if i in heard else None for i in made["item"]],
        why=[why(heard[i]) if i in heard else "" for i in made["item"]],
    )


def why(heard):
    """The other labels of a dialogue, as text."""
    return (
        f"disclosed: {', '.join(map(str, heard.disclosed))}; behaviour shown:"
        f" {', '.join(heard.shown) or 'none'}; misled: {heard.misled}"
    )
