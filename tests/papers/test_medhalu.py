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
    lines = [
        {"dataset": "LiveQA", "question": "q", "answer": "a wrong answer", "type": t, "spans": []}
        for t in ("Fact-conflicting", "None-conflict", "input-conflict", "")
    ]
    put("medhalu_benchmark", "".join(json.dumps(line) + "\n" for line in lines))
    run.profile = "public"
    items = asyncio.run(study.benchmark(run, "medhalu", 0, "served", 9))
    assert items["type"].tolist() == ["fact", "none", "input", "none"]
    assert items["hallucinated"].tolist() == [True, False, True, False]
    assert items["item"].tolist() == [f"medhalu-{k}" for k in range(1, 5)]
    put("medhalu_benchmark", json.dumps({**lines[0], "type": "fantasy"}) + "\n")
    with pytest.raises(BedsideError, match="fantasy"):
        data.released(run)
    with pytest.raises(BedsideError, match="medhallu"):
        asyncio.run(study.benchmark(run, "medhallu", 0, "served", 9))


def test_healthqa_and_liveqa_are_read_as_published(put, tmp_path):
    text = '1\tWhat is gout ?\tGout is "urate" in joints .\n0\tWhat is gout ?\tAnother text .\n'
    put("healthqa", text)
    assert sources.load("healthqa").values.tolist() == [
        ["1", "What is gout ?", 'Gout is "urate" in joints .'],
        ["0", "What is gout ?", "Another text ."],
    ]
    xml = (
        '<X><NLM-QUESTION qid="TQ1"><Original-Question><SUBJECT>s</SUBJECT><MESSAGE>a &amp;\n  b'
        "</MESSAGE></Original-Question><NIST-PARAPHRASE/><NLM-Summary>c</NLM-Summary>"
        "<ANNOTATIONS><FOCUS>f</FOCUS><FOCUS>g</FOCUS></ANNOTATIONS><ReferenceAnswers>\n"
        '<RefAnswer aid="1"><ANSWER>first <b>one</b></ANSWER></RefAnswer>'
        '<ReferenceAnswer aid="2"><ANSWER>second</ANSWER></ReferenceAnswer>'
        "</ReferenceAnswers></NLM-QUESTION></X>"
    )
    path = tmp_path / "test.xml"
    path.write_text(xml)
    row = formats.read(path, "xml", sources.entry("liveqa")).iloc[0]
    told = row[["qid", "subject", "message", "paraphrase", "summary"]].tolist()
    assert told == ["TQ1", "s", "a & b", "", "c"]
    assert (row["answers"], row["focus"]) == (["first one", "second"], ["f", "g"])
    path.write_text(xml[:200])
    with pytest.raises(SyntaxError):
        formats.read(path, "xml", sources.entry("liveqa"))


# ---- building


def test_a_stratified_sample_in_ten_batches():
    sets = np.repeat(data.DATASETS, [1141, 246, 690])
    whole = pd.DataFrame({"dataset": sets, "pair": range(2077)})
    drawn = building.batches(whole, 500, 50, 0)
    assert drawn["dataset"].value_counts().to_dict() == {
        "HealthQA": 275,
        "MedicationQA": 166,
        "LiveQA": 59,
    }  # 274.7, 166.1, 59.2
    assert drawn["pair"].is_unique and drawn.groupby("batch").size().tolist() == [50] * 10
    each = drawn.groupby(["batch", "dataset"]).size().unstack()
    assert (each.max() - each.min() <= 1).all() and each["LiveQA"].min() == 5
    few = building.batches(whole[:7], 500, 50, 0)
    assert len(few) == 7 and set(few["batch"]) == {1}


# ---- people's labels


HEAD = "item,rater,group,hallucinated,type,spans,reason\n"
SPAN = "is taken every day at about the same time"


def daily(run):
    """The sample item about methotrexate every day."""
    items = data.bundled(run)
    return items, items.loc[items["answer"].str.contains(SPAN), "item"].iloc[0]


def test_labels_of_people_are_read_with_their_spans(run, put):
    items, item = daily(run)
    put(
        "medhalu_annotations",
        HEAD + f'{item},r9,expert,Yes,fact,"{SPAN}\nmuch like a  blood pressure tablet",daily is'
        " wrong\nliveqa-TQ9,r9,expert,no,,,\n",
    )
    mine = labels.annotations(run, items).query("repeat == 'r9'")
    assert mine[["evaluator", "source", "yes", "type"]].values.tolist() == [
        ["people: expert", "run", 1.0, "fact"]
    ]
    assert mine["spans"].iloc[0] == [SPAN, "much like a  blood pressure tablet"]
    assert detection.right_spans(items.assign(spans=None), labels.annotations(run, items)) == {
        item: [SPAN, "much like a  blood pressure tablet"]
    }


@pytest.mark.parametrize(
    "row, match",
    [
        ("{item},r9,expert,perhaps,,,", "perhaps"),
        ("{item},r9,expert,no,fact,,", "type"),
        (
            "{item},r9,expert,yes,,{span},",
            "type.*span",
        ),
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


def test_which_pairs_are_built_is_a_choice_up_to_the_papers_2077(run, monkeypatch):
    """Words of its answers: 0 for one, else 5, 50 or 500; all pairs that the paper counts."""
    sizes = {"HealthQA": 1141, "LiveQA": 246, "MedicationQA": 690}
    made = [(name, i) for name, n in sizes.items() for i in range(n)]
    long = [("word " * (5, 50, 500)[i % 3]).strip() for _, i in made]
    whole = pd.DataFrame(made, columns=["dataset", "question"]).astype(str)
    whole = whole.assign(item=whole.index.astype(str), expert_answer=[*long[:-1], ""], topic="t")
    monkeypatch.setattr(run, "profile", "public")
    asked = []

    def base(run, liveqa_set, unanswered):
        asked.append(liveqa_set)
        return whole if unanswered else whole[:-1]

    monkeypatch.setattr(building, "base", base)

    def lengths(*limits):
        found = building.chosen(run, 0, limits)
        return sorted({*data.words(found["expert_answer"])}), len(found)

    assert lengths(10, 100, "test") == ([50], 380 + 82 + 230)
    assert lengths(1, 100, "test")[0] == [5, 50] and lengths(10, 0, "test")[0] == [50, 500]
    assert lengths(0, 0, "training") == ([0, 5, 50, 500], 2077)
    assert asked == ["test"] * 3 + ["training"]
    for seed in range(8):  # with some seeds the last one was to be none
        monkeypatch.setattr(run, "seed", seed)
        built = building.chosen(run, 0, (0, 0, "training"))
        assert built["type"].iloc[-1] != "none"
        counts = built.groupby(["dataset", "type"]).size().unstack()
        assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()


def test_table_3_counts_the_runs_own_experts_and_raters_who_failed_a_check_are_told(put, run):
    assert all(rows.empty for rows in labels.own_raters(run))
    counts = "expert,Gender,Male,2\nexpert,Gender,prefer not to say,4\n"
    counts += "layperson,Gender,Male,9\n"
    counts += "expert,attention checks,passed,5\nexpert,attention checks,failed,1\n"
    put("medhalu_raters", f"group,question,answer,raters\n{counts}")
    own, left_out = labels.own_raters(run)
    assert own[["row", "value"]].values.tolist() == [
        ["Gender: Male", 2],
        ["Gender: prefer not to say", 4],
    ]
    assert own["column"].unique() == run.published("Table 3")["column"].unique()
    assert left_out[["row", "value", "n"]].values.tolist() == [["expert", 1, 6]]
