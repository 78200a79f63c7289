"""MedDialBench without a model: a patient who keeps to his script, a doctor with a checklist.

A hundred lines that can be read: what the behaviours do to information, seen through a doctor who
believes everything. The doctor knows only the diseases of the run's cases, and the wrong diagnoses
that their scripts point to; so his accuracy says nothing about any model.
"""

from collections import Counter

from bedside import checks
from bedside.dialogues import ENDED, normal, recite

from .consultations import END
from .words import told

NAME = "rules"
ENOUGH = 5  # findings of one disease that settle it
NOTHING = "No, nothing like that."
ASIDE = "Where was I, the number {} bus was late."


def hold(consultations, knowledge):
    """Hold consultations of doctor and patient by the rules; they are filled in place."""
    for c in consultations:
        doctor, patient = Doctor(knowledge), Patient(knowledge, c.case, c.levels)
        statements = conversation(doctor, patient, c.case.complaint, c.most)
        recite(c, statements)
        over = c.end in ENDED
        c.diagnosis, c.status = (doctor.leading()[0], "graded") if over else ("", "error")
    return consultations


def conversation(doctor, patient, complaint, most):
    """Questions and answers in turn, `most` of each, until the doctor has no more to ask."""
    said = []
    doctor.hear(complaint)
    for _ in range(most):
        if not (question := doctor.next_question()):
            return [*said, END]
        answer = patient.answer(doctor.asked)
        doctor.hear(answer)
        said += [question, answer]
    return said


class Knowledge:
    """What the rules know of cases and scripts.

    diseases: {disease: its findings}, of the cases and of the wrong diagnoses of their scripts;
    question: {finding: it as a question}; told: {text: its telling words}; scripts: {(case, level):
    (facts, false statements)}.
    """

    def __init__(self, design, cases, scripts):
        self.diseases = {c.diagnosis: list(c.key_items) for c in cases.itertuples()}
        for r in scripts[scripts["toward"] != ""].itertuples():
            self.diseases.setdefault(r.toward, list(r.false))
        self.scripts = {(r.item, r.level): (r.facts, r.false) for r in scripts.itertuples()}
        self.levels = {n: (design.pathway(n), design.levels[n]["severity"]) for n in design.levels}
        lists = [*self.diseases.values(), *cases["key_items"], *scripts["false"]]
        findings = [f for findings in lists for f in findings]
        self.normal = checks.normals(findings)
        self.question = _questions(self.normal)
        self.told = told([*findings, *self.question.values()])


def _questions(normals):
    """{finding: its telling words as a question}."""
    words = told({w for n in normals.values() for w in n.split()})
    tells = {f: " ".join(w for w in n.split() if words[w]) for f, n in normals.items()}
    return {f: f"Is there anything about {w}?" for f, w in tells.items()}


class Doctor:
    """Asks for the findings of the likeliest disease, until enough of one are heard."""

    def __init__(self, knowledge):
        self.know, self.asked, self.heard = knowledge, [], set()

    def hear(self, text):
        said = normal(text)
        diseases = self.know.diseases.values()
        self.heard |= {f for mine in diseases for f in mine if self.know.normal[f] in said}

    def leading(self):
        """Diseases, the best one first, by findings heard less findings asked for in vain."""
        question, asked = self.know.question, set(self.asked)

        def score(disease):
            findings = self.know.diseases[disease]
            heard = sum(f in self.heard for f in findings)
            return heard - sum(f not in self.heard and question[f] in asked for f in findings)

        return sorted(self.know.diseases, key=score, reverse=True)

    def next_question(self):
        """What to ask next, counted as asked; nothing where enough is heard, or all asked twice."""
        known, times, diseases = self.know.diseases, Counter(self.asked), self.leading()
        if sum(f in self.heard for f in known[diseases[0]]) >= ENOUGH:
            return ""
        open_ = [self.know.question[f] for d in diseases for f in known[d] if f not in self.heard]
        left = [q for again in (0, 1) for q in open_ if times[q] == again]
        self.asked += left[:1]
        return left[0] if left else ""


class Patient:
    """Answers what is nearest to a question, as his levels' scripts want it."""

    def __init__(self, knowledge, case, levels):
        self.know, self.items = knowledge, case.key_items
        self.kept, self.hidden, self.lies, self.asides = {}, set(), [], 0
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
        """The answer to the last of the questions asked so far."""
        last, turn = asked[-1], len(asked)
        words = self.know.told[last]
        near = max(self.items, key=lambda f: len(self.know.told[f] & words))
        said = [ASIDE.format(turn)] * self.asides
        if self._meant(near, words) and near not in self.hidden:
            said += [near] * (asked.count(last) > self.kept.get(near, 0))
        due = self.lies[turn - 1] if turn <= len(self.lies) else None
        said += [lie for lie in self.lies if lie == due or self._meant(lie, words)]
        return " ".join(f"{s.rstrip('.')}." for s in said) or NOTHING

    def _meant(self, finding, words):
        """Whether a question's words are half of a finding's words that tell, or more."""
        mine = self.know.told[finding]
        return len(mine & words) >= max(1, len(mine) / 2)
