"""A small study as `submitting` asks it, and an endpoint of batches that it is asked at."""

import asyncio
import contextlib
import json
import re
import shutil
from collections import Counter
from pathlib import Path

from batch_objects import ENDED
from batch_service import BatchService
from bedside.asking import batches, budget, models, registry, store, submitting
from bedside.asking.replies import Request
from bedside.build import rounds, settings
from bedside.read import paths
from bedside.read.surroundings import here
from conftest import with_fields

KEY = "made-up-3b8e61f4d7a9"  # like no provider's, so that no pattern finds it
PRICES = {"usd_per_million_in": 100.0, "usd_per_million_out": 300.0, "batch_discount": 0.5}


class Chains:
    """Chains of questions to each model, each with all replies before, as `rounds.Notebooks`.

    chains: how many to each model; length: questions of one; more: MODELS= and budgets.
    """

    run, fault, command = "chains", "", "make chains"
    notebooks = ("first",)  # that ask all of it, each

    def __init__(self, chains=2, length=3, **more):
        self.settings = settings.validated(**{"models": "a", **more})
        self.account = rounds.account(self.settings)
        self.chains, self.length = chains, length

    async def _all(self, mode, recordings, plan):
        for name in self.settings.models:
            for n in range(self.chains):
                await self._one(name, n, mode, recordings, plan)

    async def _one(self, name, n, mode, recordings, plan):
        said = ""
        for k in range(self.length):
            messages = [{"role": "user", "content": f"What helps in case {n}? {k} {said}"}]
            asked = Request(f"{n}.{k}", name, messages, {"max_tokens": 60})
            how = {"mode": mode, "plan": plan, "progress": False}
            (reply,) = await models.ask([asked], recordings, **how)
            if reply.why:
                return
            said += reply.text

    def ask(self):
        recordings, plan = store.Recordings(paths.RECORDINGS / self.run), []
        for _ in self.notebooks:
            asyncio.run(self._all("batch", recordings, plan))
        return [batches.row(r, recordings) for r in plan]

    def likely(self):
        """Prompt tokens of its first request, by a cautious estimate."""
        plan = []
        asyncio.run(self._all("plan", store.Recordings(paths.RECORDINGS / self.run), plan))
        return plan[0].likely

    def recorded(self):
        """{key: text} of what is on disk."""
        return texts(store.Recordings(paths.RECORDINGS / self.run))

    def items(self):
        return [r["item"] for r in store.Recordings(paths.RECORDINGS / self.run).records()]

    def directly(self):
        """{key: text} of the same study by direct calls."""
        recordings = store.Recordings(paths.RECORDINGS.parent / "direct")
        asyncio.run(self._all("record", recordings, None))
        return texts(recordings)


def texts(recordings):
    return {r["key"]: r["text"] for r in recordings.records()}


def sent(service):
    """How often each request is in a batch that the service took."""
    took = [b for b in service.batches.values() if not b.errors]
    return Counter(r["custom_id"] for b in took for r in b.requests)


def paid(service):
    """USD of all that the service did, by PRICES and in batches."""
    used = [x["response"]["body"]["usage"] for b in service.batches.values() for x in b.done]
    return sum(u["prompt_tokens"] * 100 + u["completion_tokens"] * 300 for u in used) / 1e6 / 2


def spent(scope):
    """USD that budgets have for a make or for runs of the same settings."""
    return budget.spent(scope)


def entry(url, name):
    fields = {"provider": "test", "base_url": url, "model": f"{name}-1", "api_key_env": "TEST_KEY"}
    return registry.as_model(name, fields)


def place(monkeypatch, folder):
    """Let recordings, request files and budgets be in a folder."""
    monkeypatch.setattr(paths, "RECORDINGS", folder / "recordings")
    monkeypatch.setattr(paths, "BATCHES", folder / "batches")
    monkeypatch.setattr(here, "ledger", str(folder / "ledger"))


def with_key(folder):
    """The files below a folder in which the key stands."""
    return [p for p in folder.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]


@contextlib.contextmanager
def served(tmp_path, monkeypatch):
    """An endpoint of batches, the models `a` and `b` at it, and folders of their own."""
    place(monkeypatch, tmp_path)
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setattr(here, "figures", "")  # set by what is tested
    monkeypatch.setattr(submitting, "FIRST_S", 0.001)
    monkeypatch.setattr(submitting, "LONGEST_S", 0.02)
    with Service() as endpoint:
        for name in "ab":
            monkeypatch.setitem(registry.entries(), name, entry(endpoint.url, name))
        yield endpoint


def submit(study, also=lambda line: None):
    """Submit a study: what was said, as one text. What ends it is raised."""
    said = []

    def say(line):
        said.append(line)
        also(line)
        assert len(said) < 300, "it goes round in circles"

    try:
        submitting.submit(study, say)
    finally:
        study.said = "\n".join(said)
    return study.said


def planned(study):
    """(the request files of what can be asked now, what is said of them)."""
    said = []
    return submitting.tell(study, said.append), "\n".join(said)


class Service(BatchService):
    """The endpoint, with the entries of its models, and what a test does beside it."""

    lose_first = False  # of each batch, the first result

    def _shown(self, batch):
        if self.lose_first and batch.status == "finalizing":
            batch.done, batch.order = batch.done[1:], batch.order[1:]
        return super()._shown(batch)

    def model(self, name, **more):
        """Add to a model's entry."""
        registry.entries()[name] = with_fields(name, **more)

    def anew(self):
        """Forget all batches and recordings."""
        self.batches.clear()
        for folder in (paths.RECORDINGS, paths.BATCHES):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(paths.RECORDINGS.parent / "direct", ignore_errors=True)

    def idle(self):
        """Whether no batch is under way."""
        return all(b.status in ENDED or b.errors for b in self.batches.values())

    def answered(self, path):
        """Take in results for a request file, which nobody sent."""
        path = Path(path)
        lines = [json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()]
        made = [
            {
                "custom_id": x["custom_id"],
                "response": {"status_code": 200, "body": self.answer(x["body"])},
            }
            for x in lines
        ]
        to = path.with_suffix(".results")
        to.write_text("\n".join(map(json.dumps, reversed(made))) + "\n", encoding="utf-8")
        batches.collect([to])


# ---- faults

KINDS = {
    "upload": ("POST", "/v1/files$"),
    "create": ("POST", "/v1/batches$"),
    "look": ("GET", "/v1/batches/"),
    "fetch": ("GET", "/v1/files/.*/content"),
}
SORRY = {"message": f"Sorry, {KEY}.", "code": None}


def at(kind, fault, times):
    """A fault of the first so many requests of a kind, and of looks for what an answer lost."""
    count = []

    def found(method, path):
        if method == KINDS[kind][0] and re.match(KINDS[kind][1], path) and len(count) < times:
            count.append(path)
            return fault
        return None

    return found, count
