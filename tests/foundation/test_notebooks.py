"""Notebooks: their parameters are read, and a failure is told."""

import json

import pytest

from bedside import BedsideError
from bedside.build import notebooks
from bedside.read import paths


def notebook(path, *sources_):
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    path.write_text(
        json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {
                    "kernelspec": {"name": "python3", "display_name": "", "language": "python"}
                },
                "cells": [
                    {
                        **cell,
                        "id": f"c{k}",
                        "source": [s],
                        "metadata": {"tags": ["parameters"] if s.startswith("a = ") else []},
                    }
                    for k, s in enumerate(sources_)
                ],
            }
        )
    )
    return path


def test_a_notebooks_parameters_are_read_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    notebook(tmp_path / "x.ipynb", "a = 1\nb = -0.5  # why\nc = ''", "d = 2")
    assert notebooks.parameters("x") == {"a": 1, "b": -0.5, "c": ""}
    for cells, count in ((["d = 2"], 0), (["a = 1", "a = 2"], 2)):
        notebook(tmp_path / "y.ipynb", *cells)
        with pytest.raises(
            BedsideError, match=f"y.ipynb: exactly one cell must be tagged parameters, not {count}"
        ):
            notebooks.parameters("y")
    monkeypatch.undo()
    assert (
        notebooks.parameters("medhalu/02_detection").items()
        >= {
            "profile": "sample",
            "mode": "replay",
            "limit": "",
        }.items()
    )


def test_a_notebook_runs_from_the_root_and_says_what_failed(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "a = 1", "import os\nprint(a, os.getcwd())\n1 / (a - 7)")
    notebooks.execute(path, tmp_path / "done.ipynb", {"a": 5})
    printed = "".join(
        o.get("text", "") if isinstance(o.get("text"), str) else "".join(o["text"])
        for c in json.loads((tmp_path / "done.ipynb").read_text())["cells"]
        for o in c["outputs"]
        if "text" in o
    )
    assert printed.strip() == f"5 {paths.ROOT}"
    with pytest.raises(
        BedsideError,
        match=r"(?s)x\.ipynb failed in cell .*1 / \(a - 7\).*ZeroDivisionError: .*done\.ipynb",
    ):
        notebooks.execute(path, tmp_path / "done.ipynb", {"a": 7})
