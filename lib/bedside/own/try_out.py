"""The first calls to a model: what is sent, what comes back, and what its entry lacks.

    ready = await try_out.tried("mine")

Nothing is recorded. If an endpoint refuses a parameter, the line to add to the entry is printed,
and the trial goes on as if the line were there.
"""

import json
import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from bedside.asking import failures, registry, replies, sending
from bedside.asking.registry import StopRun
from bedside.asking.replies import NO_ANSWER, VERDICT_TOKENS, Request, as_reply
from bedside.asking.usage import used
from bedside.judging import parsing
from bedside.read import paths

from .study import CHANNEL

MOST = 5  # calls to a model
THOUGHTS = "completion_tokens_details.reasoning_tokens"  # in what a reply says it used


SILENT = ", so a budget counts each call at the most that it can cost"
# kinds that may be an answer's form, which a refusal needn't name
UNNAMED = ("bad request", "unsupported parameter")


class _Probe(NamedTuple):
    what: str
    messages: list
    settings: dict
    form: dict | None = None


GRADES = (0, 1)


def _probes():
    """One of each kind of request that the studies send, with all of their settings."""
    room, form = {"max_tokens": VERDICT_TOKENS}, replies.verdict_format(GRADES)
    for probe in paths.toml(paths.DATA / "try.toml")["probe"]:
        about = {k: probe[k] for k in ("what", "messages", "settings")}
        if "verdict" in probe:
            about |= {"settings": room | probe["settings"], "form": form}
        yield _Probe(**about)


async def tried(name: str, tell: Callable[[str], None] = print) -> bool:
    """Try a model of the registry with at most MOST calls; return whether it is ready.

    tell: the function that prints a line.
    """
    kept = registry.model(name)
    tell(f"{name}: {kept.model} at {kept.base_url or 'home'}")
    try:
        registry.check_callable(name)
        async with (endpoint := sending.Endpoint(name)).client:
            lines, faults, usd, counted = await _probed(endpoint, name, tell)
    except StopRun as e:
        lines, faults, usd, counted = {}, [str(e)], 0.0, True
    finally:
        registry.entries()[name] = kept
    if lines:
        tell(f'  Add to ["{name}"] in data/models.toml:')
        for key, value in lines.items():  # JSON's texts, numbers and lists are valid TOML
            tell(f"    {key} = {json.dumps(value)}")
    for line in dict.fromkeys(faults):
        tell(f"  {line}")
    if since := registry.model(name).price_date:
        tell(f"  price as of {since}")
    priced = registry.cost(name, 0, 0) is not None
    unknown = "cost unknown" if priced else "price unknown, so BUDGET_USD can't be used"
    unknown += "" if counted else f"; the endpoint reports no usage{SILENT if priced else ''}"
    cost = unknown if usd is None else f"${usd:.4f}"
    told = "add the lines above and try again" if lines else "see above"
    tell(f"  {'not ready: ' + told if lines or faults else 'ready'} ({cost})")
    return not (lines or faults)


async def _probed(m, name, tell):
    """({key: value} that the entry lacks, other faults, USD, whether usage came) of all calls."""
    lines, faults, usd, counted, left = {}, [], 0.0, True, [*_probes()]
    for _ in range(MOST):
        if not left:
            break
        probe = left[0]
        request = Request("try", name, probe.messages, probe.settings, probe.form)
        tell(f"  {probe.what}: sent {_shown(request.body())}")
        record, failure, price = await _sent(m, request)
        usd = None if price is None or usd is None else usd + price
        if failure:
            tell(f"    {failure.status or ''} {failure.kind}: {failure.message}".rstrip())
            fix = _missing(name, request, failure)
            again = bool(fix)
        else:
            counted &= record["completion_tokens"] is not None
            tell(f"    {_came(record)}{'' if price is None else f', ${price:.4f}'}")
            reply = as_reply(request, record, False)
            fix, fault, again = _lacking(name, probe, record, reply)
            faults += [f"{probe.what}: {fault}"] if fault else []
        if fix:  # go on as if the entry had the line
            registry.entries()[name] = msgspec.structs.replace(registry.model(name), **fix)
            lines |= fix
        elif failure:
            return lines, [f"{failure.kind}: {failures.hint(name, failure)}"], usd, counted
        if not again:
            left.pop(0)
    if left and not faults:
        faults.append(f"{left[0].what}: not tried, since {MOST} calls were used up")
    return lines, faults if not lines else [], usd, counted


async def _sent(m, request):
    """(record or None, Failure or None, USD or None where nobody knows) of a call."""
    await m.turn(request.likely + request.estimate()[1])
    try:
        record = await sending.send(m, request)
    except failures.Failure as e:
        return None, e, registry.cost(m.name, *e.tokens[:2])
    return record, None, registry.cost(m.name, *used(record)[:2])


def _shown(body):
    """What was sent besides the messages, in one line; a schema by its kind."""
    rest = {k: v for k, v in body.items() if k != "messages"}
    if "response_format" in rest:
        rest["response_format"] = rest["response_format"]["type"]
    return ", ".join(f"{k} {v}" for k, v in rest.items())


def _came(record):
    """What came back, in one line."""
    text = " ".join((record["text"] or record["refusal"]).split())
    thought = record["usage"].get(THOUGHTS)
    counted = f"{record['prompt_tokens']} + {record['completion_tokens']} tokens"
    if record["completion_tokens"] is None:
        counted = "no token counts"
    return (
        f"{text[:160]!r}{'...' if len(text) > 160 else ''} ({record['finish'] or 'no reason'};"
        f" {counted}{f', {thought} of them for thoughts' if thought else ''};"
        f" {record['latency_s']:.1f} s; answered as {record['returned_model'] or 'no name'})"
    )


def _missing(name, request, failure):
    """{key: value} that an entry lacks, from an endpoint's refusal of a request.

    A form of the answer is what a refused request has beyond those that passed before it.
    """
    m, message, body = registry.model(name), failure.message, request.body()
    if failure.kind == "no system role":
        told = any(part["role"] == "system" for part in body["messages"])
        return {"system": "user"} if told else {}
    if failure.kind == "limit too high":  # that the limit is there at all isn't what is refused
        return {}
    sent = [k for k in body if k not in ("model", "messages")]
    places = {k: re.search(rf"(?<!\w){k}(?!\w)", message) for k in sent}
    named = sorted((place.start(), k) for k, place in places.items() if place)
    refused = "response_format" in body and failure.kind in UNNAMED
    if not (named or refused):
        return {}
    key = named[0][1] if named else "response_format"
    if key == "max_tokens" and "max_completion_tokens" in message:
        return {"max_tokens_name": "max_completion_tokens"}
    if key == m.max_tokens_name and key != "max_tokens":
        return {"max_tokens_name": "max_tokens"}
    if key == "response_format":
        form = registry.FORMS.index(m.response_format)
        return {"response_format": registry.FORMS[form + 1]}
    return {"omit": [*m.omit, key]}


def _lacking(name, probe, record, reply):
    """What an entry lacks, from a reply: ({key: value}, other fault, whether to repeat)."""
    m = registry.model(name)
    thought = record["usage"].get(THOUGHTS, 0)
    unread = probe.form and parsing.verdict(reply, GRADES).status != "graded"
    cut = reply.no_answer == NO_ANSWER["length"] or (unread and reply.truncated)
    if cut or (thought and not m.reasoning_tokens):
        used = thought or record["completion_tokens"] or probe.settings["max_tokens"]
        room = max(4000, 4 * used, 2 * m.reasoning_tokens)
        return {"reasoning_tokens": room}, "", cut
    if reply.why:
        return {}, ": ".join(filter(None, (reply.why, failures.HINTS.get(reply.why)))), False
    for tags in (registry.THINK, CHANNEL):
        if tags[1] in reply.text and m.think is None:
            return {"think": tags}, "", False
    if unread:
        if m.response_format != "none":
            return {"response_format": "none"}, "", True
        return {}, f"no verdict can be read in {reply.text[:160]!r}, so it can't be a judge", False
    return {}, "", False
