"""The zip for students: their sheets, the library, sample data, graded replies."""

import zipfile

from bedside.read import paths

from . import display

NAME = "bedside-seminar.zip"
NEEDED = (
    "LICENSE",
    "Makefile",
    "README.md",
    "environment.yml",
    "pyproject.toml",
    "requirements.lock",
    "seminar.lock",
    "start.py",
    "data/*.toml",
    "data/claims",
    "data/prompts",
    "data/published",
    "data/sample",
    "data/seen",
    "figures/sample/*/trust_*.json",
    "lib/bedside",
)  # from the checkout
FETCHED = "data/fetched.txt"  # names of the sources that start.py fetches


def hand_out(folder, needed=()):
    """Write the zip beside the editions in `folder` and return it; the same bytes each time.

    needed: sources that the students' copy fetches at its first start; nothing of them is in it.
    """
    tops = [top for pattern in (*NEEDED, *kept()) for top in paths.ROOT.glob(pattern)]
    found = [p for top in tops for p in ([top] if top.is_file() else top.rglob("*"))]
    files = {
        p.relative_to(paths.ROOT).as_posix(): p.read_bytes()
        for p in found
        if p.is_file() and "__pycache__" not in p.parts
    }
    sheets = sorted((folder / "students").glob("*.ipynb"))
    files |= {f"seminar/{p.name}": p.read_bytes() for p in sheets}
    start = paths.NOTEBOOKS / "seminar" / ("public/START.md" if needed else "START.md")
    files["START.md"] = start.read_bytes()
    if needed:
        files[FETCHED] = "".join(f"{name}\n" for name in needed).encode()
    path = folder / NAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"bedside-seminar/{name}", (1980, 1, 1, 0, 0, 0))
            z.writestr(entry, files[name], zipfile.ZIP_DEFLATED)
    return path


def kept():
    """The files with what the sheets read of the studies' notebooks."""
    for paper, sections in display.READ.items():
        for section in sections:
            yield f"figures/sample/{paper}/graded_{section}.csv"
            yield f".cache/graded/sample/{paper}/{section}.jsonl"
