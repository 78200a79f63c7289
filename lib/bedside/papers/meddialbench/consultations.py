"""MedDialBench: consultations (sections 3.2 and 3.4): questions, answers, a diagnosis.

    made = planned(cases, configurations, doctors, patient)
    await hold(made, *by_models(run, ask, made, design, scripts, ...))

A consultation is data: a case under a configuration of the design, what was said, and an end that
has a name. Doctor and patient are async functions of the consultation so far that return a Reply,
from a model or from plain Python. Every reply of a model is recorded, so an interrupted run
continues where it stopped.
"""

import asyncio
import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from bedside.asking import registry
from bedside.asking.models import requests_to
from bedside.asking.replies import NO_ANSWER, response_format
from bedside.judging import parsing
from bedside.judging.parsing import REFUSALS
from bedside.read import checks
from bedside.write.results import means
from bedside.write.tables import frame as rows_of

from .data import EARLIER

END = "[END_INQUIRY]"
ENDS = {
    "ended": "the doctor ended it",
    "limit": "turns used up",
    "refused": "refused to go on",
    "empty": "said nothing",
    "tools": "called a tool in place of words",
    "cut off": "cut off while thinking",
    "repeated": "endless repetition",
    "role": "took the other's part",
    "failed": "call failed",
}
ENDED = ("ended", "limit")  # the others are break-offs
# endless repetition: RUN_OF words in a row TIMES times in a statement, or TIMES equal statements
RUN_OF, TIMES = 5, 3
OPENING = "What brings you here today?"
# of a diagnosis: the paper names no limit, and some models write at length before they state it
TOKENS, DIAGNOSIS = 1000, response_format("diagnosis", diagnosis={"type": "string"})
REFUSES = re.compile(
    r"\bas an? (ai|(large )?language model)\b"
    r"|\bi(?:'m|’m| am)? ?(?:can(?:no|'|’)t|won(?:'|’)t|will not|unable to|not able to|must decline"
    r" to) (?:\w+ )?(?:assist|help|comply|engage|role-?play|play|provide|fulfil+)(?: you)?"
    r"(?: with| in)? (?:(?:this|that)(?=\W*$|[.!])|(?:(?:this|that|the|a|any|medical|such) )*"
    r"(?:request|role|part|scenario|advice|diagnosis|character)\b)",
    re.I,
)
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


OUT_OF_ROLE = {
    "doctor": re.compile(r"^\W*patient\W*:", re.I | re.M),
    "patient": re.compile(rf"^\W*doctor\W*:|{NO_PATIENT}", re.I | re.M),
}
# statements are compared with each other at every turn
normal = functools.lru_cache(maxsize=50_000)(checks.normal)


@dataclass
class Consultation:
    """A dialogue about a case (a row of CASE) under a configuration, with its diagnosis.

    most: turns at most; turns: [question, answer] after the opening, in which the patient states
    the chief complaint; keys: of every reply, in order; end: of ENDS, empty while it goes on; by:
    who broke off; why: why the reply that it broke off with is no answer, if it isn't; truncated:
    how many replies were cut short. diagnosis: what the doctor states at the end, empty if there is
    none. status: `graded` if there is one; else `error` if none was asked for, the reason why the
    reply holds no text, or the status of an unusable verdict.
    """

    case: object
    configuration: str
    levels: tuple
    doctor: str
    patient: str
    most: int = 20
    diagnosis: str = ""
    status: str = ""
    turns: list[list[str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    end: str = ""
    by: str = ""
    why: str = ""
    truncated: int = 0

    @property
    def item(self):
        return f"{self.case.item} {self.configuration}"

    def take(self, who, reply):
        """Take in a reply of the "doctor" or the "patient"; whether it is over with it."""
        self.keys.append(reply.key)
        self.truncated += reply.truncated
        self.why = reply.why
        return self.say(who, reply.text, _fault(reply))

    def say(self, who, text, fault=""):
        """Take in a statement; whether it is over with it. fault: the end that it is anyway."""
        asks, mark = who == "doctor", ""
        if asks:
            text, mark, _ = text.partition(END)
        text = text.strip()
        broken = fault or self._broken(who, text, ending=bool(mark))
        self.end, self.by = broken or "ended" * bool(mark), who if broken else ""
        if text and self.end != "ended":  # what it broke off with belongs to the dialogue
            self.turns = [*self.turns, [text, ""]] if asks else self.turns
            self.turns[-1][not asks] = text
        return bool(self.end)

    def _broken(self, who, text, ending):
        """The break-off that a statement is, or nothing. An ending needs no text."""
        if REFUSES.search(text):
            return "refused"
        if not normal(text):
            return "" if ending else "empty"
        words = normal(text).split()
        runs = Counter(zip(*(words[k:] for k in range(RUN_OF))))
        same = 1 + sum(normal(turn[who == "patient"]) == normal(text) for turn in self.turns)
        if runs and max(same, *runs.values()) >= TIMES:
            return "repeated"
        return "role" if OUT_OF_ROLE[who].search(text) else ""


def _fault(reply):
    """The end that a reply is whatever its text, or nothing."""
    if reply.error:
        return "failed"
    if reply.declined:
        return "refused"
    if reply.no_answer == NO_ANSWER["tool_calls"]:
        return "tools"
    return "cut off" if reply.no_answer and reply.finish == "length" else ""


def planned(
    cases: pd.DataFrame,
    configurations: Mapping[str, tuple],
    doctors: Iterable[str],
    patient: str,
    turns: int = 20,
) -> list[Consultation]:
    """A consultation for each case, configuration ({name: levels}) and doctor, with one patient."""
    return [
        Consultation(case, name, levels, doctor, patient, turns)
        for doctor in doctors
        for case in cases.itertuples()
        for name, levels in configurations.items()
    ]


async def hold(consultations, doctor, patient, diagnose, *, at_once=10_000):
    """Hold all consultations, each turn as soon as its predecessor is there; filled in place.

    doctor, patient, diagnose: async functions of a consultation that return a Reply. Those not
    broken off end with a diagnosis. A StopRun, or a request that replay lacks, ends all; the
    replies that came are recorded.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(c):
        async with gate:
            await talk(c)
            if c.end not in ENDED:
                c.status = "error"
                return
            reply = await diagnose(c)
            verdict = parsing.read(reply, stated, even_cut=True)  # an answer, judged as it stands
            c.keys.append(reply.key)
            c.truncated += reply.truncated
            c.diagnosis, c.status = verdict.value or "", reply.why or verdict.status

    async def talk(c):
        for _ in range(c.most):
            for who, says in (("doctor", doctor), ("patient", patient)):
                if c.take(who, await says(c)):
                    return
        c.end = "limit"

    tasks = [asyncio.ensure_future(one(c)) for c in consultations]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


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


def messages(turns, own):
    """What was said as a model's messages; `own` is its place (0 or 1) in each turn."""
    said = [(k, text) for turn in turns for k, text in enumerate(turn) if text]
    return [{"role": ("user", "assistant")[k == own], "content": text} for k, text in said]


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
    script = scripts[scripts["item"] == item].set_index("level")["script"]
    told = []
    for d, n in design.severities(levels).items():
        title, gate = (design.dimensions[d].get(k, "") for k in ("title", "gate"))
        gate = gate if n in levels and patient not in EARLIER else ""
        instruction = f"{design.levels[n]['instruction']} {gate}".strip()
        words = script.get(n, "") if n in levels else ""
        told.append({"title": title, "level": n, "instruction": instruction, "script": words})
    return told


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
        "said": "\n".join([c.case.complaint, *(answer for _, answer in c.turns if answer)]),
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
    done = checks.complete(done, ["end", "truncated"], ["by", "why", "reply_status"])
    whole, end = done["end"].isin(ENDED), done["end"].map(ENDS)
    why, status = (done[c].str.split(":").str[0] for c in ("why", "reply_status"))
    named = [
        end.where(whole, done["by"] + ": " + end),
        ("no answer: " + why)[why != ""],
        ("no diagnosis: " + status)[whole & (status != "")],
    ]
    hits = pd.get_dummies(pd.concat(named)).groupby(level=0).max()
    cut, right = done["truncated"] > 0, done["correct"].astype("boolean")
    about = done[["item", "unit", "model"]].assign(**{CUT: cut, UNCUT: right})
    shares = means(about.join(hits), {c: c for c in (*hits, CUT)}, "{metric}", "{model}")
    uncut = means(about[~cut & right.notna()], {UNCUT: UNCUT}, "{metric}", "{model}")
    return pd.concat([shares[(shares["value"] > 0) | (shares["row"] == CUT)], uncut])
