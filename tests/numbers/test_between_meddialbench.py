"""MedDialBench's parameters between their ends, to the numbers in the tables."""

import itertools
import json

import pandas as pd
from parameter_runs import BLANK, form_of, needs, ran

from bedside.papers.meddialbench import data as cases_of
from bedside.papers.meddialbench.design import OURS
from bedside.read import paths, sources
from matrix import right

CASES = [json.loads(line) for line in (paths.DATA / "sample/meddialbench/cases.jsonl").open()]
DIAGNOSES = {case["item"]: case["diagnosis"] for case in CASES}


def plays_patient(request):
    return "You play a patient" in request.messages[0]["content"]


def doctor(*known):
    """Asks on and on, and knows the diagnoses of some cases; as a patient it tells nothing."""

    def says(request):
        if form_of(request) == "diagnosis":
            case = request.item.partition(" ")[0]
            return json.dumps({"diagnosis": DIAGNOSES[case] if case in known else "no idea"})
        if plays_patient(request):
            return "I would rather not say."
        return f"What else have you noticed since day {len(request.messages)}?"

    return says


def open_patient(request):
    """Tells all facts that its part has; it isn't a doctor."""
    assert plays_patient(request)
    known = request.messages[0]["content"].partition("yourself:")[2].partition("How you behave")[0]
    facts = [f"{fact.strip('- ')}." for fact in known.splitlines() if fact.strip()]
    return " ".join([*facts, f"That is all, for the {len(request.messages)}th time."])


# ---- 02: consultations of at most five turns


def test_consultations_are_held_as_the_parameters_say():
    """A doctor that never ends an inquiry; two that speak only at a temperature, or with a limit;

    a patient who tells all, where the doctors as patients would tell nothing.
    """
    fakes = {
        "fake-doctor": doctor(),
        "fake-warm": needs("temperature", 0.3, doctor()),
        "fake-short": needs("max_tokens", 60, doctor()),
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


# ---- 04 and 03: a design and cases of one's own choice


def test_design():
    """A design of your own with three of the six combinations has these three pairs."""
    own = OURS.read_text(encoding="utf-8")
    lines = [r for r in own.splitlines(True) if not any(f'"C{k}"' in r for k in (2, 4, 6))]
    given = dict(models="fake-doctor", limit="1", turns=1, design="FOLDER/design.toml")
    name, files = "meddialbench/04_interactions", {"design.toml": "".join(lines)}
    made = ran(name, {"fake-doctor": doctor()}, files, until="table4_interactions", **given)
    rows = made.rows("table4_interactions").xs("O/E, fake-doctor", level="column").index
    assert set(rows) == {"C1", "C3", "C5"}


def test_right_only():
    """Of four cases the two count that a model diagnoses at baseline."""
    given = dict(models="fake-doctor", limit="4", turns=1, right_only="True")
    fakes = {"fake-doctor": doctor("case-1", "case-3")}
    made = ran("meddialbench/03_single_dimension", fakes, until="table3_single", **given)
    assert made.row("table3_single", "baseline", "fake-doctor").n == 2
    assert "the 2 of 4 cases" in made.told["table3_single"]


# ---- 01: pilots, judges and a sample of consultations


def judge(request):
    """A doctor that says something as a judge, too."""
    if form_of(request) in ("", "diagnosis"):
        return doctor()(request)
    return right(request)


def test_the_design_is_validated_as_the_parameters_say():
    fakes = {"fake-doctor": judge, "fake-open": open_patient, "fake-other": open_patient}
    given = dict(models="fake-doctor", turns=1, combinations="extreme", repetitions=2)
    given |= dict(second_judge="fake-doctor", second_size=20)
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
    rows = made.rows("table_patient_follow_up").index.get_level_values("row")
    assert {*rows} == {"fake-open", "fake-other", "rules"}
    levels = {"vague": 2, "fabricating": 2, "withholding": 2, "mean": 2 * 3}
    for name, (level, n) in itertools.product(("fake-open", "fake-other"), levels.items()):
        assert made.row("table_patient_follow_up", name, level).n == n


# ---- public: cases of which a model writes key items, invented in the place of released ones

INVENTED = [f"x-{n}" for n in range(9)]


def osce(run):
    made = pd.DataFrame({"item": INVENTED, "accepted": [[]] * len(INVENTED), "history": INVENTED})
    return made.assign(**dict.fromkeys(["diagnosis", "patient", "complaint"], "A"))


def writer(request):
    """Writes key items and scripts, and does nothing else."""
    if form_of(request) == "key_items":
        facts = [f"I have the complaint {letter}" for letter in "abcdefghijkl"]
        return json.dumps({"items": facts})
    return json.dumps({"script": "Say so.", "facts": [1], "false": []})


def public(**given):
    """A run at baseline in public, by a doctor that writes no key items."""
    asks = doctor()
    fakes = {
        "fake-doctor": lambda r: BLANK if form_of(r) in ("key_items", "script") else asks(r),
        "fake-writer": writer,
    }
    given = dict(models="fake-doctor", turns=1, profile="public", until="table2_baseline") | given
    loaded = {"meddialbench_cases": sources.load("meddialbench_cases")}
    patched = [(cases_of, "osce", osce), (sources, "all_sources", lambda run: loaded)]
    return ran("meddialbench/02_baseline", fakes, patched=patched, **given)


def test_writer():
    """The writer that is named writes the key items; a doctor that can't has no consultations."""
    made = public(writer="fake-writer", size=5)
    assert made.row("table2_baseline", "fake-doctor", "Turns").n == 5  # of nine cases
    assert public(size=5).rows("table2_baseline").empty


def test_only():
    """Two cases that are named, and no other."""
    made = public(writer="fake-writer", only="x-1 x-7")
    assert made.row("table2_baseline", "fake-doctor", "Turns").n == 2
    assert {r.item for r in made.sent if form_of(r) == "key_items"} == {"x-1", "x-7"}
