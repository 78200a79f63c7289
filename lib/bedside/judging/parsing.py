"""What a judge's text states: typed verdicts, and an anchored parser.

A verdict is `graded` with a value, or `unparsed`, `refused` or `error` with the raw text. No score
is ever filled in.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bedside.keep.replies import NO_ANSWER, Reply
from bedside.read import prompts, user_files

QUOTED = re.compile(r"^\s*>.*$", re.M)  # a line that quotes another text
REFUSALS = re.compile(
    r"\s*(i('m| am) (sorry|unable|not able)|i (can('|no)t|won't|must decline)|as an ai)", re.I
)


@dataclass(frozen=True)
class Verdict:
    """One judgement: status graded, unparsed, refused or error; `value` only when graded.

    call: the key of the model's call; empty without one.
    """

    item: str
    status: str
    value: object = None
    raw: str = ""
    call: str = ""


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
        return json.loads(_json_part(text)[0], object_pairs_hook=user_files.unique)
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


def verdict(reply: Reply, values: Sequence[int | str], key: str = "score") -> Verdict:
    """The verdict in a judge's reply."""
    return read(reply, lambda text: parse(text, values, key))


CUT = "cut off before its end"


def read(reply: Reply, parser: Callable[[str], object], *, even_cut: bool = False) -> Verdict:
    """The verdict in a judge's reply; its value is what `parser` finds in the text, or None.

    A reply that was cut at its limit states none, since what was to come might have changed it,
    unless it is a JSON object that is `closed`. even_cut: read it nevertheless, for replies that
    are material or answers, not verdicts.
    """
    return Verdict(reply.item, *_read(reply, parser, even_cut), call=reply.key)


def _read(reply, parser, even_cut):
    """(status, value, raw) of a verdict."""
    if reply.error:
        return "error", None, reply.error
    if reply.declined or reply.no_answer:
        why = reply.no_answer or NO_ANSWER["content_filter"]
        came = reply.refusal or f"{why}: {reply.text}".removesuffix(": ")
        return "refused" if reply.declined else "unparsed", None, came
    if reply.truncated and not (even_cut or closed(reply.text)):
        return "unparsed", None, f"{CUT}: {reply.text}"
    if (value := parser(reply.text)) is not None:
        return "graded", value, reply.text
    status = "refused" if REFUSALS.match(reply.text) else "unparsed"
    return status, None, reply.text
