"""The two editions, made from one source.

A source (notebooks/seminar/) is the instructors' edition: cells tagged `solution` follow the task
that they solve, and cells tagged `instructor` are notes for instructors. The students' edition
lacks both.
"""

import json
import re
import tempfile
from pathlib import Path

from bedside import BedsideError, seminar
from bedside.build.notebooks import execute
from bedside.read import paths

from . import built, handout, projector

OURS = {"solution", "instructor"}  # tags of the cells that students don't get
FOLDER = paths.ROOT / "seminar"
PASSES, FAILS = ("✓", "✎"), ("✗", "…")  # how feedback begins


def sources(profile: str = "sample") -> list[Path]:
    """The sheets' sources in order; with `public`, those on the papers' released data."""
    folder = paths.NOTEBOOKS / "seminar" / ("" if profile == "sample" else profile)
    return sorted(folder.glob("[0-9]*.ipynb"))


def tags(cell):
    """A cell's tags."""
    return cell["metadata"].get("tags", [])


def edition(source, students):
    """A source as notebook without outputs, for students or for instructors.

    Students don't get the cells of OURS; in the instructors' edition these are marked.
    """
    made = json.loads(source.read_text(encoding="utf-8"))
    made["cells"] = [c for c in made["cells"] if not (students and OURS & set(tags(c)))]
    for c in made["cells"]:
        text = "".join(c["source"])
        if "instructor" in tags(c):
            c["source"] = "".join(f"> {line}" for line in text.splitlines(keepends=True))
        elif "solution" in tags(c):
            c["source"] = f"# a solution\n{text}"
        if c["cell_type"] == "code":
            c["outputs"], c["execution_count"] = [], None
    return made


def said(notebook):
    """The feedback in an executed notebook, one line each."""
    outputs = [o for c in notebook["cells"] for o in c.get("outputs", [])]
    texts = ["".join(o.get("data", {}).get("text/plain", o.get("text", ""))) for o in outputs]
    lines = [line for text in texts for line in text.splitlines()]
    return [line for line in lines if line.startswith((*PASSES, *FAILS))]


def build(folder: Path | None = None, profile: str = "sample") -> Path:
    """Write both editions, pages for a projector and, for the sample, the students' zip.

    folder: seminar/, or a folder in it for other profiles. Returns the zip, or the folder if there
    is none. The instructors' sheets are run, so that solutions and results can be read.
    BedsideError, and nothing is changed, if a solved sheet doesn't run through, a check in it isn't
    passed, or somebody has changed what was built before.
    """
    found = sources(profile)
    if not found:
        raise BedsideError(_none(profile))
    sample = profile == "sample"
    folder = Path(folder or (FOLDER if sample else FOLDER / profile))
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        for name in ("students", "instructors"):
            (made / name).mkdir()
            for source in found:
                _write(made / name / source.name, edition(source, students=name == "students"))
        names = [p.relative_to(made).as_posix() for p in sorted(made.rglob("*.ipynb"))]
        built.refuse_changed(folder, [*names, *built.known(folder)])
        if not sample:
            _check_data(found)
        for source in found:
            _run(source, made)
        if sample:
            handout.hand_out(made)
        built.move(made, folder)
    return folder / handout.NAME if sample else folder


def _none(profile):
    """Why a profile has no sources."""
    here = sorted(FOLDER.glob("[0-9]*.ipynb"))
    if profile == "sample" and here:
        return (
            f"this is the students' copy: its {len(here)} sheets are in {paths.rel(FOLDER)}"
            " already. Nothing was changed."
        )
    return f"there are no sheets of profile {profile} here"


def _check_data(found):
    """Raise BedsideError, which says how to get the data, unless these sheets' data are there."""
    text = "".join(path.read_text(encoding="utf-8") for path in found)
    for name in sorted(set(re.findall(r'seminar\.sheet\(\\"(\w+)\\"\)', text))):
        seminar.sheet(name)


def _run(source, made):
    """Run a sheet's instructors' edition, and the students' edition for the projector."""
    path = made / "instructors" / source.name
    execute(path, path, {})
    lines = said(json.loads(path.read_text(encoding="utf-8")))
    if failed := [line for line in lines if line.startswith(FAILS)]:
        raise BedsideError(f"{paths.rel(source)}: the solutions don't pass: {failed[0]}")
    unsolved = made / f"{source.stem}.ipynb"
    execute(made / "students" / source.name, unsolved, {})
    text = projector.page(unsolved)
    path.with_suffix(".html").write_text(text, encoding="utf-8", newline="\n")
    unsolved.unlink()


def _write(path, notebook):
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
