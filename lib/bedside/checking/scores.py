"""Checks of classifiers' scores, and of kappa, against all confusion matrices of that n.

Without n, or beyond what is searched, exact bounds decide, which hold for matrices of any size.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from bedside import stats

from .rows import SCORES, SHARES, Row, sizes
from .verdicts import CUT, NO_N, Result, decided, number, outside, untestable

PLAIN = ("precision", "recall", "f1")
SEVERAL = "they are means over classes, folds, raters or runs"
TURNED = "one row counts the other class as positive"
ONE = "two classes, both occur; one matrix of "


def groups(rows: Iterable[Row]) -> list[list[Row]]:
    """Scores that one matrix must have: of the same table, row and n, if there are several.

    A lone accuracy is a share. A kappa that refers to nothing belongs to the scores of its row.
    """
    by_label, split = {}, []
    for r in rows:
        if r.kind in SCORES or (r.kind == "kappa" and not r.of):
            by_label.setdefault((r.table, r.row), []).append(r)
    for group in by_label.values():
        known = {r.n for r in group} - {None}
        group = [r._replace(n=r.n or (min(known) if len(known) == 1 else None)) for r in group]
        split += [[r for r in group if r.n == n] for n in dict.fromkeys(r.n for r in group)]
    return [
        group for group in split if len(group) > 1 or group[0].kind not in ("accuracy", "kappa")
    ]


def _given(group, name, default=None):
    return next((r.settings[name] for r in group if name in r.settings), default)


def shared(group: list[Row]) -> str:
    """The word that rows with the same positives have; empty without one."""
    positives = _given(group, "positives")
    return positives if isinstance(positives, str) else ""


def search(group: list[Row], seconds: float) -> stats.Fits | str:
    """The matrices of a group of scores, or why it can't be tested."""
    n, kinds = group[0].n, {r.kind for r in group}
    if _given(group, "classes", 0) > 2:
        return "more than two classes"
    if not n:
        return NO_N
    if not 2 <= n <= stats.LARGEST:
        return f"n must be 2 to {stats.LARGEST}"
    if len(kinds) < len(group):
        return "it has a score twice; give each matrix a row of its own"
    fits = stats.matrices(n, _spans(group), _positives(group), seconds)
    late = f"the search took longer than {seconds:g} seconds"
    return fits if fits.complete or fits.count else late


def _positives(group):
    """The number of positives that a group's settings give, or None."""
    positives = _given(group, "positives")
    return positives if isinstance(positives, int) else None


def _spans(group, cut=False, means="", f1="macro f1"):
    """{score: its ends}. means: what unnamed means are; f1: what the macro F1 is."""
    names = {kind: f"{means} {kind}" for kind in PLAIN if means} | {"macro f1": f1}
    return {names.get(r.kind, r.kind): r.span(cut) for r in group}


def scores(
    group: list[Row], fits: stats.Fits | str, every: Sequence[Row], seconds: float
) -> Result:
    """Whether one confusion matrix prints as all scores of a row. fits: as of `search`."""
    check = "scores of one matrix"
    if isinstance(fits, str):
        return _of_any_size(check, group, fits)
    n, known = group[0].n, _positives(group)
    near, able = _others(group, seconds)
    of = f"{n} items" + (f" with {known} positives" if known is not None else "")
    many = f"{'' if fits.complete else 'at least '}{fits.count:,}"
    lines = (
        f"{_listed(group)}: of all 2x2 matrices of {of}, {many} print so.",
        f"One of them: {fits.first()}." if fits.count else f"It would fit with {near or 'none'}.",
    )
    ways = () if fits.count else _ways(group, every, seconds)
    return decided(check, fits.count > 0, ways, lines, near, able, f"{ONE}n items")


def _listed(group):
    return ", ".join(f"{r.kind} {r.text}" for r in group)


def _ways(group, every, seconds):
    """Other readings of a group: (the condition, whether it then fits)."""
    n, positives, spans = group[0].n, _positives(group), _spans(group)
    ways = [(CUT, _spans(group, cut=True), n, positives)]
    if (plain := [k for k in PLAIN if k in spans]) and "specificity" not in spans:
        for means in ("macro", "weighted"):
            if not {f"{means} {kind}" for kind in plain} & {*spans}:
                told = f"{', '.join(plain)} are {means} means"
                ways.append((told, _spans(group, means=means), n, positives))
    if "macro f1" in spans:
        told = "the macro F1 is the F1 of the mean precision and recall"
        ways.append((told, _spans(group, f1="f1 of means"), n, positives))
    if positives is not None:
        ways.append(("the other class counts as positive", spans, n, n - positives))
    others = [m for m in sizes(group[0], every) if 2 <= m <= stats.LARGEST][:3]
    ways += [(f"its n is {m}, as elsewhere in the table", spans, m, positives) for m in others]
    ways = [
        (told, True)
        for told, *given in ways
        if stats.matrices(given[1], given[0], given[2], seconds).count
    ]
    if not ways:  # what allows most comes last
        share = None if positives is None else positives / n
        several = stats.means_of_several(spans, share)
        ways = [("they are means over several matrices, as of folds, raters or runs", several)]
    return ways


def _others(group, seconds):
    """What each score could be, given the others: the nearest printable value, and how many."""
    if len(group) == 1:
        return "", "one score alone: nearly every value is possible"
    near, able = [], []
    for r in group:
        spans, step = _spans([x for x in group if x is not r]), float(r.number.step * r.unit)
        rest = stats.matrices(r.n, spans, _positives(group), seconds)
        values = rest.values(r.kind) / step
        if len(values) and rest.complete:
            up, down = np.floor(values + 0.5 + 1e-7), np.ceil(values - 0.5 - 1e-7)
            digits = np.union1d(up, down)
            best = digits[abs(digits - round(float(r.number.value / r.number.step))).argmin()]
            near.append(f"{r.kind} {r.number.printed(best * float(r.number.step))}")
            able.append(f"{r.kind}: {len(digits)} of {round(1 / step) + 1}")
    told = f"printable values possible, given the others: {'; '.join(able)}"
    return " or ".join(near), told * bool(able)


def positives(groups: list[list[Row]], found: list[stats.Fits | str], seconds: float) -> Result:
    """Whether rows that share their items can have the same number, or share, of positives."""
    check, n = "rows that share positives", {group[0].n for group in groups}
    lacking = [group[0].row for group, fits in zip(groups, found) if isinstance(fits, str)]
    sized = len(groups) > 1 and len(n) == 1 and not lacking
    if sized:
        if not all(fits.complete for fits in found):
            return untestable(check, f"the search took longer than {seconds:g} seconds")
        size, sets = n.pop(), [set(fits.runs[:, 0].tolist()) for fits in found]
        lacking = [group[0].row for group, counts in zip(groups, sets) if not counts]
        if lacking:
            return untestable(check, f"{lacking[0]} has no matrix by itself")
        ends = [(min(counts), max(counts)) for counts in sets]
        turned = [{size - p for p in counts} for counts in sets]
        meet, more, of = set.intersection, (), f"Positives of {size}"
    else:
        why = f"{lacking[0]} can't be tested" if lacking else "two rows of the same n are needed"
        ranges = [stats.score_ranges(_spans(group)) for group in groups]
        if len(groups) < 2 or None in ranges:
            return untestable(check, why)
        sets = ends = [made["positives"] for made in ranges]
        if _meet(*ends):
            return untestable(check, why)
        turned = [(1 - high, 1 - low) for low, high in ends]
        meet, more, of = _meet, [(SEVERAL, True)], "Shares of positives"
    one = any(meet(*sets[:k], way, *sets[k + 1 :]) for k, way in enumerate(turned))
    told = [f"{g[0].row}: {number(low)} to {number(high)}" for g, (low, high) in zip(groups, ends)]
    common = meet(*sets)
    lines = f"{of} that each row allows: {'; '.join(told)}.", "" if common else "None is in all."
    power = f"{len(common)} of {len(set.union(*sets))}" if sized else "bounds only"
    return decided(
        check, bool(common), [(TURNED, one), *more], lines, "", power, ONE + "the same items"
    )


def _meet(*ends):
    return max(low for low, _ in ends) <= min(high for _, high in ends)


# ---- of any size


RULES = [  # what scores break also as means over classes, folds, raters or runs
    (
        f"{mean}f1",
        [f"{mean}precision", f"{mean}recall"],
        stats.mean_f1_range,
        f"given {mean}precision and recall, {mean}F1 can be {{}} to {{}}, also as a mean of F1",
    )
    for mean in ("", "macro ", "weighted ")
]
RULES += [
    (
        "accuracy",
        ["weighted recall"],
        lambda recall: recall,
        "the weighted recall is the accuracy, whatever the classes",
    ),
]
OF_TWO = [
    (
        "macro recall",
        ["recall", "specificity"],
        lambda a, b: ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2),
        "the macro recall is the mean of recall and specificity",
    ),
    (
        "accuracy",
        ["recall", "specificity"],
        lambda a, b: (a[0] + b[0] - 1, a[1] + b[1]),
        "the accuracy is at most recall and specificity together",
    ),
    (
        "accuracy",
        ["macro recall"],
        lambda both: (2 * both[0] - 1, 2 * both[1]),
        "the accuracy is at most twice the macro recall",
    ),
]


def _broken(spans, classes):
    """Which rule scores break that also holds of means over several matrices; empty if none."""
    for score, of, formula, told in RULES + OF_TWO * (classes == 2):
        if score in spans and (formula is stats.mean_f1_range or {*of} <= {*spans}):
            ends = formula(*(spans.get(name, stats.WHOLE) for name in of))
            if not stats.meet(spans[score], ends):
                return told.format(*map(number, ends))
    return ""


def _of_any_size(check, group, why):
    """Scores of one matrix of unknown size, or too large to be searched; why: what is lacking."""
    for r in group:
        if far := outside(check, r):
            return far
    classes, spans = _given(group, "classes", 0), _spans(group)
    if len(group) == 1 or len(spans) < len(group):
        return untestable(check, why)
    two, broken = classes in (0, 2), _broken(spans, classes)
    fits = two and not broken and stats.score_ranges(spans) is not None
    known = why == NO_N and {*spans} <= stats.LINES.keys()  # of others there are bounds only
    if not broken and (not two or (fits and not known)):
        return untestable(check, why)
    ways = [(SEVERAL, not broken)]
    bare = {kind: ends for kind, ends in spans.items() if kind != "kappa"}
    if not broken and "kappa" in spans and two and stats.score_ranges(bare):
        ways.insert(0, ("kappa is weighted, or of more than two classes", classes != 2))
    can = []
    for r in group if two else ():
        ends = stats.score_ranges({kind: x for kind, x in spans.items() if kind != r.kind})
        if ends and (ends[r.kind][0] > 0 or ends[r.kind][1] < 1):
            low, high = (r.number.printed(end / r.unit) for end in ends[r.kind])
            can.append(f"{r.kind} can be {low} to {high}")
    near = " or ".join(can)
    what = "no data print" if broken else f"{'some' if fits else 'no'} 2x2 matrix prints"
    told = broken or f"Given the others, {near or 'none of them alone explains it'}"
    lines = f"{_listed(group)}: {what} so, of any n.", f"{told[0].upper()}{told[1:]}."
    condition = "all averaged alike, whatever the classes" if broken else f"{ONE}any n"
    near = "" if fits else near
    return decided(check, fits, ways, lines, near, f"by rounding only: {why}", condition)


# ---- kappa


GIVEN = {1: ["accuracy"], 2: ["positives", "predicted"]}  # by how many rows it is of
GIVEN[3] = GIVEN[1] + GIVEN[2]


def _counted(row):
    return row.kind == "count" and bool(row.n)


def _share(row, cut=False):
    """The range of a share, or of the share that a count of n is."""
    return (row.number.value / row.n,) * 2 if _counted(row) else row.span(cut)


def kappa(row: Row, seconds: float) -> Result:
    """Whether kappa is possible, given the agreement, both raters' yes, or all three.

    Each is a share, or a count of n.
    """
    if far := outside("kappa", row):
        return far
    if len(row.of) not in GIVEN or not all(r.kind in SHARES or _counted(r) for r in row.of):
        return untestable("kappa", "name in `of` the agreement, both raters' shares, or all three")
    n = next((r.n for r in (row, *row.of) if r.n), 0)
    classes, printed = row.settings.get("classes", 0), row.span()
    names = GIVEN[len(row.of)]
    if classes > 2 and "accuracy" not in names:
        return untestable("kappa", "it needs two classes, or the agreement")
    spans = dict(zip(names, map(_share, row.of)))
    agreed = spans.get("accuracy", stats.WHOLE)
    raters = [spans.get(name, stats.WHOLE) for name in GIVEN[2]]
    ends = stats.kappa_range(agreed, *raters * (classes <= 2))
    if classes > 2 and ends:
        ends = ends[0], min(Fraction(1), agreed[1])
    sized, searched, power = classes <= 2 and 2 <= n <= stats.LARGEST, None, ""
    find = partial(stats.matrices, n, positives=None, seconds=seconds)
    if sized:
        searched, tables = find(spans | {"kappa": printed}), find(spans)
        if not searched.complete and not searched.count:
            return untestable("kappa", f"the search took longer than {seconds:g} seconds")
        values, step = tables.values("kappa"), float(row.number.step * row.unit)
        if tables.complete and not tables.count:
            ends = None
        if len(values):
            ends = values[0], values[-1]
            possible = len(np.unique(np.round(values / step)))
            power = f"{possible} of {round(2 / step) + 1} printable values are possible"
    given = ", ".join(r.text for r in row.of) + f" of {n}" * (n > 0)
    condition = f"unweighted; {classes if classes > 2 else 'two'} classes"
    if not ends:
        cut = {name: _share(r, cut=True) for name, r in zip(names, row.of)}
        fits = sized and find(cut | {"kappa": row.span(True)}).count > 0
        lines = f"Given {given}: no table of two classes.", f"Printed is {row.text}."
        ways, near, fits = (
            [(CUT, fits), ("there are more than two classes", classes == 0)],
            "",
            False,
        )
    else:
        fits = searched.count > 0 if power else stats.meet(printed, ends)
        more = classes == 0 and printed[0] <= agreed[1]  # no kappa lies above the agreement
        ways = [("there are more than two classes", more)]
        ways.append(("it is weighted, with more than two classes", classes != 2 and not more))
        told = f"Given {given}, kappa can be {number(ends[0])} to {number(ends[1])}."
        lines = told, f"Printed is {row.text}."
        near = min(max(float(row.exact), float(ends[0])), float(ends[1])) / float(row.unit)
        near = row.number.printed(near)
    return decided("kappa", fits, ways, lines, near, power, condition)
