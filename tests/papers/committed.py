"""Judged rows beside the committed tables: shares of rows, and what a table says."""

import functools
import json

import numpy as np
import pandas as pd
import pytest

from bedside.build import settings
from bedside.read import paths
from bedside.read.published import SOURCES
from bedside.write import layouts, tables


def rows_of(content, section, **fields):
    """The rows of a section whose fields are these."""
    mine = [r for r in content["rows"] if r["section"] == section]
    return [r for r in mine if all(r[k] == v for k, v in fields.items())]


def verdict_of(row, judge):
    """A judge's verdict at a row."""
    return next(v for v in row["verdicts"] if v["judge"] == judge)


def rights(rows, judge):
    """Whether each row is right by a judge's verdict; None without one."""
    return [verdict_of(r, judge)["right"] for r in rows]


def share(found, scale=100.0):
    """(value, n, unscored) of rights."""
    known = [r for r in found if r is not None]
    return (scale * np.mean(known) if known else np.nan, len(known), len(found) - len(known))


@functools.cache
def table(paper, name):
    """This run's rows of a committed table of the sample, by row and column."""
    path = paths.FIGURES / "sample" / paper / f"{name}.csv"
    rows = pd.read_csv(path, keep_default_na=False, na_values=[""])
    return rows[rows["source"] == "run"].set_index(["row", "column"])


def says(paper, name, row, column):
    """(value, n, unscored) as committed, to compare with."""
    r = table(paper, name).loc[(row, column)]
    said = (float(r["value"]), float(r["n"]), float(r["unscored"]))
    return pytest.approx(said, nan_ok=True)


def says_n(paper, name, row, column):
    """(value, n) as committed, to compare with."""
    return pytest.approx(says(paper, name, row, column).expected[:2], nan_ok=True)


def says_value(paper, name, row, column):
    """The value as committed, to compare with."""
    return pytest.approx(says(paper, name, row, column).expected[0], nan_ok=True)


@functools.cache
def people(paper, name, profile="sample"):
    """A table as people see it: the grid of what was written, in the layout of its notebook."""
    folder = settings.figures() / profile
    entries = json.loads((folder / "manifest.json").read_text())["notebooks"].values()
    mine = [o for e in entries if e["paper"] == paper for o in e["outputs"]]
    about = next(o for o in mine if o["file"] == f"{name}.csv")
    rows = tables.read(folder / paper / f"{name}.csv")
    return layouts.grid(rows, layouts.Layout(**about.get("layout", {})), about["digits"])


def lines_of(made, source="Published"):
    """The labels of a grid's lines of one source, or of all where it has no column."""
    return [
        tuple(x for x in labels if x and x != source)
        for labels, _ in made.lines
        if source in labels or not {*SOURCES.values()} & {*labels}
    ]
