"""Which rows a rater gets: a sample in which every stratum has its share, some of it twice.

Of several raters each has a share of the sample; some of it all of them have.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from bedside import BedsideError

from .blind import candidates

STRATA = ("section", "model", "category", "configuration")
APART = 5  # other items between an item and its repetition, if the sample is long enough


class Entry(NamedTuple):
    """A place in a sample: a row, and whether it is there for the second time."""

    row: dict
    repetition: bool


def sample(rows, task, size, seed, strata=STRATA, repetitions=0.0, tiny=False):
    """Draw `size` of a task's rows (0: all) in random order: a list of Entry.

    The same rows and seed give the same sample.

    Strata are represented by their share, each at least once if `size` allows. repetitions: so many
    for each row drawn are put in, at random places after the first; they come on top of `size`.
    tiny: as of `candidates`.
    """
    return draw(candidates(rows, task, tiny), size, seed, strata, repetitions)


def draw(found, size, seed, strata=STRATA, repetitions=0.0):
    """A sample, as `sample` draws it, of rows that are candidates."""
    if size < 0 or seed < 0 or not 0 <= repetitions <= 0.5:
        raise BedsideError(
            f"size is {size}, seed {seed} and repetitions {repetitions}; give a size from 1 on (0:"
            " all), a seed from 0 on and repetitions from 0 to 0.5"
        )
    rng = np.random.default_rng(seed)
    parts = _strata(found, strata)
    parts = [parts[i] for i in rng.permutation(len(parts))]  # so that ties are drawn by lot
    size = min(size or len(found), len(found))
    drawn = [
        part[i]
        for part, k in zip(parts, shares([len(p) for p in parts], size))
        for i in rng.choice(len(part), k, replace=False)
    ]
    once = [Entry(drawn[i], False) for i in rng.permutation(size)]
    return _with_repetitions(once, repetitions, rng)


def _strata(found, strata):
    """The rows of each stratum: a list of lists."""
    by_stratum = {}
    for row in found:
        by_stratum.setdefault(tuple(row[s] for s in strata), []).append(row)
    return list(by_stratum.values())


def share(drawn, place, of, overlap, seed, repetitions=0.0, strata=STRATA):
    """What one of several raters gets of a sample: a list of Entry, in an order of their own.

    drawn: of `draw`, without repetitions. place: which of the `of` raters it is, from 0. The share
    `overlap` of the sample goes to all, the rest is dealt out; both keep the strata as far as
    their numbers allow.
    """
    if not 0 <= overlap <= 1:
        raise BedsideError(f"overlap is {overlap}; give a share from 0 to 1")
    parts = _strata([e.row for e in drawn], strata)
    common = shares([len(p) for p in parts], round(overlap * len(drawn)))
    mine = [row for part, k in zip(parts, common) for row in part[:k]]
    mine += [row for part, k in zip(parts, common) for row in part[k:]][place::of]
    rng = np.random.default_rng([seed, place])
    once = [Entry(mine[i], False) for i in rng.permutation(len(mine))]
    return _with_repetitions(once, repetitions, rng)


def shares(counts, size):
    """How many of each stratum are drawn: by largest remainder, one at least if `size` allows.

    counts: rows of each stratum, in the order in which ties are broken. Returns a list of the same
    length.
    """
    drawn = [0] * len(counts)
    open_, left, total = list(range(len(counts))), size, sum(counts)
    while len(counts) <= size and (small := [i for i in open_ if left * counts[i] < total]):
        for i in small:  # its share would be less than one
            drawn[i] = 1
        open_ = [i for i in open_ if not drawn[i]]
        left, total = size - sum(drawn), sum(counts[i] for i in open_)
    for i in open_:
        drawn[i] = left * counts[i] // total
    rest = size - sum(drawn)
    for i in sorted(open_, key=lambda i: -(left * counts[i] % total))[:rest]:
        drawn[i] += 1
    return drawn


def _with_repetitions(once, repetitions, rng):
    """Entries with some of them put in again, each at least APART after its first place."""
    size, apart = len(once), min(APART, len(once) // 2)
    if not repetitions or size < 2:
        return once
    count = min(max(1, round(repetitions * size)), size - apart)
    places = list(enumerate(once))
    for i in rng.choice(size - apart, count, replace=False):
        between = int(rng.integers(i + apart + 1, size + 1)) - 0.5
        places.append((between, Entry(once[i].row, True)))
    return [entry for _, entry in sorted(places, key=lambda place: place[0])]


def coverage(rows, task, drawn, strata=STRATA, tiny=False):
    """How many rows of each stratum there are and a sample drew: `strata`, rows, drawn.

    drawn: of `sample`. tiny: as of `candidates`.
    """

    def count(found):
        values = [[row[s] for s in strata] for row in found]
        return pd.DataFrame(values, columns=list(strata)).value_counts()

    there = count(candidates(rows, task, tiny))
    taken = count([e.row for e in drawn if not e.repetition])
    counts = pd.DataFrame({"rows": there, "drawn": taken})
    return counts.fillna(0).astype(int).sort_index().reset_index()
