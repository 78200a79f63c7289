"""MedDialBench: how consultations end, break off or go on, and which diagnosis is read."""

import pytest
from meddialbench_speakers import held

from bedside.keep.replies import Reply
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench.consultations import END

# ---- ends


MARKED = [
    (["A first one?", END], 1, "alone"),
    (["A first one?", "A second one?", f"That is all. {END}"], 2, "after text"),
    ([END], 0, "at once"),
    ([f"{END} The diagnosis is clear to me."], 0, "before text"),
    (["A first one?", f"  \n{END}\n"], 1, "among blanks"),
]


@pytest.mark.parametrize("doctor, turns", [m[:2] for m in MARKED], ids=[m[2] for m in MARKED])
def test_a_doctor_ends_the_inquiry_with_the_mark(doctor, turns):
    c, asked = held(doctor)
    assert (c.end, c.by, len(c.turns), asked) == ("ended", "", turns, 1) and (
        c.diagnosis,
        c.status,
    ) == ("Gout", "graded")
    assert c.keys == [f"{w}{n}" for n in range(turns) for w in "dp"] + [f"d{turns}", "x"]
    assert all(q and a for q, a in c.turns) and END not in talks.transcript(c)


def test_turns_are_used_up():
    c, asked = held(turns=3)
    assert (c.end, c.by, len(c.turns), asked) == ("limit", "", 3, 1) and c.keys == [
        "d0",
        "p0",
        "d1",
        "p1",
        "d2",
        "p2",
        "x",
    ]
    assert c.turns[2] == [
        "Is there anything about number 2 to tell?",
        "I can tell thing number 2 about it.",
    ]
    assert c.statements() == ["My toe number A hurts."] + [
        f"I can tell thing number {n} about it." for n in range(3)
    ]


FINE = "It may be a bit more on some days."
BREAKS = [  # who can do so, what he says up to it, and the end
    ("doctor patient", [FINE, Reply("", "m", "", refusal="No.")], "refused"),
    ("doctor patient", [Reply("", "m", "", finish="content_filter")], "refused"),
    (
        "doctor patient",
        [FINE, Reply("", "m", "", text="Half a sentence that", finish="content_filter")],
        "refused",
    ),
    ("doctor patient", ["I'm sorry, but I can't assist with that request."], "refused"),
    ("doctor patient", [FINE, "As an AI language model, I have no body."], "refused"),
    ("doctor patient", ["I cannot provide medical advice."], "refused"),
    ("doctor patient", ["I’m unable to play this role."], "refused"),
    ("doctor patient", [FINE, ""], "empty"),
    ("doctor patient", [" \n ...\n"], "empty"),
    ("doctor patient", [FINE, Reply("", "m", "", finish="length", no_answer="cut off")], "cut off"),
    ("doctor patient", [Reply("", "m", "", text=" \n", no_answer="blank")], "empty"),
    ("doctor patient", [FINE, FINE, "It may be a BIT more, on some days"], "repeated"),
    ("doctor patient", [FINE, "I feel it here.", FINE, FINE], "repeated"),
    ("doctor patient", ["and it comes and goes " * 3], "repeated"),
    ("doctor patient", ["so so so so so so so"], "repeated"),
    ("doctor", [FINE, "Does it hurt?\nPatient: Yes, it does."], "role"),
    ("doctor", ["**Patient:** I feel worse."], "role"),
    ("patient", [FINE, "I feel worse.\nDoctor: And at night?"], "role"),
    ("patient", ["How long have you had it?"], "role"),
    ("patient", ["Have your knees been swollen, and do you smoke?"], "role"),
    ("patient", ["How can I help you today?"], "role"),
    ("patient", ["I'm here to listen, so let me hear all of it."], "role"),
    ("patient", [FINE, "Tell me about your symptoms and I will see."], "role"),
    ("patient", [f"I have said all. {END}"], "role"),
    ("doctor patient", [FINE, Reply("", "m", "", error="500 from the endpoint")], "failed"),
]
BROKEN = [(who, lines, end) for both, lines, end in BREAKS for who in both.split()]


@pytest.mark.parametrize(
    "who, lines, end", BROKEN, ids=[f"{k} {b[0]} {b[2]}" for k, b in enumerate(BROKEN)]
)
def test_a_dialogue_breaks_off_and_keeps_what_was_said(who, lines, end):
    c, asked = held(**{who: lines})
    assert (c.end, c.by, asked) == (end, who, 0) and (c.diagnosis, c.status) == ("", "error")
    spoken = 2 * len(lines) - (who == "doctor")
    assert c.keys == [f"{w}{n}" for n in range(4) for w in "dp"][:spoken]
    last = (lines[-1].text if isinstance(lines[-1], Reply) else lines[-1]).strip()
    said = [x for turn in c.turns for x in turn if x]
    if last:
        assert said[-1] == last and len(said) == spoken
    else:
        assert len(said) == spoken - 1
    row = talks.frame([c]).iloc[0]
    assert (
        row["reply_status"] == f"{end}, {who}"
        and row["diagnosis"] == ""
        and row["turns"] == len(c.turns)
    )


HARMLESS = [
    ("patient", ["No."] * 4),
    ("patient", ["No, not at all, doctor."] * 2),
    *(
        ("patient", [text])
        for text in (
            "Can I sit down? Do you think it is my heart?",
            "I don't know. What do you think?",
            "Yes, doctor: it hurts.",
            "Is it serious?",
            "I can't play tennis any more, and I can't help it.",
            "It gets worse. Do you think it's serious?",
            "I won't continue this conversation.",
            "I won't take any more of the tablets.",
            "My doctor: he says it is gout.",
        )
    ),
    ("doctor", ["Yes?"] * 4),
    ("doctor", ["Does it hurt when you climb stairs?"] * 2),
    *(
        ("doctor", [text])
        for text in (
            "I'm sorry to hear that. Where does it hurt?",
            "Are you the patient: yes or no?",
            "I can't hear you well, what was that?",
            "How can I help you today?",
        )
    ),
]


@pytest.mark.parametrize("who, lines", HARMLESS, ids=range(len(HARMLESS)))
def test_what_people_say_breaks_nothing_off(who, lines):
    c, asked = held(**{who: lines})
    assert (c.end, asked) == ("limit", 1) and [
        t[who == "patient"] for t in c.turns[: len(lines)]
    ] == lines


def test_the_commonest_refusal_is_a_refusal():
    assert held(["I'm sorry, but I can't assist with that."])[0].end == "refused"


def test_two_speakers_may_say_the_same():
    c, _ = held([FINE, FINE], [FINE, FINE])
    assert c.end == "limit"


DIAGNOSES = [
    ('{"diagnosis": "Gout"}', "Gout"),
    ('```json\n{"diagnosis": " Gout "}\n```', "Gout"),
    ('{"diagnosis": "Gout, most pro', "Gout, most pro"),
    ("Gout, I think.", "Gout, I think."),
    ('{"diagnosis": ""}', None),
    ('{"diagnosis": "..."}', None),
    ('{"disease": "Gout"}', None),
    ("", None),
    ('{"diagnosis": null}', None),
    ("-", None),
]


@pytest.mark.parametrize("text, diagnosis", DIAGNOSES, ids=range(len(DIAGNOSES)))
def test_a_diagnosis_is_read_or_there_is_none(text, diagnosis):
    c, _ = held(turns=1, last=text)
    assert (c.diagnosis, c.status) == ((diagnosis, "graded") if diagnosis else ("", "unparsed"))
    assert talks.frame([c]).iloc[0]["reply_status"] == ("" if diagnosis else "unparsed")


@pytest.mark.parametrize(
    "reply, status",
    [
        ({"error": "timeout: too late"}, "timeout: too late"),
        ({"finish": "length", "no_answer": "cut off while thinking"}, "cut off while thinking"),
        ({"finish": "content_filter", "no_answer": "filtered"}, "filtered"),
        ({"text": " \n", "no_answer": "blank"}, "blank"),
        ({"refusal": "No."}, "refused"),
        ({"text": "Gout", "finish": "content_filter"}, "refused"),
    ],
)
def test_a_diagnosis_that_does_not_come_has_a_status(reply, status):
    c, _ = held(turns=1, last=Reply("", "m", "", **reply))
    assert (c.end, c.diagnosis, c.status, c.keys[-1]) == ("limit", "", status, "x") and talks.frame(
        [c]
    ).iloc[0]["reply_status"] == status


def test_a_frame_has_what_was_said_and_how_often_it_was_cut():
    cut = Reply("", "m", "", text="I was cut off in the mid", finish="length")
    row = talks.frame([held([cut, "One\nmore?"], [FINE, cut], turns=2)[0]]).iloc[0].to_dict()
    assert (
        row["truncated"] == 2
        and row["turns"] == 2
        and row["names"] == ["Disease A", "A disease"]
        and row["item"] == "case-A plain m"
    )
    assert row["dialogue"].split("\n") == [
        "Doctor: What brings you here today?",
        "Patient: My toe number A hurts.",
        f"Doctor: {cut.text}",
        f"Patient: {FINE}",
        "Doctor: One more?",
        f"Patient: {cut.text}",
    ]
    assert row["said"].split("\n") == ["My toe number A hurts.", FINE, cut.text]


# ---- a refusal is no diagnosis


STATED = [
    ('{"diagnosis": "Gout"}', "Gout"),
    ('{"diagnosis": "Gou', "Gou"),
    ("Gout", "Gout"),
    ("The most likely diagnosis is gout.", "The most likely diagnosis is gout."),
    ('{"diagnosis": ""}', None),
    ('{"answer": "Gout"}', None),
    ("", None),
    ("...", None),
    ("I'm sorry, I can't.", None),
    ("As an AI I give no diagnosis.", None),
]


@pytest.mark.parametrize("text, found", STATED, ids=range(len(STATED)))
def test_a_diagnosis_is_taken_out_of_its_reply(text, found):
    assert talks.stated(text) == found
