"""Tasks 1.4 to 1.7: how good the judge is, what two scores say, and what its errors do to a rate.

Each check knows the numbers that common mistakes lead to.
"""

from bedside.seminar import right, task
from bedside.seminar.cancer_myth.material import JUDGED, Material


class Judge(Material):
    """Kappa, sensitivity and specificity, PCR and PCS, and a rate corrected for the judge."""

    def _cells(self):
        """Counts (hit, missed, false alarm, rightly not) of the judge."""
        return self.counts.to_numpy(float).ravel()

    @task("1.4", 'Write {"agreement": ..., "by chance": ..., "kappa": ...} as shares.')
    def kappa(self, given):
        """Task 1.4: Cohen's kappa of judge and labels, corrected or not."""
        a, b, c, d = self._cells() / self._cells().sum()
        seen, chance = a + d, (a + b) * (a + c) + (c + d) * (b + d)
        kappa = (seen - chance) / (1 - chance)
        mistakes = {
            "you gave the agreement as kappa. Kappa asks how far agreement goes beyond that of two"
            " raters who guess at random but keep their own rates of 1s.": {"kappa": seen},
            "chance isn't one half here. Both say “not corrected” far more often than “corrected”,"
            " so they agree by chance more often.": {"by chance": 0.5},
            "agreement by chance has two parts: both say 1, and both say −1 or 0. You counted one"
            " of them.": {"by chance": (a + b) * (a + c)},
            "the last step is missing: divide what was gained over chance by what could be gained"
            " (1 − chance).": {"kappa": seen - chance},
        }
        hint = (
            "Agreement is the diagonal. For agreement by chance, multiply the row's share by the"
            " column's for each of the two cells of the diagonal, and add."
        )
        right(given, {"agreement": seen, "by chance": chance, "kappa": kappa}, mistakes, hint)
        return (
            f"an agreement of {seen:.2f} sounds like almost all. Kappa, {kappa:.2f}, takes away"
            " what the many uncorrected answers give for free. A constant judge reaches an"
            f" agreement of {c + d:.2f} with a kappa of 0."
        )

    @task("1.5", 'Write {"sensitivity": ..., "specificity": ...} as shares.')
    def rates(self, given):
        """Task 1.5: sensitivity and specificity of the judge."""
        a, b, c, d = self._cells()
        every, sens, spec = a + b + c + d, a / (a + b), d / (c + d)
        mistakes = {
            "sensitivity and specificity are swapped. Sensitivity is about the answers that do"
            " correct, specificity about those that don't.": {
                "sensitivity": spec,
                "specificity": sens,
            },
            "you divided by the columns: of the answers that the judge calls corrected, how many"
            " are? That is precision (positive predictive value). It changes with how many answers"
            " correct. Divide by the rows.": {"sensitivity": a / (a + c)},
            "you divided by the columns. For specificity, take the row of answers that don't"
            " correct.": {"specificity": d / (b + d)},
            "you divided by all answers. The denominator of each rate is its own row.": {
                "sensitivity": a / every
            },
            "this is the share of false alarms. Specificity is the rest of that row.": {
                "specificity": 1 - spec
            },
            "this is the overall agreement. Sensitivity and specificity each take one row.": {
                "sensitivity": (a + d) / every
            },
        }
        hint = (
            "The rows are what the labels say. Of the answers labelled 1, how many does the judge"
            " find? Of the others, how many does it leave alone?"
        )
        right(given, {"sensitivity": sens, "specificity": spec}, mistakes, hint)
        return (
            f"of 100 answers that correct, the judge misses about {100 * (1 - sens):.0f}; of 100"
            f" that don't, it calls about {100 * (1 - spec):.0f} corrected. Keep the second number"
            " in mind: most models rarely correct, so most answers are of the second kind."
        )

    @task("1.6", 'Write {"PCR": percent, "PCS": mean grade from -1 to 1}.')
    def scores(self, given):
        """Task 1.6: PCR and PCS of ten verdicts (section 4.2)."""
        v = self.ten["judged"].to_numpy(float)
        corrected, pcs = (v == 1).mean(), v.mean()
        pcr = 100 * corrected
        mistakes = {
            "PCR and PCS are swapped: R is for rate, a percentage; S is for score, a mean.": {
                "PCR": pcs,
                "PCS": pcr,
            },
            "PCR counts grade 1 only. Awareness without a correction (0) doesn't count (section"
            " 4.2).": {"PCR": 100 * (v >= 0).mean()},
            "PCS lost its minus signs: an unaware answer takes a point away.": {"PCS": corrected},
            "this is the sum of the grades. PCS is their mean.": {"PCS": v.sum()},
            "this is the mean of the grades shifted to 0, 1, 2. PCS keeps −1, 0, 1.": {
                "PCS": pcs + 1
            },
            "this is PCS on a scale from 0 to 1. The paper keeps −1 to 1.": {"PCS": (pcs + 1) / 2},
        }
        hint = (
            "PCR: grades of 1, in percent of all ten. PCS: add the grades with their signs and"
            " divide by ten."
        )
        right(given, {"PCR": pcr, "PCS": pcs}, mistakes, hint, by=0.02)
        return (
            f"PCR {pcr:.0f}%, PCS {pcs:+.1f}. The same PCS can come from many zeros, or from equal"
            " numbers of ones and minus ones. For patients these are not the same. An unscored"
            " answer would leave both sums, and n would be 9; nothing may be filled in for it."
        )

    def corrected_share(self):
        """Of JUDGED: percent called corrected if none is, and percent corrected (Rogan, Gladen)."""
        sens, spec = self.sensitivity.value, self.specificity.value
        hits, n = JUDGED
        return 100 * (1 - spec), 100 * max(0, (hits / n + spec - 1) / (sens + spec - 1))

    @task("1.7", 'Write {"if none": percent, "corrected": percent}.')
    def base_rate(self, given):
        """Task 1.7: what remains of a rate after the judge's errors."""
        a, _, c, _ = self._cells()
        sens, said = self.sensitivity.value, 100 * JUDGED[0] / JUDGED[1]
        none, corrected = self.corrected_share()
        mistakes = {
            "you took the judge at its word. Most answers don't correct. So even a small share of"
            " false alarms weighs as much as the hits: this is the base rate.": {"corrected": said},
            "you used the judge's precision on the labelled answers. There, one answer in three"
            " corrects. Here far fewer do, and precision falls with this base rate.": {
                "corrected": said * a / (a + c)
            },
            "you corrected for what the judge misses, not for its false alarms.": {
                "corrected": said / sens
            },
            "you took off the false alarms. The rest must still be divided by sensitivity +"
            " specificity − 1.": {"corrected": said - none},
            "this is what the judge misses (1 − sensitivity). If no answer corrects, only"
            " specificity matters.": {"if none": 100 * (1 - sens)},
            "if no answer corrects, the judge still gives false alarms, at a rate of 1 −"
            " specificity.": {"if none": 0},
        }
        hint = "Use the sensitivity and specificity of task 1.5, unrounded or with three decimals."
        right(given, {"if none": none, "corrected": corrected}, mistakes, hint, by=0.15)
        return (
            f"if no answer corrected anything, this judge would still call {none:.2f}% corrected."
            f" Of its {said:.0f}%, about {corrected:.1f}% remain. Below a judge's own rate of"
            " false alarms, a ranking of models is noise."
        )
