"""How models did: what notebooks wrote about them, side by side, for one run or several.

    runs = [comparison.named("mine"), comparison.named("public")]
    comparison.compared(runs, folder)["models"]      # a frame; KINDS has all and their columns

Measures are numbers of the tables that the notebooks wrote; all else is counted from the graded
replies that they kept, and from their calls. data/papers.toml says which, for each study.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from bedside import BedsideError, choose, stats
from bedside.asking import store
from bedside.build import settings
from bedside.judging import trust_cards
from bedside.read import paths
from bedside.write import frames, results, tables

from .judged_items import Display, display_of, row_id

if TYPE_CHECKING:
    import pandas as pd

FAILS_AT = 0.5  # a score of at most this is a failure, unless a rubric says otherwise
RIGHT = "right, %"  # of a study's scores: 1 and 0, in percent
NUMBERS = ["value", "low", "high", "n", "unscored"]
KINDS = {  # what is compared: the columns of each, which are also those of its CSV
    "models": ["model", "study", "measure", "source", *NUMBERS, "profile", "judge", "beside"],
    "profiles": ["model", "study", "measure", "by", "part", *NUMBERS],
    "outcomes": ["model", "study", "outcome", "replies", "n"],
    "failures": [
        "model",
        "study",
        "item",
        "title",
        "quote",
        "measure",
        "score",
        "right_elsewhere",
        "link",
    ],
    "differences": "pair study measure difference low high test p holm n detectable".split(),
    "costs": ["model", "study", "calls", "prompt_tokens", "completion_tokens", "usd", "hours"],
}
WORST = 5  # failures that are shown of each model
FEW = 10  # items that are named of those that a run lacks
CUT = "cut at the limit"  # an answer all the same


class Study(NamedTuple):
    """One study of one run.

    measures: model, measure, source and NUMBERS. replies: a row for each reply to be scored: item,
    model, unit, score (NaN: unscored), why (there is no answer), truncated, title, quote, link,
    main, and the columns `by`. of: what tests need to be the same: profile, judge and prompts.
    judge: in words. beside: what differs in the printed numbers, empty if nothing does. folder:
    with the calls. score: what a score is; RIGHT, of 1 and 0, is shown in percent. fails_at: the
    highest score that is a failure.
    """

    name: str
    measures: pd.DataFrame
    replies: pd.DataFrame
    by: list[str]
    of: tuple
    judge: str
    beside: str
    folder: Path
    score: str = RIGHT
    fails_at: float = FAILS_AT


class Compared(NamedTuple):
    """A run: its name, its studies, and what it rests on: {what: in words, or its digest}."""

    name: str
    studies: list[Study]
    about: dict[str, str] = {}


class Digest(str):
    """A digest of what a run rests on, which says no more than whether it is the same."""


def named(name: str, others: Iterable[str] = ()) -> Compared:
    """A run of figures/runs by its name, or a profile; BedsideError lists those that there are.

    others: names of what isn't a run and could have been given.
    """
    base = settings.figures()
    places = [*sorted(base.glob("runs/*")), *(base / profile for profile in settings.profiles())]
    there = {p.name: p for p in places if (p / "manifest.json").is_file()}
    known = [*there, *others]
    folder = there[choose(name, known, f"run in {paths.rel(base / 'runs')}, or profile,")]
    return of(folder, json.loads((folder / "manifest.json").read_text())["notebooks"])


def of(folder: Path, entries: dict[str, dict]) -> Compared:
    """A run of the papers' studies. entries: of its manifest."""
    studies = []
    for paper, about in paths.papers().items():
        by_file = {
            output["file"]: entry
            for entry in entries.values()
            for output in [*entry["outputs"], *entry.get("graded", ())]
            if entry["paper"] == paper
        }
        measures = [m for m in about.get("measures", ()) if f"{m['table']}.csv" in by_file]
        if measures and f"graded_{about['replies']['section']}.csv" in by_file:
            studies.append(_study(folder / paper, about, measures, by_file))
    return Compared(folder.name, studies)


def _study(folder, about, measures, by_file):
    import pandas as pd

    how = about["replies"]
    graded = by_file[f"graded_{how['section']}.csv"]
    entry = by_file.get(f"{about['measures'][0]['table']}.csv", graded)
    models = [*entry["parameters"]["models"], *entry.get("elsewhere", ())]
    try:
        frame = frames.read(folder, how["section"])
    except BedsideError:  # a run from elsewhere, without its texts
        frame = frames.read(folder, how["section"], texts=False)
    frame = frame[frame["model"].isin(models) & _where(frame, how.get("only", {}))]
    judge = entry["parameters"]["judge"]
    if judge not in set(frame["judge"]):  # a label or a key decides
        judge = next(iter(frame["judge"]), "")
    frame = frame[frame["judge"] == judge]
    replies = shown(frame, display_of(folder.name, how["section"]), folder.name, folder.parent)
    replies["main"] = _where(frame, how.get("main", {}))
    if "score" in how:
        replies["score"] = frame[how["score"]].astype(float)
    printed, profile = about["printed"], entry["profile"]
    alike = profile == "public" and judge in printed.get("judges", ())
    return Study(
        about["name"],
        pd.concat([_measured(folder, m, models) for m in measures]),
        replies,
        how["by"],
        (profile, judge, store.digest(entry["prompts"])),
        judge_told(judge, entry["judges"].get(judge), models),
        "" if alike and not entry["parameters"]["limit"] else printed["differs"],
        folder,
        how.get("score", RIGHT),
    )


def _where(frame, values):
    """Which rows have these values, {column: value}."""
    return (frame[[*values]] == [*values.values()]).all(axis=1)


def judge_told(judge: str, card: dict | None, models: Iterable[str]) -> str:
    """The judge with its kappa, if it was measured, and whether it judged its own answers."""
    told = trust_cards.describe(card) if card else judge
    return told + "; it also judged its own answers" * (judge in models)


def _measured(folder, how, models):
    """A measure as `Study` has it: a row for each of the run's models, and the printed ones."""
    import pandas as pd

    rows = pd.DataFrame(tables.read(folder / f"{how['table']}.csv"))
    start = rows["source"].map({"run": how.get("own", ""), "published": how.get("printed", "")})
    rows["model"] = [
        row.removeprefix(s) if s == s and row.startswith(s) else None
        for row, s in zip(rows["row"], start)
    ]
    rows = rows[rows["model"].isin(models) | (rows["source"] == "published")].dropna(subset="model")
    found = rows[rows["column"] == how.get("column", how.get("less"))]
    if "less" in how:  # the mean loss from one column to others, if all of them have a value
        names = ["source", "model"]
        others = rows[rows["column"].isin(how["columns"])].groupby(names)["value"]
        mean = others.mean().where(others.count() == len(how["columns"])).rename("mean")
        found = found.join(mean, on=names)
        found = found.assign(value=found["value"] - found["mean"], low=None, high=None)
        found = found[found["value"].notna()]
    whole = pd.DataFrame({"model": models, "source": "run"}).merge(found, how="outer")
    return whole.assign(measure=how["name"])[["model", "measure", "source", *NUMBERS]]


def shown(frame: pd.DataFrame, how: Display, paper: str, page: Path) -> pd.DataFrame:
    """Graded replies with score, why, title, link and main, as `Study` has them.

    page: the folder with the explorer. Without texts the title is the item, and nobody knows why
    there is no answer: None.
    """
    ids = (
        row_id(paper, how.notebook, *row)
        for row in frame[["item", "model", "configuration"]].itertuples(index=False)
    )
    return frame.assign(
        score=frame["right"].astype(float).where(frame["status"] == "graded"),
        why=frame[how.status].fillna("") if how.status in frame else None,
        title=frame[how.title if how.title in frame else "item"],
        quote=frame[how.reply] if how.reply in frame else "",
        link=[f"{page}/explorer.html#{urlencode({'id': id})}" for id in ids],
        main=True,
    )


# ---- compared


def compared(runs: list[Compared], at: Path) -> dict[str, pd.DataFrame]:
    """{kind: frame} for each of KINDS. Of several runs a model is named with its run.

    at: the folder of the page, from which links lead to the explorers.
    """
    import pandas as pd

    if not any(run.studies for run in runs):
        raise BedsideError(
            "these runs have no study with models. Make one with make all MODELS=name."
        )
    parts: dict[str, list] = {kind: [] for kind in KINDS}
    items = []
    for run in runs:
        which = f" ({run.name})" if len(runs) > 1 else ""
        for s in run.studies:
            s = s._replace(replies=s.replies.assign(model=s.replies["model"] + which))
            model, ours = s.measures["model"], s.measures["source"] == "run"
            about = {"study": s.name, "beside": s.beside}
            for name, value in (("profile", s.of[0]), ("judge", s.judge)):
                about[name] = ours.map({True: value, False: ""})
            model = model.mask(ours, model + which)
            parts["models"].append(s.measures.assign(model=model, **about))
            parts["profiles"] += [_profile(s, by).assign(study=s.name) for by in s.by]
            parts["outcomes"].append(_outcomes(s.replies).assign(study=s.name))
            costs = _costs(s.folder).assign(study=s.name)
            parts["costs"].append(costs.assign(model=costs["model"] + which))
            items.append(_items(s))
    items = pd.concat(items, ignore_index=True).dropna(subset="score")
    parts["failures"].append(_failures(items, at))
    parts["differences"] += [_differences(same) for _, same in items.groupby(["study", "of"])]
    none = {kind: [pd.DataFrame(columns=columns)] for kind, columns in KINDS.items()}
    made = {k: pd.concat(p or none[k], ignore_index=True)[KINDS[k]] for k, p in parts.items()}
    made["models"] = made["models"].drop_duplicates(["model", "study", "measure", "source"])
    made["differences"]["holm"] = stats.holm(made["differences"]["p"].to_numpy(float))
    return made


def _profile(s, by):
    """The score of each part of a study by model, with an interval over units."""
    score = s.replies["score"]
    if s.score == RIGHT:
        score = (score == 1).astype("boolean").mask(score.isna())
    scored = s.replies.assign(score=score).dropna(subset=[by])  # an item may have no group
    lowest = 0 if s.score == RIGHT else min(0, score.min())
    rows = results.means(scored, {"score": s.score}, "{model}", f"{{{by}}}", scale=(lowest, 1))
    rows["unscored"] = rows["unscored"].fillna(0)
    return rows.rename(columns={by: "part"}).assign(measure=s.score, by=by)


def _outcomes(replies):
    """How many replies were no answers, by reason, or were cut."""
    why = replies["why"].str.split(":").str[0]
    why = why.mask((why == "") & replies["truncated"].astype(bool), CUT).dropna()
    of = replies["model"][why.index]
    counts = why[why != ""].rename("outcome").groupby([of, why]).size().rename("replies")
    n = of.value_counts().rename("n")
    return counts.rename_axis(["model", "outcome"]).reset_index().join(n, on="model")


def _costs(folder):
    """Calls of each model in a study, as answerer or judge; a price is unknown if one call's is."""
    import pandas as pd

    numbers = ["prompt_tokens", "completion_tokens", "usd", "seconds"]
    calls = pd.DataFrame(frames.called(folder).values(), columns=["model", *numbers])
    by = calls.astype(dict.fromkeys(numbers, float)).groupby("model")
    sums = by[numbers].sum().assign(calls=by.size(), usd=by["usd"].sum(skipna=False))
    return sums.assign(hours=sums["seconds"] / 3600).reset_index()


def _items(s):
    """The main replies of a study: a row for each item and model, with its mean score."""
    worst_first = s.replies[s.replies["main"]].sort_values("score", kind="stable")
    columns = {"score": "mean"} | dict.fromkeys(("unit", "title", "quote", "link"), "first")
    items = worst_first.groupby(["item", "model"], sort=False, as_index=False).agg(columns)
    return items.assign(study=s.name, of=str(s.of), measure=s.score, fails_at=s.fails_at)


def _failures(items, at):
    """The worst failures of each model, from its studies in turn.

    Those that others answered best count as worse.
    """
    score = items.groupby(["study", "of", "item"])["score"]
    others = score.transform("count") - 1
    mean = (score.transform("sum") - items["score"]) / others.where(others > 0)
    failed = items.assign(right_elsewhere=mean)[items["score"] <= items["fails_at"]]
    failed = failed.sort_values(["score", "right_elsewhere", "item"], ascending=[True, False, True])
    asked = failed["item"].str.replace(r", repeat \d+$", "", regex=True)  # once of all repeats
    failed = failed[~failed.assign(item=asked).duplicated(["model", "study", "item"])]
    turn = failed.groupby(["model", "study"]).cumcount()
    failed = failed.assign(turn=turn).sort_values(["model", "turn", "study"])
    failed["link"] = [Path(os.path.relpath(link, at)).as_posix() for link in failed["link"]]
    return failed.groupby("model").head(WORST)


def _differences(same):
    """Paired tests between models whose study, judge, prompts and profile are the same."""
    import numpy as np

    seeded = SimpleNamespace(rng=lambda *_: np.random.default_rng(0))
    graded = same.assign(value=same["score"], status="graded")
    hits, lowest = graded["value"].isin([0, 1]).all(), min(0, graded["value"].min())
    rows = tables.paired(graded, seeded, hits, lowest)  # negative points: scores below 0
    about = {"study": same["study"].iloc[0], "measure": same["measure"].iloc[0], "holm": None}
    return rows.rename(columns={"row": "pair"}).assign(**about)


def differing(runs: list[Compared]) -> list[str]:
    """Sentences on what runs rest on that isn't the same in all that name it."""
    told = []
    for what in dict.fromkeys(what for run in runs for what in run.about):
        values = {run.name: run.about[what] for run in runs if what in run.about}
        if len(set(values.values())) > 1:
            each = ", ".join(f"{value} in {name}" for name, value in values.items())
            digest = isinstance([*values.values()][0], Digest)
            told.append(f"{what}: not the same in all" if digest else f"{what}: {each}")
    return told


def lacking(runs: list[Compared]) -> list[str]:
    """Sentences on the items of each study that one of the runs lacks."""
    told = []
    has = {(s.name, run.name): set(s.replies["item"]) for run in runs for s in run.studies}
    for study in dict.fromkeys(study for study, _ in has):
        every = set().union(*(items for (name, _), items in has.items() if name == study))
        for run in runs:
            if lost := sorted(every - has.get((study, run.name), set())):
                few = ", ".join(lost[:FEW])
                told.append(f"{study}: {run.name} lacks {len(lost)} of {len(every)} items: {few}")
    return told
