"""Raters: labels are published, and what trust cards and papers make of them."""

import asyncio
from types import SimpleNamespace

import pandas as pd
import pytest
import raters_labels
from raters_labels import KNOWN, given, write

import rater_pages
from bedside import annotation
from bedside.annotation import raters, tasks
from bedside.annotation.blind import candidates
from bedside.judging import baselines, judges, trust_cards
from bedside.papers.cancer_myth import study as cancer_myth
from bedside.papers.cancer_myth.baselines import Echo
from bedside.papers.cancer_myth.data import labelled, rated, rated_plain
from bedside.papers.meddialbench import judging
from bedside.papers.meddialbench.examples import Labelled
from bedside.papers.medhalu import study as medhalu
from bedside.papers.medhalu.labels import annotations
from bedside.papers.radiation import matching
from bedside.publish.judged_items import collect
from bedside.read import sources
from bedside.read.surroundings import here
from bedside.run import Run
from judged import collected, elsewhere
from matrix import House

rng = raters_labels.rng  # a fixture
CONSULTED = "4 consultations"
SECTION_AND_SIZE = {
    **{"presupposition": ("4.3 false presupposition", 12), "hallucination": ("2.2 answers", 9)},
    **{"nfp": ("version 2: no false presupposition", 8), "adherence": (CONSULTED, 6)},
    **{"side_effect": ("3.5 pairs of this run", 10), "diagnosis": (CONSULTED, 14)},
}
# What Ann says, and once Bob with her; the other is what Bob says of the second row.
OPPOSITE = {
    **{"presupposition": ("1", "0"), "nfp": ("1", "0"), "diagnosis": ("no", "yes")},
    **{"side_effect": ("same", "different"), "adherence": ("attitude; expression", "logic")},
}
KEEPING = (  # notebooks in which labels of raters could be learnt from, or are rows
    *("cancer_myth/03_evaluation", "cancer_myth/05_judge_agreement", "radiation/02_free_form"),
    "radiation/04_documentation_sensitivity",
    *("radiation/06_judge_agreement", "medhalu/01_benchmark", "medhalu/02_detection"),
    *("meddialbench/01_design_and_validation", "meddialbench/05_vulnerability"),
)


def hallucinated(item, n):
    """Every second answer is hallucinated, what comes again is not."""
    said = {"values": ["no"], "reason": 'so, "it\nis"'}
    if n % 2 or item["again"]:
        return said
    first = " ".join(item["answer"]["text"].split()[:3])
    return said | {"values": ["yes"], "type": ["fact"], "spans": [first]}


def label(folder, task, rows):
    """Ann's labels of rows; Bob agrees on the first and differs on the second."""
    if task == "hallucination":
        how = {"size": 0, "repetitions": 0.3, "group": "expert"}
        return rater_pages.answer(folder, rows, task, "Ann", hallucinated, **how)
    hers, other = OPPOSITE[task]
    said = [("Ann", r, hers) for r in rows] + [("Bob", rows[0], hers), ("Bob", rows[1], other)]
    for rater, r, value in said:
        write(folder / "labels", rater, r, value, task)


@pytest.fixture(scope="module")
def world(nothing, tmp_path_factory):
    """Content without raters, then labels of all tasks published into a folder.

    files: {task: (file, labels written, rows, labels)}
    """
    folder, before = tmp_path_factory.mktemp("external"), collected(nothing)
    rows, files = annotation.rows(before), {}
    for task, (section, size) in SECTION_AND_SIZE.items():
        there = candidates(rows, tasks()[task])
        mine = [r for r in there if r["section"] == section][:size]
        label(folder, task, mine)
        labels = raters.labels(task, rows, folder / "labels")
        path, written = raters.publish(task, rows, labels, raters.consensus(labels), folder)
        files[task] = path, written, mine, labels
    with pytest.MonkeyPatch.context() as patch:
        elsewhere(patch, folder)
        yield SimpleNamespace(folder=folder, before=before, rows=rows, files=files)
    sources.forget()


@pytest.fixture(scope="module")
def after(world):
    """Rows once the notebooks KEEPING have run with the labels.

    learnt: {(kind of baseline, whether raters' labels are in what it learns from)}
    """
    learnt = set()
    with pytest.MonkeyPatch.context() as patch:
        for kind in (baselines.Lexical, Echo, judging.Overlap):

            def init(self, labelled, *values, own=kind.__init__):
                learnt.add((type(self).__name__, bool(labelled.get("rated", pd.Series()).any())))
                own(self, labelled, *values)

            patch.setattr(kind, "__init__", init)
        house = House(patch, world.folder / "house")
        patch.setattr(judges, "is_named", lambda run, judge: False)
        for name in KEEPING:
            house.run(name, until="run.keep(")["run"]._calls.close()
        made = raters.with_labels(collect("sample"), world.folder / "labels")
        yield SimpleNamespace(rows=made["rows"], learnt=learnt)


def run_of(paper, notebook, tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    return Run(paper, notebook)


def source_of(file):
    """The source that a file of data/external is."""
    return next(name for name, e in sources.registry().items() if e.get("file") == file)


def test_published_files_are_what_the_sources_describe(world):
    for task, (path, written, mine, _) in world.files.items():
        file = f"data/external/{path.relative_to(world.folder).as_posix()}"
        loaded, size = sources.load(source_of(file)), SECTION_AND_SIZE[task][1]
        if task == "hallucination":
            assert len(loaded) == written == size
            continue
        assert len(loaded) == written == size - 1  # the second row is disputed
        ids = loaded.get("answer_id", loaded.get("pair", loaded.get("dialogue")))
        assert ids.tolist() == [r["id"] for n, r in enumerate(mine) if n != 1]
        assert loaded["labelled_by"].tolist() == ["Ann, Bob"] + ["Ann"] * (written - 1)
    first, myth = world.files["presupposition"][2][0], sources.load("cancer_myth_rated").iloc[0]
    assert (myth["answer"], myth["item"], myth["label"]) == (first["reply"], first["item"], 1)
    assert myth["question"] == first["shared"][0]["text"]
    seen = sources.load("meddialbench_rated_adherence").iloc[0]
    assert seen["shown"] == ["expression", "attitude"] and len(seen["levels"]) == 2
    patient = [line for line in seen["text"].splitlines() if line.startswith("Patient: ")]
    assert [line[9:] for line in patient] == seen["said"].splitlines() != []
    said = sources.load("meddialbench_rated").iloc[0]
    assert said["references"][0] == said["truth"] and said["diagnosis"] and said["label"] == "no"


def test_flags_on_the_pieces_of_a_list_are_published_piece_by_piece(world, tmp_path):
    task = tasks()["side_effect_list"]
    whole = max(candidates(world.rows, task), key=lambda r: len(task.asked(r)))
    pieces = task.asked(whole)[:3]
    label_of = "right", "false negative", "right"
    for piece, value in zip(pieces, label_of, strict=True):
        write(tmp_path / "labels", "Ann", piece, value, task.name)
    labels = raters.labels(task.name, world.rows, tmp_path / "labels")
    settled = raters.consensus(labels)
    path, written = raters.publish(task.name, world.rows, labels, settled, tmp_path)
    frame = pd.read_json(path, lines=True)
    assert written == 3 and set(frame.columns) == set(sources.entry("radiation_flagged")["columns"])
    assert set(frame["list"]) == {whole["id"]} and set(frame["matcher"]) == {"lexical"}
    said = dict(zip(frame["decision"], frame["label"]))
    assert said == {p["reply"]: value for p, value in zip(pieces, label_of, strict=True)}


@pytest.mark.slow
def test_judges_say_the_same_after_labels_were_published(world, after):
    assert after.learnt == {("Lexical", False), ("Echo", False), ("Overlap", False)}
    now = {r["id"]: r for r in after.rows}
    before = {r["id"]: r for r in world.before["rows"]}
    both = [(r, now[id]) for id, r in before.items() if id in now]
    assert len(both) > 1000
    for r, later in both:
        judged = [m for m in later["more"] if not m["task"].endswith("label")]
        assert (later["verdicts"], judged, later["reply"]) == (r["verdicts"], r["more"], r["reply"])
    new = [r for id, r in now.items() if id not in before]
    assert {(r["section"], r["paper"]) for r in new} == {("3 detection", "medhalu")}
    assert len(new) == world.files["hallucination"][1]


@pytest.mark.slow
def test_raters_labels_stand_at_their_rows(after):
    def by_ann(row, task):
        if row["section"] != SECTION_AND_SIZE[task][0]:
            return []
        if task == "adherence":
            return [m["value"] for m in row["more"] if m["judge"] == "Ann"]
        return [h["value"] for h in row["human"] if h["by"].endswith("Ann")]

    rows = after.rows
    found = {task: [v for r in rows if (v := by_ann(r, task))] for task in SECTION_AND_SIZE}
    # published or not, a label stands there once
    assert all(len(said) == 1 for labels in found.values() for said in labels)
    for task, (_, size) in SECTION_AND_SIZE.items():
        assert len(found[task]) == size, task
    assert found["presupposition"][0] == ["1 corrected"]
    assert found["nfp"][0] == ["1 leaves the premise alone"]
    assert found["adherence"][0] == ["expression; attitude"]
    assert found["hallucination"][0][0] in ("yes, hallucinated", "no, right")
    assert found["diagnosis"][0] == ["no"] and found["side_effect"][0] == ["same"]


def test_meddialbenchs_cards_count_the_new_labels(world, tmp_path, monkeypatch):
    run = run_of("meddialbench", "01_design_and_validation", tmp_path, monkeypatch)
    known = Labelled(run)
    measured = asyncio.run(judging.measured(run, known, "lexical"))
    equal = {
        task: [a == b for a, b in zip(right, made["value"])]
        for task, (right, made) in measured.items()
    }
    counts = {task: (len(hits), sum(hits)) for task, hits in equal.items()}
    assert counts["misled"] == (15, 11) and counts["coverage"] == (360, 279)
    assert counts[""][0] == 90 + 13 and counts["adherence"][0] == 5 * (30 + 5)
    assert sum(equal[""][:90]) == 70 and sum(equal["adherence"][:150]) == 131
    assert known.labelled_by("coverage") == known.labelled_by("misled") == "this project"
    assert "Ann" in known.labelled_by() and "Ann" in known.labelled_by("adherence")
    assert len(baselines.learnt(known.diagnosis)) == 90 and len(known.rows("coverage")) == 360
    assert known.adherence["dialogue"].str.startswith("Doctor: ").all()
    assert known.adherence["answer_id"].is_unique


def test_cards_of_cancer_myth_and_radiation_count_the_new_labels(world, tmp_path, monkeypatch, rng):
    # The word-overlap judge grades one of 11 new answers 1, the others -1; the raters all 1:
    # of 120 exact 69 become 70 of 131; of 40 answers of grade 1 33 are found, now 34 of 51.
    run = run_of("cancer_myth", "05_judge_agreement", tmp_path, monkeypatch)
    example, how = rated(run), cancer_myth.GRADING["myth"]
    graded = asyncio.run(judges.grade_labelled(run, example, judge="lexical", **how))
    card = trust_cards.trust_card(example["label"], graded, cancer_myth.GRADES)
    assert card["n"] == 131 and card["exact"]["value"] == pytest.approx(70 / 131)
    assert card["sensitivity"]["value"] == pytest.approx(34 / 51)
    assert card["specificity"]["value"] == pytest.approx(75 / 80)
    assert judges.whose(example) == "their authors, Ann and Bob"
    assert example["rated"].sum() == 11 and len(labelled(run)) == 120
    assert len(rated_plain(run)) == 42 + 7
    run = run_of("radiation", "06_judge_agreement", tmp_path, monkeypatch)
    pairs = matching.labelled(run)
    found = asyncio.run(matching.match_labelled(run, pairs, "lexical"))
    assert len(pairs) == 339 and (found["value"] == pairs["label"])[:330].sum() == 327
    # the card rests on the third batch, and on what raters labelled
    assert matching.unseen(pairs).sum() == 60 + 9


def test_medhalus_annotations_are_read_as_they_were_given(world, tmp_path, monkeypatch):
    _, written, _, labels = world.files["hallucination"]

    def read():
        run = run_of("medhalu", "02_detection", tmp_path, monkeypatch)
        made = annotations(run, asyncio.run(medhalu.benchmark(run, "built", 0, "")))
        return made[made["repeat"] == "Ann"].set_index("item")

    own = read()
    assert written == len(own) == 9 and labels["repetition"].sum() == 3
    assert set(own["group"]) == {"expert"} and set(own["reason"]) == {'so, "it\nis"'}
    for r in labels[~labels["repetition"]].itertuples():
        said = own.loc[r.item, ["yes", "type", "spans"]].tolist()
        assert said == [float(r.value == "yes"), r.type, r.spans]
    assert own["yes"].nunique() == 2
    elsewhere(monkeypatch, tmp_path)
    given_ = given(KNOWN["published"]["labels"]).assign(source="a formulary")
    given_ = given_.assign(item=given_["id"], spans=[[]] * len(given_))
    counted = raters.background("hallucination", tmp_path)
    counted.loc[0] = ["expert", "Gender", "Male", 5]  # of raters only counts are published
    for mine, count in ((given_, 2), (given_[given_["id"] < "mh-03"], 1)):
        settled = raters.consensus(mine)
        assert raters.publish("hallucination", [], mine, settled, tmp_path, counted)[1] == count
        loaded = sources.load("medhalu_annotations")
        assert set(loaded["rater"]) == {"Ann"} and set(loaded["consulted"]) == {"a formulary"}
        assert len(loaded) == count
    assert read().index.tolist() == ["mh-01"]
    text = (tmp_path / "medhalu/raters.csv").read_text()
    assert "expert,Gender,Male,5\n" in text and "Ann" not in text
    sources.forget()
