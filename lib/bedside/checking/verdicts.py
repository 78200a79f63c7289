"""What a check says: its verdict, the condition under which it would hold, and its arithmetic."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .rows import SHARES, Row

CUT = "digits were cut off"  # a condition of most checks
NO_N = "n is not given"
SLACK = 1e-9  # by which floating point may part what is equal
VERDICTS = ("impossible", "only if", "not testable", "possible")  # the order of the page


class Result(NamedTuple):
    """What one check says of one or several printed numbers.

    only_if: what must hold, for the verdict "only if"; why, for "not testable". arithmetic: lines
    for a report, what would fit among them. condition: under which the verdict is said.
    """

    kind: str
    verdict: str
    only_if: str = ""
    arithmetic: str = ""
    condition: str = ""


class Untestable(Exception):
    """A check can't be made; the text says why."""


def decided(
    kind: str, ways: Iterable[tuple[str, bool]], lines: Iterable[str], condition: str
) -> Result:
    """What holds without a condition, the first of the ways, else under which of the others."""
    (_, fits), *others = ways
    which = "" if fits else " or ".join(name for name, holds in others if holds)
    verdict = "possible" if fits else "only if" if which else "impossible"
    return Result(kind, verdict, which, "\n".join(filter(None, lines)), condition)


def compared(
    row: Row, plain: Mapping[str, ArrayLike], others: Mapping[str, ArrayLike], *texts: str
) -> Result:
    """A printed number against all values that its data allow.

    plain: {method: values (k,), or their ends (k, 2)}, each of which may print as the number.
    others: the same under a condition; under CUT the number's own digits were cut off, too. texts:
    the arithmetic, and the condition under which all this is so.
    """
    *lines, condition = texts
    names = [name for name, values in plain.items() if hits(row, values)]
    ways = [("", names), *((way, hits(row, v, way == CUT)) for way, v in others.items())]
    x = float(row.exact)
    near = np.sort(np.concatenate([np.clip(x, *ends_of(values)) for values in plain.values()]))
    nearest = [*near[near <= x][-1:], *near[near >= x][:1]]
    shown = dict.fromkeys(row.number.printed(v / float(row.unit)) for v in nearest)
    by = f", as by {', '.join(names)}" if any(names) else ""
    lines.append(f"Printed is {row.text}{by}; the nearest that fit are {', '.join(shown)}.")
    return decided(row.kind, ways, lines, condition)


def hits(row: Row, values: ArrayLike, cut: bool = False) -> bool:
    """Whether one of the values (k,), or of those between ends (k, 2), prints as the row's."""
    low, high = ends_of(values)
    least, most = map(float, row.span(cut))
    return bool(((low <= most + SLACK) & (high >= least - SLACK)).any())


def ends_of(values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The ends of values (k,), or of ends (k, 2)."""
    values = np.array(values, dtype=float)
    return values.T if values.ndim > 1 else (values, values)


def number(value: object) -> str:
    """A number for a report, without zeros at its end; a small one with its power of ten."""
    if 0 < value < 1e-4:
        return f"{float(value):.1e}"
    return f"{float(value):z.4f}".rstrip("0").rstrip(".") or "0"


def outside(row: Row) -> Result | None:
    """The result for a number beyond what its kind can be, however it was rounded; None within."""
    low, high = row.scale if row.kind == "mean" and row.scale else (-np.inf, np.inf)
    if row.kind in (*SHARES, "p", "sd", "count"):
        low = -1 if row.kind == "kappa" else 0
        high = 1 if row.kind in (*SHARES, "p") else row.n if row.kind == "count" and row.n else high
    if hits(row, [(low, high)]):
        return None
    percent = 1 < row.exact <= 100 and row.kind in SHARES[:-1]
    ends = [row.number.printed(end / float(row.unit)) for end in (low, high)]
    lines = (
        f"Printed is {row.text}; {row.kind} is from {ends[0]} to {ends[1]}.",
        "Write a percent sign if it is in percent." * percent,
    )
    return decided(row.kind, [("", False)], lines, "the range only")
