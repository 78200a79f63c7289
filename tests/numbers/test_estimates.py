"""Estimates before a call: at most is a bound in every script, and expected is never more.

tokens.csv and MADE hold texts with the most tokens that any of nine tokenizers makes of them, as
measured on 2026-11-23: cl100k, o200k and p50k (OpenAI), Claude 2, Qwen, DeepSeek, Mistral's
SentencePiece of 2023 and 2024, and its Tekken. The texts are this project's own.
"""

import asyncio
import base64
import contextlib
import csv
import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from bedside import __main__ as steps
from bedside.asking import dry_run, models, sending
from bedside.build import notebooks
from bedside.keep import ledger, registry, replies, store, usage
from bedside.keep.registry import StopRun
from bedside.keep.replies import Request
from bedside.read import paths
from conftest import ask_for, completion

with open(Path(__file__).with_name("tokens.csv"), encoding="utf-8", newline="") as file:
    TEXTS = [(r["what"], r["text"], int(r["most"]), r["whose"]) for r in csv.DictReader(file)]
BYTES = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(10))
SIGNS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
CODE = """for k, v in {**a, "b": [0x1f, 2e-9]}.items():
    if not (v := f(k)) or v != -1:
        print(f"{k:>9}: {v!r}", end="\\n\\n")
"""
GENES = (
    "BRCA1 c.68_69delAG p.(Glu23Valfs*17) EGFR L858R ALK-EML4 KRAS G12C TP53 R175H HER2/neu 3+"
    " Ki-67 40% pT2N1M0 FIGO IIB mTNM8 "
)
MADE = [  # what, a text made of the same bytes everywhere, most tokens by any of the nine, whose
    ("base64", base64.b64encode(BYTES).decode(), 343, "mistral-v1"),
    ("hex", BYTES.hex(), 575, "mistral-v1"),
    ("digits", str(int(BYTES.hex(), 16))[:300], 301, "mistral-v1"),
    ("numbers", ", ".join(f"{b * 0.377:.3f}" for b in BYTES[:60]), 472, "mistral-v1"),
    ("consonants", "".join("qxzjvkwbfg"[b % 10] for b in BYTES), 245, "mistral-v1"),
    ("letters", "".join(chr(97 + b % 26) for b in BYTES), 190, "p50k"),
    ("LeTtErS", "".join(chr((97, 65)[b >> 7] + b % 26) for b in BYTES), 234, "mistral-v1"),
    ("signs", "".join(SIGNS[b % 32] for b in BYTES), 263, "p50k"),
    ("blanks", "".join(" \n\t\r"[b % 4] for b in BYTES), 289, "p50k"),
    ("controls", "".join(chr(1 + b % 31) for b in BYTES), 321, "mistral-v1"),
    ("cuneiform", "".join(chr(0x12000 + b) for b in BYTES[:60]), 241, "mistral-v1"),
    ("rare Chinese", "".join(chr(0x20000 + 97 * b) for b in BYTES[:60]), 241, "mistral-v1"),
    ("letters of formulas", "".join(chr(0x1D400 + b) for b in BYTES[:80]), 321, "mistral-v1"),
    ("code", CODE * 4, 276, "p50k"),
    ("variants of genes", GENES * 3, 265, "mistral-v1"),
    ("one sign for four words", "\ufdfa" * 20, 300, "claude2"),  # it reads compatibility forms
]


def estimate(name, text, limit=20):
    messages = [{"role": "user", "content": text}]
    return Request("a", name, messages, {"max_tokens": limit}).estimate()


@pytest.mark.parametrize("what, text, most, whose", [*TEXTS, *MADE], ids=lambda x: str(x)[:12])
def test_at_most_holds_in_every_script(served, what, text, most, whose):
    prompt, reply = estimate(served, text)
    # a template has 100 tokens and 12 for each message, and a token at least one byte
    form = len("صلى الله عليه وسلم".encode()) * 20 if whose == "claude2" and most == 300 else 0
    assert most <= prompt - 112 + 1 and reply == 20, (
        what
    )  # SentencePiece begins with one of its own
    assert prompt == 112 + max(len(text.encode()), form)


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
    with contextlib.closing(ledger.Ledger(served, ledger.Account())) as book:
        asyncio.run(sending.turn(sending._Model(None, book, None, []), request))
        (counted,) = book.db.execute("select tokens from calls").fetchall()
    assert counted == (112 + tokens + 20,)


# ---- a budget in other scripts


@pytest.mark.parametrize("text", [t for w, t, *_ in TEXTS if w in ("Chinese", "Hindi", "Tamil")])
def test_a_budget_is_not_passed_in_any_script(served, endpoint, recordings, text):
    """The endpoint counts a token for each byte, as p50k does for Tamil; $1 a token in."""
    from bedside.keep.ledger import Account, total

    registry.model(served).update(
        usd_per_million_in=1e6, usd_per_million_out=0.0, max_concurrency=8
    )

    def script(n, body):
        prompt = len(body["messages"][0]["content"].encode())
        return {**completion(), "usage": {"prompt_tokens": prompt, "completion_tokens": 1}}

    endpoint.script = script
    asked = [
        Request(str(k), served, [{"role": "user", "content": f"{k} {text}"}], {"max_tokens": 1})
        for k in range(20)
    ]
    budget = 5.5 * len(text.encode())
    with pytest.raises(StopRun, match="BUDGET_USD"):
        account = Account(usd=budget)
        asyncio.run(models.ask(asked, recordings, mode="record", account=account, progress=False))
    assert 0.5 * budget < total("test")[1] <= budget


# ---- expected, beside at most


@pytest.fixture
def priced(served, tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    registry.model(served).update(usd_per_million_in=1.0, usd_per_million_out=10.0)
    return served


def recorded(name, endpoint, count, limit, prompt, reply, text="word", study="a"):
    """Record so many replies with these tokens."""
    usage = {"prompt_tokens": prompt, "completion_tokens": reply}
    endpoint.script = lambda n, body: {**completion(), "usage": usage}
    asked = ask_for(name, *(f"{text} {limit} {k}" for k in range(count)), max_tokens=limit)
    kept = store.Recordings(paths.RECORDINGS / study / "sample")
    asyncio.run(models.ask(asked, kept, mode="record", progress=False))


def planned(requests, study="a"):
    rows = [{"notebook": f"{study}/01_x", **dry_run.planned(r), "adaptive": ""} for r in requests]
    return notebooks._expected(pd.DataFrame(rows))


def test_long_answers_say_of_a_verdict_no_more_than_its_limit(priced, endpoint):
    """Why a plan expected more than the most: five answers of 2,000 tokens, verdicts of 24 left."""
    recorded(priced, endpoint, 5, 2048, 40, 2000)
    calls = planned(ask_for(priced, *map(str, range(50)), max_tokens=24))
    assert calls["expected_completion"].tolist() == [24.0] * 50
    # of five answers of 2,000 and five of 4 a verdict of 24 is expected to have (24 + 4) / 2
    recorded(priced, endpoint, 5, 1024, 40, 4)
    calls = planned(ask_for(priced, *map(str, range(50)), max_tokens=24))
    assert calls["expected_completion"].tolist() == [14.0] * 50


def test_short_prompts_with_long_templates_say_of_a_long_one_no_more_than_its_bytes(
    priced, endpoint
):
    recorded(priced, endpoint, 5, 20, 400, 5)  # 400 tokens for 27 characters
    calls = planned(ask_for(priced, "word " * 1000))
    assert calls["expected_prompt"].tolist() == calls["prompt"].tolist()
    # "question " and 5,000 characters, and the template's 112
    assert calls["prompt"].tolist() == [9 + 5000 + 112]


def test_replies_that_passed_their_limit_raise_the_most(priced, endpoint):
    """Some endpoints don't count thoughts: of replies up to 20 tokens the longest had 90."""
    recorded(priced, endpoint, 4, 20, 40, 30)
    recorded(priced, endpoint, 1, 20, 40, 90, text="other")
    calls = planned(ask_for(priced, "a"))
    assert calls["expected_completion"].tolist() == [(4 * 30 + 90) / 5]
    assert calls["completion"].tolist() == [90]


@pytest.mark.parametrize("batch", [False, True])
def test_in_a_plan_expected_is_never_more_than_at_most(
    priced, endpoint, monkeypatch, capsys, batch
):
    """As `make plan` prints it: recorded lists of 900 tokens, planned are verdicts and lists.

    At most, by hand: 20 verdicts of 24 and 5 lists of 1,000 at $10, and 25 prompts ("question " and
    a name of one or two letters, template 112) at $1 for a million.
    """
    if batch:
        registry.model(priced)["batch_discount"] = 0.5
    recorded(priced, endpoint, 6, 1000, 900, 900)
    asked = ask_for(priced, *map(str, range(20)), max_tokens=24)
    asked += ask_for(priced, *"vwxyz", max_tokens=1000)
    monkeypatch.setattr(notebooks, "planned", lambda given, paper: planned(asked))
    steps.plan({})
    told = capsys.readouterr().out
    prompts = 10 * (9 + 1 + 112) + 10 * (9 + 2 + 112) + 5 * (9 + 1 + 112)
    most = ((20 * 24 + 5 * 1000) * 10 + prompts) / 1e6
    # prompts are expected at their most, verdicts at 24 tokens, lists at 900
    expected = ((20 * 24 + 5 * 900) * 10 + prompts) / 1e6
    assert f"25 calls; expected ${expected:.2f}, at most ${most:.2f}" in told
    assert (f"in batches expected ${expected / 2:.2f}, at most ${most / 2:.2f}" in told) == batch
    assert expected < most and f"price of {priced}: without a price_date: check it" in told


def test_a_plan_prices_each_call_not_their_sum(priced, monkeypatch, capsys):
    """Prompts of 122 bytes fall under no rule for long ones, and 20 of them don't either."""
    longer = {"above": 1000, "usd_per_million_in": 1e6, "usd_per_million_out": 1e6}
    registry.model(priced).update(price_rules=[longer], price_date="2026-11-01")
    asked = ask_for(priced, *map(str, range(10)))
    monkeypatch.setattr(notebooks, "planned", lambda given, paper: planned(asked))
    steps.plan({})
    told = capsys.readouterr().out
    assert "10 calls; expected unknown, at most $0.00" in told  # 10 × (122 + 200) / 10⁶
    assert f"price of {priced}: as of 2026-11-01" in told
    asked += ask_for(priced, "b" * 1000)
    steps.plan({})
    assert "at most $1141.00" in capsys.readouterr().out  # 1,121 + 20 tokens at $1, and the others
