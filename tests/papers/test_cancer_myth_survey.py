"""Cancer-Myth: the physicians' survey from random exports, by counting, libraries, brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import permutation_test, spearmanr

from bedside import stats
from bedside.papers.cancer_myth import robustness, survey
from cells import wanted

RAW, SOURCES = list(survey.RATED), list(survey.RATED.values())
NOTEBOOK, ROBUST = "cancer_myth/01_physician_survey", "cancer_myth/08_robustness"
DOCTORS = [f"Doctor {k}" for k in (1, 2, 3)]


class Export:
    """A run with a random export: three physicians, a test row, and whoever sent what from where.

    planted: {(question, source, part, rater): (rating or None, labels)}.
    """

    profile, limit = "public", 0

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        cells, self.planted, self.blocks = {}, {}, []
        for q in range(1, 9):
            self.blocks.append((str(q), [str(s) for s in rng.permutation(RAW)]))
            for place, source in enumerate(self.blocks[-1][1]):
                block = 100 * (4 * (q - 1) + place)
                for part, rater in itertools.product(range(int(rng.integers(2, 5)) + 1), DOCTORS):
                    column = block + (5 * part - 1 if part else 98)
                    none = part and rng.random() < 0.1
                    rating = None if none else int(rng.integers(1, 6))
                    labels = [x for x in survey.LABELS if part and rng.random() < 0.1]
                    self.planted[q, survey.RATED[source], part, rater] = (rating, labels)
                    said = ["N/A" if none else str(rating), ",".join(labels), ""]
                    for k, text in enumerate(said):
                        cells.setdefault(f"QID{column + k}", {})[rater] = text
        self.export = pd.DataFrame(cells).reindex([*DOCTORS, "Test"]).fillna("")
        self.export.insert(0, "IPAddress", "1.2.3.4")
        self.export = self.export.rename_axis("RecipientLastName").reset_index()

    def load(self, name):
        blocks = pd.DataFrame(self.blocks, columns=["key", "value"])
        return blocks if name.endswith("blocks") else self.export

    def paragraphs(self):
        """{(question, source, part): its three ratings}, where none is missing."""
        found = {}
        for (*key, _), (rating, _) in self.planted.items():
            if key[2]:
                found.setdefault(tuple(key), []).append(rating)
        return {key: given for key, given in found.items() if None not in given}


@pytest.fixture
def run(run_of):
    return run_of("cancer_myth", "01_physician_survey")


@pytest.mark.parametrize("seed", range(2))
def test_the_survey_is_read_by_block_and_place(seed):
    export = Export(seed)
    ratings, given = survey.survey(export), export.paragraphs()
    assert len(ratings) == len(export.planted) and "1.2.3.4" not in ratings.to_string()
    for r in ratings.itertuples():
        rating, labels = export.planted[r.question, r.source, r.part, r.rater]
        assert (r.rating == rating or rating is None and np.isnan(r.rating)) and r.labels == labels
    wide = survey.paragraphs(ratings)
    assert {k: row.tolist() for k, row in zip(wide.index, wide.to_numpy())} == given
    assert survey.misd(wide).to_dict() == {k: max(v) - min(v) for k, v in given.items()}


def spread_of(wide, run):
    """Figure 9's rows of these ratings."""
    rows = wanted(NOTEBOOK, "spread", raw=True, wide=wide, run=run)
    return rows[rows["source"] == "raw"].set_index(["row", "column"])


def test_tables_of_the_survey_by_counting(run):
    export = Export(2)
    ratings, given = survey.survey(export), export.paragraphs()
    words = {raw: ["word " * n for n in range(100 * k, 100 * k + 8)] for k, raw in enumerate(RAW)}
    given_here = {"raw": True, "ratings": ratings, "answers": pd.DataFrame(words), "run": run}
    score = wanted(NOTEBOOK, "paragraphs", **given_here).query("source == 'raw'")
    score = score.set_index(["row", "column"])["value"]
    spread = spread_of(survey.paragraphs(ratings), run)["value"]
    labels = survey.harmful(ratings).groupby("source").agg(["sum", "size"])
    for k, source in enumerate(SOURCES):
        mine = [v for (_, s, _), v in given.items() if s == source]
        shown = {key[:3] for key in export.planted if key[1] == source and key[2]}
        gaps = [max(v) - min(v) for v in mine]
        assert score[source].to_dict() == pytest.approx(
            {
                "paragraphs shown": len(shown),
                "paragraphs all three rated": len(mine),
                "mean score of these": np.mean(mine),
                "mean words of the answer": 100 * k + 3.5,
            }
        )
        for most in range(5):
            share = 100 * gaps.count(most) / len(gaps)
            assert spread[source, f"MISD {most}"] == pytest.approx(share)
        assert spread[source, "2 or less"] == pytest.approx(100 * np.mean(np.array(gaps) <= 2))
        for label in survey.LABELS:
            hit = {key[:3] for key, (_, said) in export.planted.items() if label in said}
            assert labels.loc[source, label].tolist() == [len(hit & shown), len(shown)]
    made, each = survey.agreement(ratings, np.random.default_rng(0)), [*given.values()]
    for a, b in itertools.combinations(range(3), 2):
        rho = spearmanr(*np.array(each)[:, [a, b]].T).statistic
        assert made["all", f"Spearman's rho, {DOCTORS[a]} and {DOCTORS[b]}"] == pytest.approx(rho)
    for k, good in enumerate(100 * (np.array(each) >= 4).mean(axis=0)):
        assert made["all", f"4 or 5 points by {DOCTORS[k]}, %"][0] == pytest.approx(good)


def test_sources_are_compared_question_by_question(run):
    export = Export(0)
    made = survey.source_tests(survey.survey(export), run).set_index("row")
    assert len(made) == 6
    for row, r in made.iterrows():
        x, y = (
            [np.mean([export.planted[q, s, 0, d][0] for d in DOCTORS]) for q in range(1, 9)]
            for s in row.split(" - ")
        )
        exact = permutation_test(
            (x, y),
            lambda a, b, axis: np.mean(a - b, axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
        ).pvalue
        assert r["difference"] == pytest.approx(np.mean(x) - np.mean(y))
        assert r["p"] == pytest.approx(exact, abs=0.03)
    assert made["p_holm"].tolist() == pytest.approx(stats.holm(made["p"].to_numpy()))


def test_shares_of_the_survey_draw_questions(run):
    """Three paragraphs of an answer, alike: one of 12 questions has raters four points apart."""
    keys = pd.MultiIndex.from_product([range(12), SOURCES, range(3)], names=survey.KEYS[:3])
    far = keys.get_level_values("question") == 0
    wide = pd.DataFrame({"a": 1.0, "b": 1.0, "c": np.where(far, 5.0, 1.0)}, index=keys)
    mine = spread_of(wide, run).loc[("GPT-4-Turbo", "2 or less")]
    assert mine["value"] == pytest.approx(100 * 11 / 12) and mine["n"] == 36
    assert mine["low"] < 100 * stats.wilson(33, 36).low - 5  # paragraphs taken for independent


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


def rated(seed, n=25):
    """Points (question, source) x physician with crossed effects, and the same as an array."""
    rng = np.random.default_rng(seed)
    points = np.array([1, 0.5, 0.2, 0])[None, :, None] + rng.normal(0, 0.5, (n, 1, 1))
    points = points + rng.normal(0, 0.4, (1, 4, 3)) + rng.normal(0, 0.5, (n, 4, 1))
    points = points + rng.normal(0, 0.7, (n, 4, 3))
    writers = [*robustness.MODELS, survey.HUMAN]
    rows = pd.MultiIndex.from_product([range(n), writers], names=["question", "source"])
    columns = pd.Index(DOCTORS, name="rater")
    return pd.DataFrame(points.reshape(n * 4, 3), rows, columns).sort_index(), points


@pytest.mark.parametrize("equal, median", [*itertools.product([False, True], repeat=2)])
def test_a_swap_turns_both_writers_of_a_question(equal, median):
    """The vectorized lead is that of ratings whose writers were swapped by hand."""
    rng = np.random.default_rng(3)
    model, human = rng.normal(4, 1, 12), rng.normal(3, 1, 12)
    long, short = rng.integers(100, 500, (2, 12))
    signs = rng.choice([-1, 1], (20, 12))
    made = robustness.swapped(model - human, np.log(long / short), signs, equal, median)
    for value, sign in zip(made, signs):
        lead = np.where(sign > 0, model, human) - np.where(sign > 0, human, model)
        x = np.log(np.where(sign > 0, long, short) / np.where(sign > 0, short, long))
        lead = lead - np.polyfit(x, lead, 1)[0] * x if equal else lead
        assert value == pytest.approx((np.median if median else np.mean)(lead))


def test_leads_without_a_physician_or_a_question_are_those_of_the_others():
    frame, points = rated(8)
    lead = frame.mean(axis=1).unstack()
    made = wanted(ROBUST, "effects", raw=True, given=frame, lead=lead).set_index(["row", "column"])
    rest = np.delete(points, 1, axis=2)
    left = made.loc[(robustness.MODELS[1], "without Doctor 2"), "value"]
    assert left == pytest.approx((rest[:, 1] - rest[:, 3]).mean())
    alone = made.loc[(robustness.MODELS[1], "Doctor 2 alone"), "value"]
    assert alone == pytest.approx((points[:, 1, 1] - points[:, 3, 1]).mean())
    gaps = points[:, 2] - points[:, 3]
    each = [np.delete(gaps, q, axis=0).mean() for q in range(len(gaps))]
    one = made.loc[(robustness.MODELS[2], "without one question"), ["low", "high"]]
    assert one.tolist() == pytest.approx([min(each), max(each)])


def test_the_usual_choice_is_the_papers_mean():
    frame, points = rated(0)
    long = frame.stack().rename("rating").reset_index()
    ratings = pd.concat([long.assign(part=part) for part in range(3)])
    rng = np.random.default_rng(0)
    words = pd.DataFrame({s: rng.integers(200, 420, 25) for s in SOURCES})
    made = robustness.curve(ratings, words, rng)
    usual = made[made["usual"]].set_index("model")
    for k, model in enumerate(robustness.MODELS):
        x, y = points[:, k].mean(1), points[:, 3].mean(1)
        assert usual.loc[model, "value"] == pytest.approx((x - y).mean())
        p = stats.paired_permutation(x, y, rng)
        assert usual.loc[model, "p"] == pytest.approx(p, abs=0.03)
    assert made.groupby("model")["z"].apply(lambda z: z.is_monotonic_increasing).all()
