"""Estimates before a call: at most is a bound in every script, and expected is never more.

tokens.csv holds texts with the most tokens that any of nine tokenizers makes of them, as measured
on 2026-11-23: cl100k, o200k and p50k (OpenAI), Claude 2, Qwen, DeepSeek, Mistral's SentencePiece of
2023 and 2024, and its Tekken. The texts are this project's own.
"""

import csv
import json
from pathlib import Path

import pytest

from bedside.asking import replies, usage
from bedside.asking.replies import Request
from bedside.read import paths

with open(Path(__file__).with_name("tokens.csv"), encoding="utf-8", newline="") as file:
    TEXTS = [(r["what"], r["text"], int(r["most"])) for r in csv.DictReader(file)]
# it reads compatibility forms: one sign for four words
FORM = (
    "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064a\u0647 \u0648\u0633\u0644\u0645"
)
TEXTS += [("a sign for words", "\ufdfa" * 20, 300), ("rare Chinese", "\U00020061" * 60, 241)]


def estimate(name, text, limit=20):
    messages = [{"role": "user", "content": text}]
    return Request("a", name, messages, {"max_tokens": limit}).estimate()


def test_at_most_holds_in_every_script(served):
    """A template has 100 tokens and 12 for each message; SentencePiece begins with one more."""
    for what, text, most in TEXTS:
        prompt, reply = estimate(served, text)
        assert most <= prompt - 112 + 1 and reply == 20, what
        form = len(FORM.encode()) * text.count("\ufdfa")
        assert prompt == 112 + max(len(text.encode()), form), what


def test_a_text_that_no_encoding_has_is_counted_as_well(served):
    assert estimate(served, "\ud83d end")[0] == 112 + 3 + 4


def test_at_most_is_more_than_all_recorded_prompts_had():
    """500 real calls of the embedded model; `chars` are at most the bytes that were sent."""
    counted = [json.loads(x) for p in paths.RECORDINGS.rglob("*.jsonl") for x in open(p)]
    counted = [(r["prompt_tokens"], r["chars"]) for r in counted if r.get("chars")]
    assert len(counted) > 400
    assert all(prompt <= usage.TEMPLATE + chars for prompt, chars in counted)


def test_the_form_of_an_answer_is_part_of_the_prompt(served):
    form = replies.response_format("verdict", score={"type": "integer", "enum": [0, 1]})
    messages = [{"role": "system", "content": "ab"}, {"role": "user", "content": "é"}]
    request = Request("a", served, messages, {"max_tokens": 5}, form)
    assert request.estimate() == (100 + 3 * 12 + 2 + 2 + len(json.dumps(form)) - 2, 5)


@pytest.mark.parametrize("text, tokens", [("a" * 2750, 1000), ("好" * 10, 30), ("é" + "a" * 11, 6)])
def test_limits_of_an_endpoint_go_by_a_likely_number(served, text, tokens):
    """2.75 ASCII characters a token, other ones a byte each; at most is for money alone."""
    messages = [{"role": "user", "content": text}]
    request = Request("a", served, messages, {"max_tokens": 20})
    assert request.likely == 112 + tokens
    assert request.estimate() == (112 + len(text.encode()), 20)
