"""What was run again and what wasn't: rows of numbers by where they come from, for each study."""

from collections import Counter
from pathlib import Path

from bedside.read import paths
from bedside.write import tables

WAYS = {  # sources of rows, in the order of how much was done anew
    "raw": "computed from released data",
    "recomputed": "derived from printed numbers",
    "published": "copied from the paper",
    "simulated": "simulated here",
    "run": "of this run’s small models and rules",
}


def counted(entries: dict, folder: Path) -> dict[str, dict[str, int]]:
    """{study: {how its rows came about: rows}} of all tables that a manifest's notebooks wrote."""
    counts = {paper: Counter() for paper in paths.papers()}
    for entry in entries.values():
        for output in entry["outputs"]:
            if output["file"].endswith(".csv"):
                rows = tables.read(folder / entry["paper"] / output["file"])
                counts[entry["paper"]].update(WAYS[row["source"]] for row in rows)
    return {paper: {way: of[way] for way in WAYS.values()} for paper, of in counts.items() if of}


def markdown(counts: dict[str, dict[str, int]]) -> str:
    """The same as a table in Markdown."""
    lines = [f"| study | {' | '.join(WAYS.values())} |", "|---|" + "--:|" * len(WAYS)]
    names = paths.papers()
    for paper, of in counts.items():
        lines.append(f"| {names[paper]['name']} | {' | '.join(f'{n:,}' for n in of.values())} |")
    return "\n".join(lines)
