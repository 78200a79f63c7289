"""How providers count a call's tokens: parts within the whole, beside it, or in the total alone."""

import itertools
import json
from pathlib import Path

import pytest

from bedside.asking.usage import prompt_tokens, tokens_of

NAMES = {
    "p": "prompt_tokens",
    "c": "completion_tokens",
    "t": "total_tokens",
    "r": "prompt_tokens_details.cached_tokens",
    "w": "prompt_tokens_details.cache_write_tokens",
    "k": "completion_tokens_details.reasoning_tokens",
    "R": "cache_read_input_tokens",
    "W": "cache_creation_input_tokens",
    "h": "prompt_cache_hit_tokens",
    "m": "prompt_cache_miss_tokens",
    "i": "input_tokens",
    "o": "output_tokens",
    "n": "cached_tokens",
}


def usage_of(counts, kind=int):
    usage = {}
    for word in counts.partition("#")[0].split():
        name, _, part = NAMES[word[0]].partition(".")
        if part:
            usage.setdefault(name, {})[part] = kind(word[1:])
        else:
            usage[name] = kind(word[1:])
    return usage


@pytest.mark.parametrize("kind", [int, str])
def test_each_shape_of_a_call_is_the_same_account(kind):
    for line in Path(__file__).with_name("usage.txt").read_text().splitlines():
        if not line.startswith("#"):
            tokens, counts = line.split(": ")
            found = tokens_of({"usage": usage_of(counts, kind)})[:2]
            assert found == tuple(map(int, tokens.split())), line


NO_COUNTS = [[1], "many", {"prompt_tokens": [1]}, {"prompt_tokens": True}, 7, None]
NO_COUNTS += [{"prompt_tokens": n} for n in ("²", "-1", -1, float("nan"), 1e308, 10**400)]


@pytest.mark.parametrize("usage", NO_COUNTS, ids=lambda usage: str(usage)[:30])
def test_a_usage_that_makes_no_sense_is_unknown(usage):
    assert tokens_of({"usage": usage})[0] is None


def test_a_whole_total_gives_the_whole_call_in_every_shape():
    """Whatever a cache and thoughts: nothing is lost, and no thought is taken for a prompt.

    Only net counts with untold thoughts look like gross ones, if the cache is the smaller part;
    then the cache counts as thoughts: too dear, never too cheap.
    """
    sizes = itertools.product((5, 5000), (0, 7, 3000), (0, 2000), (40,), (0, 300))
    for size, within, thoughts in itertools.product(sizes, (1, 0), ("within", "beside", "untold")):
        plain, read, wrote, spoken, thought = size
        prompt, reply = plain + read + wrote, spoken + thought
        usage = {
            "prompt_tokens": prompt if within else plain,
            "completion_tokens": reply if thoughts == "within" else spoken,
            "total_tokens": prompt + reply,
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": wrote},
        }
        if thoughts != "untold":
            usage["completion_tokens_details"] = {"reasoning_tokens": thought}
        alike = not within and thoughts == "untold" and thought and 0 < read + wrote <= plain
        found = tokens_of({"usage": usage})
        assert found[0] + found[1] == prompt + reply, usage
        assert found[1] > reply if alike else found[1] == reply, usage


@pytest.mark.parametrize("text", ["plain", "中文 العربية", "é\ud800", "ﬁ ½ ㎏" * 40, "\U0001f9ea"])
def test_a_prompt_is_reserved_a_token_for_each_byte(text):
    bytes_of = len(text.encode("utf-8", "surrogatepass"))
    assert prompt_tokens([text]) >= 100 + 12 + bytes_of
    assert prompt_tokens([text, text]) - prompt_tokens([text]) >= 12 + bytes_of


def test_counts_are_kept_by_their_names():
    usage = json.loads('{"prompt_tokens": 9, "x": {"y": 2, "z": "no"}, "completion_tokens": 1}')
    assert tokens_of({"usage": usage})[2] == {"prompt_tokens": 9, "x.y": 2, "completion_tokens": 1}
