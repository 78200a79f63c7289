"""Data: the sources of data/sources.toml, fetched at pinned revisions, verified, loaded as frames.

Files bundled with the project (`file = ...`) are loaded from their place. The papers' released data
are copied to data/external/, from the network or from a folder of the same layout (MIRROR=).
"""

import functools
import hashlib
import http.client
import json
import os
import re
import shutil
import urllib.request
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError, choose

from . import formats, paths

if TYPE_CHECKING:
    import pandas as pd


class SourceError(BedsideError):
    """A source is missing, or differs from what data/sources.toml says."""


@functools.cache
def registry() -> dict[str, dict]:
    """All entries of data/sources.toml by name."""
    return paths.toml(paths.DATA / "sources.toml")


def entry(name: str) -> dict:
    """One entry; BedsideError with the nearest name for an unknown one."""
    return registry()[choose(name, registry(), "source")]


def where(name: str) -> tuple[Path | None, Path]:
    """(path inside a mirror or None, path in this repository) of a source's file."""
    e = entry(name)
    if "file" in e:
        return None, paths.ROOT / e["file"]
    host = "github" if "github" in e else "huggingface"
    inside = Path(host, e[host], e["path"])
    return inside, paths.EXTERNAL / inside


def here(name: str) -> bool:
    """Whether a source's file is there; optional sources are used only then."""
    return where(name)[1].is_file()


def used_by(profile: str, paper: str = "") -> list[str]:
    """Names of a profile's sources, of all papers or of one."""
    mine = {n: e for n, e in registry().items() if paper in ("", e["paper"])}
    return [n for n, e in mine.items() if profile in e["profiles"]]


def private(profile: str, paper: str, notebook: str) -> list[str]:
    """The sources here that a notebook alone may read; what rests on them isn't committed."""
    mine = used_by(profile, paper)
    return [n for n in mine if entry(n).get("private") == notebook and here(n)]


def sha256(path: Path | str) -> str:
    """sha256 (hex) of a file."""
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def blob(path: Path | str) -> str:
    """The SHA-1 (hex) by which git knows a file: over `blob <bytes>`, a zero byte, the content."""
    content = Path(path).read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


# ---- fetched


def fetch(name: str, mirror: Path | str | None = None) -> str:
    """Put a source's file into data/external/, verified.

    Returns bundled, present or fetched, or absent for an optional file that the user may add.
    """
    e, (inside, path) = entry(name), where(name)
    if inside is None and e.get("optional") and not path.is_file():
        return "absent"
    if inside is None or path.is_file():
        verified(name)
        return "bundled" if inside is None else "present"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + f".part{os.getpid()}")
    url = f"https://huggingface.co/datasets/{e.get('huggingface')}"
    if "github" in e:
        url = f"{GITHUB}/{e['github']}/{e['revision']}/{e['path']}"
    try:
        if mirror:
            shutil.copyfile(Path(mirror) / inside, part)
        elif "github" in e:
            _download(url, part)
        else:
            _from_hub(e, part)
        _verify(name, part)
        part.replace(path)
        forget()
    except OSError as err:
        way = f"without a network, give MIRROR=DIR, a folder with DIR/{inside}"
        way = f"{mirror} has no {inside}" if mirror else f"The address is {url}; {way}"
        why = f"source {name!r} can't be fetched ({err.strerror or err})"
        raise SourceError(f"{why}. {way}, or put the file at {paths.rel(path)}.") from err
    finally:
        part.unlink(missing_ok=True)
    return "fetched"


GITHUB = "https://raw.githubusercontent.com"


def _download(url, to):
    """Save what an address holds; OSError if it can't be had, or only a part of it came."""
    try:
        with urllib.request.urlopen(url, timeout=60) as reply, open(to, "wb") as f:
            shutil.copyfileobj(reply, f)
            told = reply.headers.get("Content-Length")
    except http.client.HTTPException as err:
        raise OSError(f"{type(err).__name__}: {err}") from err
    if told and to.stat().st_size < int(told):
        raise OSError(f"{to.stat().st_size} of {told} bytes came")


def _from_hub(e, part):
    rows = from_hub(e["huggingface"], e["split"], e.get("revision"))
    rows.to_json(str(part), lines=True, force_ascii=False)


def from_hub(name: str, split: str | None, revision: str | None):
    """A data set of the Hugging Face hub, as `datasets` loads it; OSError says why it can't be."""
    import datasets

    try:
        return datasets.load_dataset(name, split=split, revision=revision)
    except Exception as err:  # the hub's client raises many kinds; all mean that loading failed
        why = str(err).splitlines()[0] if str(err) else type(err).__name__
        raise OSError(f"the Hugging Face hub says: {why}") from err


# ---- verified


def verified(name: str) -> "pd.DataFrame":
    """A source's file as a frame, with hash, columns, rows and totals checked.

    Raises SourceError naming what differs.
    """
    inside, path = where(name)
    if not path.is_file():
        way = "; fetch it with `make data PROFILE=public` (MIRROR=DIR without a network)"
        raise _fault(name, path, f"is missing{'' if inside is None else way}")
    return _verify(name, path)


AGAIN = "delete it and run `make data` again"
NAMES = {"sha256": "sha256", "blob": "git blob"}
POINTER = re.compile(rb"version https://git-lfs|\S*annex/objects/|\.\./\S*\.git/annex/")


def _fault(name, path, what):
    """The error for a faulty source file."""
    return SourceError(f"{paths.rel(path)} (source {name!r}) {what}")


def _verify(name, path):
    """The checked frame of `path`, which holds a source or is to become its file."""
    e, fault = entry(name), functools.partial(_fault, name, where(name)[1])
    for kind, digest in (("sha256", sha256), ("blob", blob)):
        if kind in e and (found := digest(path)) != e[kind]:
            with open(path, "rb") as f:
                if POINTER.match(f.read(200)):
                    raise fault(
                        "is a pointer to a large file, not the file itself. Put the file there."
                    )
            differs = f"its {NAMES[kind]} is {found[:12]}..., expected {e[kind][:12]}..."
            raise fault(f"is a different file: {differs}; {AGAIN}, or see data/sources.toml")
    suffixes = [s for s in path.suffixes if not s.startswith(".part")]
    kind = e.get("format", suffixes[-1].lstrip("."))
    try:
        frame = formats.read(path, kind, e)
    except UnicodeDecodeError as err:
        raise fault(f"isn't UTF-8 (byte {err.start}). Save it as UTF-8.") from err
    except (ValueError, KeyError, SyntaxError) as err:  # SyntaxError: of XML
        raise fault(f"can't be read as {kind}: {err}") from err
    if missing := [c for c in e.get("columns", []) if c not in frame.columns]:
        lacking, there = (", ".join(map(repr, c)) for c in (missing, list(frame.columns)[:12]))
        raise fault(f"has no column {lacking}. Its columns: {there}.")
    if "rows" in e and len(frame) != e["rows"]:
        raise fault(f"has {len(frame)} rows, expected {e['rows']}; {AGAIN}")
    for column, expected in e.get("totals", {}).items():
        counts = frame[column].value_counts().to_dict()
        known = sorted(k for k in {*counts, *expected} if counts.get(k) != expected.get(k))
        if known:
            told = (f"{k}: {counts.get(k, 0)} (expected {expected.get(k, 0)})" for k in known)
            raise fault(f"has other numbers of rows by {column}: {'; '.join(told)}")
    return frame


def row_digests(name: str, frame: "pd.DataFrame") -> list[str]:
    """A short digest of each row of a source, over the listed columns.

    QID is left out, since the hub may number rows differently.
    """
    columns = [c for c in entry(name)["columns"] if c != "QID"]
    rows = (json.dumps(row) for row in frame[columns].astype(str).values.tolist())
    return [hashlib.sha256(row.encode()).hexdigest()[:16] for row in rows]


def differing(name: str) -> list[str]:
    """The rows of a source without a known upstream hash that this project has never seen."""
    if "seen" not in (e := entry(name)):
        return []
    known, frame = set((paths.ROOT / e["seen"]).read_text().split()), load(name)
    rows = zip(frame.get("QID", frame.index), row_digests(name, frame))
    return [str(label) for label, digest in rows if digest not in known]


# ---- loaded


@functools.lru_cache(maxsize=8)
def _frame(name):
    return verified(name)


def load(name: str) -> "pd.DataFrame":
    """A verified source as a new frame: sample data as written, external data as released."""
    return _frame(name).copy()


def data_of(name: str, profile: str = "sample") -> "pd.DataFrame | dict[str, pd.DataFrame]":
    """A source of a profile as a frame; of a study, its sources that are here, {name: frame}.

    Raises BedsideError for an unknown name, and SourceError for a file that differs or is missing.
    """
    if name in registry():
        return taken([name], profile)[0][0]
    choose(name, [*paths.papers(), *registry()], "study or source")
    return {n: load(n) for n in used_by(profile, name) if here(n) and "private" not in entry(n)}


def taken(names: Collection[str], profile: str) -> "tuple[list[pd.DataFrame], dict[str, str]]":
    """(sources as `load` returns them, {name: sha256}); BedsideError if not of the profile."""
    for name in names:
        if profile not in entry(name)["profiles"]:
            raise BedsideError(f"source {name!r} isn't part of PROFILE={profile}")
    return [load(name) for name in names], {name: sha256(where(name)[1]) for name in names}


def forget() -> None:
    """Read every source anew when it is next used; call this after writing one."""
    _frame.cache_clear()


# ---- what a run takes of them


def all_sources(run) -> "dict[str, pd.DataFrame]":
    """All available sources of a run's paper and profile that any notebook may read."""
    mine = used_by(run.profile, run.paper)
    return {n: run.load(n) for n in mine if here(n) and "private" not in entry(n)}


def first_items(run: Any, frame: "pd.DataFrame", whole: bool = False) -> "pd.DataFrame":
    """The first LIMIT items of a frame, or the whole frame.

    Raises BedsideError if an item occurs twice or has an empty cell.
    """
    if (twice := frame.loc[frame["item"].duplicated(), "item"]).size:
        raise BedsideError(f"item {twice.iloc[0]!r} occurs twice. Keep one row for it")
    if (bad := frame[frame.isna().any(axis=1)]).size:
        lacks = ", ".join(bad.columns[bad.iloc[0].isna()])
        raise BedsideError(f"item {bad['item'].iloc[0]!r} has nothing in {lacks}. Fill it in")
    most = len(frame) if whole or not run.limit else run.limit
    return frame.head(most).reset_index(drop=True)


def random_rows(run: Any, frame: "pd.DataFrame", size: int, *name: object) -> "pd.DataFrame":
    """`size` rows drawn with the run's seed (and a name, for several draws), in their order.

    All rows if size is 0 or there are no more than `size`.
    """
    if not 0 < size < len(frame):
        return frame
    places = run.rng("drawn", *name).choice(len(frame), size, replace=False)
    return frame.iloc[sorted(places)].reset_index(drop=True)
