"""Request files: what waits for a batch, a line each; beside them what a recording needs to know.

    sink = Sink(parts / "notebook", recordings)      # one for each notebook; takes requests
    made = gather(parts, folder / "01", "sample")      # the files of a wave

A line is OpenAI's: custom_id (the recording's key), method, url, and the body of a direct call.
"""

import json
import os
from collections.abc import Iterable, Set
from dataclasses import dataclass
from pathlib import Path

from bedside.asking import registry, store
from bedside.asking.replies import Request
from bedside.read import paths

from . import folder

MOST_LINES, MOST_BYTES = 45_000, 190_000_000  # of a file; OpenAI takes 50,000 and 200 MB
ID = slice(14, 78)  # where a line has its custom_id


def line(request: Request) -> dict:
    """A request as OpenAI's batches have it."""
    return {
        "custom_id": request.key,
        "method": "POST",
        "url": registry.BATCH_URL,
        "body": registry.sent(request.model, request.body()),
    }


class Sink:
    """Takes the requests of one notebook that wait, each once, into the files of a folder.

    recordings: where their replies go. Raises StopRun for a model that takes no batches.
    """

    def __init__(self, folder: Path, recordings: store.Recordings):
        self.folder, self.recordings = folder, recordings
        self.keys, self.open = set(), {}

    def append(self, request: Request) -> None:
        self.extend([request])

    def extend(self, requests: Iterable[Request]) -> None:
        for request in requests:
            if request.key not in self.keys:
                self.keys.add(request.key)
                lines, asked = self._files(request.model)
                lines.write(_json(line(request)))
                asked.write(_json({**request.kept(), **self._about(request)}))
        for files in self.open.values():  # a notebook that fails leaves what it asked for
            for file in files:
                file.flush()

    def _about(self, request):
        kept = self.recordings
        folder, reads = (os.path.relpath(p, paths.RECORDINGS) for p in (kept.folder, kept.reads))
        tokens = {"tokens": request.estimate(), "likely": request.likely}
        return {"model": request.model, "folder": folder, "reads": reads, **tokens}

    def _files(self, model):
        if model not in self.open:
            registry.check_batch(model)
            self.folder.mkdir(parents=True, exist_ok=True)
            name = paths.file_name(model)
            self.open[model] = [
                open(self.folder / f"{name}.{kind}", "wb") for kind in ("lines", "asked")
            ]
        return self.open[model]

    def leave(self, what: str) -> None:
        """Put down what no batch holds, in words for whoever runs the next command."""
        self.folder.mkdir(parents=True, exist_ok=True)
        paths.write(self.folder / "left", what)

    def close(self) -> None:
        for files in self.open.values():
            for file in files:
                file.close()


def _json(value):
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


@dataclass
class Made:
    """A request file: of which model, how many lines and bytes; tokens and USD at most.

    likely: prompt tokens by a cautious estimate; usd: at batch prices, None without a price.
    """

    path: Path
    model: str
    lines: int = 0
    bytes: int = 0
    prompt: int = 0
    completion: int = 0
    likely: int = 0
    usd: float | None = 0.0


def gather(parts: Path, to: Path, run: str, but: Set[str] = frozenset()) -> list[Made]:
    """Write what all notebooks' sinks hold, without the keys `but`, as request files into `to`.

    run: its name; what was asked is put down under it, for `results`. Files that hold more than an
    engine takes are cut; so are those whose tokens pass the entry's `batch_tokens`.
    """
    made = []
    for name in sorted({p.name for p in parts.glob("*/*.lines")}):
        with _Writer(to, run, but) as writer:
            for part in sorted(parts.glob(f"*/{name}")):
                with open(part, "rb") as lines, open(part.with_suffix(".asked"), "rb") as asked:
                    for request, about in zip(lines, asked):
                        if request.endswith(b"\n") and about.endswith(b"\n"):
                            writer.put(request, about)  # else a killed notebook's last
        made += writer.made
    return made


class _Writer:
    """Writes one model's request files, each request once."""

    def __init__(self, to, run, but):
        self.to, self.but, self.seen = to, but, set()
        self.made, self.file, self.asked = [], None, []
        self.index = folder() / "asked" / f"{run}.jsonl"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._keep()
        if self.file:
            self.file.close()

    def put(self, request, about):
        key = request[ID].decode()
        if key in self.seen or key in self.but:
            return
        self.seen.add(key)
        known = json.loads(about)
        model, (prompt, completion) = known["model"], known["tokens"]
        most = registry.model(model).batch_tokens or float("inf")
        last = self.made[-1] if self.made else None
        if (
            not last
            or last.lines >= MOST_LINES
            or last.bytes + len(request) > MOST_BYTES
            or last.likely + known["likely"] > most
        ):
            last = self._next(model)
        self.file.write(request)
        last.lines, last.bytes = last.lines + 1, last.bytes + len(request)
        last.prompt, last.completion = last.prompt + prompt, last.completion + completion
        last.likely += known["likely"]
        usd = registry.cost(model, prompt, completion, batch=True)
        last.usd = registry.total((last.usd, usd))
        self.asked.append(about)
        if len(self.asked) == TOGETHER:
            self._keep()

    def _next(self, model):
        if self.file:
            self.file.close()
        self.to.mkdir(parents=True, exist_ok=True)
        path = self.to / f"{paths.file_name(model)}-{len(self.made) + 1}.jsonl"
        self.file = open(path, "wb")
        self.made.append(Made(path, model))
        return self.made[-1]

    def _keep(self):
        if self.asked:
            store.append(self.index, self.asked)
        self.asked = []


TOGETHER = 1000  # lines that are written and synced at once


def asked() -> store.Recordings:
    """Everything that request files of this checkout ever asked for, by key."""
    return store.Recordings(folder() / "asked")
