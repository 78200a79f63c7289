"""Dialogues of two speakers: their ends, what is there already, what a model is sent."""

import asyncio
import re
from typing import ClassVar

import pytest

from bedside.asking import dialogues
from bedside.asking.dialogues import Dialogue
from bedside.keep.replies import Reply


class Talk(Dialogue):
    """A talk that the first speaker ends with a mark."""

    speakers: ClassVar = ("host", "guest")
    mark: ClassVar = "[BYE]"
    out_of_role: ClassVar = {"guest": re.compile("next question")}


def says(*texts):
    """A speaker who says these in turn."""
    left = iter(texts)

    async def say(dialogue):
        text = next(left)
        return text if isinstance(text, Reply) else Reply("", "m", f"key of {text}", text=text)

    return say


def held(talk, host, guest, **more):
    asyncio.run(dialogues.hold([talk], says(*host), says(*guest), **more))
    return talk


ENDS = [
    (["How?", "[BYE]"], ["So."], "ended", "", [["How?", "So."]]),
    (["How?", "Well. [BYE]"], ["So."], "ended", "", [["How?", "So."]]),
    (["How?", "Why?"], ["So.", "Thus."], "limit", "", [["How?", "So."], ["Why?", "Thus."]]),
    (["How?"], ["..."], "empty", "guest", [["How?", "..."]]),
    (["How?"], [""], "empty", "guest", [["How?", ""]]),
    (["As an AI I can't. [BYE]"], [], "refused", "host", [["As an AI I can't.", ""]]),
    (["How?"], ["The next question!"], "role", "guest", [["How?", "The next question!"]]),
    (
        ["The next question: how?", "[BYE]"],
        ["So."],
        "ended",
        "",
        [["The next question: how?", "So."]],
    ),
    (["one two three four five " * 3], [], "repeated", "host", None),
]


@pytest.mark.parametrize("host, guest, end, by, turns", ENDS, ids=range(len(ENDS)))
def test_a_dialogue_ends_and_its_end_has_a_name(host, guest, end, by, turns):
    talk = held(Talk(most=2), host, guest)
    assert (talk.end, talk.by) == (end, by) and end in dialogues.ENDS
    assert turns is None or talk.turns == turns
    said = [text for pair in zip(host, [*guest, ""]) for text in pair][: len(host) + len(guest)]
    assert talk.keys == [f"key of {text}" for text in said]
    again = Talk(most=2)
    dialogues.recite(again, said)
    assert (again.end, again.by, again.turns) == (talk.end, talk.by, talk.turns)


@pytest.mark.parametrize(
    "reply, end",
    [
        (Reply("", "m", "k", error="500"), "failed"),
        (Reply("", "m", "k", refusal="No."), "refused"),
        (Reply("", "m", "k", text="Half a", finish="content_filter"), "refused"),
        (Reply("", "m", "k", finish="content_filter", no_answer="filtered"), "refused"),
        (Reply("", "m", "k", finish="length", no_answer="cut off while thinking"), "cut off"),
        (Reply("", "m", "k", finish="stop", no_answer="blank"), "empty"),
        (Reply("", "m", "k", text="Let me look.", no_answer="tool calls"), "tools"),
    ],
)
def test_what_a_model_does_not_say_breaks_off(reply, end):
    talk = held(Talk(), ["How?"], [reply])
    assert (talk.end, talk.by, talk.keys[-1]) == (end, "guest", "k") and end in dialogues.ENDS
    assert talk.why == reply.why and talk.truncated == 0
    assert talk.turns == [["How?", reply.text]]


def test_after_a_dialogue_comes_what_is_to_come():
    done = []

    async def after(talk):
        done.append(talk.end)

    talk = held(Talk(most=0), [], [], after=after)
    assert done == ["limit"] and talk.turns == []


def test_each_speaker_is_sent_the_dialogue_as_his_own():
    turns = [["How?", "So."], ["Why?", ""]]
    roles = [[m["role"] for m in dialogues.messages(turns, own)] for own in (0, 1)]
    assert roles == [["assistant", "user", "assistant"], ["user", "assistant", "user"]]
    assert [m["content"] for m in dialogues.messages(turns, 1)] == ["How?", "So.", "Why?"]
