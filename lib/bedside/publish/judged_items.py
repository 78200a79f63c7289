"""Judged items: every reply with the verdicts of judges and the labels of people, as rows.

Explorer, raters and seminar share them.

    content = collect("sample")     # what the studies' notebooks kept, as the explorer shows it
    frame(content)                  # a row for each reply and judge

A row is one reply of one model to one item under one configuration. Each study's room `display`
says how its sections are shown. The terms, here and in the page's data:

    block       a part shown beside the reply under a heading (its `label`): `text`, `entries` (a
                list), `marked` (a text with marked places), `aligned` (lists side by side) or
                `dialogue`
    shared      blocks that many rows have, such as the question; a row holds their keys
    unit        what repeats and is resampled: the question, the case, the patient
    by          who wrote the reply: a model, rules without one, a person, or this project
    calls       the calls that led to a reply, each with what was sent and what came back
    verdicts    the judges' verdicts on the study's main question (`verdict`): a
                status, a value if it is `graded`, and whether that value is right (no failure)
    human       people's labels on the same question, in the words of the verdicts (`human_label`)
    more        verdicts or labels on other questions (`other_verdict`)
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bedside import BedsideError, choose
from bedside.asking import store
from bedside.asking.models import NOT_RECORDED
from bedside.build import notebooks, settings
from bedside.judging import judges, parsing, trust_cards
from bedside.read import paths, prompts
from bedside.run import Run
from bedside.write import frames

if TYPE_CHECKING:
    import pandas as pd

BY = ("model", "rules", "person", "written")
SENT = "model messages response_format settings repeat seconds usd".split()
ROW = "id paper section item unit model by configuration category title reply reply_status".split()
VERDICT = "judge status value right raw".split()
Row = Mapping[str, Any]  # of a full frame


# ---- the parts of a row


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
    spans = [(name, *place[:2]) for name, listed in places.items() for place in listed]
    cuts = sorted({0, len(words), *(border for _, *ends in spans for border in ends)})
    return [
        [prompts.clean(words[a:b]), " ".join(dict.fromkeys(n for n, x, y in spans if x <= a < y))]
        for a, b in zip(cuts, cuts[1:])
    ]


def aligned(heading: str, columns: Sequence[str], rows: Mapping[str, Iterable[str]]) -> dict:
    """A block of lists side by side: {term: (mark of each column)}.

    A mark is matched, missed, spurious or empty.
    """
    lines = [{"term": prompts.clean(t), "cells": list(cells)} for t, cells in rows.items()]
    return {"kind": "aligned", "label": heading, "columns": columns, "rows": lines}


def dialogue(heading: str, turns: Iterable[tuple]) -> dict:
    """A block of turns (who, pieces, notes)."""
    turns = [dict(zip(("who", "pieces", "notes"), turn)) for turn in turns]
    return {"kind": "dialogue", "label": heading, "turns": turns}


def text_of(row: dict, heading: str) -> str:
    """The text of a row's shared block with this heading, empty if there is none.

    row: a row that holds its shared blocks instead of their keys.
    """
    return next((b["text"] for b in row["shared"] if b["label"] == heading), "")


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


# ---- how a section is shown


@dataclass(frozen=True)
class Display:
    """How a section's graded replies are shown.

    section: as `Run.keep` has it. notebook: the one in the rows' ids, by which labels and links
    know them. heading: the section on the page. The next five name columns of a full frame; one
    that the frame lacks is empty, and without a column `by` a model wrote every reply. heading,
    category and words may be functions of a reply's row. words: {value: how a verdict says it}.
    shared: {key: blocks} that a reply has in common with others, of its row. blocks, more, human:
    its own blocks, verdicts on other questions, people's labels, of its rows, one for each judge.
    beside: the configuration of the same item and model beside which it is shown. reason: a
    verdict's.
    """

    section: str
    notebook: str
    heading: str | Callable[[Row], str]
    title: str = "question"
    reply: str = "reply"
    status: str = "reply_status"
    category: str | Callable[[Row], str] = "category"
    by: str = "by"
    words: Mapping[Any, str] | Callable[[Row], Mapping[Any, str]] = field(default_factory=dict)
    shared: Callable[[Row], dict[str, list[dict]]] = lambda row: {}
    blocks: Callable[[list[Row]], list[dict]] = lambda rows: []
    more: Callable[[list[Row]], list[dict]] = lambda rows: []
    human: Callable[[list[Row]], list[dict]] = lambda rows: []
    beside: Callable[[Row], str] = lambda row: ""
    reason: Callable[[Row], str] = lambda row: ""

    def verdict(self, row: Row) -> dict:
        """A judge's verdict on a reply, in the section's words."""
        words = self.words(row) if callable(self.words) else self.words
        value, raw = words.get(row["value"], row["value"] or ""), row.get("raw", "")
        return verdict(row["judge"], row["status"], value, row["right"], raw, self.reason(row))


def display_of(paper: str, section: str) -> Display:
    """How a section of a study is shown."""
    return next(d for d in _room(paper).DISPLAYS if d.section == section)


def _room(paper):
    return importlib.import_module(f"bedside.papers.{paper}.display")


# ---- the document


def row_id(paper: str, notebook: str, item: str, model: str, configuration: str) -> str:
    """The id of a row, the same in every run of a notebook."""
    return "/".join([paper, notebook, item, model, configuration])


class Document:
    """The rows of a profile or run, the blocks that they share, and the calls behind them.

    papers: {study: its name}. judge: {study: whose verdicts come first}. cards: a line of each
    trust card, by "study judge".
    """

    def __init__(self, profile: str = "sample"):
        self.profile = profile
        self.papers: dict[str, str] = {}
        self.judge: dict[str, str] = {}
        self.cards: dict[str, str] = {}
        self.shared: dict[str, list[dict]] = {}
        self.rows: dict[str, dict] = {}
        self.calls: dict[str, dict] = {}
        self.messages: dict[str, dict] = {}

    def content(self, about: str = "") -> dict[str, Any]:
        """The whole document as one JSON-able dict."""
        return {**vars(self), "about": about, "rows": [*self.rows.values()]}

    def begin(self, run: Run, judge: str, named: Iterable[str]) -> None:
        """Add a paper: its name, the judge that comes first, and the cards of those named."""
        self.papers[run.paper] = paths.papers()[run.paper]["name"]
        self.judge[run.paper] = judge
        for name in named:
            with contextlib.suppress(BedsideError):  # never measured: the page then shows no card
                line = trust_cards.describe(run.card(name))
                self.cards[f"{run.paper} {name}"] = line.split(", ", 1)[1]

    def add(
        self, paper: str, rows: Iterable[dict], how: Display, calls: Mapping[str, dict]
    ) -> None:
        """Add the replies of a section, shown as a Display says.

        rows: as `frames.records`, one for each reply and judge. calls: {key: call} of what led to
        them. Replies that were never recorded are left out. BedsideError if an id is taken.
        """
        replies: dict[tuple, list[dict]] = {}
        for r in rows:
            replies.setdefault((r["item"], r["model"], r["configuration"]), []).append(r)
        for same in replies.values():
            if same[0].get(how.status) != NOT_RECORDED:
                self._add(paper, same, how, calls)

    def _add(self, paper, rows, how, calls):
        r = rows[0]
        name = [paper, how.notebook, r["item"], r["model"]]
        id, beside = row_id(*name, r["configuration"]), how.beside(r)
        if id in self.rows:
            raise BedsideError(f"two rows have the id {id!r}")
        texts = {
            "id": id,
            "paper": paper,
            "section": how.heading(r) if callable(how.heading) else how.heading,
            "item": r["item"],
            "unit": str(r["unit"]),
            "model": r["model"],
            "by": choose(r.get(how.by) or "model", BY, "by"),
            "configuration": r["configuration"],
            "category": how.category(r) if callable(how.category) else r.get(how.category) or "",
            "title": " ".join(r[how.title].split()),
            "reply": r[how.reply],
            "reply_status": r.get(how.status) or "",
            "beside": beside and row_id(*name, beside),
        }
        shared = how.shared(r)
        self.shared |= {key: blocks for key, blocks in shared.items() if key not in self.shared}
        judged = [r for r in rows if r["judge"]]
        self.rows[id] = {
            **{field: prompts.clean(words) for field, words in texts.items()},
            "calls": self._called(r["key"], calls),
            "shared": [*shared],
            "truncated": bool(r["truncated"]),
            "blocks": how.blocks(rows),
            "verdicts": [
                how.verdict(r) | {"calls": self._called(r.get("call"), calls)} for r in judged
            ],
            "more": how.more(rows),
            "human": how.human(rows),
        }

    def _called(self, keys, calls):
        """Add calls, and each of their messages once; return their keys."""
        keys = [key for key in (keys or "").split() if key in calls]
        for key in keys:
            if key not in self.calls:
                messages = {store.digest(m)[:16]: m for m in calls[key]["messages"]}
                self.messages |= {k: prompts.cleaned(m) for k, m in messages.items()}
                sent = {k: calls[key][k] for k in (*SENT, *frames.RETURNED)}
                digests = [store.digest(m)[:16] for m in calls[key]["messages"]]
                self.calls[key] = prompts.cleaned(sent | {"messages": digests})
        return keys


# ---- all studies


def here(profile: str = "sample", **parameters: Any) -> list[str]:
    """The studies whose graded replies are here with their texts; parameters as for `collect`."""
    found = []
    for name in paths.papers():
        places = frames.folders(name, profile, **parameters)
        lost = {n.partition("/")[0] for place in places for n in frames.missing(place.parent)}
        if name not in lost and any(map(frames.sections, places)):
            found.append(name)
    return found


def collect(profile: str = "sample", papers: str = "", **parameters: Any) -> dict:
    """The judged items of a profile, or of the run of other parameters, as `Document.content`.

    papers: names, empty for all. parameters: models, judge, limit, seed, prompts, as every notebook
    takes them, and own ones of some. What is shown is what the studies' notebooks kept when they
    last ran with these (`Run.keep`); BedsideError names the one to run.
    """
    taken = {p for name in notebooks.listed() for p in notebooks.parameters(name)}
    for name in parameters:
        choose(name, taken, "parameter")
    profile = settings.validated(profile=profile).profile  # in a run, the run's
    document = Document(profile)
    of_run = {k: v for k, v in parameters.items() if k in settings.NAMES}
    for name in str(papers).split() or paths.papers():
        room = _room(choose(name, paths.papers(), "paper"))
        places = frames.folders(name, profile, **parameters)
        there = [(d, p) for d in room.DISPLAYS for p in places if d.section in frames.sections(p)]
        if not there:
            raise frames.nothing(places[0], "graded replies")
        run = Run(name, room.DISPLAYS[0].notebook, profile=profile, **of_run)
        document.begin(run, getattr(room, "JUDGE", run.judge), judges.recorded(run))
        calls = {k: call for p in places for k, call in frames.called(p).items()}
        for display, place in there:
            document.add(name, frames.records(place, display.section)[0], display, calls)
    return document.content(settings.profiles()[profile]["caution"])


# ---- for notebooks


def frame(content: dict, judge: str | None = None) -> pd.DataFrame:
    """A document as a frame: a row for each reply and judge, or for one judge only.

    The columns are ROW, VERDICT and human. right: True, False or None. human: the first person's
    label, or empty. A reply without a verdict has the judge "".
    """
    import pandas as pd

    made = pd.DataFrame(
        [
            [*(row[k] for k in ROW), *(v[k] for k in VERDICT), *[h["value"] for h in human[:1]]]
            for row in content["rows"]
            for v in row["verdicts"] or [verdict("", "")]
            for human in [row["human"] or [{"value": ""}]]
        ],
        columns=[*ROW, *VERDICT, "human"],
    )
    if judge is None:
        return made
    choose(judge, {*made["judge"], ""}, "judge")
    return made[made["judge"] == judge].reset_index(drop=True)


def as_text(content: dict, row: dict) -> str:
    """A row as plain text (YAML), with its shared blocks."""
    import yaml

    shared = [block for key in row["shared"] for block in content["shared"][key]]
    return yaml.safe_dump({**row, "shared": shared}, sort_keys=False, allow_unicode=True)
