"""MedDialBench's rules: a doctor with a checklist, a patient who keeps to his script."""

import pytest

from bedside import sources
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import rules


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def all_six(run):
    design, cases, texts = (
        designs.read(run),
        sources.load("meddialbench_cases"),
        sources.load("meddialbench_scripts"),
    )
    return design, cases, texts, rules.Knowledge(design, cases, texts)


def test_the_rules_find_all_diseases_unless_they_are_misled(all_six):
    design, cases, texts, knowledge = all_six
    made = talks.planned(cases, design.configurations(), [rules.NAME], rules.NAME)
    rules.hold(made, knowledge)
    assert {c.end for c in made} <= set(talks.ENDED)
    right = {
        name: sum(c.diagnosis == c.case.diagnosis for c in made if c.configuration == name)
        for name in design.configurations()
    }
    assert (
        right["baseline"] == 6
        and right["C1"] < min(right["fabricating"], right["withholding"])
        and max(right.values()) == 6
    )
    toward = {r.item: r.toward for r in texts[texts["level"] == "fabricating"].itertuples()}
    assert all(c.diagnosis == toward[c.case.item] for c in made if c.configuration == "C1")
    again = talks.planned(cases, design.configurations(), [rules.NAME], rules.NAME)
    assert talks.frame(made).equals(talks.frame(rules.hold(again, knowledge)))


def answers(all_six, levels, item, finding, times=4):
    """What the patient of a case says to the same question, asked again and again."""
    _, cases, _, knowledge = all_six
    case = next(cases[cases["item"] == item].itertuples())
    patient, asked = rules.Patient(knowledge, case, levels), [knowledge.question[finding]] * times
    return [patient.answer(asked[:n]) for n in range(1, times + 1)]


@pytest.mark.parametrize(
    "levels, first",
    [
        ((), 1),
        (("reluctant",), 2),
        (("withholding",), 3),
        (("vague",), 1),
        (("impatient",), 2),
        (("dominant",), 3),
    ],
)
def test_a_fact_that_is_kept_back_is_told_when_asked_again(all_six, levels, first):
    _, cases, texts, _ = all_six
    told = 0
    for case in cases.itertuples():
        touched = {
            n
            for r in texts[texts["item"] == case.item].itertuples()
            if r.level in levels
            for n in r.facts
        } or {1}
        for n, fact in enumerate(case.key_items, 1):
            wanted = [f"{fact}." in a for a in answers(all_six, levels, case.item, fact)]
            assert wanted == ([k >= first for k in range(1, 5)] if n in touched else [True] * 4)
            told += n in touched
    assert told >= 6


def test_a_fabricating_patient_says_what_is_not_so_in_place_of_what_is(all_six):
    _, cases, texts, _ = all_six
    for r in texts[texts["level"] == "fabricating"].itertuples():
        fact = cases.set_index("item").at[r.item, "key_items"][r.facts[0] - 1]
        said = answers(all_six, ("fabricating",), r.item, fact)
        assert (
            r.false
            and all(any(lie.rstrip(".") in a for a in said) for lie in r.false[:4])
            and not any(fact in a for a in said)
        )
        assert not any(lie in a for a in answers(all_six, (), r.item, fact) for lie in r.false)


def test_a_vague_or_incoherent_patient_leaves_nothing_out(all_six):
    _, cases, _, _ = all_six
    fact = cases["key_items"][0][3]
    assert answers(all_six, ("incoherent",), "case-1", fact, 2) == [
        f"Where was I, the number {n} bus was late. {fact}." for n in (1, 2)
    ]
