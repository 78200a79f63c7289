"""Figures in one style; published marks are hollow, computed ones filled, also in grey print.

    figure, ((ax,),) = plots.figure((7, 3))
    plots.dots(ax, rows, xlabel="accuracy", limits=(0, 1))
    plots.legend_below(figure)
    plots.save(figure, path, "Accuracy by model")

A chart takes an axes, a long frame (row, column or series, source, value, low, high) and labels:
title, xlabel, ylabel. It returns the axes. Figures are at most WIDE inches wide, so that pages
show their type, of SMALL points or more, in its size; a narrow drawing is NARROW inches wide.
Colours are those of the palette and their tints: a saved SVG has them for dark screens too.
"""
# ruff: noqa: F401

from .bar_charts import bars
from .labels import SMALL, label_beside
from .line_charts import curves
from .look import (
    DASHES,
    MARKS,
    NARROW,
    WIDE,
    Picture,
    figure,
    fitted,
    floats,
    if_empty,
    label,
    legend_below,
    legend_right,
    marks,
    picture,
    save,
    titled,
)
from .mark_charts import dots, plane
from .matrices import changes, confusion, confusions, heat
from .palette import BLUE, CARD, CONTEXT, GRID, INK, MID, ON_DARK, ON_LIGHT, RED, SOFT, tint
from .robustness import choices, regions
