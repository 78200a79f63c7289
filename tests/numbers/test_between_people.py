"""Parameters of the notebooks that show replies to people, between their ends, to their numbers."""

import pytest

import matrix
from bedside import BedsideError, annotation
from bedside.publish.judged_items import collect
from bedside.read.surroundings import here
from bedside.write import tables
from judged import kept_in
from matrix import House
from rater_pages import answer

ITEMS = 32  # answers of the sample's MedHalu that raters may label


class People:
    """Notebooks for people in a house with what the sample's notebooks kept."""

    def __init__(self, house):
        self.house, self.values = house, []

    def run(self, name, **given):
        """A notebook's variables, and the one row of these labels in tables that it shows."""
        self.values.clear()
        until = "content[" if name == "explore_failures" else ""
        space = self.house.run(name, until=until, **{k: str(v) for k, v in given.items()})
        shown = [f for f in self.values if "column" in getattr(f, "columns", ())]
        return space, {(r.row, r.column): r for f in shown for r in f.itertuples()}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        made = People(House(patch, tmp_path_factory.mktemp("people")))
        patch.setattr(here, "run", "")
        kept_in(made.house.figures)
        patch.setattr(matrix, "show", lambda *values: made.values.extend(values))
        patch.setattr(tables, "for_people", lambda frame, *more: frame)
        yield made


def test_what_a_team_labels_is_what_the_agreement_counts(people):
    """Of eight answers four are for both raters, two for each, and a quarter comes twice."""
    rows = annotation.rows(collect("sample", "medhalu"))
    given = dict(size=8, repetitions=0.25, raters=["Ann", "Bob"], overlap=0.5, seed=7)
    for rater, group in (("Ann", "expert"), ("Bob", "layperson")):
        how = dict(group=group, **given)
        answer(people.house.folder, rows, "hallucination", rater, lambda item, n: "no", **how)
    folder = people.house.folder / "labels"
    given = dict(task="hallucination", team="Ann,Bob,Cem", folder=folder)
    space, shown = people.run("agreement", **given)
    assert shown["label of the answer", "equal, %"].n == 4 + 2 + 2
    equal = shown["Ann and Bob", "equal, %"]
    assert (equal.value, equal.n) == (100, 4)
    for rater in ("Ann", "Bob"):
        assert shown[rater, "labels"].value == 4 + 2
        assert shown[rater, "repetitions answered as before, %"].n == 2
    assert space["labels"]["rater"].value_counts().to_dict() == {"Ann": 6 + 2, "Bob": 6 + 2}
    groups = space["labels"].groupby("rater")["group"].unique().map(list)
    assert groups.to_dict() == {"Ann": ["expert"], "Bob": ["layperson"]}
    team = next(f for f in people.values if {"labels", "of"} <= {*getattr(f, "columns", ())})
    assert team.set_index("rater")["labels"].to_dict() == {"Ann": 8, "Bob": 8, "Cem": 0}
    files = [p.read_text("utf-8") for p in folder.rglob("*.jsonl")]
    assert sum(text.count("\n") for text in files) == len(space["labels"]) == 16
    other = dict(task="hallucination", folder=people.house.folder / "none")
    assert people.run("agreement", **other)[0]["labels"].empty


def test_chosen_and_study(people):
    """Two of the four papers with their replies, and one whose models are set side by side."""
    space, _ = people.run("explore_failures", chosen="medhalu radiation", study="radiation")
    replies = next(f for f in people.values if "paper" in getattr(f, "index", f).names)["replies"]
    assert replies.groupby("paper").sum().to_dict() == {"medhalu": ITEMS + 480, "radiation": 953}
    assert set(space["replies"]["section"]) == {"free_form", "selection", "pairs", "run_pairs"}
    with pytest.raises(BedsideError, match="has no graded replies. Run `make"):
        people.run("explore_failures", chosen="medhalu", seed=7)  # another run's
