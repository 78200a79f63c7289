"""How often 95% intervals cover the truth: the worlds, and the table of docs/statistics.md.

    .venv/bin/python tests/interval_worlds.py         # all worlds: prints the table, takes minutes
    .venv/bin/python tests/interval_worlds.py kappa   # worlds whose name begins so

A world (interval_worlds.toml) draws rows whose truth is known. Written down before anything was
simulated: the worlds, the numbers of units (SIZES), and the bounds: at least 93% covered, of shares
and means from ten units, of kappa and alpha from twenty. Each world comes plain (a row for each
unit) and clustered: a unit has 1 to 7 rows, and a row copies its unit's own draw with a chance of
the root of ICC, so that the intraclass correlation is ICC and the truth stays.
"""

import functools
import sys
import tomllib
import zlib
from math import inf, sqrt
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from bedside import stats
from bedside.papers.meddialbench.scores import observed_over_expected

SIZES = (10, 12, 20, 40, 200)
ICC = 0.3
WORLDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["worlds"]


def sample(world, rng, n, clustered):
    """Rows of n units of a world, and the unit of each."""
    known = globals().get(world["draw"])

    def draw(size):
        if known:
            return known(rng, size, *world["of"])
        return getattr(rng, world["draw"])(*world["of"], size)

    if not clustered:
        return draw(n), np.arange(n)
    units = np.repeat(np.arange(n), rng.integers(1, 8, n))
    own, shared = draw(len(units)), draw(n)[units]
    copied = rng.random(len(units)) < sqrt(ICC)
    return np.where(copied.reshape(-1, *[1] * (own.ndim - 1)), shared, own), units


def choice(rng, size, outcomes, chances):
    """Draws of outcomes (k,) or (k, columns) with these chances."""
    return np.asarray(outcomes)[rng.choice(len(outcomes), size, p=chances)]


def beta_gap(rng, size, *shapes):
    return rng.beta(*shapes[:2], size) - rng.beta(*shapes[2:], size)


def raters(rng, size, agreement, margins, number=2):
    """Raters (size, number) who each report the row's label with a chance, or else guess.

    Guesses follow the labels' margins, so that kappa and alpha are `agreement` with any weights.
    """
    label = rng.choice(len(margins), (size, 1), p=margins)
    guess = rng.choice(len(margins), (size, number), p=margins)
    return np.where(rng.random((size, number)) < sqrt(agreement), label, guess)


def neighbours(rng, size, agreement, margins):
    """Two raters with these margins and this quadratic kappa whose errors are mostly of one step.

    They grade normal scores that correlate; the correlation is found from the joint chances.
    """
    return choice(rng, size, np.indices((3, 3)).reshape(2, -1).T, joint(agreement, *margins))


@functools.cache
def joint(agreement, *margins):
    """The chances of both grades (9,) of `neighbours`."""
    ends = np.array([-8, *norm.ppf(np.cumsum(margins)[:2]), 8])
    far = np.subtract.outer(range(3), range(3)) ** 2

    def chances(rho):
        below = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf
        grid = np.array([[below([x, y]) for y in ends] for x in ends])
        return np.diff(np.diff(grid, axis=0), axis=1)

    chance = (np.outer(margins, margins) * far).sum()
    rho = brentq(lambda r: 1 - (chances(r) * far).sum() / chance - agreement, 0.01, 0.999)
    cells = chances(rho).ravel().clip(0)
    return cells / cells.sum()


def verdicts(rng, size, sensitivity, specificity, rate=0.5):
    """True and false positives, false and true negatives, as zeros and ones (size, 4)."""
    hit, kept = rate * sensitivity, (1 - rate) * specificity
    return choice(rng, size, np.eye(4), [hit, 1 - rate - kept, rate - hit, kept])


def booleans(rng, size, shares, alike=0.0):
    """Booleans (size, k) of these shares, whose normal scores correlate by `alike`."""
    case, own = rng.normal(size=(size, 1)), rng.normal(size=(size, len(shares)))
    return (sqrt(alike) * case + sqrt(1 - alike) * own < norm.ppf(shares)).astype(float)


def interval(world, rows, units, again):
    """The interval that the library gives for rows of a world. again(n): another sample."""
    kind, scale = world["kind"], world.get("scale")
    if kind in ("share", "median"):
        return getattr(stats, kind)(rows, units)
    if kind == "difference" and not scale:
        return stats.difference(rows > 0, rows < 0, units)
    if scale:
        return stats.mean(rows, units, scale=scale)
    if kind.endswith("kappa"):
        weights = "quadratic" if kind.startswith("quadratic") else None
        return stats.kappa(*rows.T, range(len(world["of"][1])), weights=weights, units=units)
    if kind.endswith("alpha"):
        return stats.krippendorff_alpha(rows.T, level=kind.split()[0], units=units)
    if kind == "macro F1":
        how = {"combine": stats.macro, "least": stats.SEVERAL}
        return stats.mean(rows, units, scale=(0, 1), **how)[3]
    if kind == "O/E":
        return stats.mean(rows, units, scale=(0, inf), combine=observed_over_expected)[0]
    if kind == "prediction-powered":
        others, of = again(4)
        hits, positive = rows[:, 0] + rows[:, 2], rows[:, 0] + rows[:, 1]
        return stats.prediction_powered(hits, positive, others[:, 0] + others[:, 1], (units, ~of))
    shares = [stats.share(rows[:, 0], units)]  # the others are of replies of their own
    for column in range(1, rows.shape[1]):
        other, of = again(1)
        shares.append(stats.share(other[:, column], of))
    if kind == "balanced accuracy":
        return stats.mean_of(*shares)
    return stats.corrected_rate(*shares, np.random.default_rng(0))


def coverage(world, n, clustered, replicates):
    """Of replicates: the share covered of those with an interval, and the share with one."""
    name = f"{world['kind']}: {world['name']}"
    rng = np.random.default_rng([zlib.crc32(name.encode()), n, clustered])
    covered = []
    for k in range(replicates):
        if k == 50 and not covered:
            break  # too few units for any interval
        rows, units = sample(world, rng, n, clustered)
        i = interval(world, rows, units, lambda times: sample(world, rng, times * n, clustered))
        if i.low == i.low and i.high == i.high:
            assert i.low < i.high, f"no width: {name}, n {n}: {i}"
            covered.append(i.low - 1e-9 <= world["truth"] <= i.high + 1e-9)
    return np.mean(covered) if covered else np.nan, len(covered) / replicates


def table(begin="", replicates=2000):
    """Yield the rows of the table in Markdown."""
    yield "| interval | world | units | " + " | ".join(map(str, SIZES)) + " |"
    yield "|---|---|---|" + "---:|" * len(SIZES)
    for world in WORLDS:
        for clustered in (False, True) if world["kind"].startswith(begin) else ():
            cells = []
            for n in SIZES:  # the small ones matter
                c, given = coverage(world, n, clustered, replicates // (1 if n < 200 else 4))
                share = f" ({100 * given:.0f})" if given < 0.995 else ""
                cells.append("" if c != c else f"{100 * c:.1f}{share}")
            units = "clustered" if clustered else "rows"
            yield f"| {world['kind']} | {world['name']} | {units} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for begin in sys.argv[1:] or [""]:
        for line in table(begin):
            print(line, flush=True)
