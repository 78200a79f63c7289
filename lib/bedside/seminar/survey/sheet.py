"""Seminar sheet 1p, Whose advice is it?: the released survey on real patients' questions.

Like sheet 1, but on real answers; it needs the released data.

What the checks say is in words.toml beside this file.
"""

from math import sqrt

from bedside import stats
from bedside.papers.cancer_myth import survey
from bedside.papers.cancer_myth.survey import LABELS, SCALE
from bedside.read.checks import normal
from bedside.seminar import choice, fields, number, task
from bedside.seminar.survey.material import FIRST, LAST, NONE, OLDEST, Material

T24, T2 = 2.064, 4.303  # Student's t, 97.5%, for 25 questions and for 3 physicians
ONE, TWO = "by one or more", "by two or more"
HELD = ("takes for granted", "reply", "instead")


class Sheet(Material):
    """The checks of sheet 1p; each knows the numbers that common mistakes lead to."""

    # ---- what students think before they see what physicians thought

    def medians(self):
        """The physicians' median rating of each of the eight paragraphs."""
        return {k: int(self.rated.loc[key].median()) for k, key in self.eight.items()}

    def often(self):
        """The label that most physicians gave each of the eight paragraphs, or NONE."""
        given = {k: sum(self.labels.loc[key], []) for k, key in self.eight.items()}
        return {k: max(LABELS, key=v.count) if v else NONE for k, v in given.items()}

    @task("1.1", free=True)
    def ratings(self, given):
        """Task 1.1: ratings on the survey's scale; how far from the physicians' median."""
        mine = [number(x) for x in fields(given, self.eight)]
        self.refuse({"points": not set(mine) <= set(SCALE), "constant": len(set(mine)) == 1})
        truth, n = self.medians().values(), len(mine)
        off, turned = (
            sum(abs(x - b) for x, b in zip(m, truth)) for m in (mine, [6 - x for x in mine])
        )
        self.refuse({"turned": turned + 2 < off})
        one = [abs(self.rated.loc[k] - self.rated.loc[k].median()) for k in self.eight.values()]
        *each, last = (sum(one) / n).map("{:.1f}".format)
        return self.said(off=off / n, each=", ".join(each), last=last)

    @task("1.2", free=True)
    def harmful(self, given):
        """Task 1.2: harmful labels; how often a mark agrees with two or more physicians."""
        mine, truth, known = fields(given, self.eight), self.often(), (NONE, *LABELS)
        found = [choice(x, dict.fromkeys(known, ())) for x in mine]
        if None in found:
            strange = mine[found.index(None)]
            raise self.wrong("no label", strange=strange, known=", ".join(known))
        marked = [k for k, x in zip(self.eight, found) if x != NONE]
        self.refuse({"nothing": not marked, "everything": len(marked) == len(mine)})
        same = sum((k in marked) == (truth[k] != NONE) for k in self.eight)
        return self.said(same=same, n=len(mine))

    # ---- agreement

    def agreed(self):
        """Agreement of Doctor 1 and Doctor 3 on what to mark, by chance, kappa and Gwet's AC1."""
        x, y = self.marked["Doctor 1"].to_numpy(int), self.marked["Doctor 3"].to_numpy(int)
        p, q = x.mean(), y.mean()
        return {
            "agreement": (x == y).mean(),
            "by chance": p * q + (1 - p) * (1 - q),
            "kappa": stats.kappa(x.tolist(), y.tolist(), [0, 1]).value,
            "AC1": stats.gwet([x, y], [0, 1]),
        }

    @task("1.3")
    def two_physicians(self, given):
        """Task 1.3: kappa and AC1 of two physicians' marks."""
        truth = self.agreed()
        seen, _, kappa, ac = truth.values()
        each = self.marked[["Doctor 1", "Doctor 3"]].mean()
        gwet = 2 * each.mean() * (1 - each.mean())
        mistakes = {
            "agreement": {"kappa": seen},
            "half": {"by chance": 0.5},
            "one part": ({"by chance": each.prod()}, {"by chance": (1 - each).prod()}),
            "other chance": {"AC1": kappa},
            "last step": {"AC1": seen - gwet},
            "two": {"AC1": (seen - gwet / 2) / (1 - gwet / 2)},
        }
        self.numbers(given, truth, mistakes)
        return self.said(kappa=kappa, ac=ac)

    def misd(self):
        """Largest and mean MISD of the ten paragraphs, and the share of 2 or less."""
        found = survey.misd(self.ten)
        spread = {"largest": int(found.max()), "mean": found.mean()}
        return spread | {"2 or less": (found <= 2).mean()}

    @task("1.4")
    def spreads(self, given):
        """Task 1.4: MISD by hand (appendix A.4)."""
        truth, ten = self.misd(), self.ten.to_numpy(float)
        found = survey.misd(self.ten)
        mistakes = {
            "pairs": {"mean": (abs(ten - ten[:, [1, 2, 0]])).mean()},
            "below": {"2 or less": (found < 2).mean()},
            "above": {"2 or less": (found > 2).mean()},
            "sum": {"mean": found.sum()},
        }
        self.numbers(given, truth, mistakes, by=0.06)
        return self.said(share=truth["2 or less"])

    # ---- sources

    def interval(self):
        """Mean points of FIRST with a 95% confidence interval over questions."""
        x = self.points()
        half = T24 * x.std() / sqrt(len(x))
        return {"mean": x.mean(), "low": x.mean() - half, "high": x.mean() + half}

    @task("1.5")
    def mean_of_first(self, given):
        """Task 1.5: a mean with its interval, over questions."""
        truth, x = self.interval(), self.points()
        m, wide, n = x.mean(), T24 * x.std(), len(x)
        halves = {"wide": wide, "ratings": wide / sqrt(3 * n), "root": wide / n}
        mistakes = {key: {"low": m - h, "high": m + h} for key, h in halves.items()}
        self.numbers(given, truth, mistakes, by=0.016)
        return self.said(**truth)

    def apart(self):
        """FIRST minus LAST by physician: smallest, largest, and the interval over physicians."""
        mean = self.whole.groupby("source").mean()
        gap = mean.loc[FIRST] - mean.loc[LAST]
        half, middle = T2 * gap.std() / sqrt(len(gap)), gap.mean()
        ends = {"low": middle - half, "high": middle + half}
        return {"smallest": gap.min(), "largest": gap.max(), **ends}

    @task("1.6")
    def physicians(self, given):
        """Task 1.6: a difference by physician, and an interval over three of them."""
        truth = self.apart()
        middle, half = (truth["low"] + truth["high"]) / 2, (truth["high"] - truth["low"]) / 2
        halves = {"normal": half * 1.96 / T2, "root": half * sqrt(3)}
        halves["questions"] = half * sqrt(3 / 25) * T24 / T2
        mistakes = {key: {"low": middle - h, "high": middle + h} for key, h in halves.items()}
        mistakes["turned"] = {"smallest": -truth["largest"]}
        self.numbers(given, truth, mistakes, by=0.03)
        ends = "0 lies in it" if truth["low"] < 0 < truth["high"] else "0 lies outside it"
        return self.said(ends=ends, **truth)

    def shares(self):
        """Shares of marked paragraphs of FIRST and LAST, by one physician or more, and two."""
        counts = self.counts()
        n = counts["paragraphs"]
        return {
            f"{source}, {by}": counts.loc[source, f"marked {by}"] / n[source]
            for by in (ONE, TWO)
            for source in (FIRST, LAST)
        }

    @task("1.7")
    def marks(self, given):
        """Task 1.7: shares of marked paragraphs, and who marked them."""
        truth, counts, first = self.shares(), self.counts(), f"{FIRST}, {ONE}"
        hits, two = (counts.loc[FIRST, f"marked {by}"] for by in (ONE, TWO))
        mistakes = {
            "replies": {first: hits / len(self.asked)},
            "all sources": {first: hits / counts["paragraphs"].sum()},
            "marked": {f"{FIRST}, {TWO}": two / hits},
        }
        self.numbers(given, truth, mistakes, by=0.003)
        lots = self.marked.sum()
        each = dict(zip("abcd", truth.values()))
        return self.said(who=lots.idxmax(), most=lots.max(), all=lots.sum(), **each)

    @task("1.8", free=True)
    def noticed(self, given):
        """Task 1.8: sentences on what a question takes for granted; they are read, not judged."""
        page = [f" {normal(text)}" for text in (self.asked[OLDEST], self.best()[1])]
        for name, text in zip(HELD, fields(given, HELD)):
            self.refuse({"own words": any(f" {normal(text)}" in p for p in page)}, name=name)
        return self.said()

    def solution(self, number):
        """The physicians' answers to a task, read when they are needed and written nowhere."""
        return {"1.1": self.medians, "1.2": self.often}[number]()
