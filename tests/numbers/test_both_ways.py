"""The batch way against the direct one: the same recordings, failures, usage and tables.

A study is asked by direct calls and then, with recordings, ledger and outputs of its own, by
request files that are sent, answered and taken in. The endpoint answers a request the same either
way. Notebooks run in this process.
"""

import asyncio
import os
from pathlib import Path

import pytest

import batch_study
import matrix
from batch_objects import CHAT
from bedside.asking import registry, sending, store, submitting
from bedside.build import notebooks, rounds
from bedside.own import steps
from bedside.read import paths
from bedside.read.surroundings import here
from bedside.write import plots
from conftest import SILENT, with_fields

PRICES = {"usd_per_million_in": 100.0, "usd_per_million_out": 1000.0, "batch_discount": 0.4}
SHOWN = (".csv", ".md", ".json")
NOTES = ("manifest", "errors")  # of when and how replies came
WAY = ("date", "latency_s", "batch")  # what tells of the way alone


class Ways:
    """Two places, `direct` and `batch`, in which the same studies are asked."""

    def __init__(self, folder, service, patch):
        self.folder, self.service, self.patch = folder, service, patch
        for name in "ab":
            patch.setitem(registry.entries(), name, with_fields(name, **PRICES))
        patch.setattr(paths, "EXTERNAL", folder / "external")
        patch.setattr(sending, "FIRST_S", 0.001)
        patch.setattr(submitting, "TRIES", sending.RETRIES + 1)  # as often as directly
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
        batch_study.place(self.patch, place)
        self.patch.setattr(here, "make", way)
        self.patch.setattr(here, "ledger", str(self.folder / "ledger"))
        self.patch.setattr(here, "figures", str(place / "figures"))

    def batched(self, study):
        """Ask a study in batches, and nothing directly."""
        self.to("batch")
        before = len(self.service.posts)
        submitting.submit(study, lambda line: None)
        self.to("batch")  # from where waves were written
        assert all(path != CHAT for path, _ in self.service.posts[before:])

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
def ways(tmp_path, batches, monkeypatch):
    batches.polls = 0
    return Ways(tmp_path, batches, monkeypatch)


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
    study = rounds.Notebooks({**given, **more}, paper)
    study.left = names
    matrix.copied(paths.FIGURES / "sample", Path(study.scratch.name, "sample"), "trust_lexical*")
    ways.batched(study)
    assert not study.fault
    direct, batch = ways.recorded("direct"), ways.recorded("batch")
    assert direct and direct == batch
    assert len({r["finish"] for r in batch.values()}) > 1
    spent = batch_study.spent("direct")  # batches cost as much less as the entries say
    assert spent > 0 and batch_study.spent("batch") == pytest.approx(0.6 * spent)
    notebooks.run_all(names, {**given, **more, "mode": "replay"}, jobs=1)
    direct, batch = ways.outputs("direct"), ways.outputs("batch")
    assert direct and direct.keys() == batch.keys()
    assert [name for name in direct if direct[name] != batch[name]] == []
