"""A class: what a student hands in, and the page that its teacher makes of it."""

import csv
import json
import re
from functools import cache
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from IPython import utils
from IPython.core.interactiveshell import InteractiveShell

from bedside import seminar
from bedside.__main__ import main
from bedside.read import paths
from bedside.seminar import classroom, overview, sheets
from browser import violations, watched
from seminar_answers import TABLES, answer

sheet = cache(seminar.sheet)


class Small(sheets.Sheet):
    """A sheet of three tasks, under the name of one that there is."""

    number, paper = "1", "cancer_myth"

    @classmethod
    def tasks(cls):
        asks = {"asks": "Write something.", "right": "kept"}
        two = {"truth": {"": "2"}, "hint": "count again", "enough": "False"}
        return {
            "1.1": {**asks, "free": True, "like": "any"},
            "1.2": asks | two,
            "1.3": {**asks, "like": "any"},
        }


@pytest.fixture(scope="module")
def hand_in(tmp_path_factory):
    """Hand in a sheet into a folder from one of several laptops; what the sheet says of it."""

    def hand_in(sheet, name, folder, laptop="one"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(paths, "CACHE", tmp_path_factory.getbasetemp() / f"laptop {laptop}")
            patch.setattr(classroom, "SESSION", laptop)  # random, once in each process
            return sheet.hand_in(name, folder)

    return hand_in


@pytest.fixture
def given(hand_in, tmp_path):
    """Hand in answers {"_1_2": answer} of the small sheet."""

    def given(name, folder=tmp_path, laptop="one", **said):
        made = Small()
        for number, one in said.items():
            one = {"": one} if number == "_1_2" else one
            made.check(number.strip("_").replace("_", "."), one)
        return hand_in(made, name, folder, laptop)

    return given


def handed(folder):
    """The files of a folder."""
    return [json.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*.json")]


def answers_to(paper, number, folder):
    """{student: answer} of what was handed in for a task."""
    found, _ = classroom.students(folder, seminar.NAMES)
    return {s.label: s.answers[number] for s in found if s.sheet == paper and number in s.answers}


# ---- handing in


def test_a_file_has_all_answers_and_what_the_checks_said(given, tmp_path):
    shown = given("Ann B", _1_1="my <b>text</b>\nof two lines", _1_2=3)
    (made,), (path,) = handed(tmp_path), tmp_path.iterdir()
    assert path.name in shown.text and str(path.parent) in shown.text
    assert shown.state == "collected"  # not "open", as what isn't handed in
    assert made["sheet"] == "cancer_myth" and made["pseudonym"] == "Ann B"
    entries = made["answers"]
    assert [entries[n]["state"] for n in entries] == ["collected", "not yet", "open"]
    assert [entries[n]["answer"] for n in entries] == [
        "my <b>text</b>\nof two lines",
        {"": 3},
        None,
    ]
    assert "count again" in entries["1.2"]["said"]
    assert "1 of 3 tasks done; not right yet: 1.2; open: 1.3" in shown.text


def test_nothing_is_written_without_a_name_or_a_checked_answer(given, tmp_path):
    for name, said in ((..., {"_1_2": 2}), (" ", {"_1_2": 2}), ("Ann", {}), ("Ann", {"_1_1": ...})):
        assert "Nothing was handed in" in given(name, **said).text
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    assert "can't be written" in given("Ann", tmp_path / "file", _1_2=2).text


def test_the_last_check_counts_as_the_answer_was_then(hand_in, tmp_path):
    made, said = Small(), {"a": "b"}
    made.check("1.1", "first")
    made.check("1.1", said)
    said["a"] = "changed without a check"
    hand_in(made, "Ann", tmp_path)
    assert handed(tmp_path)[0]["answers"]["1.1"]["answer"] == {"a": "b"}


FILE = r"1_[a-z0-9-]{1,30}_[0-9a-f]{10}_[\d-]+\.json"  # of a hand-in


@pytest.mark.parametrize(
    "name",
    ["../../x", "/etc/passwd", "C:\\x", "con", "a\x00b", "\u202egnp", "a\ud800b", "x" * 500]
    + ["<script>", "😀", "=1+1", "a/b\nc", 5],
)
def test_no_name_leads_out_of_the_folder(given, tmp_path, name):
    folder = tmp_path / "in" / "here"
    given(name, folder, _1_2=2)
    (path,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert path.parent == folder and re.fullmatch(FILE, path.name)
    ((label, said),) = answers_to("cancer_myth", "1.2", folder).items()
    assert said == {"": 2} and label.isprintable() and len(label) <= 60


def test_equal_and_similar_pseudonyms_stay_apart_and_a_later_hand_in_follows(given, tmp_path):
    for k, name in enumerate(("Ann B", "ann-b", "Ann/B")):
        given(name, _1_2=k)
    given("Ann B", _1_1="a text", _1_2=7)
    given("Ann B", _1_2=8)  # after a restart 1.1 is open again
    given("Ann B", laptop="another", _1_1="somebody else")
    read = {n: answers_to("cancer_myth", n, tmp_path) for n in ("1.1", "1.2")}
    assert read["1.2"] == {"Ann B": {"": 8}, "ann-b": {"": 1}, "Ann/B": {"": 2}}
    assert len(read["1.1"]) == 2 and set(read["1.1"].values()) == {"a text", "somebody else"}
    assert read["1.1"]["Ann B"] == "a text" and len(handed(tmp_path)) == 6
    assert not answers_to("radiation", "1.2", tmp_path)


def test_two_of_one_name_keep_their_numbers_in_all_sheets(hand_in, tmp_path):
    for laptop, paper in (("a", "cancer_myth"), ("b", "cancer_myth"), ("b", "medhalu")):
        made = Small()
        made.paper = paper
        made.check("1.2", laptop)
        hand_in(made, "Ann", tmp_path, laptop)
    assert answers_to("cancer_myth", "1.2", tmp_path) == {"Ann": "a", "Ann (2)": "b"}
    assert answers_to("medhalu", "1.2", tmp_path) == {"Ann (2)": "b"}


class Rude:
    def __repr__(self):
        raise RuntimeError


ANSWERS = {  # what is checked, and how it is handed in; None: as a text that says what it was
    "numbers": ({"a": (1, 2.5), 3: True}, {"a": [1, 2.5], "3": True}),
    "a set": ({"a": "x", "b": {"one"}}, {"a": "x", "b": ["one"]}),
    "of numpy": ({"a": np.int64(3), "b": np.float64(0.5)}, {"a": 3, "b": 0.5}),
    "no number": ([1.0, float("nan")], [1.0, None]),
    "a thing": ([print], [repr(print)]),
    "rude": (Rude(), None),
    "huge": (10**5000, None),
    "long": (["x"] * 10**5, None),
}


@pytest.mark.parametrize("said, written", ANSWERS.values(), ids=ANSWERS)
def test_any_answer_is_written(given, tmp_path, said, written):
    given("Ann", _1_1=said, _1_3="x")
    (path,) = tmp_path.iterdir()
    made = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    found = made["answers"]["1.1"]["answer"]
    assert found == written or (written is None and "can't be written down" in found)


def test_a_pseudonym_is_typed_into_a_field(given, tmp_path):
    field = Small().name_field()
    assert "Nothing was handed in" in given(field, _1_2=2).text
    field.value = "Blue heron"
    given(field, _1_2=2)
    assert [made["pseudonym"] for made in handed(tmp_path)] == ["Blue heron"]


def test_a_text_without_quotation_marks_has_a_hint():
    """Python's message stays, and the next cell runs."""
    shell = InteractiveShell.instance(user_module=ModuleType("a_sheet"))
    try:
        sheets.hints()
        with utils.capture.capture_output() as said:
            shell.run_cell("my_name = Anna")
            shell.run_cell("print(1 + 1)")
    finally:
        InteractiveShell.clear_instance()
    assert "NameError" in said.stdout and 'in quotation marks: "Anna"' in said.stdout
    assert said.stdout.rstrip().endswith("2")


# ---- the page of a class

BROKEN = {
    "truncated.json": '{"sheet": "cancer_myth", "pseud',
    "list.json": "[1, 2]",
    "empty.json": "",
    "deep.json": "[" * 100_000,
    "no_sheet.json": '{"pseudonym": "x", "answers": {}}',
    "answers_list.json": '{"sheet": "cancer_myth", "pseudonym": "x", "answers": []}',
    "sheet_path.json": '{"sheet": "../../x", "pseudonym": "x", "answers": {}}',
    "sheet_tags.json": '{"sheet": "<script>alert(1)</script>", "pseudonym": "x", "answers": {}}',
    "<img src=x onerror=alert(1)>.json": "no",
}
EVIL = '<script>alert("1")</script></style><img src=x onerror=alert(2)> of at least four words'
ODD = {
    "sheet": "cancer_myth",
    "time": EVIL,
    "edition": EVIL,  # of an earlier version, as are `check` and `values`
    "pseudonym": f"=1+1 {EVIL}\u202e",
    "answers": {
        "1.1": {"state": "collected", "said": EVIL, "answer": {EVIL: [EVIL, "a \x00 \ud800 b"]}},
        "1.2": {"state": "not yet", "said": EVIL, "answer": EVIL},
        "1.3": {"state": ["right"], "said": "", "answer": 1},
        "1.5": {"state": "not yet", "said": "=1+1 is a formula here", "answer": "=1+1"},
        "1.6": {"state": "not yet"},
        "9.9": {"state": "right", "said": "", "answer": 1},
        EVIL: {"state": "right", "said": "", "answer": 1},
    },
}
NAMES = ["Ann B", "ann-b", "Blue heron", "Émile & Zoë", "Blue heron"]
WRONG = {
    "1.3": {"a": 1, "b": 1, "c": -1, "d": 1, "e": -1},
    "1.5": {"sensitivity": 33 / 38, "specificity": 75 / 82},
}


def right_file(name):
    """A hand-in of an earlier version whose answers to sheet 1 are all right."""
    right = {n: answer("cancer_myth", n) for n in TABLES["cancer_myth"]}
    made = {
        n: {"state": "right", "answer": given, "check": "of_then"} for n, given in right.items()
    }
    return {"sheet": "cancer_myth", "edition": "0.1+00", "pseudonym": name, "answers": made}


def page_of(folder):
    """The page of a class, and the rows of its CSV by student."""
    page, _ = overview.write(folder)
    with (folder / "class.csv").open(encoding="utf-8-sig", newline="") as file:
        return page.read_text(encoding="utf-8"), {r["student"]: r for r in csv.DictReader(file)}


@pytest.fixture(scope="module")
def room(hand_in, tmp_path_factory):
    """A class of five in two sheets, with files by others and of any kind: its folder and page."""
    folder = tmp_path_factory.mktemp("class")
    for k, name in enumerate(NAMES):
        for paper in ("cancer_myth", "medhalu"):
            made = sheet(paper)
            made.checked.clear()
            for n in TABLES[paper]:
                made.check(n, answer(paper, n, WRONG.get(n) if k < 3 else None))
            hand_in(made, name, folder, str(k))
    for name, text in BROKEN.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "bytes.json").write_bytes(b"\xff\xfe\x00{")
    with (folder / "large.json").open("wb") as file:
        file.truncate(50_000_000)
    (folder / "folder.json").mkdir()
    (folder / "notes.txt").write_text("not looked at")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "x.json").write_text("[")
    (folder / "odd.json").write_text(json.dumps(ODD))
    cheat = right_file("Cheat")
    cheat["answers"]["1.4"]["answer"] = cheat["answers"]["1.5"]["answer"] = 0
    (folder / "cheat.json").write_text(json.dumps(cheat))
    honest = json.dumps(right_file("n" * 500), indent=1).replace("\n", "\r\n")  # as on Windows
    (folder / "honest.json").write_bytes(honest.encode("utf-8-sig"))
    html, rows = page_of(folder)
    return SimpleNamespace(folder=folder, html=html, rows=rows)


def test_the_page_of_a_class_has_a_line_for_each_student_and_a_state_for_each_task(room):
    labels = {"Ann B", "ann-b", "Blue heron", "Blue heron (2)", "Émile & Zoë"}
    assert labels <= set(room.rows) and "Émile &amp; Zoë" in room.html
    tasks = [c for c in room.rows["Ann B"] if c.endswith(" check")]
    assert len(tasks) == 20
    for k, label in enumerate(sorted(labels, key=lambda n: n in ("Blue heron (2)", "Émile & Zoë"))):
        row = room.rows[label]
        states = {c.split()[1]: row[c] for c in tasks}
        off = {n for n, state in states.items() if state not in ("right", "collected")}
        assert off == (set(WRONG) if k < 3 else set()) and row["done"] == str(20 - len(off))


def test_wrong_answers_are_counted_by_kind_and_free_texts_stand_without_names(room):
    body = room.html.partition('id="cancer_myth"')[2].partition("</section>")[0]
    hint = sheet("cancer_myth").check("1.5", WRONG["1.5"]).text.partition(": ")[2]
    assert re.search(rf"3\D*<bdi>{re.escape(hint[:30])}", body)
    assert re.search(r"<caption><bdi>sensitivity.*?0\.87.*?width: \d+%.*?<td>3</td>", body, re.S)
    assert "keep the larynx" in body
    named, _ = overview.write(room.folder, named=True)
    assert named.read_text(encoding="utf-8").count("Ann B") > room.html.count("Ann B")
    overview.write(room.folder)
    assert named.read_text(encoding="utf-8") == room.html  # the same each time


def test_a_file_that_calls_everything_right_is_checked_again(room):
    honest = next(r for name, r in room.rows.items() if name.startswith("nnn"))
    cheat = room.rows["Cheat"]
    assert len(honest["student"]) <= 60 and (honest["done"], cheat["done"]) == ("10", "8")
    assert cheat["cancer_myth 1.4 check"] == cheat["cancer_myth 1.5 check"] == "not yet"


def test_no_file_stops_the_page_and_each_that_is_left_out_is_told(room):
    faults = room.html.partition('id="unreadable"')[2].partition("</div>")[0]
    for name in (*BROKEN, "bytes.json", "large.json"):
        assert name.replace("<", "&lt;").replace(">", "&gt;") in faults, name
    assert not any(n in faults for n in ("odd", "honest", "notes.txt", "checkpoints"))
    (odd,) = [r for name, r in room.rows.items() if "script" in name]
    assert odd["cancer_myth 1.1 check"] == odd["cancer_myth 1.5 check"] == "not yet"
    assert "9.9" in room.html


def test_text_of_students_is_no_html_and_no_formula(room):
    for tag in ("<script", "<img", "\x00", "\u202e"):
        assert tag not in room.html, tag
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', room.html)[1]
    assert "default-src 'none'" in policy and "script-src 'none'" in policy
    cells = [c for r in room.rows.values() for c in r.values()]
    assert not [c for c in cells if c[:1] in ("=", "+", "-", "@")]
    assert any(c.startswith("'=1+1") for c in cells)


def test_free_texts_stand_in_an_order_that_is_not_that_of_students():
    rows = [(f"student {k}", "collected", "", f"the answer number {k} of many") for k in range(8)]
    rows = pd.DataFrame(rows, columns=["student", "state", "said", "answer"], dtype=object)
    shown = overview.task("1.1", "", rows)["texts"][""]
    assert sorted(shown["value"]) == rows["answer"].tolist() != shown["value"].tolist()


def test_the_command(given, tmp_path, capsys):
    for folder, why in ((tmp_path / "none", "no folder"), (tmp_path, "nobody has handed in")):
        with pytest.raises(SystemExit):
            main(["class", str(folder)])
        assert why in capsys.readouterr().err
    given("Ann", _1_2=2)
    main(["class", str(tmp_path), "--names"])
    assert "1 hand-in" in capsys.readouterr().out and (tmp_path / "class.html").exists()


def test_everybody_can_read_the_page_on_screen_and_paper(browser, room):
    with watched(browser) as page:
        page.goto((room.folder / "class.html").as_uri())
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide) and not violations(page)
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 380, "height": 700})
        assert not page.evaluate(wide) and not violations(page)
        page.emulate_media(media="print")
        assert page.get_by_text("✓ right").first.is_visible()
