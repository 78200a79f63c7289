"""MedHalu: detections with spans by models (section 3) and people (section 2.3), and notes for the expert in the loop (section 5).

Frames are long: `evaluator` is a model or a group of people, `repeat` a sample of a model or a person. `yes` means that
the answer is said to hold a hallucination.
"""

import re

from bedside import BedsideError, judges, paths, sources
from bedside.checks import normal
from bedside.models import requests_to, response_format
from bedside.papers.medhalu.data import TEMPERATURE, TYPES

JUDGED = ["item", "evaluator", "repeat", "source", "status", "yes", "spans"]
DETECTION = response_format(
    "detection",
    verdict={"type": "string", "enum": ["Yes", "No"]},
    spans={"type": "array", "items": {"type": "string"}, "maxItems": 3},
)
BULLET = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+")
FIRST = re.compile(
    r"\W*(?:(?:judge?ment|verdict|answer)\W+)?(yes|no)\b(?=\W*$|[*_]*[.,:;!–—(-]|\s+(?:halluc|non-?fact|conflict))",
    re.I,
)


def parse_detection(text):
    """(yes, spans) that a detector's reply states, or None: JSON with `verdict` and `spans`, or the paper's form.

    The paper's form (Table 5) is Yes or No, alone or with a mark after it, as the first line, then bullets. JSON cut
    short keeps its whole spans; the last stated verdict wins. Yes and No in prose never count.
    """
    stated = judges.parse(text, ["Yes", "No"], "verdict")
    if (spans := judges.strings(text, "spans")) is None:
        lines = [line for line in text.splitlines() if line.strip()]
        first = FIRST.match(lines[0]) if lines and stated is None else None
        stated = stated or (first and first[1])
        spans = [BULLET.sub("", line) for line in lines[1:] if BULLET.match(line)]
    spans = [s for raw in spans if (s := raw.strip().strip("\"'“”‘’*_ ")) and re.search(r"\w", s)]
    return (stated.lower() == "yes", tuple(dict.fromkeys(spans))) if stated else None


async def detect(run, items, max_tokens, repeats, reasons=None, name=""):
    """Every model's detections (section 3.1), `repeats` samples each at 0.7: item, evaluator, repeat, status, yes, spans, truncated.

    reasons: {item: text} for the prompt with an expert's note (section 5); items without one are left out. name: is
    added to the evaluator. yes is NaN and spans empty where the reply can't be read.
    """
    import pandas as pd

    prompts = {
        r.item: (
            run.prompt("detect", question=r.question, answer=r.answer)
            if reasons is None
            else run.prompt(
                "detect_reason", question=r.question, answer=r.answer, reason=reasons[r.item]
            )
        )
        for r in items.itertuples()
        if reasons is None or r.item in reasons
    }
    requests = requests_to(
        run,
        prompts,
        max_tokens,
        temperature=TEMPERATURE,
        repeats=repeats,
        response_format=DETECTION,
    )
    rows = []
    for request, reply in zip(requests, await run.ask(requests, f"detections {name}".strip())):
        v = judges.read(reply, parse_detection)
        yes, spans = v.value or (float("nan"), ())
        rows.append(
            (
                v.item,
                reply.model + name,
                request.repeat,
                "run",
                v.status,
                float(yes),
                list(spans),
                reply.truncated,
                v.raw,
            )
        )
    return pd.DataFrame(rows, columns=[*JUDGED, "truncated", "raw"])


def annotations(run, items):
    """People's labels for `items` (section 2.3) from the files that are there: JUDGED, group, type, reason; one row a label.

    Raises BedsideError naming file, line and item for anything that isn't a label: an unknown item, two labels of a
    rater for an item, an answer other than yes or no, a type or spans without yes, yes without either, a span that is
    not in the answer. Labels of the other profile's items are left out.
    """
    import pandas as pd

    names = [n for n in ("medhalu_annotations_sample", "medhalu_annotations") if sources.here(n)]
    answers, sample = (
        items.set_index("item")["answer"],
        set(run.load("medhalu_answers_sample")["item"]),
    )
    parts = []
    for name in names:
        frame = read_labels(run.load(name))
        for number, r in enumerate(frame.itertuples(), 1):
            if why := fault(r, answers.get(r.item), run, sample):
                raise BedsideError(
                    f"{paths.rel(sources.where(name)[1])}, label {number} (item {r.item!r}, rater"
                    f" {r.rater!r}): {why}"
                )
        if (twice := frame[frame.duplicated(["item", "rater"])]).size:
            raise BedsideError(
                f"{paths.rel(sources.where(name)[1])}: rater {twice['rater'].iloc[0]!r} labels item"
                f" {twice['item'].iloc[0]!r} twice; keep one"
            )
        parts.append(frame[frame["item"].isin(answers.index)])
    every = pd.concat(parts, ignore_index=True)
    return every.assign(
        evaluator="people: " + every["group"], repeat=every["rater"], source="run", status="graded"
    )[[*JUDGED, "group", "type", "reason"]]


def read_labels(rows):
    """Labels as raters write them, with spans as lists, `hallucinated` in lower case and `yes`, 1 or 0."""
    said = rows["hallucinated"].str.strip().str.lower()
    return rows.assign(
        spans=rows["spans"].map(
            lambda s: [line.strip() for line in s.splitlines() if line.strip()]
        ),
        hallucinated=said,
        yes=(said == "yes").astype(float),
    )


def fault(r, answer, run, sample):
    """What is wrong with a label, or nothing."""
    kinds = ", ".join(list(TYPES)[1:])
    if not (r.item and r.rater and r.group):
        return "item, rater and group must be given"
    if r.hallucinated not in ("yes", "no"):
        return f"hallucinated is {r.hallucinated!r}; write yes or no"
    if r.hallucinated == "no" and (r.type or r.spans):
        return "it says no, but has a type or spans; empty them or write yes"
    if r.hallucinated == "yes" and (r.type not in TYPES or r.type == "none" or not r.spans):
        return f"it says yes and needs a type ({kinds}) and at least one span"
    if answer is None:
        known = (
            r.item in sample
            or run.limit
            or re.match(r"(healthqa|liveqa|medicationqa|medhalu)-", r.item)
        )
        return (
            ""
            if known
            else (
                "no such item; items are those of data/sample/medhalu/answers.jsonl or of the built"
                " benchmark"
            )
        )
    missing = [s for s in r.spans if " ".join(s.split()) not in " ".join(answer.split())]
    return f"the span {missing[0]!r} is not in the answer; copy it from there" if missing else ""


def marked(items, labels):
    """{item: spans that count as right}: the items' own, or where they have none what experts marked; items without any are left out.

    Each expert's span counts, as in section 4.1.
    """
    experts = (
        labels[(labels["group"] == "expert") & (labels["yes"] == 1)].groupby("item")["spans"].sum()
    )
    own = items.set_index("item")["spans"]
    return {
        i: list(dict.fromkeys(s))
        for i in items["item"]
        for s in [own[i] if isinstance(own[i], list) else experts.get(i, [])]
        if s
    }


# ---- an expert's reason, and controls

NOTES = {
    "": "no note",
    ", expert's note": "the expert's note",
    ", other item's note": "a note of the same length on another item",
    ", topic only": "a note that names the topic only",
}


def notes(items, labels):
    """Notes for the prompt of section 5, {condition of NOTES: {item: text}}: the expert's reason and the two controls.

    Where an item has no reason of its own, an expert's from the labels counts. Items without any have no such note; only
    if no item has one, the beginning of each expert answer stands in. The other item's note is the one of another topic
    that is nearest in length.
    """
    given = (
        labels[(labels["group"] == "expert") & (labels["reason"] != "")]
        .groupby("item")["reason"]
        .first()
    )
    own = {
        r.item: text for r in items.itertuples() if (text := r.reason or given.get(r.item, ""))
    } or {
        r.item: "What a reliable source says: " + " ".join(r.expert_answer.split()[:30])
        for r in items.itertuples()
        if r.expert_answer
    }
    topic, others = items.set_index("item")["topic"].to_dict(), {}
    for i, text in own.items():
        strange = [t for j, t in own.items() if normal(topic[j]) != normal(topic[i])]
        if strange:
            others[i] = min(strange, key=lambda t: abs(len(t.split()) - len(text.split())))
    return {
        ", expert's note": own,
        ", other item's note": others,
        ", topic only": {i: f"This is about {t}." for i, t in topic.items()},
    }
