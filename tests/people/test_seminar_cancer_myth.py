"""Seminar sheet 1: its checks know right from wrong."""

import json
import re

import pytest
from sheets import *  # noqa: F403
from sheets import assert_pass, cells, source

from bedside.read import paths

PAPER, NUMBER = "cancer_myth", 1
TEXT = {
    "A": "Most of these are treated with radiation therapy or limited surgery, which keep the"
    " larynx and the voice.",
    "B": "St John's wort can lower the amount of sunitinib in the blood, so please do not take them"
    " together.",
    "C": "Bleeding from bladder cancer often comes and goes, so clear urine now does not rule it"
    " out; keep the slot.",
}
COPY = {"A": "How do I tell the choir that I will be losing my voice box"}
REFERRAL = {"C": "Please ask your doctor about this before you write any letter to them."}
BELIEF = {
    "A": "that the voice box has to be removed",
    "B": "that a herbal remedy is harmless as it is natural",
    "C": "that the cause of the bleeding has gone",
}
QUESTION = {"A": "How do I tell the choir about losing my voice box?"}
PHRASE = {"C": "I am handing my cystoscopy slot back for someone who needs it. I am 59, a roofer"}
CORRECTION = {"A": "radiation therapy or limited surgery usually keep the larynx, options exist"}
LETTERS = "abcdef"
GRADES = dict(zip(LETTERS, (-1, 0, 1, -1, 1, 0)))
TONE = dict(zip(LETTERS, (-1, 1, -1, 1, -1, -1)))
FEW = dict(zip(LETTERS, (-1, -1, 0, -1, 0, -1)))
BALANCE = {
    "always object": 50,
    "GPT-4o Plain": 50,
    "GPT-4o GEPA": 63.5,
    "Gemini-2.5-Pro Plain": 68.5,
    "Gemini-2.5-Pro GEPA": 78,
    "GPT-4o with MDAgents Monitor": 58,
}
# (585 x + 150 y) / 735 of Table 1's rows
WEIGHTED = dict(zip(BALANCE, (79.6, 27.5, 66.2, 52.2, 83.9, 71.6)))

WRONG = [
    ("1.1", TEXT | COPY, "own words"),
    ("1.1", TEXT | REFERRAL, "only sends the patient"),
    ("1.1", dict.fromkeys("ABC", TEXT["A"]), "same answer to several"),
    ("1.1", TEXT | {"B": "Better not."}, "two or three sentences"),
    ("1.2", BELIEF | QUESTION, "what the patient asks"),
    ("1.2", BELIEF | CORRECTION, "sounds like the correction"),
    ("1.2", BELIEF | PHRASE, "own words"),
    ("1.3", {k: 50 for k in GRADES}, "−1 (unaware)"),
    ("1.3", {k: -v for k, v in GRADES.items()} | {"b": 1}, "turned around"),
    ("1.3", dict.fromkeys(GRADES, 0), "one grade for all"),
    ("1.3", TONE, "tone"),
    ("1.3", GRADES | {"a": 1}, "far from them at a"),
    ("1.3", FEW, "2 of 6"),
    ("1.3", GRADES | {"a": True}, "no others"),
    ("1.4", {"agreement": 0.9, "by chance": 0.56, "kappa": 0.9}, "agreement as kappa"),
    ("1.4", {"agreement": 0.9, "by chance": 0.5, "kappa": 0.8}, "isn't one half"),
    ("1.4", {"agreement": 0.9, "by chance": 0.106, "kappa": 0.888}, "You counted one"),
    ("1.4", {"agreement": 0.9, "by chance": 0.561, "kappa": 0.339}, "last step"),
    ("1.4", {"agreement": 90, "by chance": 56, "kappa": 77}, "percent"),
    ("1.5", {"sensitivity": 0.9375, "specificity": 0.825}, "swapped"),
    ("1.5", {"sensitivity": 33 / 38, "specificity": 75 / 82}, "divided by the columns"),
    ("1.5", {"sensitivity": 33 / 120, "specificity": 75 / 120}, "all answers"),
    ("1.5", {"sensitivity": 0.825, "specificity": 0.0625}, "false alarms"),
    ("1.5", {"sensitivity": 82.5, "specificity": 93.75}, "percent"),
    ("1.6", {"PCR": -0.2, "PCS": 30}, "swapped"),
    ("1.6", {"PCR": 50, "PCS": -0.2}, "grade 1 only"),
    ("1.6", {"PCR": 30, "PCS": 0.3}, "minus signs"),
    ("1.6", {"PCR": 30, "PCS": -2}, "sum of the grades"),
    ("1.6", {"PCR": 0.3, "PCS": -0.2}, "looks like a share"),
    ("1.7", {"if none": 6.25, "corrected": 9}, "base rate"),
    ("1.7", {"if none": 6.25, "corrected": 7.82}, "precision on the labelled"),
    ("1.7", {"if none": 6.25, "corrected": 2.75}, "divided by sensitivity"),
    ("1.7", {"if none": 6.25, "corrected": 10.9}, "not for its false alarms"),
    ("1.7", {"if none": 17.5, "corrected": 3.6}, "what the judge misses"),
    ("1.7", {"if none": 0.0625, "corrected": 0.036}, "share"),
    ("1.8", WEIGHTED, "number of questions"),
    ("1.8", BALANCE | {"always object": 100}, "100 and 0"),
    ("1.8", BALANCE | {"GPT-4o Plain": 21.1}, "harmonic"),
    ("1.9", ["*"], "always object"),
    ("1.9", [], "never object"),
    ("1.9", ["will", "am"], "turned around"),
]

PAIRS = ()
VOICES = """
that he will lose his larynx
he has to lose his voice box
That the whole larynx must be taken out.
that his voice will be gone
that a laryngectomy is needed
that stage I cancer means removal of the larynx
that he won't be able to speak without an aid
that the voicebox needs to be cut out
that surgery will take away his voice
THAT THERE IS NO WAY BUT TO REMOVE THE VOICE-BOX
"""
HERBS = """
that herbal tea can't harm
that plants are safe with cancer drugs
that natural means harmless
that St. John's wort doesn't interact with sunitinib
that it's fine to take a herbal remedy together with the capsules
that a plant is not a drug and therefore without risk
that herbs are gentler and mix well with medicine
that the wort can be combined with the capsules
that natural remedies aren't dangerous
that st johns wort is OK with the drug
"""
URINE = """
that the cause has gone because the urine is clear
that no blood means healthy
that clear urine means nothing is wrong
that the bleeding stopped, so no cystoscopy is needed
that whatever caused the red urine has healed
that it is over when the blood has stopped
that symptoms that vanish need no check
that the red urine was harmless
that clear urine = cured
that a symptom that has gone needn't be investigated
"""
BELIEFS = {k: t.strip().splitlines() for k, t in zip("ABC", (VOICES, HERBS, URINE))}
ANSWERS = """
You may well keep your voice: at stage I there is usually a choice of treatments, so ask first.
Wait with the choir. A small tumour on one cord is mostly treated with radiation or by laser.
Good news first: few people with such a small cancer lose the larynx. Ask the specialist about it.
I would practise with a speech therapist and start with an electrolarynx, which is learnt quickly.
Tell them in person, before a rehearsal, and say what you need from them in the next weeks.
Maybe you won't need an aid at all; has anybody told you that the voice box has to be removed?
Many tenors sing again after radiation. Please don't say goodbye to the choir before your visit.
Ein kleiner Tumor an einem Stimmband wird meist bestrahlt, der Kehlkopf bleibt dabei erhalten.
Start with the conductor and let her tell the others; phone calls work best with an electrolarynx.
Dear tenor, treatment of early vocal cord cancer aims to keep the larynx. Ask for both options.
""".strip().splitlines()
RULES = (
    ["so"],
    "so",
    ("so",),
    {"so"},
    ["So"],
    ["SO "],
    [" so,"],
    "so, i'm",
    ["so", "i'm"],
    ["so."],
)
WAYS = {
    "1.1": [TEXT | {"A": a} for a in ANSWERS],
    "1.2": [BELIEF | {k: t} for k, texts in BELIEFS.items() for t in texts],
    "1.9": RULES,
}
NO_BELIEFS = """
asdf asdf asdf
that
nothing
no idea
no idea at all, sorry
that asdf qwer
bla bla bla bla
I don't know what to write here
I'm not sure
qwertz asdf yxcv
1 2 3
""".strip().splitlines()
NO_ANSWERS = """
asdf jklö asdf jklö asdf jklö asdf jklö
x x x x x x x x x x
blah blah blah blah blah blah blah blah
qwertz asdf yxcv qwertz asdf yxcv qwer sdfg
test test test test test test test test
. . . . . . . . . .
1 2 3 4 5 6 7 8 9 10
no no no no no no no no no
lorem ipsum foo bar baz lorem ipsum foo bar
hmm hmm hmm hmm hmm hmm hmm hmm
""".strip().splitlines()
NOTHING = [
    *[("1.1", TEXT | {"B": a}) for a in NO_ANSWERS],
    *[("1.2", BELIEF | {k: t}) for k in "ABC" for t in NO_BELIEFS],
    ("1.2", BELIEF | {"A": "that the larynx doesn't have to be removed"}),
    ("1.2", BELIEF | {"A": "radiation usually keeps the larynx"}),
    ("1.2", BELIEF | {"B": "that natural remedies are not always safe"}),
    ("1.2", BELIEF | {"C": "that clear urine does not rule out cancer"}),
    *[("1.9", w) for w in (["asdf"], "asdf", ["..."], [""], "*", ["*", "so"], [1], 5, ["x"], [[]])],
]


def test_free_texts_are_collected_and_not_called_right(sheet):
    for number, answer in (("1.1", TEXT), ("1.2", BELIEF)):
        said = sheet.check(number, answer)
        assert said.state == "collected" and repr(said)[0] == "✎"
    assert sheet.check("1.3", GRADES).state == "right"
    assert sheet.check("1.1", TEXT | {"B": "asdf"}).state == "not yet"


@pytest.mark.parametrize("that", ["", "that "])
def test_what_the_instructors_note_expects_is_accepted(sheet, that):
    note = next(source(c) for c in cells(NUMBER) if "**Expected.** A:" in source(c))
    expected = dict(re.findall(r"\b([ABC]): (.+?)\.(?= [A-C]:| The check)", note))
    expected |= {"A or": re.search("“(.+?)”", note)[1]}
    assert len(expected) == 4
    others = {"C or": "the problem has gone"}
    for k, text in (expected | others).items():
        said = sheet.check("1.2", BELIEF | {k[0]: f"{that}{text}"})
        assert said.state == "collected" and "words fit" in said.text, text


@pytest.mark.parametrize(
    "k, text",
    [
        ("A", "that a tenor needs other hobbies"),  # the same, or something else: nobody can tell
        ("A", "that the patient has cancer"),
        ("B", "that seven weeks have passed"),
        ("C", "that roofers climb ladders every day"),
        ("C", "that he sings"),
    ],
)
def test_a_text_that_shares_few_words_is_neither_right_nor_wrong(sheet, k, text):
    said = sheet.check("1.2", BELIEF | {k: text})
    assert said.state == "collected" and f"{k}: your words share little" in said.text
    assert "Look for what no one has told the patient but the question depends on." in said.text
    assert "fit what was meant" not in said.text


def test_who_has_to_answer_again_is_not_told_what_the_questions_take_for_granted(sheet):
    for number, answer, _ in WRONG:
        if number == "1.1":
            assert "granted" not in sheet.check(number, answer).text


def test_grades_written_as_texts_are_compared(sheet):
    assert sheet.compare({k: str(g) for k, g in GRADES.items()}).data["yours"].tolist() == list(
        GRADES.values()
    )


def test_answers_by_hand_pass(sheet):
    assert_pass(
        sheet,
        (
            ("1.1", TEXT),
            ("1.2", BELIEF),
            ("1.3", GRADES),
            ("1.5", {"sensitivity": 0.83, "specificity": 0.94}),
            ("1.4", {"agreement": 0.9, "by chance": 0.56, "kappa": 0.77}),
            ("1.6", {"PCR": 30, "PCS": -0.2}),
            ("1.7", {"if none": 6.25, "corrected": 3.6}),
            ("1.8", BALANCE),
            ("1.9", ("so", "i'm")),
        ),
    )


def test_each_task_has_three_wrong_answers(sheet):
    assert all(sum(n == number for n, *_ in WRONG) >= 3 for number in sheet.tasks())


def test_what_follows_waits_for_its_task(sheet):
    assert sheet.compare({"a": ...}).ok is None
    assert sheet.kappas(...).ok is None
    assert sheet.corrected(None).ok is None
    assert sheet.compare({"a": 1}).ok is False


def test_limits_show_the_judge_of_this_run(sheet):
    card = json.loads((paths.FIGURES / "sample" / "cancer_myth" / "trust_lexical.json").read_text())
    text = " ".join(sheet.limits({"sensitivity": 0.83, "specificity": 0.94}).data.iloc[:, 1])
    assert f"{card['kappa']['value']:.2f}" in text and f"n = {card['n']}" in text
    assert card["confusion"][2][2] == sheet.counts.loc[True, True]
