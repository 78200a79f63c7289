"""MedDialBench: each claim's readings, and the verdicts that follow from them."""

import pandas as pd
import pytest

from bedside import claims, stats
from bedside.papers.meddialbench import data, printed
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench.printed import (
    baseline,
    dose,
    interactions,
    power,
    released,
    single,
    strategies,
    validation,
    vulnerability,
)

PAPER = "meddialbench"
RAW = {"md-osce", "md-speak", "md-case-079", "md-case-079-exam", "md-case-084"}  # of released cases


@pytest.fixture
def run(run_of):
    return run_of(PAPER, "02_baseline")


@pytest.fixture
def design(run):
    return designs.read(run)


@pytest.fixture
def made(run, design):
    """Readings of all claims on printed numbers."""
    return {
        **validation.of_design(run, design),
        **validation.of_adherence(run, design),
        **validation.of_judges(run),
        **validation.of_patient(run),
        **baseline.readings(run),
        **single.of_marks(run, design),
        **single.of_losses(run),
        **single.of_order(run),
        **dose.of_levels(run, design),
        **dose.of_coverage(run),
        **interactions.of_table(run, design),
        **interactions.of_fabricating(run, design),
        **interactions.of_models(run, design),
        **vulnerability.of_pathways(run, design),
        **vulnerability.of_profiles(run, design),
        **strategies.of_strategies(run, design),
        **power.readings(run),
        "md-released": {},
        "md-case-079-script": {},
    }


def test_every_claim_is_made_and_every_reading_listed(made):
    assert set(claims.load(PAPER)) == {*made, *RAW}
    for id, readings in made.items():
        claims.judged(PAPER, id, readings)  # raises for one that isn't listed
        assert all(len(str(computed)) <= 125 for computed, *_ in readings.values()), id


# claims whose readings don't all say yes: what each says, in the order of data/readings
EXPECTED = {
    "md-adherence-mean": ("no no yes missing", "depends"),
    "md-adherence-strata": ("open no", "undetermined"),
    "md-isolation": ("yes open", "undetermined"),
    "md-judge-gpt": ("no yes", "depends"),
    "md-kappa": ("missing", "needs"),
    "md-smaller": ("yes missing", "needs"),
    "md-released": ("missing", "needs"),
    "md-excluded": ("missing", "needs"),
    "md-key-items": ("missing", "needs"),
    "md-per-turn": ("open no", "undetermined"),
    "md-only": ("yes no", "depends"),
    "md-cognition-extreme": ("no yes", "depends"),
    "md-rank": ("no", "differs"),
    "md-rank-convergence": ("yes no", "depends"),
    "md-moderate": ("no yes", "depends"),
    "md-chosen": ("no no yes yes", "depends"),
    "md-dose-each": ("yes no", "depends"),
    "md-coverage-barely": ("yes no", "depends"),
    "md-incoherent-coverage": ("missing", "needs"),
    "md-incoherent-turns": ("missing", "needs"),
    "md-coverage-losses": ("missing", "needs"),
    "md-super-each": ("yes no missing", "depends"),
    "md-additive": ("yes yes no", "depends"),
    "md-spread": ("no no yes yes yes yes", "depends"),
    "md-odds": ("yes yes no no", "depends"),
    "md-eligible-fabricating": ("missing", "needs"),
    "md-eligible-other": ("missing", "needs"),
    "md-factor-pathways": ("yes no no no", "depends"),
    "md-pollution": ("yes yes yes yes no", "depends"),
    "md-denial-deficit": ("yes yes missing", "needs"),
    "md-orthogonal": ("yes yes no no yes no", "depends"),
    "md-profiles": ("yes no missing", "depends"),
    "md-strategy-deficit": ("yes yes yes no", "depends"),
    "md-strategy-pollution": ("no no yes no yes missing", "depends"),
    "md-strategy-contrast": ("no no no yes missing", "depends"),
    "md-misled": ("open open no no missing", "needs"),
    "md-coverage-c4": ("missing", "needs"),
    "md-gemini-impatient": ("open missing", "needs"),
    "md-power": ("open open", "undetermined"),
    "md-case-079-script": ("missing", "needs"),
}


def test_verdicts(made):
    found = {}
    for id, readings in made.items():
        verdict, rows = claims.judged(PAPER, id, readings)
        said = " ".join(row["holds"] for row in rows)
        if verdict == "holds":
            assert id not in EXPECTED and set(said.split()) == {"yes"}, id
        else:
            found[id] = said, verdict.split()[0]
    assert found == EXPECTED


def test_what_differs_says_what_was_tried_and_what_depends_says_on_what():
    for id, (_, verdict) in EXPECTED.items():
        claim = claims.load(PAPER)[id]
        assert bool(claim.tried) == (verdict == "differs"), id
        assert bool(claim.depends) == (verdict == "depends"), id
        assert verdict != "needs" or claim.needs, id


def test_no_reading_that_differs_rests_on_a_test(made):
    for id, ways in claims.listed(PAPER).items():
        for name, way in ways.items():
            if way.tests:
                assert made[id][name][3] is True, (id, name)


# ---- key numbers


def numbers(text):
    """The numbers of a text in order."""
    return [float(x) for x in pd.Series([text]).str.findall(r"(?<![\w.])-?\d+(?:\.\d+)?")[0]]


def test_scores_of_adherence(made):
    # 66 of 70 pass in full; two pairs show one of two: 67 of 70, 92 of 96; (66/70 + 1) / 2
    found = made["md-adherence-mean"].values()
    assert [way[0] for way in found] == ["95.7", "95.8", "97.1"]
    (first, second) = made["md-adherence-strata"].values()
    assert first[1:3] == (3, 17) and second[1:3] == (3, 5 + 44 + 26)
    assert made["md-isolation"]["all dialogues of this patient"][2] == pytest.approx(3.62, abs=0.01)


def test_a_share_of_the_misled_and_of_all_fifteen(made):
    gpt, gemini = (list(made[f"md-judge-{x}"].values()) for x in ("gpt", "gemini"))
    assert [x[0] for x in gpt] == ["12 errors; at most 5 can be missed", "1 of 5 found"]
    assert [x[0] for x in gemini] == ["3 errors", "4 of 5 found"]


def test_a_mean_of_ratios_by_hand():
    # half have one turn, half two, and half cover all: the short ones (1 / 1) or the long (1 / 2)
    low, high = baseline.mean_ratio((1.5, 1.5), (0.5, 0.5), 2)
    assert (low, high) == pytest.approx((0.25, 0.5))
    assert baseline.mean_ratio((4, 4), (1, 1), 4) == pytest.approx((0.25, 0.25))
    low, high = baseline.mean_ratio((17.5, 17.5), (0.793, 0.793), 20)
    assert (low, high) == pytest.approx((0.0397, 0.1647), abs=1e-4)  # GPT-5.4
    wider = baseline.mean_ratio((17.45, 17.55), (0.7925, 0.7935), 20)
    assert wider[0] < low < 0.051 < high < wider[1]


def test_rounding_matters_for_one_mean_only(run, design):
    """Means of printed percentages print as those of counts do, but for denial's loss."""
    lost, plain = printed.drops(run).mean(axis=1), printed.printed_losses(run)
    named = ["fabricating", "withholding", "dominant", "partial_understanding"]
    named += ["occasional_contradiction", "complete_denial", *design.combinations]
    off = [c for c in named if f"{lost[c]:.1f}" != f"{plain[c]:.1f}"]
    assert off == ["complete_denial"]
    assert (lost[off[0]], plain[off[0]]) == pytest.approx((880 / 85, 10.34))


def test_numbers_that_readings_tell(made):
    told = {id: {k: numbers(str(v[0])) for k, v in ways.items()} for id, ways in made.items()}
    assert told["md-moderate"]["no more marks than chance gives"] == [2, 25, 36]
    assert told["md-dissociation"]["as written"] == [3.4, 4.1, 1.2, 1.3]
    ratio = made["md-coverage-barely"]["a smaller loss than by deficit"]
    assert ratio[1:3] == pytest.approx((0.055 / 0.085, 0.065 / 0.075))
    assert told["md-spread"]["range"] == [0.44, 0.33, 0.302]
    assert told["md-spread"]["coefficient of variation"] == [0.201, 0.215, 0.148]
    assert told["md-super"]["ratio of the mean accuracies"] == [0.81, 0.7, 0.76]
    mean = made["md-super-each"]["each model's mean of its three"][0]
    assert mean == "GPT-5.4 0.79, Claude 0.68, DeepSeek 0.78, Gemini 0.85, Qwen 0.70"
    assert told["md-profiles-additive"]["no interaction that the numbers show"] == [47, 64, 0.94]
    assert told["md-gap-withholding"]["as written"] == [14.1, 14.1, 4.7]
    assert told["md-expression"]["exact McNemar for losses, whatever the overlap"] == [0.125]


def test_resistance_keeps_ties(made):
    # losses of 16, 19, 17, 26 and 17 cases with baselines of 70, 66, 63, 77 and 59
    rho = pd.Series([16, 19, 17, 26, 17]).corr(pd.Series([70, 66, 63, 77, 59]), method="spearman")
    told = made["md-orthogonal"]["loss under fabricating (rho; bound of 0.5 ours)"][0]
    assert rho == pytest.approx(0.359, abs=1e-3) and told == f"{rho:.2f}"


def test_a_model_that_is_seldom_wrong_cannot_be_misled_often(run, design, monkeypatch):
    def holds():
        made = strategies.of_strategies(run, design)["md-misled"]
        return made["share of all dialogues, fabricating"][3]

    assert holds() is None  # 36.5% wrong at least: 22 to 32% may be misled
    counts = printed.counts().copy()
    counts.loc["fabricating", "Gemini"] = 68  # 20% wrong
    monkeypatch.setattr(printed, "counts", lambda: counts)
    assert holds() is False


def test_power_without_correction_against_a_sum_by_hand():
    # two pairs: at most (2 - 0)^2 / 2 = 2 < 3.84
    assert stats.mcnemar_power(2, 0.5, 0.2, exact=False) == 0
    # four pairs: 4 lost or 4 won give 4 > 3.84; three of three give 3
    assert stats.mcnemar_power(4, 0.5, 0.2, exact=False) == pytest.approx(0.5**4 + 0.2**4)


def test_power_that_no_overlap_gives(made):
    told = [way[0] for way in made["md-power-deficit"].values()]
    assert [text.split("Qwen ")[1] for text in told] == ["0.38", "0.74"]
    assert "GPT-5.4 0.71" in told[0] and "GPT-5.4 0.93" in told[1]


def test_readings_follow_from_the_printed_numbers(run, design, monkeypatch):
    # Gemini, C1: 45 * 77 / (51 * 65); all others are below 1
    each = interactions.of_fabricating(run, design)["md-super-each"]["each of the 15 ratios"]
    assert each[0] == "14 of 15 below 1; not C1 Gemini 1.05" and each[3] is False
    seven = run.published("Table 7")
    # 94.2% is no whole number of 70 dialogues: 65 are 92.9%, 66 are 94.3%
    seven.loc[(seven["row"] == "All non-baseline") & (seven["column"] == "Full Pass"), "value"] = (
        94.2
    )
    tables = {"Table 7": seven}
    printed_ = run.published
    monkeypatch.setattr(run, "published", lambda name: tables.get(name, printed_(name)))
    found = validation.of_adherence(run, design)["md-adherence-all-non"]["as written"]
    assert (found[0], found[3]) == ("none", False)


# ---- the released cases, by cases of our own


@pytest.fixture
def of_cases(run, monkeypatch):
    """A function that lays out 107 cases, of which some are babies, with these tests of case 79."""

    def lay(babies, tests, words="He denies headache and loose stool. He takes haloperidol."):
        one = {"Primary_Symptom": "spinning"}
        actor = {"Demographics": "30-year-old male", "History": words, "Symptoms": one}
        found = [
            {"Patient_Actor": dict(actor), "Correct_Diagnosis": "x", "Test_Results": {}}
            for _ in range(107)
        ]
        for case in found[:babies]:
            case["Patient_Actor"]["Demographics"] = "2-week-old girl"
        found[78]["Test_Results"] = tests
        found[78]["Patient_Actor"] |= {
            "Demographics": "59-year-old male",
            "History": "Spinning for 3 minutes, as he was going to bed.",
        }
        frame = pd.DataFrame({"OSCE_Examination": found})
        monkeypatch.setattr(run, "load", lambda name: frame)
        return {**released.of_source(run), **released.of_dialogues(run)}

    return lay


MANOEUVRE = {"Dix-Hallpike_Test": {"Findings": "Positive, to the right"}}


def test_claims_on_released_cases(of_cases):
    def verdicts(made):
        return {id: claims.judged(PAPER, id, made[id])[0].split()[0] for id in RAW}

    made = of_cases(17, MANOEUVRE)
    assert verdicts(made) == {
        "md-osce": "holds",
        "md-speak": "undetermined",
        "md-case-079": "holds",
        "md-case-079-exam": "depends",
        "md-case-084": "holds",
    }
    assert made["md-speak"]["as written"][1:3] == (0, 17)
    assert "findings: positive" in made["md-case-079-exam"]["what comes up in dialogues"][0]
    other = verdicts(of_cases(30, {}, "He has headache and denies loose stool."))
    assert other["md-speak"] == "differs"  # 22 were left out
    assert other["md-case-079-exam"] == "holds" and other["md-case-084"] == "differs"


def test_different_diagnoses_but_for_spelling():
    frame = pd.DataFrame({"diagnosis": ["Crohn's disease", "crohn’s disease (ileal)", "Gout"]})
    assert data.diagnoses(frame) == "2 different diagnoses in 3 cases."
