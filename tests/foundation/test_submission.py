"""Waves sent and taken in: whatever ends a run, the same command goes on, and nothing twice."""

import re
from collections import Counter

import pytest

from batch_objects import ENDED
from batch_study import KEY, PRICES, Chains, paid, place, sent, spent, submit, with_key
from bedside import BedsideError
from bedside.build import settings
from bedside.bulk import service, submission
from bedside.keep import ledger, registry, store
from bedside.keep.registry import StopRun
from bedside.read import paths


def test_a_study_is_sent_wave_by_wave_and_its_replies_are_those_of_direct_calls(batches):
    study = Chains(chains=3, length=4, models="a b")
    assert "nothing is left to ask; waves sent: 4. `make chains` replays" in submit(study)
    assert len(batches.batches) == 2 * 4 and set(sent(batches).values()) == {1}
    recorded = study.recorded()
    assert len(recorded) == 2 * 3 * 4 and recorded == study.directly()
    assert "waves sent: 0" in submit(study) and len(batches.batches) == 8


# ---- killed


class Killed(BaseException):
    """The end of a process: nothing after it reaches the disk or the service."""


class Steps:
    """The steps of a submission that others see, and how many it gets to do."""

    def __init__(self, monkeypatch):
        self.names, self.last = [], None
        for owner, name in (
            (service.Jobs, "_once"),
            (service.Job, "keep"),
            (store, "append"),
            (ledger.Ledger, "reserve"),
            (ledger.Ledger, "settle"),
        ):
            monkeypatch.setattr(owner, name, self.watched(name, getattr(owner, name)))

    def watched(self, name, function):
        def watched(*args, **more):
            self.step(f"before {name}")
            made = function(*args, **more)
            self.step(f"after {name}")
            return made

        return watched

    def step(self, name):
        self.names.append(name)
        if self.last is not None and len(self.names) > self.last:
            raise Killed(name)


@pytest.mark.parametrize("stride", [7, 1])
def test_killed_at_any_step_the_same_command_goes_on(batches, monkeypatch, tmp_path, stride):
    monkeypatch.setitem(registry.entries(), "a", registry.model("a") | PRICES)
    batches.polls, steps = 0, Steps(monkeypatch)
    study = Chains(chains=2, length=2)
    submit(study)
    whole, count = study.recorded(), len(steps.names)
    assert len(whole) == 4 and count > 40
    for n in range(0, count, stride):
        place(monkeypatch, tmp_path / str(n))
        batches.batches.clear()
        monkeypatch.setenv("BEDSIDE_MAKE", f"killed {n}")
        steps.names, steps.last = [], n
        with pytest.raises(Killed) as killed:
            submit(study)
        steps.last = None
        monkeypatch.setenv("BEDSIDE_MAKE", f"again {n}")
        said = submit(study)
        where = f"killed {killed.value} (step {n})"
        assert study.recorded() == whole and set(sent(batches).values()) == {1}, where
        assert "nothing is left to ask" in said, where
        assert spent(settings.scope(study.settings)) == pytest.approx(paid(batches)), where
        assert len((paths.RECORDINGS / "chains/a.jsonl").read_text().splitlines()) == 4, where


def test_a_second_process_is_told_and_does_nothing(batches, tmp_path):
    first, told = Chains(length=1), []

    def say(line):
        if "under way" in line:
            second = Chains(length=1, models="b")
            with pytest.raises(BedsideError, match="another process submits its batches"):
                submit(second)
            told.append(second.said)
        first.said = line

    submission.submit(first, say)
    assert told and not any(told) and len(batches.batches) == 1
    assert {p.name for p in (tmp_path / "batches/chains").glob("*/*.jsonl")} == {"a-1.jsonl"}
    assert "nothing is left" in first.said


# ---- what comes, and what doesn't


def test_what_expires_is_asked_again_as_often_as_sensible(batches):
    study = Chains(chains=5, length=1)
    batches.expire_after = 1
    said = submit(study)
    assert [len(b.requests) for b in batches.batches.values()] == [5, 4, 3]
    assert len(study.recorded()) == submission.TRIES == 3
    assert said.count(", expired:") == 3 and "2 requests failed for good" in said
    assert re.search(r"2 expired: a, \d\.0; a, \d\.0:", said)
    batches.expire_after = None
    assert "waves sent: 1" in submit(study)
    assert study.recorded() == study.directly() and len(batches.batches) == 4


def test_a_cancelled_batch_stops_the_run_and_the_next_one_asks_for_the_rest(batches):
    study, batches.polls = Chains(chains=6, length=1), 2

    def say(line):
        if re.search("done: [1-5] of 6", line):
            batches.cancel(next(iter(batches.batches)))

    with pytest.raises(StopRun, match="was cancelled at the provider; what came is recorded"):
        submission.submit(study, say)
    came = study.recorded()
    assert 0 < len(came) < 6
    submit(study)
    assert study.recorded() == study.directly() and came.items() <= study.recorded().items()
    assert {k: n for k, n in sent(batches).items() if k in came} == dict.fromkeys(came, 1)


def test_a_batch_that_is_refused_stops_with_the_services_words_and_no_key(batches, tmp_path):
    study, batches.refuse = Chains(models="a b"), ("some_code", f"Not with {KEY}, my friend.")
    with pytest.raises(StopRun, match=r"some_code: Not with \*\*\*, my friend\.") as stopped:
        submit(study)
    assert KEY not in study.said + str(stopped.value) and with_key(tmp_path) == []
    assert len(batches.batches) == 2 and not study.recorded()
    batches.refuse = None
    submit(study)
    assert study.recorded() == study.directly()


def failing(answer, script):
    """An endpoint's answers, those of some cases replaced: {case: [answers, the last for good]}."""
    asked = Counter()

    def failing(body):
        found = re.search(r"in case (\d)\? 0", body["messages"][0]["content"])
        case = int(found[1]) if found else None
        asked[case] += 1
        wrong = script.get(case, [])[asked[case] - 1 : asked[case]] or script.get(case, [])[-1:]
        return (wrong and wrong[0]) or answer(body)

    return failing, asked


def test_single_failures_are_named_by_kind_and_tried_again_where_that_can_help(batches):
    def wrong(status, words):
        return status, {"message": words, "code": None}

    script = {
        0: [wrong(400, "The prompt exceeds the context length")],
        1: [wrong(500, "Our fault"), None],
        2: [(None, {"code": "timed_out", "message": "It took too long"}), None],
        3: [wrong(429, "Slow down")],
        4: [wrong(400, "Stopped by our content filter")],
    }
    batches.answer, asked = failing(batches.answer, script)
    study = Chains(chains=6, length=2)
    said = submit(study)
    assert [asked[n] for n in range(6)] == [1, 2, 2, submission.TRIES, 1, 1]
    for words in (
        "1 context too long: a, 0.0: The prompt exceeds",
        "endpoint's fault: a, ",
        "1 rate limit: a, 3.0: Slow down",
        "2 requests failed for good; the same command asks for them again",
    ):
        assert words in said
    recorded = store.Recordings(paths.RECORDINGS / study.run)
    done = sorted(r["item"] for r in recorded.records())
    assert done == ["1.0", "1.1", "2.0", "2.1", "4.0", "5.0", "5.1"]


def test_when_all_fail_and_nothing_else_could_fare_better_the_run_stops(batches):
    batches.answer = lambda body: (404, {"message": "The model `a-1` does not exist"})
    study = Chains(chains=3, length=1)
    with pytest.raises(StopRun, match=r"no such model \(404\): The model `a-1` does not exist"):
        submit(study)
    assert len(batches.batches) == 1


def test_a_request_whose_result_is_missing_is_not_asked_for_ever(batches):
    seen = batches._shown

    def shown(batch):
        if batch.status == "finalizing":  # its first result gets lost
            batch.done = batch.done[1:]
            batch.order = batch.order[1:]
        return seen(batch)

    batches._shown = shown
    study = Chains(chains=1, length=1)
    said = submit(study)
    assert len(batches.batches) == submission.TRIES and said.count("1 of 1 have no result") == 3
    assert "1 requests failed for good" in said


# ---- room


def alone(service):
    return not any(b.status not in ENDED and not b.errors for b in service.batches.values())


@pytest.mark.parametrize("status", ["at validation", 400, 429])
def test_files_wait_for_room(batches, monkeypatch, status):
    monkeypatch.setitem(registry.model("a"), "batch_tokens", 1)  # a request is a file
    no_room = {"message": "Enqueued token limit reached", "code": "token_limit_exceeded"}

    def fault(method, path):
        created = (method, path) == ("POST", "/v1/batches")
        return (status, no_room) if created and not alone(batches) else None

    if status == "at validation":
        batches.enqueued = 9  # as much as one of them has
    else:
        batches.fault = fault
    study = Chains(chains=3, length=1)
    said = submit(study)
    assert study.recorded() == study.directly() and set(sent(batches).values()) == {1}
    assert [len(b.requests) for b in batches.batches.values() if not b.errors] == [1, 1, 1]
    assert said.count("no room for its tokens yet") >= 3


@pytest.mark.parametrize("status", ["at validation", 400])
def test_a_file_without_room_even_alone_stops_and_says_what_to_do(batches, status):
    no_room = {"message": "Enqueued token limit reached", "code": "token_limit_exceeded"}
    if status == "at validation":
        batches.enqueued = 1
    else:
        batches.fault = lambda method, path: path == "/v1/batches" and (status, no_room)
    study = Chains(length=1)
    with pytest.raises(StopRun, match="no room for its tokens, even alone.*batch_tokens"):
        submit(study)
    batches.enqueued = batches.fault = None
    submit(study)
    assert study.recorded() == study.directly() and set(sent(batches).values()) == {1}


def test_a_study_that_asks_no_model_is_submitted_too(batches):
    study = Chains()
    study.settings["models"] = []  # answers made elsewhere, and no judge that is a model
    assert "nothing is left to ask; waves sent: 0" in submit(study)
