"""Radiation: precision, recall, F1, overlap (3.6), recall by onset and frequency (4.7), and more.

A frame of scored lists has a row for each list. Everything is averaged over patients, the unit that
the bootstrap resamples.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read import checks
from bedside.read.checks import normals
from bedside.write.tables import estimated_means

from .data import CELLS, FREQUENCIES, LEAST, MOST, ONSETS, vocabulary
from .matching import one_to_one

Numbers = float | np.ndarray
METRICS = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
LOOSE = {
    "loose_precision": "Precision, several to one",
    "loose_recall": "Recall, several to one",
}
SCORED = ["size", "hits", "found", *METRICS, *LOOSE]
KEYS = ["item", "model", "regime", "profile"]


def scored(matches: pd.DataFrame, reference: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """Scores of matched lists: `matches` plus size, hits, found, METRICS and LOOSE.

    precision = hits / items listed, recall = hits / size of the site's reference, f1 their
    harmonic mean (section 3.6). hits: the size of a largest one-to-one matching. found: the
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
        hits = int((matched >= 0).sum())
        rows.append(
            {
                "size": size,
                "hits": hits,
                "found": {terms[i] for i in matched if i >= 0},
                "loose_precision": pairs.any(1).mean(),
                "loose_recall": pairs.any(0).sum() / size,
                **rates(hits, len(r.terms), size),
            }
        )
    return matches.join(pd.DataFrame(rows, index=matches.index).reindex(columns=SCORED))


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


def f1_of_means(rows, by):
    """Rows with the harmonic mean of mean precision and mean recall, from `estimated_means` rows.

    They have no interval; the value is 0 where both means are 0.
    """
    wide = rows.pivot(index=by, columns="metric", values="value")
    wide = wide.reindex(columns=["precision", "recall"])
    value = stats.harmonic(wide["precision"], wide["recall"])
    value = value.fillna(0).where(wide.notna().all(axis=1))
    return pd.DataFrame({"metric": "f1 of means", "value": value}).reset_index()


def overlaps(graded: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """Overlap of each patient's two lists (3.6): frame item, model, regime, overlap, by_meaning.

    overlap: intersection over union of the normalised texts. by_meaning: the same where an item
    that was matched to a term of the vocabulary counts as that term. NaN where a list is missing.
    """

    def sets(r):
        """The wordings and the meanings of a list."""
        if r.match != "graded":
            return set(), set()
        words, meant = normals(r.terms), one_to_one(r.pairs)
        meanings = {terms[i] if i >= 0 else words[t] for t, i in zip(r.terms, meant)}
        return set(words.values()), meanings

    def overlap(a, b):
        return len(a & b) / len(a | b) if a and b else float("nan")

    of = {tuple(getattr(r, k) for k in KEYS): sets(r) for r in whole(graded).itertuples()}
    rows = []
    for key in dict.fromkeys((item, model, regime) for item, model, regime, _ in of):
        base, then = of[*key, "base"], of[*key, "specified"]
        rows.append((*key, *map(overlap, base, then)))
    return pd.DataFrame(rows, columns=["item", "model", "regime", "overlap", "by_meaning"])


def strata(graded, reference):
    """Recall of each list in the cells of onset and frequency that its site has (section 4.7).

    Frame KEYS, onset, frequency, size, hits, recall; recall is NaN for unscored lists.
    """
    cells = reference.groupby(["site", "onset", "frequency"])["effect"].agg(set).to_dict()
    rows = []
    for r in graded.itertuples():
        for onset, frequency in CELLS:
            if effects := cells.get((r.site, onset, frequency)):
                size = len(effects)
                hits = float("nan") if r.found is None else len(effects & r.found)
                key = r.item, r.model, r.regime, r.profile, onset, frequency
                rows.append((*key, size, hits, hits / size))
    return pd.DataFrame(rows, columns=[*KEYS, "onset", "frequency", "size", "hits", "recall"])


def recall_by(found, by):
    """Recall of each list by onset or frequency (section 4.7): frame KEYS, `by`, recall, pooled.

    recall: the mean over the levels of the other one, as in the captions of Tables 6 and 7.
    pooled: each effect counts once.
    """
    groups = found.groupby([*KEYS, by], sort=False)
    made = groups["recall"].mean().to_frame()
    made["pooled"] = groups["hits"].sum(min_count=1) / groups["size"].sum()
    return made.reset_index()


def levels(found, by, run):
    """`estimated_means` of recall and pooled recall by model and level, ordered by level."""
    rows = estimated_means(recall_by(found, by), ["recall", "pooled"], ["model", by], run)
    place = (ONSETS if by == "onset" else FREQUENCIES).index
    order = rows[by].map(place).argsort(kind="stable")
    return rows.iloc[order].reset_index(drop=True)


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
