"""Judged items: every reply with what judges and people said of it, as rows that the explorer, raters and seminars share.

    document = Document("sample")
    run = document.run("my_paper", "03_evaluation")      # a notebook's settings, replayed; asks nobody
    document.share("my_paper q1", text("Question", ...))
    document.add(run, "4.3 evaluation", "q1", "smollm2-135m", "plain", reply=..., verdicts=[verdict(...)])
    frame(document.content())

A row is one reply of one model to one item under one configuration. Blocks are what a reader is shown: text, list, marked,
aligned or dialogue (see the functions of that name). Each study's room `rows` fills a document, its room `labels` says what raters decide.
"""

import contextlib
import copy
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field

from . import BedsideError, choose, judges, models, notebooks, paths, prompts, settings
from .models import Reply
from .run import Run

ABSENT = "not recorded"


class Recorded(Run):
    """A Run with a notebook's own settings that only replays: a request without a recording has a reply that says so.

    settings: the notebook's parameters. judges: the run's, the one without a model, and every model that has recordings
    here; a judge's verdicts that weren't recorded have status `error` and ABSENT in their raw text.
    """

    def __init__(self, paper, notebook, **parameters):
        super().__init__(paper, notebook, **parameters)
        self.settings = notebooks.parameters(f"{paper}/{notebook}")
        recorded = [
            m
            for m in models.registry()
            if list(paths.RECORDINGS.glob(f"{paper}/{self.profile}/{m}.jsonl"))
        ]
        self.judges = list(dict.fromkeys([self.judge, judges.LEXICAL, *recorded]))
        if not parameters.get("models"):
            self.models = list(dict.fromkeys([*self.models, *recorded]))

    async def ask(self, requests, label=""):
        requests = list(requests)
        got = iter(await super().ask([r for r in requests if r.key in self.recordings], label))
        return [next(got) if r.key in self.recordings else _absent(r) for r in requests]

    @contextlib.asynccontextmanager
    async def asking(self, label=""):
        async with super().asking(label) as one:

            async def recorded(request):
                return await one(request) if request.key in self.recordings else _absent(request)

            yield recorded

    def judged_by(self, judge):
        """The same run with another judge."""
        other = copy.copy(self)
        other.judge = judge
        return other


def _absent(request):
    return Reply(request.item, request.model, request.key, error=ABSENT)


# ---- what a row is made of


def text(label, words):
    """A block of text."""
    return {"kind": "text", "label": label, "text": prompts.clean(words)}


def entries(label, texts):
    """A block that lists texts."""
    return {"kind": "list", "label": label, "entries": [prompts.clean(t) for t in texts]}


def marked(label, words, **places):
    """A block of text with places marked by name: {name: [(start, end), ...]}; places may overlap."""
    return {"kind": "marked", "label": label, "pieces": pieces(words, **places)}


def pieces(words, **places):
    """A text cut at all borders of the named places: [[text, "name name"], ...]."""
    cuts = sorted({0, len(words), *(x for mine in places.values() for p in mine for x in p[:2])})
    return [
        [
            prompts.clean(words[a:b]),
            " ".join(n for n, mine in places.items() if any(p[0] <= a and b <= p[1] for p in mine)),
        ]
        for a, b in zip(cuts, cuts[1:])
    ]


def aligned(label, columns, rows):
    """A block that sets lists side by side: {term: (mark of each column)}, marks matched, missed, spurious or empty."""
    return {
        "kind": "aligned",
        "label": label,
        "columns": columns,
        "rows": [{"term": prompts.clean(t), "cells": list(cells)} for t, cells in rows.items()],
    }


def dialogue(label, turns):
    """A block of turns (who, pieces, notes)."""
    return {
        "kind": "dialogue",
        "label": label,
        "turns": [{"who": w, "pieces": p, "notes": n} for w, p, n in turns],
    }


def verdict(judge, status, value="", right=None, raw="", reason=""):
    """A judge's verdict as a row has it; without status `graded` there is no value, and right is None."""
    graded = status == "graded"
    return {
        "judge": judge,
        "status": status,
        "value": str(value) if graded else "",
        "right": bool(right) if graded and right is not None else None,
        "raw": prompts.clean(raw),
        "reason": prompts.clean(reason or judges.member(str(raw), "reason") or ""),
    }


def verdicts_by_item(by_judge, words, right):
    """{item: its verdicts} from frames of verdicts {judge: frame (item, status, value, raw)}; those never recorded are left out.

    words: {value: how it is shown}; right: the values that count as no failure.
    """
    found = {}
    for judge, frame_ in by_judge.items():
        for r in frame_.itertuples():
            if r.raw != ABSENT:
                value = words.get(r.value, "") if r.status == "graded" else ""
                found.setdefault(r.item, []).append(
                    verdict(judge, r.status, value, r.value in right, r.raw)
                )
    return found


def more(judge, task, value, raw=""):
    """A judge's verdict, or a rater's label, on another question than the main one; without a value it could not be read."""
    return {
        "judge": judge,
        "task": task,
        "status": "graded" if value else "unparsed",
        "value": value,
        "raw": raw,
    }


def row_id(run, item, model, configuration):
    """The id of a row, the same in every run of a notebook."""
    return "/".join([run.paper, run.notebook, item, model, configuration])


def human(by, value, kind="", reason=""):
    """A person's label: by whom, a value in the words of the verdicts, its kind and the reason given."""
    return {"by": by, "value": str(value), "type": kind, "reason": prompts.clean(reason)}


class Document:
    """The rows of a profile, and the blocks that many rows share; parameters as of every notebook."""

    def __init__(self, profile="sample", **parameters):
        self.parameters = {"profile": profile, **parameters}
        self.profile, self.shared, self.rows, self.cards, self.judge, self.papers = (
            profile,
            {},
            {},
            {},
            {},
            {},
        )

    def run(self, paper, notebook):
        """A notebook as Recorded run."""
        return Recorded(paper, notebook, **self.parameters)

    def begin(self, run, title, judge=None):
        """Take in a paper: its title, whose verdicts come first (the run's judge), and what the trust cards of its judges say."""
        self.papers[run.paper], self.judge[run.paper] = title, judge or run.judge
        for name in run.judges:
            with contextlib.suppress(
                BedsideError
            ):  # never measured: the page then shows no agreement
                self.cards[f"{run.paper} {name}"] = judges.describe(run.card(name)).split(", ", 1)[
                    1
                ]

    def share(self, key, *blocks):
        """Take in blocks under a key; returns the key."""
        self.shared.setdefault(key, list(blocks))
        return key

    def add(
        self,
        run,
        section,
        item,
        model,
        configuration,
        *,
        category="",
        title,
        shared=(),
        reply="",
        status="",
        truncated=False,
        blocks=(),
        verdicts=(),
        more=(),
        human=(),
        beside="",
    ):
        """Take in a row; returns its id. A reply that was never recorded is none. BedsideError for an id that is taken."""
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
            "model": model,
            "configuration": configuration,
            "category": category,
            "title": " ".join(title.split())[:160],
            "reply": reply,
            "reply_status": status,
            "beside": beside,
        }
        self.rows[id] = {
            **{k: prompts.clean(v) for k, v in texts.items()},
            "shared": list(shared),
            "truncated": bool(truncated),
            "blocks": list(blocks),
            "verdicts": list(verdicts),
            "more": list(more),
            "human": list(human),
        }
        return id

    def content(self, about=""):
        """All as one JSON-able dict."""
        return {
            "profile": self.profile,
            "about": about,
            "papers": self.papers,
            "judge": self.judge,
            "cards": self.cards,
            "shared": self.shared,
            "rows": list(self.rows.values()),
        }


@dataclass(frozen=True)
class Task:
    """What a rater decides about a paper's rows, what is seen for it, and where the settled labels go.

    choices and types: (key, value, words) each. sections: how the sections of its rows begin. shows: labels of the
    blocks that are shown beside the reply; all others stay hidden, so that a new block can't give a model or a label
    away. reply: what the reply is called on screen. marked: the value that needs a type and spans, if the task has
    them. several: any number of choices may hold at once, none too.

    positive: the value that rates count; ordered: the values are steps of a scale; words: how verdicts say a value.
    file: the source of data/external that labels are published to, a record each as `record(row, value, by)` makes it;
    each_rater: all raters' own labels stand there, as `record(label)` makes them, not the settled ones.
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
    record: Callable
    reply: str = "Reply"
    types: tuple = ()
    spans: bool = False
    marked: str = ""
    several: bool = False
    ordered: bool = False
    words: dict = field(default_factory=dict)
    each_rater: bool = False

    @property
    def values(self):
        """The values that a label may have (for `several`: that it may be made of)."""
        return tuple(value for _, value, _ in self.choices)

    def takes(self, row):
        """Whether a row is of this task."""
        return row["paper"] == self.paper and row["section"].startswith(self.sections)


@functools.cache
def tasks() -> dict[str, Task]:
    """All studies' labelling tasks by name, from their rooms `labels`."""
    found = [t for name in paths.papers() for t in _room(name, "labels").TASKS]
    return {task.name: task for task in found}


def _room(paper, name):
    return importlib.import_module(f"bedside.papers.{paper}.{name}")


async def collect(profile="sample", papers="", **parameters):
    """The judged items of a profile: a dict as of `Document.content`, from the studies' rooms `rows`.

    papers: names, empty for all. parameters: models, judge, limit, seed, prompts as of every notebook. What was never
    recorded with these settings isn't there.
    """
    document = Document(profile, **parameters)
    for name in str(papers).split() or paths.papers():
        await _room(choose(name, paths.papers(), "paper"), "rows").collect(document)
    return document.content(settings.profiles()[profile]["caution"])


def told(row, label):
    """The text of a row's block of this label, empty if there is none; `row` with its shared blocks in place."""
    return next((b["text"] for b in row["shared"] if b["label"] == label), "")


def frame(content, judge=None):
    """A document's rows as a frame: a row for each reply and judge (or of one judge), with reply, status, value and right.

    Columns: id, paper, section, item, model, configuration, category, title, reply, reply_status, judge, status, value, right
    (True, False or None), raw, human (the first person's label or empty). A reply without a verdict has judge "".
    """
    import pandas as pd

    keep = (
        "id",
        "paper",
        "section",
        "item",
        "model",
        "configuration",
        "category",
        "title",
        "reply",
        "reply_status",
    )
    rows = [
        {
            **{k: r[k] for k in keep},
            **{k: v[k] for k in ("judge", "status", "value", "right", "raw")},
            "human": r["human"][0]["value"] if r["human"] else "",
        }
        for r in content["rows"]
        for v in r["verdicts"] or [verdict("", "")]
    ]
    made = pd.DataFrame(rows, columns=[*keep, "judge", "status", "value", "right", "raw", "human"])
    return (
        made
        if judge is None
        else made[made["judge"] == choose(judge, {*made["judge"], ""}, "judge")].reset_index(
            drop=True
        )
    )


def as_text(content, row):
    """A row as plain text: shared blocks, reply, blocks, verdicts, labels."""
    lines = [row["id"]]
    for b in (
        [b for key in row["shared"] for b in content["shared"][key]]
        + [text("Reply", row["reply"] or row["reply_status"])]
        + row["blocks"]
    ):
        lines += [f"\n{b['label'].upper()}", *_lines(b)]
    lines += [
        "\nVERDICTS",
        *(
            f"{v['judge']}: {v['value'] or v['status']} {v['reason']}".strip()
            for v in row["verdicts"]
        ),
    ]
    return "\n".join(
        lines + [f"{h['by']}: {h['value']} {h['reason']}".strip() for h in row["human"]]
    )


def _lines(block):
    """A block's text, line by line; marks in brackets behind what they mark."""

    def told(pieces):
        return "".join(f"{words} [{marks}]" if marks else words for words, marks in pieces)

    return {
        "text": lambda: [block["text"]],
        "list": lambda: [f"- {e}" for e in block["entries"]],
        "marked": lambda: [told(block["pieces"])],
        "aligned": lambda: [
            f"{r['term']}: "
            + ", ".join(f"{c} {m}" for c, m in zip(block["columns"], r["cells"]) if m)
            for r in block["rows"]
        ],
        "dialogue": lambda: [
            x
            for t in block["turns"]
            for x in (f"{t['who']}: {told(t['pieces'])}", *(f"    {n}" for n in t["notes"]))
        ],
    }[block["kind"]]()
