"""Batches: sent and taken in, round after round; whatever ends a run, the same command goes on.

The study asks chains of questions, each with all replies before it (`batch_study.Chains`).
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from batch_study import (
    KEY,
    KINDS,
    PRICES,
    SORRY,
    Chains,
    at,
    paid,
    place,
    planned,
    sent,
    spent,
    submit,
    with_key,
)
from bedside import BedsideError
from bedside.read import paths
from bedside.read.surroundings import here
from calling import request
from file_faults import Faults, Killed

TRIES = 3  # of a line whose failure may pass


@pytest.fixture
def priced(batches):
    batches.model("a", **PRICES)
    batches.model("b", **PRICES)
    return batches


def test_a_study_is_sent_round_after_round_and_its_replies_are_those_of_direct_calls(batches):
    study = Chains(chains=3, length=4, models="a b")
    study.notebooks = ("first", "second")  # what two notebooks ask is asked once
    assert "nothing is left to ask in batches; `make chains`" in submit(study)
    assert len(batches.batches) == 2 * 4 and set(sent(batches).values()) == {1}
    recorded = study.recorded()
    assert len(recorded) == 2 * 3 * 4 and recorded == study.directly()
    assert "nothing is left to ask" in submit(study) and len(batches.batches) == 8


@pytest.mark.parametrize("some", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_whatever_write_fails_or_is_the_last_the_same_command_goes_on(
    priced, monkeypatch, tmp_path, some
):
    """Nothing is sent or recorded twice, and budgets have what was paid."""
    priced.polls, study = 0, Chains(chains=2, length=2)

    def work(name):
        place(monkeypatch, tmp_path / name)
        monkeypatch.setattr(here, "make", name)
        return submit(study)

    with Faults() as seen:
        work("whole")
    whole, ended = study.recorded(), Counter()
    for n, site in enumerate(seen.sites[::some]):
        fault = ("killed", "ENOSPC", "short")[n % 3]
        priced.batches.clear()
        try:
            with Faults(site, fault):
                work(f"{n}")
        except (BedsideError, OSError, Killed) as e:
            ended[type(e).__name__] += 1
        said, told = work(f"{n}"), f"{fault} at {site}"
        assert "nothing is left to ask" in said, told
        assert study.recorded() == whole and set(sent(priced).values()) == {1}, told
        assert spent(f"{n}") == pytest.approx(paid(priced)), told
    assert ended["Killed"]


def test_a_second_process_is_told_and_does_nothing(batches):
    told = []

    def say(line):
        if "under way" in line and not told:
            with pytest.raises(BedsideError, match="another process submits its batches"):
                submit(Chains(length=1, models="b"))
            told.append(line)

    assert "nothing is left" in submit(Chains(length=1), say)
    assert told and [b.model for b in batches.batches.values()] == ["a-1"]


# ---- an endpoint that fails

PASSING = [(500, SORRY), (503, SORRY), (429, SORRY), (409, SORRY), "drop", "drop after"]
PASSING = [(kind, fault) for n, fault in enumerate(PASSING * 2) for kind in [list(KINDS)[n % 4]]]
EARLY = {"message": "No such file object: file-1"}  # of one that was uploaded just now
PASSING += [("create", (400, EARLY)), ("create", (404, EARLY))]


def test_what_passes_is_tried_again(batches):
    for kind, fault in PASSING:
        batches.fault, count = at(kind, fault, 2)
        batches.anew()
        study = Chains(length=1)
        assert "nothing is left to ask" in submit(study), (kind, fault)
        assert count and study.recorded() == study.directly(), (kind, fault)
        assert set(sent(batches).values()) == {1}, (kind, fault)


def test_a_batch_is_created_once_where_answers_and_looks_for_it_are_lost(batches):
    lost = []

    def fault(method, path):
        if path == "/v1/batches" and len(lost) < 4:  # created, then listed in vain
            lost.append(method)
            return "drop after" if method == "POST" else (500, SORRY)
        return None

    batches.fault = fault
    submit(Chains(length=1))
    assert lost == ["POST", "GET", "GET", "GET"] and len(batches.batches) == 1


DAYS = {"message": "Usage limit reached. Resets in 16 days."}
LASTING = [
    ("upload", 401, SORRY, r"refuses the key \(401\): Sorry, \*\*\*\."),
    ("upload", 404, SORRY, r"\(404\): Sorry, \*\*\*.* takes no files: see docs/scale.md"),
    ("upload", 400, {"message": "files_settings is not set"}, "files_settings.*docs/scale.md"),
    ("create", 401, SORRY, "refuses the key"),
    ("create", 404, SORRY, "no such model"),
    ("look", 400, SORRY, "bad request"),
    ("fetch", 404, SORRY, "no such model"),
    ("fetch", 500, SORRY, "fault"),
    *((kind, 429, DAYS, "16 days") for kind in KINDS),
]


@pytest.mark.parametrize("kind, status, said, words", LASTING)
def test_what_lasts_stops_the_run_in_its_words_and_the_next_one_goes_on(
    batches, tmp_path, kind, status, said, words
):
    batches.fault, count = at(kind, (status, said), 100)
    study = Chains(length=1)
    with pytest.raises(BedsideError, match=words) as stopped:
        submit(study)
    assert len(count) < 10 and (len(count) == 1 or status == 500)
    batches.fault = None
    submit(study)
    assert study.recorded() == study.directly() and set(sent(batches).values()) == {1}
    assert KEY not in study.said + str(stopped.value) and with_key(tmp_path) == []


def test_without_a_key_nothing_is_sent(batches, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "")
    with pytest.raises(BedsideError, match="needs its key in the environment variable TEST_KEY"):
        submit(Chains())
    assert batches.posts == []


def test_a_job_that_cannot_be_read_is_never_sent_again(batches, tmp_path):
    batches.fault, _ = at("look", (401, SORRY), 100)
    with pytest.raises(BedsideError):
        submit(Chains(length=1))
    (job,) = (tmp_path / "batches").rglob("*.job.json")
    job.write_text(job.read_text()[:50])
    posts, batches.fault = len(batches.posts), None
    with pytest.raises(BedsideError, match=f"{job} can't be read: look up at the provider"):
        submit(Chains(length=1, models="b"))
    assert len(batches.posts) == posts


# ---- lines that fail, batches that end early


def test_what_expires_is_asked_again_as_often_as_sensible(batches):
    study = Chains(chains=5, length=1)
    batches.expire_after = 1
    assert "2 requests failed for good" in submit(study)
    assert [len(b.requests) for b in batches.batches.values()] == [5, 4, 3]
    batches.expire_after = None
    submit(study)
    assert len(batches.batches) == 4 and study.recorded() == study.directly()


def test_a_cancelled_batch_stops_the_run_and_the_next_one_asks_for_the_rest(batches):
    study, batches.polls = Chains(chains=6, length=1), 2

    def say(line):
        if re.search("done: [1-5] of 6", line):
            batches.cancel(next(iter(batches.batches)))

    with pytest.raises(BedsideError, match="cancelled at the provider; what came is recorded"):
        submit(study, say)
    came = study.recorded()
    assert 0 < len(came) < 6
    submit(study)
    assert study.recorded() == study.directly() and came.items() <= study.recorded().items()
    assert {k: n for k, n in sent(batches).items() if k in came} == dict.fromkeys(came, 1)


def test_a_batch_that_is_refused_stops_with_the_services_words_and_no_key(batches, tmp_path):
    study, batches.refuse = Chains(models="a b"), ("some_code", f"Not with {KEY}, my friend.")
    with pytest.raises(BedsideError, match=r"some_code: Not with \*\*\*, my friend\.") as stopped:
        submit(study)
    assert KEY not in study.said + str(stopped.value) and with_key(tmp_path) == []
    batches.refuse = None
    submit(study)
    assert study.recorded() == study.directly()


def test_single_failures_are_named_and_tried_again_where_that_can_help(batches):
    def wrong(status, words):
        return status, {"message": words, "code": None}

    script = {
        0: [wrong(400, "The prompt exceeds the context length")],
        1: [wrong(500, "Our fault"), None],
        2: [(None, {"code": "timed_out", "message": "It took too long"}), None],
        3: [wrong(429, "Slow down")],
        4: [wrong(400, "Stopped by our content filter")],
    }
    answer, asked = batches.answer, Counter()

    def failing(body):
        found = re.search(r"in case (\d)\? 0", body["messages"][0]["content"])
        case = int(found[1]) if found else None
        asked[case] += 1
        made = script.get(case, [None])
        return made[min(asked[case], len(made)) - 1] or answer(body)

    batches.answer = failing
    said = submit(study := Chains(chains=6, length=2))
    assert [asked[n] for n in range(6)] == [1, 2, 2, TRIES, 1, 1]
    for words in ("context too long: a, 0.0", "rate limit: a, 3.0: Slow", "2 requests failed for"):
        assert words in said
    assert sorted(study.items()) == ["1.0", "1.1", "2.0", "2.1", "4.0", "5.0", "5.1"]


@pytest.mark.parametrize(
    "status, words",
    [(404, "The model `a-1` does not exist"), (429, "Limit reached. Resets in 16 days.")],
)
def test_when_nothing_else_could_fare_better_the_run_stops(batches, status, words):
    batches.answer = lambda body: (status, {"message": words})
    with pytest.raises(BedsideError, match=re.escape(words[:14])):
        submit(Chains(chains=4, length=1))
    assert len(batches.batches) == 1


def test_a_request_whose_result_is_missing_is_not_asked_for_ever(priced):
    priced.lose_first = True
    assert "1 requests failed for good" in submit(Chains(chains=1, length=1))
    assert len(priced.batches) == TRIES and spent("test") == 0


# ---- files


@pytest.mark.parametrize("status", ["at validation", 400, 429])
def test_where_there_is_no_room_the_run_says_so_and_the_same_command_goes_on(batches, status):
    """Each time with what has room beside what is under way; nothing is sent twice."""
    batches.model("a", batch_tokens=1)  # a request is a file
    no_room = {"message": "Enqueued token limit reached", "code": "token_limit_exceeded"}

    def fault(method, path):
        created = (method, path) == ("POST", "/v1/batches")
        return (status, no_room) if created and not batches.idle() else None

    if status == "at validation":
        batches.enqueued = 9  # as much as one of them has
    else:
        batches.fault = fault
    study, stops = Chains(chains=3, length=1), 0
    while "nothing is left to ask" not in getattr(study, "said", ""):
        try:
            submit(study)
        except BedsideError as e:
            assert "token_limit_exceeded" in str(e) and (stops := stops + 1) < 4
    assert study.recorded() == study.directly() and set(sent(batches).values()) == {1}
    assert stops == 2 and len([b for b in batches.batches.values() if not b.errors]) == 3


def test_files_hold_as_many_tokens_as_the_entry_says(batches):
    def counts(**more):
        batches.model("a", **more)
        return [m.lines for m in planned(Chains(chains=5, length=1))[0]]

    each = Chains(chains=1, length=1).likely()
    assert counts() == [5] and counts(batch_tokens=2 * each) == [2, 2, 1]
    assert counts(batch_tokens=each - 1) == [1] * 5  # a request isn't cut


def test_a_wave_by_hand_stays_until_results_come(batches):
    study = Chains(chains=3, length=2, models="a b")
    first, said = planned(study)
    content = {m.path: Path(m.path).read_bytes() for m in first}
    assert all(f"{path}: 3 requests" in said for path in content)
    again, _ = planned(study)
    assert {m.path: Path(m.path).read_bytes() for m in again} == content
    batches.answered(first[0].path)
    made, said = planned(study)
    assert [(m.model, m.lines) for m in made] == [("a", 3), ("b", 3)]
    there = {str(p) for p in paths.BATCHES.glob("chains/*.jsonl")}
    assert there == {m.path for m in made} and first[0].path not in there
    while made:
        for file in made:
            lines = [json.loads(x) for x in Path(file.path).read_text().splitlines()]
            assert {x["body"]["model"] for x in lines} == {f"{file.model}-1"}
            batches.answered(file.path)
        made, said = planned(study)
    assert "nothing is left to ask in batches" in said and not batches.posts
    assert study.recorded() == study.directly()


def test_what_is_under_way_is_in_no_wave_by_hand(batches):
    study, batches.fault = Chains(length=2), at("look", (401, SORRY), 100)[0]
    with pytest.raises(BedsideError):
        submit(study)
    made, said = planned(study)
    assert not made and "1 submitted batches are under way: SUBMIT=1" in said
    batches.fault = None
    submit(study)
    assert set(sent(batches).values()) == {1} and study.recorded() == study.directly()


# ---- budgets


@pytest.mark.parametrize("which", ["BUDGET_USD", "BUDGET_TOTAL"])
def test_a_wave_that_could_pass_a_budget_is_not_submitted(priced, which):
    most = planned(Chains())[0][0].most
    words = f"{which}=.* would be passed .*the next wave at most"
    with pytest.raises(BedsideError, match=words):
        submit(Chains(**{which.lower(): most - 0.0001}))
    assert priced.posts == []
    study = Chains(**{which.lower(): most + 0.0001})
    with pytest.raises(BedsideError, match=words):  # the second wave
        submit(study)
    assert len(priced.batches) == 1 and len(study.recorded()) == 2
    assert spent("test") == pytest.approx(paid(priced)) and 0 < paid(priced) <= most


def test_what_became_no_batch_is_asked_for_within_the_budget_of_the_next_run(priced):
    priced.fault, _ = at("create", (401, SORRY), 100)
    with pytest.raises(BedsideError, match="refuses the key"):
        submit(Chains(length=1, budget_usd=9))
    priced.fault = None
    with pytest.raises(BedsideError, match="BUDGET_USD=0.001 would be passed"):
        submit(Chains(length=1, budget_usd=0.001))
    assert not priced.batches
    submit(study := Chains(length=1, budget_usd=9))
    assert study.recorded() == study.directly() and set(sent(priced).values()) == {1}


def test_a_budget_is_of_one_make_and_a_total_of_all(priced, monkeypatch):
    """The waves cost 0.032, 0.057, 0.080, 0.107 and 0.132 at most, and did 0.011 to 0.030."""
    study = Chains(length=5, budget_usd=0.135)
    for make, count in (("first", 3), ("second", 4)):
        monkeypatch.setattr(here, "make", make)
        with pytest.raises(BedsideError, match=r"BUDGET_USD=0\.135 would be passed"):
            submit(study)
        assert len(priced.batches) == count
    monkeypatch.setattr(here, "make", "third")
    submit(study)
    makes = [spent(make) for make in ("first", "second", "third")]
    assert sum(makes) == pytest.approx(paid(priced)) and 0 < max(makes) < 0.135
    with pytest.raises(BedsideError, match=r"BUDGET_TOTAL=0\.14 would be passed"):
        submit(Chains(length=6, budget_total=0.14))
    assert len(priced.batches) == 5
