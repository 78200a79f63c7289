"""Sheets 1p and 2p rest on released data: they check themselves, and hold nothing of the data."""

import json
import re
from math import sqrt
from pathlib import Path

import pytest
from sheets import ABSURD, OPEN, answers, assert_pass, source, space, whole

from bedside import BedsideError, seminar
from bedside.build.notebooks import execute
from bedside.papers.cancer_myth import systems
from bedside.publish.judged_items import Document
from bedside.read import paths, sources
from bedside.read.checks import normal
from bedside.seminar import edited, editions

SHEETS = {"survey": "public/1", "released": "public/2"}
NEEDS = {
    "survey": ["cancer_myth_survey_ratings", "cancer_myth_survey_blocks"]
    + ["cancer_myth_survey_answers"],
    "released": ["radiation_profiles", "radiation_reference"],
}
RUN_OF_WORDS = 8
NOTEBOOKS = editions.sources("public")
LETTERS = "abcdefgh"


def opened(name):
    """A sheet; skips where its data are not."""
    if absent := [n for n in NEEDS[name] if not sources.here(n)]:
        pytest.skip(f"not here: {', '.join(absent)}")
    return seminar.sheet(name)


@pytest.fixture(scope="module")
def survey():
    return opened("survey")


@pytest.fixture(scope="module")
def released():
    return opened("released")


@pytest.fixture(scope="module", params=SHEETS)
def sheet(request):
    return opened(request.param)


# ---- right, wrong, and nonsense


def test_solutions_pass(sheet):
    found = answers(SHEETS[sheet.paper], space(SHEETS[sheet.paper], sheet))
    assert set(found) == set(sheet.tasks())
    assert_pass(sheet, found.items())


@pytest.mark.parametrize("answer", (*OPEN, *ABSURD, object(), print, dict.fromkeys(LETTERS, [1])))
def test_nonsense_never_raises_and_is_never_right(sheet, answer):
    keys = [{k: answer for k in names} for names in (("site", "word"), ("added", "places"))]
    for number in sheet.tasks():
        for given in (answer, *keys):
            told = sheet.check(number, given)
            assert told.ok is not True and len(told.text) > 20
            assert (told.ok is None) == seminar.open_in(given)


def assert_named(sheet, wrong):
    for task, given, says in wrong:
        told = sheet.check(task, given)
        assert told.ok is False and says in told.text, (task, told.text)


def test_the_surveys_usual_mistakes_are_named(survey):
    medians, two = survey.solution("1.1"), survey.agreed()
    labels, misd, mean = survey.solution("1.2"), survey.misd(), survey.interval()
    gap, shares = survey.apart(), survey.shares()
    half, middle = (gap["high"] - gap["low"]) / 2, (gap["high"] + gap["low"]) / 2
    spread = sqrt(25) * (mean["high"] - mean["mean"])
    first = "GPT-4-Turbo, by one or more"
    hits = survey.counts().loc["GPT-4-Turbo", "marked by one or more"]
    one = {"takes for granted": "that all of it is so", "reply": "it does not ask whether so"}
    wrong = [
        ("1.1", dict.fromkeys(LETTERS, 3), "never varies"),
        ("1.1", {k: 6 - x for k, x in medians.items()}, "turned around"),
        ("1.1", medians | {"a": 7}, "whole points"),
        ("1.1", medians | {"a": True}, "whole points"),
        ("1.2", dict.fromkeys(LETTERS, "none"), "nothing is marked"),
        ("1.2", dict.fromkeys(LETTERS, "Overly generic"), "everything is marked"),
        ("1.2", labels | {"a": "bad"}, "none of the survey's labels"),
        ("1.3", two | {"kappa": two["agreement"]}, "agreement as kappa"),
        ("1.3", two | {"by chance": 0.5}, "isn't one half"),
        ("1.3", two | {"AC1": two["kappa"]}, "chance of its own"),
        ("1.4", misd | {"mean": 10 * misd["mean"]}, "sum"),
        ("1.4", misd | {"2 or less": 1 - misd["2 or less"]}, "above 2"),
        ("1.4", misd | {"largest": 9}, "not right yet"),
        ("1.5", {"mean": mean["mean"], "low": mean["mean"] - spread}
         | {"high": mean["mean"] + spread}, "root"),
        ("1.5", mean | {"mean": 3}, "not right yet"),
        ("1.6", gap | {"low": middle - half * 1.96 / 4.303, "high": middle + half * 1.96 / 4.303},
         "many raters"),
        ("1.6", gap | {"low": middle - half * sqrt(3), "high": middle + half * sqrt(3)}, "√3"),
        ("1.7", shares | {first: hits / 25}, "by the replies"),
        ("1.7", {k: 100 * x for k, x in shares.items()}, "percent"),
        ("1.8", one | {"instead": "asdf"}, "write a sentence"),
        ("1.8", one | {"instead": survey.asked[1][:60]}, "words on the page"),
    ]  # fmt: skip
    assert_named(survey, wrong)
    same = {k: str(x) for k, x in medians.items()}
    assert survey.check("1.1", same).state == "collected"
    loud = {k: x.upper() for k, x in labels.items()}
    assert survey.check("1.2", loud).state == "collected"


def test_the_patients_usual_mistakes_are_named(released):
    sizes = released.by_frequency()
    kinds = {e: released.kinds[e] for e in released.asked}
    turned = {"short-term": "long-term", "long-term": "short-term"}
    long = released.everything(released.patient["site"]) | {"models below": 7}
    unsaid = ((1 - released.recalls()) * sizes).sum(axis=1)
    said = {"Gemma-2-9B": unsaid["Gemma-2-9B"], "GPT-5.3": sizes.sum() - unsaid["GPT-5.3"]}
    two = {"to the patient": "I will find out what was treated before I answer"}
    wrong = [
        ("2.1", {"site": "chest wall", "word": "lumpectomy"}, "taken off"),
        ("2.1", {"site": "breast only", "word": "cancer"}, "another word"),
        ("2.1", {"site": "the arm", "word": "lumpectomy"}, "sites are"),
        ("2.1", {"site": "breast only", "word": "mastectomy"}, "isn't in the record"),
        ("2.2", {"added": "radiation", "places": 2}, "both records"),
        ("2.2", {"added": "chest wall", "places": 2}, "a part of it"),
        ("2.2", {"added": released.patient["site"], "places": 1}, "number isn't"),
        ("2.3", {"named": 21, "contradicted": 5}, "only records"),
        ("2.3", {"named": 10, "contradicted": 4}, "one direction"),
        ("2.4", dict.fromkeys(kinds, "long-term"), "same for all"),
        ("2.4", {e: turned.get(k, k) for e, k in kinds.items()}, "swapped"),
        ("2.4", dict.fromkeys(kinds, "long") | {released.asked[0]: "short"}, "need a breast"),
        ("2.5", {"both": 26, "either": 56, "overlap": 26 / 56}, "twice"),
        ("2.5", {"both": 26, "either": 30, "overlap": 52 / 56}, "Dice"),
        ("2.6", long | {"precision": 1, "recall": long["precision"]}, "swapped"),
        ("2.6", long | {"F1": (1 + long["precision"]) / 2}, "harmonic"),
        ("2.6", long | {"models below": 0}, "above it"),
        ("2.7", {"common": 4 / 8, "uncommon": 1 / 8, "rare": 2 / 8, "extremely rare": 0},
         "no recall"),
        ("2.8", said | {"rare, GPT-5.3": 5.3}, "that are said"),
        ("2.9", two | {"to the clinic": "x y z"}, "write a sentence"),
    ]  # fmt: skip
    assert_named(released, wrong)
    assert_pass(
        released,
        [
            ("2.1", {"site": "Breast & nodes", "word": "Lumpectomy"}),
            ("2.2", {"added": "chest wall & nodes", "places": "2"}),
            ("2.2", {"added": "Radiation Chest Wall and Nodes", "places": 2}),
            ("2.5", {"both": 26, "either": 30, "overlap": 0.87}),
        ],
    )


def test_what_follows_waits_for_its_task(survey, released):
    shows = survey.reveal(..., ...), survey.coefficients({}), released.effects(...)
    assert all(told.ok is None for told in shows)
    assert survey.reveal({"a": 1}, {"a": "none"}).ok is False


# ---- the data


EXAMPLES = {  # the paper's two examples (A.5): the question's and the paragraph's first words
    "Example 1, advice 1": ("I was diagnosed with CLL", "It appears"),
    "Example 1, advice 2": ("I was diagnosed with CLL", "To discuss this"),
    "Example 2, advice 1": ("My aunt is on morphine", "Alternative Pain Medications"),
    "Example 2, advice 2": ("My aunt is on morphine", "Non-Pharmacological"),
}


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


@pytest.mark.parametrize("name", SHEETS)
def test_absent_data_are_named_with_the_way_to_them(name, tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "EXTERNAL", tmp_path)
    sources.forget()
    with pytest.raises(BedsideError, match="is missing; fetch it with `make data PROFILE=public`"):
        seminar.sheet(name)
    sources.forget()


# ---- what is committed, and what students get


def runs(text):
    words = normal(text).split()
    return {tuple(words[i : i + RUN_OF_WORDS]) for i in range(len(words) - RUN_OF_WORDS + 1)}


def test_nothing_of_the_released_texts_is_committed(survey, released):
    texts = [*survey.asked.values(), *survey.replies.values(), *survey.texts]
    texts += [*released.patients["base"], *released.patients["specified"]]
    if sources.here(systems.FILE):
        run = Document("public").run("cancer_myth", "07_released_answers")
        texts += [*systems.answers(run, systems.file(run))["answer"]]
    theirs = set().union(*map(runs, texts))
    assert len(theirs) > 20_000
    packages = [p for n in SHEETS for p in (paths.ROOT / "lib/bedside/seminar" / n).glob("*.py")]
    files = {p: p.read_text(encoding="utf-8") for p in packages}
    files |= {p: "\n".join(map(source, cells(p))) for p in NOTEBOOKS}
    files[Path(__file__)] = Path(__file__).read_text(encoding="utf-8")
    assert not {p.name: shared for p, t in files.items() if (shared := runs(t) & theirs)}


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_the_sources_have_no_outputs_and_students_no_solution():
    assert len(NOTEBOOKS) == len(SHEETS)
    for path in NOTEBOOKS:
        assert not any(c.get("outputs") for c in cells(path))
        made = edited.edition(path, students=True)["cells"]
        text = "\n".join(map(source, made))
        assert (
            "solution(" not in text
            and "solution(" in "".join(map(source, cells(path)))
            or ("2_" in path.name)
        )
        ours = [c for c in cells(path) if set(edited.tags(c)) & edited.OURS]
        assert sum("solution" in edited.tags(c) for c in ours) >= 8
        assert not any(source(c) in text for c in ours)


def test_the_head_says_whose_texts_these_are():
    for path in NOTEBOOKS:
        head = source(cells(path)[0])
        assert "Whose texts these are" in head and "licence" in head.lower()
        assert "must not leave this machine" in head and "make data PROFILE=public" in head


@pytest.mark.parametrize("number", SHEETS.values())
def test_the_plan_fills_ninety_minutes_and_agrees_with_the_headings(number):
    text = whole(number)
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", text, re.M)
    assert sum(int(minutes) for minutes, _ in rows) == 90
    told = dict(re.findall(r"^## ([12]\.\d) .*\((\d+) minutes\)$", text, re.M))
    assert told == {what.split()[0]: m for m, what in rows if re.match(r"[12]\.\d ", what)}


def test_the_students_sheet_runs_unsolved_and_says_only_what_is_open(sheet, tmp_path):
    (path,) = (paths.NOTEBOOKS / "seminar").glob(f"{SHEETS[sheet.paper]}_*.ipynb")
    made = tmp_path / path.name
    made.write_text(json.dumps(edited.edition(path, students=True)), encoding="utf-8")
    execute(made, made, {})
    lines = editions.said(json.loads(made.read_text(encoding="utf-8")))
    assert sum(" Task " in line[:7] for line in lines) == len(sheet.tasks())
    assert {line[0] for line in lines} == {"…"}
