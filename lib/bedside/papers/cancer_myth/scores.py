"""PCS and PCR (section 4.2) with their intervals; notebook 03 shows how they are defined."""

from collections.abc import Sequence

import pandas as pd

from bedside import stats
from bedside.read.checks import groups, scored
from bedside.write.tables import share, units_of


def counted(graded: pd.DataFrame) -> pd.DataFrame:
    """The answers with what each counts: PCS (its grade) and PCR (100 or 0), NaN if unscored."""
    grade = scored(graded)["value"].astype(float).reindex(graded.index)
    return graded.assign(PCS=grade, PCR=100.0 * (grade == 1).where(grade.notna()))


def scores(graded: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """`means` of what each answer counts. graded: as `study.verdicts`."""
    return means(counted(graded), by)


def means(points: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Means of the columns PCS (-1 to 1) and PCR (100 or 0) by model and `by`, over myths.

    Rows with metric, value, low, high, n, unscored, worst, best. Intervals of PCS are
    those of `stats.mean`, of PCR those of `stats.share`.
    worst and best: the mean if all unscored answers were worst, or best.
    """
    keys = ["model", *by]
    rows = []
    for key, part in groups(points, keys):
        got = part.dropna(subset="PCS")
        units, lost = units_of(got).to_numpy(), len(part) - len(got)
        pcr = pcs = share(got["PCR"] == 100, units)
        if len(got):
            pcs = stats.mean(got["PCS"].to_numpy(), units, scale=(-1, 1))
        for metric, interval, worst, best in (("PCS", pcs, -1, 1), ("PCR", pcr, 0, 100)):
            least, most = ((got[metric].sum() + lost * end) / len(part) for end in (worst, best))
            rows.append((*key, metric, *interval, lost, least, most))
    measured = ["metric", "value", "low", "high", "n", "unscored", "worst", "best"]
    return pd.DataFrame(rows, columns=[*keys, *measured])
