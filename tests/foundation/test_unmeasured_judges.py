"""A judge that nobody measured is refused before anything is paid for, with what measures it."""

import asyncio

import pytest

import matrix
from bedside import BedsideError
from bedside.build import notebooks
from bedside.read import paths
from conftest import apart

FIRST = {p: f"{p}/{e['judges_first']}" for p, e in paths.papers().items() if "judges_first" in e}


def judged():
    """A notebook of each study whose tables show the judge's trust card; none measures judges."""
    found = {}
    for name in notebooks.listed():
        said = "".join("".join(cell["source"]) for cell in matrix.cells(name))
        if ("judged=" in said or "run.card()" in said) and name not in FIRST.values():
            found.setdefault(name.partition("/")[0], name)
    return found.values()


@pytest.mark.parametrize("name", list(judged()))
def test_an_unmeasured_judge_is_refused_before_the_first_call(
    name, served, endpoint, tmp_path, monkeypatch
):
    apart(monkeypatch, tmp_path)
    given = {"models": served, "judge": served, "mode": "record"}
    first = FIRST[name.partition("/")[0]]
    with pytest.raises(BedsideError, match=f"'served' has no validation card .*{first}.ipynb"):
        asyncio.run(matrix.execute(name, notebooks.typed(name, given)))
    assert endpoint.bodies == []
