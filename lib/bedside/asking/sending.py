"""Endpoints: what one model's calls share, how a request is sent, what failures follow.

`models.Asking` uses them.
"""

import asyncio
import contextlib
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from . import budget, failures, registry
from .failures import Failure

RETRIES = 5  # of a request, where another try can help
FIRST_S, LONGEST_S = 0.5, 8.0  # before the first retry and the last, without a word from the server
PAUSE_S, LONGEST_PAUSE_S = 4.0, 32.0  # of all calls to a model that has enough, likewise
FEW = 3  # failures of one kind in a row after which a model isn't called any more


@dataclass
class Endpoint:
    """What one model's calls share."""

    name: str
    client: object
    slots: asyncio.Semaphore
    secrets: list  # what no message may show
    replies: int = 0  # that came
    alike: Counter = field(default_factory=Counter)  # the failures since the last reply
    until: float = 0.0  # before which nothing is sent, since the endpoint has had enough

    async def turn(self, tokens: int) -> list[float]:
        """Wait until a call of so many tokens at most may be sent; it, for `budget.wait`."""
        call = [0.0, tokens]
        while (wait := self._left()) or (wait := budget.wait(self.name, call)):
            await asyncio.sleep(min(wait, budget.LOOK_S))
        return call

    def _left(self):
        left = self.until - time.time()
        return left if 0 < left <= failures.LONGEST_S else 0.0  # more is the clock's fault

    async def pause(self, failure: Failure, tries: int) -> None:
        """Wait before a request is tried again; after a rate limit all calls do, by `turn`."""
        limit = failure.kind == "rate limit"
        first, longest = (PAUSE_S, LONGEST_PAUSE_S) if limit else (FIRST_S, LONGEST_S)
        wait = min(first * 2 ** (tries - 1), longest) * random.uniform(0.5 + limit / 2, 1.0)
        wait = wait if failure.wait is None else failure.wait
        if limit:
            self.until = max(self.until, time.time() + wait)
        else:
            await asyncio.sleep(wait)

    def answered(self) -> None:
        """Count a reply; with the first one all slots are of use."""
        for _ in range(0 if self.replies else registry.model(self.name).max_concurrency - FEW):
            self.slots.release()
        self.replies += 1
        self.alike.clear()

    def failed(self, failure: Failure) -> str:
        """What failed for good, in words; StopRun after a few alike in a row."""
        told = f"{failure.kind}: {failure.message}"
        bad = failure.kind == "bad request"
        if failure.fate != "alone" or bad:
            alike = told if bad else failure.kind
            self.alike = Counter({alike: self.alike[alike] + 1})
        if failure.fate == "stop" or max(self.alike.values(), default=0) >= FEW:
            raise failures.stop(self.name, failure)
        return told


async def opened(stack: contextlib.AsyncExitStack, name: str) -> Endpoint:
    """A model's endpoint, open until the stack is closed.

    Its client is that below openai's own: objects for each option and answer would double a call's
    time.
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
    return Endpoint(name, client, slots, registry.secrets(name))


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
