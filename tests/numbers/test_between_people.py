"""Parameters of the notebooks that show replies to people, between their ends, to their numbers."""

import pytest

import matrix
from bedside import annotation
from bedside.annotation import raters
from bedside.write import tables
from judged import kept_in
from matrix import House

ITEMS = 32  # answers of the sample's MedHalu that raters may label
TEAM = ("Ann", "Bob")


class Shown:
    """What a notebook showed, and its variables."""

    def __init__(self, space, values):
        self.space, self.values = space, values

    def frame(self, *columns):
        """The first frame shown that has these columns."""
        return next(f for f in self.values if {*columns} <= {*getattr(f, "columns", ())})

    def number(self, row, column):
        """The one row of these labels in the tables that were shown."""
        every = [f for f in self.values if "column" in getattr(f, "columns", ())]
        found = [r for f in every for r in f.itertuples() if (r.row, r.column) == (row, column)]
        assert len(found) == 1, (row, column)
        return found[0]


class People:
    """Notebooks for people in a house with what the sample's notebooks kept."""

    def __init__(self, house):
        self.house, self.sessions, self.values = house, [], []

    def run(self, name, **given):
        self.values.clear()
        until = {"annotate": "annotation.box(", "explore_failures": "content["}.get(name, "")
        space = self.house.run(name, until=until, **{k: str(v) for k, v in given.items()})
        return Shown(space, [*self.values])

    def session(self, **given):
        """The session of a rater at work."""
        folder = {"folder": self.house.folder / "elsewhere"}
        self.run("annotate", **{"task": "hallucination", "rater": "Ann", **folder, **given})
        return self.sessions[-1]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        made = People(House(patch, tmp_path_factory.mktemp("people")))
        patch.delenv("BEDSIDE_RUN")
        kept_in(made.house.figures)
        box = annotation.box
        opened = lambda *all, **how: made.sessions.append(box(*all, **how).session)  # noqa: E731
        patch.setattr(annotation, "box", opened)
        patch.setattr(matrix, "show", lambda *values: made.values.extend(values))
        patch.setattr(tables, "for_people", lambda frame, *more: frame)
        yield made


@pytest.fixture(scope="module")
def labelled(people):
    """The agreement of two raters who say no to all of their parts of eight answers."""
    folder = people.house.folder / "labels"
    given = dict(size=8, repetitions=0.25, team="Ann,Bob", overlap=0.5, seed=7, folder=folder)
    for rater, group in (("Ann", "expert"), ("Bob", "layperson")):
        session = people.session(rater=rater, group=group, **given)
        while not session.done:
            assert session.label("no") == ""
    given = dict(task="hallucination", size=5, team="Ann,Bob,Cem", folder=folder)
    return people.run("agreement", **given)


def test_size(labelled):
    """Of 32 answers eight are in the sample: four for both, two for each; here five are drawn."""
    assert labelled.number("label of the answer", "equal, %").n == 4 + 2 + 2
    assert labelled.frame("drawn")[["rows", "drawn"]].to_numpy().tolist() == [[ITEMS, 5]]
    assert len(labelled.space["drawn"]) == 5


def test_overlap(labelled):
    """Half of eight answers go to both raters, and half of the rest to each."""
    equal = labelled.number("Ann and Bob", "equal, %")
    assert (equal.value, equal.n) == (100, 4)
    assert labelled.number("Ann", "labels").value == labelled.number("Bob", "labels").value == 4 + 2


def test_share_that_comes_twice(labelled):
    """A quarter of the eight answers comes again."""
    for rater in ("Ann", "Bob"):
        assert labelled.number(rater, "repetitions answered as before, %").n == 2


def test_team(labelled):
    """All that are named are listed, with their labels, before they begin."""
    labels = labelled.frame("labels", "of").set_index("rater")["labels"]
    assert labels.to_dict() == {"Ann": 6 + 2, "Bob": 6 + 2, "Cem": 0}


def test_rater(people, labelled):
    """Each label is its rater's, with as many as were given."""
    raters_ = labelled.space["labels"]["rater"].value_counts()
    assert raters_.to_dict() == {"Ann": 6 + 2, "Bob": 6 + 2}
    assert people.session(rater="") is None  # the widget asks first


def test_group(labelled):
    groups = labelled.space["labels"].groupby("rater")["group"].unique().map(list)
    assert groups.to_dict() == {"Ann": ["expert"], "Bob": ["layperson"]}


def test_folder(people, labelled):
    """Labels are written to the folder, and read from there alone."""
    files = [p.read_text("utf-8") for p in (people.house.folder / "labels").rglob("*.jsonl")]
    assert sum(text.count("\n") for text in files) == len(labelled.space["labels"]) == 16
    other = dict(task="hallucination", folder=people.house.folder / "none")
    assert people.run("agreement", **other).space["labels"].empty


def test_batches(people):
    """In two batches each of two raters gets half of the sample, and they have none in common."""
    given = dict(size=8, repetitions=0, team="Ann,Bob")
    both = [{e.row["id"] for e in people.session(rater=r, batches=2, **given).queue} for r in TEAM]
    assert [len(mine) for mine in both] == [4, 4] and len(set.union(*both)) == 8
    (all_of_them,) = {len(people.session(rater=r, batches=1, **given).queue) for r in TEAM}
    assert all_of_them == 8


def test_the_seed_draws_the_sample(people):
    def drawn(seed):
        return {e.row["id"] for e in people.session(size=8, seed=seed).queue}

    assert drawn("") == drawn(0) != drawn(7)


def test_protocol(people):
    """Consent, training and four attention checks come with it, and reasons for a yes."""
    plain = people.session(size=20)
    whole = people.session(size=20, protocol=True)
    assert (plain.training, plain.entrance) == (None, None) and len(plain.queue) == 20 + 2
    assert whole.training is not None and whole.entrance is not None
    assert len(whole.queue) == 20 + 2 + 4
    assert whole.about["reason_for"] == ("yes",)


def test_all_reasons(people):
    whole = people.session(size=8, protocol=True, all_reasons=True)
    assert sorted(whole.about["reason_for"]) == ["no", "yes"]


def test_task(people):
    """Of the embedded model's lists: ten entries of each of 22 patients."""
    assert people.session(task="side_effect", size=5).drawn["n"] == 220
    assert people.session(task="side_effect", size=5).task.name == "side_effect"


def test_tiny(people):
    """Replies to a model's questions (17 of 89) are drawn only where one says so."""
    counts = {}
    for tiny in (False, True):
        made = people.run("agreement", task="presupposition", tiny=tiny, size=0)
        counts[tiny] = made.frame("drawn")["drawn"].sum()
    assert counts == {False: 72, True: 72 + 17}
    first = raters.judged(made.space["rows"], "presupposition")["judge"].drop_duplicates()
    assert first.tolist()[0] == "lexical"  # whose verdicts come first for raters


def test_chosen(people):
    """Two of the four papers, with all of their replies."""
    made = people.run("explore_failures", chosen="medhalu radiation", study="radiation")
    replies = next(f for f in made.values if "paper" in getattr(f, "index", f).names)["replies"]
    assert replies.groupby("paper").sum().to_dict() == {"medhalu": 32 + 288, "radiation": 630}


def test_study(people):
    """The study whose models are set side by side first, which may be another than those chosen."""
    made = people.run("explore_failures", chosen="medhalu", study="radiation")
    assert set(made.space["replies"]["section"]) == {"free_form", "selection", "pairs", "run_pairs"}
