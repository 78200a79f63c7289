"""The zip for students: their sheets, the library, sample data, graded replies, the explorer.

The explorer leaves out what the sheets ask about, because it would give the answers.
"""

import html
import json
import re
import zipfile

from bedside import explorer
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
PAGE = "figures/sample/explorer.html"
FETCHED = "data/fetched.txt"  # names of the sources that start.py fetches
LEFT_OUT = "The patients, questions and cases of the seminar's sheets are left out."
LONG = 60  # characters; a text longer than this belongs to one item alone


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
    else:
        files[PAGE] = page(sorted((folder / "instructors").glob("*.ipynb"))).encode()
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


def page(sheets):
    """The explorer without what the sheets ask about, and without links to pages not handed out.

    sheets: executed notebooks.
    """
    document, _ = explorer.read((paths.ROOT / PAGE).read_text(encoding="utf-8"))
    text = explorer.html(without(document, asked_about(document, sheets)))
    return re.sub(r"(<nav\b[^>]*>).*?(</nav>)", r"\1\2", text, count=1, flags=re.S)


def asked_about(document, sheets):
    """Items, as (paper, item), that notebooks name or quote: an id, a question, or a reply."""
    text = f" {_plain(' '.join(map(_text, sheets)))} "

    def quoted(row):
        words = (_plain(row[k]) for k in ("title", "reply") if len(row[k]) > LONG)
        return f" {_plain(row['item'])} " in text or any(w[:200] in text for w in words)

    return {(row["paper"], row["item"]) for row in document["rows"] if quoted(row)}


def without(document, items):
    """A document without the rows of these items and those that share a text with them."""
    gone = [r for r in document["rows"] if (r["paper"], r["item"]) in items]
    theirs = {key for r in gone for key in r["shared"]}  # a case's diagnosis, say
    rows = [r for r in document["rows"] if r not in gone and not theirs & set(r["shared"])]
    kept, ids = {key for r in rows for key in r["shared"]}, {r["id"] for r in rows}
    made = {c for r in rows for c in r["calls"]}
    calls = {key: call for key, call in document["calls"].items() if key in made}
    sent = {m for call in calls.values() for m in call["messages"]}
    return {
        **document,
        "about": f"{document['about']} {LEFT_OUT}".strip(),
        "shared": {key: blocks for key, blocks in document["shared"].items() if key in kept},
        "rows": [{**r, "beside": r["beside"] if r["beside"] in ids else ""} for r in rows],
        "calls": calls,
        "messages": {key: m for key, m in document["messages"].items() if key in sent},
    }


def _text(path):
    """All text of a notebook: its cells and their outputs, as they are shown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [o for c in cells for o in c.get("outputs", [])]
    shown = [text for o in outputs for text in (o.get("text", ""), *_shown(o.get("data", {})))]
    return "\n".join("".join(text) for text in [*(c["source"] for c in cells), *shown])


def _shown(data):
    return (data.get(kind, "") for kind in ("text/plain", "text/html", "text/markdown"))


def _plain(text):
    """The words alone, so that tags, punctuation and line ends make no difference."""
    words = html.unescape(re.sub(r"<[^>]+>", " ", text))
    return " ".join(re.sub(r"[\W_]+", " ", words).lower().split())
