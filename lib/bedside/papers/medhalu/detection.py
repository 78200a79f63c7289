"""MedHalu: models' detections with spans (section 3), and an expert's notes (section 5).

Frames are long: `evaluator` is a model or a group of people, `repeat` one sample of a model or one
person. `yes` is 1 if the evaluator says that the answer holds a hallucination.
"""

import re

import pandas as pd

from bedside.asking.models import requests_to
from bedside.asking.replies import response_format
from bedside.judging import parsing
from bedside.read.checks import normal

from .data import TEMPERATURE

DETECTED = [
    *("item", "evaluator", "repeat", "source", "status", "yes", "spans"),
    *("truncated", "raw", "why", "sent"),
]
MOST_SPANS = 3  # that a model may name, against lists without end; 0: any number
BULLET = re.compile(r"^\s*(?:[-*•–]|\d+[.)])\s+")
FIRST = re.compile(
    r"\W*(?:(?:judge?ment|verdict|answer)\W+)?(yes|no)\b"
    r"(?=\W*$|[*_]*[.,:;!–—(-]|\s+(?:halluc|non-?fact|conflict))",
    re.I,
)
QUOTES = "\"'“”‘’*_ "


def parse_detection(text):
    """(yes, spans) as stated in a detector's reply, or None.

    The reply is JSON with `verdict` and `spans`, or has the paper's form (Table 5): Yes or No as
    the first line, alone or with a mark after it, then bullets. Of several marked verdicts the last
    counts; objects that differ state none, nor does a text with another verdict in another form.
    Yes and No in prose never count.
    """
    spans, values = parsing.strings(text, "spans"), ["Yes", "No"]
    if spans is None and len(re.findall(r'"spans"\s*:\s*\[', text)) > 1:
        return None  # lists that differ
    if spans is not None:
        stated = parsing.parse(text, values, "verdict")
    else:
        first, *more = [line for line in text.splitlines() if line.strip()] or [""]
        told, after = [first, *(x for x in more if not BULLET.match(x))], "\n".join(more)
        stated = parsing.parse("\n".join(told), values, "verdict")
        later = parsing.states(after, "verdict") or parsing.other_grades(after, values, "verdict")
        if stated is None and not later and "{" not in first and (found := FIRST.match(first)):
            stated = found[1]
        spans = [BULLET.sub("", line) for line in more if BULLET.match(line)]
    if not stated:
        return None
    plain = [span.strip().strip(QUOTES) for span in spans]
    return stated.lower() == "yes", tuple(dict.fromkeys(s for s in plain if re.search(r"\w", s)))


def form(most_spans):
    """The response format of a detection."""
    spans = {"type": "array", "items": {"type": "string"}}
    return response_format(
        "detection",
        verdict={"type": "string", "enum": ["Yes", "No"]},
        spans=spans | ({"maxItems": most_spans} if most_spans else {}),
    )


async def detect(run, items, max_tokens, repeats, notes=None, name="", most_spans=MOST_SPANS):
    """Every model's detections (section 3.1), `repeats` samples each at 0.7: DETECTED.

    notes: {item: text} for the prompt with an expert's note (section 5); items without a note are
    left out. name is added to the evaluator. If a reply can't be read, or was cut before its JSON
    object was closed, yes is NaN and spans is empty. why says why a reply is no answer; sent is the
    key of the request.
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
        response_format=form(most_spans),
    )
    replies = await run.ask(requests, f"detections{name}")
    rows = [
        detected(request, reply, name) for request, reply in zip(requests, replies, strict=True)
    ]
    return pd.DataFrame(rows, columns=DETECTED)


def detected(request, reply, name):
    """A reply as a row of DETECTED."""
    v = parsing.read(reply, parse_detection)
    yes, spans = v.value or (float("nan"), ())
    said = (v.status, float(yes), list(spans), reply.truncated, reply.text, reply.why, reply.key)
    return (v.item, reply.model + name, request.repeat, "run", *said)


def right_spans(items: pd.DataFrame, labels: pd.DataFrame) -> dict[str, list[str]]:
    """{item: labelled spans}: the item's own, or else those that experts marked.

    The spans of every expert count, as in section 4.1. Items without any are left out.
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

    An item without a reason of its own takes the first of an expert in the labels, whatever was
    decided (the paper doesn't say whose it took). An item without
    either has no such note; only if no item has one does the beginning of each expert answer stand
    in. The other item's note is the one on another topic that is nearest in length.
    """
    experts = labels[(labels["group"] == "expert") & (labels["reason"] != "")]
    given = experts.groupby("item")["reason"].first()
    reasons = {r.item: r.reason or given.get(r.item, "") for r in items.itertuples()}
    own = {item: text for item, text in reasons.items() if text} or stand_ins(items)
    topic, others = items.set_index("item")["topic"].to_dict(), {}
    for item, text in own.items():
        strange = [t for other, t in own.items() if normal(topic[other]) != normal(topic[item])]
        if strange:
            others[item] = _nearest_in_length(text, strange)
    return {EXPERT: own, OTHER: others, TOPIC: {i: f"This is about {t}." for i, t in topic.items()}}


def _nearest_in_length(text, others):
    """The one of the other texts that is nearest to this one in number of words."""
    size = len(text.split())
    return min(others, key=lambda other: abs(len(other.split()) - size))


def stand_ins(items):
    """{item: the beginning of the expert's answer}, for items without a reason."""
    return {
        r.item: "What a reliable source says: " + " ".join(r.expert_answer.split()[:30])
        for r in items.itertuples()
        if r.expert_answer
    }


def noted_where_hallucinated(judged, items, models):
    """A setting that the paper may have had, from the same replies: notes if hallucinated only."""
    hallucinated = judged["item"].isin(items.loc[items["hallucinated"], "item"])
    noted = judged["evaluator"].isin([m + EXPERT for m in models])
    plain = judged["evaluator"].isin(models)
    part = judged[(noted & hallucinated) | (plain & ~hallucinated)]
    name = part["evaluator"].str.removesuffix(EXPERT) + ", note where hallucinated"
    return part.assign(evaluator=name)


def turned(judged, items, model, texts):
    """Items that naming the topic turned from no to yes: question, answer, type, note."""
    wide = judged.groupby(["item", "evaluator"])["yes"].mean().unstack()
    wide = wide.reindex(columns=[model, model + TOPIC])
    found = wide.index[(wide[model] < 0.5) & (wide[model + TOPIC] > 0.5)]
    rows = items.set_index("item").loc[found, ["question", "answer", "type"]]
    return rows.assign(note=rows.index.map(texts))
