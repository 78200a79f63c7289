"""Cancer-Myth's claims: no verdict is refuted by numbers that round to the printed ones."""

import pytest

from bedside.papers.cancer_myth import claims as cancer_myth
from claim_worlds import decided, drawn, refuted, unturned

ROUNDED = ()  # names of quantities that printed numbers give with their rounding


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
    return {}


def test_each_interpretation_turns_for_some_other_numbers(fixed):
    said = decided("cancer_myth", fixed)
    assert not said or not unturned("cancer_myth", fixed, lambda rng: other_names(fixed, rng), 40)
