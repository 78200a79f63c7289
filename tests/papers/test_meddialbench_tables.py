"""MedDialBench's tables by hand: Tables 1, 8 and 9, how consultations end, and captions."""

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import scores, study
from bedside.papers.meddialbench.implied import combinations, ratios, share
from bedside.papers.meddialbench.tables import baseline, described, interactions, over, validation
from bedside.papers.meddialbench.tables import vulnerability as tables
from bedside.read import sources
from bedside.write.tables import frame
from meddialbench_cells import accuracy

NAN = float("nan")


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "05_vulnerability")


@pytest.fixture
def design(run):
    return designs.read(run)


def done_of(cells, model="m"):
    """Outcomes by hand from {configuration: right or not of each case}."""
    rows = [
        (f"case-{k}", name, model, float(v))
        for name, right in cells.items()
        for k, v in enumerate(right)
    ]
    return pd.DataFrame(rows, columns=["case", "configuration", "model", "correct"])


def at(rows):
    return rows.set_index(["row", "column", "source"])


def test_table_1_has_all_works_and_the_design_at_hand(run, design):
    found = at(validation.related_table(run, design))
    assert len(found) == 14 * 3 + 3
    assert found.at[("Q4Dx", "graded severity", "published"), "value"] == 0.5
    none = found.loc[("MedDialogRubrics", "interaction", "published"), "value"]
    assert pd.isna(none)  # printed as N/A
    mine = found.xs("run", level="source")["value"]
    assert mine.tolist() == [1, 1, 1]
    designs_ = {**design.__dict__, "combinations": {}}
    alone = at(validation.related_table(run, designs.Design(**designs_)))
    assert alone.at[("the design of this run", "interaction", "run"), "value"] == 0


def test_table_8_finds_the_case_that_fails_under_both_alone(run, design):
    # case-0 fails at the baseline, case-1 under each, case-2 under C1 alone
    cells = {
        "baseline": [0, 1, 1],
        "fabricating": [1, 0, 1],
        "withholding": [1, 1, 1],
        "C1": [0, 0, 0],
    }
    other = done_of({k: [NAN, NAN, v[2]] for k, v in cells.items()}, "other")
    other.loc[other["configuration"] == "baseline", "correct"] = NAN
    rows, case = interactions.case_table(run, design, pd.concat([done_of(cells), other]))
    found = at(rows)
    assert case == "case-2"
    assert found.at[("C1", "Correct", "published"), "value"] == 1
    assert found.at[("C1", "Models wrong", "published"), "value"] == 4
    numbers = ["value", "n", "unscored"]
    assert found.loc[("C1", "Correct", "run"), numbers[:2]].tolist() == [0, 2]
    assert found.loc[("C1", "Models wrong", "run"), numbers[:2]].tolist() == [2, 2]
    assert found.loc[("Baseline", "Correct", "run"), numbers].tolist() == [1, 1, 1]
    for none in (done_of({**cells, "C1": [1, 1, 1]}), done_of({"baseline": [1]})):
        rows, case = interactions.case_table(run, design, none)
        assert case == "" and set(rows["source"]) == {"published"}


def test_table_9_has_17_configurations_of_five_models_with_their_marks(run):
    done = done_of({"baseline": [1] * 6, "C1": [0] * 6, "C2": [0, 1, 1, 1, 1, 1]})
    changed = scores.changes(done, run)
    rows = tables.complete_table(run, share(run), accuracy(done), changed)
    found = at(rows)
    published = found.xs("published", level="source")
    assert len(published) == 5 * 17 + 5 * 16
    assert published.at[("Claude", "C1"), "value"] == 29.4
    assert published.at[("Claude", "C1, marked"), "value"] == 1
    assert published.at[("Claude", "C5, marked"), "value"] == 0
    # 25 of 85 print as 29.4
    assert found.at[("Claude", "C1", "recomputed"), "value"] == pytest.approx(2500 / 85)
    names = published.loc["Claude"].index.tolist()
    assert names[:3] == ["baseline", "vague", "vague, marked"] and names[-1] == "C6, marked"
    # exact McNemar: six lost of six, p = 2 / 2^6; one lost, p = 1
    mine = found.xs("run", level="source").loc["m", "value"]
    assert mine.to_dict() == pytest.approx(
        {"baseline": 100, "C1": 0, "C1, marked": 1, "C2": 500 / 6, "C2, marked": 0}
    )


def test_shares_of_consultations_are_over_cases(run):
    # 12 cases, each under four configurations and all alike within a case: as wide as 12 are
    done = pd.DataFrame(
        [
            (f"case-{k}", f"c{c}", "m", "ended" if k < 6 else "limit", "", "", "", 0, k < 6)
            for k in range(12)
            for c in range(4)
        ],
        columns="case configuration model end by why reply_status truncated correct".split(),
    )
    found = at(baseline.end_table(run, done)).loc[("the doctor ended it", "m", "run")]
    alone, twelve = stats.wilson(24, 48), stats.wilson(6, 12)
    assert found["value"] == 50 and found["n"] == 48
    assert found["low"] < 100 * twelve.low < 100 * alone.low


def test_captions_say_over_how_many_cases_intervals_are():
    nine, ten = (pd.Series([f"case-{k}" for k in range(n)] * 2) for n in (9, 10))
    run = frame([("a", "x", "run", 1, None, None, 9), ("a", "x", "published", 1)])
    assert over(run, pd.Series([], dtype=object)) == ""
    assert over(run, ten) == "This run's intervals are over 10 cases. "
    few = "This run's intervals are over 9 cases; an interval needs at least 10. "
    assert over(run, nine) == few
    # words come from the rows: recomputed ranges rest on the paper's cases, not on the run's
    theirs = frame([("a", "O/E", "recomputed", 1, 0.5, 1.5, 85), ("b", "x", "recomputed", 1)])
    paper = "Recomputed ranges rest on the paper's 85 cases. "
    assert over(theirs, nine) == paper and over(theirs[1:], nine) == ""
    assert over(pd.concat([run, theirs]), nine) == few + paper


def test_what_fails_only_in_combination_is_pooled_over_pairs_and_models(run, design):
    # of cases 0 to 3 all are eligible for C1, for C4 all but case 0; case 3 is unscored under C1
    plain = {n: [1] * 4 for n in ("baseline", "fabricating", "withholding")}
    cells = {**plain, "dominant": [0, 1, 1, 1], "C1": [0, 0, 1, NAN], "C4": [0, 1, 1, 0]}
    a, b = done_of(cells, "a"), done_of({**cells, "C1": [1] * 4, "C4": [0] * 4}, "b")
    rules = done_of({**cells, "C1": [0] * 4}, "rules")
    pairs = {c: design.combinations[c] for c in ("C1", "C4")}
    run.models = ["a", "b"]
    found = scores.pooled(pd.concat([a, b, rules]), pairs, run)
    found = found.set_index(["configuration", "model"])
    told = ["value", "n", "unscored"]
    bad, rest = "pairs with fabricating", "other pairs"
    assert found.loc[(bad, "a"), told].tolist() == pytest.approx([200 / 3, 3, 1])
    assert found.loc[(bad, "all models"), told].tolist() == pytest.approx([200 / 7, 7, 1])
    assert found.loc[("C1", "all models"), told[:2]].tolist() == pytest.approx([200 / 7, 7])
    assert found.loc[(bad, "rules"), told[:2]].tolist() == [100, 4]
    assert found.loc[(rest, "all models"), told[:2]].tolist() == pytest.approx([400 / 6, 6])
    run.models = ["a"]
    alone = scores.pooled(a, {"C4": pairs["C4"]}, run)
    assert alone[["configuration", "model"]].values.tolist() == [[rest, "a"]]
    oe = ratios(run, combinations(design))
    rows = at(interactions.interaction_table(run, design, oe, found[:0].reset_index(), alone))
    assert rows.at[(bad, "fail only in combination, %, all models", "published"), "value"] == 40.9
    assert rows.at[(rest, "fail only in combination, %, a", "run"), "n"] == 3


def test_misled_has_both_denominators_and_all_levels_of_pollution(run, design):
    cells = {"baseline": [1, 0], "complete_denial": [1, 0], "C6": [0, NAN], "dominant": [0, 1]}
    done = done_of(cells).assign(levels=lambda f: f["configuration"].map(design.configurations()))
    done["misled"] = [0, 1, 0, 1, 1, NAN, 0, 0]  # in case 1 at baseline, which counts nowhere
    found = at(tables.misled_table(run, design, done))
    mine = found.xs("run", level="source")[["value", "n", "unscored"]]
    both = [mine.loc[("all with pollution", f"m: % of {w}")].tolist() for w in WHAT]
    assert both[0] == pytest.approx([200 / 3, 3, 1]) and both[1][:2] == [100, 2]
    assert mine.loc[("complete_denial", "m: % of all")].tolist()[:2] == [50, 2]
    assert mine.loc[("without pollution", "m: % of the wrong ones")].tolist()[:2] == [0, 1]
    paper = found.loc[("all with pollution", "five models: %", "published")]
    assert paper[["low", "high"]].tolist() == [22, 32] and "dominant" not in mine.index


WHAT = ("all", "the wrong ones")


def test_two_judges_agree_by_hand(run):
    # four right or wrong alike, one not, one unscored; kappa (4/5 - 13/25) / (1 - 13/25)
    first = done_of({"x": [1, 1, 0, 0, 0, 1]}).assign(misled=[0, 0, 1, 0, 1, 0])
    first["item"] = first["case"]
    second = first.assign(correct=[1, 0, 0, 0, 0, NAN], misled=[0, 1, 1, 0, 0, NAN])
    made = validation.second_table(run, None, {}, {"a": first, "b": second[::-1]})
    found = at(made).xs("run", level="source").loc["a and b, this run"]
    assert found.at["dialogues", "value"] == 6
    assert found.loc["diagnosis: same, %", ["value", "n", "unscored"]].tolist() == [80, 5, 1]
    kappa = (4 / 5 - (2 * 1 + 3 * 4) / 25) / (1 - (2 * 1 + 3 * 4) / 25)
    assert found.at["diagnosis: kappa", "value"] == pytest.approx(kappa)
    # of the five, three say the same of who was misled; of the three wrong to both, two
    assert found.at["misled or not: same, %", "value"] == 60
    assert found.at["misled, of wrong diagnoses: same, %", "value"] == pytest.approx(200 / 3)
    published = at(made).xs("published", level="source")["value"].dropna()
    assert published.tolist() == [220]  # the paper's kappas are missing from the text at hand


def test_a_sample_in_strata_is_even(run):
    held = done_of({c: [1] * 5 for c in ("baseline", "vague", "C1")})
    held = pd.concat([held, held.assign(model="other")], ignore_index=True)
    cells = ["model", "configuration"]
    for size, counts in ((6, {1}), (8, {1, 2}), (12, {2}), (0, {5}), (99, {5})):
        part = study.in_strata(run, held, size)
        assert set(part.groupby(cells).size()) == counts and len(part) == (size % 99 or 30)
        assert part.equals(study.in_strata(run, held, size)) and not part.duplicated().any()


def test_the_follow_up_of_patients_by_hand(run):
    shown = done_of({"incoherent": [0, 1], "withholding": [1, NAN]})
    shown = shown.assign(activation=shown["correct"], item=shown["case"] + shown["configuration"])
    rules = shown.assign(model="rules", activation=1.0)
    seen = {
        m: pd.concat([f, rules]) for m, f in (("a", shown), ("b", shown.assign(activation=1.0)))
    }
    found = at(validation.follow_up_table(run, seen))
    assert found.loc[("a", "incoherent", "run"), ["value", "n"]].tolist() == [0.5, 2]
    both = found.loc[("a", "mean", "run"), ["value", "n", "unscored"]].tolist()
    assert both == pytest.approx([2 / 3, 3, 1])
    # the rules are one patient, whichever models are tried
    assert found.loc[("rules", "mean", "run"), ["value", "n"]].tolist() == [1, 4]
    hard = "incoherent and fabricating"
    assert found.at[("b", hard, "run"), "value"] == 1
    assert found.at[("Claude Opus 4.5", hard, "published"), "value"] == 0.9
    limits = found.loc[("two best smaller models", "mean", "published"), ["low", "high"]]
    assert limits.tolist() == [0.56, 0.59]


def test_the_cases_of_section_5_are_themselves_or_the_nearest(run, design):
    # case-0 fails only under C1, case-1 is lost under withholding, case-2 divides a and b under C3
    cells = {
        "baseline": [1, 1, 1],
        "fabricating": [1, 1, 1],
        "withholding": [1, 0, 1],
        "C1": [0, 1, 1],
        "C3": [1, 1, 0],
    }
    done = pd.concat([done_of(cells, "a"), done_of({**cells, "C3": [1, 1, 1]}, "b")])
    done = done.assign(misled=0.0, dialogue="Doctor: Your medical history?\nPatient: No drugs.")
    near = {"049": "case-1", "079": "case-0", "084": "case-2"}
    assert described.nearest(design, done) == near
    misled = done.assign(misled=np.where(done["configuration"] == "withholding", 1.0, 0.0))
    assert "049" not in described.nearest(design, misled)
    itself = done.replace({"case": {"case-2": "osce-049"}})
    assert described.nearest(design, itself)["049"] == "osce-049"

    asks = "Doctor: Any medicines?\nPatient: Yes."
    done.loc[done["model"] == "b", "dialogue"] = asks
    found = at(described.described_table(run, design, done)).xs("run", level="source")
    assert found.at[("case 084, C3", "ask about medicines"), "value"] == 1
    assert found.loc["case 084, C3", "value"].tolist()[:3] == [1, 1, 1]
    assert found.loc["case 049, withholding", "value"].tolist()[:3] == [0, 2, 2]


def test_the_records_of_section_5_have_what_it_names(run, design):
    if not sources.here("agentclinic"):
        pytest.skip("not here: agentclinic")
    run.profile = "public"
    known = described.records(run)
    assert known["item"].tolist() == ["osce-049", "osce-079", "osce-084"]
    none = done_of({"baseline": [1]}).assign(misled=0.0, dialogue="Doctor: Well?")
    found = at(described.described_table(run, design, none)).xs("raw", level="source")
    assert (found["value"] == found["n"]).all() and found["n"].tolist() == [3, 2, 4]
