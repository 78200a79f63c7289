"""Radiation: precision, recall, F1 and overlap (section 3.6), recall by onset and frequency (4.7), and what the paper lacks.

A frame of scored lists has a row for each list; everything is averaged over patients, who are what the bootstrap draws.
"""

import re

from bedside import stats
from bedside.checks import normal
from bedside.papers.radiation.data import CELLS, FREQUENCIES, LEAST, MOST, ONSETS, vocabulary
from bedside.papers.radiation.matching import one_to_one
from bedside.tables import COLUMNS, estimates

METRICS = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
KEYS = ["item", "model", "regime", "profile"]


def scored(matches, reference, terms):
    """Scores of matched lists: `matches` plus size, hits, found, precision, recall, f1, loose_precision, loose_recall.

    precision = hits / items listed, recall = hits / size of the site's reference, f1 their harmonic mean (section 3.6);
    hits are a largest one-to-one matching, found the reference effects in it. loose: if one item may count several
    times, the share of items, and of reference effects, with any match. Unscored lists have NaN.
    """
    import pandas as pd

    mine, rows = _of_site(reference, terms), []
    for r in matches.itertuples():
        size = int(mine[r.site].sum())
        if r.match != "graded":
            rows.append({"size": size, "found": None})
            continue
        pairs = r.pairs * mine[r.site]
        found = one_to_one(pairs)
        hits = int((found >= 0).sum())
        rows.append(
            {
                "size": size,
                "hits": hits,
                "found": {terms[i] for i in found if i >= 0},
                "loose_precision": pairs.any(1).mean(),
                "loose_recall": pairs.any(0).sum() / size,
                **rates(hits, len(r.terms), size),
            }
        )
    columns = [
        "size",
        "hits",
        "found",
        "precision",
        "recall",
        "f1",
        "loose_precision",
        "loose_recall",
    ]
    return matches.join(pd.DataFrame(rows, index=matches.index).reindex(columns=columns))


def _of_site(reference, terms):
    """{site: which of the terms belong to it}, booleans (terms,)."""
    import numpy as np

    return {site: np.isin(terms, part["effect"]) for site, part in reference.groupby("site")}


def rates(hits, counted, size):
    """Precision, recall and F1 (section 3.6) of lists of `counted` items with so many hits; numbers or arrays."""
    return {"precision": hits / counted, "recall": hits / size, "f1": 2 * hits / (counted + size)}


def f1_of_means(rows, by):
    """The harmonic mean of the mean precision and recall, from `estimates` rows: rows of their own, without interval."""
    import pandas as pd

    wide = rows.pivot(index=by, columns="metric", values="value").reindex(
        columns=["precision", "recall"]
    )
    value = stats.harmonic(wide["precision"], wide["recall"])
    return pd.DataFrame(
        {"metric": "f1 of means", "value": value.fillna(0).where(wide.notna().all(axis=1))}
    ).reset_index()


def overlaps(graded, terms):
    """Base against specified list of each patient (section 3.6): item, model, regime, overlap, by_meaning.

    overlap: intersection over union of the normal texts. by_meaning: an item that was matched to a term of the
    vocabulary is that term. NaN where one of the lists is none.
    """
    import pandas as pd

    def sets(r):
        if r.match != "graded":
            return None, None
        found = one_to_one(r.pairs)
        return (
            {normal(t) for t in r.terms},
            {terms[f] if f >= 0 else normal(t) for t, f in zip(r.terms, found)},
        )

    of = {(r.item, r.model, r.regime, r.profile): sets(r) for r in graded.itertuples()}
    rows = []
    for item, model, regime in dict.fromkeys(k[:3] for k in of):
        (a, b), (x, y) = of[item, model, regime, "base"], of[item, model, regime, "specified"]
        rows.append(
            (
                item,
                model,
                regime,
                *(
                    len(p & q) / len(p | q) if p and q else float("nan")
                    for p, q in ((a, x), (b, y))
                ),
            )
        )
    return pd.DataFrame(rows, columns=["item", "model", "regime", "overlap", "by_meaning"])


def strata(graded, reference):
    """Recall of each scored list in each cell of onset and frequency that its site has: KEYS, onset, frequency, size, hits, recall.

    Lists without a score have NaN recalls.
    """
    import pandas as pd

    cells = {
        site: {c: set(p["effect"]) for c, p in part.groupby(["onset", "frequency"])}
        for site, part in reference.groupby("site")
    }
    rows = []
    for r in graded.itertuples():
        for cell in CELLS:
            if effects := cells[r.site].get(cell):
                hits = float("nan") if r.found is None else len(effects & r.found)
                rows.append(
                    (
                        r.item,
                        r.model,
                        r.regime,
                        r.profile,
                        *cell,
                        len(effects),
                        hits,
                        hits / len(effects),
                    )
                )
    return pd.DataFrame(rows, columns=[*KEYS, "onset", "frequency", "size", "hits", "recall"])


def recall_by(found, by):
    """Recall of each list by onset or frequency, long: KEYS, `by`, recall and pooled.

    recall is the mean over the levels of the other one, as the tables' captions have it; pooled counts effects alike.
    """
    groups = found.groupby([*KEYS, by], sort=False)
    made = groups["recall"].mean().to_frame()
    made["pooled"] = groups["hits"].sum(min_count=1) / groups["size"].sum()
    return made.reset_index()


def levels(found, by, run):
    """`estimates` of recall by model and level of onset or frequency, in the order of the levels, and the pooled ones."""
    import pandas as pd

    rows = estimates(recall_by(found, by), ["recall", "pooled"], ["model", by], run)
    order = ONSETS if by == "onset" else FREQUENCIES
    return rows.sort_values(
        by, key=lambda s: pd.Categorical(s, order), kind="stable", ignore_index=True
    )


def prefixes(matches, reference, terms, most=MOST):
    """What the first k items of each list give, k = 1 to `most`: KEYS, k, precision, recall; a shorter list keeps its scores."""
    import pandas as pd

    mine, rows = _of_site(reference, terms), []
    for r in matches[matches["match"] == "graded"].itertuples():
        size = int(mine[r.site].sum())
        for k in range(1, most + 1):
            if k <= len(r.terms):
                got = rates(int((one_to_one(r.pairs[:k] * mine[r.site]) >= 0).sum()), k, size)
            rows.append(
                (
                    r.item,
                    r.model,
                    r.regime,
                    r.profile,
                    k,
                    len(r.terms),
                    got["precision"],
                    got["recall"],
                )
            )
    return pd.DataFrame(rows, columns=[*KEYS, "k", "listed", "precision", "recall"])


CHANGES = {
    "gained, of those it should gain, %": (True, False, True),
    "gained, of those it should not, %": (False, False, True),
    "lost, of those it should lose, %": (False, True, False),
    "lost, of those it should keep, %": (True, True, False),
}


def specificity(graded, reference, terms, run):
    """Does naming the site change the list in the right direction? Shares by model and regime, in percent: table rows.

    For each effect of the vocabulary: does it belong to the patient's site, was it on the base list, is it on the
    specified one? Effects that belong and are missing should be gained, those that don't and are there should be lost;
    the shares of the wrong changes stand beside them. Intervals over patients; n counts effects.
    """
    import pandas as pd

    mine, rows, lost = _of_site(reference, terms), [], {}
    for (item, model, regime), part in graded.groupby(["item", "model", "regime"], sort=False):
        lost.setdefault((model, regime), 0)
        if (part["match"] != "graded").any():
            lost[model, regime] += 1
            continue
        on = {
            r.profile: {terms[i] for i in one_to_one(r.pairs) if i >= 0} for r in part.itertuples()
        }
        rows += [
            (item, model, regime, belongs, t in on["base"], t in on["specified"])
            for t, belongs in zip(terms, mine[part["site"].iloc[0]])
        ]
    every = pd.DataFrame(rows, columns=["item", "model", "regime", "belongs", "base", "specified"])
    made = []
    for (model, regime), count in lost.items():
        part = every[(every["model"] == model) & (every["regime"] == regime)]
        for name, (belongs, base, then) in CHANGES.items():
            cases = part[(part["belongs"] == belongs) & (part["base"] == base)]
            row = {
                "row": f"{model}, {regime}",
                "column": name,
                "source": "run",
                "n": len(cases),
                "unscored": count,
            }
            if len(cases):
                i = stats.bootstrap(
                    100.0 * (cases["specified"] == then).to_numpy(),
                    run.rng(name, model, regime),
                    units=cases["item"].to_numpy(),
                )
                row |= {"value": i.value, "low": i.low, "high": i.high}
            made.append(row)
    return pd.DataFrame(made).reindex(columns=COLUMNS)


def health(lists, run):
    """What the lists are like, list by list: KEYS and the numbers to be averaged, NaN where there is no list.

    items: different ones. repeated: entries that stood there before. sized: whether it has 20 to 30 items. elsewhere:
    share of items that belong to another part of the body. off: share that is no term of the vocabulary, word for word.
    """
    known = {normal(t) for t in vocabulary(run)}
    words = sorted({normal(w) for ws in run.load("radiation_elsewhere")["words"] for w in ws})
    other = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b")
    made = lists[[*KEYS, "truncated"]].assign(none=lists["status"] != "listed")
    there = lists[lists["status"] == "listed"]
    named = there["terms"].map(lambda terms: [normal(t) for t in terms])
    made["items"], made["repeated"] = there["terms"].map(len), there["repeated"]
    made["sized"] = made["items"].dropna().between(LEAST, MOST).astype(float)
    made["elsewhere"] = named.map(lambda ts: sum(bool(other.search(t)) for t in ts) / len(ts))
    made["off"] = named.map(lambda ts: sum(t not in known for t in ts) / len(ts))
    return made
