"""Numbers in notebooks' texts that neither their outputs nor the papers have (`make lint`).

A number may be in the markdown of a study's notebook, or in the headline of a figure, if it is
among the committed numbers of that notebook (figures/public), its claims, or what the paper prints
(data/published), rounded as it is written; percentages may be shares. Numbers below ten, in code,
in names and in references to sections, tables and figures aren't checked.
"""

import json
import re
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[1]
SKIPPED = re.compile(
    r"`[^`]*`|\$[^$]*\$|https?:\S+"  # code, formulas, addresses
    r"|\b(sections?|Tables?|Figures?|appendi\w+|notebooks?|versions?)\s[\dA-E][\w.]*"
    r"((,| and| to| or|, and) [\dA-E][\w.]*)*"
    r"|\((sections? )?[\dA-E]\.\d[^()]*\)"  # (2.1)
    r"|\b[A-Za-z]+[-\w.]*\d[-\w.]*|\bOpus [\d.]+|\b(19|20)\d\d\b",  # GPT-4, C1, a year
    re.I,
)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def numbers(text):
    """The numbers in a text as they are written, without thousands' commas."""
    return [n.rstrip(",").replace(",", "") for n in NUMBER.findall(SKIPPED.sub(" ", text))]


def known(folder, name, entry):
    """All numbers that a notebook's text may tell."""
    paper = entry["paper"]
    values = []
    for output in entry["outputs"]:
        if output["file"].endswith(".csv"):
            frame = pd.read_csv(folder / paper / output["file"])
            values.append(frame.select_dtypes("number").stack())
    printed = ROOT / "data" / "published" / f"{paper}.csv"
    if printed.is_file():
        values.append(pd.read_csv(printed)[["value", "low", "high"]].stack())
    claims = entry["claims"]
    told = [r["computed"] for c in claims for r in (c, *c["readings"])]
    told = " ".join(map(str, [*told, *(c["published"] for c in claims)]))
    values.append(pd.Series(map(float, numbers(told)), dtype=float))
    values = pd.concat(values).abs()
    return pd.concat([values, 100 * values])


def unknown(text, values):
    """The numbers of a text that round to none of these."""
    for number in dict.fromkeys(numbers(text)):
        digits = len(number.partition(".")[2])
        near = (values - float(number)).abs() <= 0.5000001 * 10**-digits
        if (digits or float(number) >= 10) and not near.any():
            yield number


def main():
    folder = ROOT / "figures" / "public"
    entries = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["notebooks"]
    wrong = []
    for name, entry in entries.items():
        path = ROOT / "notebooks" / f"{name}.ipynb"
        if not path.is_file():
            continue
        values = known(folder, name, entry)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
        texts += {o["message"] for o in entry["outputs"] if o.get("message")}
        wrong += [f"{path.relative_to(ROOT)}: {n}" for t in texts for n in unknown(t, values)]
    if wrong:
        sys.exit("\n".join([*wrong, "these numbers are in no output of their notebooks"]))


if __name__ == "__main__":
    main()
