"""Intervals of shares, means and differences over units: score intervals with Student's t.

`docs/statistics.md` has the table of how often they cover; `tests/interval_worlds.py` makes it.
"""

from collections.abc import Callable
from math import hypot, inf, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .inputs import RESAMPLES, booleans, by_unit, numbers, require
from .judge_errors import true_share

LEAST = 10  # units: of fewer, no interval is known to cover what it says
SEVERAL = 20  # units that kappa, alpha, F1 and a median need


class Interval(NamedTuple):
    """An estimate and its confidence limits; `n` counts the rows behind it, not the units."""

    value: float
    low: float
    high: float
    n: int


def wilson(successes: int, n: int) -> Interval:
    """Wilson score interval of a proportion; all NaN when n is 0.

    As scipy.stats.binomtest(successes, n).proportion_ci(method="wilson").
    """
    from scipy.special import ndtri

    require((0 <= successes <= n, f"successes {successes} must lie between 0 and n = {n}"))
    if n == 0:
        return Interval(nan, nan, nan, 0)
    return _score_interval(successes / n, n, ndtri(0.975))._replace(n=int(n))


def share(hits: ArrayLike, units: ArrayLike | None = None) -> Interval:
    """Share of booleans (n,) with a score interval over units (labels (n,), by default the rows).

    Wilson's with t for z, at the effective number of rows: n over the design effect of the units
    (Kish 1965; at least 1), as in Korn and Graubard (1998). Where nothing varies the units count,
    not the rows. NaN when n is 0, and NaN limits for fewer than LEAST units; n counts the rows.

    What it promises: it is never narrower than Wilson's of the rows; and where rows of a unit are
    more alike than chance makes them, copies of all rows inside their units change nothing. Where
    they are less alike, the design effect is held at 1: the interval is wider than the units
    imply, and copies narrow it, but never below what the units imply.
    """
    hits = booleans(hits, hits)[0].astype(float)
    table, _ = by_unit(np.column_stack([hits, np.ones(len(hits))]), units)
    n, count = len(hits), len(table)
    p = float(hits.mean()) if n else nan
    if count < LEAST:
        return Interval(p, nan, nan, n)
    size = float(count)
    if 0 < p < 1:
        spread = ((table[:, 0] - p * table[:, 1]) ** 2).sum() * count / (count - 1) / n
        size = n if count == n else n / max(1.0, spread / (p * (1 - p)))
    return _score_interval(p, size, student(table[:, 1]))._replace(n=n)


def student(sizes: np.ndarray) -> float:
    """Quantile of t for units with these numbers of rows; few large ones count as fewer (Kish)."""
    from scipy.special import stdtrit

    even = sizes.sum() ** 2 / (sizes**2).sum()
    return float(stdtrit(max(1.0, even - 1), 0.975))


def _score_interval(p, n, z):
    """Limits of a share p of n, which need not be whole, at z standard errors."""
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = sqrt(z**2 * p * (1 - p) / n + (z**2 / (2 * n)) ** 2) / (1 + z**2 / n)
    high = 1 if p == 1 else centre + half  # 1, and not its neighbour
    return Interval(float(p), float(centre - half), float(high), 0)


def mean(
    values: ArrayLike,
    units: ArrayLike | None = None,
    *,
    scale: tuple[float, float] = (-inf, inf),
    combine: Callable | None = None,
    least: int = LEAST,
) -> Interval | list[Interval]:
    """Mean of values (n,) with a 95% score interval over units; of (n, k), a list of k.

    units: n labels, by default each row its own; the mean stays that over rows. combine:
    f(means (..., k)) to (..., m) numbers made of the means, such as `macro`; gives m. The standard
    error is the jackknife's, which leaves out one unit after the other. scale: the least and the
    greatest value that is possible. The error that a limit allows falls towards an end of the
    scale, as a share's does in Wilson's interval; on a scale without ends the interval is
    Student's, on one with a lower end alone the error's square grows with the distance from it.

    Fewer than `least` units have no limits: NaN. Neither have values that are all equal where the
    scale has an end missing; where it has both, other values may be as frequent as a share of
    0 may be.
    """
    values = numbers(values)
    full = values.ndim in (1, 2) and values.size
    require((full, f"values must be (n,) or (n, k), n > 0, not {values.shape}"))
    inside = combine or (values.min() >= scale[0] - 1e-9 and values.max() <= scale[1] + 1e-9)
    require((inside, f"values beyond their scale {scale}: {values.min()} to {values.max()}"))
    columns = values.reshape(len(values), -1)
    table, _ = by_unit(np.column_stack([columns, np.ones(len(values))]), units)

    def estimate(sums):
        means = sums[..., :-1] / sums[..., -1:]
        return combine(means) if combine else means

    total, few = table.sum(axis=0), len(table) < least
    found, t = estimate(total[None])[0], 0 if few else student(table[:, -1])
    errors = found * nan if few else jackknife(estimate(total - table))
    made = [
        Interval(float(v), *_limits(float(v), float(e), t, len(table), scale), len(values))
        for v, e in zip(found, errors)
    ]
    return made[0] if values.ndim == 1 and not combine else made


def jackknife(without: np.ndarray) -> np.ndarray:
    """Standard errors (k,) of statistics from their values without each unit (units, k)."""
    return np.sqrt((len(without) - 1) * without.var(axis=0))


def _limits(value, error, t, count, scale):
    """The values whose own standard error puts `value` t errors away: (low, high)."""
    low, high = scale
    if not error == error:
        return nan, nan
    if error <= 1e-9 * max(1, abs(value)):  # all alike; sums in another order differ by as much
        if low == -inf or high == inf:
            return nan, nan
        part = t**2 / (count + t**2)  # what Wilson's interval allows of others where it saw none
        return value - part * (value - low), value + part * (high - value)
    if low == -inf:
        return value - t * error, value + t * error
    if high == inf:
        half = (t * error) ** 2 / (value - low) / 2
        root = sqrt(half**2 + (t * error) ** 2)
        return value + half - root, value + half + root
    width = high - low
    size = (value - low) * (high - value) / error**2
    i = _score_interval((value - low) / width, size, t)
    return low + width * i.low, low + width * i.high


def difference(
    a: ArrayLike,
    b: ArrayLike,
    units: ArrayLike | None = None,
    *,
    scale: tuple[float, float] = (0, 1),
) -> Interval:
    """Mean of a - b, paired values (n,) of this scale, with a 95% interval over units.

    Of zeros and ones: Student's interval after a pair of each kind that differs was added (Bonett
    and Price 2012), where units repeat a unit of mean size. Other values: `mean` of the
    differences.
    """
    a, b = numbers(a), numbers(b)
    pairs = a.shape == b.shape == (a.size,) and a.size
    require((pairs, f"need pairs (n,), n > 0, not {a.shape} and {b.shape}"))
    apart, width = a - b, scale[1] - scale[0]
    if width == inf or not np.isin([a, b], scale).all():
        return mean(apart, units, scale=(-width, width))
    table, _ = by_unit(np.column_stack([apart, np.ones(len(apart))]), units)
    value, count = float(apart.mean()), len(table)
    if count < LEAST:
        return Interval(value, nan, nan, len(apart))
    t, size = student(table[:, 1]), len(apart) / count
    table = np.vstack([table, [[width * size, size], [-width * size, size]]])
    total = table.sum(axis=0)
    near, without = total[0] / total[1], total - table
    half = t * float(jackknife(without[:, 0] / without[:, 1]))
    low, high = max(-width, near - half), min(width, near + half)
    return Interval(value, float(low), float(high), len(apart))


def median(values: ArrayLike, units: ArrayLike | None = None) -> Interval:
    """Median of values (n,); limits are the quantiles at those of a `share` of a half.

    Woodruff (1952): the share is that of the values up to the median, over units, of which it takes
    SEVERAL: limits are values, and with few of them the next one lies far off.
    """
    values = numbers(values)
    middle = float(np.median(values))
    i = share(values <= middle, units)
    if len(by_unit(values, units)[0]) < SEVERAL:
        return Interval(middle, nan, nan, len(values))
    ends = np.quantile(values, [i.low, i.high], method="inverted_cdf")
    return Interval(middle, float(ends[0]), float(ends[1]), len(values))


def balanced_accuracy(hits: int, n: int, kept: int, m: int) -> Interval:
    """`mean_of` two shares, hits / n and kept / m (sensitivity and specificity), by Wilson.

    For printed counts; where rows are at hand, `mean_of` two `share`s is over units.

    0.5 is what an answer that ignores the question reaches. As (1 + d) / 2 for the limits d of
    statsmodels.stats.proportion.confint_proportions_2indep(hits, n, m - kept, m,
    method="newcomb").
    """
    return mean_of(wilson(hits, n), wilson(kept, m))


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
) -> Interval:
    """A rate in 0..1 by an imperfect judge, corrected for its errors (Rogan and Gladen 1978).

    rate: what the judge called positive; this, sensitivity and specificity have 95% score intervals
    (of `share` or `wilson`), which say how many independent booleans each is worth. The 95%
    interval draws all three from Jeffreys posteriors of these sizes. NaN where the judge does no
    better than chance (sensitivity and specificity add up to 1 or less); NaN limits where one of
    the three has none, or where nearly all draws are cut to 0 or to 1, since the judge calls fewer
    positive than its errors let expect. n is the rate's.
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
        rng.beta(i.value * size + 0.5, (1 - i.value) * size + 0.5, RESAMPLES)
        for i, size in zip(known, sizes)
    )
    draws = true_share(drawn, sens, spec)
    low, high = np.quantile(draws[~np.isnan(draws)], [0.025, 0.975]).tolist()
    if low == high:
        low = high = nan
    return Interval(value, low, high, rate.n)


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
    variance, so that a useless judge counts for nothing. units: labels (n,) and (N,) of what
    repeats among both, by default nothing. Interval: a score interval with the error of the units'
    sums and t of the labelled ones, NaN for fewer than SEVERAL of these; where the labels, or what
    they leave of the verdicts, don't vary, or there are less than two, it is a `share` of the
    labels alone. n counts the labels.
    """
    y, f = (x.astype(float) for x in booleans(labels, judged))
    u, n = booleans(others, others)[0].astype(float), len(y)
    if units is None:
        units = np.arange(n), np.arange(n, n + u.size)
    of, rest_of = (np.asarray(x, dtype=object) for x in units)
    spread = np.var(np.concatenate([f, u]), ddof=1) if n + u.size > 1 else 0.0
    weight = 0.0
    if n > 1 and u.size and spread:
        weight = np.clip(np.cov(y, f)[0, 1] / ((1 + n / u.size) * spread), 0, 1)
    rest = y - weight * f
    sizes, _ = by_unit(np.ones(n), of)
    few = len(sizes) < SEVERAL
    if n < 2 or not u.size or np.ptp(y) == 0 or np.ptp(rest) == 0:
        alone = share(y, of)
        return alone._replace(low=nan, high=nan) if few else alone
    value = float(np.clip(y.mean() + weight * (u.mean() - f.mean()), 0, 1))
    parts = np.concatenate([(rest - rest.mean()) / n, weight * (u - u.mean()) / u.size])
    sums, _ = by_unit(parts[:, None], np.concatenate([of, rest_of]))
    if few:
        return Interval(value, nan, nan, n)
    error = sqrt((sums**2).sum() * len(sums) / (len(sums) - 1))
    inner = min(max(value, 0.5 / n), 1 - 0.5 / n)  # at an end a score has no error
    low, high = _limits(inner, error, student(sizes), len(sizes), (0, 1))
    return Interval(value, min(low, value), max(high, value), n)
