"""Questions and answers that a user brings, read and checked before any model is called.

    read("mine.csv")
    read("owner/name:test", revision="9f3c2a...")  # a data set of the Hugging Face hub
    answers("theirs.jsonl", items)

A file is CSV or JSON Lines, in UTF-8. The error for a faulty file lists its first ten faults by
line and column.
"""

import contextlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bedside import BedsideError

from . import logs, paths, sources, user_files
from .prompts import clean

if TYPE_CHECKING:
    import pandas as pd

ASKED = ("item", "question")
COLUMNS = (*ASKED, "reference", "group", "unit", "system")
TALK = user_files.TALK
ANSWERED = ("item", "model", "answer")
ALL = "all"  # what tables call the questions of all groups
HUB = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(:[\w.-]+)?")
FILES = (*user_files.KINDS, *user_files.SPREADSHEETS, ".json", ".tsv", ".txt")
MOVES = ("", "main", "master")  # revisions that may hold other data tomorrow
FROM = re.compile(r".+ \(from .+\)", re.S)  # the shown name of a model with answers made elsewhere
BLANK, MISSING = "blank", "not in the file"  # why an answer made elsewhere is lacking


def read(source: "str | Path | pd.DataFrame", revision: str = "") -> "pd.DataFrame":
    """Questions of a CSV or JSON Lines file, of a frame, or of a data set of the Hugging Face hub.

    source: a path, from the working folder or else from the repository's root; a DataFrame; or
    `owner/name` or `owner/name:split` with its revision. Columns of the result, all text: item,
    question, reference, group, unit (the item where none is given), system; if any question is a
    conversation, its `messages` as JSON, which `question` then has as a text. Raises BedsideError
    for any fault.
    """
    import pandas as pd

    framed = isinstance(source, pd.DataFrame)
    file = not framed and (user_files.there(source) or Path(source).suffix.lower() in FILES)
    hub = not framed and not file and HUB.fullmatch(str(source))
    if revision and not hub:
        name = FRAME if framed else source
        raise BedsideError(
            f"REVISION={revision} is only for a data set of the hub, but {name} isn't one"
        )
    if framed:
        names = list(map(str, source.columns))
        # whole numbers with a gap are floats to pandas: 7 is not to be asked or judged as 7.0
        cells = source.convert_dtypes().astype(object).where(source.notna(), None)
        rows = (dict(zip(names, row)) for row in cells.itertuples(index=False, name=None))
        way = f"rename its columns: {', '.join(COLUMNS)} (the first two suffice)"
        table = user_files.of_rows(FRAME, names, rows, (*COLUMNS, TALK), ASKED, way)
    elif hub:
        table = _of_hub(source, revision)
    elif file or Path(source).suffix:
        table = user_files.of_file(source, (*COLUMNS, TALK), ASKED, rows_of=_as_question)
    else:
        way = "named like a data set of the Hugging Face hub (owner/name or owner/name:split)"
        raise BedsideError(f"{source} is neither a file nor {way}")
    seen = {}
    for place, row in table.rows:
        talk = row.get(TALK, "")
        table.filled(place, row, ASKED[:1] if talk else ASKED)
        if talk and not talk.startswith("?"):  # else a fault already
            text = "\n\n".join(f"{m['role'].upper()}: {m['content']}" for m in json.loads(talk))
            if row["question"] not in ("", text) or row["system"]:
                told = "replaces question and system; leave these two empty"
                table.fault(place, TALK, told)
            row["question"] = text
        table.once(seen, place, row["item"] or place, f"item {row['item']!r}")
        if row["group"] == ALL:
            table.fault(place, "group", f"{ALL!r} means all questions; choose another name")
    table.close("question")
    talk = [TALK] * any(row.get(TALK) for _, row in table.rows)
    frame = pd.DataFrame([row for _, row in table.rows], columns=[*COLUMNS, *talk])
    return frame.assign(unit=frame["unit"].where(frame["unit"] != "", frame["item"]))


FRAME = "the DataFrame of questions"


# ---- HealthBench's JSON Lines: a conversation with the criteria of its answer


def _as_question(row):
    """The rows of a line: itself, or a question of what HealthBench has."""
    if not _of_benchmark(row):
        return [row]
    group = _tagged(row.get("example_tags"), "theme")
    return [{"item": row.get("prompt_id"), TALK: row["prompt"], "group": group}]


def as_criteria(row: dict) -> list[dict]:
    """The rows of criteria of a line of JSON Lines: itself, or the criteria of HealthBench's."""
    if not _of_benchmark(row):
        return [row]
    return [
        {"item": row.get("prompt_id"), "id": str(n), "group": _tagged(c.get("tags"), "axis")}
        | {"criterion": c.get("criterion"), "points": c.get("points")}
        for n, c in enumerate(row["rubrics"], 1)
    ]


def has_criteria(source: Any) -> bool:
    """Whether a file of questions brings its criteria along, as HealthBench's does."""
    path = paths.found(source) if isinstance(source, str | Path) else Path()
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return False
    with contextlib.suppress(ValueError), open(path, encoding="utf-8-sig") as file:
        return _of_benchmark(json.loads(file.readline()))
    return False


def _of_benchmark(row):
    lists = isinstance(row, dict) and [row.get("prompt"), row.get("rubrics")]
    return (
        bool(lists)
        and all(isinstance(x, list) for x in lists)
        and all(isinstance(c, dict) for c in row["rubrics"])
    )


def _tagged(tags, kind):
    """What the first tag of a kind says: "theme:hedging" is hedging."""
    tags = [t for t in tags or () if isinstance(t, str) and t.startswith(f"{kind}:")]
    return tags[0].partition(":")[2] if tags else ""


def _of_hub(source, revision):
    """The Table of a data set, whose other columns a user can't rename."""
    if revision in MOVES:
        way = "one of its commits or tags, so that the same data can be read again"
        raise BedsideError(
            f"{source} isn't a file. A data set of the hub needs REVISION=..., {way}"
        )
    name, _, split = source.partition(":")
    try:
        rows = sources.from_hub(name, split or None, revision)
    except OSError as e:
        way = "without a network, give a CSV copy of it"
        raise BedsideError(f"{source}, revision {revision}: {e}; {way}") from e
    if isinstance(rows, dict):
        if len(rows) > 1:
            splits = ", ".join(f"{name}:{split}" for split in rows)
            raise BedsideError(f"{source} has several splits. Name one: {splits}")
        (rows,) = rows.values()
    names = rows.column_names
    known = COLUMNS if "question" in names else (*COLUMNS, TALK)
    way = f"save it as CSV with the columns {', '.join(COLUMNS)}, and give that file"
    return user_files.of_rows(source, names, rows, known, ASKED, way, others=True)


# ---- answers made elsewhere


def answers(
    path: str | Path, items: Iterable[str], repeats: bool = False
) -> "tuple[pd.DataFrame, list[str]]":
    """Answers made elsewhere to `items`, and a line for each item of the file that isn't asked.

    path: as of `answer_files`: a file with item, model, answer, a log of Inspect (`logs`), a folder
    of logs, or several of these, "a.eval b.json". The frame has a row for each of its models and
    each item, with the columns of `models.answers_of`: item, model ("NAME (from FILE)"), answer,
    reply_status (BLANK, MISSING or what the log says if there is no answer), truncated (False where
    it is unknown), sent (empty). repeats: a log's epochs are a column `repeat`, from 0; else each
    later one is a model of its own. Raises BedsideError for a faulty file, for two answers of a
    model to one item, and if none of a file's items is asked.
    """
    import pandas as pd

    asked, files = list(dict.fromkeys(items)), named_files(path)
    parts, lines = zip(*(_answers(file, name, asked, repeats) for name, file in files.items()))
    made = pd.concat(parts, ignore_index=True)
    return made if repeats else made.drop(columns="repeat"), sum(lines, [])


def answer_files(given: str | Path) -> list[Path]:
    """The files of ANSWERS=: one, or several as "a.eval b.json"; of a folder its logs.

    Raises BedsideError for what isn't there.
    """
    found = []
    for name in user_files.names(given):
        path = paths.found(name)
        if not user_files.there(path):
            raise BedsideError(f"ANSWERS={given}: no file {name}")
        logged = [p for p in sorted(path.glob("*")) if logs.is_log(p) and p.name not in logs.OTHERS]
        if path.is_dir() and not logged:
            raise BedsideError(f"ANSWERS={given}: {name} contains no log (.eval or .json)")
        found += logged or [path]
    return [path.resolve() for path in dict.fromkeys(found)]


def named_files(given: str | Path) -> dict[str, Path]:
    """{name: file} of `answer_files`: of several logs a short one, that of folder and file if two
    would be the same."""
    files = answer_files(given)
    short = [logs.NAME.sub(r"\1 \2\3", f.name) if len(files) > 1 else f.name for f in files]
    return {
        clean(s if short.count(s) == 1 else f"{f.parent.name}/{f.name}"): f
        for s, f in zip(short, files)
    }


def _answers(path, name, asked, repeats):
    """(the frame of one file's answers, with `repeat`; its lines on what isn't asked)."""
    import pandas as pd

    rows = answer_rows(path)
    told = {(row["model"], row.get("repeat", 0), row["item"]): row for _, row in rows}
    left = {}
    for place, row in rows:
        if row["item"] not in asked:
            left.setdefault(row["item"], []).append(place.removeprefix("line "))
    if asked and len(left) == len({row["item"] for _, row in rows}):
        both = f"it has {_few(left)}, but the items are {_few(asked)}"
        raise BedsideError(f"{name} answers none of this study's items: {both}")
    made = []
    for model, repeat in dict.fromkeys((row["model"], row.get("repeat", 0)) for _, row in rows):
        epoch = f", epoch {repeat + 1}" if repeat and not repeats else ""
        shown = f"{model}{epoch} (from {name})".replace(",", ";")  # a comma parts labels
        for item in asked:
            row = told.get((model, repeat, item), {"answer": "", "why": MISSING})
            status = row.get("why") or ("" if row["answer"].strip() else BLANK)
            text = "" if row.get("why") else row["answer"]
            made.append((item, shown, text, status, row.get("cut", False), "", repeat))
    columns = ["item", "model", "answer", "reply_status", "truncated", "sent", "repeat"]
    lines = [f"{name}: item {i!r} isn't asked (line {', '.join(at)})" for i, at in left.items()]
    return pd.DataFrame(made, columns=columns), lines


def scores(path: str | Path, items: Iterable[str]) -> list[dict[str, Any]]:
    """What scorers elsewhere said of answers to `items`: a row for each answer and scorer of a log.

    item, model (as in the log), repeat (from 1), scorer, value as the log has it, number (or None),
    file.
    """
    asked = set(items)
    return [
        {"item": row["item"], "model": row["model"], "repeat": row["repeat"] + 1}
        | {"scorer": scorer, "value": value, "number": number, "file": file}
        for file, path in named_files(path).items()
        for _, row in (answer_rows(path) if logs.is_log(path) else ())
        if row["item"] in asked
        for scorer, (value, number) in row["scores"].items()
    ]


def answer_rows(path: str | Path) -> list[tuple[str, dict[str, Any]]]:
    """The checked rows of a file of answers, each ("line 2", {item, model, answer}).

    Other columns are ignored, since logs have many. Needs the standard library only, but for a log
    of Inspect, whose rows have what `logs.rows` says besides.
    """
    if logs.is_log(path):
        return logs.rows(path)
    table, seen = user_files.of_file(path, ANSWERED, ANSWERED, others=True), {}
    for place, row in table.rows:
        row["model"] = " ".join(row["model"].split())
        table.filled(place, row, ("item", "model"))  # an answer may be empty
        both = f"an answer of {row['model']!r} to item {row['item']!r}"
        table.once(seen, place, (row["model"], row["item"]), both)
    table.close("answer")
    return table.rows


def _few(items):
    return ", ".join(map(repr, list(items)[:3])) + ", ..." * (len(items) > 3)
