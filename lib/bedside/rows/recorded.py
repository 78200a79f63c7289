"""Runs that only replay, and the document that collects their replies."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

from bedside import (
    BedsideError,
    choose,
    judges,
    models,
    notebooks,
    paths,
    prompts,
    settings,
    store,
)
from bedside.models import NOT_RECORDED as ABSENT
from bedside.models import Reply, Request
from bedside.run import Run

BY = ("model", "rules", "person", "written")
RETURNED = "returned_model finish prompt_tokens completion_tokens date fingerprint router".split()


class Recorded(Run):
    """A Run with a notebook's own settings that only replays.

    A request without a recording gets a reply that says so.

    settings: the notebook's parameters, in a run of other ones those of the run. judges: the run's
    judge, the judge without a model, and every model with recordings here. A verdict that wasn't
    recorded has the status `error` and ABSENT as its raw text.
    """

    def __init__(self, paper: str, notebook: str, **parameters: Any):
        given = {k: v for k, v in parameters.items() if k in ("profile", *settings.DEFAULTS)}
        super().__init__(paper, notebook, **given)
        self.settings = notebooks.parameters(name := f"{paper}/{notebook}")
        of_run = {**settings.kept(), **parameters}
        own = self.settings.keys() & of_run.keys() - {"profile", *settings.DEFAULTS}
        self.settings |= notebooks.typed(name, {k: of_run[k] for k in own})
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


def call(request: Request, reply: Reply) -> dict:
    """A request as it was sent, and what came back with the reply; None for unknown values."""
    sent = dict(request.body())
    tokens = reply.prompt_tokens, reply.completion_tokens, reply.cache_write_tokens
    return {
        "model": request.model,
        "messages": sent.pop("messages"),
        "response_format": sent.pop("response_format", None),
        "settings": {k: v for k, v in sent.items() if k != "model"},
        "repeat": request.repeat,
        **{name: None if (v := getattr(reply, name)) == "" else v for name in RETURNED},
        "seconds": reply.latency_s,
        "usd": models.cost(request.model, *tokens, batch=reply.batch, when=reply.date),
    }


def row_id(run: Run, item: str, model: str, configuration: str) -> str:
    """The id of a row, the same in every run of a notebook."""
    return "/".join([run.paper, run.notebook, item, model, configuration])


class Document:
    """The rows of a profile and the blocks that they share; parameters: those of notebooks."""

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
        self.heard: dict[str, dict] = {}  # every call of the runs, by key

    def run(self, paper: str, notebook: str) -> Recorded:
        """A notebook as a Recorded run; all runs of a document share their calls."""
        run = Recorded(paper, notebook, **self.parameters)
        run.calls = self.heard
        return run

    def begin(self, run: Recorded, judge: str | None = None) -> None:
        """Add a paper: its name, the judge that comes first (the run's), its judges' cards."""
        self.papers[run.paper] = paths.papers()[run.paper]["name"]
        self.judge[run.paper] = judge or run.judge
        for name in run.judges:
            with contextlib.suppress(BedsideError):  # never measured: the page then shows no card
                line = judges.describe(run.card(name))
                self.cards[f"{run.paper} {name}"] = line.split(", ", 1)[1]

    def share(self, key: str, *blocks: dict) -> str:
        """Add blocks under a key; return the key."""
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
        """Add a row; return its id. Raises BedsideError if the id is taken.

        unit: what repeats, the item by default. by: one of BY. sent: keys of the requests that led
        to the reply, separated by blanks. status: why there is no reply, empty if there is one;
        with ABSENT no row is added. beside: the id of the row beside which it is shown.
        """
        if status == ABSENT:
            return ""
        id = row_id(run, item, model, configuration)
        if id in self.rows:
            raise BedsideError(f"two rows have the id {id!r}")
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
        """Add a call, and each of its messages once; return its key."""
        if key not in self.calls:
            made = dict(self.heard[key])
            for message in made["messages"]:
                self.messages[store.digest(message)[:16]] = prompts.cleaned(message)
            made["messages"] = [store.digest(message)[:16] for message in made["messages"]]
            self.calls[key] = prompts.cleaned(made)
        return key

    def content(self, about: str = "") -> dict:
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
