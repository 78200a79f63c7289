"""Judges: typed verdicts, an anchored parser, and how far each judge can be trusted.

A verdict is `graded` with a value, or `unparsed`, `refused` or `error` with the raw text; no score is ever filled in.
`agreement` measures a judge on labelled answers; its result is the judge's trust card.
"""

import json
import re
from dataclasses import dataclass

from . import BedsideError, choose, models, prompts

LEXICAL = "lexical"
REFUSALS = re.compile(r"\s*(i('m| am) (sorry|unable|not able)|i (can('|no)t|won't|must decline)|as an ai)", re.I)


@dataclass(frozen=True)
class Verdict:
    """One judgement: status graded, unparsed, refused or error; `value` only when graded."""

    item: str
    status: str
    value: object = None
    raw: str = ""


def parse(text, values, key="score"):
    """The value that a judge's text states, or None.

    Accepted: `"key": value` as a member of a JSON object, or a line of its own `Key: value`; the value a whole token
    out of `values`; the last one wins. Words and numbers in prose never count.
    """
    options = "|".join(re.escape(str(v)) for v in sorted(values, key=lambda v: -len(str(v))))
    k = re.escape(key)
    member = rf'"{k}"\s*:\s*(?P<q>"?)(?P<a>{options})(?P=q)\s*(?=[,}}])'
    line = rf"^[\s*_#>-]*{k}[*_]*\s*[:=][\s*_]*(?P<b>{options})[\s*_]*\.?\s*$"
    found = None
    for found in re.finditer(rf"{member}|{line}", text, re.I | re.M):
        pass
    if found is None:
        return None
    stated = (found["a"] or found["b"]).lower()
    return next(v for v in values if str(v).lower() == stated)


def parse_option(text, options, key="answer"):
    """The option that a text chooses, or None. options: {letter or word: its text}.

    As `parse`, and the option may stand with its text or in brackets, after `Answer:` or `The answer is`, or be all
    that the text says. A line that names several options, or one with another's text, chooses nothing; the last line
    that states a choice wins.
    """
    def plain(text):
        return " ".join(text.strip("(). ").lower().split())

    spelled = {plain(s): o for o, t in options.items() for s in (o, f"{o} {t}", t)}
    found = parse(text, list(options), key)
    marker = rf"^[\W_]*(?:the )?(?:final |correct |best )?{re.escape(key)}(?:[*_ ]*[:=]| is\b:?)(.*)$"
    lines = re.findall(marker, text, re.I | re.M)
    for line in lines or ([text] if found is None else []):
        stated = re.sub(r"^\W*(\w+)[).:\]]+\s+", r"\1 ", re.sub(r"[*_`\"]", "", line).strip())
        found = spelled.get(plain(stated))
    return found


STRING = r'"((?:[^"\\]|\\.)*)'        # without its last quotation mark, which a cut reply lacks


def _unescaped(text):
    try:
        return prompts.clean(json.loads(f'"{text}"', strict=False))
    except ValueError:      # a bad escape
        return text


def member(text, key):
    """The string member `key` of the JSON object that a reply holds, cut short or not, stripped; None if there is none."""
    found = re.search(rf'(?<!\\)"{re.escape(key)}"\s*:\s*{STRING}', text)
    return _unescaped(found[1]).strip() if found else None


def strings(text, key):
    """The strings of the list member `key` of such an object, those that are whole if it is cut short; None if there is no list."""
    listed = re.search(rf'(?<!\\)"{re.escape(key)}"\s*:\s*\[((?:\s*{STRING}"\s*,?)*)', text)
    return [_unescaped(s).strip() for s in re.findall(STRING + '"', listed[1])] if listed else None


def verdict(reply, values, key="score"):
    """The verdict in a judge's reply."""
    return read(reply, lambda text: parse(text, values, key))


def read(reply, parser):
    """The verdict in a judge's reply, its value what `parser` finds in the text (None: nothing)."""
    if reply.error:
        return Verdict(reply.item, "error", raw=reply.error)
    if reply.refusal or reply.finish == "content_filter":
        return Verdict(reply.item, "refused", raw=reply.refusal or reply.text)
    if (value := parser(reply.text)) is not None:
        return Verdict(reply.item, "graded", value, reply.text)
    return Verdict(reply.item, "refused" if REFUSALS.match(reply.text) else "unparsed", raw=reply.text)


def schema(values, key="score"):
    """The response format that asks for {key: one of values} and nothing else."""
    kind = "integer" if all(isinstance(v, int) for v in values) else "string"
    return models.response_format("verdict", **{key: {"type": kind, "enum": list(values)}})


def names():
    """The judges that JUDGE= takes: the lexical baseline and every model of the registry."""
    return [LEXICAL, *models.registry()]


async def grade(frame, judge, values, ask, *, template, fields=("question", "correction", "answer"), labelled=None,
                baseline=None, key="score", max_tokens=24, folder=""):
    """Verdicts on `frame` (item, reply_status and the `fields`): a frame in its order, joined by item.

    `ask` sends requests (a Run's); `template` is the judge's prompt and gets the `fields`; `labelled` is what the
    judge without a model, `baseline` (Lexical if none is given), learns from. An answer that never came (`reply_status` not
    empty) is an error, not judged. Columns of the result: item, status, value, raw.
    """
    import pandas as pd

    choose(judge, names(), "JUDGE")
    if frame["item"].duplicated().any():
        raise BedsideError(f"item {frame['item'][frame['item'].duplicated()].iloc[0]!r} is to be judged twice")
    came = frame[frame["reply_status"] == ""]
    if judge == LEXICAL:
        made = [Verdict(i, "graded", v) for i, v in zip(came["item"], (baseline or Lexical)(labelled, values).grade(came))]
    else:
        requests = [models.Request(r.item, judge, prompts.render(template, folder, **{f: getattr(r, f) for f in fields}),
                                   {"max_tokens": max_tokens, "temperature": 0}, schema(values, key))
                    for r in came.itertuples()]
        made = [verdict(reply, values, key) for reply in await ask(requests, f"verdicts of {judge}")]
    lost = frame[frame["reply_status"] != ""]
    made += [Verdict(i, "error", raw=f"no answer to judge: {why}") for i, why in zip(lost["item"], lost["reply_status"])]
    return frame[["item"]].merge(pd.DataFrame([vars(v) for v in made], columns=["item", "status", "value", "raw"]),
                                 on="item", validate="one_to_one")


class Lexical:
    """A baseline without a model: TF-IDF cosine of an answer with the correction's words that the question lacks.

    Two cut points turn it into ordered grades; they maximise the quadratic kappa on `labelled` (question, correction,
    answer, label). `out_of_fold` grades each question's answers with cut points from the other questions, for an
    honest trust card.
    """

    def __init__(self, labelled, values):
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.values = sorted(values)
        self.tfidf = TfidfVectorizer(sublinear_tf=True, stop_words="english", token_pattern=r"(?u)\b[a-z]{3,}\b")
        self.tfidf.fit([*labelled["question"].unique(), *labelled["correction"].unique()])
        self.labelled, self.similar = labelled, self.similarity(labelled)
        self.cuts = self._fit(self.similar, labelled["label"].to_numpy())

    def similarity(self, frame):
        """Cosine (n,) in 0..1 between answers and the news in their corrections."""
        import numpy as np

        answer, news = self.tfidf.transform(frame["answer"]), self.tfidf.transform(frame["correction"])
        news = (news - news.multiply(self.tfidf.transform(frame["question"]) != 0)).tocsr()
        norm = np.sqrt(np.asarray(news.multiply(news).sum(1))).ravel()
        return np.asarray(answer.multiply(news).sum(1)).ravel() / np.where(norm > 0, norm, 1)

    def _fit(self, similar, labels):
        import numpy as np

        grid = np.quantile(similar, np.linspace(0.05, 0.95, 19))
        low, high = np.triu_indices(len(grid))
        rank = np.searchsorted(self.values, labels)
        graded = (similar > grid[low][:, None]).astype(int) + (similar > grid[high][:, None])
        observed = ((graded - rank) ** 2).mean(1)       # quadratic disagreement, observed and by chance
        chance = np.array([((a := np.bincount(g, minlength=3) / len(g))[:, None] * (np.arange(3)[:, None] - rank) ** 2)
                           .sum(0).mean() for g in graded])
        best = np.argmax(1 - observed / np.where(chance > 0, chance, 1))
        return grid[low[best]], grid[high[best]]

    def grade(self, frame, cuts=None):
        """Grades for `frame` (question, correction, answer)."""
        import numpy as np

        low, high = cuts or self.cuts
        similar = self.similarity(frame)
        return [self.values[i] for i in (similar > low).astype(int) + np.asarray(similar > high)]

    def out_of_fold(self):
        """Grades of the labelled answers, each question's from cut points that never saw it."""
        import pandas as pd

        labels, items = self.labelled["label"].to_numpy(), self.labelled["item"].to_numpy()
        made = pd.Series(index=self.labelled.index, dtype=object)
        for item in dict.fromkeys(items):
            inside = items == item
            made[inside] = self.grade(self.labelled[inside], self._fit(self.similar[~inside], labels[~inside]))
        return made.tolist()


def learnt(labelled):
    """Of labelled rows those that judges learn from: not those with `rated`, the user's own raters' labels."""
    return labelled[~labelled["rated"].to_numpy(bool)] if "rated" in labelled else labelled


def held_out(baseline, labelled, values):
    """Verdicts of a judge without a model on labelled rows, in their order: out of fold on what it learns from.

    The others (see `learnt`) are graded: what a judge says in a run mustn't depend on who labelled what meanwhile.
    """
    import pandas as pd

    own = learnt(labelled)
    rated = labelled.drop(own.index)
    judge = baseline(own.reset_index(drop=True), values)
    made = pd.Series(judge.out_of_fold(), index=own.index, dtype=object)
    return pd.concat([made, pd.Series(judge.grade(rated), index=rated.index, dtype=object)])[labelled.index] if len(rated) else made


def agreement(labels, verdicts, values, rng, positive=1):
    """A judge against labelled answers: a dict, the trust card.

    labels: values (n,); verdicts: a frame with status and value in the same order. Unscored verdicts count in
    `unscored` and in the bounds, not in the agreement. exact and binary (`positive` against the rest) are shares with
    Wilson intervals; kappa is plain, kappa_quadratic weighted; the constant guesser gives every answer the commonest
    label. Labels without an order, such as categories, have no `positive` one (None): exact and kappa are all.
    """
    import numpy as np

    from . import stats

    labels = np.asarray(labels)
    scored = (verdicts["status"] == "graded").to_numpy()
    a, b = labels[scored], verdicts["value"].to_numpy()[scored].astype(labels.dtype)
    n, out = len(a), len(labels) - len(a)
    _, counts = np.unique(labels, return_counts=True)
    card = {"n": len(labels), "unscored": int(out), "guesser_exact": float(counts.max() / len(labels)), "guesser_kappa": 0.0,
            "values": list(values), "confusion": [[int(((a == x) & (b == y)).sum()) for y in values] for x in values]}
    shares = {"exact": a == b}
    if positive is not None:
        card["guesser_binary"] = float(max((labels == positive).mean(), (labels != positive).mean()))
        shares["binary"] = (a == positive) == (b == positive)
    if n == 0:
        return card
    for name, same in shares.items():
        card[name] = stats.wilson(int(same.sum()), n)._asdict()
        card[f"{name}_bounds"] = [float(same.sum() / len(labels)), float((same.sum() + out) / len(labels))]
    card["kappa"] = stats.kappa(a, b, values, rng=rng)._asdict()
    if positive is not None:
        card["kappa_quadratic"] = stats.kappa(a, b, values, weights="quadratic", rng=rng)._asdict()
        sensitivity, specificity = stats.sens_spec(a == positive, b == positive)
        card["sensitivity"], card["specificity"] = sensitivity._asdict(), specificity._asdict()
    return card


def describe(card):
    """One line for captions: the judge's name, kappa with interval, n."""
    k = card.get("kappa")
    shown = f"kappa {k['value']:.2f} [{k['low']:.2f}, {k['high']:.2f}]" if k else "kappa not measurable"
    task = f" ({card['task']})" if card.get("task") else ""
    return f"judge{task}: {card['judge']}, {shown} on {card['n']} labelled {card['of']}"
