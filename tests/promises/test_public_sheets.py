"""Sheet 1p rests on released data: it checks itself, and nothing of the data is committed."""

import re
from math import sqrt
from pathlib import Path

import pytest

from bedside import BedsideError, seminar
from bedside.papers.cancer_myth import systems
from bedside.publish.judged_items import Document
from bedside.read import paths, sources
from bedside.read.checks import normal
from bedside.seminar.tasks import guide

NEEDS = [f"cancer_myth_survey_{part}" for part in ("ratings", "blocks", "answers")]
RUN_OF_WORDS = 8
LETTERS = "abcdefgh"
EXAMPLES = {  # the paper's two examples (A.5): the question's and the paragraph's first words
    "Example 1, advice 1": ("I was diagnosed with CLL", "It appears"),
    "Example 1, advice 2": ("I was diagnosed with CLL", "To discuss this"),
    "Example 2, advice 1": ("My aunt is on morphine", "Alternative Pain Medications"),
    "Example 2, advice 2": ("My aunt is on morphine", "Non-Pharmacological"),
}


@pytest.fixture(scope="module")
def survey():
    """The sheet; skips where its data are not."""
    if absent := [n for n in NEEDS if not sources.here(n)]:
        pytest.skip(f"not here: {', '.join(absent)}")
    return seminar.sheet("survey")


def mistakes(survey):
    """{task: {mistake: an answer}}, of the numbers of this survey."""
    true = {n: guide(t, survey.names, False)[0] for n, t in survey.tasks().items() if "truth" in t}
    two, misd, mean, gap, shares = (true[f"1.{k}"] for k in range(3, 8))
    half, middle = (gap["high"] - gap["low"]) / 2, (gap["high"] + gap["low"]) / 2
    spread = sqrt(25) * (mean["high"] - mean["mean"])
    first = "GPT-4-Turbo, by one or more"
    hits = survey.marks().loc["GPT-4-Turbo", "marked by one or more"]
    around = {"low": mean["mean"] - spread, "high": mean["mean"] + spread}
    normal_ = {"low": middle - half * 1.96 / 4.303, "high": middle + half * 1.96 / 4.303}
    root = {"low": middle - half * sqrt(3), "high": middle + half * sqrt(3)}
    return {
        "1.3": {
            "agreement as kappa": two | {"kappa": two["agreement"]},
            "chance is one half": two | {"by chance": 0.5},
            "chance of kappa": two | {"AC1": two["kappa"]},
        },
        "1.4": {
            "sum": misd | {"mean": 10 * misd["mean"]},
            "above two": misd | {"2 or less": 1 - misd["2 or less"]},
            "any other": misd | {"largest": 9},
        },
        "1.5": {"no root": mean | around, "any other": mean | {"mean": 3}},
        "1.6": {"many raters": gap | normal_, "no root": gap | root},
        "1.7": {
            "by replies": shares | {first: hits / 25},
            "percent": {k: 100 * x for k, x in shares.items()},
        },
    }


def test_the_surveys_usual_mistakes_are_told_apart(survey):
    for task, known in mistakes(survey).items():
        said = {survey.check(task, given).text: name for name, given in known.items()}
        assert survey.check(task, [1]).state == "not yet" and len(said) == len(known), said
        assert {survey.check(task, given).state for given in known.values()} == {"not yet"}
    for task, odd in (("1.1", 7), ("1.2", "bad")):
        mine = {k: str(x).upper() for k, x in survey.solution(task).items()}
        assert survey.check(task, mine).state == "collected"
        assert survey.check(task, mine | {"a": odd}).state == "not yet"


def test_paragraphs_have_the_ratings_that_the_paper_prints_for_them(survey):
    """The paper's score of a paragraph is the rounded mean of the three physicians' ratings."""
    scores = survey.run.published("v1 text A.5").set_index("row")["value"]
    for name, (question, words) in EXAMPLES.items():
        (row,) = (r for r in scores.index if r.startswith(name))
        (number,) = (n for n, q in survey.asked.items() if q.startswith(question))
        mine = survey.texts.loc[(number, row.rpartition(", ")[2])]
        (part,) = mine.index[mine.str.startswith(words)]
        rated = survey.rated.loc[(number, row.rpartition(", ")[2], part)]
        assert round(rated.mean()) == scores[row], (row, rated.tolist())


def test_each_pair_has_one_marked_paragraph_and_says_nothing_of_its_source(survey):
    keys = list(survey.eight.values())
    for a, b in zip(keys[::2], keys[1::2]):
        assert a[0] == b[0] and a[1] != b[1]
        assert sorted(survey.marked.loc[[a, b]].sum(axis=1))[0] == 0
    page = survey.paragraphs().data.to_string()
    assert not any(name in page for name in ("GPT", "Gemini", "LLaMa", "Social workers"))


def test_absent_data_are_named_with_the_way_to_them(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "EXTERNAL", tmp_path)
    sources.forget()
    with pytest.raises(BedsideError, match="is missing; fetch it with `make data PROFILE=public`"):
        seminar.sheet("survey")
    sources.forget()


def runs(text):
    words = normal(re.sub(r"\\n|\\", " ", text)).split()
    return {tuple(words[i : i + RUN_OF_WORDS]) for i in range(len(words) - RUN_OF_WORDS + 1)}


def test_nothing_of_the_released_texts_is_committed(survey):
    texts = [*survey.asked.values(), *survey.replies.values(), *survey.texts]
    if sources.here(systems.FILE):
        run = Document("public").run("cancer_myth", "07_released_answers")
        texts += [*systems.answers(run, systems.file(run))["answer"]]
    theirs = set().union(*map(runs, texts))
    assert len(theirs) > 20_000
    ours = [*(paths.NOTEBOOKS / "seminar" / "public").glob("*.md"), Path(__file__)]
    ours += (paths.ROOT / "lib/bedside/seminar").glob("survey.*")
    found = {p.name: runs(p.read_text(encoding="utf-8")) & theirs for p in ours if p.is_file()}
    assert not {name: shared for name, shared in found.items() if shared}
