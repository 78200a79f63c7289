"""Seminar sheet 3, Can you see it?: a reading of twelve answers, scores, base rates, a note, spans.

Every right answer is computed from sample data, recordings and printed tables.

What the checks say is in words.toml beside this file.
"""

from bedside import stats
from bedside.papers.medhalu import data as mh
from bedside.papers.medhalu import printed as paper
from bedside.papers.medhalu import scores
from bedside.papers.medhalu import spans as marking
from bedside.seminar import Wrong, choice, fields, near, numbers, task
from bedside.seminar.medhalu.material import COUNTS, RATES, ROW, Material
from bedside.seminar.medhalu.slips import Slips

KINDS = {
    **{k: (f"{k} conflict", f"{k} conflicting") for k in ("input", "context", "fact")},
    "none": ("-", "no", "not hallucinated", "no hallucination"),
}  # other words for a type
ALWAYS = ["accuracy", "F1, hallucinated", "F1, right", "macro F1"]
HAND = ["precision, hallucinated", "recall, hallucinated", *ALWAYS[1:]]
SPAN = ["precision", "recall", "F1"]
RARE = 1 / 20  # share of wrong answers in the second part of task 3.7
COMMON = ["three in four wrong", "one in twenty wrong"]
NOTE = [
    "macro F1, notes beside wrong answers only",
    "macro F1, notes beside all answers",
    "specificity without a note",
    "specificity with a note",
]
PRINTED = 0.03  # how near is near enough where the truth comes from printed, rounded numbers
# how near a third decimal must be: with two decimals, two kinds of mean may look alike
THIRD = 0.0006
MACRO = 0.0015  # the same for the mean of two scores that were rounded


def _all_near(given, truth, by=0.01):
    """Whether all these numbers are near those."""
    return all(near(g, t, by) for g, t in zip(given, truth))


class Sheet(Material, Slips):
    """The checks of sheet 3; each knows what common mistakes lead to."""

    # ---- a reading

    @task("3.1", free=True)
    def reading(self, answer):
        """Task 3.1: a reading that is complete."""
        made = self.read(answer)
        return self.said(yes=int(made["yes"].sum()), n=len(made), sure=made["sure"].mean())

    @task("3.2")
    def types(self, answer):
        """Task 3.2: types of the hallucinated answers that were found."""
        yes = self.read(answer[0]).set_index("item")["yes"] == 1
        said = dict(zip(self.twelve, fields(answer[1], self.twelve)))
        types = {i: choice(t, KINDS) for i, t in said.items()}
        if strange := [i for i, t in types.items() if t not in mh.TYPES]:
            known = ", ".join(mh.TYPES)
            raise self.wrong("no type", item=strange[0], types=known, said=said[strange[0]])
        apart = [i for i, t in types.items() if (t == "none") == yes[i]]
        self.refuse({"apart": apart}, items=", ".join(apart))
        found = [i for i, t in types.items() if t != "none" and self.of.at[i, "hallucinated"]]
        truth, hints = self.of["type"], {}
        for i in found:
            if types[i] != truth[i]:
                hints.setdefault(truth[i], []).append(i)
        if hints:
            raise Wrong(" ".join(f"{', '.join(i)}: {self.said(t)}" for t, i in hints.items()))
        return self.said(n=len(found))

    @task("3.3")
    def counted(self, answer):
        """Task 3.3: one's own confusion table."""
        truth = self.confusion(self.shares_of("you", self.read(answer[0])))
        *got, accuracy = numbers(answer[1], [*COUNTS, "accuracy"], share=["accuracy"])
        (tp, fp, fn, tn), n = truth, len(self.twelve)
        right = (tp + tn) / n
        cases = {
            "swapped": got == [tp, fn, fp, tn] != truth,
            "turned": got == [tn, fn, fp, tp] != truth,
            "sum": sum(got) != n,
            "table": got != truth,
            "sensitivity": not near(accuracy, right) and tp + fn and near(accuracy, tp / (tp + fn)),
            "accuracy": not near(accuracy, right),
        }
        self.refuse(cases, sum=sum(got), n=n)
        i = stats.share([True] * int(tp + tn) + [False] * int(fp + fn))
        sizes = {"hallucinated": tp + fn, "rest": fp + tn}
        return self.said(tp=tp, tn=tn, low=i.low, high=i.high, **sizes)

    # ---- scores

    @task("3.4")
    def always(self, answer):
        """Task 3.4: the detector that always says yes."""
        hits, rest = self.classes()
        accuracy, f1, other, macro = numbers(answer, ALWAYS, share=ALWAYS)
        true = stats.macro([hits, rest, 0, 0])
        mine = stats.harmonic(true[0], 1.0)
        off, off_macro = not near(f1, mine), not near(macro, true[3])
        cases = {
            "accuracy": not near(accuracy, true[0]),
            "harmonic": off and near(f1, (true[0] + 1) / 2),
            "f1": off,
            "no hits": not near(other, 0),
            "one class": off_macro and near(macro, mine),
            "micro": off_macro and near(macro, true[0]),
            "macro": off_macro,
        }
        self.refuse(cases)
        best = paper.wide(self.run, "Table 6", "Acc")["HealthQA"].loc[paper.LLMS].max()
        return self.said(accuracy=true[0], macro=true[3], best=best)

    @task("3.5")
    def by_hand(self, answer):
        """Task 3.5: precision, recall and F1 of both classes from four counts."""
        *rates, f, f0, macro = numbers(answer, HAND, share=HAND)
        tp, fp, fn, tn = self.first().values()
        both = (tp / (tp + fp), tp / (tp + fn)), (tn / (tn + fn), tn / (tn + fp))
        p, r = both[0]
        self.refuse({"swapped": _all_near(rates, (r, p)) and not near(p, r)})
        for name, value, true in zip(HAND[:2], rates, both[0]):
            self.refuse({"rate": not near(value, true)}, name=name)
        for name, given, (p, r) in zip(HAND[2:4], (f, f0), both):
            self._f1_by_hand(name, given, p, r)
        self._macro_by_hand(macro, [tp, fp, fn, tn], [stats.harmonic(p, r) for p, r in both])
        noted = self.noted()
        i = scores.macro(scores.counts(noted), noted["unit"])[3]
        coin = stats.macro([tp + fn, fp + tn, tp + fn, fp + tn])[3]
        return self.said(value=i.value, n=i.n, low=i.low, high=i.high, coin=coin)

    def _f1_by_hand(self, name, value, p, r):
        """F1 of a class with precision p and recall r."""
        truth = stats.harmonic(p, r)
        off = not near(value, truth, THIRD)
        cases = {
            "decimals": off and value == round(value, 2) == round(truth, 2),
            "arithmetic": off and near(value, (p + r) / 2, THIRD),
            "f1": off,
        }
        self.refuse(cases, name=name)

    def _macro_by_hand(self, value, counts, f1):
        """Macro-F1 of four counts; f1: F1 of the two classes."""
        accuracy, precision, recall, _ = stats.macro(counts)
        off = not near(value, sum(f1) / 2, MACRO)
        cases = {
            "of means": off and near(value, stats.harmonic(precision, recall), MACRO),
            "accuracy": off and (near(value, accuracy, MACRO) or near(value, f1[0], MACRO)),
            "macro": off,
        }
        self.refuse(cases)

    # ---- printed rows

    @task("3.6")
    def rates(self, answer):
        """Task 3.6: sensitivity and specificity behind a printed row (Table 6)."""
        got, truth = numbers(answer, RATES, share=RATES), self.row("Table 6")
        cases = {
            "swapped": _all_near(got, truth[::-1], PRINTED),
            "equal": near(sum(got), sum(truth), 0.01) and near(*got, 0.02),
            "sum": not near(sum(got), sum(truth), PRINTED),
            "accuracy": not _all_near(got, truth, PRINTED),
        }
        self.refuse(cases, sum=sum(truth))
        p, n = paper.classes(self.run)[ROW[1]]
        yes = (p * truth[0] + n * (1 - truth[1])) / (p + n)
        return self.said(yes=100 * yes, share=100 * p / (p + n))

    @task("3.7")
    def common(self, answer):
        """Task 3.7: the same detector at two base rates."""
        got, (found, passed) = numbers(answer, COMMON, share=COMMON), self.row("Table 6")
        truth = [found * s / (found * s + (1 - passed) * (1 - s)) for s in (0.75, RARE)]
        alarms = any(near(g, 1 - t, 0.02) for g, t in zip(got, truth))
        cases = {
            "base rate": near(*got, 0.02),
            "sensitivity": near(got[1], found, 0.02) or near(got[0], found, 0.02),
            "false alarms": alarms and not near(got[0], truth[0], PRINTED),
            "hint": not _all_near(got, truth, PRINTED),
        }
        self.refuse(cases)
        return self.said(first=truth[0], second=truth[1])

    @task("3.8")
    def note(self, answer):
        """Task 3.8: what a note gives away, and what it does to specificity (Table 10)."""
        wrong_only, all_noted, without, noted = numbers(answer, NOTE, share=NOTE)
        hits, rest = self.classes()
        only, every = stats.macro([hits, 0, 0, rest])[3], stats.macro([hits, rest, 0, 0])
        (found, before), (found_then, after) = self.row("Table 6"), self.row("Table 10")
        two, printed = (without, noted), (before, after)
        cases = {
            "only": not near(wrong_only, only),
            "accuracy": near(all_noted, every[0]),
            "every": not near(all_noted, every[3]),
            "swapped": _all_near(two, printed[::-1], PRINTED),
            "sensitivity": near(without, found, PRINTED) or near(noted, found_then, PRINTED),
            "hint": not _all_near(two, printed, PRINTED),
        }
        self.refuse(cases)
        after, then = max(after, 0), min(found_then, 1)
        return self.said(before=before, after=after, found=found, then=then)

    # ---- spans

    @task("3.9")
    def span(self, answer):
        """Task 3.9: token scores of marking the whole answer."""
        p, r, f = numbers(answer, SPAN, share=SPAN)
        text, marks = self.of.at[self.spanned, "answer"], self.marks[self.spanned]
        precision, recall, f1 = marking.token_scores(text, marks, [text]).values()
        off = not near(f, f1)
        cases = {
            "swapped": _all_near((p, r), (recall, precision)),
            "rates": not _all_near((p, r), (precision, recall)),
            "harmonic": off and near(f, (p + r) / 2),
            "f1": off,
        }
        self.refuse(cases)
        return self.said(f1=f1)
