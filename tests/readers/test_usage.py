"""How providers count a call's tokens: parts within the whole, beside it, or in the total alone."""

import itertools
import json
from pathlib import Path

import pytest

from bedside.asking.usage import prompt_tokens, tokens_of


@pytest.mark.parametrize("kind", [int, str])
def test_each_shape_of_a_call_is_the_same_account(kind):
    for line in Path(__file__).with_name("usage.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            tokens, usage, _ = line.split(" |")
            found = tokens_of({"usage": json.loads(usage, parse_int=kind)})[:2]
            known = tokens != "unknown" and tuple(map(int, tokens.split()))
            assert found == known if known else found[0] is None, line


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
