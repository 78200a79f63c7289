"""What needs no n: ranges of numbers, scores that must agree with each other, spread on a scale.

A check that lacks n, or another thing, asks here first. Exact fractions decide.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from bedside import stats

from .conventions import scale
from .numbers import SHARES, Row
from .verdicts import Result, decided, number, untestable

TWO = "two classes, both occur; one matrix of any n"
SEVERAL = "they are means over classes, folds, raters or runs"
OTHER_KAPPA = "kappa is weighted, or of more than two classes"
SCALED = [kind for kind in SHARES if kind != "kappa"]  # what may have been meant in percent
AVERAGES = ("", "macro ", "weighted ")


def scale_of(row: Row) -> tuple[int, int] | None:
    """(least, most) grade by the row's settings or those of a mean that it refers to, or None."""
    return next((scale(r.settings["scale"]) for r in (row, *row.of) if "scale" in r.settings), None)


def limits(row: Row) -> stats.Ends | None:
    """Between which ends a number of its kind lies, in its own unit; None without any."""
    ends = None
    if row.kind in (*SHARES, "p"):
        ends = Fraction(-1 if row.kind == "kappa" else 0) / row.unit, 1 / row.unit
    elif row.kind == "mean" and (given := scale_of(row)):
        ends = Fraction(given[0]), Fraction(given[1])
    return ends


def outside(row: Row) -> bool:
    """Whether a number lies beyond what numbers of its kind can be, however it was rounded."""
    if (ends := limits(row)) is None:
        return False
    x = row.number
    if x.sign == "<":
        return x.value < ends[0]
    return x.value >= ends[1] if x.sign == ">" else not stats.meet(x.span(), ends)


def alone(check: str, row: Row, why: str) -> Result:
    """A number that can't be tested otherwise: impossible beyond its kind's range.

    why: what the check lacks.
    """
    if not outside(row):
        return untestable(check, why)
    low, high = limits(row)
    near = row.number.printed(low if row.number.value < low else high)
    told = f"Values of {row.kind} lie from {number(low)} to {number(high)}{'%' * row.percent}."
    if row.kind in SCALED and not row.percent and 1 < row.number.value <= 100:
        told += " Write a percent sign if it is in percent."
    lines = f"Printed is {row.text}.", told
    return Result(check, "impossible", "", lines, near, "the range only", "any n")


def scores(name: str, group: Sequence[Row], classes: int, why: str) -> Result:
    """Scores of one matrix of unknown size, or too large to be searched; why: what is lacking.

    classes: their number, 0 where it isn't given.
    """
    if far := [r for r in group if outside(r)]:
        return alone(name, far[0], why)
    spans = {r.kind: r.number.span(r.unit) for r in group}
    if len(group) == 1 or len(spans) < len(group):
        return untestable(name, why)
    bare = {kind: ends for kind, ends in spans.items() if kind != "kappa"}
    two = classes in (0, 2)
    broken = _broken(spans, classes)
    fits = two and not broken and stats.score_ranges(spans) is not None
    ways = [(SEVERAL, not broken)]
    if not broken and "kappa" in spans and two and stats.score_ranges(bare):
        ways = [(OTHER_KAPPA, classes != 2), (SEVERAL, True)]
    verdict = decided(fits, ways)
    known = why == NO_N and set(spans) <= stats.LINES.keys()  # of others there are bounds only
    if not broken and (not two or (fits and not known)):
        return untestable(name, why)
    listed = ", ".join(f"{r.kind} {r.text}" for r in group)
    can = _given(group, spans) if two else ""
    told = broken or (f"given the others, {can}" if can else "no one of them alone explains it")
    what = "no data print" if broken else f"{'some' if fits else 'no'} 2x2 matrix prints"
    lines = f"{listed}: {what} so, of any n.", f"{told[0].upper()}{told[1:]}."
    condition = "all averaged alike, whatever the classes" if broken else TWO
    return Result(name, *verdict, lines, "" if fits else can, f"by rounding only: {why}", condition)


NO_N = "n is not given"


def _given(group, spans):
    """What each of a few scores could be, given the others."""
    told = []
    for r in group:
        ends = stats.score_ranges({k: v for k, v in spans.items() if k != r.kind})
        if ends and (ends[r.kind][0] > 0 or ends[r.kind][1] < 1):
            low, high = (r.number.printed(end / r.unit) for end in ends[r.kind])
            told.append(f"{r.kind} can be {low} to {high}")
    return " or ".join(told)


def _broken(spans, classes):
    """Which rule scores break that also holds of means over classes, folds, raters or runs."""
    for average in AVERAGES:
        names = (average + "precision", average + "recall", average + "f1")
        precision, recall, f1 = (spans.get(name, stats.WHOLE) for name in names)
        low, high = stats.mean_f1_range(precision, recall)
        if not stats.meet(f1, (low, high)):
            told = f"{average}F1 can be {number(low)} to {number(high)}, also as a mean of F1"
            return f"given the {' and the '.join(n for n in names[:2] if n in spans)}, {told}"
    accuracy, weighted = spans.get("accuracy"), spans.get("weighted recall")
    if accuracy and weighted and not stats.meet(accuracy, weighted):
        return "the weighted recall is the accuracy, whatever the classes"
    if classes == 2 and (told := _of_two(spans)):
        return told
    return ""


def _of_two(spans):
    """Which rule of means over matrices of two classes is broken."""
    accuracy, both = spans.get("accuracy"), spans.get("macro recall")
    recall, specificity = spans.get("recall"), spans.get("specificity")
    if recall and specificity:
        sums = recall[0] + specificity[0], recall[1] + specificity[1]
        if both and not stats.meet(both, (sums[0] / 2, sums[1] / 2)):
            return "the macro recall is the mean of recall and specificity"
        if accuracy and not stats.meet(accuracy, (sums[0] - 1, sums[1])):
            return "the accuracy is at most recall and specificity together"
    if accuracy and both and not stats.meet(accuracy, (2 * both[0] - 1, 2 * both[1])):
        return "the accuracy is at most twice the macro recall"
    return ""


def positives(name: str, groups: Sequence[Sequence[Row]], why: str) -> Result:
    """Rows about the same items, of unknown number: can the share of positives be the same?"""
    found = [stats.score_ranges({r.kind: r.number.span(r.unit) for r in g}) for g in groups]
    if len(groups) < 2 or None in found:
        return untestable(name, why)
    ends = [ranges["positives"] for ranges in found]
    if max(low for low, _ in ends) <= min(high for _, high in ends):
        return untestable(name, why)
    turned = [(1 - high, 1 - low) for low, high in ends]
    ways = [[*ends[:k], turned[k], *ends[k + 1 :]] for k in range(len(ends))]
    one = any(max(low for low, _ in way) <= min(high for _, high in way) for way in ways)
    told = [f"{g[0].row}: {number(low)} to {number(high)}" for g, (low, high) in zip(groups, ends)]
    lines = f"Shares of positives that each row allows: {'; '.join(told)}.", "None is in all rows."
    only = [("one row counts the other class as positive", one), (SEVERAL, True)]
    return Result(name, *decided(False, only), lines, "", "bounds only", TWO)


def deviation(row: Row, of: Row | None, n: int | None, why: str) -> Result:
    """A standard deviation held against its scale and mean, without all sets of grades.

    Its square is at most (mean - least) (most - mean), times n / (n - 1) for a sample; of whole
    grades at least f (1 - f), where f is what the mean has after its point.
    """
    grades = scale_of(row) or (of and scale_of(of))
    low, high = row.number.span()
    if high < 0:
        told = f"Printed is {row.text}.", "No deviation is below 0."
        return Result("sd", "impossible", "", told, row.number.printed(0), "the range only")
    ends = of.number.span() if of else grades
    if grades and ends:
        ends = max(ends[0], Fraction(grades[0])), min(ends[1], Fraction(grades[1]))
    if not ends or ends[0] > ends[1]:
        return untestable("sd", why)
    least = _least(ends) if of else Fraction(0)
    most = _most(ends, grades) * (Fraction(n, n - 1) if n and n > 1 else 2) if grades else None
    below, above = high**2 < least, most is not None and max(low, Fraction(0)) ** 2 > most
    if not (below or above):
        return untestable("sd", why)
    steps = "grades have steps, or are no whole numbers"
    verdict = decided(False, [(steps, below and not above)])
    near = row.number.printed(float(least if below else most) ** 0.5)
    between = f"at least {number(float(least) ** 0.5)}" if below else ""
    between = between or f"at most {number(float(most) ** 0.5)}"
    where = f" from {grades[0]} to {grades[1]}" if grades else ""
    about = f" with a mean of {of.text}" if of else ""
    lines = f"Grades{where}{about} have a deviation of {between}.", f"Printed is {row.text}."
    return Result("sd", *verdict, lines, near, "bounds only", "whole grades, n or n - 1")


def _least(ends):
    """The least f (1 - f) of means between these ends."""
    if floor(ends[0]) < floor(ends[1]) or ends[0] == floor(ends[0]):
        return Fraction(0)
    return min((end - floor(end)) * (1 - end + floor(end)) for end in ends)


def _most(ends, grades):
    """The largest (m - least) (most - m) of means between these ends."""
    middle = min(max(Fraction(sum(grades), 2), ends[0]), ends[1])
    return (middle - grades[0]) * (grades[1] - middle)
