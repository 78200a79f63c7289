"""MedDialBench without a model: a patient who keeps to his script, a doctor with a checklist.

A hundred lines that can be read: what the behaviours do to information, seen through a doctor who
believes everything. What he can ask about stands in topics.toml beside this file. He knows only the
diseases of the run's cases, and the wrong diagnoses that their scripts point to; so his accuracy
says nothing about any model.
"""

import tomllib
from collections import Counter
from pathlib import Path

from bedside import checks
from bedside.dialogues import ENDED, normal, recite

from .consultations import END

NAME = "rules"
ENOUGH = 5  # findings of one disease that settle it
PATIENCE = 0.2  # share of the turns that may bring nothing new; then the inquiry ends
LEAST = 2  # findings without which no diagnosis is stated
UNKNOWN = "None: too little was said for one"
REST = "your symptoms"  # where no other topic has a word of a statement
# the first, the others in turn, and once more; with a noun phrase of topics.toml
ASKS = (
    "What can you tell me about {}?",
    "And what about {}?",
    "Is there anything to say about {}?",
)
AGAIN = "May I come back to {}: is there anything that you left out?"
NOTHING = "Nothing comes to mind."  # so short that it may be said again
ASIDE = "Where was I? Oh yes, the number {} bus was late."


def hold(consultations, knowledge):
    """Hold consultations of doctor and patient by the rules; they are filled in place."""
    for c in consultations:
        doctor = Doctor(knowledge, c.case.complaint)
        recite(c, conversation(doctor, Patient(knowledge, c.case, c.levels), c.most))
        c.diagnosis, c.status = (doctor.diagnosis(), "graded") if c.end in ENDED else ("", "error")
    return consultations


def conversation(doctor, patient, most):
    """Questions and answers in turn, `most` of each, until the doctor has no more to ask."""
    said = []
    for _ in range(most):
        if doctor.in_vain >= most * PATIENCE or not (question := doctor.next_question()):
            return [*said, END]
        answer = patient.answer(doctor.asked)
        doctor.hear(answer)
        said += [question, answer]
    return said


class Knowledge:
    """What the rules know of cases and scripts.

    diseases: {disease: its findings}, of the cases and of the wrong diagnoses of their scripts;
    presents: {disease: topic of its case's complaint}; topic: {statement: its topic}; scripts:
    {(case, level): (facts, false statements)}.
    """

    def __init__(self, design, cases, scripts):
        found = tomllib.loads(Path(__file__).with_name("topics.toml").read_text("utf-8"))
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
        statements = [s for mine in lists for s in mine]
        self.normal = checks.normals(statements)
        self.topic = {s: self.about(s) for s in statements}

    def about(self, statement):
        """The first topic of which a statement has a word."""
        said = set(checks.normal(statement).split())
        return next((topic for topic, words in self.words.items() if words & said), REST)


class Doctor:
    """Asks for the findings of the likeliest disease that begins so, until enough are heard."""

    def __init__(self, knowledge, complaint):
        self.know, self.asked, self.heard, self.in_vain = knowledge, [], set(), 0
        self.complaint = knowledge.about(complaint)
        known = {
            d: f for d, f in knowledge.diseases.items() if knowledge.presents[d] == self.complaint
        }
        self.diseases = known or knowledge.diseases

    def hear(self, text):
        said = normal(text)
        mine = {f for findings in self.diseases.values() for f in findings}
        new = {f for f in mine - self.heard if self.know.normal[f] in said}
        self.heard |= new
        self.in_vain += not new

    def evidence(self, disease):
        """The findings of a disease that were heard."""
        return [f for f in self.diseases[disease] if f in self.heard]

    def leading(self):
        """Diseases, the best one first, by findings heard less findings asked for in vain."""

        def score(disease):
            silent = [f for f in self.diseases[disease] if f not in self.heard]
            vain = sum(self.know.topic[f] in self.asked for f in silent)
            return len(self.evidence(disease)) - vain

        return sorted(self.diseases, key=score, reverse=True)

    def diagnosis(self):
        """The leading disease, if something was heard of it."""
        best = self.leading()[0]
        return best if len(self.evidence(best)) >= LEAST else UNKNOWN

    def next_question(self):
        """What to ask next, counted as asked; nothing where enough is heard, or all asked twice."""
        times, diseases = Counter(self.asked), self.leading()
        if any(len(self.evidence(d)) >= ENOUGH for d in diseases):
            return ""
        open_ = [f for d in diseases for f in self.diseases[d] if f not in self.heard]
        topics = [self.complaint, *(self.know.topic[f] for f in open_)]
        left = [t for again in (0, 1) for t in topics if times[t] == again]
        self.asked += left[:1]
        if not left:
            return ""
        form = AGAIN if times[left[0]] else ASKS[(len(self.asked) - 1) % len(ASKS)]
        return form.format(left[0])


class Patient:
    """Answers what he is asked about, as his levels' scripts want it."""

    def __init__(self, knowledge, case, levels):
        self.know, self.items = knowledge, case.key_items
        self.kept, self.hidden, self.told, self.lies, self.asides = {}, set(), set(), [], 0
        for level in levels:
            if (case.item, level) in knowledge.scripts:  # a level of one's own may have none
                facts, false = knowledge.scripts[case.item, level]
                self._follow(
                    *knowledge.levels[level], [case.key_items[n - 1] for n in facts], false
                )

    def _follow(self, pathway, severity, touched, false):
        if pathway == "deficit":  # tells when asked once more
            self.kept |= {f: max(severity, self.kept.get(f, 0)) for f in touched}
        elif pathway == "pollution":
            self.hidden |= set(touched) if severity > 1 else set()
            self.lies += false if severity > 1 else false[:1]
        elif pathway == "friction":
            self.asides += 1

    def answer(self, asked):
        """The answer to the last of the topics asked about so far, with a lie a turn as long."""
        last, turn, times = asked[-1], len(asked), asked.count(asked[-1])
        said = [ASIDE.format(turn)] * self.asides
        for fact in self.items:
            told = self.know.topic[fact] == last and fact not in self.hidden
            said += [fact] * (told and times > self.kept.get(fact, 0))
        due = next((lie for lie in self.lies if lie not in self.told), None)
        said += (lies := [x for x in self.lies if x == due or self.know.topic[x] == last])
        self.told |= set(lies)
        return " ".join(f"{s.rstrip('.')}." for s in said) or NOTHING
