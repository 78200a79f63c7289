"""Radiation: what replies list, from the prompt to the numbers."""

import asyncio
import tomllib
from pathlib import Path

import radiation_lists
from bedside.papers.radiation import data, lists, matching, scores, study
from conftest import SILENT, completion

run = radiation_lists.run  # a fixture


KNOWN = tomllib.loads(Path(__file__).with_name("radiation_replies.toml").read_text("utf-8"))


def test_a_reply_becomes_a_list_or_is_none():
    for text, expected in KNOWN["lists"]:
        status, terms, _ = lists.read(text)
        assert (status, terms) == ("listed" if expected else "unparsed", expected), text


def test_a_list_that_was_cut_loses_what_the_cut_broke():
    for text, expected in KNOWN["cut"]:
        assert lists.read(text, truncated=True)[1] == expected, text


def test_refusals_and_repetitions():
    refusal = "I'm sorry, but I can't give medical advice:\n- ask a doctor"
    assert lists.read(refusal)[0] == "refused"
    found = lists.read("- Fatigue\n- Nausea\n- fatigue\n- Fatigue")
    assert found == ("listed", ["Fatigue", "Nausea"], 2)


# ---- asking


def test_lists_keep_patients_profiles_and_models_apart(run, endpoint, served):
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


def test_a_reply_without_text_is_no_list_and_no_number(run, endpoint):
    """Three patients' replies are cut, refused ...; none is read, matched or scored."""
    whys = [*SILENT]
    patients, reference, terms = study.inputs(run)
    patients = patients.head(len(whys))
    of = {text: SILENT[w] for w, text in zip(whys, patients["base"])}
    of |= {text: SILENT[w] for w, text in zip(whys, patients["specified"])}
    endpoint.script = lambda n, body: next(
        reply for text, reply in of.items() if text in body["messages"][-1]["content"]
    )
    found = asyncio.run(study.listed(run, patients, list(data.REGIMES), 1000))
    assert set(found["status"]) == {"error"}
    assert found.drop_duplicates("item").set_index("item")["reply_status"].to_dict() == dict(
        zip(patients["item"], whys)
    )
    before = len(endpoint.bodies)
    for judge in ("lexical", "served"):
        graded = asyncio.run(study.graded(run, found, reference, terms, judge))
        assert set(graded["match"]) == {"error"} and graded["f1"].isna().all()
    asyncio.run(matching.compared(run, found, "served"))
    assert len(endpoint.bodies) == before  # nothing to match
    free = graded[graded["regime"] == "free-form"]
    rows = scores.described(run, free).set_index("column")["value"]
    assert all(rows[f"no answer: {why}, %"] == 100 / len(whys) for why in whys)
    assert rows["no list, %"] == 100 and rows["cut off at the limit, %"] == 0
