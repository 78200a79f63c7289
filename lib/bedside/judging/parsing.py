"""What a judge's text states: typed verdicts, and an anchored parser.

A verdict is `graded` with a value, or `unparsed`, `refused` or `error` with the raw text. No score
is ever filled in.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bedside.asking.replies import NO_ANSWER, Reply
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


TEXT = r'"(?:[^"\\]|\\.)*"'
NUMBER = r"[-+\u2212]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
LITERAL = rf"{TEXT}|{NUMBER}|true|false|null"  # a value of JSON, and +1
# what may follow a verdict: marks and closing tags, but nothing that says anything
END = re.compile(r"(?:[\s*_`~.,;!)\]}>#|=-]|<[/|]\w+\|?>)*")
# its later members, the last of which may be cut, and its end
OBJECT_END = re.compile(
    rf'(?:\s*,\s*(?=")(?:{TEXT}|[^{{}}"])*(?:"(?:[^"\\]|\\.)*)?)?(?:\}}{END.pattern})?', re.S
)
NAMES = "grade|scor(?:e|ing)|rating|mark|verdict|judge?ment|assessment|evaluation|decision|label"


def _stated(text, key):
    """Matches of what a text states for `key`: (in JSON objects, on marked lines)."""
    k = re.escape(key)
    members = re.finditer(rf'(?<!\\)"{k}"\s*:\s*({LITERAL})\s*(?=[,}}])', text, re.I | re.A)
    marked = rf"^[ \t*_#-]*{k}[*_]*\s*[:=][\s*_]*+((?!{k}|\{{).*)$"
    return list(members), list(re.finditer(marked, text, re.I | re.M))


def other_grades(text: str, values: Sequence[int | str], key: str = "score") -> list[str]:
    """Grades that a text states by the way: "My grade: 0", "I'd give it 0", `"rating": 0`.

    Not those in quotation marks, such as a JSON text that tells of another's grade.
    """

    def kept(quoted):  # names and single words of JSON
        return quoted[0] if quoted[2] or not re.search(r"\s", quoted[1]) else " "

    text = re.sub(r'"((?:[^"\\\n]|\\.)*)"(\s*:)?', kept, text)
    words = "".join(f"|{re.escape(v)}" for v in values if isinstance(v, str))
    value = rf"[\s\"'*_`(\[]*({NUMBER}[\d./%]*{words})(?!\w)"
    named, line_end = rf"\b(?:{re.escape(key)}|{NAMES})[\"'*_`)]*\s*", r"[^\w\n]*$"
    forms = (
        rf"{named}(?:[:=]|is\b){value}",
        rf"{named}[:=][ \t\"'*_`]*(\w+){line_end}",
        rf"\banswer[*_]*\s*[:=]{value}{line_end}",
        rf"\bI(?:'d|'ll| would| will)? (?:give|grade|rate|score|assign)\b[^.\n]*?{value}",
    )
    grades = (m[1] for form in forms for m in re.finditer(form, text, re.I | re.M))
    return [grade.rstrip(".") for grade in grades]


def _grade(text, values):
    """The one of `values` that a text is exactly: 1, "1", 1.0 and 1e0 are 1; true is none."""
    text = text.strip('"').replace("\u2212", "-").lower()
    number = Decimal(text) if re.fullmatch(NUMBER, text, re.A) else None
    return next((v for v in values if v == number or str(v).lower() == text), None)


def only(values: Iterable) -> Any:
    """The value of a collection that holds one, once or several times; None for any other."""
    unique = set(values)
    return unique.pop() if len(unique) == 1 else None


def states(text: str, key: str) -> bool:
    """Whether a text states anything for `key`, be it one of the values or not."""
    return any(_stated(text, key))


def ends_with(text: str, members: Sequence[re.Match]) -> bool:
    """Whether a text ends with the JSON object that holds the last of these members."""
    return closed(text) or bool(OBJECT_END.fullmatch(text, members[-1].end()))


def parse(text: str, values: Sequence[int | str], key: str = "score") -> int | str | None:
    """The value that a judge's text states, or None.

    Accepted: `"key": value` as a member of a JSON object, or `Key: value` on a line of its own, as
    the last thing said. The value must be one out of `values`, exactly. Of several lines the last
    one wins. JSON objects that differ state nothing, nor do an object and a line that differ, nor a
    text that gives another grade in another form, as a judge does who quotes one that the answer
    planted. Words and numbers in prose never count, nor does a quoted line (`> score: 1`).
    """
    text = QUOTED.sub("", text)
    members, lines = _stated(text, key)
    if not (members or lines):
        return None
    if lines and (not members or lines[-1].end() > members[-1].end()):
        last = bool(END.fullmatch(text, lines[-1].end()))
    else:
        last = ends_with(text, members)
    stated, rest = [m[1] for m in members], text
    stated += [re.sub(r"[\s*_]*\.?\s*$", "", m[1]) for m in lines[-1:]]
    for m in (*members, *lines):
        rest = rest[: m.start()] + " " * len(m[0]) + rest[m.end() :]
    stated += other_grades(rest, values, key)
    return only(_grade(one, values) for one in stated) if last else None


def parse_option(text: str, options: Mapping[str, str]) -> str | None:
    """The option that a text chooses, or None. options: {letter or word: its text}.

    Like `parse`, but the option may come with its text or in brackets, after `Answer:` or `The
    answer is`, or be the whole text. A line that names several options, or one with the text of
    another, chooses nothing. The last line that states a choice wins. Reasons may follow it, since
    an answer in an exam, unlike a judge's text, quotes nobody; nothing may follow a JSON object.
    """

    def plain(text):
        return " ".join(text.strip("(). ").lower().split())

    def option(text):
        text = re.sub(r"^\W*(\w+)[).:\]]+\s+", r"\1 ", re.sub(r"[*_`\"]", "", text).strip())
        return spelled.get(plain(text))

    spelled = {plain(s): o for o, t in options.items() for s in (o, f"{o} {t}", t)}
    text, (members, _) = QUOTED.sub("", text), _stated(text, "answer")
    marker = r"^[\W_]*(?:the )?(?:final |correct |best )?answer(?:[*_ ]*[:=]| is\b:?)(.*)$"
    lines = re.findall(marker, text, re.I | re.M)
    if members and not (lines or ends_with(text, members)):
        return None
    return only(map(option, [*(m[1] for m in members), *lines[-1:]] or [text]))


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
    texts = re.findall(rf'(?<!\\)"{re.escape(key)}"\s*:\s*{STRING}', text)
    return only(map(_unescaped, texts))


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
    texts = only(tuple(map(_unescaped, re.findall(STRING + '"', listed[0]))) for listed in lists)
    return None if texts is None else list(texts)


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
