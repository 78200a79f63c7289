"""Failures: what an endpoint's refusal means, in its own words, and what follows from it.

Providers say the same by different statuses and forms: a 429 may be a limit that passes or an empty
account, a 403 a wrong key or a filter. failures.toml tells them apart.
"""

import contextlib
import email.utils
import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from bedside.read import outside, paths, prompts

from . import registry, replies
from .registry import StopRun
from .usage import used

FAULTS, HINTS = paths.toml(Path(__file__).with_suffix(".toml")).values()
WORDS = 300  # characters of a provider's message that are kept
LONGEST = 10_000  # of what is searched: more is a page
LONGEST_S = 600.0  # that an endpoint is waited for
WAY = "the endpoint takes calls again on %Y-%m-%d %H:%M UTC: wait, or have the limit raised"

# a call's limit and what the model holds: where that is less, no other prompt would be answered
FITS = r"(?:too large: (\d{1,9}).*)?context.{0,20}?(\d{1,9})(?:.*?(\d{1,9}) in the (?:out|comp))?"


@dataclass(eq=False)
class Failure(Exception):
    """Why a call has no reply: its kind, the status, the provider's words, and what follows."""

    kind: str
    status: int | str
    message: str
    fate: str
    wait: float | None = None  # seconds that the server asks for
    way: str = ""  # out, where its words say more than its kind
    usage: dict = field(default_factory=dict)  # that came with it
    tokens: tuple = (None, None)  # as `cost` takes them; None where it isn't known whether any

    def with_usage(self, answer: Any) -> Self:
        """This failure with the usage that came with it, if any did."""
        if usage := isinstance(answer, dict) and answer.get("usage"):
            self.usage, self.tokens = usage, used({"usage": usage})
        return self


def failure_of(
    status: int | str, content: bytes, headers: Mapping, secrets: Iterable, answer: Any = None
) -> Failure:
    """The Failure that a status and what came with it are; a lost connection has none.

    answer: of status 200, what an error of `inside` came with.
    """
    body, text = parsed(content), content.decode("utf-8", "replace")
    whole = f"{status or 'lost'} {text}"[:LONGEST]
    fault = next(f for f in FAULTS if re.match(f["words"], whole, re.I | re.S | re.X))
    words = _words(body) or f"{status} from the endpoint"
    if to := headers.get("location"):
        words = f"it has moved to {to.partition('?')[0]}"
    failure = Failure(fault["kind"], status, cleaned(words, secrets), fault["then"], _wait(headers))
    fits = re.search(FITS, whole.replace(",", ""), re.I | re.S)
    if failure.kind == "context too long" and fits and int(fits[1] or fits[3] or 0) >= int(fits[2]):
        failure.kind, failure.fate = "limit too high", "all"
    passes = failure.fate == "again" or failure.kind == "no credit"
    if passes and (failure.wait or 0) > LONGEST_S:
        failure.fate = "stop"
        failure.way = time.strftime(WAY, time.gmtime(time.time() + failure.wait))
    if not fault.get("charged") and not replies.first_choice(answer):  # no reply had begun either
        failure.tokens = (0, 0)
    return failure.with_usage(answer or body)


def _wait(headers):
    """Seconds after which an endpoint wants to be asked again; None if no header says so."""
    after = headers.get("retry-after", "")
    for read in (
        lambda: float(headers.get("retry-after-ms", "")) / 1000,
        lambda: float(after),
        lambda: max(email.utils.parsedate_to_datetime(after).timestamp() - time.time(), 0.0),
    ):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            if 0 <= (seconds := read()) < 1e9:
                return seconds
    return None


def lost(error: Exception, secrets: Iterable) -> Failure:
    """The Failure that a fault of the connection is, as the HTTP client raises it."""
    first = error.__cause__ or error  # the client's own name for it may be that of another fault
    return failure_of("", f"{type(first).__name__}: {error}".encode(), {}, secrets)


def inside(answer: Any) -> dict | None:
    """The body of an error that comes as an answer of status 200, or breaks it off; else None."""
    choice = replies.first_choice(answer)
    if not isinstance(answer, dict):
        return None
    error = answer.get("error") or choice.get("error")
    if not error and replies.broken_off(finish := choice.get("finish_reason")):
        error = f"it broke off in its answer ({finish})"
    # in place of an answer servers refuse, a gateway by its own names: Cloudflare, MiniMax, Baidu
    alone = not choice and re.search(r'(message|msg|detail)": [^n]', json.dumps(answer))
    return {"error": error} if error else {"refused": answer} if alone else None


def status_of(error: Any) -> int:
    """The status that an error names in its JSON, else 200."""
    name = r'"(?:code|status|status_code|error_code)": "?([45]\d\d)\b'
    return int(named[1]) if (named := re.search(name, json.dumps(error))) else 200


def masked(content: bytes, secrets: Iterable) -> bytes:
    """What an endpoint sent without the keys that it repeats.

    A short value, or a plain word, is left: it may be part of any answer.
    """
    for secret in secrets:
        if len(secret) >= 20 or (len(secret) >= 8 and not secret.isalpha()):
            inside = json.dumps(secret)[1:-1]  # as JSON has it
            for text in {secret, inside, inside.replace("/", r"\/")}:
                content = content.replace(text.encode(), b"***")
    return content


def parsed(content: bytes) -> Any:
    """An answer's body, the first of a list; where it isn't JSON, its text without tags."""
    try:
        body = outside.parsed(content)
    except ValueError:
        return re.sub(r"<[^>]*>", " ", content.decode("utf-8", "replace"))
    return body[0] if isinstance(body, list) and body else body


def _words(error):
    """What an error's body says, in one line: its message, code and parameter, or all of it."""
    for name in ("refused", "error"):
        error = error.get(name, error) if isinstance(error, dict) else error
    parts = [error]
    if isinstance(error, dict) and error.get("message"):
        parts = [error.get(k) for k in ("message", "code", "param", "metadata")]
    return " ".join(p if isinstance(p, str) else json.dumps(p) for p in parts if p).strip()


def cleaned(text: str, secrets: Iterable) -> str:
    """Words of a provider without keys, as one line of at most WORDS characters."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = " ".join(registry.LITERAL_KEY.sub("***", prompts.plain(text)).split())
    return text if len(text) <= WORDS else f"{text[:WORDS]}..."


def record_of(kept: dict, answer: Any, headers: Mapping, secrets: Iterable, date=None) -> dict:
    """The record of an answer of status 200, `parsed`; Failure for an error or no choice in it.

    kept: of the request; date: when it came, without one now.
    """
    try:
        if error := inside(answer):
            content = json.dumps(error).encode()
            raise failure_of(status_of(error), content, headers, secrets, answer)
        return replies.as_record(kept, answer, date)
    except (ValueError, RecursionError) as e:
        text = f"{e}: {cleaned(answer, secrets)}" if isinstance(answer, str) else str(e)
        raise Failure("bad answer", 200, text, "again").with_usage(answer) from None


def withheld(kept: dict, failure: Failure, date=None) -> dict:
    """The record of an answer that the provider withheld: filtered, or never got to."""
    finish = "content_filter" if failure.kind == "filtered" else "length"
    choice = {"message": {"content": ""}, "finish_reason": finish}
    answer = {"choices": [choice], "usage": failure.usage}
    return {**replies.as_record(kept, answer, date), "withheld": failure.message}


def hint(name: str, failure: Failure) -> str:
    """What to do about a failure that ends a run."""
    key = registry.model(name).api_key_env or "the settings of the endpoint"
    return failure.way or HINTS.get(failure.kind, "run again later").format(name=name, key=key)


def stop(name: str, failure: Failure) -> StopRun:
    """The StopRun that a failure is: one sentence, with the provider's words and the way out."""
    why = "the endpoint refuses the key" if failure.kind == "key refused" else failure.kind
    status = f" ({failure.status})" if failure.status else ""
    return StopRun(
        f"model {name!r}: {why}{status}: {failure.message}. The run stops; all replies are"
        f" recorded. To continue, {hint(name, failure)}, then run again."
    )
