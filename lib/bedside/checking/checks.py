"""All checks of a file of printed numbers, as a frame."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bedside import stats

from . import pairs, scores, single, tests
from .numbers import Row, readings
from .verdicts import VERDICTS, Result

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("table", "row", "column", "value", "n", "kind", "verdict", "only_if", "arithmetic")
COLUMNS += ("would_fit", "power", "condition", "place")
ONE = {
    "share": single.share,
    "accuracy": single.share,
    "count": single.count,
    "mean": single.mean,
    "sd": single.sd,
    "total": pairs.total,
    "difference": pairs.difference,
    "ratio": pairs.ratio,
    "mean of rows": pairs.mean_of_rows,
    "p": tests.p,
    "interval": tests.interval,
}


def check(source: "str | Path | pd.DataFrame", seconds: float = stats.SECONDS) -> "pd.DataFrame":
    """Check the printed numbers of a file or frame: which are possible, and which are not.

    source: a CSV or JSON Lines file, or a frame, with the columns of docs/check.md; values are
    text. seconds: the limit of time for one search of matrices. A row for each check with COLUMNS,
    the worst verdicts first. Raises BedsideError with all faults of the file.
    """
    import pandas as pd

    ways = [list(_results(rows, seconds)) for rows in readings(source)]
    made = [_line(*_better(*found)) for found in zip(*ways, strict=True)]
    order = {verdict: at for at, verdict in enumerate(VERDICTS)}
    frame = pd.DataFrame(made, columns=COLUMNS)
    at = frame["verdict"].map(order).sort_values(kind="stable").index
    return frame.loc[at].reset_index(drop=True)


def _better(by_point, by_comma=None):
    """Of a check's two results the one that says less against its numbers, and how it reads them.

    Each is the check's rows and what it says. One alone is it.
    """
    if by_comma is None or by_point[0] == by_comma[0]:
        return by_point
    found = max(by_point, by_comma, key=lambda found: VERDICTS.index(found[1].verdict))
    alike = by_point[1].verdict == by_comma[1].verdict
    told = "with a decimal point" if found is by_point else "with a decimal comma"
    told = "read with a decimal point; with a comma it is so, too" if alike else f"read {told}"
    condition = "; ".join(filter(None, (found[1].condition, told)))
    return found[0], found[1]._replace(condition=condition)


def _results(every, seconds) -> Iterable[tuple[list[Row], Result]]:
    """All checks, each with the rows that it is about."""
    grouped = scores.groups(every)
    inside = {r.place for group in grouped for r in group}
    for r in every:
        if r.place not in inside:
            alone = r.kind == "kappa"
            yield [r], scores.kappa(r, every, seconds) if alone else ONE[r.kind](r, every)
    shared = {}
    for group in grouped:
        found = scores.fits(group, seconds)
        yield group, scores.scores(group, found, every, seconds)
        if word := scores.named(group):
            shared.setdefault(word, []).append((group, found))
    for mine in shared.values():
        yield [group[0] for group, _ in mine], scores.positives(mine, seconds)


def _line(mine, result):
    """A line of the frame: the names of its rows, each once, and what the check says."""

    def joined(values):
        return ", ".join(dict.fromkeys(map(str, values)))

    n = {r.n for r in mine} - {None}
    values = ", ".join(r.text for r in mine) if len({r.row for r in mine}) == 1 else ""
    names = [joined(getattr(r, name) for r in mine) for name in ("table", "row", "column")]
    told = [result.verdict, result.only_if, "\n".join(filter(None, result.lines))]
    last = [result.fits, result.power, result.condition, joined(r.place for r in mine)]
    return [*names, values, joined(sorted(n)), result.check, *told, *last]
