"""What a check says: its verdict, the condition under which it would hold, and its arithmetic."""

from collections.abc import Iterable
from typing import NamedTuple

CUT = "digits were cut off"  # a condition of most checks
VERDICTS = ("impossible", "only if", "not testable", "possible")  # the order of the page


class Result(NamedTuple):
    """What one check says of one or several printed numbers.

    only_if: what must hold, for the verdict "only if"; why, for "not testable". lines: two lines
    for a report. fits: the nearest values that would fit. power: how much the check can find.
    """

    check: str
    verdict: str
    only_if: str = ""
    lines: tuple[str, str] = ("", "")
    fits: str = ""
    power: str = ""
    condition: str = ""


def untestable(check: str, why: str) -> Result:
    """The result of a check that can't be made."""
    return Result(check, "not testable", why, (f"Not testable: {why}.", ""))


def decided(plain: bool, otherwise: Iterable[tuple[str, bool]]) -> tuple[str, str]:
    """(verdict, condition): what holds without a condition, else under which of the others."""
    if plain:
        return "possible", ""
    ways = [name for name, holds in otherwise if holds]
    return ("only if", " or ".join(ways)) if ways else ("impossible", "")


def number(value: object, digits: int = 4) -> str:
    """A number for a report, without zeros at its end."""
    return f"{float(value):z.{digits}f}".rstrip("0").rstrip(".") or "0"


def p_text(p: float) -> str:
    """A p for a report."""
    return f"{p:.3g}" if p >= 1e-4 else f"{p:.1e}"
