"""New study: a judge without a model."""

import numpy as np

from bedside.judging.baselines import Baseline
from bedside.read.checks import normal

VALUES = [0, 1]  # worst first; 1: the answer says what the reference says
FIELDS = ("question", "reference", "answer")  # what the judge's prompt shows


class Overlap(Baseline):
    """The share of the reference's words in an answer, with the cut that best separates labels."""

    def features(self, frame):
        """Share (n,) in 0..1 of the reference's words that the answer has."""
        both = zip(frame["reference"], frame["answer"])
        return np.array([len(words(r) & words(a)) / len(words(r)) for r, a in both])

    def fit(self, features, labels):
        """The smallest share that counts as 1: the one that gets most labels right."""
        cuts = np.unique(features)
        right = [((features >= cut) == labels).mean() for cut in cuts]
        return cuts[np.argmax(right)]

    def predict(self, fitted, features):
        return (features >= fitted).astype(int).tolist()


def words(text):
    """The different words of a text that have four letters or more."""
    return {word for word in normal(text).split() if len(word) > 3}
