"""Checks of printed p values and confidence intervals."""

from collections.abc import Sequence

import numpy as np

from bedside import stats

from . import formulas
from .numbers import TESTS
from .rows import SHARES, Row
from .verdicts import CUT, SLACK, Result, Untestable, compared, decided, ends_of

MOST_PAIRS = 1000  # of counts behind two shares, for their p
MOST_COUNTS = 2000  # behind a share, for its interval
CORRECTED = "uncorrected, two-sided"


def p(row: Row, every: Sequence[Row]) -> Result:
    """Whether a p is one that two shares allow, or that its test statistic has."""
    test = row.settings.get("test", "")
    if "statistic" in row.settings:
        return _of_statistic(row, test, row.settings["statistic"])
    if test not in ("", "mcnemar", "two shares"):
        raise Untestable(f"a {test} test needs statistic= and df=")
    if len(row.of) != 2 or not all(r.kind in SHARES and r.n for r in row.of):
        raise Untestable("name in `of` two shares with their n, or test=, statistic= and df=")
    a, b = row.of
    x, y = (stats.wholes(*r.span(), r.n) for r in row.of)
    if not 0 < len(x) * len(y) <= MOST_PAIRS:
        none = f"no count prints as {(b if x else a).text}"
        raise Untestable("the two shares allow too many counts" if x and y else none)
    if test == "mcnemar" and a.n != b.n:
        raise Untestable("a paired test needs two shares of the same n")
    kinds = {"paired": stats.paired_p(x, y, a.n) if a.n == b.n else {}}
    kinds["unpaired"] = formulas.unpaired_p(x, a.n, y, b.n)
    named = {"mcnemar": ["paired"], "two shares": ["unpaired"]}.get(test, [*kinds])
    found = {f"{kind} {k}": v for kind, tests in kinds.items() for k, v in tests.items()}
    plain = {k: v for k, v in found.items() if k.split()[0] in named}
    others = {f"it is another test ({k})": v for k, v in found.items() if k not in plain}
    every = np.concatenate([*kinds["unpaired"].values()])
    others["it is an unconditional test, such as Barnard's"] = [(every.min(), every.max())]
    counts = (f"{c[0]} to {c[-1]} of {r.n}" for c, r in zip((x, y), row.of))
    return _compared(row, plain, others, f"{a.text} and {b.text} are {' and '.join(counts)}.")


def _times(row, values):
    """p values, also multiplied by up to so many comparisons."""
    times = np.arange(1, row.settings.get("comparisons", 1) + 1)
    return np.minimum(1, np.multiply.outer(times, values)).reshape(-1, *np.shape(values)[1:])


def _compared(row, plain, others, told, sides=2):
    """Two-sided p values, also corrected, and one-sided ones under that condition."""
    every = np.concatenate([np.transpose(ends_of(values)) for values in plain.values()])
    half = np.concatenate([every / 2, 1 - every[:, ::-1] / 2])
    plain, others = ({k: _times(row, v) for k, v in ways.items()} for ways in (plain, others))
    others = {CUT: _times(row, every)} | others
    if sides == 2:
        others["it is one-sided"] = _times(row, half)
    return compared(row, plain, others, told, CORRECTED)


def _of_statistic(row, test, statistic):
    """A p against its statistic and degrees of freedom."""
    free, many = row.settings.get("df", []), TESTS.get(test)
    if many is None:
        raise Untestable("name the statistic's test: test=t, z, chi2, F or r")
    if len(free) != many:
        raise Untestable(f"a {test} test has {many} degrees of freedom (df=)")
    spans = [f.span() if f.step < 1 else (f.value, f.value) for f in free]

    def ends(cut):
        values = [*map(float, statistic.span(cut=cut))]
        p = [formulas.statistic_p(test, values, [float(s[i]) for s in spans]) for i in (0, 1)]
        return [(min(low for low, _ in p), max(high for _, high in p))]

    told = f"{test} = {statistic.printed(statistic.value)} has a two-sided p."
    sides = 1 if test in ("chi2", "F") else 2
    return _compared(row, {"": ends(False)}, {CUT: ends(True)}, told, sides)


def interval(row: Row, every: Sequence[Row]) -> Result:
    """Whether an interval is that of its share and n, or lies about its mean."""
    low, high = (end.span(row.unit) for end in row.ends)
    if low[0] > high[1]:
        told = f"Printed is {row.text}; an interval begins with its lower end."
        return decided("interval", [("", False)], [told], "the order only")
    if not row.of:
        raise Untestable("name in `of` what it is of")
    of = row.of[0]
    value, n = of.span(), row.n or of.n
    inside = stats.meet(value, (low[0], high[1]))
    told = f"{of.text} lies {'in' if inside else 'not in'} {row.text}."
    if of.kind == "mean":
        middle = (low[0] + high[0]) / 2, (low[1] + high[1]) / 2
        told += f" Its middle is {of.number.printed(sum(middle) / 2)}."
        unlike = "it is by a method that isn't symmetrical, such as a bootstrap"
        ways = [("", inside and stats.meet(middle, value)), (unlike, inside)]
        return decided("interval", ways, [told], "symmetrical")
    if not n or of.kind not in ("share", "accuracy"):
        return decided("interval", [("", inside)], [told], "only that was tested")
    counts = stats.wholes(*value, n)
    if not 0 < len(counts) <= MOST_COUNTS:
        none = f"no count of {n} prints as {of.text}"
        raise Untestable("the share allows too many counts" if counts else none)
    level = float(row.settings["level"].value) / 100 if "level" in row.settings else 0.95
    found = [x for k in counts for x in stats.share_intervals(k, n, level).items()]
    ends = np.array([x for _, x in found])
    both = np.array([ends, np.clip(ends, 0, 1)])  # cut to 0 and 1 or not
    least, most = np.array([low, high], dtype=float).T
    fits = ((both >= least - SLACK) & (both <= most + SLACK)).any(axis=0).all(axis=1)
    which = dict.fromkeys(name for (name, _), fit in zip(found, fits) if fit)
    name, near = found[abs(ends - (least + most) / 2).sum(axis=1).argmin()]
    near = " to ".join(end.printed(x / float(row.unit)) for end, x in zip(row.ends, near))
    lines = (
        f"{level:.0%} of {of.text} with n = {n}: by {name} it is {near}.",
        f"Printed is {row.text}, as by {', '.join(which) or 'no formula'}.",
    )
    other = "it is by another method, such as a bootstrap, or items repeat in units"
    condition = "independent items; Wilson, Wald, t, exact, Agresti-Coull or Jeffreys"
    return decided("interval", [("", which), (other, inside)], lines, condition)
