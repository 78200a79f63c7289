"""What a printed number stands for: the whole numbers, sums and deviations that print so.

low and high are the ends of what a number may be before it was printed, as exact fractions.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike

EXACT = 1000  # n times the width of the scale, up to which deviations are counted out


def drop_noise(values: ArrayLike) -> np.ndarray:
    """Sums and differences of printed numbers, or of shares of whole counts, rounded to 12 digits.

    Floating point puts 0.1 + 0.2 - 0.3 above 0, and 0.77 - 0.70 above 0.69 - 0.62. Rounded,
    signs, ties and ranks are those of exact decimals, as long as none that are printed or counted
    differ by less. Not for p values and other numbers that may be so small.
    """
    return np.round(values, 12) + 0.0  # no -0.0


def span(value: Fraction, step: Fraction, truncated: bool = False) -> tuple[Fraction, Fraction]:
    """What a number may be that prints as `value`, with last digits of size `step`.

    Both halves belong to it, since people round them up, down, or to even. truncated: later digits
    were cut off instead.
    """
    if not truncated:
        return value - step / 2, value + step / 2
    nearly = step * (1 - Fraction(1, 10**9))
    return (value, value + nearly) if value >= 0 else (value - nearly, value)


def wholes(low: Fraction, high: Fraction, n: int, least: int = 0, most: int = 1) -> range:
    """The whole sums of n numbers, each from least to most, with a mean from low to high."""
    return range(max(least * n, ceil(low * n)), min(most * n, floor(high * n)) + 1)


def printable(n: int, step: Fraction, least: int = 0, most: int = 1) -> tuple[int, int]:
    """How many values print for whole sums of n, and how many there are to print: GRIM's power."""
    of = floor((most - least) / step) + 1
    if n * step >= 1:  # some sum lies within each value's rounding
        return of, of
    sums = np.arange(least * n, most * n + 1)
    places = 2 * sums * step.denominator, 2 * n * step.numerator
    half = n * step.numerator
    up, down = (places[0] + half) // places[1], -((half - places[0]) // places[1])
    return len(np.union1d(up, down)), of


def least_mean(
    values: np.ndarray, parts: ArrayLike, low: ArrayLike, high: ArrayLike
) -> float | None:
    """Least mean of values (k,) over all weights of k kinds that keep other means in bounds.

    parts (m, k): what has a mean from low to high, (m,) each. None if no weights do.
    """
    from scipy.optimize import linprog

    bounds = np.concatenate([parts, np.negative(parts)]), np.concatenate([high, np.negative(low)])
    found = linprog(values, *bounds, np.ones((1, len(values))), [1.0])
    return None if found.status else float(found.fun)


def deviations(
    sums: Iterable[int], n: int, low: Fraction, high: Fraction, scale: tuple[int, int] | None
) -> list[str]:
    """Which standard deviations of n whole grades can lie from low to high, if their sum is one of
    `sums`: of the sample (n - 1), of the population (n), both or none.

    scale: the least and the most grade. Up to EXACT all sets of grades are counted out; otherwise,
    or without a scale, bounds and the parity of the sum of squares decide, and some values count as
    possible that no grades have.
    """
    least, top = (scale[0], scale[1] - scale[0]) if scale else (0, None)
    made, low = [], max(low, Fraction(0))
    for name, free in (("sample", n - 1), ("population", n)):
        for total in sums if free else ():
            total -= least * n
            middle = Fraction(total * total, n)
            first, last = ceil(low**2 * free + middle), floor(high**2 * free + middle)
            if last >= first and _squares(total, n, top, first, last):
                made.append(name)
                break
    return made


def _squares(total, n, top, first, last):
    """Whether n whole numbers from 0 to top with this sum have squares that add to first..last."""
    if top is not None and n * top <= EXACT:
        bits = _reached(n, top)[total] >> first
        return bool(bits & ((1 << (last - first + 1)) - 1))
    each, more = divmod(total, n)
    first = max(first, (n - more) * each**2 + more * (each + 1) ** 2)
    if top:
        full, rest = divmod(total, top)
        last = min(last, full * top**2 + rest**2)
    first += (first - total) % 2  # a square is odd where its number is
    return first <= last


@lru_cache(maxsize=32)
def _reached(n, top):
    """The sums of squares of n whole numbers from 0 to top, as bits, by the numbers' sum."""
    made = [1]
    for _ in range(n):
        more = [0] * (len(made) + top)
        for total, bits in enumerate(made):
            for grade in range(top + 1):
                more[total + grade] |= bits << grade**2
        made = more
    return made
