"""Tasks 1.1 to 1.3: three patients are answered, their questions read, eight answers graded."""

import re

from bedside.checks import normal
from bedside.papers.cancer_myth.study import GRADES
from bedside.seminar import Wrong, fields, needs, shown, task
from bedside.seminar.cancer_myth.material import FIRST, Material

SAYS = {1: "takes up what sets it right", 0: "takes up a part of it", -1: "does not take it up"}
REFERS = re.compile(r"\b(doctor|physician|oncolog|specialist|nurse|team|clinic|professional)", re.I)
STOP = set(
    "the and that this with from have has had for not are was were will must him his her hers she"
    " they them their you your its our who what when which there then than because can could may"
    " might does did about into out but all any one also too".split()
)


def stems(text):
    """The words of a text that carry meaning, cut to five letters."""
    return {w[:5] for w in normal(text).split() if len(w) > 2 and w not in STOP}


def words(text):
    """All words of a text."""
    return set(normal(text).split())


class Patients(Material):
    """Answers to patients, what their questions take for granted, and grades."""

    def _judged(self, texts):
        """The judge's grade of each text as answer to the patient's question."""
        frame = self.questions.loc[[FIRST[k] for k in texts], ["question", "correction"]]
        frame = frame.assign(answer=[str(t) for t in texts.values()])
        return dict(zip(texts, self.lexical.grade(frame)))

    @task(
        "1.1", 'Write {"A": "...", "B": "...", "C": "..."}, two or three sentences to each patient.'
    )
    def answers(self, given):
        """Task 1.1: answers that are the student's own, and more than a referral."""
        texts = dict(zip(FIRST, fields(given, FIRST)))
        grades = self._judged(texts)
        for k, text in texts.items():
            if words(text) <= words(self.questions.loc[FIRST[k], "question"]):
                raise Wrong(
                    f"{k}: these are the patient's own words. Repeating a question does not answer"
                    " it."
                )
            if len(text.split()) < 8:
                raise Wrong(f"{k}: write two or three sentences, as you would to the patient.")
            if grades[k] == -1 and REFERS.search(text) and len(text.split()) < 20:
                raise Wrong(
                    f"{k}: this only sends the patient to somebody else. That may be wise, but"
                    " until then the patient goes home with what was taken for granted. What would"
                    " you say yourself?"
                )
        if len({normal(t) for t in texts.values()}) < len(texts):
            raise Wrong(
                "the same answer to several patients: each question takes something else for"
                " granted."
            )
        found = "; ".join(f"{k} {SAYS[g]}" for k, g in grades.items())
        return (
            f"handed in. The judge thinks: {found}. This judge only counts words and is often"
            " wrong: leave your answers as they are, read what was meant in task 1.2, and decide"
            " yourself."
        )

    @task(
        "1.2",
        'Write {"A": "that ...", "B": "that ...", "C": "that ..."}: what each patient takes for'
        " granted.",
    )
    def presuppositions(self, given):
        """Task 1.2: the beliefs behind the three questions, held against what was meant."""
        for k, text in zip(FIRST, fields(given, FIRST)):
            r = self.questions.loc[FIRST[k]]
            if text.strip().endswith("?"):
                raise Wrong(
                    f"{k}: this is what the patient asks. Write what must be true for that question"
                    " to make sense."
                )
            mine, meant = stems(text), stems(r["presupposition"])
            corrects = stems(r["correction"])
            new = corrects - meant - stems(r["question"])
            if len(mine & new) > 2 and len(mine & meant) < 4:
                raise Wrong(
                    f"{k}: this sounds like what sets the matter right. Write the belief itself, as"
                    " the patient would say it."
                )
            if len(mine & (meant | corrects)) < 2:
                raise Wrong(
                    f"{k}: these words share little with what was meant. Many facts in the question"
                    " are true. Look for the one that nobody has told the patient, and without"
                    " which the question would not be asked."
                )
        return (
            "your words fit what was meant (words were counted, so compare them yourself below). A"
            " test from linguistics: negate the question. “I don't need to know which aid is"
            " easiest” still takes the loss for granted. That is why presuppositions slip through."
        )

    @needs("1.1", "1.2")
    def reveal(self, answers, presuppositions):
        """What was meant, beside the student's texts and the judge's grade."""
        frame, grades = self.questions.loc[list(FIRST.values())], self._judged(answers)
        both = frame.assign(
            patient=list(FIRST),
            yours=[presuppositions[k] for k in FIRST],
            answer=[answers[k] for k in FIRST],
            judge=[grades[k] for k in FIRST],
            source=[f"{s['organisation']}: {s['title']}" for s in frame["source"]],
        )
        columns = ["patient", "presupposition", "yours", "correction", "source", "answer", "judge"]
        return shown(both[columns])

    @task("1.3", 'Write {"a": -1, "b": 0, ...} for a to h; the grades are -1, 0 and 1.')
    def grades(self, given):
        """Task 1.3: grades of eight answers, near those of their authors."""
        letters, truth = self.eight["letter"], self.eight["label"].tolist()
        mine = fields(given, letters)
        if any(isinstance(g, bool) or g not in GRADES for g in mine):
            raise Wrong(
                "the grades are −1 (unaware), 0 (aware but incomplete) and 1 (corrected), and no"
                " others: not 0 to 100, not yes and no."
            )
        if len(set(mine)) == 1:
            raise Wrong(
                "one grade for all. A rater who never varies tells us nothing: kappa would be 0."
                " Compare the clearest with the poorest answer."
            )
        if mine == [1 if t == "warm" else -1 for t in self.eight["tone"]]:
            raise Wrong(
                "you seem to grade the tone. A warm answer can leave a dangerous belief standing; a"
                " brisk one can correct it."
            )
        same, turned = (sum(s * a == b for a, b in zip(mine, truth)) for s in (1, -1))
        far = [k for k, a, b in zip(letters, mine, truth) if abs(a - b) == 2]
        if turned > same and len(far) > 2:
            raise Wrong(
                "is your scale turned around? 1 is for an answer that sets the false presupposition"
                " right, −1 for one that doesn't notice it."
            )
        if far:
            raise Wrong(
                f"{same} of 8 as the authors, but far from them at {', '.join(far)}. Ask only this:"
                " after reading the answer, would the patient still believe it? Help, length and"
                " kindness don't count."
            )
        if same < 5:
            hint = (
                "Between 0 and its neighbours: does the answer say what is right, or only that"
                " something may be?"
                if 0 in mine
                else "You never gave a 0: an answer that casts doubt but doesn't say what is right"
                " is aware and incomplete."
            )
            raise Wrong(f"{same} of 8 as the authors. {hint}")
        return (
            f"{same} of 8 as the authors, none far off. Their grades are no truth either: where you"
            " differ, write down why before you read on."
        )
