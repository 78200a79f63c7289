"""MedDialBench: what replies say: how a dialogue ends, a diagnosis, numbers, facts, a script."""

import json

import pytest

from bedside.asking.replies import Reply
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import generation, judging
from bedside.papers.meddialbench.consultations import END
from meddialbench_speakers import held

FINE = "It may be a bit more on some days."
BREAKS = [  # the end, who can say so, and what is said up to it
    ("refused", "doctor patient", ["I'm sorry, but I can't assist with that request."]),
    ("refused", "doctor patient", [FINE, "As an AI language model, I have no body."]),
    ("refused", "doctor patient", ["I’m unable to play this role."]),
    ("refused", "doctor", [f"As an AI I can't play the doctor's role. {END}"]),
    ("empty", "doctor patient", [FINE, ""]),
    ("empty", "doctor patient", [" \n ...\n"]),
    (
        "repeated",
        "doctor patient",
        [FINE, "I feel it here.", FINE, "It may be a BIT more, on some days"],
    ),
    ("repeated", "doctor patient", ["and it comes and goes " * 3]),
    ("repeated", "doctor patient", ["so so so so so so so"]),
    ("role", "doctor", [FINE, "Does it hurt?\nPatient: Yes, it does."]),
    ("role", "doctor", ["**Patient:** I feel worse."]),
    ("role", "patient", [FINE, "I feel worse.\nDoctor: And at night?"]),
    ("role", "patient", ["Have your knees been swollen, and do you smoke?"]),
    ("role", "patient", ["I'm here to listen, so let me hear all of it."]),
    ("role", "patient", [FINE, "Tell me about your symptoms and I will see."]),
    ("role", "patient", [f"I have said all. {END}"]),
]
SILENT = [  # replies whose text, if any, doesn't count
    ("failed", {"error": "500 from the endpoint"}),
    ("refused", {"refusal": "No."}),
    ("refused", {"text": "Half a sentence that", "finish": "content_filter"}),
    ("cut off", {"finish": "length", "no_answer": "cut off"}),
    ("empty", {"text": " \n", "no_answer": "blank"}),
    ("tools", {"text": "Let me look.", "no_answer": "tool calls"}),
]
ALL = BREAKS + [(end, "doctor patient", [FINE, Reply("", "m", "", **r)]) for end, r in SILENT]
BROKEN = [(who, lines, end) for end, both, lines in ALL for who in both.split()]


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


HARMLESS = {
    "patient": [
        ["No."] * 4,
        ["No, not at all, doctor."] * 2,
        ["Can I sit down? Do you think it is my heart?"],
        ["I don't know. What do you think?"],
        ["I can't play tennis any more, and I can't help it."],
        ["I won't continue this conversation."],
        ["My doctor: he says it is gout."],
    ],
    "doctor": [
        ["Yes?"] * 4,
        ["Are you the patient: yes or no?"],
        ["I can't hear you well, what was that?"],
        ["How can I help you today?"],
    ],
}


@pytest.mark.parametrize("who", HARMLESS)
def test_what_people_say_breaks_nothing_off(who):
    for lines in HARMLESS[who]:
        c, asked = held(**{who: lines})
        assert (c.end, asked) == ("limit", 1), lines
        assert [t[who == "patient"] for t in c.turns[: len(lines)]] == lines
    assert held([FINE, FINE], [FINE, FINE])[0].end == "limit"  # two may say the same


MARKED = [  # what the doctor says, and how many turns there are before the end
    (["A first one?", "A second one?", f"That is all. {END}"], 2),
    ([END], 0),
    ([f"{END} The diagnosis is clear to me."], 0),
    (["A first one?", f"  \n{END}\n"], 1),
    (["A first one?"] * 2, 4),  # no mark: four turns are used up
]


@pytest.mark.parametrize("doctor, turns", MARKED, ids=range(len(MARKED)))
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


DIAGNOSES = [  # the reply, the diagnosis, and the status
    ('```json\n{"diagnosis": " Gout "}\n```', "Gout", "graded"),
    ('{"diagnosis": "Gout, most pro', "Gout, most pro", "graded"),
    ("The most likely one is gout.", "The most likely one is gout.", "graded"),
    *((x, "", "unparsed") for x in ('{"diagnosis": "..."}', '{"disease": "Gout"}', "", "-")),
    ('{"diagnosis": null}', "", "unparsed"),
    ("I'm sorry, I can't.", "", "refused"),
    ({"error": "timeout: too late"}, "", "timeout: too late"),
    ({"finish": "length", "no_answer": "cut off while thinking"}, "", "cut off while thinking"),
    ({"refusal": "No."}, "", "refused"),
    ({"text": "Gout", "finish": "content_filter"}, "", "refused"),
]


@pytest.mark.parametrize("reply, diagnosis, status", DIAGNOSES, ids=range(len(DIAGNOSES)))
def test_a_diagnosis_is_read_or_has_a_status(reply, diagnosis, status):
    c, _ = held(turns=1, last=Reply("", "m", "", **reply) if isinstance(reply, dict) else reply)
    assert (c.end, c.diagnosis, c.status, c.keys[-1]) == ("limit", diagnosis, status, "x")
    assert talks.frame([c]).iloc[0]["reply_status"] == status.replace("graded", "")


WHICH = [  # judges' numbers
    ('{"which": []}', set()),
    ('{\n "which" : [ 2 ,\n 2 ]\n}', {2}),
    ('```json\n{"which": [2]}\n```', {2}),
    ('{"which": [1], "why": "it says so"}', {1}),
    ('{"which": [1, 2]}\n{"which": [2, 1]}', {1, 2}),
    ('The dialogue says {"which": [1]}, which I ignore. {"which": [3]}', None),  # they differ
    *((f'{{"which": [1]}} {{"which": [{x}]}}', None) for x in ("", "4", '"all"')),
    *((f'{{"which": [{x}]}}', None) for x in ("4", "0", "-1", "1.5, 2", '"1"', "one", "1 2", "1,")),
    *((text, None) for text in ('{"which": [1, 2', '{"which": 1}', '{"whichever": [1]}', "[1, 2]")),
    *((text, None) for text in ('{"note": "\\"which\\": [1]"}', "{'which': [1]}", "1 and 2.", "")),
]


def items(n):
    return [f"I have had complaint {k} for long" for k in range(n)]


AGAIN = "I HAVE had complaint 1, for long!"
FACTS = [
    (json.dumps({"items": items(20)}), items(16)),
    (json.dumps({"items": items(3)})[:-20], items(2)),
    (json.dumps({"items": ["Too short", *items(2), AGAIN]}), [*items(1), AGAIN]),
    *((text, None) for text in ('{"items": []}', '{"facts": ["one two three"]}', "- I have", "")),
]
WELL = '"false": ["I am well"'
SCRIPTS = [
    (f'{{"script": "Say it.", "facts": [1, 12], {WELL}]}}', ("Say it.", [1, 12], ["I am well"])),
    ('{"script": "Say that it hur', ("Say that it hur", [], [])),
    ('{"script": "Say it.", "facts": [1, 2', ("Say it.", [1, 2], [])),
    (f'{{"script": "Say it.", "facts": [], {WELL}, "I ne', ("Say it.", [], ["I am well"])),
    ('```json\n{"facts": [3],\n "script": "Say \\"no\\"."}\n```', ('Say "no".', [3], [])),
    *((x, None) for x in ('{"script": "", "facts": [1]}', '{"script": 3}', "Say it.", "")),
]
READ = [(lambda text: judging.parse_which(text, 3), *x) for x in WHICH]
READ += [(generation.facts_in, *x) for x in FACTS] + [
    (generation.parse_script, *x) for x in SCRIPTS
]


@pytest.mark.parametrize("reads, text, found", READ, ids=range(len(READ)))
def test_numbers_key_items_and_scripts_are_read_out_of_a_reply_or_there_are_none(
    reads, text, found
):
    assert reads(text) == found
