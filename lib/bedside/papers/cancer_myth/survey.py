"""Cancer-Myth, section 2: the physicians' survey of answers to real patients' questions."""

import itertools
import re

import numpy as np
import pandas as pd

from bedside import stats
from bedside.checks import complete

RATED = {  # the survey's names of the four sources of answers
    "GPT-4-Turbo": "GPT-4-Turbo",
    "Gemini-1.5 Pro": "Gemini-1.5-Pro",
    "LLaMa-3.1-Instruct 405B": "LLaMa-3.1-405B",
    "Edited human answer": "Social workers",
}
HUMAN = "Social workers"
LABELS = [
    "Overly generic",
    "Bad or inappropriate advice",
    "Factually incorrect",
    "Not realistic for patient",
    "Not following guidelines",
]
SCALE = range(1, 6)  # points that a rating may have
KEYS = ["question", "source", "part", "rater"]  # of a rating


# ---- texts


def shown(answer):
    """A released answer as the survey showed it: without asterisks and double spaces."""
    return re.sub(r" +", " ", answer.replace("*", ""))


def cut(answer):
    """The paragraphs of an answer in the order of the survey, which cut them at empty lines."""
    found = [paragraph.strip() for paragraph in shown(answer).split("\n\n")]
    return [re.sub(r"^\d+\.\s*", "", paragraph) for paragraph in found if paragraph]


# ---- ratings


def survey(run):
    """The physicians' ratings (section 2): question, source, part, rater, rating, labels, missing.

    part is 0 for the whole answer, else the paragraph's number. rating is NaN where the physician
    marked that a paragraph holds no advice. labels is the list of harmful labels. Columns of the
    export that identify people (addresses, places) are never read beyond the raters' pseudonyms.
    """
    export = run.load("cancer_myth_survey_ratings")
    physicians = export["RecipientLastName"].str.fullmatch(r"Doctor \d")
    export = export[physicians].set_index("RecipientLastName")
    columns = {int(c[3:]): c for c in export.columns if c.startswith("QID")}
    blocks = run.load("cancer_myth_survey_blocks").itertuples(index=False)
    asked = [(int(question), source) for question, sources in blocks for source in sources]
    rows = []
    for number, column in columns.items():
        block, place = divmod(number, 100)  # 98: the whole answer; 4, 9 ...: its paragraphs
        whole = place == 98
        if not whole and (place > 98 or place % 5 != 4 or block >= len(asked)):
            continue
        question, source = asked[block]
        part = 0 if whole else place // 5 + 1
        for rater in export.index:
            rating, more = export.at[rater, column], export.at[rater, columns[number + 1]]
            labels = [] if whole else [label for label in more.split(",") if label]
            missing = more if whole else ""
            rows.append((question, RATED[source], part, rater, rating, labels, missing))
    names = ["question", "source", "part", "rater", "rating", "labels", "missing"]
    frame = pd.DataFrame(rows, columns=names)
    frame["rating"] = pd.to_numeric(frame["rating"].replace("N/A", None))
    return frame


def _parts(ratings):
    return complete(ratings, KEYS).query("part > 0")


def _whole(ratings):
    return complete(complete(ratings, KEYS).query("part == 0"), ["rating"])


def paragraphs(ratings):
    """Ratings of paragraphs that all three took for advice: (question, source, part) x rater."""
    wide = _parts(ratings).pivot(index=KEYS[:3], columns="rater", values="rating")
    return wide.dropna()  # a missing rating says that the paragraph holds no advice


def whole_answers(ratings):
    """Ratings of the whole answers: (question, source) x rater."""
    return _whole(ratings).pivot(index=["question", "source"], columns="rater", values="rating")


def answer_words(answers):
    """Words (between spaces) of the released answers: a row for each question, by source."""
    return pd.DataFrame({name: answers[c].str.split().str.len() for c, name in RATED.items()})


# ---- measures


def misd(wide):
    """Largest difference between raters (MISD) of each of `paragraphs`, in points (A.4)."""
    return (wide.max(axis=1) - wide.min(axis=1)).astype(int)


def chance_spread(wide, rng, most=2, times=2000):
    """Shares of `paragraphs` with a MISD of at most `most` (times,), each rater's own shuffled."""
    ratings = wide.to_numpy()
    draws = (rng.permuted(ratings, axis=0) for _ in range(times))
    return np.array([(np.ptp(drawn, axis=1) <= most).mean() for drawn in draws])


def intraclass(wide):
    """ICC(2,1) of items x raters: raters as a random draw, absolute agreement of single ratings.

    As in Shrout and Fleiss (1979).
    """
    ratings = wide.to_numpy(dtype=float)
    (n, k), mean = ratings.shape, ratings.mean()
    rows, columns = ratings.mean(axis=1, keepdims=True), ratings.mean(axis=0)
    between = k * ((rows - mean) ** 2).sum() / (n - 1)
    raters = n * ((columns - mean) ** 2).sum() / (k - 1)
    left = ((ratings - rows - columns + mean) ** 2).sum() / ((n - 1) * (k - 1))
    return (between - left) / (between + (k - 1) * left + k * (raters - left) / n)


def source_scores(ratings, run):
    """Mean score of each source, with a bootstrap over questions: row, value, low, high, n."""
    whole, rows = _whole(ratings), []
    for name in RATED.values():
        mine = whole[whole["source"] == name]
        rng, asked = run.rng("survey", name), mine["question"].to_numpy()
        rows.append((name, *stats.bootstrap(mine["rating"].to_numpy(), rng, units=asked)))
    return pd.DataFrame(rows, columns=["row", "value", "low", "high", "n"])


def source_tests(ratings, run):
    """Permutation tests between sources, paired by question: row, difference, p, n, p_holm."""
    mean = _whole(ratings).groupby(["question", "source"])["rating"].mean().unstack()
    rows = []
    for a, b in itertools.combinations(RATED.values(), 2):
        x, y = mean[a].to_numpy(), mean[b].to_numpy()
        p = stats.paired_permutation(x, y, run.rng("survey", a, b))
        rows.append((f"{a} - {b}", (mean[a] - mean[b]).mean(), p, len(mean)))
    frame = pd.DataFrame(rows, columns=["row", "difference", "p", "n"])
    return frame.assign(p_holm=stats.holm(frame["p"].to_numpy()))


def label_counts(ratings):
    """Paragraphs with each harmful label by any physician: row (source), column, value, n."""
    parts = _parts(ratings).explode("labels")
    n = parts.drop_duplicates(["question", "source", "part"])["source"].value_counts()
    once = parts.drop_duplicates(["question", "source", "part", "labels"])
    hit = once.groupby(["source", "labels"]).size()
    rows = [  # no paragraph with a label, or of a source, is a count of 0
        (source, label, int(hit.get((source, label), 0)), int(n.get(source, 0)))
        for source in RATED.values()
        for label in LABELS
    ]
    return pd.DataFrame(rows, columns=["row", "column", "value", "n"])
