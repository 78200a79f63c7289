"""The document of judged items that explorer and raters share, made of graded replies."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from bedside import BedsideError, choose
from bedside.asking import store
from bedside.asking.models import NOT_RECORDED
from bedside.judging import trust_cards
from bedside.read import paths, prompts
from bedside.run import Run
from bedside.write import frames

from .display import Display

BY = ("model", "rules", "person", "written")
SENT = "model messages response_format settings repeat seconds usd".split()


def row_id(paper: str, notebook: str, item: str, model: str, configuration: str) -> str:
    """The id of a row, the same in every run of a notebook."""
    return "/".join([paper, notebook, item, model, configuration])


class Document:
    """The rows of a profile or run, the blocks that they share, and the calls behind them."""

    def __init__(self, profile: str = "sample"):
        self.profile = profile
        self.papers: dict[str, str] = {}  # names
        self.judge: dict[str, str] = {}  # whose verdicts come first, by paper
        self.cards: dict[str, str] = {}  # a line of each trust card, by "paper judge"
        self.shared: dict[str, list[dict]] = {}
        self.rows: dict[str, dict] = {}
        self.calls: dict[str, dict] = {}
        self.messages: dict[str, dict] = {}

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
        for mine in replies.values():
            if mine[0].get(how.status) != NOT_RECORDED:
                self._add(paper, mine, how, calls)

    def _add(self, paper, rows, how, calls):
        r = rows[0]
        id = row_id(paper, how.notebook, r["item"], r["model"], r["configuration"])
        if id in self.rows:
            raise BedsideError(f"two rows have the id {id!r}")
        beside, (section, category) = how.beside(r), how.headed(r)
        texts = {
            "id": id,
            "paper": paper,
            "section": section,
            "item": r["item"],
            "unit": str(r["unit"]),
            "model": r["model"],
            "by": choose(r.get(how.by) or "model", BY, "by"),
            "configuration": r["configuration"],
            "category": category,
            "title": " ".join(r[how.title].split()),
            "reply": r[how.reply],
            "reply_status": r.get(how.status) or "",
            "beside": beside and row_id(paper, how.notebook, r["item"], r["model"], beside),
        }
        for key, blocks in (shared := how.shared(r)).items():
            self.shared.setdefault(key, blocks)
        self.rows[id] = {
            **{name: prompts.clean(words) for name, words in texts.items()},
            "calls": [self._called(key, calls) for key in r["key"].split()],
            "shared": list(shared),
            "truncated": bool(r["truncated"]),
            "blocks": how.blocks(rows),
            "verdicts": [
                {**told, "calls": [self._called(k, calls) for k in _keys(r) if k in calls]}
                for told, r in zip(how.verdicts(rows), (r for r in rows if r["judge"]), strict=True)
            ],
            "more": how.more(rows),
            "human": how.human(rows),
        }

    def _called(self, key, calls):
        """Add a call, and each of its messages once; return its key."""
        if key not in self.calls:
            made = {k: calls[key][k] for k in (*SENT, *frames.RETURNED)}
            for message in made["messages"]:
                self.messages[store.digest(message)[:16]] = prompts.cleaned(message)
            made["messages"] = [store.digest(message)[:16] for message in made["messages"]]
            self.calls[key] = prompts.cleaned(made)
        return key

    def content(self, about: str = "") -> dict[str, Any]:
        """The whole document as one JSON-able dict."""
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


def _keys(row):
    """The keys of the calls in which a judge gave the verdict of a row."""
    return (row.get("call") or "").split()
