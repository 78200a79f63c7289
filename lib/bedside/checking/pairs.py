"""Checks of a printed number against the rows that it is made of: totals, differences, means."""

from collections.abc import Sequence
from fractions import Fraction
from statistics import median

from bedside import stats

from .numbers import SHARES, Row, beside
from .verdicts import CUT, Result, decided, number, untestable

TOLD = 12  # parts that a sentence lists


def _span(row, cut=False):
    return row.number.span(row.unit, cut)


def _value(row):
    return row.number.value * row.unit


def _meet(a, b):
    """Whether two spans have a number in common."""
    return a[0] <= b[1] and b[0] <= a[1]


def _result(check, row, told, value, ends, verdict, power):
    """A result: told is how the value comes about, ends what it may be with rounding."""
    printed = row.number.printed(value / row.unit)
    between = " to ".join(dict.fromkeys(number(end / row.unit) for end in ends))
    lines = (
        f"{told} {printed}; printed is {row.text}.",
        f"With rounding it can be {between}.",
    )
    return Result(check, *verdict, lines, printed, *power)


def _listed(parts, sign):
    return sign.join(p.text for p in parts[:TOLD]) + f"{sign}..." * (len(parts) > TOLD)


def _slip(row, ends, target, parts=1):
    """How large a slip in one part must be to be found."""
    wide = parts * (ends[1] - ends[0] + target[1] - target[0]) / 2
    size = f"a slip of more than {number(wide / row.unit)}" if wide else "each slip"
    return f"{size} in one part is found"


def total(row: Row, every: Sequence[Row]) -> Result:
    """Whether counts add up to their total, and shares to theirs within rounding."""
    parts = list(row.of) or beside(row, every)
    if len(parts) < 2:
        return untestable("total", "its parts are not in the file")

    def ends(cut=False):
        return tuple(map(sum, zip(*(_span(p, cut) for p in parts))))

    middle, made, target = sum(map(_value, parts)), ends(), _span(row)
    whole = all(p.kind in ("count", "total") and not p.percent for p in parts)
    if whole:
        made = middle, middle
    if whole or _value(row) == 1:  # 100% is no rounded number
        target = _value(row), _value(row)
    plain, sizes = _meet(target, made), {p.n for p in parts}
    if plain and target == (1, 1) and len(sizes) == 1 and None not in sizes:
        counts = [stats.wholes(*_span(p), p.n) for p in parts]
        if all(counts):
            plain = sum(c[0] for c in counts) <= parts[0].n <= sum(c[-1] for c in counts)
    verdict = decided(plain, [(CUT, not whole and _meet(target, ends(cut=True)))])
    power = _slip(row, made, target), "each item is in one part, and all are in some"
    return _result("total", row, f"{_listed(parts, ' + ')} =", middle, made, verdict, power)


def mean_of_rows(row: Row, every: Sequence[Row]) -> Result:
    """Whether a mean of rows, such as of models, lies within their rounding."""
    parts = list(row.of) or beside(row, every)
    if len(parts) < 2:
        return untestable("mean of rows", "its rows are not in the file")

    def ends(weights, cut=False):
        sums = (sum(w * _span(p, cut)[i] for w, p in zip(weights, parts)) for i in (0, 1))
        return tuple(end / sum(weights) for end in sums)

    same, n = [1] * len(parts), [p.n for p in parts]
    middle = tuple(median(_span(p)[i] for p in parts) for i in (0, 1))
    only = [(CUT, _meet(_span(row, cut=True), ends(same, cut=True)))]
    only.append(("rows are weighted by their n", all(n) and _meet(_span(row), ends(n))))
    only.append(("it is the median", _meet(_span(row), middle)))
    verdict, value = decided(_meet(_span(row), ends(same)), only), sum(map(_value, parts))
    power = _slip(row, ends(same), _span(row), len(parts)), "each row counts the same"
    told = f"The mean of {_listed(parts, ', ')} is"
    return _result("mean of rows", row, told, value / len(parts), ends(same), verdict, power)


def difference(row: Row, every: Sequence[Row]) -> Result:
    """Whether a difference lies within the rounding of its two parts, first minus second."""
    if len(row.of) != 2:
        return untestable("difference", TWO)
    a, b = row.of

    def ends(cut=False):
        (low, high), (least, most) = _span(a, cut), _span(b, cut)
        return low - most, high - least

    only = [
        ("it is the second minus the first", _meet(_span(row), [-end for end in ends()[::-1]])),
        (CUT, _meet(_span(row, cut=True), ends(cut=True))),
    ]
    if _span(b)[0] > 0:
        low, high = _span(a)[0] / _span(b)[1] - 1, _span(a)[1] / _span(b)[0] - 1
        unit = Fraction(1, 100) if abs(row.number.value) > 1 else row.unit
        only.append(("it is relative to the second", _meet(row.number.span(unit), (low, high))))
    verdict, told = decided(_meet(_span(row), ends()), only), f"{a.text} − {b.text} ="
    power = _able(row, ends()), "first minus second"
    return _result("difference", row, told, _value(a) - _value(b), ends(), verdict, power)


TWO = "name its two parts in `of`: first; second"


def _able(row, ends):
    """How many values with the row's digits lie within these ends, and their rounding."""
    step = row.number.step * row.unit
    many = int((ends[1] - ends[0] + step) / step)
    return f"{many} value{'s' * (many > 1)} with its digits can be"


def ratio(row: Row, every: Sequence[Row]) -> Result:
    """Whether a ratio lies within the rounding of its two parts, first over second."""
    if len(row.of) != 2:
        return untestable("ratio", TWO)
    a, b = row.of
    if _span(b)[0] <= 0 or _span(a)[0] < 0:
        return untestable("ratio", "its parts must be above 0")

    def fits(a, b, cut=False):
        return b[0] > 0 and _meet(_span(row, cut), (a[0] / b[1], a[1] / b[0]))

    only = [
        (CUT, fits(_span(a, cut=True), _span(b, cut=True), True)),
        ("it is the second over the first", fits(_span(b), _span(a))),
    ]
    if a.kind in SHARES and b.kind in SHARES and max(_span(a)[1], _span(b)[1]) < 1:
        odds = ([end / (1 - end) for end in _span(part)] for part in (a, b))
        only.append(("it is an odds ratio", fits(*odds)))
    verdict, told = decided(fits(_span(a), _span(b)), only), f"{a.text} / {b.text} ="
    ends = _span(a)[0] / _span(b)[1], _span(a)[1] / _span(b)[0]
    power = _able(row, ends), "first over second"
    return _result("ratio", row, told, _value(a) / _value(b), ends, verdict, power)
