"""Submitting: request files sent by the `openai` client, waited for, and taken in, wave after wave.

    submit(study)     # until nothing is left to ask
    tell(study)       # only write what can be asked now, for an engine of yours

A study has run (its name), account, replays (the command that shows what came), ask(folder), which
lets its notebooks put down below the folder what they ask, and fault: what ended one of them.
What a file has become stands beside it before and after each step, so that a run that is killed
goes on where it was, and no file becomes a batch twice.
"""

import functools
import itertools
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Set
from pathlib import Path
from typing import Protocol

import msgspec

from bedside import BedsideError
from bedside.read import paths

from . import batches, budget, failures, locks, registry
from .batches import Job
from .registry import StopRun

RETRIES = 5  # of a request to the service
FIRST_S, LONGEST_S = 0.2, 60.0  # between two tries, or two looks at what is under way
TRIES = 3  # of a line whose failure may pass
OVER = ("completed", "failed", "expired", "cancelled")
EARLY = re.compile(r"(find|such) file", re.I)  # said, at times, of what has just been uploaded
FULL = "token_limit_exceeded"  # too many tokens are under way; later there is room
GATEWAY = "files_settings"  # what a LiteLLM gateway lacks that takes no files

say = functools.partial(print, flush=True)  # a line at once, also into a file


class Study(Protocol):
    run: str
    account: budget.Account
    replays: str
    fault: str

    def ask(self, folder: Path) -> None: ...


def _written(study, but):
    """(request files of what a study can ask now, what no batch holds): see `batches.write`."""
    scratch = paths.BATCHES / study.run / ".scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        study.ask(scratch)
        return batches.write(scratch, study.run, but)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _keys(jobs: Iterable[Job]) -> Set[str]:
    return set().union(*(job.keys() for job in jobs))


def _jobs(run):
    """The jobs of a run that aren't taken in."""
    jobs = []
    for path in sorted((paths.BATCHES / run).rglob("*.job.json")):
        try:
            job = msgspec.json.decode(path.read_bytes(), type=Job)
        except msgspec.MsgspecError:
            raise BedsideError(
                f"{paths.rel(path)} can't be read: look up at the provider whether its batch"
                " exists; if it doesn't, delete this file and run again"
            ) from None
        job.path = str(path.parent / job.path)
        jobs += [] if job.taken else [job]
    return jobs


def tell(study: Study, say: Callable[[str], None] = say) -> list[Job]:
    """Write what can be asked now, and say what it is and what to do with it.

    What submitted batches are to bring isn't in it. BedsideError if a notebook failed and there is
    nothing to ask.
    """
    sent = _jobs(study.run)
    made, left = _written(study, _keys(sent))
    if study.fault and not (made or sent):
        raise BedsideError(study.fault)
    for m in made:
        cost = "" if m.most is None else f", at most ${m.most:.2f}"
        say(f"{m.name}: {m.lines} requests, {Path(m.path).stat().st_size / 1e6:.1f} MB{cost}")
    for what in left:
        say(what)
    if sent:
        say(f"{len(sent)} submitted batches are under way: SUBMIT=1 takes them in and goes on")
    elif not made:
        say(f"nothing is left to ask in batches; `{study.replays}` replays")
    if made and study.fault:
        say(f"a notebook stopped before its end, perhaps for want of replies:\n{study.fault}")
    if made:
        say("let an engine answer, `make collect FROM=...`, and the same command goes on")
    return made


def submit(study: Study, say: Callable[[str], None] = say) -> None:
    """Send what waits, and take in what comes, until nothing can be asked any more.

    A batch that is over makes room for what follows from it, whatever else is under way. Raises
    StopRun where going on is pointless or a budget would be passed, once all that is under way has
    been taken in.
    """
    folder = paths.BATCHES / study.run
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock, _Service(say) as service:
        try:
            locks.lock(lock, wait=False)
        except OSError:
            raise BedsideError(
                f"{paths.rel(folder)}: another process submits its batches; wait for it or end it"
            ) from None
        _Submission(study, service, say).run()


class _Submission:
    """What one process knows of the batches that it sends and waits for."""

    def __init__(self, study, service, say):
        self.study, self.service, self.say = study, service, say
        self.jobs, self.tries, self.left, self.stop = [], Counter(), [], None
        for job in _jobs(study.run):
            if not job.batch and (there := job.file and service.there(job)):
                job.keep(batch=there.id)
            if job.batch:
                self.jobs.append(job)
            else:  # it never became one: what is in it is asked for anew, within today's budget
                batches.beside(job.path).unlink()
        if self.jobs:
            say(f"batches of an earlier run go on: {len(self.jobs)}")
        folder = str(paths.BATCHES / study.run)
        study.account.adopt_batches(folder, {j.path: j.most or 0.0 for j in self.jobs})

    def run(self):
        room = True
        while room or self._sent():
            if room and not self.stop:
                self._go_on()
            room = False
            for job, batch in self._wait() if self._sent() else ():
                room = self._over(job, batch) or room
        if self.jobs and not self.stop:
            raise StopRun(
                f"{self.jobs[0].name}: there is no room for its tokens, even alone; what came is"
                " recorded: set batch_tokens in data/models.toml to your account's limit, then run"
                " again"
            )
        if self.stop:
            raise self.stop
        if lost := sum(n >= TRIES for n in self.tries.values()):
            self.say(f"{lost} requests failed for good; the same command asks for them again")
        for what in self.left:
            self.say(what)
        if self.study.fault:
            raise BedsideError(self.study.fault)
        self.say(f"nothing is left to ask. `{self.study.replays}` replays")

    def _sent(self):
        return [job for job in self.jobs if job.batch]

    def _go_on(self):
        """Write and send what can be asked now, and what waits for room."""
        try:
            lost = {k for k, n in self.tries.items() if n >= TRIES}
            made, self.left = _written(self.study, _keys(self.jobs) | lost)
            for job in made:
                self.study.account.check_price(job.model, job.most)
            self.study.account.reserve_batches({job.path: job.most or 0.0 for job in made})
            for job in made:
                job.keep()
            self.jobs += made
            for job in self.jobs:
                if not job.batch:
                    self._send(job)
        except BedsideError as e:  # what is under way is taken in before it is raised
            self.stop = e

    def _send(self, job):
        try:
            self.service.create(job)
            self.say(f"{job.name}: {job.lines} requests, submitted as {job.batch}")
        except StopRun as e:
            if FULL not in str(e):
                raise
            self._hold(job)

    def _hold(self, job):
        """Put a file back for whose tokens the service had no room."""
        job.keep(file="", batch="")
        self.say(f"{job.name}: no room for its tokens yet; it waits for another batch's end")

    def _wait(self):
        """Wait until batches are over; these, as (job, batch)."""
        pause, told = FIRST_S, ""
        while True:
            looks = [(job, self.service.look(job)) for job in self._sent()]
            if over := [(job, now) for job, now in looks if now.status.lower() in OVER]:
                return over
            counts = [now.request_counts for _, now in looks if now.request_counts]
            done = sum((c.completed or 0) + (c.failed or 0) for c in counts)
            lines = sum(job.lines for job, _ in looks)
            now = f"batches under way: {len(looks)}; requests done: {done} of {lines}"
            if now != told:
                self.say(now)
            pause = min(pause * 1.5, LONGEST_S) if now == told else min(pause, LONGEST_S / 4)
            told = now
            time.sleep(pause)

    def _over(self, job, batch):
        """Take in what a batch has brought; whether there is room now for others."""
        errors = (batch.errors and batch.errors.data) or []
        if any(e.code == FULL for e in errors):
            return self._hold(job)
        found = batches.collect(self.service.fetched(job, batch))
        for line in (f"{job.name}, {batch.status}:", *found.told()):
            self.say(line)
        if job.most is not None and found.usd is not None:
            self.study.account.settle_batch(job.path, found.usd)
        job.keep(taken=True)
        self.jobs.remove(job)
        for key, (_, failure) in found.failed.items():
            self.tries[key] += 1 if failure.again else TRIES
        if lacking := job.keys() - found.came - found.failed.keys():
            self.say(f"  {len(lacking)} of {job.lines} have no result")
            self.tries.update(lacking)
        self.stop = self.stop or _stop(job, batch, errors, found)
        return True


def _stop(job, batch, errors, found):
    """Why nothing more should be sent after a batch, or None."""
    for _, failure in found.failed.values():
        if failure.fate == "stop" or (failure.fate == "all" and not found.came):
            return failures.stop(job.model, failure)
    why, way = "was cancelled at the provider", "the same command asks for the rest"
    if batch.status.lower() == "failed":
        said = "; ".join(": ".join(filter(None, (e.code, e.message))) for e in errors[:3])
        why = failures.cleaned(said, registry.secrets(job.model)) or "was refused"
        way = "mend data/models.toml or your account, then run again"
    elif batch.status.lower() != "cancelled":
        return None
    return StopRun(f"{job.name}, batch {job.batch}: {why}; what came is recorded: {way}")


class _Service:
    """Files and batches at the endpoints of models."""

    def __init__(self, say):
        self.say, self.clients = say, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients.values():
            client.close()

    def create(self, job):
        """Make a batch of a file; one that an earlier try has made is found."""
        tried = False

        def made(client):
            nonlocal tried
            if tried and (there := _found(client, job)):
                return there
            tried = True
            return client.batches.create(
                input_file_id=job.file,
                completion_window="24h",
                endpoint=registry.BATCH_URL,
                metadata={"file": Path(job.path).stem},
            )

        file = Path(job.path)
        job.keep(file=self._done(job, lambda c: c.files.create(file=file, purpose="batch")).id)
        job.keep(batch=self._done(job, made).id)

    def there(self, job):
        """The batch that a run has made of a file before it ended, or None."""
        return self._done(job, lambda client: _found(client, job))

    def look(self, job):
        """A batch as it is now; a service that is silent meanwhile is waited for."""
        return self._done(job, lambda c: c.batches.retrieve(job.batch), itertools.count())

    def fetched(self, job, batch):
        """The files of a batch's results, brought to disk."""
        got = []
        for n, id in enumerate(filter(None, (batch.output_file_id, batch.error_file_id)), 1):
            got.append(Path(job.path).parent / "results" / f"{Path(job.path).stem}-{n}.jsonl")
            content = self._done(job, lambda client, id=id: client.files.content(id))
            got[-1].parent.mkdir(exist_ok=True)
            content.write_to_file(got[-1])
        return got

    def _done(self, job, call, tries=range(RETRIES + 1)):
        """What the service answers; asked again where that can help. Raises StopRun."""
        import openai

        model, secrets = job.model, registry.secrets(job.model)
        if model not in self.clients:
            registry.check_callable(model)
            made = openai.OpenAI(**registry.connection(model), max_retries=0)
            self.clients[model] = made
        for k in tries:
            try:
                got = call(self.clients[model])
                if not isinstance(got, str):  # what isn't JSON comes as it is
                    return got
                failure = failures.Failure("bad answer", 200, failures.cleaned(got, secrets), "all")
            except openai.APIStatusError as e:
                said = e.response
                failure = failures.of(e.status_code, said.content, said.headers, secrets)
                if (e.status_code == 404 and not job.file) or GATEWAY in failure.message:
                    raise StopRun(_no_files(model, failure)) from None
            except openai.APIConnectionError as e:
                failure = failures.lost(e, secrets)
            if not (failure.again or (EARLY.search(failure.message) and not job.batch)):
                break
            self.say(f"{job.name}: {failure.kind}: {failure.message}; asked again")
            pause = min(FIRST_S * 2**k, LONGEST_S)
            time.sleep(pause if failure.wait is None else failure.wait)
        raise failures.stop(model, failure)


def _found(client, job):
    listed = client.batches.list(limit=100)  # further pages by itself
    return next((b for b in listed if b.input_file_id == job.file), None)


def _no_files(model, failure):
    way = f": if the gateway is yours, add `{GATEWAY}` to its config.yaml"
    return (
        f"model {model!r}: its endpoint takes no files{way * (GATEWAY in failure.message)}; without"
        " SUBMIT=1 `make batch` writes them for an engine of yours, and `make collect` takes in"
        " what it answers (docs/scale.md)"
    )
