"""Radiation: precision, recall, F1, overlap (3.6), recall by onset and frequency (4.7), and more.

A frame of scored lists has a row for each list. Everything is averaged over patients, the unit of
intervals.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read import checks
from bedside.read.checks import normals
from bedside.write.results import means
from bedside.write.tables import frame, no_answer_rows

from .data import CELLS, LEAST, MOST, PROFILES, vocabulary
from .matching import one_to_one
from .printed import PRINTED

Numbers = float | np.ndarray | pd.Series
METRICS = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
LOOSE = {
    "loose_precision": "Precision, several to one",
    "loose_recall": "Recall, several to one",
}
COUNTED = ["size", "hits", "found", *LOOSE]
KEYS = ["item", "model", "regime", "profile"]
BESIDE = {"specified": "", "base": ", base profile"}  # what columns of scores are called beside


def scored(matches: pd.DataFrame, reference: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """Matched lists with METRICS, and what these are made of: size, hits, found and LOOSE.

    size: of the site's reference. hits: the size of a largest one-to-one matching. found: the
    reference effects in it. LOOSE: the share of items, and of reference effects, with any match, as
    if one item could count several times. Unscored lists have NaN.
    """
    belongs, rows = belonging(reference, terms), []
    for r in whole(matches).itertuples():
        row = {"size": int(belongs[r.site].sum()), "found": None}
        if r.match == "graded":
            pairs = r.pairs * belongs[r.site]
            matched = one_to_one(pairs)
            row |= {
                "hits": int((matched >= 0).sum()),
                "found": {terms[i] for i in matched if i >= 0},
                "loose_precision": pairs.any(1).mean(),
                "loose_recall": pairs.any(0).sum() / row["size"],
            }
        rows.append(row)
    made = matches.join(pd.DataFrame(rows, index=matches.index).reindex(columns=COUNTED))
    return made.assign(**rates(made["hits"], made["terms"].str.len(), made["size"]))


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
        rows.append({"words": set(words.values()), "meanings": meanings})
    return graded[KEYS].join(pd.DataFrame(rows, index=graded.index))


def pairs(lists):
    """A row for each patient's two lists, from `sets`: the columns end in _base or _specified."""
    halves = [
        lists[lists["profile"] == p].set_index(KEYS[:3])[["words", "meanings"]].add_suffix(f"_{p}")
        for p in PROFILES
    ]
    return checks.joined(*(half.reset_index() for half in halves), KEYS[:3])


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


CHANGES = {  # belongs to the site, on the base list: the change, and whether it is then listed
    (True, False): ("gained, of those it should gain, %", True),
    (False, False): ("gained, of those it should not, %", True),
    (False, True): ("lost, of those it should lose, %", False),
    (True, True): ("lost, of those it should keep, %", False),
}


def changes(graded, reference, terms):
    """What naming the site did to each effect of the vocabulary, and how many pairs lack a list.

    Returns (frame item, model, regime, change (of CHANGES), changed (boolean); {(model, regime):
    pairs of lists that can't be compared}). An effect that belongs to the site and isn't on the
    base list should be gained, and one that is listed and doesn't belong should be lost.
    """
    belongs, rows, lost = belonging(reference, terms), [], {}
    for key, part in whole(graded).groupby(KEYS[:3], sort=False):
        lost.setdefault(key[1:], 0)
        if (part["match"] != "graded").any():
            lost[key[1:]] += 1
            continue
        on = {r.profile: set(one_to_one(r.pairs)) for r in part.itertuples()}
        for i, mine in enumerate(belongs[part["site"].iloc[0]]):
            change, listed = CHANGES[bool(mine), i in on["base"]]
            rows.append((*key, change, (i in on["specified"]) == listed))
    return pd.DataFrame(rows, columns=[*KEYS[:3], "change", "changed"]), lost


def f1_of_means(rows):
    """Rows with the harmonic mean of mean precision and mean recall, beside those of `rows`.

    It has no interval, and is 0 where both means are 0.
    """
    found = []
    for more in ("", ", base profile"):
        p, r = (
            rows[rows["column"] == name + more].set_index(["row", "source"])["value"].astype(float)
            for name in ("Precision", "Recall")
        )
        value = stats.harmonic(p, r).mask((p == 0) & (r == 0), 0)
        found.append(value.reset_index().assign(column="F1 of the means" + more))
    rows = pd.concat(found, ignore_index=True)
    printed = rows["source"] == "published"
    n = rows["row"].where(printed).map(lambda row: PRINTED, na_action="ignore")
    return rows.assign(n=n, source=rows["source"].mask(printed, "recomputed"))


COUNTS = {"items": "items", "repeated": "repeated entries"}
SHARES = {
    "sized": "of 20 to 30 items, %",
    "none": "no list, %",
    "truncated": "cut off at the limit, %",
}
ELSEWHERE = {"elsewhere": "items of another part of the body, %"}
OFF = {"off": "items that are not on the list, %"}


def health(lists, run):
    """What the lists look like: frame KEYS, and columns that are missing where there is no list.

    items: number of different items. repeated: number of repeats. sized: has it 20 to 30 items?
    elsewhere: percentage of items that belong to another part of the body. off: percentage of items
    that are no term of the vocabulary, word for word.
    """
    known = set(normals(vocabulary(run)).values())
    words = normals([w for ws in run.load("radiation_elsewhere")["words"] for w in ws])
    other = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(set(words.values()))))})\b")
    lists = checks.complete(lists, [*KEYS, "truncated"])
    there = lists.loc[lists["status"] == "listed"]
    names = normals([t for terms in there["terms"] for t in terms])

    def share(of):
        return there["terms"].map(lambda terms: 100 * np.mean([bool(of(names[t])) for t in terms]))

    items, none = there["terms"].map(len), lists["status"] != "listed"
    return lists[[*KEYS, "truncated"]].assign(
        none=none,
        items=items,
        repeated=there["repeated"],
        sized=items.between(LEAST, MOST).astype("boolean"),
        elsewhere=share(other.search),
        off=share(lambda name: name not in known),
    )


def described(run, graded):
    """Rows on what lists look like, by model and regime.

    Beside them stand the scores of lists that aren't truncated where some are, and why there is no
    reply.
    """
    looks, by, row = health(graded, run), ["model", "regime"], "{model}, {regime}"
    chosen = graded["regime"].str.startswith("selection").any()
    cut = graded["truncated"].astype(bool)
    uncut = graded[cut.groupby([graded[k] for k in by]).transform("any") & ~cut]
    names = {metric: f"{name} of the uncut" for metric, name in METRICS.items()}
    rows = [
        means(looks, COUNTS, row, scale=(0, np.inf)).assign(worst=None, best=None),
        means(looks, SHARES, row),
        means(looks, ELSEWHERE | (OFF if chosen else {}), row, scale=(0, 100)),
    ]
    if len(uncut):
        rows.append(means(uncut, names, row))
    for key, part in checks.groups(graded, by, texts=["reply_status"]):
        rows.append(frame(no_answer_rows(row.format(**dict(zip(by, key))), part["reply_status"])))
    return pd.concat([part for part in rows if len(part)], ignore_index=True)
