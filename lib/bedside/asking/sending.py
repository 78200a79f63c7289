"""Calls: requests sent to endpoints, replies kept on disk, failures told in the provider's words.

    async with Calls(recordings, "record", Account(notebook, budget_usd), meter) as call:
        reply = await call(request)

`models.ask` and `models.asking` import this when something has no recording.
"""

import asyncio
import contextlib
import os
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass

from bedside.read import outside

from . import failures, ledger, registry
from .failures import Failure
from .registry import StopRun
from .replies import Reply, Request, as_reply
from .usage import used

RETRIES = 5  # of a request, where another try can help
FIRST_S, LONGEST_S = 0.5, 8.0  # before the first retry and the last, without a word from the server
FEW = 3  # failures of one kind in a row after which a model isn't called any more
TOLD_S = 0.5  # between two words about the progress


class Meter:
    """Counts calls, cost and failures: on a tqdm bar, or for whoever watches the make.

    label: what is asked; total: how many requests, if that is known; recorded: how many of them
    need no call. With BEDSIDE_LIVE the counts go to the ledger, and there is no bar.
    """

    def __init__(self, label, shown, notebook="", total=None, recorded=0):
        from tqdm import tqdm

        self.label, self.total, self.recorded, self.count = label or "calls", total, recorded, 0
        self.spent, self.unpriced, self.told = 0.0, 0, 0.0
        self.failed, self.again = Counter(), Counter()  # by kind: for good, and tried once more
        live = bool(os.environ.get("BEDSIDE_LIVE"))
        self.progress = ledger.Progress(notebook) if live else None
        self.bar = tqdm(
            total=total,
            initial=recorded,
            desc=self.label,
            disable=live or not shown,
            file=sys.stderr,
            mininterval=1.0,
        )
        self._tell()

    def close(self):
        self._show()
        self.bar.close()
        if self.progress:
            self._tell()
            self.progress.close()

    def _show(self, refresh=True):
        told = f"recorded {self.recorded}, failed {self.failed.total()}, cost ${self.spent:.4f}"
        told += f" and {self.unpriced} of unknown cost" if self.unpriced else ""
        self.bar.set_postfix_str(told, refresh=refresh)

    def _tell(self):
        if self.progress:
            self.told = time.monotonic()
            self.progress.tell(
                label=self.label,
                done=self.recorded + self.count,
                total=self.total,
                recorded=self.recorded,
                failed=self.failed,
                again=self.again,
            )

    def came(self, usd):
        self.spent += usd or 0.0
        self.unpriced += usd is None

    def found(self):
        """Another process has recorded it meanwhile."""
        self.recorded, self.count = self.recorded + 1, self.count - 1

    def done(self):
        self.count += 1
        if self.bar.update():  # it was drawn anew, at most once a second
            self._show()
        if time.monotonic() - self.told > TOLD_S:
            self._tell()


@dataclass
class _Model:
    """What one model's calls share."""

    client: object
    ledger: ledger.Ledger
    slots: asyncio.Semaphore
    secrets: list  # what no message may show
    replies: int = 0  # that came
    alike: str = ""  # of the failures since the last reply
    in_a_row: int = 0  # how many these are


async def opened(stack: contextlib.AsyncExitStack, name: str, account: ledger.Account) -> _Model:
    """A model's client, over aiohttp (half the default's time per call), and the rest."""
    import openai

    m = registry.model(name)
    url = m.base_url
    if m.provider == "local":
        from . import embedded

        url = await asyncio.to_thread(stack.enter_context, embedded.running(name))
    client = openai.AsyncOpenAI(
        **registry.connection(name, url),
        max_retries=0,  # calls are tried again here, where all processes see it
        http_client=openai.DefaultAioHttpClient(follow_redirects=False),
    )
    await stack.enter_async_context(client)
    book = stack.enter_context(contextlib.closing(ledger.Ledger(name, account)))
    slots = asyncio.Semaphore(min(FEW, m.max_concurrency))  # until a first reply came
    return _Model(client, book, slots, registry.secrets(name))


class Calls:
    """`await call(request)`: its reply, once it is on disk.

    Each model has a client of its own, opened when first needed.
    """

    def __init__(self, recordings, mode, account, meter):
        self.recordings, self.mode, self.account, self.meter = recordings, mode, account, meter
        self.open, self.stopped = {}, None  # model -> _Model; the error that ended all
        self.flying = set()  # calls under way

    async def __aenter__(self):
        self.stack = contextlib.AsyncExitStack()
        return self

    async def __aexit__(self, *_):
        try:
            if not self.stopped:
                for flight in self.flying:
                    flight.cancel()
            # after a stop they end by themselves: what they bring is paid for
            await asyncio.gather(*self.flying, return_exceptions=True)
            await self.recordings.flush()
        finally:
            self.meter.close()
            await self.stack.aclose()

    async def ready(self, name):
        """What a model's calls share; raises StopRun or StoreError for what would stop a call."""
        if name not in self.open:
            self.open[name] = asyncio.ensure_future(self._ready(name))
        opened = self.open[name]
        return opened.result() if opened.done() else await asyncio.shield(opened)

    async def _ready(self, name):
        registry.check_callable(name)
        self.account.check_price(name)
        self.recordings.check_writable(name)
        self.recordings.refresh()
        return await opened(self.stack, name, self.account)

    async def __call__(self, request):
        m = await self.ready(request.model)
        try:
            async with m.slots:
                kept = await self._answered(m, request)
            return await kept  # while it goes to disk the slot is free for the next
        finally:
            m.ledger.release(request.key)

    async def _turn(self, m, request):
        """A call's turn (see `turn`), and the request's record if another process wrote it."""
        elsewhere = False
        while (call := await turn(m, request, request.key)) is None:
            elsewhere = True
            await asyncio.sleep(ledger.POLL_S)
            if self.stopped:
                raise self.stopped
        if self.mode == "fresh" and not elsewhere:
            return call, None
        self.recordings.refresh(new_files=False)
        return call, self.recordings.get(request.key)

    async def _answered(self, m, request):
        """Return once the model has answered, with what is to be awaited for the reply."""
        tries, seen = 0, m.replies
        while True:
            if self.stopped:  # while this one waited
                raise self.stopped
            try:
                call, record = await self._turn(m, request)
            except StopRun as e:
                self.stopped = e
                raise
            if record:
                m.ledger.withdraw(*call)
                self.meter.found()
                return self._kept(request, record, False)
            flight = asyncio.ensure_future(self._flight(m, request, call))
            self.flying.add(flight)
            flight.add_done_callback(self.flying.discard)
            record, failure, new = await asyncio.shield(flight)
            if record:
                if failure:  # withheld: it has a record, and the provider's words are told
                    m.ledger.gave_up(call[0])
                return self._kept(request, record, new)
            if failure.kind == "rate limit" and m.replies != seen:
                tries, seen = 0, m.replies  # others got through meanwhile: it goes on
            if not failure.again or tries >= RETRIES:
                m.ledger.gave_up(call[0])
                return self._failed(m, request, failure)
            tries += 1
            self.meter.again[failure.kind] += 1
            if failure.kind == "rate limit":
                m.ledger.refused(call[0], failure.wait)
            else:
                pause = min(FIRST_S * 2 ** (tries - 1), LONGEST_S) * random.uniform(0.5, 1.0)
                await asyncio.sleep(pause if failure.wait is None else failure.wait)

    async def _flight(self, m, request, call):
        """One call to its end: what it brings is put down even if nobody waits for it any more."""
        record, failure, usd = await sent(m, request, call)
        self.meter.came(usd)
        if failure and failure.fate == "withheld":
            record = failures.withheld(request.kept(), failure)
        return record, failure, bool(record) and self._taken(m, request, record)

    def _taken(self, m, request, record):
        """Take a reply in; it can't be lost now, whatever is cancelled."""
        self.recordings.put(request.model, record)
        if not m.replies:  # the first: now all slots are of use
            for _ in range(registry.model(request.model).max_concurrency - FEW):
                m.slots.release()
        m.replies, m.alike, m.in_a_row = m.replies + 1, "", 0
        return True

    def _failed(self, m, request, failure):
        """The reply of a request that failed for good; a few alike in a row stop the run."""
        alike = failure.kind + failure.message * (failure.kind == "bad request")
        if failure.fate != "alone" or failure.kind == "bad request":
            m.in_a_row = m.in_a_row + 1 if m.alike == alike else 1
            m.alike = alike
        if failure.fate == "stop" or m.in_a_row >= FEW:
            self.stopped = failures.stop(request.model, failure)
            raise self.stopped
        self.meter.failed[failure.kind] += 1
        return self._kept(request, {"error": f"{failure.kind}: {failure.message}"}, False)

    async def _kept(self, request, record, new):
        """The reply, once what is new is on disk: only then it counts."""
        if new:
            await self.recordings.flush()
        self.meter.done()
        if "error" in record:
            return Reply(request.item, request.model, request.key, error=record["error"])
        return as_reply(request, record, recorded=not new)


async def turn(m: _Model, request: Request, key: str = "") -> tuple[int, float | None] | None:
    """Wait until a request may be sent; the call's number and the most it can cost.

    key: as of `Ledger.turn`; None if another process has it under way.
    """
    prompt, completion = request.estimate()
    most = registry.cost(request.model, prompt, completion)
    number = await m.ledger.turn(request.likely + completion, most, key)
    return None if number is None else (number, most)


async def sent(
    m: _Model, request: Request, call: tuple[int, float | None]
) -> tuple[dict | None, Failure | None, float | None]:
    """Send a request once, in its `turn`: (record, None, USD) or (None, failure, USD).

    USD is None where it isn't known.
    """
    number, most = call
    record, failure, tokens = None, None, (None, None)
    try:
        record = await send(m.client, request, m.secrets)
        tokens = used(record)
    except Failure as e:
        failure, tokens = e, e.tokens
    finally:  # also if it is cancelled: what it costs then isn't known
        usd = m.ledger.ended(number, most, tokens, failure)
    return record, failure, usd


async def send(client, request, secrets=()):
    """Send a request once; the record of its reply. Raises Failure."""
    import httpx2
    import openai

    began, status = time.monotonic(), 200
    body = registry.sent(request.model, request.body())
    route = registry.ROUTES[registry.model(request.model).api]
    most_s = client.timeout
    try:  # the raw response: building the client's typed objects would double the time per call
        async with asyncio.timeout(most_s):  # the client's own is from one byte to the next
            response = await client.post(route, body=body, cast_to=httpx2.Response)
        content, headers = response.content, response.headers
    except openai.APIStatusError as e:
        content, headers, status = e.response.content, e.response.headers, e.status_code
    except openai.APIConnectionError as e:
        raise failures.lost(e, secrets) from None
    except TimeoutError:
        told = f"no whole answer within timeout_s = {most_s:g} s"
        raise Failure("timeout", "", told, "again") from None
    content = failures.masked(content, secrets)
    if status != 200:
        raise failures.of(status, content, headers, secrets)
    try:
        record = failures.read(request.kept(), outside.parsed(content), headers, secrets)
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace")
        told = (
            f"the endpoint's answer is not JSON: {failures.cleaned(failures.words(text), secrets)}"
        )
        raise Failure("bad answer", 200, told, "again") from None
    return {**record, "latency_s": round(time.monotonic() - began, 3)}
