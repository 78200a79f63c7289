"""MedHalu: building the benchmark (section 2, appendix A): types, requested answers, batches."""

import numpy as np
import pandas as pd

from bedside.asking.models import ask, requests_to
from bedside.asking.replies import response_format
from bedside.judging import parsing
from bedside.read.sources import first_items, random_rows

from .data import TEMPERATURE, TYPES, base, words

LIMITS = (10, 100, "test")  # least and most words of a pair's expert answer (0: any); LiveQA's set
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


def chosen(run, size, limits=LIMITS, whole=False):
    """The items to build, with types: `size` of each base set, drawn by the seed (0: all).

    limits: as LIMITS, in `public`; the sample is taken whole. Without a least number of words,
    questions without an expert answer belong to the base sets, as in the paper's counts. whole:
    regardless of LIMIT.
    """
    least, most, liveqa = limits
    every = base(run, liveqa, unanswered=not least)
    if run.profile == "public":
        fits = every[words(every["expert_answer"]).between(least, most or np.inf)]
        parts = [
            random_rows(run, part.reset_index(drop=True), size, name)
            for name, part in fits.groupby("dataset", sort=False)
        ]
        every = pd.concat(parts, ignore_index=True)
    items = typed(every.reset_index(drop=True), run.rng("types"))
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


def requests(run, items, generator, max_tokens):
    """The requests to the generator: an answer for each item whose type isn't none."""
    prompts = {
        r.item: run.prompt(f"generate_{r.type}", question=r.question, expert_answer=r.expert_answer)
        for r in items[items["type"] != "none"].itertuples()
    }
    return requests_to(run, prompts, max_tokens, [generator], TEMPERATURE, 1, ANSWER)


async def not_built(run, items, generator, max_tokens):
    """Items for which a recorded reply of the generator holds no answer; calls no model."""
    asked = requests(run, items, generator, max_tokens)
    known = await ask([r for r in asked if r.key in run.recordings], run.recordings)
    read = [parsing.read(reply, written, even_cut=True) for reply in known]
    return [v.item for v in read if v.status != "graded"]


async def build(run, items, generator, max_tokens):
    """`items` with an answer of their type (section 2.2): answer, status, truncated, why.

    None-conflict is the expert's own answer; the paper doesn't say where its own come from. status
    is as of a verdict, `graded` if there is an answer; why says why a reply holds no text; sent is
    the key of the request.
    """
    asked = requests(run, items, generator, max_tokens)
    replies = await run.ask(asked, "hallucinated answers")
    read = [parsing.read(reply, written, even_cut=True) for reply in replies]
    made = pd.DataFrame(
        [(v.item, v.value, v.status, r.truncated, r.why, r.key) for v, r in zip(read, replies)],
        columns=["item", "answer", "status", "truncated", "why", "sent"],
    )
    both = items.merge(made, on="item", how="left", validate="one_to_one")
    plain = both["type"] == "none"
    return both.assign(
        answer=both["answer"].where(~plain, both["expert_answer"]),
        status=both["status"].where(~plain, "graded"),
        truncated=both["truncated"].where(~plain, False).astype(bool),
        why=both["why"].where(~plain, ""),
        sent=both["sent"].where(~plain, ""),
    )


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
