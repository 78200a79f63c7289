"""What of the README is made: its findings, and its table of each notebook's outputs."""

import json
import re
from pathlib import Path

from bedside import BedsideError, choose
from bedside.build import notebooks
from bedside.read import findings, paths

README = paths.ROOT / "README.md"
BEGIN, END = "<!-- outputs: written by `make outputs` -->", "<!-- end of outputs -->"
FINDING = re.compile(r"(<!-- finding (\w+) ([\w-]+) -->\n).*?(<!-- end -->)", re.S)
PRINTED = re.compile(r"(?:Table|Figure) \w+(?: \(version \d\))?")


def table(manifests: dict[str, dict]) -> str:
    """Markdown from {profile: its manifest}: a line for each notebook of the first profile.

    A file that only another profile has is followed by that profile's name. Trust cards share one
    entry.
    """
    first, *others = manifests
    entries, papers = manifests[first]["notebooks"], list(paths.papers())
    lines = ["| notebook | of the paper | files in `figures/<profile>/<paper>/` |", "|---|---|---|"]
    for name in sorted(entries, key=lambda n: (papers.index(entries[n]["paper"]), n)):
        entry = entries[name]
        printed, files = _printed(entry), dict.fromkeys(_files(entry), "")
        for profile in others:
            entry = manifests[profile]["notebooks"].get(name, {"outputs": []})
            printed |= _printed(entry)
            files = {**{file: f" ({profile})" for file in _files(entry)}, **files}
        shown = ", ".join(f"`{file}`{only}" for file, only in files.items())
        link = f"[{notebooks.title(name)}](notebooks/{name}.ipynb)"
        lines.append(f"| {link} | {', '.join(printed)} | {shown} |")
    return "\n".join(lines)


def _printed(entry):
    """The paper's tables and figures with which titles begin, in order."""
    found = (PRINTED.match(o["title"]) for o in entry["outputs"])
    return dict.fromkeys(match[0] for match in found if match)


def _files(entry):
    """Names without their endings, in order; trust cards as one."""
    every = (o["file"] for o in entry["outputs"])
    return dict.fromkeys(
        "trust_*.json" if file.endswith(".json") else file.partition(".")[0] for file in every
    )


def filled(text: str) -> str:
    """A README's text with the table of the committed manifests between its two marks.

    A finding stands between the marks that name its study and its id.
    """
    found = {p: paths.FIGURES / p / "manifest.json" for p in ("sample", "public")}
    manifests = {p: json.loads(file.read_text()) for p, file in found.items() if file.is_file()}
    text = FINDING.sub(_finding, text)
    return between(text, BEGIN, f"\n{table(manifests)}\n", END, "README.md")


def between(text: str, begin: str, made: str, end: str, page: str) -> str:
    """A page's text with what is made between two marks, each on a line of its own."""
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise BedsideError(f"{page}: put one {begin} before what is made and one {end} after it")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{made}\n{end}{rest.partition(end)[2]}"


def _finding(match):
    known = {f.id: f.finding for f in findings.load(match[2])}
    return f"{match[1]}**{known[choose(match[3], known, 'finding')]}**\n{match[4]}"


def write() -> Path:
    """Write findings and table into README.md; return its path."""
    paths.write(README, filled(README.read_text(encoding="utf-8")))
    return README
