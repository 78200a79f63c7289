"""Cancer-Myth's metrics: PCS and PCR (section 4.2)."""

from collections.abc import Sequence

import pandas as pd

from bedside import stats
from bedside.read.checks import groups, scored
from bedside.run import Run
from bedside.write.tables import units_of


def scores(graded: pd.DataFrame, run: Run, by: Sequence[str] = ()) -> pd.DataFrame:
    """PCS and PCR by model and `by`: rows with metric, value, low, high, n, unscored, least, most.

    PCS is the mean grade, in -1..1, with a bootstrap interval over myths; the interval has no width
    where all grades are equal, which is no certainty. PCR is the percentage of grade 1, with the
    interval of `stats.share` over myths. least and most: the score if all unscored answers were
    worst, or best. graded: as `study.verdicts`.
    """
    keys = ["model", *by]
    rows = []
    for key, part in groups(graded, keys):
        got = scored(part)
        grades, units = got["value"].to_numpy(dtype=float), units_of(got).to_numpy()
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
