"""Faults of a label, in words."""

import math

from .labelling import JOINED

REFUSALS = {
    "undecided": "say why it can't be decided; a refusal needs a reason",
    "faulty": "say what is wrong with the item; a refusal needs a reason",
}


def fault_of(task, values, said, seconds, answer):
    """The fault of a label in words, or an empty text.

    task: as `ruled`. said: type, spans, reason, refused, source. answer: the text in which spans
    are marked.
    """
    if not 0 <= seconds < math.inf:
        return f"seconds are {seconds}; give a number from 0"
    if said["refused"]:
        return _refusal(values, said)
    if unknown := [v for v in values if v not in task.values]:
        return f"{unknown[0]!r} is not a choice; choices are {_listed(task.choices)}"
    if not task.several and len(values) != 1:
        return f"choose one of {_listed(task.choices)}"
    return _details(task, values, said, answer) or _lacking(task, values, said)


def _listed(given):
    return ", ".join(f"{value} (key {key})" for key, value, _ in given)


def _refusal(values, said):
    if said["refused"] not in REFUSALS:
        return f"{said['refused']!r} is not a refusal; the refusals are {', '.join(REFUSALS)}"
    if values or said["type"] or said["spans"]:
        return "a refusal has no value, type or span; remove them, or don't refuse"
    return "" if said["reason"] else REFUSALS[said["refused"]]


def _details(task, values, said, answer):
    """The fault of a label's type and spans, or of its further labels."""
    type, spans = said["type"], said["spans"]
    if task.labels:
        known = [value for _, value, _ in task.labels]
        if unknown := [v for v in type.split(JOINED) if v and v not in known]:
            return f"{unknown[0]!r} is not a label; labels are {_listed(task.labels)}"
        return "this task has no spans; remove them" if spans else ""
    if not task.spans_for or values != [task.spans_for]:
        where = f"the value {values[0]!r}" if task.spans_for else "this task"
        return f"{where} has no type and no spans; remove them" if type or spans else ""
    if type not in [value for _, value, _ in task.types]:
        return f"{task.spans_for!r} needs a type; choose {_listed(task.types)}"
    if not spans:
        return f"{task.spans_for!r} needs at least one span; select words in the answer"
    missing = [s for s in spans if " ".join(s.split()) not in " ".join(answer.split())]
    return f"the span {missing[0]!r} is not in the answer; select it there" if missing else ""


def _lacking(task, values, said):
    """The reason or source that a label lacks."""
    if set(values) & set(task.reason_for) and not said["reason"]:
        return f"{values[0]!r} needs a reason (r)"
    if set(values) & set(task.source_for) and not said["source"]:
        return f"{values[0]!r} needs the source that you consulted (o)"
    return ""
