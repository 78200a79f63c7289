"""MDAgents: by complexity a question goes to a clinician, a panel, or teams that report."""

from dataclasses import dataclass, field

import pandas as pd

from bedside import judges, models
from bedside.models import Request

from ..study import ANSWER

LEVELS = ["basic", "intermediate", "advanced"]
NOTE = "agent's note"  # a kind of text, as ANSWER
PANEL = ["an oncologist", "a general practitioner", "a nurse specialised in cancer care"]
TEAMS = {
    "Diagnosis": ["a pathologist", "a radiologist"],
    "Treatment": ["an oncologist", "a surgeon"],
}


async def multi_agent(run, model, items, max_tokens, note_tokens, monitor=False):
    """Answers of a system of agents, all of which are the same model.

    With `monitor` another agent looks for false presuppositions before the final answer is written.
    The frame has two more columns: complexity, and calls (how many the answer took). sent has the
    keys of all these calls, separated by blanks. If a step fails or brings no answer, the item has
    none, and reply_status says which step and why.
    """
    cases = [Case(r.item, r.question) for r in items.itertuples()]
    agents = _Agents(run, model, note_tokens)
    await agents.sort(cases)
    await agents.discuss([c for c in cases if c.level == "intermediate"])
    await agents.report([c for c in cases if c.level == "advanced"])
    if monitor:
        await agents.watch(cases)
    await agents.answer(cases, max_tokens)
    return pd.DataFrame(
        [
            (c.item, model, c.answer, c.lost, c.cut, " ".join(c.sent), c.level, len(c.sent))
            for c in cases
        ],
        columns="item model answer reply_status truncated sent complexity calls".split(),
    )


@dataclass(eq=False)
class Case:
    """An item on its way through the agents.

    notes: (speaker, text) each; lost: at which step it ended, and why; sent: keys of requests.
    """

    item: str
    question: str
    level: str = ""
    notes: list = field(default_factory=list)
    warning: str = ""
    answer: str = ""
    lost: str = ""
    cut: bool = False
    sent: list = field(default_factory=list)


@dataclass
class _Agents:
    """The steps, each for all cases at once that have come so far."""

    run: object
    model: str
    note_tokens: int

    async def sort(self, cases):
        """How complex is each question?"""
        schema = judges.schema(LEVELS, "complexity")
        asked = {(c, "complexity"): {} for c in cases}
        most, template = judges.VERDICT_TOKENS, "agents_complexity"
        for (case, _), reply in await self._ask(asked, most, template, "verdict", schema):
            found = judges.verdict(reply, LEVELS, "complexity")
            case.level = found.value or ""
            case.lost = "" if found.value else f"complexity {found.status}"

    async def discuss(self, cases):
        """A panel: each member gives a view unseen by the others, and then replies to all views."""
        view = "Give your view in two or three sentences."
        reply = "Say in two or three sentences where you agree and where you don't."
        for task in (view, reply):
            await self._note(cases, {(member, None): task for member in PANEL})

    async def report(self, cases):
        """Teams: members write notes and leads write reports; only the reports are passed on."""
        note = "Note in two or three sentences what matters."
        await self._note(cases, {(m, team): note for team, mine in TEAMS.items() for m in mine})
        leads = {team: f"the lead of the {team.lower()} team" for team in TEAMS}
        task = "Sum your team's notes up as its report."
        await self._note(cases, {(lead, team): task for team, lead in leads.items()})
        for case in cases:
            case.notes = [note for note in case.notes if note[0].startswith("the lead")]

    async def watch(self, cases):
        """A monitor says what the question takes for granted."""
        asked = {(c, "monitor"): {"notes": c.notes} for c in cases}
        most = self.note_tokens
        for (case, _), reply in await self._ask(asked, most, "agents_monitor", NOTE):
            case.warning = reply.text

    async def answer(self, cases, max_tokens):
        """A clinician answers, with the notes and what the monitor said."""
        asked = {(c, "answers"): {"notes": c.notes, "monitor": c.warning} for c in cases}
        for (case, _), reply in await self._ask(asked, max_tokens, "agents_answer", ANSWER):
            case.answer, case.cut = reply.text, reply.truncated

    async def _note(self, cases, tasks):
        """Notes by several speakers at once, who see the earlier notes (of their team).

        tasks: {(speaker, team): what to do}.
        """
        asked = {}
        for (speaker, team), task in tasks.items():
            for c in cases:
                seen = [n for n in c.notes if not team or n[0].endswith(f"({team})")]
                asked[c, speaker, team] = {"role": speaker, "notes": seen, "task": task}
        most = self.note_tokens
        for (case, speaker, team), reply in await self._ask(asked, most, "agents_note", NOTE):
            member = team and not speaker.startswith("the lead")
            name = f"{speaker} ({team})" if member else speaker
            case.notes.append((name, reply.text))

    async def _ask(self, asked, max_tokens, template, kind, response_format=None):
        """Replies to {(case, step or speaker, ...): its prompt's fields}, each with its key.

        A case without a reply is lost.
        """
        going = {k: fields for k, fields in asked.items() if not k[0].lost}
        most = models.most(self.model, max_tokens, kind)
        settings = {"max_tokens": most, "temperature": 0}
        requests = []
        for (case, *_), fields in going.items():
            prompt = self.run.prompt(template, question=case.question, **fields)
            requests.append(Request(case.item, self.model, prompt, settings, response_format))
        came = []
        replies = await self.run.ask(requests, template.replace("_", ": "))
        for k, reply in zip(going, replies, strict=True):
            case, step, *_ = k
            case.sent.append(reply.key)
            if reply.why:
                case.lost = case.lost or f"{step}, {reply.why}"
            else:
                came.append((k, reply))
        return came
