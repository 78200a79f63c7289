"""Radiation: asking for lists, and what replies list."""

import asyncio

import pandas as pd
import pytest

import radiation_lists
from bedside.asking import models
from bedside.keep import registry
from bedside.papers.radiation import data, figures, lists, matching, scores, study, tables
from bedside.read import sources
from bedside.write import tables as shared
from conftest import SILENT, completion
from radiation_cells import recall_by, strata
from radiation_lists import lists_of

run = radiation_lists.run  # a fixture


# ---- lists


LISTS = [  # a reply, and what it lists; None: no list
    ("- Fatigue\n- Skin redness", ["Fatigue", "Skin redness"]),
    ("1. Fatigue\n2) Rib fracture\n(3) Nausea", ["Fatigue", "Rib fracture", "Nausea"]),
    ("• Fatigue • Nausea • Sore throat", ["Fatigue", "Nausea", "Sore throat"]),
    (
        "Here are the side effects:\n\n* Fatigue\n* Nausea\n\nPlease ask your doctor.",
        ["Fatigue", "Nausea"],
    ),
    ("Fatigue\nNausea\nRib fracture", ["Fatigue", "Nausea", "Rib fracture"]),
    ("Side effects:\nFatigue\nNausea", ["Fatigue", "Nausea"]),
    (
        "- Radiation-induced pneumonitis\n- Long-term lung-tissue scarring",
        ["Radiation-induced pneumonitis", "Long-term lung-tissue scarring"],
    ),
    ("- Fatigue\n- fatigue.\n- FATIGUE", ["Fatigue"]),
    (
        "**Short-term effects:**\n- **Fatigue**: feeling tired\n"
        "**Long-term effects:**\n- __Lymphedema__ - swelling of the arm",
        ["Fatigue", "Lymphedema"],
    ),
    (
        "1. Short-term side effects:\n   - Fatigue\n   - Nausea\n"
        "2. Long-term side effects:\n   - Rib fracture",
        ["Fatigue", "Nausea", "Rib fracture"],
    ),
    (
        "1. **Fatigue:**\n   You may feel tired for weeks after the last session.\n"
        "2. **Nausea:**\n   This is rare.",
        ["Fatigue", "Nausea"],
    ),
    ("- Short-term: fatigue\n- Late: rib fracture", ["fatigue", "rib fracture"]),
    ("- [ ] Fatigue\n- [x] Nausea", ["Fatigue", "Nausea"]),
    ("```\n- Fatigue\n- Nausea\n```", ["Fatigue", "Nausea"]),
    ('["Fatigue", "Rib fracture"]', ["Fatigue", "Rib fracture"]),
    (
        "They include: fatigue, nausea, sore throat, and rib fracture.",
        ["fatigue", "nausea", "sore throat", "rib fracture"],
    ),
    ("a. Fatigue\nb. Nausea", ["Fatigue", "Nausea"]),
    ("1 - Fatigue\n2 - Nausea", ["Fatigue", "Nausea"]),
    (
        "–Fatigue\n—Skin hyperpigmentation/changes in skin color",
        ["Fatigue", "Skin hyperpigmentation/changes in skin color"],
    ),
    (
        "- Skin reaction (redness, peeling)\n- Pain: mild - moderate",
        ["Skin reaction (redness, peeling)", "Pain"],
    ),
    ("- <script>alert(1)</script>\n- {{ 7 * 7 }}", ["<script>alert(1)</script>", "{{ 7 * 7 }}"]),
    ("# Short-term\n- Fatigue\n---\n# Long-term\n- Rib fracture", ["Fatigue", "Rib fracture"]),
    (
        "Radiation can cause fatigue, and later on, in some patients, scarring of the lung may"
        " follow.",
        None,
    ),
    (
        "The treatment was well tolerated and she has no complaints. She will be seen in six"
        " months.",
        None,
    ),
    ("However, in this patient, who is 65, the risk is low.", None),
    ("| effect | onset |\n|---|---|\n| fatigue | early |", None),
    ("- Short-term effects:\n- Long-term effects:", None),
    ("", None),
    ("Fatigue", None),
    ("...", None),
]


@pytest.mark.parametrize("text, expected", LISTS, ids=range(len(LISTS)))
def test_a_reply_becomes_a_list_or_is_none(text, expected):
    status, terms, _ = lists.read(text)
    assert (status, terms) == (("listed", expected) if expected else ("unparsed", []))


def test_refusals_repetitions_and_truncation():
    def cut(text):
        return lists.read(text, truncated=True)[1]

    refusal = "I'm sorry, but I can't give medical advice:\n- ask a doctor"
    assert lists.read(refusal)[0] == "refused"
    found = lists.read("- Fatigue\n- Nausea\n- fatigue\n- Fatigue")
    assert found == ("listed", ["Fatigue", "Nausea"], 2)
    assert cut("- Fatigue\n- Nau") == ["Fatigue"]
    # the cut spared the term
    assert cut("- Fatigue\n- Nausea: feeling si") == ["Fatigue", "Nausea"]
    assert cut("include: fatigue, nausea, rib fracture, sore throat, pul")[-1] == "sore throat"
    assert cut("- Fatigue\n- Nausea\n\nAsk your doc") == ["Fatigue", "Nausea"]


# ---- asking


def test_the_four_regimes_ask_for_what_they_say(run):
    patient = pd.DataFrame([{"item": "p1", "site": "chest wall", "base": "A", "specified": "B"}])
    asked = study.asked(run, patient, data.REGIMES)
    filled = asked.assign(item=asked["key"], profile="THE RECORD")
    made = run.prompts_for("list", filled, ["profile", "effects", "least"], most=data.MOST)
    assert asked["record"].tolist() == ["A", "B"] * 4
    texts = {name: made[f"p1/base/{name}"][-1]["content"] for name in data.REGIMES}
    assert len(set(texts.values())) == 4 and all("THE RECORD" in t for t in texts.values())
    first = f"- {data.vocabulary(run)[0]}"
    for name, text in texts.items():
        assert ("20 to 30" in text) == ("20-30" in name)
        assert (first in text) == ("selection" in name)


def test_lists_keep_patients_profiles_and_models_apart(run, endpoint):
    def answer(n, body):
        record = body["messages"][-1]["content"]
        if "41 years" in record:
            return 400, {}, {"error": "no"}
        return completion("- Fatigue\n- Named site" if "(chest wall)" in record else "- Fatigue")

    endpoint.script = answer
    patients = data.profiles(run)
    found = asyncio.run(study.listed(run, patients, ["free-form", "selection"], 1000))
    assert len(found) == 10 * 2 * 2 and not found.duplicated(scores.KEYS).any()
    assert endpoint.bodies[0]["max_tokens"] == 1000
    named = found[found["terms"].map(lambda t: "Named site" in t)]
    assert set(named["profile"]) == {"specified"} and set(named["site"]) == {"chest wall"}
    assert len(named) == 4
    failed = found[found["status"] == "error"]
    assert len(failed) == 4 and failed["terms"].map(len).sum() == 0


def test_a_models_own_limit_shortens_its_answers(run, endpoint, served):
    sources.registry()  # data is read before the registry of models is changed
    registry.entries()[served]["most_tokens"] = 50
    prompt = {"a": [{"role": "user", "content": "x"}]}
    asyncio.run(models.answers_of(run, prompt, 1000))
    assert endpoint.bodies[-1]["max_tokens"] == 50


def means(run, graded):
    """Mean scores of free-form lists, as notebook 02 has them."""
    free = graded[graded["regime"] == "free-form"]
    return shared.estimated_means(free, scores.METRICS, ["model", "profile"], run)


def test_tables_of_a_model_that_never_lists_anything(run):
    patients, reference, terms = study.inputs(run)
    parts = [
        lists_of(*[None] * 3, profile=profile, regime=regime)
        for regime in data.REGIMES
        for profile in data.PROFILES
    ]
    empty = pd.concat(parts, ignore_index=True)
    empty["item"] = empty["item"].map(dict(zip(("p1", "p2", "p3"), patients["item"])))
    matches = asyncio.run(matching.matched(run, empty, "lexical"))
    graded = scores.scored(matches, reference, terms)
    specified = graded[graded["profile"] == "specified"]
    found = strata(specified, reference)
    halves = [specified[specified["regime"] == r] for r in list(data.REGIMES)[:2]]
    changes = shared.differences(*halves, ["item", "model"], scores.METRICS)
    compared = asyncio.run(matching.compared(run, empty, "smollm2-135m"))  # asks nothing
    made = [
        tables.score_table(run, means(run, graded), "Table 1"),
        tables.health_table(run, graded.assign(reply_status=""), list(data.REGIMES)[:2]),
        shared.tested_rows(changes.rename(columns={"model": "row"}), scores.METRICS, run),
        tables.overlap_table(run, scores.overlaps(graded, terms), compared),
        tables.specificity_table(graded, reference, terms),
        tables.level_table(run, recall_by(found, "onset"), "onset", "Table 6"),
        tables.crossing_table(run, found),
        tables.matcher_table(run, {"lexical": graded}),
    ]
    curves = tables.length_curves(run, graded, reference, terms)
    assert set(curves["series"]) == {"m, free-form: no list", "m, selection: no list"}
    assert curves["value"].isna().all() and (curves["n"] == 0).all()
    assert (curves["unscored"] == 12).all()  # three patients, two profiles, two sizes
    for k, table in enumerate(made):
        mine = table[table["source"] == "run"]
        scores_ = mine.loc[~mine["column"].str.contains("no list|cut off|unscored"), "value"]
        assert len(mine) and scores_.isna().all(), k
        run.table(f"t{k}", table, "without a list")
    assert made[0].loc[made[0]["source"] == "run", "unscored"].dropna().eq(3).all()
    run.figure("f", figures.free(made[0]), made[0], "without a list")


# ---- replies without text, and cut ones


@pytest.mark.parametrize("why", SILENT)
def test_a_reply_without_text_is_no_list(run, endpoint, why):
    """It is not read, not matched and not scored, and the table of lists says why."""
    endpoint.script = lambda n, body: SILENT[why]
    patients, reference, terms = study.inputs(run)
    found = asyncio.run(study.listed(run, patients.head(3), ["free-form"], 1000))
    assert set(found["status"]) == {"error"} and set(found["reply_status"]) == {why}
    before = len(endpoint.bodies)
    for judge in ("lexical", "served"):
        graded = asyncio.run(study.graded(run, found, reference, terms, judge))
        assert set(graded["match"]) == {"error"} and graded["f1"].isna().all()
    assert len(endpoint.bodies) == before  # nothing to match
    mine = tables.score_table(run, means(run, graded), "Table 1").set_index(["row", "column"])
    assert mine.loc[("served", "F1"), ["n", "unscored"]].tolist() == [0, 3]
    health = tables.health_table(run, graded, ["free-form"]).set_index("column")["value"]
    assert health[f"no answer: {why}, %"] == 100 and health["no list, %"] == 100
    assert health["cut off at the limit, %"] == 0
    assert tables.cut(graded) == "No reply was cut at its limit."
