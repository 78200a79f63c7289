"""MedDialBench's judged items: consultations (section 3) and labelled examples (section 3.5)."""

import re

import pandas as pd

from bedside import baselines
from bedside.judges import LEXICAL
from bedside.rows import (
    dialogue,
    entries,
    human_label,
    other_verdict,
    pieces,
    row_id,
    text,
    verdicts_by_item,
)

from . import examples, judging, study, words
from .consultations import ENDS, OPENING
from .data import false_statements
from .design import BASELINE
from .rules import NAME as RULES

YES_NO, SAYS = {v: v for v in judging.YES_NO}, {1.0: "yes", 0.0: "no"}
SET_UP = ("design", "size", "writer", "only")
SETTINGS = ("patient", "turns", "turn_tokens", "temperature")
HEARD = "4 consultations"


async def collect(document):
    """Collect all judged items of the study into a `bedside.rows.Document`."""
    run = document.run("meddialbench", "05_vulnerability")
    document.begin(run)
    known = examples.Labelled(run)
    await consultations(document, run, known)
    await labelled(document, known)


async def consultations(document, run, known):
    """The consultations of all configurations, each linked to the baseline of its case."""
    here = await study.set_up(run, **{k: run.settings[k] for k in SET_UP})
    how = {k: run.settings[k] for k in SETTINGS}
    configurations = here.design.configurations(run.settings["combinations"])
    done, held = await study.consultations(run, here, configurations, **how)
    there = held["end"] != "failed"
    held, done = held[there].reset_index(drop=True), [c for c, ok in zip(done, there) if ok]
    judged = Judged(run, here, known, held)
    await judged.collect()
    for r in here.cases.itertuples():
        share(document, r)
    for c, r in zip(done, held.itertuples(), strict=True):
        told = [f"meddialbench {c.case.item}", f"meddialbench {c.case.item} diagnosis"]
        document.add(
            run,
            HEARD,
            c.case.item,
            c.doctor,
            c.configuration,
            by="rules" if c.doctor == RULES else "model",
            sent=" ".join(c.keys),
            category=" + ".join(c.levels) or "cooperative",
            title=f"{c.case.patient}: {c.case.complaint}",
            shared=told,
            reply=c.diagnosis,
            status=r.reply_status,
            truncated=c.truncated > 0,
            blocks=blocks(c, here.scripts, judged.overlap),
            verdicts=judged.given.get(r.item, ()),
            more=judged.others(r.item, len(c.case.key_items)),
            beside=row_id(run, c.case.item, c.doctor, BASELINE) if c.levels else "",
        )


def share(document, case):
    """The blocks that all consultations of a case share."""
    document.share(
        f"meddialbench {case.item}",
        text("Patient", f"{case.patient}\n{case.complaint}"),
        text("What the patient knows", case.history),
        entries("Key items", case.key_items),
    )
    truth = text("True diagnosis", "; ".join([case.diagnosis, *case.accepted]))
    document.share(f"meddialbench {case.item} diagnosis", truth)


class Judged:
    """The verdicts of the run's judges on consultations."""

    def __init__(self, run, here, known, held):
        self.run, self.here, self.known, self.held = run, here, known, held
        self.overlap = judging.Overlap(known.rows("coverage"), judging.YES_NO)

    async def collect(self):
        """Collect outcomes by each judge, and behaviours by the word-overlap judge."""
        run, known, held, scripts = self.run, self.known, self.held, self.here.scripts
        by = {j: await judging.outcomes(run.judged_by(j), known, scripts, held) for j in run.judges}
        self.outcomes = {j: frame.set_index("item") for j, frame in by.items()}
        asked = run.judged_by(LEXICAL), self.here.design, known, scripts, held
        self.shown = (await judging.adherence(*asked)).set_index("item")["shown"]
        names = {"verdict_status": "status", "verdict": "raw"}
        said = {
            j: frame.rename(columns=names).assign(value=frame["correct"].map(SAYS))
            for j, frame in by.items()
        }
        self.given = verdicts_by_item(said, YES_NO, {"yes"})

    def others(self, item, count):
        """Verdicts on everything but the diagnosis; count: how many key items the case has."""
        made = []
        for judge, frame in self.outcomes.items():
            mine = frame.loc[item]
            if mine["correct"] == 0:
                made.append(other_verdict(judge, "misled", SAYS.get(mine["misled"], "")))
            if mine["coverage"] == mine["coverage"]:
                told = f"{mine['coverage'] * count:.0f} of {count} key items"
                made.append(other_verdict(judge, "coverage", told))
        if any(s != s for s in self.shown[item]):
            return made
        seen = [d for d, s in zip(self.here.design.dimensions, self.shown[item]) if s == 1]
        return [*made, other_verdict(LEXICAL, "adherence", "; ".join(seen) or "none")]


def blocks(c, scripts, overlap):
    """Blocks: the consultation, how it ended, and what the patient was told to do."""
    lies = false_statements(scripts, c.case.item, c.levels)
    mine = scripts[(scripts["item"] == c.case.item) & scripts["level"].isin(c.levels)]
    directions = [f"{x.level}: {x.script}" for x in mine.itertuples()]
    made = [
        dialogue("Consultation", turns(c, lies, overlap)),
        text("How it ended", f"{ENDS[c.end]}{f' ({c.by})' if c.by else ''}"),
    ]
    made += [entries("Behaviour script", directions)] if directions else []
    return made + ([entries("False statements of the script", lies)] if lies else [])


def turns(c, lies, overlap):
    """The turns of a consultation, for `rows.dialogue`.

    Notes name the key items that a statement is the first to disclose, by word overlap. Sentences
    that state what the script has falsely stated are marked.
    """
    left = dict(enumerate(c.case.key_items, 1))
    made = [("Doctor", pieces(OPENING), []), ("Patient", pieces(c.case.complaint), [])]
    for question, answer in c.turns:
        asked = pd.DataFrame({"references": [[k] for k in left.values()], "text": answer})
        told = [n for n, told in zip(list(left), overlap.grade(asked)) if told == "yes"]
        notes = [f"discloses key item {n}: {left.pop(n)}" for n in told]
        made.append(("Doctor", pieces(question), []))
        made.append(("Patient", pieces(answer, script=scripted(answer, lies)), notes))
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


async def labelled(document, known):
    """The labelled diagnoses and consultations, with the verdicts of all judges."""
    run = document.run("meddialbench", "01_design_and_validation")
    measured = {j: await judging.measured(run, known, j) for j in run.judges}
    found, misled = (
        verdicts_by_item({j: m[task][1] for j, m in measured.items()}, YES_NO, {"yes"})
        for task in ("", "misled")
    )
    for r in baselines.learnt(known.diagnosis).itertuples():
        heard = known.dialogues[known.dialogues["answer_id"] == r.answer_id]
        truth = text("True diagnosis", "; ".join(r.references))
        other = misled.get(r.answer_id, ())
        document.add(
            run,
            "3.5 labelled diagnoses",
            r.answer_id,
            "written for the project",
            r.kind,
            unit=r.item,
            by="written",
            category=r.truth,
            title=f"{r.diagnosis} | {r.truth}",
            shared=[document.share(f"meddialbench {r.answer_id}", truth)],
            reply=r.diagnosis,
            blocks=[dialogue("Consultation", spoken(x.turns)) for x in heard.itertuples()],
            verdicts=found.get(r.answer_id, ()),
            more=[other_verdict(v["judge"], "misled", v["value"], v["raw"]) for v in other],
            human=[human_label(examples.OURS, r.label, reason=why(heard))],
        )


def spoken(turns):
    """The turns of a labelled dialogue, for `rows.dialogue`."""
    speakers = ("Doctor", "Patient")
    return [(who, pieces(said), []) for turn in turns for who, said in zip(speakers, turn)]


def why(heard):
    """The other labels of a dialogue, as text."""
    return "; ".join(
        f"disclosed: {', '.join(map(str, x.disclosed))}; behaviour shown:"
        f" {', '.join(x.shown) or 'none'}; misled: {x.misled}"
        for x in heard.itertuples()
    )
