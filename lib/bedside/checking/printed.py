"""Printed numbers: digits, signs and marks, by either convention: a decimal point or comma.

1,203 is a thousand by the one and a little above one by the other; `rows` finds out which of them
a table has.
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


class Number(NamedTuple):
    """A printed number: its value as printed, the place of its last digit, < or >, and a % sign."""

    value: Fraction
    step: Fraction
    sign: str = ""
    percent: bool = False

    def span(self, scale: Fraction = Fraction(1), cut: bool = False) -> stats.Ends:
        """What it may have been before it was printed, times `scale`. cut: digits were cut off."""
        return stats.span(self.value * scale, self.step * scale, cut)

    def printed(self, value: float | Fraction) -> str:
        """Another value with as many digits as this one."""
        digits = max(0, len(str(self.step.denominator)) - 1)
        return f"{float(value):z.{digits}f}" + "%" * self.percent


def _forms(mark):
    """How a number looks, and one with a power of ten; the first group of thousands has no 0."""
    other = COMMA if mark == POINT else POINT
    after = rf"(?:{re.escape(mark)}\d+)"
    whole = rf"(?:[1-9]\d{{0,2}}([{SPACES}{other}])\d{{3}}(?:\1\d{{3}})*|\d+)"
    power = rf"(\d+{after}?)\s*(?:e|[x×]\s*10\s*\^?)\s*(-?\d\d?)"
    number = rf"[-+]?(?:{whole}{after}?|{after})"
    return re.compile(number, re.A), re.compile(power, re.I | re.A)


FORMS = {mark: _forms(mark) for mark in MARKS}


def parsed(text: str, mark: str = POINT) -> Number | None:
    """A printed number; None for another text. Digits, sign and percent sign are kept."""
    form, power = FORMS[mark]
    text = text.translate(ALIKE).strip()
    sign = re.match(r"<=|>=|[<>≤≥~≈=]|", text)[0]
    bare, sign = text[len(sign) :].strip(), SIGNS.get(sign, sign)
    if match := power.fullmatch(bare):  # 2e-5
        base, by = parsed(match[1], mark), Fraction(10) ** int(match[2])
        return base._replace(value=base.value * by, step=base.step * by, sign=sign)
    percent, bare = bare.endswith("%"), bare.removesuffix("%").strip()
    if len(bare) > LONGEST or not form.fullmatch(bare):
        return None
    digits = re.sub(rf"[{SPACES}{''.join(MARKS).replace(mark, '')}]", "", bare).replace(mark, ".")
    step = Fraction(1, 10 ** len(digits.partition(".")[2]))
    return Number(Fraction(digits), step, sign, percent)


def whole(text: str) -> int | None:
    """A whole number, by either convention: a mark before three digits stands for thousands."""
    both = [n for n in (parsed(text, mark) for mark in MARKS) if n and n.value.denominator == 1]
    best = max(both, key=lambda n: abs(n.value), default=None)
    return None if best is None or best.percent or best.sign else int(best.value)


def both_ends(text: str, mark: str = POINT) -> tuple[Number, Number] | None:
    """The two numbers of an interval such as '0.41 to 0.53', '[41, 53]' or '41–53%'."""
    text = text.translate(ALIKE).strip().removeprefix("(").removeprefix("[").rstrip("]) ")
    for separator in BETWEEN:
        parts = [(text[: m.start()], text[m.end() :]) for m in re.finditer(separator, text)]
        pairs = [(parsed(low, mark), parsed(high, mark)) for low, high in parts]
        pairs = [pair for pair in pairs if None not in pair]
        if len(pairs) == 1:
            low, high = pairs[0]
            return low._replace(percent=low.percent or high.percent), high
    return None


# ---- settings


TESTS = {"mcnemar": None, "two shares": None, "t": 1, "z": 0, "chi2": 1, "F": 2, "r": 1}
MARKED = ("statistic", "df", "level")  # settings that are printed numbers
SETTINGS = {  # what is wrong with a value that can't be taken
    "scale": "write the least and the most grade: scale=1 to 5",
    "test": f"the tests are {', '.join(TESTS)}",
    "statistic": "isn't a number",
    "df": "isn't a number above 0",
    "comparisons": "isn't a whole number up to 1000",
    "level": "write a confidence level in percent, such as level=95",
    "positives": "write their number, or a word that rows with the same have",
    "classes": "isn't a whole number up to 100",
}


def setting(name: str, value: str, mark: str, of: str) -> object:
    """A setting's value, None if it can't be taken. of: all that stands beside it.

    scale: (least, most); df: the test's degrees of freedom, two of F; positives: int or a word.
    """
    if name in MARKED:
        two = name == "df" and re.search(r"test\s*=\s*F\b", of)
        parts = [p for p in re.split(r",\s*" if two else r",\s+", value) if p]
        numbers = [parsed(part, mark) for part in (parts if name == "df" else [value])]
        if None in numbers or any(x.value <= 0 for x in numbers if name != "statistic"):
            return None
        level = name != "level" or 50 <= numbers[0].value < 100
        return (numbers if name == "df" else numbers[0]) if level else None
    if name == "scale":
        ends = both_ends(value)
        if not ends or any(end.value.denominator > 1 for end in ends):
            return None
        least, most = (int(end.value) for end in ends)
        return (least, most) if 0 < most - least <= 1000 else None
    if name == "test":
        return value if value in TESTS else None
    number = whole(value)
    if name == "positives":
        return value or None if number is None else number
    return number if number and 0 < number <= (100 if name == "classes" else 1000) else None


def settings(of: str) -> list[tuple[str, str, str]]:
    """What stands in `of`: (a reference, "", ""), or (part, name, value) of a setting."""
    parts = []
    for part in filter(None, (part.strip() for part in of.split(";"))):
        name, is_setting, value = (x.strip() for x in part.partition("="))
        known = is_setting and re.fullmatch(r"\w+", name)
        parts.append((part, name.lower(), value) if known else (part, "", ""))
    return parts
