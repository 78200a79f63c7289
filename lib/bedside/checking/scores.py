"""Checks of classifiers' scores, and of kappa, against all confusion matrices of that n."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from bedside import stats

from . import unsized
from .numbers import SCORES, SHARES, Row, sizes
from .printed import whole
from .verdicts import CUT, Result, decided, number, untestable

PLAIN = ("precision", "recall", "f1")
ONE = "two classes, both occur; one matrix of n items"


def groups(rows: Iterable[Row]) -> list[list[Row]]:
    """Scores that one matrix must have: of the same table, row and n, if there are several.

    A lone accuracy is a share. A kappa that refers to nothing belongs to the scores of its row.
    """
    made = {}
    for r in rows:
        if r.kind in SCORES or (r.kind == "kappa" and not r.of):
            made.setdefault((r.table, r.row), []).append(r)
    split = []
    for mine in made.values():
        sizes = {r.n for r in mine} - {None}
        filled = [r._replace(n=r.n or (min(sizes) if len(sizes) == 1 else None)) for r in mine]
        split += [[r for r in filled if r.n == n] for n in dict.fromkeys(r.n for r in filled)]
    alone = ("accuracy", "kappa")
    return [mine for mine in split if len(mine) > 1 or mine[0].kind not in alone]


def _known(group):
    """The number of positives that a group's settings give, or None; and the word, or empty."""
    words = [r.settings["positives"] for r in group if "positives" in r.settings]
    given = whole(words[0]) if words else None
    return (None, words[0] if words else "") if given is None else (given, "")


def _spans(group, cut=False, means="", f1=""):
    """{score: its ends} of a group; means: what unnamed means are; f1: what the macro F1 is."""
    named = {}
    for r in group:
        name = f"{means} {r.kind}" if means and r.kind in PLAIN else r.kind
        named[f1 if f1 and r.kind == "macro f1" else name] = r.number.span(r.unit, cut)
    return named


def _ways(group, sizes, seconds):
    """Other readings of a group: (the condition, whether it then fits)."""
    n, (positives, _) = group[0].n, _known(group)
    kinds, spans = {r.kind for r in group}, _spans(group)
    ways = [(CUT, _spans(group, cut=True), n, positives)]
    if plain := [k for k in PLAIN if k in kinds and "specificity" not in kinds]:
        for means in ("macro", "weighted"):
            if not {f"{means} {kind}" for kind in plain} & kinds:
                told = f"{', '.join(plain)} are {means} means"
                ways.append((told, _spans(group, means=means), n, positives))
    if "macro f1" in kinds:
        told = "the macro F1 is the F1 of the mean precision and recall"
        ways.append((told, _spans(group, f1="f1 of means"), n, positives))
    if positives is not None:
        ways.append(("the other class counts as positive", spans, n, n - positives))
    ways += [(f"its n is {m}, as elsewhere in the table", spans, m, positives) for m in sizes]
    found = [told for told, *given in ways if _any(*given, seconds)]
    yield from ((told, True) for told in found)
    if not found:  # what allows most comes last
        share = None if positives is None else positives / n
        told = "they are means over several matrices, as of folds, raters or runs"
        yield told, stats.means_of_several(spans, share)


def _any(spans, n, positives, seconds):
    """Whether some matrix has these scores."""
    return stats.matrices(n, spans, positives, seconds).count > 0


def named(group: list[Row]) -> str:
    """The word that rows with the same positives have; empty without one."""
    return _known(group)[1]


def fits(group: list[Row], seconds: float) -> stats.Fits | None:
    """The matrices of a group of scores; None if it can't be tested."""
    if _lacks(group):
        return None
    return stats.matrices(group[0].n, _spans(group), _known(group)[0], seconds)


def _lacks(group):
    """Why a group can't be tested; empty if it can."""
    n = group[0].n
    if _classes(group) > 2:
        return "more than two classes"
    if not n:
        return unsized.NO_N
    if not 2 <= n <= stats.LARGEST:
        return f"n must be 2 to {stats.LARGEST}"
    return (
        ""
        if len({r.kind for r in group}) == len(group)
        else "it has a score twice; give each matrix a row of its own"
    )


def _classes(rows):
    """The number of classes that rows give, or 0."""
    return next((whole(r.settings["classes"]) for r in rows if "classes" in r.settings), 0)


def scores(
    group: list[Row], found: stats.Fits | None, every: Sequence[Row], seconds: float
) -> Result:
    """Whether one confusion matrix prints as all scores of a row. found: as of `fits`."""
    name = "scores of one matrix"
    if found is None:
        return unsized.scores(name, group, _classes(group), _lacks(group))
    n = group[0].n
    if not (found.complete or found.count):
        told = f"the search took longer than {seconds:g} seconds"
        return unsized.scores(name, group, _classes(group), told)
    ways = _ways(group, [m for m in sizes(group[0], every) if 2 <= m <= stats.LARGEST][:3], seconds)
    known = _known(group)[0]
    verdict = decided(found.count > 0, ways)
    near, able = _others(group, seconds)
    listed = ", ".join(f"{r.kind} {r.text}" for r in group)
    of = f"{n} items" + (f" with {known} positives" if known is not None else "")
    many = f"{'' if found.complete else 'at least '}{found.count:,}"
    lines = (
        f"{listed}: of all 2x2 matrices of {of}, {many} print so.",
        f"One of them: {found.first()}." if found.count else f"It would fit with {near or 'none'}.",
    )
    return Result(name, *verdict, lines, near, able, ONE)


def _others(group, seconds):
    """What each score could be, given the others: the nearest printable value, and how many."""
    if len(group) == 1:
        return "", "one score alone: nearly every value is possible"
    near, able = [], []
    for r in group:
        rest = stats.matrices(
            group[0].n, _spans([x for x in group if x is not r]), _known(group)[0], seconds
        )
        values = rest.values(r.kind)
        if not len(values) or not rest.complete:
            continue
        step = float(r.number.step * r.unit)
        digits = np.union1d(
            np.floor(values / step + 0.5 + 1e-7), np.ceil(values / step - 0.5 - 1e-7)
        )
        best = digits[abs(digits - round(float(r.number.value / r.number.step))).argmin()]
        near.append(f"{r.kind} {r.number.printed(best * float(r.number.step))}")
        able.append(f"{r.kind}: {len(digits)} of {round(1 / step) + 1}")
    told = "; ".join(able)
    return " or ".join(near), f"printable values possible, given the others: {told}" if told else ""


def positives(mine: list[tuple[list[Row], stats.Fits | None]], seconds: float) -> Result:
    """Whether rows that share their items can have the same number of positives.

    mine: the groups, each with its `fits`.
    """
    name, (groups, found) = "rows that share positives", zip(*mine)
    n = {group[0].n for group in groups}
    lacking = [group[0].row for group, fit in mine if fit is None]
    if len(mine) < 2 or len(n) > 1 or lacking:
        why = f"{lacking[0]} can't be tested" if lacking else "two rows of the same n are needed"
        return unsized.positives(name, groups, why)
    if not all(f.complete for f in found):
        return untestable(name, f"the search took longer than {seconds:g} seconds")
    n, sets = n.pop(), [set(f.runs[:, 0].tolist()) for f in found]
    if not all(sets):
        bad = [group[0].row for group, s in zip(groups, sets) if not s]
        return untestable(name, f"{bad[0]} has no matrix by itself")
    shared = set.intersection(*sets)
    turned = any(
        set.intersection(*sets[:k], {n - p for p in sets[k]}, *sets[k + 1 :])
        for k in range(len(sets))
    )
    verdict, only_if = decided(
        bool(shared), [("one row counts the other class as positive", turned)]
    )
    ends = [f"{group[0].row}: {min(s)} to {max(s)}" for group, s in zip(groups, sets)]
    lines = (
        f"Positives of {n} that each row allows: {'; '.join(ends)}.",
        f"All rows share {min(shared)} to {max(shared)}."
        if shared
        else "No number is in all of them.",
    )
    share = len(set.union(*sets))
    power = f"{len(shared)} of the {share} numbers that single rows allow"
    return Result(
        name, verdict, only_if, lines, "", power, ONE + "; the rows are about the same items"
    )


def _counted(row):
    return row.kind == "count" and bool(row.n)


def _contradicting(row, given, n, classes, seconds):
    """The result where what a kappa rests on fits no table of n."""
    cut = {SEARCHED[name]: _share(r, cut=True) for name, r in given.items()}
    fits = False
    if 2 <= n <= stats.LARGEST:
        with_kappa = cut | {"kappa": row.number.span(row.unit, True)}
        fits = stats.matrices(n, with_kappa, None, seconds).count > 0
    only = [(CUT, fits), ("there are more than two classes", classes == 0)]
    listed = ", ".join(f"{name} {r.text}" for name, r in given.items())
    told = f"Given {listed}{f' of {n}' * (n > 0)}: no table of two classes."
    lines = told, f"Printed is {row.text}."
    condition = f"unweighted; {classes if classes > 2 else 'two'} classes"
    return Result("kappa", *decided(classes > 2, only), lines, "", "", condition)


def _share(row, cut=False):
    """The range of a share, or of the share that a count of n is."""
    if not _counted(row):
        return row.number.span(row.unit, cut)
    share = row.number.value / row.n
    return share, share


GIVEN = {1: ["agreement"], 2: ["first rater", "second rater"]}
GIVEN[3] = GIVEN[1] + GIVEN[2]
SEARCHED = {"agreement": "accuracy", "first rater": "positives", "second rater": "predicted"}


def _kappa_ends(spans, classes):
    """The least and the most kappa of tables of any size; None if there is no such table."""
    ends = stats.kappa_range(*(spans.get(name, stats.WHOLE) for name in SEARCHED.values()))
    if classes > 2:
        accuracy = spans["accuracy"]
        ends = stats.kappa_range(accuracy)[0], min(Fraction(1), accuracy[1])
    return ends


def kappa(row: Row, every: Sequence[Row], seconds: float) -> Result:
    """Whether kappa is possible, given the agreement, both raters' yes, or all three.

    Each is a share, or a count of n.
    """
    if unsized.outside(row):
        return unsized.alone("kappa", row, "")
    if len(row.of) not in GIVEN or not all(r.kind in SHARES or _counted(r) for r in row.of):
        return untestable("kappa", "name in `of` the agreement, both raters' shares, or all three")
    given, n = dict(zip(GIVEN[len(row.of)], row.of)), next((r.n for r in (row, *row.of) if r.n), 0)
    classes, printed, power = _classes([row]), row.number.span(row.unit), ""
    if classes > 2 and "agreement" not in given:
        return untestable("kappa", "it needs two classes, or the agreement")
    spans = {SEARCHED[name]: _share(r) for name, r in given.items()}
    ends, fits = _kappa_ends(spans, classes), True
    if classes <= 2 and 2 <= n <= stats.LARGEST:
        search = stats.matrices(n, spans | {"kappa": printed}, None, seconds)
        if not search.complete and not search.count:
            return untestable("kappa", f"the search took longer than {seconds:g} seconds")
        fits, all_of = search.count > 0, stats.matrices(n, spans, None, seconds)
        if all_of.complete and not all_of.count:
            ends = None
        if len(values := all_of.values("kappa")):
            ends = tuple(map(float, values[[0, -1]]))
            step = float(row.number.step * row.unit)
            many = len(np.unique(np.round(values / step)))
            power = f"{many} of {round(2 / step) + 1} printable values are possible"
    if ends is None:
        return _contradicting(row, given, n, classes, seconds)
    least, most = map(float, ends)
    fits = fits and (bool(power) or stats.meet(printed, ends))
    agreed = spans.get("accuracy", stats.WHOLE)[1]  # no kappa lies above the agreement
    more = "there are more than two classes", classes == 0 and printed[0] <= agreed
    weighted = "it is weighted, with more than two classes", classes != 2 and not more[1]
    listed = ", ".join(f"{name} {r.text}" for name, r in given.items())
    lines = (
        f"Given {listed}{f' of {n}' * (n > 0)}, kappa can be {number(least)} to {number(most)}.",
        f"Printed is {row.text}.",
    )
    near = min(max(float(row.number.value * row.unit), least), most) / float(row.unit)
    condition = f"unweighted; {classes if classes > 2 else 'two'} classes"
    verdict = decided(fits, [more, weighted])
    return Result("kappa", *verdict, lines, row.number.printed(near), power, condition)
