"""Cells of MedDialBench's notebooks, run on frames by hand."""

import json

import pandas as pd

from bedside.papers.meddialbench.tables import with_limits
from bedside.read import paths


def run_cell(notebook: str, id: str, **names) -> dict:
    """What a notebook's cell makes of `names`, by name."""
    path = paths.NOTEBOOKS / "meddialbench" / f"{notebook}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (source,) = ("".join(c["source"]) for c in cells if c["id"] == id)
    made = {"pd": pd, "with_limits": with_limits, **names}
    exec(compile(source, f"{notebook} {id}", "exec"), made)
    return made


def accuracy(done: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by configuration and model, as notebook 03 computes it."""
    return run_cell("03_single_dimension", "c08", judged=done)["accuracy"]
