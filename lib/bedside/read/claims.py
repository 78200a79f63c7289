"""Claims: what the papers state, from data/claims/<paper>.toml, and how each is decided.

    load("my_paper")["mp-1"].published          # the file's text with its references filled in
    decided("my_paper", names)                  # {claim: {interpretation: outcome}}
    run.decide(names)                           # in a notebook, for its claims

An interpretation, a plausible way to turn a claim into numbers, has its support in the text and a
test: one expression over printed numbers that know their rounding (`read.expressions`). Its outcome
is (computed, low, high, holds): what was found, the range that rounding allows, and True, False, or
None if the numbers allow both. One without an outcome lacks data. The verdict follows from all.

Besides claims that a text makes there are its numbers' consistency (kind `consistency`: can two
printed numbers both be right?) and findings of our own, which are `found` or `not found`.
"""

import contextlib
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec

from bedside import BedsideError, choose

from . import paths, published

WEIGHT = ("central", "detail")
WORDS = {  # verdicts in the files' words: their words on pages
    "holds": "confirmed",
    "depends": "depends on interpretation",
    "undetermined": "open",
    "differs": "contradicted",
    "needs": "needs data",
    "not measured": "not measured",
    "no bound": "no threshold given",
}
VERDICTS = tuple(WORDS)
FOUND = {"holds": "found", "differs": "not found"}  # the words for a finding
RANKS = (*WEIGHT, "consistency", "summary", "data", "finding")  # what is counted apart
MINUS_ZERO = re.compile(r"(?<![\w.])[-−](?=0(?:\.0+)?(?![\d.,]*\d))")  # as of a rounded -0.004
REFERENCE = re.compile(r"\{([^{}|]+)\|([^{}|]+)\|([^{}|]+)(?:\|([^{}|]+))?\}")


Told = Annotated[str, msgspec.Meta(min_length=1)]


class Interpretation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A way to read a claim, and the text or convention that supports it.

    test: the expression that decides it. data: a name that it needs besides those in it.
    significance: how many comparisons it decides by a test of significance. needs: the data missing
    for it, if they are not those that its claim needs.
    """

    support: Told
    test: str = ""
    data: str = ""
    significance: Annotated[int, msgspec.Meta(ge=0)] = 0
    needs: str = ""


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An entry of data/claims; its tables are its interpretations, by name.

    of: which text states it; own: none, it is our question. kind: without one our own question is
    a finding, all else a claim. needs, depends, tried, repair, ask: words that go with the verdict,
    or empty: the data that are missing (or `not measured ...`); what the verdict depends on; why no
    reading supports the claim; the likely correction of a slip; what only the authors can answer.
    unbounded: an adjective for whose size the paper gives no bound, so that only the sign is
    judged. notebook: where it is decided by `test` or its interpretations' tests; basis: of
    SOURCES, on whose numbers. `value` is the first number that `published` refers to, or the number
    that it is, or None.
    """

    claim: Told
    section: Told
    weight: Literal["central", "detail"]
    published: Told
    of: Literal["paper", "summary", "data", "own"] = "paper"
    kind: Literal["claim", "consistency", "finding", ""] = ""
    needs: str = ""
    depends: str = ""
    tried: str = ""
    repair: str = ""
    ask: str = ""
    unbounded: str = ""
    notebook: str = ""
    basis: Literal["published", "recomputed", "raw", "run", "none"] = "recomputed"
    test: str = ""
    data: str = ""
    id: str = ""
    value: float | None = None
    interpretations: dict[str, Interpretation] = {}


DEFINE = "define"  # the table of names that expressions share
AS_WRITTEN = "as written"  # the one reading of a claim that lists none
SAID, MISSING = {True: "yes", False: "no", None: "open"}, "missing"
READING = ("id", "reading", "support", "computed", "low", "high", "holds")  # figures/*/readings.csv
KEPT = (*"id of kind section weight claim published needs depends tried repair ask".split(),)
SHOWN = ("id", "of", "section", "weight", "claim", "published", "computed", "basis", "verdict")


def load(paper: str) -> dict[str, Claim]:
    """A paper's claims by id, in the order of the file.

    In `published`, {table | row | column} stands for a number of data/published, and
    {table | row | column | .1f} gives it a format other than the shortest. Raises BedsideError
    naming file, claim and interpretation of a fault.
    """
    return _read(paper)[0]


@functools.cache
def _read(paper):
    """(claims by id, {name: expression} that they share)."""
    path, of_paper = paths.CLAIMS / f"{paper}.toml", {}
    entries = paths.toml(path)
    shared = entries.pop(DEFINE, {})
    for id, entry in entries.items():
        try:
            of_paper[id] = _claim(paper, id, entry)
        except (BedsideError, msgspec.ValidationError) as e:
            raise BedsideError(f"{paths.rel(path)}, {id}: {e}") from None
    return of_paper, shared


def _claim(paper, id, entry):
    if not isinstance(entry, dict) or {"id", "value", "interpretations"} & {*entry}:
        raise BedsideError("a claim is a table of its words and its interpretations")
    ways = {k: v for k, v in entry.items() if isinstance(v, dict)}
    words = {k: v for k, v in entry.items() if k not in ways}
    claim = msgspec.convert({**words, "interpretations": ways}, Claim)
    text, numbers = _filled(paper, claim.published)
    with contextlib.suppress(ValueError):  # most claims are no single number
        numbers.append(float(text))
    kind = claim.kind or ("finding" if claim.of == "own" else "claim")
    about = {"id": id, "kind": kind, "published": text, "value": next(iter(numbers), None)}
    return msgspec.structs.replace(claim, **about)


def ways(claim: Claim) -> dict[str, Interpretation]:
    """A claim's interpretations by name; of one that lists none it is the sentence as it stands."""
    as_it_stands = Interpretation("the sentence as it stands", claim.test, claim.data)
    return claim.interpretations or {AS_WRITTEN: as_it_stands}


def decided(
    paper: str, names: Mapping[str, Any], notebook: str = "", also: Iterable[str] = ()
) -> dict[str, dict[str, tuple]]:
    """What tests come to, of a notebook's claims and `also` or of all: {claim: {name: outcome}}.

    names: the quantities and functions that expressions may use; None is a quantity whose data
    aren't here, and an interpretation that names it has no outcome.
    """
    from . import expressions  # and pandas, which not every command needs

    found, (claims, shared) = {}, _read(paper)
    names = {**expressions.FUNCTIONS, **names}

    def lacks(text, *more):
        return any(names.get(n, 0) is None for n in (*expressions.mentions(text), *more))

    with _of(paper, DEFINE):
        for name, text in shared.items():
            names[name] = None if lacks(text) else expressions.evaluated(text, names)
    for id, claim in claims.items():
        if notebook not in ("", claim.notebook) and id not in also:
            continue
        names["claimed"], found[id] = claim.value, {}
        for name, way in ways(claim).items():
            with _of(paper, f"{id}, {name}"):
                if way.test and not lacks(way.test, way.data):
                    found[id][name] = expressions.outcome(way.test, names)
    return found


@contextlib.contextmanager
def _of(paper, place):
    """Name the file and the place in it of what goes wrong."""
    try:
        yield
    except BedsideError as e:
        raise BedsideError(f"data/claims/{paper}.toml, {place}: {e}") from None


def _filled(paper, text):
    """(a text with its references filled in, the numbers that it refers to)."""
    numbers = []

    def number(match):
        numbers.append(published.value(paper, *(part.strip() for part in match.groups()[:3])))
        return MINUS_ZERO.sub("", format(numbers[-1], (match[4] or "g").strip()))

    return REFERENCE.sub(number, text), numbers


def judged(paper: str, id: str, readings: dict[str, tuple]) -> tuple[str, list[dict]]:
    """The verdict on a claim, and all of its readings as rows with `READING` and tests.

    Raises BedsideError for a reading that the claim doesn't list.
    """
    claim, rows = load(paper)[id], []
    for name in readings:
        choose(name, ways(claim), f"reading of {id}")
    for name, way in ways(claim).items():
        *numbers, holds = readings.get(name, (way.needs or claim.needs, None, None, MISSING))
        row = (id, name, way.support, *numbers, SAID.get(holds, holds), way.significance)
        rows.append(dict(zip((*READING, "tests"), row, strict=True)))
    return verdict(claim, rows), rows


def verdict(claim: Claim, rows: list[dict]) -> str:
    """The verdict that follows from a claim's readings.

    All yes: holds, or no bound if the claim has an adjective that is `unbounded`. All no: differs,
    or undetermined if tests of significance alone say so, since some of many claims would fail by
    chance. Yes and no: depends, also on the data that a further reading needs. Otherwise, if data
    are missing: needs, so that one plausible reading without data keeps a claim from differing; or
    not measured, if the study never took them. Otherwise undetermined. A finding is found or not
    found.
    """
    answers = {row["holds"] for row in rows}
    lacking = [row["computed"] for row in rows if row["holds"] == MISSING]
    missing = next(filter(None, lacking), "")
    words = FOUND if claim.kind == "finding" else {}
    if answers == {"yes"}:
        size = f"no bound for “{claim.unbounded}”"
        return size if claim.unbounded else words.get("holds", "holds")
    if answers == {"no"} and not all(row["tests"] for row in rows):
        return words.get("differs", "differs")
    if answers >= {"yes", "no"}:
        more = f"; a further reading needs {missing}" if lacking else ""
        return f"depends on {claim.depends or 'the reading'}{more}"
    if not lacking:
        return "undetermined"
    if not missing:
        raise BedsideError(f"claim {claim.id!r} isn't decided: its `needs` names no data")
    return missing if missing.startswith("not measured") else f"needs {missing}"


def saved_by(claim: Claim, rows: list[dict]) -> str:
    """The one reading that keeps a claim from differing in all of its readings, or ''."""
    for row in rows:
        rest = [other for other in rows if other is not row]
        if row["holds"] != "no" and rest and word(verdict(claim, rest)) in ("differs", "not found"):
            return row["reading"]
    return ""


def word(verdict: str) -> str:
    """The word of a verdict: one of VERDICTS, or of FOUND for a finding."""
    return next(w for w in (*VERDICTS, *FOUND.values()) if verdict.startswith(w))


def on_page(verdict: str) -> str:
    """A verdict as pages tell it: in their words, with what it depends on or needs, if told."""
    short = word(verdict)
    if verdict == "depends on the reading" or short not in ("depends", "needs"):
        return WORDS.get(short, short) + verdict.removeprefix(short).removeprefix(" on the reading")
    return verdict


def rank(claim: dict) -> str:
    """Which of RANKS a claim is counted with: a paper's claims by weight, all others apart."""
    if claim["of"] == "paper" and claim["kind"] == "claim":
        return claim["weight"]
    return claim["of"] if claim["of"] in RANKS else claim["kind"]


def completed(claim: dict) -> dict:
    """A claim of a manifest, with the fields that those of earlier versions lack."""
    kind = "finding" if claim["of"] == "own" else "claim"
    return {"kind": kind, "saved_by": "", **claim}


def by_verdict(made: Iterable[dict]) -> dict[str, list[dict]]:
    """Claims by their verdicts' words, with all VERDICTS as keys, then those for findings."""
    found = {verdict: [] for verdict in (*VERDICTS, *FOUND.values())}
    for claim in made:
        found[word(claim["verdict"])].append(claim)
    return found


def tally(made: Iterable[dict]) -> dict[str, dict[str, int]]:
    """Claims counted by rank and verdict: {one of RANKS: {verdict's word: number}}.

    A finding that is found counts as holding, one that isn't as differing.
    """
    counts = {rank: dict.fromkeys(VERDICTS, 0) for rank in RANKS}
    for claim in made:
        short = word(claim["verdict"])
        counts[rank(claim)][{"found": "holds", "not found": "differs"}.get(short, short)] += 1
    return counts
