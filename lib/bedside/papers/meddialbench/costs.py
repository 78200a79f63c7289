"""MedDialBench: expected calls, tokens and prices of whole studies, before any of them is run."""

import pandas as pd

from bedside.asking import registry

from .consultations import END, OPENING, blocks
from .printed import MODELS, N

# named, so that an entry which a user adds to data/models.toml changes no committed table
PRICED = ("gpt-6-luna", "claude-opus-4-6")
CHARS_PER_TOKEN = 3  # for expected tokens; what a plan says at most assumes 1


def expected(run, here, turns, said, models=PRICED):
    """Consultations, calls, tokens and price of whole studies: a frame, studies by what they cost.

    here: a SetUp, whose first case's prompts are taken. A consultation has `turns` turns, each with
    two statements of `said` tokens. Prices are those of `models`, a cheap and an expensive one of
    data/models.toml, as doctor and patient alike. NaN without a case.
    """
    prompt, reply = _tokens(run, here, turns, said)
    calls = 2 * turns + 2  # of a consultation
    count = {c: len(here.design.configurations(c)) for c in ("", "paper", "adverse")}
    sizes = {
        "the paper's design, a doctor": N * count["paper"],
        "the paper's study": len(MODELS) * N * count["paper"],
        f"all {count['adverse'] - count['']} pairs, a doctor": N * count["adverse"],
    }
    costs = pd.DataFrame({"consultations": pd.Series(sizes)})
    costs["calls"] = (costs["consultations"] * calls).round()
    costs["prompt tokens, millions"] = costs["consultations"] * prompt / 1e6
    costs["reply tokens, millions"] = costs["consultations"] * reply / 1e6
    for m in models:
        one = registry.cost(m, prompt / calls, reply / calls) * calls
        costs[f"USD with {m}"] = costs["consultations"] * one
    return costs


def _tokens(run, here, turns, said):
    """Prompt tokens, estimated with caution, and reply tokens of one consultation.

    Each prompt holds the dialogue so far, so tokens grow with the square of the turns.
    """
    if here.cases.empty:
        return float("nan"), float("nan")
    case = next(here.cases.itertuples())
    told = blocks(here.design, here.scripts, case.item, tuple(here.design.extreme[:2]))
    openings = (
        run.prompt("doctor", complaint=case.complaint, mark=END),
        run.prompt("patient", case=case._asdict(), blocks=told, opening=OPENING),
    )
    doctor, patient = (sum(len(m["content"]) for m in x) / CHARS_PER_TOKEN for x in openings)
    grown = said * turns * (turns - 1)  # the sum of 2 * said * t over the turns
    last = 2 * (doctor + 2 * said * turns)  # the ending and the diagnosis as well
    return turns * (doctor + patient) + 2 * grown + last, said * (2 * turns + 1)
