"""MedHalu: from items to answers, notes and detections, and what of them is kept."""

import pandas as pd

from bedside import choose
from bedside.asking.models import ask
from bedside.read.checks import joined

from . import building, detection
from .data import TYPES, bundled, released, units
from .labels import SAYS, files
from .spans import located


def chosen(run, which, size, whole=False):
    """The items of `benchmark` before any answer is built; whole: regardless of LIMIT."""
    if choose(which, ("built", "medhalu"), "benchmark") == "medhalu":
        return released(run, whole)
    return bundled(run, whole) if run.profile == "sample" else building.chosen(run, size, whole)


async def benchmark(run, which, size, generator):
    """The items whose answers are detected: JUDGED and hallucinated; spans: None if unmarked.

    which: "built" (in `sample` the bundled answers, in `public` generated ones, without requests
    that brought no answer) or "medhalu" (the released benchmark, from your own copy). size: of the
    pairs of each base set that are built, as in `building.chosen`.
    """
    items = chosen(run, which, size)
    if "answer" not in items:
        built = await building.build(run, items, generator)
        built = built[built["status"] == "graded"].drop(columns=["status", "truncated", "why"])
        items = built.assign(spans=None, reason="")
    return items.assign(hallucinated=items["type"] != "none").reset_index(drop=True)


async def notes(run, items, which, size, generator):
    """`detection.notes` of a benchmark's items, drawn from all items regardless of LIMIT.

    Items beyond LIMIT that are known to have no answer are left out.
    """
    every, here = chosen(run, which, size, whole=True), items["item"].tolist()
    unknown = False  # whether a batch is to bring some of the items that are drawn among
    if "answer" not in every:
        unknown = run.waits(building.requests(run, every, generator))
        beyond = every[run.limit or len(every) :]
        known = [r for r in building.requests(run, beyond, generator) if r.key in run.recordings]
        read = building.answers(await ask(known, run.recordings))
        lost = read.loc[read["status"] != "graded", "item"]
        every = every[every["item"].isin({*here, *beyond["item"]} - {*lost})].assign(reason="")
    found = detection.notes(every, pd.concat(files(run).values(), ignore_index=True))
    if unknown:
        found |= {detection.EXPERT: {}, detection.OTHER: {}}
    return {name: {i: texts[i] for i in here if i in texts} for name, texts in found.items()}


# ---- for `Run.keep`

LABEL, AGAINST = "label of the answer", "held against the label"  # as judges
YES = {1.0: "yes", 0.0: "no"}  # it holds a hallucination
READ = "dataset type hallucinated repeat labelled detected".split()  # for readers of the CSV


def kept_answers(run, items, labels, generator):
    """The answers themselves, which raters label; the verdict is what the writer was asked for."""
    writer = right = ("written answer", "written")  # names, and by whom
    if run.profile == "public":  # a model's hallucinated answers are written for the benchmark, too
        writer, right = (generator, "written"), ("expert answer", "person")
    who = [writer if wrong else right for wrong in items["hallucinated"]]
    made = _judged(items.assign(spans=None), items, labels, {})
    return made.assign(
        model=[name for name, _ in who],
        by=[by for _, by in who],
        configuration="answer",
        judge=LABEL,
        status="graded",
        value=made["hallucinated"].astype(float).map(YES),
        right=~made["hallucinated"],
        reply=made["answer"],
    )


def kept(items, labels, detected, condition="", notes=None):
    """Models' detections held against the labels: a row for each.

    condition: of detection.NOTES; notes: its {item: text}.
    """
    detected = detected.rename(columns={"why": "failed", "raw": "reply"})
    made = _held(detected, items, labels, labels)
    name = condition.strip(", ") or "no note"
    return made.assign(
        model=made["evaluator"].str.removesuffix(condition),
        configuration=[f"{name}, repeat {k + 1}" for k in made["repeat"]],
        note=made["item"].map(notes) if notes else "",
        by="model",
    )


def kept_readings(items, labels):
    """People's readings held against the labels, as rows that can be set beside models'."""
    readings = labels.rename(columns={"type": "marked_as", "reason": "reply"})
    made = _held(readings, items, labels.head(0), labels)
    return made.assign(
        model=made["group"] + ": " + made["repeat"].astype(str),
        configuration="no note, repeat 1",
        reply=made["reply"].where(made["reply"] != "", made["yes"].map(SAYS)),
        by="person",
        **{"note": "", "sent": "", "truncated": False},
    )


def _held(rows, items, people, labels):
    """Readings of items with the items' other columns; a reading is right if the label says so too.

    people: labels that are shown beside the answer. labels: those with labelled spans.
    """
    both = [c for c in items if c in rows and c != "item"]
    rows = joined(rows, items.drop(columns=both), validate="many_to_one", whole="left")
    made = _judged(rows, items, people, detection.right_spans(items, labels))
    truth = made["hallucinated"].astype(float)
    return made.assign(judge=AGAINST, value=made["yes"].map(YES), right=made["yes"] == truth)


def _judged(frame, items, labels, right):
    """Rows on items with people's labels, the unit, and the places of labelled and detected spans.

    right: the labelled spans, {item: texts}.
    """
    people = {
        item: [(f"{r.group}: {r.repeat}", SAYS[r.yes], r.type, r.reason) for r in part.itertuples()]
        for item, part in labels.groupby("item")
    }
    marks = [located(right.get(r.item, []), r.answer, marked=True) for r in frame.itertuples()]
    spans = [located(r.spans or [], r.answer) for r in frame.itertuples()]
    return frame.assign(
        unit=frame["item"].map(units(items)),
        people=[people.get(item, []) for item in frame["item"]],
        why=(frame["type"].map(TYPES) + ". " + frame["reason"]).str.strip(),
        named=frame["type"].map(TYPES),
        labelled_spans=marks,
        labelled=[_places(m) for m in marks],
        detected_spans=spans,
        detected=[_places(m) for m in spans],
    )


def _places(spans):
    return " ".join(f"{start}-{end}" for start, end, *_ in spans)
