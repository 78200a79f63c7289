"""Users' files of questions, answers, rubrics, conversations; logs: what they hold, or a fault."""

import json
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


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write a file of one's own and give its name."""
    monkeypatch.chdir(tmp_path)

    def write(content, name="mine.csv"):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return write


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


# ---- what is right


def test_files_of_questions_are_read_as_they_are_written(file):
    """Columns in any order; what spreadsheets write; numbers of JSON as they stand."""
    columns = ["item", "question", "reference", "group", "unit", "system"]
    sheet = b"\xef\xbb\xbf" + b' item , question \r\n1,"a, ""b""\r\nc"\r\n\r\n007,NA\r\n,\r\n'
    text = '{"item": 1, "question": "Is\u2028it?", "reference": 1.10, "group": null, "unit": NaN}\n'
    text += '\n{"item": 12345678901234567890, "question": "\\ud800?"}\r\n'
    mixed = "system,unit,group,reference,question,item\nBe brief.,p1,heart,yes,Is it?,a\n"
    for content, name, expected in (
        ("item,question\na,Is it?\nb,Was it?\n", "a.csv", [("a", "Is it?"), ("b", "Was it?")]),
        (
            mixed + ",,,,Was it?,b\n",
            "b.csv",
            [("a", "Is it?", "yes", "heart", "p1", "Be brief."), ("b", "Was it?")],
        ),
        (sheet, "c.csv", [("1", 'a, "b"\r\nc'), ("007", "NA")]),
        (text, "d.JSONL", [("1", "Is\u2028it?", "1.10"), ("12345678901234567890", "\ufffd?")]),
    ):
        frame = read(file(content, name))
        whole = [[*row, *[""] * (6 - len(row))] for row in expected]
        assert list(frame.columns) == columns
        assert frame.values.tolist() == [r[:4] + [r[4] or r[0], r[5]] for r in whole]


# ---- what is wrong


KNOWN = tomllib.loads(Path(__file__).with_name("users_files.toml").read_text("utf-8"))
NO_TEXTS = [
    (b"item,question\na,Is it?\nb,caf\xe9\n", r"line 3, character 6: is not UTF-8 \(byte 0xe9\)"),
    ("item,question\na,Is it?".encode("utf-16"), "line 1, character 1: is not UTF-8"),
    (f"item,question\n{'a' * 201},c\n", "line 2, column item: must be one"),
]
CASES = {
    "mine.csv": [*KNOWN["csv"], *NO_TEXTS],
    "mine.jsonl": [*KNOWN["jsonl"], ("[" * 100_000, "line 1: can't be read: maximum recursion")],
}


def test_a_faulty_file_of_questions_is_told_by_line_and_column(file):
    for name, cases in CASES.items():
        for content, told in cases:
            with pytest.raises(BedsideError, match=told) as e:
                read(file(content, name))
            assert str(e.value).startswith(name) and (
                name == "mine.csv" or "\n" not in str(e.value)
            )


def test_what_is_no_such_file(file, tmp_path):
    file("item,question\na,b\n")
    (tmp_path / "folder.csv").mkdir()
    file(b"PK\x03\x04 and so on", "book.csv")
    for source, told in (
        ("mien.csv", r"No file mien\.csv\. Did you mean mine\.csv\?"),
        ("sub/mine.csv", r"No file sub/mine\.csv\.$"),  # not a data set of the hub
        ("folder.csv", "folder.csv can't be read"),
        ("book.csv", "is a spreadsheet. Save it as CSV"),
        (file("x", "book.xlsx"), "is a spreadsheet. Save it as CSV"),
        (file("[]", "mine.json"), r"ends with '\.json'. Give a \.csv file"),
        ("mine", r"neither a file nor named like a data set of the Hugging Face hub \(owner/name"),
        ("x" * 5000, "neither a file nor named like"),
        ("a\0.csv", "No file"),
    ):
        with pytest.raises(BedsideError, match=told):
            read(source)


def test_a_users_file_is_looked_for_here_and_then_in_the_root(file, tmp_path):
    name = "data/sample/own/ten_questions.csv"
    assert paths.found(name) == paths.ROOT / name and len(read(name)) == 10
    (tmp_path / name).parent.mkdir(parents=True)
    assert read(file("item,question\nq1,Mine?\n", name))["question"].tolist() == ["Mine?"]


# ---- the hub


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A hub of data sets in memory: {name: rows, or {split: rows}}; it notes what is asked for."""
    import datasets

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    kept, asked = {}, []

    def load(name, split=None, revision=None):
        asked.append((name, split, revision))
        if name not in kept:
            raise ConnectionError(f"Couldn't reach '{name}' on the Hub\nand more")
        splits = {k: datasets.Dataset.from_list(rows) for k, rows in kept[name].items()}
        return splits[split] if split else datasets.DatasetDict(splits)

    monkeypatch.setattr(datasets, "load_dataset", load)
    return kept, asked


def test_a_data_set_of_the_hub(hub):
    kept, asked = hub
    kept["me/mine"] = {"train": [{"item": 7, "question": "Is it?", "answer": "x", "group": None}]}
    frame = read("me/mine", "abc123")
    assert frame.values.tolist() == [["7", "Is it?", "", "", "7", ""]]  # others are left out
    assert read("me/mine:train", revision="abc123").equals(frame)
    assert asked == [("me/mine", None, "abc123"), ("me/mine", "train", "abc123")]


def test_a_data_set_that_cannot_be_taken(hub, file):
    kept, asked = hub
    rows = [{"item": "a", "question": ""}, {"item": "a", "question": "b"}]
    kept |= {
        "me/two": {"train": rows, "test": rows},
        "me/bad": {"train": rows},
        "me/other": {"train": [{"id": 1, "text": "b"}]},
    }
    for source, revision, told in (
        ("me/mine", "", r"isn't a file\. .* needs REVISION=\.\.\., one of its commits or tags"),
        ("me/mine", "main", r"needs REVISION=\.\.\."),
        ("me/mine", "abc", "abc: the Hugging Face hub says: Couldn't reach .* Hub; without a netw"),
        ("me/two", "abc", "me/two has several splits. Name one: me/two:train, me/two:test"),
        (
            "me/other",
            "abc",
            "(?s)no column 'item'. Its columns: id, text.*save it as CSV with the columns",
        ),
        ("me/bad", "abc", "(?s)row 1, column question: is empty.*row 2, column item: item 'a' is"),
        (file("item,question\na,b\n"), "abc", "REVISION=abc goes with a data set .* none"),
    ):
        with pytest.raises(BedsideError, match=told):
            read(source, revision)
    assert len(asked) == 4  # without a revision nobody is asked


# ---- answers made elsewhere


def test_answers_made_elsewhere(file):
    text = "model,item,answer,seconds\nGPT  x,a,Yes.,1\nGPT x,z,No.,2\nother,b, ,3\nGPT x,z2,-,\n"
    frame, left = answers(file(text, "theirs.csv"), ["a", "b"])
    assert frame.values.tolist() == [
        ["a", "GPT x (from theirs.csv)", "Yes.", "", False, ""],
        ["b", "GPT x (from theirs.csv)", "", questions.MISSING, False, ""],
        ["a", "other (from theirs.csv)", "", questions.MISSING, False, ""],
        ["b", "other (from theirs.csv)", "", questions.BLANK, False, ""],
    ]
    assert left == [
        "theirs.csv: item 'z' isn't asked (line 3)",
        "theirs.csv: item 'z2' isn't asked (line 5)",
    ]
    same, _ = answers(file(lines({"item": "a", "model": 3, "answer": 42}), "t.jsonl"), ["a"])
    assert same.values.tolist() == [["a", "3 (from t.jsonl)", "42", "", False, ""]]


def test_answers_that_cannot_be_taken(file):
    for content, told in (
        ("item,model\na,m\n", "line 1: has no column 'answer'"),
        ("item,model,answer\n", "contains no answer"),
        ("item,model,answer\na,,x\n", "line 2, column model: is empty"),
        ("item,model,answer\n,m,x\n", "line 2, column item: is empty"),
        (
            'item,model,answer\na,m,"x\ny"\na, m ,z\n',
            "line 4, column item: an answer of 'm' to item 'a' occurs already in line 2; remove",
        ),
        ("item,model,answer\nz,m,x\nz,m,x\n", "line 3, column item: an answer of 'm' to item 'z'"),
        (
            "item,model,answer\ny,m,x\nz,m,x\n",
            "answers none of this study's items.* it has 'y', 'z', but",
        ),
    ):
        with pytest.raises(BedsideError, match=told):
            answers(file(content, "theirs.csv"), ["a", "b"])


# scores of other tools: nine that have no mean, and two parts that have one; a study goes on
LARGEST = sys.float_info.max
ODD = [math.inf, math.nan, LARGEST, None, "\ud83d \x1b[2J\x00", "x" * 40_000, [1, math.inf]]
ODD += [b"\xff", {None: -math.inf, 1: 1, "b": -2.5}]


def test_what_a_log_holds_as_rows(tmp_path, monkeypatch):
    """Without the package: what its reader gives, by the names that its documentation has."""
    nothing = SimpleNamespace(completion="", choices=[], stop_reason="", error=None)

    def sample(id, epoch=1, text="", stop="stop", scores=None, error=None):
        output = SimpleNamespace(completion=text, choices=[1], stop_reason=stop, error=None)
        value = {k: SimpleNamespace(value=v) for k, v in (scores or {}).items()}
        fault = error and SimpleNamespace(message=error)
        output = nothing if error else output
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
    (tmp_path / "run.eval").write_text("as a stand-in")
    rows = [row for _, row in logs.rows(tmp_path / "run.eval")]
    assert [number for _, number in rows.pop(1)["scores"].values()] == [None] * 9 + [1.0, -2.5]
    assert [(r["item"], r["repeat"], r["answer"], r["why"], r["cut"]) for r in rows] == [
        ("q0", 0, "Yes", "", False),
        ("q0", 1, "Ye", "", True),
        ("1", 0, "", "filtered", False),
        ("q2", 0, "", "error: the line was cut", False),
    ]
    assert rows[0]["scores"] == {
        "match": ("C", 1.0),
        "f1": ("0.5", 0.5),
        "two x": ("True", 1.0),
        "two y": ("odd", None),
    }
    told = questions.scores(tmp_path / "run.eval", ["q0"])
    assert [(r["repeat"], r["scorer"], r["number"]) for r in told][-1] == (2, "match", 0.0)


def test_what_is_no_log_is_told_and_what_reads_one_is_named(tmp_path, monkeypatch):
    (tmp_path / "x.eval").write_text("not a log")
    with pytest.raises(BedsideError, match="x.eval"):
        questions.answer_rows(tmp_path / "x.eval")
    with pytest.raises(BedsideError, match="no file .*y.eval"):
        questions.answer_rows(tmp_path / "y.eval")
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(BedsideError, match="pip install inspect_ai"):
        questions.answer_rows(tmp_path / "x.eval")


# ---- rubrics and conversations


def test_a_faulty_rubric_is_told_by_line(tmp_path):
    for text, name, match in (
        ("criterion,points\nx,much\n", "r.csv", "line 2, column points: 'much' isn't a number"),
        ("criterion,points\nx,0\n", "r.csv", "line 2, column points"),
        ("criterion,points\nx,-1\n", "r.csv", "no criterion with points above 0"),
        ("criterion,points,item\nx,1,q77\n", "r.csv", "column item: 'q77' is none of"),
        ("criterion,points,item\nx,1,q1\n", "r.csv", "for the question 'q0'"),
        ("criterion,points,id\nx,1,k\ny,1,k\n", "r.csv", "line 3, column id: id 'k' occurs already"),
        ("criterion,levels\nx,all\n", "r.csv", "line 2, column levels: give two to ten"),
        ("criterion,points,levels\nx,1,a|b\n", "r.csv", "a scale has levels and no points"),
        ("# G\n- no weight\n- 5: x\n", "r.md", "line 2: begins with neither points nor levels"),
        ("# G\n- five: x\n", "r.md", "line 2, column points: 'five'"),
        ("# Only text\n", "r.md", "contains no criterion"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(BedsideError, match=match):
            rubrics.criteria(tmp_path / name, ["q0", "q1"])


def test_a_rubric_in_markdown_has_groups_scales_and_long_lines(tmp_path):
    text = "# Title\nSome words.\n\n## safety ##\n- +5: says: wait\n  a day\n* -2.5: `x`\n"
    (tmp_path / "r.md").write_text(text + "## harm\n- none | severe: harm, of any kind\n")
    made = rubrics.criteria(tmp_path / "r.md", ["q"])["q"]
    assert [(c.id, c.text, c.points, c.levels, c.group) for c in made] == [
        ("1", "says: wait a day", 5, (), "safety"),
        ("2", "`x`", -2.5, (), "safety"),
        ("harm; of any kind", "harm, of any kind", 0, ("none", "severe"), "harm"),
    ]


def test_a_faulty_conversation_is_told_by_line(tmp_path):
    for row in (
        {"messages": []},
        {"messages": "Hello"},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user", "content": " "}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]},
        {"messages": [{"role": "user", "content": "x", "name": "z"}]},
        {"messages": [{"role": "user", "content": "x"}], "question": "Another?"},
        {"messages": [{"role": "user", "content": "x"}], "system": "Be brief."},
    ):
        (tmp_path / "talks.jsonl").write_text(json.dumps({"item": "q", **row}) + "\n")
        with pytest.raises(BedsideError, match="talks.jsonl, line 1, column messages"):
            questions.read(tmp_path / "talks.jsonl")
