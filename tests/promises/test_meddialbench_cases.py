"""MedDialBench: cases and scripts, bundled and generated, and the rules that need no model."""

import asyncio
import itertools
import json
import tomllib
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import data, generation, rules, study
from bedside.papers.meddialbench import design as designs
from bedside.read import sources
from conftest import completion
from matrix import EMBEDDED


@pytest.fixture
def run(run_of):
    return run_of("meddialbench", "02_baseline")


@pytest.fixture
def design(run):
    return designs.read(run)


@pytest.fixture
def texts():
    return sources.load("meddialbench_scripts")


def test_the_bundled_scripts_fit_their_cases_and_runs_take_the_cases_named(run, design):
    cases, scripts = sources.load("meddialbench_cases"), sources.load("meddialbench_scripts")
    assert cases["key_items"].map(len).between(data.LEAST, data.MOST).all()
    expected = itertools.product(cases["item"], design.adverse)
    assert sorted(zip(scripts["item"], scripts["level"])) == sorted(expected)
    named = data.named_facts(scripts, cases.set_index("item")["key_items"].to_dict())
    assert all(facts and {*facts} <= {*found} for facts, found in zip(scripts["facts"], named))
    lying = scripts.groupby("level")["false"].agg(lambda f: f.str.len().sum())
    assert {*lying[lying > 0].index} == {n for n in lying.index if design.pathway(n) == "pollution"}

    here = asyncio.run(study.set_up(run, only="case-5 case-2"))
    assert here.cases["item"].tolist() == ["case-2", "case-5"] and len(here.scripts) == 20
    with pytest.raises(BedsideError, match="unknown case 'case-7'; did you mean 'case-"):
        asyncio.run(study.set_up(run, only="case-1 case-7"))
    run.limit = 2
    here = asyncio.run(study.set_up(run))
    assert here.drawn == len(here.cases) == 2 and {*here.scripts["item"]} == {*here.cases["item"]}


def test_a_patient_is_told_active_scripts_and_to_keep_back_what_disclosure_keeps(design, texts):
    made = talks.blocks(design, texts, "case-1", ("vague", "dominant"))
    script = texts[texts["item"] == "case-1"].set_index("level")["script"]
    told = [(b["level"], b["script"]) for b in made]
    plain = [(n, "") for n in ("sound", "consistent", "open")]
    assert told == [("vague", script["vague"]), *plain, ("dominant", script["dominant"])]
    assert talks.blocks(design, texts, "no-such-case", ("vague",))[0]["script"] == ""

    gate = design.dimensions["disclosure"]["gate"]

    def gated(*levels, patient="other"):
        blocks = talks.blocks(design, texts, "case-1", levels, patient)
        return [b["level"] for b in blocks if b["instruction"].endswith(f" {gate}")]

    assert gated("withholding") == gated("withholding", "incoherent") == ["withholding"]
    assert gated("reluctant", "dominant") == ["reluctant"]
    assert gated() == gated("incoherent", "fabricating") == []
    assert gated("withholding", patient=EMBEDDED) == []  # which was recorded without it


# ---- generated cases

KNOWN = Path(__file__).with_name("meddialbench.toml")
KNOWN = tomllib.loads(KNOWN.read_text("utf-8"))["tables"]
LENGTHS = {name: tries for name, tries, _ in KNOWN["tries"]}
WRITTEN = dict(KNOWN["written"])


def items(n, start):
    return [f"I have had complaint {start + k} for long" for k in range(n)]


def test_cases_are_generated_with_as_many_tries_as_they_need(run, design, endpoint):
    drawn = pd.DataFrame(
        [(n, "Gout", [], f"patient {n}", "It hurts.", "He has it.") for n in LENGTHS],
        columns=data.CASE[:-1],
    )
    tries = dict.fromkeys(LENGTHS, 0)

    def script(n, body):
        said = "\n".join(m["content"] for m in body["messages"])
        (name,) = [k for k in LENGTHS if f"patient {k}" in said]
        if body["response_format"]["json_schema"]["name"] == "key_items":
            tries[name] += 1
            count = LENGTHS[name][tries[name] - 1]
            listed = json.dumps({"items": items(count, 10 * tries[name])})
            return completion(listed if count else "There is nothing to say.")
        (level,) = [x for x in design.adverse if f", {x})" in said]
        whole = f'{{"script": "Be {level}.", "facts": [2], "false": []}}'
        return completion(WRITTEN.get(level, whole))

    endpoint.script = script
    found, scripts = asyncio.run(generation.generated(run, design, drawn))
    rows = found.set_index("item")
    assert tries == {k: len(lengths) for k, lengths in LENGTHS.items()}
    assert rows["status"].to_dict() == {k: status for k, _, status in KNOWN["tries"]}
    best = {"plenty": items(9, 10), "late": items(8, 20), "few": items(5, 20), "none": []}
    assert rows["key_items"].to_dict() == best
    assert scripts["item"].value_counts().to_dict() == dict.fromkeys(("plenty", "late", "few"), 10)
    mine = scripts.set_index(["item", "level"])
    vague = ["It hurts", [1, 8], ["I am fine"], "", "graded"]
    assert mine.loc[("plenty", "vague")].tolist() == vague
    assert mine.at[("few", "vague"), "facts"] == [1]  # it has five
    assert mine.loc[("plenty", "dominant")].tolist() == ["", [], [], "", "unparsed"]
    assert mine.at[("late", "fabricating"), "status"] == "refused"


# ---- rules: a doctor with a checklist, a patient who keeps to his script


@pytest.fixture
def knowledge(design, texts):
    return rules.Knowledge(design, sources.load("meddialbench_cases"), texts)


def test_the_rules_find_all_diseases_unless_they_are_misled(design, knowledge):
    cases = sources.load("meddialbench_cases")
    made = talks.planned(cases, design.configurations(), [rules.NAME], rules.NAME)
    made = rules.hold(made, knowledge)
    right = Counter(c.configuration for c in made if c.diagnosis == c.case.diagnosis)
    assert right["baseline"] == 6 and right["C1"] == 0
    assert 0 < right["fabricating"] < 6 and 0 < right["withholding"] < 6
    # nobody is given a diagnosis who keeps back without lying
    none = {c.configuration for c in made if c.diagnosis == rules.UNKNOWN}
    assert none >= {"withholding", "C5"} and "fabricating" not in none


FIRST = {"": 1, "vague": 1, "reluctant": 2, "impatient": 2, "withholding": 3, "dominant": 3}


def test_a_fact_that_is_kept_back_comes_when_asked_again_and_lies_take_its_place(knowledge, texts):
    cases = sources.load("meddialbench_cases")

    def answers(levels, finding):
        """What the patient of a case says to the same question, asked four times."""
        patient, asked = rules.Patient(knowledge, case, levels), [knowledge.topic[finding]] * 4
        return [patient.answer(asked[:n]) for n in range(1, 5)]

    for case in cases.itertuples():
        mine = texts[texts["item"] == case.item].set_index("level")
        for level, first in FIRST.items():
            kept = mine.at[level, "facts"] if level else []
            for n, fact in enumerate(case.key_items, 1):
                told = [f"{fact}." in a for a in answers((level,) if level else (), fact)]
                assert told == [k == (first if n in kept else 1) for k in range(1, 5)]
        facts, lies = mine.loc["fabricating", ["facts", "false"]]
        assert data.false_statements(texts, case.item, ("vague", "fabricating")) == lies
        fact = case.key_items[facts[0] - 1]
        said = " ".join(answers(("fabricating",), fact))
        assert lies and all(lie.rstrip(".") in said for lie in lies[:4]) and fact not in said
        assert not any(lie in " ".join(answers((), fact)) for lie in lies)
