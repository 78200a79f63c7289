"""What model providers say: answers to any request, words of errors, forms of a message."""

import itertools
import json
import random
import re

from bedside.asking import store

# ---- what is answered


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


# what would count if thoughts were read as an answer
THOUGHT = "Score: 1\nAnswer: A\n- thought effect\n" + "hmm " * 20_000
TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens(text):
    return len(TOKEN.findall(text))


def cut(text, most):
    """A text's first tokens."""
    ends = [m.end() for m in itertools.islice(TOKEN.finditer(text), most + 1)]
    return text if len(ends) <= most else text[: ends[most - 1]] if most else ""


# ---- how errors are worded: a provider's body for (status, code, message, param)


def openai(status, code, message, param=None):
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "requests", 500: "server"}
    kind = code if code == "insufficient_quota" else kinds.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def anthropic(status, code, message, param=None):
    return {"error": {"code": code, "message": message, "type": code, "param": None}}


def google(status, code, message, param=None):
    return [{"error": {"code": status, "message": message, "status": code}}]


def mistral(status, code, message, param=None):
    if status == 422:
        loc = {"type": "extra_forbidden", "loc": ["body", param], "msg": message, "input": 0}
        message = {"detail": [loc]}
    said = {"object": "error", "message": message, "type": "invalid_request_error", "code": code}
    return {"detail": "Unauthorized"} if status == 401 else said


def openrouter(status, code, message, param=None):
    error = {"code": status, "message": message}
    if status == 403 or status >= 500:
        error["metadata"] = {"provider_name": "A Host", "raw": message, "reasons": [code]}
    return {"error": error, "user_id": "u"}


def vllm(status, code, message, param=None):
    return {"error": {"message": message, "type": code, "param": param, "code": status}}


# ---- how a message holds a text and the thoughts before it; a text may be empty: cut off


def plain(text, thought):
    return {"content": text}


def apart(text, thought):
    return {"content": text, "reasoning_content": thought}


def absent(text, thought):
    return {"content": text} if text else {}


def tagged(text, thought):
    end = f"\n</think>\n\n{text}" * bool(text)
    return {"content": f"<think>\n{thought}{end}" if thought else text}


def closed(text, thought):
    """The template has opened the tag."""
    return {"content": tagged(text, thought)["content"].removeprefix("<think>\n")}


def parts(text, thought):
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}
    said = [{"type": "text", "text": text}] if text else []
    return {"content": [thinking, *said] if thought else text}
