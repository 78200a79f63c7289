"""Models: data/models.toml, requests, replies, and `ask`, which replays and records them.

    replies = await ask([Request("q1", "smollm2-135m", messages)], recordings, mode="record")

A reply is on disk before it is returned. Only requests without a recording cause a call; the
embedded model's server starts only then.
"""

import asyncio
import contextlib
import functools
import json
import os
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import BedsideError, choose, paths, prompts, store

if TYPE_CHECKING:
    import pandas as pd


MODES = ("replay", "record", "fresh", "plan")
CHARS_PER_TOKEN = 3  # a cautious estimate, for plans and budgets before a call


class MissingRecording(BedsideError):
    """Replay met a request that was never recorded."""


class StopRun(BedsideError):
    """Going on would be pointless or too expensive: a key that is refused, or a budget used up."""


@functools.cache
def registry() -> dict[str, dict]:
    """Entries of data/models.toml by name."""
    return tomllib.loads((paths.DATA / "models.toml").read_text())


def model(name: str) -> dict:
    """One registry entry; an unknown name is an error with the nearest one."""
    known = registry()
    return known[name] if name in known else choose(name, known, "model")


def json_object(**members: dict) -> dict:
    """The JSON schema of an object with exactly these members ({name: schema})."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def response_format(name: str, **members: dict) -> dict:
    """The response format that asks for a JSON object with these members ({name: schema})."""
    schema = {"name": name, "strict": True, "schema": json_object(**members)}
    return {"type": "json_schema", "json_schema": schema}


@dataclass(frozen=True)
class Request:
    """One call: for which item, to which model of the registry, with what messages and settings."""

    item: str
    model: str
    messages: list
    settings: dict = field(default_factory=dict)  # max_tokens, temperature, seed, ...
    response_format: dict | None = None
    repeat: int = 0

    @functools.cached_property
    def fields(self) -> dict:
        """Everything that can change the answer, as the recording's key sees it."""
        m, settings = model(self.model), dict(self.settings)
        for name in ("temperature", "top_p"):  # 0 and 0.0 are one setting
            if isinstance(settings.get(name), int):
                settings[name] = float(settings[name])
        return {
            "provider": m["provider"],
            "model": m["model"],
            "weights": m.get("weights_sha256"),
            "messages": self.messages,
            "response_format": self.response_format,
            "repeat": self.repeat,
            **settings,
        }

    @functools.cached_property
    def key(self) -> str:
        return store.key(self.fields)

    def estimate(self) -> tuple[int, int]:
        """(prompt, completion) tokens at most, before the call."""
        chars = sum(len(m["content"]) + 12 for m in self.messages)
        return -(-chars // CHARS_PER_TOKEN), self.settings.get("max_tokens", 4096)

    def planned(self) -> dict:
        """What a plan says of the call: key, model, prompt and completion (tokens at most)."""
        prompt, completion = self.estimate()
        return {"key": self.key, "model": self.model, "prompt": prompt, "completion": completion}

    def body(self) -> dict:
        """The JSON body of the call."""
        m = model(self.model)
        limit = m.get("max_tokens_name", "max_tokens")
        settings = {limit if k == "max_tokens" else k: v for k, v in self.settings.items()}
        extra = {"response_format": self.response_format} if self.response_format else {}
        return {"model": m["model"], "messages": self.messages, **settings, **extra}


@dataclass(frozen=True)
class Reply:
    """What came back. Where nothing usable came `error` says why; that is never recorded."""

    item: str
    model: str
    key: str
    text: str = ""
    finish: str = ""  # stop, length, content_filter, ...
    refusal: str = ""
    returned_model: str = ""  # as the endpoint names it
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str = ""  # "kind: the provider's words" of a call that failed
    no_answer: str = ""  # why a reply that came holds no text: of NO_ANSWER
    recorded: bool = False  # replayed, not called

    @property
    def truncated(self) -> bool:
        """Whether it was cut at its limit; one that was cut before its first word is no answer."""
        return self.finish == "length" and not self.no_answer

    @property
    def why(self) -> str:
        """Why there is nothing to read or judge; empty where there is."""
        return self.error or self.no_answer


def cost(name: str, prompt_tokens: float | None, completion_tokens: float | None) -> float | None:
    """Price in USD of a call; None where the registry has no price or the tokens aren't known."""
    m = model(name)
    if "usd_per_million_in" not in m or prompt_tokens is None or completion_tokens is None:
        return 0.0 if m["provider"] == "local" else None
    usd_in, usd_out = m["usd_per_million_in"], m["usd_per_million_out"]
    return (prompt_tokens * usd_in + completion_tokens * usd_out) / 1e6


NO_ANSWER = {"length": "cut off while thinking", "content_filter": "filtered"}  # else "blank"
KEPT = ("text", "finish", "refusal", "returned_model", "prompt_tokens", "completion_tokens")


def as_reply(request: Request, record: dict, recorded: bool) -> Reply:
    """The reply to a request from its record, without what no frame or file can hold."""
    kept = prompts.cleaned({k: record[k] for k in KEPT if record.get(k) is not None})
    if not (kept.get("text", "").strip() or kept.get("refusal")):
        kept["no_answer"] = NO_ANSWER.get(kept.get("finish"), "blank")
    return Reply(request.item, request.model, request.key, recorded=recorded, **kept)


def as_record(request: Request, answer: Any) -> dict:
    """The record of a parsed chat completion; raises ValueError saying what is wrong with it."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not choices or not isinstance(choices[0].get("message"), dict):
        raise ValueError("the endpoint's answer holds no choice")
    message, usage = choices[0]["message"], answer.get("usage") or {}
    text, refusal = message.get("content") or "", message.get("refusal") or ""
    finish = choices[0].get("finish_reason")
    if not (text or refusal or finish in ("length", "content_filter")):
        raise ValueError("the endpoint's answer is empty")
    return {
        "key": request.key,
        "item": request.item,
        "text": text,
        "finish": finish,
        "refusal": refusal,
        "returned_model": answer.get("model") or "",
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "fields": store.redacted(request.fields),
    }


def api_key(name: str) -> str:
    """The key of a model from the environment; a placeholder for endpoints that want none."""
    variable = model(name).get("api_key_env")
    if variable and not os.environ.get(variable):
        raise StopRun(f"model {name!r} needs its key in the environment variable {variable}")
    return os.environ[variable] if variable else "none"


async def ask(
    requests: Iterable[Request],
    recordings: store.Recordings,
    *,
    mode: str = "replay",
    budget_usd: float | None = None,
    plan: list[Request] | None = None,
    label: str = "",
    progress: bool = True,
) -> list[Reply]:
    """Replies to `requests`, in order, one each.

    mode: replay (a miss raises MissingRecording), record (call what is missing), fresh (call
    all), plan (call nothing; append each miss to the list `plan`, with a reply of full length and
    fitting shape in its place). Requests with the same key are sent once. A request that fails
    for good yields a Reply with `error`. Raises StopRun on 401, 403 or before `budget_usd` would
    be passed, StoreError when replies can't be written; what came before is kept.
    """
    requests = list(requests)
    every = {r.key: r for r in requests}
    known = () if mode == "fresh" else recordings.found(every)
    replies = {key: as_reply(every[key], record, True) for key, record in known}
    missing = [r for key, r in every.items() if key not in replies]
    if missing and choose(mode, MODES, "MODE") == "replay":
        what = f"{len(missing)} of {len(requests)} requests have"
        raise _unrecorded(missing[0], recordings, what)
    if missing and mode == "plan":
        plan.extend(missing)
        replies |= {r.key: _stand_in(r) for r in missing}
    elif missing:
        names = list(dict.fromkeys(r.model for r in missing))
        count = len(every), len(replies)
        async with _caller(recordings, mode, budget_usd, label, progress, names, count) as one:

            async def work(queue):
                for request in queue:
                    replies[request.key] = await one(request)

            with unwrapped():
                async with asyncio.TaskGroup() as tasks:
                    for name in names:
                        queue = iter([r for r in missing if r.model == name])
                        # twice as many as are sent at once: some wait for their reply to be on disk
                        for _ in range(2 * model(name).get("max_concurrency", 8)):
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
    budget_usd: float | None = None,
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
    if mode in ("replay", "plan"):
        yield functools.partial(_without_call, recordings, plan if mode == "plan" else None)
    else:
        async with _caller(recordings, mode, budget_usd, label, progress) as one:
            yield one


@contextlib.asynccontextmanager
async def _caller(recordings, mode, budget_usd, label, progress, names=(), count=(None, 0)):
    """What `ask` and `asking` send requests by.

    names: models whose key, price and folder are checked before anything is sent; count: (requests,
    recorded ones) if that is known beforehand.
    """
    from .calls import Calls, Meter  # most runs replay

    under_way, called = {}, set()
    async with Calls(recordings, mode, Meter(budget_usd, label, progress, *count)) as call:
        for name in names:
            await call.ready(name)

        async def one(request):
            key = request.key
            record = recordings.get(key) if mode != "fresh" or key in called else None
            if record:
                return as_reply(request, record, True)
            if key not in under_way:
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


async def _without_call(recordings, plan, request):
    """The recorded reply; else a stand-in and a line in `plan`, or an error without a plan."""
    if record := recordings.get(request.key):
        return as_reply(request, record, True)
    if plan is None:
        raise _unrecorded(request, recordings, "a request has")
    plan.append(request)
    return _stand_in(request)


@contextlib.contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the first error of a task group as it was."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


def most(name: str, tokens: int, kind: str = "") -> int:
    """`tokens`, or fewer if a model's entry allows fewer for this kind of text.

    kind: a key of its `most_tokens_for`; what is not there is held to its `most_tokens`.
    """
    entry = model(name)
    return min(tokens, entry.get("most_tokens_for", {}).get(kind, entry.get("most_tokens", tokens)))


def requests_to(
    run,
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
    run,
    prompts: dict[str, list[dict]],
    max_tokens: int,
    models: list[str] | None = None,
    kind: str = "",
) -> "pd.DataFrame":
    """Greedy answers of a run's or other models to {item: messages}, as a frame.

    kind: of text, as `most` takes it. Columns: item, model, answer, reply_status (empty for an
    answer, else why there is none), truncated. A refusal is an answer.
    """
    import pandas as pd

    asked = requests_to(run, prompts, max_tokens, models, kind=kind)
    replies = await run.ask(asked, "answers")
    rows = [(r.item, r.model, r.text or r.refusal, r.why, r.truncated) for r in replies]
    columns = ["item", "model", "answer", "reply_status", "truncated"]
    return pd.DataFrame(rows, columns=columns)


def _unrecorded(request, recordings, what):
    return MissingRecording(
        f"{what} no recording in {paths.rel(recordings.folder)}; the first: item {request.item!r},"
        f" model {request.model!r}, {recordings.nearest(request.item, request.fields)}. Record with"
        " MODE=record, see the cost first with `make plan`"
    )


def _stand_in(request):
    """A reply when only planning: a list of full length, or what the response format asks for."""
    tokens = request.estimate()[1]
    mark = request.key[:12]  # it, and a path within, make each text another one

    def filled(schema, path):
        if "enum" in schema:
            return schema["enum"][-1]
        if schema["type"] == "object":
            return {k: filled(v, f"{path} {k}") for k, v in schema["properties"].items()}
        if schema["type"] == "array":
            count = schema.get("minItems", 1)
            return [filled(schema["items"], f"{path} {i}") for i in range(count)]
        return f"{path} {('word ' * tokens)[:200]}" if schema["type"] == "string" else 0

    if form := request.response_format:
        text = json.dumps(filled(form["json_schema"]["schema"], mark))
    else:
        text = "".join(f"- {mark[:6]} {i}\n" for i in range(tokens // 5))
    return Reply(request.item, request.model, request.key, text=text, finish="stop")
