"""Files that only their authors have, on invented ones of their shape: what they decide."""

import json
import re

import pandas as pd
import pytest

import invented
from bedside import BedsideError
from bedside.papers.cancer_myth import released, systems
from bedside.papers.medhalu import claims as names_of
from bedside.publish import pages
from bedside.read import claims, paths, sources
from bedside.read.checks import normal
from bedside.read.surroundings import here
from bedside.run import Run
from matrix import House

NOTEBOOK = "07_released_answers"


@pytest.fixture
def run_of_file(tmp_path, monkeypatch):
    """A function that makes a Run beside an invented file."""
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))

    def make(rows=None, generated=None):
        invented.place(monkeypatch, tmp_path, rows, generated)
        return Run("cancer_myth", NOTEBOOK, profile="public")

    yield make
    sources.forget()


@pytest.fixture
def faulty():
    """585 rows of which each has one fault, at a place of its own."""
    rows = invented.rows()
    for r in rows:
        for said in (r["answers"], r["scores"]):
            del said["DeepSeek-V3"]  # a system that lacks
    for at, score in enumerate((2, "1", [1], None, True, {"score": 1}, 0.5)):
        rows[at]["scores"]["GPT-4o"] = score  # seven that are no grades
    del rows[7]["scores"]["GPT-4o"]  # another one without
    rows[8]["answers"]["GPT-4o"] = " "  # a grade without an answer
    rows[9]["category"] = "rumour"
    rows[10]["answers"], rows[11]["scores"] = None, [0, 1]
    rows[12]["from_model"] = "gpt-5"
    rows[13]["example_question"] = "Is this another question?"
    rows[14]["example_question"] = rows[15]["example_question"].upper()  # the same one twice
    rows[16]["QID"] = 99
    return rows


def test_answers_are_joined_by_text_not_by_place(run_of_file):
    rows = invented.rows()
    run = run_of_file(rows[::-1])
    made = systems.answers(run, systems.file(run))
    assert len(made) == 8 * 585 and made.groupby("model").size().eq(585).all()
    said = {r["example_question"]: r for r in rows}
    keys = {name: key for key, name in systems.SYSTEMS.items()}
    for r in made.sample(50, random_state=1).itertuples():
        assert r.answer == said[r.question]["answers"][keys[r.model]]
        assert r.value == said[r.question]["scores"][keys[r.model]] and r.status == "graded"


def test_what_is_no_grade_is_unscored_with_bounds(run_of_file, faulty):
    run = run_of_file(faulty)
    made = systems.answers(run, systems.file(run))
    mine = made[made["model"] == "GPT-4o"]
    # 0 to 6 aren't grades, 7 has none, 8, 10 no answer, 11 no grade; 13 and 14 aren't in the file
    assert (mine["status"] != "graded").sum() == 8 + 1 + 1 + 1 + 2
    why = mine["raw"].value_counts()
    assert (why[systems.NO_GRADE], why[systems.NO_ANSWER], why[systems.ABSENT]) == (9, 2, 2)
    assert "DeepSeek-V3" not in set(made["model"])
    _, found = released.beside(made, run, "v1 Figure 6a")
    row = found[found["row"] == "GPT-4o"].set_index("column")
    assert row.loc["PCR", "unscored"] == 13 and row.loc["PCR", "n"] == 572
    right = (mine["value"] == 1).sum()
    low, high = row.loc["PCR", ["worst", "best"]]
    assert (low, high) == pytest.approx((100 * right / 585, 100 * (right + 13) / 585))


def test_what_differs_from_the_description_is_found(run_of_file, faulty):
    run = run_of_file(faulty)
    off = systems.differing(systems.checks(run, systems.file(run)))
    assert off["questions of the released set"] == (585, 583)
    assert off["questions that stand there again"] == (0, 1)
    assert off["categories that differ"] == (0, 2)  # 9, and 14, whose question is that of 15
    assert off["generators that differ"] == (0, 1)
    assert off["places other than QID says"] == (0, 1)
    assert off["DeepSeek-V3: answers"] == off["DeepSeek-V3: grades"] == (585, 0)
    assert off["GPT-4o: answers"] == (585, 583)  # 8 and 10
    # all but 0 to 7 and 11; of these six are something else, None and a lacking one are nothing
    assert off["GPT-4o: grades"] == (585, 576)
    assert off["GPT-4o: scores that are no grade"] == (0, 6)
    run = run_of_file(invented.rows())
    assert not systems.differing(systems.checks(run, systems.file(run)))


def test_a_shift_is_noticed(run_of_file):
    rows = invented.rows()
    key, at = "GPT-4-Turbo", 200
    for which in ("answers", "scores"):  # the answer at 200 was dropped, the rest moved up
        moved = [r[which][key] for r in rows]
        for r, said in zip(rows[at:], moved[at + 1 :]):
            r[which][key] = said
        del rows[-1][which][key]
    run = run_of_file(rows)
    where = systems.places(systems.file(run))
    # 584 answers make 24 blocks of 25 (the last has 9); blocks 8 to 23 begin after place 200
    expected = {"answers": 584, "gaps before the last": 0, "gaps at the end": 1, "blocks": 24}
    expected[systems.MOVED] = 16
    assert where.loc[key, [*expected]].to_dict() == expected
    others = where.drop(key)[["gaps before the last", "gaps at the end", systems.MOVED]]
    assert not others.any(axis=None)


def test_what_rests_on_the_file_stays_out_of_committed_folders(run_of_file, tmp_path):
    run = run_of_file(invented.rows(count=5))
    assert run.folder == tmp_path / "figures/runs/public-local/cancer_myth"
    assert run.recordings.folder.is_relative_to(paths.EXTERNAL)
    other = Run("cancer_myth", "03_evaluation", profile="public")
    assert other.folder == tmp_path / "figures/public/cancer_myth"
    with pytest.raises(BedsideError, match=f"is for cancer_myth/{NOTEBOOK} alone"):
        other.load(systems.FILE)
    assert systems.FILE not in sources.all_sources(other)


# ---- the notebook, explorer, raters and seminar


@pytest.fixture
def house(monkeypatch, tmp_path):
    made = House(monkeypatch, tmp_path)
    monkeypatch.setattr(here, "run", "")
    return made


def of_notebook(house, folder):
    """{claim: verdict} and the outputs of the notebook as its part of a manifest has them."""
    part = json.loads(
        (house.figures / folder / ".parts" / f"cancer_myth.{NOTEBOOK}.json").read_text()
    )
    return {c["id"]: c["verdict"] for c in part["claims"]}, [o["file"] for o in part["outputs"]]


def eight_words(texts):
    words = [normal(text).split() for text in texts]
    return {tuple(w[i : i + 8]) for w in words for i in range(len(w) - 7)}


@pytest.mark.slow
def test_with_the_file_all_results_appear_outside_of_what_is_committed(
    house, monkeypatch, tmp_path
):
    rows = invented.rows(count=60)  # the other questions are unscored
    invented.place(monkeypatch, tmp_path, rows, rows[::2])
    house.run(f"cancer_myth/{NOTEBOOK}", profile="public")
    verdicts, outputs = of_notebook(house, "runs/public-local")
    assert not any("needs" in v for v in verdicts.values())
    assert {"cm-p-gemini", "cm-algorithm"} <= verdicts.keys()
    trust = "trust_lexical_released_answers.json"
    assert {"fig6a_released.svg", "fig6b_released.svg", "fig7_released.svg", trust} <= {*outputs}
    card = json.loads((house.figures / "runs/public-local/cancer_myth" / trust).read_text())
    assert card["of"] == "answers of eight systems, graded by GPT-4o"
    assert card["n"] == 8 * (60 - 4)  # four stand in judges' examples

    # another judge, of eight answers to 5 questions less the one in its examples
    given = {"profile": "public", "mode": "record", "judge": "fake-fitting", "limit": 5}
    house.run(f"cancer_myth/{NOTEBOOK}", until="by_judges", **given)
    recorded = paths.EXTERNAL / "recordings/cancer_myth/public/fake-fitting.jsonl"
    assert len(recorded.read_text().splitlines()) == 32
    assert not list(paths.RECORDINGS.rglob("fake-fitting.jsonl"))

    pages.merge("public", private=True)
    theirs = eight_words(said for r in rows for said in r["answers"].values())
    assert len(theirs) > 24_000
    for path in house.figures.rglob("*"):
        if path.suffix in (".csv", ".json", ".html", ".md", ".svg"):
            assert not eight_words([path.read_text(encoding="utf-8")]) & theirs, path


def test_the_notebook_goes_on_whatever_the_file_holds(house, monkeypatch, tmp_path):
    rows = invented.rows(count=40)  # the other questions aren't in the file
    for r in rows:
        r["scores"] = {k: [v] for k, v in r["scores"].items()}
    invented.place(monkeypatch, tmp_path, rows)
    house.run(f"cancer_myth/{NOTEBOOK}", profile="public")
    verdicts, outputs = of_notebook(house, "runs/public-local")
    assert verdicts["cm-raw-file"] == "differs" and "table_released_counts.csv" in outputs
    assert "fig6a_released.svg" not in outputs


# ---- MedHalu, HealthQA and LiveQA's training set, which only their authors give

QUESTION = (
    "<NLM-QUESTION qid='{n}'><SUBJECT>s</SUBJECT><MESSAGE>Is it {n}? Mail me: jo@example.org"
    "</MESSAGE><ANSWERS><ANSWER>yes</ANSWER></ANSWERS></NLM-QUESTION>"
)
ANSWERS = [  # LiveQA's labelled spans are empty
    {"dataset": d, "question": f"q {n}", "answer": "a" * 500, "type": kind}
    | {"spans": ["a" * 40] if kind != "none" and d != "LiveQA" else None}
    for d in ("HealthQA", "LiveQA", "MedicationQA")
    for n, kind in enumerate(("fact", "input", "none"))
]
COPIES = {  # of a source: its text, its claims, and what some of them come to
    "healthqa.txt": (
        "".join(f"1\tIs number {n} gout ?\tYes .\n" for n in range(1141)),
        "mh-healthqa-pairs mh-healthqa-mean mh-healthqa-deviation",
        {"mh-healthqa-pairs": "1141", "mh-healthqa-mean": "5"},
    ),
    "liveqa_train.xml": (
        f"<X>{''.join(QUESTION.format(n=n) for n in range(246))}</X>",
        "mh-liveqa-pairs mh-liveqa-mean mh-liveqa-deviation mh-personal",
        {"mh-liveqa-pairs": "246", "mh-personal": False},
    ),
    "medhalu_benchmark.jsonl": (
        "".join(json.dumps(r) + "\n" for r in ANSWERS),
        "mh-labelled",
        {"mh-labelled": False},
    ),
}


@pytest.mark.skipif(not sources.here("liveqa"), reason="released data")
@pytest.mark.parametrize("file", COPIES)
def test_a_copy_of_what_only_authors_give_decides_its_claims(file, tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))
    text, claimed, expected = COPIES[file]
    (tmp_path / file).write_text(text, encoding="utf-8")
    source = sources.registry()[file.partition(".")[0]]
    monkeypatch.setitem(source, "file", str(tmp_path / file))
    sources.forget()
    run = Run("medhalu", "01_benchmark", profile="public")
    ids = claimed.split()
    notebook = claims.load("medhalu")[ids[0]].notebook
    made = claims.decided("medhalu", names_of.names(run), notebook)
    for id in ids:
        verdict, rows = claims.judged("medhalu", id, made[id])
        assert "needs" not in verdict and "missing" not in {row["holds"] for row in rows}, id
    for id, said in expected.items():
        reading = made[id].get(claims.AS_WRITTEN) or made[id]["LiveQA"]
        assert said in (reading[0], reading[3]), id
    sources.forget()
