"""Handed out: one HTML page for each rater, which needs no server, and the labels that come back.

    paths = handed.out(rows, "my_task", ["Anna Berg", "Jo"], folder, size=30)
    lines = handed.taken("returned")

A page holds the rater's items and nothing that says who wrote or judged them. It keeps labels in
the browser and saves them as a file. What a label's record needs besides stays here, in
<task>/handed/<rater>-<hand>.json of the folder of labels; by it a file that comes back is checked.
"""

import contextlib
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Required, TypedDict

from bedside import BedsideError, choose, explorer
from bedside.asking.store import append, digest
from bedside.build import settings
from bedside.publish.judged_items import collect
from bedside.publish.pages import hashes, template
from bedside.read import outside, paths
from bedside.read.prompts import clean

from . import protocol
from .blind import alias, rows
from .faults import fault_of
from .labelling import JOINED, tasks
from .log import ADJUDICATED, FOLDER, Log, named, read
from .session import SAID, Rules, Session, assigned, grouped, ruled

HERE = Path(__file__).parent
SCRIPT = "elements spans entrance desk render alone".split()
LARGEST = 30_000_000  # bytes of a file that comes back


class Header(TypedDict):
    """The first line of a file that comes back."""

    bedside: str
    task: str
    rater: str
    hand: str


class Label(TypedDict, total=False):
    """A label, or with `training` or `entrance` what else the page keeps."""

    at: Required[str]
    id: str
    again: bool
    values: list[str]
    type: list[str]
    spans: list[str]
    reason: str
    source: str
    refused: str
    seconds: float
    training: str
    right: bool
    entrance: dict[str, str]


def out(
    found: list[dict], task: str, names: list[str], to: Path, folder: Path | str = "", **how: Any
) -> list[tuple[Path, int]]:
    """Write a page for each rater into the folder `to`; return (path, number of items) of each.

    how: single settings of `Session`, its `Draw` and `Rules`. What a rater has labelled already is
    on the page. For ADJUDICATED, `opinions` are shown beside each item.
    """
    made = []
    for name in names:
        session = Session(found, task, name, folder=folder or None, **grouped(**how))
        path = Path(to) / f"{task}-{session.log.rater}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        paths.write(path, _page(session))
        made.append((path, len(session.queue)))
    return made


def _page(session):
    """A session as HTML text; its entries are put down for the labels that come back."""
    items = [_item(session, entry) for entry in session.queue]
    kept = [
        {**session.record(entry), "answer": item["answer"]["text"]}
        for entry, item in zip(session.queue, items)
    ]
    entrance = protocol.entrance(session.task, session.log)
    made = {"group": session.group, **asdict(session.rules), "entries": kept}
    place = _place(session.log, made)
    place.parent.mkdir(parents=True, exist_ok=True)
    paths.write(place, json.dumps(made, indent=1), durable=True)
    data = {
        "hand": place.stem.removeprefix(f"{session.log.rater}-"),
        "task": session.task.name,
        "about": session.about,
        "entrance": entrance if session.rules.protocol else None,
        "training": protocol.training(session.task) if session.rules.protocol else [],
        "items": items,
    }
    sources = [(HERE / f"script/{name}.js").read_text(encoding="utf-8") for name in SCRIPT]
    scripts = ["\n".join([*sources, "begin();"])]
    data = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    style = (HERE / "annotation.css").read_text(encoding="utf-8")
    return template(HERE / "alone.html.j2").render(
        title=session.task.title,
        data=clean(data),
        style=style,
        script=scripts[0],
        hashes=hashes(scripts),
        rater=session.log.rater,
    )


def _place(log, made):
    """Where a page's entries are put down; in the same file if the same page is made again.

    By this file's name the page finds what the rater's browser has kept.
    """

    def bare(page):
        return {**page, "entries": [{**e, "at": ""} for e in page["entries"]]}

    folder, timeless = log.path.parent / "handed", bare(made)
    for path in folder.glob(f"{log.rater}-*.json"):
        with contextlib.suppress(ValueError, LookupError, TypeError):  # damaged
            if bare(outside.parsed(path.read_bytes())) == timeless:
                return path
    return folder / f"{log.rater}-{digest([log.rater, timeless])[:12]}.json"


def _item(session, entry):
    """What a page gets of an entry: what is on screen, and this rater's label so far."""
    given = session.given(entry)
    return {
        "id": alias(entry.row["id"]),
        "again": entry.repetition,
        **session.item(entry),
        "given": given and {k: given[k] for k in ("id", "at", "check", "seconds", "value", *SAID)},
    }


def by_make(given: dict[str, str]) -> None:
    """What `make annotate` does, by its variables in lower case; what is made is printed."""
    from . import raters

    if place := given.pop("from", ""):
        lines, refused = taken(place)
        print(*lines, sep="\n")
        if refused:
            raise BedsideError(f"{refused} of {len(lines)} files were not taken")
        return
    task = tasks()[choose(given.get("task", ""), tasks(), "TASK")]
    names = [n.strip() for n in given.get("raters", "").split(",") if n.strip()]
    if not names:
        raise BedsideError('name the raters: make annotate TASK=... RATERS="Anna Berg, Jo"')
    try:
        seed, size = int(given.get("seed", 0)), int(given.get("size", 20))
        own = task.batches if "protocol" in given and "shared" not in given else 0
        batches = int(given.get("batches", own))
    except ValueError:
        raise BedsideError("SEED, SIZE and BATCHES are whole numbers") from None
    how = {"group": given.get("group", ""), "seed": seed, "protocol": "protocol" in given}
    how["all_reasons"] = "reasons" in given
    found = rows(_document(task, given))
    if names == [ADJUDICATED]:
        labels = raters.labels(task.name, found)
        found = raters.differing(labels, found, task.name)
        how["opinions"] = raters.opinions(labels, found)
    else:
        shares = "shared" in given or batches
        how |= {"size": size, "batches": batches, "raters": names if shares else ()}
        if batches:
            print("batches:", assigned(names, batches))
    for path, count in out(found, task.name, names, settings.figures() / "annotate", **how):
        print(f"{paths.rel(path)}: {count} items")
    print("Send each rater their page; what they send back: make annotate FROM=its folder")


def _document(task, given):
    """The judged items that a task is about: of a profile or run, or of a study of one's own."""
    if task.name != "own":
        run = {k: given[k] for k in ("models", "limit") if k in given}
        return collect(given.get("profile", "sample"), task.paper, **run)
    page = settings.figures() / "own" / given.get("name", "") / "explorer.html"
    if not given.get("name") or not page.is_file():
        raise BedsideError(f"{paths.rel(page)}: name a study of your own that has run: NAME=")
    return explorer.read(page.read_text(encoding="utf-8"))[0]


# ---- what comes back


def taken(place: Path | str, folder: Path | str = "") -> tuple[list[str], int]:
    """Take in the files of labels in a folder: (lines that say what came of each, refused files).

    A file that is taken twice adds nothing. Of two labels for an item the later one counts.
    """
    found = sorted(p for p in Path(place).rglob("*") if p.is_file() and not p.name.startswith("."))
    if not found:
        raise BedsideError(f"FROM={place}: there is no file; name the folder of what came back")
    lines, refused = [], 0
    for path in found:
        try:
            lines.append(_take(path, Path(folder or FOLDER)))
        except (BedsideError, ValueError, OSError) as e:
            refused += 1
            lines.append(f"{path.name}: not taken: {BedsideError(str(e))}")
    return lines, refused


def _take(path, folder):
    """Take in one file; in words, what came of it. ValueError for what is wrong with it."""
    if path.stat().st_size > LARGEST:
        raise ValueError("it is larger than any file of labels")
    first, *rest = path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines() or [b""]
    try:
        about = outside.fitted(outside.parsed(first), Header)
    except ValueError:
        raise ValueError("it is no file of labels; send what the page's button saved") from None
    if about["task"] not in tasks():
        raise ValueError(f"there is no task {about['task']!r}")
    task, rater, hand = tasks()[about["task"]], named(about["rater"]), str(about["hand"])
    handed = folder / task.name / "handed" / f"{rater}-{hand}.json"
    if not hand.isalnum() or not handed.is_file():
        raise ValueError(f"no page of {rater!r} with this sample was handed out from here")
    kept = outside.parsed(handed.read_bytes())
    entries = {(e["id"], e["check"]): e for e in kept["entries"]}
    log, found = Log(folder, task.name, rater), []
    for number, line in enumerate(rest, 2):
        if line.strip():
            try:
                found.append(_read(line, task, entries, kept))
            except ValueError as e:
                raise ValueError(f"line {number}: {e}") from None
    before = {_same(r) for r in read(log.path)[0]}
    new = [r for kind, r in found if kind == "label" and _same(r) not in before]
    for record in sorted(new, key=lambda r: r["at"]):
        log.append(record)
    for kind in ("training", "entrance"):
        _beside(log, kind, [r for k, r in found if k == kind], kept["group"])
    given = log.both()
    done = [r for e in entries if (r := given[e[1]].get(e[0]))]
    refusals = sum(bool(r["refused"]) for r in done)
    last = max((r["at"] for r in done), default="never")
    told = f"{len(done)} of {len(entries)} done, {refusals} of them refused, last {last}"
    return f"{path.name}: {rater}, {task.name}: {len(new)} new labels; {told}"


def _same(record):
    return tuple(json.dumps(record[k]) for k in ("id", "check", "at", "value", *SAID))


def _read(line, task, entries, kept):
    """(kind, record) of a line: label, training or entrance. ValueError for its fault."""
    said = outside.fitted(outside.parsed(line), Label)
    if not datetime.fromisoformat(said["at"]).tzinfo:
        raise ValueError("its time has no zone")
    at = datetime.fromisoformat(said["at"]).astimezone(UTC).isoformat(timespec="seconds")
    if "training" in said:
        return "training", {"training": said["training"], "right": said["right"], "at": at}
    if "entrance" in said:
        return "entrance", {"answers": said["entrance"], "at": at}
    entry = entries.get((said.get("id"), said.get("again", False)))
    if not entry:
        raise ValueError("its item isn't on this rater's page")
    texts = {k: clean(said.get(k, "")).strip() for k in ("reason", "source", "refused")}
    spans = [s for s in map(clean, said.get("spans", [])) if s.strip()]
    texts |= {"type": JOINED.join(said.get("type", [])), "spans": spans}
    values, seconds = sorted(set(said.get("values", []))), round(said.get("seconds", 0.0), 3)
    how = ruled(task, Rules(kept["protocol"], kept["all_reasons"]))
    if fault := fault_of(how, values, texts, seconds, entry["answer"]):
        raise ValueError(fault)
    record = {k: v for k, v in entry.items() if k != "answer"}
    return "label", {**record, "value": JOINED.join(values), **texts, "seconds": seconds, "at": at}


def _beside(log, kind, records, group):
    """Put down consent and background, or training, once each."""
    folder = {"training": "training", "entrance": "background"}[kind]
    path = log.path.parent / folder / log.path.name
    before = path.read_bytes() if path.is_file() else b""
    task = tasks()[log.path.parent.name]
    for r in records:
        if kind == "entrance":
            said = r["answers"]
            mine = {
                name: said[name] if said.get(name) in known else protocol.NOT_SAID
                for name, _, known in task.background
            }
            r = {"consent": digest(task.consent), "group": group, "answers": mine, "at": r["at"]}
        line = json.dumps(r).encode() + b"\n"
        if line not in before:
            append(path, [line])
