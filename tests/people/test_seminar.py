"""The seminar: solved sheets pass, unsolved ones run, and what students get holds no solution."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from sheets import answers, space

from bedside import BedsideError, explorer, seminar
from bedside.__main__ import main
from bedside.build.notebooks import execute
from bedside.keep import registry
from bedside.read import paths
from bedside.seminar import built as building
from bedside.seminar import demo, edited, editions, handout
from browser import (
    browser,  # noqa: F401  (a fixture)
    violations,
    watched,
)

TASKS = 9  # of each sheet
RUN = (
    "import sys; from bedside.read import paths; from bedside.build.notebooks import execute;"
    " print(paths.ROOT); [execute(p, p, {}) for p in sys.argv[1:]]"
)


@pytest.fixture(scope="module")
def built(request, tmp_path_factory):
    """The zip; for the fast tests, only one sheet was run."""

    def third(path, out, given):
        if path.name[0] == "3":
            execute(path, out, given)
        elif path != out:
            shutil.copy(path, out)

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
    return bool(edited.OURS & set(edited.tags(cell)))


def marks(lines):
    """The marks of what checks of tasks said."""
    return [line[0] for line in lines if " Task " in line[:7]]


@pytest.mark.parametrize("number, paper", [(1, "cancer_myth"), (3, "medhalu")])
def test_recordings_of_other_models_change_no_sheet(number, paper, tmp_path, monkeypatch):
    """A twin of the embedded model has answered the same requests: its replies would count too."""

    def solutions():
        return answers(number, space(number, seminar.sheet(paper)))

    before = solutions()
    shutil.copytree(paths.RECORDINGS, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("*/sample/smollm2-135m.jsonl"):
        shutil.copy(path, path.with_stem("twin"))
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path)
    monkeypatch.setitem(registry.entries(), "twin", registry.model("smollm2-135m"))
    assert solutions() == before


def test_solved_sheets_pass_every_check(built):
    sheets = sorted((built.parent / "instructors").glob("*.ipynb"))
    assert len(sheets) == 4
    for path in sheets:
        made = notebook(path)
        assert len(said := marks(editions.said(made))) == TASKS, path.name
        assert set(said) <= set(editions.PASSES), path.name
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
        assert sum("solution" in edited.tags(c) for c in ours) >= TASKS
        assert any("instructor" in edited.tags(c) for c in ours)
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


LIKE_WINDOWS = """import asyncio, os, shutil, subprocess, sys, tempfile, types
for name in ("fork", "getuid", "pread", "setsid", "symlink"):
    delattr(os, name)
sys.modules["fcntl"] = None
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, locking=lambda *_: None)
"""  # for Python's sitecustomize; what Python itself needs is imported first


def unpacked(built, folder):
    """The hand-out in a folder with a blank and an umlaut."""
    folder = folder / "Übung Köln" / "mein ordner"
    with zipfile.ZipFile(built) as z:
        z.extractall(folder)
    return folder / "bedside-seminar"


def test_the_hand_out_runs_unsolved_where_it_is_unpacked(built, tmp_path):
    """Without what Windows lacks, too, and with the line ends that it knows."""
    root = unpacked(built, tmp_path)
    for path in root.rglob("*"):
        if path.suffix not in (".ipynb", ".gz", ".parquet", ".zip") and path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (tmp_path / "like" / "windows").mkdir(parents=True)
    (tmp_path / "like" / "windows" / "sitecustomize.py").write_text(LIKE_WINDOWS)
    sheets = sorted((root / "seminar").glob("*.ipynb"))
    found = os.pathsep.join(map(str, (tmp_path / "like" / "windows", root / "lib")))
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, sheets)],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "BEDSIDE_ROOT": str(root), "PYTHONPATH": found},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[0] == str(root)
    for path in sheets:
        lines = editions.said(notebook(path))
        assert marks(lines) == ["…"] * TASKS, path
        assert not any(line[0] != "…" for line in lines), path


def test_the_zip_has_the_same_bytes_each_time(built):
    before = built.read_bytes()
    assert handout.hand_out(built.parent).read_bytes() == before


def test_every_system_takes_the_names_of_the_hand_out(built):
    with zipfile.ZipFile(built) as z:
        names = z.namelist()
        assert not [i.filename for i in z.infolist() if i.external_attr >> 28 == 0o12]  # links
    assert not [n for n in names if re.search(r'[<>:"\\|?*]|[. ](/|$)', n) or len(n) > 140]
    assert len({n.lower() for n in names}) == len(names)


# ---- nothing that somebody has changed is overwritten


def held(folder):
    """{file: its bytes} of a folder."""
    there = (p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in there}


def test_in_the_students_copy_seminar_changes_nothing(built, tmp_path):
    root = unpacked(built, tmp_path)
    first = sorted((root / "seminar").glob("*.ipynb"))[0]
    first.write_text(first.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    before = held(root)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "bedside", "seminar"],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "BEDSIDE_ROOT": str(root), "PYTHONPATH": str(root / "lib")},
    )
    assert done.returncode == 1 and "students' copy: its 4 sheets are in seminar" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and held(root) == before


def made(folder, **files):
    """A folder of freshly built files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_build_takes_the_place_of_what_is_as_built_only(tmp_path):
    folder = tmp_path / "seminar"
    building.move(made(tmp_path / "1", a="a", b="b", c="c"), folder)
    (folder / "mine").write_text("mine")
    (folder / "c").write_text("c, annotated")
    building.move(made(tmp_path / "2", a="A", d="D"), folder)
    there = {n: (folder / n).read_text() for n in held(folder) if n != building.NAME}
    assert there == {"a": "A", "d": "D", "c": "c, annotated", "mine": "mine"}
    (folder / "d").write_text("D, annotated")
    before = held(folder)
    with pytest.raises(BedsideError, match=r"seminar/d\. Nothing .* MINE=1\. .*--folder"):
        building.move(made(tmp_path / "3", a="x", d="x", e="x"), folder)
    assert held(folder) == before
    (folder / "d").rename(folder / "d of mine")
    building.move(tmp_path / "3", folder)
    assert (folder / "d").read_text() == "x"
    assert (folder / "d of mine").read_text() == "D, annotated"


def test_a_folder_that_nothing_is_known_of_is_left_alone(tmp_path):
    folder = made(tmp_path / "seminar", a="older than the list of what was built")
    with pytest.raises(BedsideError, match="changed since"):
        building.move(made(tmp_path / "1", a="new"), folder)
    assert held(folder) == {"a": b"older than the list of what was built"}


@pytest.mark.parametrize("at", range(6))
def test_a_build_that_is_cut_off_loses_nothing_and_the_next_goes_on(tmp_path, monkeypatch, at):
    folder, replace, calls = tmp_path / "seminar", os.replace, []
    building.move(made(tmp_path / "1", a="a", b="b"), folder)
    made(tmp_path / "2", a="A", b="B", c="C")

    def cut(*paths):
        calls.append(paths)
        if len(calls) > at:
            raise KeyboardInterrupt
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(building.os, "replace", cut)
        if at < 5:  # a list, three files, a list
            with pytest.raises(KeyboardInterrupt):
                building.move(tmp_path / "2", folder)
    assert (folder / "a").read_text() in "aA" and (folder / "b").read_text() in "bB"
    building.move(made(tmp_path / "3", a="3", b="3", c="3"), folder)
    assert {(folder / n).read_text() for n in "abc"} == {"3"}


def test_the_build_refuses_before_it_runs_anything(built, monkeypatch):
    sheet = sorted((built.parent / "instructors").glob("*.ipynb"))[1]
    kept, ran = sheet.read_bytes(), []
    monkeypatch.setattr(editions, "_run", lambda *a: ran.append(a))
    saved = notebook(sheet)  # as JupyterLab saves one that was run: this is no change
    for cell in saved["cells"]:
        cell["id"], cell["metadata"]["trusted"] = "new", True
        cell["source"], cell["outputs"] = source(cell).splitlines(keepends=True), []
    sheet.write_text(json.dumps(saved), encoding="utf-8")
    built_folder = building.changed(built.parent, building.known(built.parent))
    assert not built_folder
    saved["cells"][0]["source"] = "# another title"
    sheet.write_text(json.dumps(saved), encoding="utf-8")
    try:
        before = held(built.parent)
        with pytest.raises(BedsideError, match=f"built: [^,]*instructors/{sheet.name}. "):
            editions.build(built.parent)
        assert held(built.parent) == before and not ran
    finally:
        sheet.write_bytes(kept)


def test_public_sheets_stay_in_a_folder_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(editions, "FOLDER", tmp_path)
    monkeypatch.setattr(editions, "_run", lambda *_: None)
    monkeypatch.setattr(editions, "_needed", lambda found: ["radiation_profiles"])
    monkeypatch.setattr(editions, "sources", lambda profile: sorted(SOURCES))
    path = editions.build(profile="public")
    assert path == tmp_path / "public" / handout.NAME
    sheets = {f"{e}/{p.name}" for e in ("students", "instructors") for p in SOURCES}
    assert set(held(tmp_path / "public")) == {building.NAME, handout.NAME, *sheets}
    with zipfile.ZipFile(path) as z:
        top = "bedside-seminar/"
        names = {n.removeprefix(top) for n in z.namelist()}
        assert z.read(f"{top}data/fetched.txt").split() == [b"radiation_profiles"]
        assert b"none of these texts" in z.read(f"{top}START.md")
    assert not any(n.startswith(("data/external", "figures/public")) for n in names)


SOURCES = editions.sources()


# ---- a lecturer's own sheets


def saved(path, made):
    path.write_text(json.dumps(made), encoding="utf-8")


@pytest.fixture
def lectured(tmp_path, monkeypatch):
    """The sheets as built, in a folder to be edited; nothing is run."""
    monkeypatch.setattr(editions, "FOLDER", tmp_path)
    monkeypatch.setattr(editions, "_run", lambda *_: None)
    editions.build()
    return tmp_path


def test_an_edited_instructors_sheet_is_handed_out_with_its_students_edition(lectured):
    name = SOURCES[0].name
    made = notebook(lectured / "instructors" / name)
    cells = made["cells"]
    at = next(k for k, c in enumerate(cells) if source(c).startswith("## 1.5 "))
    cells[at]["source"] = "## 1.5 My question\n\nWhat would *you* ask?"
    solution = {"cell_type": "code", "metadata": {}, "source": "# a solution\nmine = 1\n"}
    cells.insert(at + 1, solution | {"outputs": [], "execution_count": 3})  # its tag was lost
    cells[:] = [c for c in cells if 'sheet.check("1.9"' not in source(c)]
    saved(lectured / "instructors" / name, made)
    before = held(lectured)
    with zipfile.ZipFile(path := editions.build(mine=True)) as z:
        theirs = json.loads(z.read(f"bedside-seminar/seminar/{name}"))
    text = "\n".join(map(source, theirs["cells"]))
    assert "What would *you* ask?" in text and "mine = 1" not in text
    assert "seminar.sheet(\"cancer_myth\", without=['1.9'])" in text
    assert path.parent == lectured / "mine" and before.items() <= held(lectured).items()
    told = "\n".join(editions.told(path.parent, "sample"))
    assert "in “1.5 My question”" in told and "left out in “1.9 Your own rule" in told
    assert told.count("as ours") == 3


def test_a_students_sheet_can_be_edited_alone_but_not_both(lectured):
    students, instructors = (lectured / who / SOURCES[0].name for who in edited.EDITIONS)
    for path, word in ((students, "theirs"), (instructors, "ours")):
        made = notebook(path)
        made["cells"][0]["source"] = f"# {word}"
        saved(path, made)
        if path == students:
            known = edited.sheets(lectured, SOURCES)[students.name]
            assert [source(k["cells"][0])[:8] for k in known] == ["# theirs", "# 1. Thr"]
    with pytest.raises(BedsideError, match=f"{students.name}: both editions were edited"):
        edited.sheets(lectured, SOURCES)
    students.write_text("[]")
    with pytest.raises(BedsideError, match=f"students/{students.name} is no notebook"):
        edited.sheets(lectured, SOURCES)


def test_without_a_first_build_there_is_nothing_to_edit(tmp_path):
    with pytest.raises(BedsideError, match="run `make seminar` first"):
        edited.sheets(tmp_path, SOURCES)


def test_a_task_that_is_left_out_is_not_asked_for_when_handing_in():
    sheet = seminar.sheet("radiation", without=["2.9"])
    assert list(sheet.tasks())[-1] == "2.9" and "2.9" not in sheet.hand_in().states


def test_public_sheets_say_what_they_lack(tmp_path, monkeypatch, capsys):
    def lacking(name):
        raise BedsideError(f"{name}: is missing; fetch it with `make data PROFILE=public`")

    monkeypatch.setattr(editions, "sources", lambda profile: SOURCES)
    monkeypatch.setattr(seminar, "sheet", lacking)
    with pytest.raises(SystemExit):
        main(["seminar", "--profile", "public", "--folder", str(tmp_path / "made")])
    assert "cancer_myth: is missing; fetch it" in capsys.readouterr().err
    monkeypatch.setattr(editions, "sources", lambda profile: [])
    with pytest.raises(BedsideError, match="no sheets of profile public"):
        editions.build(tmp_path / "made", "public")
    assert not held(tmp_path)


# ---- what is handed out to look at, and to show


@pytest.fixture(scope="module")
def documents(built):
    """The students' explorer and the whole one, as documents."""
    with zipfile.ZipFile(built) as z:
        theirs = z.read(f"bedside-seminar/{handout.PAGE}").decode()
    whole = (paths.ROOT / handout.PAGE).read_text(encoding="utf-8")
    return explorer.read(theirs)[0], explorer.read(whole)[0]


def texts(value):
    """All strings in an answer."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple, set)):
        return {text for each in value for text in texts(each)}
    return {value} if isinstance(value, str) else set()


def answered(document, number, paper):
    """What of a document tells a sheet's answers: items that it asks about, words of solutions."""
    sheet = seminar.sheet(paper)
    solved = texts(answers(number, space(number, sheet)))
    asked = {t for t in solved if re.fullmatch(r"[a-z]+-[\w-]+", t)}
    asked |= set(getattr(sheet, "twelve", ()))
    for frame in vars(sheet).values():  # answers that students grade go by letters
        if {"letter", "item"} <= set(getattr(frame, "columns", ())):
            asked |= set(frame["item"])
    rows = [r for r in document["rows"] if r["paper"] == paper]
    found = {r["item"] for r in rows} & asked
    shared = [document["shared"][key] for r in rows for key in r["shared"]]
    words = json.dumps([rows, shared], ensure_ascii=False)
    return found | {t for t in solved if len(t) > 25 and json.dumps(t)[1:-1] in words}


@pytest.mark.parametrize("number, paper", [(1, "cancer_myth"), (3, "medhalu")])
def test_the_students_explorer_answers_no_task(documents, number, paper):
    theirs, whole = documents
    assert not answered(theirs, number, paper)
    if paper != "radiation":  # whose answers are counts
        assert answered(whole, number, paper)


def test_the_students_explorer_has_no_case_of_a_sheet(documents):
    theirs, whole = documents
    shown = {f"cm-{name}" for name in ("only-1", "risk-2", "symptom-5")} | {"rp-06", "case-2"}
    assert shown <= {r["item"] for r in whole["rows"]}
    assert not shown & {r["item"] for r in theirs["rows"]}
    assert handout.LEFT_OUT in theirs["about"] and len(theirs["rows"]) > 500
    assert {r["paper"] for r in theirs["rows"]} == set(whole["papers"])


def test_the_students_explorer_opens_and_searches(built, tmp_path, browser):  # noqa: F811
    path = unpacked(built, tmp_path) / handout.PAGE
    with watched(browser) as page:
        page.goto(path.as_uri())
        page.wait_for_selector("#app:not([hidden]) .tabulator-row")
        assert handout.LEFT_OUT in page.inner_text("header")
        assert not page.query_selector_all("header a[href]")  # to pages that aren't handed out
        for words, there in (("chemotherapy", True), ("warfarin spinach", False)):
            page.fill("#search", words)
            page.wait_for_function("there => (nothing.hidden) === there", arg=there)


def test_a_page_for_the_projector_shows_each_sheet_without_answers(built):
    for path in SOURCES:
        text = (built.parent / "instructors" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert "<script" not in text and "script-src 'none'" in text
        assert "default-src 'none'" in text and not re.search(r'(src|href)="(?!data:|#)', text)
        plain = handout._plain(text)
        for cell in notebook(path)["cells"]:
            words = handout._plain(source(cell))
            if theirs(cell) and len(words) > 30:
                assert words not in plain
            if cell["cell_type"] == "markdown" and not theirs(cell):
                title = re.match("#+ .*", source(cell))
                assert not title or handout._plain(title[0]) in plain
        for failed in ("tasks done", "Nothing was handed in", "Nobody has handed in"):
            assert failed not in text


@pytest.mark.parametrize("path", [*SOURCES, *editions.sources("public")], ids=lambda p: p.stem)
def test_teachers_learn_first_what_a_class_needs(path):
    notes = [source(c) for c in notebook(path)["cells"] if "instructor" in edited.tags(c)]
    for needed in (
        "`python start.py`",
        "once beforehand",
        "about 450 MB",
        "`handed_in` at the top",
    ):
        assert needed in notes[0], needed
    for note in (notes[0], notes[-1]):
        assert "`make class FOLDER=DIR`" in note and "class FOLDER`" not in note
    whole = "\n".join(map(source, notebook(path)["cells"]))
    assert ("after the first start no network" in whole) == (path in SOURCES)


@pytest.mark.parametrize("path", editions.sources(), ids=lambda p: p.stem)
def test_points_are_for_as_many_tasks_as_are_graded(path):
    notes = [source(c) for c in notebook(path)["cells"] if "instructor" in edited.tags(c)]
    (graded,) = [n for n in notes if "If you must grade" in n or "**Grading.**" in n]
    if number := re.search(r"a reason \((\d)\)", graded):
        assert int(number[1]) == TASKS - 1 and re.search(r"but \d\.\d|Don't grade \d\.\d", graded)


def test_the_step_says_what_each_file_is_for(built, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(editions, "build", lambda *_: built)
    main(["seminar", "--folder", "x"])
    told = capsys.readouterr().out
    here = paths.rel(built.parent)
    assert f"projector: {here}/instructors/*.html, without notes and solutions" in told
    assert f"{here}/instructors/*.ipynb, with notes and solutions (open with `make lab`)" in told
    assert f"students: {paths.rel(built)} (" in told
    assert f"without an installation: {here}/demonstration.html" in told


def test_the_demonstration_needs_nothing_and_gives_no_task_away(built, monkeypatch):
    text = (built.parent / demo.NAME).read_text(encoding="utf-8")
    assert "<script" not in text and "script-src 'none'" in text
    assert not re.search(r'(src|href)="(?!#)', text)
    for sheet in (built.parent / "students").glob("*.ipynb"):
        cells = handout.asked_about(
            {
                "rows": [
                    {
                        "paper": "cancer_myth",
                        "item": i,
                        "title": demo.patient(i)["question"],
                        "reply": "",
                    }
                    for i in demo.PATIENTS
                ]
            },
            [sheet],
        )
        assert not cells
    hostile = demo.patient(demo.PATIENTS[0]) | {"reply": "<script>alert(1)</script>"}
    monkeypatch.setattr(demo, "patient", lambda item: hostile)
    assert "&lt;script&gt;alert(1)" in demo.page() and "<script" not in demo.page()
    assert sum(n for n, _ in demo.MINUTES) == 15


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_projector_pages_are_accessible(built, browser, scheme):  # noqa: F811
    for path in sorted((built.parent / "instructors").glob("*.html")):
        with watched(browser) as page:
            page.emulate_media(color_scheme=scheme)
            page.goto(path.as_uri())
            assert not violations(page), path.name
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 20
