"""Checks of classifiers' scores, and of kappa, against all confusion matrices of that n.

Without n, or beyond what is searched, exact bounds decide, which hold for matrices of any size.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bedside import stats

from .rows import SCORES, SHARES, Row, sizes
from .verdicts import CUT, NO_N, Result, Untestable, decided, number

PLAIN = ("precision", "recall", "f1")
SEVERAL = "they are means over classes, folds, raters or runs"
MORE = "there are more than two classes, or kappa is weighted"
GIVEN = {1: ["accuracy"], 2: ["positives", "predicted"]}  # what a kappa is of, by how many rows
GIVEN[3] = GIVEN[1] + GIVEN[2]


class Group(NamedTuple):
    """Rows that one matrix must have, by score."""

    rows: dict[str, Row]
    n: int | None
    positives: int | str | None
    classes: int
    seconds: float
    twice: bool = False  # whether it has a score more than once

    @property
    def first(self) -> Row:
        """The row that a check is about: kappa, or the first of the scores."""
        return next(iter(self.rows.values()))

    @property
    def kind(self) -> str:
        """What a check of it is called."""
        return "kappa" if self.first.of else "scores of one matrix"

    @property
    def known(self) -> int | None:
        """The number of positives, if it is given."""
        return self.positives if isinstance(self.positives, int) else None

    @property
    def sized(self) -> bool:
        """Whether all matrices of its size can be searched."""
        return self.n is not None and 2 <= self.n <= stats.LARGEST and self.classes <= 2

    def spans(self, cut: bool = False) -> dict[str, stats.Ends]:
        """{score: its ends}."""
        return {m: _share(r, cut) for m, r in self.rows.items()}

    def search(self, spans: dict[str, stats.Ends]) -> stats.Fits:
        """The matrices of its size with these scores."""
        fits = stats.matrices(self.n, spans, self.known, self.seconds)
        if not (fits.complete or fits.count):
            raise Untestable(f"the search took longer than {self.seconds:g} seconds")
        return fits


def _share(row, cut=False):
    """The range of a share, or of the share that a count of n is."""
    counted = row.kind == "count" and row.n
    return (float(row.number.value / row.n),) * 2 if counted else row.span(cut)


def groups(rows: Iterable[Row], seconds: float) -> list[Group]:
    """Scores that one matrix must have: of the same table, row and n, if there are several.

    A lone accuracy is a share. A kappa that refers to nothing belongs to the scores of its row.
    """
    by_label, made = {}, []
    for r in rows:
        if r.kind in SCORES or (r.kind == "kappa" and not r.of):
            by_label.setdefault((r.table, r.row), []).append(r)
    for of_label in by_label.values():
        known = {r.n for r in of_label} - {None}
        by_n = {}
        for r in of_label:
            n = r.n or (min(known) if len(known) == 1 else None)
            by_n.setdefault(n, []).append(r._replace(n=n))
        for n, group in by_n.items():
            if len(group) > 1 or group[0].kind not in ("accuracy", "kappa"):
                settings = {name: v for r in reversed(group) for name, v in r.settings.items()}
                of, by_kind = settings.get("positives"), {r.kind: r for r in group}
                classes, twice = settings.get("classes", 0), len(by_kind) < len(group)
                made.append(Group(by_kind, n, of, classes, seconds, twice))
    return made


def of_kappa(row: Row, seconds: float) -> Group:
    """A kappa with what it refers to: the agreement, both raters' yes, or all three.

    Each is a share, or a count of n.
    """
    counted = [r.kind in SHARES or (r.kind == "count" and r.n) for r in row.of]
    if len(row.of) not in GIVEN or not all(counted):
        raise Untestable("name in `of` the agreement, both raters' shares, or all three")
    n = next((r.n for r in (row, *row.of) if r.n), None)
    named = dict(zip(GIVEN[len(row.of)], row.of))
    return Group({"kappa": row} | named, n, None, row.settings.get("classes", 0), seconds)


def scores(group: Group, every: Sequence[Row]) -> Result:
    """Whether one confusion matrix prints as all scores of a row."""
    spans, why = group.spans(), ""
    if group.twice:
        raise Untestable("it has a score twice; give each matrix a row of its own")
    if group.classes > 2:
        why = "more than two classes"
    elif not group.sized:
        why = f"n must be 2 to {stats.LARGEST}" if group.n else NO_N
    always, single = (_broken(spans, rules) for rules in (ALWAYS, ONE))
    if why and not always and (group.classes > 2 or not single):
        if why != NO_N or single is None:
            raise Untestable(why)
    fits = not (always or single) and (bool(why) or group.search(spans).count > 0)
    ways = [("", fits), *(() if fits else _ways(group, spans, every))]
    several = not (always or group.first.of or any(holds for _, holds in ways))
    ways.append((SEVERAL, several))  # what allows most comes last
    listed = ", ".join(f"{m} {r.text}" for m, r in group.rows.items())
    of = "any n" if why else f"{group.n} items"
    lines = [f"{listed}: {'some' if fits else 'no'} 2x2 matrix of {of} prints so."]
    if not fits:
        lines.append(always or single if why or always else _others(group))
    condition = f"two classes, both occur; one matrix of {of}"
    return decided(group.kind, ways, lines, condition)


def _others(group):
    """What each score could be, given the others."""
    can, spans = [], group.spans()
    for name, r in [("kappa", group.first)] if group.first.of else group.rows.items():
        fits = group.search({m: ends for m, ends in spans.items() if m != name})
        if fits.count:
            low, high = (r.number.printed(end / float(r.unit)) for end in fits.ends(name))
            can.append(f"{name} can be {low} to {high}")
    return f"Given the others, {' or '.join(can) or 'none of them alone explains it'}."


def _ways(group, spans, every) -> Iterator[tuple[str, bool]]:
    """Other readings of a group: (the condition, whether it then fits)."""
    plain = [m for m in PLAIN if m in spans and "specificity" not in spans]
    meant = [(CUT, group.spans(cut=True), group)]
    for mean in ("macro", "weighted") if plain else ():
        names = {m: f"{mean} {m}" if m in plain else m for m in spans}
        if len({*names.values()}) == len(spans):
            renamed = {names[m]: ends for m, ends in spans.items()}
            meant.append((f"{', '.join(plain)} are {mean} means", renamed, group))
    if "macro f1" in spans:
        renamed = {m.replace("macro f1", "f1 of means"): ends for m, ends in spans.items()}
        text = "the macro F1 is the F1 of the mean precision and recall"
        meant.append((text, renamed, group))
    if group.known is not None:
        other = group._replace(positives=group.n - group.known)
        meant.append(("the other class counts as positive", spans, other))
    for m in [m for m in sizes(group.first, every) if 2 <= m <= stats.LARGEST][:3]:
        text = f"its n is {m}, as elsewhere in the table"
        meant.append((text, spans, group._replace(n=m)))
    if "kappa" in spans and group.classes != 2:
        bare = {m: ends for m, ends in spans.items() if m != "kappa"}
        yield MORE, not _broken(bare, ALWAYS)
    for text, of, sized in meant if group.sized else ():
        yield text, sized.search(of).count > 0


def _f1_of_means(precision, recall):
    """No mean of harmonic means lies above that of the means, nor below its corners' plane."""
    (a, b), (c, d) = precision, recall
    return max(0.0, a + c - 1), _f1(b, d)


def _f1(p, r):
    return stats.harmonic(p, r) if p > 0 and r > 0 else 0.0


# what a score can be, {score: ([the others], formula of their ends)}: always, as of means over
# classes, folds, raters or runs, and of one matrix
ALWAYS = {
    f"{mean}f1": ([f"{mean}precision", f"{mean}recall"], _f1_of_means)
    for mean in ("", "macro ", "weighted ")
} | {
    "accuracy": (["weighted recall"], lambda recall: recall),
    "kappa": (["accuracy"], lambda agreement: (-1.0, agreement[1])),
}
ONE = {
    "f1": (["precision", "recall"], lambda p, r: (_f1(p[0], r[0]), _f1(p[1], r[1]))),
    "accuracy": (["recall", "specificity"], lambda a, b: (min(a[0], b[0]), max(a[1], b[1]))),
    "macro recall": (
        ["recall", "specificity"],
        lambda a, b: ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2),
    ),
    "kappa": (GIVEN[3], stats.kappa_range),
}


def _broken(spans, rules):
    """The first of the rules that scores break, in words; empty if none, None if there is none."""
    told = None
    for name, (of, formula) in rules.items():
        known = [tuple(map(float, spans[m])) if m in spans else (0.0, 1.0) for m in of]
        of = [m for m in of if m in spans]
        if name in spans and of:
            if not (ends := formula(*known)):
                return f"No table of two classes has such {', '.join(of)}."
            if not stats.meet(spans[name], ends):
                low, high = map(number, ends)
                return f"Given {', '.join(of)}, {name} can be {low} to {high}."
            told = ""
    return told


def positives(of_word: list[Group]) -> Result:
    """Whether rows that share their items can have the same number of positives."""
    if len(of_word) < 2 or len({g.n for g in of_word}) > 1 or not all(g.sized for g in of_word):
        raise Untestable("two rows of the same n are needed")
    found = [g.search(g.spans()) for g in of_word if not g.twice]
    if not all(fits.complete and fits.count for fits in found):
        raise Untestable("a row has no matrix by itself, or too many")
    n, sets = of_word[0].n, [{*fits.runs[:, 0].tolist()} for fits in found]
    turned = ([*sets[:k], {n - p for p in s}, *sets[k + 1 :]] for k, s in enumerate(sets))
    other = any(set.intersection(*way) for way in turned)
    ways = [("", set.intersection(*sets)), ("one row counts the other class as positive", other)]
    each = [f"{g.first.row}: {min(s)} to {max(s)}" for g, s in zip(of_word, sets)]
    lines = [f"Positives of {n} that each row allows: {'; '.join(each)}."]
    return decided("rows that share positives", ways, lines, "one matrix each of the same items")
