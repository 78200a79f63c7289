"""Own questions and answers: what can be wrong with a file is told by line and column."""

import json
import os

import pytest

from bedside import BedsideError
from bedside.read import questions
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


def test_a_csv_of_two_columns(file):
    frame = read(file("item,question\na,Is it?\nb,Was it?\n"))
    assert list(frame.columns) == ["item", "question", "reference", "group", "unit", "system"]
    assert frame.values.tolist() == [
        ["a", "Is it?", "", "", "a", ""],
        ["b", "Was it?", "", "", "b", ""],
    ]


def test_every_column_in_any_order_and_a_unit_that_repeats(file):
    frame = read(
        file("system,unit,group,reference,question,item\nBe brief.,p1,heart,yes,Is it?,a\n"
             ",,,,Was it?,b\n")
    )  # fmt: skip
    assert frame.to_dict("records") == [
        {"item": "a", "question": "Is it?", "reference": "yes", "group": "heart", "unit": "p1",
         "system": "Be brief."},
        {"item": "b", "question": "Was it?", "reference": "", "group": "", "unit": "b",
         "system": ""},
    ]  # fmt: skip


def test_as_spreadsheets_write_it(file):
    """BOM, CRLF, blanks around names, a comma, quotation marks and a line break inside a text."""
    text = ' item , question \r\n1,"a, ""b""\r\nc"\r\n\r\n007,NA\r\n,\r\n'
    frame = read(file(b"\xef\xbb\xbf" + text.encode()))
    assert frame["item"].tolist() == ["1", "007"]
    assert frame["question"].tolist() == ['a, "b"\r\nc', "NA"]


def test_json_lines_keep_numbers_as_they_are_written(file):
    text = '{"item": 1, "question": "Is\u2028it?", "reference": 1.10, "group": null, "unit": NaN}\n'
    frame = read(file(text + '\n{"item": 12345678901234567890, "question": "b"}\r\n', "mine.JSONL"))
    assert frame["item"].tolist() == ["1", "12345678901234567890"]
    assert frame["reference"].tolist() == ["1.10", ""]
    assert frame["unit"].tolist() == frame["item"].tolist()
    assert frame["question"][0] == "Is\u2028it?"


def test_half_a_character_is_replaced_as_everywhere(file):
    frame = read(file('{"item": "a", "question": "\\ud800?"}', "mine.jsonl"))
    assert frame["question"][0] == "\ufffd?"


# ---- what is wrong


CSV = [
    (b"item,question\na,Is it?\nb,caf\xe9\n", r"line 3, character 6: is not UTF-8 \(byte 0xe9\)"),
    ("item,question\na,Is it?".encode("utf-16"), "line 1, character 1: is not UTF-8"),
    ("item,question\na,Is\0it?\n", "line 2, character 5: holds a NUL"),
    ("", r"mine\.csv is empty; it needs the columns item, question$"),
    ("\ufeff \n", "is empty"),
    ("item,question\n\n,\n", "has no question in it"),
    ("id,text\na,Is it?\n", "(?s)4 faults.*unknown column 'id'.*no column 'question'"),
    ("item,reference\na,Is it?\n", "line 1: no column 'question'; the first line must"),
    ("item,question,refrence\na,b,c\n", "line 1: unknown column 'refrence'; did you mean 'ref"),
    ("Item,question\na,b\n", "unknown column 'Item'; did you mean 'item'"),
    ("item,question,group\na,b,all\n", "line 2, column group: 'all' stands for all questions"),
    ("item,question,question\na,b,c\n", "line 1: two columns are named 'question'"),
    ("item;question\na;b\n", "line 1: cells are separated by ';'; save the file with"),
    ("item\tquestion\na\tb\n", "line 1: cells are separated by a tab"),
    ("item,question\na, \n", "line 2, column question: is empty"),
    ("item,question\n\n,Is it?\n", "line 3, column item: is empty"),
    ('item,question\na,"b\nc"\nd,e\na,f\n', "line 5, column item: item 'a' is already in line 2"),
    ("item,question\na,well, is it?\n", "line 2: 3 cells, but the header has 2; put a text that"),
    ("item,question\na\n", "line 2: 1 cells, but the header has 2"),
    ('item,question\na,"b\nc,d\ne,f\n', "line 2: a quotation mark is never closed"),
    ('item,question\na,b\nc,"d"e\n', "line 3: a quotation mark"),
    ('item,question\n"a\nb",c\n', "line 2, column item: must be one line"),
    (f"item,question\n{'a' * 201},c\n", "line 2, column item: must be one"),
]


@pytest.mark.parametrize("content, told", CSV)
def test_a_bad_csv(file, content, told):
    with pytest.raises(BedsideError, match=told) as e:
        read(file(content))
    assert str(e.value).startswith("mine.csv")


JSON_LINES = [
    ('{"item": "a", "question": "b"}\n{"item": "c"\n', r"line 2: is not JSON \(character 1\d: E"),
    ('[{"item": "a", "question": "b"}]', 'line 1: is not an object; write each line as {"'),
    ("[" * 100_000, "line 1: can't be read: maximum recursion"),
    (lines({"item": "a"}), "line 1, column question: is missing"),
    (lines({"item": "a", "question": None}), "line 1, column question: is empty"),
    (lines({"item": "a", "question": ["b"]}), "line 1, column question: is a list; it must be a"),
    (lines({"item": True, "question": "b"}), "line 1, column item: is true or false; it must"),
    (lines({"item": "a", "question": {"b": 1}}), "column question: is an object"),
    (lines({"item": "a", "question": "b", "refrence": "c"}), "line 1: unknown column 'refrence';"),
    ('{"item": "a", "item": "b", "question": "c"}', "line 1: can't be read: a name occurs twice"),
    (lines(*[{"item": 1, "question": "b"}] * 2), "line 2, column item: item '1' is already in"),
]  # fmt: skip


@pytest.mark.parametrize("content, told", JSON_LINES)
def test_bad_json_lines(file, content, told):
    with pytest.raises(BedsideError, match=told) as e:
        read(file(content, "mine.jsonl"))
    assert str(e.value).startswith("mine.jsonl, line ") and "\n" not in str(e.value)


def test_the_first_ten_faults_at_once_in_their_order(file):
    rows = ["item,question", "a,b,c", "d,", *(f"x{i}," for i in range(11)), "e,f", "e,g"]
    with pytest.raises(BedsideError) as e:
        read(file("\n".join(rows)))
    head, *told = str(e.value).split("\n  ")
    assert head == "mine.csv has 14 faults" and told[-1] == "and 4 more"
    assert [t.split(":")[0] for t in told[:3]] == [
        "line 2",
        "line 3, column question",
        "line 4, column question",
    ]
    assert len(told) == 11


def test_what_is_no_such_file(file, tmp_path):
    file("item,question\na,b\n")
    (tmp_path / "folder.csv").mkdir()
    file(b"PK\x03\x04 and so on", "book.csv")
    for source, told in (
        ("mien.csv", r"there is no file mien\.csv; did you mean mine\.csv\?"),
        ("sub/mine.csv", r"there is no file sub/mine\.csv$"),  # not a data set of the hub
        ("folder.csv", "is a folder, not a file"),
        ("book.csv", "is a spreadsheet; save it as CSV"),
        (file("x", "book.xlsx"), "is a spreadsheet; save it as CSV"),
        (file("[]", "mine.json"), r"ends with '\.json'; give a \.csv file"),
        ("mine", r"neither a file nor named like a data set of the Hugging Face hub \(owner/name"),
        ("x" * 5000, "neither a file nor named like"),
        ("a\0.csv", "there is no file"),
    ):
        with pytest.raises(BedsideError, match=told):
            read(source)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(file, tmp_path):
    (tmp_path / file("item,question\na,b\n")).chmod(0)
    with pytest.raises(BedsideError, match="mine.csv can't be read: Permission denied"):
        read("mine.csv")


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
        ("me/mine", "", r"is not a file; .* needs REVISION=\.\.\., one of its commits or tags"),
        ("me/mine", "main", r"needs REVISION=\.\.\."),
        ("me/mine", "abc", "abc: the Hugging Face hub says: Couldn't reach .* Hub; without a netw"),
        ("me/two", "abc", "me/two has several splits; name one: me/two:train, me/two:test"),
        ("me/other", "abc", "no column 'item'; it has id, text. Save it as CSV with the columns"),
        ("me/bad", "abc", "(?s)row 1, column question: is empty.*row 2, column item: item 'a' is"),
        (file("item,question\na,b\n"), "abc", "REVISION=abc goes with a data set .* none;"),
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


@pytest.mark.parametrize(
    "content, told",
    [
        ("item,model\na,m\n", "line 1: no column 'answer'"),
        ("item,model,answer\n", "has no answer in it"),
        ("item,model,answer\na,,x\n", "line 2, column model: is empty"),
        ("item,model,answer\n,m,x\n", "line 2, column item: is empty"),
        ('item,model,answer\na,m,"x\ny"\na, m ,z\n',
         "line 4, column item: an answer of 'm' to item 'a' is already in line 2; remove one of"),
        ("item,model,answer\nz,m,x\nz,m,x\n", "line 3, column item: an answer of 'm' to item 'z'"),
        ("item,model,answer\ny,m,x\nz,m,x\n", "answers none of the items .* it has 'y', 'z'; the"),
    ],
)  # fmt: skip
def test_answers_that_cannot_be_taken(file, content, told):
    with pytest.raises(BedsideError, match=told):
        answers(file(content, "theirs.csv"), ["a", "b"])


def test_answers_are_checked_without_pandas():
    """`python -m bedside check` looks at them before anything is set up."""
    import subprocess
    import sys

    code = "import sys; from bedside.read import questions; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
