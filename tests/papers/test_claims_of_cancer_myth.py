"""Cancer-Myth's claims: no verdict is refuted by numbers that round to the printed ones, and each
interpretation turns for some others."""

import numpy as np
import pandas as pd
import pytest

from bedside.papers.cancer_myth import claims as cancer_myth
from bedside.papers.cancer_myth import survey, survey_claims
from bedside.papers.cancer_myth.survey import EDITED, HUMAN, RATED, SITE
from bedside.papers.cancer_myth.systems import SYSTEMS
from bedside.papers.cancer_myth.v2 import claims as mitigations
from bedside.stats.rounded import Comparison, Rounded, Verdict, exact
from claim_worlds import decided, drawn, refuted, unturned

ROUNDED = ("pcr", "pcs", "pcr2", "newer_pcr", "newer_pcs", "cross", "rated")
CURED = ("uncured", "cured", "rate_in_text")
MODELS = [*SYSTEMS.values()]
WRITERS = ["GPT-4o", "Claude-3.5-Sonnet", "Gemini-1.5-Pro"]


@pytest.fixture
def fixed(run_of):
    return cancer_myth.names(run_of("cancer_myth", "03_evaluation"))


@pytest.mark.parametrize("draws", [6, pytest.param(400, marks=pytest.mark.slow)])
def test_what_is_decided_holds_for_all_numbers_that_round_to_the_printed_ones(fixed, draws):
    def draw(rng, kind):
        return drawn({name: fixed[name] for name in ROUNDED + CURED}, rng, kind)

    assert len(decided("cancer_myth", fixed)) > 60
    assert not refuted("cancer_myth", fixed, draw, draws)


# ---- other numbers, of what is printed and of what is released


def moved(x, by):
    """Other printed numbers with the same rounding."""
    return Rounded(x.low + by, x.value + by, x.high + by)


def of_print(names, rng):
    """Rates and scores that lie close or not, with another order or another sign."""
    made = {k: moved(names[k], rng.choice([0, 40, -0.3])) for k in ROUNDED}
    for k in ("pcr", "pcs", "cross", "rated"):
        size = rng.choice([0.1, 1]) * (20 if k == "pcr" else 1)
        made[k] = moved(names[k], size * rng.normal(size=np.shape(names[k].value)))
    made["pcr"] = moved(made["pcr"], rng.choice([0, 60]))
    made["pcr"] = made["pcr"].drop(["DeepSeek-R1"][: rng.integers(0, 2)])
    sums = names["sums"].value
    steep = rng.choice([0, 30]) * rng.normal(size=(len(sums), 1))
    sums = sums * rng.choice([-1, 0.1, 1]) + steep + rng.normal(size=sums.shape)
    p, kappa = float(rng.choice([1e-12, 2e-5, 4e-3, 0.4])), float(rng.choice([0.1, 0.9]))
    for k in ("counts", "counts2", "agreeing"):
        made[k] = names[k] * rng.integers(0, 2)
    for k in ("sizes", "candidates"):
        made[k] = names[k] + rng.integers(0, 2)
    for k in ("across", "within_paper", "right_by_both"):
        made[k] = ["GPT-4o"][: rng.integers(0, 2)]
    for k in ("two", "three", "three_linear", "three_quadratic"):
        made[k] = exact(kappa)
    return made | {
        "sums": exact(sums),
        "by_category": exact(sums.div(names["sizes"], axis=0) * rng.choice([1, 9])),
        "ways": exact(names["ways"].value * rng.integers(0, 2)),
        "written": moved(names["written"], rng.integers(0, 2)),
        "matched": moved(names["matched"], rng.choice([0, 40]) * np.array([1, 0])),
        "three_ac1": exact(1 - kappa),
        "p_twice": p,
        "p": lambda *which: exact(p),
    }


NUMBERS = {  # of released files: as claimed, or not
    **dict(myths=(994, 993), starting_offered=(2, 1), different_myths=(993, 994)),
    **dict(early_last=(122, 123), later_first=(123,), offered=(874, 873), first=(76, 75)),
    **dict(near=(585, 584), released=(585, 584), plain=(150, 151), plain_offered=(150,)),
    **dict(in_both=(0, 1), repeated=(0, 1), empty=(0, 1), p_kept=(0.5, 0.01)),
}


def of_files(rng):
    """What released files may say, so that each claim may hold or not."""

    def either(*which):
        return which[rng.integers(len(which))]

    def some(n=3):
        return pd.Series(rng.random(n) < either(0.5, 1))

    p = float(either(2e-5, 4e-3, 0.5))
    cross = pd.DataFrame(rng.uniform(0, 1, (3, len(MODELS))), WRITERS, MODELS)
    cross.loc["Gemini-1.5-Pro"] -= either(0, 2)
    judged = ("raw_6a", "raw_6b", "raw_7", "failed_together")
    return {
        **{k: either(*of) for k, of in NUMBERS.items()},
        **dict.fromkeys(("file_off", "lacking", "moved"), either([], ["GPT-4o"])),
        **{k: Verdict(either(True, False), "") for k in judged},
        "types": exact(either(126, 127)),
        "starting": pd.Series({"valid": 2, "invalid": either(3, 4)}),
        "by_generator": pd.Series([266, either(266, 259)]),
        "parts": pd.Series([0.2, either(0, 0.5)]),
        "kept_share": pd.Series(rng.permutation([0.5, 0.6, 0.7]), WRITERS),
        "dropped_kept": pd.Series([False, either(True, False)]),
        "candidates_generated": some(),
        "taken_first": Comparison(*2 * [some()]),
        "raw_pcr": exact(40 * some().astype(float)),
        "raw_pcr_high": exact(40 * some().astype(float)),
        "raw_cross": exact(cross),
        "raw_gap": exact(some() - 0.5),
        "raw_p": lambda *which: exact(p),
    }


def of_cures(names, rng):
    """Another Table 1: mitigations that cost as much as the text says, or anything."""
    plain = names["uncured"].value * 0 + rng.uniform(20, 90, (3, 4))
    cured, in_text = plain * rng.uniform(0.8, 1.2), names["rate_in_text"].value
    if rng.random() < 0.5:
        cured[names["on_exams"]] = plain[names["on_exams"]] * [0.95, 0.85]
        cured["Cancer-Myth-NFP"] = 72.0
    cells = {"uncured": plain, "cured": cured}
    cells["rate_in_text"] = in_text[::-1].set_axis(in_text.index)
    return {name: exact(x) for name, x in cells.items()}


def test_each_interpretation_turns_for_some_other_numbers(fixed):
    names = {**fixed, **of_files(np.random.default_rng(0))}
    assert len(decided("cancer_myth", names)) > 100

    def other(rng):
        return of_print(names, rng) | of_cures(names, rng) | of_files(rng)

    assert not unturned("cancer_myth", names, other, 150)


# ---- the survey: other ratings and other answers

SUMS = {"GPT-4-Turbo": 310, "Gemini-1.5-Pro": 293, "LLaMa-3.1-405B": 268, HUMAN: 240}
MOSTLY_1 = [0.15, 0.6, 0.25, 0, 0]  # how many paragraphs have a MISD of 0 to 4
FEW = {"Overly generic": 0.1, "Factually incorrect": 0.01}  # paragraphs with a label


def ratings(rng, sums=SUMS, questions=25, parts=648, far=MOSTLY_1, human=None, labels=FEW):
    """Ratings as of `survey.survey`.

    sums: of the points of whole answers; parts: paragraphs in all; far: shares of MISDs; human:
    those of the social workers' paragraphs.
    """
    each, rows = {k: np.full(3 * questions, total // 75) for k, total in sums.items()}, []
    for k, total in sums.items():
        each[k][: total % 75] += 1
    answers = [(q, source) for q in range(questions) for source in RATED.values()]
    for i, (q, source) in enumerate(answers):
        given = [each[source][3 * q : 3 * q + 3]]
        for _ in range(parts // len(answers) + (i < parts % len(answers))):
            most = rng.choice(5, p=human if human and source == HUMAN else far)
            least = rng.integers(1, 6 - most)
            middle = rng.integers(least, least + most + 1)
            given.append(rng.permutation([least, middle, least + most]))
        for part, points in enumerate(given):
            said = [label for label, p in labels.items() if part and rng.random() < p]
            rows += [(q, source, part, f"Doctor {k}", x, said, "") for k, x in enumerate(points)]
    return pd.DataFrame(rows, columns=[*survey.KEYS, "rating", "labels", "missing"])


def answers(shown=237, site=300, length=1.6, listed=24, named=0, bare=1):
    """Answers as released, most of them lists. shown, site: words of the edited, and as they stand.

    length: of the models' answers, against the edited ones; named: how many name the site; bare:
    how many begin without a summary.
    """
    words, rows = [f"w{k}" for k in range(1000)], []
    for q in range(25):
        head = ["1.", "One", "point" if q < bare else "point:"] if q < listed else []
        name = ["CancerCare"] * (q < named)
        text = [*head, *name, *words[: shown - len(head) - len(name)]]
        models = {k: words[: round(length * shown)] for k in RATED if k != EDITED}
        made = {SITE: words[:site], EDITED: text} | models
        rows.append({k: " ".join(v) for k, v in made.items()})
    return pd.DataFrame(rows)


def of(ratings, answers, p=0.01):
    """The survey's quantities. p: of each model's lead over the social workers."""
    mean = survey.whole_answers(ratings).stack().groupby("source").mean()
    lead = mean.drop(HUMAN) - mean[HUMAN]
    tests = pd.DataFrame({"row": lead.index + f" - {HUMAN}", "difference": lead, "p_holm": p})
    found = survey_claims.of_ratings(ratings, tests)
    found |= survey_claims.of_paragraphs(survey.paragraphs(ratings))
    return {"survey": found | survey_claims.of_answers(answers)}


def other_survey(rng):
    """Other questions, points, paragraphs, labels, agreement, lengths and forms."""
    labels = {label: rng.choice([0, 0.9]) for label in FEW}
    far, human = ([*rng.dirichlet(most)] for most in ([3, 1, 1, 1, 1], np.ones(5) / 2))
    sums = {k: int(rng.choice([370, rng.integers(80, 370)])) for k in SUMS}
    made = ratings(rng, sums, 24, 600, far, human, labels)
    shown, length = int(rng.choice([237, 238, 240, 400])), rng.choice([1, 1.1])
    forms = (int(rng.choice(few)) for few in ([5, 25], [0, 5], [0, 1]))
    return of(made, answers(shown, 237, length, *forms), p=0.2)


def test_each_interpretation_turns_for_some_other_survey(run_of):
    names = cancer_myth.names(run_of("cancer_myth", "01_physician_survey"))
    kept = {k: names[k] for k in ("human", "text", "within")}
    given = dict.fromkeys(names) | kept | of(ratings(np.random.default_rng(0)), answers())
    left = unturned("cancer_myth", given, other_survey, 30)
    assert not {key for key in left if key[0].startswith("cm-survey")}


def test_a_whole_number_rounds_to_the_ends_of_a_printed_range():
    """By half a point, and no more; what lies between two ends may be a number, or may not."""
    inside, outside = (exact(pd.Series([x])) for x in (5.4, 5.6))
    for holds, x in ((True, inside), (False, outside)):
        assert mitigations.within(x, 1, 5).holds is holds
        assert mitigations.spans(x, 5, 5).holds is holds
    for holds, ends in ((False, (1, 1, 1.5)), (None, (1, 1, 2)), (True, (2, 2, 2))):
        assert cancer_myth.equals(Rounded(*ends), 2).holds is holds
