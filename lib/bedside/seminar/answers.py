"""What checks share: an answer's fields and numbers, and what is near enough to be right."""

from numbers import Real

from .tasks import Wrong


def fields(answer, names):
    """An answer's values in the order of these names; Wrong if it is no dict with exactly them."""
    if not isinstance(answer, dict) or set(answer) != set(names):
        raise Wrong(f"Write a dictionary with exactly these keys: {', '.join(map(repr, names))}.")
    return [answer[n] for n in names]


def numbers(answer, names, share=()):
    """The same as numbers; Wrong for what is none, and for a `share` written as a percentage."""
    found = fields(answer, names)
    for name, value in zip(names, found):
        if isinstance(value, bool) or not isinstance(value, Real) or value != value:
            raise Wrong(f"{name!r} has to be a number, not {value!r}.")
        if name in share and not 0 <= value <= 1:
            looks = "looks like a percentage" if 1 < value <= 100 else "is none"
            raise Wrong(f"{name!r} has to be a share between 0 and 1; {value:g} {looks}.")
    return found


def near(value, truth, by=0.01):
    """Whether a number is right up to rounding."""
    return abs(value - truth) <= by + 1e-9


def right(answer, truth, mistakes=None, hint="", by=0.006):
    """Raise Wrong unless an answer's numbers are those of `truth`, both by name.

    mistakes: {what to say: {name: the number that this mistake leads to}}, or a tuple of such
    numbers. Percent for a share, or the other way round, is named if that explains all that is
    off; else the first mistake that fits; else the hint.
    """
    value = dict(zip(truth, numbers(answer, list(truth))))
    off = [k for k, x in truth.items() if not near(value[k], x, by)]
    if not off:
        return
    if all(truth[k] and near(value[k], 100 * truth[k], max(0.6, by)) for k in off):
        asked = "this looks like percent. A share is asked for: write 0.25 for 25%."
        raise Wrong(f"{', '.join(off)}: {asked}")
    if all(truth[k] and near(100 * value[k], truth[k], max(0.6, by)) for k in off):
        asked = "this looks like a share. Percent are asked for: write 25 for 0.25."
        raise Wrong(f"{', '.join(off)}: {asked}")
    for say, leads in (mistakes or {}).items():
        for made in leads if isinstance(leads, tuple) else (leads,):
            if any(k in off for k in made) and all(near(value[k], x, by) for k, x in made.items()):
                raise Wrong(say)
    raise Wrong(f"not right yet: {', '.join(off)}. {hint}".strip())
