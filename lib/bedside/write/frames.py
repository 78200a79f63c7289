"""What notebooks keep: graded replies, a row for each reply and judge, and the calls behind them.

    run.keep("evaluation", frame, ["kind", "category"])     # in the notebook that graded them
    bedside.graded("my_paper")                              # anywhere else
    bedside.calls("my_paper")

A section is written twice. `graded_<section>.csv` beside the study's tables has COLUMNS and those
that its notebook names: ids, verdicts and numbers, no text of other people's (docs/graded.md). The
full frame, with texts, lies in the cache, as do the calls that led to it: what was sent, and what
came back. Git ignores the cache; a notebook's run renews its part of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError, choose
from bedside.asking import registry, store
from bedside.asking.replies import Reply, Request
from bedside.build import settings
from bedside.read import checks, paths, prompts

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = "item model configuration judge status value right unit truncated finish key".split()
ROW = ["item", "model", "configuration", "judge"]  # what names a row of a section
STATUS = ("graded", "unparsed", "refused", "error", "")  # of a verdict; "" where nobody judged
BLANK = {  # where nobody was asked, or nobody judged
    **{"judge": "", "status": "", "value": None, "right": None},
    **{"truncated": False, "finish": "", "key": ""},
}
RETURNED = "returned_model finish prompt_tokens completion_tokens date fingerprint router".split()


def cache(folder: Path) -> Path:
    """Where full frames lie whose CSV files are in a folder of outputs."""
    base = settings.figures()
    kept = paths.CACHE if base == paths.FIGURES else base / ".cache"
    return kept / "graded" / folder.relative_to(base)


def checked(frame: pd.DataFrame, section: str) -> pd.DataFrame:
    """A frame with all COLUMNS first. Where nothing is graded there is no value, right or wrong.

    `unit` is the item unless the frame has one; what BLANK lists may be absent. Raises
    BedsideError for a row that lacks its names, occurs twice or has no such status.
    """
    made = frame.assign(**{k: v for k, v in BLANK.items() if k not in frame})
    unit = made["unit"] if "unit" in made else made["item"]
    made["unit"] = unit.where(unit.notna(), made["item"])  # what nothing else shares its unit with
    checks.complete(made, ROW[:3], ["judge"])
    if (twice := made.duplicated(ROW)).any():
        what = ", ".join(map(str, made.loc[twice, ROW].iloc[0]))
        raise BedsideError(
            f"graded_{section}: two rows are {what}, but a reply and a judge must identify one row"
        )
    for status in made["status"].unique():
        choose(status, STATUS, f"status in graded_{section}")
    graded = made["status"] == "graded"
    checks.complete(made[graded], ["value"])
    for column in ("value", "right"):
        made[column] = made[column].astype(object).where(graded & made[column].notna(), None)
    return made[[*COLUMNS, *(c for c in made if c not in COLUMNS)]]


def write(folder: Path, section: str, frame: pd.DataFrame, own: Iterable[str], about: str) -> str:
    """Write a section's CSV, with the columns `own`, and its full frame; return the CSV's name.

    frame: as `checked`. about: the notebook <paper>/<name> that keeps it. In the CSV a unit, which
    may be a text of others, is named by its first item.
    """
    from . import tables  # `make` reads `missing` with the standard library alone

    name = f"graded_{section}.csv"
    columns = [*COLUMNS, *own]
    shown = frame[columns].assign(unit=frame.groupby("unit", sort=False)["item"].transform("first"))
    text = tables.csv_text(columns, shown.itertuples(index=False))
    paths.write(folder / name, text)
    keep_texts(folder / name, frame, about)
    return name


def keep_texts(csv: Path, frame: pd.DataFrame, about: str) -> None:
    """Write the full frame of a CSV that is already there into the cache; about: as for `write`."""
    first = {"notebook": about, "csv": _digest(csv), "columns": list(frame)}
    whole = frame.astype(object).where(frame.notna(), None).to_dict("records")
    _texts(csv).parent.mkdir(parents=True, exist_ok=True)
    paths.write(_texts(csv), "".join(map(_line, [first, *whole])))


def _texts(csv):
    return cache(csv.parent) / f"{csv.stem.removeprefix('graded_')}.jsonl"


def _digest(path):
    """The sha256 of a CSV, whatever a system made of its line ends."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _line(value):
    return prompts.clean(json.dumps(value, ensure_ascii=False, default=_plain)) + "\n"


def _plain(value):
    """A value of numpy's, or a tuple-like one, as JSON has it."""
    return value.tolist() if hasattr(value, "tolist") else list(value)


# ---- what was sent and what came back


class Calls:
    """The calls of a notebook, written to its cache as they come back; each message once."""

    def __init__(self, path: Path):
        self.path, self._file = path, None
        self._known: set[str] = set()

    def add(self, request: Request, reply: Reply) -> None:
        """Write down a call, once."""
        if request.key in self._known:
            return
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._part = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
            self._file = open(self._part, "w", encoding="utf-8")
        made = sent_and_returned(request, reply)
        told = [store.digest(m)[:16] for m in made["messages"]]
        for digest, message in zip(told, made["messages"]):
            if digest not in self._known:
                self._file.write(_line({"digest": digest, "message": message}))
                self._known.add(digest)
        self._known.add(request.key)
        made |= {"messages": told, "text": reply.text}
        self._file.write(_line({"key": request.key, "item": request.item, **made}))

    def close(self) -> None:
        """Put the file in place; without calls there is none."""
        self.path.unlink(missing_ok=True)
        if self._file is not None:
            self._file.close()
            os.replace(self._part, self.path)
            self._file = None
            self._known.clear()


def sent_and_returned(request: Request, reply: Reply) -> dict[str, Any]:
    """A request as it was sent, and what came back with the reply; None for unknown values."""
    sent = dict(request.body())
    tokens = reply.prompt_tokens, reply.completion_tokens
    return {
        "model": request.model,
        "messages": sent.pop("messages"),
        "response_format": sent.pop("response_format", None),
        "settings": {k: v for k, v in sent.items() if k != "model"},
        "repeat": request.repeat,
        **{name: None if (v := getattr(reply, name)) == "" else v for name in RETURNED},
        "seconds": reply.latency_s,
        "usd": registry.cost(request.model, *tokens, batch=reply.batch),
    }


# ---- read again


def folders(paper: str, profile: str, **changed: Any) -> list[Path]:
    """The folders with a study's graded replies: a profile's or a run's, and its private ones.

    profile: also the name of a run, as its folder in figures/runs.
    """
    choose(paper, paths.papers(), "paper")
    run = settings.figures() / "runs" / profile
    if profile not in settings.profiles() and run.is_dir():
        return [run / paper]
    shared = settings.outputs(profile, settings.changed({"profile": profile, **changed}))
    private = settings.outputs(profile, private=True)
    return [folder / paper for folder in dict.fromkeys((shared, private))]


def sections(folder: Path) -> list[str]:
    """The sections that are kept in a folder of outputs."""
    return [p.stem.removeprefix("graded_") for p in sorted(folder.glob("graded_*.csv"))]


def read(folder: Path, section: str, texts: bool = True) -> pd.DataFrame:
    """A section's rows: COLUMNS and its own columns, with `texts` the full frame."""
    return _read(folder / f"graded_{section}.csv", texts)


def _read(csv, texts):
    import pandas as pd

    if texts:
        return with_texts(csv)
    made = pd.read_csv(csv, dtype=str, keep_default_na=False)
    blank = made.replace("", None)
    for column in made.columns.difference([*ROW, "status", "unit", "finish", "key"]):
        found = pd.to_numeric(blank[column], errors="coerce")
        made[column] = found if found.notna().equals(blank[column].notna()) else made[column]
    return made.assign(right=made["right"].astype(float), truncated=made["truncated"] == 1)


def with_texts(csv: Path) -> pd.DataFrame:
    """The full frame of a CSV; BedsideError as `records`."""
    import pandas as pd

    made = pd.DataFrame(*_records(csv))
    return made.assign(right=made["right"].astype(float))


def records(folder: Path, section: str) -> tuple[list[dict], None, list[str]]:
    """The rows of a section's full frame, and its columns, as `pandas.DataFrame` takes them.

    Raises BedsideError naming the notebook to run if the full frame isn't there, or isn't that of
    the CSV.
    """
    return _records(folder / f"graded_{section}.csv")


def _records(csv):
    first, rows = {}, []
    with contextlib.suppress(FileNotFoundError), open(_texts(csv), encoding="utf-8") as f:
        first, *rows = map(json.loads, f)
    if first.get("csv") != _digest(csv):
        way = f"`make {csv.parent.name}` (PROFILE= and MODELS= as for the figures)"
        if csv.parent.parent.name == "own":
            way = f"`make study NAME={csv.parent.name} MODE=replay` with its settings"
        without = "or read it without: texts=False"
        raise BedsideError(f"{paths.rel(csv)}: its texts aren't here. Run {way}, {without}")
    return rows, None, first["columns"]


def missing(folder: Path) -> list[str]:
    """The notebooks of a profile's or run's manifest whose full frames aren't here as they were."""
    path, lacking = folder / "manifest.json", []
    entries = json.loads(path.read_text())["notebooks"] if path.is_file() else {}
    for name, entry in entries.items():
        for o in entry.get("graded", ()):
            texts, first = _texts(folder / entry["paper"] / o["file"]), {}
            with contextlib.suppress(FileNotFoundError), open(texts, "rb") as f:
                first = json.loads(f.readline())
            if first.get("csv") != o["sha256"]:
                lacking.append(name)
    return lacking


def nothing(folder: Path, what: str) -> BedsideError:
    """The error of a study whose notebooks have kept nothing in a folder."""
    profile = f" PROFILE={p}" if (p := folder.parent.name) in settings.profiles() else ""
    way = f"`make {folder.name}{profile}`" + " with the settings of this run" * (not profile)
    return BedsideError(f"{paths.rel(folder)} has no {what}. Run {way} first.")


def called(folder: Path) -> dict[str, dict]:
    """The calls of all notebooks of a folder of outputs, {key: call}, with their messages."""
    told, found = {}, {}
    for path in sorted(cache(folder).glob("calls_*.jsonl")):
        with open(path, encoding="utf-8") as f:
            for line in map(json.loads, f):
                if "message" in line:
                    told[line["digest"]] = line["message"]
                else:
                    found[line["key"]] = line
    return {k: {**v, "messages": [told[m] for m in v["messages"]]} for k, v in found.items()}


# ---- for everybody


def graded(
    paper: str,
    profile: str = "sample",
    section: str | None = None,
    texts: bool = True,
    **changed: Any,
) -> pd.DataFrame:
    """The graded replies of a study, a row for each reply and judge, with their `section`.

    paper: or the name of an own study, or of a run, whose replies then have the column `paper`.
    profile: or the name of a run. section: one of them, else all, each reply once. texts: the full
    frames of this machine, with questions, replies and judges' words; without them the committed
    files, which hold ids, verdicts and numbers. changed: settings of a run that has no name, such
    as models. docs/graded.md has the columns. Nothing is replayed or called. BedsideError names
    what to run if they aren't here.
    """
    import pandas as pd

    base = settings.figures()
    own = {p.parent.name: p for p in base.glob("own/*/verdicts.csv")}
    if paper in own and paper not in paths.papers():
        return _read(own[paper], texts)
    runs = {p.parent.name for p in base.glob("runs/*/run.json")} - {*paths.papers()}
    if paper in runs:
        there = [p for p in paths.papers() if sections(base / "runs" / paper / p)]
        parts = [graded(p, paper, section, texts).assign(paper=p) for p in there]
        return pd.concat(parts, ignore_index=True)
    choose(paper, [*paths.papers(), *own, *runs], "study or run")
    places = folders(paper, profile, **changed)
    if not (found := {s: place for place in places for s in sections(place)}):
        raise nothing(places[0], "graded replies")
    names = [choose(section, found, f"section of {paper}")] if section else found
    parts = [read(found[s], s, texts).assign(section=s) for s in names]
    return pd.concat(parts, ignore_index=True)


def calls(paper: str, profile: str = "sample") -> pd.DataFrame:
    """The calls behind a study's replies and verdicts, a row for each.

    key (as graded replies name it), item, model, messages, response_format, settings, text, tokens,
    date, seconds, usd. BedsideError names what to run if they aren't here.
    """
    import pandas as pd

    places = folders(paper, profile)
    if not (found := [call for place in places for call in called(place).values()]):
        raise nothing(places[0], "calls")
    return pd.DataFrame(found)


def claims(paper: str, profile: str = "sample") -> pd.DataFrame:
    """A study's claims with their verdicts, a row for each, from the last run of a profile.

    profile: or the name of a run. Columns as in figures/<profile>/claims.csv.
    """
    import pandas as pd

    folder = folders(paper, profile)[0]
    if not (path := folder.parent / "claims.csv").is_file():
        raise nothing(folder, "claims")
    made = pd.read_csv(path, keep_default_na=False)
    return made[made["paper"] == paper].reset_index(drop=True)


def table(paper: str, name: str, profile: str = "sample") -> pd.DataFrame:
    """A table or figure as its rows: printed, recomputed, raw and this run's numbers.

    name: of its file, such as table1_scores. profile: or the name of a run. Columns:
    `tables.COLUMNS`.
    """
    import pandas as pd

    from . import tables

    folder = folders(paper, profile)[0]
    if not (names := sorted(p.stem for p in folder.glob("*.md"))):
        raise nothing(folder, "tables")
    return pd.DataFrame(tables.read(folder / f"{choose(name, names, 'table')}.csv"))
