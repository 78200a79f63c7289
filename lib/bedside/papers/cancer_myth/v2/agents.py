"""MDAgents: by complexity a question goes to a clinician, a panel, or teams that report."""

from dataclasses import dataclass, field

import pandas as pd

from bedside.asking import registry, replies
from bedside.asking.replies import VERDICT_TOKENS, Request
from bedside.judging import parsing

from ..study import ANSWER

LEVELS = ["basic", "intermediate", "advanced"]
NOTE = "agent's note"  # a kind of text, as ANSWER
NOTE_TOKENS = 1000  # limit of one; the paper names none
PANEL = ["an oncologist", "a general practitioner", "a nurse specialised in cancer care"]
LEAD = "the lead of"  # so begin those who write reports
TEAMS = {
    "Diagnosis": ["a pathologist", "a radiologist"],
    "Treatment": ["an oncologist", "a surgeon"],
}

EXPERTS, TEAM_COUNT, MEMBERS = 5, 3, 3  # at most so many are recruited
NOTES = "Note in two or three sentences what matters."
VIEW = "Give your view in two or three sentences."
TALK = (
    "Read the others' views. Say in two or three sentences what you would tell or ask which of"
    " them, or that you have nothing to add."
)
SUM = "Sum the discussion up as a report for the clinician who answers."
MODERATOR = "the moderator of the discussion"


async def multi_agent(run, model, items, max_tokens, monitor=False, rounds=0):
    """Answers of a system of agents, all of which are the same model.

    rounds: at most so many rounds of discussion, as MDAgents has them: roles are recruited for each
    question, and a moderator sums up (`_Recruited`). 0 is shorter: the roles are fixed, the panel
    replies once, teams report, and nobody moderates. With `monitor` another agent looks for false
    presuppositions before the final answer is written. The frame has two more columns: complexity,
    and calls (how many the answer took). sent has the keys of all these calls, separated by blanks.
    If a step fails or brings no answer, the item has none, and reply_status says which step and
    why.
    """
    cases = [Case(r.item, r.question) for r in items.itertuples()]
    agents = _Recruited(run, model, rounds) if rounds else _Agents(run, model)
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

    notes: (speaker, text) each; recruits: roles, or {team: roles}; lost: at which step it ended,
    and why; sent: keys of requests.
    """

    item: str
    question: str
    level: str = ""
    notes: list = field(default_factory=list)
    recruits: object = ()
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

    async def sort(self, cases):
        """How complex is each question?"""
        for case, reply in await self._choose(cases, "complexity", LEVELS):
            found = parsing.verdict(reply, LEVELS, "complexity")
            case.level = found.value or ""
            case.lost = "" if found.value else f"complexity {found.status}"

    async def discuss(self, cases):
        """A panel: each member gives a view unseen by the others, and then replies to all views."""
        reply = "Say in two or three sentences where you agree and where you don't."
        for task in (VIEW, reply):
            await self._note({(c, member, None): task for member in PANEL for c in cases})

    async def report(self, cases):
        """Teams: members write notes and leads write reports; only the reports are passed on."""
        members = [(m, team) for team, mine in TEAMS.items() for m in mine]
        await self._note({(c, *member): NOTES for member in members for c in cases})
        leads = {team: f"{LEAD} the {team.lower()} team" for team in TEAMS}
        task = "Sum your team's notes up as its report."
        await self._note({(c, lead, team): task for team, lead in leads.items() for c in cases})
        self._only_reports(cases)

    def _only_reports(self, cases):
        for case in cases:
            case.notes = [note for note in case.notes if note[0].startswith(LEAD)]

    async def watch(self, cases):
        """A monitor says what the question takes for granted."""
        asked = {(c, "monitor"): {"notes": c.notes} for c in cases}
        for (case, _), reply in await self._ask(asked, NOTE_TOKENS, "agents_monitor", NOTE):
            case.warning = reply.text

    async def answer(self, cases, max_tokens):
        """A clinician answers, with the notes and what the monitor said."""
        asked = {(c, "answers"): {"notes": c.notes, "monitor": c.warning} for c in cases}
        for (case, _), reply in await self._ask(asked, max_tokens, "agents_answer", ANSWER):
            case.answer, case.cut = reply.text, reply.truncated

    async def _choose(self, cases, key, values, template="agents_complexity", shows=()):
        """(case, reply) of those that reply to a question with these values, under a key."""
        asked = {(c, key): {name: getattr(c, name) for name in shows} for c in cases}
        form = replies.verdict_format(values, key)
        found = await self._ask(asked, VERDICT_TOKENS, template, "verdict", form)
        return [(case, reply) for (case, _), reply in found]

    async def _note(self, tasks):
        """Notes by several speakers at once, who see the earlier notes (of their team, if any).

        tasks: {(case, speaker, team): what to do}. Reports are seen by all teams.
        """
        asked = {}
        for (c, speaker, team), task in tasks.items():
            own = f"({team})"
            seen = [n for n in c.notes if not team or n[0].endswith(own) or n[0].startswith(LEAD)]
            asked[c, speaker, team] = {"role": speaker, "notes": seen, "task": task}
        found = await self._ask(asked, NOTE_TOKENS, "agents_note", NOTE)
        for (case, speaker, team), reply in found:
            member = team and not speaker.startswith(LEAD)
            name = f"{speaker} ({team})" if member else speaker
            case.notes.append((name, reply.text))

    async def _ask(self, asked, max_tokens, template, kind, response_format=None):
        """Replies to {(case, step or speaker, ...): its prompt's fields}, each with its key.

        A case without a reply is lost.
        """
        going = {k: fields for k, fields in asked.items() if not k[0].lost}
        most = registry.most(self.model, max_tokens, kind)
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


ROLE = {"type": "string"}


def _several(one, most):
    return {"type": "array", "items": one, "minItems": 1, "maxItems": most}


@dataclass
class _Recruited(_Agents):
    """The steps as MDAgents has them (Kim et al., 2024): roles are recruited for each question.

    A panel discusses until a moderator finds that it agrees, at most `rounds` times, and the
    moderator's report is passed on. Teams work one after the other, and each sees the reports of
    those before it. Unlike there, all see what one expert says to another, and nothing is sampled.
    """

    rounds: int = 1

    async def discuss(self, cases):
        form = replies.response_format("panel", experts=_several(ROLE, EXPERTS))
        await self._recruit(cases, "experts", EXPERTS, form)
        await self._note({(c, expert, None): VIEW for c in cases for expert in c.recruits})
        going = cases
        for _ in range(self.rounds):
            await self._note({(c, expert, None): TALK for c in going for expert in c.recruits})
            going = await self._differing(going)
        await self._note({(c, MODERATOR, None): SUM for c in cases})
        for case in cases:
            case.notes = case.notes[-1:]

    async def report(self, cases):
        team = replies.json_object(name=ROLE, members=_several(ROLE, MEMBERS))
        form = replies.response_format("teams", teams=_several(team, TEAM_COUNT))
        await self._recruit(cases, "teams", TEAM_COUNT, form)
        for k in range(TEAM_COUNT):
            there = [(c, c.recruits[k]) for c in cases if c.recruits[k:]]
            named = [(c, m, t["name"]) for c, t in there for m in t["members"][1:]]
            await self._note(dict.fromkeys(named, NOTES))
            leads = [(c, f"{LEAD} {t['name']}, {t['members'][0]}", t["name"]) for c, t in there]
            await self._note(dict.fromkeys(leads, "Write the report."))
        self._only_reports(cases)

    async def _recruit(self, cases, what, most, form):
        """Whom does a recruiter ask? A list under the name `what`; without one a case is lost."""
        asked = {(c, "recruits"): {"what": what, "most": most, "members": MEMBERS} for c in cases}
        found = await self._ask(asked, NOTE_TOKENS, "agents_recruit", NOTE, form)
        for (case, _), reply in found:
            try:
                named = parsing.json_in(reply.text)[what]
                case.recruits = [_recruited(one) for one in named][:most]
            except (ValueError, KeyError, TypeError, AttributeError):
                pass
            if not case.recruits:
                case.lost = "recruits unparsed"

    async def _differing(self, cases):
        """The cases whose panel doesn't agree yet, by the moderator."""
        values, template = ["yes", "no"], "agents_moderator"
        found = await self._choose(cases, "agreed", values, template, ("notes",))
        return [c for c, said in found if parsing.verdict(said, values, "agreed").value != "yes"]


def _recruited(one):
    """A role, or a team of a name and members; ValueError if one has no words."""
    if isinstance(one, dict):
        return {"name": _recruited(one["name"]), "members": [*map(_recruited, one["members"])]}
    if not one.strip():
        raise ValueError("a role without words")
    return one.strip()
