"""Agreement between raters: Cohen's kappa of two; Krippendorff's alpha and Gwet's AC of several."""

from collections.abc import Hashable, Iterable, Sequence
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from .inputs import by_unit, require
from .intervals import SEVERAL, Interval, jackknife, student


def kappa(
    a: Sequence,
    b: Sequence,
    labels: Iterable[Hashable],
    *,
    weights: str | None = None,
    units: ArrayLike | None = None,
) -> Interval:
    """Cohen's kappa of two raters (n,), with a 95% interval over items or units (labels, (n,)).

    labels: every possible rating, in order for "linear" or "quadratic" weights. NaN if all ratings
    are one label, which is no evidence of agreement; 0 if one rater is constant and the other
    varies. Interval: see `_beyond_chance`; NaN limits for fewer than SEVERAL units. ValueError for
    a rating that is not in labels. Value as sklearn.metrics.cohen_kappa_score.
    """
    require((len(a) == len(b) > 0, f"need as many ratings from both, not {len(a)} and {len(b)}"))
    place = {label: at for at, label in enumerate(labels)}
    strange = {str(rating) for rating in [*a, *b] if rating not in place}
    require((not strange, f"ratings that are not in labels: {sorted(strange)}"))
    size = len(place)
    penalty = _penalty(size, weights)
    cell = [place[x] * size + place[y] for x, y in zip(a, b)]
    table, _ = by_unit(np.eye(size**2)[cell], units)
    return _beyond_chance(table, lambda margin: penalty, 0)._replace(n=len(cell))


def krippendorff_alpha(
    ratings: ArrayLike, *, level: str = "ordinal", units: ArrayLike | None = None
) -> Interval:
    """Krippendorff's alpha, with a 95% interval over what was rated, as that of `kappa`.

    ratings (raters, rated), NaN where missing; what was rated once is left out, n counts the
    others. units: labels of the rated (rated,) of what repeats. level: "nominal" or
    "ordinal", on a scale of at most 100 distinct ratings. NaN when all ratings are equal (no
    variation is no evidence). Value as in Krippendorff's worked example (2011), and as
    krippendorff.alpha where that package is installed.
    """
    ratings = np.asarray(ratings, dtype=float)
    require((level in ("nominal", "ordinal"), f"unknown level {level!r}"))
    known = ratings.ndim == 2 and not np.isinf(ratings).any()
    require((known, "ratings must be (raters, units), finite or NaN"))
    twice = np.isfinite(ratings).sum(axis=0) >= 2
    ratings = ratings[:, twice]
    if units is not None:
        units = np.asarray(units, dtype=object)[twice]
    scale = np.unique(ratings[np.isfinite(ratings)])
    few = 1 <= len(scale) <= 100
    require((few, f"need 1 to 100 distinct ratings on units rated twice, not {len(scale)}"))
    given = (ratings[:, :, None] == scale).sum(axis=0)  # (rated, scale)
    pairs = given[:, :, None] * (given[:, None, :] - np.eye(len(scale)))
    table = (pairs / (given.sum(axis=1) - 1)[:, None, None]).reshape(len(given), -1)
    apart = {
        "nominal": lambda margin: 1 - np.eye(len(scale)),
        "ordinal": lambda margin: _gaps(np.cumsum(margin, axis=1) - margin / 2) ** 2,  # midranks
    }
    table, _ = by_unit(table, units)
    return _beyond_chance(table, apart[level], 1)._replace(n=ratings.shape[1])


def gwet(ratings: ArrayLike, scale: Sequence, *, weights: str | None = None) -> float:
    """Gwet's AC1, or AC2 with "linear" or "quadratic" weights: for margins far from even.

    ratings (raters, rated), NaN where missing; what was rated once counts for the margins only.
    scale: every possible rating, in order. ValueError for a rating that is not in scale. AC1 as in
    Gwet's worked example of four raters (2014).
    """
    ratings, size = np.asarray(ratings, dtype=float), len(scale)
    given = (ratings[:, :, None] == np.asarray(scale)).sum(axis=0)  # (rated, scale)
    require((given.sum() == np.isfinite(ratings).sum(), "ratings that are not in scale"))
    given = given[given.any(axis=1)]
    times = given.sum(axis=1)
    require(((times > 1).any(), "nothing was rated twice"))
    penalty = _penalty(size, weights)
    alike = 1 - penalty / penalty.max()
    twice, n = given[times > 1], times[times > 1]
    seen = ((twice * (twice @ alike - 1)).sum(axis=1) / (n * (n - 1))).mean()
    share = (given / times[:, None]).mean(axis=0)
    chance = alike.sum() / (size * (size - 1)) * (share * (1 - share)).sum()
    return float((seen - chance) / (1 - chance))


def _beyond_chance(table, apart, correction):
    """1 - observed / chance disagreement of the summed (units, size**2) counts, as an Interval.

    apart: from the margins (..., size) to how far two ratings lie apart. correction: what is
    taken off the number of ratings in the chance disagreement.

    The limits are Student's on Fisher's z with the jackknife's error over units, of the ratings as
    they are, and again after two units of mean size whose ratings are spread evenly over all cells
    were added, as Agresti and Coull (1998) add two hits and two misses: few units may all agree, or
    hold a rare label once. The wider limit of the two counts.
    """
    size, count = round(sqrt(table.shape[1])), len(table)

    def estimate(sums):
        counts = sums.reshape(-1, size, size)
        margin, other = counts.sum(axis=2), counts.sum(axis=1)
        far = apart(margin)
        chance = (margin[:, :, None] * other[:, None, :] * far).sum(axis=(1, 2))
        seen = (counts * far).sum(axis=(1, 2)) * (margin.sum(axis=1) - correction)
        return 1 - np.divide(seen, chance, out=np.full(len(sums), nan), where=chance > 0)

    value = float(estimate(table.sum(axis=0)[None])[0])
    if count < SEVERAL or np.isnan(value):
        return Interval(value, nan, nan, count)
    t = student(table.sum(axis=1))

    def limits(rows):
        total = rows.sum(axis=0)
        near = float(estimate(total[None])[0])
        error = float(jackknife(estimate(total - rows))) / (1 - near**2)
        return np.tanh(np.arctanh(near) + t * error * np.array([-1, 1]))

    shifted = np.subtract.outer(range(size), range(size)) % size  # cells that are so far apart
    even = (shifted.ravel() == np.arange(size)[:, None]) * (2 * table.sum() / count / size**2)
    ends = [[value, value], limits(np.vstack([table, even]))]
    if abs(value) < 1 - 1e-9:
        ends.append(limits(table))
    ends = np.array(ends)
    return Interval(value, float(np.nanmin(ends[:, 0])), float(np.nanmax(ends[:, 1])), count)


def _penalty(size, weights):
    """How much each pair of ratings out of so many in order disagrees."""
    far = np.abs(_gaps(np.arange(size)))
    known = {None: far > 0, "linear": far, "quadratic": far**2}
    require((weights in known, f"weights must be None, 'linear' or 'quadratic', not {weights!r}"))
    return known[weights]


def _gaps(place):
    return place[..., :, None] - place[..., None, :]
