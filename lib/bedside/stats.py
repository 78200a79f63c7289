"""Pure, seeded statistics: arrays in, numbers out; chance comes only from the `rng` that is passed.

    rng = np.random.default_rng(0)
    bootstrap(correct, rng, units=patient)     # Interval(value, low, high, n)
    mcnemar(correct_a, correct_b)              # exact two-sided p
    kappa(judge, physician, ["no", "partly", "yes"], weights="quadratic", rng=rng)

Values are scored values: NaN is a ValueError except where a docstring says otherwise. Shares lie between 0 and 1.
`units` labels what repeats (patient, question, case); its rows are drawn together. scipy.special is imported on use,
scipy.stats (slow to import, and slower at the bootstrap) only by the tests.
"""

from math import hypot, isclose, nan, sqrt
from typing import NamedTuple

import numpy as np

CELLS = 2**17  # in one block of resamples: 1 MB, for the cache and to bound the memory


class Interval(NamedTuple):
    """An estimate and its confidence limits; `n` counts the rows behind it, not the units."""

    value: float
    low: float
    high: float
    n: int


def bootstrap(
    values,
    rng,
    *,
    units=None,
    statistic="mean",
    combine=None,
    method="percentile",
    resamples=10_000,
    level=0.95,
):
    """Bootstrap interval of a mean, or of another statistic, resampling rows or whole units.

    values (n,) gives an Interval; (n, k), k models over the same items, k Intervals from the same resamples.
    units: n labels; the mean stays that over rows. statistic: "mean", or f(rows, axis=0) of the (rows, k) resampled,
    called once a resample (slower). combine: f(means (..., k)) to (..., m) numbers made of the means, such as `macro`;
    gives m Intervals, and resamples where a number is NaN are left out of its limits. method: "percentile" or "bca".
    Constant values or a single unit give low == high == value, which is no certainty: read n. ValueError for no rows,
    NaN, or units of another length.
    """
    values = _numbers(values)
    _require(
        values.ndim in (1, 2) and values.size,
        f"values must be (n,) or (n, k), n > 0, not {values.shape}",
    )
    _require(
        method in ("percentile", "bca"), f"method must be 'percentile' or 'bca', not {method!r}"
    )
    _require(
        callable(statistic) or statistic == "mean",
        f"statistic must be 'mean' or a function, not {statistic!r}",
    )
    _require(
        combine is None or (statistic, method) == ("mean", "percentile"),
        "combine takes percentile limits of means",
    )
    _require(0 < level < 1, f"level must lie between 0 and 1, not {level}")
    n, columns = len(values), values.reshape(len(values), -1)
    table, unit = _by_unit(
        np.column_stack([columns, np.ones(n)]), units
    )  # sums, and rows, of a unit
    count = len(table)

    def estimate(drawn):  # (resamples, units): how often each unit was drawn
        if statistic == "mean":
            sums = drawn @ table
            means = sums[:, :-1] / sums[:, -1:]
            return combine(means) if combine else means
        return np.array(
            [statistic(np.repeat(columns, times, axis=0), axis=0) for times in drawn[:, unit]]
        )

    value = estimate(np.ones((1, count), bool))[0]
    draws = np.concatenate([estimate(drawn) for drawn in _drawn(rng, resamples, count)])
    noise = 1e-12 * np.abs(draws).max(axis=0)  # what summing in another order may change
    levels = np.tile([[0.5 - level / 2], [0.5 + level / 2]], len(value))
    if method == "bca" and count > 1:
        parts = np.array_split(np.eye(count, dtype=bool), count // 256 + 1)
        jackknife = np.concatenate([estimate(~left_out) for left_out in parts])
        levels = _bca_levels(value, draws, jackknife, levels, noise)
    finite = [column[np.isfinite(column)] for column in draws.T]
    limits = np.array(
        [
            np.quantile(column, pair) if column.size else (nan, nan)
            for column, pair in zip(finite, levels.T)
        ]
    ).T
    low, high = np.where(np.ptp(draws, axis=0) <= noise, value, limits)
    found = [Interval(*row, n) for row in np.column_stack([value, low, high]).tolist()]
    return found[0] if values.ndim == 1 and not combine else found


def _bca_levels(value, draws, jackknife, levels, noise):
    """Levels (2, k) corrected for bias and acceleration (Efron 1987); a tie counts half below."""
    from scipy.special import ndtr, ndtri

    below = ((draws < value - noise).mean(axis=0) + (draws <= value + noise).mean(axis=0)) / 2
    bias = ndtri(np.clip(below, 0.5 / len(draws), 1 - 0.5 / len(draws)))
    away = jackknife.mean(axis=0) - jackknife
    spread = 6 * (away**2).sum(axis=0) ** 1.5
    z = bias + ndtri(levels)
    return ndtr(bias + z / (1 - (away**3).sum(axis=0) / np.where(spread > 0, spread, 1) * z))


def mcnemar(a, b):
    """Exact two-sided McNemar p of paired booleans (n,); 1.0 when no pair is discordant."""
    a, b = _booleans(a, b)
    return mcnemar_counts((a & ~b).sum(), (~a & b).sum())


def mcnemar_counts(b, c):
    """Exact two-sided McNemar p from the two discordant counts."""
    from scipy.special import bdtr

    _require(b >= 0 and c >= 0 and b % 1 == c % 1 == 0, f"{b} and {c} are not two counts")
    return float(min(1, 2 * bdtr(min(b, c), b + c, 0.5)))


def mcnemar_range(x, y, n):
    """Smallest and largest exact McNemar p that margins x and y out of n pairs allow."""
    _require(0 <= x <= n and 0 <= y <= n, f"margins {x} and {y} must lie between 0 and n = {n}")
    overlaps = range(max(0, x + y - n), min(x, y) + 1)
    p = [mcnemar_counts(x - both, y - both) for both in overlaps]
    return min(p), max(p)


def mcnemar_power(n, lost, won, alpha=0.05):
    """Power of the exact McNemar test with n pairs, of which shares `lost` and `won` are discordant one way and the other."""
    from scipy.special import bdtr, gammaln, xlogy

    _require(
        n >= 1 and 0 <= lost and 0 <= won and lost + won <= 1 + 1e-12,
        f"need n >= 1 and shares, not {n}, {lost}, {won}",
    )
    b, both = np.triu_indices(n + 1)  # all b, c with b + c <= n
    c, rest = both - b, n - both
    chance = np.exp(
        gammaln(n + 1)
        - gammaln(b + 1)
        - gammaln(c + 1)
        - gammaln(rest + 1)
        + xlogy(b, lost)
        + xlogy(c, won)
        + xlogy(rest, max(0.0, 1 - lost - won))
    )
    p = np.where(b + c > 0, 2 * bdtr(np.minimum(b, c), b + c, 0.5), 1)
    return float(chance[p < alpha].sum())


def paired_permutation(a, b, rng, *, units=None, resamples=10_000):
    """Two-sided sign-flip p of the mean difference of paired values (n,).

    units (n,): the differences of a unit flip together. Up to 13 units every sign pattern is counted and p is exact;
    beyond, p = (hits + 1) / (resamples + 1).
    """
    a, b = _numbers(a), _numbers(b)
    _require(
        a.shape == b.shape == (a.size,) and a.size,
        f"need pairs (n,), n > 0, not {a.shape} and {b.shape}",
    )
    sums, _ = _by_unit(a - b, units)
    count, reached = len(sums), abs(sums.sum()) - 1e-12 * np.abs(sums).sum()  # a tie is a hit
    if count <= 13:
        signs = 1 - 2 * (np.arange(2**count)[:, None] >> np.arange(count) & 1)
        return float((np.abs(signs @ sums) >= reached).mean())
    flips = _integers(rng, 2, resamples, count)
    hits = sum((np.abs((1 - 2 * flip) @ sums) >= reached).sum() for flip in flips)
    return float((hits + 1) / (resamples + 1))


def wilson(successes, n, level=0.95):
    """Wilson score interval of a proportion; all NaN when n is 0."""
    from scipy.special import ndtri

    _require(0 <= successes <= n, f"successes {successes} must lie between 0 and n = {n}")
    _require(0 < level < 1, f"level must lie between 0 and 1, not {level}")
    if n == 0:
        return Interval(nan, nan, nan, 0)
    p, z2 = successes / n, ndtri(0.5 + level / 2) ** 2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = sqrt(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    high = 1 if successes == n else centre + half  # 1, and not its neighbour
    return Interval(float(p), float(centre - half), float(high), int(n))


def balanced_accuracy(hits, n, kept, m, level=0.95):
    """Mean of two independent shares, hits / n and kept / m (sensitivity and specificity), as an Interval of n + m.

    Interval: the two Wilson intervals combined by MOVER (Donner and Zou 2012), which has width at 0 and 1 too. 0.5 is
    what an answer that ignores the question reaches. Without items in one of the two there is no value.
    """
    a, b = wilson(hits, n, level), wilson(kept, m, level)
    value = (a.value + b.value) / 2
    return Interval(
        value,
        value - hypot(a.value - a.low, b.value - b.low) / 2,
        value + hypot(a.high - a.value, b.high - b.value) / 2,
        n + m,
    )


def harmonic(p, q):
    """Harmonic mean of two rates, numbers or arrays: F1 of precision and recall. NaN or an error where both are 0."""
    return 2 * p * q / (p + q)


def macro(counts):
    """Accuracy and macro precision, recall and F1 of two classes, (..., 4), from counts or shares (..., 4).

    counts: true positives, false positives, false negatives, true negatives; they need not be whole. A class that is
    never predicted has precision and F1 0. Without a single case of one class the three macro numbers are NaN: there is
    nothing to average, and what stands in its place elsewhere (1, 0 or half the F1) depends on the software.
    """
    tp, fp, fn, tn = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)

    def share(part, whole):
        return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=whole > 0)

    there = np.where((tp + fn > 0) & (fp + tn > 0), 1, nan)
    precision = (share(tp, tp + fp) + share(tn, tn + fn)) / 2
    recall = (share(tp, tp + fn) + share(tn, tn + fp)) / 2
    f1 = (share(2 * tp, 2 * tp + fp + fn) + share(2 * tn, 2 * tn + fp + fn)) / 2
    return np.stack(
        [(tp + tn) / (tp + fp + fn + tn), precision * there, recall * there, f1 * there], axis=-1
    )


def most_kappa(accuracy):
    """The largest kappa that two raters with this share of equal ratings can have on two classes, whatever the classes' shares.

    Chance agreement is smallest, 1/2 - (1 - accuracy)^2 / 2, where one rater is as far above one half as the other below.
    """
    off = 1 - np.asarray(accuracy, dtype=float)
    return 1 - off / (0.5 + off**2 / 2)


def two_proportions(x1, n1, x2, n2):
    """Two-sided pooled z test of two independent proportions; 1.0 when all or none succeed."""
    from scipy.special import ndtr

    _require(
        0 <= x1 <= n1 > 0 and 0 <= x2 <= n2 > 0, f"not proportions: {x1} of {n1}, {x2} of {n2}"
    )
    pooled = (x1 + x2) / (n1 + n2)
    error = sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return float(2 * ndtr(-abs(x1 / n1 - x2 / n2) / error)) if error else 1.0


def fisher(x1, n1, x2, n2):
    """Two-sided p of Fisher's exact test of two independent proportions."""
    from scipy.special import betaln

    _require(
        0 <= x1 <= n1 > 0 and 0 <= x2 <= n2 > 0, f"not proportions: {x1} of {n1}, {x2} of {n2}"
    )

    def ways(n, k):  # log of n choose k
        return -np.log1p(n) - betaln(n - k + 1, k + 1)

    first = np.arange(max(0, x1 + x2 - n2), min(n1, x1 + x2) + 1)
    chance = np.exp(ways(n1, first) + ways(n2, x1 + x2 - first) - ways(n1 + n2, x1 + x2))
    return float(min(1, chance[chance <= chance[first == x1] * (1 + 1e-9)].sum()))


def even(counts):
    """p of the chi-squared test that all classes are equally likely."""
    from scipy.special import chdtrc

    counts = _numbers(counts)
    expected = counts.mean()
    return float(chdtrc(len(counts) - 1, ((counts - expected) ** 2 / expected).sum()))


def holm(p_values):
    """Holm-adjusted p values (m,) in the order given; NaN stays NaN and is not counted."""
    p = np.array(p_values, dtype=float)
    _require(
        p.ndim == 1 and not ((p < 0) | (p > 1)).any(), "p values must be (m,), between 0 and 1"
    )
    order = np.argsort(p)[: np.isfinite(p).sum()]  # NaN sorts last
    p[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return p


def kappa(a, b, labels, *, weights=None, rng=None, units=None, resamples=2000):
    """Cohen's kappa of two raters (n,), with a 95% percentile bootstrap over items or units.

    labels: every possible rating, in order for weights="quadratic". Both raters constant on one label: 1.0 by
    convention, with NaN limits; one constant, the other varied: 0.0. Resamples with one label only are left out of
    the limits; without rng these are NaN. ValueError for a rating that is not in labels.
    """
    _require(
        weights in (None, "quadratic"), f"weights must be None or 'quadratic', not {weights!r}"
    )
    _require(len(a) == len(b) > 0, f"need as many ratings from both, not {len(a)} and {len(b)}")
    place = {label: at for at, label in enumerate(labels)}
    strange = {str(rating) for rating in [*a, *b] if rating not in place}
    _require(not strange, f"ratings that are not in labels: {sorted(strange)}")
    size = len(place)
    penalty = _gaps(np.arange(size)) ** 2 if weights else 1 - np.eye(size)
    cell = [place[x] * size + place[y] for x, y in zip(a, b)]
    table, _ = _by_unit(np.eye(size**2)[cell], units)
    found = _agreement(table, lambda margin: penalty, 0, rng, resamples)._replace(n=len(cell))
    return found._replace(value=1.0) if np.isnan(found.value) else found


def krippendorff_alpha(ratings, rng=None, *, level="ordinal", units=None, resamples=2000):
    """Krippendorff's alpha, with a 95% percentile bootstrap over what was rated.

    ratings (raters, rated), NaN where missing; what was rated once is left out, n counts the others. units: labels of
    the rated (rated,) that are resampled together. level: "nominal",
    "ordinal" or "interval", on a scale of at most 100 distinct ratings. NaN when all ratings are equal (no variation
    is no evidence); such resamples are left out of the limits, and without rng these are NaN.
    """
    ratings = np.asarray(ratings, dtype=float)
    _require(level in ("nominal", "ordinal", "interval"), f"unknown level {level!r}")
    _require(
        ratings.ndim == 2 and not np.isinf(ratings).any(),
        "ratings must be (raters, units), finite or NaN",
    )
    twice = np.isfinite(ratings).sum(axis=0) >= 2
    ratings, units = (
        ratings[:, twice],
        None if units is None else np.asarray(units, dtype=object)[twice],
    )
    scale = np.unique(ratings[np.isfinite(ratings)])
    _require(
        1 <= len(scale) <= 100,
        f"need 1 to 100 distinct ratings on units rated twice, not {len(scale)}",
    )
    given = (ratings[:, :, None] == scale).sum(axis=0)  # (units, scale)
    pairs = given[:, :, None] * (given[:, None, :] - np.eye(len(scale)))
    table = (pairs / (given.sum(axis=1) - 1)[:, None, None]).reshape(len(given), -1)
    apart = {
        "nominal": lambda margin: 1 - np.eye(len(scale)),
        "ordinal": lambda margin: _gaps(np.cumsum(margin, axis=1) - margin / 2) ** 2,  # midranks
        "interval": lambda margin: _gaps(scale) ** 2,
    }
    return _agreement(_by_unit(table, units)[0], apart[level], 1, rng, resamples)._replace(
        n=ratings.shape[1]
    )


def _agreement(table, apart, correction, rng, resamples):
    """1 - observed / chance disagreement of the summed (units, size**2) counts, as an Interval."""
    size, n = round(sqrt(table.shape[1])), len(table)

    def estimate(sums):
        counts = sums.reshape(-1, size, size)
        margin, other = counts.sum(axis=2), counts.sum(axis=1)
        far = apart(margin)
        chance = (margin[:, :, None] * other[:, None, :] * far).sum(axis=(1, 2))
        seen = (counts * far).sum(axis=(1, 2)) * (margin.sum(axis=1) - correction)
        return 1 - np.divide(seen, chance, out=np.full(len(sums), nan), where=chance > 0)

    value = float(estimate(table.sum(axis=0)[None])[0])
    if rng is None or np.isnan(value):
        return Interval(value, nan, nan, n)
    draws = estimate(np.concatenate([drawn @ table for drawn in _drawn(rng, resamples, n)]))
    return Interval(value, *np.nanquantile(draws, [0.025, 0.975]).tolist(), n)


def _gaps(place):
    return place[..., :, None] - place[..., None, :]


def mde_paired(n, discordant, alpha=0.05, power=0.8):
    """Smallest difference d of two paired proportions that McNemar's test finds with this power.

    discordant: the share psi of the n pairs in which the two differ. Solves z(1 - alpha/2) sqrt(psi) + z(power)
    sqrt(psi - d^2) = d sqrt(n) (Connor 1987); NaN when d would have to exceed psi.
    """
    from scipy.special import ndtri

    _require(n >= 1 and 0 <= discordant <= 1, f"need n >= 1 and a share, not {n} and {discordant}")
    _require(
        0 < alpha < 1 and 0.5 <= power < 1,
        f"need 0 < alpha < 1, 0.5 <= power < 1, not {alpha}, {power}",
    )
    z, z_power = ndtri(1 - alpha / 2), ndtri(power)
    if n < z**2:
        return nan
    root = z * sqrt(n) + z_power * sqrt(n + z_power**2 - z**2)
    d = float(sqrt(discordant) * root / (n + z_power**2))
    return d if 0 < d <= discordant else nan


def grim(percent, n, decimals):
    """Can this printed percentage come from a whole number out of n items (the GRIM test)?"""
    return bool(grim_counts(percent, n, decimals))


def grim_counts(percent, n, decimals):
    """The counts out of n that print as this percentage, rounded half up, half to even, or as a float."""
    scale = 10**decimals
    printed = round(percent * scale)
    _require(n >= 1, f"n must be at least 1, not {n}")
    _require(
        isclose(printed, percent * scale, abs_tol=1e-6),
        f"{percent} has more than {decimals} decimals",
    )

    def prints(count):
        twice = 2 * (100 * scale * count - printed * n)  # how far off: n is half a last digit
        half_down = (
            printed % 2 == 0 or round(100 * count / n, decimals) == percent
        )  # 1.15 prints 1.1
        return -n <= twice < n or (twice == n and half_down)

    return [count for count in range(n + 1) if prints(count)]


def sens_spec(truth, predicted):
    """Sensitivity and specificity of booleans (n,), Wilson intervals; an empty class is NaN, n = 0."""
    truth, predicted = _booleans(truth, predicted)
    return (
        wilson((truth & predicted).sum(), truth.sum()),
        wilson((~truth & ~predicted).sum(), (~truth).sum()),
    )


def corrected_rate(hits, n, sensitivity, specificity, rng, *, resamples=10_000):
    """A rate measured by an imperfect judge, corrected for its errors (Rogan and Gladen 1978), in 0..1.

    hits out of n judged positive; sensitivity and specificity: Intervals with their own n. The 95% interval draws all
    three from Jeffreys posteriors. NaN where the judge does no better than chance (their sum is at most 1).
    """
    _require(0 <= hits <= n > 0, f"hits {hits} must lie between 0 and n = {n} > 0")
    nothing = Interval(nan, nan, nan, int(n))
    if not sensitivity.value + specificity.value > 1:
        return nothing

    def corrected(rate, sens, spec):
        return np.clip((rate + spec - 1) / (sens + spec - 1), 0, 1)

    def drawn(share, size):
        return rng.beta(share * size + 0.5, (1 - share) * size + 0.5, resamples)

    rate, sens, spec = (
        drawn(hits / n, n),
        *(drawn(i.value, i.n) for i in (sensitivity, specificity)),
    )
    draws = corrected(rate, sens, spec)[sens + spec > 1]
    value = float(corrected(hits / n, sensitivity.value, specificity.value))
    return Interval(value, *np.quantile(draws, [0.025, 0.975]).tolist(), int(n))


def prediction_powered(labels, judged, others):
    """A rate in 0..1 from a few labels and many verdicts: power-tuned prediction-powered inference (Angelopoulos et al. 2023).

    labels and judged: booleans (n,) by people and by the judge on the same replies; others: the judge's booleans (N,) on
    replies nobody labelled, drawn from the same ones. The verdicts' weight is the one of least variance, so that a
    useless judge counts for nothing. Interval: normal 95%, cut to 0..1; where the labels, or what they leave of the
    verdicts, don't vary, or there are less than two, it is Wilson's of the labels alone. n counts the labels.
    """
    from scipy.special import ndtri

    y, f = (x.astype(float) for x in _booleans(labels, judged))
    u, n = _booleans(others, others)[0].astype(float), len(y)
    spread = np.var(np.concatenate([f, u]), ddof=1) if n + u.size > 1 else 0.0
    weight = (
        np.clip(np.cov(y, f)[0, 1] / ((1 + n / u.size) * spread), 0, 1)
        if n > 1 and u.size and spread
        else 0.0
    )
    if n < 2 or not u.size or np.ptp(y) == 0 or np.ptp(y - weight * f) == 0:
        return wilson(int(y.sum()), n)
    value = y.mean() + weight * (u.mean() - f.mean())
    error = ndtri(0.975) * sqrt(weight**2 * u.var() / u.size + np.var(y - weight * f) / n)
    return Interval(*np.clip([value, value - error, value + error], 0, 1).tolist(), n)


def _require(met, message):
    if not met:
        raise ValueError(message)


def _numbers(values):
    try:
        array = np.asarray(values, dtype=float)
    except TypeError as error:  # pandas.NA
        raise ValueError(f"pass scored values only: {error}") from None
    _require(np.isfinite(array).all(), "pass scored values only: there are NaN or infinite ones")
    return array


def _booleans(a, b):
    pair = [_numbers(a), _numbers(b)]
    shapes = {array.shape for array in pair}
    _require(len(shapes) == 1 and pair[0].ndim == 1, f"need two arrays (n,), not {shapes}")
    _require(np.isin(pair, (0, 1)).all(), "need booleans: some values are neither 0 nor 1")
    return pair[0] == 1, pair[1] == 1


def _by_unit(rows, units):
    """Sums of the rows of each unit (in the order of the labels), and the unit of each row (n,)."""
    if units is None:  # every row its own
        return rows, np.arange(len(rows))
    units = np.asarray(units, dtype=object)  # else NaN among strings becomes the label 'nan'
    _require(
        units.shape == (len(rows),) and not (units != units).any(),
        f"units: need {len(rows)} labels, no NaN",
    )
    names, unit = np.unique(units, return_inverse=True)
    sums = np.zeros((len(names), *rows.shape[1:]))
    np.add.at(sums, unit, rows)
    return sums, unit


def _integers(rng, high, resamples, units):
    """Integers below high, in blocks (rows, units): the same ones for any size of block."""
    step = max(1, CELLS // units)
    for start in range(0, resamples, step):
        yield rng.integers(0, high, size=(min(step, resamples - start), units))


def _drawn(rng, resamples, units):
    """How often each unit is in each resample, in blocks (rows, units)."""
    for picks in _integers(rng, units, resamples, units):
        cells = picks + units * np.arange(len(picks))[:, None]
        yield np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
