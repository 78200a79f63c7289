"""Cancer-Myth's claims: no verdict is refuted by numbers that round to the printed ones."""

import pytest

from bedside.papers.cancer_myth import claims as cancer_myth
from bedside.stats.rounded import Rounded
from claim_worlds import decided, drawn, refuted, unturned

ROUNDED = (
    "uncured",
    "cured",
    "rate_in_text",
)  # names of quantities that printed numbers give with their rounding


@pytest.fixture
def fixed(run_of):
    return cancer_myth.names(run_of("cancer_myth", "03_evaluation"))


@pytest.mark.parametrize("draws", [6, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(fixed, draws):
    def draw(rng, kind):
        return drawn({name: fixed[name] for name in ROUNDED}, rng, kind) if ROUNDED else {}

    assert not refuted("cancer_myth", fixed, draw, draws)


def other_names(names, rng):
    """All quantities, of other numbers."""
    return of_cures(names, rng)


def of_cures(names, rng):
    """Another Table 1: mitigations that cost as much as the text says, or anything."""
    plain = names["uncured"].value * 0 + rng.uniform(20, 90, (3, 4))
    cured, in_text = plain * rng.uniform(0.8, 1.2), names["rate_in_text"].value
    if rng.random() < 0.5:
        cured[names["on_exams"]] = plain[names["on_exams"]] * [0.95, 0.85]
        cured["Cancer-Myth-NFP"] = 72.0
    cells = {
        "uncured": plain,
        "cured": cured,
        "rate_in_text": in_text[::-1].set_axis(in_text.index),
    }
    return {name: Rounded(x, x, x) for name, x in cells.items()}


def test_each_interpretation_turns_for_some_other_numbers(fixed):
    said = decided("cancer_myth", fixed)
    assert not said or not unturned("cancer_myth", fixed, lambda rng: other_names(fixed, rng), 40)
