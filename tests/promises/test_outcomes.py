"""What becomes of a call, whatever comes: the same directly, in a dialogue, and by a batch.

Replies are lines of `outcomes.txt`; what comes in their place is the first line of each outcome in
`readers/failures.txt`.
"""

import asyncio
import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from bedside import BedsideError
from bedside.read import paths
from calling import failed, request, result, spoilt
from conftest import completion
from provider_words import refusals, rng_of

USED = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
TRUNCATED = ("length", "model_length", "MAX_TOKENS", "model_context_window_exceeded")
WELL = {**completion(), "usage": USED}


class Case(NamedTuple):
    """What is sent, and what becomes of it; usage: what it is paid by, '' for the most."""

    sent: object
    kind: str = ""
    fate: str = ""
    text: str = ""
    truncated: bool = False
    usage: object = ""


def replies():
    for line in Path(__file__).with_name("outcomes.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, text, finish, message, usage = line.split(" | ")
            usage = USED if usage == "counted" else json.loads(usage)
            sent = {**completion(finish=finish, **json.loads(message)), "usage": usage}
            cut = finish in TRUNCATED and not kind
            yield Case(sent, kind, "", json.loads(text), cut, usage if usage == USED else "")


def answer(status, text, headers):
    """What the endpoint sends for a line of failures.txt."""
    return int(status), headers, text.encode()


def first_failures(*fates):
    """The first refusal of each kind and cost that has one of these fates, also as a 200."""
    found = {}
    for expected, status, text, headers, _ in refusals():
        kind, fate, cost = f"{expected}, , ".split(", ")[:3]
        if status.isdigit() and fate in fates:
            usage = json.loads(text)["usage"] if cost == "charged" else ""
            case = Case(answer(status, text, headers), kind, fate, usage=usage or cost == "free")
            found.setdefault((expected, status == "200"), case)
    return [*found.values()]


EVERY = [*replies(), *first_failures("again", "alone", "withheld")]
EVERY.append(Case({**completion("x" * 300_000), "usage": USED}, text="x" * 300_000, usage=USED))
CASES = {f"case {n}": case for n, case in enumerate(EVERY)}
CASES["cut off"] = Case("cut", "connection lost", "again")
BY_BATCH = {"cut off": "bad answer"}
PROMPTS = {k: k for name in CASES for k in (name, f"well, after {name}")}
USUAL = Case(WELL, text="fine", usage=USED)


def kind(status):
    return status.partition(":")[0]


def test_an_outcome_is_tried_paid_recorded_and_replayed_alike_in_each_way_of_asking(
    world, endpoint
):
    world.model(usd_per_million_in=1e3, usd_per_million_out=1e4, max_concurrency=1)
    endpoint.script = lambda n, body: CASES.get(body["messages"][-1]["content"], USUAL).sent
    rows = {r.item: r for r in world.ask(PROMPTS)}
    tries, usd = Counter(b["messages"][-1]["content"] for b in endpoint.bodies), 0.0
    for name, prompt in PROMPTS.items():
        case, row = CASES.get(name, USUAL), rows[name]
        assert (kind(row.reply_status), row.truncated) == (case.kind, case.truncated), case
        times = 6 if case.fate == "again" else 1
        assert row.answer == case.text and tries[prompt] == times, case
        usage = case.usage or {"prompt_tokens": 112 + len(prompt.encode()), "completion_tokens": 20}
        if usage is not True:  # it is free
            usd += times * (usage["prompt_tokens"] + 10 * usage["completion_tokens"]) / 1e3
    assert world.spent() == pytest.approx(usd)
    kept = {n: p for n, p in PROMPTS.items() if ":" not in rows[n].reply_status}
    assert world.ask(kept, mode="replay") == [rows[n] for n in kept]
    direct = {r["item"]: r for r in world.recorded()}
    assert {*direct} == {*kept}  # what failed is not recorded
    expected = {name: CASES.get(name, USUAL).kind for name in PROMPTS}

    async def turns(one):
        first = await one(request("first", "Well?", max_tokens=20))
        before = [("user", "Well?"), ("assistant", first.text)]
        before = [{"role": r, "content": text} for r, text in before]
        asked = {n: [*before, {"role": "user", "content": p}] for n, p in PROMPTS.items()}
        return {n: kind((await one(request(n, p, max_tokens=20))).why) for n, p in asked.items()}

    (outcomes,) = world.talk(turns)
    assert {n: k for n, k in outcomes.items() if k != expected[n]} == {}
    world.elsewhere("batch")
    lines = []
    for line in reversed(world.request_file(PROMPTS)):
        body = CASES.get(line["body"]["messages"][-1]["content"], USUAL).sent
        status, _, body = body if isinstance(body, tuple) else (200, {}, body)
        lines.append(result(line, status, parsed(body) if isinstance(body, bytes) else body))
    outcomes = failed(world.collect(lines[::2])) | failed(world.collect(lines[1::2]))
    there = {n: p for n, p in PROMPTS.items() if n not in outcomes}
    replayed = world.ask(there, mode="replay", recordings="cancer_myth/sample")
    assert replayed == [rows[n] for n in there]
    outcomes |= {r.item: kind(r.reply_status) for r in replayed}
    assert outcomes == expected | BY_BATCH
    way = ("date", "latency_s", "batch")
    for r in world.recorded():
        one, other = ({k: v for k, v in x.items() if k not in way} for x in (r, direct[r["item"]]))
        assert one == other and r["batch"]


def parsed(content):
    """A body as batches hold it: JSON, or the text that isn't."""
    try:
        return json.loads(content)
    except ValueError:
        return content.decode()


# ---- faults that pass, or last


def test_a_third_of_faults_of_all_kinds_spoils_nothing(world, endpoint):
    """What is kept came whole, nothing was paid twice, and who failed is asked once more."""
    faults, sent_whole = [c.sent for c in CASES.values() if c.fate == "again"], Counter()
    world.model(max_concurrency=8)

    def script(n, body):
        prompt, rng = body["messages"][0]["content"], rng_of("fault", n)
        if rng.random() < 0.3:
            return rng.choice(faults)
        sent_whole[prompt] += 1
        return completion(f"to {prompt}")

    endpoint.script = script
    for _ in range(2):
        rows = world.ask(*range(100))
    answered = [r for r in rows if not r.reply_status]
    assert len(answered) > 95 and {*sent_whole.values()} == {1}
    assert all(r.answer == f"to question {r.item}" for r in answered)


HINTS = tomllib.loads((paths.ROOT / "lib/bedside/asking/failures.toml").read_text("utf-8"))["hints"]
CALLS = {"stop": 1, "all": 3, "alone": 3, "again": 18}  # until a run ends, of the same failure
OWN = ("context too long", "rate limit")  # of one request, or of all for a while


def test_what_would_fail_again_stops_the_run_in_a_sentence_and_keeps_what_came(world, endpoint):
    world.model(max_concurrency=1)
    stops = {c.kind: c for c in first_failures("alone", "again", "all")}
    stops = {k: c for k, c in stops.items() if k not in OWN}
    stops |= {f"{c.kind} {c.fate}": c for c in first_failures("stop 1382400 s", "stop")}
    assert len(stops) > 10
    for name, case in stops.items():
        world.elsewhere(name)
        before, calls = len(endpoint.bodies), CALLS[case.fate.partition(" ")[0]]
        endpoint.script = lambda n, body, b=before, c=case: WELL if n - b < 4 else c.sent
        with pytest.raises(BedsideError, match="all replies are recorded") as told:
            world.ask(*range(20))
        way = "takes calls again" if " " in case.fate else HINTS[case.kind].partition("{")[0]
        assert way in str(told.value) and "\n" not in str(told.value), name
        assert len(endpoint.bodies) - before == 3 + calls, name
        assert len(world.recorded()) == 3, name
        endpoint.script = lambda n, body: WELL
        assert not any(r.reply_status for r in world.ask(*range(20)))
        assert len(endpoint.bodies) - before == 20 + calls, name


def test_failures_that_are_each_a_requests_own_stop_nothing(world, endpoint):
    endpoint.script = lambda n, body: next(
        c.sent for c in CASES.values() if c.kind == "context too long"
    )
    assert {kind(r.reply_status) for r in world.ask(*range(12))} == {"context too long"}


def test_a_wait_of_minutes_is_waited_for(world, endpoint, turned):
    slow = 429, {"Retry-After": "300"}, {"error": {"message": "Slow down."}}
    endpoint.script = lambda n, _: slow if n == 1 else WELL
    assert world.ask("a")[0].answer == "fine" and 300 <= turned() < 310
    endpoint.script = lambda n, _: (429, {}, slow[2])
    world.second(1)  # without a word from the server: 4, 8, 16, 32 and 32 s
    before = turned()
    assert kind(world.ask("b")[0].reply_status) == "rate limit" and 92 <= turned() - before < 95


def test_a_server_that_never_answers_ends(world, endpoint):
    world.model(timeout_s=0.2)
    world.retries(1)
    for n, script in enumerate(("hang", "drip"), 1):
        endpoint.script = lambda n, body, script=script: script
        (row,) = world.ask(script)
        assert row.reply_status.startswith("timeout: ") and len(endpoint.bodies) == 2 * n
    assert not endpoint.dripped


def test_replies_that_came_are_kept_when_a_task_fails_or_is_left(world, endpoint):
    endpoint.script = lambda n, body: (
        "hang" if body["messages"][0]["content"] == "hangs" else completion()
    )
    left = []

    async def fails(one):
        left.append(asyncio.ensure_future(one(request("hung", "hangs"))))
        for k in "abc":
            await one(request(k, k))
        raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"):
        world.talk(fails)
    assert left[0].cancelled() and {r["item"] for r in world.recorded()} == set("abc")


def test_what_was_recorded_as_whole_and_was_broken_off_is_no_answer(world, endpoint):
    """By a version that didn't know the reason."""
    world.ask("a")
    (path,) = world.recordings()
    path.write_bytes(path.read_bytes().replace(b'"stop"', b'"network_error"'))
    assert world.ask("a", mode="replay")[0].reply_status == "broken off"


def test_nonsense_for_an_answer_is_a_reply_or_a_failure_by_call_and_by_batch(world, endpoint):
    """Never a traceback; every answer that is kept replays as it was; others aren't touched."""
    whole, count = {**completion("Rest."), "system_fingerprint": "f"}, 40
    prompts = {f"{k} {n}": f"{k} {n}" for n in range(count) for k in ("odd", "well")}
    answers = {p: whole if p[0] == "w" else spoilt(whole, rng_of("nonsense", p)) for p in prompts}
    endpoint.script = lambda n, body: (
        (200, {}, json.dumps(answers[body["messages"][0]["content"]]).encode())
    )
    world.model(max_concurrency=1, usd_per_million_in=1, usd_per_million_out=1)
    world.retries(0)
    rows = world.ask(prompts)
    assert all(r.answer == "Rest." for r in rows if r.item.startswith("well"))
    good = {r.item: prompts[r.item] for r in rows if ":" not in r.reply_status}
    assert count < len(good) < 2 * count
    assert world.ask(good, mode="replay") == [r for r in rows if r.item in good]
    world.elsewhere("batch")
    lines = world.request_file(prompts)
    lines = [result(x, 200, answers[x["body"]["messages"][0]["content"]]) for x in lines]
    assert world.collect(lines).startswith(f"{len(good)} taken in")
    odd = [spoilt(x, rng_of("line", n)) for n, x in enumerate(lines)]
    world.elsewhere("spoilt")
    world.request_file(prompts)
    taken = int(world.collect([*odd, b"", b"\xff", b"{not", b"[" * 5000]).split(" taken")[0])
    assert 0 < taken < len(good) and len(world.recorded()) == taken
