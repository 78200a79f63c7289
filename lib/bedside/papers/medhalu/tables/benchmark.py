"""Tables of MedHalu's benchmark (section 2): base sets, types, built answers, batches, raters."""

import numpy as np
import pandas as pd

from bedside import stats
from bedside.read import sources
from bedside.read.checks import complete, groups, scored
from bedside.write.tables import (
    Row,
    frame,
    no_answer_rows,
    percent,
    published_rows,
    published_text_rows,
)

from ..data import DATASETS, TYPES, words
from ..printed import ROUNDED, SHORT, shares, text, wide
from ..scores import agreement

CHECKS = "attention checks"  # the question under which raters who passed or failed are counted
LONGEST = dict(zip(DATASETS, [20, 200, 20]))  # words, of the histograms
BARS = 20
TEXTS = [
    *("abstract", "text 1", "text 2.2", "text 2.3", "text 3.1", "text 3.2", "text 4.1", "text 4.2"),
    *("text 5", "ethical considerations", "appendix B"),
]
COPIED = 80  # a rapidfuzz ratio from which on a text counts as a copy


def _raters_by(run):
    """The run's own raters by group, question and answer; None if nobody was asked."""
    return run.load("medhalu_raters") if sources.here("medhalu_raters") else None


def experts_table(run):
    """Table 3: the background of the 30 medical experts, as printed, and of the run's own."""
    said, own = run.published("Table 3"), _raters_by(run)
    rows = published_rows(said)
    if own is not None:
        asked = (own["group"] == "expert") & (own["question"] != CHECKS)
        rows += [
            Row(f"{r.question}: {r.answer}", said["column"].iloc[0], "run", int(r.raters))
            for r in own[asked].itertuples()
        ]
    return frame(rows)


def took_part(run):
    """A caption's sentence on the run's own experts in Table 3."""
    if _raters_by(run) is None:
        return "No experts took part in this run."
    return "This run: experts' own answers, counted where five or more gave any."


def left_out(run):
    """How many of the run's own raters failed an attention check, and so don't count: Rows."""
    own = _raters_by(run)
    if own is None:
        return []
    checked = own[own["question"] == CHECKS].assign(raters=own["raters"].astype(int))
    return [
        Row(group, "raters left out (attention checks)", "run", failed, n=part["raters"].sum())
        for group, part in groups(checked, "group", ["answer"])
        for failed in [part.loc[part["answer"] == "failed", "raters"].sum()]
    ]


def text_table(run):
    """The numbers in the paper's text, each with its section."""
    return frame(published_text_rows(run.published(*TEXTS)))


def statistics_table(run, counted):
    """Table 4: answers by type and base set, printed and {source: counts of a like table}."""
    long = {short: name for name, short in SHORT.items()} | {"Total": "all"}
    four = run.published("Table 4").itertuples()
    rows = [Row(r.row, long[r.column], "published", r.value) for r in four]
    for source, table in counted.items():
        rows += [Row(name, d, source, n) for (name, d), n in table.stack().items()]
    return frame(rows)


def length_table(run, sets):
    """Words of the questions of each base set, printed and computed; sets: {name: (texts, source)}.

    Table rows; those of the histogram have left and right, a bar's edges. The last bar holds all
    longer questions.
    """
    said = [
        Row(r.row, r.column.replace("words of a question", "words"), "published", r.value)
        for r in run.published("text 2.2").itertuples()
    ]
    parts = [frame(said).assign(left=None, right=None)]
    for name, (texts, source) in sets.items():
        n = words(complete(texts.to_frame("question"), ["question"])["question"])
        found = {
            "pairs": len(n),
            "different questions": texts.nunique(),
            "words, mean": n.mean(),
            "words, standard deviation": n.std(),
        }
        rows = [Row(name, column, source, v, n=len(n)) for column, v in found.items()]
        parts += [frame(rows), _histogram_rows(name, n, source)]
    return pd.concat(parts, ignore_index=True)


def _histogram_rows(name, n, source):
    """Shares of questions by their number of words (n,): table rows with left and right."""
    edges = np.linspace(0, LONGEST[name], BARS + 1)
    share = np.histogram(n.clip(upper=edges[-1] - 1), edges)[0] / len(n)
    rows = [
        Row(name, f"from {left:g} words, %", source, 100 * v, n=len(n))
        for left, v in zip(edges, share)
    ]
    return frame(rows).assign(left=edges[:-1], right=edges[1:])


def built_table(built):
    """What a generator wrote, by type: percent without an answer, cut off, copied; mean words.

    Also why replies hold no text, and the percent copied among those that were not cut.
    """
    plain = complete(built, ["type"])["type"] == "none"
    asked, plain = built[~plain], scored(built[plain], "answer")
    rows = _built_rows("all", asked)
    for t, part in groups(asked, "type"):
        rows += _built_rows(TYPES[t], part)
    mean = words(plain["answer"]).mean()
    return frame([*rows, Row(TYPES["none"], "words, mean", "run", mean, n=len(plain))])


def _built_rows(name, part):
    """The rows of `built_table` for one type's requests."""
    from rapidfuzz import fuzz

    got = scored(complete(part, ["truncated"], ["why"]), "answer")
    pairs = list(zip(got["answer"], got["expert_answer"]))
    same = np.array([fuzz.ratio(*p) >= COPIED for p in pairs], bool)
    whole = same[~got["truncated"].to_numpy(bool)]
    shares = {
        "gave no answer, %": (len(part) - len(got), len(part)),
        "cut off at the limit, %": (part["truncated"].sum(), len(part)),
        "nearly the right answer, %": (same.sum(), len(got)),
        "nearly the right answer where not cut off, %": (whole.sum(), len(whole)),
        "quotes the right answer, %": (
            sum(fuzz.partial_ratio(*p) >= COPIED for p in pairs),
            len(got),
        ),
    }
    rows = no_answer_rows(name, part["why"])
    rows += [Row(name, column, "run", *percent(*share)) for column, share in shares.items()]
    return [*rows, Row(name, "words, mean", "run", words(got["answer"]).mean(), n=len(got))]


def sampling_table(run, drawn, source):
    """Pairs of each base set in the sample and its batches (section 2.3), printed and drawn."""
    said = text(run, "text 2.3")
    sizes = groups(drawn, "batch", ["dataset"]).size()
    each = drawn.groupby(["batch", "dataset"]).size().unstack(fill_value=0)
    rows = [
        Row("sample", "pairs", "published", said["sampled pairs"]),
        Row("batches", "number", "published", said["batches"]),
        Row("batches", "pairs of the smallest", "published", said["pairs of a batch"]),
        Row("batches", "pairs of the largest", "published", said["pairs of a batch"]),
        Row("sample", "pairs", source, len(drawn)),
        Row("batches", "number", source, drawn["batch"].nunique()),
        Row("batches", "pairs of the smallest", source, sizes.min()),
        Row("batches", "pairs of the largest", source, sizes.max()),
    ]
    for d in each:
        rows += [
            Row("sample", d, source, each[d].sum(), n=len(drawn)),
            Row("batches", f"{d}, fewest", source, each[d].min()),
            Row("batches", f"{d}, most", source, each[d].max()),
        ]
    return frame(rows)


def raters_table(run, labels, items):
    """The printed kappa, the largest that Table 6's accuracies allow, `agreement`, `left_out`."""
    said, accuracy = text(run, "text 2.3"), wide(run, "Table 6", "Acc").loc["Experts"]
    kappa, experts = said["expert annotators"], int(said["medical experts"])
    rows = [Row("experts", "kappa with the labels, mean of raters", "published", kappa, n=experts)]
    for d, a in accuracy.items():
        most = float(stats.most_kappa(a + ROUNDED))
        column = f"largest kappa of pooled verdicts at {d}'s accuracy"
        rows.append(Row("experts", column, "recomputed", most))
    mean = float((accuracy * shares(run)).sum()) + ROUNDED
    column = "largest mean of raters' kappas: their accuracy"
    rows.append(Row("experts", column, "recomputed", mean))
    rows += [
        Row(r.group, r.coefficient, "run", r.value, r.low, r.high, r.n)
        for r in agreement(labels, items).itertuples()
    ]
    return frame([*rows, *left_out(run)])
