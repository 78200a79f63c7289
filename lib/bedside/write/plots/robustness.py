"""How far a result carries: over a judge's errors, and over the choices of an analysis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from bedside import stats

from .labels import SMALL, label_beside
from .look import DASHES, MARKS, floats, if_empty, label, titled
from .palette import BLUE, CARD, CONTEXT, GRID, INK, SOFT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def regions(
    ax: Axes,
    curves: pd.DataFrame,
    judges: pd.DataFrame | None = None,
    *,
    least: float = 0.0,
    **labels: str,
) -> Axes:
    """The plane of a judge's specificity and sensitivity, with the lines where a result turns.

    curves: name, specificity and sensitivity in 0..1, the points of each line in order; a NaN
    breaks it. judges: label, source (as in tables), specificity and sensitivity of known judges,
    as marks. least: where both axes begin. Below the dotted line a judge is no better than chance.
    """
    for (dash, ink), (name, part) in zip(cycle(DASHES), curves.groupby("name", sort=False)):
        at = part["specificity"].astype(float), part["sensitivity"].astype(float)
        ax.plot(*at, color=ink, linestyle=dash, label=name)
    chance = {"color": CONTEXT, "linestyle": ":", "linewidth": 0.8}
    ax.plot([0, 1], [1, 0], label="no better than chance", **chance)
    for source, part in () if judges is None else judges.groupby("source", sort=False):
        marker, face = MARKS.get(source, ("o", BLUE))
        look = {"markerfacecolor": face, "markeredgecolor": INK, "markersize": 6}
        ax.plot(part["specificity"], part["sensitivity"], marker, label=label(source), **look)
        for r in part.to_dict("records"):
            label_beside(ax, r["label"], (r["specificity"], r["sensitivity"]))
    room = 0.03 * (1 - least)
    ax.set_xlim(least - room, 1 + room)
    ax.set_ylim(least - room, 1 + room)
    return titled(ax, **{"xlabel": "specificity", "ylabel": "sensitivity"} | labels)


def choices(
    axes: Sequence[Axes],
    frame: pd.DataFrame,
    by: Sequence[str],
    *,
    null: pd.DataFrame | None = None,
    **labels: str,
) -> Sequence[Axes]:
    """A specification curve: one result under each combination of choices, in order of its size.

    axes: the upper one has the results, the lower one the choices behind each. frame: value, low
    and high (or NaN), and a column of names for each of `by`; its column `usual`, if it is there,
    is true for the hollow mark of the paper's own. null: low and high, a row
    for each place in the order, between which results lie where there is no effect.
    """
    above, below = axes
    levels = [(choice, level) for choice in by for level in dict.fromkeys(frame[choice])]
    frame = floats(frame).sort_values("value", key=stats.drop_noise, kind="stable")
    frame = frame.reset_index(drop=True)
    none = frame["value"] != frame["value"]
    hollow = frame["usual"].astype(bool) if "usual" in frame else none
    if null is not None:
        edges = null["low"].astype(float), null["high"].astype(float)
        band = {"color": GRID, "label": "no effect: 95% of permutations"}
        above.fill_between(range(len(null)), *edges, zorder=0, **band)
    above.axhline(0, color=CONTEXT, linewidth=0.8)
    above.vlines(frame.index, frame["low"], frame["high"], color=SOFT, linewidth=0.8)
    for mine, marker, face, name in (
        (~hollow, "o", BLUE, "another choice"),
        (hollow, "D", CARD, "the paper's choices"),
    ):
        look = {"markerfacecolor": face, "markeredgecolor": INK, "markersize": 4.5}
        if mine.any():
            above.plot(frame.index[mine], frame["value"][mine], marker, label=name, **look)
    if_empty(above, frame["value"])
    above.set_xticks([])
    _grid(below, frame, levels)
    for ax in axes:
        ax.set_xlim(-0.8, len(frame) - 0.2)
    titled(above, **labels)
    return axes


def _grid(ax, frame, levels):
    """A line for each choice, with a stroke under each result that it is behind."""
    place, names, last = 0.0, {}, levels[0][0]
    for choice, level in levels:
        place, last = place - 1 - 0.6 * (choice != last), choice
        at = frame.index[frame[choice] == level]
        ax.plot(at, [place] * len(at), "|", color=INK, markeredgewidth=1.2)
        names[place] = f"{choice}: {level}"
    ax.set_yticks(list(names), list(names.values()), fontsize=SMALL)
    ax.set_ylim(place - 1, 0)
    ax.set_xticks([])
    ax.grid(False)
