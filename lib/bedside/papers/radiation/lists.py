"""Radiation: what a reply lists, by rule. Section 3.4 asks for bullets; models vary."""

import json
import re

from bedside.judging.parsing import REFUSALS
from bedside.read.checks import normals

BULLET = re.compile(
    r"^(?:[-–—*+•◦▪‣·●○](?!-)|\(?\d{1,3}(?:[.):]|\s?[-–]\s)|\(?[a-z][.)](?=\s))"
    r"\s*(?:\[[ x]?\]\s*)?",
    re.I,
)
HEADING = re.compile(
    r"(?:#.*|(?:the )?(?:possible |potential )?"
    r"(?:(?:short|long)[- ]?term|acute|early|late|delayed|chronic|"
    r"(?:extremely |very |less )?(?:common|uncommon|rare))(?:(?: side)?[- ]effects?)?(?: \(.*\))?)",
    re.I,
)
EXPLAINED = re.compile(r":\s+|\s+[-–—]\s+")
WORDS = 8  # a line without a bullet that has more is prose


def read_all(answered):
    """Answers (answer, truncated, reply_status), with what they list: status, terms, repeated.

    status: listed, refused, unparsed, or error where there is no answer.
    """
    found = [
        ("error", [], 0) if r.reply_status else read(r.answer, r.truncated)
        for r in answered.itertuples()
    ]
    status, terms, repeated = (list(column) for column in zip(*found))
    return answered.assign(status=status, terms=terms, repeated=repeated)


def read(text, truncated=False):
    """What a reply lists: (status, terms, repeated). status: listed, refused or unparsed.

    A list is a JSON array of strings; else the bulleted or numbered lines, and only these; else one
    line of short entries between commas, by itself or after a colon; else short lines with an
    effect each. Headings are dropped, and so are explanations after a colon or after a dash between
    spaces; a hyphen inside a term stays. A term counts once; `repeated` counts its repeats. The
    last entry of a truncated reply is dropped, unless the cut fell into its explanation.
    """
    if REFUSALS.match(text):
        return "refused", [], 0
    lines = _lines(text)
    entries = _bulleted(lines) or _in_a_line(lines) or _short(lines)
    if truncated and len(entries) > 1:
        last = entries[-1]
        if lines[-1].endswith(last) and not EXPLAINED.search(last):
            entries.pop()
    terms = [t for e in entries if (t := _term(BULLET.sub("", e)))]
    names, first = normals(terms), {}
    for term in terms:
        first.setdefault(names[term], term)
    if not first:
        return "unparsed", [], 0
    return "listed", list(first.values()), len(terms) - len(first)


def _lines(text):
    """The lines that may hold an entry, without emphasis marks; for a JSON array, its strings."""
    try:
        array = json.loads(re.sub(r"^```\w*$", "", text, flags=re.M))
        listed = array if isinstance(array, list) else []  # an object lists nothing
        lines = [f"- {t}" for t in listed if isinstance(t, str)]
    except (ValueError, RecursionError):
        apart = text.replace("•", "\n•").splitlines()
        lines = [re.sub(r"\*\*|__|`", "", line).strip() for line in apart]
    return [t for t in lines if t and not re.fullmatch(r"[\W_]+", t) and "|" not in t]


def _bulleted(lines):
    """Bulleted and numbered lines, except those that are headings of others."""
    return [
        line
        for line, following in zip(lines, [*lines[1:], ""])
        if BULLET.match(line) and not (line.endswith(":") and BULLET.match(following))
    ]


def _in_a_line(lines):
    """Four or more short entries between commas or semicolons in the last line, or nothing.

    The line must not be a sentence: it has no full stop, or some line has a colon.
    """
    if not lines:
        return []
    last = lines[-1]
    if last.endswith(".") and not any(re.search(r":(\s|$)", line) for line in lines):
        return []
    parts = re.split(r"[,;]", re.sub(r"^.*?:\s", "", last).rstrip("."))
    parts = [re.sub(r"^(?:and|or)\s+", "", t.strip()) for t in parts]
    fits = all(0 < len(t.split()) <= WORDS and ". " not in t for t in parts)
    return parts if len(parts) > 3 and fits else []


def _short(lines):
    """Short lines, if there are two or more and nearly all lines are short, or nothing."""
    body = [line for line in lines if not line.endswith(":")]
    short = [line for line in body if len(line.split()) <= WORDS]
    return short if len(short) >= 2 and len(short) >= 0.8 * len(body) else []


def _term(entry):
    """The side effect that an entry names; empty for a heading."""
    entry = entry.rstrip(" :")
    if HEADING.fullmatch(entry):
        return ""
    head, *rest = EXPLAINED.split(entry, 1)
    named = rest[0] if rest and HEADING.fullmatch(head) else head
    term = " ".join(named.strip(" *_.,;:\"'").split())
    return term if re.search(r"\w", term) else ""
