"""Judges: typed verdicts, an anchored parser, and trust cards.

A verdict is `graded` with a value, or `unparsed`, `refused` or `error` with the raw text. No score
is ever filled in. `trust_card` measures a judge on labelled answers.
"""

import functools
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import BedsideError, checks, choose, given, models, paths, prompts, replies, sources
from .models import NOT_RECORDED  # noqa: F401 - what `beside` says

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import ArrayLike

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


LITERAL = r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null'  # as JSON writes a value


def _stated(text, key):
    """What a text states for `key`: ({values in JSON objects}, [the rest of each marked line])."""
    text, k = QUOTED.sub("", text), re.escape(key)
    members = re.findall(rf'(?<!\\)"{k}"\s*:\s*({LITERAL})\s*(?=[,}}])', text, re.I)
    lines = re.findall(rf"^[ \t*_#-]*{k}[*_]*\s*[:=][\s*_]*((?!{k}).*)$", text, re.I | re.M)
    return {m.strip('"') for m in members}, lines


def only(values: Iterable) -> Any:
    """The value of a collection that holds one, once or several times; None for any other."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def states(text: str, key: str) -> bool:
    """Whether a text states anything for `key`, be it one of the values or not."""
    return any(_stated(text, key))


def parse(text: str, values: Sequence[int | str], key: str = "score") -> int | str | None:
    """The value that a judge's text states, or None.

    Accepted: `"key": value` as a member of a JSON object, or `Key: value` on a line of its own. The
    value must be a whole token out of `values`. Of several lines the last one wins. JSON objects
    that differ state nothing, nor do an object and a line that differ. Words and numbers in prose
    never count, nor does a quoted line (`> score: 1`).
    """
    members, lines = _stated(text, key)
    last = {re.sub(r"[\s*_]*\.?\s*$", "", line) for line in lines[-1:]}
    said = only(m.lower() for m in members | last)
    return next((v for v in values if str(v).lower() == said), None)


def parse_option(text: str, options: Mapping[str, str], key: str = "answer") -> str | None:
    """The option that a text chooses, or None. options: {letter or word: its text}.

    Like `parse`, but the option may come with its text or in brackets, after `Answer:` or `The
    answer is`, or be the whole text. A line that names several options, or one with the text of
    another, chooses nothing. The last line that states a choice wins.
    """

    def plain(text):
        return " ".join(text.strip("(). ").lower().split())

    def option(said):
        said = re.sub(r"^\W*(\w+)[).:\]]+\s+", r"\1 ", re.sub(r"[*_`\"]", "", said).strip())
        return spelled.get(plain(said))

    spelled = {plain(s): o for o, t in options.items() for s in (o, f"{o} {t}", t)}
    text, (members, _) = QUOTED.sub("", text), _stated(text, key)
    marker = (
        rf"^[\W_]*(?:the )?(?:final |correct |best )?{re.escape(key)}(?:[*_ ]*[:=]| is\b:?)(.*)$"
    )
    lines = re.findall(marker, text, re.I | re.M)
    return only(map(option, [*members, *lines[-1:]] or [text]))


FENCE = re.compile(r"^[ \t]*```\w*[ \t]*\n(.*?)^[ \t]*```", re.M | re.S)


def _json_part(text):
    """What of a reply should be JSON, its only code fence or all of it; and what comes after."""
    fenced = list(FENCE.finditer(text))
    return (fenced[0][1], text[fenced[0].end() :]) if len(fenced) == 1 else (text, "")


def json_in(text: str) -> Any:
    """The JSON of a reply, alone or in its only code fence.

    Raises ValueError if there is none, or if a name occurs twice in one object.
    """
    try:
        return json.loads(_json_part(text)[0], object_pairs_hook=given.unique)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def closed(text: str) -> bool:
    """Whether a text is a complete JSON object, alone or in its only fence, and ends with it."""
    try:
        return isinstance(json_in(text), dict) and not _json_part(text)[1].strip()
    except ValueError:
        return False


STRING = r'"((?:[^"\\]|\\.)*)'  # without the closing quotation mark, which a cut reply lacks


def _unescaped(text):
    try:
        return prompts.clean(json.loads(f'"{text}"', strict=False)).strip()
    except ValueError:  # a bad escape
        return text.strip()


def member(text: str, key: str) -> str | None:
    """The string member `key` of the JSON object in a reply, even if cut.

    None without it, or where several differ.
    """
    found = re.findall(rf'(?<!\\)"{re.escape(key)}"\s*:\s*{STRING}', text)
    return only(map(_unescaped, found))


def said(text: str, key: str) -> str | None:
    """What a reply says: the `member` of its JSON object, or all of a text that has none."""
    if text.lstrip().startswith("{") or re.search(rf'"{re.escape(key)}"\s*:', text):
        return member(text, key)
    return text.strip()


def strings(text: str, key: str) -> list[str] | None:
    """The strings of the list member `key` of such an object; None if there is no list.

    If the list is cut short: the complete ones. None too where several lists differ.
    """
    lists = re.findall(rf'(?<!\\)"{re.escape(key)}"\s*:\s*\[((?:\s*{STRING}"\s*,?)*)', text)
    found = only(tuple(map(_unescaped, re.findall(STRING + '"', listed[0]))) for listed in lists)
    return None if found is None else list(found)


def verdict(reply: models.Reply, values: Sequence[int | str], key: str = "score") -> Verdict:
    """The verdict in a judge's reply."""
    return read(reply, lambda text: parse(text, values, key))


CUT = "cut off before its end"


def read(
    reply: models.Reply, parser: Callable[[str], object], *, even_cut: bool = False
) -> Verdict:
    """The verdict in a judge's reply; its value is what `parser` finds in the text, or None.

    A reply that was cut at its limit states none, since what was to come might have changed it,
    unless it is a JSON object that is `closed`. even_cut: read it nevertheless, for replies that
    are material or answers, not verdicts.
    """
    if reply.error:
        return Verdict(reply.item, "error", raw=reply.error)
    if reply.declined or reply.no_answer:
        why = reply.no_answer or models.NO_ANSWER["content_filter"]
        came = reply.refusal or f"{why}: {reply.text}".removesuffix(": ")
        return Verdict(reply.item, "refused" if reply.declined else "unparsed", raw=came)
    if reply.truncated and not (even_cut or closed(reply.text)):
        return Verdict(reply.item, "unparsed", raw=f"{CUT}: {reply.text}")
    if (value := parser(reply.text)) is not None:
        return Verdict(reply.item, "graded", value, reply.text)
    status = "refused" if REFUSALS.match(reply.text) else "unparsed"
    return Verdict(reply.item, status, raw=reply.text)


def schema(values: Sequence[int | str], key: str = "score", reason: bool = False) -> dict:
    """The response format that asks for {key: one of values} and nothing else.

    reason: asks for a reason before it.
    """
    kind = "integer" if all(isinstance(v, int) for v in values) else "string"
    before = {"reason": {"type": "string"}} if reason else {}
    value = {key: {"type": kind, "enum": list(values)}}
    return replies.response_format("verdict", **before, **value)


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
    return run if named(run, judge) else run.replaying()


def recorded(run) -> list[str]:
    """The run's judge, the judge without a model, and every model with recordings here.

    A profile's own outputs, which are committed, rest on its own models' recordings alone.
    """
    files = {path.stem for path in run.recordings.folder.glob("*.jsonl")}
    names = models.registry() if run.changed else run.models
    there = [name for name in names if paths.file_name(name) in files]
    return list(dict.fromkeys([run.judge, LEXICAL, *there]))


async def by_each(
    run,
    grade: "Callable[[Any, str], Awaitable[pd.DataFrame]]",
    mine: "pd.DataFrame | None" = None,
    more: Iterable[str] = (),
) -> "pd.DataFrame":
    """Verdicts of the run's judge and of those `recorded`, with the column `judge`, for `Run.keep`.

    grade: of a run and a judge, the frame of verdicts (item, status, value, raw and others). It
    only replays: nobody is asked, and what was never recorded is left out, as is a model that never
    judged here. mine: what the run's judge has said already. more: judges without a model. A reply
    that nobody judged has a row without a judge.
    """
    import pandas as pd

    aside, parts = run.replaying(aside=True), []
    for judge in dict.fromkeys([*recorded(run), *more]):
        given = mine if judge == run.judge else None
        made = await grade(aside.judged_by(judge), judge) if given is None else given
        if judge in (run.judge, LEXICAL, *more) or aside.heard(judge):
            parts.append(made.assign(judge=judge))
    made = pd.concat(parts, ignore_index=True)
    lost = made["raw"] == NOT_RECORDED
    names = [c for c in ("item", "model", "regime", "profile") if c in made]  # of a reply
    judged = made.set_index(names).index.isin(made[~lost].set_index(names).index)
    nobody = made[lost & ~judged].drop_duplicates(names)
    nobody = nobody.assign(judge="", status="", value=None, raw="")
    return pd.concat([made[~lost], nobody], ignore_index=True)


def told(profile: str, paper: str, notebook: str, mode: str, judge: str) -> str:
    """A line on whose texts go to a run's judge, from private sources; empty if none can go."""
    if judge == LEXICAL or mode == "replay":
        return ""
    mine = [sources.entry(name) for name in sources.private(profile, paper, notebook)]
    at = models.model(judge).get("base_url", "this machine")
    return "\n".join(
        f"{paper}/{notebook}: texts of github.com/{e['github']} ({e['about']}) go to the judge"
        f" {judge} ({at}), and to nobody else"
        for e in mine
    )


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
    repeat: int = 0,
    shown: Sequence[dict] = (),
    temperature: float = 0,
    folder: Path | str = "",
) -> "pd.DataFrame":
    """Verdicts on `frame` (item, reply_status and the `fields`), in its order, joined by item.

    ask: sends requests, as a Run does. template: the judge's prompt, filled with the `fields`.
    labelled: examples from which the judge without a model, `baseline` (`baselines.Lexical` unless
    another is given), learns. kind: of text, as `models.most` takes it. repeat: which
    repetition this is; the judge without a model needs none. shown: graded examples for the prompt,
    which then asks for a reason before the value. temperature: of a model's verdicts. An answer
    that never came (`reply_status` not empty) is an error and isn't judged. Columns: item, status,
    value, raw.
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
        made = [Verdict(i, "graded", v) for i, v in zip(came["item"], graded, strict=True)]
    else:
        most = models.most(judge, max_tokens, f"{kind} with its reason" if shown else kind)
        form, settings = schema(values, key, bool(shown)), {"max_tokens": most}
        settings["temperature"] = temperature
        told = prompts.render_all(template, came, fields, folder, examples=list(shown))
        requests = [models.Request(i, judge, told[i], settings, form, repeat) for i in told]
        replies = await ask(requests, f"verdicts of {judge}")
        made = [verdict(reply, values, key) for reply in replies]
    for item, why in frame.loc[lost, ["item", "reply_status"]].itertuples(index=False):
        made.append(Verdict(item, "error", raw=f"no answer to judge: {why}"))
    columns = ["item", "status", "value", "raw"]
    made = pd.DataFrame([vars(v) for v in made], columns=columns)
    return checks.joined(frame[["item"]], made)


def with_rated(
    run,
    labelled: "pd.DataFrame",
    source: str,
    authors: str = "their authors",
    known: "Collection[str] | None" = None,
) -> "pd.DataFrame":
    """Labelled examples, with the labels of the user's own raters (an optional source) if any.

    Adds the columns rated and labelled_by. For trust cards only: judges learn from the examples
    alone. known: the items that the labels need; labels of others, as those of another profile, are
    left out, and how many is printed.
    """
    import pandas as pd

    own = labelled.assign(labelled_by=authors, rated=False)
    if not sources.here(source):
        return own
    rated = run.load(source).assign(rated=True)
    if known is not None:
        rated = checks.within(rated, "item", known, f"labels of {source}")
    return pd.concat([own, rated], ignore_index=True)


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
    ordered: bool | None = None,
) -> dict:
    """The trust card of a judge, as a dict: how its verdicts agree with human labels.

    labels: values (n,). verdicts: a frame with status and value in the same order. positive: the
    label that counts as positive; None for labels without one, such as categories, whose card has
    exact and kappa only. units: labels (n,) of what several answers share, such as their question;
    intervals are over these. ordered: whether the values are steps of a scale; by default three or
    more numbers are, and categories (no `positive`) never.

    exact and binary (`positive` against the rest) are shares with intervals of `stats.share`; kappa
    is unweighted, and kappa_quadratic, of ordered values, has quadratic weights. A kappa is NaN if
    labels and verdicts are all the same value. Unscored verdicts count only in `unscored` and in
    the bounds. The constant guesser gives every answer the most common label.
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
        "guesser_kappa": 0.0 if len(counts) > 1 else float("nan"),
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
    if _ordered(values) and positive is not None if ordered is None else ordered:
        card["kappa_quadratic"] = kappa(weights="quadratic")._asdict()
    if positive is not None:
        sensitivity, specificity = stats.sens_spec(a == positive, b == positive, of)
        card["sensitivity"], card["specificity"] = sensitivity._asdict(), specificity._asdict()
    return card


def corrected(
    rate: "Sequence[float]", card: dict, rng: "np.random.Generator"
) -> "tuple[float, float, float, int]":
    """A judged share corrected by the judge's sensitivity and specificity on its trust card.

    rate: the share in percent with its interval over units, (value, low, high, n) as of
    `tables.share`; the same form comes back. NaN for a judge without skill, which allows no
    correction, and if the card has no rates (n 0) or nothing was judged.
    """
    from . import stats

    value, low, high, n = rate
    if "sensitivity" not in card or not n:
        return (*[float("nan")] * 3, 0)
    known = [
        stats.Interval(*(float("nan") if v is None else v for v in card[k].values()))
        for k in ("sensitivity", "specificity")
    ]
    judged = stats.Interval(value / 100, low / 100, high / 100, n)
    found = stats.corrected_rate(judged, *known, rng)
    return (*(100 * x for x in found[:3]), n)


def _ordered(values):
    return len(values) > 2 and all(isinstance(v, int | float) for v in values)


def scale(card: dict) -> tuple[str, str]:
    """(key, name) of the kappa that fits a card's values.

    On a scale of ordered values it has quadratic weights: a distant error counts more.
    """
    if "kappa_quadratic" in card and len(card["values"]) > 2:
        return "kappa_quadratic", "quadratic kappa"
    return "kappa", "kappa"


def describe(card: dict) -> str:
    """A line for captions: the judge's name, the kappa of its scale with its interval, and n."""
    key, name = scale(card)
    k = {what: v for what, v in card.get(key, {}).items() if v is not None and v == v}
    shown = f"{name} {k['value']:.2f}" if "value" in k else f"{name} not measurable"
    shown += " (no verdict)" * (card["n"] == card["unscored"])
    shown += f" [{k['low']:.2f}, {k['high']:.2f}]" if "low" in k else ""
    task = f" ({card['task']})" if card.get("task") else ""
    return f"judge{task}: {card['judge']}, {shown} on {card['n']} labelled {card['of']}"
