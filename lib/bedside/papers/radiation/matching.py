"""Radiation: which predicted side effects are which terms of the vocabulary (section 3.5).

A matcher says which pairs (predicted, term) mean the same; one predicted item then counts for one term and the other
way round (`one_to_one`). Three matchers: exact, lexical, and a model, whose answer is restricted to the two lists.
"""

import json
import re

from bedside import judges
from bedside.checks import normal
from bedside.judges import LEXICAL, with_rated
from bedside.models import Request, json_object, response_format
from bedside.papers.radiation.data import vocabulary
from bedside.prompts import numbered

EXACT = "exact"
LABELS = ["different", "same"]
FILLER = set(
    "a an the of in on at to and or due by from your this that with treated treatment therapy"
    " irradiated radiation induced caused related area site field".split()
)
SAME = 0.6  # least cosine of character n-grams; set before any pair was labelled


class Lexical:
    """The matcher without a model: words without fillers, their synonyms, and the cosine of character n-grams.

    synonyms: {term: other wordings}, in the vocabulary's order. A predicted item is compared as it stands, without its
    brackets, and as what stands in them; any of these may be like any wording of the term.
    """

    def __init__(self, synonyms):
        from sklearn.feature_extraction.text import TfidfVectorizer

        wordings = [
            (plain(w), i) for i, (t, more) in enumerate(synonyms.items()) for w in (t, *more)
        ]
        self.tfidf = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
        self.wordings = self.tfidf.fit_transform([w for w, _ in wordings])
        self.owner = [i for _, i in wordings]

    def pairs(self, predicted):
        """How alike predicted items (n,) are to the terms (k,) that they may mean, 0 for the others: (n, k) in 0..1."""
        import numpy as np

        forms = [
            (plain(f), i)
            for i, p in enumerate(predicted)
            for f in (p, re.sub(r"\(.*?\)", " ", p), *re.findall(r"\((.*?)\)", p))
            if plain(f)
        ]
        found = np.zeros((len(predicted), max(self.owner) + 1))
        if forms:
            alike = (self.tfidf.transform([f for f, _ in forms]) @ self.wordings.T).toarray()
            np.maximum.at(found, np.ix_([i for _, i in forms], self.owner), alike)
        return np.where(found >= SAME, found, 0)


class Exact:
    """The matcher that asks for the term's own words, but for case and punctuation."""

    def __init__(self, synonyms):
        self.terms = [normal(t) for t in synonyms]

    def pairs(self, predicted):
        """As `Lexical.pairs`."""
        import numpy as np

        return np.array(
            [[normal(p) == t for t in self.terms] for p in predicted], dtype=float
        ).reshape(-1, len(self.terms))


def plain(text):
    """A wording without case, punctuation and fillers."""
    return " ".join(w for w in normal(text).split() if w not in FILLER)


MATCHERS = {EXACT: Exact, LEXICAL: Lexical}


def matcher(run, name):
    """One of MATCHERS, those without a model, over the vocabulary."""
    known = run.load("radiation_synonyms").set_index("term")["synonyms"]
    return MATCHERS[name]({t: known[t] for t in vocabulary(run)})


async def matched(run, lists, judge=None):
    """Lists with their pairs under the run's matcher or another: `lists` plus match (status) and pairs.

    pairs: (predicted, terms of the vocabulary), above 0 where they mean the same, more where they are more alike; None
    where there are none: match is graded, or why not (unparsed, refused, error), or the list's own status.
    """
    import numpy as np

    judge = judge or run.judge
    usable = lists["status"] == "listed"
    status, pairs = lists["status"].where(~usable, "graded").tolist(), [None] * len(lists)
    if judge in MATCHERS:
        said = list(dict.fromkeys(t for terms in lists["terms"] for t in terms))
        every, place = matcher(run, judge).pairs(said), {t: i for i, t in enumerate(said)}
        pairs = [
            every[[place[t] for t in terms]] if ok else None
            for terms, ok in zip(lists["terms"], usable)
        ]
    else:
        asked, terms = lists[usable], vocabulary(run)
        replies = await run.ask(
            [
                _request(run, judge, f"{r.item}/{r.profile}/{r.regime}/match", r.terms, terms)
                for r in asked.itertuples()
            ],
            f"matches of {judge}",
        )
        for i, r, reply in zip(np.flatnonzero(usable), asked.itertuples(), replies):
            verdict = _verdict(reply, len(r.terms), len(terms))
            status[i], pairs[i] = verdict.status, verdict.value
    return lists.assign(match=status, pairs=pairs)


def _request(run, judge, item, predicted, terms):
    """The matcher's request (section 3.5): both lists by number, the answer restricted to these numbers."""

    def numbers(n):
        return {"type": "integer", "enum": list(range(1, n + 1))}

    pair = json_object(predicted=numbers(len(predicted)), reference=numbers(len(terms)))
    return Request(
        item,
        judge,
        run.prompt("match", predicted=numbered(predicted), reference=numbered(terms)),
        {"max_tokens": 24 + 24 * len(predicted), "temperature": 0},
        response_format(
            "matches", matches={"type": "array", "items": pair, "maxItems": len(predicted)}
        ),
    )


def _verdict(reply, predicted, terms):
    """The verdict in a matcher's reply, pairs as its value; a number that is on neither list makes it unparsed."""
    import numpy as np

    def parser(text):
        pairs = np.zeros((predicted, terms))
        try:
            for m in json.loads(text)["matches"]:
                if not (1 <= m["predicted"] <= predicted and 1 <= m["reference"] <= terms):
                    return None
                pairs[m["predicted"] - 1, m["reference"] - 1] = 1
        except (ValueError, KeyError, TypeError, IndexError):
            return None
        return pairs

    return judges.read(reply, parser)


def one_to_one(pairs):
    """A largest matching of pairs (n, k), of these the most alike: for each predicted item the term it counts for, or -1."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    found = np.full(len(pairs), -1)
    item, term = linear_sum_assignment(
        np.where(pairs > 0, len(pairs) + 1 + pairs, 0), maximize=True
    )
    kept = pairs[item, term] > 0
    found[item[kept]] = term[kept]
    return found


def labelled(run):
    """The labelled pairs and what the user's own raters labelled: pair, predicted, reference, label, kind, why, labelled_by."""
    return with_rated(run, run.load("radiation_pairs"), "radiation_rated", "their author")


async def match_labelled(run, labelled, judge):
    """Verdicts of a matcher on labelled pairs, in their order: item, status, value (of LABELS), raw."""
    import numpy as np
    import pandas as pd

    if judge in MATCHERS:
        every, place = (
            matcher(run, judge).pairs(labelled["predicted"].tolist()),
            {t: i for i, t in enumerate(vocabulary(run))},
        )
        found = [
            judges.Verdict(r.pair, "graded", every[i, place[r.reference]])
            for i, r in enumerate(labelled.itertuples())
        ]
    else:
        replies = await run.ask(
            [
                _request(run, judge, r.pair, [r.predicted], [r.reference])
                for r in labelled.itertuples()
            ],
            f"matches of {judge}",
        )
        found = [_verdict(reply, 1, 1) for reply in replies]
    value = [None if v.value is None else LABELS[int(np.any(v.value))] for v in found]
    return pd.DataFrame([vars(v) for v in found]).assign(value=value)
