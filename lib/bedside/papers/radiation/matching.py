"""Radiation: which predicted side effects mean which terms of the vocabulary (section 3.5).

A matcher, the judge of this study, says which pairs (predicted, term) mean the same; one predicted
item then counts for one term, and one term for one item (`one_to_one`). The matchers are exact,
spelling, lexical (spelling that knows organs, processes and directions), and a model, whose answer
is restricted to the two lists.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np
import pandas as pd

from bedside.asking import registry
from bedside.asking.replies import VERDICT_TOKENS, Request, json_object, response_format
from bedside.judging import judges, parsing
from bedside.judging.judges import LEXICAL, with_raters_labels
from bedside.judging.parsing import Verdict
from bedside.read.checks import normals
from bedside.read.prompts import numbered
from bedside.run import Run

from .concepts import Concepts
from .data import PROFILES, vocabulary

EXACT, SPELLED, EMBEDDED = "exact", "spelling", "smollm2-135m"
PAIR = ["item", "model", "regime"]  # what the two lists of a pair share
LABELS = ["different", "same"]
FLAGS = ("right", "false positive", "false negative")  # what raters say of a decision on a list
FILLER = set(
    "a an the of in on at to and or due by from your this that with treated treatment therapy"
    " irradiated radiation induced caused related area site field".split()
)
PAIR_TOKENS = 24  # tokens of a matcher's reply for each predicted item, besides a verdict's
SEEN = ["first", "second"]  # batches of pairs that were in view while the concepts were written
SAME = 0.6  # least cosine of character n-grams for a match; set before any pair was labelled


class Lexical:
    """The matcher without a model: synonyms, cosine of character n-grams, and concepts.

    synonyms: {term: other wordings}, in the vocabulary's order. A predicted item is compared
    without fillers in three forms: as written, without its brackets, and as the text in them. Each
    form may be spelled like any wording of the term. What the whole item names goes before
    spelling: it never matches a wording that it is at odds with, and always one that says the same.
    concepts: rows for `Concepts`; without any, spelling decides alone.
    """

    def __init__(self, synonyms, concepts=()):
        from sklearn.feature_extraction.text import TfidfVectorizer

        wordings = [(w, i) for i, (t, more) in enumerate(synonyms.items()) for w in (t, *more)]
        self.tfidf = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
        words = plain([w for w, _ in wordings])
        self.wordings = self.tfidf.fit_transform([words[w] for w, _ in wordings])
        self.owner = [i for _, i in wordings]
        self.concepts = Concepts(concepts)
        self.known = self.concepts.named([w for w, _ in wordings])

    def pairs(self, predicted):
        """How alike predicted items (n,) and terms (k,) are: (n, k) in 0..1, 0 for no match."""
        odds, same = self.concepts.compared(self.concepts.named(predicted), self.known, self.owner)
        alike = np.where(odds, 0, np.maximum(self._spelled(predicted), SAME * same))
        found = np.zeros((len(predicted), max(self.owner) + 1))
        np.maximum.at(found.T, self.owner, alike.T)
        return np.where(found >= SAME, found, 0)

    def _spelled(self, predicted):
        """How alike items (n,) and wordings (w,) are spelled: (n, w), by the most similar form."""
        forms = [
            (form, i)
            for i, p in enumerate(predicted)
            for form in (p, re.sub(r"\(.*?\)", " ", p), *re.findall(r"\((.*?)\)", p))
        ]
        words = plain([form for form, _ in forms])
        kept = [(words[form], i) for form, i in forms if words[form]]
        found = np.zeros((len(predicted), len(self.owner)))
        if kept:
            alike = (self.tfidf.transform([w for w, _ in kept]) @ self.wordings.T).toarray()
            np.maximum.at(found, [i for _, i in kept], alike)
        return found


class Exact:
    """The matcher that accepts only the term's own words, apart from case and punctuation."""

    def __init__(self, synonyms):
        self.terms = normals(synonyms).values()

    def pairs(self, predicted):
        """As `Lexical.pairs`."""
        words = normals(predicted)
        same = [[words[p] == t for t in self.terms] for p in predicted]
        return np.array(same, dtype=float).reshape(-1, len(self.terms))


def plain(texts):
    """{text: the text without case, punctuation and fillers}."""
    return {t: " ".join(w for w in n.split() if w not in FILLER) for t, n in normals(texts).items()}


MATCHERS = {EXACT: Exact, SPELLED: Lexical, LEXICAL: Lexical}


def matcher(run: Run, name: str) -> Lexical | Exact:
    """One of MATCHERS, which need no model, for the terms of the vocabulary."""
    known = run.load("radiation_synonyms").set_index("term")["synonyms"]
    concepts = [run.load("radiation_concepts").to_dict("records")] if name == LEXICAL else []
    return MATCHERS[name]({t: known[t] for t in vocabulary(run)}, *concepts)


async def matched(
    run: Run,
    lists: pd.DataFrame,
    judge: str | None = None,
    shown: Mapping[str, list[str]] | None = None,
) -> pd.DataFrame:
    """Lists as matched by the run's matcher or another: `lists` plus match and pairs.

    shown: {site: the terms that a model as matcher is shown}; None: the whole vocabulary. pairs:
    array (predicted, terms of the vocabulary), above 0 where both mean the same and larger where
    they are more alike; None where nothing was matched. match: graded, or why not (unparsed,
    refused, error), or the list's own status. call: the key of the matcher's call, or empty.
    """
    judge, terms = judge or run.judge, vocabulary(run)
    there = (lists["status"] == "listed").to_numpy()
    usable = lists[there]
    if judge in MATCHERS:
        made = [Verdict("", "graded", p) for p in _alike(matcher(run, judge), usable["terms"])]
    else:
        names = usable["item"] + "/" + usable["profile"] + "/" + usable["regime"] + "/match"
        sees = [terms if shown is None else shown[site] for site in usable["site"]]
        made = await _verdicts(run, judge, list(zip(names, usable["terms"], sees)))
        made = [_widened(v, mine, terms) for v, mine in zip(made, sees)]
    match, pairs = lists["status"].tolist(), [None] * len(lists)
    call = [""] * len(lists)
    for place, verdict in zip(np.flatnonzero(there), made):
        match[place], pairs[place], call[place] = verdict.status, verdict.value, verdict.call
    return lists.assign(match=match, pairs=pairs, call=call)


def _widened(verdict, shown, terms):
    """A verdict on the terms that were shown as one on all terms."""
    if verdict.value is None:
        return verdict
    pairs = np.zeros((len(verdict.value), len(terms)))
    pairs[:, [terms.index(t) for t in shown]] = verdict.value
    return replace(verdict, value=pairs)


async def compared(run, lists, judge):
    """Overlap of each patient's two lists as a model compares them (3.6): a row for each pair.

    Frame item, model, regime, match and by_model: the items that match one to one, of those in
    either list; NaN where a list or the verdict is missing.
    """
    pairs = {
        key: both.set_index("profile")["terms"].reindex(PROFILES).tolist()
        for key, both in lists[lists["status"] == "listed"].groupby(PAIR, sort=False)
    }
    whole = {key: both for key, both in pairs.items() if all(isinstance(t, list) for t in both)}
    asked = [("/".join([*key, "overlap"]), *both) for key, both in whole.items()]
    rows = {key: (*key, "no list", float("nan")) for key in lists.groupby(PAIR, sort=False).groups}
    for (key, (base, then)), verdict in zip(whole.items(), await _verdicts(run, judge, asked)):
        share = float("nan")
        if verdict.value is not None:
            same = int((one_to_one(verdict.value) >= 0).sum())
            share = same / (len(base) + len(then) - same)
        rows[key] = (*key, verdict.status, share)
    return pd.DataFrame(rows.values(), columns=[*PAIR, "match", "by_model"])


def _alike(matcher, lists):
    """A matcher's pairs for each of several lists of terms; each wording is looked up once."""
    said = list(dict.fromkeys(t for terms in lists for t in terms))
    every, place = matcher.pairs(said), {t: i for i, t in enumerate(said)}
    return [every[[place[t] for t in terms]] for terms in lists]


async def _verdicts(run, judge, asked):
    """A model's verdicts on (item, predicted, reference), the latter two lists of texts."""
    requests = [_request(run, judge, *lists) for lists in asked]
    replies = await judges.run_asking(run, judge).ask(requests, f"matches of {judge}")
    return [_verdict(r, len(p), len(terms)) for r, (_, p, terms) in zip(replies, asked)]


def _request(run, judge, item, predicted, terms):
    """The matcher's request (3.5): both lists numbered, the answer restricted to the numbers."""

    def numbers(n):
        return {"type": "integer", "enum": list(range(1, n + 1))}

    pair = json_object(predicted=numbers(len(predicted)), reference=numbers(len(terms)))
    matches = {"type": "array", "items": pair, "maxItems": len(predicted)}
    messages = run.prompt("match", predicted=numbered(predicted), reference=numbered(terms))
    most = registry.most(judge, VERDICT_TOKENS, "verdict") + PAIR_TOKENS * len(predicted)
    settings = {"max_tokens": most, "temperature": 0}
    return Request(item, judge, messages, settings, response_format("matches", matches=matches))


def _verdict(reply, predicted, terms):
    """The verdict in a matcher's reply; a number that is not on its list makes it unparsed."""

    def parser(text):
        pairs = np.zeros((predicted, terms))
        if not parsing.closed(text):  # it goes on after its JSON
            return None
        try:
            for m in parsing.json_in(text)["matches"]:
                if not (1 <= m["predicted"] <= predicted and 1 <= m["reference"] <= terms):
                    return None
                pairs[m["predicted"] - 1, m["reference"] - 1] = 1
        except (ValueError, KeyError, TypeError, IndexError):
            return None
        return pairs

    return parsing.read(reply, parser)


def one_to_one(pairs: np.ndarray) -> np.ndarray:
    """Each item's term, or -1, by a largest matching of pairs (n, k), the most alike of these."""
    from scipy.optimize import linear_sum_assignment

    found = np.full(len(pairs), -1)
    weights = np.where(pairs > 0, len(pairs) + 1 + pairs, 0)
    item, term = linear_sum_assignment(weights, maximize=True)
    kept = pairs[item, term] > 0
    found[item[kept]] = term[kept]
    return found


def labelled(run):
    """The labelled pairs, and those that the user's own raters labelled.

    Frame pair, predicted, reference, label, kind, why, batch (empty for raters' pairs),
    labelled_by.
    """
    return with_raters_labels(run, run.load("radiation_pairs"), "radiation_rated", "their author")


def unseen(labelled):
    """Which of `labelled` no matcher was built on: the third batch, and raters' pairs."""
    return ~labelled["batch"].isin(SEEN).to_numpy()


async def match_labelled(run: Run, labelled: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Verdicts on labelled pairs, in their order: frame item, status, value (of LABELS), raw."""
    if judge in MATCHERS:
        alike = matcher(run, judge).pairs(labelled["predicted"].tolist())
        place = {t: i for i, t in enumerate(vocabulary(run))}
        terms = labelled["reference"].map(place)
        made = [
            Verdict(item, "graded", row[term])
            for item, row, term in zip(labelled["pair"], alike, terms)
        ]
    else:
        asked = [(r.pair, [r.predicted], [r.reference]) for r in labelled.itertuples()]
        made = await _verdicts(run, judge, asked)
    value = [None if v.value is None else LABELS[int(np.any(v.value))] for v in made]
    columns = [field.name for field in fields(Verdict)]
    return pd.DataFrame([vars(v) for v in made], columns=columns).assign(value=value)
