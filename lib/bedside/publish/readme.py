"""What is made of README.md, docs/outputs.md and docs/api.md: findings, scope, outputs, names.

A name's words are its docstring's first line; order, sections and examples are docs/api.toml's.
"""

import inspect
import json
import re

import bedside
from bedside import BedsideError, choose
from bedside.build import notebooks
from bedside.read import findings, paths

from . import scope

README, OUTPUTS, API, EXAMPLES = (
    paths.ROOT / name for name in ("README.md", "docs/outputs.md", "docs/api.md", "docs/api.toml")
)
FINDING = re.compile(r"(<!-- finding (\w+) ([\w-]+) -->\n).*?(<!-- end -->)", re.S)
MADE = re.compile(r"(<!-- \w+: written by `make outputs` -->\n).*(\n<!-- end of \w+ -->)", re.S)
PRINTED = re.compile(r"(?:Table|Figure) \w+(?: \(version \d\))?")


def write() -> list[str]:
    """Write what is made into these pages; return their paths."""
    for page, text in filled().items():
        paths.write(page, text)
    return [paths.rel(page) for page in filled()]


def filled() -> dict:
    """{page: its text}, with what is made between their marks."""
    public = paths.FIGURES / "public"
    entries = json.loads((public / "manifest.json").read_text(encoding="utf-8"))["notebooks"]
    rows = scope.markdown(scope.counted(entries, public))
    made = {README: rows, OUTPUTS: outputs(), API: "\n".join(names())}
    texts = {page: page.read_text(encoding="utf-8") for page in made}
    for page, text in texts.items():
        if not MADE.search(text):
            raise BedsideError(f"{paths.rel(page)}: it lacks the marks around generated text")
        texts[page] = MADE.sub(lambda m, page=page: f"{m[1]}\n{made[page].strip()}\n{m[2]}", text)
    return texts | {README: FINDING.sub(_finding, texts[README])}


def _finding(match):
    known = {f.id: f.finding for f in findings.load(match[2])}
    return f"{match[1]}**{known[choose(match[3], known, 'finding')]}**\n{match[4]}"


def outputs() -> str:
    """A table in Markdown: a line for each notebook, with its outputs in both committed profiles.

    A file that only `public` has says so. Trust cards share one entry.
    """
    lines = ["| notebook | of the paper | files in `figures/<profile>/<paper>/` |", "|---|---|---|"]
    manifests = [paths.FIGURES / p / "manifest.json" for p in ("sample", "public")]
    entries = [json.loads(m.read_text())["notebooks"] for m in manifests if m.is_file()]
    for name in (n for p in paths.papers() for n in entries[0] if n.startswith(f"{p}/")):
        printed, files = {}, {}
        for only, known in zip(("", " (public)"), entries):
            for o in known.get(name, {"outputs": ()})["outputs"]:
                printed |= dict.fromkeys(PRINTED.findall(o["title"][:30]))
                stem, _, form = o["file"].partition(".")
                files.setdefault("trust_*.json" if form == "json" else stem, only)
        shown = ", ".join(f"`{file}`{only}" for file, only in files.items())
        link = f"[{notebooks.title(name)}](../notebooks/{name}.ipynb)"
        lines.append(f"| {link} | {', '.join(printed)} | {shown} |")
    return "\n".join(lines)


def sections() -> list[dict]:
    """The sections of docs/api.toml: title, names ({name: [an example, its result or ""]}).

    before: what its examples need, if anything. Raises BedsideError unless each name that bedside
    offers is there once.
    """
    found = paths.toml(EXAMPLES)["section"]
    listed, offered = [n for section in found for n in section["names"]], sorted(bedside.__all__)
    if sorted(listed) != offered:
        odd = ", ".join(sorted({*listed} ^ {*offered})) or "a name occurs twice"
        raise BedsideError(f"{paths.rel(EXAMPLES)}: list each name that bedside offers once: {odd}")
    return found


def names() -> list[str]:
    """What docs/api.md says of each name: signature, first line of its docstring, example."""
    lines, bare = [], inspect.Parameter.empty
    for section in sections():
        lines.append(f"## {section['title']}\n")
        if before := section.get("before", "").strip():
            lines.append(f"```python\n{before}\n```\n")
        for name, (example, result) in section["names"].items():
            about, signature = getattr(bedside, name), ""
            error = isinstance(about, type) and issubclass(about, Exception)
            if not inspect.ismodule(about) and not error:
                found = inspect.signature(about)
                given = [p.replace(annotation=bare) for p in found.parameters.values()]
                signature = found.replace(parameters=given, return_annotation=bare)
            text = inspect.getdoc(about).splitlines()[0].rstrip(".")
            gives = f" gives `{result}`" if result else ""
            lines.append(f"**`{name}{signature}`**: {text}.\\\n`{example}`{gives}\n")
    return lines
