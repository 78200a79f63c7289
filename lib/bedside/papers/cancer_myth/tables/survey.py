"""Rows on the physicians' survey (section 2, appendix A)."""

import itertools

import numpy as np

from bedside import stats
from bedside.write.tables import Row, frame, share

from ..survey import (
    EDITED,
    LINK,
    NAME,
    NUMBERED,
    RATED,
    SCALE,
    SITE,
    chance_spread,
    edited,
    intraclass,
    paragraphs,
    whole_answers,
)


def asked(wide):
    """The question of each paragraph or answer: the unit that is drawn; raters stay the same."""
    return wide.index.get_level_values("question").to_numpy()


def test_table(tests):
    """Rows of `survey.source_tests`: differences in points, p and p by Holm."""
    names = {"difference": "difference, points", "p": "p", "p_holm": "p, Holm"}
    return frame(
        Row(r["row"], label, "raw", r[name], n=r["n"])
        for r in tests.to_dict("records")
        for name, label in names.items()
    )


def editing_table(answers):
    """What the social workers' answers show of their source: as they stand, and edited (A.2)."""
    site = answers[SITE]
    forms = {"on the site": site, "edited by the authors": answers[EDITED]}
    rows = []
    for column, texts in (forms | {"edited by rules": site.map(edited)}).items():
        found = {"name the site": NAME, "hold an address": LINK, "numbered": NUMBERED}
        for row, pattern in found.items():
            rows.append(Row(row, column, "raw", texts.str.contains(pattern).sum(), n=len(texts)))
        rows.append(Row("words, mean", column, "raw", texts.str.split().str.len().mean()))
    return frame(rows)


def answered_table(made):
    """Length of a run's edited answers to questions of the survey, and how many were cut."""
    rows = []
    for model, mine in made.groupby("model", sort=False):
        came = mine[mine["reply_status"] == ""]
        length = came["shown"].str.split().str.len().mean()
        rows += [
            Row(model, "answers", "run", len(came), n=len(mine)),
            Row(model, "words, mean", "run", length, n=len(came)),
            Row(model, "cut off at the limit", "run", came["truncated"].sum(), n=len(came)),
        ]
    return frame(rows)


def paragraph_table(ratings, words, run):
    """Paragraphs by source: shown, rated by all three, and their mean score; words of answers."""
    wide = paragraphs(ratings)
    shown = ratings[ratings["part"] > 0].drop_duplicates(["question", "source", "part"])
    rows = []
    for name in RATED.values():
        mine = wide.xs(name, level="source")
        ends = SCALE[0], SCALE[-1]
        score = stats.mean(mine.mean(axis=1).to_numpy(), asked(mine), scale=ends)
        questions = ratings["question"].nunique()
        rows += [
            Row(name, "paragraphs shown", "raw", (shown["source"] == name).sum()),
            Row(name, "paragraphs all three rated", "raw", len(mine)),
            Row(name, "mean score of these", "raw", *score[:3], len(mine)),
            Row(name, "mean words of the answer", "raw", words[name].mean(), n=questions),
        ]
    said = run.published("v1 text 2.1").set_index("row")["value"]["paragraphs with advice"]
    rows += [
        Row("all", "paragraphs shown", "raw", len(shown)),
        Row("all", "paragraphs all three rated", "raw", len(wide)),
        Row("all", "paragraphs all three rated", "published", said),
    ]
    return frame(rows)


def misd_table(spread, run):
    """Percent of paragraphs by MISD; of those with 2 or less beside the published bound.

    spread: the MISD of each of `survey.paragraphs`.
    """
    rows = []
    for name in RATED.values():
        mine = spread.xs(name, level="source")
        each = {k: 100 * (mine == k).mean() for k in range(5)}
        rows += [Row(name, f"MISD {k}", "raw", v, n=len(mine)) for k, v in each.items()]
        rows.append(Row(name, "2 or less", "raw", *share(mine <= 2, asked(mine))))
    low = run.published("v1 text A.4").set_index("row")["value"]["MISD of 2 or less"]
    rows += [
        Row("all", "2 or less", "raw", *share(spread <= 2, asked(spread))),
        Row("all", "2 or less", "published", None, low, 100),
    ]
    return frame(rows)


def agreement_table(ratings, run):
    """Krippendorff's alpha (ordinal) of all answers and by source; other measures of agreement."""
    rows = []
    for what, wide in (
        ("paragraphs", paragraphs(ratings)),
        ("whole answers", whole_answers(ratings)),
    ):
        for name in ("all", *RATED.values()):
            mine = wide if name == "all" else wide.xs(name, level="source")
            alpha = stats.krippendorff_alpha(mine.to_numpy().T, units=asked(mine))
            rows.append(Row(name, f"alpha, {what}", "raw", *alpha))
    return frame([*rows, *_other_measures(paragraphs(ratings), run)])


def _other_measures(wide, run):
    """Of all paragraphs: other coefficients, correlations of two raters, shuffled ratings."""
    n, values = len(wide), wide.to_numpy()
    measures = {"ICC(2,1)": intraclass(wide)}
    for weights in (None, "linear", "quadratic"):
        name = f"Gwet's AC2, {weights} weights" if weights else "Gwet's AC1"
        measures[name] = stats.gwet(values.T, SCALE, weights=weights)
    together = wide.corr("spearman")
    for a, b in itertools.combinations(wide.columns, 2):
        measures[f"Spearman's rho, {a} and {b}"] = together.loc[a, b]
    shuffled = 100 * chance_spread(wide, run.rng("survey", "shuffled"))
    low, high = np.quantile(shuffled, [0.025, 0.975])
    rows = [Row("all", name, "raw", value, n=n) for name, value in measures.items()]
    rows += [
        Row("all", f"4 or 5 points by {rater}, %", "raw", *share(mine >= 4, asked(wide)))
        for rater, mine in wide.items()
    ]
    return [*rows, Row("all", "MISD 2 or less, shuffled, %", "raw", shuffled.mean(), low, high, n)]
