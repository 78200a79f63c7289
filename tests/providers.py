"""One strict endpoint that behaves as model providers document that theirs do.

    with Providers() as providers:
        entry["base_url"] = providers.at("anthropic")

The path of a request names one of PERSONAS. It refuses what its provider refuses, in the provider's
form; else it answers what was asked: prose, a list, a turn of a dialogue, JSON; another text for
each question, the same whenever it is asked.
"""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import endpoints
from bedside.asking import store
from provider_words import (
    THOUGHT,
    absent,
    anthropic,
    apart,
    closed,
    cut,
    google,
    mistral,
    openai,
    openrouter,
    parts,
    plain,
    rng_of,
    said,
    tagged,
    tokens,
    vllm,
)

# ---- personas


ALWAYS = {"model", "messages", "temperature", "top_p", "stop", "n", "stream", "response_format"}
ALWAYS |= {"max_tokens", "user"}
OPENAI = ALWAYS | {"max_completion_tokens", "seed", "presence_penalty", "frequency_penalty"}
OPENAI |= {"logit_bias", "logprobs", "top_logprobs", "store", "metadata"}
EFFORTS = {"none": 0, "minimal": 0.1, "low": 0.3, "medium": 1, "high": 3, "xhigh": 9, "max": 9}
REFUSED = "Unsupported parameter: '{0}' is not supported with this model."
ONLY_1 = "Unsupported value: '{0}' does not support {1} with this model, only the default (1)."
CREDITS = 402, None, "Insufficient credits: add more, or ask for fewer tokens."
FORBIDDEN = 422, None, "Extra inputs are not permitted"
INVALID = "invalid_request_error"


@dataclass(frozen=True)
class Persona:
    """What a provider takes, refuses and answers. Errors: (status, code, words)."""

    names: str = ".+"  # of the models that it serves
    takes: set | None = None  # the members of a request; None: ignores what it doesn't know
    unknown: tuple = (400, "unknown_parameter", "Unknown parameter: '{0}'.")
    refuses: dict = field(default_factory=dict)  # {member: (the only value it takes, code, words)}
    forms: tuple = ("json_schema", "json_object")
    sizes: bool = True  # whether a schema may hold minItems and the like
    wants_json: bool = False  # whether json_object wants the word in a message
    key: tuple | None = (401, "invalid_api_key", "Incorrect API key provided: {0}.")
    missing: tuple = (404, "model_not_found", "The model `{0}` does not exist, or isn't yours.")
    broke: tuple = (429, "insufficient_quota", "You used up your quota, check your billing.")
    flags: tuple = ()  # its error for a question with the words FLAGGED
    words: Callable = openai
    message: Callable = plain
    thinks: int = 0  # tokens before an answer, with medium effort
    thinking: Callable = lambda body: True
    counted: bool = True  # thoughts are among the completion's tokens, else in the total alone
    fenced: bool = False  # JSON that only the prompt asks for comes in ```
    usage: bool = True
    lines: bytes = b""  # sent while one waits
    more: dict = field(default_factory=dict)  # what else stands in an answer
    bare: bool = False  # whether it completes bare prompts too
    roles: tuple = ("system", "user", "assistant")  # of messages


PERSONAS = {
    "openai": Persona(
        names="gpt-[34]|chatgpt",
        takes=OPENAI,
        wants_json=True,
        more={"system_fingerprint": "fp_0123456789"},
    ),
    "openai-reasoning": Persona(
        names=r"gpt-[5-9]|o\d",
        takes=OPENAI | {"reasoning_effort", "verbosity", "service_tier"},
        refuses={
            "max_tokens": (None, "unsupported_parameter", f"{REFUSED} Use 'max_completion_tokens'.")
        }
        | dict.fromkeys(("temperature", "top_p"), (1, "unsupported_value", ONLY_1))
        | dict.fromkeys(
            ("presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "stop"),
            (None, "unsupported_parameter", REFUSED),
        ),
        wants_json=True,
        thinks=700,
        more={"system_fingerprint": None, "service_tier": "default"},
    ),
    "anthropic": Persona(
        names=r"claude-(\w+-[5-9]|opus-4-[789])",
        refuses=dict.fromkeys(
            ("temperature", "top_p", "top_k"),
            (None, INVALID, "`{0}` is deprecated for this model."),
        ),
        forms=("json_schema",),
        sizes=False,
        key=(401, "authentication_error", "invalid x-api-key"),
        missing=(404, "not_found_error", "model: {0}"),
        broke=(400, INVALID, "Your credit balance is too low to use the API."),
        words=anthropic,
        thinks=300,
        fenced=True,
    ),
    "google": Persona(
        names="gemini-",
        takes=ALWAYS | {"max_completion_tokens", "reasoning_effort", "extra_body"},
        unknown=(400, "INVALID_ARGUMENT", 'Invalid JSON payload. Unknown name "{0}": no field.'),
        key=(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid one."),
        missing=(404, "NOT_FOUND", "models/{0} is not found for API version v1main."),
        broke=(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, check your billing."),
        words=google,
        message=absent,
        thinks=500,
        counted=False,
    ),
    "deepseek": Persona(
        names="deepseek-",
        forms=("json_object",),
        wants_json=True,
        key=(401, INVALID, "Authentication fails, your api key {0} is invalid"),
        missing=(400, INVALID, "Model Not Exist"),
        broke=(402, INVALID, "Insufficient Balance"),
        message=apart,
        thinks=900,
        thinking=lambda body: body.get("thinking", {}).get("type") != "disabled",
        lines=b"\n\n",
        more={"system_fingerprint": "fp_0123456789_prod"},
    ),
    "mistral": Persona(
        names=r"(open-)?mi[ns]\w+-|magistral-",
        takes=ALWAYS - {"user"}
        | {"random_seed", "safe_prompt", "presence_penalty", "frequency_penalty"}
        | {"reasoning_effort", "prompt_mode", "prediction", "metadata"},
        unknown=FORBIDDEN,
        missing=(400, "1500", "Invalid model: {0}"),
        broke=(402, "3900", "Payment required: no active subscription."),
        words=mistral,
        message=parts,
        thinks=400,
        thinking=lambda body: body.get("reasoning_effort", "none") != "none",
    ),
    "qwen": Persona(
        names="qwen|qwq",
        takes=OPENAI | {"enable_thinking", "thinking_budget", "top_k", "enable_search"},
        wants_json=True,
        refuses={
            "enable_thinking": (False, INVALID, "{0} must be false for calls without streaming")
        },
        broke=(400, "Arrearage", "Access denied: is your account in good standing?"),
        flags=(400, "data_inspection_failed", "The input may hold unsuitable content."),
        message=apart,
    ),
    "together": Persona(
        names=r"[\w.-]+/[\w.-]+",
        takes=OPENAI | {"top_k", "min_p", "repetition_penalty", "reasoning", "reasoning_effort"},
        missing=(404, "model_not_available", "Unable to access model {0}."),
        broke=CREDITS,
        more={"prompt": []},
    ),
    "openrouter": Persona(
        names=r"[\w.-]+/[\w.:-]+",
        key=(401, None, "No auth credentials found"),
        missing=(400, None, "{0} is not a valid model ID"),
        broke=CREDITS,
        flags=(403, "self-harm", "This model requires moderation: your input was flagged."),
        words=openrouter,
        lines=b"\n",
        more={"provider": "A Host"},
    ),
    "vllm": Persona(
        key=None,
        missing=(404, "NotFoundError", "The model `{0}` does not exist."),
        words=vllm,
        bare=True,
    ),
    "ollama": Persona(
        key=None,
        missing=(404, None, "model '{0}' not found"),
        usage=False,
        more={"system_fingerprint": "fp_ollama"},
    ),
}
PERSONAS |= {
    "azure": replace(
        PERSONAS["openai-reasoning"],
        names=".+",  # of deployments
        key=(401, "401", "Access denied: wrong subscription key or endpoint."),
        missing=(404, "DeploymentNotFound", "The deployment {0} does not exist."),
        flags=(400, "content_filter", "The prompt triggered the content management policy."),
    ),
    # older ones take a temperature, and think when they are told to
    "anthropic-4": replace(PERSONAS["anthropic"], names="claude-", refuses={}, thinks=0),
    "vllm-thinking": replace(PERSONAS["vllm"], message=tagged, thinks=300, fenced=True),
    "vllm-opened": replace(PERSONAS["vllm"], message=closed, thinks=300, fenced=True),
    # a template that knows the user and the model alone, in turn
    "vllm-gemma": replace(PERSONAS["vllm"], roles=("user", "assistant")),
}
KEY = "key-of-these-tests-0123456789abcdef"
FLAGGED = "please flag this"
WINDOW = 128_000  # tokens that a model can hold


def refusal(p, key, body):
    """The error (status, code, words, param) with which a persona refuses a request, or None."""
    if p.key and key != KEY:
        return _filled(p.key, f"{key[:4]}****{key[-4:]}")
    if not (body.get("model") and body.get("messages")):
        return 400, INVALID, "You must provide model and messages.", "messages"
    if not re.match(f"({p.names})", body["model"]):
        return _filled(p.missing, body["model"])
    for name, value in body.items():
        if p.takes is not None and name not in p.takes:
            return _filled(p.unknown, name, param=name)
        only, *error = p.refuses.get(name, (value,))
        if value != only or (error and only is None):
            return _filled((400, *error), name, json.dumps(value), param=name)
    if p.flags and FLAGGED in str(body["messages"]):
        return (*p.flags, None)
    wrong = _wrong(p, body)
    return wrong and (400, INVALID, *wrong)


def _filled(error, *values, param=None):
    status, code, words = error
    return status, code, words.format(*values), param


def _wrong(p, body):
    """(words, param) of a value that doesn't fit."""
    if any(m["role"] == "system" for m in body["messages"]) and "system" not in p.roles:
        return "System role not supported", None
    said = [m["role"] for m in body["messages"]]
    if "system" not in p.roles and said != [p.roles[k % 2] for k in range(len(said))]:
        return "Conversation roles must alternate user/assistant/user/assistant/...", None
    for m in body["messages"]:
        if m.keys() != {"role", "content"} or m["role"] not in ("system", "user", "assistant"):
            return "A message has a role and content.", "messages"
        if not isinstance(m["content"], str) or not m["content"].strip():
            return "Text content must not be empty.", "messages"
    if body["messages"][-1]["role"] != "user":
        return "The last message must be the user's.", "messages"
    limits = {n: v for n, v in body.items() if n in ("max_tokens", "max_completion_tokens")}
    if len(limits) > 1 or any(type(v) is not int or v < 1 for v in limits.values()):
        return "Give one limit of tokens, a positive integer.", "max_tokens"
    text = "\n".join(m["content"] for m in body["messages"])
    if tokens(text) + sum(limits.values()) > WINDOW:
        return f"This model's maximum context length is {WINDOW} tokens.", "messages"
    if not 0 <= body.get("temperature", 1) <= 2:
        return "temperature must lie between 0 and 2.", "temperature"
    if body.get("reasoning_effort", "low") not in EFFORTS:
        return "No such effort.", "reasoning_effort"
    return _wrong_form(p, body["response_format"], text) if "response_format" in body else None


def _wrong_form(p, form, text):
    """The same of a response format."""
    if form.get("type") not in p.forms:
        return "This response_format type is unavailable now", "response_format"
    if form["type"] == "json_object":
        if p.wants_json and "json" not in text.lower():
            return "'messages' must contain the word 'json' to use json_object.", "messages"
        return None
    asked = form["json_schema"]
    if not (asked.get("strict") and re.fullmatch(r"[\w-]{1,64}", asked.get("name", ""))):
        return "json_schema needs a name, and strict.", "response_format"
    if not _strict(p, asked["schema"]):
        return "Invalid schema for response_format.", "response_format"
    return None


def _strict(p, schema):
    """Whether structured output takes a schema: closed objects with all members required."""
    inner = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    shut = schema.get("additionalProperties") is False
    whole = set(schema.get("required", ())) == set(schema.get("properties", ()))
    sized = {"minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength"} & set(schema)
    fits = (shut and whole) or schema.get("type") != "object"
    return fits and (p.sizes or not sized) and all(_strict(p, s) for s in inner)


def completion(p, body):
    """(chat completion, its text) of a persona for a request that it takes."""
    text, is_json = said(body)
    held = is_json and "response_format" in body
    if p.fenced and is_json and not held:
        text = f"```json\n{text}\n```"
    rng = rng_of("thought", body["messages"])
    wanted = int(p.thinks * rng.uniform(0.5, 1.5) * EFFORTS[body.get("reasoning_effort", "medium")])
    if not p.thinking(body) or (held and p.message in (tagged, closed)):
        wanted = 0  # a grammar that holds from the first token leaves no thoughts
    limit = body.get("max_completion_tokens", body.get("max_tokens", 4096))
    spent = min(wanted, limit)
    shown = cut(text, limit - spent)
    message = {"role": "assistant", **p.message(shown, cut(THOUGHT, spent))}
    finish = "stop" if shown == text and spent == wanted else "length"
    prompt = sum(tokens(m["content"]) + 3 for m in body["messages"])
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": tokens(shown) + spent * p.counted,
        "total_tokens": prompt + tokens(shown) + spent,
    }
    if p.thinks and p.counted:
        usage["completion_tokens_details"] = {"reasoning_tokens": spent}
    made = {"id": f"x{rng.getrandbits(32):08x}", "object": "chat.completion", "created": 1}
    made |= {"model": body["model"], **p.more, **({"usage": usage} if p.usage else {})}
    return {**made, "choices": [{"index": 0, "finish_reason": finish, "message": message}]}, shown


def without_template(made):
    """A chat completion as the completion of a bare prompt."""
    choices = [
        {**{k: v for k, v in c.items() if k != "message"}, "text": c["message"]["content"]}
        for c in made["choices"]
    ]
    return {**made, "object": "text_completion", "choices": choices}


@dataclass(frozen=True)
class Exchange:
    """What was asked; the status of a refusal, or '' for an answer; its text without thoughts."""

    persona: str
    body: dict
    kind: str
    text: str

    @property
    def messages(self):
        """The digest of the messages, as recordings hold it."""
        return store.digest(self.body["messages"])[:16]


class Providers(endpoints.Endpoint):
    """The endpoint; `log` holds each Exchange. failing(body): of FAILING, what is sent, or None."""

    FAILING = {404: lambda p: p.missing, "quota": lambda p: p.broke}

    def __init__(self):
        super().__init__()
        self.RequestHandlerClass, self.script = _Handler, self._answer
        self.failing, self.log, self.request = (lambda body: None), [], threading.local()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release.set()
        self.shutdown()
        self.server_close()

    def at(self, persona):
        """The base URL under which a persona answers."""
        assert persona in PERSONAS
        return f"{self.url.removesuffix('v1')}{persona}/v1"

    def _answer(self, n, body):
        name, _, route = self.request.path.strip("/").partition("?")[0].partition("/")
        bare = route == "v1/completions" and name in PERSONAS and PERSONAS[name].bare
        if name not in PERSONAS or not (bare or route == "v1/chat/completions"):
            return 404, {}, {"error": {"message": f"no such route: {self.request.path}"}}
        if bare:
            body = {**body, "messages": [{"role": "user", "content": body["prompt"]}]}
        p = PERSONAS[name]
        key = self.request.headers.get("Authorization", "").removeprefix("Bearer ")
        failing = self.failing(body)
        error = failing and _filled(self.FAILING[failing](p), body["model"])
        if error := error or refusal(p, key, body):
            kind, text, action = str(error[0]), "", (error[0], {}, p.words(*error))
        else:
            kind, (made, text) = "", completion(p, body)
            made = without_template(made) if bare else made
            action = 200, {}, p.lines + json.dumps(made).encode()
        with self.lock:
            self.log.append(Exchange(name, body, kind, text))
        return action


class _Handler(endpoints._Handler):
    def do_POST(self):
        self.server.request.path, self.server.request.headers = self.path, self.headers
        super().do_POST()
