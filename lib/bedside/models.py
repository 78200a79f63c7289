"""Models: data/models.toml, Request, Reply, and `ask`, which replays recordings and records what is missing.

    replies = await ask([Request("q1", "smollm2-135m", messages)], recordings, mode="record")

A reply is on disk before it is returned. Only requests without a recording cause a call; the embedded model's server
starts only then.
"""

import asyncio
import contextlib
import functools
import json
import os
import sys
import tomllib
from dataclasses import dataclass, field, replace

from . import BedsideError, choose, paths, prompts, store

MODES = ("replay", "record", "fresh", "plan")
RETRIES = 5     # on 408, 409, 429, 5xx and connection faults, with jitter and Retry-After: the openai client's own
CHARS_PER_TOKEN = 3     # a cautious estimate, for plans and budgets before a call


class MissingRecording(BedsideError):
    """Replay met a request that was never recorded."""


class StopRun(BedsideError):
    """Going on would be pointless or too expensive: a key that is refused, or a budget used up."""


@functools.cache
def registry():
    """Entries of data/models.toml by name."""
    return tomllib.loads((paths.DATA / "models.toml").read_text())


def model(name):
    """One registry entry; an unknown name is an error with the nearest one."""
    return registry()[choose(name, registry(), "model")]


def json_object(**members):
    """The JSON schema of an object with these members ({name: schema}), all of them and nothing else."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def response_format(name, **members):
    """The response format that asks for a JSON object with these members ({name: schema})."""
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": json_object(**members)}}


@dataclass(frozen=True)
class Request:
    """One call: for which item, to which model of the registry, with which messages and settings."""

    item: str
    model: str
    messages: list
    settings: dict = field(default_factory=dict)    # max_tokens, temperature, top_p, seed, stop, ...
    response_format: dict | None = None
    repeat: int = 0

    @functools.cached_property
    def fields(self):
        """Everything that can change the answer, as the recording's key sees it."""
        m = model(self.model)
        return {"provider": m["provider"], "model": m["model"], "weights": m.get("weights_sha256"),
                "messages": self.messages, "response_format": self.response_format, "repeat": self.repeat,
                **{k: float(v) if isinstance(v, int) and k in ("temperature", "top_p") else v
                   for k, v in self.settings.items()}}

    @functools.cached_property
    def key(self):
        return store.key(self.fields)

    def estimate(self):
        """(prompt, completion) tokens at most, before the call."""
        chars = sum(len(m["content"]) + 12 for m in self.messages)
        return -(-chars // CHARS_PER_TOKEN), self.settings.get("max_tokens", 4096)

    def body(self):
        """The JSON body of the call."""
        extra = {"response_format": self.response_format} if self.response_format else {}
        limit = model(self.model).get("max_tokens_name", "max_tokens")
        settings = {limit if k == "max_tokens" else k: v for k, v in self.settings.items()}
        return {"model": model(self.model)["model"], "messages": self.messages, **settings, **extra}


@dataclass(frozen=True)
class Reply:
    """What came back. `error` is set, and `text` empty, when nothing usable came; errors are never recorded."""

    item: str
    model: str
    key: str
    text: str = ""
    finish: str = ""            # stop, length, content_filter, ...
    refusal: str = ""
    returned_model: str = ""    # as the endpoint names it
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str = ""
    recorded: bool = False      # replayed, not called

    @property
    def truncated(self):
        return self.finish == "length"


def cost(name, prompt_tokens, completion_tokens):
    """Price in USD of a call, or None where the registry has no price or the tokens aren't known."""
    m = model(name)
    if "usd_per_million_in" not in m or prompt_tokens is None or completion_tokens is None:
        return 0.0 if m["provider"] == "local" else None
    return (prompt_tokens * m["usd_per_million_in"] + completion_tokens * m["usd_per_million_out"]) / 1e6


def _reply(request, record, recorded):
    keep = ("text", "finish", "refusal", "returned_model", "prompt_tokens", "completion_tokens")
    kept = {k: record[k] for k in keep if record.get(k) is not None}
    # the recording holds the text as it came; frames and files can't hold lone surrogates
    return Reply(request.item, request.model, request.key, recorded=recorded,
                 **{k: prompts.clean(v) if isinstance(v, str) else v for k, v in kept.items()})


def _record(request, answer):
    """The record of a parsed chat completion; raises ValueError saying what is wrong with it."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not choices or not isinstance(choices[0].get("message"), dict):
        raise ValueError("the endpoint's answer holds no choice")
    message, usage = choices[0]["message"], answer.get("usage") or {}
    text, refusal, finish = message.get("content") or "", message.get("refusal") or "", choices[0].get("finish_reason")
    if not (text or refusal or finish in ("length", "content_filter")):
        raise ValueError("the endpoint's answer is empty")
    return {"key": request.key, "item": request.item, "text": text, "finish": finish, "refusal": refusal,
            "returned_model": answer.get("model") or "", "prompt_tokens": usage.get("prompt_tokens"),
            "completion_tokens": usage.get("completion_tokens"), "fields": store.shown(request.fields)}


async def ask(requests, recordings, *, mode="replay", budget_usd=None, plan=None, label="", progress=True):
    """Replies to `requests`, in order, one each.

    mode: replay (a miss raises MissingRecording), record (call what is missing), fresh (call all), plan (call
    nothing; append each miss to the list `plan`, with a reply of full length and fitting shape in its place). Requests
    with the same key are sent once. A request that fails for good yields a Reply with `error`. Raises StopRun on 401,
    403 or before `budget_usd` would be passed, StoreError when replies can't be written; what came before is kept.
    """
    choose(mode, MODES, "MODE")
    requests = list(requests)
    recordings.refresh()
    replies = {} if mode == "fresh" else {r.key: _reply(r, record, True) for r in requests if (record := recordings.get(r.key))}
    missing = list({r.key: r for r in requests if r.key not in replies}.values())
    if missing and mode == "replay":
        raise _unrecorded(missing[0], recordings, f"{len(missing)} of {len(requests)} requests have")
    if missing and mode == "plan":
        plan.extend(missing)
        replies |= {r.key: _stand_in(r) for r in missing}
    elif missing:
        calls = {r.key for r in requests}
        async with _Calls(recordings, mode, _Meter(budget_usd, label, progress, len(calls), len(calls) - len(missing))) as call:
            names = {r.model: [q for q in missing if q.model == r.model] for r in missing}
            for n in names:         # fail before the first call is paid for
                await call.ready(n)

            async def kept(request, reply):
                replies[request.key] = await reply

            async def work(queue):      # the next call is under way while a reply goes to disk
                for request in queue:
                    tasks.create_task(kept(request, await call.sent(request)))

            with unwrapped():
                async with asyncio.TaskGroup() as tasks:
                    for n, mine in names.items():
                        queue = iter(mine)
                        for _ in range(model(n).get("max_concurrency", 8)):
                            tasks.create_task(work(queue))
    return [reply if (reply := replies[r.key]).item == r.item else replace(reply, item=r.item) for r in requests]


@contextlib.asynccontextmanager
async def asking(recordings, *, mode="replay", budget_usd=None, plan=None, label="", progress=True):
    """A function for requests that follow from replies: `reply = await one(request)`, from any number of tasks at once.

    Arguments and errors as of `ask`. A request that several tasks have is sent once. It is called for as soon as the
    model's max_concurrency allows, in the order of asking.
    """
    choose(mode, MODES, "MODE")
    recordings.refresh()
    under_way, called = {}, set()
    async with _Calls(recordings, mode, _Meter(budget_usd, label, progress and mode in ("record", "fresh"))) as call:
        async def one(request):
            if (mode != "fresh" or request.key in called) and (record := recordings.get(request.key)):
                return _reply(request, record, True)
            if mode == "replay":
                raise _unrecorded(request, recordings, "a request has")
            if mode == "plan":
                plan.append(request)
                return _stand_in(request)
            if request.key not in under_way:
                def over(task):
                    del under_way[request.key]
                    if not task.cancelled():
                        task.exception()        # seen, if nobody waits for it any more
                under_way[request.key] = asyncio.ensure_future(call(request))
                under_way[request.key].add_done_callback(over)
            reply = await asyncio.shield(under_way[request.key])
            called.add(request.key)
            return reply if reply.item == request.item else replace(reply, item=request.item)
        try:
            yield one
        finally:        # whoever asked may be gone
            left = list(under_way.values())
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)


@contextlib.contextmanager
def unwrapped():
    """Raise the first error of a task group as it was."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


def _unrecorded(request, recordings, what):
    return MissingRecording(f"{what} no recording in {paths.rel(recordings.folder)}; the first: item {request.item!r}, model "
                            f"{request.model!r}, {recordings.nearest(request.item, request.fields)}. Record with MODE=record, "
                            "see the cost first with `make plan`")


def _stand_in(request):
    """A reply when only planning: text of full length, a list, and of the shape that the response format asks for."""
    tokens, mark = request.estimate()[1], request.key[:12]      # the key, and a path within, make each text another one

    def filled(schema, path):
        if "enum" in schema:
            return schema["enum"][-1]
        if schema["type"] == "object":
            return {k: filled(v, f"{path} {k}") for k, v in schema["properties"].items()}
        if schema["type"] == "array":
            return [filled(schema["items"], f"{path} {i}") for i in range(schema.get("minItems", 1))]
        return f"{path} {('word ' * tokens)[:200]}" if schema["type"] == "string" else 0
    text = (json.dumps(filled(request.response_format["json_schema"]["schema"], mark)) if request.response_format
            else "".join(f"- {mark[:6]} {i}\n" for i in range(tokens // 5)))
    return Reply(request.item, request.model, request.key, text=text, finish="stop")


class _Meter:
    """Counts calls and cost on a tqdm bar and keeps what is spent or under way below a budget in USD."""

    def __init__(self, budget_usd, label, shown, total=None, recorded=0):
        from tqdm import tqdm

        self.budget, self.taken, self.spent, self.failed, self.unpriced = budget_usd, 0.0, 0.0, 0, 0
        self.recorded = recorded
        self.bar = tqdm(total=total, initial=recorded, desc=label or "calls", disable=not shown, file=sys.stderr, mininterval=1.0)

    def check(self, name):
        """Raise StopRun if a model's calls can't be held against the budget."""
        if self.budget is not None and cost(name, 0, 0) is None:
            raise StopRun(f"BUDGET_USD is set but the price of {name} isn't known: give it usd_per_million_in, "
                          "usd_per_million_out and price_date in data/models.toml")

    def close(self):
        self._show()
        self.bar.close()

    def _show(self, refresh=True):
        price = f"${self.spent:.4f}" + (f" and {self.unpriced} of unknown price" if self.unpriced else "")
        self.bar.set_postfix_str(f"recorded {self.recorded}, failed {self.failed}, cost {price}", refresh=refresh)

    def take(self, request):
        """Reserve the most that a call can cost; raises StopRun if the budget would be passed."""
        if self.budget is None:
            return 0.0
        most = cost(request.model, *request.estimate())
        if self.taken + most > self.budget:
            raise StopRun(f"BUDGET_USD={self.budget:g} would be passed (${self.taken:.4f} spent or under way, the next "
                          f"call at most ${most:.4f}); what came is recorded: raise the budget and run again")
        self.taken += most
        return most

    def came(self, request, record, reserved):
        """Put the real price in the reservation's place; with an unknown one the reservation stands."""
        price = cost(request.model, record.get("prompt_tokens"), record.get("completion_tokens")) if record else 0.0
        if price is not None:
            self.taken += price - reserved
            self.spent += price
        self.unpriced += price is None
        self.failed += not record

    def done(self):
        self._show(refresh=False)
        self.bar.update()


def api_key(name):
    """The key of a model from the environment; a placeholder for endpoints that want none."""
    variable = model(name).get("api_key_env")
    if variable and not os.environ.get(variable):
        raise StopRun(f"model {name!r} needs its key in the environment variable {variable}")
    return os.environ[variable] if variable else "none"


async def _client(stack, name):
    """An openai client of its own for a model, over the aiohttp transport (half the default's time per call)."""
    import openai

    m = model(name)
    url = m.get("base_url")
    if m["provider"] == "local":
        from . import local

        url = await asyncio.to_thread(stack.enter_context, local.running())
    return await stack.enter_async_context(openai.AsyncOpenAI(
        base_url=os.path.expandvars(url), api_key=api_key(name), max_retries=RETRIES, timeout=m.get("timeout_s", 120),
        http_client=openai.DefaultAioHttpClient(), default_query=m.get("query"), default_headers=m.get("headers")))


class _Calls:
    """`await call(request)`: its reply, once it is on disk. Each model has a client of its own, opened when first needed."""

    def __init__(self, recordings, mode, meter):
        self.recordings, self.mode, self.meter, self.open, self.stopped = recordings, mode, meter, {}, None

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
        """A model's client and slots; raises StopRun or StoreError for what would stop a call to it."""
        if name not in self.open:
            self.open[name] = asyncio.ensure_future(self._opened(name))
        return await asyncio.shield(self.open[name])

    async def _opened(self, name):
        self.meter.check(name)
        api_key(name)
        self.recordings.check_writable(name)
        self.recordings.refresh()
        return await _client(self.stack, name), asyncio.Semaphore(model(name).get("max_concurrency", 8))

    async def __call__(self, request):
        return await (await self.sent(request))

    async def sent(self, request):
        """Return once the model has answered, with what is to be awaited for the reply: it goes to disk meanwhile."""
        client, slots = await self.ready(request.model)
        async with slots:
            if self.mode == "record" and (record := self.recordings.get(request.key)):      # by another process meanwhile
                self.meter.recorded += 1
                return self._kept(request, record, None)
            if self.stopped:        # while this one waited
                raise self.stopped
            try:
                reserved = self.meter.take(request)
                record = _record(request, await _send(client, request))
            except StopRun as e:
                self.stopped = e
                raise
            except ValueError as e:
                self.meter.came(request, None, reserved)
                return self._kept(request, {"error": str(e)}, None)
            path = self.recordings.put(request.model, record)      # from here on it can't be lost, whatever is cancelled
            self.meter.came(request, record, reserved)
            return self._kept(request, record, path)

    async def _kept(self, request, record, path):
        """The reply, once what is new is on disk: only then it counts."""
        if path:
            await self.recordings.flush(path)
        self.meter.done()
        if "error" in record:
            return Reply(request.item, request.model, request.key, error=record["error"])
        return _reply(request, record, recorded=path is None)


async def _send(client, request):
    """The endpoint's answer as parsed JSON; ValueError for what is wrong with this one call, StopRun on 401 and 403."""
    import httpx2
    import openai

    try:        # the raw response: building the client's typed objects would double the time per call
        response = await client.post("/chat/completions", body=request.body(), cast_to=httpx2.Response)
        return json.loads(response.content)
    except (openai.AuthenticationError, openai.PermissionDeniedError) as e:
        raise StopRun(f"model {request.model!r}: the endpoint refuses the key ({e.status_code}); the run stops here, "
                      f"what came is recorded. Check {model(request.model).get('api_key_env', 'the endpoint')}") from None
    except openai.APIStatusError as e:
        raise ValueError(f"{e.status_code} from the endpoint") from None
    except openai.APIConnectionError as e:
        raise ValueError(f"{type(e).__name__}: {e.__cause__ or e}") from None
    except ValueError:
        raise ValueError("the endpoint's answer is not JSON") from None
