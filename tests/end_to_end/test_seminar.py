"""`make seminar`: two editions of each sheet, and what is handed out to students and shown."""

import html
import json
import os
import re
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import pytest

from bedside import BedsideError
from bedside.read import paths
from bedside.seminar import built as on_disk
from bedside.seminar import demo, editions, sheets, tasks
from browser import violations, watched
from seminar_answers import execute

SOURCES = tasks.texts()
TOP = "bedside-seminar/"


def third(path, out, given):
    """Run the third sheet alone, without a kernel, for the fast tests."""
    if path.name[0] == "3":
        execute(path, out, given)


@pytest.fixture(scope="module")
def built(request, tmp_path_factory):
    """The zip, in the folder of all that was built."""
    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("markexpr") == "not slow":
            patch.setattr(editions, "execute", third)
        return editions.build(tmp_path_factory.mktemp("seminar") / "made")


def notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def ours(path):
    """What is not for students in a sheet: solutions, notes and slides."""
    return [source for _, tag, source in editions.cells(path) if tag in editions.OURS]


def words(text):
    """The words of a page or a cell alone."""
    return re.sub(r"[\W_]+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text))).lower().strip()


def held(folder):
    """{file: its bytes} of a folder."""
    there = (p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in there}


def test_instructors_have_solutions_and_notes_and_students_have_neither(built):
    with zipfile.ZipFile(built) as z:
        names = z.namelist()
        text = "\n".join(z.read(n).decode() for n in names if n.endswith((".ipynb", ".md")))
    elsewhere = ("external", "/public/", "sample/explorer")
    assert not [n for n in names if any(part in n for part in elsewhere)]
    for path in SOURCES:
        solved = words((built.parent / "instructors" / f"{path.stem}.ipynb").read_text("utf-8"))
        students = (built.parent / "students" / f"{path.stem}.ipynb").read_text("utf-8")
        assert len(ours(path)) > 8
        cells = editions.notebook(path, students=False)["cells"]
        notes = [c["source"] for c in cells if c["cell_type"] == "markdown" and c["metadata"]]
        assert not [line for note in notes for line in note.splitlines() if line[:2] != "> "]
        assert {note.replace("\n> ", "\n")[2:] for note in notes} <= {*ours(path)}
        for source in (s for s in ours(path) if len(s.split()) > 8):
            assert json.dumps(source, ensure_ascii=False)[1:-1] not in students + text, source
            assert source not in text and words(source.splitlines()[0])[:40] in solved


def test_a_solution_that_does_not_pass_stops_the_build(tmp_path, monkeypatch):
    path = tmp_path / "3_wrong.md"
    code = "from bedside import seminar\nseminar.sheet('medhalu').check('3.9', 'x')"
    path.write_text(f"# 3. Wrong\n\n```python solution\n{code}\n```\n", encoding="utf-8")
    monkeypatch.setattr(editions.tasks, "texts", lambda: [path])
    monkeypatch.setattr(editions, "execute", execute)
    with pytest.raises(BedsideError, match="3_wrong.md.*Task 3.9"):
        editions.build(tmp_path / "made")
    assert not (tmp_path / "made").exists()


# ---- the zip


LIKE_WINDOWS = """import asyncio, os, shutil, subprocess, sys, tempfile, types
for name in ("fork", "getuid", "pread", "setsid", "symlink"):
    delattr(os, name)
sys.modules["fcntl"] = None
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, locking=lambda *_: None)
"""  # for Python's sitecustomize; what Python itself needs is imported first
RUN = (
    "import sys; from bedside.read import paths; from bedside.build.notebooks import execute;"
    " print(paths.ROOT); [execute(p, p, {}) for p in sys.argv[1:]]"
)


@pytest.fixture
def unpacked(built, tmp_path):
    """The hand-out in an empty folder with a blank and an umlaut."""
    folder = tmp_path / "Übung Köln" / "mein ordner"
    with zipfile.ZipFile(built) as z:
        z.extractall(folder)
    return folder / TOP


def python(root, *arguments, path=()):
    """Run Python in an unpacked hand-out, on its own library."""
    found = os.pathsep.join(map(str, (*path, root / "lib")))
    return subprocess.run(
        [sys.executable, "-B", *arguments],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "BEDSIDE_ROOT": str(root), "PYTHONPATH": found},
    )


def test_the_zip_starts_in_an_empty_folder(unpacked, tmp_path):
    """Without what Windows lacks, too, and with the line ends that it knows."""
    for path in unpacked.rglob("*"):
        if path.suffix not in (".ipynb", ".gz", ".parquet", ".zip") and path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (tmp_path / "like windows").mkdir()
    (tmp_path / "like windows" / "sitecustomize.py").write_text(LIKE_WINDOWS)
    found = sorted((unpacked / "seminar").glob("*.ipynb"))
    done = python(unpacked, "-c", RUN, *map(str, found), path=[tmp_path / "like windows"])
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[0] == str(unpacked) and len(found) == 5
    for path in found:
        lines = editions.feedback(notebook(path))
        assert len(lines) >= 8 and not [line for line in lines if line[0] != "…"], path


STUDENTS_ALONE = f"""import importlib.metadata, re, sys
locked = re.findall(r"(?m)^([\\w.-]+)==", open("seminar.lock").read())
known = importlib.metadata.packages_distributions()

class Lacking:
    def find_spec(name, *_):
        there = {{d.lower().replace("_", "-") for d in known.get(name, ())}}
        if there and not there & {{"bedside", "pip", *locked}}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Lacking)
from bedside import seminar
for paper in {tuple(sheets.READ)}:
    seminar.sheet(paper).names
"""


def test_the_students_copy_opens_each_sheet_with_what_students_install(unpacked):
    done = python(unpacked, "-c", STUDENTS_ALONE)
    assert not done.returncode, done.stderr


def test_a_students_copy_builds_nothing(unpacked, monkeypatch):
    texts = sorted((unpacked / "notebooks/seminar").glob("[0-9]*.md"))
    monkeypatch.setattr(editions.tasks, "texts", lambda: texts)
    with pytest.raises(BedsideError, match="student's copy"):
        editions.build(unpacked / "seminar")


def test_the_zip_is_the_same_each_time_and_every_system_takes_its_names_and_dates(built):
    assert editions.handout(SOURCES) == built.read_bytes()
    with zipfile.ZipFile(built) as z:
        names, infos = z.namelist(), z.infolist()
    assert not [i.filename for i in infos if i.external_attr >> 28 == 0o12]  # links
    assert not [n for n in names if re.search(r'[<>:"\\|?*]|[. ](/|$)', n) or len(n) > 140]
    assert len({n.lower() for n in names}) == len(names)
    assert min(i.date_time for i in infos) > (2020,)


# ---- nothing that somebody has changed is overwritten

FILES = {"students/1.ipynb": b"one", "class.html": b"two", "all.zip": b"three"}


def test_a_build_takes_the_place_of_the_build_before_and_of_nothing_else(tmp_path):
    on_disk.put(tmp_path, FILES)
    (tmp_path / "students" / "notes of mine.txt").write_text("mine")
    on_disk.put(tmp_path, {"class.html": b"new", "all.zip": b"three"})
    there = {n: b for n, b in held(tmp_path).items() if n != on_disk.RECORD}
    mine = {"students/notes of mine.txt": b"mine"}
    assert there == mine | {"class.html": b"new", "all.zip": b"three"}
    (tmp_path / "class.html").write_bytes(b"saved, or put there by hand")
    before = held(tmp_path)
    with pytest.raises(BedsideError, match="class.html. Nothing was overwritten. Rename"):
        on_disk.put(tmp_path, FILES)
    assert held(tmp_path) == before


def test_a_build_that_is_cut_off_leaves_whole_files_and_the_next_goes_on(tmp_path, monkeypatch):
    on_disk.put(tmp_path, FILES)
    new, write, written = {n: b + b" anew" for n, b in FILES.items()}, paths.write, []

    def cut(path, content, **more):
        written.append(path)
        if len(written) > 2:
            raise KeyboardInterrupt
        write(path, content, **more)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(paths, "write", cut)
        on_disk.put(tmp_path, new)
    on_disk.put(tmp_path, new)
    assert {n: b for n, b in held(tmp_path).items() if n in FILES} == new


# ---- to show


def test_the_demonstration_needs_nothing_and_runs_nothing(built, monkeypatch):
    text = (built.parent / demo.NAME).read_text(encoding="utf-8")
    assert "script-src 'none'" in text and not re.search(r'(src|href)="(?!#)', text)
    assert "42 of 42" in text and "1 of 42" in text  # one judge is fooled every time
    hostile = SimpleNamespace(patient=demo.patient)
    monkeypatch.setattr(
        demo, "patient", lambda *a: hostile.patient(*a) | {"reply": "<script>alert(1)</script>"}
    )
    for page in (text, demo.page()):
        assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert sum(map(int, re.findall(r"<li>(\d+) minutes\.", text))) == 15
    assert not [i for i in demo.PATIENTS if any(i in p.read_text("utf-8") for p in SOURCES)]


def test_slides_are_about_twelve_and_load_and_run_nothing(built):
    for path in (built.parent / "instructors").glob("*.slides.html"):
        text = path.read_text(encoding="utf-8")
        assert 11 <= text.count("<section") <= 14, path.name
        assert "<script" not in text and "script-src 'none'" in text
        assert not re.search(r'(src|href)="(?!data:|#)', text)


def test_the_marking_guide_has_every_task_and_what_is_right(built):
    text = words((built.parent / "instructors/marking.html").read_text(encoding="utf-8"))
    for number, task in tasks.table().items():
        assert "asks" not in task or f"{words(number)} {words(task['title'])}" in text, number
    assert "sensitivity 0 825" in text  # by hand: 33 / 40


def test_slides_guide_and_demonstration_are_accessible_and_each_slide_fits_a_screen(built, browser):
    for path in sorted(built.parent.rglob("*.html")):
        with watched(browser, height=720) as page:
            page.goto(path.as_uri())
            assert not violations(page), path.name
            tall = "[...document.querySelectorAll('section')].findIndex(s => s.offsetHeight > 720)"
            assert not path.name.endswith("slides.html") or page.evaluate(tall) == -1, path.name
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path.name
