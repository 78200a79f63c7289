"""Printed numbers with their digits, signs and marks, and the settings of their checks."""

import re
from fractions import Fraction
from typing import Any, NamedTuple

from bedside import stats

LONGEST = 30  # characters of a number
SIGNS = {"≤": "<", "≥": ">", "<=": "<", ">=": ">", "~": "", "≈": "", "=": ""}
ALIKE = str.maketrans({"−": "-", "–": "-", "—": "-", "％": "%", "’": "'", "·": "."})
BETWEEN = (r"\bto\b", ";", r",\s", r"(?<=[\d%])\s*-", ",")  # the two ends of an interval
# the first group of thousands has no 0
FORM = r"[-+]?(?:[1-9]\d{0,2}([,'\u2009\u202f\xa0 ])\d{3}(?:\1\d{3})*|\d*)(\.\d+)?"
POWER = re.compile(r"(\d+(?:\.\d+)?)\s*(?:e|[x×]\s*10\s*\^?)\s*(-?\d\d?)", re.I | re.A)
TESTS = {"mcnemar": None, "two shares": None, "t": 1, "z": 0, "chi2": 1, "F": 2, "r": 1}
SETTINGS = {  # what is wrong with a value that can't be read
    "scale": "write the least and the most grade: scale=1 to 5",
    "test": f"the tests are {', '.join(TESTS)}",
    "statistic": "isn't a number",
    "df": "isn't a number above 0",
    "comparisons": "isn't a whole number up to 1000",
    "level": "write a confidence level in percent, such as level=95",
    "positives": "write their number, or a word that rows with the same have",
    "classes": "isn't a whole number up to 100",
}


class Number(NamedTuple):
    """A printed number: its value as printed, the place of its last digit, < or >, and a % sign."""

    value: Fraction
    step: Fraction
    sign: str = ""
    percent: bool = False

    def span(self, scale: Fraction = Fraction(1), cut: bool = False) -> tuple[Fraction, Fraction]:
        """What it may have been before it was printed, times `scale`. cut: digits were cut off."""
        return stats.span(self.value * scale, self.step * scale, cut)

    def printed(self, value: float | Fraction) -> str:
        """Another value with as many digits as this one."""
        digits = max(0, len(str(self.step.denominator)) - 1)
        return f"{float(value):z.{digits}f}" + "%" * self.percent


def parsed(text: str) -> Number | None:
    """A printed number; None for another text. Digits, sign and percent sign are kept."""
    text = text.translate(ALIKE).strip()
    sign = re.match(r"<=|>=|[<>≤≥~≈=]|", text)[0]
    bare, sign = text[len(sign) :].strip(), SIGNS.get(sign, sign)
    if match := POWER.fullmatch(bare):  # 2e-5
        base, by = parsed(match[1]), Fraction(10) ** int(match[2])
        return Number(base.value * by, base.step * by, sign)
    percent, bare = bare.endswith("%"), bare.removesuffix("%").strip()
    match = re.fullmatch(FORM, bare, re.A)
    if len(bare) > LONGEST or not match or not re.search(r"\d", bare):
        return None
    step = Fraction(1, 10 ** len((match[2] or ".")[1:]))
    return Number(Fraction(re.sub(r"[^-+.\d]", "", bare)), step, sign, percent)


def whole(text: str) -> int | None:
    """A whole number, such as 1,203 or 1203.0; None for another text."""
    x = parsed(text)
    return int(x.value) if x and x.value.denominator == 1 and not (x.percent or x.sign) else None


def both_ends(text: str) -> tuple[Number, Number] | None:
    """The two numbers of an interval such as '0.41 to 0.53', '[41, 53]' or '41–53%'."""
    text = text.translate(ALIKE).strip().removeprefix("(").removeprefix("[").rstrip("]) ")
    for separator in BETWEEN:
        parts = [(text[: m.start()], text[m.end() :]) for m in re.finditer(separator, text)]
        pairs = [pair for pair in ((parsed(a), parsed(b)) for a, b in parts) if None not in pair]
        if len(pairs) == 1:
            low, high = pairs[0]
            return low._replace(percent=low.percent or high.percent), high
    return None


def parts_of(of: str) -> list[tuple[str, str, str]]:
    """What stands in `of`: (a reference, "", ""), or (part, name, value) of a setting."""
    parts = [part.strip() for part in of.split(";") if part.strip()]
    matches = [re.fullmatch(r"(\w+)\s*=\s*(.*)", part) for part in parts]
    return [(p, m[1].lower(), m[2]) if m else (p, "", "") for p, m in zip(parts, matches)]


def setting(name: str, text: str) -> Any:
    """A setting's value, None if it can't be read.

    scale: (least, most); df: the test's degrees of freedom, two of F; positives: int or a word.
    """
    number, count = parsed(text), whole(text)
    if name == "scale":
        ends = both_ends(text) or ()
        least, most = [int(x.value) for x in ends if x.value.denominator == 1] or (0, 0)
        return (least, most) if 0 < most - least <= 1000 else None
    if name == "df":
        free = [parsed(part) for part in text.split(",")]
        return free if all(x and x.value > 0 for x in free) else None
    if name == "positives":
        return count if count is not None else text or None
    if name in ("comparisons", "classes"):
        most = 1000 if name == "comparisons" else 100
        return count if count and 0 < count <= most else None
    if name == "level":
        return number if number and 50 <= number.value < 100 else None
    return number if name == "statistic" else text if text in TESTS else None
