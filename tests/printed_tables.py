"""Made-up tables of numbers that some data really have, printed as papers print them."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import numpy as np
from scipy import stats as scipy_stats

from bedside import stats


def printed(value, digits, how):
    """A number with so many digits: rounded half up, half to even, or as a float is."""
    if how == "float":
        return f"{float(value):.{digits}f}"
    way = ROUND_HALF_UP if how == "up" else ROUND_HALF_EVEN
    exact = Decimal(value.numerator) / Decimal(value.denominator)  # of a Fraction, or a float's
    return str(exact.quantize(Decimal(1).scaleb(-digits), way))


def table(rng):
    """The rows of an honest table, with most kinds of numbers."""
    how = rng.choice(["up", "even", "float"])
    percent, digits = rng.random() < 0.5, int(rng.integers(0, 3))
    n, rows = int(rng.integers(8, 120)), []
    columns = {"right": digits + 2 * (not percent), "grade": int(rng.integers(1, 4))}
    x = [int(k) for k in rng.integers(1, n, 3)]

    def share(value):
        value = 100 * value if percent else value
        return printed(value, columns["right"], how) + "%" * percent

    def add(row, column, value, kind, of="", size=""):
        rows.append(("T", row, column, value, str(size), kind, of))

    for name, k in zip("ABC", x):
        add(name, "right", share(Fraction(k, n)), "share", size=n)
    add("A-B", "right", share(Fraction(x[0] - x[1], n)), "difference", "A; B")
    add("mean", "right", share(Fraction(sum(x), 3 * n)), "mean of rows", "A; B; C")
    add("A/B", "ratio", printed(Fraction(x[0], x[1]), 2, how), "ratio", "A | right; B | right")
    both = int(rng.integers(max(0, x[0] + x[1] - n), min(x[:2]) + 1))
    p = stats.mcnemar_counts(x[0] - both, x[1] - both)
    add("A-B", "p", printed(Fraction(p), 3, how), "p", "test=mcnemar; A | right; B | right")
    p = stats.two_proportions(x[1], n, x[2], n)
    add("B-C", "p", printed(Fraction(p), 3, how), "p", "test=two shares; B | right; C | right")
    low, high = list(stats.share_intervals(x[0], n).values())[rng.integers(5)]
    ends = [share(Fraction(min(1.0, max(0.0, end)))) for end in (low, high)]
    add("A", "interval", " to ".join(ends), "interval", "A | right")
    parts = rng.multinomial(n, [0.2, 0.3, 0.5])
    for name, k in zip("DEF", parts.tolist()):
        add(name, "parts", str(k), "count", size=n)
    add("all", "parts", str(n), "total", "D; E; F")
    grades = rng.integers(1, 6, n)
    mean = Fraction(int(grades.sum()), n)
    add("G", "grade", printed(mean, columns["grade"], how), "mean", "scale=1 to 5", n)
    sd = float(np.std(grades, ddof=int(rng.integers(2))))
    add("G", "SD", printed(Fraction(sd), 2, how), "sd", "G | grade", n)
    t = float(rng.normal(0, 2))
    p = 2 * scipy_stats.t.sf(abs(t), n - 1)
    of = f"test=t; statistic={t:.2f}; df={n - 1}"
    add("H", "p", printed(Fraction(p), 3, how), "p", of)
    _matrices(rng, n, add, lambda value: printed(Fraction(value), 2 + digits // 2, how))
    return rows


def _matrices(rng, n, add, shown):
    """Scores of two judges of the same items, and their kappa with these."""
    positives = int(rng.integers(2, n - 1))
    for name in ("J", "K"):
        tp, fp = int(rng.integers(0, positives + 1)), int(rng.integers(0, n - positives + 1))

        def of(kind, tp=tp, fp=fp):
            return shown(float(stats.score(kind, n, positives, tp, fp)[0]))

        kinds = ["accuracy", *rng.choice(stats.SCORES[1:-2], 3, replace=False).tolist()]
        for kind in kinds:
            add(name, kind, of(kind), kind, "positives=items" * (kind == "accuracy"), n)
        add(f"{name} agrees", "agreement", of("accuracy"), "share", size=n)
        if (tp, fp) not in ((0, 0), (positives, n - positives)):
            add(f"{name} agrees", "kappa", of("kappa"), "kappa", "agreement", n)


def with_a_slip(rows, rng):
    """The rows with one digit of one number changed, and which number it is."""
    at = int(rng.integers(len(rows)))
    text = rows[at][3]
    places = [i for i, c in enumerate(text) if c.isdigit()]
    place = int(rng.choice(places))
    other = rng.choice([d for d in "0123456789" if d != text[place]])
    changed = text[:place] + other + text[place + 1 :]
    return [*rows[:at], (*rows[at][:3], changed, *rows[at][4:]), *rows[at + 1 :]], rows[at]
