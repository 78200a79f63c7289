"""How models did, as a page begins with it: picture, tables, files. Its numbers: `comparison`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside.publish import comparison
from bedside.read import paths, prompts
from bedside.write import plots, tables

from . import HERE, drawing, frame, template

if TYPE_CHECKING:
    import pandas as pd

ROW, AROUND, BESIDE = 0.3, 0.75, 1.8  # inches: a model; above and below a panel; left of it


def part(folder: Path, runs: list[comparison.Compared]) -> dict[str, Any]:
    """Write picture and CSV files into a folder; return what models.html.j2 shows of the runs."""
    made = comparison.compared(runs, folder)
    files = {k: "models.csv" if k == "models" else f"models_{k}.csv" for k in made}
    for kind, file in files.items():
        columns, rows = comparison.KINDS[kind], made[kind].itertuples(index=False)
        paths.write(folder / file, tables.csv_text(columns, rows))
    models, declared = made["models"], {m["name"]: m for m in _declared()}
    losses = models["measure"].map(lambda name: "less" in declared.get(name, ()))
    models["value"] = models["value"].astype(float)
    drawn = models["value"].notna()
    if drawn.any():
        wide, narrow = (_drawn(models[drawn], declared, w) for w in (plots.WIDE, plots.NARROW))
        plots.save(wide, folder / "models", narrow=narrow)
    ours = models[models["source"] == "run"]
    scored = ours[ours["n"].fillna(1).astype(float) > 0]
    value = ours["value"].where(~losses, -ours["value"])
    rank = value.groupby([ours["study"], ours["measure"]]).rank(ascending=False)
    best_first = rank.groupby(ours["model"]).mean().rename("place")
    return {
        "names": [*best_first.sort_values(kind="stable").index],
        "scores": _grid(ours, best_first, ours["study"] + ": " + ours["measure"]),
        "profiles": {
            f"{study}: {measure}": _grid(rows.assign(source="run"), best_first, rows["part"])
            for (study, measure), rows in made["profiles"].groupby(["study", "measure"], sort=False)
        },
        "judges": _records(ours.drop_duplicates(["study", "profile", "judge"])),
        **{kind: _records(made[kind]) for kind in ("outcomes", "failures", "costs")},
        "differences": _records(_with_interval(made["differences"])),
        "scored": {*made["failures"]["model"], *scored["model"]},
        "fails_at": {s.name: s.fails_at for run in runs for s in run.studies},
        "lacking": [*comparison.differing(runs), *comparison.lacking(runs)],
        "files": list(files.values()),
        "drawn": drawing(folder / "models", "The models in each study") if drawn.any() else None,
    }


def write_compared(folder: Path, runs: list[comparison.Compared]) -> Path:
    """Write the page that compares runs into a folder; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    made = part(folder, runs)
    text = template(HERE / "compared.html.j2").render(
        frame=frame({"index.html": "Compared"}, "index.html", made["names"]),
        runs=[run.name for run in runs],
        models=made,
    )
    paths.write(folder / "index.html", prompts.plain(text))
    return folder / "index.html"


def _records(rows: pd.DataFrame) -> list[dict]:
    """Rows as dicts, with None where there is no value."""
    return rows.astype(object).where(rows.notna(), None).to_dict("records")


def _with_interval(rows):
    """Differences with their limits as text, None where there are none."""
    ends = rows[["low", "high"]].astype(float).to_numpy()
    texts = [f"[{low:.3g}, {high:.3g}]" if low == low else None for low, high in ends]
    return rows.assign(interval=texts)


def _grid(rows, best_first, columns):
    """Numbers of models for readers: a line for each model, the best first."""
    rows = rows.assign(row=rows["model"], column=columns.astype(str).str.replace("_", " "))
    rows = rows.join(best_first, on="model").sort_values("place", kind="stable")
    return tables.for_people(rows).html()


def _declared():
    """The measures of all studies."""
    return [m for about in paths.papers().values() for m in about.get("measures", ())]


def _drawn(models, declared, width):
    """A panel for each measure, one below another.

    Runs whose profile or judge differ have a panel each, and so have printed numbers, unless they
    rest on the items and the judge of all that is computed.
    """
    runs = models["profile"] + "; " + models["judge"].str.split(",").str[0]
    where = runs.where(models["source"] == "run")
    alike = where.groupby(models["study"]).transform("first")
    where = where.fillna(models["beside"].mask(models["beside"] == "").fillna(alike))
    panels = [*models.groupby(["study", "measure", where], sort=False)]
    titles = [
        "\n".join(plots.fitted(f"{study}: {m} ({w})", 10, "bold", 72 * (width - BESIDE)))
        for (study, m, w), _ in panels
    ]
    rows_of = [rows["model"].nunique() for _, rows in panels]
    high = [AROUND + ROW * (n + t.count("\n")) for t, n in zip(titles, rows_of)]
    figure, axes = plots.figure((width, sum(high)), len(panels), height_ratios=high)
    for ax, title, ((_, measure, _), rows) in zip(axes[:, 0], titles, panels):
        how = declared.get(measure, {})
        limits = how.get("limits", (-3, 103) if measure.endswith("%") else None)
        rows = rows.assign(row=rows["model"]).sort_values("value", ascending="less" in how)
        plots.dots(ax, rows, limits=limits, title=title)
    plots.legend_below(figure)
    return figure
