"""`make seminar`: two notebooks and slides of each sheet, a marking guide, the students' zip.

A sheet is a text in notebooks/seminar/: Markdown, with code and the tasks' words in fences.
Markdown after `<!-- instructor -->` or `<!-- slide -->`, up to the next fence or mark, is not for
students, nor is code fenced as `python solution` or `python slide`.
"""

import io
import json
import re
import tempfile
import zipfile
from datetime import datetime
from pathlib import Path

from bedside import BedsideError
from bedside.build.notebooks import execute
from bedside.publish import pages
from bedside.publish.pages import executed
from bedside.read import paths

from . import built, demo, sheets, tasks
from . import sheet as opened

FOLDER = paths.ROOT / "seminar"
PART = re.compile(r"^```(python|toml) ?([^\n]*)\n(.*?)^```\n|^<!-- (\w+) -->\n", re.M | re.S)
OURS = {"solution", "instructor", "slide"}  # tags of cells that students don't get
ZIP = "bedside-seminar.zip"
NEEDED = (
    *("LICENSE", "Makefile", "README.md", "environment.yml", "pyproject.toml", "requirements.lock"),
    *("seminar.lock", "start.py", "data/*.toml", "data/claims", "data/prompts", "data/published"),
    *("data/sample", "data/seminar", "data/seen", "figures/sample/*/trust_*.json", "lib/bedside"),
)  # what the zip has of the checkout


def build(folder: Path | None = None) -> Path:
    """Write both editions, slides, marking guide, demonstration and the zip, which it returns.

    The instructors' sheets are run, so that solutions and results can be read. BedsideError, and
    nothing is changed, if a solved sheet doesn't run through, a check in it isn't passed, or a file
    was changed since.
    """
    found, folder = tasks.texts(), Path(folder or FOLDER)
    if not found or "solution" not in found[0].read_text(encoding="utf-8"):
        raise BedsideError("there are no whole sheets here; this may be a student's copy")
    files = {f"students/{p.stem}.ipynb": _bytes(notebook(p, students=True)) for p in found}
    for path in found:
        solved = _run(path)
        files[f"instructors/{path.stem}.ipynb"] = _bytes(solved)
        if "<!-- slide -->" in path.read_text(encoding="utf-8"):
            files[f"instructors/{path.stem}.slides.html"] = slides(solved).encode()
    files["instructors/marking.html"] = marking().encode()
    files[demo.NAME] = demo.page().encode()
    files[ZIP] = handout(found)
    built.put(folder, files)
    return folder / ZIP


def cells(path):
    """The cells of a sheet's text in order: (kind, tag, source); a task's words are kind `toml`."""
    text, tag, at = path.read_text(encoding="utf-8"), "", 0
    for part in [*PART.finditer(text), None]:
        prose = text[at : part.start() if part else None].strip()
        if prose:
            yield "markdown", tag, prose
        if part:
            kind_, more, source, mark = part.groups()
            tag, at = ("" if mark in (None, "text") else mark), part.end()
            if kind_:
                yield "toml" if kind_ == "toml" else "code", more, source.strip()


def notebook(path, students):
    """A sheet as notebook without outputs, for students or for instructors."""
    made = []
    for n, (what, tag, source) in enumerate(cells(path)):
        if what == "toml" or (students and tag in OURS):
            continue
        if tag in ("instructor", "slide") and what == "markdown":
            source = "".join(f"> {line}" for line in source.splitlines(True))
        cell = {"cell_type": what, "id": f"c{n}", "metadata": {"tags": [tag]} if tag else {}}
        cell["source"] = f"# a solution\n{source}" if tag == "solution" else source
        made.append(cell | ({"outputs": [], "execution_count": None} if what == "code" else {}))
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def _bytes(made):
    return (json.dumps(made, indent=1, ensure_ascii=False) + "\n").encode()


def feedback(made):
    """The feedback in an executed notebook, one line each."""
    outputs = [o for c in made["cells"] for o in c.get("outputs", [])]
    texts = ["".join(o.get("data", {}).get("text/plain", o.get("text", ""))) for o in outputs]
    lines = [line for text in texts for line in text.splitlines()]
    return [line for line in lines if re.match("[✓✎✗…] Task ", line)]


def _run(path):
    """The instructors' notebook of a sheet, executed; BedsideError if a solution doesn't pass."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / f"{path.stem}.ipynb"
        place.write_bytes(_bytes(notebook(path, students=False)))
        execute(place, place, {})
        made = json.loads(place.read_text(encoding="utf-8"))
    last = {line.split(":")[0][7:]: line for line in feedback(made)}
    if failed := [line for line in last.values() if line[0] in "✗…"]:
        raise BedsideError(f"{path.name}: the solutions don't pass: {failed[0]}")
    return made


def slides(made):
    """The slides of an executed sheet, one HTML file without scripts."""
    import nbformat

    whole, parts = nbformat.reads(json.dumps(made), 4), []
    for cell in whole.cells:
        if "slide" in cell.metadata.get("tags", []):
            if cell.cell_type == "markdown":
                cell.source = re.sub("^> ?", "", cell.source, flags=re.M)
                parts.append([])
            parts[-1].append(cell)
    bodies = []
    for part in parts:
        whole.cells = part
        body = executed.converted(whole, exclude_input=True, exclude_output_prompt=True)
        bodies.append(re.sub(r"\n\s*\n", "\n", body))  # blank lines take a slide's room
    return pages.template(Path(__file__).with_name("slides.html.j2")).render(
        title="".join(made["cells"][0]["source"]).splitlines()[0].lstrip("# "),
        frame=pages.frame({}),
        slides=bodies,
    )


def marking():
    """The marking guide: of each task what is right, what counts, and usual mistakes, computed."""
    found = []
    for paper in sheets.READ:
        sheet = opened(paper)
        mine = [
            (n, t.get("title", ""), *tasks.guide(t, sheet.names), t)
            for n, t in sheet.tasks().items()
        ]
        found.append((paths.papers()[paper]["name"], mine))
    return pages.template(Path(__file__).with_name("marking.html.j2")).render(
        frame=pages.frame({}), sheets=found
    )


# ---- the zip


def handout(found):
    """The students' zip: their sheets, the library, sample data and graded replies."""
    files = {}
    for top in (top for pattern in (*NEEDED, *_kept()) for top in paths.ROOT.glob(pattern)):
        for p in [top] if top.is_file() else top.rglob("*"):
            if p.is_file() and "__pycache__" not in p.parts:
                files[p.relative_to(paths.ROOT).as_posix()] = p.read_bytes(), p.stat().st_mtime
    for path in found:
        name, when = path.relative_to(paths.ROOT).as_posix(), path.stat().st_mtime
        files[name] = _without_ours(path).encode(), when
        files[f"seminar/{path.stem}.ipynb"] = _bytes(notebook(path, students=True)), when
    start = found[0].parent / "START.md"
    files["START.md"] = start.read_bytes(), start.stat().st_mtime
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as z:
        for name, (content, when) in sorted(files.items()):
            entry = zipfile.ZipInfo(
                f"bedside-seminar/{name}", datetime.fromtimestamp(when).timetuple()[:6]
            )
            z.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _without_ours(path):
    """A sheet's headings and its tasks' words, which the checks read: without any solution."""
    kept = []
    for what, tag, source in cells(path):
        if what == "toml":
            kept.append(f"```toml {tag}\n{source}\n```\n")
        elif what == "markdown" and tag not in OURS:
            kept += [f"{line}\n" for line in source.splitlines() if line.startswith("#")]
    return "\n".join(kept)


def _kept():
    """The files with what the sheets read of the studies' notebooks."""
    for paper, sections in sheets.READ.items():
        for section in sections:
            yield f"figures/sample/{paper}/graded_{section}.csv"
            yield f".cache/graded/sample/{paper}/{section}.jsonl"
