"""Failures: what an endpoint's refusal means, in its own words, and what follows from it.

Providers say the same by different statuses and forms: a 429 may be a limit that passes or an empty
account, a 403 a wrong key or a filter. FAULTS tells them apart.
"""

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from bedside.read import outside, prompts

from . import registry, replies, resets
from .registry import StopRun
from .usage import tokens_of, written

WORDS = 300  # characters of a provider's message that are kept

# of a model whose messages are the user's and its own alone: of its template, or of its endpoint
ROLES = (
    r"\bsystem\b.{0,30}(role|message|instruction|prompt)s?.{0,40}(n.t|not|un)\W?(support|allow)"
    r"|\brole\b.{0,60}(not support|n.t support|unexpected|invalid|unsupported).{0,20}\bsystem\b"
    r"|(unexpected|invalid|unknown|unsupported).{0,10}role\W{1,6}system"
    r"|\bsystem\W{1,3}(is not one of|found using .{0,3}role)"
    r"|developer instruction.{0,20}not enabled|roles must alternate|only user and assistant roles"
)
# of a call's limit that no prompt would mend: what it is called, and how it is found too high
TOO_HIGH = (
    r"(?s)^(?!.*(input (token|length)|`inputs`|messages|prompt))"
    r"(?=.*(max_?(completion_|output_?|new_)?tokens|(max(imum)?|output|completion) tokens))"
    r"(?=.*(too (large|high|big)|at most|less than|greater than|exceed|\brange\b"
    r"|(the|above) maximum|limited|[<>]=?\W{0,2}\d))"
)
WINDOW = r"context.{0,20}?(\d[\d,]*)|max_model_len\W{0,3}(\d+)"

# What a status and the words that come with it mean; the first that fits. Then what follows:
# again: another try can help; alone: this request can't be answered; all: nor can any other;
# stop: at once; withheld: there is no answer, which is an outcome like others.
FAULTS = (
    ("key refused", (400,), r"api.?key (not valid|invalid)|invalid.?api.?key", "stop"),
    (
        "filtered",
        (400, 403, 422),
        r"content.?(filter|policy|management)|moderation|flagged|data.?inspection|responsible.?ai"
        r"|prohibited.?content",
        "withheld",
    ),
    ("cut off while thinking", (400,), r"could not finish the message", "withheld"),
    ("no system role", (400, 404, 422, 500), ROLES, "all"),
    ("no credit", (429,), r"per.?(day|week|month)|\b(daily|weekly|monthly)", "all"),
    ("rate limit", (429,), r"per.?min(ute)?|retry.?delay", "again"),
    (
        "no credit",
        (400, 402, 403, 429),
        r"insufficient.(quota|balance|credits?)|credit.?balance|spend.?limit|billing|current quota"
        r"|arrear",
        "all",
    ),
    ("no credit", (400, 403), r"usage.?limit", "all"),
    ("no credit", (402,), "", "all"),
    ("limit too high", (400, 416, 422), TOO_HIGH, "all"),
    (
        "context too long",
        (400, 403, 413, 422),
        r"context.?(length|window)|maximum context|too long|too large|too many (\w+ )?tokens"
        r"|token count|input.?length|tokens.{0,60}(exceed|must be)",
        "alone",
    ),
    ("key refused", (401, 403), "", "stop"),
    (
        "no such model",
        (400,),
        r"invalid.?model|not a valid model|model.{0,60}(not found|not exist)",
        "all",
    ),
    (
        "unsupported parameter",
        (400, 422, 501),
        r"unsupported|n.t support|not support|unavailable|unknown (name|parameter|field)"
        r"|unrecogni[sz]ed|extra.?(inputs|forbidden|fields)|unexpected|not (permitted|allowed)"
        r"|deprecated|invalid.?(schema|parameter)|should be|field required|must be set"
        r"|only.{1,30}(default|allowed|supported)",
        "all",
    ),
    ("no such model", (404,), "", "all"),
    ("redirect", tuple(range(300, 400)), "", "all"),
    ("proxy", (407,), "", "all"),
    ("rate limit", (429,), "", "again"),
    ("timeout", (408, 504), "", "again"),
)
# what the words mean with which a connection isn't made or is lost, and what follows
LOST = (
    ("proxy", r"^\w*proxy\w*:", "all"),
    ("no TLS", r"wrong.version.number|record.layer.failure", "all"),
    ("certificate", r"certificate|\[ssl:", "all"),
    ("bad address", r"UnsupportedProtocol|InvalidUrl", "all"),
    ("host unknown", r"DNSError|name or service|nodename|name resolution|getaddrinfo", "again"),
    ("no server", r"connect call failed|connection refused", "again"),
    ("timeout", r"time(d )?out", "again"),
    ("connection", r"", "again"),
)
# The model has begun, or may have. What was refused, and a server's own faults, cost nothing.
MAYBE_CHARGED = ("cut off while thinking", "timeout")
# What an error inside a 200 would have had for a status, by its words, if it doesn't say one; then
# any other fault of a request in FAULTS.
STATUSES = (
    (429, r"\brate.?limit|too many requests"),
    (401, r"authentication.?error|unauthori[sz]ed"),
    (400, r"bad.?request|invalid.?(request|argument|param)"),
    (
        502,
        r"overload|tempora|timed?.?out|took too long|internal"
        r"|(service|server|model).{0,20}unavailable"
        r"|server.?(error|had)|\bbusy\b|capacity|try again|gateway|upstream|unexpected (error|fail)"
        r"|provider returned",
    ),
)
HINTS = {
    "no credit": "add credit or raise the limit at the provider",
    "no such model": "check model and base_url in data/models.toml",
    "unsupported parameter": "`make try MODELS={}` says which line its entry lacks",
    "bad request": "`make try MODELS={}` shows what is sent",
    "no system role": 'write system = "user" in its entry, if its model knows no system messages',
    "limit too high": "lower reasoning_tokens or most_tokens in its entry, which make up the limit",
    "context too long": "take a model with a longer context, or lower reasoning_tokens or"
    " most_tokens in its entry",
    "filtered": "the provider's content filter withheld it: change the filter in your account, or"
    " take another model",
    "cut off while thinking": "raise reasoning_tokens in its entry",
    "rate limit": "lower requests_per_minute or max_concurrency in its entry",
    "timeout": "raise timeout_s in its entry, or lower max_concurrency",
    "bad answer": "check base_url in its entry, which often ends in /v1: a chat completion must"
    " come from there",
    "redirect": "put that address into base_url of its entry, since no key is sent on to it",
    "proxy": "the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names refuses: correct that"
    " variable, or name the endpoint's host in NO_PROXY",
    "no TLS": "the endpoint speaks http: write http:// in base_url of its entry, or another port",
    "certificate": "this machine doesn't trust the endpoint's certificate: have it renewed, or name"
    " the file of its authority in SSL_CERT_FILE",
    "bad address": "write base_url with http:// or https:// in its entry",
    "host unknown": "check the host in base_url of its entry, and your network",
    "no server": "start the server, or check host and port in base_url of its entry",
}


class Failure(Exception):
    """Why a call has no reply: its kind, the status, the provider's words, and what follows."""

    def __init__(
        self, kind: str, status: int | str, message: str, fate: str, wait: float | None = None
    ):
        super().__init__(message)
        self.kind, self.status, self.message, self.fate = kind, status, message, fate
        self.wait = wait  # seconds that the server asks for
        self.way = ""  # out, where its words say more than its kind
        self.usage = {}  # that came with it
        self.tokens = (None, None)  # as `cost` takes them; None where it isn't known whether any

    @property
    def again(self) -> bool:
        return self.fate == "again"


def inside(answer):
    """(status, body) of an error that comes inside a 200: of the whole, or of its choice."""
    answer = answer[0] if isinstance(answer, list) and answer else answer
    if not isinstance(answer, dict):
        return None
    choice = replies.first_choice(answer)
    error = answer.get("error") or choice.get("error")
    if alone := not (error or choice):  # an error in place of an answer, or a gateway's beside it
        error = next((e for e in (*map(answer.get, BESIDE), answer) if _speaks(e)), None)
        error = error[0] if isinstance(error, list) else error
    if not error and not replies.broken_off(choice.get("finish_reason")):
        return None
    broke = f"it broke off in its answer ({choice.get('finish_reason')})"
    status = status_of(error, 400 if alone else 502)  # servers send the first when they refuse
    return status, json.dumps({"error": error or broke}).encode()


BESIDE = ("errors", "base_resp")  # Cloudflare's, MiniMax's


def status_of(error: Any, other: int) -> int:
    """The status that an error without one of its own stands for; `other` if nothing tells."""
    for name in ("code", "status", "status_code", "error_code"):
        code = str(error.get(name)) if isinstance(error, dict) else ""
        if re.fullmatch(r"[45]\d\d", code):
            return int(code)
    text = json.dumps(error)
    fits = (status for status, words in STATUSES if re.search(words, text, re.I))
    known = any(400 in f[1] and re.search(f[2], text, re.I) for f in FAULTS)
    return next(fits, 400 if known else other)


def of(
    status: int,
    content: bytes,
    headers: Mapping[str, str],
    secrets: Iterable[str],
    kept: dict | None = None,
    answer: Any = None,
) -> Failure:
    """The Failure that a status and what came with it are.

    kept: of the request, as `read` takes it; answer: what an error of `inside` came with.
    """
    text = content.decode("utf-8", "replace")
    said = words(text) or f"{status} from the endpoint"
    if 300 <= status < 400 and (to := headers.get("location")):
        said = f"it has moved to {to.partition('?')[0].removesuffix(registry.ROUTES['chat'])}"
    told = cleaned(said, secrets)
    fits = (f for f in FAULTS if status in f[1] and re.search(f[2], text, re.I))
    again = status >= 500 or status == 409
    other = ("endpoint's fault", "", "", "again") if again else ("bad request", "", "", "alone")
    kind, _, _, fate = next(fits, other)
    failure = Failure(kind, status, told, fate, resets.wait_s({**headers, **_told(text)}, text))
    if kind in ("limit too high", "context too long"):
        _with_limit(failure, kept)
    if (failure.again or kind == "no credit") and (failure.wait or 0) > resets.LONGEST_S:
        failure.fate = "stop"
        failure.way = (
            f"the endpoint takes calls again on {resets.moment(failure.wait)}: wait until then, or"
            " have the limit raised at the provider"
        )
    if kind not in MAYBE_CHARGED and not replies.first_choice(answer):  # no reply had begun either
        failure.tokens = (0, 0)
    return _with_usage(failure, answer or _parsed(text))


def _told(text):
    """The headers that a router passes on in its error's body."""
    body = _parsed(text)
    for name in ("error", "metadata", "headers"):
        body = body.get(name) if isinstance(body, dict) else None
    return {k: str(v) for k, v in body.items()} if isinstance(body, dict) else {}


def _with_limit(failure, kept):
    """Tell the limit of a reply that an endpoint names, if a call's own is above it.

    A context that can't hold this limit alone is no matter of the prompt either.
    """
    limits = [v for k, v in (kept or {}).get("fields", {}).items() if k.startswith("max_")]
    asked = max((v for v in limits if isinstance(v, int)), default=0)
    found = re.findall(r"\d{1,3}(?:,\d{3})+|\d+", failure.message)
    numbers = [_number(n) for n in found if n != str(failure.status)]
    if failure.kind == "context too long":
        window = re.search(WINDOW, failure.message, re.I)
        if not window or asked not in numbers or asked < _number(window[1] or window[2]):
            return
        failure.kind, failure.fate = "limit too high", "all"
    if named := max((n for n in numbers if 1 < n < asked), default=0):
        named -= f"{named} (exclusive)" in failure.message
        failure.way = (
            f"it takes {named:,} tokens of a reply at most, and {asked:,} were asked for: lower"
            f" reasoning_tokens and most_tokens in its entry to {named:,} together"
        )


def _number(digits):
    return int(digits.replace(",", ""))


def lost(error: Exception, secrets: Iterable[str]) -> Failure:
    """The Failure that a fault of the connection is, or openai's error around one."""
    import openai

    cause = error.__cause__ or error if isinstance(error, openai.OpenAIError) else error
    first = cause.__cause__ or cause  # the client's own name for it may be that of another fault
    told = f"{type(first).__name__}: {cause}"
    kind, _, fate = next(f for f in LOST if re.search(f[1], told, re.I))
    failure = Failure(kind, "", cleaned(f"{type(first).__name__}: {cause}", secrets), fate)
    if kind not in ("timeout", "connection"):  # nothing was sent
        failure.tokens = (0, 0)
    return failure


def masked(content: bytes, secrets: Iterable[str]) -> bytes:
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
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if usage:
        *tokens, counts = tokens_of(answer)
        failure.usage, failure.tokens = usage, (*tokens, written(counts))
    return failure


def _parsed(text):
    """An error's body; where it isn't JSON, its text without tags."""
    try:
        body = outside.parsed(text)
    except ValueError:
        return re.sub(r"<[^>]*>", " ", text)
    return body[0] if isinstance(body, list) and body else body


def words(text: str) -> str:
    """What an error's body says, in one line: its message, code and parameter, or all of it."""
    body = _parsed(text)
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return " ".join(str(error).split()) if error else ""
    said = [error.get(k) for k in (*SAYING, "code", "param", "metadata")]
    return " ".join(" ".join(map(_plain, filter(None, said))).split())


SAYING = ("message", "detail", "msg", "error_msg", "status_msg", "error_message")


def _speaks(error):
    """Whether something is an error with words."""
    return any(error.get(k) for k in SAYING) if isinstance(error, dict) else bool(error)


def _plain(value):
    return value if isinstance(value, str) else json.dumps(value)


def cleaned(text: str, secrets: Iterable[str]) -> str:
    """Words of a provider without keys, as one line of at most WORDS characters."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = " ".join(registry.LITERAL_KEY.sub("***", prompts.plain(text)).split())
    return text if len(text) <= WORDS else f"{text[:WORDS]}..."


def read(
    kept: dict,
    answer: Any,
    headers: Mapping[str, str],
    secrets: Iterable[str],
    date: datetime.datetime | None = None,
) -> dict:
    """The record of a parsed answer of status 200; raises Failure for an error or no choice in it.

    kept: of the request; date: when it came, without one now.
    """
    if fault := inside(answer):
        raise of(*fault, headers, secrets, kept, answer)
    try:
        return replies.as_record(kept, answer, date)
    except ValueError as e:
        raise _with_usage(Failure("bad answer", 200, str(e), "again"), answer) from None


def withheld(kept: dict, failure: Failure, date: datetime.datetime | None = None) -> dict:
    """The record of an answer that the provider withheld: filtered, or never got to."""
    finish = "content_filter" if failure.kind == "filtered" else "length"
    choice = {"message": {"content": ""}, "finish_reason": finish}
    answer = {"choices": [choice], "usage": failure.usage}
    return {**replies.as_record(kept, answer, date), "withheld": failure.message}


def hint(name: str, failure: Failure) -> str:
    """What to do about a failure that ends a run."""
    if failure.kind == "key refused":
        return f"check {registry.model(name).api_key_env or 'the settings of the endpoint'}"
    return failure.way or HINTS.get(failure.kind, "wait until the endpoint is well").format(name)


def stop(name: str, failure: Failure) -> StopRun:
    """The StopRun that a failure is: one sentence, with the provider's words and the way out."""
    why = "the endpoint refuses the key" if failure.kind == "key refused" else failure.kind
    status = f" ({failure.status})" if failure.status else ""
    return StopRun(
        f"model {name!r}: {why}{status}: {failure.message}; the run stops here, what came is"
        f" recorded: {hint(name, failure)}, then run again"
    )
