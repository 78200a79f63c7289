"""Tasks 3.6 to 3.8: the rates behind a printed row, at another base rate, and with a note."""

from bedside import stats
from bedside.papers.medhalu.implied import numbers as paper
from bedside.seminar import Wrong, near, numbers, task
from bedside.seminar.medhalu.material import RATES, ROW, Material

RARE = 1 / 20  # share of wrong answers in the second part of task 3.7
COMMON = ["three in four wrong", "one in twenty wrong"]
NOTE = [
    "macro F1, notes beside wrong answers only",
    "macro F1, notes beside all answers",
    "specificity without a note",
    "specificity with a note",
]
PRINTED = 0.03  # how near is near enough where the truth comes from printed, rounded numbers


class Rates(Material):
    """Sensitivity and specificity from printed scores, and what follows from them."""

    @task("3.6", f"Write a dictionary with {' and '.join(RATES)}: shares.")
    def rates(self, answer):
        """Task 3.6: sensitivity and specificity behind a printed row (Table 6)."""
        got, truth = numbers(answer, RATES, share=RATES), self.row("Table 6")
        if all(near(g, t, PRINTED) for g, t in zip(got, truth[::-1])):
            raise Wrong(
                "the two are swapped. Sensitivity is about the hallucinated answers, specificity"
                " about the right ones."
            )
        if near(sum(got), sum(truth), 0.01) and near(*got, 0.02):
            raise Wrong(
                "macro recall is the mean of the two, but they aren't equal. Accuracy weighs them"
                " by the shares of the answers, and it is lower."
            )
        if not near(sum(got), sum(truth), PRINTED):
            raise Wrong(
                "macro recall is the plain mean of sensitivity and specificity: they must add up"
                f" to {sum(truth):.2f}."
            )
        if not all(near(g, t, PRINTED) for g, t in zip(got, truth)):
            raise Wrong(
                "the sum is right. Now use accuracy = share hallucinated × sensitivity + share"
                " right × specificity. The first share is about 3/4."
            )
        p, n = paper.classes(self.run)[ROW[1]]
        yes = (p * truth[0] + n * (1 - truth[1])) / (p + n)
        return (
            f"this detector says yes to only {100 * yes:.0f}% of the answers, while"
            f" {100 * p / (p + n):.0f}% are hallucinated. It is cautious; it doesn't guess. A"
            " single accuracy hides this. (Printed numbers are rounded, so an answer within 0.03"
            " counts as right.)"
        )

    @task("3.7", f"Write a dictionary with {' and '.join(map(repr, COMMON))}: shares.")
    def common(self, answer):
        """Task 3.7: the same detector at two base rates."""
        got, (found, passed) = numbers(answer, COMMON, share=COMMON), self.row("Table 6")
        truth = [found * s / (found * s + (1 - passed) * (1 - s)) for s in (0.75, RARE)]
        if near(*got, 0.02):
            raise Wrong(
                "you forgot the base rate: the detector is the same, the place is another. Put 100"
                " answers into four cells for each of the two places."
            )
        if near(got[1], found, 0.02) or near(got[0], found, 0.02):
            raise Wrong(
                "that is the sensitivity: of the hallucinated answers, the share that it flags."
                " The task asks for the reverse: of the flagged answers, the share that is"
                " hallucinated."
            )
        fits = [near(g, t, PRINTED) for g, t in zip(got, truth)]
        if any(near(g, 1 - t, 0.02) for g, t in zip(got, truth)) and not fits[0]:
            raise Wrong(
                "that is the share of flagged answers that are right (false alarms). The task asks"
                " for the share that is hallucinated."
            )
        if not all(fits):
            raise Wrong(
                "of 100 answers, take the hallucinated ones times sensitivity (flagged rightly),"
                " and the right ones times 1 − specificity (flagged wrongly)."
            )
        return (
            f"{truth[0]:.2f} and {truth[1]:.2f}. The detector is the same. Where errors are rare,"
            " most of its warnings are false, and people learn to ignore them."
        )

    @task("3.8", f"Write a dictionary with {', '.join(map(repr, NOTE))}: shares.")
    def note(self, answer):
        """Task 3.8: what a note gives away, and what it does to specificity (Table 10)."""
        wrong_only, all_noted, without, noted = numbers(answer, NOTE, share=NOTE)
        hits, rest = self.classes()
        only, every = stats.macro([hits, 0, 0, rest])[3], stats.macro([hits, rest, 0, 0])
        (found, before), (found_then, after) = self.row("Table 6"), self.row("Table 10")
        if not near(wrong_only, only):
            raise Wrong(
                f"{NOTE[0]}: the detector says yes exactly where a note stands, so exactly to the"
                " wrong answers. How many errors are left?"
            )
        if near(all_noted, every[0]):
            raise Wrong(
                f"{NOTE[1]}: that is the accuracy. With a note everywhere, it is the detector that"
                " always says yes (task 3.4)."
            )
        if not near(all_noted, every[3]):
            raise Wrong(f"{NOTE[1]}: a note everywhere means yes everywhere, as in task 3.4.")
        if near(without, after, PRINTED) and near(noted, before, PRINTED):
            raise Wrong(
                "without and with a note are swapped. Table 6 is without, Table 10 is with a note."
            )
        if near(without, found, PRINTED) or near(noted, found_then, PRINTED):
            raise Wrong(
                "that is a sensitivity. Specificity is the share of right answers that are let"
                " pass."
            )
        if not near(without, before, PRINTED) or not near(noted, after, PRINTED):
            raise Wrong(
                "work out both as in task 3.6, from accuracy and macro recall of Table 6 (without)"
                " and Table 10 (with a note)."
            )
        return (
            f"specificity falls from {before:.2f} to {max(after, 0):.2f}, while sensitivity rises"
            f" from {found:.2f} to {min(found_then, 1):.2f}. With a note, the model nearly always"
            " says yes. Macro-F1 rises all the same. (Table 10 may be about fewer answers than"
            " Table 4; the paper doesn't say.)"
        )
