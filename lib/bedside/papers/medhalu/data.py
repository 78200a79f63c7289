"""MedHalu: the base sets' questions and answers, and hallucinated answers on request (section 2, appendix A).

`item` is a question with the answer that is to be judged.
"""

from bedside import BedsideError, judges, paths, sources
from bedside.checks import normal
from bedside.models import requests_to, response_format
from bedside.sources import drawn, limited

TYPES = {
    "none": "None-conflict",
    "input": "Input-conflict",
    "context": "Context-conflict",
    "fact": "Fact-conflict",
}  # section 2.1
DATASETS = ["HealthQA", "LiveQA", "MedicationQA"]
TEMPERATURE = 0.7  # section 3.2, of generation and detection
LEAST, MOST = 10, 100  # words of an expert answer that a built item may have
COLUMNS = ["item", "dataset", "question", "expert_answer", "topic"]


def words(texts):
    """Numbers of words (n,), split at white space, as section 2.2 seems to count them."""
    return texts.str.split().str.len()


def base(run):
    """Questions with expert answers of the base sets that are there (section 2.2): item, dataset, question, expert_answer, topic.

    public: of several reference answers the first; rows without an answer are left out.
    """
    import pandas as pd

    if run.profile == "sample":
        return run.load("medhalu_answers_sample")[COLUMNS]
    live, drugs, parts = run.load("liveqa"), run.load("medicationqa"), []
    if sources.here("healthqa"):
        health = run.load("healthqa").query("label == '1'")
        parts.append(
            pd.DataFrame(
                {
                    "item": [f"healthqa-{i}" for i in range(1, len(health) + 1)],
                    "dataset": "HealthQA",
                    "question": health["question"],
                    "expert_answer": health["text"],
                    "topic": health["question"],
                }
            )
        )
    parts.append(
        pd.DataFrame(
            {
                "item": "liveqa-" + live["qid"],
                "dataset": "LiveQA",
                "question": live["message"],
                "expert_answer": live["answers"].str[0],
                "topic": live["focus"].str.join(", "),
            }
        )
    )
    parts.append(
        pd.DataFrame(
            {
                "item": [f"medicationqa-{i}" for i in range(1, len(drugs) + 1)],
                "dataset": "MedicationQA",
                "question": drugs["Question"],
                "expert_answer": drugs["Answer"],
                "topic": drugs["Focus (Drug)"],
            }
        )
    )
    every = pd.concat(parts, ignore_index=True)
    return every[every["expert_answer"].fillna("").str.strip() != ""].reset_index(drop=True)


def typed(frame, rng):
    """The frame with a `type` for each row, at random and balanced in each base set: counts differ by one at most (section 2.2)."""
    import numpy as np
    import pandas as pd

    made = pd.Series(index=frame.index, dtype=object)
    for _, part in frame.groupby("dataset", sort=False):
        made[part.index] = rng.permutation(np.resize(rng.permutation(list(TYPES)), len(part)))
    return frame.assign(type=made)


def chosen(run, size):
    """The items that are built: of each base set `size` drawn by the seed (0: all), answers of LEAST to MOST words, typed."""
    import pandas as pd

    every = base(run)
    if run.profile == "public":
        fits = every[words(every["expert_answer"]).between(LEAST, MOST)]
        every = pd.concat(
            [
                drawn(run, part.reset_index(drop=True), size, name)
                for name, part in fits.groupby("dataset", sort=False)
            ]
        )
    return limited(run, typed(every.reset_index(drop=True), run.rng("types")))


ANSWER = response_format("answer", answer={"type": "string"})


def told(text):
    """The answer in a generator's reply: member of a JSON object, also a cut one, or else the text itself; None if there is none."""
    answer = judges.member(text, "answer")
    if answer is None and not text.lstrip().startswith("{"):
        answer = text.strip()
    return answer if answer and len(answer.split()) >= 3 else None


async def build(run, items, generator, max_tokens):
    """`items` with an answer of their type (section 2.2): answer, status, truncated. None-conflict is the expert's own answer.

    status as of a verdict: `graded` where an answer came. The paper doesn't say where its none-conflict answers are from.
    """
    import pandas as pd

    asked = items[items["type"] != "none"]
    prompts = {
        r.item: run.prompt(f"generate_{r.type}", question=r.question, expert_answer=r.expert_answer)
        for r in asked.itertuples()
    }
    replies = await run.ask(
        requests_to(run, prompts, max_tokens, [generator], TEMPERATURE, response_format=ANSWER),
        "hallucinated answers",
    )
    made = pd.DataFrame(
        [(v.item, v.value, v.status, r.truncated) for r in replies for v in [judges.read(r, told)]],
        columns=["item", "answer", "status", "truncated"],
    )
    both = items.merge(made, on="item", how="left", validate="one_to_one")
    plain = both["type"] == "none"
    return both.assign(
        answer=both["answer"].where(~plain, both["expert_answer"]),
        status=both["status"].where(~plain, "graded"),
        truncated=both["truncated"].where(~plain, False).astype(bool),
    )


def bundled(run):
    """The sample's items with their written answers, labels, spans and reasons."""
    frame = run.load("medhalu_answers_sample")
    return limited(run, frame[[*COLUMNS, "answer", "type", "spans", "reason"]])


def released(run):
    """MedHalu itself, a copy on request from its authors, as `bundled`; types are read as the paper spells them."""
    frame = run.load("medhalu_benchmark")
    for column, default in (("expert_answer", ""), ("topic", frame["question"]), ("reason", "")):
        frame[column] = frame.get(column, default)
    frame["item"] = frame.get("item", "medhalu-" + (frame.index + 1).astype(str))
    frame["type"] = frame["type"].map(lambda t: (normal(t) or "none").split()[0])
    if (bad := frame[~frame["type"].isin(TYPES) | ~frame["dataset"].isin(DATASETS)]).size:
        raise BedsideError(
            f"{paths.rel(sources.where('medhalu_benchmark')[1])}: item {bad['item'].iloc[0]!r} has"
            f" type {bad['type'].iloc[0]!r} and dataset {bad['dataset'].iloc[0]!r}; types are"
            f" {', '.join(TYPES)}, datasets {', '.join(DATASETS)}"
        )
    return limited(run, frame[[*COLUMNS, "answer", "type", "spans", "reason"]])


async def benchmark(run, which, size, generator, max_tokens):
    """The items that are judged: COLUMNS, answer, type, hallucinated, spans (None: nobody marked any), reason (or empty).

    which: "built" (in `sample` the bundled answers, in `public` generated ones, without those that gave none) or
    "medhalu" (the released benchmark, a file of your own).
    """
    if which == "medhalu":
        items = released(run)
    elif which != "built":
        raise BedsideError(f"benchmark={which!r}: built or medhalu")
    elif run.profile == "sample":
        items = bundled(run)
    else:
        made = await build(run, chosen(run, size), generator, max_tokens)
        items = (
            made[made["status"] == "graded"]
            .drop(columns=["status", "truncated"])
            .assign(spans=None, reason="")
        )
    return items.assign(hallucinated=items["type"] != "none").reset_index(drop=True)
