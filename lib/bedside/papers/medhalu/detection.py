"""MedHalu: models' detections with spans (section 3), and an expert's notes (section 5).

Frames are long: `evaluator` is a model or a group of people, `repeat` a sample of a model or a
person. `yes` means that the answer is said to hold a hallucination.
"""

import re

import pandas as pd

from bedside import judges
from bedside.checks import normal
from bedside.models import requests_to, response_format

from .data import TEMPERATURE

DETECTED = [
    *("item", "evaluator", "repeat", "source", "status", "yes", "spans"),
    *("truncated", "raw", "why", "sent"),
]
DETECTION = response_format(
    "detection",
    verdict={"type": "string", "enum": ["Yes", "No"]},
    spans={"type": "array", "items": {"type": "string"}, "maxItems": 3},
)
BULLET = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+")
FIRST = re.compile(
    r"\W*(?:(?:judge?ment|verdict|answer)\W+)?(yes|no)\b"
    r"(?=\W*$|[*_]*[.,:;!–—(-]|\s+(?:halluc|non-?fact|conflict))",
    re.I,
)
QUOTES = "\"'“”‘’*_ "


def parse_detection(text):
    """(yes, spans) that a detector's reply states, or None.

    JSON with `verdict` and `spans`, or the paper's form. The paper's form (Table 5) is Yes or No,
    alone or with a mark after it, as the first line, then bullets. JSON cut short keeps its whole
    spans; the last stated verdict wins. Yes and No in prose never count.
    """
    stated = judges.parse(text, ["Yes", "No"], "verdict")
    if (spans := judges.strings(text, "spans")) is None:
        lines = [line for line in text.splitlines() if line.strip()]
        if lines and stated is None and (first := FIRST.match(lines[0])):
            stated = first[1]
        spans = [BULLET.sub("", line) for line in lines[1:] if BULLET.match(line)]
    if not stated:
        return None
    plain = [span.strip().strip(QUOTES) for span in spans]
    return stated.lower() == "yes", tuple(dict.fromkeys(s for s in plain if re.search(r"\w", s)))


async def detect(run, items, max_tokens, repeats, notes=None, name=""):
    """Every model's detections (section 3.1), `repeats` samples each at 0.7: DETECTED.

    notes: {item: text} for the prompt with an expert's note (section 5); items without one are
    left out. name: is added to the evaluator. yes is NaN and spans empty where the reply can't be
    read; why says why it holds no text, if it doesn't; sent is the key of the request.
    """
    if notes is None:
        prompts = run.prompts_for("detect", items, ["question", "answer"])
    else:
        noted = items[items["item"].isin(list(notes))]
        noted = noted.assign(reason=noted["item"].map(notes))
        prompts = run.prompts_for("detect_reason", noted, ["question", "answer", "reason"])
    requests = requests_to(
        run,
        prompts,
        max_tokens,
        temperature=TEMPERATURE,
        repeats=repeats,
        response_format=DETECTION,
    )
    replies = await run.ask(requests, f"detections{name}")
    rows = [
        detected(request, reply, name) for request, reply in zip(requests, replies, strict=True)
    ]
    return pd.DataFrame(rows, columns=DETECTED)


def detected(request, reply, name):
    """A reply as a row of DETECTED."""
    v = judges.read(reply, parse_detection)
    yes, spans = v.value or (float("nan"), ())
    said = (v.status, float(yes), list(spans), reply.truncated, v.raw, reply.why, reply.key)
    return (v.item, reply.model + name, request.repeat, "run", *said)


def right_spans(items, labels):
    """{item: spans that count as right}: the items' own, or else what experts marked.

    Each expert's span counts, as in section 4.1. Items without any are left out.
    """
    experts = labels[(labels["group"] == "expert") & (labels["yes"] == 1)]
    given = experts.groupby("item")["spans"].sum()
    found = {
        r.item: r.spans if isinstance(r.spans, list) else given.get(r.item, [])
        for r in items.itertuples()
    }
    return {item: list(dict.fromkeys(spans)) for item, spans in found.items() if spans}


# ---- an expert's reason, and controls

NOTES = {
    "": "no note",
    ", expert's note": "the expert's note",
    ", other item's note": "a note of the same length on another item",
    ", topic only": "a note that names the topic only",
}
EXPERT, OTHER, TOPIC = list(NOTES)[1:]


def notes(items, labels):
    """An expert's reason and two controls for section 5's prompt: {name in NOTES: {item: text}}.

    Where an item has no reason of its own, an expert's from the labels counts. Items without any
    have no such note; only if no item has one, the beginning of each expert answer stands in. The
    other item's note is the one of another topic that is nearest in length.
    """
    experts = labels[(labels["group"] == "expert") & (labels["reason"] != "")]
    given = experts.groupby("item")["reason"].first()
    reasons = {r.item: r.reason or given.get(r.item, "") for r in items.itertuples()}
    own = {item: text for item, text in reasons.items() if text} or stand_ins(items)
    topic, others = items.set_index("item")["topic"].to_dict(), {}
    for item, text in own.items():
        strange = [t for other, t in own.items() if normal(topic[other]) != normal(topic[item])]
        if strange:
            others[item] = nearest_in_length(text, strange)
    return {EXPERT: own, OTHER: others, TOPIC: {i: f"This is about {t}." for i, t in topic.items()}}


def nearest_in_length(text, others):
    """Of other texts the one whose number of words is nearest to this one's."""
    size = len(text.split())
    return min(others, key=lambda other: abs(len(other.split()) - size))


def stand_ins(items):
    """{item: the beginning of the expert's answer}, for items that nobody gave a reason for."""
    return {
        r.item: "What a reliable source says: " + " ".join(r.expert_answer.split()[:30])
        for r in items.itertuples()
        if r.expert_answer
    }


def noted_where_hallucinated(judged, items, models):
    """The paper's setting, from the same replies: notes beside hallucinated answers only."""
    hallucinated = judged["item"].isin(items.loc[items["hallucinated"], "item"])
    noted = judged["evaluator"].isin([m + EXPERT for m in models])
    plain = judged["evaluator"].isin(models)
    part = judged[(noted & hallucinated) | (plain & ~hallucinated)]
    name = part["evaluator"].str.removesuffix(EXPERT) + ", note where hallucinated"
    return part.assign(evaluator=name)


def turned(judged, items, model, texts):
    """Items that a note on the topic only turned from no to yes: question, answer, type, note."""
    wide = judged.groupby(["item", "evaluator"])["yes"].mean().unstack()
    wide = wide.reindex(columns=[model, model + TOPIC])
    found = wide.index[(wide[model] < 0.5) & (wide[model + TOPIC] > 0.5)]
    rows = items.set_index("item").loc[found, ["question", "answer", "type"]]
    return rows.assign(note=rows.index.map(texts))
