"""Cancer-Myth's metrics: PCS and PCR (section 4.2), paired tests, PCR without judges' errors."""

import itertools

import pandas as pd

from bedside import stats


def scores(graded, run, by=()):
    """PCS and PCR by model and `by`: rows with metric, value, low, high, n, unscored, least, most.

    PCS in -1..1 is the mean grade, with a bootstrap interval over myths (of no width where all
    grades are equal, which is no certainty); PCR the percentage of grade 1, `stats.share` over
    them. graded: as `study.verdicts`. least and most are the scores if all
    unscored answers had been worst or best.
    """
    keys = ["model", *by]
    rows = []
    for key, part in graded.groupby(keys, sort=False):
        scored = part[part["status"] == "graded"]
        grades, units = scored["value"].to_numpy(dtype=float), units_of(scored).to_numpy()
        lost, right, total = len(part) - len(grades), int((grades == 1).sum()), grades.sum()
        pcr = pcs = stats.share(grades == 1, units)
        if len(grades):
            pcs = stats.bootstrap(grades, run.rng("scores", "PCS", *key), units=units)
        for metric, unit, i, bounds in (
            ("PCS", 1, pcs, (total - lost, total + lost)),
            ("PCR", 100, pcr, (right, right + lost)),
        ):
            interval = (unit * i.value, unit * i.low, unit * i.high, i.n)
            least, most = (unit * bound / len(part) for bound in bounds)
            rows.append((*key, metric, *interval, lost, least, most))
    measured = ["metric", "value", "low", "high", "n", "unscored", "least", "most"]
    return pd.DataFrame(rows, columns=[*keys, *measured])


def units_of(graded):
    """What answers share: the myth that their question was made from, or else the item."""
    return graded.get("unit", graded["item"])


def compare(graded, run):
    """Paired tests between models on shared questions: McNemar on PCR, permutation on PCS, Holm.

    The permutation flips the questions of a myth together; McNemar, the paper's kind of test, takes
    them for independent.

    Columns: row, difference (of PCR, in points), mcnemar, permutation, n, detectable, and the p by
    Holm. A pair without a shared question has n 0 and no numbers.
    """
    scored = graded[graded["status"] == "graded"]
    unit = scored.assign(unit=units_of(scored)).drop_duplicates("item").set_index("item")["unit"]
    wide = scored.pivot(index="item", columns="model", values="value").astype(float)
    rows = []
    for a, b in itertools.combinations(sorted(graded["model"].unique()), 2):
        both = wide.reindex(columns=[a, b]).dropna()
        row = {"row": f"{a} vs {b}", "n": len(both)}
        if len(both):
            x, y = both[a].to_numpy(), both[b].to_numpy()
            row |= {
                "difference": 100 * ((x == 1).mean() - (y == 1).mean()),
                "mcnemar": stats.mcnemar(x == 1, y == 1),
                "permutation": stats.paired_permutation(
                    x, y, run.rng(a, b), units=unit[both.index].to_numpy()
                ),
                "detectable": 100 * stats.mde_paired(len(both), ((x == 1) != (y == 1)).mean()),
            }
        rows.append(row)
    columns = ["row", "difference", "mcnemar", "permutation", "n", "detectable"]
    frame = pd.DataFrame(rows, columns=columns)
    tests = {p: frame[p].to_numpy(float) for p in ("mcnemar", "permutation")}
    return frame.assign(**{f"{name}_holm": stats.holm(p) for name, p in tests.items()})


def corrected(hits, n, card, rng):
    """A judged share without the judge's errors, by sensitivity and specificity on its trust card.

    An Interval in percent. NaN for a judge without skill, which allows no correction, and where
    the card has no rates (n 0) or nothing was judged.
    """
    if "sensitivity" not in card or not n:
        return stats.Interval(*[float("nan")] * 3, 0)
    rates = [
        stats.Interval(*(float("nan") if v is None else v for v in card[k].values()))
        for k in ("sensitivity", "specificity")
    ]
    i = stats.corrected_rate(hits, n, *rates, rng)
    return stats.Interval(100 * i.value, 100 * i.low, 100 * i.high, n)
