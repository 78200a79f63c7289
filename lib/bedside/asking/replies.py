"""Requests and replies: what is sent to a model, what comes back, and what recordings keep."""

import datetime
import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bedside.read import prompts

from . import store
from .registry import PROVIDERS, model
from .usage import prompt_tokens, tokens_of, used

UNLIMITED = 4096  # tokens that a reply without a limit is taken to have


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


VERDICT_TOKENS = 1000  # room for a verdict: some models write before they state it


def verdict_format(values: Sequence[int | str], key: str = "score", reason: bool = False) -> dict:
    """The response format that asks for {key: one of values} and nothing else.

    reason: asks for a reason before it.
    """
    kind = "integer" if all(isinstance(v, int) for v in values) else "string"
    before = {"reason": {"type": "string"}} if reason else {}
    value = {key: {"type": kind, "enum": list(values)}}
    return response_format("verdict", **before, **value)


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
        return model(self.model).body(self.messages, self.settings, self.response_format)

    def body(self) -> dict:
        """The JSON body of the call."""
        return self._body

    @functools.cached_property
    def fields(self) -> dict:
        """Everything that can change the answer, as the recording's key sees it."""
        return {**model(self.model).identity(self._body), "repeat": self.repeat}

    @functools.cached_property
    def key(self) -> str:
        return store.digest(self.fields)

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
        return prompt_tokens(self._sent), self.most

    @property
    def most(self) -> int:
        """Tokens that the reply has at most."""
        names = (model(self.model).max_tokens_name, "max_tokens")
        return next((self._body[k] for k in names if k in self._body), UNLIMITED)

    @property
    def likely(self) -> int:
        """Prompt tokens by a cautious estimate, for limits that cost only time if they are passed.

        11 ASCII characters are 4 tokens; of others each byte is one.
        """
        ascii = sum(len(text.encode("ascii", "ignore")) for text in self._sent)
        return self.estimate()[0] - ascii * 7 // 11

    def kept(self) -> dict:
        """What a recording keeps of the request, besides its reply."""
        fields = store.redacted(self.fields)
        return {"key": self.key, "item": self.item, "chars": self.chars, "fields": fields}


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
NO_ANSWER = PROVIDERS["no_answer"]  # why a reply is none, by how it ended; else "blank"
WITHHELD = ("refusal", "content_filter", "tool_calls")  # ends that hold even if some text came
SPELLED = {  # finish reasons that endpoints give, as OpenAI spells them
    given: finish for finish, others in PROVIDERS["finish"].items() for given in (finish, *others)
}
# a finish reason of half a text: the endpoint, or what stands before it, failed within the answer
BROKEN_OFF = (
    r"error|fail|abort|cancel|time.?out|interrupt|disconnect|exception|overload"
    r"|insufficient_system_resource"
)


def as_reply(request: Request, record: dict, recorded: bool) -> Reply:
    """The reply to a request from its record, without what no frame or file can hold.

    Its text is what the model says once it has thought. What was refused, filtered or broken off
    for a tool that nobody offered is no answer, whatever text came before.
    """
    kept = prompts.cleaned(
        {k: record[k] for k in (*store.TEXTS, "latency_s") if record.get(k) is not None}
    )
    kept["prompt_tokens"], kept["completion_tokens"] = used(record)
    given = kept.get("finish", "")
    kept["finish"] = end = SPELLED.get(given.lower().partition(":")[0].strip(), given)
    kept["text"] = model(request.model).spoken(kept.get("text", ""), end == "length")
    if kept.get("refusal", "").strip():
        end = "refusal"
    elif record.get("tool_calls"):
        end = "tool_calls"
    if end in WITHHELD or not kept["text"].strip():
        kept["no_answer"] = NO_ANSWER.get(end, "blank")
    elif broken_off(end):  # of a recording from before such a reply was a failure
        kept["no_answer"] = "broken off"
    kept["batch"] = bool(record.get("batch"))
    return Reply(request.item, request.model, request.key, recorded=recorded, **kept)


def broken_off(finish: Any) -> bool:
    """Whether a finish reason says that a reply was broken off, however it is spelled."""
    return bool(re.search(BROKEN_OFF, _text(finish), re.I))


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
        raise ValueError("the endpoint's answer has no choice, so it isn't a chat completion")
    prompt, completion, usage = tokens_of(answer)
    date = date or datetime.datetime.now(datetime.UTC)
    record = {
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
    }
    called = message.get("tool_calls") or message.get("function_call")
    return {**record, "tool_calls": True} if called else record


def first_choice(answer: Any) -> dict:
    """The first choice of a parsed chat completion; empty where there is none."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _content(content):
    """A message's text, which may come in parts; parts that aren't text don't count."""
    if isinstance(content, list) and all(isinstance(part, str | dict) for part in content):
        return "".join(p if isinstance(p, str) else _text(p.get("text")) for p in content)
    if content is None or isinstance(content, str):
        return content or ""
    raise ValueError(f"the endpoint's answer has {type(content).__name__} for its text")


def _text(value):
    return value if isinstance(value, str) else ""
