"""Checks of a printed number against the rows that it is made of: totals, differences, means."""

from collections.abc import Sequence
from fractions import Fraction

from bedside import stats

from .numbers import SHARES, Row, beside
from .verdicts import Result, decided, number, untestable


def _span(row, cut=False):
    return row.number.span(row.unit, cut)


def _meet(a, b):
    """Whether two spans have a number in common."""
    return a[0] <= b[1] and b[0] <= a[1]


def _in(row, value):
    """A share or another number in the row's unit, with its digits."""
    return row.number.printed(value / row.unit)


def _told(row, ends):
    """A span in the row's unit."""
    return " to ".join(number(end / row.unit) for end in ends)


def total(row: Row, every: Sequence[Row]) -> Result:
    """Whether counts add up to their total, and shares to theirs within rounding."""
    parts = list(row.of) or beside(row, every)
    if len(parts) < 2:
        return untestable("total", "its parts are not in the file")
    ends = [sum(_span(p, cut)[i] for p in parts) for cut in (False, True) for i in (0, 1)]
    whole, target = all(p.kind == "count" for p in parts), _span(row)
    if whole:
        ends[:2] = [sum(p.number.value for p in parts)] * 2
    if whole or row.number.value * row.unit == 1:
        target = (row.number.value * row.unit,) * 2
    plain, only, middle = _meet(target, ends[:2]), [], sum(p.number.value * p.unit for p in parts)
    sizes = {p.n for p in parts}
    counts = [stats.wholes(*_span(p), p.n) for p in parts] if None not in sizes else []
    if plain and target == (1, 1) and len(sizes) == 1 and counts and all(counts):
        n = sizes.pop()
        plain = sum(c[0] for c in counts) <= n <= sum(c[-1] for c in counts)
    if not whole:
        only.append(("digits were cut off", _meet(target, ends[2:])))
    verdict, only_if = decided(plain, only)
    listed = " + ".join(p.text for p in parts[:12]) + (" + ..." if len(parts) > 12 else "")
    lines = (
        f"{listed} = {_in(row, middle)}; the total is printed as {row.text}.",
        f"With rounding the parts add up to {_told(row, ends[:2])}.",
    )
    wide = (ends[1] - ends[0] + target[1] - target[0]) / 2 / row.unit
    power = f"a slip of more than {number(wide)} in one part is found"
    condition = "each item is in one part, and all are in some"
    return Result("total", verdict, only_if, lines, _in(row, middle), power, condition)


def _both(row, check):
    """The two parts of a row with their spans, or the result that says what lacks."""
    if len(row.of) != 2:
        return untestable(check, "name its two parts in `of`: first; second")
    return row.of


def difference(row: Row, every: Sequence[Row]) -> Result:
    """Whether a difference lies within the rounding of its two parts, first minus second."""
    if isinstance(both := _both(row, "difference"), Result):
        return both
    a, b = both

    def ends(cut=False):
        (low, high), (least, most) = _span(a, cut), _span(b, cut)
        return low - most, high - least

    mine, off = _span(row), a.number.value * a.unit - b.number.value * b.unit
    turned = tuple(-end for end in reversed(ends()))
    only = [
        ("it is the second minus the first", _meet(mine, turned)),
        ("digits were cut off", _meet(_span(row, cut=True), ends(cut=True))),
    ]
    if _span(b)[0] > 0:
        low, high = _span(a)[0] / _span(b)[1] - 1, _span(a)[1] / _span(b)[0] - 1
        unit = Fraction(1, 100) if abs(row.number.value) > 1 or row.percent else row.unit
        fits = _meet(row.number.span(unit), (low, high))
        only.append(("it is relative to the second", fits))
    verdict, only_if = decided(_meet(mine, ends()), only)
    lines = (
        f"{a.text} − {b.text} = {_in(row, off)}; printed is {row.text}.",
        f"With rounding the difference lies from {_told(row, ends())}.",
    )
    wide = int((ends()[1] - ends()[0] + mine[1] - mine[0]) / (mine[1] - mine[0]))
    power = f"{wide} values with its digits are possible"
    return Result("difference", verdict, only_if, lines, _in(row, off), power, "first minus second")


def ratio(row: Row, every: Sequence[Row]) -> Result:
    """Whether a ratio lies within the rounding of its two parts, first over second."""
    if isinstance(both := _both(row, "ratio"), Result):
        return both
    a, b = both
    if _span(b)[0] <= 0 or _span(a)[0] < 0:
        return untestable("ratio", "its parts must be above 0")

    def ends(a, b):
        return a[0] / b[1], a[1] / b[0]

    made = ends(_span(a), _span(b))
    only = [("digits were cut off", _meet(_span(row, True), ends(_span(a, True), _span(b, True))))]
    if _span(a)[0] > 0:
        only.append(
            ("it is the second over the first", _meet(_span(row), ends(_span(b), _span(a))))
        )
    shares = a.kind in SHARES and b.kind in SHARES and max(_span(a)[1], _span(b)[1]) < 1
    if shares:
        odds = [[end / (1 - end) for end in _span(part)] for part in (a, b)]
        only.append(("it is an odds ratio", bool(odds[1][0]) and _meet(_span(row), ends(*odds))))
    verdict, only_if = decided(_meet(_span(row), made), only)
    value = a.number.value * a.unit / (b.number.value * b.unit)
    lines = (
        f"{a.text} / {b.text} = {_in(row, value)}; printed is {row.text}.",
        f"With rounding the ratio lies from {_told(row, made)}.",
    )
    wide = int((made[1] - made[0]) / (row.number.step * row.unit)) + 1
    power = f"{wide} values with its digits are possible"
    return Result("ratio", verdict, only_if, lines, _in(row, value), power, "first over second")


def mean_of_rows(row: Row, every: Sequence[Row]) -> Result:
    """Whether a mean of rows, such as of models, lies within their rounding."""
    parts = list(row.of) or beside(row, every)
    if len(parts) < 2:
        return untestable("mean of rows", "its rows are not in the file")

    def ends(weights, cut=False):
        spans = [_span(p, cut) for p in parts]
        return tuple(sum(w * s[i] for w, s in zip(weights, spans)) / sum(weights) for i in (0, 1))

    same = [1] * len(parts)
    only = [("digits were cut off", _meet(_span(row, True), ends(same, cut=True)))]
    if len({p.n for p in parts} - {None}) > 1 and all(p.n for p in parts):
        only.append(("rows are weighted by their n", _meet(_span(row), ends([p.n for p in parts]))))
    middle = sorted(_span(p) for p in parts)
    k = len(parts)
    median = tuple(sorted(s[i] for s in middle)[(k - 1) // 2] / 2 for i in (0, 1))
    upper = tuple(sorted(s[i] for s in middle)[k // 2] / 2 for i in (0, 1))
    found = tuple(a + b for a, b in zip(median, upper))
    only.append(("it is the median", _meet(_span(row), found)))
    verdict, only_if = decided(_meet(_span(row), ends(same)), only)
    value = sum(p.number.value * p.unit for p in parts) / len(parts)
    listed = ", ".join(p.text for p in parts[:12]) + (", ..." if len(parts) > 12 else "")
    lines = (
        f"The mean of {listed} is {_in(row, value)}; printed is {row.text}.",
        f"With rounding the mean lies from {_told(row, ends(same))}.",
    )
    wide = len(parts) * (ends(same)[1] - ends(same)[0] + row.number.step * row.unit) / 2
    power = f"a slip of more than {number(wide / row.unit)} in one row is found"
    condition = "each row counts the same"
    return Result("mean of rows", verdict, only_if, lines, _in(row, value), power, condition)
