"""Checks of one printed number and its n: shares, counts, means and deviations of whole grades."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor

from bedside import stats

from . import unsized
from .numbers import Row, sizes
from .verdicts import CUT, Result, decided, number, untestable

FAR = 50  # last digits in which the nearest deviation that fits is looked for
MOST_SUMS = 500  # behind a mean, for its standard deviation
WHOLE = "one whole count of n items"
GRADES = "n whole grades"


def share(row: Row, every: Sequence[Row]) -> Result:
    """Whether a whole number of n items prints as this share (GRIM)."""
    if not row.n:
        return unsized.alone("share", row, unsized.NO_N)
    x, n, unit = row.number, row.n, row.unit

    def fits(n=n, unit=unit, cut=False):
        return stats.wholes(*x.span(unit, cut), n)

    others = [
        (f"its n is {m}, as elsewhere in the table", bool(fits(m))) for m in sizes(row, every)
    ]
    if unit == 1:
        others.append(("it is in percent", bool(fits(unit=Fraction(1, 100)))))
    verdict, only_if = decided(bool(fits()), [(CUT, bool(fits(cut=True))), *others])
    low, high = (number(end * n, 3) for end in x.span(unit))
    found, scaled = fits(), x.value * unit * n
    near = sorted({min(n, max(0, k)) for k in (floor(scaled), ceil(scaled))})
    values = [x.printed(Fraction(k, n) / unit) for k in near]
    told = (
        f"{found[0]} to {found[-1]}" if len(found) > 1 else found[0] if found else "no whole number"
    )
    lines = (
        f"{row.text} of {n} stands for {low} to {high} of {n}: {told}.",
        "; ".join(f"{k} of {n} is {v}" for k, v in zip(near, values)) + ".",
    )
    power = "{} of {} printable values are possible".format(*stats.printable(n, x.step * unit))
    return Result("share", verdict, only_if, lines, ", ".join(values), power, WHOLE)


def count(row: Row, every: Sequence[Row]) -> Result:
    """Whether a count is whole, not negative, and at most n."""
    x = row.number
    inside = 0 <= x.value <= (row.n or x.value)
    whole = x.value.denominator == 1
    verdict, only_if = decided(inside and whole, [("it is a mean of several counts", inside)])
    near = str(min(max(0, round(x.value)), row.n or max(0, round(x.value))))
    most = f", {'' if inside else 'not '}from 0 to n = {row.n}" if row.n else ""
    lines = (
        f"{row.text} is {'' if whole else 'not '}a whole number{most}.",
        "A count is whole and not negative.",
    )
    return Result("count", verdict, only_if, lines, near, "finds only what no count can be")


def _sums(x, n, scale, times=1, cut=False):
    """The whole sums of n grades (in parts of 1 / times) that print as mean x."""
    low, high = x.span(cut=cut)
    least, most = scale or (floor(low) - 1, ceil(high) + 1)
    return stats.wholes(low * times, high * times, n, least * times, most * times)


def mean(row: Row, every: Sequence[Row]) -> Result:
    """Whether n whole grades have this mean (GRIM)."""
    if not row.n:
        return unsized.alone("mean", row, unsized.NO_N)
    x, n, scale = row.number, row.n, unsized.scale_of(row)
    found = _sums(x, n, scale)
    others = [(CUT, bool(_sums(x, n, scale, cut=True)))]
    others += [(f"its n is {m}, as elsewhere", bool(_sums(x, m, scale))) for m in sizes(row, every)]
    for times in (2, 3):
        told = f"each of the n grades is a mean of {times}, or has {times} steps"
        others.append((told, bool(_sums(x, n, scale, times))))
    verdict, only_if = decided(bool(found), others)
    near = sorted({floor(x.value * n), ceil(x.value * n)})
    if scale:
        near = sorted({min(scale[1] * n, max(scale[0] * n, k)) for k in near})
    values = [x.printed(Fraction(k, n)) for k in near]
    low, high = (number(end * n, 3) for end in x.span())
    told = f"{found[0]} to {found[-1]}" if len(found) > 1 else found[0] if found else "no whole sum"
    within = f" of grades from {scale[0]} to {scale[1]}" if scale else ""
    lines = (
        f"A mean of {row.text} of {n} needs a sum from {low} to {high}{within}: {told}.",
        "; ".join(f"{k} / {n} is {v}" for k, v in zip(near, values)) + ".",
    )
    ends = scale or (floor(x.value), floor(x.value) + 1)
    power = "{} of {} printable values are possible".format(*stats.printable(n, x.step, *ends))
    power += "" if scale else " between two whole grades"
    return Result("mean", verdict, only_if, lines, ", ".join(values), power, GRADES)


def sd(row: Row, every: Sequence[Row]) -> Result:
    """Whether whole grades with a printed mean have this standard deviation, like GRIMMER."""
    means = [r for r in row.of if r.kind == "mean"]
    n = row.n or (means[0].n if means else None)
    mean = means[0] if means else None
    if not mean or not n or n < 2:
        told = "n of at least 2 and the mean are needed (of: the mean's row)"
        return unsized.deviation(row, mean, n, told)
    x, of, scale = row.number, mean.number, unsized.scale_of(row) or unsized.scale_of(mean)
    sums = _sums(of, n, scale)
    if not sums:
        return untestable("sd", f"the mean {mean.text} itself has no whole sum of {n}")
    if len(sums) > MOST_SUMS:
        told = f"the mean {mean.text} allows too many sums of {n} grades"
        return unsized.deviation(row, mean, n, told)

    def fits(value, cut=False):
        return stats.deviations(sums, n, *x._replace(value=value).span(cut=cut), scale)

    made = fits(x.value)
    verdict, only_if = decided(bool(made), [(CUT, bool(fits(x.value, cut=True)))])
    steps = (sign * k for k in range(FAR + 1) for sign in (1, -1))
    tried = (x.value + k * x.step for k in steps)
    near = next((x.printed(v) for v in tried if v >= 0 and fits(v)), "")
    exact = bool(scale) and n * (scale[1] - scale[0]) <= stats.EXACT
    grid = [x.value + k * x.step for k in range(-10, 11) if x.value + k * x.step >= 0]
    able = sum(bool(fits(v)) for v in grid)
    within = f" from {scale[0]} to {scale[1]}" if scale else ""
    lines = (
        f"{n} whole grades{within} with a sum of {sums[0]} to {sums[-1]} (mean {mean.text}):",
        f"a standard deviation of {row.text} is that of "
        + (" and ".join(f"a {name}" for name in made) if made else "none of them")
        + ("; all sets of grades were counted out." if exact else "; by bounds and parity."),
    )
    power = f"{able} of {len(grid)} values around it are possible"
    return Result("sd", verdict, only_if, lines, near, power, GRADES + ", n or n - 1")
