"""Checks of one printed number and its n, and of those that are made of other rows."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor
from statistics import median
from typing import NamedTuple

import numpy as np

from bedside import stats

from .rows import SHARES, Row, beside, sizes
from .verdicts import CUT, NO_N, Result, Untestable, compared

MOST_SUMS = 500  # behind a mean, for its standard deviation
STEPS = "each of the n grades is a mean of {0}, or has {0} steps"


def grim(row: Row, every: Sequence[Row]) -> Result:
    """Whether n whole grades have this mean, or n times yes or no this share (GRIM)."""
    n, share = row.n, row.kind != "mean"
    least, most = (0, 1) if share else row.scale or (-np.inf, np.inf)
    if not n:
        raise Untestable(NO_N)

    def means(n, x=row.exact):
        sums = [k for k in (floor(x * n), ceil(x * n)) if least * n <= k <= most * n]
        return [k / n for k in sums]

    others = {CUT: [k / n for k in (ceil(row.span(True)[0] * n),)]}
    others |= {f"its n is {m}, as elsewhere in the table": means(m) for m in sizes(row, every)}
    if not share:
        others |= {STEPS.format(times): means(times * n) for times in (2, 3)}
    elif not row.percent:
        others["it is in percent"] = [100 * x for x in means(n, row.exact / 100)]
    able, of = printable(n, row.number.step * row.unit, *(row.scale or (0, 1)))
    what = "one whole count of n items" if share else "n whole grades"
    told = f"{able} of {of} values with its digits are possible for n = {n}."
    return compared(row, {"": means(n)}, others, told, what)


def printable(n: int, step: Fraction, least: int = 0, most: int = 1) -> tuple[int, int]:
    """How many values print for whole sums of n, and how many there are to print: GRIM's power."""
    of = floor((most - least) / step) + 1
    if n * step >= 1:  # some sum lies within each value's rounding
        return of, of
    places = np.arange(least * n, most * n + 1) / float(n * step)
    return len(np.union1d(np.floor(places + 0.5 + 1e-9), np.ceil(places - 0.5 - 1e-9))), of


def count(row: Row, every: Sequence[Row]) -> Result:
    """Whether a count is whole."""
    others = {"it is a mean of several counts": [(0, row.n or np.inf)]}
    return compared(row, {"": [round(row.exact)]}, others, "A count is whole.", "")


def sd(row: Row, every: Sequence[Row]) -> Result:
    """Whether whole grades with a printed mean have this standard deviation.

    As in GRIMMER, by the least and the most that their squares can add up to, and by its parity:
    some count as possible that no grades have.
    """
    mean = next((r for r in row.of if r.kind == "mean"), None)
    n, (least, most) = row.n or (mean.n if mean else None), row.scale or (None, None)
    if not mean or not n or n < 2:
        raise Untestable("n of at least 2 and the mean are needed (of: the mean's row)")
    scale = (least, most) if row.scale else (-(10**6), 10**6)
    sums, made = stats.wholes(*mean.span(), n, *scale), {"n - 1": [], "n": []}
    if not 0 < len(sums) <= MOST_SUMS:
        why = "allows too many sums" if sums else "itself has no whole sum"
        raise Untestable(f"the mean {mean.text} {why} of {n} grades")
    for name, total in product(made, sums):
        total -= n * (least or 0)
        each, more = divmod(total, n)
        first, last = (n - more) * each**2 + more * (each + 1) ** 2, np.inf  # all grades alike
        if row.scale:
            full, rest = divmod(total, most - least)
            last = full * (most - least) ** 2 + rest**2
        free = n - 1 if name == "n - 1" else n
        for end in row.span():
            square = floor(end**2 * free + Fraction(total**2, n))
            square += (square - total) % 2  # a square is odd where its number is
            for q in (square - 2, square, square + 2):
                made[name].append((min(max(q, first), last) - total**2 / n) / free)
    made = {name: np.sqrt(np.maximum(variances, 0)) for name, variances in made.items()}
    told = f"{n} whole grades with a sum of {sums[0]} to {sums[-1]} (mean {mean.text})."
    return compared(row, made, {CUT: np.concatenate([*made.values()])}, told, "whole grades")


# ---- made of other rows


class Formula(NamedTuple):
    """A number that is made of two others, or rises with each of many.

    others: what else it may be, {condition: formula}. above: whether its parts must be above 0.
    """

    sign: str
    of: Callable
    condition: str
    others: dict[str, Callable] = {}
    two: bool = True
    above: bool = False


def _mean(*x):
    return sum(x) / len(x)


def _odds(a, b):
    return a / (1 - a) * (1 - b) / b


MADE = {
    "total": Formula(
        " + ", lambda *x: sum(x), "each item is in one part, and all are in some", two=False
    ),
    "mean of rows": Formula(
        ", ",
        _mean,
        "each row counts the same",
        {"it is the median": lambda *x: median(x)},
        two=False,
    ),
    "difference": Formula(
        " − ",
        lambda a, b: a - b,
        "first minus second",
        {
            "it is the second minus the first": lambda a, b: b - a,
            "it is relative to the second": lambda a, b: a / b - 1 if b > 0 else np.nan,
        },
    ),
    "ratio": Formula(
        " / ",
        lambda a, b: a / b,
        "first over second",
        {"it is the second over the first": lambda a, b: b / a, "it is an odds ratio": _odds},
        above=True,
    ),
}


def _ends(formula, spans, two):
    """The least and the most of a formula, as one row."""
    values = [float(formula(*x)) for x in (product(*spans) if two else zip(*spans))]
    return [(min(values), max(values))]


def made_of(row: Row, every: Sequence[Row]) -> Result:
    """Whether a number lies within the rounding of its parts."""
    sign, of, condition, others, two, above = MADE[row.kind]
    parts, total = list(row.of) if two else beside(row, every), row.kind == "total"
    spans, n = [p.span() for p in parts], [p.n for p in parts]
    if two and len(parts) != 2:
        raise Untestable("name its two parts in `of`: first; second")
    if len(parts) < 2:
        raise Untestable("its parts are not in the file")
    if above and min(low for low, _ in spans) <= 0:
        raise Untestable("its parts must be above 0")
    ways = {
        name: _ends(formula, spans, two)
        for name, formula in others.items()
        if formula is not _odds or all(p.kind in SHARES and p.span()[1] < 1 for p in parts)
    }
    if "it is relative to the second" in ways and abs(row.number.value) > 1 and not row.percent:
        ways["it is relative to the second"] = 100 * np.array(ways["it is relative to the second"])
    if row.kind == "mean of rows" and all(n):
        weighted = [sum(k * x for k, x in zip(n, end)) / sum(n) for end in zip(*spans)]
        ways["rows are weighted by their n"] = [weighted]
    whole = total and all(p.kind in ("count", "total") and not p.percent for p in parts)
    values = _ends(of, [(p.exact, p.exact) for p in parts] if whole else spans, two)
    if not whole:
        ways[CUT] = _ends(of, [p.span(True) for p in parts], two)
    if total and row.exact == 1 and n[0] and len({*n}) == 1:
        counts = [stats.wholes(*span, n[0]) for span in spans]  # 100% is no rounded number
        if all(counts):
            values = [(sum(c[0] for c in counts) / n[0], sum(c[-1] for c in counts) / n[0])]
    if whole or (total and row.exact == 1):
        row = row._replace(number=row.number._replace(step=Fraction(0)))
    shown = sign.join([p.text for p in parts[:12]] + ["..."] * (len(parts) > 12))
    return compared(row, {"": values}, ways, f"{shown}, with their rounding.", condition)
