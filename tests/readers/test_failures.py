"""What providers say in place of an answer: what it is, what a run does then, and what it costs."""

import datetime
import json
import random
import time
from pathlib import Path

from bedside.asking import failures

NOW = datetime.datetime(2026, 11, 26, 12, 0, tzinfo=datetime.UTC)
KEPT = {"key": "k", "item": "i", "chars": 1, "fields": {}}


def failure(status, said, headers):
    """The Failure that an answer of an endpoint is; None for a reply."""
    try:
        if status == "lost":  # a connection, by the error of what makes connections
            name, _, words = said.partition(": ")
            return failures.lost(type(name, (Exception,), {})(words), ())
        if status != "200":
            return failures.failure_of(int(status), said.encode(), headers, ())
        failures.record_of(KEPT, failures.parsed(said.encode()), headers, ())
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


PARTS = (
    "1 99 2026 - -11 T 12:00 : Z UTC PST +01:00 s m ms days inf nan 1e9 . Nov Thu, and ² ٣ [] {}"
    ' context length too large: in the output null resets on retry after again "retryDelay": "'
).split()
LONG = "9" * 5000
NAMES = "error message code choices finish_reason usage detail base_resp".split()


def answer(rng, depth=4):
    """Any JSON of the members that answers have."""
    inner = (answer(rng, depth - 1) for _ in range(rng.randrange(3) if depth else 0))
    some = [rng.choice([None, 7, text(rng), {}, [], ["x"]]), *inner]
    return {rng.choice(NAMES): s for s in some} if rng.random() < 0.7 else some


def text(rng):
    return "".join(rng.choices([*PARTS, " ", "\\", "\n", LONG], k=rng.randrange(8)))


def test_whatever_an_endpoint_says_is_understood_as_something():
    rng = random.Random(0)
    for _ in range(3000):
        headers = {"retry-after": text(rng), "ratelimit-remaining": "0", "ratelimit-reset": "Nov"}
        found = failure(rng.choice(["400", "429", "503", "lost"]), text(rng), headers)
        assert found.kind and (found.wait is None or 0 <= found.wait < 1e9)
        failure("200", json.dumps(answer(rng)), {})
