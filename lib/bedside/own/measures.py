"""Measures beside the scores: repeats, criteria of rubrics, judges that disagree, other scorers.

What they and the scores share comes first.
"""

from __future__ import annotations

from bedside import stats
from bedside.read.checks import complete, groups, scored
from bedside.write import plots, tables
from bedside.write.tables import Row, share

from .items import of_scorers
from .study import ANSWER


def judges_in(own, graded):
    """(judge, what its columns end in, its rows) for each judge of a study."""
    there = set(complete(graded, [], ["judge"])["judge"])
    return [(j, ending(own, j), graded[graded["judge"] == j]) for j in own.judges if j in there]


def ending(own, judge):
    return f" ({judge})" if len(own.judges) > 1 else ""


def estimate(own, values, units, hits):
    """A share, or a mean of scores, in percent with its interval over units."""
    if hits:
        return share([v == 1 for v in values], list(units))
    if not len(values):
        return (float("nan"),) * 3 + (0,)
    scale = (100 * own.lowest, 100)
    return tuple(stats.mean([100 * v for v in values], list(units), scale=scale))


def repeats(own, graded):
    """How answers to the same question vary, for models that were asked repeatedly: table rows.

    The variance of scores from 0 to 1 between and within questions (`stats.components`); the worst
    of a question's answers, in percent over questions; and how many questions, or criteria of a
    question, were answered both ways. unscored: questions that a lacking verdict leaves open.
    """
    rows = []
    for _, ending, mine in judges_in(own, graded):
        for model, part in mine.groupby("model", sort=False):
            if part["configuration"].nunique() > 1:
                rows += _repeated(own, part, model, ending)
    return tables.frame(rows)


def _repeated(own, part, model, ending):
    came, n = scored(part), part["item"].nunique()
    between, within = stats.components(came["value"].to_numpy(float), came["item"])
    yield Row(model, f"variance between questions{ending}", "run", between, n=n)
    yield Row(model, f"variance within a question{ending}", "run", within, n=n)
    worst = []
    for _, same in part.groupby("item", sort=False):
        value, whole = scored(same)["value"], (same["status"] == "graded").all()
        known = whole or (not own.criteria and 0 in set(value))
        worst.append((same["unit"].iloc[0], value.astype(float).min() if known else None))
    both = _varying(points_of(own, part), ["item", "id"])
    what = "criteria met both ways, %" if own.criteria else "answered both ways, %"
    worst_of = f"worst of {part['configuration'].nunique()}: {own.measure}"
    for label, found, hits in ((worst_of, worst, not own.criteria), (what, both, True)):
        yield _known(own, model, label + ending, found, hits)


def _varying(points, same, whole_only=False):
    """(unit, whether the verdicts differ) of what is named alike; None if a lacking one decides.

    whole_only: None wherever one lacks.
    """
    for _, verdicts in points.groupby(same, sort=False):
        differ = scored(verdicts)["value"].astype(float).nunique() > 1
        whole = (verdicts["status"] == "graded").all()
        yield verdicts["unit"].iloc[0], differ if whole or (differ and not whole_only) else None


def _known(own, model, label, found, hits=True):
    """The row of a mean over (unit, value or None)."""
    found = list(found)
    kept = [(unit, value) for unit, value in found if value is not None]
    units, values = zip(*kept) if kept else ((), ())
    value = estimate(own, values, units, hits)
    return Row(model, label, "run", *value, len(found) - len(kept))


def points_of(own, graded, scales=False):
    """A row for each criterion with points of each answer, or of each scale; or the answers."""
    import pandas as pd

    if not own.criteria:
        return graded.assign(id="")
    names = [*ANSWER, "unit", "judge"]
    rows = [
        dict(zip(names, row)) | c
        for *row, criteria in graded[[*names, "criteria"]].itertuples(index=False)
        for c in criteria
        if bool(c["levels"]) == scales
    ]
    columns = [*names, "id", "group", "points", "levels", "status", "value"]
    return pd.DataFrame(rows, columns=columns)


def criteria(own, graded):
    """Which criteria of a rubric answers meet, by group, and the levels of scales: table rows.

    In percent of the answers' criteria, those with negative points apart.
    """
    rows = []
    for _, ending, mine in judges_in(own, graded) if own.criteria else []:
        points = points_of(own, mine)
        kind = points["points"].map(lambda p: "" if p > 0 else " (negative points)")
        named = points["group"].where(points["group"] != "", "criteria") + kind
        for (model, name), part in points.assign(name=named).groupby(["model", "name"], sort=False):
            rows.append(_met(model, f"{name}: met, %{ending}", part, 1))
        scales = points_of(own, mine, scales=True)
        for (model, id), part in scales.groupby(["model", "id"], sort=False):
            for number, level in enumerate(part["levels"].iloc[0]):
                rows.append(_met(model, f"{id}: {level}, %{ending}", part, number))
    return tables.frame(rows)


def _met(model, label, part, value):
    came = scored(part)
    hits = (came["value"].astype(int) == value).tolist()
    return Row(model, label, "run", *share(hits, came["unit"].tolist()), len(part) - len(came))


def disagreement(own, graded):
    """On how many answers, or criteria of answers, judges differ, in percent: table rows.

    Those that all of them scored; unscored counts the others.
    """
    points, rows = points_of(own, graded[graded["judge"].isin(own.judges)]), []
    for model, part in points.groupby("model", sort=False) if len(own.judges) > 1 else []:
        varying = _varying(part, [*ANSWER, "id"], whole_only=True)
        rows.append(_known(own, model, "judges disagree, %", varying))
    return tables.frame(rows)


def elsewhere(own, graded):
    """The means of what a log's own scorers said of its answers, on their scale: table rows.

    unscored: values that are no number.
    """
    theirs, rows = of_scorers(own, graded), []
    for (model, scorer), part in groups(theirs, ["model", "judge"]) if len(theirs) else []:
        came = part[part["number"].notna()]
        value = (None, None, None, 0)
        if len(came):
            value = stats.mean(came["number"].to_numpy(float), came["unit"].to_numpy())
        rows.append(Row(model, f"{scorer}: mean", "run", *value, len(part) - len(came)))
    return tables.frame(rows)


def lengths(own, graded):
    """How the lengths of answers go with the first judge's scores: table rows.

    Of each model: Spearman's rank correlation of characters and scores, and the mean score of the
    answers of about equal length, which are the middle third of all that were scored. Empty where
    no model has a correlation, as with few or with equal scores.
    """
    came, rows = _with_length(own, graded), []
    least, most = came["characters"].quantile([1 / 3, 2 / 3]) if len(came) else (0, 0)
    for model, part in came.groupby("model", sort=False):
        varies = part["unit"].nunique() >= stats.LEAST and part["value"].nunique() > 1
        rank = part["characters"].corr(part["value"], method="spearman") if varies else None
        rows.append(Row(model, "rank correlation with length", "run", rank, n=len(part)))
        alike = part[part["characters"].between(least, most)]
        mean = estimate(own, alike["value"], alike["unit"], not own.criteria)
        rows.append(
            Row(model, f"{own.measure} ({least:.0f} to {most:.0f} characters)", "run", *mean)
        )
    return tables.frame(rows if any(r.value is not None for r in rows[::2]) else [])


def length_figure(own, graded):
    """The figure of `lengths`: a panel for each model, a point for each scored answer."""
    parts = [*_with_length(own, graded).groupby("model", sort=False)][:4]
    figure, axes = plots.figure((2.2 * len(parts) + 0.6, 2.2), 1, len(parts), sharey=True)
    for ax, (model, part) in zip(axes[0], parts):
        ax.plot(part["characters"], 100 * part["value"], "o", markersize=3, alpha=0.5)
        ax.set_title("\n".join(plots.fitted(model, 9, "normal", 140)), fontsize=9, parse_math=False)
        ax.set_xlabel("characters")
    axes[0, 0].set_ylabel("score, %")
    return figure


def _with_length(own, graded):
    came = scored(graded[graded["judge"] == own.judge])
    return came.assign(characters=came["answer"].str.len(), value=came["value"].astype(float))
