"""Data: what data/sources.toml lists, fetched at a pinned revision, verified, loaded as frames.

Files bundled with the project (`file = ...`) are loaded where they are; the papers' released data go to
data/external/, from the network or from a folder of the same layout (MIRROR=).
"""

import functools
import hashlib
import io
import json
import os
import shutil
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

from . import BedsideError, choose, paths


class SourceError(BedsideError):
    """A source that is missing, or isn't what data/sources.toml says it is."""


@functools.cache
def registry():
    """All entries of data/sources.toml by name."""
    return tomllib.loads((paths.DATA / "sources.toml").read_text())


def entry(name):
    """One entry; an unknown name is an error with the nearest one."""
    known = registry()
    return known[name] if name in known else choose(name, known, "source")


def where(name):
    """(path inside a mirror or None, path in this repository) of a source's file."""
    e = entry(name)
    if "file" in e:
        return None, paths.ROOT / e["file"]
    inside = Path(
        "github" if "github" in e else "huggingface", e.get("github") or e["huggingface"], e["path"]
    )
    return inside, paths.EXTERNAL / inside


def sha256(path):
    """sha256 (hex) of a file."""
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def fetch(name, mirror=None):
    """Put a source's file into data/external/, verified; return 'bundled', 'present' or 'fetched', or 'absent' for what its owner may add."""
    e, (inside, path) = entry(name), where(name)
    if inside is None:
        if e.get("optional") and not path.is_file():
            return "absent"
        verified(name)
        return "bundled"
    if path.is_file():
        verified(name)
        return "present"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + f".part{os.getpid()}")
    try:
        if mirror:
            shutil.copyfile(Path(mirror) / inside, part)
        elif "github" in e:
            url = f"https://raw.githubusercontent.com/{e['github']}/{e['revision']}/{e['path']}"
            with urllib.request.urlopen(url, timeout=60) as reply, open(part, "wb") as f:
                shutil.copyfileobj(reply, f)
        else:
            _from_hub(e, part)
        _verify(name, part)
        part.replace(path)
        forget()
    except (OSError, urllib.error.URLError) as err:
        way = (
            f"{mirror} has no {inside}"
            if mirror
            else (
                "without a network, give a folder that holds it: "
                f"MIRROR=DIR with DIR/{inside}, or put the file at {paths.rel(path)}"
            )
        )
        raise SourceError(f"source {name!r} can't be had ({err}); {way}") from err
    finally:
        part.unlink(missing_ok=True)
    return "fetched"


def _from_hub(e, part):
    import datasets

    try:
        rows = datasets.load_dataset(e["huggingface"], split=e["split"], revision=e.get("revision"))
    except Exception as err:  # the hub's client raises many kinds; all mean that it can't be had
        raise OSError(
            "the Hugging Face hub says:"
            f" {str(err).splitlines()[0] if str(err) else type(err).__name__}"
        ) from err
    rows.to_json(str(part), lines=True, force_ascii=False)


def _verify(name, path):
    e = entry(name)
    if "sha256" in e and (found := sha256(path)) != e["sha256"]:
        raise SourceError(
            f"{paths.rel(where(name)[1])} (source {name!r}): sha256 is {found[:12]}..., expected"
            f" {e['sha256'][:12]}...; delete the file and run `make data` again, or see"
            " data/sources.toml"
        )
    frame = _parse(name, path)
    missing = [c for c in e.get("columns", []) if c not in frame.columns]
    if missing:
        raise SourceError(
            f"{paths.rel(where(name)[1])} (source {name!r}): no column"
            f" {', '.join(map(repr, missing))}; it has"
            f" {', '.join(map(repr, list(frame.columns)[:12]))}"
        )
    if "rows" in e and len(frame) != e["rows"]:
        raise SourceError(
            f"{paths.rel(where(name)[1])} (source {name!r}): {len(frame)} rows, expected"
            f" {e['rows']}; the file is cut short or another version: delete it and run `make data`"
            " again"
        )
    for column, totals in e.get("totals", {}).items():
        found = frame[column].value_counts().to_dict()
        if found != totals:
            rows = [
                f"{k}: {found.get(k, 0)} (expected {totals.get(k, 0)})"
                for k in sorted(found.keys() | totals.keys())
                if found.get(k, 0) != totals.get(k, 0)
            ]
            raise SourceError(
                f"{paths.rel(where(name)[1])} (source {name!r}): rows that differ by {column}: "
                + "; ".join(rows)
            )
    return frame


def row_digests(name, frame):
    """A short digest of each row of a source (its listed columns but QID, which the hub may number otherwise)."""
    columns = [c for c in entry(name)["columns"] if c != "QID"]
    return [
        hashlib.sha256(json.dumps(row, ensure_ascii=True).encode()).hexdigest()[:16]
        for row in frame[columns].astype(str).values.tolist()
    ]


def differing(name):
    """For a source without a known upstream hash: the rows that are not the ones this project has seen (`seen`)."""
    e = entry(name)
    if "seen" not in e:
        return []
    known = set((paths.ROOT / e["seen"]).read_text().split())
    frame = load(name)
    return [
        str(label)
        for label, d in zip(frame.get("QID", frame.index), row_digests(name, frame))
        if d not in known
    ]


def verified(name):
    """Verify a source's file where it lies: hash, columns, rows, totals. Raises SourceError naming what differs."""
    path = where(name)[1]
    if not path.is_file():
        flag = (
            ""
            if where(name)[0] is None
            else "; fetch it with `make data PROFILE=public` (MIRROR=DIR without a network)"
        )
        raise SourceError(f"{paths.rel(path)} (source {name!r}) is missing{flag}")
    return _verify(name, path)


def _objects(text):
    """Objects of JSON written one after another, pretty-printed or not."""
    decode, at, found = json.JSONDecoder().raw_decode, 0, []
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        value, at = decode(text, at)
        found.append(value)
    return found


def _inside(record, path):
    """What an XML record holds at a path: text with single spaces, of an attribute for `@name`, a list of all for `path*`."""
    if path.startswith("@"):
        return record.get(path[1:], "")
    texts = [
        " ".join("".join(node.itertext()).split())
        for node in record.findall(path.removesuffix("*"))
    ]
    return texts if path.endswith("*") else (texts or [""])[0]


def _parse(name, path):
    import pandas as pd

    e, kind = entry(name), path.suffix if path.suffix[:5] != ".part" else path.suffixes[-2]
    kind = e.get("format", kind.lstrip("."))
    try:
        if kind == "xlsx":
            return pd.read_excel(path, dtype=str, keep_default_na=False)
        text = path.read_text(encoding="utf-8-sig")
        if kind == "csv":
            return pd.read_csv(
                io.StringIO(text), dtype=str, keep_default_na=False, skiprows=e.get("skip_rows")
            )
        if kind == "tsv":  # without a head
            return pd.read_csv(
                io.StringIO(text),
                sep="\t",
                header=None,
                names=e["fields"],
                dtype=str,
                keep_default_na=False,
                quoting=3,
            )
        if kind == "xml":
            from xml.etree import ElementTree

            return pd.DataFrame(
                [
                    {c: _inside(r, path) for c, path in e["fields"].items()}
                    for r in ElementTree.fromstring(text).iter(e["record"])
                ]
            )
        if kind == "jsonl":
            return pd.DataFrame([json.loads(line) for line in text.splitlines() if line.strip()])
        if kind == "objects":
            return pd.DataFrame(_objects(text))
        value = json.loads(text)
        if kind == "keyed":  # an object of objects
            return pd.DataFrame([{"key": k, **v} for k, v in value.items()])
        return (
            pd.DataFrame(value)
            if isinstance(value, list)
            else pd.DataFrame({"key": list(value), "value": list(value.values())})
        )
    except UnicodeDecodeError as err:
        raise SourceError(
            f"{paths.rel(path)} (source {name!r}) is not UTF-8 (byte {err.start}); save it as UTF-8"
        ) from err
    except (ValueError, KeyError, SyntaxError) as err:  # SyntaxError: of XML
        raise SourceError(
            f"{paths.rel(path)} (source {name!r}) can't be read as {kind}: {err}"
        ) from err


@functools.lru_cache(maxsize=8)
def _frame(name):
    return verified(name)


def load(name):
    """A source as a frame of its own, verified: sample data as written, external data as released."""
    return _frame(name).copy()


def taken(name, profile):
    """A source as `load` gives it, for a profile that it belongs to, and its sha256."""
    if profile not in entry(name)["profiles"]:
        raise BedsideError(f"source {name!r} doesn't belong to PROFILE={profile}")
    return load(name), sha256(where(name)[1])


def forget():
    """Read every source anew when it is next wanted; for whoever has written one."""
    _frame.cache_clear()


def here(name):
    """Whether a source's file is there; for an optional one, which is used only then."""
    return where(name)[1].is_file()


def used_by(profile, paper=""):
    """Names of the sources of a profile, all or one paper's."""
    return [
        n for n, e in registry().items() if profile in e["profiles"] and paper in ("", e["paper"])
    ]


def every(run):
    """All of a run's paper's sources in its profile that are there: {name: frame}."""
    return {n: run.load(n) for n in used_by(run.profile, run.paper) if here(n)}


def limited(run, frame, whole=False):
    """The first LIMIT items of a frame, or the whole of it; an error if one stands twice or lacks something."""
    if (bad := frame[frame["item"].duplicated() | frame.isna().any(axis=1)]).size:
        raise BedsideError(
            f"item {bad['item'].iloc[0]!r} stands twice, or one of {', '.join(frame.columns)}"
            " isn't known"
        )
    most = len(frame) if whole or not run.limit else run.limit
    return frame.head(most).reset_index(drop=True)


def drawn(run, frame, size, *name):
    """`size` rows drawn with the run's seed (and a name, for several draws), in their order.

    All of them if size is 0 or there are no more.
    """
    if not 0 < size < len(frame):
        return frame
    places = run.rng("drawn", *name).choice(len(frame), size, replace=False)
    return frame.iloc[sorted(places)].reset_index(drop=True)
