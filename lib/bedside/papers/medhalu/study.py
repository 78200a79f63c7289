"""MedHalu: the set-up that notebooks, explorer and seminar share: items, notes, detections."""

import pandas as pd

from bedside import BedsideError

from . import building, detection
from .data import bundled, liveqa_train, released
from .labels import annotations, files

ONE_CLASS = "A base set with one class of answers only has no macro scores. "
QUESTIONS = {
    "sample": "The questions were written for this project, in the style of the three base sets. ",
    "public": "",
}
ANSWERS = {
    "sample": "The answers were written for this project and labelled by their authors. ",
    "public": (
        "A model wrote the hallucinated answers; labels say what it was asked for, unchecked. "
    ),
}
REASONS = {
    "sample": (
        "The answers and reasons were written for this project and labelled by their authors. "
    ),
    "public": (
        "A model wrote the hallucinated answers; labels say what it was asked for, unchecked. The"
        " beginning of the expert's own answer stands in for a reason. "
    ),
}


def origin(said, run, which="built", items=None):
    """A caption's sentence on where the texts come from; said: QUESTIONS, ANSWERS or REASONS.

    which, items: as in `benchmark`; scores that the items can't give are named too.
    """
    whose = said[run.profile] if which == "built" else "The answers and labels are MedHalu's. "
    if items is None:
        return whose
    if items.empty:
        return whose + "No items: every request for an answer failed. "
    one = (items.groupby("dataset")["hallucinated"].nunique() < 2).any()
    return whose + (ONE_CLASS if one else "")


def origin_of_lengths(run):
    """QUESTIONS' sentence, and one on LiveQA where the set that the paper used isn't there."""
    if run.profile == "sample" or liveqa_train(run) is not None:
        return origin(QUESTIONS, run)
    return origin(QUESTIONS, run) + "LiveQA's questions are its test set's, not the paper's. "


def over(people=()):
    """A caption's sentence on the unit of intervals; people: labels of raters, who stay fixed."""
    raters = people["repeat"].nunique() if len(people) else 0
    more = f"; people's hold for these raters only (n = {raters})" if raters else ""
    return f"Confidence intervals are over questions{more}. "


def chosen(run, which, size, limits=building.LIMITS, whole=False):
    """The items of `benchmark` before any answer is built; whole: regardless of LIMIT."""
    if which == "medhalu":
        return released(run, whole)
    if which != "built":
        raise BedsideError(f"benchmark={which!r} is not known: built or medhalu")
    if run.profile == "sample":
        return bundled(run, whole)
    return building.chosen(run, size, limits, whole)


async def benchmark(run, which, size, generator, max_tokens, limits=building.LIMITS):
    """The items whose answers are detected: JUDGED and hallucinated; spans: None if unmarked.

    which: "built" (in `sample` the bundled answers, in `public` generated ones, without requests
    that brought no answer) or "medhalu" (the released benchmark, from your own copy). limits: of
    the pairs that are built, as building.LIMITS.
    """
    items = chosen(run, which, size, limits)
    if "answer" not in items:
        made = await building.build(run, items, generator, max_tokens)
        came = made[made["status"] == "graded"].drop(columns=["status", "truncated", "why"])
        items = came.assign(spans=None, reason="")
    return items.assign(hallucinated=items["type"] != "none").reset_index(drop=True)


async def notes(run, items, which, size, generator, max_tokens, limits=building.LIMITS):
    """`detection.notes` of a benchmark's items, drawn from all items regardless of LIMIT.

    Items beyond LIMIT that are known to have no answer are left out.
    """
    every, here = chosen(run, which, size, limits, whole=True), items["item"].tolist()
    unknown = False  # whether a batch is to bring some of the items that are drawn among
    if "answer" not in every:
        unknown = run.waits(building.requests(run, every, generator, max_tokens))
        beyond = every[run.limit or len(every) :]
        lost = await building.not_built(run, beyond, generator, max_tokens)
        every = every[every["item"].isin({*here, *beyond["item"]} - {*lost})]
        every = every.assign(reason="")
    found = detection.notes(every, pd.concat(files(run).values(), ignore_index=True))
    if unknown:
        found |= {detection.EXPERT: {}, detection.OTHER: {}}
    return {name: {i: texts[i] for i in here if i in texts} for name, texts in found.items()}


async def detect_noted(run, items, notes, max_tokens, repeats, most_spans=detection.MOST_SPANS):
    """Every model's detections with each note of `detection.notes`: {condition: frame}."""
    return {
        name: await detection.detect(run, items, max_tokens, repeats, texts, name, most_spans)
        for name, texts in notes.items()
    }


async def replayed(plain, run):
    """Items, people's labels, notes and detections of notebooks 02 (`plain`) and 03 (`run`).

    Detections are {condition of NOTES: frame}; those without a note are all repeats of notebook 02.
    """
    p = run.settings
    made = [p[name] for name in ("benchmark", "size", "generator", "generated_tokens")]
    made.append(tuple(p[name] for name in ("least_words", "most_words", "liveqa")))
    items = await benchmark(run, *made)
    labels, given = annotations(run, items), await notes(run, items, *made)
    own, noted = (
        {k: each.settings[k] for k in ("max_tokens", "repeats", "most_spans")}
        for each in (plain, run)
    )
    found = {"": await detection.detect(plain, items, **own)}
    found |= await detect_noted(run, items, given, **noted)
    return items, labels, given, found
