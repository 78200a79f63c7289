"""The two editions and the hand-out, made from one source.

A source (notebooks/seminar/) is the instructors' edition: cells tagged `solution` follow the task
that they solve, cells tagged `instructor` are notes for who teaches. Students' lacks both.
"""

import json
import re
import shutil
import zipfile
from pathlib import Path

from bedside import BedsideError, paths
from bedside.notebooks import execute

OURS = {"solution", "instructor"}  # tags of the cells that students don't get
FOLDER = paths.ROOT / "seminar"
NEEDED = (
    "LICENSE",
    "Makefile",
    "README.md",
    "environment.yml",
    "pyproject.toml",
    "requirements.lock",
    "data/*.toml",
    "data/claims",
    "data/prompts",
    "data/published",
    "data/sample",
    "data/seen",
    "data/recordings/*/sample",
    "figures/sample/*/trust_*.json",
    "figures/sample/explorer.html",
    "lib/bedside",
    "notebooks/*/[0-9][0-9]_*.ipynb",
)  # of the checkout, for students


def sources(profile="sample"):
    """The sheets' sources in order; with `public` those on the papers' released data."""
    folder = paths.NOTEBOOKS / "seminar" / ("" if profile == "sample" else profile)
    return sorted(folder.glob("[0-9]*.ipynb"))


def tags(cell):
    """A cell's tags."""
    return cell["metadata"].get("tags", [])


def edition(source, students):
    """A source as notebook without outputs, for students or for instructors.

    Students' lacks what is not theirs; in the instructors' it is told apart.
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
    """What the checks of a notebook that has run say, a line each."""
    outputs = [o for c in notebook["cells"] for o in c.get("outputs", [])]
    texts = ["".join(o.get("data", {}).get("text/plain", o.get("text", ""))) for o in outputs]
    lines = [line for text in texts for line in text.splitlines()]
    return [line for line in lines if line.startswith(("✓", "✗", "…"))]


def build(folder=None):
    """Write both editions and the students' zip; returns the zip.

    The instructors' are run, so that solutions and results can be read. BedsideError if a solved
    sheet doesn't run through, or a check in it isn't passed.
    """
    folder = Path(folder or FOLDER)
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("students", "instructors"):
        (folder / name).mkdir(parents=True)
        for source in sources():
            made = edition(source, students=name == "students")
            text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
            (folder / name / source.name).write_text(text, encoding="utf-8")
    for source in sources():
        path = folder / "instructors" / source.name
        execute(path, path, {})
        lines = said(json.loads(path.read_text(encoding="utf-8")))
        if failed := [line for line in lines if not line.startswith("✓")]:
            raise BedsideError(f"{paths.rel(source)}: the solutions don't pass: {failed[0]}")
    return hand_out(folder)


def hand_out(folder):
    """The zip for students: their edition, the library, sample data and recordings.

    It has no solutions, and the same bytes each time.
    """
    tops = [top for pattern in NEEDED for top in paths.ROOT.glob(pattern)]
    found = [p for top in tops for p in ([top] if top.is_file() else top.rglob("*"))]
    files = {
        p.relative_to(paths.ROOT).as_posix(): p
        for p in found
        if p.is_file() and "__pycache__" not in p.parts
    }
    files |= {f"seminar/{p.name}": p for p in (folder / "students").glob("*.ipynb")}
    files["START.md"] = paths.NOTEBOOKS / "seminar" / "START.md"
    path = folder / "bedside-seminar.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"bedside-seminar/{name}", (1980, 1, 1, 0, 0, 0))
            content = files[name].read_bytes()
            if name.endswith("/explorer.html"):  # the pages that it links to aren't handed out
                content = re.sub(rb"<nav\b.*?</nav>", b"", content, count=1, flags=re.S)
            z.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path
