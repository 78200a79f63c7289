"""The same call in each provider's counts is one account: prompt, completion, price.

Shapes as providers and gateways document them, or as their users quote them: a cache's tokens
within the prompt (gross), beside it (net), thoughts within the completion, beside it, or in the
total alone.
"""

import asyncio
import itertools

import pytest

from bedside.asking import models
from bedside.bulk import results
from bedside.keep import ledger, registry, store
from bedside.keep import usage as counts_of
from bedside.keep.replies import as_record, as_reply
from bedside.read import paths
from conftest import ask_for, completion
from request_files import folders, good, results_file, written  # noqa: F401  (a fixture)

# One call: a prompt of 20,003 tokens, of which 20,000 came from a cache, and a reply of 10.
CACHED = {
    "no cache told": {"prompt_tokens": 20003, "completion_tokens": 10, "total_tokens": 20013},
    "OpenAI": {
        "prompt_tokens": 20003,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "prompt_tokens_details": {"cached_tokens": 20000, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
    "OpenAI, as texts": {
        "prompt_tokens": "20003",
        "completion_tokens": "10",
        "prompt_tokens_details": {"cached_tokens": "20000"},
    },
    "Anthropic's own": {
        "input_tokens": 3,
        "cache_read_input_tokens": 20000,
        "cache_creation_input_tokens": 0,
        "output_tokens": 10,
    },
    "gateway, net, whole total (Portkey)": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "cache_read_input_tokens": 20000,
        "cache_creation_input_tokens": 0,
    },
    "gateway, net, net total": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "total_tokens": 13,
        "cache_read_input_tokens": 20000,
    },
    "gateway, net, no total": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "cache_read_input_tokens": 20000,
    },
    "gateway, net, OpenAI's names (CLIProxyAPI, new-api)": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "prompt_tokens_details": {"cached_tokens": 20000},
    },
    "gateway, net, OpenAI's names, net total": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 20000},
    },
    "gateway, gross, both names (LiteLLM)": {
        "prompt_tokens": 20003,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "prompt_tokens_details": {"cached_tokens": 20000, "cache_creation_tokens": 0},
        "cache_read_input_tokens": 20000,
        "cache_creation_input_tokens": 0,
    },
    "gateway, gross, total without the cache (browser-use)": {
        "prompt_tokens": 20003,
        "completion_tokens": 10,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 20000},
    },
    "DeepSeek": {
        "prompt_tokens": 20003,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "prompt_cache_hit_tokens": 20000,
        "prompt_cache_miss_tokens": 3,
    },
    "DeepSeek's parts, net": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "prompt_cache_hit_tokens": 20000,
        "prompt_cache_miss_tokens": 3,
    },
    "Moonshot": {
        "prompt_tokens": 20003,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "cached_tokens": 20000,
    },
    "OpenRouter": {
        "prompt_tokens": 20003,
        "prompt_tokens_details": {"cached_tokens": 20000, "cache_write_tokens": 0},
        "completion_tokens": 10,
        "completion_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 20013,
        "cost": 0.95,
        "cost_details": {"upstream_inference_cost": 19},
    },
    "xAI": {
        "prompt_tokens": 20003,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "prompt_tokens_details": {"text_tokens": 20003, "cached_tokens": 20000},
        "completion_tokens_details": {"reasoning_tokens": 0},
        "cost_in_usd_ticks": 37756000,
    },
    "Alibaba, explicit cache": {
        "prompt_tokens": 20003,
        "completion_tokens": 10,
        "total_tokens": 20013,
        "prompt_tokens_details": {
            "cached_tokens": 20000,
            "cache_creation_input_tokens": 0,
            "cache_type": "ephemeral",
        },
    },
    "vLLM": {
        "prompt_tokens": 20003,
        "total_tokens": 20013,
        "completion_tokens": 10,
        "prompt_tokens_details": None,
    },
    "Mistral": {"prompt_tokens": 20003, "completion_tokens": 10, "total_tokens": 20013}
    | {"prompt_tokens_details": {"cached_tokens": 20000}, "num_cached_tokens": 20000},
}
# Another: a prompt of 100 tokens, a reply of 10 after 60 of thoughts, so 70 in all.
THOUGHT = {
    "no thoughts told": {"prompt_tokens": 100, "completion_tokens": 70, "total_tokens": 170},
    "OpenAI, DeepSeek, vLLM": {
        "prompt_tokens": 100,
        "completion_tokens": 70,
        "total_tokens": 170,
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "Gemini": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 170},
    "xAI": {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 170,
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "xAI, without a total": {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "a client's total (vercel/ai)": {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "names of the Responses API": {
        "input_tokens": 100,
        "output_tokens": 70,
        "total_tokens": 170,
        "output_tokens_details": {"reasoning_tokens": 60},
    },
}
# A third: a prompt of 1,640 tokens and a reply of 102; what counts the thoughts within it is a
# gateway with a tokenizer of its own.
GUESSED = {
    f"{thoughts} thoughts within {said}": (said, thoughts)
    for said, thoughts in ((102, 109), (293, 321), (445, 518), (277, 323), (102, 102), (102, 40))
}
# Both at once: 20,003 with 20,000 from a cache and 1,000 written, 10 after 60 of thoughts.
BOTH = {
    "gross": {
        "prompt_tokens": 21003,
        "completion_tokens": 70,
        "total_tokens": 21073,
        "prompt_tokens_details": {"cached_tokens": 20000, "cache_write_tokens": 1000},
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "net, thoughts within": {
        "prompt_tokens": 3,
        "completion_tokens": 70,
        "total_tokens": 21073,
        "cache_read_input_tokens": 20000,
        "cache_creation_input_tokens": 1000,
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "net, thoughts beside": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "total_tokens": 21073,
        "cache_read_input_tokens": 20000,
        "cache_creation_input_tokens": 1000,
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
    "net, thoughts in the total alone": {
        "prompt_tokens": 3,
        "completion_tokens": 10,
        "total_tokens": 21073,
        "cache_read_input_tokens": 20000,
        "cache_creation_input_tokens": 1000,
    },
    "what is written beside, what is read within (LiteLLM for Bedrock)": {
        "prompt_tokens": 20003,
        "completion_tokens": 70,
        "total_tokens": 21073,
        "prompt_tokens_details": {"cached_tokens": 20000},
        "cache_creation_input_tokens": 1000,
        "completion_tokens_details": {"reasoning_tokens": 60},
    },
}


def usage_of(prompt, completion, thoughts, total):
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": total,
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }


CALLS = [  # usage, (prompt, completion, into a cache: None where nobody counted)
    *((name, usage, (20003, 10)) for name, usage in CACHED.items()),
    *((name, usage, (100, 70)) for name, usage in THOUGHT.items()),
    *((name, usage, (21003, 70)) for name, usage in BOTH.items()),
    *(
        (name, usage_of(1640, said, thoughts, 1640 + said), (1640, said))
        for name, (said, thoughts) in GUESSED.items()
    ),
    ("one more token than was told", usage_of(951, 6000, 6001, 6952), (951, 6001)),
    ("thoughts beside, in the total", usage_of(3110, 673, 909, 4692), (3110, 1582)),
    ("thoughts of a gateway's own count", usage_of(38, 102, 109, 140), (38, 102)),
]


@pytest.fixture
def priced(served):
    """$2 and $10 for a million tokens; a token that goes into a cache costs a quarter more."""
    registry.model(served).update(
        usd_per_million_in=2.0, usd_per_million_out=10.0, usd_per_million_cache_write=2.5
    )
    return served


@pytest.mark.parametrize("name, usage, tokens", CALLS, ids=[c[0] for c in CALLS])
def test_each_shape_of_a_call_is_the_same_account(name, usage, tokens):
    assert counts_of.tokens_of({"usage": usage})[:2] == tokens


@pytest.mark.parametrize("name, usage, tokens", CALLS, ids=[c[0] for c in CALLS])
def test_a_record_keeps_it_and_a_later_look_finds_it_again(priced, name, usage, tokens):
    (request,) = ask_for(priced, "a")
    record = as_record(request.kept(), {**completion(), "usage": usage})
    assert (record["prompt_tokens"], record["completion_tokens"]) == tokens
    assert counts_of.used(record)[:2] == tokens
    # a recording of the time when the counts were read otherwise
    before = {**record, "prompt_tokens": 3, "completion_tokens": 20010}
    reply = as_reply(request, before, True)
    assert (reply.prompt_tokens, reply.completion_tokens) == tokens


def test_directly_and_by_a_batch_the_price_is_one(priced, endpoint, folders):  # noqa: F811
    """All shapes of the call with both: (21,003 × 2 + 1,000 × 0.5 + 70 × 10) / 10⁶ = $0.043206.

    Where nobody counted what went into the cache, all may have: 21,003 × 2.5 and 700 for a million.
    """
    answers = [{**completion(), "usage": usage} for usage in BOTH.values()]
    requests = ask_for(priced, *BOTH)
    endpoint.script = lambda n, body: next(
        a for a, r in zip(answers, requests) if r.messages == body["messages"]
    )
    direct = store.Recordings(folders / "direct")
    asyncio.run(models.ask(requests, direct, mode="record", progress=False))
    usd = [
        0.043206 if counts_of.written(r["usage"]) == 1000 else 0.0532075 for r in direct.records()
    ]
    assert usd == [0.043206] * 5
    calls, spent, unknown = ledger.total("test")
    assert (calls, unknown) == (5, 0) and spent == pytest.approx(5 * 0.043206)
    written(requests)
    lines = [good(r.key) for r in requests]
    for line, answer in zip(lines, answers):
        line["response"]["body"] = answer
    assert results.take([results_file(*lines)]).usd == pytest.approx(spent)
    kept = store.Recordings(paths.RECORDINGS / "cancer_myth")
    for r in requests:
        assert (
            counts_of.used(kept.get(r.key))
            == counts_of.used(direct.get(r.key))
            == (21003, 70, 1000)
        )


def test_what_nobody_counted_may_all_have_gone_into_a_cache(priced):
    assert counts_of.written({"prompt_tokens": 1, "prompt_tokens_details.cached_tokens": 1}) is None
    assert registry.cost(priced, 1000, 0, None) == pytest.approx(0.0025)
    assert registry.cost(priced, 1000, 0, 400) == pytest.approx(0.0022)
    assert registry.cost(priced, 1000, 0) == pytest.approx(0.002)


# ---- whatever the counts: nothing is lost, and no thought is taken for a prompt


def every():
    """Counts of a prompt, a cache (within or beside) and thoughts (within, beside, untold)."""
    sizes = itertools.product((5, 5000), (0, 7, 3000), (0, 11, 2000), (1, 40), (0, 300))
    for plain, read, wrote, said, thought in sizes:
        for within, thoughts in itertools.product((True, False), ("within", "beside", "untold")):
            yield plain, read, wrote, said, thought, within, thoughts


def test_a_whole_total_gives_the_whole_call_in_every_shape():
    """Only net counts with untold thoughts look like gross ones, if the cache is the smaller part.

    Even then nothing is lost, and the cache counts as thoughts: too dear, never too cheap.
    """
    for plain, read, wrote, said, thought, within, thoughts in every():
        prompt, reply = plain + read + wrote, said + thought
        usage = {
            "prompt_tokens": prompt if within else plain,
            "completion_tokens": reply if thoughts == "within" else said,
            "total_tokens": prompt + reply,
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": wrote},
        }
        if thoughts != "untold":
            usage["completion_tokens_details"] = {"reasoning_tokens": thought}
        mine = counts_of.tokens_of({"usage": usage})[:2]
        assert sum(mine) == prompt + reply, usage
        alike = not within and thoughts == "untold" and thought and 0 < read + wrote <= plain
        assert mine[1] > reply if alike else mine == (prompt, reply), usage


@pytest.mark.parametrize("plain, read", [(3, 20000), (3000, 200)])
def test_without_a_total_anthropics_names_alone_are_beside_the_prompt(plain, read):
    """As Anthropic says; where it could be either, it is counted as more, not as less."""
    counts = {"prompt_tokens": plain, "completion_tokens": 10, "cache_read_input_tokens": read}
    assert counts_of.tokens_of({"usage": counts})[:2] == (plain + read, 10)
    assert counts_of.tokens_of({"usage": {**counts, "total_tokens": plain + 10}})[:2] == (
        plain + read,
        10,
    )
