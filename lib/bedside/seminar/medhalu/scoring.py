"""Tasks 3.4, 3.5 and 3.9: scores of detectors that don't read, from four counts, and for spans."""

from bedside import stats
from bedside.papers.medhalu import scores
from bedside.papers.medhalu import spans as marking
from bedside.papers.medhalu.implied import numbers as paper
from bedside.seminar import Wrong, near, numbers, task
from bedside.seminar.medhalu.material import Material

ALWAYS = ["accuracy", "F1, hallucinated", "F1, right", "macro F1"]
HAND = [
    "precision, hallucinated",
    "recall, hallucinated",
    "F1, hallucinated",
    "F1, right",
    "macro F1",
]
SPAN = ["precision", "recall", "F1"]
THIRD = (
    0.0006  # how near a third decimal must be: with two decimals, two kinds of mean may look alike
)
MACRO = 0.0015  # the same for the mean of two scores that were rounded


class Scoring(Material):
    """Accuracy, F1 and macro-F1 by hand, and token scores of marked words."""

    @task("3.4", f"Write a dictionary with {', '.join(ALWAYS)}: shares.")
    def always(self, answer):
        """Task 3.4: the detector that always says yes."""
        hits, rest = self.classes()
        accuracy, f1, other, macro = numbers(answer, ALWAYS, share=ALWAYS)
        true = stats.macro([hits, rest, 0, 0])
        mine = stats.harmonic(true[0], 1.0)
        if not near(accuracy, true[0]):
            raise Wrong(
                "accuracy: always saying yes is right wherever the answer is hallucinated. How"
                " large is that share?"
            )
        if not near(f1, mine):
            if near(f1, (true[0] + 1) / 2):
                raise Wrong(
                    "F1 is the harmonic mean of precision and recall, 2PR / (P + R), not their"
                    " arithmetic mean."
                )
            raise Wrong(
                "F1 of the hallucinated class: recall is 1 here, and precision is the share of yes"
                " verdicts that are right."
            )
        if not near(other, 0):
            raise Wrong(
                "F1 of the right answers: this detector never calls an answer right. This class"
                " has no true positives, so its F1 is 0."
            )
        if not near(macro, true[3]):
            if near(macro, mine):
                raise Wrong(
                    "that is the F1 of one class. Macro-F1 is the plain mean over both classes;"
                    " the class with F1 0 counts as much as the other."
                )
            if near(macro, true[0]):
                raise Wrong(
                    "that is the accuracy (the micro average). Macro-F1 is the mean of the two F1s."
                )
            raise Wrong("macro-F1 is the plain mean of the two F1s.")
        best = paper.wide(self.run, "Table 6", "Acc")["HealthQA"].loc[paper.LLMS].max()
        return (
            f"accuracy {true[0]:.2f}, macro-F1 {true[3]:.2f}. Without reading a word, this"
            f" detector's accuracy is above that of every model on HealthQA (Table 6: {best:.2f}"
            " at most). Its macro-F1 is below that of a coin."
        )

    @task("3.5", f"Write a dictionary with {', '.join(HAND)}: shares.")
    def by_hand(self, answer):
        """Task 3.5: precision, recall and F1 of both classes from four counts."""
        *rates, f, f0, macro = numbers(answer, HAND, share=HAND)
        tp, fp, fn, tn = self.first().values()
        both = (tp / (tp + fp), tp / (tp + fn)), (tn / (tn + fn), tn / (tn + fp))
        self._rates_by_hand(rates, both[0])
        for name, given, (p, r) in zip(HAND[2:4], (f, f0), both):
            self._f1_by_hand(name, given, p, r)
        self._macro_by_hand(macro, [tp, fp, fn, tn], [stats.harmonic(p, r) for p, r in both])
        mine = scores.counts(self.noted())
        i = stats.bootstrap(mine, self.run.rng("one"), combine=stats.macro)[3]
        coin = stats.macro([tp + fn, fp + tn, tp + fn, fp + tn])[3]
        return (
            f"macro-F1 {i.value:.2f}, as the library has it. With {i.n} answers, its 95%"
            f" confidence interval reaches from {i.low:.2f} to {i.high:.2f}. A fair coin has"
            f" {coin:.2f} at this share of hallucinated answers."
        )

    def _rates_by_hand(self, given, truth):
        """Precision and recall of the hallucinated class."""
        p, r = truth
        if near(given[0], r) and near(given[1], p) and not near(p, r):
            raise Wrong(
                "precision and recall are swapped. Precision: of the answers called hallucinated,"
                " how many are? Recall: of the hallucinated answers, how many are found?"
            )
        for name, value, true in zip(HAND[:2], given, truth):
            if not near(value, true):
                raise Wrong(
                    f"{name}: divide the true positives by all answers that were called"
                    " hallucinated (precision), or by all that are (recall)."
                )

    def _f1_by_hand(self, name, value, p, r):
        """F1 of a class with precision p and recall r."""
        truth = stats.harmonic(p, r)
        if near(value, truth, THIRD):
            return
        if value == round(value, 2) == round(truth, 2):
            raise Wrong(
                f"{name}: give three decimals. With two, the harmonic and the arithmetic mean may"
                " look alike."
            )
        if near(value, (p + r) / 2, THIRD):
            raise Wrong(
                f"{name}: that is the arithmetic mean of precision and recall. F1 is the harmonic"
                " mean, 2PR / (P + R), which is nearer to the smaller of the two."
            )
        raise Wrong(
            f"{name}: F1 is 2PR / (P + R). For the right answers, the true negatives take the"
            " place of the hits, and the two kinds of error change places."
        )

    def _macro_by_hand(self, value, counts, f1):
        """Macro-F1 of four counts; f1: F1 of the two classes."""
        accuracy, precision, recall, _ = stats.macro(counts)
        if near(value, sum(f1) / 2, MACRO):
            return
        if near(value, stats.harmonic(precision, recall), MACRO):
            raise Wrong(
                "that is the F1 of macro precision and macro recall. Some programs report it. Here"
                " (and in the usual definition) macro-F1 is the mean of the two F1s."
            )
        if near(value, accuracy, MACRO) or near(value, f1[0], MACRO):
            raise Wrong(
                "macro-F1 is neither the accuracy nor the F1 of the larger class. Take the plain"
                " mean of both classes' F1."
            )
        raise Wrong("macro-F1 is the plain mean of the two F1s above.")

    @task("3.9", f"Write a dictionary with {', '.join(SPAN)}: shares.")
    def span(self, answer):
        """Task 3.9: token scores of marking the whole answer."""
        p, r, f = numbers(answer, SPAN, share=SPAN)
        text, marks = self.of.at[self.spanned, "answer"], self.marks[self.spanned]
        precision, recall, f1 = marking.token_scores(text, marks, [text]).values()
        if near(p, recall) and near(r, precision):
            raise Wrong(
                "precision and recall are swapped. Marking everything misses nothing, so recall is"
                " 1."
            )
        if not near(p, precision) or not near(r, recall):
            raise Wrong(
                "precision is the share of labelled words among the marked ones (here all). Recall"
                " is the share of marked words among the labelled ones."
            )
        if not near(f, f1):
            if near(f, (p + r) / 2):
                raise Wrong("F1 is the harmonic mean, 2PR / (P + R); you took the arithmetic one.")
            raise Wrong("F1 is 2PR / (P + R).")
        return (
            f"a detector that marks every word and knows nothing has an F1 of {f1:.2f}. A score"
            " for spans means something only beside this one."
        )
