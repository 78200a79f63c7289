"""Seminar sheet 2: its checks know right from wrong."""

from sheets import *  # noqa: F403
from sheets import assert_pass

PAPER, NUMBER = "radiation", 2
LIST = ["tiredness", "radiation dermatitis", "arm swelling"]
LIST += ["heart disease", "broken ribs", "nausea"]
EARLY = ["tiredness", "radiation dermatitis", "nausea"]
EARLY += ["sore throat", "skin peeling", "itching all over"]
STRANGE = ["joy", "boredom", "thirst", "hunger", "envy", "music"]
MATCHES = dict(zip("abcdefghij", ["same"] * 4 + ["different"] * 4 + ["same", "different"]))
OTHER = {"same": "different", "different": "same"}
THREE = {"a": "different", "e": "same", "f": "same"}
COUNT = {"hits": 4, "precision": 0.4, "recall": 0.17, "F1": 0.24}  # 4 of 10, 4 of 23, 8 / 33
LONG = {"precision": 0.74, "recall": 1, "F1": 0.85, "wrong of 25": 17.75}
# 23 / 31, 46 / 54, 25 × 0.71
CHANGES = {
    "breast pain": "right",
    "breast shrinkage": "wrong",
    "breast swelling": "right",
    "lymphedema": "right",
    "nausea": "wrong",
    "pneumonitis": "wrong",
    "sore throat": "right",
}
TURNED = {"right": "wrong", "wrong": "right"}
MODELS = {"short above long": 5, "common above extremely rare": 6, "extremely rare above rare": 3}
ADDED = {"added": "chest wall and nodes", "places": 2}
SENTENCE = {"added": "then radiation (chest wall and nodes), completed 4 years ago"}


def recall(hits, wrong, missed, rejected):
    return hits / (hits + missed)


def f1(hits, wrong, missed, rejected):
    return 2 * hits / (2 * hits + wrong + missed)


def accuracy(hits, wrong, missed, rejected):
    return (hits + rejected) / 31


def precision(hits, wrong, missed, rejected):
    return hits / (hits + wrong) if hits else 0


def undefined(hits, wrong, missed, rejected):
    return hits / (hits + wrong)


def fourteen(hits, wrong, missed, rejected):
    return hits == 14


WRONG = [
    ("2.1", ADDED | SENTENCE, "more words"),
    ("2.1", ADDED | {"added": "Chest wall"}, "another site"),
    ("2.1", ADDED | {"places": 1}, "the number isn't"),
    ("2.1", ADDED | {"added": "radiation"}, "stand in both records"),
    ("2.2", ["tiredness", "nausea"], "at least six"),
    ("2.2", [*LIST, "cystitis"], "another part of the body (pelvis)"),
    ("2.2", [*LIST, "fatigue"], "two wordings"),
    ("2.2", EARLY, "short-term"),
    ("2.2", STRANGE, "finds 0"),
    ("2.3", dict.fromkeys(MATCHES, "same"), "generous"),
    ("2.3", dict.fromkeys(MATCHES, "different"), "strict"),
    ("2.3", {k: OTHER[v] for k, v in MATCHES.items()}, "other way round"),
    ("2.3", MATCHES | {k: OTHER[MATCHES[k]] for k in "bfgij"}, "word matcher's verdicts"),
    ("2.3", MATCHES | THREE, "a (synonym), e (broader), f (organ)"),
    ("2.3", MATCHES | {"a": "maybe"}, '"same" or "different"'),
    ("2.4", {"hits": 5, "precision": 0.5, "recall": 0.22, "F1": 0.3}, "count once"),
    ("2.4", {"hits": 6, "precision": 0.6, "recall": 0.26, "F1": 0.36}, "the site's list"),
    ("2.4", COUNT | {"precision": 4 / 23, "recall": 0.4}, "swapped"),
    ("2.4", COUNT | {"F1": (0.4 + 4 / 23) / 2}, "harmonic"),
    ("2.4", COUNT | {"recall": 4 / 31}, "whole vocabulary"),
    ("2.4", {"hits": 4, "precision": 40, "recall": 17.4, "F1": 24.2}, "percent"),
    ("2.5", LONG | {"precision": 1, "recall": 0.742}, "swapped"),
    ("2.5", LONG | {"F1": 0.871}, "harmonic"),
    ("2.5", LONG | {"wrong of 25": 7.25}, "the right ones"),
    ("2.5", LONG | {"wrong of 25": 4.75}, "without the list size"),
    ("2.5", LONG | {"wrong of 25": 13}, "the change for the precision"),
    ("2.6", {"by words": 0.3, "by meaning": 0.18}, "swapped"),
    ("2.6", {"by words": 2 / 7, "by meaning": 0.3}, "base list"),
    ("2.6", {"by words": 4 / 13, "by meaning": 6 / 13}, "Dice"),
    ("2.6", {"by words": 2 / 13, "by meaning": 3 / 13}, "sum of the lengths"),
    ("2.6", {"by words": 2 / 11, "by meaning": 2 / 11}, "other words"),
    ("2.7", dict.fromkeys(CHANGES, "wrong"), "every change counted as an error"),
    ("2.7", dict.fromkeys(CHANGES, "right"), "every change counted as right"),
    ("2.7", {k: TURNED[v] for k, v in CHANGES.items()}, "other way round"),
    ("2.7", CHANGES | {"nausea": "right"}, "lost (nausea)"),
    ("2.7", CHANGES | {"breast shrinkage": "right"}, "gained (breast shrinkage)"),
    ("2.8", MODELS | {"short above long": 7}, "all seven?"),
    ("2.8", MODELS | {"short above long": 2}, "better on long-term"),
    ("2.8", MODELS | {"common above extremely rare": 7}, "extremely rare effects than for common"),
    ("2.8", MODELS | {"extremely rare above rare": 4}, "other direction"),
    ("2.9", recall, "This is recall"),
    ("2.9", f1, "This is F1"),
    ("2.9", accuracy, "This is accuracy"),
    ("2.9", precision, "saying nothing pays"),
    ("2.9", undefined, "divides by zero"),
    ("2.9", fourteen, "one more hit"),
]

PAIRS = ()
SITES = """
chest wall & nodes
Chest wall and nodes
chest wall, nodes
(chest wall and nodes)
chest-wall and nodes
chestwall + nodes
chest wall and lymph nodes
CHEST WALL AND NODES
the chest wall and the nodes
“chest wall and nodes”
in brackets: chest wall and nodes
""".strip().splitlines()
PLACES = (2, "2", "two", "twice", " 2 ", "2 places", "two places", "Two", "2x", 2.0)
SAYS = {
    "same": (
        "Same",
        "SAME",
        " same ",
        "the same",
        "same.",
        "equal",
        "identical",
        "s",
        "Equivalent",
    ),
    "different": (
        "Different",
        "different!",
        " different",
        "not the same",
        "Differs",
        "d",
        "differ",
    ),
}
SAYS = {k: (*v, k, k, k)[:10] for k, v in SAYS.items()}
VERDICTS = {
    "right": (
        "Right",
        "RIGHT",
        " right ",
        "right.",
        "correct",
        "Correct",
        "true",
        "ok",
        "OK",
        "right",
    ),
    "wrong": ("Wrong", "WRONG", " wrong", "wrong!", "incorrect", "Incorrect", "false", "not right")
    + ("Not correct", "wrong"),
}
FIRST = ("tiredness", "fatigue", "Fatigue.", "exhaustion", "being tired", "FATIGUE", "Tiredness")
METRICS = (
    lambda h, w, m, r: h - 3 * w,
    lambda h, w, m, r: h - 2.5 * w,
    lambda h, w, m, r: h / (h + m) + r / (r + w),
    lambda h, w, m, r: (h / (h + m) + r / (r + w)) / 2,
    lambda h, w, m, r: h / (h + m) + r / (r + w) - 1,
    lambda h, w, m, r: h / (h + m) - w / (w + r),
    lambda h, w, m, r: 8 * h - 23 * w,
    lambda h, w, m, r: h * r,
    lambda h, w, m, r: (h + 1) * (r + 1),
    lambda h, w, m, r: h / (h + m) * r / (r + w),
)
WAYS = {
    "2.1": [
        *(ADDED | {"added": text} for text in SITES),
        *(ADDED | {"places": n} for n in PLACES),
    ],
    "2.2": [*[[t, *LIST[1:]] for t in FIRST], LIST[::-1], tuple(LIST), [*LIST, "shoulder pain"]],
    "2.3": [{k: SAYS[v][n] for k, v in MATCHES.items()} for n in range(10)],
    "2.7": [{k: VERDICTS[v][n] for k, v in CHANGES.items()} for n in range(10)],
    "2.9": METRICS,
}
NO_EFFECTS = ("asdf", "x", "...", "idk", "qwertz", "123", "bla", "?", "hmmm", "test")
NOTHING = [
    *[("2.1", ADDED | {"added": t}) for t in (*NO_EFFECTS, "nodes", "wall", "the record")],
    *[("2.1", ADDED | {"places": t}) for t in (*NO_EFFECTS, 1, 3, "three", "none")],
    *[("2.2", [*LIST, t]) for t in NO_EFFECTS],
    *[("2.3", MATCHES | {"a": t}) for t in (*NO_EFFECTS, "yes", "maybe", True)],
    *[("2.7", CHANGES | {"nausea": t}) for t in (*NO_EFFECTS, "maybe", 1, "lost")],
    *[("2.9", f) for f in (lambda: 1, lambda h, w, m, r: 1, lambda h, w, m, r: "x", max, len)],
    *[("2.9", f) for f in ("hits - wrong", 3, [1], lambda h, w, m, r: None, str)],
]


def test_answers_by_hand_pass(sheet):
    assert_pass(
        sheet,
        (
            ("2.1", {"added": " (Chest wall and nodes) ", "places": 2}),
            ("2.2", LIST),
            ("2.3", MATCHES),
            ("2.4", COUNT),
            ("2.5", LONG),
            ("2.3", MATCHES | {"d": "different", "h": "same"}),
            ("2.5", LONG | {"wrong of 25": 18}),
            ("2.6", {"by words": 0.18, "by meaning": 0.3}),
            ("2.7", CHANGES),
            ("2.8", MODELS),
            ("2.9", lambda h, w, m, r: h - 3 * w),
        ),
    )


def test_each_task_has_three_wrong_answers(sheet):
    assert all(sum(n == number for n, *_ in WRONG) >= 3 for number in sheet.tasks())


def test_what_follows_waits_for_its_task(sheet):
    shows = ("own_list", "judged", "growing", "sized", "overlaps", "recalls", "ranking")
    for name in shows:
        assert getattr(sheet, name)(...).ok is None
    assert sheet.judged({"a": "same"}).ok is False and sheet.ranking(lambda x: x).ok is False


def test_a_measure_that_fails_is_told_with_its_line_and_stops_nothing(sheet):
    said = sheet.ranking(undefined)  # an empty list has no precision
    assert said.ok is False and "ZeroDivisionError" in said.text and "return" in said.text
    said = sheet.feedback("2.9", lambda h, w, m, r: hits / w)  # noqa: F405
    assert "your code raises NameError (name 'hits' is not defined)" in said.text
    assert "in line" in said.text and "hits / w" in said.text


def test_a_comma_in_a_number_is_told(sheet):
    said = sheet.feedback("2.4", COUNT | {"recall": (0, 174)})  # 0,174
    assert said.ok is False and "write a point" in said.text


def test_the_written_lists_hold_what_the_tasks_say(sheet):
    # by hand: 4 effects of the site in ten entries, 5 wordings of them; 6 of any site, 7 wordings
    assert sheet._hits() == (4, 5, 6, 7) and len(sheet.ten) == 10 and len(sheet.site) == 23
    gained = ("breast shrinkage", "lymphedema", "sore throat")
    assert sheet.changes() == {t: "gained" if t in gained else "lost" for t in CHANGES}
    assert (sheet.asked["label"] == sheet.asked["judged"]).sum() == 5
    assert (sheet.asked["label"] == "same").sum() == 5


def test_limits_show_the_matcher_of_this_sheet(sheet):
    # by hand: of 75 same pairs 70 found, of 75 others 19 taken; (126 / 150 - 1 / 2) / (1 / 2)
    text = sheet.limits().data.iloc[0, 1]
    assert "kappa 0.68" in text and "on 150 pairs" in text and "takes 19 of 75" in text


def test_the_written_answer_is_right_by_name_and_harmful_in_four_sentences(sheet, capsys):
    # by hand: 9 entries, all of the site's 23 effects: precision 1, recall 9 / 23, F1 18 / 32
    made = sheet.harmful([3, "9", 1]).data
    said = capsys.readouterr().out
    assert "precision 1.00, recall 0.39, F1 0.56" in said and "2 of the 4" in said
    assert made["number"].tolist() == [3, 4, 6, 9] and all(made["sources"])
    assert sheet.harmful(...).ok is None and sheet.harmful(3).ok is False
    assert "harm" not in sheet.plausible().data


def test_a_measure_is_asked_for_the_careful_list_made_better(sheet):
    # by hand: 14 hits, 4 wrong, 9 missed, 4 rejected
    inputs = sheet.inputs()
    assert inputs["careful"] == (14, 4, 9, 4)
    assert inputs["one more hit"] == (15, 4, 8, 4)
    assert inputs["one wrong entry fewer"] == (14, 3, 9, 5)
    assert all(sum(c) == len(sheet.terms) for c in inputs.values())
