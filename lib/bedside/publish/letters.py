"""Letters: a report on each study for its authors, written from the ledger of claims.

    write("public")  # figures/public/letters/<paper>.md and .html

A letter says how much was reproduced and then, by consequence, likely slips, printed numbers that
don't fit together, central claims that differ or depend on the reading, our own findings, and what
only the authors can settle. Its body has at most a page and a half. An annex lists each claim with
all of its readings.
"""

import json
import re
from pathlib import Path
from typing import Any

from bedside import BedsideError
from bedside.build import settings
from bedside.read import claims, paths, published

from . import pages

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
            paths.write(made[-1], text)
            paths.write(made[-1].with_suffix(".html"), _html(about["title"], text))
    return made


def letter(paper: str, about: dict, made: list[dict]) -> str:
    """The letter on one study as Markdown. made: its claims as the manifest has them."""
    made = plain([claims.completed(c) for c in made])
    ranks = {rank: [c for c in made if claims.rank(c) == rank] for rank in claims.RANKS}
    by = {rank: claims.by_verdict(found) for rank, found in ranks.items()}
    slips = [_slip(slip, made) for slip in published.slips(paper)]
    # a third party's text is none of the authors'; what is asked elsewhere isn't asked again
    told = [c for s in slips for c, note in s["turned"] if note["verdict"] == "holds"]
    told += by["consistency"]["differs"]
    asked = [c for c in made if c["ask"] and c["of"] != "summary" and c not in told]
    weighty = [c for c in asked if c["weight"] == "central" or c["kind"] == "consistency"]
    return pages.template(HERE / "letter.md.j2", autoescape=False).render(
        about=plain(about),
        stated=_statements(paper),
        claims=made,
        theirs=ranks["central"] + ranks["detail"],
        slips=slips,
        central=by["central"],
        detail=by["detail"],
        consistency=by["consistency"],
        findings=by["finding"],
        questions=weighty,
        others=[c for c in asked if c not in weighty],
        replies=plain(claims.replies(paper)),
    )


def _slip(slip, made):
    """A likely slip's words, and which claims it turns: [(claim, its note)]."""
    told = plain(str(slip))
    turned = [(c, note) for c in made for note in c["if_slip"] if note["slip"] == told]
    return {"told": told, "why": plain(slip.why), "against": plain(slip.against), "turned": turned}


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
    body = re.sub(r"<h3>([\w-]+)</h3>", r'<h3 id="\1">\1</h3>', body)  # the claims' ids
    return pages.template(HERE / "letter.html.j2").render(title=title, body=body)
