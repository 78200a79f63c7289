"""Letters: a report on each study for its authors, written from the ledger of claims.

    write("public")  # figures/public/letters/<paper>.md and .html

A letter says what was reproduced, what depends on a reading, what differs in every reading, and
what only the authors can settle. An annex lists each claim with all of its readings.
"""

import json
import re
from pathlib import Path
from typing import Any

from . import BedsideError, claims, page, paths, settings

HERE = Path(__file__).parent


def write(profile: str) -> list[Path]:
    """Write the letters of a profile from its manifest; return their Markdown files.

    Raises BedsideError if the profile was never run.
    """
    folder = settings.outputs(profile)
    if not (folder / "manifest.json").is_file():
        raise BedsideError(
            f"{paths.rel(folder)}/manifest.json is missing; make all PROFILE={profile} writes it"
        )
    notebooks = json.loads((folder / "manifest.json").read_text())["notebooks"].values()
    (folder / "letters").mkdir(exist_ok=True)
    made = []
    for paper, about in paths.papers().items():
        mine = [c for entry in notebooks if entry["paper"] == paper for c in entry["claims"]]
        if mine:
            made.append(folder / "letters" / f"{paper}.md")
            text = letter(paper, about, mine)
            made[-1].write_text(text, encoding="utf-8")
            made[-1].with_suffix(".html").write_text(_html(about["title"], text), encoding="utf-8")
    return made


def letter(paper: str, about: dict, made: list[dict]) -> str:
    """The letter on one study as Markdown. made: its claims as the manifest has them."""
    made, replies = plain(made), plain(claims.replies(paper))
    theirs = [c for c in made if c["of"] == "paper"]
    ranked = sorted(theirs, key=lambda c: c["weight"])  # central before detail
    return page.template(HERE / "letter.md.j2", autoescape=False).render(
        about=plain(about),
        stated=_statements(paper),
        claims=made,
        theirs=theirs,
        by=claims.by_verdict(ranked),
        count=claims.tally(made),
        questions=[c for c in made if c["ask"]],
        replies=replies,
    )


def plain(value: Any) -> Any:
    """Text, or all text in lists and dicts, each on one line with Markdown's marks escaped."""
    if isinstance(value, str):
        return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(value.split()))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def _statements(paper):
    """(number of the paper's statements, number of those with a claim)."""
    rows = [row for row in claims.statements(paper) if row["of"] == "paper"]
    return len(rows), sum(bool(row["claims"]) for row in rows)


def _html(title, text):
    """The letter as an HTML page for print; HTML in the text is escaped."""
    import mistune

    body = mistune.create_markdown(escape=True, plugins=["table"])(text)
    return page.template(HERE / "letter.html.j2").render(title=title, body=body)
