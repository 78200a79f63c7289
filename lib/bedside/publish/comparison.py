"""How models did: what notebooks wrote about them, side by side, for one run or several.

    runs = [comparison.named("mine"), comparison.named("public")]
    made = comparison.compared(runs, folder)
    made["models"], made["differences"]      # frames; KINDS has all of them and their columns

Measures are numbers of the tables that the notebooks wrote; all else is counted from the graded
replies that they kept, and from their calls. data/papers.toml says which, for each study.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from bedside import BedsideError, choose, stats
from bedside.asking import registry, store
from bedside.build import settings
from bedside.judging import trust_cards
from bedside.read import paths
from bedside.write import frames, tables

from .judged_items import Display, display_of, row_id

if TYPE_CHECKING:
    import pandas as pd

FAILS_AT = 0.5  # a score of at most this is a failure, unless a rubric says otherwise
RIGHT = "right, %"  # of a study's scores: 1 and 0, in percent
NUMBERS = tables.COLUMNS[3:]  # value, low, high, n, unscored
KINDS = {  # what is compared: the columns of each, which are also those of its CSV
    "models": ["model", "study", "measure", "source", *NUMBERS, "profile", "judge", "beside"],
    "profiles": ["model", "study", "measure", "by", "part", *NUMBERS],
    "outcomes": ["model", "study", "outcome", "replies", "n"],
    "failures": ["model", "study", "item", "title", "score", "right_elsewhere", "link"],
    "differences": [
        "pair",
        "study",
        "measure",
        "difference",
        "test",
        "p",
        "holm",
        "n",
        "detectable",
    ],
    "costs": ["model", "study", "calls", "prompt_tokens", "completion_tokens", "usd", "hours"],
}
WORST = 5  # failures that are shown of each model
FEW = 10  # items that are named of those that a run lacks
CUT = "cut at the limit"  # an answer all the same
ALWAYS = ("refused", "filtered", "blank", CUT)  # outcomes that are told even if there were none


class Study(NamedTuple):
    """One study of one run.

    measures: model, measure, source and NUMBERS. replies: a row for each reply to be scored: item,
    model, unit, score (NaN: unscored), why (there is no answer), truncated, title, link, main, and
    the columns `by`. of: what tests need to be the same: judge, prompts and profile. judge: in
    words. beside: what differs in the printed numbers, empty if nothing does. folder: with the
    calls. page: the folder with the explorer. score: what a score is; RIGHT, of 1 and 0, is shown
    in percent. fails_at: the highest score that is a failure.
    """

    name: str
    measures: pd.DataFrame
    replies: pd.DataFrame
    by: list[str]
    of: tuple
    judge: str
    beside: str
    folder: Path
    page: Path
    score: str = RIGHT
    fails_at: float = FAILS_AT


class Compared(NamedTuple):
    """A run: its name, and its studies."""

    name: str
    studies: list[Study]


def named(name: str) -> Compared:
    """A run of figures/runs by its name, or a profile; BedsideError lists those that there are."""
    base = settings.figures()
    there = {p.parent.name: p.parent for p in sorted(base.glob("runs/*/manifest.json"))}
    there |= {p: base / p for p in settings.profiles() if (base / p / "manifest.json").is_file()}
    folder = there[choose(name, there, f"run in {paths.rel(base / 'runs')}, or profile,")]
    return of(folder, json.loads((folder / "manifest.json").read_text())["notebooks"])


def of(folder: Path, entries: dict[str, dict]) -> Compared:
    """A run of the papers' studies. entries: of its manifest."""
    found = []
    for paper, about in paths.papers().items():
        mine = [e for e in entries.values() if e["paper"] == paper]
        made = {o["file"]: e for e in mine for k in ("outputs", "graded") for o in e.get(k, ())}
        if about.get("measures") and f"graded_{about['replies']['section']}.csv" in made:
            if any(f"{m['table']}.csv" in made for m in about["measures"]):
                found.append(_study(folder / paper, about, made))
    return Compared(folder.name, found)


def _study(folder, about, made):
    how, first = about["replies"], about["measures"][0]
    kept = made[f"graded_{how['section']}.csv"]
    entry = made.get(f"{first['table']}.csv", kept)
    models = [*entry["parameters"]["models"], *entry.get("elsewhere", ())]
    try:
        frame = frames.read(folder, how["section"])
    except BedsideError:  # a run from elsewhere, without its texts
        frame = frames.read(folder, how["section"], texts=False)
    frame = frame[frame["model"].isin(models)]
    for column, value in how.get("only", {}).items():
        frame = frame[frame[column] == value]
    judge = entry["parameters"]["judge"]
    if judge not in set(frame["judge"]):  # a label or a key decides
        judge = next(iter(frame["judge"]), "")
    card = entry["judges"].get(judge)
    frame = shown(
        frame[frame["judge"] == judge], display_of(folder.name, how["section"]), folder.name
    )
    for column, value in how.get("main", {}).items():
        frame["main"] &= frame[column] == value
    if "score" in how:
        frame["score"] = frame[how["score"]].astype(float)
    parts = [_measured(folder, m, models) for m in about["measures"] if f"{m['table']}.csv" in made]
    return Study(
        about["name"],
        tables_of(parts),
        frame,
        how["by"],
        (entry["profile"], judge, store.digest(entry["prompts"])),
        judge_told(judge, card, models),
        _beside(about["printed"], entry, judge),
        folder,
        folder.parent,
        how.get("score", RIGHT),
    )


def judge_told(judge: str, card: dict | None, models: Iterable[str]) -> str:
    """The judge with its kappa, if it was measured, and whether it judged its own answers."""
    told = trust_cards.describe(card) if card else judge
    return told + "; it also judged its own answers" * (judge in models)


def _beside(printed, entry, judge):
    """What of the printed numbers differs from a run's: items or judge."""
    same = entry["profile"] == "public" and judge in printed.get("judges", ())
    return "" if same and not entry["parameters"]["limit"] else printed["differs"]


def _measured(folder, how, models):
    """The rows of a measure: those of the run's models, each with one, and the printed ones."""
    found: dict[tuple, dict] = {("run", m): {} for m in models}
    for r in tables.read(folder / f"{how['table']}.csv"):
        start = how.get({"run": "own", "published": "printed"}.get(r["source"], ""), "")
        place = r["source"], r["row"].removeprefix(start)
        if r["row"].startswith(start) and (place in found or place[0] == "published"):
            found.setdefault(place, {})[r["column"]] = r
    for (source, model), cells in found.items():
        row = _loss(cells, how) if "less" in how else cells.get(how["column"])
        if row or source == "run":
            numbers = {k: (row or {}).get(k) for k in NUMBERS}
            yield {"model": model, "measure": how["name"], "source": source, **numbers}


def _loss(cells, how):
    """The mean loss from one column to others; None unless all of them have a value."""
    values = [cells.get(c, {}).get("value") for c in (how["less"], *how["columns"])]
    if None in values:
        return None
    return {"value": values[0] - sum(values[1:]) / len(values[1:]), "n": cells[how["less"]]["n"]}


def tables_of(parts: Iterable[Iterable[dict]]) -> pd.DataFrame:
    """Measures as `Study` has them, from rows."""
    import pandas as pd

    columns = ["model", "measure", "source", *NUMBERS]
    return pd.DataFrame(itertools.chain(*parts), columns=columns)


def shown(frame: pd.DataFrame, how: Display, paper: str) -> pd.DataFrame:
    """Graded replies with score, why, title, link and main, as `Study` has them.

    Without texts the title is the item, and nobody knows why there is no answer: None.
    """
    ids = (
        row_id(paper, how.notebook, *r)
        for r in frame[["item", "model", "configuration"]].itertuples(index=False)
    )
    lost = frame[how.status].fillna("") if how.status in frame else None
    return frame.assign(
        score=frame["right"].astype(float).where(frame["status"] == "graded"),
        why=lost,
        title=frame[how.title if how.title in frame else "item"],
        link=[f"explorer.html#{urlencode({'id': i})}" for i in ids],
        main=True,
    )


# ---- compared


def compared(runs: list[Compared], at: Path) -> dict[str, Any]:
    """{kind: frame} for each of KINDS. A model that several runs have is named with its run.

    at: the folder of the page, from which links lead to the explorers.
    """
    import pandas as pd

    if not any(run.studies for run in runs):
        raise BedsideError("these runs have no study with models; make all MODELS=name makes one")
    names = [(r.name, m) for r in runs for s in r.studies for m in s.replies["model"].unique()]
    count = {m: len({r for r, other in names if other == m}) for _, m in names}
    rows: dict[str, list] = {kind: [] for kind in KINDS}
    by_study: dict[str, list[Study]] = {}
    for run in runs:

        def label(model, run=run):
            return f"{model} ({run.name})" if count.get(model, 0) > 1 else model

        for s in run.studies:
            s = s._replace(replies=s.replies.assign(model=s.replies["model"].map(label)))
            by_study.setdefault(s.name, []).append(s)
            rows["models"] += _models(s, label, seen=rows["models"])
            rows["profiles"] += _profiles(s)
            rows["outcomes"] += _outcomes(s)
            rows["costs"] += _costs(s, label)
    for same in by_study.values():
        rows["failures"] += _failures(same, at)
        rows["differences"] += _differences(same)
    made = {kind: pd.DataFrame(rows[kind], columns=KINDS[kind]) for kind in KINDS}
    made["differences"]["holm"] = stats.holm(made["differences"]["p"].to_numpy(float))
    return made | {"failures": _worst(made["failures"])}


def _models(s, label, seen):
    there = {(r["model"], r["study"], r["measure"]) for r in seen if r["source"] == "published"}
    for r in s.measures.to_dict("records"):
        printed = r["source"] == "published"
        if not (printed and (r["model"], s.name, r["measure"]) in there):
            r["model"] = r["model"] if printed else label(r["model"])
            of = {"profile": "", "judge": ""} if printed else {"profile": s.of[0], "judge": s.judge}
            yield {**r, **of, "study": s.name, "beside": s.beside}


def _profiles(s):
    """The score of each part of a study by model, with an interval over units."""

    for by in s.by:
        for (model, part), mine in s.replies.groupby(["model", by], sort=False):
            got = mine.dropna(subset="score")
            units, lost = got["unit"].to_numpy(), len(mine) - len(got)
            row = {"model": model, "study": s.name, "measure": s.score, "by": by, "part": part}
            row["unscored"] = lost
            if not len(got):
                yield row | {"n": 0}
                continue
            if s.score == RIGHT:
                found = tables.share((got["score"] == 1).tolist(), units.tolist())
            else:
                found = stats.mean(got["score"], units)
            yield row | dict(zip(NUMBERS, found))


def _outcomes(s):
    """How many replies were no answers, by reason, or were cut."""
    for model, mine in s.replies.dropna(subset="why").groupby("model", sort=False):
        why = mine["why"].str.split(":").str[0]
        counts = why[why != ""].value_counts().to_dict()
        counts[CUT] = int((mine["truncated"].astype(bool) & (why == "")).sum())
        for outcome in dict.fromkeys([*ALWAYS, *counts]):
            told = {"outcome": outcome, "replies": counts.get(outcome, 0), "n": len(mine)}
            yield {"model": model, "study": s.name, **told}


def _costs(s, label):
    """Calls of each model in a study, as answerer or judge; a price is unknown if one call's is."""
    found = {}
    for call in frames.called(s.folder).values():
        found.setdefault(call["model"], []).append(call)
    for model, mine in sorted(found.items()):
        tokens = {k: sum(c[k] or 0 for c in mine) for k in ("prompt_tokens", "completion_tokens")}
        told = {"calls": len(mine), **tokens, "usd": registry.total(c["usd"] for c in mine)}
        hours = sum(c["seconds"] or 0 for c in mine) / 3600
        yield {"model": label(model), "study": s.name, **told, "hours": hours}


def _items(same):
    """The main replies of a study's runs: a row for each item and model, with its mean score."""
    import pandas as pd

    each = []
    for s in same:
        mine = s.replies[s.replies["main"]].sort_values("score", kind="stable")  # the worst first
        told = {"score": "mean", "unit": "first", "title": "first", "link": "first"}
        each.append(
            mine.groupby(["item", "model"], sort=False, as_index=False)
            .agg(told)
            .assign(of=str(s.of), page=str(s.page), fails_at=s.fails_at)
        )
    return pd.concat(each, ignore_index=True)


def _failures(same, at):
    """Failures, the worst of each model first: those that others answered best count as worse."""
    made = _items(same).dropna(subset="score")
    group = made.groupby(["of", "item"])["score"]
    others = (group.transform("sum") - made["score"]) / (group.transform("count") - 1)
    made = made.assign(right_elsewhere=others.replace([float("inf")], float("nan")))
    order = made.sort_values(
        ["score", "right_elsewhere", "item"], ascending=[True, False, True], kind="stable"
    )
    failed = order[order["score"] <= order["fails_at"]]
    for _, mine in failed.groupby("model", sort=False):
        for r in mine.head(WORST).to_dict("records"):
            link = Path(os.path.relpath(r["page"], at), r["link"]).as_posix()
            yield {**r, "study": same[0].name, "link": link}


def _worst(failures):
    """The worst failures of each model, taken from its studies in turn."""
    turn = failures.groupby(["model", "study"], sort=False).cumcount()
    place = failures["model"].map({m: i for i, m in enumerate(failures["model"].unique())})
    made = failures.assign(turn=turn, place=place).sort_values(["place", "turn"], kind="stable")
    return made.groupby("model", sort=False).head(WORST)[KINDS["failures"]].reset_index(drop=True)


class _Drawn(NamedTuple):
    """What `tables.paired` takes of a run: its generators."""

    study: str

    def rng(self, *name: Any):
        import numpy as np

        return np.random.default_rng(int(store.digest([self.study, *name])[:8], 16))


def _differences(same):
    """Paired tests between models whose judge, prompts and profile are the same."""
    for _, mine in _items(same).groupby("of", sort=False):
        graded = mine.assign(value=mine["score"], status="graded").dropna(subset="score")
        if graded["model"].nunique() < 2:
            continue
        whole = graded["value"].isin([0, 1]).all()
        for r in tables.paired(graded, _Drawn(same[0].name)).to_dict("records"):
            scale = 100 if same[0].score == RIGHT else 1
            told = {"difference": scale * r.get("means", float("nan"))}
            if not whole:  # the test of the mean score
                told |= {"p": r["permutation"], "test": "permutation", "detectable": float("nan")}
            told |= {"pair": r["row"], "study": same[0].name, "measure": same[0].score}
            yield {**r, **told}


def lacking(runs: list[Compared]) -> list[str]:
    """Sentences on what one of the runs lacks: studies, and items that another one has."""
    told, studies = [], [(run.name, s) for run in runs for s in run.studies]
    for study in dict.fromkeys(s.name for _, s in studies):
        mine = {name: s for name, s in studies if s.name == study}
        there = {name: set(s.replies["item"]) for name, s in mine.items()}
        every = set().union(*there.values())
        told += [f"{run.name} has no {study}." for run in runs if run.name not in mine]
        for name in there:
            if lost := sorted(every - there[name]):
                few = ", ".join(lost[:FEW]) + ", ..." * (len(lost) > FEW)
                told.append(f"{study}: {name} lacks {len(lost)} of {len(every)} items: {few}.")
        if len({s.of for s in mine.values()}) > 1:
            told.append(
                f"{study}: profile, judge or prompts differ, so no test compares these runs."
            )
    return told


def write(folder: Path, made: dict[str, pd.DataFrame]) -> list[str]:
    """Write models.csv and models_<kind>.csv into a folder; return their names."""
    names = []
    for kind, columns in KINDS.items():
        name = "models.csv" if kind == "models" else f"models_{kind}.csv"
        text = tables.csv_text(columns, made[kind][columns].itertuples(index=False))
        paths.write(folder / name, text)
        names.append(name)
    return names
