"""Calls: requests sent to endpoints, replies kept on disk, failures told in the provider's words.

    calls = Calls(recordings, "record", account, Meter(...))
    reply = await calls(request)
    await calls.close()

`models.ask` imports this when something has no recording.
"""

import asyncio
import contextlib
import json
import random
import time
from dataclasses import dataclass, replace

from bedside import BedsideError

from . import budget, failures, registry, store
from .failures import Failure
from .progress import Meter
from .replies import Reply, Request, as_reply
from .usage import used

RETRIES = 5  # of a request, where another try can help
FIRST_S, LONGEST_S = 0.5, 8.0  # before the first retry and the last, without a word from the server
PAUSE_S, LONGEST_PAUSE_S = 1.0, 32.0  # of all calls to a model that has enough, likewise
LONGEST_WAIT_S = 600.0  # that an endpoint may ask for
FEW = 3  # failures of one kind in a row after which a model isn't called any more


@dataclass
class Model:
    """What one model's calls share."""

    name: str
    client: object
    slots: asyncio.Semaphore
    secrets: list  # what no message may show
    replies: int = 0  # that came
    alike: str = ""  # of the failures since the last reply
    in_a_row: int = 0  # how many these are
    until: float = 0.0  # before which nothing is sent, since the endpoint has had enough
    level: int = 0  # how often in a row it had
    cut: float = 0.0  # since when

    async def turn(self, tokens: int) -> list[float]:
        """Wait until a call of so many tokens at most may be sent; it, for `budget.wait`."""
        call = [0.0, tokens]
        while (wait := self._pause() or budget.wait(self.name, call)) > 0:
            await asyncio.sleep(min(wait, budget.LOOK_S))
        call[0] = time.time()
        return call

    def _pause(self):
        wait = self.until - time.time()
        if not 0 < wait <= LONGEST_WAIT_S:  # more is the clock's fault
            if self.level > 1:  # one at a time tries whether it still refuses
                self.until = time.time() + self._pauses(self.level + 1)
            return 0.0
        return wait

    def _pauses(self, level):
        return min(PAUSE_S * 2 ** (level - 1), LONGEST_PAUSE_S)

    def refused(self, call: list[float], wait: float | None) -> None:
        """Let all calls wait, longer if one is refused that was sent after the last refusal."""
        if call[0] > self.cut:
            self.level, self.cut = self.level + 1, time.time()
        wait = self._pauses(self.level) if wait is None else wait
        self.until = max(self.until, time.time() + wait)

    def answered(self, call: list[float]) -> None:
        """Let calls go on, if this one was sent since they were refused."""
        if call[0] > self.cut:
            self.until, self.level = 0.0, 0


async def opened(stack: contextlib.AsyncExitStack, name: str) -> Model:
    """A model's client, and the rest.

    It is that below openai's own: objects for each option and answer would double a call's time.
    """
    import openai

    m = registry.model(name)
    url = m.base_url
    if m.provider == "local":
        from . import embedded

        url = await asyncio.to_thread(stack.enter_context, embedded.running(name))
    there = registry.connection(name, url)
    usual = {"authorization": f"Bearer {there['api_key']}", "content-type": "application/json"}
    own = {k.lower(): v for k, v in (there["default_headers"] or {}).items()}
    client = openai.DefaultAioHttpClient(
        base_url=there["base_url"],
        headers=usual | own,
        params=there["default_query"],
        timeout=there["timeout"],
        follow_redirects=False,
    )
    await stack.enter_async_context(client)
    slots = asyncio.Semaphore(min(FEW, m.max_concurrency))  # until a first reply came
    return Model(name, client, slots, registry.secrets(name))


class Calls:
    """`await calls(request)`: its reply, once it is on disk; equal requests are sent once.

    From the first call until `close` no other process of this make calls models.
    """

    def __init__(
        self, recordings: store.Recordings, mode: str, account: budget.Account, meter: Meter
    ):
        self.recordings, self.mode, self.account, self.meter = recordings, mode, account, meter
        self.models, self.opening, self.stack = {}, asyncio.Lock(), contextlib.AsyncExitStack()
        self.tasks, self.sent, self.came = {}, set(), set()  # by key; tasks that sent theirs; keys
        self.stopped = None  # the error that ended all

    async def close(self) -> None:
        """End: what was sent is waited for if the run was stopped, since it is paid for."""
        try:
            for task in self.tasks.values():
                if not (self.stopped and task in self.sent):
                    task.cancel()
            await asyncio.gather(*self.tasks.values(), return_exceptions=True)
            await self.recordings.flush()
        finally:
            self.meter.tell(end="\n")
            self.account.close()
            await self.stack.aclose()

    async def __call__(self, request: Request) -> Reply:
        if not (task := self.tasks.get(request.key)):
            if record := self._known(request):
                return as_reply(request, record, True)
            task = self.tasks[request.key] = asyncio.ensure_future(self._asked(request))
            task.add_done_callback(lambda _: self.tasks.pop(request.key))
        reply = await asyncio.shield(task)  # whoever asked may be gone
        return reply if reply.item == request.item else replace(reply, item=request.item)

    def _known(self, request):
        fresh = self.mode == "fresh" and request.key not in self.came
        return None if fresh else self.recordings.get(request.key)

    async def ready(self, name: str) -> Model:
        """What a model's calls share; raises StopRun or StoreError for what would stop a call."""
        async with self.opening:
            if name not in self.models:
                registry.check_callable(name)
                self.account.check_price(name)
                self.recordings.check_writable(name)
                if not self.models:
                    await self.stack.enter_async_context(budget.turn(self._waits))
                    self.recordings.refresh()  # what others have recorded meanwhile
                self.models[name] = await opened(self.stack, name)
        return self.models[name]

    def _waits(self):
        self.meter.tell("waits while another process of this make calls models")

    async def _asked(self, request):
        try:
            m = self.models.get(request.model) or await self.ready(request.model)
            async with m.slots:
                if record := self._known(request):
                    self.meter.recorded += 1
                    return as_reply(request, record, True)
                record, failed = await self._answered(m, request)
            if record:  # a reply counts once it is on disk; meanwhile the next one is sent
                await self.recordings.flush()
        except BedsideError as e:
            self.stopped = self.stopped or e
            raise
        self.came.add(request.key)
        self.meter.done()
        if record:
            return as_reply(request, record, False)
        return Reply(request.item, request.model, request.key, error=failed)

    async def _answered(self, m, request):
        """(record, ''), or (None, what failed), once a model has answered for good."""
        tries, seen = 0, m.replies
        while True:
            record, failure, call = await self._sent(m, request)
            if record:
                return self._taken(m, record), ""
            if failure.kind == "rate limit" and m.replies != seen:
                tries, seen = 0, m.replies  # others got through meanwhile: it goes on
            if not failure.again or tries >= RETRIES:
                return None, self._failed(m, failure)
            tries += 1
            self.meter.again[failure.kind] += 1
            if failure.kind == "rate limit":
                m.refused(call, failure.wait)
            else:
                pause = min(FIRST_S * 2 ** (tries - 1), LONGEST_S) * random.uniform(0.5, 1.0)
                await asyncio.sleep(pause if failure.wait is None else failure.wait)

    async def _sent(self, m, request):
        """(record or None, failure or None, call) of a request that is sent once, in its turn."""
        prompt, completion = request.estimate()
        call = await m.turn(request.likely + completion)
        if self.stopped:  # while this one waited
            raise self.stopped
        most = registry.cost(m.name, prompt, completion)
        if most is None:
            self.account.check_price(m.name, most)
        self.account.reserve(most)
        record = failure = None
        tokens = None, None
        self.sent.add(task := asyncio.current_task())
        try:
            record = await send(m.client, request, m.secrets)
            tokens = used(record)
        except Failure as e:
            failure, tokens = e, e.tokens
        finally:  # also if it is cancelled: what it costs then isn't known
            self.sent.discard(task)
            usd = registry.cost(m.name, *tokens[:2])
            self.account.settle(most, usd)
            self.meter.paid(most if usd is None else usd)
        if None not in tokens[:2]:
            call[1] = sum(tokens[:2])
        if not (failure and failure.again):
            m.answered(call)
        if failure and failure.fate == "withheld":
            self.account.failed(m.name, failure.kind, failure.status, failure.message)
            record = failures.withheld(request.kept(), failure)
        return record, failure, call

    def _taken(self, m, record):
        """A reply's record, taken in: it can't be lost now, whatever is cancelled."""
        self.recordings.put(m.name, record)
        if not m.replies:  # the first: now all slots are of use
            for _ in range(registry.model(m.name).max_concurrency - FEW):
                m.slots.release()
        m.replies, m.alike, m.in_a_row = m.replies + 1, "", 0
        return record

    def _failed(self, m, failure):
        """What failed for good, in words; a few alike in a row stop the run."""
        self.account.failed(m.name, failure.kind, failure.status, failure.message)
        alike = failure.kind + failure.message * (failure.kind == "bad request")
        if failure.fate != "alone" or failure.kind == "bad request":
            m.in_a_row = m.in_a_row + 1 if m.alike == alike else 1
            m.alike = alike
        if failure.fate == "stop" or m.in_a_row >= FEW:
            raise failures.stop(m.name, failure)
        self.meter.failed[failure.kind] += 1
        return f"{failure.kind}: {failure.message}"


async def send(client, request, secrets=()):
    """Send a request once; the record of its reply. Raises Failure."""
    import httpx2

    began, most_s = time.monotonic(), client.timeout.read
    body = json.dumps(registry.sent(request.model, request.body())).encode()
    route = registry.ROUTES[registry.model(request.model).api]
    try:
        async with asyncio.timeout(most_s):  # the client's own is from one byte to the next
            response = await client.post(route, content=body)
    except TimeoutError:
        told = f"no whole answer within timeout_s = {most_s:g} s"
        raise Failure("timeout", "", told, "again") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as e:
        raise failures.lost(e, secrets) from None
    status, headers = response.status_code, response.headers
    content = failures.masked(response.content, secrets)
    if status != 200:
        raise failures.of(status, content, headers, secrets)
    record = failures.read(request.kept(), failures.parsed(content), headers, secrets)
    return {**record, "latency_s": round(time.monotonic() - began, 3)}
