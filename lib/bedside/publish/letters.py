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

HERE = Path(__file__).parent
QUESTIONS = 5  # at most, of a letter


def write(profile: str) -> list[Path]:
    """Write the letters of a profile from its manifest; return their Markdown files.

    Raises BedsideError if the profile was never run.
    """
    folder = settings.outputs(profile)
    notebooks = pages.last(folder)["notebooks"].values()
    (folder / "letters").mkdir(exist_ok=True)
    made = []
    for paper, about in paths.papers().items():
        mine = [c for entry in notebooks if entry["paper"] == paper for c in entry["claims"]]
        if mine:
            made.append(folder / "letters" / f"{paper}.md")
            text = f"{letter(paper, about, mine)}\n"
            paths.write(made[-1], text)
            paths.write(made[-1].with_suffix(".html"), _html(about["title"], text))
    return made


def letter(paper: str, about: dict, made: list[dict]) -> str:
    """The letter on one study as Markdown. made: its claims as the manifest has them."""
    made = plain([claims.completed(c) for c in made])
    ranks = {rank: [c for c in made if claims.rank(c) == rank] for rank in claims.RANKS}
    by = {rank: claims.by_verdict(found) for rank, found in ranks.items()}
    # what doesn't fit, and what is central, goes first; a third party's text is none of theirs
    asked = [c for c in made if c["ask"] and c["of"] != "summary"]
    asked.sort(key=lambda c: (c["kind"] != "consistency", c["weight"] != "central"))
    return pages.template(HERE / "letter.md.j2", autoescape=False).render(
        paper=paper,
        about=plain(about),
        theirs=ranks["central"] + ranks["detail"],
        slips=[
            {"told": plain(str(s)), "why": plain(s.why), "against": plain(s.against)}
            for s in published.slips(paper)
        ],
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


def _html(title, text):
    """The letter as an HTML page for print; HTML in the text is escaped."""
    import mistune

    body = mistune.create_markdown(escape=True)(text)
    return pages.template(HERE / "letter.html.j2").render(title=title, body=body)
