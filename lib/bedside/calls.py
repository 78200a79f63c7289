"""Calls: requests sent to endpoints, replies kept on disk, failures told in the provider's words.

    async with Calls(recordings, "record", Account(notebook, budget_usd), meter) as call:
        reply = await call(request)

`models.ask` and `models.asking` import this when something has no recording.
"""

import asyncio
import contextlib
import email.utils
import json
import os
import random
import re
import sys
import time
from collections import Counter
from typing import NamedTuple

from . import entries, ledger, models
from .entries import StopRun, cost
from .models import Reply, as_record, as_reply

RETRIES = 5  # of a request, where another try can help
FIRST_S, LONGEST_S = 0.5, 8.0  # before the first retry and the last, without a word from the server
FEW = 3  # failures of one kind in a row after which a model isn't called any more
TOLD_S = 0.5  # between two words about the progress
WORDS = 300  # characters of a provider's message that are kept

# What a status and the words that come with it mean; the first that fits. Then what follows:
# again: another try can help; alone: this request can't be answered; all: nor can any other;
# stop: at once; withheld: there is no answer, which is an outcome like others.
FAULTS = (
    ("key refused", (400,), r"api.?key (not valid|invalid)|invalid.?api.?key", "stop"),
    (
        "filtered",
        (400, 403, 422),
        r"content.?(filter|policy|management)|moderation|flagged|data.?inspection|responsible.?ai"
        r"|prohibited.?content",
        "withheld",
    ),
    ("cut off while thinking", (400,), r"could not finish the message", "withheld"),
    ("no credit", (429,), r"per.?day", "all"),
    ("rate limit", (429,), r"per.?min(ute)?|retry.?delay", "again"),
    (
        "no credit",
        (400, 402, 403, 429),
        r"insufficient.(quota|balance|credits?)|credit.?balance|spend.?limit|billing|current quota"
        r"|arrear",
        "all",
    ),
    ("no credit", (402,), "", "all"),
    (
        "context too long",
        (400, 403, 413, 422),
        r"context.?(length|window)|maximum context|too long|too large|too many (\w+ )?tokens"
        r"|token count|input.?length|tokens.{0,60}(exceed|must be)",
        "alone",
    ),
    ("key refused", (401, 403), "", "stop"),
    (
        "no such model",
        (400,),
        r"invalid.?model|not a valid model|model.{0,60}(not found|not exist)",
        "all",
    ),
    (
        "unsupported parameter",
        (400, 422, 501),
        r"unsupported|n.t support|not support|unavailable|unknown (name|parameter|field)"
        r"|unrecogni[sz]ed|extra.?(inputs|forbidden|fields)|unexpected|not (permitted|allowed)"
        r"|deprecated|invalid.?(schema|parameter)|should be|field required|must be set"
        r"|only.{1,30}(default|allowed|supported)",
        "all",
    ),
    ("no such model", (404,), "", "all"),
    ("rate limit", (429,), "", "again"),
    ("timeout", (408, 504), "", "again"),
)
BROKEN_OFF = ("error", "insufficient_system_resource")  # finish reasons of half a text
HINTS = {
    "no credit": "add credit or raise the limit at the provider",
    "no such model": "check model and base_url in data/models.toml",
    "unsupported parameter": "`make try MODELS=...` says which line its entry lacks",
    "bad request": "`make try MODELS=...` shows what is sent",
}


class Failure(Exception):
    """Why a call has no reply: its kind, the status, the provider's words, and what follows."""

    def __init__(self, kind, status, message, fate, wait=None):
        super().__init__(message)
        self.kind, self.status, self.message, self.fate = kind, status, message, fate
        self.wait = wait  # seconds that the server asks for
        self.tokens = (None, None)  # of prompt and reply, as far as they are known

    @property
    def again(self):
        return self.fate == "again"


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
        told += f" and {self.unpriced} of unknown price" if self.unpriced else ""
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

    def done(self):
        self.count += 1
        if self.bar.update():  # it was drawn anew, at most once a second
            self._show()
        if time.monotonic() - self.told > TOLD_S:
            self._tell()


class _Model(NamedTuple):
    """What one model's calls share."""

    client: object
    ledger: ledger.Ledger
    slots: asyncio.Semaphore
    row: list  # [kind of the last failures, how many since the last reply, whether one came]
    secrets: list


async def opened(stack, name, account):
    """A model's client, over aiohttp (half the default's time per call), and the rest."""
    import openai

    m = entries.model(name)
    url = m.get("base_url")
    if m["provider"] == "local":
        from . import local

        url = await asyncio.to_thread(stack.enter_context, local.running())
    key = entries.api_key(name)
    client = openai.AsyncOpenAI(
        base_url=entries.expanded(url),
        api_key=key,
        max_retries=0,  # calls are tried again here, where all processes see it
        timeout=m.get("timeout_s", 600),
        http_client=openai.DefaultAioHttpClient(),
        default_query=entries.expanded(m.get("query")),
        default_headers=entries.expanded(m.get("headers")),
    )
    await stack.enter_async_context(client)
    book = stack.enter_context(contextlib.closing(ledger.Ledger(name, account)))
    slots = asyncio.Semaphore(min(FEW, m.get("max_concurrency", 8)))  # until a first reply came
    named = entries.VARIABLE.findall(json.dumps([m.get(k) for k in entries.BESIDE]))
    secrets = [os.environ[v] for v in named] + ([key] if m.get("api_key_env") else [])
    return _Model(client, book, slots, ["", 0, False], [s for s in secrets if s])


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
            await self.recordings.drain()
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
        entries.check_callable(name)
        limited = [n for n, x in zip(BUDGETS, self.account[1:3]) if x is not None]
        if limited and cost(name, 0, 0) is None:
            raise StopRun(
                f"{limited[0]} is set but the price of {name} isn't known: give it"
                " usd_per_million_in, usd_per_million_out and price_date in data/models.toml"
            )
        self.recordings.check_writable(name)
        self.recordings.refresh()
        return await opened(self.stack, name, self.account)

    async def __call__(self, request):
        m = await self.ready(request.model)
        if record := await self._claimed(m, request):
            self.meter.recorded, self.meter.count = self.meter.recorded + 1, self.meter.count - 1
            return await self._kept(request, record, None)
        try:
            async with m.slots:
                kept = await self._answered(m, request)
            return await kept  # while it goes to disk the slot is free for the next
        finally:
            m.ledger.release(request.key)

    async def _claimed(self, m, request):
        """Claim a request for this process; its record if another has recorded it meanwhile."""
        waited = False
        while not m.ledger.claim(request.key):
            waited = True
            await asyncio.sleep(ledger.POLL_S)
            if self.stopped:
                raise self.stopped
        if self.mode == "record" or waited:
            self.recordings.refresh(new_files=False)
            if record := self.recordings.get(request.key):
                m.ledger.release(request.key)
                return record
        return None

    async def _answered(self, m, request):
        """Return once the model has answered, with what is to be awaited for the reply."""
        tries, seen = 0, m.row[2]
        while True:
            if self.stopped:  # while this one waited
                raise self.stopped
            try:
                call = await turn(m, request)
            except StopRun as e:
                self.stopped = e
                raise
            flight = asyncio.ensure_future(self._flight(m, request, call, tries >= RETRIES))
            self.flying.add(flight)
            flight.add_done_callback(self.flying.discard)
            record, failure, path = await asyncio.shield(flight)
            if record:
                return self._kept(request, record, path)
            if failure.kind == "rate limit" and m.row[2] != seen:
                tries, seen = 0, m.row[2]  # others got through meanwhile: it goes on
            if not failure.again or tries >= RETRIES:
                return self._failed(m, request, failure)
            tries += 1
            self.meter.again[failure.kind] += 1
            if failure.kind == "rate limit":
                m.ledger.refused(call[0], failure.wait)
            else:
                pause = min(FIRST_S * 2 ** (tries - 1), LONGEST_S) * random.uniform(0.5, 1.0)
                await asyncio.sleep(pause if failure.wait is None else failure.wait)

    async def _flight(self, m, request, call, last):
        """One call to its end: what it brings is put down even if nobody waits for it any more."""
        record, failure, usd = await sent(m, request, call, last)
        self.meter.came(usd)
        if failure and failure.fate == "withheld":
            record = _withheld(request, failure)
        return record, failure, self._taken(m, request, record) if record else None

    def _taken(self, m, request, record):
        """Take a reply in, and name its file; it can't be lost now, whatever is cancelled."""
        path = self.recordings.put(request.model, record)
        if not m.row[2]:  # the first: now all slots are of use
            for _ in range(entries.model(request.model).get("max_concurrency", 8) - FEW):
                m.slots.release()
        m.row[:] = ["", 0, m.row[2] + 1]
        return path

    def _failed(self, m, request, failure):
        """The reply of a request that failed for good; a few alike in a row stop the run."""
        alike = failure.kind + failure.message * (failure.kind == "bad request")
        if failure.fate != "alone" or failure.kind == "bad request":
            m.row[:2] = [alike, m.row[1] + 1 if m.row[0] == alike else 1]
        if failure.fate == "stop" or m.row[1] >= FEW:
            self.stopped = _stop(request.model, failure)
            raise self.stopped
        self.meter.failed[failure.kind] += 1
        return self._kept(request, {"error": f"{failure.kind}: {failure.message}"}, None)

    async def _kept(self, request, record, path):
        """The reply, once what is new is on disk: only then it counts."""
        if path:
            await self.recordings.flush(path)
        self.meter.done()
        if "error" in record:
            return Reply(request.item, request.model, request.key, error=record["error"])
        return as_reply(request, record, recorded=path is None)


BUDGETS = ("BUDGET_USD", "BUDGET_TOTAL")


async def turn(m, request):
    """Wait until a request may be sent; the call's number and the most it can cost."""
    prompt, completion = request.estimate()
    most = cost(request.model, prompt, completion)
    return await m.ledger.turn(prompt + completion, most), most


async def sent(m, request, call, last=True):
    """Send a request once, in its `turn`: (record, None, USD) or (None, failure, USD).

    last: whether it isn't tried again if it fails. USD is None where it isn't known.
    """
    number, most = call
    record, failure, tokens = None, None, (None, None)
    try:
        record = await send(m.client, request, m.secrets)
        tokens = record["prompt_tokens"], record["completion_tokens"]
    except Failure as e:
        failure, tokens = e, e.tokens
    finally:  # also if it is cancelled: what it costs then isn't known
        final = last or not failure or not failure.again
        usd = m.ledger.ended(number, most, tokens, failure, final)
    return record, failure, usd


def hint(name, failure):
    """What to do about a failure that ends a run."""
    if failure.fate == "stop":
        return f"check {entries.model(name).get('api_key_env', 'the settings of the endpoint')}"
    return HINTS.get(failure.kind, "try again later")


def _stop(name, failure):
    """The StopRun that a failure is: one sentence, with the provider's words and the way out."""
    why = "the endpoint refuses the key" if failure.fate == "stop" else failure.kind
    status = f" ({failure.status})" if failure.status else ""
    return StopRun(
        f"model {name!r}: {why}{status}: {failure.message}; the run stops here, what came is"
        f" recorded: {hint(name, failure)}, then run again"
    )


def _withheld(request, failure):
    """The record of an answer that the provider withheld: filtered, or never got to."""
    finish = "content_filter" if failure.kind == "filtered" else "length"
    choice = {"message": {"content": ""}, "finish_reason": finish}
    return {**as_record(request, {"choices": [choice]}), "withheld": failure.message}


async def send(client, request, secrets=()):
    """Send a request once; the record of its reply. Raises Failure."""
    import httpx2
    import openai

    began, status = time.monotonic(), 200
    body = entries.sent(request.model, request.body())
    try:  # the raw response: building the client's typed objects would double the time per call
        response = await client.post("/chat/completions", body=body, cast_to=httpx2.Response)
        content, headers = response.content, response.headers
    except openai.APIStatusError as e:
        content, headers, status = e.response.content, e.response.headers, e.status_code
    except openai.APIConnectionError as e:
        cause = f"{type(e).__name__}: {e.__cause__ or e}"
        refused = "connect to" in cause.lower()  # nothing was sent
        late = isinstance(e, openai.APITimeoutError) and not refused
        kind = "timeout" if late else "connection"
        failure = Failure(kind, "", _cleaned(cause, secrets), "again")
        failure.tokens = (0, 0) if refused else (None, None)
        raise failure from None
    if status != 200:
        raise _failure(status, content, headers, secrets)
    try:
        answer = json.loads(content)
    except ValueError:
        raise Failure("bad answer", 200, "the endpoint's answer is not JSON", "again") from None
    if fault := _fault_inside(answer):
        raise _failure(*fault, headers, secrets)
    try:
        record = as_record(request, answer)
    except ValueError as e:
        failure = Failure("bad answer", 200, str(e), "again")
        failure.tokens = models.tokens_of(answer)[:2]
        raise failure from None
    return {**record, "latency_s": round(time.monotonic() - began, 3)}


def _fault_inside(answer):
    """(status, body) of an error that comes inside a 200: of the whole, or of its choice."""
    if not isinstance(answer, dict):
        return None
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, dict) else {}
    error = answer.get("error") or choice.get("error")
    if not error and choice.get("finish_reason") not in BROKEN_OFF:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if str(code).isdigit() and 400 <= int(code) < 600 else 502
    if status == 502 and "rate" in json.dumps(error).lower():
        status = 429
    return status, json.dumps({"error": error or "it broke off in its answer"}).encode()


def _failure(status, content, headers, secrets):
    """The Failure that a status and what came with it are."""
    text = content.decode("utf-8", "replace")
    words = _cleaned(_words(text) or f"{status} from the endpoint", secrets)
    fits = (f for f in FAULTS if status in f[1] and re.search(f[2], text, re.I))
    again = status >= 500 or status == 409
    other = ("endpoint's fault", "", "", "again") if again else ("bad request", "", "", "alone")
    kind, _, _, fate = next(fits, other)
    failure = Failure(kind, status, words, fate, _retry_after(headers, text))
    failure.tokens = (0, 0)
    return failure


def _words(text):
    """What an error's body says, in one line: its message, code and parameter, or all of it."""
    try:
        body = json.loads(text)
    except ValueError:
        return " ".join(re.sub(r"<[^>]*>", " ", text).split())
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return " ".join(str(error).split()) if error else ""
    said = [error.get(k) for k in ("message", "detail", "code", "param", "metadata")]
    return " ".join(" ".join(map(_plain, filter(None, said))).split())


def _plain(value):
    return value if isinstance(value, str) else json.dumps(value)


def _cleaned(text, secrets):
    """Words of a provider without keys, as one line of at most WORDS characters."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = " ".join(entries.LITERAL_KEY.sub("***", models.prompts.clean(text)).split())
    return text if len(text) <= WORDS else f"{text[:WORDS]}..."


def _retry_after(headers, text):
    """Seconds after which a server wants to be asked again; None if it doesn't say."""
    with contextlib.suppress(KeyError, ValueError):
        return float(headers["retry-after-ms"]) / 1000
    after = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return float(after)
    with contextlib.suppress(ValueError, TypeError):
        return max(0.0, email.utils.parsedate_to_datetime(after).timestamp() - time.time())
    if said := re.search(r'"retryDelay":\s*"([\d.]+)s"', text):
        return float(said[1])
    return None
