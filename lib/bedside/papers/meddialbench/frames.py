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


async def consultations(run, here, known, done, said):
    """Consultations without failed calls: a row for each judge, the run's and the recorded ones.

    here: a SetUp; done: as of `study.consultations`; said: `judging.outcomes` by the run's judge.
    `item` is the case's. shown: the behaviours that word overlap finds; spoken: the dialogue, as
    `noted`. Then the case, and what its scripts say.
    """
    came = (said["end"] != "failed").to_numpy()
    talks, said = [c for c, ok in zip(done, came) if ok], said[came].reset_index(drop=True)
    held = said.drop(columns=OUTCOME).assign(turns=[len(c.turns) for c in talks])
    aside = run.replaying(aside=True).judged_by(LEXICAL)
    seen = await judging.adherence(aside, here.design, known, here.scripts, held)
    overlap = judging.Overlap(known.rows("coverage"), judging.YES_NO)
    script = here.scripts.groupby("item")[["level", "script"]]
    script = {case: rows.to_numpy().tolist() for case, rows in script}
    every = held.drop(columns="turns").assign(
        shown=[_shown(here.design, s) for s in seen["shown"]],
        spoken=[noted(c, here.scripts, overlap) for c in talks],
        sent=[" ".join(c.keys) for c in talks],
        profile=[c.case.patient for c in talks],
        complaint=[c.case.complaint for c in talks],
        history=[c.case.history for c in talks],
        unit=held["case"],
        truncated=held["truncated"] > 0,
        level=[" + ".join(c.levels) or "cooperative" for c in talks],
        ended=[ENDS[c.end] + (f" ({c.by})" if c.by else "") for c in talks],
        directions=[
            [f"{n}: {text}" for n, text in script.get(c.case.item, ()) if n in c.levels]
            for c in talks
        ],
        lies=[false_statements(here.scripts, c.case.item, c.levels) for c in talks],
        by=np.where(held["model"] == RULES, "rules", "model"),
        title=[f"{c.case.patient}: {c.case.complaint}" for c in talks],
        reply=held["diagnosis"],
    )

    async def judged(asking, judge):
        return with_verdicts(await judging.outcomes(asking, known, here.scripts, held))

    def with_verdicts(made):
        names = {"verdict": "raw", "verdict_status": "status"}
        return joined(every, made[["item", "turns", *OUTCOME]].rename(columns=names))

    made = await verdicts_by_judge(run, judged, with_verdicts(said))
    right = made["correct"]
    return made.assign(item=made["case"], value=right.map(SAYS), right=right == 1)


def _shown(design, marks):
    """The behaviours that are shown, as text; None where the patient wasn't judged."""
    if any(s != s for s in marks):
        return None
    return "; ".join(d for d, s in zip(design.dimensions, marks) if s == 1) or "none"


def noted(c, scripts, overlap):
    """The turns of a consultation: who, words, places of repeated false statements, notes.

    Notes name the key items that a statement is the first to disclose, by word overlap.
    """
    lies = false_statements(scripts, c.case.item, c.levels)
    left = dict(enumerate(c.case.key_items, 1))
    made = [("Doctor", OPENING, [], []), ("Patient", c.case.complaint, [], [])]
    for question, answer in c.turns:
        asked = pd.DataFrame({"references": [[k] for k in left.values()], "text": answer})
        told = [n for n, told in zip(list(left), overlap.grade(asked)) if told == "yes"]
        notes = [f"discloses key item {n}: {left.pop(n)}" for n in told]
        made += [("Doctor", question, [], []), ("Patient", answer, scripted(answer, lies), notes)]
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
        misled = misled[misled["raw"] != NOT_RECORDED].set_index("item")
        made = joined(frame, same, whole="left")
        return made.assign(
            misled=made["item"].map(misled["value"]), misled_raw=made["item"].map(misled["raw"])
        )

    made = await verdicts_by_judge(run, judged)
    heard = known.dialogues.set_index("answer_id")
    return made.assign(
        model="written for the project",
        configuration=made["kind"],
        unit=made["asked"],
        right=made["value"] == "yes",
        by="written",
        title=made["diagnosis"] + " | " + made["truth"],
        reply=made["diagnosis"],
        turns=[heard["turns"].get(i) for i in made["item"]],
        why=[why(heard.loc[i]) if i in heard.index else "" for i in made["item"]],
    )


def why(heard):
    """The other labels of a dialogue, as text."""
    shown = ", ".join(heard["shown"]) or "none"
    disclosed = ", ".join(map(str, heard["disclosed"]))
    return f"disclosed: {disclosed}; behaviour shown: {shown}; misled: {heard['misled']}"
