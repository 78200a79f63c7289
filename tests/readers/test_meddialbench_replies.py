"""MedDialBench: what replies say: how a dialogue ends, a diagnosis, numbers, facts, a script."""

import tomllib
from pathlib import Path

import pytest

from bedside.asking.replies import Reply
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import generation, judging
from bedside.papers.meddialbench.consultations import END
from meddialbench_speakers import held

TEXT = Path(__file__).with_name("meddialbench_replies.toml").read_text("utf-8")
KNOWN = tomllib.loads(TEXT.replace("{END}", END))
FINE = "It may be a bit more on some days."
BROKEN = [(who, said, end) for end, both, said in KNOWN["breaks"] for who in both.split()]
BROKEN += [
    (who, [FINE, Reply("", "m", "", **reply)], end)
    for end, reply in KNOWN["silent"]
    for who in ("doctor", "patient")
]


@pytest.mark.parametrize("who, lines, end", BROKEN, ids=range(len(BROKEN)))
def test_a_dialogue_breaks_off_and_keeps_what_was_said(who, lines, end):
    c, asked = held(**{who: lines})
    assert (c.end, c.by, asked) == (end, who, 0) and (c.diagnosis, c.status) == ("", "error")
    spoken = 2 * len(lines) - (who == "doctor")
    assert c.keys == [f"{w}{n}" for n in range(4) for w in "dp"][:spoken]
    last = (lines[-1].text if isinstance(lines[-1], Reply) else lines[-1]).strip()
    said = [x for turn in c.turns for x in turn if x]
    assert len(said) == spoken - (not last)
    assert not last or said[-1] == last.replace(END * (who == "doctor"), "").strip()
    row = talks.frame([c]).iloc[0]
    told = row["reply_status"], row["diagnosis"], row["turns"]
    assert told == (f"{end}, {who}", "", len(c.turns))


@pytest.mark.parametrize("who", KNOWN["harmless"])
def test_what_people_say_breaks_nothing_off(who):
    for lines in KNOWN["harmless"][who]:
        c, asked = held(**{who: lines})
        assert (c.end, asked) == ("limit", 1), lines
        assert [t[who == "patient"] for t in c.turns[: len(lines)]] == lines
    assert held([FINE, FINE], [FINE, FINE])[0].end == "limit"  # two may say the same


@pytest.mark.parametrize("doctor, turns", KNOWN["marked"])
def test_a_doctor_ends_the_inquiry_with_the_mark_or_its_turns_are_used_up(doctor, turns):
    c, asked = held(doctor)
    marked = turns < 4
    assert (c.end, c.by, len(c.turns), asked) == ("ended" if marked else "limit", "", turns, 1)
    assert (c.diagnosis, c.status) == ("Gout", "graded") and END not in talks.transcript(c)
    keys = [f"{w}{n}" for n in range(turns) for w in "dp"]
    assert c.keys == [*keys, *[f"d{turns}"] * marked, "x"] and all(q and a for q, a in c.turns)


def test_a_frame_has_what_was_said_and_how_often_it_was_cut():
    cut = Reply("", "m", "", text="I was cut off in the mid", finish="length")
    row = talks.frame([held([cut, "One\nmore?"], [FINE, cut], turns=2)[0]]).iloc[0]
    assert (row["truncated"], row["turns"]) == (2, 2)
    assert row["names"] == ["Disease A", "A disease"] and row["item"] == "case-A plain m"
    said = ["My toe number A hurts.", FINE, cut.text]
    assert row["said"].split("\n") == said
    asked = [talks.OPENING, cut.text, "One more?"]
    spoken = [x for q, a in zip(asked, said) for x in (f"Doctor: {q}", f"Patient: {a}")]
    assert row["dialogue"].split("\n") == spoken


@pytest.mark.parametrize("reply, diagnosis, status", KNOWN["diagnoses"])
def test_a_diagnosis_is_read_or_has_a_status(reply, diagnosis, status):
    c, _ = held(turns=1, last=Reply("", "m", "", **reply) if isinstance(reply, dict) else reply)
    assert (c.end, c.diagnosis, c.status, c.keys[-1]) == ("limit", diagnosis, status, "x")
    assert talks.frame([c]).iloc[0]["reply_status"] == status.replace("graded", "")


READ = {
    "which": lambda text: judging.parse_which(text, 3),
    "facts": generation.facts_in,
    "scripts": generation.parse_script,
}


@pytest.mark.parametrize("what", READ)
def test_numbers_key_items_and_scripts_are_read_out_of_a_reply_or_there_are_none(what):
    for text, *expected in KNOWN[what]:
        found = READ[what](text)
        assert (found if found is None else [*found]) == next(iter(expected), None), text
