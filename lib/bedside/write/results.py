"""Results of a notebook as rows, and the one way in which they are written and shown.

    ours = means(graded, {"precision": "Precision"}, row="{model}")
    show(run, "table1", "Table 1: free-form lists", published(run, "Table 1"), ours, judged=True)

A row has the columns of `tables.COLUMNS`: its labels `row` and `column`, its `source`, value, low,
high, n, unscored, worst and best. Rows keep the keys of their groups as further columns.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from bedside import BedsideError, choose, stats
from bedside.asking.models import DRY
from bedside.read.checks import complete, groups, numbers

from .layouts import Layout
from .tables import COLUMNS, Row, card_rows, frame, share, unit_column

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def published(run: Any, *tables: str, n: int | None = None) -> pd.DataFrame:
    """Printed tables of the run's paper as rows, with their printed intervals; n: behind each."""
    rows = run.published(*tables)
    return rows.assign(source="published", n=n).drop(columns=["table", "note"])


def points(values: Mapping | pd.DataFrame, source: str, n: int | None = None) -> pd.DataFrame:
    """Numbers as rows: {(row, column): number or `stats.Interval`}, or a frame of numbers.

    n: behind each number that isn't an interval. A missing number is left out of a frame, and kept
    of a mapping.
    """
    if not isinstance(values, Mapping):
        values = values.stack().dropna().to_dict()
    rows = []
    for (row, column), v in values.items():
        many = isinstance(v, tuple)
        rows.append((row, column, source, *(v[:4] if many else (v, None, None, n))))
    return frame(rows)


def cards(
    measured: Mapping[str, dict], labels: Mapping[str, str], guesser: str = "constant guesser"
) -> pd.DataFrame:
    """Trust cards {row: card} as rows: shares in percent and kappas, {measure: its column}.

    guesser: the row of the constant guesser beside the last of these cards.
    """
    rows = [r for name, card in measured.items() for r in card_rows(name, card, labels)]
    card = list(measured.values())[-1]
    for key, label in labels.items():
        if f"guesser_{key}" in card:
            value = card[f"guesser_{key}"] * (1 if "kappa" in key else 100)
            rows.append(Row(guesser, label, "run", value, n=card["n"], unscored=0))
    return frame(rows)


def means(
    scores: pd.DataFrame,
    metrics: Mapping[str, str],
    row: str = "{model}",
    column: str = "{metric}",
    *,
    source: str = "run",
    scale: tuple[float, float] = (0.0, 1.0),
) -> pd.DataFrame:
    """Means of scores as rows, by the keys that the labels name, with 95% intervals over units.

    metrics: {column of `scores`: its name}. row, column: the labels as format strings over the keys
    and `{metric}`, such as "{model}, {regime}". Booleans (nullable ones with missing values) are
    shares in percent (`stats.share`); numbers are means on `scale`, the worst and the best score
    (`stats.mean`), without an upper end where they exceed it. A missing value is unscored. Units:
    the column `unit`, or else `item`. n: items with a value; of shares, values. worst, best: the
    mean if all unscored had been that. A group without any value has no mean and n 0.
    """
    import pandas as pd

    by, cluster = _keys(row + column), unit_column(scores)
    for name in (*by, *metrics, cluster):
        choose(name, list(scores), "column of the scores")
    yes_or_no = {m: _yes_or_no(scores, m) for m in metrics}
    scores = numbers(scores, [m for m in metrics if not yes_or_no[m]])
    rows = []
    scores = complete(scores, ["item", cluster], by)  # a part of a label may be empty
    for key, part in scores.groupby(by, sort=False) if by else [((), scores)]:
        names = dict(zip(by, key))
        for m, name in metrics.items():
            if yes_or_no[m]:
                found = _share(part[m], part[cluster])
            else:
                top = float("inf") if scores[m].max() > scale[1] else scale[1]
                found = _mean(part, m, cluster, scale, top)
            labels = {
                "row": row.format(**names, metric=name),
                "column": column.format(**names, metric=name),
            }
            rows.append({**labels, "source": source, **found, **names, "metric": m})
    return pd.DataFrame(rows).reindex(columns=[*COLUMNS, *by, "metric"])


def _yes_or_no(scores, metric):
    """Whether a metric is of booleans, also as objects beside missing values."""
    import pandas as pd

    return pd.api.types.infer_dtype(scores[metric], skipna=True) == "boolean"


def _keys(form):
    """The fields of a label but `metric`, each once."""
    fields = dict.fromkeys(name for _, name, *_ in string.Formatter().parse(form) if name)
    return [name for name in fields if name != "metric"]


def _mean(part, metric, cluster, scale, top):
    """What a row has of numbers. top: the upper end of the interval's scale."""
    got = part.dropna(subset=[metric])
    x, lost = got[metric].to_numpy(float), len(part) - len(got)
    found = {"n": got["item"].nunique(), "unscored": lost}
    if len(x):
        i = stats.mean(x, got[cluster].to_numpy(), scale=(scale[0], top))
        found |= {"value": i.value, "low": i.low, "high": i.high}
    if lost:
        found["worst"], found["best"] = ((x.sum() + end * lost) / len(part) for end in scale)
    return found


def _share(yes, units):
    """What a row has of booleans, in percent; it has `unscored` where some are."""
    got = yes.notna()
    hits, lost = yes[got].to_numpy(bool), int((~got).sum())
    found = dict(zip(("value", "low", "high", "n"), share(hits, units[got].to_numpy())))
    if lost:
        ends = {"worst": hits.sum(), "best": hits.sum() + lost}
        found |= {"unscored": lost, **{k: 100 * end / len(yes) for k, end in ends.items()}}
    return found


def paired(
    first: pd.DataFrame,
    second: pd.DataFrame,
    metrics: Mapping[str, str],
    run: Any,
    table: str,
    *,
    row: str = "{model}",
    on: Collection[str] = ("item",),
) -> pd.DataFrame:
    """Mean differences, second minus first, of rows that share `on` and the keys of the label.

    Rows with the columns "Δ name" (as `means`, of booleans in percentage points), and "p of Δ name,
    Holm" of paired permutation tests over units, corrected over all groups and metrics. table: the
    fixed id that names the streams of random numbers, one for each metric. A group without a pair
    has no p, and n 0.
    """
    import pandas as pd

    keys = list(dict.fromkeys([*_keys(row), *on]))
    cluster = [c for c in ("item", "unit") if c in first and c not in keys]
    points = {m: 100.0 if _yes_or_no(first, m) else 1.0 for m in metrics}
    both = first[[*keys, *cluster, *metrics]].merge(
        second[[*keys, *metrics]], on=keys, suffixes=("", "_new"), validate="one_to_one"
    )
    apart = {m: both[f"{m}_new"].astype(float) - both[m].astype(float) for m in metrics}
    changes = both[[*keys, *cluster]].assign(**{m: points[m] * x for m, x in apart.items()})
    found = tested(changes, metrics, run, table, row=row, points=points)
    lone = first[_keys(row)].drop_duplicates().astype(str).to_dict("records")
    lone = dict.fromkeys(row.format(**keys) for keys in lone if row.format(**keys))
    lone = [label for label in lone if label not in set(found["row"])]
    none = [
        (label, form.format(name), "run", None, None, None, 0)
        for label in lone
        for name in metrics.values()
        for form in (DIFFERENCE, CHANCE)
    ]
    return pd.concat([found, frame(none)], ignore_index=True) if none else found


DIFFERENCE, CHANCE = "Δ {}", "p of Δ {}, Holm"  # columns


def tested(
    changes: pd.DataFrame,
    metrics: Mapping[str, str],
    run: Any,
    table: str,
    *,
    row: str = "{model}",
    points: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """`paired` of differences that are there already, a column for each metric.

    points: the largest difference of a metric, if it isn't 1.
    """
    import pandas as pd

    cluster, parts, p = unit_column(changes), [], []
    for m, name in metrics.items():
        most = (points or {}).get(m, 1.0)
        parts.append(means(changes, {m: DIFFERENCE.format(name)}, row, scale=(-most, most)))
        for key, part in groups(changes, _keys(row), ["item"]):
            got, chance = part.dropna(subset=[m]), float("nan")
            if len(got):
                x, units = got[m].to_numpy(float), got[cluster].to_numpy()
                chance = stats.paired_permutation(x, 0 * x, run.rng(table, m), units=units)
            label, n = row.format(**dict(zip(_keys(row), key))), got["item"].nunique()
            p.append((label, CHANCE.format(name), "run", chance, None, None, n))
    p = frame(p)
    p["value"] = stats.holm(p["value"].to_numpy(float))
    return pd.concat([*parts, p], ignore_index=True)


def show(
    run: Any,
    name: str,
    title: str,
    *parts: pd.DataFrame | None,
    note: str = "",
    judged: bool | tuple[str, ...] = False,
    layout: Layout | None = None,
    figure: Callable[..., Figure] | None = None,
    headline: str = "",
    **drawing: Any,
) -> None:
    """Write a table from its parts (CSV, Markdown), and a figure of it, and display it.

    note: a sentence on what is shown, of what, with which interval; a line on the run's models and
    its judge follows. judged: whether, or for which tasks, the judge's card belongs there. layout:
    what readers see, by default the rows as lines, printed above computed, and the columns. figure:
    draws the rows, such as `charts.forest`; it gets them and `drawing`. narrow=True among these:
    once more for narrow screens, with `width`. headline: the figure's message, a sentence on its
    printed or recomputed numbers; where a run has marks or settings of its own, `title` stands
    alone. Plans and request files write and draw nothing.
    """
    import pandas as pd

    if run.mode in DRY:
        return
    found = [p for p in parts if p is not None and len(p)]
    if not found:
        raise BedsideError(f"{name}: a table needs rows, each with row, column and source")
    from IPython.display import display

    from .plots import NARROW

    shown = pd.concat(found, ignore_index=True)
    about = {"caption": note, "judged": judged, "layout": layout}
    if figure is None:
        display(run.table(name, shown, title, **about))
        return
    widths = [{}, {"width": NARROW}][: 1 + drawing.pop("narrow", False)]
    made = [figure(run.rows_to_draw(shown), **drawing, **width) for width in widths]
    about |= {"narrow": made[-1] if len(made) > 1 else None, "headline": headline}
    display(run.figure(name, made[0], shown, title, **about))
