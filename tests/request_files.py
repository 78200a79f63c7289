"""What tests of batches share: a place of their own, request files, and results for them."""

import json
import os
from pathlib import Path

import pytest

from bedside import bulk
from bedside.asking import dry_run
from bedside.bulk import files, results
from bedside.keep import replies, store
from bedside.read import paths
from conftest import ask_for, completion

FORM = replies.response_format("verdict", score={"type": "integer", "enum": [0, 1]})


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Where request files, recordings and outputs go; what was planned before is forgotten."""
    monkeypatch.setenv("BEDSIDE_BATCHES", str(tmp_path / "batches"))
    monkeypatch.setenv("BEDSIDE_PARTS", str(tmp_path / "parts"))
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))
    monkeypatch.setattr(paths, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setattr(dry_run, "_waves", {})
    dry_run._latest.cache_clear()
    return tmp_path


def parts():
    return Path(os.environ["BEDSIDE_PARTS"])


def put(requests, notebook="cancer_myth.01_x"):
    """Let a notebook put down requests that wait."""
    kept = paths.RECORDINGS / notebook.partition(".")[0]
    recordings = store.Recordings(kept / "sample", kept)
    sink = files.Sink(parts() / notebook, recordings)
    sink.extend(requests)
    sink.close()


def gathered(wave="01", **more):
    """The request files of all that was put down."""
    return files.gather(parts(), bulk.folder() / "sample" / wave, "sample", **more)


def written(requests, *more):
    """The request files of these; more: the notebook."""
    put(requests, *more)
    return gathered()


def lines_of(made):
    return [json.loads(x) for m in made for x in m.path.read_bytes().splitlines()]


# the list passes its configuration on to all that it holds


# ---- results


def result(key, body, status=200, error=None):
    """A line of results, as OpenAI writes it; status None: without a response."""
    response = {"status_code": status, "request_id": "r", "body": body} if status else None
    return {"id": "batch_req_1", "custom_id": key, "response": response, "error": error}


def results_file(*lines, name="results.jsonl", end=b"\n"):
    """A file of results: of what can be JSON, and of bytes as they are."""
    path = bulk.folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + end for x in lines)
    )
    return path


@pytest.fixture(name="keys")
def waiting_keys(served):
    """{item: key} of requests that wait."""
    requests = ask_for(served, *"abcdef")
    written(requests)
    return {r.item: r.key for r in requests}


def good(key, text="fine", **more):
    return result(key, completion(text, **more))


def recorded():
    """{item: text} of all recordings."""
    return {r["item"]: r["text"] for r in store.Recordings(paths.RECORDINGS).records()}


def on_disk():
    return {p: p.read_bytes() for p in paths.RECORDINGS.rglob("*") if p.is_file()}


def counts(account):
    """(taken, known, failed, unknown, unreadable)"""
    rest = account.failed, account.unknown, account.unreadable
    return account.taken, account.known, *map(len, rest)


def taken(*came):
    """The account of results. Nothing recorded before is touched; a second time adds nothing."""
    before = on_disk()
    account = results.take(came)
    after = on_disk()
    assert all(after[p].startswith(b) for p, b in before.items())
    again = results.take(came)
    assert on_disk() == after
    assert again.taken == 0 and again.known >= account.taken + account.known
    assert counts(again)[2:] == counts(account)[2:] and again.failed.keys() == account.failed.keys()
    return account


def told(account, line=0):
    return account.lines()[line]
