"""The batch way against the direct one: the same recordings, failures, usage and tables.

A study is asked by direct calls and then, with recordings, ledger and outputs of its own, by
request files that are sent, answered and taken in. The endpoint answers a request the same either
way. Notebooks run in this process.
"""

import asyncio
from pathlib import Path

import pytest

import matrix
import providers
from bedside.asking import registry, sending, store
from bedside.build import notebooks, rounds
from bedside.own import steps
from bedside.read import paths
from bedside.read.surroundings import here
from bedside.write import plots
from calling import answered_in_batches
from conftest import SILENT

SHOWN = (".csv", ".md", ".json")
NOTES = ("manifest", "errors")  # of when and how replies came
WAY = ("date", "latency_s", "batch")  # what tells of the way alone


class Ways:
    """Two places, `direct` and `batch`, in which the same studies are asked."""

    def __init__(self, folder, service, patch):
        self.folder, self.service, self.patch = folder, service, patch
        for name in "ab":
            entry = {"provider": "test", "base_url": service.url, "model": f"{name}-1"}
            patch.setitem(registry.entries(), name, registry.as_model(name, entry))
        patch.setattr(paths, "EXTERNAL", folder / "external")
        patch.setattr(sending, "FIRST_S", 0.001)
        patch.setattr(notebooks, "execute", self._execute)
        patch.setattr(plots, "save", matrix.undrawn)
        patch.setattr(steps.page, "write", lambda *_: None)

    def _execute(self, path, out, given):
        name = path.relative_to(paths.NOTEBOOKS).with_suffix("").as_posix()
        figures = Path(here.figures)  # where a wave is written it is another one
        matrix.copied(paths.FIGURES / "sample", figures / "sample", "trust_lexical*.json")
        asyncio.run(matrix.execute(name, given))

    def to(self, way):
        """Let recordings, request files, outputs and money be those of a way."""
        place = self.folder / way
        self.patch.setattr(paths, "RECORDINGS", place / "recordings")
        self.patch.setattr(paths, "BATCHES", place / "batches")
        self.patch.setattr(here, "make", way)
        self.patch.setattr(here, "ledger", str(self.folder / "ledger"))
        self.patch.setattr(here, "figures", str(place / "figures"))

    def batched(self, waiting):
        """Ask a study in batches, and nothing directly; what ended a notebook."""
        self.to("batch")
        before = len(self.service.bodies)
        fault = answered_in_batches(waiting, self.service.answer)
        assert len(self.service.bodies) == before
        return fault

    def recorded(self, way):
        """{key: record} without what tells of the way."""
        kept = store.Recordings(self.folder / way / "recordings").records()
        return {r["key"]: {k: v for k, v in r.items() if k not in WAY} for r in kept}

    def outputs(self, way):
        """{path: bytes} of tables, answers, verdicts and cards."""
        top = self.folder / way / "figures"
        files = [p for p in top.rglob("*") if p.suffix in SHOWN and ".parts" not in p.parts]
        return {p.relative_to(top).as_posix(): p.read_bytes() for p in files if p.stem not in NOTES}


@pytest.fixture
def ways(tmp_path, endpoint, monkeypatch):
    endpoint.answer = lambda body: providers.completion(providers.PERSONAS["openai"], body)[0]
    endpoint.script = lambda n, body: endpoint.answer(body)
    return Ways(tmp_path, endpoint, monkeypatch)


PAPERS = {  # notebooks, settings, what else the notebooks take
    "cancer_myth": (["05_judge_agreement", "03_evaluation"], {"judge": "b", "limit": "4"}, {}),
    "radiation": (["02_free_form"], {"limit": "4"}, {}),
    "medhalu": (["02_detection"], {"models": "a", "limit": "6"}, {"repeats": "2"}),
    "meddialbench": (["02_baseline"], {"limit": "3"}, {"patient": "b", "turns": "2"}),
}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper(ways, paper):
    """Replies of all kinds: whole ones, and such as are cut, withheld, or no answer."""
    names, settings, more = PAPERS[paper]
    names = [f"{paper}/{name}" for name in names]
    plain = ways.service.answer

    def answer(body):
        made = plain(body)
        odd = int(store.digest(body)[:8], 16) % 16  # the same for the same request
        silent = dict(enumerate(SILENT.values()))
        return {**silent[odd], "usage": made["usage"]} if odd in silent else made

    ways.service.answer = answer
    given = {"profile": "sample", "models": "a b", **settings}
    ways.to("direct")
    notebooks.run_all(names, {**given, **more, "mode": "record"}, jobs=1)
    ways.patch.setattr(notebooks, "listed", lambda *_: names)
    assert not ways.batched(lambda: rounds.waiting({**given, **more}, paper))
    direct, batch = ways.recorded("direct"), ways.recorded("batch")
    assert direct and direct == batch
    assert len({r["finish"] for r in batch.values()}) > 1
    notebooks.run_all(names, {**given, **more, "mode": "replay"}, jobs=1)
    direct, batch = ways.outputs("direct"), ways.outputs("batch")
    assert direct and direct.keys() == batch.keys()
    assert [name for name in direct if direct[name] != batch[name]] == []
