"""MedHalu: what notebooks, judged items and seminar set up alike: items, notes, detections."""

import pandas as pd

from bedside import BedsideError

from . import building, detection
from .data import bundled, liveqa_train, released
from .labels import annotations, files

ONE_CLASS = "A base set with answers of one class only has no macro scores. "
QUESTIONS = {
    "sample": "The questions are this project's, in the manner of the three sets. ",
    "public": "",
}
ANSWERS = {
    "sample": "Answers written for this project, labels their authors'. ",
    "public": "Answers by request to a model, labels what was asked for, unchecked. ",
}
REASONS = {
    "sample": "Answers and reasons written for this project, labels their authors'. ",
    "public": (
        "Answers by request to a model, labels unchecked; the beginning of the expert's own answer"
        " stands in for a reason. "
    ),
}


def origin(said, run, which="built", items=None):
    """A caption's sentence on whose the texts are, of QUESTIONS, ANSWERS or REASONS.

    which, items: as of `benchmark`; what items can't give is said too.
    """
    whose = said[run.profile] if which == "built" else "MedHalu's answers and labels. "
    if items is None:
        return whose
    if items.empty:
        return whose + "No items: every answer that was asked for failed. "
    one = (items.groupby("dataset")["hallucinated"].nunique() < 2).any()
    return whose + (ONE_CLASS if one else "")


def origin_of_lengths(run):
    """QUESTIONS' sentence, and one on LiveQA where the paper's own set isn't to be had."""
    if run.profile == "sample" or liveqa_train(run) is not None:
        return origin(QUESTIONS, run)
    return origin(QUESTIONS, run) + "LiveQA: its test set, which is not the paper's. "


def over(people=()):
    """A caption's sentence on what intervals draw; people: labels, whose raters stay the same."""
    raters = people["repeat"].nunique() if len(people) else 0
    more = f"; people's are about these {raters} raters, not about others" if raters else ""
    return f"Intervals over questions{more}. "


def chosen(run, which, size, whole=False):
    """The items of `benchmark` before any is built; whole: whatever LIMIT is."""
    if which == "medhalu":
        return released(run, whole)
    if which != "built":
        raise BedsideError(f"benchmark={which!r}: built or medhalu")
    return bundled(run, whole) if run.profile == "sample" else building.chosen(run, size, whole)


async def benchmark(run, which, size, generator, max_tokens):
    """The items that are judged: JUDGED and hallucinated; spans are None where nobody marked any.

    which: "built" (in `sample` the bundled answers, in `public` generated ones, without those
    that gave none) or "medhalu" (the released benchmark, a file of your own).
    """
    items = chosen(run, which, size)
    if "answer" not in items:
        made = await building.build(run, items, generator, max_tokens)
        came = made[made["status"] == "graded"].drop(columns=["status", "truncated", "why"])
        items = came.assign(spans=None, reason="")
    return items.assign(hallucinated=items["type"] != "none").reset_index(drop=True)


async def notes(run, items, which, size, generator, max_tokens):
    """`detection.notes` of a benchmark's items: drawn among all items, whatever LIMIT is.

    Of items beyond LIMIT those are left out that are known to have no answer.
    """
    every, here = chosen(run, which, size, whole=True), items["item"].tolist()
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


async def detect_noted(run, items, notes, max_tokens, repeats):
    """Every model's detections with each note of `detection.notes`: {condition: frame}."""
    return {
        name: await detection.detect(run, items, max_tokens, repeats, texts, name)
        for name, texts in notes.items()
    }


async def replayed(plain, run):
    """Items, people's labels, notes and detections of notebooks 02 (`plain`) and 03 (`run`).

    Detections are {condition of NOTES: frame}; without a note there are notebook 02's repeats.
    """
    p = run.settings
    made = [p[name] for name in ("benchmark", "size", "generator", "generated_tokens")]
    items = await benchmark(run, *made)
    labels, given = annotations(run, items), await notes(run, items, *made)
    found = {"": await detection.detect(plain, items, p["max_tokens"], plain.settings["repeats"])}
    found |= await detect_noted(run, items, given, p["max_tokens"], p["repeats"])
    return items, labels, given, found
