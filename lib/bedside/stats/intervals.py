"""Intervals of shares from their counts: Wilson's and its derivatives, and rates by a judge."""

from math import hypot, inf, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .inputs import booleans, by_unit, require
from .judge_errors import true_share


class Interval(NamedTuple):
    """An estimate and its confidence limits; `n` counts the rows behind it, not the units."""

    value: float
    low: float
    high: float
    n: int


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson score interval of a proportion; all NaN when n is 0.

    As scipy.stats.binomtest(successes, n).proportion_ci(level, method="wilson").
    """
    from scipy.special import ndtri

    require(
        (0 <= successes <= n, f"successes {successes} must lie between 0 and n = {n}"),
        (0 < level < 1, f"level must lie between 0 and 1, not {level}"),
    )
    if n == 0:
        return Interval(nan, nan, nan, 0)
    return _score_interval(successes / n, n, ndtri(0.5 + level / 2))._replace(n=int(n))


def share(hits: ArrayLike, units: ArrayLike, level: float = 0.95) -> Interval:
    """Share of booleans (n,) with a score interval for hits that repeat in units (labels, (n,)).

    Wilson's at the effective number: n over the design effect of the units (Kish 1965; at least
    1), and t of their number for z, as in Korn and Graubard (1998). Where nothing varies the units
    count, not the rows. Units that don't repeat give `wilson`. NaN when n is 0, and NaN limits for
    a single unit; n counts the rows.

    What it promises: it is never narrower than Wilson's of the rows; and where rows of a unit are
    more alike than chance makes them, copies of all rows inside their units change nothing. Where
    they are less alike, the design effect is held at 1: the interval is wider than the units
    imply, and copies narrow it, but never below what the units imply.
    """
    from scipy.special import stdtrit

    hits = booleans(hits, hits)[0].astype(float)
    n, (size, count) = len(hits), _effective(hits, units)
    if count == n:
        return wilson(int(hits.sum()), n, level)
    p = float(hits.mean())
    if count == 1:
        return Interval(p, nan, nan, n)
    return _score_interval(p, size, stdtrit(count - 1, 0.5 + level / 2))._replace(n=n)


def _effective(hits, units):
    """(effective number, number of units) of zeros and ones whose units repeat.

    Effective: as many independent ones say as much. n over the design effect (Kish 1965; at least
    1); where nothing varies the number of units; n if none repeats.
    """
    table, _ = by_unit(np.column_stack([hits, np.ones(len(hits))]), units)
    n, count, p = len(hits), len(table), float(hits.mean()) if len(hits) else nan
    if count in (n, 1) or not 0 < p < 1:
        return count, count
    spread = ((table[:, 0] - p * table[:, 1]) ** 2).sum() * count / (count - 1) / n
    return n / max(1.0, spread / (p * (1 - p))), count


def _score_interval(p, n, z):
    """Limits of a share p of n, which need not be whole, at z standard errors."""
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = sqrt(z**2 * p * (1 - p) / n + (z**2 / (2 * n)) ** 2) / (1 + z**2 / n)
    high = 1 if p == 1 else centre + half  # 1, and not its neighbour
    return Interval(float(p), float(centre - half), float(high), 0)


def balanced_accuracy(hits: int, n: int, kept: int, m: int, level: float = 0.95) -> Interval:
    """`mean_of` two shares, hits / n and kept / m (sensitivity and specificity), by Wilson.

    0.5 is what an answer that ignores the question reaches. As (1 + d) / 2 for the limits d of
    statsmodels.stats.proportion.confint_proportions_2indep(hits, n, m - kept, m,
    method="newcomb").
    """
    return mean_of(wilson(hits, n, level), wilson(kept, m, level))


def mean_of(a: Interval, b: Interval) -> Interval:
    """Mean of two independent shares with intervals; its n is the sum of theirs.

    Limits by MOVER (Donner and Zou 2012), which has width at 0 and 1 too. NaN if one is.
    """
    value = (a.value + b.value) / 2
    low = value - hypot(a.value - a.low, b.value - b.low) / 2
    high = value + hypot(a.high - a.value, b.high - b.value) / 2
    return Interval(value, low, high, a.n + b.n)


def sens_spec(
    truth: ArrayLike, predicted: ArrayLike, units: ArrayLike | None = None
) -> tuple[Interval, Interval]:
    """Sensitivity and specificity of booleans (n,), as `share`; an empty class is NaN, n = 0.

    units: labels (n,) of what repeats. Values as sklearn.metrics.recall_score(truth, predicted,
    pos_label=True and False).
    """
    truth, predicted = booleans(truth, predicted)
    units = np.arange(len(truth)) if units is None else np.asarray(units, dtype=object)
    return share(predicted[truth], units[truth]), share(~predicted[~truth], units[~truth])


def corrected_rate(
    rate: Interval,
    sensitivity: Interval,
    specificity: Interval,
    rng: np.random.Generator,
    *,
    resamples: int = 10_000,
) -> Interval:
    """A rate in 0..1 by an imperfect judge, corrected for its errors (Rogan and Gladen 1978).

    rate: what the judge called positive; this, sensitivity and specificity have 95% score intervals
    (of `share` or `wilson`), which say how many independent booleans each is worth. The 95%
    interval draws all three from Jeffreys posteriors of these sizes. NaN where the judge does no
    better than chance (sensitivity and specificity add up to 1 or less); NaN limits where one of
    the three has none. n is the rate's.
    """
    known = rate, sensitivity, specificity
    inside = all(not (i.value < 0 or i.value > 1) for i in known)
    require((inside, f"shares lie between 0 and 1, not {[i.value for i in known]}"))
    if not (sensitivity.value + specificity.value > 1 and rate.value == rate.value):
        return Interval(nan, nan, nan, rate.n)

    value, sizes = float(true_share(*(i.value for i in known))), [_size(i) for i in known]
    if any(size != size for size in sizes):
        return Interval(value, nan, nan, rate.n)
    drawn, sens, spec = (
        rng.beta(i.value * size + 0.5, (1 - i.value) * size + 0.5, resamples)
        for i, size in zip(known, sizes)
    )
    draws = true_share(drawn, sens, spec)
    draws = draws[~np.isnan(draws)]
    return Interval(value, *np.quantile(draws, [0.025, 0.975]).tolist(), rate.n)


def _size(share):
    """How many independent booleans give a share its 95% score interval; NaN for one without.

    A limit L of n booleans solves (value - L)^2 = z^2 L (1 - L) / n.
    """
    from scipy.special import ndtri

    value, low, high = share[:3]
    limit = low if value - low > high - value else high  # the other may be 0 or 1 for every n
    if limit != limit:
        return nan
    require((value != limit, "a score interval has a width"))
    # to six decimals, since cards keep ten digits
    return round(ndtri(0.975) ** 2 * limit * (1 - limit) / (value - limit) ** 2, 6)


def prediction_powered(
    labels: ArrayLike,
    judged: ArrayLike,
    others: ArrayLike,
    units: tuple[ArrayLike, ArrayLike] | None = None,
) -> Interval:
    """A rate in 0..1 from a few labels and many verdicts of a judge.

    Power-tuned prediction-powered inference (Angelopoulos et al. 2023). labels and judged:
    booleans (n,) by people and by the judge on the same replies; others: the judge's booleans (N,)
    on replies nobody labelled, drawn from the same ones. The verdicts' weight is the one of least
    variance, so that a useless judge counts for nothing. Interval: normal 95%, cut to 0..1; where
    the labels, or what they leave of the verdicts, don't vary, or there are less than two, it is
    Wilson's of the labels alone. n counts the labels. units: labels (n,) and (N,) of what repeats
    among both; the error is then that of the sums of units, with t of their number, and Wilson's
    interval becomes that of `share`.
    """
    from scipy.special import stdtrit

    y, f = (x.astype(float) for x in booleans(labels, judged))
    u, n = booleans(others, others)[0].astype(float), len(y)
    spread = np.var(np.concatenate([f, u]), ddof=1) if n + u.size > 1 else 0.0
    weight = 0.0
    if n > 1 and u.size and spread:
        weight = np.clip(np.cov(y, f)[0, 1] / ((1 + n / u.size) * spread), 0, 1)
    if n < 2 or not u.size or np.ptp(y) == 0 or np.ptp(y - weight * f) == 0:
        return wilson(int(y.sum()), n) if units is None else share(y, units[0])
    value = y.mean() + weight * (u.mean() - f.mean())
    rest = y - weight * f
    parts = np.concatenate([(rest - rest.mean()) / n, weight * (u - u.mean()) / u.size])
    both = None if units is None else np.concatenate([np.asarray(x, dtype=object) for x in units])
    sums, _ = by_unit(parts[:, None], both)
    count, free = len(sums), inf
    if count < len(parts):  # as for a share
        free, sums = count - 1, sums * sqrt(count / (count - 1)) if count > 1 else sums * nan
    error = stdtrit(free, 0.975) * sqrt((sums**2).sum())
    return Interval(*np.clip([value, value - error, value + error], 0, 1).tolist(), n)
