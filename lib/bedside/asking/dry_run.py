"""Dry runs: what stands in for a reply that isn't there, so that what follows can be planned."""

import json
import re
from collections.abc import Iterable

from . import registry
from .replies import Reply, Request

MARK = 12  # hexadecimal digits of a request's key, which make each text another one
PLANNED = "planned"  # tells an object apart
WORDS = "<words>"  # as many as the texts of an object share
NAMED = 6  # of these in each line of a text
LIST = re.compile(rf"(?:- ([0-9a-f]{{{NAMED}}}) \d+\n?)+")


def stand_in(request: Request) -> Reply:
    """A list of full length, or what the request's format asks for."""
    mark = request.key[:MARK]
    room = registry.model(request.model).reasoning_tokens  # of which nothing is said
    tokens = request.most - room
    if form := request.response_format:
        value = {**_filled(form["json_schema"]["schema"], mark), PLANNED: mark}
        text = json.dumps(value)
        text = text.replace(WORDS, "word " * (tokens // max(text.count(WORDS), 1)))
    else:
        text = "".join(f"- {mark[:NAMED]} {i}\n" for i in range(tokens // 5))
    return Reply(request.item, request.model, request.key, text, finish="stop")


def held(texts: Iterable[str]) -> list[tuple[str, int]]:
    """The stand-ins for texts that prompts hold: (how the key of each begins, its characters)."""
    return [(found[1], len(found[0])) for text in texts for found in LIST.finditer(text)]


def stated(form: dict) -> int | None:
    """Characters of the object that a response format asks for; None if it holds free text."""
    text = json.dumps(_filled(form["json_schema"]["schema"], ""))
    return None if WORDS in text else len(text)


def _filled(schema, path):
    """A value of this schema, each text of it another one, with WORDS for its length."""
    if "enum" in schema:
        return schema["enum"][-1]
    if schema["type"] == "object":
        return {k: _filled(v, f"{path} {k}") for k, v in schema["properties"].items()}
    if schema["type"] == "array":
        return [_filled(schema["items"], f"{path} {i}") for i in range(schema.get("minItems", 1))]
    return f"{path} {WORDS}" if schema["type"] == "string" else 0


def stands_in(text: str) -> bool:
    """Whether a text is that of a stand-in for a verdict or another JSON object."""
    return f'"{PLANNED}": "' in text
