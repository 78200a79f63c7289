"""Labels of marks, placed so that they cover neither marks nor lines nor each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .palette import CONTEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 8.25  # points, 11 pixels on a page: no type is smaller
BESIDE = "_beside"  # no entry of a legend
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
STEPS = (7, 14, 24, 36, 50)  # points between a mark and its label; a line joins those apart
MARK, LINE, GAP = 10, 3, 3  # pixels across a mark, across a line, around a label
LEADER = {"arrowstyle": "-", "color": CONTEXT, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4}
ACROSS = {1: "left", 0: "center", -1: "right"}
UP = {1: "bottom", 0: "center", -1: "top"}


def label_beside(ax: Axes, text: str, at: tuple[float, float]) -> None:
    """A label beside the mark at `at` (data); `arrange` puts it where it covers least."""
    made = ax.annotate(
        text, at, (0, 0), textcoords="offset points", fontsize=SMALL, arrowprops=LEADER
    )
    made.set(label=BESIDE, in_layout=False)


def arrange(ax: Axes) -> None:
    """Put each label made by `label_beside` on the side of its mark where it covers least."""
    labels = [t for t in ax.texts if t.get_label() == BESIDE]
    if not labels:
        return
    others = [t for t in ax.texts if t not in labels and t.get_text()]
    taken = [t.get_window_extent().extents for t in others] + [_square(*p) for p in _drawn(ax)]
    places = [(step, *side) for step in STEPS for side in SIDES]
    for text in labels:
        costs = [_cost(ax, _boxes(ax, text, place), taken) + place[0] for place in places]
        best = places[costs.index(min(costs))]
        taken += _boxes(ax, text, best)
        text.arrow_patch.set_visible(best[0] > STEPS[0])


def _boxes(ax, text, place):
    """Move a label to a place (step, across, up); return what its text and line cover there."""
    from matplotlib.text import Text

    step, across, up = place
    text.set(position=(step * across, step * up), ha=ACROSS[across], va=UP[up])
    start, far = ax.transData.transform(text.xy), step * text.figure.dpi / 72
    ends = start + [across * MARK, up * MARK], start + [across * far, up * far]
    line = _along(*ends) if step > STEPS[0] else []
    own = Text.get_window_extent(text).padded(GAP).extents
    return [own, *(_square(point, LINE) for point in line)]


def _cost(ax, boxes, taken):
    """The pixels that boxes cover of what is taken, plus three times those outside the axes."""
    outside = _common(boxes[:1], boxes[:1]) - _common(boxes[:1], [ax.bbox.extents])
    return round((_common(boxes, taken) if taken else 0) + 3 * outside)


def _common(boxes, others):
    """The area that boxes share with others, summed; a box: left, low, right, high."""
    import numpy as np

    a, b = np.array(boxes)[:, None], np.array(others)[None]
    sides = np.minimum(a, b)[..., 2:] - np.maximum(a, b)[..., :2]
    return sides.clip(min=0).prod(-1).sum()


def _drawn(ax):
    """Points (pixels) that labels avoid, each with a width: marks, lines, arrows."""
    paths = [ax.transData.transform([t.xy, t.xyann]) for t in ax.texts if not t.get_text()]
    for line in (line for line in ax.lines if line.zorder > 0):
        points = line.get_transform().transform(line.get_xydata())
        if line.get_marker() not in ("None", "", None):
            yield from ((p, MARK) for p in points if (p == p).all())
        if line.get_linestyle() != "None":
            paths.append(points)
    for whiskers in ax.collections:
        if hasattr(whiskers, "get_segments"):
            paths += [whiskers.get_transform().transform(s) for s in whiskers.get_segments()]
    for path in paths:
        for a, b in zip(path, path[1:]):
            yield from ((p, LINE) for p in _along(a, b))


def _along(a, b):
    """Points from a to b, LINE pixels apart."""
    length = abs(b - a).max()
    steps = int(length // LINE) if length == length else 0
    return [a + (b - a) * k / max(steps, 1) for k in range(steps)]


def _square(middle, width):
    x, y = middle
    return [x - width / 2, y - width / 2, x + width / 2, y + width / 2]
