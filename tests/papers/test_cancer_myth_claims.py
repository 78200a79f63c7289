"""Cancer-Myth's claims: the verdict on each, and the numbers that its readings rest on."""

import numpy as np
import pandas as pd
import pytest

from bedside import BedsideError, stats
from bedside.papers.cancer_myth import data, implied, pipeline, survey, versions
from bedside.papers.cancer_myth.implied import figure_claims, survey_readings
from bedside.papers.cancer_myth.tables.systems import CLAIMS
from bedside.papers.cancer_myth.v2 import implied as cures
from bedside.read import checks, claims, sources
from bedside.run import Run

PAPER = "cancer_myth"
PRINTED = {  # what printed numbers decide, in both profiles
    "holds": """
        cm-candidates-sum cm-v1-grim cm-v2-grim cm-v1-below-30 cm-v2-below-43 cm-v2-pairs
        cm-best cm-gemini-over-claude cm-claude-over-gpt4o cm-agents
        cm-sources cm-v1-pairs cm-best-pcs cm-asymmetry cm-similar-on-both cm-gemini-late
        cm-cures-correct cm-cures-over-correct cm-cures-exams cm-monitor-65 cm-agents-exams
        cm-v1-consistent cm-not-aligned
        cm-pcr-agrees cm-order cm-gpt4o-low cm-robust cm-room cm-categories cm-systems
    """,
    "found": "cm-cures-balance cm-gpt4o-coin",
    "depends": """
        cm-gepa-over-28 cm-hardest cm-poor-categories cm-worst-side-effect
        cm-often cm-not-one-model
    """,
    "needs": """
        cm-p-gemini cm-gepa-drop-range cm-gpt4o-chance
        cm-c1-exact cm-c1-zero cm-c1-binary cm-c2-categories
    """,
    "undetermined": "cm-c1-chance",
    "differs": "cm-p-claude cm-versions-agree",
}
SURVEY = {
    "holds": """
        cm-survey-gpt cm-survey-gemini cm-survey-llama cm-survey-social cm-survey-design
        cm-survey-paragraphs cm-survey-llm-average cm-survey-misd-2 cm-survey-misd-1-2
        cm-survey-misd-1 cm-survey-misd-llm cm-survey-labels cm-survey-accurate
    """,
    "found": "cm-survey-length-blind",
    "depends": "cm-survey-lists cm-survey-agree cm-survey-preferred",
    "needs": "cm-survey-selection cm-survey-similar-length cm-survey-cues",
    "undetermined": "cm-survey-words cm-survey-llm-better",
}
FILES = {
    "holds": """
        cm-myths cm-start cm-manual cm-per-myth cm-entire-myths cm-partial-run cm-first-76
        cm-balanced cm-subset cm-nfp-source cm-distinct cm-gaps cm-dropped
    """,
    "found": "cm-review-even",
    "depends": "cm-even",
    "needs": "cm-cancer-types cm-algorithm",
    "differs": "cm-myths-unique cm-exclude",
}
COUNTED = {"cm-released", "cm-nfp"}  # by notebook 03
RERUN = {"cm-cures-rerun", "cm-medqa"}  # ours to run


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run(PAPER, "03_evaluation", profile="sample")


@pytest.fixture
def public(tmp_path, monkeypatch):
    """A run on the released data, where somebody has fetched them."""
    mine = [n for n in sources.used_by("public", PAPER) if not sources.entry(n).get("optional")]
    if not all(map(sources.here, mine)):
        pytest.skip("the released data are not here")
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    return Run(PAPER, "02_adversarial_generation", profile="public")


def verdicts(made):
    """{first word of the verdict: ids}."""
    found = {}
    for id, readings in made.items():
        verdict, _ = claims.judged(PAPER, id, readings)
        found.setdefault(verdict.split()[0], set()).add(id)
    return found


def sets(expected):
    return {verdict: set(ids.split()) for verdict, ids in expected.items()}


def compared(run):
    found = pd.concat([versions.places(run), versions.derived(run)], ignore_index=True)
    return versions.disagreements(found)


def from_printed(run):
    return {
        **implied.count_readings(run),
        **implied.score_readings(run),
        **figure_claims.readings(run),
        **implied.judge_readings(run),
        **cures.readings(run),
        **versions.readings(compared(run)),
    }


def from_survey(run):
    ratings = survey.survey(run)
    answers = run.load("cancer_myth_survey_answers")
    return survey_readings.readings(run, ratings, survey.source_tests(ratings, run), answers)


def from_files(run):
    raw, start = data.released(run), data.starting_examples(run)
    return pipeline.readings(run, raw, start, checks.report(sources.all_sources(run)))


# ---- verdicts


def test_what_printed_numbers_decide(run):
    assert verdicts(from_printed(run)) == sets(PRINTED)


def test_what_the_survey_decides(public):
    assert verdicts(from_survey(public)) == sets(SURVEY)


def test_what_the_released_files_decide(public):
    assert verdicts(from_files(public)) == sets(FILES)


def test_nothing_else_is_claimed():
    of = {id for part in (PRINTED, SURVEY, FILES) for ids in sets(part).values() for id in ids}
    assert of | COUNTED | RERUN | set(CLAIMS) == set(claims.load(PAPER))


def test_no_central_claim_of_the_paper_differs():
    known = claims.load(PAPER)
    wrong = {id for part in (PRINTED, FILES) for id in sets(part)["differs"]}
    assert "differs" not in SURVEY
    assert {known[id].of for id in wrong} == {"paper", "data", "summary"}
    mine = {id for id in wrong if known[id].of == "paper"}
    assert mine == {"cm-myths-unique", "cm-p-claude"}
    assert {known[id].weight for id in mine} == {"detail"}
    assert all(known[id].tried for id in wrong)


def test_figure_5b_and_the_rebuilt_set(public):
    """258 and 2 as printed, 259 and 1 in the copy: candidate 1 is hand-made, not GPT-4o's."""
    raw, start = data.released(public), data.starting_examples(public)
    made = raw["released"]["generator"].value_counts()
    assert made.to_dict() == {
        "GPT-4o": 259,
        "Claude-3.5-Sonnet": 179,
        "Gemini-1.5-Pro": 146,
        "Manual": 1,
    }
    assert said(figure_claims.readings(public), "cm-sources", "as written") == (585, 585, True)
    known = pipeline.labels(raw, start)["the hand-made questions' generator"]
    assert known == ["manual", "gpt-4o"]
    first = raw["candidates"].iloc[1]
    assert first[["item", "question"]].tolist() == ["candidate-1", start["question"].iloc[1]]
    assert (len(raw["candidates"]), raw["candidates"]["first"].sum()) == (76 + 3 * 266, 76)


# ---- what a p-value or a coefficient can be


def said(made, id, name):
    """(low, high, holds) of a reading."""
    return made[id][name][1:]


def test_which_p_the_printed_numbers_allow(run):
    """McNemar on 585 shared questions: Gemini 159, Claude 116, GPT-4-Turbo 90, GPT-4o 34 right.

    Claude's grades sum up to 116 - 272 = -156, GPT-4o's to 34 - 336 = -302. If high grades of one
    meet low ones of the other, 150 differ by 2 and 412 by 1: z = 146 / sqrt(4 * 150 + 412) = 4.59.
    """
    ways = implied.possible_ways(run, "Gemini-1.5-Pro", "Claude-3.5-Sonnet")
    assert ways["PCR, paired"] == (stats.mcnemar_counts(43, 0), stats.mcnemar_counts(159, 116))
    assert ways["PCR, paired"][1] == pytest.approx(0.0112, abs=1e-4)
    assert ways["PCS, paired"][1] == pytest.approx(0.052, abs=5e-4)
    made = implied.score_readings(run)
    assert set(made["cm-p-gemini"]) == {"PCR, unpaired", "PCS, unpaired"}  # the paired ones need
    assert said(made, "cm-p-claude", "PCR, paired")[1:] == (stats.mcnemar_counts(116, 34), False)
    low, high, holds = said(made, "cm-p-claude", "PCS, paired")
    assert low < 1e-40 and high == pytest.approx(4.7e-6, rel=0.01) and holds is False
    # the repair that the claim names: over GPT-4-Turbo 0.004 is within reach
    ways = implied.possible_ways(run, "Claude-3.5-Sonnet", "GPT-4-Turbo")
    assert ways["PCR, paired"] == pytest.approx((3e-8, 0.081), rel=0.01)
    assert ways["PCS, paired"] == pytest.approx((6e-5, 0.54), rel=0.01)
    paired, unpaired = implied.possible_p(run, "Claude-3.5-Sonnet", "GPT-4-Turbo")
    assert "0.004" in {f"{p:.3f}" for p in paired} and unpaired == pytest.approx(0.046, abs=1e-3)


def test_grades_behind_the_figures(run):
    """Figure 6a's bars, which aren't used here, end at 116 and 313, and at 34 and 249 answers."""
    found = implied.grades(run)
    assert found["Claude-3.5-Sonnet"] == [(116, 197, 272)]
    assert found["GPT-4o"] == [(34, 215, 336)]
    assert found["MDAgents (GPT-4o)"] == [(13, 67, 505)]
    assert implied.sums(run).sum().astype(int).to_dict() == {
        "Gemini-1.5-Pro": -84,
        "Claude-3.5-Sonnet": -156,
        "GPT-4-Turbo": -178,
        "DeepSeek-R1": -172,
        "DeepSeek-V3": -234,
        "GPT-4o": -302,
        "MDAgents (GPT-4o)": -492,
        "GPT-3.5": -466,
    }


def changed(run, monkeypatch, table, row, column, **values):
    """The readings of the figures' claims with another published number."""
    given = run.published

    def other(*tables):
        rows = given(*tables)
        at = (rows["table"] == table) & (rows["row"] == row) & (rows["column"] == column)
        return rows.assign(**{k: rows[k].where(~at, v) for k, v in values.items()})

    monkeypatch.setattr(run, "published", other)
    return {
        (id, name): holds
        for id, ways in figure_claims.readings(run).items()
        for name, (*_, holds) in ways.items()
    }


CLAUDE_ON, GEMINI_ON = (f"{m} on questions by " for m in ("Claude-3.5-Sonnet", "Gemini-1.5-Pro"))
ALL, OTHERS = "each model, all questions", "each model, questions by others"
LOW, HIGH = ({"value": v, "low": v - 0.003, "high": v + 0.003} for v in (-1, 0.5))
SIDE, CAUSE = "Inevitable Side Effect", "Causal Misattribution"


@pytest.mark.parametrize(
    "table, row, column, values, id, name, holds",
    [
        ("5b", "Manual", "percent", {"value": 0.2}, "cm-sources", "as written", False),
        ("6a", "GPT-4o", "PCS", {"value": -0.53}, "cm-v1-pairs", "as written", False),
        ("6a", "Claude-3.5-Sonnet", "PCS", {"value": -0.14}, "cm-best-pcs", "unpaired", None),
        ("6b", CLAUDE_ON + "Claude-3.5-Sonnet", "PCS", {"value": -0.35}, "cm-hardest", ALL, None),
        ("6b", CLAUDE_ON + "Claude-3.5-Sonnet", "PCS", {"value": -0.34}, "cm-hardest", ALL, True),
        ("6b", CLAUDE_ON + "Gemini-1.5-Pro", "PCS", {"value": 0.1}, "cm-hardest", OTHERS, False),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": 0.2}, "cm-asymmetry", "the scores", False),
        ("6b", CLAUDE_ON + "GPT-4o", "PCS", {"value": -0.07}, "cm-asymmetry",
         "the gain over other questions", None),
        ("7", SIDE, "Gemini-1.5-Pro", HIGH, "cm-poor-categories", "below 0", False),
        ("7", SIDE, "Gemini-1.5-Pro", HIGH, "cm-similar-on-both", "spread of the six", False),
        ("7", SIDE, "GPT-4o", {"low": -0.7}, "cm-similar-on-both", "spread of the six", None),
        ("7", SIDE, "GPT-3.5", HIGH, "cm-similar-on-both", "distance of the other two", False),
        ("7", SIDE, "GPT-4o", LOW, "cm-worst-side-effect", "mean of the eight systems", True),
        ("7", "No Treatment", "GPT-4o", LOW, "cm-worst-side-effect",
         "mean without GPT-3.5 and MDAgents", False),
        ("7", CAUSE, "Gemini-1.5-Pro", LOW, "cm-gemini-late", "lead over the next model", False),
        ("5a", "Others", "questions", {"value": 43}, "cm-categories", "as written", False),
        ("6a", "GPT-4-Turbo", "PCR", {"value": 13.5}, "cm-order", "as written", False),
        ("6a", "GPT-4o", "PCR", {"value": 14.4}, "cm-gpt4o-low",
         "below the median of the systems", False),
        ("6a", "GPT-3.5", "PCS", {"value": 0.01}, "cm-not-one-model",
         "each system, all questions", False),
        ("6a", "GPT-3.5", "PCS", {"value": -0.0}, "cm-not-one-model",
         "each system, all questions", None),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": -0.1}, "cm-not-one-model",
         "each generator's questions, other models", True),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": -0.2}, "cm-robust", "each generator", False),
        ("6b", GEMINI_ON + "GPT-4o", "PCS", {"value": -0.4}, "cm-robust",
         "mean of the others' questions", False),
        ("7", CAUSE, "Gemini-1.5-Pro", {"value": 0.6, "low": 0.59, "high": 0.593}, "cm-room",
         "nearer to 0 than to 1", False),
    ],
)  # fmt: skip
def test_readings_of_the_figures_can_fail(
    run, monkeypatch, table, row, column, values, id, name, holds
):
    assert changed(run, monkeypatch, f"v1 Figure {table}", row, column, **values)[id, name] is holds


def test_failures_are_counted_over_all_ways_to_grade():
    """Of 585 answers 293 are a majority; two ways to grade leave open whether half are passed."""
    made = figure_claims._on_failures({"a": [(293, 0, 292)], "b": [(0, 292, 293), (0, 291, 294)]})
    assert [way[3] for way in made.values()] == [False, None, False]
    made = figure_claims._on_failures({"a": [(0, 0, 585)], "b": [(292, 293, 0)]})
    assert [way[3] for way in made.values()] == [True, False, False]
    made = figure_claims._on_failures({"a": [(0, 0, 585)]})
    assert [way[3] for way in made.values()] == [True, True, True]
    assert figure_claims._on_failures({"a": []})["not recognised, by each system"][3] is None


def test_a_share_that_no_count_prints_as_is_not_a_count_of_0(run, monkeypatch):
    """0.4% of 585 is no number; left out, 260, 179 and 146 would add up to 585."""
    changed(run, monkeypatch, "v1 Figure 5b", "Manual", "percent", value=0.4)
    found = changed(run, monkeypatch, "v1 Figure 5b", "GPT-4o", "percent", value=44.4)
    assert found["cm-sources", "as written"] is False


def test_another_systems_number_and_another_best_model(run, monkeypatch):
    given = run.published

    def other(*tables):
        rows = given(*tables)
        few = rows[(rows["table"] != "v1 Figure 6a") | (rows["row"] != "GPT-3.5")]
        up = (few["table"] == "v1 text 2.2") & (few["row"] == "Gemini-1.5-Pro")
        return few.assign(value=few["value"].where(~up, 4.5))

    monkeypatch.setattr(run, "published", other)
    assert figure_claims.readings(run)["cm-systems"]["as written"][3] is False
    assert implied.score_readings(run)["cm-not-aligned"]["as written"][3] is False


@pytest.mark.parametrize(
    "shares, holds",
    [  # exact match, binary match, match of 0s
        ({"exact match": 71.06}, {"cm-c1-exact": False, "cm-c1-zero": False}),
        ({"exact match": 100.0}, {"cm-c1-exact": True, "cm-c1-zero": True}),
        ({"binary match": 98.68}, {"cm-pcr-agrees": None, "cm-c1-binary": None}),
        ({"binary match": 70.0}, {"cm-c1-binary": False}),
        ({"label agreement": 89.5}, {"cm-c2-categories": False}),
    ],
)
def test_the_judges_shares_can_be_impossible(run, monkeypatch, shares, holds):
    """71.06% and 89.5% are no shares of 76; a binary match can't be below the exact one."""
    value, given = implied.published.value, run.published

    def other(*tables):
        rows = given(*tables)
        return rows.assign(value=rows["column"].map(shares).fillna(rows["value"]))

    monkeypatch.setattr(run, "published", other)
    monkeypatch.setattr(
        implied.published, "value", lambda *place: shares.get(place[-1], value(*place))
    )
    made = implied.judge_readings(run)
    assert {id: next(iter(made[id].values()))[3] for id in holds} == holds


def test_complete_agreement_leaves_pcr_nothing_to_gain(monkeypatch, run):
    monkeypatch.setattr(implied, "possible_confusions", lambda run: [np.diag([20, 32, 24])])
    assert implied.judge_readings(run)["cm-pcr-agrees"]["as written"][3] is False


def test_kappas_that_the_shares_allow_by_weights(run):
    made = implied.judge_readings(run)["cm-c1-chance"]
    found = {name: (round(low, 3), round(high, 3)) for name, (_, low, high, _) in made.items()}
    assert found == {
        "two grades": (1.0, 1.0),
        "three grades, unweighted": (0.345, 0.589),
        "three grades, linear weights": (0.345, 0.7),
        "three grades, quadratic weights": (0.345, 0.806),
        "three grades, Gwet's AC1": (0.567, 0.638),
    }


def test_a_mark_that_is_only_possible_is_open(run):
    """The 22 missed 0s may all have been graded -1: 100% on two grades is allowed, not shown."""
    low, high, holds = said(implied.judge_readings(run), "cm-c1-binary", "the printed shares")
    assert (round(low, 2), high, holds) == (71.05, 100, None)


# ---- the cures: rounding carried through


def test_printed_percentages_stay_as_printed(run):
    """59% of 150 is no count and 35% of 150 isn't one either: 88 or 89, and 52 or 53."""
    rates = cures.rates(run).set_index(["row", "column"])
    odd = rates.loc[("GPT-4o GEPA", "Cancer-Myth-NFP")]
    assert odd[["value", "least", "most"]].tolist() == [59, 88, 89]
    assert odd["low"] == pytest.approx(100 * stats.wilson(88, 150).low)
    assert odd["high"] == pytest.approx(100 * stats.wilson(89, 150).high)
    one = cures.pairs_as_one(run).set_index("row")["value"]
    assert one.tolist() == [50.0, 63.5, 68.5, 78.0, 46.0, 58.0]


def test_the_price_of_gepa_by_its_readings(run):
    """82 to 78 may be 3.7 to 6.1%, 67 to 59 may be 10.6 to 13.3%: 5 is in reach, 15 isn't."""
    made = cures.readings(run)
    low, high, holds = said(made, "cm-gepa-drop-range", "extremes of both models, %")
    assert low == pytest.approx(100 * (1 - 78.5 / 81.5)) and holds is False
    assert high == pytest.approx(100 * (1 - 58.5 / 67.5))
    assert said(made, "cm-gepa-drop-range", "each drop of both models, %")[2] is None
    assert said(made, "cm-gepa-drop-range", "each drop of both models, points") == (3, 9, None)
    assert said(made, "cm-gepa-over-28", "the share of the questions") == (31.5, 32.5, False)


# ---- the survey


def test_workers_own_words(public):
    made = from_survey(public)["cm-survey-words"]
    low, high = made["the workers' own words in the answers as shown"][1:3]
    assert (low, high) == (pytest.approx(231.7, abs=0.05), pytest.approx(238.7, abs=0.05))
    assert [made[name][0] for name in list(made)[:3]] == ["254.9", "252.2", "285.9"]


def test_own_words_by_hand():
    """Of 'a b c' and '1. Sum: a b d c' all three words are kept; without number and title four."""
    answers = pd.DataFrame({"answer": ["a b c"], "Edited human answer": ["1. Summary: a b d c"]})
    assert survey_readings.own_words(answers) == (3, 4)


def test_agreement_of_the_physicians(public):
    wide = survey.paragraphs(survey.survey(public))
    values = wide.to_numpy().T
    assert stats.krippendorff_alpha(values).value == pytest.approx(0.09, abs=0.005)
    assert survey.intraclass(wide) == pytest.approx(0.129, abs=0.001)
    assert stats.gwet(values, survey.SCALE, weights="quadratic") == pytest.approx(0.721, abs=1e-3)
    assert stats.gwet(values, survey.SCALE, weights="linear") == pytest.approx(0.517, abs=1e-3)
    shuffled = survey.chance_spread(wide, np.random.default_rng(1), times=300)
    assert shuffled.mean() == pytest.approx(0.863, abs=0.003)
    assert (survey.misd(wide) <= 2).mean() > shuffled.max()


def test_intraclass_by_hand():
    """Shrout and Fleiss (1979), six targets and four judges: ICC(2,1) is .29."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert survey.intraclass(pd.DataFrame(ratings)) == pytest.approx(0.29, abs=0.005)


def test_shuffling_keeps_each_raters_ratings():
    """Two raters who always give 1 and 5 stay 4 apart however their ratings are shuffled."""
    wide = pd.DataFrame({"a": [1] * 9, "b": [5] * 9})
    assert survey.chance_spread(wide, np.random.default_rng(0), most=3, times=5).tolist() == [0] * 5
    assert survey.chance_spread(wide, np.random.default_rng(0), most=4, times=5).tolist() == [1] * 5


def test_shown_as_filtered_out(public):
    """Both stand among the candidates; if one were released, the claim would differ."""
    raw = data.released(public)
    offered = raw["candidates"]
    assert offered["item"].isin(pipeline.DROPPED).sum() == 2
    said = [
        pipeline._on_review(offered, hit)["cm-dropped"]["as written"]
        for hit in (
            pipeline.kept(offered, raw["released"]),
            offered["item"] == offered["item"].iloc[0],
            offered["item"] == [*pipeline.DROPPED][0],
        )
    ]
    assert [way[3] for way in said] == [True, True, False]


def test_a_candidate_without_a_category_stops_the_readings(public):
    raw, start = data.released(public), data.starting_examples(public)
    raw["candidates"].loc[100, "category"] = None
    with pytest.raises(BedsideError, match="1 of 874 rows have no category"):
        pipeline.readings(public, raw, start, checks.report(sources.all_sources(public)))


# ---- the two texts


def test_what_both_texts_print(run):
    """15.4 and 6.3 of 585 in two runs: p = 6e-7; 5.8 and 12: 2e-4."""
    found = compared(run).groupby("quantity")
    assert versions.chance(found.get_group("GPT-4-Turbo, PCR")) == pytest.approx(6e-7, rel=0.1)
    assert versions.chance(found.get_group("GPT-4o, PCR")) == pytest.approx(2e-4, rel=0.1)
    assert max(n for n in range(1, 586) if min(n, 34) / n >= 0.115) == 295  # a part of the same


def test_every_reading_that_tests_is_corrected_or_alone(run):
    """No claim that differs rests on a test of ours."""
    listed = claims.listed(PAPER)
    for part in (PRINTED, SURVEY, FILES):
        for id in sets(part).get("differs", ()):
            assert not any(way.tests for way in listed.get(id, {}).values()), id


def test_each_claim_of_a_statement_has_its_predicate():
    for row in claims.statements(PAPER):
        assert len(row["predicates"].split()) == len(row["claims"].split()), row["id"]


def test_nothing_about_a_third_partys_text_is_asked():
    assert not [c.id for c in claims.load(PAPER).values() if c.of == "summary" and c.ask]
