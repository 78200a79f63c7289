"""What checks share: fields, numbers, choices and texts of answers, and what is near enough."""

import re
from numbers import Real

from bedside.read.checks import normal

NUMBER = re.compile(r"([+-]?\d*[.,]?\d+)(?:/(\d+))?(%|percent|per cent)?")


class Wrong(ValueError):
    """An answer that isn't right yet; the text says what to look at."""


def fields(answer, names):
    """An answer's values in the order of these names; Wrong if it is no dict with exactly them."""
    if not isinstance(answer, dict) or set(answer) != set(names):
        raise Wrong(f"Write a dictionary with exactly these keys: {', '.join(map(repr, names))}.")
    return [answer[n] for n in names]


def number(value, share=False):
    """A number, or a text that can only be one: "0.25", "0,25", "1/4", "−1", "25%"; else None.

    share: whether a percentage is divided by 100.
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        return value if value == value else None
    if not isinstance(value, str):
        return None
    text = "".join(value.split()).lower().replace("\u2212", "-").rstrip(".")
    if not (found := NUMBER.fullmatch(text)):
        return None
    top, below, percent = found.groups()
    if re.fullmatch(r"[+-]?[1-9]\d*,\d{3}", top) or (below and not int(below)):
        return None  # a comma that may separate thousands or decimals
    made = float(top.replace(",", ".")) / int(below or 1)
    return made / 100 if percent and share else made


def numbers(answer, names, share=()):
    """Those values as numbers; Wrong if one is none, or for a `share` written as a percentage."""
    given = dict(zip(names, fields(answer, names)))
    found = [number(value, name in share) for name, value in given.items()]
    for (name, said), value in zip(given.items(), found):
        if value is None and isinstance(said, tuple) and len(said) == 2:
            raise Wrong(f"{name!r}: a comma makes two numbers of it; write a point, as in 0.25.")
        if value is None:
            raise Wrong(f"{name!r} must be a number, not {said!r}.")
        if name in share and not 0 <= value <= 1:
            looks = "looks like a percentage" if 1 < value <= 100 else "is not one"
            raise Wrong(f"{name!r} must be a share between 0 and 1; {value:g} {looks}.")
    return found


def choice(value, options):
    """The option that a text names, whatever its case, blanks and punctuation; else None.

    options: {option: other words for it}.
    """
    said = normal(value) if isinstance(value, str) else None
    return next((o for o, more in options.items() if said in map(normal, (o, *more))), None)


def near(value, truth, by=0.01):
    """Whether a number is right up to rounding."""
    return abs(value - truth) <= by + 1e-9


def right(answer, truth, mistakes=None, hint="", by=0.006):
    """Raise Wrong unless an answer's numbers are those of `truth`, both by name.

    mistakes: {what to say: {name: the number that this mistake leads to}}, or a tuple of such
    dictionaries. A percentage instead of a share, or the reverse, is named if it explains all that
    is off; else the first mistake that fits; else the hint.
    """
    numbers(answer, list(truth))
    value = {k: number(answer[k], share=-1 <= x <= 1) for k, x in truth.items()}
    off = [k for k, x in truth.items() if not near(value[k], x, by)]
    if not off:
        return
    if all(truth[k] and near(value[k], 100 * truth[k], max(0.6, by)) for k in off):
        asked = "this looks like a percentage, but the task asks for a share. Write 0.25 for 25%."
        raise Wrong(f"{', '.join(off)}: {asked}")
    if all(truth[k] and near(100 * value[k], truth[k], max(0.6, by)) for k in off):
        asked = "this looks like a share, but the task asks for a percentage. Write 25 for 0.25."
        raise Wrong(f"{', '.join(off)}: {asked}")
    for say, leads in (mistakes or {}).items():
        for made in leads if isinstance(leads, tuple) else (leads,):
            if any(k in off for k in made) and all(near(value[k], x, by) for k, x in made.items()):
                raise Wrong(say)
    raise Wrong(f"not right yet: {', '.join(off)}. {hint}".strip())
