"""What students write, read as numbers, lists and words: in whatever form, and never run."""

import re
from collections.abc import Mapping
from numbers import Real

from bedside import BedsideError
from bedside.read import expressions
from bedside.read.checks import normal

NAMES = "zero one two three four five six seven eight nine ten eleven twelve".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
WORDS = {n: k for k, n in enumerate(NAMES)} | {n: 10 * k for k, n in enumerate(TENS, 2)}
WORDS |= {"once": 1, "twice": 2, "thrice": 3, "both": 2, "half": 0.5}
ASIDE = set("the a an and of in with to is it".split())
REWRITTEN = (  # what people write around a number, and what is left of it
    (r"[−–]", "-"),
    (r"[·×]", "*"),
    (r"\(.*?\)|^.*=|^[a-z ]+:|[~≈+]|\b(about|around|ca)\b\.?", " "),
    (r"\b(out of|of)\b|(?<=\d):(?=\d)", "/"),
    (r"[a-z]+", lambda m: str(WORDS.get(m[0], m[0]))),
    (r"(?<=\d)\s*(percent|per cent)\s*$", "%"),
    (r"(?<=\d)\s*[a-z ]+$|\.\s*$", ""),
)


class Wrong(Exception):
    """An answer that isn't right yet; the text says what to look at."""


def number(value, share=False):
    """A number, or the one that a text states: "0,25", "1/4", "six", "25%", "F1 = 0.24"; or None.

    share: whether a percentage is divided by 100.
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        return value if value == value else None
    if not isinstance(value, str):
        return None
    text = value.lower().strip()
    for pattern, instead in REWRITTEN[: 3 if re.search(r"\d\s*\+\s*\d", text) else None]:
        text = re.sub(pattern, instead, text)
    text, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    if re.fullmatch(r"-?\d*,\d+", text) and not re.fullmatch(r"-?[1-9]\d*,\d{3}", text):
        text = text.replace(",", ".")
    if not re.fullmatch(r"[\d.*/() -]*\d[\d.*/() -]*", text):
        return None
    try:
        made = expressions.evaluated(text, {})
    except BedsideError:
        return None
    return made / 100 if percent and share else made


def listed(value):
    """The whole numbers in an answer: lists in lists or by turn, or texts such as "2 and 7"."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [n for part in value for n in listed(part)]
    if not isinstance(value, str):
        return [] if value is None or value == 0 and value is not False else [_whole(value)]
    text = re.sub(
        r"\(.*?\)|\b(items?|turns?|and|und|none?|no|nothing|nichts|zero)\b", " ", value.lower()
    )
    return [n for n in map(_whole, re.findall(r"[a-z]+|\d+", text)) if n]


def _whole(value):
    made = number(value)
    if made is None or made % 1:
        raise Wrong(f"write numbers such as 2 and 7; {value!r} isn't a number.")
    return int(made)


def bare(text):
    """The words of a text in the singular, without small ones."""
    return {w.removesuffix("s") for w in normal(str(text)).split() if w not in ASIDE}


def choice(value, options):
    """The option that a text names, whatever its case, punctuation and small words; else None.

    options: {option: other words for it}.
    """
    mine = bare(value) if isinstance(value, str) else ()
    return next((o for o, more in options.items() if mine in map(bare, (o, *more))), None)


def near(value, truth, by=0.006):
    """Whether a number is right up to rounding."""
    return abs(value - truth) <= by + 1e-9


def open_in(answer, each=True):
    """Whether something is still to be answered: an Ellipsis, or a blank text.

    each: whether one such place is enough; else all must be blank.
    """
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple, set)):
        return not answer or (any if each else all)(open_in(v, each) for v in answer)
    return answer is ... or answer is None or (isinstance(answer, str) and not answer.strip())
