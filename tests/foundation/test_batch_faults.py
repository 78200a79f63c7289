"""Files and batches at an endpoint that fails: at each kind of request, once and for good."""

import itertools

import pytest

from batch_study import KEY, KINDS, SORRY, Chains, at, sent, submit, with_key
from bedside import BedsideError
from bedside.keep.registry import StopRun

PASSING = [(500, SORRY), (503, SORRY), (429, SORRY), (409, SORRY), "drop", "drop after"]
EARLY = (400, {"message": "Cannot find file.", "code": "invalid_request"})
LASTING = {
    401: "refuses the key",
    404: "no such model",
    400: "bad request",
    500: "endpoint's fault",
}


@pytest.mark.parametrize("fault", PASSING, ids=lambda f: str(f if isinstance(f, str) else f[0]))
@pytest.mark.parametrize("kind", KINDS)
def test_what_passes_is_tried_again(batches, kind, fault):
    batches.fault, count = at(kind, fault, 2)
    study = Chains(length=2)
    assert "nothing is left to ask; waves sent: 2" in submit(study)
    assert len(count) >= 1 + (fault != "drop after" or kind != "create")
    assert study.recorded() == study.directly() and set(sent(batches).values()) == {1}


def test_a_batch_is_created_once_where_answers_and_looks_for_it_are_lost(batches):
    lost = []

    def fault(method, path):
        if path == "/v1/batches" and len(lost) < 4:  # created, then listed in vain
            lost.append(method)
            return "drop after" if method == "POST" else (500, SORRY)
        return None

    batches.fault = fault
    study = Chains(length=1)
    submit(study)
    assert lost == ["POST", "GET", "GET", "GET"] and len(batches.batches) == 1


def test_a_file_that_is_not_seen_yet_is_waited_for(batches):
    batches.fault, count = at("create", EARLY, 3)
    study = Chains(length=1)
    submit(study)
    assert len(count) == 3 and study.recorded() == study.directly()


OTHERWISE = (("upload", 404), ("look", 500))  # below


@pytest.mark.parametrize(
    "kind, status", [pair for pair in itertools.product(KINDS, LASTING) if pair not in OTHERWISE]
)
def test_what_lasts_stops_the_run_in_its_words_and_the_next_one_goes_on(
    batches, tmp_path, kind, status
):
    batches.fault, count = at(kind, (status, SORRY), 100)
    study = Chains(length=1)
    with pytest.raises(StopRun) as stopped:
        submit(study)
    words = f"model 'a': the endpoint {LASTING[401]}" if status == 401 else LASTING[status]
    assert words in str(stopped.value) and f"({status}): Sorry, ***." in str(stopped.value)
    assert len(count) == (1 if status < 500 else len(count)) and len(count) < 10
    batches.fault = None
    submit(study)
    assert study.recorded() == study.directly() and set(sent(batches).values()) == {1}
    assert KEY not in study.said + str(stopped.value) and with_key(tmp_path) == []


def test_an_endpoint_without_files_is_told_apart(batches):
    batches.fault, count = at("upload", (404, SORRY), 100)
    with pytest.raises(StopRun, match="'a': its endpoint takes no files; without SUBMIT=1"):
        submit(Chains())
    assert len(count) == 1


def test_a_gateway_without_settings_for_files_is_told_apart(batches):
    """As LiteLLM says it."""
    words = "files_settings is not set, set it on your config.yaml file."
    batches.fault, count = at("upload", (500, {"message": words}), 100)
    with pytest.raises(StopRun, match="add `files_settings` to its config.yaml; without SUBMIT=1"):
        submit(Chains())
    assert len(count) == 1


def test_a_silent_service_is_looked_at_until_it_speaks(batches):
    batches.fault, count = at("look", (500, SORRY), 20)
    study = Chains(length=1)
    said = submit(study)
    assert len(count) == 20 == said.count("endpoint's fault: Sorry, ***.; another look later")
    assert study.recorded() == study.directly() and len(batches.batches) == 1


def test_without_a_key_nothing_is_sent(batches, monkeypatch):
    monkeypatch.setenv("TEST_KEY", "")
    with pytest.raises(StopRun, match="needs its key in the environment variable TEST_KEY"):
        submit(Chains())
    assert batches.posts == []


def test_what_was_never_sent_and_is_not_asked_any_more_is_let_go(batches):
    batches.fault, _ = at("upload", (401, SORRY), 1)
    with pytest.raises(StopRun):
        submit(Chains(length=1))
    submit(Chains(length=1, models="b"))
    assert [b.model for b in batches.batches.values()] == ["b-1"]


def test_a_job_that_cannot_be_read_is_never_sent_again(batches, tmp_path):
    study = Chains(length=1)
    submit(study)
    (job,) = (tmp_path / "batches").rglob("*.job.json")
    job.write_text(job.read_text()[:50])
    posts = len(batches.posts)
    with pytest.raises(BedsideError, match=f"{job} can't be read: look up at the provider"):
        submit(Chains(length=1, models="b"))
    assert len(batches.posts) == posts
