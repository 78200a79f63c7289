"""What tasks ask and what their checks say: TOML beside the sheet's words, read by `check`.

A task is a table of its sheet, in notebooks/seminar/*.md, under its number:

    asks        what an answer looks like
    truth       {key: formula} or one formula, over the sheet's numbers; `it` has the keys before
    let         {name: formula} of what the following formulas need, over `my` answer, too
    [[wrong]]   say, and when it is said: `leads` {key: formula of a usual mistake}, or `when`
    right, hint what is said otherwise; expressions stand in braces
    free        a text of the student's own: it is collected, and `wrong` says only what to think of

Formulas are parsed by `bedside.read.expressions`; no answer is ever run.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from string import Formatter

from bedside import BedsideError
from bedside.read import expressions, paths

from .answers import Wrong, choice, listed, near, number

FENCE = re.compile(r"^```toml (\S+)\n(.*?)^```\n", re.M | re.S)
HEADING = re.compile(r"^## (?:Extra: )?(\d\.\d+) (.+?)(?: \(\d.*\))?$", re.M)


def texts():
    """The sheets' sources, in order."""
    return sorted((paths.NOTEBOOKS / "seminar").glob("[0-9]*.md"))


@cache
def table():
    """All tables of the sheets, by task or name, with each task's `title`."""
    found = {}
    for path in texts():
        text = path.read_text(encoding="utf-8")
        for name, words in FENCE.findall(text):
            try:
                found.setdefault(name, {}).update(tomllib.loads(words))
            except ValueError as e:
                raise BedsideError(f"{paths.rel(path)}, task {name}: {e}") from None
        for n, title in HEADING.findall(text):
            found.setdefault(n, {})["title"] = title
    return found


class _Said(Formatter):
    """Text with expressions in braces."""

    def get_field(self, name, args, names):
        return expressions.evaluated(name, names), name


def said(text, names):
    """A text with its expressions filled in."""
    return _Said().vformat(text, (), names)


def _numbers(value):
    """The numbers in a part of a free answer; none if it has other things in it."""
    try:
        return listed(value)
    except Wrong:
        return []


FUNCTIONS = {
    "listed": _numbers,
    "size": len,
    "total": sum,
    "near": near,
    "number": number,
    "joined": lambda values: ", ".join(map(str, values)),
    "mentions": lambda text, pattern: bool(re.search(pattern, str(text), re.I)),
}


def check(task, answer, names):
    """(state, text) of an answer: right or collected. names: what a sheet has for formulas.

    Wrong, or any error, for an answer of another form than the task's.
    """
    names = FUNCTIONS | names
    truth = task.get("truth")
    if isinstance(truth, str):
        truth = expressions.evaluated(truth, names)
    if isinstance(truth, list):
        names |= _of_list(listed(answer), truth)
    elif truth:
        names |= _of_keys(task, answer, truth, names)
    else:
        names["my"] = _like(answer, task)
    for name, formula in task.get("let", {}).items():
        names[name] = expressions.evaluated(formula, names)
    passed = _passes(task, truth, names)
    for mistake in [] if passed is True and not task.get("free") else task.get("wrong", ()):
        if _is(mistake, task, names):
            if task.get("free"):
                return "collected", f"{said(task['right'], names)} {said(mistake['say'], names)}"
            raise Wrong(said(mistake["say"], names))
    if passed:
        return "collected" if task.get("free") else "right", said(task["right"], names)
    key = f"{names['key']}: " if names.get("key") else ""
    raise Wrong(f"{key}not right yet. {said(task.get('hint', ''), names)}".strip())


def _passes(task, truth, names):
    """True: right in all; else whether it is good enough if no mistake is known in it."""
    if truth and not names["off"]:
        return True
    return bool(expressions.evaluated(task["enough"], names)) if "enough" in task else not truth


def _of_list(mine, truth):
    """What formulas may say of numbers that are chosen."""
    extra = sorted(set(mine) - set(truth))
    missing = [n for n in truth if n not in mine]
    twice = sorted({n for n in mine if mine.count(n) > 1})
    off = [*extra, *missing, *twice]
    return {"my": mine, "extra": extra, "missing": missing, "twice": twice, "off": off}


def _like(answer, task):
    """A free answer of the form of the task's `like`: a dict with its keys, or a list of texts."""
    like = task.get("like")
    if like == "any":
        return answer
    if isinstance(like, list) and like:
        return _values(answer, like)
    if isinstance(like, list):
        answer = answer.split(",") if isinstance(answer, str) else answer
        if not isinstance(answer, (list, tuple, set)) or not all(
            isinstance(e, str) for e in answer
        ):
            raise Wrong("write a list of texts.")
        return [e.strip() for e in answer if e.strip()]
    if not isinstance(answer, str):
        raise Wrong("write a text in quotation marks.")
    return answer


def _values(answer, keys):
    if not isinstance(answer, Mapping) or set(answer) != set(keys):
        raise Wrong(f"write a dictionary with exactly these keys: {', '.join(map(repr, keys))}.")
    return {k: answer[k] for k in keys}


def _read(key, value, truth, options, percent=False):
    """A value as the task wants it: a number or, where the truth is a word, an option."""
    if isinstance(truth, str):
        known = options or {truth: ()}
        found = choice(value, known)
        if found is None and len(options) > 1:
            raise Wrong(f"{key}: {value!r} is none of {', '.join(known)}.")
        return str(value) if found is None else found
    made = number(value, share=-1 <= truth <= 1)
    if made is None and isinstance(value, tuple) and len(value) == 2:
        raise Wrong(f"{key}: a comma makes two numbers of it; write a point, as in 0.25.")
    if made is None:
        raise Wrong(f"{key} must be a number, not {value!r}.")
    return made


def _of_keys(task, answer, truth, names):
    """What formulas may say of an answer with keys.

    off: what isn't right; blamed: of these, what doesn't follow from the student's own values
    before. same: how many are right.
    """
    given, options = _values(answer, truth), task.get("options", {})
    by = dict.fromkeys(truth, task.get("by", 0.006)) | task.get("loose", {})
    mine, true, blamed, off = {}, {}, [], []

    def value(formula, it):
        text = isinstance(formula, str) and isinstance(task["truth"], Mapping)
        return expressions.evaluated(formula, names | {"it": it}) if text else formula

    def same(a, b):
        return a == b if isinstance(b, str) else near(a, b, by[k])

    for k, formula in truth.items():
        true[k] = value(formula, true)
        mine[k] = _read(k, given[k], true[k], options)
        try:
            follows = value(formula, mine) if off else true[k]
        except BedsideError:  # a division by an own 0
            follows = true[k]
        off += [k] * (not same(mine[k], true[k]))
        blamed += [k] * (not same(mine[k], true[k]) and not same(mine[k], follows))
    _other_unit(mine, true, blamed)
    first = blamed[0] if blamed else (off or [""])[0]
    found = {"my": mine, "truth": true, "off": off, "blamed": blamed, "key": first}
    return found | {"value": mine.get(first), "same": len(truth) - len(off), "by": by}


def _other_unit(mine, true, blamed):
    """Wrong for a percentage instead of a share, or the reverse, if that is all."""
    numbers = [k for k in blamed if true[k] and not isinstance(true[k], str)]
    for factor, asked in (
        (100, "share. Write 0.25 for 25%"),
        (0.01, "percentage. Write 25 for 0.25"),
    ):
        if numbers == blamed != [] and all(
            near(mine[k] / factor, true[k], 0.006 * max(1, 1 / factor)) for k in blamed
        ):
            raise Wrong(f"{', '.join(blamed)}: the task asks for a {asked}.")


def _is(mistake, task, names):
    """Whether a mistake is the one that was made."""
    if "when" in mistake:
        return bool(expressions.evaluated(mistake["when"], names))
    leads = mistake["leads"].items()
    if not names["blamed"] or not {k for k, _ in leads} & {*names["blamed"]}:
        return False
    by = names["by"]
    return all(near(names["my"][k], expressions.evaluated(f, names), by[k]) for k, f in leads)


def guide(task, names, short=True):
    """For those who mark: {key: right value} and [(answer, what is said of it)].

    short: whether values are in words.
    """
    names, right, found = FUNCTIONS | names, {}, []
    truth = task.get("truth", {})
    if isinstance(truth, str):
        truth = expressions.evaluated(truth, names)
        right = dict(truth) if isinstance(truth, Mapping) else {"": truth}
    else:
        for key, formula in truth.items():
            if "tally" not in formula:  # of the student's own reading
                right[key] = expressions.evaluated(formula, names | {"it": right})
    for mistake in task.get("wrong", ()):
        if "leads" in mistake and right:
            known = names | {"truth": right, "my": right}
            led = {k: expressions.evaluated(f, known) for k, f in mistake["leads"].items()}
            told = said(mistake["say"], known | {"my": right | led, "key": next(iter(led))})
            found.append((", ".join(f"{k} {_short(v)}" for k, v in led.items()), told))
        elif "{" not in mistake["say"]:
            found.append(("", mistake["say"]))
    return {k: _short(v) if short else v for k, v in right.items()}, found


def _short(value):
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else f"{value:.4g}"
