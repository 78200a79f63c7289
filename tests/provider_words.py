"""What models answer to any request, the same whenever it is asked; what providers refuse with."""

import itertools
import json
import random
import re
from pathlib import Path

from bedside.asking import store


def rng_of(*parts):
    return random.Random(store.digest(parts))


def sentence(rng):
    who = rng.choice(["My doctor", "A nurse", "The clinic", "Most people", "Your team"])
    does = rng.choice(["can explain", "often mentions", "should check", "may measure"])
    what = rng.choice(["the dose", "a slow recovery", "the scan", "what you take"])
    when = rng.choice(["before treatment", "at each visit", "within a week", "when it hurts"])
    return f"{who} {does} {what} {when} (note {rng.getrandbits(32):08x})."


def fitting(schema, rng):
    """A value that a JSON schema allows."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if schema["type"] == "object":
        return {name: fitting(s, rng) for name, s in schema["properties"].items()}
    if schema["type"] == "array":
        least = schema.get("minItems", 0)
        count = rng.randint(least, min(schema.get("maxItems", least + 2), least + 2))
        return [fitting(schema["items"], rng) for _ in range(count)]
    return sentence(rng) if schema["type"] == "string" else rng.randint(1, 3)


def objects(text):
    """The JSON objects in a text, in order."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            found, at = decoder.raw_decode(text, at)
            yield found
        except ValueError:
            at += 1


def json_asked(body, text, rng):
    """The JSON that the response format or else the prompt asks for; None where neither does."""
    form = body.get("response_format", {})
    if "json_schema" in form:
        return json.dumps(fitting(form["json_schema"]["schema"], rng))
    if "JSON" not in text:
        return "{}" if form else None
    if schemas := [o for o in objects(text) if "properties" in o]:
        return json.dumps(fitting(schemas[-1], rng))
    shown = list(objects(text[text.rindex("JSON") :]))
    return json.dumps(rng.choice(shown) if shown else {}).replace("...", sentence(rng))


def said(body):
    """What a model answers: (text, whether it is JSON)."""
    messages = body["messages"]
    rng = rng_of(body["model"], messages, body.get("seed"))
    told, last = messages[0]["content"], messages[-1]["content"]
    if text := json_asked(body, f"{told}\n\n{last}", rng):
        return text, True
    if "bullet list" in told:
        listed = re.findall(r"^- (.+)$", last, re.M) or [f"effect {k}" for k in "abcdefghijkl"]
        return "\n".join(f"- {e}" for e in rng.sample(listed, min(len(listed), 8))), False
    if choice := re.search(r"your choice, one of ([\w, ]+)", last):
        return f"{sentence(rng)}\n\nAnswer: {rng.choice(choice[1].split(', '))}", False
    if end := re.search(r"\[[A-Z_]+\]", told):  # a doctor's, once enough is known
        turns = sum(m["role"] == "assistant" for m in messages)
        asks = f"When did it begin, and what else changed? {sentence(rng)}"
        return end[0] if turns >= rng.randint(2, 4) else asks, False
    if "play a patient" in told:
        return f"I feel it most at night. {sentence(rng)}", False
    return " ".join(sentence(rng) for _ in range(rng.randint(3, 6))), False


TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens(text):
    return len(TOKEN.findall(text))


def cut(text, most):
    """A text's first tokens."""
    ends = [m.end() for m in itertools.islice(TOKEN.finditer(text), most + 1)]
    return text if len(ends) <= most else text[: ends[most - 1]] if most else ""


def refusals():
    """The lines of failures.txt: what it is, its status, body, headers, and the line itself."""
    path = Path(__file__).with_name("readers") / "failures.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            expected, status, text, *headers = line.split(" | ")
            yield expected, status, text, json.loads(*headers or ["{}"]), line
