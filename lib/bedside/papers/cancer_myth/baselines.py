"""Cancer-Myth's baseline judges: of over-correction, of categories and of equal misconceptions."""

import re

import numpy as np

from bedside.judging.baselines import Baseline


class Echo(Baseline):
    """For questions without a false presupposition: does the answer take up the question's words?

    An answer that disputes a premise has to name it. The largest cosine of a sentence of the answer
    with the question is compared with the cut point that gets most of `labelled` (item, question,
    answer, label) right. An answer that only repeats the question gets the lower grade as well.
    """

    def features(self, frame):
        """Largest cosine (n,) of a sentence of each answer with its question, in 0..1."""
        from sklearn.feature_extraction.text import HashingVectorizer

        if frame.empty:
            return np.zeros(0)
        words = HashingVectorizer(stop_words="english", alternate_sign=False)
        sentences = [re.split(r"(?<=[.!?;])\s+", answer) for answer in frame["answer"]]
        count = [len(mine) for mine in sentences]
        said = words.transform([s for mine in sentences for s in mine])
        asked = words.transform(frame["question"])[np.repeat(np.arange(len(frame)), count)]
        cosine = np.asarray(said.multiply(asked).sum(1)).ravel()
        return np.maximum.reduceat(cosine, np.cumsum([0, *count[:-1]]))

    def fit(self, features, labels):
        """The cut point, above which an answer gets the lower grade."""
        cuts = np.unique(features)
        right = (features > cuts[:, None]) == (labels == self.values[0])
        return cuts[np.argmax(right.mean(1))]

    def predict(self, fitted, features):
        return [self.values[int(similar <= fitted)] for similar in features]


class Alike(Baseline):
    """Do two misconceptions share their words? Labelled: item, myth, other, label.

    The cosine of the two is compared with the cut point that gets most of the pairs right.
    """

    def features(self, frame):
        """The cosines (n,) of the two texts of each pair, in 0..1."""
        if frame.empty:
            return np.zeros(0)
        a, b = (_words(frame[column]) for column in ("myth", "other"))
        return np.asarray(a.multiply(b).sum(1)).ravel()

    def fit(self, features, labels):
        """The cut point, above which two are the same."""
        cuts = np.unique(features)
        right = (features > cuts[:, None]) == (labels == 1)
        return cuts[np.argmax(right.mean(1))]

    def predict(self, fitted, features):
        return [self.values[int(similar > fitted)] for similar in features]


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
