"""Each parameter of each notebook reaches what is asked; test_between_* run them to the numbers."""

import dis
import shutil
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT

import pytest

from bedside.build import notebooks
from bedside.read import paths
from bedside.write import plots
from matrix import EMBEDDED, House, undrawn

MARK = "(changed here)"  # in changed templates
GIVEN = {  # each other than any notebook's own
    **{"models": "fake-sentence", "judge": "fake-list", "patient": "fake-right"},
    **{"generator": "fake-markup", "max_tokens": 51, "turn_tokens": 31, "temperature": 0.31},
    **{"judge_temperature": 0.41, "repeats": 2, "limit": "2", "seed": "7"},
    "shown": "vocabulary",
}
ASKS = {  # parameter: whether a request shows it
    **dict.fromkeys(("models", "judge", "patient", "generator"), lambda r, v: r.model == v),
    **dict.fromkeys(("max_tokens", "turn_tokens"), lambda r, v: r.body().get("max_tokens") == v),
    "temperature": lambda r, v: r.body().get("temperature") == v,
    "judge_temperature": lambda r, v: r.body().get("temperature") == v,
    "repeats": lambda r, v: r.repeat == v - 1,
    "shown": lambda r, v: "\n31. " in r.messages[-1]["content"],  # terms, more than a site's own
    "prompts": lambda r, v: any(MARK in m["content"] for m in r.messages),
}
SILENT = {"06_paper_versions", "07_released_answers", *(f"0{n}_robustness" for n in (4, 6, 7, 8))}
NONE = {  # notebook: parameters that no request shows, as its comments say
    "cancer_myth/01_physician_survey": {"judge"},
    "cancer_myth/05_judge_agreement": {"models"},
    "radiation/01_reference_and_profiles": {"judge"},
    "radiation/06_judge_agreement": {"models"},
    "medhalu/01_benchmark": {"models", "judge"},
    # its answers are bundled in the sample
    "medhalu/02_detection": {"judge", "generator"},
    "medhalu/03_expert_in_the_loop": {"judge", "generator"},
}
ASKING = [n for n in notebooks.listed() if n.partition("/")[2] not in SILENT]


@pytest.fixture
def house(monkeypatch, tmp_path):
    """A house without recordings: everything is planned."""
    monkeypatch.setattr(plots, "save", undrawn)
    made = House(monkeypatch, tmp_path / "house")
    for card in made.figures.rglob(f"trust_{EMBEDDED}*.json"):
        shutil.copy(card, card.with_name(card.name.replace(EMBEDDED, GIVEN["judge"])))
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "none")
    return made


@pytest.fixture
def prompts(tmp_path):
    """A folder with all templates, each changed."""
    for file in paths.PROMPTS.rglob("*.j2"):
        mine = tmp_path / "prompts" / file.relative_to(paths.PROMPTS)
        mine.parent.mkdir(parents=True, exist_ok=True)
        begin, block, end = file.read_text(encoding="utf-8").partition("block user")
        block += end.partition("%}")[0] + "%} " + MARK + " " + end.partition("%}")[2]
        mine.write_text(begin + block, encoding="utf-8")
    return str(tmp_path / "prompts")


@pytest.mark.parametrize("name", ASKING)
def test_each_parameter_reaches_the_requests(house, prompts, name):
    have = notebooks.parameters(name)
    given = {k: v for k, v in {**GIVEN, "prompts": prompts}.items() if k in have}
    asked = house.run(name, until="await", mode="plan", **given)["run"].planned()
    shown = {p for p in ASKS.keys() & given.keys() if any(ASKS[p](r, given[p]) for r in asked)}
    assert shown == (ASKS.keys() & have.keys()) - NONE.get(name, set())


@pytest.mark.parametrize("name", [*notebooks.listed(), "own_study", "check_a_paper"])
def test_cells_leave_parameters_alone(name):
    """A cell that assigns to a parameter changes what later cells, or its second run, ask for."""
    for cell in notebooks.cells(name):
        if cell["cell_type"] == "code" and "parameters" not in cell["metadata"].get("tags", ()):
            code = compile("".join(cell["source"]), name, "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT)
            assigned = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_NAME"}
            assert not assigned & notebooks.parameters(name).keys()
