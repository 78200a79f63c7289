"""Figures in one style; published marks are hollow, computed ones filled, also in grey print.

    figure, ((ax,),) = plots.figure((7, 3))
    plots.dots(ax, rows, xlabel="accuracy", limits=(0, 1))
    plots.legend_below(figure)
    run.figure("fig1_accuracy", figure, rows, "Accuracy by model")

A chart takes an axes, a long frame (row, column or series, source, value, low, high) and labels:
title, xlabel, ylabel. It returns the axes. Figures are at most 9 inches wide, so that pages show
their type, of 8 points or more, in its size.
"""
# ruff: noqa: F401

from .bar_charts import bars, histogram, stacked
from .line_charts import curves, growth, levels
from .look import Picture, figure, label, legend_below, legend_right, picture, remark, save
from .mark_charts import dots, plane, points
from .matrices import confusion, confusions, heat
