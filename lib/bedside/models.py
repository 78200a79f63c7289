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
import tomllib
from dataclasses import dataclass, field, replace

from . import BedsideError, choose, paths, prompts, store

MODES = ("replay", "record", "fresh", "plan")
CHARS_PER_TOKEN = 3  # a cautious estimate, for plans and budgets before a call


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
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def response_format(name, **members):
    """The response format that asks for a JSON object with these members ({name: schema})."""
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": json_object(**members)},
    }


@dataclass(frozen=True)
class Request:
    """One call: for which item, to which model of the registry, with which messages and settings."""

    item: str
    model: str
    messages: list
    settings: dict = field(default_factory=dict)  # max_tokens, temperature, top_p, seed, stop, ...
    response_format: dict | None = None
    repeat: int = 0

    @functools.cached_property
    def fields(self):
        """Everything that can change the answer, as the recording's key sees it."""
        m = model(self.model)
        return {
            "provider": m["provider"],
            "model": m["model"],
            "weights": m.get("weights_sha256"),
            "messages": self.messages,
            "response_format": self.response_format,
            "repeat": self.repeat,
            **{
                k: float(v) if isinstance(v, int) and k in ("temperature", "top_p") else v
                for k, v in self.settings.items()
            },
        }

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
    finish: str = ""  # stop, length, content_filter, ...
    refusal: str = ""
    returned_model: str = ""  # as the endpoint names it
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str = ""
    recorded: bool = False  # replayed, not called

    @property
    def truncated(self):
        return self.finish == "length"


def cost(name, prompt_tokens, completion_tokens):
    """Price in USD of a call, or None where the registry has no price or the tokens aren't known."""
    m = model(name)
    if "usd_per_million_in" not in m or prompt_tokens is None or completion_tokens is None:
        return 0.0 if m["provider"] == "local" else None
    return (
        prompt_tokens * m["usd_per_million_in"] + completion_tokens * m["usd_per_million_out"]
    ) / 1e6


def as_reply(request, record, recorded):
    keep = ("text", "finish", "refusal", "returned_model", "prompt_tokens", "completion_tokens")
    kept = {k: record[k] for k in keep if record.get(k) is not None}
    # the recording holds the text as it came; frames and files can't hold lone surrogates
    return Reply(
        request.item,
        request.model,
        request.key,
        recorded=recorded,
        **{k: prompts.clean(v) if isinstance(v, str) else v for k, v in kept.items()},
    )


def as_record(request, answer):
    """The record of a parsed chat completion; raises ValueError saying what is wrong with it."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not choices or not isinstance(choices[0].get("message"), dict):
        raise ValueError("the endpoint's answer holds no choice")
    message, usage = choices[0]["message"], answer.get("usage") or {}
    text, refusal, finish = (
        message.get("content") or "",
        message.get("refusal") or "",
        choices[0].get("finish_reason"),
    )
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


def api_key(name):
    """The key of a model from the environment; a placeholder for endpoints that want none."""
    variable = model(name).get("api_key_env")
    if variable and not os.environ.get(variable):
        raise StopRun(f"model {name!r} needs its key in the environment variable {variable}")
    return os.environ[variable] if variable else "none"


async def ask(
    requests,
    recordings,
    *,
    mode="replay",
    budget_usd=None,
    plan=None,
    label="",
    progress=True,
):
    """Replies to `requests`, in order, one each.

    mode: replay (a miss raises MissingRecording), record (call what is missing), fresh (call all), plan (call
    nothing; append each miss to the list `plan`, with a reply of full length and fitting shape in its place). Requests
    with the same key are sent once. A request that fails for good yields a Reply with `error`. Raises StopRun on 401,
    403 or before `budget_usd` would be passed, StoreError when replies can't be written; what came before is kept.
    """
    choose(mode, MODES, "MODE")
    requests = list(requests)
    recordings.refresh()
    every = {r.key: r for r in requests}
    missing = [r for r in every.values() if mode == "fresh" or r.key not in recordings]
    if missing and mode == "replay":
        what = f"{len(missing)} of {len(requests)} requests have"
        raise _unrecorded(missing[0], recordings, what)
    names = dict.fromkeys(r.model for r in missing) if mode in ("record", "fresh") else ()
    options = {"mode": mode, "budget_usd": budget_usd, "plan": plan, "label": label}
    count = len(every), len(every) - len(missing)
    replies = {}

    async with asking(recordings, **options, progress=progress, models=names, count=count) as one:

        async def work(queue):
            for request in queue:
                replies[request.key] = await one(request)

        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                for name in names:
                    queue = iter([r for r in missing if r.model == name])
                    # twice as many as are sent at once: the next call is under way while a reply goes to disk
                    for _ in range(2 * model(name).get("max_concurrency", 8)):
                        tasks.create_task(work(queue))
        await work(r for r in every.values() if r.key not in replies)  # what needs no call
    return [_for(replies[r.key], r) for r in requests]


def _for(reply, request):
    """A reply for another item's request with the same key."""
    return reply if reply.item == request.item else replace(reply, item=request.item)


@contextlib.asynccontextmanager
async def asking(
    recordings,
    *,
    mode="replay",
    budget_usd=None,
    plan=None,
    label="",
    progress=True,
    models=(),
    count=(None, 0),
):
    """A function for requests that follow from replies: `reply = await one(request)`, from any number of tasks at once.

    Arguments and errors as of `ask`. A request that several tasks have is sent once. It is called for as soon as the
    model's max_concurrency allows, in the order of asking. models: names whose key, price and folder are checked before
    anything is sent; count: (requests, recorded ones) if that is known beforehand.
    """
    choose(mode, MODES, "MODE")
    recordings.refresh()
    if mode in ("replay", "plan"):
        yield functools.partial(_without_call, recordings, plan if mode == "plan" else None)
        return
    from .calls import Calls, Meter  # most runs replay

    under_way, called = {}, set()
    async with Calls(recordings, mode, Meter(budget_usd, label, progress, *count)) as call:
        for name in models:
            await call.ready(name)

        async def one(request):
            if (mode != "fresh" or request.key in called) and (
                record := recordings.get(request.key)
            ):
                return as_reply(request, record, True)
            if request.key not in under_way:

                def over(task):
                    del under_way[request.key]
                    if not task.cancelled():
                        task.exception()  # seen, if nobody waits for it any more

                under_way[request.key] = asyncio.ensure_future(call(request))
                under_way[request.key].add_done_callback(over)
            reply = await asyncio.shield(under_way[request.key])
            called.add(request.key)
            return _for(reply, request)

        try:
            yield one
        finally:  # whoever asked may be gone
            left = list(under_way.values())
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)


async def _without_call(recordings, plan, request):
    """The recorded reply; without one a stand-in and a line in `plan`, or an error where nothing is planned."""
    if record := recordings.get(request.key):
        return as_reply(request, record, True)
    if plan is None:
        raise _unrecorded(request, recordings, "a request has")
    plan.append(request)
    return _stand_in(request)


@contextlib.contextmanager
def unwrapped():
    """Raise the first error of a task group as it was."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


def requests_to(
    run, prompts, max_tokens, models=None, temperature=0, repeats=1, response_format=None
) -> list[Request]:
    """Requests to a run's or other models for {item: messages}, each `repeats` times.

    A model's `most_tokens` (data/models.toml) shortens its answers.
    """

    def settings(name):
        most = min(max_tokens, registry()[name].get("most_tokens", max_tokens))
        return {"max_tokens": most, "temperature": temperature}

    return [
        Request(item, name, messages, settings(name), response_format, repeat=k)
        for name in models or run.models
        for item, messages in prompts.items()
        for k in range(repeats)
    ]


async def answers_of(run, prompts, max_tokens, models=None):
    """Greedy answers of a run's or other models to {item: messages}: item, model, answer, reply_status, truncated.

    reply_status is empty for an answer, else why there is none. A refusal is an answer.
    """
    import pandas as pd

    replies = await run.ask(requests_to(run, prompts, max_tokens, models), "answers")
    return pd.DataFrame(
        [(r.item, r.model, r.text or r.refusal, r.error, r.truncated) for r in replies],
        columns=["item", "model", "answer", "reply_status", "truncated"],
    )


def _unrecorded(request, recordings, what):
    return MissingRecording(
        f"{what} no recording in {paths.rel(recordings.folder)}; the first: item {request.item!r},"
        f" model {request.model!r}, {recordings.nearest(request.item, request.fields)}. Record with"
        " MODE=record, see the cost first with `make plan`"
    )


def _stand_in(request):
    """A reply when only planning: text of full length, a list, and of the shape that the response format asks for."""
    tokens, mark = (
        request.estimate()[1],
        request.key[:12],
    )  # the key, and a path within, make each text another one

    def filled(schema, path):
        if "enum" in schema:
            return schema["enum"][-1]
        if schema["type"] == "object":
            return {k: filled(v, f"{path} {k}") for k, v in schema["properties"].items()}
        if schema["type"] == "array":
            return [
                filled(schema["items"], f"{path} {i}") for i in range(schema.get("minItems", 1))
            ]
        return f"{path} {('word ' * tokens)[:200]}" if schema["type"] == "string" else 0

    text = (
        json.dumps(filled(request.response_format["json_schema"]["schema"], mark))
        if request.response_format
        else "".join(f"- {mark[:6]} {i}\n" for i in range(tokens // 5))
    )
    return Reply(request.item, request.model, request.key, text=text, finish="stop")
