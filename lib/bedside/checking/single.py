"""Checks of one printed number and its n, and of those that are made of other rows."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from statistics import median

from bedside import stats

from .rows import SHARES, Row, beside, sizes
from .verdicts import CUT, NO_N, Result, decided, number, outside, scale_of, untestable

FAR = 20  # last digits to either side in which deviations that fit are looked for
MOST_SUMS = 500  # behind a mean, for its standard deviation
TWO = "name its two parts in `of`: first; second"


def _listed(sums):
    if not sums:
        return "no whole number"
    return f"{sums[0]} to {sums[-1]}" if len(sums) > 1 else f"{sums[0]}"


def grim(row: Row, every: Sequence[Row]) -> Result:
    """Whether n whole grades have this mean, or n times yes or no this share (GRIM)."""
    x, n, share = row.number, row.n, row.kind != "mean"
    check, scale = "share" if share else "mean", (0, 1) if share else scale_of(row)
    if not n:
        return outside(check, row) or untestable(check, NO_N)

    def sums(n=n, times=1, unit=row.unit, cut=False):
        return _sums(x.span(unit, cut), n, scale, times)

    ways = [(CUT, sums(cut=True))]
    ways += [(f"its n is {m}, as elsewhere in the table", sums(m)) for m in sizes(row, every)]
    if not share:
        halves = "each of the n grades is a mean of {0}, or has {0} steps"
        ways += [(halves.format(times), sums(times=times)) for times in (2, 3)]
    elif not row.percent:
        ways.append(("it is in percent", sums(unit=Fraction(1, 100))))
    least, most = scale or (floor(x.value), floor(x.value) + 1)
    near = {min(most * n, max(least * n, k)) for k in (floor(row.exact * n), ceil(row.exact * n))}
    values = {k: x.printed(Fraction(k, n) / row.unit) for k in sorted(near)}
    low, high = (number(end * n, 3) for end in row.span())
    lines = (
        f"{row.text} of {n} needs a sum from {low} to {high}: {_listed(sums())}.",
        "; ".join(f"{k} / {n} is {value}" for k, value in values.items()) + ".",
    )
    able, printable = stats.printable(n, x.step * row.unit, least, most)
    power = f"{able} of {printable} printable values are possible"
    condition = "one whole count of n items" if share else "n whole grades"
    return decided(check, bool(sums()), ways, lines, ", ".join(values.values()), power, condition)


def _sums(span, n, scale, times=1):
    """The whole sums of n grades (in parts of 1 / times) with a mean in the span."""
    least, most = scale or (floor(span[0]) - 1, ceil(span[1]) + 1)
    return stats.wholes(span[0] * times, span[1] * times, n, least * times, most * times)


def count(row: Row, every: Sequence[Row]) -> Result:
    """Whether a count is whole, not negative, and at most n."""
    x = row.number.value
    inside, near = 0 <= x <= (row.n or x), max(0, round(x))
    lines = (f"{row.text} must be whole and at least 0{f', and at most {row.n}' * bool(row.n)}.",)
    ways = [("it is a mean of several counts", inside)]
    return decided(
        "count", inside and x.denominator == 1, ways, lines, str(min(near, row.n or near))
    )


def sd(row: Row, every: Sequence[Row]) -> Result:
    """Whether whole grades with a printed mean have this standard deviation, like GRIMMER."""
    mean = next((r for r in row.of if r.kind == "mean"), None)
    n, scale = row.n or (mean.n if mean else None), scale_of(row)
    if not mean or not n or n < 2:
        return _deviation(
            row, mean, n, "n of at least 2 and the mean are needed (of: the mean's row)"
        )
    sums, x = _sums(mean.span(), n, scale), row.number
    if not sums:
        return untestable("sd", f"the mean {mean.text} itself has no whole sum of {n}")
    if len(sums) > MOST_SUMS:
        return _deviation(row, mean, n, f"the mean {mean.text} allows too many sums of {n} grades")

    def fits(value, cut=False):
        return stats.deviations(sums, n, *x._replace(value=value).span(cut=cut), scale)

    around = [x.value + k * x.step for k in range(-FAR, FAR + 1) if x.value + k * x.step >= 0]
    able = [value for value in around if fits(value)]
    near = min(able, key=lambda value: abs(value - x.value), default=None)
    lines = (
        f"{n} whole grades with a sum of {_listed(sums)} (mean {mean.text}):",
        f"{row.text} is the deviation of {' and '.join(fits(x.value)) or 'none of them'}.",
    )
    shown = "" if near is None else x.printed(near)
    power = f"{len(able)} of {len(around)} values around it are possible"
    ways = [(CUT, fits(x.value, True))]
    return decided("sd", bool(fits(x.value)), ways, lines, shown, power, "whole grades, n or n - 1")


def _deviation(row, mean, n, why):
    """A standard deviation held against its scale and mean, without all sets of grades.

    Its square is at most (mean - least) (most - mean), times n / (n - 1) for a sample; of whole
    grades at least f (1 - f), where f is what the mean has after its point.
    """
    grades, (low, high), x = scale_of(row), row.span(), row.number
    if high < 0:
        told = (f"Printed is {row.text}; no deviation is below 0.",)
        return Result("sd", "impossible", "", told, x.printed(0), "the range only")
    ends = mean.span() if mean else grades
    if grades and ends:
        ends = max(ends[0], Fraction(grades[0])), min(ends[1], Fraction(grades[1]))
    if not ends or ends[0] > ends[1]:
        return untestable("sd", why)
    least, most = Fraction(0), None
    if mean and floor(ends[0]) == floor(ends[1]) < ends[0]:
        least = min((end - floor(end)) * (1 - end + floor(end)) for end in ends)
    if grades:
        middle = min(max(Fraction(sum(grades), 2), ends[0]), ends[1])
        most = (middle - grades[0]) * (grades[1] - middle)
        most *= Fraction(n, n - 1) if n and n > 1 else 2
    below, above = high**2 < least, most is not None and max(low, 0) ** 2 > most
    if not (below or above):
        return untestable("sd", why)
    end = float(least if below else most) ** 0.5
    told = f"The deviation is at {'least' if below else 'most'} {number(end)}"
    lines = (f"{told}{f', with a mean of {mean.text}' if mean else ''}; printed is {row.text}.",)
    ways = [("grades have steps, or are no whole numbers", below and not above)]
    return decided("sd", False, ways, lines, x.printed(end), "bounds only", "whole grades")


# ---- made of other rows


def _made_of(row, parts, sign, formula, ways, condition, fits=None):
    """A number against a formula that gives its ends from those of its parts.

    ways: (condition, another formula) or (condition, whether it holds). fits: where other than the
    ends decide, whether they allow it, without and with digits cut off.
    """
    spans = [p.span() for p in parts]
    ends = formula(*spans)
    plain, cut = fits or (
        stats.meet(row.span(), ends),
        stats.meet(row.span(True), formula(*(p.span(True) for p in parts))),
    )
    ways = [
        (told, stats.meet(row.span(), way(*spans)) if callable(way) else way) for told, way in ways
    ]
    near = row.number.printed(formula(*((p.exact, p.exact) for p in parts))[0] / row.unit)
    shown = sign.join([p.text for p in parts[:12]] + ["..."] * (len(parts) > 12))
    low, high = (number(end / row.unit) for end in ends)
    lines = f"{shown} is {near}; printed is {row.text}.", f"With rounding: {low} to {high}."
    step = row.number.step * row.unit
    power = f"{int((ends[1] - ends[0]) / step) + 1} values with its digits are possible"
    return decided(row.kind, plain, [(CUT, cut), *ways], lines, near, power, condition)


def _sum(*spans):
    return tuple(map(sum, zip(*spans)))


def total(row: Row, every: Sequence[Row]) -> Result:
    """Whether counts add up to their total, and shares to theirs within rounding."""
    parts = beside(row, every)
    if len(parts) < 2:
        return untestable("total", "its parts are not in the file")
    whole = all(p.kind in ("count", "total") and not p.percent for p in parts)
    middle, sizes_ = sum(p.exact for p in parts), {p.n for p in parts}
    exact = (row.exact, row.exact)  # 100% is no rounded number
    target = exact if whole or row.exact == 1 else row.span()
    ends, cut = ((middle, middle) if whole else _sum(*(p.span(c) for p in parts)) for c in (0, 1))
    fits = stats.meet(target, ends)
    if fits and target == (1, 1) and len(sizes_) == 1 and None not in sizes_:
        counts = [stats.wholes(*p.span(), p.n) for p in parts]
        if all(counts):
            fits = sum(c[0] for c in counts) <= parts[0].n <= sum(c[-1] for c in counts)
    fits = fits, not whole and stats.meet(target, cut)
    return _made_of(
        row, parts, " + ", _sum, (), "each item is in one part, and all are in some", fits
    )


def mean_of_rows(row: Row, every: Sequence[Row]) -> Result:
    """Whether a mean of rows, such as of models, lies within their rounding."""
    parts = beside(row, every)
    if len(parts) < 2:
        return untestable("mean of rows", "its rows are not in the file")
    n = [p.n for p in parts]

    def mean(*spans, weights=None):
        weights = weights or [1] * len(spans)
        sums = [[w * end for end in span] for w, span in zip(weights, spans)]
        return tuple(end / sum(weights) for end in _sum(*sums))

    def weighted(*spans):
        return mean(*spans, weights=n)

    ways = [("rows are weighted by their n", all(n) and weighted)]
    ways.append(("it is the median", lambda *spans: tuple(map(median, zip(*spans)))))
    return _made_of(row, parts, ", ", mean, ways, "each row counts the same")


def difference(row: Row, every: Sequence[Row]) -> Result:
    """Whether a difference lies within the rounding of its two parts, first minus second."""
    if len(row.of) != 2:
        return untestable("difference", TWO)

    def less(a, b):
        return a[0] - b[1], a[1] - b[0]

    ways = [("it is the second minus the first", lambda a, b: less(b, a))]
    (low, high), (least, most) = (part.span() for part in row.of)
    if least > 0:
        unit = Fraction(1, 100) if abs(row.number.value) > 1 else row.unit
        relative = stats.meet(row.number.span(unit), (low / most - 1, high / least - 1))
        ways.append(("it is relative to the second", relative))
    return _made_of(row, row.of, " − ", less, ways, "first minus second")


def ratio(row: Row, every: Sequence[Row]) -> Result:
    """Whether a ratio lies within the rounding of its two parts, first over second."""
    if len(row.of) != 2:
        return untestable("ratio", TWO)
    a, b = row.of
    if b.span()[0] <= 0 or a.span()[0] < 0:
        return untestable("ratio", "its parts must be above 0")

    def over(a, b):
        return (a[0] / b[1], a[1] / b[0]) if b[0] > 0 else (Fraction(-1), Fraction(-1))

    def odds(*spans):
        return over(*([end / (1 - end) for end in span] for span in spans))

    ways = [("it is the second over the first", lambda a, b: over(b, a))]
    if a.kind in SHARES and b.kind in SHARES and max(a.span()[1], b.span()[1]) < 1:
        ways.append(("it is an odds ratio", odds))
    return _made_of(row, row.of, " / ", over, ways, "first over second")
