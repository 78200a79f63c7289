"""Printed numbers that know their rounding, and comparisons that rounding may leave open.

    scores = Rounded.printed(table, digits=2)       # 0.47 stands for 0.465 to 0.475
    every(scores.F1 > 0.2)                          # holds: True; told: "7 of 7 (0.31 to 0.74)"

A number that occurs twice in an expression is taken for two: that can leave open what isn't, and
never decides what is open. So (a - b) / (1 - b) is better written 1 - (1 - a) / (1 - b).
"""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd

TIE = 1e-9  # by which floating point may part what is equal
FEW = 5  # that are named
LARGEST = 10_000  # orders of equal numbers that `rank_correlation` tries
ENDS = ("low", "value", "high")
# of pandas: none of its results falls where one of its numbers rises
RISING = ("min", "max", "mean", "median", "sum", "drop", "stack")


class Rounded:
    """low, value, high: numbers, series or frames of one shape; none may be missing."""

    __hash__ = None

    def __init__(self, low: Any, value: Any, high: Any):
        self.low, self.value, self.high = low, value, high
        if np.isnan(np.asarray(low, float)).any() or np.isnan(np.asarray(high, float)).any():
            raise ValueError("a number is missing: leave its row out, or name the data it needs")

    @classmethod
    def printed(cls, value: Any, digits: int) -> "Rounded":
        """What rounds to `value` at so many decimals."""
        half = 0.5 * 10.0**-digits
        return cls(value - half, value, value + half)

    def map(self, rising: Callable, *others: Any) -> "Rounded":
        """A function of this and others that falls in none of its arguments."""
        parts = [self, *map(exact, others)]
        if all(p.low is p.high for p in parts):  # nothing is rounded
            return exact(rising(*(p.value for p in parts)))
        return Rounded(*(rising(*(getattr(p, end) for p in parts)) for end in ENDS))

    def of(self, rows: Any) -> "Rounded":
        """These rows."""
        return self.map(lambda x: x.loc[rows])

    def __getitem__(self, key: Any) -> "Rounded":
        return self.map(lambda x: x.loc[key] if isinstance(x, pd.Series) else x[key])

    def __getattr__(self, name: str) -> Any:
        if name in getattr(self.__dict__.get("value"), "columns", ()):
            return self[name]
        if name in RISING:
            return lambda *args, **more: self.map(lambda x: getattr(x, name)(*args, **more))
        raise AttributeError(f"a rounded number has no {name!r}: {', '.join(RISING)}, or a column")

    def __neg__(self) -> "Rounded":
        return Rounded(-self.high, -self.value, -self.low)

    def __add__(self, other: Any) -> "Rounded":
        return self.map(lambda a, b: a + b, other)

    def __sub__(self, other: Any) -> "Rounded":
        return self + -exact(other)

    def __rsub__(self, other: Any) -> "Rounded":
        return -self + other

    def __mul__(self, other: Any) -> "Rounded":
        other = exact(other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = (functools.reduce(pick, ends) for pick in (np.minimum, np.maximum))
        return Rounded(low, self.value * other.value, high)

    def __truediv__(self, other: Any) -> "Rounded":
        return self * _inverse(exact(other))

    def __rtruediv__(self, other: Any) -> "Rounded":
        return exact(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, bound: Any) -> "Comparison":
        away = self - bound
        return Comparison(away.low > TIE, away.high > TIE, self.value)

    def __lt__(self, bound: Any) -> "Comparison":
        away = exact(bound) - self
        return Comparison(away.low > TIE, away.high > TIE, self.value)

    def __ge__(self, bound: Any) -> "Comparison":
        return ~(self < bound)

    def __le__(self, bound: Any) -> "Comparison":
        return ~(self > bound)

    def __eq__(self, other: Any) -> "Comparison":
        raise TypeError("a rounded number equals nothing for sure: compare with > and <")

    __ne__ = __eq__

    def __bool__(self) -> bool:
        raise TypeError("a rounded number is neither true nor false: compare it")


class Comparison:
    """Which comparisons hold for sure and which may; of: the numbers that were compared."""

    def __init__(self, sure: Any, may: Any, of: Any = None):
        self.sure, self.may, self.of = sure, may, of

    def __invert__(self) -> "Comparison":
        return Comparison(np.logical_not(self.may), np.logical_not(self.sure), self.of)

    def __and__(self, other: Any) -> "Comparison":
        other = comparison(other)
        return Comparison(self.sure & other.sure, self.may & other.may, self.of)

    def __or__(self, other: Any) -> "Comparison":
        return ~(~self & ~comparison(other))

    __rand__, __ror__ = __and__, __or__

    def __bool__(self) -> bool:
        raise TypeError("rounding may leave this open: write & | ~, and one comparison at a time")


@dataclass(frozen=True)
class Verdict:
    """holds: True, False, or None where rounding leaves it open; told: what was found.

    low, high: the ends of an interval that decided it.
    """

    holds: bool | None
    told: str
    low: float | None = None
    high: float | None = None

    def __invert__(self) -> "Verdict":
        return Verdict(None if self.holds is None else not self.holds, self.told)

    def __and__(self, other: Any) -> "Verdict":
        other = verdict(other)
        both = {self.holds, other.holds}
        holds = False if False in both else None if None in both else True
        return Verdict(holds, "; ".join(filter(None, (self.told, other.told))))

    def __or__(self, other: Any) -> "Verdict":
        return ~(~self & ~verdict(other))

    __rand__, __ror__ = __and__, __or__

    def __bool__(self) -> bool:
        raise TypeError("a verdict may be open: read `holds`, or write & | ~")


def exact(x: Any) -> Rounded:
    """Numbers without rounding; those that know theirs as they are."""
    return x if isinstance(x, Rounded) else Rounded(x, x, x)


def _inverse(x):
    if not np.all((np.asarray(x.low) > 0) | (np.asarray(x.high) < 0)):
        raise ValueError("a divisor may be 0 within its rounding")
    return Rounded(1 / x.high, 1 / x.value, 1 / x.low)


def comparison(x: Any) -> Comparison:
    """A comparison, or one of plain numbers; TypeError for anything else."""
    if isinstance(x, Comparison):
        return x
    if np.asarray(x).dtype != bool:
        raise TypeError(f"{x!r:.60} isn't a comparison")
    return Comparison(x, x)


def verdict(x: Any) -> Verdict:
    """What one comparison comes to; TypeError for several, and for what is none."""
    if isinstance(x, Verdict):
        return x
    found = comparison(x)
    if np.ndim(found.sure):
        raise TypeError("these are several comparisons: say whether every, most or some must hold")
    told = "" if found.of is None else f"{float(found.of):z.3g}"
    return Verdict(True if found.sure else None if found.may else False, told)


def at_least(least: int, which: Any) -> Verdict:
    """Whether at least so many comparisons hold, and which don't."""
    which = comparison(which)
    sure, may = np.ravel(which.sure), np.ravel(which.may)
    if not len(sure):
        raise ValueError("there is nothing to compare")
    low, high = int(sure.sum()), int(may.sum())
    told = f"{low}{f' to {high}' * (high > low)} of {len(sure)}"
    if isinstance(which.sure, pd.Series):
        told += _named(which.sure.index, sure, high > low)
    if which.of is not None:
        told += f" ({np.min(which.of):z.3g} to {np.max(which.of):z.3g})"
    return Verdict(True if low >= least else False if high < least else None, told)


def _named(labels, sure, unsure):
    """Which comparisons don't hold, or which do, where these are few."""
    names = [" ".join(map(str, x)) if isinstance(x, tuple) else str(x) for x in labels]
    odd = [*dict.fromkeys(n for n, s in zip(names, sure) if not s)]
    if len(odd) <= FEW and any(sure):
        return f", not{' surely' * unsure} {', '.join(odd)}" if odd else ""
    held = [*dict.fromkeys(n for n in names if n not in odd)]
    return f": {', '.join(held)}" if 0 < len(held) <= FEW else ""


def every(which: Any) -> Verdict:
    """Whether all hold."""
    return at_least(np.size(comparison(which).sure), which)


def most(which: Any) -> Verdict:
    """Whether more than half hold."""
    return at_least(np.size(comparison(which).sure) // 2 + 1, which)


def some(which: Any) -> Verdict:
    """Whether one holds, or more."""
    return at_least(1, which)


def prints(x: Any, printed: Any, digits: int | None = None) -> Comparison:
    """Whether numbers round to printed ones. digits: of those that don't know their rounding."""
    x, to = exact(x), printed if digits is None else Rounded.printed(printed, digits)
    sure = (x.low >= to.low - TIE) & (x.high <= to.high + TIE)
    return Comparison(sure, (x.low <= to.high + TIE) & (x.high >= to.low - TIE), x.value)


def which(of: Any) -> list[str]:
    """Of which it is surely true."""
    sure = comparison(of).sure
    return [*sure.index[sure]]


def count(of: Any) -> int:
    """How many there are."""
    return len(getattr(of, "value", of))


def possible(which: Any) -> Any:
    """Which comparisons rounding, or what isn't printed, doesn't exclude."""
    return comparison(which).may


def size(x: Any) -> Rounded:
    """Absolute values."""
    x = exact(x)
    low = np.maximum(0, np.maximum(x.low, -x.high))
    return Rounded(low, abs(x.value), np.maximum(-x.low, x.high))


def rank_correlation(x: Rounded, y: Rounded) -> Rounded:
    """Spearman's coefficient of two series; what is printed as equal may have any order."""
    x, y = x.value, y.value[x.value.index]
    if math.prod(math.factorial(n) for s in (x, y) for n in s.value_counts()) > LARGEST:
        raise ValueError("too many numbers are printed as equal")
    found = [np.corrcoef(a, b)[0, 1] for a, b in product(_orders(x), _orders(y))]
    value = x.corr(y, method="spearman")
    return Rounded(min(value, *found), value, max(value, *found))


def _orders(series) -> Iterator[np.ndarray]:
    """All ranks that numbers can have, if those that are equal were not quite so."""
    groups = [np.flatnonzero(series == v) for v in np.sort(series.unique())]
    for order in product(*map(permutations, groups)):
        ranks = np.empty(len(series))
        ranks[np.concatenate(order)] = np.arange(len(series))
        yield ranks
