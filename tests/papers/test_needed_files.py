"""A claim that needs a file is decided once the file is here: with invented ones of its shape."""

import json
import re

import pandas as pd
import pytest

import invented
from bedside.papers.cancer_myth import data, systems
from bedside.papers.cancer_myth.tables import systems as tables
from bedside.papers.medhalu import data as medhalu_data
from bedside.papers.medhalu import tables as medhalu_tables
from bedside.papers.medhalu.implied import benchmark, detection
from bedside.read import claims, paths, sources
from bedside.run import Run

# the claims and interpretations that a file decides, by the words that name it
NAMED = {
    "all_data.json": "cm-p-gemini cm-worst-side-effect",
    "the released answers": """
        cm-raw-file cm-raw-places cm-raw-6a cm-raw-6b cm-raw-7 cm-raw-below-30 cm-raw-hardest
        cm-raw-own cm-raw-p-gemini cm-raw-p-claude cm-raw-all-fail
    """,
    "all_data_raw_generated.json": "cm-even cm-algorithm",
    "the generated questions: make": "cm-raw-generated",
    "HealthQA, which": "mh-healthqa-pairs mh-healthqa-mean mh-healthqa-deviation",
    "LiveQA's second": "mh-liveqa-pairs mh-liveqa-mean mh-liveqa-deviation mh-personal",
    "medhalu.jsonl": "mh-labelled mh-spans-length",
}
# words of a way to get data; PROFILE=public reads the rest of what is released
WAY = r"\bmake\b|MODE=|MODELS=|on request|data/external|doesn't fetch|PROFILE="


@pytest.fixture
def run_of(tmp_path, monkeypatch):
    """A function that makes a Run of notebook 07 beside invented files."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))

    def make(rows=None, generated=None):
        invented.place(monkeypatch, tmp_path, rows, generated)
        return Run("cancer_myth", "07_released_answers", profile="public")

    yield make
    sources.forget()


def verdict(paper, id, readings):
    """(a claim's verdict, {reading: yes, no, open or missing})."""
    told, rows = claims.judged(paper, id, readings)
    return told, {row["reading"]: row["holds"] for row in rows}


def test_each_claim_that_names_a_way_to_get_data_is_decided_with_them():
    """In `public`, or with a file that is named; what nobody computes names no way.

    What the study never measured is no need: it says what a study of one's own would do.
    """
    public = pd.read_csv(paths.FIGURES / "public" / "claims.csv").set_index("id")["verdict"]
    undecided, naming = [], {words: set() for words in NAMED}
    for paper in paths.papers():
        for id, claim in claims.load(paper).items():
            ways = [claim.needs, *(w.needs for w in claims.listed(paper).get(id, {}).values())]
            for needed in ways:
                if not re.search(WAY, needed) or needed.startswith("not measured"):
                    continue
                named = [words for words in NAMED if words in needed]
                for words in named:
                    naming[words].add(id)
                if not named and (id not in public or needed in public[id]):
                    undecided.append(f"{id} needs {needed}")
    assert not undecided, "\n".join(undecided)
    assert naming == {words: set(ids.split()) for words, ids in NAMED.items()}


# ---- Cancer-Myth's released grades and generated questions


def candidates_as_generated(change=lambda rows: rows):
    """The candidates in the form of the generated file, with others of the largest category."""
    invented._needed()
    rows = sources.load("cancer_myth_candidates")[["example_question", "category", "from_model"]]
    more = [
        {"example_question": f"Invented {by} {n}?", "category": "other", "from_model": by}
        for by in ("gpt-4o", "gemini-1.5-pro", "claude-3-5-sonnet")
        for n in range(100)
    ]
    return change(pd.concat([rows, pd.DataFrame(more)])).to_dict("records")


def test_algorithm_1_on_the_generated_questions_decides_its_two_claims(run_of):
    """Candidates that Algorithm 1 may have chosen, and others, of which it would take more."""
    run = run_of(generated=candidates_as_generated())
    offered = data.candidates(run)
    rest = offered[~offered["first"]]
    held = rest.groupby(["generator", "category"]).size()
    made = tables.generated(systems.generated(run), run)
    for id in ("cm-algorithm", "cm-even"):
        told, said = verdict("cancer_myth", id, made[id])
        assert "needs" not in told and "missing" not in said.values(), id
    # 100 more of Others than the candidates have: Algorithm 1 would have taken 38 of a generator
    few = held.xs("Others", level="category").lt(38).sum()
    told, *_, holds = made["cm-algorithm"]["a fixed number a category first"]
    assert few and told.startswith(f"{21 - few} of 21 have 38") and holds is False
    # of all other categories there are as many as among the candidates
    small = held.unstack().drop(columns="Others").lt(38).sum(axis=None)
    told, *_, holds = made["cm-even"]["what Algorithm 1 gives"]
    assert told.startswith(f"{21 - small} of 21 have 38") and holds == (small == 0)


# ---- MedHalu, HealthQA and LiveQA's training set, which only their authors give


@pytest.fixture
def with_copy(tmp_path, monkeypatch):
    """A function that puts a text where a source of yours belongs, and makes a Run beside it."""
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))

    def make(source, text, ending):
        path = tmp_path / f"{source}.{ending}"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setitem(sources.registry()[source], "file", str(path))
        sources.forget()
        return Run("medhalu", "01_benchmark", profile="public")

    yield make
    sources.forget()


def base_sets(run):
    """{claim: readings} on the base sets, of the files that are here."""
    lengths = medhalu_tables.benchmark.length_table(run, medhalu_data.printed_sets(run))
    return benchmark.questions(run, lengths)


def undecided(made, ids):
    """The claims among `ids` whose verdict still needs data, or whose readings lack any."""
    told = {id: verdict("medhalu", id, made[id]) for id in ids.split()}
    return [i for i, (v, said) in told.items() if "needs" in v or "missing" in said.values()]


def test_a_copy_of_healthqa_decides_its_claims(with_copy):
    invented._needed()
    text = "".join(f"1\tIs number {n} gout ?\tYes .\n" for n in range(1141))
    run = with_copy("healthqa", text, "txt")
    made = base_sets(run)
    assert undecided(made, NAMED["HealthQA, which"]) == []
    # five words each: so many pairs as are printed, and another mean
    said = claims.load("medhalu")["mh-healthqa-pairs"].value
    assert made["mh-healthqa-pairs"][claims.AS_WRITTEN][3] is (said == 1141)
    told, *_, holds = made["mh-healthqa-mean"][claims.AS_WRITTEN]
    assert (told, holds) == ("5.00", False)


@pytest.mark.parametrize("told, holds", [("", True), (" Mail me: jo@example.org", False)])
def test_the_training_set_of_liveqa_decides_its_claims(with_copy, told, holds):
    invented._needed()
    one = (
        "<NLM-QUESTION qid='{n}'><SUBJECT>s</SUBJECT><MESSAGE>Is it {n}?{told}</MESSAGE>"
        "<ANSWERS><ANSWER>yes</ANSWER></ANSWERS></NLM-QUESTION>"
    )
    text = "".join(one.format(n=n, told=told) for n in range(246))
    made = base_sets(with_copy("liveqa_train", f"<X>{text}</X>", "xml"))
    assert undecided(made, NAMED["LiveQA's second"]) == []
    assert made["mh-liveqa-pairs"][claims.AS_WRITTEN][::3] == ("246", True)
    assert made["mh-personal"]["LiveQA"][3] is holds


SPAN = {"HealthQA": 40, "LiveQA": 40, "MedicationQA": 40}  # characters of each labelled span


@pytest.mark.parametrize(
    "lengths, lacking, marked, harder",
    [
        (SPAN, None, True, True),  # Table 7's own order, with spans of one length
        ({**SPAN, "LiveQA": 400}, None, True, False),  # LiveQA's spans are ten times as long
        (SPAN, "LiveQA", False, None),  # without its spans nothing can be said
        (SPAN, "MedicationQA", False, None),
    ],
)
def test_a_copy_of_medhalu_decides_what_its_spans_say(with_copy, lengths, lacking, marked, harder):
    lines = [
        {"dataset": d, "question": f"q {n}", "answer": "a" * 500, "type": kind}
        | {"spans": None if kind == "none" or d == lacking else ["a" * length]}
        for d, length in lengths.items()
        for n, kind in enumerate(("fact", "input", "none"))
    ]
    run = with_copy("medhalu_benchmark", "".join(json.dumps(r) + "\n" for r in lines), "jsonl")
    made = benchmark.answers(run) | {"mh-spans-length": detection.span_lengths(run)}
    assert undecided(made, NAMED["medhalu.jsonl"]) == []
    assert made["mh-labelled"]["spans in the set itself"][3] == marked
    assert made["mh-spans-length"][claims.AS_WRITTEN][3] is harder
