"""MedDialBench: consultations (sections 3.2 and 3.4): questions, answers, a diagnosis.

    made = planned(cases, configurations, doctors, patient)
    await hold(made, *by_models(run, ask, made, design, scripts, ...))

A consultation is a dialogue (see `dialogues`) about one case under one configuration
of the design.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import pandas as pd

from bedside.asking import registry
from bedside.asking.models import requests_to
from bedside.asking.replies import response_format
from bedside.judging import parsing
from bedside.judging.parsing import REFUSALS
from bedside.read.checks import complete
from bedside.write.results import means
from bedside.write.tables import frame as rows_of

from . import dialogues
from .data import EARLIER
from .dialogues import ENDED, Dialogue, messages

END = "[END_INQUIRY]"
ENDS = {**dialogues.ENDS, "ended": "the doctor ended it"}
OPENING = "What brings you here today?"
# of a diagnosis: the paper names no limit, and some models write at length before they state it
TOKENS, DIAGNOSIS = 1000, response_format("diagnosis", diagnosis={"type": "string"})
HELPS = (
    r"\bhow (?:can|may) i (?:help|assist)"
    r"|\bi(?:'|’| a)m here to (?:help|assist|listen|support)|\bi(?:'|’| a)m (?:a|your) doctor"
    r"|\byour (?:symptoms?|health|pain|condition|medical history)\b"
)
ASKS = (
    r"\b(?:have you (?:had|been|noticed|taken|ever)|do you (?:feel|smoke|drink|take|experience)"
    r"|do you have (?:a|any|other) (?!idea|clue|question|time)"
    r"|are you (?:taking|experiencing|having|feeling)|how long have you|when did you"
    r"|where does it hurt)\b[^?]*\?"
)
SELF = r"\b(?:i|my|me|mine|we|our)\b"
# A patient may ask back, but not as a doctor asks, without a word about himself or herself.
NO_PATIENT = rf"(?-i:{re.escape(END)})|{HELPS}|\A(?!(?s:.*){SELF})(?s:.*){ASKS}"


@dataclass
class Consultation(Dialogue):
    """A dialogue about a case (a row of CASE) under a configuration, with its diagnosis.

    Turns are questions and answers after the opening, in which the patient states the chief
    complaint. diagnosis: what the doctor states at the end, empty if there is none. status:
    `graded` if there is one; else `error` if none was asked for, the reason why the reply holds no
    text, or the status of an unusable verdict.
    """

    case: object
    configuration: str
    levels: tuple
    doctor: str
    patient: str
    diagnosis: str = ""
    status: str = ""

    speakers: ClassVar = ("doctor", "patient")
    mark: ClassVar = END
    out_of_role: ClassVar = {
        "doctor": re.compile(r"^\W*patient\W*:", re.I | re.M),
        "patient": re.compile(rf"^\W*doctor\W*:|{NO_PATIENT}", re.I | re.M),
    }

    @property
    def item(self):
        return f"{self.case.item} {self.configuration}"

    def statements(self):
        """All statements of the patient, the complaint first."""
        return [self.case.complaint, *(answer for _, answer in self.turns if answer)]


def planned(
    cases: pd.DataFrame,
    configurations: Mapping[str, tuple],
    doctors: Iterable[str],
    patient: str,
    turns: int = 20,
) -> list[Consultation]:
    """A consultation for each case, configuration ({name: levels}) and doctor, with one patient."""
    return [
        Consultation(case, name, levels, doctor, patient, most=turns)
        for doctor in doctors
        for case in cases.itertuples()
        for name, levels in configurations.items()
    ]


async def hold(consultations, doctor, patient, diagnose, *, at_once=10_000):
    """Hold all consultations (see `dialogues.hold`); those not broken off end with a diagnosis.

    doctor, patient, diagnose: async functions of a consultation that return a Reply.
    """

    async def conclude(c):
        if c.end not in ENDED:
            c.status = "error"
            return
        reply = await diagnose(c)
        verdict = parsing.read(reply, stated, even_cut=True)  # an answer, judged as it stands
        c.keys.append(reply.key)
        c.truncated += reply.truncated
        c.diagnosis, c.status = verdict.value or "", reply.why or verdict.status

    await dialogues.hold(consultations, doctor, patient, after=conclude, at_once=at_once)
    return consultations


def stated(text):
    """The diagnosis in a reply, from JSON (even cut JSON) or the whole text; else None."""
    if parsing.member(text, "diagnosis") is None and REFUSALS.match(text):
        return None
    found = parsing.said(text, "diagnosis")
    return found if found and re.search(r"\w", found) else None


def by_models(run, ask, consultations, design, scripts, max_tokens, temperature):
    """Doctor, patient and diagnosis (for `hold`) by the models that each consultation names.

    `ask` answers a request (`Run.asking`). A model's most_tokens, and its most_tokens_turn in a
    dialogue, lower the limit. The patient's prompt holds the profile, an instruction block for each
    dimension and the pacing rules (section 3.2).
    """
    doctors, patients = openings(run, consultations, design, scripts)
    (final,) = run.prompt("diagnose")

    def blank(model, tokens, form=None):
        """A request that still lacks its item and messages."""
        most = min(tokens, registry.model(model).most_tokens_turn or tokens)
        (made,) = requests_to(run, {"": []}, most, [model], temperature, response_format=form)
        return made

    named = {name for c in consultations for name in (c.doctor, c.patient)}
    statement = {name: blank(name, max_tokens) for name in named}
    diagnosis = {name: blank(name, TOKENS, DIAGNOSIS) for name in named}

    async def doctor(c):
        talk = [*doctors[c.case.item], *messages(c.turns, 0)]
        return await ask(replace(statement[c.doctor], item=c.item, messages=talk))

    async def patient(c):
        talk = [*patients[c.item], *messages(c.turns, 1)]
        return await ask(replace(statement[c.patient], item=c.item, messages=talk))

    async def diagnose(c):
        *talk, last = [*doctors[c.case.item], *messages(c.turns, 0)]
        talk.append({**last, "content": f"{last['content']}\n\n{final['content']}"})
        return await ask(replace(diagnosis[c.doctor], item=c.item, messages=talk))

    return doctor, patient, diagnose


def openings(run, consultations, design, scripts):
    """Opening messages: {case: messages} for doctors, {consultation: messages} for patients."""
    cases = {c.case.item: c.case for c in consultations}
    told = pd.DataFrame([(i, x.complaint) for i, x in cases.items()], columns=["item", "complaint"])
    doctors = run.prompts_for("doctor", told, ["complaint"], mark=END)

    each = {c.item: c for c in consultations}
    behaviour = [blocks(design, scripts, c.case.item, c.levels, c.patient) for c in each.values()]
    profiles = [c.case._asdict() for c in each.values()]
    told = pd.DataFrame({"item": list(each), "case": profiles, "blocks": behaviour})
    patients = run.prompts_for("patient", told, ["case", "blocks"], opening=OPENING)
    for item, talk in patients.items():
        talk.append({"role": "assistant", "content": each[item].case.complaint})
    return doctors, patients


def blocks(design, scripts, item, levels, patient=""):
    """What a patient is told about each dimension: title, level, instruction, adverse script.

    The instruction of an adverse level ends with the gate of its dimension, if it has one (section
    3.2) and the patient, a model, is told it.
    """
    gates = {} if patient in EARLIER else {n: design.gate(n) for n in levels}
    mine = scripts[scripts["item"] == item].set_index("level")["script"]
    return [
        {
            "title": design.dimensions[d]["title"],
            "level": n,
            "instruction": f"{design.levels[n]['instruction']} {gates.get(n, '')}".strip(),
            "script": mine.get(n, "") if n in levels else "",
        }
        for d, n in design.severities(levels).items()
    ]


def frame(consultations):
    """Consultations as a frame, one row each, with an `item` of its own; `case` is the case's.

    model: the doctor; said: the patient's words; dialogue: all words; truth: the diagnosis; names:
    all names that count as right; reply_status: why there is no diagnosis, else empty; why: why a
    speaker's reply held no text, else empty; truncated: how many replies were cut.
    """
    return pd.DataFrame([_row(c) for c in consultations], columns=FRAME)


FRAME = """
    item case configuration levels model patient end by why turns truncated said dialogue truth
    names key_items diagnosis reply_status
    """.split()


def _row(c):
    broken = c.status if c.end in ENDED else f"{c.end}, {c.by}"
    return {
        "item": f"{c.item} {c.doctor}",
        "case": c.case.item,
        "configuration": c.configuration,
        "levels": c.levels,
        "model": c.doctor,
        "patient": c.patient,
        "end": c.end,
        "by": c.by,
        "why": c.why,
        "turns": len(c.turns),
        "truncated": c.truncated,
        "said": "\n".join(c.statements()),
        "dialogue": transcript(c),
        "truth": c.case.diagnosis,
        "names": [c.case.diagnosis, *c.case.accepted],
        "key_items": c.case.key_items,
        "diagnosis": c.diagnosis,
        "reply_status": "" if c.status == "graded" else broken,
    }


def transcript(c: Consultation) -> str:
    """A consultation as text, one line for each statement."""
    lines = [("Doctor", OPENING), ("Patient", c.case.complaint)]
    lines += [(who, text) for turn in c.turns for who, text in zip(("Doctor", "Patient"), turn)]
    return "\n".join(f"{who}: {' '.join(text.split())}" for who, text in lines if text)


CUT, UNCUT = "a reply was cut at its limit", "right diagnoses where none was"


def ends(done: pd.DataFrame) -> pd.DataFrame:
    """How consultations ended, as rows of a table: shares in percent by doctor, over cases.

    By end, with the speaker who broke off; why a reply was no answer; why a complete consultation
    has no diagnosis; whether a reply was cut, and right diagnoses where none was. What never
    occurred with a doctor has no row. done: `judging.outcomes`.
    """
    if done.empty:
        return rows_of([(CUT, "no consultation", "run", None, None, None, 0)])
    done = complete(done, ["end", "truncated"], ["by", "why", "reply_status"])
    whole, end = done["end"].isin(ENDED), done["end"].map(ENDS)
    why, status = (done[c].str.split(":").str[0] for c in ("why", "reply_status"))
    named = [
        end.where(whole, done["by"] + ": " + end),
        ("no answer: " + why)[why != ""],
        ("no diagnosis: " + status)[whole & (status != "")],
    ]
    hits = pd.get_dummies(pd.concat(named)).groupby(level=0).max()
    hits[CUT] = done["truncated"] > 0
    about = done[["item", "unit", "model"]]
    shares = means(about.join(hits), {c: c for c in hits}, "{metric}", "{model}")
    right = about.assign(right=done["correct"].astype("boolean"))
    right = right[~hits[CUT] & right["right"].notna()]
    return pd.concat(
        [
            shares[(shares["value"] > 0) | (shares["row"] == CUT)],
            means(right, {"right": UNCUT}, "{metric}", "{model}"),
        ]
    )
