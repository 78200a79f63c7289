"""Checks of printed p values and confidence intervals."""

from collections.abc import Sequence

import numpy as np

from bedside import stats

from .printed import TESTS
from .rows import SHARES, Row
from .verdicts import CUT, Result, decided, number, outside, untestable

SLACK = 1e-9
MOST_COUNTS = 2000  # behind a share, for its interval


def p(row: Row, every: Sequence[Row]) -> Result:
    """Whether a p is one that two shares allow, or that its test statistic has."""
    test, statistic = row.settings.get("test", ""), row.settings.get("statistic")
    if far := outside("p", row):
        return far
    if statistic:
        return _of_statistic(row, test, statistic)
    if test not in ("", "mcnemar", "two shares"):
        return untestable("p", f"a {test} test needs statistic= and df=")
    if len(row.of) != 2:
        return untestable("p", "name in `of` the two shares, or test=, statistic= and df=")
    return _of_shares(row, test)


def _hits(row, low, high, cut=False, one_sided=False):
    """Whether one of the two-sided p between low and high, arrays, prints as the row's."""
    ends = {"<": (0, row.exact), ">": (row.exact, 1)}.get(row.number.sign, row.span(cut))
    least, most = (float(max(0, end)) for end in ends)
    pairs = [(low, high)]
    if one_sided:
        pairs = [(low / 2, high / 2), (1 - high / 2, 1 - low / 2)]
    return any(
        (
            (np.minimum(1, times * a) <= most + SLACK) & (np.minimum(1, times * b) >= least - SLACK)
        ).any()
        for a, b in pairs
        for times in range(1, row.settings.get("comparisons", 1) + 1)
    )


def _decided(row, values, fits, ways, told, which=""):
    """values: the p that are possible. told: what they are of. which: the tests that allow it."""
    between = f"p from {number(values.min())} to {number(values.max())} is possible"
    near = number(values[abs(values - float(row.exact)).argmin()])
    lines = told, f"{between}; printed is {row.text}{which}."
    return decided("p", fits, ways, lines, near, between, "uncorrected, two-sided")


def _of_shares(row, test):
    """A p against all counts that two shares allow."""
    a, b = row.of
    if a.kind not in SHARES or b.kind not in SHARES:
        return untestable("p", "only a p of two shares can be tested without its statistic")
    if not a.n or not b.n:
        return untestable("p", "both shares need their n")
    x, y = (stats.wholes(*r.span(), r.n) for r in (a, b))
    if not x or not y:
        return untestable("p", f"no count prints as {(b if x else a).text}")
    if len(x) * len(y) * max(a.n, b.n) > stats.TRIED:
        return untestable("p", "the two shares allow too many counts")
    paired = stats.paired_p(x, y, a.n) if a.n == b.n else {}
    unpaired = stats.unpaired_p(x, a.n, y, b.n)
    named = {"mcnemar": [paired], "two shares": [unpaired]}.get(test, [paired, unpaired])
    if not any(named):
        return untestable("p", "a paired test needs two shares of the same n")
    if not any(_hits(row, p, p) for tests in named for p in tests.values()):
        unpaired |= stats.unconditional_p(x, a.n, y, b.n)  # which takes longer
    every = np.concatenate([p for tests in named for p in tests.values()])
    which = [name for tests in named for name, p in tests.items() if _hits(row, p, p)]
    other, kind = (unpaired, "an unpaired") if test == "mcnemar" else (paired, "a paired")
    ways = [(f"it is {kind} test ({k})", bool(test) and _hits(row, p, p)) for k, p in other.items()]
    ways.append(("it is one-sided", _hits(row, every, every, one_sided=True)))
    ways.append((CUT, _hits(row, every, every, cut=True)))
    told = f"{a.text} of {a.n} and {b.text} of {b.n} are {_ends(x)} and {_ends(y)}."
    allowed = f", which {', '.join(which)} allows" if which else ""
    return _decided(row, every, bool(which), ways, told, allowed)


def _ends(counts):
    return " to ".join(dict.fromkeys([str(counts[0]), str(counts[-1])]))


def _of_statistic(row, test, statistic):
    """A p against its statistic and degrees of freedom."""
    free, many = row.settings.get("df", []), TESTS.get(test)
    if many is None:
        return untestable("p", "name the statistic's test: test=t, z, chi2, F or r")
    if len(free) != many:
        return untestable("p", f"a {test} test has {many} degrees of freedom (df=)")
    spans = [f.span() if f.step < 1 else (f.value, f.value) for f in free]

    def ends(cut=False):
        value = [*map(float, statistic.span(cut=cut))]
        p = [stats.statistic_p(test, value, [float(s[i]) for s in spans]) for i in (0, 1)]
        return np.array([min(low for low, _ in p), max(high for _, high in p)])

    def hits(cut=False, one_sided=False):
        return _hits(row, *ends(cut)[:, None], cut, one_sided)

    ways = [("it is one-sided", test not in ("chi2", "F") and hits(one_sided=True))]
    ways.append((CUT, hits(cut=True)))
    told = f"{test} = {statistic.printed(statistic.value)} has a two-sided p."
    return _decided(row, np.linspace(*ends(), 3), hits(), ways, told)


def interval(row: Row, every: Sequence[Row]) -> Result:
    """Whether an interval is that of its share and n, or lies about its mean."""
    low, high = (end.span(row.unit) for end in row.ends)
    if low[0] > high[1]:
        told = (f"Printed is {row.text}; an interval begins with its lower end.",)
        turned = " to ".join(end.printed(end.value) for end in row.ends[::-1])
        return Result("interval", "impossible", "", told, turned, "the order only")
    if not row.of:
        return untestable("interval", "name in `of` what it is of")
    of = row.of[0]
    value, n = of.span(), row.n or of.n
    inside = stats.meet(value, (low[0], high[1]))
    if of.kind == "mean":
        middle = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
        ways = [("it is by a method that isn't symmetrical, such as a bootstrap", inside)]
        near = of.number.printed(sum(middle) / 2)
        told = (f"The middle of {row.text} is {near}; the mean is printed as {of.text}.",)
        fits = inside and stats.meet(middle, value)
        return decided("interval", fits, ways, told, near, "the middle only", "symmetrical")
    if not n or of.kind not in ("share", "accuracy"):
        told = (f"{of.text} lies {'in' if inside else 'not in'} {row.text}.",)
        return decided("interval", inside, (), told, "", "only that was tested")
    counts = stats.wholes(*value, n)
    if not counts:
        return untestable("interval", f"no count of {n} prints as {of.text}")
    if len(counts) > MOST_COUNTS:
        return untestable("interval", "the share allows too many counts")
    level = row.settings.get("level")
    level = float(level.value) / 100 if level else 0.95
    formulas = [
        (name, np.array(ends))
        for count in counts
        for name, ends in stats.share_intervals(count, n, level).items()
    ]
    least, most = np.array([low, high], dtype=float).T

    def prints(ends):
        both = np.array([ends, np.clip(ends, 0, 1)])  # cut to 0 and 1 or not
        return ((both >= least - SLACK) & (both <= most + SLACK)).any(axis=0).all()

    which = dict.fromkeys(name for name, ends in formulas if prints(ends))
    name, ends = min(formulas, key=lambda f: abs(f[1] - (least + most) / 2).sum())
    near = " to ".join(end.printed(x / float(row.unit)) for end, x in zip(row.ends, ends))
    lines = (
        f"{level:.0%} of {of.text} with n = {n}: by {name} it is {near}.",
        f"Printed is {row.text}, as by {', '.join(which) or 'no formula'}.",
    )
    ways = [("it is by another method, such as a bootstrap, or items repeat in units", inside)]
    power = f"{len(formulas)} intervals of {len(counts)} counts"
    condition = "independent items; Wilson, Wald, t, exact, Agresti-Coull or Jeffreys"
    return decided("interval", bool(which), ways, lines, near, power, condition)
