"""Files and batches at an endpoint, by the `openai` client: sent, waited for, fetched.

    jobs = Jobs(folder)      # what is on disk goes on
    jobs.add(made)
    jobs.send()
    ended = jobs.wait()

What a request file has become stands beside it (<name>.job.json) before and after each step, so
that a run that is killed goes on where it was, and no file becomes a batch twice.
"""

import functools
import json
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bedside import BedsideError
from bedside.asking import failures, locks, registry
from bedside.asking.failures import Failure
from bedside.asking.registry import StopRun
from bedside.read import paths

from .files import ID, Made

FIRST_S, LONGEST_S = 0.2, 60.0  # between two looks at what is under way
RETRIES = 5  # of a request to the service
PURPOSE, WINDOW = "batch", "24h"
OVER = ("completed", "failed", "expired", "cancelled")
EARLY = re.compile(r"(find|such) file", re.I)  # said, at times, of what has just been uploaded
NO_FILES = (
    "model {0!r}: its endpoint takes no files{1}; without SUBMIT=1 `make batch` writes them for an"
    " engine of yours, and `make collect` takes in what it answers (docs/scale.md)"
)
GATEWAY = "files_settings"  # what a LiteLLM gateway lacks then
FULL = "token_limit_exceeded"  # too many tokens are under way; later there is room


@dataclass
class Job:
    """A request file on its way: `status` is the service's, before that written or sending.

    most: USD at most, None without a price; file, batch, outputs: their ids at the service; errors:
    what it said of the whole batch, as [code, message]; held: there was no room for it; got: files
    with results; taken: they are recorded.
    """

    path: str
    model: str
    lines: int
    most: float | None
    status: str = "written"
    file: str = ""
    batch: str = ""
    outputs: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    held: bool = False
    got: list = field(default_factory=list)
    taken: bool = False

    @property
    def place(self) -> Path:
        return Path(self.path)

    @property
    def name(self) -> str:
        return paths.rel(self.place)

    def keep(self, **changed: Any) -> None:
        """Write the job down with what has changed; it is on disk when it returns."""
        for name, value in changed.items():
            setattr(self, name, value)
        text = json.dumps({**asdict(self), "path": self.place.name}, indent=1)
        paths.write(_beside(self.place), text, durable=True)

    def drop(self) -> None:
        """Forget a file that was never sent: the next wave asks for what is in it."""
        _beside(self.place).unlink()
        self.place.unlink()

    @functools.cached_property
    def keys(self) -> set[str]:
        """The keys of its requests; its file never changes."""
        with open(self.place, "rb") as lines:
            return {line[ID].decode() for line in lines}


def _beside(path):
    return path.with_suffix(".job.json")


def _read(path):
    """The job that a file beside a request file holds."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Job(**{**kept, "path": str(path.parent / kept["path"])})
    except (ValueError, TypeError, KeyError):
        raise BedsideError(
            f"{paths.rel(path)} can't be read: look up at the provider whether its batch exists;"
            " if it doesn't, delete this file and run again"
        ) from None


def _all(folder):
    """The jobs of a run's folder, in the order of its waves."""
    return [_read(path) for path in sorted(folder.glob("*/*.job.json"))]


def under_way(folder: Path) -> list[Job]:
    """Jobs of a run's folder whose batches may exist and aren't taken in."""
    return [job for job in _all(folder) if not job.taken and job.status != "written"]


def asked_in(jobs: Iterable[Job]) -> set[str]:
    """The keys of the requests of several jobs."""
    return set().union(*(job.keys for job in jobs))


class Jobs:
    """The jobs of a run's folder; only one process at a time has them.

    say: called with what is to be told, a line each time.
    """

    def __init__(self, folder: Path, say: Callable[[str], None] = print):
        self.folder, self.say, self.clients = folder, say, {}
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(folder / ".lock", "w")
        try:
            locks.lock(self.lock, wait=False)
        except OSError:
            raise BedsideError(
                f"{paths.rel(folder)}: another process submits its batches; wait for it or end it"
            ) from None
        self.all = _all(folder)
        for job in [j for j in self.all if j.status == "written"]:
            self.all.remove(job)
            job.drop()

    def close(self) -> None:
        self.lock.close()
        for client in self.clients.values():
            client.close()

    def under_way(self) -> list[Job]:
        """Jobs that are sent, or about to be, and aren't taken in."""
        return [j for j in self.all if not j.taken]

    def add(self, made: list[Made]) -> None:
        for m in made:
            self.all.append(job := Job(str(m.path), m.model, m.lines, m.usd))
            job.keep()

    # ---- sending

    def send(self, room: bool = True) -> None:
        """Make a batch of every file that isn't one yet; without room not of those held back."""
        for job in self.under_way():
            if job.status in ("written", "sending") and (room or not job.held):
                self._send(job)

    def _send(self, job):
        if job.status == "sending":  # the run ended, or the answer was lost, in between
            if there := self._there(job):
                return self._seen(job, there)
        if not job.file:
            sent = self._done(job, "files.create", file=job.place, purpose=PURPOSE)
            job.keep(file=sent.id)
        job.keep(status="sending")
        if made := self._created(job):
            self._seen(job, made)
            self.say(f"{job.name}: {job.lines} requests, submitted as {job.batch}")
        else:
            self.hold(job)

    def hold(self, job: Job) -> None:
        """Put a file back for whose tokens the service had no room."""
        job.keep(status="written", file="", batch="", errors=[], held=True)
        self.say(f"{job.name}: no room for its tokens yet; it waits for another batch's end")

    def _created(self, job):
        """The batch that a file becomes, found if an earlier try has made it; None without room."""
        about = {"input_file_id": job.file, "completion_window": WINDOW}
        about |= {"endpoint": registry.BATCH_URL, "metadata": {"file": job.place.stem}}
        for _ in range(RETRIES):
            try:
                return self._once(job, "batches.create", **about)
            except Failure as e:
                if FULL in e.message:
                    return None
                if not (e.again or EARLY.search(e.message)):
                    raise failures.stop(job.model, e) from None
                failure = e
            time.sleep(FIRST_S if failure.wait is None else failure.wait)
            if there := self._there(job):
                return there
        raise failures.stop(job.model, failure)

    def _there(self, job):
        """The batch that was made of a job's file, or None."""

        def found():
            listed = self._client(job.model).batches.list(limit=100)  # further pages by itself
            return next((b for b in listed if b.input_file_id == job.file), None)

        return self._done(job, found)

    # ---- waiting

    def wait(self) -> list[Job]:
        """Wait until batches are over; those that are, with what they brought on disk."""
        pause, told = FIRST_S, ""
        while True:
            sent = [j for j in self.under_way() if j.batch]
            done = sum(self._look(job) for job in sent if job.status not in OVER)
            if over := [j for j in sent if j.status in OVER]:
                for job in over:
                    self._fetch(job)
                return over
            lines = sum(job.lines for job in sent)
            if (now := f"batches under way: {len(sent)}; requests done: {done} of {lines}") != told:
                self.say(now)
                told, pause = now, min(pause, LONGEST_S / 4)
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_S)

    def _look(self, job):
        """How many lines of a batch are done, as the service has it now, or 0 if it is silent."""
        try:
            now = self._once(job, "batches.retrieve", job.batch)
        except Failure as e:
            if not e.again:
                raise failures.stop(job.model, e) from None
            self.say(f"{job.name}: {e.kind}: {e.message}; another look later")
            return 0
        self._seen(job, now)
        counts = now.request_counts
        return (counts.completed or 0) + (counts.failed or 0) if counts else 0

    def _seen(self, job, batch):
        """Put down what the service says of a job's batch."""
        data = (batch.errors and batch.errors.data) or []
        secrets = registry.secrets(job.model)
        errors = [[e.code or "", failures.cleaned(e.message or "", secrets)] for e in data]
        outputs = [i for i in (batch.output_file_id, batch.error_file_id) if i]
        now = {
            "batch": batch.id,
            "status": batch.status.lower(),
            "errors": errors,
            "outputs": outputs,
        }
        if any(getattr(job, k) != v for k, v in now.items()):
            job.keep(**now)

    def _fetch(self, job):
        """Bring a batch's results to disk."""
        got = []
        for n, id in enumerate(job.outputs, 1):
            to = job.place.parent / "results" / f"{job.place.stem}-{n}.jsonl"
            to.parent.mkdir(exist_ok=True)
            part = to.with_suffix(".part")
            self._done(job, "files.content", id).write_to_file(part)
            os.replace(part, to)
            got.append(str(to))
        job.keep(got=got)

    # ---- what is asked of the service

    def _client(self, model):
        if model not in self.clients:
            import openai

            registry.check_callable(model)
            made = openai.OpenAI(**registry.connection(model), max_retries=0)
            self.clients[model] = made
        return self.clients[model]

    def _done(self, job, what, *args, **more):
        """What the service answers, after a few tries where another one can help."""
        for k in range(RETRIES + 1):
            try:
                return self._once(job, what, *args, **more)
            except Failure as e:
                if (gateway := GATEWAY in e.message) or (e.status, what) == (404, "files.create"):
                    why = f": if the gateway is yours, add `{GATEWAY}` to its config.yaml" * gateway
                    raise StopRun(NO_FILES.format(job.model, why)) from None
                if not e.again or k == RETRIES:
                    raise failures.stop(job.model, e) from None
                time.sleep(FIRST_S * 2**k if e.wait is None else e.wait)

    def _once(self, job, what, *args, **more):
        """What the service answers; raises Failure."""
        import openai

        client, secrets = self._client(job.model), registry.secrets(job.model)
        call = what if callable(what) else functools.reduce(getattr, what.split("."), client)
        try:
            made = call(*args, **more)
        except openai.APIStatusError as e:
            r = e.response
            raise failures.of(e.status_code, r.content, r.headers, secrets) from None
        except openai.APIConnectionError as e:
            raise failures.lost(e, secrets) from None
        if isinstance(made, str):  # what isn't JSON comes as it is
            raise Failure("bad answer", 200, failures.cleaned(made, secrets), "all")
        return made


def refused(job: Job) -> StopRun:
    """What ends a run whose batch the service refused or somebody cancelled."""
    if job.held:
        why = "there is no room for its tokens, even alone"
        way = "set batch_tokens in data/models.toml to your account's limit, then run again"
    elif job.status == "cancelled":
        why, way = "was cancelled at the provider", "the same command asks for the rest"
    else:
        why = "; ".join(": ".join(filter(None, e)) for e in job.errors[:3]) or "was refused"
        way = "mend data/models.toml or your account, then run again"
    return StopRun(f"{job.name}, batch {job.batch}: {why}; what came is recorded: {way}")
