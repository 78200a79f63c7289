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


def test_detections_are_made_as_the_parameters_say():
    """Two detections of each of 4 answers, each with two passages, none of which is in it."""
    given = dict(models="fake-marks", repeats=2, most_spans=2, limit="4", until="table_repeats")
    made = ran(DETECTION, {"fake-marks": says}, **given)
    assert made.row("table_replies", "fake-marks", "yes, %").n == 2 * 4
    found = made.row("table_replies", "fake-marks", "spans: not in the answer, %")
    assert (found.value, found.n) == (100, 2 * 2 * 4)


def base(run, every=False):
    """Invented pairs in the place of the public ones."""
    rows = [(name, n, k) for name in answers_of.DATASETS for n in WORDS for k in range(EACH)]
    made = pd.DataFrame(rows, columns=["dataset", "n", "k"])
    made["question"] = made["item"] = made.astype(str).agg("-".join, axis=1)
    return made.assign(topic="A", expert_answer=made["n"].map(lambda n: "drop " * n))


@pytest.mark.parametrize("size, lengths, each", [(7, {15, 40}, 7), (0, {*WORDS}, 16)])
def test_answers_are_built_as_the_parameters_say(size, lengths, each):
    """`size` pairs of each base set with answers of 10 to 100 words are drawn, or all pairs."""
    patched = [(building, "base", base), (answers_of, "base", base)]
    patched += [(answers_of, "printed_sets", lambda run: {})]
    patched += [
        (sources, "all_sources", lambda run: {"medhalu_training": sources.load("medhalu_training")})
    ]
    given = {"generator": "fake-marks", "profile": "public", "until": "table_built", "size": size}
    made = ran("medhalu/01_benchmark", {"fake-marks": says}, patched=patched, **given)
    asked = made.row("table_built", "all", "gave no answer, %")
    assert (asked.value, abs(asked.n - 3 * each * 3 / 4) < 3) == (0, True)
    assert {text_of(r).count("drop ") for r in made.sent} <= lengths
    assert made.row("table_built", "all", "words, mean").value == len(WRITTEN.split())


@pytest.mark.parametrize(
    "name, table",
    [(DETECTION, "table_replies"), ("medhalu/03_expert_in_the_loop", "table_note_replies")],
)
def test_your_own_copy_of_medhalu_is_judged_in_the_place_of_what_is_built(tmp_path, name, table):
    pairs = [
        {"dataset": "LiveQA", "question": f"{k}?", "answer": f"{k}.", "type": kind, "spans": []}
        for k, kind in enumerate(["fact", "none"] * 3)
    ]
    file, there = tmp_path / "medhalu.jsonl", sources.where
    file.write_text("".join(json.dumps(r) + "\n" for r in pairs))
    patched = [(sources, "where", lambda n: (0, file) if n == "medhalu_benchmark" else there(n))]
    given = dict(profile="public", models="fake-marks", benchmark="medhalu", repeats=1, until=table)
    made = ran(name, {"fake-marks": says}, patched=patched, **given)
    assert made.row(table, "fake-marks", "yes, %").n == len(pairs)
