"""Letters: a report on each study for its authors, written from the ledger of claims.

    write("public")  # figures/public/letters/<paper>.md and .html

A letter has one page: how much was reproduced, likely slips, printed numbers that don't fit
together, central claims that are contradicted or depend on interpretation, and at most five
questions that only the authors can answer.
"""

import re
from pathlib import Path
from typing import Any

from bedside.build import settings
from bedside.read import claims, paths, published

from . import pages

QUESTIONS = 5  # at most, of a letter


def write(profile: str) -> list[Path]:
    """Write the letters of a profile from its manifest; return their Markdown files.

    Raises BedsideError if the profile was never run.
    """
    folder = settings.outputs(profile)
    entries, made = pages.last(folder)["notebooks"].values(), []
    (folder / "letters").mkdir(exist_ok=True)
    for paper, about in paths.papers().items():
        if mine := [c for entry in entries if entry["paper"] == paper for c in entry["claims"]]:
            text, path = letter(paper, about, mine), folder / "letters" / f"{paper}.md"
            paths.write(path, text)
            named = {p: e["name"] for p, e in paths.papers().items()}
            frame = pages.frame(pages.pages(named, explorer=False), root="../", paper=paper)
            about = {"title": about["title"], "body": pages.html(text), "frame": frame}
            pages.write(path.with_suffix(".html"), "letter", **about)
            made.append(path)
    return made


def letter(paper: str, about: dict, made: list[dict]) -> str:
    """The letter on one study as Markdown. made: its claims as the manifest has them."""
    made = plain(made)
    # what doesn't fit, and what is central, goes first; a third party's text is none of theirs
    asked = [c for c in made if c["ask"] and c["of"] != "summary"]
    asked.sort(key=lambda c: (c["kind"] != "consistency", c["weight"] != "central"))
    by = {r: claims.by_verdict(c for c in made if claims.rank(c) == r) for r in claims.RANKS}
    slips = [{"told": str(s), "why": s.why, "against": s.against} for s in published.slips(paper)]
    return pages.template(pages.HERE / "letter.md.j2", autoescape=False).render(
        paper=paper,
        about=plain(about),
        raw=any(c["basis"] == "raw" for c in made if claims.rank(c) in claims.WEIGHT),
        slips=plain(slips),
        central=by["central"],
        detail=by["detail"],
        consistency=by["consistency"],
        questions=asked[:QUESTIONS],
    )


def plain(value: Any) -> Any:
    """Text, or all text in lists and dicts, each on one line with Markdown's marks escaped."""
    if isinstance(value, str):
        return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(value.split()))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value
