"""One strict endpoint that behaves as model providers document that theirs do: `providers.toml`.

    with Providers() as providers:
        entry["base_url"] = providers.at("anthropic")

The path of a request names one of PERSONAS. It refuses what its provider refuses; else it answers
what was asked: prose, a list, a turn of a dialogue, JSON; another text for each question, the same
whenever it is asked.
"""

import json
import threading
import tomllib
from pathlib import Path
from typing import NamedTuple

import endpoints
from bedside.asking import store
from provider_words import cut, rng_of, said, tokens

KEY = "key-of-these-tests-0123456789abcdef"
ALWAYS = "model messages temperature top_p stop n stream response_format max_tokens user".split()
EFFORTS = {"none": 0, "minimal": 0.1, "low": 0.3, "medium": 1, "high": 3, "xhigh": 9, "max": 9}
# what would count if thoughts were read as an answer
THOUGHT = "Score: 1\nAnswer: A\n- thought effect\n" + "hmm " * 20_000
USUAL = {
    "names": ".+",
    "unknown": [400, "Unknown parameter: '{name}'."],
    "refuses": {},
    "forms": ["json_schema", "json_object"],
    "error": '{"error": {"message": %s, "type": "invalid_request_error", "param": null}}',
    "roles": ["system", "user", "assistant"],
    "thought": "plain",
}
READ = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def persona(fields):
    return {**(persona(READ[fields["like"]]) if "like" in fields else USUAL), **fields}


PERSONAS = {name: persona(fields) for name, fields in READ.items()}


def refusal(p, key, body):
    """(status, words) with which a persona refuses a request, or None."""
    if p.get("key", True) and key != KEY:
        return 401, "Incorrect API key provided"
    for name, value in body.items():
        if "takes" in p and name not in [*ALWAYS, *p["takes"].split()]:
            return p["unknown"][0], p["unknown"][1].format(name=name)
        only, words = p["refuses"].get(name, (value, ""))
        if value != only:
            return 400, words.format(value=json.dumps(value))
    roles = [m["role"] for m in body["messages"]]
    if "system" not in p["roles"] and "system" in roles:
        return 400, "System role not supported"
    if "system" not in p["roles"] and roles[::2] + roles[1::2] != sorted(roles)[::-1]:
        return 400, "Conversation roles must alternate user/assistant/user/assistant/..."
    texts = [m["content"] for m in body["messages"] if m.keys() == {"role", "content"}]
    limits = [v for n, v in body.items() if n in ("max_tokens", "max_completion_tokens")]
    form = body.get("response_format", {})
    wrong = {
        "Text content must not be empty": len(texts) < len(roles) or not all(map(str.strip, texts)),
        "The last message must be the user's": roles[-1] != "user",
        "Give one limit of tokens": len(limits) > 1 or any(type(v) is not int for v in limits),
        "This response_format type is unavailable now": form.get("type", "")
        not in ["", *p["forms"]],
        "'messages' must contain the word 'json' to use json_object": (
            p.get("wants_json")
            and form.get("type") == "json_object"
            and "json" not in str(texts).lower()
        ),
        "Invalid schema for response_format": (
            "json_schema" in form and not strict(p, form["json_schema"]["schema"])
        ),
    }
    return next(((400, words) for words, true in wrong.items() if true), None)


def strict(p, schema):
    """Whether structured output takes a schema: closed objects with all members required."""
    inner = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
    whole = set(schema.get("required", ())) == set(schema.get("properties", ()))
    fits = schema.get("type") != "object" or (whole and schema.get("additionalProperties") is False)
    sized = {"minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength"} & set(schema)
    return fits and (p.get("sizes", True) or not sized) and all(strict(p, s) for s in inner)


def message(how, text, thought):
    """How a message holds a text and the thoughts before it; a text may be empty: cut off."""
    tagged = f"<think>\n{thought}" + f"\n</think>\n\n{text}" * bool(text) if thought else text
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": thought}]}]
    parts += [{"type": "text", "text": text}] if text else []
    return {
        "plain": {"content": text},
        "apart": {"content": text, "reasoning_content": thought},
        "absent": {"content": text} if text else {},
        "tagged": {"content": tagged},
        "closed": {"content": tagged.removeprefix("<think>\n")},
        "parts": {"content": parts if thought else text},
    }[how]


def completion(p, body):
    """(chat completion, its text) of a persona for a request that it takes."""
    text, is_json = said(body)
    held = is_json and "response_format" in body
    if p.get("fenced") and is_json and not held:
        text = f"```json\n{text}\n```"
    rng, (name, values) = rng_of("thought", body["messages"]), p.get("thinks_if", ("", [None]))
    wanted = p.get("thinks", 0) * rng.uniform(0.5, 1.5)
    wanted = int(wanted * EFFORTS[body.get("reasoning_effort", "medium")])
    off = body.get("thinking", {}).get("type") == "disabled" or body.get(name) not in values
    if off or (held and p["thought"] in ("tagged", "closed")):
        wanted = 0  # a grammar that holds from the first token leaves no thoughts
    limit = body.get("max_completion_tokens", body.get("max_tokens", 4096))
    spent = min(wanted, limit)
    shown = cut(text, limit - spent)
    prompt = sum(tokens(m["content"]) + 3 for m in body["messages"])
    usage = {"prompt_tokens": prompt, "total_tokens": prompt + tokens(shown) + spent}
    usage["completion_tokens"] = tokens(shown) + spent * p.get("counted", True)
    if p.get("thinks") and p.get("counted", True):
        usage["completion_tokens_details"] = {"reasoning_tokens": spent}
    finish = "stop" if shown == text and spent == wanted else "length"
    choice = {"index": 0, "finish_reason": finish}
    choice["message"] = {"role": "assistant", **message(p["thought"], shown, cut(THOUGHT, spent))}
    made = {"id": "x", "object": "chat.completion", "created": 1, "model": body["model"]}
    made |= {**p.get("more", {}), **({"usage": usage} if p.get("usage", True) else {})}
    return {**made, "choices": [choice]}, shown


class Exchange(NamedTuple):
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
    """The endpoint; `log` holds each Exchange."""

    def __init__(self):
        super().__init__()
        self.RequestHandlerClass, self.script = _Handler, self._answer
        self.log, self.request = [], threading.local()

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
        p = PERSONAS.get(name, {})
        bare = route == "v1/completions" and p.get("bare")
        if not p or not (bare or route == "v1/chat/completions"):
            return 404, {}, {"error": {"message": f"no such route: {self.request.path}"}}
        if bare:
            body = {**body, "messages": [{"role": "user", "content": body["prompt"]}]}
        key = self.request.headers.get("Authorization", "").removeprefix("Bearer ")
        kind, text = "", ""
        if error := refusal(p, key, body):
            kind, content = str(error[0]), p["error"] % json.dumps(error[1])
        else:
            made, text = completion(p, body)
            for choice in made["choices"] if bare else ():
                choice["text"] = choice.pop("message")["content"]
            content = p.get("lines", "") + json.dumps(made)
        with self.lock:
            self.log.append(Exchange(name, body, kind, text))
        return int(kind or 200), {}, content.encode()


class _Handler(endpoints._Handler):
    def do_POST(self):
        self.server.request.path, self.server.request.headers = self.path, self.headers
        super().do_POST()
