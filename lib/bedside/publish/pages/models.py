"""How models did, as a page begins with it: picture, tables, files. Its numbers: `comparison`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.publish import comparison
from bedside.read import paths, prompts
from bedside.write import plots

from . import HERE, encoded, frame, template

if TYPE_CHECKING:
    import pandas as pd

ROW = 0.26  # inches that a model takes in a panel
AROUND = 0.75  # inches that a panel takes for its title and its scale
LINE = 0.17  # a line of type
LABELS = 1.8  # inches for the models' names and what is around an axes
NAME = 20  # characters of a model's name in a line


def part(folder: Path, runs: list[comparison.Compared]) -> dict[str, Any]:
    """Write picture and CSV files into a folder; return what models.html.j2 shows of the runs."""
    made = comparison.compared(runs, folder)
    models = made["models"]
    panels = _panels(models)
    wide = _drawn(panels, plots.WIDE) if panels else None
    if wide:
        plots.save(wide, folder / "models", narrow=_drawn(panels, plots.NARROW))
    mine = models[models["source"] == "run"]
    return {
        **{kind: _plain(rows) for kind, rows in made.items()},
        "names": _sorted(mine),
        "fails_at": {s.name: s.fails_at for run in runs for s in run.studies},
        "columns": _plain(mine.drop_duplicates(["study", "measure"])),
        "judges": _plain(mine.drop_duplicates(["study", "profile", "judge"])),
        "cells": {(r["model"], r["study"], r["measure"]): r for r in _plain(mine)},
        "printed": _plain(models[models["source"] == "published"].drop_duplicates("study")),
        "lacking": comparison.lacking(runs) if len(runs) > 1 else [],
        "files": comparison.write(folder, made),
        "drawn": bool(wide),
    }


def write_compared(folder: Path, names: list[str]) -> Path:
    """Write the page that compares runs by name into a folder; return its path."""
    runs = [comparison.named(name) for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    made = part(folder, runs)
    text = template(HERE / "compared.html.j2").render(
        frame=frame({"index.html": "Compared"}, "index.html", made["names"]),
        runs=names,
        **shared(folder, made),
    )
    path = folder / "index.html"
    paths.write(path, prompts.plain(text))
    return path


def shared(folder: Path, made: dict[str, Any] | None) -> dict[str, Any]:
    """The fields of a template that shows `part`: the models, and their picture."""
    svg = {k: encoded(folder / f"models{k}.svg") for k in ("", ".narrow")} if made else {}
    title = "The models in each study"
    return {
        "models": made,
        "drawn": made
        and made["drawn"]
        and {"svg": svg[""], "narrow": svg[".narrow"], "title": title},
    }


def _plain(rows: pd.DataFrame) -> list[dict]:
    """Rows as dicts, with None where there is no value."""
    return rows.astype(object).where(rows.notna(), None).to_dict("records")


def _sorted(mine):
    """The models, by the mean of their ranks in the measures; losses count upside down."""
    value = mine["value"].where(~_loss(mine), -mine["value"].astype(float)).astype(float)
    rank = value.groupby([mine["study"], mine["measure"]]).rank(ascending=False)
    return list(rank.groupby(mine["model"], sort=False).mean().sort_values(kind="stable").index)


def _loss(rows):
    """Which rows are of a measure that is better when it is lower."""
    return rows["measure"].isin([m["name"] for m in _declared() if "less" in m])


def _declared():
    """The measures of all studies."""
    return [m for about in paths.papers().values() for m in about.get("measures", ())]


def _panels(models):
    """The panels of each measure, those that have a value: (title, rows, limits).

    Runs whose profile or judge differ have a panel each, and so have printed numbers, unless they
    rest on the items and the judge of all that is computed.
    """
    limits = {m["name"]: m.get("limits") for m in _declared()}
    found = []
    for (study, measure), rows in models.groupby(["study", "measure"], sort=False):
        names = [textwrap.fill(m, NAME) for m in rows["model"]]
        rows = rows.assign(row=names, value=rows["value"].astype(float))
        rows = rows.sort_values("value", ascending=_loss(rows).all(), kind="stable")
        printed = rows["source"] == "published"
        runs = list(rows[~printed].groupby(["profile", "judge"], sort=False))
        apart = len(runs) > 1 or rows["beside"].ne("").any()
        told = [("", rows)]
        if apart:
            several = len(runs) > 1
            told = [(f" ({p}; {judge.split(',')[0]})" * several, r) for (p, judge), r in runs]
        each = [(f"{study}: {measure}{more}", r) for more, r in told]
        each += [(f"as printed: {rows['beside'].max()}", rows[printed])] if apart else []
        scale = [0, 100] if measure.endswith("%") else limits.get(measure)
        each = [(t, r, scale) for t, r in each if r["value"].notna().any()]
        found += [each[k : k + 2] for k in range(0, len(each), 2)]
    return found


def _height(title, rows):
    """The inches that a panel takes."""
    names = rows["row"].unique()
    lines = max(n.count("\n") + 1 for n in names)
    return AROUND + LINE * title.count("\n") + len(names) * max(ROW, LINE * lines)


def _around(limits):
    """The limits of a scale with room for marks at its ends."""
    return limits and [limits[0] - 0.03 * limits[1], 1.03 * limits[1]]


def _drawn(panels, width):
    """The panels, two beside each other, or one under another where it is narrow."""
    narrow = width < plots.WIDE
    room = 72 * (width / (1 if narrow else 2) - LABELS)
    panels = [[("\n".join(plots.fitted(t, 10, "bold", room)), *o) for t, *o in p] for p in panels]
    rows = [[one] for each in panels for one in each] if narrow else panels
    heights = [max(_height(t, made) for t, made, _ in each) for each in rows]
    across = 1 if narrow else max(map(len, rows))
    figure, axes = plots.figure((width, sum(heights)), len(rows), across, height_ratios=heights)
    for line, each in zip(axes, rows):
        for ax, (title, made, limits) in zip(line, each):
            plots.dots(ax, made, limits=_around(limits), title=title)
        for ax in line[len(each) :]:
            ax.remove()
    plots.legend_below(figure)
    return figure
