"""Seminar sheet 4: its checks know right from wrong, its consultations are whole."""

from sheets import *  # noqa: F403
from sheets import assert_pass, whole

PAPER, NUMBER = "meddialbench", 4
TOLD = {1: [], 2: [1], 3: [2, 7], 4: [3, 10], 5: [4, 5], 6: [6, 12]}
TURNS = {"A": (3, 4), "B": (5, 3), "C": (4, 2), "D": (3, 2)}  # rests on, left over
STORY = {
    f"{k}, {what}": n for k, v in TURNS.items() for what, n in zip(("rests on", "left over"), v)
}
DETAIL = {
    "turn": 2,
    "instead": "They come and go as they like, wherever I am.",
    "toward": "Tension headache",
    "why": "He doesn't want to have been ill at his sister's.",
    "uncovers": "Ask the sister about the weekend.",
}
DOSE = {
    "cognition, first step": 5.9,
    "cognition, second step": 4.5,
    "logic, first step": 3.1,
    "logic, second step": 19.3,
    "threshold": "logic",
}
RATIO = {"expected": 40.4, "O/E": 0.96, "odds, observed": 1.58, "odds, expected": 1.96}
MORE = {"E, after 5": 0.5, "E, after 10": 1, "F, after 5": 0.5, "F, after 10": 1, "set right": "E"}

# By hand:
# 4.2: 9 of 12 items in 6 turns.
# 4.3: means of Table 3: 78.82, 56.46, 68.94.
# 4.6: cognition 78.82, 72.96, 68.48; logic 78.82, 75.76, 56.46.
# 4.7: 2 / 2^4; 2 / 2^6 is the first below 0.05.
# 4.8: 54.1 * 55.3 / 74.1; 61.2 / 38.8; (45.9 / 54.1) * (44.7 / 55.3) / (25.9 / 74.1).
RIGHT = {
    "4.1": TOLD,
    "4.2": {"coverage": 0.75, "coverage per turn": 0.125},
    "4.3": {"fabricating": 22.4, "withholding": 9.9, "ratio": 2.26},
    "4.4": STORY,
    "4.5": DETAIL,
    "4.6": DOSE,
    "4.7": {"p": 0.125, "least": 6},
    "4.8": RATIO,
    "4.9": MORE,
}
WRONG = [
    ("4.1", TOLD | {1: [1], 2: []} | {3: [1, 2, 7]}, "only the first time"),
    ("4.1", TOLD | {1: [11]}, "isn't told"),
    ("4.1", TOLD | {4: [3]}, "item 10"),
    ("4.1", TOLD | {5: [4]}, "read turn 5"),
    ("4.1", TOLD | {2: []}, "in other words"),
    ("4.1", TOLD | {2: [0, 1]}, "count from 1"),
    ("4.1", {1: [], 2: [1]}, "turns 1 to 6"),
    ("4.2", {"coverage": 75, "coverage per turn": 0.125}, "percent"),
    ("4.2", {"coverage": 0.75, "coverage per turn": 1.5}, "key items a turn"),
    ("4.2", {"coverage": 0.25, "coverage per turn": 0.125}, "not told"),
    ("4.3", {"fabricating": 56.46, "withholding": 68.94, "ratio": 2.26}, "left"),
    ("4.3", {"fabricating": -22.35, "withholding": -9.88, "ratio": 2.26}, "positive"),
    ("4.3", {"fabricating": 28.36, "withholding": 12.54, "ratio": 2.26}, "relative"),
    ("4.3", {"fabricating": 22.4, "withholding": 9.9, "ratio": 0.44}, "upside down"),
    ("4.3", {"fabricating": 0.224, "withholding": 0.099, "ratio": 2.26}, "share"),
    ("4.4", STORY | {"A, rests on": 4, "A, left over": 3}, "swapped"),
    ("4.4", STORY | {"C, rests on": 2}, "doesn't mention this answer"),
    ("4.4", STORY | {"D, rests on": 1}, "cover the answers"),
    ("4.4", STORY | {"B, left over": 5}, "B, left over: the conclusion is built on"),
    ("4.4", STORY | {"A, left over": 1}, "tick off"),
    ("4.4", STORY | {"A, left over": 5}, "from 1 to 4"),
    ("4.5", DETAIL | {"turn": 6}, "turns 1 to 5"),
    ("4.5", DETAIL | {"instead": "At work they were gone."}, "own words"),
    ("4.5", DETAIL | {"instead": "Never."}, "at least five words"),
    ("4.5", DETAIL | {"toward": "Carbon monoxide poisoning"}, "really has"),
    ("4.5", DETAIL | {"why": "for fun"}, "why a person"),
    ("4.5", DETAIL | {"uncovers": "Has anything changed at home?"}, "asked this already"),
    ("4.6", DOSE | {"cognition, second step": 10.4, "logic, second step": 22.4}, "not from 0 to 2"),
    ("4.6", DOSE | {"threshold": "cognition"}, "Compare the second step"),
    ("4.6", {k: v if k == "threshold" else -v for k, v in DOSE.items()}, "positive"),
    ("4.7", {"p": 0.062, "least": 6}, "one-sided"),
    ("4.7", {"p": 0.031, "least": 6}, "discordant"),
    ("4.7", {"p": 0.125, "least": 5}, "0.062"),
    ("4.7", {"p": 12.5, "least": 6}, "percentage"),
    ("4.8", RATIO | {"expected": 35.3, "O/E": 1.1}, "subtracted"),
    ("4.8", RATIO | {"expected": 29.9, "O/E": 1.3}, "baseline is forgotten"),
    ("4.8", RATIO | {"O/E": 1.04}, "upside down"),
    ("4.8", RATIO | {"O/E": 0.78}, "five models"),
    ("4.8", RATIO | {"odds, observed": 0.634}, "wrong over right"),
    ("4.8", RATIO | {"odds, observed": 0.612}, "share that fails"),
    ("4.8", RATIO | {"odds, expected": 1.31}, "multiply odds"),
    ("4.9", MORE | {"E, after 10": 0.5}, "from the first turn on"),
    ("4.9", MORE | {"F, after 5": 0.67}, "tells no key item"),
    ("4.9", MORE | {"E, after 5": 0.2}, "divide by all key items"),
    ("4.9", MORE | {"set right": "both"}, "held against"),
    ("4.9", MORE | {"set right": "neither"}, "another one than after five"),
]

PAIRS = ()
LISTS = (
    tuple,
    set,
    lambda told: told[::-1],
    lambda told: [str(n) for n in told],
    lambda told: [float(n) for n in told],
    lambda told: [f" {n} " for n in told],
    lambda told: ", ".join(map(str, told)) or "-",
    lambda told: " ".join(map(str, told)) or "none",
    lambda told: told[0] if len(told) == 1 else told,
)
THRESHOLDS = ("Logic", "LOGIC", " logic ", "logic.", "in logic", "the logic dimension", "“logic”")
THRESHOLDS += ("It is logic", "Logic!", "dimension: logic")


DETAILS = (
    {"turn": "2"},
    {"turn": 2.0},
    {"turn": " 2 "},
    {"turn": 1},
    {"turn": 5},
    {"toward": "migraine"},
    {"toward": "Migraine, perhaps"},
    {"uncovers": "A meter in the flat"},
    {"instead": "I had a lot of wine on both evenings."},
    {"why": "Er schämt sich vor seiner Schwester dafür."},
)
SET = ("E", "e", " E ", "E.", "“E”", "(E)", "'E'", "e!", "E,", "-E-")


WAYS = {
    "4.1": [
        *[{t: way(told) for t, told in TOLD.items()} for way in LISTS],
        {str(t): told for t, told in TOLD.items()},
    ],
    "4.5": [DETAIL | n for n in DETAILS],
    "4.9": [MORE | {"set right": n} for n in SET],
    "4.6": [DOSE | {"threshold": t} for t in THRESHOLDS],
}
NO_TEXTS = (
    "asdf asdf asdf asdf asdf asdf asdf asdf",
    "x x x x x x x x x",
    "blah blah blah blah blah blah blah blah blah",
    "... ... ... ... ... ... ... ...",
    "1 2 3 4 5 6 7 8 9",
)
NOTHING = [
    *[
        ("4.1", TOLD | {2: t})
        for t in ("asdf", "x", ["asdf"], [99], [-1], [1.5], "1 and 2", 0, [[]])
    ],
    *[("4.4", STORY | {"A, rests on": t}) for t in ("asdf", [3], 0, -3, 3.5, "3 or 4", True)],
    *[("4.5", DETAIL | {k: t}) for k in ("instead", "why", "uncovers") for t in NO_TEXTS],
    *[("4.5", DETAIL | {"turn": t}) for t in ("asdf", [2], 0, 2.5, True)],
    *[("4.5", DETAIL | {"toward": t}) for t in ("x", "-", "asdf", 3)],
    *[("4.9", MORE | {"set right": t}) for t in ("asdf", 3, "E and F", "?")],
    *[("4.6", DOSE | {"threshold": t}) for t in ("asdf", "both", "logic and cognition", 1, "?")],
]


def test_a_guess_that_is_none_shows_nothing(sheet, capsys):
    assert sheet.costs("asdf").ok is False
    assert not capsys.readouterr().out
    sheet.costs("Complete denial")
    assert "You guessed complete_denial" in capsys.readouterr().out


def test_numbers_by_hand_pass(sheet):
    assert_pass(sheet, RIGHT.items())


def test_a_detail_is_collected_and_put_into_the_consultation(sheet):
    assert sheet.check("4.5", DETAIL).state == "collected"
    made = sheet.with_detail(DETAIL)._repr_html_()
    assert "as they like" in made and "weekend at my sister" not in made
    assert "flatmate" in made and "carbon monoxide" not in made.lower()
    assert sheet.with_detail(DETAIL | {"turn": 9}).ok is False


def test_the_written_consultations_are_whole_and_have_their_sources(sheet):
    every = [*sheet.misled.values(), sheet.true, *sheet.longer.values()]
    assert all(len(turn) == 2 and all(turn) for c in every for turn in c["turns"])
    assert all(": " in s for c in every for s in c["sources"]) and all(c["sources"] for c in every)
    for c in sheet.misled.values():
        assert {c["rests"], c["left"]} <= set(range(1, len(c["turns"]) + 1))
    for c in sheet.longer.values():
        told = [n for turn in c["told"] for n in turn]
        assert sorted(told) == list(range(1, len(c["key_items"]) + 1))
        assert len(c["told"]) == len(c["turns"])


def test_the_rules_lose_four_of_six(sheet):
    assert sheet.ruled() == {"right at the baseline": 6, "lost": 4, "won": 0}


def test_only_one_task_uses_the_rules(sheet):
    text = whole(NUMBER)
    assert text.count("sheet.ruled()") == 1 and "sheet.hear" not in text
