"""A class: what a student hands in, and where it is written."""

import json
import re

import class_sheet
import pytest
from class_sheet import FOLDER, Small, given, handed
from IPython import utils
from IPython.core.interactiveshell import InteractiveShell

from bedside import seminar
from bedside.read import paths
from bedside.seminar import classroom, field

copy = class_sheet.copy  # a fixture
own = class_sheet.own  # a fixture


def test_it_shows_what_is_done_by_word_and_sign(tmp_path):
    sheet = Small()
    sheet.check("1.1", "a text")
    sheet.check("1.2", 3)
    shown = sheet.hand_in(..., tmp_path)
    assert str(shown) == "1 of 3 tasks done; not right yet: 1.2; open: 1.3"
    for form in (repr(shown), shown._repr_html_()):
        for each in ("1.1 ✎ collected", "1.2 ✗ not yet", "1.3 … open", "give a pseudonym"):
            assert each in form
    assert not list(tmp_path.iterdir())
    sheet.check("1.2", 2)
    sheet.check("1.3", "x")
    assert str(sheet.hand_in(" ", tmp_path)) == "3 of 3 tasks done"
    assert not list(tmp_path.iterdir())


def test_a_file_has_all_answers_and_what_the_checks_said(tmp_path):
    shown = given("Ann B", tmp_path, _1_1="my <b>text</b>\nof two lines", _1_2=3)
    (made,) = handed(tmp_path)
    (path,) = tmp_path.iterdir()
    assert path.name in shown.told and "nothing was sent" in shown.told
    assert made["sheet"] == "cancer_myth" and made["pseudonym"] == "Ann B"
    assert made["edition"] == classroom.edition("cancer_myth")
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[0-9a-f]{8}", made["edition"])
    assert made["answers"] == {
        "1.1": {
            "state": "collected",
            "said": "Task 1.1: kept",
            "answer": "my <b>text</b>\nof two lines",
            "check": "one",
        },
        "1.2": {"state": "not yet", "said": "Task 1.2: count again", "answer": 3, "check": "two"},
        "1.3": {"state": "open", "said": "", "answer": None},
    }


def test_students_are_told_where_their_file_is_and_which_one_to_send(tmp_path, monkeypatch):
    monkeypatch.setattr(classroom, "FOLDER", tmp_path / "handed_in")
    assert paths.ROOT == FOLDER.parent and (paths.ROOT / "start.py").is_file()
    told = given("Ann", None, _1_2=2).told
    (path,) = (tmp_path / "handed_in").iterdir()
    assert f"the file {path.name} in the folder handed_in beside start.py" in told
    assert str(path.resolve()) in told and "the last is the only one to send" in told
    assert f"in the folder {tmp_path}/other. " in given("Ann", tmp_path / "other", _1_2=2).told


def test_nothing_is_written_before_an_answer_was_checked(tmp_path):
    assert "no answer was checked" in given("Ann", tmp_path).told
    assert "no answer was checked" in given("Ann", tmp_path, _1_1=...).told
    assert not list(tmp_path.iterdir())


def test_the_last_check_counts_as_the_answer_was_then(tmp_path):
    sheet, answer = Small(), {"a": "b"}
    sheet.check("1.1", "first")
    sheet.check("1.1", answer)
    answer["a"] = "changed without a check"
    sheet.feedback("1.1", "tried by a cell that only shows something")
    sheet.hand_in("Ann", tmp_path)
    assert handed(tmp_path)[0]["answers"]["1.1"]["answer"] == {"a": "b"}


@pytest.mark.parametrize(
    "name",
    ["../../x", "/etc/passwd", "..", "C:\\x", "con", "a\x00b", "\u202egnp", "a\ud800b", "x" * 500]
    + ["<script>", "😀", "李", "=1+1", "a/b\nc", 5],
)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    folder = tmp_path / "in" / "here"
    assert "Handed in" in given(name, folder, _1_2=2).told
    (path,) = folder.iterdir()
    assert [p.name for p in tmp_path.iterdir()] == ["in"] and len(
        list(folder.parent.iterdir())
    ) == 1
    assert re.fullmatch(r"1_[a-z0-9-]{1,30}_[0-9a-f]{10}_[0-9-]+\.json", path.name), path.name
    assert len(handed(folder)[0]["pseudonym"]) <= 60
    ((label, answer),) = seminar.handed_in("cancer_myth", "1.2", folder).items()
    assert answer == 2 and label.isprintable()


def test_pseudonyms_that_look_alike_stay_apart(tmp_path):
    for k, name in enumerate(("Ann B", "ann-b", "ANN B", "Ann/B")):
        given(name, tmp_path, _1_2=k)
    assert seminar.handed_in("cancer_myth", "1.2", tmp_path) == {
        "Ann B": 0,
        "ann-b": 1,
        "ANN B": 2,
        "Ann/B": 3,
    }


def test_a_later_hand_in_follows_and_somebody_elses_stays(tmp_path, copy):
    given("Ann", tmp_path, _1_1="first", _1_2=1)
    given("Ann", tmp_path, _1_2=2)  # after a restart 1.1 is open again
    copy("another laptop")
    given("Ann", tmp_path, _1_1="somebody else")
    assert len(handed(tmp_path)) == 3
    texts = seminar.handed_in("cancer_myth", "1.1", tmp_path)
    assert sorted(texts) == ["Ann", "Ann (2)"]
    assert sorted(texts.values()) == ["first", "somebody else"]
    assert list(seminar.handed_in("cancer_myth", "1.2", tmp_path).values()) == [2]
    assert not seminar.handed_in("radiation", "1.2", tmp_path)


def test_two_of_one_name_keep_their_numbers_in_all_sheets(tmp_path, copy):
    for who, paper in (("a", "cancer_myth"), ("b", "cancer_myth"), ("b", "medhalu")):
        copy(who)
        sheet = Small()
        sheet.paper = paper
        sheet.check("1.2", who)
        sheet.hand_in("Ann", tmp_path)
    assert seminar.handed_in("cancer_myth", "1.2", tmp_path) == {"Ann": "a", "Ann (2)": "b"}
    found, _ = classroom.students(tmp_path, seminar.names())
    assert [(s.sheet, s.label) for s in found][-1] == ("medhalu", "Ann (2)")
    assert seminar.handed_in("medhalu", "1.2", tmp_path) == {"Ann (2)": "b"}


def test_a_copy_of_the_project_has_one_name(tmp_path, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(paths, "CACHE", tmp_path / "cache")
    assert classroom._copy() == classroom._copy() != ""
    monkeypatch.setattr(
        paths, "CACHE", tmp_path / "cache" / "copy"
    )  # a file: no folder can be made
    assert classroom._copy() == classroom.SESSION


def circle():
    made = []
    made.append(made)
    return made


class Rude:
    def __repr__(self):
        raise RuntimeError


def own_rule(hits, wrong):
    return hits - wrong


@pytest.mark.parametrize(
    "answer, written",
    [
        ({"a": (1, 2.5), 3: True}, {"a": [1, 2.5], "3": True}),
        ({"a": "x", "b": ...}, {"a": "x", "b": None}),
        ({"one"}, ["one"]),
        (float("nan"), "nan"),
        ([float("inf")], ["inf"]),
        (own_rule, "def own_rule(hits, wrong):\n    return hits - wrong"),
        (print, "<built-in function print>"),
        (b"x", "b'x'"),
        ("\ud800", "\ud800"),
    ],
)
def test_any_answer_is_written(tmp_path, answer, written):
    given("Ann", tmp_path, _1_1=answer, _1_3="x")
    (path,) = tmp_path.iterdir()
    text = path.read_text(encoding="utf-8")
    made = json.loads(text, parse_constant=pytest.fail)
    assert made["answers"]["1.1"]["answer"] == written


@pytest.mark.parametrize("answer", [circle(), Rude(), 10**5000], ids=["list", "Rude", "int"])
def test_an_answer_that_cannot_be_written_is_named(answer):
    assert type(answer).__name__ in classroom.plain(answer)


def test_a_numbers_kind_does_not_matter():
    import numpy as np

    assert classroom.plain([np.int64(3), np.float64(0.5), np.float32(0.5)]) == [3, 0.5, 0.5]


def test_a_very_long_answer_is_cut():
    assert len(classroom.plain(["x" * 10**6])) < 110_000


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    assert "can't be written" in given("Ann", tmp_path / "file", _1_2=2).told


def test_all_sheets_end_with_the_same_way_to_hand_in():
    for number in range(1, 5):
        (path,) = (paths.NOTEBOOKS / "seminar").glob(f"{number}_*.ipynb")
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        *_, last, note = ["".join(c["source"]) for c in cells]
        words = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"][-2]
        assert words.startswith("## Hand in") and "**Only answers that you have checked" in words
        assert "Nothing is sent anywhere" in words
        assert last.endswith("sheet.hand_in(my_name)")
        assert "instructor" in cells[-1]["metadata"]["tags"] and "`make class FOLDER=DIR`" in note
        assert "beside `start.py`" in words and "the only one to send" in words
        assert any("".join(c["source"]).startswith("my_name = sheet.name_field()") for c in cells)
        # what only shows something is not taken for the answer
        checks = re.findall(
            r'sheet\.check\("([\d.]+)"', "\n".join("".join(c["source"]) for c in cells)
        )
        assert len(checks) == len(set(checks)) == 9


def test_a_pseudonym_is_typed_into_a_field_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(field, "KEPT", tmp_path / "cache" / "pseudonym")
    monkeypatch.delenv(field.LAB, raising=False)
    field.name().value = "built"  # where a sheet is built, nobody's name is kept
    assert not field.KEPT.exists() and field.name().value == ""
    monkeypatch.setenv(field.LAB, "sheet.ipynb")
    box = Small().name_field()
    assert "give a pseudonym" in given(box, tmp_path / "in", _1_2=2).told
    box.value = "Blue heron"
    given(field.name(), tmp_path / "in", _1_2=2)
    assert [made["pseudonym"] for made in handed(tmp_path / "in")] == ["Blue heron"]


def test_a_text_without_quotation_marks_has_a_hint():
    """In a shell of its own: Python's message stays, and the next cell runs."""
    shell = InteractiveShell()
    shell.set_custom_exc((NameError,), field._told)
    with utils.capture.capture_output() as said:
        shell.run_cell("my_name = Anna")
        shell.run_cell("print(1 + 1)")
    assert "NameError" in said.stdout and 'in quotation marks: "Anna"' in said.stdout
    assert said.stdout.rstrip().endswith("2")
