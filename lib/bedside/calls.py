"""Calls: requests sent to endpoints, replies kept on disk, the cost held below a budget.

    async with Calls(recordings, "record", Meter(budget_usd, "answers", True)) as call:
        reply = await call(request)

`models.ask` and `models.asking` import this when something has no recording.
"""

import asyncio
import contextlib
import json
import os
import sys

from . import models
from .models import Reply, StopRun, api_key, as_record, as_reply, cost

# on 408, 409, 429, 5xx and connection faults, with jitter and Retry-After: the openai client's own
RETRIES = 5


class Meter:
    """Counts calls and cost on a tqdm bar, and keeps the cost below a budget in USD."""

    def __init__(self, budget_usd, label, shown, total=None, recorded=0):
        from tqdm import tqdm

        self.budget, self.recorded = budget_usd, recorded
        self.taken, self.spent = 0.0, 0.0  # USD: reserved or spent, and spent
        self.failed, self.unpriced = 0, 0  # calls
        self.bar = tqdm(
            total=total,
            initial=recorded,
            desc=label or "calls",
            disable=not shown,
            file=sys.stderr,
            mininterval=1.0,
        )

    def check(self, name):
        """Raise StopRun if a model's calls can't be held against the budget."""
        if self.budget is not None and cost(name, 0, 0) is None:
            raise StopRun(
                f"BUDGET_USD is set but the price of {name} isn't known: give it"
                " usd_per_million_in, usd_per_million_out and price_date in data/models.toml"
            )

    def close(self):
        self._show()
        self.bar.close()

    def _show(self, refresh=True):
        told = f"recorded {self.recorded}, failed {self.failed}, cost ${self.spent:.4f}"
        told += f" and {self.unpriced} of unknown price" if self.unpriced else ""
        self.bar.set_postfix_str(told, refresh=refresh)

    def take(self, request):
        """Reserve the most that a call can cost; raises StopRun if the budget would be passed."""
        if self.budget is None:
            return 0.0
        most = cost(request.model, *request.estimate())
        if self.taken + most > self.budget:
            raise StopRun(
                f"BUDGET_USD={self.budget:g} would be passed (${self.taken:.4f} spent or under way,"
                f" the next call at most ${most:.4f}); what came is recorded: raise the budget and"
                " run again"
            )
        self.taken += most
        return most

    def came(self, request, record, reserved):
        """Put the real price in the reservation's place; an unknown one leaves it standing."""
        price = 0.0
        if record:
            tokens = record.get("prompt_tokens"), record.get("completion_tokens")
            price = cost(request.model, *tokens)
        if price is not None:
            self.taken += price - reserved
            self.spent += price
        self.unpriced += price is None
        self.failed += not record

    def done(self):
        if self.bar.update():  # it was drawn anew, at most once a second
            self._show()


async def _client(stack, name):
    """An openai client of its own for a model, over aiohttp: half the default's time per call."""
    import openai

    m = models.model(name)
    url = m.get("base_url")
    if m["provider"] == "local":
        from . import local

        url = await asyncio.to_thread(stack.enter_context, local.running())
    client = openai.AsyncOpenAI(
        base_url=os.path.expandvars(url),
        api_key=api_key(name),
        max_retries=RETRIES,
        timeout=m.get("timeout_s", 120),
        http_client=openai.DefaultAioHttpClient(),
        default_query=m.get("query"),
        default_headers=m.get("headers"),
    )
    return await stack.enter_async_context(client)


class Calls:
    """`await call(request)`: its reply, once it is on disk.

    Each model has a client of its own, opened when first needed.
    """

    def __init__(self, recordings, mode, meter):
        self.recordings, self.mode, self.meter = recordings, mode, meter
        self.open, self.stopped = {}, None  # model -> client and slots; the error that ended all

    async def __aenter__(self):
        self.stack = contextlib.AsyncExitStack()
        return self

    async def __aexit__(self, *_):
        try:
            await self.recordings.drain()
        finally:
            self.meter.close()
            await self.stack.aclose()

    async def ready(self, name):
        """A model's client and slots; raises StopRun or StoreError for what would stop a call."""
        if name not in self.open:
            self.open[name] = asyncio.ensure_future(self._opened(name))
        opened = self.open[name]
        return opened.result() if opened.done() else await asyncio.shield(opened)

    async def _opened(self, name):
        self.meter.check(name)
        api_key(name)
        self.recordings.check_writable(name)
        self.recordings.refresh()
        slots = models.model(name).get("max_concurrency", 8)
        return await _client(self.stack, name), asyncio.Semaphore(slots)

    async def __call__(self, request):
        client, slots = await self.ready(request.model)
        async with slots:
            kept = await self._sent(client, request)
        return await kept  # while it goes to disk the slot is free for the next

    async def _sent(self, client, request):
        """Return once the model has answered, with what is to be awaited for the reply."""
        record = self.recordings.get(request.key) if self.mode == "record" else None
        if record:  # by another process meanwhile
            self.meter.recorded += 1
            return self._kept(request, record, None)
        if self.stopped:  # while this one waited
            raise self.stopped
        try:
            reserved = self.meter.take(request)
            record = as_record(request, await _send(client, request))
        except StopRun as e:
            self.stopped = e
            raise
        except ValueError as e:
            self.meter.came(request, None, reserved)
            return self._kept(request, {"error": str(e)}, None)
        # from here on it can't be lost, whatever is cancelled
        path = self.recordings.put(request.model, record)
        self.meter.came(request, record, reserved)
        return self._kept(request, record, path)

    async def _kept(self, request, record, path):
        """The reply, once what is new is on disk: only then it counts."""
        if path:
            await self.recordings.flush(path)
        self.meter.done()
        if "error" in record:
            return Reply(request.item, request.model, request.key, error=record["error"])
        return as_reply(request, record, recorded=path is None)


async def _send(client, request):
    """The endpoint's answer as parsed JSON.

    ValueError for what is wrong with this one call, StopRun on 401 and 403.
    """
    import httpx2
    import openai

    try:  # the raw response: building the client's typed objects would double the time per call
        body = request.body()
        response = await client.post("/chat/completions", body=body, cast_to=httpx2.Response)
        return json.loads(response.content)
    except (openai.AuthenticationError, openai.PermissionDeniedError) as e:
        key = models.model(request.model).get("api_key_env", "the endpoint")
        raise StopRun(
            f"model {request.model!r}: the endpoint refuses the key ({e.status_code}); the run"
            f" stops here, what came is recorded. Check {key}"
        ) from None
    except openai.APIStatusError as e:
        raise ValueError(f"{e.status_code} from the endpoint") from None
    except openai.APIConnectionError as e:
        raise ValueError(f"{type(e).__name__}: {e.__cause__ or e}") from None
    except ValueError:
        raise ValueError("the endpoint's answer is not JSON") from None
