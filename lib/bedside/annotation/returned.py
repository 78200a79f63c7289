"""What comes back from raters: files of pages or of Label Studio, checked line by line."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Required, TypedDict

from bedside import BedsideError
from bedside.asking.store import digest
from bedside.read import outside
from bedside.read.prompts import clean

from . import label_studio, protocol
from .labelling import JOINED, tasks
from .log import FOLDER, REFUSALS, append, last, named, read

LARGEST = 30_000_000  # bytes of a file that comes back
SAID = "id check at value type spans reason refused source".split()  # by which a label is known


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


def taken(place: Path | str, folder: Path | str = "") -> tuple[list[str], int]:
    """Take in the files of labels in a folder: (lines that say what came of each, refused files).

    A file that is taken twice adds nothing. Of two labels for an item the later one counts.
    """
    found = sorted(p for p in Path(place).rglob("*") if p.is_file() and not p.name.startswith("."))
    if not found:
        raise BedsideError(f"FROM={place}: no such file. Name the folder of the returned files.")
    lines, refused = [], 0
    for path in found:
        try:
            if path.stat().st_size > LARGEST:
                raise ValueError("it is larger than any file of labels")
            for header, given in _parts(path.read_bytes().removeprefix(b"\xef\xbb\xbf")):
                lines.append(f"{path.name}: {_take(header, given, Path(folder or FOLDER))}")
        except (BedsideError, ValueError, OSError) as e:
            refused += 1
            lines.append(f"{path.name}: not taken: {BedsideError(str(e))}")
    return lines, refused


def _parts(text):
    """[(header, [(the line's name, line)])] of a file: of Label Studio one for each rater."""
    if text.lstrip()[:1] == b"[":
        return label_studio.imported(outside.parsed(text))
    first, *rest = text.splitlines() or [b""]
    try:
        header = outside.fitted(outside.parsed(first), Header)
    except ValueError:
        raise ValueError(
            "it isn't a file of labels. Send the file that the page's button saved."
        ) from None
    return [(header, [(f"line {n}", x) for n, x in enumerate(rest, 2) if x.strip()])]


def pages(folder: Path, rater: str) -> dict[str, dict]:
    """What was put down of a rater's pages of a task: {the page's name: it}."""
    found = [(p, p.stem.rpartition("-")) for p in sorted((folder / "handed").glob("*.json"))]
    return {hand: outside.parsed(p.read_bytes()) for p, (who, _, hand) in found if who == rater}


def _take(about, given, folder):
    """Take in a rater's lines; in words, what came of it. ValueError for what is wrong with it."""
    if about["task"] not in tasks():
        raise ValueError(f"there is no task {about['task']!r}")
    task, rater, hand = tasks()[about["task"]], named(about["rater"]), str(about["hand"])
    handed = pages(folder / task.name, rater)
    if hand not in handed:
        raise ValueError(f"no page of {rater!r} with this sample was handed out from here")
    page = handed[hand]
    task = task.ruled(page["protocol"], page["all_reasons"])
    # a browser also gives back what it kept of the rater's earlier pages
    every = {(e["id"], e["check"]): e for p in [*handed.values(), page] for e in p["entries"]}
    found = {"": [], "training": [], "background": []}
    for place, line in given:
        try:
            kind, record = _read(line, task, every, page["group"])
        except ValueError as e:
            raise ValueError(f"{place}: {e}") from None
        found[kind].append(record)
    path = folder / task.name / f"{rater}.jsonl"
    known = [[r[k] for k in SAID] for r in read(path)[0]]
    new = [r for r in found.pop("") if [r[k] for k in SAID] not in known]
    append(path, sorted(new, key=lambda r: r["at"]))
    for kind, records in found.items():
        beside = path.parent / kind / path.name
        known = protocol.lines(beside)
        append(beside, [r for r in records if r not in known])
    entries = {(e["id"], e["check"]) for e in page["entries"]}
    done = [r for key, r in last(path).items() if key in entries]
    refusals = sum(bool(r["refused"]) for r in done)
    latest = max((r["at"] for r in done), default="never")
    told = f"{len(done)} of {len(entries)} done, {refusals} of them refused, last {latest}"
    return f"{rater}, {task.name}: {len(new)} new labels; {told}"


def _read(line, task, entries, group):
    """(kind, record) of a line; kind: a folder, empty for a label. ValueError for its fault."""
    said = outside.fitted(outside.parsed(line) if isinstance(line, bytes) else line, Label)
    at = datetime.fromisoformat(said["at"])
    if not at.tzinfo:
        raise ValueError("its time has no time zone")
    at = at.astimezone(UTC).isoformat(timespec="seconds")
    if "training" in said:
        return "training", {"training": said["training"], "right": said.get("right"), "at": at}
    if "entrance" in said:
        given = {name: said["entrance"].get(name) for name, _, _ in task.background}
        answers = {
            name: given[name] if given[name] in known else protocol.NOT_SAID
            for name, _, known in task.background
        }
        about = {"consent": digest(task.consent), "group": group, "answers": answers}
        return "background", {**about, "at": at}
    entry = entries.get((said.get("id"), said.get("again", False)))
    if not entry:
        raise ValueError("its item isn't on this rater's page")
    label = {k: clean(said.get(k, "")).strip() for k in ("reason", "source", "refused")}
    label |= {"values": sorted(set(said.get("values", []))), "type": said.get("type", [])}
    label["spans"] = [s for s in map(clean, said.get("spans", [])) if s.strip()]
    label["seconds"] = round(said.get("seconds", 0.0), 3)
    if found := fault(task, label, entry["answer"]):
        raise ValueError(found)
    texts = {"value": JOINED.join(label.pop("values")), "type": JOINED.join(label.pop("type"))}
    return "", {k: v for k, v in entry.items() if k != "answer"} | label | texts | {"at": at}


def fault(task, label, answer):
    """The fault of a label in words, or an empty text.

    task: as `ruled`. label: as `Label`. answer: the text in which spans are marked.
    """
    values, types, spans, refused = (label[k] for k in ("values", "type", "spans", "refused"))
    marks = bool(task.spans_for) and values == [task.spans_for]
    offered, words = task.types if marks else task.labels, " ".join(answer.split())

    def listed(given):
        return ", ".join(f"{value} (key {key})" for key, value, _ in given)

    def unknown(chosen, known):
        return [c for c in chosen if c not in [value for _, value, _ in known]]

    def lacks(field, needing):
        return not label[field] and not refused and {*values} & {*needing}

    strange, other = unknown(values, task.choices), unknown(types, offered)
    missing = [s for s in spans if " ".join(s.split()) not in words]
    many = not refused and not task.several and len(values) != 1
    needs = f"{task.spans_for!r} needs"
    faults = (
        (not 0 <= label["seconds"] < math.inf, "seconds must be a number of at least 0"),
        (refused and refused not in REFUSALS, f"{refused!r} is not a refusal: {[*REFUSALS]}"),
        (refused and (values or types or spans), "a refusal has no value, type or span"),
        (
            refused == "faulty" and not label["reason"],
            "a refusal needs a reason: say what is wrong",
        ),
        (refused and not label["reason"], "a refusal needs a reason: say why it can't be decided"),
        (strange, f"{strange[:1]} isn't a choice; choices are {listed(task.choices)}"),
        (many, f"choose one of {listed(task.choices)}"),
        ((types and not offered) or (spans and not marks), f"{values} has no type and no spans"),
        (other, f"{other[:1]} is not offered; choose {listed(offered)}"),
        (marks and len(types) != 1, f"{needs} a type: choose {listed(task.types)}"),
        (marks and not spans, f"{needs} at least one span; select words in the answer"),
        (missing, f"the span {missing[:1]} isn't in the answer; select it there"),
        (lacks("reason", task.reason_for), f"{values[:1]} needs a reason (r)"),
        (lacks("source", task.source_for), f"{values[:1]} needs the source that you consulted (o)"),
    )
    return next((text for bad, text in faults if bad), "")
