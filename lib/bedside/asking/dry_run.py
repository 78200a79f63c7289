"""Dry runs: what stands in for a reply that isn't there, so that what follows can be planned."""

import json
from collections.abc import Iterable

from . import registry
from .replies import Reply, Request

MARK = 12  # hexadecimal digits of a request's key, which make each text another one
PLANNED = "planned"


def stand_ins(requests: Iterable[Request]) -> dict[str, Reply]:
    """Replies by key: lists of full length, or what the requests' formats ask for."""
    return {r.key: Reply(r.item, r.model, r.key, _text(r), finish="stop") for r in requests}


def _text(request):
    mark = request.key[:MARK]
    room = registry.model(request.model).reasoning_tokens  # of which nothing is said
    tokens = request.most - room
    if form := request.response_format:
        return _filled(form["json_schema"]["schema"], mark, tokens)
    return "".join(f"- {mark[:6]} {i}\n" for i in range(tokens // 5))


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


def stands_in(text: str) -> bool:
    """Whether a text is that of a stand-in for a verdict or another JSON object."""
    return f'"{PLANNED}": "' in text
