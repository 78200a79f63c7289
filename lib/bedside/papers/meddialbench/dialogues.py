"""Dialogues: two speakers in turn, until an end that has a name.

    await hold(dialogues, first, second)

A dialogue is data. A speaker is an async function of the dialogue so far that returns a Reply, from
a model or from plain Python. Every reply of a model is recorded, so an interrupted run continues
where it stopped.
"""

import asyncio
import functools
import itertools
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from bedside.asking.replies import NO_ANSWER, Reply
from bedside.read import checks

ENDS = {
    "ended": "the first speaker ended it",
    "limit": "turns used up",
    "refused": "refused to go on",
    "empty": "said nothing",
    "tools": "called a tool in place of words",
    "cut off": "cut off while thinking",
    "repeated": "endless repetition",
    "role": "took the other's part",
    "failed": "call failed",
}
ENDED = ("ended", "limit")  # the others are break-offs
# endless repetition: RUN_OF words in a row TIMES times in a statement, or TIMES equal statements
RUN_OF, TIMES = 5, 3
REFUSES = re.compile(
    r"\bas an? (ai|(large )?language model)\b"
    r"|\bi(?:'m|’m| am)? ?(?:can(?:no|'|’)t|won(?:'|’)t|will not|unable to|not able to|must decline"
    r" to) (?:\w+ )?(?:assist|help|comply|engage|role-?play|play|provide|fulfil+)(?: you)?"
    r"(?: with| in)? (?:(?:this|that)(?=\W*$|[.!])|(?:(?:this|that|the|a|any|medical|such) )*"
    r"(?:request|role|part|scenario|advice|diagnosis|character)\b)",
    re.I,
)
# statements are compared with each other at every turn
normal = functools.lru_cache(maxsize=50_000)(checks.normal)


@dataclass(kw_only=True)
class Dialogue:
    """Turns of two speakers, `most` at most, and how it ended; subclasses say what it is about.

    turns: [first's, second's] statements; keys: of every reply, in order; end: of ENDS, empty while
    it goes on; by: who broke off; why: why the reply that it broke off with is no answer, if it
    isn't; truncated: how many replies were cut short.
    """

    most: int = 20
    turns: list[list[str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    end: str = ""
    by: str = ""
    why: str = ""
    truncated: int = 0

    speakers: ClassVar[tuple[str, str]] = ("first", "second")
    mark: ClassVar[str] = ""  # with which the first speaker ends the dialogue
    out_of_role: ClassVar[dict[str, re.Pattern]] = {}  # what would be the other's to say

    def take(self, speaker: str, reply: Reply) -> bool:
        """Take in a speaker's reply; whether the dialogue is over with it."""
        self.keys.append(reply.key)
        self.truncated += reply.truncated
        self.why = reply.why
        return self.say(speaker, reply.text, _fault(reply))

    def say(self, speaker: str, text: str, fault: str = "") -> bool:
        """Take in what a speaker says next; whether the dialogue is over with it.

        fault: the end that it is, whatever the text.
        """
        place, mark = self.speakers.index(speaker), ""
        if self.mark and not place:
            text, mark, _ = text.partition(self.mark)
        text = text.strip()
        before = [turn[place] for turn in self.turns]
        broken = fault or self._broken(speaker, text, before, ending=bool(mark))
        self.end, self.by = broken or "ended" * bool(mark), speaker if broken else ""
        if text and self.end != "ended":  # what it broke off with belongs to the dialogue
            if place:
                self.turns[-1][1] = text
            else:
                self.turns.append([text, ""])
        return bool(self.end)

    def _broken(self, speaker, text, before, ending):
        """The break-off that a statement is, or nothing. An ending needs no text."""
        out_of_role = self.out_of_role.get(speaker)
        if REFUSES.search(text):
            return "refused"
        if not normal(text):
            return "" if ending else "empty"
        if repeats(text, before):
            return "repeated"
        return "role" if out_of_role and out_of_role.search(text) else ""


def _fault(reply):
    """The end that a reply is whatever its text, or nothing."""
    if reply.error:
        return "failed"
    if reply.declined:
        return "refused"
    if reply.no_answer == NO_ANSWER["tool_calls"]:
        return "tools"
    return "cut off" if reply.no_answer and reply.finish == "length" else ""


def repeats(text: str, before: Iterable[str]) -> bool:
    """Endless repetition: five words or more for the third time, or three times within a text."""
    words = normal(text).split()
    runs = Counter(zip(*(words[k:] for k in range(RUN_OF))))
    if not runs:
        return False
    same = sum(normal(t) == normal(text) for t in before)
    return max(runs.values()) >= TIMES or same >= TIMES - 1


def messages(turns: Iterable[list[str]], own: int) -> list[dict[str, str]]:
    """What was said as a model's messages; `own` is its place (0 or 1) in each turn."""
    roles = ("assistant", "user") if own == 0 else ("user", "assistant")
    said = [(role, text) for turn in turns for role, text in zip(roles, turn)]
    return [{"role": role, "content": text} for role, text in said if text]


Speaker = Callable[[Dialogue], Awaitable[Reply]]


async def hold(
    dialogues: list[Dialogue],
    first: Speaker,
    second: Speaker,
    *,
    after: Callable[[Dialogue], Awaitable[None]] | None = None,
    at_once: int = 10_000,
) -> None:
    """Hold all dialogues, each turn as soon as its predecessor is there; they are filled in place.

    after: what is done with a dialogue when it is over. A StopRun, or a request that replay lacks,
    ends all; the replies that came are recorded.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(dialogue):
        async with gate:
            await _talk(dialogue, first, second)
            if after:
                await after(dialogue)

    tasks = [asyncio.ensure_future(one(dialogue)) for dialogue in dialogues]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _talk(dialogue, *speakers):
    for _ in range(dialogue.most):
        for name, says in zip(dialogue.speakers, speakers):
            if dialogue.take(name, await says(dialogue)):
                return
    dialogue.end = "limit"


def recite(dialogue: Dialogue, statements: Iterable[str]) -> None:
    """Take in statements that are there already, in turn, until the dialogue is over."""
    for name, text in zip(itertools.cycle(dialogue.speakers), statements):
        if dialogue.say(name, text):
            return
    dialogue.end = "limit"
