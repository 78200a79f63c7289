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
    spans = {"type": "array", "items": {"type": "string"}}
    spans |= {"maxItems": most_spans} if most_spans else {}
    verdict = {"type": "string", "enum": ["Yes", "No"]}
    form = response_format("detection", verdict=verdict, spans=spans)
    about = {"temperature": TEMPERATURE, "repeats": repeats, "response_format": form}
    requests, rows = requests_to(run, prompts, max_tokens, **about), []
    for request, r in zip(requests, await run.ask(requests, f"detections{name}"), strict=True):
        v = parsing.read(r, parse_detection)
        yes, found = v.value or (float("nan"), ())
        who = v.item, r.model + name, request.repeat, "run"
        rows.append((*who, v.status, float(yes), list(found), r.truncated, r.text, r.why, r.key))
    return pd.DataFrame(rows, columns=DETECTED)


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
    decided (the paper doesn't say whose it took). An item without either has no such note; only if
    no item has one does the beginning of each expert answer stand in. The other item's note is the
    one on another topic that is nearest in length.
    """
    experts = labels[(labels["group"] == "expert") & (labels["reason"] != "")]
    given = experts.groupby("item")["reason"].first()
    known = items.set_index("item")
    reasons = {i: text or given.get(i, "") for i, text in known["reason"].items()}
    answers = known["expert_answer"].str.split().str[:30].str.join(" ")
    stand_ins = ("What a reliable source says: " + answers)[answers != ""].to_dict()
    own = {i: text for i, text in reasons.items() if text} or stand_ins
    topic, sizes, others = known["topic"], {t: len(t.split()) for t in own.values()}, {}
    for i, text in own.items():
        strange = [t for k, t in own.items() if normal(topic[k]) != normal(topic[i])]
        if strange:
            others[i] = min(strange, key=lambda other: abs(sizes[other] - sizes[text]))
    return {EXPERT: own, OTHER: others, TOPIC: {i: f"This is about {t}." for i, t in topic.items()}}


def noted_where_hallucinated(judged, items, models):
    """A setting that the paper may have had, from the same replies: notes if hallucinated only."""
    hallucinated = judged["item"].isin(items.loc[items["hallucinated"], "item"])
    noted = judged["evaluator"].isin([m + EXPERT for m in models])
    plain = judged["evaluator"].isin(models)
    part = judged[(noted & hallucinated) | (plain & ~hallucinated)]
    name = part["evaluator"].str.removesuffix(EXPERT) + ", note where hallucinated"
    return part.assign(evaluator=name)
