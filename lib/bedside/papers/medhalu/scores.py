"""MedHalu: detection scores (section 3.3), spans (section 4.1), detectors that don't read, agreement of raters, and sampling (2.3).

Repeats of a model and raters of a group are averaged for each item before anything else; the bootstrap draws items.
"""

import re

from bedside import stats
from bedside.papers.medhalu.data import TYPES
from bedside.tables import COLUMNS, table_rows

METRICS = {
    "Acc": "accuracy",
    "ma-P": "macro precision",
    "ma-R": "macro recall",
    "ma-F1": "macro F1",
}  # as printed, as shown


def averaged(judged, items):
    """Share of yes of each evaluator for each item: item, evaluator, source, yes (NaN: no reply could be read), dataset, type, hallucinated."""
    mean = judged.groupby(["evaluator", "source", "item"], sort=False)["yes"].mean().reset_index()
    return mean.merge(
        items[["item", "dataset", "type", "hallucinated"]], on="item", validate="many_to_one"
    ).sort_values("dataset", kind="stable", ignore_index=True)


def counts(frame):
    """Expected confusion of each row (n, 4): true and false positive, false and true negative; each row sums to 1."""
    import numpy as np

    h, y = frame["hallucinated"].to_numpy(float), frame["yes"].to_numpy(float)
    return np.column_stack([h * y, (1 - h) * y, h * (1 - y), (1 - h) * (1 - y)])


def scores(shares, by, run):
    """Accuracy, macro precision, recall and F1 (section 3.3) by `by`, with bootstrap intervals over items: rows in long form.

    Columns: by, metric, value, low, high, n, unscored, least, most; n counts items with a reply that can be read,
    unscored those without, least and most are the scores if these were all wrong, or right.
    """
    import numpy as np
    import pandas as pd

    rows = []
    for key, part in shares.groupby(by, sort=False):
        got, lost = part[part["yes"].notna()], part[part["yes"].isna()]
        found = [stats.Interval(float("nan"), float("nan"), float("nan"), 0)] * len(METRICS)
        if len(got):
            found = stats.bootstrap(counts(got), run.rng("macro", *key), combine=stats.macro)
        worst, best = (
            stats.macro(np.vstack([counts(got), counts(lost.assign(yes=said))]).sum(0))
            for said in (1.0 - lost["hallucinated"], 1.0 * lost["hallucinated"])
        )
        rows += [
            {
                **dict(zip(by, key)),
                "metric": name,
                **i._asdict(),
                "unscored": len(lost),
                "least": least,
                "most": most,
            }
            for name, i, least, most in zip(METRICS.values(), found, worst, best)
        ]
    return pd.DataFrame(rows)


def per_type(shares):
    """`shares` once for each hallucination type, with the answers of that type and those without one, as `against`.

    Table 8 doesn't say what its macro-F1 is over; with one type alone it has none.
    """
    import pandas as pd

    return pd.concat(
        [
            shares[shares["type"].isin([t, "none"])].assign(against=name)
            for t, name in list(TYPES.items())[1:]
        ]
    )


# ---- detectors that don't read the answer

BLIND = {"always yes": 1.0, "always no": 0.0, "a fair coin": 0.5}


def blind(hallucinated, n, label, source):
    """Scores of detectors that say yes without reading, on n answers of which so many are hallucinated: table rows.

    The last one says yes as often as there are hallucinations. Expected counts, so no interval.
    """
    share = hallucinated / n
    rows = []
    for name, yes in {**BLIND, "a coin of the share of hallucinations": share}.items():
        made = stats.macro(
            [share * yes, (1 - share) * yes, share * (1 - yes), (1 - share) * (1 - yes)]
        )
        rows += [
            (f"{label}: {name}", metric, source, value, n)
            for metric, value in zip(METRICS.values(), made)
        ]
    return table_rows(rows)


def by_words(items, run, folds=4):
    """A detector that sees the answer's words only, never the question: `JUDGED`-like rows by cross-validation.

    If it beats the coins, how the answers were made shows in their style. TF-IDF of words and pairs, logistic
    regression with balanced classes, folds over items. Nothing with fewer than two items of a class.
    """
    folds = min(folds, *(int((items["hallucinated"] == h).sum()) for h in (True, False)))
    if folds < 2:
        return items[:0][["item"]]
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        LogisticRegression(class_weight="balanced"),
    )
    cut = StratifiedKFold(folds, shuffle=True, random_state=run.seed)
    yes = cross_val_predict(model, items["answer"], items["hallucinated"], cv=cut)
    return items[["item"]].assign(
        evaluator="bag of words of the answer",
        repeat=0,
        source="run",
        status="graded",
        yes=yes.astype(float),
    )


# ---- spans


def locate(span, answer, least=80):
    """Where a span stands in an answer: (start, end, how), or None.

    how is "exact" (but for case, spacing and punctuation) or "aligned": the stretch of the answer that is most like it
    (rapidfuzz's partial ratio, at least `least` of 100; a span longer than the answer can't be aligned).
    """
    from rapidfuzz import fuzz

    if found := re.search(r"\W+".join(map(re.escape, re.findall(r"\w+", span))), answer, re.I):
        return (*found.span(), "exact")
    if len(span) <= len(answer) and (
        near := fuzz.partial_ratio_alignment(span.lower(), answer.lower(), score_cutoff=least)
    ):
        return near.dest_start, near.dest_end, "aligned"
    return None


def tokens(answer, places):
    """Numbers of the words of an answer that lie in one of the places (start, end, ...), at least in part."""
    return {
        i
        for i, w in enumerate(re.finditer(r"\w+", answer))
        if any(w.start() < p[1] and p[0] < w.end() for p in places)
    }


def token_scores(answer, right, found):
    """Precision, recall and F1 of detected words against labelled ones, both lists of spans.

    A detected span that is not in the answer counts with all its words as wrong. Nothing detected: all 0.
    """
    labelled = tokens(answer, [p for s in right if (p := locate(s, answer))])
    places = [locate(s, answer) for s in found]
    detected = tokens(answer, [p for p in places if p])
    size = len(detected) + sum(len(re.findall(r"\w+", s)) for s, p in zip(found, places) if not p)
    hits = len(labelled & detected)
    return {
        "token precision": hits / size if size else 0.0,
        "token recall": hits / len(labelled),
        "token F1": 2 * hits / (size + len(labelled)),
    }


def distances(right, found):
    """For each labelled span its smallest edit distance, in characters, to a detected one (section 3.3); NaN if none was detected."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    if not found:
        return [float("nan")] * len(right)
    return cdist(right, found, scorer=Levenshtein.distance).min(1).tolist()


def span_rows(judged, items, right):
    """Detected against labelled spans, reply by reply and span by span: evaluator, source, item, dataset, span, distance, or_empty, token scores.

    right: {item: spans}. or_empty: the distance, or the span's length if nothing was detected (the edit distance to no
    text). Replies that can't be read are left out.
    """
    import pandas as pd

    known, rows = items.set_index("item"), []
    for r in judged[(judged["status"] == "graded") & judged["item"].isin(right)].itertuples():
        words = token_scores(known.at[r.item, "answer"], right[r.item], r.spans)
        rows += [
            {
                "evaluator": r.evaluator,
                "source": r.source,
                "item": r.item,
                "dataset": known.at[r.item, "dataset"],
                "span": s,
                "distance": d,
                "or_empty": len(s) if d != d else d,
                **words,
            }
            for s, d in zip(right[r.item], distances(right[r.item], r.spans))
        ]
    return pd.DataFrame(
        rows,
        columns=[
            "evaluator",
            "source",
            "item",
            "dataset",
            "span",
            "distance",
            "or_empty",
            "token precision",
            "token recall",
            "token F1",
        ],
    ).sort_values("dataset", kind="stable", ignore_index=True)


def whole(items):
    """A detector that marks every answer whole, for scale: rows as detections have them."""
    return items[["item"]].assign(
        evaluator="the whole answer marked",
        repeat=0,
        source="run",
        status="graded",
        yes=1.0,
        spans=items["answer"].map(lambda a: [a]),
    )


SPANS = {
    "distance": "mean edit distance",
    "or_empty": "mean edit distance, nothing detected counted as no text",
}


def span_scores(rows, run):
    """Edit distances (mean and median, as Table 7) and token scores by dataset and evaluator: table rows, characters and shares.

    Repeats are averaged for each labelled span, token scores for each item; intervals over items. n counts spans (items
    for token scores), unscored those for which nothing was ever detected.
    """
    import numpy as np
    import pandas as pd

    made = []
    for (dataset, name, source), part in rows.groupby(
        ["dataset", "evaluator", "source"], sort=False
    ):
        spans = (
            part.groupby(["item", "span"], sort=False)[["distance", "or_empty"]]
            .mean()
            .reset_index()
        )
        words = (
            part.groupby("item", sort=False)[["token precision", "token recall", "token F1"]]
            .mean()
            .reset_index()
        )
        for frame, columns in ((spans, SPANS), (words, {c: c for c in words.columns[1:]})):
            for column, label in columns.items():
                got = frame[frame[column].notna()]
                row = {
                    "row": f"{dataset}: {name}",
                    "source": source,
                    "n": len(got),
                    "unscored": len(frame) - len(got),
                }
                if len(got):
                    value, units = got[column].to_numpy(), got["item"].to_numpy()
                    found = {
                        label: stats.bootstrap(value, run.rng(label, dataset, name), units=units)
                    }
                    if column == "distance":
                        found["median edit distance"] = stats.bootstrap(
                            value,
                            run.rng("median", dataset, name),
                            units=units,
                            statistic=np.median,
                            resamples=2000,
                        )
                    made += [
                        {**row, "column": c, "value": i.value, "low": i.low, "high": i.high}
                        for c, i in found.items()
                    ]
    return pd.DataFrame(made).reindex(columns=COLUMNS)


# ---- raters and their batches


def agreement(labels, items, run):
    """Agreement of raters with each other and with the labels, by group (section 2.3): table rows of coefficients.

    kappa with the labels and between two raters is the mean over raters or pairs, as "average Cohen's kappa" says;
    Krippendorff's alpha is nominal over all raters of a group. Intervals: of the alpha only, over items.
    """
    import itertools

    truth, rows = items.set_index("item")["hallucinated"].astype(float), []
    for group, part in labels.groupby("group", sort=False):
        wide = part.pivot(index="item", columns="repeat", values="yes")
        with_labels = [
            stats.kappa(mine, truth[mine.index], [0.0, 1.0]).value
            for r in wide
            for mine in [wide[r].dropna()]
        ]
        pairs = [
            stats.kappa(both[a], both[b], [0.0, 1.0]).value
            for a, b in itertools.combinations(wide, 2)
            for both in [wide[[a, b]].dropna()]
            if len(both)
        ]
        alpha = (
            stats.krippendorff_alpha(wide.T.to_numpy(), run.rng("alpha", group), level="nominal")
            if len(wide.columns) > 1
            else None
        )
        rows += [
            {"row": group, "column": name, "source": "run", "value": sum(v) / len(v), "n": len(v)}
            for name, v in (
                ("kappa with the labels, mean of raters", with_labels),
                ("kappa of two raters, mean of pairs", pairs),
            )
            if v
        ]
        if alpha:
            rows.append(
                {
                    "row": group,
                    "column": "Krippendorff's alpha",
                    "source": "run",
                    "value": alpha.value,
                    "low": alpha.low,
                    "high": alpha.high,
                    "n": alpha.n,
                }
            )
    return rows


def batches(frame, size, of, seed):
    """`size` rows drawn in proportion to the base sets, split into batches of `of` (section 2.3): the drawn rows with `batch`, from 1.

    frame has a column dataset. Every batch has the base sets in proportion too, as far as whole rows allow.
    """
    from sklearn.model_selection import StratifiedKFold, train_test_split

    drawn = (
        frame
        if size >= len(frame)
        else train_test_split(frame, train_size=size, stratify=frame["dataset"], random_state=seed)[
            0
        ]
    )
    drawn = drawn.sort_index().reset_index(drop=True).assign(batch=1)
    if len(drawn) > of:
        split = StratifiedKFold(-(-len(drawn) // of), shuffle=True, random_state=seed).split(
            drawn, drawn["dataset"]
        )
        for number, (_, mine) in enumerate(split, 1):
            drawn.loc[mine, "batch"] = number
    return drawn
