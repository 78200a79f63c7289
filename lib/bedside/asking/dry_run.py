"""Dry runs: what stands in for a reply that isn't there, and in which wave a request can be asked.

A stand-in carries a mark of its request. Whoever is told a text with it waits for that reply: such
a request belongs to the wave after. What depends on replies in another way than by their text is
asked `in_sequence`.
"""

import contextlib
import functools
import json
import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar

from . import registry, store
from .replies import Reply, Request, alike

MARK, SHORT = 12, 6  # hexadecimal digits of a mark, and of one in a list
MARKS = re.compile(rf"\b[0-9a-f]{{{SHORT}}}(?:[0-9a-f]{{{MARK - SHORT}}})?\b")

_waves = {}  # mark -> the wave that brings its reply
_before = ContextVar("before", default=None)  # in a sequence: [the last wave so far]
_by_calls = ContextVar("by_calls", default=False)


def stand_ins(requests: Iterable[Request]) -> dict[str, Reply]:
    """Replies by key when only planning: lists of full length, or what the formats ask for.

    Requests that come together don't wait for each other.
    """
    requests, before = list(requests), _before.get() or [0]
    waves = [_note(request, before[0]) for request in requests]
    before[0] = max([before[0], *waves])
    return {request.key: _stand_in(request) for request in requests}


def _stand_in(request):
    room = registry.model(request.model).reasoning_tokens  # of which nothing is said
    tokens = request.estimate()[1] - room
    mark = request.key[:MARK]  # it, and a path within, make each text another one
    if form := request.response_format:
        text = _filled(form["json_schema"]["schema"], mark, tokens)
    else:
        text = "".join(f"- {mark[:SHORT]} {i}\n" for i in range(tokens // 5))
    return Reply(request.item, request.model, request.key, text=text, finish="stop")


def _filled(schema, mark, tokens):
    """A JSON object of this schema whose texts share so many tokens; `planned` tells it apart."""
    paths = []

    def filled(schema, path, words=""):
        if "enum" in schema:
            return schema["enum"][-1]
        if schema["type"] == "object":
            members = schema["properties"].items()
            return {k: filled(v, f"{path} {k}", words) for k, v in members}
        if schema["type"] == "array":
            count = schema.get("minItems", 1)
            return [filled(schema["items"], f"{path} {i}", words) for i in range(count)]
        if schema["type"] != "string":
            return 0
        paths.append(path)
        return f"{path} {words}"

    filled(schema, mark)  # counts the texts
    words = "word " * (tokens // max(len(paths), 1))
    return json.dumps({**filled(schema, mark, words), PLANNED: mark})


PLANNED = "planned"


def stands_in(text: str) -> bool:
    """Whether a text is that of a stand-in for a verdict or another JSON object."""
    return f'"{PLANNED}": "' in text


# ---- waves


def wave(request: Request) -> int:
    """In which wave a planned request can be asked, from 1; 0: by a call, with no wave before."""
    return _waves.get(request.key[:MARK], 1)


def planned(request: Request) -> dict:
    """What a plan says of a call: key, model, prompt and completion (tokens at most), its wave."""
    prompt, completion = request.estimate()
    return {
        "key": request.key,
        "model": request.model,
        "prompt": prompt,
        "completion": completion,
        "chars": request.chars,
        "like": alike(store.redacted({k: v for k, v in request.fields.items() if k != "messages"})),
        "wave": wave(request),
    }


@contextlib.contextmanager
def in_sequence() -> Iterator[None]:
    """Requests asked herein wait for those asked before them herein, whatever their texts say."""
    token = _before.set([0])
    try:
        yield
    finally:
        _before.reset(token)


@contextlib.contextmanager
def by_calls(these: bool = True) -> Iterator[None]:
    """Requests asked herein are called for one by one, and take no wave."""
    token = _by_calls.set(these)
    try:
        yield
    finally:
        _by_calls.reset(token)


def _note(request, before):
    """Put down and return a request's wave: the one after all that it waits for."""
    told = max(_latest(m["content"]) for m in request.body()["messages"])
    takes = registry.in_batches(request.model) and not _by_calls.get()
    mine = max(told, before) + takes
    mark = request.key[:MARK]
    for known in (mark, mark[:SHORT]):
        _waves[known] = max(_waves.get(known, 0), mine)
    return mine


@functools.lru_cache(20_000)
def _latest(text):
    """The latest wave that a text waits for; 0 for one without marks."""
    return max((_waves.get(m, 0) for m in MARKS.findall(text)), default=0)
