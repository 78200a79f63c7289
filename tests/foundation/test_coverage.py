"""The table of what the papers and the project have, held against notebooks, outputs, ledger."""

import json
import re

import pandas as pd

from bedside.annotation import tasks
from bedside.build import notebooks
from bedside.read import paths

PAGE = paths.ROOT / "docs" / "coverage.md"
STATUSES = ("present", "partly", "left out", "can't be had here")


def elements():
    """(study, element, status, here, why) of each row."""
    found, study = [], None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            study = line[3:]
        elif study and line.startswith("| ") and not line.startswith("| In the paper"):
            cells = [c.strip() for c in line.strip("|").split(" | ")]
            assert len(cells) == 4, line
            found.append((study, *cells))
    return found


def names():
    """All names that the page may refer to."""
    known = set(tasks()) | {"sample", "public"}
    for paper in paths.papers():
        for path in (paths.NOTEBOOKS / paper).glob("0*.ipynb"):
            name = f"{paper}/{path.stem}"
            known |= {name, *notebooks.parameters(name)}
    for profile in ("sample", "public"):
        manifest = json.loads((paths.ROOT / "figures" / profile / "manifest.json").read_text())
        for entry in manifest["notebooks"].values():
            known |= {o["file"].rpartition(".")[0] for o in entry["outputs"]}
    for path in paths.CLAIMS.glob("*.csv"):
        known |= set(pd.read_csv(path)["id"])
    return known


def test_each_name_is_there():
    known = names()
    for study, element, _, here, why in elements():
        for name in re.findall(r"`([^`]+)`", f"{here} {why}"):
            there = name in known or ("/" in name and (paths.ROOT / name).exists())
            assert there, f"{study}, {element}: `{name}`"


def test_what_is_not_here_says_why_and_counts_are_of_the_rows():
    for study, element, told, here, why in elements():
        assert told in STATUSES and (here if told == "present" else why), f"{study}, {element}"
    frame = pd.DataFrame(elements(), columns=["study", "element", "status", "here", "why"])
    for study, rows in [*frame.groupby("study", sort=False), ("all", frame)]:
        counts = [int((rows["status"] == s).sum()) for s in STATUSES]
        line = " | ".join([study, *map(str, counts), str(len(rows))])
        assert f"\n| {line} |\n" in PAGE.read_text(encoding="utf-8"), line
