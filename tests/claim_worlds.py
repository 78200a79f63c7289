"""Whether tests of claims hold for all that is within the rounding, and turn for other numbers."""

import numpy as np

from bedside import BedsideError
from bedside.read import claims
from bedside.stats.rounded import exact

ABOUT_PRINT = (".value", "possible(", "prints(")  # in a test about print, or about what it allows
KINDS = ("one", "ends", "anywhere")
NO_NUMBER = ("a divisor may be 0", "a number is missing")  # in worlds without a ratio


def decided(study, names, **more):
    """{(claim, interpretation): holds}."""
    made = claims.decided(study, {**names, **more})
    return {(id, name): way[3] for id, ways in made.items() for name, way in ways.items()}


def drawn(printed, rng, kind):
    """Exact numbers that round to the printed ones, by name: one off, all at ends, or anywhere."""
    share = {k: rng.random(np.shape(x.value)) for k, x in printed.items()}
    if kind != "anywhere":
        share = {k: np.round(x) for k, x in share.items()}
    made = {k: x.low + share[k] * 0.999 * (x.high - x.low) for k, x in printed.items()}
    if kind == "one":
        odd, off = rng.choice([*printed]), made
        made = {k: x.value for k, x in printed.items()}
        which = np.zeros(np.size(made[odd]))
        which[rng.integers(len(which))] = 1
        made[odd] += (off[odd] - made[odd]) * which.reshape(np.shape(made[odd]))
    return {k: exact(x) for k, x in made.items()}


def refuted(study, names, draw, draws):
    """What is decided otherwise for some numbers within the rounding.

    draw: of a generator and one of KINDS, names with exact numbers within the rounding.
    """
    rng, found = np.random.default_rng(draws), set()
    said = decided(study, names)
    for k in range(draws):
        now = decided(study, names, **draw(rng, KINDS[k % 3]))
        found |= {key for key, holds in said.items() if now[key] is not holds}
    return {k for k in found if said[k] is not None and not _print(study, *k)}


def _print(study, id, name):
    test = claims.ways(claims.load(study)[id])[name].test
    return any(word in test for word in ABOUT_PRINT)


def unturned(study, names, other, worlds):
    """What is decided alike in all worlds. other: of a generator, names with other numbers."""
    said, rng = decided(study, names), np.random.default_rng(1)
    left = {*said}
    for _ in range(worlds):
        try:
            now = decided(study, names, **other(rng))
        except BedsideError as e:
            assert any(word in str(e) for word in NO_NUMBER), e
            continue
        left -= {k for k, holds in now.items() if holds is not said[k]}
        if not left:
            break
    return left
