"""MedDialBench: expected calls, tokens and prices of whole studies, before any of them is run."""

import pandas as pd

from bedside.asking import registry

from . import study
from .printed import MODELS, N

# named, so that an entry which a user adds to data/models.toml changes no committed table
PRICED = ("gpt-6-luna", "claude-opus-4-6")
CHARS_PER_TOKEN = 3  # for expected tokens; what a plan says at most assumes 1


def expected(run, here, turns, said, models=PRICED):
    """Consultations, calls, tokens and price of whole studies: a frame, studies by what they cost.

    here: a SetUp, whose first case's prompts are taken. A consultation has `turns` turns, each with
    two statements of `said` tokens. Each prompt holds the dialogue so far, so tokens grow with the
    square of the turns. Prices are those of `models`, a cheap and an expensive one of
    data/models.toml, as doctor and patient alike. NaN without a case.
    """
    doctor = patient = float("nan")
    if len(here.cases):
        talks = study.openings(run, here, here.design.extreme[:2], models[0])
        texts = ([m["content"] for m in talk if m["role"] != "assistant"] for talk in talks)
        doctor, patient = (len("".join(text)) / CHARS_PER_TOKEN for text in texts)
    calls = 2 * turns + 2  # of a consultation
    # the sum of 2 * said * t over the turns, twice, and the ending and the diagnosis as well
    prompt = turns * (doctor + patient + 2 * said * (turns - 1)) + 2 * (doctor + 2 * said * turns)
    reply = said * (2 * turns + 1)
    count = {c: len(here.design.configurations(c)) for c in ("", "paper", "adverse")}
    sizes = {
        "the paper's design, a doctor": N * count["paper"],
        "the paper's study": len(MODELS) * N * count["paper"],
        f"all {count['adverse'] - count['']} pairs, a doctor": N * count["adverse"],
    }
    costs = pd.DataFrame({"consultations": pd.Series(sizes)})
    costs["calls"] = (costs["consultations"] * calls).round()
    for what, tokens in {"prompt": prompt, "reply": reply}.items():
        costs[f"{what} tokens, millions"] = costs["consultations"] * tokens / 1e6
    for m in models:
        one = registry.cost(m, prompt / calls, reply / calls) * calls
        costs[f"USD with {m}"] = costs["consultations"] * one
    return costs
