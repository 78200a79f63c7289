"""Any write may fail, or be the last: the same command goes on, and nothing is lost."""

import asyncio
import random
import zipfile
from collections import Counter

import pytest

from batch_study import PRICES, Chains, place, sent, submit
from bedside import BedsideError
from bedside.annotation.log import KINDS, Log
from bedside.asking import models
from bedside.keep import registry, store
from bedside.seminar import editions
from conftest import ask_for
from file_faults import FAULTS, Faults, Killed
from own_studies import compared


def tried(work, check, folder, some=None, faults=FAULTS):
    """Let each site of `work(folder)` fail in each way, then work again and check(folder, told).

    Counts of what came of the faults, by how the work ended.
    """
    with Faults() as seen:
        work(folder / "whole")
    check(folder / "whole", "without a fault")
    ended = Counter()
    sites = seen.sites if some is None else [seen.sites[n] for n in some]
    for n, site in enumerate(sites):
        for fault in faults:
            here, told = folder / f"{n}-{fault}", f"{fault} at {site[0]} in {site[1]}"
            try:
                with Faults(site, fault):
                    work(here)
                ended["went on"] += 1
            except (BedsideError, OSError, Killed) as e:
                ended[type(e).__name__] += 1
            work(here)
            check(here, told)
    print(len(sites), "sites,", dict(ended))
    return ended


def recording(served, endpoint, folder):
    requests, asked = ask_for(served, *"abcdef"), Counter()

    def work(here):
        before = len(endpoint.bodies)
        try:
            kept = store.Recordings(here)
            asyncio.run(models.ask(requests, kept, mode="record", progress=False))
        finally:
            asked[here] += len(endpoint.bodies) - before

    def check(here, told):
        kept = store.Recordings(here)
        assert all(kept.get(r.key)["item"] == r.item for r in requests), told
        assert asked[here] <= len(requests) + 4, told  # no more than were under way

    return tried, work, check, folder


def test_a_recording_whose_files_fail_goes_on(served, endpoint, tmp_path):
    _, work, check, folder = recording(served, endpoint, tmp_path)
    assert tried(work, check, folder, faults=["EIO"])["StoreError"] > 3


@pytest.mark.slow
def test_a_recording_goes_on_after_any_fault(served, endpoint, tmp_path):
    _, work, check, folder = recording(served, endpoint, tmp_path)
    ended = tried(work, check, folder)
    assert ended["OSError"] == 0 and ended["Killed"] > 3


@pytest.mark.slow
def test_batches_go_on_after_any_fault(batches, monkeypatch, tmp_path):
    monkeypatch.setitem(registry.entries(), "a", registry.model("a") | PRICES)
    batches.polls, study = 0, Chains(chains=2, length=2)

    def work(here):
        if not here.exists():
            batches.batches.clear()
        place(monkeypatch, here)
        monkeypatch.setenv("BEDSIDE_MAKE", f"make of {here}")
        submit(study)

    def check(here, told):
        assert len(study.recorded()) == 4 and set(sent(batches).values()) == {1}, told

    ended = tried(work, check, tmp_path)
    assert ended["StoreError"] and ended["Killed"]


@pytest.mark.slow
def test_a_study_goes_on_after_any_fault(served, endpoint, monkeypatch, tmp_path):
    questions = tmp_path / "mine.csv"
    questions.write_text("item,question\na,What helps?\nb,What harms?\n")
    asked = Counter()

    def work(here):
        before = len(endpoint.bodies)
        monkeypatch.setattr("bedside.read.paths.RECORDINGS", here / "recordings")
        monkeypatch.setenv("BEDSIDE_FIGURES", str(here / "figures"))
        try:
            compared(str(questions), models=served, mode="record", name="mine")
        finally:
            asked[here] += len(endpoint.bodies) - before

    def check(here, told):
        answers = here / "figures/own/mine/answers.csv"
        assert answers.read_text() == (tmp_path / "whole/figures/own/mine/answers.csv").read_text()
        assert asked[here] <= 2 + 2, told

    assert tried(work, check, tmp_path)["Killed"]


@pytest.mark.slow
def test_the_seminars_build_goes_on_after_any_fault(monkeypatch, tmp_path):
    """At a seeded sample of sites; the sheets themselves aren't run here."""
    monkeypatch.setattr(editions, "_run", lambda *_: None)

    def work(here):
        editions.build(here)

    def files(here):
        return sorted(p.relative_to(here).as_posix() for p in here.rglob("*") if p.is_file())

    def check(here, told):
        assert files(here) == files(tmp_path / "whole"), told
        with zipfile.ZipFile(here / "bedside-seminar.zip") as made:
            assert made.testzip() is None, told

    with Faults() as seen:
        editions.build(tmp_path / "sites")
    chosen = random.Random(0).sample(range(len(seen.sites)), min(20, len(seen.sites)))
    ended = tried(work, check, tmp_path, chosen, ["ENOSPC", "killed"])
    assert ended["Killed"]


def test_labels_are_kept_after_any_fault(tmp_path):
    empty = {str: "a", list: [], dict: {}, bool: False, (int, float): 1}
    record = {name: empty[kind] for name, kind in KINDS.items()} | {"refused": ""}

    def work(here):
        log = Log(here, "hallucination", "Jo")
        for n in range(len(log.labels()), 3):
            log.append({**record, "id": f"r{n}"})

    def check(here, told):
        assert len(Log(here, "hallucination", "Jo").labels()) == 3, told

    assert tried(work, check, tmp_path)["Killed"]
