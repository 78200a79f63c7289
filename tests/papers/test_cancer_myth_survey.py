"""Cancer-Myth: the physicians' survey, read from random exports, by counting and libraries."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import permutation_test, spearmanr

from bedside import stats
from bedside.papers.cancer_myth import survey
from bedside.read.surroundings import here
from bedside.run import Run
from cells import wanted

RAW = list(survey.RATED)
SOURCES = list(survey.RATED.values())
NOTEBOOK = "cancer_myth/01_physician_survey"
DOCTORS = [f"Doctor {k}" for k in (1, 2, 3)]
SEEDS = range(3)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "figures", str(tmp_path))
    return Run("cancer_myth", "03_evaluation", profile="sample")


class Export:
    """A run with a random export: three physicians, a test row, and whoever sent what from where.

    planted: {(question, source, part, rater): (rating or None, labels)}.
    """

    profile, limit = "public", 0

    def __init__(self, seed, questions=8):
        rng = np.random.default_rng(seed)
        cells, self.planted, self.blocks = {}, {}, []
        for q in range(1, questions + 1):
            self.blocks.append((str(q), [str(s) for s in rng.permutation(RAW)]))
            for place, source in enumerate(self.blocks[-1][1]):
                block = 100 * (4 * (q - 1) + place)
                for part in range(int(rng.integers(2, 5)) + 1):
                    column = block + (5 * part - 1 if part else 98)
                    for rater in DOCTORS:
                        none = part and rng.random() < 0.1
                        rating = None if none else int(rng.integers(1, 6))
                        labels = [x for x in survey.LABELS if part and rng.random() < 0.1]
                        key = (q, survey.RATED[source], part, rater)
                        self.planted[key] = (rating, labels)
                        said = ["N/A" if none else str(rating), ",".join(labels), ""]
                        for k, text in enumerate(said):
                            cells.setdefault(f"QID{column + k}", {})[rater] = text
        self.export = pd.DataFrame(cells).reindex([*DOCTORS, "Test"]).fillna("")
        self.export.insert(0, "IPAddress", "1.2.3.4")
        self.export = self.export.rename_axis("RecipientLastName").reset_index()

    def load(self, name):
        if name.endswith("blocks"):
            return pd.DataFrame(self.blocks, columns=["key", "value"])
        return self.export

    def paragraphs(self):
        """{(question, source, part): its three ratings}, where none is missing."""
        found = {}
        for (*key, _), (rating, _) in self.planted.items():
            if key[2]:
                found.setdefault(tuple(key), []).append(rating)
        return {key: given for key, given in found.items() if None not in given}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_survey_is_read_by_block_and_place(seed):
    export = Export(seed)
    ratings = survey.survey(export)
    assert len(ratings) == len(export.planted) and "1.2.3.4" not in ratings.to_string()
    for r in ratings.itertuples():
        rating, labels = export.planted[r.question, r.source, r.part, r.rater]
        assert (r.rating == rating or rating is None and np.isnan(r.rating)) and r.labels == labels
    wide = survey.paragraphs(ratings)
    given = export.paragraphs()
    assert {k: row.tolist() for k, row in zip(wide.index, wide.to_numpy())} == given
    assert survey.misd(wide).to_dict() == {k: max(v) - min(v) for k, v in given.items()}


def spread_of(wide, run):
    """Figure 9's rows of these ratings."""
    rows = wanted(NOTEBOOK, "spread", raw=True, wide=wide, run=run)
    return rows[rows["source"] == "raw"].set_index(["row", "column"])


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_of_the_survey_by_counting(run, seed):
    export = Export(seed)
    ratings, given = survey.survey(export), export.paragraphs()
    wide = survey.paragraphs(ratings)
    words = {raw: ["word " * n for n in range(100 * k, 100 * k + 8)] for k, raw in enumerate(RAW)}
    given_here = {"raw": True, "ratings": ratings, "answers": pd.DataFrame(words), "run": run}
    score = wanted(NOTEBOOK, "paragraphs", **given_here).query("source == 'raw'")
    score = score.set_index(["row", "column"])["value"]
    spread = spread_of(wide, run)["value"]
    labels = survey.harmful(ratings).groupby("source").agg(["sum", "size"])
    for k, source in enumerate(SOURCES):
        mine = [v for (_, s, _), v in given.items() if s == source]
        shown = {key[:3] for key in export.planted if key[1] == source and key[2]}
        assert score[source, "paragraphs shown"] == len(shown)
        assert score[source, "paragraphs all three rated"] == len(mine)
        assert score[source, "mean score of these"] == pytest.approx(np.mean(mine))
        assert score[source, "mean words of the answer"] == 100 * k + 3.5
        gaps = [max(v) - min(v) for v in mine]
        for most in range(5):
            share = 100 * gaps.count(most) / len(gaps)
            assert spread[source, f"MISD {most}"] == pytest.approx(share)
        assert spread[source, "2 or less"] == pytest.approx(100 * np.mean(np.array(gaps) <= 2))
        for label in survey.LABELS:
            hit = {key[:3] for key, (_, said) in export.planted.items() if label in said}
            expected = [len(hit & shown), len(shown)]
            assert labels.loc[source, label].tolist() == expected
    made = survey.agreement(ratings, run.rng("survey", "shuffled"))
    each = np.array(list(given.values()))
    for (i, a), (j, b) in itertools.combinations(enumerate(DOCTORS), 2):
        rho = spearmanr(each[:, i], each[:, j]).statistic
        assert made["all", f"Spearman's rho, {a} and {b}"] == pytest.approx(rho)
    for i, rater in enumerate(DOCTORS):
        good = 100 * np.mean(each[:, i] >= 4)
        assert made["all", f"4 or 5 points by {rater}, %"][0] == pytest.approx(good)


@pytest.mark.parametrize("seed", SEEDS)
def test_sources_are_compared_question_by_question(run, seed):
    export = Export(seed)
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
    p = made["p"].sort_values().to_numpy()
    steps = np.maximum.accumulate(np.minimum(1, p * np.arange(6, 0, -1)))
    assert made["p_holm"].sort_values().tolist() == pytest.approx(steps)


def test_shares_of_the_survey_draw_questions(run):
    """Three paragraphs of an answer, alike: one of 12 questions has raters four points apart."""
    keys = pd.MultiIndex.from_product(
        [range(12), SOURCES, range(3)], names=["question", "source", "part"]
    )
    far = keys.get_level_values("question") == 0
    wide = pd.DataFrame({"a": 1.0, "b": 1.0, "c": np.where(far, 5.0, 1.0)}, index=keys)
    mine = spread_of(wide, run).loc[("GPT-4-Turbo", "2 or less")]
    assert mine["value"] == pytest.approx(100 * 11 / 12) and mine["n"] == 36
    assert mine["low"] < 100 * stats.wilson(33, 36).low - 5  # paragraphs taken for independent


# ---- claims


# numbers of the survey itself, which these worlds don't have


def test_intraclass_correlation_of_a_worked_example():
    """Shrout and Fleiss (1979), six targets and four judges: ICC(2,1) is .29."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert survey.intraclass(pd.DataFrame(ratings)) == pytest.approx(0.29, abs=0.005)


def test_shuffling_keeps_each_raters_ratings():
    """Two raters who always give 1 and 4 (or 3) stay as far apart however they are shuffled."""
    for other, share in ((4, 0), (3, 1)):
        wide = pd.DataFrame({"a": [1] * 9, "b": [other] * 9})
        drawn = survey.chance_spread(wide, np.random.default_rng(0), times=5)
        assert drawn.tolist() == [share] * 5
