"""Feedback: its four states differ by sign, word and colour, legible on light and dark ground."""

import re

import pytest

from bedside.seminar import Feedback, choice, nothing, number

STATES = {
    "right": Feedback(True, "fine"),
    "collected": Feedback(True, "fine", collected=True),
    "not yet": Feedback(False, "fine"),
    "open": Feedback(None, "fine"),
}
PAGES = ("#ffffff", "#111111")  # JupyterLab's ground, light and dark


def light(colour):
    """Relative luminance of #rrggbb (WCAG 2.2)."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    low, high = sorted((light(a), light(b)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_by_hand():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("state", STATES)
def test_a_state_is_told_by_sign_word_and_colour(state):
    said = STATES[state]
    page, sign = said._repr_html_(), repr(said)[0]
    assert said.state == state and repr(said) == f"{sign} fine"
    assert f">{sign} {state}</strong> fine<" in page
    text, ground = re.search(r"background: (#\w{6}); color: (#\w{6})", page).groups()
    assert contrast(text, ground) >= 4.5
    (edge,) = re.findall(r"border-left: 6px \w+ (#\w{6})", page)
    assert all(contrast(edge, p) >= 3 for p in PAGES)


def test_states_look_different():
    for found in (
        [repr(s)[0] for s in STATES.values()],
        [s._repr_html_() for s in STATES.values()],
    ):
        assert len(set(found)) == 4


def test_text_is_escaped():
    page = Feedback(False, '<b onclick="x">')._repr_html_()
    assert "<b " not in page and 'onclick="' not in page


@pytest.mark.parametrize(
    "text, share, value",
    [
        ("0.25", True, 0.25),
        (" 25% ", True, 0.25),
        ("25 percent", True, 0.25),
        ("25 %", False, 25),
        ("0,25", True, 0.25),
        ("12,5", False, 12.5),
        ("1,000", False, None),  # a thousand, or one
        ("0,825", False, 0.825),
        ("33/40", True, 0.825),
        ("1/0", True, None),
        ("−0.2", False, -0.2),
        ("+3", False, 3),
        (".5", True, 0.5),
        ("asdf", True, None),
        ("", True, None),
        ("1e5", False, None),
        ("1 or 2", False, None),
        (True, False, None),
        (float("nan"), False, None),
        ([1], False, None),
    ],
)
def test_numbers_in_words(text, share, value):
    assert number(text, share) == pytest.approx(value) if value is not None else True
    assert (number(text, share) is None) == (value is None)


@pytest.mark.parametrize(
    "text, empty",
    [
        ("fatigue", False),
        ("die Müdigkeit nach der Bestrahlung", False),
        ("усталость", False),
        ("asdf", True),
        ("qwertz uiop", True),
        ("...", True),
        ("x", True),
        ("aaaa", True),
        ("bcdf", True),
        ("123", True),
        ("blah blah", True),
        ("asdf fatigue asdf", True),
        (None, True),
    ],
)
def test_what_is_nothing(text, empty):
    assert nothing(text) is empty


def test_a_choice_is_taken_in_other_words():
    options = {"same": ("the same",), "different": ()}
    assert choice(" The SAME! ", options) == "same" and choice("Different", options) == "different"
    assert choice("sam", options) is None and choice(1, options) is None
