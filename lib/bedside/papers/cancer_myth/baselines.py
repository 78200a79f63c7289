"""Cancer-Myth's baseline judges: of over-correction, of categories and of equal misconceptions."""

import re

import numpy as np

from bedside.judging.baselines import Baseline


class CutPoint(Baseline):
    """Verdicts by one feature: above the cut point that gets most labels right, or not."""

    above = 0  # place of this verdict in `values`

    def fit(self, features, labels):
        """The cut point."""
        cuts = np.unique(features)
        right = (features > cuts[:, None]) == (labels == self.values[self.above])
        return cuts[np.argmax(right.mean(1))]

    def predict(self, fitted, features):
        return [self.values[self.above if x > fitted else 1 - self.above] for x in features]


class Echo(CutPoint):
    """For questions without a false presupposition: does the answer take up the question's words?

    An answer that disputes a premise has to name it. The largest cosine of a sentence of the answer
    with the question decides (labelled: item, question, answer, label). An answer that only repeats
    the question gets the lower grade as well.
    """

    def features(self, frame):
        """Largest cosine (n,) of a sentence of each answer with its question, in 0..1."""
        if frame.empty:
            return np.zeros(0)
        sentences = [re.split(r"(?<=[.!?;])\s+", answer) for answer in frame["answer"]]
        count = [len(mine) for mine in sentences]
        said = _words([s for mine in sentences for s in mine])
        asked = _words(frame["question"])[np.repeat(np.arange(len(frame)), count)]
        cosine = np.ravel(said.multiply(asked).sum(1))
        return np.maximum.reduceat(cosine, np.cumsum([0, *count[:-1]]))


class Alike(CutPoint):
    """Do two misconceptions share their words, by their cosine? Labelled: item, myth, other."""

    above = 1

    def features(self, frame):
        """The cosines (n,) of the two texts of each pair, in 0..1."""
        if frame.empty:
            return np.zeros(0)
        a, b = (_words(frame[column]) for column in ("myth", "other"))
        return np.ravel(a.multiply(b).sum(1))


def alike(a, b):
    """Cosines (n, m) of the words of n texts with those of m."""
    return (_words(a) @ _words(b).T).toarray()


def _words(texts):
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(stop_words="english", alternate_sign=False).transform(texts)


class Categoriser(Baseline):
    """Naive Bayes on the words of the corrections (labelled: item, correction, label)."""

    def features(self, frame):
        """The corrections (n,)."""
        return frame["correction"].to_numpy()

    def fit(self, features, labels):
        """The fitted model."""
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.naive_bayes import ComplementNB
        from sklearn.pipeline import make_pipeline

        words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
        return make_pipeline(words, ComplementNB()).fit(features, labels)

    def predict(self, fitted, features):
        return fitted.predict(features).tolist() if len(features) else []
