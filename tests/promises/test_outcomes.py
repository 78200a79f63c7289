"""What becomes of a call, whatever comes: the same directly, in a dialogue, and by a batch."""

import asyncio
import json
from collections import Counter
from typing import NamedTuple

import pytest

from bedside import BedsideError
from calling import failed, request, result, spoilt
from conftest import completion
from provider_words import rng_of

USED = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
SAID = {"message": "The words of it."}
BROKE = {**SAID, "code": 502}
FILTER = {"message": "Blocked by the content filter.", "code": "content_filter"}
LATER = {"object": "error", "message": "No.", "type": "invalid_request_error", "code": "3505"}


def made(text="fine", finish="stop", usage=USED, **message):
    return {**completion(text, finish, **message), "usage": usage}


class Row(NamedTuple):
    """What is sent; what it is; how often it is asked; what each costs; its text; if it was cut."""

    sent: object
    kind: str = ""
    tries: int = 1
    counts: str = "usage"
    text: str = ""
    cut: bool = False


def answer(text, sent, **more):
    return Row(sent, text=text, **more)


def lasting(kind, sent, counts="nothing"):
    return Row(sent, kind, 6, counts)


def refused(kind, status, reason=SAID):
    return Row((status, {}, {"error": reason}), kind, counts="nothing")


def error(status, message="The words of it.", headers=None, **more):
    return status, headers or {}, {"error": {"message": message}, **more}


FAULT = "endpoint's fault"
SPELLED = {  # how an answer ended, by the names of providers
    "length": ("", True),
    "model_length": ("", True),
    "MAX_TOKENS": ("", True),
    "model_context_window_exceeded": ("", True),
    "eos": ("", False),
    "content_filter: RECITATION": ("filtered", False),
    "SAFETY": ("filtered", False),
    "refusal": ("refused", False),
    "function_call": ("tool calls", False),
}
PARTS = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "fi"}, "ne"]
ROWS = {
    "whole": answer("fine", made()),
    "nothing counted": answer("fine", made(usage=None), counts="most"),
    "usage a list": answer("fine", made(usage=[1]), counts="most"),
    "parts": answer("fine", made(PARTS)),
    "odd text": answer("é\u2028 <b>{{ 7*7 }} =1+1", made("é\u2028 <b>{{ 7*7 }} =1+1")),
    "surrogate": answer("lone \ufffd end", made("lone \ud83d end")),
    "long": answer("x" * 300_000, made("x" * 300_000)),
    "null": Row(made(None), "blank"),
    **{f"ends {f}": Row(made("half", f), k, text="half", cut=c) for f, (k, c) in SPELLED.items()},
    "thoughts alone": Row(made("", "length"), "cut off while thinking"),
    "half": Row(made("Half a", "content_filter"), "filtered", text="Half a"),
    "refused": Row(made(None, refusal="I can't."), "refused", text="I can't."),
    "tools": Row(made("So.", "tool_calls", tool_calls=[{"id": "a"}]), "tool calls", text="So."),
    "blank": Row(made(" \n"), "blank", text=" \n"),
    # refused before it began, or withheld
    "filtered with usage": Row((400, {}, {"error": FILTER, "usage": USED}), "filtered"),
    "filtered": refused("filtered", 400, FILTER),
    "too long": refused("context too long", 400, {"message": "maximum context length is 9"}),
    "bad": refused("bad request", 400),
    "an error in its place": Row(LATER, "bad request", counts="nothing"),
    # what may pass
    "500": lasting(FAULT, error(500)),
    "500 with usage": lasting(FAULT, error(500, usage=USED), "usage"),
    "503 of a gateway": lasting(FAULT, (503, {}, b"<html>one moment, please</html>")),
    "409": lasting(FAULT, error(409)),
    "408": lasting("timeout", error(408), "most"),
    "504": lasting("timeout", error(504), "most"),
    "429": lasting("rate limit", error(429, headers={"Retry-After": "0.01"})),
    "no JSON": lasting("bad answer", (200, {}, b"<html>hello</html>"), "most"),
    "cut off": lasting("connection lost", "cut", "most"),
    "no choice": lasting("bad answer", {**made(), "choices": []}, "usage"),
    "a text for a choice": lasting("bad answer", {**made(usage=None), "choices": ["x"]}, "most"),
    "a number for its text": lasting("bad answer", made(7), "usage"),
    "another object": lasting("bad answer", {"models": []}, "most"),
    "an error inside": lasting(FAULT, {"error": BROKE}),
    "an error in its choice": lasting(
        FAULT, {"choices": [{"error": BROKE}], "usage": USED}, "usage"
    ),
    "broken off": lasting(FAULT, made("half", "error"), "usage"),
    "broken off and uncounted": lasting(FAULT, made("half", "failed", None), "most"),
}
BY_BATCH = {"cut off": "bad answer", "no JSON": "bad answer"}
PROMPTS = {k: k for name in ROWS for k in (name, f"well, after {name}")}


def kind(status):
    return status.partition(":")[0]


def sent(prompt):
    return ROWS[prompt].sent if prompt in ROWS else made()


@pytest.fixture
def scripted(world, endpoint):
    """A model at $0.001 and $0.01 a token that answers by ROWS, one call after the other."""
    world.model(usd_per_million_in=1e3, usd_per_million_out=1e4, max_concurrency=1)
    endpoint.script = lambda n, body: sent(body["messages"][-1]["content"])
    return world


def test_each_outcome_is_what_it_is_is_tried_and_paid_as_it_should_and_replays(scripted, endpoint):
    rows = {r.item: r for r in scripted.ask(PROMPTS)}
    tries, usd = Counter(b["messages"][-1]["content"] for b in endpoint.bodies), 0.0
    for name, prompt in PROMPTS.items():
        row, found = ROWS.get(name, answer("fine", made())), rows[name]
        assert (kind(found.reply_status), found.truncated) == (row.kind, row.cut), name
        assert found.answer == row.text and tries[prompt] == row.tries, name
        most = (100 + 12 + len(prompt.encode())) * 1e-3 + 20 * 1e-2
        usd += row.tries * {"usage": 0.1 + 0.07, "most": most, "nothing": 0.0}[row.counts]
    assert scripted.spent() == pytest.approx(usd)
    kept = {n: p for n, p in PROMPTS.items() if ":" not in rows[n].reply_status}
    assert scripted.ask(kept, mode="replay") == [rows[n] for n in kept]
    assert {r["item"] for r in scripted.recorded()} == {*kept}  # what failed is not recorded


def test_it_is_the_same_in_a_dialogue_and_by_a_batch(scripted):
    expected = {name: ROWS[name].kind if name in ROWS else "" for name in PROMPTS}

    async def turns(one):
        first = await one(request("first", "Well?", max_tokens=20))
        before = [
            {"role": "user", "content": "Well?"},
            {"role": "assistant", "content": first.text},
        ]
        asked = {n: [*before, {"role": "user", "content": p}] for n, p in PROMPTS.items()}
        return {n: kind((await one(request(n, p, max_tokens=20))).why) for n, p in asked.items()}

    (outcomes,) = scripted.talk(turns)
    assert {n: k for n, k in outcomes.items() if k != expected[n]} == {}
    rows = scripted.ask(PROMPTS)
    direct = {r["item"]: r for r in scripted.recorded() if r["item"] in PROMPTS}
    scripted.elsewhere("batch")
    lines = []
    for line in reversed(scripted.request_file(PROMPTS)):
        body = sent(line["body"]["messages"][-1]["content"])
        status, _, body = body if isinstance(body, tuple) else (200, {}, body)
        lines.append(result(line, status, body.decode() if isinstance(body, bytes) else body))
    outcomes = failed(scripted.collect(lines[::2])) | failed(scripted.collect(lines[1::2]))
    there = {n: p for n, p in PROMPTS.items() if n not in outcomes}
    replayed = scripted.ask(there, mode="replay", recordings="cancer_myth/sample")
    assert replayed == [r for r in rows if r.item in there]
    outcomes |= {r.item: kind(r.reply_status) for r in replayed}
    assert outcomes == expected | BY_BATCH
    way = ("date", "latency_s", "batch")
    for r in scripted.recorded():
        one, other = ({k: v for k, v in x.items() if k not in way} for x in (r, direct[r["item"]]))
        assert one == other and r["batch"]


# ---- faults that pass, or last


def test_a_third_of_faults_of_all_kinds_spoils_nothing(world, endpoint):
    """What is kept came whole, nothing was paid twice, and who failed is asked once more."""
    faults, sent_whole = [r.sent for r in ROWS.values() if r.tries > 1], Counter()
    world.model(max_concurrency=8)

    def script(n, body):
        prompt, rng = body["messages"][0]["content"], rng_of("fault", n)
        if rng.random() < 0.3:
            return rng.choice(faults)
        sent_whole[prompt] += 1
        return made(f"to {prompt}")

    endpoint.script = script
    for _ in range(2):
        rows = world.ask(*range(100))
    answered = [r for r in rows if not r.reply_status]
    assert len(answered) > 95 and {*sent_whole.values()} == {1}
    assert all(r.answer == f"to question {r.item}" for r in answered)


STOPS = {  # what comes, and how many calls are made of 40
    "a key refused": (error(401), 1, "refuses the key"),
    "a limit of days": (error(429, headers={"Retry-After": "1382400"}), 1, "takes calls again"),
    "no such model": (error(404), 3, r"no such model \(404\): The words of it"),
    "no credit": (error(402), 3, "add credit"),
    "an unknown parameter": (error(400, "Unknown parameter: 'seed'"), 3, "omit"),
    "the same refusal": (error(400), 3, "bad request"),
    "a limit too high": (
        error(400, "max_tokens is too large: 9. It supports at most 8"),
        3,
        "most_tokens",
    ),
    "a moved address": ((307, {"Location": "http://127.0.0.1:9/?x"}, b""), 3, "moved to http"),
    "a fault that stays": (error(500), 18, "wait until the endpoint is well"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_would_fail_again_stops_the_run_in_a_sentence_and_keeps_what_came(
    world, endpoint, name
):
    comes, calls, words = STOPS[name]
    endpoint.script = lambda n, body: made() if n < 4 else comes
    world.model(max_concurrency=1)
    with pytest.raises(BedsideError, match=words) as told:
        world.ask(*range(40))
    assert "what came is recorded" in str(told.value)
    assert len(endpoint.bodies) == 3 + calls and len(world.recorded()) == 3
    endpoint.script = lambda n, body: made()
    assert not any(r.reply_status for r in world.ask(*range(40)))
    assert len(endpoint.bodies) == 40 + calls


def test_failures_that_are_each_a_requests_own_stop_nothing(world, endpoint):
    endpoint.script = lambda n, body: ROWS["too long"].sent
    assert {kind(r.reply_status) for r in world.ask(*range(12))} == {"context too long"}


def test_a_wait_of_minutes_is_waited_for(world, endpoint, turned):
    slow = error(429, headers={"Retry-After": "300"})
    endpoint.script = lambda n, _: slow if n == 1 else made()
    assert world.ask("a")[0].answer == "fine" and 300 <= turned() < 310


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
    whole, count = {**completion("Rest."), "system_fingerprint": "f"}, 80
    answers = [spoilt(whole, rng_of("nonsense", n)) for n in range(count)]
    prompts = {f"{k} {n}": f"{k} {n}" for n in range(count) for k in ("odd", "well")}

    def given(prompt):
        odd, n = prompt.split()
        return answers[int(n)] if odd == "odd" else completion("Rest.")

    def script(n, body):
        return 200, {}, json.dumps(given(body["messages"][0]["content"])).encode()

    endpoint.script = script
    world.model(max_concurrency=1, usd_per_million_in=1, usd_per_million_out=1)
    world.retries(0)
    rows = world.ask(prompts)
    assert all(r.answer == "Rest." for r in rows if r.item.startswith("well"))
    good = {r.item: prompts[r.item] for r in rows if ":" not in r.reply_status}
    assert count < len(good) < 2 * count
    assert world.ask(good, mode="replay") == [r for r in rows if r.item in good]
    world.elsewhere("batch")
    lines = world.request_file(prompts)
    lines = [result(x, 200, given(x["body"]["messages"][0]["content"])) for x in lines]
    assert world.collect(lines).startswith(f"{len(good)} taken in")
    odd = [spoilt(x, rng_of("line", n)) for n, x in enumerate(lines)]
    world.elsewhere("spoilt")
    world.request_file(prompts)
    taken = int(world.collect([*odd, b"", b"\xff", b"{not", b"[" * 5000]).split(" taken")[0])
    assert 0 < taken < len(good) and len(world.recorded()) == taken
