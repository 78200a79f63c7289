"""Any model runs through any notebook: as answerer, as judge, recorded, replayed and planned."""

import itertools

import pytest

import matrix
from bedside import explorer
from bedside.build import notebooks
from bedside.publish import judged_items, pages
from bedside.read import paths
from bedside.write import frames
from matrix import EMBEDDED, FAKES, LIMITS, PROFILES, House, lacking

ROLES = {
    "answerer": lambda fake: {"models": fake},
    "judge": lambda fake: {"judge": fake},
    "both": lambda fake: {"models": fake, "judge": fake},
    "beside another": lambda fake: {"models": f"{EMBEDDED} {fake}"},
}
THEN = ("planned before", "planned", "explored", "on the page")
CASES = matrix.pairwise(notebooks.listed(), list(FAKES), PROFILES, list(ROLES), LIMITS, THEN)


@pytest.fixture
def house(monkeypatch, tmp_path):
    return House(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A function that gives the house where a fake judge was measured."""
    made = {}

    def by(paper, profile, judge):
        if (paper, profile, judge) not in made:
            with pytest.MonkeyPatch.context() as patch:
                mine = House(patch, tmp_path_factory.mktemp("judge"))
                first = f"{paper}/{paths.papers()[paper]['judges_first']}"
                mine.run(first, profile=profile, judge=judge, mode="record")
            made[paper, profile, judge] = mine
        return made[paper, profile, judge]

    return by


def run_through(house, measured, name, fake, profile, role, limit, then):
    if absent := lacking(name, profile):
        pytest.skip(f"not here: {', '.join(absent)}")
    paper, fake = name.partition("/")[0], f"fake-{fake}"
    given = {"profile": profile, "limit": limit, **ROLES[role](fake)}
    if "judge" in given and "judges_first" in paths.papers()[paper]:
        house.take(measured(paper, profile, fake), fake)
    if then == "planned before":
        house.to("planned")
        house.run(name, mode="plan", **given)
    house.to("figures")
    house.run(name, mode="record", **given)
    recorded, drawn = house.outputs(), house.figures
    house.to("replayed")
    house.run(name, mode="replay", pictures=drawn, **given)
    assert house.outputs() == recorded
    if then == "planned":
        house.run(name, mode="plan", **given)
    elif then == "explored":
        if frames.sections(frames.folders(paper, **given)[0]):
            document = judged_items.collect(papers=paper, **given)
            assert f"{document['profile']}" in explorer.html(document)
            judged_items.frame(document)
    elif then == "on the page":
        assert name in pages.merge(profile)["notebooks"]


LONG = [
    ("cancer_myth/04_mitigation", "sentence", "sample", "answerer", 1, "planned"),
    ("radiation/02_free_form", "nothing", "sample", "both", 2, "explored"),
]
FEW = [
    ("medhalu/01_benchmark", "object", "sample", "answerer", 1, "on the page"),
    ("meddialbench/02_baseline", "random", "sample", "beside another", 1, "planned before"),
]


MARKED = [pytest.param(c, marks=pytest.mark.slow) for c in (*LONG, *CASES)]


@pytest.mark.parametrize("case", [*FEW, *MARKED])
def test_any_model_runs_through(house, measured, case):
    run_through(house, measured, *case)


FAST = "cancer_myth/05_judge_agreement", "radiation/06_judge_agreement"
FAST = {(name, "sample", 2) for name in (*FAST, "medhalu/01_benchmark", "meddialbench/02_baseline")}
LIMITED = itertools.product(notebooks.listed(), PROFILES, LIMITS[1:])


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[pytest.mark.slow] * (c not in FAST)) for c in LIMITED]
)
def test_every_limit_replays(house, case):
    name, profile, limit = case
    if absent := lacking(name, profile):
        pytest.skip(f"not here: {', '.join(absent)}")
    house.run(name, profile=profile, limit=limit)
