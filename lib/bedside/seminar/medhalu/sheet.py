"""MedHalu's seminar sheet: a reading of twelve answers, scores by hand, base rates, an expert's note, spans.

Sheet().check("3.4", {"accuracy": 0.75, ...}); every truth is computed from sample data, recordings and printed tables.
"""

from bedside import seminar, stats
from bedside.papers.medhalu import data as mh
from bedside.papers.medhalu import printed, scores
from bedside.seminar import Wrong, near, numbers, task
from bedside.seminar.medhalu.material import COUNTS, RATES, ROW, Material

RARE = 1 / 20  # share of wrong answers in the second part of task 3.7
ALWAYS = ["accuracy", "F1, hallucinated", "F1, right", "macro F1"]
HAND = [
    "precision, hallucinated",
    "recall, hallucinated",
    "F1, hallucinated",
    "F1, right",
    "macro F1",
]
COMMON = ["three in four wrong", "one in twenty wrong"]
NOTE = [
    "macro F1, notes beside wrong answers only",
    "macro F1, notes beside all answers",
    "specificity without a note",
    "specificity with a note",
]
SPAN = ["precision", "recall", "F1"]
LOOK = {
    "input": (
        "the label is another type. Does the answer say what was asked? Every sentence can be true"
        " and the answer still miss the question."
    ),
    "context": (
        "the label is another type. Two places in the answer can't both hold: look for the pair."
    ),
    "fact": (
        "the label is another type. The answer keeps to the question and doesn't contradict itself."
    ),
}


class Sheet(Material):
    """Sheet 3, "Can you see it?": the checks of its tasks."""

    @task(
        "3.1",
        'For each of the twelve items (verdict, sureness in percent, span), such as ("yes", 80,'
        ' "the words at fault") or ("no", 60, "-").',
    )
    def reading(self, answer):
        """Task 3.1: a reading that is complete."""
        made = self.read(answer)
        return (
            f"complete. You call {int(made['yes'].sum())} of {len(made)} hallucinated and are"
            f" {made['sure'].mean():.0f}% sure on average. Leave it as it is from now on: what you"
            " score below is this first reading."
        )

    @task(
        "3.2",
        "[my_reading, my_types]; my_types has input, context, fact or none for each of the twelve"
        " items.",
    )
    def types(self, answer):
        """Task 3.2: types of the hallucinated answers that were found."""
        made, types = (
            self.read(answer[0]).set_index("item"),
            dict(zip(self.twelve, seminar.fields(answer[1], self.twelve))),
        )
        if strange := [i for i, t in types.items() if t not in mh.TYPES]:
            raise Wrong(
                f"{strange[0]}: the type is one of {', '.join(mh.TYPES)}, not"
                f" {types[strange[0]]!r}."
            )
        if apart := [i for i, t in types.items() if (t == "none") == (made.at[i, "yes"] == 1)]:
            raise Wrong(
                f"{', '.join(apart)}: where your reading says no, the type is none; where it says"
                " yes, it is one of the three others."
            )
        found, truth = (
            [i for i in types if types[i] != "none" and self.of.at[i, "hallucinated"]],
            self.of["type"],
        )
        hints = {}
        for i in found:
            if types[i] != truth[i]:
                hints.setdefault(truth[i], []).append(i)
        if hints:
            raise Wrong(" ".join(f"{', '.join(which)}: {LOOK[t]}" for t, which in hints.items()))
        return (
            f"the types of the {len(found)} hallucinated answers that you found are those of the"
            " labels. Whether you missed some, or accused right ones, comes next. Types overlap:"
            " of two statements that clash one is false, too. Raters in the study had to choose"
            " one."
        )

    @task("3.3", "[my_reading, my_counts]; my_counts has the four counts and the accuracy.")
    def counted(self, answer):
        """Task 3.3: one's own confusion table."""
        shares = self.judged_by("you", self.read(answer[0]))
        *got, accuracy = numbers(answer[1], [*COUNTS, "accuracy"], share=["accuracy"])
        tp, fp, fn, tn = right = self.confusion(shares)
        if got != right:
            if got == [tp, fn, fp, tn]:
                raise Wrong(
                    "false positives and false negatives are swapped. Positive means: called"
                    " hallucinated. A false positive is a right answer that was accused."
                )
            if got == [tn, fn, fp, tp]:
                raise Wrong(
                    "the positive class is turned around. Positive means: called hallucinated, not:"
                    " called right."
                )
            if sum(got) != len(self.twelve):
                raise Wrong(
                    f"the four counts add up to {sum(got):g}; each of the {len(self.twelve)}"
                    " answers belongs into exactly one."
                )
            raise Wrong(
                "the counts don't fit the table above. Go through it row by row: first the label"
                " (right or hallucinated), then your verdict."
            )
        if not near(accuracy, (tp + tn) / len(self.twelve)):
            if tp + fn and near(accuracy, tp / (tp + fn)):
                raise Wrong(
                    "that is the share of hallucinated answers that you found, sensitivity (or"
                    " recall). Accuracy counts the right answers let pass, too."
                )
            raise Wrong(
                "accuracy is the share of all twelve verdicts that are right: both kinds of true"
                " over all four counts."
            )
        i = stats.wilson(tp + tn, len(self.twelve))
        return (
            f"{tp:.0f} of {tp + fn:.0f} hallucinated answers found, {tn:.0f} of {fp + tn:.0f} right"
            " ones let pass. With twelve answers the 95% interval of your accuracy reaches from"
            f" {i.low:.2f} to {i.high:.2f}."
        )

    @task("3.4", f"A dictionary with {', '.join(ALWAYS)}: shares.")
    def always(self, answer):
        """Task 3.4: the detector that always says yes."""
        hits, rest = int(self.items["hallucinated"].sum()), int((~self.items["hallucinated"]).sum())
        accuracy, f1, other, macro = numbers(answer, ALWAYS, share=ALWAYS)
        true = stats.macro([hits, rest, 0, 0])
        mine = stats.harmonic(true[0], 1.0)
        if not near(accuracy, true[0]):
            raise Wrong(
                "accuracy: always yes is right wherever the answer is hallucinated. How large is"
                " that share?"
            )
        if not near(f1, mine):
            if near(f1, (true[0] + 1) / 2):
                raise Wrong(
                    "F1 is the harmonic mean of precision and recall, 2PR / (P + R), not their"
                    " arithmetic mean."
                )
            raise Wrong(
                "F1 of the hallucinated class: recall is 1 here, and precision is the share of the"
                " yes that are right."
            )
        if not near(other, 0):
            raise Wrong(
                "F1 of the right answers: this detector never calls an answer right. No true"
                " positives of this class, so its F1 is 0."
            )
        if not near(macro, true[3]):
            if near(macro, mine):
                raise Wrong(
                    "that is the F1 of one class. Macro means: the plain mean over both classes;"
                    " the class with F1 0 counts as much."
                )
            if near(macro, true[0]):
                raise Wrong(
                    "that is the accuracy (the micro average). Macro-F1 takes the mean of the two"
                    " F1s."
                )
            raise Wrong("macro-F1 is the plain mean of the two F1s.")
        best = printed.wide(self.run, "Table 6", "Acc")["HealthQA"].loc[printed.LLMS].max()
        return (
            f"{true[0]:.2f} and {true[3]:.2f}. Without reading a word, this detector's accuracy is"
            f" above that of each model on HealthQA (Table 6: {best:.2f} at most); its macro-F1 is"
            " below that of a coin."
        )

    @task("3.5", f"A dictionary with {', '.join(HAND)}: shares.")
    def by_hand(self, answer):
        """Task 3.5: precision, recall and F1 of both classes from four counts."""
        got = numbers(answer, HAND, share=HAND)
        tp, fp, fn, tn = self.first().values()
        p, r, p0, r0 = tp / (tp + fp), tp / (tp + fn), tn / (tn + fn), tn / (tn + fp)
        f, f0 = stats.harmonic(p, r), stats.harmonic(p0, r0)
        true = stats.macro([tp, fp, fn, tn])
        if near(got[0], r) and near(got[1], p) and not near(p, r):
            raise Wrong(
                "precision and recall are swapped. Precision: of those called hallucinated, how"
                " many are? Recall: of the hallucinated ones, how many are found?"
            )
        for name, value, right in zip(HAND[:2], got, (p, r)):
            if not near(value, right):
                raise Wrong(
                    f"{name}: divide the true positives by all that were called hallucinated"
                    " (precision) or by all that are (recall)."
                )
        for name, value, right, mean in zip(
            HAND[2:4], got[2:4], (f, f0), ((p + r) / 2, (p0 + r0) / 2)
        ):
            if value == round(value, 2) == round(right, 2) and not near(value, right, 0.0006):
                raise Wrong(
                    f"{name}: give three decimals; with two, the harmonic and the arithmetic mean"
                    " may look alike."
                )
            if near(value, mean, 0.0006) and not near(value, right, 0.0006):
                raise Wrong(
                    f"{name}: that is the arithmetic mean of precision and recall. F1 is the"
                    " harmonic one, 2PR / (P + R), nearer to the smaller of both."
                )
            if not near(value, right, 0.0006):
                raise Wrong(
                    f"{name}: F1 is 2PR / (P + R). For the right answers the true negatives play"
                    " the part of the hits, and the two kinds of error change places."
                )
        if not near(got[4], (f + f0) / 2, 0.0015):
            if near(got[4], stats.harmonic(true[1], true[2]), 0.0015):
                raise Wrong(
                    "that is the F1 of macro precision and macro recall. Some programs report it;"
                    " here (and in the usual definition) it is the mean of the two F1s."
                )
            if near(got[4], true[0], 0.0015) or near(got[4], f, 0.0015):
                raise Wrong(
                    "macro-F1 is neither the accuracy nor the F1 of the common class: take the"
                    " plain mean of both classes' F1."
                )
            raise Wrong("macro-F1 is the plain mean of the two F1s above.")
        i = stats.bootstrap(
            scores.counts(self.judged_by(self.model, self.once())),
            self.run.rng("one"),
            combine=stats.macro,
        )[3]
        coin = stats.macro([tp + fn, fp + tn, tp + fn, fp + tn])[3]
        return (
            f"macro-F1 {i.value:.2f}, as stats.macro has it. From {i.n} answers its 95% interval"
            f" reaches from {i.low:.2f} to {i.high:.2f}; a fair coin has {coin:.2f} at this share"
            " of hallucinated answers."
        )

    @task("3.6", f"A dictionary with {' and '.join(RATES)}: shares.")
    def rates(self, answer):
        """Task 3.6: sensitivity and specificity behind a printed row (Table 6)."""
        got, right = numbers(answer, RATES, share=RATES), self.row("Table 6")
        if all(near(g, r, 0.03) for g, r in zip(got, right[::-1])):
            raise Wrong(
                "the two are swapped. Sensitivity is about the hallucinated answers, specificity"
                " about the right ones."
            )
        if near(sum(got), sum(right), 0.01) and near(*got, 0.02):
            raise Wrong(
                "macro recall is the mean of the two, but they aren't equal: accuracy weighs them"
                " by the shares of the answers, and it is lower."
            )
        if not near(sum(got), sum(right), 0.03):
            raise Wrong(
                "macro recall is the plain mean of sensitivity and specificity: they must add up"
                f" to {sum(right):.2f}."
            )
        if not all(near(g, r, 0.03) for g, r in zip(got, right)):
            raise Wrong(
                "the sum is right. Now accuracy = share hallucinated x sensitivity + share right x"
                " specificity; the first share is about 3/4."
            )
        p, n = printed.classes(self.run)[ROW[1]]
        yes = (p * right[0] + n * (1 - right[1])) / (p + n)
        return (
            f"it says yes to only {100 * yes:.0f}% of the answers, where {100 * p / (p + n):.0f}%"
            " are hallucinated: a cautious detector, not one that reads at random. One accuracy"
            " hides this. (Printed numbers are rounded; within 0.03 counts as right.)"
        )

    @task("3.7", f"A dictionary with {' and '.join(map(repr, COMMON))}: shares.")
    def common(self, answer):
        """Task 3.7: the same detector at two base rates."""
        got, (found, passed) = numbers(answer, COMMON, share=COMMON), self.row("Table 6")
        right = [found * s / (found * s + (1 - passed) * (1 - s)) for s in (0.75, RARE)]
        if near(*got, 0.02):
            raise Wrong(
                "the base rate is forgotten: the same detector in another place. Put 100 answers"
                " into four cells for each of the two places."
            )
        if near(got[1], found, 0.02) or near(got[0], found, 0.02):
            raise Wrong(
                "that is the sensitivity: of the hallucinated answers those it flags. Asked is the"
                " reverse: of the flagged ones those that are hallucinated."
            )
        if any(near(g, 1 - r, 0.02) for g, r in zip(got, right)) and not near(
            got[0], right[0], 0.03
        ):
            raise Wrong(
                "that is the share of flagged answers that are right (false alarms). Asked are the"
                " true ones."
            )
        if not all(near(g, r, 0.03) for g, r in zip(got, right)):
            raise Wrong(
                "of 100 answers take the hallucinated ones times sensitivity (flagged rightly) and"
                " the right ones times 1 - specificity (flagged wrongly)."
            )
        return (
            f"{right[0]:.2f} and {right[1]:.2f}. The detector is the same. Where errors are rare,"
            " most of its warnings are false, and people learn to ignore them."
        )

    @task("3.8", f"A dictionary with {', '.join(map(repr, NOTE))}: shares.")
    def note(self, answer):
        """Task 3.8: what a note gives away, and what it does to specificity (Table 10)."""
        got = numbers(answer, NOTE, share=NOTE)
        hits, rest = int(self.items["hallucinated"].sum()), int((~self.items["hallucinated"]).sum())
        only, every = stats.macro([hits, 0, 0, rest])[3], stats.macro([hits, rest, 0, 0])
        (found, before), (found_then, after) = self.row("Table 6"), self.row("Table 10")
        if not near(got[0], only):
            raise Wrong(
                f"{NOTE[0]}: it says yes exactly where a note stands, so exactly to the wrong"
                " answers. How many errors are left?"
            )
        if near(got[1], every[0]):
            raise Wrong(
                f"{NOTE[1]}: that is its accuracy. With a note everywhere it is the detector that"
                " always says yes (task 3.4)."
            )
        if not near(got[1], every[3]):
            raise Wrong(f"{NOTE[1]}: a note everywhere, so yes everywhere: task 3.4.")
        if near(got[2], after, 0.03) and near(got[3], before, 0.03):
            raise Wrong(
                "without and with a note are swapped: without is Table 6, with is Table 10."
            )
        if near(got[2], found, 0.03) or near(got[3], found_then, 0.03):
            raise Wrong(
                "that is a sensitivity. Specificity: the share of right answers that are let pass."
            )
        if not near(got[2], before, 0.03) or not near(got[3], after, 0.03):
            raise Wrong(
                "work out both as in task 3.6, from accuracy and macro recall of Table 6 (without)"
                " and Table 10 (with a note)."
            )
        return (
            f"specificity falls from {before:.2f} to {max(after, 0):.2f} while sensitivity rises"
            f" from {found:.2f} to {min(found_then, 1):.2f}: with a note the model says yes nearly"
            " always. Macro-F1 rises all the same. (Table 10 may be about fewer answers than Table"
            " 4; the paper doesn't say.)"
        )

    @task("3.9", f"A dictionary with {', '.join(SPAN)}: shares.")
    def span(self, answer):
        """Task 3.9: token scores of marking everything."""
        p, r, f = numbers(answer, SPAN, share=SPAN)
        text = self.of.at[self.spanned, "answer"]
        right = list(scores.token_scores(text, self.marks[self.spanned], [text]).values())
        if near(p, right[1]) and near(r, right[0]):
            raise Wrong(
                "precision and recall are swapped: marking everything misses nothing, so it is"
                " recall that is 1."
            )
        if not near(p, right[0]) or not near(r, right[1]):
            raise Wrong(
                "precision: labelled words among the marked ones (all). Recall: marked words among"
                " the labelled ones."
            )
        if near(f, (p + r) / 2) and not near(f, right[2]):
            raise Wrong("F1 is the harmonic mean, 2PR / (P + R); you took the arithmetic one.")
        if not near(f, right[2]):
            raise Wrong("F1 is 2PR / (P + R).")
        return (
            f"{right[2]:.2f} for a detector that marks every word and knows nothing. A score for"
            " spans means something only beside this one."
        )
