"""Cancer-Myth, section 2 and appendix A: the physicians' survey of answers to real patients' questions."""

from bedside import stats
from bedside.tables import interval_rows, table_rows

RATED = {
    "GPT-4-Turbo": "GPT-4-Turbo",
    "Gemini-1.5 Pro": "Gemini-1.5-Pro",
    "LLaMa-3.1-Instruct 405B": "LLaMa-3.1-405B",
    "Edited human answer": "Social workers",
}  # the survey's names of the four sources of answers
LABELS = [
    "Overly generic",
    "Bad or inappropriate advice",
    "Factually incorrect",
    "Not realistic for patient",
    "Not following guidelines",
]


def survey(run):
    """The physicians' ratings (section 2): long frame question, source, part, rater, rating, labels, missing.

    part is 0 for the whole answer, else the paragraph's number. rating is NaN where the physician marked that a
    paragraph holds no advice. labels is the list of harmful labels. Columns of the export that identify people
    (addresses, places) are never read beyond the raters' pseudonyms.
    """
    import pandas as pd

    export = run.load("cancer_myth_survey_ratings")
    export = export[export["RecipientLastName"].str.fullmatch(r"Doctor \d")].set_index(
        "RecipientLastName"
    )
    export = export[[c for c in export.columns if c.startswith("QID")]]
    blocks = [
        (int(q), s)
        for q, sources in run.load("cancer_myth_survey_blocks").itertuples(index=False)
        for s in sources
    ]
    number = {int(c[3:]): c for c in export.columns}
    rows = []
    for n, column in number.items():
        block, place = divmod(n, 100)
        whole = place == 98
        if not whole and (place > 98 or place % 5 != 4 or block >= len(blocks)):
            continue
        question, source = blocks[block]
        for rater in export.index:
            rating, more = export.at[rater, column], export.at[rater, number[n + 1]]
            rows.append(
                (
                    question,
                    RATED[source],
                    0 if whole else place // 5 + 1,
                    rater,
                    rating,
                    [] if whole else [x for x in more.split(",") if x],
                    more if whole else "",
                )
            )
    frame = pd.DataFrame(
        rows, columns=["question", "source", "part", "rater", "rating", "labels", "missing"]
    )
    frame["rating"] = pd.to_numeric(frame["rating"].replace("N/A", None))
    return frame


def paragraphs(ratings):
    """Ratings of paragraphs that every physician took for advice: a frame (question, source, part) x rater."""
    wide = ratings[ratings["part"] > 0].pivot(
        index=["question", "source", "part"], columns="rater", values="rating"
    )
    return wide.dropna()


def misd(wide):
    """Max inter-rater score difference of each paragraph (appendix A.4), in points."""
    return (wide.max(axis=1) - wide.min(axis=1)).astype(int)


def source_scores(ratings, run):
    """Mean score of each source over the whole answers: source, value, low, high, n; bootstrap over questions."""
    import pandas as pd

    whole = ratings[ratings["part"] == 0]
    rows = []
    for name in RATED.values():
        mine = whole[whole["source"] == name]
        i = stats.bootstrap(
            mine["rating"].to_numpy(), run.rng("survey", name), units=mine["question"].to_numpy()
        )
        rows.append((name, *i))
    return pd.DataFrame(rows, columns=["row", "value", "low", "high", "n"])


def source_tests(ratings, run):
    """Paired permutation tests between the sources' mean scores, flipped by question, with Holm: row, difference, p."""
    import itertools

    import pandas as pd

    mean = ratings[ratings["part"] == 0].groupby(["question", "source"])["rating"].mean().unstack()
    rows = [
        (
            f"{a} - {b}",
            (mean[a] - mean[b]).mean(),
            stats.paired_permutation(
                mean[a].to_numpy(), mean[b].to_numpy(), run.rng("survey", a, b)
            ),
            len(mean),
        )
        for a, b in itertools.combinations(RATED.values(), 2)
    ]
    frame = pd.DataFrame(rows, columns=["row", "difference", "p", "n"])
    return frame.assign(p_holm=stats.holm(frame["p"].to_numpy()))


def label_counts(ratings):
    """Paragraphs that carry each harmful label from at least one physician: row (source), column (label), value, n."""
    import pandas as pd

    parts = ratings[ratings["part"] > 0].explode("labels")
    n = parts.groupby("source")[["question", "part"]].apply(lambda g: len(g.drop_duplicates()))
    hit = (
        parts.drop_duplicates(["question", "source", "part", "labels"])
        .groupby(["source", "labels"])
        .size()
    )
    return pd.DataFrame(
        [(s, l, int(hit.get((s, l), 0)), int(n.get(s, 0))) for s in RATED.values() for l in LABELS],
        columns=["row", "column", "value", "n"],
    )


def test_table(tests):
    """`source_tests` as table rows."""
    names = {"difference": "difference, points", "p": "p", "p_holm": "p, Holm"}
    return table_rows(
        (r["row"], label, "raw", r[name], r["n"])
        for _, r in tests.iterrows()
        for name, label in names.items()
    )


def answer_lengths(run):
    """Mean words of the rated answers by source, of the file with the answers as they were shown."""
    frame = run.load("cancer_myth_survey_answers")
    return {name: frame[column].str.split().str.len().mean() for column, name in RATED.items()}


def paragraph_table(ratings, lengths, run):
    """Paragraphs by source: shown, rated by all three physicians, their mean score, words of the answers: table rows."""
    wide, shown = (
        paragraphs(ratings),
        ratings[ratings["part"] > 0].drop_duplicates(["question", "source", "part"]),
    )
    rows = []
    for name in RATED.values():
        mine = wide.xs(name, level="source")
        i = stats.bootstrap(
            mine.mean(axis=1).to_numpy(),
            run.rng("paragraphs", name),
            units=mine.index.get_level_values("question").to_numpy(),
        )
        rows += [
            (name, "paragraphs shown", "raw", (shown["source"] == name).sum(), None, None, None),
            (name, "paragraphs all three rated", "raw", len(mine), None, None, None),
            (name, "mean score of these", "raw", *i[:3], len(mine)),
            (name, "mean words of the answer", "raw", lengths[name], None, None, 25),
        ]
    rows += [
        ("all", "paragraphs shown", "raw", len(shown), None, None, None),
        ("all", "paragraphs all three rated", "raw", len(wide), None, None, None),
        ("all", "paragraphs all three rated", "published", 648, None, None, None),
    ]
    return interval_rows(rows)


def misd_table(wide, run):
    """Share of each source's paragraphs by MISD, in percent, and of 2 or less beside the printed bound: table rows."""
    spread = misd(wide)
    rows = []
    for name in RATED.values():
        mine = spread.xs(name, level="source")
        rows += [
            (name, f"MISD {k}", "raw", 100 * (mine == k).mean(), None, None, len(mine))
            for k in range(5)
        ]
        i = stats.wilson(int((mine <= 2).sum()), len(mine))
        rows.append((name, "2 or less", "raw", 100 * i.value, 100 * i.low, 100 * i.high, len(mine)))
    low = run.published("v1 text A.4").set_index("row")["value"]["MISD of 2 or less"]
    rows += [
        ("all", "2 or less", "raw", 100 * (spread <= 2).mean(), None, None, len(spread)),
        ("all", "2 or less", "published", None, low, 100, None),
    ]
    return interval_rows(rows)


def alpha_table(ratings, run):
    """Krippendorff's alpha (ordinal) of whole answers and of paragraphs, all and by source: table rows."""
    wide = paragraphs(ratings)
    whole = ratings[ratings["part"] == 0].pivot(
        index=["question", "source"], columns="rater", values="rating"
    )
    rows = []
    for what, frame in (("paragraphs", wide), ("whole answers", whole)):
        for name in ("all", *RATED.values()):
            mine = frame if name == "all" else frame.xs(name, level="source")
            rows.append(
                (
                    name,
                    what,
                    "raw",
                    *stats.krippendorff_alpha(mine.to_numpy().T, run.rng("alpha", what, name)),
                )
            )
    return interval_rows(rows)


# Outcomes of the survey's claims: (what was computed, whether the claim holds).


def beats(tests, human):
    """Does every source score higher than the human one, by Holm-corrected tests?"""
    mine = tests[tests["row"].str.endswith(f" - {human}")]
    return "; ".join(
        f"{r.row.split(' - ')[0]} {r.difference:+.2f} (p = {r.p_holm:.2g})"
        for r in mine.itertuples()
    ), bool(((mine["difference"] > 0) & (mine["p_holm"] < 0.05)).all())


def average(means, human):
    """Is the mean of the other sources' scores above the human one?"""
    value = means.set_index("row")["value"]
    return f"{value.drop(human).mean():.2f} against {value[human]:.2f}", bool(
        value.drop(human).mean() > value[human]
    )


def similar_lengths(lengths):
    """Are the models' answers within a quarter of the human ones' length?"""
    human = lengths["Social workers"]
    return "; ".join(f"{k} {v:.0f} words" for k, v in lengths.items()), all(
        abs(v / human - 1) <= 0.25 for v in lengths.values()
    )


def modes(wide):
    """Is 1 the most frequent MISD in each source?"""
    found = misd(wide).groupby("source").agg(lambda s: s.mode().iloc[0])
    return ", ".join(f"{k}: {v}" for k, v in found.items()), bool((found == 1).all())


def closer(wide):
    """Is the mean MISD of the models' paragraphs below that of the human ones?"""
    spread, human = misd(wide), wide.index.get_level_values("source") == "Social workers"
    return f"mean MISD {spread[~human].mean():.2f} against {spread[human].mean():.2f}", bool(
        spread[~human].mean() < spread[human].mean()
    )


def strong(wide, run):
    """Does Krippendorff's alpha reach 0.67 over all paragraphs?"""
    i = stats.krippendorff_alpha(wide.to_numpy().T, run.rng("alpha", "paragraphs", "all"))
    return f"alpha {i.value:.2f} [{i.low:.2f}, {i.high:.2f}]", i.value >= 0.67


def commonest(labels):
    """Is Overly generic the commonest label over the models' paragraphs?"""
    total = (
        labels[labels["row"] != "Social workers"]
        .groupby("column")["value"]
        .sum()
        .sort_values(ascending=False)
    )
    return ", ".join(f"{k} {v}" for k, v in total.items()), total.index[0] == "Overly generic"
