"""Training items of a study's protocol: they come first, with feedback, and give no labels."""

import json
import re
from datetime import UTC, datetime

from bedside.keep.store import append, digest
from bedside.read.prompts import clean

from .blind import material


def known(task):
    """A task's training items for a page that gives the feedback itself."""
    return [
        {"id": digest(i), **material(i, task), "cut": False, "opinions": [], **_right(i, task)}
        for i in _items(task)
    ]


def _items(task):
    return [i | {"blocks": []} for i in (task.training() if task.training else ())]


def _right(item, task):
    """The right answer of an item, what of it is on screen, and why it is right."""
    right = {"type": "", "spans": []} | item["right"]
    expected = [*map(clean, (*task.in_words(right), *right["spans"]))]
    return {"right": right, "expected": expected, "why": clean(item["why"])}


class Training:
    """A rater's training items for a task; those done are in <task>/training/<rater>.jsonl.

    `left` holds the remaining items, `feedback` that on the first of them once it is answered.
    """

    def __init__(self, task, log):
        self.task = task
        self.path = log.path.parent / "training" / log.path.name
        items = _items(task)
        self.of, self.feedback = len(items), None
        done = self._done()
        self.left = [i for i in items if digest(i) not in done]

    def _done(self):
        """The digests of items whose feedback was read."""
        try:
            written = self.path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # nothing done yet; a file that can't be written is reported later
            return set()
        return set(re.findall(r'"training": "([0-9a-f]{64})"', written))

    def shown(self):
        """The first remaining item, in the form of `Session.shown`."""
        number = self.of - len(self.left) + 1
        return {
            "place": f"training {number}{', feedback' if self.feedback else ''}",
            "training": f"training {number} of {self.of}",
            "feedback": self.feedback,
            **material(self.left[0], self.task),
            "earlier": self.feedback and self.feedback["given"],
        }

    def answer(self, said, values):
        """Take an answer: right if value and type are right and each place is marked in part."""
        item = self.left[0]
        reply, known = clean(item["reply"]), _right(item, self.task)
        right = known["right"]
        mine, wanted = ([_place(s, reply) for s in x["spans"]] for x in (said, right))
        touched = all(any(a < end and start < b for a, b in mine) for start, end in wanted)
        alike = all(said[k] == right[k] for k in ("value", "type"))
        self.feedback = {
            "right": alike and touched,
            **{k: known[k] for k in ("expected", "why")},
            "given": said | {"values": values},
        }

    def read(self):
        """Record that the feedback was read, and go on; OSError if it can't be written."""
        line = {
            "training": digest(self.left[0]),
            "right": self.feedback["right"],
            "value": self.feedback["given"]["value"],
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        append(self.path, [json.dumps(line).encode() + b"\n"])
        self.left, self.feedback = self.left[1:], None


def _place(span, reply):
    """The place of a span in a reply: (start, end); of whole words, if it is that anywhere."""
    whole = re.search(rf"(?<!\w){re.escape(span)}(?!\w)", reply)
    start = whole.start() if whole else reply.find(span)
    return start, start + len(span)
