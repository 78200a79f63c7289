"""Parameters of the notebooks that show replies to people: whose, which, in what order."""

import parameter_house
import pytest
from parameter_house import OTHERS

from bedside import BedsideError, annotation
from bedside.annotation import raters
from judged import kept_in

given = parameter_house.given  # a fixture
house = parameter_house.house  # a fixture


@pytest.fixture
def people(house, monkeypatch):
    """The house with what the sample's notebooks kept, and outside of any run."""
    monkeypatch.delenv("BEDSIDE_RUN")
    kept_in(house.figures)
    return house


@pytest.mark.parametrize(
    "name, parameter",
    [
        *(("explore_failures", p) for p in ("profile", *OTHERS)),
        *((n, p) for n in ("annotate", "agreement") for p in ("profile", *OTHERS) if p != "seed"),
    ],
)
def test_whose_replies_people_see(people, given, name, parameter):
    """Those that the notebooks kept with these settings, which are another run's folder."""
    more = given(name, {parameter: OTHERS.get(parameter, "public")})
    where = "public" if parameter == "profile" else "runs/sample-"
    with pytest.raises(BedsideError, match=f"/{where}[^ ]* has no graded replies; run `make"):
        people.run(name, until="collect(", **more)


def test_what_the_explorer_shows(people):
    def made(**more):
        return people.run("explore_failures", until="content[", **more)

    def rows(section, **more):
        return [r for r in made(**more)["content"]["rows"] if r["section"] == section]

    # 32 items: without a note three times, with each of three notes once
    found = rows("3 detection", chosen="medhalu")
    assert len([r for r in found if r["by"] == "model"]) == 32 * (3 + 3)
    other = made(chosen="radiation", study="medhalu")
    assert {r["paper"] for r in other["content"]["rows"]} == {"radiation"}
    assert set(other["replies"]["section"]) == {"detection", "notes"}


def test_what_a_rater_gets(people, monkeypatch, given, tmp_path):
    boxes, box = [], annotation.box
    monkeypatch.setattr(annotation, "box", lambda *all, **how: boxes.append(box(*all, **how)))
    labels = {"task": "hallucination", "rater": "Ann", "folder": f"{tmp_path}/labels"}

    def session(**more):
        """The rater's session; None if it does not begin."""
        people.run("annotate", until="annotation.box(", **given("annotate", {**labels, **more}))
        return boxes[-1].session

    def queue(**more):
        return [e.row["id"] for e in session(**more).queue]

    first = session()
    assert (first.task.name, first.log.rater, first.group) == ("hallucination", "Ann", "")
    assert first.log.path.is_relative_to(tmp_path / "labels") and first.training is None
    assert len(first.queue) == 20 + 2  # a tenth of 20 comes twice
    assert session(rater="") is None and session(rater="Bob").log.rater == "Bob"
    assert session(group="expert").group == "expert"
    first = session(protocol="True")
    assert first.training is not None and first.entrance is not None
    assert first.about["reason_for"] == ("yes",)
    assert len(first.queue) == 20 + 2 + 4  # with four attention checks
    both = session(protocol="True", all_reasons="True").about["reason_for"]
    assert sorted(both) == ["no", "yes"]
    assert len(queue(size="0")) == 32 + 3
    assert len(queue(size="8", repetitions="0.5")) == 8 + 4
    assert set(queue(size="8")) != set(queue(size="8", seed="7"))
    # of eight, two or four go to both raters, and half of the rest to each
    team = {"size": "8", "repetitions": "0", "team": "Ann,Bob"}
    assert [len(queue(**team, overlap=o)) for o in ("0.2", "0.5")] == [2 + 3, 4 + 2]
    assert [len(queue(**team, batches=n)) for n in ("1", "2")] == [8, 4]
    # of the embedded model: ten of each of 22 patients
    assert session(task="side_effect").drawn["n"] == 220


def test_whose_verdicts_come_first_for_raters(people):
    """And replies to a model's questions (17 of 89) are shown where `tiny` asks for them."""

    def made(**more):
        return people.run("agreement", until="annotation.sample(", task="presupposition", **more)

    tiny, usual = made(tiny="True", size="0"), made(size="0")
    assert (len(tiny["drawn"]), len(usual["drawn"])) == (72 + 17, 72)
    first = raters.judged(usual["rows"], "presupposition")["judge"].drop_duplicates()
    assert first.tolist()[0] == "lexical"
