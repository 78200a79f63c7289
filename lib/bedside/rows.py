"""Judged items: every reply with what judges and people said of it, as rows.

Explorer, raters and seminar share them.

    document = Document("sample")
    run = document.run("my_paper", "03_evaluation")  # a notebook's settings, replayed; asks nobody
    document.share("my_paper q1", text("Question", ...))
    document.add(run, "4.3 evaluation", "q1", "smollm2-135m", "plain", title=..., reply=...,
                 verdicts=[verdict("lexical", "graded", "1 corrected", True)])
    frame(document.content())

A row is one reply of one model to one item under one configuration. Each study's room `rows` fills
a document, its room `labels` says what raters decide. The words, here and in the page's data:

    block       what is shown beside the reply under a heading (its `label`): `text`, `entries` (a
                list), `marked` (a text with places marked), `aligned` (lists side by side) or
                `dialogue`
    shared      blocks that many rows have, such as the question; a row holds their keys
    unit        what repeats, of which intervals are: the question, the case, the patient
    by          whose reply it is: a model's, that of rules without one, a person's, or written for
                the project
    calls       the calls that led to a reply, each with what was sent and what came back
    verdicts    what judges say on the study's main question (`verdict`, `verdicts_by_item`): a
                status, a value if it is `graded`, and whether that is right, that is no failure
    human       what people say on the same question, in the words of the verdicts (`human_label`)
    more        what judges or raters say on other questions (`other_verdict`)
    task        a question that raters are asked about a paper's rows (`Task`)
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import BedsideError, choose, judges, models, notebooks, paths, prompts, settings, store
from .models import NOT_RECORDED as ABSENT
from .models import Reply, Request
from .run import Run

if TYPE_CHECKING:
    import pandas as pd

ROW = "id paper section item unit model by configuration category title reply reply_status".split()
BY = ("model", "rules", "person", "written")
RETURNED = "returned_model finish prompt_tokens completion_tokens date fingerprint router".split()
VERDICT = "judge status value right raw".split()


class Recorded(Run):
    """A Run with a notebook's own settings that only replays.

    A request without a recording has a reply that says so.

    settings: the notebook's parameters. judges: the run's, the one without a model, and every model
    that has recordings here; a judge's verdicts that weren't recorded have status `error` and
    ABSENT in their raw text.
    """

    def __init__(self, paper: str, notebook: str, **parameters: Any):
        super().__init__(paper, notebook, **parameters)
        self.settings = notebooks.parameters(f"{paper}/{notebook}")
        self.calls: dict[str, dict] = {}  # what was sent and came back, by the request's key
        files = {path.stem for path in self.recordings.folder.glob("*.jsonl")}
        recorded = [m for m in models.registry() if paths.file_name(m) in files]
        self.judges = list(dict.fromkeys([self.judge, judges.LEXICAL, *recorded]))
        if not parameters.get("models"):
            self.models = list(dict.fromkeys([*self.models, *recorded]))

    async def ask(self, requests: Iterable[Request], label: str = "") -> list[Reply]:
        ask, asked = super().ask, list(requests)
        got = await models.of_recorded(asked, self.recordings, lambda those: ask(those, label))
        return [self._heard(request, reply) for request, reply in zip(asked, got)]

    @contextlib.asynccontextmanager
    async def asking(self, label: str = "") -> AsyncIterator[Callable[[Request], Awaitable[Reply]]]:
        async with super().asking(label) as one:

            async def recorded(request):
                if request.key not in self.recordings:
                    return models.not_recorded(request)
                return self._heard(request, await one(request))

            yield recorded

    def _heard(self, request, reply):
        if request.key not in self.calls and reply.error != ABSENT:
            self.calls[request.key] = call(request, reply)
        return reply

    def judged_by(self, judge: str) -> Recorded:
        """The same run with another judge."""
        other = copy.copy(self)
        other.judge = judge
        return other


def call(request: Request, reply: Reply) -> dict:
    """A request as it was sent, and what came back with the reply; None for what isn't known."""
    sent = dict(request.body())
    tokens = reply.prompt_tokens, reply.completion_tokens
    return {
        "model": request.model,
        "messages": sent.pop("messages"),
        "response_format": sent.pop("response_format", None),
        "settings": {k: v for k, v in sent.items() if k != "model"},
        "repeat": request.repeat,
        **{name: None if (v := getattr(reply, name)) == "" else v for name in RETURNED},
        "seconds": reply.latency_s,
        "usd": models.cost(request.model, *tokens),
    }


# ---- blocks


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
    """A text cut at all borders of the named places: [[text, "name name"], ...]."""
    borders = [x for mine in places.values() for p in mine for x in p[:2]]
    cuts = sorted({0, len(words), *borders})

    def names(start, end):
        there = (
            n for n, mine in places.items() if any(p[0] <= start and end <= p[1] for p in mine)
        )
        return " ".join(there)

    return [[prompts.clean(words[a:b]), names(a, b)] for a, b in zip(cuts, cuts[1:])]


def aligned(heading: str, columns: Sequence[str], rows: Mapping[str, Iterable[str]]) -> dict:
    """A block that sets lists side by side: {term: (mark of each column)}.

    A mark is matched, missed, spurious or empty.
    """
    lines = [{"term": prompts.clean(t), "cells": list(cells)} for t, cells in rows.items()]
    return {"kind": "aligned", "label": heading, "columns": columns, "rows": lines}


def dialogue(heading: str, turns: Iterable[tuple]) -> dict:
    """A block of turns (who, pieces, notes)."""
    made = [{"who": who, "pieces": cut, "notes": notes} for who, cut, notes in turns]
    return {"kind": "dialogue", "label": heading, "turns": made}


def text_of(row: dict, heading: str) -> str:
    """The text of a row's shared block of this heading, empty if there is none.

    row: with its shared blocks in place of their keys.
    """
    return next((b["text"] for b in row["shared"] if b["label"] == heading), "")


# ---- what judges and people say


def verdict(
    judge: str, status: str, value: Any = "", right: Any = None, raw: str = "", reason: str = ""
) -> dict:
    """A judge's verdict at a row; without status `graded` there is no value, and right is None."""
    graded = status == "graded"
    return {
        "judge": judge,
        "status": status,
        "value": str(value) if graded else "",
        "right": bool(right) if graded and right is not None else None,
        "raw": prompts.clean(raw),
        "reason": prompts.clean(reason or judges.member(str(raw), "reason") or ""),
    }


def verdicts_by_item(
    by_judge: Mapping[str, pd.DataFrame], words: Mapping[Any, str], right: Iterable
) -> dict[str, list[dict]]:
    """{item: its verdicts} from frames {judge: verdicts (item, status, value, raw)}.

    Those never recorded are left out. words: {value: how it is shown}; right: the values that count
    as no failure.
    """
    found: dict[str, list[dict]] = {}
    for judge, verdicts in by_judge.items():
        for r in verdicts[verdicts["raw"] != ABSENT].itertuples():
            value = words.get(r.value, "") if r.status == "graded" else ""
            made = verdict(judge, r.status, value, r.value in right, r.raw)
            found.setdefault(r.item, []).append(made)
    return found


def other_verdict(judge: str, task: str, value: str, raw: str = "") -> dict:
    """A judge's verdict, or a rater's label, on another question; empty if it couldn't be read."""
    status = "graded" if value else "unparsed"
    return {"judge": judge, "task": task, "status": status, "value": value, "raw": raw}


def human_label(by: str, value: Any, kind: str = "", reason: str = "") -> dict:
    """A person's label: a value in the words of the verdicts, its kind and the reason given."""
    return {"by": by, "value": str(value), "type": kind, "reason": prompts.clean(reason)}


# ---- rows


def row_id(run: Run, item: str, model: str, configuration: str) -> str:
    """The id of a row, the same in every run of a notebook."""
    return "/".join([run.paper, run.notebook, item, model, configuration])


class Document:
    """The rows of a profile and the blocks that they share; parameters as of every notebook."""

    def __init__(self, profile: str = "sample", **parameters: Any):
        self.profile = profile
        self.parameters = {"profile": profile, **parameters}
        self.papers: dict[str, str] = {}  # names
        self.judge: dict[str, str] = {}  # whose verdicts come first, by paper
        self.cards: dict[str, str] = {}  # a line of each trust card, by "paper judge"
        self.shared: dict[str, list[dict]] = {}
        self.rows: dict[str, dict] = {}
        self.calls: dict[str, dict] = {}
        self.messages: dict[str, dict] = {}
        self._heard: dict[str, dict] = {}  # every call of the runs, by key

    def run(self, paper: str, notebook: str) -> Recorded:
        """A notebook as Recorded run; what one has heard, all know."""
        run = Recorded(paper, notebook, **self.parameters)
        run.calls = self._heard
        return run

    def begin(self, run: Recorded, judge: str | None = None) -> None:
        """Take in a paper: its title, the judge that comes first (the run's), its judges' cards."""
        self.papers[run.paper] = paths.papers()[run.paper]["name"]
        self.judge[run.paper] = judge or run.judge
        for name in run.judges:
            with contextlib.suppress(BedsideError):  # never measured: the page then shows no card
                line = judges.describe(run.card(name))
                self.cards[f"{run.paper} {name}"] = line.split(", ", 1)[1]

    def share(self, key: str, *blocks: dict) -> str:
        """Take in blocks under a key; returns the key."""
        self.shared.setdefault(key, list(blocks))
        return key

    def add(
        self,
        run: Run,
        section: str,
        item: str,
        model: str,
        configuration: str,
        *,
        title: str,
        unit: str = "",
        by: str = "model",
        sent: str = "",
        category: str = "",
        shared: Iterable[str] = (),
        reply: str = "",
        status: str = "",
        truncated: bool = False,
        blocks: Iterable[dict] = (),
        verdicts: Iterable[dict] = (),
        more: Iterable[dict] = (),
        human: Iterable[dict] = (),
        beside: str = "",
    ) -> str:
        """Take in a row; returns its id. BedsideError for an id that is taken.

        unit: what repeats, the item if nothing is given; by: of BY; sent: keys of the requests that led to the reply, between
        blanks. status: why there is no reply, empty if there is one; with ABSENT there is no row
        either.
        beside: the id of the row that it is shown beside.
        """
        if status == ABSENT:
            return ""
        id = row_id(run, item, model, configuration)
        if id in self.rows:
            raise BedsideError(f"two rows with the id {id!r}")
        texts = {
            "id": id,
            "paper": run.paper,
            "section": section,
            "item": item,
            "unit": str(unit or item),
            "model": model,
            "by": choose(by, BY, "by"),
            "configuration": configuration,
            "category": category,
            "title": " ".join(title.split()),
            "reply": reply,
            "reply_status": status,
            "beside": beside,
        }
        self.rows[id] = {
            **{name: prompts.clean(words) for name, words in texts.items()},
            "calls": [self._called(key) for key in sent.split()],
            "shared": list(shared),
            "truncated": bool(truncated),
            "blocks": list(blocks),
            "verdicts": list(verdicts),
            "more": list(more),
            "human": list(human),
        }
        return id

    def _called(self, key):
        """Take in a call, its messages once each; returns its key."""
        if key not in self.calls:
            made = dict(self._heard[key])
            for message in made["messages"]:
                self.messages[store.digest(message)[:16]] = prompts.cleaned(message)
            made["messages"] = [store.digest(message)[:16] for message in made["messages"]]
            self.calls[key] = prompts.cleaned(made)
        return key

    def content(self, about: str = "") -> dict:
        """All as one JSON-able dict."""
        return {
            "profile": self.profile,
            "about": about,
            "papers": self.papers,
            "judge": self.judge,
            "cards": self.cards,
            "shared": self.shared,
            "rows": list(self.rows.values()),
            "calls": self.calls,
            "messages": self.messages,
        }


@dataclass(frozen=True)
class Task:
    """What a rater decides about a paper's rows, what is seen for it, and where labels go.

    choices and types: (key, value, words) each. sections: how the sections of its rows begin.
    shows: headings of the blocks that are shown beside the reply; all others stay hidden, so that a
    new block can't give a model or a label away. reply: what the reply is called on screen.
    spans_for: the value that needs a type and marked places, if the task has one. several: any
    number of choices may hold at once, none too.

    positive: the value that rates count; ordered: the values are steps of a scale; words: how
    verdicts say a value. file: the source of data/external that labels are published to, a record
    each as `record(row, value, by)` makes it; each_rater: all raters' own labels stand there, as
    `record(label)` makes them, not the settled ones.
    """

    name: str
    paper: str
    title: str
    question: str
    guide: str
    choices: tuple
    sections: tuple
    shows: tuple
    positive: str
    file: str
    record: Callable[..., dict]
    reply: str = "Reply"
    types: tuple = ()
    spans_for: str = ""
    several: bool = False
    ordered: bool = False
    words: dict = field(default_factory=dict)
    each_rater: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a label may have (for `several`: that it may be made of)."""
        return tuple(value for _, value, _ in self.choices)

    def takes(self, row: dict) -> bool:
        """Whether a row is of this task."""
        return row["paper"] == self.paper and row["section"].startswith(self.sections)


# ---- all studies'


def _room(paper, name):
    return importlib.import_module(f"bedside.papers.{paper}.{name}")


@functools.cache
def tasks() -> dict[str, Task]:
    """All studies' labelling tasks by name, from their rooms `labels`."""
    found = [t for name in paths.papers() for t in _room(name, "labels").TASKS]
    return {task.name: task for task in found}


async def collect(profile: str = "sample", papers: str = "", **parameters: Any) -> dict:
    """The judged items of a profile, from the studies' rooms `rows`: as `Document.content`.

    papers: names, empty for all. parameters: models, judge, limit, seed, prompts as of every
    notebook. What was never recorded with these settings isn't there.
    """
    document = Document(profile, **parameters)
    for name in str(papers).split() or paths.papers():
        await _room(choose(name, paths.papers(), "paper"), "rows").collect(document)
    return document.content(settings.profiles()[profile]["caution"])


# ---- for notebooks


def frame(content: dict, judge: str | None = None) -> pd.DataFrame:
    """A document's rows as a frame: a row for each reply and judge, or those of one judge.

    Columns are ROW, VERDICT and human. right: True, False or None. human: the first person's label
    or empty. A reply without a verdict has judge "".
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
    reply = text("Reply", row["reply"] or row["reply_status"])
    lines = [row["id"]]
    for block in [*shared, reply, *row["blocks"]]:
        lines += [f"\n{block['label'].upper()}", *_lines(block)]
    lines.append("\nVERDICTS")
    said = [(v["judge"], v["value"] or v["status"], v["reason"]) for v in row["verdicts"]]
    said += [(h["by"], h["value"], h["reason"]) for h in row["human"]]
    lines += [f"{who}: {value} {reason}".strip() for who, value, reason in said]
    return "\n".join(lines)


def _lines(block):
    """A block's text, line by line; marks in brackets behind what they mark."""
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
