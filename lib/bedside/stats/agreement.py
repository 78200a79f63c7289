"""Agreement between raters: Cohen's kappa of two; Krippendorff's alpha and Gwet's AC of several."""

from collections.abc import Hashable, Iterable, Sequence
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from .inputs import by_unit, require
from .intervals import Interval
from .resampling import LEAST, drawn_units


def kappa(
    a: Sequence,
    b: Sequence,
    labels: Iterable[Hashable],
    *,
    weights: str | None = None,
    rng: np.random.Generator | None = None,
    units: ArrayLike | None = None,
    resamples: int = 2000,
    least: int = LEAST,
) -> Interval:
    """Cohen's kappa of two raters (n,), with a 95% percentile bootstrap over items or units.

    labels: every possible rating, in order for "linear" or "quadratic" weights. NaN if all ratings
    are one label, which is no evidence of agreement; 0 if one rater is constant and the other
    varies. Such resamples are left out of the limits; without rng, or with fewer than `least`
    units, these are NaN. ValueError for a rating that is not in labels. Value as
    sklearn.metrics.cohen_kappa_score.
    """
    _known(weights)
    require((len(a) == len(b) > 0, f"need as many ratings from both, not {len(a)} and {len(b)}"))
    place = {label: at for at, label in enumerate(labels)}
    strange = {str(rating) for rating in [*a, *b] if rating not in place}
    require((not strange, f"ratings that are not in labels: {sorted(strange)}"))
    size = len(place)
    far = np.abs(_gaps(np.arange(size)))
    penalty = {None: far > 0, "linear": far, "quadratic": far**2}[weights]
    cell = [place[x] * size + place[y] for x, y in zip(a, b)]
    table, _ = by_unit(np.eye(size**2)[cell], units)
    rng = rng if len(table) >= least else None
    return _beyond_chance(table, lambda margin: penalty, 0, rng, resamples)._replace(n=len(cell))


def krippendorff_alpha(
    ratings: ArrayLike,
    rng: np.random.Generator | None = None,
    *,
    level: str = "ordinal",
    units: ArrayLike | None = None,
    resamples: int = 2000,
    least: int = LEAST,
) -> Interval:
    """Krippendorff's alpha, with a 95% percentile bootstrap over what was rated.

    ratings (raters, rated), NaN where missing; what was rated once is left out, n counts the
    others. units: labels of the rated (rated,) that are resampled together. level: "nominal",
    "ordinal" or "interval", on a scale of at most 100 distinct ratings. NaN when all ratings are
    equal (no variation is no evidence); such resamples are left out of the limits, and without rng,
    or with fewer than `least` units, these are NaN. Value as in Krippendorff's worked example
    (2011), and as krippendorff.alpha where that package is installed.
    """
    ratings = np.asarray(ratings, dtype=float)
    require((level in ("nominal", "ordinal", "interval"), f"unknown level {level!r}"))
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
        "interval": lambda margin: _gaps(scale) ** 2,
    }
    table, _ = by_unit(table, units)
    rng = rng if len(table) >= least else None
    found = _beyond_chance(table, apart[level], 1, rng, resamples)
    return found._replace(n=ratings.shape[1])


def gwet(ratings: ArrayLike, scale: Sequence, *, weights: str | None = None) -> float:
    """Gwet's AC1, or AC2 with "linear" or "quadratic" weights: for margins far from even.

    ratings (raters, rated), NaN where missing; what was rated once counts for the margins only.
    scale: every possible rating, in order. ValueError for a rating that is not in scale. AC1 as in
    Gwet's worked example of four raters (2014).
    """
    _known(weights)
    ratings, size = np.asarray(ratings, dtype=float), len(scale)
    given = (ratings[:, :, None] == np.asarray(scale)).sum(axis=0)  # (rated, scale)
    require((given.sum() == np.isfinite(ratings).sum(), "ratings that are not in scale"))
    given = given[given.any(axis=1)]
    times = given.sum(axis=1)
    require(((times > 1).any(), "nothing was rated twice"))
    far = np.abs(_gaps(np.arange(size))) / (size - 1)
    alike = 1 - {None: far > 0, "linear": far, "quadratic": far**2}[weights]
    twice, n = given[times > 1], times[times > 1]
    seen = ((twice * (twice @ alike - 1)).sum(axis=1) / (n * (n - 1))).mean()
    share = (given / times[:, None]).mean(axis=0)
    chance = alike.sum() / (size * (size - 1)) * (share * (1 - share)).sum()
    return float((seen - chance) / (1 - chance))


def _beyond_chance(table, apart, correction, rng, resamples):
    """1 - observed / chance disagreement of the summed (units, size**2) counts, as an Interval.

    apart: from the margins (..., size) to how far two ratings lie apart. correction: what is
    taken off the number of ratings in the chance disagreement.
    """
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
    draws = estimate(np.concatenate([drawn @ table for drawn in drawn_units(rng, resamples, n)]))
    return Interval(value, *np.nanquantile(draws, [0.025, 0.975]).tolist(), n)


def _known(weights):
    known = weights in (None, "linear", "quadratic")
    require((known, f"weights must be None, 'linear' or 'quadratic', not {weights!r}"))


def _gaps(place):
    return place[..., :, None] - place[..., None, :]
