"""A class: how its tables take in what was handed in, and the page of a class."""

import csv
import json
import re
import shutil

import class_sheet
import pytest
from class_sheet import MARK, NAMES, STATES, given
from sheets import answers, space

from bedside import BedsideError, seminar
from bedside.__main__ import main
from bedside.seminar import again, classroom, overview
from browser import violations, watched

copy = class_sheet.copy  # a fixture
own = class_sheet.own  # a fixture


# ---- the tables of a class in the sheets


@pytest.fixture(scope="module")
def solved():
    """Sheets 1 and 3, and the answers of their solutions."""
    made = {}
    for paper, number in (("cancer_myth", 1), ("medhalu", 3)):
        sheet = seminar.sheet(paper)
        made[paper] = sheet, answers(number, space(number, sheet))
    return made


def test_raters_of_a_class(solved, tmp_path, capsys):
    sheet, right = solved["cancer_myth"]
    sheet.of_class(tmp_path)
    assert "Nobody" in capsys.readouterr().out
    grades = right["1.3"]
    truth = dict(zip(sheet.few["letter"], sheet.few["label"]))
    for name, answer in (
        ("Blue", truth),
        ("red/../x", truth | {"a": -truth["a"] or 1, "b": -truth["b"] or 1}),
        ("strange", {"a": 9}),
        ("list", [1, 2]),
        ("nested", {k: [1] for k in grades}),
    ):
        sheet.check("1.3", answer)
        sheet.hand_in(name, tmp_path)
    (tmp_path / "broken.json").write_text("{")
    table = sheet.of_class(tmp_path).data
    assert table["rater"].tolist() == ["Blue", "red/../x"]
    assert table.iloc[:, 1].tolist() == [len(truth), len(truth) - 2] and table.iloc[0, 2] == 1


def test_readers_of_a_class(solved, tmp_path, capsys):
    sheet, right = solved["medhalu"]
    assert "Nobody" in sheet.of_class(tmp_path)
    reading = right["3.1"]
    for name, answer in (
        ("one", reading),
        ("two", {i: ("no", 60, "-") for i in reading}),
        ("faulty", reading | {"mh-01": ("perhaps", 60, "-")}),
        ("other", ["what?"]),
    ):
        sheet.check("3.1", answer)
        sheet.hand_in(name, tmp_path)
    found = sheet.of_class(tmp_path).data.set_index("what")["value"]
    told = capsys.readouterr().out
    assert "faulty is left out" in told and "'perhaps'" in told and "other is left out" in told
    # one yes and one no each: 8 ties; 4 answers both call right, of which 2 are
    assert found["readers"] == "2" and found["answers with a tie, not scored"] == "8"
    assert found["accuracy, majority"] == 0.5
    # all no: F1 of hallucinated 0, of right 2 * 3 / (2 * 3 + 9) = 0.4; the other: F1 14/17 and 4/7
    assert found["macro F1, mean of readers"] == pytest.approx(((14 / 17 + 4 / 7) / 2 + 0.2) / 2)


def test_the_illustrative_class_is_three_readers(solved):
    sheet, _ = solved["medhalu"]
    folder = sheet.example_class()
    found = sheet.of_class(folder).data.set_index("what")["value"]
    shutil.rmtree(folder)
    assert found["readers"] == "3" and found["answers read"] == "12"


# ---- the page of a class


HOSTILE = {
    "truncated.json": '{"sheet": "cancer_myth", "pseud',
    "list.json": "[1, 2]",
    "number.json": "7",
    "empty.json": "",
    "deep.json": "[" * 100_000,
    "digits.json": "1" * 100_000,
    "no_sheet.json": '{"pseudonym": "x", "answers": {}}',
    "no_name.json": '{"sheet": "cancer_myth", "answers": {}}',
    "no_answers.json": '{"sheet": "cancer_myth", "pseudonym": "x"}',
    "answers_list.json": '{"sheet": "cancer_myth", "pseudonym": "x", "answers": []}',
    "sheet_dict.json": '{"sheet": {}, "pseudonym": "x", "answers": {}}',
    "sheet_path.json": '{"sheet": "../../x", "pseudonym": "x", "answers": {}}',
    "sheet_tags.json": '{"sheet": "<script>alert(1)</script>", "pseudonym": "x", "answers": {}}',
    "<img src=x onerror=alert(1)>.json": "no",
}
EVIL = '<script>alert("1")</script></style><img src=x onerror=alert(2)> of at least four words'
ODD = {
    "time": "0001-01-01",
    "edition": EVIL,
    "student": [1],
    "pseudonym": f"=1+1 {EVIL}\u202e",
    "answers": {
        "1.1": {
            "state": "collected",
            "said": EVIL,
            "answer": {EVIL: [EVIL, "a \x00 \ud800 b c d"]},
        },
        "1.2": {"state": "not yet", "said": EVIL, "answer": EVIL},
        "1.3": {"state": ["right"], "said": "", "answer": 1},
        "1.4": "right",
        "1.5": {"state": "not yet", "said": "=1+1 is a formula here", "answer": "=1+1"},
        "1.6": {"state": "not yet"},
        "9.9": {"state": "right", "said": "", "answer": 1},
        EVIL: {"state": "right", "said": "", "answer": 1},
    },
}


def nested(depth):
    """A hand-in whose answer is a deep list, as text."""
    answer = "[" * depth + "]" * depth
    head = '"sheet": "cancer_myth", "pseudonym": "deep", "time": 5'
    return f'{{{head}, "answers": {{"1.1": {{"state": "right", "said": "", "answer": {answer}}}}}}}'


@pytest.fixture
def filled(tmp_path, solved, copy):
    """Five hand-ins of each of two sheets, one of them broken, and whatever else may lie about."""
    for paper, wrong in (
        ("cancer_myth", {"1.5": {"sensitivity": 33 / 38, "specificity": 75 / 82}}),
        ("medhalu", {"3.4": {"accuracy": 0.75, "F1, hallucinated": 0.86, "F1, right": 0}}),
    ):
        sheet, right = solved[paper]
        for k, name in enumerate(NAMES):
            copy(f"laptop {k}")
            sheet.checked.clear()
            for task, answer in (right | (wrong if k < 3 else {})).items():
                if k != 4 or not task.endswith(".9"):
                    sheet.check(task, answer)
            told = sheet.hand_in(name, tmp_path).told
            path = tmp_path / re.search(r"the file (\S+\.json) in", told)[1]
            if k == 1 and paper == "medhalu":
                path.write_bytes(path.read_bytes()[:700])
    return tmp_path


def page_of(folder):
    """The written page as text, and the rows of its CSV."""
    html, _ = overview.write(folder)
    with (folder / "class.csv").open(encoding="utf-8-sig", newline="") as file:
        return html.read_text(encoding="utf-8"), list(csv.DictReader(file))


def test_the_page_of_a_class(filled):
    html, rows = page_of(filled)
    everybody = ["Ann B", "ann-b", "Blue heron", "Blue heron (2)", "Émile & Zoë"]
    assert sorted(r["student"] for r in rows) == sorted(everybody)  # a line for each
    assert not any(r["files say otherwise"] for r in rows)
    for sheet, students in ("cancer_myth", 5), ("medhalu", 4):
        tasks = [c for c in rows[0] if re.fullmatch(rf"{sheet} [\d.]+ check", c)]
        mine = [r for r in rows if sheet != "medhalu" or r["student"] != "ann-b"]
        assert len(tasks) == 9 and len(mine) == students
        body = html.partition(f'<section id="{sheet}"')[2].partition("</section>")[0]
        for state in (r[c] for r in mine for c in tasks):
            assert state in STATES
            assert f"{MARK[state]} {state}" in body
        assert "Wrong answers by kind" in body and "Texts to read aloud" in body
    body = html.partition('<section id="cancer_myth"')[2].partition("</section>")[0]
    assert "<strong>3 ✗</strong> <bdi>you divided by the columns" in body
    assert "(3 times)" in body and "8 of 9" in body and "9 of 9" in body
    assert "Émile &amp; Zoë" in body
    assert "Files that can’t be read" in html and html.count("it is not complete JSON") == 1


def test_every_sheet_has_its_title_and_its_tasks_have_theirs():
    for paper in seminar.names():
        title, headings = overview.titles(paper)
        assert set(headings) == set(seminar.kind(paper).tasks())
        assert title != paper and title[0].isupper()


def test_texts_stand_without_names_in_an_order_of_their_own(filled, tmp_path_factory):
    html, _ = page_of(filled)
    assert html == page_of(filled)[0]  # the same each time
    aloud = re.findall(r"<h3>Texts to read aloud</h3>(.*?)</section>", html, re.S)
    assert len(aloud) == 2 and not any(n in a for a in aloud for n in ("Ann", "heron", "Zo"))
    assert "an early cancer" in aloud[0] or "vocal cord" in aloud[0]
    named, _ = overview.write(filled, named=True)
    assert "Ann B, " in named.read_text(encoding="utf-8")


def test_the_order_of_texts_is_not_that_of_students():
    texts = [f"the answer number {k} of many" for k in range(8)]
    those = [
        classroom.Student("cancer_myth", str(k), "", str(k), answers={"1.1": ("right", "", t)})
        for k, t in enumerate(texts)
    ]
    shown = [t for t, *_ in overview.texts(["1.1"], those)["1.1"][""]]
    assert sorted(shown) == texts != shown
    back = [t for t, *_ in overview.texts(["1.1"], those[::-1])["1.1"][""]]
    assert back == shown


def test_a_text_that_a_later_task_takes_over_stands_once():
    said = "a text of four words"
    own = {"1.1": ("right", "", said), "1.2": ("right", "", [said, "another one of four words"])}
    those = [classroom.Student("cancer_myth", "x", "", "x", answers=own)]
    found = overview.texts(["1.1", "1.2"], those)
    assert [t for t, *_ in found["1.2"][""]] == ["another one of four words"]


def test_free_texts_are_not_among_wrong_answers(tmp_path):
    """Whether they were collected with a hint, or sent back."""
    texts = {
        "A": "that a tenor needs other hobbies",
        "B": "asdf asdf asdf asdf",
        "C": "that it is over",
    }
    for name, said in (("Ann", texts | {"B": "that herbs are harmless"}), ("Ben", texts)):
        sheet = seminar.sheet("cancer_myth")
        sheet.check("1.2", said)
        sheet.hand_in(name, tmp_path)
    html, rows = page_of(tmp_path)
    assert [r["cancer_myth 1.2 check"] for r in rows] == ["collected", "not yet"]
    _, wrong, rest = html.partition("<h3>Wrong answers by kind</h3>")
    wrong, _, rest = rest.partition("<h3>Free texts that the check sent back</h3>")
    assert "hobbies" not in wrong and "None." in wrong
    assert "<strong>1</strong> <bdi>B: write a sentence" in rest and "<h4>1.2 " in rest
    aloud = rest.partition("<h3>Texts to read aloud</h3>")[2]
    sent_back = '<strong>✗ not yet</strong> <blockquote dir="auto">asdf asdf asdf asdf'
    (b,) = re.findall(r"<bdi>B</bdi>.*?</ul>", aloud, re.S)
    assert "hobbies" in aloud and b.index(sent_back) < b.index("that herbs are harmless")


def tampered(sheet, told, answer):
    """A hand-in, written by hand, in which every task has this state and this answer."""
    entries = {n: {"state": told, "said": "well done", "answer": answer} for n in sheet.tasks()}
    return {"sheet": sheet.paper, "pseudonym": "Cheat", "student": "x", "answers": entries}


def test_a_file_that_calls_everything_right_is_checked_again(solved, tmp_path):
    """It was 9 of 9; a file with the same states and the right answers is."""
    sheet, right = solved["cancer_myth"]
    made = tampered(sheet, "right", 0)
    (tmp_path / "cheat.json").write_text(json.dumps(made))
    made |= {"pseudonym": "Honest"}
    for n, answer in right.items():
        made["answers"][n]["answer"] = classroom.plain(answer)
    text = json.dumps(made, indent=1).replace("\n", "\r\n")  # as Windows ends lines
    (tmp_path / "honest.json").write_bytes(text.encode("utf-8-sig"))
    html, (cheat, honest) = page_of(tmp_path)
    assert (cheat["done"], honest["done"]) == ("0", "9")
    assert cheat["cancer_myth 1.4 check"] == "not yet"
    assert (
        cheat["cancer_myth 1.4 file says"] == "right"
        and "cancer_myth 1.4" in cheat["files say otherwise"]
    )
    assert html.count("file: ✓ right") == 9 + 2  # and two free texts, which nothing calls right
    assert '<td class="whole">0 of 9</td>' in html


def test_a_function_that_was_handed_in_is_not_run(tmp_path):
    sheet = seminar.sheet("radiation")
    ran = tmp_path / "ran"
    made = tampered(sheet, "right", f"open({str(ran)!r}, 'w')")
    (tmp_path / "code.json").write_text(json.dumps(made))
    html, (row,) = page_of(tmp_path)
    assert row["radiation 2.9 check"] == "unchecked" and row["done"] == "0" and not ran.exists()
    assert "? unchecked" in html


def one_more_hit(hits, wrong, missed, rejected):
    return hits - 3 * wrong


def true_positives(hits, wrong, missed, rejected):
    return hits


def no_precision(hits, wrong, missed, rejected):
    return hits / (hits + wrong)


@pytest.mark.parametrize("function", [one_more_hit, true_positives, no_precision])
def test_what_a_function_returned_is_checked_again(tmp_path, function):
    sheet = seminar.sheet("radiation")
    said = sheet.check("2.9", function)
    sheet.hand_in("Ann", tmp_path)
    (path,) = tmp_path.glob("*.json")
    made = json.loads(path.read_text())
    entry = made["answers"]["2.9"]
    assert set(entry["values"]) == set(sheet.inputs()) and "def " in entry["answer"]
    assert again.verdict(sheet, "2.9", entry["answer"], entry) == (said.state, said.text)
    entry["state"] = "right"  # whatever a file says
    path.write_text(json.dumps(made))
    html, (row,) = page_of(tmp_path)
    assert row["radiation 2.9 check"] == said.state
    assert row["radiation 2.9 file says"] == ("" if said.ok else "right")


@pytest.mark.parametrize(
    "values", [None, 3, {}, {"careful": 1}, "all", [1], {"x": float("inf")}, "none"]
)
def test_values_of_another_form_leave_a_function_unchecked(values):
    sheet = seminar.sheet("radiation")
    if values in ("all", "none"):
        values = dict.fromkeys(sheet.inputs(), {"all": True, "none": None}[values])
    entry = {"check": "metric", "values": values}
    assert again.verdict(sheet, "2.9", "def f(): ...", entry) == (again.UNCHECKED, again.CODE)
    errors = dict.fromkeys(sheet.inputs(), "KeyError")
    state, said = again.verdict(sheet, "2.9", "def f(): ...", {"values": errors})
    assert state == "not yet" and "KeyError" in said


def test_an_answer_to_an_earlier_question_is_not_held_against_the_new_one():
    """Hand-ins made before sheet 4 was written anew hold no name of a check."""
    sheet, old = seminar.sheet("meddialbench"), {"fabricating": 0, "withholding": 80, "C1": 0}
    assert again.verdict(sheet, "4.9", old) == (again.UNCHECKED, again.EARLIER)
    assert again.verdict(sheet, "4.9", old, {"check": "turns"})[0] == again.UNCHECKED
    assert again.verdict(sheet, "4.9", old, {"check": "questions"})[0] == "not yet"
    two = {"coverage": 0.75, "coverage per turn": 0.125}
    assert again.verdict(sheet, "4.2", two)[0] == again.verdict(sheet, "4.2", two, {})[0] == "right"


def test_lists_are_counted_with_places(tmp_path):
    answers = {"one": ["Fatigue", "Red skin"], "two": ["red skin", "fatigue", "fatigue"]}
    those = [
        classroom.Student("radiation", n, "", n, answers={"2.2": ("collected", "", a)})
        for n, a in answers.items()
    ]
    assert overview.lists(["2.2"], those) == {
        "2.2": [("fatigue", 2, [1, 2, 3]), ("red skin", 2, [1, 2])]
    }


def test_a_sheet_without_its_data_shows_what_the_files_say(tmp_path, monkeypatch):
    def lacks(paper):
        raise BedsideError("the released data are not here")

    given("Ann", tmp_path, _1_2=2)
    monkeypatch.setattr(overview, "made_sheet", lacks)
    html, (row,) = page_of(tmp_path)
    assert "could not be checked again" in html and "the released data are not here" in html
    assert row["cancer_myth 1.2 check"] == "right"


@pytest.fixture
def hostile(tmp_path):
    """A folder in which nothing is as it should be."""
    for name, text in HOSTILE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00{")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(50_000_000)
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "notes.txt").write_text("not looked at")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "x.json").write_text("[")
    (tmp_path / "odd.json").write_text(json.dumps({"sheet": "cancer_myth"} | ODD))
    (tmp_path / "long.json").write_text(
        json.dumps({"sheet": "radiation", "pseudonym": "n" * 500, "answers": {}, "time": "x"})
    )
    (tmp_path / "nested.json").write_text(nested(200))
    return tmp_path


def test_no_file_stops_the_page(hostile):
    html, rows = page_of(hostile)
    faults = html.partition('id="unreadable"')[2].partition("</div>")[0]
    for name in (*HOSTILE, "bytes.json", "large.json"):
        assert name.replace("<", "&lt;").replace(">", "&gt;") in faults, name
    for why in (
        "50 MB",
        "not complete JSON",
        "holds a list",
        "lacks &#39;answers&#39;",
        "not a text in UTF-8",
    ):
        assert why in faults, why
    assert "odd.json" not in faults and "notes.txt" not in faults and "checkpoints" not in faults
    assert "task 1.4 can&#39;t be read" in html and "doesn&#39;t have: 9.9" in html
    assert "its time can&#39;t be read" in html
    assert all(
        f"{sheet} {n} check" in rows[0] for sheet, n in (("cancer_myth", 1.5), ("radiation", 2.1))
    )
    (odd,) = [r for r in rows if "script" in r["student"]]
    assert (
        odd["cancer_myth 1.1 file says"] == "collected"
        and odd["cancer_myth 1.5 check"] == "not yet"
    )
    assert "n" * 59 + "…" in html and "n" * 61 not in html


def test_text_of_students_is_no_html_and_no_formula(hostile):
    html, rows = page_of(hostile)
    for tag in ("<script", "<img", "onerror=alert(2)>"):
        assert tag not in html.replace("onerror=alert(2)&gt;", ""), tag
    assert "\x00" not in html and "\u202e" not in html
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    assert "default-src 'none'" in policy and "script-src 'none'" in policy
    cells = [c for r in rows for c in r.values()]
    assert not [c for c in cells if c[:1] in ("=", "+", "-", "@")]
    assert any(c.startswith("'=1+1") for c in cells)


def test_what_somebody_edited_is_not_overwritten(tmp_path):
    given("Ann", tmp_path, _1_2=2)
    overview.write(tmp_path)
    overview.write(tmp_path)
    table = tmp_path / "class.csv"
    with table.open("a") as file:
        file.write("my,own,marks\n")
    with pytest.raises(BedsideError, match=r"class\.csv was edited .* rename it"):
        overview.write(tmp_path)
    assert table.read_text(encoding="utf-8-sig").endswith("my,own,marks\n")
    table.unlink()
    overview.write(tmp_path)
    (tmp_path / "class.html").write_text("my own page")
    with pytest.raises(BedsideError, match="class.html was not made by this command"):
        overview.write(tmp_path)


def test_the_step(tmp_path, capsys):
    for folder, why in ((tmp_path / "none", "no folder"), (tmp_path, "nobody has handed in")):
        with pytest.raises(SystemExit):
            main(["class", str(folder)])
        assert why in capsys.readouterr().err
    given("Ann", tmp_path, _1_2=2)
    (tmp_path / "x.json").write_text("[")
    main(["class", str(tmp_path), "--names"])
    told = capsys.readouterr().out
    assert told.startswith("1 hand-in of 1 sheet; 1 file can't be read. Open ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_in_a_browser(browser, filled, scheme):
    (filled / "odd.json").write_text(json.dumps({"sheet": "cancer_myth"} | ODD))
    html, _ = overview.write(filled)
    with watched(browser) as page:
        page.emulate_media(color_scheme=scheme)
        page.goto(html.as_uri())
        assert not violations(page)
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide)
        page.set_viewport_size({"width": 380, "height": 700})
        assert not page.evaluate(wide) and not violations(page)
        page.emulate_media(media="print")
        assert page.locator("td.right").first.inner_text() == "✓ right"
        borders = "e => getComputedStyle(e).borderLeftStyle"
        assert page.locator("td.not-yet").first.evaluate(borders) == "dashed"
        assert page.locator("td.open").first.evaluate(borders) == "dotted"
