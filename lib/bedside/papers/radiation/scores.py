"""Radiation: precision, recall, F1, overlap (3.6), recall by onset and frequency (4.7), and more.

A frame of scored lists has a row for each list. Everything is averaged over patients, the unit of
intervals.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bedside.read import checks
from bedside.read.checks import normals

from .data import CELLS, LEAST, MOST, PROFILES, vocabulary
from .matching import one_to_one

Numbers = float | np.ndarray | pd.Series
METRICS = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
LOOSE = {
    "loose_precision": "Precision, several to one",
    "loose_recall": "Recall, several to one",
}
COUNTED = ["size", "hits", "found", *LOOSE]
KEYS = ["item", "model", "regime", "profile"]


def counted(matches: pd.DataFrame, reference: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """Matched lists with what their scores are made of: `matches` plus size, hits, found and LOOSE.

    size: of the site's reference. hits: the size of a largest one-to-one matching. found: the
    reference effects in it. LOOSE: the share of items, and of reference effects, with any match, as
    if one item could count several times. Unscored lists have NaN.
    """
    belongs, rows = belonging(reference, terms), []
    for r in whole(matches).itertuples():
        size = int(belongs[r.site].sum())
        if r.match != "graded":
            rows.append({"size": size, "found": None})
            continue
        pairs = r.pairs * belongs[r.site]
        matched = one_to_one(pairs)
        rows.append(
            {
                "size": size,
                "hits": int((matched >= 0).sum()),
                "found": {terms[i] for i in matched if i >= 0},
                "loose_precision": pairs.any(1).mean(),
                "loose_recall": pairs.any(0).sum() / size,
            }
        )
    return matches.join(pd.DataFrame(rows, index=matches.index).reindex(columns=COUNTED))


def scored(matches: pd.DataFrame, reference: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """`counted` lists that are `rated`."""
    return rated(counted(matches, reference, terms))


def rated(lists: pd.DataFrame) -> pd.DataFrame:
    """`counted` lists with METRICS, which notebooks 02 and 03 compute in the open."""
    return lists.assign(**rates(lists["hits"], lists["terms"].str.len(), lists["size"]))


def whole(lists):
    """The lists; BedsideError if one lacks what it is about or, where it was matched, its pairs."""
    checks.complete(lists[lists["match"] == "graded"], ["terms", "pairs"])
    return checks.complete(lists, [*KEYS, "site"])


def belonging(reference, terms):
    """{site: which terms belong to it, booleans (terms,)}."""
    return {site: np.isin(terms, part["effect"]) for site, part in reference.groupby("site")}


def rates(hits: Numbers, counted: Numbers, size: Numbers) -> dict[str, Numbers]:
    """Precision, recall and F1 (section 3.6) of lists of `counted` items; numbers or arrays."""
    return {"precision": hits / counted, "recall": hits / size, "f1": 2 * hits / (counted + size)}


def sets(graded, terms):
    """What each list holds: frame KEYS, words and meanings (sets), empty where there is no list.

    words: the normalised texts. meanings: the same, but an item that was matched to a term of the
    vocabulary is that term.
    """
    rows = []
    for r in whole(graded).itertuples():
        words, meanings = {}, set()
        if r.match == "graded":
            words, meant = normals(r.terms), one_to_one(r.pairs)
            meanings = {terms[i] if i >= 0 else words[t] for t, i in zip(r.terms, meant)}
        rows.append((*(getattr(r, k) for k in KEYS), set(words.values()), meanings))
    return pd.DataFrame(rows, columns=[*KEYS, "words", "meanings"])


def pairs(lists):
    """A row for each patient's two lists, from `sets`: the columns end in _base or _specified."""
    halves = [
        lists[lists["profile"] == p].set_index(KEYS[:3])[["words", "meanings"]].add_suffix(f"_{p}")
        for p in PROFILES
    ]
    return checks.joined(*(half.reset_index() for half in halves), KEYS[:3])


def overlaps(graded: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """Overlap of each patient's two lists (3.6): frame item, model, regime, overlap, by_meaning.

    Intersection over union of the words, and of the meanings, of `sets`; NaN where a list is
    missing. Notebook 04 computes it in the open.
    """
    both = pairs(sets(graded, terms))
    for name, of in {"overlap": "words", "by_meaning": "meanings"}.items():
        lists = zip(*(both[f"{of}_{p}"] for p in PROFILES))
        both[name] = [len(a & b) / len(a | b) if a and b else float("nan") for a, b in lists]
    return both[[*KEYS[:3], "overlap", "by_meaning"]]


def strata(graded, reference):
    """What each list found in the cells of onset and frequency that its site has (section 4.7).

    Frame KEYS, onset, frequency, size, hits; hits is NaN for unscored lists.
    """
    cells = reference.groupby(["site", "onset", "frequency"])["effect"].agg(set).to_dict()
    rows = []
    for r in graded.itertuples():
        for onset, frequency in CELLS:
            if effects := cells.get((r.site, onset, frequency)):
                size = len(effects)
                hits = float("nan") if r.found is None else len(effects & r.found)
                key = r.item, r.model, r.regime, r.profile, onset, frequency
                rows.append((*key, size, hits))
    return pd.DataFrame(rows, columns=[*KEYS, "onset", "frequency", "size", "hits"])


def prefixes(matches, reference, terms, most):
    """Scores of the first k items of each list, k = 1 to `most`; a shorter list keeps its scores.

    Frame KEYS, k, listed, precision, recall.
    """
    belongs, rows = belonging(reference, terms), []
    for r in whole(matches).query("match == 'graded'").itertuples():
        pairs, size = r.pairs * belongs[r.site], int(belongs[r.site].sum())
        for k in range(1, most + 1):
            if k <= len(r.terms):
                hits = int((one_to_one(pairs[:k]) >= 0).sum())
                got = rates(hits, k, size)
            key = r.item, r.model, r.regime, r.profile, k
            rows.append((*key, len(r.terms), got["precision"], got["recall"]))
    return pd.DataFrame(rows, columns=[*KEYS, "k", "listed", "precision", "recall"])


def changes(graded, reference, terms):
    """Each effect of the vocabulary in the two lists of a patient, and how many pairs lack a list.

    Returns (frame item, model, regime, belongs, base, specified; {(model, regime): pairs of lists
    that can't be compared}). belongs: does the effect belong to the site? base, specified: is it on
    that list?
    """
    belongs, rows, lost = belonging(reference, terms), [], {}
    for (item, model, regime), part in whole(graded).groupby(KEYS[:3], sort=False):
        lost.setdefault((model, regime), 0)
        if (part["match"] != "graded").any():
            lost[model, regime] += 1
            continue
        on = {r.profile: set(one_to_one(r.pairs)) for r in part.itertuples()}
        rows += [
            (item, model, regime, mine, i in on["base"], i in on["specified"])
            for i, mine in enumerate(belongs[part["site"].iloc[0]])
        ]
    columns = ["item", "model", "regime", "belongs", "base", "specified"]
    return pd.DataFrame(rows, columns=columns), lost


def health(lists, run):
    """What the lists look like: frame KEYS and numbers to be averaged, NaN where there is no list.

    items: number of different items. repeated: number of repeats. sized: has it 20 to 30 items?
    elsewhere: share of items that belong to another part of the body. off: share of items that are
    no term of the vocabulary, word for word.
    """
    known = set(normals(vocabulary(run)).values())
    words = normals([w for ws in run.load("radiation_elsewhere")["words"] for w in ws])
    other = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(set(words.values()))))})\b")
    lists = checks.complete(lists, [*KEYS, "truncated"])
    made = lists[[*KEYS, "truncated"]].assign(none=lists["status"] != "listed")
    there = lists[lists["status"] == "listed"]
    names = normals([t for terms in there["terms"] for t in terms])
    named = there["terms"].map(lambda terms: [names[t] for t in terms])
    made["items"], made["repeated"] = there["terms"].map(len), there["repeated"]
    made["sized"] = made["items"].dropna().between(LEAST, MOST).astype(float)
    made["elsewhere"] = named.map(lambda ts: sum(bool(other.search(t)) for t in ts) / len(ts))
    made["off"] = named.map(lambda ts: sum(t not in known for t in ts) / len(ts))
    return made
