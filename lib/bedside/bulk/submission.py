"""Submission: all that can be asked now, over all notebooks, as request files; sent and taken in.

study = Notebooks(given)      # or Questions(given), for your own
wave = write(study)           # the next one
submit(study)                 # one after the other, until nothing waits
"""

import contextlib
import filecmp
import functools
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import NamedTuple

from bedside import BedsideError
from bedside.asking import budget, failures
from bedside.asking.failures import Failure
from bedside.asking.registry import StopRun
from bedside.build import notebooks, settings
from bedside.read import paths

from . import files, folder, results
from .service import FULL, Job, Jobs, asked_in, refused, under_way

say = functools.partial(print, flush=True)  # a line at once, also into a file
TRIES = 3  # of a line whose failure may pass


class Notebooks:
    """The notebooks of all studies, or of one, with these settings.

    left: those that still miss replies, as far as is known; fault: what ended others, in words.
    """

    def __init__(self, given: dict, paper: str = ""):
        self.given, self.paper, self.left = given, paper, notebooks.listed(paper)
        profile = given.get("profile", "sample")
        self.run = os.environ.get("BEDSIDE_RUN") or profile
        known = {k: v for k, v in given.items() if k in ("profile", *settings.DEFAULTS)}
        self.settings, self.fault = settings.validated(**known), ""
        usual = profile, settings.name_of(profile, settings.changed(given))
        named = {} if self.run in usual else {"run": self.run}
        self.replays = command("all", {**named, **known})

    def ask(self, scratch: Path) -> None:
        """Let all that still miss replies put down what can be asked now, below scratch/parts."""
        through, self.fault = [], ""
        with prepared(scratch) as parts:
            try:
                given = {**self.given, "mode": "batch"}
                notebooks.run_all(self.left, given, done=lambda name, _: through.append(name))
            except notebooks.Stopped:
                raise
            except BedsideError as e:
                self.fault = str(e)
        there = [n for n in self.left if (parts / n.replace("/", ".")).is_dir()]  # asks, or leaves
        self.left = [n for n in self.left if n in there or n not in through]

    def most(self) -> int:
        """How many waves are left at most."""
        planned = notebooks.planned(self.given, self.paper)
        return int(planned["wave"].max()) if len(planned) else 0


def command(target: str, given: dict) -> str:
    """A make command with these settings, but for the mode."""
    told = {k.upper(): v for k, v in given.items() if v not in ("", None) and k != "mode"}
    quoted = [f'{k}="{v}"' if " " in str(v) else f"{k}={v}" for k, v in told.items()]
    return " ".join(["make", target, *quoted])


@contextlib.contextmanager
def prepared(scratch: Path) -> Iterator[Path]:
    """The empty folder for a wave's parts; meanwhile figures go beside it, and to nobody."""
    parts = scratch / "parts"
    shutil.rmtree(parts, ignore_errors=True)
    scratch.mkdir(parents=True, exist_ok=True)
    figures = str(scratch / "figures")
    with settings.environment(BEDSIDE_FIGURES=figures, BEDSIDE_PARTS=str(parts)):
        yield parts


class Wave(NamedTuple):
    """What can be asked now: its number, its files, and what isn't asked by batches (in words)."""

    number: int
    made: list[files.Made]
    left: list[str]

    @property
    def lines(self) -> int:
        return sum(m.lines for m in self.made)


def write(study, but: Set[str] = frozenset()) -> Wave:
    """Write the next wave's request files, without the keys `but`.

    Where the last wave is the same, it stays.
    """
    mine = folder() / study.run
    scratch = mine / ".scratch"
    study.ask(scratch)
    parts = scratch / "parts"
    number = 1 + max([int(p.name) for p in mine.iterdir() if p.name.isdigit()], default=0)
    made = files.gather(parts, mine / f"{number:02}", study.run, but)
    left = [p.read_text(encoding="utf-8") for p in sorted(parts.glob("*/left"))]
    shutil.rmtree(parts, ignore_errors=True)
    if number > 1 and _same(made, mine / f"{number - 1:02}"):
        for m in made:
            m.path.unlink()
            m.path = mine / f"{number - 1:02}" / m.path.name
        (mine / f"{number:02}").rmdir()
        number -= 1
    return Wave(number, made, left)


def _same(made, before):
    """Whether these request files are those of a folder, which nobody has submitted."""
    there = {p.name for p in before.glob("*.jsonl")}
    return (
        bool(made)
        and {m.path.name for m in made} == there
        and not list(before.glob("*.job.json"))
        and all(filecmp.cmp(m.path, before / m.path.name, shallow=False) for m in made)
    )


def tell(study: Notebooks, say: Callable[[str], None] = say) -> Wave:
    """Write the next wave, and say what is in it, how many follow at most, and what to do.

    What submitted batches are to bring isn't in it. BedsideError if a notebook failed and there is
    nothing to ask.
    """
    sent = under_way(folder() / study.run)
    wave = write(study, asked_in(sent))
    shutil.rmtree(folder() / study.run / ".scratch", ignore_errors=True)
    if study.fault and not (wave.made or sent):
        raise BedsideError(study.fault)
    for m in wave.made:
        cost = "" if m.usd is None else f", at most ${m.usd:.2f}"
        say(f"{paths.rel(m.path)}: {m.lines} requests, {m.bytes / 1e6:.1f} MB{cost}")
    for what in wave.left:
        say(what)
    if sent:
        say(f"{len(sent)} submitted batches are under way: SUBMIT=1 takes them in and goes on")
    elif not wave.made:
        say(f"nothing is left to ask in batches; `{study.replays}` replays")
    if not wave.made:
        return wave
    left = f"waves left, with this one: {study.most()} at most"
    say(f"wave {wave.number}: {wave.lines} requests; {left}")
    if study.fault:
        say(f"a notebook stopped before its end, perhaps for want of replies:\n{study.fault}")
    say("let an engine answer them, `make collect FROM=...`, and the same command writes the next")
    return wave


def submit(study: Notebooks, say: Callable[[str], None] = say) -> None:
    """Send waves, wait for them and take them in, until nothing can be asked any more.

    A batch that is over makes room for the wave that follows from it, whatever else is under way.
    Raises StopRun where going on is pointless or a budget would be passed, once all that is under
    way has been taken in.
    """
    jobs = Jobs(folder() / study.run, say)
    try:
        with settings.environment(BEDSIDE_SUBMIT="1"):
            _Submission(study, jobs, say).run()
    finally:
        jobs.close()
        shutil.rmtree(folder() / study.run / ".scratch", ignore_errors=True)


class _Submission:
    """What one process knows of the batches that it sends and waits for."""

    def __init__(self, study, jobs, say):
        self.study, self.jobs, self.say = study, jobs, say
        self.tries, self.stop, self.waves = Counter(), None, 0
        self.left, self.room = [], True
        s = study.settings
        scope = settings.scope(s)
        self.account = budget.Account("batches", s["budget_usd"], s["budget_total"], scope)
        under_way = {j.path: j.most or 0.0 for j in jobs.under_way()}
        self.account.adopt_batches(str(jobs.folder), under_way)

    def run(self):
        if there := self.jobs.under_way():
            self.say(f"batches of an earlier run go on: {len(there)}")
        while True:
            if not self.stop:
                self._go_on()
            left = self.jobs.under_way()
            if not any(j.batch for j in left):
                self.stop = self.stop or (refused(left[0]) if left else None)
                break
            self.room = False
            for job in self.jobs.wait():
                self._over(job)
        if self.stop:
            raise self.stop
        self._end()

    def _go_on(self):
        """Write and send what can be asked now."""
        try:
            lost = {k for k, n in self.tries.items() if n >= TRIES}
            wave = write(self.study, asked_in(self.jobs.under_way()) | lost)
            self.left = wave.left
            if wave.made:
                self.waves += 1
                told = ", ".join(f"{m.lines} to {m.model}" for m in wave.made)
                self.say(f"wave {wave.number}: {wave.lines} requests ({told})")
                for m in wave.made:
                    self.account.check_price(m.model, m.usd)
                self.account.reserve_batches({str(m.path): m.usd or 0.0 for m in wave.made})
                self.jobs.add(wave.made)
            self.jobs.send(self.room)
        except (StopRun, notebooks.Stopped) as e:
            self.stop = e

    def _over(self, job: Job):
        """Take in what a batch has brought, and see what follows from what it hasn't."""
        if any(code == FULL for code, _ in job.errors):
            return self.jobs.hold(job)
        self.room = True
        account = results.take(map(Path, job.got))
        for line in (f"{job.name}, {job.status}:", *account.lines()):
            self.say(line)
        if job.most is not None and account.usd is not None:
            self.account.settle_batch(job.path, account.usd)
        job.keep(taken=True)
        if job.status in ("failed", "cancelled"):
            self.stop = self.stop or refused(job)
        for key, failure in account.failed.items():
            self.tries[key] += 1 if failure.again else TRIES
        if lacking := job.keys - account.came - account.failed.keys():
            self.say(f"  {len(lacking)} of {job.lines} have no result")
            self.tries.update(lacking)
        if alike := _alike(account):
            self.stop = self.stop or failures.stop(job.model, alike)
        return None

    def _end(self):
        lost = sum(n >= TRIES for n in self.tries.values())
        if lost:
            self.say(f"{lost} requests failed for good; the same command asks for them again")
        for what in self.left:
            self.say(what)
        if self.study.fault:
            raise BedsideError(self.study.fault)
        replays = f"`{self.study.replays}` replays"
        self.say(f"nothing is left to ask; waves sent: {self.waves}. {replays}")


def _alike(account) -> Failure | None:
    """What made all lines of a batch fail, if nothing came and no other line could fare better.

    Or what stops a run at once, as it does directly.
    """
    if lasting := next((f for f in account.failed.values() if f.fate == "stop"), None):
        return lasting
    kinds = {f.kind: f for f in account.failed.values()}
    if account.taken or account.known or len(kinds) != 1:
        return None
    failure = next(iter(kinds.values()))
    return failure if failure.fate == "all" else None
