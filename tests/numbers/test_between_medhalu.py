"""MedHalu's parameters between their ends, to the numbers in the tables."""

import json

import pandas as pd
import pytest
from parameter_runs import form_of, ran

from bedside.papers.medhalu import building
from bedside.papers.medhalu import data as answers_of
from bedside.read import sources

DETECTION = "medhalu/02_detection"
WRITTEN = "All of it is made up."
ITEMS = 32  # of the sample


def marks(request):
    """Calls every answer hallucinated, and marks as many passages as it may."""
    spans = request.response_format["json_schema"]["schema"]["properties"]["spans"]
    return json.dumps(
        {"verdict": "Yes", "spans": [f"passage {k}" for k in range(spans["maxItems"])]}
    )


def test_detections_are_made_as_the_parameters_say():
    """Two detections of each answer, each with two passages, none of which is in it."""
    made = ran(DETECTION, {"fake-marks": marks}, models="fake-marks", repeats=2, most_spans=2)
    assert made.row("table_replies", "fake-marks", "yes, %").n == 2 * ITEMS
    assert "2 repeats" in made.told["table_repeats"]
    found = made.row("table_replies", "fake-marks", "spans: not in the answer, %")
    assert (found.value, found.n) == (100, 2 * 2 * ITEMS)


# ---- public: answers are built from invented pairs in the place of released ones

LENGTHS = {"LiveQA": (5, 12, 20, 30, 60, 110), "MedicationQA": (8, 15, 40, 90, 101, 150)}  # words
EACH = 8  # pairs of each base set have one of these lengths


def pairs():
    rows = [
        {"item": f"{name}-{k}-{n}", "dataset": name, "topic": "A", "expert_answer": "word " * n}
        for name, lengths in LENGTHS.items()
        for n in lengths
        for k in range(EACH)
    ]
    made = pd.DataFrame(rows)
    return made.assign(question=made["item"] + "?")


def base(run, liveqa="test", **more):
    """The invented pairs; LiveQA's training set is its shorter half."""
    made = pairs()
    short = made["expert_answer"].str.split().str.len() <= 20
    return made[(made["dataset"] != "LiveQA") | (liveqa == "test") | short]


HERE = sources.here
LOADED = {"medhalu_training": sources.load("medhalu_training")}
PATCHED = [
    (building, "base", base),
    (answers_of, "base", base),
    (answers_of, "printed_sets", lambda run: {"LiveQA": (pairs()["question"], "raw")}),
    (sources, "all_sources", lambda run: LOADED),
    (sources, "here", lambda n: "sample" in sources.entry(n)["profiles"] and HERE(n)),
]


def writes(limit):
    """A model that writes an answer only at this limit, and calls all answers hallucinated."""

    def says(request):
        if form_of(request) == "detection":
            return marks(request)
        return json.dumps({"answer": WRITTEN}) if request.body()["max_tokens"] == limit else " "

    return says


def built(column="gave no answer, %", **given):
    """What the benchmark's builder wrote in public."""
    fakes = {"fake-writer": writes(512)}
    given = {"generator": "fake-writer", "profile": "public", "until": "table_built", **given}
    made = ran("medhalu/01_benchmark", fakes, patched=PATCHED, **given)
    return made.row("table_built", "all", column)


def usable(least, most, **fewer):
    """How many of the pairs within limits of words are asked for: three of four."""
    lengths = {**LENGTHS, **fewer}
    return sum(least <= n <= most for mine in lengths.values() for n in mine) * EACH * 3 // 4


def test_answers_are_built_as_the_parameters_say():
    """Twelve pairs of each of two base sets are drawn, or all within limits of words.

    The training set of LiveQA may take the place of its test set.
    """
    assert built(size=12).n == 2 * 12 * 3 // 4
    assert built(size=0, least_words=13).n == usable(13, 100) != usable(10, 100)
    assert built(size=0, most_words=50).n == usable(10, 50) != usable(10, 100)
    assert built(size=0, liveqa="training").n == usable(10, 100, LiveQA=(5, 12, 20))
    words = built(column="words, mean", size=12)  # by the model that is named
    assert (words.value, words.n) == (len(WRITTEN.split()), 18)


def test_generated_tokens():
    """Of a writer that needs a limit of 99 all answers are there to be judged."""
    given = dict(profile="public", models="fake-writer", generator="fake-writer", repeats=1)
    given |= dict(size=12, generated_tokens=99, until="table_replies")
    made = ran(DETECTION, {"fake-writer": writes(99)}, patched=PATCHED, **given)
    # a quarter of the pairs keep their expert's answers
    assert made.row("table_replies", "fake-writer", "yes, %").n == 2 * 12


@pytest.mark.parametrize(
    "name, table",
    [(DETECTION, "table_replies"), ("medhalu/03_expert_in_the_loop", "table_note_replies")],
)
def test_benchmark(tmp_path, name, table):
    """Your own copy of MedHalu is judged in the place of what is built."""
    mine = [
        {"dataset": name, "question": f"{k}?", "answer": f"Answer {k}.", "type": kind, "spans": []}
        for k, (name, kind) in enumerate([("LiveQA", "fact"), ("LiveQA", "none")] * 3)
    ]
    file = tmp_path / "medhalu.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in mine))
    given = dict(profile="public", models="fake-marks", benchmark="medhalu", repeats=1)
    there = sources.where

    def where(name):
        return (None, file) if name == "medhalu_benchmark" else there(name)

    patched = [(sources, "where", where)]
    made = ran(name, {"fake-marks": marks}, patched=patched, until=table, **given)
    assert made.row(table, "fake-marks", "yes, %").n == len(mine)
