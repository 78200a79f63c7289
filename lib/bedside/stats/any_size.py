"""What printed scores allow where nobody says of how many items: exact bounds, as fractions.

A score within its ends is a linear inequality in a matrix's cells, such as 2 low (TP + FP) <= TP,
and so the matrices of all sizes that fit are a cone. Its edges say whether there are any, and what
the other scores can be.
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from math import lcm

ONES = (1, 1, 1, 1)
# scores as (numerator, denominator), each of the cells TP, FP, FN, TN
LINES = {
    "accuracy": ((1, 0, 0, 1), ONES),
    "weighted recall": ((1, 0, 0, 1), ONES),
    "precision": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "recall": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0)),
    "specificity": ((0, 0, 0, 1), (0, 1, 0, 1)),
    "positives": ((1, 0, 1, 0), ONES),
    "predicted": ((1, 1, 0, 0), ONES),
    "other precision": ((0, 0, 0, 1), (0, 0, 1, 1)),  # of the class that is not positive
    "other f1": ((0, 0, 0, 2), (0, 1, 1, 2)),
}
NEVER = {"precision": 2, "other precision": 1}  # the cell of a class that is never predicted
OTHERS = {"precision": "other precision", "recall": "specificity", "f1": "other f1"}
Ends = tuple[Fraction, Fraction]
WHOLE = (Fraction(0), Fraction(1))


def score_ranges(scores: Mapping[str, Ends]) -> dict[str, Ends] | None:
    """The least and the most of each score over all matrices of two classes, of whatever size,
    whose scores lie within their ends; None if there is no such matrix.

    Exact for the scores of LINES; macro and weighted means and kappa are bounded by them, so that
    for these some ends lie further out than any matrix.
    """
    edges = _edges([line for name in scores if name in LINES for line in _sides(name, scores)])
    found = {name: _range(edges, name) for name in LINES}
    if None in found.values():  # both classes occur, and one is predicted
        return None
    for name, other in OTHERS.items():
        a, b = found[name], found[other]
        found[f"macro {name}"] = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
        found.setdefault(f"weighted {name}", (min(a[0], b[0]), max(a[1], b[1])))
    found["kappa"] = kappa_range(found["accuracy"])
    met = all(meet(found[name], ends) for name, ends in scores.items() if name in found)
    return found if met else None


def _sides(name, scores):
    """low <= score <= high as two rows r with r · cells >= 0, of whole numbers."""
    (low, high), (top, below) = scores[name], LINES[name]
    scale = lcm(low.denominator, high.denominator)
    for sign, end in ((1, int(low * scale)), (-1, int(high * scale))):
        yield tuple(sign * (scale * t - end * b) for t, b in zip(top, below))


def _edges(rows):
    """The edges of the cone of cells, none below 0, for which all rows are at least 0."""
    rows = [*rows, *(tuple(int(i == j) for j in range(4)) for i in range(4))]
    found = set()
    for three in combinations(rows, 3):
        edge = _across(*three)
        for x in (edge, tuple(-v for v in edge)):
            if any(x) and all(sum(a * b for a, b in zip(row, x)) >= 0 for row in rows):
                found.add(x)
    return found


def _across(a, b, c):
    """What is at right angles to three rows of four numbers; zeros if they depend on each other."""

    def minor(i, j, k):
        return (
            a[i] * (b[j] * c[k] - b[k] * c[j])
            - a[j] * (b[i] * c[k] - b[k] * c[i])
            + a[k] * (b[i] * c[j] - b[j] * c[i])
        )

    return minor(1, 2, 3), -minor(0, 2, 3), minor(0, 1, 3), -minor(0, 1, 2)


def _range(edges, name):
    """Least and most of a score; 0 counts where a class that occurs is never predicted.

    None if its denominator is always 0.
    """
    top, below = LINES[name]
    parts = [[sum(a * b for a, b in zip(x, row)) for row in (top, below)] for x in edges]
    values = [Fraction(a, b) for a, b in parts if b]
    never = name in NEVER and any(x[NEVER[name]] and not of for x, (_, of) in zip(edges, parts))
    values += [Fraction(0)] * never
    return (min(values), max(values)) if values else None


def meet(a: Ends, b: Ends) -> bool:
    """Whether two ranges have a number in common."""
    return a[0] <= b[1] and b[0] <= a[1]


def mean_f1_range(precision: Ends, recall: Ends) -> Ends:
    """What a mean of F1 can be, given the means of precision and recall, weighted in any one way.

    Of classes, folds or raters: the harmonic mean curves downwards, so that no mean of it lies
    above that of the means, and none below the plane through its corners (0, 0), (1, 1).
    """
    p, r = precision[1], recall[1]
    most = 2 * p * r / (p + r) if p > 0 and r > 0 else Fraction(0)
    return max(Fraction(0), precision[0] + recall[0] - 1), most


def kappa_range(agreement: Ends, one: Ends = WHOLE, other: Ends = WHOLE) -> Ends | None:
    """What the kappa of two raters and two classes can be, given the ends of their agreement and
    of the shares that each calls yes; None if these contradict each other.

    Chance agreement is at least 1/2 - (1 - a)^2 / 2 and at most (1 + a^2) / 2, whatever the shares.
    """
    agreement, one, other = (_clipped(ends) for ends in (agreement, one, other))
    apart = max(one[0] - other[1], other[0] - one[1], Fraction(0))
    alike = max(one[0] + other[0] - 1, 1 - one[1] - other[1], Fraction(0))
    low, high = max(agreement[0], alike), min(agreement[1], 1 - apart)
    chance = [p * q + (1 - p) * (1 - q) for p in one for q in other]  # bilinear: most at a corner
    most = min(max(chance), (1 + low * low) / 2)
    least = max(min(chance), (1 - (1 - high) ** 2) / 2)
    if low > high or least == 1:
        return None if low > high else (Fraction(-1), Fraction(1))
    return (low - most) / (1 - most) if most < 1 else Fraction(-1), (high - least) / (1 - least)


def _clipped(ends):
    return max(WHOLE[0], ends[0]), min(WHOLE[1], ends[1])
