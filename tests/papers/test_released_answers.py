"""Files that only their authors have, on invented ones of their shape: what they decide."""

import json

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

    def make(rows):
        invented.place(monkeypatch, tmp_path, rows)
        return Run("cancer_myth", NOTEBOOK, profile="public")

    yield make
    sources.forget()


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
    assert made.groupby("model").size().to_dict() == dict.fromkeys(systems.SYSTEMS.values(), 585)
    said = {r["example_question"]: r for r in rows}
    keys = {name: key for key, name in systems.SYSTEMS.items()}
    for r in made.sample(50, random_state=1).itertuples():
        row, key = said[r.question], keys[r.model]
        assert (r.answer, r.value, r.status) == (row["answers"][key], row["scores"][key], "graded")
    off = systems.differing(systems.checks(run, systems.file(run)))
    assert {*off} == {"places other than QID says"}


def test_what_is_no_grade_is_unscored_and_what_differs_from_the_description_is_found(run_of_file):
    run = run_of_file(faulty())
    made = systems.answers(run, systems.file(run))
    mine = made[made["model"] == "GPT-4o"]
    # 0 to 6 aren't grades, 7 and 11 have none, 8 and 10 no answer; 13 and 14 aren't in the file
    why = {"": 572, systems.NO_GRADE: 9, systems.NO_ANSWER: 2, systems.ABSENT: 2}
    assert mine["raw"].value_counts().to_dict() == why
    assert ((mine["status"] == "graded") == (mine["raw"] == "")).all()
    assert "DeepSeek-V3" not in set(made["model"])
    _, found = released.beside(made, run, "v1 Figure 6a")
    row = found.set_index(["row", "column"]).loc[("GPT-4o", "PCR")]
    right = (mine["value"] == 1).sum()
    ends = [100 * right / 585, 100 * (right + 13) / 585]
    assert row[["n", "unscored", "worst", "best"]].tolist() == pytest.approx([572, 13, *ends])
    off = systems.differing(systems.checks(run, systems.file(run)))
    assert off.items() >= {
        ("questions of the released set", (585, 583)),
        ("questions that stand there again", (0, 1)),
        ("categories that differ", (0, 2)),  # 9, and 14, whose question is that of 15
        ("generators that differ", (0, 1)),
        ("places other than QID says", (0, 1)),
        ("DeepSeek-V3: answers", (585, 0)),
        ("DeepSeek-V3: grades", (585, 0)),
        ("GPT-4o: answers", (585, 583)),  # 8 and 10
        # all but 0 to 7 and 11; of these six are something else, None and a lacking one are nothing
        ("GPT-4o: grades", (585, 576)),
        ("GPT-4o: scores that are no grade", (0, 6)),
    }


def test_a_shift_is_noticed(run_of_file):
    rows, key = invented.rows(), "GPT-4-Turbo"
    for which in ("answers", "scores"):  # the answer at 200 was dropped, the rest moved up
        for r, following in zip(rows[200:], rows[201:]):
            r[which][key] = following[which][key]
        del rows[-1][which][key]
    where = systems.places(systems.file(run_of_file(rows)))
    # 584 answers make 24 blocks of 25 (the last has 9); blocks 8 to 23 begin after place 200
    gaps = {"gaps before the last": 0, "gaps at the end": 1, systems.MOVED: 16}
    expected = {"answers": 584, "blocks": 24, **gaps}
    assert where.loc[key, [*expected]].to_dict() == expected
    assert not where.drop(key)[[*gaps]].any(axis=None)


def test_what_rests_on_the_file_stays_out_of_committed_folders(run_of_file, tmp_path):
    run = run_of_file(invented.rows(count=5))
    assert run.folder == tmp_path / "figures/runs/public-local/cancer_myth"
    assert run.recordings.folder.is_relative_to(paths.EXTERNAL)
    other = Run("cancer_myth", "03_evaluation", profile="public")
    assert other.folder == tmp_path / "figures/public/cancer_myth"
    with pytest.raises(BedsideError, match=f"is for cancer_myth/{NOTEBOOK} alone"):
        other.load(systems.FILE)
    assert systems.FILE not in sources.all_sources(other)


# ---- the notebook


@pytest.fixture
def results_of(monkeypatch, tmp_path):
    """A function that runs the notebook on rows: its claims' verdicts, outputs and figures."""

    def made(rows, generated=None):
        invented.place(monkeypatch, tmp_path, rows, generated)
        house = House(monkeypatch, tmp_path)
        monkeypatch.setattr(here, "run", "")
        house.run(f"cancer_myth/{NOTEBOOK}", profile="public")
        file = house.figures / f"runs/public-local/.parts/cancer_myth.{NOTEBOOK}.json"
        part = json.loads(file.read_text())
        verdicts = {c["id"]: c["verdict"] for c in part["claims"]}
        return verdicts, {o["file"] for o in part["outputs"]}, house.figures

    return made


def eight_words(text):
    words = normal(text).split()
    return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}


@pytest.mark.slow
def test_with_the_file_all_results_appear_outside_of_what_is_committed(results_of):
    rows = invented.rows(count=60)  # the other questions are unscored
    verdicts, outputs, figures = results_of(rows, rows[::2])
    assert not any("needs" in v for v in verdicts.values())
    assert {"cm-p-gemini", "cm-algorithm"} <= verdicts.keys()
    trust = "trust_lexical_released_answers.json"
    assert {"fig6a_released.svg", "fig6b_released.svg", "fig7_released.svg", trust} <= outputs
    card = json.loads((figures / "runs/public-local/cancer_myth" / trust).read_text())
    assert card["of"] == "answers of eight systems, graded by GPT-4o"
    assert card["n"] == 8 * (60 - 4)  # four stand in judges' examples
    pages.merge("public", private=True)
    theirs = set().union(*(eight_words(said) for r in rows for said in r["answers"].values()))
    assert len(theirs) > 24_000
    for path in figures.rglob("*"):
        if path.suffix in (".csv", ".json", ".html", ".md", ".svg"):
            assert not eight_words(path.read_text(encoding="utf-8")) & theirs, path


def test_the_notebook_goes_on_whatever_the_file_holds(results_of):
    rows = invented.rows(count=40)  # the other questions aren't in the file
    for r in rows:
        r["scores"] = {k: [v] for k, v in r["scores"].items()}
    verdicts, outputs, _ = results_of(rows)
    assert verdicts["cm-raw-file"] == "differs" and "table_released_counts.csv" in outputs
    assert "fig6a_released.svg" not in outputs


# ---- MedHalu, HealthQA and LiveQA's training set, which only their authors give

QUESTION = (
    "<NLM-QUESTION qid='{n}'><SUBJECT>s</SUBJECT><MESSAGE>Is it {n}? Mail me: jo@example.org"
    "</MESSAGE><ANSWERS><ANSWER>yes</ANSWER></ANSWERS></NLM-QUESTION>"
)
ANSWERS = [  # LiveQA's labelled spans are empty
    {"dataset": d, "question": f"q {kind}", "answer": "a" * 500, "type": kind}
    | {"spans": ["a" * 40] if kind != "none" and d != "LiveQA" else None}
    for d in ("HealthQA", "LiveQA", "MedicationQA")
    for kind in ("fact", "input", "none")
]
COPIES = {  # of a source: its text, its claims, and what some of them come to
    "healthqa.txt": (
        "".join(f"1\tIs number {n} gout ?\tYes .\n" for n in range(1141)),
        {"mh-healthqa-pairs": "1141", "mh-healthqa-mean": "5", "mh-healthqa-deviation": None},
    ),
    "liveqa_train.xml": (
        f"<X>{''.join(QUESTION.format(n=n) for n in range(246))}</X>",
        {"mh-liveqa-pairs": "246", "mh-personal": False}
        | dict.fromkeys(("mh-liveqa-mean", "mh-liveqa-deviation")),
    ),
    "medhalu_benchmark.jsonl": (
        "".join(json.dumps(r) + "\n" for r in ANSWERS),
        {"mh-labelled": False},
    ),
}


@pytest.mark.skipif(not sources.here("liveqa"), reason="released data")
@pytest.mark.parametrize("file", COPIES)
def test_a_copy_of_what_only_authors_give_decides_its_claims(file, tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path / "figures"))
    text, expected = COPIES[file]
    (tmp_path / file).write_text(text, encoding="utf-8")
    source = sources.registry()[file.partition(".")[0]]
    monkeypatch.setitem(source, "file", str(tmp_path / file))
    sources.forget()
    names = names_of.names(Run("medhalu", "01_benchmark", profile="public"))
    notebook = claims.load("medhalu")[next(iter(expected))].notebook
    made = claims.decided("medhalu", names, notebook)
    for id, said in expected.items():
        verdict, rows = claims.judged("medhalu", id, made[id])
        assert "needs" not in verdict and "missing" not in {row["holds"] for row in rows}, id
        reading = made[id].get(claims.AS_WRITTEN) or made[id]["LiveQA"]
        assert said is None or said in (reading[0], reading[3]), id
    sources.forget()
