"""Label Studio: a rater's items as its JSON and configuration, and its export as labels.

For those with a server. Each rater's file is imported into a project of its own, whose labelling
interface is the configuration; the project's export, as JSON, comes back as pages' files do.
"""

import json
from xml.etree import ElementTree

from .log import REFUSALS

KEYS = ("task", "rater", "hand", "id", "again")
FIELDS = {"reason": "Reason", "source": "Source that you consulted"}


def configuration(about):
    """The labelling interface of a task as XML text. about: what a page has of it."""
    view = ElementTree.Element("View")

    def add(tag, under=view, **attributes):
        return ElementTree.SubElement(under, tag, attributes)

    def choices(name, offered, choice):
        control = add("Choices", name=name, toName="reply", choice=choice)
        for key, value, words in offered:
            add("Choice", control, value=words, alias=value, hotkey=key)

    add("Header", value=about["question"])
    add("Text", name="guide", value="$guide")
    add("Text", name="before", value="$before")
    if about["spans_for"]:
        add("Label", add("Labels", name="spans", toName="reply"), value="span")
    add("Text", name="reply", value="$reply")
    add("Text", name="after", value="$after")
    choices("values", about["choices"], "multiple" if about["several"] else "single")
    if offered := about["types"] or about["labels"]:
        choices("type", offered, "single" if about["types"] else "multiple")
    choices("refused", [(key, *of) for key, of in zip("uw", REFUSALS.items())], "single")
    for name, words in FIELDS.items():
        add("TextArea", name=name, toName="reply", placeholder=words)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def exported(page):
    """A page's items as Label Studio's tasks, with the labels so far, as JSON text."""
    about = {"task": page["task"], "rater": page["about"]["rater"], "hand": page["hand"]}
    tasks = [
        {
            "data": {**about, "id": item["id"], "again": item["again"]}
            | {"guide": page["about"]["guide"], "reply": item["answer"]["text"]}
            | {k: "\n\n".join(map(_text, item[k])) for k in ("before", "after")},
            "annotations": [_annotation(item)] if item["given"] else [],
        }
        for item in page["items"]
    ]
    return json.dumps(tasks, indent=1, ensure_ascii=False) + "\n"


def _text(block):
    """A block of an item as plain text."""
    parts = [f"{t['who']}: {t['text']}" for t in block.get("turns", ())]
    parts += [f"• {e}" for e in block.get("entries", ())]
    return "\n".join([block["label"], block.get("text", ""), *parts]).strip()


def _annotation(item):
    """A label so far, as Label Studio's annotation."""
    label, reply = item["given"], item["answer"]["text"]
    of_kind = dict.fromkeys(("values", "type", "refused"), "choices")
    of_kind |= dict.fromkeys(FIELDS, "textarea")
    result = []
    for name, kind in of_kind.items():
        given = label[name] if isinstance(label[name], list) else [label[name]] * bool(label[name])
        if given:
            value = {"text" if kind == "textarea" else kind: given}
            result.append({"from_name": name, "to_name": "reply", "type": kind, "value": value})
    for span in label["spans"]:
        start = _units(reply[: max(reply.find(span), 0)])
        value = {"start": start, "end": start + _units(span), "text": span, "labels": ["span"]}
        result.append({"from_name": "spans", "to_name": "reply", "type": "labels", "value": value})
    about = {"updated_at": label["at"], "lead_time": label["seconds"]}
    return {"result": result, "was_cancelled": False, **about}


def _units(text):
    """A text's length as browsers count it."""
    return len(text.encode("utf-16-le")) // 2


def imported(tasks):
    """[(header, [(the line's name, line)])] of Label Studio's export, for each rater's page."""
    found = {}
    for number, task in enumerate(tasks, 1):
        try:
            data = task["data"]
            about = {k: data[k] for k in KEYS}
            header = {k: str(about.pop(k)) for k in ("task", "rater", "hand")}
            given = found.setdefault(tuple(header.values()), (header, []))[1]
            for a in task["annotations"]:
                if not a.get("was_cancelled"):
                    given.append((f"task {number}", about | _label(a)))
        except (LookupError, TypeError, AttributeError):
            raise ValueError(
                f"task {number} isn't a Label Studio task of ours. Export the project as JSON."
            ) from None
    return list(found.values())


def _label(annotation):
    """An annotation as a label of a page."""
    said = {"values": [], "type": [], "spans": [], "refused": []} | {k: [] for k in FIELDS}
    for r in annotation["result"]:
        value = r["value"]
        if r["type"] == "labels":
            said["spans"].append(value["text"])
        else:
            said[r["from_name"]] += value["text" if r["type"] == "textarea" else "choices"]
    said |= {k: "\n".join(said[k]) for k in ("refused", *FIELDS)}
    at = annotation.get("updated_at") or annotation["created_at"]
    return {**said, "at": at, "seconds": float(annotation.get("lead_time") or 0)}
