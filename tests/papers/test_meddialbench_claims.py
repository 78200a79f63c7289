"""MedDialBench: each claim's readings, and the verdicts that follow from them."""

import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import data, implied
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench.implied import (
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
from bedside.read import claims

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
        **validation.of_works(run),
        **validation.of_design(run, design),
        **validation.of_adherence(run, design),
        **validation.of_judges(run),
        **validation.of_patient(run),
        **baseline.of_counts(run),
        **baseline.readings(run),
        **single.of_marks(run, design),
        **single.of_losses(run),
        **single.of_surfaces(run, design),
        **single.of_order(run),
        **dose.of_levels(run, design),
        **dose.of_coverage(run),
        **interactions.of_table(run, design),
        **interactions.of_fabricating(run, design),
        **interactions.of_models(run, design),
        **vulnerability.of_pathways(run, design),
        **vulnerability.of_profiles(run, design),
        **vulnerability.of_history(run),
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
    "md-adherence-mean": ("no no missing", "needs"),
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
    "md-rank": ("no", "differs"),
    "md-rank-convergence": ("yes no", "depends"),
    "md-moderate": ("no no", "differs"),
    "md-judge-pilot": ("no yes", "depends"),
    "md-judge-reps": ("no", "differs"),
    "md-gate": ("no missing", "needs"),
    "md-parallel": ("no no no yes", "depends"),
    "md-dominant-surfaces": ("no yes", "depends"),
    "md-history-taking": ("yes no no no missing", "depends"),
    "md-super": ("yes yes yes open", "undetermined"),
    "md-profiles-additive": ("open", "undetermined"),
    "md-chosen": ("no no yes yes", "depends"),
    "md-dose-each": ("yes no", "depends"),
    "md-coverage-barely": ("yes no", "depends"),
    "md-incoherent-coverage": ("missing", "needs"),
    "md-incoherent-turns": ("missing", "needs"),
    "md-coverage-losses": ("missing", "needs"),
    "md-super-each": ("yes no missing", "depends"),
    "md-additive": ("yes open no", "depends"),
    "md-spread": ("no no yes yes yes yes", "depends"),
    "md-odds": ("yes yes no no", "depends"),
    "md-eligible-fabricating": ("missing", "needs"),
    "md-eligible-other": ("missing", "needs"),
    "md-factor-pathways": ("yes no no no", "depends"),
    "md-pollution": ("yes yes yes yes no", "depends"),
    "md-denial-deficit": ("yes yes missing", "needs"),
    "md-orthogonal": ("yes yes no no yes no", "depends"),
    "md-profiles": ("yes no missing", "depends"),
    "md-strategy-deficit": ("yes yes yes no no no", "depends"),
    "md-strategy-pollution": ("no no yes no yes yes yes missing", "depends"),
    "md-strategy-contrast": ("no no no no no missing", "needs"),
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
        if verdict in ("holds", "found"):
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
                assert made[id][name][3] is not False, (id, name)


# ---- key numbers


def numbers(text):
    """The numbers of a text in order."""
    return [float(x) for x in pd.Series([text]).str.findall(r"(?<![\w.])-?\d+(?:\.\d+)?")[0]]


def test_scores_of_adherence(made):
    # 66 of 70 pass in full; two pairs show one of two: 67 of 70, 92 of 96
    found = made["md-adherence-mean"].values()
    assert [way[0] for way in found] == ["95.7", "95.8"]
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
    lost, plain = implied.drops(run).mean(axis=1), implied.printed_losses(run)
    named = ["fabricating", "withholding", "dominant", "partial_understanding"]
    named += ["occasional_contradiction", "complete_denial", *design.combinations]
    off = [c for c in named if f"{lost[c]:.1f}" != f"{plain[c]:.1f}"]
    assert off == ["complete_denial"]
    assert (lost[off[0]], plain[off[0]]) == pytest.approx((880 / 85, 10.34))


def test_numbers_that_readings_tell(made):
    told = {id: {k: numbers(str(v[0])) for k, v in ways.items()} for id, ways in made.items()}
    # 78, 71, 59, 73 and 56 right of 85 after 70, 66, 63, 77 and 59 (partial understanding) are
    # 25 lost in 425; 28 by impatience; the extreme levels lose 44 and 35
    assert 25 / 44 == pytest.approx(0.57, abs=0.005) and 28 / 35 == 0.8
    beside = "less than half of the extreme level's effect (the bound is ours)"
    assert told["md-moderate"][beside] == [0.30, 0.57, 0.14, 0.29, 0.80]
    assert told["md-dissociation"]["as written"] == [3.4, 4.1, 1.2, 1.3]
    ratio = made["md-coverage-barely"]["a smaller loss than by deficit"]
    assert ratio[1:3] == pytest.approx((0.055 / 0.085, 0.065 / 0.075))
    assert told["md-spread"]["range"] == [0.44, 0.33, 0.302]
    assert told["md-spread"]["coefficient of variation"] == [0.201, 0.215, 0.148]
    assert told["md-super"]["ratio of the mean accuracies"] == [0.81, 0.7, 0.76]
    mean = made["md-super-each"]["each model's mean of its three"][0]
    assert mean == "GPT-5.4 0.79, Claude 0.68, DeepSeek 0.78, Gemini 0.85, Qwen 0.70"
    # 83.7 is the 95th percentile of chi-squared with 64 degrees: 1 - 47 / 83.7 = 0.44
    alike = "no interaction, however alike a case's answers are"
    assert told["md-profiles-additive"][alike] == [47, 64, 0.94, 0.05, 0.44]
    assert told["md-gap-withholding"]["as written"] == [14.1, 14.1, 4.7]
    assert told["md-expression"]["exact McNemar for losses, whatever the overlap"] == [0.125]


def test_exhaustive_models_beside_efficient_ones_by_hand(made):
    """Cases lost of 85 by GPT-5.4 and DeepSeek, and by Claude and Gemini."""

    def gap(exhaustive, efficient, levels=1):
        return 100 * (sum(efficient) - sum(exhaustive)) / (2 * levels * 85)

    withholding, dominant = ((7, 10), (8, 12)), ((6, 11), (7, 7))
    assert gap(*withholding) == pytest.approx(1.76, abs=0.01)
    assert gap(*dominant) == pytest.approx(-1.76, abs=0.01)
    assert gap((7, 10, 6, 11), (8, 12, 7, 7), 2) == 0  # both: 34 cases each
    deficit, contrast = made["md-strategy-deficit"], made["md-strategy-contrast"]
    assert deficit["accuracy lost under the extreme levels"][3] is False
    # with 2 and 5, 7 and 9 lost to reluctant and impatient: 57 cases; -2, 3, 1, 6: 42
    assert gap((34 + 23,), (34 + 8,), 4) == pytest.approx(-2.2, abs=0.01)
    told = {name: numbers(way[0]) for name, way in contrast.items()}
    assert told["accuracy, withholding and fabricating"] == [1.8, 7.1]
    assert told["accuracy, all four levels of both"] == [-2.2, -2.4]


def test_strategies_that_help_under_deficit_only(run, design, monkeypatch):
    counts = implied.counts().copy()
    adverse = [c for c in counts.index if c != "baseline"]
    counts.loc[adverse] = counts.loc["baseline"].to_numpy() - 20
    deficit = ["reluctant", "withholding", "impatient", "dominant", "C4"]
    counts.loc[deficit, implied.EXHAUSTIVE] += 10  # these lose 10 cases instead of 20
    monkeypatch.setattr(implied, "counts", lambda: counts)
    made = strategies.of_strategies(run, design)
    for id in ("md-strategy-contrast", "md-strategy-deficit", "md-strategy-pollution"):
        assert {way[3] for way in made[id].values()} == {True}, id


def test_errors_of_a_ratio_for_any_overlap_by_hand(monkeypatch):
    """One of two right in each of four cells: weights of 2 and of -2, in two cases."""
    right = pd.DataFrame(1, index=["baseline", "x", "y", "both"], columns=["A"])
    monkeypatch.setattr(implied, "counts", lambda: right)
    monkeypatch.setattr(implied, "MODELS", ["A"])
    monkeypatch.setattr(implied, "N", 2)
    mean, least, most = implied.log_ratio("both", ("x", "y"))
    # the same case in all cells: 2 + 2 - 2 - 2 = 0 in both; the other one in x and y: 4 and -4
    assert (mean, least, most) == pytest.approx((0, 0, 4 / 2**0.5))


def test_super_additivity_is_open_for_some_overlap(run, design, made, monkeypatch):
    name = "below 1 beyond chance, however cases overlap"
    least, most = implied.log_ratio("C1", design.combinations["C1"])[1:]
    assert (least, most) == pytest.approx((0.077, 0.306), abs=5e-4)
    assert made["md-super"][name][0].startswith("p: C1 0.003 to 0.5")  # -0.226 / 0.306: 0.46
    told = made["md-additive"]["each 95% interval between 0.9 and 1.1, however cases overlap"][0]
    assert "C4 0.71-1.68" in told  # exp(0.088 -+ 1.96 * 0.218)
    counts = implied.counts().copy()
    monkeypatch.setattr(implied, "counts", lambda: counts)
    for right, holds in ((2, True), (80, False)):
        counts.loc[["C1", "C2", "C3"]] = right
        made = interactions.of_fabricating(run, design)["md-super"]
        assert {way[3] for way in made.values()} == {holds}


@pytest.mark.parametrize(
    "id, table, row, column, value, holds",
    [
        ("md-only-work", "Table 1", "Q4Dx", ["graded severity", "interaction"], 1, [False]),
        ("md-judge-pilot", "text B", "selected dialogues per judge", ["count"], 28, [True, True]),
        ("md-judge-pilot", "text B", "pilot dialogues", ["count"], 27, [False, False]),
        ("md-judge-reps", "Table 6", "Gemini 3 Pro", ["Reps"], 2, [True]),
    ],
)
def test_another_number_turns_the_reading(run, monkeypatch, id, table, row, column, value, holds):
    changed, published = run.published(table), run.published
    changed.loc[(changed["row"] == row) & changed["column"].isin(column), "value"] = value
    monkeypatch.setattr(run, "published", lambda t: changed if t == table else published(t))
    made = validation.of_works(run) | validation.of_judges(run)
    assert [way[3] for way in made[id].values()] == holds


def test_coverage_that_only_disclosure_changes(made):
    # 0.732 - 0.562 for Gemini; two decimals are printed of the others
    assert numbers(made["md-gate"]["coverage of a dialogue"][0]) == [0.06, 0.08, 0.17]
    assert next(iter(dose.gate({"dominant": 0.004}).values()))[3] is True


def test_smaller_models_have_more_in_the_other_configurations(run, made, monkeypatch):
    # four configurations average 0.555 or more, two of them 0.355 at most: (2.22 - 0.71) / 2
    assert numbers(made["md-smaller-worst"]["as written"][0])[1] == 0.76
    scores, published = run.published("text A"), run.published
    scores.loc[scores["row"] == "smaller models, incoherent and fabricating", "high"] = 0.6
    monkeypatch.setattr(run, "published", lambda t: scores if t == "text A" else published(t))
    assert validation.of_patient(run)["md-smaller-worst"]["as written"][3] is False


def test_losses_by_dimension_and_model_turn_readings(run, design, made, monkeypatch):
    # losses of 9, 7, 16, 6, 6 cases by denial and 16, 19, 17, 26, 17 by fabricating: 10 apart each
    spread = made["md-parallel"]["range of the losses: narrower than under fabricating"]
    assert spread[0] == "11.8 and 11.8 points" and spread[3] is False
    # from 77 - 59 = 18 cases to 71 - 47 = 24, and to 54 - 42 = 12
    gap = made["md-parallel"]["gap from best to worst: changes less than under fabricating"]
    assert gap[0] == "7.1 and 7.1 points" and gap[3] is False
    counts = implied.counts().copy()
    counts.loc["complete_denial"] = counts.loc["baseline"] - 3  # all lose alike, and little
    counts.loc[["C3", "fabricating"], "Claude"] = 66  # Claude loses nothing
    counts.loc["partial_understanding"] = counts.loc["baseline"] - 1
    counts.loc[["impatient", "dominant"]] = counts.loc["baseline"].to_numpy() - [[1] * 5, [4] * 5]
    for module in (implied, single):
        monkeypatch.setattr(module, "counts", lambda: counts)
    found = single.of_order(run) | single.of_surfaces(run, design) | vulnerability.of_history(run)
    found |= dose.of_levels(run, design)
    for id in ("md-parallel", "md-dominant-surfaces", "md-history-taking", "md-moderate"):
        assert {way[3] for way in found[id].values()} == {True}, id
    counts.loc["withholding"] = counts.loc["baseline"]  # dominance is the costlier deficit
    assert {way[3] for way in single.of_surfaces(run, design)["md-dominant-surfaces"].values()} == {
        False
    }
    counts.loc["complete_denial"] = counts.loc["baseline"] - 4
    monkeypatch.setattr(single, "printed_losses", lambda run: {"complete_denial": 4.7})
    told = single.of_losses(run)["md-cognition-extreme"]["as written"]
    assert told[0].endswith("4.71 from counts") and told[3] is False


def test_models_that_change_places_are_an_interaction(run, design, monkeypatch):
    counts = implied.counts().copy()
    counts.loc["withholding"] = [5, 80, 5, 80, 5]
    monkeypatch.setattr(vulnerability, "counts", lambda: counts)
    (way,) = vulnerability.of_profiles(run, design)["md-profiles-additive"].values()
    assert way[3] is False


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
    counts = implied.counts().copy()
    counts.loc["fabricating", "Gemini"] = 68  # 20% wrong
    monkeypatch.setattr(implied, "counts", lambda: counts)
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


DENIED = "He denies headache and loose stool. He takes haloperidol."


@pytest.fixture
def of_cases(run, monkeypatch):
    """A function that lays out 107 cases, of which some are babies, with these tests of case 79."""

    def lay(babies, tests, words=DENIED, of=""):
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
            "History": f"Spinning for 3 minutes, as he was going to bed. {of}",
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
    assert other["md-speak"] == "not"  # found: 22 were left out
    assert other["md-case-079-exam"] == "holds" and other["md-case-084"] == "differs"


def test_a_patient_who_knows_of_the_manoeuvre(of_cases):
    told = of_cases(17, MANOEUVRE, of="A Dix-Hallpike test made him dizzy.")["md-case-079-exam"]
    assert {way[3] for way in told.values()} == {False}
    assert of_cases(17, MANOEUVRE)["md-case-079-exam"]["what patients are told"][3] is True


def test_different_diagnoses_but_for_spelling():
    frame = pd.DataFrame({"diagnosis": ["Crohn's disease", "crohn’s disease (ileal)", "Gout"]})
    assert data.diagnoses(frame) == "2 different diagnoses in 3 cases."
