"""MedHalu: detected and labelled spans compared by place, distance, token (sections 3.3, 4.1)."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from bedside.read.checks import complete

from .data import PEOPLE, units

TOKEN_SCORES = ["token precision", "token recall", "token F1"]
COMPARED = [
    *("evaluator", "item", "unit", "dataset", "span", "distance", "or_empty"),
    *TOKEN_SCORES,
]
EXPERTS = f"{PEOPLE}expert"
NAN = float("nan")

UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")  # scripts
LEAST_RATIO = 80  # of 100
DECIMAL = re.compile(r"(?<=\d)(?=[.,]\d)|(?<=\d[.,])(?=\d)")


def locate(span: str, answer: str, marked: bool = False) -> tuple[int, int, str] | None:
    """The place of a span in an answer: (start, end, how), or None.

    how is "exact" (the same whole words, apart from case, spacing and punctuation) or "aligned":
    the words of the most similar stretch of the answer (rapidfuzz's partial ratio, at least
    LEAST_RATIO). Only a span of several words can be aligned: a short word is similar to part of
    many others; a span longer than the answer can't. marked: the span was marked in this very
    answer, so it may be part of a word where it is nowhere a word.
    """
    from rapidfuzz import fuzz

    text = r"\W+".join(map(re.escape, re.findall(r"\w+", span)))
    same = [m.span(1) for m in re.finditer(f"(?=({text}))", answer, re.I)] if text else []
    ends = _inside_word, DECIMAL.match  # 5 mg isn't in 2.5 mg
    whole = [p for p in same if not any(cut(answer, at) for at in p for cut in ends)]
    if whole or (marked and same):
        return (*(whole or same)[0], "exact")
    starts = [at for at, c in enumerate(span) if c.isalnum() and not _inside_word(span, at)]
    if len(starts) < 2 or len(span) > len(answer):
        return None
    near = fuzz.partial_ratio_alignment(span.lower(), answer.lower(), score_cutoff=LEAST_RATIO)
    if not near:
        return None
    start, end = near.dest_start, near.dest_end
    while _inside_word(answer, start):
        start -= 1
    while _inside_word(answer, end):
        end += 1
    return start, end, "aligned"


def _inside_word(text: str, at: int) -> bool:
    """Whether a place in a text is inside a word; hyphens and apostrophes separate words.

    An accent that is a character of its own belongs to its letter. Scripts without spaces between
    words can be cut anywhere.
    """
    return 0 < at < len(text) and all(
        unicodedata.category(c)[0] in "LMN" and not unicodedata.name(c, "").startswith(UNSPACED)
        for c in text[at - 1 : at + 1]
    )


def located(spans, answer, marked=False):
    """The places of those spans that are in the answer; marked: as of `locate`."""
    return [place for span in spans if (place := locate(span, answer, marked=marked))]


def tokens(answer: str, places: Iterable[tuple[int, int]]) -> set[int]:
    """Positions of the answer's words that lie, at least in part, in a place (start, end)."""
    return {
        i
        for i, w in enumerate(re.finditer(r"\w+", answer))
        if any(w.start() < p[1] and p[0] < w.end() for p in places)
    }


def token_scores(answer: str, right: Sequence[str], found: Sequence[str]) -> dict[str, float]:
    """Token precision, recall and F1 of detected against labelled words; both: lists of spans.

    All words of a detected span that is not in the answer count as wrong. If nothing was detected,
    all three are 0.
    """
    labelled = tokens(answer, located(right, answer, marked=True))
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

    NaN if nothing was detected.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    if not found:
        return [float("nan")] * len(right)
    return cdist(right, found, scorer=Levenshtein.distance).min(1).tolist()


def compared(
    judged: pd.DataFrame, items: pd.DataFrame, right: Mapping[str, list[str]]
) -> pd.DataFrame:
    """Detected and labelled spans compared, a row for each reply and labelled span: COMPARED.

    right: {item: spans}. or_empty: the distance, or the span's length if nothing was detected (the
    edit distance to an empty text). Numbers of replies that can't be read are NaN. Experts are left
    out on items whose labelled spans are their own.
    """
    about = complete(items, ["item", "question", "dataset", "answer"])
    known, rows = about.set_index("item").assign(unit=units(items)), []
    judged = complete(judged, ["evaluator", "item", "spans"])
    for r in judged[judged["item"].isin(right)].itertuples():
        at, labelled = known.loc[r.item], right[r.item]
        if r.evaluator == EXPERTS and not isinstance(at["spans"], list):
            continue
        nothing, steps = dict.fromkeys(TOKEN_SCORES, NAN), [NAN] * len(labelled)
        read = r.status == "graded"
        words = token_scores(at["answer"], labelled, r.spans) if read else nothing
        for span, step in zip(labelled, distances(labelled, r.spans) if read else steps):
            or_empty = (len(span) if step != step else step) if read else NAN
            who = (r.evaluator, r.item, at["unit"], at["dataset"], span)
            rows.append((*who, step, or_empty, *words.values()))
    frame = pd.DataFrame(rows, columns=COMPARED)
    return frame.sort_values("dataset", kind="stable", ignore_index=True)


def whole(items: pd.DataFrame) -> pd.DataFrame:
    """A baseline that marks every answer whole: rows as of detections."""
    return items[["item"]].assign(
        evaluator="the whole answer marked",
        repeat=0,
        source="run",
        status="graded",
        yes=1.0,
        spans=items["answer"].map(lambda answer: [answer]),
    )
