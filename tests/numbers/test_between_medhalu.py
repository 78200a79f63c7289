"""MedHalu's parameters between their ends, to the numbers in the tables."""

import json

import pandas as pd
import pytest
from parameter_runs import form_of, ran, text_of

from bedside.papers.medhalu import building
from bedside.papers.medhalu import data as answers_of
from bedside.read import sources

DETECTION = "medhalu/02_detection"
WRITTEN = "All of it is made up."
EACH, WORDS = 4, (5, 15, 40, 110)  # pairs of a base set have answers of these lengths


def says(request):
    """Writes one answer; calls every answer hallucinated, and marks all passages that it may."""
    if form_of(request) != "detection":
        return json.dumps({"answer": WRITTEN})
    spans = request.response_format["json_schema"]["schema"]["properties"]["spans"]
    marks = [f"passage {k}" for k in range(spans["maxItems"])]
    return json.dumps({"verdict": "Yes", "spans": marks})


@pytest.mark.parametrize("size, lengths, each", [(7, {15, 40}, 7), (0, {*WORDS}, 16)])
def test_answers_are_built_as_the_parameters_say(size, lengths, each):
    """`size` pairs of each base set with answers of 10 to 100 words are drawn, or all pairs."""
    rows = [(name, n, k) for name in answers_of.DATASETS for n in WORDS for k in range(EACH)]
    pairs = pd.DataFrame(rows, columns=["dataset", "n", "k"]).assign(topic="A")
    pairs["question"] = pairs["item"] = pairs.index.astype(str)
    pairs["expert_answer"] = pairs["n"].map("drop ".__mul__)
    base, known = (
        (lambda *_, **__: pairs.copy()),
        {"medhalu_training": sources.load("medhalu_training")},
    )
    patched = [(module, "base", base) for module in (building, answers_of)]
    patched += [(answers_of, "printed_sets", lambda run: {})]
    patched += [(sources, "all_sources", lambda run: known)]
    given = {"generator": "fake-marks", "profile": "public", "until": "table_built", "size": size}
    made = ran("medhalu/01_benchmark", {"fake-marks": says}, patched=patched, **given)
    asked = made.row("table_built", "all", "gave no answer, %")
    assert asked.value == 0 and abs(asked.n - 3 * each * 3 / 4) < 3
    assert {text_of(r).count("drop ") for r in made.sent} <= lengths
    assert made.row("table_built", "all", "words, mean").value == len(WRITTEN.split())


@pytest.mark.parametrize(
    "name, table",
    [(DETECTION, "table_replies"), ("medhalu/03_expert_in_the_loop", "table_note_replies")],
)
def test_your_own_copy_is_judged_in_the_place_of_what_is_built(tmp_path, name, table):
    """Twice each answer, with two passages, none of which is in it."""
    answer = {"dataset": "LiveQA", "spans": [], "question": "q?", "answer": "a."}
    file, there = tmp_path / "medhalu.jsonl", sources.where
    lines = (json.dumps(answer | {"type": kind}) for kind in ["fact", "none"] * 3)
    file.write_text("\n".join(lines))
    patched = [(sources, "where", lambda n: (0, file) if n == "medhalu_benchmark" else there(n))]
    given = dict(profile="public", benchmark="medhalu", repeats=2, most_spans=2, until=table)
    given["models"] = "fake-marks"
    made = ran(name, {"fake-marks": says}, patched=patched, **given)
    assert made.row(table, "fake-marks", "yes, %").n == 2 * 6
    found = made.row(table, "fake-marks", "spans: not in the answer, %")
    assert (found.value, found.n) == (100, 2 * 2 * 6)
