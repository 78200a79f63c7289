"""MedDialBench's rules: a doctor with a checklist, a patient who keeps to his script."""

import re

import pytest

from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench import rules
from bedside.read import checks, sources


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


@pytest.fixture
def consulted(all_six):
    """A consultation of each case and configuration."""
    design, cases, _, knowledge = all_six
    made = talks.planned(cases, design.configurations(), [rules.NAME], rules.NAME)
    return rules.hold(made, knowledge)


def test_the_rules_find_all_diseases_unless_they_are_misled(all_six, consulted):
    design, cases, texts, knowledge = all_six
    assert {c.end for c in consulted} <= set(talks.ENDED)
    right = {
        name: sum(c.diagnosis == c.case.diagnosis for c in consulted if c.configuration == name)
        for name in design.configurations()
    }
    assert right["baseline"] == 6 and right["C1"] == 0
    assert 0 < right["fabricating"] < 6 and 0 < right["withholding"] < 6
    toward = {r.item: r.toward for r in texts[texts["level"] == "fabricating"].itertuples()}
    assert all(c.diagnosis == toward[c.case.item] for c in consulted if c.configuration == "C1")
    again = talks.planned(cases, design.configurations(), [rules.NAME], rules.NAME)
    assert talks.frame(consulted).equals(talks.frame(rules.hold(again, knowledge)))


def test_a_diagnosis_rests_on_what_was_said_and_a_silent_patient_gets_none(all_six, consulted):
    _, _, _, knowledge = all_six
    none = [c for c in consulted if c.diagnosis == rules.UNKNOWN]
    for c in consulted:
        said = checks.normal(" ".join(answer for _, answer in c.turns))
        findings = knowledge.diseases.get(c.diagnosis, [])
        heard = sum(checks.normal(f) in said for f in findings)
        assert c in none or heard >= rules.LEAST, (c.item, c.diagnosis)
    assert {c.configuration for c in none} >= {"withholding", "C5"}  # deficit, and no lie
    assert not any("fabricating" in c.levels for c in none)


def test_every_question_is_a_sentence_about_a_noun_phrase_and_follows_from_the_complaint(
    all_six, consulted
):
    _, _, _, knowledge = all_six
    first = re.compile(r"\b(i|me|my|mine|we)\b", re.I)
    for topic in (*knowledge.words, rules.REST):
        assert re.fullmatch(r"[a-z]+( [a-z]+){0,4}", topic) and not first.search(topic), topic
    for form in (*rules.ASKS, rules.AGAIN):
        assert form[0].isupper() and form.endswith("?") and form.count("{}") == 1
    for c in consulted:
        begins = knowledge.about(c.case.complaint)
        alike = [d for d, topic in knowledge.presents.items() if topic == begins]
        known = {knowledge.topic[f] for d in alike for f in knowledge.diseases[d]} | {begins}
        sayable = {f.format(t) for f in (*rules.ASKS, rules.AGAIN) for t in known}
        assert {question for question, _ in c.turns} <= sayable
        assert c.turns[0][0] == rules.ASKS[0].format(begins)
        assert begins != rules.REST and len(alike) < len(knowledge.diseases)


def test_a_statement_belongs_to_the_first_topic_of_which_it_has_a_whole_word(all_six):
    _, _, _, knowledge = all_six
    assert knowledge.about("My heart races even when I sit still") == "your heart"
    assert knowledge.about("I don't get any heartburn") == "heartburn"
    assert knowledge.about("I have had light brown spotting") == "bleeding of any kind"
    assert knowledge.about("Everything is odd") == rules.REST


def test_the_doctor_gives_up_when_a_fifth_of_his_questions_brought_nothing(all_six):
    _, cases, _, knowledge = all_six

    class Silent:
        def answer(self, asked):
            return rules.NOTHING

    for most, asked in ((20, 4), (40, 8), (5, 1)):
        doctor = rules.Doctor(knowledge, cases["complaint"][0])
        said = rules.conversation(doctor, Silent(), most)
        assert len(said) == 2 * asked + 1 and doctor.diagnosis() == rules.UNKNOWN


def answers(all_six, levels, item, finding, times=4):
    """What the patient of a case says to the same question, asked again and again."""
    _, cases, _, knowledge = all_six
    case = next(cases[cases["item"] == item].itertuples())
    patient, asked = rules.Patient(knowledge, case, levels), [knowledge.topic[finding]] * times
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
            assert wanted == [k == (first if n in touched else 1) for k in range(1, 5)]
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
        f"Where was I? Oh yes, the number 1 bus was late. {fact}.",
        "Where was I? Oh yes, the number 2 bus was late.",
    ]
