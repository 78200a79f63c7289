"""Users' files of questions, answers, rubrics, conversations; logs: what they hold, or a fault."""

import math
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from bedside import BedsideError
from bedside.own import rubrics
from bedside.read import logs, paths, questions
from bedside.read.questions import answers, read

KNOWN = tomllib.loads(Path(__file__).with_name("users_files.toml").read_text("utf-8"))
READERS = {
    "questions": read,
    "answers": lambda name: answers(name, ["a", "b"]),
    "criteria": lambda name: rubrics.criteria(name, ["q0", "q1"]),
}
NO_TEXTS = [
    (b"item,question\na,Is it?\nb,caf\xe9\n", r"line 3, character 6: is not UTF-8 \(byte 0xe9\)"),
    ("item,question\na,Is it?".encode("utf-16"), "line 1, character 1: is not UTF-8"),
    (f"item,question\n{'a' * 201},c\n", "line 2, column item: must be one"),
]
KNOWN["questions"]["mine.csv"] += NO_TEXTS
KNOWN["questions"]["mine.jsonl"] += [("[" * 100_000, "line 1: can't be read: maximum recursion")]


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write a file of one's own and give its name."""
    monkeypatch.chdir(tmp_path)

    def write(content, name="mine.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return write


@pytest.mark.parametrize("case", KNOWN["right"], ids=lambda case: case["name"])
def test_a_file_of_questions_is_read_as_it_is_written(file, case):
    frame = read(file(case["holds"], case["name"]))
    whole = [[*row, *[""] * (6 - len(row))] for row in case["rows"]]
    assert frame.columns.tolist() == "item question reference group unit system".split()
    assert frame.values.tolist() == [r[:4] + [r[4] or r[0], r[5]] for r in whole]


@pytest.mark.parametrize("kind", READERS)
def test_a_faulty_file_is_told_by_name_line_and_column(file, kind):
    for name, cases in KNOWN[kind].items():
        for content, told in cases:
            with pytest.raises(BedsideError, match=told) as e:
                READERS[kind](file(content, name))
            assert name in str(e.value)
            assert name != "mine.jsonl" or "\n" not in str(e.value)


def test_what_is_no_such_file_is_told_with_the_nearest_or_the_way_out(file, tmp_path):
    for name, content in {"mine.csv": "x", "book.csv": b"PK\x03\x04", "book.xlsx": "x"}.items():
        file(content, name)
    file("[]", "mine.json")
    (tmp_path / "folder.csv").mkdir()
    for source, told in {**KNOWN["no_file"], "x" * 5000: "neither a file nor named like"}.items():
        with pytest.raises(BedsideError, match=told):
            read(source)


def test_a_users_file_is_looked_for_here_and_then_in_the_root(file):
    name = "data/sample/own/ten_questions.csv"
    assert paths.found(name) == paths.ROOT / name and len(read(name)) == 10
    assert read(file("item,question\nq1,Mine?\n", name))["question"].tolist() == ["Mine?"]


def test_a_data_set_of_the_hub_is_read_at_its_revision_or_told(file, monkeypatch):
    import datasets

    rows = [{"item": "a", "question": ""}, {"item": "a", "question": "b"}]
    kept, asked = (
        {
            "me/right": {
                "train": [{"item": 7, "question": "Is it?", "answer": "x", "group": None}]
            },
            "me/two": {"train": rows, "test": rows},
            "me/bad": {"train": rows},
            "me/other": {"train": [{"id": 1, "text": "b"}]},
        },
        [],
    )

    def load(name, split=None, revision=None):
        asked.append((name, split, revision))
        if name not in kept:
            raise ConnectionError(f"Couldn't reach '{name}' on the Hub\nand more")
        splits = {k: datasets.Dataset.from_list(rows) for k, rows in kept[name].items()}
        return splits[split] if split else datasets.DatasetDict(splits)

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(datasets, "load_dataset", load)
    frame = read("me/right", "abc123")
    assert frame.values.tolist() == [["7", "Is it?", "", "", "7", ""]]  # others are left out
    assert read("me/right:train", revision="abc123").equals(frame)
    assert asked == [("me/right", None, "abc123"), ("me/right", "train", "abc123")]
    file("item,question\na,b\n")
    for source, revision, told in KNOWN["hub"]["faults"]:
        with pytest.raises(BedsideError, match=told):
            read(source, revision)
    assert len(asked) == 2 + 4  # without a revision nobody is asked


def test_answers_made_elsewhere_are_those_of_the_items_that_are_asked(file):
    text = "model,item,answer,seconds\nGPT  x,a,Yes.,1\nGPT x,z,No.,2\nother,b, ,3\nGPT x,z2,-,\n"
    frame, left = answers(file(text, "theirs.csv"), ["a", "b"])
    assert frame.values.tolist() == [
        ["a", "GPT x (from theirs.csv)", "Yes.", "", False, ""],
        ["b", "GPT x (from theirs.csv)", "", questions.MISSING, False, ""],
        ["a", "other (from theirs.csv)", "", questions.MISSING, False, ""],
        ["b", "other (from theirs.csv)", "", questions.BLANK, False, ""],
    ]
    isnt_asked = "theirs.csv: item '{}' isn't asked (line {})"
    assert left == [isnt_asked.format("z", 3), isnt_asked.format("z2", 5)]
    same, _ = answers(file('{"item": "a", "model": 3, "answer": 42}', "t.jsonl"), ["a"])
    assert same.values.tolist() == [["a", "3 (from t.jsonl)", "42", "", False, ""]]


# scores of other tools: nine that have no mean, and two parts that have one; a study goes on
LARGEST = sys.float_info.max
ODD = [math.inf, math.nan, LARGEST, None, "\ud83d \x1b[2J\x00", "x" * 40_000, [1, math.inf]]
ODD += [b"\xff", {None: -math.inf, 1: 1, "b": -2.5}]


def test_what_a_log_holds_as_rows(file, monkeypatch):
    """Without the package: what its reader gives, by the names that its documentation has."""

    def sample(id, epoch=1, text="", stop="stop", scores=None, error=None):
        choices = [] if error else [1]
        output = SimpleNamespace(completion=text, choices=choices, stop_reason=stop, error=None)
        value = {k: SimpleNamespace(value=v) for k, v in (scores or {}).items()}
        fault = error and SimpleNamespace(message=error)
        return SimpleNamespace(id=id, epoch=epoch, output=output, scores=value, error=fault)

    held = [
        sample("q0", text="Yes", scores={"match": "C", "f1": 0.5, "two": {"x": True, "y": "odd"}}),
        sample("q3", text="Yes", scores=dict(enumerate(ODD))),
        sample("q0", 2, "Ye", "max_tokens", {"match": "I"}),
        sample(1, stop="content_filter"),
        sample("q2", error="the line was cut"),
    ]
    log = SimpleNamespace(samples=held, status="error", eval=SimpleNamespace(model="m/x"))
    reader = SimpleNamespace(read_eval_log=lambda *_, **__: log)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", reader)
    rows = [row for _, row in logs.rows(file("as a stand-in", "run.eval"))]
    assert [number for _, number in rows.pop(1)["scores"].values()] == [None] * 9 + [1.0, -2.5]
    assert [(r["item"], r["repeat"], r["answer"], r["why"], r["cut"]) for r in rows] == [
        ("q0", 0, "Yes", "", False),
        ("q0", 1, "Ye", "", True),
        ("1", 0, "", "filtered", False),
        ("q2", 0, "", "error: the line was cut", False),
    ]
    one, two = {"match": ("C", 1.0), "f1": ("0.5", 0.5)}, {"two x": ("True", 1.0)}
    assert rows[0]["scores"] == {**one, **two, "two y": ("odd", None)}
    told = questions.scores("run.eval", ["q0"])
    assert [(r["repeat"], r["scorer"], r["number"]) for r in told][-1] == (2, "match", 0.0)


def test_what_is_no_log_is_told_and_what_reads_one_is_named(file, monkeypatch):
    file("not a log", "x.eval")
    for name, told in (("x.eval", "x.eval"), ("y.eval", "no file .*y.eval")):
        with pytest.raises(BedsideError, match=told):
            questions.answer_rows(name)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(BedsideError, match="pip install inspect_ai"):
        questions.answer_rows("x.eval")


def test_a_rubric_in_markdown_has_groups_scales_and_long_lines(file):
    text = "# Title\nSome words.\n\n## safety ##\n- +5: says: wait\n  a day\n* -2.5: `x`\n"
    made = rubrics.criteria(
        file(f"{text}## harm\n- none | severe: harm, of any kind\n", "r.md"), ["q"]
    )
    assert [(c.id, c.text, c.points, c.levels, c.group) for c in made["q"]] == [
        ("1", "says: wait a day", 5, (), "safety"),
        ("2", "`x`", -2.5, (), "safety"),
        ("harm; of any kind", "harm, of any kind", 0, ("none", "severe"), "harm"),
    ]
