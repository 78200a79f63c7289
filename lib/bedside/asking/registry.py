"""Entries of data/models.toml: endpoints, what each takes and refuses, and what it costs.

    registry.model("mine").base_url                    # an entry, with the fields of `Model`
    registry.model("mine").body(messages, settings)    # what is sent for a request
    registry.cost("mine", 1200, 60)                    # USD of a call

An entry is checked when it is read. It decides what is sent, what of that belongs to a recording's
key (`identity`), and how a reply's text is read (`spoken`). A value ${VARIABLE} in base_url,
headers, query or extra_body comes from the environment, and never gets into a key or a file.
"""

import datetime
import functools
import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from bedside import BedsideError, choose
from bedside.read import outside, paths
from bedside.read.surroundings import variable

from . import store


class StopRun(BedsideError):
    """Going on would be pointless or too expensive: a key that is refused, or a budget used up."""


FORMS = ("json_schema", "json_object", "none")
ROUTES = {"chat": "/chat/completions", "completions": "/completions"}  # by `api` of an entry
THINK = ["<think>", "</think>"]
OURS = {"model", "messages", "prompt", "stream", "n"}  # of a call's body
VARIABLE = re.compile(r"\$\{(\w+)\}")
ADDRESS = re.compile(r"https?://(\[[\da-f:.]*:[\da-f:.]*\])?[^\s\[\]]*")
PASSWORD = re.compile(r"//[^/@]*:(?!\$\{)[^/@]+@")
# what a provider's key looks like, and how headers and parts of a query that hold one are named
LITERAL_KEY = re.compile(r"\b(sk|pk|gsk|xai|hf|AIza|Bearer)[-_ ][\w-]{8,}|\bAIza[\w-]{20,}")
KEY_NAMES = re.compile(
    r"(?i:key|token|secret|password|credentials?|cookie|auth|authorization)(?![a-z])"
)
# what providers call things
PROVIDERS = paths.toml(Path(__file__).with_name("providers.toml"))

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
    api_key_env: Annotated[str, Meta(pattern=r"^([A-Za-z_]\w*)?\Z")] = ""
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
        """What types can't say; a key that stands in an entry is never repeated."""
        tables = {"settings": self.settings, "extra_body": self.extra_body}
        for name, table in tables.items():
            try:
                store.canonical(table)
            except (TypeError, ValueError) as e:  # a date, nan
                raise ValueError(f"{name} can't be sent: {e}") from None
        touched = {*self.settings, *self.extra_body, *self.omit, self.max_tokens_name}
        replaced = OURS & touched or {"system"} & {*self.omit}
        bare = self.api == "completions" and (self.response_format != "none" or self.system)
        prices = self.usd_per_million_in, self.usd_per_million_out
        sound = ADDRESS.fullmatch(self.base_url) or VARIABLE.search(self.base_url)
        beside = {**self.headers, **self.query}.items()
        named = any(KEY_NAMES.search(k) and not VARIABLE.search(v) for k, v in beside)
        faults = {
            "max_tokens, in settings or extra_body, should be a whole number": any(
                type(table.get("max_tokens", 1)) is not int for table in tables.values()
            ),
            f"settings, extra_body, omit and max_tokens_name must not change {[*replaced]}, which"
            ' notebooks set (for a model without system messages, use system = "user")': replaced,
            'api = "completions", bare text, needs response_format = "none" and no system': bare,
            "think is an opening and a closing tag, or empty": len(self.think or ()) == 1,
            "give both usd_per_million_in and usd_per_million_out, or neither": (
                (prices[0] is None) != (prices[1] is None)
            ),
            "base_url should be an address, such as https://api.example.org/v1": (
                not sound and self.provider != "local"
            ),
            'provider "local" is for the embedded models; choose another name': (
                self.provider == "local" and bool(self.base_url)
            ),
            "it contains a key or a password; write ${VARIABLE} and set it in the environment": (
                named or PASSWORD.search(self.base_url) or LITERAL_KEY.search(repr(self))
            ),
        }
        for text, wrong in faults.items():
            if wrong:
                raise ValueError(text)

    # ---- what is sent, and what of it makes a recording's key

    def body(
        self, messages: list[dict], settings: dict, response_format: dict | None = None
    ) -> dict:
        """The JSON body of a call, as an entry wants it; ${VARIABLES} stand in it unexpanded.

        settings: what a notebook asks for; the entry's go over it, what it omits is left out, and
        max_tokens gets its own name and the room for reasoning.
        """
        if self.system:
            messages = _by_the_user(messages)
        sent = {**settings, **self.settings}
        if response_format and self.response_format != "json_schema":
            schema = json.dumps(response_format["json_schema"]["schema"])
            words = f"Reply with one JSON object and nothing else. Its JSON schema: {schema}"
            *before, last = messages
            messages = [*before, {**last, "content": f"{last['content']}\n\n{words}"}]
            response_format = {"type": "json_object"}
        if response_format and self.response_format != "none":
            sent["response_format"] = response_format
        if "max_tokens" in sent:
            sent[self.max_tokens_name] = sent.pop("max_tokens") + self.reasoning_tokens
        sent |= self.extra_body
        sent = {k: v for k, v in sent.items() if k not in self.omit}
        return {"model": self.model, "messages": messages, **sent}

    def filled(self, body: dict) -> dict:
        """A call's body as it is sent: with the ${VARIABLES} of extra_body, and no others.

        Messages may say `${...}` too; they are never filled in. A bare prompt is what they say,
        with blank lines between them.
        """
        body = body | expanded({k: v for k, v in self.extra_body.items() if k in body})
        if self.api == "completions":
            body["prompt"] = "\n\n".join(part["content"] for part in body.pop("messages"))
        return body

    def identity(self, body: dict) -> dict:
        """Everything of a call that can change its answer, as the recording's key sees it.

        What comes from the environment never counts.
        """
        beyond = {k: v for k, v in self.extra_body.items() if k in body}
        fields = {"response_format": None, **{k: v for k, v in body.items() if k not in beyond}}
        fields |= _literal(beyond)
        for k in ("temperature", "top_p"):  # 0 and 0.0 are one setting
            if isinstance(fields.get(k), int):
                fields[k] = float(fields[k])
        if self.api != "chat":
            fields["api"] = self.api
        fields |= {k: v for k in ("headers", "query") if (v := _literal(getattr(self, k)))}
        if self.revision is not None:
            fields["revision"] = self.revision
        elif self.provider != "local":  # the weights there have a digest
            if urlsplit(self.base_url).hostname != PROVIDERS["hosts"].get(self.provider):
                fields["endpoint"] = store.digest(self.base_url)[:16]
        return {"provider": self.provider, "weights": self.weights_sha256, **fields}

    # ---- what comes back

    def spoken(self, text: str, cut: bool = False) -> str:
        """A reply's text without what the model thought before it spoke.

        A leading block between the tags <think> and </think>, or those of the entry; with tags of
        its own all up to the first closing one, since some endpoints open the block in the prompt.
        `cut`: whether the reply was cut at its limit, which may have been in a thought.
        """
        if self.think == []:
            return text
        start, end = self.think or THINK
        _, closed, rest = text.partition(end)
        if text.lstrip().startswith(start) or (self.think and (closed or cut)):
            return rest.lstrip() if closed else ""
        return text

    # ---- before a call

    @property
    def variables(self) -> list[str]:
        """The names of the environment variables that an entry refers to, its key's first."""
        places = [self.base_url, self.headers, self.query, self.extra_body]
        return [*filter(None, [self.api_key_env]), *VARIABLE.findall(json.dumps(places))]

    @property
    def secrets(self) -> list[str]:
        """What no message about a model may show: its key, and what else the environment gives."""
        return [*filter(None, map(variable, self.variables))]


def _by_the_user(messages):
    """Messages without a system's: what it says stands before the first one of the user.

    It is a message of its own if the user's isn't the next, since many models want them in turn.
    """
    texts = [m["content"] for m in messages if m["role"] == "system"]
    rest = [m for m in messages if m["role"] != "system"]
    if texts and rest and rest[0]["role"] == "user":
        texts.append(rest.pop(0)["content"])
    return [{"role": "user", "content": "\n\n".join(texts)}, *rest] if texts else rest


def expanded(value: Any) -> Any:
    """A value of an entry with ${VARIABLES} from the environment in its texts."""

    def filled(match):
        return json.dumps(variable(match[1]) or match[0])[1:-1]

    return json.loads(VARIABLE.sub(filled, json.dumps(value)))


def _literal(value):
    """A value of an entry without what comes from the environment, which may be a secret."""

    def secret(part):
        return isinstance(part, str) and VARIABLE.search(part)

    if isinstance(value, dict):
        return {k: _literal(v) for k, v in value.items() if not secret(v)}
    return [_literal(v) for v in value if not secret(v)] if isinstance(value, list) else value


# ---- which models there are


def entries() -> dict[str, Model]:
    """The models of data/models.toml that are as they should be, {name: entry}."""
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
    models, faults = {}, {}
    for name, fields in every.items():
        try:
            models[name] = as_model(name, fields)
        except (ValueError, TypeError, BedsideError) as e:
            faults[name] = f"{paths.rel(path)}, [{name}]: {e}"
    return models, faults


def as_model(name: str, fields: dict) -> Model:
    """An entry's fields as a Model; an error says what is wrong with them."""
    if not re.fullmatch(r"\S{1,100}", name) or not name.isprintable():
        raise ValueError("its name must be one word of at most 100 characters")
    for field in fields if isinstance(fields, dict) else ():
        dot = " (a name with a dot must be quoted)" * isinstance(fields[field], dict)
        choose(field, Model.__struct_fields__, f"field{dot}")
    return outside.fitted(fields, Model)


def model(name: str) -> Model:
    """One entry; BedsideError as of `named`."""
    return entries()[named(name)]


def named(name: str, what: str = "model", *others: str) -> str:
    """`name` if it is a model's, or one of `others`.

    what: it is, as a BedsideError says that names what is wrong with its entry, or for an unknown
    name the nearest ones and how to add an entry.
    """
    if name not in entries():
        for bad in (name, name.partition(".")[0]):  # a name with a dot that isn't quoted
            if bad in faulty():
                raise BedsideError(faulty()[bad])
    try:
        return choose(name, [*entries(), *others], what)
    except BedsideError as e:
        add = (
            "To add it, write an entry at the end of data/models.toml, as docs/your_model.md shows"
        )
        raise BedsideError(f"{e}. {add}") from None


def is_embedded(name: str) -> bool:
    """Whether a name is that of an embedded model, which costs nothing and is far too small."""
    return name in entries() and model(name).provider == "local"


def check_there(name: str) -> Model:
    """A model's entry; StopRun if it is retired."""
    if (m := model(name)).retired:
        use = f"use {m.instead!r} instead" if m.instead else "choose another one"
        raise StopRun(f"model {name!r} was retired on {m.retired}; {use} (its recordings replay)")
    return m


def check_callable(name: str) -> None:
    """Raise StopRun if a model is retired, or its key or another variable isn't set."""
    m = check_there(name)
    if unset := [v for v in m.variables if not variable(v)]:
        what = "its key in " * (unset[0] == m.api_key_env)
        raise StopRun(f"model {name!r} needs {what}the environment variable {unset[0]}")


def most(name: str, tokens: int, kind: str = "") -> int:
    """`tokens`, or fewer if a model's entry allows fewer for this kind of text.

    kind: a key of its `most_tokens_for`; what is not there is held to its `most_tokens`.
    """
    m = model(name)
    return min(tokens, m.most_tokens_for.get(kind, m.most_tokens or tokens))


# ---- what a call costs


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
