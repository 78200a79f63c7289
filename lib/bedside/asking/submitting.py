"""Submitting: request files sent by the `openai` client, waited for, taken in, round by round.

    submit(study)     # until nothing is left to ask
    tell(study)       # only write what can be asked now, for an engine of yours

A study has a run (its name), an account, ask(), which gives what its notebooks ask now, as
`batches.row`, fault: what ended some of them, and command: what shows what came.
What a file has become stands beside it before and after each step, so that a run that is killed
goes on where it was, and no file becomes a batch twice.
"""

import functools
import itertools
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from filelock import lock_descriptor

from bedside import BedsideError
from bedside.read import paths

from . import batches, failures, registry
from .batches import Job
from .registry import StopRun

RETRIES = 5  # of a request to the service
FIRST_S, LONGEST_S = 0.2, 60.0  # between two tries, or two looks at what is under way
TRIES = 3  # of a line whose failure may pass
OVER = ("completed", "failed", "expired", "cancelled")
EARLY = re.compile(r"(find|such) file", re.I)  # said, at times, of what has just been uploaded

say = functools.partial(print, flush=True)  # a line at once, also into a file


def tell(study: Any, say: Callable[[str], None] = say) -> list[Job]:
    """Write what can be asked now, unless batches are under way; say what it is and what to do.

    BedsideError if a notebook failed and there is nothing to ask.
    """
    if under_way := _jobs(study.run):
        say(f"{len(under_way)} submitted batches are under way: SUBMIT=1 takes them in and goes on")
        return []
    for job in (made := batches.write(study.ask(), study.run)):
        cost = "" if job.most is None else f", at most ${job.most:.2f}"
        say(f"{job.name}: {job.lines} requests, {Path(job.path).stat().st_size / 1e6:.1f} MB{cost}")
    if made:
        say("let an engine answer, `make collect FROM=...`, and the same command goes on")
    else:
        _end(study, say)
    return made


def _end(study, say):
    if study.fault:
        raise BedsideError(study.fault)
    say(f"nothing is left to ask in batches; `{study.command}` calls for what none brought")


def _jobs(run):
    """The jobs of a run that aren't taken in."""
    jobs = []
    for path in sorted((paths.BATCHES / run).rglob("*.job.json")):
        try:
            job = msgspec.json.decode(path.read_bytes(), type=Job)
        except msgspec.MsgspecError:
            told = "look up at the provider whether its batch exists; if not, delete this file"
            raise BedsideError(f"{paths.rel(path)} can't be read: {told}, then run again") from None
        job.path = str(path.parent / job.path)
        jobs.append(job)
    return jobs


def submit(study: Any, say: Callable[[str], None] = say) -> None:
    """Send what can be asked and take in what comes, round after round, until nothing is left.

    Raises StopRun where going on is pointless or a budget would be passed; what is under way then,
    the same command takes in.
    """
    folder = paths.BATCHES / study.run
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        if not lock_descriptor(lock.fileno(), blocking=False):
            told = "another process submits its batches; wait for it or end it"
            raise BedsideError(f"{paths.rel(folder)}: {told}")
        _Submission(study, say).run()


class _Submission:
    """What one process knows of the batches that it sends and waits for."""

    def __init__(self, study, say):
        self.study, self.say, self.tries = study, say, Counter()
        self.client = functools.cache(_client)

    def run(self):
        jobs = self._left()
        while jobs or (jobs := self._send()):
            stops = [self._taken_in(job, self._waited_for(job)) for job in jobs]
            if any(stops):
                raise next(filter(None, stops))
            jobs = []
        if lost := sum(n >= TRIES for n in self.tries.values()):
            self.say(f"{lost} requests failed for good; the same command asks for them again")
        _end(self.study, self.say)

    def _left(self):
        """What an earlier run has under way; what became no batch is asked for anew."""
        jobs = []
        for job in _jobs(self.study.run):
            if job.usd is not None:
                self._settle(job)
                continue
            if job.file and not job.batch and (there := self._done(job, _made)):
                job.keep(batch=there.id)
            if job.batch:
                self.say(f"{job.name}: {job.batch}, of an earlier run, goes on")
                jobs.append(job)
            else:
                job.beside.unlink()
        self._reserve(jobs)
        return jobs

    def _reserve(self, jobs):
        folder = paths.BATCHES / self.study.run
        self.study.account.reserve_batches(folder, {job.path: job.most or 0.0 for job in jobs})

    def _send(self):
        """The jobs of a round: all that can be asked now."""
        lost = {k for k, n in self.tries.items() if n >= TRIES}
        made = batches.write(self.study.ask(), self.study.run, lost)
        for job in made:
            self.study.account.check_price(job.model)
        self._reserve(made)
        for job in made:
            self._create(job)
        return made

    def _create(self, job):
        """Make a batch of a file; one that an earlier try has made is found."""
        how = {"completion_window": "24h", "endpoint": registry.BATCH_URL}
        tried = []

        def made(client, job):
            there = _made(client, job) if tried else None
            tried.append(job)
            return there or client.batches.create(input_file_id=job.file, **how)

        try:
            file = {"file": Path(job.path), "purpose": "batch"}
            job.keep(file=self._done(job, lambda client, _: client.files.create(**file)).id)
            job.keep(batch=self._done(job, made).id)
        except StopRun as e:
            told = "; an endpoint that takes no files: see docs/scale.md" * (not job.file)
            raise StopRun(f"{e}{told}") from None
        self.say(f"{job.name}: {job.lines} requests, submitted as {job.batch}")

    def _waited_for(self, job):
        """A job's batch once it is over; a service that is silent meanwhile is waited for."""
        told, look = "", lambda client, job: client.batches.retrieve(job.batch)
        for k in itertools.count():
            batch = self._done(job, look, itertools.count())
            if batch.status.lower() in OVER:
                return batch
            counts = batch.request_counts
            done = (counts.completed or 0) + (counts.failed or 0) if counts else 0
            if (now := f"{job.name} is under way; requests done: {done} of {job.lines}") != told:
                self.say(now)
            told = now
            time.sleep(min(FIRST_S * 1.5 ** min(k, 99), LONGEST_S))

    def _taken_in(self, job, batch):
        """Record what a batch has brought; why nothing more should be sent, or None."""
        got, ids = [], filter(None, (batch.output_file_id, batch.error_file_id))
        for n, id in enumerate(ids, 1):
            content = self._done(job, lambda client, _, id=id: client.files.content(id))
            got.append(Path(job.path).parent / "results" / f"{Path(job.path).stem}-{n}.jsonl")
            got[-1].parent.mkdir(exist_ok=True)
            content.write_to_file(got[-1])
        found = batches.collect(got)
        for line in (f"{job.name}, {batch.status}:", *found.told()):
            self.say(line)
        self.tries.update(job.keys() - found.came)
        self.tries.update({k: TRIES for k, (_, f) in found.failed.items() if not f.again})
        job.keep(usd=found.usd or 0.0)
        self._settle(job)
        return _stop(job, batch, found)

    def _settle(self, job):
        """Forget a job, once the budget has what it did cost."""
        self.study.account.settle_batch(job.path, job.usd)
        job.beside.unlink()

    def _done(self, job, call, tries=range(RETRIES + 1)):
        """What the service answers to call(client, job); asked again where that can help.

        Raises StopRun in its words.
        """
        import openai

        secrets = registry.secrets(job.model)
        for k in tries:
            try:
                got = call(self.client(job.model), job)
                if not isinstance(got, str):  # what isn't JSON comes as it is
                    return got
                failure = failures.Failure("bad answer", 200, failures.cleaned(got, secrets), "all")
            except openai.APIStatusError as e:
                said = e.response
                failure = failures.of(e.status_code, said.content, said.headers, secrets)
            except openai.APIConnectionError as e:
                failure = failures.lost(e.__cause__ or e, secrets)
            if not (failure.again or (EARLY.search(failure.message) and not job.batch)):
                break
            pause = (
                min(FIRST_S * 2 ** min(k, 9), LONGEST_S) if failure.wait is None else failure.wait
            )
            self.say(f"{job.name}: {failure.kind}: {failure.message}; again in {pause:.0f} s")
            time.sleep(pause)
        raise failures.stop(job.model, failure)


def _client(model):
    import openai

    registry.check_callable(model)
    return openai.OpenAI(**registry.connection(model), max_retries=0)


def _made(client, job):
    """The batch that was made of a file, or None."""
    listed = client.batches.list(limit=100)  # further pages by itself
    return next((b for b in listed if b.input_file_id == job.file), None)


def _stop(job, batch, found):
    """Why nothing more should be sent after a batch, or None."""
    for _, failure in found.failed.values():
        if failure.fate == "stop" or (failure.fate == "all" and not found.came):
            return failures.stop(job.model, failure)
    if batch.status.lower() not in ("failed", "cancelled"):
        return None
    errors = (batch.errors and batch.errors.data) or []
    said = "".join(f": {e.code or ''}: {e.message or ''}" for e in errors[:3])
    told = failures.cleaned(f"{batch.status} at the provider{said}", registry.secrets(job.model))
    way = "the same command asks for the rest; of what is refused, mend data/models.toml first"
    return StopRun(f"{job.name}, batch {job.batch}: {told}; what came is recorded: {way}")
