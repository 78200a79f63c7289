"""What providers say in place of an answer: what it is, what a run does then, and what it costs."""

import datetime
import json
import time
from pathlib import Path

import openai

from bedside.asking import failures

NOW = datetime.datetime(2026, 11, 26, 12, 0, tzinfo=datetime.UTC)
KEPT = {"key": "k", "item": "i", "chars": 1, "fields": {}}


def failure(status, said, headers):
    """The Failure that an answer of an endpoint is; None for a reply."""
    try:
        if status == "lost":  # a connection, by the error of what makes connections
            error, (name, _, words) = openai.APIConnectionError(request=None), said.partition(": ")
            error.__cause__ = type(name, (Exception,), {})(words)
            return failures.lost(error, ())
        if status != "200":
            return failures.of(int(status), said.encode(), headers, ())
        failures.read(KEPT, json.loads(said), headers, ())
    except failures.Failure as e:
        return e


def outcome_of(found):
    """Its kind, what follows, the seconds to wait, and what it costs."""
    if found is None:
        return "reply"
    wait = "" if found.wait is None else f" {round(found.wait, 2):.9g} s"
    cost = {(0, 0): "free", (None, None): "perhaps charged"}.get(found.tokens[:2], "charged")
    return f"{found.kind}, {found.fate}{wait}, {cost}"


def test_each_answer_of_a_provider_is_taken_for_what_it_is(monkeypatch):
    """Whether another try may help, which requests it ends, how long to wait, what it costs."""
    monkeypatch.setattr(time, "time", NOW.timestamp)
    wrong = []
    for line in Path(__file__).with_name("failures.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        expected, status, said, *headers = line.split(" | ")
        outcome = outcome_of(failure(status, said, json.loads(*headers or ["{}"])))
        if outcome != expected:
            wrong.append(f"{outcome} | {line}")
    assert not wrong, "\n".join(wrong)
