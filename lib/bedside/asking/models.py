"""Models asked: `ask` replays and records replies to requests.

    replies = await ask([Request("q1", "smollm2-135m", messages)], recordings, mode="record")

A reply is on disk before it is returned. Only requests without a recording cause a call; the
embedded model's server starts only then. `sending` has what an endpoint is, and how it fails.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError, choose
from bedside.read import paths

from . import dry_run, failures, registry, sending, store
from .budget import Account
from .failures import Failure
from .progress import meter
from .registry import most
from .replies import WAITS, Reply, Request, as_reply
from .usage import used

if TYPE_CHECKING:
    import pandas as pd


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
        account: Account | None = None,
        plan: list[Request] | None = None,
        label: str = "",
        total: int | None = None,
    ):
        self.recordings, self.mode, self.plan = recordings, choose(mode, MODES, "MODE"), plan
        self.account = account or Account()
        calls = mode not in ("replay", "plan")
        self.bar = meter(f"{self.account.notebook} {label}".strip(), calls, total)
        self.again = Counter()  # calls that were tried once more, by kind of failure
        self.endpoints, self.tasks, self.sent = {}, {}, set()  # tasks by key; those that sent
        self.stopped = None  # the error that ended all

    async def __aenter__(self):
        self.recordings.refresh()
        return self

    async def __aexit__(self, *_):
        """End: what was sent is waited for if the run was stopped, since it is paid for."""
        for task in self.tasks.values():
            if not (self.stopped and task in self.sent):
                task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
        for endpoint in self.endpoints.values():
            await endpoint.client.aclose()
        if self.endpoints:
            self.account.close()
        self.bar.close()

    async def __call__(self, request: Request) -> Reply:
        (reply,) = await self.all([request])
        return reply

    async def all(
        self, requests: list[Request], spared: Collection[str] | None = ()
    ) -> list[Reply]:
        """Replies to requests that don't follow from one another; spared: as of `ask`."""
        every = {r.key: r for r in requests}
        known = {} if self.mode == "fresh" else {k: self.recordings.get(k) for k in every}
        replies = {k: as_reply(every[k], record, True) for k, record in known.items() if record}
        self.bar.update(len(replies))
        if missing := [r for k, r in every.items() if k not in replies]:
            self.recordings.check_sound()
            if self.mode == "replay":
                self._check_spared(missing, spared, len(requests))
            aside = {r.key: reply for r in missing if (reply := self._aside(r))}
            if self.mode in DRY:
                self.plan.extend(r for r in missing if r.key in aside)
            tasks = [self._task(r) for r in missing if r.key not in aside]
            called = await asyncio.gather(*map(asyncio.shield, tasks))  # whoever asked may be gone
            replies |= aside | {reply.key: reply for reply in called}
        return [replace(replies[r.key], item=r.item) for r in requests]

    def _aside(self, request):
        """What stands for a reply that isn't called for, or None."""
        if self.mode == "plan":
            return dry_run.stand_in(request)
        batch = self.mode == "batch" and not registry.is_embedded(request.model)
        if batch or self.mode == "replay":
            error = WAITS if batch else NOT_RECORDED
            return Reply(request.item, request.model, request.key, error=error)
        return None

    def _check_spared(self, missing, spared, of):
        if must := [r for r in missing if spared is not None and r.item not in spared]:
            first, folder = must[0], paths.rel(self.recordings.folder)
            raise MissingRecording(
                f"{len(must)} of {of} requests have no recording in {folder}. The first: item"
                f" {first.item!r}, model {first.model!r},"
                f" {self.recordings.nearest(first.item, first.fields)}. See the cost with"
                " `make plan`, then record with MODE=record."
            )

    # ---- calls

    def _task(self, request):
        """What asks for a reply; raises StopRun or StoreError for what would stop a call."""
        if (name := request.model) not in self.endpoints:
            registry.check_callable(name)
            self.recordings.check_writable(name)
            self.endpoints[name] = sending.Endpoint(name)
        if request.key not in self.tasks:
            self.tasks[request.key] = asyncio.ensure_future(self._asked(request))
        return self.tasks[request.key]

    async def _asked(self, request):
        """The reply to a request, once it is on disk."""
        end = self.endpoints[request.model]
        try:
            async with end.slots:
                record, error = await self._answered(end, request)
                if record:  # it can't be lost now, whatever is cancelled
                    add = asyncio.to_thread(self.recordings.add, end.name, [record])
                    await asyncio.shield(add)
        except BedsideError as e:
            self.stopped = self.stopped or e
            raise
        self._show()
        if record:
            return as_reply(request, record, False)
        return Reply(request.item, request.model, request.key, error=error)

    def _show(self):
        """Count a call that has ended, with what all have cost and how they failed."""
        unpriced = f" and {self.account.unpriced} unpriced" * bool(self.account.unpriced)
        notes = [f"${self.account.paid:.2f}{unpriced}"]
        for what, counts in (("failed", self.account.kinds), ("tried again", self.again)):
            notes += [f"{what}: {n} {kind}" for kind, n in sorted(counts.items())]
        self.bar.set_postfix_str(", ".join(notes), refresh=False)
        self.bar.update()

    async def _answered(self, end, request):
        """(record, ''), or (None, what failed), once an endpoint has answered for good."""
        tries, seen = 0, end.replies
        while True:
            try:
                record = await self._once(end, request)
            except Failure as failure:
                if failure.kind == "rate limit" and end.replies != seen:
                    tries, seen = 0, end.replies  # others got through meanwhile: it goes on
                if failure.fate == "again" and tries < sending.RETRIES:
                    tries += 1
                    self.again[failure.kind] += 1
                    await end.pause(failure, tries)
                    continue
                self.account.failed(end.name, failure.kind, failure.status, failure.message)
                if failure.fate != "withheld":
                    return None, end.failed(failure)
                record = failures.withheld(request.kept(), failure)
            end.replies, end.alike = end.replies + 1, ("", 0)
            return record, ""

    async def _once(self, end, request):
        """The record of a request's reply, sent once in its turn and paid for; raises Failure."""
        call = await end.turn(request.likely + request.most)
        if self.stopped:  # while this one waited
            raise self.stopped
        most, tokens = self.account.reserve(end.name, request.estimate()), (None, None)
        self.sent.add(task := asyncio.current_task())
        try:
            record = await sending.send(end, request)
            tokens = used(record)
            return record
        except Failure as e:
            tokens = e.tokens
            raise
        finally:  # also if it is cancelled: what it costs then isn't known
            self.sent.discard(task)
            self.account.settle(end.name, most, tokens)
            if None not in tokens:
                call[1] = sum(tokens)


NOT_RECORDED = "not recorded"  # the error of a request without a recording, where nobody is asked


def requests_to(
    run: Any,
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
    run: Any,
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
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(repeat=[r.repeat for r in asked]) if repeats else frame


# ---- without a run

ASKED = "own/asked"  # of data/recordings: where replies are kept unless a folder is named


def waited(coroutine: Coroutine) -> Any:
    """What a coroutine returns, also in a notebook, whose own loop is running already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


class Alone:
    """Asks as a Run does, with the arguments of `answers_to`."""

    def __init__(self, mode: str, recordings: Path | str, budget_usd: float | None):
        self.mode = choose(mode, MODES[:3], "mode")
        self.recordings = store.Recordings(paths.RECORDINGS / recordings)
        self.account = Account("bedside", budget_usd)

    async def ask(self, requests: Iterable[Request], label: str = "") -> list[Reply]:
        how = {"mode": self.mode, "account": self.account, "label": label}
        return await ask(requests, self.recordings, **how)


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
    messages = {
        i: [{"role": "user", "content": p}] if isinstance(p, str) else p for i, p in prompts.items()
    }
    alone = Alone(mode, recordings, budget_usd)
    return waited(answers_of(alone, messages, max_tokens, names, kind, temperature))
