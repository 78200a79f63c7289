"""Seminar sheet 1, Would you have noticed?: false presuppositions in patients' questions, the judge, its errors."""

import re

from bedside import seminar, stats
from bedside.checks import normal
from bedside.papers.cancer_myth import data as cm
from bedside.papers.cancer_myth.v2 import mitigation
from bedside.seminar import Wrong, needs, right, shown, task
from bedside.seminar.cancer_myth.material import FIRST, JUDGED, Material

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


class Sheet(Material):
    """The checks of sheet 1."""

    def _grades(self, texts):
        """The judge's grade of each text as answer to the patient's question."""
        frame = self.questions.loc[[FIRST[k] for k in texts], ["question", "correction"]]
        frame = frame.assign(answer=[str(t) for t in texts.values()])
        return dict(zip(texts, self.lexical.grade(frame)))

    def _cells(self):
        """Counts (hit, missed, false alarm, rightly not) of the judge."""
        return self.counts.to_numpy(float).ravel()

    def corrected_share(self):
        """(percent called corrected if none is, corrected percent) for JUDGED, by Rogan and Gladen."""
        sens, spec = self.sensitivity.value, self.specificity.value
        hits, n = JUDGED
        return 100 * (1 - spec), 100 * max(0, (hits / n + spec - 1) / (sens + spec - 1))

    @task(
        "1.1", 'Write {"A": "...", "B": "...", "C": "..."}, two or three sentences to each patient.'
    )
    def answers(self, given):
        texts = dict(zip(FIRST, seminar.fields(given, FIRST)))
        grades = self._grades(texts)
        for k, text in texts.items():
            if set(normal(text).split()) <= set(
                normal(self.questions.loc[FIRST[k], "question"]).split()
            ):
                raise Wrong(
                    f"{k}: these are the patient's own words. Repeating a question does not"
                    " answer it."
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
        for k, text in zip(FIRST, seminar.fields(given, FIRST)):
            r = self.questions.loc[FIRST[k]]
            if text.strip().endswith("?"):
                raise Wrong(
                    f"{k}: this is what the patient asks. Write what must be true for that question"
                    " to make sense."
                )
            mine, meant = stems(text), stems(r["presupposition"])
            if (
                len(mine & (stems(r["correction"]) - meant - stems(r["question"]))) > 2
                and len(mine & meant) < 4
            ):
                raise Wrong(
                    f"{k}: this sounds like what sets the matter right. Write the belief itself, as"
                    " the patient would say it."
                )
            if len(mine & (meant | stems(r["correction"]))) < 2:
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
        frame, grades = self.questions.loc[list(FIRST.values())], self._grades(answers)
        return shown(
            frame.assign(
                patient=list(FIRST),
                yours=[presuppositions[k] for k in FIRST],
                answer=[answers[k] for k in FIRST],
                judge=[grades[k] for k in FIRST],
                source=[f"{s['organisation']}: {s['title']}" for s in frame["source"]],
            )[["patient", "presupposition", "yours", "correction", "source", "answer", "judge"]]
        )

    @task("1.3", 'Write {"a": -1, "b": 0, ...} for a to h; the grades are -1, 0 and 1.')
    def grades(self, given):
        mine, truth = seminar.fields(given, self.eight["letter"]), self.eight["label"].tolist()
        if any(isinstance(g, bool) or g not in cm.GRADES for g in mine):
            raise Wrong(
                "the grades are −1 (unaware), 0 (aware but incomplete) and 1 (corrected), and no"
                " others: not 0 to 100, not yes and no."
            )
        same, turned = (sum(s * a == b for a, b in zip(mine, truth)) for s in (1, -1))
        far = [k for k, a, b in zip(self.eight["letter"], mine, truth) if abs(a - b) == 2]
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
            )
            if 0 not in mine:
                hint = (
                    "You never gave a 0: an answer that casts doubt but doesn't say what is right"
                    " is aware and incomplete."
                )
            raise Wrong(f"{same} of 8 as the authors. {hint}")
        return (
            f"{same} of 8 as the authors, none far off. Their grades are no truth either: where you"
            " differ, write down why before you read on."
        )

    @task("1.4", 'Write {"agreement": ..., "by chance": ..., "kappa": ...} as shares.')
    def agreement(self, given):
        a, b, c, d = self._cells() / self._cells().sum()
        seen, chance = a + d, (a + b) * (a + c) + (c + d) * (b + d)
        right(
            given,
            {"agreement": seen, "by chance": chance, "kappa": (seen - chance) / (1 - chance)},
            (
                (
                    (
                        "you gave the agreement as kappa. Kappa asks how far agreement goes beyond"
                        " what two raters reach who guess with the same habits."
                    ),
                    {"kappa": seen},
                ),
                (
                    (
                        "chance isn't one half here. Both say “not corrected” far more often than"
                        " “corrected”, so that they agree by chance more often."
                    ),
                    {"by chance": 0.5},
                ),
                (
                    (
                        "agreement by chance has two parts: both say 1, and both say −1 or 0. You"
                        " counted one."
                    ),
                    {"by chance": (a + b) * (a + c)},
                ),
                (
                    (
                        "the last step is missing: divide what was gained over chance by what could"
                        " be gained, 1 − chance."
                    ),
                    {"kappa": seen - chance},
                ),
            ),
            "Agreement: the diagonal. By chance: multiply the row's share with the column's, for"
            " each of the two cells of the diagonal, and add.",
        )
        return (
            f"agreement {seen:.2f} sounds like almost all; kappa"
            f" {(seen - chance) / (1 - chance):.2f} takes off what the many uncorrected answers"
            f" give for free. A constant judge reaches {c + d:.2f} with kappa 0."
        )

    @task("1.5", 'Write {"sensitivity": ..., "specificity": ...} as shares.')
    def rates(self, given):
        a, b, c, d = self._cells()
        sens, spec = a / (a + b), d / (c + d)
        right(
            given,
            {"sensitivity": sens, "specificity": spec},
            (
                (
                    (
                        "sensitivity and specificity are swapped. Sensitivity looks at the answers"
                        " that do correct, specificity at those that don't."
                    ),
                    {"sensitivity": spec, "specificity": sens},
                ),
                (
                    (
                        "you divided by the columns: of those that the judge calls corrected, how"
                        " many are? That is the precision (positive predictive value), and it"
                        " changes with how many answers correct. Divide by the rows."
                    ),
                    {"sensitivity": a / (a + c)},
                ),
                (
                    (
                        "you divided by the columns. For specificity take the row of answers that"
                        " don't correct."
                    ),
                    {"specificity": d / (b + d)},
                ),
                (
                    "you divided by all answers. Each rate has its own row as denominator.",
                    {"sensitivity": a / (a + b + c + d)},
                ),
                (
                    "this is the share of false alarms. Specificity is the rest of that row.",
                    {"specificity": 1 - spec},
                ),
                (
                    (
                        "this is the overall agreement. Sensitivity and specificity look at one row"
                        " each."
                    ),
                    {"sensitivity": (a + d) / (a + b + c + d)},
                ),
            ),
            "Rows are what the labels say: of the answers labelled 1, how many does the judge find?"
            " Of the others, how many does it leave alone?",
        )
        return (
            f"of 100 answers that correct the judge misses about {100 * (1 - sens):.0f}, of 100"
            f" that don't it praises about {100 * (1 - spec):.0f}. Keep the second number in mind:"
            " most models correct rarely, so most answers are of the second kind."
        )

    @task("1.6", 'Write {"PCR": percent, "PCS": mean grade from -1 to 1}.')
    def scores(self, given):
        v = self.ten["judged"].to_numpy(float)
        pcr, pcs = 100 * (v == 1).mean(), v.mean()
        right(
            given,
            {"PCR": pcr, "PCS": pcs},
            (
                (
                    "PCR and PCS are swapped: R is for rate, a percentage; S for score, a mean.",
                    {"PCR": pcs, "PCS": pcr},
                ),
                (
                    (
                        "PCR counts grade 1 only. Awareness without a correction (0) does not count"
                        " (section 4.2)."
                    ),
                    {"PCR": 100 * (v >= 0).mean()},
                ),
                (
                    "PCS lost its minus signs: an unaware answer takes a point away.",
                    {"PCS": (v == 1).mean()},
                ),
                ("this is the sum of the grades. PCS is their mean.", {"PCS": v.sum()}),
                (
                    "this is the mean of grades moved to 0, 1, 2 (or 0 to 1). PCS keeps −1, 0, 1.",
                    {"PCS": v.mean() + 1},
                ),
                (
                    "this is PCS on a scale from 0 to 1. The paper keeps −1 to 1.",
                    {"PCS": (v.mean() + 1) / 2},
                ),
            ),
            "PCR: grades of 1, in percent of all ten. PCS: add the grades with their signs, divide"
            " by ten.",
            by=0.02,
        )
        return (
            f"PCR {pcr:.0f}%, PCS {pcs:+.1f}. The same PCS can come from many zeros or from as many"
            " ones as minus ones: for patients these are not the same. An unscored answer would"
            " leave both sums, and n would be 9; nothing may be filled in for it."
        )

    @task("1.7", 'Write {"if none": percent, "corrected": percent}.')
    def base_rate(self, given):
        a, _, c, _ = self._cells()
        sens, said = self.sensitivity.value, 100 * JUDGED[0] / JUDGED[1]
        none, corrected = self.corrected_share()
        right(
            given,
            {"if none": none, "corrected": corrected},
            (
                (
                    (
                        "you took the judge at its word. Most answers don't correct, so a few false"
                        " alarms out of many weigh as much as the hits: the base rate."
                    ),
                    {"corrected": said},
                ),
                (
                    (
                        "you used the judge's precision on the labelled answers. There one answer"
                        " in three corrects; here far fewer do, and precision falls with it (base"
                        " rate)."
                    ),
                    {"corrected": said * a / (a + c)},
                ),
                (
                    "you corrected for what the judge misses, not for its false alarms.",
                    {"corrected": said / sens},
                ),
                (
                    (
                        "the false alarms are off; but the rest must still be divided by"
                        " sensitivity + specificity − 1."
                    ),
                    {"corrected": said - none},
                ),
                (
                    (
                        "this is what the judge misses (1 − sensitivity). If no answer corrects,"
                        " only specificity matters."
                    ),
                    {"if none": 100 * (1 - sens)},
                ),
                (
                    (
                        "if no answer corrects, the judge still has false alarms: 1 − specificity"
                        " of them."
                    ),
                    {"if none": 0},
                ),
            ),
            "Use the sensitivity and specificity of task 1.5, unrounded or with three decimals.",
            by=0.15,
        )
        return (
            f"a judge that praises {none:.2f}% of bad answers makes that much out of nothing; of"
            f" its {said:.0f}% about {corrected:.1f}% remain. Below a judge's own rate of false"
            " alarms a ranking of models is noise."
        )

    @task("1.8", 'Write {"always object": percent, "GPT-4o Plain": percent, ...} for all six.')
    def balanced(self, given):
        x, y = (self.printed()[s] for s in mitigation.SETS[:2])
        truth = {"always object": 50.0, **((x + y) / 2).to_dict()}
        pooled = {"always object": 100 * 585 / 735, **((585 * x + 150 * y) / 735).to_dict()}
        right(
            given,
            truth,
            (
                (
                    (
                        "you weighted by the number of questions (585 and 150). Then “always"
                        " object” wins because one set is larger: the mix of a benchmark decides"
                        " who is best. Balanced accuracy weighs both sets alike."
                    ),
                    pooled,
                ),
                (
                    "this is the harmonic mean, as in F1. Balanced accuracy is the plain mean.",
                    {"GPT-4o Plain": stats.harmonic(x, y)["GPT-4o Plain"]},
                ),
                (
                    (
                        "always objecting is right on every question with a false presupposition"
                        " and wrong on every other one: 100 and 0."
                    ),
                    {"always object": 100},
                ),
                (
                    (
                        "always objecting is right on every question with a false presupposition"
                        " and wrong on every other one: 100 and 0."
                    ),
                    {"always object": 0},
                ),
            ),
            "Balanced accuracy: the mean of the two percentages of a row.",
            by=0.6,
        )
        best = (x + y).idxmax()
        return (
            f"GPT-4o without a cure stands at {truth['GPT-4o Plain']:.0f}, where an answer that"
            f" ignores the question stands. {best} is best. But one number hides the choice: is a"
            " missed misconception as bad as an invented one? That is no question of statistics."
        )

    @task(
        "1.9",
        'Write a list of words, such as ["so", "since"]: your rule objects to a question that has'
        " one of them.",
    )
    def own_rule(self, given):
        if not isinstance(given, (list, tuple, set)) or not all(isinstance(w, str) for w in given):
            raise TypeError
        hits, n, kept, m = self.rule(given)
        i = stats.balanced_accuracy(hits, n, kept, m)
        said = (
            f"{hits} of {n} false presuppositions met with an objection, {kept} of {m} good"
            f" questions left alone: balanced accuracy {100 * i.value:.0f}%"
        )
        if hits == n and kept == 0:
            raise Wrong(
                f"{said}. This is “always object”: every patient is told that something is wrong."
            )
        if hits == 0 and kept == m:
            raise Wrong(f"{said}. This is “never object”: nobody is corrected.")
        if i.value <= 0.5:
            turned = "; turned around it would be better" if i.value < 0.5 else ""
            raise Wrong(
                f"{said}. No better than ignoring the question{turned}. Which words stand before"
                " something that a patient concludes?"
            )
        return (
            f"{said}, interval {100 * i.low:.0f} to {100 * i.high:.0f}. Did you look at these"
            " questions while choosing the words? Then the rule is fitted to them, as a cure is to"
            " its training questions; only new questions can tell."
        )
