"""MedHalu: base sets and users' copies, types and batches, labels of people."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bedside import BedsideError
from bedside.papers.medhalu import building, data, detection, labels, study
from bedside.read import formats, sources

SIZES = {"HealthQA": 1141, "LiveQA": 246, "MedicationQA": 690}


@pytest.fixture
def run(run_of):
    return run_of("medhalu", "02_detection")


@pytest.fixture
def put(tmp_path, monkeypatch):
    """A function that puts a file where a source of the user's would be."""

    def write(name, text):
        entry = sources.registry()[name]
        path = tmp_path / Path(entry["file"]).name
        path.write_text(text)
        monkeypatch.setitem(entry, "file", str(path))
        sources.forget()

    yield write
    sources.forget()


def test_the_released_benchmark_is_read_from_a_copy(put, run):
    types = ("Fact-conflicting", "None-conflict", "input-conflict", "")
    line = {"dataset": "LiveQA", "question": "q", "answer": "a wrong answer", "spans": []}
    put("medhalu_benchmark", "".join(json.dumps(line | {"type": t}) + "\n" for t in types))
    run.profile = "public"
    items = asyncio.run(study.benchmark(run, "medhalu", 0, "served"))
    assert items["type"].tolist() == ["fact", "none", "input", "none"]
    assert items["hallucinated"].tolist() == [True, False, True, False]
    assert items["item"].tolist() == [f"medhalu-{k}" for k in range(1, 5)]
    put("medhalu_benchmark", json.dumps(line | {"type": "fantasy"}) + "\n")
    with pytest.raises(BedsideError, match="medhalu.jsonl.*fantasy.*types are"):
        data.released(run)
    with pytest.raises(BedsideError, match="medhallu"):
        asyncio.run(study.benchmark(run, "medhallu", 0, "served"))


XML = """<X><NLM-QUESTION qid="TQ1"><Original-Question><SUBJECT>s</SUBJECT><MESSAGE>a &amp;
  b</MESSAGE></Original-Question><NIST-PARAPHRASE/><NLM-Summary>c</NLM-Summary>
<ANNOTATIONS><FOCUS>f</FOCUS><FOCUS>g</FOCUS></ANNOTATIONS><ReferenceAnswers>
<RefAnswer aid="1"><ANSWER>first <b>one</b></ANSWER></RefAnswer>
<ReferenceAnswer aid="2"><ANSWER>second</ANSWER></ReferenceAnswer>
</ReferenceAnswers></NLM-QUESTION></X>"""


def test_base_sets_are_read_as_published(put, run, tmp_path):
    text = '1\tWhat is gout ?\tGout is "urate" in joints .\n0\tWhat is gout ?\tAnother text .\n'
    put("healthqa", text)
    path = tmp_path / "test.xml"
    path.write_text(XML)
    live = formats.read(path, "xml", sources.entry("liveqa"))
    row = live.iloc[0][["qid", "subject", "message", "paraphrase", "summary", "answers", "focus"]]
    assert row.tolist() == ["TQ1", "s", "a & b", "", "c", ["first one", "second"], ["f", "g"]]
    drugs = {"Question": ["q", "p"], "Answer": ["an answer", None], "Focus (Drug)": "drug"}
    known = {"healthqa": sources.load("healthqa"), "medicationqa": pd.DataFrame(drugs)}
    run.profile, run.load = "public", {**known, "liveqa": live, "liveqa_train": live}.get
    health = ["healthqa-1", "HealthQA", "What is gout ?", 'Gout is "urate" in joints .']
    rows = [[*health, "What is gout ?"], ["liveqa-TQ1", "LiveQA", "a & b", "first one", "f, g"]]
    rows.append(["medicationqa-1", "MedicationQA", "q", "an answer", "drug"])
    assert data.base(run).to_numpy().tolist() == rows
    every = data.base(run, every=True)  # as many as the paper counts
    assert every["item"].tolist()[1:] == ["liveqa_train-1", "medicationqa-1", "medicationqa-2"]
    assert every["expert_answer"].tolist()[-1] == ""
    path.write_text(XML[:200])
    with pytest.raises(SyntaxError):
        formats.read(path, "xml", sources.entry("liveqa"))


def test_a_stratified_sample_in_ten_batches():
    whole = pd.DataFrame({"dataset": np.repeat([*SIZES], [*SIZES.values()]), "pair": range(2077)})
    drawn = building.batches(whole, 500, 50, 0)
    counts = {"HealthQA": 275, "MedicationQA": 166, "LiveQA": 59}  # 274.7, 166.1, 59.2
    assert drawn["dataset"].value_counts().to_dict() == counts
    assert drawn["pair"].is_unique and drawn.groupby("batch").size().tolist() == [50] * 10
    each = drawn.groupby(["batch", "dataset"]).size().unstack()
    assert (each.max() - each.min() <= 1).all() and each["LiveQA"].min() == 5
    few = building.batches(whole[:7], 500, 50, 0)
    assert len(few) == 7 and set(few["batch"]) == {1}


def test_types_are_balanced_and_all_2077_pairs_of_the_paper_can_be_built(run, monkeypatch):
    whole = pd.DataFrame({"dataset": np.repeat([*SIZES], [*SIZES.values()])})
    whole["question"] = whole["item"] = whole.index.astype(str)
    whole = whole.assign(expert_answer=[*["word " * 15] * 2076, ""], topic="t")
    monkeypatch.setattr(building, "base", lambda run, every: whole if every else whole[:9])
    run.profile = "public"
    assert len(building.chosen(run, 4)) == 4
    for run.seed in range(8):  # with some seeds the last one was to be none
        built = building.chosen(run, 0)
        assert len(built) == 2077 and built["type"].iloc[-1] != "none"
        counts = built.groupby(["dataset", "type"]).size().unstack()
        assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()


# ---- people's labels

HEAD = "item,rater,group,hallucinated,type,spans,reason\n"
SPAN = "is taken every day at about the same time"


def daily(run):
    """The sample item about methotrexate every day."""
    items = data.bundled(run)
    return items, items.loc[items["answer"].str.contains(SPAN), "item"].iloc[0]


def test_labels_of_people_are_read_with_their_spans(run, put):
    items, item = daily(run)
    spans = [SPAN, "much like a  blood pressure tablet"]
    label = f'{item},r9,expert,Yes,fact,"' + "\n".join(spans) + '",daily is wrong\n'
    put("medhalu_annotations", HEAD + label + "liveqa-TQ9,r9,expert,no,,,\n")
    found = labels.annotations(run, items)
    of_r9 = found.query("repeat == 'r9'")[["evaluator", "source", "yes", "type", "spans"]]
    assert of_r9.to_numpy().tolist() == [["people: expert", "run", 1.0, "fact", spans]]
    assert detection.right_spans(items.assign(spans=None), found) == {item: spans}


@pytest.mark.parametrize(
    "row, match",
    [
        ("{item},r9,expert,perhaps,,,", "perhaps"),
        ("{item},r9,expert,no,fact,,", "type"),
        ("{item},r9,expert,yes,,{span},", "type.*span"),
        ("{item},r9,expert,yes,fact,,", "span"),
        ("{item},r9,expert,yes,fact,not in it,", "not in it"),
        ("mh-99,r9,expert,no,,,", "mh-99"),
        ("{item},,expert,no,,,", "given"),
        ("{item},r9,expert,no,,,\n{item},r9,expert,no,,,", "twice"),
    ],
)
def test_a_bad_label_is_an_error_that_names_file_item_and_way_out(run, put, row, match):
    items, item = daily(run)
    put("medhalu_annotations", HEAD + row.format(item=item, span=SPAN) + "\n")
    with pytest.raises(BedsideError, match=match) as caught:
        labels.annotations(run, items)
    assert "annotations.csv" in str(caught.value)
    assert item in str(caught.value) or "mh-99" in str(caught.value)


def test_table_3_counts_the_runs_own_experts_and_raters_who_failed_a_check(put, run):
    assert all(rows.empty for rows in labels.own_raters(run))
    counts = "expert,Gender,Male,2\nexpert,Gender,prefer not to say,4\nlayperson,Gender,Male,9\n"
    counts += "expert,attention checks,passed,5\nexpert,attention checks,failed,1\n"
    put("medhalu_raters", f"group,question,answer,raters\n{counts}")
    own, left_out = labels.own_raters(run)
    rows = [["Gender: Male", 2], ["Gender: prefer not to say", 4]]
    assert own[["row", "value"]].to_numpy().tolist() == rows
    assert own["column"].unique() == run.published("Table 3")["column"].unique()
    assert left_out[["row", "value", "n"]].to_numpy().tolist() == [["expert", 1, 6]]
