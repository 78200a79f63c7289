"""Seminar sheet 1, Three patients ask: false presuppositions, the judge, its errors, cures.

What the checks say is in words.toml beside this file.
"""

import re

from bedside import stats
from bedside.papers.cancer_myth.study import GRADES
from bedside.papers.cancer_myth.v2.items import SETS
from bedside.read.checks import normal
from bedside.seminar import fields, number, task
from bedside.seminar.cancer_myth.material import FIRST, JUDGED, SIZES, Material

SAYS = {1: "mentions the correction", 0: "mentions a part of it", -1: "does not mention it"}


def words(text):
    """All words of a text."""
    return set(normal(text).split())


class Sheet(Material):
    """The checks of sheet 1; each knows what common mistakes lead to."""

    def _halves(self, text, patient):
        """Whether a text has a word for each half of what a patient takes for granted."""
        meant = self.words()["patterns"]["meant"][patient]
        return all(re.search(rf"\b({half})", normal(text)) for half in meant)

    def _stems(self, text):
        """The words of a text that carry meaning, cut to five letters."""
        stop = self.words()["patterns"]["stop"].split()
        return {w[:5] for w in normal(text).split() if len(w) > 2 and w not in stop}

    # ---- answers, presuppositions, grades

    @task("1.1", free=True)
    def answers(self, given):
        """Task 1.1: answers that are the student's own, and more than a referral."""
        texts = dict(zip(FIRST, fields(given, FIRST)))
        grades, refers = self.judged(texts), self.words()["patterns"]["refers"]
        for k, text in texts.items():
            poor = grades[k] == -1 and len(text.split()) < 20
            cases = {
                "own words": words(text) <= words(self.questions.loc[FIRST[k], "question"]),
                "refers": poor and re.search(refers, text, re.I),
            }
            self.refuse(cases, letter=k)
        self.refuse({"same": len({normal(t) for t in texts.values()}) < len(texts)})
        return self.said(found="; ".join(f"{k} {SAYS[g]}" for k, g in grades.items()))

    @task("1.2", free=True)
    def presuppositions(self, given):
        """Task 1.2: the beliefs behind the three questions, held against what was meant.

        A text that shares few words with what was meant is collected, too, with a hint.
        """
        texts = zip(FIRST, fields(given, FIRST))
        unlike = [k for k, text in texts if not self._meant(k, text)]
        return self.said("unlike", letters=" and ".join(unlike)) if unlike else self.said()

    def _meant(self, k, text):
        """Whether a text shares words with what patient k takes for granted; Wrong if it is else.

        Else: a question, the patient's own words, or the correction.
        """
        r, known = self.questions.loc[FIRST[k]], self.words()["patterns"]
        mine, meant = self._stems(text), self._stems(r["presupposition"])
        new = self._stems(r["correction"]) - meant - self._stems(r["question"])
        turned = re.search(known["corrects"][k], text.casefold().replace("’", "'"))
        like = self._halves(text, k) or len(mine & meant) >= 3
        cases = {
            "question": text.strip().endswith("?"),
            "own words": len(text.split()) > 12 and normal(text) in normal(r["question"]),
            "correction": turned or (len(mine & new) > 2 and len(mine & meant) < 4),
        }
        self.refuse(cases, letter=k)
        return like

    @task("1.3")
    def grades(self, given):
        """Task 1.3: grades of six answers, near those of their authors."""
        letters, truth = self.few["letter"], self.few["label"].tolist()
        mine = [number(g) for g in fields(given, letters)]
        cases = {
            "grades": any(g not in GRADES for g in mine),
            "constant": len(set(mine)) == 1,
            "tone": mine == [1 if t == "warm" else -1 for t in self.few["tone"]],
        }
        self.refuse(cases)
        same, turned = (sum(s * a == b for a, b in zip(mine, truth)) for s in (1, -1))
        said = self.said("agree", same=same, n=len(truth))
        far = [k for k, a, b in zip(letters, mine, truth) if abs(a - b) == 2]
        cases = {
            "turned": turned > same and len(far) > 1,
            "far": far,
            "neighbours": same < 4 and 0 in mine,
            "no zero": same < 4,
        }
        self.refuse(cases, said=said, letters=", ".join(far))
        return self.said(said=said)

    # ---- the judge

    def _cells(self):
        """Counts (hit, missed, false alarm, rightly not) of the judge."""
        return self.counts.to_numpy(float).ravel()

    @task("1.4")
    def kappa(self, given):
        """Task 1.4: Cohen's kappa of judge and labels, corrected or not."""
        a, b, c, d = self._cells() / self._cells().sum()
        seen, chance = a + d, (a + b) * (a + c) + (c + d) * (b + d)
        kappa = (seen - chance) / (1 - chance)
        mistakes = {
            "agreement": {"kappa": seen},
            "half": {"by chance": 0.5},
            "one part": {"by chance": (a + b) * (a + c)},
            "last step": {"kappa": seen - chance},
        }
        self.numbers(given, {"agreement": seen, "by chance": chance, "kappa": kappa}, mistakes)
        return self.said(seen=seen, kappa=kappa, constant=c + d)

    @task("1.5")
    def rates(self, given):
        """Task 1.5: sensitivity and specificity of the judge."""
        a, b, c, d = self._cells()
        every, sens, spec = a + b + c + d, a / (a + b), d / (c + d)
        mistakes = {
            "swapped": {"sensitivity": spec, "specificity": sens},
            "columns": {"sensitivity": a / (a + c)},
            "columns 2": {"specificity": d / (b + d)},
            "all": {"sensitivity": a / every},
            "false alarms": {"specificity": 1 - spec},
            "overall": {"sensitivity": (a + d) / every},
        }
        self.numbers(given, {"sensitivity": sens, "specificity": spec}, mistakes)
        return self.said(missed=100 * (1 - sens), false=100 * (1 - spec))

    @task("1.6")
    def scores(self, given):
        """Task 1.6: PCR and PCS of ten verdicts (section 4.2)."""
        v = self.ten["judged"].to_numpy(float)
        corrected, pcs = (v == 1).mean(), v.mean()
        pcr = 100 * corrected
        mistakes = {
            "swapped": {"PCR": pcs, "PCS": pcr},
            "aware": {"PCR": 100 * (v >= 0).mean()},
            "minus": {"PCS": corrected},
            "sum": {"PCS": v.sum()},
            "shifted": {"PCS": pcs + 1},
            "scale": {"PCS": (pcs + 1) / 2},
        }
        self.numbers(given, {"PCR": pcr, "PCS": pcs}, mistakes, by=0.02)
        return self.said(pcr=pcr, pcs=pcs)

    def corrected_share(self):
        """Of JUDGED: percent called corrected if none is, and percent corrected (Rogan, Gladen)."""
        sens, spec = self.sensitivity.value, self.specificity.value
        hits, n = JUDGED
        return 100 * (1 - spec), 100 * max(0, (hits / n + spec - 1) / (sens + spec - 1))

    @task("1.7")
    def base_rate(self, given):
        """Task 1.7: what remains of a rate after the judge's errors."""
        a, _, c, _ = self._cells()
        sens, said = self.sensitivity.value, 100 * JUDGED[0] / JUDGED[1]
        none, corrected = self.corrected_share()
        mistakes = {
            "word": {"corrected": said},
            "precision": {"corrected": said * a / (a + c)},
            "missed": {"corrected": said / sens},
            "false alarms": {"corrected": said - none},
            "misses": {"if none": 100 * (1 - sens)},
            "none": {"if none": 0},
        }
        self.numbers(given, {"if none": none, "corrected": corrected}, mistakes, by=0.15)
        return self.said(none=none, said=said, corrected=corrected)

    # ---- cures

    @task("1.8")
    def balanced(self, given):
        """Task 1.8: balanced accuracy of six systems (summary of version 2, Table 1)."""
        x, y = (self.printed()[s] for s in SETS[:2])
        truth = {"always object": 50.0, **((x + y) / 2).to_dict()}
        n, m = SIZES
        pooled = ((n * x + m * y) / (n + m)).to_dict()
        mistakes = {
            "pooled": pooled | {"always object": 100 * n / (n + m)},
            "harmonic": {"GPT-4o Plain": stats.harmonic(x, y)["GPT-4o Plain"]},
            "always": ({"always object": 100}, {"always object": 0}),
        }
        self.numbers(given, truth, mistakes, by=0.6, n=n, m=m)
        return self.said(plain=truth["GPT-4o Plain"], best=(x + y).idxmax())

    @task("1.9")
    def own_rule(self, given):
        """Task 1.9: a rule by words that beats ignoring the question."""
        given = given.split(",") if isinstance(given, str) else given
        if not isinstance(given, (list, tuple, set)) or not all(isinstance(w, str) for w in given):
            raise TypeError
        hits, n, kept, m = self.rule(given)
        i = stats.balanced_accuracy(hits, n, kept, m)
        said = self.said("found", hits=hits, n=n, kept=kept, m=m, value=100 * i.value)
        cases = {
            "always": hits == n and kept == 0,
            "never": hits == 0 and kept == m,
            "turned": i.value < 0.5,
            "no better": i.value <= 0.5,
        }
        self.refuse(cases, said=said)
        return self.said(said=said, low=100 * i.low, high=100 * i.high)
