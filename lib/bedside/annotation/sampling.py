"""Which rows a rater gets: a stratified sample, a share of it or a batch, some of it repeated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bedside import BedsideError

from .log import ADJUDICATED, named

STRATA = ("section", "model", "category", "configuration")
APART = 5  # other items between an item and its repetition, if the sample is long enough


class Entry(NamedTuple):
    """A place in a sample: a row, and whether it is a repetition."""

    row: dict
    repetition: bool


@dataclass(frozen=True)
class Sample:
    """Which of a task's rows a rater gets, and by which rules.

    size: rows drawn, 0 for all. repetitions: the share of them that comes again. tiny: as in
    `candidates`. raters: the names of all if each labels a share; overlap: the part of the sample
    that all of them label; batches: cut it into so many parts instead, each for equally many
    raters. protocol: follow the protocol of the task's study: consent and training come first,
    attention checks between the items. all_reasons: ask for a reason whatever the value.
    """

    group: str = ""
    size: int = 30
    seed: int = 0
    repetitions: float = 0.1
    tiny: bool = False
    raters: Sequence[str] = ()
    overlap: float = 0.2
    batches: int = 0
    protocol: bool = False
    all_reasons: bool = False

    def __post_init__(self):
        fine = 0 <= self.overlap <= 1 and 0 <= self.repetitions <= 0.5
        if min(self.size, self.seed) < 0 or not fine:
            raise BedsideError(
                f"size is {self.size}, seed {self.seed}, repetitions {self.repetitions} and overlap"
                f" {self.overlap}; give a size of at least 1 (0: all), a seed of at least 0,"
                " repetitions from 0 to 0.5 and an overlap from 0 to 1"
            )


def queue(found: list[dict], rater: str, how: Sample) -> list[Entry]:
    """A rater's rows in the order of labelling, from `candidates`; always the same for a seed.

    Strata are represented by their share, each at least once if `size` allows.
    """
    raters = members(how.raters)
    if how.batches:
        assigned(raters, how.batches)
    if not raters:
        return _draw(found, how.size, how.seed, how.repetitions)
    if rater not in raters:
        raise BedsideError(
            f"rater {rater!r} has no share of this sample. Raters: {', '.join(raters)}."
        )
    # Some rows go to all raters, and the rest is divided; both keep the strata as far as their
    # numbers allow. Raters beyond the number of batches share those of the first.
    drawn = [e.row for e in _draw(found, how.size, how.seed)]
    place, of = raters.index(rater), how.batches or len(raters)
    parts = _strata(drawn)
    common = _shares([len(p) for p in parts], round(how.overlap * len(drawn) * (not how.batches)))
    mine = [row for part, k in zip(parts, common) for row in part[:k]]
    mine += [row for part, k in zip(parts, common) for row in part[k:]][place % of :: of]
    rng = np.random.default_rng([how.seed, place])
    return _with_repetitions([mine[i] for i in rng.permutation(len(mine))], how.repetitions, rng)


def _draw(found, size, seed, repetitions=0.0):
    rng = np.random.default_rng(seed)
    parts = _strata(found)
    parts = [parts[i] for i in rng.permutation(len(parts))]  # ties are broken at random
    size = min(size or len(found), len(found))
    drawn = [
        part[i]
        for part, k in zip(parts, _shares([len(p) for p in parts], size))
        for i in rng.choice(len(part), k, replace=False)
    ]
    return _with_repetitions([drawn[i] for i in rng.permutation(size)], repetitions, rng)


def _strata(rows):
    """The rows of each stratum: a list of lists."""
    by_stratum = {}
    for row in rows:
        by_stratum.setdefault(tuple(row[s] for s in STRATA), []).append(row)
    return list(by_stratum.values())


def _shares(counts, size):
    """How many of each stratum are drawn: by largest remainder, at least one if `size` allows."""
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


def _with_repetitions(rows, repetitions, rng):
    """Entries of rows, some of which come again, APART places later if there are as many."""
    once, size, apart = [Entry(row, False) for row in rows], len(rows), min(APART, len(rows) // 2)
    if not repetitions or size < 2:
        return once
    count = min(max(1, round(repetitions * size)), size - apart)
    places = list(enumerate(once))
    for i in rng.choice(size - apart, count, replace=False):
        between = int(rng.integers(i + apart + 1, size + 1)) - 0.5
        places.append((between, Entry(rows[i], True)))
    return [entry for _, entry in sorted(places, key=lambda place: place[0])]


def members(raters):
    """The names of raters who share a sample, sorted; BedsideError for a repeated name."""
    names = sorted(map(named, raters))
    if len(set(names)) < len(names) or ADJUDICATED in names:
        raise BedsideError(
            f"the raters are {', '.join(names)}. Name each once, without {ADJUDICATED!r}."
        )
    return names


def assigned(raters, batches):
    """{rater: batch} of raters dealt to batches from 1, by their names alone.

    Raises BedsideError unless each batch gets the same number of raters.
    """
    names = members(raters)
    if batches < 1 or not names or len(names) % batches:
        raise BedsideError(
            f"BATCHES is {batches}, but there are {len(names)} raters. Give a number that divides"
            " the raters evenly, such as 10 for 30 raters, or 0 if all label the same sample"
        )
    return {name: place % batches + 1 for place, name in enumerate(names)}
