"""How many tokens a call uses: by its texts before it, by the counts that came with its reply."""

import re
import unicodedata
from collections.abc import Collection
from typing import Any

from bedside.read.outside import MOST

from .registry import PROVIDERS

# what a chat template adds to a prompt at most, in tokens: in all, and for each text
TEMPLATE, MESSAGE = 100, 12


def prompt_tokens(texts: Collection[str]) -> int:
    """Tokens of a prompt at most: one for each byte of a text.

    Of UTF-8, or of the text's compatibility form, which some tokenizers read.
    """

    def size(text):
        return len(text.encode("utf-8", "surrogatepass"))

    most = sum(max(size(t), size(unicodedata.normalize("NFKC", t))) for t in texts)
    return TEMPLATE + MESSAGE * len(texts) + most


READ, WRITTEN, APART, THOUGHTS = PROVIDERS["counts"].values()
OFF = 2  # times the completion that thoughts within it may be, counted by another tokenizer


def tokens_of(answer: Any) -> tuple[int | None, int | None, dict]:
    """(prompt tokens, completion tokens, all counts) of a chat completion.

    The prompt's are all of them, those of a cache too; the completion's too, with all thoughts:
    providers count either within, beside, or in the total alone. None where a count isn't a number
    from 0 to MOST; counts of details stand under `<details>.<name>`.
    """
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counts = {}
    for name, value in usage.items() if isinstance(usage, dict) else ():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        for part, count in inner:
            if isinstance(count, str) and re.fullmatch("[0-9]{1,10}", count):
                count = int(count)
            if _makes_sense(count):
                counts[f"{name}.{part}".strip(".")] = count
    prompt = counts.get("prompt_tokens", counts.get("input_tokens"))
    completion = counts.get("completion_tokens", counts.get("output_tokens"))
    if prompt is None or completion is None:
        return prompt, completion, counts
    return *_whole(prompt, completion, counts), counts


def _makes_sense(count):
    return type(count) in (int, float) and 0 <= count <= MOST


def _whole(prompt, completion, counts):
    """(prompt, completion) with what is counted beside them."""
    if "prompt_cache_miss_tokens" in counts:  # DeepSeek's two parts of a prompt
        prompt = max(prompt, counts["prompt_cache_miss_tokens"] + (_count(counts, READ) or 0))
    read, wrote, thought = (_count(counts, n) or 0 for n in (READ, WRITTEN, THOUGHTS))
    left = counts.get("total_tokens", 0) - prompt - completion
    if left == 0 and thought < OFF * completion:  # the total decides: gateways guess at thoughts
        thought = min(thought, completion)
    if left <= 0:  # no total, or one of these two alone: a part is never more than its whole
        names = {name.rpartition(".")[2] for name in counts} & {*READ, *WRITTEN}
        beside = read + wrote > prompt or names and names <= {*APART}
        return prompt + (read + wrote) * bool(beside), completion + thought * (thought > completion)
    parts = [(p, t) for p in (0, read + wrote, wrote, read) for t in (thought, 0) if p + t == left]
    within = read + wrote if prompt < read + wrote <= left else 0
    cached, thoughts = parts[0] if parts else (within, left - within)
    return prompt + cached, completion + thoughts


def _count(counts, names):
    """The largest of the counts with one of these names; None without one."""
    return max((n for k, n in counts.items() if k.rpartition(".")[2] in names), default=None)


def used(record: dict) -> tuple[int | None, int | None]:
    """(prompt, completion): the tokens of a record, as `cost` takes them.

    They are read anew from the counts that it keeps, so that old recordings are read like new ones.
    """
    *tokens, counts = tokens_of(record)
    if not counts:
        counts = record.get("prompt_tokens"), record.get("completion_tokens")
        tokens = (n if _makes_sense(n) else None for n in counts)
    return tuple(tokens)
