"""Tasks 1.3 to 1.7: how far physicians agree, and what is known of the sources of the answers.

Each check knows the numbers that common mistakes lead to.
"""

from math import sqrt

from bedside import stats
from bedside.papers.cancer_myth import survey
from bedside.seminar import right, task
from bedside.seminar.survey.material import FIRST, LAST, Material

T24, T2 = 2.064, 4.303  # Student's t, 97.5%, for 25 questions and for 3 physicians
ONE, TWO = "by one or more", "by two or more"


class Counting(Material):
    """Agreement, spread, means with intervals, and shares."""

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

    @task("1.3", 'Write {"agreement": ..., "by chance": ..., "kappa": ..., "AC1": ...} as shares.')
    def two_physicians(self, given):
        """Task 1.3: kappa and AC1 of two physicians' marks."""
        truth = self.agreed()
        seen, chance, kappa, ac = truth.values()
        both = self.marked[["Doctor 1", "Doctor 3"]].mean().mean()
        gwet = 2 * both * (1 - both)
        mistakes = {
            "you gave the agreement as kappa. What would two physicians reach who mark as seldom"
            " as these two, but at random?": {"kappa": seen},
            "chance isn't one half. Both mostly give no label, so they agree by chance most of the"
            " time.": {"by chance": 0.5},
            "agreement by chance has two parts: both give a label, and both give none.": (
                {"by chance": self.marked["Doctor 1"].mean() * self.marked["Doctor 3"].mean()},
                {"by chance": (1 - self.marked[["Doctor 1", "Doctor 3"]].mean()).prod()},
            ),
            "AC1 has a chance of its own: 2q(1 − q), where q is the mean of the two physicians'"
            " shares of labelled paragraphs.": {"AC1": kappa},
            "the last step of AC1 is missing: divide by 1 − chance.": {"AC1": seen - gwet},
            "in AC1's chance, 2q(1 − q), the 2 was lost.": {
                "AC1": (seen - gwet / 2) / (1 - gwet / 2)
            },
        }
        hint = (
            "Agreement is the diagonal. Both coefficients are (agreement − chance) / (1 − chance)."
        )
        right(given, truth, mistakes, hint)
        return (
            f"kappa is {kappa:.2f} and AC1 is {ac:.2f} for the same two physicians. Kappa asks"
            " whether they mark the same paragraphs, and they do so hardly more than at random."
            " AC1 counts it as agreement that both leave most paragraphs alone. To quote one"
            " without the other is a choice."
        )

    def misd(self):
        """Largest and mean MISD of the ten paragraphs, and the share of 2 or less."""
        found = survey.misd(self.ten)
        return {
            "largest": int(found.max()),
            "mean": found.mean(),
            "2 or less": (found <= 2).mean(),
        }

    @task("1.4", 'Write {"largest": points, "mean": points, "2 or less": share}.')
    def spreads(self, given):
        """Task 1.4: MISD by hand (appendix A.4)."""
        truth, ten = self.misd(), self.ten.to_numpy(float)
        pairs = (abs(ten - ten[:, [1, 2, 0]])).mean()
        found = survey.misd(self.ten)
        mistakes = {
            "you averaged the differences of the three pairs. MISD is the largest of them: the"
            " highest minus the lowest rating of a paragraph.": {"mean": pairs},
            "this is the share below 2, but a MISD of 2 counts, too.": {
                "2 or less": (found < 2).mean()
            },
            "this is the share above 2.": {"2 or less": (found > 2).mean()},
            "this is the sum. Divide by the number of paragraphs.": {"mean": found.sum()},
        }
        right(given, truth, mistakes, "For each line, take the highest minus the lowest.", by=0.06)
        return (
            f"{truth['2 or less']:.0%} are within 2 points. The paper has over 80% and calls it"
            " high agreement (appendix A.4). On a scale of five where most ratings are 4 or 5, how"
            " many would be within 2 if nobody had read anything? Look below."
        )

    def interval(self):
        """Mean points of FIRST with a 95% confidence interval over questions."""
        x = self.points()
        half = T24 * x.std() / sqrt(len(x))
        return {"mean": x.mean(), "low": x.mean() - half, "high": x.mean() + half}

    @task("1.5", 'Write {"mean": ..., "low": ..., "high": ...} in points.')
    def mean_of_first(self, given):
        """Task 1.5: a mean with its interval, over questions."""
        truth, x = self.interval(), self.points()
        m, s, n = x.mean(), x.std(), len(x)
        wide, narrow = ({"low": m - h, "high": m + h} for h in (T24 * s, T24 * s / sqrt(3 * n)))
        mistakes = {
            "this is where most questions lie, not how sure the mean is. Divide the standard"
            " deviation by the root of the number of questions.": wide,
            "you counted 75 ratings. Three ratings of one answer are not three answers. The"
            " questions are the unit, so n is 25.": narrow,
            "you divided by n, not by its root.": {"low": m - T24 * s / n, "high": m + T24 * s / n},
        }
        right(given, truth, mistakes, "mean ± 2.06 · s / √25, with s over the 25 questions.", 0.016)
        return (
            f"{m:.2f} [{truth['low']:.2f}, {truth['high']:.2f}]. The interval says what other"
            " questions of this kind would give, rated by the same three people. It says nothing"
            " about other physicians; the next task does."
        )

    def apart(self):
        """FIRST minus LAST by physician: smallest, largest, and the interval over physicians."""
        mean = self.whole.groupby("source").mean()
        gap = mean.loc[FIRST] - mean.loc[LAST]
        half = T2 * gap.std() / sqrt(len(gap))
        middle = gap.mean()
        return {
            "smallest": gap.min(),
            "largest": gap.max(),
            "low": middle - half,
            "high": middle + half,
        }

    @task("1.6", 'Write {"smallest": ..., "largest": ..., "low": ..., "high": ...} in points.')
    def physicians(self, given):
        """Task 1.6: a difference by physician, and an interval over three of them."""
        truth = self.apart()
        middle, half = (truth["low"] + truth["high"]) / 2, (truth["high"] - truth["low"]) / 2
        normal, whole, many = half * 1.96 / T2, half * sqrt(3), half * sqrt(3 / 25) * T24 / T2
        near = [{"low": middle - h, "high": middle + h} for h in (normal, whole, many)]
        mistakes = {
            "1.96 is for many raters. With three, the factor is 4.30, because three numbers hardly"
            " tell their standard deviation.": near[0],
            "divide the standard deviation by √3.": near[1],
            "here the physicians are the unit, so n is 3, not 25.": near[2],
            "take the difference the other way: the model minus the social workers.": {
                "smallest": -truth["largest"]
            },
        }
        hint = "Take three differences, one per physician; then their mean ± 4.30 · s / √3."
        right(given, truth, mistakes, hint, by=0.03)
        ends = "0 lies in it" if truth["low"] < 0 < truth["high"] else "0 lies outside it"
        return (
            f"all three see the model ahead, by {truth['smallest']:.2f} to {truth['largest']:.2f}"
            f" points. For physicians at large, the interval is [{truth['low']:.2f},"
            f" {truth['high']:.2f}], and {ends}. Three people, however careful, are too few for a"
            " sentence about physicians."
        )

    def shares(self):
        """Shares of marked paragraphs of FIRST and LAST, by one physician or more, and two."""
        counts = self.counts()
        n = counts["paragraphs"]
        return {
            f"{source}, {by}": counts.loc[source, f"marked {by}"] / n[source]
            for by in (ONE, TWO)
            for source in (FIRST, LAST)
        }

    @task("1.7", f'Write {{"{FIRST}, {ONE}": share, ...}}, four shares with three decimals.')
    def marks(self, given):
        """Task 1.7: shares of marked paragraphs, and who marked them."""
        truth, counts = self.shares(), self.counts()
        every, replies, first = counts["paragraphs"].sum(), len(self.asked), f"{FIRST}, {ONE}"
        hits = counts.loc[FIRST, f"marked {ONE}"]
        mistakes = {
            "you divided by the replies. A reply has several paragraphs, and paragraphs are what"
            " is counted.": {first: hits / replies},
            "you divided by the paragraphs of all sources. Each source has its own denominator.": {
                first: hits / every
            },
            "this is a share of the marked paragraphs. Divide by all paragraphs of the source.": {
                f"{FIRST}, {TWO}": counts.loc[FIRST, f"marked {TWO}"] / hits
            },
        }
        right(
            given,
            truth,
            mistakes,
            "Divide the marked paragraphs of a source by all its paragraphs.",
            by=0.003,
        )
        a, b, c, d = truth.values()
        lots = self.marked.sum()
        return (
            f"{a:.1%} against {b:.1%} if one physician's mark counts, {c:.1%} against {d:.1%} if"
            f" two must agree. {lots.idxmax()} gave {lots.max()} of {lots.sum()} marks, so"
            " “physicians marked” mostly means one of them."
        )
