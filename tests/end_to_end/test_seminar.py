"""`make seminar`: two editions of each sheet, and what is handed out to students and shown."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from bedside import BedsideError, seminar
from bedside.__main__ import main
from bedside.build.notebooks import execute
from bedside.seminar import demo, editions, handout
from browser import violations, watched

SOURCES = editions.sources()
TOP = "bedside-seminar/"
OURS = {"solution", "instructor"}  # tags of cells that students don't get


def third(path, out, given):
    """Run the third sheet alone, for the fast tests."""
    if path.name[0] == "3":
        execute(path, out, given)
    else:
        unrun(path, out, given)


def unrun(path, out, given):
    """Run no sheet."""
    if path != out:
        shutil.copy(path, out)


@pytest.fixture(scope="module")
def built(request, tmp_path_factory):
    """The zip, in the folder of all that was built."""
    with pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("markexpr") == "not slow":
            patch.setattr(editions, "execute", third)
        return editions.build(tmp_path_factory.mktemp("seminar") / "made")


def notebook(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def theirs(cell):
    """Whether a cell is for instructors only."""
    return bool(OURS & set(cell["metadata"].get("tags", [])))


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
    elsewhere = ("notebooks/seminar", "external", "/public/", "sample/explorer")
    assert not [n for n in names if any(part in n for part in elsewhere)]
    for path in SOURCES:
        cells, students = notebook(path)["cells"], notebook(built.parent / "students" / path.name)
        ours = [c for c in cells if theirs(c)]
        assert [c for c in cells if c not in ours] == students["cells"]
        assert {t for c in ours for t in c["metadata"]["tags"]} >= OURS
        solved = notebook(built.parent / "instructors" / path.name)["cells"]
        assert sum(map(theirs, solved)) == len(ours)
        shown = words((built.parent / "instructors" / f"{path.stem}.html").read_text("utf-8"))
        for c in ours:
            assert json.dumps(source(c), ensure_ascii=False)[1:-1] not in text, source(c)
            assert len(words(source(c))) < 30 or words(source(c)) not in shown, source(c)


def test_the_sheet_that_was_run_shows_its_checks(built):
    solved = notebook(next((built.parent / "instructors").glob("3_*.ipynb")))
    said = [line[0] for line in editions.said(solved) if " Task " in line[:7]]
    assert len(said) == 9 and set(said) <= {"✓", "✎"}


def test_a_solution_that_does_not_pass_stops_the_build(tmp_path, monkeypatch):
    path = tmp_path / "3_wrong.ipynb"
    made = notebook(SOURCES[2])
    cells = ["from bedside import seminar", "seminar.sheet('medhalu').check('3.9', 'x')"]
    code = next(c for c in made["cells"] if c["cell_type"] == "code")
    title = next(c for c in made["cells"] if c["cell_type"] == "markdown")
    made["cells"] = [title, *({**code, "id": f"c{k}", "source": c} for k, c in enumerate(cells))]
    path.write_text(json.dumps(made))
    monkeypatch.setattr(editions, "sources", lambda profile: [path])
    with pytest.raises(BedsideError, match="3_wrong.ipynb.*Task 3.9"):
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


PAPERS = ("cancer_myth", "radiation", "medhalu", "meddialbench")


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
    sheets = sorted((unpacked / "seminar").glob("*.ipynb"))
    done = python(unpacked, "-c", RUN, *map(str, sheets), path=[tmp_path / "like windows"])
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[0] == str(unpacked) and len(sheets) == 4
    for path in sheets:
        lines = editions.said(notebook(path))
        assert len(lines) >= 9 and not [line for line in lines if line[0] != "…"], path


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
for paper in {PAPERS}:
    seminar.sheet(paper)
"""


def test_the_sheets_need_nothing_that_students_do_not_install(unpacked):
    done = python(unpacked, "-c", STUDENTS_ALONE)
    assert not done.returncode, done.stderr


def test_the_students_copy_opens_each_sheet_and_seminar_changes_nothing_in_it(unpacked):
    first = sorted((unpacked / "seminar").glob("*.ipynb"))[0]
    first.write_text(first.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    before = held(unpacked)
    code = f"from bedside import seminar; [seminar.sheet(p) for p in {PAPERS}]"
    assert not (done := python(unpacked, "-c", code)).returncode, done.stderr
    done = python(unpacked, "-m", "bedside", "seminar")
    assert done.returncode == 1 and "students' copy" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {n: b for n, b in held(unpacked).items() if not n.startswith(".cache")} == {
        n: b for n, b in before.items() if not n.startswith(".cache")
    }


def test_the_zip_has_the_same_bytes_each_time_and_every_system_takes_its_names(built):
    before = built.read_bytes()
    assert handout.hand_out(built.parent).read_bytes() == before
    with zipfile.ZipFile(built) as z:
        names = z.namelist()
        assert not [i.filename for i in z.infolist() if i.external_attr >> 28 == 0o12]  # links
    assert not [n for n in names if re.search(r'[<>:"\\|?*]|[. ](/|$)', n) or len(n) > 140]
    assert len({n.lower() for n in names}) == len(names)


def test_sheets_on_released_data_name_what_is_fetched_and_take_nothing_of_it_along(
    tmp_path, monkeypatch, capsys
):
    made = handout.hand_out(tmp_path, ["cancer_myth_survey_answers"])
    with zipfile.ZipFile(made) as z:
        names = [n.removeprefix(TOP) for n in z.namelist()]
        assert z.read(f"{TOP}data/fetched.txt").split() == [b"cancer_myth_survey_answers"]
    assert not any(n.startswith(("data/external", "figures/public")) for n in names)
    made.unlink()

    def lacking(name):
        raise BedsideError(f"{name} is missing; fetch it with `make data PROFILE=public`")

    monkeypatch.setattr(seminar, "sheet", lacking)
    with pytest.raises(SystemExit):
        main(["seminar", "PROFILE=public", "-p", "into", str(tmp_path / "made")])
    assert "fetch it with `make data PROFILE=public`" in capsys.readouterr().err
    assert not held(tmp_path)


# ---- nothing that somebody has changed is overwritten


@pytest.fixture
def rebuilt(tmp_path, monkeypatch):
    """A folder of both editions and a way to build there again; nothing is run."""
    monkeypatch.setattr(editions, "execute", unrun)
    monkeypatch.setattr(handout, "NEEDED", ("LICENSE",))  # a small zip will do
    folder = tmp_path / "seminar"

    def again():
        return editions.build(folder)

    again()
    return SimpleNamespace(folder=folder, again=again)


def kept(folder):
    """{file: its bytes} of a folder, without the zip, whose bytes follow from the others."""
    return {n: b for n, b in held(folder).items() if not n.endswith(".zip")}


def test_a_build_takes_the_place_of_the_build_before(rebuilt, monkeypatch):
    folder, before = rebuilt.folder, kept(rebuilt.folder)
    (folder / "students" / "notes of mine.txt").write_text("mine")
    monkeypatch.setattr(editions, "sources", lambda profile: SOURCES[1:])
    rebuilt.again()
    there, gone = kept(folder), SOURCES[0].stem
    assert there.pop("students/notes of mine.txt") == b"mine"
    assert before.items() - there.items() == {i for i in before.items() if gone in i[0]}
    assert there.keys() < before.keys() and len(before) - len(there) == 3


@pytest.mark.parametrize(
    "name", ["students/{}.ipynb", "instructors/{}.ipynb", "instructors/{}.html"]
)
def test_what_somebody_saved_or_put_there_stops_the_build(rebuilt, name):
    path = rebuilt.folder / name.format(SOURCES[1].stem)
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    before = held(rebuilt.folder)
    with pytest.raises(BedsideError, match=f"{path.name}. Nothing was overwritten. Rename"):
        rebuilt.again()
    assert held(rebuilt.folder) == before
    mine = path.rename(path.with_suffix(".mine"))
    rebuilt.again()
    assert path.is_file() and f"{path.parent.name}/{mine.name}" in held(rebuilt.folder)
    mine.replace(path)  # another's file under the name of a built one, older than this build
    with pytest.raises(BedsideError, match=path.name):
        rebuilt.again()


@pytest.mark.parametrize("at", [1, 6, 14])  # of fourteen files
def test_a_build_that_is_cut_off_leaves_whole_files_and_the_next_goes_on(rebuilt, monkeypatch, at):
    before, replace, moved = kept(rebuilt.folder), os.replace, []

    def cut(source, target):
        if Path(target).parent.parent == rebuilt.folder or Path(target).parent == rebuilt.folder:
            moved.append(target)
            if len(moved) >= 2 * at:  # each file is written beside its place first
                raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", cut)
        with pytest.raises(KeyboardInterrupt):
            rebuilt.again()
    left = {n: b for n, b in kept(rebuilt.folder).items() if not n.endswith(".part")}
    assert left == before
    rebuilt.again()
    assert kept(rebuilt.folder) == before


def test_an_edited_source_is_handed_out_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(editions, "execute", unrun)
    path, edited = tmp_path / SOURCES[0].name, notebook(SOURCES[0])
    at = next(k for k, c in enumerate(edited["cells"]) if source(c).startswith("## 1.5 "))
    edited["cells"][at]["source"] = "## 1.5 My question\n\nWhat would *you* ask?"
    path.write_text(json.dumps(edited), encoding="utf-8")
    monkeypatch.setattr(editions, "sources", lambda profile: [path])
    with zipfile.ZipFile(editions.build(tmp_path / "made")) as z:
        handed = json.loads(z.read(f"{TOP}seminar/{path.name}"))["cells"]
    assert "What would *you* ask?" in "".join(map(source, handed))
    assert not any(map(theirs, handed))


# ---- to show


def test_the_demonstration_needs_nothing_and_runs_nothing(built, monkeypatch):
    text = (built.parent / demo.NAME).read_text(encoding="utf-8")
    assert "script-src 'none'" in text and not re.search(r'(src|href)="(?!#)', text)
    hostile = demo.patient(demo.PATIENTS[0]) | {"reply": "<script>alert(1)</script>"}
    monkeypatch.setattr(demo, "patient", lambda item: hostile)
    for page in (text, demo.page()):
        assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert sum(n for n, _ in demo.MINUTES) == 15
    sheets = "\n".join(p.read_text(encoding="utf-8") for p in SOURCES)
    assert not [i for i in demo.PATIENTS if i in sheets]


def test_pages_for_the_projector_load_nothing_and_show_the_titles_of_all_tasks(built):
    for path in SOURCES:
        text = (built.parent / "instructors" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert "<script" not in text and "script-src 'none'" in text
        assert not re.search(r'(src|href)="(?!data:|#)', text)
        titles = re.findall(
            r"^## (\d\.\d .+)$", "\n".join(map(source, notebook(path)["cells"])), re.M
        )
        assert len(titles) == 9 and all(words(t) in words(text) for t in titles)
        for failed in ("tasks done", "Nothing was handed in", "Nobody has handed in"):
            assert failed not in text


def test_pages_for_the_projector_are_accessible(built, browser):
    for path in sorted((built.parent / "instructors").glob("*.html")):
        with watched(browser) as page:
            page.goto(path.as_uri())
            assert not violations(page), path.name
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
