"""Models asked: `ask` replays and records replies to requests.

    replies = await ask([Request("q1", "smollm2-135m", messages)], recordings, mode="record")

A reply is on disk before it is returned. Only requests without a recording cause a call; the
embedded model's server starts only then.
"""

import asyncio
import contextlib
import functools
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
)
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

    from . import ledger

MODES = ("replay", "record", "fresh", "plan", "batch")
DRY = ("plan", "batch")  # what these write are requests, not results


class MissingRecording(BedsideError):
    """Replay met a request that was never recorded."""


async def ask(
    requests: Iterable[Request],
    recordings: store.Recordings,
    *,
    mode: str = "replay",
    account: "ledger.Account | None" = None,
    plan: list[Request] | None = None,
    label: str = "",
    progress: bool = True,
) -> list[Reply]:
    """Replies to `requests`, in order, one each.

    mode: replay (a miss raises MissingRecording), record (call what is missing), fresh (call
    all), plan (call nothing; append each miss to the list `plan`, with a reply of full length and
    fitting shape in its place), batch (append each miss to `plan`, with a reply without text that
    `waits`; only the embedded model, which takes no batches, is called). account: the notebook that
    asks, and its budgets. Requests with the same key are sent once. A request that fails for good
    yields a Reply with `error`. Raises StopRun for a refused key, a few equal failures that nothing
    mends, and before a budget would be passed; StoreError when replies can't be written; what came
    before is kept.
    """
    requests = list(requests)
    every = {r.key: r for r in requests}
    known = () if mode == "fresh" else recordings.found(every)
    replies = {key: as_reply(every[key], record, True) for key, record in known}
    missing = [r for key, r in every.items() if key not in replies]
    if missing and choose(mode, MODES, "MODE") == "replay":
        what = f"{len(missing)} of {len(requests)} requests have"
        raise _unrecorded(missing[0], recordings, what)
    if missing:
        recordings.check_sound()
    if mode == "batch":
        plan.extend(r for r in missing if registry.in_batches(r.model))
        replies |= {r.key: waiting(r) for r in missing if registry.in_batches(r.model)}
        missing, mode = [r for r in missing if r.key not in replies], "record"
    if missing and mode == "plan":
        plan.extend(missing)
        replies |= dry_run.stand_ins(missing)
    elif missing:
        names = list(dict.fromkeys(r.model for r in missing))
        count = len(every), len(replies)
        async with _caller(recordings, mode, account, label, progress, names, count) as one:

            async def work(queue):
                for request in queue:
                    replies[request.key] = await one(request)

            with unwrapped():
                async with asyncio.TaskGroup() as tasks:
                    for name in names:
                        queue = iter([r for r in missing if r.model == name])
                        # twice as many as are sent at once: some wait for their reply to be on disk
                        for _ in range(2 * model(name).max_concurrency):
                            tasks.create_task(work(queue))
    return [_for(replies[r.key], r) for r in requests]


def _for(reply, request):
    """A reply for another item's request with the same key."""
    return reply if reply.item == request.item else replace(reply, item=request.item)


@contextlib.asynccontextmanager
async def asking(
    recordings: store.Recordings,
    *,
    mode: str = "replay",
    account: "ledger.Account | None" = None,
    plan: list[Request] | None = None,
    label: str = "",
    progress: bool = True,
) -> AsyncIterator[Callable[[Request], Awaitable[Reply]]]:
    """A function for requests that follow from replies: `reply = await one(request)`.

    Any number of tasks may use it at once. Arguments and errors as of `ask`. A request that several
    tasks have is sent once. It is called for as soon as the model's max_concurrency allows, in the
    order of asking.
    """
    choose(mode, MODES, "MODE")
    recordings.refresh()
    without = functools.partial(_without_call, recordings, mode, plan)
    if mode in ("replay", "plan"):
        yield without
    elif mode != "batch":
        async with _caller(recordings, mode, account, label, progress) as one:
            yield one
    else:
        async with _caller(recordings, "record", account, label, progress) as called:

            async def one(request):
                return await (without if registry.in_batches(request.model) else called)(request)

            yield one


@contextlib.asynccontextmanager
async def _caller(recordings, mode, account, label, progress, names=(), count=(None, 0)):
    """What `ask` and `asking` send requests by.

    names: models whose key, price and folder are checked before anything is sent; count: (requests,
    recorded ones) if that is known beforehand.
    """
    from .ledger import Account
    from .sending import Calls, Meter  # most runs replay

    under_way, called, account = {}, set(), account or Account()
    meter = Meter(label, progress, account.notebook, *count)
    async with Calls(recordings, mode, account, meter) as call:
        for name in names:
            await call.ready(name)

        async def one(request):
            key = request.key
            record = recordings.get(key) if mode != "fresh" or key in called else None
            if record:
                return as_reply(request, record, True)
            if key not in under_way:
                recordings.check_sound()
                under_way[key] = asyncio.ensure_future(call(request))
                under_way[key].add_done_callback(functools.partial(over, key))
            reply = await asyncio.shield(under_way[key])
            called.add(key)
            return _for(reply, request)

        def over(key, task):
            del under_way[key]
            if not task.cancelled():
                task.exception()  # seen, if nobody waits for it any more

        try:
            yield one
        finally:  # whoever asked may be gone
            left = list(under_way.values())
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)


NOT_RECORDED = "not recorded"


def not_recorded(request: Request) -> Reply:
    """The reply to a request that has no recording, where nobody may be asked."""
    return Reply(request.item, request.model, request.key, error=NOT_RECORDED)


def waiting(request: Request) -> Reply:
    """The reply to a request that a batch is to bring."""
    return Reply(request.item, request.model, request.key, error=WAITS)


async def of_recorded(
    requests: Iterable[Request],
    recordings: store.Recordings,
    ask: Callable[[list[Request]], Awaitable[list[Reply]]],
    spared: Collection[str] | None = None,
) -> list[Reply]:
    """`ask`'s replies; those to `spared` items are `not_recorded` without a recording.

    spared: None spares all.
    """
    requests = list(requests)
    must = [spared is not None and r.item not in spared for r in requests]
    there = [m or r.key in recordings for m, r in zip(must, requests)]
    got = iter(await ask([r for r, here in zip(requests, there) if here]))
    return [next(got) if here else not_recorded(r) for r, here in zip(requests, there)]


async def _without_call(recordings, mode, plan, request):
    """The recorded reply; else what stands in for it and a line in `plan`, or an error."""
    if record := recordings.get(request.key):
        return as_reply(request, record, True)
    if mode == "replay":
        raise _unrecorded(request, recordings, "a request has")
    recordings.check_sound()
    plan.append(request)
    return waiting(request) if mode == "batch" else dry_run.stand_ins([request])[request.key]


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
    from .ledger import Account

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


def _unrecorded(request, recordings, what):
    recordings.check_sound()
    return MissingRecording(
        f"{what} no recording in {paths.rel(recordings.folder)}; the first: item {request.item!r},"
        f" model {request.model!r}, {recordings.nearest(request.item, request.fields)}. Record with"
        " MODE=record, see the cost first with `make plan`"
    )
