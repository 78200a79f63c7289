"""Models: data/models.toml, requests, replies, and `ask`, which replays and records them.

    replies = await ask([Request("q1", "smollm2-135m", messages)], recordings, mode="record")

A reply is on disk before it is returned. Only requests without a recording cause a call; the
embedded model's server starts only then.
"""

import asyncio
import contextlib
import datetime
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import BedsideError, choose, entries, paths, planning, prompts, store
from .entries import StopRun, api_key, cost, cost_at_most, model, most, registry  # noqa: F401
from .usage import prompt_tokens, tokens_of, used

if TYPE_CHECKING:
    import pandas as pd

    from . import ledger

MODES = ("replay", "record", "fresh", "plan", "batch")
UNLIMITED = 4096  # tokens that a reply without a limit is taken to have


class MissingRecording(BedsideError):
    """Replay met a request that was never recorded."""


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
    def _body(self):
        return entries.body(self.model, self.messages, self.settings, self.response_format)

    def body(self) -> dict:
        """The JSON body of the call."""
        return self._body

    @functools.cached_property
    def fields(self) -> dict:
        """Everything that can change the answer, as the recording's key sees it."""
        return {**entries.identity(self.model, self._body), "repeat": self.repeat}

    @functools.cached_property
    def key(self) -> str:
        return store.key(self.fields)

    @functools.cached_property
    def chars(self) -> int:
        """Characters that are sent, with some for each message and for the form of the answer."""
        return sum(map(len, self._sent)) + 12 * len(self._body["messages"])

    @property
    def _sent(self):
        """The texts of a call: its messages and, if it has one, the form of the answer."""
        texts = [m["content"] for m in self._body["messages"]]
        form = json.dumps(self._body.get("response_format", ""))[1:-1]
        return [*texts, form] if form else texts

    def estimate(self) -> tuple[int, int]:
        """(prompt, completion) tokens at most, before the call.

        Every token of a prompt stands for at least one byte of it, whatever the script, where a
        vocabulary holds all bytes, as those of today's models do. The reply has at most its limit.
        """
        names = (model(self.model).get("max_tokens_name", "max_tokens"), "max_tokens")
        limits = [self._body[k] for k in names if k in self._body] or [UNLIMITED]
        return prompt_tokens(self._sent), limits[0]

    @property
    def likely(self) -> int:
        """Prompt tokens by a cautious estimate, for limits that cost only time if they are passed.

        Of texts in ASCII less than half of what `estimate` says; of others about as much.
        """
        return prompt_tokens(self._sent, likely=True)

    def planned(self) -> dict:
        """What a plan says of the call: key, model, prompt and completion (tokens at most)."""
        prompt, completion = self.estimate()
        return {
            "key": self.key,
            "model": self.model,
            "prompt": prompt,
            "completion": completion,
            "chars": self.chars,
            "like": alike(store.redacted(self.fields)),
            "wave": planning.wave(self),
        }

    def kept(self) -> dict:
        """What a recording keeps of the request, besides its reply."""
        fields = store.redacted(self.fields)
        return {"key": self.key, "item": self.item, "chars": self.chars, "fields": fields}


def alike(fields: dict) -> str:
    """What requests have in common whose replies are about equally long: limit and form.

    fields: as a recording keeps them.
    """
    limits = {k: v for k, v in fields.items() if k.startswith("max_")}
    return store.canonical([limits, fields.get("response_format")])


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
    cache_write_tokens: int | None = None  # of the prompt's; None where nobody counted them
    date: str = ""  # this and the next two are empty where they weren't recorded
    fingerprint: str = ""  # of what served it
    router: str = ""  # the provider that a router chose
    latency_s: float | None = None  # of the call, seconds; None where it wasn't recorded
    error: str = ""  # "kind: the provider's words" of a call that failed
    no_answer: str = ""  # why a reply that came is no answer: of NO_ANSWER
    batch: bool = False  # came by a batch, at its price
    recorded: bool = False  # replayed, not called

    @property
    def truncated(self) -> bool:
        """Whether it was cut at its limit; one that was cut before its first word is no answer."""
        return self.finish == "length" and not self.no_answer

    @property
    def declined(self) -> bool:
        """Whether the model refused or the provider filtered, whatever text came."""
        return bool(self.refusal) or self.finish in ("refusal", "content_filter")

    @property
    def why(self) -> str:
        """Why there is nothing to read or judge; empty where there is."""
        return self.error or self.no_answer

    @property
    def waits(self) -> bool:
        """Whether a batch is to bring it: what follows from it can't be asked yet."""
        return self.error == WAITS


WAITS = "waits for a batch"
# why a reply is no answer, by how it ended; those of WITHHELD hold even if some text came
NO_ANSWER = {
    "refusal": "refused",
    "content_filter": "filtered",
    "tool_calls": "tool calls",
    "length": "cut off while thinking",
}  # else "blank"
WITHHELD = ("refusal", "content_filter", "tool_calls")
SPELLED = {  # finish reasons that some endpoints give in place of OpenAI's
    **dict.fromkeys(("max_tokens", "model_length"), "length"),
    **dict.fromkeys(("function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(
        ("safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive"),
        "content_filter",
    ),
}
KEPT = ("text", "finish", "refusal", "returned_model", "date", "fingerprint", "router", "latency_s")
TOKENS = ("prompt_tokens", "completion_tokens", "cache_write_tokens")


def as_reply(request: Request, record: dict, recorded: bool) -> Reply:
    """The reply to a request from its record, without what no frame or file can hold.

    Its text is what the model says once it has thought. What was refused, filtered or broken off
    for a tool that nobody offered is no answer, whatever text came before.
    """
    kept = prompts.cleaned({k: record[k] for k in KEPT if record.get(k) is not None})
    kept["finish"] = finish = _finish(kept.get("finish", ""))
    kept["text"] = entries.spoken(request.model, kept.get("text", ""), finish == "length")
    if kept.get("refusal", "").strip():
        finish = "refusal"
    elif record.get("tool_calls"):
        finish = "tool_calls"
    if finish in WITHHELD or not kept["text"].strip():
        kept["no_answer"] = NO_ANSWER.get(finish, "blank")
    kept["batch"] = _by_batch(request.model, record)
    kept |= zip(TOKENS, used(record))
    return Reply(request.item, request.model, request.key, recorded=recorded, **kept)


def _by_batch(name, record):
    """Whether a batch brought a reply.

    Records from before this was noted tell it by what they lack: since `usage` is recorded in
    detail a call also has its latency, unless the answer was withheld.
    """
    if "batch" in record:
        return bool(record["batch"])
    called = "latency_s" in record or "withheld" in record or "usage" not in record
    return not called and entries.in_batches(name)


def _finish(said):
    """A finish reason as OpenAI spells it; one that nobody knows as it is."""
    plain = said.lower().partition(":")[0].strip()
    return SPELLED.get(plain, plain if plain in NO_ANSWER else said)


def as_record(kept: dict, answer: Any, date: datetime.datetime | None = None) -> dict:
    """The record of a parsed chat completion; raises ValueError saying what is wrong with it.

    kept: `Request.kept`; date: when it came, without one now. A reply without text is one too. What
    an endpoint adds (fingerprint, usage in detail, who served it) is kept as far as it is what it
    should be.
    """
    choice = first_choice(answer)
    message = choice.get("message")
    if "text" in choice and message is None:  # of a bare prompt
        message = {"content": choice["text"]}
    if not isinstance(message, dict):
        raise ValueError("the endpoint's answer holds no choice")
    called = bool(message.get("tool_calls") or message.get("function_call"))
    prompt, completion, usage = tokens_of(answer)
    date = date or datetime.datetime.now(datetime.UTC)
    return {
        "key": kept["key"],
        "item": kept["item"],
        "text": _content(message.get("content")),
        "finish": _text(choice.get("finish_reason")),
        "refusal": _text(message.get("refusal")),
        "returned_model": _text(answer.get("model")),
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "usage": usage,
        "fingerprint": _text(answer.get("system_fingerprint")),
        "router": _text(answer.get("provider")),
        "date": date.isoformat(timespec="seconds"),
        "chars": kept["chars"],
        "fields": kept["fields"],
        **({"tool_calls": True} if called else {}),
    }


def first_choice(answer: Any) -> dict:
    """The first choice of a parsed chat completion; empty where there is none."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _content(content):
    """A message's text, which may come in parts; parts that aren't text don't count."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        parts = [{"text": p} if isinstance(p, str) else p for p in content]
        if all(isinstance(p, dict) for p in parts):
            return "".join(_text(p.get("text")) for p in parts)
    raise ValueError(f"the endpoint's answer has {type(content).__name__} for its text")


def _text(value):
    return value if isinstance(value, str) else ""


async def ask(
    requests: Iterable[Request],
    recordings: store.Recordings,
    *,
    mode: str = "replay",
    account: "ledger.Account | None" = None,
    plan: list[Request] | None = None,
    label: str = "",
    progress: bool = True,
) -> list[Reply]:
    """Replies to `requests`, in order, one each.

    mode: replay (a miss raises MissingRecording), record (call what is missing), fresh (call
    all), plan (call nothing; append each miss to the list `plan`, with a reply of full length and
    fitting shape in its place), batch (append each miss to `plan`, with a reply without text that
    `waits`; only the embedded model, which takes no batches, is called). account: the notebook that
    asks, and its budgets. Requests with the same key are sent once. A request that fails for good
    yields a Reply with `error`. Raises StopRun for a refused key, a few equal failures that nothing
    mends, and before a budget would be passed; StoreError when replies can't be written; what came
    before is kept.
    """
    requests = list(requests)
    every = {r.key: r for r in requests}
    known = () if mode == "fresh" else recordings.found(every)
    replies = {key: as_reply(every[key], record, True) for key, record in known}
    missing = [r for key, r in every.items() if key not in replies]
    if missing and choose(mode, MODES, "MODE") == "replay":
        what = f"{len(missing)} of {len(requests)} requests have"
        raise _unrecorded(missing[0], recordings, what)
    if mode == "batch":
        plan.extend(r for r in missing if entries.in_batches(r.model))
        replies |= {r.key: waiting(r) for r in missing if entries.in_batches(r.model)}
        missing, mode = [r for r in missing if r.key not in replies], "record"
    if missing and mode == "plan":
        plan.extend(missing)
        replies |= planning.stand_ins(missing)
    elif missing:
        names = list(dict.fromkeys(r.model for r in missing))
        count = len(every), len(replies)
        async with _caller(recordings, mode, account, label, progress, names, count) as one:

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
    account: "ledger.Account | None" = None,
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
    without = functools.partial(_without_call, recordings, mode, plan)
    if mode in ("replay", "plan"):
        yield without
    elif mode != "batch":
        async with _caller(recordings, mode, account, label, progress) as one:
            yield one
    else:
        async with _caller(recordings, "record", account, label, progress) as called:

            async def one(request):
                return await (without if entries.in_batches(request.model) else called)(request)

            yield one


@contextlib.asynccontextmanager
async def _caller(recordings, mode, account, label, progress, names=(), count=(None, 0)):
    """What `ask` and `asking` send requests by.

    names: models whose key, price and folder are checked before anything is sent; count: (requests,
    recorded ones) if that is known beforehand.
    """
    from .ledger import Account
    from .sending import Calls, Meter  # most runs replay

    under_way, called, account = {}, set(), account or Account()
    meter = Meter(label, progress, account.notebook, *count)
    async with Calls(recordings, mode, account, meter) as call:
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


NOT_RECORDED = "not recorded"


def not_recorded(request: Request) -> Reply:
    """The reply to a request that has no recording, where nobody may be asked."""
    return Reply(request.item, request.model, request.key, error=NOT_RECORDED)


def waiting(request: Request) -> Reply:
    """The reply to a request that a batch is to bring."""
    return Reply(request.item, request.model, request.key, error=WAITS)


async def of_recorded(
    requests: Iterable[Request],
    recordings: store.Recordings,
    ask: Callable[[list[Request]], Awaitable[list[Reply]]],
) -> list[Reply]:
    """`ask`'s replies to those requests that have a recording; the others are `not_recorded`."""
    requests = list(requests)
    there = [r.key in recordings for r in requests]
    got = iter(await ask([r for r, here in zip(requests, there) if here]))
    return [next(got) if here else not_recorded(r) for r, here in zip(requests, there)]


async def _without_call(recordings, mode, plan, request):
    """The recorded reply; else what stands in for it and a line in `plan`, or an error."""
    if record := recordings.get(request.key):
        return as_reply(request, record, True)
    if mode == "replay":
        raise _unrecorded(request, recordings, "a request has")
    plan.append(request)
    return waiting(request) if mode == "batch" else planning.stand_ins([request])[request.key]


@contextlib.contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the first error of a task group as it was.

    Without the group as its context: with it IPython would print no error at all.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        first = group.exceptions[0]
        try:
            raise first
        finally:  # raising set it
            first.__context__ = None


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
    temperature: float = 0,
) -> "pd.DataFrame":
    """Answers of a run's or other models to {item: messages}, as a frame.

    kind: of text, as `most` takes it. Columns: item, model, answer, reply_status (empty for an
    answer, else why there is none), truncated, sent (the key of its request). Where there is none,
    `answer` is what came nevertheless, such as the words of a refusal; nobody judges it.
    """
    import pandas as pd

    asked = requests_to(run, prompts, max_tokens, models, temperature, kind=kind)
    replies = await run.ask(asked, "answers")
    rows = [(r.item, r.model, r.text or r.refusal, r.why, r.truncated, r.key) for r in replies]
    columns = ["item", "model", "answer", "reply_status", "truncated", "sent"]
    return pd.DataFrame(rows, columns=columns)


def _unrecorded(request, recordings, what):
    return MissingRecording(
        f"{what} no recording in {paths.rel(recordings.folder)}; the first: item {request.item!r},"
        f" model {request.model!r}, {recordings.nearest(request.item, request.fields)}. Record with"
        " MODE=record, see the cost first with `make plan`"
    )
