"""MedHalu's parameters between their ends, to the numbers in the tables."""

import json

import pytest
from parameter_runs import ran

from bedside.read import sources


def says(request):
    """Calls every answer hallucinated, and marks all passages that it may."""
    spans = request.response_format["json_schema"]["schema"]["properties"]["spans"]
    marks = [f"passage {k}" for k in range(spans["maxItems"])]
    return json.dumps({"verdict": "Yes", "spans": marks})


@pytest.mark.parametrize(
    "name, table",
    [("02_detection", "table_replies"), ("03_expert_in_the_loop", "table_note_replies")],
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
    made = ran(f"medhalu/{name}", {"fake-marks": says}, patched=patched, **given)
    assert made.row(table, "fake-marks", "yes, %").n == 2 * 6
    found = made.row(table, "fake-marks", "spans: not in the answer, %")
    assert (found.value, found.n) == (100, 2 * 2 * 6)
