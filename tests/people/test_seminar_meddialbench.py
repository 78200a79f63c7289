"""Seminar sheet 4: its checks know right from wrong, scripts are tried on the rules."""

from sheets import *  # noqa: F403
from sheets import assert_pass

PAPER, NUMBER = "meddialbench", 4
TOLD = {1: [], 2: [1], 3: [2, 7], 4: [3, 10], 5: [4, 5], 6: [6, 12]}
SCRIPT = {
    "item": "case-5",
    "dimension": "disclosure",
    "level": "withholding",
    "facts": [5, 6],
    "false": [],
    "toward": "-",
    "script": "Say nothing of the ramipril, and not that the cough began a month after the tablets,"
    " out of fear.",
}
LYING = {
    **SCRIPT,
    "dimension": "logic",
    "level": "fabricating",
    "false": ["Dust makes me cough"],
    "toward": "Dust allergy",
}
DOSE = {
    "cognition, first step": 5.9,
    "cognition, second step": 4.5,
    "logic, first step": 3.1,
    "logic, second step": 19.3,
    "threshold": "logic",
}
RATIO = {"expected": 40.4, "O/E": 0.96, "odds, observed": 1.58, "odds, expected": 1.96}
TURNS = {"fabricating": 0, "withholding": 80, "C1": 0}

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
    "4.4": SCRIPT,
    "4.6": DOSE,
    "4.7": {"p": 0.125, "least": 6},
    "4.8": RATIO,
    "4.9": TURNS,
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
    ("4.4", SCRIPT | {"item": "case-7"}, "no case"),
    ("4.4", SCRIPT | {"level": "open"}, "none of the adverse"),
    ("4.4", SCRIPT | {"dimension": "logic"}, "dimension 'disclosure'"),
    ("4.4", SCRIPT | {"facts": [0, 5]}, "from 1, not from 0"),
    ("4.4", SCRIPT | {"facts": [5, 13]}, "no key item 13"),
    ("4.4", SCRIPT | {"facts": []}, "at least one"),
    ("4.4", SCRIPT | {"facts": [5, 9]}, "key item 9"),
    ("4.4", SCRIPT | {"facts": "5"}, "list of numbers"),
    ("4.4", SCRIPT | {"script": "Hide it."}, "eight words"),
    ("4.4", SCRIPT | {"false": ["I take nothing"]}, "nothing untrue"),
    ("4.4", SCRIPT | {"toward": "asthma"}, "nothing points"),
    ("4.4", LYING | {"false": []}, "at least one false statement"),
    ("4.4", LYING | {"false": ["I have never smoked."]}, "is true"),
    ("4.4", LYING | {"toward": "ACE inhibitor cough"}, "this one is right"),
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
    ("4.9", TURNS | {"C1": 80}, "isn't unsaid"),
    ("4.9", TURNS | {"withholding": 0}, "fewer"),
    ("4.9", TURNS | {"withholding": 20}, "more are needed"),
    ("4.9", TURNS | {"withholding": 30}, "isn't one of"),
]

PAIRS = ("4.5",)
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
NAMES = (
    {"item": "Case-5"},
    {"item": "case 5"},
    {"item": " CASE-5 "},
    {"dimension": "Disclosure"},
    {"dimension": " disclosure."},
    {"level": "Withholding"},
    {"facts": ["5", "6"]},
    {"facts": [5.0, "6"]},
    {"false": "none"},
    {"toward": ""},
    {"toward": " - "},
)
THRESHOLDS = ("Logic", "LOGIC", " logic ", "logic.", "in logic", "the logic dimension", "“logic”")
THRESHOLDS += ("It is logic", "Logic!", "dimension: logic")


def seconds(solved):
    first, second = solved["my_script"], solved["my_second"]
    names = [n for n in NAMES if n.keys() <= {"item", "dimension", "level", "false", "toward"}]
    return [[first, second | n] for n in names if "" not in n.values()] + [
        [first, second | {"facts": [str(n) for n in second["facts"]]}],
        [first | {"item": "Case 5"}, second],
    ]


WAYS = {
    "4.1": [
        *[{t: way(told) for t, told in TOLD.items()} for way in LISTS],
        {str(t): told for t, told in TOLD.items()},
    ],
    "4.4": [SCRIPT | n for n in NAMES if "" not in n.values()],
    "4.5": seconds,
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
    *[("4.4", SCRIPT | {"script": t}) for t in NO_TEXTS],
    *[("4.4", SCRIPT | {"facts": t}) for t in (["asdf"], "5", 5, [5.5], [True])],
    *[("4.4", SCRIPT | {"level": t}) for t in ("asdf", "x", "open", 3)],
    *[("4.6", DOSE | {"threshold": t}) for t in ("asdf", "both", "logic and cognition", 1, "?")],
]


def test_a_script_is_collected_and_what_comes_of_two_is_right(sheet, solved):
    assert sheet.check("4.4", SCRIPT).state == "collected"
    assert sheet.check("4.5", [solved["my_script"], solved["my_second"]]).state == "right"


def test_a_guess_that_is_none_shows_nothing(sheet, solved, capsys):
    assert sheet.costs("asdf").ok is False and sheet.try_out(SCRIPT, "asdf").ok is False
    assert not capsys.readouterr().out
    sheet.costs("Complete denial")
    assert "You guessed complete_denial" in capsys.readouterr().out


def test_numbers_by_hand_pass(sheet):
    assert_pass(sheet, [*RIGHT.items(), ("4.4", LYING)])


def test_two_scripts_must_differ_in_what_the_rules_read_and_in_what_comes_of_them(sheet, solved):
    first, second = solved["my_script"], solved["my_second"]
    for pair, names in (
        ([first, first | {"script": second["script"]}], "only the text differs"),
        ([first, second | {"item": "case-6"}], ""),
        ([first, LYING], "keep case and level"),
        ([first, first | {"facts": [5, 6]}], "both diagnoses are right"),
        ([second, second | {"facts": [3, 4, 5, 6]}], "both diagnoses are wrong"),
        ([first], "can't be read"),
    ):
        found = sheet.check("4.5", pair)
        assert found.ok is False and names in found.text, found.text
    assert sheet.check("4.5", [second, first]).ok is True


def test_a_bundled_script_handed_in_as_ones_own_gives_the_bundled_consultation(sheet):
    for level in ("fabricating", "withholding", "vague"):
        row = sheet.texts.set_index(["item", "level"], drop=False).loc["case-2", level]
        mine = {
            "dimension": sheet.design.dimension(level),
            **{k: row[k] for k in ("item", "level", "script", "facts", "false")},
            "toward": row["toward"] or "-",
        }
        assert sheet.check("4.4", mine).ok is True
        (bundled,) = [c for c in sheet.plain if (c.case.item, c.configuration) == ("case-2", level)]
        assert [q for q, _ in sheet.tried(mine).turns] == [q for q, _ in bundled.turns]


def test_trying_a_script_holds_the_consultation_and_names_the_guess(sheet, solved, capsys):
    assert sheet.try_out(solved["my_script"], ...).ok is None
    assert sheet.try_out(..., "wrong").ok is None
    assert sheet.try_out(SCRIPT | {"facts": [0]}, "wrong").ok is False
    sheet.try_out(solved["my_second"], "right")
    told = capsys.readouterr().out
    assert told.startswith("Doctor: ")
    assert "predicted that the diagnosis would be right; it is wrong" in told
    assert "ramipril every day" not in told.split("Patient")[-1]


def test_a_second_script_that_is_none_is_met_gently(sheet):
    for number in sheet.tasks():
        assert sheet.check(number, [SCRIPT, {"item": 3}]).ok is False
