"""Which rows a rater gets: a stratified sample, some of it repeated.

Several raters each get a share of the sample; some rows go to all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from bedside import BedsideError

from .blind import candidates

STRATA = ("section", "model", "category", "configuration")
APART = 5  # other items between an item and its repetition, if the sample is long enough


class Entry(NamedTuple):
    """A place in a sample: a row, and whether it is a repetition."""

    row: dict
    repetition: bool


@dataclass(frozen=True)
class Draw:
    """Which of a task's rows a rater gets.

    size, seed, repetitions, tiny: as in `sample`. raters: the names of all raters if each labels a
    share; overlap: the part of the sample that all of them label (`share`); batches: cut the sample
    into so many parts instead, each for equally many raters (`assigned`).
    """

    size: int = 30
    seed: int = 0
    repetitions: float = 0.1
    tiny: bool = False
    raters: Sequence[str] = ()
    overlap: float = 0.2
    batches: int = 0


def sample(rows, task, size, seed, strata=STRATA, repetitions=0.0, tiny=False):
    """Draw `size` of a task's rows (0: all) in random order: a list of Entry.

    The same rows and seed give the same sample.

    Strata are represented by their share, each at least once if `size` allows. repetitions: the
    share of drawn rows that come again, at random later places, in addition to `size`. tiny: as in
    `candidates`.
    """
    return draw(candidates(rows, task, tiny), size, seed, strata, repetitions)


def draw(found, size, seed, strata=STRATA, repetitions=0.0):
    """A sample of candidate rows, drawn as in `sample`."""
    if size < 0 or seed < 0 or not 0 <= repetitions <= 0.5:
        raise BedsideError(
            f"size is {size}, seed {seed} and repetitions {repetitions}; give a size of at least 1"
            " (0: all), a seed of at least 0 and repetitions from 0 to 0.5"
        )
    rng = np.random.default_rng(seed)
    parts = _strata(found, strata)
    parts = [parts[i] for i in rng.permutation(len(parts))]  # ties are broken at random
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
    """One rater's share of a sample: a list of Entry, in an order of its own.

    drawn: from `draw`, without repetitions. place: the rater's number, from 0. The share `overlap`
    of the sample goes to all raters, and the rest is divided into `of` parts, of which raters
    from number `of` on share those of the first; both keep the strata as far as their numbers
    allow.
    """
    if not 0 <= overlap <= 1:
        raise BedsideError(f"overlap is {overlap}; give a share from 0 to 1")
    parts = _strata([e.row for e in drawn], strata)
    common = shares([len(p) for p in parts], round(overlap * len(drawn)))
    mine = [row for part, k in zip(parts, common) for row in part[:k]]
    mine += [row for part, k in zip(parts, common) for row in part[k:]][place % of :: of]
    rng = np.random.default_rng([seed, place])
    once = [Entry(mine[i], False) for i in rng.permutation(len(mine))]
    return _with_repetitions(once, repetitions, rng)


def shares(counts, size):
    """How many of each stratum are drawn: by largest remainder, at least one if `size` allows.

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
    """Entries with some repeated, each at least APART places after its first."""
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
    """The number of rows in each stratum, and of those drawn: columns `strata`, rows, drawn.

    drawn: from `sample`. tiny: as in `candidates`.
    """

    def count(found):
        values = [[row[s] for s in strata] for row in found]
        return pd.DataFrame(values, columns=list(strata)).value_counts()

    there = count(candidates(rows, task, tiny))
    taken = count([e.row for e in drawn if not e.repetition])
    counts = pd.DataFrame({"rows": there, "drawn": taken})
    return counts.fillna(0).astype(int).sort_index().reset_index()
