"""Every parameter of every notebook does what its comment says, or says that it does nothing.

A notebook runs twice without recordings and plans its calls: as it stands, and with parameters
changed (parameter_effects.py). Where a parameter has no effect (NONE), the numbers are the same
without it. What a plan can't show has a test of its own (ELSEWHERE). What test_between_* run to the
numbers in the tables isn't planned again (BETWEEN).
"""

from pathlib import Path

import pandas as pd
import parameter_house
import pytest
from parameter_effects import RUNS, TOP, Seen
from parameter_house import OTHERS, numbers

from bedside.asking.models import MissingRecording
from bedside.build import notebooks
from bedside.keep.registry import StopRun
from bedside.papers.meddialbench import data as cases_of
from bedside.papers.medhalu import building
from bedside.papers.medhalu import data as answers_of
from bedside.read import paths, sources

bare = parameter_house.bare  # a fixture
given = parameter_house.given  # a fixture
house = parameter_house.house  # a fixture

TALKS = notebooks.listed("meddialbench")[:5]  # of the paper's sections
RIGHT = TALKS[2:]
ASKS_NOBODY = dict.fromkeys(("mode", "models", "judge", "prompts", "budget_usd"))
NONE = {  # notebook: parameters without effect on its numbers, as its comments say
    "cancer_myth/01_physician_survey": {"judge"},
    "cancer_myth/05_judge_agreement": {"models", "limit"},
    "cancer_myth/06_paper_versions": {*ASKS_NOBODY, "profile", "limit", "seed"},
    "cancer_myth/08_robustness": {*ASKS_NOBODY, "limit"},
    "radiation/01_reference_and_profiles": {"judge", "seed"},
    "radiation/06_judge_agreement": {"profile", "models", "limit"},
    "medhalu/01_benchmark": {"models", "judge"},
    "medhalu/02_detection": {"judge"},
    "medhalu/03_expert_in_the_loop": {"judge"},
    "medhalu/04_robustness": {"mode", "judge", "budget_usd"},
}
PUBLIC = {  # the first source that the profile public needs
    **{n: "agentclinic" for n in notebooks.listed("meddialbench")},
    **{n: "healthqa|liveqa" for n in notebooks.listed("medhalu")},
    **{n: "radiation_profiles" for n in notebooks.listed("radiation")[1:]},
    "cancer_myth/01_physician_survey": "cancer_myth_survey_ratings",
    "cancer_myth/02_adversarial_generation": "cancer_myth_myths",
    "cancer_myth/03_evaluation": "cancer_myth_released",
    "cancer_myth/04_mitigation": "cancer_myth_judge_examples",
    "cancer_myth/05_judge_agreement": "cancer_myth_judge_examples",
    "cancer_myth/08_robustness": "cancer_myth_survey_ratings",
}
KEPT = {  # released questions stand in the examples, ours don't
    "keep_examples": "tests/papers/test_cancer_myth.py"
    "::test_questions_that_judges_are_shown_are_left_out"
}
ELSEWHERE = {  # notebook: parameters whose effect another test shows
    "cancer_myth/01_physician_survey": {
        "seed": "tests/numbers/test_parameters_seed.py::test_which_numbers_the_seed_moves",
    },
    "cancer_myth/02_adversarial_generation": {
        **KEPT,
    },
    "cancer_myth/07_released_answers": dict.fromkeys(  # it makes nothing without its file
        (*ASKS_NOBODY, "profile", "limit", "seed"),
        "tests/papers/test_released_answers.py::"
        "test_with_the_file_all_results_appear_outside_of_what_is_committed",
    ),
    "cancer_myth/03_evaluation": {
        "rounds": "tests/papers/test_mitigation.py::test_mdagents_as_a_system_of_its_own",
        **KEPT,
    },
    "cancer_myth/08_robustness": {
        "seed": "tests/numbers/test_parameters_seed.py::test_which_numbers_the_seed_moves"
    },
    "cancer_myth/04_mitigation": {
        "rounds": "tests/papers/test_mitigation.py::"
        "test_a_recruited_panel_discusses_until_it_agrees",
        **KEPT,
    },
    "medhalu/01_benchmark": dict.fromkeys(
        ("size", "least_words", "most_words", "liveqa"), "test_what_is_drawn_from_released_data"
    ),
    **{
        name: dict.fromkeys(
            "size generator generated_tokens least_words most_words liveqa".split(),
            "test_what_is_drawn_from_released_data",
        )
        for name in ("medhalu/02_detection", "medhalu/03_expert_in_the_loop")
    },
    **{
        name: dict.fromkeys(
            ("size", "only", "writer"), "test_how_many_cases_are_drawn_from_released_ones"
        )
        | dict.fromkeys(["right_only"] * (name in RIGHT), "test_cases_right_at_baseline")
        for name in TALKS
    },
    "medhalu/04_robustness": {
        **dict.fromkeys(
            ("models", "limit", "prompts"),
            "tests/papers/test_medhalu_robustness.py::test_whose_recorded_replies_are_read",
        ),
        "seed": "tests/numbers/test_parameters_seed.py::test_which_numbers_the_seed_moves",
    },
    **{
        name: dict.fromkeys(
            ("profile", *OTHERS),
            "tests/numbers/test_parameters_people.py::test_whose_replies_people_see",
        )
        for name in ("explore_failures", "annotate")
    },
}
BETWEEN = {  # notebook: parameters that test_between_* run to the numbers in its tables
    "cancer_myth/01_physician_survey": "models limit prompts words max_tokens temperature"
    " ask_patients",
    "cancer_myth/02_adversarial_generation": "seed max_tokens answer_tokens temperature"
    " answer_temperature frequency_penalty myths_used cancer_types myths_each per_model"
    " per_category",
    "cancer_myth/03_evaluation": "agent_questions note_tokens second_judge answers",
    "cancer_myth/04_mitigation": "train gepa_budget reported exams agent_items",
    "cancer_myth/05_judge_agreement": "with_examples",
    "radiation/01_reference_and_profiles": "missing incomplete",
    "radiation/02_free_form": "second_matcher shown",
    "meddialbench/01_design_and_validation": "repetitions patients pilot_levels second_judge"
    " second_size",
    "medhalu/02_detection": "benchmark",
    "medhalu/03_expert_in_the_loop": "benchmark",
    "own_study": "questions name rubric answers labels repeats temperature limit revision",
    "explore_failures": "study chosen",
    "annotate": "task rater group size repetitions team overlap batches protocol all_reasons tiny"
    " folder",
}
BY_MODE = {*notebooks.listed(), "own_study"}
BY_MODE -= {n for of in (NONE, ELSEWHERE) for n in of if "mode" in of[n]}


def test_every_parameter_is_here():
    for name in (*notebooks.listed(), *TOP):
        known = {p for _, effects in RUNS.get(name, ()) for p in effects}
        known |= {*NONE.get(name, ()), *ELSEWHERE.get(name, ()), *BETWEEN.get(name, "").split()}
        known |= {"mode", "budget_usd"} if name in BY_MODE else set()
        known |= {"profile"} if name in PUBLIC else set()
        assert known == notebooks.parameters(name).keys(), name
    for test in {t for tests in ELSEWHERE.values() for t in tests.values()}:
        file, _, function = test.rpartition("::")
        file = paths.ROOT / file if file else Path(__file__)
        assert f"def {function}(" in file.read_text(encoding="utf-8"), test


def test_comments_say_what_has_no_effect():
    for name, without in NONE.items():
        (cell,) = (c for c in notebooks.cells(name) if c["metadata"].get("tags") == ["parameters"])
        told = {line.partition(" = ")[0]: line for line in cell["source"]}
        for parameter in without - {"profile"}:
            words = ("no effect here", "asks no model", "not used")
            assert any(w in told[parameter] for w in words), (name, told[parameter])


@pytest.mark.parametrize("name", RUNS)
def test_what_each_parameter_changes(bare, given, name):
    as_it_stands = Seen(bare.run(name, until="await", mode="plan"))
    for wanted, effects in RUNS[name]:
        then = Seen(bare.run(name, until="await", **given(name, wanted)))
        for parameter, (measure, before, after) in effects.items():
            assert (parameter, measure(as_it_stands), measure(then)) == (parameter, before, after)
            assert before != after


ASKED = {  # who is asked, where it isn't MODELS=
    "cancer_myth/05_judge_agreement": {"judge": "fake-list"},
    "radiation/06_judge_agreement": {"judge": "fake-list"},
    "medhalu/01_benchmark": {"generator": "fake-list"},
}


@pytest.mark.parametrize("name", sorted(BY_MODE))
def test_mode_and_budget(house, name):
    """What isn't recorded stops a replay; an unknown price stops calls that have a budget."""
    who = {**ASKED.get(name, {"models": "fake-list"}), "seed": "7"}
    with pytest.raises(MissingRecording, match="fake-list"):
        house.run(name, **who)
    with pytest.raises(StopRun, match="the price of fake-list isn't known"):
        house.run(name, mode="record", budget_usd="5", **who)
    assert not list(paths.RECORDINGS.rglob("fake-list.jsonl"))


@pytest.mark.parametrize("name", NONE)
def test_what_has_no_effect(house, name):
    """Numbers are the same with all of NONE's parameters changed at once."""
    other = {"profile": "public", "mode": "record", "models": "fake-list", "judge": "fake-right"}
    other |= {"limit": "3", "seed": "7", "prompts": str(paths.PROMPTS), "budget_usd": "0"}
    house.run(name, until="run.table(")
    before = numbers(house)
    assert before
    house.to("other")
    house.run(name, until="run.table(", **{p: other[p] for p in NONE[name]})
    assert numbers(house) == before


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_profile_reads_released_data(house, monkeypatch, name):
    taken = sources.taken

    def bundled(names, profile):
        for source in names:
            if "sample" not in sources.entry(source)["profiles"]:
                raise sources.SourceError(f"reads {source}")
        return taken(names, profile)

    monkeypatch.setattr(sources, "taken", bundled)
    with pytest.raises(sources.SourceError, match=f"^reads ({PUBLIC[name]})$"):
        house.run(name, profile="public")


def made_up(count, **more):
    return pd.DataFrame({"item": [f"x-{n}" for n in range(count)], **more})


@pytest.mark.parametrize("name", notebooks.listed("medhalu")[:3])
def test_what_is_drawn_from_released_data(bare, monkeypatch, name):
    """MedHalu: of each of two base sets of 24, `size` items; three of four types are generated."""
    base = made_up(48, dataset=["LiveQA"] * 24 + ["MedicationQA"] * 24, topic="A")
    base = base.assign(question=base["item"] + "?", expert_answer=" ".join(["word"] * 20))

    def base_of(run, liveqa="test", **more):
        return base if liveqa == "test" else base[24:]

    for module in (building, answers_of):
        monkeypatch.setattr(module, "base", base_of)
    sets = {"LiveQA": (base["question"], "raw")}
    monkeypatch.setattr(answers_of, "printed_sets", lambda run: sets)
    there = {"medhalu_training": sources.load("medhalu_training")}
    monkeypatch.setattr(sources, "all_sources", lambda run: there)
    here = sources.here
    monkeypatch.setattr(
        sources, "here", lambda n: "sample" in sources.entry(n)["profiles"] and here(n)
    )
    limit = "generated_tokens" if "generated_tokens" in notebooks.parameters(name) else "max_tokens"

    def planned(**more):
        seen = Seen(bare.run(name, until="size, generator", profile="public", mode="plan", **more))
        return seen.of("answer")

    first = planned()
    assert len(first) == 2 * 16 * 3 // 4 and {r.body()["max_tokens"] for r in first} == {128}
    more = {"size": "8", "generator": "fake-list", limit: "99"}
    small = planned(**more)
    assert len(small) == 2 * 8 * 3 // 4
    assert {(r.model, r.body()["max_tokens"]) for r in small} == {("fake-list", 99)}
    assert {r.item for r in small} != {r.item for r in planned(**more, seed="7")}
    base.loc[:7, "expert_answer"], base.loc[36:, "expert_answer"] = "a few words", "word " * 150
    every = {"size": "0", "generator": "fake-list"}
    # 16 of LiveQA's 24 and 12 of MedicationQA's are long enough and not too long
    assert len(planned(**every)) == (16 + 12) * 3 // 4
    assert len(planned(**every, least_words="3")) == (24 + 12) * 3 // 4
    assert len(planned(**every, most_words="0")) == (16 + 24) * 3 // 4
    assert len(planned(**every, liveqa="training")) == 12 * 3 // 4


@pytest.mark.parametrize("name", TALKS)
def test_how_many_cases_are_drawn_from_released_ones(bare, monkeypatch, name):
    """The first doctor, or `writer`, writes the key items of `size` cases, or of `only`."""
    texts = dict.fromkeys(["diagnosis", "patient", "complaint"], "A")
    cases = made_up(9, accepted=[[]] * 9, **texts)
    monkeypatch.setattr(cases_of, "osce", lambda run: cases.assign(history=cases["item"]))

    def planned(**more):
        until = "study.set_up"
        given = {"profile": "public", "mode": "plan", "models": "fake-list"}
        asked = Seen(bare.run(name, until=until, **given, **more)).of("key_items")
        return {(r.item.partition(" ")[0], r.model) for r in asked}

    assert (len(planned()), len(planned(size="5")), len(planned(size="0"))) == (3, 5, 9)
    assert planned(size="5") != planned(size="5", seed="7")
    named = planned(only="x-1 x-7", writer="fake-right")
    assert named == {("x-1", "fake-right"), ("x-7", "fake-right")}


@pytest.mark.parametrize("name", RIGHT)
def test_cases_right_at_baseline(house, name):
    """The embedded model diagnoses none of the sample's six cases, which captions say."""
    made = house.run(name, until="judged=True", right_only="True")
    assert made["judged"].empty and not made["held"].empty
    told = [p for p, text in house.outputs().items() if b"the 0 of 6 cases" in text]
    assert any(p.endswith(".md") for p in told)
