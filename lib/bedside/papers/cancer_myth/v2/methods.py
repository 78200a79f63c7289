"""Methods that are meant to make models correct false presuppositions.

A method takes a run, a model and items (item, question), and returns answers: item, model, answer,
reply_status, truncated.
"""

import functools

import pandas as pd

from bedside.asking.replies import WAITS
from bedside.read.sources import random_rows

from ..study import answers
from .agents import multi_agent


async def prompted(run, model, items, max_tokens, template, **fields):
    """The question in a template, with its other fields; temperature among these."""
    return await answers(run, items, max_tokens, [model], template, **fields)


async def instructed(run, model, items, max_tokens, instruction, temperature=0):
    """The optimiser's instruction before the question; while there is none, answers wait."""
    if instruction is None:
        nothing = {"answer": "", "reply_status": WAITS, "truncated": False, "sent": ""}
        return items[["item"]].assign(model=model, **nothing)
    more = {"instruction": instruction, "temperature": temperature}
    return await prompted(run, model, items, max_tokens, "instructed", **more)


async def as_systems(run, questions, size, rounds, max_tokens):
    """Answers of MDAgents with each of the run's models (section 4.2), as `study.answers`.

    size: how many questions are drawn with the seed; 0: none. The system's name is the model's with
    "(MDAgents)".
    """
    use, parts = random_rows(run, questions, size) if size else questions.head(0), []
    for name in run.models:
        made = await multi_agent(run, name, use, max_tokens, rounds=rounds)
        parts.append(made.assign(model=f"{name} (MDAgents)"))
    return pd.concat(parts, ignore_index=True).drop(columns=["complexity", "calls"])


def every(instruction, rounds=0, temperature=0):
    """All methods by name. instruction: the optimiser's; rounds: as `multi_agent` takes them.

    temperature: of all but the agents. Plain is the question and nothing else; precautionary has a
    fixed instruction to look first for anything wrong in it.
    """
    at = {"temperature": temperature}
    agents = functools.partial(multi_agent, rounds=rounds)
    return {
        "plain": functools.partial(prompted, template="answer", **at),
        "precautionary": functools.partial(prompted, template="precautionary", **at),
        "gepa": functools.partial(instructed, instruction=instruction, **at),
        "multi_agent": agents,
        "multi_agent_monitor": functools.partial(agents, monitor=True),
    }


async def answered(run, instructions, sets, few, max_tokens, **how):
    """Each method's answers to each set by each model: {method: answers, with the set}.

    instructions: the optimiser's, by model; how: as of `every`. The multi-agent methods get the
    first `few` items (0: all).
    """
    parts = {}
    for model, instruction in instructions.items():
        for method, answer in every(instruction, **how).items():
            for name, items in sets.items():
                use = items.head(few or len(items)) if method.startswith("multi_agent") else items
                made = await answer(run, model, use, max_tokens)
                parts.setdefault(method, []).append(made.assign(set=name))
    return {method: pd.concat(made, ignore_index=True) for method, made in parts.items()}
