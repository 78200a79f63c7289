"""Recordings that others hand in, with where they come from: data/recordings/contributed.toml.

Each entry has the name of a model in data/models.toml and the FIELDS. CONTRIBUTING.md says how to
hand recordings in; `check` is what they pass on arrival, and again in the tests.
"""

import datetime
import json
import re
import tomllib
from pathlib import Path

from bedside import BedsideError
from bedside.read import paths
from bedside.read.paths import file_name, rel

from . import registry, store

FIELDS = {
    "by": "who hands them in",
    "endpoint": "where the model was asked",
    "code": "the commit of Bedside that asked",
    "terms": "which document allows publishing the replies (its title, date), and what it says",
}
KEY = re.compile(r"\b(?:sk-|gsk_|xai-)[\w-]{16,}|\bAIza[\w-]{30,}|\bAKIA[A-Z0-9]{16}\b")


def entries() -> dict[str, dict]:
    """The entries of contributed.toml, {model: fields}; BedsideError names one that lacks a field.

    Empty without the file.
    """
    path = paths.RECORDINGS / "contributed.toml"
    if not path.is_file():
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as e:
        raise BedsideError(f"{rel(path)}: {e}") from None
    for name, about in found.items():
        for field, what in FIELDS.items():
            if not (isinstance(about, dict) and isinstance(about.get(field), str) and about[field]):
                raise BedsideError(f'{rel(path)}, ["{name}"]: {field} is missing: {what}')
    return found


def files(name: str) -> list[Path]:
    """The recordings of a model in the papers' studies."""
    every = (paths.RECORDINGS / p for p in paths.papers())
    return sorted(path for p in every for path in p.glob(f"*/{file_name(name)}.jsonl"))


def check(name: str) -> dict[str, dict]:
    """What a model's recordings hold, {file: {replies, models, first, last}}, once they are sound.

    first and last: days. BedsideError names file and line of what is wrong: not a recording, of
    another model than the entry's, with a prompt or a key in clear, without a date.
    """
    registry.named(name, "model")
    if not (found := files(name)):
        raise BedsideError(
            f"data/recordings: no recordings of {name!r}; make all MODELS={name} MODE=record makes"
            " them"
        )
    return {rel(path): _checked(path, name) for path in found}


def _checked(path, name):
    asked, days, models = registry.model(name), set(), {}
    secrets = [s for s in registry.secrets(name) if len(s) >= 8]
    with open(path, encoding="utf-8") as f:
        for n, line in enumerate(f, 1):
            try:
                record = _sound(line, asked, secrets)
            except ValueError as e:
                raise BedsideError(f"{rel(path)}, line {n}: {e}") from None
            days.add(datetime.datetime.fromisoformat(record["date"]).date())
            models[record["returned_model"]] = models.get(record["returned_model"], 0) + 1
    if not days:
        raise BedsideError(f"{rel(path)}: no reply in it; remove the file")
    return {"replies": n, "models": models, "first": min(days), "last": max(days)}


def _sound(line, asked, secrets):
    """The record of a line; ValueError with what is wrong with it."""
    try:
        record = json.loads(line)
        fields, _ = record["fields"], datetime.datetime.fromisoformat(record["date"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("no recording of a call, or one without a date") from None
    if any(fields.get(k) != asked[k] for k in ("provider", "model")):
        told = f"of {fields.get('provider')}, {fields.get('model')}"
        raise ValueError(f"{told}, and not of the entry's model")
    if not all(isinstance(fields.get(k) or "", str) for k in store.PRIVATE):
        raise ValueError("a prompt in clear; recordings hold its digest")
    if any(s in line for s in secrets) or KEY.search(line):
        raise ValueError("what looks like a key; take the reply out and revoke the key")
    return record
