"""A document for notebooks: as a frame, or one row as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bedside import choose

from .blocks import text, verdict

if TYPE_CHECKING:
    import pandas as pd

ROW = "id paper section item unit model by configuration category title reply reply_status".split()
VERDICT = "judge status value right raw".split()


def frame(content: dict, judge: str | None = None) -> pd.DataFrame:
    """A document as a frame: a row for each reply and judge, or for one judge only.

    The columns are ROW, VERDICT and human. right: True, False or None. human: the first person's
    label, or empty. A reply without a verdict has the judge "".
    """
    import pandas as pd

    lines = []
    for row in content["rows"]:
        human = row["human"][0]["value"] if row["human"] else ""
        for given in row["verdicts"] or [verdict("", "")]:
            lines.append([*(row[k] for k in ROW), *(given[k] for k in VERDICT), human])
    made = pd.DataFrame(lines, columns=[*ROW, *VERDICT, "human"])
    if judge is None:
        return made
    choose(judge, {*made["judge"], ""}, "judge")
    return made[made["judge"] == judge].reset_index(drop=True)


def as_text(content: dict, row: dict) -> str:
    """A row as plain text: shared blocks, reply, blocks, verdicts, labels."""
    shared = [block for key in row["shared"] for block in content["shared"][key]]
    reply = text("Reply", ": ".join(filter(None, (row["reply_status"], row["reply"]))))
    lines = [row["id"]]
    for block in [*shared, reply, *row["blocks"]]:
        lines += [f"\n{block['label'].upper()}", *_lines(block)]
    lines.append("\nVERDICTS")
    said = [(v["judge"], v["value"] or v["status"], v["reason"]) for v in row["verdicts"]]
    said += [(h["by"], h["value"], h["reason"]) for h in row["human"]]
    lines += [f"{who}: {value} {reason}".strip() for who, value, reason in said]
    return "\n".join(lines)


def _lines(block):
    """A block's text, line by line; marks follow the marked words in brackets."""
    match block["kind"]:
        case "text":
            return [block["text"]]
        case "list":
            return [f"- {e}" for e in block["entries"]]
        case "marked":
            return [_bracketed(block["pieces"])]
        case "aligned":
            marks = [zip(block["columns"], r["cells"]) for r in block["rows"]]
            cells = [", ".join(f"{c} {m}" for c, m in mine if m) for mine in marks]
            return [f"{r['term']}: {mine}" for r, mine in zip(block["rows"], cells)]
        case "dialogue":
            return [line for turn in block["turns"] for line in _turn(turn)]


def _turn(turn):
    notes = [f"    {n}" for n in turn["notes"]]
    return [f"{turn['who']}: {_bracketed(turn['pieces'])}", *notes]


def _bracketed(pieces):
    return "".join(f"{words} [{marks}]" if marks else words for words, marks in pieces)
