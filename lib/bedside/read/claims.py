"""Claims: what the papers state, from data/claims/<paper>.csv, and the readings that decide them.

    load("my_paper")["mp-1"].published          # the file's text with its references filled in
    run.claim("mp-1", reading("41 of 50", 41 >= 40), basis="run")

A reading is a plausible way to turn a claim into numbers: {name: (computed, low, high, holds)}.
`holds` is computed, never typed: True, False, or None if the numbers allow both. A claim with
several readings lists them in data/readings/<paper>.csv, each with its support. A listed reading
that is not given lacks data. The verdict follows from all readings.

Besides claims that a text makes there are its numbers' consistency (kind `consistency`: can two
printed numbers both be right?) and findings of our own, which are `found` or `not found`.
"""

import contextlib
import csv
import functools
import re
from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from bedside import BedsideError, choose

from . import paths, published

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from bedside.run import Run


OF = ("paper", "summary", "data", "own")  # which text states it; own: none, it is our question
KINDS = ("claim", "consistency", "finding")
WEIGHT = ("central", "detail")
VERDICTS = ("holds", "depends", "undetermined", "differs", "needs", "not measured")
FOUND = {"holds": "found", "differs": "not found"}  # the words for a finding
RANKS = (*WEIGHT, "consistency", "summary", "data", "finding")  # what is counted apart
MINUS_ZERO = re.compile(r"(?<![\w.])[-−](?=0(?:\.0+)?(?![\d.,]*\d))")  # as of a rounded -0.004
REFERENCE = re.compile(r"\{([^{}|]+)\|([^{}|]+)\|([^{}|]+)(?:\|([^{}|]+))?\}")


class Claim(NamedTuple):
    """A row of data/claims.

    kind: one of KINDS; a file without it means a finding if it is our own question, else a claim.
    needs, depends, tried, repair, ask: words that go with the verdict, or empty: the data that are
    missing (or `not measured ...`); what the verdict depends on; why no reading supports the claim;
    the likely correction of a slip; what only the authors can answer. `value` is the first number
    that `published` refers to, or the number that it is, or None.
    """

    id: str
    of: str
    kind: str
    section: str
    weight: str
    claim: str
    published: str
    needs: str
    depends: str
    tried: str
    repair: str
    ask: str
    value: float | None


class Listed(NamedTuple):
    """A row of data/readings: a way to read a claim, and the text or convention that supports it.

    tests: how many comparisons it decides by a test of significance. needs: the data missing for
    this reading, if they are not those that its claim needs.
    """

    id: str
    reading: str
    support: str
    tests: int
    needs: str


COLUMNS, LISTED = list(Claim._fields[:-1]), list(Listed._fields)
AS_WRITTEN = "as written"  # the one reading of a claim that lists none
SAID, MISSING = {True: "yes", False: "no", None: "open"}, "missing"
READING = ("id", "reading", "support", "computed", "low", "high", "holds")  # figures/*/readings.csv
OPTIONAL = {"kind"}  # a column that files of earlier versions lack
GONE = {"date", "seen"}  # columns that they may have
SHOWN = ("id", "of", "section", "weight", "claim", "published", "computed", "basis", "verdict")


@functools.cache
def load(paper: str) -> dict[str, Claim]:
    """A paper's claims by id, in the order of the file.

    In `published`, {table | row | column} stands for a number of data/published, and
    {table | row | column | .1f} gives it a format other than the shortest. Raises BedsideError
    naming the line of a fault.
    """
    found: dict[str, Claim] = {}

    def take(row):
        choose(row["of"], OF, "text of a claim")
        row["kind"] = row["kind"] or ("finding" if row["of"] == "own" else "claim")
        choose(row["kind"], KINDS, "kind of claim")
        choose(row["weight"], WEIGHT, "weight of a claim")
        _told(row, "id", "claim")
        if row["id"] in found:
            raise BedsideError(f"claim {row['id']!r} occurs twice")
        told, numbers = _filled(paper, row["published"])
        with contextlib.suppress(ValueError):  # most claims are no single number
            numbers.append(float(told))
        value = numbers[0] if numbers else None
        found[row["id"]] = Claim(**{**row, "published": told}, value=value)

    path = paths.CLAIMS / f"{paper}.csv"
    if not path.is_file():
        raise BedsideError(f"{paths.rel(path)} is missing; the claims of {paper} belong there")
    _each(path, COLUMNS, take)
    return found


@functools.cache
def listed(paper: str) -> dict[str, dict[str, Listed]]:
    """The readings that data/readings/<paper>.csv lists: {claim: {reading: its row}}.

    Raises BedsideError naming the line for an unknown claim, a reading listed twice or without
    support, and a number of tests that is not a number.
    """
    found: dict[str, dict[str, Listed]] = {}

    def take(row):
        choose(row["id"], load(paper), "claim")
        _told(row, "reading", "support")
        mine = found.setdefault(row["id"], {})
        if row["reading"] in mine:
            raise BedsideError(f"{row['id']!r} lists {row['reading']!r} twice")
        if not row["tests"].isdigit() and row["tests"]:
            raise BedsideError(f"tests: {row['tests']!r} is not a whole number")
        mine[row["reading"]] = Listed(**{**row, "tests": int(row["tests"] or 0)})

    if (path := paths.READINGS / f"{paper}.csv").is_file():
        _each(path, LISTED, take)
    return found


def _each(path, columns, take):
    """Give each row of a file of claims to `take`; its errors name the file and the line."""
    with open(path, newline="", encoding="utf-8") as f:
        lines = csv.DictReader(f)
        given = [c for c in lines.fieldnames or [] if c not in GONE]
        later = OPTIONAL.intersection(columns).difference(given)
        if given != [c for c in columns if c not in later]:
            raise BedsideError(f"{paths.rel(path)}: the columns are {given}, expected {columns}")
        for row in lines:
            try:
                if None in row.values() or None in row:
                    raise BedsideError("a field is missing, or there are too many")
                take(dict.fromkeys(later, "") | {c: row[c] for c in given})
            except BedsideError as e:
                raise BedsideError(f"{paths.rel(path)}, line {lines.line_num}: {e}") from None


def _told(row, *columns):
    """Raise an error if one of these columns is empty in a row."""
    for column in columns:
        if not row[column].strip():
            raise BedsideError(f"a field is missing: {column}")


def _filled(paper, text):
    """(a text with its references filled in, the numbers that it refers to)."""
    numbers = []

    def number(match):
        numbers.append(published.value(paper, *(part.strip() for part in match.groups()[:3])))
        return MINUS_ZERO.sub("", format(numbers[-1], (match[4] or "g").strip()))

    return REFERENCE.sub(number, text), numbers


def reading(
    computed: float | str,
    holds: "bool | np.bool | None",
    low: float | None = None,
    high: float | None = None,
    name: str = AS_WRITTEN,
) -> dict[str, tuple]:
    """One reading of a claim by its name, with its `outcome`."""
    return {name: outcome(computed, holds, low, high)}


def outcome(
    computed: float | str,
    holds: "bool | np.bool | None",
    low: float | None = None,
    high: float | None = None,
) -> tuple:
    """What a reading comes to: what was computed, a number or words, and whether the claim holds.

    low, high: the range that the rounding of the printed numbers allows.
    """
    low, high = (None if x is None else float(x) for x in (low, high))
    if isinstance(computed, str):
        computed = MINUS_ZERO.sub("", computed)
    return computed, low, high, None if holds is None else bool(holds)


def in_words(values: Mapping[str, object], form: str = "", between: str = ", ") -> str:
    """Named numbers as text, each in this format; names are shown without underscores."""
    return between.join(f"{str(k).replace('_', ' ')} {v:{form}}" for k, v in values.items())


def same(run: "Run", id: str, computed: float | None, digits: int, name: str = AS_WRITTEN) -> dict:
    """The reading of a claim that is one printed number: does the computed one round to it?

    computed: None if it is not available; then there is no reading.
    """
    if computed is None:
        return {}
    shown = f"{computed:z.{digits}f}"
    return reading(shown, shown == f"{load(run.paper)[id].value:z.{digits}f}", name=name)


def between(low: float, high: float, least: float = -inf, most: float = inf) -> bool | None:
    """Whether a number between low and high is between least and most; None if it may be.

    Differences up to 1e-10 are ignored.
    """
    slack = 1e-10
    if low >= least - slack and high <= most + slack:
        return True
    return False if high < least - slack or low > most + slack else None


def near(values: "ArrayLike", slack: float, least: float = -inf, most: float = inf) -> bool | None:
    """Whether all values are `between` least and most, each of them off by `slack` at most."""
    import numpy as np

    ends = [(x - slack, x + slack) for x in np.ravel(np.asarray(values, dtype=float))]
    return every(between(*end, least, most) for end in ends)


def every(holds: Iterable[bool | None]) -> bool | None:
    """Whether all hold: False if one doesn't; None if none fails and one is open."""
    said = {None if h is None else bool(h) for h in holds}
    return False if False in said else None if None in said else True


def judged(paper: str, id: str, readings: dict[str, tuple]) -> tuple[str, list[dict]]:
    """The verdict on a claim, and all of its readings as rows with `READING` and tests.

    Raises BedsideError for a reading that data/readings doesn't list.
    """
    claim, known = load(paper)[id], listed(paper).get(id)
    known = known or {AS_WRITTEN: Listed(id, AS_WRITTEN, "the sentence as it stands", 0, "")}
    for name in readings:
        choose(name, known, f"reading of {id}")
    rows = []
    for name, way in known.items():
        computed, low, high, holds = readings.get(name, (way.needs or claim.needs, *3 * [None]))
        holds = SAID[holds] if name in readings else MISSING
        row = (id, name, way.support, computed, low, high, holds, way.tests)
        rows.append(dict(zip((*READING, "tests"), row, strict=True)))
    return verdict(claim, rows), rows


def verdict(claim: Claim, rows: list[dict]) -> str:
    """The verdict that follows from a claim's readings.

    All yes: holds. All no: differs, or undetermined if tests of significance alone say so, since
    some of many claims would fail by chance. Yes and no: depends, also on the data that a further
    reading needs. Otherwise, if data are missing: needs, so that one plausible reading without data
    keeps a claim from differing; or not measured, if the study never took them. Otherwise
    undetermined. A finding is found or not found.
    """
    said = {row["holds"] for row in rows}
    lacking = [row["computed"] for row in rows if row["holds"] == MISSING]
    words = FOUND if claim.kind == "finding" else {}
    if said == {"yes"}:
        return words.get("holds", "holds")
    if said == {"no"}:
        tested = all(row["tests"] for row in rows)
        return "undetermined" if tested else words.get("differs", "differs")
    missing = next(filter(None, lacking), "")
    if said >= {"yes", "no"}:
        told = f"depends on {claim.depends or 'the reading'}"
        return f"{told}; a further reading needs {missing}" if lacking else told
    if not lacking:
        return "undetermined"
    if not missing:
        told = "is not decided, and its row does not say which data it needs"
        raise BedsideError(f"claim {claim.id!r} {told}")
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
    same = {found: word for word, found in FOUND.items()}
    for claim in made:
        found = word(claim["verdict"])
        counts[rank(claim)][same.get(found, found)] += 1
    return counts
