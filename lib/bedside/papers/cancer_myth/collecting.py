"""Cancer-Myth, section 3.1: a model lists misconceptions on treatment; which were told before."""

import pandas as pd

from bedside.asking import registry
from bedside.asking.replies import Request
from bedside.judging.judges import LEXICAL, grade_labelled
from bedside.judging.trust_cards import describe, trust_card
from bedside.read.sources import first_items

from .baselines import Alike, alike
from .generation import generated, listed_schema

FIELDS = ("myth", "fact", "source")
SAME = {  # of the judge of pairs
    "values": [0, 1],
    "template": "same_myth",
    "baseline": Alike,
    "fields": ("myth", "other"),
    "key": "same",
}
TASK = "same myth"  # the judge's task, with a trust card of its own
STATUS = {"new": "different texts", "copied": "texts told before"}  # of what is listed
TWICE, AGAIN, APART = "told before", "found again", "of another cancer"  # kinds of pairs


def types(run, myths, count):
    """Kinds of cancer for which myths are listed: `count` of those of `myths`, of which LIMIT."""
    names = myths["cancer"].drop_duplicates()
    drawn = run.rng("cancers").permutation(len(names))[: count or None]
    return first_items(run, names.iloc[sorted(drawn)].to_frame("item"))["item"].tolist()


async def listed(run, cancers, count, settings):
    """Myths that the run's models list for kinds of cancer, `count` each, as a schema demands.

    Columns: item, model, cancer, status, myth, fact, source. status: as in `generation.generated`,
    by the model's own myths; or the error of a failed call. A model that can search does so if its
    entry sends what switches that on.
    """
    requests = []
    for model in run.models:
        most = registry.most(model, settings["max_tokens"], "questions")
        for cancer in cancers:
            prompt = run.prompt("collect", cancer=cancer, count=count)
            how = {**settings, "max_tokens": most, "seed": run.seed}
            form = listed_schema("myths", FIELDS, count)
            requests.append(Request(f"myths of {cancer}", model, prompt, how, form))
    rows, known = [], {model: set() for model in run.models}
    for request, reply in zip(requests, await run.ask(requests, "myths"), strict=True):
        about = (request.model, request.item.removeprefix("myths of "))
        if reply.error:
            found = [(reply.error, "", "", "")] * count
        else:
            found = generated(reply, count, known[request.model], "myths", FIELDS)
        rows += [(*about, *entry) for entry in found]
    frame = pd.DataFrame(rows, columns=["model", "cancer", "status", *FIELDS])
    items = [f"{r.model} {r.cancer} {n}" for n, r in enumerate(frame.itertuples(), 1)]
    return frame.assign(item=items)


def pairs(listed, known, rng):
    """Pairs of one model's myths that a judge compares: item, kind, myth, other, reply_status.

    listed: the model's new myths. known: the collected ones (item, cancer, myth). TWICE: each myth
    and the nearest one before it, by words. AGAIN: each known myth of the cancers asked for and the
    nearest listed one. APART: each myth and a known one of another cancer, drawn at random; a judge
    that calls these the same is lenient, and its other rates are worth as much less.
    """
    texts, rows = listed["myth"].tolist(), []
    if not texts:
        return pd.DataFrame(columns=["item", "kind", "myth", "other", "reply_status"])
    near = alike(texts, texts)
    rows += [
        (f"{TWICE} {i}", TWICE, texts[i], texts[near[i, :i].argmax()]) for i in range(1, len(texts))
    ]
    mine = known[known["cancer"].isin(listed["cancer"])]
    for r, best in zip(mine.itertuples(), alike(mine["myth"], texts).argmax(1)):
        rows.append((f"{AGAIN} {r.item}", AGAIN, r.myth, texts[best]))
    for n, r in enumerate(listed.itertuples()):
        others = known.loc[known["cancer"] != r.cancer, "myth"]
        if len(others):
            rows.append((f"{APART} {n}", APART, r.myth, others.iloc[rng.integers(len(others))]))
    return pd.DataFrame(rows, columns=["item", "kind", "myth", "other"]).assign(reply_status="")


async def compared(run, listed, known, judge, temperature=0):
    """The verdicts of a judge on each model's `pairs`: model, kind, status, value.

    temperature: of a model's verdicts.
    """
    examples, parts = run.load("cancer_myth_myth_pairs"), []
    new = listed[listed["status"] == "new"]
    for model in run.models:
        asked = pairs(new[new["model"] == model], known, run.rng("pairs", model))
        how = {"labelled": examples, "judge": judge, "temperature": temperature}
        found = await run.grade(asked, **how, **SAME)
        parts.append(asked.assign(model=model, status=found["status"], value=found["value"]))
    return pd.concat(parts, ignore_index=True)


async def by_judges(run, listed, known, temperature=0):
    """`compared` by word overlap and the run's judge, each measured on labelled pairs first.

    Adds judge, and same (whether the pair is called the same, missing without a verdict).
    """
    labelled, parts = run.load("cancer_myth_myth_pairs"), []
    for judge in dict.fromkeys([LEXICAL, run.judge]):
        made = await grade_labelled(run, labelled, judge=judge, temperature=temperature, **SAME)
        card = trust_card(labelled["label"], made, [0, 1], positive=1, units=labelled["item"])
        run.write_card(judge, card, "their authors", task=TASK, of="pairs of myths")
        print(describe(run.card(judge, TASK)))
        found = await compared(run, listed, known, judge, temperature)
        same = found["value"].eq(1).astype("boolean").mask(found["status"] != "graded")
        parts.append(found.assign(judge=judge, same=same))
    return pd.concat(parts, ignore_index=True)
