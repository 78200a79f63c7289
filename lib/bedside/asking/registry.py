"""Entries of data/models.toml: endpoints, what each takes and refuses, and what it costs.

An entry is checked when it is read. It decides what is sent for a request (`body`), what of that
belongs to a recording's key (`identity`), and how a reply's text is read (`spoken`).
"""

import difflib
import functools
import json
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

from bedside import BedsideError, choose
from bedside.read import paths

from . import prices, store


class StopRun(BedsideError):
    """Going on would be pointless or too expensive: a key that is refused, or a budget used up."""


NUMBER = prices.NUMBER
KEYS = {
    "provider": str,
    "base_url": str,
    "model": str,
    "api_key_env": str,
    "api": str,
    "max_concurrency": int,
    "timeout_s": NUMBER,
    "requests_per_minute": NUMBER,
    "tokens_per_minute": NUMBER,
    "settings": dict,
    "omit": list,
    "system": str,
    "max_tokens_name": str,
    "reasoning_tokens": int,
    "response_format": str,
    "think": list,
    "extra_body": dict,
    "headers": dict,
    "query": dict,
    "revision": str,
    "retired": str,
    "instead": str,
    "documentation": str,
    "usd_per_million_in": NUMBER,
    "usd_per_million_out": NUMBER,
    "usd_per_million_cache_write": NUMBER,
    "price_date": str,
    "price_rules": list,
    "batch_discount": NUMBER,
    "batch_tokens": int,
    "weights_sha256": str,
    "about": str,
    "most_tokens": int,
    "most_tokens_for": dict,
    "most_tokens_turn": int,
    "most_turns": int,
    "most_dialogues": int,
    "most_examples": int,
}
KINDS = {str: "a text", int: "a whole number", NUMBER: "a number", dict: "a table", list: "a list"}
BATCH_URL = "/v1/chat/completions"  # of a batch's lines and of the batch, at all providers found
FORMS = ("json_schema", "json_object", "none")
ROUTES = {"chat": "/chat/completions", "completions": "/completions"}  # by `api` of an entry
THINK = ["<think>", "</think>"]
VARIABLE = re.compile(r"\$\{(\w+)\}")
# what a provider's key looks like, and how headers and parts of a query that hold one are named
LITERAL_KEY = re.compile(r"\b(sk|pk|gsk|xai|hf|AIza|Bearer)[-_ ][\w-]{8,}|\bAIza[\w-]{20,}")
KEY_NAMES = re.compile(
    r"((?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))"  # a word of the name says so, not a part of a word
    r"(?i:(api|access|auth|client|secret|subscription|bearer)?"
    r"(key|token|secret|password|credentials?|cookie|auth|authorization))(?![a-z])"
)
# providers whose dated names say which weights answer, at their own endpoint
OWN_HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "google": "generativelanguage.googleapis.com",
    "deepseek": "api.deepseek.com",
    "mistral": "api.mistral.ai",
}


INLINE = "BEDSIDE_ENTRIES"  # the variable with a script's own entries, for what it starts


def entries() -> dict[str, dict]:
    """The models of data/models.toml that are as they should be, {name: entry}.

    With those that this process, or the one that started it, has added by `names_of`.
    """
    return _read()[0]


def faulty() -> dict[str, str]:
    """What is wrong with the other entries, {name: words}."""
    return _read()[1]


@functools.cache
def _read():
    path = paths.DATA / "models.toml"
    try:
        every = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BedsideError(f"{paths.rel(path)}: it is not UTF-8; save it so") from None
    except (ValueError, RecursionError) as e:
        raise BedsideError(f"{paths.rel(path)}: {e}") from None
    for key, entry in every.items():
        if not isinstance(entry, dict):
            told = "stands before the first entry; a key belongs below its [name]"
            raise BedsideError(f"{paths.rel(path)}, {key}: {told}")
    faults = {n: f"{paths.rel(path)}, [{n}]: {w}" for n, e in every.items() if (w := _fault(n, e))}
    sound = {name: entry for name, entry in every.items() if name not in faults}
    return sound | json.loads(os.environ.get(INLINE) or "{}"), faults


def names_of(given: str | dict | Sequence[str | dict]) -> str:
    """The names of models, as "a b"; a dict is an entry without a file, which becomes known.

    Its name is its `name`, else its `model`. BedsideError for a faulty entry, one that holds a key,
    and a name that data/models.toml has for another.
    """
    if not isinstance(given, str | dict):
        return " ".join(names_of(one) for one in given)
    if isinstance(given, str):
        return given
    entry = {k: v for k, v in given.items() if k != "name"}
    name = re.sub(r"[\s,]+", "-", str(given.get("name") or given.get("model") or "").strip())
    if fault := _fault(name, entry):
        raise BedsideError(f"models, the entry {name!r}: {fault}")
    mine = json.loads(os.environ.get(INLINE) or "{}")
    if name not in mine and entries().get(name, entry) != entry:
        raise BedsideError(
            f'models, the entry {name!r}: data/models.toml has another one of this name; add "name"'
            " to yours, or give that name alone"
        )
    os.environ[INLINE] = json.dumps(mine | {name: entry})
    entries()[name] = entry
    return name


def _fault(name, entry):
    """What is wrong with an entry; nothing if it is as it should be."""
    if not name.isprintable() or len(name) > LONGEST or re.search(r"\s", name):
        return f"its name must be one word of at most {LONGEST} characters"
    if entry and "provider" not in entry and all(isinstance(v, dict) for v in entry.values()):
        dotted = f"{name}.{next(iter(entry))}"
        return f'a name with a dot must be quoted: ["{dotted}"]'
    for key, value in entry.items():
        if key in ("api_key", "key", "apikey"):
            return "a key comes from the environment: api_key_env names its variable"
        try:
            choose(key, KEYS, "key")
        except BedsideError as e:
            return str(e)
        if not isinstance(value, KEYS[key]) or isinstance(value, bool):
            return f"{key} = {value!r} should be {KINDS[KEYS[key]]}"
        if isinstance(value, NUMBER) and not 0 <= value < MOST:
            return f"{key} = {value!r} is no amount"
        if key in ABOVE_0 and value == 0:
            return f"{key} = 0 allows nothing"
        if key not in MAY_BE_EMPTY and value == "":
            return f"{key} is empty"
        if key != "price_rules" and (told := _unsendable(value)):
            return f"{key} {told}"
    if entry.get("batch_discount", 0) >= 1:
        return "batch_discount is the share that a batch saves, such as 0.5"
    needed = ("provider", "model") if entry.get("provider") == "local" else REQUIRED
    needed += prices.PRICES if any(k in entry for k in PRICED) else ()
    if lacking := [k for k in needed if k not in entry]:
        return f"{', '.join(lacking)} missing"
    if wrong := prices.fault(entry):
        return wrong
    if not re.fullmatch(r"[A-Za-z_]\w*", entry.get("api_key_env", "KEY")):
        return "api_key_env is the name of an environment variable, not a key"
    if entry.get("response_format", "none") not in FORMS:
        return f"response_format is one of {', '.join(FORMS)}"
    if entry.get("api", "chat") not in ROUTES:
        return f"api is one of {', '.join(ROUTES)}"
    if entry.get("api") == "completions" and entry.get("response_format") != "none":
        return 'api = "completions" asks for JSON in words alone: response_format = "none"'
    if entry.get("max_concurrency", 1) > MOST_AT_ONCE:
        return f"max_concurrency is {MOST_AT_ONCE:,} at most"
    if wrong := _body_fault(entry) or _address_fault(entry):
        return wrong
    think = entry.get("think", [])
    if [type(t) for t in think] not in ([], [str, str]) or "" in think:
        return "think is an opening and a closing tag, or empty"
    beside = {**entry.get("headers", {}), **entry.get("query", {})}.items()
    plain = [k for k, v in beside if KEY_NAMES.search(k) and not _from_environment(v)]
    if plain or LITERAL_KEY.search(json.dumps(entry, default=str)):
        return "a key stands in it; write ${VARIABLE}, and set that in the environment"
    password = urlsplit(entry.get("base_url", "")).password
    if password and not _from_environment(password):
        return "base_url holds a password; write ${VARIABLE}, and set that in the environment"
    return ""


def _unsendable(value):
    """Why no call can hold a value that TOML can, such as a date, nan, a control character."""
    if isinstance(value, dict | list):
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        return next(filter(None, map(_unsendable, inside)), "")
    if isinstance(value, str):
        odd = next((c for c in value if not c.isprintable() and c not in "\n\t"), "")
        return f"holds the character {odd!a}, which no call can" * bool(odd)
    if isinstance(value, int | float) and -MOST < value < MOST:
        return ""
    return f"holds {value}, which is no text, number, list or table that a call can hold"


def _body_fault(entry):
    """What of an entry's settings and tables would spoil a call."""
    limits = ("max_tokens", entry.get("max_tokens_name", "max_tokens"))
    if entry.get("max_tokens_name") in OURS:
        return f"max_tokens_name can't be {entry['max_tokens_name']}, which is what is asked"
    for table in ("settings", "extra_body"):
        for key, value in entry.get(table, {}).items():
            if key in OURS:
                return f"{table} may not replace {key}, which is what is asked"
            if key in limits and (type(value) is not int or value < 1):
                return f"{table}: {key} = {value!r} should be a whole number above 0"
            if key in ("temperature", "top_p") and type(value) not in NUMBER:
                return f"{table}: {key} = {value!r} should be a number"
    for key, value in entry.get("most_tokens_for", {}).items():
        if type(value) is not int or value < 1:
            return f"most_tokens_for: {key} = {value!r} should be a whole number above 0"
    if entry.get("system", "user") != "user":
        return f'system = {entry["system"]!r} is "user", or left out'
    if "system" in entry and entry.get("api") == "completions":
        return 'system says nothing beside api = "completions": a bare prompt knows no roles'
    omitted = entry.get("omit", [])
    if "system" in omitted:
        return (
            "omit lists settings, and system is a message: where a model knows no system messages,"
            ' write system = "user", which puts them before the first message of the user'
        )
    if not all(isinstance(k, str) for k in omitted) or {*OURS} & {*omitted}:
        return f"omit lists settings that are left out, as texts, and none of {', '.join(OURS)}"
    return ""


def _address_fault(entry):
    """What is wrong with an entry's base_url, headers and query."""
    url = entry.get("base_url", "http://localhost")
    try:
        sound = not re.search(r"\s", url) and (urlsplit(url).port or 1) and urlsplit(url).netloc
    except ValueError:
        sound = False
    if not sound and not _from_environment(url):
        return f"base_url = {url!r} is no address, such as https://api.example.org/v1"
    for table in ("headers", "query"):
        for key, value in entry.get(table, {}).items():
            if not isinstance(value, str) or not f"{key}{value}".isascii() or "\n" in key + value:
                return f"{table}: {key} = {value!r} should be a text of one line, in ASCII"
    odd = [k for k in entry.get("headers", {}) if not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", k)]
    return f"headers: {odd[0]!r} is no name of a header" if odd else ""


MOST, MOST_AT_ONCE, LONGEST = 10**12, 1000, 100
OURS = ("model", "messages", "prompt", "stream", "n")  # of a call's body
MAY_BE_EMPTY = ("about", "documentation", "max_tokens_name", "revision", "retired", "instead")
REQUIRED = ("provider", "base_url", "model")
PRICED = (*prices.PRICES, prices.WRITE, "price_rules", "batch_discount")  # if one, then a price
ABOVE_0 = ("max_concurrency", "timeout_s", "requests_per_minute", "tokens_per_minute")


def model(name: str) -> dict:
    """One registry entry; BedsideError as of `named`."""
    return entries()[named(name)]


def named(name: str, what: str = "model", *others: str) -> str:
    """`name` if it is a model's, or one of `others`.

    what: it is, as a BedsideError says that names what is wrong with its entry, or for an unknown
    name the nearest ones and how to add an entry.
    """
    if name in (known := entries()) or name in others:
        return name
    for bad in (name, name.partition(".")[0]):  # a name with a dot that isn't quoted
        if bad in faulty():
            raise BedsideError(faulty()[bad])
    near = difflib.get_close_matches(name, [*known, *others], cutoff=0.4)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    head = name if re.fullmatch(r"[\w-]+", name) else json.dumps(name)
    raise BedsideError(
        f"unknown {what} {name!r}{hint} To add it, write an entry [{head}] at the end of"
        " data/models.toml, as docs/your_model.md shows"
    )


def most(name: str, tokens: int, kind: str = "") -> int:
    """`tokens`, or fewer if a model's entry allows fewer for this kind of text.

    kind: a key of its `most_tokens_for`; what is not there is held to its `most_tokens`.
    """
    entry = model(name)
    return min(tokens, entry.get("most_tokens_for", {}).get(kind, entry.get("most_tokens", tokens)))


def cost(
    name: str,
    prompt_tokens: float | None,
    completion_tokens: float | None,
    written: float | None = 0,
    **more: Any,
) -> float | None:
    """Price in USD of one call to a model; None where it isn't known. See `prices.cost`."""
    return prices.cost(model(name), prompt_tokens, completion_tokens, written, **more)


def cost_at_most(
    name: str, prompt_tokens: int, completion_tokens: int, batch: bool = False
) -> float | None:
    """The highest price in USD of one call to a model, sent now. See `prices.at_most`."""
    return prices.at_most(model(name), prompt_tokens, completion_tokens, batch)


def api_key(name: str) -> str:
    """The key of a model from the environment; a placeholder for endpoints that want none."""
    variable = model(name).get("api_key_env")
    if variable and not os.environ.get(variable):
        raise StopRun(f"model {name!r} needs its key in the environment variable {variable}")
    return os.environ[variable] if variable else "none"


def bare(name: str) -> bool:
    """Whether a model gets the text of its prompt alone, to which no chat template is added."""
    return model(name).get("api") == "completions"


def in_batches(name: str) -> bool:
    """Whether a model is asked by request files in mode batch; the embedded one never is."""
    return model(name)["provider"] != "local"


def check_batch(name: str) -> None:
    """Raise StopRun if a model is retired, or request files would hold what may be a secret."""
    m = model(name)
    check_there(name)
    if VARIABLE.search(json.dumps(m.get("extra_body", {}))):
        raise StopRun(
            f"model {name!r} can't be asked in batches: its extra_body takes a value from the"
            " environment, which no file may hold; MODE=record calls it directly"
        )
    if bare(name):
        raise StopRun(
            f"model {name!r} can't be asked in batches, which hold chat completions; MODE=record"
            " calls it directly"
        )


def check_there(name: str) -> None:
    """Raise StopRun if a model is retired."""
    m = model(name)
    if date := m.get("retired"):
        other = m.get("instead")
        use = f"use {other!r} instead" if other else "choose another one of data/models.toml"
        raise StopRun(f"model {name!r} was retired on {date}; {use} (its recordings still replay)")


def check_callable(name: str) -> None:
    """Raise StopRun if a model can't be called.

    It is retired, its key or a variable isn't set, or its replies would pass for another's.
    """
    check_there(name)
    told, elsewhere = shared(name)
    if elsewhere:
        raise StopRun(told)
    api_key(name)
    if unset := [v for v in variables(name) if not os.environ.get(v)]:
        raise StopRun(f"model {name!r} needs the environment variable {unset[0]}")


def variables(name: str) -> list[str]:
    """The environment variables that a model's entry refers to, besides its key's."""
    m = model(name)
    return VARIABLE.findall(json.dumps([m.get(k) for k in FROM_ENVIRONMENT]))


def secrets(name: str) -> list[str]:
    """What no message about a model may show: its key, and what else the environment gives it."""
    names = [*variables(name), model(name).get("api_key_env", "")]
    return [os.environ[v] for v in names if os.environ.get(v)]


def connection(name: str, url: str | None = None) -> dict:
    """What an `openai` client of a model is made with; url: another one than the entry's."""
    m = model(name)
    return {
        "base_url": expanded(url or m["base_url"]),
        "api_key": api_key(name),
        "timeout": m.get("timeout_s", 600),
        "default_query": expanded(m.get("query")),
        "default_headers": expanded(m.get("headers")),
    }


FROM_ENVIRONMENT = ("base_url", "headers", "query", "extra_body")  # where ${VARIABLES} may stand


def sent(name: str, body: dict) -> dict:
    """A call's body as it is sent: with the ${VARIABLES} of the entry's extra_body, and no others.

    Messages may say `${...}` too; they are never expanded. A bare prompt is what they say, with
    blank lines between them.
    """
    beyond = model(name).get("extra_body", {})
    made = body | expanded({k: v for k, v in beyond.items() if k in body})
    if bare(name):
        made["prompt"] = "\n\n".join(m["content"] for m in made.pop("messages"))
    return made


def expanded(value: Any) -> Any:
    """A value of an entry with ${VARIABLES} from the environment in its texts."""
    if isinstance(value, dict):
        return {k: expanded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [expanded(v) for v in value]
    if isinstance(value, str):
        return VARIABLE.sub(lambda v: os.environ.get(v[1], v[0]), value)
    return value


def _literal(value):
    """A value of an entry without what comes from the environment, which may be a secret."""
    if isinstance(value, dict):
        return {k: _literal(v) for k, v in value.items() if not _from_environment(v)}
    if isinstance(value, list):
        return [_literal(v) for v in value if not _from_environment(v)]
    return value


def _from_environment(value):
    return isinstance(value, str) and bool(VARIABLE.search(value))


def body(
    name: str, messages: list[dict], settings: dict, response_format: dict | None = None
) -> dict:
    """The JSON body of a call, as an entry wants it; ${VARIABLES} stand in it unexpanded.

    settings: what a notebook asks for; the entry's go over it, what it omits is left out, and
    max_tokens gets its own name and the room for reasoning.
    """
    m = model(name)
    if "system" in m:
        messages = _by_the_user(messages)
    made = {**settings, **m.get("settings", {})}
    form = m.get("response_format", "json_schema")
    if response_format and form != "json_schema":
        messages = _asked_in_words(messages, response_format)
        response_format = {"type": "json_object"} if form == "json_object" else None
    if response_format:
        made["response_format"] = response_format
    if "max_tokens" in made:
        limit = made.pop("max_tokens") + m.get("reasoning_tokens", 0)
        made[m.get("max_tokens_name", "max_tokens")] = limit
    made |= m.get("extra_body", {})
    made = {k: v for k, v in made.items() if k not in m.get("omit", ())}
    return {"model": m["model"], "messages": messages, **made}


def _by_the_user(messages):
    """Messages without a system's: what it says stands before the first one of the user.

    It is a message of its own if the user's isn't the next, since many models want them in turn.
    """
    told = [m["content"] for m in messages if m["role"] == "system"]
    rest = [m for m in messages if m["role"] != "system"]
    if told and rest and rest[0]["role"] == "user":
        told.append(rest.pop(0)["content"])
    return [{"role": "user", "content": "\n\n".join(told)}, *rest] if told else rest


def _asked_in_words(messages, response_format):
    """Messages whose last one asks for what a response format would."""
    schema = json.dumps(response_format["json_schema"]["schema"])
    words = f"Reply with one JSON object and nothing else. Its JSON schema: {schema}"
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}\n\n{words}"}]


def identity(name: str, body: dict) -> dict:
    """Everything of a call that can change its answer, as the recording's key sees it.

    body: of the call. What comes from the environment never counts.
    """
    m = model(name)
    beyond = {k: v for k, v in m.get("extra_body", {}).items() if k in body}
    own = {k: v for k, v in body.items() if k not in beyond}
    fields = {"response_format": None, **own, **_literal(beyond)}
    for k in ("temperature", "top_p"):  # 0 and 0.0 are one setting
        if isinstance(fields.get(k), int):
            fields[k] = float(fields[k])
    if bare(name):
        fields["api"] = m["api"]
    beside = {k: _literal(m.get(k, {})) for k in ("headers", "query")}
    fields |= {k: v for k, v in beside.items() if v}
    if "revision" in m:
        fields["revision"] = m["revision"]
    elif m["provider"] != "local":  # the weights there have a digest
        host = urlsplit(m.get("base_url", "")).hostname
        if host != OWN_HOSTS.get(m["provider"]):
            fields["endpoint"] = store.digest(m.get("base_url"))[:16]
    return {"provider": m["provider"], "weights": m.get("weights_sha256"), **fields}


def shared(name: str) -> tuple[str, bool]:
    """With which other models a model shares its recorded replies, in words, and whether it may.

    (empty, False) with none; (words, False) for entries that agree in all that changes an answer;
    (words, True) if some request to an endpoint at another address has the same key.
    """
    mine = model(name)

    def address(m):
        return m.get("base_url", "").rstrip("/")

    def keys(name):
        return [store.canonical(identity(name, body(name, *call))) for call in _CALLS]

    def agrees(other, m):
        same = [a == b for a, b in zip(keys(name), keys(other))]
        return all(same) or (any(same) and address(m) != address(mine))

    alike = ("provider", "model", "revision")
    near = {n: m for n, m in entries().items() if all(m.get(k) == mine.get(k) for k in alike)}
    twins = [n for n, m in near.items() if n == name or agrees(n, m)]
    if len(twins) == 1:
        return "", False
    told = f"the models {', '.join(map(repr, twins))} share their recorded replies: provider, model"
    if len(places := dict.fromkeys(address(near[n]) for n in twins)) == 1:
        return f"{told} and all else that changes an answer are the same", False
    way = "give one of them another revision in data/models.toml"
    return (
        f"{told} and revision are the same, but not the address ({', '.join(places)}); {way}",
        True,
    )


def all_shared(names: Iterable[str]) -> list[str]:
    """What `shared` says of several models, once each; judges without a model share nothing."""
    return list(dict.fromkeys(w for n in names if n in entries() and (w := shared(n)[0])))


_HELLO = {"role": "user", "content": "Hello"}
_CALLS = (  # messages, settings and form, with less and with all that notebooks ask for
    ([_HELLO], {"max_tokens": 100}, None),
    (
        [{"role": "system", "content": "Be brief."}, _HELLO],
        {"max_tokens": 100, "temperature": 0.7, "seed": 1, "frequency_penalty": 0.2, "top_p": 0.9},
        {"type": "json_schema", "json_schema": {"schema": {}}},
    ),
)


def spoken(name: str, text: str, cut: bool = False) -> str:
    """A reply's text without what the model thought before it spoke.

    A leading block between the tags <think> and </think>, or those of the entry; with tags of its
    own all up to the first closing one, since some endpoints open the block in the prompt. `cut`:
    whether the reply was cut at its limit, which may have been in a thought.
    """
    tags = model(name).get("think", THINK)
    if not tags:
        return text
    start, end = tags
    thought, closed, rest = text.partition(end)
    if text.lstrip().startswith(start) or ("think" in model(name) and (closed or cut)):
        return rest.lstrip() if closed else ""
    return text
