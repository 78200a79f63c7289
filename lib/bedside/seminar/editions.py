"""The build of the two editions, made from one source, and of all that is handed out with them.

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
from bedside.read.sources import registry

from . import built, demo, handout, projector

FOLDER = paths.ROOT / "seminar"
EDITIONS = "students", "instructors"
OURS = {"solution", "instructor"}  # tags of the cells that students don't get
PASSES, FAILS = ("✓", "✎"), ("✗", "…")  # how feedback begins


def sources(profile: str = "sample") -> list[Path]:
    """The sheets' sources in order; with `public`, those on the papers' released data."""
    folder = paths.NOTEBOOKS / "seminar" / ("" if profile == "sample" else profile)
    return sorted(folder.glob("[0-9]*.ipynb"))


def said(notebook):
    """The feedback in an executed notebook, one line each."""
    outputs = [o for c in notebook["cells"] for o in c.get("outputs", [])]
    texts = ["".join(o.get("data", {}).get("text/plain", o.get("text", ""))) for o in outputs]
    lines = [line for text in texts for line in text.splitlines()]
    return [line for line in lines if line.startswith((*PASSES, *FAILS))]


def build(folder: Path | None = None, profile: str = "sample") -> Path:
    """Write both editions, projector pages, the students' zip, and for the sample a demonstration.

    folder: seminar/, or a folder in it for other profiles. Returns the zip. The instructors' sheets
    are run, so that solutions and results can be read. BedsideError, and nothing is changed, if a
    solved sheet doesn't run through, a check in it isn't passed, or a file is no longer as built.
    """
    found = sources(profile)
    if not found:
        raise BedsideError(_none(profile))
    folder = Path(folder or (FOLDER if profile == "sample" else FOLDER / profile))
    built.refuse_changed([folder / who / p.name for who in EDITIONS for p in found])
    needed = [] if profile == "sample" else _needed(found)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        for who in EDITIONS:
            (made / who).mkdir()
            for source in found:
                _write(made / who / source.name, edition(source, who == "students"))
        for source in found:
            _run(made / "instructors" / source.name, made)
        handout.hand_out(made, needed)
        if profile == "sample":
            paths.write(made / demo.NAME, demo.page())
        _place(made, folder)
    return folder / handout.NAME


def edition(source, students):
    """A source as notebook without outputs, for students or for instructors.

    Students don't get the cells for instructors; in the instructors' edition these are marked.
    """
    made = json.loads(source.read_text(encoding="utf-8"))
    made["cells"] = [c for c in made["cells"] if not (students and OURS & _tags(c))]
    for c in made["cells"]:
        if "instructor" in _tags(c):
            c["source"] = "".join(f"> {line}" for line in "".join(c["source"]).splitlines(True))
        elif "solution" in _tags(c):
            c["source"] = f"# a solution\n{''.join(c['source'])}"
        if c["cell_type"] == "code":
            c["outputs"], c["execution_count"] = [], None
    return made


def _tags(cell):
    return set(cell["metadata"].get("tags", []))


def _place(made, folder):
    """Put all files of the folder `made` into another, in place of what was built there before.

    A build that is cut off leaves each file either old or new, and the next goes on from there.
    """
    new = {folder / p.relative_to(made): p for p in sorted(made.rglob("*")) if p.is_file()}
    built.refuse_changed(list(new))
    for path, source in new.items():
        built.put(path, source.read_bytes())
    for path in (p for who in EDITIONS for p in (folder / who).iterdir() if p not in new):
        if built.is_ours(path):
            path.unlink()


def _none(profile):
    """Why a profile has no sources."""
    here = sorted(FOLDER.glob("[0-9]*.ipynb"))
    if profile == "sample" and here:
        return (
            f"this is the students' copy: its {len(here)} sheets are in {paths.rel(FOLDER)}"
            " already. Nothing was changed."
        )
    return f"there are no sheets of profile {profile} here"


def _needed(found):
    """The sources of these sheets; BedsideError, which says how to get them, if one isn't here."""
    text = "".join(path.read_text(encoding="utf-8") for path in found)
    papers = sorted(set(re.findall(r'seminar\.sheet\(\\"(\w+)\\"\)', text)))
    opened = [seminar.sheet(p) for p in papers]
    read = {name for sheet in opened for name in (*sheet.run.part()["data"], *sheet.also)}
    return sorted(read.intersection(registry()))


def _run(path, made):
    """Run a sheet's instructors' edition, and the students' edition for the projector."""
    execute(path, path, {})
    lines = said(json.loads(path.read_text(encoding="utf-8")))
    if failed := [line for line in lines if line.startswith(FAILS)]:
        raise BedsideError(f"{path.name}: the solutions don't pass: {failed[0]}")
    unsolved = made / path.name
    execute(made / "students" / path.name, unsolved, {})
    text = projector.page(unsolved)
    paths.write(path.with_suffix(".html"), text)
    unsolved.unlink()


def _write(path, notebook):
    paths.write(path, json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
