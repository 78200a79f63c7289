"""Cancer-Myth: the physicians' survey from random exports, by counting, libraries, brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from counting import NAN, counted
from scipy.stats import permutation_test, spearmanr

from bedside import stats
from bedside.papers.cancer_myth import robustness, survey
from cells import wanted

RAW, SOURCES = list(survey.RATED), list(survey.RATED.values())
NOTEBOOK, ROBUST = "cancer_myth/01_physician_survey", "cancer_myth/08_robustness"
DOCTORS = [f"Doctor {k}" for k in (1, 2, 3)]


class Export:
    """A run with a random export: three physicians, a test row, and whoever sent what from where.

    planted: what its ratings are, as a frame.
    """

    profile, limit = "public", 0

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        cells, rows, self.blocks = {}, [], []
        for q in range(1, 9):
            self.blocks.append((str(q), [str(s) for s in rng.permutation(RAW)]))
            for place, source in enumerate(self.blocks[-1][1]):
                block = 100 * (4 * (q - 1) + place)
                for part, rater in itertools.product(range(int(rng.integers(2, 5)) + 1), DOCTORS):
                    column = block + (5 * part - 1 if part else 98)
                    none = part and rng.random() < 0.1
                    rating = NAN if none else float(rng.integers(1, 6))
                    labels = [x for x in survey.LABELS if part and rng.random() < 0.1]
                    rows.append((q, survey.RATED[source], part, rater, rating, labels))
                    said = ["N/A" if none else f"{rating:.0f}", ",".join(labels), ""]
                    for k, text in enumerate(said):
                        cells.setdefault(f"QID{column + k}", {})[rater] = text
        self.planted = pd.DataFrame(rows, columns=[*survey.KEYS, "rating", "labels"])
        self.export = pd.DataFrame(cells).reindex([*DOCTORS, "Test"]).fillna("")
        self.export.insert(0, "IPAddress", "1.2.3.4")
        self.export = self.export.rename_axis("RecipientLastName").reset_index()

    def load(self, name):
        blocks = pd.DataFrame(self.blocks, columns=["key", "value"])
        return blocks if name.endswith("blocks") else self.export

    def points(self, whole=False):
        """Ratings by question, source and part in the order of DOCTORS, where none is missing."""
        mine = self.planted[(self.planted["part"] == 0) == whole]
        return mine.pivot(index=survey.KEYS[:3], columns="rater", values="rating").dropna()


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "01_physician_survey")


def test_the_survey_is_read_by_block_and_place():
    export = Export(0)
    ratings, given = survey.survey(export), export.points()
    same = [frame.set_index(survey.KEYS).sort_index() for frame in (ratings, export.planted)]
    pd.testing.assert_frame_equal(same[0][["rating", "labels"]], same[1])
    assert "1.2.3.4" not in ratings.to_string()
    wide = survey.paragraphs(ratings)
    pd.testing.assert_frame_equal(wide, given)
    assert survey.misd(wide).tolist() == np.ptp(given.to_numpy(), axis=1).tolist()
    # the survey counts questions in their file's order; the questions' own ids are others
    asked = pd.DataFrame({name: ["a"] * 8 for name in [*RAW, "question"]})
    kept = survey.kept(asked, ratings).set_index(["item", "model"])["right"]
    for (q, source), labels in export.planted.groupby(["question", "source"])["labels"]:
        assert kept[f"survey-{q}", source] == (not labels.sum())


def test_tables_of_the_survey_by_counting(run):
    export = Export(2)
    ratings, given = survey.survey(export), export.points()
    words = {raw: ["word " * n for n in range(100 * k, 100 * k + 8)] for k, raw in enumerate(RAW)}
    known = {"raw": True, "ratings": ratings, "answers": pd.DataFrame(words), "run": run}
    score = wanted(NOTEBOOK, "paragraphs", **known).query("source == 'raw'")
    score = score.set_index(["row", "column"])["value"]
    spread = wanted(NOTEBOOK, "spread", raw=True, wide=given, run=run)
    spread = spread[spread["source"] == "raw"]
    labels = survey.harmful(ratings).groupby("source").agg(["sum", "size"])
    for source, mine in given.groupby("source"):
        gaps = np.ptp(mine.to_numpy(), axis=1)
        shown = export.planted.query("source == @source and part > 0")
        shown = shown.groupby(survey.KEYS[:3])["labels"].sum()
        expected = {
            "paragraphs shown": len(shown),
            "paragraphs all three rated": len(mine),
            "mean score of these": mine.mean(axis=None),
            "mean words of the answer": 100 * SOURCES.index(source) + 3.5,
        }
        assert score[source].to_dict() == pytest.approx(expected)
        counted(spread, {(source, f"MISD {most}"): 100 * (gaps == most) for most in range(5)})
        counted(spread, {(source, "2 or less"): 100 * (gaps <= 2)})
        for label in survey.LABELS:
            hits = [label in said for said in shown]
            assert labels.loc[source, label].tolist() == [sum(hits), len(hits)]
    made = survey.agreement(ratings, np.random.default_rng(0))
    for a, b in itertools.combinations(DOCTORS, 2):
        rho = spearmanr(given[a], given[b]).statistic
        assert made["all", f"Spearman's rho, {a} and {b}"] == pytest.approx(rho)
    for doctor, good in (100 * (given >= 4).mean()).items():
        assert made["all", f"4 or 5 points by {doctor}, %"][0] == pytest.approx(good)


def test_sources_are_compared_question_by_question(run):
    export = Export(0)
    made = survey.source_tests(survey.survey(export), run).set_index("row")
    points = export.points(whole=True).mean(axis=1).droplevel("part").unstack()
    assert len(made) == 6
    for row, r in made.iterrows():
        exact = permutation_test(
            [points[source] for source in row.split(" - ")],
            lambda a, b, axis: np.mean(a - b, axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        )
        assert r["difference"] == pytest.approx(exact.statistic)
        assert r["p"] == pytest.approx(exact.pvalue, abs=0.03)
    assert made["p_holm"].tolist() == pytest.approx(stats.holm(made["p"].to_numpy()))


def test_shares_of_the_survey_draw_questions(run):
    """Three paragraphs of an answer, alike: one of 12 questions has raters four points apart."""
    keys = pd.MultiIndex.from_product([range(12), SOURCES, range(3)], names=survey.KEYS[:3])
    far = keys.get_level_values("question") == 0
    wide = pd.DataFrame({"a": 1.0, "b": 1.0, "c": np.where(far, 5.0, 1.0)}, index=keys)
    spread = wanted(NOTEBOOK, "spread", raw=True, wide=wide, run=run)
    counted(spread, {("GPT-4-Turbo", "2 or less"): [0] * 3 + [100] * 33})
    low = spread.set_index(["row", "column"]).loc[("GPT-4-Turbo", "2 or less")]["low"]
    assert low < 100 * stats.wilson(33, 36).low - 5  # paragraphs taken for independent


def test_coefficients_of_worked_examples():
    """Shrout and Fleiss (1979), six targets and four judges: ICC(2,1) is .29.

    Two raters who always give 1 and 4 (or 3) stay as far apart however they are shuffled.
    """
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert survey.intraclass(pd.DataFrame(ratings)) == pytest.approx(0.29, abs=0.005)
    for other, share in ((4, 0), (3, 1)):
        wide = pd.DataFrame({"a": [1] * 9, "b": [other] * 9})
        drawn = survey.chance_spread(wide, np.random.default_rng(0), times=5)
        assert drawn.tolist() == [share] * 5


# ---- robustness


@pytest.fixture
def rated():
    """Points (question, source) x physician with crossed effects."""
    rng, shape = np.random.default_rng(8), (25, 4, 3)
    effects = ((0.5, (25, 1, 1)), (0.4, (1, 4, 3)), (0.5, (25, 4, 1)), (0.7, shape))
    points = np.array([1, 0.5, 0.2, 0])[None, :, None] + sum(
        rng.normal(0, spread, size) for spread, size in effects
    )
    writers = [*robustness.MODELS, survey.HUMAN]
    rows = pd.MultiIndex.from_product([range(25), writers], names=["question", "source"])
    columns = pd.Index(DOCTORS, name="rater")
    return pd.DataFrame(points.reshape(100, 3), rows, columns).sort_index()


def lead_of(rated, model):
    """A model's lead over the social workers: questions x physicians."""
    return rated.xs(model, level="source") - rated.xs(survey.HUMAN, level="source")


@pytest.mark.parametrize("equal, median", [*itertools.product([False, True], repeat=2)])
def test_a_swap_turns_both_writers_of_a_question(equal, median):
    """The vectorized lead is that of ratings whose writers were swapped by hand."""
    rng = np.random.default_rng(3)
    lead, length = rng.normal(1, 1.4, 12), np.log(rng.uniform(0.2, 5, 12))
    signs = rng.choice([-1, 1], (20, 12))
    made = robustness.swapped(lead, length, signs, equal, median)
    for value, sign in zip(made, signs):
        turned, x = lead * sign, length * sign
        turned = turned - np.polyfit(x, turned, 1)[0] * x if equal else turned
        assert value == pytest.approx((np.median if median else np.mean)(turned))


def test_leads_without_a_physician_or_a_question_are_those_of_the_others(rated):
    mean = rated.mean(axis=1).unstack()
    made = wanted(ROBUST, "effects", raw=True, given=rated, lead=mean).set_index(["row", "column"])
    for model in robustness.MODELS:
        lead, at = lead_of(rated, model), made.loc[model]
        rest = lead.drop(columns="Doctor 2").mean(axis=None)
        assert at.at["without Doctor 2", "value"] == pytest.approx(rest)
        assert at.at["Doctor 2 alone", "value"] == pytest.approx(lead["Doctor 2"].mean())
        each = [lead.drop(q).mean(axis=None) for q in lead.index]
        ends = at.loc["without one question", ["low", "high"]].tolist()
        assert ends == pytest.approx([min(each), max(each)])


def test_the_usual_choice_is_the_papers_mean(rated):
    long = rated.stack().rename("rating").reset_index()
    ratings = pd.concat([long.assign(part=part) for part in range(3)])
    rng = np.random.default_rng(0)
    words = pd.DataFrame({s: rng.integers(200, 420, 25) for s in SOURCES})
    made = robustness.curve(ratings, words, rng)
    usual = made[made["usual"]].set_index("model")
    for model in robustness.MODELS:
        lead = lead_of(rated, model).mean(axis=1).to_numpy()
        assert usual.loc[model, "value"] == pytest.approx(lead.mean())
        p = stats.paired_permutation(lead, 0 * lead, rng)
        assert usual.loc[model, "p"] == pytest.approx(p, abs=0.03)
    assert made.groupby("model")["z"].apply(lambda z: z.is_monotonic_increasing).all()
