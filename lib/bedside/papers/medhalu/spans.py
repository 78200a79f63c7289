"""MedHalu: detected against labelled spans, by place, distance and token (sections 3.3, 4.1)."""

import re

import pandas as pd

from .data import units

TOKEN_SCORES = ["token precision", "token recall", "token F1"]
COMPARED = [
    *("evaluator", "source", "item", "unit", "dataset", "span", "distance", "or_empty"),
    *TOKEN_SCORES,
]


def locate(span, answer, least=80):
    """Where a span stands in an answer: (start, end, how), or None.

    how is "exact" (but for case, spacing and punctuation) or "aligned": the stretch of the answer
    that is most like it (rapidfuzz's partial ratio, at least `least` of 100; a span longer than
    the answer can't be aligned).
    """
    from rapidfuzz import fuzz

    if found := re.search(r"\W+".join(map(re.escape, re.findall(r"\w+", span))), answer, re.I):
        return (*found.span(), "exact")
    if len(span) > len(answer):
        return None
    near = fuzz.partial_ratio_alignment(span.lower(), answer.lower(), score_cutoff=least)
    return (near.dest_start, near.dest_end, "aligned") if near else None


def located(spans, answer):
    """Where those spans stand that are in the answer."""
    return [place for span in spans if (place := locate(span, answer))]


def tokens(answer, places):
    """Numbers of an answer's words that lie, at least in part, in a place (start, end)."""
    return {
        i
        for i, w in enumerate(re.finditer(r"\w+", answer))
        if any(w.start() < p[1] and p[0] < w.end() for p in places)
    }


def token_scores(answer, right, found):
    """Precision, recall and F1 of detected words against labelled ones, both lists of spans.

    A detected span that is not in the answer counts with all its words as wrong. Nothing
    detected: all 0.
    """
    labelled = tokens(answer, located(right, answer))
    detected = tokens(answer, located(found, answer))
    strange = [span for span in found if not locate(span, answer)]
    size = len(detected) + sum(len(re.findall(r"\w+", span)) for span in strange)
    hits = len(labelled & detected)
    return {
        "token precision": hits / size if size else 0.0,
        "token recall": hits / len(labelled),
        "token F1": 2 * hits / (size + len(labelled)),
    }


def distances(right, found):
    """Each labelled span's smallest edit distance, in characters, to a detected one (section 3.3).

    NaN if none was detected.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    if not found:
        return [float("nan")] * len(right)
    return cdist(right, found, scorer=Levenshtein.distance).min(1).tolist()


def compared(judged, items, right):
    """Detected against labelled spans, reply by reply and span by span: COMPARED.

    right: {item: spans}. or_empty: the distance, or the span's length if nothing was detected
    (the edit distance to no text). Replies that can't be read are left out.
    """
    known, rows = items.set_index("item").assign(unit=units(items)), []
    for r in judged[(judged["status"] == "graded") & judged["item"].isin(right)].itertuples():
        who = (r.evaluator, r.source, r.item, *known.loc[r.item, ["unit", "dataset"]])
        words = token_scores(known.at[r.item, "answer"], right[r.item], r.spans)
        for span, distance in zip(right[r.item], distances(right[r.item], r.spans)):
            or_empty = len(span) if distance != distance else distance
            rows.append((*who, span, distance, or_empty, *words.values()))
    frame = pd.DataFrame(rows, columns=COMPARED)
    return frame.sort_values("dataset", kind="stable", ignore_index=True)


def whole(items):
    """A detector that marks every answer whole, for scale: rows as detections have them."""
    return items[["item"]].assign(
        evaluator="the whole answer marked",
        repeat=0,
        source="run",
        status="graded",
        yes=1.0,
        spans=items["answer"].map(lambda answer: [answer]),
    )
