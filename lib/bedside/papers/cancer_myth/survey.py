"""Cancer-Myth, section 2: physicians' survey of answers to real patients' questions."""

import itertools

import pandas as pd

from bedside import claims, published, stats
from bedside.claims import reading, same

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
ALPHA = 0.67  # the customary least alpha of raters who agree
ALIKE = 0.25  # lengths are similar within this share of the human ones


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


def paragraphs(ratings):
    """Ratings of what all physicians took for advice: (question, source, part) x rater."""
    parts = ratings[ratings["part"] > 0]
    keys = ["question", "source", "part"]
    return parts.pivot(index=keys, columns="rater", values="rating").dropna()


def whole_answers(ratings):
    """Ratings of the whole answers: (question, source) x rater."""
    whole = ratings[ratings["part"] == 0]
    return whole.pivot(index=["question", "source"], columns="rater", values="rating")


def answer_lengths(run):
    """Mean words of the rated answers by source, from the answers as they were shown."""
    frame = run.load("cancer_myth_survey_answers")
    return {name: frame[column].str.split().str.len().mean() for column, name in RATED.items()}


# ---- measures


def bootstrap_by_question(ratings, questions, rng):
    """A mean rating with a bootstrap interval over the ratings' questions."""
    return stats.bootstrap(ratings.to_numpy(), rng, units=questions.to_numpy())


def misd(wide):
    """Max inter-rater score difference of each of `paragraphs` (appendix A.4), in points."""
    return (wide.max(axis=1) - wide.min(axis=1)).astype(int)


def source_scores(ratings, run):
    """Mean score of each source, bootstrapped over questions: row, value, low, high, n."""
    whole = ratings[ratings["part"] == 0]
    rows = []
    for name in RATED.values():
        mine = whole[whole["source"] == name]
        rng = run.rng("survey", name)
        rows.append((name, *bootstrap_by_question(mine["rating"], mine["question"], rng)))
    return pd.DataFrame(rows, columns=["row", "value", "low", "high", "n"])


def source_tests(ratings, run):
    """Permutation tests between sources, paired by question: row, difference, p, n, p_holm."""
    mean = ratings[ratings["part"] == 0].groupby(["question", "source"])["rating"].mean().unstack()
    rows = []
    for a, b in itertools.combinations(RATED.values(), 2):
        x, y = mean[a].to_numpy(), mean[b].to_numpy()
        p = stats.paired_permutation(x, y, run.rng("survey", a, b))
        rows.append((f"{a} - {b}", (mean[a] - mean[b]).mean(), p, len(mean)))
    frame = pd.DataFrame(rows, columns=["row", "difference", "p", "n"])
    return frame.assign(p_holm=stats.holm(frame["p"].to_numpy()))


def label_counts(ratings):
    """Paragraphs with each harmful label, from any physician: row (source), column, value, n."""
    parts = ratings[ratings["part"] > 0].explode("labels")
    n = parts.drop_duplicates(["question", "source", "part"])["source"].value_counts()
    once = parts.drop_duplicates(["question", "source", "part", "labels"])
    hit = once.groupby(["source", "labels"]).size()
    rows = [
        (source, label, int(hit.get((source, label), 0)), int(n.get(source, 0)))
        for source in RATED.values()
        for label in LABELS
    ]
    return pd.DataFrame(rows, columns=["row", "column", "value", "n"])


# ---- claims


def claimed(run):
    """The ids of the survey's claims, in the order of the file."""
    return [id for id in claims.load(run.paper) if id.startswith("cm-survey-")]


def readings(run, means, tests, lengths, wide, labels):
    """Readings of these claims, {id: readings}, from what the functions above measured."""
    mean = means.set_index("row")["value"]
    printed = dict(zip(("gpt", "gemini", "llama", "social"), RATED.values()))
    equal = {
        **{short: (mean[name], 2) for short, name in printed.items()},
        "paragraphs": (len(wide), 0),
        "words": (lengths[HUMAN], 0),
    }
    decided = {
        "llm-average": _average(mean),
        "llm-better": _better(tests),
        "similar-length": _similar(lengths),
        "misd-2": _within_two(run, wide),
        "misd-1": _commonest_spread(run, wide),
        "misd-llm": _closer(wide),
        "agree": _strong(run, wide),
        "labels": _commonest_label(labels),
    }
    found = {name: same(run, f"cm-survey-{name}", *value) for name, value in equal.items()}
    return {f"cm-survey-{name}": value for name, value in {**found, **decided}.items()}


def _average(mean):
    """Is the mean of the models' scores above the human one?"""
    models, human = mean.drop(HUMAN).mean(), mean[HUMAN]
    return reading(f"{models:.2f} against {human:.2f}", models > human)


def _better(tests):
    """Does every model score higher than the human answers, by Holm-corrected tests?"""
    mine = tests[tests["row"].str.endswith(f" - {HUMAN}")]
    told = [
        f"{r.row.split(' - ')[0]} {r.difference:+.2f} (p = {r.p_holm:.2g})"
        for r in mine.itertuples()
    ]
    return reading("; ".join(told), ((mine["difference"] > 0) & (mine["p_holm"] < 0.05)).all())


def _similar(lengths):
    """Are the models' answers about as long as the human ones?"""
    told = "; ".join(f"{name} {words:.0f} words" for name, words in lengths.items())
    return reading(told, all(abs(v / lengths[HUMAN] - 1) <= ALIKE for v in lengths.values()))


def _within_two(run, wide):
    """Do more paragraphs than the printed bound have a MISD of 2 or less?"""
    bound = published.value(run.paper, "v1 text A.4", "MISD of 2 or less", "percent")
    share = 100 * (misd(wide) <= 2).mean()
    return reading(f"{share:.1f}%", share > bound)


def _commonest_spread(run, wide):
    """Is the printed MISD the most frequent in each source?"""
    said = published.value(run.paper, "v1 text A.4", "most frequent MISD", "points")
    found = misd(wide).groupby("source").agg(lambda s: s.mode().iloc[0])
    return reading(", ".join(f"{k}: {v}" for k, v in found.items()), (found == said).all())


def _closer(wide):
    """Is the mean MISD of the models' paragraphs below that of the human ones?"""
    spread, human = misd(wide), wide.index.get_level_values("source") == HUMAN
    models, people = spread[~human].mean(), spread[human].mean()
    return reading(f"mean MISD {models:.2f} against {people:.2f}", models < people)


def _strong(run, wide):
    """Does Krippendorff's alpha over all paragraphs reach ALPHA?"""
    i = stats.krippendorff_alpha(wide.to_numpy().T, run.rng("alpha", "paragraphs", "all"))
    return reading(f"alpha {i.value:.2f} [{i.low:.2f}, {i.high:.2f}]", i.value >= ALPHA)


def _commonest_label(labels):
    """Is Overly generic the commonest label over the models' paragraphs?"""
    counts = labels[labels["row"] != HUMAN].groupby("column")["value"].sum()
    counts = counts.sort_values(ascending=False)
    told = ", ".join(f"{label} {n}" for label, n in counts.items())
    return reading(told, counts.index[0] == LABELS[0])
