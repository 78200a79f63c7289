"""Endpoints: what one model's calls share, how a request is sent, what failures follow.

`models.Asking` uses them.
"""

import asyncio
import json
import random
import time
from collections import defaultdict, deque

from . import embedded, failures, registry
from .failures import Failure

RETRIES = 5  # of a request, where another try can help
FIRST_S, LONGEST_S = 0.5, 8.0  # before the first retry and the last, without a word from the server
PAUSE_S, LONGEST_PAUSE_S = 4.0, 32.0  # of all calls to a model that has enough, likewise
FEW = 3  # failures of one kind in a row after which a model isn't called any more
WINDOW_S = 60.0  # of requests_per_minute and tokens_per_minute
LOOK_S = 0.25  # how often a call that waits looks again

_sent = defaultdict(deque)  # model -> [time, tokens] of this process's calls of the last minute


class Endpoint:
    """What one model's calls share; `client` is to be closed.

    The client is that below openai's own: objects for each option and answer would double a call's
    time.
    """

    def __init__(self, name: str):
        import openai

        self.name, self.model = name, (m := registry.model(name))
        url = embedded.served(name) if m.provider == "local" else registry.expanded(m.base_url)
        key = registry.variable(m.api_key_env) or "none"  # for endpoints that want none
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        self.client = openai.DefaultAioHttpClient(
            base_url=url,
            headers=headers | {k.lower(): v for k, v in registry.expanded(m.headers).items()},
            params=registry.expanded(m.query),
            timeout=m.timeout_s,
            follow_redirects=False,
        )
        self.slots = asyncio.Semaphore(m.max_concurrency)
        self.replies, self.alike = 0, ("", 0)  # that came; the last failure, how often since then
        self.until = 0.0  # before which nothing is sent, since the endpoint has had enough

    async def turn(self, tokens: int) -> list[float]:
        """Wait until a call of so many tokens at most may be sent; its [time, tokens].

        The tokens may be corrected afterwards.
        """
        while (wait := self._wait(tokens)) > 0:
            await asyncio.sleep(min(wait, LOOK_S))
        _sent[self.name].append(call := [time.perf_counter(), tokens])
        return call

    def _wait(self, tokens):
        """Seconds until the endpoint, and the entry's limits, allow one more call."""
        now, calls, m = time.perf_counter(), _sent[self.name], self.model
        while calls and calls[0][0] + WINDOW_S <= now:  # rounded as below: else no wait is left
            calls.popleft()
        many = m.requests_per_minute and len(calls) >= m.requests_per_minute
        much = m.tokens_per_minute and sum(t for _, t in calls) + tokens > m.tokens_per_minute
        window = calls[0][0] + WINDOW_S - now if calls and (many or much) else 0
        return max(window, self.until - now)

    async def pause(self, failure: Failure, tries: int) -> None:
        """Wait before a request is tried again; after a rate limit all calls do, by `turn`."""
        limit = failure.kind == "rate limit"
        first, longest = (PAUSE_S, LONGEST_PAUSE_S) if limit else (FIRST_S, LONGEST_S)
        wait = min(first * 2 ** (tries - 1), longest) * random.uniform(0.5 + limit / 2, 1.0)
        wait = wait if failure.wait is None else failure.wait
        if limit:
            self.until = max(self.until, time.perf_counter() + wait)
        else:
            await asyncio.sleep(wait)

    def failed(self, failure: Failure) -> str:
        """What failed for good, in words; StopRun after a few alike in a row."""
        text = f"{failure.kind}: {failure.message}"
        bad = failure.kind == "bad request"
        if failure.fate != "alone" or bad:
            what, (last, count) = text if bad else failure.kind, self.alike
            self.alike = what, count + 1 if what == last else 1
        if failure.fate == "stop" or self.alike[1] >= FEW:
            raise failures.stop(self.name, failure)
        return text


async def send(endpoint, request):
    """Send a request once; the record of its reply. Raises Failure."""
    import httpx2

    m, began, secrets = endpoint.model, time.perf_counter(), endpoint.model.secrets
    body = json.dumps(m.filled(request.body())).encode()
    try:
        async with asyncio.timeout(m.timeout_s):  # the client's own is from one byte to the next
            response = await endpoint.client.post(registry.ROUTES[m.api], content=body)
    except TimeoutError:
        text = f"no whole answer within timeout_s = {m.timeout_s:g} s"
        raise Failure("timeout", "", text, "again") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as e:
        raise failures.lost(e, secrets) from None
    content = failures.masked(response.content, secrets)
    if response.status_code != 200:
        raise failures.failure_of(response.status_code, content, response.headers, secrets)
    record = failures.record_of(request.kept(), failures.parsed(content), response.headers, secrets)
    return {**record, "latency_s": round(time.perf_counter() - began, 3)}
