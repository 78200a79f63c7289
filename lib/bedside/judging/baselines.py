"""Baselines: judges without a model, measured on labelled examples that they never saw.

baseline = Lexical(labelled, [-1, 0, 1])
baseline.grade(frame)           # grades of answers
baseline.out_of_fold()          # grades of the labelled ones, each item's by a fit without it
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


class Baseline:
    """The base class of baselines; each defines its own `features`, `fit` and `predict`.

    features(frame): (n,) or (n, k) of a frame's rows. fit(features, labels): the parameters of
    `predict`, such as cut points. predict(fitted, features): a list of values, one for each row.

    labelled: a frame with item, label and the columns that `features` reads. values: the grades,
    worst first.
    """

    def __init__(self, labelled: pd.DataFrame, values: Sequence[int | str]):
        self.labelled, self.values = labelled, list(values)
        self.prepare(labelled)
        self.known, self.labels = self.features(labelled), labelled["label"].to_numpy()
        self.fitted = self.fit(self.known, self.labels)

    def prepare(self, labelled: pd.DataFrame) -> None:
        """Learn from the frame without labels, such as a vocabulary."""

    def grade(self, frame: pd.DataFrame) -> list:
        """A list of values, one for each row of a frame."""
        return self.predict(self.fitted, self.features(frame))

    def out_of_fold(self) -> list:
        """Values of the labelled rows in their order, each item's by a fit without it."""
        items = self.labelled["item"].to_numpy()
        values = np.empty(len(items), dtype=object)
        for item in dict.fromkeys(items):
            held_out = items == item
            fitted = self.fit(self.known[~held_out], self.labels[~held_out])
            values[held_out] = self.predict(fitted, self.known[held_out])
        return values.tolist()


class Lexical(Baseline):
    """The word-overlap judge: three grades by the TF-IDF cosine of answer and new words.

    New words are the correction's words that the question lacks. labelled: item, question,
    correction, answer, label. The two cut points maximise the quadratic kappa.
    """

    def prepare(self, labelled: pd.DataFrame) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = r"(?u)\b[a-z]{3,}\b"
        self.tfidf = TfidfVectorizer(sublinear_tf=True, stop_words="english", token_pattern=words)
        self.tfidf.fit([*labelled["question"].unique(), *labelled["correction"].unique()])

    def features(self, frame: pd.DataFrame) -> np.ndarray:
        """Cosine (n,) in 0..1 between answers and the new words of their corrections."""
        answer, news = (
            self.tfidf.transform(frame["answer"]),
            self.tfidf.transform(frame["correction"]),
        )
        news = (news - news.multiply(self.tfidf.transform(frame["question"]) != 0)).tocsr()
        norm = np.sqrt(np.asarray(news.multiply(news).sum(1))).ravel()
        return np.asarray(answer.multiply(news).sum(1)).ravel() / np.where(norm > 0, norm, 1)

    def fit(self, features: np.ndarray, labels: np.ndarray) -> Any:
        """The two cut points, out of a grid of quantiles."""
        ranks = np.arange(3)
        grid = np.quantile(features, np.linspace(0.05, 0.95, 19))
        low, high = np.triu_indices(len(grid))
        rank = np.searchsorted(sorted(self.values), labels)
        graded = (features > grid[low][:, None]).astype(int) + (features > grid[high][:, None])
        observed = ((graded - rank) ** 2).mean(1)  # quadratic disagreement, observed and by chance
        share = np.array([np.bincount(g, minlength=3) / len(g) for g in graded])
        chance = np.array(
            [(s[:, None] * (ranks[:, None] - rank) ** 2).sum(0).mean() for s in share]
        )
        best = np.argmax(1 - observed / np.where(chance > 0, chance, 1))
        return grid[low[best]], grid[high[best]]

    def predict(self, fitted: Any, features: np.ndarray) -> list:
        low, high = fitted
        values = sorted(self.values)
        return [values[i] for i in (features > low).astype(int) + np.asarray(features > high)]


def learnt(labelled: pd.DataFrame) -> pd.DataFrame:
    """The labelled rows that judges learn from: not those of the user's own raters (`rated`)."""
    return labelled[~labelled["rated"].to_numpy(bool)] if "rated" in labelled else labelled


def held_out(
    baseline: type[Baseline], labelled: pd.DataFrame, values: Sequence[int | str]
) -> pd.Series:
    """Verdicts of a kind of Baseline on labelled rows, in their order, as a Series.

    Out of fold on what it learns from; the others (see `learnt`) are graded: what a judge says in a
    run mustn't depend on who labelled what meanwhile.
    """
    own = learnt(labelled)
    rated = labelled.drop(own.index)
    judge = baseline(own.reset_index(drop=True), values)
    values = pd.Series(judge.out_of_fold(), index=own.index, dtype=object)
    if rated.empty:
        return values
    more = pd.Series(judge.grade(rated), index=rated.index, dtype=object)
    return pd.concat([values, more])[labelled.index]
