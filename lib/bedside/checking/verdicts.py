"""What a check says: its verdict, the condition under which it would hold, and its arithmetic."""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from bedside import stats

from .rows import SHARES, Row

CUT = "digits were cut off"  # a condition of most checks
NO_N = "n is not given"
VERDICTS = ("impossible", "only if", "not testable", "possible")  # the order of the page


class Result(NamedTuple):
    """What one check says of one or several printed numbers.

    only_if: what must hold, for the verdict "only if"; why, for "not testable". lines: arithmetic
    for a report. fits: the nearest values that would fit. power: how much the check can find.
    """

    check: str
    verdict: str
    only_if: str = ""
    lines: tuple[str, ...] = ()
    fits: str = ""
    power: str = ""
    condition: str = ""


def untestable(check: str, why: str) -> Result:
    """The result of a check that can't be made."""
    return Result(check, "not testable", why, (f"Not testable: {why}.",))


def decided(check: str, fits: bool, otherwise: Iterable[tuple[str, bool]], *more: object) -> Result:
    """What holds without a condition, else under which of the others. more: fields of a Result."""
    if fits:
        return Result(check, "possible", "", *more)
    ways = " or ".join(name for name, holds in otherwise if holds)
    return Result(check, "only if" if ways else "impossible", ways, *more)


def number(value: object, digits: int = 4) -> str:
    """A number for a report, without zeros at its end; a small one with its power of ten."""
    if 0 < value < 1e-4:
        return f"{float(value):.1e}"
    return f"{float(value):z.{digits}f}".rstrip("0").rstrip(".") or "0"


def scale_of(row: Row) -> tuple[int, int] | None:
    """(least, most) grade by the row's settings or those of a mean that it refers to, or None."""
    return next((r.settings["scale"] for r in (row, *row.of) if "scale" in r.settings), None)


def outside(check: str, row: Row) -> Result | None:
    """The result for a number beyond what its kind can be, however it was rounded; None within."""
    if row.kind in (*SHARES, "p"):
        low, high = Fraction(-1 if row.kind == "kappa" else 0) / row.unit, 1 / row.unit
    elif row.kind != "mean" or not (ends := scale_of(row)):
        return None
    else:
        low, high = map(Fraction, ends)
    x = row.number
    inside = {"<": x.value >= low, ">": x.value < high}.get(x.sign)
    if stats.meet(x.span(), (low, high)) if inside is None else inside:
        return None
    near = x.printed(low if x.value < low else high)
    told = f"Values of {row.kind} lie from {number(low)} to {number(high)}{'%' * row.percent}."
    if row.kind in SHARES[:-1] and not row.percent and 1 < x.value <= 100:
        told += " Write a percent sign if it is in percent."
    lines = f"Printed is {row.text}.", told
    return Result(check, "impossible", "", lines, near, "the range only", "any n")
