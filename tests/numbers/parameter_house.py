"""A house without recordings, and what parameters are given, for tests of parameters."""

import pytest
from parameter_effects import CHANGED

from bedside.build import notebooks
from bedside.papers.meddialbench.design import OURS
from bedside.read import paths
from bedside.write import plots
from matrix import EMBEDDED, House, undrawn

OTHERS = {  # settings of another run than the profile's
    **{"models": "fake-list", "judge": EMBEDDED, "limit": "2", "seed": "7"},
    "prompts": "FOLDER/prompts",
}


@pytest.fixture
def house(monkeypatch, tmp_path):
    monkeypatch.setattr(plots, "save", undrawn)
    return House(monkeypatch, tmp_path / "house")


@pytest.fixture
def bare(house, monkeypatch, tmp_path):
    """A house without recordings: everything is planned."""
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "none")
    return house


@pytest.fixture
def given(tmp_path):
    """A function that makes the files which parameters name and puts their folder for FOLDER."""
    for file in paths.PROMPTS.rglob("*.j2"):
        mine = tmp_path / "prompts" / file.relative_to(paths.PROMPTS)
        mine.parent.mkdir(parents=True, exist_ok=True)
        begin, block, end = file.read_text(encoding="utf-8").partition("block user")
        block += end.partition("%}")[0] + "%} " + CHANGED + " " + end.partition("%}")[2]
        mine.write_text(begin + block, encoding="utf-8")
    design = OURS.read_text(encoding="utf-8").replace("Speak plainly", f"Speak {CHANGED}")
    (tmp_path / "design.toml").write_text(design, encoding="utf-8")

    def made(name, wanted):
        have = notebooks.parameters(name)
        put = {k: str(v).replace("FOLDER", str(tmp_path)) for k, v in wanted.items() if k in have}
        return put

    return made


def numbers(house):
    return {p: out for p, out in house.outputs().items() if p.endswith(".csv")}
