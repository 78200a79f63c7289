"""Seminar sheet 3: its checks know right from wrong, a class's files are read with care."""

import re

import pytest
from sheets import *  # noqa: F403
from sheets import assert_pass, cells, source

from bedside.papers.medhalu.implied import matrices

PAPER, NUMBER = "medhalu", 3
NAMES = ["true positives", "false positives", "false negatives", "true negatives", "accuracy"]
SCORES = [
    "precision, hallucinated",
    "recall, hallucinated",
    "F1, hallucinated",
    "F1, right",
    "macro F1",
]
NOTE = [
    "macro F1, notes beside wrong answers only",
    "macro F1, notes beside all answers",
    "specificity without a note",
    "specificity with a note",
]

# By hand:
# 3.4: 24 of 32. P 24/32, R 1: F1 = 1.5 / 1.75; the other class has 0.
# 3.5, noted the topic, two cut: 16, 4, 7, 3: P 16/20, R 16/23, F1 32/43, of the other class 6/17.
# 3.6: x + y = 1.34 and 853 x + 288 y = 0.57 * 1141.
# 3.7: 0.351 / (0.351 + 0.032) and 0.0234 / (0.0234 + 0.1217).
# 3.8: x + y = 1.26 and 853 x + 288 y = 0.81 * 1141.
# 3.9: 19 of 57 words.
RIGHT = {
    "3.4": {"accuracy": 0.75, "F1, hallucinated": 0.857, "F1, right": 0, "macro F1": 0.429},
    "3.5": dict(zip(SCORES, (0.8, 0.696, 0.744, 0.353, 0.549))),
    "3.6": {"sensitivity": 0.468, "specificity": 0.872},
    "3.7": {"three in four wrong": 0.916, "one in twenty wrong": 0.161},
    "3.8": dict(zip(NOTE, (1, 0.43, 0.872, 0.266))),
    "3.9": {"precision": 0.333, "recall": 1, "F1": 0.5},
}
WRONG = [
    ("3.4", RIGHT["3.4"] | {"accuracy": 75}, "percentage"),
    ("3.4", RIGHT["3.4"] | {"accuracy": 0.25}, "How large is that share"),
    ("3.4", RIGHT["3.4"] | {"F1, hallucinated": 0.875}, "arithmetic"),
    ("3.4", RIGHT["3.4"] | {"F1, right": 0.25}, "never calls"),
    ("3.4", RIGHT["3.4"] | {"macro F1": 0.857}, "one class"),
    ("3.4", RIGHT["3.4"] | {"macro F1": 0.75}, "micro"),
    ("3.5", RIGHT["3.5"] | {SCORES[0]: 0.696, SCORES[1]: 0.8}, "swapped"),
    ("3.5", RIGHT["3.5"] | {SCORES[2]: 0.748}, "arithmetic"),
    ("3.5", RIGHT["3.5"] | {SCORES[2]: 0.74}, "three decimals"),
    ("3.5", RIGHT["3.5"] | {"macro F1": 0.556}, "macro precision and macro recall"),
    ("3.5", RIGHT["3.5"] | {"macro F1": 0.633}, "neither the accuracy"),
    ("3.6", {"sensitivity": 0.872, "specificity": 0.468}, "swapped"),
    ("3.6", {"sensitivity": 0.67, "specificity": 0.67}, "aren't equal"),
    ("3.6", {"sensitivity": 0.47, "specificity": 0.2}, "add up to 1.34"),
    ("3.6", {"sensitivity": 0.6, "specificity": 0.74}, "the sum is right"),
    ("3.7", {"three in four wrong": 0.916, "one in twenty wrong": 0.916}, "base rate"),
    ("3.7", {"three in four wrong": 0.916, "one in twenty wrong": 0.468}, "sensitivity"),
    ("3.7", {"three in four wrong": 0.084, "one in twenty wrong": 0.839}, "false alarms"),
    ("3.7", {"three in four wrong": 91.6, "one in twenty wrong": 16.1}, "percentage"),
    ("3.8", dict(zip(NOTE, (0.43, 0.43, 0.872, 0.266))), "How many errors"),
    ("3.8", dict(zip(NOTE, (1, 0.75, 0.872, 0.266))), "accuracy"),
    ("3.8", dict(zip(NOTE, (1, 0.43, 0.266, 0.872))), "swapped"),
    ("3.8", dict(zip(NOTE, (1, 0.43, 0.468, 0.99))), "sensitivity"),
    ("3.9", {"precision": 1, "recall": 0.333, "F1": 0.5}, "swapped"),
    ("3.9", {"precision": 0.333, "recall": 1, "F1": 0.667}, "arithmetic"),
    ("3.9", {"precision": 0.333, "recall": 1, "F1": 0.4}, "2PR"),
]

PAIRS = ("3.2", "3.3")
READINGS = (
    lambda said, sure, span: (said.upper(), sure, span),
    lambda said, sure, span: (f" {said.title()}. ", sure, span),
    lambda said, sure, span: (said[0], sure, span),
    lambda said, sure, span: [said, float(sure), span],
    lambda said, sure, span: (said, str(sure), span),
    lambda said, sure, span: (said, f"{sure}%", span),
    lambda said, sure, span: (said, f"{sure} percent", span),
    lambda said, sure, span: (said, sure, span if said == "yes" else "none"),
    lambda said, sure, span: (said, sure, f"“{span.upper()}”" if said == "yes" else "–"),
    lambda said, sure, span: (said, sure, f"  {span}...  " if said == "yes" else "—"),
)
TYPES = (
    str.upper,
    str.title,
    " {} ".format,
    "{}.".format,
    lambda t: f"{t}-conflict" if t != "none" else "no",
    lambda t: f"{t} conflict" if t != "none" else "not hallucinated",
    lambda t: f"{t.title()}-Conflict" if t != "none" else "None",
    lambda t: f"{t}-conflicting" if t != "none" else "-",
    lambda t: f'"{t}"',
    lambda t: f"({t})",
)


def readings(solved):
    return [{i: way(*e) for i, e in solved["my_reading"].items()} for way in READINGS]


def typed(solved):
    types = solved["my_types"].items()
    return [[solved["my_reading"], {i: way(t) for i, t in types}] for way in TYPES]


WAYS = {"3.1": readings, "3.2": typed}
NOTHING = ()  # for the forms of readings see below


def test_a_reading_is_collected_and_not_called_right(sheet, solved):
    assert sheet.check("3.1", solved["my_reading"]).state == "collected"
    for entry in (
        *[("yes", 80, span) for span in ("asdf", "x", "-", "the", "?", "idk idk", "is wrong here")],
        *[(said, 80, "-") for said in ("asdf", "perhaps", "?", 1, True, "no idea")],
        *[("no", sure, "-") for sure in ("asdf", "sure", 0, 49, 101, "120%", True, "high")],
    ):
        assert sheet.check("3.1", solved["my_reading"] | {"mh-05": entry}).ok is False, entry


def test_numbers_by_hand_pass(sheet):
    assert_pass(sheet, RIGHT.items())
    assert "macro-F1 0.55," in sheet.check("3.5", RIGHT["3.5"]).text  # (32 / 43 + 6 / 17) / 2


def test_a_reading_is_checked_for_its_form_and_its_verdicts_are_not_given_away(sheet, solved):
    reading = solved["my_reading"]
    for entry, names in (
        (("maybe", 70, "-"), "verdict"),
        (("no", 0.7, "-"), "50"),
        (("no", 40, "-"), "opposite"),
        (("no", 70, "Calcium"), "no span"),
        (("yes", 70, "words of mine"), "isn't in the answer"),
        (("yes", 70), "write (verdict"),
    ):
        found = sheet.check("3.1", {**reading, "mh-02": entry})
        assert found.ok is False and names in found.text, found.text
    assert sheet.check("3.1", {k: v for k, v in reading.items() if k != "mh-02"}).ok is False
    opposite = {
        i: ("no", 50, "-") if v[0] == "yes" else ("yes", 50, sheet.of.at[i, "answer"][:30])
        for i, v in reading.items()
    }
    assert sheet.check("3.1", opposite).ok is True


def test_displays_do_without_a_reading_that_is_open_or_malformed(sheet, solved):
    for reading in (..., {"mh-01": ("yes", 90)}, 3):
        assert sheet.compared(RIGHT["3.5"], reading)._repr_png_()[:4] == b"\x89PNG"
        assert "your reading" not in set(sheet.spans(RIGHT["3.9"], reading).data["evaluator"])
    found = sheet.spans(RIGHT["3.9"], solved["my_reading"]).data
    assert "your reading" in set(found["evaluator"])
    assert sheet.sureness(...).ok is None and sheet.sureness(3).ok is False
    assert sheet.beside(3, {"mh-01": "fact"}).ok is False


def test_what_gives_an_answer_away_waits_for_it(sheet, solved):
    assert sheet.beside(solved["my_reading"], {"mh-01": ...}).ok is None
    for show in ("by_library", "compared", "behind", "behind_noted", "notes", "spans"):
        assert getattr(sheet, show)(...).ok is None
    assert sheet.by_library(RIGHT["3.5"])["macro F1"] == 0.549
    assert set(sheet.behind(RIGHT["3.6"]).data["table"]) == {"Table 6"}
    assert set(sheet.behind_noted(RIGHT["3.8"]).data["table"]) == {"Table 10"}


def test_types_are_compared_only_where_reader_and_label_say_hallucinated(sheet, solved):
    reading, types = solved["my_reading"], solved["my_types"]
    for item, kind, names in (
        ("mh-22", "fact", "say what was asked"),
        ("mh-01", "fact", "can't both hold"),
        ("mh-06", "context", "keeps to the question"),
        ("mh-05", "fact", "reading says no"),
        ("mh-01", "none", "one of the three"),
        ("mh-01", "wrong", "is one of"),
    ):
        found = sheet.check("3.2", [reading, {**types, item: kind}])
        assert found.ok is False and item in found.text and names in found.text, found.text
    accused = {**types, "mh-02": "context"}  # a right answer: no label to compare with
    assert sheet.check("3.2", [reading, accused]).ok is True


def test_own_counts(sheet, solved):
    reading = solved["my_reading"]  # 7 found, 1 accused, 2 missed, 2 let pass
    for got, names in (
        ((7, 2, 1, 2, 0.75), "swapped"),
        ((2, 2, 1, 7, 0.75), "turned around"),
        ((7, 1, 2, 3, 0.75), "add up to 13"),
        ((6, 1, 3, 2, 0.75), "row by row"),
        ((7, 1, 2, 2, 75), "percentage"),
        ((7, 1, 2, 2, 7 / 9), "sensitivity"),
        ((7, 1, 2, 2, 0.5), "share of all"),
    ):
        found = sheet.check("3.3", [reading, dict(zip(NAMES, got))])
        assert found.ok is False and names in found.text, found.text


def test_the_twelve_are_those_of_the_stubs_and_of_all_types(sheet):
    texts = [source(c) for c in cells(3)]
    stubs = [t for t in texts if t.startswith(("my_reading", "my_types"))]
    assert len(stubs) == 4
    assert all(set(re.findall(r"mh-\d\d", t)) == set(sheet.twelve) for t in stubs)
    types = sheet.of.loc[sheet.twelve, "type"].value_counts().to_dict()
    assert types == dict.fromkeys(["none", "input", "context", "fact"], 3)


def test_the_printed_row_has_counts_that_agree_with_the_two_equations(sheet):
    for table in ("Table 6", "Table 10"):
        found = matrices.implied(sheet.run, table).set_index(["row", "dataset"])
        row = found.loc[("GPT-4", "HealthQA")]
        assert row["fits"] > 0
        assert sheet.row(table) == pytest.approx((row["sensitivity"], row["specificity"]), abs=0.03)


def test_two_slips_are_found_by_hand_and_by_the_check(sheet, capsys):
    """70.1% of 48 is no whole number; d, e and f come from no one table of 60."""
    found = sheet.slips(["B", "f"]).data
    assert "2 of 2 slips found" in capsys.readouterr().out
    assert found["lines"].tolist()[:2] == ["b", "d, e, f"]
    sheet.slips(["c", "d"])
    assert "1 of 2 slips found" in capsys.readouterr().out
    assert sheet.slips([..., "b"]).ok is None and "name two of" in sheet.slips(["b", "x"]).text
