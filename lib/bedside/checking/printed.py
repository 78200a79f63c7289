"""Printed numbers: digits, signs and marks, by either convention: a decimal point or comma.

1,203 is a thousand by the one and a little above one by the other; `numbers` finds out which of
them a table has.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from bedside import stats

POINT, COMMA = MARKS = (".", ",")
SPACES = "'\u2009\u202f\xa0 "  # between thousands, by either convention
LONGEST = 30  # characters of a number
SIGNS = {"≤": "<", "≥": ">", "<=": "<", ">=": ">", "~": "", "≈": "", "=": ""}
ALIKE = str.maketrans({"−": "-", "–": "-", "—": "-", "％": "%", "’": "'", "·": "."})
BETWEEN = (r"\bto\b", ";", r",\s", r"(?<=[\d%])\s*-", ",")  # the two ends of an interval


def _forms(mark):
    """How a number looks, and one with a power of ten; the first group of thousands has no 0."""
    other = COMMA if mark == POINT else POINT
    after = rf"(?:{re.escape(mark)}\d+)"
    whole = rf"(?:[1-9]\d{{0,2}}([{SPACES}{other}])\d{{3}}(?:\1\d{{3}})*|\d+)"
    return (
        re.compile(rf"[-+]?(?:{whole}{after}?|{after})", re.A),
        re.compile(rf"(\d+{after}?)\s*(?:e|[x×]\s*10\s*\^?)\s*(-?\d\d?)", re.I | re.A),
    )


FORMS = {mark: _forms(mark) for mark in MARKS}


class Number(NamedTuple):
    """A printed number: its value as printed, the place of its last digit, < or >, and a % sign."""

    value: Fraction
    step: Fraction
    sign: str
    percent: bool

    def span(self, scale: Fraction = Fraction(1), cut: bool = False) -> tuple[Fraction, Fraction]:
        """What it may have been before it was printed, times `scale`. cut: digits were cut off."""
        return stats.span(self.value * scale, self.step * scale, cut)

    def printed(self, value: float | Fraction) -> str:
        """Another value with as many digits as this one."""
        digits = max(0, len(str(self.step.denominator)) - 1)
        return f"{float(value):z.{digits}f}" + "%" * self.percent


def parsed(text: str, mark: str = POINT) -> Number | None:
    """A printed number; None for another text. Digits, sign and percent sign are kept."""
    number, power = FORMS[mark]
    text = text.translate(ALIKE).strip()
    sign = re.match(r"<=|>=|[<>≤≥~≈=]|", text)[0]
    bare, sign = text[len(sign) :].strip(), SIGNS.get(sign, sign)
    if found := power.fullmatch(bare):  # 2e-5
        base, by = parsed(found[1], mark), Fraction(10) ** int(found[2])
        return base._replace(value=base.value * by, step=base.step * by, sign=sign)
    percent, bare = bare.endswith("%"), bare.removesuffix("%").strip()
    if len(bare) > LONGEST or not number.fullmatch(bare):
        return None
    digits = plain(bare, mark)
    step = Fraction(1, 10 ** len(digits.partition(".")[2]))
    return Number(Fraction(digits), step, sign, percent)


def plain(text: str, mark: str) -> str:
    """A number as programs write it: without marks of thousands, with a decimal point."""
    kept = re.sub(rf"[{SPACES}{''.join(MARKS).replace(mark, '')}]", "", text)
    return kept.replace(mark, ".")


def whole(text: str) -> int | None:
    """A whole number, by either convention: a mark before three digits stands for thousands."""
    found = [n for n in (parsed(text, mark) for mark in MARKS) if n and n.value.denominator == 1]
    best = max(found, key=lambda n: abs(n.value), default=None)
    return None if best is None or best.percent or best.sign else int(best.value)


def both_ends(text: str, mark: str = POINT) -> tuple[Number, Number] | None:
    """The two numbers of an interval such as '0.41 to 0.53', '[41, 53]' or '41–53%'."""
    text = text.translate(ALIKE).strip().removeprefix("(").removeprefix("[").rstrip("]) ")
    for separator in BETWEEN:
        parts = [(text[: m.start()], text[m.end() :]) for m in re.finditer(separator, text)]
        found = [(parsed(low, mark), parsed(high, mark)) for low, high in parts]
        found = [ends for ends in found if None not in ends]
        if len(found) == 1:
            low, high = found[0]
            return low._replace(percent=low.percent or high.percent), high
    return None
