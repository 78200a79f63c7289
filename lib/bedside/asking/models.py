"""Models asked: `ask` replays and records replies to requests.

    replies = await ask([Request("q1", "smollm2-135m", messages)], recordings, mode="record")

A reply is on disk before it is returned. Only requests without a recording cause a call; the
embedded model's server starts only then.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from bedside import BedsideError, choose
from bedside.read import paths

from . import dry_run, registry, store
from .registry import model, most
from .replies import WAITS, Reply, Request, as_reply

if TYPE_CHECKING:
    import pandas as pd

    from bedside.run import Run

    from . import budget

MODES = ("replay", "record", "fresh", "plan", "batch")
DRY = ("plan", "batch")  # what these write are requests, not results


class MissingRecording(BedsideError):
    """Replay met a request that was never recorded."""


async def ask(
    requests: Iterable[Request],
    recordings: store.Recordings,
    *,
    spared: Collection[str] | None = (),
    **calling: Any,
) -> list[Reply]:
    """Replies to `requests`, in order, one each. calling: as of `Asking`.

    Requests with the same key are sent once. spared: items (None: all) whose requests have the
    error NOT_RECORDED for their reply in mode replay, if they have no recording.
    """
    requests = list(requests)
    async with Asking(recordings, total=len({r.key for r in requests}), **calling) as asking:
        return await asking.all(requests, spared)


class Asking:
    """Replies to requests, while its block runs: one by one, as they follow from others, or all.

        async with Asking(recordings, mode="record") as one:
            reply = await one(request)

    mode: replay (a miss raises MissingRecording), record (call what is missing), fresh (call
    all), plan (call nothing; append each miss to the list `plan`, with a reply of full length and
    fitting shape in its place), batch (append each miss to `plan`, with a reply without text that
    `waits`; only the embedded model, which takes no batches, is called). account: the notebook that
    asks, and its budgets. total: how many requests there are, if that is known.

    Any number of tasks may use it at once; a request that several have is sent once. A request that
    fails for good yields a Reply with `error`. Raises StopRun for a refused key, a few equal
    failures that nothing mends, and before a budget would be passed; StoreError when replies can't
    be written; what came before is kept.
    """

    def __init__(
        self,
        recordings: store.Recordings,
        *,
        mode: str = "replay",
        account: "budget.Account | None" = None,
        plan: list[Request] | None = None,
        label: str = "",
        progress: bool = True,
        total: int | None = None,
    ):
        self.recordings, self.mode, self.plan = recordings, choose(mode, MODES, "MODE"), plan
        self.account, self.shown, self.calls = account, (label, progress, total), None

    async def __aenter__(self):
        self.recordings.refresh()
        return self

    async def __aexit__(self, *_):
        if self.calls:
            await self.calls.close()

    async def __call__(self, request: Request) -> Reply:
        (reply,) = await self.all([request])
        return reply

    async def all(
        self, requests: list[Request], spared: Collection[str] | None = ()
    ) -> list[Reply]:
        """Replies to requests that don't follow from one another; spared: as of `ask`."""
        every = {r.key: r for r in requests}
        replies = {}
        if self.mode != "fresh":
            records = {k: self.recordings.get(k) for k in every}
            replies = {
                k: as_reply(every[k], record, True) for k, record in records.items() if record
            }
        missing = [r for k, r in every.items() if k not in replies]
        if missing:
            self.recordings.check_sound()
        if missing and self.mode == "replay":
            if must := [r for r in missing if spared is not None and r.item not in spared]:
                raise self._unrecorded(must, len(requests))
            replies |= {r.key: _without(r, NOT_RECORDED) for r in missing}
        elif missing and self.mode == "plan":
            self.plan.extend(missing)
            replies |= dry_run.stand_ins(missing)
        else:
            if self.mode == "batch":
                wait = [r for r in missing if not registry.is_embedded(r.model)]
                self.plan.extend(wait)
                replies |= {r.key: _without(r, WAITS) for r in wait}
                missing = [r for r in missing if r.key not in replies]
            if missing:
                replies |= await self._called(missing, len(replies))
        return [replace(replies[r.key], item=r.item) for r in requests]

    async def _called(self, missing, recorded):
        """{key: reply} of requests that are called for, each model's in their order."""
        if not self.calls:
            from . import sending  # most runs replay
            from .budget import Account
            from .progress import Meter

            account = self.account or Account()
            meter = Meter(account, *self.shown, recorded)
            self.calls = sending.Calls(self.recordings, self.mode, account, meter)
        names, replies = dict.fromkeys(r.model for r in missing), {}
        for name in names:
            await self.calls.ready(name)

        async def work(queue):
            for request in queue:
                replies[request.key] = await self.calls(request)

        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                for name in names:
                    mine = [r for r in missing if r.model == name]
                    queue, most = iter(mine), model(name).max_concurrency
                    # twice as many as are sent at once: some wait for their reply to be on disk
                    for _ in range(min(2 * most, len(mine))):
                        tasks.create_task(work(queue))
        if len(replies) < len(missing):  # the block was left meanwhile
            raise asyncio.CancelledError
        return replies

    def _unrecorded(self, missing, of):
        first, folder = missing[0], paths.rel(self.recordings.folder)
        return MissingRecording(
            f"{len(missing)} of {of} requests have no recording in {folder}; the first: item"
            f" {first.item!r}, model {first.model!r},"
            f" {self.recordings.nearest(first.item, first.fields)}. Record with MODE=record, see"
            " the cost first with `make plan`"
        )


NOT_RECORDED = "not recorded"  # the error of a request without a recording, where nobody is asked


def _without(request, why):
    return Reply(request.item, request.model, request.key, error=why)


@contextlib.contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the first error of a task group as it was.

    Without the group as its context: with it IPython would print no error at all.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        first = group.exceptions[0]
        try:
            raise first
        finally:  # raising set it
            first.__context__ = None


def requests_to(
    run: "Run",
    prompts: dict[str, list[dict]],
    max_tokens: int,
    models: list[str] | None = None,
    temperature: float = 0,
    repeats: int = 1,
    response_format: dict | None = None,
    kind: str = "",
) -> list[Request]:
    """Requests to a run's or other models for {item: messages}, each `repeats` times.

    kind: of text, as `most` takes it.
    """

    def settings(name):
        return {"max_tokens": most(name, max_tokens, kind), "temperature": temperature}

    return [
        Request(item, name, messages, settings(name), response_format, repeat=k)
        for name in models or run.models
        for item, messages in prompts.items()
        for k in range(repeats)
    ]


async def answers_of(
    run: "Run",
    prompts: dict[str, list[dict]],
    max_tokens: int,
    models: list[str] | None = None,
    kind: str = "",
    temperature: float = 0,
    repeats: int = 0,
) -> "pd.DataFrame":
    """Answers of a run's or other models to {item: messages}, as a frame.

    kind: of text, as `most` takes it. repeats: how often each is asked; the frame then has the
    column `repeat`, from 0. Columns: item, model, answer, reply_status (empty for an answer, else
    why there is none), truncated, sent (the key of its request). Where there is none, `answer` is
    what came nevertheless, such as the words of a refusal; nobody judges it.
    """
    import pandas as pd

    asked = requests_to(run, prompts, max_tokens, models, temperature, repeats or 1, kind=kind)
    replies = await run.ask(asked, "answers")
    rows = [(r.item, r.model, r.text or r.refusal, r.why, r.truncated, r.key) for r in replies]
    columns = ["item", "model", "answer", "reply_status", "truncated", "sent"]
    made = pd.DataFrame(rows, columns=columns)
    return made.assign(repeat=[r.repeat for r in asked]) if repeats else made


# ---- without a run

ASKED = "own/asked"  # of data/recordings: where replies are kept unless a folder is named


def waited(coroutine: Coroutine) -> Any:
    """What a coroutine returns, also in a notebook, whose own loop is running already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def asking_alone(
    mode: str, recordings: Path | str, budget_usd: float | None
) -> Callable[[Iterable[Request], str], Awaitable[list[Reply]]]:
    """A function that asks as a Run's `ask` does; recordings: a folder, of data/recordings."""
    from .budget import Account

    kept, mode = store.Recordings(paths.RECORDINGS / recordings), choose(mode, MODES[:3], "mode")
    calling = {"mode": mode, "account": Account("bedside", budget_usd)}
    return lambda requests, label="": ask(requests, kept, label=label, **calling)


def answers_to(
    prompts: dict[str, str | list[dict]],
    models: str,
    *,
    mode: str = "replay",
    recordings: Path | str = ASKED,
    budget_usd: float | None = None,
    max_tokens: int = 2048,
    temperature: float = 0,
    kind: str = "answer to a question",
) -> "pd.DataFrame":
    """Answers of one or more models ("a b") to {item: a text or messages}, a row for each.

    mode: replay, record (call what has no recording) or fresh. recordings: a folder, of
    data/recordings. Columns and `kind`: as of `answers_of`. `Run.ask` is the same to be awaited.
    """
    if not (names := models.split()):
        raise BedsideError("name a model of data/models.toml to ask, or several: 'a b'")
    told = {
        i: [{"role": "user", "content": p}] if isinstance(p, str) else p for i, p in prompts.items()
    }
    alone = SimpleNamespace(ask=asking_alone(mode, recordings, budget_usd))
    return waited(answers_of(alone, told, max_tokens, names, kind, temperature))
