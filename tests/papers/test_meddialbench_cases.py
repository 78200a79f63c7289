"""MedDialBench: cases and scripts, bundled and generated."""

import asyncio
import json
import re
from dataclasses import replace

import pandas as pd
import pytest

from bedside import BedsideError
from bedside.keep import store
from bedside.papers.meddialbench import consultations as talks
from bedside.papers.meddialbench import data, generation, rules, study
from bedside.papers.meddialbench import design as designs
from bedside.papers.meddialbench.tables.validation import script_table
from bedside.read import paths, sources
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


# ---- cases and scripts


def test_the_bundled_cases_have_no_faults(run, design, texts):
    found, scripts = asyncio.run(study.cases(run, design, 0))
    assert (
        data.script_faults(found, scripts) == []
        and len(found) == 6
        and len(scripts) == len(texts) == 60
    )
    assert (
        list(found) == [*data.CASE, "status"]
        and list(scripts) == [*data.SCRIPT, "status"]
        and set(found["status"]) == {"graded"}
    )
    lying = scripts.groupby("level")["false"].agg(lambda f: f.str.len().sum())
    assert set(lying[lying > 0].index) == {
        n for n in design.adverse if design.pathway(n) == "pollution"
    }
    run.limit = 2
    found, scripts = asyncio.run(study.cases(run, design, 0))
    assert len(found) == 2 and set(scripts["item"]) == set(found["item"])


MINE = "item 'case-1', level 'vague': "
SPOILT = [
    (
        lambda c, s: (c, pd.concat([s, s[(s["item"] == "case-3") & (s["level"] == "vague")]])),
        "item 'case-3': 2 scripts for level 'vague', not one",
    ),
    (lambda c, s: (c, put(s, "case-1", "vague", facts=[1, 13])), MINE + "no key item 13"),
    (lambda c, s: (c, put(s, "case-1", "vague", facts=[0])), MINE + "no key item 0"),
    (
        lambda c, s: (c, put(s, "case-1", "vague", facts=[1, 11])),
        MINE + "the script doesn't name key item 11 .'Bright light",
    ),
    (
        lambda c, s: (c, put(s, "case-1", "vague", facts=[])),
        MINE + "the script doesn't name any of the case's facts",
    ),
    (
        lambda c, s: (c, put(s, "case-1", "vague", script="Be as you are.")),
        MINE + "the script doesn't name key item 1 ",
    ),
    (
        lambda c, s: (c.assign(key_items=c["key_items"].str[:7]), s),
        "item 'case-1': 7 key items, not 8 to 16",
    ),
    (
        lambda c, s: (c.assign(key_items=c["key_items"] + c["key_items"]), s),
        "item 'case-1': 24 key items, not 8 to 16",
    ),
]


def put(frame, item, level, **cells):
    """A copy of scripts with other cells in one of them."""
    frame = frame.copy()
    (row,) = frame.index[(frame["item"] == item) & (frame["level"] == level)]
    for column, value in cells.items():
        frame.at[row, column] = value
    return frame


@pytest.mark.parametrize("spoil, match", SPOILT, ids=range(len(SPOILT)))
def test_a_script_that_does_not_fit_is_named_with_item_and_level(
    run, design, texts, monkeypatch, spoil, match
):
    found, scripts = spoil(sources.load("meddialbench_cases"), texts)
    faults = data.script_faults(found, scripts)
    assert any(re.match(match, f) for f in faults)
    monkeypatch.setattr(
        run, "load", {"meddialbench_cases": found, "meddialbench_scripts": scripts}.get
    )
    with pytest.raises(BedsideError, match="scripts.jsonl: item 'case-"):
        asyncio.run(study.cases(run, design, 0))


def test_a_level_of_ones_own_needs_no_scripts_and_is_counted(design, texts):
    found = sources.load("meddialbench_cases")
    fewer = texts[texts["level"] != "vague"].assign(status="graded")
    made = script_table(design, found, fewer).set_index(["row", "column"])["value"]
    assert (
        data.script_faults(found, fewer) == []
        and made["vague", "scripts"] == 0
        and made["fabricating", "scripts"] == 6
    )
    made = talks.planned(found.head(1), {"vague": ("vague",)}, ["rules"], "rules")
    (held,) = rules.hold(made, rules.Knowledge(design, found, fewer))
    assert held.diagnosis == held.case.diagnosis


def test_a_patient_is_told_only_the_scripts_of_active_levels(design, texts):
    made = talks.blocks(design, texts, "case-1", ("vague", "dominant"))
    script = texts[texts["item"] == "case-1"].set_index("level")["script"]
    assert [(b["title"], b["level"], b["script"]) for b in made] == [
        ("Expression", "vague", script["vague"]),
        ("Cognition", "sound", ""),
        ("Logic", "consistent", ""),
        ("Disclosure", "open", ""),
        ("Attitude", "dominant", script["dominant"]),
    ]
    assert talks.blocks(design, texts, "no-such-case", ("vague",))[0]["script"] == ""


def test_what_disclosure_keeps_back_no_other_dimension_gives_away(design, texts):
    """The gate is told wherever disclosure is adverse, alone and combined, but not to a model
    that was recorded without it."""
    gate = design.dimensions["disclosure"]["gate"]

    def gated(*levels, patient="other"):
        made = talks.blocks(design, texts, "case-1", levels, patient)
        return [b["level"] for b in made if b["instruction"].endswith(f" {gate}")]

    assert gated("withholding") == gated("withholding", "incoherent") == ["withholding"]
    assert gated("reluctant", "dominant") == ["reluctant"]
    assert gated() == gated("incoherent", "fabricating") == []
    assert gated("withholding", "incoherent", patient=EMBEDDED) == []
    plain = {d: {k: v for k, v in x.items() if k != "gate"} for d, x in design.dimensions.items()}
    own = replace(design, dimensions=plain)  # as designs were before
    made = talks.blocks(own, texts, "case-1", ("withholding",))
    assert made[3]["instruction"] == design.levels["withholding"]["instruction"]


def test_cases_by_name(run, design):
    found, scripts = asyncio.run(study.cases(run, design, 0, only="case-5 case-2"))
    assert found["item"].tolist() == ["case-2", "case-5"] and len(scripts) == 20
    with pytest.raises(BedsideError, match="unknown case 'case-7'; did you mean 'case-"):
        asyncio.run(study.cases(run, design, 0, only="case-1 case-7"))


def test_cases_that_a_model_diagnoses_at_baseline():
    """Right at baseline: a by m, b by nobody, c by the rules, d by n, and e only when vague."""
    right = {"a baseline m", "a vague m", "c baseline rules", "d baseline n", "e vague m"}
    each = [(c, x, m) for c in "abcde" for x in ("baseline", "vague") for m in ("m", "n", "rules")]
    done = pd.DataFrame(each, columns=["case", "configuration", "model"])
    done["correct"] = [float(" ".join(key) in right) for key in each]
    done.loc[done["case"] == "b", "correct"] = float("nan")  # unscored: not known to be right
    mine, told = study.kept(done, True)
    assert sorted(set(mine["case"])) == ["a", "d"] and len(mine) == 2 * 2 * 3
    assert told == "Only the 2 of 5 cases that a model diagnoses at baseline. "
    assert study.kept(done, False)[0] is done


# ---- generated cases


def items(n, start=0):
    return [f"I have had complaint {start + k} for long" for k in range(n)]


AGAIN = "I HAVE had complaint 1, for long!"
FACTS = [
    (json.dumps({"items": items(9)}), items(9)),
    (json.dumps({"items": items(20)}), items(16)),
    (json.dumps({"items": items(3)})[:-20], items(2)),
    (json.dumps({"items": ["Too short", *items(2), AGAIN]}), [*items(1), AGAIN]),
    ('{"items": []}', None),
    ('{"facts": ["one two three"]}', None),
    ("- I have had it for long", None),
    ("", None),
]


@pytest.mark.parametrize("text, found", FACTS, ids=range(len(FACTS)))
def test_key_items_are_read_out_of_a_reply(text, found):
    assert generation.facts_in(text) == found


SCRIPTS = [
    (
        '{"script": "Say it.", "facts": [1, 12], "false": ["I am well"]}',
        ("Say it.", [1, 12], ["I am well"]),
    ),
    ('{"script": "Say that it hur', ("Say that it hur", [], [])),
    ('{"script": "Say it.", "facts": [1, 2', ("Say it.", [1, 2], [])),
    (
        '{"script": "Say it.", "facts": [], "false": ["I am well", "I ne',
        ("Say it.", [], ["I am well"]),
    ),
    (
        '```json\n{"false": [], "facts": [3],\n "script": "Say \\"no\\"."}\n```',
        ('Say "no".', [3], []),
    ),
    ('{"script": "", "facts": [1], "false": []}', None),
    ('{"script": 3}', None),
    ("Say it.", None),
    ("", None),
]


@pytest.mark.parametrize("text, found", SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_script_is_read_out_of_a_reply(text, found):
    assert generation.parse_script(text) == found


LENGTHS = {
    "plenty": [9],
    "late": [3, 8],
    "few": [3, 5, 4],
    "none": [0, 0, 0],
}  # key items in each try


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
            return completion(
                json.dumps({"items": items(count, 10 * tries[name])})
                if count
                else "There is nothing to say."
            )
        (level,) = [x for x in design.adverse if f", {x})" in said]
        other = {
            "vague": (
                '{"script": "Say that it hurts", "facts": [1, 99, 0, 8], "false": ["I am fine",'
                ' "I ne'
            ),
            "dominant": "No way.",
            "fabricating": "I'm sorry, I can't write that.",
        }
        return completion(
            other.get(level, f'{{"script": "Be {level}.", "facts": [2], "false": []}}')
        )

    endpoint.script = script
    found, scripts = asyncio.run(generation.generated(run, design, drawn))
    rows = found.set_index("item")
    assert tries == {k: len(v) for k, v in LENGTHS.items()}
    assert rows["status"].to_dict() == {
        "plenty": "graded",
        "late": "graded",
        "few": "few",
        "none": "unparsed",
    }
    assert rows["key_items"].to_dict() == {
        "plenty": items(9, 10),
        "late": items(8, 20),
        "few": items(5, 20),
        "none": [],
    }
    repeats = sorted(
        (r["item"], r["fields"]["repeat"]) for r in run.recordings.records() if r["item"] in LENGTHS
    )
    assert repeats == sorted((k, n) for k, v in LENGTHS.items() for n in range(len(v)))

    assert scripts.groupby("item", sort=False).size().to_dict() == {
        "plenty": 10,
        "late": 10,
        "few": 10,
    }
    mine = scripts.set_index(["item", "level"])
    assert mine.loc[("plenty", "vague")].tolist() == [
        "Say that it hurts",
        [1, 8],
        ["I am fine"],
        "",
        "graded",
    ]
    assert (
        mine.at[("few", "vague"), "facts"] == [1] and mine.at[("few", "vague"), "script"]
    )  # has five facts
    assert mine.loc[("plenty", "dominant")].tolist() == ["", [], [], "", "unparsed"]
    assert mine.at[("late", "fabricating"), "status"] == "refused"

    sent, run.mode, run.recordings = (
        len(endpoint.bodies),
        "replay",
        store.Recordings(run.recordings.folder),
    )
    again = asyncio.run(generation.generated(run, design, drawn))
    assert again[0].equals(found) and again[1].equals(scripts) and len(endpoint.bodies) == sent


@pytest.mark.parametrize("writer, facts, false", [("", 6, 4), ("served", 16, 6)])
def test_one_model_writes_key_items_and_scripts_as_long_as_it_may(
    run, design, writer, facts, false, monkeypatch
):
    """The paper's script of case 079 touches nine facts; EMBEDDED was recorded with fewer."""
    texts = sources.load("meddialbench_cases")[data.CASE[:-1]].head(1)
    monkeypatch.setattr(data, "osce", lambda run: texts)
    run.profile, run.mode, run.models = "public", "plan", [EMBEDDED, "served"]
    monkeypatch.setattr(paths, "RECORDINGS", paths.RECORDINGS / "none")
    asyncio.run(study.cases(run, design, 0, writer))
    assert {r.model for r in run.planned()} == {writer or EMBEDDED}
    forms = [r.response_format["json_schema"] for r in run.planned()]
    made = [f["schema"]["properties"] for f in forms if f["name"] == "script"]
    assert {(p["facts"]["maxItems"], p["false"]["maxItems"]) for p in made} == {(facts, false)}
    scripts = [r.messages[0]["content"] for r in run.planned() if "actor" in str(r.messages)]
    assert {"two short sentences" in s for s in scripts} == {not writer}


def test_a_sample_of_consultations_is_drawn_among_all_cases_whatever_limit(run_of):
    run = run_of("meddialbench", "01_design_and_validation")
    cases = run.load("meddialbench_cases")["item"]
    held = pd.DataFrame(
        [("m", c, item) for item in cases for c in ("baseline", "vague", "C1")],
        columns=["model", "configuration", "case"],
    )
    whole = study.stratified(run, held, 0)
    assert whole["configuration"].tolist() == ["baseline", "vague", "C1"]
    first = set(cases.head(3))
    part = study.stratified(run, held[held["case"].isin(first)], 0)
    left = whole[whole["case"].isin(first)].reset_index(drop=True)
    assert part.equals(left) and 0 < len(part) < len(whole)
    assert set(study.stratified(run, held, 0, "case-4")["case"]) == {"case-4"}
