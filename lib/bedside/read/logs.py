"""Logs of Inspect (`inspect eval`): their replies as answers made elsewhere, and their own scores.

`inspect_ai` itself reads them; it is an extra (`pip install inspect_ai`). A log that stopped
halfway is read for the samples that it holds.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from pathlib import Path
from typing import Any

from bedside import BedsideError

from . import paths
from .prompts import clean

ENDINGS = (".eval", ".json")
NAME = re.compile(r"\d{4}-\d\d-\d\dT[\d+-]+_(.+)_(\w{6})\w*(\.\w+)")  # of a log: time, task, id
OTHERS = ("logs.json", "eval-set.json")  # of a folder of logs: lists of them
CUT = ("max_tokens", "model_length")  # stop reasons, as Inspect spells them
WITHHELD = {"content_filter": "filtered", "tool_calls": "tool calls"}
CSV = "give its answers as CSV (item,model,answer)"
MOST = 1e100  # far below where the sum of squares overflows
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer


def is_log(path: str | Path) -> bool:
    """Whether a file is a log, by its name."""
    return Path(path).suffix.lower() in ENDINGS


def rows(path: str | Path) -> list[tuple[str, dict[str, Any]]]:
    """A log's samples, each ("sample 1", row).

    A row has item, model, answer, repeat (the epoch, from 0), why (there is no answer, empty if
    there is one), cut (at its limit), and scores, {scorer: (value, number)}: as the log has it, and
    as a number or None. Raises BedsideError if the file can't be read, and without inspect_ai.
    """
    file = paths.found(path).resolve()
    if not file.is_file():
        raise BedsideError(f"there is no file {paths.rel(file)}")
    return _rows(file, file.stat().st_mtime_ns, file.stat().st_size)


@functools.lru_cache(maxsize=4)
def _rows(path, *_):
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        way = "Install its own reader with `.venv/bin/pip install inspect_ai`"
        raise BedsideError(f"{paths.rel(path)} is a log of Inspect. {way}, or {CSV}") from None
    try:
        log = read_eval_log(str(path), resolve_attachments=True, exclude_fields={"events", "store"})
    except Exception as e:  # whatever its reader raises
        fault = f"can't be read as a log of Inspect ({type(e).__name__}: {e})"
        raise BedsideError(f"{paths.rel(path)} {fault}. Give the unchanged file.") from e
    if not log.samples:
        raise BedsideError(f"{paths.rel(path)} contains no sample (status: {log.status})")
    model = " ".join(clean(log.eval.model).split())
    rows = [(f"sample {n}", _row(s, model)) for n, s in enumerate(log.samples, 1)]
    for (item, repeat), n in Counter((r["item"], r["repeat"]) for _, r in rows).items():
        if n > 1:
            both = f"two samples {item!r} of epoch {repeat + 1}"
            raise BedsideError(f"{paths.rel(path)} has {both}. Retry the evaluation, or {CSV}")
    return rows


def _row(sample, model):
    output = sample.output
    stop = output.stop_reason if output.choices else ""
    failed = f"error: {sample.error.message}" if sample.error else output.error or ""
    scores = {}
    for scorer, score in (sample.scores or {}).items():
        parts = score.value if isinstance(score.value, dict) else {"": score.value}
        for part, value in parts.items():
            scores[clean(f"{scorer} {part}".strip())] = (clean(value), _number(value))
    return {
        "item": clean(sample.id).strip(),
        "model": model,
        "answer": clean(output.completion),
        "repeat": sample.epoch - 1,
        "why": clean(failed) or WITHHELD.get(stop, ""),
        "cut": stop in CUT,
        "scores": scores,
    }


def _number(value):
    """A score as a number, by Inspect's own letters; None for whatever has no mean.

    That is any other text, a list, NaN, which Inspect gives what it couldn't score, and infinity.
    """
    if isinstance(value, str):
        return GRADES.get(value)
    summable = isinstance(value, bool | int | float) and abs(value) < MOST
    return float(value) if summable else None
