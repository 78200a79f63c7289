"""Failures: what an endpoint's refusal means, in its own words, and what follows from it.

Providers say the same by different statuses and forms: a 429 may be a limit that passes or an empty
account, a 403 a wrong key or a filter. failures.toml tells them apart.
"""

import json
import re
import time
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bedside.read import outside, prompts

from . import registry, replies
from .registry import StopRun
from .usage import used

FAULTS, HINTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).values()
WORDS = 300  # characters of a provider's message that are kept
LONGEST = 10_000  # of what is searched: more is a page
LONGEST_S = 600.0  # that an endpoint is waited for
WAY = "the endpoint takes calls again on %Y-%m-%d %H:%M UTC: wait, or have the limit raised"

# when a limit is over: a member of an error, or words before a date or a length of time
UNITS_S = {"ms": 0.001, "mo": 2_592_000, "w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1}
PART = (
    r"(\d+(?:\.\d+)?)\s*(ms|mo|w|d|h|m|s)"
    r"(?:nths?|eeks?|ays?|ours?|rs?|in(?:ute)?s?|ec(?:ond)?s?)?(?![a-z])"
)
LENGTH = rf"{PART}(?:(?:,|\s|and)*{PART})*"
DATE = r"\d{4}-\d\d-\d\d(?:(?:T| at | )[\d:.]+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
SOON = r"\b(?:again|retry(?:ing)?|resets?|renew\w*|refill\w*|wait|available|access)\b[^.\d]{0,40}?"
MEMBER = r'"[\w-]*?(?:retry|reset)[\w-]*(?<!ms)\\?"\s*:\s*(?:\\?")?(?P<member>[^",}\\]+)'
SAID = rf"{MEMBER}|{SOON}(?P<words>{DATE}|{LENGTH})"

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

    @property
    def again(self) -> bool:
        return self.fate == "again"


def of(
    status: int | str, content: bytes, headers: Mapping, secrets: Iterable, answer: Any = None
) -> Failure:
    """The Failure that a status and what came with it are; a lost connection has none.

    answer: of status 200, what an error of `inside` came with.
    """
    body, text = parsed(content), content.decode("utf-8", "replace")
    told = f"{status or 'lost'} {text}"[:LONGEST]
    fault = next(f for f in FAULTS if re.match(f["words"], told, re.I | re.S | re.X))
    said = _words(body) or f"{status} from the endpoint"
    if to := headers.get("location"):
        said = f"it has moved to {to.partition('?')[0]}"
    wait = wait_s(headers, told)
    failure = Failure(fault["kind"], status, cleaned(said, secrets), fault["then"], wait)
    fits = re.search(FITS, told.replace(",", ""), re.I | re.S)
    if failure.kind == "context too long" and fits and int(fits[1] or fits[3] or 0) >= int(fits[2]):
        failure.kind, failure.fate = "limit too high", "all"
    if (failure.again or failure.kind == "no credit") and (wait or 0) > LONGEST_S:
        failure.fate, failure.way = "stop", time.strftime(WAY, time.gmtime(time.time() + wait))
    if not fault.get("charged") and not replies.first_choice(answer):  # no reply had begun either
        failure.tokens = (0, 0)
    return _with_usage(failure, answer or body)


def wait_s(headers: Mapping, text: str) -> float | None:
    """Seconds after which an endpoint wants to be asked again; None if it doesn't say.

    headers: with names in lower case; text: of its error. When a limit of which nothing remains is
    whole again counts where nothing else is said, since a part of it comes back before.
    """
    said = [m["member"] or m["words"] for m in re.finditer(SAID, text, re.I)]
    # a number of seconds or a date, or of milliseconds in a header whose name ends in -ms
    said += [v + k[len("retry-after-") :] for k, v in headers.items() if "retry-after" in k]
    used_up = (k for k, v in headers.items() if "ratelimit" in k and v == "0")
    whole_at = (headers.get(k.replace("remaining", "reset"), "") for k in used_up)
    for texts in (said, whole_at):
        if waits := [s for s in map(seconds, texts) if s is not None]:
            return max(waits)
    return None


def seconds(said: str) -> float | None:
    """Seconds from now: of a number, a length of time such as 6m0s, a date; None for all else."""
    import pandas as pd

    try:
        found = float(said)
    except ValueError:
        date = pd.to_datetime(said, utc=True, errors="coerce")
        found = -1.0 if pd.isna(date) else date.timestamp()
    if re.fullmatch(LENGTH, said.strip(), re.I):
        parts = re.findall(PART, said, re.I)
        found = sum(float(n) * UNITS_S[unit.lower()] for n, unit in parts)
    found = found / 1000 if found >= 1e12 else found  # ms since 1970
    found = max(found - time.time(), 0.0) if found >= 1e9 else found  # s since 1970
    return found if 0 <= found < 1e9 else None


def lost(error: Exception, secrets: Iterable) -> Failure:
    """The Failure that a fault of the connection is, as the HTTP client raises it."""
    first = error.__cause__ or error  # the client's own name for it may be that of another fault
    return of("", f"{type(first).__name__}: {error}".encode(), {}, secrets)


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
    return int(found[1]) if (found := re.search(name, json.dumps(error))) else 200


def masked(content: bytes, secrets: Iterable) -> bytes:
    """What an endpoint sent without the keys that it repeats.

    A short value, or a plain word, is left: it may be part of any answer.
    """
    for secret in secrets:
        if len(secret) >= 20 or (len(secret) >= 8 and not secret.isalpha()):
            inside = json.dumps(secret)[1:-1]  # as JSON has it
            for said in {secret, inside, inside.replace("/", r"\/")}:
                content = content.replace(said.encode(), b"***")
    return content


def _with_usage(failure, answer):
    """A failure with the usage that came with it, if any did."""
    if usage := isinstance(answer, dict) and answer.get("usage"):
        failure.usage, failure.tokens = usage, used({"usage": usage})
    return failure


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
    said = [error]
    if isinstance(error, dict) and error.get("message"):
        said = [error.get(k) for k in ("message", "code", "param", "metadata")]
    said = (s if isinstance(s, str) else json.dumps(s) for s in said if s)
    return " ".join(" ".join(said).split())


def cleaned(text: str, secrets: Iterable) -> str:
    """Words of a provider without keys, as one line of at most WORDS characters."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = " ".join(registry.LITERAL_KEY.sub("***", prompts.plain(text)).split())
    return text if len(text) <= WORDS else f"{text[:WORDS]}..."


def read(kept: dict, answer: Any, headers: Mapping, secrets: Iterable, date=None) -> dict:
    """The record of an answer of status 200, `parsed`; Failure for an error or no choice in it.

    kept: of the request; date: when it came, without one now.
    """
    try:
        if error := inside(answer):
            raise of(status_of(error), json.dumps(error).encode(), headers, secrets, answer)
        return replies.as_record(kept, answer, date)
    except (ValueError, RecursionError) as e:
        said = f"{e}: {cleaned(answer, secrets)}" if isinstance(answer, str) else str(e)
        raise _with_usage(Failure("bad answer", 200, said, "again"), answer) from None


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
        f"model {name!r}: {why}{status}: {failure.message}; the run stops here, what came is"
        f" recorded: {hint(name, failure)}, then run again"
    )
