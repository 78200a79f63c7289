"""MedHalu: building the benchmark (section 2, appendix A): types, requested answers, batches."""

import numpy as np
import pandas as pd

from bedside.asking.models import requests_to
from bedside.asking.replies import response_format
from bedside.judging import parsing
from bedside.read.checks import joined
from bedside.read.sources import first_items, random_rows

from .data import TEMPERATURE, TYPES, base, words

WORDS = 10, 100  # that an expert answer has at least and at most, unless all pairs are built
MOST_TOKENS = 512  # of an answer (section 3.2), or an entry's most_tokens where lower
BUILT = ["answer", "status", "truncated", "why", "sent"]
ANSWER = response_format("answer", answer={"type": "string"})


def typed(frame, rng):
    """The frame with a `type` for each row, random and balanced within a base set (section 2.2).

    The counts of two types differ by one at most.
    """
    made = pd.Series(index=frame.index, dtype=object)
    for _, part in frame.groupby("dataset", sort=False):
        order = rng.permutation(list(TYPES))
        made[part.index] = rng.permutation(np.resize(order, len(part)))
    return frame.assign(type=made)


def chosen(run, size, whole=False):
    """The items to build, with types: in `public` `size` of each base set, drawn by the seed.

    Their expert answers have some of WORDS. 0: all that the paper counts. whole: regardless of
    LIMIT.
    """
    items = base(run, every=not size)
    if size and run.profile == "public":
        items = items[words(items["expert_answer"]).between(*WORDS)]
        parts = [
            random_rows(run, part.reset_index(drop=True), size, name)
            for name, part in items.groupby("dataset", sort=False)
        ]
        items = pd.concat(parts)
    items = typed(items.reset_index(drop=True), run.rng("types"))
    return first_items(run, _without_none(items), whole)


def _without_none(items):
    """The items with types exchanged, so that none without an expert answer has the type none."""
    types, answered = items["type"].copy(), items["expert_answer"] != ""
    for row in items[["dataset"]][~answered & (types == "none")].itertuples():
        others = items.index[answered & (types != "none") & (items["dataset"] == row.dataset)]
        types[[row.Index, *others[:1]]] = types[[*others[:1], row.Index]].to_numpy()
    return items.assign(type=types)


def written(text):
    """The answer in a generator's reply, or None if it has fewer than three words.

    It is a member of a JSON object, which may be cut short, or else the text itself.
    """
    answer = parsing.said(text, "answer")
    return answer if answer and len(answer.split()) >= 3 else None


def requests(run, items, generator):
    """The requests to the generator: an answer for each item whose type isn't none."""
    prompts = {
        r.item: run.prompt(f"generate_{r.type}", question=r.question, expert_answer=r.expert_answer)
        for r in items[items["type"] != "none"].itertuples()
    }
    return requests_to(run, prompts, MOST_TOKENS, [generator], TEMPERATURE, 1, ANSWER)


def answers(replies):
    """Answers of a type in a generator's replies: item, answer, status, truncated, why, sent."""
    rows = []
    for r in replies:
        v = parsing.read(r, written, even_cut=True)
        rows.append((v.item, v.value, v.status, r.truncated, r.why, r.key))
    return pd.DataFrame(rows, columns=["item", *BUILT])


async def build(run, items, generator):
    """`items` with an answer of their type (section 2.2): BUILT.

    None-conflict is the expert's own answer; the paper doesn't say where its own come from. status
    is as of a verdict, `graded` if there is an answer; why says why a reply holds no text; sent is
    the key of the request.
    """
    made = answers(await run.ask(requests(run, items, generator), "hallucinated answers"))
    right = items.loc[items["type"] == "none", ["item", "expert_answer"]]
    right = right.rename(columns={"expert_answer": "answer"})
    made = pd.concat([made, right.assign(status="graded", truncated=False, why="", sent="")])
    return joined(items, made, "item", whole="left")


def batches(frame, size, of, seed):
    """`size` rows in proportion to the base sets, in batches of `of` (section 2.3).

    frame has a column dataset; `batch` counts from 1. Each batch has the base sets in proportion
    too, as far as whole rows allow.
    """
    from sklearn.model_selection import StratifiedKFold, train_test_split

    sample = frame
    if size < len(frame):
        sample, _ = train_test_split(
            frame, train_size=size, stratify=frame["dataset"], random_state=seed
        )
    sample = sample.sort_index().reset_index(drop=True).assign(batch=1)
    if len(sample) > of:
        folds = StratifiedKFold(-(-len(sample) // of), shuffle=True, random_state=seed)
        for number, (_, mine) in enumerate(folds.split(sample, sample["dataset"]), 1):
            sample.loc[mine, "batch"] = number
    return sample
