"""What providers say in place of an answer: what it is, what a run does then, and what it costs."""

import datetime
import random
import time

from bedside.asking import failures
from provider_words import refusals

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
    for expected, status, said, headers, line in refusals():
        if (outcome := outcome_of(failure(status, said, headers))) != expected:
            wrong.append(f"{outcome} | {line}")
    assert not wrong, "\n".join(wrong)


PARTS = (
    "1 99 2026 - T : Z UTC +01:00 s days inf nan 1e9 Nov Thu, ² ٣ [] {} <b> \\ \n"
    ' context length too large: in the output null retry after "code": 429 '
).split(" ")


def test_whatever_an_endpoint_says_is_understood_as_something():
    rng = random.Random(0)

    def text():
        return " ".join(rng.choices([*PARTS, "9" * 5000], k=rng.randrange(8)))

    for _ in range(500):
        headers = {"retry-after": text(), "retry-after-ms": text()}
        found = failure(rng.choice(["400", "429", "503", "lost"]), text(), headers)
        assert found.kind and (found.wait is None or 0 <= found.wait < 1e9)
