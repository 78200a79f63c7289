"""MedDialBench's parameters between their ends, to the numbers in the tables."""

import json

import pandas as pd
from parameter_runs import BLANK, form_of, needs, ran

from bedside.papers.meddialbench import data as cases_of
from bedside.papers.meddialbench.design import OURS
from bedside.read import sources
from matrix import right


def plays_patient(request):
    return "You play a patient" in request.messages[0]["content"]


def doctor(request):
    """Asks on and on, and knows no diagnosis; as a patient it tells nothing."""
    if form_of(request) == "diagnosis":
        return json.dumps({"diagnosis": "no idea"})
    if plays_patient(request):
        return "I would rather not say."
    return f"What else have you noticed since day {len(request.messages)}?"


def open_patient(request):
    """Tells all facts that its part has; it isn't a doctor."""
    assert plays_patient(request)
    known = request.messages[0]["content"].partition("yourself:")[2].partition("How you behave")[0]
    facts = [f"{fact.strip('- ')}." for fact in known.splitlines() if fact.strip()]
    return " ".join([*facts, f"That is all, for the {len(request.messages)}th time."])


def test_consultations_are_held_as_the_parameters_say():
    """A doctor that never ends an inquiry; two that speak only at a temperature, or with a limit;

    a patient who tells all, where the doctors as patients would tell nothing.
    """
    fakes = {
        "fake-doctor": doctor,
        "fake-warm": needs("temperature", 0.3, doctor),
        "fake-short": needs("max_tokens", 60, doctor),
        "fake-open": open_patient,
    }
    given = dict(patient="fake-open", turns=5, turn_tokens=60, temperature=0.3, limit="2")
    given |= dict(models="fake-doctor fake-warm fake-short", until="table2_baseline")
    made = ran("meddialbench/02_baseline", fakes, **given)
    assert made.row("table2_baseline", "fake-doctor", "Turns").value == 5
    assert made.row("table_ends", "turns used up", "fake-doctor").value == 100
    assert made.row("table2_baseline", "fake-doctor", "Coverage").value == 1
    for name in ("fake-short", "fake-warm"):
        assert made.row("table2_baseline", name, "Turns").n == 2


def test_a_design_of_ones_own_has_its_own_pairs_and_only_cases_that_a_model_diagnoses_count():
    own = OURS.read_text(encoding="utf-8")
    lines = [r for r in own.splitlines(True) if not any(f'"C{k}"' in r for k in (2, 4, 6))]
    given = dict(models="fake-doctor", limit="2", turns=1, design="FOLDER/design.toml")
    files = {"design.toml": "".join(lines)}

    def knows_one(request):
        known = form_of(request) == "diagnosis" and request.item.startswith("case-1 ")
        return json.dumps({"diagnosis": DIAGNOSIS}) if known else doctor(request)

    given |= dict(right_only="True", until="table4_interactions")
    made = ran("meddialbench/04_interactions", {"fake-doctor": knows_one}, files, **given)
    rows = made.rows("table4_interactions").xs("O/E, fake-doctor", level="column")
    assert {*rows.index} == {"C1", "C3", "C5"} and {*rows["n"]} == {1}
    assert "the 1 of 2 cases" in made.told["table_ends_combined"]


DIAGNOSIS = sources.load("meddialbench_cases").set_index("item").at["case-1", "diagnosis"]


def test_the_design_is_validated_as_the_parameters_say():
    def judge(request):
        """A doctor that says something as a judge, too."""
        return doctor(request) if form_of(request) in ("", "diagnosis") else right(request)

    fakes = {"fake-doctor": judge, "fake-open": open_patient, "fake-other": open_patient}
    given = dict(models="fake-doctor", turns=1, combinations="extreme", repetitions=2)
    given |= dict(second_judge="fake-doctor", second_size=20, only="case-1 case-4")
    given |= dict(patients="fake-open fake-other", pilot_levels="vague fabricating withholding")
    made = ran("meddialbench/01_design_and_validation", fakes, **given)
    # all ten pairs of extreme levels: between the paper's six and forty of adverse ones
    assert made.rows("table_configurations").index.get_level_values("row").nunique() == 21
    pairs = made.row("table7_adherence", "Dual-dimension, fake-doctor", "Isolation")
    assert pairs.n == 10
    # the model assesses 30 labelled dialogues twice
    assert made.row("table6_judge_selection", "fake-doctor", "Reps").value == 2
    assert made.row("table6_judge_selection", "fake-doctor", "Correct Acc").n == 2 * 30
    both = "lexical and fake-doctor"
    assert made.row("table_second_judge", f"{both}, this run", "dialogues").value == 20
    for of, n in (("this run", 20), ("labelled examples", 90)):
        same = made.row("table_second_judge", f"{both}, {of}", "diagnosis: same, %")
        assert same.n > 0 and same[["n", "unscored"]].sum() == n
    # three levels of ten, each in two cases
    tried = made.rows("table_patient_follow_up")
    assert {*tried.index.get_level_values("row")} == {"fake-open", "fake-other", "rules"}
    for name in ("fake-open", "fake-other"):
        assert tried.loc[name]["n"].to_dict() == {
            "incoherent and fabricating": 2,
            **{"vague": 2, "fabricating": 2, "withholding": 2, "mean": 6},
        }


def test_a_writer_of_ones_own_writes_key_items_of_as_many_cases_as_are_drawn():
    """Invented cases in the place of released ones; the doctor could write no key items."""
    items = [f"x-{n}" for n in range(9)]
    osce = pd.DataFrame({"item": items, "accepted": [[]] * len(items), "history": items})
    osce = osce.assign(**dict.fromkeys(["diagnosis", "patient", "complaint"], "A"))

    def writer(request):
        facts = [f"I have the complaint {letter}" for letter in "abcdefghijkl"]
        script = {"script": "Say so.", "facts": [1], "false": []}
        return json.dumps({"items": facts} if form_of(request) == "key_items" else script)

    def asks(request):
        return BLANK if form_of(request) in ("key_items", "script") else doctor(request)

    given = dict(models="fake-doctor", writer="fake-writer", size=5, turns=1, profile="public")
    loaded = {"meddialbench_cases": sources.load("meddialbench_cases")}
    patched = [(cases_of, "osce", lambda run: osce), (sources, "all_sources", lambda run: loaded)]
    fakes = {"fake-doctor": asks, "fake-writer": writer}
    given |= dict(until="table2_baseline", patched=patched)
    made = ran("meddialbench/02_baseline", fakes, **given)
    assert made.row("table2_baseline", "fake-doctor", "Turns").n == 5  # of nine cases
