"""Waves: what is written and told, which go at once, and what they may cost."""

import json
import re

import pytest

from batch_objects import ENDED
from batch_study import PRICES, SORRY, Chains, at, paid, sent, spent, submit
from bedside import BedsideError
from bedside.build import settings
from bedside.bulk import results, submission
from bedside.keep import ledger, registry
from bedside.keep.registry import StopRun
from bedside.keep.replies import Request


def told(study):
    said = []
    return submission.tell(study, said.append), "\n".join(said)


def answered(service, path):
    """A file of results for a request file."""
    lines = [json.loads(x) for x in path.read_text(encoding="utf-8").splitlines()]
    bodies = {x["custom_id"]: service.answer(x["body"]) for x in lines}
    made = [
        {"custom_id": k, "response": {"status_code": 200, "body": b}} for k, b in bodies.items()
    ]
    to = path.with_suffix(".results")
    to.write_text("\n".join(map(json.dumps, made)) + "\n", encoding="utf-8")
    return to


# ---- by hand


def test_a_wave_stays_until_results_come(batches, tmp_path):
    study, folder = Chains(chains=3, length=2, models="a b"), tmp_path / "batches/chains"

    def numbers():
        return sorted(p.name for p in folder.glob("[0-9]*"))

    first, said = told(study)
    assert (first.number, first.lines, numbers()) == (1, 6, ["01"])
    written = {m.path: m.path.read_bytes() for m in first.made}
    again, _ = told(study)
    assert (again.number, numbers()) == (1, ["01"])
    assert {m.path: m.path.read_bytes() for m in again.made} == written
    results.take([answered(batches, again.made[0].path)])
    second, _ = told(study)
    assert (second.number, numbers()) == (2, ["01", "02"])
    assert [(m.model, m.lines) for m in second.made] == [("a", 3), ("b", 3)]  # b's are the old ones
    assert {r["body"]["model"] for p in written for r in lines(p)} == {"a-1", "b-1"}
    keys = {r["custom_id"] for p in written for r in lines(p)}
    assert len({r["custom_id"] for r in lines(second.made[0].path)} - keys) == 3
    assert {r["custom_id"] for r in lines(second.made[1].path)} < keys
    assert not batches.posts


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_is_told_of_a_wave(batches, monkeypatch):
    study = Chains(chains=3, length=4, models="a b")
    monkeypatch.setitem(registry.entries(), "a", registry.model("a") | PRICES)
    wave, said = told(study)
    a, b = wave.made
    requests = [Request("", "a", r["body"]["messages"], {"max_tokens": 60}) for r in lines(a.path)]
    prompt, completion = map(sum, zip(*(r.estimate() for r in requests)))
    assert (a.prompt, a.completion) == (prompt, completion) == (a.prompt, 180)
    usd = (prompt * 100 + completion * 300) / 1e6 / 2
    assert a.usd == pytest.approx(usd) and b.usd is None
    assert f"{a.path}: 3 requests, 0.0 MB, at most ${usd:.2f}\n" in said
    assert re.search(rf"^{b.path}: 3 requests, 0\.0 MB$", said, re.M)
    assert "wave 1: 6 requests; waves left, with this one: 4 at most" in said
    count = 0
    while wave.made:
        count += 1
        results.take([answered(batches, m.path) for m in wave.made])
        wave, said = told(study)
    assert count == 4 and said == "nothing is left to ask in batches; `make chains` replays"
    assert study.recorded() == study.directly()


def test_what_submitted_batches_are_to_bring_is_in_no_wave_by_hand(batches):
    study, batches.fault = Chains(length=2), at("look", (401, SORRY), 100)[0]
    with pytest.raises(StopRun):
        submit(study)
    wave, said = told(study)
    assert not wave.made
    assert said == "1 submitted batches are under way: SUBMIT=1 takes them in and goes on"
    batches.fault = None
    wave, said = told(Chains(length=2, models="a b"))
    assert [m.model for m in wave.made] == ["b"] and "1 submitted batches" in said
    submit(study)
    assert "nothing is left to ask in batches" in told(study)[1]


def test_what_two_notebooks_ask_is_asked_once(batches):
    study = Chains(chains=3)
    study.notebooks = ("first", "second")
    submit(study)
    assert set(sent(batches).values()) == {1} and len(batches.batches) == 3
    assert not any(b.errors for b in batches.batches.values())


def test_files_hold_as_many_tokens_as_the_entry_says(batches, monkeypatch):
    def made(**more):
        monkeypatch.setitem(registry.entries(), "a", registry.model("a") | more)
        return submission.write(Chains(chains=5, length=1)).made

    (one,) = made()
    each = one.likely // 5  # alike
    assert [m.lines for m in made(batch_tokens=2 * each)] == [2, 2, 1]
    assert [m.lines for m in made(batch_tokens=each - 1)] == [1] * 5  # a request isn't cut


class Stopped(Chains):
    """A study whose notebook has stopped, for want of replies or for good."""

    for_good = False

    def ask(self, scratch):
        super().ask(scratch)
        missing = len(self.recorded()) < self.chains * self.length * len(self.settings["models"])
        self.fault = "no card" if missing or self.for_good else ""


def test_a_notebook_that_stops_is_told_and_ends_the_run_when_nothing_else_is_left(batches):
    study = Stopped(length=1)
    _, said = told(study)
    assert "a notebook stopped before its end, perhaps for want of replies:\nno card" in said
    assert "nothing is left" in submit(study)
    study.for_good = True
    with pytest.raises(BedsideError, match="no card"):
        submission.tell(study)
    with pytest.raises(BedsideError, match="no card"):
        submit(study)


def test_a_notebook_that_stops_for_want_of_replies_leaves_batches_under_way(batches):
    study = Stopped(length=2, models="a b")
    ready = slow(batches, "b", lambda: len(study.recorded()) == 4)
    submit(study)
    assert ready() and study.recorded() == study.directly()


# ---- at once


def slow(service, name, ready):
    """Let a model's batches be under way until `ready()`; whether they ever were let go by that."""
    looks = []

    def fault(method, path):
        batch = service.batches.get(path.rpartition("/")[2])
        if method == "GET" and batch and batch.model == f"{name}-1" and not looks.count(True):
            looks.append(ready() or len(looks) > 500)
            return None if looks[-1] else (200, batch.shown())
        return None

    service.fault = fault
    return lambda: True in looks and len(looks) <= 500


def test_a_batch_that_is_over_lets_the_next_wave_go(batches):
    study = Chains(chains=2, length=3, models="a b")

    def all_of_a():
        ended = [b for b in batches.batches.values() if b.model == "a-1" and b.status in ENDED]
        return len(ended) == 3

    ready = slow(batches, "b", all_of_a)
    submit(study)
    assert ready() and study.recorded() == study.directly()
    assert [b.model[0] for b in batches.batches.values()] == list("abaabb")
    assert set(sent(batches).values()) == {1}


# ---- budgets


@pytest.fixture
def priced(batches, monkeypatch):
    for name in "ab":
        monkeypatch.setitem(registry.entries(), name, registry.model(name) | PRICES)
    return batches


@pytest.mark.parametrize("which", ledger.BUDGETS)
def test_a_wave_that_could_pass_a_budget_is_not_submitted(priced, which):
    most = submission.write(Chains()).made[0].usd
    words = f"{which}=.* would be passed .*the next wave at most"
    with pytest.raises(StopRun, match=words):
        submit(Chains(**{which.lower(): most - 0.0001}))
    assert priced.posts == []
    study = Chains(**{which.lower(): most + 0.0001})
    with pytest.raises(StopRun, match=words):  # the second wave
        submit(study)
    assert len(priced.batches) == 1 and len(study.recorded()) == 2
    assert spent("test") == spent(settings.scope(study.settings)) == pytest.approx(paid(priced))


def test_a_budget_is_of_one_make_and_a_total_of_all(priced, monkeypatch):
    """The waves cost 0.032, 0.057, 0.080, 0.107 and 0.132 at most, and did 0.011 to 0.030."""
    study = Chains(length=5, budget_usd=0.135)
    for make, count in (("first", 3), ("second", 4)):
        monkeypatch.setenv("BEDSIDE_MAKE", make)
        with pytest.raises(StopRun, match=r"BUDGET_USD=0\.135 would be passed"):
            submit(study)
        assert len(priced.batches) == count
    monkeypatch.setenv("BEDSIDE_MAKE", "third")
    submit(study)
    makes = [spent(make) for make in ("first", "second", "third")]
    assert sum(makes) == pytest.approx(paid(priced)) and 0 < max(makes) < 0.135
    with pytest.raises(StopRun, match=r"BUDGET_TOTAL=0\.14 would be passed"):
        submit(Chains(length=6, budget_total=0.14))
    assert len(priced.batches) == 5


def test_what_is_under_way_is_taken_in_before_a_budget_stops_the_run(priced):
    most = sum(m.usd for m in submission.write(Chains(models="a b")).made)
    study = Chains(models="a b", budget_usd=most)
    ready = slow(priced, "b", lambda: len(study.recorded()) == 2)
    with pytest.raises(StopRun, match="BUDGET_USD"):
        submit(study)
    assert ready() and len(study.recorded()) == 4 and len(priced.batches) == 2
    assert spent("test") == pytest.approx(paid(priced))


def test_with_a_budget_a_price_must_be_known(batches):
    with pytest.raises(StopRun, match="BUDGET_USD is set but the price of a isn't known"):
        submit(Chains(budget_usd=5))
    assert batches.posts == []
