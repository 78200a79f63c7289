"""Checks of every study's data: repeated and shared texts, empty cells, spellings, joins.

data/sources.toml says what to check: `text` (the column in which no text may repeat), `names`
(columns of labels), `apart` (sources that may not share a text with this one).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from bedside import BedsideError

from . import sources

if TYPE_CHECKING:
    import pandas as pd
    from pandas.core.groupby import DataFrameGroupBy

NOTHING = ["", "[]", "{}", "None"]  # how an empty cell may look
ALIKE = 0.85  # the smallest ratio of difflib at which two texts are similar
JOINING = {"of", "and", "the", "with"}


def joined(
    left: pd.DataFrame,
    right: pd.DataFrame,
    on: str | list[str] = "item",
    validate: str = "one_to_one",
    whole: str = "left right",
) -> pd.DataFrame:
    """Two frames merged on columns, none of whose rows may get lost.

    validate: as of pandas. whole: the sides of which every row must have its counterpart. Raises
    BedsideError with the first that has none; pandas' MergeError where a key occurs twice.
    """
    both = left.merge(right, on=on, validate=validate)
    for side, frame in (("left", left), ("right", right)):
        keys = frame.set_index(on).index
        if side in whole and len(lost := keys[~keys.isin(both.set_index(on).index)]):
            names = on if isinstance(on, str) else ", ".join(on)
            told = f"{len(lost)} of {len(frame)} rows have no counterpart when joined by {names}"
            way = "Their counterparts are missing or have other names."
            raise BedsideError(f"{told}. The first is {lost[0]!r}. {way}")
    return both


def within(frame: pd.DataFrame, column: str, known: Collection, what: str) -> pd.DataFrame:
    """The rows whose `column` has one of the values `known`; how many others there are is printed.

    what: the rows' name, in the plural.
    """
    there = frame[column].isin(known)
    if len(lost := frame.loc[~there, column]):
        few = ", ".join(map(repr, lost.unique()[:3])) + ", ..." * (lost.nunique() > 3)
        print(f"{len(lost)} of {len(frame)} {what} are left out: this run has no {column} {few}")
    return frame[there]


def complete(
    frame: pd.DataFrame, columns: Iterable[str], texts: Iterable[str] = ()
) -> pd.DataFrame:
    """The frame, none of whose rows lacks what the columns say: a missing value is no category.

    None and NaN are missing, and in `columns` empty text too; in `texts` it is a value. Raises
    BedsideError with the column and the first row's item.
    """
    import numpy as np

    columns = list(columns)
    for column in [*columns, *texts]:
        lost = frame[column].isna()
        if column in columns:
            lost |= np.array([isinstance(v, str) and not v for v in frame[column]], bool)
        if lost.any():
            few = f"{lost.sum()} of {len(frame)} rows have no {column}"
            raise BedsideError(f"{few}: {_row(frame, lost)}")
    return frame


def groups(
    frame: pd.DataFrame,
    by: str | list[str],
    columns: Iterable[str] = (),
    texts: Iterable[str] = (),
) -> DataFrameGroupBy:
    """The groups of a frame in the order of their first rows, which are `complete`."""
    named = [by] if isinstance(by, str) else by
    return complete(frame, [*named, *columns], texts).groupby(by, sort=False)


def scored(frame: pd.DataFrame, column: str = "value", status: str = "status") -> pd.DataFrame:
    """The rows with a verdict, whose status is graded; BedsideError if one of them has no value."""
    return complete(frame[frame[status] == "graded"], [column])


def numbers(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """The frame with columns as floats, NaN where there is no value; BedsideError for a text."""
    import pandas as pd

    for column in columns:
        given = frame[column].replace("", None)  # other columns may hold arrays
        values = pd.to_numeric(given, errors="coerce").astype(float)
        if (strange := values.isna() & given.notna()).any():
            raise BedsideError(f"{column} isn't a number: {_row(frame, strange)}")
        frame = frame.assign(**{column: values})
    return frame


def _row(frame, which):
    """The first of some rows, in words."""
    first = frame[which].iloc[0]
    names = [
        n
        for n in ("item", "id", "case", "question")
        if str(first.get(n, "")) not in ("", "nan", "None", "<NA>")
    ]
    return "the first is " + next((f"{n} {first[n]}" for n in names), f"row {first.name}")


def normal(text: str) -> str:
    """Text without case, punctuation and spacing, for comparison."""
    return " ".join(re.findall(r"\w+", str(text).casefold()))


def normals(texts: Iterable[str]) -> dict[str, str]:
    """{text: `normal` text} for each different text."""
    return {text: normal(text) for text in dict.fromkeys(texts)}


def repeated(texts: Sequence[str]) -> int:
    """How many texts equal an earlier one, ignoring case, punctuation and spacing."""
    return len(texts) - len({normal(t) for t in texts})


def shared(a: Iterable[str], b: Iterable[str]) -> set[str]:
    """The `normal` texts that both have."""
    return {normal(t) for t in a} & {normal(t) for t in b}


def counterparts(a: Iterable[str], b: Iterable[str]) -> dict[str, str]:
    """For each text of `b` the text of `a` that it equals, or else the most similar one.

    {normal text of b: normal text of a}; texts of `b` without one are left out.
    """
    import difflib

    known = {normal(t) for t in a}
    near = {t: difflib.get_close_matches(t, {t} & known or known, 1, ALIKE) for t in map(normal, b)}
    return {text: matches[0] for text, matches in near.items() if matches}


def gaps(frame: pd.DataFrame) -> int:
    """How many cells are missing, blank or an empty list."""
    empty = frame.isna() | frame.astype(str).apply(lambda c: c.str.strip()).isin(NOTHING)
    return int(empty.to_numpy().sum())


def spellings(names: Iterable[str]) -> list[list[str]]:
    """Groups of different names that are made of the same words, the longest group first.

    Case, order, punctuation, plural and joining words are ignored, and so is text in brackets
    unless the name has nothing else.
    """
    groups = {}
    for name in dict.fromkeys(map(str, names)):
        plain = re.sub(r"\([^)]*\)", " ", name)
        words = normal(plain if plain.strip() else name).split()
        singular = {w.removesuffix("s") if len(w) > 3 else w for w in words}
        groups.setdefault(frozenset(singular - JOINING), []).append(name)
    return sorted((g for g in groups.values() if len(g) > 1), key=len, reverse=True)


def merged(names: Sequence[str]) -> int:
    """The number of different names if those that differ in spelling only count once."""
    return len(set(names)) - sum(len(group) - 1 for group in spellings(names))


def report(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Checks of sources as table rows. frames: {source name: frame}, as `sources.load` gives them.

    Columns of the rows: rows, empty cells, repeated texts, names spelled in several ways, texts
    shared with a source that it must be apart from.
    """
    import pandas as pd

    rows = []
    for name, frame in frames.items():
        entry = sources.entry(name)
        text = entry.get("text")
        found = {"rows": len(frame), "empty cells": gaps(frame[entry["columns"]])}
        if text:
            found["repeated texts"] = repeated(frame[text])
        for column in entry.get("names", []):
            found[f"spellings of {column}"] = sum(map(len, spellings(frame[column])))
        for other in entry.get("apart", []):
            if other in frames:
                theirs = frames[other][sources.entry(other)["text"]]
                found[f"texts also in {other}"] = len(shared(frame[text], theirs))
        rows += [(name, what, "raw", n, len(frame)) for what, n in found.items()]
    return pd.DataFrame(rows, columns=["row", "column", "source", "value", "n"])
