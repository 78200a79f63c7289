"""The parts of a row: blocks of text, verdicts and labels, as dicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bedside.judging import parsing
from bedside.read import prompts


def text(heading: str, words: str) -> dict:
    """A block of text."""
    return {"kind": "text", "label": heading, "text": prompts.clean(words)}


def entries(heading: str, texts: Iterable[str]) -> dict:
    """A block that lists texts."""
    return {"kind": "list", "label": heading, "entries": [prompts.clean(t) for t in texts]}


def marked(heading: str, words: str, **places: Iterable[Sequence]) -> dict:
    """A block of text with marked places: {name: [(start, end), ...]}; they may overlap."""
    return {"kind": "marked", "label": heading, "pieces": pieces(words, **places)}


def pieces(words: str, **places: Iterable[Sequence]) -> list[list[str]]:
    """A text cut at the borders of all named places: [[text, "name name"], ...]."""
    borders = [x for mine in places.values() for p in mine for x in p[:2]]
    cuts = sorted({0, len(words), *borders})

    def names(start, end):
        there = (
            n for n, mine in places.items() if any(p[0] <= start and end <= p[1] for p in mine)
        )
        return " ".join(there)

    return [[prompts.clean(words[a:b]), names(a, b)] for a, b in zip(cuts, cuts[1:])]


def aligned(heading: str, columns: Sequence[str], rows: Mapping[str, Iterable[str]]) -> dict:
    """A block of lists side by side: {term: (mark of each column)}.

    A mark is matched, missed, spurious or empty.
    """
    lines = [{"term": prompts.clean(t), "cells": list(cells)} for t, cells in rows.items()]
    return {"kind": "aligned", "label": heading, "columns": columns, "rows": lines}


def dialogue(heading: str, turns: Iterable[tuple]) -> dict:
    """A block of turns (who, pieces, notes)."""
    made = [{"who": who, "pieces": cut, "notes": notes} for who, cut, notes in turns]
    return {"kind": "dialogue", "label": heading, "turns": made}


def text_of(row: dict, heading: str) -> str:
    """The text of a row's shared block with this heading, empty if there is none.

    row: a row that holds its shared blocks instead of their keys.
    """
    return next((b["text"] for b in row["shared"] if b["label"] == heading), "")


# ---- what judges and people say


def verdict(
    judge: str, status: str, value: Any = "", right: Any = None, raw: str = "", reason: str = ""
) -> dict:
    """A judge's verdict on a row; unless its status is `graded`, value is empty and right None."""
    graded = status == "graded"
    return {
        "judge": judge,
        "status": status,
        "value": str(value) if graded else "",
        "right": bool(right) if graded and right is not None else None,
        "raw": prompts.clean(raw),
        "reason": prompts.clean(reason or parsing.member(str(raw), "reason") or ""),
    }


def other_verdict(judge: str, task: str, value: str, raw: str = "") -> dict:
    """A judge's verdict, or a rater's label, on another question; an empty value is unparsed."""
    status = "graded" if value else "unparsed"
    return {"judge": judge, "task": task, "status": status, "value": value, "raw": raw}


def human_label(by: str, value: Any, kind: str = "", reason: str = "") -> dict:
    """A person's label: its value in the words of the verdicts, its type and the reason given."""
    return {"by": by, "value": str(value), "type": kind, "reason": prompts.clean(reason)}
