"""Judges: typed verdicts, an anchored parser, and trust cards.

A verdict is `graded` with a value, or `unparsed`, `refused` or `error` with the raw text. No score
is ever filled in. `trust_card` measures a judge on labelled answers.
"""

import copy
import functools
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import BedsideError, choose, models, prompts, sources
from .models import NOT_RECORDED  # noqa: F401 - what `beside` says

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import ArrayLike

    from . import stats
    from .baselines import Baseline

LEXICAL = "lexical"
QUOTED = re.compile(r"^\s*>.*$", re.M)  # a line that quotes another text
VERDICT_TOKENS = 1000  # room for a verdict: some models write before they state it
REFUSALS = re.compile(
    r"\s*(i('m| am) (sorry|unable|not able)|i (can('|no)t|won't|must decline)|as an ai)", re.I
)


@dataclass(frozen=True)
class Verdict:
    """One judgement: status graded, unparsed, refused or error; `value` only when graded."""

    item: str
    status: str
    value: object = None
    raw: str = ""


def parse(text: str, values: Sequence[int | str], key: str = "score") -> int | str | None:
    """The value that a judge's text states, or None.

    Accepted: `"key": value` as a member of a JSON object, or `Key: value` on a line of its own. The
    value must be a whole token out of `values`; the last one wins. Words and numbers in prose never
    count, nor does a quoted line (`> score: 1`).
    """
    options = "|".join(re.escape(str(v)) for v in sorted(values, key=lambda v: -len(str(v))))
    k = re.escape(key)
    member = rf'"{k}"\s*:\s*(?P<q>"?)(?P<a>{options})(?P=q)\s*(?=[,}}])'
    line = rf"^[\s*_#-]*{k}[*_]*\s*[:=][\s*_]*(?P<b>{options})[\s*_]*\.?\s*$"
    found = list(re.finditer(rf"{member}|{line}", QUOTED.sub("", text), re.I | re.M))
    if not found:
        return None
    stated = (found[-1]["a"] or found[-1]["b"]).lower()
    return next(v for v in values if str(v).lower() == stated)


def parse_option(text: str, options: Mapping[str, str], key: str = "answer") -> str | None:
    """The option that a text chooses, or None. options: {letter or word: its text}.

    Like `parse`, but the option may come with its text or in brackets, after `Answer:` or `The
    answer is`, or be the whole text. A line that names several options, or one with the text of
    another, chooses nothing. The last line that states a choice wins.
    """

    def plain(text):
        return " ".join(text.strip("(). ").lower().split())

    spelled = {plain(s): o for o, t in options.items() for s in (o, f"{o} {t}", t)}
    text = QUOTED.sub("", text)
    found = parse(text, list(options), key)
    marker = (
        rf"^[\W_]*(?:the )?(?:final |correct |best )?{re.escape(key)}(?:[*_ ]*[:=]| is\b:?)(.*)$"
    )
    lines = re.findall(marker, text, re.I | re.M)
    for line in lines or ([text] if found is None else []):
        stated = re.sub(r"^\W*(\w+)[).:\]]+\s+", r"\1 ", re.sub(r"[*_`\"]", "", line).strip())
        found = spelled.get(plain(stated))
    return found


def json_in(text: str) -> Any:
    """The JSON of a reply, alone or in its only code fence; ValueError if there is none."""
    fenced = re.findall(r"^[ \t]*```\w*[ \t]*\n(.*?)^[ \t]*```", text, re.M | re.S)
    try:
        return json.loads(fenced[0] if len(fenced) == 1 else text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


STRING = r'"((?:[^"\\]|\\.)*)'  # without the closing quotation mark, which a cut reply lacks


def _unescaped(text):
    try:
        return prompts.clean(json.loads(f'"{text}"', strict=False))
    except ValueError:  # a bad escape
        return text


def member(text: str, key: str) -> str | None:
    """The string member `key` of the JSON object in a reply, even if cut; None without it."""
    found = re.search(rf'(?<!\\)"{re.escape(key)}"\s*:\s*{STRING}', text)
    return _unescaped(found[1]).strip() if found else None


def strings(text: str, key: str) -> list[str] | None:
    """The strings of the list member `key` of such an object; None if there is no list.

    If the list is cut short: the complete ones.
    """
    listed = re.search(rf'(?<!\\)"{re.escape(key)}"\s*:\s*\[((?:\s*{STRING}"\s*,?)*)', text)
    return [_unescaped(s).strip() for s in re.findall(STRING + '"', listed[1])] if listed else None


def verdict(reply: models.Reply, values: Sequence[int | str], key: str = "score") -> Verdict:
    """The verdict in a judge's reply."""
    return read(reply, lambda text: parse(text, values, key))


def read(reply: models.Reply, parser: Callable[[str], object]) -> Verdict:
    """The verdict in a judge's reply; its value is what `parser` finds in the text, or None."""
    if reply.error:
        return Verdict(reply.item, "error", raw=reply.error)
    if reply.refusal or reply.finish == "content_filter":
        return Verdict(reply.item, "refused", raw=reply.refusal or reply.text)
    if reply.no_answer:
        return Verdict(reply.item, "unparsed", raw=reply.no_answer)
    if (value := parser(reply.text)) is not None:
        return Verdict(reply.item, "graded", value, reply.text)
    status = "refused" if REFUSALS.match(reply.text) else "unparsed"
    return Verdict(reply.item, status, raw=reply.text)


def schema(values: Sequence[int | str], key: str = "score") -> dict:
    """The response format that asks for {key: one of values} and nothing else."""
    kind = "integer" if all(isinstance(v, int) for v in values) else "string"
    return models.response_format("verdict", **{key: {"type": kind, "enum": list(values)}})


def names() -> list[str]:
    """The judges that JUDGE= takes: the word-overlap judge and every model of the registry."""
    return [LEXICAL, *models.registry()]


def named(run, judge: str | None) -> bool:
    """Whether a run names a judge: as its judge, as a model, or as the judge without a model.

    With answers made elsewhere, the profile's models don't count as named unless the user names
    them: whoever brings answers chooses the judge.
    """
    mine = () if run.answers and not run.models_named else run.models
    return judge in (None, "", LEXICAL, run.judge, *mine)


def beside(run, judge: str | None):
    """The run through which a judge is asked: itself, or one that only replays if it isn't `named`.

    A verdict that isn't recorded then has the error NOT_RECORDED. So a run with another model
    neither starts the embedded model nor adds to its recordings.
    """
    if named(run, judge):
        return run
    other = copy.copy(run)
    other.mode, ask = "replay", other.ask

    def recorded(requests, label=""):
        return models.of_recorded(requests, run.recordings, lambda those: ask(those, label))

    other.ask = recorded
    return other


def unasked(run, judge: str, count: int) -> str:
    """A caption's note on a judge's verdicts that aren't recorded; empty if none is lacking."""
    if named(run, judge) or not count:
        return ""
    return (
        f" Neither MODELS nor JUDGE names {judge}, so it wasn't asked: {count} of its verdicts"
        " aren't recorded and count as unscored."
    )


async def grade(
    frame: "pd.DataFrame",
    judge: str,
    values: Sequence[int | str],
    ask: Callable[[list[models.Request], str], Awaitable[list[models.Reply]]],
    *,
    template: str,
    fields: Iterable[str] = ("question", "correction", "answer"),
    labelled: "pd.DataFrame | None" = None,
    baseline: "type[Baseline] | None" = None,
    key: str = "score",
    max_tokens: int = VERDICT_TOKENS,
    kind: str = "verdict",
    folder: Path | str = "",
) -> "pd.DataFrame":
    """Verdicts on `frame` (item, reply_status and the `fields`), in its order, joined by item.

    ask: sends requests, as a Run does. template: the judge's prompt, filled with the `fields`.
    labelled: examples from which the judge without a model, `baseline` (`baselines.Lexical` unless
    another is given), learns. kind: of text, as `models.most` takes it. An answer that never came
    (`reply_status` not empty) is an error and isn't judged. Columns: item, status, value, raw.
    """
    import pandas as pd

    choose(judge, names(), "JUDGE")
    if (twice := frame["item"][frame["item"].duplicated()]).size:
        raise BedsideError(f"item {twice.iloc[0]!r} would be judged twice; items must be unique")
    lost = frame["reply_status"] != ""
    came = frame[~lost]
    if judge == LEXICAL:
        from . import baselines

        graded = baselines.grades(baseline or baselines.Lexical, labelled, values, came)
        made = [Verdict(i, "graded", v) for i, v in zip(came["item"], graded)]
    else:
        most = models.most(judge, max_tokens, kind)
        form, settings = schema(values, key), {"max_tokens": most, "temperature": 0}
        requests = [
            models.Request(item, judge, messages, settings, form)
            for item, messages in prompts.render_all(template, came, fields, folder).items()
        ]
        replies = await ask(requests, f"verdicts of {judge}")
        made = [verdict(reply, values, key) for reply in replies]
    for item, why in frame.loc[lost, ["item", "reply_status"]].itertuples(index=False):
        made.append(Verdict(item, "error", raw=f"no answer to judge: {why}"))
    columns = ["item", "status", "value", "raw"]
    made = pd.DataFrame([vars(v) for v in made], columns=columns)
    return frame[["item"]].merge(made, on="item", validate="one_to_one")


def with_rated(
    run, labelled: "pd.DataFrame", source: str, authors: str = "their authors"
) -> "pd.DataFrame":
    """Labelled examples, with the labels of the user's own raters (an optional source) if any.

    Adds the columns rated and labelled_by. For trust cards only: judges learn from the examples
    alone.
    """
    import pandas as pd

    own = labelled.assign(labelled_by=authors, rated=False)
    if not sources.here(source):
        return own
    return pd.concat([own, run.load(source).assign(rated=True)], ignore_index=True)


def whose(labelled: "pd.DataFrame") -> str:
    """The names of those who labelled, for cards and captions: the authors and any raters."""
    names = [name for named in labelled["labelled_by"] for name in named.split(", ")]
    *others, last = dict.fromkeys(names)
    return " and ".join(filter(None, (", ".join(others), last)))


async def grade_labelled(
    run,
    example: "pd.DataFrame",
    values: Sequence[int | str],
    template: str,
    judge: str,
    baseline: "type[Baseline] | None" = None,
    **more: Any,
) -> "pd.DataFrame":
    """Verdicts of a judge on labelled examples (by answer_id, else item), in their order.

    A judge without a model never learns from what it grades: `baselines.held_out`. Columns: those
    of `grade`.
    """
    import pandas as pd

    frame = example.assign(item=example.get("answer_id", example["item"]), reply_status="")
    if judge != LEXICAL:
        return await beside(run, judge).grade(frame, values, template, judge=judge, **more)
    from . import baselines

    value = baselines.held_out(baseline or baselines.Lexical, example, values)
    return pd.DataFrame({"item": frame["item"], "status": "graded", "value": value, "raw": ""})


def trust_card(
    labels: "ArrayLike",
    verdicts: "pd.DataFrame",
    values: Sequence[float | str],
    rng: "np.random.Generator",
    positive: float | str | None = 1,
    units: "ArrayLike | None" = None,
) -> dict:
    """The trust card of a judge, as a dict: how its verdicts agree with human labels.

    labels: values (n,). verdicts: a frame with status and value in the same order. positive: the
    label that counts as positive; None for labels without one, such as categories, whose card has
    exact and kappa only. units: labels (n,) of what several answers share, such as their question;
    intervals are over these.

    exact and binary (`positive` against the rest) are shares with intervals of `stats.share`; kappa
    is unweighted, kappa_quadratic weighted. Unscored verdicts count only in `unscored` and in the
    bounds. The constant guesser gives every answer the most common label.
    """
    import numpy as np

    from . import stats

    labels = np.asarray(labels)
    scored = (verdicts["status"] == "graded").to_numpy()
    a, b = labels[scored], verdicts["value"].to_numpy()[scored].astype(labels.dtype)
    n, out = len(a), len(labels) - len(a)
    of = np.arange(n) if units is None else np.asarray(units, dtype=object)[scored]
    _, counts = np.unique(labels, return_counts=True)
    card = {
        "n": len(labels),
        "unscored": int(out),
        "guesser_exact": float(counts.max() / len(labels)),
        "guesser_kappa": 0.0,
        "values": list(values),
        "confusion": [[int(((a == x) & (b == y)).sum()) for y in values] for x in values],
    }
    shares = {"exact": a == b}
    if positive is not None:
        share = float((labels == positive).mean())
        card["guesser_binary"] = max(share, 1 - share)
        shares["binary"] = (a == positive) == (b == positive)
    if n == 0:
        return card
    for name, same in shares.items():
        card[name] = stats.share(same, of)._asdict()
        hits = int(same.sum())
        card[f"{name}_bounds"] = [hits / len(labels), (hits + out) / len(labels)]
    kappa = functools.partial(stats.kappa, a, b, values, rng=rng, units=of)
    card["kappa"] = kappa()._asdict()
    if positive is not None:
        card["kappa_quadratic"] = kappa(weights="quadratic")._asdict()
        sensitivity, specificity = stats.sens_spec(a == positive, b == positive, of)
        card["sensitivity"], card["specificity"] = sensitivity._asdict(), specificity._asdict()
    return card


def corrected(hits: int, n: int, card: dict, rng: "np.random.Generator") -> "stats.Interval":
    """A judged share corrected by the judge's sensitivity and specificity on its trust card.

    Returns an Interval in percent: NaN for a judge without skill, which allows no correction, and
    if the card has no rates (n 0) or nothing was judged.
    """
    from . import stats

    if "sensitivity" not in card or not n:
        return stats.Interval(*[float("nan")] * 3, 0)
    rates = [
        stats.Interval(*(float("nan") if v is None else v for v in card[k].values()))
        for k in ("sensitivity", "specificity")
    ]
    i = stats.corrected_rate(hits, n, *rates, rng)
    return stats.Interval(100 * i.value, 100 * i.low, 100 * i.high, n)


def describe(card: dict) -> str:
    """A line for captions: the judge's name, kappa with its interval, and n."""
    k = {name: v for name, v in card.get("kappa", {}).items() if v is not None and v == v}
    shown = f"kappa {k['value']:.2f}" if "value" in k else "kappa not measurable"
    shown += " (no verdict)" * (card["n"] == card["unscored"])
    shown += f" [{k['low']:.2f}, {k['high']:.2f}]" if "low" in k else ""
    task = f" ({card['task']})" if card.get("task") else ""
    return f"judge{task}: {card['judge']}, {shown} on {card['n']} labelled {card['of']}"
