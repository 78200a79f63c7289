"""Checks of printed p values and confidence intervals."""

from collections.abc import Sequence

import numpy as np

from bedside import stats

from . import unsized
from .numbers import SHARES, Row
from .printed import parsed, whole
from .verdicts import CUT, Result, decided, number, p_text, untestable

SLACK = 1e-9
MOST_COUNTS = 2000  # behind a share, for its interval
FREE = {"z": 0, "F": 2}  # degrees of freedom; of the other tests 1


def _printed_p(row, cut=False):
    """The ends of what a p may have been before it was printed."""
    x, value = row.number, row.number.value * row.unit
    low, high = x.span(row.unit, cut)
    ends = {"<": (0, value), ">": (value, 1)}.get(x.sign, (max(0, low), high))
    return float(ends[0]), float(ends[1])


def p(row: Row, every: Sequence[Row]) -> Result:
    """Whether a p is one that two shares allow, or that its test statistic has."""
    test = row.settings.get("test", "")
    if unsized.outside(row):
        return unsized.alone("p", row, "")
    if "statistic" in row.settings:
        return _of_statistic(row, test)
    if test not in ("", "mcnemar", "two shares"):
        return untestable("p", f"a {test} test needs statistic= and df=")
    if len(row.of) != 2:
        return untestable("p", "name in `of` the two shares, or test=, statistic= and df=")
    return _of_shares(row, test)


def _corrected(row):
    """By what a p may have been multiplied, for several comparisons."""
    return range(1, whole(row.settings.get("comparisons", "1")) + 1)


def _hits(row, values, cut=False, side=2):
    """Whether one of the two-sided p values prints as the row's."""
    low, high = _printed_p(row, cut)
    two = np.asarray(values)
    one = two if side == 2 else np.concatenate([two / 2, 1 - two / 2])
    made = [np.minimum(1, times * one) for times in _corrected(row)]
    return any(bool(((m >= low - SLACK) & (m <= high + SLACK)).any()) for m in made)


def _of_shares(row, test):
    """A p against all counts that two shares allow."""
    a, b = row.of
    if a.kind not in SHARES or b.kind not in SHARES:
        return untestable("p", "only a p of two shares can be tested without its statistic")
    if not a.n or not b.n:
        return untestable("p", "both shares need their n")
    x, y = (stats.wholes(*r.number.span(r.unit), r.n) for r in (a, b))
    if not x or not y:
        return untestable("p", f"no count prints as {(b if x else a).text}")
    if len(x) * len(y) * max(a.n, b.n) > stats.TRIED:
        return untestable("p", "the two shares allow too many counts")
    paired = stats.paired_p(x, y, a.n) if a.n == b.n else {}
    unpaired = stats.unpaired_p(x, a.n, y, b.n)
    mine, others = _versions(test, paired, unpaired)
    if not any(_hits(row, values) for values in mine.values()):  # those that take longer
        unpaired |= stats.unconditional_p(x, a.n, y, b.n)
        mine, others = _versions(test, paired, unpaired)
    if not mine:
        return untestable("p", "a paired test needs two shares of the same n")
    every = np.concatenate([*mine.values()])
    which = [name for name, values in mine.items() if _hits(row, values)]
    kind = "an unpaired test" if test == "mcnemar" else "a paired test"
    only = [(f"it is {kind} ({name})", _hits(row, values)) for name, values in others.items()] + [
        ("it is one-sided", _hits(row, every, side=1)),
        (CUT, _hits(row, every, True)),
    ]
    verdict, only_if = decided(bool(which), only)
    counts = [f"{c[0]} to {c[-1]}" if len(c) > 1 else f"{c[0]}" for c in (x, y)]
    lines = (
        f"{a.text} and {b.text} are {counts[0]} of {a.n} and {counts[1]} of {b.n}.",
        f"p then lies from {p_text(every.min())} to {p_text(every.max())}; printed is {row.text}"
        + (f", which {', '.join(which)} allows." if which else "."),
    )
    low, high = _printed_p(row)
    near = every[abs(every - (low + high) / 2).argmin()]
    wide = f"p from {p_text(every.min())} to {p_text(every.max())} is possible"
    return Result("p", verdict, only_if, lines, p_text(near), wide, "uncorrected, two-sided")


def _versions(test, paired, unpaired):
    """The tests that a row names, and all others; both kinds if it names none."""
    if test == "mcnemar":
        return paired, unpaired
    if test == "two shares":
        return unpaired, paired
    return {**{f"McNemar's {k}": v for k, v in paired.items()}, **unpaired}, {}


def _of_statistic(row, test):
    """A p against its statistic and degrees of freedom."""
    free = [parsed(x) for x in row.settings.get("df", "").split(",") if x.strip()]
    if not test or test in ("mcnemar", "two shares"):
        return untestable("p", "name the statistic's test: test=t, z, chi2, F or r")
    if len(free) != FREE.get(test, 1):
        return untestable("p", f"a {test} test has {FREE.get(test, 1)} degrees of freedom (df=)")
    x = parsed(row.settings["statistic"])

    def ends(cut=False):
        spans = [f.span() if f.step < 1 else (f.value, f.value) for f in free]
        made = [
            stats.statistic_p(test, map(float, x.span(cut=cut)), [float(s[i]) for s in spans])
            for i in (0, 1)
        ]
        return min(m[0] for m in made), max(m[1] for m in made)

    def fits(cut=False, side=2):
        low, high = _printed_p(row, cut)
        made = (
            [ends(cut)]
            if side == 2
            else [
                (ends(cut)[0] / 2, ends(cut)[1] / 2),
                (1 - ends(cut)[1] / 2, 1 - ends(cut)[0] / 2),
            ]
        )
        made = [(min(1, t * a), min(1, t * b)) for a, b in made for t in _corrected(row)]
        return any(a <= high + SLACK and b >= low - SLACK for a, b in made)

    only = [(CUT, fits(cut=True))]
    if test not in ("chi2", "F"):
        only.insert(0, ("it is one-sided", fits(side=1)))
    verdict, only_if = decided(fits(), only)
    least, most = ends()
    freedom = f"({', '.join(row.settings['df'].split(','))})" if free else ""
    lines = (
        f"{test}{freedom} = {x.printed(x.value)} has a two-sided p"
        f" of {p_text(least)} to {p_text(most)}.",
        f"Printed is p {row.number.sign or '='} {row.text.lstrip('<>=≤≥ ')}.",
    )
    middle = (least + most) / 2
    wide = f"p from {p_text(least)} to {p_text(most)} is possible"
    near = row.number.printed(middle) if middle > row.number.step else p_text(middle)
    return Result("p", verdict, only_if, lines, near, wide, "uncorrected, two-sided")


def interval(row: Row, every: Sequence[Row]) -> Result:
    """Whether an interval is that of its share and n, or lies about its mean."""
    low, high = (end.span(row.unit) for end in row.ends)
    if low[0] > high[1]:
        told = f"Printed is {row.text}.", "An interval begins with its lower end."
        turned = " to ".join(end.printed(end.value) for end in row.ends[::-1])
        return Result("interval", "impossible", "", told, turned, "the order only")
    if not row.of:
        return untestable("interval", "name in `of` what it is of")
    of = row.of[0]
    value, n = of.number.span(of.unit), row.n or of.n
    inside = low[0] <= value[1] and value[0] <= high[1] and low[0] <= high[1]
    if of.kind == "mean":
        return _of_mean(row, of, inside)
    if not n or of.kind not in ("share", "accuracy"):
        verdict, only_if = decided(inside, [])
        told = f"{of.text} lies {'in' if inside else 'not in'} {row.text}."
        return Result("interval", verdict, only_if, (told, "Only that was tested."), power="weak")
    level = float(parsed(row.settings.get("level", "95")).value) / 100
    counts, found, near = stats.wholes(*value, n), [], []
    if not counts:
        return untestable("interval", f"no count of {n} prints as {of.text}")
    if len(counts) > MOST_COUNTS:
        return untestable("interval", "the share allows too many counts")
    for count in counts:
        for name, ends in stats.share_intervals(count, n, level).items():
            if (
                all(_ends(end, given) for end, given in zip(ends, (low, high)))
                and name not in found
            ):
                found.append(name)
            near.append(
                (
                    abs(ends[0] - float(sum(low)) / 2) + abs(ends[1] - float(sum(high)) / 2),
                    name,
                    ends,
                )
            )
    another = "it is by another method, such as a bootstrap, or items repeat in units"
    verdict, only_if = decided(bool(found), [(another, inside)])
    _, name, ends = min(near)
    first = [row.ends[i].printed(ends[i] / float(row.unit)) for i in (0, 1)]
    lines = (
        f"{level:.0%} of {of.text} with n = {n}: by {name} it is {first[0]} to {first[1]}.",
        f"Printed is {row.text}"
        + (f", as by {', '.join(found)}." if found else ", as by no formula."),
    )
    power = f"{len({*(r[1] for r in near)})} formulas for {len(counts)} counts"
    condition = "independent items; Wilson, Wald, t, exact, Agresti-Coull or Jeffreys"
    return Result("interval", verdict, only_if, lines, " to ".join(first), power, condition)


def _ends(end, given):
    """Whether an end of an interval prints so, cut to 0 and 1 or not."""
    low, high = map(float, given)
    return any(low - SLACK <= e <= high + SLACK for e in (end, min(1, max(0, end))))


def _of_mean(row, of, inside):
    """An interval of a mean lies symmetrically about it, unless it is by a bootstrap."""
    (a, b), (c, d) = (end.span() for end in row.ends)
    value, middle = of.number.span(), ((a + c) / 2, (b + d) / 2)
    even = middle[0] <= value[1] and value[0] <= middle[1]
    another = "it is by a method that isn't symmetrical, such as a bootstrap"
    verdict, only_if = decided(inside and even, [(another, inside)])
    lines = (
        f"The middle of {row.text} is {number((middle[0] + middle[1]) / 2)}.",
        f"The mean is printed as {of.text}.",
    )
    near = of.number.printed((middle[0] + middle[1]) / 2)
    return Result("interval", verdict, only_if, lines, near, "the middle only", "symmetrical")
