"""What a rater sees of a judged item: the reply and the blocks that the task shows, no names."""

import re

from bedside import BedsideError
from bedside.asking import registry
from bedside.asking.store import digest
from bedside.read import paths
from bedside.read.prompts import clean

ALIAS = re.compile(r"[0-9a-f]{20}")


def alias(row_id):
    """A row's name in files of labels: a digest of its id, since the id names the model.

    An alias is returned unchanged. To find the row of an alias, compute the aliases of all rows.
    """
    return row_id if ALIAS.fullmatch(row_id) else digest(row_id)[:20]


def rows(document):
    """A document's rows as annotation takes them: with shared blocks instead of their keys."""
    shared = document["shared"]
    return [
        {**row, "shared": [block for key in row["shared"] for block in shared[key]]}
        for row in document["rows"]
    ]


def material(row, task):
    """What a rater sees of a row: {before: blocks, answer: {label, text}, after: blocks}."""

    def seen(blocks):
        return [_bare(b) for b in blocks if b["label"] in task.shows]

    return {
        "before": seen(row["shared"]),
        "answer": {"label": task.reply, "text": clean(row["reply"])},
        "after": seen(row["blocks"]),
    }


def _bare(block):
    """A block without marks and notes, which would reveal scripts and judges' findings."""
    made = {"kind": block["kind"], "label": clean(block["label"])}
    if block["kind"] == "text":
        return {**made, "text": clean(block["text"])}
    if block["kind"] == "list":
        return {**made, "entries": [clean(e) for e in block["entries"]]}
    said = [(t["who"], "".join(words for words, _ in t["pieces"])) for t in block["turns"]]
    return {**made, "turns": [{"who": clean(who), "text": clean(words)} for who, words in said]}


def candidates(rows, task, tiny=False):
    """The rows that a task can ask about, by id: those with a reply, identical ones only once.

    tiny: also replies of embedded models that no profile records further (`paths.recorded`), and
    pieces of them, which are often truncated and rarely worth a rater's time. Without tiny they
    come only where nobody else replied.
    """
    there = [row for row in rows if task.takes(row) and row["reply_status"] == ""]
    if short := [row for row in there if any(isinstance(block, str) for block in row["shared"])]:
        raise BedsideError(
            f"row {short[0]['id']!r} refers to shared texts but doesn't include them. Pass the rows"
            " of annotation.rows(document)"
        )
    known = {m for profile in paths.profiles().values() for m in profile.get("recorded", ())}
    small = {r["model"] for r in rows if registry.is_embedded(r["model"])} - known
    worth = [r for r in there if r["model"] not in small]
    if task.pieces_of:
        wholes = [r for r in rows if r["section"].startswith(task.pieces_of)]
        texts = "\n".join(r["reply"] for r in wholes if r["model"] not in small).casefold()
        worth = [r for r in worth if r["reply"].casefold() in texts]
    found = {}
    for row in sorted(there if tiny else worth or there, key=lambda row: row["id"]):
        found.setdefault(digest(material(row, task)), row)
    return list(found.values())
