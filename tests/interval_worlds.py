"""How often 95% intervals cover the truth: the worlds, and the table of docs/statistics.md.

    .venv/bin/python tests/interval_worlds.py         # all worlds: prints the table, takes minutes
    .venv/bin/python tests/interval_worlds.py kappa   # worlds whose name begins so

A world draws rows whose truth is known. Written down before anything was simulated: the worlds, the
numbers of units (SIZES), and the bounds: at least 93% covered, of shares and means from ten units,
of kappa and alpha from twenty. Each world comes plain (a row for each unit) and clustered: a unit
has 1 to 7 rows, and a row copies its unit's own draw with a chance of the root of ICC, so that the
intraclass correlation is ICC and the truth stays.
"""

import sys
import zlib
from math import inf, log, sqrt

import numpy as np

SIZES = (10, 12, 20, 40, 200)
ICC = 0.3
GRADES = (0.6, 0.25, 0.15)  # margins of three grades


def sample(draw, rng, n, clustered):
    """Rows of n units, and the unit of each. draw(rng, size): independent rows."""
    if not clustered:
        return draw(rng, n), np.arange(n)
    units = np.repeat(np.arange(n), rng.integers(1, 8, n))
    own, shared = draw(rng, len(units)), draw(rng, n)[units]
    copied = rng.random(len(units)) < sqrt(ICC)
    return np.where(copied.reshape(-1, *[1] * (own.ndim - 1)), shared, own), units


def choice(outcomes, chances):
    """Draws of outcomes (k,) or (k, columns) with these chances."""
    outcomes = np.asarray(outcomes)
    return lambda rng, size: outcomes[rng.choice(len(outcomes), size, p=chances)]


def raters(agreement, margins, number=2):
    """Raters (size, number) who each report the row's label with a chance, or else guess.

    Guesses follow the labels' margins, so that kappa and alpha are `agreement` with any weights.
    """

    def draw(rng, size):
        label = rng.choice(len(margins), (size, 1), p=margins)
        guess = rng.choice(len(margins), (size, number), p=margins)
        return np.where(rng.random((size, number)) < sqrt(agreement), label, guess)

    return draw


def neighbours(agreement):
    """Two raters of GRADES with this quadratic kappa whose errors are mostly of one step.

    They grade normal scores that correlate; the correlation is found from the joint chances.
    """
    from scipy.optimize import brentq
    from scipy.stats import multivariate_normal, norm

    ends = np.array([-8, *norm.ppf(np.cumsum(GRADES)[:2]), 8])
    far = np.subtract.outer(range(3), range(3)) ** 2

    def joint(rho):
        below = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf
        grid = np.array([[below([x, y]) for y in ends] for x in ends])
        return np.diff(np.diff(grid, axis=0), axis=1)

    chance = (np.outer(GRADES, GRADES) * far).sum()
    rho = brentq(lambda r: 1 - (joint(r) * far).sum() / chance - agreement, 0.01, 0.999)
    chances = joint(rho).ravel().clip(0)
    return choice([(x, y) for x in range(3) for y in range(3)], chances / chances.sum())


def verdicts(sensitivity, specificity, rate=0.5):
    """True and false positives, false and true negatives, as zeros and ones (size, 4)."""
    hit, kept = rate * sensitivity, (1 - rate) * specificity
    return choice(np.eye(4), [hit, 1 - rate - kept, rate - hit, kept])


def booleans(*shares, alike=0.0):
    """Booleans (size, k) of these shares, whose normal scores correlate by `alike`."""
    from scipy.stats import norm

    def draw(rng, size):
        case, own = rng.normal(size=(size, 1)), rng.normal(size=(size, len(shares)))
        return (sqrt(alike) * case + sqrt(1 - alike) * own < norm.ppf(shares)).astype(float)

    return draw


def worlds():
    """Yield (kind, name, truth, draw): the kind says what is estimated of the rows."""
    for p in (0.05, 0.2, 0.5, 0.8, 0.95):
        yield "share", f"{p}", p, choice([0, 1], [1 - p, p])
    for chances in ((0.7, 0.2, 0.1), (0.3, 0.4, 0.3), (0.05, 0.15, 0.8)):
        mean = chances[2] - chances[0]
        name = f"grades -1, 0, 1 with chances {', '.join(map(str, chances))}"
        yield "mean", name, mean, choice([-1, 0, 1], chances)
    for a, b in ((6, 1.5), (1, 3), (0.5, 0.5)):
        draw = lambda rng, size, a=a, b=b: rng.beta(a, b, size)
        yield "mean", f"scores from 0 to 1, beta({a}, {b})", a / (a + b), draw
    yield "mean", "counts, Poisson of 3", 3, lambda rng, size: rng.poisson(3, size)
    negative = lambda rng, size: rng.negative_binomial(2, 0.4, size)
    yield "mean", "counts, negative binomial of mean 3, variance 7.5", 3, negative
    for won, lost in ((0.05, 0.05), (0.15, 0.05), (0.3, 0.1), (0.2, 0), (0.45, 0.05)):
        draw = choice([1, -1, 0], [won, lost, 1 - won - lost])
        yield "difference", f"shares, {won} won, {lost} lost", won - lost, draw
    for chances in ((0.02, 0.08, 0.5, 0.25, 0.15), (0.1, 0.15, 0.6, 0.1, 0.05)):
        name = f"grades, -2 to 2 with chances {', '.join(map(str, chances))}"
        mean = np.dot(chances, range(-2, 3))
        yield "difference", name, mean, choice(range(-2, 3), chances)
    gap = lambda rng, size: rng.beta(6, 1.5, size) - rng.beta(3, 1.5, size)
    yield "difference", "scores from 0 to 1, beta(6, 1.5) less beta(3, 1.5)", 2 / 15, gap
    for k in (0.2, 0.5, 0.8):
        yield "kappa", f"{k}, two labels, half each", k, raters(k, (0.5, 0.5))
        yield "kappa", f"{k}, two labels, 0.8 and 0.2", k, raters(k, (0.8, 0.2))
        yield "kappa", f"{k}, three labels", k, raters(k, GRADES)
        yield "quadratic kappa", f"{k}, guesses", k, raters(k, GRADES)
        yield "quadratic kappa", f"{k}, neighbours", k, neighbours(k)
        yield "nominal alpha", f"{k}, three raters, 0.8 and 0.2", k, raters(k, (0.8, 0.2), 3)
        yield "ordinal alpha", f"{k}, three raters, three grades", k, raters(k, GRADES, 3)
    for sens, spec in ((0.9, 0.6), (0.98, 0.3)):
        name = f"sensitivity {sens}, specificity {spec}"
        yield "balanced accuracy", name, (sens + spec) / 2, booleans(sens, spec)
        truth = np.array([sens, 1 - spec, 1 - sens, spec]) / 2
        yield "macro F1", name, truth, verdicts(sens, spec)
    for rate, sens, spec in ((0.3, 0.9, 0.8), (0.1, 0.7, 0.95)):
        name = f"{rate}, sensitivity {sens}, specificity {spec}"
        judged = rate * sens + (1 - rate) * (1 - spec)
        yield "corrected rate", name, rate, booleans(judged, sens, spec)
        yield "prediction-powered", name, rate, verdicts(sens, spec, rate)
    for four in ((0.4, 0.8, 0.7, 0.6), (0.3, 0.95, 0.9, 0.8)):
        truth = four[0] / (four[2] * four[3] / four[1])
        yield "O/E", f"accuracies {', '.join(map(str, four))}", truth, booleans(*four, alike=0.5)
    distance = lambda rng, size: rng.exponential(30, size)
    yield "mean", "distances, exponential of mean 30", 30, distance
    yield "median", "distances, exponential of mean 30", 30 * log(2), distance


def interval(kind, name, rows, units, again):
    """The interval that the library gives for rows of a world. again(n): another sample."""
    from bedside import stats
    from bedside.papers.meddialbench.scores import observed_over_expected

    if kind in ("share", "median"):
        return getattr(stats, kind)(rows, units)
    if kind == "mean":
        ends = {"grades": (-1, 1), "scores": (0, 1)}
        return stats.mean(rows, units, scale=ends.get(name.split()[0], (0, inf)))
    if kind == "difference":
        if name.startswith("shares"):
            return stats.difference(rows > 0, rows < 0, units)
        return stats.mean(rows, units, scale=(-2, 2) if name.startswith("grades") else (-1, 1))
    if kind.endswith("kappa"):
        weights = "quadratic" if kind.startswith("quadratic") else None
        labels = range(3 if weights or "three" in name else 2)
        return stats.kappa(*rows.T, labels, weights=weights, units=units)
    if kind.endswith("alpha"):
        return stats.krippendorff_alpha(rows.T, level=kind.split()[0], units=units)
    if kind == "macro F1":
        how = {"combine": stats.macro, "least": stats.SEVERAL}
        return stats.mean(rows, units, scale=(0, 1), **how)[3]
    if kind == "O/E":
        return stats.mean(rows, units, scale=(0, inf), combine=observed_over_expected)[0]
    if kind == "prediction-powered":
        others, of = again(4)
        hits, said = rows[:, 0] + rows[:, 2], rows[:, 0] + rows[:, 1]
        return stats.prediction_powered(hits, said, others[:, 0] + others[:, 1], (units, ~of))
    shares = [stats.share(rows[:, 0], units)]  # the others are of replies of their own
    for column in range(1, rows.shape[1]):
        other, of = again(1)
        shares.append(stats.share(other[:, column], of))
    if kind == "balanced accuracy":
        return stats.mean_of(*shares)
    return stats.corrected_rate(*shares, np.random.default_rng(0))


def coverage(world, n, clustered, replicates):
    """Of replicates: the share covered of those with an interval, and the share with one."""
    from bedside import stats

    kind, name, truth, draw = world
    truth = stats.macro(truth)[3] if kind == "macro F1" else truth
    rng = np.random.default_rng([zlib.crc32(f"{kind}: {name}".encode()), n, clustered])
    covered = []
    for k in range(replicates):
        if k == 50 and not covered:
            break  # too few units for any interval
        rows, units = sample(draw, rng, n, clustered)
        again = lambda times: sample(draw, rng, times * n, clustered)
        i = interval(kind, name, rows, units, again)
        if i.low == i.low and i.high == i.high:
            if not i.low < i.high:
                raise AssertionError(f"no width: {kind} {name}, n {n}: {i}")
            covered.append(i.low - 1e-9 <= truth <= i.high + 1e-9)
    return np.mean(covered) if covered else np.nan, len(covered) / replicates


def table(begin="", replicates=2000, sizes=SIZES):
    """Yield the rows of the table in Markdown."""
    yield "| interval | world | units | " + " | ".join(map(str, sizes)) + " |"
    yield "|---|---|---|" + "---:|" * len(sizes)
    for world in worlds():
        kind, name = world[:2]
        for clustered in (False, True) if kind.startswith(begin) else ():
            many = {n: replicates // (1 if n < 200 else 4) for n in sizes}  # the small ones matter
            found = [coverage(world, n, clustered, many[n]) for n in sizes]
            cells = [
                "" if c != c else f"{100 * c:.1f}" + f" ({100 * g:.0f})" * (g < 0.995)
                for c, g in found
            ]
            units = "clustered" if clustered else "rows"
            yield f"| {kind} | {name} | {units} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for begin in sys.argv[1:] or [""]:
        for line in table(begin):
            print(line, flush=True)
