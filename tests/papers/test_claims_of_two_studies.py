"""Radiation's and MedHalu's claims: no number that rounds to the printed ones refutes a verdict."""

import pandas as pd
import pytest

from bedside.papers.medhalu import claims as medhalu
from bedside.papers.radiation import claims as radiation
from bedside.papers.radiation.printed import printed_tables
from bedside.stats.rounded import Rounded, exact
from claim_worlds import drawn, refuted

TABLES = ("T6", "T7", "T8", "T10")
# of printed numbers: what they take long to find is tested in test_medhalu_printed
COUNTED = ("one_matrix", "one_of_a_sample", "any_share", "some_left_out", "mean_of_three")


@pytest.mark.parametrize("draws", [1, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_of_medhalu_holds_for_all_numbers_that_round_so(run_of, draws):
    names = medhalu.names(run_of("medhalu", "02_detection"))

    def draw(rng, kind):
        def rounded(x, digits):
            return drawn({"x": Rounded.printed(x, digits)}, rng, "anywhere")["x"]

        fits = {n: lambda *scores: pd.Series([True]) for n in COUNTED}
        fits |= {"types_apart": lambda six, eight: pd.Series([0])}
        fits |= {"accepted": lambda *scores: exact(pd.Series([0.5])), "rounded": rounded}
        return drawn({n: names[n] for n in TABLES}, rng, kind) | fits

    assert not refuted("medhalu", names, draw, draws)


@pytest.mark.parametrize("draws", [3, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_of_radiation_holds_for_all_numbers_that_round_so(run_of, draws):
    run = run_of("radiation", "02_free_form")
    tables, names, sizes = printed_tables(run), radiation.names(run), pd.Series([20, 30])

    def draw(rng, kind):
        return radiation.of_tables(drawn(tables, rng, kind), sizes)

    assert not refuted("radiation", names, draw, draws)
