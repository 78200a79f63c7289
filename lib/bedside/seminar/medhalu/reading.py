"""Tasks 3.1 to 3.3: reading twelve answers, sorting errors, counting one's own verdicts."""

from bedside import stats
from bedside.papers.medhalu import data as mh
from bedside.seminar import Wrong, choice, fields, near, numbers, task
from bedside.seminar.medhalu.material import COUNTS, Material

LOOK = {
    "input": (
        "the label is another type. Does the answer say what was asked? Every sentence can be"
        " true, and the answer can still miss the question."
    ),
    "context": (
        "the label is another type. Two statements in the answer can't both hold: look for the"
        " pair."
    ),
    "fact": (
        "the label is another type. The answer keeps to the question and doesn't contradict itself."
    ),
}  # what to look at in an answer of this type that was taken for another type
KINDS = {
    **{k: (f"{k} conflict", f"{k} conflicting") for k in LOOK},
    "none": ("-", "no", "not hallucinated", "no hallucination"),
}  # other words for a type


class Reading(Material):
    """A reading of twelve answers, the types of their errors, and its confusion table."""

    @task(
        "3.1",
        'For each of the twelve items write (verdict, sureness in percent, span), such as ("yes",'
        ' 80, "the words at fault") or ("no", 60, "-").',
        free=True,
    )
    def reading(self, answer):
        """Task 3.1: a reading that is complete."""
        made = self.read(answer)
        return (
            f"your reading is complete. You call {int(made['yes'].sum())} of {len(made)} answers"
            f" hallucinated, and you are {made['sure'].mean():.0f}% sure on average. Leave it as"
            " it is from now on: below you score this first reading."
        )

    @task(
        "3.2",
        "[my_reading, my_types]; my_types has input, context, fact or none for each of the twelve"
        " items.",
    )
    def types(self, answer):
        """Task 3.2: types of the hallucinated answers that were found."""
        yes = self.read(answer[0]).set_index("item")["yes"] == 1
        said = dict(zip(self.twelve, fields(answer[1], self.twelve)))
        types = {i: choice(t, KINDS) for i, t in said.items()}
        if strange := [i for i, t in types.items() if t not in mh.TYPES]:
            first = strange[0]
            raise Wrong(f"{first}: the type is one of {', '.join(mh.TYPES)}, not {said[first]!r}.")
        if apart := [i for i, t in types.items() if (t == "none") == yes[i]]:
            raise Wrong(
                f"{', '.join(apart)}: where your reading says no, the type is none. Where it says"
                " yes, the type is one of the three others."
            )
        found = [i for i, t in types.items() if t != "none" and self.of.at[i, "hallucinated"]]
        truth, hints = self.of["type"], {}
        for i in found:
            if types[i] != truth[i]:
                hints.setdefault(truth[i], []).append(i)
        if hints:
            raise Wrong(" ".join(f"{', '.join(which)}: {LOOK[t]}" for t, which in hints.items()))
        return (
            f"the types of the {len(found)} hallucinated answers that you found agree with the"
            " labels. Whether you missed some, or accused right ones, comes next. Types overlap:"
            " of two statements that clash, one is usually false, too. Raters in the study had to"
            " choose one type."
        )

    @task("3.3", "[my_reading, my_counts]; my_counts has the four counts and the accuracy.")
    def counted(self, answer):
        """Task 3.3: one's own confusion table."""
        truth = self.confusion(self.shares_of("you", self.read(answer[0])))
        *got, accuracy = numbers(answer[1], [*COUNTS, "accuracy"], share=["accuracy"])
        (tp, fp, fn, tn), n = truth, len(self.twelve)
        if got != truth:
            if got == [tp, fn, fp, tn]:
                raise Wrong(
                    "false positives and false negatives are swapped. Positive means: called"
                    " hallucinated. A false positive is a right answer that was called"
                    " hallucinated."
                )
            if got == [tn, fn, fp, tp]:
                raise Wrong(
                    "the positive class is turned around. Positive means called hallucinated, not"
                    " called right."
                )
            if sum(got) != n:
                raise Wrong(
                    f"the four counts add up to {sum(got):g}, but each of the {n} answers belongs"
                    " to exactly one of them."
                )
            raise Wrong(
                "the counts don't fit the table above. Go through it row by row: first the label"
                " (right or hallucinated), then your verdict."
            )
        if not near(accuracy, (tp + tn) / n):
            if tp + fn and near(accuracy, tp / (tp + fn)):
                raise Wrong(
                    "that is sensitivity (or recall), the share of hallucinated answers that you"
                    " found. Accuracy also counts the right answers that you let pass."
                )
            raise Wrong(
                "accuracy is the share of all twelve verdicts that are right: true positives and"
                " true negatives over all four counts."
            )
        i = stats.wilson(tp + tn, n)
        return (
            f"you found {tp:.0f} of {tp + fn:.0f} hallucinated answers and let pass {tn:.0f} of"
            f" {fp + tn:.0f} right ones. With twelve answers, the 95% confidence interval of your"
            f" accuracy reaches from {i.low:.2f} to {i.high:.2f}."
        )
