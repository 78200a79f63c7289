"""The seminar: solved sheets pass, unsolved ones run, and what students get holds no solution."""

import json
import os
import subprocess
import sys
import zipfile

import pytest

from bedside import BedsideError, seminar
from bedside.notebooks import execute
from bedside.seminar import editions

TASKS = 9  # of each sheet
RUN = (
    "import sys; from bedside import paths; from bedside.notebooks import execute;"
    " print(paths.ROOT); [execute(p, p, {}) for p in sys.argv[1:]]"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return editions.build(tmp_path_factory.mktemp("seminar") / "made")


def notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def theirs(cell):
    """Whether a cell is for instructors only."""
    return bool(editions.OURS & set(editions.tags(cell)))


def marks(lines):
    """The marks of what checks of tasks said."""
    return [line[0] for line in lines if " Task " in line[:7]]


def test_solved_sheets_pass_every_check(built):
    sheets = sorted((built.parent / "instructors").glob("*.ipynb"))
    assert len(sheets) == 4
    for path in sheets:
        made = notebook(path)
        assert marks(editions.said(made)) == ["✓"] * TASKS, path.name
        begins = {"markdown": "> ", "code": "# a solution\n"}
        apart = [source(c).startswith(begins[c["cell_type"]]) for c in made["cells"]]
        assert sum(apart) == sum(map(theirs, made["cells"])) > 2 * TASKS


def test_students_get_no_solution_and_no_note_for_instructors(built):
    with zipfile.ZipFile(built) as z:
        names = z.namelist()
        text = "\n".join(z.read(n).decode() for n in names if n.endswith((".ipynb", ".md")))
    assert not [n for n in names if "notebooks/seminar" in n or "external" in n or "/public/" in n]
    for path in editions.sources():
        students, cells = notebook(built.parent / "students" / path.name), notebook(path)["cells"]
        ours = [c for c in cells if theirs(c)]
        assert sum("solution" in editions.tags(c) for c in ours) >= TASKS
        assert any("instructor" in editions.tags(c) for c in ours)
        assert not any(map(theirs, students["cells"]))
        assert [c for c in cells if c not in ours] == students["cells"]
        for c in ours:
            assert json.dumps(source(c), ensure_ascii=False)[1:-1] not in text, source(c)


def test_students_get_what_the_library_reads(built):
    with zipfile.ZipFile(built) as z:
        names = {n.removeprefix("bedside-seminar/") for n in z.namelist()}
    for needed in (
        "data/papers.toml",
        "data/claims/medhalu.csv",
        "data/published/medhalu.csv",
        "data/prompts/medhalu",
        "data/sample/medhalu",
        "lib/bedside/papers/medhalu/study.py",
        "lib/bedside/seminar/medhalu/sheet.py",
        "lib/bedside/explorer",
    ):
        assert any(n == needed or n.startswith(f"{needed}/") for n in names), needed


def test_the_hand_out_runs_unsolved_where_it_is_unpacked(built, tmp_path):
    with zipfile.ZipFile(built) as z:
        z.extractall(tmp_path)
    root = tmp_path / "bedside-seminar"
    assert (root / "START.md").is_file() and (root / "Makefile").is_file()
    sheets = sorted((root / "seminar").glob("*.ipynb"))
    here = {"BEDSIDE_ROOT": str(root), "PYTHONPATH": str(root / "lib")}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, sheets)],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, **here},
    )
    assert done.returncode == 0 and done.stdout.split()[0] == str(root), done.stderr[-2000:]
    for path in sheets:
        lines = editions.said(notebook(path))
        assert marks(lines) == ["…"] * TASKS, path
        assert not any(line[0] != "…" for line in lines), path


def test_the_zip_has_the_same_bytes_each_time(built):
    before = built.read_bytes()
    assert editions.hand_out(built.parent).read_bytes() == before


SHEET = """from bedside import seminar
class Sheet(seminar.Sheet):
    @seminar.task('1', 'A number.')
    def one(self, n):
        if n != 1: raise seminar.Wrong('look again')
        return 'yes'"""


def test_a_solution_that_does_not_pass_stops_the_build(tmp_path, monkeypatch):
    path = tmp_path / "1_wrong.ipynb"
    made = notebook(editions.sources()[0])
    cells = [SHEET, "answer = ...", "answer = 2", "Sheet().check('1', answer)"]
    made["cells"] = [
        {
            "cell_type": "code",
            "id": f"c{k}",
            "metadata": {"tags": ["solution"] * (k == 2)},
            "outputs": [],
            "execution_count": None,
            "source": [c],
        }
        for k, c in enumerate(cells)
    ]
    path.write_text(json.dumps(made))
    monkeypatch.setattr(editions, "sources", lambda: [path])
    with pytest.raises(BedsideError, match="don't pass: ✗ Task 1: look again"):
        editions.build(tmp_path / "made")
    students = tmp_path / "students.ipynb"
    students.write_text(json.dumps(editions.edition(path, students=True)))
    execute(students, students, {})
    assert editions.said(notebook(students)) == ["… Task 1: not answered yet. A number."]


class Example(seminar.Sheet):
    @seminar.task("1", "Write two numbers.")
    def pair(self, answer):
        a, b = answer
        if a >= b:
            raise seminar.Wrong("the first is the smaller one")
        return f"{b - a} apart"

    @seminar.needs("1")
    def shown(self, answer):
        return {"low": answer[0]}["low"] / 1


@pytest.mark.parametrize(
    "answer, ok, text",
    [
        ([1, 3], True, "2 apart"),
        ([3, 1], False, "the smaller one"),
        (..., None, "not answered yet. Write two numbers."),
        ([1, ...], None, "not answered"),
        ({}, None, "not answered"),
        ("", None, "not answered"),
        (7, False, "can't be read as an answer. Write two numbers."),
        ([1, "x"], False, "can't be read"),
    ],
)
def test_a_check_says_what_to_do_and_never_raises(answer, ok, text):
    said = Example().check("1", answer)
    assert said.ok is ok and text in said.text and said.text.startswith("Task 1: ")


def test_an_unknown_task_is_named():
    with pytest.raises(BedsideError, match="unknown task '2'.*Valid: 1"):
        Example().check("2", 1)


def test_a_paper_without_a_sheet_is_named():
    with pytest.raises(BedsideError, match="unknown sheet 'none'.*Valid: cancer_myth"):
        seminar.sheet("none")


def test_what_follows_from_a_task_waits_for_it():
    assert Example().shown(...).ok is None and "task 1" in Example().shown([..., 2]).text
    assert Example().shown([4]) == 4 and Example().shown("a").ok is False


def test_feedback_is_escaped():
    assert "<b>" not in seminar.Feedback(False, "<b>")._repr_html_()
