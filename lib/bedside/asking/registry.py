"""Entries of data/models.toml: endpoints, what each takes and refuses, and what it costs.

    registry.model("mine").base_url              # an entry, with the fields of `Model`
    registry.body("mine", messages, settings)    # what is sent for a request
    registry.cost("mine", 1200, 60)              # USD of a call

An entry is checked when it is read. It decides what is sent, what of that belongs to a recording's
key (`identity`), and how a reply's text is read (`spoken`). A value ${VARIABLE} in base_url,
headers, query or extra_body comes from the environment, and never gets into a key or a file.
"""

import datetime
import functools
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from bedside import BedsideError, choose
from bedside.read import outside, paths
from bedside.read.surroundings import here, variable

from . import store


class StopRun(BedsideError):
    """Going on would be pointless or too expensive: a key that is refused, or a budget used up."""


BATCH_URL = "/v1/chat/completions"  # of a batch's lines and of the batch, at all providers found
FORMS = ("json_schema", "json_object", "none")
ROUTES = {"chat": "/chat/completions", "completions": "/completions"}  # by `api` of an entry
THINK = ["<think>", "</think>"]
OURS = ("model", "messages", "prompt", "stream", "n")  # of a call's body
VARIABLE = re.compile(r"\$\{(\w+)\}")
ADDRESS = re.compile(r"https?://(\[[\da-f:.]*:[\da-f:.]*\])?[^\s\[\]]*")
PASSWORD = re.compile(r"//[^/@]*:(?!\$\{)[^/@]+@")
# what a provider's key looks like, and how headers and parts of a query that hold one are named
LITERAL_KEY = re.compile(r"\b(sk|pk|gsk|xai|hf|AIza|Bearer)[-_ ][\w-]{8,}|\bAIza[\w-]{20,}")
KEY_NAMES = re.compile(
    r"(?i:key|token|secret|password|credentials?|cookie|auth|authorization)(?![a-z])"
)
# providers whose dated names say which weights answer, at their own endpoint
OWN_HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "google": "generativelanguage.googleapis.com",
    "deepseek": "api.deepseek.com",
    "mistral": "api.mistral.ai",
}

Word = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, lt=10**12)]
Limit = Annotated[int, Meta(gt=0, lt=10**12)]
Amount = Annotated[float, Meta(ge=0, lt=1e12)]
Rate = Annotated[float, Meta(gt=0, lt=1e12)]
# names and values, of headers and of parts of a query: words, and one line of ASCII
Beside = dict[
    Annotated[str, Meta(pattern=r"^[\w!#$%&'*+.^`|~-]+\Z")],
    Annotated[str, Meta(pattern=r"^[ -~]*\Z")],
]


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry; the head of data/models.toml and docs/your_model.md say what its fields mean."""

    provider: Word
    model: Word
    base_url: str = ""  # only the embedded model has none
    api_key_env: str = ""
    api: Literal[*ROUTES] = "chat"
    max_concurrency: Annotated[int, Meta(gt=0, le=1000)] = 8
    timeout_s: Rate = 600
    requests_per_minute: Rate | None = None
    tokens_per_minute: Rate | None = None
    settings: dict[str, Any] = {}
    omit: tuple[str, ...] = ()
    system: Literal["", "user"] = ""
    max_tokens_name: Word = "max_tokens"
    reasoning_tokens: Count = 0
    response_format: Literal[FORMS] = "json_schema"
    think: Annotated[list[Word], Meta(max_length=2)] | None = None
    extra_body: dict[str, Any] = {}
    headers: Beside = {}
    query: Beside = {}
    revision: str | None = None
    retired: str = ""
    instead: str = ""
    documentation: str = ""
    usd_per_million_in: Amount | None = None
    usd_per_million_out: Amount | None = None
    price_date: datetime.date | None = None
    batch_discount: Annotated[float, Meta(ge=0, lt=1)] = 0
    batch_tokens: Limit | None = None
    weights_sha256: str | None = None
    about: str = ""
    most_tokens: Limit | None = None
    most_tokens_for: dict[str, Limit] = {}
    most_tokens_turn: Limit | None = None
    most_turns: Count | None = None
    most_dialogues: Limit | None = None
    most_examples: Count | None = None

    def __post_init__(self):
        if fault := _fault(self):
            raise ValueError(fault)


def _fault(m):
    """What types can't say of an entry; a key that stands in it is never repeated."""
    for table in ("settings", "extra_body"):
        values = getattr(m, table)
        try:
            json.dumps(values, allow_nan=False)
        except (TypeError, ValueError) as e:  # a date, nan
            return f"{table} holds what no call can: {e}"
        if type(values.get("max_tokens", 1)) is not int:
            return f"{table}: max_tokens should be a whole number"
    touched = {*m.settings, *m.extra_body, *m.omit, m.max_tokens_name}
    if replaced := {*OURS} & touched or {"system"} & {*m.omit}:
        return (
            f"settings, extra_body, omit and max_tokens_name may not touch {min(replaced)}, which"
            ' is what is asked (where a model knows no system messages: system = "user")'
        )
    if m.api == "completions" and (m.response_format != "none" or m.system):
        return 'api = "completions" needs response_format = "none", and no system: it is bare text'
    if len(m.think or ()) == 1:
        return "think is an opening and a closing tag, or empty"
    if (m.usd_per_million_in is None) != (m.usd_per_million_out is None):
        return "give both usd_per_million_in and usd_per_million_out, or neither"
    sound = ADDRESS.fullmatch(m.base_url) or VARIABLE.search(m.base_url)
    if not sound and m.provider != "local":
        return "base_url should be an address, such as https://api.example.org/v1"
    if not re.fullmatch(r"([A-Za-z_]\w*)?", m.api_key_env):
        return "api_key_env is the name of an environment variable, not a key"
    beside = {**m.headers, **m.query}.items()
    named = any(KEY_NAMES.search(k) and not VARIABLE.search(v) for k, v in beside)
    if named or PASSWORD.search(m.base_url) or LITERAL_KEY.search(repr(m)):
        return "a key stands in it, or a password; write ${VARIABLE}, a variable of the environment"
    return ""


def as_model(name: str, fields: dict, where: str = "the entry") -> Model:
    """An entry's fields as a Model; BedsideError says where what is wrong."""
    try:
        if not re.fullmatch(r"\S{1,100}", name) or not name.isprintable():
            raise ValueError("its name must be one word of at most 100 characters")
        inner = isinstance(fields, dict) and [isinstance(v, dict) for v in fields.values()]
        if inner and all(inner):
            raise ValueError(f'a name with a dot must be quoted: ["{name}.{next(iter(fields))}"]')
        for field in fields if inner else ():
            choose(field, Model.__struct_fields__, "field")
        return outside.fitted(fields, Model)
    except (ValueError, BedsideError) as e:
        raise BedsideError(f"{where}: {e}") from None


# ---- which models there are


def entries() -> dict[str, Model]:
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
    except (ValueError, RecursionError) as e:  # not UTF-8, too
        raise BedsideError(f"{paths.rel(path)}: {e}") from None
    sound, faults = {}, {}
    for name, fields in every.items():
        try:
            sound[name] = as_model(name, fields, f"{paths.rel(path)}, [{name}]")
        except BedsideError as e:
            faults[name] = str(e)
    return sound | {name: as_model(name, fields) for name, fields in here.entries.items()}, faults


def names_of(given: str | dict | Sequence[str | dict]) -> str:
    """The names of models, as "a b"; a dict is an entry without a file, which becomes known.

    Its name is its `name`, else its `model`. BedsideError for a faulty entry, one that holds a key,
    and a name that data/models.toml has for another.
    """
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return " ".join(map(names_of, given))
    fields = {k: v for k, v in given.items() if k != "name"}
    name = re.sub(r"[\s,]+", "-", str(given.get("name") or given.get("model") or "").strip())
    made = as_model(name, fields, where := f"models, the entry {name!r}")
    if name not in here.entries and entries().get(name, made) != made:
        raise BedsideError(f"{where}: data/models.toml has another one of this name; rename yours")
    here.entries = here.entries | {name: fields}
    entries()[name] = made
    return name


def model(name: str) -> Model:
    """One entry; BedsideError as of `named`."""
    return entries()[named(name)]


def named(name: str, what: str = "model", *others: str) -> str:
    """`name` if it is a model's, or one of `others`.

    what: it is, as a BedsideError says that names what is wrong with its entry, or for an unknown
    name the nearest ones and how to add an entry.
    """
    for bad in (name, name.partition(".")[0]):  # a name with a dot that isn't quoted
        if bad in faulty() and name not in entries():
            raise BedsideError(faulty()[bad])
    try:
        return choose(name, [*entries(), *others], what)
    except BedsideError as e:
        raise BedsideError(
            f"{e}. To add it, write an entry at the end of data/models.toml, as docs/your_model.md"
            " shows"
        ) from None


def is_embedded(name: str) -> bool:
    """Whether a name is that of an embedded model, which costs nothing and is far too small."""
    return name in entries() and model(name).provider == "local"


# ---- before a call


def check_there(name: str) -> None:
    """Raise StopRun if a model is retired."""
    m = model(name)
    if m.retired:
        use = f"use {m.instead!r} instead" if m.instead else "choose another one"
        raise StopRun(f"model {name!r} was retired on {m.retired}; {use} (its recordings replay)")


def check_batch(name: str) -> None:
    """Raise StopRun if a model is retired, or request files can't hold what it is asked."""
    check_there(name)
    m = model(name)
    if m.api == "completions" or _variables(m.extra_body):
        raise StopRun(
            f"model {name!r} can't be asked in batches: it is asked by bare text, or its extra_body"
            " takes a value from the environment, which no file may hold; MODE=record calls it"
        )


def check_callable(name: str) -> None:
    """Raise StopRun if a model can't be called.

    It is retired, its key or a variable isn't set, or its replies would pass for another's.
    """
    check_there(name)
    _check_alone(name)
    m = model(name)
    if unset := [v for v in _from_environment(m) if not variable(v)]:
        what = "its key in " * (unset[0] == m.api_key_env)
        raise StopRun(f"model {name!r} needs {what}the environment variable {unset[0]}")


def _from_environment(m):
    """The names of the environment variables that an entry refers to."""
    own = [m.api_key_env] if m.api_key_env else []
    return own + _variables([m.base_url, m.headers, m.query, m.extra_body])


def _variables(value):
    return VARIABLE.findall(json.dumps(value))


def secrets(name: str) -> list[str]:
    """What no message about a model may show: its key, and what else the environment gives it."""
    return [*filter(None, map(variable, _from_environment(model(name))))]


def connection(name: str, url: str | None = None) -> dict:
    """What an `openai` client of a model is made with; url: another one than the entry's."""
    m = model(name)
    return {
        "base_url": expanded(url or m.base_url),
        "api_key": variable(m.api_key_env) or "none",  # for endpoints that want none
        "timeout": m.timeout_s,
        "default_query": expanded(m.query),
        "default_headers": expanded(m.headers),
    }


# ---- what is sent, and what of it makes a recording's key


def most(name: str, tokens: int, kind: str = "") -> int:
    """`tokens`, or fewer if a model's entry allows fewer for this kind of text.

    kind: a key of its `most_tokens_for`; what is not there is held to its `most_tokens`.
    """
    m = model(name)
    return min(tokens, m.most_tokens_for.get(kind, m.most_tokens or tokens))


def body(
    name: str, messages: list[dict], settings: dict, response_format: dict | None = None
) -> dict:
    """The JSON body of a call, as an entry wants it; ${VARIABLES} stand in it unexpanded.

    settings: what a notebook asks for; the entry's go over it, what it omits is left out, and
    max_tokens gets its own name and the room for reasoning.
    """
    m = model(name)
    if m.system:
        messages = _by_the_user(messages)
    made = {**settings, **m.settings}
    if response_format and m.response_format != "json_schema":
        messages = _asked_in_words(messages, response_format)
        response_format = {"type": "json_object"} if m.response_format == "json_object" else None
    if response_format:
        made["response_format"] = response_format
    if "max_tokens" in made:
        made[m.max_tokens_name] = made.pop("max_tokens") + m.reasoning_tokens
    made |= m.extra_body
    made = {k: v for k, v in made.items() if k not in m.omit}
    return {"model": m.model, "messages": messages, **made}


def _by_the_user(messages):
    """Messages without a system's: what it says stands before the first one of the user.

    It is a message of its own if the user's isn't the next, since many models want them in turn.
    """
    texts = [m["content"] for m in messages if m["role"] == "system"]
    rest = [m for m in messages if m["role"] != "system"]
    if texts and rest and rest[0]["role"] == "user":
        texts.append(rest.pop(0)["content"])
    return [{"role": "user", "content": "\n\n".join(texts)}, *rest] if texts else rest


def _asked_in_words(messages, response_format):
    """Messages whose last one asks for what a response format would."""
    schema = json.dumps(response_format["json_schema"]["schema"])
    words = f"Reply with one JSON object and nothing else. Its JSON schema: {schema}"
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}\n\n{words}"}]


def sent(name: str, body: dict) -> dict:
    """A call's body as it is sent: with the ${VARIABLES} of the entry's extra_body, and no others.

    Messages may say `${...}` too; they are never expanded. A bare prompt is what they say, with
    blank lines between them.
    """
    m = model(name)
    made = body | expanded({k: v for k, v in m.extra_body.items() if k in body})
    if m.api == "completions":
        made["prompt"] = "\n\n".join(part["content"] for part in made.pop("messages"))
    return made


def identity(name: str, body: dict) -> dict:
    """Everything of a call that can change its answer, as the recording's key sees it.

    body: of the call. What comes from the environment never counts.
    """
    m = model(name)
    beyond = {k: v for k, v in m.extra_body.items() if k in body}
    own = {k: v for k, v in body.items() if k not in beyond}
    fields = {"response_format": None, **own, **_literal(beyond)}
    for k in ("temperature", "top_p"):  # 0 and 0.0 are one setting
        if isinstance(fields.get(k), int):
            fields[k] = float(fields[k])
    if m.api != "chat":
        fields["api"] = m.api
    fields |= {k: v for k in ("headers", "query") if (v := _literal(getattr(m, k)))}
    if m.revision is not None:
        fields["revision"] = m.revision
    elif m.provider != "local":  # the weights there have a digest
        if urlsplit(m.base_url).hostname != OWN_HOSTS.get(m.provider):
            fields["endpoint"] = store.digest(m.base_url)[:16]
    return {"provider": m.provider, "weights": m.weights_sha256, **fields}


def expanded(value: Any) -> Any:
    """A value of an entry with ${VARIABLES} from the environment in its texts."""

    def filled(match):
        return json.dumps(variable(match[1]) or match[0])[1:-1]

    return json.loads(VARIABLE.sub(filled, json.dumps(value)))


def _literal(value):
    """A value of an entry without what comes from the environment, which may be a secret."""
    if isinstance(value, dict):
        return {k: _literal(v) for k, v in value.items() if not _is_variable(v)}
    return [_literal(v) for v in value if not _is_variable(v)] if isinstance(value, list) else value


def _is_variable(value):
    return isinstance(value, str) and bool(VARIABLE.search(value))


def _check_alone(name):
    """Raise StopRun if another address has the same key, behind which other weights may answer."""

    def key(name):
        question = [{"role": "user", "content": "Hello"}]
        return store.canonical(identity(name, body(name, question, {"max_tokens": 100})))

    alike = [n for n in entries() if model(n).model == model(name).model and key(n) == key(name)]
    if len({model(n).base_url.rstrip("/") for n in alike}) > 1:
        raise StopRun(
            f"the models {', '.join(map(repr, alike))} share recorded replies, but not the address;"
            " give one of them another revision in data/models.toml"
        )


# ---- what comes back, and what it costs


def spoken(name: str, text: str, cut: bool = False) -> str:
    """A reply's text without what the model thought before it spoke.

    A leading block between the tags <think> and </think>, or those of the entry; with tags of its
    own all up to the first closing one, since some endpoints open the block in the prompt. `cut`:
    whether the reply was cut at its limit, which may have been in a thought.
    """
    own = model(name).think
    if own == []:
        return text
    start, end = own or THINK
    _, closed, rest = text.partition(end)
    if text.lstrip().startswith(start) or (own and (closed or cut)):
        return rest.lstrip() if closed else ""
    return text


def cost(
    name: str, prompt: float | None, completion: float | None, *, batch: bool = False
) -> float | None:
    """Price in USD of a call; None where it isn't known, or where the tokens aren't.

    prompt, completion: tokens, those of caches and thoughts among them. batch: of a line in a
    batch. An entry has the price of the dearest tier, so this is what a call costs at most.
    """
    m = model(name)
    if m.usd_per_million_in is None or prompt is None or completion is None:
        return 0.0 if m.provider == "local" else None
    usd = prompt * m.usd_per_million_in + completion * m.usd_per_million_out
    return usd * (1 - m.batch_discount * batch) / 1e6


def total(usd: Iterable[float | None]) -> float | None:
    """The sum of prices in USD; None if one isn't known."""
    usd = list(usd)
    return None if None in usd else sum(usd)
