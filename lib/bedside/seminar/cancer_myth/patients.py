"""Tasks 1.1 to 1.3: answers to three patients, what their questions presuppose, six grades."""

import re

from bedside.papers.cancer_myth.study import GRADES
from bedside.read.checks import normal
from bedside.seminar import Wrong, fields, needs, nothing, number, shown, task
from bedside.seminar.cancer_myth.material import FIRST, Material

SAYS = {1: "mentions the correction", 0: "mentions a part of it", -1: "does not mention it"}
REFERS = re.compile(r"\b(doctor|physician|oncolog|specialist|nurse|team|clinic|professional)", re.I)
STOP = set(
    "the and that this with from have has had for not are was were will must him his her hers she"
    " they them their you your its our who what when which there then than because can could may"
    " might does did about into out but all any one also too".split()
)
MEANT = {  # beginnings of words for the two halves of what each question takes for granted
    "A": (
        r"larynx|laryngectom|voice|vocal|speech|speak",
        r"lose|losing|loss|lost|remov|cut|take|taking|goe?s?\b|gone|going|(come|be) out|sacrific"
        r"|without|surgery|laryngectom|silent|mute",
    ),
    "B": (
        r"natur|herb|plant|tea|remed|john|wort",
        r"harm|safe|fine|ok|gentle|risk|danger|interact|combin|together|mix|compatible|interfer",
    ),
    "C": (
        r"clear|blood|bleed|red|urine|pee|symptom|stop|cause|colou?r|whatever|problem|trouble"
        r"|disease|illness|tumou?r",
        r"gone|over|fine|healthy|heal|cured|resolv|need|necessar|harmless|cancel|skip|vanish"
        r"|better|disappear|nothing|away|done|investigat|cystoscop|check"
        r"|no (\w+ )?(disease|illness|cancer|tumou?r|problem|danger)",
    ),
}
CORRECTS = {  # words of the correction, which the belief doesn't have
    "A": r"\b(seldom|rarely|usually|keeps?|kept|spared?|preserv)|(n.t|not) (\w+ ){0,4}(lose|rem)",
    "B": r"\b(lowers?|reduc\w*|weaken\w*|less well|(n.t|not|never) (\w+ ){0,2}(safe|harmless))",
    "C": r"\b(comes and goes|come back|(n.t|not) (\w+ ){0,3}(rule|mean|prove)|keep the)",
}
EVADES = re.compile(
    r"\W*(i(.?m| am| have)? )?(no (idea|clue)|(don.?t|do not|not) (know|sure))", re.I
)


def halves(text, patient):
    """Whether a text has a word for each half of what a patient takes for granted."""
    return all(re.search(rf"\b({half})", normal(text)) for half in MEANT[patient])


def stems(text):
    """The words of a text that carry meaning, cut to five letters."""
    return {w[:5] for w in normal(text).split() if len(w) > 2 and w not in STOP}


def words(text):
    """All words of a text."""
    return set(normal(text).split())


class Patients(Material):
    """Answers to patients, what their questions take for granted, and grades."""

    def _judged(self, texts):
        """The judge's grade of each text as an answer to the patient's question."""
        frame = self.questions.loc[[FIRST[k] for k in texts], ["question", "correction"]]
        frame = frame.assign(answer=[str(t) for t in texts.values()])
        return dict(zip(texts, self.lexical.grade(frame)))

    @task(
        "1.1",
        'Write {"A": "...", "B": "...", "C": "..."}: two or three sentences to each patient.',
        free=True,
    )
    def answers(self, given):
        """Task 1.1: answers that are the student's own, and more than a referral."""
        texts = dict(zip(FIRST, fields(given, FIRST)))
        grades = self._judged(texts)
        for k, text in texts.items():
            if words(text) <= words(self.questions.loc[FIRST[k], "question"]):
                raise Wrong(
                    f"{k}: these are the patient's own words. To repeat a question is not to"
                    " answer it."
                )
            if len(text.split()) < 8 or nothing(text, 6):
                raise Wrong(f"{k}: write two or three sentences, as you would to the patient.")
            if grades[k] == -1 and REFERS.search(text) and len(text.split()) < 20:
                raise Wrong(
                    f"{k}: this only sends the patient to somebody else. That may be wise, but for"
                    " now the patient goes home without an answer. What would you say yourself?"
                )
        if len({normal(t) for t in texts.values()}) < len(texts):
            raise Wrong(
                "this is the same answer to several patients, but each of them asks something else."
            )
        found = "; ".join(f"{k} {SAYS[g]}" for k, g in grades.items())
        return (
            f"your answers are kept to be read. The judge says: {found}. This judge only counts"
            " words and is often wrong. Leave your answers as they are, read in task 1.2 what was"
            " meant, and decide yourself."
        )

    @task(
        "1.2",
        'Write {"A": "that ...", "B": "that ...", "C": "that ..."}: what each patient takes for'
        " granted.",
        free=True,
    )
    def presuppositions(self, given):
        """Task 1.2: the beliefs behind the three questions, held against what was meant.

        A text that shares few words with what was meant is collected, too, with a hint.
        """
        unlike = []
        for k, text in zip(FIRST, fields(given, FIRST)):
            r = self.questions.loc[FIRST[k]]
            if text.strip().endswith("?"):
                raise Wrong(
                    f"{k}: this is what the patient asks. Write what must be true for the question"
                    " to make sense."
                )
            if nothing(text, 2):
                raise Wrong(f"{k}: write a sentence that starts with “that”.")
            if len(text.split()) > 12 and normal(text) in normal(r["question"]):
                raise Wrong(
                    f"{k}: these are the patient's own words. Say in your own what must be true"
                    " for them to make sense."
                )
            mine, meant = stems(text), stems(r["presupposition"])
            corrects = stems(r["correction"])
            new = corrects - meant - stems(r["question"])
            turned = re.search(CORRECTS[k], text.casefold().replace("’", "'"))
            if turned or (len(mine & new) > 2 and len(mine & meant) < 4):
                raise Wrong(
                    f"{k}: this sounds like the correction. Write the belief itself, as the"
                    " patient would say it."
                )
            if not halves(text, k) and len(mine & meant) < 3:
                if EVADES.match(text):
                    raise Wrong(f"{k}: write a sentence that starts with “that”.")
                unlike.append(k)
        if unlike:
            return (
                f"{' and '.join(unlike)}: your words share little with what was meant. That can be"
                " the same in other words, because the check only counts words: compare for"
                " yourself below. Or you may have named something that is true. Then read the"
                " question again. Look for what no one has told the patient but the question"
                " depends on."
            )
        return (
            "your words fit what was meant. The check only counts words, so compare for yourself"
            " below. Linguists have a test: negate the sentence. “I don't need to know which aid"
            " is easiest” still takes the loss for granted. That is why presuppositions slip"
            " through."
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

    @task("1.3", 'Write {"a": ..., "b": ..., ...} for a to f; the grades are -1, 0 and 1.')
    def grades(self, given):
        """Task 1.3: grades of six answers, near those of their authors."""
        letters, truth = self.few["letter"], self.few["label"].tolist()
        mine = [number(g) for g in fields(given, letters)]
        if any(g not in GRADES for g in mine):
            raise Wrong(
                "the grades are −1 (unaware), 0 (aware but incomplete) and 1 (corrected), and no"
                " others: not 0 to 100, not yes and no."
            )
        if len(set(mine)) == 1:
            raise Wrong(
                "you gave one grade for all answers. A rater who never varies tells us nothing:"
                " kappa would be 0. Compare the clearest answer with the poorest."
            )
        if mine == [1 if t == "warm" else -1 for t in self.few["tone"]]:
            raise Wrong(
                "you seem to grade the tone. A warm answer can leave a dangerous belief standing,"
                " and a brisk one can correct it."
            )
        same, turned = (sum(s * a == b for a, b in zip(mine, truth)) for s in (1, -1))
        said = f"{same} of {len(truth)} grades agree with the authors'"
        far = [k for k, a, b in zip(letters, mine, truth) if abs(a - b) == 2]
        if turned > same and len(far) > 1:
            raise Wrong(
                "is your scale turned around? 1 is for an answer that sets the false presupposition"
                " right, −1 for one that doesn't notice it."
            )
        if far:
            raise Wrong(
                f"{said}, but you are far from them at {', '.join(far)}. Ask only this: after"
                " reading the answer, would the patient still believe it? Help, length and"
                " kindness don't count."
            )
        if same < 4:
            hint = (
                "To tell 0 from its neighbours, ask: does the answer say what is right, or only"
                " that something may be wrong?"
                if 0 in mine
                else (
                    "You never gave a 0. An answer that casts doubt but doesn't say what is right"
                    " is aware but incomplete."
                )
            )
            raise Wrong(f"{said}. {hint}")
        return (
            f"{said}, and none is far off. Their grades aren't the truth either: where you differ,"
            " write down why before you read on."
        )
