"""No verdict on a claim is refuted by numbers that round to the printed ones."""

import numpy as np
import pandas as pd
import pytest

from bedside.papers.cancer_myth import claims as cancer_myth
from bedside.papers.cancer_myth.v2 import claims as mitigations
from bedside.papers.meddialbench import claims as meddialbench
from bedside.papers.meddialbench import printed
from bedside.papers.medhalu import claims as medhalu
from bedside.papers.radiation import claims as radiation
from bedside.papers.radiation.printed import printed_tables
from bedside.read import claims
from bedside.stats.rounded import Rounded, exact

ABOUT_PRINT = (".value", "possible(", "prints(")  # in a test about print, or about what it allows
KINDS = ("one", "ends", "anywhere")


def decided(study, names):
    """{(claim, interpretation): holds}."""
    made = claims.decided(study, names)
    return {(id, name): way[3] for id, ways in made.items() for name, way in ways.items()}


def drawn(printed, rng, kind):
    """Exact numbers that round to the printed ones, by name: one off, all at ends, or anywhere."""
    share = {k: rng.random(np.shape(x.value)) for k, x in printed.items()}
    if kind != "anywhere":
        share = {k: np.round(x) for k, x in share.items()}
    made = {k: x.low + share[k] * 0.999 * (x.high - x.low) for k, x in printed.items()}
    if kind == "one":
        odd, off = rng.choice([*printed]), made
        made = {k: x.value for k, x in printed.items()}
        which = np.zeros(np.size(made[odd]))
        which[rng.integers(len(which))] = 1
        made[odd] += (off[odd] - made[odd]) * which.reshape(np.shape(made[odd]))
    return {k: exact(x) for k, x in made.items()}


# ---- what is printed of each study: (its names, a function that draws others within the rounding)


def of_cancer_myth(run_of):
    names = cancer_myth.names(run_of("cancer_myth", "03_evaluation"))
    rounded = "pcr pcs pcr2 newer_pcr newer_pcs cross rated uncured cured rate_in_text".split()
    return names, lambda rng, kind: drawn({n: names[n] for n in rounded}, rng, kind)


def of_radiation(run_of):
    run, sizes = run_of("radiation", "02_free_form"), pd.Series([20, 30])
    tables = printed_tables(run)
    return radiation.names(run), lambda rng, kind: radiation.of_tables(
        drawn(tables, rng, kind), sizes
    )


def of_medhalu(run_of):
    names = medhalu.names(run_of("medhalu", "02_detection"))
    fits = "one_matrix one_of_a_sample any_share some_left_out mean_of_three".split()

    def draw(rng, kind):
        def rounded(x, digits):
            return drawn({"x": Rounded.printed(x, digits)}, rng, "anywhere")["x"]

        # what takes long to find is tested in test_medhalu_printed
        made = dict.fromkeys(fits, lambda *scores: pd.Series([True] * 9))
        made |= {"types_apart": lambda six, eight: pd.Series([0])}
        made |= {"accepted": lambda *scores: exact(pd.Series([0.5])), "rounded": rounded}
        return made | drawn({n: names[n] for n in ("T6", "T7", "T8", "T10")}, rng, kind)

    return names, draw


def of_meddialbench(run_of):
    names = meddialbench.names(run_of("meddialbench", "02_baseline"))

    def draw(rng, kind):
        def within(f):
            return lambda *place: drawn({f: names[f](*place)}, rng, kind)[f]

        # what Table 9 doesn't give; Tables 3 and 4 are compared with it as printed
        texts = {f: within(f) for f in ("rounded", "said")}
        return drawn({n: names[n] for n in ("T2", "T6")}, rng, kind) | texts

    return names, draw


STUDIES = {
    "cancer_myth": (of_cancer_myth, 60, 6),
    "radiation": (of_radiation, 40, 3),
    "medhalu": (of_medhalu, 70, 1),
    "meddialbench": (of_meddialbench, 90, 3),
}
MANY = [pytest.param(s, 100, marks=pytest.mark.slow) for s in STUDIES if s != "medhalu"]


@pytest.mark.parametrize("study, times", [*((s, 1) for s in STUDIES), *MANY])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(study, times, run_of):
    make, least, draws = STUDIES[study]
    names, draw = make(run_of)
    said, rng, turned = decided(study, names), np.random.default_rng(draws * times), set()
    assert len(said) > least
    for k in range(draws * times):
        now = decided(study, {**names, **draw(rng, KINDS[k % 3])})
        turned |= {key for key, holds in said.items() if now[key] is not holds}
    tests = {key: claims.ways(claims.load(study)[key[0]])[key[1]].test for key in turned}
    assert not [
        key
        for key, test in tests.items()
        if said[key] is not None and not any(word in test for word in ABOUT_PRINT)
    ]


def test_each_count_is_the_only_one_that_rounds_to_its_percentage():
    assert all(len(found) == 1 for found in printed.fits().values())


def test_a_whole_number_rounds_to_the_ends_of_a_printed_range():
    """By half a point, and no more; what lies between two ends may be a number, or may not."""
    inside, outside = (exact(pd.Series([x])) for x in (5.4, 5.6))
    for holds, x in ((True, inside), (False, outside)):
        assert mitigations.within(x, 1, 5).holds is holds
        assert mitigations.spans(x, 5, 5).holds is holds
    for holds, ends in ((False, (1, 1, 1.5)), (None, (1, 1, 2)), (True, (2, 2, 2))):
        assert cancer_myth.equals(Rounded(*ends), 2).holds is holds
