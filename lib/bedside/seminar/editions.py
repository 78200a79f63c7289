"""The build of the two editions, made from one source, and of all that is handed out with them."""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bedside import BedsideError, seminar
from bedside.build.notebooks import execute
from bedside.read import paths
from bedside.read.sources import registry

from . import built, demo, edited, handout, projector
from .edited import EDITIONS

FOLDER = paths.ROOT / "seminar"
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


def build(folder: Path | None = None, profile: str = "sample", mine: bool = False) -> Path:
    """Write both editions, projector pages, the students' zip, and for the sample a demonstration.

    folder: seminar/, or a folder in it for other profiles. mine: hand out the sheets as they were
    edited there, in the folder `mine` in it. Returns the zip. The instructors' sheets are run, so
    that solutions and results can be read. BedsideError, and nothing is changed, if a solved sheet
    doesn't run through, a check in it isn't passed, or somebody has changed what was built before.
    """
    found = sources(profile)
    if not found:
        raise BedsideError(_none(profile))
    home = FOLDER if profile == "sample" else FOLDER / profile
    folder = Path(folder or (home / "mine" if mine else home))
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        sheets = edited.sheets(home, found) if mine else edited.ours(found)
        for name, both in sheets.items():
            for who, sheet in zip(EDITIONS, both):
                (made / who).mkdir(exist_ok=True)
                _write(made / who / name, sheet)
        names = [p.relative_to(made).as_posix() for p in sorted(made.rglob("*.ipynb"))]
        built.refuse_changed(folder, [*names, *built.known(folder)])
        needed = [] if profile == "sample" else _needed(found)
        for name in sheets:
            _run(made / "instructors" / name, made)
        handout.hand_out(made, needed)
        if profile == "sample":
            paths.write(made / demo.NAME, demo.page())
        built.move(made, folder)
    return folder / handout.NAME


def told(folder: Path, profile: str) -> Iterator[str]:
    """In lines, how the sheets of a folder differ from ours, and whose checks they have."""
    known = edited.ours(sources(profile))
    for path in sorted((folder / "instructors").glob("*.ipynb")):
        if path.name not in known:
            yield f"{path.name}: a sheet of yours"
            continue
        students, instructors = (
            list(edited.differences(ours, edited.edition(folder / who / path.name, students=False)))
            for who, ours in zip(EDITIONS, known[path.name])
        )
        yield f"{path.name}: {'; '.join(instructors or students) or 'as ours'}"
    yield from (f"{name}: left out" for name in known if not (folder / "students" / name).is_file())
    yield "the checks are those of lib/bedside/seminar, as they are here"


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
