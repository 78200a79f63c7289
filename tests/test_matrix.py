"""Any model runs through any notebook: as answerer, as judge, recorded, replayed and planned."""

import pytest

from bedside import explorer
from bedside.build import notebooks
from bedside.publish import judged_items, pages
from bedside.read import paths
from bedside.write import frames
from matrix import EMBEDDED, FAKES, House, lacking

ROLES = {
    "answerer": lambda fake: {"models": fake},
    "judge": lambda fake: {"judge": fake},
    "both": lambda fake: {"models": fake, "judge": fake},
    "beside another": lambda fake: {"models": f"{EMBEDDED} {fake}"},
}
THEN = ("planned before", "planned", "explored", "on the page")
NAMES, KINDS, LIMITS = notebooks.listed(), list(FAKES), (1, 2, 3, 5, 0)


def case(k, name, profile):
    """Each kind meets each role in turn, and each limit."""
    kind, role = KINDS[k % len(KINDS)], [*ROLES][(k + k // len(KINDS)) % len(ROLES)]
    return name, kind, profile, role, LIMITS[k % len(LIMITS)], THEN[k // 2 % len(THEN)]


# each notebook in the sample, and each kind once more on released data
CASES = [case(k, name, "sample") for k, name in enumerate(NAMES)]
CASES += [case(k, NAMES[5 * k % len(NAMES)], "public") for k in range(len(KINDS))]


@pytest.fixture
def house(monkeypatch, tmp_path):
    return House(monkeypatch, tmp_path)


def measured(paper, profile, judge, folder):
    """The house where a fake judge was measured."""
    with pytest.MonkeyPatch.context() as patch:
        mine = House(patch, folder)
        first = f"{paper}/{paths.papers()[paper]['judges_first']}"
        mine.run(first, profile=profile, judge=judge, mode="record")
    return mine


@pytest.mark.parametrize("case", CASES, ids=lambda c: " ".join(map(str, c)))
def test_any_model_runs_through(house, tmp_path_factory, case):
    name, kind, profile, role, limit, then = case
    if absent := lacking(name, profile):
        pytest.skip(f"not here: {', '.join(absent)}")
    paper, fake = name.partition("/")[0], f"fake-{kind}"
    given = {"profile": profile, "limit": limit, **ROLES[role](fake)}
    if "judge" in given and "judges_first" in paths.papers()[paper]:
        house.take(measured(paper, profile, fake, tmp_path_factory.mktemp("judge")), fake)
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
        assert not house.run(name, mode="plan", **given)["run"].planned()
    elif then == "explored":
        if frames.sections(frames.folders(paper, **given)[0]):
            document = judged_items.collect(papers=paper, **given)
            assert f"{document['profile']}" in explorer.html(document)
            judged_items.frame(document)
    elif then == "on the page":
        assert name in pages.merge(profile)["notebooks"]


@pytest.mark.parametrize("k, name", enumerate(NAMES))
def test_fewer_items_replay(house, k, name):
    """What is recorded for all items holds the calls for any number of them."""
    house.run(name, profile="sample", limit=1 + k % 7)
