"""Cancer-Myth, second version: the methods that are to make models correct false presuppositions.

A method takes a run, a model and items (item, question) and gives answers: item, model, answer, reply_status,
truncated.
"""

import functools

from bedside import judges
from bedside.models import Request
from bedside.papers.cancer_myth.data import answers

LEVELS = ["basic", "intermediate", "advanced"]
PANEL = ["an oncologist", "a general practitioner", "a nurse specialised in cancer care"]
TEAMS = {
    "Diagnosis": ["a pathologist", "a radiologist"],
    "Treatment": ["an oncologist", "a surgeon"],
}


async def plain(run, model, items, max_tokens):
    """The question and nothing else."""
    return await answers(run, items, max_tokens, [model])


async def precautionary(run, model, items, max_tokens):
    """A fixed instruction to look for what is wrong in the question first."""
    return await answers(run, items, max_tokens, [model], "precautionary")


async def instructed(run, model, items, max_tokens, instruction):
    """An instruction before the question, as the optimiser finds it."""
    return await answers(run, items, max_tokens, [model], "instructed", instruction=instruction)


def every(instruction, note_tokens):
    """All methods by name; instruction: the optimiser's."""
    agents = functools.partial(multi_agent, note_tokens=note_tokens)
    return {
        "plain": plain,
        "precautionary": precautionary,
        "gepa": functools.partial(instructed, instruction=instruction),
        "multi_agent": agents,
        "multi_agent_monitor": functools.partial(agents, monitor=True),
    }


async def answered(run, model, how, sets, few, max_tokens):
    """Each method's answers to each set: yields (method, set, items, answers). The multi-agent ones get the first `few` items (0: all)."""
    for method, answer in how.items():
        for name, items in sets.items():
            use = items.head(few or len(items)) if method.startswith("multi_agent") else items
            yield method, name, use, await answer(run, model, use, max_tokens)


async def multi_agent(run, model, items, max_tokens, note_tokens, monitor=False):
    """MDAgents: a complexity check sends a question to one clinician, a panel that discusses, or teams that report.

    With `monitor` another agent looks for false presuppositions before the last answer is written. All agents are the
    same model. The frame has two more columns: complexity, and calls (how many an answer took). An item for which a
    step fails has no answer; reply_status says which step.
    """
    import pandas as pd

    cases = [_Case(r.item, r.question) for r in items.itertuples()]
    await _each(
        run,
        model,
        cases,
        24,
        "agents_complexity",
        "complexity",
        lambda c: {},
        judges.schema(LEVELS, "complexity"),
        _set_level,
    )
    at = {level: [c for c in cases if c.level == level] for level in LEVELS}
    await _notes(
        run,
        model,
        at["intermediate"],
        note_tokens,
        dict.fromkeys(PANEL, "Give your view in two or three sentences."),
    )
    await _notes(
        run,
        model,
        at["intermediate"],
        note_tokens,
        dict.fromkeys(PANEL, "Say in two or three sentences where you agree and where you don't."),
    )
    for team, members in TEAMS.items():
        for tasks in (
            dict.fromkeys(members, "Note in two or three sentences what matters."),
            {f"the lead of the {team.lower()} team": "Sum your team's notes up as its report."},
        ):
            await _notes(run, model, at["advanced"], note_tokens, tasks, team)
    for c in at["advanced"]:
        c.notes = [
            n for n in c.notes if n[0].startswith("the lead")
        ]  # the reports are what goes on
    if monitor:
        await _each(
            run,
            model,
            cases,
            note_tokens,
            "agents_monitor",
            "monitor",
            lambda c: {"notes": c.notes},
            None,
            _set_watch,
        )
    await _each(
        run,
        model,
        cases,
        max_tokens,
        "agents_answer",
        "answers",
        lambda c: {"notes": c.notes, "monitor": c.watch},
        None,
        _set_answer,
    )
    return pd.DataFrame(
        [(c.item, model, c.answer, c.lost, c.cut, c.level, c.calls) for c in cases],
        columns=["item", "model", "answer", "reply_status", "truncated", "complexity", "calls"],
    )


class _Case:
    """An item on its way through the agents."""

    def __init__(self, item, question):
        self.item, self.question = item, question
        self.level, self.notes, self.watch, self.answer = "", [], "", ""
        self.lost, self.cut, self.calls = "", False, 0


def _set_level(case, reply):
    found = judges.verdict(reply, LEVELS, "complexity")
    case.level = found.value or ""
    case.lost = "" if found.value else f"complexity {found.status}"


def _set_watch(case, reply):
    case.watch = reply.text or reply.refusal


def _set_answer(case, reply):
    case.answer, case.cut = reply.text or reply.refusal, reply.truncated


async def _each(run, model, cases, max_tokens, template, step, fields, response_format, take):
    """One step for all cases that have got so far: ask, and `take` each reply."""
    going = [c for c in cases if not c.lost]
    requests = [
        Request(
            c.item,
            model,
            run.prompt(template, question=c.question, **fields(c)),
            {"max_tokens": max_tokens, "temperature": 0},
            response_format,
        )
        for c in going
    ]
    for case, reply in zip(going, await run.ask(requests, f"agents: {step}"), strict=True):
        case.calls += 1
        if reply.error:
            case.lost = f"{step}: {reply.error}"
        else:
            take(case, reply)


async def _notes(run, model, cases, max_tokens, tasks, team=None):
    """Notes of several speakers at once, who see what was noted before (within their team, if there is one)."""
    cases = [c for c in cases if not c.lost]
    before = {c: [n for n in c.notes if team is None or n[0].endswith(f"({team})")] for c in cases}
    for speaker, task in tasks.items():
        name = f"{speaker} ({team})" if team and not speaker.startswith("the lead") else speaker
        await _each(
            run,
            model,
            cases,
            max_tokens,
            "agents_note",
            speaker,
            lambda c: {"role": speaker, "notes": before[c], "task": task},
            None,
            lambda c, reply: c.notes.append((name, reply.text or reply.refusal)),
        )
