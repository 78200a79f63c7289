"""Cancer-Myth: the survey read from a small export, its metrics and claims by hand."""

import cancer_myth_graded
import numpy as np
import pandas as pd
import pytest
from cancer_myth_graded import listed_for

from bedside import stats
from bedside.papers.cancer_myth import implied, survey
from bedside.papers.cancer_myth.implied import survey_readings
from bedside.papers.cancer_myth.tables import survey as survey_tables
from bedside.read import claims

run = cancer_myth_graded.run  # a fixture


def test_kappas_of_counts_by_hand():
    # 4 answers, 2 human 0s of which 1 is right; errors go to -1. With one human 1 and one human -1:
    # po = 3/4; judge: -1 twice, 0 once, 1 once; pe = (1*2 + 2*1 + 1*1) / 16 = 5/16;
    # kappa = (12 - 5) / (16 - 5); apart by chance, linear: (1*1 + 1*2 + 2*2 + 2*1 + 1*4 + 1*1) / 16
    table = implied.confusions_of(4, 2, 1)[1]
    assert table.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert implied.confusions_of(4, 2, 1, raised=1)[1][1].tolist() == [0, 1, 1]
    assert implied.kappa_of(table) == pytest.approx(7 / 11)
    assert implied.kappa_of(table, "linear") == pytest.approx(1 - (1 / 4) / (14 / 16))
    assert implied.ac1_of(table) == pytest.approx(
        stats.gwet([[0, 1, 1, 2], [0, 0, 1, 2]], range(3))
    )


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


def test_shares_of_the_survey_draw_questions(run):
    """Three paragraphs of an answer, alike: one of 12 questions has raters four points apart."""
    keys = pd.MultiIndex.from_product(
        [range(12), survey.RATED.values(), range(3)], names=["question", "source", "part"]
    )
    far = keys.get_level_values("question") == 0
    wide = pd.DataFrame({"a": 1.0, "b": 1.0, "c": np.where(far, 5.0, 1.0)}, index=keys)
    made = survey_tables.misd_table(survey.misd(wide), run).set_index(["row", "column", "source"])
    mine = made.loc[("GPT-4-Turbo", "2 or less", "raw")]
    assert mine["value"] == pytest.approx(100 * 11 / 12) and mine["n"] == 36
    narrow = 100 * stats.wilson(33, 36).low  # paragraphs taken for independent
    assert mine["low"] < narrow - 5
