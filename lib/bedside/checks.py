"""Data checks that every paper's sources go through: repetitions, overlaps, gaps, and names spelled in several ways.

What to check stands in data/sources.toml: `text` (the column whose text may stand there once), `names` (columns of
labels), `apart` (sources that may not share a text with this one).
"""

import re

from . import sources


def normal(text):
    """Text without case, punctuation and spacing, for comparison."""
    return " ".join(re.findall(r"\w+", str(text).casefold()))


def repeated(texts):
    """How many texts equal an earlier one, but for case, punctuation and spacing."""
    return len(texts) - len({normal(t) for t in texts})


def shared(a, b):
    """Normal texts that stand in both."""
    return {normal(t) for t in a} & {normal(t) for t in b}


def same(a, b, least=0.85):
    """For each text of `b` the normal text of `a` that it equals, or that comes nearest (difflib ratio, at least `least`).

    {normal text of b: normal text of a}; texts of `b` without one are left out.
    """
    import difflib

    mine = {normal(t) for t in a}
    found = {}
    for text in map(normal, b):
        near = [text] if text in mine else difflib.get_close_matches(text, mine, 1, least)
        if near:
            found[text] = near[0]
    return found


def gaps(frame):
    """How many cells hold nothing: missing, blank or an empty list."""
    return int(
        sum(
            (
                frame[c].isna() | (frame[c].astype(str).str.strip().isin(["", "[]", "{}", "None"]))
            ).sum()
            for c in frame
        )
    )


def spellings(names):
    """Groups of different names that have the same words but for case, order, punctuation, plural and a word of joining.

    Names with brackets are compared without them too. Returns lists of names, longest group first.
    """
    groups = {}
    for name in dict.fromkeys(map(str, names)):
        plain = re.sub(r"\([^)]*\)", " ", name)
        words = [
            w.removesuffix("s") if len(w) > 3 else w
            for w in normal(plain if plain.strip() else name).split()
        ]
        groups.setdefault(frozenset(words) - {"of", "and", "the", "with"}, []).append(name)
    return sorted((g for g in groups.values() if len(g) > 1), key=len, reverse=True)


def merged(names):
    """How many different names there are when those that differ in spelling only count once."""
    return len(set(names)) - sum(len(group) - 1 for group in spellings(names))


def report(frames):
    """Checks of sources as table rows. frames: {source name: frame}, as `sources.load` gives them.

    Columns of the rows: rows, empty cells, repeated texts, names spelled in several ways, texts shared with a source
    that it must be apart from.
    """
    import pandas as pd

    rows = []
    for name, frame in frames.items():
        e = sources.entry(name)
        text = e.get("text")
        found = {"rows": len(frame), "empty cells": gaps(frame[e["columns"]])}
        if text:
            found["repeated texts"] = repeated(frame[text])
        for column in e.get("names", []):
            found[f"spellings of {column}"] = sum(map(len, spellings(frame[column])))
        for other in e.get("apart", []):
            if other in frames:
                found[f"texts also in {other}"] = len(
                    shared(frame[text], frames[other][sources.entry(other)["text"]])
                )
        rows += [(name, what, "raw", n, len(frame)) for what, n in found.items()]
    return pd.DataFrame(rows, columns=["row", "column", "source", "value", "n"])
