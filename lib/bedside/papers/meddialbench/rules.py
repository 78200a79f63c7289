"""MedDialBench without a model: a patient who follows the script and a doctor with a checklist.

A hundred lines that show what the behaviours do to information, for a doctor who believes
everything. The topics of the doctor's questions are in topics.toml beside this file. The doctor
knows only the diseases of the run's cases and the wrong diagnoses that their scripts point to, so
its accuracy says nothing about any model.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bedside.read import checks, paths

from .consultations import END, ENDED, Consultation, normal
from .design import Design

if TYPE_CHECKING:
    import pandas as pd

NAME = "rules"
ENOUGH = 5  # findings of one disease that settle the diagnosis
PATIENCE = 0.2  # the inquiry ends when this share of the turns brought nothing new
LEAST = 2  # findings that a diagnosis needs
UNKNOWN = "None: too little was said for one"
REST = "your symptoms"  # the topic of a statement that fits no other
# questions, used in turn, with a noun phrase of topics.toml; AGAIN: the second time
ASKS = (
    "What can you tell me about {}?",
    "And what about {}?",
    "Is there anything to say about {}?",
)
AGAIN = "May I come back to {}: is there anything that you left out?"
NOTHING = "Nothing comes to mind."  # short enough to be repeated
FEW = 2  # facts in an answer
ASIDE = "Where was I? Oh yes, the number {} bus was late."


def hold(consultations: list[Consultation], knowledge: Knowledge) -> list[Consultation]:
    """Hold consultations between rule-based doctor and patient; they are filled in place."""
    for c in consultations:
        doctor, patient = Doctor(knowledge, c.case.complaint), Patient(knowledge, c.case, c.levels)
        _talk(c, doctor, patient)
        c.diagnosis, c.status = (doctor.diagnosis(), "graded") if c.end in ENDED else ("", "error")
    return consultations


def _talk(c, doctor, patient):
    for _ in range(c.most):
        tired = doctor.in_vain >= c.most * PATIENCE
        if c.say("doctor", END if tired else doctor.next_question() or END):
            return
        answer = patient.answer(doctor.asked)
        doctor.hear(answer)
        if c.say("patient", answer):
            return
    c.end = "limit"


class Knowledge:
    """What the rules know about cases and scripts.

    diseases: {disease: its findings}, for the cases and for the wrong diagnoses of their scripts;
    presents: {disease: topic of its case's complaint}; topic: {statement: its topic}; scripts:
    {(case, level): (facts, false statements)}.
    """

    def __init__(self, design: Design, cases: pd.DataFrame, scripts: pd.DataFrame):
        found = paths.toml(Path(__file__).with_name("topics.toml"))
        self.words = {topic: set(words.split()) for topic, words in found.items()}
        self.diseases = {c.diagnosis: list(c.key_items) for c in cases.itertuples()}
        complaints = {c.item: self.about(c.complaint) for c in cases.itertuples()}
        self.presents = {c.diagnosis: complaints[c.item] for c in cases.itertuples()}
        for r in scripts[scripts["toward"] != ""].itertuples():
            self.diseases.setdefault(r.toward, list(r.false))
            self.presents.setdefault(r.toward, complaints.get(r.item, REST))
        self.scripts = {(r.item, r.level): (r.facts, r.false) for r in scripts.itertuples()}
        self.levels = {n: (design.pathway(n), design.levels[n]["severity"]) for n in design.levels}
        lists = [*self.diseases.values(), *cases["key_items"], *scripts["false"]]
        self.normal = checks.normals([s for statements in lists for s in statements])
        self.topic = {s: self.about(s) for s in self.normal}

    def about(self, statement: str) -> str:
        """The first topic of which the statement has a word."""
        said = set(checks.normal(statement).split())
        return next((topic for topic, words in self.words.items() if words & said), REST)


class Doctor:
    """Asks for findings of the likeliest disease with this complaint, until enough are heard."""

    def __init__(self, knowledge, complaint):
        self.know, self.asked, self.heard, self.in_vain = knowledge, [], set(), 0
        self.complaint, every = knowledge.about(complaint), knowledge.diseases
        alike = {d: f for d, f in every.items() if knowledge.presents[d] == self.complaint}
        self.diseases = alike or every

    def hear(self, text):
        said, known = normal(text), {f for findings in self.diseases.values() for f in findings}
        new = {f for f in known - self.heard if self.know.normal[f] in said}
        self.heard |= new
        self.in_vain += not new

    def evidence(self, disease):
        """How many findings of a disease have been heard."""
        return sum(f in self.heard for f in self.diseases[disease])

    def leading(self):
        """Diseases, the best one first, by findings heard minus findings asked for in vain."""

        def score(disease):
            silent = (f for f in self.diseases[disease] if f not in self.heard)
            vain = sum(self.know.topic[f] in self.asked for f in silent)
            return self.evidence(disease) - vain

        return sorted(self.diseases, key=score, reverse=True)

    def diagnosis(self):
        """The leading disease, if LEAST of its findings were heard."""
        best = self.leading()[0]
        return best if self.evidence(best) >= LEAST else UNKNOWN

    def next_question(self):
        """The next question, counted as asked; empty if enough was heard or all was asked twice."""
        times, diseases = Counter(self.asked), self.leading()
        topics = [
            self.know.topic[f] for d in diseases for f in self.diseases[d] if f not in self.heard
        ]
        left = [t for again in (0, 1) for t in (self.complaint, *topics) if times[t] == again]
        if not left or max(map(self.evidence, diseases)) >= ENOUGH:
            return ""
        form = AGAIN if times[left[0]] else ASKS[len(self.asked) % len(ASKS)]
        self.asked.append(left[0])
        return form.format(left[0])


class Patient:
    """Answers questions as the scripts of the active levels demand."""

    def __init__(self, knowledge, case, levels):
        self.know, self.items = knowledge, case.key_items
        self.kept, self.hidden, self.told, self.lies, self.asides = {}, set(), set(), [], 0
        for level in levels:
            pathway, severity = knowledge.levels[level]
            # a level of your own may have no script
            facts, false = knowledge.scripts.get((case.item, level), ([], []))
            touched = {case.key_items[n - 1] for n in facts}
            if pathway == "deficit":  # disclosed when asked again
                self.kept |= {f: max(severity, self.kept.get(f, 0)) for f in touched}
            elif pathway == "pollution":
                self.hidden |= touched if severity > 1 else set()
                self.lies += false if severity > 1 else false[:1]
            elif (case.item, level) in knowledge.scripts:
                self.asides += 1

    def answer(self, asked):
        """Untold facts on the last topic; untold false statements: the first, and all on it."""
        last, turn, times = asked[-1], len(asked), asked.count(asked[-1])
        said = [ASIDE.format(turn)] * self.asides
        mine = [f for f in self.items if self.know.topic[f] == last and f not in self.hidden]
        open_ = [f for f in mine if times > self.kept.get(f, 0)]
        said += [f for f in open_ if f not in self.told][:FEW]
        lies = [lie for lie in self.lies if lie not in self.told]
        said += [lie for lie in lies if lie == lies[0] or self.know.topic[lie] == last]
        self.told |= set(said)
        return " ".join(f"{s.rstrip('.')}." for s in said) or NOTHING
