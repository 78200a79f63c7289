"""Cancer-Myth: metrics by hand, the survey read from a small export, the sample data's balance."""

import asyncio
import json
import re

import numpy as np
import pandas as pd
import pytest

from bedside import stats
from bedside.keep.replies import VERDICT_TOKENS
from bedside.papers.cancer_myth import data, figures, implied, pipeline, study, survey
from bedside.papers.cancer_myth.implied import survey_readings
from bedside.papers.cancer_myth.scores import scores
from bedside.papers.cancer_myth.tables import evaluation, generation
from bedside.papers.cancer_myth.tables import survey as survey_tables
from bedside.papers.cancer_myth.v2 import items as v2_items
from bedside.read import claims, paths, sources
from bedside.run import Run
from bedside.write.tables import BOUNDS, paired
from conftest import SILENT, completion


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run("cancer_myth", "03_evaluation", profile="sample")


def graded(**values):
    rows = [
        (f"q{k}", model, "unparsed" if v is None else "graded", v, "A" if k < 2 else "B")
        for model, grades in values.items()
        for k, v in enumerate(grades)
    ]
    return pd.DataFrame(rows, columns=["item", "model", "status", "value", "category"])


def test_pcs_and_pcr_by_hand(run):
    # grades 1, 1, 0, -1 and one unscored: PCS (1 + 1 + 0 - 1) / 4 = 0.25, PCR 2 / 4 = 50%;
    # if the unscored one were -1 or 1: PCS 0 / 5 to 2 / 5, PCR 2 / 5 to 3 / 5
    s = scores(graded(m=[1, 1, 0, -1, None]), run).set_index("metric")
    assert s.loc["PCS", ["value", "n", "unscored", "least", "most"]].tolist() == [
        0.25,
        4,
        1,
        0.0,
        0.4,
    ]
    assert s.loc["PCR", ["value", "n", "unscored", "least", "most"]].tolist() == [
        50.0,
        4,
        1,
        40.0,
        60.0,
    ]
    assert s.loc["PCR", "low"] == pytest.approx(100 * stats.wilson(2, 4).low)
    assert s.loc["PCS", ["low", "high"]].isna().all()  # of four


def test_intervals_are_over_myths(run):
    twelve = graded(m=[1, 1, 0, -1] * 3)
    plain = scores(twelve, run).set_index("metric")
    by_myth = scores(twelve.assign(unit=[str(i // 2) for i in range(12)]), run).set_index("metric")
    assert plain.loc["PCS", "low"] < 0.25 < plain.loc["PCS", "high"]
    assert by_myth.loc["PCS", ["low", "high"]].isna().all()  # six myths
    assert by_myth.loc["PCR", "low"] < plain.loc["PCR", "low"]
    assert by_myth["value"].tolist() == plain["value"].tolist()


def test_a_model_without_a_verdict_does_not_vanish(run):
    s = scores(graded(m=[None, None], k=[1, 0]), run)
    lost = s[s["model"] == "m"]
    assert (
        lost["value"].isna().all()
        and lost["n"].tolist() == [0, 0]
        and lost["unscored"].tolist() == [2, 2]
    )


def test_tables_show_the_bounds_that_unscored_answers_leave(run, monkeypatch):
    monkeypatch.setattr(run, "card", lambda judge: {"n": 3, "unscored": 3})
    table = evaluation.score_table(scores(graded(m=[1, 1, 0, -1, None]), run), run)
    bounds = table[(table["row"] == "m") & (table["column"] == "PCS" + BOUNDS)]
    assert bounds[["low", "high", "unscored"]].values.tolist() == [[0.0, 0.4, 1.0]]
    assert not evaluation.series(table, "PCS")["column"].str.endswith(BOUNDS).any()


def test_judge_table_with_unscored_answers_and_a_judge_without_skill(run, monkeypatch):
    cards = {
        "good": {
            "sensitivity": stats.wilson(50, 50)._asdict(),
            "specificity": stats.wilson(45, 50)._asdict(),
        },
        "none": {"n": 3, "unscored": 3},
    }
    monkeypatch.setattr(run, "card", cards.get)
    table = evaluation.judge_table(
        {"good": graded(m=[1, 0, None]), "none": graded(m=[None, None, None])}, run
    )
    assert not table[["row", "column", "source"]].isna().any(axis=None)
    # half of two judged 1; a tenth of the others are false alarms:
    # (0.5 + 0.9 - 1) / (1 + 0.9 - 1) = 4/9
    corrected = table[table["column"].str.startswith("PCR corrected")].set_index("row")
    assert corrected["value"].to_dict() == {
        "m, judge good": pytest.approx(400 / 9),
        "m, judge none": pytest.approx(float("nan"), nan_ok=True),
    }
    assert corrected["n"].to_dict() == {"m, judge good": 2, "m, judge none": 0}
    assert (table["column"] == "PCS" + BOUNDS).sum() == 2


def test_judge_table_without_an_answer_says_so(run, monkeypatch):
    """With LIMIT none of the answers may be among those that a second judge grades."""
    items = pd.DataFrame(columns=["item", "question", "correction"])
    answered = pd.DataFrame(columns=["item", "model", "answer", "reply_status", "truncated"])
    none = asyncio.run(study.verdicts(run, items, answered, study.Known()))
    table = evaluation.judge_table({"lexical": none}, run).set_index("column")
    assert table["row"].tolist() == ["smollm2-135m, judge lexical"] * 2
    assert table["value"].isna().all() and table["n"].to_dict() == {"PCS": 0, "PCR": 0}
    assert evaluation.cut_by_judge({"lexical": none}) == ""


def test_published_scores_stand_beside_the_runs(run):
    """Figure 7 has seven categories of eight systems, Figure 6b three generators of three."""
    found = graded(m=[1, 1, 0, -1]).replace({"category": {"A": "No Treatment", "B": "Others"}})
    table = evaluation.group_table(scores(found, run, ["category"]), "category", run)
    assert (table["source"] == "published").sum() == 56
    assert table["row"].iloc[0] == "Only/Standard Treatment" and table["row"].iloc[-1] == "Others"
    mine = table[table["column"] == "m"].set_index("row")["value"]
    assert mine.to_dict() == {"No Treatment": 1.0, "Others": -0.5}
    drawn = figures.panels(table, "the question's category")
    titles = [ax.get_title("left") for ax in drawn.axes]
    assert titles[0] == "Gemini-1.5-Pro" and titles[-1] == "m" and len(titles) == 9
    found = graded(m=[1, 1, 0, -1]).assign(generator="us")
    table = evaluation.group_table(scores(found, run, ["generator"]), "generator", run)
    cell = table.set_index(["row", "column"])["value"]
    assert cell["GPT-4o", "Gemini-1.5-Pro"] == 0.03 and cell["Gemini-1.5-Pro", "GPT-4o"] == -0.56
    assert cell["us", "m"] == 0.25 and len(table) == 10


def test_questions_beside_figure_5(run):
    items = pd.DataFrame({"category": ["Others", "Others", "odd"], "generator": ["GPT-4o"] * 3})
    by = evaluation.counts(items, "category", "raw", run)
    assert by.loc[by["source"] == "raw", ["row", "value"]].values.tolist() == [
        ["Others", 2],
        ["odd", 1],
    ]
    share = evaluation.counts(
        items.assign(generator=["GPT-4o", "we", "we"]), "generator", "raw", run
    )
    mine = share[share["source"] == "raw"].set_index("row")["value"].to_dict()
    assert mine == {"GPT-4o": pytest.approx(100 / 3), "we": pytest.approx(200 / 3)}
    assert share.loc[share["source"] == "published", "value"].tolist() == [44.1, 30.6, 25.0, 0.3]


def test_scores_by_category(run):
    s = scores(graded(m=[1, 1, 0, -1]), run, ["category"])
    assert s[s["metric"] == "PCS"].set_index("category")["value"].to_dict() == {"A": 1.0, "B": -0.5}


def test_compare_uses_shared_questions_only(run):
    # on q0..q3 (q4 has no verdict for b): a is right on q0, q1, q2, b on q3:
    # discordant 3 and 1: p = 2 * 5/16 = 0.625
    pairs = paired(graded(a=[1, 1, 1, 0, 1], b=[0, 0, 0, 1, None]), run)
    assert (
        pairs["n"].tolist() == [4]
        and pairs["p"].tolist() == [0.625]
        and pairs["difference"].tolist() == [50.0]
        and pairs["test"].tolist() == ["McNemar"]
    )
    assert paired(graded(a=[1, 0]), run).empty


def test_kappas_of_counts_by_hand():
    # 4 answers, 2 human 0s of which 1 is right; errors go to -1. With one human 1 and one human -1:
    # po = 3/4; judge: -1 twice, 0 once, 1 once; pe = (1*2 + 2*1 + 1*1) / 16 = 5/16;
    # kappa = (12 - 5) / (16 - 5); apart by chance, linear: (1*1 + 1*2 + 2*2 + 2*1 + 1*4 + 1*1) / 16
    table = implied.confusions_of(4, 2, 1)[1]
    assert table.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert implied.confusions_of(4, 2, 1, raised=1)[1][1].tolist() == [0, 1, 1]
    assert implied.kappa_of(table) == pytest.approx(7 / 11)
    assert implied.kappa_of(table, 1) == pytest.approx(1 - (1 / 4) / (14 / 16))
    assert implied.ac1_of(table) == pytest.approx(
        stats.gwet([[0, 1, 1, 2], [0, 0, 1, 2]], range(3))
    )


def test_possible_p_of_printed_rates(run):
    # 27.2% and 19.8% of 585 are 159 and 116: at the least overlap all discordant,
    # at the most 43 against 0
    paired, unpaired = implied.possible_p(run, "Gemini-1.5-Pro", "Claude-3.5-Sonnet")
    assert paired[0] == stats.mcnemar_counts(43, 0) and paired[-1] == stats.mcnemar_counts(159, 116)
    assert len(paired) == 117 and unpaired == pytest.approx(0.003, abs=5e-4)


def test_impossible_pairs(run, monkeypatch):
    assert implied.impossible_pairs(run) == []
    rows = run.published("v2 Main results")
    wrong = rows.assign(
        value=np.where((rows["row"] == "GPT-5") & (rows["column"] == "PCS"), 0.5, rows["value"])
    )
    monkeypatch.setattr(run, "published", lambda table: wrong)
    assert implied.impossible_pairs(run) == [
        "GPT-5"
    ]  # PCS 0.5 with PCR 42.1%: even no -1 at all gives 0.421


class Survey:
    """A run with a small export: two blocks of two paragraphs, three physicians and a test row."""

    profile, limit = "public", 0

    def __init__(self):
        columns = ["IPAddress", "RecipientLastName"] + [
            f"QID{100 * b + p + k}" for b in (0, 1) for p in (4, 9) for k in (0, 1, 2)
        ]
        columns += [f"QID{n}" for n in (98, 99, 100, 198, 199, 200)]
        rows = {
            "Doctor 1": "4,,,3,Overly generic,,  5,,,N/A,,,  4,No,,2,Yes,",
            "Doctor 2": "5,,,1,,,  5,,,2,,,  5,,,3,,",
            "Doctor 3": '4,,,3,"Overly generic;Factually incorrect",,  3,,,4,,,  3,,,1,,',
            "Test": ",,,,,,,,,,,,,,,,,",
        }
        cells = [
            ["1.2.3.4", who, *(c.strip().strip('"').replace(";", ",") for c in line.split(","))]
            for who, line in rows.items()
        ]
        self.export = pd.DataFrame(cells, columns=columns)

    def load(self, name):
        if name.endswith("blocks"):
            return pd.DataFrame({"key": ["1"], "value": [["GPT-4-Turbo", "Edited human answer"]]})
        return self.export

    rng = staticmethod(lambda *name: np.random.default_rng(0))


def test_survey_is_read_by_block_and_place():
    ratings = survey.survey(Survey())
    assert len(ratings) == 2 * 3 * 3 and set(ratings["rater"]) == {
        "Doctor 1",
        "Doctor 2",
        "Doctor 3",
    }
    assert "1.2.3.4" not in ratings.to_string()
    whole = ratings[ratings["part"] == 0].pivot(index="source", columns="rater", values="rating")
    assert whole.loc["GPT-4-Turbo"].tolist() == [4, 5, 3] and whole.loc[
        "Social workers"
    ].tolist() == [2, 3, 1]
    assert (
        ratings[(ratings["part"] == 2) & (ratings["source"] == "Social workers")]["rating"]
        .isna()
        .sum()
        == 1
    )


def test_survey_metrics_by_hand():
    ratings = survey.survey(Survey())
    wide = survey.paragraphs(ratings)
    # GPT-4-Turbo: 4 5 4 (MISD 1) and 3 1 3 (2); social workers: 5 5 3 (2),
    # the other has an N/A and is left out
    assert len(wide) == 3 and survey.misd(wide).tolist() == [1, 2, 2]
    counts = survey.label_counts(ratings).set_index(["row", "column"])["value"]
    assert counts["GPT-4-Turbo", "Overly generic"] == 1  # two physicians, one paragraph
    assert counts["GPT-4-Turbo", "Factually incorrect"] == 1 and counts["Social workers"].sum() == 0


SOURCES = list(survey.RATED.values())


def rated(whole, parts):
    """The survey's frame from whole answers' and paragraphs' ratings: {source: rows of three}."""
    rows = [
        (question, source, part, f"Doctor {k + 1}", rating, ["Overly generic"] * (rating == 1), "")
        for part, given in ((0, whole), (1, parts))
        for source, answers in given.items()
        for question, ratings in enumerate(answers)
        for k, rating in enumerate(ratings)
    ]
    names = ["question", "source", "part", "rater", "rating", "labels", "missing"]
    return pd.DataFrame(rows, columns=names)


def made_of(run, parts, words=(10, 10, 10, 10)):
    """Verdict and first reading of each of the survey's claims, without the prefix of its id."""
    whole = dict(zip(SOURCES, ([[5, 4, 4]], [[4, 4, 4]], [[3, 4, 4]], [[3, 4, 2]])))
    ratings = rated(whole, parts)
    names = [f"{name} - Social workers" for name in SOURCES[:3]]
    tests = pd.DataFrame({"row": names, "difference": [0.9, 0.7, 0.4], "p": [0.001, 0.002, 0.06]})
    tests["p_holm"] = [0.006, 0.01, 0.18]  # over the six pairs of the table
    answers = pd.DataFrame({c: ["w " * n] for c, n in zip(survey.RATED, words)})
    answers = answers.assign(answer="w w")
    made = survey_readings.readings(run, ratings, tests, answers)
    assert set(made) == set(survey_readings.claimed(run))
    return {
        id.removeprefix("cm-survey-"): (
            claims.judged(run.paper, id, found)[0].split()[0],
            {name: way[0] for name, way in found.items()},
        )
        for id, found in made.items()
    }


def test_survey_claims_by_hand(run):
    """One model isn't better beyond chance; a test alone decides nothing."""
    same = dict.fromkeys(SOURCES[:3], [(4, 5, 4), (4, 4, 3)])
    said = made_of(run, same | {"Social workers": [(1, 4, 4), (3, 3, 4)]})
    # the second physician rates both 4.00: above on average, in each model, but not by each rater
    assert said["llm-average"] == (
        "depends",
        {
            "mean of the three models": "4.00 against 3.00",
            "each of the three models": "3.67 to 4.33 against 3.00",
            "by each physician's ratings": ", ".join(
                f"4.00 against {human}.00" for human in (3, 4, 2)
            ),
        },
    )
    assert said["llm-better"][0] == "undetermined"
    assert "LLaMa-3.1-405B +0.40 (p = 0.18)" in said["llm-better"][1]["as written"]
    # eight paragraphs, MISD 1 but for one of 3 and one of 1 in the human answers: a tie there
    assert said["misd-2"][1] == {"all paragraphs": "87.5%", "each source": "50.0 to 100.0%"}
    assert said["misd-2"][0] == "depends"
    assert said["misd-1"][1]["each source"].endswith("Social workers: 1 and 3")
    assert said["misd-1"][0] == "depends"
    assert said["misd-llm"][0] == "holds"
    assert said["labels"] == ("differs", {"as written": "0 of 6 paragraphs"})
    assert said["accurate"] == (
        "holds",
        {
            "not labelled factually incorrect": "0 of 6 paragraphs labelled so",
            "rated 4 or 5": "GPT-4-Turbo 100%, Gemini-1.5-Pro 100%, LLaMa-3.1-405B 67%",
        },
    )
    assert said["preferred"][1] == {  # the others are ties
        "all comparisons": "5 of 9",
        "without ties": "5 of 5",
        "each model": "GPT-4-Turbo 2, Gemini-1.5-Pro 2, LLaMa-3.1-405B 1 of 3",
    }
    assert said["words"][0] == "differs"  # 10 words, of which 2 stand on the site
    assert said["words"][1]["the workers' own words in the answers as shown"] == "2.0 to 10.0"


def listed_for(test):
    """The readings that tests/numbers/flips/unable leaves to this test."""
    rows = pd.read_csv(paths.ROOT / "tests/numbers/flips/unable/cancer_myth.csv")
    mine = rows[rows["why"].str.endswith(f"::{test}")]
    assert len(mine)
    return set(zip(mine["id"], mine["reading"]))


def survey_holds(run, whole, parts, p, answers, label=None):
    """{(claim, reading): holds} of invented ratings; of answers the columns of the released."""
    ratings = rated(dict(zip(SOURCES, whole)), dict(zip(SOURCES, parts)))
    if label:
        ratings["labels"] = [[label]] * len(ratings)
    tests = pd.DataFrame({"row": [f"{name} - Social workers" for name in SOURCES[:3]]})
    tests = tests.assign(difference=0.9, p_holm=p)
    made = survey_readings.readings(run, ratings, tests, pd.DataFrame(answers))
    return {(id, name): way[3] for id, ways in made.items() for name, way in ways.items()}


def test_readings_of_the_survey_say_yes_and_no(run):
    """Alike, good and long answers of models against bad ones; then the other way round."""
    words = int(claims.load(run.paper)["cm-survey-words"].value)
    clear = [(1, 1, 2), (5, 5, 4)] * 4
    wide = [(1, 4, 1), *clear]
    rest = "w " * (words - 4)  # the number counts between spaces, the slash between letters
    edited = dict.fromkeys(survey.RATED, ["w " * 2 * words])
    edited |= {"Edited human answer": [f"1. Sum of: w/w {rest}"], "answer": ["w " * words]}
    yes = survey_holds(run, [[(5, 5, 5)]] * 3 + [[(2, 2, 2)]], [clear] * 3 + [wide], 0.01, edited)
    far, same = [(1, 5, 3), (5, 1, 3), (3, 1, 5), (5, 3, 1)] * 2, [(3, 3, 3)] * 8
    short = dict.fromkeys([*survey.RATED, "answer"], ["CancerCare w"])
    args = [[(2, 2, 2)]] * 3 + [[(5, 5, 5)]], [far] * 3 + [same], 0.9, short
    no = survey_holds(run, *args, label="Factually incorrect")
    shown = {k for k in yes if (yes[k], no[k]) == (True, False)}
    assert listed_for("test_readings_of_the_survey_say_yes_and_no") - shown == set()


def test_lengths_that_tell_the_source(run):
    parts = dict.fromkeys(SOURCES, [(4, 5, 4)])
    assert made_of(run, parts)["length-blind"][0] == "not"  # found
    found = made_of(run, parts, (20, 10, 10, 10))["length-blind"]
    assert found[0] == "found"
    assert found[1]["mean lengths"] == "GPT-4-Turbo +100%, Gemini-1.5-Pro +0%, LLaMa-3.1-405B +0%"
    assert made_of(run, parts, (5, 10, 10, 10))["length-blind"][0] == "found"  # always shorter


def test_the_judges_printed_shares_fit_one_set_of_counts(run):
    # 54 of 76 are 71.05%, so 22 differ, all among the 0s: 10 of 32 are 31.25%
    assert implied.judge_counts(run) == [(54, 32, 10)]
    tables = implied.possible_confusions(run)
    assert len(tables) == 76 - 32 + 1 and {t.sum() for t in tables} == {76}
    assert {int(t.trace()) for t in tables} == {54}


def test_readings_of_the_files_say_yes_and_no():
    """Two texts, one of them twice; even categories against one that most questions have."""
    two = pd.DataFrame({"question": ["a", "b"], "example_question": ["c", "d"]})
    raw = dict.fromkeys(["candidates", "released", "nfp"], two)
    kinds, made = list(data.CATEGORIES.values()), []
    first = pd.DataFrame({"category": kinds[:1] * 9})
    for most, again in ((20, 0), (200, 1)):
        many = {k: most if k == kinds[0] else 20 for k in kinds}
        rest = pd.DataFrame(
            [("GPT-4o", k) for k, n in many.items() for _ in range(n)],
            columns=["generator", "category"],
        )
        checked = pd.DataFrame(
            [("cancer_myth_nfp", c, again) for c in ("repeated texts", "empty cells")],
            columns=["row", "column", "value"],
        )
        myths = pd.DataFrame({"myth": ["a", "a" * again or "b"]})
        myths = myths.assign(cancer=["x", "y"], fact="", source="")
        said = {("myths", "count"): 2, ("cancer types", "count"): 2}
        found = {
            **pipeline._on_sets(raw, checked),
            **pipeline._on_myths(said, myths),
            "cm-even": pipeline._evenness(first, rest, rest),
        }
        made.append({(id, n): way[3] for id, ways in found.items() for n, way in ways.items()})
    yes, no = made
    shown = {k for k in yes if (yes[k], no[k]) == (True, False)}
    assert listed_for("test_readings_of_the_files_say_yes_and_no") - shown == set()


def test_claims_on_the_released_data_wait_for_it(run):
    known = claims.load("cancer_myth")
    made = pipeline.readings(run, {}, None, None)
    assert [id for id in known if id in made] == list(made) == pipeline.CLAIMS
    said = {claims.judged(run.paper, id, r)[0] for id, r in made.items()}
    assert said == {
        "needs the released data: make all PROFILE=public",
        "needs the list of the 127 cancer types, which is not released",
    }


# The sample data.


def test_questions_are_six_in_each_category_with_sources():
    frame = sources.load("cancer_myth_questions_sample")
    assert (
        frame["category"].value_counts().to_dict() == dict.fromkeys(data.CATEGORIES, 6)
        and frame["item"].is_unique
    )
    for name in ("cancer_myth_questions_sample", "cancer_myth_nfp_sample"):
        assert all(s["organisation"] and s["title"] for s in sources.load(name)["source"])
    assert sources.load("cancer_myth_nfp_sample")["near"].value_counts().to_dict() == dict.fromkeys(
        data.CATEGORIES, 3
    )


def test_labelled_answers_are_balanced_in_grade_length_and_tone():
    frame = sources.load("cancer_myth_labelled")
    assert (
        frame["label"].value_counts().to_dict() == {-1: 40, 0: 40, 1: 40}
        and frame["answer_id"].is_unique
    )
    assert (frame.groupby("item")["label"].apply(sorted).map(tuple) == (-1, 0, 1)).all()
    words = frame["answer"].str.split().str.len()
    assert np.ptp(words.groupby(frame["label"]).mean()) < 1 and words.between(70, 100).all()
    assert (words.groupby(frame["item"]).agg(np.ptp) <= 8).all()
    assert pd.crosstab(frame["label"], frame["tone"]).to_numpy().min() >= 12


def test_stock_phrases_do_not_give_the_grade_away():
    frame = sources.load("cancer_myth_labelled")
    for phrase in ("actually", "misconception", "not necessarily", "however", "sorry"):
        share = (
            frame["answer"]
            .str.contains(rf"\b{phrase}\b", flags=re.I)
            .groupby(frame["label"])
            .mean()
        )
        assert np.ptp(share) <= 0.15, phrase


def test_the_first_set_ends_where_another_generator_begins():
    """In the order of raw_QID: manual, GPT-4o, Claude, GPT-4o; two belong to the first set.

    However the file is ordered.
    """

    class Released:
        def load(self, name):
            return pd.DataFrame(
                {
                    "example_question": list("dbca"),
                    "example_assumption": list("dbca"),
                    "raw_QID": [3, 1, 2, 0],
                    "source_row": [9, 1, 4, -1],
                    "from_model": ["gpt-4o", "gpt-4o", "claude-3-5-sonnet", "manual"],
                    "category": "other",
                }
            )

    made = data.candidates(Released())
    assert made["question"].tolist() == list("abcd") and made["first"].tolist() == [
        True,
        True,
        False,
        False,
    ]
    assert made["generator"].tolist() == [
        "Manual",
        "GPT-4o",
        "Claude-3.5-Sonnet",
        "GPT-4o",
    ] and set(made["category"]) == {"Others"}


def test_what_the_review_kept_by_hand():
    """Two of three: one word for word, one reworded."""
    offered = pd.DataFrame(
        {
            "question": [
                "My father has surgery next week and we prepare.",
                "Which tea is good for her?",
                "Is it all lost?",
            ],
            "generator": ["a", "a", "b"],
            "category": ["x", "y", "y"],
            "myth": [1, 1, 2],
        }
    )
    released = pd.DataFrame(
        {
            "question": [
                "which tea is good for her",
                "My father has, I think, surgery next week and we prepare.",
            ]
        }
    )
    table = generation.review_table(offered, released).set_index("row")
    assert table["value"].round(4).to_dict() == {
        "all": 66.6667,
        "a": 100,
        "b": 0,
        "x": 100,
        "y": 50,
    }
    assert table["n"].to_dict() == {"all": 3, "a": 2, "b": 1, "x": 1, "y": 2}


def test_yield_by_hand(run):
    """Of six asked for: two hard, one easy, one partly corrected, one copied, one truncated."""
    questions = pd.DataFrame(
        {
            "generator": "m",
            "myth": ["m1"] * 3 + ["m2"] * 3,
            "status": ["new"] * 4 + ["copied", "truncated"],
            "verdict": ["graded"] * 4 + ["", ""],
            "value": [-1, -1, 1, 0, None, None],
        }
    )
    rounds = pd.DataFrame(
        {
            "generator": "m",
            "myth": ["m1", "m2"],
            "valid": [3, 4],
            "invalid": [4, 5],
            "stopped": ["", "500"],
        }
    )
    run.models = ["m", "silent"]  # the second one's first call failed
    table = generation.yield_table(questions, rounds, run).set_index(["row", "column"])["value"]
    assert len(table["silent"]) and table["silent"].isna().all()
    mine = table["m"].round(2)
    assert mine[mine > 0].to_dict() == {
        "hard (joins the valid set)": 33.33,
        "partly corrected (apart)": 16.67,
        "easy (joins the invalid set)": 16.67,
        "question copied": 16.67,
        "question truncated": 16.67,
    }
    assert table["GPT-4o", "hard (joins the valid set)"] == pytest.approx(100 * 868 / (3 * 994))
    assert (
        table["m after m1"].to_dict() == {"valid set": 3, "invalid set": 4}
        and "m after m2" not in table.index
    )


# ---- replies without text, and cut ones


@pytest.mark.parametrize("why", SILENT)
def test_a_reply_without_text_has_no_grade(run_of, endpoint, why):
    """Not -1: n 0 and every question unscored, by a judge of either kind; the table says why."""
    run = run_of("cancer_myth", "03_evaluation")
    items, known = data.questions(run), study.known(run)["myth"]
    endpoint.script = lambda n, body: SILENT[why]
    answered = asyncio.run(study.answers(run, items, 2048))
    assert endpoint.bodies[-1]["max_tokens"] == 2048
    assert set(answered["reply_status"]) == {why} and not answered["truncated"].any()
    for judge in ("lexical", "served"):
        graded = asyncio.run(study.verdicts(run, items, answered, known, judge))
        assert set(graded["status"]) == {"error"} and graded["value"].isna().all()
        found = scores(graded, run).set_index("metric")
        assert found["value"].isna().all() and found["n"].tolist() == [0, 0]
        assert found["unscored"].tolist() == [42, 42] and found.loc["PCS", "least"] == -1
    assert len(endpoint.bodies) == 42  # nobody was asked for a verdict
    health = evaluation.answer_health(answered, {"all": items["item"]}, graded).set_index("column")
    assert health.loc[[f"no answer: {why}, %", "no answer, %"], "value"].tolist() == [100, 100]
    assert evaluation.cut(graded) == "No reply was cut at its limit."


@pytest.mark.parametrize("why", SILENT)
def test_a_judge_that_says_nothing_gives_no_grade(run_of, endpoint, why):
    run = run_of("cancer_myth", "03_evaluation")
    items = data.questions(run).head(3)
    endpoint.script = lambda n, body: (
        SILENT[why] if "response_format" in body else completion("All is well.")
    )
    answered = asyncio.run(study.answers(run, items, 2048))
    graded = asyncio.run(study.verdicts(run, items, answered, study.Known(), "served"))
    assert set(graded["status"]) <= {"unparsed", "refused"} and graded["value"].isna().all()
    assert endpoint.bodies[-1]["max_tokens"] == VERDICT_TOKENS
    asyncio.run(study.categorise(run, items, study.Known(), "served"))
    assert endpoint.bodies[-1]["max_tokens"] == VERDICT_TOKENS


def cut_graded():
    """m: grades 1, 1, 0, -1 and one unscored; the first 1, the -1 and the unscored are cut."""
    frame = graded(m=[1, 1, 0, -1, None]).assign(answer="so it is", reply_status="")
    return frame.assign(truncated=[True, False, False, True, True])


def test_scores_of_the_uncut_by_hand():
    # uncut: 1 and 0, so PCR 50 and PCS 0.5
    assert evaluation.cut(cut_graded()) == (
        "Warning: a cut reply is not a wrong one."
        " Replies cut at their limit: m 3 of 5 (of the uncut: PCR 50.00, PCS 0.50)."
    )
    sets = {"all": [f"q{k}" for k in range(5)], "not graded": ["q9"]}
    answered = pd.concat([cut_graded(), cut_graded().head(1).assign(item="q9")])
    shown = evaluation.answer_health(answered, sets, cut_graded()).set_index(["row", "column"])
    mine = shown.loc["m, all"]
    assert mine.loc["cut off at the limit, %", "value"] == 60
    assert mine.loc["PCR of the uncut", ["value", "n", "unscored"]].tolist() == [50, 2, 0]
    assert mine.loc["PCS of the uncut", "value"] == 0.5
    assert "PCR of the uncut" not in shown.loc["m, not graded"].index
    whole = cut_graded().assign(truncated=False)
    del sets["not graded"]
    assert "PCR of the uncut" not in set(evaluation.answer_health(whole, sets, whole)["column"])


def test_cut_answers_are_told_of_under_each_judge():
    other = cut_graded().assign(value=1, status="graded")
    assert evaluation.cut_by_judge({"one": cut_graded(), "two": other}).endswith(
        "m, judge one 3 of 5 (of the uncut: PCR 50.00, PCS 0.50);"
        " m, judge two 3 of 5 (of the uncut: PCR 100.00, PCS 1.00)."
    )


def test_shares_of_the_survey_draw_questions(run):
    """Three paragraphs of an answer, alike: one of 12 questions has raters four points apart."""
    keys = pd.MultiIndex.from_product(
        [range(12), survey.RATED.values(), range(3)], names=["question", "source", "part"]
    )
    far = keys.get_level_values("question") == 0
    wide = pd.DataFrame({"a": 1.0, "b": 1.0, "c": np.where(far, 5.0, 1.0)}, index=keys)
    made = survey_tables.misd_table(wide, run).set_index(["row", "column", "source"])
    mine = made.loc[("GPT-4-Turbo", "2 or less", "raw")]
    assert mine["value"] == pytest.approx(100 * 11 / 12) and mine["n"] == 36
    narrow = 100 * stats.wilson(33, 36).low  # paragraphs taken for independent
    assert mine["low"] < narrow - 5


# Graded examples for judges (Figures 13 and 14).


def test_our_examples_have_each_grade_a_reason_and_a_source(run):
    myth, plain, category = (data.shown(run, kind) for kind in data.SHOWN)
    assert [e["label"] for e in myth] == study.GRADES and len({e["question"] for e in myth}) == 1
    assert sorted(e["label"] for e in plain) == study.PLAIN_GRADES
    assert [e["category"] for e in category] == [k for k in data.CATEGORIES if k != "other"]
    assert {k: len(data.shown(run, k)) for k in data.SHOWN} == data.SHOWN
    for e in (*myth, *plain, *category):
        assert e["reason"] and e["source"]["organisation"] and e["source"]["title"]
    for items in (data.questions(run), data.plain_questions(run)):  # nothing is left out
        assert data.unseen(run, items)["item"].tolist() == items["item"].tolist()


def test_questions_that_judges_are_shown_are_left_out(run, monkeypatch):
    items = data.questions(run, whole=True)
    drawn = v2_items.split(items, 8, 12, run)[1]
    there = {"question": drawn["question"].iloc[0].upper() + "  "}
    monkeypatch.setattr(data, "shown", lambda run, kind: [there] * (kind == "category"))
    left = data.unseen(run, items)["item"]
    assert set(items["item"]) - set(left) == {drawn["item"].iloc[0]}
    assert len(data.unseen(run, items, keep=1)) == 42
    train, reported = v2_items.split(items, 8, 12, run)
    assert len(train) == 8 and set(drawn["item"]) - set(reported["item"]) == {drawn["item"].iloc[0]}
    assert v2_items.split(items, 8, 12, run, keep=1)[1].equals(drawn)


@pytest.mark.skipif(not sources.here("cancer_myth_judge_examples"), reason="released data")
def test_the_released_examples(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    run = Run("cancer_myth", "03_evaluation", profile="public")
    assert [e["label"] for e in data.shown(run, "myth")] == study.GRADES
    plain = data.shown(run, "plain")
    assert {e["label"] for e in plain} == {-1, 1} and plain[0]["note"] != plain[1]["note"]
    items = data.questions(run, whole=True)
    assert set(items["item"]) - set(data.unseen(run, items)["item"]) == {
        f"cm-{n}" for n in (1, 5, 22, 35)
    }
    asked = data.plain_questions(run)
    assert asked["rejected"].str.len().min() > 20 and len(data.unseen(run, asked)) == 150


def test_a_model_is_shown_examples_and_gives_a_reason_first(run_of, endpoint):
    run = run_of("cancer_myth", "03_evaluation")
    said = json.dumps({"reason": 'It says "score": -1 in so many words.', "score": 1})
    endpoint.script = lambda n, body: completion(said)
    frame = data.labelled(run).head(1).assign(reply_status="")
    known = study.known(run, temperature=0.7)["myth"]
    found = asyncio.run(study.grade(run, frame, "myth", known, "served"))
    assert found[["status", "value"]].values.tolist() == [["graded", 1]]
    with_them, form = endpoint.bodies[-1], lambda b: b["response_format"]["json_schema"]["schema"]
    system, user = (m["content"] for m in with_them["messages"])
    assert list(form(with_them)["properties"]) == ["reason", "score"]
    assert with_them["temperature"] == 0.7
    for e in known.shown:
        assert e["answer"] in system and json.dumps(e["label"]) in system
        assert e["answer"] not in user
    asyncio.run(study.grade(run, frame, "myth", study.Known(), "served"))
    system = endpoint.bodies[-1]["messages"][0]["content"]
    assert "Example" not in system and "reason" not in system
    assert list(form(endpoint.bodies[-1])["properties"]) == ["score"]


def test_the_embedded_model_is_shown_no_examples(run):
    known = study.known(run)
    gpt = study.grading(run, "myth", known["myth"], "gpt-4o-2024-08-06")
    assert [e["label"] for e in gpt["shown"]] == study.GRADES
    assert study.grading(run, "myth", known["myth"], "smollm2-135m")["shown"] == []
    assert [len(k.shown) for k in study.known(run, examples=2).values()] == [2, 2, 2]


def test_any_category_that_fits_counts():
    """Of three verdicts one is the label, one a second category, and one neither: 2 of 3."""
    items = pd.DataFrame({"item": list("abcd"), "fits": [["x"], ["x", "y"], ["x"], ["y"]]})
    found = pd.DataFrame({"value": ["x", "y", "y", None], "status": ["graded"] * 3 + ["unparsed"]})
    assert study.overlap(items, found)["value"] == pytest.approx(2 / 3)
    asked = sources.load("cancer_myth_questions_sample")
    assert [fit[0] for fit in asked["fits"]] == asked["category"].tolist()
    assert set(asked["fits"].explode()) == set(data.CATEGORIES)
