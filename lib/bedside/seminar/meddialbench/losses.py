"""Tasks 4.3, 4.6 and 4.7: what single behaviours cost, dose and response, a test on six cases."""

from bedside import stats
from bedside.papers.meddialbench import implied
from bedside.papers.meddialbench.design import BASELINE
from bedside.read.checks import normal
from bedside.seminar import Wrong, fields, near, numbers, right, task
from bedside.seminar.meddialbench.material import Material

LEAST = 0.05  # p below which a difference is significant in task 4.7, as in the paper


class Losses(Material):
    """Points of accuracy lost, printed, and a test on the six cases."""

    @task(
        "4.3", "Write a dictionary with 'fabricating' and 'withholding' (points lost) and 'ratio'."
    )
    def loss(self, answer):
        """Task 4.3: mean losses of Table 3, and their ratio."""
        names, mean = ["fabricating", "withholding"], self.means()
        base, accuracy = mean[BASELINE], [mean[n] for n in names]
        lost = [base - a for a in accuracy]
        truth = {**dict(zip(names, lost)), "ratio": lost[0] / lost[1]}
        mistakes = {
            "that is the accuracy that is left. The loss is the baseline's mean minus this"
            " accuracy.": dict(zip(names, accuracy)),
            "points lost are positive here: the baseline's accuracy minus the behaviour's.": dict(
                zip(names, [-v for v in lost])
            ),
            "that is the loss relative to the baseline. Percentage points are the plain difference"
            " of two percentages.": dict(zip(names, [100 * v / base for v in lost])),
            "ratio: this is upside down. How many times larger is the loss by fabricating?": {
                "ratio": lost[1] / lost[0]
            },
        }
        hint = (
            "Take the mean over the five models in each row, then the difference from the"
            " baseline's mean."
        )
        right(answer, truth, mistakes, hint, by=0.06)
        each = implied.drops(self.run)
        ratios = each.loc["fabricating"] / each.loc["withholding"]
        return (
            "wrong information costs more than missing information. The models' ratios go from"
            f" {ratios.min():.1f} to {ratios.max():.1f}; the paper prints 1.7 to 3.4 (section"
            " 4.4)."
        )

    @task(
        "4.6",
        "Write a dictionary with the points lost at each step and 'threshold' (the dimension that"
        " has one).",
    )
    def dose(self, answer):
        """Task 4.6: steps from severity 0 to 1 to 2 in Table 3 (section 4.2)."""
        mean, truth, whole, times = self.means(), {}, {}, {}
        for d in ("cognition", "logic"):
            none, some, most = (mean[n] for n in (BASELINE, *self.design.of(d)[1:]))
            truth |= {f"{d}, first step": none - some, f"{d}, second step": some - most}
            whole[f"{d}, second step"] = none - most
            times[d] = (some - most) / (none - some)
        *steps, threshold = fields(answer, [*truth, "threshold"])
        mistakes = {
            "the second step is from severity 1 to 2, not from 0 to 2.": whole,
            "points lost are positive here.": {k: -v for k, v in truth.items()},
        }
        hint = (
            "A step is the difference between the mean accuracies at two neighbouring severities."
        )
        right(dict(zip(truth, steps)), truth, mistakes, hint, by=0.11)
        jump = max(times, key=times.get)
        said = set(normal(threshold).split())
        if jump not in said or said & (times.keys() - {jump}):
            raise Wrong(
                "threshold: where does little happen at first, and then much? Compare the second"
                " step with the first in each dimension."
            )
        return (
            f"in {jump}, the second step costs {times[jump]:.1f} times as much as the first. With"
            " three doses and one set of cases, a threshold is one reading. The two levels of"
            " logic also differ in kind: a patient who contradicts an earlier answer gives the"
            " doctor a chance to notice."
        )

    @task("4.7", "Write a dictionary with 'p' and 'least' (a number of cases).")
    def six(self, answer):
        """Task 4.7: exact McNemar test on six cases."""
        p, least = numbers(answer, ["p", "least"], share=["p"])
        pairs, n = self.pairs("fabricating"), len(self.cases)
        true = stats.mcnemar_counts(*pairs)
        if not near(p, true, 0.006):
            if near(p, true / 2, 0.006):
                raise Wrong(
                    "p: that is one-sided. The behaviour could also have helped, so the two-sided"
                    " p is twice as large."
                )
            if near(p, stats.mcnemar_counts(n, 0), 0.006) or near(p, 0.5**n, 0.006):
                raise Wrong(
                    "p: only discordant cases count, those that are right in one condition and"
                    " wrong in the other. The other cases say nothing."
                )
            raise Wrong(
                "p: how likely is it that all discordant cases fall to the same side, if each"
                " falls like a fair coin? Either side counts."
            )
        needed = next(k for k in range(1, 100) if stats.mcnemar_counts(k, 0) < LEAST)
        if least == (fewer := needed - 1):
            raise Wrong(
                f"least: with {fewer} of {fewer} lost, the two-sided p is"
                f" {stats.mcnemar_counts(fewer, 0):.3f}."
            )
        if least != needed:
            raise Wrong("least: compute 2 × 0.5^k for k = 1, 2, 3, ... until it is below 0.05.")
        return (
            f"p = {true:.3f}. {pairs[0]} of {n} right diagnoses are lost, and it may still be"
            f" chance. With {n} cases, only a loss of {needed} of {needed} would be significant."
            f" With {implied.N} cases, the paper can detect a loss of"
            f" {100 * stats.mde_paired(implied.N, 0.2):.0f} points (if a fifth of the cases are"
            " discordant)."
        )
