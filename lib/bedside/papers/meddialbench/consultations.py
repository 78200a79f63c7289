"""MedDialBench: consultations (sections 3.2 and 3.4): a doctor asks, a patient answers, until an end that has a name.

    speakers = by_models(run, one, design, scripts, ...)
    await hold(consultations, *speakers)

A consultation is data. Doctor and patient are functions of the consultation so far that give a Reply: a model of the
registry, or plain Python. Every reply of a model is recorded, so that a run cut off anywhere goes on in the middle.
"""

import asyncio
import functools
import re
from collections import Counter
from dataclasses import dataclass, field

from bedside import checks, judges, models
from bedside.models import requests_to, response_format
from bedside.papers.meddialbench.data import blocks

normal = functools.lru_cache(maxsize=50_000)(
    checks.normal
)  # statements are held against each other at every turn
END = "[END_INQUIRY]"
ENDS = {
    "ended": "the doctor ended it",
    "limit": "turns used up",
    "refused": "refused to go on",
    "empty": "said nothing",
    "repeated": "endless repetition",
    "role": "took the other's part",
    "failed": "call failed",
}
ENDED = ("ended", "limit")  # the others are break-offs: no diagnosis is asked for
OPENING = "What brings you here today?"
TOKENS, DIAGNOSIS = 64, response_format("diagnosis", diagnosis={"type": "string"})
RUN_OF, TIMES = (
    5,
    3,
)  # so many words in a row so often in one statement, or as a whole statement, are endless repetition
REFUSES = re.compile(
    r"\bas an? (ai|(large )?language model)\b|\bi(?:'m|’m| am)? ?(?:can(?:no|'|’)t|won(?:'|’)t|will"
    r" not|unable to|not able to|must decline to)"
    r" (?:\w+ )?(?:assist|help|comply|engage|role-?play|play|provide|fulfil+)(?: you)?(?: with|"
    r" in)?"
    r" (?:(?:this|that)(?=\W*$|[.!])|(?:(?:this|that|the|a|any|medical|such)"
    r" )*(?:request|role|part|scenario|advice|diagnosis|character)\b)",
    re.I,
)
HELPS = re.compile(
    r"\bhow (?:can|may) i (?:help|assist)|\bi(?:'|’| a)m here to"
    r" (?:help|assist|listen|support)|\bi(?:'|’| a)m (?:a|your) doctor|"
    r"\byour (?:symptoms?|health|pain|condition|medical history)\b",
    re.I,
)
ASKS = re.compile(
    r"\b(?:have you (?:had|been|noticed|taken|ever)|do you (?:feel|smoke|drink|take|experience)|do"
    r" you have (?:a|any|other) (?!idea|clue|question|time)|"
    r"are you (?:taking|experiencing|having|feeling)|how long have you|when did you|where does it"
    r" hurt)\b[^?]*\?",
    re.I,
)
SELF = re.compile(r"\b(?:i|my|me|mine|we|our)\b", re.I)


@dataclass
class Consultation:
    """One dialogue: its case (a row of CASE), configuration with its levels, doctor, patient and most turns, and what came of it.

    turns: [question, answer] pairs after the opening, in which the patient states the chief complaint. keys: of every
    reply in order. end: of ENDS, empty while it goes on; by: who broke off. diagnosis: what the doctor says at the end,
    empty where none came; status: as of a verdict, `error` where none was asked for or came.
    """

    case: object
    configuration: str
    levels: tuple
    doctor: str
    patient: str
    most: int
    turns: list = field(default_factory=list)
    keys: list = field(default_factory=list)
    end: str = ""
    by: str = ""
    diagnosis: str = ""
    status: str = ""
    truncated: int = 0

    @property
    def item(self):
        return f"{self.case.item} {self.configuration}"

    def statements(self):
        """All that the patient said, the complaint first."""
        return [self.case.complaint, *(answer for _, answer in self.turns if answer)]


def planned(cases, configurations, doctors, patient, turns=20):
    """A consultation of `turns` turns at most for each case, configuration ({name: levels}) and doctor, all with one patient."""
    return [
        Consultation(case, name, levels, doctor, patient, turns)
        for doctor in doctors
        for case in cases.itertuples()
        for name, levels in configurations.items()
    ]


async def hold(consultations, doctor, patient, diagnose, *, at_once=10_000):
    """Hold all consultations, each turn as soon as its predecessor is there, `at_once` dialogues at most; they are filled in place.

    doctor, patient, diagnose: async functions of a consultation that give a Reply. A StopRun, or a request that replay
    lacks, ends all; the replies that came are recorded.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(c):
        async with gate:
            await _inquiry(c, doctor, patient)
            if c.end in ENDED:
                reply = await diagnose(c)
                v = judges.read(reply, stated)
                c.keys.append(reply.key)
                c.diagnosis, c.status = v.value or "", v.status
            else:
                c.status = "error"

    with models.unwrapped():
        async with asyncio.TaskGroup() as tasks:
            for c in consultations:
                tasks.create_task(one(c))
    return consultations


async def _inquiry(c, doctor, patient):
    """Phase one: questions and answers until one of ENDS."""
    for _ in range(c.most):
        said = await doctor(c)
        text, mark, _ = said.text.partition(END)
        if _broken(c, said, text, "doctor", bool(mark)):
            return
        if mark:
            c.end = "ended"
            return
        c.turns.append([said.text.strip(), ""])
        if _broken(c, reply := await patient(c), reply.text, "patient"):
            return
        c.turns[-1][1] = reply.text.strip()
    c.end = "limit"


def _broken(c, reply, text, speaker, ending=False):
    """Take a reply's key in; set end and by if the dialogue breaks off with it. An ending needs no text."""
    c.keys.append(reply.key)
    c.truncated += reply.truncated
    before = [t[speaker == "patient"] for t in c.turns]
    if reply.error:
        c.end = "failed"
    elif reply.refusal or reply.finish == "content_filter" or REFUSES.search(text):
        c.end = "refused"
    elif not normal(text):
        c.end = "" if ending else "empty"
    elif repeats(text, before):
        c.end = "repeated"
    elif out_of_role(text, speaker):
        c.end = "role"
    c.by = speaker if c.end else ""
    if c.end and text.strip():  # what it broke off with belongs to the dialogue
        if speaker == "doctor":
            c.turns.append([text.strip(), ""])
        else:
            c.turns[-1][1] = text.strip()
    return bool(c.end)


def repeats(text, before):
    """Endless repetition: a statement of five words or more for the third time, or five words three times within one."""
    words = normal(text).split()
    runs = Counter(zip(*(words[k:] for k in range(RUN_OF))))
    return bool(runs) and (
        max(runs.values()) >= TIMES or sum(normal(t) == normal(text) for t in before) >= TIMES - 1
    )


def out_of_role(text, speaker):
    """Whether a speaker takes the other's part: writes the other's lines, or as a patient ends the inquiry, offers help or takes a history.

    A patient may ask back; one who asks what a doctor asks, without a word about himself, doesn't play the patient.
    """
    other = "patient" if speaker == "doctor" else "doctor"
    if re.search(rf"^\W*{other}\W*:", text, re.I | re.M):
        return True
    return speaker == "patient" and bool(
        END in text or HELPS.search(text) or ASKS.search(text) and not SELF.search(text)
    )


def stated(text):
    """The diagnosis in a reply: member of a JSON object, also a cut one, or else the text itself; None if there is none."""
    found = judges.member(text, "diagnosis")
    if found is None and not text.lstrip().startswith("{") and not judges.REFUSALS.match(text):
        found = text.strip()
    return found if found and re.search(r"\w", found) else None


def by_models(run, one, design, texts, max_tokens, temperature):
    """Doctor, patient and diagnosis (for `hold`) by models of the registry, each consultation naming its own.

    `one` answers a request (`Run.asking`). A model's most_tokens, and most_tokens_turn in a dialogue, shorten it. The
    patient's prompt has profile, an instruction block for every dimension and the pacing rules (section 3.2).
    """
    prompts = {}  # rendered once: a patient's for a case and configuration, a doctor's for a case

    def prompt(key, make):
        if key not in prompts:
            prompts[key] = make()
        return list(prompts[key])

    def request(c, model, talk, tokens, form=None):
        most = min(tokens, models.model(model).get("most_tokens_turn", tokens))
        (made,) = requests_to(run, {c.item: talk}, most, [model], temperature, response_format=form)
        return made

    def doctors_side(c):
        talk = prompt(
            c.case.item, lambda: run.prompt("doctor", complaint=c.case.complaint, mark=END)
        )
        for question, answer in c.turns:
            talk += [
                {"role": "assistant", "content": question},
                {"role": "user", "content": answer},
            ]
        return talk

    async def doctor(c):
        return await one(request(c, c.doctor, doctors_side(c), max_tokens))

    async def patient(c):
        talk = prompt(
            (c.case.item, c.configuration),
            lambda: run.prompt(
                "patient",
                case=c.case._asdict(),
                opening=OPENING,
                blocks=blocks(design, texts, c.case.item, c.levels),
            ),
        )
        talk.append({"role": "assistant", "content": c.case.complaint})
        for question, answer in c.turns:
            talk.append({"role": "user", "content": question})
            talk += [{"role": "assistant", "content": answer}] * bool(answer)
        return await one(request(c, c.patient, talk, max_tokens))

    async def diagnose(c):
        talk = doctors_side(c)
        (final,) = prompt("", lambda: run.prompt("diagnose"))
        talk[-1] = {"role": "user", "content": f"{talk[-1]['content']}\n\n{final['content']}"}
        return await one(request(c, c.doctor, talk, TOKENS, DIAGNOSIS))

    return doctor, patient, diagnose


def frame(consultations):
    """Consultations as a frame, a row each, with an `item` of its own; `case` is the case's.

    Columns: item, case, configuration, levels, model (the doctor), patient, end, by, turns, truncated, said (the
    patient's words), dialogue (all of them), truth, names (of it), key_items, diagnosis, reply_status (empty where there
    is a diagnosis, else why not).
    """
    import pandas as pd

    rows = [
        (
            f"{c.item} {c.doctor}",
            c.case.item,
            c.configuration,
            c.levels,
            c.doctor,
            c.patient,
            c.end,
            c.by,
            len(c.turns),
            c.truncated,
            "\n".join(c.statements()),
            transcript(c),
            c.case.diagnosis,
            [c.case.diagnosis, *c.case.accepted],
            c.case.key_items,
            c.diagnosis,
            "" if c.status == "graded" else c.status if c.end in ENDED else f"{c.end}, {c.by}",
        )
        for c in consultations
    ]
    return pd.DataFrame(
        rows,
        columns=[
            "item",
            "case",
            "configuration",
            "levels",
            "model",
            "patient",
            "end",
            "by",
            "turns",
            "truncated",
            "said",
            "dialogue",
            "truth",
            "names",
            "key_items",
            "diagnosis",
            "reply_status",
        ],
    )


def transcript(c):
    """A consultation as text, a line for each speaker's turn."""
    lines = [("Doctor", OPENING), ("Patient", c.case.complaint)] + [
        x for q, a in c.turns for x in (("Doctor", q), ("Patient", a)) if x[1]
    ]
    return "\n".join(f"{who}: {' '.join(text.split())}" for who, text in lines)
